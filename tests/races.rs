//! The tree changes under the reader: at every position between two calls of the file system, once each, a symlink is
//! swapped in, a file is removed, renamed, or grows. Nothing outside may be read, nothing may be blamed that was never wrong.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test builds its own trees")]

use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::predict::{self, Policy};
use gjc_fsck::agent::why::why;
use gjc_fsck::agent::world::World;
use gjc_fsck::check::run::{Options, Target, run};
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::host::Nowhere;
use gjc_fsck::fsys::plant::plant;
use gjc_fsck::fsys::{Fs, Inject, Memory, Phase};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const NAME: &str = "2026-01-01T00-00-00-000Z_s1.jsonl";

fn text(id: &str) -> String {
    clean::transcript(id, "/ws", "")
}
fn identity() -> Identity {
    Identity { platform: Platform::Posix, canonical_path: "/ws".into() }
}
fn scope() -> String {
    format!("/a/sessions/{}", identity().directory_name())
}
/// A clean scope, a legacy transcript, and a copy of the scope outside in which every session is called `secret`.
fn tree() -> Memory {
    let fs = Memory::new();
    fs.directory("/ws");
    for (scope, id) in [(scope(), "s1"), ("/secret".to_owned(), "secret")] {
        fs.plant(&scope, &clean::scope(&identity(), [(NAME, text(id).as_str())]));
        fs.file(format!("{scope}/2026-01-01T00-00-00-000Z_{id}/0.bash.log"), b"out");
    }
    fs.file("/a/sessions/--ws--/2026-01-01T00-00-00-000Z_s2.jsonl", text("s2").as_bytes());
    fs
}
fn world(fs: &dyn Fs) -> World<'_> {
    World::of_agent(fs, &Nowhere, Release::V0_17, 1000, "/a")
}

/// One change of the tree; the path is what the call that it comes before is about.
type Change = fn(&Memory, &Path);
const CHANGES: [(&str, Change); 6] = [
    ("the scope becomes a symlink", |fs, _| {
        fs.rename(scope(), "/moved");
        fs.symlink(scope(), "/secret");
    }),
    ("the transcript becomes a symlink", |fs, _| {
        fs.remove(format!("{}/{NAME}", scope()));
        fs.symlink(format!("{}/{NAME}", scope()), format!("/secret/{NAME}"));
    }),
    ("the transcript is removed", |fs, _| fs.remove(format!("{}/{NAME}", scope()))),
    ("the transcript is renamed", |fs, _| {
        fs.rename(format!("{}/{NAME}", scope()), format!("{}/2026-01-01T00-00-00-000Z_x.jsonl", scope()))
    }),
    ("the transcript grows", |fs, _| {
        fs.append(format!("{}/{NAME}", scope()), clean::label("x").as_bytes());
    }),
    ("the tombstones become a symlink", |fs, _| {
        let tombstones = format!("{}/.gjc-managed-session-internal/tombstones", scope());
        fs.remove(&tombstones);
        fs.symlink(&tombstones, "/secret/.gjc-managed-session-internal/tombstones");
    }),
];

/// Where the copy outside has what stands here; `/secret` itself for what it has not.
fn outside(path: &Path) -> PathBuf {
    Path::new("/secret").join(path.strip_prefix(scope()).unwrap_or(Path::new("")))
}
/// The same to whatever is looked at: no object is left out.
const OF_ANY_OBJECT: [(&str, Change); 4] = [
    ("the object is removed", |fs, path| fs.remove(path)),
    ("the object is renamed", |fs, path| fs.rename(path, "/renamed")),
    ("the object becomes a symlink", |fs, path| {
        // What the user named is followed wherever it leads.
        if path == Path::new("/a") {
            return;
        }
        fs.rename(path, "/swapped");
        fs.symlink(path, outside(path));
    }),
    ("the object grows", |fs, path| fs.append(path, b"\n{\"x\":1}\n")),
];

/// Runs `act` once for every position at which the change can happen, and hands over what each run gave.
fn at_every_position<T>(change: Change, act: impl Fn(&dyn Fs) -> T, mut judge: impl FnMut(u64, T)) {
    for position in 0.. {
        let fs = tree();
        let done = AtomicBool::new(false);
        let inject = Inject::new(&fs, |call| {
            if call.number == position && call.phase == Phase::Before && !done.swap(true, Ordering::SeqCst) {
                change(&fs, call.path);
            }
            None
        });
        let given = act(&inject);
        let reached = done.load(Ordering::SeqCst);
        judge(position, given);
        if !reached {
            return;
        }
        assert!(position < 5_000, "the number of calls is bounded");
    }
}

#[test]
fn predictions_never_read_outside_and_never_panic() {
    for (what, change) in CHANGES.into_iter().chain(OF_ANY_OBJECT) {
        let ask = |fs: &dyn Fs| {
            let world = world(fs);
            let mut said = String::new();
            if let Ok(scope) = predict::resolve(&world, Path::new("/ws"))
                && let Ok(listing) = predict::list(&world, &scope)
            {
                said += &format!("{:?}", listing.owned.iter().map(|listed| listed.candidate.session_id.to_string()).collect::<Vec<_>>());
                for listed in &listing.owned {
                    said += &format!("{:?}", predict::open(&world, &scope, &listed.candidate, Policy::CopyRetain));
                    said += &format!("{:?}", predict::delete(&world, &scope, &listed.candidate));
                }
            }
            said += &format!("{:?}", predict::prepare(&world, Path::new("/ws")).is_ok());
            said += &format!("{:?}", predict::reconcile(&world, Path::new("/ws")).is_ok());
            said
        };
        at_every_position(change, ask, |position, said| assert!(!said.contains("secret"), "{what} at {position}: {said}"));
    }
}

#[test]
fn why_never_follows_what_was_swapped_in() {
    for (what, change) in CHANGES.into_iter().chain(OF_ANY_OBJECT) {
        let ask = |fs: &dyn Fs| why(&world(fs), "s1");
        at_every_position(change, ask, |position, chain| {
            let said = format!("{:?}", chain.steps.iter().map(|step| &step.evidence).collect::<Vec<_>>());
            assert!(!said.contains("id `secret`"), "{what} at {position}: {said}");
        });
    }
}

fn options() -> Options {
    Options { jobs: Some(1), ..Options::new(Release::V0_17, 1000, 1_700_000_000_000_000_000) }
}
fn codes(fs: &dyn Fs) -> BTreeSet<&'static str> {
    let run = run(vec![Target::Path("/a".into())], &options(), fs, &|_| {});
    assert!(!run.outcomes.iter().any(|outcome| outcome.id.as_deref() == Some("secret")), "nothing outside was read");
    run.findings.iter().map(|finding| finding.code.name).collect()
}

/// A check that the tree moves under says what was true before or after, or that it moved.
#[test]
fn a_check_blames_nothing_that_was_never_wrong() {
    let moved = ["concurrent_change", "unstable"];
    for (what, change) in CHANGES {
        let before = codes(&tree());
        let after = {
            let fs = tree();
            change(&fs, Path::new(""));
            codes(&fs)
        };
        let mut wrong: Vec<String> = Vec::new();
        at_every_position(change, codes, |position, found| {
            let other: Vec<_> =
                found.iter().filter(|code| !before.contains(*code) && !after.contains(*code) && !moved.contains(code)).collect();
            if !other.is_empty() {
                wrong.push(format!("{position}: {other:?}"));
            }
        });
        assert!(wrong.is_empty(), "{what}\nbefore {before:?}\nafter {after:?}\n{}", wrong.join("\n"));
    }
}

/// Whatever is looked at may move: the check ends, reads nothing outside, and invents no session.
#[test]
fn a_check_reads_nothing_outside_whatever_moves() {
    for (what, change) in OF_ANY_OBJECT {
        at_every_position(change, codes, |position, found| assert!(found.len() < 50, "{what} at {position}: {found:?}"));
    }
}

/// The same on a real file system, against a thread that never stops moving things.
#[test]
fn two_hundred_real_rounds() {
    use gjc_fsck::fsys::Real;
    let root = tempfile::tempdir().unwrap();
    let root = gjc_fsck::fsys::Fs::realpath(&Real, root.path()).unwrap();
    let workspace = root.join("ws");
    let canonical = Identity { platform: Platform::Posix, canonical_path: workspace.to_string_lossy().into_owned() };
    let (agent, outside) = (root.join("agent"), root.join("outside"));
    let scope = agent.join("sessions").join(canonical.directory_name());
    write(&workspace.join("keep"), b"");
    for (directory, id) in [(&scope, "s1"), (&outside, "secret")] {
        let body = clean::transcript(id, &workspace.to_string_lossy(), "");
        plant(directory, &clean::scope(&canonical, [(NAME, body.as_str())])).unwrap();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap(&scope, &outside, &root.join("moved"));
            }
        });
        for round in 0..200 {
            let world = World {
                current_dir: root.clone(),
                agent_dir: agent.clone(),
                sessions_root: agent.join("sessions"),
                uid: u32::MAX,
                ..world(&Real)
            };
            let (all, _) = gjc_fsck::agent::candidates::list_all(&world);
            let ids: Vec<_> = all.iter().flat_map(|one| &one.listing.owned).map(|listed| listed.candidate.session_id.to_string()).collect();
            assert!(!ids.contains(&"secret".to_owned()), "round {round}");
            if round % 10 == 0 {
                let run = run(vec![Target::Path(agent.clone())], &options(), &Real, &|_| {});
                assert!(!run.outcomes.iter().any(|outcome| outcome.id.as_deref() == Some("secret")), "round {round}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[expect(clippy::disallowed_methods, reason = "a test builds its own trees")]
fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// The directory becomes a link to another one, and itself again.
#[expect(clippy::disallowed_methods, reason = "a test builds its own trees")]
fn swap(directory: &Path, outside: &Path, aside: &Path) {
    std::fs::rename(directory, aside).unwrap();
    std::os::unix::fs::symlink(outside, directory).unwrap();
    std::fs::remove_file(directory).unwrap();
    std::fs::rename(aside, directory).unwrap();
}
