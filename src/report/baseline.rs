//! The baseline: findings that a gate accepts for now, counted by file and code, each with its fingerprint.

use super::Entry;
use super::gate::{Authority, Gate};
use crate::check::operational::codes::BASELINE_ENTRY_STALE;
use crate::finding::{Finding, Place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of this form.
pub const SCHEMA: &str = "gjc-fsck/baseline/1";

/// A baseline, as its file holds it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// `gjc-fsck/baseline/1`.
    pub schema: String,
    /// What is accepted, in order of path and code.
    pub findings: Vec<Accepted>,
}

/// Findings of one code in one file that are accepted.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Path as the report names it.
    pub path: String,
    /// Name of the code.
    pub code: String,
    /// How many findings, places that a report does not list one by one included.
    pub count: u64,
    /// The fingerprint of each listed one, sorted.
    pub fingerprints: Vec<String>,
}

impl Baseline {
    /// Everything that a run knows by its baseline.
    pub fn of(gate: &Gate) -> Self {
        let known = gate.known.iter().filter(|known| known.by == Authority::Baseline);
        let findings = known.map(|known| Accepted {
            path: known.path.clone(),
            code: known.code.to_owned(),
            count: known.count,
            fingerprints: known.fingerprints.clone(),
        });
        Baseline { schema: SCHEMA.to_owned(), findings: findings.collect() }
    }

    /// What an older baseline holds about what a run did not look at, added to what the run knows.
    #[must_use]
    pub fn with(mut self, older: &Baseline, reached: impl Fn(&str) -> bool) -> Self {
        self.findings.extend(older.findings.iter().filter(|accepted| !reached(&accepted.path)).cloned());
        self.findings.sort_by(|a, b| (&a.path, &a.code).cmp(&(&b.path, &b.code)));
        self
    }

    /// Reads the text of a baseline file.
    ///
    /// # Errors
    /// It is no baseline, or one of another version.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let baseline: Baseline = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if baseline.schema == SCHEMA { Ok(baseline) } else { Err(format!("its schema is `{}`, expected `{SCHEMA}`", baseline.schema)) }
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        // A struct of texts and numbers always has its JSON.
        serde_json::to_string_pretty(self).map_or_else(|_| String::new(), |text| text + "\n")
    }
}

/// The JSON Schema of a baseline.
pub fn schema() -> schemars::Schema {
    super::schema_of::<Baseline>(SCHEMA)
}

/// A baseline while findings are compared with it.
pub(super) struct Matching<'b> {
    entries: Vec<Open<'b>>,
    /// By path and code.
    index: BTreeMap<(&'b str, &'b str), usize>,
}

/// An entry of the baseline.
struct Open<'b> {
    accepted: &'b Accepted,
    /// Findings of its code in its file in this run.
    found: u64,
    /// How often each fingerprint was not met yet.
    open: BTreeMap<&'b str, u64>,
}

impl<'b> Matching<'b> {
    /// Begins to compare; `candidates` are all findings of the run that a baseline can hold.
    pub(super) fn new<'e>(baseline: &'b Baseline, candidates: impl Iterator<Item = &'e Entry>) -> Self {
        let mut matching = Matching { entries: Vec::with_capacity(baseline.findings.len()), index: BTreeMap::new() };
        for accepted in &baseline.findings {
            let mut open: BTreeMap<&str, u64> = BTreeMap::new();
            for fingerprint in &accepted.fingerprints {
                *open.entry(fingerprint).or_default() += 1;
            }
            // Of two entries about the same thing the second matches nothing.
            matching.index.entry((&*accepted.path, &*accepted.code)).or_insert(matching.entries.len());
            matching.entries.push(Open { accepted, found: 0, open });
        }
        for entry in candidates {
            if let Some(open) = matching.entry(entry) {
                open.found += entry.count();
            }
        }
        matching
    }

    fn entry(&mut self, entry: &Entry) -> Option<&mut Open<'b>> {
        let at = *self.index.get(&(entry.place.path.as_str(), entry.code.name))?;
        self.entries.get_mut(at)
    }

    /// Whether the baseline holds this finding; each finding that it holds is taken once.
    pub(super) fn takes(&mut self, entry: &Entry) -> bool {
        let Some(open) = self.entry(entry) else { return false };
        // What stands for many is known as long as there are no more of them than there were.
        if entry.not_listed.is_some() && open.found > open.accepted.count {
            // It is met all the same: more of the same does not make the entry stale.
            open.open.remove(&*entry.fingerprint);
            return false;
        }
        match open.open.get_mut(&*entry.fingerprint) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// The entries about what this run reached of which something was not found.
    pub(super) fn stale(self, name: &str, reached: impl Fn(&str) -> bool) -> impl Iterator<Item = Finding> {
        let path: Arc<str> = Arc::from(name);
        self.entries.into_iter().enumerate().filter_map(move |(at, Open { accepted, found, open })| {
            let gone: u64 = open.values().sum();
            if gone == 0 && found >= accepted.count || !reached(&accepted.path) {
                return None;
            }
            let Accepted { path: file, code, count, .. } = accepted;
            let gone = gone.max(count.saturating_sub(found));
            let message =
                format!("{gone} of {count} accepted findings `{code}` in `{file}` were not found; --update-baseline writes it anew");
            let place = Place { path: Arc::clone(&path), pointer: Some(format!("/findings/{at}")), ..Place::default() };
            Some(Finding::new(&BASELINE_ENTRY_STALE, place, message))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_nothing_else_is_a_baseline() {
        let accepted = Accepted { path: "a".into(), code: "json_syntax".into(), count: 2, fingerprints: vec!["f".into()] };
        let baseline = Baseline { schema: SCHEMA.into(), findings: vec![accepted] };
        assert_eq!(Baseline::parse(baseline.text().as_bytes()), Ok(baseline));
        for (text, said) in [
            ("{", "EOF"),
            ("{\"schema\":\"gjc-fsck/baseline/2\",\"findings\":[]}", "expected `gjc-fsck/baseline/1`"),
            ("{\"schema\":\"gjc-fsck/baseline/1\",\"findings\":[],\"more\":1}", "unknown field"),
        ] {
            assert!(Baseline::parse(text.as_bytes()).unwrap_err().contains(said), "{text}");
        }
    }
}
