//! The runner: what this implementation answers against what the cases say, and what became of the failures that were
//! expected. Cases run side by side; the outcome is in the order of their names.

use super::case::{Answer, Case, Expected, Input};
use super::expected::Expectations;
use super::folder::{self, Folder, Only};
use super::observe::{self, Memo, Observed};
use super::side_by_side;
use crate::finding::Release;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One thing in which a case and an implementation disagree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The case: its folder relative to the corpus.
    pub case: String,
    /// `trigger`, `near miss`, or empty where the whole case is meant.
    pub input: String,
    /// The release that was asked for; none where that does not matter.
    pub release: Option<Release>,
    /// What differs, on one line.
    pub message: String,
}

/// What a run came to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Who was asked.
    pub subject: String,
    /// Cases that were run.
    pub cases: u64,
    /// Inputs times releases (for an adapter: questions) that were compared.
    pub compared: u64,
    /// Questions that were not put, because the adapter does not answer such.
    pub not_asked: u64,
    /// How often an adapter was asked each question.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, u64>,
    /// Failures that nobody expected.
    pub failures: Vec<Failure>,
    /// Failures that the list of expected failures names.
    pub expected: Vec<Failure>,
    /// Entries of that list that came to nothing: the case passes, fails otherwise, or does not exist.
    pub stale: Vec<String>,
    /// Known-bad cases that were not rejected, or not for the reason that is stated.
    pub canaries: Vec<String>,
}

impl Outcome {
    /// True when everything is as it should be.
    pub fn passes(&self) -> bool {
        self.failures.is_empty() && self.stale.is_empty() && self.canaries.is_empty()
    }
    /// Tells expected failures from others.
    #[must_use]
    pub fn sorted_out(mut self, expectations: &Expectations) -> Outcome {
        self.failures.sort();
        let (expected, failures, stale) = expectations.sort_out(std::mem::take(&mut self.failures));
        Outcome { failures, expected, stale, ..self }
    }
}

/// The folder of a corpus in which every case is wrong on purpose: a runner that accepts one of them tests nothing.
pub const CANARIES: &str = "canaries";

/// A list of the form of [`Expectations`] beside the canaries: how each of them fails. A canary that fails otherwise is not
/// rejected for what is wrong with it.
pub const REASONS: &str = "canaries/reasons.tsv";

/// True for a case that is wrong on purpose.
pub fn is_canary(folder: &Folder) -> bool {
    folder.name.split('/').any(|part| part == CANARIES)
}

/// Everything that a case gave: input by input, release by release.
pub type Observations = Vec<(&'static str, Release, Observed)>;

/// Runs the inputs of a case under the releases that its answers name.
///
/// # Errors
/// A file is missing, or a recipe is wrong.
pub fn observations(case: &Case, folder: &Folder, memo: &Memo) -> Result<Observations, observe::Failure> {
    let mut all = Vec::new();
    for (name, input) in case.inputs() {
        let ready = observe::ready(input, folder)?;
        for release in input.answers.iter().flat_map(|answer| &answer.releases) {
            all.push((name, *release, ready.observe(*release, memo)?));
        }
    }
    Ok(all)
}

/// Where a case and what was observed disagree.
///
/// # Errors
/// A file that the case names is missing.
pub fn compare(case: &Case, folder: &Folder, observations: &Observations) -> Result<Vec<Failure>, observe::Failure> {
    let mut failures = Vec::new();
    for (name, release, observed) in observations {
        let input = case.inputs().find(|(input, _)| input == name).map(|(_, input)| input);
        let answer = input.and_then(|input| answer_for(input, *release));
        let mut fail = |message: String| {
            failures.push(Failure { case: folder.name.clone(), input: (*name).to_owned(), release: Some(*release), message });
        };
        let Some(answer) = answer else { continue };
        for message in differences(&answer.findings, &observed.answer.findings) {
            fail(message);
        }
        for (path, verdicts) in &answer.verdicts {
            let got = observed.answer.verdicts.get(path);
            for (reader, expected) in verdicts {
                let got = got.and_then(|got| got.get(reader)).map_or("nothing", String::as_str);
                if got != expected {
                    fail(format!("{path}: reader {reader} answers {got}, expected {expected}"));
                }
            }
        }
        if let Some(path) = observed.answer.verdicts.keys().find(|path| !answer.verdicts.contains_key(*path)) {
            fail(format!("{path}: a transcript without expected verdicts"));
        }
        if let Some(gauges) = &answer.gauges {
            let got = observed.answer.gauges.as_deref().unwrap_or_default();
            for gauge in gauges.iter().filter(|gauge| !got.contains(gauge)) {
                fail(format!("{}: the gauge {} is not {} of {}", gauge.path, gauge.name, gauge.used, gauge.limit));
            }
            for gauge in got.iter().filter(|gauge| !gauges.contains(gauge)) {
                fail(format!("{}: the gauge {} is {} of {}, which is not expected", gauge.path, gauge.name, gauge.used, gauge.limit));
            }
        }
        if let Some(operations) = &answer.operations {
            let none = BTreeMap::new();
            let got = observed.answer.operations.as_ref().unwrap_or(&none);
            let asked: BTreeSet<&String> = operations.keys().chain(got.keys()).collect();
            let word = |of: &BTreeMap<String, String>, name: &String| of.get(name).map_or("nothing", String::as_str).to_owned();
            for name in asked.into_iter().filter(|name| operations.get(*name) != got.get(*name)) {
                fail(format!("{name}: gjc answers {}, expected {}", word(got, name), word(operations, name)));
            }
        }
        for (what, file, got) in [("migrated form", &answer.migrated, &observed.migrated), ("context", &answer.context, &observed.context)]
        {
            if let Some(file) = file
                && let Some(message) = unlike(&folder.read(file)?, got.as_deref())
            {
                fail(format!("the {what} differs from {file} {message}"));
            }
        }
    }
    Ok(failures)
}

/// Inputs of which nothing is said: to compare them with nothing would be to pass.
pub fn unanswered(case: &Case, folder: &Folder) -> Vec<Failure> {
    let silent = case.inputs().filter(|(_, input)| input.answers.iter().all(|answer| answer.releases.is_empty()));
    silent
        .map(|(name, _)| Failure {
            case: folder.name.clone(),
            input: name.to_owned(),
            release: None,
            message: "the case says no answer; `corpus bless` proposes one".to_owned(),
        })
        .collect()
}

/// The answer of an input for a release.
pub fn answer_for(input: &Input, release: Release) -> Option<&Answer> {
    input.answers.iter().find(|answer| answer.releases.contains(&release))
}

/// What is expected and not there, and what is there and not expected.
fn differences(expected: &[Expected], found: &[Expected]) -> Vec<String> {
    let count = |all: &[Expected], one: &Expected| all.iter().filter(|other| *other == one).count();
    let mut messages = Vec::new();
    let mut tell = |these: &[Expected], those: &[Expected], what: &str| {
        for (at, one) in these.iter().enumerate() {
            if count(&these[..=at], one) > count(those, one) {
                messages.push(format!("{what} {}", one.said()));
            }
        }
    };
    tell(expected, found, "missing");
    tell(found, expected, "unexpected");
    messages
}

impl Expected {
    /// The finding in words: `dangling_parent at x.jsonl, line 3, /parentId, entry aaaaaaa3`.
    pub fn said(&self) -> String {
        let places = [
            self.path.clone(),
            self.line.map(|line| format!("line {line}")),
            self.pointer.clone().filter(|pointer| !pointer.is_empty()),
            self.entry.as_ref().map(|entry| format!("entry {entry}")),
        ];
        let places: Vec<String> = places.into_iter().flatten().collect();
        let times = self.times.map(|times| format!(" {times} times")).unwrap_or_default();
        let place = if places.is_empty() { String::new() } else { format!(" at {}", places.join(", ")) };
        format!("{}{place}{times}", self.code)
    }
}

/// Where two texts differ, when they do. A line end at the end of a committed file is nothing.
pub fn unlike(expected: &[u8], got: Option<&[u8]>) -> Option<String> {
    let expected = expected.strip_suffix(b"\n").unwrap_or(expected);
    let got = got.unwrap_or_default();
    if expected == got {
        return None;
    }
    let same = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(20);
    let around = |text: &[u8]| -> String { String::from_utf8_lossy(text.get(from..).unwrap_or_default()).chars().take(60).collect() };
    Some(format!("at byte {same}: expected …{}…, got …{}…", around(expected), around(got)).replace(['\n', '\r'], " "))
}

/// Runs the cases of a corpus that are meant with this implementation.
///
/// # Errors
/// The corpus cannot be walked, or no case of it is meant.
pub fn run(root: &Path, only: &Only, expectations: &Expectations) -> Result<Outcome, folder::Error> {
    let corpus = folder::walk(root)?.only(root, only)?;
    let memo = Memo::default();
    let results: Vec<(bool, u64, Vec<Failure>)> = side_by_side::map(&corpus.cases, |folder| one(folder, &memo));
    let mut outcome = Outcome { subject: "gjc-fsck".to_owned(), ..Outcome::default() };
    let mut rejected = Vec::new();
    for (folder, (canary, compared, failures)) in corpus.cases.iter().zip(results) {
        outcome.cases += 1;
        outcome.compared += compared;
        match (canary, failures.is_empty()) {
            (true, true) => outcome.canaries.push(format!("{}: it passes", folder.name)),
            (true, false) => rejected.extend(failures),
            (false, _) => outcome.failures.extend(failures),
        }
    }
    if corpus.files.iter().any(|name| name == REASONS) {
        outcome.canaries.extend(otherwise(root, only, rejected)?);
    }
    Ok(outcome.sorted_out(&expectations.only(only)))
}

/// What is wrong with how canaries were rejected, compared with the reasons that are stated.
fn otherwise(root: &Path, only: &Only, rejected: Vec<Failure>) -> Result<Vec<String>, folder::Error> {
    let text = folder::read(&root.join(REASONS))?;
    let reasons = match Expectations::parse(&String::from_utf8_lossy(&text)) {
        Ok(reasons) => reasons.only(only),
        Err(error) => return Ok(vec![format!("{REASONS}: {error}")]),
    };
    let (_, others, stale) = reasons.sort_out(rejected);
    let others = others.into_iter().map(|other| format!("{}: it fails for no stated reason: {}", other.case, other.message));
    Ok(others.chain(stale.into_iter().map(|stale| format!("{REASONS}, {stale}"))).collect())
}

/// Runs one case: whether it is a canary, how many answers were compared, and the failures.
fn one(folder: &Folder, memo: &Memo) -> (bool, u64, Vec<Failure>) {
    let result = folder.case().map_err(observe::Failure::from).and_then(|case| {
        let observations = observations(&case, folder, memo)?;
        let mut failures = unanswered(&case, folder);
        failures.extend(compare(&case, folder, &observations)?);
        Ok((observations.len() as u64, failures))
    });
    let (compared, failures) = result.unwrap_or_else(|error| {
        let failure = Failure { case: folder.name.clone(), input: String::new(), release: None, message: error.to_string() };
        (0, vec![failure])
    });
    (is_canary(folder), compared, failures)
}
