//! Resuming tombstones: which targets are still pending, and what the asynchronous prepare makes of each
//! (spec 02 §9.4 to §9.6, 02a.5, 02a.10, 02a.16, 02a.17; spec 03 §15). Nothing is deleted here, ever.

use super::Refused;
use super::deletion::{Deletion, Done, Flow};
use super::prepare::{NotJson, resuming_record};
use crate::agent::candidates::{RECORD_CEILING, parse};
use crate::agent::layout;
use crate::agent::lock;
use crate::agent::tombstone::{
    self, CleanupState, History, Name, NotATombstone, Pending, Replay, ReplayBudget, ReplayError, Target, cleanup_name, pending_attempt,
};
use crate::agent::walk;
use crate::agent::world::{Scope, World};
use crate::finding::{Difference, Release};
use crate::fsys::{Bound, Errno, Kind, Refusal, capture, capture_admitted};
use crate::json::JsString;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How far the cleanup of one target got.
#[derive(Clone, PartialEq, Debug)]
pub enum Cleanup {
    /// A valid completed record exists.
    Completed,
    /// It is pending, with this history; it may be empty.
    Pending(Vec<Pending>),
    /// A record of the history cannot be read: to gjc there is none, but it cannot begin one either (02a.16).
    Unread,
    /// The history breaks a rule.
    Broken(ReplayError),
}

/// A target of a readable tombstone, with its cleanup.
#[derive(Clone, PartialEq, Debug)]
pub struct PendingTarget {
    /// The tombstone file.
    pub tombstone: PathBuf,
    /// The target.
    pub target: Target,
    /// Its operation name.
    pub operation: String,
    /// How far it got.
    pub cleanup: Cleanup,
}

impl PendingTarget {
    /// The tombstone's name without `.json`: the first part of the names of its cleanup records and of its lock.
    pub(super) fn stem(&self) -> String {
        stem(&self.tombstone)
    }
    /// What its cleanup records are judged against.
    pub(super) fn history<'h>(&'h self, digest: &'h str, release: Release) -> History<'h> {
        History { scope: digest, tombstone_path: self.tombstone.as_os_str().as_bytes(), target: &self.target, release }
    }
    /// Whether its completed record counts.
    pub(super) fn is_completed(&self, world: &World<'_>, scope: &Scope) -> bool {
        let name = cleanup_name(&self.stem(), &self.operation, CleanupState::Completed, 1);
        let record = resuming_record(world, &scope.protocol(layout::TOMBSTONES).join(name)).ok().flatten();
        record.is_some_and(|record| self.history(&scope.digest(), world.release).is_completed(&record))
    }
}

/// The name of a tombstone without `.json`: its operation.
pub(super) fn stem(tombstone: &Path) -> String {
    let name = tombstone.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".json").unwrap_or(&name).to_owned()
}

/// All names of `tombstones/`, sorted.
pub(super) fn names(world: &World<'_>, scope: &Scope) -> Vec<OsString> {
    world.fs.list(&scope.protocol(layout::TOMBSTONES)).unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}

/// The targets of one file of `tombstones/` as the resuming code reads it; none when it is no tombstone of this scope.
///
/// # Errors
/// Newest: the file is not JSON, or carries owner members.
pub(super) fn targets(world: &World<'_>, scope: &Scope, path: &Path) -> Result<Option<Vec<Target>>, Refused> {
    let ignores_malformed = !Difference::MalformedTombstones.in_effect(world.release);
    let refuse = |why: &str| Err(Refused::new("durability_failed", why).at(path));
    let record = match resuming_record(world, path) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        Err(NotJson) if ignores_malformed => return Ok(None),
        Err(NotJson) => return refuse("a file of tombstones/ is not JSON"),
    };
    // Cleanup records are no tombstones; whether newest's owner rule really reaches them is UNVERIFIED (spec 02 §9.2),
    // so they are left to the replay.
    let name = path.file_name().unwrap_or_default().as_bytes();
    if !ignores_malformed && !matches!(tombstone::parse_name(name), Name::Tombstone { .. } | Name::Foreign) {
        return Ok(None);
    }
    let within = |path: &JsString| is_within_sessions(world, path);
    match tombstone::read(&record, &scope.digest(), scope.directory.as_os_str().as_bytes(), world.release, &within) {
        Ok(tombstone) => Ok(Some(tombstone.targets)),
        Err(NotATombstone::Skipped) => Ok(None),
        Err(NotATombstone::Number) if ignores_malformed => Ok(None),
        Err(NotATombstone::Number) => refuse(&NotATombstone::Number.to_string()),
        Err(NotATombstone::OwnerScope) => refuse("task_artifact_owner_legacy_scope_unsupported"),
    }
}

/// Every readable tombstone with its targets, as the resuming code sees them: in order of the file names.
///
/// # Errors
/// What makes the prepare refuse before any target is looked at: newest, a file that is not JSON or carries owner members.
pub fn pending_targets(world: &World<'_>, scope: &Scope) -> Result<Vec<PendingTarget>, Refused> {
    let names = names(world, scope);
    let mut found = Vec::new();
    for name in &names {
        // A name that is no UTF-8 is asked for as JavaScript spells it, and is not there.
        let path = scope.protocol(layout::TOMBSTONES).join(&*name.to_string_lossy());
        for target in targets(world, scope, &path)?.unwrap_or_default() {
            let pending = with_history(world, scope, &names, &path, target);
            let completed = pending.is_completed(world, scope);
            found.push(PendingTarget { cleanup: if completed { Cleanup::Completed } else { pending.cleanup }, ..pending });
        }
    }
    Ok(found)
}

/// A target with the replay of its history; whether it is completed is not asked.
pub(super) fn with_history(world: &World<'_>, scope: &Scope, names: &[OsString], tombstone: &Path, target: Target) -> PendingTarget {
    let operation = target.operation();
    let pending = PendingTarget { tombstone: tombstone.to_owned(), target, operation, cleanup: Cleanup::Unread };
    let (stem, digest) = (pending.stem(), scope.digest());
    let prefix = format!("{stem}.{}.", pending.operation);
    let start = names.partition_point(|name| name.as_bytes() < prefix.as_bytes());
    let related = names.get(start..).unwrap_or_default().iter().take_while(|name| name.as_bytes().starts_with(prefix.as_bytes()));
    let history = pending.history(&digest, world.release);
    let directory = scope.protocol(layout::TOMBSTONES);
    let related = related.map(|name| name.as_os_str());
    let cleanup = match pending_history(world, &directory, related, names.len() as u64, (&stem, &pending.operation), &history) {
        Ok(Replay::Pending(all)) => Cleanup::Pending(all),
        Ok(Replay::Unread) => Cleanup::Unread,
        Err(error) => Cleanup::Broken(error),
    };
    PendingTarget { cleanup, ..pending }
}

/// Whether a path that a tombstone names lies in the sessions root, both as they really are; the root itself counts.
pub fn is_within_sessions(world: &World<'_>, path: &JsString) -> bool {
    let root = world.canonical_root(&world.sessions_root);
    let root = world.fs.realpath(&root).unwrap_or(root);
    let path = PathBuf::from(&*path.as_js().to_string_lossy());
    normal(&deepest_real(world, &path)).starts_with(root)
}

/// The path with `.` and `..` taken out by text.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

fn deepest_real(world: &World<'_>, path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = world.fs.realpath(ancestor) {
            return path.strip_prefix(ancestor).map_or_else(|_| real.clone(), |tail| real.join(tail));
        }
    }
    path.to_owned()
}

/// The replay of the pending records of one tombstone and target among the entries of `tombstones/` (spec 02 §9.4): none when
/// there are none, or one cannot be read.
///
/// # Errors
/// What gjc's replay throws.
pub fn cleanup_history(
    world: &World<'_>,
    tombstones: &walk::Listing,
    tombstone: &str,
    target: &str,
    history: &History<'_>,
) -> Result<Vec<Pending>, ReplayError> {
    let prefix = format!("{tombstone}.{target}.");
    let start = tombstones.objects.partition_point(|object| object.bytes() < prefix.as_bytes());
    let names = tombstones.objects.get(start..).unwrap_or_default().iter().map(|object| object.name.as_os_str());
    let names = names.take_while(|name| name.as_bytes().starts_with(prefix.as_bytes()));
    Ok(match pending_history(world, &tombstones.path, names, tombstones.objects.len() as u64, (tombstone, target), history)? {
        Replay::Unread => Vec::new(),
        Replay::Pending(all) => all,
    })
}

/// Reads and replays the pending records among `names`.
fn pending_history<'n>(
    world: &World<'_>,
    directory: &Path,
    names: impl Iterator<Item = &'n OsStr>,
    directory_entries: u64,
    (tombstone, target): (&str, &str),
    history: &History<'_>,
) -> Result<Replay, ReplayError> {
    let bounded = Difference::ReplayBudget.in_effect(world.release);
    let mut budget = ReplayBudget::default();
    if bounded {
        for _ in 0..directory_entries {
            budget.entry()?;
        }
    }
    let records = names.filter_map(|name| Some((pending_attempt(name.as_bytes(), tombstone, target)?, name))).collect();
    history.replay(records, |name| {
        // What is refused was opened, and nothing of it is read.
        let admit = |size| if bounded { budget.receipt(size).map_err(NotRead::Budget) } else { Ok(()) };
        match capture_admitted(world.fs, &directory.join(&*name.to_string_lossy()), Bound::Ceiling(RECORD_CEILING), admit) {
            Ok(captured) => Ok(parse(&captured.bytes)),
            Err(NotRead::Budget(error)) => Err(error),
            Err(NotRead::Refused(Refusal::Capacity { .. })) if bounded => Err(ReplayError::Capacity),
            Err(NotRead::Refused(_)) => Ok(None),
        }
    })
}

/// Why a pending record is not read.
enum NotRead {
    Refused(Refusal),
    Budget(ReplayError),
}

impl From<Refusal> for NotRead {
    fn from(refusal: Refusal) -> Self {
        NotRead::Refused(refusal)
    }
}

/// The transcripts that resuming every unfinished tombstone deletes, in order of the file names. `session` is the session that
/// is being opened: failures of other sessions' targets are only logged then (02a.10). A lock is taken for a whole tombstone, so
/// a lock that is held stops everybody.
///
/// # Errors
/// The first refusal that is not only logged.
pub(super) fn resume_all(world: &World<'_>, scope: &Scope, session: Option<&JsString>) -> Result<Vec<PathBuf>, Refused> {
    let all = pending_targets(world, scope)?;
    let mut done = Vec::new();
    for of_tombstone in all.chunk_by(|a, b| a.tombstone == b.tombstone) {
        let mut unfinished = of_tombstone.iter().filter(|target| target.cleanup != Cleanup::Completed).peekable();
        let Some(first) = unfinished.peek() else { continue };
        lock_is_free(world, scope, &first.stem())?;
        for target in unfinished {
            match Deletion::new(world, scope, target, Flow::Resume).go_on() {
                Ok(Done::Deleted) => done.push(PathBuf::from(&*target.target.path.as_js().to_string_lossy())),
                Ok(Done::Nothing) => {}
                Err(thrown) => {
                    let refused = thrown.while_preparing();
                    let is_logged = refused.code != CAPACITY && session.is_some_and(|session| *session != target.target.session_id);
                    if !is_logged {
                        return Err(refused);
                    }
                }
            }
        }
    }
    Ok(done)
}

/// A replay budget that is used up stops everybody, too (newest).
const CAPACITY: &str = "managed_gc_journal_capacity_exceeded";

/// The lock of an operation can be taken.
///
/// # Errors
/// `migration_busy`.
pub(super) fn lock_is_free(world: &World<'_>, scope: &Scope, operation: &str) -> Result<(), Refused> {
    let lock = scope.protocol(layout::LOCKS).join(format!("{operation}.lock"));
    lock_blocks(world, &lock).map_or(Ok(()), |why| Err(Refused::new("migration_busy", why).at(lock)))
}

/// Why a lock file blocks, or none when it is absent or reclaimable (spec 02 §6.2).
pub fn lock_blocks(world: &World<'_>, path: &Path) -> Option<String> {
    match world.fs.lstat(path) {
        Err(error) if error.errno == Errno::NOENT => return None,
        Err(error) => return Some(error.to_string()),
        Ok(meta) if meta.kind != Kind::File => return Some(format!("the lock is a {}", meta.kind.noun())),
        Ok(_) => {}
    }
    let captured = match capture(world.fs, path, Bound::Ceiling(RECORD_CEILING)) {
        Ok(captured) => captured,
        Err(refusal) => return Some(format!("the lock {refusal}")),
    };
    match lock::parse(&captured.bytes) {
        None => Some("the lock does not parse, so it is never reclaimed".to_owned()),
        Some(record) => match record.standing(world.now_ms, world.host) {
            standing if standing.reclaimable() => None,
            lock::Standing::LeaseRuns => Some(format!("the lease of process {} runs", record.pid)),
            _ => Some(format!("the lease expired, but process {} is not provably gone", record.pid)),
        },
    }
}
