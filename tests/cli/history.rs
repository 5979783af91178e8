//! `history` as a user calls it: beside a running writer, on what is damaged, and without leaving a trace.

use super::{err, out, run, status};
use gjc_fsck::agent::history::store::HistoryStore;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// An agent directory with a prompt history of three prompts.
fn agent() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().canonicalize().unwrap();
    let mut store = HistoryStore::open(&agent.join("history.db")).unwrap();
    for (prompt, cwd) in [("hello World", "/w/a"), ("foo_bar baz", "/w/a"), ("say hello", "/w/b")] {
        store.add(prompt, Some(cwd), 0).unwrap();
    }
    store.close().unwrap();
    (folder, agent)
}

fn state(agent: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut all: Vec<_> = fs::read_dir(agent)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap()))
        .collect();
    all.sort();
    all
}

/// What is asked about is a database, whatever its name looks like.
#[test]
fn a_history_that_is_not_there_is_no_missing_transcript() {
    for name in ["nosuch.jsonl", "nosuch.db"] {
        let output = run(&["history", name, "--format", "concise"]);
        assert_eq!(status(&output), 8, "{}", err(&output));
        assert!(out(&output).contains("agent_dir_missing"), "{}", out(&output));
    }
}

#[test]
fn a_sound_history_is_clean_by_every_name() {
    let (_folder, agent) = agent();
    for path in [agent.clone(), agent.join("history.db")] {
        let output = run(&["history", path.to_str().unwrap(), "--format", "concise"]);
        assert_eq!((status(&output), out(&output)), (0, String::new()), "{}", err(&output));
    }
}

#[test]
fn every_kind_of_fault_is_found_by_history_and_by_check_and_nothing_in_the_directory_changes() {
    for (fault, code) in [
        ("DROP TRIGGER history_ai", "warning[history_schema]"),
        ("DELETE FROM history WHERE id = 1", "warning[history_fts_out_of_sync]"),
        ("CREATE TABLE history_legacy(a)", "warning[history_migration_interrupted]"),
    ] {
        let (_folder, agent) = agent();
        let writer = Connection::open(agent.join("history.db")).unwrap();
        // The fault is in the log only, and the writer goes on.
        writer.execute_batch(&format!("PRAGMA wal_autocheckpoint=0; {fault}; BEGIN IMMEDIATE")).unwrap();
        let before = state(&agent);
        assert_eq!(before.len(), 3, "database, log and the index of the log");
        for command in ["history", "check"] {
            let output = run(&[command, agent.to_str().unwrap(), "--format", "concise"]);
            assert!(out(&output).contains(&format!("history.db: {code}")), "{command}: {}{}", out(&output), err(&output));
            assert_eq!(status(&output), 0, "a warning");
        }
        let search = run(&["history", "search", "hello", "--in", agent.to_str().unwrap()]);
        assert_eq!(status(&search), 0, "{}", err(&search));
        assert_eq!(state(&agent), before, "{code}");
    }
}

#[test]
fn a_damaged_database_exits_4_and_is_left_as_it_was() {
    let (_folder, agent) = agent();
    let database = agent.join("history.db");
    let mut bytes = fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0x77);
    fs::write(&database, bytes).unwrap();
    let before = state(&agent);
    let output = run(&["history", agent.to_str().unwrap(), "--format", "concise"]);
    assert!(out(&output).starts_with("history.db: error[history_corrupt]"), "{}", out(&output));
    assert_eq!(status(&output), 4);
    assert_eq!(state(&agent), before);
}

#[test]
fn search_finds_what_gjc_finds() {
    let (_folder, agent) = agent();
    let found = |args: &[&str]| {
        let mut all = vec!["history", "search", "--in", agent.to_str().unwrap(), "--format", "concise"];
        all.extend(args);
        let output = run(&all);
        assert_eq!(status(&output), 0, "{}", err(&output));
        let text = out(&output);
        text.lines().map(|line| line.rsplit('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&["wor", "hel"]), ["hello World"]);
    assert_eq!(found(&["o_b"]), ["foo_bar baz"]);
    assert!(found(&["%"]).is_empty());
    assert_eq!(found(&["hello"]), ["say hello", "hello World"]);
    assert_eq!(found(&["hello", "--cwd", "/w/b"]), ["say hello"]);
    assert_eq!(found(&[]), ["say hello", "foo_bar baz", "hello World"]);
    assert_eq!(found(&["--limit", "1.9"]), ["say hello"]);
    assert!(found(&["hello", "--limit", "NaN"]).is_empty());
}

#[test]
fn what_cannot_be_searched_is_not_an_answer() {
    let (_folder, agent) = agent();
    let database = agent.join("history.db");
    let search = |words: &str| run(&["history", "search", words, "--in", agent.to_str().unwrap()]);
    Connection::open(&database).unwrap().execute_batch("DROP TABLE history_fts").unwrap();
    let output = search("wor");
    assert_eq!(status(&output), 0, "gjc finds what contains the word");
    assert!(out(&output).contains("hello World") && err(&output).contains("the search index cannot be asked"), "{}", err(&output));
    fs::write(&database, vec![0x77; 8192]).unwrap();
    for words in ["hello", ""] {
        let output = if words.is_empty() { run(&["history", "search", "--in", agent.to_str().unwrap()]) } else { search(words) };
        assert_eq!((status(&output), out(&output)), (8, String::new()), "{words:?}");
        assert!(err(&output).contains("not searched to its end: file is not a database; `gjc-fsck history"), "{}", err(&output));
    }
}

#[test]
fn no_history_is_said_so_and_is_not_called_clean() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = run(&["history", path]);
    assert_eq!((status(&output), out(&output)), (8, String::new()), "any folder");
    assert!(err(&output).contains("there is nothing to check"), "{}", err(&output));
    fs::create_dir(folder.path().join("sessions")).unwrap();
    let output = run(&["history", path]);
    assert_eq!((status(&output), out(&output)), (0, format!("{path}: there is no prompt history; gjc makes it with the first prompt\n")));
    let output = run(&["history", path, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["findings"], serde_json::json!([]));
    assert!(err(&output).contains("there is no prompt history"), "{}", err(&output));
    let output = run(&["history", "search", "x", "--in", path]);
    assert_eq!(status(&output), 8);
}

#[test]
fn what_is_no_file_is_not_called_clean() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("history.db");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [fifo.as_path(), folder.path()] {
        let output = run(&["history", path.to_str().unwrap(), "--format", "concise"]);
        assert_eq!(status(&output), 4, "{}{}", out(&output), err(&output));
        assert_eq!(out(&output), "history.db: error[history_corrupt] A FIFO stands in the place of the database.\n");
    }
}
