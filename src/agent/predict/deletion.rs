//! Going on with the deletion of one target of a tombstone, in mind: what gjc finds, and where it stops (spec 02 §9.4 to §9.7,
//! 02a.9, 02a.10, 02a.16; spec 03 §15). Nothing is deleted here, ever.
//!
//! gjc works on the latest pending record: it looks at every name that the record plans or calls detached, then at the
//! transcript, publishes the next plan where what it found is news, and only then deletes. Each look refuses in its own way,
//! and the order of the looks is the order of the functions here.

use super::Refused;
use super::prepare::resuming_record;
use super::resume::{Cleanup, PendingTarget};
use crate::agent::artifacts;
use crate::agent::candidates::{self, PREFLIGHT_BYTES, read_header};
use crate::agent::layout;
use crate::agent::record::{BigInt, TranscriptIdentity, bigint, json_text};
use crate::agent::tombstone::{CleanupState, History, LiveRoot, Pending, QUARANTINE, RETAINED, RETAINED_KEYS, ReplayError, cleanup_name};
use crate::agent::world::{Scope, World};
use crate::fsys::{Bound, Errno, Kind, Meta, capture};
use crate::json::view::View;
use crate::json::{JsString, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Who goes on with the deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    /// The asynchronous prepare.
    Resume,
    /// Deleting a session that was asked for.
    Direct,
}

/// What becomes of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Done {
    /// Nothing is deleted: it is gone, or done, or cannot be gone on with.
    Nothing,
    /// The transcript is deleted.
    Deleted,
}

/// What gjc throws. Which code it surfaces as is for the caller to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Thrown {
    /// The message, when it is one of gjc's tokens; else any other exception.
    token: Option<&'static str>,
    detail: String,
    path: PathBuf,
}

impl Thrown {
    fn token(token: &'static str, detail: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Thrown { token: Some(token), detail: detail.into(), path: path.into() }
    }
    fn durability(detail: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self::token("durability_failed", detail, path)
    }
    fn changed(detail: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self::token("source_changed", detail, path)
    }
    fn other(detail: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Thrown { token: None, detail: detail.into(), path: path.into() }
    }
    /// As the prepare of a scope answers: of the tokens that can come here only few keep their names (02a.9, 02a.10).
    pub(super) fn while_preparing(self) -> Refused {
        match self.token {
            Some(code @ ("durability_failed" | "managed_gc_journal_capacity_exceeded")) => Refused::new(code, self.detail),
            Some(token) => Refused::new("binding_invalid", format!("{token}: {}", self.detail)),
            None => Refused::new("binding_invalid", self.detail),
        }
        .at(self.path)
    }
    /// As a deletion that was asked for answers.
    pub(super) fn while_deleting(self) -> Refused {
        Refused::new(self.token.unwrap_or("managed_storage_unsupported"), self.detail).at(self.path)
    }
}

/// What is known of an artifact directory that is to be deleted.
#[derive(Clone, PartialEq, Debug)]
struct Expected {
    dev: BigInt,
    ino: BigInt,
    size: f64,
    mtime_ns: BigInt,
    sha256: JsString,
}

impl Expected {
    fn is_object(&self, meta: &Meta) -> bool {
        meta.kind == Kind::Directory && self.dev == BigInt::Value(meta.dev.into()) && self.ino == BigInt::Value(meta.ino.into())
    }
}

/// The tree of that directory.
#[derive(Clone, PartialEq, Debug)]
enum Tree {
    /// As a record has it.
    Recorded(Value),
    /// Taken now: whatever it is compared with, it is equal.
    Now,
}

/// A cleanup plan: a pending record, or what gjc would publish as the next one.
#[derive(Clone, PartialEq, Debug)]
struct Plan {
    attempt: u64,
    planned_artifacts: JsString,
    planned_transcript: JsString,
    detached_artifacts: Option<JsString>,
    detached_transcript: Option<JsString>,
    artifacts_durable: bool,
    transcript_durable: bool,
    removed_attempt: Option<u64>,
    expected: Option<Expected>,
    tree: Option<Tree>,
    /// In the order of [`RETAINED_KEYS`].
    retained: [Option<JsString>; 6],
}

impl Plan {
    fn of(pending: &Pending) -> Self {
        let record = &pending.record;
        let is_true = |key: &str| record.member(key).and_then(View::as_bool) == Some(true);
        let expected = record.member("expectedArtifactsIdentity").filter(|identity| identity.truthy()).map(|identity| Expected {
            dev: bigint(&identity.str_member("dev").unwrap_or_default()),
            ino: bigint(&identity.str_member("ino").unwrap_or_default()),
            size: identity.member("size").and_then(View::as_f64).unwrap_or(f64::NAN),
            mtime_ns: bigint(&identity.str_member("mtimeNs").unwrap_or_default()),
            sha256: identity.str_member("sha256").map(|text| JsString::from_wtf8(text.into_owned())).unwrap_or_default(),
        });
        Plan {
            attempt: pending.attempt,
            planned_artifacts: pending.planned_artifacts.clone(),
            planned_transcript: pending.planned_transcript.clone(),
            detached_artifacts: pending.path("detachedArtifactsPath"),
            detached_transcript: pending.path("detachedTranscriptPath"),
            artifacts_durable: is_true("artifactsPayloadDurable"),
            transcript_durable: is_true("transcriptPayloadDurable"),
            removed_attempt: record.member("artifactsRemovedAttempt").and_then(View::as_f64).map(|attempt| attempt as u64),
            expected,
            tree: record.member("expectedArtifactsTree").cloned().map(Tree::Recorded),
            retained: RETAINED_KEYS.map(|key| pending.path(key)),
        }
    }
    /// What stands in these places means that something came back: successor and unknown of the artifacts.
    fn artifact_blockers(&self) -> impl Iterator<Item = &JsString> {
        [&self.retained[0], &self.retained[2]].into_iter().flatten()
    }
    fn artifact_placeholder(&self) -> Option<&JsString> {
        self.retained[1].as_ref()
    }
    /// The same of the transcript.
    fn transcript_blockers(&self) -> impl Iterator<Item = &JsString> {
        [&self.retained[3], &self.retained[5]].into_iter().flatten()
    }
    fn transcript_placeholder(&self) -> Option<&JsString> {
        self.retained[4].as_ref()
    }
    /// A name that is detached cannot be detached to once more.
    fn is_used_up(&self) -> bool {
        self.detached_artifacts.as_ref() == Some(&self.planned_artifacts)
            || self.detached_transcript.as_ref() == Some(&self.planned_transcript)
    }
}

/// The path that a record names, on disk.
fn on_disk(path: &JsString) -> PathBuf {
    PathBuf::from(&*path.as_js().to_string_lossy())
}

fn removing(path: &JsString) -> JsString {
    JsString::from_wtf8([path.as_bytes(), b".removing"].concat())
}

/// Names that a finished deletion leaves free.
struct Names {
    /// Nothing may stand there.
    roots: BTreeSet<JsString>,
    /// Names under which the transcript of the plan may still lie.
    own: Vec<JsString>,
}

/// The deletion of one target.
pub(super) struct Deletion<'a> {
    world: &'a World<'a>,
    scope: &'a Scope,
    pending: &'a PendingTarget,
    digest: String,
    flow: Flow,
}

impl<'a> Deletion<'a> {
    pub(super) fn new(world: &'a World<'a>, scope: &'a Scope, pending: &'a PendingTarget, flow: Flow) -> Self {
        Deletion { world, scope, pending, digest: scope.digest(), flow }
    }

    /// Goes on with it.
    ///
    /// # Errors
    /// What gjc throws.
    pub(super) fn go_on(&self) -> Result<Done, Thrown> {
        let latest = self.latest()?;
        let observed = latest.clone().map(|plan| self.probe(plan)).transpose()?;
        let transcript = self.transcript();
        match self.world.fs.lstat(&transcript) {
            Err(error) if error.errno == Errno::NOENT => {
                if self.is_over(latest.as_ref(), observed.as_ref())? {
                    return Ok(Done::Nothing);
                }
            }
            Err(error) => return Err(Thrown::other(error.to_string(), transcript)),
            Ok(_) => {}
        }
        if self.flow == Flow::Direct && self.pending.is_completed(self.world, self.scope) {
            return Ok(Done::Nothing);
        }
        if observed.is_none() {
            self.revalidate()?;
        }
        let is_news = observed.as_ref().zip(latest.as_ref()).is_none_or(|(observed, latest)| {
            observed.detached_artifacts != latest.detached_artifacts || observed.detached_transcript != latest.detached_transcript
        });
        let active = match &observed {
            Some(observed) if !is_news && !observed.is_used_up() => observed.clone(),
            _ => {
                let next = self.next(observed.as_ref())?;
                self.publish(&next)?;
                next
            }
        };
        if self.flow == Flow::Direct || observed.as_ref().is_none_or(|observed| observed.detached_transcript.is_none()) {
            self.revalidate()?;
        }
        self.delete(&active, observed.as_ref(), latest.as_ref())
    }

    fn transcript(&self) -> PathBuf {
        on_disk(&self.pending.target.path)
    }
    /// The artifact directory beside the transcript.
    fn beside(&self) -> PathBuf {
        candidates::artifacts_of(&self.transcript())
    }
    fn history(&self) -> History<'_> {
        self.pending.history(&self.digest, self.world.release)
    }
    fn record_path(&self, state: CleanupState, attempt: u64) -> PathBuf {
        self.scope.protocol(layout::TOMBSTONES).join(cleanup_name(&self.pending.stem(), &self.pending.operation, state, attempt))
    }

    /// The pending records; none of them when one cannot be read.
    fn records(&self) -> &[Pending] {
        match &self.pending.cleanup {
            Cleanup::Pending(records) => records,
            Cleanup::Completed | Cleanup::Unread | Cleanup::Broken(_) => &[],
        }
    }
    fn latest(&self) -> Result<Option<Plan>, Thrown> {
        match &self.pending.cleanup {
            Cleanup::Broken(ReplayError::Durability) => {
                Err(Thrown::durability("its cleanup history breaks a rule of 02 §9.4", &self.pending.tombstone))
            }
            Cleanup::Broken(ReplayError::OwnerScope) => {
                Err(Thrown::durability("task_artifact_owner_legacy_scope_unsupported", &self.pending.tombstone))
            }
            Cleanup::Broken(ReplayError::Capacity) => {
                Err(Thrown::token("managed_gc_journal_capacity_exceeded", "the replay budget is used up", &self.pending.tombstone))
            }
            _ => Ok(self.records().last().map(Plan::of)),
        }
    }

    // The look at the planned and detached names.

    /// What of the plan is found detached.
    fn probe(&self, mut plan: Plan) -> Result<Plan, Thrown> {
        self.recorded_artifacts_hold(&plan)?;
        self.detached_artifacts(&mut plan)?;
        self.detached_transcript(&mut plan)?;
        Ok(plan)
    }

    /// Artifacts that the record calls detached are gone, or still the recorded ones.
    fn recorded_artifacts_hold(&self, plan: &Plan) -> Result<(), Thrown> {
        let Some(detached) = &plan.detached_artifacts else { return Ok(()) };
        let path = on_disk(detached);
        if plan.expected.is_none() || plan.tree.is_none() {
            return Err(Thrown::durability("its cleanup record calls artifacts detached and does not say which", path));
        }
        match self.world.fs.lstat(&path) {
            Err(error) if error.errno == Errno::NOENT => Ok(()),
            Err(error) => Err(Thrown::durability(error.to_string(), path)),
            Ok(_) if self.is_recorded_root(&path, plan)? => Ok(()),
            Ok(_) => Err(Thrown::token("binding_invalid", "the detached artifacts are not the recorded ones", path)),
        }
    }

    /// Artifacts that lie under a planned name are the recorded ones, and lie there only.
    fn detached_artifacts(&self, plan: &mut Plan) -> Result<(), Thrown> {
        let exists = |path: &JsString| self.world.fs.stat(&on_disk(path)).is_ok();
        let again = plan.detached_artifacts.as_ref().map(removing);
        let places: Vec<JsString> = [plan.planned_artifacts.clone(), removing(&plan.planned_artifacts)].into_iter().chain(again).collect();
        for place in places.into_iter().filter(exists) {
            let path = on_disk(&place);
            if plan.expected.is_none() || plan.tree.is_none() {
                return Err(Thrown::durability("artifacts lie under a planned name, and its cleanup record does not say which", path));
            }
            if !self.is_recorded_root(&path, plan)? {
                return Err(Thrown::durability("a planned name holds something else than the artifacts", path));
            }
            if plan.detached_artifacts.as_ref().is_some_and(|known| *known != place && exists(known)) {
                return Err(Thrown::durability("the artifacts seem to be detached twice", path));
            }
            plan.detached_artifacts = Some(place);
        }
        Ok(())
    }

    /// The transcript lies under at most one name; where its payload is gone, whatever is left of it is empty.
    fn detached_transcript(&self, plan: &mut Plan) -> Result<(), Thrown> {
        for blocker in plan.transcript_blockers() {
            if self.stands(blocker)? {
                return Err(Thrown::durability("something stands where the native code retained a file", on_disk(blocker)));
            }
        }
        let mut places: Vec<JsString> = vec![self.pending.target.path.clone(), plan.planned_transcript.clone()];
        places.extend(plan.detached_transcript.clone());
        places.extend(plan.transcript_placeholder().cloned());
        let not_empty =
            |path: &JsString| Err(Thrown::durability("a name of the deletion holds something else than the transcript", on_disk(path)));
        if plan.transcript_durable {
            plan.detached_transcript = None;
            return places.iter().find(|path| !self.is_scrubbed(path)).map_or(Ok(()), not_empty);
        }
        let mut present = Vec::new();
        for place in places {
            if !present.contains(&place) && self.stands(&place)? {
                present.push(place);
            }
        }
        let mut whole = Vec::new();
        for place in &present {
            if self.is_transcript(place)? {
                whole.push(place.clone());
            }
        }
        match whole.as_slice() {
            [] if present.is_empty() => {}
            [] => {
                if let Some(path) = present.iter().find(|path| !self.is_scrubbed(path)) {
                    return not_empty(path);
                }
                plan.detached_transcript = None;
                plan.transcript_durable = true;
            }
            [one] => plan.detached_transcript = Some(one.clone()).filter(|one| *one != self.pending.target.path),
            [first, ..] => return Err(Thrown::durability("the transcript lies under two names", on_disk(first))),
        }
        Ok(())
    }

    /// The directory is the expected one and its tree compatible with the recorded one, or free of payload when that is
    /// recorded. An unsafe tree throws.
    fn is_recorded_root(&self, path: &Path, plan: &Plan) -> Result<bool, Thrown> {
        let survey = self.survey(path)?.ok_or_else(|| Thrown::other("the detached artifacts are gone", path))?;
        let root = survey.items.first().map(|item| item.meta);
        let same = plan.expected.as_ref().zip(root).is_some_and(|(expected, root)| expected.is_object(&root));
        if !same || plan.artifacts_durable {
            return Ok(same && survey.bytes == 0);
        }
        match &plan.tree {
            Some(Tree::Recorded(recorded)) => {
                let tree = artifacts::snapshot(self.world.fs, &survey).map_err(|refusal| Thrown::other(refusal.to_string(), path))?;
                Ok(artifacts::is_compatible(&tree, recorded))
            }
            Some(Tree::Now) => Ok(true),
            None => Ok(false),
        }
    }

    fn survey(&self, path: &Path) -> Result<Option<artifacts::Survey>, Thrown> {
        artifacts::survey(self.world.fs, path).map_err(|fault| match fault {
            artifacts::Fault::Unsupported(why) => Thrown::other(why, path),
            fault => Thrown::token(fault.code(), fault.to_string(), path),
        })
    }

    /// Something stands there, of whatever kind.
    fn stands(&self, path: &JsString) -> Result<bool, Thrown> {
        self.lies(path).map_err(|error| Thrown::durability(error.to_string(), on_disk(path)))
    }
    /// The same; ENOENT alone is absence here.
    fn lies(&self, path: &JsString) -> crate::fsys::Result<bool> {
        match self.world.fs.lstat(&on_disk(path)) {
            Ok(_) => Ok(true),
            Err(error) if error.errno == Errno::NOENT => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Nothing, or an empty file with one link.
    fn is_scrubbed(&self, path: &JsString) -> bool {
        match self.world.fs.lstat(&on_disk(path)) {
            Ok(meta) => meta.kind == Kind::File && meta.size == 0 && meta.nlink == 1,
            Err(error) => error.errno == Errno::NOENT,
        }
    }

    /// The file is the target: inode, size, time and content. What cannot be captured throws.
    fn is_transcript(&self, path: &JsString) -> Result<bool, Thrown> {
        let path = on_disk(path);
        let meta = match capture(self.world.fs, &path, Bound::Prefix(0)) {
            Ok(captured) => captured.meta,
            Err(refusal) if refusal.is_absent() => return Ok(false),
            Err(refusal) => return Err(Thrown::durability(format!("it {refusal}"), path)),
        };
        self.has_content(&path, &meta).map_err(|why| Thrown::durability(why, path))
    }

    /// The content is hashed only when everything else agrees.
    fn has_content(&self, path: &Path, meta: &Meta) -> Result<bool, String> {
        let target = &self.pending.target;
        let mut identity = TranscriptIdentity::of(target.path.clone(), target.session_id.clone(), meta, target.sha256.to_string());
        if !target.is_file(&identity) {
            return Ok(false);
        }
        let (hash, _) = crate::fsys::hash_file(self.world.fs, path).map_err(|error| error.to_string())?;
        identity.sha256 = data_encoding::HEXLOWER.encode(&hash);
        Ok(target.is_file(&identity))
    }

    // The transcript is gone.

    /// Whether there is nothing left to do for a transcript that is gone.
    fn is_over(&self, latest: Option<&Plan>, observed: Option<&Plan>) -> Result<bool, Thrown> {
        let plan = match (observed, self.flow) {
            (Some(observed), _) => observed.clone(),
            (None, Flow::Resume) => self.next(None)?,
            (None, Flow::Direct) => return Ok(true),
        };
        let attempt = latest.and_then(|plan| plan.removed_attempt).unwrap_or(plan.attempt);
        if let Some(retained) = self.artifacts_removed(attempt)?
            && self.roots_are_absent(&plan, retained.as_ref())?
        {
            return Ok(true);
        }
        // A deletion that was asked for goes on without the transcript, and fails for that.
        Ok(self.flow == Flow::Resume && observed.is_none_or(|observed| observed.detached_transcript.is_none()))
    }

    /// Whether an `artifacts_removed` record of this attempt counts; the retained root that it names.
    fn artifacts_removed(&self, attempt: u64) -> Result<Option<Option<JsString>>, Thrown> {
        let path = self.record_path(CleanupState::ArtifactsRemoved, attempt);
        let Ok(Some(record)) = resuming_record(self.world, &path) else { return Ok(None) };
        let live = |root: &JsString, identity: &Value| artifacts::retained_root(self.world.fs, &on_disk(root), identity);
        let live: &dyn Fn(&JsString, &Value) -> LiveRoot = &live;
        match self.history().artifacts_removed(&record, attempt, live) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let root = record.member("retainedArtifactsRoot").and_then(|root| root.str_member("path"));
                Ok(Some(root.map(|path| JsString::from_wtf8(path.into_owned()))))
            }
            Err(_) => Err(Thrown::durability("its artifacts_removed record breaks a rule of 02 §9.5", path)),
        }
    }

    /// Completion needs every root of every attempt absent, save for empty placeholders and the skeleton that is allowed
    /// (spec 02 §9.6). True: they are; false: not yet; thrown: something stands where nothing may.
    fn roots_are_absent(&self, plan: &Plan, skeleton: Option<&JsString>) -> Result<bool, Thrown> {
        if self.pending.cleanup == Cleanup::Unread {
            return Err(Thrown::other("a record of its cleanup history cannot be read", &self.pending.tombstone));
        }
        let Some(mut names) = self.names(plan) else { return Ok(false) };
        // What cannot be told is another exception here than in the probe.
        let is_present = |path: &JsString| self.lies(path).map_err(|error| Thrown::other(error.to_string(), on_disk(path)));
        for blocker in plan.artifact_blockers().chain(plan.transcript_blockers().filter(|_| plan.transcript_durable)) {
            if is_present(blocker)? {
                return Ok(false);
            }
        }
        let mut placeholders: Vec<&JsString> = plan.artifact_placeholder().into_iter().collect();
        if plan.transcript_durable {
            placeholders.extend([&self.pending.target.path, &plan.planned_transcript]);
            placeholders.extend(plan.detached_transcript.iter().chain(plan.transcript_placeholder()));
        }
        for placeholder in placeholders {
            if !self.is_scrubbed(placeholder) {
                return Ok(false);
            }
            names.roots.remove(placeholder);
            names.own.retain(|path| path != placeholder);
        }
        if let Some(skeleton) = skeleton {
            let empty = self.survey(&on_disk(skeleton))?.is_none_or(|survey| survey.bytes == 0);
            if plan.detached_artifacts.as_ref() != Some(skeleton) || !empty {
                return Ok(false);
            }
            self.recorded_artifacts_hold(plan)?;
            names.roots.remove(skeleton);
        }
        for root in &names.roots {
            if is_present(root)? {
                return Err(Thrown::durability("something stands where a finished deletion leaves nothing", on_disk(root)));
            }
        }
        for path in &names.own {
            if is_present(path)? {
                let whole = self.is_transcript(path)?;
                return if whole { Ok(false) } else { Err(Thrown::durability("a planned name holds something else", on_disk(path))) };
            }
        }
        Ok(true)
    }

    /// The names of this plan and of the attempts before it; none where an earlier one is still to be done.
    fn names(&self, plan: &Plan) -> Option<Names> {
        let history = self.history();
        let target = &self.pending.target.path;
        let quarantined = |path: &&JsString| history.is_beside(path, QUARANTINE);
        let retained = |path: &&JsString| history.is_beside(path, RETAINED);
        let own: Vec<JsString> =
            std::iter::once(&plan.planned_transcript).chain(&plan.detached_transcript).filter(quarantined).cloned().collect();
        let artifacts = target.as_bytes().get(..target.as_bytes().len().saturating_sub(6)).unwrap_or_default();
        let mut roots = BTreeSet::from([target.clone(), JsString::from_wtf8(artifacts.to_vec())]);
        roots.extend([plan.planned_artifacts.clone(), removing(&plan.planned_artifacts)]);
        roots.extend(plan.detached_artifacts.clone());
        roots.extend(plan.retained.iter().flatten().filter(retained).cloned());
        for earlier in self.records().iter().map(Plan::of) {
            roots.extend([earlier.planned_artifacts.clone(), removing(&earlier.planned_artifacts)]);
            roots.extend(earlier.detached_artifacts.clone());
            for path in std::iter::once(&earlier.planned_transcript).chain(&earlier.detached_transcript) {
                if own.contains(path) {
                    continue;
                }
                if !earlier.transcript_durable && !plan.transcript_durable {
                    roots.insert(path.clone());
                } else if self.is_scrubbed(path) {
                    roots.remove(path);
                } else {
                    return None;
                }
            }
            roots.extend(earlier.artifact_blockers().chain(earlier.transcript_blockers()).cloned());
            roots.extend(earlier.artifact_placeholder().filter(|path| !self.is_scrubbed(path)).cloned());
            match earlier.transcript_placeholder() {
                Some(path) if !earlier.transcript_durable => _ = roots.insert(path.clone()),
                Some(path) if self.is_scrubbed(path) => _ = roots.remove(path),
                Some(_) => return None,
                None => {}
            }
        }
        Some(Names { roots, own })
    }

    // The next plan.

    /// The file at the path is the target, unchanged, with one link, and belongs to this workspace.
    fn revalidate(&self) -> Result<(), Thrown> {
        let path = self.transcript();
        let captured = capture(self.world.fs, &path, Bound::Prefix(PREFLIGHT_BYTES))
            .map_err(|refusal| Thrown::changed(format!("the transcript {refusal}"), &path))?;
        let (_, cwd) = read_header(&captured.bytes).map_err(|(_, why)| Thrown::changed(why, &path))?;
        let identity = self.world.identity(Path::new(&*cwd.as_js().to_string_lossy()));
        if identity.as_ref() != Ok(&self.scope.identity) {
            return Err(Thrown::changed("its header names another directory", path));
        }
        match self.has_content(&path, &captured.meta) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Thrown::changed("the transcript is another file, or changed", path)),
            Err(why) => Err(Thrown::changed(why, path)),
        }
    }

    /// The plan behind this one, or the first.
    fn next(&self, plan: Option<&Plan>) -> Result<Plan, Thrown> {
        let beside = self.beside();
        let expected = match plan.and_then(|plan| plan.expected.clone()) {
            Some(expected) => Some(expected),
            None => match self.world.fs.lstat(&beside) {
                Err(error) if error.errno == Errno::NOENT => None,
                Err(error) => return Err(Thrown::other(error.to_string(), beside)),
                Ok(meta) if meta.kind != Kind::Directory => {
                    return Err(Thrown::token("unsafe_artifacts", format!("the artifact directory is a {}", meta.kind.noun()), beside));
                }
                Ok(meta) => Some(Expected {
                    dev: BigInt::Value(meta.dev.into()),
                    ino: BigInt::Value(meta.ino.into()),
                    size: meta.size as f64,
                    mtime_ns: BigInt::Value(meta.mtime_ns),
                    sha256: JsString::default(),
                }),
            },
        };
        let tree = match plan.and_then(|plan| plan.tree.clone()) {
            Some(tree) => Some(tree),
            None if expected.is_none() => None,
            None => {
                self.survey(&beside)?.ok_or_else(|| Thrown::other("the expected artifact directory is gone", &beside))?;
                Some(Tree::Now)
            }
        };
        let attempt = plan.map_or(0, |plan| plan.attempt) + 1;
        let directory = self.pending.target.directory();
        let planned = |what: &str| {
            let name = format!(".gjc-delete-{}-{what}-{attempt}", self.pending.operation);
            let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
            JsString::from_wtf8([directory, slash, name.as_bytes()].concat())
        };
        Ok(Plan {
            attempt,
            planned_artifacts: planned("artifacts"),
            planned_transcript: planned("transcript"),
            detached_artifacts: plan.and_then(|plan| plan.detached_artifacts.clone()),
            detached_transcript: plan.and_then(|plan| plan.detached_transcript.clone()),
            artifacts_durable: plan.is_some_and(|plan| plan.artifacts_durable),
            transcript_durable: plan.is_some_and(|plan| plan.transcript_durable),
            removed_attempt: plan.and_then(|plan| plan.removed_attempt),
            expected,
            tree,
            retained: plan.map(|plan| plan.retained.clone()).unwrap_or_default(),
        })
    }

    /// A plan is published without replacing, and then the replay must end with it (02a.16).
    fn publish(&self, plan: &Plan) -> Result<(), Thrown> {
        let path = self.record_path(CleanupState::Pending, plan.attempt);
        let readable = self.pending.cleanup != Cleanup::Unread;
        let detached = (plan.detached_artifacts.as_ref(), plan.detached_transcript.as_ref());
        let passes = || self.history().takes(self.records(), (&plan.planned_artifacts, &plan.planned_transcript), detached);
        match readable && !self.world.fs.present(&path).unwrap_or(true) && passes() {
            true => Ok(()),
            false => Err(Thrown::durability("the next plan cannot be read back behind the records that there are", path)),
        }
    }

    // The deletion itself.

    /// Deletes artifacts, then transcript.
    fn delete(&self, active: &Plan, observed: Option<&Plan>, latest: Option<&Plan>) -> Result<Done, Thrown> {
        let exists = |path: &JsString| self.world.fs.stat(&on_disk(path)).is_ok();
        let resuming = self.flow == Flow::Resume;
        let found = |planned: &JsString| Some(planned.clone()).filter(exists);
        let artifacts = active.detached_artifacts.clone().or_else(|| observed?.detached_artifacts.clone());
        let artifacts = artifacts.or_else(|| found(&active.planned_artifacts).filter(|_| resuming));
        let detached = active.detached_transcript.clone().or_else(|| observed?.detached_transcript.clone());
        let detached = detached.or_else(|| found(&latest?.planned_transcript));
        let detached = detached.or_else(|| found(&active.planned_transcript).filter(|_| resuming));
        let lies_at = observed.and_then(|observed| observed.detached_transcript.as_ref()).filter(|_| resuming);
        let lies_at = on_disk(lies_at.unwrap_or(&self.pending.target.path));
        let links = self.world.fs.lstat(&lies_at).map_err(|error| Thrown::other(error.to_string(), &lies_at))?.nlink;
        let attempt = latest.and_then(|plan| plan.removed_attempt).or(active.removed_attempt);
        let removed = self.artifacts_removed(attempt.unwrap_or(latest.unwrap_or(active).attempt))?.is_some();
        self.names_are_fresh(active, artifacts.as_ref(), detached.as_ref())?;
        if let Some(path) = artifacts.as_ref().filter(|_| !removed) {
            self.expected_root(active, path)?;
            return self.after_artifacts(active, true);
        }
        if links != 1 {
            return Err(Thrown::other(format!("the transcript has {links} links"), lies_at));
        }
        if detached.is_none() {
            self.header_agrees()?;
        }
        let beside = self.beside();
        let directory = match self.world.fs.lstat(&beside) {
            Err(error) if error.errno == Errno::NOENT => None,
            Err(error) => return Err(Thrown::other(error.to_string(), beside)),
            Ok(meta) if meta.kind == Kind::Directory => Some(meta),
            Ok(meta) => return Err(Thrown::other(format!("the artifact directory is a {}", meta.kind.noun()), beside)),
        };
        match directory {
            Some(_) if removed => Err(Thrown::other("artifacts came back after they were removed", beside)),
            None if removed => {
                if let Some(path) = &artifacts {
                    self.expected_root(active, path)?;
                }
                Ok(Done::Deleted)
            }
            None => match active.expected.is_some()
                && [active.planned_artifacts.clone(), removing(&active.planned_artifacts)].iter().any(exists)
            {
                true => Err(Thrown::other("artifacts are left under a planned name", on_disk(&active.planned_artifacts))),
                false => self.after_artifacts(active, false),
            },
            Some(meta) => {
                self.is_as_expected(active, &meta)?;
                self.after_artifacts(active, true)
            }
        }
    }

    /// What is detached is never detached to its own name, and a detached transcript leaves its path free.
    fn names_are_fresh(&self, active: &Plan, artifacts: Option<&JsString>, detached: Option<&JsString>) -> Result<(), Thrown> {
        let transcript = self.transcript();
        if let Some(path) = detached {
            let own = self.history().is_beside(path, QUARANTINE) && *path != active.planned_transcript;
            if !own {
                return Err(Thrown::other("a detached transcript needs a fresh name", on_disk(path)));
            }
            if self.world.fs.stat(&transcript).is_ok() {
                return Err(Thrown::other("the path of a detached transcript is taken again", transcript));
            }
        }
        if artifacts == Some(&active.planned_artifacts) {
            return Err(Thrown::other("detached artifacts need a fresh name", on_disk(&active.planned_artifacts)));
        }
        if !self.pending.target.path.as_bytes().ends_with(layout::TRANSCRIPT_SUFFIX.as_bytes()) {
            return Err(Thrown::other("the target is no transcript by its name", transcript));
        }
        Ok(())
    }

    /// The detached artifact root is the expected one.
    fn expected_root(&self, active: &Plan, path: &JsString) -> Result<(), Thrown> {
        let path = on_disk(path);
        let meta = self.world.fs.lstat(&path).map_err(|error| Thrown::other(error.to_string(), &path))?;
        match active.expected.as_ref().is_some_and(|expected| expected.is_object(&meta)) && active.tree.is_some() {
            true => Ok(()),
            false => Err(Thrown::other("the detached artifacts are not the expected ones", path)),
        }
    }

    /// The artifact directory in its place is the expected one, to the last member.
    fn is_as_expected(&self, active: &Plan, meta: &Meta) -> Result<(), Thrown> {
        let beside = self.beside();
        let changed = |what: &str| Err(Thrown::other(what, &beside));
        if let Some(expected) = &active.expected
            && !(expected.is_object(meta)
                && expected.size == meta.size as f64
                && expected.mtime_ns == BigInt::Value(meta.mtime_ns)
                && expected.sha256.as_bytes().is_empty())
        {
            return changed("the artifact directory is not the recorded one");
        }
        if let Some(Tree::Recorded(recorded)) = &active.tree {
            let live = artifacts::survey(self.world.fs, &beside).ok().flatten();
            let live = live.and_then(|survey| artifacts::snapshot(self.world.fs, &survey).ok());
            if live.is_none_or(|live| json_text(&live.to_value()) != json_text(recorded)) {
                return changed("the artifacts are not the recorded ones");
            }
        }
        if self.world.fs.present(&on_disk(&active.planned_artifacts)).unwrap_or(true) {
            return changed("the artifacts cannot be detached: the planned name is taken");
        }
        Ok(())
    }

    /// The header names this session and its directory. The spelling of the cwd does not matter, the directory does (02a.11).
    fn header_agrees(&self) -> Result<(), Thrown> {
        let (path, target) = (self.transcript(), &self.pending.target);
        let captured = capture(self.world.fs, &path, Bound::Prefix(PREFLIGHT_BYTES))
            .map_err(|refusal| Thrown::other(format!("the transcript {refusal}"), &path))?;
        let (id, cwd) = read_header(&captured.bytes).map_err(|(_, why)| Thrown::other(why, &path))?;
        let resolve = |cwd: &JsString| self.world.identity(Path::new(&*cwd.as_js().to_string_lossy())).ok();
        if id != target.session_id {
            return Err(Thrown::other("its header has another session id", path));
        }
        if cwd != target.cwd && (resolve(&cwd).is_none() || resolve(&cwd) != resolve(&target.cwd)) {
            return Err(Thrown::other("its header has another cwd", path));
        }
        Ok(())
    }

    /// The artifact phase is over: that is recorded, and then the transcript goes. `scrubbed`: there were artifacts, so another
    /// pending record comes first.
    fn after_artifacts(&self, active: &Plan, scrubbed: bool) -> Result<Done, Thrown> {
        if scrubbed {
            let transcript = self.transcript();
            self.world.fs.lstat(&transcript).map_err(|error| Thrown::other(error.to_string(), &transcript))?;
            let next = self.record_path(CleanupState::Pending, active.attempt + 1);
            return match self.world.fs.present(&next).unwrap_or(true) {
                true => Err(Thrown::durability("the next record's name is taken", next)),
                false => Ok(Done::Deleted),
            };
        }
        // Nothing was there to remove: a retained root that is there all the same must be the recorded one, and empty.
        let root = active.detached_artifacts.clone().unwrap_or_else(|| removing(&active.planned_artifacts));
        if self.world.fs.stat(&on_disk(&root)).is_ok() {
            let path = on_disk(&root);
            let meta = self.world.fs.lstat(&path).map_err(|error| Thrown::other(error.to_string(), &path))?;
            let same = active.expected.as_ref().is_some_and(|expected| expected.is_object(&meta));
            if !same || self.survey(&path)?.is_none_or(|survey| survey.bytes > 0) {
                return Err(Thrown::durability("the retained artifact root is not the recorded one", path));
            }
        }
        let record = self.record_path(CleanupState::ArtifactsRemoved, active.attempt);
        if self.world.fs.present(&record).unwrap_or(true) && self.artifacts_removed(active.attempt)?.is_none() {
            return Err(Thrown::durability("an artifacts_removed record that does not count takes the name", record));
        }
        self.revalidate()?;
        Ok(Done::Deleted)
    }
}
