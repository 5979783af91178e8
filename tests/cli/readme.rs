//! The examples of README.md: what it shows of a command on a file of the repository is what the command prints.

use super::{err, out, program, run};

#[test]
fn the_examples_are_what_the_program_prints() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let blocks = readme.split("```text\n$ gjc-fsck ").skip(1).filter_map(|rest| rest.split("\n```").next());
    // The first example is of a file of the reader's own.
    let own = tempfile::tempdir().unwrap();
    std::fs::copy("corpus/field/03-torn-then-appended-fused.jsonl", own.path().join("session.jsonl")).unwrap();
    let mut shown = Vec::new();
    for (command, wanted) in blocks.filter_map(|block| block.split_once('\n')) {
        let words: Vec<&str> = command.split(' ').collect();
        let mut program = program();
        if words == ["session.jsonl"] {
            program.current_dir(own.path());
        }
        assert_eq!(out(&program.args(&words).output().unwrap()).trim_end(), wanted, "{command}");
        shown.push(words[0]);
    }
    assert_eq!(shown, ["session.jsonl", "why", "tree", "context", "replay", "migrate", "dump", "diff"]);
    let codes = format!("[all {}](reports/codes.md)", gjc_fsck::check::codes().count());
    assert!(readme.contains(&codes), "{codes}");
    let migrated = run(&["migrate", "corpus/field/58-header-patch-in-v3.jsonl"]);
    assert!(err(&migrated).contains("1 record was folded into others or dropped"), "{}", err(&migrated));
}
