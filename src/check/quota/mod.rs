//! The area *quota* of spec 05: its codes, and the table of everything that has a limit ([`measures`]). Passes measure and warn
//! through [`Measure::read`]; `quota` shows.
//!
//! What has a limit and no measure, because nothing on a disk says how much of it is used or because nothing is refused above
//! it, stands with its reason in the test `every_limit_of_the_specification_has_a_measure_or_a_reason`.

pub mod codes;
mod fullest;
mod measures;

pub use fullest::Fullest;
pub use measures::*;

use crate::check::run::Site;
use crate::check::verdict::codes::MANAGED_GC_PROTOCOL_SCOPE_LIMIT_EXCEEDED;
use crate::finding::{Code, Difference, Finding, Gauge, Place, Release, Sink};
use crate::gc::budget::MAX_INSPECTED;
use std::path::Path;
use std::sync::Arc;

/// Something that has a limit.
#[derive(Debug)]
pub struct Measure {
    /// Stable name.
    pub name: &'static str,
    /// What is counted, and of what.
    pub counts: &'static str,
    /// The most that gjc takes, unless a run is told otherwise.
    pub limit: u64,
    /// `bytes`, `entries`, …
    pub unit: &'static str,
    /// From how much on it is worth a warning.
    pub near: Near,
    /// The code of that warning.
    pub warning: &'static Code,
    /// The code of what is above the limit, where it is not the first that `above` names.
    pub refusal: Option<&'static Code>,
    /// What gjc does above the limit.
    pub above: &'static str,
    /// Where the specification says so.
    pub section: &'static str,
    /// Which releases have it.
    pub releases: Has,
    /// How many readings there are of a directory.
    pub readings: Readings,
}

/// From how much on a measure is near its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Near {
    /// So many per cent of the limit.
    Percent(u64),
    /// So much, whatever the limit is.
    From(u64),
}

/// Which releases have a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Has {
    /// All.
    All,
    /// Those with this difference.
    Since(Difference),
    /// Those without it.
    Before(Difference),
}

/// How many readings of a measure there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readings {
    /// One of every object.
    Each,
    /// Of what a directory holds: the fullest, and every one that is near its limit.
    Fullest,
}

impl Measure {
    /// A reading of it at a path as findings name it.
    pub fn gauge(&self, path: Arc<str>, used: u64) -> Gauge {
        Gauge { name: self.name, path, used, limit: self.limit, unit: self.unit, appends_left: None }
    }
    /// From how much on there is a warning, when the limit is this one.
    pub const fn near_from(&self, limit: u64) -> u64 {
        match self.near {
            Near::Percent(percent) => share(limit, percent),
            Near::From(used) => used,
        }
    }
    /// True from the amount on at which there is a warning.
    pub const fn is_near(&self, used: u64) -> bool {
        used >= self.near_from(self.limit)
    }
    /// The code of what is above the limit; none where nothing of gjc says so.
    pub fn beyond(&self) -> Option<&'static Code> {
        self.refusal.or_else(|| self.above.split('`').find_map(crate::check::code))
    }
    /// Whether a release has this limit.
    pub fn holds_in(&self, release: Release) -> bool {
        match self.releases {
            Has::All => true,
            Has::Since(difference) => difference.in_effect(release),
            Has::Before(difference) => !difference.in_effect(release),
        }
    }
    /// Gives a reading, and a warning when it is near the limit and not above it: what is above it has a code of its own.
    pub fn read(&self, place: Place, used: u64, sink: &mut dyn Sink) {
        self.read_within(place, used, self.limit, sink);
    }
    /// The same where the run was told the limit.
    pub fn read_within(&self, place: Place, used: u64, limit: u64, sink: &mut dyn Sink) {
        sink.gauge(Gauge { limit, ..self.gauge(Arc::clone(&place.path), used) });
        if used >= self.near_from(limit) && used <= limit {
            let message = format!("{used} of {limit} {} are used: {}.", self.unit, self.counts);
            sink.push(Finding::new(self.warning, place, message));
        }
    }
}

/// So many per cent of a limit, rounded up.
const fn share(limit: u64, percent: u64) -> u64 {
    (limit as u128 * percent as u128).div_ceil(100) as u64
}

/// What the strict inspector takes of all scopes together (Q9): scopes, and `entries` in their role directories. `place` is the
/// sessions root, or the scope that is checked alone, of which `scopes` is 0.
pub fn inspected(site: &Site<'_>, place: &Path, scopes: u64, entries: u64, sink: &mut dyn Sink) {
    if !PROTOCOL_ENTRIES.holds_in(site.release) {
        return;
    }
    if scopes > 0 {
        PROTOCOL_SCOPES.read(site.place(place), scopes, sink);
    }
    if scopes > MAX_INSPECTED {
        let message = format!("{scopes} scopes lie here; gjc inspects {MAX_INSPECTED}. None of them is damaged or missing by that.");
        sink.push(Finding::new(&MANAGED_GC_PROTOCOL_SCOPE_LIMIT_EXCEEDED, site.place(place), message));
    }
    if entries > 0 {
        PROTOCOL_ENTRIES.read(site.place(place), entries, sink);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Collected;

    #[test]
    fn every_measure_is_found_by_its_name_once() {
        for own in MEASURES {
            assert_eq!(MEASURES.iter().filter(|other| other.name == own.name).count(), 1, "{}", own.name);
            assert!(measure(own.name).is_some_and(|found| std::ptr::eq(found, *own)));
            let near = own.near_from(own.limit);
            assert!(near <= own.limit && near > 0 && !own.section.is_empty() && !own.counts.is_empty() && !own.above.is_empty());
        }
        assert!(measure("x").is_none());
    }
    #[test]
    fn a_warning_is_given_from_exactly_the_share_on_and_up_to_the_limit() {
        for (measure, first) in MEASURES.iter().zip(FIRST_WARNINGS) {
            assert_eq!(measure.name, first.0);
            let given = |used| {
                let mut sink = Collected::default();
                measure.read(Place { path: "p".into(), ..Place::default() }, used, &mut sink);
                assert_eq!((sink.gauges[0].used, sink.gauges[0].limit), (used, measure.limit));
                sink.findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>()
            };
            assert_eq!(given(first.1 - 1), [""; 0], "{}", measure.name);
            assert_eq!(given(first.1), [first.2], "{}", measure.name);
            assert_eq!(given(measure.limit), [first.2], "{}", measure.name);
            assert_eq!(given(measure.limit + 1), [""; 0], "{}: what is above has a code of its own", measure.name);
        }
    }
    /// From how much on there is which warning: nine tenths of the limit, three quarters of a scope's bytes, rounded up.
    const FIRST_WARNINGS: [(&str, u64, &str); 35] = [
        ("transcript_bytes", 120_795_956, "near_per_file_cap"),
        ("bounded_transcript_bytes", 1_933_679_002, "limit_near"),
        ("longest_line", 7_549_748, "limit_near"),
        ("header_line", 58_983, "limit_near"),
        ("replayed_context", 483_183_821, "limit_near"),
        ("patch_overlay_bytes", 7_549_748, "limit_near"),
        ("scope_bytes", 402_653_184, "scope_near_capacity"),
        ("scope_entries", 180_000, "limit_near"),
        ("artifact_entries", 45_000, "limit_near"),
        ("artifact_bytes", 483_183_821, "limit_near"),
        ("artifact_file_bytes", 120_795_956, "limit_near"),
        ("artifact_depth", 29, "limit_near"),
        ("legacy_directories", 231, "limit_near"),
        ("project_directories", 3_687, "limit_near"),
        ("project_transcripts", 900, "limit_near"),
        ("replacement_receipts", 45_000, "limit_near"),
        ("largest_retirement_receipt", 60_397_978, "gc_receipt_quota_near"),
        ("next_retirement_receipt", 60_397_978, "limit_near"),
        ("continuation_codes", 58, "limit_near"),
        ("continuation_paths", 231, "limit_near"),
        ("largest_retirement_states", 45_000, "gc_receipt_quota_near"),
        ("largest_retirement_history", 483_183_821, "gc_receipt_quota_near"),
        ("retirement_entries", 45_000, "gc_receipt_quota_near"),
        ("receipts_inventory", 6_251, "gc_inventory_admission_at_risk"),
        ("cleanup_replay_work", 90_000, "gc_receipt_quota_near"),
        ("cleanup_replay_bytes", 483_183_821, "gc_receipt_quota_near"),
        ("largest_cleanup_record", 60_397_978, "gc_receipt_quota_near"),
        ("tombstone_entries", 45_000, "gc_receipt_quota_near"),
        ("protocol_entries", 45_000, "limit_near"),
        ("protocol_scopes", 45_000, "limit_near"),
        ("owner_scan_entries", 45_000, "limit_near"),
        ("owner_tree_entries", 45_000, "limit_near"),
        ("owner_tree_bytes", 483_183_821, "limit_near"),
        ("owner_tree_file_bytes", 120_795_956, "limit_near"),
        ("owner_tree_depth", 29, "limit_near"),
    ];
    #[test]
    fn a_limit_that_the_run_was_told_moves_the_warning_with_it() {
        let given = |used| {
            let mut sink = Collected::default();
            REPLAYED_CONTEXT.read_within(Place { path: "p".into(), ..Place::default() }, used, 1_001, &mut sink);
            (sink.gauges[0].limit, sink.findings.len())
        };
        assert_eq!([900, 901, 1_001, 1_002].map(given), [(1_001, 0), (1_001, 1), (1_001, 1), (1_001, 0)]);
    }
    #[test]
    fn the_older_release_has_nothing_of_what_came_with_retirement() {
        let of = |release| MEASURES.iter().filter(|measure| measure.holds_in(release)).map(|measure| measure.name).collect::<Vec<_>>();
        assert_eq!(of(Release::default()).len(), MEASURES.len());
        let both = [
            "transcript_bytes",
            "bounded_transcript_bytes",
            "longest_line",
            "header_line",
            "replayed_context",
            "patch_overlay_bytes",
            "scope_bytes",
            "scope_entries",
            "artifact_entries",
            "artifact_bytes",
            "artifact_file_bytes",
            "artifact_depth",
            "legacy_directories",
            "project_directories",
            "project_transcripts",
            "replacement_receipts",
        ];
        assert_eq!(of(Release::ALL[0]), both);
    }

    /// A limit of the specification: section, what it bounds, the number, and its measure or why there is none.
    type Limit = (&'static str, &'static str, u64, Result<&'static Measure, &'static str>);

    const NO_REFUSAL: &str = "nothing is refused: a writer cuts, moves or splits what is longer";
    const PACE: &str = "a pace: what is more is done later or in the background";
    const FIXED: &str = "no user's data fills it: gjc writes records of this form far below it";

    /// Every bound that spec 01, 01a, 02, 02a, 03 and 04 name for what is stored.
    const LIMITS: &[Limit] = &[
        ("01 §1", "eager load, append and rewrite of one transcript", 134_217_728, Ok(&TRANSCRIPT_BYTES)),
        ("01 §1", "bounded load, fork and capture", 2_148_532_224, Ok(&BOUNDED_TRANSCRIPT_BYTES)),
        ("01 §1", "one line of the bounded readers, LF included", 8_388_608, Ok(&LONGEST_LINE)),
        ("01 §2.8", "one line of a managed transcript, LF included", 8_388_608, Ok(&LONGEST_LINE)),
        ("01a.5", "the header line of a managed transcript", 65_536, Ok(&HEADER_LINE)),
        ("02 §5.3", "bytes before the first LF of a candidate", 65_536, Ok(&HEADER_LINE)),
        ("01 §2.6", "what lists read of a file", 4_096, Err("a longer header is `openable_but_not_listed`, a finding of its own")),
        ("01 §2.7", "budgets of the bounded scan", 0, Err("the specification gives no numbers; `bounded_scan_budget` is told when met")),
        ("01 §5.4", "a transcript that the picker stars", 134_217_728, Ok(&TRANSCRIPT_BYTES)),
        ("01 §5.5", "patch lines of a bounded fork", 8_388_608, Ok(&PATCH_OVERLAY_BYTES)),
        ("01 §7", "units of a session's name", 1_000, Err(NO_REFUSAL)),
        ("01 §8.3", "ids in a warning about usage", 8, Err(NO_REFUSAL)),
        ("01 §8.4", "units of a string", 500_000, Err(NO_REFUSAL)),
        ("01 §8.4", "units of an edit snapshot", 16_384, Err(NO_REFUSAL)),
        ("01 §8.4", "units of an inline image, and of what is spilled", 1_024, Err(NO_REFUSAL)),
        ("01 §9.9", "measured bytes of a context", 536_870_912, Ok(&REPLAYED_CONTEXT)),
        ("02 §4.6", "entries that the self-heal looks at", 8_192, Err(PACE)),
        ("02 §5.2", "unknown legacy directories", 256, Ok(&LEGACY_DIRECTORIES)),
        ("02 §6.4", "a legacy transcript that is migrated", 134_217_728, Ok(&TRANSCRIPT_BYTES)),
        ("02 §6.6", "depth of an artifact tree", 32, Ok(&ARTIFACT_DEPTH)),
        ("02 §6.6", "entries of an artifact tree", 50_000, Ok(&ARTIFACT_ENTRIES)),
        ("02 §6.6", "files of an artifact tree", 50_000, Ok(&ARTIFACT_ENTRIES)),
        ("02 §6.6", "one file of an artifact tree", 134_217_728, Ok(&ARTIFACT_FILE_BYTES)),
        ("02 §6.6", "all files of an artifact tree", 536_870_912, Ok(&ARTIFACT_BYTES)),
        ("02 §6.6", "entries of one copy batch", 256, Err(PACE)),
        ("02 §8.2", "bytes of a replacement receipt", 65_536, Err(FIXED)),
        ("02 §8.4", "replacement receipts of a directory", 50_000, Ok(&REPLACEMENT_RECEIPTS)),
        ("02 §8.6", "what one sweep of the reaper takes", 65_536, Err(PACE)),
        ("02 §9.4", "see 03 §14.2", 100_000, Ok(&CLEANUP_REPLAY_WORK)),
        ("02 §9.8", "files of the roles, see Q9", 50_000, Ok(&PROTOCOL_ENTRIES)),
        ("03 §3", "nesting of a receipt", 32, Err(FIXED)),
        ("03 §5.3", "entries of an evidenced tree, its root included", 50_000, Ok(&OWNER_TREE_ENTRIES)),
        ("03 §5.3", "all files of a captured tree", 536_870_912, Ok(&OWNER_TREE_BYTES)),
        ("03 §5.3", "one file of a captured tree", 134_217_728, Ok(&OWNER_TREE_FILE_BYTES)),
        ("03 §5.3", "depth of a captured tree", 32, Ok(&OWNER_TREE_DEPTH)),
        ("03 §5.5", "detached paths of a continuation", 2, Err("an owner has two root paths and no third, so that the list never fills")),
        ("03 §5.5", "native and Windows codes of a continuation", 64, Ok(&CONTINUATION_CODES)),
        ("03 §5.5", "side paths of one kind of a continuation", 256, Ok(&CONTINUATION_PATHS)),
        ("03 §5.6", "units of a reason", 4_096, Err("a grammar: a longer reason is no outcome, and a code says so")),
        ("03 §9", "entries of the scan for siblings", 50_000, Ok(&OWNER_SCAN_ENTRIES)),
        ("03 §9", "scopes of the scan for siblings, see Q9", 50_000, Ok(&PROTOCOL_SCOPES)),
        ("03 §9", "depth of the recovery directory", 32, Err("gjc makes one level; deeper is `owner_scan_blocked`, a finding of its own")),
        ("03 §14 Q1", "the receipt that is published", 67_108_864, Ok(&NEXT_RETIREMENT_RECEIPT)),
        ("03 §14 Q2", "a stored receipt", 67_108_864, Ok(&LARGEST_RETIREMENT_RECEIPT)),
        ("03 §14 Q3", "state files of one transcript", 50_000, Ok(&LARGEST_RETIREMENT_STATES)),
        ("03 §14 Q4", "stored bytes of one transcript", 536_870_912, Ok(&LARGEST_RETIREMENT_HISTORY)),
        ("03 §14 Q5", "entries of one scope", 50_000, Ok(&RETIREMENT_ENTRIES)),
        ("03 §14 Q6", "entries after an append", 50_000, Ok(&RETIREMENT_ENTRIES)),
        ("03 §14 Q6", "bytes after an append", 536_870_912, Ok(&LARGEST_RETIREMENT_HISTORY)),
        ("03 §14.2 Q7", "work units of a replay", 100_000, Ok(&CLEANUP_REPLAY_WORK)),
        ("03 §14.2 Q7", "entries of the directory", 50_000, Ok(&TOMBSTONE_ENTRIES)),
        ("03 §14.2 Q7", "records read", 50_000, Ok(&TOMBSTONE_ENTRIES)),
        ("03 §14.2 Q7", "one record", 67_108_864, Ok(&LARGEST_CLEANUP_RECORD)),
        ("03 §14.2 Q7", "bytes of all records", 536_870_912, Ok(&CLEANUP_REPLAY_BYTES)),
        ("03 §14.3 Q8", "entry observations of an inventory", 50_000, Ok(&RECEIPTS_INVENTORY)),
        ("03 §14.3 Q8", "work units of an inventory", 100_000, Err("UNVERIFIED: nobody knows what costs a unit")),
        ("03 §14 Q9", "scopes of an inspection", 50_000, Ok(&PROTOCOL_SCOPES)),
        ("03 §14 Q9", "files of an inspection", 50_000, Ok(&PROTOCOL_ENTRIES)),
        ("03 §17", "bytes of a scope", 536_870_912, Ok(&SCOPE_BYTES)),
        ("03 §17", "entries of a scope that gjc adds up", 200_000, Ok(&SCOPE_ENTRIES)),
        ("04 §2.9", "directories of a project", 4_096, Ok(&PROJECT_DIRECTORIES)),
        ("04 §2.9", "transcripts of a project", 1_000, Ok(&PROJECT_TRANSCRIPTS)),
        ("04 §3.5", "pages of a client", 10_000, Err("nothing of it is stored")),
        ("04 §4.6", "bounded open", 2_148_532_224, Ok(&BOUNDED_TRANSCRIPT_BYTES)),
        ("04 §5.9", "caches beside the sessions", 0, Err(PACE)),
        ("04 §6.4", "see 02 §6.6", 536_870_912, Ok(&ARTIFACT_BYTES)),
        ("04 §7", "buffers and ranges of one call, staging in memory", 0, Err("nothing of it is stored")),
        ("04 §7.5", "line and patches of a staged transcript", 0, Err("a line is bounded by 01 §1, the patches by 01 §5.5")),
        ("04 §7.7", "an exclusive lock file", 4_096, Err(FIXED)),
        ("04 §8", "rows of one query of the prompt history", 1_000, Err(NO_REFUSAL)),
        ("04 §9", "sources of an import", 67_108_864, Err("a file outside the storage, at the time of the call")),
        ("04 §10.2", "the commit of a sidecar", 8_388_608, Err("derived data, made again when it does not fit")),
    ];

    #[test]
    fn every_limit_of_the_specification_has_a_measure_or_a_reason() {
        for (section, what, number, answer) in LIMITS {
            match answer {
                Ok(measure) => assert_eq!(measure.limit, *number, "{section}: {what}"),
                Err(reason) => assert!(reason.len() > 20 && !what.is_empty(), "{section}: {what}"),
            }
        }
        for measure in MEASURES {
            let of = |limit: &&Limit| limit.3.is_ok_and(|found| found.name == measure.name);
            let sections: Vec<&str> = LIMITS.iter().filter(of).map(|limit| limit.0).collect();
            // The measure names a place where its limit is said.
            let names = |section: &&&str| {
                let (chapter, paragraph) = section.split_once([' ', '.']).unwrap_or_default();
                let number = paragraph.split(' ').next_back().unwrap_or_default();
                measure.section.contains(chapter) && measure.section.contains(number)
            };
            assert!(sections.iter().find(names).is_some(), "{}: {} is none of {sections:?}", measure.name, measure.section);
        }
        let named = |quota: &str| MEASURES.iter().any(|measure| measure.section.starts_with("03 §14") && measure.section.contains(quota));
        assert!(["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8", "Q9"].into_iter().all(named));
    }

    #[test]
    fn fifty_thousand_scopes_are_inspected_and_one_more_is_a_capacity() {
        let fs = crate::fsys::Memory::new();
        let codes = |scopes, entries| {
            let mut sink = Collected::default();
            inspected(&Site::for_tests(&fs), Path::new("/copy/agent/sessions"), scopes, entries, &mut sink);
            let codes: Vec<_> = sink.findings.iter().map(|finding| (finding.code.name, finding.code.class)).collect();
            (sink.gauges.len(), codes)
        };
        let capacity = Some(crate::finding::Class::Capacity);
        assert_eq!(codes(0, 0), (0, vec![]));
        assert_eq!(codes(44_999, 44_999), (2, vec![]));
        assert_eq!(codes(45_000, 0), (1, vec![("limit_near", capacity)]));
        assert_eq!(codes(0, 50_000), (1, vec![("limit_near", capacity)]));
        assert_eq!(codes(50_001, 0), (1, vec![("managed_gc_protocol_scope_limit_exceeded", capacity)]));
        assert_eq!(codes(0, 50_001), (1, vec![("managed_gc_protocol_entry_limit_exceeded", capacity)]));
        let older = Site { release: Release::ALL[0], ..Site::for_tests(&fs) };
        let mut sink = Collected::default();
        inspected(&older, Path::new("/copy/agent/sessions"), 50_001, 50_001, &mut sink);
        assert!(sink.findings.is_empty() && sink.gauges.is_empty());
    }
}
