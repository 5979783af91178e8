//! The report as JUnit XML, for the test pages of CI systems: each code that counts in a file is a failed case, a transcript
//! without one is a passed case. What limits or movement left open is an error case: neither passed nor failed.

use super::Excerpts;
use super::style::plain;
use crate::report::reference::level;
use crate::report::{Entry, Report, Status};
use indexmap::IndexMap;
use quick_junit::{NonSuccessKind, Report as JUnit, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Findings of one code in one file that are written out.
const LISTED: usize = 100;

/// Writes the report.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, files: &dyn Excerpts, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new("gjc-fsck");
    let mut counting: IndexMap<(&str, &str), Vec<&Entry>> = IndexMap::new();
    for entry in report.findings.iter().filter(|entry| entry.status != 0) {
        counting.entry((&entry.place.path, entry.code.name)).or_default().push(entry);
    }
    let failed: BTreeSet<&str> = counting.keys().map(|(path, _)| *path).collect();
    for ((path, code), entries) in &counting {
        suite.add_test_case(case(&files.opened(path), code, entries));
    }
    for transcript in report.transcripts.iter().filter(|transcript| !failed.contains(&*transcript.path)) {
        let mut case = TestCase::new("check", TestCaseStatus::success());
        case.set_classname(line(&files.opened(&transcript.path)));
        suite.add_test_case(case);
    }
    let mut junit = JUnit::new("gjc-fsck");
    junit.add_test_suite(suite);
    out.write_all(xml(&junit).map_err(io::Error::other)?.as_bytes())
}

/// The XML of a run, as the schema of Jenkins' xUnit plugin takes it: that one knows `skipped` of a suite, and not of all suites
/// together, where this library writes it (nothing is skipped).
///
/// # Errors
/// A text that XML cannot hold.
pub fn xml(junit: &JUnit) -> Result<String, quick_junit::SerializeError> {
    // The first one is that of all suites: in front of it stands a name that is the caller's own.
    Ok(junit.to_string()?.replacen(" skipped=\"0\"", "", 1))
}

fn case(path: &str, code: &str, entries: &[&Entry]) -> TestCase {
    let bits = entries.iter().fold(Status::CLEAN, |bits, entry| bits | Status::from_bits(entry.status));
    let kind = if bits.has(Status::FINDINGS) { NonSuccessKind::Failure } else { NonSuccessKind::Error };
    let mut status = TestCaseStatus::non_success(kind);
    let count: u64 = entries.iter().map(|entry| entry.count()).sum();
    let mut said = String::new();
    // Writing into a String cannot fail.
    for entry in entries.iter().take(LISTED) {
        let line = entry.place.line.map_or(String::new(), |line| format!(":{line}"));
        let column = entry.place.column.map_or(String::new(), |column| format!(":{column}"));
        let _ = writeln!(said, "{}{line}{column}: {}[{code}] {}", plain(path), level(entry.severity), plain(&entry.message));
    }
    if entries.len() > LISTED {
        let _ = writeln!(said, "{} more", count - entries.iter().take(LISTED).map(|entry| entry.count()).sum::<u64>());
    }
    if let Some(first) = entries.first() {
        let _ = write!(said, "gjc: {}\nhelp: {}", plain(&first.gjc), plain(&first.help));
        let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        status.set_message(line(&format!("{}{more}", first.message))).set_type(level(first.severity));
    }
    status.set_description(text(&said));
    let mut case = TestCase::new(code, status);
    case.set_classname(line(path));
    case
}

/// A text that XML can hold: control characters are spelled, and the two that no XML may hold are replaced.
fn text(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The same for an attribute, in which a reader takes a line end for a space.
fn line(text: &str) -> String {
    plain(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_spelled_or_replaced() {
        assert_eq!(line("a\nb\u{fffe}"), "a\\nb\u{fffd}", "of an attribute a line end too");
        assert_eq!(text("a\u{0}b\u{1b}[2J\nc\u{ffff}"), "a\\u{0}b\\u{1b}[2J\nc\u{fffd}");
    }
}
