//! Codes of the area *owner* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("owner");

/// `task_artifact_owner_locator_invalid`
pub static TASK_ARTIFACT_OWNER_LOCATOR_INVALID: Code = Code {
    name: "task_artifact_owner_locator_invalid",
    token: Some("task_artifact_owner_locator_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "owner scan and verified delete refuse",
    summary: "The note that names a session's artifact owner is malformed.",
    gjc: "0.17 refuses to release task artifacts and to delete the session. The session itself works.",
    help: "Repair the record in the transcript from a backup. Do not remove the owner directory by hand.",
    section: "01 §3.3; 03 §5.2",
    ..AREA
};

/// `task_artifact_owner_patch_invalid`
pub static TASK_ARTIFACT_OWNER_PATCH_INVALID: Code = Code {
    name: "task_artifact_owner_patch_invalid",
    token: Some("task_artifact_owner_patch_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "every owner retirement of the profile is blocked",
    summary: "A patch that names an artifact owner is malformed or contradicts the transcript.",
    gjc: "0.17 blocks every release of task artifacts in the whole profile. Sessions work as usual.",
    help: "Repair the named line of the transcript from a backup.",
    section: "03 §8",
    ..AREA
};

/// `task_artifact_owner_transcript_header_invalid`
pub static TASK_ARTIFACT_OWNER_TRANSCRIPT_HEADER_INVALID: Code = Code {
    name: "task_artifact_owner_transcript_header_invalid",
    token: Some("task_artifact_owner_transcript_header_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "owner scan refuses",
    summary: "A session with task artifacts does not begin with its header.",
    gjc: "0.17 refuses to look for artifact owners in it, which blocks their release.",
    help: "Restore the header as the first line of the transcript.",
    section: "03 §8.1",
    ..AREA
};

/// `task_artifact_owner_session_id_invalid`
pub static TASK_ARTIFACT_OWNER_SESSION_ID_INVALID: Code = Code {
    name: "task_artifact_owner_session_id_invalid",
    token: Some("task_artifact_owner_session_id_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "owner operations refuse",
    summary: "A session with task artifacts has an empty id.",
    gjc: "0.17 refuses every operation on its artifact owner.",
    help: "Put the id from the file name into the header, with gjc stopped.",
    section: "03 §5.2",
    ..AREA
};

/// `task_artifact_owner_missing`
pub static TASK_ARTIFACT_OWNER_MISSING: Code = Code {
    name: "task_artifact_owner_missing",
    token: Some("task_artifact_owner_missing"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "the task artifacts are unreachable",
    summary: "A session names an artifact owner whose directory does not exist.",
    gjc: "In 0.17 the session's task artifacts are unreachable; the conversation works.",
    help: "Restore the directory below `.task-artifact-owners` from a backup.",
    section: "03 §7.2",
    ..AREA
};

/// `task_artifact_owner_replaced`
pub static TASK_ARTIFACT_OWNER_REPLACED: Code = Code {
    name: "task_artifact_owner_replaced",
    token: Some("task_artifact_owner_replaced"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "open refuses the owner",
    summary: "An artifact owner's directory is a symlink or no directory.",
    gjc: "0.17 refuses to open the owner.",
    help: "Put the real directory back in its place, with gjc stopped.",
    section: "03 §7.2",
    ..AREA
};

/// `task_artifact_owner_identity_mismatch`
pub static TASK_ARTIFACT_OWNER_IDENTITY_MISMATCH: Code = Code {
    name: "task_artifact_owner_identity_mismatch",
    token: Some("task_artifact_owner_identity_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "open refuses the owner",
    summary: "An artifact owner's directory is not the one that the session recorded.",
    gjc: "0.17 refuses to open the owner: typically the profile was copied or restored.",
    help: "The artifacts are still there: copy what you need. The session itself works.",
    section: "03 §7.2",
    ..AREA
};

/// `task_artifact_owner_session_mismatch`
pub static TASK_ARTIFACT_OWNER_SESSION_MISMATCH: Code = Code {
    name: "task_artifact_owner_session_mismatch",
    token: Some("task_artifact_owner_session_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "open refuses the owner",
    summary: "An artifact owner belongs to another session.",
    gjc: "0.17 refuses to open the owner.",
    help: "Keep it. The directory or the transcript was copied; put each back where it came from.",
    section: "03 §7.2",
    ..AREA
};

/// `task_artifact_owner_manifest_missing`
pub static TASK_ARTIFACT_OWNER_MANIFEST_MISSING: Code = Code {
    name: "task_artifact_owner_manifest_missing",
    token: Some("task_artifact_owner_manifest_missing"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "open refuses the owner",
    summary: "An artifact owner that is in use has no manifest.",
    gjc: "0.17 refuses to open the owner.",
    help: "Restore the manifest from a backup; the artifacts beside it are intact.",
    section: "03 §7.1",
    ..AREA
};

/// `task_artifact_owner_manifest_invalid`
pub static TASK_ARTIFACT_OWNER_MANIFEST_INVALID: Code = Code {
    name: "task_artifact_owner_manifest_invalid",
    token: Some("task_artifact_owner_manifest_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "open refuses the owner",
    summary: "An artifact owner's manifest is malformed.",
    gjc: "0.17 refuses to open the owner; its files are untouched.",
    help: "Restore the manifest from a backup.",
    section: "03 §7.1",
    ..AREA
};

/// `task_artifact_owner_manifest_mismatch`
pub static TASK_ARTIFACT_OWNER_MANIFEST_MISMATCH: Code = Code {
    name: "task_artifact_owner_manifest_mismatch",
    token: Some("task_artifact_owner_manifest_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "open refuses the owner",
    summary: "An artifact owner's manifest is about another directory.",
    gjc: "0.17 refuses to open the owner.",
    help: "Keep it: the directory was copied. Restore the original, or copy the artifacts you need.",
    section: "03 §7.1",
    ..AREA
};

/// `task_artifact_owner_writer_not_quiescent`
pub static TASK_ARTIFACT_OWNER_WRITER_NOT_QUIESCENT: Code = Code {
    name: "task_artifact_owner_writer_not_quiescent",
    token: Some("task_artifact_owner_writer_not_quiescent"),
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "capture and retirement wait",
    summary: "An artifact owner holds a file whose writing is not finished.",
    gjc: "0.17 waits with capture and release.",
    help: "Let the writing session finish or stop it, then check again.",
    section: "03 §7.3",
    ..AREA
};

/// `task_artifact_owner_shared_with_sibling_transcript`
pub static TASK_ARTIFACT_OWNER_SHARED_WITH_SIBLING_TRANSCRIPT: Code = Code {
    name: "task_artifact_owner_shared_with_sibling_transcript",
    token: Some("task_artifact_owner_shared_with_sibling_transcript"),
    severity: Severity::Info,
    releases: Releases::Only017,
    verdict: "the owner is never retired",
    summary: "Two sessions share one artifact owner.",
    gjc: "0.17 never releases it.",
    help: "Nothing needs to be done.",
    section: "03 §9",
    ..AREA
};

/// `owner_scan_blocked`
pub static OWNER_SCAN_BLOCKED: Code = Code {
    name: "owner_scan_blocked",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "no owner of the profile is retired",
    summary: "Something in the sessions directory keeps gjc from releasing any task artifacts.",
    gjc: "0.17 answers \"shared\" for every owner until the obstacle is gone. Sessions work as usual.",
    help: "Move the obstacle that the message names out of `sessions`, with gjc stopped.",
    section: "03 §9",
    ..AREA
};

/// `task_artifact_owner_provisioning_interrupted`
pub static TASK_ARTIFACT_OWNER_PROVISIONING_INTERRUPTED: Code = Code {
    name: "task_artifact_owner_provisioning_interrupted",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "none; adopted or left",
    summary: "An artifact owner was begun and never finished.",
    gjc: "0.17 adopts it or leaves it.",
    help: "Nothing needs to be done.",
    section: "03 §7.4",
    ..AREA
};

/// `task_artifact_owner_unreferenced`
pub static TASK_ARTIFACT_OWNER_UNREFERENCED: Code = Code {
    name: "task_artifact_owner_unreferenced",
    severity: Severity::Info,
    releases: Releases::Only017,
    verdict: "none",
    summary: "No session and no journal names this artifact owner.",
    gjc: "Nothing; 0.17 leaves it.",
    help: "Nothing needs to be done. Look at it before you remove it: its session may lie elsewhere.",
    section: "03 §22",
    ..AREA
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
