//! The compact facts that a check keeps must answer as the whole values do: the fold is one, its two inputs are not.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    reason = "a test reads its own files; the support of the suites is shared"
)]

mod support;

use gjc_fsck::finding::Release;
use gjc_fsck::transcript::context::{Class, Values, build, classify};
use gjc_fsck::transcript::facts::Facts;
use gjc_fsck::transcript::load::{Loaded, Whole, load};
use gjc_fsck::transcript::migrate::{Numbered, migrate};
use gjc_fsck::transcript::tree::{Leaf, Tree};

/// Class and weight, or what is thrown.
type Answer = Result<(Class, Option<u64>, usize), String>;

fn from_values(input: &[u8], release: Release) -> Option<Answer> {
    let mut loaded = load(input, Whole, release).unwrap().ok().filter(|loaded| !loaded.entries.is_empty())?;
    let migrated = migrate(&mut loaded, &mut Numbered::default()).ok()?;
    let Loaded { entries, mut ids, .. } = loaded;
    let list = Values::migrated(&entries, &mut ids, &migrated);
    Some(classify(&list, release, Some(u64::MAX)).map_err(|throw| throw.to_string()).map(|class| {
        let context = build(&Tree::new(&list), Leaf::Last, release).unwrap();
        (class, context.weight(), context.messages.len())
    }))
}

fn from_facts(input: &[u8], release: Release) -> Option<Answer> {
    let mut loaded = load(input, Facts::new(release, true), release).unwrap().ok().filter(|loaded| !loaded.entries.is_empty())?;
    migrate(&mut loaded, &mut Numbered::default()).ok()?;
    Some(classify(&loaded, release, Some(u64::MAX)).map_err(|throw| throw.to_string()).map(|class| {
        let context = build(&Tree::new(&loaded), Leaf::Last, release).unwrap();
        (class, context.weight(), context.messages.len())
    }))
}

#[test]
fn every_recorded_input_has_one_class_and_one_weight() {
    let mut compared = 0;
    for suite in ["context", "load", "migrate", "n17"] {
        for case in support::cases(suite) {
            for release in [Release::V0_15, Release::V0_17] {
                let input = case.input();
                let (values, facts) = (from_values(&input, release), from_facts(&input, release));
                assert_eq!(facts, values, "{suite} {}", case.name());
                compared += usize::from(values.is_some());
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}
