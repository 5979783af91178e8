//! Everything of gjc's storage that has a limit and can be measured on a disk, in the order in which it is shown: transcripts,
//! scopes, artifacts, directories, protocol directories, retirement receipts, cleanup histories, inspection, owners.

use super::codes::{GC_INVENTORY_ADMISSION_AT_RISK, GC_RECEIPT_QUOTA_NEAR, LIMIT_NEAR, SCOPE_NEAR_CAPACITY};
use super::{Has, Measure, Near, Readings};
use crate::agent::predict::{PROJECT_DIRECTORIES as MOST_DIRECTORIES, PROJECT_FILES};
use crate::agent::tombstone::ReplayBudget;
use crate::agent::{artifacts, legacy, owner_evidence, replacement_receipt};
use crate::check::size::codes::NEAR_PER_FILE_CAP;
use crate::check::{header, managed, size};
use crate::finding::Difference;
use crate::gc::List;
use crate::gc::budget::{INVENTORY_AT_RISK, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_INSPECTED, MAX_RECEIPT_BYTES};
use crate::session::storage::staged::OVERLAY_BYTES;
use crate::transcript::context::budget;

macro_rules! measures {
    ($($(#[$doc:meta])* $ident:ident = $measure:expr;)*) => {
        $($(#[$doc])* pub static $ident: Measure = $measure;)*
        /// All of them, in the order in which they are shown.
        pub static MEASURES: &[&Measure] = &[$(&$ident),*];
    };
}

/// What most measures have in common.
const COMMON: Measure = Measure {
    name: "",
    counts: "",
    limit: 0,
    unit: "entries",
    near: Near::Percent(90),
    warning: &LIMIT_NEAR,
    refusal: None,
    above: "",
    section: "",
    releases: Has::All,
    readings: Readings::Each,
};
/// What came with retirement.
const LATER: Measure = Measure { releases: Has::Since(Difference::Retirement), ..COMMON };
/// The quotas of stored receipts and of replays, which share a warning.
const QUOTA: Measure = Measure { warning: &GC_RECEIPT_QUOTA_NEAR, ..LATER };
const REPLAY: Measure = Measure { releases: Has::Since(Difference::ReplayBudget), ..QUOTA };

const NOT_MOVED: &str = "the session cannot be migrated, forked or deleted (`artifact_capacity_exceeded`)";
const UNSAFE: &str = "the session cannot be migrated, forked or deleted (`unsafe_artifacts`)";
const FULL_JOURNAL: &str = "the journal is not read (`managed_gc_journal_capacity_exceeded`)";
const NO_ATTEMPT: &str = "the next attempt is not recorded (`task_artifact_owner_continuation_invalid`): the owner is never retired";
const NO_DELETION: &str = "prepare and delete refuse (`managed_gc_journal_capacity_exceeded`)";
const NOT_RETIRED: &str = "the owner cannot be captured, so it is never retired";

measures! {
    /// One transcript.
    TRANSCRIPT_BYTES = Measure {
        name: "transcript_bytes",
        counts: "bytes of one transcript",
        limit: size::FILE_CAP,
        unit: "bytes",
        warning: &NEAR_PER_FILE_CAP,
        above: "only the bounded open is left, and nothing is written to the file",
        section: "01 §1",
        ..COMMON
    };
    /// One transcript that only the bounded open takes.
    BOUNDED_TRANSCRIPT_BYTES = Measure {
        name: "bounded_transcript_bytes",
        counts: "bytes of one transcript of more than 128 MiB: what the bounded open takes",
        limit: size::BOUNDED_CAP,
        unit: "bytes",
        above: "nothing of gjc opens the file",
        section: "01 §1; 04 §4.6",
        ..COMMON
    };
    /// The longest line of a transcript.
    LONGEST_LINE = Measure {
        name: "longest_line",
        counts: "bytes of the longest line of a transcript, LF included",
        limit: size::LINE_CAP,
        unit: "bytes",
        refusal: Some(&size::codes::LINE_TOO_LONG),
        above: "the session cannot be opened for writing from the managed root, nor by the bounded open",
        section: "01 §1, §2.7, §2.8",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// The header line of a transcript in managed storage.
    HEADER_LINE = Measure {
        name: "header_line",
        counts: "bytes of the header line of a transcript in managed storage, LF included",
        limit: header::HEADER_LINE_CAP,
        unit: "bytes",
        refusal: Some(&header::codes::HEADER_LINE_TOO_LONG),
        above: "the listing leaves the session out and it does not open (`invalid_header`)",
        section: "02 §5.3; 01a.5",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// The context that gjc rebuilds. The environment may say another limit.
    REPLAYED_CONTEXT = Measure {
        name: "replayed_context",
        counts: "measured bytes of the context rebuilt from a transcript (the environment variable GJC_SESSION_CONTEXT_BUDGET_BYTES sets its limit)",
        limit: budget::DEFAULT,
        unit: "bytes",
        above: "the session is not resumed (`context_too_large`)",
        section: "01 §1, §9.9",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// Header patches of a transcript that only the bounded fork takes.
    PATCH_OVERLAY_BYTES = Measure {
        name: "patch_overlay_bytes",
        counts: "bytes of the patch lines of one transcript of more than 128 MiB: what its fork keeps",
        limit: OVERLAY_BYTES as u64,
        unit: "bytes",
        above: "the session cannot be forked",
        section: "01 §5.5",
        ..COMMON
    };
    /// All files of a scope.
    SCOPE_BYTES = Measure {
        name: "scope_bytes",
        counts: "bytes of all files below one scope",
        limit: managed::SCOPE_BYTES,
        unit: "bytes",
        near: Near::Percent(75),
        warning: &SCOPE_NEAR_CAPACITY,
        above: "`gjc gc` reports the scope as over its limit; 0.15 refuses to start in the workspace (`scope_capacity_exceeded`)",
        section: "03 §17",
        ..COMMON
    };
    /// Entries of a scope.
    SCOPE_ENTRIES = Measure {
        name: "scope_entries",
        counts: "entries below one scope: what `gjc gc` looks at when it adds up their bytes",
        limit: managed::SCOPE_ENTRIES,
        above: "`gjc gc` adds up only a part of the scope, and may not say that it is over its limit",
        section: "03 §17",
        ..COMMON
    };
    /// Entries of an artifact tree.
    ARTIFACT_ENTRIES = Measure {
        name: "artifact_entries",
        counts: "entries of one artifact tree, its root left out",
        limit: artifacts::MAX_ENTRIES,
        above: NOT_MOVED,
        section: "02 §6.6; 04 §6.4",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// Bytes of an artifact tree.
    ARTIFACT_BYTES = Measure {
        name: "artifact_bytes",
        counts: "bytes of all files of one artifact tree",
        limit: artifacts::MAX_TOTAL_BYTES,
        unit: "bytes",
        above: NOT_MOVED,
        section: "02 §6.6; 04 §6.4",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// The largest file of an artifact tree.
    ARTIFACT_FILE_BYTES = Measure {
        name: "artifact_file_bytes",
        counts: "bytes of the largest file of one artifact tree",
        limit: artifacts::MAX_FILE_BYTES,
        unit: "bytes",
        above: UNSAFE,
        section: "02 §6.6; 04 §6.4",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// The deepest directory of an artifact tree.
    ARTIFACT_DEPTH = Measure {
        name: "artifact_depth",
        counts: "levels of directories in one artifact tree, its root left out",
        limit: artifacts::MAX_DEPTH as u64,
        unit: "levels",
        above: UNSAFE,
        section: "02 §6.6; 04 §6.4",
        readings: Readings::Fullest,
        ..COMMON
    };
    /// Legacy directories of a sessions root.
    LEGACY_DIRECTORIES = Measure {
        name: "legacy_directories",
        counts: "legacy directories of a sessions root",
        limit: legacy::MAX_UNKNOWN_DIRECTORIES as u64,
        unit: "directories",
        above: "a listing leaves out directories that it does not know by name",
        section: "02 §5.2",
        ..COMMON
    };
    /// Directories of a project.
    PROJECT_DIRECTORIES = Measure {
        name: "project_directories",
        counts: "directories below `.gjc` of one workspace that a listing enters",
        limit: MOST_DIRECTORIES as u64,
        unit: "directories",
        above: "the listing leaves out what lies in further ones",
        section: "04 §2.9",
        ..COMMON
    };
    /// Transcripts of a project.
    PROJECT_TRANSCRIPTS = Measure {
        name: "project_transcripts",
        counts: "transcripts below `.gjc` of one workspace that a listing takes",
        limit: PROJECT_FILES as u64,
        unit: "files",
        above: "the listing leaves out further ones",
        section: "04 §2.9",
        ..COMMON
    };
    /// Receipts of interrupted replacements.
    REPLACEMENT_RECEIPTS = Measure {
        name: "replacement_receipts",
        counts: "replacement receipts of one directory (of 0.15: with scrubbed remnants)",
        limit: replacement_receipt::NAME_LIMIT,
        above: "opening refuses (`managed_replace_cleanup_receipt_limit_exceeded`)",
        section: "02 §8.4",
        ..COMMON
    };
    /// One stored retirement receipt.
    LARGEST_RETIREMENT_RECEIPT = Measure {
        name: "largest_retirement_receipt",
        counts: "bytes of the largest retirement receipt of a scope",
        limit: MAX_RECEIPT_BYTES,
        unit: "bytes",
        above: FULL_JOURNAL,
        section: "03 §14 Q2",
        ..QUOTA
    };
    /// The receipt that comes next.
    NEXT_RETIREMENT_RECEIPT = Measure {
        name: "next_retirement_receipt",
        counts: "bytes that the next retirement receipt of a journal has at least, the most of a scope",
        limit: MAX_RECEIPT_BYTES,
        unit: "bytes",
        above: "it is not written: the owner can be prepared, never become pending (`managed_gc_receipt_capacity_exceeded`)",
        section: "03 §14 Q1",
        ..LATER
    };
    /// The longer of the two lists of codes in a journal's newest continuation.
    CONTINUATION_CODES = Measure {
        name: "continuation_codes",
        counts: "native or Windows error codes that the newest retirement receipt of a journal records, the most of a scope",
        limit: List::NativeCodes.max() as u64,
        unit: "codes",
        above: NO_ATTEMPT,
        section: "03 §5.5",
        ..LATER
    };
    /// The longest list of side paths in a journal's newest continuation.
    CONTINUATION_PATHS = Measure {
        name: "continuation_paths",
        counts: "paths of one kind that the newest retirement receipt of a journal says are left beside its owner, the most of a scope",
        limit: List::Unknown.max() as u64,
        unit: "paths",
        above: NO_ATTEMPT,
        section: "03 §5.5",
        ..LATER
    };
    /// State files of one transcript.
    LARGEST_RETIREMENT_STATES = Measure {
        name: "largest_retirement_states",
        counts: "retirement receipts of one transcript, the most of a scope",
        limit: MAX_ENTRIES,
        above: FULL_JOURNAL,
        section: "03 §14 Q3",
        ..QUOTA
    };
    /// One transcript's history.
    LARGEST_RETIREMENT_HISTORY = Measure {
        name: "largest_retirement_history",
        counts: "bytes of all retirement receipts of one transcript, the most of a scope",
        limit: MAX_HISTORY_BYTES,
        unit: "bytes",
        above: FULL_JOURNAL,
        section: "03 §14 Q4, Q6",
        ..QUOTA
    };
    /// Retirement receipts of a scope.
    RETIREMENT_ENTRIES = Measure {
        name: "retirement_entries",
        counts: "retirement receipts of one scope, all its transcripts together",
        limit: MAX_ENTRIES,
        above: "none of them is read (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14 Q5, Q6",
        ..QUOTA
    };
    /// All receipts directories together.
    RECEIPTS_INVENTORY = Measure {
        name: "receipts_inventory",
        counts: "entries of the receipts directories of all scopes; read-only inspection may refuse above 6,250 already",
        limit: MAX_ENTRIES,
        near: Near::From(INVENTORY_AT_RISK + 1),
        warning: &GC_INVENTORY_ADMISSION_AT_RISK,
        above: "every reader refuses (`managed_gc_journal_capacity_exceeded`)",
        section: "03 §14.3 Q8",
        ..LATER
    };
    /// The longest cleanup replay of a scope.
    CLEANUP_REPLAY_WORK = Measure {
        name: "cleanup_replay_work",
        counts: "work units of the longest cleanup replay of a scope",
        limit: ReplayBudget::MAX_WORK,
        unit: "units",
        above: NO_DELETION,
        section: "03 §14.2 Q7",
        ..REPLAY
    };
    /// The most bytes that one cleanup replay of a scope reads.
    CLEANUP_REPLAY_BYTES = Measure {
        name: "cleanup_replay_bytes",
        counts: "bytes of the longest cleanup replay of a scope",
        limit: ReplayBudget::MAX_BYTES,
        unit: "bytes",
        above: NO_DELETION,
        section: "03 §14.2 Q7",
        ..REPLAY
    };
    /// One record of a cleanup history.
    LARGEST_CLEANUP_RECORD = Measure {
        name: "largest_cleanup_record",
        counts: "bytes of the largest pending cleanup record of a scope",
        limit: ReplayBudget::MAX_RECEIPT_BYTES,
        unit: "bytes",
        above: NO_DELETION,
        section: "03 §14.2 Q7",
        ..REPLAY
    };
    /// Entries of a tombstones directory.
    TOMBSTONE_ENTRIES = Measure {
        name: "tombstone_entries",
        counts: "entries of one tombstones directory: each replay counts them all",
        limit: ReplayBudget::MAX_ENTRIES,
        above: NO_DELETION,
        section: "03 §14.2 Q7",
        ..REPLAY
    };
    /// Files that an inspection takes.
    PROTOCOL_ENTRIES = Measure {
        name: "protocol_entries",
        counts: "files in locks, receipts and tombstones; the inspector counts those of all scopes together",
        limit: MAX_INSPECTED,
        above: "the inspector refuses (`managed_gc_protocol_entry_limit_exceeded`)",
        section: "03 §14 Q9",
        ..LATER
    };
    /// Scopes that an inspection takes.
    PROTOCOL_SCOPES = Measure {
        name: "protocol_scopes",
        counts: "scopes of a sessions root",
        limit: MAX_INSPECTED,
        unit: "scopes",
        above: "the inspector refuses (`managed_gc_protocol_scope_limit_exceeded`)",
        section: "03 §14 Q9",
        ..LATER
    };
    /// What the scan for siblings takes.
    OWNER_SCAN_ENTRIES = Measure {
        name: "owner_scan_entries",
        counts: "entries of the sessions root, its scopes, their protocol directories and staging, and the recovery directory, counted before an owner is retired",
        limit: MAX_INSPECTED,
        above: "no owner of the profile is retired (`task_artifact_owner_shared_with_sibling_transcript`)",
        section: "03 §9",
        ..LATER
    };
    /// Entries of an owner of task artifacts.
    OWNER_TREE_ENTRIES = Measure {
        name: "owner_tree_entries",
        counts: "entries of one owner of task artifacts, its root included",
        limit: owner_evidence::MAX_ENTRIES as u64,
        above: NOT_RETIRED,
        section: "03 §5.3",
        readings: Readings::Fullest,
        ..LATER
    };
    /// Bytes of an owner of task artifacts.
    OWNER_TREE_BYTES = Measure {
        name: "owner_tree_bytes",
        counts: "bytes of all files of one owner of task artifacts",
        limit: artifacts::MAX_TOTAL_BYTES,
        unit: "bytes",
        above: NOT_RETIRED,
        section: "03 §5.3",
        readings: Readings::Fullest,
        ..LATER
    };
    /// The largest file of an owner of task artifacts.
    OWNER_TREE_FILE_BYTES = Measure {
        name: "owner_tree_file_bytes",
        counts: "bytes of the largest file of one owner of task artifacts",
        limit: artifacts::MAX_FILE_BYTES,
        unit: "bytes",
        above: NOT_RETIRED,
        section: "03 §5.3",
        readings: Readings::Fullest,
        ..LATER
    };
    /// The deepest directory of an owner of task artifacts.
    OWNER_TREE_DEPTH = Measure {
        name: "owner_tree_depth",
        counts: "levels of directories in one owner of task artifacts, its root left out",
        limit: artifacts::MAX_DEPTH as u64,
        unit: "levels",
        above: NOT_RETIRED,
        section: "03 §5.3",
        readings: Readings::Fullest,
        ..LATER
    };
}
