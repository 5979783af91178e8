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
use gjc_fsck::transcript::context::answer::{LeafName, contexts};
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

/// Entries and leaves to the rebuilt contexts.
#[test]
fn context() {
    run("context", |case| {
        let leaves: Vec<LeafName> = case.get("leaves").and_then(Value::as_array).unwrap_or_default().iter().map(leaf).collect();
        let asked: Vec<LeafName> = [LeafName::Last].into_iter().chain(leaves).collect();
        let answers = contexts(&case.input()[..], Release::V0_15, &asked, &mut Numbered::default()).map_err(|error| error.to_string())?;
        let mut wanted = Vec::new();
        match case.expect("load") {
            Some(thrown) => wanted.push(thrown.clone()),
            None => {
                wanted.extend(case.expect("default").cloned());
                wanted.extend(case.expect("leaves").and_then(Value::as_array).unwrap_or_default().iter().cloned());
            }
        }
        for (number, (wanted, answer)) in wanted.iter().zip(&answers).enumerate() {
            let answer = Value::parse(answer).ok_or("the answer is no JSON")?;
            context_answer(wanted, &answer).map_err(|why| format!("answer {number}: {why}"))?;
        }
        if wanted.len() == answers.len() || wanted.len() == 1 { Ok(()) } else { Err(format!("{} answers wanted", wanted.len())) }
    });
}

fn leaf(value: &Value) -> LeafName {
    match value {
        Value::String(id) => LeafName::Id(id.clone()),
        _ => LeafName::BeforeFirst,
    }
}

/// Compares one context; of what is thrown, gjc's own words are compared, of the engine's only that it throws.
fn context_answer(wanted: &Value, answer: &Value) -> Result<(), String> {
    if let Some(thrown) = wanted.member("throws") {
        let own = wanted.member("error_class").and_then(string).is_some_and(|class| class == "Error");
        let got = answer.member("throws").ok_or("want a throw")?;
        return if own { same(&json(thrown), &json(got)) } else { Ok(()) };
    }
    if wanted.member("not_loaded").is_some() {
        return answer.member("not_loaded").map(|_| ()).ok_or("want nothing loaded".to_owned());
    }
    for key in ["context", "message_entry_ids", "observation_ids"] {
        match (wanted.member(key), answer.member(key)) {
            (Some(want), Some(got)) => same(&json(want), &json(got))?,
            (None, None) => {}
            (want, got) => return Err(format!("{key}: want {}, got {}", want.is_some(), got.is_some())),
        }
    }
    Ok(())
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
