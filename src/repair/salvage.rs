//! Salvage: a new transcript that holds what gjc's lenient reader yields of a damaged one, and every complete record that it
//! misses: behind another on one line, behind a torn one, behind NUL bytes, or swallowed by a value that goes on over lines.
//!
//! Nothing is invented: each line of the copy is a range of the source, byte for byte (bytes that are no UTF-8 become U+FFFD, a
//! line end inside a record a space), and each byte of the source is either in such a range or listed with the reason why not.

use super::plan::hex;
use super::proof::{Checked, begins, said};
use crate::check::line::{Pieces, begins_with_own_record, pieces};
use crate::fsys::{Fs, Sha256Reader, Watched};
use crate::json::jsonl::{Event, Found, Line, Lines};
use crate::json::text::Encoding;
use crate::json::{Node, Tape, View};
use crate::transcript::context::build;
use crate::transcript::ids::Id;
use crate::transcript::inspect::{self, Cause, Inspected, Reason, Verdict};
use crate::transcript::tree::{Leaf, PathEnd, Tree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::Path;

/// The form of a salvage proof.
pub const SCHEMA: &str = "gjc-fsck/salvage-proof/1";

/// What was carried over and what was not: together every byte of the source, once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Mended {
    /// One for each line of the copy.
    pub lines: Vec<Carried>,
    /// The rest.
    pub left: Vec<Left>,
}

/// A line of the copy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Carried {
    /// Line of the copy, 1-based.
    pub line: u64,
    /// Line of the source that it begins on.
    pub source_line: u64,
    /// First byte of its range in the source: the record with the white space and the line end around it.
    pub from: u64,
    /// First byte behind it.
    pub to: u64,
    /// What was changed in it, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changed: Option<String>,
}

/// Bytes that were not carried over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    /// Line of the source that they begin on.
    pub source_line: u64,
    /// First byte.
    pub from: u64,
    /// First byte behind.
    pub to: u64,
    /// Why.
    pub reason: String,
}

/// Why nothing can be salvaged.
#[derive(Debug, thiserror::Error)]
pub enum Unmendable {
    /// The source cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// The copy cannot be written.
    #[error("{0}")]
    Write(io::Error),
    /// Two bytes a character: ranges of it are no ranges of the copy.
    #[error("this file is UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)")]
    Utf16,
}

/// Carries over what can be, in the order of the source; `write` is given each line of the copy with its LF.
///
/// # Errors
/// The source cannot be read, the copy cannot be written, or the source is UTF-16.
pub fn mend(input: impl Read, write: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<Mended, Unmendable> {
    let mut lines = Lines::new(input);
    let mut mending = Mending { write, mended: Mended::default(), tape: Tape::default(), held: Vec::new(), cover: None, at: 0 };
    let mut any = false;
    while let Some(event) = lines.next().map_err(Unmendable::Read)? {
        match event {
            Event::Line(line) => {
                if !any {
                    any = true;
                    mending.mark(line.offset);
                }
                mending.line(&line).map_err(Unmendable::Write)?;
            }
            Event::Value(found) => mending.value(&found),
            Event::Skipped { .. } | Event::Lost { .. } => {}
        }
        if lines.encoding() == Encoding::Utf16Le {
            return Err(Unmendable::Utf16);
        }
    }
    mending.flush().map_err(Unmendable::Write)?;
    Ok(mending.mended)
}

struct Mending<'w> {
    write: &'w mut dyn FnMut(&[u8]) -> io::Result<()>,
    mended: Mended,
    tape: Tape,
    /// What the latest line gives, until it is known whether a value begins on it that goes on over lines.
    held: Vec<Segment>,
    /// Last line of such a value, which is carried as one, and the byte behind it.
    cover: Option<(u64, u64)>,
    /// First byte that is not accounted for.
    at: u64,
}

/// A piece of the source, in order.
struct Segment {
    line: u64,
    to: u64,
    fate: Fate,
}

enum Fate {
    Carried { bytes: Vec<u8>, changed: Option<String> },
    Left(&'static str),
}

/// A record that the copy holds: an object with a string `type`.
fn is_record(node: Node<'_>) -> bool {
    node.is_record() && node.str_member("type").is_some()
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

impl Mending<'_> {
    /// The byte order mark, if there is one.
    fn mark(&mut self, length: u64) {
        if length > 0 {
            self.held.push(Segment { line: 1, to: length, fate: Fate::Left("a byte order mark") });
        }
    }
    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        self.flush()?;
        let end = line.offset + line.raw.len() as u64 + u64::from(line.has_lf);
        if let Some((last, behind)) = self.cover {
            if line.number < last {
                return Ok(());
            }
            self.cover = None;
            if line.number == last {
                // What follows the value on its last line.
                let from = usize::try_from(behind.saturating_sub(line.offset)).unwrap_or(usize::MAX).min(line.raw.len());
                let rest = line.raw.get(from..).unwrap_or_default();
                match self.mended.lines.last_mut().filter(|_| is_blank(rest)) {
                    Some(value) => {
                        value.to = end;
                        self.at = end;
                    }
                    None => self.piece(line.number, line.offset + from as u64, rest, end),
                }
                return Ok(());
            }
        }
        match line.value.filter(|_| line.invalid_utf8.is_none()) {
            Some(node) if is_record(node) => self.carry(line.number, end, trimmed(line.raw).to_vec(), None),
            Some(_) => self.leave(line.number, end, "no record: a value without a string `type`"),
            None => self.piece(line.number, line.offset, line.raw, end),
        }
        Ok(())
    }
    /// A value of the lenient reader. One that goes on over lines, and swallows no record, is one record on one line.
    fn value(&mut self, found: &Found<'_>) {
        if found.last_line == found.line || !is_record(found.node) {
            return;
        }
        let mut pieces = found.text.split(|byte| *byte == b'\n').skip(1);
        if pieces.any(|piece| begins_with_own_record(piece, &mut self.tape)) {
            return;
        }
        // The line that it begins on was taken for damaged; what stands before the value there is white space.
        self.held.retain(|segment| matches!(segment.fate, Fate::Left("a byte order mark")));
        let one_line: Vec<u8> = found.text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        let replaced = if found.end - found.offset == found.text.len() as u64 { "" } else { ", and bytes that are no UTF-8 U+FFFD" };
        self.carry(found.line, found.end, one_line, Some(format!("line ends inside it became spaces{replaced}")));
        self.cover = Some((found.last_line, found.end));
    }
    /// A piece of a line that is no record as a whole.
    fn piece(&mut self, number: u64, offset: u64, raw: &[u8], end: u64) {
        if is_blank(raw) {
            return self.leave(number, end, "white space");
        }
        let Pieces { whole, records, is_conflict } = pieces(raw, &mut self.tape);
        let torn = if is_conflict { "a merge conflict marker" } else { "torn: no complete record found" };
        let mut spans = Vec::new();
        spans.extend(whole);
        spans.extend(records);
        let mut at = 0;
        for (from, to) in spans {
            let (Some(before), Some(bytes)) = (raw.get(at..from), raw.get(from..to)) else { continue };
            if !is_blank(before) {
                self.leave(number, offset + from as u64, torn);
            }
            self.carry(number, offset + to as u64, bytes.to_vec(), None);
            at = to;
        }
        match raw.get(at..) {
            Some(rest) if !is_blank(rest) => self.leave(number, end, torn),
            // White space and the line end belong to the last record.
            _ => {
                if let Some(last) = self.held.last_mut() {
                    last.to = end;
                }
            }
        }
    }
    fn carry(&mut self, line: u64, to: u64, bytes: Vec<u8>, changed: Option<String>) {
        self.held.push(Segment { line, to, fate: Fate::Carried { bytes, changed } });
    }
    fn leave(&mut self, line: u64, to: u64, reason: &'static str) {
        self.held.push(Segment { line, to, fate: Fate::Left(reason) });
    }
    fn flush(&mut self) -> io::Result<()> {
        for Segment { line, to, fate } in std::mem::take(&mut self.held) {
            let from = self.at;
            self.at = to;
            match fate {
                Fate::Left(reason) => self.mended.left.push(Left { source_line: line, from, to, reason: reason.to_owned() }),
                Fate::Carried { bytes, mut changed } => {
                    let mut text = match std::str::from_utf8(&bytes) {
                        Ok(_) => bytes,
                        Err(_) => {
                            changed = Some("bytes that are no UTF-8 became U+FFFD".to_owned());
                            String::from_utf8_lossy(&bytes).into_owned().into_bytes()
                        }
                    };
                    text.push(b'\n');
                    (self.write)(&text)?;
                    let number = self.mended.lines.len() as u64 + 1;
                    self.mended.lines.push(Carried { line: number, source_line: line, from, to, changed });
                }
            }
        }
        Ok(())
    }
}

fn trimmed(raw: &[u8]) -> &[u8] {
    let start = raw.iter().position(|byte| !is_blank(&[*byte])).unwrap_or(raw.len());
    let end = raw.iter().rposition(|byte| !is_blank(&[*byte])).map_or(start, |last| last + 1);
    raw.get(start..end).unwrap_or_default()
}

/// What gjc makes of a transcript.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// Entries that the lenient reader loads; 0 when it throws.
    pub entries: u64,
    /// Messages that reach the model; 0 when the context cannot be built.
    pub messages: u64,
    /// The strict reader's answer: `resumable`, `terminal`, or gjc's token.
    pub strict: String,
    /// Why the strict reader refuses it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub because: Option<String>,
    /// Id of the entry that the context ends with: the last one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leaf: Option<String>,
    /// Where the context begins too late.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut: Option<Cut>,
}

/// The first entry of a context that names an entry before it which the transcript does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// Its 1-based line.
    pub line: u64,
    /// Its id, where it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// The id that it names.
    pub parent: String,
}

/// Reads a transcript of at most `size` bytes as gjc does.
///
/// # Errors
/// It cannot be read.
pub fn read(input: impl Read, size: u64, options: inspect::Options) -> io::Result<Reading> {
    let Inspected { verdict, loaded, migrated } = inspect::bytes(input, size, options)?;
    let (strict, because) = match &verdict {
        Verdict::Resumable => ("resumable", None),
        Verdict::Terminal => ("terminal", None),
        Verdict::Error(reason) => (reason.token(), Some(words(reason))),
    };
    let mut reading = Reading { entries: 0, messages: 0, strict: strict.to_owned(), because, leaf: None, cut: None };
    let Ok(loaded) = &loaded else { return Ok(reading) };
    reading.entries = loaded.entries.len() as u64;
    if matches!(migrated, Some(Ok(_)))
        && let Ok(context) = build(&Tree::new(loaded), Leaf::Last, options.release)
    {
        let id = |id: Id| loaded.ids.text(id).map(|text| String::from_utf8_lossy(text).into_owned());
        let entry = |at: Option<&usize>| at.and_then(|at| loaded.entries.get(*at));
        reading.messages = context.messages.len() as u64;
        reading.leaf = entry(context.path.entries.last()).and_then(|leaf| id(leaf.id));
        if let (Some(PathEnd::Dangling(parent)), Some(first)) = (context.path.end, entry(context.path.entries.first())) {
            reading.cut = Some(Cut { line: u64::from(first.line), id: id(first.id), parent: id(parent).unwrap_or_default() });
        }
    }
    Ok(reading)
}

/// Why the strict reader refuses a file, in words.
fn words(reason: &Reason) -> String {
    match reason {
        Reason::Malformed(cause) => match cause {
            Cause::Utf8 { line } => format!("line {line} is not UTF-8"),
            Cause::Syntax { line } => format!("line {line} is no JSON"),
            Cause::Load(throw) | Cause::Migration(throw) | Cause::Context(throw) => throw.to_string(),
            Cause::Header => "it does not begin with a session header".to_owned(),
            Cause::Schema { entry, .. } => format!("entry {} is not as its type demands (the header is entry 1)", entry + 1),
        },
        other => other.token().to_owned(),
    }
}

/// A whole salvage, as its proof says it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Salvage {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of this program.
    pub tool: String,
    /// The source, which was only read.
    pub source: Hashed,
    /// The copy.
    pub copy: Hashed,
    /// What gjc makes of the source.
    pub before: Reading,
    /// What gjc makes of the copy.
    pub after: Reading,
    /// Which bytes went where.
    #[serde(flatten)]
    pub mended: Mended,
}

/// A file and its content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hashed {
    /// Where.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256, lower-case hex.
    pub sha256: String,
}

/// Looks at everything that a salvage proof says: the two files, that its ranges are every byte of the source once, and that
/// mending the source gives these ranges and this copy. The copy may have grown since: a session goes on.
pub fn verify(fs: &dyn Fs, proof: &Salvage) -> Vec<Checked> {
    let (source, copy) = (&proof.source, &proof.copy);
    let again = mend_again(fs, Path::new(&source.path));
    let unchanged = match &again {
        Ok(again) if (again.size, &again.sha256) == (source.size, &source.sha256) => {
            Ok(format!("{} bytes, sha256 {}", source.size, source.sha256))
        }
        Ok(again) => Err(format!("other bytes: {}, sha256 {}", again.size, again.sha256)),
        Err(why) => Err(why.clone()),
    };
    let mended = match &again {
        Ok(again) if again.mended != proof.mended => Err("other ranges".to_owned()),
        Ok(again) if again.copy != copy.sha256 => Err(format!("another copy: sha256 {}", again.copy)),
        Ok(_) => {
            let counted = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
            let (lines, left) = (proof.mended.lines.len(), proof.mended.left.len());
            Ok(format!("{} carried over, {} left out", counted(lines, "line", "lines"), counted(left, "range", "ranges")))
        }
        Err(why) => Err(why.clone()),
    };
    let checks = [
        ("the source has the same bytes", &source.path, unchanged),
        ("the copy begins with the bytes that were written", &copy.path, begins(fs, Path::new(&copy.path), copy.size, &copy.sha256)),
        ("the ranges are every byte of the source, once", &source.path, partition(&proof.mended, source.size)),
        ("mended again, the source gives these ranges and this copy", &source.path, mended),
    ];
    let checked = checks.into_iter().map(|(what, path, outcome)| {
        let holds = outcome.is_ok();
        Checked { what: what.to_owned(), path: path.clone(), holds, found: outcome.unwrap_or_else(|why| why) }
    });
    checked.collect()
}

/// A source that was mended once more, into nothing.
struct Again {
    size: u64,
    sha256: String,
    copy: String,
    mended: Mended,
}

fn mend_again(fs: &dyn Fs, path: &Path) -> Result<Again, String> {
    let watched = Watched::open(fs, path).map_err(|why| said(&why))?;
    let (mut reader, mut copy) = (Sha256Reader::new(watched), Sha256::new());
    let mended = mend(&mut reader, &mut |line| {
        copy.update(line);
        Ok(())
    });
    let mended = mended.map_err(|why| why.to_string())?;
    let (sha256, size, watched) = reader.finish();
    watched.finish().map_err(|why| said(&why))?;
    Ok(Again { size, sha256: hex(&sha256), copy: hex(&copy.finalize()), mended })
}

/// Whether ranges are every one of so many bytes, once.
fn partition(mended: &Mended, size: u64) -> Result<String, String> {
    let lines = mended.lines.iter().map(|line| (line.from, line.to));
    let mut ranges: Vec<(u64, u64)> = lines.chain(mended.left.iter().map(|left| (left.from, left.to))).collect();
    ranges.sort_unstable();
    let mut at = 0;
    for (from, to) in ranges {
        if from != at || to < from {
            return Err(format!("byte {} is in no range, or in two", at.min(from)));
        }
        at = to;
    }
    if at == size { Ok(format!("{size} bytes")) } else { Err(format!("they end at byte {at} of {size}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    fn label(id: &str) -> String {
        format!(r#"{{"type":"label","id":"{id}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","targetId":"x"}}"#)
    }

    /// The copy of a source; its ranges are a partition of the source.
    fn copy(source: &[u8]) -> (String, Mended) {
        let mut out = Vec::new();
        let mended = mend(source, &mut |line| {
            out.extend_from_slice(line);
            Ok(())
        })
        .unwrap();
        let lines = mended.lines.iter().map(|line| (line.from, line.to));
        let mut ranges: Vec<(u64, u64)> = lines.chain(mended.left.iter().map(|left| (left.from, left.to))).collect();
        ranges.sort_unstable();
        let mut at = 0;
        for (from, to) in ranges {
            assert_eq!(from, at, "every byte once: {mended:#?}");
            assert!(to > from);
            at = to;
        }
        assert_eq!(at, source.len() as u64, "every byte: {mended:#?}");
        (String::from_utf8(out).unwrap(), mended)
    }
    fn reasons(mended: &Mended) -> Vec<&str> {
        mended.left.iter().map(|left| left.reason.as_str()).collect()
    }

    #[test]
    fn a_healthy_transcript_is_its_own_copy() {
        let source = format!("{HEADER}\n{}\n", label("a"));
        let (text, mended) = copy(source.as_bytes());
        assert_eq!((text, mended.left.len()), (source, 0));
    }
    #[test]
    fn glued_fused_and_padded_records_come_back() {
        let (a, b, c, d) = (label("a"), label("b"), label("c"), label("d"));
        let nuls = "\0".repeat(300);
        let source = format!("{HEADER}\n{a}{b}\n{{\"type\":\"mess{c}\n{nuls}{d}\n");
        let (text, mended) = copy(source.as_bytes());
        assert_eq!(text, format!("{HEADER}\n{a}\n{b}\n{c}\n{d}\n"));
        assert_eq!(reasons(&mended), ["torn: no complete record found"; 2]);
    }
    /// A type that gjc does not know (yet) is a record all the same, where nothing else can be meant.
    #[test]
    fn glued_records_of_unknown_types_come_back_and_parts_of_a_torn_one_do_not() {
        let (a, b, new) = (label("a"), label("b"), r#"{"type":"of-the-future","x":{"type":"text"}}"#);
        let source = format!("{HEADER}\n{a}{new} {b}{new}\n{{\"type\":\"of-the-future\",\"x\":[{new}\n");
        let (text, mended) = copy(source.as_bytes());
        assert_eq!(text, format!("{HEADER}\n{a}\n{new}\n{b}\n{new}\n"));
        assert_eq!(reasons(&mended), ["torn: no complete record found"]);
    }
    #[test]
    fn what_a_torn_value_swallowed_comes_back() {
        let (a, b) = (label("a"), label("b"));
        let source = format!("{HEADER}\n{{\"type\":\"custom\",\"id\":\"t\",\"data\":\n{a}}}\n{b}\n");
        let (text, mended) = copy(source.as_bytes());
        assert_eq!(text, format!("{HEADER}\n{a}\n{b}\n"));
        assert_eq!(mended.left.len(), 2, "{mended:#?}");
    }
    #[test]
    fn a_record_over_lines_is_one_line_of_the_copy() {
        let source = format!("{HEADER}\n{{\n  \"type\": \"label\",\n  \"id\": \"a\"\n}} \n{}", label("b"));
        let (text, mended) = copy(source.as_bytes());
        assert_eq!(text, format!("{HEADER}\n{{   \"type\": \"label\",   \"id\": \"a\" }}\n{}\n", label("b")));
        assert_eq!(mended.lines.iter().filter(|line| line.changed.is_some()).count(), 1);
    }
    /// U+FFFD is longer than the byte that it stands for: what follows the value is still found.
    #[test]
    fn a_record_over_lines_that_is_no_utf8_ends_where_its_bytes_end() {
        let a = label("a");
        let torn = [b"{\n\"type\":\"label\",\"id\":\"".to_vec(), vec![0xff; 60], format!("\"}}{a}\n").into_bytes()].concat();
        let (text, mended) = copy(&[format!("{HEADER}\n").into_bytes(), torn].concat());
        let replaced = "\u{fffd}".repeat(60);
        assert_eq!(text, format!("{HEADER}\n{{ \"type\":\"label\",\"id\":\"{replaced}\"}}\n{a}\n"));
        assert!(mended.lines[1].changed.as_ref().unwrap().contains("U+FFFD"));
    }
    #[test]
    fn what_is_no_record_is_listed() {
        let source = format!("\u{feff}{HEADER}\r\n\n[1]\nnull\n<<<<<<< HEAD\n{{\"type\":\"mes");
        let (text, mended) = copy(source.as_bytes());
        assert_eq!(text, format!("{HEADER}\n"));
        let no_record = "no record: a value without a string `type`";
        let expected =
            ["a byte order mark", "white space", no_record, no_record, "a merge conflict marker", "torn: no complete record found"];
        assert_eq!(reasons(&mended), expected);
    }
    #[test]
    fn bytes_that_are_no_utf8_are_replaced_and_said_so() {
        let source = [HEADER.as_bytes(), b"\n{\"type\":\"label\",\"id\":\"\xff\"}\n"].concat();
        let (text, mended) = copy(&source);
        assert_eq!(text, format!("{HEADER}\n{{\"type\":\"label\",\"id\":\"\u{fffd}\"}}\n"));
        assert!(mended.lines[1].changed.is_some());
    }
    #[test]
    fn nothing_gives_nothing_and_utf16_is_refused() {
        assert_eq!(copy(b""), (String::new(), Mended::default()));
        assert!(matches!(mend(&b"\xff\xfe{\0}\0"[..], &mut |_| Ok(())), Err(Unmendable::Utf16)));
    }
    #[test]
    fn a_copy_is_read_as_gjc_reads_it() {
        let source = format!("{HEADER}\n{}\n", label("a"));
        let reading = read(source.as_bytes(), source.len() as u64, inspect::Options::new(Release::default())).unwrap();
        assert_eq!((reading.entries, reading.strict.as_str(), reading.because), (2, "terminal", None));
        assert_eq!((reading.leaf.as_deref(), reading.cut), (Some("a"), None));
        let torn = format!("{HEADER}\n{{");
        let reading = read(torn.as_bytes(), torn.len() as u64, inspect::Options::new(Release::default())).unwrap();
        assert_eq!((reading.strict.as_str(), reading.because.as_deref()), ("malformed", Some("line 2 is no JSON")));
        let hangs = format!("{HEADER}\n{}\n{}\n", label("a"), label("b").replace("null", "\"lost\""));
        let reading = read(hangs.as_bytes(), hangs.len() as u64, inspect::Options::new(Release::default())).unwrap();
        assert_eq!(reading.cut, Some(Cut { line: 3, id: Some("b".to_owned()), parent: "lost".to_owned() }));
    }
}
