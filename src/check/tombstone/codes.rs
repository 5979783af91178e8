//! Codes of the area *tombstone* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("tombstone");

/// `tombstone_unreadable`
pub static TOMBSTONE_UNREADABLE: Code = Code {
    name: "tombstone_unreadable",
    severity: Severity::Error,
    fatal: true,
    verdict: "0.17, not JSON: open, migrate, delete `durability_failed` (a new session starts, 02a.5); both: retired sessions may be listed again",
    summary: "The record of a deletion cannot be read.",
    gjc: "Sessions deleted with it may be listed again. In 0.17 text that is not JSON makes opening, migrating and deleting fail with `durability_failed`; new sessions start.",
    help: "Restore the file from a backup. Without one, keep it: with gjc stopped, move it out of `tombstones/`, and expect the deleted session to show up again.",
    section: "02 §9.2, §9.3",
    ..AREA
};

/// `managed_gc_protocol_tombstone_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_invalid",
    token: Some("managed_gc_protocol_tombstone_invalid"),
    severity: Severity::Error,
    verdict: "hidden sessions are never cleaned; inspector refuses (0.17)",
    summary: "The record of a deletion is not valid for this scope.",
    gjc: "Sessions it hides are never cleaned up. 0.17's inspector refuses.",
    help: "Keep all evidence. Restore the record from a backup; otherwise ask upstream before changing anything.",
    section: "02 §9.2, §9.8; 02a.11",
    ..AREA
};

/// `managed_gc_protocol_tombstone_role_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_ROLE_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_role_invalid",
    token: Some("managed_gc_protocol_tombstone_role_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses; a bad attempt suffix: delete `durability_failed`",
    summary: "A file in `tombstones/` has a name that no deletion record has.",
    gjc: "0.17's inspector refuses. A record with a bad attempt number also makes deleting fail with `durability_failed`.",
    help: "With gjc stopped, move a file that does not belong there out of `tombstones/`; keep it.",
    section: "02 §9.8; 03 §15.3",
    ..AREA
};

/// `managed_gc_protocol_tombstone_authority_missing`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_AUTHORITY_MISSING: Code = Code {
    name: "managed_gc_protocol_tombstone_authority_missing",
    token: Some("managed_gc_protocol_tombstone_authority_missing"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A cleanup record belongs to no deletion.",
    gjc: "0.17's inspector refuses; sessions work as usual.",
    help: "Keep all evidence. Restore the missing deletion record from a backup.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_tombstone_target_missing`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_TARGET_MISSING: Code = Code {
    name: "managed_gc_protocol_tombstone_target_missing",
    token: Some("managed_gc_protocol_tombstone_target_missing"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A cleanup record names a session that its deletion does not.",
    gjc: "0.17's inspector refuses; sessions work as usual.",
    help: "Keep all evidence; the record was copied from elsewhere. Ask upstream before changing anything.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_tombstone_history_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_HISTORY_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_history_invalid",
    token: Some("managed_gc_protocol_tombstone_history_invalid"),
    severity: Severity::Error,
    verdict: "open, delete `durability_failed`; inspector refuses (0.17)",
    summary: "The steps recorded for a deletion contradict each other.",
    gjc: "Opening and deleting sessions of this scope fail with `durability_failed`. 0.17's inspector refuses.",
    help: "Keep all evidence. Restore the named step from a backup.",
    section: "02 §9.4; 03 §15.3",
    ..AREA
};

/// `managed_gc_protocol_tombstone_artifacts_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_ARTIFACTS_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_artifacts_invalid",
    token: Some("managed_gc_protocol_tombstone_artifacts_invalid"),
    severity: Severity::Error,
    verdict: "delete `durability_failed`; inspector refuses (0.17)",
    summary: "The record that a deletion removed the artifacts is invalid.",
    gjc: "Deleting fails with `durability_failed`. 0.17's inspector refuses.",
    help: "Keep all evidence. Restore the record from a backup.",
    section: "02 §9.5",
    ..AREA
};

/// `managed_gc_protocol_tombstone_completion_invalid`
pub static MANAGED_GC_PROTOCOL_TOMBSTONE_COMPLETION_INVALID: Code = Code {
    name: "managed_gc_protocol_tombstone_completion_invalid",
    token: Some("managed_gc_protocol_tombstone_completion_invalid"),
    severity: Severity::Error,
    verdict: "the target counts as pending and its cleanup is repeated at every open; inspector refuses (0.17)",
    summary: "The record that a deletion was completed is invalid.",
    gjc: "The deletion counts as unfinished, and its cleanup is repeated at every open. 0.17's inspector refuses.",
    help: "Keep all evidence. Restore the record from a backup.",
    section: "02 §9.5; 02a.17",
    ..AREA
};

/// `cleanup_receipt_unreadable`
pub static CLEANUP_RECEIPT_UNREADABLE: Code = Code {
    name: "cleanup_receipt_unreadable",
    severity: Severity::Error,
    verdict: "the replay answers \"no history\", the fresh plan collides with it: `durability_failed`",
    summary: "A step of a deletion cannot be read.",
    gjc: "gjc takes the history for absent, plans anew and collides with the unreadable file: `durability_failed`.",
    help: "Restore the file from a backup before the next deletion in this workspace.",
    section: "02 §9.4; 03 §15.3; 02a.16",
    ..AREA
};

/// `cleanup_pending`
pub static CLEANUP_PENDING: Code = Code {
    name: "cleanup_pending",
    token: Some("cleanup_pending"),
    severity: Severity::Warning,
    verdict: "opening or deleting a session of the scope resumes the deletion; a new session does not",
    summary: "A deletion is not finished.",
    gjc: "Opening or deleting a session of this workspace continues it; starting a new one does not.",
    help: "Open any session of the workspace with gjc, or leave it.",
    section: "02 §9.6; 02a.5",
    ..AREA
};

/// `retired_session_present`
pub static RETIRED_SESSION_PRESENT: Code = Code {
    name: "retired_session_present",
    severity: Severity::Error,
    verdict: "hidden by the listing; when its tombstone is not completed the next open of the scope deletes it",
    summary: "A deleted session's transcript still exists.",
    gjc: "It is not listed. If the deletion is not finished, the next open of this workspace removes the file.",
    help: "If you want to keep the session, copy the transcript and its artifacts elsewhere before you open anything in this workspace.",
    section: "02 §9.3, §9.6; 02a.7",
    ..AREA
};

/// `retired_session_changed`
pub static RETIRED_SESSION_CHANGED: Code = Code {
    name: "retired_session_changed",
    severity: Severity::Error,
    verdict: "listed, but opening it fails: `binding_invalid` (inner `source_changed`)",
    summary: "A transcript stands at the path of an unfinished deletion, but it is not the deleted one.",
    gjc: "It is listed, and opening it fails with `binding_invalid`. Other sessions are not affected.",
    help: "Copy the transcript out of the scope and open the copy by its path. Keep the deletion's records.",
    section: "02 §9.3; 02a.10",
    ..AREA
};

/// `retired_session_listed`
pub static RETIRED_SESSION_LISTED: Code = Code {
    name: "retired_session_listed",
    severity: Severity::Error,
    verdict: "listed; the next open of the scope deletes it",
    summary: "A session in the list is about to be deleted by an unfinished deletion.",
    gjc: "It is listed because its workspace path is spelled differently; the next open of this workspace deletes it.",
    help: "If you want to keep it, copy the transcript and its artifacts elsewhere before you open anything in this workspace.",
    section: "02a.11",
    ..AREA
};

/// `tombstone_artifacts_mismatch`
pub static TOMBSTONE_ARTIFACTS_MISMATCH: Code = Code {
    name: "tombstone_artifacts_mismatch",
    severity: Severity::Warning,
    verdict: "that deletion never ends and that session never opens (`binding_invalid`); others are not touched",
    summary: "The artifacts of a session that is being deleted are not the recorded ones.",
    gjc: "That deletion never ends, and that session never opens (`binding_invalid`). Other sessions are not affected.",
    help: "Look at the artifact directory; copy what you need. With gjc stopped, move symlinks, hard links or foreign files out of it.",
    section: "02 §9.6; 02a.9, 02a.10",
    ..AREA
};

/// `task_artifact_owner_legacy_scope_unsupported`
pub static TASK_ARTIFACT_OWNER_LEGACY_SCOPE_UNSUPPORTED: Code = Code {
    name: "task_artifact_owner_legacy_scope_unsupported",
    token: Some("task_artifact_owner_legacy_scope_unsupported"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "prepare and delete refuse",
    summary: "A deletion record names an artifact owner where none may stand.",
    gjc: "0.17 refuses to start, open or delete sessions of this workspace.",
    help: "Another version wrote it. Do not delete sessions here with this version; keep the record.",
    section: "03 §15.2, §15.3",
    ..AREA
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
