//! Salvage over every field input: no recoverable record is lost, every byte of the source is accounted for, and the copy is read
//! at least as well as the source.

use gjc_fsck::check::line::begins_with_own_record;
use gjc_fsck::finding::Release;
use gjc_fsck::json::jsonl::{Event, Lines};
use gjc_fsck::json::{Tape, Value, View, stringify};
use gjc_fsck::repair::salvage::{Mended, mend, read};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn field() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/field")
}
fn inputs() -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(field()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect()
}
fn salvaged(bytes: &[u8]) -> (Vec<u8>, Mended) {
    let mut copy = Vec::new();
    let mended = mend(bytes, &mut |line| {
        copy.extend_from_slice(line);
        Ok(())
    });
    (copy, mended.unwrap())
}
fn text(value: &Value) -> String {
    stringify::to_text(value)
}
/// The records, as JSON text, that gjc's lenient reader yields; and those that begin a line and that it may miss.
fn records(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut tape) = (Lines::new(bytes), Tape::default());
    let (mut yielded, mut own) = (Vec::new(), Vec::new());
    while let Some(event) = lines.next().unwrap() {
        match event {
            Event::Value(found) if found.node.is_record() && found.node.str_member("type").is_some() => {
                let swallows = found.text.split(|b| *b == b'\n').skip(1).any(|piece| begins_with_own_record(piece, &mut tape));
                if !swallows {
                    yielded.push(text(&Value::from_node(found.node)));
                }
            }
            Event::Line(line) if line.value.is_some_and(|node| node.is_record()) && begins_with_own_record(line.text, &mut tape) => {
                own.extend(line.value.map(|node| text(&Value::from_node(node))));
            }
            _ => {}
        }
    }
    (yielded, own)
}

/// What comes back at the end of these has a parent that is torn: its path ends there, and nothing is invented.
const HANGS_ON_A_LOST_RECORD: [&str; 1] = ["03-torn-then-appended-fused"];

#[test]
fn no_record_is_lost_and_every_byte_is_accounted_for() {
    let inputs = inputs();
    assert!(inputs.len() > 40);
    for (name, bytes) in &inputs {
        let (copy, mended) = salvaged(bytes);
        let lines = mended.lines.iter().map(|line| (line.from, line.to));
        let mut ranges: Vec<(u64, u64)> = lines.chain(mended.left.iter().map(|left| (left.from, left.to))).collect();
        ranges.sort_unstable();
        let mut at = 0;
        for (from, to) in ranges {
            assert_eq!(from, at, "{name}: {mended:#?}");
            at = to;
        }
        assert_eq!(at, bytes.len() as u64, "{name}: {mended:#?}");
        let (kept, _) = records(&copy);
        assert_eq!(kept.len(), mended.lines.len(), "{name}: each line of the copy is one record");
        let (yielded, own) = records(bytes);
        for record in yielded.iter().chain(&own) {
            assert!(kept.contains(record), "{name}: {record} is lost");
        }
        // A copy of the copy is the copy.
        assert_eq!(salvaged(&copy).0, copy, "{name}");
        let (before, after) = (reading(bytes), reading(&copy));
        let hangs = HANGS_ON_A_LOST_RECORD.contains(&name.as_str());
        assert_eq!(after.messages >= before.messages, !hangs, "{name}: {before:?} {after:?}");
        assert!(after.because.is_some() || after.strict != "malformed", "{name}: {after:?}");
    }
}

fn reading(bytes: &[u8]) -> gjc_fsck::repair::salvage::Reading {
    read(bytes, bytes.len() as u64, Release::default()).unwrap()
}

/// What the notes of `codes-expected.tsv` call recoverable: the ids that come back, and what that does for the context.
#[test]
fn what_the_notes_call_recoverable_comes_back() {
    let inputs = inputs();
    for (name, ids, strict) in [
        ("03-torn-then-appended-fused", &["aaaaaaa4"][..], true),
        ("04-glued-two-complete", &["aaaaaaa3"], true),
        ("07-torn-swallows-next-record", &["aaaaaaa2"], true),
        ("09-nul-run-glued-to-record", &["aaaaaaa2"], true),
        ("10-header-torn", &["aaaaaaa1", "aaaaaaa2"], false),
        ("06-pretty-printed-record", &["aaaaaaa1"], true),
    ] {
        let bytes = &inputs[name];
        let (copy, mended) = salvaged(bytes);
        let copy_text = String::from_utf8(copy.clone()).unwrap();
        for id in ids {
            assert!(
                copy_text.lines().any(|line| line.contains(&format!("\"id\":\"{id}\"")) || line.contains(&format!("\"id\": \"{id}\""))),
                "{name}: {id}\n{copy_text}"
            );
        }
        let (before, after) = (reading(bytes), reading(&copy));
        println!(
            "{name}: {} -> {} messages, {} -> {}, left {:?}",
            before.messages, after.messages, before.strict, after.strict, mended.left
        );
        assert_eq!(after.because.is_none(), strict, "{name}: {after:?}");
        assert_ne!(before.strict, "resumable", "{name}");
    }
}
