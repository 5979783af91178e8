//! One finding with the line it is about, drawn by miette.

use super::super::Excerpts;
use super::super::style::plain;
use crate::finding::Severity;
use crate::report::Entry;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use std::fmt::{self, Write};

/// Bytes shown before the place.
const BEFORE: u64 = 40;

/// Draws a finding for `width` columns.
pub fn draw(entry: &Entry, excerpts: &dyn Excerpts, colour: bool, width: usize) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(width).without_syntax_highlighting();
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

/// The piece around a finding's bytes: of its first line only, and short enough for the terminal.
fn excerpt(entry: &Entry, excerpts: &dyn Excerpts, width: usize) -> Option<Excerpt> {
    let (line, start, end) = (entry.line?, entry.byte_start?, entry.byte_end?);
    let column = entry.column.unwrap_or(1).max(1);
    let room = width.saturating_sub(12).max(30);
    let before = (column - 1).min(BEFORE).min(start);
    let from = start - before;
    let window = excerpts.bytes(&entry.path, from, room)?;
    let window = match window.iter().position(|byte| *byte == b'\n') {
        Some(end) => &window[..end],
        None => &window[..],
    };
    let before = usize::try_from(before).ok()?.min(window.len());
    let marked = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX).min(window.len() - before);
    let (head, rest) = window.split_at(before);
    let (middle, tail) = rest.split_at(marked);
    let mut text = shown(head);
    let at = text.len();
    text.push_str(&shown(middle));
    let len = text.len() - at;
    text.push_str(&shown(tail));
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
            let line = related.line.map_or(String::new(), |line| format!(" line {line}"));
            let path = if related.path == self.entry.path { String::new() } else { format!(" {}", plain(&related.path)) };
            let _ = write!(text, "\nsee{path}{line}: {}", plain(&related.note));
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
