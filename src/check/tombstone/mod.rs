//! The area *tombstone* of spec 05: tombstones, cleanup histories, and what still stands at retired paths (spec 02 §9;
//! spec 03 §14.2, §15; 02a.5, 02a.7, 02a.9 to 02a.11, 02a.16, 02a.17).

pub mod codes;

use super::quota::{self, CLEANUP_REPLAY_BYTES, CLEANUP_REPLAY_WORK, LARGEST_CLEANUP_RECORD, TOMBSTONE_ENTRIES};
use super::record::{self, Record};
use super::retirement_receipt::codes as retirement;
use super::run::Site;
use crate::agent::artifacts;
use crate::agent::budget::Budget;
use crate::agent::candidates::{Candidate, Provenance, artifacts_of};
use crate::agent::record::spells;
use crate::agent::tombstone::{self, CleanupState, History, Name, NotATombstone, Replay, ReplayBudget, ReplayError, Target, Tombstone};
use crate::agent::walk::{Listing, Object, Scope};
use crate::finding::{Difference, Finding, Sink};
use crate::fsys::Kind;
use crate::gc::{self, ground::Ground, stored::Desk};
use crate::json::{JsString, Value, View};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One cleanup record that was read.
struct CleanupRecord<'a> {
    object: &'a Object,
    state: CleanupState,
    attempt: u64,
    value: Value,
}

/// Records of one (tombstone, target) pair.
#[derive(Default)]
struct Cleanups<'a> {
    records: Vec<CleanupRecord<'a>>,
    /// A pending record cannot be read: the replay answers "no history" (02a.16).
    unreadable: bool,
    /// Sizes of pending records, for the replay budget.
    sizes: Vec<u64>,
}

/// What is known of one operation name.
enum Known {
    Tombstone(Tombstone),
    /// It is there and is not taken for a tombstone.
    Refused,
    /// It was not read: nothing is said of what belongs to it.
    Unread,
}

/// Judges everything in `tombstones/`. Symlinks and further links have codes of their own.
pub fn check(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) {
    let Some(tombstones) = &scope.tombstones else { return };
    let name = scope.directory.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let digest = name.strip_prefix("v2-").unwrap_or(&name).to_owned();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let mut cleanups: BTreeMap<(String, String), Cleanups<'_>> = BTreeMap::new();
    for object in &tombstones.objects {
        if object.meta.kind == Kind::Symlink || (object.meta.kind == Kind::File && object.meta.nlink > 1) {
            continue;
        }
        let path = tombstones.path_of(object);
        match tombstone::parse_name(object.bytes()) {
            Name::Tombstone { operation } => {
                known.insert(operation.to_owned(), self::tombstone(site, scope, &digest, &path, object, sink));
            }
            Name::Cleanup { tombstone, target, state, attempt } => {
                let of = cleanups.entry((tombstone.to_owned(), target.to_owned())).or_default();
                if state == CleanupState::Pending {
                    of.sizes.push(object.meta.size);
                }
                match cleanup_value(site, &path, object, state, sink) {
                    Some(value) => of.records.push(CleanupRecord { object, state, attempt, value }),
                    None => of.unreadable |= state == CleanupState::Pending,
                }
            }
            Name::CleanupMalformed { suffix, .. } => {
                let message = format!("The suffix `{suffix}` is no canonical attempt of a cleanup record.");
                sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_TOMBSTONE_ROLE_INVALID, site.place(&path), message));
            }
            Name::Foreign => foreign(site, &path, object, sink),
        }
    }
    let owners = Owners { site, scope, digest: &digest };
    histories(&owners, tombstones, &known, &cleanups, sink);
    for (operation, known) in &known {
        if let Known::Tombstone(tombstone) = known {
            for target in &tombstone.targets {
                standing(&owners, tombstones, operation, target, &cleanups, sink);
            }
        }
    }
}

/// A name without a role. Newest reads every file of the directory, so one that is no JSON blocks like a tombstone.
fn foreign(site: &Site<'_>, path: &Path, object: &Object, sink: &mut dyn Sink) {
    if object.meta.kind == Kind::File && matches!(record::read(site, path, sink), Record::NotJson) {
        let message = "The file is no tombstone by its name, but every file of this directory is read, and it is not JSON.";
        sink.push(Finding::new(&codes::TOMBSTONE_UNREADABLE, site.place(path), message));
        return;
    }
    let message = format!("A {} of this name has no place in `tombstones/`.", object.meta.kind.noun());
    sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_TOMBSTONE_ROLE_INVALID, site.place(path), message));
}

/// A file `<op>.json`.
fn tombstone(site: &Site<'_>, scope: &Scope, digest: &str, path: &Path, object: &Object, sink: &mut dyn Sink) -> Known {
    let unreadable = |why: String, sink: &mut dyn Sink| {
        sink.push(Finding::new(&codes::TOMBSTONE_UNREADABLE, site.place(path), why));
        Known::Refused
    };
    if object.meta.kind != Kind::File {
        return unreadable(format!("A {} stands in the place of a tombstone.", object.meta.kind.noun()), sink);
    }
    let value = match record::read(site, path, sink) {
        Record::Json(value) => value,
        Record::NotJson => return unreadable("The tombstone is not JSON.".into(), sink),
        Record::TooLarge(size) => {
            record::too_large(site, path, size, sink);
            return Known::Unread;
        }
        Record::Unread => return Known::Unread,
    };
    let directory = &scope.directory.path;
    let root = directory.parent().unwrap_or(directory);
    let within = |path: &JsString| {
        let here = site.here(Path::new(&*path.as_js().to_string_lossy()));
        let climbs = here.components().any(|part| part == std::path::Component::ParentDir);
        !climbs && here.starts_with(root)
    };
    let spelled = site.recorded(directory);
    let read = tombstone::read(&value, digest, spelled.as_os_str().as_encoded_bytes(), site.release, &within);
    let hides = || {
        if tombstone::is_retired_record(&value, digest) {
            "the listing hides sessions by it all the same"
        } else {
            "the listing does not use it either"
        }
    };
    let (code, message) = match read {
        Ok(tombstone) if !tombstone.targets.is_empty() => return Known::Tombstone(tombstone),
        Ok(_) => (&codes::MANAGED_GC_PROTOCOL_TOMBSTONE_INVALID, "The tombstone has no target.".to_owned()),
        Err(NotATombstone::OwnerScope) => {
            let message = "Members that begin with `taskArtifactOwner` stand where they are not supported.".to_owned();
            (&codes::TASK_ARTIFACT_OWNER_LEGACY_SCOPE_UNSUPPORTED, message)
        }
        Err(why) => (
            &codes::MANAGED_GC_PROTOCOL_TOMBSTONE_INVALID,
            format!("The resuming reader does not take it for a tombstone ({why}); {}.", hides()),
        ),
    };
    sink.push(Finding::new(code, site.place(path), message));
    Known::Refused
}

/// A completed record that is no JSON object: the inspector has a word of its own for it.
fn no_object(site: &Site<'_>, path: &Path, why: &str, sink: &mut dyn Sink) -> Option<Value> {
    let message = format!("The completed record counts as absent: {why}.");
    sink.push(Finding::new(&retirement::MANAGED_GC_PROTOCOL_RECORD_INVALID, site.place(path), message));
    None
}

/// The value of a cleanup record, or none when it cannot be used.
fn cleanup_value(site: &Site<'_>, path: &Path, object: &Object, state: CleanupState, sink: &mut dyn Sink) -> Option<Value> {
    // Only where there is an inspector.
    let is_no_record =
        |state, is_object: bool| state == CleanupState::Completed && !is_object && Difference::Retirement.in_effect(site.release);
    let why = if object.meta.kind == Kind::File {
        match record::read(site, path, sink) {
            Record::Json(value) if is_no_record(state, value.kind() == crate::json::Kind::Object) => {
                return no_object(site, path, "it is no object", sink);
            }
            Record::NotJson if is_no_record(state, false) => return no_object(site, path, "it is not JSON", sink),
            Record::Json(value) if state != CleanupState::Pending || has_integers(&value) => return Some(value),
            Record::Json(_) => "a recorded number is no integer".to_owned(),
            Record::NotJson => "it is not JSON".to_owned(),
            Record::TooLarge(size) if state != CleanupState::Pending || !Difference::ReplayBudget.in_effect(site.release) => {
                record::too_large(site, path, size, sink);
                return None;
            }
            Record::TooLarge(size) => {
                let message =
                    format!("The record has {size} bytes; gjc reads at most 67,108,864. It is neither absent nor damaged by that.");
                sink.push(Finding::new(&quota::codes::MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED, site.place(path), message));
                return None;
            }
            Record::Unread => return None,
        }
    } else {
        format!("it is a {}", object.meta.kind.noun())
    };
    let (code, what) = match state {
        CleanupState::Completed => (&codes::MANAGED_GC_PROTOCOL_TOMBSTONE_COMPLETION_INVALID, "completed"),
        CleanupState::Pending => (&codes::CLEANUP_RECEIPT_UNREADABLE, "pending"),
        CleanupState::ArtifactsRemoved => (&codes::CLEANUP_RECEIPT_UNREADABLE, "artifacts_removed"),
    };
    sink.push(Finding::new(code, site.place(path), format!("The {what} record cannot be read: {why}.")));
    None
}

/// The numbers of the expected artifact directory are such that gjc can turn into big integers.
fn has_integers(value: &Value) -> bool {
    use crate::agent::record::{BigInt, bigint};
    let identity = value.member("expectedArtifactsIdentity");
    ["dev", "ino", "mtimeNs"]
        .iter()
        .all(|key| identity.and_then(|identity| identity.str_member(key)).is_none_or(|text| bigint(&text) != BigInt::SyntaxError))
}

/// What a deletion that takes an owner of task artifacts along is held against: the retirement journals of the scope.
struct Owners<'a> {
    site: &'a Site<'a>,
    scope: &'a Scope,
    digest: &'a str,
}

impl Owners<'_> {
    /// Whether a `completed` record that says so is right that the owner is retired. Of what cannot be read nothing is claimed.
    fn are_done(&self, history: &History<'_>, of: &Cleanups<'_>, record: &Value) -> bool {
        if history.target.owner_evidence.is_none() || of.unreadable || !Difference::TombstoneOwners.in_effect(self.site.release) {
            return true;
        }
        let pending = of.records.iter().filter(|record| record.state == CleanupState::Pending);
        let pending = pending.map(|record| (Some(record.attempt), &record.value)).collect();
        // A history that breaks a rule is told as that.
        let Ok(Replay::Pending(pending)) = history.replay(pending, |record| Ok(Some(record.clone()))) else { return false };
        if pending.is_empty() {
            return false;
        }
        let site = self.site;
        let directory = &self.scope.directory.path;
        let (recorded, sessions) = (site.recorded(directory), site.recorded(directory.parent().unwrap_or(directory)));
        let Ok(root) = gc::SessionsRoot::new(sessions.as_os_str().as_encoded_bytes()) else { return true };
        let Some(receipts) = &self.scope.receipts else { return false };
        let here = |path: &Path| site.here(path);
        let scope = gc::Scope { digest: self.digest, directory: recorded.as_os_str().as_encoded_bytes(), root: &root };
        let ground = Ground { fs: site.fs, receipts, opened: None, beside: None, scope, here: &here, is_copy: site.assumed_root.is_some() };
        ground.completes(&history.target.path, pending.last(), record, &mut Desk::default()).unwrap_or(true)
    }
}

/// The replay of every history.
fn histories(
    owners: &Owners<'_>,
    tombstones: &Listing,
    known: &BTreeMap<String, Known>,
    cleanups: &BTreeMap<(String, String), Cleanups<'_>>,
    sink: &mut dyn Sink,
) {
    let Owners { site, digest, .. } = *owners;
    let mut longest: Option<ReplayBudget> = None;
    let mut largest = 0;
    for ((operation, target_operation), of) in cleanups {
        let target = match known.get(operation) {
            Some(Known::Tombstone(tombstone)) => tombstone.targets.iter().find(|target| target.operation() == *target_operation),
            Some(Known::Unread) => continue,
            Some(Known::Refused) | None => {
                let why = if known.contains_key(operation) { "is no tombstone" } else { "does not exist" };
                for record in &of.records {
                    let message = format!("The record belongs to `{operation}.json`, which {why}.");
                    sink.push(at(site, tombstones, record, &codes::MANAGED_GC_PROTOCOL_TOMBSTONE_AUTHORITY_MISSING, message));
                }
                continue;
            }
        };
        let Some(target) = target else {
            for record in &of.records {
                let message = format!("No target of `{operation}.json` has the operation name `{target_operation}`.");
                sink.push(at(site, tombstones, record, &codes::MANAGED_GC_PROTOCOL_TOMBSTONE_TARGET_MISSING, message));
            }
            continue;
        };
        let spelled = site.recorded(&tombstones.path.join(format!("{operation}.json")));
        let history = History { scope: digest, tombstone_path: spelled.as_os_str().as_encoded_bytes(), target, release: site.release };
        largest = of.sizes.iter().copied().max().unwrap_or_default().max(largest);
        let budget = one_history(owners, tombstones, &history, of, sink);
        if longest.is_none_or(|longest| budget.work.used > longest.work.used) {
            longest = Some(budget);
        }
    }
    room(site, tombstones, longest.map(|longest| (longest, largest)), sink);
}

fn at(site: &Site<'_>, tombstones: &Listing, record: &CleanupRecord<'_>, code: &'static crate::finding::Code, message: String) -> Finding {
    Finding::new(code, site.place(&tombstones.path_of(record.object)), message)
}

/// Judges one history. Answers what its replay takes of the budget.
fn one_history(owners: &Owners<'_>, tombstones: &Listing, history: &History<'_>, of: &Cleanups<'_>, sink: &mut dyn Sink) -> ReplayBudget {
    let site = owners.site;
    let of_state = |state| of.records.iter().filter(move |record| record.state == state);
    let first = of_state(CleanupState::Pending).next();
    let entries = tombstones.objects.len() as u64;
    let bounded = Difference::ReplayBudget.in_effect(site.release);
    // A record that cannot be read was reported; what the rest would give is then not asked.
    if let Some(first) = first.filter(|_| !of.unreadable) {
        let pending = of_state(CleanupState::Pending).map(|record| (Some(record.attempt), record)).collect();
        // All entries are paid for before a record is looked at, and each record before it is read: what breaks a rule before
        // the budget ends is told as that.
        let mut budget = ReplayBudget::default();
        let admitted = if bounded { enter(&mut budget, entries) } else { Ok(()) };
        let read = |record: &CleanupRecord<'_>| {
            if bounded {
                budget.receipt(record.object.meta.size)?;
            }
            Ok(Some(record.value.clone()))
        };
        match admitted.and_then(|()| history.replay(pending, read)) {
            Ok(Replay::Pending(_) | Replay::Unread) => {}
            Err(ReplayError::Durability) => {
                let message = "The pending history breaks a rule of 02 §9.4: gjc answers `durability_failed`.".to_owned();
                sink.push(at(site, tombstones, first, &codes::MANAGED_GC_PROTOCOL_TOMBSTONE_HISTORY_INVALID, message));
            }
            Err(ReplayError::OwnerScope) => {
                let message = "Members that begin with `taskArtifactOwner` stand where they are not supported.".to_owned();
                sink.push(at(site, tombstones, first, &codes::TASK_ARTIFACT_OWNER_LEGACY_SCOPE_UNSUPPORTED, message));
            }
            Err(ReplayError::Capacity) => {
                let message =
                    "The replay of this history needs more than gjc's budget. It is neither absent nor damaged by that.".to_owned();
                sink.push(at(site, tombstones, first, &quota::codes::MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED, message));
            }
        }
    }
    for record in of_state(CleanupState::ArtifactsRemoved) {
        // By itself, as the inspector does (§9.8): whether there is a pending record of this attempt does not matter.
        let live = |root: &JsString, identity: &Value| {
            artifacts::retained_root(site.fs, &site.here(Path::new(&*root.as_js().to_string_lossy())), identity)
        };
        let holds = history.artifacts_removed(&record.value, record.attempt, &live).unwrap_or(false);
        if !holds {
            let message = "The record breaks a rule of 02 §9.5.".to_owned();
            sink.push(at(site, tombstones, record, &codes::MANAGED_GC_PROTOCOL_TOMBSTONE_ARTIFACTS_INVALID, message));
        }
    }
    for record in of_state(CleanupState::Completed) {
        let message = if !history.is_completed(&record.value) {
            "The record is not exactly what completes this target (02 §9.5)."
        } else if !owners.are_done(history, of, &record.value) {
            "The record says that the session's owner of task artifacts is retired; the owner's journal, or the last pending record, \
             does not say the same (03 §15.3)."
        } else {
            continue;
        };
        sink.push(at(site, tombstones, record, &codes::MANAGED_GC_PROTOCOL_TOMBSTONE_COMPLETION_INVALID, message.to_owned()));
    }
    spend(entries, &of.sizes)
}

/// Pays for the entries of a directory.
fn enter(budget: &mut ReplayBudget, entries: u64) -> Result<(), ReplayError> {
    (0..entries.min(ReplayBudget::MAX_ENTRIES + 1)).try_for_each(|_| budget.entry())
}

/// What of the replay budget this many entries and records of these sizes use, up to the first that does not fit.
fn spend(entries: u64, sizes: &[u64]) -> ReplayBudget {
    let mut budget = ReplayBudget::default();
    let _: Result<(), ReplayError> = enter(&mut budget, entries).and_then(|()| sizes.iter().try_for_each(|size| budget.receipt(*size)));
    budget
}

/// Gauges of the longest replay and of the largest record, and a warning while they still fit. What does not fit was told with
/// its history.
fn room(site: &Site<'_>, tombstones: &Listing, longest: Option<(ReplayBudget, u64)>, sink: &mut dyn Sink) {
    let path = site.name(&tombstones.path);
    let entries = tombstones.objects.len() as u64;
    if entries == 0 || !Difference::ReplayBudget.in_effect(site.release) {
        return;
    }
    let used = |budget: Budget| budget.refused_at.unwrap_or(budget.used);
    let mut readings = vec![(&TOMBSTONE_ENTRIES, entries)];
    readings.extend(longest.iter().flat_map(|(longest, largest)| {
        [(&CLEANUP_REPLAY_WORK, used(longest.work)), (&CLEANUP_REPLAY_BYTES, used(longest.bytes)), (&LARGEST_CLEANUP_RECORD, *largest)]
    }));
    for (measure, used) in &readings {
        sink.gauge(measure.gauge(Arc::clone(&path), *used));
    }
    if let Some((measure, used)) = readings.into_iter().find(|(measure, used)| measure.is_near(*used) && *used <= measure.limit) {
        let message = format!("{used} of {} {} are used.", measure.limit, measure.counts);
        sink.push(Finding::new(&quota::codes::GC_RECEIPT_QUOTA_NEAR, site.place(&tombstones.path), message));
    }
}

/// What stands at the path of a target, and whether its cleanup is finished.
fn standing(
    owners: &Owners<'_>,
    tombstones: &Listing,
    operation: &str,
    target: &Target,
    cleanups: &BTreeMap<(String, String), Cleanups<'_>>,
    sink: &mut dyn Sink,
) {
    let Owners { site, digest, .. } = *owners;
    let tombstone = tombstones.path.join(format!("{operation}.json"));
    let spelled = site.recorded(&tombstone);
    let history = History { scope: digest, tombstone_path: spelled.as_os_str().as_encoded_bytes(), target, release: site.release };
    let of = cleanups.get(&(operation.to_owned(), target.operation()));
    let completes = |of: &Cleanups<'_>, record: &CleanupRecord<'_>| {
        record.state == CleanupState::Completed && history.is_completed(&record.value) && owners.are_done(&history, of, &record.value)
    };
    let completed = of.is_some_and(|of| of.records.iter().any(|record| completes(of, record)));
    let transcript: PathBuf = site.here(Path::new(&*target.path.as_js().to_string_lossy()));
    let related = |finding: Finding| finding.related("tombstone", site.place(&tombstone));
    if !completed {
        let message = format!("The deletion of session `{}` is not finished.", target.session_id);
        sink.push(Finding::new(&codes::CLEANUP_PENDING, site.place(&tombstone), message).related("transcript", site.place(&transcript)));
        artifacts_of_target(site, &transcript, &tombstone, of, sink);
    }
    if !site.fs.present(&transcript).unwrap_or(false) {
        return;
    }
    let present = |code, message: &str, sink: &mut dyn Sink| sink.push(related(Finding::new(code, site.place(&transcript), message)));
    let changed = "The path of an unfinished deletion holds another file than the retired one.";
    let candidate = Candidate::read(site.fs, &transcript, Provenance::V2);
    let identity = candidate.as_ref().ok().filter(|candidate| {
        target.ino == crate::agent::record::BigInt::Value(candidate.meta.ino.into()) && target.size == candidate.meta.size as f64
    });
    let identity = identity.and_then(|candidate| candidate.identity(site.fs).ok());
    let same = identity.as_ref().is_some_and(|identity| target.is_file(identity) && identity.session_id == target.session_id);
    match (&candidate, same) {
        (Ok(candidate), true) if *candidate.cwd == target.cwd && target.canonical_path == target.path => {
            let message = if completed {
                "The transcript equals a retired session whose deletion is finished: it stays hidden."
            } else {
                "The transcript equals a retired session: the listing hides it, and the next open of the scope deletes it."
            };
            present(&codes::RETIRED_SESSION_PRESENT, message, sink);
        }
        (Ok(_), true) if !completed => {
            let message = "The transcript equals a retired session in everything but the spelling of its cwd or recorded path: it is listed, and the next open of the scope deletes it.";
            present(&codes::RETIRED_SESSION_LISTED, message, sink);
        }
        (_, false) if !completed => present(&codes::RETIRED_SESSION_CHANGED, changed, sink),
        // After a finished deletion a new file at the path is a new session.
        _ => {}
    }
}

/// The artifact directory of an unfinished target against what its history expects.
fn artifacts_of_target(site: &Site<'_>, transcript: &Path, tombstone: &Path, of: Option<&Cleanups<'_>>, sink: &mut dyn Sink) {
    let root = artifacts_of(transcript);
    let why = match artifacts::survey(site.fs, &root) {
        Ok(None) => return,
        Err(fault) => fault.to_string(),
        Ok(Some(survey)) => {
            let expected = of.into_iter().flat_map(|of| &of.records).filter(|record| record.state == CleanupState::Pending);
            let expected =
                expected.filter_map(|record| record.value.member("expectedArtifactsIdentity")).rfind(|identity| identity.truthy());
            let (Some(expected), Some(meta)) = (expected, survey.items.first().map(|item| item.meta)) else { return };
            let same = spells(expected, "dev", meta.dev) && spells(expected, "ino", meta.ino) && spells(expected, "mtimeNs", meta.mtime_ns);
            if same {
                return;
            }
            "it is not the recorded directory".to_owned()
        }
    };
    let message = format!("The deletion of its session cannot end: {why}.");
    sink.push(Finding::new(&codes::TOMBSTONE_ARTIFACTS_MISMATCH, site.place(&root), message).related("tombstone", site.place(tombstone)));
}

/// Names that a finished deletion left behind and names: what the residue area calls harmless.
pub fn completed_residue(tombstones: Option<&Listing>) -> std::collections::BTreeSet<String> {
    let completed = tombstones.into_iter().flat_map(|listing| &listing.objects);
    completed
        .filter_map(|object| match tombstone::parse_name(object.bytes()) {
            Name::Cleanup { target, state: CleanupState::Completed, .. } => Some(target.to_owned()),
            _ => None,
        })
        .collect()
}

/// Recorded identities of tombstone targets: path, device, inode and content hash.
pub fn recorded_identities(site: &Site<'_>, scope: &Scope) -> Vec<Value> {
    let mut found = Vec::new();
    for object in scope.tombstones.iter().flat_map(|listing| listing.objects.iter().map(move |object| (listing, object))) {
        let (listing, object) = object;
        if !matches!(tombstone::parse_name(object.bytes()), Name::Tombstone { .. }) || object.meta.kind != Kind::File {
            continue;
        }
        let Ok(Some(value)) = crate::agent::candidates::read_record(site.fs, &listing.path_of(object)) else { continue };
        found.extend(value.member("targets").into_iter().flat_map(View::items).filter_map(|target| target.member("identity")).cloned());
    }
    found
}
