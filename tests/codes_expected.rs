//! Every field input gives exactly the findings of `corpus/field/codes-expected.tsv`: code, severity and line, and no
//! other (`--gjc 0.17`, one lone file a run, no blob store).

#![allow(clippy::panic, clippy::disallowed_methods, reason = "a test reads the repository and fails loudly")]

use gjc_fsck::check::transcript::{Options, check};
use gjc_fsck::finding::{Collected, Finding, Release, Severity};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn field() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/field")
}

/// `code severity line` of each row, by file.
fn expected() -> BTreeMap<String, Vec<String>> {
    let table = std::fs::read_to_string(field().join("codes-expected.tsv")).expect("the table is there");
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [file, code, severity, line, ..] = cells[..] else { panic!("a row has five cells: {row}") };
        let list = rows.entry(file.to_owned()).or_default();
        if code != "-" {
            list.push(format!("{code} {severity} {line}"));
        }
    }
    rows.values_mut().for_each(|list| list.sort());
    rows
}

fn shown(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    format!("{} {severity} {}", finding.code.name, finding.place.line.map_or("-".to_owned(), |line| line.to_string()))
}

fn findings(file: &str) -> Vec<Finding> {
    let path = field().join(format!("{file}.jsonl"));
    let bytes = std::fs::read(&path).expect("the input is there");
    let options = Options { size: Some(bytes.len() as u64), ..Options::lone(format!("{file}.jsonl"), Release::V0_17) };
    let mut sink = Collected::default();
    check(&bytes[..], &options, &mut sink).expect("reading from memory");
    sink.findings
}

#[test]
fn every_field_input_gives_exactly_its_findings() {
    let mut wrong = Vec::new();
    for (file, wanted) in expected() {
        let findings = findings(&file);
        let mut got: Vec<String> = findings.iter().map(shown).collect();
        got.sort();
        if got != wanted {
            let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
            wrong.push(format!("{file}\n  want {wanted:?}\n  got  {got:?}\n  {messages:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}

/// No input is left out.
#[test]
fn every_field_input_is_in_the_table() {
    let files = std::fs::read_dir(field()).expect("the folder is there").map(|entry| entry.expect("it can be listed").path());
    let inputs = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let mut inputs: Vec<String> = inputs.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    inputs.sort();
    assert!(inputs.len() > 50);
    assert_eq!(inputs, expected().into_keys().collect::<Vec<_>>());
}

/// What the notes of the table say beyond code and line.
#[test]
fn figures_and_causes_are_named() {
    for (file, code, figure) in [
        ("03-torn-then-appended-fused", "fused_line", "byte column 71"),
        ("04-glued-two-complete", "dangling_parent", "2 messages before it are cut off"),
        ("04-glued-two-complete", "unreachable_branch", "2 entries are not on the path of the last one (1 tip, 1 root)"),
        ("06-pretty-printed-record", "record_spans_lines", "lines 2 to 12"),
        ("07-torn-swallows-next-record", "lenient_swallow", "lines 2 to 3 and swallows 1 record"),
        ("09-nul-run-glued-to-record", "nul_run", "300 NUL bytes and one complete record"),
        ("10-header-torn", "header_not_first", "2 records of the file are complete"),
        ("24-parent-missing", "dangling_parent", "`ffffffff`"),
        ("27-duplicate-id-identical", "duplicate_entry_id", "the bytes are equal"),
        ("28-duplicate-id-different", "duplicate_entry_id", "the bytes differ"),
        ("31-stale-leaf-tail", "leaf_behind_tip", "reaches 2 messages, another tip on line 5 reaches 4"),
        ("54-invalid-utf8", "invalid_utf8", "FF at byte offset 255"),
        ("66-thinking-noise", "redundant_entry_run", "2 thinking_level_change"),
        ("90-header-patch-unknown-key", "header_patch_invalid", "/patch/zzz"),
    ] {
        let found = findings(file).into_iter().find(|finding| finding.code.name == code).unwrap_or_else(|| panic!("{file}: no {code}"));
        assert!(found.message.contains(figure), "{file} {code}: {}", found.message);
    }
}

#[test]
fn equal_twins_need_nothing_and_different_ones_another_id() {
    let help = |file| findings(file).into_iter().find(|finding| finding.code.name == "duplicate_entry_id").unwrap().help.unwrap();
    assert!(help("27-duplicate-id-identical").starts_with("Nothing needs to be done"));
    assert!(help("28-duplicate-id-different").starts_with("Give the earlier entry another id"));
}

#[test]
fn a_lost_parent_is_mended_where_it_was_lost() {
    let help = |file| findings(file).into_iter().find(|finding| finding.code.name == "dangling_parent").unwrap().help;
    assert!(help("07-torn-swallows-next-record").unwrap().starts_with("Mend the damaged line"));
    assert_eq!(help("24-parent-missing"), None, "no line is known: the advice of the code");
}

#[test]
fn a_dangling_parent_behind_a_damaged_line_names_that_line() {
    for (file, code, cause) in [
        ("04-glued-two-complete", "dangling_parent", 3),
        ("07-torn-swallows-next-record", "dangling_parent", 2),
        ("09-nul-run-glued-to-record", "dangling_parent", 3),
        ("10-header-torn", "header_not_first", 1),
        ("22-v1-index-shifted-by-bad-line", "migration_index_shifted", 2),
    ] {
        let found = findings(file).into_iter().find(|finding| finding.code.name == code).unwrap_or_else(|| panic!("{file}: no {code}"));
        let causes: Vec<_> = found.related.iter().filter(|related| related.note == "cause").map(|related| related.place.line).collect();
        assert_eq!(causes, [Some(cause)], "{file}");
    }
}
