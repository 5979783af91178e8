//! Words that gjc prints and that are no codes: results, reasons of its garbage collection, stages, errors of operations.
//! `explain` answers them, with the codes that lead to them. (Words that are codes, or tokens of codes, are not here.)

/// One word of gjc.
#[derive(Debug)]
pub struct Word {
    /// As gjc prints it.
    pub name: &'static str,
    /// What it says, one sentence.
    pub meaning: &'static str,
    /// Codes whose findings lead to it or say more; may be empty.
    pub codes: &'static [&'static str],
}

const fn word(name: &'static str, meaning: &'static str, codes: &'static [&'static str]) -> Word {
    Word { name, meaning, codes }
}

/// The words, by subject.
pub static WORDS: &[Word] = &[
    // Results of the check before resuming, and states of a candidate.
    word("resumable", "The session can be resumed, and the model's answer is due.", &[]),
    word(
        "terminal",
        "The session can be resumed with a new prompt: its last message is the assistant's, or it has none.",
        &["toolcall_abandoned"],
    ),
    word("native_v2", "The session was made in the present layout.", &["migration_source_missing"]),
    word("migrated_v2", "The session was copied from the old layout, and its receipt proves it.", &["legacy_shadowed"]),
    word("invalid_candidate", "A listing word that gjc knows and never prints.", &["candidate_invalid"]),
    // Why a migrated or deleted thing was left alone, and identity answers.
    word("not_found", "The workspace does not exist.", &["workspace_missing", "cwd_not_found"]),
    word("not_directory", "Something else stands where a directory is required.", &["cwd_not_directory", "reparse_point"]),
    word("not_file", "Something else stands where a file is required.", &["special_file", "binding_invalid"]),
    word("not_utf8", "A path is not valid UTF-8.", &["cwd_not_utf8", "name_not_utf8"]),
    word("io_error", "The operating system failed.", &["cwd_io_error", "acl_io_error", "object_unreadable"]),
    word("acl_apply_failed", "gjc could not set the access rules of a file.", &["acl_verify_failed"]),
    word("unexpected_security_state", "gjc met an access state that it has no word for.", &["acl_unknown"]),
    word(
        "directory_not_empty",
        "A directory that must stay empty during a migration holds something.",
        &["exchange_placeholder_not_empty"],
    ),
    word("already_absent", "There was no access control list to remove.", &[]),
    // Stages of starting in a workspace (`prepare:…`).
    word("retained_identity", "Stage of starting: the workspace's identity.", &["identity_unavailable"]),
    word("root_authority", "Stage of starting: the agent directory.", &["agent_dir_mode_drift", "owner_mismatch", "agent_dir_missing"]),
    word("sessions_root", "Stage of starting: the `sessions` directory.", &["sessions_root_unavailable", "agent_dir_mode_drift"]),
    word("scope_directory", "Stage of starting: the workspace's scope directory.", &["mode_mismatch", "reparse_point"]),
    word("scope_identity", "Stage of starting: the scope directory was replaced.", &["concurrent_change"]),
    word("retained_authority", "Stage of starting: the recovery folder of the agent directory.", &["recovery_dir_invalid"]),
    word(
        "binding_publish",
        "Stage of starting: writing the binding file.",
        &["managed_replace_cleanup_receipt_invalid", "binding_missing"],
    ),
    word("binding_read", "Stage of starting: reading the binding file.", &["binding_invalid", "hard_linked_protocol_file"]),
    word("binding_validate", "Stage of starting: the binding belongs to another workspace.", &["binding_conflict"]),
    word("scope_revalidate", "Stage of starting: the scope changed meanwhile.", &["concurrent_change"]),
    word("internal_directory", "Stage of starting: the protocol directory.", &["managed_gc_protocol_directory_invalid"]),
    word("locks_directory", "Stage of starting: the directory of locks.", &["managed_gc_protocol_directory_invalid"]),
    word("receipts_directory", "Stage of starting: the directory of receipts.", &["managed_gc_protocol_directory_invalid"]),
    word("tombstones_directory", "Stage of starting: the directory of deletion records.", &["managed_gc_protocol_directory_invalid"]),
    // `gjc gc`: sessions.
    word("approaching_limit", "`gjc gc`: a workspace fills three quarters of 512 MiB.", &["scope_near_capacity"]),
    word("over_limit", "`gjc gc`: a workspace holds more than 512 MiB.", &["scope_capacity_exceeded"]),
    word("session_scope", "`gjc gc`: the record about the size of a workspace.", &["scope_near_capacity", "scope_capacity_exceeded"]),
    word("most_recent_resumable_session", "`gjc gc --disk` keeps the newest session of each directory.", &[]),
    word("newer_than_max_age", "`gjc gc --disk` keeps a session that is younger than the limit.", &[]),
    word("older_than_max_age", "`gjc gc --disk` may collect a session that is older than the limit.", &[]),
    word("over_max_total_bytes", "`gjc gc --disk` may collect a session because all together are too large.", &[]),
    word("referenced_by_live_surface", "`gjc gc --disk` keeps a session that is in use.", &[]),
    word(
        "retention_declined",
        "`gjc gc --disk` keeps a session that it could not prove collectable; the word behind it says why.",
        &["transcript_unreadable", "transcript_header_unusable", "transcript_not_single_link"],
    ),
    word("retention_incomplete", "`gjc gc --disk` began to collect a session and did not finish.", &["gc_retirement_pending"]),
    word("reference_scan_incomplete", "`gjc gc --disk` could not read every session.", &["blob_scan_incomplete"]),
    word("transcript_not_deleted", "`gjc gc --disk` did not delete the transcript in the end.", &["cleanup_pending"]),
    word(
        "transcript_missing_before_artifact_phase",
        "`gjc gc --disk` found receipts of a session whose transcript is gone; nothing was removed yet.",
        &["gc_receipt_orphan_transcript_missing"],
    ),
    word(
        "transcript_missing_without_verified_retirement",
        "`gjc gc --disk` found receipts of a session whose transcript is gone, and its artifacts are not proven gone.",
        &["gc_receipt_orphan_transcript_missing"],
    ),
    word("artifacts_removed", "State of a collection: the session's artifacts are gone.", &["gc_retirement_pending"]),
    word("owner_pending", "State of a collection: the task artifacts are being removed.", &["gc_retirement_pending"]),
    word("owner_retired", "State of a collection: the task artifacts are gone.", &["task_artifact_owner_physical_retirement_unverified"]),
    word(
        "payload_retired",
        "The files of the task artifacts were emptied; their names are kept.",
        &["task_artifact_owner_retired_payload_changed"],
    ),
    // `gjc gc`: blobs.
    word("referenced_by_surviving_session", "`gjc gc --disk` keeps a blob that a session refers to.", &[]),
    word("within_write_grace_window", "`gjc gc --disk` keeps a blob that is younger than 24 hours.", &[]),
    word("unreferenced_by_any_surviving_session", "`gjc gc --disk` may collect a blob.", &["blob_unreferenced", "blob_gc_hazard"]),
    word(
        "withheld_evidence_incomplete",
        "`gjc gc --disk` collects no blob, because it could not read every session.",
        &["blob_scan_incomplete"],
    ),
    word("sessions_root_unreadable", "`gjc gc --disk` could not list the sessions.", &["sessions_root_unavailable", "object_unreadable"]),
    word("session_project_dir_unreadable", "`gjc gc --disk` could not list a session directory.", &["object_unreadable"]),
    word("transcript_unstattable", "`gjc gc --disk` could not look at a transcript.", &["object_unreadable"]),
    word("transcript_unreadable_during_mark", "`gjc gc --disk` could not read a transcript.", &["object_unreadable"]),
    word(
        "sessions_changed_during_mark",
        "`gjc gc --disk` collects no blob, because sessions were written meanwhile.",
        &["concurrent_change"],
    ),
    word("blob_disappeared", "A blob was gone when `gjc gc --disk` wanted to remove it.", &["concurrent_change"]),
    word("blob_not_plain_file", "A blob is no plain file with one name.", &["blob_foreign_entry"]),
    word("blob_changed", "A blob was written again when `gjc gc --disk` wanted to remove it.", &["concurrent_change"]),
    word("blob_reference_evidence_changed", "Sessions changed when `gjc gc --disk` wanted to remove a blob.", &["concurrent_change"]),
    word("BlobCorruptError", "A blob's content does not match its name.", &["blob_hash_mismatch"]),
    word("unverified_entry", "`gjc gc --disk` found a symlink or special file among artifacts.", &["unsafe_artifacts"]),
    // The inspector, when the tree moves.
    word("managed_gc_protocol_binding_changed", "A binding file changed during an inspection.", &["concurrent_change"]),
    word("managed_gc_protocol_directory_changed", "A protocol directory changed during an inspection.", &["concurrent_change"]),
    word("managed_gc_protocol_file_changed", "A protocol file changed during an inspection.", &["concurrent_change"]),
    word("managed_gc_protocol_journal_changed", "A collection journal changed during an inspection.", &["concurrent_change"]),
    word("managed_gc_protocol_tree_changed", "The protocol directories changed during an inspection.", &["concurrent_change"]),
    // Reasons inside a collection's outcome.
    word("task_artifact_owner_namespace_unverified", "The directory of artifact owners is not private.", &["owner_scan_blocked"]),
    word("task_artifact_owner_parent_unavailable", "The directory of artifact owners cannot be read.", &["task_artifact_owner_missing"]),
    word(
        "task_artifact_owner_parent_identity_changed",
        "The directory of artifact owners is not the recorded one.",
        &["task_artifact_owner_parent_identity_mismatch"],
    ),
    word(
        "task_artifact_owner_retained_tree_unavailable",
        "The kept remains of an artifact owner cannot be read.",
        &["task_artifact_owner_retained_tree_mismatch"],
    ),
    word(
        "task_artifact_owner_changed_since_capture",
        "An artifact owner was written after its collection was prepared.",
        &["task_artifact_owner_writer_not_quiescent"],
    ),
    word(
        "task_artifact_owner_retained_root_not_found_or_unverified",
        "None of the places where an artifact owner may be holds the recorded one.",
        &["task_artifact_owner_retained_tree_mismatch"],
    ),
    word(
        "task_artifact_owner_native_removal_uncertain",
        "It is not known whether the removal of an artifact owner succeeded.",
        &["gc_retirement_pending"],
    ),
    word(
        "task_artifact_owner_identity_unverified",
        "The manifest or the directory of an artifact owner is not the recorded one.",
        &["task_artifact_owner_identity_mismatch"],
    ),
    word(
        "task_artifact_owner_parent_identity_changed_after_removal",
        "The directory of artifact owners became another one during a removal.",
        &["task_artifact_owner_parent_identity_mismatch"],
    ),
    word(
        "task_artifact_owner_native_retained_state_unrecognized",
        "A removal left something behind under a name that gjc does not know.",
        &["gc_retirement_pending"],
    ),
    word(
        "task_artifact_owner_native_retained_state_unverified",
        "What a removal left of an artifact owner is more than the recorded tree.",
        &["task_artifact_owner_retained_tree_mismatch"],
    ),
    word(
        "task_artifact_owner_native_success_retained_authority",
        "A removal said that it succeeded, and something of the artifact owner is still there.",
        &["task_artifact_owner_physical_retirement_unverified"],
    ),
    word(
        "task_artifact_owner_root_mismatch",
        "A session names an artifact owner of another sessions directory.",
        &["task_artifact_owner_locator_invalid"],
    ),
    word(
        "task_artifact_owner_context_missing",
        "gjc cannot collect the task artifacts without knowing their session.",
        &["task_artifact_owner_locator_missing"],
    ),
    word("task_artifact_owner_continuation_state_changed", "A collection journal changed while it was read.", &["concurrent_change"]),
    word(
        "task_artifact_owner_orphan_transcript_reappeared",
        "A transcript that was gone is back.",
        &["task_artifact_owner_continuation_transcript_replaced"],
    ),
    word("task_artifact_owner_memory_backend_unsupported", "Sessions in memory cannot own task artifacts.", &[]),
    // Moving, forking, staging, importing: errors of the operation, nothing on disk to find.
    word("artifact_source_changed", "`/move`: the artifacts changed meanwhile.", &["concurrent_change"]),
    word("artifact_destination_mismatch", "`/move` or fork: the copied artifacts are not the source's.", &["concurrent_change"]),
    word("artifact_staging_root_changed", "A staging folder of artifacts was replaced.", &["staged_transcript_left"]),
    word("managed_transcript_publish_missing", "`/move`: the copied transcript is not there.", &["duplicate_session_id"]),
    word("managed_move_destination_transcript_changed", "`/move`: the copied transcript changed meanwhile.", &["duplicate_session_id"]),
    word("managed_move_destination_artifacts_changed", "`/move`: the copied artifacts changed meanwhile.", &["duplicate_session_id"]),
    word("managed_move_source_restore_mismatch", "`/move`: the source could not be put back as it was.", &["duplicate_session_id"]),
    word("managed_fork_transcript_changed", "Fork: the new transcript changed meanwhile.", &["concurrent_change"]),
    word(
        "managed_append_identity_mismatch",
        "The transcript was replaced under a running session, which then ends.",
        &["identity_mismatch", "hard_linked_transcript"],
    ),
    word("session_persistence_input_stale", "A write was prepared for an older state of the session; gjc tries again.", &[]),
    word("staged_memory_capacity_exceeded", "An unpublished session in memory is larger than 20 MiB.", &[]),
    word("model_profile_ownership_invalid", "A record of who chose the model profile is malformed.", &["entry_crashes_replay"]),
    word("source_not_found", "Import: the file does not exist.", &[]),
    word("unsupported_format", "Import: the file is of no known kind.", &["not_a_session"]),
    word("malformed_input", "Import: the file is damaged.", &[]),
    // The index of large transcripts.
    word("base_invalid", "The index of a session does not begin as it should.", &["sidecar_stale"]),
    word("chain_invalid", "The records of a session's index do not follow each other.", &["sidecar_stale"]),
    word("seq_discontinuity", "A number is missing in a session's index.", &["sidecar_stale"]),
    word("offset_discontinuity", "A piece is missing in a session's index.", &["sidecar_stale"]),
    word("checksum_mismatch", "A record of a session's index is damaged.", &["sidecar_stale"]),
    word("terminal_checksum_mismatch", "The end of a session's index is damaged.", &["sidecar_stale"]),
    word("terminal_seq_mismatch", "The end of a session's index has another number than its commit.", &["sidecar_stale"]),
    word("transcript_size_mismatch", "A session's index was made for another size.", &["sidecar_stale"]),
    word("descriptor_mismatch", "A session's index was made for another file.", &["sidecar_stale"]),
    word("transcript_ahead", "The transcript grew behind its index; gjc catches up.", &["sidecar_stale"]),
    word("tail_ahead", "The index goes further than the transcript.", &["sidecar_stale"]),
    word("stale_commit", "The index was made for an older state.", &["sidecar_stale"]),
];

/// The word with this name.
pub fn word_named(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_is_here_once_and_is_no_code() {
        let mut names = BTreeSet::new();
        for word in WORDS {
            assert!(names.insert(word.name), "{} twice", word.name);
            assert!(check::code(word.name).is_none(), "{} is a code", word.name);
            assert!(word.meaning.ends_with('.'), "{}", word.name);
        }
    }

    #[test]
    fn what_gjc_says_of_a_retirement_can_be_explained() {
        let reasons = crate::gc::attempt::Reason::ALL.map(|reason| reason.text().to_string());
        let refusals = crate::gc::Refusal::ALL.iter().map(|refusal| refusal.token().to_owned());
        for token in reasons.into_iter().chain(refusals) {
            assert!(check::code(&token).is_some() || word_named(&token).is_some(), "{token}");
        }
    }

    #[test]
    fn every_word_leads_to_codes_that_exist() {
        for word in WORDS {
            for code in word.codes {
                assert!(check::codes().any(|known| known.name == *code), "{} leads to {code}", word.name);
            }
        }
    }
}
