//! The answer to `gc`: the retirement journals of each scope, those first that need a person.

use super::entry::{clip, pad};
use super::human::{Layout, amount, bar};
use super::style::{Palette, plain, wrap};
use super::words::{count, grouped};
use crate::finding::Severity;
use crate::gc::budget::{MAX_HISTORY_BYTES, MAX_RECEIPT_BYTES};
use crate::gc::inspector::{Answer, Inspection};
use crate::gc::survey::{Row, ScopeJournals, Survey};
use std::collections::BTreeSet;
use std::fmt::Write;

/// gjc's tokens for what has no row of its own.
const FULL: &str = "managed_gc_journal_capacity_exceeded";
const LARGE: &str = "managed_gc_receipt_capacity_exceeded";
const CORRUPT: &str = "task_artifact_owner_continuation_corrupt";

/// Journals of one scope that are shown one by one.
const SHOWN: usize = 40;
/// Journals that stand alike and are shown one by one.
const ALIKE: usize = 3;

/// The journals for people.
pub fn text(survey: &Survey, layout: Layout) -> String {
    let palette = Palette::new(layout.colour);
    let width = layout.width.clamp(40, 120);
    let mut out = String::new();
    if survey.scopes.is_empty() {
        let read = if survey.unread.is_empty() { "" } else { "what could be read of " };
        let _ = writeln!(out, "no retirement receipt lies in {read}{}", count(survey.looked_at, "scope", "scopes"));
    } else {
        let _ = writeln!(out, "{}", wrap(&standings(survey), 0, width));
    }
    if let Some(inspection) = &survey.inspection {
        inspected(inspection, &palette, width, &mut out);
    }
    // What refuses, or has no room, before what is under way.
    let mut scopes: Vec<&ScopeJournals> = survey.scopes.iter().collect();
    let refuses = |scope: &ScopeJournals| scope.full || !scope.strays.is_empty();
    scopes.sort_by_key(|scope| if refuses(scope) { 0 } else { scope.journals.iter().map(|row| standing(row).0).min().unwrap_or(4) });
    for scope in scopes {
        out.push('\n');
        block(scope, &palette, width, &mut out);
    }
    if !survey.unread.is_empty() {
        out.push('\n');
    }
    for unread in &survey.unread {
        let _ = writeln!(out, "{}", wrap(&palette.severity(Severity::Error, &format!("not read: {}", plain(unread))), 2, width));
    }
    if !layout.quiet {
        next(survey, &palette, width, &mut out);
    }
    out
}

/// Refused, without room to go on, under way, or at its end.
fn standing(row: &Row) -> (u8, &'static str) {
    match (&row.refused, row.state) {
        (Some(_), _) => (0, "✗"),
        (None, Some("owner_retired")) => (3, "✓"),
        (None, _) if row.appends_left.is_some_and(|left| left < 3) => (1, "!"),
        (None, _) => (2, "…"),
    }
}

/// How many journals stand how.
fn standings(survey: &Survey) -> String {
    let mut counts = [0_u64; 4];
    for row in survey.scopes.iter().flat_map(|scope| &scope.journals) {
        if let Some(count) = counts.get_mut(usize::from(standing(row).0)) {
            *count += 1;
        }
    }
    let words = ["refused", "with hardly any room", "under way", "at the end"];
    let parts: Vec<String> =
        counts.iter().zip(words).filter(|(count, _)| **count > 0).map(|(count, word)| format!("{} {word}", grouped(*count))).collect();
    let all = count(counts.iter().sum(), "retirement journal", "retirement journals");
    let scopes = count(survey.scopes.len() as u64, "scope", "scopes");
    let full = survey.scopes.iter().filter(|scope| scope.full).count() as u64;
    let full = if full > 0 {
        format!("; {} beyond the limit, whose journals are not read", count(full, "scope is", "scopes are"))
    } else {
        String::new()
    };
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{all} in {scopes}{parts}{full}")
}

/// What a person would say of a journal, its name and sizes left out; the most important first.
fn said(row: &Row) -> impl Ord + '_ {
    let Row { present, state, attempts, outcome, reason, refused, not_begun, appends_left, .. } = row;
    (standing(row).0, refused, *appends_left != Some(0), not_begun, state, outcome, reason, attempts, present)
}

fn block(scope: &ScopeJournals, palette: &Palette, width: usize, out: &mut String) {
    if let Some(workspace) = &scope.workspace {
        let _ = writeln!(out, "{}", palette.strong(&plain(workspace)));
    }
    // Names are not cut: they are to be copied.
    let _ = writeln!(out, "{}", palette.faint(&plain(&scope.scope)));
    let percent = (u128::from(scope.entries) * 100 / u128::from(scope.entry_limit.max(1))) as u64;
    let used = format!("{} of {} receipts, shared by all sessions of this workspace", grouped(scope.entries), grouped(scope.entry_limit));
    let cells = if percent >= 90 { palette.aside(&bar(percent)) } else { palette.faint(&bar(percent)) };
    let _ = writeln!(out, "  {cells} {percent:>3} %  {}", wrap(&used, 20, width));
    if scope.full {
        let text = "gjc reads none of them: managed_gc_journal_capacity_exceeded. Nothing is damaged or missing by that.";
        let _ = writeln!(out, "  {}", palette.aside(&wrap(text, 2, width)));
        return;
    }
    for stray in &scope.strays {
        let text = format!("✗ {}: a name that tells no transcript; one such name stops discovery for the whole profile", plain(stray));
        let _ = writeln!(out, "  {}", palette.severity(Severity::Error, &wrap(&text, 4, width)));
    }
    let mut rows: Vec<&Row> = scope.journals.iter().collect();
    rows.sort_by(|one, other| said(one).cmp(&said(other)));
    let (mut shown, mut told) = (0, 0);
    for alike in rows.chunk_by(|one, other| said(one) == said(other)) {
        // One more than is shown is no reason to fold it.
        let first = if alike.len() > ALIKE + 1 { ALIKE } else { alike.len() };
        for row in alike.iter().take(first.min(SHOWN - shown)) {
            journal(scope, row, palette, width, out);
            shown += 1;
        }
        if shown == SHOWN {
            break;
        }
        told += alike.len();
        if let Some(rest @ [_, ..]) = alike.get(first..) {
            let bytes = rest.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
            let rest = count(rest.len() as u64, "more journal", "more journals");
            let text = format!("and {rest} like this, {} stored in all; `--format json` has each", amount(bytes, "bytes"));
            let _ = writeln!(out, "\n  {}", palette.faint(&wrap(&text, 2, width)));
        }
    }
    if let Some(rest) = rows.len().checked_sub(told.max(shown)).filter(|rest| *rest > 0) {
        let rest = count(rest as u64, "more journal", "more journals");
        let _ = writeln!(out, "\n  {}", palette.faint(&format!("and {rest}; `--format json` has them all")));
    }
}

fn journal(scope: &ScopeJournals, row: &Row, palette: &Palette, width: usize, out: &mut String) {
    let (_, mark) = standing(row);
    let name = row.transcript.as_deref().map_or_else(
        || format!("unknown transcript ({}…)", row.key.get(..12).unwrap_or(&row.key)),
        |path| plain(path.rsplit('/').next().unwrap_or(path)).into_owned(),
    );
    let mark = match mark {
        "✗" => palette.severity(Severity::Error, mark),
        "!" => palette.aside(mark),
        other => palette.faint(other),
    };
    let _ = writeln!(out, "\n  {mark} {name}");
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "    {} {}", palette.faint(&pad(label, 9)), wrap(text, 14, width));
    };
    let mut state = row.state.unwrap_or("no state").to_owned();
    if row.attempts > 0 {
        let _ = write!(state, ", {}", count(row.attempts, "attempt", "attempts"));
    }
    if let Some(outcome) = row.outcome {
        let _ = write!(state, ", last: {outcome}");
    }
    if let Some(reason) = &row.reason {
        let _ = write!(state, " ({})", clip(&plain(reason), 200));
    }
    line("state", &state);
    if row.present == Some(false) {
        line("session", "its transcript is gone");
    }
    let stored = format!("{} in {}", amount(row.bytes, "bytes"), count(row.receipts, "receipt", "receipts"));
    line("stored", &stored);
    if let (Some(next), Some(left)) = (row.next_bytes, row.appends_left) {
        let left = match no_room(scope, row) {
            Some(why) => palette.aside(&format!("does not fit: {why}")),
            None => format!("{} more fit", grouped(left)),
        };
        line("next", &format!("at least {}; {left}", amount(next, "bytes")));
    }
    match &row.refused {
        Some(token) => line("verdict", &palette.severity(Severity::Error, &format!("refused: {}", plain(token)))),
        None => line("verdict", "gjc reads it"),
    }
    if let Some(token) = &row.not_begun {
        line("owner", &palette.aside(&format!("gjc would not begin to remove it: {}", plain(token))));
    }
}

/// Why the next receipt of a journal does not fit; none when it does, or nobody knows.
fn no_room(scope: &ScopeJournals, row: &Row) -> Option<String> {
    let next = row.next_bytes.filter(|_| row.appends_left == Some(0))?;
    Some(if next > MAX_RECEIPT_BYTES {
        format!("one receipt has at most {}", amount(MAX_RECEIPT_BYTES, "bytes"))
    } else if scope.entries >= scope.entry_limit {
        format!("the scope has all its {} receipts", grouped(scope.entry_limit))
    } else {
        format!("the receipts of one session have at most {}", amount(MAX_HISTORY_BYTES, "bytes"))
    })
}

/// What the inspector would answer, and which scopes are refused beside the one that it names.
fn inspected(inspection: &Inspection, palette: &Palette, width: usize, out: &mut String) {
    if inspection.scopes.is_empty() && inspection.answer == Answer::Accepts {
        return;
    }
    out.push('\n');
    let mut error = |text: &str, indent: usize| {
        let _ = writeln!(out, "{}", palette.severity(Severity::Error, &wrap(text, indent, width)));
    };
    match &inspection.answer {
        Answer::Accepts => {
            let scopes = count(inspection.scopes.len() as u64, "scope", "scopes");
            let _ = writeln!(out, "{}", palette.faint(&wrap(&format!("gjc's inspector would accept {scopes}"), 2, width)));
            return;
        }
        Answer::Unknown { path } => error(&format!("nobody can say what gjc's inspector would answer: {} was not read", plain(path)), 2),
        Answer::Refuses { message, path } => {
            error(&format!("✗ gjc's inspector would refuse, and nothing is collected in the whole profile: {}", plain(message)), 2);
            let _ = writeln!(out, "  {}", palette.faint(&plain(path)));
        }
    }
    let others = inspection.scopes.iter().filter(|scope| scope.answer != Answer::Accepts && scope.answer != inspection.answer);
    for scope in others {
        let text = match &scope.answer {
            Answer::Refuses { message, .. } => format!("{}: refused by itself too, {}", plain(&scope.scope), plain(message)),
            Answer::Unknown { path } => format!("{}: {} was not read", plain(&scope.scope), plain(path)),
            Answer::Accepts => continue,
        };
        let _ = writeln!(out, "  {}", wrap(&text, 4, width));
    }
}

/// The code in a message of the inspector, when it is one.
fn code_of(message: &str) -> Option<&str> {
    message.split([' ', ':']).next().filter(|token| crate::check::code(token).is_some())
}

fn next(survey: &Survey, palette: &Palette, width: usize, out: &mut String) {
    let rows = || survey.scopes.iter().flat_map(|scope| &scope.journals);
    let mut tokens: BTreeSet<&str> = rows().filter_map(|row| row.refused.as_deref()).collect();
    tokens.extend(rows().filter_map(|row| row.not_begun.as_deref()).filter_map(code_of));
    tokens.extend(survey.scopes.iter().filter(|scope| scope.full).map(|_| FULL));
    tokens.extend(survey.scopes.iter().filter(|scope| !scope.strays.is_empty()).map(|_| CORRUPT));
    tokens.extend(survey.inspection.iter().filter_map(|inspection| inspection.answer.message()).filter_map(code_of));
    let under_way = |fits: bool| {
        let rows = rows().filter(|row| row.refused.is_none() && row.state != Some("owner_retired"));
        rows.filter(|row| row.appends_left.is_some_and(|left| (left > 0) == fits)).count() as u64
    };
    let (going, stuck) = (under_way(true), under_way(false));
    // What a journal without room answers to the next receipt.
    let beyond = |row: &&Row| row.appends_left == Some(0);
    tokens.extend(rows().filter(beyond).map(|row| if row.next_bytes > Some(MAX_RECEIPT_BYTES) { LARGE } else { FULL }));
    let mut lines = Vec::new();
    if !tokens.is_empty() {
        let tokens: Vec<_> = tokens.iter().map(|token| plain(token)).collect();
        lines.push(format!("What it means: gjc-fsck explain {}", tokens.join(" ")));
    }
    if tokens.contains("task_artifact_owner_continuation_authority_mismatch") {
        lines.push("Is this directory a copy, or was it moved? `--assume-root PATH` judges it as if it lay where it came from.".to_owned());
    }
    // Where something refuses or is full, collecting once more only adds to it: that is said once, and nothing else is advised.
    let full = stuck > 0 || survey.scopes.iter().any(|scope| scope.full);
    let refused = survey.inspection.as_ref().is_some_and(|inspection| inspection.answer != Answer::Accepts);
    if going > 0 {
        let (verb, it) = if going == 1 { ("is", "it") } else { ("are", "them") };
        let how = match (full, refused) {
            (true, _) => format!("leave {it} while something here has no room."),
            (false, true) => format!("gjc goes on with {it} when its inspector accepts."),
            (false, false) => format!("`gjc gc --disk --prune` goes on with {it}."),
        };
        lines.push(format!("{} {verb} under way: {how}", count(going, "retirement", "retirements")));
    }
    if full {
        let stuck = match stuck {
            0 => "What is full stays full".to_owned(),
            1 => "1 retirement has no room for its next receipt".to_owned(),
            stuck => format!("{} retirements have no room for their next receipt", grouped(stuck)),
        };
        lines.push(format!(
            "{stuck}: do not collect again, every attempt needs one more receipt and gjc takes none away. With gjc stopped, back up the \
             scope as a whole."
        ));
    }
    if lines.is_empty() {
        return;
    }
    let record = if survey.scopes.is_empty() { "" } else { "A receipt is a record and no proof: never remove one by hand. " };
    lines.push(format!("{record}How much of each limit is used: gjc-fsck quota"));
    out.push('\n');
    for line in lines {
        let _ = writeln!(out, "{}", palette.faint(&wrap(&line, 0, width)));
    }
}

/// One line a journal: transcript, state, in brackets gjc's answer.
pub fn concise(survey: &Survey) -> String {
    let mut out = String::new();
    for scope in &survey.scopes {
        if scope.full {
            let _ = writeln!(out, "{}: full[managed_gc_journal_capacity_exceeded] {} entries", plain(&scope.scope), scope.entries);
        }
        for stray in &scope.strays {
            let _ = writeln!(out, "{}/{}: unknown[{CORRUPT}] 1 receipt", plain(&scope.scope), plain(stray));
        }
        for row in &scope.journals {
            let unknown = || format!("{}/{}", scope.scope, row.key);
            let name = row.transcript.clone().unwrap_or_else(unknown);
            let name = name.as_str();
            let answer = row.refused.as_deref().unwrap_or("read");
            let _ = writeln!(
                out,
                "{}: {}[{}] {}, {} bytes{}",
                plain(name),
                row.state.unwrap_or("unknown"),
                plain(answer),
                count(row.receipts, "receipt", "receipts"),
                row.bytes,
                no_room(scope, row).map_or(String::new(), |why| format!(", the next does not fit: {why}"))
            );
        }
    }
    if let Some(inspection) = &survey.inspection {
        let _ = match &inspection.answer {
            Answer::Accepts => writeln!(out, "inspector: accepts"),
            Answer::Refuses { message, path } => writeln!(out, "inspector: refuses[{}] {}", plain(message), plain(path)),
            Answer::Unknown { path } => writeln!(out, "inspector: unknown, {} was not read", plain(path)),
        };
    }
    for unread in &survey.unread {
        let _ = writeln!(out, "not read: {}", plain(unread));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::inspector::OfScope;
    use crate::gc::survey::SCHEMA;

    fn row(state: &'static str) -> Row {
        Row {
            key: "ab".repeat(32),
            transcript: Some("/a/sessions/v2-x/2026-01-01T00-00-00-000Z_s1.jsonl".into()),
            present: Some(true),
            state: Some(state),
            attempts: 0,
            outcome: None,
            reason: None,
            receipts: 1,
            bytes: 1_885,
            next_bytes: Some(6_000),
            appends_left: Some(49_999),
            refused: None,
            not_begun: None,
        }
    }
    fn refused_by_the_inspector() -> Inspection {
        let refuses = |message: &str| Answer::Refuses { message: message.into(), path: "/a/sessions/x".into() };
        let of = |scope: &str, answer| OfScope { scope: format!("v2-{}", scope.repeat(52)), answer };
        let lock = refuses("managed_gc_protocol_lock_invalid [locks/x.lock]");
        let scopes = vec![of("a", Answer::Accepts), of("b", lock.clone()), of("c", refuses("managed_gc_protocol_roles_invalid"))];
        Inspection { answer: lock, scopes }
    }
    fn survey() -> Survey {
        let pending = Row {
            attempts: 2,
            outcome: Some("uncertain"),
            reason: Some("task_artifact_owner_native_removal_uncertain".into()),
            present: Some(false),
            receipts: 4,
            bytes: 16_085,
            ..row("owner_pending")
        };
        let refused = Row {
            transcript: None,
            present: None,
            next_bytes: None,
            appends_left: None,
            refused: Some("task_artifact_owner_continuation_state_missing".into()),
            ..row("artifacts_removed")
        };
        let retired = Row { next_bytes: None, appends_left: None, ..row("owner_retired") };
        let tight = Row {
            not_begun: Some("task_artifact_owner_missing".into()),
            bytes: 500 << 20,
            next_bytes: Some(64 << 20),
            appends_left: Some(0),
            ..row("prepared")
        };
        let scope = |scope: &str, journals| ScopeJournals {
            scope: format!("v2-{scope}"),
            workspace: Some("/home/ana/dev/app".into()),
            entries: 46_000,
            entry_limit: 50_000,
            full: false,
            strays: Vec::new(),
            journals,
        };
        let full = ScopeJournals { entries: 50_001, full: true, ..scope(&"b".repeat(52), Vec::new()) };
        let stray = ScopeJournals { strays: vec!["gc-retirement-x".into()], ..scope(&"c".repeat(52), vec![retired.clone()]) };
        Survey {
            schema: SCHEMA,
            root: "/a/sessions".into(),
            scopes: vec![scope(&"a".repeat(52), vec![retired, pending, refused, tight]), full, stray],
            looked_at: 5,
            unread: vec!["opendir /a/x: EACCES".into()],
            inspection: Some(refused_by_the_inspector()),
        }
    }
    fn layout(width: usize) -> Layout {
        Layout { colour: false, width, quiet: false }
    }

    #[test]
    fn what_needs_a_person_comes_first() {
        insta::assert_snapshot!(text(&survey(), layout(80)));
    }
    #[test]
    fn a_narrow_terminal_is_enough() {
        use unicode_width::UnicodeWidthStr;
        let page = text(&survey(), layout(50));
        // Tokens and names are not broken.
        let too_wide = page.lines().filter(|line| line.width() > 50 && line.split_whitespace().count() > 2).collect::<Vec<_>>();
        assert!(too_wide.is_empty(), "{too_wide:?}");
    }
    #[test]
    fn journals_that_stand_alike_are_folded_and_none_is_lost() {
        let of = |rows: Vec<Row>| {
            let scope = ScopeJournals {
                scope: format!("v2-{}", "a".repeat(52)),
                workspace: None,
                entries: rows.len() as u64,
                entry_limit: 50_000,
                full: false,
                strays: Vec::new(),
                journals: rows,
            };
            text(&Survey { scopes: vec![scope], unread: Vec::new(), inspection: None, ..survey() }, layout(100))
        };
        let named = |number: usize, state| Row { transcript: Some(format!("/a/sessions/v2-x/{number}.jsonl")), ..row(state) };
        let shown = |page: &str| page.lines().filter(|line| line.ends_with(".jsonl")).count();
        let four = of((0..4).map(|number| named(number, "prepared")).collect());
        assert_eq!((shown(&four), four.contains("like this")), (4, false));
        let five = of((0..5).map(|number| named(number, "prepared")).collect());
        assert_eq!(shown(&five), 3);
        assert!(five.contains("and 2 more journals like this, 3.6 KiB stored in all"), "{five}");
        // They need not come one after the other.
        let mixed = of((0..200).map(|number| named(number, if number % 2 == 0 { "prepared" } else { "artifacts_removed" })).collect());
        assert_eq!((shown(&mixed), mixed.matches("and 97 more journals like this").count()), (6, 2));
        // What is not alike is shown up to a limit, and the rest is counted.
        let unlike = of((0..100).map(|number| Row { attempts: number, ..named(1, "owner_pending") }).collect());
        assert_eq!(shown(&unlike), SHOWN);
        assert!(unlike.contains("and 60 more journals; `--format json` has them all"), "{unlike}");
        assert!(unlike.starts_with("100 retirement journals in 1 scope: 100 under way\n"), "{unlike}");
    }
    #[test]
    fn one_line_a_journal() {
        insta::assert_snapshot!(concise(&survey()));
    }
    /// Where something is full or refused, collecting again is not advised, and what to do is said once.
    #[test]
    fn collecting_again_is_advised_only_where_it_helps() {
        let page = |rows: Vec<Row>, entries: u64, inspection: Option<Inspection>| {
            let scope = ScopeJournals {
                scope: format!("v2-{}", "a".repeat(52)),
                workspace: None,
                entries,
                entry_limit: 50_000,
                full: entries > 50_000,
                strays: Vec::new(),
                journals: rows,
            };
            text(&Survey { scopes: vec![scope], unread: Vec::new(), inspection, ..survey() }, layout(200))
        };
        let full = |next_bytes| Row { appends_left: Some(0), next_bytes: Some(next_bytes), ..row("prepared") };
        let going = page(vec![row("prepared")], 1, None);
        assert!(going.contains("1 retirement is under way: `gjc gc --disk --prune` goes on with it."), "{going}");
        let refused = page(vec![row("prepared")], 1, Some(refused_by_the_inspector()));
        assert!(refused.contains("gjc goes on with it when its inspector accepts.") && !refused.contains("--prune"), "{refused}");
        for (rows, entries, why) in [
            (vec![row("prepared"), full(6_000)], 50_000, "the scope has all its 50,000 receipts"),
            (vec![row("prepared"), full(6_000)], 9, "the receipts of one session have at most 512.0 MiB"),
            (vec![row("prepared"), full((64 << 20) + 1)], 9, "one receipt has at most 64.0 MiB"),
        ] {
            let page = page(rows, entries, None);
            assert!(page.contains(&format!("does not fit: {why}")), "{page}");
            assert!(!page.contains("--prune") && page.matches("do not collect again").count() == 1, "{page}");
        }
        let beyond = page(Vec::new(), 50_001, None);
        assert!(beyond.contains("What is full stays full: do not collect again"), "{beyond}");
    }
    #[test]
    fn no_receipts_are_one_sentence() {
        let none =
            Survey { schema: SCHEMA, root: "/a/sessions".into(), scopes: Vec::new(), looked_at: 1, unread: Vec::new(), inspection: None };
        assert_eq!(text(&none, layout(80)), "no retirement receipt lies in 1 scope\n");
        let refused = text(&Survey { inspection: Some(refused_by_the_inspector()), ..none.clone() }, layout(80));
        assert!(refused.contains("gjc-fsck explain") && !refused.contains("A receipt is"), "{refused}");
        let unread = text(&Survey { unread: vec!["opendir /a/x: EACCES".into()], ..none }, layout(80));
        assert!(unread.starts_with("no retirement receipt lies in what could be read of 1 scope\n"), "{unread}");
    }
}
