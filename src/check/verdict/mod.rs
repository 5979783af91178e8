//! The area *verdict* of spec 05: tokens of gjc's own answers. A token becomes a finding only when no error about the
//! same object explains the answer.

pub mod codes;

use super::transcript::Source;
use super::{entry, header, line, migrate, size};
use crate::check::dialect;
use crate::finding::{Code, Finding, Gauge, Mute, Sink};
use crate::transcript::inspect::{Reason, Verdict};
use crate::transcript::readers::managed::Malformed;
use std::sync::Arc;

/// Lines that neither S nor M can read. The verdict column of spec 05 names S alone for most of them; M refuses the same
/// lines (spec 01 §2.8).
static UNREADABLE: &[&Code] = &[
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
    &header::codes::EMPTY_TRANSCRIPT,
    &header::codes::HEADER_NOT_FIRST,
    &header::codes::HEADER_INVALID,
    &dialect::codes::NOT_A_SESSION,
    &dialect::codes::FOREIGN_TITLE_RECORD,
];

/// What S refuses besides.
static STRICT_ONLY: &[&Code] = &[
    &line::codes::NULL_RECORD,
    &line::codes::NON_OBJECT_RECORD,
    &header::codes::UNSUPPORTED_SESSION_VERSION,
    &entry::codes::ENTRY_SCHEMA,
    &entry::codes::UNKNOWN_ENTRY_TYPE,
    &entry::codes::SESSION_COLD_REF_ON_DISK,
    &entry::codes::ENTRY_CRASHES_REPLAY,
    &migrate::codes::MIGRATION_FIRST_KEPT_LOST,
    &migrate::codes::MIGRATION_THROWS,
];

/// What M refuses besides.
static MANAGED_ONLY: &[&Code] = &[
    &line::codes::CRLF_BLANK_LINE,
    &size::codes::LINE_TOO_LONG,
    // What nothing else explains, such as a patch in front of the header.
    &codes::MALFORMED,
];

/// True for the codes whose verdict column says that reader S answers `malformed` (spec 05, 05a).
pub fn explains_strict(code: &'static Code) -> bool {
    UNREADABLE.contains(&code) || STRICT_ONLY.contains(&code)
}

/// True for the findings that explain why reader M answers `malformed`: a line that it does not accept, or no header first.
pub fn explains_managed(finding: &Finding) -> bool {
    names_managed(finding.code) && !finding.spares_managed
}

fn names_managed(code: &'static Code) -> bool {
    UNREADABLE.contains(&code) || MANAGED_ONLY.contains(&code)
}

/// A sink that notes whether something explains a `malformed`, of S and of M.
pub struct Watch<'w> {
    inner: &'w mut dyn Sink,
    mute: Mute,
    malformed: bool,
    managed: bool,
}

impl<'w> Watch<'w> {
    /// Passes everything on to `inner` but what is switched off.
    pub fn new(inner: &'w mut dyn Sink, mute: Mute) -> Self {
        Watch { inner, mute, malformed: false, managed: false }
    }
}

impl Sink for Watch<'_> {
    fn push(&mut self, finding: Finding) {
        if self.mute.silences(finding.code) {
            return;
        }
        self.malformed |= explains_strict(finding.code);
        self.managed |= explains_managed(&finding);
        self.inner.push(finding);
    }
    fn gauge(&mut self, gauge: Gauge) {
        self.inner.gauge(gauge);
    }
    fn further(&mut self, code: &'static Code, path: &Arc<str>, count: u64) {
        if self.mute.silences(code) {
            return;
        }
        self.malformed |= explains_strict(code);
        self.managed |= names_managed(code);
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

/// Reports `malformed` when reader M refuses the file and nothing that was pushed explains it: the session cannot be
/// opened for writing from managed storage, though the strict inspection may accept it.
pub fn unexplained_managed(source: &Source, answer: Result<(), Malformed>, sink: &mut Watch<'_>) {
    let Err(cause) = answer else { return };
    if sink.managed {
        return;
    }
    let (line, what) = match cause {
        Malformed::LineTooLong(line) => (line, "its line is too long"),
        Malformed::Utf8(line) => (line, "its line is no UTF-8"),
        Malformed::Syntax(line) => (line, "its line is not one JSON value"),
        Malformed::Header => (1, "the first line with content is no header with an `id`"),
    };
    let message = format!("gjc cannot open the session for writing from managed storage: {what}.");
    sink.push(Finding::new(&codes::MALFORMED, source.line(line), message));
}
