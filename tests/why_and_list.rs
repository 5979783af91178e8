//! `why` and `list` on small agent directories: one snapshot for each step at which gjc can turn away, and one of a session
//! that opens.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used, reason = "a test builds its own trees and tells what it found")]

#[path = "support/tree.rs"]
mod tree;

use gjc_fsck::agent::candidates::list_all;
use gjc_fsck::agent::legacy::Surroundings;
use gjc_fsck::agent::why::{STEPS, why};
use gjc_fsck::agent::world::World;
use gjc_fsck::cli::why::text;
use gjc_fsck::corpus::sample;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::Real;
use gjc_fsck::fsys::host::ThisHost;
use gjc_fsck::fsys::plant::plant;
use serde_json::{Value, json};
use std::path::Path;
use tree::Tree;

const SCOPE: &str = "agent/sessions/v2-{{digest:ws/a}}";
const INTERNAL: &str = "agent/sessions/v2-{{digest:ws/a}}/.gjc-managed-session-internal";
const TRANSCRIPT: &str = "agent/sessions/v2-{{digest:ws/a}}/2026-01-01T00-00-00-000Z_s1.jsonl";
const LEGACY: &str = "agent/sessions/{{legacy:ws/a}}/2026-01-01T00-00-00-000Z_s1.jsonl";
const HEADER: &str = r#"{"type":"session","version":5,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"{{root}}/ws/a"}"#;
const USER: &str = r#"{"type":"message","id":"e0000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1767225601000}}"#;

fn body() -> String {
    format!("{HEADER}\n{USER}\n")
}
fn binding() -> Value {
    let text = r#"{"schemaVersion":1,"layoutVersion":2,"identityVersion":1,"platform":"posix","canonicalPath":"{{root}}/ws/a","identityDigest":"{{digest:ws/a}}"}"#;
    json!({ "path": format!("{SCOPE}/.gjc-managed-session-scope.v2.json"), "type": "file", "text": format!("{text}\n") })
}
fn file(path: &str, text: &str) -> Value {
    json!({ "path": path, "type": "file", "text": text })
}
/// A tree with one scope, its protocol directories and its binding, and then these nodes.
fn tree_with(nodes: Vec<Value>) -> Tree {
    let mut all = vec![json!({ "path": SCOPE, "type": "dir" }), binding()];
    for role in ["locks", "receipts", "tombstones"] {
        all.push(json!({ "path": format!("{INTERNAL}/{role}"), "type": "dir" }));
    }
    all.extend(nodes);
    Tree::of_case(&json!({ "workspaces": ["ws/a", "ws/b"], "nodes": all, "expect": [] }))
}
fn world(tree: &Tree) -> World<'static> {
    World {
        fs: &Real,
        host: &ThisHost,
        now_ms: tree::now_ms(),
        uid: rustix::process::geteuid().as_raw(),
        release: Release::V0_17,
        current_dir: tree.root.clone(),
        agent_dir: tree.root.join("agent"),
        sessions_root: tree.root.join("agent/sessions"),
        around: Surroundings::default(),
        is_copy: false,
    }
}
/// The chain for people, with everything that differs from run to run replaced by words.
fn told(tree: &Tree, asked: &str) -> String {
    let told = text(&why(&world(tree), &tree.expand(asked)));
    steady(tree, &told)
}
fn steady(tree: &Tree, text: &str) -> String {
    let uid = rustix::process::geteuid().as_raw();
    let mut text = text.to_owned();
    for (placeholder, word) in
        [("{{digest:ws/a}}", "SCOPE"), ("{{digest:ws/b}}", "OTHER"), ("{{legacy:ws/a}}", "LEGACY"), ("{{root}}", "ROOT")]
    {
        text = text.replace(&tree.expand(placeholder), word);
    }
    text.replace(&format!("owner {uid}"), "owner UID").split(' ').map(word_of).collect::<Vec<_>>().join(" ")
}
/// Sizes depend on the length of the root.
fn word_of(word: &str) -> &str {
    if word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_digit()) { "N" } else { word }
}
fn last_step(tree: &Tree, asked: &str) -> (String, bool) {
    let chain = why(&world(tree), &tree.expand(asked));
    let last = chain.steps.last().unwrap();
    (last.step.to_owned(), last.turns_away)
}

#[test]
fn a_session_that_opens_passes_every_step() {
    let tree = tree_with(vec![file(TRANSCRIPT, &body())]);
    let chain = why(&world(&tree), "s1");
    assert!(chain.opens);
    assert_eq!(chain.steps.iter().map(|step| step.step).collect::<Vec<_>>(), STEPS);
    insta::assert_snapshot!("opens", told(&tree, "s1"));
}
#[test]
fn found() {
    let tree = tree_with(vec![]);
    insta::assert_snapshot!("found", told(&tree, "nobody"));
    assert_eq!(last_step(&tree, "ws/nothing.jsonl"), ("found".into(), true));
}
#[test]
fn a_prefix_of_an_id_is_enough_when_one_session_has_it() {
    let other = TRANSCRIPT.replace("_s1", "_s12");
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), file(&other, &body().replace("\"id\":\"s1\"", "\"id\":\"s12\""))]);
    assert_eq!(last_step(&tree, "s"), ("found".into(), true));
    let path = |asked: &str| why(&world(&tree), asked).path.unwrap_or_default();
    assert!(path("s1").ends_with("_s1.jsonl"));
    assert!(path("s12").ends_with("_s12.jsonl"));
    let one = tree_with(vec![file(TRANSCRIPT, &body())]);
    assert!(why(&world(&one), "s").opens);
}
#[test]
fn regular_file() {
    let linked = tree_with(vec![file(TRANSCRIPT, &body()), json!({ "path": "other-name", "type": "hardlink", "target": TRANSCRIPT })]);
    insta::assert_snapshot!("regular-file", told(&linked, TRANSCRIPT));
    let link = tree_with(vec![json!({ "path": TRANSCRIPT, "type": "symlink", "target": "{{root}}/ws" })]);
    assert_eq!(last_step(&link, TRANSCRIPT), ("regular file".into(), true));
}
#[test]
fn header() {
    let tree = tree_with(vec![file(TRANSCRIPT, "oops\n")]);
    insta::assert_snapshot!("header", told(&tree, TRANSCRIPT));
}
#[test]
fn workspace() {
    let tree = tree_with(vec![file(TRANSCRIPT, &body().replace("ws/a", "ws/gone"))]);
    insta::assert_snapshot!("workspace", told(&tree, "s1"));
}
#[test]
fn scope() {
    let tree = tree_with(vec![file(TRANSCRIPT, &body().replace("ws/a", "ws/b"))]);
    insta::assert_snapshot!("scope", told(&tree, "s1"));
    let unknown = tree_with(vec![file("agent/sessions/attic/x.jsonl", &body())]);
    assert_eq!(last_step(&unknown, "agent/sessions/attic/x.jsonl"), ("scope".into(), true));
}
#[test]
fn binding_step() {
    let path = format!("{SCOPE}/.gjc-managed-session-scope.v2.json");
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), json!({ "path": path, "type": "write", "text": "{}\n" })]);
    insta::assert_snapshot!("binding", told(&tree, "s1"));
}
#[test]
fn modes() {
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), json!({ "path": SCOPE, "type": "chmod", "mode": "0755" })]);
    insta::assert_snapshot!("modes", told(&tree, "s1"));
}
fn retired() -> Value {
    let identity = r#"{"canonicalPath":"{{root}}/PATH","sessionId":"s1","dev":"{{dev:PATH}}","ino":"{{ino:PATH}}","nlink":"1","size":{{size:PATH}},"mtimeNs":"{{mtimeNs:PATH}}","ctimeNs":"{{ctimeNs:PATH}}","sha256":"{{sha256:PATH}}","mtimeMs":{{mtimeMs:PATH}}}"#
        .replace("PATH", TRANSCRIPT);
    let text = format!(
        r#"{{"schemaVersion":2,"state":"retired","scope":"{{{{digest:ws/a}}}}","targets":[{{"path":"{{{{root}}}}/{TRANSCRIPT}","sessionId":"s1","cwd":"{{{{root}}}}/ws/a","provenance":"v2","identity":{identity}}}]}}"#
    );
    file(&format!("{INTERNAL}/tombstones/{}.json", "a".repeat(64)), &format!("{text}\n"))
}
#[test]
fn tombstones() {
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), retired()]);
    insta::assert_snapshot!("tombstones", told(&tree, "s1"));
    let blocked = tree_with(vec![file(TRANSCRIPT, &body()), file("agent/sessions/{{legacy:ws/a}}", "")]);
    assert_eq!(last_step(&blocked, "s1"), ("tombstones".into(), true), "a listing that is refused shows at the first step that needs it");
}
#[test]
fn shadowing() {
    let side = |path: &str| {
        r#"{"path":"{{root}}/PATH","sessionId":"s1","header":{"id":"s1","cwd":"{{root}}/ws/a"},"identity":{"canonicalPath":"{{root}}/PATH","sessionId":"s1","dev":"{{dev:PATH}}","ino":"{{ino:PATH}}","nlink":"1","size":{{size:PATH}},"mtimeNs":"{{mtimeNs:PATH}}","ctimeNs":"{{ctimeNs:PATH}}","sha256":"{{sha256:PATH}}","mtimeMs":{{mtimeMs:PATH}}},"sha256":"{{sha256:PATH}}"}"#
            .replace("PATH", path)
    };
    let receipt = format!(
        r#"{{"schemaVersion":2,"state":"committed","policy":"copy-retain","attemptId":"x","scope":"{{{{digest:ws/a}}}}","source":{},"destination":{},"artifactManifest":[]}}"#,
        side(LEGACY),
        side(TRANSCRIPT)
    );
    let name = format!("{INTERNAL}/receipts/{{{{opname:{LEGACY}}}}}.json");
    let tree = tree_with(vec![file(LEGACY, &body()), file(TRANSCRIPT, &body()), file(&name, &format!("{receipt}\n"))]);
    let shown = told(&tree, LEGACY).replace(&tree.expand(&format!("{{{{opname:{LEGACY}}}}}")), "OP");
    insta::assert_snapshot!("shadowing", shown);
    assert_eq!(last_step(&tree, TRANSCRIPT), ("open".into(), false));
}
#[test]
fn strict_reader() {
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{}oops\n", body()))]);
    insta::assert_snapshot!("strict-reader", told(&tree, "s1"));
}
#[test]
fn managed_reader() {
    let long = format!("{HEADER}\n{}\n", USER.replace("hello", &"h".repeat(8 << 20)));
    let tree = tree_with(vec![file(TRANSCRIPT, &long)]);
    assert_eq!(last_step(&tree, "s1"), ("managed reader".into(), true));
}
#[test]
fn bounded_reader() {
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), json!({ "path": TRANSCRIPT, "type": "extend", "size": (128_u64 << 20) + 1 })]);
    // The zeros behind the records are one overlong line: the managed reader meets it first.
    assert_eq!(last_step(&tree, "s1"), ("managed reader".into(), true));
    let outside =
        tree_with(vec![file("ws/x.jsonl", &body()), json!({ "path": "ws/x.jsonl", "type": "extend", "size": (128_u64 << 20) + 1 })]);
    assert_eq!(last_step(&outside, "ws/x.jsonl"), ("bounded reader".into(), true));
}
#[test]
fn listing() {
    let mut nodes: Vec<Value> = (0..256).map(|n| json!({ "path": format!("agent/sessions/-{n:03}"), "type": "dir" })).collect();
    nodes.push(file("agent/sessions/-zz/x.jsonl", &body()));
    let tree = tree_with(nodes);
    insta::assert_snapshot!("listing", told(&tree, "agent/sessions/-zz/x.jsonl"));
}
#[test]
fn picker() {
    let message = USER.replace("\"hello\"", "7");
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{HEADER}\n{message}\n"))]);
    let (step, away) = last_step(&tree, "s1");
    assert!(away && ["strict reader", "picker"].contains(&step.as_str()), "{step}");
}
#[test]
fn open() {
    let lock = format!("{INTERNAL}/locks/{{{{opname:{LEGACY}}}}}.lock");
    let tree = tree_with(vec![file(LEGACY, &body()), file(&lock, "")]);
    let shown = told(&tree, LEGACY).replace(&tree.expand(&format!("{{{{opname:{LEGACY}}}}}")), "OP");
    insta::assert_snapshot!("open", shown);
}
#[test]
fn a_file_outside_managed_storage_is_judged_by_what_applies_to_it() {
    let tree = tree_with(vec![file("ws/x.jsonl", &body())]);
    let chain = why(&world(&tree), "ws/x.jsonl");
    assert!(chain.opens, "{:?}", chain.steps.last());
    let asked: Vec<_> = chain.steps.iter().filter(|step| step.answer != "not asked").map(|step| step.step).collect();
    assert_eq!(asked, ["found", "regular file", "header", "workspace", "scope", "strict reader", "picker", "open"]);
}
#[test]
fn the_json_form_is_stable() {
    let tree = tree_with(vec![file(TRANSCRIPT, "oops\n")]);
    let chain = serde_json::to_value(why(&world(&tree), &tree.expand(TRANSCRIPT))).unwrap();
    assert_eq!(chain["opens"], false);
    let step = &chain["steps"][2];
    assert_eq!(
        (&step["step"], &step["answer"], &step["turnsAway"], &step["section"]),
        (&json!("header"), &json!("unreadable_candidate"), &json!(true), &json!("02 §5.3"))
    );
    assert_eq!(step["evidence"][0]["line"], 1);
    assert!(step["advice"].is_string());
}
#[test]
fn a_copy_from_elsewhere_takes_its_workspaces_at_their_word() {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    plant(&agent, &sample::plants()).unwrap();
    let tree = tree_with(vec![]);
    let here = World { agent_dir: agent.clone(), sessions_root: agent.join("sessions"), ..world(&tree) };
    let copy = World { is_copy: true, ..here.clone() };
    let missing = |world: &World<'_>| list_all(world).1.iter().filter(|invalid| invalid.code == "cwd_not_found").count();
    assert!(missing(&here) > 0);
    assert_eq!(missing(&copy), 0);
    let (listings, _) = list_all(&copy);
    let opens = listings.iter().flat_map(|one| &one.listing.owned).filter(|one| why(&copy, &one.candidate.path.to_string_lossy()).opens);
    assert!(opens.count() > 0);
}
#[test]
fn list_all_sees_every_workspace_and_what_belongs_to_none() {
    let tree = tree_with(vec![
        file(TRANSCRIPT, &body()),
        file("agent/sessions/-old/b.jsonl", &body().replace("ws/a", "ws/b").replace("\"s1\"", "\"s2\"")),
        file("agent/sessions/-old/gone.jsonl", &body().replace("ws/a", "ws/gone")),
        file(&format!("{SCOPE}/foreign.jsonl"), &body().replace("ws/a", "ws/b")),
    ]);
    let (workspaces, invalid) = list_all(&world(&tree));
    let seen: Vec<_> = workspaces
        .iter()
        .map(|one| {
            let name = Path::new(&one.identity.canonical_path).file_name().unwrap().to_string_lossy().into_owned();
            (name, one.listing.owned.len(), one.listing.foreign.len())
        })
        .collect();
    assert_eq!(seen, [("a".to_owned(), 1, 0), ("b".to_owned(), 1, 1)]);
    assert_eq!(invalid.iter().map(|invalid| invalid.code).collect::<Vec<_>>(), ["cwd_not_found"]);
}
