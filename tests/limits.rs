//! The limits of this tool are those of the specification: sentences and rows of its chapters, with a hole wherever a limit
//! stands. `GJC_FSCK_SPEC` names the directory of the chapters; without it only the numbers here and the code are compared.
//!
//! A sentence that a chapter does not hold any more fails like a number that differs: nothing is left out silently.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::disallowed_methods, reason = "a test may")]

use gjc_fsck::agent::tombstone::ReplayBudget;
use gjc_fsck::agent::{artifacts, owner_evidence};
use gjc_fsck::check::quota::{self, MEASURES, Near};
use gjc_fsck::gc::List;
use gjc_fsck::gc::budget::{INVENTORY_AT_RISK, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_INSPECTED, MAX_RECEIPT_BYTES};
use gjc_fsck::gc::outcome::MAX_REASON_UNITS;
use gjc_fsck::gc::receipt::MAX_DEPTH;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What a chapter says, `{}` for each number; and for each number what it is in the code, with the gauges that have it for limit.
type Said = (&'static str, &'static str, &'static [(u64, &'static [&'static str])]);

const SAID: &[Said] = &[
    ("01-transcript", "| eager (strict) load | {} (128 MiB)", &[(128 << 20, &["transcript_bytes"])]),
    ("01-transcript", "| bounded (cold) load | {} (2 GiB + 1 MiB)", &[((2 << 30) + (1 << 20), &["bounded_transcript_bytes"])]),
    ("01-transcript", "| one line in the bounded readers, LF included | {} (8 MiB)", &[(8 << 20, &["longest_line"])]),
    ("01-transcript", "| managed per-file cap for append and rewrite | {} |", &[(128 << 20, &["transcript_bytes"])]),
    ("01-transcript", "| replayed context, see 9.9 | {} by default", &[(512 << 20, &["replayed_context"])]),
    ("01-transcript", "patch lines may total at most {} bytes", &[(8 << 20, &["patch_overlay_bytes"])]),
    ("01-transcript", "`context_too_large`. Budget {};", &[(512 << 20, &["replayed_context"])]),
    ("01a-observed-corrections", "header line > {} bytes (LF included)", &[(65_536, &["header_line"])]),
    ("02-managed-scopes", "then up to **{}** further entries of `sessionsRoot`", &[(256, &["legacy_directories"])]),
    ("02-managed-scopes", "capture at most the first {} bytes (4.5)", &[(65_536, &["header_line"])]),
    ("02-managed-scopes", "a directory at depth 33 is refused ({} is fine", &[(artifacts::MAX_DEPTH as u64, &["artifact_depth"])]),
    ("02-managed-scopes", "| entries (files + directories, root not counted) | {} |", &[(artifacts::MAX_ENTRIES, &["artifact_entries"])]),
    ("02-managed-scopes", "| size of one file | {} bytes (128 MiB) |", &[(artifacts::MAX_FILE_BYTES, &["artifact_file_bytes"])]),
    ("02-managed-scopes", "| total bytes | {} bytes (512 MiB) |", &[(artifacts::MAX_TOTAL_BYTES, &["artifact_bytes"])]),
    ("02-managed-scopes", "More than {} receipt names", &[(50_000, &["replacement_receipts"])]),
    (
        "02-managed-scopes",
        "Newest limits per replay: {} directory entries, {} receipts, {} per receipt, {} together, {} work units (1 per directory entry, \
         max(1, ceil(size / {})) per receipt)",
        &[
            (ReplayBudget::MAX_ENTRIES, &["tombstone_entries"]),
            (ReplayBudget::MAX_RECEIPTS, &[]),
            (ReplayBudget::MAX_RECEIPT_BYTES, &["largest_cleanup_record"]),
            (ReplayBudget::MAX_BYTES, &["cleanup_replay_bytes"]),
            (ReplayBudget::MAX_WORK, &["cleanup_replay_work"]),
            (ReplayBudget::UNIT, &[]),
        ],
    ),
    ("02-managed-scopes", "| total files over all three > {} |", &[(MAX_INSPECTED, &["protocol_entries"])]),
    ("03-gc-receipts", "Nesting deeper than {} or a cycle", &[(MAX_DEPTH as u64, &[])]),
    ("03-gc-receipts", "More than **{}** bytes (64 MiB) throws", &[(MAX_RECEIPT_BYTES, &[])]),
    (
        "03-gc-receipts",
        "`entries` array of 1 to **{}** entries (inclusive)",
        &[(owner_evidence::MAX_ENTRIES as u64, &["owner_tree_entries"])],
    ),
    (
        "03-gc-receipts",
        "a size walk refuses: depth > {}, more than {} entries below the root (also in 0.15.0), a file > {}, more than {} in all",
        &[
            (artifacts::MAX_DEPTH as u64, &["owner_tree_depth"]),
            (artifacts::MAX_ENTRIES, &[]),
            (artifacts::MAX_FILE_BYTES, &["owner_tree_file_bytes"]),
            (artifacts::MAX_TOTAL_BYTES, &["owner_tree_bytes"]),
        ],
    ),
    ("03-gc-receipts", "| `detachedPaths` | optional, 1–{} strings", &[(List::Detached.max() as u64, &[])]),
    ("03-gc-receipts", "| `nativeCodes` | optional, 1–{} strings", &[(List::NativeCodes.max() as u64, &["continuation_codes"])]),
    (
        "03-gc-receipts",
        "`retainedPlaceholderPaths`, `retainedUnknownPaths` | optional, each 1–{} **side paths**",
        &[(List::Unknown.max() as u64, &["continuation_paths"])],
    ),
    ("03-gc-receipts", "| `windowsErrorCodes` | optional, 1–{} strings", &[(List::WindowsCodes.max() as u64, &["continuation_codes"])]),
    ("03-gc-receipts", "reason 1 to {} UTF-16 units", &[(MAX_REASON_UNITS as u64, &[])]),
    (
        "03-gc-receipts",
        "more than {} scopes, or more than {} entries in all (root entries",
        &[(MAX_INSPECTED, &["protocol_scopes"]), (MAX_INSPECTED, &["owner_scan_entries"])],
    ),
    (
        "03-gc-receipts",
        "Constants: 64 MiB = {}; 512 MiB = {}; {}; {}; chunk {}.",
        &[(MAX_RECEIPT_BYTES, &[]), (MAX_HISTORY_BYTES, &[]), (MAX_ENTRIES, &[]), (ReplayBudget::MAX_WORK, &[]), (ReplayBudget::UNIT, &[])],
    ),
    ("03-gc-receipts", "| Q1 | candidate receipt, on publication | {} incl. LF |", &[(MAX_RECEIPT_BYTES, &["next_retirement_receipt"])]),
    ("03-gc-receipts", "| Q2 | stored receipt, on reading | {} |", &[(MAX_RECEIPT_BYTES, &["largest_retirement_receipt"])]),
    ("03-gc-receipts", "| Q3 | one transcript's history | {} distinct state files |", &[(MAX_ENTRIES, &["largest_retirement_states"])]),
    ("03-gc-receipts", "| Q4 | one transcript's history | {} |", &[(MAX_HISTORY_BYTES, &["largest_retirement_history"])]),
    ("03-gc-receipts", "| Q5 | one scope's receipts directory | {} |", &[(MAX_ENTRIES, &["retirement_entries"])]),
    ("03-gc-receipts", "| Q6 | projected append | Q5 count + {}, Q4 bytes + candidate |", &[(1, &[])]),
    ("03-gc-receipts", "| Q7 | cleanup replay | section 14.2 |", &[]),
    (
        "03-gc-receipts",
        "| Q8 | read-only inventory admission | {} work units and {} entry observations per invocation |",
        &[(100_000, &[]), (MAX_ENTRIES, &["receipts_inventory"])],
    ),
    (
        "03-gc-receipts",
        "| Q9 | protocol inspection | {} scopes per call; {} files over all scopes |",
        &[(MAX_INSPECTED, &["protocol_scopes"]), (MAX_INSPECTED, &["protocol_entries"])],
    ),
    (
        "03-gc-receipts",
        "eight files of exactly {} are admitted, a ninth byte is not; {} entries are readable, the {}st is refused",
        &[(MAX_RECEIPT_BYTES, &[]), (MAX_ENTRIES, &[]), (MAX_ENTRIES + 1, &[])],
    ),
    (
        "03-gc-receipts",
        "`floor(({} − stored) / next size)`, and at most `{} − entries of the scope`",
        &[(MAX_HISTORY_BYTES, &[]), (MAX_ENTRIES, &[])],
    ),
    ("03-gc-receipts", "refuse if {} entries were already admitted; charge 1 unit", &[(ReplayBudget::MAX_ENTRIES, &["tombstone_entries"])]),
    (
        "03-gc-receipts",
        "refuse if size > {}, if {} receipts were read, or if bytes so far + size > {}; charge max(1, ceil(size / {}))",
        &[
            (ReplayBudget::MAX_RECEIPT_BYTES, &["largest_cleanup_record"]),
            (ReplayBudget::MAX_RECEIPTS, &[]),
            (ReplayBudget::MAX_BYTES, &["cleanup_replay_bytes"]),
            (ReplayBudget::UNIT, &[]),
        ],
    ),
    ("03-gc-receipts", "A charge is refused when it would lift the total above {}.", &[(ReplayBudget::MAX_WORK, &["cleanup_replay_work"])]),
    ("03-gc-receipts", "report \"may exceed\" above {} retirement receipts", &[(INVENTORY_AT_RISK, &[])]),
    ("03-gc-receipts", "What is certain: above {} every consumer refuses", &[(MAX_ENTRIES, &["receipts_inventory"])]),
    (
        "03-gc-receipts",
        "A scope at or above 75 % of {} is reported as `session_scope` (`approaching_limit`, `over_limit` when strictly above; walk capped at \
         {} entries)",
        &[(512 << 20, &["scope_bytes"]), (200_000, &["scope_entries"])],
    ),
    (
        "04-discovery-and-operations",
        "at most {} directories and {} files; symlinks are skipped",
        &[(4_096, &["project_directories"]), (1_000, &["project_transcripts"])],
    ),
    ("04-discovery-and-operations", "more than 128 MiB and at most {} bytes", &[((2 << 30) + (1 << 20), &["bounded_transcript_bytes"])]),
];

/// From which share of a limit on there is a warning, where a chapter says so: the gauge, and the per cent in the hole.
const SHARES: &[(&str, &str, &[&str])] = &[
    (
        "03-gc-receipts",
        "| W | ≥ {} % of any of Q2–Q5",
        &["largest_retirement_receipt", "largest_retirement_states", "largest_retirement_history", "retirement_entries"],
    ),
    ("03-gc-receipts", "A scope at or above {} % of 512 MiB", &["scope_bytes"]),
    ("01-transcript", "`near_per_file_cap` | warning | size > {} % of 134,217,728", &["transcript_bytes"]),
];

/// The chapters by name, white space folded; none when nobody said where they are.
fn chapters() -> Option<BTreeMap<String, String>> {
    let directory = PathBuf::from(std::env::var_os("GJC_FSCK_SPEC")?);
    let names: BTreeSet<&str> = SAID.iter().map(|said| said.0).chain(SHARES.iter().map(|share| share.0)).collect();
    let read = |name: &str| std::fs::read_to_string(directory.join(format!("{name}.md"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    let fold = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(names.into_iter().map(|name| (name.to_owned(), fold(read(name)))).collect())
}

/// The numbers in the holes of every place where the chapter says this.
fn said(chapter: &str, sentence: &str) -> Vec<Vec<u64>> {
    let pattern = regex::escape(sentence).replace(r"\{\}", r"([0-9][0-9,]*[0-9]|[0-9])( [KMG]iB)?");
    let number = |digits: &str, unit: &str| {
        let shift = match unit {
            " KiB" => 10,
            " MiB" => 20,
            " GiB" => 30,
            _ => 0,
        };
        digits.replace(',', "").parse::<u64>().unwrap() << shift
    };
    let holes = Regex::new(&pattern).unwrap();
    let of = |found: regex::Captures<'_>| {
        let text = |at: usize| found.get(at).map_or("", |found| found.as_str());
        (1..found.len()).step_by(2).map(|at| number(text(at), text(at + 1))).collect()
    };
    holes.captures_iter(chapter).map(of).collect()
}

#[test]
fn every_gauge_has_the_limit_that_stands_here() {
    for (_, sentence, holes) in SAID {
        for (number, gauges) in *holes {
            for gauge in *gauges {
                assert_eq!(quota::measure(gauge).map(|measure| measure.limit), Some(*number), "{gauge}: {sentence}");
            }
        }
    }
    let named: BTreeSet<&str> = SAID.iter().flat_map(|said| said.2).flat_map(|hole| hole.1).copied().collect();
    let unnamed: Vec<&str> = MEASURES.iter().map(|measure| measure.name).filter(|name| !named.contains(name)).collect();
    assert_eq!(unnamed, [""; 0], "gauges whose limit no chapter is asked for");
}

#[test]
fn the_chapters_say_the_limits_that_stand_here() {
    let Some(chapters) = chapters() else {
        println!("GJC_FSCK_SPEC is not set: no chapter was read");
        return;
    };
    for (chapter, sentence, holes) in SAID {
        let found = said(&chapters[*chapter], sentence);
        let numbers: Vec<u64> = holes.iter().map(|hole| hole.0).collect();
        assert!(!found.is_empty(), "{chapter} does not say: {sentence}");
        assert!(found.iter().all(|found| *found == numbers), "{chapter}: {sentence}: {found:?}, and here {numbers:?}");
    }
    for (chapter, sentence, gauges) in SHARES {
        let found = said(&chapters[*chapter], sentence);
        for gauge in *gauges {
            let Some(Near::Percent(share)) = quota::measure(gauge).map(|measure| measure.near) else { panic!("{gauge}") };
            assert_eq!(found, [[share]], "{chapter}: {sentence}: {gauge}");
        }
    }
    // A budget that the chapter gets anew is one that nobody asked for here.
    let rows = Regex::new(r"\| (Q[0-9]+) \|").unwrap();
    let budgets: Vec<&str> = rows.captures_iter(&chapters["03-gc-receipts"]).map(|row| row.get(1).unwrap().as_str()).collect();
    let here: Vec<&str> = SAID.iter().flat_map(|said| rows.captures(said.1)).map(|row| row.get(1).unwrap().as_str()).collect();
    assert_eq!(budgets, here, "the rows of 03 §14");
    println!("{} sentences of {} chapters say the limits of this tool", SAID.len() + SHARES.len(), chapters.len());
}

#[test]
fn a_number_is_read_from_its_hole() {
    assert_eq!(said("above 64 MiB; above 50,000; above all", "above {}"), [[64 << 20], [50_000]]);
    assert_eq!(said("1 to 2, 3 to 4.", "{} to {}"), [[1, 2], [3, 4]]);
    assert!(said("above all", "above {}").is_empty());
}
