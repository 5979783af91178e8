//! Codes of the area *retirement receipt* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("retirement receipt");

/// `task_artifact_owner_continuation_corrupt`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_CORRUPT: Code = Code {
    name: "task_artifact_owner_continuation_corrupt",
    token: Some("task_artifact_owner_continuation_corrupt"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay and discovery refuse (one journal blocks the profile)",
    summary: "A collection receipt cannot be read as one.",
    gjc: "0.17 refuses the journal, and this one journal stops garbage collection for the whole profile. Sessions work as usual.",
    help: "Keep all receipts. Restore this one file from a backup; do not remove the journal.",
    section: "03 §6, §11.2, §13",
    ..AREA
};

/// `task_artifact_owner_continuation_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_mismatch",
    token: Some("task_artifact_owner_continuation_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "A collection receipt belongs to another scope, session or step.",
    gjc: "0.17 refuses the journal. Sessions work as usual.",
    help: "The file was copied from elsewhere. Put it back where it came from and keep the rest.",
    section: "03 §6",
    ..AREA
};

/// `task_artifact_owner_continuation_identity_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_IDENTITY_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_identity_invalid",
    token: Some("task_artifact_owner_continuation_identity_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The transcript of a collection journal is no ordinary single-link file.",
    gjc: "0.17 refuses the journal; the session is not collected.",
    help: "Replace the symlink or remove the surplus hard link, with gjc stopped. Keep the receipts.",
    section: "03 §6.5, §11.1",
    ..AREA
};

/// `task_artifact_owner_continuation_transcript_replaced`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_TRANSCRIPT_REPLACED: Code = Code {
    name: "task_artifact_owner_continuation_transcript_replaced",
    token: Some("task_artifact_owner_continuation_transcript_replaced"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The transcript changed or was replaced after its collection was prepared.",
    gjc: "0.17 refuses the journal; the session is not collected.",
    help: "Keep both the transcript and the receipts. The session was used again, so it should not be collected.",
    section: "03 §6.8, §11.1",
    ..AREA
};

/// `task_artifact_owner_continuation_evidence_corrupt`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_EVIDENCE_CORRUPT: Code = Code {
    name: "task_artifact_owner_continuation_evidence_corrupt",
    token: Some("task_artifact_owner_continuation_evidence_corrupt"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The evidence in a collection receipt is malformed.",
    gjc: "0.17 refuses the journal; nothing is collected from it.",
    help: "Keep all receipts. Restore the named one from a backup.",
    section: "03 §6.9",
    ..AREA
};

/// `task_artifact_owner_evidence_invalid`
pub static TASK_ARTIFACT_OWNER_EVIDENCE_INVALID: Code = Code {
    name: "task_artifact_owner_evidence_invalid",
    token: Some("task_artifact_owner_evidence_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The deletion evidence of a collection's first or last step is malformed.",
    gjc: "0.17 refuses the journal at that step.",
    help: "Keep all receipts. Restore the named one from a backup; do not write the evidence by hand.",
    section: "03 §5.3, §5.4, §11.1",
    ..AREA
};

/// `task_artifact_owner_continuation_evidence_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_EVIDENCE_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_evidence_mismatch",
    token: Some("task_artifact_owner_continuation_evidence_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "A later collection receipt names another target or other evidence than the first.",
    gjc: "0.17 refuses the journal.",
    help: "Keep all receipts: two journals were mixed. Restore the receipts of this one from a single backup.",
    section: "03 §11.1.8",
    ..AREA
};

/// `task_artifact_owner_continuation_locator_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_LOCATOR_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_locator_mismatch",
    token: Some("task_artifact_owner_continuation_locator_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "A collection receipt's evidence is about another artifact owner than its target.",
    gjc: "0.17 refuses the journal; the owner stays.",
    help: "Keep all receipts: two journals were mixed. Restore the named receipt from a backup.",
    section: "03 §6.10",
    ..AREA
};

/// `task_artifact_owner_locator_missing`
pub static TASK_ARTIFACT_OWNER_LOCATOR_MISSING: Code = Code {
    name: "task_artifact_owner_locator_missing",
    token: Some("task_artifact_owner_locator_missing"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "A session under collection no longer names its artifact owner.",
    gjc: "0.17 refuses the journal; the owner stays.",
    help: "Keep the receipts. If the transcript was edited or restored, put back the version that names the owner.",
    section: "03 §11.1.4",
    ..AREA
};

/// `task_artifact_owner_continuation_outcome_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_OUTCOME_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_outcome_mismatch",
    token: Some("task_artifact_owner_continuation_outcome_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "A collection receipt's recorded outcome does not fit its step.",
    gjc: "0.17 refuses the journal.",
    help: "Keep all receipts. Restore the named one from a backup.",
    section: "03 §6",
    ..AREA
};

/// `task_artifact_owner_retirement_outcome_invalid`
pub static TASK_ARTIFACT_OWNER_RETIREMENT_OUTCOME_INVALID: Code = Code {
    name: "task_artifact_owner_retirement_outcome_invalid",
    token: Some("task_artifact_owner_retirement_outcome_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The outcome recorded in a collection receipt is malformed.",
    gjc: "0.17 refuses the journal at this receipt.",
    help: "Keep all receipts. Restore this receipt from a backup; an outcome cannot be written by hand.",
    section: "03 §5.6",
    ..AREA
};

/// `task_artifact_owner_continuation_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_invalid",
    token: Some("task_artifact_owner_continuation_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The next step recorded in a collection receipt is malformed.",
    gjc: "0.17 refuses the journal, so the collection cannot go on.",
    help: "Keep all receipts. Restore this receipt from a backup.",
    section: "03 §5.5",
    ..AREA
};

/// `task_artifact_owner_continuation_state_missing`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_STATE_MISSING: Code = Code {
    name: "task_artifact_owner_continuation_state_missing",
    token: Some("task_artifact_owner_continuation_state_missing"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay, discovery and inspector refuse",
    summary: "A step of a collection journal is missing or in the wrong file.",
    gjc: "0.17 refuses the journal, and this one journal stops garbage collection and inspection for the whole profile.",
    help: "Keep all receipts. Restore the missing step from a backup.",
    section: "03 §11.1",
    ..AREA
};

/// `task_artifact_owner_continuation_authority_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_AUTHORITY_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_authority_mismatch",
    token: Some("task_artifact_owner_continuation_authority_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay and discovery refuse",
    summary: "A collection journal claims more than it may, or belongs to another path.",
    gjc: "0.17 refuses the journal, and it stops garbage collection for the whole profile.",
    help: "Keep all receipts. Usually the agent directory was moved or renamed: put it back at its old path if you can.",
    section: "03 §2, §11, §13",
    ..AREA
};

/// `task_artifact_owner_physical_retirement_unverified`
pub static TASK_ARTIFACT_OWNER_PHYSICAL_RETIREMENT_UNVERIFIED: Code = Code {
    name: "task_artifact_owner_physical_retirement_unverified",
    token: Some("task_artifact_owner_physical_retirement_unverified"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "A collection says that the artifact owner is gone, but it still exists.",
    gjc: "0.17 refuses the journal: record and disk disagree.",
    help: "Keep both the owner directory and the receipts, and copy the artifacts you need.",
    section: "03 §10",
    ..AREA
};

/// `task_artifact_owner_parent_identity_mismatch`
pub static TASK_ARTIFACT_OWNER_PARENT_IDENTITY_MISMATCH: Code = Code {
    name: "task_artifact_owner_parent_identity_mismatch",
    token: Some("task_artifact_owner_parent_identity_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "The directory of artifact owners is not the one that the receipts were made for.",
    gjc: "0.17 refuses the journal. Typically the profile was copied or restored.",
    help: "Leave the receipts where they are and do not run garbage collection on this copy. The original file numbers cannot be restored.",
    section: "03 §10",
    ..AREA
};

/// `task_artifact_owner_retained_root_replaced`
pub static TASK_ARTIFACT_OWNER_RETAINED_ROOT_REPLACED: Code = Code {
    name: "task_artifact_owner_retained_root_replaced",
    token: Some("task_artifact_owner_retained_root_replaced"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "replay refuses",
    summary: "Something else stands where a collected artifact owner was kept.",
    gjc: "0.17 refuses the journal.",
    help: "Keep it. Find out which program wrote there before you run garbage collection again.",
    section: "03 §10",
    ..AREA
};

/// `task_artifact_owner_retained_tree_mismatch`
pub static TASK_ARTIFACT_OWNER_RETAINED_TREE_MISMATCH: Code = Code {
    name: "task_artifact_owner_retained_tree_mismatch",
    token: Some("task_artifact_owner_retained_tree_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "the next retirement refuses",
    summary: "The kept remains of an artifact owner are missing or have grown.",
    gjc: "The next collection of this session refuses.",
    help: "Keep what is there. Find the program that writes into it.",
    section: "03 §10",
    ..AREA
};

/// `task_artifact_owner_retired_payload_changed`
pub static TASK_ARTIFACT_OWNER_RETIRED_PAYLOAD_CHANGED: Code = Code {
    name: "task_artifact_owner_retired_payload_changed",
    token: Some("task_artifact_owner_retired_payload_changed"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "the next retirement refuses",
    summary: "A collected artifact file has content again.",
    gjc: "The next collection of this session refuses.",
    help: "Keep the file, copy its content if you need it, and find the program that wrote it.",
    section: "03 §10",
    ..AREA
};

/// `gc_receipt_not_canonical`
pub static GC_RECEIPT_NOT_CANONICAL: Code = Code {
    name: "gc_receipt_not_canonical",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "read as it is; not written by gjc so",
    summary: "A collection receipt is readable, but not written the way gjc writes it.",
    gjc: "0.17 reads it as it is.",
    help: "Keep it. An editor or another tool touched it; restore it from a backup if you have one.",
    section: "03 §3",
    ..AREA
};

/// `gc_retirement_pending`
pub static GC_RETIREMENT_PENDING: Code = Code {
    name: "gc_retirement_pending",
    severity: Severity::Info,
    releases: Releases::Only017,
    verdict: "`gjc gc --disk --prune` resumes it",
    summary: "The collection of a session was begun and not finished.",
    gjc: "`gjc gc --disk --prune` goes on with it.",
    help: "Nothing needs to be done. Run `gjc gc --disk --prune` to finish it.",
    section: "03 §11, §17",
    ..AREA
};

/// `gc_receipt_orphan_transcript_missing`
pub static GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING: Code = Code {
    name: "gc_receipt_orphan_transcript_missing",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "GC withholds or fails it",
    summary: "A session under collection is gone before its collection was finished.",
    gjc: "0.17's garbage collection reports it as withheld or failed.",
    help: "There is nothing to remove by hand. Keep the receipts; restore the transcript if its loss was a mistake.",
    section: "03 §17",
    ..AREA
};

/// `managed_gc_protocol_roles_invalid`
pub static MANAGED_GC_PROTOCOL_ROLES_INVALID: Code = Code {
    name: "managed_gc_protocol_roles_invalid",
    token: Some("managed_gc_protocol_roles_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses; owner scan blocked",
    summary: "The protocol directory of a scope does not hold exactly `locks`, `receipts` and `tombstones`.",
    gjc: "0.17's inspector refuses the whole inspection, and no task artifacts are released.",
    help: "With gjc stopped, move what does not belong there out; create a missing one with mode 0700.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_entry_invalid`
pub static MANAGED_GC_PROTOCOL_ENTRY_INVALID: Code = Code {
    name: "managed_gc_protocol_entry_invalid",
    token: Some("managed_gc_protocol_entry_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A transcript, or a file named like one, lies in a protocol directory.",
    gjc: "0.17's inspector refuses the whole inspection; the file is not listed as a session.",
    help: "With gjc stopped, move it out. If it is a session, put it beside the other transcripts of its workspace.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_directory_invalid`
pub static MANAGED_GC_PROTOCOL_DIRECTORY_INVALID: Code = Code {
    name: "managed_gc_protocol_directory_invalid",
    token: Some("managed_gc_protocol_directory_invalid"),
    severity: Severity::Error,
    verdict: "every new session `binding_invalid` (`prepare:…_directory`); reading works; inspector refuses (0.17)",
    summary: "A protocol directory of a scope is not a directory.",
    gjc: "Every new session in this workspace fails with `binding_invalid`; existing ones can be read. 0.17's inspector refuses.",
    help: "With gjc stopped, move what stands there away. gjc makes the directory again at the next start.",
    section: "02 §4.7, §9.8",
    ..AREA
};

/// `managed_gc_protocol_file_invalid`
pub static MANAGED_GC_PROTOCOL_FILE_INVALID: Code = Code {
    name: "managed_gc_protocol_file_invalid",
    token: Some("managed_gc_protocol_file_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A file in a protocol directory is not an ordinary private file.",
    gjc: "0.17's inspector refuses the whole inspection; sessions work as usual.",
    help: "Set its mode to 0600 and its owner to your user; move away what is no regular file.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_record_invalid`
pub static MANAGED_GC_PROTOCOL_RECORD_INVALID: Code = Code {
    name: "managed_gc_protocol_record_invalid",
    token: Some("managed_gc_protocol_record_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "counts as absent; inspector refuses",
    summary: "A receipt or completed deletion record is no JSON object.",
    gjc: "It counts as absent. 0.17's inspector refuses the whole inspection.",
    help: "Restore the file from a backup. Without one, move it out of the directory with gjc stopped, and keep it.",
    section: "02 §9.8",
    ..AREA
};

/// `exchange_placeholder_not_empty`
pub static EXCHANGE_PLACEHOLDER_NOT_EMPTY: Code = Code {
    name: "exchange_placeholder_not_empty",
    severity: Severity::Error,
    verdict: "cleanup refuses and changes nothing; the receipt no longer matches",
    summary: "A directory that must stay empty during a migration holds something, or was replaced.",
    gjc: "gjc refuses the cleanup and changes nothing; the migration receipt no longer matches.",
    help: "Keep its contents: they may be the only copy. Move them elsewhere with gjc stopped.",
    section: "03 §18; 02 §7.2.5",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &TASK_ARTIFACT_OWNER_CONTINUATION_CORRUPT,
    &TASK_ARTIFACT_OWNER_CONTINUATION_MISMATCH,
    &TASK_ARTIFACT_OWNER_CONTINUATION_IDENTITY_INVALID,
    &TASK_ARTIFACT_OWNER_CONTINUATION_TRANSCRIPT_REPLACED,
    &TASK_ARTIFACT_OWNER_CONTINUATION_EVIDENCE_CORRUPT,
    &TASK_ARTIFACT_OWNER_EVIDENCE_INVALID,
    &TASK_ARTIFACT_OWNER_CONTINUATION_EVIDENCE_MISMATCH,
    &TASK_ARTIFACT_OWNER_CONTINUATION_LOCATOR_MISMATCH,
    &TASK_ARTIFACT_OWNER_LOCATOR_MISSING,
    &TASK_ARTIFACT_OWNER_CONTINUATION_OUTCOME_MISMATCH,
    &TASK_ARTIFACT_OWNER_RETIREMENT_OUTCOME_INVALID,
    &TASK_ARTIFACT_OWNER_CONTINUATION_INVALID,
    &TASK_ARTIFACT_OWNER_CONTINUATION_STATE_MISSING,
    &TASK_ARTIFACT_OWNER_CONTINUATION_AUTHORITY_MISMATCH,
    &TASK_ARTIFACT_OWNER_PHYSICAL_RETIREMENT_UNVERIFIED,
    &TASK_ARTIFACT_OWNER_PARENT_IDENTITY_MISMATCH,
    &TASK_ARTIFACT_OWNER_RETAINED_ROOT_REPLACED,
    &TASK_ARTIFACT_OWNER_RETAINED_TREE_MISMATCH,
    &TASK_ARTIFACT_OWNER_RETIRED_PAYLOAD_CHANGED,
    &GC_RECEIPT_NOT_CANONICAL,
    &GC_RETIREMENT_PENDING,
    &GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING,
    &MANAGED_GC_PROTOCOL_ROLES_INVALID,
    &MANAGED_GC_PROTOCOL_ENTRY_INVALID,
    &MANAGED_GC_PROTOCOL_DIRECTORY_INVALID,
    &MANAGED_GC_PROTOCOL_FILE_INVALID,
    &MANAGED_GC_PROTOCOL_RECORD_INVALID,
    &EXCHANGE_PLACEHOLDER_NOT_EMPTY,
];
