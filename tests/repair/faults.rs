//! Every operation fails once, and every operation from some point on fails for ever: no source is lost or altered, the failure
//! is told, and the next run ends where an undisturbed one does.

use super::scenes::{NOW, SCENES, Shape, nothing_is_harmed, run, shape};
use gjc_fsck::fsys::{Errno, Inject, Memory, Phase};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Fails(Errno),
    ShortWrite,
}

const FAULTS: [Fault; 7] = [
    Fault::Fails(Errno::IO),
    Fault::Fails(Errno::NOSPC),
    Fault::Fails(Errno::DQUOT),
    Fault::Fails(Errno::ACCESS),
    Fault::Fails(Errno::INTR),
    Fault::Fails(Errno::MFILE),
    Fault::ShortWrite,
];

/// A scene, and where an undisturbed run of it ends.
struct Ground {
    name: &'static str,
    before: Memory,
    end: Shape,
}

/// One disturbed run and the next one; whether the fault was met at all.
fn disturbed(scene: &Ground, fault: Fault, from: u64, sticky: bool) -> bool {
    let what = format!("{}: {fault:?} at operation {from}{}", scene.name, if sticky { " and ever after" } else { "" });
    let (before, memory) = (&scene.before, scene.before.fork());
    let met = |number: u64| if sticky { number >= from } else { number == from };
    let inject = Inject::changing(&memory, |call| match fault {
        Fault::Fails(errno) => (call.phase == Phase::Before && met(call.number)).then_some(errno),
        Fault::ShortWrite => None,
    });
    let inject = inject.with_short_writes(|call| fault == Fault::ShortWrite && met(call.number));
    let (plan, applied) = run(&inject, NOW, 12);
    let operations = inject.operations();
    nothing_is_harmed(&what, before, &memory);
    let whole = plan.scopes.iter().map(|scope| scope.sessions.len()).sum::<usize>();
    let all_copied = applied.copied() == whole && whole > 0;
    let told = applied.refusals().chain(&plan.unread).all(|refusal| !refusal.code.is_empty() && !refusal.detail.is_empty());
    let failure_told = applied.refusals().next().is_some() || !plan.unread.is_empty() || !plan.invalid.is_empty();
    assert!(told && (all_copied || failure_told), "{what}: a failure is hidden\n{plan:#?}\n{applied:#?}");
    run(&memory, NOW + 60_001, 13);
    nothing_is_harmed(&what, before, &memory);
    let ended = shape(&memory);
    let differing: Vec<_> = scene.end.keys().filter(|path| ended.get(*path) != scene.end.get(*path)).collect();
    let more: Vec<_> = ended.keys().filter(|path| !scene.end.contains_key(*path)).collect();
    assert!(ended == scene.end, "{what}: the next run ends elsewhere: {differing:?} {more:?}\n{plan:#?}\n{applied:#?}");
    operations > from
}

/// Each operation fails with one of the faults, once or for ever. `GJC_FSCK_ALL_FAULTS` names a scene in which each operation
/// fails with each of them, once and for ever (some minutes).
#[test]
fn whatever_fails_is_told_and_mended_by_the_next_run() {
    let only = std::env::var("GJC_FSCK_ALL_FAULTS").ok();
    let all = only.is_some();
    let scenes: Vec<Ground> = SCENES
        .iter()
        .filter(|scene| only.as_ref().map_or(OF_FAULTS.contains(&scene.name), |only| only == scene.name))
        .map(|scene| {
            let (before, end) = ((scene.build)(), (scene.build)());
            run(&end, NOW, 12);
            Ground { name: scene.name, before, end: shape(&end) }
        })
        .collect();
    let runs = AtomicU64::new(0);
    let kinds = FAULTS.len() as u64;
    let stride = if all { 1 } else { 2 * kinds };
    let series: Vec<(&Ground, u64, bool)> =
        scenes.iter().flat_map(|scene| (0..kinds).flat_map(move |kind| [false, true].map(move |sticky| (scene, kind, sticky)))).collect();
    series.into_par_iter().for_each(|(scene, kind, sticky)| {
        let fault = FAULTS[kind as usize];
        // Every operation is met by one fault, either once or for ever.
        let first = match (all, sticky) {
            (true, _) => 0,
            (false, false) => 2 * kind,
            (false, true) => 2 * kind + 1,
        };
        for from in (first..).step_by(stride as usize) {
            runs.fetch_add(1, Ordering::Relaxed);
            if !disturbed(scene, fault, from, sticky) {
                break;
            }
        }
    });
    println!("{} disturbed runs", runs.load(Ordering::Relaxed));
    assert!(runs.into_inner() > 1000);
}

const OF_FAULTS: [&str; 1] = ["interrupted: artifacts detached"];
