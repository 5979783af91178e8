//! The golden cases of the text dump: what goes in as JSON, and the text that spec 04 §9.6 makes of it. The texts were
//! written from the specification, piece by piece, not taken from the program.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may")]

use gjc_fsck::json::Value;
use gjc_fsck::session::dump::Given;
use std::path::Path;

#[test]
fn the_twenty_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dump");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    for name in &names {
        let given = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        let given = Given::read(&Value::parse(&given).unwrap()).unwrap();
        let text = String::from_utf8(given.dump().text().unwrap()).unwrap();
        assert_eq!(format!("{text}\n"), std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap(), "{name}");
    }
    assert_eq!(names.len(), 20);
}

#[test]
fn what_is_no_dump_is_said_so() {
    let read = |text: &str| Given::read(&Value::parse(text.as_bytes()).unwrap()).err();
    assert_eq!(read("7"), Some("messages, or an object with `messages`, are expected"));
    assert_eq!(read(r#"{"tools":{}}"#), Some("`systemPrompt`, `tools` and `messages` are arrays"));
    assert_eq!(read(r#"{"model":{"id":"m"}}"#), Some("a model has `provider` and `id`"));
    assert_eq!(read(r#"{"thinkingLevel":7}"#), Some("a system prompt and a thinking level are strings"));
    assert_eq!(read("{}"), None);
}
