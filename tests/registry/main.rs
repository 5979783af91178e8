//! The table of codes against the registry (`codes.tsv`, one row per code of spec 05), and the texts that users read.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::disallowed_methods, reason = "a test may")]

mod cases;
mod tokens;

use gjc_fsck::check;
use gjc_fsck::finding::{Class, Code, Releases, Role, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A code as a row of the registry: name, token, area, severity, fatal, class, role, releases.
fn row(code: &Code) -> String {
    let severity = match code.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    let class = match code.class {
        Some(Class::Capacity) => "C",
        Some(Class::Transient) => "T",
        None => "-",
    };
    let role = match code.role {
        Role::Diagnostic => "code",
        Role::VerdictToken => "token",
    };
    let releases = match code.releases {
        Releases::Both => "Both",
        Releases::Only017 => "Only017",
    };
    let fatal = if code.fatal { "yes" } else { "no" };
    [code.name, code.token.unwrap_or("-"), code.area, severity, fatal, class, role, releases].join("\t")
}

#[test]
fn the_table_of_codes_is_the_registry() {
    let registry = std::fs::read_to_string(root().join("tests/registry/codes.tsv")).unwrap();
    let mut rows = registry.lines();
    assert_eq!(rows.next(), Some("code\ttoken\tarea\tseverity\tfatal\tclass\trole\treleases"));
    let declared: Vec<String> = check::codes().map(row).collect();
    let wanted: Vec<&str> = rows.collect();
    assert_eq!(declared, wanted, "same rows in the same order");
}

#[test]
fn every_code_is_snake_case_and_declared_once() {
    let mut names = BTreeSet::new();
    for code in check::codes() {
        assert!(code.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{}", code.name);
        assert!(!code.name.starts_with('_') && !code.name.ends_with('_') && !code.name.contains("__"), "{}", code.name);
        assert!(names.insert(code.name), "{} is declared twice", code.name);
    }
}

#[test]
fn every_code_says_what_is_wrong_what_gjc_does_and_what_to_do() {
    let mut summaries = BTreeMap::new();
    for code in check::codes() {
        for (what, text, longest) in [("summary", code.summary, 140), ("gjc", code.gjc, 360), ("help", code.help, 360)] {
            assert!(text.len() >= 5, "{}: {what} is missing", code.name);
            assert!(text.len() <= longest, "{}: {what} has {} bytes, more than {longest}", code.name, text.len());
            assert!(text.ends_with('.'), "{}: {what} is no sentence", code.name);
            assert!(!text.contains("  ") && text.trim() == text, "{}: {what} holds stray white space", code.name);
            assert!(!text.contains("UNVERIFIED") && !text.contains('§'), "{}: {what} speaks like the specification", code.name);
        }
        assert!(code.summary != code.gjc && code.gjc != code.help && code.summary != code.help, "{}: a text is repeated", code.name);
        if let Some(other) = summaries.insert(code.summary, code.name) {
            panic!("{} and {other} have one summary", code.name);
        }
    }
}

#[test]
fn a_capacity_is_never_called_damage() {
    for code in check::codes().filter(|code| code.class == Some(Class::Capacity)) {
        let said = format!("{} {} {}", code.summary, code.gjc, code.help).to_lowercase();
        for word in ["repair", "restore"] {
            assert!(!said.contains(word), "{} advises to {word}, but nothing is damaged", code.name);
        }
    }
    let journal = check::code("managed_gc_journal_capacity_exceeded").unwrap();
    assert!(journal.gjc.contains("does not mean that") && journal.gjc.contains("absent or corrupt"), "{}", journal.gjc);
    assert!(journal.help.contains("Remove nothing"), "{}", journal.help);
}

/// `01 §2.3.5`, `03 §14 Q9`, `02a.11`, `field G22`, `field input 36`, `design §5`, `issue 06 §5`, `vectors README 41`.
fn is_section(text: &str) -> bool {
    let number = |text: &str| text.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '–'));
    let mut book = "";
    text.split([';', ',']).map(str::trim).all(|part| {
        let mut words = part.split(' ').peekable();
        if let Some(word) = words.next_if(|word| matches!(*word, "01" | "02" | "03" | "04" | "field" | "design" | "issue" | "vectors")) {
            book = word;
        }
        match (book, words.collect::<Vec<_>>().as_slice()) {
            (_, [correction]) if correction.starts_with("02a.") => number(&correction[4..]),
            ("01" | "02" | "03" | "04" | "design", [section]) => section.strip_prefix('§').is_some_and(number),
            ("03", [section, quota]) => section.strip_prefix('§').is_some_and(number) && quota.starts_with('Q'),
            ("issue", [issue, section]) => number(issue) && section.strip_prefix('§').is_some_and(number),
            ("field", [report] | ["input", report]) | ("vectors", ["README", report] | [report]) => number(report),
            _ => false,
        }
    })
}

#[test]
fn every_section_is_one_of_the_specification() {
    for code in check::codes() {
        assert!(is_section(code.section), "{}: {}", code.name, code.section);
    }
    assert!(!is_section("5 §1") && !is_section("01 §") && !is_section("somewhere"));
}

/// Every Rust file below `dir`.
fn sources(dir: &Path) -> Vec<PathBuf> {
    walkdir::WalkDir::new(dir)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The codes whose static no pass names: nothing reports them.
fn codes_without_a_pass() -> BTreeSet<&'static str> {
    let mut code_of_passes = String::new();
    for path in sources(&root().join("src")) {
        if !path.ends_with("codes.rs") || path.ends_with("cli/codes.rs") {
            code_of_passes.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    let words: BTreeSet<&str> = code_of_passes.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    check::codes().map(|code| code.name).filter(|name| !words.contains(name.to_ascii_uppercase().as_str())).collect()
}

/// Prints the codes that no pass reports yet, by area. What it prints is the list of what is left, so it never fails for
/// an area that is not done; it fails when an area has no room.
#[test]
fn areas_without_a_pass_are_listed() {
    let without_a_pass = codes_without_a_pass();
    let mut silent: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut areas: BTreeMap<&str, usize> = BTreeMap::new();
    for code in check::codes() {
        let room = if code.area == "size and caps" { "size".to_owned() } else { code.area.replace(' ', "_") };
        assert!(root().join("src/check").join(room).is_dir(), "the area {} has no room", code.area);
        *areas.entry(code.area).or_default() += 1;
        if without_a_pass.contains(code.name) {
            silent.entry(code.area).or_default().push(code.name);
        }
    }
    for (area, codes) in &silent {
        if codes.len() == areas[area] {
            println!("{area}: no pass yet ({} codes)", codes.len());
        } else {
            println!("{area}: not reported yet: {}", codes.join(" "));
        }
    }
    assert_eq!(areas.len(), 29);
}
