//! The managed listing: discovery, validation of each file, retirement, matching of committed receipts, states
//! (spec 02 §5.2, §5.3, §7, §9.3). Reads only; every answer says what gjc would make of the tree as it is.

use super::artifacts;
use super::identity::{Identity, NoIdentity};
use super::layout;
use super::legacy;
use super::migration_receipt::{self, Clause, Evidence, Side};
use super::record::{TranscriptIdentity, TreeEntry};
use super::tombstone;
pub use super::tombstone::Provenance;
use super::world::{Scope, World};
use crate::finding::{Difference, Release};
use crate::fsys::{Bound, Captured, Errno, Error, Fs, Kind, Meta, Refusal, Watched, capture, closing};
use crate::json::view::View;
use crate::json::{JsString, Value};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// The header must end within this many bytes.
pub const PREFLIGHT_BYTES: u64 = 65_536;
/// Larger protocol files are not read; no record of gjc comes near (the replay budget stops at the same size).
pub const RECORD_CEILING: u64 = 64 << 20;

/// Candidates that go from list to list. There may be a hundred thousand: boxed, none is copied on the way.
pub type Candidates = Vec<Box<Candidate>>;

/// A transcript that a listing owns.
#[derive(Debug)]
pub struct Candidate {
    /// Where it lies.
    pub path: PathBuf,
    /// Header id.
    pub session_id: JsString,
    /// Header cwd, as written; shared by all that are kept of one workspace.
    pub cwd: Arc<JsString>,
    /// Scope directory or legacy directory.
    pub provenance: Provenance,
    /// Its facts when it was examined.
    pub meta: Meta,
    /// The hash of the whole file: asked for only where a record could name this very file.
    sha256: OnceLock<Box<Result<String, Refusal>>>,
}

impl Candidate {
    /// Reads id and cwd of one file, whatever workspace it belongs to.
    ///
    /// # Errors
    /// What the capture refuses; a header that is none counts as changed.
    pub fn read(fs: &dyn Fs, path: &Path, provenance: Provenance) -> Result<Self, Refusal> {
        let Captured { bytes, meta } = capture(fs, path, Bound::Prefix(PREFLIGHT_BYTES))?;
        let (session_id, cwd) = read_header(&bytes).map_err(|_| Refusal::Changed(vec!["header"]))?;
        Ok(Candidate { path: path.to_owned(), session_id, cwd: Arc::new(cwd), provenance, meta, sha256: OnceLock::new() })
    }
    /// The whole identity; reads and hashes the file on the first call.
    ///
    /// # Errors
    /// What the capture refuses.
    pub fn identity(&self, fs: &dyn Fs) -> Result<TranscriptIdentity, Refusal> {
        let sha256 = self.sha256.get_or_init(|| Box::new(hash_unchanged(fs, &self.path, &self.meta)));
        let sha256 = (**sha256).clone()?;
        Ok(TranscriptIdentity::of(path_text(&self.path), self.session_id.clone(), &self.meta, sha256))
    }
    /// What it counts as when its header's directory has no identity.
    pub fn without_workspace(&self, why: NoIdentity) -> Invalid {
        Invalid {
            path: self.path.clone(),
            code: why.candidate_code(),
            session_id: Some(self.session_id.to_string()).filter(|id| is_session_id(id)),
            detail: format!("its header names the directory {}: {}", self.cwd, why.token()),
            cwd: Some((*self.cwd).clone()),
            transient: false,
        }
    }
    /// The artifact directory.
    pub fn artifacts(&self) -> PathBuf {
        artifacts_of(&self.path)
    }
}

/// The transcript path without its last six bytes.
pub fn artifacts_of(transcript: &Path) -> PathBuf {
    let bytes = transcript.as_os_str().as_bytes();
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes.get(..bytes.len().saturating_sub(6)).unwrap_or_default()))
}

/// A path as JavaScript holds it: bytes that are no UTF-8 become U+FFFD.
pub fn path_text(path: &Path) -> JsString {
    JsString::from(path.to_string_lossy().into_owned())
}

fn hash_unchanged(fs: &dyn Fs, path: &Path, expected: &Meta) -> Result<String, Refusal> {
    use sha2::{Digest, Sha256};
    let mut watched = Watched::open(fs, path)?;
    if !watched.meta().same_state(expected) {
        return Err(Refusal::Changed(expected.drift(&watched.meta())));
    }
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        let read = watched.read(&mut block).map_err(|error| Refusal::Failed(watched.read_error(&error)))?;
        match block.get(..read) {
            Some([]) | None => break,
            Some(bytes) => hash.update(bytes),
        }
    }
    watched.finish()?;
    Ok(data_encoding::HEXLOWER.encode(&hash.finalize()))
}

/// What the listing makes of one `.jsonl` entry.
#[derive(Debug)]
pub enum Examined {
    /// It belongs to the scope.
    Owned(Candidate),
    /// Its header names another workspace.
    Foreign {
        /// Where it lies.
        path: PathBuf,
        /// Header cwd.
        cwd: JsString,
        /// The workspace it belongs to.
        workspace: String,
    },
    /// It does not count.
    Invalid(Invalid),
}

/// A file that the listing reports as invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    /// Where it lies.
    pub path: PathBuf,
    /// gjc's code (spec 02 §10.3).
    pub code: &'static str,
    /// The session id that the newest release attaches.
    pub session_id: Option<String>,
    /// What was found, for people.
    pub detail: String,
    /// The directory of its header, when that is what has no identity.
    pub cwd: Option<JsString>,
    /// The tree moved while we looked, or an operation failed: nothing is said of the file by that.
    pub transient: bool,
}

/// Remembers identities of header cwds: thousands of transcripts name the same few.
#[derive(Default)]
pub struct Cwds(Mutex<BTreeMap<JsString, Known>>);

/// A header cwd that was met before.
struct Known {
    text: Arc<JsString>,
    found: Result<Arc<Identity>, NoIdentity>,
}

impl Cwds {
    /// The identity of a header cwd.
    ///
    /// # Errors
    /// The native code.
    pub fn identity(&self, world: &World<'_>, cwd: &JsString) -> Result<Arc<Identity>, NoIdentity> {
        self.of(cwd, |cwd| world.identity(cwd))
    }
    /// The same, where the file system is asked in some other way.
    ///
    /// # Errors
    /// The native code.
    pub fn of(&self, cwd: &JsString, ask: impl FnOnce(&Path) -> Result<Identity, NoIdentity>) -> Result<Arc<Identity>, NoIdentity> {
        if let Some(known) = self.0.lock().ok().and_then(|known| known.get(cwd.as_bytes()).map(|known| known.found.clone())) {
            return known;
        }
        let found = ask(Path::new(&*cwd.as_js().to_string_lossy())).map(Arc::new);
        if let Ok(mut known) = self.0.lock() {
            known.insert(cwd.clone(), Known { text: Arc::new(cwd.clone()), found: found.clone() });
        }
        found
    }
    /// The text of a cwd that was asked for before, once for all that have it.
    pub fn shared(&self, cwd: &JsString) -> Option<Arc<JsString>> {
        self.0.lock().ok().and_then(|known| known.get(cwd.as_bytes()).map(|known| Arc::clone(&known.text)))
    }
}

/// Id and cwd of a header line (spec 02 §5.3 steps 1a to 1c).
///
/// # Errors
/// gjc's code, and what was found.
pub fn read_header(prefix: &[u8]) -> Result<(JsString, JsString), (&'static str, &'static str)> {
    use crate::transcript::readers::candidate::{Refusal, header};
    match header(prefix) {
        Ok(header) => Ok((JsString::from_wtf8(header.id), JsString::from_wtf8(header.cwd))),
        Err(Refusal::InvalidHeader) if prefix.is_empty() => Err(("invalid_header", "the file is empty")),
        Err(Refusal::InvalidHeader) if memchr::memchr(b'\n', prefix).is_none() => {
            Err(("invalid_header", "no line ends within the first 65,536 bytes"))
        }
        Err(Refusal::InvalidHeader) => Err(("invalid_header", "the first line is no session header with string id and cwd")),
        Err(Refusal::UnreadableCandidate) => Err(("unreadable_candidate", "the first line is not JSON")),
    }
}

/// Reads the header of one `.jsonl` entry of a visited directory, whatever workspace it belongs to (spec 02 §5.3 steps 1a to
/// 1c, 1e).
///
/// # Errors
/// Why it counts as invalid.
pub fn look(fs: &dyn Fs, release: Release, path: &Path, provenance: Provenance) -> Result<Candidate, Invalid> {
    look_into(fs, release, path, provenance).map(|(candidate, _)| candidate)
}

/// The same, with the first [`PREFLIGHT_BYTES`] of the file for who wants to see more of it.
///
/// # Errors
/// Why it counts as invalid.
pub fn look_into(fs: &dyn Fs, release: Release, path: &Path, provenance: Provenance) -> Result<(Candidate, Vec<u8>), Invalid> {
    let by_name = || {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.strip_suffix(layout::TRANSCRIPT_SUFFIX).map(str::to_owned).filter(|id| is_session_id(id))
    };
    let invalid = |code, detail, transient| Invalid { path: path.to_owned(), code, session_id: by_name(), detail, cwd: None, transient };
    if path.file_name().is_some_and(|name| name.to_str().is_none()) {
        // JavaScript reads such a name with U+FFFD in it and then finds no file of that name.
        return Err(invalid("unreadable_candidate", "its name is not UTF-8".to_owned(), false));
    }
    let Captured { bytes, meta } = capture(fs, path, Bound::Prefix(PREFLIGHT_BYTES)).map_err(|refusal| {
        // 0.15.0 called everything that the capture refuses unreadable.
        let changed = Difference::CandidateSourceChanged.in_effect(release) && !matches!(refusal, Refusal::Failed(_));
        let code = if changed { "source_changed" } else { "unreadable_candidate" };
        // A failing operation says as much of this process as of the file; the check of the transcript tells which.
        let detail = match &refusal {
            Refusal::Failed(error) if error.errno == Errno::LOOP => "is a symlink, and none is followed".to_owned(),
            Refusal::Failed(error) => format!("cannot be read: {} answers {}", error.op, error.token()),
            other => other.to_string(),
        };
        invalid(code, detail, refusal.is_transient() || matches!(refusal, Refusal::Failed(_)))
    })?;
    let (session_id, cwd) = read_header(&bytes).map_err(|(code, why)| invalid(code, why.to_owned(), false))?;
    Ok((Candidate { path: path.to_owned(), session_id, cwd: Arc::new(cwd), provenance, meta, sha256: OnceLock::new() }, bytes))
}

/// Examines one `.jsonl` entry of a visited directory (spec 02 §5.3).
pub fn examine(world: &World<'_>, scope: &Identity, path: &Path, provenance: Provenance, cwds: &Cwds) -> Examined {
    let candidate = match look(world.fs, world.release, path, provenance) {
        Ok(candidate) => candidate,
        Err(invalid) => return Examined::Invalid(invalid),
    };
    match cwds.identity(world, &candidate.cwd) {
        Ok(found) if *found == *scope => Examined::Owned(candidate),
        Ok(found) => {
            Examined::Foreign { path: candidate.path, cwd: Arc::unwrap_or_clone(candidate.cwd), workspace: found.canonical_path.clone() }
        }
        Err(why) => Examined::Invalid(candidate.without_workspace(why)),
    }
}

/// `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`
fn is_session_id(id: &str) -> bool {
    id.len() <= 128
        && id.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Migration state of a listed candidate (spec 02 §7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// In the scope, without a visible legacy partner.
    NativeV2,
    /// In a legacy directory.
    LegacyUnmigrated,
    /// In the scope, and a visible legacy source has a matching committed receipt naming it.
    MigratedV2,
}

impl State {
    /// gjc's word.
    pub const fn word(self) -> &'static str {
        match self {
            State::NativeV2 => "native_v2",
            State::LegacyUnmigrated => "legacy_unmigrated",
            State::MigratedV2 => "migrated_v2",
        }
    }
}

/// A candidate that the listing shows.
#[derive(Debug)]
pub struct Listed {
    /// The file.
    pub candidate: Box<Candidate>,
    /// Its state.
    pub state: State,
    /// The legacy source whose receipt names it, for `migrated_v2`.
    pub source: Option<PathBuf>,
}

/// Why an owned candidate is not shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hidden {
    /// A tombstone retires it.
    Retired {
        /// The tombstone file.
        tombstone: PathBuf,
    },
    /// A matching committed receipt names this v2 file as its copy.
    Shadowed {
        /// The v2 file.
        by: PathBuf,
        /// The receipt.
        receipt: PathBuf,
    },
}

/// The managed listing of one workspace.
#[derive(Debug, Default)]
pub struct Listing {
    /// Shown, in gjc's order of directories; within a directory sorted by name.
    pub owned: Vec<Listed>,
    /// Owned, but not shown.
    pub hidden: Vec<(Box<Candidate>, Hidden)>,
    /// Files of other workspaces: path, cwd text, workspace.
    pub foreign: Vec<(PathBuf, JsString, String)>,
    /// Files that do not count.
    pub invalid: Vec<Invalid>,
    /// Committed receipts that name a visible pair and do not match it.
    pub stale: Vec<Stale>,
    /// The directories visited besides the scope.
    pub legacy_directories: Vec<PathBuf>,
    /// How many unknown legacy directories were left out.
    pub beyond_limit: usize,
}

/// A committed receipt that names an owned source and an owned destination but does not match them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stale {
    /// The receipt.
    pub receipt: PathBuf,
    /// The legacy file.
    pub source: PathBuf,
    /// The v2 file.
    pub destination: PathBuf,
    /// The first broken clause of spec 02 §7.2.
    pub clause: Clause,
}

/// Why the listing of a workspace is refused as a whole.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ListError {
    /// The sessions root is no real directory.
    #[error("unsafe_root: {}", .0.display())]
    UnsafeRoot(PathBuf),
    /// A visited path exists and is no real directory, or cannot be read.
    #[error("scan_failed: {} {why}", path.display())]
    ScanFailed {
        /// The path.
        path: PathBuf,
        /// What is there.
        why: String,
    },
}

impl ListError {
    /// gjc's code.
    pub const fn code(&self) -> &'static str {
        match self {
            ListError::UnsafeRoot(_) => "unsafe_root",
            ListError::ScanFailed { .. } => "scan_failed",
        }
    }
}

impl From<Error> for ListError {
    fn from(error: Error) -> Self {
        ListError::ScanFailed { why: error.to_string(), path: error.path }
    }
}

/// The directories that a listing visits first: the scope and those of the known legacy names that are there.
///
/// # Errors
/// `scan_failed` when one of them is no real directory.
pub fn known_directories(world: &World<'_>, scope: &Scope, known: &[String]) -> Result<Vec<(PathBuf, Provenance)>, ListError> {
    let mut visited = Vec::new();
    let named = std::iter::once((scope.directory.clone(), Provenance::V2))
        .chain(known.iter().map(|name| (scope.sessions_root.join(name), Provenance::Legacy)));
    for (path, provenance) in named {
        match world.fs.lstat(&path) {
            Ok(meta) if meta.kind == Kind::Directory => visited.push((path, provenance)),
            Ok(meta) => return Err(ListError::ScanFailed { why: format!("is a {}", meta.kind.noun()), path }),
            Err(error) if error.errno == Errno::NOENT => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(visited)
}

/// The directories that a listing visits, in order: the scope, the known legacy names, then up to 256 unknown ones; and how
/// many were left out.
///
/// # Errors
/// `scan_failed` when one of the first two kinds exists and is no real directory.
pub fn directories(world: &World<'_>, scope: &Scope) -> Result<(Vec<(PathBuf, Provenance)>, usize), ListError> {
    let known = scope.known_legacy_names(world);
    let mut visited = known_directories(world, scope, &known)?;
    let mut unknown = Vec::new();
    for entry in world.fs.list(&scope.sessions_root)? {
        // A name that is not UTF-8 is not found again under the name that JavaScript reads.
        let Some(name) = entry.name.to_str().map(str::to_owned) else { continue };
        if !legacy::is_unknown_candidate(entry.name.as_bytes()) || known.contains(&name) {
            continue;
        }
        let kind = match entry.kind {
            Some(kind) => kind,
            None => world.fs.lstat(&scope.sessions_root.join(&entry.name))?.kind,
        };
        if kind == Kind::Directory {
            unknown.push((name, scope.sessions_root.join(&entry.name)));
        }
    }
    unknown.sort_by(|(a, _), (b, _)| legacy::by_utf16(a, b));
    let beyond = unknown.len().saturating_sub(legacy::MAX_UNKNOWN_DIRECTORIES);
    unknown.truncate(legacy::MAX_UNKNOWN_DIRECTORIES);
    visited.extend(unknown.into_iter().map(|(_, path)| (path, Provenance::Legacy)));
    Ok((visited, beyond))
}

/// The managed listing of a resolved scope.
///
/// # Errors
/// When gjc refuses the whole listing.
pub fn list(world: &World<'_>, scope: &Scope) -> Result<Listing, ListError> {
    match world.fs.lstat(&scope.sessions_root) {
        Ok(meta) if meta.kind == Kind::Directory => {}
        Ok(_) => return Err(ListError::UnsafeRoot(scope.sessions_root.clone())),
        Err(error) if error.errno == Errno::NOENT => return Ok(Listing::default()),
        Err(error) => return Err(error.into()),
    }
    let (directories, beyond_limit) = directories(world, scope)?;
    let cwds = Cwds::default();
    let mut listing = Listing { beyond_limit, ..Listing::default() };
    let mut owned = Vec::new();
    for (directory, provenance) in &directories {
        if *provenance == Provenance::Legacy {
            listing.legacy_directories.push(directory.clone());
        }
        let names: Vec<_> =
            world.fs.list(directory)?.into_iter().filter(|entry| layout::is_transcript_name(entry.name.as_bytes())).collect();
        let examined: Vec<Examined> =
            names.par_iter().map(|entry| examine(world, &scope.identity, &directory.join(&entry.name), *provenance, &cwds)).collect();
        for one in examined {
            match one {
                Examined::Owned(candidate) => owned.push(Box::new(candidate)),
                Examined::Foreign { path, cwd, workspace } => listing.foreign.push((path, cwd, workspace)),
                Examined::Invalid(invalid) => listing.invalid.push(invalid),
            }
        }
    }
    listing.settle(world.fs, &scope.directory, &scope.digest(), owned);
    Ok(listing)
}

impl Listing {
    /// Retires, shadows and gives states to the candidates that a scope owns (spec 02 §7.1, §7.3).
    pub fn settle(&mut self, fs: &dyn Fs, scope: &Path, digest: &str, owned: Candidates) {
        let internal = scope.join(layout::INTERNAL);
        let retired = Retirement::read(fs, &internal.join(layout::TOMBSTONES), digest);
        let keep = |candidate: Box<Candidate>| match retired.by(fs, &candidate) {
            Some(tombstone) => {
                self.hidden.push((candidate, Hidden::Retired { tombstone }));
                None
            }
            None => Some(candidate),
        };
        let visible = owned.into_iter().filter_map(keep).collect();
        pair(fs, &internal.join(layout::RECEIPTS), digest, visible, self);
    }
}

fn pair(fs: &dyn Fs, receipts: &Path, digest: &str, visible: Candidates, listing: &mut Listing) {
    // Only what lies in a legacy directory can be a source: without one the receipts, of which there may be very many, say nothing.
    let is_source = |candidate: &Candidate| candidate.provenance == Provenance::Legacy;
    let receipts =
        if visible.iter().any(|one| is_source(one)) { CommittedReceipts::read(fs, receipts) } else { CommittedReceipts::default() };
    let by_path: BTreeMap<&Path, &Candidate> = visible
        .iter()
        .filter(|candidate| candidate.provenance == Provenance::V2)
        .map(|candidate| (&*candidate.path, &**candidate))
        .collect();
    let mut shadows: BTreeMap<PathBuf, Hidden> = BTreeMap::new();
    let mut sources: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for source in visible.iter().filter(|one| is_source(one)) {
        let Some(receipt) = receipts.of(fs, source) else { continue };
        let destination = receipt.destination.as_ref().and_then(|path| by_path.get(Path::new(&*path.as_js().to_string_lossy())));
        let Some(destination) = destination else { continue };
        match matches(fs, digest, &receipt.path, source, destination) {
            Ok(()) => {
                shadows.insert(source.path.clone(), Hidden::Shadowed { by: destination.path.clone(), receipt: receipt.path.clone() });
                sources.insert(destination.path.clone(), source.path.clone());
            }
            Err(clause) => listing.stale.push(Stale {
                receipt: receipt.path.clone(),
                source: source.path.clone(),
                destination: destination.path.clone(),
                clause,
            }),
        }
    }
    listing.owned.reserve_exact(visible.len());
    for candidate in visible {
        if let Some(hidden) = shadows.remove(&candidate.path) {
            listing.hidden.push((candidate, hidden));
            continue;
        }
        let source = sources.remove(&candidate.path);
        let state = match (candidate.provenance, &source) {
            (Provenance::Legacy, _) => State::LegacyUnmigrated,
            (Provenance::V2, Some(_)) => State::MigratedV2,
            (Provenance::V2, None) => State::NativeV2,
        };
        listing.owned.push(Listed { candidate, state, source });
    }
}

/// Evidence that the listing takes from `tombstones/` (spec 02 §9.3).
#[derive(Debug, Default)]
pub struct Retirement {
    scope: String,
    /// Raw targets by their path, with the tombstone they stand in.
    targets: BTreeMap<JsString, Vec<(PathBuf, Value)>>,
    /// The first file that ended the search, if one did.
    pub ended_by: Option<PathBuf>,
}

impl Retirement {
    /// Reads every file in directory order, as gjc does: the first unreadable or non-JSON one ends the search. (So the
    /// answer follows the directory order of this disk; a check reports such a file by itself.) Like gjc's, this listing
    /// follows a link that stands in the place of the directory; preparing the scope refuses it.
    pub fn read(fs: &dyn Fs, tombstones: &Path, scope: &str) -> Self {
        let mut found = Retirement { scope: scope.to_owned(), ..Retirement::default() };
        let Ok((tombstones, directory)) = through_link(fs, tombstones, |tombstones| fs.open_dir(tombstones)) else { return found };
        let Ok(entries) = directory.entries() else { return found };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let path = tombstones.join(&*entry.name.to_string_lossy());
            let Some(record) = capture(fs, &path, Bound::Ceiling(RECORD_CEILING)).ok().and_then(|captured| parse(&captured.bytes)) else {
                found.ended_by = Some(path);
                break;
            };
            if !tombstone::is_retired_record(&record, scope) {
                continue;
            }
            for target in record.member("targets").into_iter().flat_map(View::items) {
                if let Some(Value::String(named)) = target.member("path") {
                    found.targets.entry(named.clone()).or_default().push((path.clone(), target.clone()));
                }
            }
        }
        found
    }
    /// The tombstone that retires this candidate, if one does. The file is hashed only when all else agrees.
    pub fn by(&self, fs: &dyn Fs, candidate: &Candidate) -> Option<PathBuf> {
        let targets = self.targets.get(&path_text(&candidate.path))?;
        // A target whose recorded inode is another one cannot be equal: no need to read the file.
        let near =
            |target: &Value| target.member("identity").is_some_and(|identity| super::record::spells(identity, "ino", candidate.meta.ino));
        let targets: Vec<_> = targets.iter().filter(|(_, target)| near(target)).collect();
        if targets.is_empty() {
            return None;
        }
        let identity = candidate.identity(fs).ok()?;
        let named = tombstone::Candidate { identity: &identity, cwd: &candidate.cwd };
        targets.into_iter().find(|(_, target)| tombstone::target_equals(target, named, true)).map(|(path, _)| path.clone())
    }
    /// The scope digest it was read for.
    pub fn scope(&self) -> &str {
        &self.scope
    }
}

/// `JSON.parse` of a protocol file.
pub fn parse(bytes: &[u8]) -> Option<Value> {
    Value::parse(&crate::json::text::utf8_lossy(bytes))
}

/// Reads one protocol file.
///
/// # Errors
/// What the capture refuses; `Ok(None)` when it is no JSON.
pub fn read_record(fs: &dyn Fs, path: &Path) -> Result<Option<Value>, Refusal> {
    Ok(parse(&capture(fs, path, Bound::Ceiling(RECORD_CEILING))?.bytes))
}

/// What is kept of a file `receipts/<op>.json`.
#[derive(Debug)]
pub struct CommittedReceipt {
    /// The file.
    pub path: PathBuf,
    /// Operation name, from the file name.
    pub operation: String,
    /// `destination.path`, when it is a string.
    pub destination: Option<JsString>,
}

/// The committed receipts of a scope, found by their source.
#[derive(Debug, Default)]
pub struct CommittedReceipts {
    by_source: BTreeMap<JsString, Vec<CommittedReceipt>>,
}

/// Asks for a directory, or for the one that a link in its place leads to: its path and the answer.
fn through_link<T>(fs: &dyn Fs, directory: &Path, ask: impl Fn(&Path) -> Result<T, Error>) -> Result<(PathBuf, T), Error> {
    match ask(directory) {
        Err(error) if matches!(error.errno, Errno::LOOP | Errno::NOTDIR) => {
            let real = fs.realpath(directory)?;
            ask(&real).map(|answer| (real, answer))
        }
        answer => answer.map(|answer| (directory.to_owned(), answer)),
    }
}

impl CommittedReceipts {
    /// Reads the names that a committed receipt can have; what is unreadable or not JSON counts as no receipt. A link in
    /// the place of the directory is followed, as by [`Retirement::read`].
    pub fn read(fs: &dyn Fs, receipts: &Path) -> Self {
        let mut found = CommittedReceipts::default();
        let Ok((receipts, entries)) = through_link(fs, receipts, |receipts| fs.list(receipts)) else { return found };
        for entry in entries {
            let migration_receipt::Name::Migration { operation, state: migration_receipt::State::Committed } =
                migration_receipt::parse_name(entry.name.as_bytes())
            else {
                continue;
            };
            let path = receipts.join(&entry.name);
            let Ok(Some(record)) = read_record(fs, &path) else { continue };
            let named = |side: &str| match record.member(side).and_then(|side| side.member("path")) {
                Some(Value::String(path)) => Some(path.clone()),
                _ => None,
            };
            let Some(source) = named("source") else { continue };
            let receipt = CommittedReceipt { path, operation: operation.to_owned(), destination: named("destination") };
            found.by_source.entry(source).or_default().push(receipt);
        }
        found
    }
    /// The receipt under the operation name of this legacy candidate. The file is hashed only when some receipt names it.
    pub fn of(&self, fs: &dyn Fs, source: &Candidate) -> Option<&CommittedReceipt> {
        let receipts = self.by_source.get(&path_text(&source.path))?;
        let operation = source.identity(fs).ok()?.operation();
        receipts.iter().find(|receipt| receipt.operation == operation)
    }
}

/// Whether the committed receipt in this file matches the pair (spec 02 §7.2).
///
/// # Errors
/// The first broken clause.
pub fn matches(fs: &dyn Fs, digest: &str, receipt: &Path, source: &Candidate, destination: &Candidate) -> Result<(), Clause> {
    let record = read_record(fs, receipt).ok().flatten().ok_or(Clause::Readable)?;
    let from = source.identity(fs).map_err(|_| Clause::Lineage)?;
    let to = destination.identity(fs).map_err(|_| Clause::Lineage)?;
    migration_receipt::matches(
        &record,
        digest,
        Side { identity: &from, cwd: &source.cwd },
        Side { identity: &to, cwd: &destination.cwd },
        &OnDisk { fs, source, destination },
    )
}

struct OnDisk<'a> {
    fs: &'a dyn Fs,
    source: &'a Candidate,
    destination: &'a Candidate,
}

impl Evidence for OnDisk<'_> {
    fn lineage_holds(&self) -> bool {
        begins_with(self.fs, self.source, self.destination).unwrap_or(false)
    }
    fn placeholder_holds(&self, placeholder: &Value) -> bool {
        placeholder_holds(self.fs, self.source.path.parent().unwrap_or(Path::new("/")), placeholder).unwrap_or(false)
    }
    fn manifest_holds(&self, manifest: &[Value]) -> bool {
        manifest_holds(self.fs, &self.destination.artifacts(), manifest)
    }
}

/// Whether the destination begins with the source's whole content, both as examined.
fn begins_with(fs: &dyn Fs, source: &Candidate, destination: &Candidate) -> Result<bool, Refusal> {
    let mut from = Watched::open(fs, &source.path)?;
    let mut to = Watched::open(fs, &destination.path)?;
    let unchanged = from.meta().object() == source.meta.object()
        && from.meta().size == source.meta.size
        && from.meta().mtime_ns == source.meta.mtime_ns
        && to.meta().object() == destination.meta.object()
        && from.meta().nlink <= 1
        && to.meta().nlink <= 1;
    let mut left = from.meta().size;
    let mut equal = unchanged && to.meta().size >= left;
    let (mut a, mut b) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    while equal && left > 0 {
        let take = left.min(a.len() as u64) as usize;
        let (Some(a), Some(b)) = (a.get_mut(..take), b.get_mut(..take)) else { break };
        equal = from.read_exact(a).is_ok() && to.read_exact(b).is_ok() && a == b;
        left -= take as u64;
    }
    from.finish()?;
    to.finish()?;
    Ok(equal)
}

/// Whether a recorded placeholder directory still stands directly in `directory`, unchanged (spec 02 §7.2.5).
pub fn placeholder_holds(fs: &dyn Fs, directory: &Path, placeholder: &Value) -> Result<bool, Error> {
    let Some(Value::String(path)) = placeholder.member("retainedPath") else { return Ok(false) };
    let path = PathBuf::from(&*path.as_js().to_string_lossy());
    if path.parent() != Some(directory) {
        return Ok(false);
    }
    let facts = placeholder_facts(fs, directory, &path)?;
    Ok(facts.is_some_and(|facts| super::placeholder::holds(placeholder, &facts)))
}

/// What the disk says of a placeholder directory; none when nothing stands there. Its emptiness is shown by opening it without
/// following a link and stopping at the first child (spec 03 §18): what is in it is neither counted nor read.
pub fn placeholder_facts(fs: &dyn Fs, directory: &Path, path: &Path) -> Result<Option<super::placeholder::Facts>, Error> {
    let parent = fs.lstat(directory)?;
    let facts =
        |root, empty| super::placeholder::Facts { in_place: path.parent() == Some(directory), parent: parent.object(), root, empty };
    let opened = match fs.open_dir(path) {
        Ok(opened) => opened,
        Err(error) if error.errno == Errno::NOENT => return Ok(None),
        Err(error) if matches!(error.errno, Errno::LOOP | Errno::NOTDIR) => return Ok(Some(facts(None, false))),
        Err(error) => return Err(error),
    };
    let read = || {
        let meta = opened.stat()?;
        let empty = opened.entries()?.next().transpose()?.is_none();
        Ok((meta, empty))
    };
    let outcome = read();
    let (meta, empty) = closing(outcome, || opened.close())?;
    Ok(Some(facts(Some(TreeEntry::of(JsString::default(), &meta, None)), empty)))
}

/// Whether every manifest entry exists below `root` (spec 02 §7.2.7): extra entries are fine, bounds apply, a missing
/// directory counts as empty. Only the files that the manifest names are hashed.
pub fn manifest_holds(fs: &dyn Fs, root: &Path, manifest: &[Value]) -> bool {
    let Ok(survey) = artifacts::survey(fs, root) else { return false };
    let items: BTreeMap<&[u8], &Meta> =
        survey.iter().flat_map(|survey| &survey.items).map(|item| (item.relative.as_bytes(), &item.meta)).collect();
    manifest.iter().all(|entry| {
        let Some(path) = entry.str_member("path") else { return false };
        let Some(meta) = items.get(&*path) else { return false };
        if entry.member("kind").is_some_and(|kind| kind.is_str("directory")) {
            return meta.kind == Kind::Directory;
        }
        let size = entry.member("size").and_then(View::as_f64) == Some(meta.size as f64);
        meta.kind == Kind::File
            && size
            && artifacts::hash(fs, &root.join(Path::new(std::ffi::OsStr::from_bytes(&path))))
                .is_ok_and(|hash| super::record::is_text(entry, "sha256", hash.as_bytes()))
    })
}

/// One workspace of a sessions root, with what its listing gives.
#[derive(Debug)]
pub struct WorkspaceListing {
    /// The workspace.
    pub identity: Identity,
    /// Its scope directory (which need not exist).
    pub scope: PathBuf,
    /// Its listing.
    pub listing: Listing,
}

/// All workspaces that some transcript of the sessions root belongs to, in order of their paths; and the files that belong
/// to none. Every file is looked at once, whatever the number of workspaces; the limit on unknown legacy directories is not
/// applied.
pub fn list_all(world: &World<'_>) -> (Vec<WorkspaceListing>, Vec<Invalid>) {
    list_all_telling(world, &mut |_| {})
}

/// The same; `unread` is told of every directory that could not be listed.
pub fn list_all_telling(world: &World<'_>, unread: &mut dyn FnMut(Error)) -> (Vec<WorkspaceListing>, Vec<Invalid>) {
    let root = world.canonical_root(&world.sessions_root);
    let cwds = Cwds::default();
    let mut files = Vec::new();
    let mut list = |path: &Path| {
        world.fs.list(path).unwrap_or_else(|error| {
            unread(error);
            Vec::new()
        })
    };
    for directory in list(&root) {
        let provenance = match layout::sessions_name(directory.name.as_bytes()) {
            layout::SessionsName::Scope => Provenance::V2,
            layout::SessionsName::Legacy => Provenance::Legacy,
            _ => continue,
        };
        let directory = root.join(&directory.name);
        let names = list(&directory).into_iter();
        files.extend(
            names.filter(|entry| layout::is_transcript_name(entry.name.as_bytes())).map(|entry| (directory.join(&entry.name), provenance)),
        );
    }
    let looked: Vec<_> = files
        .into_par_iter()
        .map(|(path, provenance)| {
            let candidate = look(world.fs, world.release, &path, provenance)?;
            match cwds.identity(world, &candidate.cwd) {
                Ok(identity) => Ok((candidate, identity)),
                Err(why) => Err(candidate.without_workspace(why)),
            }
        })
        .collect();
    let mut invalid = Vec::new();
    let mut workspaces: BTreeMap<String, (Identity, Candidates, Listing)> = BTreeMap::new();
    for one in looked {
        match one {
            Err(why) => invalid.push(why),
            Ok((candidate, identity)) => {
                let own = candidate.path.parent().and_then(Path::file_name).is_some_and(|name| *name == *identity.directory_name());
                let of = workspaces
                    .entry(identity.canonical_path.clone())
                    .or_insert_with(|| ((*identity).clone(), Vec::new(), Listing::default()));
                if candidate.provenance == Provenance::V2 && !own {
                    of.2.foreign.push((candidate.path, Arc::unwrap_or_clone(candidate.cwd), identity.canonical_path.clone()));
                } else {
                    of.1.push(Box::new(candidate));
                }
            }
        }
    }
    let listings = workspaces
        .into_values()
        .map(|(identity, owned, mut listing)| {
            let scope = root.join(identity.directory_name());
            listing.settle(world.fs, &scope, &identity.digest_text(), owned);
            WorkspaceListing { identity, scope, listing }
        })
        .collect();
    (listings, invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::predict;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    /// Resolving looks at the root, too: it must be another one when it is listed.
    #[test]
    fn a_sessions_root_that_is_replaced_behind_resolving_is_unsafe() {
        let fs = Memory::new();
        fs.directory("/ws");
        fs.directory("/a/sessions");
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        let scope = predict::resolve(&world, Path::new("/ws")).unwrap();
        assert!(list(&world, &scope).is_ok());
        fs.remove("/a/sessions");
        fs.file("/a/sessions", b"");
        assert_eq!(list(&world, &scope).map(|_| ()).unwrap_err().code(), "unsafe_root");
    }
}
