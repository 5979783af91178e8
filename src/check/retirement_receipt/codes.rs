//! Codes of the area *retirement receipt* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `task_artifact_owner_continuation_corrupt`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_CORRUPT: Code = Code {
    name: "task_artifact_owner_continuation_corrupt",
    token: Some("task_artifact_owner_continuation_corrupt"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a receipt is no JSON object, its identity record is malformed, its name is not in the grammar, or the entry is no regular file",
    gjc: "replay and discovery refuse (one journal blocks the profile)",
    help: "",
    section: "03 §6, §11.2, §13",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_mismatch",
    token: Some("task_artifact_owner_continuation_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "03 §6 step 6 fails (state, member set, scope, path, session, cwd, flags, attempt)",
    gjc: "replay refuses",
    help: "",
    section: "03 §6",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_identity_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_IDENTITY_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_identity_invalid",
    token: Some("task_artifact_owner_continuation_identity_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the current transcript of a journal is no single-link regular file",
    gjc: "replay refuses",
    help: "",
    section: "03 §6.5, §11.1",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_transcript_replaced`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_TRANSCRIPT_REPLACED: Code = Code {
    name: "task_artifact_owner_continuation_transcript_replaced",
    token: Some("task_artifact_owner_continuation_transcript_replaced"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the transcript exists and its identity, header id, cwd or locator differs from the prepared one",
    gjc: "replay refuses",
    help: "",
    section: "03 §6.8, §11.1",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_evidence_corrupt`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_EVIDENCE_CORRUPT: Code = Code {
    name: "task_artifact_owner_continuation_evidence_corrupt",
    token: Some("task_artifact_owner_continuation_evidence_corrupt"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "evidence of a receipt decoded by 03 §6 is malformed",
    gjc: "replay refuses",
    help: "",
    section: "03 §6.9",
    since: "0.1.0",
};

/// `task_artifact_owner_evidence_invalid`
pub static TASK_ARTIFACT_OWNER_EVIDENCE_INVALID: Code = Code {
    name: "task_artifact_owner_evidence_invalid",
    token: Some("task_artifact_owner_evidence_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "evidence is malformed where the inner token is not rewrapped (bootstrap of `prepared`, outcome)",
    gjc: "replay refuses",
    help: "",
    section: "03 §5.3, §5.4, §11.1",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_evidence_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_EVIDENCE_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_evidence_mismatch",
    token: Some("task_artifact_owner_continuation_evidence_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a later receipt's target or evidence differs from the prepared one",
    gjc: "replay refuses",
    help: "",
    section: "03 §11.1.8",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_locator_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_LOCATOR_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_locator_mismatch",
    token: Some("task_artifact_owner_continuation_locator_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the evidence's session or locator differs from the target's",
    gjc: "replay refuses",
    help: "",
    section: "03 §6.10",
    since: "0.1.0",
};

/// `task_artifact_owner_locator_missing`
pub static TASK_ARTIFACT_OWNER_LOCATOR_MISSING: Code = Code {
    name: "task_artifact_owner_locator_missing",
    token: Some("task_artifact_owner_locator_missing"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the transcript of a journal exists and names no owner",
    gjc: "replay refuses",
    help: "",
    section: "03 §11.1.4",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_outcome_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_OUTCOME_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_outcome_mismatch",
    token: Some("task_artifact_owner_continuation_outcome_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "03 §6 step 12 or 13 fails",
    gjc: "replay refuses",
    help: "",
    section: "03 §6",
    since: "0.1.0",
};

/// `task_artifact_owner_retirement_outcome_invalid`
pub static TASK_ARTIFACT_OWNER_RETIREMENT_OUTCOME_INVALID: Code = Code {
    name: "task_artifact_owner_retirement_outcome_invalid",
    token: Some("task_artifact_owner_retirement_outcome_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the outcome breaks 03 §5.6",
    gjc: "replay refuses",
    help: "",
    section: "03 §5.6",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_invalid",
    token: Some("task_artifact_owner_continuation_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the outcome's continuation breaks 03 §5.5",
    gjc: "replay refuses",
    help: "",
    section: "03 §5.5",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_state_missing`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_STATE_MISSING: Code = Code {
    name: "task_artifact_owner_continuation_state_missing",
    token: Some("task_artifact_owner_continuation_state_missing"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "no `prepared`; an attempt gap; attempt differs from the file name; a pending or retired state without `artifacts_removed`; a state in the wrong file",
    gjc: "replay, discovery and inspector refuse",
    help: "",
    section: "03 §11.1",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_authority_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_AUTHORITY_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_authority_mismatch",
    token: Some("task_artifact_owner_continuation_authority_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the key is not the hash of `transcriptPath`, that path is not acceptable (03 §2), or a history breaks the rule of 03 §11.4",
    gjc: "replay and discovery refuse",
    help: "",
    section: "03 §2, §11, §13",
    since: "0.1.0",
};

/// `task_artifact_owner_physical_retirement_unverified`
pub static TASK_ARTIFACT_OWNER_PHYSICAL_RETIREMENT_UNVERIFIED: Code = Code {
    name: "task_artifact_owner_physical_retirement_unverified",
    token: Some("task_artifact_owner_physical_retirement_unverified"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`owner_retired` and `<owner>` or `<owner>.removing` exists",
    gjc: "replay refuses",
    help: "",
    section: "03 §10",
    since: "0.1.0",
};

/// `task_artifact_owner_parent_identity_mismatch`
pub static TASK_ARTIFACT_OWNER_PARENT_IDENTITY_MISMATCH: Code = Code {
    name: "task_artifact_owner_parent_identity_mismatch",
    token: Some("task_artifact_owner_parent_identity_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`.task-artifact-owners` is not the evidenced directory",
    gjc: "replay refuses",
    help: "",
    section: "03 §10",
    since: "0.1.0",
};

/// `task_artifact_owner_retained_root_replaced`
pub static TASK_ARTIFACT_OWNER_RETAINED_ROOT_REPLACED: Code = Code {
    name: "task_artifact_owner_retained_root_replaced",
    token: Some("task_artifact_owner_retained_root_replaced"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`owner_retired` and a retained root exists as another object",
    gjc: "replay refuses",
    help: "",
    section: "03 §10",
    since: "0.1.0",
};

/// `task_artifact_owner_retained_tree_mismatch`
pub static TASK_ARTIFACT_OWNER_RETAINED_TREE_MISMATCH: Code = Code {
    name: "task_artifact_owner_retained_tree_mismatch",
    token: Some("task_artifact_owner_retained_tree_mismatch"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the retained root of the last pending receipt is missing or not within its tree",
    gjc: "the next retirement refuses",
    help: "",
    section: "03 §10",
    since: "0.1.0",
};

/// `task_artifact_owner_retired_payload_changed`
pub static TASK_ARTIFACT_OWNER_RETIRED_PAYLOAD_CHANGED: Code = Code {
    name: "task_artifact_owner_retired_payload_changed",
    token: Some("task_artifact_owner_retired_payload_changed"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "payload durable, and a file of the retained tree is not empty",
    gjc: "the next retirement refuses",
    help: "",
    section: "03 §10",
    since: "0.1.0",
};

/// `gc_receipt_not_canonical`
pub static GC_RECEIPT_NOT_CANONICAL: Code = Code {
    name: "gc_receipt_not_canonical",
    token: None,
    area: "retirement receipt",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a receipt decodes and its bytes differ from the canonical encoding",
    gjc: "read as it is; not written by gjc so",
    help: "",
    section: "03 §3",
    since: "0.1.0",
};

/// `gc_retirement_pending`
pub static GC_RETIREMENT_PENDING: Code = Code {
    name: "gc_retirement_pending",
    token: None,
    area: "retirement receipt",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a valid journal ends in `prepared`, `artifacts_removed` or `owner_pending` (kind and reason)",
    gjc: "`gjc gc --disk --prune` resumes it",
    help: "",
    section: "03 §11, §17",
    since: "0.1.0",
};

/// `gc_receipt_orphan_transcript_missing`
pub static GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING: Code = Code {
    name: "gc_receipt_orphan_transcript_missing",
    token: None,
    area: "retirement receipt",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the transcript is absent and the journal does not end in `owner_retired`",
    gjc: "GC withholds or fails it",
    help: "",
    section: "03 §17",
    since: "0.1.0",
};

/// `managed_gc_protocol_roles_invalid`
pub static MANAGED_GC_PROTOCOL_ROLES_INVALID: Code = Code {
    name: "managed_gc_protocol_roles_invalid",
    token: Some("managed_gc_protocol_roles_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a protocol directory's children are not exactly `locks`, `receipts`, `tombstones`",
    gjc: "inspector refuses; owner scan blocked",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_entry_invalid`
pub static MANAGED_GC_PROTOCOL_ENTRY_INVALID: Code = Code {
    name: "managed_gc_protocol_entry_invalid",
    token: Some("managed_gc_protocol_entry_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a name in a role directory contains `.jsonl`",
    gjc: "inspector refuses",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_directory_invalid`
pub static MANAGED_GC_PROTOCOL_DIRECTORY_INVALID: Code = Code {
    name: "managed_gc_protocol_directory_invalid",
    token: Some("managed_gc_protocol_directory_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the protocol directory or a role directory is no directory (symlink, mode and owner have their own codes)",
    gjc: "every new session `binding_invalid` (`prepare:…_directory`); reading works; inspector refuses (0.17)",
    help: "",
    section: "02 §4.7, §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_file_invalid`
pub static MANAGED_GC_PROTOCOL_FILE_INVALID: Code = Code {
    name: "managed_gc_protocol_file_invalid",
    token: Some("managed_gc_protocol_file_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a file of a role directory is not regular or not owner-only (link count has its own code)",
    gjc: "inspector refuses",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_record_invalid`
pub static MANAGED_GC_PROTOCOL_RECORD_INVALID: Code = Code {
    name: "managed_gc_protocol_record_invalid",
    token: Some("managed_gc_protocol_record_invalid"),
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`receipts/<op>.json` or a `completed` cleanup record is no JSON object",
    gjc: "counts as absent; inspector refuses",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `exchange_placeholder_not_empty`
pub static EXCHANGE_PLACEHOLDER_NOT_EMPTY: Code = Code {
    name: "exchange_placeholder_not_empty",
    token: None,
    area: "retirement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a recorded exchange placeholder has a child or another identity",
    gjc: "cleanup refuses and changes nothing; the receipt no longer matches",
    help: "",
    section: "03 §18; 02 §7.2.5",
    since: "0.1.0",
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
