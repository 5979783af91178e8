//! Sessions that come from another one: new, branched, forked, moved (spec 04 §9.1 to §9.5).

use super::carry;
use super::content::Lineage;
use super::manager::{Manager, OpError, OpenError, World, fresh, id_of};
use super::place::Place;
use super::storage::{SessionStorage, artifacts_directory, join, split};
use crate::agent::identity::NoIdentity;
use crate::agent::layout::TRANSCRIPT_SUFFIX;
use crate::agent::legacy::{Surroundings, known_names};
use crate::json::{JsString, Value};
use crate::transcript::EntryKind;
use crate::transcript::blobs::BlobStore;
use crate::transcript::inspect::{EAGER_MAX, Reason};
use crate::transcript::load::{Whole, load};
use crate::transcript::migrate::migrate;
use crate::transcript::open::NOT_A_CANDIDATE;
use crate::transcript::persist::settle::{Origin, first_missing};
use crate::transcript::persist::{Destination, Opened, Refusal, sanitise};
use crate::transcript::readers::candidate::{WINDOW, header};
use crate::transcript::readers::managed;

/// What a session without a file cannot do.
const IN_MEMORY: &str = "Cannot fork an in-memory session";
/// What a place without files cannot begin with.
pub(super) const NOT_PERSISTENT: &str = "--fork requires session persistence";
/// What strict decoding says.
const NOT_UTF8: &str = "The encoded data was not valid for encoding utf-8";
/// What waits for the end of a response.
const STREAMING: &str = "Cannot fork while a response is streaming";

/// What became of the artifacts of a session that was forked or moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Artifacts {
    /// There are none.
    None,
    /// They are at the successor.
    Taken,
}

impl Artifacts {
    const fn taken(taken: bool) -> Self {
        if taken { Artifacts::Taken } else { Artifacts::None }
    }
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

    /// Leaves the current session for a new one with the path to an entry, which is written at once; see [`Manager::path_to`].
    /// A failure of persistence goes along, and so does that the user named the session, and that entries wait for an answer
    /// where they did before.
    ///
    /// # Errors
    /// There is no such entry; no id was free; the current session cannot be closed, or the new one not written.
    pub fn branched_session(&mut self, leaf: &Value) -> Result<(), OpError> {
        self.must_exist(leaf)?;
        let taken_over = self.path_to(leaf)?;
        let parent = self.session_file().map(Value::string);
        let (path, header) = fresh(&mut self.world, &self.place, parent.into());
        let mut session = self.successor(header, taken_over);
        session.ensure_on_disk(&mut self.blobs);
        if !self.session.on_disk() {
            session.wait_again();
        }
        let (failed, named_by_user) = (self.failed.clone(), self.named_by_user);
        self.install(path, session)?;
        (self.failed, self.named_by_user) = (failed, named_by_user);
        Ok(())
    }

    /// Forks the running session: a new file with all entries of all branches, under a fresh id, with the title and the
    /// artifacts, which becomes the current one. Blobs are shared. The artifacts come first, and are looked at once more when
    /// the transcript stands (spec 04 §9.3).
    ///
    /// # Errors
    /// There is no file to fork; a response streams; persistence failed; what cannot be copied is not forked either. The
    /// current session stays then, and nothing is left of the fork.
    pub fn fork(&mut self) -> Result<Artifacts, OpError> {
        if self.place.destination() == Destination::Nowhere {
            return Err(OpError::plain(IN_MEMORY));
        }
        if self.streaming {
            return Err(OpError::plain(STREAMING));
        }
        self.flush()?;
        self.leave()?;
        let of = |key| self.session.entries().first().and_then(|header| header.member(key)).cloned();
        let lineage = Lineage { parent_session: of("id"), title: [of("title"), of("titleSource")], title_first: true };
        let entries = self.session.entries().iter().enumerate().filter(|(_, entry)| !EntryKind::of(*entry).is_header());
        let taken_over = entries.map(|(number, entry)| (entry.clone(), self.session.origin(number))).collect();
        let (path, header) = fresh(&mut self.world, &self.place, lineage);
        let mut session = self.successor(header, taken_over);
        session.ensure_on_disk(&mut self.blobs);
        session.take_written();
        let names = self.names.name();
        let (from, to) = (artifacts_directory(&self.path), artifacts_directory(&path));
        let artifacts = carry::fork_artifacts(self.storage, from, to, &names)?;
        let managed = self.place.destination() == Destination::Managed;
        carry::publish_fork(self.storage, &path, session.file(), managed, artifacts.as_ref())?;
        self.replace(path, session);
        Ok(Artifacts::taken(artifacts.is_some()))
    }

    /// Begins a manager with a fork of the transcript at `source`, read leniently: lines that are no JSON are skipped, unknown
    /// types are taken over, a file without a header gives an empty session without a parent (spec 04 §9.4). Its artifacts stay
    /// where they are. What is inside the sessions root of a managed place must be valid UTF-8, and a managed candidate where it
    /// is in another folder than the fork. For a larger one see [`super::large_fork`].
    ///
    /// # Errors
    /// The file cannot be read, or is too large to be read as a whole; its version is not supported; a blob is missing. Then no
    /// file is left behind.
    pub fn fork_from(mut world: W, blobs: B, storage: &'s dyn SessionStorage, place: Place, source: &str) -> Result<Self, OpenError> {
        let (lineage, taken_over) = read_to_fork(&mut world, &blobs, storage, &place, source)?;
        let mut manager = Manager::begin(world, blobs, storage, place, lineage, taken_over)?;
        manager.ensure_on_disk()?;
        Ok(manager)
    }

    /// Leaves the current session for a fork of another transcript; as [`Manager::fork_from`].
    ///
    /// # Errors
    /// As [`Manager::fork_from`]; the current session cannot be closed. It stays then.
    pub fn fork_file(&mut self, source: &str) -> Result<(), OpenError> {
        let (lineage, taken_over) = read_to_fork(&mut self.world, &self.blobs, self.storage, &self.place, source)?;
        let (path, header) = fresh(&mut self.world, &self.place, lineage);
        let mut session = self.successor(header, taken_over);
        session.ensure_on_disk(&mut self.blobs);
        Ok(self.install(path, session)?)
    }

    /// Moves the session to another workspace: its file and its artifacts to the place of it, under their names, and the `cwd`
    /// of its header. The workspace that it has already is nothing to do. From one managed place to another copies are
    /// published and verified before the source is taken away; else both are renamed (spec 04 §9.5).
    ///
    /// # Errors
    /// Something stands at the destination, or the copy is not what was copied: then the session is where it was. When the
    /// header cannot be written, a managed session is put back (its copy at the destination stays); another one is at the
    /// destination, and the failure stays.
    pub fn move_to(&mut self, place: Place) -> Result<Artifacts, OpError> {
        if place.cwd() == self.place.cwd() {
            return Ok(Artifacts::None);
        }
        let breadcrumb = self.place.breadcrumb().map(str::to_owned);
        let place = breadcrumb.into_iter().fold(place, Place::at_terminal);
        let cwd = Value::string(place.cwd());
        let path = join(place.directory(), split(&self.path).1);
        let storage = self.storage;
        let managed = [&self.place, &place].iter().all(|place| place.destination() == Destination::Managed);
        let mut carried = None;
        let mut artifacts = Artifacts::None;
        if self.session_file().is_some() {
            place.prepare(storage)?;
            self.flush()?;
            self.release_writer()?;
            if managed {
                let carried = carried.insert(carry::carry(storage, &self.path, &path)?);
                artifacts = Artifacts::taken(carried.has_artifacts());
            } else if path != self.path {
                artifacts = self.rename_to(&path)?;
            }
        }
        let session = self.session.clone();
        let old_path = std::mem::replace(&mut self.path, path);
        let old_place = std::mem::replace(&mut self.place, place);
        if let Err(error) = self.operate(|session, blobs| session.set_cwd(cwd, blobs)) {
            let Some(carried) = carried else { return Err(error) };
            carried.put_back(storage, &old_path, &self.path).map_err(|second| carry::not_rolled_back(&second))?;
            // What is known of the writer's file ends with it: the session is another file's again.
            self.abandon_writer();
            (self.path, self.place, self.session, self.failed) = (old_path, old_place, session, None);
            return Err(error);
        }
        self.leave_breadcrumb();
        Ok(artifacts)
    }

    /// Gives the session's file and its artifacts other names, where nothing stands; both or none.
    fn rename_to(&mut self, path: &str) -> Result<Artifacts, OpError> {
        let storage = self.storage;
        let is_there = storage.exists(&self.path)?;
        if is_there {
            storage.rename_no_replace(&self.path, path)?;
        }
        let (from, to) = (artifacts_directory(&self.path), artifacts_directory(path));
        // A tree that cannot be looked through is moved all the same.
        if matches!(storage.tree(from), Ok(None)) {
            return Ok(Artifacts::None);
        }
        if let Err(error) = storage.rename_no_replace(from, to) {
            if is_there && let Err(second) = storage.rename_no_replace(path, &self.path) {
                // The session follows its file.
                self.path = path.to_owned();
                return Err(OpError::plain(format!("{error}; the transcript stays at {path}: {second}")));
            }
            return Err(error.into());
        }
        Ok(Artifacts::Taken)
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

/// A session to be forked: its lineage, and its entries.
type ToFork = (Lineage, Vec<(Value, Origin)>);

/// Reads the transcript at `source` for a fork at `place`, as [`Manager::fork_from`] says.
fn read_to_fork<W: World>(
    world: &mut W,
    blobs: &impl BlobStore,
    storage: &dyn SessionStorage,
    place: &Place,
    source: &str,
) -> Result<ToFork, OpenError> {
    if place.destination() == Destination::Nowhere {
        return Err(OpError::plain(NOT_PERSISTENT).into());
    }
    let inside = place.sessions_root().is_some_and(|root| source.strip_prefix(root).is_some_and(|rest| rest.starts_with('/')));
    let size = storage.stat(source)?.size;
    if size > EAGER_MAX {
        return Err(Refusal::Inspection(Reason::Oversized { size }).into());
    }
    let bytes = storage.read(source)?;
    if inside && split(source).0 != place.directory() {
        must_be_candidate(storage, place, source, &bytes)?;
    }
    let mut text = &bytes[..];
    if inside {
        if std::str::from_utf8(text).is_err() {
            return Err(OpError { class: "TypeError", message: NOT_UTF8.to_owned() }.into());
        }
        // Strict decoding takes one mark away.
        text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    }
    let thrown = |throw: crate::transcript::Throw| OpError::plain(throw.to_string());
    let mut loaded = load(text, Whole, place.release()).map_err(|error| OpError::plain(error.to_string()))?.map_err(thrown)?;
    if !loaded.entries.is_empty() {
        migrate(&mut loaded, world).map_err(thrown)?;
    }
    let of = |key| loaded.entries.first().and_then(|header| header.member(key)).cloned();
    let lineage = Lineage { parent_session: of("id"), title: [of("title"), of("titleSource")], title_first: false };
    let session_id = loaded.entries.first().and_then(id_of);
    let mut entries: Vec<Value> = loaded.entries.into_iter().filter(|entry| !EntryKind::of(entry).is_header()).collect();
    must_have_blobs(&entries, blobs, place, session_id.as_ref(), source)?;
    for entry in &mut entries {
        sanitise(entry);
    }
    Ok((lineage, entries.into_iter().map(|entry| (entry, Origin::File)).collect()))
}

/// Refuses a transcript in another folder of the sessions root that the listing of its workspace does not name. What an older
/// layout holds is listed where its name is one of its workspace's (spec 02 §5.3; 04 §9.4). The copy into a scope that gjc makes
/// of such a session before it forks it is left to gjc: the fork is the same without it.
fn must_be_candidate(storage: &dyn SessionStorage, place: &Place, source: &str, bytes: &[u8]) -> Result<(), OpError> {
    let inspected = managed::inspect(bytes).map_err(|error| OpError::plain(error.to_string()))?;
    if inspected.verdict.is_err() {
        return Err(OpError::plain("Could not inspect managed session: malformed"));
    }
    // Without a workspace the listing is not asked.
    let Some(cwd) = inspected.header_cwd.filter(|cwd| !cwd.is_empty()) else { return Ok(()) };
    let cwd = String::from_utf8_lossy(&cwd).into_owned();
    let identity = storage.workspace(&cwd).map_err(no_scope)?;
    let (directory, name) = split(source);
    let (root, folder) = split(directory);
    let known = || known_names(&identity.canonical_path, &cwd, &Surroundings::default());
    let listed = place.sessions_root() == Some(root) && (folder == identity.directory_name() || known().iter().any(|name| name == folder));
    let first = bytes.get(..WINDOW.min(bytes.len())).unwrap_or_default();
    if listed && name.ends_with(TRANSCRIPT_SUFFIX) && header(first).is_ok() { Ok(()) } else { Err(OpError::plain(NOT_A_CANDIDATE)) }
}

/// The error of a workspace without a scope.
pub(super) fn no_scope(why: NoIdentity) -> OpError {
    let why = match why {
        NoIdentity::NotFound => "The workspace directory does not exist.",
        NoIdentity::NotDirectory => "The workspace path is not a directory.",
        other => other.token(),
    };
    OpError::plain(format!("Could not resolve managed session scope: {why}"))
}
