//! The twenty points of chapter 02a, by number: what running gjc showed where the chapter says something else or nothing. Each
//! is a set of recorded trees whose answers must be predicted, and, where a check tells the user about it, the code.

use crate::trees_suite::{case_of, holds};
use crate::{tree, trees_suite};
use gjc_fsck::check::run::{Target, run};
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::Real;
use serde_json::{Value, json};

/// Codes that checking a recorded tree gives, once each.
fn codes(name: &str) -> Vec<&'static str> {
    codes_in(&tree::Tree::of_case(&case_of(name)))
}
fn codes_in(tree: &tree::Tree) -> Vec<&'static str> {
    let options = tree::checking(Release::V0_15, 1);
    let run = run(vec![Target::Path(tree.root.join("agent"))], &options, &Real, &|_| {});
    run.findings.iter().map(|finding| finding.code.name).collect()
}
#[track_caller]
fn tells(name: &str, code: &str) {
    let found = codes(name);
    assert!(found.contains(&code), "{name}: {code} is not among {found:?}");
}
#[track_caller]
fn silent(name: &str, code: &str) {
    let found = codes(name);
    assert!(!found.contains(&code), "{name}: {code} is among {found:?}");
}

/// What is predicted for a recorded tree, some text of its recipe replaced, whatever was recorded for it.
#[track_caller]
fn asked(name: &str, (from, to): (&str, &str), ask: Value) -> (String, String) {
    let recipe = case_of(name).to_string();
    assert!(from.is_empty() || recipe.contains(from), "{name}: the change changes something: {from}");
    let case: Value = serde_json::from_str(&if from.is_empty() { recipe } else { recipe.replace(from, to) }).unwrap();
    let answer = trees_suite::answer(&tree::Tree::of_case(&case), &ask, Release::V0_15);
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("code"))
}
fn said(kind: &str, code: &str) -> (String, String) {
    (kind.to_owned(), code.to_owned())
}
const AS_RECORDED: (&str, &str) = ("", "");

#[test]
fn point_01_a_migration_that_stopped_with_detached_artifacts_never_finishes() {
    holds(&["interrupted-detached-prepared-only", "interrupted-prepared-with-artifacts", "interrupted-detached-original-back"]);
    tells("interrupted-detached-prepared-only", "migration_prepared_stale");
    silent("interrupted-prepared-with-artifacts", "migration_prepared_stale");
}
#[test]
fn point_02_a_deleted_copy_with_its_receipt_cannot_be_migrated_again() {
    holds(&[
        "receipt-destination-deleted",
        "interrupted-committed-stale-blocks",
        "interrupted-committed-garbage-blocks",
        "receipt-destination-deleted-source-touched",
    ]);
    tells("receipt-destination-deleted", "migration_destination_missing");
}
#[test]
fn point_03_a_dangling_symlink_at_the_destination_is_a_durability_failure() {
    holds(&["migration-destination-symlink-dangling"]);
    tells("migration-destination-symlink-dangling", "destination_conflict");
    // Behind the link stands another file.
    let open = json!({ "op": "open", "cwd": "ws/a", "session": "s1" });
    let existing = asked("migration-destination-symlink-dangling", ("{{root}}/nowhere", "{{root}}/agent"), open);
    assert_eq!(existing, said("error", "destination_conflict"));
}
#[test]
fn point_04_an_invalid_replacement_receipt_blocks_only_mutations_through_the_store() {
    holds(&["replace-blocks-new-scope-only-on-write", "migration-invalid-replacement-receipt"]);
    tells("replace-blocks-new-scope-only-on-write", "managed_replace_cleanup_receipt_invalid");
}
#[test]
fn point_05_only_the_asynchronous_prepare_resumes_tombstones() {
    holds(&["tombstone-sync-prepare-does-not-resume", "cleanup-locked"]);
    tells("tombstone-sync-prepare-does-not-resume", "cleanup_pending");
}
#[test]
fn point_06_only_the_synchronous_prepare_heals_modes() {
    holds(&["security-heal-transcript-0644", "security-heal-artifacts", "residue-recovery-in-scope-0755-migrate"]);
    tells("security-heal-transcript-0644", "descendant_mode_drift");
}
#[test]
fn point_07_migration_retired_appears_only_for_a_completed_tombstone() {
    holds(&["tombstone-retired-open", "cleanup-completed-transcript-present", "delete-open-after-delete"]);
    tells("cleanup-completed-transcript-present", "retired_session_present");
}
#[test]
fn point_08_a_bad_recovery_directory_is_never_repaired() {
    holds(&[
        "residue-recovery-mode-0755",
        "residue-recovery-symlink",
        "residue-recovery-in-scope-0755-migrate",
        "residue-recovery-in-scope-file",
    ]);
    tells("residue-recovery-mode-0755", "recovery_dir_invalid");
    tells("residue-recovery-in-scope-file", "recovery_dir_invalid");
}
#[test]
fn point_09_the_tombstone_is_published_before_the_artifacts_are_checked() {
    holds(&["artifacts-v2-unsafe-delete", "delete-artifact-hard-link"]);
    tells("artifacts-v2-unsafe-delete", "unsafe_artifacts");
}
#[test]
fn point_10_a_changed_session_of_an_unfinished_tombstone_is_listed_and_does_not_open() {
    holds(&["tombstone-grew-after-retirement-reconcile", "cleanup-pending-gap"]);
    tells("tombstone-grew-after-retirement-reconcile", "retired_session_changed");
    let open = |session: &str| json!({ "op": "open", "cwd": "ws/a", "session": session });
    assert_eq!(asked("tombstone-grew-after-retirement-reconcile", AS_RECORDED, open("s1")), said("error", "binding_invalid"));
    assert_eq!(asked("cleanup-pending-gap", AS_RECORDED, open("s2")), said("opened", ""), "a session of another id opens");
}
#[test]
fn point_11_the_listing_and_the_resuming_code_read_tombstones_differently() {
    holds(&["tombstone-target-provenance-other", "tombstone-target-outside-root", "tombstone-target-null"]);
    tells("tombstone-target-provenance-other", "managed_gc_protocol_tombstone_invalid");
    // The other way round: a target whose cwd is spelled differently is visible, and the next asynchronous prepare deletes it.
    let spelled = (
        r#"\"sessionId\":\"s1\",\"cwd\":\"{{root}}/ws/a\",\"provenance\""#,
        r#"\"sessionId\":\"s1\",\"cwd\":\"{{root}}/./ws/a\",\"provenance\""#,
    );
    let case = case_of("tombstone-retired-present").to_string();
    let tree = tree::Tree::of_case(&serde_json::from_str(&case.replace(spelled.0, spelled.1)).unwrap());
    let ask = |ask: Value| trees_suite::answer(&tree, &ask, Release::V0_15);
    let listed = ask(json!({ "op": "list", "cwd": "ws/a" }));
    assert!(listed["owned"].as_array().unwrap().iter().any(|owned| owned["sessionId"] == "s1"), "{listed}");
    assert_eq!(ask(json!({ "op": "reconcile", "cwd": "ws/a" }))["kind"], "resolved");
    assert!(codes_in(&tree).contains(&"retired_session_listed"), "{:?}", codes_in(&tree));
}
#[test]
fn point_12_dot_dot_is_resolved_physically() {
    holds(&["security-workspace-dot-dot-symlink", "transcript-cwd-dot-segments"]);
    let resolve = |cwd: &str| asked("healthy-one-scope", AS_RECORDED, json!({ "op": "resolve", "cwd": cwd }));
    assert_eq!(resolve("ws/a/../a"), said("resolved", ""));
    assert_eq!(resolve("ws/x/../a"), said("error", "cwd_missing"), "the kernel looks for `x`");
}
#[test]
fn point_13_quarantines_grow_with_every_start() {
    holds(&["migration-simple", "artifacts-files"]);
    tells("residue-recovery-in-scope", "recovery_quarantine");
    silent("migration-simple", "recovery_quarantine");
}
#[test]
fn point_14_one_drifted_entry_re_secures_the_whole_tree() {
    holds(&["security-heal-drift-resets-all"]);
    tells("security-heal-drift-resets-all", "descendant_mode_drift");
}
#[test]
fn point_14_a_fifo_with_group_bits_stops_every_start() {
    use gjc_fsck::agent::predict;
    let scope = "agent/sessions/v2-{{digest:ws/a}}";
    let with = |mode: &str| {
        let fifo = serde_json::json!({ "path": format!("{scope}/pipe"), "type": "fifo", "mode": mode });
        let tree = tree::Tree::of_case(&serde_json::json!({ "workspaces": ["ws/a"], "nodes": [fifo], "expect": [] }));
        let world = trees_suite::world(&tree, Release::V0_15);
        predict::prepare(&world, &tree.root.join("ws/a")).map(|_| ()).map_err(|refused| (refused.code, refused.diagnostic))
    };
    assert_eq!(with("0644"), Err(("binding_invalid", Some("prepare:store"))));
    assert_eq!(with("0600"), Ok(()));
}
#[test]
fn point_15_a_canonical_receipt_is_never_parsed_and_a_pending_name_may_end_in_anything() {
    holds(&["replace-canonical-not-json", "replace-canonical-empty-own-inode"]);
    tells("replace-canonical-not-json", "replacement_receipt_pending");
}
#[test]
fn point_16_an_unreadable_pending_record_is_an_error_in_effect() {
    holds(&["cleanup-pending-symlink"]);
    tells("cleanup-pending-symlink", "reparse_point");
}
#[test]
fn point_17_an_invalid_completed_record_stays_and_its_work_is_repeated() {
    holds(&["cleanup-completed-schema-2", "cleanup-completed-attempt-2"]);
    tells("cleanup-completed-schema-2", "managed_gc_protocol_tombstone_completion_invalid");
}
#[test]
fn point_18_the_picker_shows_one_entry_per_id() {
    holds(&["transcript-duplicate-id"]);
    tells("transcript-duplicate-id", "duplicate_session_id");
}
#[test]
fn point_19_a_leftover_detached_root_is_looked_at_only_with_artifacts() {
    holds(&["migration-leftover-detached-root", "migration-leftover-detached-root-with-artifacts"]);
    tells("migration-leftover-detached-root", "migration_artifacts_detached");
}
#[test]
fn point_20_an_agent_directory_that_is_a_link_to_nowhere_or_a_loop() {
    holds(&["security-agent-symlink-dangling", "security-agent-symlink-loop"]);
    tells("security-agent-symlink-dangling", "agent_dir_missing");
    let case = json!({ "workspaces": ["ws/a"], "nodes": [{ "path": "agent", "type": "file", "text": "" }], "expect": [] });
    let tree = tree::Tree::of_case(&case);
    let answer = trees_suite::answer(&tree, &json!({ "op": "resolve", "cwd": "ws/a" }), Release::V0_15);
    assert_eq!((answer["code"].as_str(), answer.get("classification")), (Some("sessions_root_unavailable"), None), "{answer}");
}
