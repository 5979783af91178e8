//! The area *quota* of spec 05: its codes, and the table of everything that has a limit. Passes measure; `quota` shows.

pub mod codes;

use crate::agent::tombstone::ReplayBudget;
use crate::agent::{artifacts, legacy, replacement_receipt};
use crate::check::run::Site;
use crate::finding::{Difference, Finding, Gauge, Release, Sink};
use crate::gc::budget::{INVENTORY_AT_RISK, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_INSPECTED, MAX_RECEIPT_BYTES};
use std::path::Path;
use std::sync::Arc;

/// Something that has a limit.
#[derive(Debug)]
pub struct Measure {
    /// Stable name.
    pub name: &'static str,
    /// What is counted, and of what.
    pub counts: &'static str,
    /// The most that gjc takes.
    pub limit: u64,
    /// `bytes`, `entries`, …
    pub unit: &'static str,
    /// From how much on it is worth a warning.
    pub near: u64,
    /// What gjc does above the limit.
    pub above: &'static str,
    /// Where the specification says so.
    pub section: &'static str,
    /// 0.15 has it too.
    pub both: bool,
}

impl Measure {
    /// A reading of it at a path as findings name it.
    pub fn gauge(&self, path: Arc<str>, used: u64) -> Gauge {
        Gauge { name: self.name, path, used, limit: self.limit, unit: self.unit, appends_left: None }
    }
    /// True from the amount on at which there is a warning.
    pub const fn is_near(&self, used: u64) -> bool {
        used >= self.near
    }
    /// Whether a release has this limit.
    pub fn holds_in(&self, release: Release) -> bool {
        self.both || Difference::Retirement.in_effect(release)
    }
}

/// So many per cent of a limit, rounded up.
const fn share(limit: u64, percent: u64) -> u64 {
    (limit * percent).div_ceil(100)
}

/// What the strict inspector takes of all scopes together (Q9): `entries` in their role directories. `place` is the sessions
/// root, or the scope that is checked alone.
pub fn inspected(site: &Site<'_>, place: &Path, entries: u64, sink: &mut dyn Sink) {
    if entries == 0 || !PROTOCOL_ENTRIES.holds_in(site.release) {
        return;
    }
    sink.gauge(PROTOCOL_ENTRIES.gauge(site.name(place), entries));
    if entries > MAX_INSPECTED {
        let message = format!(
            "{entries} files lie in the role directories of the scopes here; gjc inspects {MAX_INSPECTED}. None of them is damaged or \
             missing by that."
        );
        sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_ENTRY_LIMIT_EXCEEDED, site.place(place), message));
    }
}

/// The measure of a gauge.
pub fn measure(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().copied().find(|measure| measure.name == name)
}

macro_rules! measures {
    ($($(#[$doc:meta])* $ident:ident = $measure:expr;)*) => {
        $($(#[$doc])* pub static $ident: Measure = $measure;)*
        /// All of them, in the order in which they are shown.
        pub static MEASURES: &[&Measure] = &[$(&$ident),*];
    };
}

measures! {
    /// One transcript.
    TRANSCRIPT_BYTES = Measure {
        name: "transcript_bytes",
        counts: "bytes of one transcript",
        limit: super::size::FILE_CAP,
        unit: "bytes",
        near: share(super::size::FILE_CAP, 90),
        above: "only the bounded open is left, and nothing is written to the file",
        section: "01 §1",
        both: true,
    };
    /// All files of a scope.
    SCOPE_BYTES = Measure {
        name: "scope_bytes",
        counts: "bytes of all files below one scope",
        limit: super::managed::SCOPE_BYTES,
        unit: "bytes",
        near: share(super::managed::SCOPE_BYTES, 75),
        above: "`gjc gc` reports the scope as over its limit; 0.15 refuses to start in the workspace",
        section: "03 §17",
        both: true,
    };
    /// Entries of an artifact tree.
    ARTIFACT_ENTRIES = Measure {
        name: "artifact_entries",
        counts: "entries of one artifact tree, its root left out",
        limit: artifacts::MAX_ENTRIES,
        unit: "entries",
        near: share(artifacts::MAX_ENTRIES, 90),
        above: "the session cannot be migrated, forked or deleted (`artifact_capacity_exceeded`)",
        section: "02 §6.6; 04 §6.4",
        both: true,
    };
    /// Bytes of an artifact tree.
    ARTIFACT_BYTES = Measure {
        name: "artifact_bytes",
        counts: "bytes of all files of one artifact tree",
        limit: artifacts::MAX_TOTAL_BYTES,
        unit: "bytes",
        near: share(artifacts::MAX_TOTAL_BYTES, 90),
        above: "the session cannot be migrated, forked or deleted (`artifact_capacity_exceeded`)",
        section: "02 §6.6; 04 §6.4",
        both: true,
    };
    /// Legacy directories of a sessions root.
    LEGACY_DIRECTORIES = Measure {
        name: "legacy_directories",
        counts: "legacy directories of a sessions root",
        limit: legacy::MAX_UNKNOWN_DIRECTORIES as u64,
        unit: "directories",
        near: share(legacy::MAX_UNKNOWN_DIRECTORIES as u64, 90),
        above: "a listing leaves out directories that it does not know by name",
        section: "02 §5.2",
        both: true,
    };
    /// Receipts of interrupted replacements.
    REPLACEMENT_RECEIPTS = Measure {
        name: "replacement_receipts",
        counts: "replacement receipts of one directory",
        limit: replacement_receipt::NAME_LIMIT,
        unit: "entries",
        near: share(replacement_receipt::NAME_LIMIT, 90),
        above: "opening refuses (`managed_replace_cleanup_receipt_limit_exceeded`)",
        section: "02 §8",
        both: true,
    };
    /// Remnants of finished removals.
    SCRUBBED_REMNANTS = Measure {
        name: "scrubbed_remnants",
        counts: "scrubbed remnants of one directory",
        limit: replacement_receipt::NAME_LIMIT,
        unit: "entries",
        near: share(replacement_receipt::NAME_LIMIT, 90),
        above: "opening may refuse (`managed_replace_cleanup_receipt_limit_exceeded`)",
        section: "02 §8.5",
        both: true,
    };
    /// One stored retirement receipt.
    LARGEST_RETIREMENT_RECEIPT = Measure {
        name: "largest_retirement_receipt",
        counts: "bytes of the largest retirement receipt of a scope",
        limit: MAX_RECEIPT_BYTES,
        unit: "bytes",
        near: share(MAX_RECEIPT_BYTES, 90),
        above: "its journal is not read (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14 Q1, Q2",
        both: false,
    };
    /// One transcript's history.
    LARGEST_RETIREMENT_HISTORY = Measure {
        name: "largest_retirement_history",
        counts: "bytes of all retirement receipts of one transcript, the most of a scope",
        limit: MAX_HISTORY_BYTES,
        unit: "bytes",
        near: share(MAX_HISTORY_BYTES, 90),
        above: "the journal is not read (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14 Q4",
        both: false,
    };
    /// Retirement receipts of a scope.
    RETIREMENT_ENTRIES = Measure {
        name: "retirement_entries",
        counts: "retirement receipts of one scope, all its transcripts together",
        limit: MAX_ENTRIES,
        unit: "entries",
        near: share(MAX_ENTRIES, 90),
        above: "none of them is read (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14 Q3, Q5",
        both: false,
    };
    /// All receipts directories together.
    RECEIPTS_INVENTORY = Measure {
        name: "receipts_inventory",
        counts: "entries of the receipts directories of all scopes; read-only inspection may refuse above 6,250",
        limit: MAX_ENTRIES,
        unit: "entries",
        near: INVENTORY_AT_RISK + 1,
        above: "every reader refuses (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14.3 Q8",
        both: false,
    };
    /// The longest cleanup replay of a scope.
    CLEANUP_REPLAY_WORK = Measure {
        name: "cleanup_replay_work",
        counts: "work units of the longest cleanup replay of a scope",
        limit: ReplayBudget::MAX_WORK,
        unit: "units",
        near: share(ReplayBudget::MAX_WORK, 90),
        above: "prepare and delete refuse (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14.2 Q7",
        both: false,
    };
    /// The most bytes that one cleanup replay of a scope reads.
    CLEANUP_REPLAY_BYTES = Measure {
        name: "cleanup_replay_bytes",
        counts: "bytes of the longest cleanup replay of a scope",
        limit: ReplayBudget::MAX_BYTES,
        unit: "bytes",
        near: share(ReplayBudget::MAX_BYTES, 90),
        above: "prepare and delete refuse (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14.2 Q7",
        both: false,
    };
    /// Entries of a tombstones directory.
    TOMBSTONE_ENTRIES = Measure {
        name: "tombstone_entries",
        counts: "entries of one tombstones directory: each replay counts them all",
        limit: ReplayBudget::MAX_ENTRIES,
        unit: "entries",
        near: share(ReplayBudget::MAX_ENTRIES, 90),
        above: "prepare and delete refuse (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14.2 Q7",
        both: false,
    };
    /// Files that an inspection takes.
    PROTOCOL_ENTRIES = Measure {
        name: "protocol_entries",
        counts: "files in locks, receipts and tombstones; the inspector counts those of all scopes together",
        limit: MAX_INSPECTED,
        unit: "entries",
        near: share(MAX_INSPECTED, 90),
        above: "the inspector refuses (`managed_gc_protocol_entry_limit_exceeded`)",
        section: "03 §14 Q9",
        both: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_is_found_by_its_name_once() {
        for own in MEASURES {
            assert_eq!(MEASURES.iter().filter(|other| other.name == own.name).count(), 1, "{}", own.name);
            assert!(measure(own.name).is_some_and(|found| std::ptr::eq(found, *own)));
            assert!(own.near <= own.limit && own.near > 0 && !own.section.is_empty());
        }
        assert!(measure("x").is_none());
    }
    #[test]
    fn near_begins_at_exactly_the_share() {
        assert!(!RETIREMENT_ENTRIES.is_near(44_999) && RETIREMENT_ENTRIES.is_near(45_000));
        assert!(!SCOPE_BYTES.is_near(402_653_183) && SCOPE_BYTES.is_near(402_653_184));
        assert!(!RECEIPTS_INVENTORY.is_near(6_250) && RECEIPTS_INVENTORY.is_near(6_251));
    }
    #[test]
    fn the_older_release_has_no_retirement() {
        assert!(SCOPE_BYTES.holds_in(Release::ALL[0]) && !RETIREMENT_ENTRIES.holds_in(Release::ALL[0]));
        assert!(RETIREMENT_ENTRIES.holds_in(Release::default()));
    }
}
