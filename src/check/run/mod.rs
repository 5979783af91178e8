//! The check of what a user names: an agent directory, a scope, a folder of transcripts, a transcript, standard input.
//!
//! `run` decides what each target is, walks it without following a link and without opening anything for writing, and
//! gives every object to the pass that judges it. Transcripts are checked in parallel; what comes out is in order of path.

use crate::finding::{Finding, Gauge, Outcome, Release};
use crate::fsys::Fs;
use std::io::Read;
use std::path::PathBuf;

/// What is to be checked.
pub enum Target {
    /// A path as the user named it (absolute, or relative to [`Options::current_dir`]).
    Path(PathBuf),
    /// A transcript that comes as a stream; its findings lie at `-`.
    Stream(Box<dyn Read + Send>),
}

/// How deep a check goes (design §2, *quick* and *connectivity only*).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Depth {
    /// Everything.
    #[default]
    Full,
    /// No context, no tool pairing, no blob hashing.
    Quick,
    /// Header, ids, parents, leaf and references only.
    Connectivity,
}

/// What a run is told. There is no clock and no environment in here but what the caller put in.
#[derive(Clone, Debug)]
pub struct Options {
    /// The release whose behaviour is asked for.
    pub release: Release,
    /// How deep to go.
    pub depth: Depth,
    /// A blob store named by the user; else the one of the checked agent directory.
    pub blobs: Option<PathBuf>,
    /// Judge the directory as if it lay here.
    pub assume_root: Option<PathBuf>,
    /// `--as-uid`.
    pub as_uid: Option<u32>,
    /// The effective user of this process.
    pub uid: u32,
    /// Worker threads; none = one a core.
    pub jobs: Option<usize>,
    /// The time of the run in nanoseconds since the epoch: ages of residue are measured against it.
    pub now_ns: i128,
    /// What relative targets are relative to.
    pub current_dir: PathBuf,
}

/// Why a check speaks for the user it speaks for (design §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// `--as-uid`.
    Asked,
    /// Run as root: the owner of the agent directory.
    Owner,
    /// The effective user.
    Effective,
}

/// What a run found. Nothing is decided here: the report filters, orders and counts.
#[derive(Default, Debug)]
pub struct Run {
    /// What was checked, as it was named.
    pub root: String,
    /// Whom the check speaks for; none where users do not matter (a lone transcript).
    pub speaks_for: Option<(u32, Why)>,
    /// The blob store that was looked at, as it was named or found; none = blobs were not checked.
    pub blobs: Option<String>,
    /// Findings, in order of path.
    pub findings: Vec<Finding>,
    /// Gauges, in order of path.
    pub gauges: Vec<Gauge>,
    /// Transcripts, in order of path.
    pub outcomes: Vec<Outcome>,
}

/// How far a run is; totals grow while directories are still being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Transcripts done.
    pub done: u64,
    /// Transcripts known.
    pub total: u64,
    /// Bytes of transcripts done.
    pub bytes: u64,
}

/// Checks the targets. Never fails: what cannot be read is a finding (`agent_dir_missing`, `object_unreadable`, …).
pub fn run(targets: Vec<Target>, options: &Options, fs: &dyn Fs, progress: &(dyn Fn(Progress) + Sync)) -> Run {
    let _ = (options, fs, progress);
    let root = targets.iter().map(Target::name).collect::<Vec<_>>().join(" ");
    Run { root, ..Run::default() }
}

impl Target {
    /// The target as it was named.
    pub fn name(&self) -> String {
        match self {
            Target::Path(path) => path.to_string_lossy().into_owned(),
            Target::Stream(_) => "-".to_owned(),
        }
    }
}
