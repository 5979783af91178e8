//! What the commands about a corpus say.

use super::markdown::code;
use super::words;
use crate::corpus::bless::Change;
use crate::corpus::by_release::{self, Differing};
use crate::corpus::coverage::Row;
use crate::corpus::folder::CASE;
use crate::corpus::manifest;
use crate::corpus::run::{Failure, Outcome};
use crate::finding::Release;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lines of a difference that are shown of one file.
const SHOWN: usize = 60;
/// Cases that are named one by one.
const NAMED: usize = 40;

/// The result of a run of the corpus in `folder`, for people: what went wrong first, the counts last.
pub fn run(outcome: &Outcome, folder: &str) -> String {
    let mut text = String::new();
    for (case, failures) in by_case(&outcome.failures) {
        // The folder of the corpus itself may be a case.
        let _ = writeln!(text, "FAIL {}", if case.is_empty() { folder } else { case });
        for failure in failures {
            let _ = writeln!(text, "  {}{}", place(failure), failure.message);
        }
    }
    for canary in &outcome.canaries {
        let _ = writeln!(
            text,
            "NOT REJECTED {canary}\n  this case is wrong on purpose, and the run does not see what is wrong: it proves nothing"
        );
    }
    for stale in &outcome.stale {
        let _ = writeln!(text, "STALE {stale}");
    }
    let failed = by_case(&outcome.failures).len();
    let expected = by_case(&outcome.expected).len();
    let plural = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let (cases, compared) = (plural(outcome.cases, "case", "cases"), plural(outcome.compared, "answer", "answers"));
    let _ = write!(text, "{}: {cases}, {compared} compared", outcome.subject);
    if outcome.not_asked > 0 {
        let _ = write!(text, ", {} not asked", outcome.not_asked);
    }
    let _ = write!(text, ": {failed} {}", if failed == 1 { "case fails" } else { "cases fail" });
    if expected > 0 {
        let _ = write!(text, ", {expected} as expected");
    }
    if !outcome.stale.is_empty() {
        let _ = write!(text, ", {} stale in the list of expected failures", outcome.stale.len());
    }
    text.push_str(".\n");
    text.push_str(&by_question(outcome));
    text
}

/// The result of a run as annotations of GitHub Actions: one workflow command for each thing that is wrong, at the `case.json` of
/// its case. `corpus` is the folder of the corpus as the runner's repository has it.
pub fn github(outcome: &Outcome, corpus: &str) -> String {
    let mut text = String::new();
    for failure in &outcome.failures {
        let case = if failure.case.is_empty() { String::new() } else { format!("{}/", failure.case) };
        let file = format!("{}/{case}{CASE}", corpus.trim_start_matches("./").trim_end_matches('/'));
        let said = format!("{}{}", place(failure), failure.message);
        let file = super::github::property(file.trim_start_matches("./"));
        let _ = writeln!(text, "::error file={file},line=1,col=1,title=corpus::{}", super::github::data(&said));
    }
    for (said, title) in left(outcome) {
        let _ = writeln!(text, "::error title={title}::{}", super::github::data(said));
    }
    text
}

/// What is wrong with a list of expected failures and with canaries, each with a word for what it is.
fn left(outcome: &Outcome) -> impl Iterator<Item = (&String, &'static str)> {
    outcome.stale.iter().map(|stale| (stale, "stale")).chain(outcome.canaries.iter().map(|name| (name, "not rejected")))
}

/// The result of a run as JSON lines: one for each thing that is wrong or expected to be, the counts last.
///
/// # Errors
/// None that a run can cause: every member has a JSON form.
pub fn jsonl(outcome: &Outcome) -> serde_json::Result<String> {
    let of = |kind: &'static str| move |failure| serde_json::json!({ "kind": kind, "failure": failure });
    let mut lines: Vec<serde_json::Value> = outcome.failures.iter().map(of("failure")).collect();
    lines.extend(outcome.expected.iter().map(of("expected")));
    lines.extend(left(outcome).map(|(said, kind)| serde_json::json!({ "kind": kind, "message": said })));
    lines.push(serde_json::json!({
        "kind": "run", "subject": outcome.subject, "cases": outcome.cases, "compared": outcome.compared,
        "notAsked": outcome.not_asked, "passes": outcome.passes(),
    }));
    lines.iter().map(|line| serde_json::to_string(line).map(|line| line + "\n")).collect()
}

/// How often an adapter is wrong, expected or not; nothing of a run without one.
fn by_question(outcome: &Outcome) -> String {
    let wrong: Vec<&Failure> = outcome.failures.iter().chain(&outcome.expected).collect();
    let question = |failure: &Failure| failure.message.split_once(": ").map(|(question, _)| question.to_owned());
    // An answer that differs in several ways is one answer.
    let differ: BTreeSet<(&str, &str, Option<Release>, String)> = wrong
        .iter()
        .filter_map(|failure| Some((&*failure.case, &*failure.input, failure.release, question(failure)?)))
        .filter(|(.., question)| outcome.asked.contains_key(question))
        .collect();
    let counts: Vec<(&String, u64, usize)> = outcome
        .asked
        .iter()
        .map(|(asked, times)| (asked, *times, differ.iter().filter(|(.., question)| question == asked).count()))
        .filter(|(.., wrong)| *wrong > 0)
        .collect();
    let said: Vec<String> = counts
        .iter()
        .enumerate()
        .map(|(at, (asked, times, wrong))| match at {
            0 => format!("{asked} differs in {wrong} of {}", words::count(*times, "answer", "answers")),
            _ => format!("{asked} in {wrong} of {times}"),
        })
        .collect();
    if said.is_empty() {
        return String::new();
    }
    let cases = wrong.iter().map(|failure| &failure.case).collect::<BTreeSet<_>>().len();
    let (subject, all) = (&outcome.subject, words::count(outcome.cases, "case", "cases"));
    format!("{subject} is wrong in {cases} of {all}: {}.\n", said.join(", "))
}

fn place(failure: &Failure) -> String {
    let release = failure.release.map(|release| format!(" under {}", release.text())).unwrap_or_default();
    if failure.input.is_empty() { String::new() } else { format!("{}{release}: ", failure.input) }
}

fn by_case(failures: &[Failure]) -> BTreeMap<&str, Vec<&Failure>> {
    let mut cases: BTreeMap<&str, Vec<&Failure>> = BTreeMap::new();
    for failure in failures {
        cases.entry(&failure.case).or_default().push(failure);
    }
    cases
}

/// What two releases answer differently, as Markdown: how often each code is on one side only, then case by case.
pub fn by_release(differing: &[Differing]) -> String {
    let (oldest, newest) = by_release::releases();
    let (old, new) = (oldest.text(), newest.text());
    let cases = differing.iter().map(|one| &one.case).collect::<std::collections::BTreeSet<_>>().len();
    let mut text = format!(
        "{} of {cases} cases are answered differently by {old} and {new}.\n\n",
        words::count(differing.len() as u64, "input", "inputs")
    );
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let code_of = |said: &'_ str| said.split(' ').next().unwrap_or_default().len();
    for one in differing {
        one.only_older.iter().for_each(|said| counts.entry(&said[..code_of(said)]).or_default().0 += 1);
        one.only_newer.iter().for_each(|said| counts.entry(&said[..code_of(said)]).or_default().1 += 1);
    }
    let _ = writeln!(text, "| finding | only {old} | only {new} |\n|---|--:|--:|");
    for (name, (older, newer)) in counts {
        let _ = writeln!(text, "| {} | {older} | {newer} |", code(name));
    }
    let mut case = "";
    for one in differing {
        if one.case != case {
            case = &one.case;
            let _ = writeln!(text, "\n## {case}");
        }
        let _ = writeln!(text, "\n{}:\n", one.input);
        let sides = [(old, &one.only_older), (new, &one.only_newer)];
        for (release, findings) in sides {
            for said in findings {
                let _ = writeln!(text, "* only {release}: {}", code(said));
            }
        }
        for said in one.verdicts.iter().chain(&one.operations) {
            let _ = writeln!(text, "* {}", code(said));
        }
    }
    text
}

/// One case of a test page, which shows them by class.
fn of_corpus(name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("corpus");
    case
}

/// The result of a run as JUnit XML: one test case for each case that did not pass, and one for all others.
///
/// # Errors
/// A text that XML cannot hold.
pub fn junit(outcome: &Outcome) -> Result<String, quick_junit::SerializeError> {
    let mut suite = TestSuite::new(format!("corpus: {}", outcome.subject));
    let failed = by_case(&outcome.failures);
    for (case, failures) in &failed {
        let messages: Vec<String> = failures.iter().map(|failure| format!("{}{}", place(failure), failure.message)).collect();
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(messages.first().cloned().unwrap_or_default()).set_description(messages.join("\n"));
        suite.add_test_case(of_corpus(case, status));
    }
    for (name, what) in left(outcome) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(what);
        suite.add_test_case(of_corpus(name, status));
    }
    let others = outcome.cases.saturating_sub(failed.len() as u64);
    suite.add_test_case(of_corpus(&format!("cases that pass: {others}"), TestCaseStatus::success()));
    let mut report = quick_junit::Report::new("gjc-fsck corpus run");
    report.add_test_suite(suite);
    super::junit::xml(&report)
}

/// What blessing would write, or has written.
pub fn changes(changes: &[Change], written: bool) -> String {
    let mut text = String::new();
    for change in changes {
        let Some(old) = &change.old else {
            let _ = writeln!(text, "new {} ({} bytes)", change.path, change.new.len());
            continue;
        };
        let _ = writeln!(text, "changed {}", change.path);
        if change.path == manifest::NAME {
            continue;
        }
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(&change.new));
        let diff = similar::TextDiff::from_lines(&old, &new);
        let unified = diff.unified_diff().context_radius(2).to_string();
        let lines: Vec<&str> = unified.lines().collect();
        for line in lines.iter().take(SHOWN) {
            let _ = writeln!(text, "  {line}");
        }
        if lines.len() > SHOWN {
            let _ = writeln!(text, "  … and {} lines more", lines.len() - SHOWN);
        }
    }
    let _ = match changes.len() {
        0 => writeln!(text, "Nothing to write: every case says what this program answers."),
        count => {
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            writeln!(text, "{files}{}", if written { " written." } else { "; --yes writes what is shown here." })
        }
    };
    text
}

/// Codes and their cases.
pub fn coverage(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut area = "";
    for row in rows {
        if row.area != area {
            area = &row.area;
            let _ = writeln!(text, "{area}");
        }
        let mark = if row.is_covered() { ' ' } else { '!' };
        let cases = match row.cases.len() {
            0 => "no case".to_owned(),
            1..=NAMED => row.cases.join(" "),
            count => format!("{count} cases"),
        };
        let near_miss = if row.cases.is_empty() || row.near_misses > 0 { "" } else { ", no near miss" };
        let _ = writeln!(text, "{mark} {:48} {cases}{near_miss}", row.code);
    }
    let covered = rows.iter().filter(|row| row.is_covered()).count();
    let _ = writeln!(text, "{covered} of {} codes have a trigger and a near miss.", rows.len());
    text
}
