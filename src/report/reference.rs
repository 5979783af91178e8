//! The table of codes as other forms show it: `explain`, `codes`, `reports/codes.md`, the schema.

use super::vocabulary::{Word, word_named};
use crate::check;
use crate::finding::{Class, Code, Releases, Role, Severity};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// The word for a severity.
pub const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

/// The releases of gjc in which a code can be reported.
pub const fn releases(code: &Code) -> &'static [&'static str] {
    match code.releases {
        Releases::Both => &["0.15", "0.17"],
        Releases::Only017 => &["0.17"],
    }
}

/// The word for a role.
pub const fn role(role: Role) -> &'static str {
    match role {
        Role::Diagnostic => "diagnostic",
        Role::VerdictToken => "verdict_token",
    }
}

/// One code, as `codes --format json` writes it.
#[derive(Serialize, JsonSchema, Clone, Debug)]
pub struct CodeEntry {
    /// Stable name.
    pub name: &'static str,
    /// gjc's own spelling, where gjc has one.
    pub token: Option<&'static str>,
    /// Area.
    pub area: &'static str,
    /// Default severity.
    pub severity: Severity,
    /// Its severity may not be lowered.
    pub fatal: bool,
    /// C: capacity; T: the tree moved.
    pub class: Option<Class>,
    /// `diagnostic` or `verdict_token`.
    pub role: &'static str,
    /// Releases of gjc in which it can be reported.
    pub releases: &'static [&'static str],
    /// What is wrong, in one line.
    pub summary: &'static str,
    /// What gjc does.
    pub gjc: &'static str,
    /// What to do.
    pub help: &'static str,
    /// Section of the specification.
    pub section: &'static str,
    /// Version of gjc-fsck that first reported it.
    pub since: &'static str,
}

impl From<&Code> for CodeEntry {
    fn from(code: &Code) -> Self {
        CodeEntry {
            name: code.name,
            token: code.token,
            area: code.area,
            severity: code.severity,
            fatal: code.fatal,
            class: code.class,
            role: role(code.role),
            releases: releases(code),
            summary: code.summary,
            gjc: code.gjc,
            help: code.help,
            section: code.section,
            since: code.since,
        }
    }
}

/// The JSON Schema of the list of codes.
pub fn schema() -> schemars::Schema {
    super::schema_of::<Vec<CodeEntry>>("gjc-fsck/codes/1")
}

/// Answer of [`find`].
#[derive(Debug)]
pub enum Found {
    /// The codes that this name leads to; the one with exactly this name first.
    Codes(Vec<&'static Code>),
    /// No code, but a word that gjc prints.
    Word(&'static Word),
    /// No code and no token has this name.
    Nothing {
        /// Names that look like it, best first, at most five.
        neighbours: Vec<&'static str>,
    },
}

/// The codes with this name or with this token of gjc. A suffix that gjc appends to a token (`…:<role>/<name>`, `…: 6`) may
/// be given with it.
pub fn find(asked: &str) -> Found {
    let asked = asked.trim().trim_matches('`').trim_start_matches("prepare:");
    let stem = asked.split([':', '(']).next().unwrap_or(asked);
    let snake: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let mut codes: Vec<&'static Code> = Vec::new();
    let by_name = check::codes().filter(|code| code.name == snake);
    let by_token = check::codes().filter(|code| code.token.is_some_and(|token| token_stem(token) == stem));
    for code in by_name.chain(by_token) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    if !codes.is_empty() {
        return Found::Codes(codes);
    }
    match word_named(stem) {
        Some(word) => Found::Word(word),
        None => Found::Nothing { neighbours: neighbours(&snake) },
    }
}

/// The codes whose findings lead gjc to answer this token, in the order of the registry.
pub fn leading_to(token: &Code) -> Vec<&'static Code> {
    let explains = |code: &Code| code.explains(token.name) || token.token.is_some_and(|spelled| code.explains(spelled));
    check::codes().filter(|code| code.name != token.name && explains(code)).collect()
}

/// A token without the suffix that stands for what gjc appends.
fn token_stem(token: &str) -> &str {
    token.split_once(':').map_or(token, |(stem, _)| stem)
}

/// Names that look like `asked`: one contains the other, or few letters differ.
fn neighbours(asked: &str) -> Vec<&'static str> {
    let mut scored: Vec<(f32, &'static str)> = check::codes()
        .map(|code| {
            let ratio = similar::TextDiff::from_chars(asked, code.name).ratio();
            let contained = asked.len() >= 3 && (code.name.contains(asked) || asked.contains(code.name));
            (if contained { ratio.max(0.75) } else { ratio }, code.name)
        })
        .filter(|(score, _)| *score >= 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(5).map(|(_, name)| name).collect()
}

/// The reference of all codes as a page of Markdown (`reports/codes.md`).
pub fn markdown() -> String {
    let mut page = String::from(
        "# The codes of gjc-fsck\n\n\
         Generated from the table of codes; do not edit. `GJC_FSCK_BLESS=1 cargo test` writes it anew, and the test fails when it differs.\n\
         The same texts: `gjc-fsck explain CODE`, `gjc-fsck codes --format json`.\n\n\
         **Severity** is about consequences. *error*: gjc refuses it, or data is lost now. *warning*: gjc accepts it but drops or\n\
         misreads something, or the next write does damage. *info*: worth knowing. A **fatal** code's severity cannot be lowered.\n\
         Class **C** is a capacity that is reached or near: neither clean nor damaged. Class **T** means that files moved during the\n\
         check. Both set exit bit 2 (C only as error) instead of 4. Codes without a release are reported for 0.15 and 0.17.\n",
    );
    let mut area = "";
    for code in check::codes() {
        if code.area != area {
            area = code.area;
            let title = if area == "verdict" { "answers of gjc (findings only when nothing else explains them)" } else { area };
            // Writing into a String cannot fail.
            let _ = write!(page, "\n## {title}\n");
        }
        let mut marks = vec![level(code.severity).to_owned()];
        marks.extend(code.fatal.then(|| "fatal".to_owned()));
        marks.extend(code.class.map(|class| match class {
            Class::Capacity => "class C".to_owned(),
            Class::Transient => "class T".to_owned(),
        }));
        if code.releases == Releases::Only017 {
            marks.push("0.17".to_owned());
        }
        marks.extend(code.token.filter(|token| *token != code.name).map(|token| format!("gjc writes `{token}`")));
        let _ = write!(
            page,
            "\n### `{}`\n\n{} — {}\n\n* gjc: {}\n* What to do: {}\n* Spec: {}\n",
            code.name,
            marks.join(", "),
            code.summary,
            code.gjc,
            code.help,
            code.section
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &str) -> Vec<&'static str> {
        match find(asked) {
            Found::Codes(codes) => codes.into_iter().map(|code| code.name).collect(),
            Found::Word(_) | Found::Nothing { .. } => Vec::new(),
        }
    }

    #[test]
    fn a_code_is_found_by_its_name() {
        assert_eq!(names("dangling_parent"), ["dangling_parent"]);
    }

    #[test]
    fn a_code_is_found_by_gjcs_own_spelling() {
        assert_eq!(names("read-failed"), ["read_failed"]);
        assert_eq!(names("identity-mismatch"), ["identity_mismatch"]);
        assert_eq!(names("hard_link"), ["hard_linked_transcript"]);
    }

    #[test]
    fn what_gjc_appends_to_a_token_may_be_given_with_it() {
        assert_eq!(names("Unsupported session version: 6"), ["unsupported_session_version"]);
        assert_eq!(names("managed_gc_protocol_entry_invalid:receipts/x.jsonl"), ["managed_gc_protocol_entry_invalid"]);
    }

    #[test]
    fn a_token_that_several_codes_carry_names_them_all() {
        assert_eq!(names("cwd_missing"), ["cwd_missing", "workspace_missing"]);
    }

    #[test]
    fn a_word_of_gjc_that_is_no_code_is_answered() {
        let word = |asked| match find(asked) {
            Found::Word(word) => word.name,
            found => panic!("{found:?}"),
        };
        assert_eq!(word("prepare:retained_authority"), "retained_authority");
        assert_eq!(word("newer_than_max_age(60d)"), "newer_than_max_age");
        assert_eq!(word("retention_declined: transcript_unreadable"), "retention_declined");
    }

    #[test]
    fn a_token_names_the_codes_that_lead_to_it() {
        let leading = |token| leading_to(check::code(token).unwrap()).into_iter().map(|code| code.name).collect::<Vec<_>>();
        assert!(leading("malformed").contains(&"truncated_last_line"));
        assert!(leading("binding_invalid").contains(&"mode_mismatch"));
        assert!(leading("dangling_parent").is_empty());
    }

    #[test]
    fn a_miss_names_its_neighbours() {
        let near = |asked| match find(asked) {
            Found::Nothing { neighbours } => neighbours,
            found => panic!("{found:?}"),
        };
        assert_eq!(near("danglng_parent").first(), Some(&"dangling_parent"));
        assert!(near("bounded_scan").contains(&"bounded_scan_branch"));
        assert!(near("xyzzy").is_empty());
    }
}
