//! The page that `explain` shows.

use super::style::{Palette, wrap};
use crate::finding::{Class, Code, Release, Role, Severity};
use crate::report::prose::of_release;
use crate::report::reference::{leading_to, level, releases};
use crate::report::vocabulary::Word;
use std::fmt::Write;

/// The page of one code, for a terminal of `width` columns. What is said of the other release is left out.
pub fn code(code: &Code, release: Release, colour: bool, width: usize) -> String {
    let palette = Palette::new(colour);
    let width = width.min(100);
    let mut page = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(page, "{}  {}", palette.strong(code.name), palette.severity(code.severity, level(code.severity)));
    let _ = writeln!(page, "{}", wrap(code.summary, 0, width));
    let mut section = |title: &str, text: &str| {
        let _ = writeln!(page, "\n{}\n  {}", palette.faint(title), wrap(text, 2, width));
    };
    section("What gjc does", &of_release(code.gjc, release));
    section("What to do", &of_release(code.help, release));
    let leading = leading_to(code);
    if !leading.is_empty() {
        let names: Vec<&str> = leading.iter().map(|code| code.name).collect();
        section("Findings that lead to this answer", &names.join(", "));
    }
    for note in notes(code) {
        let _ = write!(page, "\n  {}", wrap(&note, 2, width));
    }
    page.push('\n');
    page
}

/// The page of a word of gjc that is no code.
pub fn word(word: &Word, colour: bool, width: usize) -> String {
    let palette = Palette::new(colour);
    let width = width.min(100);
    let mut page = format!("{}\n{}\n", palette.strong(word.name), wrap(word.meaning, 0, width));
    if !word.codes.is_empty() {
        let _ = writeln!(page, "\n{}\n  {}", palette.faint("Findings that say more"), wrap(&word.codes.join(", "), 2, width));
    }
    page
}

/// What else is to be known of a code, one short line each.
fn notes(code: &Code) -> Vec<String> {
    let mut notes = Vec::new();
    match code.class {
        Some(Class::Capacity) if code.severity == Severity::Error => {
            notes.push("Capacity: a limit is exceeded. This is neither damage nor a clean result; exit bit 2.".to_owned())
        }
        Some(Class::Capacity) => notes.push("Capacity: a limit is near or just reached. Nothing is damaged.".to_owned()),
        Some(Class::Transient) => {
            notes.push("Transient: files moved during the check. Check again when nothing runs; exit bit 2.".to_owned())
        }
        None => {}
    }
    if code.fatal {
        notes.push("Its severity cannot be lowered: silence would read as \"clean\".".to_owned());
    }
    if code.role == Role::VerdictToken {
        notes.push("An answer of gjc itself; reported only when no other finding on the same object explains it.".to_owned());
    }
    if let Some(token) = code.token {
        notes.push(format!("gjc's own token: {token}"));
    }
    notes.push(format!(
        "Area {} · gjc {} · since {} · in the notes of the format: {}",
        code.area,
        releases(code).join(" and "),
        code.since,
        code.section
    ));
    notes
}
