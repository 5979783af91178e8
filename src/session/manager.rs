//! One session manager: the current session, and the files that earlier ones left (spec 01 §7.2, §8.1; 04 §9.1, §9.2).

use super::content::{Content, Envelope, is_irc};
use crate::finding::Release;
use crate::json::{JsStr, JsString, Value, View};
use crate::transcript::blobs::BlobStore;
use crate::transcript::context::Values;
use crate::transcript::ids::Ids;
use crate::transcript::migrate::IdSource;
use crate::transcript::persist::opened::NameSource;
use crate::transcript::persist::{Opened, Refusal, open_for_writing};
use crate::transcript::tree::{Linked, Tree};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Where ids and times come from.
pub trait World: IdSource {
    /// The id of a new session.
    fn session_id(&mut self) -> JsString;
    /// The time now, as it is written.
    fn now(&mut self) -> JsString;
}

/// Attempts to find an id that no entry has.
const ID_ATTEMPTS: usize = 100;

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
    fn plain(message: String) -> Self {
        OpError { class: "Error", message }
    }
}

/// What stays the same while a manager runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The workspace that new sessions belong to.
    pub cwd: String,
    /// The folder of the transcripts.
    pub directory: String,
    /// The release of gjc.
    pub release: Release,
}

/// A session manager.
pub struct Manager<W, S> {
    world: W,
    store: S,
    place: Place,
    /// Path of the current transcript.
    path: String,
    session: Opened,
    /// Ids of the current session's entries.
    known: BTreeSet<JsString>,
    /// Files of earlier sessions: path and bytes.
    earlier: Vec<(String, Vec<u8>)>,
    /// An append failed: every later one fails the same way.
    failed: Option<OpError>,
}

impl<W: World, S: BlobStore> Manager<W, S> {
    /// Begins a new session.
    pub fn new(mut world: W, mut store: S, place: Place, parent_session: Option<Value>) -> Self {
        let (path, header) = fresh(&mut world, &place, parent_session);
        let session = Opened::create(header, Vec::new(), &mut store, place.release);
        Manager { world, store, place, path, session, known: BTreeSet::new(), earlier: Vec::new(), failed: None }
    }

    /// Opens the transcript at `path` for writing.
    ///
    /// # Errors
    /// Why gjc does not.
    pub fn open(mut world: W, mut store: S, place: Place, path: String, file: Vec<u8>) -> Result<Self, Refusal> {
        let session = open_for_writing(file, &mut world, &mut store, place.release)?;
        let ids = session.entries().iter().filter_map(|entry| entry.str_member("id")).map(|id| JsString::from_wtf8(id.into_owned()));
        let known = ids.collect();
        Ok(Manager { world, store, place, path, session, known, earlier: Vec::new(), failed: None })
    }

    /// Every transcript: path, and bytes where there is a file. The current one last.
    pub fn files(&self) -> Vec<(&str, Option<&[u8]>)> {
        let current = (self.path.as_str(), self.session.on_disk().then_some(self.session.file()));
        self.earlier.iter().map(|(path, bytes)| (path.as_str(), Some(bytes.as_slice()))).chain([current]).collect()
    }
    /// The current session.
    pub fn session(&self) -> &Opened {
        &self.session
    }
    /// The blob store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// An append that cannot be written: this and all later ones fail.
    pub fn fail(&mut self, message: &str) -> OpError {
        let error = OpError { class: "SessionAppendPersistenceError", message: message.to_owned() };
        self.failed.get_or_insert(error).clone()
    }
    /// What flushing answers.
    ///
    /// # Errors
    /// The append that failed.
    pub fn flush(&self) -> Result<(), OpError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Appends an entry; answers its id.
    ///
    /// # Errors
    /// An earlier append failed; no id was free.
    pub fn append(&mut self, content: Content) -> Result<JsString, OpError> {
        self.append_with(|_, _| content)
    }

    /// Appends a message of an extension; see [`Content::custom_message`].
    ///
    /// # Errors
    /// As [`Manager::append`].
    pub fn append_custom_message(&mut self, fields: &Value, observation: Option<Value>) -> Result<JsString, OpError> {
        self.append_with(|session, id| {
            let observation = observation.or_else(|| is_irc(fields).then(|| Value::string(format!("session:{session}:entry:{id}"))));
            Content::custom_message(fields, observation)
        })
    }

    /// Appends what `content` makes of the session's id and the entry's.
    fn append_with(&mut self, content: impl FnOnce(&str, &JsString) -> Content) -> Result<JsString, OpError> {
        self.flush()?;
        let id = self.entry_id()?;
        let session = self.session.entries().first().and_then(|header| header.str_member("id")).unwrap_or_default().into_owned();
        let content = content(&JsStr::from_wtf8(&session).to_string_lossy(), &id);
        let entry = content.entry(Envelope { id: id.clone(), parent: self.session.leaf().clone(), timestamp: self.world.now() });
        self.session.append(entry, &mut self.store);
        Ok(id)
    }

    fn entry_id(&mut self) -> Result<JsString, OpError> {
        let id = (0..ID_ATTEMPTS).map(|_| self.world.next_id()).find(|id| !self.known.contains(id));
        let id = id.ok_or_else(|| OpError::plain("Unable to generate a unique session entry id".to_owned()))?;
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

    /// Moves the leaf to an entry; the next entry is its child.
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
    /// There is no such entry; as [`Manager::append`].
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

    fn must_exist(&self, id: &Value) -> Result<(), OpError> {
        match id {
            Value::String(text) if self.known.contains(text) => Ok(()),
            Value::String(text) => Err(OpError::plain(format!("Entry {text} not found"))),
            other => Err(OpError::plain(format!("Entry {} not found", crate::json::stringify::to_text(other)))),
        }
    }

    /// Gives the session a name. False when nothing came of it.
    ///
    /// # Errors
    /// An earlier append failed.
    pub fn set_name(&mut self, name: JsStr<'_>, source: NameSource) -> Result<bool, OpError> {
        self.flush()?;
        Ok(self.session.set_name(name, source, &mut self.store))
    }
    /// Rewrites the transcript.
    ///
    /// # Errors
    /// An earlier append failed.
    pub fn rewrite(&mut self) -> Result<(), OpError> {
        self.flush()?;
        self.session.rewrite(&mut self.store);
        Ok(())
    }
    /// Makes sure that there is a transcript.
    ///
    /// # Errors
    /// An earlier append failed.
    pub fn ensure_on_disk(&mut self) -> Result<(), OpError> {
        self.flush()?;
        self.session.ensure_on_disk(&mut self.store);
        Ok(())
    }

    /// Leaves the current session and begins a new one.
    pub fn new_session(&mut self, parent_session: Option<Value>) {
        let (path, header) = fresh(&mut self.world, &self.place, parent_session);
        let session = Opened::create(header, Vec::new(), &mut self.store, self.place.release);
        self.known = BTreeSet::new();
        self.go_to(path, session);
    }

    /// Leaves the current session for a new one with the path to an entry: labels are taken out of the path, not out of
    /// the chain of parents (the entry behind one then has a parent that does not exist), and written anew at its end.
    ///
    /// # Errors
    /// There is no such entry; no id was free.
    pub fn branched_session(&mut self, leaf: &Value) -> Result<(), OpError> {
        self.must_exist(leaf)?;
        let mut ids = Ids::default();
        let values = Values::new(self.session.entries(), &mut ids);
        let tree = Tree::new(&values);
        let leaf = ids.find(&leaf.as_str().unwrap_or_default()).and_then(|id| tree.find(id));
        let path = leaf.map(|leaf| tree.path(leaf).entries).unwrap_or_default();
        let is_label = |entry: usize| values.kind(entry) == crate::transcript::EntryKind::Label;
        let kept: Vec<usize> = path.into_iter().filter(|entry| !is_label(*entry)).collect();
        let mut taken_over: Vec<_> =
            kept.iter().map(|entry| (self.session.entries()[*entry].clone(), self.session.origin(*entry))).collect();

        let on_path: BTreeSet<JsString> = taken_over.iter().filter_map(|(entry, _)| id_of(entry)).collect();
        let labels = labels(self.session.entries());
        let mut parent = taken_over.last().and_then(|(entry, _)| entry.member("id")).cloned().unwrap_or_default();
        self.known = on_path.clone();
        for (target, label) in labels.into_iter().filter(|(target, _)| on_path.contains(target)) {
            let id = self.entry_id()?;
            let envelope =
                Envelope { id: id.clone(), parent: std::mem::replace(&mut parent, Value::String(id)), timestamp: self.world.now() };
            let entry = Content::label(Value::String(target), Some(label)).entry(envelope);
            taken_over.push((entry, crate::transcript::persist::settle::Origin::Session));
        }
        let (path, header) = fresh(&mut self.world, &self.place, Some(Value::string(self.path.clone())));
        let session = Opened::create(header, taken_over, &mut self.store, self.place.release);
        self.go_to(path, session);
        Ok(())
    }

    fn go_to(&mut self, path: String, session: Opened) {
        let left = std::mem::replace(&mut self.session, session);
        let on_disk = left.on_disk();
        let bytes = left.close(&mut self.store);
        let left_path = std::mem::replace(&mut self.path, path);
        if on_disk {
            self.earlier.push((left_path, bytes));
        }
    }

    /// Closes the current session, which rewrites a transcript of an older version; answers its bytes, where there is a
    /// file, and the blob store.
    ///
    /// # Errors
    /// An earlier append failed.
    pub fn close(mut self) -> (Result<(), OpError>, Option<Vec<u8>>, S) {
        let result = self.flush();
        let on_disk = self.session.on_disk();
        let bytes = if result.is_ok() { self.session.close(&mut self.store) } else { self.session.file().to_vec() };
        (result, on_disk.then_some(bytes), self.store)
    }
}

fn id_of(entry: &Value) -> Option<JsString> {
    entry.str_member("id").map(|id| JsString::from_wtf8(id.into_owned()))
}

/// The labels in force, in the order in which their targets were first labelled (spec 01 §7.1).
fn labels(entries: &[Value]) -> IndexMap<JsString, Value> {
    let mut labels = IndexMap::new();
    for entry in entries.iter().filter(|entry| entry.member("type").is_some_and(|kind| kind.is_str("label"))) {
        let Some(Value::String(target)) = entry.member("targetId") else { continue };
        match entry.member("label").filter(|label| label.truthy()) {
            Some(label) => {
                labels.insert(target.clone(), label.clone());
            }
            None => {
                labels.shift_remove(target);
            }
        }
    }
    labels
}

/// Path and header of a new session: one instant names both.
fn fresh<W: World>(world: &mut W, place: &Place, parent_session: Option<Value>) -> (String, Value) {
    let (id, now) = (world.session_id(), world.now());
    let path = format!("{}/{}_{id}.jsonl", place.directory, now.to_string().replace([':', '.'], "-"));
    (path, Content::header(place.release, id, now, &place.cwd, parent_session))
}
