//! Owners of task artifacts: a session with its owner, one fault at a time in what the transcript says, in what stands on disk,
//! or in what keeps gjc from retiring it, with the exact findings and a near miss.

use super::retirement::{Retirement, owner as root, payload_retired, uncertain};
use super::*;
use crate::agent::owner_evidence::owner_id;
use crate::gc::owner::{MANIFEST, Manifest};
use crate::gc::{Progress, State};

const OWNERS: &str = "/a/sessions/.task-artifact-owners";

/// Findings with the owner's directory called `OWNER`.
fn found(journal: &Retirement) -> Vec<String> {
    found_by(journal, &options())
}
fn found_by(journal: &Retirement, options: &Options) -> Vec<String> {
    let name = root().replace("/a/", "");
    found_in(&checked(&journal.tree.fs, "/a", options)).iter().map(|line| line.replace(&name, "OWNER")).collect()
}
/// The findings after one change to a session with an owner.
fn after(change: impl FnOnce(&Retirement)) -> Vec<String> {
    let journal = Retirement::new();
    change(&journal);
    found(&journal)
}
fn only(code: &str, at: &str) -> Vec<String> {
    vec![format!("{code} {at}")]
}
fn set(fs: &Memory, path: &str, bytes: &[u8]) {
    if fs.present(Path::new(path)).unwrap() {
        fs.remove(path);
    }
    fs.file(path, bytes);
}
fn set_manifest(journal: &Retirement, manifest: &Manifest) {
    set(&journal.tree.fs, &format!("{}/{MANIFEST}", root()), &manifest.encode());
}
fn manifest(journal: &Retirement) -> Manifest {
    Manifest { locator: journal.prepared.target.locator.clone(), session_id: "s1".into() }
}
/// The transcript's text, as it names its owner in the header.
fn text_of(journal: &Retirement) -> String {
    let locator = &journal.prepared.target.locator;
    text(
        "s1",
        &format!(
            ",\"taskArtifactOwner\":{{\"schemaVersion\":1,\"ownerId\":\"{}\",\"directoryDev\":\"{}\",\"directoryIno\":\"{}\"}}",
            locator.owner_id, locator.directory_dev, locator.directory_ino
        ),
    )
}
/// The findings after the transcript's text was changed.
fn written(change: impl FnOnce(String) -> String) -> Vec<String> {
    after(|journal| set(&journal.tree.fs, &journal.tree.transcript(), change(text_of(journal)).as_bytes()))
}
/// The same, of the area alone: what a broken header is to other areas is told by them.
fn owner_codes(found: Vec<String>) -> Vec<String> {
    found.into_iter().filter(|line| line.starts_with("task_artifact_owner_")).collect()
}

#[test]
fn a_session_with_its_owner_is_clean_and_0_15_knows_of_none() {
    let journal = Retirement::new();
    assert_eq!(found(&journal), NOTHING);
    journal.tree.fs.remove(root());
    assert_eq!(found_by(&journal, &Options { release: Release::V0_15, ..options() }), NOTHING);
}

// what the transcript says

#[test]
fn task_artifact_owner_locator_invalid() {
    let found = written(|text| text.replace("\"schemaVersion\":1", "\"schemaVersion\":2"));
    assert_eq!(found, ["task_artifact_owner_locator_invalid SCOPE/TRANSCRIPT", "task_artifact_owner_unreferenced OWNER"]);
    assert_eq!(written(|text| text.replace("\"schemaVersion\":1", "\"schemaVersion\":1.0")), NOTHING, "near miss: the number is the same");
}

#[test]
fn task_artifact_owner_patch_invalid() {
    let patch = |owner: &str| written(|text| format!("{text}{{\"type\":\"header_patch\",\"patch\":{{\"taskArtifactOwner\":{owner}}}}}\n"));
    assert_eq!(
        patch("null"),
        ["task_artifact_owner_patch_invalid SCOPE/TRANSCRIPT", "task_artifact_owner_unreferenced OWNER"],
        "a patch cannot clear an owner"
    );
    let journal = Retirement::new();
    let locator = &journal.prepared.target.locator;
    let same = format!(
        "{{\"directoryIno\":\"{}\",\"directoryDev\":\"{}\",\"ownerId\":\"{}\",\"schemaVersion\":1}}",
        locator.directory_ino, locator.directory_dev, locator.owner_id
    );
    assert_eq!(patch(&same), NOTHING, "near miss: it names the same owner");
}

#[test]
fn task_artifact_owner_transcript_header_invalid() {
    const CODE: &str = "task_artifact_owner_transcript_header_invalid";
    let behind = owner_codes(written(|text| format!("{{\"type\":\"note\"}}\n{text}")));
    assert_eq!(behind, [format!("{CODE} SCOPE/TRANSCRIPT"), "task_artifact_owner_unreferenced OWNER".to_owned()]);
    let none = owner_codes(after(|journal| {
        set(&journal.tree.fs, &journal.tree.transcript(), format!("{{\"type\":\"note\"}}\n{}", text("s1", "")).as_bytes());
    }));
    assert_eq!(none, ["task_artifact_owner_unreferenced OWNER"], "near miss: it names no owner");
}

#[test]
fn task_artifact_owner_session_id_invalid() {
    const CODE: &str = "task_artifact_owner_session_id_invalid";
    let found = owner_codes(written(|text| text.replacen("\"id\":\"s1\"", "\"id\":\"\"", 1)));
    assert_eq!(found, [format!("{CODE} SCOPE/TRANSCRIPT")]);
    let without = owner_codes(after(|journal| {
        set(&journal.tree.fs, &journal.tree.transcript(), text("", "").as_bytes());
    }));
    assert_eq!(without, ["task_artifact_owner_unreferenced OWNER"], "near miss: an empty id without an owner is another area's");
}

#[test]
fn task_artifact_owner_session_mismatch() {
    const CODE: &str = "task_artifact_owner_session_mismatch";
    let renamed = owner_codes(written(|text| text.replacen("\"id\":\"s1\"", "\"id\":\"s2\"", 1)));
    assert_eq!(renamed, [format!("{CODE} SCOPE/TRANSCRIPT")], "the id in the transcript has another hash");
    let manifest_of = |session: &str| after(|journal| set_manifest(journal, &Manifest { session_id: session.into(), ..manifest(journal) }));
    assert_eq!(manifest_of("s2"), only(CODE, &format!("OWNER/{MANIFEST}")), "the manifest names another session");
    assert_eq!(manifest_of("s1"), NOTHING, "near miss");
}

// what stands on disk

#[test]
fn task_artifact_owner_missing() {
    const CODE: &str = "task_artifact_owner_missing";
    assert_eq!(after(|journal| journal.tree.fs.remove(root())), only(CODE, "SCOPE/TRANSCRIPT"));
    assert_eq!(after(|journal| journal.tree.fs.remove(OWNERS)), only(CODE, "SCOPE/TRANSCRIPT"));
    // Near miss: its removal was begun, and the journal says so.
    let journal = Retirement::new().with(0);
    journal.store(&journal.pending(1, payload_retired(&journal.prepared.evidence)));
    journal.store(&journal.receipt(Progress::OwnerRetired));
    journal.tree.fs.remove(root());
    assert!(!found(&journal).iter().any(|line| line.starts_with(CODE)));
    // Not yet begun: gone all the same.
    let journal = Retirement::new().with(0);
    journal.tree.fs.remove(root());
    assert!(found(&journal).contains(&format!("{CODE} SCOPE/TRANSCRIPT")));
}

#[test]
fn task_artifact_owner_replaced() {
    const CODE: &str = "task_artifact_owner_replaced";
    let linked = |path: &str| {
        after(|journal| {
            journal.tree.fs.rename(path, "/elsewhere");
            journal.tree.fs.symlink(path, "/elsewhere");
        })
    };
    assert_eq!(linked(&root()), only(CODE, "OWNER"));
    // A link in the sessions root is an obstacle besides.
    let parent = "sessions/.task-artifact-owners";
    assert_eq!(linked(OWNERS), [format!("owner_scan_blocked {parent}"), format!("{CODE} {parent}")]);
    let unnamed = after(|journal| journal.tree.fs.file(format!("{OWNERS}/{}", "ab".repeat(32)), b""));
    assert_eq!(unnamed, only(CODE, &format!("{parent}/{}", "ab".repeat(32))), "a file in an owner's place");
    let other = after(|journal| journal.tree.fs.file(format!("{OWNERS}/notes"), b""));
    assert_eq!(other, NOTHING, "near miss: no owner's name");
}

#[test]
fn task_artifact_owner_identity_mismatch() {
    // Copied with its manifest, which names the new directory, as the transcript does not.
    let copied = |manifested: bool| {
        after(|journal| {
            let mut locator = journal.prepared.target.locator.clone();
            locator.directory_ino += 1;
            let edited = text_of(journal).replace(
                &format!("\"directoryIno\":\"{}\"", journal.prepared.target.locator.directory_ino),
                &format!("\"directoryIno\":\"{}\"", locator.directory_ino),
            );
            set(&journal.tree.fs, &journal.tree.transcript(), edited.as_bytes());
            if manifested {
                set_manifest(journal, &Manifest { locator, session_id: "s1".into() });
            }
        })
    };
    assert_eq!(copied(true), only("task_artifact_owner_identity_mismatch", "OWNER"));
    assert_eq!(copied(false), only("task_artifact_owner_manifest_mismatch", &format!("OWNER/{MANIFEST}")), "near miss: the manifest first");
}

#[test]
fn a_copy_has_other_inodes_and_is_not_judged_by_them() {
    let journal = Retirement::new();
    let mut locator = journal.prepared.target.locator.clone();
    let own = format!("\"directoryIno\":\"{}\"", locator.directory_ino);
    locator.directory_ino += 1;
    let edited = text_of(&journal).replace(&own, &format!("\"directoryIno\":\"{}\"", locator.directory_ino));
    set(&journal.tree.fs, &journal.tree.transcript(), edited.as_bytes());
    set_manifest(&journal, &Manifest { locator, session_id: "s1".into() });
    let copy = Options { assume_root: Some("/home/ana/.gjc/agent".into()), ..options() };
    assert_eq!(owner_codes(found_by(&journal, &copy)), NOTHING);
}

#[test]
fn task_artifact_owner_manifest_missing() {
    let without = |named: bool| {
        after(|journal| {
            journal.tree.fs.remove(format!("{}/{MANIFEST}", root()));
            if !named {
                set(&journal.tree.fs, &journal.tree.transcript(), text("s1", "").as_bytes());
            }
        })
    };
    assert_eq!(without(true), only("task_artifact_owner_manifest_missing", "OWNER"));
    assert_eq!(without(false), only("task_artifact_owner_provisioning_interrupted", "OWNER"), "near miss: nobody names it");
}

#[test]
fn a_journal_names_an_owner_too() {
    let journal = Retirement::new().with(0);
    journal.tree.fs.remove(journal.tree.transcript());
    let of_owner = |journal: &Retirement| -> Vec<String> {
        found(journal).into_iter().filter(|line| line.starts_with("task_artifact_owner_")).collect()
    };
    assert_eq!(of_owner(&journal), NOTHING, "it is not unreferenced");
    journal.tree.fs.remove(format!("{}/{MANIFEST}", root()));
    assert_eq!(of_owner(&journal), ["task_artifact_owner_manifest_missing OWNER"]);
    // A removal that was begun may have taken it: what stands is then held against the journal.
    journal.store(&journal.pending(1, uncertain(&journal.prepared.evidence)));
    assert!(!of_owner(&journal).contains(&"task_artifact_owner_manifest_missing OWNER".to_owned()));
}

#[test]
fn task_artifact_owner_manifest_invalid() {
    let with = |bytes: &[u8]| after(|journal| set(&journal.tree.fs, &format!("{}/{MANIFEST}", root()), bytes));
    let invalid = only("task_artifact_owner_manifest_invalid", &format!("OWNER/{MANIFEST}"));
    for bytes in ["", "[]", "{}", "{\"schemaVersion\":1}"] {
        assert_eq!(with(bytes.as_bytes()), invalid, "{bytes}");
    }
    let good = String::from_utf8(manifest(&Retirement::new()).encode()).unwrap();
    assert_eq!(with(format!(" {}", good.trim_end()).as_bytes()), NOTHING, "near miss: read leniently");
    let unnamed = after(|journal| {
        set(&journal.tree.fs, &journal.tree.transcript(), text("s1", "").as_bytes());
        set(&journal.tree.fs, &format!("{}/{MANIFEST}", root()), b"{}");
    });
    assert_eq!(unnamed, invalid, "whoever names it");
}

#[test]
fn task_artifact_owner_manifest_mismatch() {
    let with = |change: fn(&mut Manifest)| {
        after(|journal| {
            let mut manifest = manifest(journal);
            change(&mut manifest);
            set_manifest(journal, &manifest);
        })
    };
    let mismatch = only("task_artifact_owner_manifest_mismatch", &format!("OWNER/{MANIFEST}"));
    assert_eq!(with(|manifest| manifest.locator.directory_ino += 1), mismatch);
    assert_eq!(with(|manifest| manifest.locator.owner_id = "ab".repeat(32)), mismatch);
    assert_eq!(with(|_| ()), NOTHING, "near miss");
}

#[test]
fn task_artifact_owner_writer_not_quiescent() {
    let with = |name: &str| after(|journal| journal.tree.fs.file(format!("{}/a/{name}", root()), b""));
    let pending = ".x.0f8fad5b-d9cb-469f-a165-70867728950e.staging";
    assert_eq!(with(pending), only("task_artifact_owner_writer_not_quiescent", &format!("OWNER/a/{pending}")));
    assert_eq!(with(&pending[1..]), NOTHING, "near miss: no dot at its beginning");
}

#[test]
fn task_artifact_owner_shared_with_sibling_transcript() {
    const CODE: &str = "task_artifact_owner_shared_with_sibling_transcript";
    let second = NAME.replace("01-01T", "01-02T");
    let with = |text: fn(&Retirement) -> String| {
        after(|journal| {
            journal.tree.fs.file(journal.tree.at(&second), text(journal).as_bytes());
        })
    };
    let shared: Vec<String> = with(text_of).into_iter().filter(|line| line.starts_with("task_") || line.starts_with("owner_")).collect();
    assert_eq!(shared, [format!("{CODE} SCOPE/{second}")]);
    let other: Vec<String> = with(|_| text("s1", "")).into_iter().filter(|line| line.starts_with(CODE)).collect();
    assert_eq!(other, NOTHING, "near miss: the other names no owner");
}

#[test]
fn task_artifact_owner_provisioning_interrupted() {
    const CODE: &str = "task_artifact_owner_provisioning_interrupted";
    let other = format!("{OWNERS}/{}", owner_id("s9".into()).unwrap());
    let at = other.replace("/a/", "");
    assert_eq!(after(|journal| journal.tree.fs.file(format!("{other}/0.bash.log"), b"")), only(CODE, &at));
    let finished = after(|journal| {
        let manifest = Manifest { session_id: "s9".into(), ..manifest(journal) };
        journal.tree.fs.file(format!("{other}/{MANIFEST}"), &manifest.encode());
    });
    assert_eq!(finished, only("task_artifact_owner_unreferenced", &at), "near miss: it has its manifest");
}

#[test]
fn task_artifact_owner_unreferenced() {
    let without = after(|journal| set(&journal.tree.fs, &journal.tree.transcript(), text("s1", "").as_bytes()));
    assert_eq!(without, only("task_artifact_owner_unreferenced", "OWNER"));
    let elsewhere = after(|journal| {
        set(&journal.tree.fs, &journal.tree.transcript(), text("s1", "").as_bytes());
        journal.tree.fs.file(journal.tree.at(&format!("{STAGING}/new.jsonl")), text_of(journal).as_bytes());
    });
    assert!(!elsewhere.iter().any(|line| line.starts_with("task_artifact_owner_unreferenced")), "near miss: what is staged names it");
}

/// Whether an owner that no readable transcript names is called unreferenced while this one cannot be opened.
fn unreferenced_beside(unreadable: &str, fails: bool) -> bool {
    let journal = Retirement::new();
    set(&journal.tree.fs, &journal.tree.transcript(), text("s1", "").as_bytes());
    let path = if unreadable.starts_with('/') { unreadable.to_owned() } else { journal.tree.at(unreadable) };
    journal.tree.fs.file(&path, text("s7", "").as_bytes());
    let inject = Inject::new(&journal.tree.fs, |call| (fails && call.op == "open" && call.path == Path::new(&path)).then_some(Errno::IO));
    let found = found_in(&checked(&inject, "/a", &options()));
    let told = |line: &String| line.starts_with("read_failed ") || line.starts_with("object_unreadable ");
    assert_eq!(found.iter().filter(|line| told(line)).count(), usize::from(fails), "once: {found:?}");
    found.iter().any(|line| line.starts_with("task_artifact_owner_unreferenced "))
}

/// What was not read may be what names it: of a transcript, and of what the scan alone reads.
#[test]
fn an_owner_beside_something_unread_is_not_called_unreferenced() {
    for path in ["2026-01-02T00-00-00-000Z_s7.jsonl", ".staging/new.jsonl", "/a/sessions/.gjc-recovery/x/y.jsonl"] {
        assert!(unreferenced_beside(path, false), "near miss: {path} was read");
        assert!(!unreferenced_beside(path, true), "{path}");
    }
}

/// A special file among the owners has a code of its own; what a removal left is no owner and has no gauges.
#[test]
fn what_is_no_directory_and_what_is_no_owner_among_the_owners() {
    let other = format!("{OWNERS}/{}", owner_id("s2".into()).unwrap());
    let special = after(|journal| journal.tree.fs.special(&other, Kind::Fifo));
    assert!(!special.iter().any(|line| line.starts_with("task_artifact_owner_")), "{special:?}");
    let file = after(|journal| journal.tree.fs.file(&other, b""));
    assert!(file.iter().any(|line| line.starts_with("task_artifact_owner_replaced ")), "near miss: a file: {file:?}");
    let fullest = |name: &str| {
        let journal = Retirement::new();
        (0..9).for_each(|file| journal.tree.fs.file(format!("{OWNERS}/{name}/{file}"), b""));
        let run = checked(&journal.tree.fs, "/a", &options());
        run.gauges.iter().filter(|gauge| gauge.name == "owner_tree_entries").map(|gauge| gauge.used).max()
    };
    assert_eq!(fullest("x.removing"), Some(3), "the owner of the session");
    assert_eq!(fullest(&owner_id("s2".into()).unwrap()), Some(10), "near miss: an owner");
}

// what keeps gjc from retiring any owner

/// Findings of `owner_scan_blocked` alone.
fn blocked(change: impl FnOnce(&Retirement)) -> Vec<String> {
    after(change).into_iter().filter_map(|line| line.strip_prefix("owner_scan_blocked ").map(str::to_owned)).collect()
}

#[test]
fn owner_scan_blocked() {
    assert_eq!(blocked(|_| ()), NOTHING);
    assert_eq!(blocked(|j| j.tree.fs.symlink("/a/sessions/link", "/ws")), ["sessions/link"]);
    assert_eq!(blocked(|j| j.tree.fs.remove(j.tree.at(BINDING))), ["SCOPE"]);
    let saved = format!("{INTERNAL}.saved");
    assert_eq!(blocked(|j| j.tree.fs.directory(j.tree.at(&saved))), [format!("SCOPE/{saved}")]);
    assert_eq!(
        blocked(|j| j.tree.fs.directory("/a/sessions/-old-/.gjc-managed-session-internal")),
        ["sessions/-old-/.gjc-managed-session-internal"]
    );
    assert_eq!(blocked(|j| j.tree.fs.chmod(&j.tree.scope, 0o755)), ["SCOPE"]);
    assert_eq!(blocked(|j| j.tree.fs.file(j.tree.at("x.jsonl.bak"), b"")), ["SCOPE/x.jsonl.bak"], "no header");
    assert_eq!(blocked(|j| j.tree.fs.directory(j.tree.at("x.jsonl"))), ["SCOPE/x.jsonl"]);
    assert_eq!(blocked(|j| j.tree.fs.file(j.tree.at("x.jsonl.bak"), text_of(j).as_bytes())), ["SCOPE/x.jsonl.bak"], "the same owner");
    assert_eq!(blocked(|j| j.tree.fs.file("/a/sessions/.gjc-recovery/x/y.jsonl", b"{}")), ["sessions/.gjc-recovery/x/y.jsonl"]);
}

#[test]
fn what_blocks_no_retirement() {
    assert_eq!(
        blocked(|j| j.tree.fs.file(j.tree.at("x.jsonl.bak"), text("s7", "").as_bytes())),
        NOTHING,
        "a copy of a session without owner"
    );
    assert_eq!(blocked(|j| j.tree.fs.file(j.tree.at("x.jsonl.spill.idx"), b"")), NOTHING, "a derived sidecar");
    assert_eq!(blocked(|j| j.tree.fs.file("/a/sessions/notes.txt", b"")), NOTHING, "a file in the sessions root");
    assert_eq!(blocked(|j| j.tree.fs.directory("/a/sessions/-old-")), NOTHING, "a legacy directory");
}

#[test]
fn what_another_code_says_of_the_same_object_is_not_said_again() {
    let stray = after(|j| j.tree.fs.directory("/a/sessions/stray"));
    assert_eq!(stray, ["unknown_scope_dir sessions/stray"]);
    let roles = after(|j| j.tree.fs.directory(j.tree.at(&format!("{INTERNAL}/more"))));
    assert_eq!(roles, [format!("managed_gc_protocol_roles_invalid SCOPE/{INTERNAL}")]);
    assert_eq!(after(|j| j.tree.fs.chmod("/a/sessions", 0o755)), ["agent_dir_mode_drift sessions"]);
}

#[test]
fn obstacles_of_one_kind_are_told_once_and_only_where_there_is_an_owner() {
    let several = blocked(|j| {
        for number in 0..5 {
            j.tree.fs.file(j.tree.at(&format!("x{number}.jsonl.bak")), b"");
        }
    });
    assert_eq!(several, ["SCOPE/x0.jsonl.bak"]);
    let tree = Tree::new();
    tree.fs.file(tree.at("x.jsonl.bak"), b"");
    let found = super::found(&tree);
    assert!(!found.iter().any(|line| line.starts_with("owner_scan_blocked")), "{found:?}");
}

/// The operations of a check of a session with an owner: what is asked, and of what.
pub(super) fn operations_on(journal: &Retirement) -> Vec<(&'static str, PathBuf)> {
    let calls = Mutex::new(Vec::new());
    let counting = Inject::new(&journal.tree.fs, |call| {
        if call.phase == Phase::Before {
            calls.lock().unwrap().push((call.op, call.path.to_owned()));
        }
        None
    });
    found_in(&checked(&counting, "/a", &options()));
    let calls = calls.lock().unwrap().clone();
    assert!(calls.len() > 150, "{}", calls.len());
    calls
}

/// One operation that fails once is no damage: nothing is blamed that was never wrong.
#[test]
fn a_failure_at_every_operation_blames_no_owner() {
    let journal = Retirement::new();
    for (position, (op, path)) in operations_on(&journal).iter().enumerate() {
        let inject =
            Inject::new(&journal.tree.fs, |call| (call.number == position as u64 && call.phase == Phase::Before).then_some(Errno::IO));
        let found = found_in(&checked(&inject, "/a", &options()));
        let blamed = found.iter().any(|line| line.starts_with("task_artifact_owner_") || line.starts_with("owner_scan_blocked "));
        // A directory whose ACL cannot be asked for is none that gjc takes for private at that moment.
        assert!(!blamed || *op == "getxattr", "{op} {} at {position}: {found:?}", path.display());
    }
}

/// What fails and goes on failing in the directory of owners shows.
#[test]
fn a_failing_operation_on_an_owner_is_told() {
    let journal = Retirement::new();
    let calls: std::collections::BTreeSet<(&str, PathBuf)> = operations_on(&journal).into_iter().collect();
    let on_owners = calls.into_iter().filter(|(op, path)| path.starts_with(OWNERS) && *op != "close");
    let on_owners: Vec<_> = on_owners.filter(|(_, path)| journal.tree.fs.present(path).unwrap()).collect();
    assert!(on_owners.len() > 8, "{on_owners:?}");
    for (op, path) in on_owners {
        let inject = Inject::new(&journal.tree.fs, |call| (call.op == op && call.path == path).then_some(Errno::IO));
        assert_ne!(found_in(&checked(&inject, "/a", &options())), NOTHING, "{op} {}", path.display());
    }
}

/// A receipt that was not read may be the one that names the owner.
#[test]
fn an_owner_beside_a_receipt_that_was_not_read_is_not_called_unreferenced() {
    let found = |change: fn(&Retirement), fails: bool| {
        let journal = Retirement::new().with(0);
        journal.tree.fs.remove(journal.tree.transcript());
        change(&journal);
        let path = journal.path(State::Prepared);
        let inject =
            Inject::new(&journal.tree.fs, |call| (fails && call.op == "open" && call.path == Path::new(&path)).then_some(Errno::IO));
        let found = found_in(&checked(&inject, "/a", &options()));
        let has = |code: &str| found.iter().any(|line| line.starts_with(code));
        (has("object_unreadable "), has("task_artifact_owner_unreferenced "))
    };
    let bare = |journal: &Retirement| {
        for state in [State::Prepared, State::ArtifactsRemoved] {
            journal.tree.fs.remove(journal.path(state));
        }
    };
    assert_eq!(found(|_| (), true), (true, false));
    assert_eq!(found(|_| (), false), (false, false), "it names it");
    assert_eq!(found(bare, false), (false, true), "near miss: there is none");
}

/// The mode of the agent directory is asked for where it is part of what is checked.
#[test]
fn the_agent_directory_around_a_sessions_root_is_no_obstacle_of_it() {
    let journal = Retirement::new();
    journal.tree.fs.chmod("/a", 0o755);
    let of = |target: &str| found_in(&checked(&journal.tree.fs, target, &options()));
    assert_eq!(of("/a/sessions"), NOTHING);
    assert_ne!(of("/a"), NOTHING, "near miss");
}

/// What is said of the transcript itself does not name it once more.
#[test]
fn who_names_an_owner_is_named_where_it_is_another_object() {
    let related = |change: &dyn Fn(&Retirement)| {
        let journal = Retirement::new();
        change(&journal);
        let run = checked(&journal.tree.fs, "/a", &options());
        let own = run.findings.iter().filter(|finding| finding.code.area == "owner");
        own.map(|finding| (finding.code.name, finding.related.len())).collect::<Vec<_>>()
    };
    assert_eq!(related(&|journal| journal.tree.fs.remove(root())), [("task_artifact_owner_missing", 0)]);
    let manifest = |journal: &Retirement| journal.tree.fs.remove(format!("{}/{MANIFEST}", root()));
    assert_eq!(related(&manifest), [("task_artifact_owner_manifest_missing", 1)]);
}

/// A transcript whose header is not its first line opens, and gjc's scan cannot know that it names no owner.
#[test]
fn a_transcript_that_does_not_tell_its_owner_blocks() {
    let beside = |before: &str| {
        blocked(|j| j.tree.fs.file(j.tree.at("2026-01-02T00-00-00-000Z_s7.jsonl"), format!("{before}{}", text("s7", "")).as_bytes()))
    };
    assert_eq!(beside("\n"), ["SCOPE/2026-01-02T00-00-00-000Z_s7.jsonl"]);
    assert_eq!(beside(""), NOTHING, "near miss");
}
