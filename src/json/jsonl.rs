//! gjc's lenient JSONL value reader (spec 01 §2.1; exact rule: the paragraph in `tests/vectors/README.md`), and the
//! stream that lays it beside the physical lines of a file.
//!
//! [`step`] is the rule over a text. [`Lines`] applies it to a stream in bounded memory: it yields every physical line
//! with what `JSON.parse` says of it, and every value that the lenient reader yields, in file order, in one pass.

use super::scan::{self, Outcome, skip_space};
use super::tape::{Node, Tape};
use super::text::{self, Encoding};
use super::value::Value;
use crate::steps;
use std::borrow::Cow;
use std::io::{self, Read};

/// One step of the lenient reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Only white space was left.
    End,
    /// A value was kept (it is on the tape).
    Value {
        /// First byte of the value.
        start: usize,
        /// First byte behind it.
        end: usize,
        /// Where the next step begins: behind the line end that follows the value.
        resume: usize,
    },
    /// No value: the line that the failed value begins on is skipped.
    Failed {
        /// First byte of the failed value.
        start: usize,
        /// Where the lexer stood.
        at: usize,
        /// Where the next step begins.
        resume: usize,
    },
    /// The text ended inside the value: everything from `start` on is lost.
    Incomplete {
        /// First byte of the incomplete value.
        start: usize,
    },
    /// The decision needs bytes behind the given text.
    NeedMore {
        /// First byte that must be kept.
        start: usize,
    },
}

/// Applies one step to `text` from `from`. With `whole` the text ends where the file ends; else more may follow.
///
/// The bytes need not be UTF-8: bad sequences change what a string says, never where a value ends.
pub fn step(text: &[u8], from: usize, whole: bool, tape: &mut Tape) -> Step {
    let start = skip_space(text, from);
    if start == text.len() {
        return if whole { Step::End } else { Step::NeedMore { start } };
    }
    match scan::scan(text, start, tape) {
        Outcome::Complete { end } => {
            let after = end + text[end..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
            match line_behind(text, after, whole) {
                Some(resume) => Step::Value { start, end, resume },
                None => Step::NeedMore { start },
            }
        }
        Outcome::Failed { at } if at == text.len() && whole => Step::Incomplete { start },
        Outcome::Failed { at } if at == text.len() => Step::NeedMore { start },
        Outcome::Failed { at } => failed(text, start, at, whole),
    }
}

/// A failed value: the line that it begins on is skipped.
fn failed(text: &[u8], start: usize, at: usize, whole: bool) -> Step {
    match line_behind(text, start, whole) {
        Some(resume) => Step::Failed { start, at, resume },
        None => Step::NeedMore { start },
    }
}

/// First byte behind the first LF at or behind `from`; the end when there is none and nothing follows the text.
fn line_behind(text: &[u8], from: usize, whole: bool) -> Option<usize> {
    let found = memchr::memchr(b'\n', &text[from..]);
    steps::take(found.unwrap_or(text.len() - from));
    match found {
        Some(lf) => Some(from + lf + 1),
        None => whole.then_some(text.len()),
    }
}

/// What `JSON.parse` says of a physical line's piece (spec 01 §2.3 step 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strict {
    /// The piece is empty.
    Empty,
    /// The piece is one value with nothing but white space around it.
    Value,
    /// `JSON.parse` throws.
    Refused {
        /// Byte offset in the piece where the scanner stood.
        at: usize,
    },
}

/// One physical line: the bytes between two LF.
#[derive(Clone, Copy)]
pub struct Line<'w> {
    /// 1-based number.
    pub number: u64,
    /// Byte offset of its first byte in the file (in the transcoded text for UTF-16LE).
    pub offset: u64,
    /// The line as it stands in the file, LF excluded, a leading byte order mark excluded.
    pub raw: &'w [u8],
    /// The line as the lenient reader decodes it (equal to `raw` unless the line is no UTF-8).
    pub text: &'w [u8],
    /// True when an LF ends it.
    pub has_lf: bool,
    /// Offset in `raw` of the first byte that fatal UTF-8 decoding refuses; never in a file of UTF-16LE, whose text has
    /// lone surrogates as WTF-8.
    pub invalid_utf8: Option<usize>,
    /// What `JSON.parse` says of the piece (`text` without one CR before the LF).
    pub strict: Strict,
    /// The value of the piece when `strict` is [`Strict::Value`].
    pub value: Option<Node<'w>>,
}

/// A value that the lenient reader yields.
#[derive(Clone, Copy)]
pub struct Found<'w> {
    /// The value.
    pub node: Node<'w>,
    /// Line it begins on.
    pub line: u64,
    /// Line its last byte stands on.
    pub last_line: u64,
    /// Byte offset of its first byte in the file.
    pub offset: u64,
    /// Byte offset behind its last byte in the file: not `offset` and the length of `text` where bytes are no UTF-8.
    pub end: u64,
    /// Its text.
    pub text: &'w [u8],
    /// What stands behind it up to the line end and is thrown away (spaces, tabs, CR excluded at the front).
    pub discarded: &'w [u8],
}

/// What a stream of lines yields.
#[derive(Clone, Copy)]
pub enum Event<'w> {
    /// A physical line. Comes before the value that begins on it.
    Line(Line<'w>),
    /// A value of the lenient reader.
    Value(Found<'w>),
    /// The lenient reader skipped the line with this number.
    Skipped {
        /// 1-based line.
        line: u64,
        /// Byte offset of the failed value.
        offset: u64,
    },
    /// The lenient reader lost everything from here on.
    Lost {
        /// 1-based line that the incomplete value begins on.
        line: u64,
        /// Byte offset of the incomplete value.
        offset: u64,
    },
}

/// A transcript as lines and lenient values. Memory: a window of the longest line, or of the longest run of lines that
/// one undecided value covers.
pub struct Lines<R> {
    input: R,
    /// Least room of a read.
    chunk: usize,
    /// The window; `at..filled` is not consumed yet.
    window: Vec<u8>,
    at: usize,
    filled: usize,
    ended: bool,
    /// File offset of `window[0]`.
    base: u64,
    /// Number of the line at `at`.
    line: u64,
    started: bool,
    encoding: Encoding,
    /// File offset at which the lenient reader goes on; lines before it are inside a value it already yielded or lost.
    lenient_at: u64,
    /// An event that is due after the current line's.
    queued: Option<Queued>,
    tape: Tape,
    lenient_tape: Tape,
    /// Lossy text of the current line when it is no UTF-8.
    decoded: Vec<u8>,
    /// Lossy text of the current lenient value when it is no UTF-8.
    lenient_text: Vec<u8>,
    /// File offsets, ascending, of containers that are known to fail, and where they fail: a container that was open
    /// when a scan failed fails at the same place when a later line begins with it. Keeps n torn lines at O(n).
    doomed: (Vec<u64>, u64),
}

#[derive(Clone, Copy)]
enum Queued {
    /// The line's own value is the lenient reader's value.
    Same { line_len: usize, number: u64, offset: u64 },
    /// Ask the lenient reader for the value that begins on the line at window position.
    Ask { at: usize, number: u64, offset: u64 },
}

const CHUNK: usize = 256 * 1024;

fn no_room(line: usize) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("a line or value of more than {line} bytes does not fit into the memory"))
}

impl Line<'_> {
    /// Bytes of the byte order mark before the line: only the first line of a file has one that is left out of it.
    pub fn mark(&self) -> usize {
        if self.number == 1 { self.offset as usize } else { 0 }
    }
    /// The value behind a byte order mark at the front of the line. Readers that decode each line by itself drop one mark
    /// from each; that of the first line is dropped already.
    pub fn value_behind_mark(&self) -> Option<Value> {
        if self.mark() > 0 { None } else { self.raw.strip_prefix(text::BYTE_ORDER_MARK).and_then(Value::parse) }
    }
}

impl<R: Read> Lines<R> {
    /// Begins to read. Nothing is read before the first event is asked for.
    pub fn new(input: R) -> Self {
        Self::with_chunk(input, CHUNK)
    }

    /// The same for an input of about this many bytes: a small file gets a small window, which a check of a hundred
    /// thousand small files can tell.
    pub fn expecting(input: R, size: u64) -> Self {
        // One byte more than the file has, so that its end is seen without growing.
        let chunk = usize::try_from(size).unwrap_or(CHUNK).saturating_add(1).clamp(64, CHUNK);
        Self::with_chunk(input, chunk)
    }

    /// The same for text that is decoded already: a byte order mark at its front is part of its first line.
    pub fn of_text(input: R, size: u64) -> Self {
        Lines { started: true, ..Self::expecting(input, size) }
    }

    fn with_chunk(input: R, chunk: usize) -> Self {
        Lines {
            input,
            chunk,
            window: Vec::new(),
            at: 0,
            filled: 0,
            ended: false,
            base: 0,
            line: 1,
            started: false,
            encoding: Encoding::Utf8 { bom: 0 },
            lenient_at: 0,
            queued: None,
            tape: Tape::default(),
            lenient_tape: Tape::default(),
            decoded: Vec::new(),
            lenient_text: Vec::new(),
            doomed: (Vec::new(), 0),
        }
    }

    /// The encoding that the file's first bytes selected; known after the first event.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Reads as much as shows the encoding.
    ///
    /// # Errors
    /// Whatever the input answers to a read, `Interrupted` excepted.
    pub fn sniff(&mut self) -> io::Result<Encoding> {
        if !self.started {
            self.start()?;
        }
        Ok(self.encoding)
    }

    /// Gives the input back.
    pub fn into_input(self) -> R {
        self.input
    }

    /// Reads more of the file into the window, dropping what is consumed.
    fn fill(&mut self) -> io::Result<()> {
        if self.at > 0 {
            self.window.copy_within(self.at..self.filled, 0);
            self.base += self.at as u64;
            self.filled -= self.at;
            self.at = 0;
        }
        // Grow by doubling, and only when it is full: a pipe hands out little at a time.
        if self.window.len() == self.filled {
            let want = self.chunk.max(self.filled);
            // A line without an end must end in an error, not end the program.
            Vec::<u8>::new().try_reserve_exact(self.filled + want).map_err(|_| no_room(self.filled))?;
            // Fresh zeroed memory costs nothing until it is touched, which small files never do.
            let mut grown = vec![0; self.filled + want];
            grown[..self.filled].copy_from_slice(&self.window[..self.filled]);
            self.window = grown;
        }
        match self.input.read(&mut self.window[self.filled..]) {
            Ok(0) => self.ended = true,
            Ok(n) => self.filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn start(&mut self) -> io::Result<()> {
        self.started = true;
        while self.filled < 3 && !self.ended {
            self.fill()?;
        }
        self.encoding = text::sniff(&self.window[..self.filled]);
        match self.encoding {
            Encoding::Utf8 { bom } => self.at = bom,
            Encoding::Utf16Le => {
                // Rare and refused by every strict reader: transcode the whole file once.
                let mut all = self.window[2..self.filled].to_vec();
                self.input.read_to_end(&mut all)?;
                self.window = text::utf16le(&all);
                self.filled = self.window.len();
                self.ended = true;
                self.at = 0;
            }
        }
        self.lenient_at = self.at as u64;
        Ok(())
    }

    /// The next event; none at the end of the file.
    ///
    /// # Errors
    /// Whatever the input answers to a read, `Interrupted` excepted.
    #[allow(clippy::should_implement_trait, reason = "the event borrows the window: a lending iterator")]
    pub fn next(&mut self) -> io::Result<Option<Event<'_>>> {
        if !self.started {
            self.start()?;
        }
        match self.queued.take() {
            Some(Queued::Same { line_len, number, offset }) => return Ok(self.same(line_len, number, offset)),
            Some(Queued::Ask { at, number, offset }) => {
                let asked = self.ask(at, offset)?;
                return Ok(Some(self.answer(asked, number, offset)));
            }
            None => {}
        }
        self.next_line()
    }

    /// The value of the line that was yielded last.
    fn same(&self, line_len: usize, number: u64, offset: u64) -> Option<Event<'_>> {
        let raw = &self.window[self.at - line_len..self.at];
        let text: &[u8] = if self.decoded.is_empty() { raw } else { &self.decoded };
        let node = self.tape.root(text)?;
        let (start, end) = node.span();
        // Behind the value stands white space, which is the same in both; the line end is no part of a decoded line.
        let line_end = if self.decoded.is_empty() { 0 } else { usize::from(raw.last() == Some(&b'\n')) };
        let behind = text.len() - end + line_end;
        Some(Event::Value(Found {
            node,
            line: number,
            last_line: number,
            offset: offset + start as u64,
            end: offset + (raw.len() - behind) as u64,
            text: &text[start..end],
            discarded: &[],
        }))
    }

    fn next_line(&mut self) -> io::Result<Option<Event<'_>>> {
        let mut searched = self.at;
        let lf = loop {
            match memchr::memchr(b'\n', &self.window[searched..self.filled]) {
                Some(lf) => break Some(searched + lf),
                None if self.ended => break None,
                None => {
                    let kept = self.filled - self.at;
                    self.fill()?;
                    searched = self.at + kept;
                }
            }
        };
        if lf.is_none() && self.at == self.filled {
            return Ok(None);
        }
        let begin = self.at;
        let end = lf.unwrap_or(self.filled);
        let after = lf.map_or(self.filled, |lf| lf + 1);
        let number = self.line;
        let offset = self.base + begin as u64;
        self.line += 1;
        self.at = after;

        self.decoded.clear();
        let raw = &self.window[begin..end];
        // Of UTF-16 every unit stays, lone surrogates too: there is nothing to repair.
        let invalid_utf8 = if self.encoding == Encoding::Utf16Le { None } else { text::first_invalid_utf8(raw) };
        if invalid_utf8.is_some()
            && let Cow::Owned(lossy) = text::utf8_lossy(raw)
        {
            self.decoded = lossy;
        }
        let text: &[u8] = if invalid_utf8.is_some() { &self.decoded } else { raw };
        let piece = match text {
            [piece @ .., b'\r'] if lf.is_some() => piece,
            piece => piece,
        };
        let in_step = self.lenient_at == offset;
        let blank = skip_space(piece, 0) == piece.len();
        let strict = if piece.is_empty() {
            Strict::Empty
        } else {
            match scan::scan(piece, 0, &mut self.tape) {
                Outcome::Complete { end } if skip_space(piece, end) == piece.len() => Strict::Value,
                Outcome::Complete { end } => Strict::Refused { at: end },
                Outcome::Failed { at } => Strict::Refused { at },
            }
        };
        if in_step {
            if strict == Strict::Value {
                self.lenient_at = self.base + after as u64;
                self.queued = Some(Queued::Same { line_len: after - begin, number, offset });
            } else if blank {
                self.lenient_at = self.base + after as u64;
            } else {
                self.queued = Some(Queued::Ask { at: begin, number, offset });
            }
        }
        let value = if strict == Strict::Value { self.tape.root(piece) } else { None };
        Ok(Some(Event::Line(Line {
            number,
            offset,
            raw: &self.window[begin..end],
            text,
            has_lf: lf.is_some(),
            invalid_utf8,
            strict,
            value,
        })))
    }

    /// Asks the lenient reader for the value that begins on the line at window position `at` and file offset `offset`.
    fn ask(&mut self, at: usize, offset: u64) -> io::Result<Asked> {
        // What is read beyond this line is looked at again as lines: only the window grows.
        let consumed = self.at - at;
        self.at = at;
        let step = loop {
            let text = &self.window[self.at..self.filled];
            let start = skip_space(text, 0);
            let (doomed, fails_at) = &self.doomed;
            let step = match doomed.binary_search(&(offset + start as u64)) {
                Ok(_) => failed(text, start, (fails_at - offset) as usize, self.ended),
                Err(_) => step(text, 0, self.ended, &mut self.lenient_tape),
            };
            match step {
                // Twice as much of a long one, so that it is scanned O(log n) times.
                Step::NeedMore { .. } => {
                    let seen = text.len();
                    let enough = if seen < self.chunk { seen + 1 } else { 2 * seen };
                    while self.filled - self.at < enough && !self.ended {
                        self.fill()?;
                    }
                }
                decided => break decided,
            }
        };
        let asked = Asked { step, at: self.at };
        self.at += consumed;
        self.lenient_at = match step {
            Step::Value { resume, .. } => offset + resume as u64,
            Step::Failed { start, at, resume } => {
                if self.doomed.0.binary_search(&(offset + start as u64)).is_err() {
                    let tape = &self.lenient_tape;
                    let open = tape.open.iter().map(|slot| offset + u64::from(tape.slots[*slot as usize].start));
                    self.doomed = (open.collect(), offset + at as u64);
                }
                offset + resume as u64
            }
            Step::End | Step::Incomplete { .. } | Step::NeedMore { .. } => u64::MAX,
        };
        Ok(asked)
    }

    fn answer(&mut self, asked: Asked, line: u64, offset: u64) -> Event<'_> {
        let window = &self.window[asked.at..self.filled];
        let line_of = |position: usize| line + memchr::memchr_iter(b'\n', &window[..position]).count() as u64;
        let place = |start: usize| (line_of(start), offset + start as u64);
        match asked.step {
            Step::Value { start, end, resume } => {
                let raw = &window[start..end];
                let rest = &window[end..resume];
                let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
                let lead = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
                let last_line = line_of(end);
                let value_end = offset + end as u64;
                let (line, offset) = place(start);
                let text = match text::utf8_lossy(raw) {
                    Cow::Owned(lossy) if self.encoding != Encoding::Utf16Le => {
                        self.lenient_text = lossy;
                        &self.lenient_text
                    }
                    _ => raw,
                };
                // Spans are those of the value's own text; a second scan is dear only for values over several lines.
                scan::scan(text, 0, &mut self.lenient_tape);
                match self.lenient_tape.root(text) {
                    Some(node) => Event::Value(Found { node, line, last_line, offset, end: value_end, text, discarded: &rest[lead..] }),
                    None => Event::Skipped { line, offset },
                }
            }
            Step::Failed { start, .. } => {
                let (line, offset) = place(start);
                Event::Skipped { line, offset }
            }
            Step::Incomplete { start } | Step::NeedMore { start } => {
                let (line, offset) = place(start);
                Event::Lost { line, offset }
            }
            Step::End => Event::Lost { line, offset },
        }
    }
}

/// The lenient reader's answer, and the window position it was asked for.
#[derive(Clone, Copy)]
struct Asked {
    step: Step,
    at: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify;
    use proptest::prelude::*;

    /// Hands out one byte per read: every window boundary that can occur does.
    struct OneByte<'a>(&'a [u8]);

    impl Read for OneByte<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match (self.0, out) {
                ([first, rest @ ..], [slot, ..]) => {
                    *slot = *first;
                    self.0 = rest;
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    fn values_of(input: impl Read) -> Vec<String> {
        values_from(Lines::new(input))
    }

    fn values_from(mut lines: Lines<impl Read>) -> Vec<String> {
        let mut values = Vec::new();
        while let Some(event) = lines.next().unwrap() {
            if let Event::Value(found) = event {
                values.push(stringify::to_text(&Value::from_node(found.node)));
            }
        }
        values
    }

    /// A pipe hands out little at a time, however much is asked for.
    #[test]
    fn the_window_grows_a_few_times_however_little_a_read_gives() {
        struct Pipe<'a> {
            text: &'a [u8],
            room: usize,
            grown: u32,
        }
        impl Read for Pipe<'_> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.grown += u32::from(into.len() > self.room);
                self.room = into.len();
                let given = into.len().min(1000);
                self.text.read(&mut into[..given])
            }
        }
        let text = format!("[\n\"{}\"]\n", "x".repeat(4 << 20));
        let mut lines = Lines::new(Pipe { text: text.as_bytes(), room: 0, grown: 0 });
        while lines.next().unwrap().is_some() {}
        let grown = lines.into_input().grown;
        assert!(grown < 20, "{grown}");
    }

    #[test]
    fn what_size_is_expected_makes_no_difference() {
        let text = format!("{{\"a\":1}}\n\n{{\"b\":\n2}} x\n\"{}\"\n[1", "é".repeat(300));
        let plain = values_of(text.as_bytes());
        assert!(plain.len() > 2);
        for size in [0, 1, 63, 64, text.len() as u64 - 1, text.len() as u64, text.len() as u64 + 1, u64::MAX] {
            assert_eq!(values_from(Lines::expecting(text.as_bytes(), size)), plain, "{size}");
        }
    }

    fn values(text: &str) -> Vec<String> {
        values_of(text.as_bytes())
    }

    /// Every event of a text as one word each.
    fn story(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(text);
        let mut story = Vec::new();
        while let Some(event) = lines.next().unwrap() {
            story.push(match event {
                Event::Line(line) => format!("line {} {:?}", line.number, line.strict),
                Event::Value(found) => format!("value {}-{} at {}", found.line, found.last_line, found.offset),
                Event::Skipped { line, offset } => format!("skipped {line} at {offset}"),
                Event::Lost { line, offset } => format!("lost {line} at {offset}"),
            });
        }
        story
    }

    #[test]
    fn blank_lines_are_ignored() {
        assert_eq!(values("{\"a\":1}\n\n \t\n{\"b\":2}\n"), ["{\"a\":1}", "{\"b\":2}"]);
    }

    #[test]
    fn a_torn_line_loses_only_itself() {
        assert_eq!(values("{\"a\":1}\n{\"b\":2\n{\"c\":3}\n"), ["{\"a\":1}", "{\"c\":3}"]);
    }

    #[test]
    fn a_line_torn_behind_a_colon_swallows_the_next_one() {
        // The value of line 2 goes on in line 3 and fails at line 4; lines 3 and 4 are then read on their own.
        assert_eq!(values("{\"a\":1}\n{\"b\":\n{\"c\":3}\n{\"d\":4}\n"), ["{\"a\":1}", "{\"c\":3}", "{\"d\":4}"]);
        // When line 3 is the last, the text ends inside the value.
        assert_eq!(values("{\"a\":1}\n{\"b\":\n{\"c\":3}\n"), ["{\"a\":1}"]);
    }

    #[test]
    fn the_first_of_two_values_on_a_line_wins() {
        assert_eq!(values("{\"a\":1} {\"b\":2}\n{\"c\":3}\n"), ["{\"a\":1}", "{\"c\":3}"]);
    }

    #[test]
    fn a_value_may_span_lines_and_says_which() {
        assert_eq!(
            story(b"{\n\"a\":1\n}\n7\n"),
            [
                "line 1 Refused { at: 1 }",
                "value 1-3 at 0",
                "line 2 Refused { at: 3 }",
                "line 3 Refused { at: 1 }",
                "line 4 Value",
                "value 4-4 at 10"
            ]
        );
    }

    #[test]
    fn an_incomplete_value_at_the_end_is_lost_with_everything_behind_it() {
        assert_eq!(story(b"1\n[2,\n3"), ["line 1 Value", "value 1-1 at 0", "line 2 Refused { at: 3 }", "lost 2 at 2", "line 3 Value"]);
    }

    #[test]
    fn one_byte_order_mark_is_dropped_and_counts_in_offsets() {
        assert_eq!(story(b"\xEF\xBB\xBF1\n"), ["line 1 Value", "value 1-1 at 3"]);
    }

    #[test]
    fn a_second_byte_order_mark_spoils_the_first_line() {
        assert_eq!(
            story(b"\xEF\xBB\xBF\xEF\xBB\xBF1\n2\n"),
            ["line 1 Refused { at: 0 }", "skipped 1 at 3", "line 2 Value", "value 2-2 at 8"]
        );
    }

    #[test]
    fn text_that_is_decoded_already_has_no_mark_to_drop() {
        let text = "\u{feff}1\n2\n";
        assert_eq!(values_from(Lines::new(text.as_bytes())), ["1", "2"]);
        assert_eq!(values_from(Lines::of_text(text.as_bytes(), 0)), ["2"]);
    }

    #[test]
    fn utf_16_is_read_behind_its_mark() {
        assert_eq!(values_of(&b"\xFF\xFE7\0\n\0"[..]), ["7"]);
    }

    #[test]
    fn a_lone_surrogate_of_utf_16_stays_on_one_line_and_over_several() {
        let file = |text: &str| {
            [
                &[0xFF, 0xFE][..],
                &text.encode_utf16().map(|unit| if unit == 0xFFFD { 0xD800 } else { unit }).flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
            ]
            .concat()
        };
        assert_eq!(values_of(&file("{\"a\":\"\u{FFFD}\"}\n")[..]), [r#"{"a":"\ud800"}"#]);
        assert_eq!(values_of(&file("{\"a\":\n\"\u{FFFD}\"}\n")[..]), [r#"{"a":"\ud800"}"#]);
        assert_eq!(values_of(&file("\"\u{FFFD}\\udc00\"")[..]), ["\"\u{10000}\""], "halves that meet are a pair");
    }

    #[test]
    fn invalid_utf8_becomes_one_replacement_per_maximal_subpart() {
        assert_eq!(values_of(&b"\"\xED\xA0\x80|\xF0\x9F\x98|\xFF\"\n"[..]), ["\"\u{FFFD}\u{FFFD}\u{FFFD}|\u{FFFD}|\u{FFFD}\""]);
    }

    /// U+FFFD is three bytes where the file has one.
    #[test]
    fn a_value_ends_where_its_bytes_end_whatever_its_text_is() {
        for (text, end) in
            [(&b"  \"\xFF\" \n1\n"[..], 5), (b"  \"\xFF\" ", 5), (b"{\n\"\xFF\":1 }x\n1\n", 9), (b" 1\n", 2), (b"[1]\r\n", 3)]
        {
            let mut lines = Lines::new(text);
            let found = loop {
                if let Event::Value(found) = lines.next().unwrap().unwrap() {
                    break found.end;
                }
            };
            assert_eq!(found, end, "{text:?}");
        }
    }

    #[test]
    fn a_line_of_blanks_is_refused_by_json_parse_and_ignored_by_the_lenient_reader() {
        assert_eq!(story(b"1\n \t\n2\n"), ["line 1 Value", "value 1-1 at 0", "line 2 Refused { at: 2 }", "line 3 Value", "value 3-3 at 5"]);
    }

    #[test]
    fn many_lines_that_open_what_never_closes_cost_linear_time() {
        // Each line begins a container that fails at the far end; without memory this is quadratic and takes minutes.
        let mut text = "[1,\n".repeat(60_000);
        text.push_str("}\n8\n");
        assert_eq!(values(&text), ["8"]);
    }

    #[test]
    fn a_million_nested_arrays_are_one_value() {
        let text = format!("{}{}\n", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(values(&text)[0].len(), 2_000_000);
    }

    proptest! {
        #[test]
        fn window_boundaries_change_nothing(text in "([{}\\[\\]\":,1ean\\\\u0-9 \n\r\t\u{FEFF}é]|true|null|\\{\"a\":1\\}\n){0,40}") {
            prop_assert_eq!(values_of(OneByte(text.as_bytes())), values(&text));
        }

        #[test]
        fn what_json_parse_accepts_line_by_line_the_lenient_reader_yields_whole(
            lines in proptest::collection::vec("|7|\\[1, 2\\]|\"[a-z\u{e9}]{0,5}\"| ?\\{\"a\":\\{\"b\":null\\}\\}[ \t\r]?", 0..12),
            crlf in any::<bool>(),
        ) {
            let text = lines.join(if crlf { "\r\n" } else { "\n" });
            let accepted = lines.iter().filter(|line| !line.is_empty()).count();
            prop_assert_eq!(values(&text).len(), accepted);
        }

        #[test]
        fn a_record_alone_on_its_line_is_never_lost_behind_whole_lines(good in "[a-z]{0,8}", bad in "[^\n\\[{:,]{0,12}") {
            // Damage that opens nothing cannot reach beyond its own line.
            let record = format!("{{\"k\":\"{good}\"}}");
            let read = values(&format!("{bad}\n{record}\n"));
            prop_assert!(read.contains(&record));
        }
    }
}
