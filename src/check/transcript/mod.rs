//! The check of one transcript: one streaming pass over its bytes, then one look at the compact facts that stayed.
//!
//! The order of things is the order of gjc's own stages: lines, values, loading with patches ([`Loader`]), migration,
//! schema, tree, context, tool pairing. Each stage pushes findings of its own area; what is said of a record's content
//! waits in [`Held`] until the end of the file shows that gjc loads it at all and that no patch replaced it. Payloads
//! are dropped after their record.

pub mod content;
pub mod held;
pub mod signs;
mod source;

pub use source::Source;

use self::content::{Content, Message};
use self::held::Held;
use self::signs::Signs;
use super::blob::BlobPass;
use super::dialect::DialectPass;
use super::header::{Ending, HeaderPass};
use super::line::{LinePass, LostIds};
use super::patch::PatchPass;
use super::size::SizePass;
use super::tool_pairing::Calls;
use super::{context, entry, listing, migrate, patch, size, tool_pairing, tree};
use crate::finding::{Release, Sink};
use crate::json::jsonl::{Event, Found, Lines};
use crate::json::{Kind, Value, View};
use crate::transcript::blobs::BlobSource;
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::facts::{Fact, Facts};
use crate::transcript::load::{Loaded, Loader, Outcome as Became};
use std::io::{self, Read};
use std::sync::Arc;

/// Where a transcript lies, as far as the rules differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Storage {
    /// Anywhere outside the managed sessions root.
    #[default]
    Lone,
    /// Below the managed sessions root: a scope or a legacy directory.
    Managed,
}

/// How a transcript is to be checked.
#[derive(Clone)]
pub struct Options<'o> {
    /// Path relative to the checked root (`-` for standard input).
    pub path: Arc<str>,
    /// Whose behaviour is asked for.
    pub release: Release,
    /// Where the file lies.
    pub storage: Storage,
    /// Name of the file in its directory, when it has one.
    pub file_name: Option<&'o str>,
    /// The blob store, when one is known.
    pub store: Option<&'o dyn BlobSource>,
    /// Look at the context and at tool pairing.
    pub context: bool,
}

impl<'o> Options<'o> {
    /// A lone file without a blob store, checked fully.
    pub fn lone(path: impl Into<Arc<str>>, release: Release) -> Self {
        Options { path: path.into(), release, storage: Storage::Lone, file_name: None, store: None, context: true }
    }
}

/// What a check learned about a transcript beside its findings.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Session id of the header that counts.
    pub id: Option<String>,
    /// Version that gjc takes the file for; none when it loads nothing.
    pub version: Option<i64>,
    /// Letter of a reader and its exact answer, in the order they were asked.
    pub verdicts: Vec<(&'static str, String)>,
    /// Header members that other checks compare: `cwd` and `title` after patches, `parentSession`.
    pub header: HeaderFacts,
    /// Ids of the entries of a version above 1 in file order, for the comparison of files with shared history.
    pub entry_ids: Vec<Box<[u8]>>,
    /// Bytes read.
    pub size: u64,
    /// Counts of what the file holds.
    pub counts: Counts,
}

/// What the header says (WTF-8 texts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderFacts {
    /// `cwd` after patches.
    pub cwd: Option<Vec<u8>>,
    /// `cwd` as the first line has it.
    pub unpatched_cwd: Option<Vec<u8>>,
    /// `title` after patches.
    pub title: Option<Vec<u8>>,
    /// `parentSession`.
    pub parent_session: Option<Vec<u8>>,
    /// `timestamp`.
    pub timestamp: Option<Vec<u8>>,
}

/// Counts of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Physical lines.
    pub lines: u64,
    /// Values that the lenient reader yields.
    pub values: u64,
    /// Entries, headers included.
    pub entries: u64,
    /// Patches in effect.
    pub patches_applied: u64,
    /// Patches without effect.
    pub patches_ignored: u64,
    /// Damaged lines.
    pub damaged_lines: u64,
}

/// Checks one transcript.
///
/// # Errors
/// The input's own: then nothing is claimed about what was not read, and the findings so far stand.
pub fn check<R: Read>(input: R, options: &Options<'_>, sink: &mut dyn Sink) -> io::Result<Outcome> {
    let source = Source { path: Arc::clone(&options.path), managed: options.storage == Storage::Managed };
    let mut lines = Lines::new(input);
    let mut passes = Passes::new(&source, options);
    let mut begun = false;
    loop {
        // The encoding is known as soon as the first event is there.
        let encoding = lines.encoding();
        let Some(event) = lines.next()? else { break };
        if begun {
            passes.event(&event, encoding, sink);
        } else {
            begun = true;
            passes.event(&event, event.encoding(), sink);
        }
    }
    Ok(passes.finish(options, sink))
}

/// All passes over one file.
struct Passes<'s> {
    source: &'s Source,
    release: Release,
    lines: LinePass<'s>,
    loader: Loader<Facts>,
    headers: HeaderPass<'s>,
    patches: PatchPass<'s>,
    sizes: SizePass<'s>,
    dialects: DialectPass<'s>,
    blobs: BlobPass<'s>,
    shift: migrate::Shift,
    calls: Calls,
    marks: context::Marks,
    references: migrate::References,
    texts: tree::Texts,
    held: Held,
    unpatched: HeaderFacts,
}
