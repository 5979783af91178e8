//! Which codes the cases of a corpus show, and which they do not.

use super::folder;
use super::observe;
use super::run::is_canary;
use crate::check;
use crate::finding::{Code, Role};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A code and its cases.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The code.
    pub code: String,
    /// Its area.
    pub area: String,
    /// Cases of this code: they have it in the trigger and not in the near miss.
    pub cases: Vec<String>,
    /// Those of them that have a near miss.
    pub near_misses: u64,
    /// Other cases among whose findings it is.
    pub elsewhere: u64,
}

impl Row {
    /// True when the code has a trigger and a near miss.
    pub fn is_covered(&self) -> bool {
        self.near_misses > 0
    }
}

/// True for codes that a corpus should show: those of diagnostics.
pub fn is_wanted(code: &Code) -> bool {
    code.role == Role::Diagnostic
}

/// One row a diagnostic code, in the order of the registry, and behind them the verdict tokens that have a case.
///
/// # Errors
/// A case cannot be read.
pub fn of(root: &Path) -> Result<Vec<Row>, observe::Failure> {
    let corpus = folder::walk(root)?;
    let mut own: BTreeMap<String, (Vec<String>, u64)> = BTreeMap::new();
    let mut elsewhere: BTreeMap<String, u64> = BTreeMap::new();
    for folder in corpus.cases.iter().filter(|folder| !is_canary(folder)) {
        let case = folder.case()?;
        if let Some(code) = &case.code {
            let (cases, near_misses) = own.entry(code.clone()).or_default();
            cases.push(folder.name.clone());
            *near_misses += u64::from(case.near_miss.is_some());
        }
        let found: BTreeSet<&str> = case
            .inputs()
            .flat_map(|(_, input)| &input.answers)
            .flat_map(|answer| &answer.findings)
            .map(|finding| finding.code.as_str())
            .collect();
        for code in found.into_iter().filter(|code| case.code.as_deref() != Some(*code)) {
            *elsewhere.entry(code.to_owned()).or_default() += 1;
        }
    }
    let rows = check::codes().filter(|code| is_wanted(code) || own.contains_key(code.name)).map(|code| {
        let (cases, near_misses) = own.get(code.name).cloned().unwrap_or_default();
        Row {
            code: code.name.to_owned(),
            area: code.area.to_owned(),
            cases,
            near_misses,
            elsewhere: elsewhere.get(code.name).copied().unwrap_or_default(),
        }
    });
    Ok(rows.collect())
}
