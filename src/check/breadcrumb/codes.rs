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
    summary: "fewer than two lines after trimming, or a line ends in CR",
    gjc: "ignored",
    help: "",
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
    summary: "the file is missing and not exactly one owned candidate has its base name",
    gjc: "ignored",
    help: "",
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
    summary: "staged path, S refuses the file, its cwd differs, or it lies in the sessions root and is not owned",
    gjc: "ignored",
    help: "",
    section: "04 §3.4",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&BREADCRUMB_MALFORMED, &BREADCRUMB_DANGLING, &BREADCRUMB_MISMATCH];
