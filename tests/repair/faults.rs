//! Every operation fails, once and from then on for ever: no source is lost or altered, the failure is told, and the next run ends
//! where an undisturbed one does.
//!
//! Every operation of every scene is met by one of the failures once, and by another from then on; every write is short once, and
//! from then on; every change is once made although it fails. `GJC_FSCK_ALL_FAULTS=1` (which `.ci/run` sets) meets each operation with each of them, both ways: some minutes.

use super::common::in_all_threads;
use super::crash::CHANGES;
use super::scenes::{NOW, SCENES, Scene, Shape, nothing_is_harmed, shape};
use gjc_fsck::fsys::{Errno, Inject, Memory, Phase};
use std::collections::BTreeSet;
use std::sync::Mutex;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Fails(Errno),
    ShortWrite,
    /// The operation is done, and answers that it failed.
    DoneAllTheSame,
}

const FAILURES: [Errno; 6] = [Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::ACCESS, Errno::INTR, Errno::MFILE];

/// A scene, what an undisturbed run of it does, and where that ends.
struct Ground {
    scene: &'static Scene,
    before: Memory,
    /// What each operation is, by its number.
    operations: Vec<&'static str>,
    end: Shape,
    /// The trees that a disturbed run left and that are judged: what the next run does depends on nothing else.
    judged: Mutex<BTreeSet<u64>>,
}

impl Ground {
    fn new(scene: &'static Scene) -> Self {
        let (before, end) = ((scene.build)(), (scene.build)());
        let operations = Mutex::new(Vec::new());
        let inject = Inject::changing(&end, |call| {
            if call.phase == Phase::Before {
                operations.lock().unwrap().push(call.op);
            }
            None
        });
        scene.run(&inject, NOW, 12);
        drop(inject);
        let operations = operations.into_inner().unwrap();
        Ground { scene, before, operations, end: shape(&end), judged: Mutex::default() }
    }
    /// Every disturbance: a fault, the operation that it meets, and whether it goes on. A run is the undisturbed one up to that
    /// operation, so no fault meets one that the undisturbed run does not have. Where not each failure meets each operation,
    /// `turn` says whose turn it is at the first.
    fn disturbances(&self, each: bool, turn: usize) -> Vec<(Fault, u64, bool)> {
        let mut all = Vec::new();
        for (number, op) in self.operations.iter().enumerate() {
            if CHANGES.contains(op) {
                all.push((Fault::DoneAllTheSame, number as u64, false));
            }
            for sticky in [false, true] {
                let turn = (turn + number + usize::from(sticky) * FAILURES.len() / 2) % FAILURES.len();
                let failures = FAILURES.iter().enumerate().filter(|(at, _)| each || *at == turn).map(|(_, errno)| Fault::Fails(*errno));
                all.extend(failures.chain((*op == "write").then_some(Fault::ShortWrite)).map(|fault| (fault, number as u64, sticky)));
            }
        }
        all
    }
    /// One disturbed run and the next one.
    fn disturb(&self, fault: Fault, from: u64, sticky: bool) {
        let what = format!("{}: {fault:?} at operation {from}{}", self.scene.name, if sticky { " and ever after" } else { "" });
        let memory = self.before.fork();
        let met = |number: u64| if sticky { number >= from } else { number == from };
        let inject = Inject::changing(&memory, |call| match fault {
            Fault::Fails(errno) => (call.phase == Phase::Before && met(call.number)).then_some(errno),
            Fault::DoneAllTheSame => (call.phase == Phase::After && met(call.number)).then_some(Errno::IO),
            Fault::ShortWrite => None,
        });
        let inject = inject.with_short_writes(|call| fault == Fault::ShortWrite && met(call.number));
        let (plan, applied) = self.scene.run(&inject, NOW, 12);
        assert!(inject.operations() > from, "{what}: it was not met");
        drop(inject);
        let whole = plan.scopes.iter().map(|scope| scope.sessions.len()).sum::<usize>();
        let all_copied = applied.copied() == whole && whole > 0;
        let told = applied.refusals().chain(&plan.unread).all(|refusal| !refusal.code.is_empty() && !refusal.detail.is_empty());
        let failure_told = applied.refusals().next().is_some() || !plan.unread.is_empty() || !plan.invalid.is_empty();
        // A scene in which there is nothing to do may get through without an answer.
        let nothing_to_do = shape(&self.before) == self.end && whole == 0;
        assert!(told && (all_copied || failure_told || nothing_to_do), "{what}: a failure is hidden\n{plan:#?}\n{applied:#?}");
        if !self.judged.lock().unwrap().insert(memory.state()) {
            return;
        }
        nothing_is_harmed(&what, &self.before, &memory);
        self.scene.run(&memory, NOW + 60_001, 13);
        nothing_is_harmed(&what, &self.before, &memory);
        let ended = shape(&memory);
        let differing: Vec<_> = self.end.keys().filter(|path| ended.get(*path) != self.end.get(*path)).collect();
        let more: Vec<_> = ended.keys().filter(|path| !self.end.contains_key(*path)).collect();
        assert!(ended == self.end, "{what}: the next run ends elsewhere: {differing:?} {more:?}\n{plan:#?}\n{applied:#?}");
    }
}

#[test]
fn whatever_fails_is_told_and_mended_by_the_next_run() {
    let each = std::env::var_os("GJC_FSCK_ALL_FAULTS").is_some();
    let mut all = 0;
    for (turn, scene) in SCENES.iter().enumerate() {
        let ground = Ground::new(scene);
        let disturbances = ground.disturbances(each, turn);
        in_all_threads(&disturbances, |(fault, from, sticky)| ground.disturb(*fault, *from, *sticky));
        let judged = ground.judged.into_inner().unwrap().len();
        println!(
            "{}: {} operations, {} disturbed runs, {judged} different trees left",
            scene.name,
            ground.operations.len(),
            disturbances.len()
        );
        all += disturbances.len();
    }
    println!("{all} disturbed runs");
    assert!(all > 10_000, "{all}");
}
