//! What must hold of writing for every recorded input, and for inputs with damage: nothing changes twice, nothing panics.

use crate::damage::{SEEDS, config, damaged};
use crate::support::json;
use gjc_fsck::finding::Release;
use gjc_fsck::json::Value;
use gjc_fsck::transcript::blobs::{MemoryStore, NoStore};
use gjc_fsck::transcript::load::{Whole, load};
use gjc_fsck::transcript::migrate::{Seeded, migrate};
use gjc_fsck::transcript::persist::{Opened, Tally, next_write, open_for_writing, rewrite};
use proptest::prelude::*;

const RELEASES: [Release; 2] = [Release::V0_15, Release::V0_17];

fn open(input: &[u8], store: &mut MemoryStore, release: Release) -> Option<Opened> {
    open_for_writing(input.to_vec(), &mut Seeded::new(1), store, release).ok()
}

/// The entries that gjc loads, as text: what JSON text hides (-0, Infinity) is hidden on both sides.
fn loaded(input: &[u8], release: Release) -> Option<Vec<String>> {
    let mut loaded = load(input, Whole, release).unwrap().ok().filter(|loaded| !loaded.entries.is_empty())?;
    migrate(&mut loaded, &mut Seeded::new(1)).ok()?;
    Some(loaded.entries.iter().map(json).collect())
}

#[test]
fn what_was_rewritten_is_not_changed_by_the_next_rewrite() {
    let mut opened_some = 0;
    for (input, release) in SEEDS.suites.iter().flat_map(|input| RELEASES.map(|release| (input, release))) {
        let mut store = MemoryStore::default();
        let Some(mut opened) = open(input, &mut store, release) else { continue };
        opened_some += 1;
        opened.rewrite(&mut store);
        let once = opened.file().to_vec();
        let Some(mut again) = open(&once, &mut store, release) else {
            assert!(next_write(input, &store, release).unwrap().rewrite.refused_afterwards, "{}", String::from_utf8_lossy(&once));
            continue;
        };
        assert_eq!(again.file(), once, "opening changed {}", String::from_utf8_lossy(&once));
        again.rewrite(&mut store);
        assert_eq!(again.file(), once, "the second rewrite changed it");
        assert_eq!(open(&once, &mut store, release).map(|opened| opened.close(&mut store)), Some(once), "closing changed it");
    }
    assert!(opened_some > 1_000, "only {opened_some} inputs were opened");
}

#[test]
fn a_rewrite_keeps_what_was_loaded() {
    let mut kept = 0;
    for (input, release) in SEEDS.suites.iter().flat_map(|input| RELEASES.map(|release| (input, release))) {
        let mut store = MemoryStore::default();
        let Some(mut opened) = open(input, &mut store, release) else { continue };
        let sanitised = opened.file() != &input[..];
        opened.rewrite(&mut store);
        if !sanitised && *opened.tally() == Tally::default() {
            assert_eq!(loaded(opened.file(), release), loaded(input, release));
            kept += 1;
        }
    }
    assert!(kept > 1_000, "only {kept} inputs were kept");
}

#[test]
fn what_was_migrated_is_not_changed_by_migrating_again() {
    let mut migrated = 0;
    for (input, release) in SEEDS.suites.iter().flat_map(|input| RELEASES.map(|release| (input, release))) {
        let Some(entries) = loaded(input, release) else { continue };
        // Whether or not gjc would open it: only the one who reads leniently gets here.
        let once = entries.iter().map(|entry| format!("{entry}\n")).collect::<String>();
        assert_eq!(loaded(once.as_bytes(), release), Some(entries), "{once}");
        migrated += 1;
    }
    assert!(migrated > 2_000, "only {migrated} inputs were migrated");
}

#[test]
fn a_prediction_is_what_happens() {
    for (input, release) in SEEDS.suites.iter().flat_map(|input| RELEASES.map(|release| (input, release))) {
        let mut store = MemoryStore::default();
        let Some(mut opened) = open(input, &mut store, release) else { continue };
        let next = next_write(input, &MemoryStore::default(), release).expect("what is opened can be loaded");
        assert_eq!(
            next.rewritten_on_close,
            opened.rewrite_pending()
                || (next.sanitised_on_open > 0 && opened.file() != &input[..] && opened.file().len() as u64 == next.rewrite.bytes)
        );
        opened.rewrite(&mut store);
        assert_eq!(next.rewrite.bytes, opened.file().len() as u64);
        assert_eq!(next.rewrite.changes_nothing, opened.file() == &input[..]);
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn damage_never_makes_writing_panic(input in damaged()) {
        for release in RELEASES {
            let mut store = MemoryStore::default();
            if let Some(mut opened) = open(&input, &mut store, release) {
                opened.append(Value::Null, &mut store);
                opened.rewrite(&mut store);
            }
            let _ = next_write(&input, &NoStore, release);
            // The lenient way too, which refuses less.
            if let Ok(entries) = load(&input[..], Whole, release).unwrap() {
                let mut out = Vec::new();
                rewrite(entries.entries, &mut store, release, &mut Tally::default(), &mut out).unwrap();
                prop_assert!(out.is_empty() || out.ends_with(b"\n"));
            }
        }
    }
}
