//! What cases answer differently under the oldest and the newest release: findings, verdicts and operations. For recipes this is the golden
//! difference; what releases make of the records of a transcript, [`super::diff`] compares.

use super::case::{Answer, Expected};
use super::folder;
use super::observe;
use super::run::{answer_for, is_canary};
use crate::finding::Release;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// An input whose answers differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Differing {
    /// The case.
    pub case: String,
    /// `trigger` or `near miss`.
    pub input: String,
    /// Findings that only the older release gives.
    pub only_older: Vec<String>,
    /// Findings that only the newer release gives.
    pub only_newer: Vec<String>,
    /// Readers that both releases have and that answer differently: `PATH: READER: OLD → NEW`.
    pub verdicts: Vec<String>,
    /// Operations that both releases have and that answer differently: `OPERATION: OLD → NEW`.
    pub operations: Vec<String>,
}

/// The two releases that are compared.
pub fn releases() -> (Release, Release) {
    let [oldest, .., newest] = Release::ALL;
    (oldest, newest)
}

/// The inputs of a corpus whose answers differ, by case. An input that one of the releases is not asked for is left out.
///
/// # Errors
/// A case cannot be read.
pub fn differing(root: &Path) -> Result<Vec<Differing>, observe::Failure> {
    let (oldest, newest) = releases();
    let mut all = Vec::new();
    for folder in folder::walk(root)?.cases.iter().filter(|folder| !is_canary(folder)) {
        let case = folder.case()?;
        for (name, input) in case.inputs() {
            let (Some(old), Some(new)) = (answer_for(input, oldest), answer_for(input, newest)) else { continue };
            let found = Differing {
                case: folder.name.clone(),
                input: name.to_owned(),
                only_older: only(&old.findings, &new.findings),
                only_newer: only(&new.findings, &old.findings),
                verdicts: verdicts(old, new),
                operations: operations(old, new),
            };
            if [&found.only_older, &found.only_newer, &found.verdicts, &found.operations].iter().any(|list| !list.is_empty()) {
                all.push(found);
            }
        }
    }
    Ok(all)
}

/// The findings of one side that the other one has not, or not as often.
fn only(these: &[Expected], those: &[Expected]) -> Vec<String> {
    let mut left: Vec<&Expected> = those.iter().collect();
    let mut alone = Vec::new();
    for one in these {
        match left.iter().position(|other| *other == one) {
            Some(at) => _ = left.swap_remove(at),
            None => alone.push(one.said()),
        }
    }
    alone
}

fn verdicts(old: &Answer, new: &Answer) -> Vec<String> {
    let mut changed = Vec::new();
    for (path, readers) in &old.verdicts {
        for (reader, before) in readers {
            if let Some(after) = new.verdicts.get(path).and_then(|readers| readers.get(reader)).filter(|after| *after != before) {
                changed.push(format!("{path}: {reader}: {before} → {after}"));
            }
        }
    }
    changed
}

fn operations(old: &Answer, new: &Answer) -> Vec<String> {
    let (Some(old), Some(new)) = (&old.operations, &new.operations) else { return Vec::new() };
    let both = old.iter().filter_map(|(operation, before)| Some((operation, before, new.get(operation)?)));
    both.filter(|(_, before, after)| before != after).map(|(operation, before, after)| format!("{operation}: {before} → {after}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_that_is_there_twice_is_told_once_when_the_other_side_has_it_once() {
        let finding = |line| Expected { code: "nul_run".to_owned(), line: Some(line), ..Expected::default() };
        assert_eq!(only(&[finding(1), finding(1), finding(2)], &[finding(1), finding(2)]), ["nul_run at line 1"]);
        assert_eq!(only(&[finding(1)], &[finding(1), finding(3)]), [] as [&str; 0]);
    }

    #[test]
    fn a_reader_that_only_one_release_has_is_no_difference() {
        let answer = |pairs: &[(&str, &str)]| Answer {
            verdicts: [("file".to_owned(), pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())].into(),
            ..Answer::default()
        };
        let (old, new) = (answer(&[("S", "terminal"), ("P", "lists")]), answer(&[("S", "malformed"), ("P", "lists"), ("K", "stars")]));
        assert_eq!(verdicts(&old, &new), ["file: S: terminal → malformed"]);
    }

    #[test]
    fn an_operation_that_only_one_release_has_is_no_difference() {
        let answer = |pairs: &[(&str, &str)]| Answer {
            operations: Some(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()),
            ..Answer::default()
        };
        let old = answer(&[("open s1", "opens"), ("resolve", "resolves")]);
        let new = answer(&[("inspect", "accepts"), ("open s1", "binding_invalid"), ("resolve", "resolves")]);
        assert_eq!(operations(&old, &new), ["open s1: opens → binding_invalid"]);
        assert_eq!(operations(&old, &Answer::default()), [] as [&str; 0], "where nobody asks, nothing differs");
    }
}
