//! The report as a Markdown summary for merge requests and job pages: how it stands, the counts, the findings that count, the
//! rest counted by code. No text of a transcript or a path can become markup.

use super::human::{amount, verdict_words};
use super::style::plain;
use super::{Excerpts, words};
use crate::check;
use crate::finding::Gauge;
use crate::report::reference::level;
use crate::report::{Entry, Report};
use std::io::{self, Write};

/// Findings that are written out.
const LISTED: usize = 200;
/// Gauges below this share of their limit are left out.
const NEAR_PERCENT: u64 = 75;

/// Writes the summary.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, files: &dyn Excerpts, out: &mut dyn Write) -> io::Result<()> {
    let summary = &report.summary;
    writeln!(out, "## gjc-fsck: {}\n", verdict_words(summary).text())?;
    writeln!(out, "{} for gjc {}\n", code(&report.root), report.release)?;
    writeln!(out, "| transcripts | cannot be resumed | out of reach | errors | warnings | infos | limits | moving | known |")?;
    writeln!(out, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|")?;
    let counts = [
        summary.transcripts,
        summary.refused,
        summary.blocked,
        summary.errors,
        summary.warnings,
        summary.infos,
        summary.capacity,
        summary.transient,
        summary.known,
    ];
    writeln!(out, "| {} |", counts.map(words::grouped).join(" | "))?;

    let counting: Vec<&Entry> = report.findings.iter().filter(|entry| entry.status != 0).collect();
    if !counting.is_empty() {
        writeln!(out, "\n### What counts\n\n| where | code | what | what to do |\n|---|---|---|---|")?;
        for entry in counting.iter().take(LISTED) {
            let line = entry.place.line.map_or(String::new(), |line| format!(":{line}"));
            let place = code(&format!("{}{line}", files.opened(&entry.place.path)));
            writeln!(
                out,
                "| {place} | {} {} | {} | {} |",
                level(entry.severity),
                code(entry.code.name),
                text(&entry.message),
                text(&entry.help)
            )?;
        }
        if counting.len() > LISTED {
            let listed: u64 = counting.iter().take(LISTED).map(|entry| entry.count()).sum();
            let all: u64 = counting.iter().map(|entry| entry.count()).sum();
            writeln!(out, "\n… and {} more.", words::grouped(all - listed))?;
        }
    }
    if !summary.codes.is_empty() {
        writeln!(out, "\n### By code\n\n| count | code | what it means |\n|--:|---|---|")?;
        for found in check::codes() {
            if let Some(count) = summary.codes.get(found.name) {
                writeln!(out, "| {} | {} | {} |", words::grouped(*count), code(found.name), text(found.summary))?;
            }
        }
    }
    let near: Vec<&Gauge> = report.gauges.iter().filter(|gauge| gauge.percent() >= NEAR_PERCENT).collect();
    if !near.is_empty() {
        let title = words::near_limits(near.iter().any(|gauge| gauge.used > gauge.limit));
        writeln!(out, "\n### {title}\n\n| what | where | used | limit | |\n|---|---|--:|--:|--:|")?;
        for gauge in near {
            let (used, limit) = (amount(gauge.used, gauge.unit), amount(gauge.limit, gauge.unit));
            writeln!(out, "| {} | {} | {used} | {limit} | {} % |", gauge.name.replace('_', " "), code(&gauge.path), gauge.percent())?;
        }
    }
    Ok(())
}

/// A text as a span of code inside a table. As many backticks stand around it as it needs.
pub(super) fn code(said: &str) -> String {
    let said = plain(said).replace('|', "\\|");
    let mut longest = 0;
    let mut run = 0;
    for c in said.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 || said.trim() != said { " " } else { "" };
    if said.is_empty() { "`.`".to_owned() } else { format!("{fence}{space}{said}{space}{fence}") }
}

/// A text inside a table in which nothing is markup.
pub(super) fn text(said: &str) -> String {
    let mut out = String::with_capacity(said.len() + 16);
    for c in plain(said).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '@' | ':' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Options, Parser};

    /// What a reader of the page sees, and whether anything but text and code is in it.
    fn read(markdown: &str) -> (String, bool) {
        let mut seen = String::new();
        let mut plain = true;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Text(text) | Event::Code(text) => seen.push_str(&text),
                Event::Start(pulldown_cmark::Tag::Paragraph) | Event::End(pulldown_cmark::TagEnd::Paragraph) => {}
                _ => plain = false,
            }
        }
        (seen, plain)
    }

    #[test]
    fn no_text_becomes_markup() {
        for hostile in ["<img src=x>", "[a](http://x)", "**b** _c_ ~~d~~", "`e` ``f", "a | b \\", "&lt; &amp;", "![x](y)", "# h"] {
            assert_eq!(read(&text(hostile)), (hostile.to_owned(), true), "{hostile}");
        }
    }

    #[test]
    fn a_span_of_code_holds_any_path() {
        for path in ["a/b", "a`b", "``", " x ", "<b>", "*"] {
            assert_eq!(read(&code(path)), (path.to_owned(), true), "{path}");
        }
    }
}
