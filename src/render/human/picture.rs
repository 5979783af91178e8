//! One finding with the line it is about, drawn by miette.

use super::super::Excerpts;
use super::super::style::{pieces, plain};
use crate::finding::Severity;
use crate::report::Entry;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use std::fmt::{self, Write};
use textwrap::core::Word;
use textwrap::{WordSeparator, WordSplitter};

/// Bytes shown before the place.
const BEFORE: u64 = 40;

/// Draws a finding for `width` columns.
pub fn draw(entry: &Entry, excerpts: &dyn Excerpts, colour: bool, width: usize) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    // As `wrap` breaks lines: between words and whole code spans, and nowhere inside.
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(width)
        .without_syntax_highlighting()
        .with_break_words(false)
        .with_word_separator(WordSeparator::Custom(|line| Box::new(pieces(line).map(Word::from))))
        .with_word_splitter(WordSplitter::NoHyphenation);
    let picture = Picture { entry, excerpt: excerpt(entry, excerpts, width), consequence: Consequence(plain(&entry.gjc).into_owned()) };
    let mut out = String::new();
    // Writing into a String cannot fail; a picture that cannot be drawn leaves the words.
    if handler.render_report(&mut out, &picture).is_err() {
        out = format!("  {}: {}\n", entry.code.name, plain(&entry.message));
    }
    out
}

/// The piece of a line that is shown.
#[derive(Debug)]
struct Excerpt {
    text: String,
    /// 0-based line and column of the text's first byte, as miette counts.
    line: usize,
    column: usize,
    /// What is marked, in bytes of `text`.
    start: usize,
    len: usize,
}

/// The piece around a finding's place: of its first line only, and short enough for the terminal.
fn excerpt(entry: &Entry, excerpts: &dyn Excerpts, width: usize) -> Option<Excerpt> {
    let (line, start, end) = (entry.place.line?, entry.place.byte_start?, entry.place.byte_end?);
    let column = entry.place.column.unwrap_or(1).max(1);
    // Where the line begins, as far as that is near; one byte further than is shown, to see whether it goes on.
    let back = start.min(BEFORE + 1);
    let ahead = excerpts.bytes(&entry.place.path, start - back, usize::try_from(back).ok()?)?;
    let begins = ahead.iter().rposition(|byte| *byte == b'\n').map_or(0, |lf| lf + 1);
    let line_start = start - (ahead.len() - begins) as u64;
    // A finding about a whole line names the column where its trouble is.
    let focus = if line_start == start { start.saturating_add(column - 1).min(end) } else { start };
    let before = (focus - line_start).min(BEFORE);
    let room = width.saturating_sub(14).max(30);
    let window = excerpts.bytes(&entry.place.path, focus - before, room)?;
    let (window, goes_on) = match window.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&window[..end], false),
        None => (&window[..], window.len() == room),
    };
    let before = usize::try_from(before).ok()?.min(window.len());
    let marked = usize::try_from(end.saturating_sub(focus)).unwrap_or(usize::MAX).min(window.len() - before);
    let (head, rest) = window.split_at(before);
    let (middle, tail) = rest.split_at(marked);
    let mut text = if focus - before as u64 > line_start { "…".to_owned() } else { String::new() };
    text.push_str(&shown(head));
    let mut at = text.len();
    text.push_str(&shown(middle));
    let mut len = text.len() - at;
    text.push_str(&shown(tail));
    if len == 0 {
        // The line ends where the trouble is: its last letter is marked.
        let (last, letter) = text.char_indices().take_while(|(index, _)| *index < at.max(1)).last()?;
        (at, len) = (last, letter.len_utf8());
    }
    if goes_on {
        text.push('…');
    }
    Some(Excerpt {
        text,
        line: usize::try_from(line).ok()?.saturating_sub(1),
        column: usize::try_from(column).ok()?.saturating_sub(1),
        start: at,
        len,
    })
}

/// Bytes of a file as one line of printable text: what is no text becomes `·`, so that columns stay aligned.
fn shown(bytes: &[u8]) -> String {
    let unprintable = |c: char| c == char::REPLACEMENT_CHARACTER || plain(c.encode_utf8(&mut [0; 4])).len() != c.len_utf8();
    String::from_utf8_lossy(bytes).chars().map(|c| if unprintable(c) { '·' } else { c }).collect()
}

#[derive(Debug)]
struct Picture<'a> {
    entry: &'a Entry,
    excerpt: Option<Excerpt>,
    consequence: Consequence,
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.entry.message))
    }
}

/// What gjc does, drawn as the consequence of the finding.
#[derive(Debug)]
struct Consequence(String);

impl fmt::Display for Consequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Consequence {}

impl std::error::Error for Picture<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.consequence)
    }
}

impl Diagnostic for Picture<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(self.entry.code.name))
    }
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.entry.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        })
    }
    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let mut text = plain(&self.entry.help).into_owned();
        for related in &self.entry.related {
            let line = related.place.line.map_or(String::new(), |line| format!(" line {line}"));
            let path = if related.place.path == self.entry.place.path { String::new() } else { format!(" {}", plain(&related.place.path)) };
            let _ = write!(text, "\nsee{path}{line} ({})", plain(&related.note));
        }
        Some(Box::new(text))
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        let span = SourceSpan::new(excerpt.start.into(), excerpt.len);
        Some(Box::new(std::iter::once(LabeledSpan::new_primary_with_span(None, span))))
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(&'a self, span: &SourceSpan, _: usize, _: usize) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        if span.offset() + span.len() > self.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let whole = SourceSpan::new(0.into(), self.text.len());
        let contents = MietteSpanContents::new_named("line".to_owned(), self.text.as_bytes(), whole, self.line, self.column, 1);
        Ok(Box::new(contents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use crate::finding::{Finding, Place};
    use crate::report::{Audit, Settings, build};
    use std::sync::Arc;

    /// A file in memory.
    struct Text(&'static [u8]);

    impl Excerpts for Text {
        fn bytes(&self, _: &str, start: u64, len: usize) -> Option<Vec<u8>> {
            let from = self.0.get(usize::try_from(start).ok()?..)?;
            Some(from[..len.min(from.len())].to_vec())
        }
    }

    /// The excerpt's text with what is marked in brackets.
    fn marked(text: &'static [u8], line: u64, column: u64, bytes: (u64, u64)) -> Option<String> {
        let code = check::code("json_syntax").unwrap();
        let place = Place { path: Arc::from("a"), line: Some(line), column: Some(column), bytes: Some(bytes), ..Place::default() };
        let report = build(Audit { findings: vec![Finding::new(code, place, "x")], ..Audit::default() }, &Settings::default());
        let excerpt = excerpt(&report.findings[0], &Text(text), 60)?;
        let (head, rest) = excerpt.text.split_at(excerpt.start);
        let (middle, tail) = rest.split_at(excerpt.len);
        Some(format!("{head}[{middle}]{tail}"))
    }

    #[test]
    fn the_bytes_of_a_finding_are_marked_in_their_line_only() {
        assert_eq!(marked(b"one\ntwo three\nfour", 2, 5, (8, 13)).unwrap(), "two [three]");
        assert_eq!(marked(b"one\ntwo three\nfour", 2, 1, (4, 18)).unwrap(), "[two three]");
    }

    #[test]
    fn of_a_whole_line_the_piece_behind_the_column_is_marked() {
        assert_eq!(marked(b"one\ntwo three\nfour", 2, 5, (4, 13)).unwrap(), "two [three]");
    }

    #[test]
    fn a_line_that_ends_where_the_trouble_is_shows_its_last_letter() {
        assert_eq!(marked(b"one\ntwo", 2, 4, (4, 7)).unwrap(), "tw[o]");
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        static LONG: [u8; 4096] = [b'x'; 4096];
        let text = marked(&LONG, 1, 2001, (2000, 2002)).unwrap();
        assert_eq!(text, format!("…{}[xx]{}…", "x".repeat(40), "x".repeat(4)));
    }

    #[test]
    fn what_is_no_text_is_shown_as_dots() {
        assert_eq!(marked(b"a\0\xff\x1b[2Jb", 1, 1, (0, 8)).unwrap(), "[a···[2Jb]");
    }

    #[test]
    fn a_place_outside_the_file_has_no_excerpt() {
        assert_eq!(marked(b"one", 1, 1, (400, 500)), None);
        assert_eq!(marked(b"", 1, 1, (0, 0)), None);
        assert_eq!(marked(b"one", 1, 1, (2, 1)).as_deref(), Some("o[n]e"));
    }
}
