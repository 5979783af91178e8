//! The recorded answers of gjc 0.15.0: every case of every suite must hold. One test a suite, named after it.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test reads its own files and tells what it found"
)]

mod support;

use gjc_fsck::finding::Release;
use gjc_fsck::json::jsonl::{Event, Lines};
use gjc_fsck::json::{Value, stringify};
use gjc_fsck::transcript::answer;
use gjc_fsck::transcript::migrate::Numbered;
use support::{Case, json, run, same, string};

/// Bytes to the records of the lenient reader.
#[test]
fn parse() {
    run("parse", |case| {
        let input = case.input();
        let mut lines = Lines::new(&input[..]);
        let mut got = Vec::new();
        while let Some(event) = lines.next().map_err(|error| error.to_string())? {
            if let Event::Value(found) = event {
                got.push(stringify::to_text(&Value::from_node(found.node)));
            }
        }
        let want = case.expect("records_text").and_then(Value::as_array).ok_or("no records_text")?;
        let want: Vec<String> = want.iter().filter_map(string).collect();
        same(&want.join("\n"), &got.join("\n"))
    });
}

/// Bytes to the entries that gjc loads.
#[test]
fn load() {
    run("load", |case| entries_or_throws(case, &answer::replay(&case.input()[..], Release::V0_15).unwrap()));
}

/// Bytes to the entries, migrated to version 5.
#[test]
fn migrate() {
    run("migrate", |case| entries_or_throws(case, &answer::migrated(&case.input()[..], Release::V0_15, &mut Numbered::default()).unwrap()));
}

/// Compares an answer with `expect.entries` or `expect.throws`.
fn entries_or_throws(case: &Case, answer: &[u8]) -> Result<(), String> {
    let answer = Value::parse(answer).ok_or("the answer is no JSON")?;
    for key in ["entries", "throws"] {
        match (case.expect(key), answer.member(key)) {
            (Some(want), Some(got)) => same(&json(want), &json(got))?,
            (None, None) => {}
            (want, got) => return Err(format!("{key}: want {}, got {}", want.is_some(), got.is_some())),
        }
    }
    Ok(())
}
