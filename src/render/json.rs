//! The report as JSON (`schemas/report.schema.json`).

use crate::report::Report;

/// Writes the report, indented, with a line end.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    out.write_all(b"\n")
}
