//! The trigger and the near miss of each code of managed scopes that has no simpler test: what a tree gives before and after the
//! smallest change, with every finding. `tests/registry/cases.tsv` names the place of each.

use super::managed::*;
use super::*;
use crate::agent::legacy::Surroundings;
use crate::agent::migration_receipt::State;
use crate::agent::replacement_receipt as replacement;
use crate::agent::residue::Inode;
use crate::agent::tombstone::CleanupState;

const ARTIFACTS: &str = "2026-01-01T00-00-00-000Z_s1";

// scope

#[test]
fn scope_name_malformed() {
    let other = identity("/ws2");
    let sound = other.directory_name();
    let named = |name: &str| {
        after(|t| {
            t.fs.directory("/ws2");
            t.fs.plant(format!("/a/sessions/{name}"), &clean::scope(&other, []));
        })
    };
    let never = format!("{}b", &sound[..sound.len() - 1]);
    assert!(codes_of(&named(&never)).contains(&"scope_name_malformed"), "{:?}", named(&never));
    assert_eq!(named(&sound), NOTHING);
}

/// The advice of the only `scope_name_malformed` when the scope of `/ws` was renamed, or copied, to a name that no scope has.
#[test]
fn a_scope_under_a_wrong_name_gets_its_own_back_unless_that_is_taken() {
    let advice = |change: fn(&Tree)| {
        let tree = Tree::new();
        change(&tree);
        let run = checked(&tree.fs, "/a", &options());
        let found = run.findings.into_iter().find(|finding| finding.code.name == "scope_name_malformed").unwrap();
        assert!(found.message.ends_with("its transcripts belong to /ws."), "{}", found.message);
        found.help.unwrap()
    };
    let name = identity("/ws").directory_name();
    let renamed = advice(|t| t.fs.rename(&t.scope, "/a/sessions/v2-3bX"));
    assert!(renamed.ends_with(&format!("rename it to `{name}`.")), "{renamed}");
    let copied = advice(|t| t.fs.plant("/a/sessions/v2-3bX", &clean::scope(&identity("/ws"), [(NAME, text("s1", "").as_str())])));
    assert!(copied.starts_with(&format!("It is a copy of the scope `{name}`")), "{copied}");
}

#[test]
fn workspace_missing_with_every_finding() {
    assert_eq!(codes_after(|t| t.fs.remove("/ws")), ["cwd_not_found", "workspace_missing"]);
    assert_eq!(codes_after(|_| {}), NOTHING);
}

#[test]
fn network_unsupported() {
    let bound = |identity: &Identity| {
        codes_after(|t| {
            t.fs.directory("/host/share");
            t.fs.plant(format!("/a/sessions/{}", identity.directory_name()), &clean::scope(identity, []));
        })
    };
    assert_eq!(bound(&Identity { platform: Platform::Win32, canonical_path: r"\\host\share".into() }), ["network_unsupported"]);
    // What POSIX mounts from the network is an ordinary directory.
    assert_eq!(bound(&identity("/host/share")), NOTHING);
}

#[test]
fn identity_rebound() {
    let with = |changes: u32| {
        codes_after(|t| {
            let path = migrated(t);
            if changes > 0 {
                edit(t, &path, "\"ino\":\"", "\"ino\":\"9");
            }
            if changes > 1 {
                let text = read(t, &path);
                let (head, tail) = text.split_at(text.rfind("\"ino\":\"").unwrap() + 7);
                t.fs.remove(&path);
                t.fs.file(&path, format!("{head}9{tail}").as_bytes());
            }
        })
    };
    assert_eq!(with(2), ["duplicate_session_id", "identity_rebound", "legacy_unmigrated"]);
    assert_eq!(with(1), ["duplicate_session_id", "legacy_unmigrated", "migration_receipt_stale"], "half of the identities are no majority");
    assert_eq!(with(0), ["legacy_shadowed"]);
}

#[test]
fn managed_gc_scope_authority_mismatch() {
    // What the receipt itself says is judged elsewhere.
    let scope_area = |change: &dyn Fn(&Tree)| {
        let tree = Tree::new();
        tree.fs.file(tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-{}-prepared.json", op())), b"");
        change(&tree);
        let run = checked(&tree.fs, "/a", &options());
        run.findings.iter().filter(|f| f.code.area == "scope").map(|f| f.code.name).collect::<Vec<_>>()
    };
    assert_eq!(scope_area(&|t| t.fs.remove("/ws")), ["workspace_missing", "managed_gc_scope_authority_mismatch"]);
    for directory in ["/a", "/a/sessions"] {
        assert_eq!(scope_area(&|t| t.fs.chmod(directory, 0o750)), ["managed_gc_scope_authority_mismatch"], "{directory}");
    }
    assert_eq!(scope_area(&|t| t.fs.chmod(t.at(&format!("{INTERNAL}/{RECEIPTS}")), 0o755)), ["managed_gc_scope_authority_mismatch"]);
    assert_eq!(scope_area(&|_| {}), NOTHING);
}

// binding

#[test]
fn binding_conflict_and_missing() {
    let bound_to = |workspace: Option<&str>| {
        codes_after(|t| {
            t.fs.directory("/elsewhere");
            t.fs.remove(t.at(BINDING));
            if let Some(workspace) = workspace {
                t.fs.file(t.at(BINDING), &canonical_text(&identity(workspace)));
            }
        })
    };
    assert_eq!(bound_to(Some("/elsewhere")), ["binding_conflict"]);
    assert_eq!(bound_to(None), ["binding_missing"]);
    assert_eq!(bound_to(Some("/ws")), NOTHING);
}

/// The advice of the only `binding_conflict` after a change of the tree.
fn advice_on_a_conflict(change: impl FnOnce(&Tree)) -> String {
    let tree = Tree::new();
    change(&tree);
    let run = checked(&tree.fs, "/a", &options());
    let mut conflicts = run.findings.into_iter().filter(|finding| *finding.code == *crate::check::code("binding_conflict").unwrap());
    let advice = conflicts.next().unwrap().help.unwrap();
    assert!(conflicts.next().is_none());
    advice
}

#[test]
fn a_scope_whose_transcripts_belong_to_it_keeps_its_name_and_gets_its_binding_back() {
    let advice = advice_on_a_conflict(|t| {
        t.fs.remove(t.at(BINDING));
        t.fs.file(t.at(BINDING), &canonical_text(&identity("/elsewhere")));
    });
    assert!(advice.starts_with("Leave the directory") && advice.contains("`gjc-fsck scope --canonical /ws`"), "{advice}");
}
#[test]
fn a_renamed_scope_gets_its_name_back() {
    let name = identity("/ws").directory_name();
    let renamed = |t: &Tree| t.fs.rename(&t.scope, "/a/sessions/v2-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    let advice = advice_on_a_conflict(renamed);
    assert!(advice.contains(&format!("rename it to `{name}`")), "{advice}");
}
/// Moving a copy to the name that it bears would put it into the scope that has that name.
#[test]
fn a_copy_of_a_scope_is_never_moved_onto_it() {
    let name = identity("/ws").directory_name();
    let copied = |t: &Tree| {
        let copy = "/a/sessions/v2-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        t.fs.plant(copy, &clean::scope(&identity("/ws"), [(NAME, text("s1", "").as_str())]));
    };
    let advice = advice_on_a_conflict(copied);
    assert!(advice.starts_with(&format!("This is a copy: `{name}` is there too. Never move")), "{advice}");
}

// security

#[test]
fn a_second_name_that_is_gone_again_is_no_hard_link() {
    let linked = |name: &str, gone: bool| {
        codes_after(|t| {
            t.fs.hard_link(t.at(name), "/second");
            if gone {
                t.fs.remove("/second");
            }
        })
    };
    assert_eq!(linked(NAME, false), ["hard_linked_transcript"]);
    assert_eq!(linked(NAME, true), NOTHING);
    assert_eq!(linked(BINDING, false), ["hard_linked_protocol_file"]);
    assert_eq!(linked(BINDING, true), NOTHING);
}

#[test]
fn reparse_point_and_the_object_itself() {
    let moved = |back: bool| {
        codes_after(|t| {
            t.fs.rename(t.transcript(), "/moved");
            if back { t.fs.rename("/moved", t.transcript()) } else { t.fs.symlink(t.transcript(), "/moved") }
        })
    };
    assert_eq!(moved(false), ["reparse_point"]);
    assert_eq!(moved(true), NOTHING);
}

#[test]
fn agent_dir_mode_drift_looks_at_nine_bits() {
    assert_eq!(codes_after(|t| t.fs.chmod("/a", 0o710)), ["agent_dir_mode_drift"]);
    assert_eq!(codes_after(|t| t.fs.chmod("/a", 0o2700)), NOTHING);
}

#[test]
fn owner_mismatch_is_not_about_groups() {
    assert_eq!(codes_after(|t| t.fs.set(&t.scope, |m| m.uid = 7)), ["owner_mismatch"]);
    assert_eq!(codes_after(|t| t.fs.set(&t.scope, |m| m.gid = 7)), NOTHING);
}

#[test]
fn acl_unsupported_fs_and_a_file_system_that_answers() {
    let answering = |answer| {
        codes_after(|t| {
            for (path, _) in t.fs.snapshot() {
                t.fs.set_acl(&path, Acl::Access, Err(answer));
                t.fs.set_acl(&path, Acl::Default, Err(answer));
            }
        })
    };
    assert_eq!(answering(Errno::OPNOTSUPP), ["acl_unsupported_fs"]);
    assert_eq!(answering(NO_ATTRIBUTE), NOTHING);
}

// legacy and migration receipts

#[test]
fn a_legacy_transcript_and_no_legacy_transcript() {
    let with = |change: &dyn Fn(&Tree)| {
        codes_after(|t| {
            t.fs.directory(LEGACY);
            change(t);
        })
    };
    let alone = |t: &Tree| {
        legacy(t);
        t.fs.remove(t.transcript());
    };
    assert_eq!(with(&alone), ["legacy_unmigrated"]);
    assert_eq!(with(&|t| _ = migrated(t)), ["legacy_shadowed"]);
    assert_eq!(with(&|_| {}), NOTHING, "an empty legacy directory and a session of its own");
}

#[test]
fn a_committed_receipt_as_it_is_and_after_one_change() {
    let with = |change: &dyn Fn(&Tree, &str)| {
        codes_after(|t| {
            let path = migrated(t);
            change(t, &path);
        })
    };
    assert_eq!(with(&|_, _| {}), ["legacy_shadowed"]);
    let both_listed = |code: &'static str| [code, "duplicate_session_id", "legacy_unmigrated"].map(str::to_owned);
    let sorted = |mut codes: Vec<String>| {
        codes.sort();
        codes
    };
    let edited = |from: &'static str, to: &'static str| with(&move |t, path| edit(t, path, from, to));
    assert_eq!(edited("\"ino\":\"", "\"ino\":\"9"), sorted(both_listed("migration_receipt_stale").to_vec()));
    assert_eq!(edited("copy-retain", "move"), sorted(both_listed("managed_gc_protocol_migration_invalid").to_vec()));
    assert_eq!(edited("committed", "published"), sorted(both_listed("managed_gc_protocol_migration_incomplete").to_vec()));
    assert_eq!(edited("\"committed\"", "7"), sorted(both_listed("managed_gc_protocol_migration_incomplete").to_vec()));
    assert_eq!(edited("\"state\":\"committed\",", ""), sorted(both_listed("managed_gc_protocol_migration_incomplete").to_vec()));
    assert_eq!(with(&|t, _| t.fs.remove(format!("{LEGACY}/{NAME}"))), ["migration_source_missing"]);
    assert_eq!(with(&|t, _| t.fs.remove(t.transcript())), ["legacy_unmigrated", "migration_destination_missing"]);
}

#[test]
fn an_unfinished_migration_and_one_that_never_began() {
    let with = |state: Option<State>| {
        codes_after(|t| {
            legacy(t);
            t.fs.remove(t.transcript());
            if let Some(state) = state {
                let mut unfinished = receipt(t, state);
                unfinished.1.destination.identity = None;
                put_receipt(t, unfinished);
            }
        })
    };
    assert_eq!(with(Some(State::Prepared)), ["legacy_unmigrated", "managed_gc_protocol_migration_incomplete"]);
    assert_eq!(with(None), ["legacy_unmigrated"]);
}

#[test]
fn destination_conflict_is_about_other_bytes() {
    let with = |title: &str| {
        codes_after(|t| {
            legacy(t);
            t.fs.remove(t.transcript());
            t.fs.file(t.transcript(), text("s1", title).as_bytes());
        })
    };
    assert_eq!(with(",\"title\":\"x\""), ["destination_conflict", "duplicate_session_id", "legacy_unmigrated"]);
    assert_eq!(with(""), ["duplicate_session_id", "legacy_unmigrated"]);
}

// locks

#[test]
fn a_released_lock_is_the_resting_state_and_one_change_of_it_has_its_code() {
    let name = format!("{}.lock", op());
    let released = lock(DEAD, 1.0, Some(true));
    assert_eq!(with_lock(&name, &released), NOTHING);
    assert_eq!(with_lock(&name, &released[..released.len() - 2]), ["managed_gc_protocol_lock_invalid"]);
    assert_eq!(with_lock(&name[1..], &released), ["managed_gc_protocol_lock_role_invalid"]);
}

#[test]
fn a_retired_lock_with_and_without_content() {
    let with = |bytes: Option<&[u8]>| {
        codes_after(|t| {
            if let Some(bytes) = bytes {
                t.fs.file(t.at(&format!("{INTERNAL}/{LOCKS}/.gjc-lock-{UUID}.stale")), bytes);
            }
        })
    };
    assert_eq!(with(Some(b"x")), ["managed_gc_protocol_lock_quarantine_invalid"]);
    assert_eq!(with(Some(b"")), ["lock_residue"]);
    assert_eq!(with(None), NOTHING);
}

// replacement receipts

#[test]
fn managed_replace_cleanup_receipt_limit_exceeded() {
    let predecessor = replacement::FileIdentity { dev: 1, ino: 1, nlink: 1, size: 3, mtime_ns: 1, ctime_ns: 1, sha256: String::new() };
    let with = |count: u64, release| {
        let tree = Tree::new();
        for n in 0..count {
            // Under its own inode each is a sound canonical receipt.
            tree.fs.file(tree.at("tmp"), b"x");
            let meta = tree.fs.lstat(Path::new(&tree.at("tmp"))).unwrap();
            let predecessor = replacement::FileIdentity { ino: n, ..predecessor.clone() };
            let name = replacement::canonical_name(&predecessor, Inode { dev: meta.dev, ino: meta.ino });
            tree.fs.rename(tree.at("tmp"), tree.at(&name));
        }
        let mut codes: Vec<&str> =
            checked(&tree.fs, "/a", &Options { release, ..options() }).findings.iter().map(|f| f.code.name).collect();
        codes.dedup();
        codes
    };
    for release in [Release::V0_15, Release::V0_17] {
        assert_eq!(with(50_001, release), ["managed_replace_cleanup_receipt_limit_exceeded"]);
    }
    assert_eq!(with(50_000, Release::V0_17), ["limit_near", "replacement_receipt_pending"]);
}

#[test]
fn replacement_receipts_are_looked_for_in_nested_artifact_directories() {
    let with = |name: &str| codes_after(|t| t.fs.file(t.at(&format!("{ARTIFACTS}/{name}")), b"x"));
    assert_eq!(with("1-A/.gjc-replace-cleanup-x"), ["managed_replace_cleanup_receipt_invalid"]);
    assert_eq!(with(".gjc-replace-cleanup-x"), ["managed_replace_cleanup_receipt_invalid"]);
    assert_eq!(with("1-A/gjc-replace-cleanup-x"), NOTHING);
    let legacy = codes_after(|t| {
        legacy(t);
        t.fs.remove(t.transcript());
        t.fs.file(format!("{LEGACY}/{ARTIFACTS}/1-A/.gjc-replace-cleanup-x"), b"x");
    });
    assert_eq!(legacy, ["legacy_unmigrated", "managed_replace_cleanup_receipt_invalid"]);
}

// tombstones

/// A deletion that is finished: the tombstone, its completed record, and no transcript. `edit` may change the two records.
fn deleted(change: impl FnOnce(&Tree, &str, &str)) -> Vec<String> {
    codes_after(|t| {
        let (tombstone, identity) = put_tombstone(t, as_is);
        let completed = cleanup(t, &identity, CleanupState::Completed, 1, as_is);
        t.fs.remove(t.transcript());
        change(t, &tombstone, &completed);
    })
}

#[test]
fn a_finished_deletion_gives_nothing_and_one_change_of_it_its_code() {
    assert_eq!(deleted(|_, _, _| {}), NOTHING);
    assert_eq!(deleted(|t, _, completed| t.fs.remove(completed)), ["cleanup_pending"]);
    assert_eq!(deleted(|t, tombstone, _| t.fs.remove(tombstone)), ["managed_gc_protocol_tombstone_authority_missing"]);
    let in_tombstone = |from: &'static str, to: &'static str| deleted(move |t, tombstone, _| edit(t, tombstone, from, to));
    assert_eq!(in_tombstone("{", ""), ["managed_gc_protocol_tombstone_authority_missing", "tombstone_unreadable"]);
    assert_eq!(
        in_tombstone("\"schemaVersion\":2", "\"schemaVersion\":1"),
        ["managed_gc_protocol_tombstone_authority_missing", "managed_gc_protocol_tombstone_invalid"]
    );
    let in_record = |from: &'static str, to: &'static str| deleted(move |t, _, completed| edit(t, completed, from, to));
    assert_eq!(in_record("\"state\"", "\"note\":1,\"state\""), ["cleanup_pending", "managed_gc_protocol_tombstone_completion_invalid"]);
    assert_eq!(
        in_tombstone("\"state\"", "\"taskArtifactOwnerX\":1,\"state\""),
        ["managed_gc_protocol_tombstone_authority_missing", "task_artifact_owner_legacy_scope_unsupported"]
    );
    let of_another = |t: &Tree, _: &str, completed: &str| {
        let at = completed.rfind(".cleanup").unwrap() - 64;
        t.fs.rename(completed, format!("{}{}{}", &completed[..at], op(), &completed[at + 64..]));
    };
    assert_eq!(deleted(of_another), ["cleanup_pending", "managed_gc_protocol_tombstone_target_missing"]);
    let named = |t: &Tree, tombstone: &str, _: &str| t.fs.file(format!("{}x.json", &tombstone[..tombstone.len() - 69]), b"{}");
    assert_eq!(deleted(named), ["managed_gc_protocol_tombstone_role_invalid"]);
}

#[test]
fn a_history_that_is_finished_and_one_change_of_it() {
    let with = |pending: u64, edit_pending: &dyn Fn(String) -> String, edit_removed: &dyn Fn(String) -> String| {
        codes_after(|t| {
            let (_, identity) = put_tombstone(t, as_is);
            cleanup(t, &identity, CleanupState::Pending, pending, edit_pending);
            cleanup(t, &identity, CleanupState::ArtifactsRemoved, pending, edit_removed);
            cleanup(t, &identity, CleanupState::Completed, 1, as_is);
            t.fs.remove(t.transcript());
        })
    };
    assert_eq!(with(1, &as_is, &as_is), NOTHING);
    let found = with(2, &as_is, &as_is);
    assert!(found.contains(&"managed_gc_protocol_tombstone_history_invalid".to_owned()), "a gap: {found:?}");
    let state = |text: String| text.replace("\"artifacts_removed\"", "\"x\"");
    assert_eq!(with(1, &as_is, &state), ["managed_gc_protocol_tombstone_artifacts_invalid"]);
    let expected = r#""expectedArtifactsIdentity":{"dev":"x","ino":"1","size":1,"mtimeNs":"1","sha256":""},"plannedArtifactsPath""#;
    let integer = |text: String| text.replace("\"plannedArtifactsPath\"", expected);
    let found = with(1, &integer, &as_is);
    assert!(found.contains(&"cleanup_receipt_unreadable".to_owned()), "{found:?}");
    let target = |text: String| text.replacen("\"dev\":\"", "\"dev\":\"x", 1);
    let found = with(1, &target, &as_is);
    assert!(found.contains(&"managed_gc_protocol_tombstone_history_invalid".to_owned()), "{found:?}");
}

#[test]
fn what_stands_at_a_path_whose_deletion_is_finished() {
    let standing = |cwd: &'static str, completed: bool, retitled: bool| {
        let spelled = move |text: String| text.replace("\"cwd\":\"/ws\"", &format!("\"cwd\":\"{cwd}\""));
        codes_after(|t| {
            let (_, identity) = put_tombstone(t, spelled);
            if completed {
                cleanup(t, &identity, CleanupState::Completed, 1, spelled);
            }
            if retitled {
                t.fs.append(t.transcript(), clean::label("x").as_bytes());
            }
        })
    };
    assert_eq!(standing("/ws", true, false), ["retired_session_present"]);
    assert_eq!(standing("/ws", true, true), NOTHING, "another session at the path of a deleted one");
    assert_eq!(standing("/ws", false, true), ["cleanup_pending", "retired_session_changed"]);
    assert_eq!(standing("/./ws", false, false), ["cleanup_pending", "retired_session_listed"]);
    assert_eq!(standing("/./ws", true, false), NOTHING, "nothing will delete it any more");
}

// artifacts

#[test]
fn an_artifact_tree_and_one_object_too_much() {
    assert_eq!(with_artifacts(|t, root| t.fs.file(format!("{root}/l"), b"")), NOTHING);
    assert_eq!(with_artifacts(|t, root| t.fs.symlink(format!("{root}/l"), "/x")), ["unsafe_artifacts"]);
    let many = |names: u32| with_artifacts(|t, root| (0..names).for_each(|n| t.fs.file(format!("{root}/{n}.x"), b"")));
    assert_eq!(many(50_001), ["artifact_capacity_exceeded"]);
    assert_eq!(many(50_000), ["limit_near"]);
}

#[test]
fn an_orphan_and_a_draft_belong_to_a_transcript() {
    let draft = |directory: &str| codes_after(|t| t.fs.file(t.at(&format!("{directory}/draft.txt")), b""));
    assert_eq!(draft("nobody"), ["artifact_orphan_directory", "draft_orphan"]);
    assert_eq!(draft(ARTIFACTS), NOTHING);
}

/// A transcript whose one tool call is answered with this text, beside an artifact directory with these files.
fn answered(text: &str, files: &[&str]) -> Vec<String> {
    codes_after(|t| {
        for file in files {
            t.fs.file(t.at(&format!("{ARTIFACTS}/{file}")), b"x");
        }
        let call = r#"{"type":"message","id":"e0000002","parentId":"e0000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{}}],"api":"messages","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1767225602000}}"#;
        let result = format!(
            r#"{{"type":"message","id":"e0000003","parentId":"e0000002","timestamp":"2026-01-01T00:00:03.000Z","message":{{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{{"type":"text","text":"{text}"}}],"isError":false,"timestamp":1767225603000}}}}"#
        );
        t.fs.append(t.transcript(), format!("{call}\n{result}\n").as_bytes());
    })
}

#[test]
fn artifact_reference_missing() {
    let missing = ["artifact_reference_missing"];
    assert_eq!(answered("see artifact://3", &["3.bash.log"]), NOTHING);
    assert_eq!(answered("see artifact://3", &["4.bash.log"]), missing);
    assert_eq!(answered("see artifact://3", &[]), missing, "without an artifact directory");
    assert_eq!(answered("see agent://0-Task, agent://0-Task.", &["0-Task.md"]), NOTHING);
    assert_eq!(answered("see agent://0-Task, agent://0-Task.", &["1-Task.md"]), missing, "one finding a reference");
    assert_eq!(answered("see artifact://<id>", &[]), NOTHING, "prose");
    let said_by_a_user = codes_after(|t| {
        t.fs.remove(t.transcript());
        t.fs.file(t.transcript(), text("s1", "").replace("hello", "what is artifact://3?").as_bytes());
    });
    assert_eq!(said_by_a_user, NOTHING);
}

#[test]
fn legacy_local_unmigrated_unless_the_temp_directory_says_otherwise() {
    let with = |marker: Option<&str>| {
        let tree = Tree::new();
        tree.fs.directory(tree.at(&format!("{ARTIFACTS}/local")));
        if let Some(marker) = marker {
            tree.fs.file("/tmp/gjc-local/s1/.gjc-local-legacy-migrated-v1", marker.as_bytes());
        }
        let around = Surroundings { temp: "/tmp".into(), temp_real: "/tmp".into(), ..Surroundings::default() };
        let run = checked(&tree.fs, "/a", &Options { around, ..options() });
        run.findings.iter().map(|finding| (finding.code.name, finding.message.clone())).collect::<Vec<_>>()
    };
    assert_eq!(with(Some("verified\n")), []);
    assert_eq!(with(Some("absent\n")), []);
    let said = |marker, word: &str| {
        let found = with(marker);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "legacy_local_unmigrated");
        assert!(found[0].1.contains(word), "{}", found[0].1);
    };
    said(None, "no marker");
    said(Some("cleanup_pending\n"), "`cleanup_pending`");
    said(Some("verifie"), "`verifie`");
}

// residue

#[test]
fn what_a_directory_of_transcripts_may_hold_beside_them() {
    let with = |name: &str, bytes: &[u8]| codes_after(|t| t.fs.file(t.at(name), bytes));
    assert_eq!(with(&format!("{STAGING}/x.jsonl"), b""), ["staged_transcript_left"]);
    assert_eq!(codes_after(|t| t.fs.directory(t.at(STAGING))), NOTHING, "nothing is staged");
    assert_eq!(codes_after(|t| t.fs.file(t.at(&format!("{ARTIFACTS}/a b.txt")), b"")), ["foreign_file"], "no name of an artifact");
    assert_eq!(codes_after(|t| t.fs.file(t.at(&format!("{ARTIFACTS}/a-b.txt")), b"")), NOTHING);
    assert_eq!(codes_after(|t| t.fs.file(t.at(&format!("{ARTIFACTS}/local/a b.txt")), b"")), ["legacy_local_unmigrated"]);
}

#[test]
fn memory_guard_left() {
    let hidden = |name: String| codes_after(|t| t.fs.file(t.at(&name), text("s2", "").replace("e0000001", "f0000001").as_bytes()));
    // Both are named like no transcript of gjc, and read like one.
    assert_eq!(
        hidden(format!(".s2.memory-guard.{UUID}.jsonl")),
        ["filename_header_mismatch", "memory_guard_left", "openable_but_not_listed"]
    );
    assert_eq!(hidden(format!(".s2.memory.{UUID}.jsonl")), ["filename_header_mismatch", "openable_but_not_listed"]);
}

#[test]
fn a_backup_with_and_without_its_primary() {
    let folder = |names: &[&str]| {
        let fs = Memory::new();
        fs.file("/f/other.jsonl", text("s0", "").as_bytes());
        names.iter().for_each(|name| fs.file(format!("/f/{name}"), text("s1", "").replace("e0000001", "f0000001").as_bytes()));
        codes_of(&found_in(&checked(&fs, "/f", &options()))).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(folder(&["x.jsonl.1.bak"]), ["orphan_backup_recoverable"]);
    assert_eq!(folder(&["x.jsonl.bak"]), ["orphan_backup_unrecoverable"]);
    assert_eq!(folder(&["x.jsonl", "x.jsonl.1.bak"]), ["stale_backup"]);
    assert_eq!(folder(&["x.jsonl"]), NOTHING);
    assert_eq!(folder(&["x.1.bak"]), NOTHING, "no backup of a transcript");
}

#[test]
fn delete_residue_is_what_a_finished_deletion_leaves() {
    let left = |bytes: Option<&[u8]>| {
        deleted(|t, tombstone, _| {
            let op = Path::new(tombstone).file_stem().unwrap().to_str().unwrap();
            if let Some(bytes) = bytes {
                t.fs.file(t.at(&format!(".gjc-delete-{op}-transcript-1")), bytes);
            }
        })
    };
    assert_eq!(left(Some(b"")), ["delete_residue"]);
    assert_eq!(left(Some(b"x")), ["delete_residue_payload"]);
    assert_eq!(left(None), NOTHING);
}

#[test]
fn gc_residue_present() {
    let below_owners = |name: &str| {
        let change = |t: &Tree| t.fs.file(format!("/a/sessions/.task-artifact-owners/{name}"), b"");
        let found = after(change);
        found.into_iter().filter(|line| line.starts_with("gc_residue")).collect::<Vec<_>>()
    };
    let at = |name: &str| [format!("gc_residue_present sessions/.task-artifact-owners/{name}")];
    assert_eq!(below_owners("owner-1.removing/0.bash.log"), at("owner-1.removing"));
    assert_eq!(below_owners(&format!("owner-1/sub/.pi-tree-detached-{}", op())), at("owner-1"));
    assert_eq!(below_owners(".gjc-publish-1"), at(".gjc-publish-1"));
    assert_eq!(below_owners("owner-1/sub/0.bash.log"), NOTHING);
}

#[test]
fn sidecar_stale_wherever_a_sidecar_lies() {
    use sha2::{Digest, Sha256};
    let cache = |t: &Tree| {
        let hex = data_encoding::HEXLOWER.encode(&Sha256::digest(t.transcript().as_bytes()))[..32].to_owned();
        format!("/a/sidecar-cache/s-{hex}/.session-memory.spill.")
    };
    let beside = |t: &Tree| t.at(&format!("{ARTIFACTS}/.session-memory.spill."));
    let sibling = |t: &Tree| format!("{}.spill.", t.transcript());
    for place in [&cache as &dyn Fn(&Tree) -> String, &beside, &sibling] {
        let with = |change: &dyn Fn(&Tree, &str)| {
            codes_after(|t| {
                let stem = place(t);
                let meta = t.fs.lstat(Path::new(&t.transcript())).unwrap();
                let (commit, tail) = crate::agent::sidecar::tests::sound(&meta);
                t.fs.file(format!("{stem}commit"), commit.as_bytes());
                t.fs.file(format!("{stem}tail"), tail.as_bytes());
                change(t, &stem);
            })
        };
        assert_eq!(with(&|_, _| {}), NOTHING);
        assert_eq!(with(&|t, _| t.fs.append(t.transcript(), clean::label("x").as_bytes())), NOTHING, "the transcript is ahead");
        let stale = ["sidecar_stale"];
        assert_eq!(with(&|t, stem| edit(t, &format!("{stem}commit"), "\"transcriptSize\":", "\"transcriptSize\":1")), stale);
        assert_eq!(with(&|t, stem| edit(t, &format!("{stem}tail"), "\"ordinal\":7", "\"ordinal\":8")), stale);
        assert_eq!(with(&|t, stem| t.fs.remove(format!("{stem}commit"))), stale);
    }
}

// listing

#[test]
fn cwd_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let with = |name: &[u8]| {
        codes_after(|t| {
            let target = Path::new("/").join(std::ffi::OsStr::from_bytes(name));
            t.fs.directory(&target);
            t.fs.symlink("/link", &target);
            t.fs.file(t.at(&clean::name("s2")), clean::transcript("s2", "/link", "").as_bytes());
        })
    };
    assert_eq!(with(b"bad-\xff"), ["cwd_not_utf8"]);
    assert_eq!(with(b"ws"), NOTHING);
}

#[test]
fn project_scan_limit() {
    let with = |make: &dyn Fn(&Tree)| codes_after(make);
    let directories = |count: u32| with(&|t| (1..count).for_each(|n| t.fs.directory(format!("/ws/.gjc/{n}"))));
    assert_eq!(directories(4_096), ["limit_near"], "`.gjc` itself is one of them");
    assert_eq!(directories(4_097), ["project_scan_limit"]);
    let files = |count: u32| with(&|t| (0..count).for_each(|n| t.fs.file(format!("/ws/.gjc/sessions/{n}.jsonl"), b"")));
    assert_eq!(files(1_000), ["limit_near"]);
    assert_eq!(files(1_001), ["project_scan_limit"]);
    let elsewhere = with(&|t| (0..1_001).for_each(|n| t.fs.file(format!("/ws/.gjc/notes/{n}.jsonl"), b"")));
    assert_eq!(elsewhere, NOTHING, "only some folders of a project hold transcripts");
    let linked = with(&|t| {
        (0..1_001).for_each(|n| t.fs.file(format!("/moved/sessions/{n}.jsonl"), b""));
        t.fs.symlink("/ws/.gjc", "/moved");
    });
    assert_eq!(linked, NOTHING, "a linked `.gjc` is not followed");
}
