//! The examples of README.md: what it shows of a command on a file of the repository is what the command prints.

use super::{out, run};

#[test]
fn the_examples_are_what_the_program_prints() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let blocks = readme.split("```text\n$ gjc-fsck ").skip(1).filter_map(|rest| rest.split("\n```").next());
    let mut shown = Vec::new();
    for (command, wanted) in blocks.filter_map(|block| block.split_once('\n')).filter(|(command, _)| command.contains("corpus/")) {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(out(&run(&words)).trim_end(), wanted, "{command}");
        shown.push(words[0]);
    }
    assert_eq!(shown, ["why", "tree", "context", "replay", "migrate", "dump", "diff"]);
}
