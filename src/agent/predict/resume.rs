//! Resuming tombstones: which targets are still pending, and what the asynchronous prepare makes of each
//! (spec 02 §9.4 to §9.6, 02a.5, 02a.10, 02a.16, 02a.17; spec 03 §15). Nothing is deleted here, ever.

use super::Refused;
use super::prepare::{NotJson, resuming_record};
use crate::agent::artifacts;
use crate::agent::candidates::{RECORD_CEILING, artifacts_of, parse, read_header};
use crate::agent::layout;
use crate::agent::lock;
use crate::agent::record::TranscriptIdentity;
use crate::agent::tombstone::{
    self, CleanupState, History, Name, NotATombstone, Pending, Replay, ReplayBudget, ReplayError, Target, cleanup_name, pending_attempt,
};
use crate::agent::walk;
use crate::agent::world::{Scope, World};
use crate::finding::Difference;
use crate::fsys::{Bound, Errno, Kind, Refusal, capture};
use crate::json::view::View;
use crate::json::{JsString, Value};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// One pending target, and what resuming it would do.
#[derive(Clone, PartialEq, Debug)]
pub struct Resumption {
    /// The tombstone file.
    pub tombstone: PathBuf,
    /// Session of the target.
    pub session_id: JsString,
    /// The transcript that resuming deletes, or none when it is gone already; or gjc's refusal.
    pub result: Result<Option<PathBuf>, Refused>,
}

/// How far the cleanup of one target got.
#[derive(Clone, PartialEq, Debug)]
pub enum Cleanup {
    /// A valid completed record exists.
    Completed,
    /// It is pending, with this history.
    Pending(Vec<Pending>),
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

/// All names of `tombstones/`, sorted.
fn names(world: &World<'_>, scope: &Scope) -> Vec<OsString> {
    world.fs.list(&scope.protocol(layout::TOMBSTONES)).unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}

/// Every readable tombstone with its targets, as the resuming code sees them.
///
/// # Errors
/// What makes the prepare refuse before any target is looked at: newest, a file that is not JSON or carries owner members.
pub fn pending_targets(world: &World<'_>, scope: &Scope) -> Result<Vec<PendingTarget>, Refused> {
    let directory = scope.protocol(layout::TOMBSTONES);
    let names = names(world, scope);
    let mut histories: BTreeMap<&[u8], Vec<&OsString>> = BTreeMap::new();
    for name in &names {
        // Histories are found by prefix `<tombstone stem>.`; the stem of a cleanup record is its first 64 bytes.
        if let Some((stem, _)) = name.as_bytes().split_at_checked(64) {
            histories.entry(stem).or_default().push(name);
        }
    }
    let within = |path: &JsString| is_within_sessions(world, path);
    let ignores_malformed = !Difference::MalformedTombstones.in_effect(world.release);
    let mut found = Vec::new();
    for name in &names {
        let path = directory.join(name);
        let record = match resuming_record(world, &path) {
            Ok(Some(record)) => record,
            Ok(None) => continue,
            Err(NotJson) if ignores_malformed => continue,
            Err(NotJson) => return Err(Refused::new("durability_failed", "a file of tombstones/ is not JSON").at(path)),
        };
        // Cleanup records are no tombstones; whether newest's owner rule really reaches them is UNVERIFIED (spec 02 §9.2),
        // so they are left to the replay.
        if !matches!(tombstone::parse_name(name.as_bytes()), Name::Tombstone { .. } | Name::Foreign) {
            continue;
        }
        let tombstone = match tombstone::read(&record, &scope.digest(), scope.directory.as_os_str().as_bytes(), world.release, &within) {
            Ok(tombstone) => tombstone,
            Err(NotATombstone::Skipped) => continue,
            Err(NotATombstone::Number) if ignores_malformed => continue,
            Err(NotATombstone::Number) => return Err(Refused::new("durability_failed", NotATombstone::Number.to_string()).at(path)),
            Err(NotATombstone::OwnerScope) => {
                return Err(Refused::new("durability_failed", "task_artifact_owner_legacy_scope_unsupported").at(path));
            }
        };
        let stem = name.as_bytes().strip_suffix(b".json").unwrap_or(name.as_bytes());
        let related = histories.get(stem.get(..64).unwrap_or(stem)).map(Vec::as_slice).unwrap_or_default();
        for target in tombstone.targets {
            let operation = target.operation();
            let cleanup = cleanup(world, scope, &path, stem, &target, &operation, related, names.len() as u64);
            found.push(PendingTarget { tombstone: path.clone(), target, operation, cleanup });
        }
    }
    Ok(found)
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

#[expect(clippy::too_many_arguments, reason = "one replay needs the tombstone, the target and the names that were listed once for all")]
fn cleanup(
    world: &World<'_>,
    scope: &Scope,
    tombstone: &Path,
    stem: &[u8],
    target: &Target,
    operation: &str,
    related: &[&OsString],
    directory_entries: u64,
) -> Cleanup {
    let directory = scope.protocol(layout::TOMBSTONES);
    let digest = scope.digest();
    let history = History { scope: &digest, tombstone_path: tombstone.as_os_str().as_bytes(), target, release: world.release };
    let stem = String::from_utf8_lossy(stem);
    let completed = directory.join(cleanup_name(&stem, operation, CleanupState::Completed, 1));
    if resuming_record(world, &completed).ok().flatten().is_some_and(|record| history.is_completed(&record)) {
        return Cleanup::Completed;
    }
    match pending_history(world, &directory, related.iter().map(|name| name.as_os_str()), directory_entries, (&stem, operation), &history) {
        Ok(all) => Cleanup::Pending(all),
        Err(error) => Cleanup::Broken(error),
    }
}

/// The replay of the pending records of one tombstone and target among the entries of `tombstones/` (spec 02 §9.4).
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
    pending_history(world, &tombstones.path, names, tombstones.objects.len() as u64, (tombstone, target), history)
}

/// Reads and replays the pending records among `names`; none when there are none, or one cannot be read.
fn pending_history<'n>(
    world: &World<'_>,
    directory: &Path,
    names: impl Iterator<Item = &'n OsStr>,
    directory_entries: u64,
    (tombstone, target): (&str, &str),
    history: &History<'_>,
) -> Result<Vec<Pending>, ReplayError> {
    let bounded = Difference::ReplayBudget.in_effect(world.release);
    let mut budget = ReplayBudget::default();
    if bounded {
        for _ in 0..directory_entries {
            budget.entry()?;
        }
    }
    let records = names.filter_map(|name| Some((pending_attempt(name.as_bytes(), tombstone, target)?, name))).collect();
    let read = |name: &OsStr| match capture(world.fs, &directory.join(name), Bound::Ceiling(RECORD_CEILING)) {
        Ok(captured) => {
            if bounded {
                budget.receipt(captured.meta.size)?;
            }
            Ok(parse(&captured.bytes))
        }
        Err(Refusal::Capacity { .. }) if bounded => Err(ReplayError::Capacity),
        Err(_) => Ok(None),
    };
    Ok(match history.replay(records, read)? {
        Replay::None => Vec::new(),
        Replay::Pending(all) => all,
    })
}

/// What resuming every unfinished tombstone would do, in order of the file names.
pub(super) fn resume_all(world: &World<'_>, scope: &Scope) -> Result<Vec<Resumption>, Refused> {
    let targets = pending_targets(world, scope)?;
    Ok(targets
        .into_iter()
        .filter(|target| target.cleanup != Cleanup::Completed)
        .map(|target| Resumption {
            tombstone: target.tombstone.clone(),
            session_id: target.target.session_id.clone(),
            result: resume(world, scope, &target),
        })
        .collect())
}

/// What resuming one pending target would do.
fn resume(world: &World<'_>, scope: &Scope, pending: &PendingTarget) -> Result<Option<PathBuf>, Refused> {
    let stem = pending
        .tombstone
        .file_name()
        .map(|name| name.as_bytes().strip_suffix(b".json").unwrap_or(name.as_bytes()).to_owned())
        .unwrap_or_default();
    let stem = String::from_utf8_lossy(&stem).into_owned();
    let lock = scope.protocol(layout::LOCKS).join(format!("{stem}.lock"));
    if let Some(why) = lock_blocks(world, &lock) {
        return Err(Refused::new("migration_busy", why).at(lock));
    }
    let durability = |detail: &str, path: &Path| Refused::new("durability_failed", detail).at(path);
    let history = match &pending.cleanup {
        Cleanup::Completed => return Ok(None),
        Cleanup::Broken(ReplayError::Durability) => {
            return Err(durability("its cleanup history breaks a rule of 02 §9.4", &pending.tombstone));
        }
        Cleanup::Broken(ReplayError::OwnerScope) => {
            return Err(durability("task_artifact_owner_legacy_scope_unsupported", &pending.tombstone));
        }
        Cleanup::Broken(ReplayError::Capacity) => {
            return Err(Refused::new("managed_gc_journal_capacity_exceeded", "the replay budget is used up").at(&pending.tombstone));
        }
        Cleanup::Pending(history) => history,
    };
    let directory = scope.protocol(layout::TOMBSTONES);
    let next = history.len() as u64 + 1;
    let publish = directory.join(cleanup_name(&stem, &pending.operation, CleanupState::Pending, next));
    let transcript = PathBuf::from(&*pending.target.path.as_js().to_string_lossy());
    let there = standing(world, &pending.target, &transcript);
    let detached = detached_payload(world, history, pending)?;
    let artifacts = artifacts_done(world, scope, &stem, pending, history)?;
    if !artifacts {
        resume_artifacts(world, &transcript, history)?;
    }
    match there {
        Transcript::Gone => {}
        Transcript::Changed(why) => return Err(Refused::new("binding_invalid", format!("source_changed: {why}")).at(transcript)),
        Transcript::Same => {}
    }
    // The next step of a fresh or unfinished deletion is another pending record; an occupied name that the replay did not
    // accept is a collision (02a.16).
    let fresh_plan = history.is_empty() && world.fs.present(&publish).unwrap_or(true);
    if fresh_plan {
        return Err(durability("the next plan collides with a file that cannot be read as one", &publish));
    }
    Ok((there == Transcript::Same || detached).then_some(transcript))
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

/// What stands at a target's path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Transcript {
    Gone,
    Same,
    Changed(String),
}

/// Compares the transcript at a target's path with the target (spec 02 §9.6.5): header id, cwd, dev, ino, exactly one
/// link, size, mtime, hash.
fn standing(world: &World<'_>, target: &Target, path: &Path) -> Transcript {
    let changed = |why: &str| Transcript::Changed(why.to_owned());
    match world.fs.present(path) {
        Ok(false) => return Transcript::Gone,
        Err(error) => return Transcript::Changed(error.to_string()),
        Ok(true) => {}
    }
    let captured = match capture(world.fs, path, Bound::Prefix(crate::agent::candidates::PREFLIGHT_BYTES)) {
        Ok(captured) if captured.meta.nlink == 1 => captured,
        Ok(captured) => return Transcript::Changed(format!("it has {} links", captured.meta.nlink)),
        Err(refusal) => return Transcript::Changed(format!("it {refusal}")),
    };
    let Ok((id, cwd)) = read_header(&captured.bytes) else { return changed("its header cannot be read") };
    if id != target.session_id {
        return changed("its header has another session id");
    }
    // The spelling of the cwd does not matter here, the directory does (02a.11).
    let resolve = |cwd: &JsString| world.identity(Path::new(&*cwd.as_js().to_string_lossy()));
    if cwd != target.cwd && (resolve(&cwd).is_err() || resolve(&cwd) != resolve(&target.cwd)) {
        return changed("its header has another cwd");
    }
    let meta = captured.meta;
    let mut identity = TranscriptIdentity {
        canonical_path: target.path.clone(),
        session_id: id,
        dev: meta.dev,
        ino: meta.ino,
        nlink: meta.nlink,
        size: meta.size,
        mtime_ns: meta.mtime_ns,
        ctime_ns: meta.ctime_ns,
        sha256: target.sha256.to_string(),
    };
    // The content is hashed only when everything else agrees.
    if !target.is_file(&identity) {
        return changed("inode, size or time differ");
    }
    match crate::fsys::hash_file(world.fs, path) {
        Ok((hash, _)) => identity.sha256 = data_encoding::HEXLOWER.encode(&hash),
        Err(error) => return Transcript::Changed(error.to_string()),
    }
    if target.is_file(&identity) { Transcript::Same } else { changed("its content differs") }
}

/// Whether the transcript lies under a planned name with its payload; a foreign payload there is `durability_failed`.
fn detached_payload(world: &World<'_>, history: &[Pending], pending: &PendingTarget) -> Result<bool, Refused> {
    for plan in history {
        let path = PathBuf::from(&*plan.planned_transcript.as_js().to_string_lossy());
        match world.fs.lstat(&path) {
            Err(error) if error.errno == Errno::NOENT => {}
            Ok(meta) if meta.kind == Kind::File && meta.size == 0 && meta.nlink == 1 => {}
            Ok(_) => match standing(world, &pending.target, &path) {
                Transcript::Same => return Ok(true),
                _ => return Err(Refused::new("durability_failed", "a planned name holds something else than the transcript").at(path)),
            },
            Err(error) => return Err(Refused::new("durability_failed", error.to_string()).at(path)),
        }
    }
    Ok(false)
}

/// Whether a valid `artifacts_removed` record exists for one of the attempts.
fn artifacts_done(world: &World<'_>, scope: &Scope, stem: &str, pending: &PendingTarget, history: &[Pending]) -> Result<bool, Refused> {
    let digest = scope.digest();
    let rules = History {
        scope: &digest,
        tombstone_path: pending.tombstone.as_os_str().as_bytes(),
        target: &pending.target,
        release: world.release,
    };
    for plan in history {
        let path =
            scope.protocol(layout::TOMBSTONES).join(cleanup_name(stem, &pending.operation, CleanupState::ArtifactsRemoved, plan.attempt));
        let Ok(Some(record)) = resuming_record(world, &path) else { continue };
        match rules.artifacts_removed(&record, plan, &|root, recorded| live_root_holds(world, root, recorded)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(_) => return Err(Refused::new("durability_failed", "its artifacts_removed record breaks a rule of 02 §9.5").at(path)),
        }
    }
    Ok(false)
}

/// A retained artifact root that still exists has the recorded inode and holds no payload.
fn live_root_holds(world: &World<'_>, root: &JsString, recorded: &Value) -> bool {
    let path = PathBuf::from(&*root.as_js().to_string_lossy());
    let Ok(meta) = world.fs.lstat(&path) else { return true };
    let same = recorded.member("identity").is_some_and(|identity| {
        crate::agent::record::spells(identity, "dev", meta.dev) && crate::agent::record::spells(identity, "ino", meta.ino)
    });
    let empty = artifacts::survey(world.fs, &path).ok().flatten().is_some_and(|survey| survey.bytes == 0);
    same && empty
}

/// The artifact phase: the sibling directory must be safe and equal what an earlier record expects.
fn resume_artifacts(world: &World<'_>, transcript: &Path, history: &[Pending]) -> Result<(), Refused> {
    let root = artifacts_of(transcript);
    let survey = match artifacts::survey(world.fs, &root) {
        Ok(survey) => survey,
        // The code is not kept (02a.9).
        Err(fault) => return Err(Refused::new("binding_invalid", format!("{}: {fault}", fault.code())).at(root)),
    };
    let expected =
        history.iter().rev().find_map(|plan| plan.record.member("expectedArtifactsIdentity").filter(|identity| identity.truthy()));
    let (Some(survey), Some(expected)) = (survey, expected) else { return Ok(()) };
    let Some(meta) = survey.items.first().map(|item| item.meta) else { return Ok(()) };
    use crate::agent::record::spells;
    let same = spells(expected, "dev", meta.dev) && spells(expected, "ino", meta.ino) && spells(expected, "mtimeNs", meta.mtime_ns);
    if same {
        Ok(())
    } else {
        Err(Refused::new("binding_invalid", "source_changed: the artifact directory is not the recorded one").at(root))
    }
}
