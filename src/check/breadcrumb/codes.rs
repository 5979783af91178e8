//! Codes of the area *breadcrumb* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `breadcrumb_malformed`
pub static BREADCRUMB_MALFORMED: Code = Code {
    name: "breadcrumb_malformed",
    token: None,
    area: "breadcrumb",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "ignored",
    summary: "The note of a terminal's last session is unreadable.",
    gjc: "`--continue` ignores it and takes the most recent session.",
    help: "Nothing needs to be done; gjc writes it anew.",
    section: "04 §3.4",
    since: "0.1.0",
};

/// `breadcrumb_dangling`
pub static BREADCRUMB_DANGLING: Code = Code {
    name: "breadcrumb_dangling",
    token: None,
    area: "breadcrumb",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "ignored",
    summary: "A terminal's last session does not exist any more.",
    gjc: "`--continue` ignores the note and takes the most recent session.",
    help: "Nothing needs to be done.",
    section: "04 §3.4",
    since: "0.1.0",
};

/// `breadcrumb_mismatch`
pub static BREADCRUMB_MISMATCH: Code = Code {
    name: "breadcrumb_mismatch",
    token: None,
    area: "breadcrumb",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "ignored",
    summary: "A terminal's last session is not one that gjc would continue there.",
    gjc: "`--continue` ignores the note and takes the most recent session.",
    help: "Nothing needs to be done.",
    section: "04 §3.4",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&BREADCRUMB_MALFORMED, &BREADCRUMB_DANGLING, &BREADCRUMB_MISMATCH];
