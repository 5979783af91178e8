//! Reader S: the strict inspection that decides whether a session can be resumed (spec 01 §2.3, 01a).
//!
//! Three parts, so that a check can run them in its own pass: [`StrictLines`] judges the physical lines, the loader
//! builds the entries, [`conclude`] migrates, applies the schema and classifies. [`bytes`] runs them over a stream,
//! [`file()`] adds the steps that look at the path.

use super::context::{self, Class, budget};
use super::facts::{Fact, Facts};
use super::load::{Loaded, Loader};
use super::migrate::{Migrated, Numbered, migrate};
use super::schema::Faults;
use super::throw::Throw;
use crate::finding::Release;
use crate::fsys::{Fs, Kind, Meta};
use crate::json::jsonl::{Event, Line, Lines, Strict};
use crate::json::text::Encoding;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of the largest file that is loaded as a whole.
pub const EAGER_MAX: u64 = 134_217_728;

/// What strict inspection answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The last message of the context is not from the assistant.
    Resumable,
    /// The last message is from the assistant, or there is none.
    Terminal,
    /// gjc refuses the file.
    Error(Reason),
}

/// Why gjc refuses a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There is no such file.
    Missing,
    /// The bytes are no transcript.
    Malformed(Cause),
    /// The file changed while it was read.
    Unstable,
    /// Not a regular file, or it cannot be read.
    ReadFailed,
    /// Larger than [`EAGER_MAX`].
    Oversized {
        /// Bytes on disk.
        size: u64,
    },
    /// The context is larger than the budget.
    ContextTooLarge {
        /// Measured bytes.
        bytes: u64,
    },
}

impl Reason {
    /// gjc's token.
    pub const fn token(&self) -> &'static str {
        match self {
            Reason::Missing => "missing",
            Reason::Malformed(_) => "malformed",
            Reason::Unstable => "unstable",
            Reason::ReadFailed => "read-failed",
            Reason::Oversized { .. } => "oversized",
            Reason::ContextTooLarge { .. } => "context_too_large",
        }
    }
    /// The size that gjc reports with the reason.
    pub const fn size(&self) -> Option<u64> {
        match self {
            Reason::Oversized { size } => Some(*size),
            Reason::ContextTooLarge { bytes } => Some(*bytes),
            _ => None,
        }
    }
}

/// The first step that makes a file `malformed`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// This line is no UTF-8.
    Utf8 {
        /// 1-based line.
        line: u64,
    },
    /// `JSON.parse` refuses this line.
    Syntax {
        /// 1-based line.
        line: u64,
    },
    /// Loading throws.
    Load(Throw),
    /// Entry 0 is no header with a string `id`.
    Header,
    /// Migration throws.
    Migration(Throw),
    /// An entry fails the strict schema.
    Schema {
        /// Number of the first such entry.
        entry: usize,
        /// The members that fail.
        faults: Faults,
    },
    /// Building the context throws.
    Context(Throw),
}

/// Steps 5 and 6: every byte is UTF-8, every piece is empty or accepted by `JSON.parse`.
#[derive(Clone, Debug, Default)]
pub struct StrictLines {
    utf8: Option<u64>,
    syntax: Option<u64>,
}

impl StrictLines {
    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>) {
        if line.invalid_utf8.is_some() && self.utf8.is_none() {
            self.utf8 = Some(line.number);
        }
        if matches!(line.strict, Strict::Refused { .. }) && self.syntax.is_none() {
            self.syntax = Some(line.number);
        }
    }
    /// What the lines say, after the last one; `encoding` is that of the file.
    pub fn finish(&self, encoding: Encoding) -> Option<Cause> {
        // Decoding comes before splitting.
        let utf8 = if encoding == Encoding::Utf16Le { Some(1) } else { self.utf8 };
        utf8.map(|line| Cause::Utf8 { line }).or(self.syntax.map(|line| Cause::Syntax { line }))
    }
}

/// How a file is inspected.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The release of gjc.
    pub release: Release,
    /// Bytes a context may have ([`budget::DEFAULT`], or what the environment says).
    pub budget: u64,
}

impl Options {
    /// The default budget.
    pub const fn new(release: Release) -> Self {
        Options { release, budget: budget::DEFAULT }
    }
    /// What keeps the entries of a file of at most `size` bytes.
    pub const fn keeper(&self, size: u64) -> Facts {
        Facts::new(self.release, !budget::cannot_exceed(size, self.budget))
    }
}

/// An inspected file.
pub struct Inspected {
    /// The verdict.
    pub verdict: Verdict,
    /// The entries: migrated, unless loading or migration threw (what migration did before it threw stays done).
    pub loaded: Result<Loaded<Facts>, Throw>,
    /// What migration did; none when nothing was loaded.
    pub migrated: Option<Result<Migrated, Throw>>,
}

/// Steps 7 to 12, from what the lines and the loader answered. Goes on behind a refusal, so that a check sees what the
/// lenient reader yields.
pub fn conclude(lines: Option<Cause>, loaded: Result<Loaded<Facts>, Throw>, options: Options) -> Inspected {
    let mut loaded = match loaded {
        Err(throw) => return refused(lines.unwrap_or(Cause::Load(throw.clone())), Err(throw), None),
        Ok(loaded) if loaded.entries.is_empty() => return refused(lines.unwrap_or(Cause::Header), Ok(loaded), None),
        Ok(loaded) => loaded,
    };
    let migrated = migrate(&mut loaded, &mut Numbered::default());
    let cause = lines.or_else(|| match &migrated {
        Err(throw) => Some(Cause::Migration(throw.clone())),
        Ok(_) => first_fault(&loaded.entries),
    });
    if let Some(cause) = cause {
        return refused(cause, Ok(loaded), Some(migrated));
    }
    let budget = loaded.keep.weighs().then_some(options.budget);
    let verdict = match context::classify(&loaded, options.release, budget) {
        Ok(Class::Resumable) => Verdict::Resumable,
        Ok(Class::Terminal) => Verdict::Terminal,
        Ok(Class::TooLarge { bytes }) => Verdict::Error(Reason::ContextTooLarge { bytes }),
        Err(throw) => Verdict::Error(Reason::Malformed(Cause::Context(throw))),
    };
    Inspected { verdict, loaded: Ok(loaded), migrated: Some(migrated) }
}

fn refused(cause: Cause, loaded: Result<Loaded<Facts>, Throw>, migrated: Option<Result<Migrated, Throw>>) -> Inspected {
    Inspected { verdict: Verdict::Error(Reason::Malformed(cause)), loaded, migrated }
}

fn first_fault(entries: &[Fact]) -> Option<Cause> {
    let entry = entries.iter().position(|fact| !fact.faults.is_empty())?;
    Some(Cause::Schema { entry, faults: entries[entry].faults })
}

/// Steps 5 to 12 over a stream of at most `size` bytes.
///
/// # Errors
/// The input cannot be read.
pub fn bytes(input: impl Read, size: u64, options: Options) -> io::Result<Inspected> {
    let mut lines = Lines::new(input);
    let mut strict = StrictLines::default();
    let mut loader = Loader::new(options.keeper(size), options.release);
    while let Some(event) = lines.next()? {
        if let Event::Line(line) = &event {
            strict.line(line);
        }
        loader.event(&event);
    }
    Ok(conclude(strict.finish(lines.encoding()), loader.finish(), options))
}

/// A file that was looked at: what gjc calls its identity, the digest excepted.
pub struct Looked {
    /// The path without links.
    pub canonical: std::path::PathBuf,
    /// The state it was read in.
    pub meta: Meta,
    /// What its bytes are.
    pub inspected: Inspected,
}

/// All steps. A link is followed; the file must be the same, and unchanged, before, while and after it is read.
///
/// # Errors
/// Why there are no bytes to judge.
pub fn file(fs: &dyn Fs, path: &Path, options: Options) -> Result<Looked, Reason> {
    // A path that leads nowhere, for whatever reason, does not exist for gjc.
    let absent = |_| if fs.stat(path).is_ok() { Reason::ReadFailed } else { Reason::Missing };
    let canonical = fs.realpath(path).map_err(absent)?;
    let before = fs.stat(&canonical).map_err(absent)?;
    if before.kind != Kind::File {
        return Err(Reason::ReadFailed);
    }
    if before.size > EAGER_MAX {
        return Err(Reason::Oversized { size: before.size });
    }
    let mut file = fs.open(&canonical).map_err(absent)?;
    let mut look = || {
        let opened = file.stat().map_err(|_| Reason::ReadFailed)?;
        // A file that grows without end is not followed: one byte more than promised is a change.
        let read = bytes(Read::take(&mut file, before.size + 1), before.size, options);
        let during = file.stat().map_err(|_| Reason::ReadFailed)?;
        let after = fs.stat(&canonical).map_err(absent)?;
        if ![opened, during, after].iter().all(|meta| meta.same_state(&before)) {
            return Err(Reason::Unstable);
        }
        read.map_err(|_| Reason::ReadFailed)
    };
    // The first failure counts; one of closing alone is a failed read too.
    let looked = look();
    let inspected = looked.and_then(|inspected| file.close().map(|()| inspected).map_err(|_| Reason::ReadFailed))?;
    Ok(Looked { canonical, meta: before, inspected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/"}"#;
    const USER: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user"}}"#;

    fn verdict(text: &[u8]) -> Verdict {
        bytes(text, text.len() as u64, Options::new(Release::V0_17)).unwrap().verdict
    }
    fn malformed(cause: Cause) -> Verdict {
        Verdict::Error(Reason::Malformed(cause))
    }

    #[test]
    fn a_header_and_a_prompt_can_be_resumed_whatever_the_line_ends() {
        assert_eq!(verdict(HEADER.as_bytes()), Verdict::Terminal);
        for text in [format!("{HEADER}\n{USER}\n"), format!("\u{feff}{HEADER}\r\n\r\n{USER}"), format!("\n{HEADER}\n\n{USER}\n")] {
            assert_eq!(verdict(text.as_bytes()), Verdict::Resumable, "{text:?}");
        }
    }

    #[test]
    fn decoding_comes_before_syntax_and_syntax_before_entries() {
        assert_eq!(verdict(format!("}}\n{HEADER}\n\u{0}").as_bytes()), malformed(Cause::Syntax { line: 1 }));
        assert_eq!(verdict(&[b"}\nnull\n", &b"\xFF"[..]].concat()), malformed(Cause::Utf8 { line: 3 }));
        assert_eq!(verdict(format!("{HEADER}\n \n").as_bytes()), malformed(Cause::Syntax { line: 2 }));
        assert_eq!(verdict(b"\xFF\xFE{\0}\0"), malformed(Cause::Utf8 { line: 1 }));
    }

    #[test]
    fn each_later_step_has_its_cause() {
        assert_eq!(verdict(b""), malformed(Cause::Header));
        assert!(matches!(verdict(b"null\n"), Verdict::Error(Reason::Malformed(Cause::Load(_)))));
        assert!(matches!(verdict(b"{\"type\":\"session\",\"id\":\"s\"}\n7\n"), Verdict::Error(Reason::Malformed(Cause::Migration(_)))));
        assert!(matches!(
            verdict(format!("{HEADER}\n{{}}\n").as_bytes()),
            Verdict::Error(Reason::Malformed(Cause::Schema { entry: 1, .. }))
        ));
        let rules = r#"{"type":"ttsr_injection","id":"a","parentId":null,"timestamp":"t","injectedRules":[],"injectedRuleRecords":7}"#;
        assert!(matches!(verdict(format!("{HEADER}\n{rules}\n").as_bytes()), Verdict::Error(Reason::Malformed(Cause::Context(_)))));
    }

    /// Rule names of one character weigh 44 times their bytes.
    #[test]
    fn no_file_is_too_short_for_the_budget_to_be_asked() {
        let names: Vec<String> = ('#'..='~').filter(|name| *name != '\\').map(|name| format!("\"{name}\"")).collect();
        let rules =
            format!(r#"{{"type":"ttsr_injection","id":"a","parentId":null,"timestamp":"t","injectedRules":[{}]}}"#, names.join(","));
        let text = format!("{HEADER}\n{rules}\n");
        let of = |budget| bytes(text.as_bytes(), text.len() as u64, Options { budget, ..Options::new(Release::V0_17) }).unwrap().verdict;
        let Verdict::Error(Reason::ContextTooLarge { bytes: weight }) = of(1) else { panic!("a context of one byte is allowed") };
        assert!(weight > 19 * text.len() as u64 + 1024);
        assert_eq!(of(weight - 1), Verdict::Error(Reason::ContextTooLarge { bytes: weight }));
        assert_eq!(of(weight), Verdict::Terminal);
    }

    #[test]
    fn a_file_is_looked_at_before_its_bytes() {
        let fs = Memory::new();
        fs.file("/d/f", format!("{HEADER}\n{USER}\n").as_bytes());
        fs.symlink("/d/link", "f");
        fs.symlink("/d/loop", "loop");
        fs.symlink("/d/dangling", "nowhere");
        fs.special("/d/fifo", Kind::Fifo);
        let look = |path: &str| file(&fs, Path::new(path), Options::new(Release::V0_17)).map(|looked| looked.inspected.verdict);
        assert_eq!(look("/d/f"), Ok(Verdict::Resumable));
        assert_eq!(look("/d/link"), Ok(Verdict::Resumable));
        for path in ["/d/none", "/d/loop", "/d/dangling", "/d/f/below"] {
            assert_eq!(look(path), Err(Reason::Missing), "{path}");
        }
        assert_eq!(look("/d"), Err(Reason::ReadFailed));
        assert_eq!(look("/d/fifo"), Err(Reason::ReadFailed));
    }

    #[test]
    fn a_close_that_fails_alone_is_a_failed_read_and_the_first_failure_survives_it() {
        use crate::fsys::{Errno, Inject, Phase};
        let fs = Memory::new();
        fs.file("/s.jsonl", format!("{HEADER}\n{USER}\n").as_bytes());
        let reason = |fs: &dyn Fs| file(fs, Path::new("/s.jsonl"), Options::new(Release::default())).err();
        assert_eq!(reason(&fs), None);
        let closing = Inject::new(&fs, |call| (call.op == "close" && call.phase == Phase::Before).then_some(Errno::IO));
        assert_eq!(reason(&closing), Some(Reason::ReadFailed));
        // The file grows while it is read; that closing fails as well is not what is told.
        let moving = Inject::new(&fs, |call| {
            if call.op == "read" && call.phase == Phase::Before {
                fs.append("/s.jsonl", b"{}\n");
            }
            (call.op == "close" && call.phase == Phase::Before).then_some(Errno::IO)
        });
        assert_eq!(reason(&moving), Some(Reason::Unstable));
    }
}
