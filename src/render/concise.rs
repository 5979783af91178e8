//! One finding a line: `path:line:column: severity[code] message`, with the path as the user can open it. Line and column are left out where there is none.

use super::Excerpts;
use super::style::plain;
use crate::report::Report;
use crate::report::reference::level;
use std::io::{self, Write};

/// Writes one line for each finding, and nothing else.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, files: &dyn Excerpts, out: &mut dyn Write) -> io::Result<()> {
    for entry in &report.findings {
        let place = match (entry.place.line, entry.place.column) {
            (Some(line), Some(column)) => format!(":{line}:{column}"),
            (Some(line), None) => format!(":{line}"),
            (None, _) => String::new(),
        };
        writeln!(
            out,
            "{}{place}: {}[{}] {}",
            plain(&files.opened(&entry.place.path)),
            level(entry.severity),
            entry.code.name,
            plain(&entry.message)
        )?;
    }
    Ok(())
}
