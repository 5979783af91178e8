//! Reader R: the bounded scan, which alone opens transcripts above 128 MiB (spec 01 §2.7, 04 §4.6).
//!
//! Stricter than everything else: one line a record, one chain of entries, no patches, a compaction. Memory is one line
//! and the ids. gjc's own budgets of the scan are not known, so `bounded_scan_budget` is never answered here.

use crate::json::jsonl;
use crate::json::scan::{self, Outcome, skip_space};
use crate::json::{Tape, View, text};
use crate::transcript::entry::Role;
use crate::transcript::ids::{Id, Ids};
use crate::transcript::{EntryKind, schema, usage};
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of the largest file that the scan is tried on.
pub const BOUNDED_MAX: u64 = 2_148_532_224;
/// Longest line, its LF included.
pub const LONGEST_LINE: u64 = 8_388_608;

/// Why the scan refuses a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The last line has no LF.
    Unterminated,
    /// A line has more than [`LONGEST_LINE`] bytes.
    OversizedLine,
    /// A line is empty, no UTF-8, no JSON, or no record with string `type` and `id`; patches have no `id`.
    Malformed,
    /// A record fails the strict schema, its usage or rule records do not validate, the header is not version 5, or a
    /// second header. (gjc's token for the last three is not known.)
    Unsupported,
    /// The parent was seen, but is not the entry before.
    Branch,
    /// The parent was never seen.
    MissingParent,
    /// An id occurs twice.
    Duplicate,
    /// A compaction keeps from an entry that was not seen before it, or there is none.
    InvalidCompaction,
}

impl Refusal {
    /// gjc's token.
    pub const fn token(self) -> &'static str {
        match self {
            Refusal::Unterminated => "bounded_scan_unterminated",
            Refusal::OversizedLine => "bounded_scan_oversized_line",
            Refusal::Malformed => "bounded_scan_malformed",
            Refusal::Unsupported => "bounded_scan_unsupported",
            Refusal::Branch => "bounded_scan_branch",
            Refusal::MissingParent => "bounded_scan_missing_parent",
            Refusal::Duplicate => "bounded_scan_duplicate",
            Refusal::InvalidCompaction => "bounded_scan_invalid_compaction",
        }
    }
}

/// The first thing that makes the scan give up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// 1-based line; the last one when the whole file is to blame.
    pub line: u64,
}

/// Scans a file. Ends at the first refusal: what stands behind it is not read.
///
/// # Errors
/// The input cannot be read.
pub fn scan(input: impl Read) -> io::Result<Result<(), Refused>> {
    let mut input = BufReader::with_capacity(256 * 1024, input);
    let (mut chain, mut ids, mut tape) = (Chain::default(), Ids::default(), Tape::default());
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            let end = if chain.compacted { Ok(()) } else { Err(Refusal::InvalidCompaction) };
            return Ok(end.map_err(|refusal| Refused { refusal, line: number }));
        }
        number += 1;
        if let Err(refusal) = chain.line(&line, &mut tape, &mut ids) {
            return Ok(Err(Refused { refusal, line: number }));
        }
    }
}

/// The scan over the lines of a stream that is read for other readers too. Feed it every line of
/// [`Lines`](crate::json::jsonl::Lines) in order, with the same [`Ids`], which other readers may use too: a large file has
/// an id for each of its entries, and they are kept once.
#[derive(Default)]
pub struct Bounded {
    chain: Chain,
    refused: Option<Refused>,
    lines: u64,
}

impl Bounded {
    /// Takes the next line.
    pub fn line(&mut self, line: &jsonl::Line<'_>, ids: &mut Ids) {
        self.lines = line.number;
        if self.refused.is_some() {
            return;
        }
        if let Err(refusal) = self.judge(line, ids) {
            self.refused = Some(Refused { refusal, line: line.number });
            // Nothing is asked of what was seen before.
            self.chain = Chain::default();
        }
    }

    fn judge(&mut self, line: &jsonl::Line<'_>, ids: &mut Ids) -> Result<(), Refusal> {
        if line.raw.len() as u64 + u64::from(line.has_lf) > LONGEST_LINE {
            return Err(Refusal::OversizedLine);
        }
        // A byte order mark, which the line leaves out, puts the header behind byte 0.
        let marked = line.number == 1 && line.offset > 0;
        match line.value {
            _ if !line.has_lf => Err(Refusal::Unterminated),
            Some(record) if !marked && line.invalid_utf8.is_none() => self.chain.record(record, ids),
            _ => Err(Refusal::Malformed),
        }
    }

    /// The verdict, after the last line.
    ///
    /// # Errors
    /// The first thing that makes the scan give up.
    pub fn finish(&self) -> Result<(), Refused> {
        match self.refused {
            Some(refused) => Err(refused),
            None if self.chain.compacted => Ok(()),
            None => Err(Refused { refusal: Refusal::InvalidCompaction, line: self.lines }),
        }
    }
}

/// What was seen so far: a header and a chain of entries.
#[derive(Default)]
struct Chain {
    /// By [`Id::index`]: the id belongs to an entry.
    seen: Vec<bool>,
    has_header: bool,
    previous: Option<Id>,
    compacted: bool,
    /// Running sums of the members of usage records.
    sums: [f64; 6],
}

impl Chain {
    fn line(&mut self, line: &[u8], tape: &mut Tape, ids: &mut Ids) -> Result<(), Refusal> {
        if line.len() as u64 > LONGEST_LINE {
            return Err(Refusal::OversizedLine);
        }
        let line = line.strip_suffix(b"\n").ok_or(Refusal::Unterminated)?;
        if text::first_invalid_utf8(line).is_some() {
            return Err(Refusal::Malformed);
        }
        // A mark would put the header behind byte 0: it fails `JSON.parse` here.
        match scan::scan(line, 0, tape) {
            Outcome::Complete { end } if skip_space(line, end) == line.len() => match tape.root(line) {
                Some(record) => self.record(record, ids),
                None => Err(Refusal::Malformed),
            },
            _ => Err(Refusal::Malformed),
        }
    }

    fn record<'v, V: View<'v>>(&mut self, record: V, ids: &mut Ids) -> Result<(), Refusal> {
        let is_string = |key| record.get(key).is_some_and(|value: V| value.as_str().is_some());
        if !(record.is_record() && is_string("type") && is_string("id")) {
            return Err(Refusal::Malformed);
        }
        let kind = EntryKind::of(record);
        if !schema::faults(record, kind).is_empty() {
            return Err(Refusal::Unsupported);
        }
        if kind.is_header() || !self.has_header {
            let version_5 = record.get("version").and_then(View::as_f64) == Some(5.0);
            let first = !std::mem::replace(&mut self.has_header, true);
            return if first && kind.is_header() && version_5 { Ok(()) } else { Err(Refusal::Unsupported) };
        }
        self.link(record, ids)?;
        if kind == EntryKind::Compaction {
            let kept = ids.of(record.get("firstKeptEntryId"));
            if Some(kept) == self.previous || !self.is_seen(kept) {
                return Err(Refusal::InvalidCompaction);
            }
            self.compacted = true;
        }
        let rules = kind != EntryKind::TtsrInjection
            || record.get("injectedRuleRecords").is_none_or(|records| records.kind() == crate::json::Kind::Array)
                && record.get("ttsrMessageCount").is_none_or(|count| count.as_f64().is_some());
        if rules && self.usage_counts(record) { Ok(()) } else { Err(Refusal::Unsupported) }
    }

    /// The entry's parent is the entry before it, and its id is new.
    fn link<'v, V: View<'v>>(&mut self, record: V, ids: &mut Ids) -> Result<(), Refusal> {
        let (id, parent) = (ids.of(record.get("id")), ids.of(record.get("parentId")));
        if parent != self.previous.unwrap_or(Id::NULL) {
            let known = parent == Id::NULL || self.is_seen(parent);
            return Err(if known { Refusal::Branch } else { Refusal::MissingParent });
        }
        if self.is_seen(id) {
            return Err(Refusal::Duplicate);
        }
        self.seen.resize(self.seen.len().max(id.index() + 1), false);
        self.seen[id.index()] = true;
        self.previous = Some(id);
        Ok(())
    }

    fn is_seen(&self, id: Id) -> bool {
        self.seen.get(id.index()).copied().unwrap_or(false)
    }

    /// The usage of an entry, if it has one, validates and overflows no running sum.
    fn usage_counts<'v, V: View<'v>>(&mut self, record: V) -> bool {
        let Some(message) = record.get("message") else { return true };
        let used = match Role::of(message) {
            Role::Assistant => message.get("usage"),
            Role::ToolResult if message.get("toolName").is_some_and(|name| name.is_str("task")) => {
                message.get("details").and_then(|details| details.get("usage"))
            }
            _ => None,
        };
        let Some(used) = used else { return true };
        if usage::fault(used).is_some() {
            return false;
        }
        let cost = used.get("cost").and_then(|cost| cost.get("total"));
        let counts = ["input", "output", "cacheRead", "cacheWrite", "premiumRequests"].map(|key| used.get(key));
        for (sum, count) in self.sums.iter_mut().zip(counts.into_iter().chain([cost])) {
            *sum += count.and_then(View::as_f64).unwrap_or(0.0);
        }
        self.sums.iter().all(|sum| sum.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/"}"#;

    fn entry(id: &str, parent: &str, rest: &str) -> String {
        format!(r#"{{"id":"{id}","parentId":{parent},"timestamp":"t",{rest}}}"#)
    }
    fn note(id: &str, parent: &str) -> String {
        entry(id, parent, r#""type":"custom","customType":"n""#)
    }
    fn compaction(id: &str, parent: &str, kept: &str) -> String {
        entry(id, parent, &format!(r#""type":"compaction","summary":"","tokensBefore":1,"firstKeptEntryId":"{kept}""#))
    }
    fn refusal(lines: &[&str]) -> Option<(Refusal, u64)> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let refused = scan(text.as_bytes()).unwrap();
        assert_eq!(streamed(text.as_bytes()), refused, "the stream answers what the scan answers");
        refused.err().map(|refused| (refused.refusal, refused.line))
    }
    fn streamed(text: &[u8]) -> Result<(), Refused> {
        let mut lines = jsonl::Lines::new(text);
        let (mut bounded, mut ids) = (Bounded::default(), Ids::default());
        while let Some(event) = lines.next().unwrap() {
            if let jsonl::Event::Line(line) = event {
                bounded.line(&line, &mut ids);
            }
        }
        bounded.finish()
    }

    #[test]
    fn a_compacted_chain_is_accepted() {
        assert_eq!(refusal(&[HEADER, &note("a", "null"), &compaction("b", "\"a\"", "a"), &note("c", "\"b\"")]), None);
        assert_eq!(refusal(&[&format!("{HEADER}\r"), &note("a", "null"), &compaction("b", "\"a\"", "a")]), None);
    }

    #[test]
    fn each_rule_has_its_token() {
        let (a, b) = (note("a", "null"), note("b", "\"a\""));
        for (lines, refusal_wanted) in [
            (vec![HEADER, &a], (Refusal::InvalidCompaction, 2)),
            (vec![HEADER, &a, &compaction("b", "\"a\"", "b")], (Refusal::InvalidCompaction, 3)),
            (vec![HEADER, &a, &compaction("b", "\"a\"", "c")], (Refusal::InvalidCompaction, 3)),
            (vec![HEADER, &a, &b, &note("c", "\"a\"")], (Refusal::Branch, 4)),
            (vec![HEADER, &a, &note("c", "null")], (Refusal::Branch, 3)),
            (vec![HEADER, &a, &note("c", "\"x\"")], (Refusal::MissingParent, 3)),
            (vec![HEADER, &a, &note("a", "\"a\"")], (Refusal::Duplicate, 3)),
            (vec![HEADER, "", &a], (Refusal::Malformed, 2)),
            (vec![HEADER, "{} {}"], (Refusal::Malformed, 2)),
            (vec![HEADER, r#"{"type":"header_patch","patch":{}}"#], (Refusal::Malformed, 2)),
            (vec![HEADER, HEADER], (Refusal::Unsupported, 2)),
            (vec![&a], (Refusal::Unsupported, 1)),
            (vec![&HEADER.replace('5', "4")], (Refusal::Unsupported, 1)),
            (vec![HEADER, &entry("a", "null", r#""type":"label""#)], (Refusal::Unsupported, 2)),
            (vec![HEADER, &entry("a", "null", r#""type":"message","message":{"role":"assistant","usage":{}}"#)], (Refusal::Unsupported, 2)),
            (vec![&format!("\u{feff}{HEADER}")], (Refusal::Malformed, 1)),
        ] {
            assert_eq!(refusal(&lines), Some(refusal_wanted), "{lines:?}");
        }
    }

    #[test]
    fn an_id_that_only_another_reader_saw_is_not_seen() {
        let text = [HEADER, &note("a", "null"), &compaction("b", "\"a\"", "x")].map(|line| format!("{line}\n")).concat();
        let (mut bounded, mut ids) = (Bounded::default(), Ids::default());
        for id in [b"a", b"x", b"b"] {
            ids.string(id);
        }
        let mut lines = jsonl::Lines::new(text.as_bytes());
        while let Some(event) = lines.next().unwrap() {
            if let jsonl::Event::Line(line) = event {
                bounded.line(&line, &mut ids);
            }
        }
        // Neither is `a` a duplicate, nor can the compaction keep from `x`.
        assert_eq!(bounded.finish(), Err(Refused { refusal: Refusal::InvalidCompaction, line: 3 }));
    }

    #[test]
    fn every_line_ends_and_none_is_longer_than_8_mib() {
        assert_eq!(scan(HEADER.as_bytes()).unwrap().map_err(|r| r.refusal), Err(Refusal::Unterminated));
        let long = format!("{HEADER}\n{}", " ".repeat(9 * 1024 * 1024));
        assert_eq!(scan(long.as_bytes()).unwrap().map_err(|r| (r.refusal, r.line)), Err((Refusal::OversizedLine, 2)));
    }
}
