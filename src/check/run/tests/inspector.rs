//! The strict inspector as gjc would answer: the first thing that is wrong, in gjc's order, with the file it is about.

use super::managed::{as_is, cleanup, edit, migrated, put_tombstone};
use super::retirement::{Retirement, owner};
use super::*;
use crate::agent::tombstone::CleanupState;
use crate::agent::world::World;
use crate::fsys::host::Nowhere;
use crate::gc::inspector::{Answer, Inspection, inspect};
use crate::gc::{Progress, State};

fn inspected(fs: &dyn Fs) -> Inspection {
    inspect(&World::of_agent(fs, &Nowhere, Release::V0_17, 1000, "/a"), None)
}
/// gjc's message for the whole profile; operation names as `OP`, keys as `KEY`.
fn message(fs: &dyn Fs) -> String {
    let answer = inspected(fs).answer;
    let message = match answer {
        Answer::Accepts => "accepts".to_owned(),
        Answer::Refuses { message, .. } => message,
        Answer::Unknown { path } => format!("unknown: {path}"),
    };
    let is_hex = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = message.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    parts
        .map(|part| if is_hex(&part[..part.len().min(64)]) && part.len() <= 65 { format!("HEX{}", &part[64..]) } else { part.to_owned() })
        .collect()
}
fn after(change: impl FnOnce(&Tree)) -> String {
    let tree = Tree::new();
    change(&tree);
    message(&tree.fs)
}
fn at(tree: &Tree, name: &str) -> String {
    tree.at(&format!("{INTERNAL}/{name}"))
}
const OP: &str = "abababababababababababababababababababababababababababababababab";
const ACCEPTS: &str = "accepts";

/// The clean tree with the journal of an owner that is retired, its transcript deleted for good.
fn deleted(change: impl Fn(String) -> String, completed: impl Fn(String) -> String) -> Retirement {
    let journal = Retirement::new();
    let tree = &journal.tree;
    let evidence = {
        let text = String::from_utf8(journal.prepared.encode().unwrap()).unwrap();
        let (_, evidence) = text.split_once("\"taskArtifactOwnerDeletionEvidence\":").unwrap();
        evidence.trim_end().strip_suffix('}').unwrap().to_owned()
    };
    let claims = format!("\"taskArtifactOwnerDeletionEvidence\":{evidence}");
    let (_, identity) = put_tombstone(tree, |text| text.replace("\"provenance\"", &format!("{claims},\"provenance\"")));
    let flag = |text: String| {
        change(text.replace("\"plannedArtifactsPath\"", "\"taskArtifactOwnerTranscriptDeleted\":true,\"plannedArtifactsPath\""))
    };
    cleanup(tree, &identity, CleanupState::Pending, 1, flag);
    let outcome =
        format!(r#""taskArtifactOwnerRetirementOutcome":{{"kind":"completed","evidence":{evidence},"nativeOutcome":{{"ok":true}}}}"#);
    let ten = format!(r#",{claims},{outcome},"taskArtifactOwnerRetired":true,"taskArtifactOwnerTranscriptDeleted":true}}"#);
    cleanup(tree, &identity, CleanupState::Completed, 1, |text| completed(format!("{}{ten}", text.strip_suffix('}').unwrap())));
    tree.fs.remove(tree.transcript());
    let journal = journal.with(0);
    journal.store(&journal.receipt(Progress::OwnerRetired));
    journal.tree.fs.remove(owner());
    journal
}

#[test]
fn a_clean_profile_is_accepted() {
    assert_eq!(after(|_| ()), ACCEPTS);
    assert_eq!(after(|tree| tree.fs.remove(tree.at(INTERNAL))), ACCEPTS, "without a protocol directory there is nothing to inspect");
    assert_eq!(message(&Retirement::new().with(2).tree.fs), ACCEPTS, "a journal under way");
}

#[test]
fn discovery_is_asked_first() {
    let journal = Retirement::new().with(0);
    journal.tree.fs.remove(journal.path(State::Prepared));
    journal.tree.fs.directory(at(&journal.tree, "more"));
    let found = inspected(&journal.tree.fs);
    assert_eq!(found.answer.message(), Some("task_artifact_owner_continuation_state_missing"));
    let [scope] = found.scopes.as_slice() else { panic!("{found:?}") };
    assert_eq!(scope.answer.message(), Some("managed_gc_protocol_roles_invalid"), "the scope by itself");
}

#[test]
fn a_journal_above_its_capacity_is_told_bare() {
    let tree = Tree::new();
    for number in 0..=crate::gc::budget::MAX_ENTRIES {
        tree.fs.file(at(&tree, &format!("receipts/gc-retirement-{number}")), b"");
    }
    assert_eq!(message(&tree.fs), "managed_gc_journal_capacity_exceeded");
}

#[test]
fn directories() {
    assert_eq!(after(|tree| tree.fs.directory(at(tree, "more"))), "managed_gc_protocol_roles_invalid");
    assert_eq!(after(|tree| tree.fs.remove(at(tree, LOCKS))), "managed_gc_protocol_roles_invalid");
    assert_eq!(after(|tree| tree.fs.chmod(tree.at(INTERNAL), 0o755)), "managed_gc_protocol_directory_invalid");
    assert_eq!(after(|tree| tree.fs.chmod(at(tree, LOCKS), 0o755)), "managed_gc_protocol_directory_invalid");
    assert_eq!(after(|tree| tree.fs.chmod(at(tree, RECEIPTS), 0o755)), "managed_gc_scope_authority_mismatch", "discovery reads this one");
}

/// A file that vanishes between the listing of its role and its reading.
#[test]
fn a_file_that_was_listed_and_is_gone_is_missing() {
    let tree = Tree::new();
    let lock = at(&tree, &format!("locks/{OP}.lock"));
    tree.fs.file(&lock, b"{}");
    let gone = Inject::new(&tree.fs, |call| {
        if call.op == "open" && call.path == Path::new(&lock) && call.phase == Phase::Before {
            tree.fs.remove(&lock);
        }
        None
    });
    assert_eq!(message(&gone), "managed_gc_protocol_file_missing [locks/HEX.lock]");
}

/// Another object under the same name, put there while a lock is read: told before whatever changed with it.
#[test]
fn what_is_replaced_while_it_is_inspected_has_a_token_of_its_own() {
    let replaced = |which: fn(&Tree) -> PathBuf| {
        let tree = Tree::new();
        let lock = at(&tree, &format!("locks/{OP}.lock"));
        let now =
            serde_json::json!({"attemptId": "a", "processStartId": "p", "pid": 1, "createdAt": 1, "heartbeatAt": 1, "leaseExpiresAt": 1});
        tree.fs.file(&lock, now.to_string().as_bytes());
        let inject = Inject::new(&tree.fs, |call| {
            if call.op == "open" && call.path == Path::new(&lock) && call.phase == Phase::After {
                tree.fs.renumber(which(&tree), 900_000);
            }
            None
        });
        message(&inject)
    };
    assert_eq!(replaced(|_| "/nowhere".into()), ACCEPTS);
    assert_eq!(replaced(|_| "/a".into()), "managed_gc_protocol_root_identity_mismatch");
    assert_eq!(replaced(|_| "/a/sessions".into()), "managed_gc_protocol_root_identity_mismatch");
    assert_eq!(replaced(|tree| tree.scope.clone().into()), "managed_gc_protocol_scope_identity_mismatch");
    assert_eq!(replaced(|tree| at(tree, "locks").into()), "managed_gc_protocol_directory_identity_mismatch");
    assert_eq!(replaced(|tree| tree.at(BINDING).into()), "managed_gc_protocol_binding_identity_mismatch");
}

#[test]
fn names_and_files_of_any_role() {
    let with = |name: &str, bytes: &[u8]| after(|tree| tree.fs.file(at(tree, name), bytes));
    assert_eq!(with("locks/x.jsonl", b""), "managed_gc_protocol_entry_invalid:locks/x.jsonl");
    let lock = format!("locks/{OP}.lock");
    let changed = |change: &dyn Fn(&Tree, String)| {
        after(|tree| {
            tree.fs.file(at(tree, &lock), b"{}");
            change(tree, at(tree, &lock));
        })
    };
    assert_eq!(changed(&|tree, path| tree.fs.chmod(path, 0o644)), "managed_gc_protocol_file_invalid [locks/HEX.lock]");
    assert_eq!(changed(&|tree, path| tree.fs.hard_link(path, "/b")), "managed_gc_protocol_file_invalid [locks/HEX.lock]");
    assert_eq!(changed(&|_, _| ()), "managed_gc_protocol_lock_invalid [locks/HEX.lock]", "the file itself is sound");
}

#[test]
fn locks() {
    const STALE: &str = "locks/.gjc-lock-00000000-0000-4000-8000-000000000000.stale";
    let with = |name: &str, bytes: &[u8]| after(|tree| tree.fs.file(at(tree, name), bytes));
    assert_eq!(with("locks/x.lock", b"{}"), "managed_gc_protocol_lock_role_invalid [locks/x.lock]");
    assert_eq!(with(STALE, b""), ACCEPTS);
    assert_eq!(with(STALE, b"x"), format!("managed_gc_protocol_lock_quarantine_invalid [{STALE}]"));
    let record = r#"{"attemptId":"a","pid":1,"processStartId":"p","createdAt":1,"heartbeatAt":1,"leaseExpiresAt":1}"#;
    assert_eq!(with(&format!("locks/{OP}.lock"), record.as_bytes()), ACCEPTS, "expired, which is not judged");
}

#[test]
fn receipts_of_migrations() {
    let with = |change: &dyn Fn(&Tree, &str)| {
        after(|tree| {
            let path = migrated(tree);
            change(tree, &path);
        })
    };
    assert_eq!(with(&|_, _| ()), ACCEPTS);
    assert_eq!(
        with(&|tree, path| tree.fs.rename(path, path.replace(".json", ".prepared.json"))),
        "managed_gc_protocol_migration_incomplete [receipts/HEX.prepared.json]"
    );
    assert_eq!(
        with(&|tree, path| edit(tree, path, "\"committed\"", "\"published\"")),
        "managed_gc_protocol_migration_incomplete [receipts/HEX.json]"
    );
    assert_eq!(
        with(&|tree, path| edit(tree, path, "\"source\":{\"path\":", "\"source\":{\"way\":")),
        "managed_gc_protocol_migration_invalid [receipts/HEX.json]"
    );
    // Harmless for daily use, and all the same: the half of a pair that is gone.
    assert_eq!(with(&|tree, _| tree.fs.remove(tree.transcript())), "managed_gc_protocol_migration_authority_mismatch [receipts/HEX.json]");
    assert_eq!(
        with(&|tree, path| {
            tree.fs.remove(path);
            tree.fs.file(path, b"[]");
        }),
        "managed_gc_protocol_record_invalid:receipts/HEX.json [receipts/HEX.json]"
    );
}

#[test]
fn tombstones() {
    let with = |edit: fn(String) -> String| after(|tree| _ = put_tombstone(tree, edit));
    assert_eq!(with(as_is), ACCEPTS);
    assert_eq!(with(|_| "oops".into()), "durability_failed [tombstones/HEX.json]");
    assert_eq!(with(|text| text.replace("\"v2\"", "\"other\"")), "managed_gc_protocol_tombstone_invalid [tombstones/HEX.json]");
    let emptied = |text: String| format!("{}\"targets\":[]}}", text.split_once("\"targets\"").unwrap().0);
    assert_eq!(with(emptied), "managed_gc_protocol_tombstone_invalid [tombstones/HEX.json]", "sound, and of no target");
    assert_eq!(
        with(|text| text.replace("\"state\"", "\"taskArtifactOwnerX\":1,\"state\"")),
        "task_artifact_owner_legacy_scope_unsupported [tombstones/HEX.json]"
    );
    let named = |name: &str| {
        after(|tree| {
            tree.fs.file(at(tree, name), b"{}");
            tree.fs.chmod(at(tree, name), 0o644);
        })
    };
    assert_eq!(named("tombstones/x.json"), "managed_gc_protocol_file_invalid [tombstones/x.json]");
    assert_eq!(
        named("tombstones/x.cleanup-y.json"),
        "managed_gc_protocol_tombstone_role_invalid [tombstones/x.cleanup-y.json]",
        "judged before the file is opened"
    );
}

#[test]
fn cleanup_records() {
    const FILE: &str = "[tombstones/HEX.HEX.cleanup";
    let with = |records: &[(CleanupState, u64)], edit: fn(String) -> String| {
        after(|tree| {
            let (_, identity) = put_tombstone(tree, as_is);
            for (at, (state, attempt)) in records.iter().enumerate() {
                cleanup(tree, &identity, *state, *attempt, |text| if at + 1 == records.len() { edit(text) } else { text });
            }
        })
    };
    use CleanupState::{ArtifactsRemoved, Completed, Pending};
    let all = [(Pending, 1), (ArtifactsRemoved, 1), (Completed, 1)];
    assert_eq!(with(&all, as_is), ACCEPTS);
    assert_eq!(with(&[(Pending, 2)], as_is), format!("durability_failed {FILE}-pending-2.json]"), "the replay throws");
    assert_eq!(
        with(&[(Pending, 1)], |_| "oops".into()),
        format!("managed_gc_protocol_tombstone_history_invalid {FILE}-pending-1.json]"),
        "the replay answers that there is no history"
    );
    assert_eq!(with(&[(ArtifactsRemoved, 1)], as_is), ACCEPTS, "it is judged by itself");
    assert_eq!(
        with(&[(Pending, 1), (ArtifactsRemoved, 1)], |text| text.replace("\"artifacts_removed\"", "\"x\"")),
        format!("managed_gc_protocol_tombstone_artifacts_invalid {FILE}-artifacts_removed-1.json]")
    );
    assert_eq!(
        with(&all, |text| text.replace("\"state\"", "\"note\":1,\"state\"")),
        format!("managed_gc_protocol_tombstone_completion_invalid {FILE}-completed-1.json]")
    );
    assert_eq!(
        with(&all, |_| "[]".into()),
        format!("managed_gc_protocol_record_invalid:tombstones/HEX.HEX.cleanup-completed-1.json {FILE}-completed-1.json]")
    );
    let without = |change: fn(&Tree, &str, &str)| {
        after(|tree| {
            let (tombstone, identity) = put_tombstone(tree, as_is);
            let record = cleanup(tree, &identity, Pending, 1, as_is);
            change(tree, &tombstone, &record);
        })
    };
    assert_eq!(
        without(|tree, tombstone, _| tree.fs.remove(tombstone)),
        format!("managed_gc_protocol_tombstone_authority_missing {FILE}-pending-1.json]")
    );
    assert_eq!(
        without(|tree, tombstone, record| {
            let (_, operation) = tombstone.trim_end_matches(".json").rsplit_once('/').unwrap();
            tree.fs.rename(record, record.replace(&format!(".{operation}."), &format!(".{OP}.")));
        }),
        format!("managed_gc_protocol_tombstone_target_missing {FILE}-pending-1.json]")
    );
}

/// The record of ten members counts when the owner's journal and the last pending record say the same.
#[test]
fn a_completed_deletion_that_took_an_owner_along() {
    const INVALID: &str = "managed_gc_protocol_tombstone_completion_invalid";
    let told = |journal: &Retirement| {
        let found: Vec<String> = journal.found().into_iter().filter(|line| line.starts_with(INVALID)).collect();
        (message(&journal.tree.fs), found.len())
    };
    let invalid = (format!("{INVALID} [tombstones/HEX.HEX.cleanup-completed-1.json]"), 1);
    assert_eq!(told(&deleted(as_is, as_is)), (ACCEPTS.to_owned(), 0));
    let other = |text: String| text.replacen("\"ok\":true", "\"ok\":false", 1);
    assert_eq!(told(&deleted(as_is, other)), invalid, "another outcome");
    let unflagged = |text: String| text.replace("\"taskArtifactOwnerTranscriptDeleted\":true,", "");
    assert_eq!(told(&deleted(unflagged, as_is)), invalid, "the last pending record does not say so");
    let open = deleted(as_is, as_is);
    open.tree.fs.remove(open.path(State::OwnerRetired));
    assert_eq!(told(&open), invalid, "the journal is not at its end");
}

#[test]
fn what_comes_into_being_meanwhile_is_refused() {
    let steps = {
        let tree = Tree::new();
        let inject = Inject::new(&tree.fs, |_| None);
        assert_eq!(message(&inject), ACCEPTS);
        inject.operations()
    };
    let mut told = std::collections::BTreeSet::new();
    for position in 0..steps {
        let tree = Tree::new();
        let inject = Inject::new(&tree.fs, |call| {
            if call.number == position && call.phase == Phase::After {
                tree.fs.file(at(&tree, &format!("receipts/gc-retirement-{OP}-prepared.json")), b"{}");
            }
            None
        });
        let message = message(&inject);
        // Where the last look is past, nobody can know.
        let seen = message != ACCEPTS;
        assert!(seen || position + 12 > steps, "at {position} of {steps}: {message}");
        told.insert(message);
    }
    assert!(told.contains("managed_gc_protocol_directory_changed"), "{told:?}");
}

/// Whatever changes meanwhile has its token: the protocol directory, a role, and the binding of the scope.
#[test]
fn what_changes_meanwhile_is_named() {
    let told = |change: &(dyn Fn(&Tree) + Sync)| {
        let mut told = std::collections::BTreeSet::new();
        for position in 0.. {
            let tree = Tree::new();
            let reached = std::sync::atomic::AtomicBool::new(false);
            let inject = Inject::new(&tree.fs, |call| {
                if call.number == position && call.phase == Phase::After {
                    reached.store(true, std::sync::atomic::Ordering::SeqCst);
                    change(&tree);
                }
                None
            });
            told.insert(message(&inject));
            if !reached.load(std::sync::atomic::Ordering::SeqCst) {
                break;
            }
        }
        told
    };
    let tree = told(&|tree| tree.fs.file(at(tree, "stray"), b""));
    assert!(tree.contains("managed_gc_protocol_tree_changed"), "{tree:?}");
    let binding = told(&|tree| tree.fs.append(tree.at(BINDING), b" "));
    assert!(binding.contains("managed_gc_protocol_binding_changed"), "{binding:?}");
}

#[test]
fn a_file_of_a_role_has_one_name() {
    let linked = |tree: &Tree| {
        tree.fs.file(at(tree, &format!("locks/.gjc-lock-{}.stale", "00000000-0000-4000-8000-000000000000")), b"");
        tree.fs.hard_link(at(tree, "locks/.gjc-lock-00000000-0000-4000-8000-000000000000.stale"), "/second");
    };
    assert_eq!(after(linked), "managed_gc_protocol_file_invalid [locks/.gjc-lock-00000000-0000-4000-8000-000000000000.stale]");
}

/// The history of a pending cleanup is replayed before its file is judged as a file.
#[test]
fn a_pending_cleanup_is_replayed_before_it_is_captured() {
    let with = |bad: bool| {
        after(|tree| {
            let (_, identity) = put_tombstone(tree, as_is);
            cleanup(
                tree,
                &identity,
                CleanupState::Pending,
                1,
                |text| if bad { text.replace("\"attempt\":1", "\"attempt\":7") } else { text },
            );
            let tombstones = at(tree, "tombstones");
            let record = tree
                .fs
                .snapshot()
                .into_iter()
                .map(|(path, _)| path)
                .find(|path| path.starts_with(&tombstones) && path.to_string_lossy().contains(".cleanup-pending-"));
            tree.fs.chmod(record.unwrap(), 0o644);
        })
    };
    assert!(with(false).starts_with("managed_gc_protocol_file_invalid [tombstones/"), "{}", with(false));
    assert!(with(true).starts_with("durability_failed [tombstones/"), "{}", with(true));
}

/// A session of a scope whose receipts are above a quota: `why` says so, and does not call it sound.
#[test]
fn a_session_beside_a_journal_above_its_capacity() {
    let why = |release, bytes| {
        let tree = Tree::new();
        let path = at(&tree, &format!("receipts/gc-retirement-{OP}-prepared.json"));
        tree.fs.sparse(&path, bytes);
        let chain = crate::agent::why::why(&World::of_agent(&tree.fs, &Nowhere, release, 1000, "/a"), "s1");
        chain.stop().map(|step| (step.step, step.answer.clone()))
    };
    let most = crate::gc::budget::MAX_RECEIPT_BYTES;
    let full = Some(("open", "managed_gc_journal_capacity_exceeded".to_owned()));
    assert_eq!(why(Release::V0_17, most + 1), full);
    assert_eq!(why(Release::V0_17, most), None, "near miss: it opens");
    assert_eq!(why(Release::V0_15, most + 1), None, "near miss: 0.15 has no such receipts");
}

/// What gjc says when `change` happens right after a lock was opened, which it is when nothing else was judged.
fn while_a_lock_is_read(change: impl Fn(&Tree) + Sync) -> String {
    let tree = Tree::new();
    let lock = at(&tree, &format!("locks/{OP}.lock"));
    let record = r#"{"attemptId":"a","pid":1,"processStartId":"p","createdAt":1,"heartbeatAt":1,"leaseExpiresAt":1}"#;
    tree.fs.file(&lock, record.as_bytes());
    tree.fs.file(at(&tree, "locks/.gjc-lock-00000000-0000-4000-8000-000000000000.stale"), b"");
    let inject = Inject::new(&tree.fs, |call| {
        if call.op == "open" && call.path == Path::new(&lock) && call.phase == Phase::After {
            change(&tree);
        }
        None
    });
    message(&inject)
}

/// The names stay what they are; what stands under them, or the directory itself, is in another state.
#[test]
fn a_state_that_changes_under_the_same_names_is_named() {
    let stale = "locks/.gjc-lock-00000000-0000-4000-8000-000000000000.stale";
    assert_eq!(while_a_lock_is_read(|_| ()), ACCEPTS);
    let file = |tree: &Tree| tree.fs.set(at(tree, stale), |meta| meta.mtime_ns += 1);
    assert_eq!(while_a_lock_is_read(file), "managed_gc_protocol_file_changed");
    let role = |tree: &Tree| tree.fs.set(at(tree, "locks"), |meta| meta.mtime_ns += 1);
    assert_eq!(while_a_lock_is_read(role), "managed_gc_protocol_directory_changed");
    let protocol = |tree: &Tree| tree.fs.set(tree.at(INTERNAL), |meta| meta.mtime_ns += 1);
    assert_eq!(while_a_lock_is_read(protocol), "managed_gc_protocol_tree_changed");
}

/// What is gone is no other object: whoever looks into it says what that comes to.
#[test]
fn a_binding_that_vanishes_changed_and_is_not_another() {
    assert_eq!(while_a_lock_is_read(|tree| tree.fs.remove(tree.at(BINDING))), "managed_gc_protocol_binding_changed");
}

#[test]
fn a_receipt_that_discovery_did_not_find_has_no_journal() {
    let added = |tree: &Tree| tree.fs.file(at(tree, &format!("receipts/gc-retirement-{OP}-prepared.json")), b"{}");
    let told = while_a_lock_is_read(added);
    assert_eq!(told, "task_artifact_owner_continuation_state_missing [receipts/gc-retirement-HEX-prepared.json]");
}

#[test]
fn a_file_of_a_role_has_no_access_list() {
    let listed = |tree: &Tree| {
        let lock = at(tree, &format!("locks/{OP}.lock"));
        tree.fs.file(&lock, b"{}");
        tree.fs.set_acl(&lock, Acl::Access, Ok(4));
    };
    assert_eq!(after(listed), "managed_gc_protocol_file_invalid [locks/HEX.lock]");
}

/// A second name that a lock gets between its listing and its reading.
#[test]
fn a_file_that_gets_a_second_name_meanwhile_is_invalid() {
    let tree = Tree::new();
    let lock = at(&tree, &format!("locks/{OP}.lock"));
    tree.fs.file(&lock, b"{}");
    let linked = Inject::new(&tree.fs, |call| {
        if call.op == "getxattr"
            && call.path == Path::new(&lock)
            && call.phase == Phase::After
            && tree.fs.lstat(call.path).unwrap().nlink == 1
        {
            tree.fs.hard_link(&lock, "/second");
        }
        None
    });
    assert_eq!(message(&linked), "managed_gc_protocol_file_invalid [locks/HEX.lock]");
}

#[test]
fn a_deletion_that_took_an_owner_along_needs_the_owners_journal() {
    let journal = deleted(as_is, as_is);
    for state in [State::Prepared, State::ArtifactsRemoved, State::OwnerRetired] {
        journal.tree.fs.remove(journal.path(state));
    }
    let told = message(&journal.tree.fs);
    assert_eq!(told, "task_artifact_owner_continuation_state_missing [tombstones/HEX.HEX.cleanup-completed-1.json]");
}

/// A root that cannot be asked for, at the beginning or at the end, was not replaced by another.
#[test]
fn a_root_that_is_not_seen_once_is_not_another() {
    let told = |path: &str, errno: Errno| {
        let mut told = std::collections::BTreeSet::new();
        for position in 0_u64.. {
            let tree = Tree::new();
            let asked = std::sync::atomic::AtomicU64::new(0);
            let inject = Inject::new(&tree.fs, |call| {
                let this = call.op == "lstat" && call.path == Path::new(path) && call.phase == Phase::Before;
                (this && asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == position).then_some(errno)
            });
            let message = message(&inject);
            if asked.load(std::sync::atomic::Ordering::SeqCst) <= position {
                assert!(position > 2, "asked for at both ends");
                return told;
            }
            told.insert(message);
        }
        told
    };
    for path in ["/a", "/a/sessions"] {
        for errno in [Errno::NOENT, Errno::IO] {
            let told = told(path, errno);
            assert!(told.contains(ACCEPTS), "where only the object is compared: {told:?}");
            assert!(!told.contains("managed_gc_protocol_root_identity_mismatch"), "{path} {errno:?}: {told:?}");
        }
    }
}

/// A committed receipt of a migration matches both of its transcripts, or has no authority.
#[test]
fn a_receipt_of_a_migration_matches_both_transcripts() {
    let refused = "managed_gc_protocol_migration_authority_mismatch [receipts/HEX.json]";
    let with = |change: &dyn Fn(&Tree, &str)| {
        after(|tree| {
            migrated(tree);
            change(tree, &format!("{}/{NAME}", super::managed::LEGACY));
        })
    };
    let written = |tree: &Tree, path: &str| {
        tree.fs.remove(path);
        tree.fs.file(path, text("s1", ",\"title\":\"other\"").as_bytes());
    };
    assert_eq!(with(&|tree, source| tree.fs.remove(source)), refused, "the source is gone");
    assert_eq!(with(&|tree, source| written(tree, source)), refused, "the source is another");
    assert_eq!(with(&|tree, _| written(tree, &tree.transcript())), refused, "the copy is another");
    assert_eq!(with(&|_, _| ()), ACCEPTS, "near miss");
}
