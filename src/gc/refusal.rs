//! Why gjc refuses, in its own words.

use crate::agent::owner_evidence::Invalid;

/// Defines [`Refusal`]: one variant per token of gjc.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $token:literal,)*) => {
        /// A token of gjc: the whole message that it fails with (spec 03).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
        pub enum Refusal {
            $($(#[$doc])* #[error($token)] $name,)*
        }

        impl Refusal {
            /// Every refusal.
            pub const ALL: &[Refusal] = &[$(Refusal::$name,)*];

            /// gjc's token.
            pub const fn token(self) -> &'static str {
                match self {
                    $(Refusal::$name => $token,)*
                }
            }
        }
    };
}

refusals! {
    /// No JSON object, a malformed transcript identity, a bad receipt name, or no regular file.
    ContinuationCorrupt = "task_artifact_owner_continuation_corrupt",
    /// The receipt is not of this state, scope, transcript, session or workspace (§6 step 6).
    ContinuationMismatch = "task_artifact_owner_continuation_mismatch",
    /// The transcript or its target has no authority here, or a journal widens what it may remove.
    ContinuationAuthorityMismatch = "task_artifact_owner_continuation_authority_mismatch",
    /// The target's transcript identity is malformed.
    ContinuationIdentityInvalid = "task_artifact_owner_continuation_identity_invalid",
    /// The transcript is not the one that was prepared.
    TranscriptReplaced = "task_artifact_owner_continuation_transcript_replaced",
    /// A receipt's evidence is malformed.
    EvidenceCorrupt = "task_artifact_owner_continuation_evidence_corrupt",
    /// A receipt's evidence is of another session or owner.
    ContinuationLocatorMismatch = "task_artifact_owner_continuation_locator_mismatch",
    /// Outcome and state, continuation or flags disagree.
    OutcomeMismatch = "task_artifact_owner_continuation_outcome_mismatch",
    /// A later receipt disagrees with the prepared one.
    EvidenceMismatch = "task_artifact_owner_continuation_evidence_mismatch",
    /// The journal has a gap, or a receipt lies in the wrong file.
    StateMissing = "task_artifact_owner_continuation_state_missing",
    /// A candidate has members of a later state.
    StateMismatch = "task_artifact_owner_continuation_state_mismatch",
    /// A candidate's state may not follow here.
    StateOrderInvalid = "task_artifact_owner_continuation_state_order_invalid",
    /// An attempt is no safe integer from 1.
    AttemptInvalid = "task_artifact_owner_continuation_attempt_invalid",
    /// An outcome is malformed.
    OutcomeInvalid = "task_artifact_owner_retirement_outcome_invalid",
    /// A continuation is malformed or goes beyond its evidence.
    ContinuationInvalid = "task_artifact_owner_continuation_invalid",
    /// Evidence, a parent identity or a tree is malformed.
    EvidenceInvalid = "task_artifact_owner_evidence_invalid",
    /// An owner locator is malformed.
    LocatorInvalid = "task_artifact_owner_locator_invalid",
    /// The transcript names no owner.
    LocatorMissing = "task_artifact_owner_locator_missing",
    /// The sessions root is not absolute and normalised.
    RootInvalid = "task_artifact_owner_root_invalid",
    /// A session id is empty.
    SessionIdInvalid = "task_artifact_owner_session_id_invalid",
    /// A transcript has no header of its session.
    TranscriptHeaderInvalid = "task_artifact_owner_transcript_header_invalid",
    /// The owner manifest is malformed.
    ManifestInvalid = "task_artifact_owner_manifest_invalid",
    /// The owner manifest is of another owner or directory.
    ManifestMismatch = "task_artifact_owner_manifest_mismatch",
    /// The owner has no manifest.
    ManifestMissing = "task_artifact_owner_manifest_missing",
    /// The owner, or the directory of owners, does not exist.
    OwnerMissing = "task_artifact_owner_missing",
    /// The owner, or the directory of owners, is no real directory.
    OwnerReplaced = "task_artifact_owner_replaced",
    /// The owner's directory is not the one that its locator names.
    OwnerIdentityMismatch = "task_artifact_owner_identity_mismatch",
    /// The owner is another session's.
    SessionMismatch = "task_artifact_owner_session_mismatch",
    /// A publication into the owner is not finished.
    WriterNotQuiescent = "task_artifact_owner_writer_not_quiescent",
    /// The directory of owners is another object after a capture than before.
    ParentChangedDuringCapture = "task_artifact_owner_parent_changed_during_capture",
    /// A scope cannot be authenticated, so nothing of the profile is.
    ScopeAuthorityMismatch = "managed_gc_scope_authority_mismatch",
    /// A relative path leaves its tree.
    RelativePathInvalid = "task_artifact_owner_relative_path_invalid",
    /// The directory of owners is not the evidenced one.
    ParentIdentityMismatch = "task_artifact_owner_parent_identity_mismatch",
    /// An owner that is said to be retired is still there.
    PhysicalRetirementUnverified = "task_artifact_owner_physical_retirement_unverified",
    /// Another object stands where the retained root should be.
    RetainedRootReplaced = "task_artifact_owner_retained_root_replaced",
    /// The retained tree is missing or has grown.
    RetainedTreeMismatch = "task_artifact_owner_retained_tree_mismatch",
    /// Payload came back after it was durably taken away.
    RetiredPayloadChanged = "task_artifact_owner_retired_payload_changed",
    /// A receipt to be written is above 64 MiB.
    ReceiptCapacityExceeded = "managed_gc_receipt_capacity_exceeded",
    /// Stored receipts are above a quota: neither corrupt nor absent.
    JournalCapacityExceeded = "managed_gc_journal_capacity_exceeded",
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Locator => Refusal::LocatorInvalid,
            Invalid::Evidence => Refusal::EvidenceInvalid,
        }
    }
}
