//! The check of one transcript: one streaming pass over its bytes, then one look at the compact facts that stayed.
//!
//! The order of things is the order of gjc's own stages: lines, values, loading with patches ([`Loader`]), migration,
//! schema, tree, context, tool pairing. Each stage pushes findings of its own area; what is said of a record's content
//! waits in [`Held`] until the end of the file shows that gjc loads it at all and that no patch replaced it. Payloads
//! are dropped after their record.

pub mod content;
pub mod held;
mod loaded;
pub mod signs;
mod source;

pub use source::Source;

use self::content::{Content, Message};
use self::held::Held;
use self::signs::Signs;
use super::blob::BlobPass;
use super::dialect::DialectPass;
use super::header::HeaderPass;
use super::line::LinePass;
use super::patch::PatchPass;
use super::size::SizePass;
use super::tool_pairing::Calls;
use super::verdict::Watch;
use super::{artifact, context, entry, migrate, owner, patch, size, tree};
use crate::finding::{Answer, Difference, Mute, Place, Release, Sink};
use crate::json::jsonl::{Event, Found, Line, Lines};
use crate::json::text::Encoding;
use crate::json::{Kind, View};
use crate::transcript::blobs::BlobSource;
use crate::transcript::context::budget;
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::facts::Facts;
use crate::transcript::inspect::{self, StrictLines};
use crate::transcript::load::{Loader, Outcome as Became};
use crate::transcript::readers::bounded::Bounded;
use crate::transcript::readers::first_line;
use crate::transcript::readers::managed::Managed;
use crate::transcript::readers::owner::OwnerLines;
use crate::transcript::readers::picker;
use std::io::{self, Read};
use std::sync::Arc;

/// Where a transcript lies, as far as the rules differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Storage {
    /// Anywhere outside the managed sessions root.
    #[default]
    Lone,
    /// In a scope of the managed sessions root.
    Managed,
    /// In a legacy directory of the managed sessions root: gjc opens the copy that it makes of it.
    Legacy,
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
    /// Bytes of the file, when they are known beforehand: small files need not be measured against the budget.
    pub size: Option<u64>,
    /// Bytes a context may have.
    pub budget: u64,
    /// A code that is switched off.
    #[doc(hidden)]
    pub mute: Mute,
    /// Measure every context, not only one that may be too large.
    pub weigh: bool,
}

impl<'o> Options<'o> {
    /// A lone file without a blob store, checked fully.
    pub fn lone(path: impl Into<Arc<str>>, release: Release) -> Self {
        Options {
            path: path.into(),
            release,
            storage: Storage::Lone,
            file_name: None,
            store: None,
            context: true,
            size: None,
            budget: budget::DEFAULT,
            mute: Mute::default(),
            weigh: false,
        }
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
    pub verdicts: Vec<(&'static str, Answer)>,
    /// Header members that other checks compare: `cwd` and `title` after patches, `parentSession`.
    pub header: HeaderFacts,
    /// Ids of the entries of a version above 1, for the comparison of files with shared history.
    pub entry_ids: tree::shared::EntryIds,
    /// Artifacts that its tool results refer to, with the first place of each.
    pub artifacts: Vec<(artifact::references::Reference, Place)>,
    /// The owner of task artifacts that it names.
    pub owner: Option<owner::Named>,
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
    let source = Source { path: Arc::clone(&options.path), managed: options.storage != Storage::Lone };
    let mut lines = match options.size {
        Some(size) => Lines::expecting(input, size),
        None => Lines::new(input),
    };
    let mut passes = Passes::new(&source, options, lines.sniff()?);
    let mut sink = Watch::new(sink, options.mute);
    while let Some(event) = lines.next()? {
        passes.event(&event, &mut sink);
    }
    // The buffers are as large as the longest line.
    drop(lines);
    Ok(passes.finish(options, &mut sink))
}

/// The first line for the readers that look at nothing else; byte order mark and LF included.
#[derive(Default)]
struct FirstLine(Vec<u8>);

impl FirstLine {
    fn of(line: &Line<'_>) -> Self {
        let mark: &[u8] = if line.offset > 0 { b"\xEF\xBB\xBF" } else { b"" };
        let end: &[u8] = if line.has_lf { b"\n" } else { b"" };
        // A longer line is refused by all of them, whatever it says.
        let text = if line.raw.len() > first_line::HEADER_WINDOW { &line.raw[..first_line::HEADER_WINDOW] } else { line.raw };
        FirstLine([mark, text, end].concat())
    }
}

/// The first bytes of the file, for the picker.
#[derive(Default)]
struct Prefix(Vec<u8>);

impl Prefix {
    fn line(&mut self, line: &Line<'_>) {
        if self.0.len() >= picker::PREFIX {
            return;
        }
        let mark: &[u8] = if line.number == 1 && line.offset > 0 { b"\xEF\xBB\xBF" } else { b"" };
        let end: &[u8] = if line.has_lf { b"\n" } else { b"" };
        for part in [mark, line.raw, end] {
            let room = picker::PREFIX - self.0.len();
            self.0.extend_from_slice(part.get(..room).unwrap_or(part));
        }
    }
    /// Whether the picker lists a file that begins so. What follows in a longer file gives it another title, and decides
    /// nothing.
    fn is_listed(&self, release: Release) -> bool {
        let mut read_at = |buffer: &mut [u8], offset: u64| {
            let rest = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..)).unwrap_or_default();
            let read = rest.len().min(buffer.len());
            buffer[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        };
        picker::read(self.0.len() as u64, &mut read_at, release).is_some()
    }
}

/// All passes over one file.
struct Passes<'s> {
    source: &'s Source,
    encoding: Encoding,
    strict: StrictLines,
    managed: Managed,
    /// Reader R, asked of what may be too large for S.
    bounded: Option<Bounded>,
    /// Reader O, in releases that have it.
    owner: Option<OwnerLines>,
    first_line: FirstLine,
    prefix: Prefix,
    lines: LinePass<'s>,
    loader: Loader<Facts>,
    headers: HeaderPass<'s>,
    patches: PatchPass<'s>,
    sizes: SizePass<'s>,
    dialects: DialectPass<'s>,
    blobs: BlobPass<'s>,
    shift: migrate::Shift,
    references: migrate::References,
    calls: Calls,
    artifacts: artifact::references::References,
    marks: context::Marks,
    texts: tree::Texts,
    held: Held,
}

impl<'s> Passes<'s> {
    fn new(source: &'s Source, options: &Options<'s>, encoding: Encoding) -> Self {
        let strict = inspect::Options { release: options.release, budget: options.budget };
        // What may have any size is measured.
        let size = options.size.filter(|_| !options.weigh);
        Passes {
            source,
            encoding,
            strict: StrictLines::default(),
            managed: Managed::default(),
            bounded: options.size.is_none_or(|size| size > size::FILE_CAP).then(Bounded::default),
            owner: Difference::TaskArtifactOwnerPatches.in_effect(options.release).then(OwnerLines::default),
            first_line: FirstLine::default(),
            prefix: Prefix::default(),
            lines: LinePass::new(source),
            loader: Loader::new(strict.keeper(size.unwrap_or(u64::MAX)), options.release),
            headers: HeaderPass::new(source),
            patches: PatchPass::new(source, options.release),
            sizes: SizePass::new(source),
            dialects: DialectPass::new(source),
            blobs: BlobPass::new(options.store),
            shift: migrate::Shift::default(),
            references: migrate::References::default(),
            calls: Calls::default(),
            artifacts: artifact::references::References::default(),
            marks: context::Marks::default(),
            texts: tree::Texts::default(),
            held: Held::default(),
        }
    }

    fn event(&mut self, event: &Event<'_>, sink: &mut dyn Sink) {
        self.lines.event(event, self.encoding, sink);
        match event {
            Event::Line(line) => {
                self.strict.line(line);
                if line.number == 1 {
                    self.first_line = FirstLine::of(line);
                }
                self.prefix.line(line);
                if self.source.managed {
                    self.managed.line(line);
                }
                if let Some(bounded) = &mut self.bounded {
                    bounded.line(line, self.loader.ids_mut());
                }
                if let Some(owner) = &mut self.owner {
                    owner.line(line);
                }
                self.sizes.line(line, sink);
                self.headers.line(line);
            }
            Event::Value(found) => {
                let signs = if found.node.kind() == Kind::Object { Signs::of(found.node) } else { Signs::default() };
                if let Some(became) = self.loader.event(event) {
                    self.value(found, signs, &became);
                }
                if !found.discarded.is_empty() {
                    self.dropped(found.line);
                }
            }
            Event::Skipped { line, .. } | Event::Lost { line, .. } => {
                self.loader.event(event);
                self.dropped(*line);
            }
        }
    }

    /// A line, or what follows the first value of one, was dropped.
    fn dropped(&mut self, line: u64) {
        let source = self.source;
        self.shift.note(self.loader.entries().len(), || source.line(line));
    }

    /// A value and what loading made of it.
    fn value(&mut self, found: &Found<'_>, signs: Signs, became: &Became) {
        let kind = match became {
            // The loader looked at the type already.
            Became::Header(entry) | Became::FurtherHeader(entry) | Became::Entry(entry) => self.loader.entries()[*entry].kind,
            _ => EntryKind::of(found.node),
        };
        self.headers.value(found, kind, became);
        self.dialects.record(found, kind, signs);
        self.patches.value(found, kind, became);
        match became {
            Became::Header(entry) | Became::Entry(entry) => {
                self.texts.push(found.text);
                self.content(Content {
                    source: self.source,
                    found: *found,
                    entry: *entry,
                    kind,
                    root: found.node,
                    from_patch: false,
                    signs,
                });
            }
            Became::FurtherHeader(entry) => {
                self.texts.push(found.text);
                self.shift.note(*entry, || self.source.found(found));
            }
            Became::EntryPatched(entry) => {
                self.held.replace_message(*entry);
                if let Some(message) = found.node.get("patch").and_then(|patch| patch.get("message")) {
                    let kind = EntryKind::Message;
                    self.content(Content {
                        source: self.source,
                        found: *found,
                        entry: *entry,
                        kind,
                        root: message,
                        from_patch: true,
                        signs,
                    });
                }
            }
            _ => {}
        }
    }

    /// What a record brings into an entry, for every pass that needs its payload.
    fn content(&mut self, content: Content<'_>) {
        let message = content.message().filter(|message| message.is_record()).map(|message| Message::of(message, Role::of(message)));
        let message = message.as_ref();
        entry::judge(&content, message, &mut self.held);
        size::judge(&content, message, &mut self.held);
        artifact::provenance::judge(&content, &mut self.held);
        self.blobs.judge(&content, &mut self.held);
        self.references.take(&content);
        self.marks.take(&content, message);
        if let Some(message) = message {
            patch::judge_message(&content, message, &mut self.held);
            self.calls.take(&content, message, &mut self.held);
            self.artifacts.take(&content, message, &self.held);
        }
    }
}
