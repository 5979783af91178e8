//! All journals of a profile or of one scope, as `gc` shows them: how far each retirement is, what it holds of its quotas, and
//! whether gjc would read it (spec 03 §11, §14.1).

use super::budget::MAX_ENTRIES;
use super::ground::{Beside, Ground, Held};
use super::inspector::Inspection;
use super::lookup;
use super::owners::{self, Owners};
use super::stored::{Desk, Fault, Files, Inventory, Refused, Source};
use super::{Budget, Evidence, Journal, Key, Progress, Refusal, Scope, SessionsRoot, State, Why};
use crate::agent::binding;
use crate::agent::identity::is_digest;
use crate::agent::layout::{INTERNAL, RECEIPTS, SessionsName, sessions_name};
use crate::agent::walk::{self, Limits, Trouble, show};
use crate::fsys::{Errno, Error, Fs, Kind};
use crate::json::JsString;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of this form.
pub const SCHEMA: &str = "gjc-fsck/gc/1";

/// Everything that was found.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Survey {
    /// `gjc-fsck/gc/1`.
    pub schema: &'static str,
    /// The directory that was looked at: a sessions root, or one scope.
    pub root: String,
    /// Scopes that hold retirement receipts, by name.
    pub scopes: Vec<ScopeJournals>,
    /// Scopes that were looked at.
    pub looked_at: u64,
    /// Directories that could not be read to their end, and why: their journals are not told.
    pub unread: Vec<String>,
    /// What gjc's inspector would answer before it collects anything; null for a copy from elsewhere, of which nobody can say.
    pub inspection: Option<Inspection>,
}

/// The journals of one scope.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct ScopeJournals {
    /// Name of the scope directory.
    pub scope: String,
    /// The workspace that its binding names; null without a sound binding.
    pub workspace: Option<String>,
    /// `gc-retirement-` entries, whatever they are.
    pub entries: u64,
    /// The most that gjc reads.
    pub entry_limit: u64,
    /// More entries than the limit: none of them is read then, by gjc or here.
    pub full: bool,
    /// Names that begin like receipts and tell no transcript.
    pub strays: Vec<String>,
    /// One a transcript, in order of transcript path, those without one last.
    pub journals: Vec<Row>,
}

/// One journal.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// SHA-256 of the transcript's path: what the names of its receipts share.
    pub key: String,
    /// The transcript; null when `prepared` is missing or does not tell it.
    pub transcript: Option<String>,
    /// Whether the transcript stands there; null when nobody could look.
    pub present: Option<bool>,
    /// The newest state by the names, `prepared` to `owner_retired`; null when no name tells one.
    pub state: Option<&'static str>,
    /// Highest attempt by the names.
    pub attempts: u64,
    /// Why the last attempt did not complete: `uncertain`, `cleanup_pending`, `payload_retired`.
    pub outcome: Option<&'static str>,
    /// The reason of an uncertain outcome.
    pub reason: Option<String>,
    /// Files.
    pub receipts: u64,
    /// Stored bytes.
    pub bytes: u64,
    /// Bytes that the next `owner_pending` receipt would have at least; null at the end, or when the journal is refused.
    pub next_bytes: Option<u64>,
    /// How many more receipts of that size fit; null likewise.
    pub appends_left: Option<u64>,
    /// gjc's token when it refuses the journal, or when what stands of the owner contradicts it; null: it reads it.
    pub refused: Option<String>,
    /// gjc's token when it would not begin to remove the owner of a retirement that is prepared: what stands of it is not what
    /// was prepared (§7.2, §7.3, §10). Null: it would, or nobody can say; no matter of the journal, which it reads.
    pub not_begun: Option<String>,
}

/// How far a survey is: journals that were read, and journals that are known of.
pub type Told<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Where records of a scope lead, and who is told how far it is.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// How records spell a path of this machine.
    pub recorded: &'a dyn Fn(&Path) -> PathBuf,
    /// Where a path that records spell lies on this machine.
    pub here: &'a (dyn Fn(&Path) -> PathBuf + Sync),
    /// A copy from elsewhere.
    pub is_copy: bool,
    /// Who is told.
    pub told: Told<'a>,
}

/// Looks at one scope directory, or at every scope of a sessions root. The inspection is the caller's.
///
/// # Errors
/// The directory itself cannot be read.
pub fn survey(fs: &dyn Fs, directory: &Path, around: &Around<'_>) -> Result<Survey, Error> {
    let is_scope = |name: &[u8]| sessions_name(name) == SessionsName::Scope;
    let mut unread = Vec::new();
    let scopes: Vec<PathBuf> = if directory.file_name().is_some_and(|name| is_scope(name.as_encoded_bytes())) {
        vec![directory.to_owned()]
    } else {
        let listing = walk::list(fs, directory, &Limits::default())?;
        // What is none of a scope may be anything else of the sessions root.
        let elsewhere = |trouble: &&Trouble| matches!(trouble, Trouble::Failed(error) if error.path.file_name().is_some_and(|name| error.path != directory && !is_scope(name.as_encoded_bytes())));
        unread.extend(listing.troubles.iter().filter(|trouble| !elsewhere(trouble)).map(untold));
        let scopes = listing.objects.iter().filter(|object| object.meta.kind == Kind::Directory && is_scope(object.bytes()));
        scopes.map(|object| listing.path_of(object)).collect()
    };
    let root = show(directory.as_os_str());
    let mut survey = Survey { schema: SCHEMA, root, scopes: Vec::new(), looked_at: scopes.len() as u64, unread, inspection: None };
    let known = Known::default();
    for scope in scopes {
        let receipts = match walk::list(fs, &scope.join(INTERNAL).join(RECEIPTS), &Limits::default()) {
            Ok(receipts) => receipts,
            Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR) => continue,
            Err(error) => {
                survey.unread.push(error.to_string());
                continue;
            }
        };
        survey.unread.extend(receipts.troubles.iter().map(untold));
        survey.scopes.extend(journals(fs, &scope, &receipts, around, &known));
    }
    Ok(survey)
}

/// Looks at one transcript of a scope, which may be gone, as gjc looks it up by itself (§14.3). The inspection is the caller's.
///
/// # Errors
/// The receipts directory cannot be read, or changed meanwhile; or the name is none of a transcript of the scope.
pub fn one(fs: &dyn Fs, directory: &Path, name: &OsStr, around: &Around<'_>) -> Result<Survey, Fault> {
    let root = show(directory.as_os_str());
    let mut survey = Survey { schema: SCHEMA, root, scopes: Vec::new(), looked_at: 1, unread: Vec::new(), inspection: None };
    let recorded = (around.recorded)(directory);
    let Some((digest, root)) = digest(directory).zip(recorded.parent()) else { return Err(Refusal::ContinuationAuthorityMismatch.into()) };
    let root = SessionsRoot::new(root.as_os_str().as_encoded_bytes())?;
    let scope = Scope { digest: &digest, directory: recorded.as_os_str().as_encoded_bytes(), root: &root };
    let receipts = directory.join(INTERNAL).join(RECEIPTS);
    let place = lookup::Place { fs, directory: &receipts, scope, here: around.here, is_copy: around.is_copy };
    let transcript = JsString::from_wtf8(recorded.join(name).into_os_string().into_encoded_bytes());
    let looked = match lookup::lookup(&place, &transcript) {
        // As of all journals of a scope: neither unread nor absent.
        Err(Fault::Full(full)) => {
            survey.scopes.push(ScopeJournals { entries: full.asked, full: true, ..found(fs, directory) });
            return Ok(survey);
        }
        looked => looked?,
    };
    let Some(looked) = looked else { return Ok(survey) };
    let Some(held) = looked.held else { return Ok(survey) };
    let ground = Ground { fs, receipts: &looked.receipts, opened: None, beside: None, scope, here: around.here, is_copy: around.is_copy };
    let files = Files::of(&looked.receipts, Key::of(transcript.as_js()));
    let journals = files.iter().map(|files| row(&ground, files, &looked.entries, &held)).collect();
    survey.scopes.push(ScopeJournals { entries: looked.entries.used, journals, ..found(fs, directory) });
    (around.told)(1, 1);
    Ok(survey)
}

/// The digest that a scope directory is named by.
fn digest(directory: &Path) -> Option<String> {
    let name = show(directory.file_name()?);
    name.strip_prefix("v2-").filter(|digest| is_digest(digest.as_bytes())).map(str::to_owned)
}

/// A scope of which no receipt is known yet.
fn found(fs: &dyn Fs, directory: &Path) -> ScopeJournals {
    ScopeJournals {
        scope: show(directory.file_name().unwrap_or_default()),
        workspace: binding::read(fs, directory).ok().flatten().map(|binding| String::from_utf8_lossy(&binding.canonical_path).into_owned()),
        entries: 0,
        entry_limit: MAX_ENTRIES,
        full: false,
        strays: Vec::new(),
        journals: Vec::new(),
    }
}

/// Why a directory was not read to its end.
fn untold(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Failed(error) => error.to_string(),
        Trouble::Changed(path) => format!("{}: changed while it was read", show(path.as_os_str())),
        Trouble::Limit(what, path) => format!("{}: more than this run looks at ({what})", show(path.as_os_str())),
    }
}

/// Journals read so far, and known of so far.
#[derive(Default)]
struct Known {
    read: AtomicU64,
    all: AtomicU64,
}

fn journals(fs: &dyn Fs, directory: &Path, receipts: &walk::Listing, around: &Around<'_>, known: &Known) -> Option<ScopeJournals> {
    let digest = digest(directory)?;
    let mut found = found(fs, directory);
    let inventory = match Inventory::of(receipts) {
        Ok(inventory) if inventory.entries.used == 0 => return None,
        Ok(inventory) => inventory,
        Err(full) => return Some(ScopeJournals { entries: full.asked, full: true, ..found }),
    };
    // What was not seen may be the receipt that a journal seems to lack.
    if !receipts.is_complete() {
        return None;
    }
    found.entries = inventory.entries.used;
    found.strays = inventory.nobody.iter().map(|object| show(&object.name)).collect();
    let Around { here, is_copy, told, .. } = *around;
    let recorded = (around.recorded)(directory);
    let all = known.all.fetch_add(inventory.journals.len() as u64, Ordering::Relaxed) + inventory.journals.len() as u64;
    let root = SessionsRoot::new(recorded.parent()?.as_os_str().as_encoded_bytes()).ok()?;
    let scope = Scope { digest: &digest, directory: recorded.as_os_str().as_encoded_bytes(), root: &root };
    let (opened, beside) = (Source::open(fs, receipts), Beside::open(fs, receipts, inventory.journals.len()));
    let ground = Ground { fs, receipts, opened: opened.as_deref(), beside: beside.as_ref(), scope, here, is_copy };
    let rows = inventory.journals.par_iter().map_init(Desk::default, |desk, files| {
        let row = row(&ground, files, &inventory.entries, &ground.hold(files, desk));
        told(known.read.fetch_add(1, Ordering::Relaxed) + 1, all);
        row
    });
    found.journals = rows.collect();
    found.journals.sort_by(|a, b| (a.transcript.is_none(), &a.transcript, &a.key).cmp(&(b.transcript.is_none(), &b.transcript, &b.key)));
    Some(found)
}

fn row(ground: &Ground<'_>, files: &Files<'_>, entries: &Budget, held: &Held) -> Row {
    let Held { replayed, absent, proof } = held;
    let states = files.names.states();
    let attempts = states.iter().map(|state| if let State::OwnerPending(attempt) = state { *attempt } else { 0 }).max().unwrap_or_default();
    // The order of states is that of reading: a pending attempt comes after `owner_retired` and is older.
    let newest = if files.names.has(State::OwnerRetired) { Some(State::OwnerRetired) } else { states.last().copied() };
    let mut row = Row {
        key: files.key.hex(),
        transcript: replayed.target.as_ref().map(|target| target.transcript_path.to_string()),
        present: absent.map(|absent| !absent),
        state: newest.map(State::word),
        attempts,
        outcome: None,
        reason: None,
        receipts: states.len() as u64,
        bytes: files.bytes(),
        next_bytes: None,
        appends_left: None,
        refused: None,
        not_begun: None,
    };
    match &replayed.journal {
        Ok(journal) => {
            if let Progress::OwnerPending { outcome, .. } = &journal.newest {
                row.outcome = Some(outcome.why.word());
                if let Why::Uncertain { reason } = &outcome.why {
                    row.reason = Some(reason.to_string());
                }
            }
            if journal.state() != State::OwnerRetired {
                let next = journal.prepared.pending_length_after(&journal.newest);
                row.next_bytes = Some(next);
                row.appends_left = Some(replayed.history.appends_left(next, entries));
            }
            row.refused = proof.err().map(|refusal| refusal.token().to_owned());
            row.not_begun = not_begun(ground, journal).map(|refusal| refusal.token().to_owned());
        }
        Err(Refused { fault, .. }) => row.refused = Some(token(fault)),
    }
    row
}

/// What planning would say of the owner of a retirement that removed nothing of it yet: a fresh capture equals the evidence.
fn not_begun(ground: &Ground<'_>, journal: &Journal) -> Option<Refusal> {
    if ground.is_copy || !matches!(journal.newest, Progress::Prepared | Progress::ArtifactsRemoved) {
        return None;
    }
    let Evidence { locator, session_id, .. } = &journal.prepared.evidence;
    let owners = (ground.here)(Path::new(OsStr::from_bytes(&ground.scope.root.owner(&locator.owner_id).owners)));
    match (Owners { fs: ground.fs, path: &owners, is_copy: false }).evidence(locator, session_id.as_js()) {
        Ok(now) if now == journal.prepared.evidence => None,
        Ok(_) => Some(Refusal::EvidenceMismatch),
        Err(owners::Fault::Rule(refusal)) => Some(refusal),
        Err(owners::Fault::Unread(_) | owners::Fault::Uncaptured(_)) => None,
    }
}

/// gjc's word for a fault.
pub fn token(fault: &Fault) -> String {
    match fault {
        Fault::Rule(refusal) => refusal.token().to_owned(),
        Fault::Full(_) => "managed_gc_journal_capacity_exceeded".to_owned(),
        Fault::Unread(refusal) => refusal.token().to_owned(),
        Fault::Unbound => "transcript_unreadable".to_owned(),
    }
}
