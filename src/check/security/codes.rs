//! Codes of the area *security* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `mode_mismatch`
pub static MODE_MISMATCH: Code = Code {
    name: "mode_mismatch",
    token: Some("mode_mismatch"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a scope directory is not exactly 0700",
    gjc: "resolve `binding_invalid` (classification `mode_mismatch`): all its sessions are unreachable",
    help: "",
    section: "02 §4.1, §4.4",
    since: "0.1.0",
};

/// `descendant_mode_drift`
pub static DESCENDANT_MODE_DRIFT: Code = Code {
    name: "descendant_mode_drift",
    token: None,
    area: "security",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "inside a scope a directory is not 0700 or a transcript or protocol file not 0600 (path, octal modes)",
    gjc: "group or other bits: healed only by a start with a new session, on Linux; otherwise append `mode_mismatch`; inspector `managed_gc_protocol_file_invalid`",
    help: "",
    section: "02 §4.4, §4.6; 02a.6",
    since: "0.1.0",
};

/// `agent_dir_mode_drift`
pub static AGENT_DIR_MODE_DRIFT: Code = Code {
    name: "agent_dir_mode_drift",
    token: None,
    area: "security",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the configured root, the agent directory or the sessions root is not exactly 0700, or carries an ACL",
    gjc: "set to 0700 by the next prepare; discovery and owner scan refuse until then (0.17)",
    help: "",
    section: "02 §4.4",
    since: "0.1.0",
};

/// `recovery_dir_invalid`
pub static RECOVERY_DIR_INVALID: Code = Code {
    name: "recovery_dir_invalid",
    token: None,
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`.gjc-recovery` of the agent directory or of a scope exists and is no owner-only real directory",
    gjc: "agent directory: every new session fails `binding_invalid` (`prepare:retained_authority`); scope: a migration commits, then fails `managed_storage_unsupported`",
    help: "",
    section: "02 §8.6; 02a.8",
    since: "0.1.0",
};

/// `owner_mismatch`
pub static OWNER_MISMATCH: Code = Code {
    name: "owner_mismatch",
    token: Some("owner_mismatch"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the owner of a checked object is not the user the check speaks for",
    gjc: "resolve, append refuse",
    help: "",
    section: "02 §4.1",
    since: "0.1.0",
};

/// `acl_present`
pub static ACL_PRESENT: Code = Code {
    name: "acl_present",
    token: Some("acl_present"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`system.posix_acl_access` (or `_default` on a directory) has length > 0",
    gjc: "resolve, append refuse",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `acl_malformed`
pub static ACL_MALFORMED: Code = Code {
    name: "acl_malformed",
    token: Some("acl_malformed"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the attribute query answers length 0",
    gjc: "resolve, append refuse",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `acl_denied`
pub static ACL_DENIED: Code = Code {
    name: "acl_denied",
    token: Some("acl_denied"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the attribute query fails with EACCES or EPERM",
    gjc: "resolve, append refuse",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `acl_io_error`
pub static ACL_IO_ERROR: Code = Code {
    name: "acl_io_error",
    token: Some("acl_io_error"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the attribute query fails with EIO",
    gjc: "resolve, append refuse",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `acl_unknown`
pub static ACL_UNKNOWN: Code = Code {
    name: "acl_unknown",
    token: Some("acl_unknown"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the attribute query fails with any other errno",
    gjc: "resolve, append refuse",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `acl_verify_failed`
pub static ACL_VERIFY_FAILED: Code = Code {
    name: "acl_verify_failed",
    token: Some("acl_verify_failed"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "macOS: an extended ACL with an entry; Windows: the DACL is not the single protected entry of 02 §4.2 (say foreign principal or only old shape)",
    gjc: "resolve for reading refuses; for writing it is repaired",
    help: "",
    section: "02 §4.2, §4.4",
    since: "0.1.0",
};

/// `acl_unsupported_fs`
pub static ACL_UNSUPPORTED_FS: Code = Code {
    name: "acl_unsupported_fs",
    token: None,
    area: "security",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "Linux: the attribute query answers ENOTSUP/EOPNOTSUPP and owner, mode, type and no-follow hold",
    gjc: "accepted",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `reparse_point`
pub static REPARSE_POINT: Code = Code {
    name: "reparse_point",
    token: Some("reparse_point"),
    area: "security",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a scope, protocol directory, binding, lock, receipt, tombstone or managed transcript is a symlink, or a component on the way to it is (never followed); or a scope path is no directory",
    gjc: "resolve `binding_invalid`; list `unreadable_candidate` or `scan_failed`; inspector refuses",
    help: "",
    section: "02 §4.1",
    since: "0.1.0",
};

/// `hard_linked_transcript`
pub static HARD_LINKED_TRANSCRIPT: Code = Code {
    name: "hard_linked_transcript",
    token: Some("hard_link"),
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript has link count > 1 (name the sibling name when it is a known residue)",
    gjc: "managed root: list `source_changed`, open `hard_link`; anywhere: delete, GC and bounded reads refuse",
    help: "",
    section: "01 §2.8; 02 §1.4; 04 §7.6",
    since: "0.1.0",
};

/// `hard_linked_protocol_file`
pub static HARD_LINKED_PROTOCOL_FILE: Code = Code {
    name: "hard_linked_protocol_file",
    token: None,
    area: "security",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a binding, lock, receipt or tombstone has link count > 1 (name the sibling)",
    gjc: "binding `binding_invalid`; receipt: no match; tombstone: unreadable; inspector `managed_gc_protocol_file_invalid`",
    help: "",
    section: "02 §3.2, §4.5",
    since: "0.1.0",
};

/// `symlinked_transcript`
pub static SYMLINKED_TRANSCRIPT: Code = Code {
    name: "symlinked_transcript",
    token: None,
    area: "security",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "outside scopes a `*.jsonl` entry of a session directory is a symlink",
    gjc: "picker hides it, recent list shows it, delete refuses it",
    help: "",
    section: "04 §2.1",
    since: "0.1.0",
};

/// `transcript_permissions`
pub static TRANSCRIPT_PERMISSIONS: Code = Code {
    name: "transcript_permissions",
    token: None,
    area: "security",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "below the agent directory and outside scopes a transcript is readable by group or others (POSIX)",
    gjc: "none; privacy only; the migrated copy gets 0600",
    help: "",
    section: "01 §1; 02 §5.3",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MODE_MISMATCH,
    &DESCENDANT_MODE_DRIFT,
    &AGENT_DIR_MODE_DRIFT,
    &RECOVERY_DIR_INVALID,
    &OWNER_MISMATCH,
    &ACL_PRESENT,
    &ACL_MALFORMED,
    &ACL_DENIED,
    &ACL_IO_ERROR,
    &ACL_UNKNOWN,
    &ACL_VERIFY_FAILED,
    &ACL_UNSUPPORTED_FS,
    &REPARSE_POINT,
    &HARD_LINKED_TRANSCRIPT,
    &HARD_LINKED_PROTOCOL_FILE,
    &SYMLINKED_TRANSCRIPT,
    &TRANSCRIPT_PERMISSIONS,
];
