//! `schema`: what it prints, and what it says of files.

use super::{err, out, run, status};

#[test]
fn every_schema_is_listed_and_printed_as_it_is_committed() {
    let list = out(&run(&["schema", "--list"]));
    for name in ["header-v1", "entry-v5", "header-patch", "binding", "lock", "tombstone", "retirement-receipt", "report", "why", "list"] {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name} in\n{list}");
    }
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let committed = std::fs::read(format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(run(&["schema", name]).stdout == committed, "{name}");
    }
    let unknown = run(&["schema", "no-such-form"]);
    assert_eq!(status(&unknown), 16);
    assert!(err(&unknown).contains("schema --list"), "{}", err(&unknown));
}

#[test]
fn a_transcript_is_compared_line_by_line() {
    let sound = run(&["schema", "--check", "corpus/field/00-ok.jsonl"]);
    assert_eq!(status(&sound), 0);
    assert!(out(&sound).contains("records are valid") && out(&sound).contains("1 header-v5"), "{}", out(&sound));
    let torn = run(&["schema", "--check", "corpus/field/79-line-message-without-message.jsonl", "--format", "concise"]);
    assert_eq!(status(&torn), 4);
    assert!(out(&torn).contains(": \"message\" is a required property [entry-v5]"), "{}", out(&torn));
    let empty = run(&["schema", "--check", "corpus/field/12-empty.jsonl"]);
    assert_eq!(status(&empty), 4);
    assert!(out(&empty).contains("there is no record in this file"), "{}", out(&empty));
    let json = run(&["schema", "--check", "corpus/field/01-torn-tail.jsonl", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&answer["invalid"], &answer["objections"][0]["line"]), (&1.into(), &4.into()));
}

#[test]
fn a_record_is_known_by_its_name_by_its_word_or_by_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let binding = write(".gjc-managed-session-scope.v2.json", "{\"schemaVersion\":1}\n");
    let said = run(&["schema", "--check", &binding]);
    assert_eq!(status(&said), 4);
    assert!(out(&said).contains("\"identityDigest\" is a required property [binding]"), "{}", out(&said));
    let report = write("any.json", &out(&run(&["corpus/field", "--format", "json"])));
    assert_eq!(status(&run(&["schema", "--check", &report])), 0);
    let unnamed = write("lock.json", "{}");
    assert_eq!(status(&run(&["schema", "--check", &unnamed])), 16);
    assert_eq!(status(&run(&["schema", "lock", "--check", &unnamed])), 4);
    assert_eq!(status(&run(&["schema", "--check", "no/such/file.jsonl"])), 8);
}
