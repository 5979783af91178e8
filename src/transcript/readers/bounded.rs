//! Reader R: the bounded scan, which alone opens transcripts above 128 MiB (spec 01 §2.7, 04 §4.6).
//!
//! Stricter than everything else: one line a record, one chain of entries, no patches, a compaction, and little enough that
//! has to stay in memory. Memory is one line, the ids, and a few bytes for each of the last 16 MiB of entries.
//!
//! The spec names the budgets and gives no numbers. Those of [`budget`] are facts of gjc's published source (the bounded
//! first open of its session manager, and its constants for the index beside a transcript). The same source settles what the
//! spec leaves open: a header that is not the only one of version 5 is `unsupported`, and so is a usage record that does not
//! validate. UNVERIFIED: that every release this tool speaks of has the same numbers; and gjc keeps 48-bit hashes of the ids,
//! so it can see a duplicate (once in many million sessions) where there is none.

use crate::json::jsonl;
use crate::json::scan::{self, Outcome, skip_space};
use crate::json::view::len_utf16;
use crate::json::{Tape, View, text};
use crate::transcript::entry::Role;
use crate::transcript::ids::{Id, Ids};
use crate::transcript::{EntryKind, schema, usage};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of the largest file that the scan is tried on.
pub const BOUNDED_MAX: u64 = 2_148_532_224;
/// Longest line, its LF included.
pub const LONGEST_LINE: u64 = 8_388_608;

/// What the scan may keep. All limits are inclusive; bytes of strings are gjc's estimate, two a UTF-16 unit and 16 more.
pub mod budget {
    /// Ids that can be told apart.
    pub const IDS: u32 = 1_000_000;
    /// Bytes of the labels in force: target and label, and 48 for each.
    pub const LABELS: u64 = 65_536;
    /// Kinds of entries that set what the next request to a model uses; each role's chain is one.
    pub const SETTINGS: usize = 256;
    /// Bytes of the latest line of each of those kinds, and 64 for each.
    pub const SETTING_BYTES: u64 = 4_194_304;
    /// Bytes of the entries that stay in memory: those from where the last compaction keeps, to the end of the file.
    pub const HOT_BYTES: u64 = 16_777_216;
    /// Bytes that the same entries are held to take in memory: twice their lines, and 304 for each.
    pub const HOT_RESIDENT: u64 = 16_777_216;
    /// Bytes of the index records of the same entries. A file that needs more is refused with another token
    /// (`bounded_scan_build_failed`).
    pub const TAIL_INDEX: u64 = 4_194_304;
}

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
    /// second header.
    Unsupported,
    /// The parent was seen, but is not the entry before.
    Branch,
    /// The parent was never seen.
    MissingParent,
    /// An id occurs twice.
    Duplicate,
    /// A compaction keeps from an entry that was not seen before it, or there is none.
    InvalidCompaction,
    /// More than one of the limits of [`budget`].
    Budget,
    /// More index records than [`budget::TAIL_INDEX`].
    BuildFailed,
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
            Refusal::Budget => "bounded_scan_budget",
            Refusal::BuildFailed => "bounded_scan_build_failed",
        }
    }
}

impl Refusal {
    /// What the line is refused for, for a person: a clause about the line.
    pub const fn words(self) -> &'static str {
        match self {
            Refusal::Unterminated => "it has no line end",
            Refusal::OversizedLine => "it is longer than 8 MiB",
            Refusal::Malformed => "it is no record with `type` and `id` (a patch has no `id`)",
            Refusal::Unsupported => "the record fails the strict schema, or the header is not the only one of version 5",
            Refusal::Branch => "the parent is not the entry before",
            Refusal::MissingParent => "the parent was never seen",
            Refusal::Duplicate => "the id was seen before",
            Refusal::InvalidCompaction => "no compaction keeps from an entry that was seen before it",
            Refusal::Budget => "more has to stay in memory than gjc allows (what the last compaction keeps, labels, or settings)",
            Refusal::BuildFailed => "the last compaction keeps more entries than the index of them has room for",
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
            return Ok(chain.end(number));
        }
        number += 1;
        if let Err(refusal) = chain.line(number, &line, &mut tape, &mut ids) {
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
        let place = Place { number: line.number, bytes: (line.mark() + line.raw.len()) as u64 + u64::from(line.has_lf) };
        if place.bytes > LONGEST_LINE {
            return Err(Refusal::OversizedLine);
        }
        if !line.has_lf {
            return Err(Refusal::Unterminated);
        }
        if line.invalid_utf8.is_some() {
            return Err(Refusal::Malformed);
        }
        match line.value {
            Some(record) => self.chain.record(place, record, ids),
            None => self.chain.record(place, &line.value_behind_mark().ok_or(Refusal::Malformed)?, ids),
        }
    }

    /// The verdict, after the last line.
    ///
    /// # Errors
    /// The first thing that makes the scan give up.
    pub fn finish(&self) -> Result<(), Refused> {
        self.refused.map_or_else(|| self.chain.end(self.lines), Err)
    }
}

/// A line: its number and its bytes with the line feed.
#[derive(Clone, Copy)]
struct Place {
    number: u64,
    bytes: u64,
}

/// How far the chain goes up to some entry: entries, bytes of their lines, bytes of their index records.
#[derive(Clone, Copy, Default)]
struct Length {
    entries: u64,
    bytes: u64,
    index: u64,
}

/// Where the latest compaction keeps from.
#[derive(Clone, Copy)]
struct Kept {
    /// Line of the compaction.
    line: u64,
    /// What stands before the entry that is kept first; none when it lies further back than [`budget::HOT_BYTES`].
    before: Option<Length>,
}

/// What was seen so far: a header and a chain of entries.
#[derive(Default)]
struct Chain {
    /// By [`Id::index`]: 0, or the number of the entry that has the id, counted from 1.
    seen: Vec<u32>,
    has_header: bool,
    previous: Option<Id>,
    length: Length,
    /// What stands before each of the last entries, as many as end within [`budget::HOT_BYTES`].
    recent: VecDeque<Length>,
    kept: Option<Kept>,
    /// Bytes of the labels in force, by target, and their sum.
    labels: (BTreeMap<Id, u64>, u64),
    /// Bytes of the latest entries that set what a request uses, by kind, and their sum.
    settings: (BTreeMap<Setting, u64>, u64),
    /// The latest `ttsrMessageCount`.
    rule_messages: f64,
    /// Running sums of the members of usage records.
    sums: [f64; 6],
}

/// A kind of entry of which the latest decides; of chains, the latest of each role.
type Setting = (EntryKind, Id);

impl Chain {
    fn line(&mut self, number: u64, line: &[u8], tape: &mut Tape, ids: &mut Ids) -> Result<(), Refusal> {
        let place = Place { number, bytes: line.len() as u64 };
        if place.bytes > LONGEST_LINE {
            return Err(Refusal::OversizedLine);
        }
        let line = line.strip_suffix(b"\n").ok_or(Refusal::Unterminated)?;
        if text::first_invalid_utf8(line).is_some() {
            return Err(Refusal::Malformed);
        }
        // Each line is decoded by itself, and that drops one mark at its front.
        let line = line.strip_prefix(text::BYTE_ORDER_MARK).unwrap_or(line);
        match scan::scan(line, 0, tape) {
            Outcome::Complete { end } if skip_space(line, end) == line.len() => match tape.root(line) {
                Some(record) => self.record(place, record, ids),
                None => Err(Refusal::Malformed),
            },
            _ => Err(Refusal::Malformed),
        }
    }

    fn record<'v, V: View<'v>>(&mut self, place: Place, record: V, ids: &mut Ids) -> Result<(), Refusal> {
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
        self.lengthen(place, kind, record);
        match kind {
            EntryKind::Compaction => self.compact(place, ids.of(record.get("firstKeptEntryId")))?,
            EntryKind::Label => self.label(record, ids)?,
            EntryKind::TtsrInjection => {
                let records = record.get("injectedRuleRecords").is_none_or(|records| records.kind() == crate::json::Kind::Array);
                let count = record.get("ttsrMessageCount").map_or(Some(0.0), View::as_f64);
                self.rule_messages = count.filter(|_| records).ok_or(Refusal::Unsupported)?;
            }
            _ => {}
        }
        if !self.usage_counts(record) {
            return Err(Refusal::Unsupported);
        }
        self.set(place, kind, record, ids)
    }

    /// The entry's parent is the entry before it, and its id is new.
    fn link<'v, V: View<'v>>(&mut self, record: V, ids: &mut Ids) -> Result<(), Refusal> {
        let (id, parent) = (ids.of(record.get("id")), ids.of(record.get("parentId")));
        if parent != self.previous.unwrap_or(Id::NULL) {
            // Whatever a first entry names as its parent, it branches off.
            let known = self.previous.is_none() || parent == Id::NULL || self.number(parent).is_some();
            return Err(if known { Refusal::Branch } else { Refusal::MissingParent });
        }
        // The number of an entry is the number of ids that are kept.
        let number = u32::try_from(self.length.entries + 1).ok().filter(|number| *number <= budget::IDS).ok_or(Refusal::Budget)?;
        if self.number(id).is_some() {
            return Err(Refusal::Duplicate);
        }
        self.seen.resize(self.seen.len().max(id.index() + 1), 0);
        self.seen[id.index()] = number;
        self.previous = Some(id);
        Ok(())
    }

    /// The number of the entry that has the id.
    fn number(&self, id: Id) -> Option<u64> {
        self.seen.get(id.index()).copied().filter(|number| *number > 0).map(u64::from)
    }

    fn lengthen<'v, V: View<'v>>(&mut self, place: Place, kind: EntryKind, record: V) {
        let before = self.length;
        self.recent.push_back(before);
        self.length =
            Length { entries: before.entries + 1, bytes: before.bytes + place.bytes, index: before.index + index_bytes(kind, record) };
        while self.recent.front().is_some_and(|first| self.length.bytes - first.bytes > budget::HOT_BYTES) {
            self.recent.pop_front();
        }
    }

    fn compact(&mut self, place: Place, from: Id) -> Result<(), Refusal> {
        let number = self.number(from).filter(|_| Some(from) != self.previous).ok_or(Refusal::InvalidCompaction)?;
        // The last entry has the number `entries`, and stands last in `recent`.
        let back = usize::try_from(self.length.entries - number).unwrap_or(usize::MAX);
        let before = self.recent.len().checked_sub(1).and_then(|last| last.checked_sub(back)).and_then(|at| self.recent.get(at));
        self.kept = Some(Kept { line: place.number, before: before.copied() });
        Ok(())
    }

    fn label<'v, V: View<'v>>(&mut self, record: V, ids: &mut Ids) -> Result<(), Refusal> {
        let target = ids.of(record.get("targetId"));
        let (labels, sum) = &mut self.labels;
        // An empty label takes away, as none does.
        let label = record.get("label").filter(|label| label.truthy());
        let bytes = label.map_or(0, |label| string_bytes(Some(label)) + string_bytes(record.get("targetId")) + 48);
        *sum = *sum - labels.remove(&target).unwrap_or(0) + bytes;
        if bytes > 0 {
            labels.insert(target, bytes);
        }
        if *sum > budget::LABELS { Err(Refusal::Budget) } else { Ok(()) }
    }

    /// Keeps the entry when it sets what a request uses.
    fn set<'v, V: View<'v>>(&mut self, place: Place, kind: EntryKind, record: V, ids: &mut Ids) -> Result<(), Refusal> {
        let role = match kind {
            EntryKind::ConfiguredModelChain => ids.of(record.get("role")),
            EntryKind::ThinkingLevelChange
            | EntryKind::ModelChange
            | EntryKind::ServiceTierChange
            | EntryKind::McpToolSelection
            | EntryKind::DiscoveredBuiltinToolSelection
            | EntryKind::ModeChange
            | EntryKind::TtsrInjection => Id::ABSENT,
            _ => return Ok(()),
        };
        let (settings, sum) = &mut self.settings;
        let bytes = place.bytes + 64;
        *sum = *sum - settings.insert((kind, role), bytes).unwrap_or(0) + bytes;
        if settings.len() > budget::SETTINGS || *sum > budget::SETTING_BYTES { Err(Refusal::Budget) } else { Ok(()) }
    }

    /// The verdict at the end of a file of so many lines.
    fn end(&self, lines: u64) -> Result<(), Refused> {
        let refused = |refusal, line| Err(Refused { refusal, line });
        if self.length.entries == 0 {
            return refused(Refusal::Malformed, lines);
        }
        let Some(kept) = self.kept else { return refused(Refusal::InvalidCompaction, lines) };
        if self.rule_messages.fract() != 0.0 || self.rule_messages.abs() > MAX_SAFE_INTEGER {
            return refused(Refusal::Unsupported, lines);
        }
        let hot = kept.before.map(|before| Length {
            entries: self.length.entries - before.entries,
            bytes: self.length.bytes - before.bytes,
            index: self.length.index - before.index,
        });
        match hot.filter(|hot| hot.bytes <= budget::HOT_BYTES) {
            None => refused(Refusal::Budget, kept.line),
            Some(hot) if hot.index > budget::TAIL_INDEX => refused(Refusal::BuildFailed, kept.line),
            Some(hot) if 2 * hot.bytes + 304 * hot.entries > budget::HOT_RESIDENT => refused(Refusal::Budget, kept.line),
            Some(_) => Ok(()),
        }
    }

    /// The usage of an entry, if it has one, validates and overflows no running sum.
    fn usage_counts<'v, V: View<'v>>(&mut self, record: V) -> bool {
        let Some(message) = record.get("message") else { return true };
        let used = match Role::of(message) {
            Role::Assistant => message.get("usage"),
            Role::ToolResult if message.get("toolName").is_some_and(|name| name.is_str("task")) => usage::of_task(message.get("details")),
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

const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// What gjc takes a string to need: two bytes a UTF-16 unit, and 16.
fn string_bytes<'v, V: View<'v>>(value: Option<V>) -> u64 {
    let units = value.and_then(View::as_str).map_or(0, |text| len_utf16(&text));
    2 * units as u64 + 16
}

/// What gjc takes the index record of an entry to need: its strings, two digests of 64 digits, and 48.
fn index_bytes<'v, V: View<'v>>(kind: EntryKind, record: V) -> u64 {
    const DIGEST: u64 = 2 * 64 + 16;
    let parent = record.get("parentId").filter(|parent| parent.as_str().is_some()).map_or(0, |parent| string_bytes(Some(parent)));
    let class = match kind {
        EntryKind::Message => match record.get("message").map(Role::of) {
            Some(Role::User) => "user",
            Some(Role::Assistant) => "assistant",
            _ => "tool",
        },
        EntryKind::CustomMessage if !record.get("display").is_some_and(View::truthy) => "internal",
        EntryKind::ModelChange => "model_change",
        EntryKind::TtsrInjection => "ttsr_injection",
        _ => "other",
    };
    let class = 2 * class.len() as u64 + 16;
    48 + string_bytes(record.get("id")) + parent + string_bytes(record.get("type")) + class + 2 * DIGEST
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
            (vec![HEADER, &note("c", "\"x\"")], (Refusal::Branch, 2)),
            (vec![HEADER], (Refusal::Malformed, 1)),
            (vec![HEADER, &a, &note("a", "\"a\"")], (Refusal::Duplicate, 3)),
            (vec![HEADER, "", &a], (Refusal::Malformed, 2)),
            (vec![HEADER, "{} {}"], (Refusal::Malformed, 2)),
            (vec![HEADER, r#"{"type":"header_patch","patch":{}}"#], (Refusal::Malformed, 2)),
            (vec![HEADER, HEADER], (Refusal::Unsupported, 2)),
            (vec![&a], (Refusal::Unsupported, 1)),
            (vec![&HEADER.replace('5', "4")], (Refusal::Unsupported, 1)),
            (vec![HEADER, &entry("a", "null", r#""type":"label""#)], (Refusal::Unsupported, 2)),
            (vec![HEADER, &entry("a", "null", r#""type":"message","message":{"role":"assistant","usage":{}}"#)], (Refusal::Unsupported, 2)),
            (vec![&format!("\u{feff}\u{feff}{HEADER}")], (Refusal::Malformed, 1)),
        ] {
            assert_eq!(refusal(&lines), Some(refusal_wanted), "{lines:?}");
        }
    }

    #[test]
    fn one_byte_order_mark_at_the_front_of_any_line_is_dropped() {
        let marked = [HEADER.to_owned(), note("a", "null"), compaction("b", "\"a\"", "a")].map(|line| format!("\u{feff}{line}"));
        assert_eq!(refusal(&marked.each_ref().map(String::as_str)), None);
        let twice = format!("\u{feff}{}", marked[1]);
        assert_eq!(refusal(&[&marked[0], &twice]), Some((Refusal::Malformed, 2)));
    }

    #[test]
    fn what_is_no_usage_record_of_a_task_is_not_judged() {
        let task = |usage: &str| {
            entry(
                "a",
                "null",
                &format!(r#""type":"message","message":{{"role":"toolResult","toolName":"task","details":{{"usage":{usage}}}}}"#),
            )
        };
        for usage in ["null", "5", "\"x\"", "true"] {
            assert_eq!(refusal(&[HEADER, &task(usage), &compaction("b", "\"a\"", "a")]), None, "{usage}");
        }
        assert_eq!(refusal(&[HEADER, &task("[]")]), Some((Refusal::Unsupported, 2)));
        let assistant = entry("a", "null", r#""type":"message","message":{"role":"assistant","usage":null}"#);
        assert_eq!(refusal(&[HEADER, &assistant]), Some((Refusal::Unsupported, 2)));
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

    /// Makes an entry: it is told its id, and its parent as JSON.
    type Make<'m> = &'m dyn Fn(&str, &str) -> String;
    /// A chain: the header, so many notes, then `more`, whose entries are told the id of the entry before them.
    fn chain(notes: usize, more: &[Make<'_>]) -> Vec<String> {
        let mut lines = vec![HEADER.to_owned()];
        let mut parent = "null".to_owned();
        for number in 0..notes + more.len() {
            let id = format!("e{number}");
            lines.push(number.checked_sub(notes).map_or_else(|| note(&id, &parent), |at| more[at](&id, &parent)));
            parent = format!("\"{id}\"");
        }
        lines
    }
    fn refusal_of(lines: &[String]) -> Option<(Refusal, u64)> {
        refusal(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    }
    /// A note whose line has so many bytes with its LF.
    fn note_of(bytes: usize) -> impl Fn(&str, &str) -> String {
        move |id, parent| {
            let text = |letters| entry(id, parent, &format!(r#""type":"custom","customType":"n","data":"{}""#, "x".repeat(letters)));
            text(bytes - 1 - text(0).len())
        }
    }
    fn label(target: &'static str, units: usize) -> impl Fn(&str, &str) -> String {
        move |id, parent| entry(id, parent, &format!(r#""type":"label","targetId":"{target}","label":"{}""#, "\u{e9}".repeat(units)))
    }
    fn role_chain(role: usize, bytes: usize) -> impl Fn(&str, &str) -> String {
        move |id, parent| {
            let line = |model: &str| {
                let rest = format!(r#""type":"configured_model_chain","role":"r{role}","entries":["p/{model}"]"#);
                entry(id, parent, &rest)
            };
            line(&"m".repeat(bytes.saturating_sub(1 + line("").len())))
        }
    }
    /// The compaction that the chains below end in: it keeps from the first entry.
    fn keeping_all(id: &str, parent: &str) -> String {
        compaction(id, parent, "e0")
    }
    const BUDGET: Option<Refusal> = Some(Refusal::Budget);

    #[test]
    fn labels_in_force_take_64_kib_at_most() {
        // Target of two units 20, label 2 n + 16, 48 more.
        let units = (65_536 - 20 - 16 - 48) / 2;
        let of = |units, more: &[Make<'_>]| {
            let mut all: Vec<Make<'_>> = Vec::new();
            let first = label("e0", units);
            all.push(&first);
            all.extend_from_slice(more);
            all.push(&keeping_all);
            refusal_of(&chain(2, &all))
        };
        assert_eq!(of(units, &[]), None);
        assert_eq!(of(units + 1, &[]), Some((Refusal::Budget, 4)), "units, not bytes: each letter has two bytes");
        // A second target is one label too many, until the first is taken away.
        assert_eq!(of(units, &[&label("e1", 1)]), Some((Refusal::Budget, 5)));
        assert_eq!(of(units, &[&label("e0", 0), &label("e1", 1)]), None);
    }

    #[test]
    fn of_256_settings_the_latest_is_kept() {
        let of = |roles: usize, more: usize| {
            let entries: Vec<_> = (0..roles).map(|role| role_chain(role, 0)).chain((0..more).map(|_| role_chain(0, 0))).collect();
            let mut all: Vec<Make<'_>> = entries.iter().map(|entry| entry as _).collect();
            all.push(&keeping_all);
            refusal_of(&chain(1, &all))
        };
        assert_eq!(of(256, 40), None, "a role that is set again replaces what it had");
        assert_eq!(of(257, 0), Some((Refusal::Budget, 2 + 257)));
    }

    #[test]
    fn the_lines_of_the_latest_settings_take_4_mib_at_most() {
        let of = |bytes| {
            let (first, second) = (role_chain(1, 1_000), role_chain(2, bytes));
            refusal_of(&chain(1, &[&first, &second, &keeping_all])).map(|(refusal, _)| refusal)
        };
        assert_eq!(of(4_194_304 - 1_000 - 2 * 64), None);
        assert_eq!(of(4_194_304 - 1_000 - 2 * 64 + 1), BUDGET);
    }

    #[test]
    fn a_million_ids_are_told_apart() {
        let of = |entries| {
            let mut chain = Chain { has_header: true, ..Chain::default() };
            chain.length.entries = entries;
            let (mut tape, mut ids) = (Tape::default(), Ids::default());
            chain.line(2, format!("{}\n", note("a", "null")).as_bytes(), &mut tape, &mut ids)
        };
        assert_eq!(of(999_999), Ok(()));
        assert_eq!(of(1_000_000), Err(Refusal::Budget));
    }

    /// Twice the lines from where the compaction keeps, and 304 for each of the two entries, are 16 MiB.
    #[test]
    fn what_a_compaction_keeps_takes_16_mib_of_memory_at_most() {
        let compaction = keeping_all("e1", "\"e0\"").len() + 1;
        let bytes = (16_777_216 - 2 * 304) / 2 - compaction;
        let of = |bytes| refusal_of(&chain(0, &[&note_of(bytes), &keeping_all]));
        assert_eq!(of(bytes), None);
        assert_eq!(of(bytes + 1), Some((Refusal::Budget, 3)), "the compaction is to blame");
        // What comes later is kept too; a later compaction that keeps less helps.
        let later = |id: &str, parent: &str| self::compaction(id, parent, "e1");
        assert_eq!(refusal_of(&chain(0, &[&note_of(bytes), &keeping_all, &note_of(100)])), Some((Refusal::Budget, 3)));
        assert_eq!(refusal_of(&chain(0, &[&note_of(bytes), &keeping_all, &note_of(100), &later])), None);
    }

    /// Above 16 MiB of lines where the compaction keeps from is not even remembered.
    #[test]
    fn a_compaction_that_keeps_from_far_back_is_over_the_budget() {
        let long = note_of(8_000_000);
        assert_eq!(refusal_of(&chain(1, &[&long, &long, &long, &keeping_all])), Some((Refusal::Budget, 6)));
        let near = |id: &str, parent: &str| compaction(id, parent, "e4");
        assert_eq!(refusal_of(&chain(1, &[&long, &long, &long, &note_of(100), &near])), None);
    }

    /// 4 MiB of index records are 8,900 entries: the index of the file cannot be built.
    #[test]
    fn what_a_compaction_keeps_has_4_mib_of_index_records_at_most() {
        let of = |notes: usize| {
            let notes: Vec<_> = (0..notes).map(|_| |_: &str, parent: &str| note("x", parent)).collect();
            let mut at = Chain { has_header: true, ..Chain::default() };
            let (mut tape, mut ids) = (Tape::default(), Ids::default());
            let mut parent = "null".to_owned();
            for (number, _) in notes.iter().enumerate() {
                let id = format!("{number:08}");
                at.line(2, format!("{}\n", note(&id, &parent)).as_bytes(), &mut tape, &mut ids).unwrap();
                parent = format!("\"{id}\"");
            }
            at.line(9, format!("{}\n", compaction("last", &parent, "00000000")).as_bytes(), &mut tape, &mut ids).unwrap();
            (at.length.index, at.end(9).map_err(|refused| refused.refusal))
        };
        // A note: 48, id 32, parent 32 (the first has none), `custom` 28, `other` 26, digests 288. The compaction: 48, 24, 32,
        // `compaction` 36, 26, 288.
        let bytes = |notes: u64| notes * 454 - 32 + 454;
        assert_eq!(of(3).0, bytes(3));
        let most = (budget::TAIL_INDEX + 32) / 454 - 1;
        assert_eq!(of(most as usize), (bytes(most), Ok(())));
        assert_eq!(of(most as usize + 1).1.map_err(Refusal::token), Err("bounded_scan_build_failed"));
    }

    #[test]
    fn the_latest_count_of_rule_messages_is_a_safe_integer() {
        let rules = |count: &'static str| {
            move |id: &str, parent: &str| {
                entry(id, parent, &format!(r#""type":"ttsr_injection","injectedRules":[],"ttsrMessageCount":{count}"#))
            }
        };
        let of = |count| refusal_of(&chain(1, &[&rules("1e400"), &rules(count), &keeping_all]));
        assert_eq!(of("9007199254740991"), None, "an earlier one is not asked");
        assert_eq!(of("9007199254740993"), Some((Refusal::Unsupported, 5)));
        assert_eq!(of("0.5"), Some((Refusal::Unsupported, 5)));
    }

    #[test]
    fn every_line_ends_and_none_is_longer_than_8_mib() {
        assert_eq!(scan(HEADER.as_bytes()).unwrap().map_err(|r| r.refusal), Err(Refusal::Unterminated));
        let long = format!("{HEADER}\n{}", " ".repeat(9 * 1024 * 1024));
        assert_eq!(scan(long.as_bytes()).unwrap().map_err(|r| (r.refusal, r.line)), Err((Refusal::OversizedLine, 2)));
    }
}
