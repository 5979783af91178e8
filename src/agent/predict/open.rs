//! Opening a candidate for writing: consent, preparing, retirement, and the way into the copy-retain migration
//! (spec 02 §6.3, 02a.7).

use super::{Refused, Stage, migrate, prepare};
use crate::agent::candidates::{Candidate, Cwds, Examined, Listing, Provenance, Retirement, examine};
use crate::agent::layout;
use crate::agent::world::{Scope, World};
use crate::json::JsString;
use std::path::{Path, PathBuf};

/// Setting `session.directoryMigration`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// `copy-retain`
    #[default]
    CopyRetain,
    /// `disabled`
    Disabled,
}

/// gjc opens the session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opened {
    /// The file it works on from then on.
    pub path: PathBuf,
    /// True when the legacy file was copied to get there.
    pub migrated: bool,
}

/// The candidate of a listing with this session id and, if given, this path.
pub fn pick<'a>(listing: &'a Listing, session: &str, path: Option<&Path>) -> Option<&'a Candidate> {
    listing
        .owned
        .iter()
        .map(|listed| &*listed.candidate)
        .find(|candidate| candidate.session_id == *session && path.is_none_or(|path| candidate.path == path))
}

/// A candidate made from a file, whether it is listed or not; none when the file is not owned by the scope.
pub fn candidate_at(world: &World<'_>, scope: &Scope, path: &Path) -> Option<Candidate> {
    let provenance = if path.parent() == Some(&*scope.directory) { Provenance::V2 } else { Provenance::Legacy };
    match examine(world, &scope.identity, path, provenance, &Cwds::default()) {
        Examined::Owned(candidate) => Some(candidate),
        Examined::Foreign { .. } | Examined::Invalid(_) => None,
    }
}

/// Opens a candidate for writing.
///
/// # Errors
/// One of the codes of spec 02 §10.2.
pub fn open(world: &World<'_>, scope: &Scope, candidate: &Candidate, policy: Policy) -> Result<Opened, Refused> {
    if policy == Policy::Disabled && candidate.provenance == Provenance::Legacy {
        return Err(Refused::new("legacy_migration_disabled", "migration of legacy sessions is disabled").at(&candidate.path));
    }
    consent(world, candidate)?;
    let deleted = prepared(world, scope, Some(&candidate.session_id))?;
    if deleted.contains(&candidate.path) {
        let why = "an unfinished tombstone names this transcript: preparing deletes it first";
        return Err(Refused::new("source_changed", why).at(&candidate.path));
    }
    let retired = Retirement::read(world.fs, &scope.protocol(layout::TOMBSTONES), &scope.digest());
    if let Some(tombstone) = retired.by(world.fs, candidate) {
        return Err(Refused::new("migration_retired", "a completed tombstone retires this transcript").at(tombstone));
    }
    match candidate.provenance {
        Provenance::V2 => Ok(Opened { path: candidate.path.clone(), migrated: false }),
        Provenance::Legacy => migrate::migrate(world, scope, candidate),
    }
}

/// The consent check: the candidate is still the file that was listed.
pub(super) fn consent(world: &World<'_>, candidate: &Candidate) -> Result<(), Refused> {
    candidate
        .identity(world.fs)
        .map(|_| ())
        .map_err(|refusal| Refused::new("source_changed", format!("the transcript {refusal}")).at(&candidate.path))
}

/// The asynchronous prepare as opening and deleting see it: codes mapped by spec 02 §10.2.
pub(super) fn prepared(world: &World<'_>, scope: &Scope, session: Option<&JsString>) -> Result<Vec<PathBuf>, Refused> {
    prepare::asynchronous(world, scope, session).map_err(|mut refused| {
        const KEPT: [&str; 8] = [
            "binding_conflict",
            "binding_invalid",
            "migration_busy",
            "durability_failed",
            "atomic_unavailable",
            "invalid_request",
            "durability_not_provable",
            "managed_gc_journal_capacity_exceeded",
        ];
        refused.stage = Some(Stage::Prepare);
        if !KEPT.contains(&refused.code) {
            refused.code = "managed_storage_unsupported";
        }
        refused
    })
}
