//! Bad input of the commands that read one file: no text of it obeys the terminal, nothing is read without end.

use super::*;
use std::fs;

/// The commands that read one transcript.
const READERS: [&[&str]; 5] = [&["records"], &["replay", "--json"], &["migrate", "--json"], &["context", "--json"], &["tree"]];

#[test]
fn a_message_of_failure_does_not_obey_what_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a\u{1b}[2J\nb.jsonl");
    let header = r#"{"type":"session","version":"\u001b]0;x\u0007\r","id":"a","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/tmp"}"#;
    fs::write(&file, format!("{header}\n")).unwrap();
    let output = run(&["tree", file.to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    let message = err(&output);
    assert!(message.contains("\\u{1b}]0;x"), "{message:?}");
    assert!(!message.trim_end_matches('\n').contains(char::is_control), "{message:?}");
}

#[test]
fn a_file_larger_than_anything_gjc_reads_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.jsonl");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    for command in READERS {
        let output = program().args(command).arg(&path).output().unwrap();
        assert_eq!(status(&output), 8, "{command:?}");
        assert!(err(&output).contains("more than 2148532224 bytes"), "{command:?}: {}", err(&output));
        assert!(output.stdout.is_empty(), "{command:?}");
    }
}

/// A pipe without a writer would be waited for, a device may have no end.
#[test]
fn a_file_that_is_no_file_is_refused_by_every_command_that_reads_one() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let link = folder.path().join("link.jsonl");
    std::os::unix::fs::symlink(&fifo, &link).unwrap();
    let others: [&[&str]; 9] = [
        &["replay"],
        &["migrate"],
        &["context"],
        &["dump"],
        &["dump", "--messages"],
        &["export", "--recover"],
        &["diff", "--gjc", "0.15,0.17"],
        &["session", "run"],
        &["schema", "report", "--check"],
    ];
    for (path, what) in [(fifo.as_path(), "FIFO"), (&link, "FIFO"), (Path::new("/dev/zero"), "device")] {
        for command in READERS.iter().chain(&others) {
            let output = program().current_dir(folder.path()).args(*command).arg(path).output().unwrap();
            assert_ne!(status(&output), 0, "{command:?} {}", path.display());
            assert!(err(&output).contains(what), "{command:?} {}: {}", path.display(), err(&output));
        }
    }
}

/// A pipe among the transcripts is in the way; a pipe that was named is what should have been judged.
#[test]
fn a_named_pipe_as_target_is_never_a_clean_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let output = program().args(["--format", "concise"]).arg(&path).output().unwrap();
    assert_eq!(status(&output), 4, "{}", out(&output));
    assert!(out(&output).contains("error[read_failed] The transcript is a FIFO; it was not opened."), "{}", out(&output));
}

#[test]
fn a_report_never_takes_the_place_of_the_file_that_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link, symlink) = (folder.path().join("session.txt"), folder.path().join("link"), folder.path().join("symlink"));
    fs::write(&file, "precious\n").unwrap();
    fs::hard_link(&file, &link).unwrap();
    std::os::unix::fs::symlink(&file, &symlink).unwrap();
    for output in [&file, &link, &symlink] {
        let output = format!("json={}", output.display());
        let answer = program().args(["check", "--output", &output]).arg(&file).output().unwrap();
        assert_eq!(status(&answer), 16, "{output}: {}", err(&answer));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(&link).unwrap(), "precious\n");
}

#[test]
fn names_of_a_tree_do_not_obey_the_terminal_in_any_listing() {
    let folder = tempfile::tempdir().unwrap();
    let legacy = folder.path().join("agent/sessions/--home-x--");
    let workspace = folder.path().join("w\u{1b}[2J");
    fs::create_dir_all(&legacy).unwrap();
    fs::create_dir(&workspace).unwrap();
    fs::write(legacy.join("a\u{1b}[2J\r.jsonl"), "{}\n").unwrap();
    let agent = folder.path().join("agent");
    let (agent, workspace) = (agent.to_str().unwrap(), workspace.to_str().unwrap());
    for command in [&["list", "--all", "--agent-dir", agent][..], &["why", "--agent-dir", agent, "a\u{1b}[2J"], &["scope", workspace]] {
        let output = run(command);
        assert!(!out(&output).is_empty(), "{command:?}: {}", err(&output));
        assert!(!out(&output).contains(|c: char| c.is_control() && c != '\n'), "{command:?}: {:?}", out(&output));
    }
}
