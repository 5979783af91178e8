//! The suite `trees`: each case is materialised and asked; what gjc 0.15.0 answered must be predicted, up to and including
//! the first question that changed the tree. Where a case says what the newest release does, that is asked too.

use crate::tree::{Tree, now_ms, real_world, recorded};
use gjc_fsck::agent::candidates::{ListError, Listing};
use gjc_fsck::agent::predict::{self, Deleted, Policy, Refused};
use gjc_fsck::agent::world::{Scope, World};
use gjc_fsck::finding::Release;
use serde_json::{Map, Value, json};
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs every case in parallel, prints `trees passed/total`, and fails unless all hold.
pub fn run() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(recorded())
        .expect("the folder trees")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let only = std::env::var("GJC_FSCK_TREE").ok();
    paths.retain(|path| only.as_ref().is_none_or(|only| path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(only))));
    let (next, passed, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) * 2 {
            threads.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match catch_unwind(AssertUnwindSafe(|| case(path))) {
                        Ok(Ok(())) => _ = passed.fetch_add(1, Ordering::Relaxed),
                        Ok(Err(why)) => failures.lock().expect("unpoisoned").push(why),
                        Err(_) => failures.lock().expect("unpoisoned").push(format!("{}: panicked", path.display())),
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("unpoisoned");
    failures.sort();
    for failure in &failures {
        println!("{failure}");
    }
    let passed = passed.into_inner();
    println!("trees {passed}/{}", paths.len());
    assert!(!paths.is_empty(), "trees has no case");
    assert_eq!(passed, paths.len(), "trees: not every case holds");
}

fn case(path: &Path) -> Result<(), String> {
    let case: Value = serde_json::from_slice(&std::fs::read(path).expect("readable")).expect("a case is JSON");
    let name = case["name"].as_str().expect("a case has a name");
    if case["requires"].as_array().is_some_and(|needs| needs.iter().any(|need| need == "posix-acl")) && !has_acls() {
        println!("trees {name}: skipped, the file system has no POSIX ACLs");
        return Ok(());
    }
    let mut tree = Tree::of_case(&case);
    let (asks, expects) = (case["ask"].as_array().expect("ask"), case["expect"].as_array().expect("expect"));
    for (index, (ask, expect)) in asks.iter().zip(expects).enumerate() {
        if ask["op"] == "apply" {
            tree.apply(ask["nodes"].as_array().expect("apply has nodes"));
            continue;
        }
        let got = answer(&tree, ask, Release::V0_15);
        let want = expanded(&tree, expect);
        compare(&want, &got, false).map_err(|why| format!("{name} [{index}] {}: {why}", ask["op"]))?;
        if expect["changed"] == true {
            break;
        }
    }
    for newest in case["newestSet"].as_array().into_iter().flatten() {
        let index = newest["ask"].as_u64().expect("an index") as usize;
        let got = answer(&tree, &asks[index], Release::V0_17);
        let want = expanded(&tree, &newest["set"]);
        compare(&want, &got, true).map_err(|why| format!("{name} [{index}] newest: {why}"))?;
    }
    Ok(())
}

fn has_acls() -> bool {
    // An ACL with only the three base entries is always accepted where ACLs exist.
    let directory = tempfile::tempdir().expect("a temp directory");
    let acl = data_encoding::BASE64.decode(b"AgAAAAEABwD/////BAAAAP////8gAAAA/////w==").expect("Base64");
    rustix::fs::setxattr(directory.path(), "system.posix_acl_access", &acl, rustix::fs::XattrFlags::empty()).is_ok()
}

/// The world that the implementation under test is configured with.
pub fn world(tree: &Tree, release: Release) -> World<'static> {
    real_world(&tree.root, release, now_ms())
}

/// What the implementation under test answers.
pub fn answer(tree: &Tree, ask: &Value, release: Release) -> Value {
    let world = world(tree, release);
    let below = |path: &Path| {
        let relative = path.strip_prefix(&tree.root).unwrap_or(path).to_string_lossy().into_owned();
        if relative.is_empty() { ".".to_owned() } else { relative }
    };
    let cwd = match (ask["rawCwd"].as_str(), ask["cwd"].as_str()) {
        (Some(raw), _) => PathBuf::from(raw),
        // Text, not a path: `ws/a/` and `ws/b/../a` are given as they are.
        (None, Some(cwd)) => PathBuf::from(format!("{}/{cwd}", tree.root.display())),
        (None, None) => tree.root.clone(),
    };
    let path = ask["path"].as_str().map(|path| tree.root.join(tree.expand(path)));
    match ask["op"].as_str().expect("an op") {
        "resolve" => match predict::resolve(&world, &cwd) {
            Ok(scope) => json!({
                "kind": "resolved",
                "scope": below(&scope.directory),
                "workspace": below(Path::new(&scope.identity.canonical_path)),
            }),
            Err(refused) => refusal(&refused, false),
        },
        "list" => match listing(&world, &cwd) {
            Ok((_, Ok(listing))) => json!({
                "kind": "complete",
                "foreign": listing.foreign.len(),
                "invalid": listing.invalid.iter().map(|invalid| invalid.code).collect::<Vec<_>>(),
                "owned": listing.owned.iter().map(|listed| json!({
                    "path": below(&listed.candidate.path),
                    "sessionId": listed.candidate.session_id.to_string(),
                    "provenance": listed.candidate.provenance.word(),
                    "state": listed.state.word(),
                })).collect::<Vec<_>>(),
            }),
            Ok((_, Err(error))) => json!({ "kind": "error", "code": error.code() }),
            Err(refused) => refusal(&refused, true),
        },
        "picker" => json!({
            "sessions": predict::picker(&world, &cwd).sessions.into_iter().map(|session| {
                let mut shown = Map::new();
                shown.insert("path".into(), below(&session.path).into());
                shown.insert("id".into(), session.info.id.to_string().into());
                if let Some(title) = session.info.title {
                    shown.insert("title".into(), title.to_string().into());
                }
                shown.insert("messages".into(), session.info.message_count.into());
                Value::Object(shown)
            }).collect::<Vec<_>>(),
        }),
        "inspect" => match predict::inspect(&world, &path.expect("inspect has a path")) {
            Ok(found) => json!({ "kind": found.kind, "path": below(&found.path), "sessionId": found.session_id.to_string() }),
            Err(reason) => json!({ "kind": "error", "reason": reason }),
        },
        "prepare" => match predict::prepare(&world, &cwd) {
            Ok(_) => json!({ "kind": "resolved" }),
            Err(refused) => refusal(&refused, true),
        },
        "reconcile" => match predict::reconcile(&world, &cwd) {
            Ok(_) => json!({ "kind": "resolved" }),
            Err(refused) => refusal(&refused, true),
        },
        op @ ("open" | "delete") => {
            let (scope, listing) = match listing(&world, &cwd) {
                Ok((scope, Ok(listing))) => (scope, listing),
                Ok((_, Err(error))) => return json!({ "kind": "list_error", "code": error.code() }),
                Err(refused) => return refusal(&refused, true),
            };
            let forced = (ask["force"] == true).then(|| predict::candidate_at(&world, &scope, path.as_ref().expect("force has a path")));
            let forced = forced.flatten();
            let session = ask["session"].as_str().unwrap_or_default();
            let Some(candidate) = forced.as_ref().or_else(|| predict::pick(&listing, session, path.as_deref())) else {
                return json!({ "kind": "not_listed" });
            };
            if op == "open" {
                let policy = if ask["policy"] == "disabled" { Policy::Disabled } else { Policy::CopyRetain };
                return match predict::open(&world, &scope, candidate, policy) {
                    Ok(opened) => json!({ "kind": "opened", "path": below(&opened.path), "migrated": opened.migrated }),
                    Err(refused) => json!({ "kind": "error", "code": refused.code, "detail": refused.detail }),
                };
            }
            match predict::delete(&world, &scope, candidate) {
                Ok(Deleted::Deleted { tombstone }) => json!({ "kind": "deleted", "tombstone": below(&tombstone) }),
                Ok(Deleted::AlreadyDeleted { tombstone }) => json!({ "kind": "already_deleted", "tombstone": below(&tombstone) }),
                Err(refused) => json!({ "kind": "error", "code": refused.code, "detail": refused.detail }),
            }
        }
        "tree" => json!({ "entries": entries(tree, &tree.expand(ask["path"].as_str().expect("tree has a path"))) }),
        other => panic!("unknown op {other}"),
    }
}

fn listing(world: &World<'_>, cwd: &Path) -> Result<(Scope, Result<Listing, ListError>), Refused> {
    let scope = predict::resolve(world, cwd)?;
    let listing = predict::list(world, &scope);
    Ok((scope, listing))
}

fn refusal(refused: &Refused, with_stage: bool) -> Value {
    let mut answer = Map::new();
    answer.insert("kind".into(), "error".into());
    answer.insert("code".into(), refused.code.into());
    if let Some(stage) = refused.stage.filter(|_| with_stage) {
        answer.insert("stage".into(), stage.word().into());
    }
    if let Some(classification) = refused.classification {
        answer.insert("classification".into(), classification.into());
    }
    if let Some(diagnostic) = refused.diagnostic {
        answer.insert("diagnostic".into(), diagnostic.into());
    }
    if let Some(step) = refused.step {
        answer.insert("step".into(), step.into());
    }
    answer.insert("detail".into(), refused.detail.clone().into());
    Value::Object(answer)
}

/// The expectation with its placeholders replaced.
pub fn expanded(tree: &Tree, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(tree.expand(text)),
        Value::Array(items) => Value::Array(items.iter().map(|item| expanded(tree, item)).collect()),
        Value::Object(members) => Value::Object(members.iter().map(|(key, member)| (key.clone(), expanded(tree, member))).collect()),
        other => other.clone(),
    }
}

/// Every field that the expectation names must be the same; lists are multisets. With all of an answer expected, an
/// `opened` or `resolved` where an error is expected shows in `kind`.
pub fn compare(want: &Value, got: &Value, only_set: bool) -> Result<(), String> {
    for (key, value) in want.as_object().expect("an answer is an object") {
        if matches!(key.as_str(), "changed" | "message") {
            continue;
        }
        let same = match (value, &got[key]) {
            (Value::Array(want), Value::Array(got)) if key == "entries" => {
                let want: Vec<String> = want.iter().map(entry_text).collect();
                multiset(&want) == multiset(&got.iter().map(|entry| entry.as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>())
            }
            (Value::Array(want), Value::Array(got)) => {
                let text = |items: &[Value]| multiset(&items.iter().map(Value::to_string).collect::<Vec<_>>());
                text(want) == text(got)
            }
            (want, got) => want == got,
        };
        if !same {
            return Err(format!("{key}\n  want {want}\n  got  {got}"));
        }
    }
    if !only_set && want["kind"] != got["kind"] {
        return Err(format!("kind\n  want {want}\n  got  {got}"));
    }
    Ok(())
}

fn multiset(items: &[String]) -> Vec<String> {
    let mut items = items.to_vec();
    items.sort();
    items
}

/// An expected entry of a `tree` answer in the text form of [`entries`].
fn entry_text(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let mode = if entry["mode"].is_null() { String::new() } else { format!(" {}", text("mode")) };
    let empty = entry["empty"].as_bool().map_or_else(String::new, |empty| format!(" empty={empty}"));
    let links = entry["nlink"].as_u64().map_or_else(String::new, |links| format!(" nlink={links}"));
    format!("{} {}{mode}{empty}{links}", text("path"), text("type"))
}

/// What a `tree` question answers: everything below `path`, as (path, type, mode, empty, nlink).
fn entries(tree: &Tree, path: &str) -> Vec<String> {
    let top = tree.root.join(path);
    let mut found = Vec::new();
    let mut pending = vec![top.clone()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).expect("the listed tree is readable").flatten() {
            let meta = std::fs::symlink_metadata(entry.path()).expect("lstat");
            let relative = entry.path().strip_prefix(&top).expect("below the top").to_string_lossy().into_owned();
            let kind = meta.file_type();
            let word = if kind.is_dir() {
                pending.push(entry.path());
                "dir"
            } else if kind.is_file() {
                "file"
            } else if kind.is_symlink() {
                "symlink"
            } else if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
                "fifo"
            } else {
                "other"
            };
            let mode = if kind.is_symlink() { String::new() } else { format!(" {:04o}", meta.mode() & 0o7777) };
            let empty = if kind.is_file() { format!(" empty={}", meta.len() == 0) } else { String::new() };
            let links = if !kind.is_dir() && meta.nlink() > 1 { format!(" nlink={}", meta.nlink()) } else { String::new() };
            found.push(format!("{relative} {word}{mode}{empty}{links}"));
        }
    }
    found.sort();
    found
}

/// One recorded case.
pub fn case_of(name: &str) -> Value {
    let path = recorded().join(format!("{name}.json"));
    serde_json::from_slice(&std::fs::read(path).expect("readable")).expect("a case is JSON")
}

/// Fails unless every one of these cases holds.
#[track_caller]
pub fn holds(names: &[&str]) {
    let wrong: Vec<String> = names.iter().filter_map(|name| case(&recorded().join(format!("{name}.json"))).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
