//! `why` and `list` on small agent directories: one snapshot for each step at which gjc can turn away, and one of a session
//! that opens.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used, reason = "a test builds its own trees and tells what it found")]

#[path = "support/tree.rs"]
mod tree;

use gjc_fsck::agent::candidates::list_all;
use gjc_fsck::agent::catalogue::{self, Catalogue};
use gjc_fsck::agent::legacy::Surroundings;
use gjc_fsck::agent::why::{Chain, Reported, STEPS, why};
use gjc_fsck::agent::world::World;
use gjc_fsck::corpus::sample;
use gjc_fsck::finding::{Release, Severity};
use gjc_fsck::fsys::plant::plant;
use gjc_fsck::fsys::{Errno, Inject, Phase, Real};
use gjc_fsck::render;
use gjc_fsck::render::human::Layout;
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
    World { around: Surroundings::default(), ..tree::real_world(&tree.root, Release::V0_17, tree::now_ms()) }
}
const PAGE: Layout = Layout { colour: false, width: 120, quiet: false };

/// The chain for people, with everything that differs from run to run replaced by words before the lines are broken.
fn told(tree: &Tree, asked: &str) -> String {
    render::why::text(&steady_chain(tree, why(&world(tree), tree.expand(asked))), PAGE)
}
fn steady_chain(tree: &Tree, mut chain: Chain) -> Chain {
    let steady = |text: &mut String| *text = steady(tree, text);
    steady(&mut chain.asked);
    chain.path.iter_mut().for_each(steady);
    for step in &mut chain.steps {
        steady(&mut step.answer);
        step.advice.iter_mut().for_each(steady);
        for seen in &mut step.evidence {
            steady(&mut seen.path);
            steady(&mut seen.shows);
        }
    }
    chain
}
fn steady_catalogue(tree: &Tree, mut catalogue: Catalogue) -> Catalogue {
    let steady = |text: &mut String| *text = steady(tree, text);
    for workspace in &mut catalogue.workspaces {
        steady(&mut workspace.workspace);
        steady(&mut workspace.scope);
        workspace.sessions.iter_mut().for_each(|session| steady(&mut session.path));
        workspace.refused.iter_mut().chain(&mut workspace.invalid).for_each(|refused| steady(&mut refused.path));
        for foreign in &mut workspace.foreign {
            steady(&mut foreign.path);
            steady(&mut foreign.workspace);
        }
    }
    catalogue
}
fn steady(tree: &Tree, text: &str) -> String {
    let uid = rustix::process::geteuid().as_raw();
    let mut text = text.to_owned();
    for (placeholder, word) in
        [("{{digest:ws/a}}", "SCOPE"), ("{{digest:ws/b}}", "OTHER"), ("{{legacy:ws/a}}", "LEGACY"), ("{{root}}", "ROOT")]
    {
        text = text.replace(&tree.expand(placeholder), word);
    }
    // Sizes depend on the length of the root.
    let words: Vec<&str> = text.split(' ').collect();
    let is_size = |at: usize| words.get(at + 1).is_some_and(|next| next.starts_with("bytes"));
    let steady = words.iter().enumerate().map(|(at, word)| if is_size(at) { "N" } else { word });
    steady.collect::<Vec<_>>().join(" ").replace(&format!("owner {uid}"), "owner UID")
}
fn last_step(tree: &Tree, asked: &str) -> (String, bool) {
    let chain = why(&world(tree), tree.expand(asked));
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
    let missing = why(&world(&tree), "ws/nothing.jsonl");
    assert_eq!(missing.stop().map(|step| (&*step.answer, &*step.evidence[0].shows)), Some(("missing", "is not there")));
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
    // What the advice says of a symlink.
    let link = || json!({ "path": "ws/gone", "type": "symlink", "target": "{{root}}/ws/b" });
    let scoped = tree_with(vec![file(TRANSCRIPT, &body().replace("ws/a", "ws/gone")), link()]);
    assert_eq!(last_step(&scoped, "s1"), ("scope".into(), true));
    let legacy = tree_with(vec![file("agent/sessions/-old/x.jsonl", &body().replace("ws/a", "ws/gone")), link()]);
    assert_eq!(last_step(&legacy, "s1"), ("open".into(), false));
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
    // A listing that is refused shows at the first step that needs it.
    insta::assert_snapshot!("tombstones-scan-failed", told(&blocked, "s1"));
}
/// A legacy session and its migrated copy, with the receipt that pairs them.
fn shadowed() -> Tree {
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
    tree_with(vec![file(LEGACY, &body()), file(TRANSCRIPT, &body()), file(&name, &format!("{receipt}\n"))])
}
#[test]
fn shadowing() {
    let tree = shadowed();
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
    insta::assert_snapshot!("managed-reader", told(&tree, "s1"));
    // Reader S takes a line that holds nothing but a carriage return for an empty one.
    let blank = tree_with(vec![file(TRANSCRIPT, &format!("{HEADER}\r\n\r\n{USER}\r\n"))]);
    insta::assert_snapshot!("managed-reader-blank-line", told(&blank, "s1"));
}
#[test]
fn bounded_reader() {
    let grown = |path: &str| tree_with(vec![file(path, &body()), json!({ "path": path, "type": "extend", "size": (128_u64 << 20) + 1 })]);
    let (inside, outside) = (grown(TRANSCRIPT), grown("ws/x.jsonl"));
    insta::assert_snapshot!("bounded-reader", told(&inside, "s1"));
    assert_eq!(last_step(&outside, "ws/x.jsonl"), ("bounded reader".into(), true));
}
#[test]
fn listing() {
    let mut nodes: Vec<Value> = (0..256).map(|n| json!({ "path": format!("agent/sessions/-{n:03}"), "type": "dir" })).collect();
    nodes.push(file("agent/sessions/-zz/x.jsonl", &body()));
    let tree = tree_with(nodes);
    insta::assert_snapshot!("listing", told(&tree, "agent/sessions/-zz/x.jsonl"));
}
/// Everything reads the header, and the picker misses it: it looks for `id` in the first 4,096 bytes only.
#[test]
fn picker() {
    let late = HEADER.replace("\"id\"", &format!("\"title\":\"{}\",\"id\"", "t".repeat(5_000)));
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{late}\n{USER}\n"))]);
    insta::assert_snapshot!("picker", told(&tree, "s1"));
    let early = HEADER.replace("\"cwd\"", &format!("\"title\":\"{}\",\"cwd\"", "t".repeat(5_000)));
    assert_eq!(last_step(&tree_with(vec![file(TRANSCRIPT, &format!("{early}\n{USER}\n"))]), "s1"), ("open".into(), false));
}
/// The strict reader asks a message for a role and no more; the picker wants to read its text.
#[test]
fn picker_throws() {
    let first = USER.replace("\"hello\"", "7");
    let second = USER.replace("e0000001", "e0000002").replace("null", "\"e0000001\"");
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{HEADER}\n{first}\n{second}\n"))]);
    insta::assert_snapshot!("picker-throws", told(&tree, "s1"));
}
/// Two files with one id: the picker shows the later one.
#[test]
fn picker_shows_one_session_an_id() {
    let other = TRANSCRIPT.replace("T00", "T01");
    let stamp = |path: &str, seconds: i64| json!({ "path": path, "type": "touch", "mtime": seconds });
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), file(&other, &body()), stamp(TRANSCRIPT, 1_000), stamp(&other, 2_000)]);
    insta::assert_snapshot!("picker-one-an-id", told(&tree, TRANSCRIPT));
    assert_eq!(last_step(&tree, &other), ("open".into(), false));
    // By the id it is the later one that is meant.
    let chain = why(&world(&tree), "s1");
    assert_eq!(chain.path, Some(tree.expand(&format!("{{{{root}}}}/{other}"))));
    assert_eq!(chain.steps[0].evidence.len(), 2, "the other one is named");
}
#[test]
fn open() {
    let lock = format!("{INTERNAL}/locks/{{{{opname:{LEGACY}}}}}.lock");
    let tree = tree_with(vec![file(LEGACY, &body()), file(&lock, "")]);
    let shown = told(&tree, LEGACY).replace(&tree.expand(&format!("{{{{opname:{LEGACY}}}}}")), "OP");
    insta::assert_snapshot!("open", shown);
}
#[test]
fn open_throws_at_what_the_strict_reader_lets_pass() {
    let payload = r#""content":"hi","providerPayload":{"type":"openaiResponsesHistory"}"#;
    let answer = USER.replace("e0000001", "e0000002").replace("null", "\"e0000001\"").replace("\"user\"", "\"assistant\"");
    let answer = answer.replace(r#""content":"hello""#, payload);
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{HEADER}\n{USER}\n{answer}\n"))]);
    insta::assert_snapshot!("open-throws", told(&tree, "s1"));
    let last = USER.replace("e0000001", "e0000003").replace("null", "\"e0000001\"");
    let unharmed = answer.replace("openaiResponsesHistory", "other");
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{HEADER}\n{USER}\n{unharmed}\n{last}\n"))]);
    assert_eq!(last_step(&tree, "s1"), ("open".into(), false));
}
#[test]
fn ids_are_compared_as_gjc_does() {
    let path = format!("{SCOPE}/2026-01-01T00-00-00-000Z_part_AbCd-1.jsonl");
    let tree = tree_with(vec![file(&path, &body().replace("\"s1\"", "\"Other\""))]);
    for asked in ["other", "OTH", "abcd-1", "AbC", "2026-01-01", "2026-01-01T00-00-00-000Z_part_AbCd-1.jsonl"] {
        assert!(why(&world(&tree), asked).opens, "{asked}");
    }
    for asked in ["", "part_AbCd-1", "cd"] {
        assert_eq!(last_step(&tree, asked).0, "found", "{asked}");
    }
}
#[test]
fn several_sessions_begin_with_it() {
    let (one, two) = (TRANSCRIPT.replace("_s1", "_s12"), TRANSCRIPT.replace("_s1", "_s13"));
    let body = |id: &str| body().replace("\"id\":\"s1\"", &format!("\"id\":\"{id}\""));
    let stamp = |path: &str, seconds: i64| json!({ "path": path, "type": "touch", "mtime": seconds });
    let tree = tree_with(vec![file(&one, &body("s12")), file(&two, &body("s13")), stamp(&one, 60), stamp(&two, 120)]);
    insta::assert_snapshot!("ambiguous", told(&tree, "s1"));
    let concise = render::why::concise(&why(&world(&tree), "s1"));
    assert_eq!(concise, "s1: found[ambiguous] `s13`, changed 1970-01-01T00:02Z; `s12`, changed 1970-01-01T00:01Z\n");
}
#[test]
fn outside_links_are_followed_and_no_candidate_is_asked_for() {
    let tree = tree_with(vec![
        file("ws/x.jsonl", &format!("\n{}", body())),
        json!({ "path": "ws/link.jsonl", "type": "symlink", "target": "{{root}}/ws/x.jsonl" }),
        json!({ "path": "ws/dangling.jsonl", "type": "symlink", "target": "{{root}}/ws/nowhere" }),
        json!({ "path": "ws/fifo.jsonl", "type": "fifo" }),
        json!({ "path": "ws/directory.jsonl", "type": "dir" }),
    ]);
    assert!(why(&world(&tree), "ws/link.jsonl").opens);
    let answer = |asked: &str| why(&world(&tree), asked).stop().map(|step| (step.step, step.answer.clone()));
    assert_eq!(answer("ws/dangling.jsonl"), Some(("regular file", "missing".into())));
    assert_eq!(answer("ws/fifo.jsonl"), Some(("regular file", "read-failed".into())));
    assert_eq!(answer("ws/directory.jsonl"), Some(("regular file", "read-failed".into())));
}
#[test]
fn inside_the_sessions_root_only_its_directories_count() {
    let deeper = [format!("{SCOPE}/deeper/x.jsonl"), format!("{SCOPE}/.staging/x.jsonl"), "agent/sessions/x.jsonl".to_owned()];
    let tree = tree_with(deeper.iter().map(|path| file(path, &body())).chain([file("ws/.staging/x.jsonl", &body())]).collect());
    let answer = |path: &str| {
        let chain = why(&world(&tree), tree.expand(path));
        chain.stop().map(|step| (step.step, step.answer.clone()))
    };
    let unlisted = "Session is inside managed storage but is not an authorized managed candidate.".to_owned();
    let staged = "Staged session paths are not resumable".to_owned();
    assert_eq!(answer(&deeper[0]), Some(("scope", unlisted.clone())));
    assert_eq!(answer(&deeper[1]), Some(("scope", staged.clone())));
    assert_eq!(answer(&deeper[2]), Some(("scope", unlisted)));
    assert_eq!(answer("ws/.staging/x.jsonl"), Some(("open", staged)));
}
#[test]
fn inside_nothing_but_a_regular_file_counts() {
    for kind in ["fifo", "dir"] {
        let tree = tree_with(vec![json!({ "path": TRANSCRIPT, "type": kind })]);
        let chain = why(&world(&tree), tree.expand(TRANSCRIPT));
        assert_eq!(chain.stop().map(|step| (step.step, &*step.answer)), Some(("regular file", "source_changed")), "{kind}");
    }
}
#[test]
fn the_chain_at_every_width_and_in_one_line() {
    let tree = tree_with(vec![file(TRANSCRIPT, &format!("{}oops\n", body()))]);
    let mut chain = steady_chain(&tree, why(&world(&tree), "s1"));
    let reported = |code, severity, line, count| Reported { code, severity, line, count };
    chain.reported = vec![
        reported("malformed_json", Severity::Error, Some(3), 1),
        reported("unterminated_tail", Severity::Warning, None, 2),
        reported("stale_leaf", Severity::Info, Some(2), 1),
    ];
    let narrow = render::why::text(&chain, Layout { width: 60, ..PAGE });
    insta::assert_snapshot!("narrow", narrow);
    let coloured = render::why::text(&chain, Layout { colour: true, quiet: true, ..PAGE });
    insta::assert_snapshot!("coloured-and-quiet", coloured.replace('\u{1b}', "ESC"));
    assert_eq!(
        render::why::concise(&chain),
        "ROOT/agent/sessions/v2-SCOPE/2026-01-01T00-00-00-000Z_s1.jsonl:3: strict reader[malformed] the line is not one whole JSON value\n"
    );
    let sound = tree_with(vec![file(TRANSCRIPT, &body())]);
    assert_eq!(
        steady(&sound, &render::why::concise(&why(&world(&sound), "s1"))),
        "ROOT/agent/sessions/v2-SCOPE/2026-01-01T00-00-00-000Z_s1.jsonl: opens\n"
    );
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
    let chain = serde_json::to_value(why(&world(&tree), tree.expand(TRANSCRIPT))).unwrap();
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
    let opens = listings.iter().flat_map(|one| &one.listing.owned).filter(|one| why(&copy, &one.candidate.path).opens);
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

/// A directory with everything that a listing can say: sound, refusing to open, untitled, shadowed by nothing, invalid, foreign.
fn mixed() -> Tree {
    let name = |hour: u32, id: &str| format!("{SCOPE}/2026-01-01T{hour:02}-00-00-000Z_{id}.jsonl");
    let with = |id: &str, title: &str| {
        body().replace("\"id\":\"s1\"", &format!("\"id\":\"{id}\"")).replace(",\"cwd\"", &format!("{title},\"cwd\""))
    };
    let stamp = |path: &str, seconds: i64| json!({ "path": path, "type": "touch", "mtime": seconds });
    let torn = format!("{}{{\"type\":\"mess", with("s2", ",\"title\":\"Torn at the end\""));
    let legacy = "agent/sessions/{{legacy:ws/a}}/2025-12-31T00-00-00-000Z_s3.jsonl";
    let undated = with("s4", ",\"title\":\"分支 \\u202e\\u001b[31m\"").replace("2026-01-01T00:00:00.000Z", "once");
    let files = [
        (name(1, "s1"), with("s1", ",\"title\":\"Cache the parser\"")),
        (name(2, "s2"), torn),
        (name(4, "s4"), undated),
        (legacy.to_owned(), with("s3", "")),
        (name(5, "bad"), "oops\n".to_owned()),
        (name(6, "b"), body().replace("ws/a", "ws/b")),
        ("agent/sessions/-old/c.jsonl".to_owned(), body().replace("ws/a", "ws/b")),
    ];
    let mut nodes: Vec<Value> = files.iter().map(|(path, text)| file(path, text)).collect();
    nodes.extend(files.iter().enumerate().map(|(at, (path, _))| stamp(path, 1_767_225_600 + 60 * at as i64)));
    tree_with(nodes)
}
fn listed(tree: &Tree, catalogue: &Catalogue, width: usize) -> String {
    render::list::text(&steady_catalogue(tree, catalogue.clone()), "", Layout { width, ..PAGE })
}
#[test]
fn a_listing_says_when_what_and_whether_it_opens() {
    let tree = mixed();
    let catalogue = catalogue::of_workspace(&world(&tree), Path::new("ws/a"));
    insta::assert_snapshot!("list", listed(&tree, &catalogue, 100));
    insta::assert_snapshot!("list-narrow", listed(&tree, &catalogue, 60));
    insta::assert_snapshot!("list-concise", steady(&tree, &render::list::concise(&catalogue)));
    let json = serde_json::to_value(&catalogue).unwrap();
    let session = &json["workspaces"][0]["sessions"][1];
    assert_eq!(
        (&session["id"], &session["answer"], &session["modified"]),
        (&json!("s2"), &json!("malformed"), &json!("2026-01-01T00:01Z"))
    );
    assert_eq!((&session["begun"], &session["messages"]), (&json!("2026-01-01T00:00Z"), &json!(1)));
    assert_eq!(session["doesNotOpen"], json!({ "step": "strict reader", "line": 3, "detail": "the line is not one whole JSON value" }));
    assert_eq!(json["workspaces"][0]["sessions"][2]["begun"], Value::Null, "a header timestamp that is no date");
}
#[test]
fn a_refused_workspace_still_tells_what_it_keeps() {
    let path = format!("{SCOPE}/.gjc-managed-session-scope.v2.json");
    let tree = tree_with(vec![
        file(TRANSCRIPT, &body()),
        json!({ "path": path, "type": "write", "text": "{}\n" }),
        json!({ "path": TRANSCRIPT, "type": "touch", "mtime": 0 }),
    ]);
    let catalogue = catalogue::of_workspace(&world(&tree), Path::new("ws/a"));
    insta::assert_snapshot!("list-refused", listed(&tree, &catalogue, 100));
    assert_eq!(catalogue, catalogue::of_all(&world(&tree)), "the same among all");
    let gone = catalogue::of_workspace(&world(&tree), Path::new(&tree.expand("{{root}}/ws/gone")));
    assert_eq!(gone.workspaces[0].refused.as_ref().map(|refused| refused.code), Some("cwd_missing"));
    assert!(gone.workspaces[0].sessions.is_empty());
    assert!(listed(&tree, &gone, 80).starts_with("ROOT/ws/gone\n  ✗ refused: cwd_missing\n    the directory"));
}
#[test]
fn a_workspace_without_sessions_says_who_has_some() {
    let gone = |name: &str| file(&format!("agent/sessions/v2-{{{{digest:ws/gone}}}}/{name}"), &body().replace("ws/a", "ws/gone"));
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), gone("x.jsonl"), gone("y.jsonl")]);
    let mut catalogue = catalogue::of_workspace(&world(&tree), Path::new("ws/b"));
    let found: Vec<_> = catalogue.elsewhere.iter().map(|one| (one.exists, one.sessions)).collect();
    assert_eq!(found, [(false, 2), (true, 1)]);
    catalogue.elsewhere.iter_mut().for_each(|one| one.workspace = steady(&tree, &one.workspace));
    insta::assert_snapshot!("list-elsewhere", listed(&tree, &catalogue, 80));
    assert!(catalogue::of_workspace(&world(&tree), Path::new("ws/a")).elsewhere.is_empty());
}
#[test]
fn of_two_files_with_one_id_the_picker_shows_the_later() {
    let other = TRANSCRIPT.replace("T00", "T01");
    let stamp = |path: &str, seconds: i64| json!({ "path": path, "type": "touch", "mtime": seconds });
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), file(&other, &body()), stamp(TRANSCRIPT, 1_000), stamp(&other, 2_000)]);
    let catalogue = catalogue::of_workspace(&world(&tree), Path::new("ws/a"));
    let instead: Vec<_> = catalogue.workspaces[0].sessions.iter().map(|session| session.shown_instead.clone()).collect();
    assert_eq!(instead, [Some(tree.expand(&format!("{{{{root}}}}/{other}"))), None]);
    assert!(listed(&tree, &catalogue, 100).contains("not in the picker, which shows a later file"));
}
#[test]
fn what_is_hidden_is_listed_with_what_hides_it() {
    for (tree, name) in [(shadowed(), "list-shadowed"), (tree_with(vec![file(TRANSCRIPT, &body()), retired()]), "list-retired")] {
        let mut catalogue = catalogue::of_workspace(&world(&tree), Path::new("ws/a"));
        for session in &mut catalogue.workspaces[0].sessions {
            session.modified = Some("MODIFIED".to_owned());
        }
        for hidden in &mut catalogue.workspaces[0].hidden {
            (hidden.path, hidden.by, hidden.modified) =
                (steady(&tree, &hidden.path), steady(&tree, &hidden.by), Some("MODIFIED".to_owned()));
        }
        insta::assert_snapshot!(name, listed(&tree, &catalogue, 80));
    }
}
/// What cannot be read is never said to be none.
#[test]
fn what_cannot_be_looked_at_is_told() {
    let receipt = format!("{INTERNAL}/receipts/{}.prepared.json", "a".repeat(64));
    let tree = tree_with(vec![file(TRANSCRIPT, &body()), file(&receipt, "{}")]);
    let asked = |asked: &str, fails: (&'static str, &'static str)| {
        let unreadable = Inject::new(&Real, move |call| {
            (call.phase == Phase::Before && call.op == fails.0 && call.path.to_string_lossy().ends_with(fails.1)).then_some(Errno::ACCESS)
        });
        why(&World { fs: &unreadable, ..world(&tree) }, asked)
    };
    let step = |chain: &Chain, name: &str| {
        let step = chain.steps.iter().find(|step| step.step == name).unwrap();
        (step.answer.clone(), step.evidence.iter().map(|seen| seen.shows.clone()).collect::<Vec<_>>())
    };
    let list = asked("s1", ("opendir", "/receipts"));
    assert_eq!(step(&list, "receipts"), ("none that can be read".into(), vec!["cannot be listed: EACCES".into()]));
    let record = step(&asked("s1", ("open", ".prepared.json")), "receipts");
    assert_eq!(record.0, "none that can be read");
    assert!(record.1[0].ends_with("whether it names this file nobody can tell"), "{record:?}");
    let (answer, evidence) = step(&asked("s1", ("opendir", "/sessions")), "found");
    assert_eq!((&*answer, &*evidence[1]), ("not found", "this user may not look there (EACCES)"));
    assert!(evidence[0].ends_with("not everything could be looked at (1)"), "{evidence:?}");
}
#[test]
fn a_directory_is_listed_by_itself() {
    let tree = mixed();
    let ids = |directory: &str| -> Vec<String> {
        let catalogue = catalogue::of_directory(&world(&tree), Path::new(&tree.expand(&format!("{{{{root}}}}/{directory}"))));
        catalogue.workspaces.iter().flat_map(|one| &one.sessions).map(|session| session.id.clone()).collect()
    };
    assert_eq!(ids("agent/sessions/{{legacy:ws/a}}"), ["s3"]);
    assert_eq!(ids(SCOPE), ["s1", "s2", "s4"]);
    assert!(ids("agent/sessions/-none").is_empty());
}
#[test]
fn an_empty_root_says_so() {
    let tree = Tree::of_case(&json!({ "workspaces": ["ws/a"], "nodes": [], "expect": [] }));
    assert_eq!(listed(&tree, &catalogue::of_all(&world(&tree)), 80), "no session is kept here\n");
}
