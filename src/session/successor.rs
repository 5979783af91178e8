//! Sessions that come from another one: new, branched, forked, moved (spec 04 §9.1 to §9.5).

use super::content::Lineage;
use super::manager::{Manager, OpError, OpenError, World, fresh, id_of};
use super::place::Place;
use super::storage::{SessionStorage, StorageError, artifacts_directory, join, split};
use crate::json::{JsString, Value};
use crate::transcript::EntryKind;
use crate::transcript::blobs::BlobStore;
use crate::transcript::load::{Whole, load};
use crate::transcript::migrate::migrate;
use crate::transcript::persist::settle::{Origin, first_missing};
use crate::transcript::persist::{Destination, Opened};

/// What a session without a file cannot do.
const IN_MEMORY: &str = "Cannot fork an in-memory session";
/// What waits for the end of a response.
const STREAMING: &str = "Cannot fork while a response is streaming";

/// What became of the artifacts of a session that was forked or moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Artifacts {
    /// There are none.
    None,
    /// They are at the successor.
    Taken,
    /// They are not, and the successor is complete without them: the reason.
    Left(StorageError),
}

impl<'s, W: World, B: BlobStore> Manager<'s, W, B> {
    /// Leaves the current session and begins a new one.
    ///
    /// # Errors
    /// The current session cannot be closed; it stays.
    pub fn new_session(&mut self, parent_session: Option<Value>) -> Result<(), OpError> {
        let (path, header) = fresh(&mut self.world, &self.place, parent_session.into());
        let session = self.successor(header, Vec::new());
        self.install(path, session)
    }

    /// Leaves the current session for a new one with the path to an entry; see [`Manager::path_to`].
    ///
    /// # Errors
    /// There is no such entry; no id was free; the current session cannot be closed, or the new one not written.
    pub fn branched_session(&mut self, leaf: &Value) -> Result<(), OpError> {
        self.must_exist(leaf)?;
        let taken_over = self.path_to(leaf)?;
        let parent = self.session_file().map(Value::string);
        let (path, header) = fresh(&mut self.world, &self.place, parent.into());
        let session = self.successor(header, taken_over);
        self.install(path, session)
    }

    /// Forks the running session: a new file with all entries of all branches, under a fresh id, with the title and the
    /// artifacts, which becomes the current one. Blobs are shared.
    ///
    /// # Errors
    /// There is no file to fork; a response streams; persistence failed. What becomes of the artifacts is no error.
    pub fn fork(&mut self) -> Result<Artifacts, OpError> {
        if self.place.destination() == Destination::Nowhere {
            return Err(OpError::plain(IN_MEMORY));
        }
        if self.streaming {
            return Err(OpError::plain(STREAMING));
        }
        self.flush()?;
        let source = self.path.clone();
        let of = |key| self.session.entries().first().and_then(|header| header.member(key)).cloned();
        let lineage = Lineage { parent_session: of("id"), title: [of("title"), of("titleSource")], title_first: true };
        let entries = self.session.entries().iter().enumerate().filter(|(_, entry)| !EntryKind::of(*entry).is_header());
        let taken_over = entries.map(|(number, entry)| (entry.clone(), self.session.origin(number))).collect();
        let (path, header) = fresh(&mut self.world, &self.place, lineage);
        let mut session = self.successor(header, taken_over);
        session.ensure_on_disk(&mut self.blobs);
        self.install(path.clone(), session)?;
        let names = self.names.name();
        Ok(match fork_artifacts(self.storage, artifacts_directory(&source), artifacts_directory(&path), &names) {
            Ok(false) => Artifacts::None,
            Ok(true) => Artifacts::Taken,
            Err(error) => Artifacts::Left(error),
        })
    }

    /// Begins a manager with a fork of the transcript at `source`, read leniently: lines that are no JSON are skipped, unknown
    /// types are taken over, a file without a header gives an empty session without a parent (spec 04 §9.4). Its artifacts stay
    /// where they are.
    ///
    /// # Errors
    /// The file cannot be read; its version is not supported; a blob is missing. Then no file is left behind.
    pub fn fork_from(mut world: W, blobs: B, storage: &'s dyn SessionStorage, place: Place, source: &str) -> Result<Self, OpenError> {
        let bytes = storage.read(source)?;
        let thrown = |throw: crate::transcript::Throw| OpError::plain(throw.to_string());
        let mut loaded = load(&bytes[..], Whole, place.release()).map_err(|error| OpError::plain(error.to_string()))?.map_err(thrown)?;
        if !loaded.entries.is_empty() {
            migrate(&mut loaded, &mut world).map_err(thrown)?;
        }
        let of = |key| loaded.entries.first().and_then(|header| header.member(key)).cloned();
        let lineage = Lineage { parent_session: of("id"), title: [of("title"), of("titleSource")], title_first: false };
        let session_id = loaded.entries.first().and_then(id_of);
        let entries: Vec<Value> = loaded.entries.into_iter().filter(|entry| !EntryKind::of(entry).is_header()).collect();
        must_have_blobs(&entries, &blobs, &place, session_id.as_ref(), source)?;
        let taken_over: Vec<_> = entries.into_iter().map(|entry| (entry, Origin::File)).collect();
        let empty = taken_over.is_empty();
        let mut manager = Manager::begin(world, blobs, storage, place, lineage, taken_over)?;
        if !empty {
            manager.ensure_on_disk()?;
        }
        Ok(manager)
    }

    /// Moves the session to another workspace: its file and its artifacts to the place of it, under their names, and the `cwd`
    /// of its header. The workspace that it has already is nothing to do.
    ///
    /// # Errors
    /// Something stands at the destination (then the session is where it was); the copy of a managed session is not what was
    /// copied; persistence failed.
    pub fn move_to(&mut self, place: Place) -> Result<Artifacts, OpError> {
        if place.cwd() == self.place.cwd() {
            return Ok(Artifacts::None);
        }
        place.prepare(self.storage)?;
        let cwd = Value::string(place.cwd());
        let path = join(place.directory(), split(&self.path).1);
        let mut artifacts = Artifacts::None;
        if self.session.on_disk() && path != self.path {
            self.flush()?;
            self.release_writer()?;
            let (from, to) = (artifacts_directory(&self.path).to_owned(), artifacts_directory(&path).to_owned());
            let managed = self.place.destination() == Destination::Managed && place.destination() == Destination::Managed;
            let storage = self.storage;
            if storage.exists(&to)? || storage.exists(&path)? {
                return Err(StorageError::token("destination_conflict").into());
            }
            if managed {
                copy_and_retire(storage, &self.path, &path)?
            } else {
                storage.rename_no_replace(&self.path, &path)?
            }
            // The session has moved; artifacts that cannot follow stay, and are said to.
            if storage.tree(&from).is_ok_and(|tree| tree.is_some()) {
                artifacts = storage.rename_no_replace(&from, &to).map_or_else(Artifacts::Left, |()| Artifacts::Taken);
            }
        }
        self.path = path;
        self.place = place;
        self.operate(|session, blobs| session.set_cwd(cwd, blobs))?;
        Ok(artifacts)
    }

    /// A session with a fresh header.
    fn successor(&mut self, header: Value, taken_over: Vec<(Value, Origin)>) -> Opened {
        Opened::create(self.place.destination(), header, taken_over, &mut self.blobs, self.place.release())
    }
}

/// Refuses entries that refer to a missing blob (spec 04 §5.7).
pub(super) fn must_have_blobs<'e>(
    entries: impl IntoIterator<Item = &'e Value>,
    blobs: &impl BlobStore,
    place: &Place,
    session: Option<&JsString>,
    path: &str,
) -> Result<(), OpError> {
    let missing = entries.into_iter().find_map(|entry| first_missing(entry, blobs, place.release()));
    missing.map_or(Ok(()), |missing| {
        let session = session.map(|id| format!(" (session {id})")).unwrap_or_default();
        let message = format!("Missing resident {} blob: {}{session} [{path}]", missing.kind, missing.hash);
        Err(OpError { class: "ResidentBlobMissingError", message })
    })
}

/// Publishes a copy of a managed transcript without replacing anything, verifies it, and removes the source (spec 04 §9.5).
fn copy_and_retire(storage: &dyn SessionStorage, from: &str, to: &str) -> Result<(), StorageError> {
    let source = storage.read_snapshot(from)?;
    storage.publish(to, &source.bytes)?;
    if !storage.exists(to)? {
        return Err(StorageError::token("managed_transcript_publish_missing"));
    }
    if storage.read(to)? != source.bytes {
        return Err(StorageError::token("managed_move_destination_transcript_changed"));
    }
    if storage.read_snapshot(from)? != source {
        storage.unlink(to)?;
        return Err(StorageError::token("artifact_source_changed"));
    }
    // Two transcripts of one id, the newer one here, are what is left when this fails: the move stands.
    let _ = storage.unlink(from);
    Ok(())
}

/// Copies the artifacts of a session to those of its fork, without what can be derived again; answers whether there were any
/// (spec 04 §9.3).
fn fork_artifacts(storage: &dyn SessionStorage, from: &str, to: &str, name: &str) -> Result<bool, StorageError> {
    let Some(source) = storage.tree(from)? else { return Ok(false) };
    if storage.exists(to)? || storage.tree(to)?.is_some() {
        return Err(StorageError::token("destination_conflict"));
    }
    let (directory, base) = split(to);
    let staging = join(directory, &format!(".{base}.{name}.fork-staging"));
    let copied = copy_tree(storage, from, &staging).and_then(|copied| {
        if storage.tree(from)?.as_ref() != Some(&source) {
            return Err(StorageError::token("artifact_source_changed"));
        }
        // Where there is nothing but what can be derived again no directory is published.
        if copied {
            storage.rename_no_replace(&staging, to)?
        } else {
            _ = storage.remove_tree(&staging)?
        }
        Ok(copied)
    });
    if copied.is_err() {
        // A staging directory that stays is residue, not another error.
        let _ = storage.remove_tree(&staging);
    }
    copied
}

/// Copies a tree file by file and compares what arrived; answers whether there was a file.
fn copy_tree(storage: &dyn SessionStorage, from: &str, to: &str) -> Result<bool, StorageError> {
    let mut copied = false;
    for node in storage.tree(from)?.unwrap_or_default() {
        let first = node.relative.split('/').next().unwrap_or_default();
        if first == "resident-cache" || node.relative.contains(".session-memory.spill") || node.relative.contains(".spill.") {
            continue;
        }
        let target = join(to, &node.relative);
        if node.is_directory {
            storage.ensure_dir(&target)?;
            continue;
        }
        let bytes = storage.read(&join(from, &node.relative))?;
        storage.publish(&target, &bytes)?;
        if storage.read(&target)? != bytes {
            return Err(StorageError::token("artifact_destination_terminal_mismatch"));
        }
        copied = true;
    }
    Ok(copied)
}
