//! The command `repair`, run as a user runs it.

use super::common::snapshot;
use super::together::legacy_tree;
use super::tree::Tree;
use gjc_fsck::corpus::clean;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn gjc_fsck(tree: &Tree, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gjc-fsck"));
    command.env_clear().env("HOME", tree.root.join("home")).env("COLUMNS", "100").current_dir(&tree.root);
    command.arg("repair").args(arguments).output().unwrap()
}
fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
fn source(tree: &Tree, id: &str) -> PathBuf {
    tree.root.join("agent/sessions").join(tree.expand("{{legacy:ws}}")).join(clean::name(id))
}
fn proofs(tree: &Tree) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(tree.root.join("proofs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// What a published schema says against a file.
fn complaints(tree: &Tree, file: &str) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gjc-fsck"));
    let checked = command.current_dir(&tree.root).args(["schema", "--check", file, "--format", "concise"]).output().unwrap();
    let told: Vec<String> = String::from_utf8(checked.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(checked.status.code(), Some(if told.is_empty() { 0 } else { 4 }), "{file}: {}", String::from_utf8_lossy(&checked.stderr));
    told
}

#[test]
fn plans_proofs_and_receipts_follow_their_published_schemas() {
    let tree = legacy_tree(2);
    std::fs::create_dir(tree.root.join("proofs")).unwrap();
    let kept = gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"]);
    assert_eq!((code(&kept), said(&kept).contains("`gjc-fsck repair --apply plan.json --proof DIR`")), (0, true), "{}", said(&kept));
    assert_eq!(complaints(&tree, "plan.json"), [] as [&str; 0]);
    let applied = gjc_fsck(&tree, &["--apply", "plan.json", "--proof", "proofs"]);
    assert_eq!(code(&applied), 1, "{}", said(&applied));
    let scope = tree.root.join("agent/sessions").join(tree.expand("v2-{{digest:ws}}"));
    let mut files = proofs(&tree);
    assert_eq!(files.len(), 2);
    files.push(scope.join(".gjc-managed-session-scope.v2.json"));
    let receipts = std::fs::read_dir(scope.join(".gjc-managed-session-internal/receipts")).unwrap();
    files.extend(receipts.map(|entry| entry.unwrap().path()));
    assert_eq!(files.len(), 5, "two proofs, the binding, two receipts: {files:?}");
    for file in &files {
        assert_eq!(complaints(&tree, file.to_str().unwrap()), [] as [&str; 0], "{}", file.display());
    }
    // A salvage, and what it proves.
    let torn = source(&tree, "s0");
    std::fs::write(&torn, [std::fs::read(&torn).unwrap(), b"{\"type\":\"lab".to_vec()].concat()).unwrap();
    std::fs::create_dir(tree.root.join("mended")).unwrap();
    let salvaged = gjc_fsck(&tree, &["--salvage", torn.to_str().unwrap(), "-o", "mended"]);
    assert_eq!(code(&salvaged), 1, "{}", said(&salvaged));
    let made = std::fs::read_dir(tree.root.join("mended")).unwrap().map(|entry| entry.unwrap().path());
    let salvage: Vec<PathBuf> = made.filter(|path| path.to_str().unwrap().ends_with(".salvage.json")).collect();
    assert_eq!(complaints(&tree, salvage[0].to_str().unwrap()), [] as [&str; 0]);
    // The schemas can refuse.
    let plan = std::fs::read_to_string(tree.root.join("plan.json")).unwrap().replacen("\"sessions\"", "\"session\"", 1);
    std::fs::write(tree.root.join("plan.json"), plan).unwrap();
    assert_eq!(complaints(&tree, "plan.json").len(), 2, "a member too many and one that is missing");
}

#[test]
fn a_plan_writes_nothing_and_says_what_would_be_done() {
    let tree = legacy_tree(2);
    let before = snapshot(&tree.root.join("agent"));
    let plan = gjc_fsck(&tree, &["agent"]);
    assert_eq!(code(&plan), 0, "{}", said(&plan));
    assert_eq!(snapshot(&tree.root.join("agent")), before);
    let text = said(&plan);
    for wanted in ["2 sessions would be copied", "copy     s0", "copy     s1", "2 artifacts", "make", "the binding", "repair --apply"] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
}

#[test]
fn a_plan_file_is_carried_out_and_what_changed_since_is_refused() {
    let tree = legacy_tree(2);
    let kept = gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"]);
    assert_eq!((code(&kept), said(&kept).contains("the plan is written to plan.json")), (0, true), "{}", said(&kept));
    let again = gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"]);
    assert_eq!(code(&again), 16, "a plan file is never replaced: {}", said(&again));
    std::fs::write(source(&tree, "s1"), clean::transcript("s1", &tree.root.join("ws").to_string_lossy(), "")).unwrap();
    let applied = gjc_fsck(&tree, &["--apply", "plan.json"]);
    assert_eq!(code(&applied), 1 | 4, "{}", said(&applied));
    assert!(said(&applied).contains("1 session copied, 1 left alone"), "{}", said(&applied));
    assert!(said(&applied).contains("source_changed"), "{}", said(&applied));
    let finished = gjc_fsck(&tree, &["agent", "--apply"]);
    assert_eq!(code(&finished), 1, "{}", said(&finished));
    let nothing = gjc_fsck(&tree, &["agent", "--apply"]);
    assert_eq!((code(&nothing), said(&nothing).contains("nothing to repair")), (0, true), "{}", said(&nothing));
}

#[test]
fn a_proof_holds_until_somebody_changes_what_it_says() {
    let tree = legacy_tree(1);
    std::fs::create_dir(tree.root.join("proofs")).unwrap();
    let applied = gjc_fsck(&tree, &["agent", "--apply", "--proof", "proofs"]);
    assert_eq!(code(&applied), 1, "{}", said(&applied));
    let [proof] = proofs(&tree).try_into().unwrap();
    let proof = proof.to_string_lossy().into_owned();
    let verify = || gjc_fsck(&tree, &["--verify", &proof]);
    assert_eq!(code(&verify()), 0, "{}", said(&verify()));
    let text = std::fs::read_to_string(&proof).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["bytesEqual"], true);
    assert_eq!(value["source"]["before"], value["source"]["after"]);
    assert_eq!(value["source"]["before"]["sha256"], value["destination"]["sha256"]);
    assert_eq!(value["leftOut"], serde_json::json!([]));
    assert_eq!(value["artifacts"].as_array().unwrap().len(), 4);
    let copy = Path::new(value["destination"]["path"].as_str().unwrap()).to_owned();
    // The session goes on: that breaks nothing.
    use std::io::Write;
    std::fs::File::options().append(true).open(&copy).unwrap().write_all(clean::label("more").as_bytes()).unwrap();
    assert_eq!(code(&verify()), 0, "{}", said(&verify()));
    assert!(said(&verify()).contains("added since"));
    // An artifact of the copy is changed, the copy cut, the source touched: each is seen by itself.
    let artifact = copy.with_extension("").join("0.bash.log");
    let kept = std::fs::read(&artifact).unwrap();
    std::fs::write(&artifact, "other").unwrap();
    assert_eq!((code(&verify()), said(&verify()).contains("2 statements")), (4, true), "{}", said(&verify()));
    std::fs::write(&artifact, kept).unwrap();
    assert_eq!(code(&verify()), 0, "{}", said(&verify()));
    std::fs::File::options().write(true).open(&copy).unwrap().set_len(10).unwrap();
    assert_eq!(code(&verify()), 4);
}

#[test]
fn a_directory_that_is_not_owner_only_is_secured_only_when_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let tree = legacy_tree(1);
    let sessions = tree.root.join("agent/sessions");
    let mode = |bits: u32| std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(bits)).unwrap();
    mode(0o755);
    let before = snapshot(&tree.root.join("agent"));
    for arguments in [&["agent"][..], &["agent", "--apply"]] {
        let refused = gjc_fsck(&tree, arguments);
        assert_eq!(code(&refused), 4, "{}", said(&refused));
        assert!(said(&refused).contains("mode_mismatch"), "{}", said(&refused));
    }
    assert_eq!(snapshot(&tree.root.join("agent")), before);
    let plan = gjc_fsck(&tree, &["agent", "--secure-modes"]);
    assert!(said(&plan).contains("sessions 0755 → 0700"), "{}", said(&plan));
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--apply", "--secure-modes"])), 1);
    assert_eq!(std::fs::metadata(&sessions).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn the_policy_disabled_is_honoured() {
    let tree = legacy_tree(2);
    let before = snapshot(&tree.root.join("agent"));
    let output = gjc_fsck(&tree, &["agent", "--apply", "--policy", "disabled"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("legacy_migration_disabled"), "{}", said(&output));
    assert_eq!(snapshot(&tree.root.join("agent")), before);
}

#[test]
fn a_plan_takes_no_other_policy() {
    let tree = legacy_tree(1);
    let plan = tree.root.join("plan.json").to_string_lossy().into_owned();
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--plan", "-o", &plan])), 0);
    let before = snapshot(&tree.root.join("agent"));
    let output = gjc_fsck(&tree, &["--apply", &plan, "--policy", "disabled"]);
    assert_eq!(code(&output), 16, "{}", said(&output));
    assert!(said(&output).contains("a plan already says its policy"), "{}", said(&output));
    assert_eq!(snapshot(&tree.root.join("agent")), before);
}

#[test]
fn a_plan_with_mode_changes_is_applied_only_with_consent() {
    use std::os::unix::fs::PermissionsExt;
    let tree = legacy_tree(1);
    let sessions = tree.root.join("agent/sessions");
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o755)).unwrap();
    let plan = tree.root.join("plan.json").to_string_lossy().into_owned();
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--secure-modes", "--plan", "-o", &plan])), 0);
    let before = snapshot(&tree.root.join("agent"));
    let refused = gjc_fsck(&tree, &["--apply", &plan]);
    assert_eq!(code(&refused), 4, "{}", said(&refused));
    assert!(said(&refused).contains("mode_mismatch"), "{}", said(&refused));
    assert_eq!(snapshot(&tree.root.join("agent")), before);
    let applied = gjc_fsck(&tree, &["--apply", &plan, "--secure-modes"]);
    assert_eq!(code(&applied), 1, "{}", said(&applied));
    assert_eq!(std::fs::metadata(&sessions).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn one_transcript_or_one_directory_can_be_meant() {
    let tree = legacy_tree(3);
    let one = source(&tree, "s1").to_string_lossy().into_owned();
    let output = gjc_fsck(&tree, &[&one, "--apply"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("1 session copied"), "{}", said(&output));
    let directory = source(&tree, "s1").parent().unwrap().to_string_lossy().into_owned();
    assert!(said(&gjc_fsck(&tree, &[&directory, "--apply"])).contains("2 sessions copied"));
}

#[test]
fn what_makes_no_sense_is_said_so() {
    let tree = legacy_tree(1);
    for (arguments, word) in [
        (&["agent", "--verify", "x"][..], "cannot be used with"),
        (&["agent", "--proof", "x"], "--proof goes with --apply"),
        (&["--apply", "agent"], "repair agent --apply"),
        (&["agent", "--apply", "-o", "x"], "-o goes with --plan"),
    ] {
        let output = gjc_fsck(&tree, arguments);
        assert_eq!(code(&output), 16, "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(word), "{arguments:?}: {}", said(&output));
    }
    let elsewhere = gjc_fsck(&tree, &["home"]);
    assert_eq!((code(&elsewhere), said(&elsewhere).contains("neither an agent directory")), (8, true), "{}", said(&elsewhere));
    std::fs::write(tree.root.join("not-a-plan.json"), "{}").unwrap();
    assert_eq!(code(&gjc_fsck(&tree, &["--apply", "not-a-plan.json"])), 16);
}

#[test]
fn salvage_writes_a_new_transcript_outside_and_never_over_anything() {
    let tree = legacy_tree(1);
    let source = source(&tree, "s0");
    let mut torn = std::fs::read(&source).unwrap();
    torn.extend_from_slice(b"{\"type\":\"mess");
    std::fs::write(&source, &torn).unwrap();
    let before = snapshot(&tree.root.join("agent"));
    let source = source.to_string_lossy().into_owned();
    std::fs::create_dir(tree.root.join("mended")).unwrap();
    let done = gjc_fsck(&tree, &["--salvage", &source, "-o", "mended"]);
    assert_eq!(code(&done), 1, "{}", said(&done));
    assert!(said(&done).contains("gjc opens the new transcript"), "{}", said(&done));
    assert_eq!(snapshot(&tree.root.join("agent")), before);
    let copy = tree.root.join("mended").join(clean::name("s0"));
    assert_eq!(std::fs::read(&copy).unwrap(), torn[..torn.len() - 13]);
    let proof: serde_json::Value = serde_json::from_slice(&std::fs::read(copy.with_extension("jsonl.salvage.json")).unwrap()).unwrap();
    assert_eq!(proof["left"][0]["to"], torn.len());
    assert_eq!((&proof["before"]["strict"], &proof["after"]["strict"]), (&"malformed".into(), &"resumable".into()));
    let again = gjc_fsck(&tree, &["--salvage", &source, "-o", "mended"]);
    assert_eq!(code(&again), 16, "{}", said(&again));
    let healthy = gjc_fsck(&tree, &["--salvage", copy.to_str().unwrap(), "-o", "home"]);
    assert_eq!((code(&healthy), said(&healthy).contains("nothing to salvage")), (0, true), "{}", said(&healthy));
    // What is whole and refused all the same is no success.
    let newer = tree.root.join("newer.jsonl");
    std::fs::write(&newer, String::from_utf8(std::fs::read(&copy).unwrap()).unwrap().replacen("\"version\":5", "\"version\":6", 1))
        .unwrap();
    let newer = gjc_fsck(&tree, &["--salvage", newer.to_str().unwrap(), "-o", "home"]);
    assert_eq!((code(&newer), said(&newer).contains("refuses the transcript for another reason")), (4, true), "{}", said(&newer));
    for inside in ["agent/sessions".to_owned(), Path::new(&source).parent().unwrap().to_string_lossy().into_owned()] {
        let refused = gjc_fsck(&tree, &["--salvage", copy.to_str().unwrap(), "-o", &inside]);
        assert_eq!(code(&refused), 16, "{inside}: {}", said(&refused));
    }
    assert_eq!(code(&gjc_fsck(&tree, &["--salvage", &source])), 16);
    assert_eq!(snapshot(&tree.root.join("agent")), before);
}

/// Everything is as it was, also in `.gjc-recovery`, and the answer says why.
#[test]
fn a_plan_that_is_carried_out_again_writes_nothing() {
    let tree = legacy_tree(2);
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"])), 0);
    assert_eq!(code(&gjc_fsck(&tree, &["--apply", "plan.json"])), 1);
    let before = snapshot(&tree.root);
    for _ in 0..2 {
        let again = gjc_fsck(&tree, &["--apply", "plan.json", "--proof", "tree-has-no-such/proofs"]);
        assert_eq!(code(&again), 8, "{}", said(&again));
        let again = gjc_fsck(&tree, &["--apply", "plan.json"]);
        assert_eq!(code(&again), 0, "{}", said(&again));
        for wanted in ["nothing left to do: 2 sessions were copied already", "s0 copied already", "s1 copied already"] {
            assert!(said(&again).contains(wanted), "{wanted} is missing in\n{}", said(&again));
        }
        assert_eq!(snapshot(&tree.root), before);
    }
    // A folder for proofs that nobody needed does not stay.
    assert_eq!(code(&gjc_fsck(&tree, &["--apply", "plan.json", "--proof", "proofs"])), 0);
    assert!(snapshot(&tree.root).keys().eq(before.keys()));
}

#[test]
fn what_changed_since_the_plan_is_named_and_no_lock_is_taken_for_it() {
    use std::io::Write;
    let tree = legacy_tree(2);
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"])), 0);
    let (s0, s1) = (source(&tree, "s0"), source(&tree, "s1"));
    std::fs::File::options().append(true).open(&s1).unwrap().write_all(clean::label("more").as_bytes()).unwrap();
    // Another file with the same bytes.
    std::fs::copy(&s0, tree.root.join("s0")).unwrap();
    std::fs::rename(tree.root.join("s0"), &s0).unwrap();
    let applied = gjc_fsck(&tree, &["--apply", "plan.json"]);
    assert_eq!(code(&applied), 4, "{}", said(&applied));
    let text = said(&applied).split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in ["another file (device and inode", "but not its bytes", "its size (", "its modification time", "another SHA-256"] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
    let locks = snapshot(&tree.root.join("agent")).into_keys().filter(|path| path.extension().is_some_and(|end| end == "lock")).count();
    assert_eq!(locks, 0);
}

#[test]
fn an_artifact_that_changed_since_the_plan_is_named() {
    let tree = legacy_tree(1);
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"])), 0);
    std::fs::write(source(&tree, "s0").with_extension("").join("new"), "new").unwrap();
    let applied = gjc_fsck(&tree, &["--apply", "plan.json"]);
    let text = said(&applied).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("its artifacts (2 files, 2 directories") && text.contains("now 3 files"), "{text}");
}

#[test]
fn the_folder_of_new_files_is_made_and_only_its_last_part() {
    use std::os::unix::fs::PermissionsExt;
    let tree = legacy_tree(2);
    let mode = |name: &str| std::fs::metadata(tree.root.join(name)).unwrap().permissions().mode() & 0o777;
    let source = source(&tree, "s1");
    let torn = [std::fs::read(&source).unwrap(), b"{\"type\":\"mess".to_vec()].concat();
    std::fs::write(tree.root.join("torn.jsonl"), torn).unwrap();
    let nowhere = gjc_fsck(&tree, &["agent", "--apply", "--proof", "no/proofs"]);
    assert_eq!((code(&nowhere), said(&nowhere).contains("there is no folder of this name")), (8, true), "{}", said(&nowhere));
    let nowhere = gjc_fsck(&tree, &["--salvage", "torn.jsonl", "-o", "no/mended"]);
    assert_eq!((code(&nowhere), said(&nowhere).contains("there is no folder of this name")), (8, true), "{}", said(&nowhere));
    let healthy = gjc_fsck(&tree, &["--salvage", source.to_str().unwrap(), "-o", "mended"]);
    assert_eq!((code(&healthy), tree.root.join("mended").exists()), (0, false), "{}", said(&healthy));
    let applied = gjc_fsck(&tree, &["agent", "--apply", "--proof", "proofs"]);
    assert_eq!((code(&applied), mode("proofs"), proofs(&tree).len()), (1, 0o700, 2), "{}", said(&applied));
    let salvaged = gjc_fsck(&tree, &["--salvage", "torn.jsonl", "-o", "mended"]);
    assert_eq!((code(&salvaged), mode("mended")), (1, 0o700), "{}", said(&salvaged));
}

#[test]
fn a_salvage_that_is_refused_leaves_no_file_and_no_folder() {
    let tree = legacy_tree(1);
    let torn = [std::fs::read(source(&tree, "s0")).unwrap(), b"{\"type\":\"mess".to_vec()].concat();
    std::fs::write(tree.root.join("torn.jsonl"), torn).unwrap();
    std::fs::write(tree.root.join("utf16.jsonl"), b"\xff\xfe{\0}\0\n\0").unwrap();
    let refused = gjc_fsck(&tree, &["--salvage", "utf16.jsonl", "-o", "mended"]);
    assert!(said(&refused).contains("this file is UTF-16"), "{}", said(&refused));
    assert!(!tree.root.join("mended").exists());
    // A copy of no record is no copy.
    std::fs::write(tree.root.join("mark.jsonl"), b"\xef\xbb\xbf").unwrap();
    let refused = gjc_fsck(&tree, &["--salvage", "mark.jsonl", "-o", "mended"]);
    assert_eq!((code(&refused), said(&refused).contains("no complete record is in this file")), (4, true), "{}", said(&refused));
    assert!(!tree.root.join("mended").exists());
    // The name of its proof is taken.
    std::fs::create_dir(tree.root.join("mended")).unwrap();
    std::fs::write(tree.root.join("mended/torn.jsonl.salvage.json"), "mine").unwrap();
    let refused = gjc_fsck(&tree, &["--salvage", "torn.jsonl", "-o", "mended"]);
    assert_eq!(code(&refused), 16, "{}", said(&refused));
    let left: Vec<_> = std::fs::read_dir(tree.root.join("mended")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["torn.jsonl.salvage.json"]);
}

#[test]
fn nothing_is_written_into_the_agent_directory_but_by_the_migration() {
    let tree = legacy_tree(1);
    std::fs::create_dir(tree.root.join("agent/blobs")).unwrap();
    let source = source(&tree, "s0");
    let legacy = source.parent().unwrap().to_string_lossy().into_owned();
    std::fs::write(tree.root.join("torn.jsonl"), [std::fs::read(&source).unwrap(), b"{".to_vec()].concat()).unwrap();
    let before = snapshot(&tree.root);
    for folder in ["agent", "agent/new", "agent/blobs", "agent/sessions", "agent/sessions/new", &legacy, &format!("{legacy}/new")] {
        for arguments in [
            &["agent", "--apply", "--proof", folder][..],
            &["agent", "--plan", "-o", &format!("{folder}/plan.json")],
            &["--salvage", "torn.jsonl", "-o", folder],
        ] {
            // The folder of a plan file is never made.
            if arguments.contains(&"--plan") && folder.ends_with("/new") {
                continue;
            }
            let refused = gjc_fsck(&tree, arguments);
            assert_eq!(code(&refused), 16, "{arguments:?}: {}", said(&refused));
            assert!(said(&refused).contains("lies in gjc's own storage"), "{arguments:?}: {}", said(&refused));
        }
    }
    assert_eq!(snapshot(&tree.root), before);
}

#[test]
fn a_salvage_proof_is_verified_too() {
    let tree = legacy_tree(1);
    let torn = [std::fs::read(source(&tree, "s0")).unwrap(), b"{\"type\":\"mess".to_vec()].concat();
    std::fs::write(tree.root.join("torn.jsonl"), &torn).unwrap();
    assert_eq!(code(&gjc_fsck(&tree, &["--salvage", "torn.jsonl", "-o", "mended"])), 1);
    let proof = tree.root.join("mended/torn.jsonl.salvage.json");
    let verify = || gjc_fsck(&tree, &["--verify", "mended/torn.jsonl.salvage.json"]);
    assert_eq!((code(&verify()), said(&verify()).contains("the salvage proof of")), (0, true), "{}", said(&verify()));
    let kept = std::fs::read_to_string(&proof).unwrap();
    // A size that the copy does not have, though all of it has the hash.
    let mut longer: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let size = longer["copy"]["size"].as_u64().unwrap();
    longer["copy"]["size"] = (size + 1).into();
    std::fs::write(&proof, longer.to_string()).unwrap();
    let told = said(&verify()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!((code(&verify()), told.contains(&format!("it has {size} of {} bytes", size + 1))), (4, true), "{told}");
    // A range that is not what was carried over; bytes of the copy; bytes of the source: each is seen.
    std::fs::write(&proof, kept.replacen("\"from\": 0", "\"from\": 1", 1)).unwrap();
    assert_eq!((code(&verify()), said(&verify()).contains("2 statements")), (4, true), "{}", said(&verify()));
    std::fs::write(&proof, kept).unwrap();
    let copy = tree.root.join("mended/torn.jsonl");
    let bytes = std::fs::read(&copy).unwrap();
    std::fs::write(&copy, &bytes[1..]).unwrap();
    assert_eq!((code(&verify()), said(&verify()).contains("1 statement of")), (4, true), "{}", said(&verify()));
    std::fs::write(&copy, bytes).unwrap();
    std::fs::write(tree.root.join("torn.jsonl"), &torn[..torn.len() - 1]).unwrap();
    assert_eq!((code(&verify()), said(&verify()).contains("2 statements")), (4, true), "{}", said(&verify()));
    std::fs::write(&proof, "{\"schema\":\"other\"}").unwrap();
    assert_eq!((code(&verify()), said(&verify()).contains("a proof of neither form")), (16, true), "{}", said(&verify()));
}
