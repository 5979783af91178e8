//! The strict inspector of protocol directories (spec 03 §16, 02 §9.8), as a prediction: what gjc would answer before a
//! destructive collection. It accepts, or fails as a whole with the first thing that is wrong.
//!
//! In gjc's order: a discovery of the whole profile; scope by scope the protocol directory, its three roles, and every file of
//! each role by name (UTF-16 code units); what changed meanwhile; the discovery once more, which must find the same.
//!
//! # What the specification leaves open, and the choice made
//!
//! * Whether a name that holds `.jsonl` gets the suffix that names its file: its token names it already, so no.
//! * A replay that throws is told with its own token, one that finds no history (a record that cannot be read) as
//!   `…_tombstone_history_invalid`; likewise a retained root that breaks a rule.
//! * `…_tree_changed` is said of the protocol directory itself, `…_directory_changed` of a role.
//! * Another object under the same name (`…_identity_mismatch` of a root, a scope, its binding, a role) is told before what
//!   changed in it.
//!
//! The inspector is given what its caller saw a moment ago, so tokens that say that the input was stale are not predicted. Of a
//! copy from elsewhere nothing is: its inodes and paths are those of another machine.

use super::budget::MAX_INSPECTED;
use super::discovery::{self, Found};
use super::ground::Ground;
use super::names::Name as ReceiptName;
use super::stored::Desk;
use super::{Key, Refusal, Scope, SessionsRoot};
use crate::agent::candidates::{Candidate, Provenance, RECORD_CEILING, matches, parse};
use crate::agent::layout::{BINDING, INTERNAL, LOCKS, PROTOCOL, RECEIPTS, SessionsName, TOMBSTONES, sessions_name};
use crate::agent::lock;
use crate::agent::migration_receipt::{self, State};
use crate::agent::predict::cleanup_history;
use crate::agent::security::{self, Need, judge_acl, violations};
use crate::agent::tombstone::{self, CleanupState, History, Name, NotATombstone, Pending, ReplayError, Target};
use crate::agent::walk::{self, Limits, Listing, Object, Trouble, show};
use crate::agent::world::World;
use crate::agent::{artifacts, predict};
use crate::fsys::{Bound, Captured, Errno, Kind, Meta, capture};
use crate::json::{self, JsString, Value, View};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What gjc would answer.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase", tag = "answer")]
pub enum Answer {
    /// Nothing is in the way.
    Accepts,
    /// The first thing that is.
    Refuses {
        /// gjc's whole message.
        message: String,
        /// What it is about.
        path: String,
    },
    /// Something could not be looked at, so nobody knows.
    Unknown {
        /// What could not be looked at.
        path: String,
    },
}

impl Answer {
    /// gjc's message, when it refuses.
    pub fn message(&self) -> Option<&str> {
        if let Answer::Refuses { message, .. } = self { Some(message) } else { None }
    }
}

/// One scope by itself.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct OfScope {
    /// Name of the scope directory.
    pub scope: String,
    /// What gjc would answer if it were the only one, and discovery had nothing to object to.
    #[serde(flatten)]
    pub answer: Answer,
}

/// An inspection of all scopes of a profile, or of one.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    /// What gjc would answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// Scopes with a protocol directory, by name.
    pub scopes: Vec<OfScope>,
}

/// Why an inspection ends.
enum Stop {
    Refused { message: String, path: PathBuf },
    Unknown(PathBuf),
}

impl Stop {
    fn at(message: impl Into<String>, path: impl Into<PathBuf>) -> Stop {
        Stop::Refused { message: message.into(), path: path.into() }
    }
    fn answer(result: Result<(), Stop>) -> Answer {
        match result {
            Ok(()) => Answer::Accepts,
            Err(Stop::Refused { message, path }) => Answer::Refuses { message, path: show(path.as_os_str()) },
            Err(Stop::Unknown(path)) => Answer::Unknown { path: show(path.as_os_str()) },
        }
    }
}

/// Inspects the scope `only`, or every v2 scope of the profile that has a protocol directory.
pub fn inspect(world: &World<'_>, only: Option<&Path>) -> Inspection {
    let sessions = world.canonical_root(&world.sessions_root);
    let roots = [world.canonical_root(&world.agent_dir), sessions.clone()].map(|root| Held::of(world, root));
    let first = discovered(world, &sessions);
    let inputs: Vec<PathBuf> = match only {
        Some(scope) => vec![scope.to_owned()],
        None => scopes(world, &sessions),
    };
    let inputs: Vec<PathBuf> =
        inputs.into_iter().filter(|scope| !world.fs.present(&scope.join(INTERNAL)).is_ok_and(|there| !there)).collect();
    // Journals that discovery knows; when it failed, that is told already.
    let journals = first.as_ref().ok().map(|found| found.iter().map(|known| known.key).collect());
    let mut files = 0;
    let mut answers: Vec<(PathBuf, Result<(), Stop>)> = Vec::new();
    for scope in inputs {
        let inspected =
            Inspected { world, directory: &scope, journals: journals.as_ref(), tombstones: BTreeMap::new(), histories: BTreeMap::new() };
        let answer = inspected.judge(&mut files);
        answers.push((scope, answer));
    }
    let listed = answers.iter().map(|(scope, answer)| OfScope { scope: name_of(scope), answer: Stop::answer(copy(answer)) }).collect();
    Inspection { answer: Stop::answer(together(world, &roots, first, answers)), scopes: listed }
}

/// The answer for all of them: the first that refuses.
fn together(
    world: &World<'_>,
    roots: &[Held; 2],
    first: Result<Vec<Known>, Stop>,
    answers: Vec<(PathBuf, Result<(), Stop>)>,
) -> Result<(), Stop> {
    let [_, Held { path: sessions, .. }] = roots;
    let found = first?;
    if answers.len() as u64 > MAX_INSPECTED {
        return Err(Stop::at("managed_gc_protocol_scope_limit_exceeded", sessions));
    }
    answers.into_iter().try_for_each(|(_, answer)| answer)?;
    roots.iter().try_for_each(|root| root.same(world, "managed_gc_protocol_root_identity_mismatch"))?;
    if discovered(world, sessions)? == found { Ok(()) } else { Err(Stop::at("managed_gc_protocol_journal_changed", sessions)) }
}

/// A directory, and which object it was at the beginning.
struct Held {
    path: PathBuf,
    object: Option<(u64, u64)>,
}

impl Held {
    fn of(world: &World<'_>, path: PathBuf) -> Held {
        let object = world.fs.lstat(&path).ok().map(|meta| meta.object());
        Held { path, object }
    }
    /// The same object stands there still. One that is gone or cannot be asked for, now or then, is the affair of whoever looks
    /// into it.
    fn same(&self, world: &World<'_>, token: &'static str) -> Result<(), Stop> {
        let now = Held::of(world, self.path.clone()).object;
        let is_another = self.object.zip(now).is_some_and(|(before, now)| before != now);
        if is_another { Err(Stop::at(token, &self.path)) } else { Ok(()) }
    }
}

/// What is remembered of a journal that discovery found, to be compared with what it finds at the end.
#[derive(PartialEq, Eq)]
struct Known {
    key: Key,
    state: super::State,
    target: [u8; 32],
}

fn discovered(world: &World<'_>, sessions: &Path) -> Result<Vec<Known>, Stop> {
    let mut known = Vec::new();
    let mut take = |Found { target, state }: Found| {
        known.push(Known { key: Key::of(target.transcript_path.as_js()), state, target: target.digest() });
    };
    let ended = discovery::each(world, &mut take);
    ended.map(|()| known).map_err(|fault| match (fault.token(), fault) {
        (Some(token), _) => Stop::at(token, sessions),
        (None, discovery::Fault::Unread(path)) => Stop::Unknown(path),
        (None, _) => Stop::Unknown(sessions.to_owned()),
    })
}

fn copy(answer: &Result<(), Stop>) -> Result<(), Stop> {
    match answer {
        Ok(()) => Ok(()),
        Err(Stop::Refused { message, path }) => Err(Stop::at(message, path)),
        Err(Stop::Unknown(path)) => Err(Stop::Unknown(path.clone())),
    }
}

fn scopes(world: &World<'_>, sessions: &Path) -> Vec<PathBuf> {
    let Ok(root) = walk::list(world.fs, sessions, &Limits::default()) else { return Vec::new() };
    let scopes =
        root.objects.iter().filter(|object| object.meta.kind == Kind::Directory && sessions_name(object.bytes()) == SessionsName::Scope);
    scopes.map(|object| root.path_of(object)).collect()
}

fn name_of(path: &Path) -> String {
    show(path.file_name().unwrap_or_default())
}

/// Some of gjc's tokens, none of which stands elsewhere.
mod token {
    pub const DIRECTORY_INVALID: &str = "managed_gc_protocol_directory_invalid";
    pub const DIRECTORY_CHANGED: &str = "managed_gc_protocol_directory_changed";
    pub const FILE_INVALID: &str = "managed_gc_protocol_file_invalid";
    pub const FILE_MISSING: &str = "managed_gc_protocol_file_missing";
    pub const FILE_CHANGED: &str = "managed_gc_protocol_file_changed";
    pub const MIGRATION_INCOMPLETE: &str = "managed_gc_protocol_migration_incomplete";
    pub const TOMBSTONE_ROLE_INVALID: &str = "managed_gc_protocol_tombstone_role_invalid";
    pub const DURABILITY_FAILED: &str = "durability_failed";
    pub const OWNER_SCOPE: &str = "task_artifact_owner_legacy_scope_unsupported";
}

/// One scope under inspection.
struct Inspected<'w, 'a> {
    world: &'w World<'a>,
    directory: &'w Path,
    /// Journals that discovery found in the profile; none when it failed.
    journals: Option<&'w BTreeSet<Key>>,
    /// Targets of each tombstone that a cleanup record named: none when it is none, or gjc's word for why it throws.
    tombstones: BTreeMap<String, Result<Option<Vec<Target>>, &'static str>>,
    /// The replay of each pair of tombstone and target.
    histories: BTreeMap<(String, String), Result<Vec<Pending>, ReplayError>>,
}

/// A token about one file; the caller says which.
type Judged = Result<(), Fault>;

enum Fault {
    Token(String),
    Unknown,
}

impl From<&'static str> for Fault {
    fn from(token: &'static str) -> Self {
        Fault::Token(token.to_owned())
    }
}

impl Inspected<'_, '_> {
    fn judge(mut self, files: &mut u64) -> Result<(), Stop> {
        let scope = Held::of(self.world, self.directory.to_owned());
        let binding = self.binding();
        let internal = self.directory.join(INTERNAL);
        let protocol = self.open(&internal)?;
        if !protocol.objects.iter().map(Object::bytes).eq(PROTOCOL.map(str::as_bytes)) {
            return Err(Stop::at("managed_gc_protocol_roles_invalid", internal));
        }
        let mut roles = Vec::with_capacity(PROTOCOL.len());
        for role in PROTOCOL {
            let listing = self.open(&internal.join(role))?;
            self.role(role, &listing, files)?;
            roles.push(listing);
        }
        scope.same(self.world, "managed_gc_protocol_scope_identity_mismatch")?;
        for role in &roles {
            let held = Held { path: role.path.clone(), object: Some(role.meta.object()) };
            held.same(self.world, "managed_gc_protocol_directory_identity_mismatch")?;
        }
        self.unchanged(&protocol).map_err(|stop| match stop {
            Stop::Refused { message, path } if message == token::DIRECTORY_CHANGED && path == internal => {
                Stop::at("managed_gc_protocol_tree_changed", path)
            }
            stop => stop,
        })?;
        roles.iter().try_for_each(|role| self.unchanged(role))?;
        let now = self.binding();
        if now == binding {
            return Ok(());
        }
        let object = |binding: &Option<Captured>| binding.as_ref().map(|binding| binding.meta.object());
        let is_another = now.is_some() && binding.is_some() && object(&now) != object(&binding);
        let token = if is_another { "managed_gc_protocol_binding_identity_mismatch" } else { "managed_gc_protocol_binding_changed" };
        Err(Stop::at(token, self.directory.join(BINDING)))
    }

    fn binding(&self) -> Option<Captured> {
        capture(self.world.fs, &self.directory.join(BINDING), Bound::Ceiling(RECORD_CEILING)).ok()
    }

    /// A directory of the protocol, which is real and owner-only.
    fn open(&self, path: &Path) -> Result<Listing, Stop> {
        security::verify(self.world.fs, path, Need::Directory, self.world.uid).map_err(|_| Stop::at(token::DIRECTORY_INVALID, path))?;
        let listing = walk::list(self.world.fs, path, &Limits::default()).map_err(|error| match error.errno {
            Errno::NOENT | Errno::LOOP | Errno::NOTDIR => Stop::at(token::DIRECTORY_CHANGED, path),
            _ => Stop::Unknown(path.to_owned()),
        })?;
        match listing.troubles.first() {
            None => Ok(listing),
            Some(Trouble::Changed(_)) => Err(Stop::at(token::DIRECTORY_CHANGED, path)),
            Some(Trouble::Failed(_) | Trouble::Limit(..)) => Err(Stop::Unknown(path.to_owned())),
        }
    }

    /// A second look at a directory and everything in it.
    fn unchanged(&self, before: &Listing) -> Result<(), Stop> {
        let now = self.open(&before.path)?;
        if !now.meta.same_state(&before.meta) || now.objects.len() != before.objects.len() {
            return Err(Stop::at(token::DIRECTORY_CHANGED, &before.path));
        }
        match before.objects.iter().zip(&now.objects).find(|(before, now)| before.name != now.name || !before.meta.same_state(&now.meta)) {
            Some((changed, _)) => {
                let token = if changed.meta.kind == Kind::Directory { token::DIRECTORY_CHANGED } else { token::FILE_CHANGED };
                Err(Stop::at(token, before.path_of(changed)))
            }
            None => Ok(()),
        }
    }

    /// Every file of one role.
    fn role(&mut self, role: &'static str, listing: &Listing, files: &mut u64) -> Result<(), Stop> {
        let mut objects: Vec<&Object> = listing.objects.iter().collect();
        if objects.iter().any(|object| !object.bytes().is_ascii()) {
            objects
                .sort_by(|a, b| String::from_utf8_lossy(a.bytes()).encode_utf16().cmp(String::from_utf8_lossy(b.bytes()).encode_utf16()));
        }
        for object in objects {
            let (path, name) = (listing.path_of(object), show(&object.name));
            if memchr::memmem::find(object.bytes(), b".jsonl").is_some() {
                return Err(Stop::at(format!("managed_gc_protocol_entry_invalid:{role}/{name}"), path));
            }
            let judged = match role {
                LOCKS => self.lock(&path, object),
                RECEIPTS => self.receipt(&path, object, listing),
                _ => self.tombstone(&path, object, listing),
            };
            judged.map_err(|fault| match fault {
                // A capacity is told bare: it is nobody's fault.
                Fault::Token(token) if token == Refusal::JournalCapacityExceeded.token() => Stop::at(token, &path),
                Fault::Token(token) => Stop::at(format!("{token} [{role}/{name}]"), &path),
                Fault::Unknown => Stop::Unknown(path.clone()),
            })?;
            *files += 1;
            if *files > MAX_INSPECTED {
                return Err(Stop::at("managed_gc_protocol_entry_limit_exceeded", &listing.path));
            }
        }
        Ok(())
    }

    /// Every file is regular, owner-only and has one link.
    fn file(&self, path: &Path, meta: &Meta) -> Judged {
        let sound = violations(meta, Need::File, self.world.uid).next().is_none() && meta.nlink == 1;
        if sound && judge_acl(self.world.fs, path, Need::File).is_ok() { Ok(()) } else { Err(token::FILE_INVALID.into()) }
    }

    /// The same, and its bytes.
    fn read(&self, path: &Path, object: &Object) -> Result<Captured, Fault> {
        use crate::fsys::Refusal as Unread;
        self.file(path, &object.meta)?;
        capture(self.world.fs, path, Bound::Ceiling(RECORD_CEILING)).map_err(|refusal| match refusal {
            refusal if refusal.is_absent() => token::FILE_MISSING.into(),
            Unread::Changed(_) => token::FILE_CHANGED.into(),
            Unread::NotAFile(_) | Unread::Links(_) => token::FILE_INVALID.into(),
            Unread::Capacity { .. } | Unread::Failed(_) => Fault::Unknown,
        })
    }

    fn lock(&self, path: &Path, object: &Object) -> Judged {
        let captured = self.read(path, object)?;
        match lock::parse_name(object.bytes()) {
            Some(lock::Name::Stale) if captured.bytes.is_empty() => Ok(()),
            Some(lock::Name::Stale) => Err("managed_gc_protocol_lock_quarantine_invalid".into()),
            None => Err("managed_gc_protocol_lock_role_invalid".into()),
            Some(_) if lock::parse(&captured.bytes).is_some() => Ok(()),
            Some(_) => Err("managed_gc_protocol_lock_invalid".into()),
        }
    }

    fn receipt(&self, path: &Path, object: &Object, receipts: &Listing) -> Judged {
        if let ReceiptName::Receipt(key, _) = ReceiptName::parse(object.bytes()) {
            self.file(path, &object.meta)?;
            return match self.journals {
                Some(journals) if !journals.contains(&key) => Err(Refusal::StateMissing.token().into()),
                _ => Ok(()),
            };
        }
        let captured = self.read(path, object)?;
        let migration_receipt::Name::Migration { state: State::Committed, .. } = migration_receipt::parse_name(object.bytes()) else {
            return Err(token::MIGRATION_INCOMPLETE.into());
        };
        let record = self.object(&captured, RECEIPTS, object)?;
        if record.str_member("state").is_none_or(|state| *state != *b"committed") {
            return Err(token::MIGRATION_INCOMPLETE.into());
        }
        let side = |side: &str| {
            record.member(side).and_then(|side| side.str_member("path")).map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(&path)))
        };
        let (Some(source), Some(destination)) = (side("source"), side("destination")) else {
            return Err("managed_gc_protocol_migration_invalid".into());
        };
        let fs = self.world.fs;
        let holds = Candidate::read(fs, &source, Provenance::Legacy).ok().zip(Candidate::read(fs, &destination, Provenance::V2).ok());
        let holds =
            holds.is_some_and(|(source, destination)| matches(fs, self.digest(), &receipts.path_of(object), &source, &destination).is_ok());
        if holds { Ok(()) } else { Err("managed_gc_protocol_migration_authority_mismatch".into()) }
    }

    /// A JSON object; the token of what is none names the file by itself.
    fn object(&self, captured: &Captured, role: &str, object: &Object) -> Result<Value, Fault> {
        let record = parse(&captured.bytes).filter(|value| value.kind() == json::Kind::Object);
        record.ok_or_else(|| Fault::Token(format!("managed_gc_protocol_record_invalid:{role}/{}", show(&object.name))))
    }

    fn tombstone(&mut self, path: &Path, object: &Object, tombstones: &Listing) -> Judged {
        let name = object.bytes();
        match tombstone::parse_name(name) {
            Name::Tombstone { .. } => {
                let captured = self.read(path, object)?;
                match self.targets(&captured)? {
                    Some(targets) if !targets.is_empty() => Ok(()),
                    _ => Err("managed_gc_protocol_tombstone_invalid".into()),
                }
            }
            Name::Cleanup { tombstone, target, state, attempt } => {
                self.cleanup(path, object, tombstones, (tombstone, target), state, attempt)
            }
            // Such a name is judged before the file is opened.
            Name::CleanupMalformed { .. } => Err(token::TOMBSTONE_ROLE_INVALID.into()),
            Name::Foreign if name.ends_with(b".json") && memchr::memmem::find(name, b".cleanup-").is_some() => {
                Err(token::TOMBSTONE_ROLE_INVALID.into())
            }
            Name::Foreign => {
                self.read(path, object)?;
                Err(token::TOMBSTONE_ROLE_INVALID.into())
            }
        }
    }

    /// The targets of a tombstone; none when the bytes are no tombstone of this scope.
    fn targets(&self, captured: &Captured) -> Result<Option<Vec<Target>>, &'static str> {
        let record = parse(&captured.bytes).ok_or(token::DURABILITY_FAILED)?;
        let within = |path: &JsString| predict::is_within_sessions(self.world, path);
        match tombstone::read(&record, self.digest(), self.directory.as_os_str().as_bytes(), self.world.release, &within) {
            Ok(tombstone) => Ok(Some(tombstone.targets)),
            Err(NotATombstone::Skipped) => Ok(None),
            Err(NotATombstone::OwnerScope) => Err(token::OWNER_SCOPE),
            Err(NotATombstone::Number) => Err(token::DURABILITY_FAILED),
        }
    }

    fn cleanup(
        &mut self,
        path: &Path,
        object: &Object,
        tombstones: &Listing,
        (operation, target_operation): (&str, &str),
        state: CleanupState,
        attempt: u64,
    ) -> Judged {
        // A pending record is replayed before it is captured.
        let captured = if state == CleanupState::Pending { None } else { Some(self.read(path, object)?) };
        if !self.tombstones.contains_key(operation) {
            let targets =
                match tombstones.get(&format!("{operation}.json")).map(|tombstone| self.read(&tombstones.path_of(tombstone), tombstone)) {
                    Some(Ok(captured)) => self.targets(&captured),
                    _ => Ok(None),
                };
            self.tombstones.insert(operation.to_owned(), targets);
        }
        let targets =
            self.tombstones.get(operation).map_or(Ok(None), |targets| targets.as_ref().map(Option::as_ref).map_err(|token| *token))?;
        let targets = targets.ok_or("managed_gc_protocol_tombstone_authority_missing")?;
        let target = targets.iter().find(|target| target.operation() == target_operation);
        let target = target.ok_or("managed_gc_protocol_tombstone_target_missing")?.clone();
        let tombstone = tombstones.path.join(format!("{operation}.json"));
        let (world, digest) = (self.world, self.digest().to_owned());
        let history = History { scope: &digest, tombstone_path: tombstone.as_os_str().as_bytes(), target: &target, release: world.release };
        let pair = (operation.to_owned(), target_operation.to_owned());
        if !self.histories.contains_key(&pair) {
            let replayed = cleanup_history(world, tombstones, operation, target_operation, &history);
            self.histories.insert(pair.clone(), replayed);
        }
        let Some(replayed) = self.histories.get(&pair) else { return Err(Fault::Unknown) };
        match (state, captured) {
            (CleanupState::Pending, _) => {
                let replayed = replayed.as_ref().map_err(|error| Fault::from(thrown(*error)))?;
                if !replayed.iter().any(|pending| pending.attempt == attempt) {
                    return Err("managed_gc_protocol_tombstone_history_invalid".into());
                }
                self.read(path, object).map(|_| ())
            }
            (CleanupState::ArtifactsRemoved, Some(captured)) => {
                let Some(record) = parse(&captured.bytes) else {
                    return Err("managed_gc_protocol_tombstone_artifacts_invalid".into());
                };
                let live = |root: &JsString, identity: &Value| {
                    artifacts::retained_root(world.fs, Path::new(&*root.as_js().to_string_lossy()), identity)
                };
                match history.artifacts_removed(&record, attempt, &live) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err("managed_gc_protocol_tombstone_artifacts_invalid".into()),
                    Err(error) => Err(thrown(error).into()),
                }
            }
            (CleanupState::Completed, Some(captured)) => {
                let unknown = |journals: &BTreeSet<Key>| !journals.contains(&Key::of(target.path.as_js()));
                if target.owner_evidence.is_some() && self.journals.is_some_and(unknown) {
                    return Err(Refusal::StateMissing.token().into());
                }
                let latest = replayed.as_ref().ok().and_then(|replayed| replayed.last());
                let record = self.object(&captured, TOMBSTONES, object)?;
                let completed =
                    history.is_completed(&record) && (target.owner_evidence.is_none() || self.is_retired(&target, latest, &record));
                if completed { Ok(()) } else { Err("managed_gc_protocol_tombstone_completion_invalid".into()) }
            }
            (CleanupState::ArtifactsRemoved | CleanupState::Completed, None) => Err(Fault::Unknown),
        }
    }

    /// Whether the completed record of a deletion that took an owner along agrees with the owner's journal.
    fn is_retired(&self, target: &Target, latest: Option<&Pending>, record: &Value) -> bool {
        let fs = self.world.fs;
        let receipts = walk::list(fs, &self.directory.join(INTERNAL).join(RECEIPTS), &Limits::default());
        let root = SessionsRoot::new(self.directory.parent().unwrap_or(self.directory).as_os_str().as_bytes());
        let (Ok(receipts), Ok(root)) = (receipts, root) else { return false };
        let scope = Scope { digest: self.digest(), directory: self.directory.as_os_str().as_bytes(), root: &root };
        let here = |path: &Path| path.to_owned();
        let ground = Ground { fs, receipts: &receipts, opened: None, beside: None, scope, here: &here, is_copy: self.world.is_copy };
        ground.completes(&target.path, latest, record, &mut Desk::default()).unwrap_or(false)
    }

    fn digest(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("v2-")).unwrap_or_default()
    }
}

const fn thrown(error: ReplayError) -> &'static str {
    match error {
        ReplayError::Durability => token::DURABILITY_FAILED,
        ReplayError::OwnerScope => token::OWNER_SCOPE,
        ReplayError::Capacity => Refusal::JournalCapacityExceeded.token(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    #[test]
    fn more_scopes_than_gjc_inspects_are_refused_together() {
        let fs = Memory::new();
        fs.directory("/a/sessions");
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        let of = |scopes: u64| {
            let answers = (0..scopes).map(|_| (PathBuf::from("/a/sessions/v2-x"), Ok(()))).collect();
            Stop::answer(together(&world, &["/a", "/a/sessions"].map(|root| Held::of(&world, root.into())), Ok(Vec::new()), answers))
        };
        assert_eq!(of(MAX_INSPECTED), Answer::Accepts);
        assert_eq!(of(MAX_INSPECTED + 1).message(), Some("managed_gc_protocol_scope_limit_exceeded"));
    }

    /// Counted over all scopes: this one has a file, and others had the rest before.
    #[test]
    fn more_files_than_gjc_inspects_are_refused_at_the_first_one_too_many() {
        let identity = crate::agent::identity::Identity { platform: crate::agent::identity::Platform::Posix, canonical_path: "/ws".into() };
        let scope = format!("/a/sessions/{}", identity.directory_name());
        let fs = Memory::new();
        fs.plant(&scope, &crate::corpus::clean::scope(&identity, []));
        fs.file(format!("{scope}/{INTERNAL}/{LOCKS}/.gjc-lock-00000000-0000-4000-8000-000000000000.stale"), b"");
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        let of = |mut before: u64| {
            let directory = Path::new(&scope);
            let inspected = Inspected { world: &world, directory, journals: None, tombstones: BTreeMap::new(), histories: BTreeMap::new() };
            Stop::answer(inspected.judge(&mut before))
        };
        assert_eq!((of(MAX_INSPECTED - 2), of(MAX_INSPECTED - 1)), (Answer::Accepts, Answer::Accepts));
        assert_eq!(of(MAX_INSPECTED).message(), Some("managed_gc_protocol_entry_limit_exceeded"));
    }
}
