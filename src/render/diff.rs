//! The golden diff as unified text, and as a Markdown summary with one row a kind of difference.

use super::markdown::{code, text as escaped};
use super::style::plain;
use super::words;
use crate::corpus::diff::{Answer, Change, ChangeKind, Copies, FileDiff, LevelDiff, MemberChange, Relation};
use std::fmt::Write as _;

/// The unified text: per transcript what differs at each level.
pub fn text(answer: &Answer) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(out, "--- {}\n+++ {}", plain(&answer.a), plain(&answer.b));
    for path in &answer.only_a {
        let _ = writeln!(out, "- {}", plain(path));
    }
    for path in &answer.only_b {
        let _ = writeln!(out, "+ {}", plain(path));
    }
    for file in &answer.files {
        if !file.path.is_empty() {
            let _ = writeln!(out, "\n=== {}", plain(&file.path));
        }
        out.push_str(&of_file(file));
    }
    for not in &answer.not_compared {
        // Of two files that were named the reason says which.
        let name = if not.path.is_empty() { String::new() } else { format!("{}: ", plain(&not.path)) };
        let _ = writeln!(out, "! {name}{}", plain(&not.reason));
    }
    let _ = writeln!(out, "\n{}", summary(answer));
    out
}

/// How it stands, in one line.
fn summary(answer: &Answer) -> String {
    let differing = answer.files.len() as u64;
    let in_bytes_only = answer.files.iter().filter(|file| file.levels.iter().all(LevelDiff::is_same)).count() as u64;
    let alone = (answer.only_a.len() + answer.only_b.len()) as u64;
    let mut said = match (answer.compared, differing) {
        (compared, 0) if compared == answer.not_compared.len() as u64 && alone == 0 => return "nothing was compared".to_owned(),
        (1, 0) => "they do not differ".to_owned(),
        (1, _) if in_bytes_only > 0 => "their bytes differ, and nothing else that was compared".to_owned(),
        (1, _) => "they differ".to_owned(),
        (compared, differing) => {
            format!("{} of {} differ", words::grouped(differing), words::count(compared, "transcript", "transcripts"))
                + &if in_bytes_only > 0 {
                    format!(", {} of them in nothing but their bytes", words::grouped(in_bytes_only))
                } else {
                    String::new()
                }
        }
    };
    if alone > 0 {
        said += &format!("; {} on one side only", words::count(alone, "is", "are"));
    }
    if !answer.not_compared.is_empty() {
        said += &format!("; {} not compared", words::count(answer.not_compared.len() as u64, "was", "were"));
    }
    said
}

fn of_file(file: &FileDiff) -> String {
    let mut out = String::new();
    if let Some(copies) = &file.copies {
        let _ = writeln!(out, "bytes: {}", relation(copies));
    }
    for level in &file.levels {
        out.push_str(&of_level(level));
    }
    out
}

/// Which of two copies is the beginning of the other, and where they part.
pub fn relation(copies: &Copies) -> String {
    let common = format!(
        "{} and {} in common",
        words::count(copies.common_bytes, "byte", "bytes"),
        words::count(copies.common_lines, "whole line", "whole lines")
    );
    let at = format!("line {}, column {}", copies.line, copies.column);
    match copies.relation {
        Relation::Identical => format!("identical, {}", words::count(copies.common_bytes, "byte", "bytes")),
        Relation::AIsPrefix => {
            format!("a is the beginning of b; {common}; b goes on at {at} with {} more", words::count(copies.more_b, "byte", "bytes"))
        }
        Relation::BIsPrefix => {
            format!("b is the beginning of a; {common}; a goes on at {at} with {} more", words::count(copies.more_a, "byte", "bytes"))
        }
        Relation::Diverge => format!("they part at {at}; {common}"),
    }
}

fn of_level(level: &LevelDiff) -> String {
    let mut out = String::new();
    let word = level.level.word();
    if level.is_same() {
        let _ = writeln!(out, "{word}: the same ({})", plain(&level.a.text()));
        return out;
    }
    let total = level.changes.len() as u64 + level.not_listed;
    let _ =
        writeln!(out, "{word}: {} and {}; {}", plain(&level.a.text()), plain(&level.b.text()), words::count(total, "change", "changes"));
    for change in &level.changes {
        out.push_str(&of_change(change));
    }
    if level.not_listed > 0 {
        let _ = writeln!(out, "… and {} more", words::grouped(level.not_listed));
    }
    out
}

fn of_change(change: &Change) -> String {
    let mut out = String::new();
    let place = |side: Option<u64>| side.map_or_else(|| "·".to_owned(), |place| place.to_string());
    let moved = if change.kind == ChangeKind::Moved { " · moved" } else { "" };
    let _ = writeln!(out, "@@ {} / {} · {}{moved} @@", place(change.a), place(change.b), plain(&change.item));
    if let Some(text) = &change.text {
        let sign = if change.kind == ChangeKind::OnlyA { '-' } else { '+' };
        let _ = writeln!(out, "{sign} {}", plain(text));
    }
    for member in &change.members {
        out.push_str(&of_member(member));
    }
    if change.not_listed > 0 {
        let _ = writeln!(out, "… and {} more members", words::grouped(change.not_listed));
    }
    out
}

fn of_member(member: &MemberChange) -> String {
    let mut out = String::new();
    let pointer = if member.pointer.is_empty() { "/".into() } else { plain(&member.pointer) };
    if let Some(lines) = &member.lines {
        let _ = writeln!(out, "~ {pointer}");
        for line in lines.lines() {
            let _ = writeln!(out, "  {}", plain(line));
        }
        return out;
    }
    let note = match member.kind {
        crate::corpus::diff::MemberKind::Order => " (order)",
        crate::corpus::diff::MemberKind::Type => " (type)",
        _ => "",
    };
    for (sign, side) in [('-', &member.a), ('+', &member.b)] {
        if let Some(side) = side {
            let _ = writeln!(out, "{sign} {pointer}{note}: {}", plain(side));
        }
    }
    out
}

/// A Markdown summary: one row a kind of difference, then the transcripts.
pub fn markdown(answer: &Answer) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "## {} → {}\n\n{}.\n", code(&answer.a), code(&answer.b), summary(answer));
    let rules = answer.by_rule();
    if !rules.is_empty() {
        let _ = writeln!(out, "| level | type | difference | times | transcripts | example |\n|---|---|---|--:|--:|---|");
        for (rule, found) in &rules {
            let of_type = if rule.of_type.is_empty() { String::new() } else { code(&rule.of_type) };
            let _ = writeln!(
                out,
                "| {} | {of_type} | {} | {} | {} | {} |",
                rule.level.word(),
                code(&rule.what),
                words::grouped(found.count),
                words::grouped(found.files.len() as u64),
                escaped(&found.example)
            );
        }
        out.push('\n');
    }
    for file in &answer.files {
        let levels: Vec<String> = file.levels.iter().filter(|level| !level.is_same()).map(of_level_in_short).collect();
        let copies = file.copies.as_ref().map(relation).into_iter();
        let said: Vec<String> = copies.chain(levels).collect();
        let name = if file.path.is_empty() { String::new() } else { format!("{}: ", code(&file.path)) };
        let _ = writeln!(out, "* {name}{}", escaped(&said.join("; ")));
    }
    for (path, side) in answer.only_a.iter().map(|path| (path, 'a')).chain(answer.only_b.iter().map(|path| (path, 'b'))) {
        let _ = writeln!(out, "* {}: only in {side}", code(path));
    }
    for not in &answer.not_compared {
        let _ = writeln!(out, "* {}: not compared: {}", code(&not.path), escaped(&not.reason));
    }
    out
}

fn of_level_in_short(level: &LevelDiff) -> String {
    let total = level.changes.len() as u64 + level.not_listed;
    format!("{} {} and {}, {}", level.level.word(), level.a.text(), level.b.text(), words::count(total, "change", "changes"))
}
