//! A crash at every operation, with every state that a POSIX file system may leave of it: nothing is harmed, nothing blocks, and
//! running again ends where an uninterrupted run ends.

use super::common::in_all_threads;
use super::scenes::{NOW, SCENES, Scene, nothing_is_harmed, resolved, shape, source, world};
use gjc_fsck::agent::candidates::State;
use gjc_fsck::agent::predict::{self, Policy};
use gjc_fsck::fsys::{Inject, Memory, Phase};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Operations that change what is visible or what is durable.
pub const CHANGES: [&str; 11] =
    ["create", "mkdir", "rename", "link", "unlink", "rmdir", "chmod", "removexattr", "write", "truncate", "fsync"];

/// What one run of a scene may leave at a crash: each different tree once, with where it comes from; and how many operations
/// the run has.
fn crashes(scene: &Scene) -> (Vec<(String, Memory)>, u64) {
    let memory = (scene.build)();
    let found = Mutex::new((BTreeSet::new(), Vec::new()));
    let look = |what: &str| {
        for crash in memory.crashes() {
            let (seen, all) = &mut *found.lock().unwrap();
            if seen.insert(crash.left.fingerprint()) {
                all.push((format!("{}, {what}: {}", scene.name, crash.what), crash.left));
            }
        }
    };
    look("before the first operation");
    let inject = Inject::changing(&memory, |call| {
        // Between two operations that change nothing the trees are the same.
        if call.phase == Phase::After && CHANGES.contains(&call.op) {
            look(&format!("after operation {} ({} {})", call.number, call.op, call.path.display()));
        }
        None
    });
    scene.run(&inject, NOW, 12);
    let operations = inject.operations();
    drop(inject);
    (found.into_inner().unwrap().1, operations)
}

/// Where an uninterrupted run ends.
fn end_of(scene: &Scene) -> Memory {
    let memory = (scene.build)();
    scene.run(&memory, NOW, 12);
    memory
}

/// How long after the crash somebody comes back: the lease of a lock is over.
const LATER: u64 = 60_001;

#[test]
fn from_every_crash_the_next_run_ends_where_an_uninterrupted_one_does() {
    let (mut all_operations, mut all_states) = (0, 0);
    for scene in &SCENES {
        let before = (scene.build)();
        let end = shape(&end_of(scene));
        let (states, operations) = crashes(scene);
        let went_on = AtomicU64::new(0);
        in_all_threads(&states, |(what, left)| {
            nothing_is_harmed(what, &before, left);
            if scene.gjc_goes_on {
                gjc_goes_on(what, left);
                went_on.fetch_add(1, Ordering::Relaxed);
            }
            let (plan, applied) = scene.run(left, NOW + LATER, 13);
            assert_eq!(shape(left), end, "{what}: it ends elsewhere\n{plan:#?}\n{applied:#?}");
            nothing_is_harmed(what, &before, left);
        });
        println!("{}: {operations} operations, {} states", scene.name, states.len());
        assert!(operations > 0 && !states.is_empty());
        assert_eq!(went_on.into_inner(), if scene.gjc_goes_on { states.len() as u64 } else { 0 });
        all_operations += operations;
        all_states += states.len();
    }
    println!("crash points {all_operations}, different states {all_states}");
}

/// gjc itself, when the lease is over: it opens the session, by migrating it or because the copy stands.
fn gjc_goes_on(what: &str, left: &Memory) {
    let world = world(left, NOW + LATER);
    let scope = predict::resolve(&world, Path::new("/ws")).unwrap_or_else(|refused| panic!("{what}: {refused}"));
    let listing = predict::list(&world, &scope).unwrap();
    assert!(!listing.owned.is_empty(), "{what}");
    for listed in &listing.owned {
        let opened = predict::open(&world, &scope, &listed.candidate, Policy::CopyRetain);
        assert!(opened.is_ok(), "{what}: {}: {}", listed.candidate.path.display(), opened.unwrap_err());
    }
}

#[test]
fn an_uninterrupted_run_ends_migrated() {
    for scene in SCENES.iter().filter(|scene| scene.name != "conflict") {
        let end = end_of(scene);
        let world = world(&end, NOW);
        let listing = predict::list(&world, &resolved(&end)).unwrap();
        assert!(listing.owned.iter().all(|listed| listed.state == State::MigratedV2), "{}: {:?}", scene.name, listing.owned);
        assert!(!listing.owned.is_empty() && !listing.hidden.is_empty() && listing.stale.is_empty(), "{}", scene.name);
    }
}

/// The promise behind the states above: without the syncs that publish a file, a crash leaves a torn one under its own name.
#[test]
fn the_states_would_show_a_missing_sync() {
    use gjc_fsck::fsys::Change;
    let memory = (SCENES[0].build)();
    let path = source(&memory).path.with_file_name("new");
    memory.create(&path, 0o600).unwrap().write_all(&[b'x'; 700]).unwrap();
    let torn = memory.crashes().iter().filter(|crash| crash.left.content(&path).is_some_and(|bytes| bytes != [b'x'; 700])).count();
    assert_eq!(torn, 3, "empty, cut and zeros");
}
