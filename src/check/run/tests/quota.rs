//! What the whole check measures: every measure has a reading where its object stands, the warning begins where it should, and
//! what is above a limit has a reading too.

use super::managed::{cleanup, put_tombstone};
use super::retirement::{Retirement, owner, uncertain};
use super::*;
use crate::agent::tombstone::CleanupState;
use crate::check::quota::MEASURES;
use std::collections::BTreeMap;

/// What of each measure is used most, by name.
fn used(run: &Run) -> BTreeMap<&'static str, u64> {
    let mut most = BTreeMap::new();
    for gauge in &run.gauges {
        let used = most.entry(gauge.name).or_insert(gauge.used);
        *used = gauge.used.max(*used);
    }
    most
}
fn measured(tree: &Tree) -> BTreeMap<&'static str, u64> {
    used(&checked(&tree.fs, "/a", &options()))
}
fn artifacts(tree: &Tree) -> String {
    tree.at(NAME.trim_end_matches(".jsonl"))
}

/// A session with an owner that is being retired, a deletion under way, an artifact tree, a project, a legacy directory, a
/// replacement receipt, and a transcript that nothing opens.
#[test]
fn every_measure_is_read_in_some_directory() {
    let journal = Retirement::new().with(0);
    let mut outcome = uncertain(&journal.prepared.evidence);
    outcome.continuation.append(crate::gc::List::WindowsCodes, "0x00000005".into());
    outcome.continuation.append(crate::gc::List::Successors, "/a/sessions/.gjc-recovery/x".into());
    journal.store(&journal.pending(1, outcome));
    let tree = &journal.tree;
    let (_, identity) = put_tombstone(tree, |text| text);
    cleanup(tree, &identity, CleanupState::Pending, 1, |text| text);
    tree.fs.file(format!("{}/sub/0.bash.log", artifacts(tree)), b"output");
    tree.fs.file("/ws/.gjc/sessions/p.jsonl", b"");
    tree.fs.directory("/a/sessions/--old--");
    tree.fs.file(tree.at(".gjc-replace-receipt-pending-x.json"), b"{}");
    tree.fs.sparse(tree.at(&clean::name("s9")), crate::check::size::BOUNDED_CAP + 1);
    let run = checked(&tree.fs, "/a", &Options { weigh: true, ..options() });
    let used = used(&run);
    let unread: Vec<&str> = MEASURES.iter().map(|measure| measure.name).filter(|name| !used.contains_key(name)).collect();
    // It needs a transcript of more than 128 MiB: the pass over sizes has a test of it.
    assert_eq!(unread, ["patch_overlay_bytes"]);
    for (name, expected) in [
        ("bounded_transcript_bytes", 2_148_532_225),
        ("artifact_entries", 2),
        ("artifact_bytes", 6),
        ("artifact_file_bytes", 6),
        ("artifact_depth", 1),
        ("legacy_directories", 1),
        ("project_directories", 2),
        ("project_transcripts", 1),
        ("replacement_receipts", 1),
        ("continuation_codes", 1),
        ("continuation_paths", 1),
        ("largest_retirement_states", 3),
        ("retirement_entries", 3),
        ("receipts_inventory", 3),
        ("tombstone_entries", 2),
        ("cleanup_replay_work", 3),
        ("protocol_entries", 5),
        ("protocol_scopes", 1),
        ("owner_tree_entries", 3),
        ("owner_tree_depth", 0),
    ] {
        assert_eq!(used[name], expected, "{name}");
    }
    assert_eq!(used["largest_cleanup_record"], used["cleanup_replay_bytes"]);
    assert!(used["next_retirement_receipt"] > used["largest_retirement_receipt"] / 2);
}

#[test]
fn the_context_of_a_short_transcript_is_measured_when_it_is_asked_for() {
    let tree = Tree::new();
    assert_eq!(measured(&tree).get("replayed_context"), None);
    let budget = 1 << 20;
    let run = checked(&tree.fs, "/a", &Options { weigh: true, budget, ..options() });
    let [context] = run.gauges.iter().filter(|gauge| gauge.name == "replayed_context").collect::<Vec<_>>()[..] else { panic!("one") };
    assert_eq!(context.limit, budget);
    let with = |budget| found_in(&checked(&tree.fs, "/a", &Options { weigh: true, budget, ..options() }));
    let weight = context.used;
    // Nine tenths, rounded up.
    assert_eq!(with(weight * 10 / 9 + 1), NOTHING);
    assert_eq!(with(weight * 10 / 9), ["limit_near SCOPE/TRANSCRIPT"]);
    assert_eq!(with(weight), ["limit_near SCOPE/TRANSCRIPT"]);
    assert!(with(weight - 1).contains(&"context_too_large SCOPE/TRANSCRIPT".to_owned()));
}

#[test]
fn a_line_and_a_header_near_their_limits_are_told() {
    let others = |found: Vec<String>| found.into_iter().filter(|line| line.starts_with("limit_near")).collect::<Vec<_>>();
    let line = |bytes: usize| {
        let found = after(|tree| {
            let label = clean::label("");
            let text = clean::label(&"x".repeat(bytes - label.len()));
            assert_eq!(text.len(), bytes);
            tree.fs.append(tree.transcript(), text.as_bytes());
        });
        others(found)
    };
    assert_eq!(line(7_549_747), NOTHING);
    assert_eq!(line(7_549_748), ["limit_near SCOPE/TRANSCRIPT"]);
    let header = |bytes: usize| {
        after(|tree| {
            let plain = text("s1", ",\"title\":\"\"");
            let first = plain.lines().next().unwrap().len() + 1;
            tree.fs.remove(tree.transcript());
            tree.fs.file(tree.transcript(), text("s1", &format!(",\"title\":\"{}\"", "x".repeat(bytes - first))).as_bytes());
        })
    };
    assert_eq!(others(header(58_982)), NOTHING);
    assert_eq!(others(header(58_983)), ["limit_near SCOPE/TRANSCRIPT"]);
    assert_eq!(others(header(65_537)), NOTHING);
}

#[test]
fn directories_near_their_limits_are_told() {
    let receipts = |count: u32| {
        let found = after(|tree| (0..count).for_each(|n| tree.fs.file(tree.at(&format!(".gjc-replace-receipt-pending-{n}.json")), b"")));
        found.into_iter().filter(|line| !line.starts_with("managed_replace_cleanup_receipt_invalid")).collect::<Vec<_>>()
    };
    assert_eq!(receipts(44_999), NOTHING);
    assert_eq!(receipts(45_000), ["limit_near SCOPE"]);
    let legacy = |count: u32| after(|tree| (0..count).for_each(|n| tree.fs.directory(format!("/a/sessions/--{n}--"))));
    assert_eq!(legacy(230), NOTHING);
    assert_eq!(legacy(231), ["limit_near sessions"]);
    let directories = |count: u32| after(|tree| (1..count).for_each(|n| tree.fs.directory(format!("/ws/.gjc/{n}"))));
    assert_eq!(directories(3_686), NOTHING);
    assert_eq!(directories(3_687), ["limit_near /ws/.gjc"]);
    let files = |count: u32| after(|tree| (0..count).for_each(|n| tree.fs.file(format!("/ws/.gjc/{n}.jsonl"), b"")));
    assert_eq!(files(899), NOTHING);
    assert_eq!(files(900), ["limit_near /ws/.gjc"]);
}

#[test]
fn an_artifact_tree_near_and_above_its_limits_is_measured() {
    let with = |change: &dyn Fn(&Tree, String)| {
        let tree = Tree::new();
        change(&tree, artifacts(&tree));
        let run = checked(&tree.fs, "/a", &options());
        let codes: Vec<_> = run.findings.iter().map(|finding| finding.code.name).filter(|code| !code.starts_with("scope_")).collect();
        (used(&run), codes)
    };
    let deep = |levels: usize| with(&|tree, root| tree.fs.directory(format!("{root}{}", "/d".repeat(levels))));
    let (used, codes) = deep(28);
    assert_eq!((used["artifact_depth"], codes), (28, vec![]));
    let (used, codes) = deep(29);
    assert_eq!((used["artifact_depth"], codes), (29, vec!["limit_near"]));
    let (used, codes) = deep(33);
    assert_eq!((used["artifact_depth"], codes), (33, vec!["unsafe_artifacts"]));
    let file = |bytes: u64| with(&|tree, root| tree.fs.sparse(format!("{root}/0.bash.log"), bytes));
    let (used, codes) = file(120_795_955);
    assert_eq!((used["artifact_file_bytes"], codes), (120_795_955, vec![]));
    assert_eq!(file(120_795_956).1, ["limit_near"]);
    let (used, codes) = file((128 << 20) + 1);
    assert_eq!((used["artifact_file_bytes"], codes), ((128 << 20) + 1, vec!["unsafe_artifacts"]));
    let all = |more: u64| {
        with(&|tree, root| {
            (0..4).for_each(|n| tree.fs.sparse(format!("{root}/{n}.bash.log"), 112 << 20));
            tree.fs.sparse(format!("{root}/4.bash.log"), more);
        })
    };
    let (used, codes) = all(483_183_820 - 4 * (112 << 20));
    assert_eq!((used["artifact_bytes"], codes), (483_183_820, vec![]));
    assert_eq!(all(483_183_821 - 4 * (112 << 20)).1, ["limit_near"]);
    let (used, codes) = all((64 << 20) + 1);
    assert_eq!((used["artifact_bytes"], codes), ((512 << 20) + 1, vec!["artifact_capacity_exceeded"]));
}

#[test]
fn an_owner_near_the_limits_of_a_captured_tree_is_told() {
    let with = |change: &dyn Fn(&Retirement)| {
        let journal = Retirement::new();
        change(&journal);
        let all = found_in(&checked(&journal.tree.fs, "/a", &options()));
        all.into_iter().map(|line| line.replace(&owner().replace("/a/", ""), "OWNER")).collect::<Vec<_>>()
    };
    let file = |bytes| with(&|journal| journal.tree.fs.sparse(format!("{}/big", owner()), bytes));
    assert_eq!(file(120_795_955), NOTHING);
    assert_eq!(file(120_795_956), ["limit_near OWNER"]);
    let deep = |levels: usize| with(&|journal| journal.tree.fs.directory(format!("{}{}", owner(), "/d".repeat(levels))));
    assert_eq!(deep(28), NOTHING);
    assert_eq!(deep(29), ["limit_near OWNER"]);
    // The root, the manifest and the first artifact are there.
    let entries = |count: u64| with(&|journal| (3..count).for_each(|n| journal.tree.fs.file(format!("{}/{n}", owner()), b"")));
    assert_eq!(entries(44_999), NOTHING);
    assert_eq!(entries(45_000), ["limit_near OWNER"]);
}

#[test]
fn the_older_release_measures_nothing_of_retirement() {
    let journal = Retirement::new().with(1);
    let (_, identity) = put_tombstone(&journal.tree, |text| text);
    cleanup(&journal.tree, &identity, CleanupState::Pending, 1, |text| text);
    let run = checked(&journal.tree.fs, "/a", &Options { release: Release::V0_15, weigh: true, ..options() });
    let held = |name: &str| MEASURES.iter().any(|measure| measure.name == name && measure.holds_in(Release::V0_15));
    let names: Vec<&str> = used(&run).into_keys().collect();
    assert!(names.contains(&"scope_bytes") && names.contains(&"replayed_context"), "{names:?}");
    assert_eq!(names.into_iter().filter(|name| !held(name)).collect::<Vec<_>>(), [""; 0]);
}

/// Remnants count with the receipts of 0.15; of 0.17 they have no limit.
#[test]
fn scrubbed_remnants_fill_a_limit_of_the_older_release_alone() {
    let tree = Tree::new();
    tree.fs.file(tree.at(".gjc-receipt-remove-1-2-3-4"), b"");
    let of = |release| used(&checked(&tree.fs, "/a", &Options { release, ..options() })).get("replacement_receipts").copied();
    assert_eq!((of(Release::V0_15), of(Release::V0_17)), (Some(1), None));
}

#[test]
fn a_tombstone_that_is_too_large_for_this_tool_is_neither_damaged_nor_absent() {
    let tree = Tree::new();
    let (path, identity) = put_tombstone(&tree, |text| text);
    cleanup(&tree, &identity, CleanupState::Pending, 1, |text| text);
    tree.fs.remove(&path);
    tree.fs.sparse(&path, crate::agent::candidates::RECORD_CEILING + 1);
    assert_eq!(found(&tree), [format!("check_incomplete {}", path.replace(&tree.scope, "SCOPE"))]);
}

/// What breaks a rule before the budget ends is told as that, and the other way round.
#[test]
fn a_replay_ends_at_the_first_record_that_breaks_a_rule_or_does_not_fit() {
    let with = |broken: u64| {
        let tree = Tree::new();
        let (_, identity) = put_tombstone(&tree, |text| text);
        for attempt in 1..=9 {
            cleanup(&tree, &identity, CleanupState::Pending, attempt, |text| {
                let text = if attempt == broken { text.replace("\"attempt\"", "\"attemptt\"") } else { text };
                format!("{text}{}", " ".repeat((60 << 20) - text.len()))
            });
        }
        let all = found(&tree);
        all.into_iter()
            .filter_map(|line| Some(line.split_once(' ')?.0.to_owned()))
            .filter(|code| code.starts_with("managed_gc"))
            .collect::<Vec<_>>()
    };
    assert_eq!(with(0), ["managed_gc_journal_capacity_exceeded"]);
    assert_eq!(with(2), ["managed_gc_protocol_tombstone_history_invalid"]);
}
