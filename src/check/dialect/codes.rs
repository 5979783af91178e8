//! Codes of the area *dialect* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("dialect");

/// `not_a_session`
pub static NOT_A_SESSION: Code = Code {
    name: "not_a_session",
    severity: Severity::Error,
    fatal: true,
    verdict: "L `[]`; S `malformed`; replaces `header_not_first`",
    summary: "The file is JSON lines, but not a gjc session.",
    gjc: "gjc loads nothing from it and refuses to resume it (`malformed`). It does not overwrite it.",
    help: "Keep the file; it belongs to another program. Move it out of the session directory.",
    section: "01 §2.2",
    ..AREA
};

/// `foreign_title_record`
pub static FOREIGN_TITLE_RECORD: Code = Code {
    name: "foreign_title_record",
    severity: Severity::Error,
    fatal: true,
    verdict: "L `[]`; S `malformed`; replaces `header_not_first`",
    summary: "The file begins with a title record of oh-my-pi, before its header.",
    gjc: "gjc loads nothing from it and refuses to resume it (`malformed`).",
    help: "Make a copy without the first line for gjc, and keep the original for oh-my-pi.",
    section: "field P12, D",
    ..AREA
};

/// `dialect_detected`
pub static DIALECT_DETECTED: Code = Code {
    name: "dialect_detected",
    severity: Severity::Info,
    verdict: "explains the other findings",
    summary: "The file was written by another tool of the same family.",
    gjc: "Nothing by itself; it explains the other findings on this file.",
    help: "Keep the original for the tool that wrote it, and work with a copy in gjc.",
    section: "field D",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&NOT_A_SESSION, &FOREIGN_TITLE_RECORD, &DIALECT_DETECTED];
