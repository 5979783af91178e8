//! What a run was told beforehand: the skip list and the baseline. They take what is known out of the findings; each entry of
//! theirs that matched nothing is a finding itself, so that old exceptions do not pile up.
//!
//! A finding of a fatal code is never known beforehand (spec 05 §1): the object could not be judged to its end, and silence
//! would read as clean. Neither is one of class T, which the next run may not meet again.

use super::Entry;
use super::baseline::{Baseline, Matching};
use crate::check::operational::codes::BASELINE_ENTRY_STALE;
use crate::finding::{Class, Code, Finding, Place};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// An object whose findings are known, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skip {
    /// The path as a report names it: of this object, or of a folder for everything below it.
    pub path: String,
    /// The codes that are known there; every code that is not fatal when there are none.
    pub codes: Vec<&'static Code>,
    /// Why.
    pub reason: String,
    /// Where the entry stands.
    pub place: Place,
}

/// What to do with a baseline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Use {
    /// Findings that it holds are known; entries that match nothing are stale.
    Compare(Baseline),
    /// Every finding that can be known is known from now on.
    Renew,
}

/// What a run is told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// The settings file, as it was named.
    pub config: Option<String>,
    /// What is odd in it.
    pub remarks: Vec<Finding>,
    /// The skip list.
    pub skips: Vec<Skip>,
    /// The baseline file, as it was named, and what to do with it.
    pub baseline: Option<(String, Use)>,
    /// What the run looks at, as the report names it, where that is not everything that the lists may be about. An entry about
    /// something else is not stale because of this run.
    pub only: Option<Vec<String>>,
    /// The name of the one directory that is looked at: the skip list may name what lies in it by the path that leads there, too.
    pub below: Option<String>,
}

/// What the run was told beforehand, and what is known by it.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub struct Gate {
    /// The settings file that was in force.
    pub config: Option<String>,
    /// The baseline that was in force.
    pub baseline: Option<String>,
    /// The findings that are known, counted by file and code, in their order.
    pub known: Vec<Known>,
}

/// Findings of one code in one file that are known.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// Path relative to the root.
    pub path: String,
    /// Name of the code.
    pub code: &'static str,
    /// How many.
    pub count: u64,
    /// The fingerprint of each, sorted.
    pub fingerprints: Vec<String>,
    /// What says so.
    pub by: Authority,
    /// Why, when the skip list says so.
    pub reason: Option<String>,
}

/// What says that a finding is known.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// The skip list.
    SkipList,
    /// The baseline.
    Baseline,
}

/// Known findings by file, code, and what says so.
type Kept = BTreeMap<(String, &'static str, Authority, Option<String>), (u64, Vec<String>)>;

impl Told {
    /// The files that findings of [`Told::apply`] may be about, as they were named.
    pub fn files(&self) -> Vec<String> {
        let places = self.remarks.iter().map(|finding| &finding.place).chain(self.skips.iter().map(|skip| &skip.place));
        let mut files: Vec<String> = places.map(|place| place.path.to_string()).collect();
        files.extend(self.baseline.as_ref().map(|(name, _)| name.clone()));
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Whether this run looks at all that an entry about `path` can be about.
    pub fn reaches(&self, path: &str) -> bool {
        self.only.as_ref().is_none_or(|only| upward(path).any(|above| only.iter().any(|looked_at| trimmed(looked_at) == above)))
    }

    /// Takes what is known out of `entries`, and adds what is odd or stale in what the run was told, as far as `entry`
    /// makes entries of it.
    pub fn apply(&self, entries: &mut Vec<Entry>, entry: impl Fn(Finding) -> Option<Entry>) -> Gate {
        let mut kept = Kept::new();
        let mut keep = |entry: &Entry, by, reason| {
            let (count, fingerprints) = kept.entry((entry.place.path.clone(), entry.code.name, by, reason)).or_default();
            *count += entry.count();
            fingerprints.push(entry.fingerprint.clone());
        };
        let mut stale = self.skip(entries, &mut keep);
        if let Some((name, baseline)) = &self.baseline {
            match baseline {
                Use::Renew => entries.retain(|entry| {
                    let known = can_be_known(entry);
                    if known {
                        keep(entry, Authority::Baseline, None);
                    }
                    !known
                }),
                Use::Compare(baseline) => {
                    let mut matching = Matching::new(baseline, entries.iter().filter(|entry| can_be_known(entry)));
                    entries.retain(|entry| {
                        let known = can_be_known(entry) && matching.takes(entry);
                        if known {
                            keep(entry, Authority::Baseline, None);
                        }
                        !known
                    });
                    stale.extend(matching.stale(name, |path| self.reaches(path)));
                }
            }
        }
        entries.extend(self.remarks.iter().cloned().chain(stale).filter_map(entry));
        let known = kept.into_iter().map(|((path, code, by, reason), (count, mut fingerprints))| {
            fingerprints.sort_unstable();
            Known { path, code, count, fingerprints, by, reason }
        });
        let baseline = self.baseline.as_ref().map(|(name, _)| name.clone());
        Gate { config: self.config.clone(), baseline, known: known.collect() }
    }

    /// Takes out what the skip list knows; answers its entries that know nothing.
    fn skip(&self, entries: &mut Vec<Entry>, keep: &mut impl FnMut(&Entry, Authority, Option<String>)) -> Vec<Finding> {
        let mut at: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, skip) in self.skips.iter().enumerate() {
            at.entry(trimmed(&skip.path)).or_default().push(index);
        }
        let mut used = vec![false; self.skips.len()];
        if !at.is_empty() {
            entries.retain(|entry| {
                let path = &entry.place.path;
                let led = self.below.as_ref().map(|below| format!("{}/{path}", below.trim_end_matches('/')));
                let named =
                    || upward(path).chain(led.iter().flat_map(|led| upward(led))).filter_map(|path| at.get(path)).flatten().copied();
                let knows = |index: &usize| self.skips.get(*index).is_some_and(|skip| skip.covers(entry.code));
                let Some(index) = named().find(knows).filter(|_| can_be_known(entry)) else { return true };
                used[index] = true;
                keep(entry, Authority::SkipList, self.skips.get(index).map(|skip| skip.reason.clone()));
                false
            });
        }
        let idle = self.skips.iter().zip(used).filter(|(skip, used)| !used && self.reaches(&skip.path));
        idle.map(|(skip, _)| {
            let message = format!("the skip list names `{}`, and this run found nothing there that it makes known", skip.path);
            Finding::new(&BASELINE_ENTRY_STALE, skip.place.clone(), message)
        })
        .collect()
    }
}

impl Skip {
    fn covers(&self, code: &Code) -> bool {
        self.codes.is_empty() || self.codes.contains(&code)
    }
}

/// Whether a finding can be known beforehand.
fn can_be_known(entry: &Entry) -> bool {
    !entry.code.fatal && entry.class != Some(Class::Transient)
}

/// A path without what may stand around it.
fn trimmed(path: &str) -> &str {
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = path.trim_end_matches('/');
    if path.is_empty() { "." } else { path }
}

/// A path, the folders above it, nearest first, and the root.
fn upward(path: &str) -> impl Iterator<Item = &str> {
    fn above<'p>(path: &&'p str) -> Option<&'p str> {
        path.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty())
    }
    let path = trimmed(path);
    std::iter::successors(Some(path), above).chain((path != ".").then_some("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use crate::finding::Severity;
    use crate::report::{Audit, Report, Settings, build};
    use std::sync::Arc;

    fn finding(code: &str, path: &str, line: u64) -> Finding {
        let place = Place { path: Arc::from(path), line: Some(line), ..Place::default() };
        Finding::new(check::code(code).unwrap(), place, "x").record(format!("record {line}").as_bytes())
    }

    fn skip(path: &str, codes: &[&str]) -> Skip {
        let place = Place { path: Arc::from("gjc-fsck.toml"), line: Some(3), ..Place::default() };
        Skip { path: path.into(), codes: codes.iter().map(|code| check::code(code).unwrap()).collect(), reason: "a fixture".into(), place }
    }

    fn report(findings: Vec<Finding>, told: Told) -> Report {
        build(Audit { findings, ..Audit::default() }, &Settings { told, ..Settings::default() })
    }

    fn said(report: &Report) -> Vec<(&str, &str)> {
        report.findings.iter().map(|entry| (entry.place.path.as_str(), entry.code.name)).collect()
    }

    #[test]
    fn a_skipped_folder_is_known_with_its_reason_and_its_neighbours_are_not() {
        let findings = vec![finding("json_syntax", "old/a", 1), finding("json_syntax", "old/b/c", 2), finding("json_syntax", "older", 1)];
        let report = report(findings, Told { skips: vec![skip("./old/", &[])], ..Told::default() });
        assert_eq!(said(&report), [("older", "json_syntax")]);
        assert_eq!((report.summary.errors, report.summary.known), (1, 2));
        let reasons: Vec<_> = report.gate.known.iter().map(|known| (&*known.path, known.count, known.reason.as_deref())).collect();
        assert_eq!(reasons, [("old/a", 1, Some("a fixture")), ("old/b/c", 1, Some("a fixture"))]);
    }

    #[test]
    fn a_skip_of_one_code_leaves_the_others() {
        let findings = vec![finding("json_syntax", "a", 1), finding("dangling_parent", "a", 2)];
        let report = report(findings, Told { skips: vec![skip("a", &["dangling_parent"])], ..Told::default() });
        assert_eq!(said(&report), [("a", "json_syntax")]);
    }

    #[test]
    fn what_lies_in_the_checked_directory_is_named_as_the_report_does_or_by_the_path_that_leads_there() {
        let of = |path: &str, below: Option<&str>| {
            let told = Told { skips: vec![skip(path, &[])], below: below.map(str::to_owned), ..Told::default() };
            report(vec![finding("json_syntax", "x/a", 1)], told).summary.known
        };
        for path in ["x/a", "t/x/a", "./t/x", "t"] {
            assert_eq!(of(path, Some("./t/")), 1, "{path}");
        }
        assert_eq!((of("t/x/a", None), of("u/x/a", Some("t"))), (0, 0), "near misses");
    }

    #[test]
    fn a_fatal_or_moving_object_is_never_known_and_what_names_only_it_is_stale() {
        let findings = vec![finding("utf16_bom", "a", 1), finding("concurrent_change", "a", 2)];
        let report = report(findings, Told { skips: vec![skip("a", &[])], ..Told::default() });
        assert_eq!(said(&report), [("a", "utf16_bom"), ("a", "concurrent_change"), ("gjc-fsck.toml", "baseline_entry_stale")]);
        assert_eq!(report.summary.status, 4 | 2);
    }

    #[test]
    fn an_entry_that_matches_nothing_is_stale_and_fails_the_gate() {
        let stale = |findings| report(findings, Told { skips: vec![skip("a", &["json_syntax"])], ..Told::default() });
        let trigger = stale(vec![]);
        assert_eq!(said(&trigger), [("gjc-fsck.toml", "baseline_entry_stale")]);
        assert_eq!((trigger.summary.status, trigger.findings[0].place.line), (4, Some(3)));
        // Near miss: the finding is there.
        let near_miss = stale(vec![finding("json_syntax", "a", 1)]);
        assert_eq!((said(&near_miss), near_miss.summary.status), (vec![], 0));
    }

    #[test]
    fn what_this_run_does_not_look_at_is_not_stale() {
        let skips = || vec![skip("t", &[]), skip("t/a", &["json_syntax"]), skip("t/b", &[]), skip(".", &[])];
        let stale = |only: Option<&str>| {
            let told = Told { skips: skips(), only: only.map(|path| vec![path.into()]), ..Told::default() };
            report(vec![], told).findings.len()
        };
        assert_eq!(stale(None), 4);
        assert_eq!(stale(Some("t/a")), 1, "the file itself; its folder holds more");
        assert_eq!(stale(Some("./t/")), 3, "the folder and what lies in it; the root holds more");
        // A baseline of two files, and a run of one of them.
        let baseline = baseline_of(vec![finding("json_syntax", "t/a", 1), finding("json_syntax", "t/b", 1)]);
        let of_one = |only| {
            let baseline = Some(("b.json".into(), Use::Compare(baseline.clone())));
            report(vec![finding("json_syntax", "t/a", 1)], Told { baseline, only, ..Told::default() })
        };
        assert_eq!(said(&of_one(Some(vec!["t/a".into()]))), []);
        assert_eq!(said(&of_one(None)), [("b.json", "baseline_entry_stale")], "near miss: it looked at both");
    }

    fn baseline_of(findings: Vec<Finding>) -> Baseline {
        let told = Told { baseline: Some(("b.json".into(), Use::Renew)), ..Told::default() };
        Baseline::of(&report(findings, told).gate)
    }

    fn compared(findings: Vec<Finding>, baseline: Baseline) -> Report {
        report(findings, Told { baseline: Some(("b.json".into(), Use::Compare(baseline))), ..Told::default() })
    }

    #[test]
    fn what_the_baseline_holds_is_known_wherever_its_line_is_now_and_what_is_new_counts() {
        let baseline = baseline_of(vec![finding("json_syntax", "a", 1), finding("json_syntax", "a", 2)]);
        let mut moved = finding("json_syntax", "a", 2);
        moved.place.line = Some(70);
        let report = compared(vec![finding("json_syntax", "a", 1), moved, finding("json_syntax", "a", 3)], baseline);
        assert_eq!(report.findings.iter().map(|entry| entry.place.line).collect::<Vec<_>>(), [Some(3)]);
        assert_eq!((report.summary.known, report.summary.status), (2, 4));
    }

    #[test]
    fn the_same_record_once_more_is_new() {
        let twice = || vec![finding("json_syntax", "a", 1), Finding { message: "y".into(), ..finding("json_syntax", "a", 1) }];
        let report = compared(twice(), baseline_of(vec![finding("json_syntax", "a", 1)]));
        assert_eq!((report.summary.known, report.summary.errors), (1, 1));
        assert_eq!(compared(twice(), baseline_of(twice())).summary.known, 2);
    }

    #[test]
    fn a_finding_that_is_gone_makes_its_entry_stale() {
        let both = || vec![finding("json_syntax", "a", 1), finding("json_syntax", "a", 2)];
        let report = compared(vec![finding("json_syntax", "a", 1)], baseline_of(both()));
        assert_eq!(said(&report), [("b.json", "baseline_entry_stale")]);
        assert_eq!(report.findings[0].place.pointer.as_deref(), Some("/findings/0"));
        assert!(report.findings[0].message.contains("1 of 2"), "{}", report.findings[0].message);
        assert_eq!(report.summary.status, 4);
        assert_eq!(compared(both(), baseline_of(both())).summary.status, 0, "near miss");
    }

    #[test]
    fn places_that_are_not_listed_are_known_up_to_their_number() {
        let many =
            |count| vec![finding("json_syntax", "a", 1), Finding::not_listed(check::code("json_syntax").unwrap(), &Arc::from("a"), count)];
        assert_eq!(compared(many(40), baseline_of(many(40))).summary.status, 0);
        let more = compared(many(41), baseline_of(many(40)));
        assert_eq!((more.summary.status, more.summary.errors), (4, 41));
        assert_eq!(said(&compared(many(39), baseline_of(many(40)))), [("b.json", "baseline_entry_stale")]);
    }

    #[test]
    fn a_baseline_changes_no_answer_of_gjc() {
        let outcome = crate::finding::Outcome { path: Arc::from("a"), verdicts: [("S", "malformed".into())].into(), ..Default::default() };
        let told = Told { baseline: Some(("b.json".into(), Use::Renew)), ..Told::default() };
        let audit = Audit { findings: vec![finding("json_syntax", "a", 1)], outcomes: vec![outcome], ..Audit::default() };
        let report = build(audit, &Settings { told, ..Settings::default() });
        assert_eq!((report.summary.refused, report.summary.status), (1, 0));
    }

    #[test]
    fn the_severity_of_a_stale_entry_is_its_owners_to_choose() {
        let told = Told { skips: vec![skip("a", &[])], ..Told::default() };
        let settings = Settings { told, overrides: vec![(&BASELINE_ENTRY_STALE, Severity::Warning)], ..Settings::default() };
        assert_eq!(build(Audit::default(), &settings).summary.status, 0);
    }
}
