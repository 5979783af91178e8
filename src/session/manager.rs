//! One session manager: the current session, and the files it writes (spec 01 §7.2, §8.1; 04 §4.8, §7.3). What makes another
//! session the current one is in `successor`, [`super::switch`] and [`super::rollback`].

use super::content::{Content, Envelope, Lineage, is_irc};
use super::images;
use super::place::{Place, is_staged};
use super::selection;
use super::storage::{Begin, SessionStorage, Snowflakes, StorageError, Writer, join, rewrite};
use crate::json::{JsStr, JsString, Value, View};
use crate::transcript::blobs::BlobStore;
use crate::transcript::context::{Values, answer, build};
use crate::transcript::date;
use crate::transcript::ids::Ids;
use crate::transcript::inspect::{EAGER_MAX, Reason};
use crate::transcript::migrate::IdSource;
use crate::transcript::open::{NOT_A_CANDIDATE, STAGED};
use crate::transcript::persist::opened::{Before, NameSource, Rewritten, Written, sanitise_name};
use crate::transcript::persist::settle::Origin;
use crate::transcript::persist::{Destination, Opened, Refusal, open_at};
use crate::transcript::tree::{Leaf, Linked, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Where ids and times come from.
pub trait World: IdSource {
    /// The id of a new session.
    fn session_id(&mut self) -> JsString;
    /// The time now, as it is written.
    fn now(&mut self) -> JsString;
}

/// Attempts to find an id that no entry has, with short ids and then with long ones.
const ID_ATTEMPTS: usize = 100;
/// Attempts to write what was prepared.
const PREPARATIONS: usize = 3;
/// What JavaScript says of a number without a JSON form.
const NO_BIGINT: &str = "JSON.stringify cannot serialize BigInt.";

/// An error of gjc: its class and its message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpError {
    /// Name of the class.
    pub class: &'static str,
    /// The message.
    pub message: String,
}

impl OpError {
    /// An error of no class of its own.
    pub fn plain(message: impl Into<String>) -> Self {
        OpError { class: "Error", message: message.into() }
    }
    /// What an append answers when persistence failed, now or earlier.
    fn of_append(self) -> Self {
        OpError { class: "SessionAppendPersistenceError", ..self }
    }
}

impl From<StorageError> for OpError {
    fn from(error: StorageError) -> Self {
        OpError::plain(error.message)
    }
}

/// Why a manager does not begin.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenError {
    /// gjc does not open the transcript; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Reading or writing failed, or the path is none that is opened.
    #[error(transparent)]
    Failed(#[from] OpError),
}

impl From<OpenError> for OpError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Failed(error) => error,
            OpenError::Refused(Refusal::Throws { code: None }) => OpError { class: "TypeError", message: "TypeError".to_owned() },
            OpenError::Refused(refused) => OpError::plain(refused.to_string()),
        }
    }
}

impl From<StorageError> for OpenError {
    fn from(error: StorageError) -> Self {
        OpenError::Failed(error.into())
    }
}

/// A session manager.
pub struct Manager<'s, W, B> {
    pub(super) world: W,
    pub(super) blobs: B,
    pub(super) storage: &'s dyn SessionStorage,
    pub(super) place: Place,
    /// Path of the current transcript.
    pub(super) path: String,
    pub(super) session: Opened,
    /// Ids of the current session's entries.
    pub(super) known: BTreeSet<JsString>,
    writer: Option<Writer<'s>>,
    /// Paths of earlier sessions that have a file.
    left: Vec<String>,
    /// Persistence failed: everything later fails the same way, until another session is installed.
    pub(super) failed: Option<OpError>,
    pub(super) names: Snowflakes,
    /// A response streams.
    pub(super) streaming: bool,
    /// Who this manager is, for the snapshots that it issues.
    pub(super) issuer: Rc<()>,
    /// Most bytes of a managed transcript.
    pub(super) most_managed: u64,
    /// The session was opened and nothing of it was written yet: the first thing that is leaves the breadcrumb.
    pub(super) breadcrumb_due: bool,
    /// A draft of the session that was opened was taken.
    pub(super) draft_taken: bool,
    /// The user named the session: a name that gjc finds is not taken. A branched session keeps this, though not the name.
    pub(super) named_by_user: bool,
    /// Ids of entries that cannot be told in JSON: nothing that holds one of them can be written.
    unwritable: BTreeSet<JsString>,
    /// The next entry that is appended is one of them.
    next_is_unwritable: bool,
    /// Counts the operations that may have changed the session: what was prepared before one is not written behind it.
    revision: u64,
}

impl<'s, W: World, B: BlobStore> Manager<'s, W, B> {
    /// Begins a new session.
    ///
    /// # Errors
    /// A managed scope that cannot be prepared.
    pub fn create(
        world: W,
        blobs: B,
        storage: &'s dyn SessionStorage,
        place: Place,
        parent_session: Option<Value>,
    ) -> Result<Self, OpError> {
        Manager::begin(world, blobs, storage, place, parent_session.into(), Vec::new())
    }

    /// Begins a session with entries of another one.
    pub(super) fn begin(
        mut world: W,
        mut blobs: B,
        storage: &'s dyn SessionStorage,
        place: Place,
        lineage: Lineage,
        taken_over: Vec<(Value, Origin)>,
    ) -> Result<Self, OpError> {
        place.prepare(storage)?;
        let (path, header) = fresh(&mut world, &place, lineage);
        let session = Opened::create(place.destination(), header, taken_over, &mut blobs, place.release());
        let mut manager = Manager::with(world, blobs, storage, place, path, session);
        let before = manager.session.before();
        manager.persist(before)?;
        manager.leave_breadcrumb();
        Ok(manager)
    }

    /// Opens the transcript at `path` for writing. Where there is none a new session begins at that path, and its header is
    /// written at once (spec 04 §4.8).
    ///
    /// # Errors
    /// Why gjc does not; the file is then untouched.
    pub fn open(mut world: W, mut blobs: B, storage: &'s dyn SessionStorage, place: Place, path: String) -> Result<Self, OpenError> {
        let (session, begins) = open_session(&mut world, &mut blobs, storage, &place, &path)?;
        let mut manager = Manager::with(world, blobs, storage, place, path, session);
        manager.breadcrumb_due = true;
        let before = manager.session.before();
        manager.persist(before)?;
        if begins {
            manager.leave_breadcrumb();
        }
        Ok(manager)
    }

    fn with(mut world: W, blobs: B, storage: &'s dyn SessionStorage, place: Place, path: String, session: Opened) -> Self {
        let names = Snowflakes { now_ms: date::parse(world.now().as_bytes()).max(0.0) as u64, sequence: 0 };
        let known = ids(&session);
        let named_by_user = named_by_user(&session);
        let (left, issuer) = (Vec::new(), Rc::new(()));
        Manager {
            world,
            blobs,
            storage,
            place,
            path,
            session,
            known,
            writer: None,
            left,
            failed: None,
            names,
            streaming: false,
            issuer,
            most_managed: EAGER_MAX,
            breadcrumb_due: false,
            draft_taken: false,
            named_by_user,
            unwritable: BTreeSet::new(),
            next_is_unwritable: false,
            revision: 0,
        }
    }

    /// The current transcript's path; none in memory. There may be no file yet.
    pub fn session_file(&self) -> Option<&str> {
        (self.place.destination() != Destination::Nowhere).then_some(self.path.as_str())
    }
    /// The paths of all transcripts that this manager had: those with a file, and the current one last.
    pub fn paths(&self) -> Vec<&str> {
        self.left.iter().map(String::as_str).chain([self.path.as_str()]).collect()
    }
    /// The bytes of the current transcript, where there is a file.
    pub fn file(&self) -> Option<&[u8]> {
        self.session.on_disk().then_some(self.session.file())
    }
    /// The current session.
    pub const fn session(&self) -> &Opened {
        &self.session
    }
    /// The id of the current session.
    pub fn session_id(&self) -> Option<JsString> {
        self.session.entries().first().and_then(id_of)
    }
    /// The blob store.
    pub const fn store(&self) -> &B {
        &self.blobs
    }
    /// The storage.
    pub const fn storage(&self) -> &'s dyn SessionStorage {
        self.storage
    }
    /// Where its sessions live.
    pub const fn place(&self) -> &Place {
        &self.place
    }
    /// Says whether a response streams now: a session is not forked then.
    pub const fn set_streaming(&mut self, streaming: bool) {
        self.streaming = streaming;
    }

    /// Persistence failed: everything later fails the same way.
    pub fn fail(&mut self, message: &str) -> OpError {
        self.fail_with(OpError::plain(message))
    }
    fn fail_with(&mut self, error: OpError) -> OpError {
        self.failed.get_or_insert(error).clone()
    }
    /// Says whether the next entry that is appended cannot be told in JSON. It is part of the session all the same, and fails
    /// when it is to be written, with everything that is written together with it.
    pub const fn set_unwritable(&mut self, unwritable: bool) {
        self.next_is_unwritable = unwritable;
    }
    /// The first failure of persistence, which everything later answers too.
    ///
    /// # Errors
    /// That failure.
    pub fn check(&self) -> Result<(), OpError> {
        self.failed.clone().map_or(Ok(()), Err)
    }
    /// Makes everything that was written durable.
    ///
    /// # Errors
    /// The first failure of persistence.
    pub fn flush(&mut self) -> Result<(), OpError> {
        self.check()?;
        match self.writer.as_mut().map(|writer| writer.flush().and_then(|()| writer.fsync())) {
            Some(Err(error)) => Err(self.fail(&error.message)),
            _ => Ok(()),
        }
    }

    /// Runs an operation on the session and does to the file what it did to the bytes. What cannot be done is taken back, and
    /// stays as the failure of everything later.
    pub(super) fn operate<T>(&mut self, operation: impl FnOnce(&mut Opened, &mut B) -> T) -> Result<T, OpError> {
        self.check()?;
        self.revision += 1;
        let before = self.session.before();
        let gone = self.session.on_disk() && matches!(self.storage.exists(&self.path), Ok(false));
        if gone {
            self.session.vanished();
            self.writer = None;
        }
        let answer = operation(&mut self.session, &mut self.blobs);
        if let Some(near) = self.near_limit() {
            let undone = self.session.take_written();
            self.session.undo(before, undone);
            return Err(self.fail(near));
        }
        self.persist(before)?;
        Ok(answer)
    }

    /// In a managed scope nothing is written that makes a transcript larger than can be opened again. A record that would is
    /// folded into a rewrite, which may be smaller; what is too large even then is refused before it reaches the file
    /// (spec 04 §7.4).
    fn near_limit(&mut self) -> Option<&'static str> {
        let too_large = |session: &Opened| session.file().len() as u64 > self.most_managed;
        if self.place.destination() != Destination::Managed || !self.session.has_written() || !too_large(&self.session) {
            return None;
        }
        let appended = self.session.fold(&mut self.blobs);
        too_large(&self.session).then_some(if appended { "near_limit_append" } else { "near_limit_rewrite" })
    }

    /// Does to the file what was done to the bytes; what cannot be done is taken back, and stays as the failure of everything
    /// later.
    fn persist(&mut self, before: Before) -> Result<(), OpError> {
        let written = self.session.take_written();
        let persists = !written.is_empty();
        if persists && self.holds_unwritable(&written) {
            self.session.undo(before, written);
            return Err(self.fail_with(OpError { class: "TypeError", message: NO_BIGINT.to_owned() }));
        }
        let mut file = Target { storage: self.storage, path: &self.path, place: &self.place, names: &mut self.names };
        file.write(&self.session, written, &mut self.writer).map_err(|(undone, error)| {
            self.session.undo(before, undone);
            self.fail(&error.message)
        })?;
        if persists && self.breadcrumb_due {
            self.leave_breadcrumb();
        }
        Ok(())
    }

    /// Whether what is to be written holds an entry that cannot be: any of the session's in a rewrite, the last one in a record.
    fn holds_unwritable(&self, written: &[Written]) -> bool {
        let whole = written.iter().any(|written| matches!(written, Written::Whole(_)));
        let last = || self.session.entries().last().and_then(id_of);
        !self.unwritable.is_empty() && (whole || last().is_some_and(|id| self.unwritable.contains(&id)))
    }

    /// Leaves the breadcrumb of the terminal: workspace and transcript, which need not exist yet (spec 04 §3.4). It is a hint:
    /// one that cannot be written is none.
    pub(super) fn leave_breadcrumb(&mut self) {
        self.breadcrumb_due = false;
        let (Some(crumb), Some(file)) = (self.place.breadcrumb().map(str::to_owned), self.session_file()) else { return };
        let text = format!("{}\n{file}\n", self.place.cwd());
        // In the project's own folder it is never half written.
        let _ = if crumb.starts_with(&join(self.place.cwd(), ".gjc/")) {
            rewrite(self.storage, &crumb, text.as_bytes(), &mut self.names)
        } else {
            self.storage.write(&crumb, text.as_bytes())
        };
    }

    /// Writes the session as a whole, from a preparation during which the manager may be used. What was prepared from a session
    /// that was used meanwhile is prepared again, three times at most (spec 04 §7.3).
    ///
    /// # Errors
    /// `session_persistence_lifecycle_changed` when the preparation installed another session or moved this one, which then
    /// stays as it is; `session_persistence_input_stale`, which stays; as [`Manager::rewrite`].
    pub fn rewrite_prepared(&mut self, mut prepare: impl FnMut(&mut Self)) -> Result<(), OpError> {
        for _ in 0..PREPARATIONS {
            self.check()?;
            let (path, id, revision) = (self.path.clone(), self.session_id(), self.revision);
            prepare(self);
            if self.path != path || self.session_id() != id {
                return Err(OpError::plain("session_persistence_lifecycle_changed"));
            }
            if self.revision == revision {
                return self.rewrite();
            }
        }
        let error = OpError::plain("session_persistence_input_stale");
        Err(self.failed.get_or_insert(error).clone())
    }

    /// Appends an entry; answers its id.
    ///
    /// # Errors
    /// Persistence failed, now or earlier; no id was free.
    pub fn append(&mut self, content: Content) -> Result<JsString, OpError> {
        self.append_with(|_, _| content)
    }

    /// Appends a message of an extension; see [`Content::custom_message`].
    ///
    /// # Errors
    /// As [`Manager::append`].
    pub fn append_custom_message(&mut self, fields: &Value, observation: Option<Value>) -> Result<JsString, OpError> {
        self.append_with(|session, id| {
            let observation = observation
                .filter(|id| *id != Value::Null)
                .or_else(|| is_irc(fields).then(|| Value::string(format!("session:{session}:entry:{id}"))));
            Content::custom_message(fields, observation)
        })
    }

    /// Persists what the caller of a new session said of its tools (see [`selection`]); answers the ids of the entries.
    /// `correlation` is asked for where both domains are spoken for.
    ///
    /// # Errors
    /// As [`Manager::append`].
    pub fn select_tools(
        &mut self,
        named: Option<&[selection::Named]>,
        correlation: impl FnOnce() -> JsString,
    ) -> Result<Vec<JsString>, OpError> {
        selection::entries(named, correlation).into_iter().map(|content| self.append(content)).collect()
    }

    /// The context of the current leaf as JSON, references unresolved; none where it cannot be built.
    pub(super) fn context(&self) -> Option<Value> {
        let mut ids = Ids::default();
        let values = Values::new(self.session.entries(), &mut ids);
        let tree = Tree::new(&values);
        let leaf = self.session.leaf().as_str().and_then(|leaf| ids.find(&leaf)).map_or(Leaf::BeforeFirst, Leaf::Id);
        let context = build(&tree, leaf, self.place.release()).ok()?;
        Some(answer::to_js(&context).to_value())
    }

    /// Clears the context: the next entries hang under a fresh root; who owns the model profile is said again there (0.17,
    /// spec 01 §4.2). Answers the id of the entry that clears.
    ///
    /// # Errors
    /// As [`Manager::append`].
    pub fn clear_context(&mut self, data: Option<Value>) -> Result<JsString, OpError> {
        let owner = self.context().and_then(|context| context.member("modelProfileOwnershipMarker").cloned());
        let leaf = self.session.leaf().clone();
        self.session.set_leaf(Value::Null);
        let cleared = self.append(Content::custom(Value::string("context_clear"), data));
        if cleared.is_err() {
            self.session.set_leaf(leaf);
        }
        let cleared = cleared?;
        if owner.is_some() {
            self.append(Content::custom(Value::string("model_profile_ownership"), owner))?;
        }
        Ok(cleared)
    }

    /// Appends what `content` makes of the session's id and the entry's.
    fn append_with(&mut self, content: impl FnOnce(&str, &JsString) -> Content) -> Result<JsString, OpError> {
        let id = self.entry_id()?;
        let session = self.session_id().unwrap_or_else(|| JsString::from(""));
        let content = content(&session.as_js().to_string_lossy(), &id);
        let mut entry = content.entry(Envelope { id: id.clone(), parent: self.session.leaf().clone(), timestamp: self.world.now() });
        if self.place.destination() != Destination::Nowhere {
            // 0.17 looks at an earlier failure first; a blob that nothing refers to does no harm.
            images::keep(&mut entry, &mut self.blobs, self.place.release());
        }
        if self.next_is_unwritable {
            self.unwritable.insert(id.clone());
        }
        let appended = self.operate(|session, blobs| session.append(entry, blobs)).map_err(OpError::of_append);
        if appended.is_err() {
            self.known.remove(&id);
            self.unwritable.remove(&id);
        }
        appended.map(|()| id)
    }

    /// An id that no entry has: eight digits, or after a hundred attempts the sixteen of a snowflake (spec 01 §4.1).
    pub(super) fn entry_id(&mut self) -> Result<JsString, OpError> {
        let known = &self.known;
        let (world, names) = (&mut self.world, &mut self.names);
        let short = (0..ID_ATTEMPTS).map(|_| world.next_id()).find(|id| !known.contains(id));
        let id = short.or_else(|| (0..ID_ATTEMPTS).map(|_| names.name().into()).find(|id| !known.contains(id)));
        let id = id.ok_or_else(|| OpError::plain("Unable to generate a unique session entry id"))?;
        self.known.insert(id.clone());
        Ok(id)
    }

    /// Labels an entry; without text takes its label away.
    ///
    /// # Errors
    /// There is no such entry; as [`Manager::append`].
    pub fn label(&mut self, target: Value, label: Option<Value>) -> Result<JsString, OpError> {
        self.must_exist(&target)?;
        self.append(Content::label(target, label))
    }

    /// Moves the leaf to an entry; the next entry is its child. Nothing is written.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn branch(&mut self, entry: Value) -> Result<(), OpError> {
        self.must_exist(&entry)?;
        self.session.set_leaf(entry);
        Ok(())
    }

    /// The next entry is a root.
    pub fn reset_leaf(&mut self) {
        self.session.set_leaf(Value::Null);
    }

    /// Branches at an entry, or at the root (null), and says what was left behind.
    ///
    /// # Errors
    /// There is no such entry; as [`Manager::append`]: the leaf is then at the branch point all the same.
    pub fn branch_with_summary(
        &mut self,
        entry: Value,
        summary: Value,
        details: Option<Value>,
        from_extension: Option<Value>,
    ) -> Result<JsString, OpError> {
        let from = if entry == Value::Null {
            Value::string("root")
        } else {
            self.must_exist(&entry)?;
            entry.clone()
        };
        self.session.set_leaf(entry);
        self.append(Content::branch_summary(from, summary, details, from_extension))
    }

    pub(super) fn must_exist(&self, id: &Value) -> Result<(), OpError> {
        match id {
            Value::String(text) if self.known.contains(text) => Ok(()),
            Value::String(text) => Err(OpError::plain(format!("Entry {text} not found"))),
            other => Err(OpError::plain(format!("Entry {} not found", crate::json::stringify::to_text(other)))),
        }
    }

    /// Gives the session a name. False when nothing came of it. The manager knows the name before it is written: that it was the
    /// user's counts even when it cannot be, and where there is no file yet a failure of persistence does not matter.
    ///
    /// # Errors
    /// Persistence failed, now or earlier.
    pub fn set_name(&mut self, name: JsStr<'_>, source: NameSource) -> Result<bool, OpError> {
        if source == NameSource::Auto && self.named_by_user || sanitise_name(name).as_js().is_empty() {
            return Ok(false);
        }
        self.named_by_user = source == NameSource::User;
        let failed = if self.session.on_disk() { None } else { self.failed.take() };
        let named = self.operate(|session, blobs| session.set_name(name, source, blobs));
        self.failed = failed.or(self.failed.take());
        named
    }
    /// Stars the session, or takes its star (0.17). False when it is so already.
    ///
    /// # Errors
    /// The release has no stars; persistence failed, now or earlier.
    pub fn set_starred(&mut self, starred: bool) -> Result<bool, OpError> {
        if !crate::finding::Difference::StarPatches.in_effect(self.place.release()) {
            return Err(OpError::plain("This release of gjc has no stars"));
        }
        self.operate(|session, blobs| session.set_starred(starred, blobs))
    }
    /// Rewrites the transcript.
    ///
    /// # Errors
    /// Persistence failed, now or earlier.
    pub fn rewrite(&mut self) -> Result<(), OpError> {
        self.operate(|session, blobs| session.rewrite(blobs))
    }
    /// Makes sure that there is a transcript.
    ///
    /// # Errors
    /// Persistence failed, now or earlier.
    pub fn ensure_on_disk(&mut self) -> Result<(), OpError> {
        if self.failed.is_some() && self.session.on_disk() && !self.session.rewrite_pending() {
            // There is nothing to do, so nothing fails.
            return Ok(());
        }
        self.operate(|session, blobs| session.ensure_on_disk(blobs))
    }

    /// The path to an entry without its labels, and behind it fresh ones for what is labelled on it: labels are taken out of
    /// the path, not out of the chain of parents, so that the entry behind one then has a parent that does not exist
    /// (spec 04 §9.2).
    ///
    /// # Errors
    /// No id was free.
    pub(super) fn path_to(&mut self, leaf: &Value) -> Result<Vec<(Value, Origin)>, OpError> {
        let mut numbers = Ids::default();
        let values = Values::new(self.session.entries(), &mut numbers);
        let tree = Tree::new(&values);
        let leaf = numbers.find(&leaf.as_str().unwrap_or_default()).and_then(|id| tree.find(id));
        let path = leaf.map(|leaf| tree.path(leaf).entries).unwrap_or_default();
        let kept = path.into_iter().filter(|entry| values.kind(*entry) != crate::transcript::EntryKind::Label);
        let mut taken_over: Vec<_> =
            kept.filter_map(|entry| Some((self.session.entries().get(entry)?.clone(), self.session.origin(entry)))).collect();

        let on_path: BTreeSet<JsString> = taken_over.iter().filter_map(|(entry, _)| id_of(entry)).collect();
        let labels = labels(self.session.entries());
        let mut parent = taken_over.last().and_then(|(entry, _)| entry.member("id")).cloned().unwrap_or_default();
        // A fresh label's id is none of the new session, which is what is on the path.
        let known = std::mem::replace(&mut self.known, on_path.clone());
        let fresh = labels.into_iter().filter(|(target, _)| on_path.contains(target)).map(|(target, label)| {
            let id = self.entry_id()?;
            let envelope =
                Envelope { id: id.clone(), parent: std::mem::replace(&mut parent, Value::String(id)), timestamp: self.world.now() };
            Ok((Content::label(Value::String(target), Some(label)).entry(envelope), Origin::Session))
        });
        let fresh: Result<Vec<_>, OpError> = fresh.collect();
        self.known = known;
        taken_over.extend(fresh?);
        Ok(taken_over)
    }

    /// Closes the current session's file, writes what another session has to write, and installs it. A failure of persistence
    /// ends with the session that it concerned.
    ///
    /// # Errors
    /// The current session cannot be closed, or the other one not written: the current one stays.
    pub(super) fn install(&mut self, path: String, mut session: Opened) -> Result<(), OpError> {
        self.leave()?;
        let (written, mut writer) = (session.take_written(), None);
        let mut file = Target { storage: self.storage, path: &path, place: &self.place, names: &mut self.names };
        file.write(&session, written, &mut writer).map_err(|(_, error)| OpError::from(error))?;
        self.replace(path, session);
        self.writer = writer;
        Ok(())
    }

    /// Closes the current session's file. One of an older version that nothing was written to stays what it is.
    pub(super) fn leave(&mut self) -> Result<(), OpError> {
        match &self.failed {
            None => self.release_writer(),
            // The failure is known; the file is given back all the same.
            Some(_) => {
                let _ = close(&mut self.writer);
                Ok(())
            }
        }
    }

    /// Installs a session as it was. Of the current one's file nothing is written when it is the same file.
    ///
    /// # Errors
    /// As [`Manager::install`].
    pub(super) fn reinstall(&mut self, path: String, place: Place, session: Opened) -> Result<(), OpError> {
        self.leave()?;
        self.place = place;
        self.replace(path, session);
        Ok(())
    }

    /// Makes a session whose file stands the current one, and leaves the breadcrumb of the terminal.
    pub(super) fn replace(&mut self, path: String, session: Opened) {
        self.known = ids(&session);
        self.named_by_user = named_by_user(&session);
        let left = std::mem::replace(&mut self.session, session);
        let left_path = std::mem::replace(&mut self.path, path);
        if left.on_disk() && left_path != self.path && !self.left.contains(&left_path) {
            self.left.push(left_path);
        }
        self.left.retain(|path| *path != self.path);
        self.failed = None;
        self.unwritable.clear();
        self.draft_taken = false;
        self.leave_breadcrumb();
    }

    /// Gives the file back, so that it can be moved; the next record opens it again.
    pub(super) fn release_writer(&mut self) -> Result<(), OpError> {
        close(&mut self.writer).map_err(|error| self.fail(&error.message))
    }

    /// Gives the file up without asking how that went: what was written to it does not count any more.
    pub(super) fn abandon_writer(&mut self) {
        let _ = close(&mut self.writer);
        self.writer = None;
    }

    /// What closing does: the pending rewrite of an older version, then the writer.
    pub(super) fn finish(&mut self) -> Result<(), OpError> {
        self.operate(|session, blobs| session.finish(blobs))?;
        self.release_writer()
    }

    /// Closes the current session, which rewrites a transcript of an older version; answers the blob store.
    ///
    /// # Errors
    /// The first failure of persistence.
    pub fn close(mut self) -> (Result<(), OpError>, B) {
        let finished = self.finish();
        if finished.is_err() {
            let _ = close(&mut self.writer);
        }
        (finished, self.blobs)
    }
}

/// Reads and opens the transcript at a path, or begins one there; answers whether it begins.
pub(super) fn open_session<W: World, B: BlobStore>(
    world: &mut W,
    blobs: &mut B,
    storage: &dyn SessionStorage,
    place: &Place,
    path: &str,
) -> Result<(Opened, bool), OpenError> {
    if is_staged(path) {
        return Err(OpError::plain(STAGED).into());
    }
    if !place.admits(path) {
        return Err(OpError::plain(NOT_A_CANDIDATE).into());
    }
    if storage.exists(path)? {
        let size = storage.stat(path)?.size;
        if size > EAGER_MAX {
            // What would be refused anyway is not read.
            return Err(Refusal::Inspection(Reason::Oversized { size }).into());
        }
        let file = storage.read(path)?;
        return Ok((open_at(place.destination(), file, world, blobs, place.release())?, false));
    }
    let (id, now) = (world.session_id(), world.now());
    let header = Content::header(place.release(), id, now, place.cwd(), Lineage::default());
    let mut session = Opened::create(place.destination(), header, Vec::new(), blobs, place.release());
    session.ensure_on_disk(blobs);
    Ok((session, true))
}

/// The file of a session.
struct Target<'t, 's> {
    storage: &'s dyn SessionStorage,
    path: &'t str,
    place: &'t Place,
    names: &'t mut Snowflakes,
}

impl<'s> Target<'_, 's> {
    /// Does what was done to the bytes of `session`, in order; answers what was not done with the first error.
    fn write(
        &mut self,
        session: &Opened,
        mut written: Vec<Written>,
        writer: &mut Option<Writer<'s>>,
    ) -> Result<(), (Vec<Written>, StorageError)> {
        for number in 0..written.len() {
            let done = match &written[number] {
                Written::Record(record) => append(writer, self.storage, self.path, record),
                Written::Whole(Rewritten { length, replaced, .. }) => {
                    let whole = session.file().get(..*length).unwrap_or_default();
                    close(writer).and_then(|()| self.must_be(replaced)).and_then(|()| rewrite(self.storage, self.path, whole, self.names))
                }
            };
            if let Err(error) = done {
                return Err((written.split_off(number), error));
            }
        }
        Ok(())
    }

    /// In a managed scope a file is replaced only when it still is what this manager left (spec 04 §7.4).
    fn must_be(&self, left: &[u8]) -> Result<(), StorageError> {
        if self.place.destination() != Destination::Managed {
            return Ok(());
        }
        let there = if self.storage.exists(self.path)? { self.storage.read(self.path)? } else { Vec::new() };
        if there == left { Ok(()) } else { Err(StorageError::token("session_persistence_input_stale")) }
    }
}

/// Appends a record, with a writer that is opened when it is first needed.
fn append<'s>(writer: &mut Option<Writer<'s>>, storage: &'s dyn SessionStorage, path: &str, record: &[u8]) -> Result<(), StorageError> {
    let writer = match writer {
        Some(writer) => writer,
        None => writer.insert(storage.open_writer(path, Begin::Append)?),
    };
    writer.write_line(record)
}

/// Closes a writer where there is one. One that could not be closed is kept: it says what is known.
fn close(writer: &mut Option<Writer<'_>>) -> Result<(), StorageError> {
    if let Some(open) = writer {
        open.close()?;
        *writer = None;
    }
    Ok(())
}

/// The `id` of an entry, where it is a string.
pub(super) fn id_of(entry: &Value) -> Option<JsString> {
    entry.str_member("id").map(|id| JsString::from_wtf8(id.into_owned()))
}

/// Whether the header says that the user named the session.
fn named_by_user(session: &Opened) -> bool {
    session.entries().first().and_then(|header| header.member("titleSource")).is_some_and(|source| source.is_str("user"))
}

/// The ids of all entries.
fn ids(session: &Opened) -> BTreeSet<JsString> {
    session.entries().iter().filter(|entry| !crate::transcript::EntryKind::of(*entry).is_header()).filter_map(id_of).collect()
}

/// The labels in force, in the order in which their targets were first labelled (spec 01 §7.1).
fn labels(entries: &[Value]) -> Vec<(JsString, Value)> {
    // Of a label that is taken away the place stays empty: moving up all that stand behind it would cost too much.
    let (mut places, mut labels) = (BTreeMap::new(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.member("type").is_some_and(|kind| kind.is_str("label"))) {
        let Some(Value::String(target)) = entry.member("targetId") else { continue };
        let label = entry.member("label").filter(|label| label.truthy()).map(|label| (target.clone(), label.clone()));
        match (places.get(target).and_then(|place| labels.get_mut(*place)), label) {
            (Some(place), label) => {
                if label.is_none() {
                    places.remove(target);
                }
                *place = label;
            }
            (None, None) => {}
            (None, label) => {
                places.insert(target, labels.len());
                labels.push(label);
            }
        }
    }
    labels.into_iter().flatten().collect()
}

/// Path and header of a new session: one instant names both (spec 04 §1.4).
pub(super) fn fresh<W: World>(world: &mut W, place: &Place, lineage: Lineage) -> (String, Value) {
    let (id, now) = (world.session_id(), world.now());
    let path = join(place.directory(), &format!("{}_{id}.jsonl", now.to_string().replace([':', '.'], "-")));
    (path, Content::header(place.release(), id, now, place.cwd(), lineage))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 01 §7.1: a label that is given anew after it was taken away comes last; one that is changed keeps its place.
    #[test]
    fn labels_stand_in_the_order_of_their_targets() {
        let label = |(target, label): &(&str, &str)| {
            Value::parse(format!(r#"{{"type":"label","targetId":"{target}","label":{label}}}"#).as_bytes())
        };
        let of = |all: &[(&str, &str)]| {
            let labels = labels(&all.iter().map(|one| label(one).unwrap()).collect::<Vec<_>>());
            labels.iter().map(|(target, label)| format!("{target}={}", crate::json::stringify::to_text(label))).collect::<Vec<_>>()
        };
        assert_eq!(of(&[("a", "\"1\""), ("b", "\"2\""), ("a", "\"3\"")]), [r#"a="3""#, r#"b="2""#]);
        assert_eq!(of(&[("a", "\"1\""), ("b", "\"2\""), ("a", "null"), ("c", "\"\""), ("a", "\"3\"")]), [r#"b="2""#, r#"a="3""#]);
        assert_eq!(of(&[("a", "null"), ("b", "\"2\""), ("b", "null"), ("b", "null")]), [""; 0]);
    }
}
