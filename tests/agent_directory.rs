//! The check of a whole agent directory on the real file system: every tree of `tests/vectors/trees` is built, checked and
//! compared; hostile trees; and the promise that checking changes nothing.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test reads its own files and tells what it found"
)]

#[path = "support/skipped.rs"]
mod skipped;
#[allow(dead_code, reason = "other suites use the rest of it")]
#[path = "support/tree.rs"]
mod tree;

use gjc_fsck::agent::layout::BINDING;
use gjc_fsck::agent::locate::Location;
use gjc_fsck::check::run::{Options, Run, Target, run};
use gjc_fsck::finding::{Finding, Release, Severity};
use gjc_fsck::fsys::{Inject, Real};
use rustix::fs::FileType;
use serde_json::Value;
use skipped::skipped;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tree::Tree;

fn options(jobs: usize) -> Options {
    tree::checking(Release::V0_15, jobs)
}

fn checked(path: &Path, jobs: usize) -> Run {
    run(vec![Target::Path(path.to_owned())], &options(jobs), &Real, &|_| {})
}

/// Everything that checking could leave behind in one object. Access times are left out: this test reads too.
#[derive(PartialEq, Debug)]
struct Facts {
    object: (u64, u64),
    mode: u32,
    links: u64,
    owner: u32,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    bytes: Vec<u8>,
}

fn snapshot(root: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut all = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        if meta.is_dir()
            && let Ok(entries) = std::fs::read_dir(&path)
        {
            pending.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let small = meta.is_file() && meta.size() < 1 << 20;
        let facts = Facts {
            object: (meta.dev(), meta.ino()),
            mode: meta.mode(),
            links: meta.nlink(),
            owner: meta.uid(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            bytes: if small { std::fs::read(&path).unwrap_or_default() } else { Vec::new() },
        };
        all.insert(path, facts);
    }
    all
}

fn cases() -> Vec<Value> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(tree::recorded()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).collect()
}

/// Codes that say that gjc does not resolve a scope, when they stand at the scope directory or at its binding.
const REFUSES_SCOPE: [&str; 14] = [
    "binding_invalid",
    "binding_conflict",
    "mode_mismatch",
    "owner_mismatch",
    "reparse_point",
    "hard_linked_protocol_file",
    "special_file",
    "object_unreadable",
    "acl_present",
    "acl_malformed",
    "acl_denied",
    "acl_io_error",
    "acl_unknown",
    "acl_verify_failed",
];

/// Whether the findings say that the scope of a workspace does not resolve.
fn refuses(findings: &[Finding], scope: &str) -> bool {
    let at = [format!("sessions/{scope}"), format!("sessions/{scope}/{BINDING}")];
    findings.iter().any(|f| {
        f.code.name == "sessions_root_unavailable"
            || (REFUSES_SCOPE.contains(&f.code.name) && at.iter().any(|path| **path == *f.place.path))
    })
}

/// What one recorded tree showed.
#[derive(Default)]
struct Seen {
    resolved: usize,
    refused: usize,
    listed: usize,
    wrong: Vec<String>,
}

/// For every recorded tree: the check ends, changes nothing, says the same with one thread and with four, agrees with
/// what gjc answered to `resolve`, and calls the healthy ones healthy.
#[test]
fn every_recorded_tree() {
    let cases = cases();
    // Threads of its own: a run inside another run's workers would wait on top of them.
    let next = AtomicUsize::new(0);
    let work = || std::iter::from_fn(|| cases.get(next.fetch_add(1, Ordering::Relaxed))).map(recorded_tree).collect::<Vec<_>>();
    let seen: Vec<Seen> = std::thread::scope(|threads| {
        let workers: Vec<_> = (0..4).map(|_| threads.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let wrong: Vec<&String> = seen.iter().flat_map(|seen| &seen.wrong).collect();
    wrong.iter().for_each(|line| println!("{line}"));
    let (resolved, refused) = seen.iter().fold((0, 0), |(a, b), seen| (a + seen.resolved, b + seen.refused));
    println!("resolved {resolved}, refused {refused}");
    let listed: usize = seen.iter().map(|seen| seen.listed).sum();
    println!("listed {listed}");
    assert!(listed > 100, "the recorded listings were compared");
    assert!(resolved > 90 && refused > 50, "the recorded answers were compared");
    assert_eq!(wrong.len(), 0);
}

fn recorded_tree(case: &Value) -> Seen {
    let mut seen = Seen::default();
    let name = case["name"].as_str().unwrap();
    let Ok(tree) = std::panic::catch_unwind(|| Tree::of_case(case)) else {
        assert!(case["requires"].is_array(), "{name}: the tree cannot be built");
        skipped(&format!("{name}: this file system has no POSIX ACLs"));
        return seen;
    };
    let agent = tree.root.join("agent");
    let own = |jobs| run(vec![Target::Agent(Location::explicit(agent.clone()))], &options(jobs), &Real, &|_| {});
    let before = snapshot(&tree.root);
    let (one, four) = (own(1), own(4));
    if before != snapshot(&tree.root) {
        seen.wrong.push(format!("{name}: the check changed the tree"));
    }
    if one.findings != four.findings || one.outcomes != four.outcomes {
        seen.wrong.push(format!("{name}: the number of threads shows"));
    }
    let (asks, expects) = (case["ask"].as_array().unwrap(), case["expect"].as_array().unwrap());
    for (ask, expect) in asks.iter().zip(expects) {
        if ask["op"] == "apply" || expect["changed"] == true {
            break;
        }
        // A relative cwd is what gjc's own current directory makes of it; a check has none.
        if ask["op"] == "list" && expect["kind"] == "complete" && name != "transcript-cwd-relative" {
            compare_listing(&tree, &one, expect, name, &mut seen);
        }
        let (true, Some(cwd)) = (ask["op"] == "resolve", ask["cwd"].as_str()) else { continue };
        // A cwd without identity has no scope that anything could be said of.
        if matches!(expect["code"].as_str(), Some("cwd_missing" | "cwd_not_directory" | "identity_unavailable")) {
            continue;
        }
        let scope = format!("v2-{}", tree.expand(&format!("{{{{digest:{cwd}}}}}")));
        let theirs = expect["kind"] == "error";
        if refuses(&one.findings, &scope) != theirs {
            seen.wrong.push(format!("{name}: gjc {expect}, the check says {:?}", said(&one)));
        }
        if theirs { seen.refused += 1 } else { seen.resolved += 1 }
    }
    // An absent agent directory is healthy for gjc, which makes it; there is nothing to check.
    let healthy = case["area"] == "healthy" && name != "healthy-agent-dir-absent";
    if healthy && one.findings.iter().any(|f| f.severity == Severity::Error) {
        seen.wrong.push(format!("{name} is healthy, the check says {:?}", said(&one)));
    }
    seen
}

/// Every session that gjc's listing owned has the state that it gave in the verdict `list`.
fn compare_listing(tree: &Tree, run: &Run, expect: &Value, name: &str, seen: &mut Seen) {
    for owned in expect["owned"].as_array().into_iter().flatten() {
        let path = tree.expand(owned["path"].as_str().unwrap());
        // The agent directory may be a link: what lies below it keeps its name.
        let path = path.find("sessions/").and_then(|at| path.get(at..)).unwrap();
        let outcome = run.outcomes.iter().find(|outcome| &*outcome.path == path);
        let answer = outcome.and_then(|outcome| outcome.verdicts.iter().find(|(reader, _)| *reader == "list")).map(|(_, answer)| &**answer);
        if answer != owned["state"].as_str() {
            seen.wrong.push(format!("{name}: {path} is {} for gjc, {answer:?} for the check", owned["state"]));
        }
        seen.listed += 1;
    }
}

fn said(run: &Run) -> Vec<String> {
    run.findings.iter().map(|f| format!("{} {}", f.code.name, f.place.path)).collect()
}

/// A folder that goes away, by its real path.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = std::fs::canonicalize(temp.path()).unwrap();
    (temp, path)
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// An agent directory with a legacy directory that can hold anything.
fn hostile() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let (temp, root) = folder();
    let sessions = root.join("agent/sessions/--x--");
    std::fs::create_dir_all(&sessions).unwrap();
    for directory in ["agent", "agent/sessions"] {
        mode(&root.join(directory), 0o700);
    }
    (temp, root.join("agent"), sessions)
}

fn special(path: &Path, kind: FileType) {
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RUSR, 0).unwrap();
}

#[test]
fn fifos_and_sockets_are_never_waited_for() {
    let (_temp, agent, sessions) = hostile();
    special(&sessions.join("a.jsonl"), FileType::Fifo);
    special(&sessions.join("b.jsonl"), FileType::Socket);
    std::fs::create_dir(sessions.join("c")).unwrap();
    special(&sessions.join("c/0.bash.log"), FileType::Fifo);
    special(&agent.join("blobs"), FileType::Fifo);
    let codes: Vec<&str> = checked(&agent, 2).findings.iter().map(|f| f.code.name).collect();
    let count = |name: &str| codes.iter().filter(|code| **code == name).count();
    assert_eq!((count("read_failed"), count("special_file")), (2, 2), "transcripts, and what stands beside them: {codes:?}");
}

#[test]
fn a_device_is_never_opened() {
    let (_temp, agent, sessions) = hostile();
    // The device of `/dev/zero`: whoever read it would never come to an end.
    let zero = rustix::fs::makedev(1, 5);
    let made = ["a.jsonl", "b.jsonl.spill.commit"]
        .map(|name| rustix::fs::mknodat(rustix::fs::CWD, sessions.join(name), FileType::CharacterDevice, rustix::fs::Mode::RUSR, zero));
    if made.iter().any(Result::is_err) {
        skipped("only root outside a container can make devices");
        return;
    }
    let said = said(&checked(&agent, 2));
    let count = |name: &str| said.iter().filter(|said| said.starts_with(name)).count();
    assert_eq!((count("read_failed"), count("special_file")), (1, 1), "{said:?}");
}

#[test]
fn hard_links_are_named_and_only_read() {
    let (_temp, agent, sessions) = hostile();
    std::fs::write(sessions.join("a.jsonl"), "").unwrap();
    std::fs::create_dir(sessions.join("a")).unwrap();
    std::fs::hard_link(sessions.join("a.jsonl"), sessions.join("a/0.bash.log")).unwrap();
    std::fs::hard_link(sessions.join("a.jsonl"), agent.with_file_name("outside")).unwrap();
    let said = said(&checked(&agent, 2));
    assert!(said.contains(&"hard_linked_transcript sessions/--x--/a.jsonl".to_owned()), "{said:?}");
    assert!(said.contains(&"unsafe_artifacts sessions/--x--/a/0.bash.log".to_owned()), "{said:?}");
}

/// Makes directories `d/d/…` below a directory, so many that no path names the last one.
fn dig(at: &Path, levels: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let mut directory = openat(rustix::fs::CWD, at, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&directory, "d", Mode::RWXU).unwrap();
        directory = openat(&directory, "d", flags, Mode::empty()).unwrap();
    }
}

/// Takes them away again from above, one at a time.
fn fill_in(at: &Path) {
    let (top, next) = (at.join("d"), at.join("next"));
    while std::fs::remove_dir(&top).is_err() {
        std::fs::rename(top.join("d"), &next).unwrap();
        std::fs::remove_dir(&top).unwrap();
        std::fs::rename(&next, &top).unwrap();
    }
}

#[test]
fn a_tree_of_4096_levels_ends_and_its_limit_is_named() {
    let (_temp, agent, sessions) = hostile();
    std::fs::write(sessions.join("a.jsonl"), "").unwrap();
    std::fs::create_dir(sessions.join("a")).unwrap();
    dig(&sessions.join("a"), 4_096);
    let run = checked(&agent, 2);
    fill_in(&sessions.join("a"));
    let said = said(&run);
    let named = |code: &str| said.iter().filter(|s| s.starts_with(&format!("{code} sessions/--x--/a/d"))).count();
    assert_eq!(named("check_incomplete"), 1, "the limit of the run: {said:?}");
    assert_eq!(named("unsafe_artifacts"), 1, "gjc's own limit: {said:?}");
    assert_eq!(run.outcomes.len(), 1);
}

/// What gjc would answer is predicted of hostile trees too: nothing hangs, nothing is misjudged for its neighbours.
#[test]
fn predictions_of_a_hostile_scope() {
    use gjc_fsck::agent::identity::{Identity, Platform};
    use gjc_fsck::agent::predict::{self, Policy};
    use gjc_fsck::corpus::clean;
    let (_temp, agent, _) = hostile();
    let workspace = agent.with_file_name("ws");
    std::fs::create_dir(&workspace).unwrap();
    let identity = Identity { platform: Platform::Posix, canonical_path: workspace.to_str().unwrap().to_owned() };
    let scope = agent.join("sessions").join(identity.directory_name());
    let (name, text) = (clean::name("s1"), clean::transcript("s1", workspace.to_str().unwrap(), ""));
    gjc_fsck::fsys::plant::plant(&scope, &clean::scope(&identity, [(name.as_str(), text.as_str())])).unwrap();
    special(&scope.join("fifo.jsonl"), FileType::Fifo);
    special(&scope.join("socket.jsonl"), FileType::Socket);
    std::fs::write(scope.join(OsString::from_vec(b"bad-\xff.jsonl".to_vec())), "").unwrap();
    for number in 0..2_000 {
        std::fs::write(scope.join(format!("n{number}")), "").unwrap();
    }
    let artifacts = scope.join(name.strip_suffix(".jsonl").unwrap());
    std::fs::create_dir(&artifacts).unwrap();
    dig(&artifacts, 500);

    let world = gjc_fsck::agent::world::World {
        fs: &Real,
        host: &gjc_fsck::fsys::host::ThisHost,
        now_ms: tree::now_ms(),
        uid: rustix::process::geteuid().as_raw(),
        release: Release::V0_15,
        current_dir: "/".into(),
        agent_dir: agent.clone(),
        sessions_root: agent.join("sessions"),
        around: gjc_fsck::agent::legacy::Surroundings::default(),
        context_budget: gjc_fsck::transcript::context::budget::DEFAULT,
        is_copy: false,
    };
    let resolved = predict::resolve(&world, &workspace).unwrap();
    let listing = predict::list(&world, &resolved).unwrap();
    let owned: Vec<String> = listing.owned.iter().map(|listed| listed.candidate.session_id.to_string()).collect();
    let opened = predict::open(&world, &resolved, &listing.owned[0].candidate, Policy::CopyRetain).map(|opened| opened.path);
    let deleted = predict::delete(&world, &resolved, &listing.owned[0].candidate).map(|_| ()).map_err(|refused| refused.code);
    let chain = gjc_fsck::agent::why::why(&world, "s1");
    fill_in(&artifacts);

    assert_eq!(owned, ["s1"]);
    assert_eq!(listing.invalid.len(), 3, "{:?}", listing.invalid);
    assert_eq!(opened.unwrap(), scope.join(&name));
    assert_eq!(deleted, Err("unsafe_artifacts"), "the artifact tree is deeper than gjc goes");
    assert!(chain.opens, "{chain:?}");
}

#[test]
fn links_at_every_component_lead_nowhere() {
    let (_temp, agent, sessions) = hostile();
    let secret = agent.with_file_name("secret");
    std::fs::create_dir_all(secret.join("--y--")).unwrap();
    std::fs::write(secret.join("t.jsonl"), "{ SECRET").unwrap();
    std::fs::write(secret.join("--y--/t.jsonl"), "{ SECRET").unwrap();
    let scope = "v2-5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq";
    symlink(secret.join("t.jsonl"), sessions.join("t.jsonl")).unwrap();
    symlink(&secret, sessions.join("artifacts")).unwrap();
    symlink(secret.join("--y--"), agent.join("sessions/--y--")).unwrap();
    symlink(&secret, agent.join("sessions").join(scope)).unwrap();
    symlink(&secret, agent.join("blobs")).unwrap();
    symlink(&secret, agent.join(".gjc-recovery")).unwrap();
    symlink("t.jsonl", sessions.join("loop.jsonl")).unwrap();
    let run = checked(&agent, 2);
    assert_eq!(run.outcomes.len(), 0, "nothing behind a link was read: {:?}", run.outcomes);
    let said = said(&run);
    for expected in [
        "symlinked_transcript sessions/--x--/t.jsonl".to_owned(),
        "symlinked_transcript sessions/--x--/loop.jsonl".to_owned(),
        format!("reparse_point sessions/{scope}"),
        "recovery_dir_invalid .gjc-recovery".to_owned(),
        "blob_foreign_entry blobs".to_owned(),
    ] {
        assert!(said.contains(&expected), "{expected} in {said:?}");
    }
    assert!(run.findings.iter().all(|f| !f.message.contains("SECRET")));

    std::fs::rename(agent.join("sessions"), agent.with_file_name("moved")).unwrap();
    symlink(agent.with_file_name("moved"), agent.join("sessions")).unwrap();
    let run = checked(&agent, 2);
    assert!(run.outcomes.is_empty() && self::said(&run).contains(&"sessions_root_unavailable sessions".to_owned()));
}

#[test]
fn names_and_depths_beyond_the_usual() {
    let (_temp, agent, sessions) = hostile();
    std::fs::write(sessions.join(OsString::from_vec(b"bad-\xff.jsonl".to_vec())), "").unwrap();
    std::fs::write(sessions.join("new\nline.jsonl"), "").unwrap();
    let mut deep = sessions.join("artifacts");
    for _ in 0..80 {
        deep.push("d");
    }
    std::fs::create_dir_all(&deep).unwrap();
    let run = checked(&agent, 2);
    let said = said(&run);
    assert!(said.contains(&"name_not_utf8 sessions/--x--/bad-\\xff.jsonl".to_owned()), "{said:?}");
    assert!(said.iter().any(|s| s.starts_with("check_incomplete")), "the depth limit is named: {said:?}");
    assert_eq!(run.outcomes.len(), 2);
}

#[test]
fn a_sparse_file_of_a_terabyte_ends_at_once() {
    let (_temp, agent, sessions) = hostile();
    let file = std::fs::File::create(sessions.join("big.jsonl")).unwrap();
    if file.set_len(1 << 40).is_err() {
        skipped("this file system has no sparse files of a terabyte");
        return;
    }
    let reads = AtomicUsize::new(0);
    let watching = Inject::new(&Real, |call| {
        if call.op == "read" && call.path.ends_with("big.jsonl") {
            reads.fetch_add(1, Ordering::Relaxed);
        }
        None
    });
    let run = run(vec![Target::Path(agent)], &options(2), &watching, &|_| {});
    assert!(said(&run).contains(&"oversized sessions/--x--/big.jsonl".to_owned()));
    // The listing looks at the header; each read is told of before and after.
    let reads = reads.load(Ordering::Relaxed);
    assert!(reads <= 8, "the content was not read: {reads} reads");
}

#[test]
fn unreadable_objects_are_named_and_the_rest_is_checked() {
    let (_temp, agent, sessions) = hostile();
    std::fs::write(sessions.join("good.jsonl"), "").unwrap();
    std::fs::write(sessions.join("closed.jsonl"), "").unwrap();
    std::fs::create_dir(sessions.join("closed")).unwrap();
    mode(&sessions.join("closed.jsonl"), 0);
    mode(&sessions.join("closed"), 0);
    if std::fs::File::open(sessions.join("closed.jsonl")).is_ok() {
        skipped("this user (root?) may read everything");
        return;
    }
    let run = checked(&agent, 2);
    mode(&sessions.join("closed"), 0o700);
    let said = said(&run);
    assert!(said.contains(&"read_failed sessions/--x--/closed.jsonl".to_owned()), "{said:?}");
    assert!(said.contains(&"object_unreadable sessions/--x--/closed".to_owned()), "{said:?}");
    assert_eq!(run.outcomes.len(), 2);
}

#[test]
fn a_real_acl_is_present() {
    let (_temp, agent, _) = hostile();
    let acl = data_encoding::BASE64.decode(b"AgAAAAEABwD/////BAAAAP////8gAAAA/////w==").unwrap();
    // Base entries alone are stored as mode bits; a default ACL is kept as it is.
    if rustix::fs::setxattr(agent.join("sessions"), "system.posix_acl_default", &acl, rustix::fs::XattrFlags::empty()).is_err() {
        skipped("this file system has no POSIX ACLs");
        return;
    }
    let said = said(&checked(&agent, 1));
    assert_eq!(said.iter().filter(|s| *s == "agent_dir_mode_drift sessions").count(), 1, "{said:?}");
}

/// A second user is needed: only root can make files of others and run as somebody else.
fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skipped("only root can make objects of another user");
    }
    root
}

const NOBODY: u32 = 65534;

fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
}

#[test]
fn root_speaks_for_the_owner_of_the_agent_directory() {
    if !is_root() {
        return;
    }
    let (_temp, agent, sessions) = hostile();
    let scope = agent.join("sessions/v2-5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq");
    std::fs::create_dir(&scope).unwrap();
    mode(&scope, 0o700);
    std::fs::write(scope.join("a.jsonl"), "").unwrap();
    mode(&scope.join("a.jsonl"), 0o600);
    for path in [&agent, &agent.join("sessions"), &sessions, &scope] {
        give_away(path);
    }
    let owners = |run: &Run| said(run).into_iter().filter(|s| s.starts_with("owner_mismatch")).collect::<Vec<_>>();
    let run = checked(&agent, 1);
    assert_eq!(run.speaks_for.map(|(uid, _)| uid), Some(NOBODY));
    let transcript = format!("owner_mismatch {}/a.jsonl", scope.strip_prefix(&agent).unwrap().display());
    assert_eq!(owners(&run), [transcript], "root's own file in the scope of another user");
    let asked = Options { as_uid: Some(0), ..options(1) };
    let run = gjc_fsck::check::run(vec![Target::Path(agent)], &asked, &Real, &|_| {});
    assert_eq!(owners(&run).len(), 3, "{:?}", owners(&run));
}

#[test]
fn another_user_meets_what_is_closed_to_him() {
    use std::os::unix::process::CommandExt;
    if !is_root() {
        return;
    }
    let (temp, agent, sessions) = hostile();
    let program = temp.path().join("gjc-fsck");
    std::fs::copy(env!("CARGO_BIN_EXE_gjc-fsck"), &program).unwrap();
    for path in [temp.path(), &program] {
        mode(path, 0o755);
    }
    let good = "{\"type\":\"session\",\"version\":5,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n";
    std::fs::write(sessions.join("2026-01-01T00-00-00-000Z_s.jsonl"), good).unwrap();
    std::fs::write(sessions.join("closed.jsonl"), good).unwrap();
    std::fs::create_dir(sessions.join("closed")).unwrap();
    for path in [&agent, &agent.join("sessions"), &sessions] {
        give_away(path);
    }
    mode(&sessions.join("closed.jsonl"), 0o600);
    mode(&sessions.join("closed"), 0o700);
    let output = std::process::Command::new(&program)
        .args(["--format", "concise"])
        .arg(&agent)
        .env_clear()
        .current_dir(temp.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code().map(|bits| bits & 8), Some(8), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("sessions/--x--/closed: error[object_unreadable]"), "{text}");
    assert!(text.contains("sessions/--x--/closed.jsonl: error[read_failed]"), "{text}");
}
