//! Codes of the area *breadcrumb* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("breadcrumb");

/// `breadcrumb_malformed`
pub static BREADCRUMB_MALFORMED: Code = Code {
    name: "breadcrumb_malformed",
    severity: Severity::Info,
    verdict: "ignored",
    summary: "The note of a terminal's last session is unreadable.",
    gjc: "`--continue` ignores it and takes the most recent session.",
    help: "Nothing needs to be done; gjc writes it anew.",
    section: "04 §3.4",
    ..AREA
};

/// `breadcrumb_dangling`
pub static BREADCRUMB_DANGLING: Code = Code {
    name: "breadcrumb_dangling",
    severity: Severity::Info,
    verdict: "ignored",
    summary: "A terminal's last session does not exist any more.",
    gjc: "`--continue` ignores the note and takes the most recent session.",
    help: "Nothing needs to be done.",
    section: "04 §3.4",
    ..AREA
};

/// `breadcrumb_mismatch`
pub static BREADCRUMB_MISMATCH: Code = Code {
    name: "breadcrumb_mismatch",
    severity: Severity::Info,
    verdict: "ignored",
    summary: "A terminal's last session is not one that gjc would continue there.",
    gjc: "`--continue` ignores the note and takes the most recent session.",
    help: "Nothing needs to be done.",
    section: "04 §3.4",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&BREADCRUMB_MALFORMED, &BREADCRUMB_DANGLING, &BREADCRUMB_MISMATCH];
