//! Two repairs at once, a repair beside a holder of the lock, and a repair that is killed.

use super::common::{Clock, ground, quick, snapshot};
use super::scenes::{LEGACY, NOW, SCENES, nothing_is_harmed, resolved, run, shape, source};
use super::tree::{Tree, now_ms, real_world};
use gjc_fsck::agent::candidates::{self, State};
use gjc_fsck::agent::lock::{self, LEASE_MS, Lock};
use gjc_fsck::agent::predict;
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::{Inject, Memory, Phase, Real};
use gjc_fsck::repair::apply::{Applied, repair};
use gjc_fsck::repair::plan::{Wanted, Wish};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Before every third operation of one repair a second one runs from beginning to end: one of them copies the session, never both.
/// Whoever planned to and was too late answers `migration_busy`; whoever plans when all is done has nothing to do.
#[test]
fn of_two_repairs_at_once_one_copies() {
    let scene = SCENES.iter().find(|scene| scene.name == "with artifacts").unwrap();
    let before = (scene.build)();
    let end = (scene.build)();
    run(&end, NOW, 12);
    let operations = {
        let memory = (scene.build)();
        let inject = Inject::changing(&memory, |_| None);
        run(&inject, NOW, 12);
        inject.operations()
    };
    let (mut busy, mut first, mut second) = (0, 0, 0);
    for at in (0..operations).step_by(3) {
        let memory = (scene.build)();
        let other = Mutex::new(None);
        let inject = Inject::changing(&memory, |call| {
            if call.phase == Phase::Before && call.number == at {
                *other.lock().unwrap() = Some(run(&memory, NOW, 99));
            }
            None
        });
        let (_, own) = run(&inject, NOW, 12);
        drop(inject);
        let (planned, other) = other.into_inner().unwrap().unwrap();
        let what = format!("a second repair before operation {at}");
        let refused = |applied: &Applied| applied.refusals().map(|refusal| refusal.code.clone()).collect::<Vec<_>>();
        nothing_is_harmed(&what, &before, &memory);
        assert_eq!(own.copied() + other.copied(), 1, "{what}: {own:#?}\n{other:#?}");
        let (loser, had_a_plan) = if own.copied() == 1 { (&other, !planned.scopes.is_empty()) } else { (&own, !own.sessions.is_empty()) };
        assert_eq!(refused(loser), if had_a_plan { vec!["migration_busy"] } else { vec![] }, "{what}: {loser:#?}");
        busy += usize::from(had_a_plan);
        first += own.copied();
        second += other.copied();
        run(&memory, NOW + LEASE_MS + 1, 13);
        assert_eq!(shape(&memory), shape(&end), "{what}: {own:#?}\n{other:#?}");
    }
    println!("{} moments: {busy} busy, {first} copied by the first, {second} by the second", operations.div_ceil(3));
    assert!(busy > 50 && first > 50 && second > 5, "{busy} {first} {second}");
}

/// Before every seventh operation of a repair somebody changes the source: the copy that stands afterwards is one of the states that the
/// source had as a whole, and what is left alone leaves nothing behind under its own name.
#[test]
fn a_source_that_changes_is_never_copied_half() {
    type Change = fn(&Memory);
    let transcript = || PathBuf::from(format!("{LEGACY}/{}", clean::name("s1")));
    let changes: [(&str, Change); 3] = [
        ("the transcript grows", |fs| fs.append(format!("{LEGACY}/{}", clean::name("s1")), clean::label("more").as_bytes())),
        ("an artifact grows", |fs| fs.append(format!("{LEGACY}/2026-01-01T00-00-00-000Z_s1/sub/1.read.md"), b"more")),
        ("an artifact appears", |fs| fs.file(format!("{LEGACY}/2026-01-01T00-00-00-000Z_s1/new"), b"new")),
    ];
    let scene = SCENES.iter().find(|scene| scene.name == "with artifacts").unwrap();
    let mut refused = std::collections::BTreeMap::<String, usize>::new();
    for (what, change) in changes {
        for at in (0..).step_by(7) {
            let memory = (scene.build)();
            let old = memory.content(transcript()).unwrap();
            let inject = Inject::changing(&memory, |call| {
                if call.phase == Phase::Before && call.number == at {
                    change(&memory);
                }
                None
            });
            let (_, applied) = run(&inject, NOW, 12);
            let operations = inject.operations();
            drop(inject);
            let copy = memory.content(PathBuf::from(super::scenes::scope()).join(clean::name("s1")));
            for refusal in applied.refusals() {
                *refused.entry(refusal.code.clone()).or_default() += 1;
            }
            match copy {
                Some(copy) => {
                    assert_eq!(applied.copied(), 1, "{what} before operation {at}: a copy of a refused session stays {applied:#?}");
                    assert!(copy == old || Some(copy) == memory.content(transcript()), "{what} before operation {at}");
                }
                None => assert_eq!(applied.copied(), 0, "{what} before operation {at}"),
            }
            if at >= operations {
                break;
            }
        }
    }
    println!("refused {refused:?}");
    // `durability_failed` where only the receipt's last matching sees it, as gjc answers there.
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["durability_failed", "source_changed"]);
    assert!(refused["source_changed"] > 100, "{refused:?}");
}

/// The scope is listed before the first session and looked at again under the lock of each: whoever made a session of the same id
/// meanwhile keeps it.
#[test]
fn a_session_that_appears_meanwhile_is_not_doubled() {
    let scene = SCENES.iter().find(|scene| scene.name == "two sessions").unwrap();
    let memory = (scene.build)();
    let other = PathBuf::from(super::scenes::scope()).join("2026-02-02T00-00-00-000Z_s2.jsonl");
    let copied = PathBuf::from(super::scenes::scope()).join(clean::name("s1"));
    let appeared = AtomicBool::new(false);
    let inject = Inject::changing(&memory, |_| {
        // The first session is copied, the second one's turn has not come.
        if memory.content(&copied).is_some() && !appeared.swap(true, Ordering::SeqCst) {
            memory.file(&other, clean::transcript("s2", "/ws", "").as_bytes());
        }
        None
    });
    let (_, applied) = run(&inject, NOW, 12);
    let answers: Vec<Option<&str>> =
        applied.sessions.iter().map(|session| session.refused.as_ref().map(|refusal| refusal.code.as_str())).collect();
    assert_eq!(answers, [None, Some("destination_conflict")], "{applied:#?}");
    assert!(memory.content(PathBuf::from(super::scenes::scope()).join(clean::name("s2"))).is_none());
}

#[test]
fn beside_a_live_holder_of_the_lock_a_repair_is_busy_and_writes_nothing_there() {
    let scene = SCENES.iter().find(|scene| scene.name == "interrupted: prepared").unwrap();
    let memory = (scene.build)();
    let operation = source(&memory).identity(&memory).unwrap().operation();
    let held = Lock {
        attempt_id: "47173f68-71c9-4058-8e21-0e199166ede8".into(),
        pid: 1.0,
        boot_id: None,
        process_start_id: "531d736f-57d1-489b-82eb-97c9d64a8e26".into(),
        created_at: NOW as f64,
        heartbeat_at: NOW as f64,
        lease_expires_at: (NOW + LEASE_MS) as f64,
        released: None,
    };
    memory.file(resolved(&memory).protocol("locks").join(format!("{operation}.lock")), &held.encode());
    let before = memory.snapshot();
    let (plan, applied) = run(&memory, NOW, 12);
    assert_eq!(plan.scopes[0].sessions[0].refused.as_ref().unwrap().code, "migration_busy");
    assert_eq!(applied.copied(), 0);
    assert_eq!(memory.snapshot(), before);
    // When the lease is over and the holder is gone, the lock is taken over.
    assert_eq!(run(&memory, NOW + LEASE_MS + 1, 12).1.copied(), 1);
    assert!(memory.content(format!("{LEGACY}/{}", clean::name("s1"))).is_some());
}

/// An agent directory with sessions of an old layout, some with artifacts.
pub fn legacy_tree(sessions: usize) -> Tree {
    let tree = Tree::new_in(&quick(), &["ws"], false);
    let workspace = tree.root.join("ws").to_string_lossy().into_owned();
    let directory = tree.root.join("agent/sessions").join(tree.expand("{{legacy:ws}}"));
    let make = |path: &PathBuf| {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
    };
    make(&directory);
    for n in 0..sessions {
        let id = format!("s{n}");
        let text = clean::transcript(&id, &workspace, "") + &clean::label(&"x".repeat(n * 100));
        std::fs::write(directory.join(clean::name(&id)), text).unwrap();
        if n % 2 == 0 {
            let artifacts = directory.join(clean::name(&id).strip_suffix(".jsonl").unwrap());
            make(&artifacts.join("sub"));
            std::fs::write(artifacts.join("0.bash.log"), vec![b'o'; 5000]).unwrap();
            std::fs::write(artifacts.join("sub/1.read.md"), "text").unwrap();
        }
    }
    tree
}

fn command(tree: &Tree) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gjc-fsck"));
    command.arg("repair").arg(tree.root.join("agent")).arg("--apply");
    command.env_clear().env("HOME", tree.root.join("home")).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Every session is migrated, and each copy has its source's bytes.
fn all_are_migrated(tree: &Tree, sessions: usize, what: &str) {
    let world = real_world(&tree.root, Release::default(), now_ms());
    let scope = predict::resolve(&world, &tree.root.join("ws")).unwrap();
    let listing = candidates::list(&world, &scope).unwrap();
    assert_eq!(listing.owned.len(), sessions, "{what}");
    for listed in &listing.owned {
        assert_eq!(listed.state, State::MigratedV2, "{what}: {}", listed.candidate.path.display());
        let source = listed.source.as_ref().unwrap();
        assert_eq!(std::fs::read(&listed.candidate.path).unwrap(), std::fs::read(source).unwrap(), "{what}");
    }
}

/// What one process says of each session: `copied`, or why it is left alone.
fn answers(output: &Output) -> BTreeMap<String, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {said}"));
    let sessions = value["sessions"].as_array().unwrap().iter();
    let answer = |session: &serde_json::Value| match &session["refused"]["code"] {
        serde_json::Value::String(code) => code.clone(),
        _ if session["proof"].is_object() => "copied".to_owned(),
        _ => panic!("{session}"),
    };
    sessions.map(|session| (session["sessionId"].as_str().unwrap().to_owned(), answer(session))).collect()
}

fn in_json(tree: &Tree) -> Command {
    let mut command = command(tree);
    command.args(["--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Of two processes that begin at the same moment each session is copied by one; the other says `migration_busy`, unless it looked
/// when the session was copied already.
#[test]
fn of_two_processes_at_once_one_copies_each_session() {
    const SESSIONS: usize = 12;
    let mut busy = 0;
    for round in 0..10 {
        let tree = legacy_tree(SESSIONS);
        let both = [in_json(&tree).spawn().unwrap(), in_json(&tree).spawn().unwrap()];
        let outputs = both.map(|child| child.wait_with_output().unwrap());
        let [one, other] = [&outputs[0], &outputs[1]].map(answers);
        for n in 0..SESSIONS {
            let id = format!("s{n}");
            let mut both: Vec<&str> = [&one, &other].into_iter().filter_map(|answers| answers.get(&id)).map(String::as_str).collect();
            both.sort_unstable();
            assert!(both == ["copied"] || both == ["copied", "migration_busy"], "round {round}, {id}: {one:#?}\n{other:#?}");
            busy += both.len() - 1;
        }
        for (output, answers) in outputs.iter().zip([&one, &other]) {
            let copied = i32::from(answers.values().any(|answer| answer == "copied"));
            let left = if answers.values().any(|answer| answer == "migration_busy") { 4 } else { 0 };
            assert_eq!(output.status.code(), Some(copied | left), "round {round}: {answers:#?}");
        }
        all_are_migrated(&tree, SESSIONS, &format!("round {round}"));
    }
    println!("10 rounds of {SESSIONS} sessions, {busy} times too late");
}

/// The state of a process: `T` when it is stopped, `Z` when it is over.
fn state_of(pid: rustix::process::Pid) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap()
}

/// A process that was stopped while it held a lock holds it still: another one leaves that session to it and copies the others.
#[test]
fn beside_a_process_that_holds_a_lock_another_one_is_busy() {
    const SESSIONS: usize = 40;
    let tree = legacy_tree(SESSIONS);
    let holder = in_json(&tree).spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&holder);
    let locks = tree.root.join("agent/sessions").join(tree.expand("v2-{{digest:ws}}")).join(".gjc-managed-session-internal/locks");
    let held = || {
        let names = std::fs::read_dir(&locks).into_iter().flatten().flatten();
        let records = names.filter_map(|entry| Some((entry.path(), lock::parse(&std::fs::read(entry.path()).ok()?)?)));
        records.filter(|(_, record)| record.released != Some(true)).map(|(path, _)| path).collect::<Vec<_>>()
    };
    // Stopped at whatever moment, until it is one at which it holds a lock.
    let lock = loop {
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        while state_of(pid) != 'T' {
            assert_ne!(state_of(pid), 'Z', "it was done before it could be stopped");
            std::thread::sleep(Duration::from_millis(1));
        }
        match held().pop() {
            Some(lock) => break lock,
            None => rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap(),
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let output = in_json(&tree).output().unwrap();
    let other = answers(&output);
    let busy: Vec<&String> = other.iter().filter(|(_, answer)| *answer == "migration_busy").map(|(id, _)| id).collect();
    assert_eq!(busy.len(), 1, "{other:#?}");
    assert!(other.values().all(|answer| answer == "copied" || answer == "migration_busy"), "{other:#?}");
    assert_eq!(output.status.code(), Some(if other.len() > 1 { 1 | 4 } else { 4 }));
    assert_eq!(held(), [lock], "the lock stays with its holder");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    let first = answers(&holder.wait_with_output().unwrap());
    // It goes on with that session, and is too late for the others.
    assert_eq!(first[busy[0]], "copied", "{first:#?}");
    for (id, answer) in &other {
        assert_eq!(first[id] == "copied", answer == "migration_busy", "{id}: {first:#?}\n{other:#?}");
        assert!(first[id] == "copied" || first[id] == "migration_busy", "{id}: {first:#?}");
    }
    all_are_migrated(&tree, SESSIONS, "both done");
}

#[test]
fn fifty_times_killed_and_fifty_times_finished() {
    const ROUNDS: u32 = 50;
    const SESSIONS: usize = 12;
    // How long a whole run takes here: the moments are spread over it. Nothing is asserted of time.
    let whole = {
        let tree = legacy_tree(SESSIONS);
        let begun = std::time::Instant::now();
        assert_eq!(command(&tree).status().unwrap().code(), Some(1));
        all_are_migrated(&tree, SESSIONS, "undisturbed");
        begun.elapsed()
    };
    let mut unfinished = 0;
    for round in 0..ROUNDS {
        let what = format!("killed in round {round}");
        let tree = legacy_tree(SESSIONS);
        let legacy = tree.root.join("agent/sessions").join(tree.expand("{{legacy:ws}}"));
        let before = snapshot(&legacy);
        let mut child = command(&tree).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(round) / f64::from(ROUNDS)).min(Duration::from_secs(2)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(snapshot(&legacy), before, "{what}");
        // Later than the lease: the killed process is gone, and its lock is taken over.
        let clock = Clock::new(now_ms() + LEASE_MS + 1, 4_000_001);
        let ground = ground(&Real, real_world(&tree.root, Release::default(), now_ms() + LEASE_MS + 1), &clock);
        let (_, applied) = repair(&ground, &Wanted::All, Wish::default(), &mut |_| {});
        unfinished += usize::from(applied.copied() > 0);
        assert_eq!(applied.refusals().count(), 0, "{what}: {applied:#?}");
        all_are_migrated(&tree, SESSIONS, &what);
        assert_eq!(snapshot(&legacy), before, "{what}");
    }
    println!("{ROUNDS} rounds, {unfinished} killed before the end");
    assert!(unfinished > 10, "{unfinished}");
}
