//! The answer to `quota`: every gauge with what it counts, what is left, and what gjc does above the limit.

use crate::check::quota::{MEASURES, Measure};
use crate::finding::{Gauge, Release};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

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
    /// Used.
    pub used: u64,
    /// Whole per cent of the limit, rounded down; above 100 when it is passed.
    pub percent: u64,
    /// What is left; 0 at and above the limit.
    pub headroom: u64,
    /// At or above the share that is worth a warning.
    pub near: bool,
    /// More than the limit.
    pub exceeded: bool,
    /// How many more records of the size that comes next fit, where records are appended: of a scope, for the journal with
    /// the least room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appends_left: Option<u32>,
}

/// Arranges gauges by measure.
pub fn quota(gauges: &[Gauge], release: Release, root: String) -> Quota {
    let mut measures: Vec<Readings> = Vec::new();
    for measure in MEASURES.iter().copied().filter(|measure| measure.holds_in(release)) {
        let mut readings: Vec<Reading> =
            gauges.iter().filter(|gauge| gauge.name == measure.name).map(|gauge| reading(measure, gauge)).collect();
        readings.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        if readings.is_empty() {
            continue;
        }
        let Measure { name, counts, limit, unit, near, above, section, .. } = *measure;
        measures.push(Readings { name, counts, limit, unit, near_from: near, above, section, readings });
    }
    Quota { schema: SCHEMA, release: release.text(), root, measures }
}

fn reading(measure: &Measure, gauge: &Gauge) -> Reading {
    Reading {
        path: gauge.path.to_string(),
        used: gauge.used,
        percent: gauge.percent(),
        headroom: gauge.limit.saturating_sub(gauge.used),
        near: measure.is_near(gauge.used),
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
    use crate::check::quota::{RETIREMENT_ENTRIES, TRANSCRIPT_BYTES};

    #[test]
    fn the_fullest_reading_of_a_measure_comes_first() {
        let gauges = [
            RETIREMENT_ENTRIES.gauge("b".into(), 45_000),
            TRANSCRIPT_BYTES.gauge("t".into(), 1),
            RETIREMENT_ENTRIES.gauge("a".into(), 50_001),
        ];
        let all = quota(&gauges, Release::default(), "r".into());
        assert_eq!(all.measures.iter().map(|measure| measure.name).collect::<Vec<_>>(), ["transcript_bytes", "retirement_entries"]);
        let [full, near] = &all.measures[1].readings[..] else { panic!("two readings") };
        assert_eq!((&*full.path, full.percent, full.headroom, full.near, full.exceeded), ("a", 100, 0, true, true));
        assert_eq!((&*near.path, near.percent, near.headroom, near.near, near.exceeded), ("b", 90, 5_000, true, false));
        assert_eq!(quota(&gauges, Release::ALL[0], "r".into()).measures.len(), 1);
    }
}
