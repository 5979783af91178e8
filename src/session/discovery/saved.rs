//! What the SDK's `session.list` says of a saved session (spec 04 §3.5): the session with its identity, or the reason why it
//! is left out.

use crate::agent::candidates::{Candidate, Listing};
use crate::agent::predict;
use crate::agent::walk::show;
use crate::agent::world::World;
use crate::finding::Difference;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The reply, as the SDK prints it: at most one of its members. Both are absent in 0.15 when not exactly one session matches.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_session: Option<SavedSession>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_session_omission: Option<Omission>,
}

/// A saved session.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SavedSession {
    /// Header id.
    pub id: String,
    /// The file.
    pub path: String,
    /// What is compared before it is opened.
    pub identity: Identity,
}

/// Big integers are decimal strings.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// Device number.
    pub dev: String,
    /// Inode number.
    pub ino: String,
    /// Link count.
    pub nlink: String,
    /// Modification time in nanoseconds.
    pub mtime_ns: String,
    /// Change time in nanoseconds.
    pub ctime_ns: String,
    /// Bytes.
    pub size: u64,
    /// Modification time in whole milliseconds.
    pub mtime_ms: i64,
    /// SHA-256 of the file, hex.
    pub sha256: String,
}

/// Why a saved session is left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Omission {
    /// The id that was asked for.
    pub session_id: String,
    /// gjc's reason. (`identity_incomplete` needs a system that tells no link count or change time; here every one does.)
    pub reason: &'static str,
    /// The code behind it, when it is one that the SDK lets through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail_code: Option<&'static str>,
    /// How many match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_count: Option<usize>,
}

/// The codes that the SDK lets through.
const DETAIL_CODES: [&str; 24] = [
    "cwd_missing",
    "cwd_not_directory",
    "identity_unavailable",
    "network_unsupported",
    "sessions_root_unavailable",
    "binding_conflict",
    "binding_invalid",
    "migration_busy",
    "atomic_unavailable",
    "invalid_request",
    "durability_failed",
    "durability_not_provable",
    "capacity_exceeded",
    "scan_failed",
    "unsafe_root",
    "invalid_candidate",
    "invalid_header",
    "unreadable_candidate",
    "source_changed",
    "cwd_not_found",
    "cwd_not_utf8",
    "cwd_network_unsupported",
    "cwd_identity_unavailable",
    "cwd_io_error",
];
/// Since the omission exists.
const LATER_DETAIL_CODE: &str = "managed_gc_journal_capacity_exceeded";

fn let_through(code: &'static str) -> Option<&'static str> {
    (DETAIL_CODES.contains(&code) || code == LATER_DETAIL_CODE).then_some(code)
}

/// The reply about the session with exactly this id in a workspace.
pub fn saved(world: &World<'_>, session_id: &str, cwd: &Path) -> Reply {
    match find(world, session_id, cwd) {
        Ok(saved) => Reply { saved_session: Some(saved), ..Reply::default() },
        Err(omission) => {
            let told = Difference::SavedSessionOmission.in_effect(world.release);
            Reply { saved_session_omission: Some(omission).filter(|_| told), ..Reply::default() }
        }
    }
}

fn find(world: &World<'_>, session_id: &str, cwd: &Path) -> Result<SavedSession, Omission> {
    let omitted =
        |reason, detail_code, candidate_count| Omission { session_id: session_id.to_owned(), reason, detail_code, candidate_count };
    let scope = predict::resolve(world, cwd).map_err(|refused| omitted("scope_unavailable", let_through(refused.code), None))?;
    let scan = || predict::list(world, &scope).map_err(|error| omitted("candidate_scan_failed", let_through(error.code()), None));
    let mut listing = scan()?;
    // A file that moved is looked at once more.
    if listing.invalid.iter().any(|invalid| invalid.code == "source_changed") {
        listing = scan()?;
    }
    let matches: Vec<&Candidate> =
        listing.owned.iter().map(|listed| &*listed.candidate).filter(|candidate| candidate.session_id == *session_id).collect();
    match matches.as_slice() {
        [only] => identified(world, only).ok_or_else(|| omitted("candidate_invalid", Some("source_changed"), None)),
        [] => Err(match invalid(&listing, session_id) {
            Some(code) => omitted("candidate_invalid", Some(code), None),
            None => omitted("candidate_not_found", None, None),
        }),
        several => Err(omitted("candidate_ambiguous", None, Some(several.len()))),
    }
}

/// The code of the first invalid candidate with this id that the SDK lets through.
fn invalid(listing: &Listing, session_id: &str) -> Option<&'static str> {
    let alike = listing.invalid.iter().filter(|invalid| invalid.session_id.as_deref() == Some(session_id));
    alike.filter_map(|invalid| let_through(invalid.code)).next()
}

/// The session with its identity; none when the file moved since it was listed.
fn identified(world: &World<'_>, candidate: &Candidate) -> Option<SavedSession> {
    let identity = candidate.identity(world.fs).ok()?;
    Some(SavedSession {
        id: candidate.session_id.to_string(),
        path: show(candidate.path.as_os_str()),
        identity: Identity {
            dev: identity.dev.to_string(),
            ino: identity.ino.to_string(),
            nlink: identity.nlink.to_string(),
            mtime_ns: identity.mtime_ns.to_string(),
            ctime_ns: identity.ctime_ns.to_string(),
            size: identity.size,
            mtime_ms: i64::try_from(identity.mtime_ms()).unwrap_or(i64::MAX),
            sha256: identity.sha256,
        },
    })
}
