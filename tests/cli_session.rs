//! `session run` as a user runs it.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads and writes its own files")]

use assert_cmd::Command;

const SCRIPT: &str = concat!(
    r#"{"op":"appendMessage","as":"u","message":{"role":"user","content":"hello"}}"#,
    "\n",
    r#"{"op":"appendLabelChange","targetId":"nope","label":"x"}"#,
    "\n\n",
    r#"{"op":"snapshot","as":"before"}"#,
    "\n",
    r#"{"op":"appendMessage","message":{"role":"assistant","content":[{"type":"image","data":{"$base64_of":{"byte":1,"count":900}}}]}}"#,
    "\n",
);

/// Exit status, standard output, standard error.
fn run(folder: &std::path::Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("gjc-fsck").unwrap().current_dir(folder).args(["session", "run"]).args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn with_script(script: &str, args: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), script).unwrap();
    run(folder.path(), &[&["script"], args].concat())
}

#[test]
fn a_session_that_did_not_reach_the_disk_says_so() {
    let user = r#"{"op":"appendMessage","message":{"role":"user","content":"hello"}}"#;
    let (status, out, err) = with_script(user, &[]);
    assert_eq!((status, out.as_str()), (0, ""));
    assert!(err.contains("nothing was written yet"), "{err}");
    let (_, out, err) = with_script(&format!("{user}\n{}", r#"{"op":"ensureOnDisk"}"#), &[]);
    assert_eq!((out.lines().count(), err.as_str()), (2, ""));
}

#[test]
fn the_transcript_goes_to_standard_output_and_what_threw_is_said() {
    let (status, out, err) = with_script(SCRIPT, &["--gjc", "0.15"]);
    assert_eq!(status, 4);
    assert_eq!(err, "operation 1 threw Error: Entry nope not found\n");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].ends_with(r#""timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w/app"}"#), "{}", lines[0]);
    assert!(lines[2].contains(r#""data":"blob:sha256:2d13b239b4ee0963dca956fd1580ff27701acba4c90f4415262011b2e5f4f20d""#), "{}", lines[2]);
    assert_eq!(with_script(SCRIPT, &["--gjc", "0.15"]).1, out);
    assert_ne!(with_script(SCRIPT, &["--gjc", "0.15", "--seed", "1"]).1, out);
}

#[test]
fn json_tells_everything() {
    let (status, out, _) = with_script(SCRIPT, &["--json"]);
    assert_eq!(status, 4);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["snapshots"]["before"]["exists"], false);
    assert_eq!(answer["op_errors"]["1"]["message"], "Entry nope not found");
    assert_eq!(answer["blobs"][0]["bytes"], 900);
    assert_eq!(answer["files"][0]["lines"].as_array().unwrap().len(), 3);
}

#[test]
fn a_transcript_is_opened_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let old = "{\"type\":\"session\",\"version\":4,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";
    std::fs::write(folder.path().join("old.jsonl"), old).unwrap();
    std::fs::write(folder.path().join("script"), "").unwrap();
    let (status, out, _) = run(folder.path(), &["script", "--open", "old.jsonl"]);
    assert_eq!((status, out.as_str()), (0, old.replace(":4", ":5").as_str()));
    assert_eq!(std::fs::read_to_string(folder.path().join("old.jsonl")).unwrap(), old);
    std::fs::write(folder.path().join("bad.jsonl"), "{}\n").unwrap();
    let (status, out, err) = run(folder.path(), &["script", "--open", "bad.jsonl"]);
    assert_eq!((status, out.as_str()), (4, ""));
    assert!(err.contains("bad.jsonl: Could not open session: malformed"), "{err}");
}

/// Path below the folder and text of every file.
fn files(folder: &std::path::Path) -> Vec<(String, String)> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let file = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        (name, String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned())
    };
    all.map(file).collect()
}

#[test]
fn transcripts_and_blobs_become_new_files_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), format!("{SCRIPT}{}\n", r#"{"op":"fork"}"#)).unwrap();
    let (status, out, err) = run(folder.path(), &["script", "-o", "out"]);
    assert_eq!((status, out.as_str(), err.as_str()), (4, "", "operation 1 threw Error: Entry nope not found\n"));
    let written = files(&folder.path().join("out"));
    let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"blobs/2d13b239b4ee0963dca956fd1580ff27701acba4c90f4415262011b2e5f4f20d"), "{names:?}");
    assert!(written.iter().any(|(_, text)| text.contains("\"parentSession\":")));
    // Files and one object are two answers.
    for json in [&["--json"][..], &["--format", "json"]] {
        let (status, out, err) = run(folder.path(), &[&["script", "-o", "both"][..], json].concat());
        assert_eq!((status, out.as_str(), err.contains("ask for one of both")), (16, "", true), "{err}");
        assert!(!folder.path().join("both").exists());
    }
    // Nothing is overwritten.
    let (status, _, err) = run(folder.path(), &["script", "-o", "out"]);
    assert_eq!(status, 16);
    assert!(err.contains("nothing is overwritten"), "{err}");
    assert_eq!(files(&folder.path().join("out")), written);
}

/// A draft lies beside its transcript; what was moved lies where it was moved to, and never outside the folder.
#[test]
fn what_is_not_in_the_folder_of_the_transcripts_keeps_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let script = [
        r#"{"op":"saveDraft","text":"later"}"#,
        r#"{"op":"newSession"}"#,
        r#"{"op":"ensureOnDisk"}"#,
        r#"{"op":"moveTo","cwd":"/w/b","agentDir":"/../agent"}"#,
    ];
    std::fs::write(folder.path().join("script"), script.join("\n")).unwrap();
    let (status, out, err) = run(folder.path(), &["script", "-o", "out"]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "", ""));
    let names: Vec<String> = files(&folder.path().join("out")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(names.iter().filter(|name| name.starts_with("agent/sessions/v2-")).count(), 2, "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("/draft.txt")), "{names:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn an_older_version_is_written_as_it_was() {
    let script = [
        r#"{"op":"appendMessage","message":{"role":"user","content":"q"}}"#,
        r#"{"op":"appendMessage","message":{"role":"assistant","content":"a"}}"#,
    ]
    .join("\n");
    let (_, out, _) = with_script(&script, &["--format-version", "1", "--gjc", "0.15"]);
    assert!(!out.contains("version") && !out.contains("parentId"), "{out}");
    let (_, out, _) = with_script(&script, &["--format-version", "3"]);
    assert!(out.starts_with(r#"{"type":"session","version":3,"#), "{out}");
    let branch = format!("{script}\n{}\n{}", r#"{"op":"resetLeaf"}"#, r#"{"op":"appendMessage","message":{"role":"user","content":"r"}}"#);
    let (status, out, err) = with_script(&branch, &["--format-version", "1"]);
    assert_eq!((status, out.as_str()), (4, ""));
    assert!(err.contains("version 1 knows one chain only"), "{err}");
}

/// The cases of the suite `persist` are scripts.
#[test]
fn several_cases_become_a_folder_each() {
    let suite = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/persist.jsonl")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<&str> = suite.lines().take(3).collect();
    std::fs::write(folder.path().join("script"), cases.join("\n")).unwrap();
    let (status, out, err) = run(folder.path(), &["script", "-o", "out", "--gjc", "0.15"]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "", ""));
    let written = files(&folder.path().join("out"));
    assert_eq!(written.len(), 3);
    for (case, (path, text)) in cases.iter().zip(&written) {
        let case: serde_json::Value = serde_json::from_str(case).unwrap();
        let named = written.iter().find(|(path, _)| path.starts_with(case["name"].as_str().unwrap()));
        let lines = case["expect"]["files"][0]["lines"].as_array().unwrap().len();
        assert_eq!(named.unwrap().1.lines().count(), lines, "{path}: {text}");
    }
    let (status, out, err) = run(folder.path(), &["script"]);
    assert_eq!((status, out.as_str()), (16, ""));
    assert!(err.contains("name a folder with -o"), "{err}");
    assert_eq!(run(folder.path(), &["script", "--json"]).1.lines().count(), 3);
}

#[test]
fn a_wrong_script_is_wrong_usage() {
    for (script, says) in [
        ("{\n", "script:1: this is no JSON"),
        ("\n{\"op\":\"fly\"}\n", "script:2: no operation is called `fly`"),
        ("{\"op\":\"appendMessage\"}", "script:1: `message` is missing"),
        ("7\n", "script:1: `op` is missing"),
    ] {
        let (status, out, err) = with_script(script, &[]);
        assert_eq!((status, out.as_str()), (16, ""));
        assert!(err.contains(says), "{err}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), "{\"op\":\"fly\"}\n").unwrap();
    assert_eq!(run(folder.path(), &["script", "-o", "new"]).0, 16);
    assert!(!folder.path().join("new").exists(), "it leaves nothing behind");
}
