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
    assert_eq!(code(&gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"])), 0);
    let again = gjc_fsck(&tree, &["agent", "--plan", "-o", "plan.json"]);
    assert_eq!(code(&again), 8, "a plan file is never replaced: {}", said(&again));
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
    assert_eq!(code(&again), 8, "{}", said(&again));
    let healthy = gjc_fsck(&tree, &["--salvage", copy.to_str().unwrap(), "-o", "home"]);
    assert_eq!((code(&healthy), said(&healthy).contains("nothing to salvage")), (0, true), "{}", said(&healthy));
    for inside in ["agent/sessions".to_owned(), Path::new(&source).parent().unwrap().to_string_lossy().into_owned()] {
        let refused = gjc_fsck(&tree, &["--salvage", copy.to_str().unwrap(), "-o", &inside]);
        assert_eq!(code(&refused), 16, "{inside}: {}", said(&refused));
    }
    assert_eq!(code(&gjc_fsck(&tree, &["--salvage", &source])), 16);
    assert_eq!(snapshot(&tree.root.join("agent")), before);
}
