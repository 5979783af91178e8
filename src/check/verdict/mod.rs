//! The area *verdict* of spec 05: tokens of gjc's own answers. A token becomes a finding only when no error about the
//! same object explains the answer.

pub mod codes;

use super::transcript::Source;
use super::{entry, header, line, migrate};
use crate::check::dialect;
use crate::finding::{Code, Finding, Gauge, Sink};
use crate::transcript::inspect::{Reason, Verdict};
use std::sync::Arc;

/// The codes whose verdict column says that reader S answers `malformed` (spec 05, 05a).
pub static STRICT_MALFORMED: &[&Code] = &[
    &line::codes::INVALID_UTF8,
    &line::codes::UTF8_BOM_REPEATED,
    &line::codes::UTF16_BOM,
    &line::codes::JSON_SYNTAX,
    &line::codes::WHITESPACE_ONLY_LINE,
    &line::codes::TRUNCATED_LAST_LINE,
    &line::codes::GLUED_RECORDS,
    &line::codes::FUSED_LINE,
    &line::codes::RECORD_SPANS_LINES,
    &line::codes::LENIENT_SWALLOW,
    &line::codes::NUL_RUN,
    &line::codes::CONFLICT_MARKERS,
    &line::codes::NULL_RECORD,
    &line::codes::NON_OBJECT_RECORD,
    &header::codes::EMPTY_TRANSCRIPT,
    &header::codes::HEADER_NOT_FIRST,
    &header::codes::HEADER_INVALID,
    &header::codes::UNSUPPORTED_SESSION_VERSION,
    &entry::codes::ENTRY_SCHEMA,
    &entry::codes::UNKNOWN_ENTRY_TYPE,
    &entry::codes::SESSION_COLD_REF_ON_DISK,
    &entry::codes::ENTRY_CRASHES_REPLAY,
    &migrate::codes::MIGRATION_FIRST_KEPT_LOST,
    &migrate::codes::MIGRATION_THROWS,
    &dialect::codes::NOT_A_SESSION,
    &dialect::codes::FOREIGN_TITLE_RECORD,
];

/// A sink that notes whether something explains a `malformed`.
pub struct Watch<'w> {
    inner: &'w mut dyn Sink,
    malformed: bool,
}

impl<'w> Watch<'w> {
    /// Passes everything on to `inner`.
    pub fn new(inner: &'w mut dyn Sink) -> Self {
        Watch { inner, malformed: false }
    }
}

impl Sink for Watch<'_> {
    fn push(&mut self, finding: Finding) {
        self.malformed |= STRICT_MALFORMED.contains(&finding.code);
        self.inner.push(finding);
    }
    fn gauge(&mut self, gauge: Gauge) {
        self.inner.gauge(gauge);
    }
    fn further(&mut self, code: &'static Code, path: &Arc<str>, count: u64) {
        self.malformed |= STRICT_MALFORMED.contains(&code);
        self.inner.further(code, path, count);
    }
}

/// Reports `malformed` itself when nothing that was pushed explains it.
pub fn unexplained(source: &Source, verdict: &Verdict, sink: &mut Watch<'_>) {
    if let Verdict::Error(Reason::Malformed(cause)) = verdict
        && !sink.malformed
    {
        let message = format!("gjc refuses the file: {cause:?}.");
        sink.push(Finding::new(&codes::MALFORMED, source.file(), message));
    }
}
