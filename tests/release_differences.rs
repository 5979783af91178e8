//! The table of differences between the releases (`finding::release`): every entry has a case, every case is answered
//! differently by the releases, and whatever the suites say of a release belongs to an entry. And the code decides by
//! release nowhere but through the table.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test reads its own files and tells what it found"
)]
#![allow(dead_code, reason = "what other tests need of the support")]

#[path = "release_differences/inputs.rs"]
mod inputs;
mod support;
#[path = "support/tree.rs"]
mod tree;
#[path = "support/trees.rs"]
mod trees_suite;

use gjc_fsck::finding::release::Case;
use gjc_fsck::finding::{Difference, Release};
use gjc_fsck::json::{Value, View};
use gjc_fsck::transcript::answer;
use gjc_fsck::transcript::blobs::{BlobSink, MemoryStore, name_of};
use gjc_fsck::transcript::context::answer::{LeafName, contexts};
use gjc_fsck::transcript::inspect::{self, Options};
use gjc_fsck::transcript::migrate::{Numbered, Seeded};
use gjc_fsck::transcript::open;
use gjc_fsck::transcript::persist::open_for_writing;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::string;

/// All cases of the table, with the entry that names them.
fn named() -> impl Iterator<Item = (&'static str, Case)> {
    Difference::ALL.iter().map(|difference| difference.entry()).flat_map(|entry| entry.cases.iter().map(move |case| (entry.name, *case)))
}

#[test]
fn every_difference_has_a_case() {
    for difference in Difference::ALL {
        assert!(!difference.entry().cases.is_empty(), "{} has no case", difference.entry().name);
    }
}

#[test]
fn the_releases_differ_in_every_case() {
    for (difference, case) in named() {
        let [old, new] = Release::ALL.map(|release| match case {
            Case::Rule(rule) => of_rule(rule, release),
            Case::Tree(name) => of_tree(name, release),
            Case::Input(name) => inputs::answer(name, release).unwrap_or_else(|| panic!("{difference}: no input `{name}`")),
        });
        assert_ne!(old, new, "{difference}: both releases answer the same to {case:?}");
    }
}

#[test]
fn every_input_belongs_to_a_difference() {
    let used: BTreeSet<&str> = named().filter_map(|(_, case)| if let Case::Input(name) = case { Some(name) } else { None }).collect();
    assert_eq!(used, inputs::ALL.iter().map(|(name, _)| *name).collect());
}

#[test]
fn every_rule_of_n17_belongs_to_a_difference() {
    let used: BTreeSet<String> =
        named().filter_map(|(_, case)| if let Case::Rule(name) = case { Some(name.to_owned()) } else { None }).collect();
    assert_eq!(used, support::cases("n17").iter().filter_map(|case| case.text("rule")).collect());
}

/// The suite says of each case whether the releases differ in it; they do exactly then.
#[test]
fn cases_of_n17_differ_exactly_where_the_suite_says_so() {
    support::run("n17", |case| {
        let [old, new] = Release::ALL.map(|release| of_transcript(case, release));
        let differs = case.get("differs").or_else(|| case.expect("differs")).is_some_and(View::truthy);
        if (old != new) == differs { Ok(()) } else { Err(format!("differs: {}\n  0.15 {old}\n  0.17 {new}", old != new)) }
    });
}

#[test]
fn every_tree_that_the_newest_release_answers_otherwise_belongs_to_a_difference() {
    let used: BTreeSet<String> =
        named().filter_map(|(_, case)| if let Case::Tree(name) = case { Some(name.to_owned()) } else { None }).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/trees");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).map(|path| of_file(&path));
    for case in cases.filter(|case| case["newestSet"].is_array()) {
        assert!(used.contains(case["name"].as_str().unwrap()), "no difference names the tree {}", case["name"]);
    }
}

/// The answers to all cases of a rule of `n17`.
fn of_rule(rule: &str, release: Release) -> String {
    let cases = support::cases("n17");
    let of_rule = cases.iter().filter(|case| case.text("rule").as_deref() == Some(rule));
    of_rule.map(|case| of_transcript(case, release)).collect::<Vec<_>>().join("\n")
}

/// Everything that a release makes of a transcript: entries, strict inspection, opening, contexts, what is in memory and
/// what a rewrite stores.
fn of_transcript(case: &support::Case, release: Release) -> String {
    let input = case.input();
    let inspected = inspect::bytes(&input[..], input.len() as u64, Options::new(release)).unwrap();
    let opening = open::explicit(&inspected.verdict, inspected.loaded.as_ref().ok(), false, release);
    let leaf = |leaf: &Value| string(leaf).map_or(LeafName::BeforeFirst, |id| LeafName::Id(id.into()));
    let leaves = case.get("leaves").and_then(Value::as_array).unwrap_or_default().iter().map(leaf);
    let asked: Vec<LeafName> = [LeafName::Last].into_iter().chain(leaves).collect();
    let mut store = MemoryStore::default();
    for blob in case.get("blobs").and_then(Value::as_array).unwrap_or_default() {
        let bytes = data_encoding::BASE64.decode(blob.member("bytes_b64").and_then(string).unwrap().as_bytes()).unwrap();
        store.put(&name_of(&bytes), &bytes);
    }
    let written = open_for_writing(input.clone(), &mut Seeded::new(1), &mut store, release).map_err(|refusal| refusal.to_string());
    let written = written.map(|mut opened| {
        let live = opened.live_entries(&mut store);
        opened.rewrite(&mut store);
        (live, String::from_utf8_lossy(opened.file()).into_owned(), store.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let entries = text(&answer::replay(&input[..], release).unwrap());
    let contexts = contexts(&input[..], release, &asked, &mut Numbered::default()).unwrap();
    let contexts: Vec<String> = contexts.iter().map(|context| text(context)).collect();
    format!("{entries} {:?} {opening:?} {contexts:?} {written:?}", inspected.verdict)
}

fn of_file(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The answers to the questions of a tree, up to the first that changes it for 0.15.
fn of_tree(name: &str, release: Release) -> String {
    let case = of_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vectors/trees/{name}.json")));
    let tree = tree::Tree::of_case(&case);
    let mut answers = Vec::new();
    for (ask, expect) in case["ask"].as_array().unwrap().iter().zip(case["expect"].as_array().unwrap()) {
        if ask["op"] != "apply" {
            answers.push(trees_suite::answer(&tree, ask, release).to_string().replace(tree.root.to_str().unwrap(), "ROOT"));
        }
        if expect["changed"] == true {
            break;
        }
    }
    answers.join("\n")
}

/// Every file of the code, without its unit tests.
fn code() -> Vec<(PathBuf, String)> {
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with("tests")));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            files.push((path, text));
        }
    }
    assert!(files.len() > 100);
    files
}

#[test]
fn only_the_table_tells_releases_apart() {
    // What reads the option; reader O, which there is in one release only; and what drops the sentences about the other
    // release from a text, which is no behaviour of gjc.
    let exempt = ["finding/release.rs", "cli/options.rs", "transcript/readers/owner.rs", "report/prose.rs"];
    for (path, text) in code().iter().filter(|(path, _)| !exempt.iter().any(|exempt| path.ends_with(exempt))) {
        let line = text.lines().position(|line| line.contains("Release::V0_"));
        assert_eq!(line, None, "{} compares releases (0-based line): ask a `Difference` instead", path.display());
    }
}

#[test]
fn every_difference_is_asked_for() {
    let code = code();
    for difference in Difference::ALL {
        let asked = format!("Difference::{difference:?}.in_effect(");
        let places = code.iter().filter(|(path, text)| !path.ends_with("finding/release.rs") && text.contains(&asked));
        assert!(places.count() > 0, "no place asks for {asked}");
    }
}
