//! What gjc 0.15.0 loads of each field input, and which context it rebuilds (`corpus/field/verdicts-gjc-0.15.0.tsv`).

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its own files")]

use gjc_fsck::finding::Release;
use gjc_fsck::json::{JsString, Value, View, coerce, stringify};
use gjc_fsck::transcript::context::answer::{LeafName, contexts};
use gjc_fsck::transcript::load::{Whole, load};
use gjc_fsck::transcript::migrate::Numbered;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/field")
}

/// An entry as the table names it: its id, else its type, else `String(entry)`.
fn name(entry: &Value) -> String {
    let named = entry.get_present("id").or_else(|| entry.get_present("type")).unwrap_or(entry);
    coerce::to_text(named).unwrap().to_string()
}

/// Text of a message: a string as it is, the texts (else types) of blocks as a JSON list, the summary of a compaction.
fn text(message: &Value) -> JsString {
    match message.get_present("content").or_else(|| message.get_present("summary")) {
        Some(Value::String(text)) => text.clone(),
        Some(blocks) => {
            let texts: Vec<Value> =
                blocks.items().filter_map(|block| block.get_present("text").or_else(|| block.get_present("type")).cloned()).collect();
            stringify::to_text(&Value::Array(texts.into())).into()
        }
        None => JsString::default(),
    }
}

/// The columns behind the file's name. Texts are joined, and followed by the header's title when it has one.
fn columns(input: &[u8]) -> [String; 5] {
    let release = Release::V0_15;
    let entries = match load(input, Whole, release).unwrap() {
        Ok(loaded) => loaded.entries,
        Err(throw) => return [String::new(), String::new(), String::new(), r#""""#.to_owned(), throw.to_string()],
    };
    let ids = entries.iter().skip(1).map(name).collect::<Vec<_>>().join(",");
    let answer = contexts(input, release, &[LeafName::Last], &mut Numbered::default()).unwrap().remove(0);
    let answer = Value::parse(&answer).unwrap();
    let messages: Vec<&Value> =
        answer.get("context").and_then(|context| context.get("messages")).into_iter().flat_map(View::items).collect();
    let roles = messages.iter().map(|message| coerce::to_text(message.get("role").unwrap()).unwrap().to_string());
    let texts = messages.iter().map(|message| text(message)).reduce(|mut all, text| {
        all.push_js(" | ".into());
        all.push_js(text.as_js());
        all
    });
    let mut texts = texts.unwrap_or_default();
    if let Some(Value::String(title)) = entries.first().and_then(|header| header.get("title")) {
        texts.push_js(format!(" title={title}").as_str().into());
    }
    let thrown = answer.get("throws").map(|throws| coerce::to_text(throws).unwrap().to_string());
    [
        entries.len().to_string(),
        ids,
        roles.collect::<Vec<_>>().join(","),
        stringify::to_text(&Value::String(texts)),
        thrown.unwrap_or_default(),
    ]
}

#[test]
fn every_field_input_loads_as_in_gjc() {
    let table = std::fs::read_to_string(folder().join("verdicts-gjc-0.15.0.tsv")).unwrap();
    let mut rows = 0;
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let input = std::fs::read(folder().join(format!("{}.jsonl", cells[0]))).unwrap();
        let mut got = columns(&input);
        // The table cuts long texts.
        let shown = cells[4].trim_end_matches('"');
        if shown.len() > 100 && got[3].starts_with(shown) {
            got[3] = cells[4].to_owned();
        }
        assert_eq!(got[..], cells[1..], "{}", cells[0]);
        rows += 1;
    }
    assert_eq!(rows, 62);
}
