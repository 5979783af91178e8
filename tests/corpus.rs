//! The corpus: every case says what the program answers, every code is guarded by one, nothing in it is unused, and a case
//! that is wrong is rejected.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used, reason = "a test reads its own files and tells what it found")]

use gjc_fsck::check;
use gjc_fsck::corpus::case::Case;
use gjc_fsck::corpus::expected::Expectations;
use gjc_fsck::corpus::folder::{self, Folder};
use gjc_fsck::corpus::observe::Memo;
use gjc_fsck::corpus::run::{Failure, Observations, compare, is_canary, observations};
use gjc_fsck::corpus::{coverage, lint, run};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// A case and everything that it gave: each is run once, and the tests look at that.
struct Seen {
    folder: Folder,
    case: Case,
    observations: Observations,
}

impl Seen {
    fn failures(&self) -> Vec<Failure> {
        compare(&self.case, &self.folder, &self.observations).unwrap()
    }
    fn codes(&self) -> BTreeSet<&str> {
        self.observations.iter().flat_map(|(.., observed)| &observed.answer.findings).map(|finding| finding.code.as_str()).collect()
    }
}

static CORPUS: LazyLock<Vec<Seen>> = LazyLock::new(|| {
    let corpus = folder::walk(&root()).unwrap();
    let memo = Memo::default();
    let seen = |folder: &Folder| {
        let case = folder.case().unwrap_or_else(|error| panic!("{error}"));
        let observations = observations(&case, folder, &memo).unwrap_or_else(|error| panic!("{}: {error}", folder.name));
        Seen { folder: folder.clone(), case, observations }
    };
    gjc_fsck::corpus::side_by_side::map(&corpus.cases, seen)
});

/// The cases that are right.
fn cases() -> impl Iterator<Item = &'static Seen> {
    CORPUS.iter().filter(|seen| !is_canary(&seen.folder))
}

fn said(failures: &[Failure]) -> String {
    failures.iter().map(|failure| format!("{} ({}, {:?}): {}\n", failure.case, failure.input, failure.release, failure.message)).collect()
}

#[test]
fn every_case_says_what_the_program_answers() {
    let failures: Vec<Failure> = cases().flat_map(Seen::failures).collect();
    assert!(failures.is_empty(), "{}", said(&failures));
    assert!(cases().count() > 300, "{} cases", cases().count());
}

#[test]
fn a_case_that_is_wrong_on_purpose_is_rejected() {
    let canaries: Vec<&Seen> = CORPUS.iter().filter(|seen| is_canary(&seen.folder)).collect();
    assert!(canaries.len() >= 8);
    for canary in canaries {
        assert!(!canary.failures().is_empty(), "{} passes", canary.folder.name);
    }
}

/// Whatever is silenced, somebody notices: of every code that any case gives, the findings are taken away, and a case fails.
#[test]
fn with_any_one_code_switched_off_a_case_fails() {
    let mut guarded: BTreeMap<&str, u64> = BTreeMap::new();
    for seen in cases() {
        for code in seen.codes() {
            let mut without = seen.observations.clone();
            for (.., observed) in &mut without {
                observed.answer.findings.retain(|finding| finding.code != code);
            }
            let notices = !compare(&seen.case, &seen.folder, &without).unwrap().is_empty();
            *guarded.entry(code).or_default() += u64::from(notices);
        }
    }
    let unguarded: Vec<&str> = check::codes()
        .filter(|code| coverage::is_wanted(code))
        .map(|code| code.name)
        .filter(|code| guarded.get(code).is_none_or(|n| *n == 0))
        .collect();
    assert_eq!(unguarded, WAITING, "codes whose silence nobody would notice");
}

/// Codes that no case shows yet.
const WAITING: [&str; 11] = [
    "config_unknown_key",
    "baseline_entry_stale",
    "exchange_placeholder_not_empty",
    "managed_gc_receipt_capacity_exceeded",
    "breadcrumb_malformed",
    "breadcrumb_dangling",
    "breadcrumb_mismatch",
    "history_corrupt",
    "history_schema",
    "history_fts_out_of_sync",
    "history_migration_interrupted",
];

#[test]
fn every_code_has_a_trigger_and_a_near_miss() {
    let rows = coverage::of(&root()).unwrap();
    let lacking: Vec<&str> = rows.iter().filter(|row| !row.is_covered()).map(|row| row.code.as_str()).collect();
    assert_eq!(lacking, WAITING);
}

#[test]
fn the_linter_finds_nothing_to_mend() {
    let complaints = lint::lint(&root()).unwrap();
    let said: String = complaints.iter().map(|complaint| format!("{}: {}\n", complaint.path, complaint.message)).collect();
    assert!(complaints.is_empty(), "{said}");
}

/// What is expected of the trigger of a field input is what the table of the field says.
#[test]
fn the_cases_of_the_field_say_what_its_table_says() {
    let table = std::fs::read_to_string(root().join("field/codes-expected.tsv")).unwrap();
    let mut expected: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let [file, code, _, line, ..] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let rows = expected.entry(file.to_lowercase()).or_default();
        if code != "-" {
            rows.push((code.to_owned(), line.to_owned()));
        }
    }
    for (file, mut rows) in expected {
        let name = format!("field/cases/{file}");
        let seen = cases().find(|seen| seen.folder.name == name).unwrap_or_else(|| panic!("{name} is no case"));
        let newest = gjc_fsck::finding::Release::default();
        let answer = run::answer_for(&seen.case.trigger, newest).unwrap();
        let line = |line: Option<u64>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
        let mut said: Vec<(String, String)> = answer.findings.iter().map(|f| (f.code.clone(), line(f.line))).collect();
        said.sort();
        rows.sort();
        assert_eq!(said, rows, "{name}");
    }
}

/// Somebody else's corpus: whatever is wrong with it is told, and nothing of it is taken for granted.
mod anybodys {
    use super::*;

    const HEALTHY: &str = include_str!("../corpus/v5/compaction/trigger.jsonl");

    /// A corpus of one valid case.
    fn corpus(kind: &str, findings: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let case = format!(
            r#"{{"title":"t","section":"01 §1","tags":["rule"],"kind":"{kind}","trigger":{{"file":"a.jsonl","answers":[{{"releases":["0.17"],"findings":[{findings}]}}]}}}}"#
        );
        std::fs::create_dir(root.path().join("x")).unwrap();
        std::fs::write(root.path().join("x/case.json"), case).unwrap();
        std::fs::write(root.path().join("x/a.jsonl"), HEALTHY).unwrap();
        root
    }

    fn messages(root: &Path, list: &str) -> (Vec<String>, Vec<String>) {
        let outcome = run::run(root, &Expectations::parse(list).unwrap()).unwrap();
        (outcome.failures.into_iter().map(|failure| failure.message).collect(), outcome.stale)
    }

    #[test]
    fn a_wrong_expectation_fails_unless_the_list_expects_exactly_that() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        let verdicts = "file: a transcript without expected verdicts";
        let missing = "missing utf8_bom at line 1";
        assert_eq!(messages(root.path(), "").0, [verdicts, missing]);
        let list = format!("x\ttrigger\t{missing}\nx\ttrigger\tfile: a transcript*\n");
        assert_eq!(messages(root.path(), &list), (vec![], vec![]));
        let (failures, stale) = messages(root.path(), &format!("{list}y\ttrigger\tz\n"));
        assert_eq!((failures.len(), stale), (0, vec!["line 3: y (trigger): it passes".to_owned()]));
    }

    #[test]
    fn a_case_that_is_no_case_is_a_failure_of_its_own() {
        let root = corpus("valid", "");
        std::fs::write(root.path().join("x/case.json"), "{").unwrap();
        let failures = messages(root.path(), "").0;
        assert!(failures.len() == 1 && failures[0].contains("x/case.json"), "{failures:?}");
    }

    #[test]
    fn what_bless_proposes_makes_the_corpus_pass_and_lint() {
        use gjc_fsck::corpus::bless;
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        let changes = bless::proposals(root.path()).unwrap();
        let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["x/case.json", "MANIFEST.sha256"]);
        bless::write(root.path(), &changes).unwrap();
        assert_eq!(messages(root.path(), ""), (vec![], vec![]));
        assert_eq!(bless::proposals(root.path()).unwrap(), []);
        std::fs::write(root.path().join(".gitattributes"), "* -text\n").unwrap();
        assert_eq!(lint::lint(root.path()).unwrap(), []);
    }

    #[test]
    fn the_linter_tells_each_kind_of_mistake() {
        let root = corpus("invalid", r#"{"code":"no_such_code"}"#);
        std::fs::write(root.path().join("x/left-over"), "").unwrap();
        let told: Vec<String> = lint::lint(root.path()).unwrap().into_iter().map(|c| format!("{}: {}", c.path, c.message)).collect();
        let expected = [
            ".gitattributes: a line `* -text` keeps a checkout from changing bytes",
            "MANIFEST.sha256: there is no manifest",
            "x/case.json: it is not spelled as `corpus bless` spells it",
            "x/case.json: its findings make it valid",
            "x/case.json: no_such_code is no code",
            "x/left-over: no case uses it",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_case_cannot_reach_out_of_its_corpus() {
        let root = corpus("valid", "");
        let path = root.path().join("x/case.json");
        let text = std::fs::read_to_string(&path).unwrap().replace("a.jsonl", "../../../etc/passwd");
        std::fs::write(&path, text).unwrap();
        let failures = messages(root.path(), "").0;
        assert_eq!(failures, ["\"../../../etc/passwd\" is no path inside the corpus"]);
    }
}
