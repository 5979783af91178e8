//! The report as annotations of GitHub Actions: one workflow command a finding, with file, line and column as the runner's
//! repository has them. The worst come first, because GitHub shows only the first ten of each kind and step.

use super::style::plain;
use super::{Excerpts, column};
use crate::finding::Severity;
use crate::report::{Entry, Report};
use std::cmp::Reverse;
use std::io::{self, Write};

/// Writes one command for each finding.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, files: &dyn Excerpts, out: &mut dyn Write) -> io::Result<()> {
    let mut findings: Vec<&Entry> = report.findings.iter().collect();
    findings.sort_by_key(|entry| Reverse((entry.status, entry.severity)));
    for entry in findings {
        let kind = match entry.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        // Files of a change are named from the top of the repository, without a dot.
        let file = files.opened(&entry.place.path);
        write!(out, "::{kind} file={}", property(&plain(file.trim_start_matches("./"))))?;
        if let Some(line) = entry.place.line {
            // Without the file the byte column is the best there is.
            let column = column(&entry.place, files).or(entry.place.column).unwrap_or(1);
            write!(out, ",line={line},col={column}")?;
        }
        let said = format!("{}\ngjc: {}\nhelp: {}", plain(&entry.message), plain(&entry.gjc), plain(&entry.help));
        writeln!(out, ",title={}::{}", property(entry.code.name), data(&said))?;
    }
    Ok(())
}

/// A text as the message of a workflow command.
pub(super) fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text as the value of a property of a workflow command.
pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_command_or_begins_another() {
        assert_eq!(property("a,b:c%\n::error::x"), "a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax");
        assert_eq!(data("100 %\r\nx: y"), "100 %25%0D%0Ax: y");
    }
}
