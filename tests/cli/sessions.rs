//! `list` and `why` as a user calls them: what may be named, what is answered to a mistake, and the exit bits.

use super::{err, out, program, run, status};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The sample agent directory, and what judges it as if it lay at its user's.
fn sample() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    run(&["demo", "--quiet", "--keep", agent.to_str().unwrap()]);
    (folder, agent)
}
const ASSUMED: [&str; 2] = ["--assume-root", "/home/ana/.gjc/agent"];

fn ask(command: &str, rest: &[&str]) -> std::process::Output {
    run(&[&[command], rest, &ASSUMED].concat())
}
/// The directory of the sessions root whose name begins like this.
fn directory(agent: &Path, start: &str) -> String {
    let names = fs::read_dir(agent.join("sessions")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start));
    found.next().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn list_takes_an_agent_directory_its_sessions_a_scope_or_a_legacy_directory() {
    let (_folder, agent) = sample();
    let lines = |path: &str| {
        let output = ask("list", &[path, "--format", "concise"]);
        assert!([0, 4].contains(&status(&output)), "{path}: {}", err(&output));
        out(&output).lines().filter(|line| line.contains(".jsonl: ")).count()
    };
    let (whole, sessions) = (agent.to_str().unwrap(), agent.join("sessions"));
    assert_eq!(lines(whole), 10);
    assert_eq!(lines(sessions.to_str().unwrap()), 10);
    assert_eq!(lines(&directory(&agent, "v2-tc3k")), 5);
    assert_eq!(lines(&directory(&agent, "--home")), 3);
}

#[test]
fn list_exits_4_when_gjc_refuses_a_workspace_and_0_when_it_lists_it() {
    let (_folder, agent) = sample();
    assert_eq!(status(&ask("list", &[agent.to_str().unwrap()])), 4);
    assert_eq!(status(&ask("list", &[&directory(&agent, "v2-tc3k")])), 0);
    assert_eq!(status(&ask("list", &[&directory(&agent, "v2-gdwa")])), 4);
}

#[test]
fn list_answers_a_mistake_with_what_was_meant() {
    let (_folder, agent) = sample();
    let cases =
        [("src", 16, "neither an agent directory"), ("Cargo.toml", 16, "`gjc-fsck why`"), ("nowhere-at-all", 8, "nothing stands here")];
    for (path, bits, said) in cases {
        let output = run(&["list", path]);
        assert_eq!(status(&output), bits, "{path}");
        assert!(err(&output).contains(said), "{path}: {}", err(&output));
    }
    let both = ask("list", &[&directory(&agent, "--home"), "--cwd", "/home/ana/dev/app"]);
    assert_eq!(status(&both), 16);
    assert_eq!(status(&ask("list", &["--agent-dir", "/nowhere/at/all"])), 8);
}

#[test]
fn list_as_json_carries_what_the_human_form_shows() {
    let (_folder, agent) = sample();
    let json: serde_json::Value = serde_json::from_slice(&ask("list", &[agent.to_str().unwrap(), "--format", "json"]).stdout).unwrap();
    let sessions: Vec<_> = json["workspaces"].as_array().unwrap().iter().flat_map(|one| one["sessions"].as_array().unwrap()).collect();
    assert_eq!(sessions.len(), 10);
    for member in ["id", "path", "provenance", "state", "answer", "modified", "begun"] {
        assert!(sessions.iter().all(|session| session[member].is_string()), "{member}");
    }
    let refused = sessions.iter().filter(|session| session["doesNotOpen"].is_object()).count();
    assert_eq!(refused, 3);
}

#[test]
fn why_names_the_codes_of_the_check() {
    let (_folder, agent) = sample();
    let output = ask("why", &["01a22bfd-a266-7003", "--agent-dir", agent.to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    assert!(out(&output).contains("fused_line (error, line 5)"), "{}", out(&output));
    assert!(out(&output).contains("→ `gjc-fsck explain fused_line`"), "{}", out(&output));
    // What stands in the way is the binding, not the file.
    let output = ask("why", &["01a22bfd-a266-7006", "--agent-dir", agent.to_str().unwrap(), "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<_> = json["reported"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"binding_invalid"), "{codes:?}");
}

#[test]
fn why_exits_by_what_was_found() {
    let (folder, agent) = sample();
    let scope = PathBuf::from(directory(&agent, "v2-tc3k"));
    let file = fs::read_dir(&scope)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().ends_with("7001-bec6-7deb7dfe0001.jsonl"));
    let agent_dir = ["--agent-dir", agent.to_str().unwrap()];
    let asked = |session: &str| status(&ask("why", &[&[session], &agent_dir[..]].concat()));
    assert_eq!(asked(file.unwrap().to_str().unwrap()), 0, "it opens");
    assert_eq!(asked("01a22bfd-a266-7002"), 4, "it is torn");
    assert_eq!(asked("nobody"), 4, "there is none");
    assert_eq!(asked("01a22bfd"), 16, "there are many");
    assert_eq!(asked("./nothing.jsonl"), 4, "there is no such file");
    for directory in ["src", scope.to_str().unwrap(), ""] {
        let output = ask("why", &[directory]);
        assert_eq!(status(&output), 16, "{directory}");
        assert!(err(&output).contains("`gjc-fsck list`"), "{}", err(&output));
    }
    let fifo = folder.path().join("x.jsonl");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
    let output = ask("why", &[fifo.to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    assert!(out(&output).contains("regular file"), "{}", out(&output));
}

#[test]
fn why_takes_a_path_that_is_not_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"caf\xe9.jsonl"));
    fs::copy("corpus/field/00-ok.jsonl", &path).unwrap();
    let output = program().arg("why").arg(&path).args(["--agent-dir", "/nowhere/at/all"]).output().unwrap();
    assert_eq!(status(&output), 0, "{}{}", out(&output), err(&output));
    assert!(out(&output).contains(r"caf\xe9.jsonl") && out(&output).contains("not UTF-8"), "{}", out(&output));
}

#[test]
fn a_kept_demo_names_its_files_so_that_they_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("kept");
    let output = run(&["demo", "--keep", root.to_str().unwrap(), "--format", "concise"]);
    let text = out(&output);
    let path = |line: &str| PathBuf::from(line.split_inclusive(".jsonl").next().unwrap());
    let of_files: Vec<&str> = text.lines().filter(|line| line.contains(".jsonl")).collect();
    assert!(!of_files.is_empty() && of_files.iter().all(|line| path(line).is_file()), "{text}");
}
