//! `dump` as a user calls it.

use super::{err, out, run, status};

const SESSION: &str = "corpus/field/31-stale-leaf-tail.jsonl";

#[test]
fn a_transcript_is_dumped_as_its_context() {
    let output = run(&["dump", SESSION]);
    let wanted = "## Configuration\n\nModel: p/m\nThinking Level: off\n\n\n## User\n\none\n\n\n## Assistant\n\ntwo\n";
    assert_eq!((status(&output), out(&output)), (0, wanted.to_owned()), "{}", err(&output));
}

#[test]
fn another_branch_and_what_no_transcript_holds_can_be_named() {
    let with = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&with, r#"{"systemPrompt":["Help."],"thinkingLevel":"high","model":{"provider":"q","id":"n"}}"#).unwrap();
    let output = run(&["dump", SESSION, "--leaf", "aaaaaaa3", "--with", with.path().to_str().unwrap()]);
    let text = out(&output);
    assert!(text.starts_with("## System Prompt\n\nHelp.\n\n\n## Configuration\n\nModel: q/n\nThinking Level: high\n"), "{text}");
    assert!(text.ends_with("## User\n\nthree\n"), "{text}");
    let output = run(&["dump", SESSION, "--leaf", "aaaaaaaX"]);
    assert_eq!((status(&output), out(&output)), (16, String::new()));
    assert!(err(&output).contains("no entry has the id `aaaaaaaX`; `gjc-fsck tree"), "{}", err(&output));
}

#[test]
fn messages_come_as_json_and_mistakes_are_named() {
    let output = run(&["dump", "--messages", "tests/dump/06-user-and-developer.json"]);
    assert_eq!(out(&output), std::fs::read_to_string("tests/dump/06-user-and-developer.txt").unwrap());
    let output = run(&["dump", "--messages", SESSION]);
    assert_eq!(status(&output), 16);
    assert!(err(&output).contains("this is no JSON"), "{}", err(&output));
    let thrown = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&thrown, r#"[{"role":"user"}]"#).unwrap();
    let output = run(&["dump", "--messages", thrown.path().to_str().unwrap()]);
    assert_eq!(status(&output), 4);
    assert!(err(&output).contains("it throws TypeError"), "{}", err(&output));
}
