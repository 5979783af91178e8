//! The copy-retain migration, decided step by step without writing (spec 02 §6.4 to §6.7; 02a.1 to 02a.4, 02a.8, 02a.19).

use super::open::{Opened, consent};
use super::prepare::{recovery_directory, replacement_receipts};
use super::resume::lock_blocks;
use super::{Refused, list};
use crate::agent::artifacts::{self, Survey};
use crate::agent::candidates::{self, Candidate, artifacts_of, placeholder_holds, read_record};
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
    let identity = source.identity(world.fs).map_err(|refusal| changed(&refusal, &source.path))?;
    let operation = identity.operation();
    // 1. lock, consent, fresh listing
    let lock = scope.protocol(layout::LOCKS).join(format!("{operation}.lock"));
    if let Some(why) = lock_blocks(world, &lock) {
        return Err(Refused::new("migration_busy", why).at(lock));
    }
    consent(world, source)?;
    let listing = list(world, scope).map_err(|error| Refused::new("binding_invalid", error.to_string()))?;
    let name = source.path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
    let destination = scope.directory.join(OsStr::from_bytes(name));
    let copies = artifacts_of(&destination);
    let migration = Migration { world, scope, source, identity, operation, destination, copies };
    // 2., 3.
    let v2 = listing.owned.iter().map(|listed| &*listed.candidate).filter(|candidate| candidate.provenance == Provenance::V2);
    let existing = migration.existing(v2)?;
    // 4.
    let recovered = recover(world, scope, source, &migration.operation)?;
    // 6.
    let planned = migration.planned_artifacts(recovered)?;
    let survey = planned.as_ref().map(|(survey, _)| survey);
    // 7.
    migration.destination_is_right(existing)?;
    // 8.
    migration.prepared_is_right(recovered, planned.as_ref())?;
    if let Some(survey) = survey {
        // 9., 10.
        migration.can_detach(recovered)?;
        // 11. copy of the artifacts, which must be all that is there then
        copy_artifacts(world, survey, &migration.copies)?;
        equal_artifacts(world, Some(survey), &migration.copies)?;
    }
    // 12.
    if existing.is_none() {
        migration.can_publish()?;
    }
    // 14. manifest equal to the destination tree
    equal_artifacts(world, survey, &migration.copies)?;
    // 17., 18.
    migration.committed_is_right(existing)?;
    // 19.
    migration.can_clear(survey.is_some())?;
    Ok(Opened { path: migration.destination, migrated: true })
}

/// A migration, one function a step; each refuses where gjc does.
struct Migration<'a> {
    world: &'a World<'a>,
    scope: &'a Scope,
    source: &'a Candidate,
    identity: TranscriptIdentity,
    operation: String,
    destination: PathBuf,
    /// The artifact directory of the destination.
    copies: PathBuf,
}

impl Migration<'_> {
    fn receipt(&self, state: State) -> PathBuf {
        self.scope.protocol(layout::RECEIPTS).join(state.file_name(&self.operation))
    }

    /// Steps 2 and 3: the v2 file that has this session id already, which only the destination may be.
    fn existing<'c>(&self, v2: impl Iterator<Item = &'c Candidate>) -> Result<Option<&'c Candidate>, Refused> {
        let mut existing = None;
        for candidate in v2.filter(|candidate| candidate.session_id == self.source.session_id) {
            if candidate.path != self.destination {
                return Err(conflict("another v2 file has this session id", &candidate.path));
            }
            existing = Some(candidate);
        }
        Ok(existing)
    }

    /// Step 6: the artifacts, planned where they are after recovery.
    fn planned_artifacts(&self, recovered: Recovered) -> Result<Option<(Survey, Tree)>, Refused> {
        let (fs, own_place) = (self.world.fs, self.source.artifacts());
        let lies_at = match recovered {
            Recovered::MovedBack => detached_path(&own_place, &self.operation),
            Recovered::InPlace | Recovered::Undone => own_place.clone(),
        };
        let survey = artifacts::survey(fs, &lies_at).map_err(|fault| Refused::new(fault.code(), fault.to_string()).at(&own_place))?;
        let Some(survey) = survey else { return Ok(None) };
        let tree = artifacts::snapshot(fs, &survey);
        let tree = tree.map_err(|refusal| Refused::new("source_changed", refusal.to_string()).at(&own_place))?;
        Ok(Some((survey, tree)))
    }

    /// Step 7: what stands at the destination.
    fn destination_is_right(&self, existing: Option<&Candidate>) -> Result<(), Refused> {
        let fs = self.world.fs;
        match existing {
            Some(candidate) => {
                let there = candidate.identity(fs).map_err(|refusal| changed(&refusal, &candidate.path))?;
                if there.sha256 == self.identity.sha256 {
                    Ok(())
                } else {
                    Err(conflict("the destination holds other bytes", &self.destination))
                }
            }
            // The test follows links, so a dangling symlink passes here (02a.3).
            None if fs.stat(&self.destination).is_ok() => Err(conflict("something else stands at the destination", &self.destination)),
            None => Ok(()),
        }
    }

    /// Step 8: a prepared receipt that is there already is the one of this migration.
    fn prepared_is_right(&self, recovered: Recovered, planned: Option<&(Survey, Tree)>) -> Result<(), Refused> {
        let Migration { world, scope, source, identity, destination, .. } = self;
        let prepared = self.receipt(State::Prepared);
        if !world.fs.present(&prepared).unwrap_or(true) {
            return Ok(());
        }
        if recovered == Recovered::MovedBack {
            return Err(durability("the prepared receipt records the artifact root with its ctime before it was moved", &prepared));
        }
        let plan = prepared_receipt(scope, source, identity, destination, planned.map(|(survey, tree)| (survey, tree)), world);
        match read_record(world.fs, &prepared).ok().flatten().is_some_and(|found| plan.prepared_matches(&found)) {
            true => Ok(()),
            false => Err(durability("the prepared receipt does not match", &prepared)),
        }
    }

    /// Steps 9 and 10, only when there are artifacts now (02a.19): the names that the detaching takes are free.
    fn can_detach(&self, recovered: Recovered) -> Result<(), Refused> {
        let fs = self.world.fs;
        let leftover = detached_path(&self.source.artifacts(), &self.operation);
        if recovered != Recovered::MovedBack {
            if fs.stat(&leftover).is_ok() {
                return Err(conflict("a detached artifact root is left over", &leftover));
            }
            // A dangling link is only met by the detaching itself.
            if fs.present(&leftover).unwrap_or(true) {
                return Err(durability("the name that the artifacts are detached to is taken", &leftover));
            }
        }
        // The receipt of the detaching names this attempt, so one that is there already is another.
        let detached = self.receipt(State::ArtifactDetached);
        if recovered != Recovered::Undone && fs.present(&detached).unwrap_or(true) {
            return Err(durability("the receipt of an earlier detaching takes the name", &detached));
        }
        Ok(())
    }

    /// Step 12: the transcript gets its name.
    fn can_publish(&self) -> Result<(), Refused> {
        if self.identity.size > PUBLISH_LIMIT {
            let why = "content_too_large: the transcript is larger than 128 MiB";
            return Err(Refused::new("managed_storage_unsupported", why).at(&self.source.path));
        }
        match self.world.fs.present(&self.destination).unwrap_or(true) {
            true => Err(durability("the destination name is taken by a dangling symlink", &self.destination)),
            false => Ok(()),
        }
    }

    /// Steps 17 and 18: a committed receipt that is there already holds.
    fn committed_is_right(&self, existing: Option<&Candidate>) -> Result<(), Refused> {
        let (fs, committed) = (self.world.fs, self.receipt(State::Committed));
        let holds = |copy: &Candidate| candidates::matches(fs, &self.scope.digest(), &committed, self.source, copy).is_ok();
        if fs.present(&committed).unwrap_or(true) && !existing.is_some_and(holds) {
            return Err(durability("an older committed receipt keeps this operation name and does not match", &committed));
        }
        Ok(())
    }

    /// Step 19: the staged receipts are removed through the scope's store: receipts first, then `.gjc-recovery`.
    fn can_clear(&self, has_artifacts: bool) -> Result<(), Refused> {
        let after = |why: &str| Refused::new("managed_storage_unsupported", format!("{why} (the migration is committed)"));
        replacement_receipts(self.world, &self.scope.directory).map_err(|fault| after(&fault.detail).at(fault.path))?;
        let recovery = self.scope.directory.join(layout::RECOVERY);
        recovery_directory(self.world, &recovery).map_err(|token| after(&token).at(&recovery))?;
        let foreign = [State::ArtifactDetached, State::Published].into_iter().filter(|state| !has_artifacts || *state == State::Published);
        for path in foreign.map(|state| self.receipt(state)) {
            if let Err(refusal) = capture(self.world.fs, &path, Bound::Prefix(0))
                && !refusal.is_absent()
            {
                let why = format!("a staged receipt {refusal} (the migration is committed)");
                return Err(Refused::new(captured_code(&refusal), why).at(path));
            }
        }
        Ok(())
    }
}

/// The code that what a capture refuses surfaces as.
fn captured_code(refusal: &Refusal) -> &'static str {
    match refusal.token() {
        "source_changed" => "source_changed",
        _ => "managed_storage_unsupported",
    }
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
    let text = candidates::path_text;
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
