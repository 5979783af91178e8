//! The copy-retain migration, decided step by step without writing (spec 02 §6.4 to §6.7; 02a.1 to 02a.4, 02a.8, 02a.19).

use super::open::{Opened, consent};
use super::prepare::{recovery_directory, replacement_receipts};
use super::resume::lock_blocks;
use super::{Refused, list};
use crate::agent::artifacts::{self, Survey};
use crate::agent::candidates::{Candidate, placeholder_holds, read_record};
use crate::agent::layout;
use crate::agent::migration_receipt::{
    self as receipt, DetachOutcome, DirectoryIdentity, ManifestEntry, NotRecoverable, Party, Quarantine, Receipt, State,
};
use crate::agent::record::{BigInt, RootRule, TranscriptIdentity, Tree, is_tree, same_trees, to_bigint};
use crate::agent::tombstone::Provenance;
use crate::agent::world::{Scope, World};
use crate::fsys::{Bound, Kind, Refusal, capture};
use crate::json::{JsString, Value};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Largest file that a no-replace publication takes.
pub const PUBLISH_LIMIT: u64 = 128 << 20;

fn durability(detail: impl Into<String>, path: &Path) -> Refused {
    Refused::new("durability_failed", detail).at(path)
}
fn conflict(detail: impl Into<String>, path: &Path) -> Refused {
    Refused::new("destination_conflict", detail).at(path)
}
fn changed(refusal: &Refusal, path: &Path) -> Refused {
    Refused::new("source_changed", format!("the transcript {refusal}")).at(path)
}

/// What recovery of an interrupted migration does to the artifact root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Recovered {
    /// Nothing moved.
    InPlace,
    /// The artifacts were put back before, and the receipt of their detaching is removed.
    Undone,
    /// The detached tree is moved back: the ctime of its root changes, so no recorded tree equals it any more (02a.1).
    MovedBack,
}

/// Migrates a legacy candidate, in mind.
pub(super) fn migrate(world: &World<'_>, scope: &Scope, source: &Candidate) -> Result<Opened, Refused> {
    let fs = world.fs;
    let identity = source.identity(fs).map_err(|refusal| changed(&refusal, &source.path))?;
    let operation = identity.operation();
    // 1. lock, consent, fresh listing
    let lock = scope.protocol(layout::LOCKS).join(format!("{operation}.lock"));
    if let Some(why) = lock_blocks(world, &lock) {
        return Err(Refused::new("migration_busy", why).at(lock));
    }
    consent(world, source)?;
    let listing = list(world, scope).map_err(|error| Refused::new("binding_invalid", error.to_string()))?;
    // 2., 3. destination
    let name = source.path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
    let destination = scope.directory.join(OsStr::from_bytes(name));
    let mut existing = None;
    let v2 = listing.owned.iter().map(|listed| &listed.candidate).filter(|candidate| candidate.provenance == Provenance::V2);
    for candidate in v2.filter(|candidate| candidate.session_id == source.session_id) {
        if candidate.path != destination {
            return Err(conflict("another v2 file has this session id", &candidate.path));
        }
        existing = Some(candidate);
    }
    // 4. crash recovery
    let recovered = recover(world, scope, source, &operation)?;
    // 6. artifacts, planned where they are after recovery
    let artifacts_at = source.artifacts();
    let lies_at = match recovered {
        Recovered::MovedBack => detached_path(&artifacts_at, &operation),
        Recovered::InPlace | Recovered::Undone => artifacts_at.clone(),
    };
    let survey = artifacts::survey(fs, &lies_at).map_err(|fault| Refused::new(fault.code(), fault.to_string()).at(&artifacts_at))?;
    let tree = survey
        .as_ref()
        .map(|survey| artifacts::snapshot(fs, survey))
        .transpose()
        .map_err(|refusal| Refused::new("source_changed", refusal.to_string()).at(&artifacts_at))?;
    // 7. what stands at the destination
    match existing {
        Some(candidate) => {
            let there = candidate.identity(fs).map_err(|refusal| changed(&refusal, &candidate.path))?;
            if there.sha256 != identity.sha256 {
                return Err(conflict("the destination holds other bytes", &destination));
            }
        }
        // The test follows links, so a dangling symlink passes here (02a.3).
        None if fs.stat(&destination).is_ok() => return Err(conflict("something else stands at the destination", &destination)),
        None => {}
    }
    // 8. prepared receipt
    let plan = prepared_receipt(scope, source, &identity, &destination, survey.as_ref().zip(tree.as_ref()), world);
    let prepared = scope.protocol(layout::RECEIPTS).join(State::Prepared.file_name(&operation));
    if fs.present(&prepared).unwrap_or(true) {
        let matching = read_record(fs, &prepared).ok().flatten().is_some_and(|found| plan.prepared_matches(&found));
        if recovered == Recovered::MovedBack {
            return Err(durability("the prepared receipt records the artifact root with its ctime before it was moved", &prepared));
        }
        if !matching {
            return Err(durability("the prepared receipt does not match", &prepared));
        }
    }
    let copies = artifacts_of_destination(&destination);
    let staged = |state: State| scope.protocol(layout::RECEIPTS).join(state.file_name(&operation));
    if let Some(survey) = &survey {
        // 9. a leftover, looked at only when there are artifacts now (02a.19); a dangling link is only met by the detaching
        let leftover = detached_path(&artifacts_at, &operation);
        if recovered != Recovered::MovedBack {
            if fs.stat(&leftover).is_ok() {
                return Err(conflict("a detached artifact root is left over", &leftover));
            }
            if fs.present(&leftover).unwrap_or(true) {
                return Err(durability("the name that the artifacts are detached to is taken", &leftover));
            }
        }
        // 10. the receipt of the detaching names this attempt, so one that is there already is another
        let detached = staged(State::ArtifactDetached);
        if recovered != Recovered::Undone && fs.present(&detached).unwrap_or(true) {
            return Err(durability("the receipt of an earlier detaching takes the name", &detached));
        }
        // 11. copy of the artifacts, which must be all that is there then
        copy_artifacts(world, survey, &copies)?;
        equal_artifacts(world, Some(survey), &copies)?;
    }
    // 12. publication of the transcript
    if existing.is_none() {
        if identity.size > PUBLISH_LIMIT {
            return Err(
                Refused::new("managed_storage_unsupported", "content_too_large: the transcript is larger than 128 MiB").at(&source.path)
            );
        }
        if fs.present(&destination).unwrap_or(true) {
            return Err(durability("the destination name is taken by a dangling symlink", &destination));
        }
    }
    // 14. manifest equal to the destination tree
    equal_artifacts(world, survey.as_ref(), &copies)?;
    // 17., 18. committed receipt
    let committed = scope.protocol(layout::RECEIPTS).join(State::Committed.file_name(&operation));
    if fs.present(&committed).unwrap_or(true) {
        let holds =
            existing.is_some_and(|existing| crate::agent::candidates::matches(fs, &scope.digest(), &committed, source, existing).is_ok());
        if !holds {
            return Err(durability("an older committed receipt keeps this operation name and does not match", &committed));
        }
    }
    // 19. removal of the staged receipts goes through the scope's store: receipts first, then `.gjc-recovery`
    replacement_receipts(world, &scope.directory).map_err(|fault| {
        Refused::new("managed_storage_unsupported", format!("{} (the migration is committed)", fault.detail)).at(fault.path)
    })?;
    let recovery = scope.directory.join(layout::RECOVERY);
    recovery_directory(world, &recovery)
        .map_err(|token| Refused::new("managed_storage_unsupported", format!("{token} (the migration is committed)")).at(&recovery))?;
    let foreign = [State::ArtifactDetached, State::Published].into_iter().filter(|state| survey.is_none() || *state == State::Published);
    for path in foreign.map(staged) {
        if let Err(refusal) = capture(fs, &path, Bound::Prefix(0))
            && !refusal.is_absent()
        {
            return Err(Refused::new(captured_code(&refusal), format!("a staged receipt {refusal} (the migration is committed)")).at(path));
        }
    }
    Ok(Opened { path: destination, migrated: true })
}

/// The code that what a capture refuses surfaces as.
fn captured_code(refusal: &Refusal) -> &'static str {
    match refusal.token() {
        "source_changed" => "source_changed",
        _ => "managed_storage_unsupported",
    }
}

fn artifacts_of_destination(destination: &Path) -> PathBuf {
    crate::agent::candidates::artifacts_of(destination)
}

/// `.gjc-migrate-<op>-artifacts` beside the artifact directory.
pub fn detached_path(artifacts: &Path, operation: &str) -> PathBuf {
    artifacts.with_file_name(format!(".gjc-migrate-{operation}-artifacts"))
}

/// The plan that a `prepared` receipt of this migration records; its attempt is still to be named.
pub fn prepared_receipt(
    scope: &Scope,
    source: &Candidate,
    identity: &TranscriptIdentity,
    destination: &Path,
    artifacts: Option<(&Survey, &Tree)>,
    world: &World<'_>,
) -> Receipt {
    let text = crate::agent::candidates::path_text;
    let party = |path: JsString, identity| Party { path, session_id: source.session_id.clone(), cwd: (*source.cwd).clone(), identity };
    let quarantine = artifacts.and_then(|(survey, tree)| {
        let root = survey.items.first()?.meta;
        let parent = world.fs.lstat(source.path.parent()?).ok()?;
        Some(Quarantine {
            path: text(&source.artifacts()),
            detached_path: text(&detached_path(&source.artifacts(), &identity.operation())),
            identity: DirectoryIdentity {
                dev: root.dev,
                ino: root.ino,
                size: root.size,
                mtime_ns: root.mtime_ns,
                parent_dev: parent.dev,
                parent_ino: parent.ino,
            },
            tree: tree.clone(),
        })
    });
    Receipt {
        state: State::Prepared,
        attempt_id: JsString::default(),
        scope: scope.digest(),
        source: party(identity.canonical_path.clone(), Some(identity.clone())),
        destination: party(text(destination), None),
        manifest: Vec::new(),
        quarantine,
        cleanup: None,
        detach_outcome: None,
    }
}

/// Step 4 and spec 02 §6.7: the quarantine of a `.detached` (preferred) or `.prepared` receipt. Existence is asked through
/// links everywhere.
fn recover(world: &World<'_>, scope: &Scope, source: &Candidate, operation: &str) -> Result<Recovered, Refused> {
    let fs = world.fs;
    let exists = |path: &Path| fs.stat(path).is_ok();
    let staged = |state: State| scope.protocol(layout::RECEIPTS).join(state.file_name(operation));
    let detached = exists(&staged(State::ArtifactDetached));
    let path = staged(if detached { State::ArtifactDetached } else { State::Prepared });
    let Some(record) = read_record(fs, &path).ok().flatten() else {
        return if exists(&path) { Err(durability("the staged receipt cannot be read", &path)) } else { Ok(Recovered::InPlace) };
    };
    let artifacts = source.artifacts();
    let directory = source.path.parent().unwrap_or(Path::new("/"));
    let found = receipt::recoverable(&record, detached, artifacts.as_os_str().as_bytes(), directory.as_os_str().as_bytes());
    let found = found.map_err(|why| match why {
        NotRecoverable::Durability => durability(why.to_string(), &path),
        NotRecoverable::Throws => Refused::new("managed_storage_unsupported", why.to_string()).at(&path),
    })?;
    let Some(found) = found else { return Ok(Recovered::InPlace) };
    let Some(Value::String(detached_at)) = found.quarantine.member("detachedPath") else { return Ok(Recovered::InPlace) };
    let detached_at = PathBuf::from(&*detached_at.as_js().to_string_lossy());
    let original = exists(&artifacts);
    match (found.outcome, record.member("sourceArtifactCleanup")) {
        (Some(DetachOutcome::Clean), _) if original => {
            if exists(&detached_at) {
                return Err(durability("original and detached artifact root both exist", &detached_at));
            }
            return match is_recorded(world, &artifacts, found.quarantine) {
                true => Ok(Recovered::Undone),
                false => Err(durability("the original artifact root is not the recorded one", &artifacts)),
            };
        }
        (Some(DetachOutcome::CleanupPending), Some(cleanup)) if !placeholder_holds(fs, directory, cleanup).unwrap_or(false) => {
            return Err(durability("the recorded placeholder does not stand any more", &path));
        }
        _ => {}
    }
    match original {
        // A changed original is left alone; both are kept.
        true => Ok(Recovered::InPlace),
        false if !is_recorded(world, &detached_at, found.quarantine) => {
            Err(durability("the detached artifact root is missing or not the recorded one", &detached_at))
        }
        false if fs.present(&artifacts).unwrap_or(true) => Err(durability("a dangling link takes the artifact root's place", &artifacts)),
        false => Ok(Recovered::MovedBack),
    }
}

/// Whether the directory is the recorded artifact root: its identity, numbers as `BigInt` reads them, and the whole tree, of
/// which the root may have other times.
pub fn is_recorded(world: &World<'_>, path: &Path, quarantine: &Value) -> bool {
    let (Some(identity), Some(recorded)) = (quarantine.member("identity"), quarantine.member("tree")) else { return false };
    let Some(survey) = artifacts::survey(world.fs, path).ok().flatten() else { return false };
    let Some(root) = survey.items.first().map(|item| item.meta) else { return false };
    let is = |key: &str, number: i128| identity.member(key).is_some_and(|recorded| to_bigint(recorded) == BigInt::Value(number));
    let same = is("dev", root.dev.into()) && is("ino", root.ino.into()) && is("size", root.size.into()) && is("mtimeNs", root.mtime_ns);
    same && is_tree(recorded)
        && artifacts::snapshot(world.fs, &survey).is_ok_and(|tree| same_trees(&tree.to_value(), recorded, RootRule::Moved))
}

/// A recorded tree without the change time of its root, which moving the root changes.
pub fn without_root_ctime(tree: &Value) -> Value {
    let mut tree = tree.clone();
    let entries = tree.as_object_mut().and_then(|tree| tree.get_mut("entries"));
    if let Some(Value::Array(entries)) = entries {
        for entry in entries.items_mut() {
            let is_root = entry.member("relativePath").is_some_and(|path| crate::json::View::is_str(path, ""));
            if let Some(entry) = entry.as_object_mut().filter(|_| is_root) {
                entry.remove("ctimeNs");
            }
        }
    }
    tree
}

/// Step 11: in the order of the manifest every directory is made and every file published without replacing; what is there
/// is tolerated when it is the same.
///
/// # Errors
/// Something else stands in the way of a copy.
pub fn copy_artifacts(world: &World<'_>, source: &Survey, destination: &Path) -> Result<(), Refused> {
    let mut manifest =
        artifacts::manifest(world.fs, source).map_err(|refusal| Refused::new("source_changed", refusal.to_string()).at(&source.root))?;
    receipt::sort_manifest(&mut manifest);
    for entry in manifest {
        let copy = match &*entry.path().as_js().to_string_lossy() {
            "" => destination.to_owned(),
            below => destination.join(below),
        };
        match entry {
            ManifestEntry::Directory { .. } => match world.fs.lstat(&copy) {
                Ok(meta) if meta.kind != Kind::Directory => {
                    let why = format!("a {} stands where an artifact directory is made", meta.kind.noun());
                    return Err(Refused::new("managed_storage_unsupported", why).at(copy));
                }
                _ => {}
            },
            ManifestEntry::File { size, sha256, .. } => match capture(world.fs, &copy, Bound::Prefix(0)) {
                Err(refusal) if refusal.is_absent() => {}
                Err(refusal) => return Err(Refused::new(captured_code(&refusal), format!("the copy of an artifact {refusal}")).at(copy)),
                Ok(there) => {
                    if there.meta.size != size || !artifacts::hash(world.fs, &copy).is_ok_and(|hash| hash == sha256) {
                        return Err(durability("the destination holds another artifact of that name", &copy));
                    }
                }
            },
        }
    }
    Ok(())
}

/// The destination tree can be surveyed and holds nothing that the source lacks; without artifacts, nothing stands there.
fn equal_artifacts(world: &World<'_>, source: Option<&Survey>, root: &Path) -> Result<(), Refused> {
    let there = artifacts::survey(world.fs, root).map_err(|fault| durability(format!("{}: {fault}", fault.code()), root))?;
    extra_artifacts(source, there.as_ref(), root)
}

/// Step 14: the destination tree must equal the manifest, so an entry that the source lacks is one too many.
///
/// # Errors
/// The first such entry.
pub fn extra_artifacts(source: Option<&Survey>, copied: Option<&Survey>, root: &Path) -> Result<(), Refused> {
    let names = |survey: Option<&Survey>| -> std::collections::BTreeSet<String> {
        survey.into_iter().flat_map(|survey| &survey.items).map(|item| item.relative.clone()).collect()
    };
    let (source, copied) = (names(source), names(copied));
    match copied.difference(&source).next() {
        Some(extra) => Err(durability("the destination artifact directory holds something that the source lacks", &root.join(extra))),
        None => Ok(()),
    }
}
