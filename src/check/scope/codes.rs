//! Codes of the area *scope* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `sessions_root_unavailable`
pub static SESSIONS_ROOT_UNAVAILABLE: Code = Code {
    name: "sessions_root_unavailable",
    token: Some("sessions_root_unavailable"),
    area: "scope",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the sessions root is a symlink or no directory, lstat fails other than ENOENT, or the agent directory is a regular file or a symlink loop",
    gjc: "resolve refuses every scope; list `unsafe_root`",
    help: "",
    section: "02 §4.4, §10.1; 02a.20",
    since: "0.1.0",
};

/// `scope_name_malformed`
pub static SCOPE_NAME_MALFORMED: Code = Code {
    name: "scope_name_malformed",
    token: None,
    area: "scope",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a directory of the sessions root begins `v2-` and does not match `^v2-[a-z2-7]{51}[aq]$`",
    gjc: "never scanned; if it does not match `^v2-[a-z2-7]{52}$` it blocks every owner retirement",
    help: "",
    section: "02 §2.3; 03 §9",
    since: "0.1.0",
};

/// `unknown_scope_dir`
pub static UNKNOWN_SCOPE_DIR: Code = Code {
    name: "unknown_scope_dir",
    token: None,
    area: "scope",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a directory of the sessions root that begins neither `v2-` nor `-` and is not `.task-artifact-owners`, `.task-artifact-owner-locks` or `.gjc-recovery` (with the header cwd of the transcripts in it)",
    gjc: "its transcripts are listed only by `listAll` (0.17); blocks every owner retirement (0.17)",
    help: "",
    section: "02 §1.3; 03 §9",
    since: "0.1.0",
};

/// `workspace_missing`
pub static WORKSPACE_MISSING: Code = Code {
    name: "workspace_missing",
    token: Some("cwd_missing"),
    area: "scope",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the binding's `canonicalPath` does not resolve to a directory on this machine",
    gjc: "resolve of that cwd refuses; its sessions are reachable only when the path exists again",
    help: "",
    section: "02 §2.2",
    since: "0.1.0",
};

/// `network_unsupported`
pub static NETWORK_UNSUPPORTED: Code = Code {
    name: "network_unsupported",
    token: Some("network_unsupported"),
    area: "scope",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "Windows: a binding's or asked cwd is a UNC or network path",
    gjc: "resolve refuses",
    help: "",
    section: "02 §2.1",
    since: "0.1.0",
};

/// `identity_rebound`
pub static IDENTITY_REBOUND: Code = Code {
    name: "identity_rebound",
    token: None,
    area: "scope",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "at least two recorded identities exist in a scope's receipts and tombstones and more than half disagree in dev or ino with files whose hash agrees",
    gjc: "migration shadowing and retirement no longer apply: both copies are listed",
    help: "",
    section: "02 §7.2, §9.3",
    since: "0.1.0",
};

/// `managed_gc_scope_authority_mismatch`
pub static MANAGED_GC_SCOPE_AUTHORITY_MISMATCH: Code = Code {
    name: "managed_gc_scope_authority_mismatch",
    token: Some("managed_gc_scope_authority_mismatch"),
    area: "scope",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a scope with a `gc-retirement-` entry has no existing workspace, or the agent directory, sessions root or a receipts path is no owner-only real directory (binding faults keep their own codes)",
    gjc: "discovery and inspector refuse the whole profile",
    help: "",
    section: "03 §13",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &SESSIONS_ROOT_UNAVAILABLE,
    &SCOPE_NAME_MALFORMED,
    &UNKNOWN_SCOPE_DIR,
    &WORKSPACE_MISSING,
    &NETWORK_UNSUPPORTED,
    &IDENTITY_REBOUND,
    &MANAGED_GC_SCOPE_AUTHORITY_MISMATCH,
];
