//! The program as a user runs it: what it prints and how it exits.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

mod check;
#[path = "../support/committed.rs"]
mod committed;
mod diff;
mod dump;
mod export;
mod gates;
mod history;
mod hostile;
mod readme;
mod schema;
mod sessions;

/// The program with a bare environment, run in the repository.
fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gjc-fsck"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn explain_answers_a_code() {
    let output = run(&["explain", "managed_gc_journal_capacity_exceeded"]);
    assert_eq!(status(&output), 0);
    let page = out(&output);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["not a broken or a missing one", "Remove nothing", "What gjc does", "exit bit 2", "notes of the format: 03 §14"] {
        assert!(words.contains(said), "{said} is missing in:\n{page}");
    }
    assert!(!page.contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn explain_of_several_codes_as_json_is_a_list() {
    let output = run(&["explain", "read-failed", "dangling_parent", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list[0]["name"], "read_failed");
    assert_eq!(list[0]["token"], "read-failed");
    assert_eq!(list[1]["severity"], "warning");
}

#[test]
fn explain_of_an_unknown_name_shows_its_neighbours_and_exits_16() {
    let output = run(&["explain", "danglin_parent"]);
    assert_eq!(status(&output), 16);
    assert!(err(&output).contains("dangling_parent"), "{}", err(&output));
    assert!(out(&output).is_empty());
}

#[test]
fn codes_lists_every_code_with_everything_that_is_known_of_it() {
    let output = run(&["codes", "--format", "json"]);
    assert_eq!(status(&output), 0);
    let list: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list.len(), 360);
    for member in ["name", "area", "severity", "summary", "gjc", "help", "section", "since", "role"] {
        assert!(list.iter().all(|code| code[member].as_str().is_some_and(|text| !text.is_empty())), "{member}");
    }
    let journal = list.iter().find(|code| code["name"] == "managed_gc_journal_capacity_exceeded").unwrap();
    assert_eq!((&journal["class"], &journal["fatal"], &journal["releases"]), (&"C".into(), &true.into(), &serde_json::json!(["0.17"])));
}

#[test]
fn codes_of_one_area() {
    assert_eq!(out(&run(&["codes", "--area", "binding"])).lines().count(), 3);
    let output = run(&["codes", "--area", "nowhere"]);
    assert_eq!(status(&output), 16);
    assert!(err(&output).contains("tool pairing"), "{}", err(&output));
}

#[test]
fn records_prints_what_the_lenient_reader_yields() {
    let output = run(&["records", "corpus/field/04-glued-two-complete.jsonl"]);
    assert_eq!(status(&output), 0);
    let records = out(&output);
    assert_eq!(records.lines().count(), 4);
    assert!(records.lines().all(|line| line.starts_with('{') && line.ends_with('}')));
    assert!(!records.contains("aaaaaaa3\",\"parentId\":\"aaaaaaa2"), "the second record of the line is dropped");
}

#[test]
fn records_reads_standard_input_and_keeps_what_is_no_object() {
    let mut child = program().args(["records", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"a\": 1e2}\nnull\n[1,]\n\"x\"\n-0\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(out(&output), "{\"a\":100}\nnull\n\"x\"\n0\n");
}

#[test]
fn replay_folds_patches_into_the_entries() {
    let output = run(&["replay", "corpus/field/57-header-patch-ok.jsonl", "--json"]);
    assert_eq!(status(&output), 0);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let entries = answer["entries"].as_array().unwrap();
    assert_eq!(entries[0]["type"], "session");
    assert!(entries.iter().all(|entry| entry["type"] != "header_patch"), "{answer}");
    let lines = out(&run(&["replay", "corpus/field/57-header-patch-ok.jsonl", "--lines"]));
    assert_eq!(lines.lines().count(), entries.len());
    let text = out(&run(&["replay", "corpus/field/57-header-patch-ok.jsonl"]));
    assert!(text.contains("patched by line"), "{text}");
}

#[test]
fn replay_says_what_gjc_throws() {
    let file = "corpus/field/18-version-6.jsonl";
    let output = run(&["replay", file, "--json"]);
    assert_eq!(out(&output), "{\"throws\":\"Unsupported session version: 6\"}\n");
    assert_eq!(status(&output), 4);
    let output = run(&["replay", file]);
    assert_eq!(status(&output), 4);
    assert!(err(&output).contains("Unsupported session version: 6"), "{}", err(&output));
}

/// The answer is that of the vectors of `load`; the exit status tells it from what was asked for.
#[test]
fn replay_of_what_gjc_does_not_load_has_no_entries() {
    let file = "corpus/v5/empty_transcript/trigger.jsonl";
    let output = run(&["replay", file, "--json"]);
    assert_eq!((status(&output), out(&output).as_str(), err(&output).as_str()), (4, "{\"entries\":[]}\n", ""));
    let output = run(&["replay", file]);
    assert_eq!((status(&output), out(&output).as_str()), (4, ""));
    assert!(err(&output).contains("gjc loads nothing of this file"), "{}", err(&output));
}

#[test]
fn a_file_that_is_not_there_is_named_and_exits_8() {
    for file in ["no/such/file.jsonl", "src"] {
        let output = run(&["records", file]);
        assert_eq!(status(&output), 8, "{file}");
        assert!(err(&output).contains(file), "{}", err(&output));
    }
}

#[test]
fn who_asks_for_json_where_there_is_none_is_told_where_there_is() {
    let asked = |args: &[&str]| {
        let output = run(args);
        (status(&output), err(&output))
    };
    let (bits, said) = asked(&["check", "corpus/field", "--json"]);
    assert!(bits == 16 && said.contains("`--format json`") && !said.contains("-- --json"), "{said}");
    let (bits, said) = asked(&["dump", "corpus/field/00-ok.jsonl", "--format", "json"]);
    assert!(bits == 16 && said.contains("`gjc-fsck context --format json`"), "{said}");
    let list: Vec<serde_json::Value> = serde_json::from_str(&out(&run(&["schema", "--list", "--format", "json"]))).unwrap();
    assert!(list.iter().any(|form| form["name"] == "report"));
}

#[test]
fn a_folder_that_holds_nothing_to_measure_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let path = empty.path().to_str().unwrap();
    let output = run(&["quota", path]);
    assert_eq!(err(&output), format!("gjc-fsck: Nothing to check in {path}: no transcript, scope or agent directory found.\n"));
    assert_eq!(status(&output), 8);
}

#[test]
fn wrong_usage_exits_16() {
    for args in [
        &["--no-such-option"][..],
        &["explain"],
        &["records"],
        &["--format", "xml"],
        &["--gjc", "0.16"],
        &["--fail-on", "fatal"],
        &["--severity", "dangling_parent"],
        &["--severity", "no_such_code=error"],
        &["--severity", "dangling_parent=fatal"],
        &["--output", "json"],
        &["--output", "json="],
        &["--jobs", "0"],
        &["--quick", "--connectivity-only"],
        &["--quick", "codes"],
    ] {
        let output = run(args);
        assert_eq!(status(&output), 16, "{args:?}: {}", err(&output));
        assert!(out(&output).is_empty(), "{args:?}");
        assert!(!err(&output).is_empty(), "{args:?}");
    }
}

#[test]
fn the_severity_of_a_fatal_code_can_be_kept_but_not_lowered() {
    let output = run(&["codes", "--severity", "binding_invalid=warning"]);
    assert_eq!(status(&output), 16);
    assert!(err(&output).contains("fatal"), "{}", err(&output));
    assert_eq!(status(&run(&["codes", "--severity", "binding_invalid=error"])), 0);
    assert_eq!(status(&run(&["codes", "--severity", "dangling_parent=info"])), 0);
}

#[test]
fn help_and_version_are_answers() {
    for args in [&["--help"][..], &["--version"], &["help", "check"], &["check", "--help"]] {
        let output = run(args);
        assert_eq!(status(&output), 0, "{args:?}");
        assert!(out(&output).contains("gjc-fsck"), "{args:?}");
    }
}

#[test]
fn the_schema_that_is_printed_is_the_committed_one() {
    let committed = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/report.schema.json")).unwrap();
    assert!(run(&["schema"]).stdout == committed);
    assert!(run(&["schema", "report"]).stdout == committed);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.jsonl");
    // More than a pipe and the program's own buffer hold.
    let mut text =
        String::from("{\"type\":\"session\",\"version\":5,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n");
    for number in 0..6_000 {
        let parent = if number == 0 { "null".to_owned() } else { format!("\"{:08x}\"", number - 1) };
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\",\"timestamp\":1}}}}\n"
        ));
    }
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let commands: [&[&str]; 13] = [
        &["replay", file, "--json"],
        &["replay", file, "--lines"],
        &["migrate", file, "--json"],
        &["tree", file, "--json"],
        &["context", file, "--as-model"],
        &["dump", file],
        &["codes", "--format", "json"],
        &["records", file],
        &["tree", file],
        &["context", file],
        &["replay", file],
        &["migrate", file],
        &["context", file, "--json"],
    ];
    for command in commands {
        let mut child = program().args(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((err(&output).as_str(), status(&output)), ("", 0), "{command:?}");
    }
}

/// Waits until the process catches SIGINT (bit 2 of `SigCgt`), so that the test does not depend on how fast it starts.
#[cfg(target_os = "linux")]
fn wait_until_it_catches_interrupts(pid: u32) {
    for _ in 0..500 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let caught =
            status.lines().find_map(|line| line.strip_prefix("SigCgt:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_some_and(|mask| mask & 0b10 != 0) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    unreachable!("the process never asked for SIGINT");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_run_exits_32() {
    let mut child = program().args(["records", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // Held open: `wait` would close it, and the end of the input ends the run as well.
    let _input = child.stdin.take();
    wait_until_it_catches_interrupts(child.id());
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(32));
}

/// Where there is nothing of gjc, every command that looks for it says so alike.
#[test]
fn a_folder_without_sessions_is_an_operational_error_to_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for command in ["check", "quota", "gc", "list"] {
        let output = run(&[command, path]);
        assert_eq!(status(&output), 8, "{command}: {}", err(&output));
    }
    assert_eq!(status(&run(&["check", "corpus/v5"])) & 8, 0, "near miss: a folder of transcripts");
}

/// A pipe that the shell hands over by a path of its own leads to no path, and is no dangling link.
#[test]
#[cfg(target_os = "linux")]
fn a_pipe_of_the_shell_is_called_a_pipe() {
    let program = env!("CARGO_BIN_EXE_gjc-fsck");
    let command = format!("sleep 0 | {program} check --format concise /dev/stdin");
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(status(&output), 8, "{}", err(&output));
    assert!(out(&output).contains("a FIFO stands here that has no path"), "{}", out(&output));
}

/// An answer without a measure would look as if nothing were used.
#[test]
fn quota_of_what_is_not_there_is_no_empty_answer() {
    for format in ["human", "concise", "json"] {
        let output = run(&["quota", "nosuch", "--format", format]);
        assert_eq!((status(&output), output.stdout.len()), (8, 0), "{format}");
        assert!(err(&output).contains("nosuch"), "{}", err(&output));
    }
}

/// The same line is a reason to refuse the transcript in a scope, and only a limit outside.
#[test]
fn quota_and_check_agree_about_a_line_that_is_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let scope = folder.path().join("sessions/v2-kf4yzmwwbd6gbbgxecexfisthfcolf4o5c37akfzpfo7zidojafa");
    std::fs::create_dir_all(&scope).unwrap();
    let header = r#"{"type":"session","version":5,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let with_line_of = |bytes: usize| format!("{header}\n{{\"type\":\"custom\",\"data\":\"{}\"}}\n", "x".repeat(bytes));
    let written = |path: std::path::PathBuf, bytes| {
        std::fs::write(&path, with_line_of(bytes)).unwrap();
        path
    };
    let quota = |path: &std::path::Path| run(&["quota", path.to_str().unwrap()]);
    let managed = quota(&written(scope.join("a.jsonl"), 9 << 20));
    assert_eq!(status(&managed), 4, "{}", out(&managed));
    assert!(
        out(&managed).starts_with("Above, at or near a limit\n") && out(&managed).contains("explain line_too_long"),
        "{}",
        out(&managed)
    );
    let check = run(&["check", scope.join("a.jsonl").to_str().unwrap(), "--format", "concise"]);
    assert!(status(&check) == 4 && out(&check).contains("line_too_long"), "{}", out(&check));
    assert_eq!(status(&quota(&written(folder.path().join("lone.jsonl"), 9 << 20))), 2, "near miss: no reader of a lone file refuses it");
    assert_eq!(status(&quota(&written(scope.join("b.jsonl"), 1 << 20))), 0, "near miss: it is short enough");
}

/// One retirement is asked for by the path of its transcript, which may be gone.
#[test]
fn gc_of_one_transcript_looks_up_its_journal_alone() {
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo");
    assert_eq!(status(&run(&["demo", "--quiet", "--keep", demo.to_str().unwrap()])) & 16, 0);
    let scopes = walkdir::WalkDir::new(&demo).into_iter().filter_map(Result::ok);
    let scope = scopes.map(walkdir::DirEntry::into_path).find(|path| path.join(".gjc-managed-session-scope.v2.json").exists()).unwrap();
    let output = run(&["gc", scope.join("gone.jsonl").to_str().unwrap(), "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", err(&output)));
    assert_eq!((&answer["lookedAt"], &answer["scopes"]), (&1.into(), &serde_json::json!([])), "no receipt is of it");
    assert_eq!(status(&run(&["gc", folder.path().join("gone.jsonl").to_str().unwrap()])), 8, "in no scope");
}
