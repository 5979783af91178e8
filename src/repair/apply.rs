//! Carrying a plan out: spec 02 §6.4 step by step, with the differences that `repair` lists.
//!
//! Whatever fails before the committed receipt is durable is taken back, object by object; after it nothing is. Every step
//! begins with the two consents: the lock is still ours, the source is still the file that was planned.

use super::lock::{self, Held};
use super::plan::{
    Decided, Deciding, Leftover, Plan, Refusal, ScopePlan, SessionPlan, Wanted, Wish, faster, hex, is_migrated, mode_changes,
    mode_mismatch, ready, text, transcript_names, tree_hash, unread_in,
};
use super::proof::{self, Proof};
use super::store::{NotPublished, Store, close_after};
use super::{Ground, Refused, failed, receipts};
use crate::agent::artifacts::{self, Survey};
use crate::agent::candidates::{self, Candidate, Provenance, artifacts_of};
use crate::agent::identity::Identity;
use crate::agent::layout;
use crate::agent::migration_receipt::{ManifestEntry, Name, Receipt, State, parse_name};
use crate::agent::predict;
use crate::agent::record::TranscriptIdentity;
use crate::agent::security::Need;
use crate::agent::world::{Scope, World};
use crate::agent::{binding, identity};
use crate::fsys::{Acl, Errno, NO_ATTRIBUTE, Watched};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many manifest entries are copied between two consents (spec 02 §6.6).
const BATCH: usize = 256;

/// What a repair did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Applied {
    /// One for each session of the plan, in its order.
    pub sessions: Vec<Session>,
    /// Staged receipts of no session, and what became of them.
    pub leftovers: Vec<Over>,
}

/// What became of one session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Header id.
    pub session_id: String,
    /// The legacy transcript.
    pub source: String,
    /// The copy.
    pub destination: String,
    /// What was proven; none when it was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Why it was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// It was copied since the plan was written down; nothing was left to do, nothing was written.
    pub copied_meanwhile: bool,
    /// What could not be cleaned up, and is harmless where it lies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cleanup_pending: Vec<String>,
}

/// What became of the staged receipts of no session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Over {
    /// The receipts.
    pub receipts: Vec<String>,
    /// Why they were left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// They were moved aside since the plan was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub moved_already: bool,
}

impl Applied {
    /// Sessions that were copied.
    pub fn copied(&self) -> usize {
        self.sessions.iter().filter(|session| session.proof.is_some()).count()
    }
    /// What was left alone, and why.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.sessions.iter().filter_map(|one| one.refused.as_ref()).chain(self.leftovers.iter().filter_map(|one| one.refused.as_ref()))
    }
}

/// Where a plan comes from: it says what to think of a session that is copied before its turn comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// From a file: it may have been carried out before.
    Earlier,
    /// A moment ago, by whoever carries it out: another process is at work here.
    Now,
}

/// Carries a plan out. Each session is decided again under its lock, and refused with `source_changed` when the answer is not
/// the planned one. `proven` is told of each session as soon as it is committed. Of several repairs at once one copies a
/// session; to the others it is `migration_busy`.
pub fn apply(ground: &Ground<'_>, plan: &Plan, made: Made, secure_modes: bool, proven: &mut dyn FnMut(&Proof)) -> Applied {
    let mut applied = Applied::default();
    for scope in &plan.scopes {
        let outcome = if scope.writes() { Writer::new(ground, scope, made, secure_modes) } else { Err(None) };
        match outcome {
            Ok(writer) => writer.run(scope, &mut applied, proven),
            Err(refused) => leave(scope, refused, &mut applied),
        }
    }
    applied
}

/// A scope in which nothing is written: everything keeps its own reason, or gets this one.
fn leave(scope: &ScopePlan, refused: Option<Refused>, applied: &mut Applied) {
    let refused = refused.map(Refusal::from);
    let why = |own: &Option<Refusal>| own.clone().or_else(|| refused.clone()).or_else(|| scope.refused.clone());
    applied.sessions.extend(scope.sessions.iter().map(|session| left_alone(session, why(&session.refused))));
    let leftovers = scope.leftovers.iter();
    applied.leftovers.extend(leftovers.map(|one| Over {
        receipts: one.set_aside.clone(),
        refused: why(&one.refused),
        moved_already: false,
    }));
}

fn left_alone(session: &SessionPlan, refused: Option<Refusal>) -> Session {
    Session {
        session_id: session.session_id.clone(),
        source: session.source.clone(),
        destination: session.destination.clone(),
        proof: None,
        refused,
        copied_meanwhile: false,
        cleanup_pending: Vec::new(),
    }
}

/// Why a session was left alone, and what of this attempt could not be taken back.
type Stopped = Box<(Refused, Vec<String>)>;

/// How one session ended that was not refused.
enum Ended {
    /// Copied by us; with what could not be cleaned up.
    Copied(Box<Proof>, Vec<String>),
    /// Copied since the plan was written down.
    Meanwhile,
}

/// How a source stands to its plan, as far as it can be read without a lock.
enum Standing {
    /// A committed receipt matches it and its copy.
    Copied,
    /// It is the planned file.
    AsPlanned(Box<(Candidate, TranscriptIdentity)>),
}

/// A session that is being copied.
struct Migration<'p> {
    plan: &'p SessionPlan,
    /// The legacy transcript, as it was found under the lock.
    source: Candidate,
    before: TranscriptIdentity,
    destination: PathBuf,
}

impl Migration<'_> {
    fn changed(&self, why: String) -> Refused {
        Refused::new("source_changed", why).at(&self.source.path)
    }
}

/// One scope that is prepared for writing.
struct Writer<'g> {
    ground: &'g Ground<'g>,
    scope: Scope,
    store: Store<'g>,
    made: Made,
    /// The scope as it was when it was prepared.
    listing: candidates::Listing,
    /// Names of transcripts that were in it before.
    known: BTreeSet<OsString>,
}

impl<'g> Writer<'g> {
    /// Secures, makes and binds what is missing (spec 02 §4.4), then lists the scope afresh (§6.4 step 1).
    fn new(ground: &'g Ground<'g>, plan: &ScopePlan, made: Made, secure_modes: bool) -> Result<Self, Option<Refused>> {
        let world = ground.now();
        let workspace = Identity { platform: identity::Platform::Posix, canonical_path: plan.workspace.clone() };
        let found = ready(&world, &workspace)?;
        if text(&found.scope.directory) != plan.directory {
            return Err(Some(Refused::new("source_changed", "the plan is of another agent directory").at(found.scope.directory)));
        }
        if found.mode_changes.iter().any(|change| !plan.mode_changes.contains(change)) {
            return Err(Some(Refused::new("source_changed", "modes changed since the plan").at(&plan.directory)));
        }
        if let Some(first) = found.mode_changes.first() {
            if !secure_modes {
                return Err(Some(mode_mismatch(first)));
            }
            secure(ground, &world, &found.scope)?;
        }
        let store = Store::new(ground.fs, &found.scope.directory, world.uid, ground.outside.pid());
        // What is prepared stays, as gjc's does.
        let prepared = prepare(&store, &found.scope);
        store.keep();
        prepared?;
        let scope = predict::reconcile(&world, Path::new(&workspace.canonical_path))?;
        let known = transcript_names(ground.fs, &scope.directory)?;
        let listing = predict::list(&world, &scope).map_err(|error| Refused::new("binding_invalid", error.to_string()))?;
        if let Some(refused) = unread_in(ground.fs, &scope.directory, &listing.invalid) {
            return Err(Some(refused));
        }
        Ok(Writer { ground, scope, store, made, listing, known })
    }

    fn run(&self, plan: &ScopePlan, applied: &mut Applied, proven: &mut dyn FnMut(&Proof)) {
        let world = self.ground.now();
        let mut deciding = Deciding::writing(&world, &self.scope, &self.listing, self.known.clone());
        for session in &plan.sessions {
            if !session.is_done() {
                applied.sessions.push(left_alone(session, session.refused.clone()));
                continue;
            }
            match self.session(session, &mut deciding) {
                Ok(Ended::Copied(proof, cleanup_pending)) => {
                    proven(&proof);
                    deciding.claim(session);
                    applied.sessions.push(Session { proof: Some(*proof), cleanup_pending, ..left_alone(session, None) });
                }
                Ok(Ended::Meanwhile) => {
                    deciding.claim(session);
                    applied.sessions.push(Session { copied_meanwhile: true, ..left_alone(session, None) });
                }
                Err(stopped) => {
                    let (refused, cleanup_pending) = *stopped;
                    applied.sessions.push(Session { cleanup_pending, ..left_alone(session, Some(refused.into())) });
                }
            }
        }
        for leftover in &plan.leftovers {
            let is_absent = |path: &String| self.ground.fs.present(Path::new(path)).is_ok_and(|present| !present);
            let moved_already = leftover.refused.is_none() && leftover.set_aside.iter().all(is_absent);
            let refused = match &leftover.refused {
                Some(refused) => Some(refused.clone()),
                None if moved_already => None,
                None => self.leftover(leftover, &mut deciding).err().map(Refusal::from),
            };
            applied.leftovers.push(Over { receipts: leftover.set_aside.clone(), refused, moved_already });
        }
    }

    /// One session under its lock; what needs no lock to be known is answered before, so that a plan that is carried out again
    /// writes nothing. What could not be cleaned up is told beside the outcome.
    fn session(&self, plan: &SessionPlan, deciding: &mut Deciding<'_>) -> Result<Ended, Stopped> {
        if let Standing::Copied = self.standing(plan).map_err(|refused| Box::new((refused, Vec::new())))? {
            return match self.made {
                Made::Earlier => Ok(Ended::Meanwhile),
                Made::Now => Err(Box::new((faster(Path::new(&plan.destination)), Vec::new()))),
            };
        }
        let mut held = self.lock(&plan.operation, deciding)?;
        let outcome = self.locked(plan, deciding, &mut held);
        let left = if outcome.is_err() { self.store.roll_back().iter().map(text).collect() } else { Vec::new() };
        let released = held.release();
        match (outcome, released) {
            // The copy is committed; the lock ends with its lease.
            (Ok(Ended::Copied(proof, mut pending)), Err(refused)) => {
                pending.extend(refused.path.as_deref().map(text));
                Ok(Ended::Copied(proof, pending))
            }
            (Ok(ended), _) => Ok(ended),
            (Err(refused), _) => Err(Box::new((refused, left))),
        }
    }

    /// The lock of an operation. A lock that was named and could not be made durable is taken back.
    fn lock(&self, operation: &str, deciding: &mut Deciding<'_>) -> Result<Held<'_>, Stopped> {
        let world = self.ground.now();
        match lock::acquire(&self.store, &self.scope, operation, world.uid, world.host, self.ground.outside) {
            Ok(held) => {
                self.store.keep();
                deciding.hold(held.path());
                Ok(held)
            }
            Err(refused) => Err(Box::new((refused, self.store.roll_back().iter().map(text).collect()))),
        }
    }

    /// How the source stands to its plan.
    fn standing(&self, plan: &SessionPlan) -> Result<Standing, Refused> {
        let fs = self.ground.fs;
        let source_path = Path::new(&plan.source);
        let changed = |why: String| Refused::new("source_changed", why).at(source_path);
        let source = Candidate::read(fs, source_path, Provenance::Legacy).map_err(|why| changed(format!("the transcript {why}")))?;
        let before = source.identity(fs).map_err(|why| changed(format!("the transcript {why}")))?;
        // A tombstone has the operation name of the legacy file (spec 02 §9.1).
        let tombstone = self.scope.protocol(layout::TOMBSTONES).join(format!("{}.json", plan.operation));
        if fs.present(&tombstone).map_err(|e| failed(&e))? {
            return Err(Refused::new("migration_retired", "the session was deleted since the plan").at(tombstone));
        }
        if is_migrated(fs, &self.scope, &source, &before.operation(), Path::new(&plan.destination)) {
            return Ok(Standing::Copied);
        }
        if before.operation() != plan.operation {
            return Err(changed(plan.transcript_drift(&before)));
        }
        Ok(Standing::AsPlanned(Box::new((source, before))))
    }

    /// The steps of spec 02 §6.4, under the lock of the operation.
    fn locked(&self, plan: &SessionPlan, deciding: &mut Deciding<'_>, held: &mut Held<'_>) -> Result<Ended, Refused> {
        let migration = match self.standing(plan)? {
            // It was not when the lock was asked for.
            Standing::Copied => return Err(faster(Path::new(&plan.destination))),
            Standing::AsPlanned(found) => {
                Migration { plan, source: found.0, before: found.1, destination: PathBuf::from(&plan.destination) }
            }
        };
        let decided = self.decide_again(&migration, deciding, held)?;
        // 8.
        let prepared = receipts::prepared(decided.prepared, held.attempt_id(), &migration.destination);
        if !decided.is_prepared {
            held.consent()?;
            let path = self.receipt_path(plan, State::Prepared);
            self.receipt(&path, &prepared).map_err(|why| why.refused(&path))?;
        }
        // 11. to 14.
        let survey = decided.survey.as_ref();
        let manifest = self.artifacts(&migration, survey, held)?;
        if !decided.plan.copied_already {
            self.consent(held, &migration.source)?;
            // 12.
            let Migration { source, before, destination, .. } = &migration;
            self.copy(&source.path, destination, before.size, &before.sha256, held).map_err(|why| why.refused(destination))?;
        }
        let copy = self.inspect(&migration, &manifest)?;
        // 16.
        self.consent(held, &migration.source)?;
        self.source_is_unchanged(&migration, survey)?;
        // 17., 18.
        let after = copy.identity(self.ground.fs);
        let after = after.map_err(|why| Refused::new("durability_failed", why.to_string()).at(&migration.destination))?;
        let published = receipts::finished(&prepared, State::Published, after.clone(), &manifest);
        let path = self.receipt_path(plan, State::Published);
        match self.receipt(&path, &published) {
            Ok(()) | Err(NotPublished::Taken) => {}
            Err(other) => return Err(other.refused(&path)),
        }
        held.consent()?;
        let committed = receipts::finished(&prepared, State::Committed, after.clone(), &manifest);
        self.commit(&migration, &committed, &copy)?;
        // From here on the migration stands, whatever becomes of its scaffolding.
        self.store.keep();
        // 19.
        let pending = self.clear_staged(plan);
        Ok(Ended::Copied(Box::new(self.proof(&migration, &after, &manifest, &committed)), pending))
    }

    /// Steps 1 to 9 once more, now that nobody else migrates this session: what is found must be what was planned. Artifacts that
    /// an interrupted migration moved away are put back, and its receipts that cannot match moved aside.
    fn decide_again(&self, migration: &Migration<'_>, deciding: &mut Deciding<'_>, held: &mut Held<'_>) -> Result<Decided, Refused> {
        let (fs, plan) = (self.ground.fs, migration.plan);
        deciding.look_again()?;
        let decided = deciding.decide_one(&migration.source)?;
        if !is_planned(plan, &decided.plan) {
            return Err(migration.changed(plan.drift(&decided.plan)));
        }
        if let Some(put_back) = &plan.put_back {
            held.consent()?;
            let (from, to) = (Path::new(&put_back.from), Path::new(&put_back.to));
            fs.rename_new(from, to).map_err(|e| failed(&e))?;
            self.store.sync_parent(to)?;
        }
        for staged in plan.set_aside.iter().map(Path::new) {
            held.consent()?;
            let meta = fs.lstat(staged).map_err(|e| failed(&e))?;
            self.store.set_aside(staged, &meta)?;
        }
        if plan.put_back.is_none() {
            return Ok(decided);
        }
        // The root has another change time now; nothing else may differ.
        let decided = deciding.decide_one(&migration.source)?;
        if decided.plan.artifacts != plan.artifacts || decided.plan.put_back.is_some() {
            return Err(migration.changed("the artifacts changed while they were put back".to_owned()));
        }
        Ok(decided)
    }

    /// Step 16: transcript and artifacts of the source are still what was planned.
    fn source_is_unchanged(&self, migration: &Migration<'_>, survey: Option<&Survey>) -> Result<(), Refused> {
        let Migration { plan, source, before, .. } = migration;
        let fs = self.ground.fs;
        let after = Candidate::read(fs, &source.path, Provenance::Legacy).and_then(|after| after.identity(fs));
        if after.map_err(|why| migration.changed(format!("the transcript {why}")))? != *before {
            return Err(migration.changed("the transcript changed while it was copied".to_owned()));
        }
        let tree_now = match survey {
            Some(survey) => {
                let survey = artifacts::survey(fs, &survey.root).map_err(|fault| Refused::new(fault.code(), fault.to_string()))?;
                let tree = survey.map(|survey| artifacts::snapshot(fs, &survey)).transpose();
                tree.map_err(|why| migration.changed(format!("an artifact {why}")))?.map(|tree| tree_hash(&tree))
            }
            None if fs.present(&source.artifacts()).map_err(|e| failed(&e))? => Some(String::new()),
            None => None,
        };
        if tree_now.as_ref() != plan.artifacts.as_ref().map(|artifacts| &artifacts.tree) {
            return Err(migration.changed("the artifacts changed while they were copied".to_owned()));
        }
        Ok(())
    }

    /// Step 18: publishes the committed receipt, which must match what stands.
    fn commit(&self, migration: &Migration<'_>, committed: &Receipt, copy: &Candidate) -> Result<(), Refused> {
        let path = self.receipt_path(migration.plan, State::Committed);
        let broken = |why: String| Refused::new("durability_failed", why).at(&path);
        self.receipt(&path, committed).map_err(|why| match why {
            NotPublished::Taken => broken("a receipt of this operation appeared meanwhile".to_owned()),
            NotPublished::Failed(refused) => refused,
        })?;
        candidates::matches(self.ground.fs, &self.scope.digest(), &path, &migration.source, copy)
            .map_err(|clause| broken(format!("the receipt does not match: {}", clause.text())))
    }

    /// Step 19: the staged receipts have done their work; those that cannot be moved aside.
    fn clear_staged(&self, plan: &SessionPlan) -> Vec<String> {
        let staged = [State::Prepared, State::ArtifactDetached, State::Published].map(|state| self.receipt_path(plan, state));
        let stays = |path: &PathBuf| match self.ground.fs.lstat(path) {
            Err(error) => error.errno != Errno::NOENT,
            Ok(meta) => self.store.set_aside(path, &meta).is_err(),
        };
        staged.iter().filter(|path| stays(path)).map(text).collect()
    }

    fn proof(&self, migration: &Migration<'_>, after: &TranscriptIdentity, manifest: &[ManifestEntry], committed: &Receipt) -> Proof {
        let Migration { plan, before, .. } = migration;
        Proof {
            schema: proof::SCHEMA.to_owned(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            session_id: plan.session_id.clone(),
            workspace: self.scope.identity.canonical_path.clone(),
            scope: self.scope.digest(),
            operation: plan.operation.clone(),
            // Step 16 found that it is the same before and after.
            source: proof::Source { before: before.into(), after: before.into() },
            destination: after.into(),
            bytes_equal: after.sha256 == before.sha256 && after.size == before.size,
            artifacts: manifest.iter().map(Into::into).collect(),
            receipt: proof::Receipt {
                path: text(self.receipt_path(plan, State::Committed)),
                sha256: hex(&Sha256::digest(committed.encode())),
            },
            left_out: Vec::new(),
        }
    }

    /// Lock and source are as they were.
    fn consent(&self, held: &mut Held<'_>, source: &Candidate) -> Result<(), Refused> {
        held.consent()?;
        match self.ground.fs.lstat(&source.path) {
            Ok(now) if now.same_state(&source.meta) => Ok(()),
            Ok(now) => {
                let why = format!("the transcript changed ({})", source.meta.drift(&now).join(", "));
                Err(Refused::new("source_changed", why).at(&source.path))
            }
            Err(error) => Err(Refused::new("source_changed", error.to_string()).at(&source.path)),
        }
    }

    fn receipt_path(&self, plan: &SessionPlan, state: State) -> PathBuf {
        self.scope.protocol(layout::RECEIPTS).join(state.file_name(&plan.operation))
    }
    fn receipt(&self, path: &Path, receipt: &Receipt) -> Result<(), NotPublished> {
        self.store.publish_bytes(path, &receipt.encode()).map(|_| ())
    }

    /// Steps 11 and 13: every directory and file of the manifest, in its order; the manifest. What is there already was found equal.
    fn artifacts(&self, migration: &Migration<'_>, survey: Option<&Survey>, held: &mut Held<'_>) -> Result<Vec<ManifestEntry>, Refused> {
        let Some(survey) = survey else { return Ok(Vec::new()) };
        let (source, root) = (&migration.source, artifacts_of(&migration.destination));
        let manifest = artifacts::manifest(self.ground.fs, survey);
        let mut manifest = manifest.map_err(|why| migration.changed(format!("an artifact {why}")))?;
        receipts::sort(&mut manifest);
        let fs = self.ground.fs;
        let below = |root: &Path, entry: &ManifestEntry| match &*entry.path().to_string() {
            "" => root.to_owned(),
            relative => root.join(relative),
        };
        let mut directories = Vec::new();
        // The collation may put a file before the directory that it lies in (`a-b` before `a/b`): directories come first.
        for entry in manifest.iter().filter(|entry| matches!(entry, ManifestEntry::Directory { .. })) {
            directories.push(below(&root, entry));
        }
        directories.sort();
        for (at, directory) in directories.iter().enumerate() {
            if at % BATCH == 0 {
                self.consent(held, source)?;
            }
            self.store.directory(directory)?;
        }
        for (at, entry) in manifest.iter().enumerate() {
            if at % BATCH == 0 {
                self.consent(held, source)?;
            }
            let ManifestEntry::File { size, sha256, .. } = entry else { continue };
            let (from, to) = (below(&survey.root, entry), below(&root, entry));
            match self.copy(&from, &to, *size, sha256, held) {
                Ok(()) | Err(NotPublished::Taken) => {}
                Err(NotPublished::Failed(refused)) => return Err(refused),
            }
            let copy = artifacts::hash(fs, &to).map_err(|why| Refused::new("durability_failed", format!("the copy {why}")).at(&to))?;
            if copy != *sha256 {
                return Err(Refused::new("durability_failed", "another artifact has this name").at(&to));
            }
            if fs.lstat(&to).map_err(|e| failed(&e))?.nlink != 1 {
                return Err(Refused::new("durability_failed", "the copy has a second name").at(&to));
            }
        }
        // The files are durable since they were staged; now the names, the innermost first.
        for directory in directories.iter().rev() {
            fs.sync_dir(directory).map_err(|e| failed(&e))?;
        }
        self.store.sync_parent(&root)?;
        Ok(manifest)
    }

    /// Copies one file, streaming; it gets its name only when all bytes are those that were planned.
    fn copy(&self, from: &Path, to: &Path, size: u64, sha256: &str, held: &mut Held<'_>) -> Result<(), NotPublished> {
        let changed = |why: String| Refused::new("source_changed", format!("the file {why}")).at(from);
        let staged = self.store.stage(|file| {
            let mut watched = Watched::open(self.ground.fs, from).map_err(|why| changed(why.to_string()))?;
            if watched.meta().nlink != 1 || watched.meta().size != size {
                return Err(changed("is not what was planned: another size, or a second name".to_owned()));
            }
            let mut hash = Sha256::new();
            let mut block = vec![0; 1 << 20];
            loop {
                let read = match watched.read(&mut block) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    read => read.map_err(|e| failed(&watched.read_error(&e)))?,
                };
                let bytes = block.get(..read).unwrap_or_default();
                if bytes.is_empty() {
                    break;
                }
                hash.update(bytes);
                file.write_all(bytes).map_err(|e| failed(&e))?;
                held.consent()?;
            }
            watched.finish().map_err(|why| changed(why.to_string()))?;
            if hex(&hash.finalize()) == sha256 { Ok(()) } else { Err(changed("has other bytes than were planned".to_owned())) }
        });
        let staged = staged.map_err(NotPublished::Failed)?;
        let published = self.store.publish(&staged, to);
        close_after(Ok(()), staged.file).map_err(NotPublished::Failed).and(published.map(|_| ()))
    }

    /// Step 14: the copy is the session, and its artifact tree is the manifest.
    fn inspect(&self, migration: &Migration<'_>, manifest: &[ManifestEntry]) -> Result<Candidate, Refused> {
        let Migration { source, before, destination, .. } = migration;
        let fs = self.ground.fs;
        let wrong = |why: String| Refused::new("durability_failed", why).at(destination);
        let copy = Candidate::read(fs, destination, Provenance::V2).map_err(|why| wrong(format!("the copy {why}")))?;
        let identity = copy.identity(fs).map_err(|why| wrong(format!("the copy {why}")))?;
        if copy.session_id != source.session_id || copy.cwd != source.cwd || identity.sha256 != before.sha256 {
            return Err(wrong("the copy is not the session that was copied".to_owned()));
        }
        let root = artifacts_of(destination);
        let survey = artifacts::survey(fs, &root).map_err(|fault| wrong(fault.to_string()))?;
        let mut there = match survey {
            Some(survey) => artifacts::manifest(fs, &survey).map_err(|why| wrong(format!("a copied artifact {why}")))?,
            None => Vec::new(),
        };
        receipts::sort(&mut there);
        if there == manifest { Ok(copy) } else { Err(wrong("the copied artifacts are not those of the manifest".to_owned())) }
    }

    /// Whether these are staged receipts of their operation, where this scope keeps such: whoever wrote the plan file, nothing else
    /// is moved, and no other lock is taken.
    fn is_staged(&self, leftover: &Leftover) -> bool {
        let role = self.scope.protocol(layout::RECEIPTS);
        leftover.set_aside.iter().map(Path::new).all(|path| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            path == role.join(path.file_name().unwrap_or_default())
                && matches!(parse_name(name), Name::Migration { operation, state } if operation == leftover.operation && state != State::Committed)
        }) && !leftover.set_aside.is_empty()
    }

    /// Moves what an interrupted migration left, and nobody can use any more, into `.gjc-recovery`.
    fn leftover(&self, leftover: &Leftover, deciding: &mut Deciding<'_>) -> Result<(), Refused> {
        if !self.is_staged(leftover) {
            let why = "the plan names something else than staged receipts of one operation of this scope";
            return Err(Refused::new("source_changed", why));
        }
        let mut held = self.lock(&leftover.operation, deciding).map_err(|stopped| stopped.0)?;
        let moved = deciding.is_over(&leftover.operation, true).and_then(|()| {
            leftover.set_aside.iter().map(Path::new).try_for_each(|path| {
                held.consent()?;
                let meta = self.ground.fs.lstat(path).map_err(|e| failed(&e))?;
                self.store.set_aside(path, &meta).map(|_| ())
            })
        });
        let released = held.release();
        moved.and(released)
    }
}

/// Whether what is found now is what was planned. An equal copy that appeared meanwhile does no harm; which file it is the
/// operation says.
fn is_planned(plan: &SessionPlan, now: &SessionPlan) -> bool {
    *plan == SessionPlan { copied_already: plan.copied_already, file: plan.file.clone(), ..now.clone() }
}

/// Makes the planned directories owner-only: mode, then access control lists, outermost first (spec 02 §4.1).
fn secure(ground: &Ground<'_>, world: &World<'_>, scope: &Scope) -> Result<(), Refused> {
    for change in mode_changes(world, scope)? {
        let path = Path::new(&change.path);
        ground.fs.set_mode(path, Need::Directory.mode()).map_err(|e| failed(&e))?;
        for acl in [Acl::Access, Acl::Default].into_iter().filter(|_| change.acl) {
            match ground.fs.clear_acl(path, acl) {
                Ok(()) => {}
                Err(error) if error.errno == NO_ATTRIBUTE || error.errno == Errno::OPNOTSUPP => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        ground.fs.sync_dir(path).map_err(|e| failed(&e))?;
    }
    match mode_changes(world, scope)?.first() {
        None => Ok(()),
        Some(left) => Err(Refused::new("mode_mismatch", "the directory did not become owner-only").at(&left.path)),
    }
}

/// Makes the directories and the binding that are missing.
fn prepare(store: &Store<'_>, scope: &Scope) -> Result<(), Refused> {
    for directory in super::plan::directories(scope) {
        store.directory(&directory)?;
    }
    let path = scope.directory.join(layout::BINDING);
    if store.fs().present(&path).map_err(|e| failed(&e))? {
        return store.sync_parent(&path);
    }
    match store.publish_bytes(&path, &binding::canonical_text(&scope.identity)) {
        // Somebody else bound it; whether rightly, resolving tells.
        Ok(_) | Err(NotPublished::Taken) => Ok(()),
        Err(NotPublished::Failed(refused)) => Err(refused),
    }
}

/// Plans and applies at once.
pub fn repair(ground: &Ground<'_>, wanted: &Wanted, wish: Wish, proven: &mut dyn FnMut(&Proof)) -> (Plan, Applied) {
    let plan = super::plan::plan(&ground.now(), wanted, wish);
    let applied = apply(ground, &plan, Made::Now, wish.secure_modes, proven);
    (plan, applied)
}
