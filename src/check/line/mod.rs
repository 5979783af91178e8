//! The area *line* of spec 05: what the bytes of a file are, line by line, before anybody asks what its records mean.
//!
//! [`LinePass`] is fed every event of [`Lines`](crate::json::jsonl::Lines). It decides for a line that `JSON.parse`
//! refuses which one code it gets (05 §1 as corrected by 05a), counts what is merely unusual, and remembers which ids
//! stood in text that the lenient reader lost, so that a hole in the tree can name its cause.

pub mod codes;
mod damage;

pub use damage::{Damaged, LostIds, Pieces, begins_with_own_record, pieces};

use self::damage::{Anatomy, Shape};
use super::transcript::Source;
use super::words::{self, bytes, count};
use crate::finding::{Code, Finding, Place, Sink};
use crate::json::jsonl::{Event, Found, Line, Strict};
use crate::json::text::{Encoding, wtf8_lossy};
use crate::json::{JsStr, Kind, Node, View, Walk, number, scan};
use crate::transcript::entry::EntryKind;

/// How the file begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Without a byte order mark.
    None,
    /// One UTF-8 mark.
    Utf8,
    /// Two or more UTF-8 marks.
    Utf8Repeated,
    /// `FF FE`: the lenient reader reads UTF-16LE.
    Utf16Le,
    /// `FE FF`: no reader reads it.
    Utf16Be,
}

/// Counts of what is harmless.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    blank: u64,
    crlf: u64,
    lf: u64,
    padded: u64,
}

/// A value of the lenient reader that goes on behind its first line.
struct Cover {
    /// Line that it begins on.
    first: u64,
    /// Line that it ends on; none when the text ends inside it.
    last: Option<u64>,
    /// What its first line would have got alone.
    alone: Option<Finding>,
    place: Place,
    /// Complete records that begin lines inside it.
    swallowed: u64,
    /// Lines behind the first one that were seen.
    lines: u64,
    /// Its place in [`LostIds`].
    damage: usize,
    /// Text that follows the value on its last line and is thrown away.
    discarded: usize,
}

/// What is remembered of the last line.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    offset: u64,
    len: u64,
    has_lf: bool,
    /// The next append would be glued to it.
    ends_complete: bool,
}

/// What the pass knows when the file has ended.
#[derive(Debug)]
pub struct Summary {
    /// How the file begins.
    pub mark: Mark,
    /// Physical lines.
    pub lines: u64,
    /// Values that the lenient reader yielded.
    pub values: u64,
    /// True when some line holds something else than white space.
    pub any_text: bool,
    /// Damaged lines and the ids that were lost with them.
    pub lost: LostIds,
}

/// What gjc does with a line that is JSON behind a byte order mark: where each line is decoded by itself, that drops the mark.
const BEHIND_A_MARK: &str = "gjc refuses to resume the session (`malformed`) and its lenient loader drops the line. The inspection before a write in managed storage reads it: it drops one byte order mark at the front of each line.";

/// The pass over lines.
pub struct LinePass<'s> {
    source: &'s Source,
    counts: Counts,
    mark: Mark,
    /// The finding of the current line, until the lenient reader's answer confirms it.
    pending: Option<Finding>,
    cover: Option<Cover>,
    last: Option<Last>,
    lost: LostIds,
    lines: u64,
    values: u64,
    any_text: bool,
    tape: crate::json::Tape,
}

impl<'s> LinePass<'s> {
    /// A pass that has seen nothing.
    pub fn new(source: &'s Source) -> Self {
        LinePass {
            source,
            counts: Counts::default(),
            mark: Mark::None,
            pending: None,
            cover: None,
            last: None,
            lost: LostIds::default(),
            lines: 0,
            values: 0,
            any_text: false,
            tape: crate::json::Tape::default(),
        }
    }

    /// Values of the lenient reader so far.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Damaged lines so far.
    pub fn lost(&self) -> &LostIds {
        &self.lost
    }

    /// Takes the next event; `encoding` is what [`Lines`](crate::json::jsonl::Lines) found at the file's beginning.
    pub fn event(&mut self, event: &Event<'_>, encoding: Encoding, sink: &mut dyn Sink) {
        match event {
            Event::Line(line) => {
                if self.lines == 0 {
                    self.begin(line.raw, encoding, sink);
                }
                self.lines += 1;
                // Every line of a big-endian file is torn; its mark is the one fault.
                if self.mark != Mark::Utf16Be {
                    self.line(line, sink);
                }
            }
            Event::Value(found) => {
                self.values += 1;
                self.value(found, sink);
            }
            Event::Skipped { .. } => self.confirm(sink),
            Event::Lost { line, .. } => self.begin_cover(*line, None, 0),
        }
    }

    /// The marks at the file's beginning.
    fn begin(&mut self, first_line: &[u8], encoding: Encoding, sink: &mut dyn Sink) {
        const UTF8: &[u8] = b"\xEF\xBB\xBF";
        self.mark = match encoding {
            Encoding::Utf16Le => Mark::Utf16Le,
            Encoding::Utf8 { bom: 0 } if first_line.starts_with(b"\xFE\xFF") => Mark::Utf16Be,
            Encoding::Utf8 { bom: 0 } => Mark::None,
            Encoding::Utf8 { .. } if first_line.starts_with(UTF8) => Mark::Utf8Repeated,
            Encoding::Utf8 { .. } => Mark::Utf8,
        };
        let at = |bytes| Place { bytes: Some((0, bytes)), column: Some(1), ..self.source.line(1) };
        match self.mark {
            Mark::None => {}
            Mark::Utf8 => sink.push(Finding::new(&codes::UTF8_BOM, at(3), "The file begins with a UTF-8 byte order mark.")),
            Mark::Utf8Repeated => {
                let marks = 1 + first_line.chunks_exact(3).take_while(|bytes| *bytes == UTF8).count();
                sink.push(Finding::new(
                    &codes::UTF8_BOM_REPEATED,
                    at(marks as u64 * 3),
                    format!("The file begins with {marks} UTF-8 byte order marks; only the first one is skipped."),
                ));
            }
            Mark::Utf16Le => sink.push(Finding::new(&codes::UTF16_BOM, at(2), "The file begins with FF FE: it is UTF-16LE, not UTF-8.")),
            Mark::Utf16Be => sink.push(Finding::new(&codes::UTF16_BOM, at(2), "The file begins with FE FF: it is UTF-16BE, not UTF-8.")),
        }
    }

    fn line(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let blank = self.count(line);
        self.any_text |= !blank;
        let mut last = Last {
            number: line.number,
            offset: line.offset,
            len: line.raw.len() as u64,
            has_lf: line.has_lf,
            ends_complete: line.strict == Strict::Value,
        };
        if line.strict == Strict::Value && line.invalid_utf8.is_none() && self.cover.is_none() {
            self.last = Some(last);
            return;
        }
        if self.covers(line, sink) {
            // The line is part of a value that is torn already.
            self.last = Some(Last { ends_complete: false, ..last });
            return;
        }
        if self.source.managed && line.has_lf && line.raw == b"\r" {
            let place = self.source.span(line.number, line.offset, 1);
            sink.push(Finding::new(&codes::CRLF_BLANK_LINE, place, "The line is an empty line that ends in CR LF."));
        }
        let mut torn_character = false;
        if let Strict::Refused { .. } = line.strict {
            if blank {
                sink.push(self.whitespace_only(line));
            } else if self.mark == Mark::Utf8Repeated && line.number == 1 {
                // The marks are the one fault of this line.
                self.lost.note(line, line.text, &mut |_| {});
            } else {
                let anatomy = Anatomy::of(line, &mut self.tape);
                last.ends_complete = matches!(anatomy.shape, Shape::Glued { .. } | Shape::Fused { .. });
                torn_character = anatomy.shape == Shape::Truncated;
                self.pending = Some(self.refused(line, &anatomy));
            }
        }
        self.invalid_utf8(line, torn_character, sink);
        self.last = Some(last);
    }

    /// Counts line ends and padding; true for a line of white space.
    fn count(&mut self, line: &Line<'_>) -> bool {
        let (piece, crlf) = match line.text {
            [piece @ .., b'\r'] if line.has_lf => (piece, true),
            piece => (piece, false),
        };
        // In the managed root a blank CRLF line is an error of its own and counts as that.
        let refused_blank = crlf && piece.is_empty() && self.source.managed;
        self.counts.crlf += u64::from(crlf && !refused_blank);
        self.counts.lf += u64::from(line.has_lf && !crlf);
        match piece {
            [] => {
                self.counts.blank += u64::from(!refused_blank);
                true
            }
            [first, .., last] if scan::is_space(*first) || scan::is_space(*last) => {
                let blank = piece.iter().all(|byte| scan::is_space(*byte));
                self.counts.padded += u64::from(line.strict == Strict::Value && is_padded(piece));
                blank
            }
            [only] => scan::is_space(*only),
            _ => false,
        }
    }

    /// True when the line lies inside a value that began on an earlier line.
    fn covers(&mut self, line: &Line<'_>, sink: &mut dyn Sink) -> bool {
        let Some(cover) = &mut self.cover else { return false };
        if cover.last.is_some_and(|last| line.number > last) {
            return false;
        }
        cover.lines += 1;
        if damage::begins_with_own_record(line.text, &mut self.tape) {
            cover.swallowed += 1;
            self.lost.add_ids(cover.damage, line.text);
        } else if cover.last.is_none() {
            self.lost.add_ids(cover.damage, line.text);
        }
        if cover.last == Some(line.number) {
            self.end_cover(true, sink);
        }
        true
    }

    fn begin_cover(&mut self, first: u64, last: Option<u64>, discarded: usize) {
        let alone = self.pending.take();
        let place = alone.as_ref().map_or_else(|| self.source.line(first), |finding| finding.place.clone());
        let damage = self.lost.of_line(first);
        self.cover = Some(Cover { first, last, alone, place, swallowed: 0, lines: 0, damage, discarded });
    }

    /// The value of the cover has ended, or the file has.
    fn end_cover(&mut self, ended_with_lf: bool, sink: &mut dyn Sink) {
        let Some(cover) = self.cover.take() else { return };
        let last = cover.first + cover.lines;
        let place = Place { column: Some(1), ..cover.place };
        let lost = count(cover.swallowed, "record", "records");
        let finding = match (cover.swallowed, cover.last) {
            (1.., Some(_)) => Finding::new(
                &codes::LENIENT_SWALLOW,
                place,
                format!("A torn value runs over lines {} to {last} and swallows {lost} as its own content.", cover.first),
            ),
            (1.., None) => Finding::new(
                &codes::LENIENT_SWALLOW,
                place,
                format!("A torn value runs from line {} to the end of the file and swallows {lost}.", cover.first),
            ),
            (0, Some(_)) => {
                let rest = if cover.discarded > 0 {
                    format!("; {} behind it are thrown away", bytes(cover.discarded as u64))
                } else {
                    String::new()
                };
                Finding::new(
                    &codes::RECORD_SPANS_LINES,
                    place,
                    format!("One value covers lines {} to {last} instead of one line{rest}.", cover.first),
                )
            }
            (0, None) if cover.lines == 0 => match cover.alone {
                Some(alone) => alone,
                None => return,
            },
            (0, None) => Finding::new(
                if ended_with_lf { &codes::JSON_SYNTAX } else { &codes::TRUNCATED_LAST_LINE },
                place,
                format!("A value begins on line {} and is not complete at the end of the file, line {last}.", cover.first),
            ),
        };
        sink.push(finding);
    }

    fn confirm(&mut self, sink: &mut dyn Sink) {
        if let Some(finding) = self.pending.take() {
            sink.push(finding);
        }
    }

    fn whitespace_only(&self, line: &Line<'_>) -> Finding {
        let place = self.source.span(line.number, line.offset, line.raw.len());
        Finding::new(
            &codes::WHITESPACE_ONLY_LINE,
            place,
            format!("The line holds nothing but {} of white space.", bytes(line.raw.len() as u64)),
        )
    }

    /// The finding of a line that `JSON.parse` refuses, if it stands alone.
    fn refused(&mut self, line: &Line<'_>, anatomy: &Anatomy) -> Finding {
        let mut first_id = None;
        self.lost.note(line, &line.text[anatomy.kept.min(line.text.len())..], &mut |id| {
            first_id.get_or_insert_with(|| wtf8_lossy(id));
        });
        let whole = line.raw.len() as u64;
        let lost = bytes((line.text.len() - anatomy.kept.min(line.text.len())) as u64);
        let (code, message): (&'static Code, String) = match &anatomy.shape {
            Shape::NulRun { count, first: _ } => (
                &codes::NUL_RUN,
                format!("The line holds {} and {}.", words::count(*count, "NUL byte", "NUL bytes"), anatomy.recoverable_words()),
            ),
            Shape::Conflict { marker } => {
                (&codes::CONFLICT_MARKERS, format!("The line is a merge conflict marker ({}).", String::from_utf8_lossy(&[*marker; 7])))
            }
            Shape::Glued { values, second } => (
                &codes::GLUED_RECORDS,
                format!(
                    "{values} values stand on one line; the second begins at byte column {}; gjc drops {lost} from there on.",
                    second + 1
                ),
            ),
            Shape::Fused { from } => (
                &codes::FUSED_LINE,
                format!(
                    "A torn value of {} is followed on its line by {} from byte column {} on; all {} are dropped.",
                    bytes(*from as u64),
                    count(anatomy.records.len() as u64, "complete record", "complete records"),
                    from + 1,
                    bytes(whole),
                ),
            ),
            Shape::Truncated => {
                let kept = if anatomy.kept > 0 { " behind a complete one" } else { "" };
                (&codes::TRUNCATED_LAST_LINE, format!("The last line ends inside a value{kept}: {lost} of an incomplete record."))
            }
            Shape::Syntax { at } => {
                let what = anatomy.recoverable_words();
                (&codes::JSON_SYNTAX, format!("The line is no JSON: it breaks at byte column {}; gjc drops {lost}, and {what}.", at + 1))
            }
        };
        let exact = line.invalid_utf8.is_none();
        let place = Place {
            column: Some(if exact { anatomy.place() as u64 + 1 } else { 1 }),
            bytes: Some((line.offset + if exact { anatomy.kept as u64 } else { 0 }, line.offset + whole)),
            entry: first_id,
            ..self.source.line(line.number)
        };
        let finding = Finding::new(code, place, message);
        if self.source.managed && line.value_behind_mark().is_some() {
            return Finding { spares_managed: true, ..finding.gjc(BEHIND_A_MARK) };
        }
        finding
    }

    /// `torn`: the line ends inside a value and so may end inside a character.
    fn invalid_utf8(&self, line: &Line<'_>, torn: bool, sink: &mut dyn Sink) {
        let (Some(first), false) = (line.invalid_utf8, self.mark == Mark::Utf16Le) else { return };
        let tail = &line.raw[first..];
        let runs = tail.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count() as u64;
        // A tear inside a character is the tear's fault, not a second one.
        if torn && runs == 1 && tail.utf8_chunks().next().is_some_and(|chunk| chunk.invalid().len() == tail.len()) && tail.len() < 4 {
            return;
        }
        let start = line.offset + first as u64;
        let length = tail.utf8_chunks().next().map_or(1, |chunk| chunk.valid().len() + chunk.invalid().len()) as u64;
        let place = Place { column: Some(first as u64 + 1), bytes: Some((start, start + length)), ..self.source.line(line.number) };
        let message = format!(
            "{} of the line {} no UTF-8; the first is {:02X} at byte offset {start}.",
            count(runs, "sequence", "sequences"),
            if runs == 1 { "is" } else { "are" },
            tail[0]
        );
        sink.push(Finding::new(&codes::INVALID_UTF8, place, message));
    }

    /// A value that the lenient reader yields.
    fn value(&mut self, found: &Found<'_>, sink: &mut dyn Sink) {
        if found.last_line > found.line {
            self.begin_cover(found.line, Some(found.last_line), found.discarded.len());
        } else if self.pending.is_some() {
            self.value_on_refused_line(found, sink);
            return;
        }
        let node = found.node;
        match node.kind() {
            Kind::Object => {}
            Kind::Null => {
                sink.push(Finding::new(&codes::NULL_RECORD, self.source.found(found), "The value is null: gjc's loader throws on it."));
                return;
            }
            kind => {
                let article = if kind == Kind::Array { "an" } else { "a" };
                let message = format!("The line is {article} {}, not an object.", kind.word());
                sink.push(Finding::new(&codes::NON_OBJECT_RECORD, self.source.found(found), message));
            }
        }
        self.members(found, sink);
    }

    /// The first value of a line that `JSON.parse` refuses: what the line got explains it, except that `null` throws.
    fn value_on_refused_line(&mut self, found: &Found<'_>, sink: &mut dyn Sink) {
        self.confirm(sink);
        if found.node.kind() == Kind::Null {
            let message = "The first value of the line is null: gjc's loader throws on it.";
            sink.push(Finding::new(&codes::NULL_RECORD, self.source.found(found), message));
        }
        self.members(found, sink);
    }

    /// What is unusual inside a value: one finding a record and code, at the first place.
    fn members(&self, found: &Found<'_>, sink: &mut dyn Sink) {
        let node = found.node;
        if node.any_duplicate_key() {
            let (first, times) = self.first(found, |value| value.repeats_a_key());
            if let Some(place) = first {
                let message = format!("{} a key; the last value counts.", count(times, "object repeats", "objects repeat"));
                sink.push(Finding::new(&codes::DUPLICATE_JSON_KEY, place, message));
            }
        }
        let imprecise = |value: Node<'_>| value.is_long_number() && !number::survives(value.raw());
        if node.any_long_number() && node.descend().any(imprecise) {
            let (first, times) = self.first(found, imprecise);
            if let Some(place) = first {
                let numbers = count(times, "number has a decimal value that", "numbers have decimal values that");
                let message = format!("{numbers} a double cannot hold{}.", infinite(node));
                sink.push(Finding::new(&codes::NUMBER_PRECISION, place, message));
            }
        }
        if node.any_surrogate_escape() && node.descend().any(lone_surrogate) {
            let (first, times) = self.first(found, |value| lone_surrogate(value) || value.member_key().is_some_and(lone_surrogate));
            if let Some(place) = first {
                let message = format!("{} half of a surrogate pair.", count(times, "string holds", "strings hold"));
                sink.push(Finding::new(&codes::LONE_SURROGATE, place, message));
            }
        }
    }

    /// Place of the first value that `is` true of, and how many there are.
    fn first<'v>(&self, found: &Found<'v>, is: impl Fn(Node<'v>) -> bool) -> (Option<Place>, u64) {
        let mut walk = Walk::new(found.node);
        let (mut first, mut times) = (None, 0);
        while let Some(value) = walk.next() {
            if is(value) {
                times += 1;
                if first.is_none() {
                    let entry = found.node.str_member("id").map(|id| wtf8_lossy(&id));
                    first = Some(Place { entry, ..self.source.inside(found, value, walk.pointer()) });
                }
            }
        }
        (first, times)
    }

    /// Reports what only the end of the file can tell.
    pub fn finish(mut self, encoding: Encoding, sink: &mut dyn Sink) -> Summary {
        if self.lines == 0 {
            // A mark, and no line behind it.
            self.begin(b"", encoding, sink);
        }
        let ended_with_lf = self.last.is_none_or(|last| last.has_lf);
        self.confirm(sink);
        self.end_cover(ended_with_lf, sink);
        if let Some(last) = self.last.filter(|last| !last.has_lf && last.ends_complete) {
            let end = last.offset + last.len;
            let place = Place { column: Some(last.len + 1), bytes: Some((end, end)), ..self.source.line(last.number) };
            sink.push(Finding::new(
                &codes::MISSING_FINAL_NEWLINE,
                place,
                "The last line has no line end: the next record will be glued to it.",
            ));
        }
        let Counts { blank, crlf, lf, padded } = self.counts;
        let whole_file = || self.source.file();
        if blank > 0 && self.any_text {
            let message = format!("{} empty.", count(blank, "line is", "lines are"));
            sink.push(Finding::new(&codes::BLANK_LINES, whole_file(), message));
        }
        if crlf > 0 {
            let rest = if lf > 0 { format!(", {lf} in LF alone") } else { String::new() };
            let message = format!("{} in CR LF{rest}.", count(crlf, "line ends", "lines end"));
            sink.push(Finding::new(&codes::CRLF_LINE_ENDINGS, whole_file(), message));
        }
        if padded > 0 {
            let message = format!("{} spaces or tabs around the value.", count(padded, "line has", "lines have"));
            sink.push(Finding::new(&codes::PADDED_LINES, whole_file(), message));
        }
        Summary { mark: self.mark, lines: self.lines, values: self.values, any_text: self.any_text, lost: self.lost }
    }
}

/// True when a space or a tab is part of the white space at either end: a lone CR there is none of them.
fn is_padded(piece: &[u8]) -> bool {
    let pads = |byte: &u8| matches!(byte, b' ' | b'\t');
    let white = |byte: &&u8| scan::is_space(**byte);
    piece.iter().take_while(white).any(pads) || piece.iter().rev().take_while(white).any(pads)
}

/// What the next rewrite makes of numbers above every double: `null`, which the strict schema refuses in the one number
/// that it asks for (spec 01 §2.4).
fn infinite(record: Node<'_>) -> String {
    let is_infinite = |value: Node<'_>| value.as_f64().is_some_and(f64::is_infinite);
    let times = record.descend().filter(|value| is_infinite(*value)).count() as u64;
    if times == 0 {
        return String::new();
    }
    let refused = EntryKind::of(record) == EntryKind::Compaction && record.get("tokensBefore").is_some_and(is_infinite);
    let then = if refused { ", and gjc refuses the file from then on" } else { "" };
    format!("; {} infinite and will be written as null{then}", count(times, "of them is", "of them are"))
}

/// True for a string (or key) that holds an unpaired surrogate.
fn lone_surrogate(node: Node<'_>) -> bool {
    node.has_surrogate_escape() && node.as_str().is_some_and(|text| JsStr::from_wtf8(&text).has_lone_surrogate())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Collected;
    use crate::json::jsonl::Lines;
    use crate::json::text::sniff;

    const H: &str = r#"{"type":"session","id":"s"}"#;
    const A: &str = r#"{"type":"label","id":"a","targetId":"x"}"#;

    fn check_bytes(bytes: &[u8], managed: bool) -> (Vec<Finding>, Summary) {
        let source = Source { path: "t.jsonl".into(), managed };
        let mut sink = Collected::default();
        let mut lines = Lines::new(bytes);
        let mut pass = LinePass::new(&source);
        while let Some(event) = lines.next().expect("reading from memory") {
            pass.event(&event, sniff(bytes), &mut sink);
        }
        let summary = pass.finish(sniff(bytes), &mut sink);
        (sink.findings, summary)
    }

    /// `code@line` of every finding.
    fn found(text: &str) -> Vec<String> {
        found_in(text.as_bytes(), false)
    }
    fn found_in(bytes: &[u8], managed: bool) -> Vec<String> {
        let line = |finding: &Finding| finding.place.line.map_or("-".to_owned(), |line| line.to_string());
        check_bytes(bytes, managed).0.iter().map(|finding| format!("{}@{}", finding.code.name, line(finding))).collect()
    }
    const NOTHING: [&str; 0] = [];

    #[test]
    fn clean_lines_have_no_finding() {
        assert_eq!(found(&format!("{H}\n{A}\n")), NOTHING);
        assert_eq!(found(""), NOTHING);
        // CR is neither a space nor a tab.
        assert_eq!(found(&format!("\r{H}\n{A}\r\r\n")), ["crlf_line_endings@-"]);
    }

    #[test]
    fn one_mark_is_skipped_and_two_are_not() {
        assert_eq!(found(&format!("\u{FEFF}{H}\n")), ["utf8_bom@1"]);
        assert_eq!(found(&format!("\u{FEFF}\u{FEFF}{H}\n{A}\n")), ["utf8_bom_repeated@1"]);
        assert_eq!(found(&format!("{H}\n\u{FEFF}{A}\n")), ["json_syntax@2"]);
        assert_eq!(found("\u{FEFF}"), ["utf8_bom@1"], "a mark alone is one too");
        assert_eq!(found_in(b"\xFF\xFE", false), ["utf16_bom@1"]);
    }

    #[test]
    fn utf16_is_one_finding_in_either_order() {
        let units = |bytes: fn(u16) -> [u8; 2]| format!("\u{FEFF}{H}\n").encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        assert_eq!(found_in(&units(u16::to_le_bytes), false), ["utf16_bom@1"]);
        assert_eq!(found_in(&units(u16::to_be_bytes), false), ["utf16_bom@1"]);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_counted_by_line() {
        let (findings, _) = check_bytes(b"{\"a\":\"\xFFx\xFE\"}\n", false);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "2 sequences of the line are no UTF-8; the first is FF at byte offset 6.");
        assert_eq!(findings[0].place.column, Some(7));
    }

    #[test]
    fn a_torn_tail_is_truncated_and_a_complete_one_lacks_its_line_end() {
        assert_eq!(found(&format!("{H}\n{A}")), ["missing_final_newline@2"]);
        assert_eq!(found(&format!("{H}\n{{\"type\":\"la")), ["truncated_last_line@2"]);
        assert_eq!(found(&format!("{H}\n{{\"type\":\"la\n")), ["json_syntax@2"]);
        assert_eq!(found(&format!("{H}\n{A}{A}")), ["glued_records@2", "missing_final_newline@2"]);
    }

    #[test]
    fn a_tear_inside_a_character_is_one_fault() {
        let mut bytes = format!("{H}\n{{\"type\":\"é").into_bytes();
        bytes.pop();
        assert_eq!(found_in(&bytes, false), ["truncated_last_line@2"]);
        bytes.push(b'\n');
        assert_eq!(found_in(&bytes, false), ["invalid_utf8@2", "json_syntax@2"]);
    }

    #[test]
    fn white_space_alone_is_refused_and_nothing_at_all_is_counted() {
        assert_eq!(found(&format!("{H}\n \n{A}\n")), ["whitespace_only_line@2"]);
        assert_eq!(found(&format!("{H}\n\r\r\n{A}\n")), ["whitespace_only_line@2", "crlf_line_endings@-"]);
        assert_eq!(found(&format!("{H}\n\n\n{A}\n")), ["blank_lines@-"]);
        assert_eq!(found(&format!("{H}\r\n\r\n{A}\r\n")), ["blank_lines@-", "crlf_line_endings@-"]);
    }

    #[test]
    fn the_managed_root_refuses_a_blank_line_of_cr_lf() {
        assert_eq!(found_in(format!("{H}\n\r\n{A}\n").as_bytes(), true), ["crlf_blank_line@2"]);
        assert_eq!(found_in(format!("{H}\n\n{A}\n").as_bytes(), true), ["blank_lines@-"]);
    }

    #[test]
    fn padding_is_counted() {
        assert_eq!(found(&format!("{H}\n {A}\t\n")), ["padded_lines@-"]);
    }

    #[test]
    fn a_value_over_lines_is_one_finding_at_its_first_line() {
        assert_eq!(found(&format!("{H}\n{{\n\"type\":\n\"x\"}}\n{A}\n")), ["record_spans_lines@2"]);
        assert_eq!(found(&format!("{H}\n{{\"data\":\n{A}}}\n{A}\n")), ["lenient_swallow@2"]);
        assert_eq!(found(&format!("{H}\n{{\"data\":\n{A}\n")), ["lenient_swallow@2"]);
        assert_eq!(found(&format!("{H}\n{{\"data\":\n[1,\n2\n")), ["json_syntax@2"]);
        assert_eq!(found(&format!("{H}\n{{\"data\":\n[1,\n2")), ["truncated_last_line@2"]);
    }

    #[test]
    fn a_line_of_nul_bytes_says_what_can_be_recovered() {
        let (findings, summary) = check_bytes(format!("{H}\n\0\0\0{A}\n").as_bytes(), false);
        assert_eq!(findings[0].code, &codes::NUL_RUN);
        assert_eq!(findings[0].message, "The line holds 3 NUL bytes and one complete record can be recovered from it.");
        assert_eq!(summary.lost.cause(b"a").map(|damaged| damaged.line), Some(2));
    }

    #[test]
    fn values_that_are_no_objects_are_named() {
        let expect = ["null_record@2", "non_object_record@3", "non_object_record@4", "non_object_record@5", "non_object_record@6"];
        assert_eq!(found(&format!("{H}\nnull\n[]\n7\n\"x\"\ntrue\n")), expect);
        assert_eq!(found(&format!("{H}\nnull x\n")), ["json_syntax@2", "null_record@2"]);
    }

    #[test]
    fn a_repeated_key_a_number_and_half_a_pair_are_found_with_their_pointer() {
        let text = br#"{"a":{"b":1,"b":2},"c":[12345678901234567890],"d":"\ud83d"}"#;
        let (findings, _) = check_bytes(text, false);
        let shown: Vec<_> = findings.iter().map(|f| (f.code.name, f.place.pointer.as_deref())).collect();
        let expect = [
            ("duplicate_json_key", Some("/a")),
            ("number_precision", Some("/c/0")),
            ("lone_surrogate", Some("/d")),
            ("missing_final_newline", None),
        ];
        assert_eq!(shown, expect);
    }

    #[test]
    fn what_becomes_of_infinite_numbers_is_said() {
        let message = |text: &str| check_bytes(format!("{text}\n").as_bytes(), false).0[0].message.to_string();
        assert_eq!(message("{\"a\":9007199254740993}"), "1 number has a decimal value that a double cannot hold.");
        assert_eq!(
            message("{\"a\":[1e400,-1e400,9007199254740993]}"),
            "3 numbers have decimal values that a double cannot hold; 2 of them are infinite and will be written as null."
        );
        // The strict schema asks for one number: the rewritten compaction fails it.
        let refused = message("{\"type\":\"compaction\",\"tokensBefore\":1e400}");
        assert!(
            refused.ends_with("1 of them is infinite and will be written as null, and gjc refuses the file from then on."),
            "{refused}"
        );
        assert!(!message("{\"type\":\"compaction\",\"n\":1e400,\"tokensBefore\":1}").contains("refuses"), "near miss");
    }

    #[test]
    fn a_whole_pair_and_a_faithful_number_are_not_found() {
        let text = "{\"a\":\"\\ud83d\\ude00\",\"b\":0.30000000000000004,\"c\":1e21,\"d\":{\"a\":1}}\n";
        assert_eq!(found(text), NOTHING);
        assert_eq!(found("{\"b\":1e400}\n"), ["number_precision@1"]);
    }

    #[test]
    fn the_ids_of_lost_text_name_their_line() {
        let text = format!("{H}\n{A}{{\"id\":\"b\"}}\n{{\"type\":\"label\",\"id\":\"c\n{{\"type\":\"label\",\"id\":\"d\",\"da\n");
        let (_, summary) = check_bytes(text.as_bytes(), false);
        let line = |id: &str| summary.lost.cause(id.as_bytes()).map(|damaged| damaged.line);
        assert_eq!((line("a"), line("b"), line("c"), line("d")), (None, Some(2), None, Some(4)));
        assert_eq!(summary.lost.total(), 3);
    }
}
