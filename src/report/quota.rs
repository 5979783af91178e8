//! The answer to `quota`: every gauge with what it counts, what is left, and what gjc does above the limit.

use crate::check::quota::{MEASURES, Measure, RETIREMENT_ENTRIES};
use crate::finding::{Gauge, Outcome, Release};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use std::collections::BTreeMap;

/// Name of this form.
pub const SCHEMA: &str = "gjc-fsck/quota/1";

/// Every measure that was read.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// `gjc-fsck/quota/1`.
    pub schema: &'static str,
    /// Release of gjc whose limits are asked for.
    pub release: &'static str,
    /// What was measured, as it was named.
    pub root: String,
    /// One a measure, in a fixed order; measures without a reading are left out.
    pub measures: Vec<Readings>,
    /// What could not be read, and why: what it uses is in no measure.
    pub unread: Vec<String>,
}

/// All readings of one measure.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Readings {
    /// Stable name.
    pub name: &'static str,
    /// What is counted.
    pub counts: &'static str,
    /// The most that gjc takes.
    pub limit: u64,
    /// Unit of limit, used and headroom.
    pub unit: &'static str,
    /// From how much on there is a warning.
    pub near_from: u64,
    /// What gjc does above the limit.
    pub above: &'static str,
    /// Section of the specification.
    pub section: &'static str,
    /// The fullest first.
    pub readings: Vec<Reading>,
}

/// How much of a limit is used at one place.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// Path relative to the root.
    pub path: String,
    /// The workspace of the scope that it lies in, when a transcript of the scope tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Used.
    pub used: u64,
    /// Whole per cent of the limit, rounded down; above 100 when it is passed.
    pub percent: u64,
    /// What is left; 0 at and above the limit.
    pub headroom: u64,
    /// At or above the share that is worth a warning, or without room for three more receipts.
    pub near: bool,
    /// More than the limit.
    pub exceeded: bool,
    /// How many more records of the size that comes next fit, where records are appended: of a scope, for the journal with
    /// the least room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appends_left: Option<u32>,
}

/// Arranges gauges by measure. Of the transcripts only their workspaces count. What was not read is the caller's to say.
pub fn quota(gauges: &[Gauge], outcomes: &[Outcome], release: Release, root: String) -> Quota {
    let mut workspaces: BTreeMap<&str, &str> = BTreeMap::new();
    // What belongs to another workspace does not tell that of its scope.
    let own = |outcome: &&Outcome| !outcome.verdicts.iter().any(|(reader, answer)| *reader == "list" && &**answer == "foreign");
    for outcome in outcomes.iter().filter(own) {
        if let (Some(scope), Some(cwd)) = (scope(&outcome.path), outcome.cwd.as_deref()) {
            workspaces.entry(scope).or_insert(cwd);
        }
    }
    let mut measures: Vec<Readings> = Vec::new();
    for measure in MEASURES.iter().copied().filter(|measure| measure.holds_in(release)) {
        let mut readings: Vec<Reading> =
            gauges.iter().filter(|gauge| gauge.name == measure.name).map(|gauge| reading(measure, gauge, &workspaces)).collect();
        readings.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        if readings.is_empty() {
            continue;
        }
        let Measure { name, counts, unit, above, section, .. } = *measure;
        let limit = gauges.iter().find(|gauge| gauge.name == name).map_or(measure.limit, |gauge| gauge.limit);
        measures.push(Readings { name, counts, limit, unit, near_from: measure.near_from(limit), above, section, readings });
    }
    Quota { schema: SCHEMA, release: release.text(), root, measures, unread: Vec::new() }
}

/// The scope directory in a path.
fn scope(path: &str) -> Option<&str> {
    path.split('/').find(|part| part.starts_with("v2-"))
}

fn reading(measure: &Measure, gauge: &Gauge, workspaces: &BTreeMap<&str, &str>) -> Reading {
    Reading {
        path: gauge.path.to_string(),
        workspace: scope(&gauge.path).and_then(|scope| workspaces.get(scope)).map(|workspace| (*workspace).to_owned()),
        used: gauge.used,
        percent: gauge.percent(),
        headroom: gauge.limit.saturating_sub(gauge.used),
        // However many entries a scope has, one whose next receipts do not fit is at its limit.
        near: gauge.used >= measure.near_from(gauge.limit)
            || (gauge.name == RETIREMENT_ENTRIES.name && gauge.appends_left.is_some_and(|left| left < 3)),
        exceeded: gauge.used > gauge.limit,
        appends_left: gauge.appends_left,
    }
}

/// The JSON Schema of [`Quota`].
pub fn schema() -> Schema {
    schemars::schema_for!(Quota)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::quota::{REPLAYED_CONTEXT, TRANSCRIPT_BYTES};

    #[test]
    fn the_fullest_reading_of_a_measure_comes_first() {
        let gauges = [
            RETIREMENT_ENTRIES.gauge("b".into(), 45_000),
            TRANSCRIPT_BYTES.gauge("t".into(), 1),
            RETIREMENT_ENTRIES.gauge("a".into(), 50_001),
        ];
        let all = quota(&gauges, &[], Release::default(), "r".into());
        assert_eq!(all.measures.iter().map(|measure| measure.name).collect::<Vec<_>>(), ["transcript_bytes", "retirement_entries"]);
        let [full, near] = &all.measures[1].readings[..] else { panic!("two readings") };
        assert_eq!((&*full.path, full.percent, full.headroom, full.near, full.exceeded), ("a", 100, 0, true, true));
        assert_eq!((&*near.path, near.percent, near.headroom, near.near, near.exceeded), ("b", 90, 5_000, true, false));
        assert_eq!(quota(&gauges, &[], Release::ALL[0], "r".into()).measures.len(), 1);
    }
    #[test]
    fn a_scope_is_told_with_the_workspace_of_its_own_transcripts() {
        let outcome = |path: &str, cwd: &str, list: &'static str| Outcome {
            path: path.into(),
            cwd: Some(cwd.into()),
            verdicts: [("list", list.into())].into(),
            ..Outcome::default()
        };
        let outcomes = [outcome("sessions/v2-a/1.jsonl", "/b", "foreign"), outcome("sessions/v2-a/2.jsonl", "/a", "native_v2")];
        let gauges = ["sessions/v2-a", "sessions/v2-b", "sessions"].map(|path| RETIREMENT_ENTRIES.gauge(path.into(), 1));
        let all = quota(&gauges, &outcomes, Release::default(), "r".into());
        let of: Vec<_> = all.measures[0].readings.iter().map(|reading| (&*reading.path, reading.workspace.as_deref())).collect();
        assert_eq!(of, [("sessions", None), ("sessions/v2-a", Some("/a")), ("sessions/v2-b", None)]);
    }
    #[test]
    fn a_scope_whose_next_receipts_do_not_fit_is_near_however_few_it_has() {
        let near = |appends_left| {
            let gauge = Gauge { appends_left, ..RETIREMENT_ENTRIES.gauge("a".into(), 10) };
            quota(&[gauge], &[], Release::default(), "r".into()).measures[0].readings[0].near
        };
        assert_eq!([None, Some(3), Some(2), Some(0)].map(near), [false, false, true, true]);
    }
    #[test]
    fn a_limit_that_the_run_was_told_is_shown_with_its_own_warning() {
        let gauge = Gauge { limit: 1_000, ..REPLAYED_CONTEXT.gauge("t".into(), 900) };
        let all = quota(&[gauge], &[], Release::default(), "r".into());
        let [context] = &all.measures[..] else { panic!("one measure") };
        assert_eq!((context.limit, context.near_from, context.readings[0].near, context.readings[0].percent), (1_000, 900, true, 90));
    }
}
