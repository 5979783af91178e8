//! What a part of a run gathers, and how parts come together: in order of path, whatever thread was first.

use super::file::{Checked, Where};
use super::{Progress, Why};
use crate::check::blob::store::References;
use crate::check::tree::shared::{self, EntryIds};
use crate::finding::{Collected, Finding, Gauge, Outcome, Sink};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one directory, or one file, gave.
#[derive(Default, Debug)]
pub struct Part {
    /// Findings.
    pub findings: Vec<Finding>,
    /// Gauges.
    pub gauges: Vec<Gauge>,
    /// Verdicts of transcripts.
    pub outcomes: Vec<Outcome>,
    /// Transcripts that name a parent session, and what they name.
    pub parents: Vec<(PathBuf, String)>,
    /// Ids of the entries of transcripts, by path in findings, and the parent session that each names.
    pub entries: Vec<(Arc<str>, Option<String>, EntryIds)>,
    /// Blob references.
    pub references: References,
    /// Files that the walk found and that were not read yet.
    pub tasks: Vec<Task>,
    /// Directories of the sessions root that no listing visits.
    pub unlisted: Vec<PathBuf>,
    /// Whom the check of this target speaks for.
    pub speaks_for: Option<(u32, Why)>,
    /// The blob store that was looked at.
    pub store: Option<String>,
    /// Session directories, for what only shows when all are seen together.
    pub directories: Vec<crate::check::managed::Directory>,
    /// Receipts directories of scopes: their journals are judged when the walk is done.
    pub receipts: Vec<crate::agent::walk::Listing>,
    /// The sessions root, when the whole of it is checked.
    pub sessions: Option<crate::agent::walk::Listing>,
    /// Every transcript that was checked.
    pub transcripts: Vec<PathBuf>,
}

/// A file that is to be read. Directories are walked first and files read afterwards, all of them in one parallel sweep:
/// parallel work inside parallel work could nest as deep as there are directories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The file.
    pub path: PathBuf,
    /// What is done with it.
    pub work: TaskWork,
}

/// What is done with a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskWork {
    /// It is checked as a transcript.
    Transcript {
        /// Where it lies.
        at: Where,
        /// Whether gjc's blob collection scans it for references.
        scanned: bool,
    },
    /// It is searched for blob references.
    References,
}

impl Sink for Part {
    fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    fn gauge(&mut self, gauge: Gauge) {
        self.gauges.push(gauge);
    }
}

impl Part {
    /// Adds what comes behind it.
    pub fn absorb(&mut self, other: Part) {
        self.findings.extend(other.findings);
        self.gauges.extend(other.gauges);
        self.outcomes.extend(other.outcomes);
        self.parents.extend(other.parents);
        self.directories.extend(other.directories);
        self.transcripts.extend(other.transcripts);
        self.receipts.extend(other.receipts);
        if self.sessions.is_none() {
            self.sessions = other.sessions;
        }
        self.entries.extend(other.entries);
        self.references.merge(other.references);
        self.tasks.extend(other.tasks);
        self.unlisted.extend(other.unlisted);
        self.speaks_for = self.speaks_for.or(other.speaks_for);
        if self.store.is_none() {
            self.store = other.store;
        }
    }
    /// Adds a transcript. `scanned` says whether gjc's blob collection scans it for references.
    pub fn transcript(&mut self, path: &Path, checked: Checked, scanned: bool) {
        let Checked { collected, outcome, parent, entries, references, read_whole, .. } = checked;
        self.findings.extend(collected.findings);
        self.gauges.extend(collected.gauges);
        if let Some(outcome) = outcome.as_ref().filter(|_| !entries.is_empty()) {
            self.entries.push((Arc::clone(&outcome.path), parent.clone(), entries));
        }
        self.outcomes.extend(outcome);
        self.transcripts.push(path.to_owned());
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
    let ids: BTreeMap<&str, &str> = part.outcomes.iter().filter_map(|outcome| Some((&*outcome.path, outcome.id.as_deref()?))).collect();
    let files: Vec<shared::Checked<'_>> = part
        .entries
        .iter()
        .map(|(path, parent, entries)| shared::Checked { path, id: ids.get(&**path).copied(), parent: parent.as_deref(), entries })
        .collect();
    let mut found = Collected::default();
    shared::check(&files, &mut found);
    part.findings.append(&mut found.findings);
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
