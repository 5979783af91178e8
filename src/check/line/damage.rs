//! What is wrong with a line that `JSON.parse` refuses, what can be recovered from it, and which ids it takes with it.

use crate::json::jsonl::Line;
use crate::json::scan::{self, Outcome, skip_space};
use crate::json::{Node, Tape, View};
use crate::transcript::EntryKind;
use std::collections::HashMap;

/// What a refused line looks like; all positions are byte offsets in its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Raw NUL bytes.
    NulRun { count: u64, first: usize },
    /// `<<<<<<<`, `=======`, `>>>>>>>` or `|||||||`.
    Conflict { marker: u8 },
    /// Complete values one after the other.
    Glued { values: u64, second: usize },
    /// An incomplete value, then complete records of their own.
    Fused { from: usize },
    /// The last line, without LF, ends inside a value.
    Truncated,
    /// Anything else.
    Syntax { at: usize },
}

/// A refused line, taken apart.
#[derive(Debug)]
pub(super) struct Anatomy {
    pub shape: Shape,
    /// End of the value that the lenient reader keeps; 0 when it keeps none.
    pub kept: usize,
    /// Spans of complete records in what is lost.
    pub records: Vec<(usize, usize)>,
}

/// Searching one line for records scans at most this many times its length; what is not found then stays unfound.
const SEARCH_FACTOR: usize = 32;

impl Anatomy {
    pub fn of(line: &Line<'_>, tape: &mut Tape) -> Anatomy {
        let text = match line.text {
            [piece @ .., b'\r'] if line.has_lf => piece,
            piece => piece,
        };
        let start = skip_space(text, 0);
        let first = scan::scan(text, start, tape);
        let (kept, broken_at) = match first {
            Outcome::Complete { end } => (end, end),
            Outcome::Failed { at } => (0, at),
        };
        let anatomy = |shape, records| Anatomy { shape, kept, records };
        if let Some(first) = memchr::memchr(0, text) {
            let count = memchr::memchr_iter(0, text).count() as u64;
            let records = records_in(text, kept, tape);
            return Anatomy { shape: Shape::NulRun { count, first }, kept: 0, records };
        }
        if let Some(marker) = conflict_marker(text) {
            return anatomy(Shape::Conflict { marker }, Vec::new());
        }
        if let Some((values, second)) = glued(text, first, start, tape) {
            return anatomy(Shape::Glued { values, second }, records_in(text, kept, tape));
        }
        let records = records_in(text, kept.max(start + 1).min(text.len()), tape);
        if kept == 0
            && matches!(text.get(start), Some(b'{' | b'[' | b'"'))
            && let Some((from, _)) = records.first()
        {
            return anatomy(Shape::Fused { from: *from }, records);
        }
        if !line.has_lf && ends_inside_a_value(text, kept, broken_at, tape) {
            return anatomy(Shape::Truncated, records);
        }
        anatomy(Shape::Syntax { at: broken_at.min(text.len()) }, records)
    }

    /// Where the damage begins that the finding points at.
    pub fn place(&self) -> usize {
        match self.shape {
            Shape::NulRun { first, .. } => first,
            Shape::Glued { second, .. } => second,
            Shape::Fused { from } => from,
            Shape::Truncated => self.kept,
            Shape::Syntax { at } => at,
            Shape::Conflict { .. } => 0,
        }
    }

    /// `2 complete records can be recovered from it`.
    pub fn recoverable_words(&self) -> String {
        match self.records.len() {
            0 => "no complete record can be recovered from it".to_owned(),
            1 => "one complete record can be recovered from it".to_owned(),
            n => format!("{n} complete records can be recovered from it"),
        }
    }
}

/// `<<<<<<<`, `=======`, `>>>>>>>` or `|||||||`, then a space or the line end.
fn conflict_marker(text: &[u8]) -> Option<u8> {
    let marker = *text.first().filter(|byte| matches!(byte, b'<' | b'=' | b'>' | b'|'))?;
    let run = text.iter().take_while(|byte| **byte == marker).count();
    (run == 7 && matches!(text.get(7), None | Some(b' '))).then_some(marker)
}

/// Number of complete values from the line's beginning on, and where the second begins; at least two.
///
/// Two bare words or numbers with nothing between them are one bad token (`2026-01-01`), not two values.
fn glued(text: &[u8], first: Outcome, start: usize, tape: &mut Tape) -> Option<(u64, usize)> {
    let Outcome::Complete { mut end } = first else { return None };
    let mut bare = is_bare(text, start);
    let (mut values, mut second) = (1, None);
    loop {
        let next = skip_space(text, end);
        if next == text.len() || (bare && next == end && is_bare(text, next)) {
            break;
        }
        let Outcome::Complete { end: behind } = scan::scan(text, next, tape) else { break };
        values += 1;
        second.get_or_insert(next);
        bare = is_bare(text, next);
        end = behind;
    }
    second.map(|second| (values, second))
}

/// True when the value at `at` is delimited by nothing of its own: a number or a word.
fn is_bare(text: &[u8], at: usize) -> bool {
    !matches!(text.get(at), Some(b'{' | b'[' | b'"'))
}

/// True when the text ends inside a value: the first one, or the one behind what is kept.
fn ends_inside_a_value(text: &[u8], kept: usize, broken_at: usize, tape: &mut Tape) -> bool {
    let (begin, at) = if kept == 0 {
        (skip_space(text, 0), broken_at)
    } else {
        let next = skip_space(text, kept);
        match scan::scan(text, next, tape) {
            Outcome::Failed { at } => (next, at),
            Outcome::Complete { .. } => return false,
        }
    };
    let delimited = matches!(text.get(begin), Some(b'{' | b'[' | b'"'));
    let word = text
        .get(begin..)
        .is_some_and(|rest| !rest.is_empty() && [&b"true"[..], b"false", b"null", b"-"].iter().any(|w| w.starts_with(rest)));
    // A cut `\u` escape stops the lexer before the end.
    let cut_escape =
        text.get(at..).is_some_and(|rest| rest.len() <= 4 && rest.first() == Some(&b'u') && rest[1..].iter().all(u8::is_ascii_hexdigit));
    (delimited && (at == text.len() || cut_escape)) || word
}

/// The complete records of their own in `text[from..]`, those inside another value excepted.
fn records_in(text: &[u8], from: usize, tape: &mut Tape) -> Vec<(usize, usize)> {
    let mut records = Vec::new();
    let mut at = from;
    let mut budget = text.len().saturating_mul(SEARCH_FACTOR);
    while let Some(brace) = text.get(at..).and_then(|rest| memchr::memchr(b'{', rest)) {
        let start = at + brace;
        at = start + 1;
        if !matches!(text.get(skip_space(text, at)), Some(b'"')) {
            continue;
        }
        match scan::scan(text, start, tape) {
            Outcome::Complete { end } => {
                budget = budget.saturating_sub(end - start);
                let behind = text.get(skip_space(text, end));
                let inside_another = matches!(behind, Some(b',' | b'}' | b']' | b':'));
                if !inside_another && tape.root(text).is_some_and(is_own_record) {
                    records.push((start, end));
                }
                at = end;
            }
            Outcome::Failed { at: failed } => budget = budget.saturating_sub(failed.saturating_sub(start)),
        }
        if budget == 0 {
            break;
        }
    }
    records
}

/// A *record of its own* (05a): a header, an entry of a known type with `id` or `timestamp`, or a patch with `patch`.
pub(super) fn is_own_record(node: Node<'_>) -> bool {
    match EntryKind::of(node) {
        EntryKind::Session => true,
        EntryKind::HeaderPatch | EntryKind::EntryPatch => node.get("patch").is_some(),
        EntryKind::Unknown | EntryKind::NonRecord => false,
        _ => node.get("id").is_some() || node.get("timestamp").is_some(),
    }
}

/// True when the text begins, at its first byte, with a complete record of its own.
pub fn begins_with_own_record(text: &[u8], tape: &mut Tape) -> bool {
    text.first() == Some(&b'{')
        && matches!(scan::scan(text, 0, tape), Outcome::Complete { .. })
        && tape.root(text).is_some_and(is_own_record)
}

/// The complete records of a line, or of a piece of one; spans are byte offsets in it.
#[derive(Debug)]
pub struct Pieces {
    /// The record that it begins with: an object with a string `type`.
    pub whole: Option<(usize, usize)>,
    /// The records behind it, in order: objects with a string `type` that follow one complete value after the other, and behind
    /// those the records of their own.
    pub records: Vec<(usize, usize)>,
    /// It is a merge conflict marker.
    pub is_conflict: bool,
}

/// Takes a line apart that `JSON.parse` refuses, or that is no UTF-8, as [`LinePass`](super::LinePass) does.
pub fn pieces(text: &[u8], tape: &mut Tape) -> Pieces {
    let start = skip_space(text, 0);
    let line = Line {
        number: 1,
        offset: 0,
        raw: text,
        text,
        has_lf: true,
        invalid_utf8: None,
        strict: crate::json::jsonl::Strict::Refused { at: 0 },
        value: None,
    };
    let Anatomy { shape, records: own, .. } = Anatomy::of(&line, tape);
    let typed = |tape: &Tape| tape.root(text).is_some_and(|node| node.is_record() && node.str_member("type").is_some());
    let (mut whole, mut records, mut at) = (None, Vec::new(), start);
    while let Outcome::Complete { end } = scan::scan(text, at, tape) {
        match typed(tape) {
            true if at == start => whole = Some((at, end)),
            true => records.push((at, end)),
            false => {}
        }
        at = skip_space(text, end);
    }
    records.extend(own.into_iter().filter(|(from, _)| *from >= at));
    Pieces { whole, records, is_conflict: matches!(shape, Shape::Conflict { .. }) }
}

/// A damaged line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged {
    /// 1-based line.
    pub line: u64,
    /// Byte offset of its first byte.
    pub offset: u64,
    /// Its bytes, LF excluded.
    pub len: u64,
}

/// Damaged lines, and the ids that stand in text which the lenient reader lost.
#[derive(Default, Debug)]
pub struct LostIds {
    lines: Vec<Damaged>,
    /// Number of damaged lines, which may be more than are kept.
    total: u64,
    ids: HashMap<Box<[u8]>, u32>,
}

/// Bounds of what is remembered.
const MOST_IDS: usize = 100_000;
const MOST_LINES: usize = 100_000;
const LONGEST_ID: usize = 128;

impl LostIds {
    /// Remembers a damaged line and the ids in `lost`; shows each id.
    pub(super) fn note(&mut self, line: &Line<'_>, lost: &[u8], show: &mut dyn FnMut(&[u8])) {
        self.total += 1;
        if self.lines.len() == MOST_LINES {
            return;
        }
        self.lines.push(Damaged { line: line.number, offset: line.offset, len: line.raw.len() as u64 });
        let number = self.lines.len() - 1;
        for id in ids_in(lost) {
            show(id);
            self.add(number, id);
        }
    }
    /// Number of the damage of a line; of the latest one when the line is not remembered.
    pub(super) fn of_line(&self, line: u64) -> usize {
        self.lines.binary_search_by_key(&line, |damaged| damaged.line).unwrap_or_else(|at| at.saturating_sub(1))
    }
    /// Remembers the ids in text that was lost with an earlier line.
    pub(super) fn add_ids(&mut self, number: usize, lost: &[u8]) {
        for id in ids_in(lost) {
            self.add(number, id);
        }
    }
    fn add(&mut self, number: usize, id: &[u8]) {
        if self.ids.len() < MOST_IDS && id.len() <= LONGEST_ID {
            self.ids.entry(id.into()).or_insert(number as u32);
        }
    }
    /// The damaged line that took this id with it.
    pub fn cause(&self, id: &[u8]) -> Option<Damaged> {
        self.ids.get(id).and_then(|number| self.lines.get(*number as usize)).copied()
    }
    /// The first damaged line.
    pub fn first(&self) -> Option<Damaged> {
        self.lines.first().copied()
    }
    /// The first damaged line before `line`.
    pub fn before(&self, line: u64) -> Option<Damaged> {
        self.first().filter(|damaged| damaged.line < line)
    }
    /// Number of damaged lines.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// The strings that follow `"id":` in a text, which need be no JSON.
fn ids_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memmem::find_iter(text, b"\"id\"").filter_map(|at| {
        let colon = skip_space(text, at + 4);
        let quote = skip_space(text, colon + usize::from(text.get(colon) == Some(&b':')));
        let rest = text.get(quote..)?.strip_prefix(b"\"")?;
        let end = memchr::memchr2(b'"', b'\\', &rest[..rest.len().min(LONGEST_ID + 1)])?;
        (rest[end] == b'"').then(|| &rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::jsonl::{Event, Lines};

    const A: &str = r#"{"type":"label","id":"a","targetId":"x"}"#;

    fn shape(line: &str) -> Shape {
        let mut lines = Lines::new(line.as_bytes());
        let mut tape = Tape::default();
        match lines.next().expect("memory") {
            Some(Event::Line(line)) => Anatomy::of(&line, &mut tape).shape,
            _ => unreachable!("one line"),
        }
    }

    #[test]
    fn complete_values_on_one_line_are_glued() {
        assert_eq!(shape(&format!("{A}{A}\n")), Shape::Glued { values: 2, second: A.len() });
        assert_eq!(shape(&format!("{A} \t{A} {A}\n")), Shape::Glued { values: 3, second: A.len() + 2 });
        assert_eq!(shape("1 2\n"), Shape::Glued { values: 2, second: 2 });
    }

    #[test]
    fn digits_of_a_date_are_no_glued_numbers() {
        assert_eq!(shape("2026-01-01 x\n"), Shape::Syntax { at: 4 });
    }

    #[test]
    fn a_torn_value_before_a_record_is_fused() {
        assert_eq!(shape(&format!("{{\"type\":\"me{A}\n")), Shape::Fused { from: 11 });
        assert_eq!(shape(&format!("{{\"type\":\"message\",\"id\":\"b\",\"x\":[{A}{A}")), Shape::Fused { from: 32 });
    }

    #[test]
    fn a_record_inside_a_broken_value_is_not_fused() {
        assert_eq!(shape(&format!("{{\"x\":{A},\"y\":bad}}\n")), Shape::Syntax { at: A.len() + 13 });
    }

    #[test]
    fn a_last_line_that_ends_inside_a_value_is_truncated() {
        for torn in ["{", "{\"a\":\"x", "[1,", "tru", "{\"a\":\"\\u00", "{\"a\":\"\\", "{} {\"b\":"] {
            assert_eq!(shape(torn), Shape::Truncated, "{torn}");
        }
        assert!(matches!(shape("{\"a\":\n"), Shape::Syntax { .. }));
        assert!(matches!(shape("hello"), Shape::Syntax { .. }));
    }

    #[test]
    fn conflict_markers_are_seven_signs_and_a_space() {
        assert_eq!(shape("<<<<<<< HEAD\n"), Shape::Conflict { marker: b'<' });
        assert_eq!(shape("=======\r\n"), Shape::Conflict { marker: b'=' });
        assert!(matches!(shape("========\n"), Shape::Syntax { .. }));
        assert!(matches!(shape("<<<<<<<HEAD\n"), Shape::Syntax { .. }));
    }

    #[test]
    fn ids_are_found_in_text_that_is_no_json() {
        let text = br#"{"type":"x","id":"one","y": {"id" : "two"},"id":7,"id":"es\"c","id":"tor"#;
        assert_eq!(ids_in(text).collect::<Vec<_>>(), [&b"one"[..], b"two"]);
    }

    #[test]
    fn a_long_line_of_open_braces_is_searched_in_bounded_time() {
        let hostile = format!("{}\n", "{\"a\":".repeat(200_000));
        assert!(matches!(shape(&hostile), Shape::Syntax { .. }));
    }
}
