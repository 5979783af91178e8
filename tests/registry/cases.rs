//! Where each code has its trigger and its near miss: `cases.tsv`, one row a code, in the order of the registry.
//!
//! A *trigger* is an input that has the fault; its *near miss* is the smallest change of it after which the code is gone and
//! no other code appears. Each is named as
//! * a case that is a recipe, `corpus/agent/size_and_caps/<code>`, for both, or
//! * a file of the corpus, `corpus/v5/<code>/trigger.jsonl` and `corpus/v5/<code>/near-miss.jsonl` (what the findings of it
//!   are is tested by `tests/corpus.rs`), or
//! * a test function, `tests/large_cases.rs::one_byte_makes_a_file_oversized`, that makes the input (large files, several files, a
//!   managed scope, another owner …), names the code and says what the input gives. One function may hold both.
//!
//! `-` stands where no pass reports the code at all.

use super::root;
use gjc_fsck::check;
use std::collections::BTreeSet;

/// The areas whose codes need a row.
const AREAS: &[&str] = &[
    "operational",
    "retirement receipt",
    "quota",
    "line",
    "header",
    "entry",
    "patch",
    "migrate",
    "tree",
    "context",
    "tool pairing",
    "blob",
    "size and caps",
    "scope",
    "binding",
    "security",
    "legacy",
    "lock",
    "migration receipt",
    "replacement receipt",
    "tombstone",
    "owner",
    "listing",
    "breadcrumb",
    "artifact",
    "history",
    "residue",
    "dialect",
];

/// A row of the table.
struct Row {
    code: String,
    trigger: String,
    near_miss: String,
}

impl Row {
    fn lacks(&self) -> bool {
        self.trigger == "-" || self.near_miss == "-"
    }
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("tests/registry/cases.tsv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("code\ttrigger\tnear miss"));
    let row = |line: &str| match line.split('\t').collect::<Vec<_>>().as_slice() {
        [code, trigger, near_miss] => Row { code: (*code).to_owned(), trigger: (*trigger).to_owned(), near_miss: (*near_miss).to_owned() },
        _ => panic!("not three columns: {line}"),
    };
    lines.map(row).collect()
}

#[test]
fn the_rows_are_codes_in_the_order_of_the_registry() {
    let order: Vec<&str> = check::codes().map(|code| code.name).collect();
    let place = |code: &str| order.iter().position(|name| *name == code).unwrap_or_else(|| panic!("{code} is no code"));
    for pair in table().windows(2) {
        assert!(place(&pair[0].code) < place(&pair[1].code), "{} stands before {}", pair[0].code, pair[1].code);
    }
}

#[test]
fn every_code_of_the_areas_has_a_row() {
    let rows: BTreeSet<String> = table().into_iter().map(|row| row.code).collect();
    let lacking: Vec<&str> =
        check::codes().filter(|code| AREAS.contains(&code.area) && !rows.contains(code.name)).map(|code| code.name).collect();
    assert!(lacking.is_empty(), "without a row: {lacking:?}");
}

/// Only a code that nothing reports may lack a case.
#[test]
fn every_reported_code_has_a_trigger_and_a_near_miss() {
    let silent = super::codes_without_a_pass();
    for row in table().iter().filter(|row| row.lacks()) {
        assert!(silent.contains(row.code.as_str()), "{} is reported and has no case", row.code);
    }
}

#[test]
fn every_place_exists_and_names_its_code() {
    let mut wrong = Vec::new();
    for row in table() {
        for (place, file) in [(&row.trigger, "trigger.jsonl"), (&row.near_miss, "near-miss.jsonl")] {
            let said = if place == "-" {
                continue;
            } else if let Some((path, name)) = place.split_once("::") {
                test_function(path, name).and_then(|body| names(&body, &row.code))
            } else {
                corpus_file(place, &row.code, file)
            };
            if let Err(fault) = said {
                wrong.push(format!("{}: {place}: {fault}", row.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file of the folder of the code.
fn corpus_file(place: &str, code: &str, file: &str) -> Result<(), &'static str> {
    let path = root().join(place);
    if path.join("case.json").is_file() {
        return if place.ends_with(&format!("/{code}")) { Ok(()) } else { Err("not the case of this code") };
    }
    let folder = path.parent().and_then(|folder| folder.file_name());
    if !place.starts_with("corpus/") || !path.is_file() {
        Err("no file of the corpus")
    } else if folder.is_none_or(|folder| folder != code) || !place.ends_with(file) {
        Err("not the case of this code")
    } else {
        Ok(())
    }
}

/// The text of a test function.
pub fn test_function(path: &str, name: &str) -> Result<String, &'static str> {
    let text = std::fs::read_to_string(root().join(path)).map_err(|_| "no such file")?;
    let head = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.trim_start().starts_with(&head)).ok_or("no such function")?;
    // Attributes and a comment may stand between.
    let attributes =
        lines[..first].iter().rev().take_while(|line| line.trim_start().starts_with("#[") || line.trim_start().starts_with("//"));
    if !attributes.into_iter().any(|line| line.trim() == "#[test]") {
        return Err("not a test");
    }
    let indent = &lines[first][..lines[first].len() - lines[first].trim_start().len()];
    let end = format!("{indent}}}");
    let last = lines[first..].iter().position(|line| *line == end).ok_or("its end was not found")?;
    Ok(lines[first..=first + last].join("\n"))
}

/// The code, its static, or gjc's token for it stands in the text as a word.
pub fn names(text: &str, code: &str) -> Result<(), &'static str> {
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let upper = code.to_ascii_uppercase();
    if words.contains(code) || words.contains(upper.as_str()) { Ok(()) } else { Err("the function does not name the code") }
}

/// A folder of the corpus that no row names would be a case that nobody finds.
#[test]
fn every_folder_of_the_corpus_has_its_row() {
    let triggers: BTreeSet<String> = table().into_iter().map(|row| row.trigger).collect();
    for version in 1..=5 {
        for folder in std::fs::read_dir(root().join(format!("corpus/v{version}"))).unwrap() {
            let folder = folder.unwrap();
            let name = folder.file_name().into_string().unwrap();
            // A case of a rule has no code.
            if !std::fs::read_to_string(folder.path().join("case.json")).unwrap().contains("\n  \"code\": ") {
                continue;
            }
            let trigger = format!("corpus/v{version}/{name}/trigger.jsonl");
            assert!(triggers.contains(&trigger), "{trigger} has no row");
        }
    }
}
