//! `tree` and `context` as a user runs them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test runs the program on its own files")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LINES: &str = concat!(
    r#"{"type":"session","version":5,"id":"sess-1","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w/app"}"#,
    "\n",
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","message":{"role":"user","content":"ask"}}"#,
    "\n",
    r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-03-01T08:00:02.000Z","message":{"role":"assistant","content":[]}}"#,
    "\n",
    r#"{"type":"message","id":"c","parentId":"a","timestamp":"2026-03-01T08:00:03.000Z","message":{"role":"user","content":"again"}}"#,
    "\n",
    r#"{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"user","content":"asked otherwise"}}}"#,
    "\n",
);

fn program(folder: &Path, args: &[&str]) -> Command {
    std::fs::write(folder.join("in.jsonl"), LINES).unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gjc-fsck"));
    command.env_clear().env("COLUMNS", "60").current_dir(folder).args(args);
    command
}
fn run(args: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = program(folder.path(), args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn the_tree_is_drawn() {
    let (status, out, err) = run(&["tree", "in.jsonl"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("2 ● user a  asked otherwise\n3 ├─· assistant b\n4 ● user c <- leaf  again\n"), "{out}");
}

#[test]
fn the_tree_has_a_json_form() {
    for args in [["tree", "in.jsonl", "--json"], ["tree", "in.jsonl", "--format=json"]] {
        let (status, out, _) = run(&args);
        let tree: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(status, 0);
        assert_eq!(tree["path_lines"], serde_json::json!([2, 4]));
        assert_eq!(tree["entries"][1]["children_lines"], serde_json::json!([3, 4]));
    }
}

#[test]
fn the_context_of_a_leaf() {
    let messages = |args: &[&str]| -> serde_json::Value {
        let (status, out, _) = run(&[&["context", "in.jsonl", "--json"], args].concat());
        assert_eq!(status, 0);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["message_entry_ids"].take()
    };
    assert_eq!(messages(&[]), serde_json::json!(["a", "c"]));
    assert_eq!(messages(&["--leaf", "b"]), serde_json::json!(["a", "b"]));
    assert_eq!(messages(&["--leaf", "zz"]), serde_json::json!(["a", "c"]));
    assert_eq!(messages(&["--leaf-null"]), serde_json::json!([]));
}

/// gjc takes the last entry then. The JSON form answers what gjc answers, and says so; people are told that they mistyped.
#[test]
fn a_leaf_that_no_entry_has_is_never_taken_in_silence() {
    let (status, out, err) = run(&["context", "in.jsonl", "--json", "--leaf", "zz"]);
    assert_eq!(status, 0);
    assert!(out.starts_with(r#"{"context":"#));
    assert_eq!(err, "no entry has the id `zz`: this is the context of the last entry, as gjc answers then\n");
    for form in ["--text", "--as-model"] {
        let args = ["context", "in.jsonl", form, "--leaf", "zz"];
        let (status, out, err) = run(&args);
        assert_eq!((status, out.as_str()), (16, ""), "{args:?}");
        assert!(err.contains("no entry has the id `zz`"), "{err}");
    }
    assert_eq!(run(&["tree", "in.jsonl", "--leaf", "zz"]).0, 16);
    assert_eq!(run(&["tree", "in.jsonl", "--leaf", "sess-1"]).0, 16, "the session id is no entry");
    assert_eq!(run(&["tree", "in.jsonl", "--leaf", "b"]).0, 0);
}

#[test]
fn the_context_for_people_and_for_a_model() {
    let (status, text, _) = run(&["context", "in.jsonl"]);
    assert_eq!(status, 0);
    assert!(text.contains("Messages\n  2 user"), "{text}");
    let (status, model, _) = run(&["context", "in.jsonl", "--as-model"]);
    assert_eq!(status, 0);
    assert!(model.starts_with(r#"{"messages":[{"role":"user","content":"asked otherwise","attribution":"user"}"#), "{model}");
}

#[test]
fn the_budget_of_the_environment_is_in_force() {
    let folder = tempfile::tempdir().unwrap();
    let output = program(folder.path(), &["context", "in.jsonl"]).env("GJC_SESSION_CONTEXT_BUDGET_BYTES", "100").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("context_too_large"));
    let output = program(folder.path(), &["context", "in.jsonl"]).env("GJC_SESSION_CONTEXT_BUDGET_BYTES", "1e9").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("is ignored"));
}

#[test]
fn what_gjc_does_not_load_is_refused() {
    let run = |text: &str, args: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let mut child = program(folder.path(), args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, _, err) = run("7\n", &["tree", "-"]);
    assert_eq!(status, 4);
    assert!(err.contains("does not begin with a session header"), "{err}");
    assert_eq!(run("7\n", &["context", "-", "--json"]), (4, "{\"not_loaded\":true}\n".to_owned(), String::new()));
    let null = "{\"type\":\"session\",\"id\":\"s\"}\nnull\n";
    assert!(run(null, &["context", "-", "--json"]).1.starts_with("{\"throws\":"));
    assert_eq!(run(null, &["context", "-"]).0, 4);
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let mut text = String::from(LINES);
    for n in 0..20_000 {
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"m{n}\",\"parentId\":\"a\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n"
        ));
    }
    std::fs::write(path, text).unwrap();
    let mut child = program(folder.path(), &["tree", "long.jsonl"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut few = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}
