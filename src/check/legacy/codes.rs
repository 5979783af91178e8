//! Codes of the area *legacy* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `scan_failed`
pub static SCAN_FAILED: Code = Code {
    name: "scan_failed",
    token: Some("scan_failed"),
    area: "legacy",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a path that the listing must visit (the scope or a known legacy name) exists and is no real directory",
    gjc: "list refuses the whole workspace",
    help: "",
    section: "02 §5.2",
    since: "0.1.0",
};

/// `legacy_directory_limit`
pub static LEGACY_DIRECTORY_LIMIT: Code = Code {
    name: "legacy_directory_limit",
    token: None,
    area: "legacy",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "more than 256 unknown directories beginning with `-` in the sessions root (sorted by UTF-16 units)",
    gjc: "the rest is never visited",
    help: "",
    section: "02 §5.2",
    since: "0.1.0",
};

/// `legacy_unmigrated`
pub static LEGACY_UNMIGRATED: Code = Code {
    name: "legacy_unmigrated",
    token: None,
    area: "legacy",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an owned legacy transcript has no matching committed receipt (say whether the scope holds other sessions)",
    gjc: "listed; opening it for writing migrates it",
    help: "",
    section: "02 §7.1",
    since: "0.1.0",
};

/// `legacy_shadowed`
pub static LEGACY_SHADOWED: Code = Code {
    name: "legacy_shadowed",
    token: None,
    area: "legacy",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an owned legacy transcript is hidden by a matching committed receipt",
    gjc: "not listed, retained by design",
    help: "",
    section: "02 §7.3",
    since: "0.1.0",
};

/// `legacy_dir_mixed_cwd`
pub static LEGACY_DIR_MIXED_CWD: Code = Code {
    name: "legacy_dir_mixed_cwd",
    token: None,
    area: "legacy",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "one legacy directory holds transcripts of two or more header cwds",
    gjc: "each is listed for its own workspace; its name proves nothing",
    help: "",
    section: "02 §5.1",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&SCAN_FAILED, &LEGACY_DIRECTORY_LIMIT, &LEGACY_UNMIGRATED, &LEGACY_SHADOWED, &LEGACY_DIR_MIXED_CWD];
