//! Codes of the area *tombstone* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `tombstone_unreadable`
pub static TOMBSTONE_UNREADABLE: Code = Code {
    name: "tombstone_unreadable",
    token: None,
    area: "tombstone",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a tombstone is no regular file or not JSON (symlink and hard link have their own codes and the same effect)",
    gjc: "0.17, not JSON: open, migrate, delete `durability_failed` (a new session starts, 02a.5); both: retired sessions may be listed again",
    help: "",
    section: "02 §9.2, §9.3",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_invalid",
    token: Some("managed_gc_protocol_tombstone_invalid"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`<op>.json` is JSON and the resuming reader takes it for no tombstone of this scope, or it has no target (say whether the laxer listing hides a session by it)",
    gjc: "hidden sessions are never cleaned; inspector refuses (0.17)",
    help: "",
    section: "02 §9.2, §9.8; 02a.11",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_role_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_ROLE_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_role_invalid",
    token: Some("managed_gc_protocol_tombstone_role_invalid"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a name of `tombstones/` matches neither T1 nor T2, or `completed` has an attempt other than 1",
    gjc: "inspector refuses; a bad attempt suffix: delete `durability_failed`",
    help: "",
    section: "02 §9.8; 03 §15.3",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_authority_missing`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_AUTHORITY_MISSING: Code = Code {
    name: "managed_gc_protocol_tombstone_authority_missing",
    token: Some("managed_gc_protocol_tombstone_authority_missing"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a cleanup record whose `<op>.json` is missing or no tombstone",
    gjc: "inspector refuses",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_target_missing`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_TARGET_MISSING: Code = Code {
    name: "managed_gc_protocol_tombstone_target_missing",
    token: Some("managed_gc_protocol_tombstone_target_missing"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a cleanup record whose second hex is no target's operation name",
    gjc: "inspector refuses",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_history_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_HISTORY_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_history_invalid",
    token: Some("managed_gc_protocol_tombstone_history_invalid"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a pending history breaks 02 §9.4 (contiguity, planned paths, immutable fields)",
    gjc: "open, delete `durability_failed`; inspector refuses (0.17)",
    help: "",
    section: "02 §9.4; 03 §15.3",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_artifacts_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_ARTIFACTS_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_artifacts_invalid",
    token: Some("managed_gc_protocol_tombstone_artifacts_invalid"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an `artifacts_removed` record breaks 02 §9.5",
    gjc: "delete `durability_failed`; inspector refuses (0.17)",
    help: "",
    section: "02 §9.5",
    since: "0.1.0",
};

/// `managed_gc_protocol_tombstone_completion_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_COMPLETION_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_completion_invalid",
    token: Some("managed_gc_protocol_tombstone_completion_invalid"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `completed` record breaks 02 §9.5 (closed member set)",
    gjc: "the target counts as pending and its cleanup is repeated at every open; inspector refuses (0.17)",
    help: "",
    section: "02 §9.5; 02a.17",
    since: "0.1.0",
};

/// `cleanup_receipt_unreadable`
pub static CLEANUP_RECEIPT_UNREADABLE: Code = Code {
    name: "cleanup_receipt_unreadable",
    token: None,
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `pending` or `artifacts_removed` record is not JSON or has a bad integer text",
    gjc: "the replay answers \"no history\", the fresh plan collides with it: `durability_failed`",
    help: "",
    section: "02 §9.4; 03 §15.3; 02a.16",
    since: "0.1.0",
};

/// `cleanup_pending`
pub static CLEANUP_PENDING: Code = Code {
    name: "cleanup_pending",
    token: Some("cleanup_pending"),
    area: "tombstone",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a tombstone target has no valid completed record",
    gjc: "opening or deleting a session of the scope resumes the deletion; a new session does not",
    help: "",
    section: "02 §9.6; 02a.5",
    since: "0.1.0",
};

/// `retired_session_present`
pub static RETIRED_SESSION_PRESENT: Code = Code {
    name: "retired_session_present",
    token: None,
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript equals a retired target",
    gjc: "hidden by the listing; when its tombstone is not completed the next open of the scope deletes it",
    help: "",
    section: "02 §9.3, §9.6; 02a.7",
    since: "0.1.0",
};

/// `retired_session_changed`
pub static RETIRED_SESSION_CHANGED: Code = Code {
    name: "retired_session_changed",
    token: None,
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript stands at the path of a target whose deletion is not completed, with another identity",
    gjc: "listed, but opening it fails: `binding_invalid` (inner `source_changed`)",
    help: "",
    section: "02 §9.3; 02a.10",
    since: "0.1.0",
};

/// `retired_session_listed`
pub static RETIRED_SESSION_LISTED: Code = Code {
    name: "retired_session_listed",
    token: None,
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript equals a target of an uncompleted tombstone in everything but the spelling of `cwd`",
    gjc: "listed; the next open of the scope deletes it",
    help: "",
    section: "02a.11",
    since: "0.1.0",
};

/// `tombstone_artifacts_mismatch`
pub static TOMBSTONE_ARTIFACTS_MISMATCH: Code = Code {
    name: "tombstone_artifacts_mismatch",
    token: None,
    area: "tombstone",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an uncompleted target's artifact directory differs from the recorded identity or tree, or is unsafe",
    gjc: "that deletion never ends and that session never opens (`binding_invalid`); others are not touched",
    help: "",
    section: "02 §9.6; 02a.9, 02a.10",
    since: "0.1.0",
};

/// `task_artifact_owner_legacy_scope_unsupported`
pub static TASK_ARTIFACT_OWNER_LEGACY_SCOPE_UNSUPPORTED: Code = Code {
    name: "task_artifact_owner_legacy_scope_unsupported",
    token: Some("task_artifact_owner_legacy_scope_unsupported"),
    area: "tombstone",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "owner members stand in a tombstone or cleanup record where 03 §15.2 or §15.3 forbids them, or owner evidence is malformed",
    gjc: "prepare and delete refuse",
    help: "",
    section: "03 §15.2, §15.3",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &TOMBSTONE_UNREADABLE,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_INVALID,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_ROLE_INVALID,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_AUTHORITY_MISSING,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_TARGET_MISSING,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_HISTORY_INVALID,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_ARTIFACTS_INVALID,
    &MANAGED_GC_PROTOCOL_TOMBSTONE_COMPLETION_INVALID,
    &CLEANUP_RECEIPT_UNREADABLE,
    &CLEANUP_PENDING,
    &RETIRED_SESSION_PRESENT,
    &RETIRED_SESSION_CHANGED,
    &RETIRED_SESSION_LISTED,
    &TOMBSTONE_ARTIFACTS_MISMATCH,
    &TASK_ARTIFACT_OWNER_LEGACY_SCOPE_UNSUPPORTED,
];
