//! The corpus of single faults: `corpus/v1` … `corpus/v5`, one folder a code, with the smallest file that triggers it and a
//! near miss, the smallest change after which the code is gone and no other appears.
//!
//! `expect.tsv` says what the trigger gives: `line` (`-` where the finding has none) and `code`; the first row is the code of
//! the folder, the others are what the same fault causes beside it. Checked as lone files under gjc 0.17 without a blob store.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used, reason = "a test reads its own files and tells what it found")]

use gjc_fsck::check::transcript::{self, Options};
use gjc_fsck::finding::{Collected, Release};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a file gives: line and code of each finding, in order.
fn findings(file: &Path) -> Vec<(String, &'static str)> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut sink = Collected::default();
    transcript::check(&bytes[..], &Options::lone("case", Release::V0_17), &mut sink).unwrap();
    let mut found: Vec<_> = sink
        .findings
        .iter()
        .map(|finding| (finding.place.line.map_or_else(|| "-".to_owned(), |line| line.to_string()), finding.code.name))
        .collect();
    found.sort();
    found
}

fn expected(case: &Path) -> Vec<(String, String)> {
    let table = std::fs::read_to_string(case.join("expect.tsv")).unwrap();
    let row = |line: &str| line.split_once('\t').map(|(line, code)| (line.to_owned(), code.to_owned()));
    table.lines().skip(1).map(|line| row(line).unwrap_or_else(|| panic!("{}: {line}", case.display()))).collect()
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut cases = Vec::new();
    for version in 1..=5 {
        for case in std::fs::read_dir(root.join(format!("v{version}"))).unwrap() {
            cases.push(case.unwrap().path());
        }
    }
    cases.sort();
    cases
}

fn code_of(case: &Path) -> &str {
    case.file_name().and_then(|name| name.to_str()).unwrap()
}

#[test]
fn every_trigger_gives_exactly_what_its_case_expects() {
    let mut wrong = Vec::new();
    for case in cases() {
        let mut expected = expected(&case);
        assert_eq!(expected[0].1, code_of(&case), "the first row names the code of the folder");
        expected.sort();
        let found: Vec<_> = findings(&case.join("trigger.jsonl")).into_iter().map(|(line, code)| (line, code.to_owned())).collect();
        if found != expected {
            wrong.push(format!("{}\n  expected {expected:?}\n  found    {found:?}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_near_miss_is_free_of_the_code_and_of_new_ones() {
    let mut wrong = Vec::new();
    for case in cases() {
        let known: BTreeSet<String> = expected(&case).into_iter().map(|(_, code)| code).filter(|code| code != code_of(&case)).collect();
        let found = findings(&case.join("near-miss.jsonl"));
        let new: Vec<_> = found.iter().filter(|(_, code)| !known.contains(*code)).collect();
        if !new.is_empty() {
            wrong.push(format!("{}: {new:?}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
