//! The report for programs that read line by line: one JSON object a line. `kind` says what it is: first the run, then the
//! findings, the transcripts, the gauges, what is known, and the summary last.

use crate::finding::Gauge;
use crate::report::{Blobs, CheckedFor, Entry, Known, Report, Summary, Tool, Transcript};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// Name of this form.
pub const SCHEMA: &str = "gjc-fsck/report-line/1";

/// One line.
#[derive(Serialize, JsonSchema, Debug)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line<'a> {
    /// What was checked; the first line.
    #[serde(rename_all = "camelCase")]
    Run {
        /// `gjc-fsck/report-line/1`.
        schema: &'static str,
        /// Who made the report.
        tool: &'a Tool,
        /// Release of gjc whose behaviour was asked for.
        release: &'static str,
        /// What was checked, as it was named.
        root: &'a str,
        /// The path that the checked directory was judged to lie at.
        assumed_root: Option<&'a str>,
        /// Whom the check speaks for.
        checked_for: &'a CheckedFor,
        /// Whether blob references were compared with a blob store.
        blobs: &'a Blobs,
        /// The settings file that was in force.
        config: Option<&'a str>,
        /// The baseline that was in force.
        baseline: Option<&'a str>,
    },
    /// One finding.
    Finding(&'a Entry),
    /// One transcript.
    Transcript(&'a Transcript),
    /// One gauge.
    Gauge(&'a Gauge),
    /// Findings of one code in one file that are known.
    Known(&'a Known),
    /// The counts; the last line. A file without it is not complete.
    Summary(&'a Summary),
}

/// Writes the report, one object a line.
///
/// # Errors
/// What `out` answers.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let run = Line::Run {
        schema: SCHEMA,
        tool: &report.tool,
        release: report.release,
        root: &report.root,
        assumed_root: report.assumed_root.as_deref(),
        checked_for: &report.checked_for,
        blobs: &report.blobs,
        config: report.gate.config.as_deref(),
        baseline: report.gate.baseline.as_deref(),
    };
    let lines = std::iter::once(run)
        .chain(report.findings.iter().map(Line::Finding))
        .chain(report.transcripts.iter().map(Line::Transcript))
        .chain(report.gauges.iter().map(Line::Gauge))
        .chain(report.gate.known.iter().map(Line::Known))
        .chain(std::iter::once(Line::Summary(&report.summary)));
    for line in lines {
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The JSON Schema of a line.
pub fn schema() -> schemars::Schema {
    crate::report::schema_of::<Line<'static>>(SCHEMA)
}
