//! The case format: what `case.json` says. One folder is one case, and a case shows one fault or one rule.
//!
//! A case of a fault has two inputs: the `trigger`, made by one edit of something clean, and the `nearMiss`, the smallest
//! change of the trigger after which the code is gone and no other appears. A case of a rule has a trigger only.
//! What each input gives is said exactly: these findings and no others.

use super::recipe::Recipe;
use crate::finding::{Release, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A case, as `case.json` holds it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// What the case shows: one sentence, on one line.
    pub title: String,
    /// The section of the specification that has the rule.
    pub section: String,
    /// Words to choose cases by: the area of the code, and whatever else helps.
    pub tags: Vec<String>,
    /// What gjc makes of the trigger.
    pub kind: Kind,
    /// The code that the trigger has and the near miss has not. A case of a rule has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The input with the fault, or the input that shows the rule.
    pub trigger: Input,
    /// The smallest change of the trigger after which the code is gone and no other appears.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_miss: Option<Input>,
}

/// What gjc makes of an input. It follows from the findings: the linter compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing is wrong with it: no finding.
    Valid,
    /// gjc takes it, and there is something to say: findings, none of them an error.
    Tolerated,
    /// gjc refuses something of it, or data is lost: an error is found.
    Invalid,
}

impl Kind {
    /// How `case.json` spells it.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Valid => "valid",
            Kind::Tolerated => "tolerated",
            Kind::Invalid => "invalid",
        }
    }
    /// The kind of something that gives findings of these severities.
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Kind {
        match severities.into_iter().max() {
            None => Kind::Valid,
            Some(Severity::Error) => Kind::Invalid,
            Some(Severity::Info | Severity::Warning) => Kind::Tolerated,
        }
    }
}

/// One input and its exact answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// A transcript: its path, relative to the folder of the case, inside the corpus. Without a `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What no committed file can hold: a recipe, made in memory. Without a `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<Recipe>,
    /// What it gives, by release. A release that no answer names is not asked.
    pub answers: Vec<Answer>,
}

/// What an input gives under some releases.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The releases that answer this.
    pub releases: Vec<Release>,
    /// These findings and no others, in this order.
    pub findings: Vec<Expected>,
    /// Path of a transcript, and what each of gjc's readers answers. The readers are letters (spec 01 §2) or operations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, BTreeMap<String, String>>,
    /// The gauges, where they matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gauges: Option<Vec<Reading>>,
    /// What gjc's operations on the workspace `/ws` and its sessions answer, where it matters and the input is a tree: `resolve`,
    /// `list`, `prepare`, `reconcile`, `inspect` (before a collection), `open s1`, `delete s1`, `session.list s1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<BTreeMap<String, String>>,
    /// File beside `case.json` with the version-5 form of the transcript (as `migrate --json` prints it), where it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated: Option<String>,
    /// File beside `case.json` with the rebuilt context of the transcript (as `context --json` prints it), where it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// A finding, or many of one code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expected {
    /// Its code.
    pub code: String,
    /// Path relative to the checked root; left out where the input is one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// 1-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// RFC 6901 pointer inside the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Entry id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// So many findings of this code, whose places are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
}

/// A gauge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reading {
    /// Its name.
    pub name: String,
    /// What it measures: a path relative to the checked root.
    pub path: String,
    /// Used so far.
    pub used: u64,
    /// The limit.
    pub limit: u64,
}

impl Case {
    /// The inputs, each with its name in a report.
    pub fn inputs(&self) -> impl Iterator<Item = (&'static str, &Input)> {
        [("trigger", Some(&self.trigger)), ("near miss", self.near_miss.as_ref())]
            .into_iter()
            .filter_map(|(name, input)| input.map(|input| (name, input)))
    }
    /// The same for an edit.
    pub fn inputs_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Input)> {
        [("trigger", Some(&mut self.trigger)), ("near miss", self.near_miss.as_mut())]
            .into_iter()
            .filter_map(|(name, input)| input.map(|input| (name, input)))
    }
    /// The bytes of `case.json`: this is the one spelling of a case.
    ///
    /// # Errors
    /// None that a case can cause: every member has a JSON form.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

impl Input {
    /// The files beside `case.json` that it names.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let answers = self.answers.iter().flat_map(|answer| [answer.migrated.as_deref(), answer.context.as_deref()]);
        std::iter::once(self.file.as_deref()).chain(answers).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_the_worst_finding() {
        assert_eq!(Kind::of([]), Kind::Valid);
        assert_eq!(Kind::of([Severity::Info, Severity::Warning]), Kind::Tolerated);
        assert_eq!(Kind::of([Severity::Error, Severity::Info]), Kind::Invalid);
    }

    #[test]
    fn a_member_that_the_format_does_not_know_is_refused() {
        let text = r#"{"title":"t","section":"01 §1","tags":[],"kind":"valid","trigger":{"file":"a.jsonl","answers":[]},"nearmiss":{}}"#;
        assert!(serde_json::from_str::<Case>(text).unwrap_err().to_string().contains("nearmiss"));
    }
}
