//! Codes of the area *owner* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `task_artifact_owner_locator_invalid`
pub static TASK_ARTIFACT_OWNER_LOCATOR_INVALID: Code = Code {
    name: "task_artifact_owner_locator_invalid",
    token: Some("task_artifact_owner_locator_invalid"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`taskArtifactOwner` in a header, patch or manifest is present and breaks 03 §5.2",
    gjc: "owner scan and verified delete refuse",
    help: "",
    section: "01 §3.3; 03 §5.2",
    since: "0.1.0",
};

/// `task_artifact_owner_patch_invalid`
pub static TASK_ARTIFACT_OWNER_PATCH_INVALID: Code = Code {
    name: "task_artifact_owner_patch_invalid",
    token: Some("task_artifact_owner_patch_invalid"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "03 §8 steps 4 or 5 fail",
    gjc: "every owner retirement of the profile is blocked",
    help: "",
    section: "03 §8",
    since: "0.1.0",
};

/// `task_artifact_owner_transcript_header_invalid`
pub static TASK_ARTIFACT_OWNER_TRANSCRIPT_HEADER_INVALID: Code = Code {
    name: "task_artifact_owner_transcript_header_invalid",
    token: Some("task_artifact_owner_transcript_header_invalid"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the first line of an owner-bearing transcript is no `session` header with the expected id",
    gjc: "owner scan refuses",
    help: "",
    section: "03 §8.1",
    since: "0.1.0",
};

/// `task_artifact_owner_session_id_invalid`
pub static TASK_ARTIFACT_OWNER_SESSION_ID_INVALID: Code = Code {
    name: "task_artifact_owner_session_id_invalid",
    token: Some("task_artifact_owner_session_id_invalid"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "an owner-bearing transcript has an empty session id",
    gjc: "owner operations refuse",
    help: "",
    section: "03 §5.2",
    since: "0.1.0",
};

/// `task_artifact_owner_missing`
pub static TASK_ARTIFACT_OWNER_MISSING: Code = Code {
    name: "task_artifact_owner_missing",
    token: Some("task_artifact_owner_missing"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a transcript names an owner whose directory, or whose parent, does not exist",
    gjc: "the task artifacts are unreachable",
    help: "",
    section: "03 §7.2",
    since: "0.1.0",
};

/// `task_artifact_owner_replaced`
pub static TASK_ARTIFACT_OWNER_REPLACED: Code = Code {
    name: "task_artifact_owner_replaced",
    token: Some("task_artifact_owner_replaced"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the owner directory or its parent is no real directory",
    gjc: "open refuses the owner",
    help: "",
    section: "03 §7.2",
    since: "0.1.0",
};

/// `task_artifact_owner_identity_mismatch`
pub static TASK_ARTIFACT_OWNER_IDENTITY_MISMATCH: Code = Code {
    name: "task_artifact_owner_identity_mismatch",
    token: Some("task_artifact_owner_identity_mismatch"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "dev or ino of the owner directory differs from the locator",
    gjc: "open refuses the owner",
    help: "",
    section: "03 §7.2",
    since: "0.1.0",
};

/// `task_artifact_owner_session_mismatch`
pub static TASK_ARTIFACT_OWNER_SESSION_MISMATCH: Code = Code {
    name: "task_artifact_owner_session_mismatch",
    token: Some("task_artifact_owner_session_mismatch"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`ownerId` is not the hash of the session id, or the manifest names another session",
    gjc: "open refuses the owner",
    help: "",
    section: "03 §7.2",
    since: "0.1.0",
};

/// `task_artifact_owner_manifest_missing`
pub static TASK_ARTIFACT_OWNER_MANIFEST_MISSING: Code = Code {
    name: "task_artifact_owner_manifest_missing",
    token: Some("task_artifact_owner_manifest_missing"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a transcript or journal names an owner directory that has no manifest",
    gjc: "open refuses the owner",
    help: "",
    section: "03 §7.1",
    since: "0.1.0",
};

/// `task_artifact_owner_manifest_invalid`
pub static TASK_ARTIFACT_OWNER_MANIFEST_INVALID: Code = Code {
    name: "task_artifact_owner_manifest_invalid",
    token: Some("task_artifact_owner_manifest_invalid"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the manifest breaks 03 §7.1",
    gjc: "open refuses the owner",
    help: "",
    section: "03 §7.1",
    since: "0.1.0",
};

/// `task_artifact_owner_manifest_mismatch`
pub static TASK_ARTIFACT_OWNER_MANIFEST_MISMATCH: Code = Code {
    name: "task_artifact_owner_manifest_mismatch",
    token: Some("task_artifact_owner_manifest_mismatch"),
    area: "owner",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the manifest's owner id, dev or ino differs from the wanted locator",
    gjc: "open refuses the owner",
    help: "",
    section: "03 §7.1",
    since: "0.1.0",
};

/// `task_artifact_owner_writer_not_quiescent`
pub static TASK_ARTIFACT_OWNER_WRITER_NOT_QUIESCENT: Code = Code {
    name: "task_artifact_owner_writer_not_quiescent",
    token: Some("task_artifact_owner_writer_not_quiescent"),
    area: "owner",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "an entry of an owner tree has a pending-publication name (03 §7.3)",
    gjc: "capture and retirement wait",
    help: "",
    section: "03 §7.3",
    since: "0.1.0",
};

/// `task_artifact_owner_shared_with_sibling_transcript`
pub static TASK_ARTIFACT_OWNER_SHARED_WITH_SIBLING_TRANSCRIPT: Code = Code {
    name: "task_artifact_owner_shared_with_sibling_transcript",
    token: Some("task_artifact_owner_shared_with_sibling_transcript"),
    area: "owner",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "two transcripts name the same owner",
    gjc: "the owner is never retired",
    help: "",
    section: "03 §9",
    since: "0.1.0",
};

/// `owner_scan_blocked`
pub static OWNER_SCAN_BLOCKED: Code = Code {
    name: "owner_scan_blocked",
    token: None,
    area: "owner",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "any other obstacle of 03 §9 exists (stray directory or symlink in the sessions root, unreadable or unstable candidate, `.saved` copy …); name it",
    gjc: "no owner of the profile is retired",
    help: "",
    section: "03 §9",
    since: "0.1.0",
};

/// `task_artifact_owner_provisioning_interrupted`
pub static TASK_ARTIFACT_OWNER_PROVISIONING_INTERRUPTED: Code = Code {
    name: "task_artifact_owner_provisioning_interrupted",
    token: None,
    area: "owner",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "an owner directory without manifest that no transcript and no journal names",
    gjc: "none; adopted or left",
    help: "",
    section: "03 §7.4",
    since: "0.1.0",
};

/// `task_artifact_owner_unreferenced`
pub static TASK_ARTIFACT_OWNER_UNREFERENCED: Code = Code {
    name: "task_artifact_owner_unreferenced",
    token: None,
    area: "owner",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "an owner directory with a valid manifest that no transcript and no journal names",
    gjc: "none",
    help: "",
    section: "03 §22",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &TASK_ARTIFACT_OWNER_LOCATOR_INVALID,
    &TASK_ARTIFACT_OWNER_PATCH_INVALID,
    &TASK_ARTIFACT_OWNER_TRANSCRIPT_HEADER_INVALID,
    &TASK_ARTIFACT_OWNER_SESSION_ID_INVALID,
    &TASK_ARTIFACT_OWNER_MISSING,
    &TASK_ARTIFACT_OWNER_REPLACED,
    &TASK_ARTIFACT_OWNER_IDENTITY_MISMATCH,
    &TASK_ARTIFACT_OWNER_SESSION_MISMATCH,
    &TASK_ARTIFACT_OWNER_MANIFEST_MISSING,
    &TASK_ARTIFACT_OWNER_MANIFEST_INVALID,
    &TASK_ARTIFACT_OWNER_MANIFEST_MISMATCH,
    &TASK_ARTIFACT_OWNER_WRITER_NOT_QUIESCENT,
    &TASK_ARTIFACT_OWNER_SHARED_WITH_SIBLING_TRANSCRIPT,
    &OWNER_SCAN_BLOCKED,
    &TASK_ARTIFACT_OWNER_PROVISIONING_INTERRUPTED,
    &TASK_ARTIFACT_OWNER_UNREFERENCED,
];
