//! What a part of a run gathers, and how parts come together: in order of path, whatever thread was first.

use super::file::{Checked, Where};
use super::{Progress, Why};
use crate::check::blob::store::References;
use crate::check::quota::{self, Fullest};
use crate::check::tree::shared::{self, History};
use crate::finding::{Collected, Common, Finding, Gauge, Mute, Outcome, Sink};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one directory, or one file, gave.
///
/// Findings come in by [`Sink::push`], [`Part::transcript`] and [`Part::absorb`], which ask whether a code is switched off.
#[derive(Default, Debug)]
pub struct Part {
    /// What is not taken in.
    mute: Mute,
    /// Findings.
    pub findings: Vec<Finding>,
    /// Gauges.
    pub gauges: Vec<Gauge>,
    /// Where the fullest of them stand.
    pub fullest: Fullest,
    /// Verdicts of transcripts.
    pub outcomes: Vec<Outcome>,
    /// Transcripts that name a parent session, and what they name.
    pub parents: Vec<(PathBuf, String)>,
    /// Transcripts that have entries.
    pub histories: Vec<History>,
    /// Blob references.
    pub references: References,
    /// Files that the walk found.
    pub tasks: Vec<Task>,
    /// Directories of the sessions root that no listing visits.
    pub unlisted: Vec<PathBuf>,
    /// Whom the check of this target speaks for.
    pub speaks_for: Option<(u32, Why)>,
    /// The blob store that was looked at.
    pub store: Option<String>,
    /// Session directories, for what only shows when all are seen together.
    pub directories: Vec<crate::check::managed::Directory>,
    /// Scopes.
    pub scopes: u64,
    /// Entries of their role directories.
    pub protocol_entries: u64,
    /// Receipts directories of scopes: their journals are judged when the walk is done.
    pub receipts: Vec<crate::agent::walk::Listing>,
    /// The journals in them, when they were judged.
    pub journals: Vec<crate::check::owner::Journalled>,
    /// Transcripts that name an owner of task artifacts.
    pub owned: Vec<(PathBuf, crate::check::owner::Named)>,
    /// The directory of owners.
    pub owners: Option<crate::check::owner::Seen>,
    /// The sessions root, when the whole of it is checked.
    pub sessions: Option<crate::agent::walk::Listing>,
}

/// Files that are to be read. Directories are walked first and files read afterwards, all of them in one parallel sweep:
/// parallel work inside parallel work could nest as deep as there are directories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The files.
    pub files: Arc<Files>,
    /// What is done with each of them.
    pub work: TaskWork,
}

/// Some files of one directory. There may be a hundred thousand: the directory is named once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Files {
    /// The directory.
    pub directory: PathBuf,
    /// Their names, each with a NUL behind it, which no name can hold.
    names: Vec<u8>,
    count: usize,
}

impl Files {
    /// Takes names below a directory.
    pub fn new(directory: &Path, names: impl Iterator<Item = OsString>) -> Self {
        let mut files = Files { directory: directory.to_owned(), names: Vec::new(), count: 0 };
        for name in names {
            files.names.extend_from_slice(name.as_bytes());
            files.names.push(0);
            files.count += 1;
        }
        files.names.shrink_to_fit();
        files
    }
    /// How many.
    pub const fn count(&self) -> usize {
        self.count
    }
    /// Their paths. Who has nothing but these forgets the names with the last of them.
    pub fn paths(self: Arc<Self>) -> impl Iterator<Item = PathBuf> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = self.names.get(at..)?;
            let name = rest.get(..memchr::memchr(0, rest)?)?;
            at += name.len() + 1;
            Some(self.directory.join(OsStr::from_bytes(name)))
        })
    }
}

/// What is done with a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskWork {
    /// It is checked as a transcript.
    Transcript {
        /// Where it lies.
        at: Where,
        /// Whether gjc's blob collection scans it for references.
        scanned: Scanned,
    },
    /// It is searched for blob references.
    References,
}

/// Which of some files gjc's blob collection scans for references.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scanned {
    /// None.
    None,
    /// All but those with hidden names.
    Visible,
    /// All.
    All,
}

impl Scanned {
    /// Whether it scans a file of this name.
    pub fn has(self, name: &OsStr) -> bool {
        match self {
            Scanned::None => false,
            Scanned::Visible => !name.as_encoded_bytes().starts_with(b"."),
            Scanned::All => true,
        }
    }
}

impl Sink for Part {
    fn push(&mut self, finding: Finding) {
        if !self.mute.silences(finding.code) {
            self.findings.push(finding);
        }
    }
    fn gauge(&mut self, gauge: Gauge) {
        self.fullest.put(gauge, &mut self.gauges);
    }
}

impl Part {
    /// An empty one.
    pub fn new(mute: Mute) -> Self {
        Part { mute, ..Part::default() }
    }
    /// Takes in findings that were collected elsewhere.
    pub fn collected(&mut self, findings: impl IntoIterator<Item = Finding>) {
        let mute = self.mute;
        self.findings.extend(findings.into_iter().filter(|finding| !mute.silences(finding.code)));
    }
    /// Adds what comes behind it.
    pub fn absorb(&mut self, other: Part) {
        self.collected(other.findings);
        self.gauges.extend(other.gauges);
        self.outcomes.extend(other.outcomes);
        self.parents.extend(other.parents);
        self.directories.extend(other.directories);
        self.receipts.extend(other.receipts);
        self.journals.extend(other.journals);
        self.owned.extend(other.owned);
        if self.owners.is_none() {
            self.owners = other.owners;
        }
        self.scopes += other.scopes;
        self.protocol_entries += other.protocol_entries;
        if self.sessions.is_none() {
            self.sessions = other.sessions;
        }
        self.histories.extend(other.histories);
        self.references.merge(other.references);
        self.tasks.extend(other.tasks);
        self.unlisted.extend(other.unlisted);
        self.speaks_for = self.speaks_for.or(other.speaks_for);
        if self.store.is_none() {
            self.store = other.store;
        }
    }
    /// Makes room for what so many transcripts of so many directories give, without the waste and the holes that growing leaves.
    pub fn expect(&mut self, transcripts: usize, directories: usize) {
        self.outcomes.reserve_exact(transcripts);
        // Each transcript has one reading of its own, and a directory the fullest of the other measures.
        self.gauges.reserve_exact(transcripts + directories * quota::MEASURES.len());
        self.histories.reserve_exact(transcripts);
    }
    /// Adds a transcript. `scanned` says whether gjc's blob collection scans it for references.
    pub fn transcript(&mut self, path: &Path, checked: Checked, scanned: bool, common: &mut Common) {
        let Checked { collected, outcome, parent, entries, owner, references, read_whole, .. } = checked;
        self.collected(collected.findings);
        collected.gauges.into_iter().for_each(|gauge| self.gauge(gauge));
        if let Some(mut outcome) = outcome {
            common.share(&mut outcome);
            if !entries.is_empty() {
                let (path, id) = (Arc::clone(&outcome.path), outcome.id.clone());
                self.histories.push(History { path, id, parent: parent.as_deref().map(Arc::from), entries });
            }
            self.outcomes.push(outcome);
        }
        self.owned.extend(owner.map(|owner| (path.to_owned(), owner)));
        self.parents.extend(parent.map(|parent| (path.to_owned(), parent)));
        let place = if scanned { &mut self.references.scanned } else { &mut self.references.elsewhere };
        place.extend(references);
        if !read_whole {
            self.references.incomplete.push(path.to_owned());
        }
    }
}

/// Reports transcripts of one part that hold the same entries.
pub fn shared_history(part: &mut Part) {
    let mut found = Collected::default();
    shared::check(&part.histories, &mut found);
    part.collected(found.findings);
}

/// Counts transcripts and tells the caller.
pub struct Tally<'a> {
    done: AtomicU64,
    total: AtomicU64,
    bytes: AtomicU64,
    tell: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Tally<'a> {
    /// Nothing done yet.
    pub fn new(tell: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Tally { done: AtomicU64::new(0), total: AtomicU64::new(0), bytes: AtomicU64::new(0), tell }
    }
    /// So many more transcripts are known.
    pub fn expect(&self, transcripts: usize) {
        self.total.fetch_add(transcripts as u64, Ordering::Relaxed);
    }
    /// One transcript of so many bytes is done.
    pub fn done(&self, bytes: u64) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.tell)(Progress { done, total: self.total.load(Ordering::Relaxed), bytes });
    }
}
