//! What a check keeps of an entry says the same as the whole entry: on every input of the recorded suites, and on random
//! mutations of them, both forms give the same kinds, schema faults, hazards, weights and class.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test reads its own files and tells what it found"
)]

#[allow(dead_code, reason = "shared with the suites")]
mod support;

use gjc_fsck::finding::Release;
use gjc_fsck::transcript::context::{self, Values};
use gjc_fsck::transcript::facts::Facts;
use gjc_fsck::transcript::load::{Whole, load};
use gjc_fsck::transcript::migrate::{Numbered, migrate};
use gjc_fsck::transcript::{EntryKind, hazard, schema};
use proptest::prelude::*;
use support::cases;

/// Inputs of all suites that are files, the very large ones excepted.
fn inputs() -> Vec<Vec<u8>> {
    let suites = ["load", "migrate", "context", "inspect", "open", "n17"];
    let inputs = suites.into_iter().flat_map(cases).map(|case| case.input());
    inputs.filter(|input| !input.is_empty() && input.len() < 100_000).collect()
}

/// Compares both forms of one file.
fn compare(input: &[u8], release: Release) -> Result<(), String> {
    let whole = load(input, Whole, release).unwrap();
    let facts = load(input, Facts::new(release, true), release).unwrap();
    let (mut whole, mut facts) = match (whole, facts) {
        (Ok(whole), Ok(facts)) => (whole, facts),
        (Err(whole), Err(facts)) if whole == facts => return Ok(()),
        _ => return Err("one form throws while loading".to_owned()),
    };
    let migrated = migrate(&mut whole, &mut Numbered::default());
    if migrated != migrate(&mut facts, &mut Numbered::default()) {
        return Err("migration differs".to_owned());
    }
    if whole.entries.len() != facts.entries.len() {
        return Err("the number of entries differs".to_owned());
    }
    for (number, (value, fact)) in whole.entries.iter().zip(&facts.entries).enumerate() {
        let kind = EntryKind::of(value);
        let differs = |what: &str| Err(format!("entry {number}: {what} differs"));
        if fact.kind != kind {
            return differs("kind");
        }
        if migrated.is_ok() && fact.faults != schema::faults(value, kind) {
            return differs("schema");
        }
        if fact.hazards != hazard::of_entry(value, kind, release) {
            return differs("hazards");
        }
        if migrated.is_ok() && kind == EntryKind::Message && fact.weight() != context::emitted_weight(value, kind) {
            return differs("weight");
        }
    }
    let Ok(migrated) = migrated else { return Ok(()) };
    let values = Values::migrated(&whole.entries, &mut whole.ids, &migrated);
    let (of_values, of_facts) = (context::classify(&values, release, Some(0)), context::classify(&facts, release, Some(0)));
    if of_values != of_facts {
        return Err(format!("class: {of_values:?} of values, {of_facts:?} of facts"));
    }
    Ok(())
}

#[test]
fn both_forms_agree_on_every_recorded_input() {
    let inputs = inputs();
    assert!(inputs.len() > 1_000);
    for input in inputs {
        for release in [Release::V0_15, Release::V0_17] {
            compare(&input, release).unwrap_or_else(|why| panic!("{why} in {}", String::from_utf8_lossy(&input)));
        }
    }
}

/// A file made of lines of recorded files, with a few words exchanged.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        ("\"message\"", "\"label\""),
        ("\"parentId\"", "\"parent\""),
        ("\"version\":5", "\"version\":1"),
        ("\"version\":5", "\"version\":2"),
        ("\"role\":\"user\"", "\"role\":\"hookMessage\""),
        ("\"role\":\"user\"", "\"role\":null"),
        ("\"firstKeptEntryId\":\"", "\"firstKeptEntryIndex\":2,\"x\":\""),
        ("\"id\":\"a\"", "\"id\":7"),
        ("\"content\":", "\"content\":[null],\"c\":"),
        ("\"timestamp\"", "\"evictedContent\":{\"payloads\":{\"message.content\":5}},\"timestamp\""),
    ];
    let lines: Vec<Vec<u8>> = inputs().iter().flat_map(|input| input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec)).collect();
    let headers: Vec<Vec<u8>> = lines.iter().filter(|line| line.starts_with(b"{\"type\":\"session\"")).cloned().collect();
    let picked = (proptest::sample::select(headers), proptest::collection::vec(proptest::sample::select(lines), 1..12));
    (picked, proptest::sample::subsequence(words.to_vec(), 0..3)).prop_map(|((header, lines), words)| {
        let text = std::iter::once(header).chain(lines).collect::<Vec<_>>().join(&b'\n');
        let text = String::from_utf8_lossy(&text).into_owned();
        words.iter().fold(text, |text, (from, to)| text.replace(from, to)).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn both_forms_agree_on_mixed_files(input in mutated()) {
        for release in [Release::V0_15, Release::V0_17] {
            let text = String::from_utf8_lossy(&input);
            prop_assert!(compare(&input, release).is_ok(), "{:?} in {text}", compare(&input, release));
        }
    }
}
