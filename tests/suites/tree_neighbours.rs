//! Neighbours of the recorded trees: a recorded case, changed at one place, with the answer that gjc 0.15.0 gives by its public
//! source (no run of it made these). Each table is one subject; a line says what is changed and what is answered.

use crate::tree::Tree;
use crate::trees_suite::{answer, compare, expanded};
use gjc_fsck::finding::Release;
use serde_json::{Value, json};
use std::path::Path;

const SCOPE: &str = "agent/sessions/v2-{{digest:ws/a}}";
const TRANSCRIPT: &str = "agent/sessions/v2-{{digest:ws/a}}/2026-01-01T00-00-00-000Z_s1.jsonl";
const BESIDE: &str = "agent/sessions/v2-{{digest:ws/a}}/2026-01-01T00-00-00-000Z_s1";
/// What a deletion detaches, without `-artifacts-1` or `-transcript-1`.
const DETACHED: &str = "agent/sessions/v2-{{digest:ws/a}}/.gjc-delete-{{var:op}}";
const TOMBSTONE: &str = "agent/sessions/v2-{{digest:ws/a}}/.gjc-managed-session-internal/tombstones/{{var:op}}.json";

/// A recorded case that is being changed.
struct Case(Value);

impl Case {
    fn recorded(name: &str) -> Case {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vectors/trees/{name}.json"));
        Case(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    }
    fn nodes(&mut self) -> &mut Vec<Value> {
        self.0["nodes"].as_array_mut().unwrap()
    }
    /// The last file node whose path has this text.
    fn file(&mut self, of_path: &str) -> &mut Value {
        let is_it = |node: &&mut Value| node["type"] == "file" && node["path"].as_str().is_some_and(|path| path.contains(of_path));
        self.nodes().iter_mut().rev().find(is_it).unwrap_or_else(|| panic!("no file {of_path}"))
    }
    /// A further node, behind the others.
    fn node(mut self, node: Value) -> Self {
        self.nodes().push(node);
        self
    }
    /// A further node, before the file with this text in its path.
    fn before(mut self, of_path: &str, node: Value) -> Self {
        let at = self.nodes().iter().position(|node| node["path"].as_str().is_some_and(|path| path.contains(of_path))).unwrap();
        self.nodes().insert(at, node);
        self
    }
    fn without(mut self, of_path: &str) -> Self {
        let many = self.nodes().len();
        self.nodes().retain(|node| node["path"].as_str().is_none_or(|path| !path.contains(of_path)));
        assert!(self.nodes().len() < many, "nothing of {of_path} to leave out");
        self
    }
    /// Every occurrence of a text in a file's content becomes another; there must be one.
    fn edit(mut self, of_path: &str, from: &str, to: &str) -> Self {
        let file = self.file(of_path);
        let text = file["text"].as_str().unwrap();
        assert!(text.contains(from), "{of_path} has no {from}: {text}");
        file["text"] = text.replace(from, to).into();
        self
    }
    /// Further members of a record, at its end.
    fn with(mut self, of_path: &str, members: &str) -> Self {
        let file = self.file(of_path);
        let text = file["text"].as_str().unwrap().strip_suffix("}\n").unwrap().to_owned();
        file["text"] = format!("{text},{members}}}\n").into();
        self
    }
    /// The same before the last member of the record.
    fn text(mut self, of_path: &str, text: &str) -> Self {
        self.file(of_path)["text"] = text.into();
        self
    }
    /// What 0.15.0 is asked of this tree, and what is wrong with our answer.
    fn asked(&self, ask: &Value, want: &Value) -> Result<(), String> {
        let mut case = self.0.clone();
        case["expect"] = json!([want]);
        let tree = Tree::of_case(&case);
        compare(&expanded(&tree, want), &answer(&tree, ask, Release::V0_15), false)
    }
}

fn file(path: impl Into<String>, text: &str) -> Value {
    json!({ "type": "file", "path": path.into(), "text": text })
}
fn directory(path: impl Into<String>) -> Value {
    json!({ "type": "dir", "path": path.into() })
}
fn symlink(path: impl Into<String>, target: &str) -> Value {
    json!({ "type": "symlink", "path": path.into(), "target": target })
}
fn gone(path: &str) -> Value {
    json!({ "type": "remove", "path": path })
}
fn touched(path: &str) -> Value {
    json!({ "type": "touch", "path": path, "mtime": 1_600_000_777 })
}

/// Fails unless every line of a table holds.
#[track_caller]
fn all_hold(asked: &Value, lines: Vec<(&str, Case, Value)>) {
    let wrong = lines.iter().filter_map(|(what, case, want)| Some(format!("{what}: {}", case.asked(asked, want).err()?)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} of {} lines:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

fn resolved() -> Value {
    json!({ "kind": "resolved" })
}
fn refused(code: &str) -> Value {
    json!({ "kind": "error", "code": code })
}

/// A tombstone of s1 with so many pending records, and a session s2 beside it.
fn unfinished(plans: usize) -> Case {
    let mut case = Case::recorded("cleanup-pending-contiguous");
    let kept = |path: &str| (plans + 1..=3).all(|n| !path.contains(&format!("cleanup-pending-{n}")));
    case.nodes().retain(|node| node["path"].as_str().is_none_or(kept));
    case
}

#[test]
fn a_transcript_that_changed_behind_a_plan() {
    all_hold(
        &json!({ "op": "reconcile", "cwd": "ws/a" }),
        vec![
            ("as it was", unfinished(1), resolved()),
            ("touched", unfinished(1).node(touched(TRANSCRIPT)), refused("durability_failed")),
            ("grown", unfinished(1).node(json!({ "type": "append", "path": TRANSCRIPT, "text": "{}\n" })), refused("durability_failed")),
            ("a symlink", unfinished(1).node(gone(TRANSCRIPT)).node(symlink(TRANSCRIPT, "x")), refused("durability_failed")),
            ("a directory", unfinished(1).node(gone(TRANSCRIPT)).node(directory(TRANSCRIPT)), refused("durability_failed")),
            (
                "a second link",
                unfinished(1).node(json!({ "type": "hardlink", "path": "agent/x", "target": TRANSCRIPT })),
                refused("durability_failed"),
            ),
            ("emptied", unfinished(1).node(json!({ "type": "write", "path": TRANSCRIPT, "text": "" })), refused("binding_invalid")),
            ("touched, before any plan", unfinished(0).node(touched(TRANSCRIPT)), refused("binding_invalid")),
            ("gone, before any plan", unfinished(0).node(gone(TRANSCRIPT)), resolved()),
            (
                "touched, and a plan that cannot be read",
                unfinished(1).text("cleanup-pending-1", "{").node(touched(TRANSCRIPT)),
                refused("binding_invalid"),
            ),
            ("a plan that cannot be read", unfinished(1).text("cleanup-pending-1", "{"), refused("durability_failed")),
            (
                "an odd plan that cannot be read, and its own name is free",
                unfinished(0).node(file(TOMBSTONE.replace(".json", ".{{var:op}}.cleanup-pending-x.json"), "{")),
                refused("durability_failed"),
            ),
            (
                "a list beside the plans is skipped",
                unfinished(1).node(file(TOMBSTONE.replace(".json", ".{{var:op}}.cleanup-pending-9.json"), "[]")),
                resolved(),
            ),
        ],
    );
}

#[test]
fn something_lies_under_a_name_of_the_deletion() {
    let identity = r#""expectedArtifactsIdentity":{"dev":"1","ino":"1","size":1,"mtimeNs":"1","sha256":""}"#;
    let tree = r#""expectedArtifactsTree":{"rootDev":"1","rootIno":"1","entries":[{"relativePath":"","kind":"directory","dev":"1","ino":"1","size":"1","mtimeNs":"1","ctimeNs":"1"}]}"#;
    let detached = format!(r#""detachedArtifactsPath":"{{{{root}}}}/{DETACHED}-artifacts-1""#);
    let planned = format!("{DETACHED}-artifacts-1");
    let own = |more: &str| {
        let identity = r#""expectedArtifactsIdentity":{"dev":"{{dev:@dd}}","ino":"{{ino:@dd}}","size":1,"mtimeNs":"1","sha256":""}"#;
        let root =
            r#"{"relativePath":"","kind":"directory","dev":"{{dev:@dd}}","ino":"{{ino:@dd}}","size":"1","mtimeNs":"1","ctimeNs":"1"}"#;
        let tree = format!(r#""expectedArtifactsTree":{{"rootDev":"{{{{dev:@dd}}}}","rootIno":"{{{{ino:@dd}}}}","entries":[{root}]}}"#);
        let there = json!({ "type": "dir", "path": planned, "as": "dd" });
        unfinished(1).before("cleanup-pending-1", there).with("cleanup-pending-1", &format!("{identity},{tree}{more}"))
    };
    all_hold(
        &json!({ "op": "reconcile", "cwd": "ws/a" }),
        vec![
            ("detached, but not which", unfinished(1).with("cleanup-pending-1", &detached), refused("durability_failed")),
            (
                "detached and gone",
                unfinished(1).with("cleanup-pending-1", &format!("{identity},{tree},{detached}")),
                refused("binding_invalid"),
            ),
            (
                "another directory where they are detached",
                unfinished(1).node(directory(&planned)).with("cleanup-pending-1", &format!("{identity},{tree},{detached}")),
                refused("binding_invalid"),
            ),
            (
                "another directory where they would be detached",
                unfinished(1).node(directory(&planned)).with("cleanup-pending-1", &format!("{identity},{tree}")),
                refused("durability_failed"),
            ),
            (
                "an unsafe one there",
                unfinished(1).node(symlink(format!("{planned}/l"), "x")).with("cleanup-pending-1", &format!("{identity},{tree}")),
                refused("binding_invalid"),
            ),
            ("a directory at the planned name", unfinished(1).node(directory(&planned)), refused("durability_failed")),
            ("a file at the planned name", unfinished(1).node(file(&planned, "")), refused("durability_failed")),
            ("a dangling link at the planned name is not seen", unfinished(1).node(symlink(&planned, "x")), resolved()),
            (
                "a directory at the removing name",
                unfinished(1).node(directory(format!("{planned}.removing"))),
                refused("durability_failed"),
            ),
            ("the recorded one at the planned name", own(""), resolved()),
            ("the recorded one, with something in it", own("").node(file(format!("{planned}/f"), "")), refused("durability_failed")),
            (
                "free of payload by its record, with an empty file in it",
                own(r#","artifactsPayloadDurable":true"#).node(file(format!("{planned}/f"), "")),
                resolved(),
            ),
            (
                "free of payload by its record, with payload in it",
                own(r#","artifactsPayloadDurable":true"#).node(file(format!("{planned}/f"), "1")),
                refused("durability_failed"),
            ),
            (
                "the transcript's payload is gone by the record",
                unfinished(1).with("cleanup-pending-1", r#""transcriptPayloadDurable":true"#),
                refused("durability_failed"),
            ),
            (
                "a retained successor stands",
                unfinished(1)
                    .node(file(format!("{SCOPE}/.gjc-x"), ""))
                    .with("cleanup-pending-1", &format!(r#""retainedTranscriptSuccessorPath":"{{{{root}}}}/{SCOPE}/.gjc-x""#)),
                refused("durability_failed"),
            ),
            (
                "a retained placeholder with content",
                unfinished(1)
                    .node(file(format!("{SCOPE}/.gjc-x"), "1"))
                    .with("cleanup-pending-1", &format!(r#""retainedTranscriptPlaceholderPath":"{{{{root}}}}/{SCOPE}/.gjc-x""#)),
                resolved(),
            ),
            (
                "the transcript, and another file at its planned name",
                unfinished(1).node(file(format!("{DETACHED}-transcript-1"), "other")),
                refused("binding_invalid"),
            ),
            (
                "a file at the name that the first plan would take",
                unfinished(0).node(file(format!("{DETACHED}-transcript-1"), "")),
                refused("binding_invalid"),
            ),
            ("a directory at the name that the first plan would take", unfinished(0).node(directory(&planned)), refused("binding_invalid")),
            (
                "a size as text",
                unfinished(1).with("cleanup-pending-1", &identity.replace(r#""size":1"#, r#""size":"1""#)),
                refused("durability_failed"),
            ),
            (
                "a number that is none",
                unfinished(1).with("cleanup-pending-1", &identity.replace(r#""dev":"1""#, r#""dev":"x""#)),
                refused("durability_failed"),
            ),
            (
                "a planned path with a slash at its end",
                unfinished(1).edit("cleanup-pending-1", "-artifacts-1\"", "-artifacts-1/\""),
                resolved(),
            ),
            (
                "the artifact directory is not the expected one",
                unfinished(1).node(directory(BESIDE)).with("cleanup-pending-1", &format!("{identity},{tree}")),
                refused("binding_invalid"),
            ),
        ],
    );
}

#[test]
fn a_transcript_that_is_gone() {
    let done = || Case::recorded("cleanup-gone-with-artifacts-removed");
    let invalid = || Case::recorded("cleanup-artifacts-removed-retained-invalid");
    let stale = |case: Case| {
        let record = invalid().file("artifacts_removed-1").clone();
        case.node(record).node(gone(TRANSCRIPT))
    };
    all_hold(
        &json!({ "op": "reconcile", "cwd": "ws/a" }),
        vec![
            ("only the latest attempt's record is read", stale(unfinished(2)), resolved()),
            ("the only attempt's record breaks a rule", stale(unfinished(1)), refused("durability_failed")),
            ("the record of a first attempt, without any plan", stale(unfinished(0)), refused("durability_failed")),
            (
                "an earlier attempt's record, named by the latest plan",
                stale(unfinished(2)).with("cleanup-pending-2", r#""artifactsRemovedAttempt":1"#),
                refused("durability_failed"),
            ),
            ("artifacts stand beside it", done().node(directory(BESIDE)), refused("durability_failed")),
            (
                "artifacts stand at the planned name",
                done().node(directory(format!("{DETACHED}-artifacts-1"))),
                refused("durability_failed"),
            ),
            ("its planned name holds an empty file", done().node(file(format!("{DETACHED}-transcript-1"), "")), resolved()),
            (
                "its planned name holds an empty directory",
                done().node(directory(format!("{DETACHED}-transcript-1"))),
                refused("durability_failed"),
            ),
            ("artifacts beside it are a symlink, with a plan", unfinished(1).node(gone(TRANSCRIPT)).node(symlink(BESIDE, "x")), resolved()),
            (
                "artifacts beside it are a symlink, without a plan",
                unfinished(0).node(gone(TRANSCRIPT)).node(symlink(BESIDE, "x")),
                refused("binding_invalid"),
            ),
            (
                "called detached, and not there either",
                unfinished(1)
                    .node(gone(TRANSCRIPT))
                    .with("cleanup-pending-1", &format!(r#""detachedTranscriptPath":"{{{{root}}}}/{DETACHED}-transcript-0""#)),
                refused("binding_invalid"),
            ),
            (
                "detached, and its artifacts were never said to be removed",
                unfinished(1).node(json!({ "type": "rename", "path": format!("{DETACHED}-transcript-1"), "target": TRANSCRIPT })),
                refused("binding_invalid"),
            ),
        ],
    );
}

#[test]
fn who_is_stopped_by_the_deletion_of_another_session() {
    let lock = || file(TOMBSTONE.replace("tombstones", "locks").replace(".json", ".lock"), "");
    let s2 = "agent/sessions/v2-{{digest:ws/a}}/2026-01-02T00-00-00-000Z_s2.jsonl";
    all_hold(
        &json!({ "op": "open", "cwd": "ws/a", "session": "s2" }),
        vec![
            (
                "it fails: that is only logged",
                unfinished(0).node(touched(TRANSCRIPT)),
                json!({ "kind": "opened", "path": s2, "migrated": false }),
            ),
            ("its lock is held", unfinished(0).node(lock()), refused("migration_busy")),
            (
                "its lock is held, and it is finished",
                Case::recorded("cleanup-completed-locked"),
                json!({ "kind": "opened", "path": s2, "migrated": false }),
            ),
        ],
    );
    all_hold(
        &json!({ "op": "delete", "cwd": "ws/a", "session": "s2" }),
        vec![
            ("it fails", unfinished(0).node(touched(TRANSCRIPT)), refused("binding_invalid")),
            ("it fails in another way", unfinished(1).node(touched(TRANSCRIPT)), refused("durability_failed")),
            ("its lock is held", unfinished(0).node(lock()), refused("migration_busy")),
        ],
    );
}

#[test]
fn a_deletion_whose_tombstone_has_its_name_taken() {
    let only_session = || unfinished(0).without("tombstones/{{");
    let taken = |text: &str| only_session().node(file(TOMBSTONE, text));
    let lock = || file(TOMBSTONE.replace("tombstones", "locks").replace(".json", ".lock"), "");
    let tombstone = unfinished(0).file("tombstones/{{")["text"].as_str().unwrap().to_owned();
    let plan = unfinished(1).file("cleanup-pending-1").clone();
    let already = || json!({ "kind": "already_deleted", "tombstone": TOMBSTONE });
    let deleted = || json!({ "kind": "deleted", "tombstone": TOMBSTONE });
    all_hold(
        &json!({ "op": "delete", "cwd": "ws/a", "session": "s1" }),
        vec![
            ("free", only_session(), deleted()),
            ("no JSON", taken("garbage"), refused("durability_failed")),
            ("a directory", only_session().node(directory(TOMBSTONE)), refused("durability_failed")),
            (
                "another scope's",
                taken("{\"schemaVersion\":2,\"state\":\"retired\",\"scope\":\"x\",\"targets\":[]}\n"),
                refused("durability_failed"),
            ),
            (
                "without a target",
                taken("{\"schemaVersion\":2,\"state\":\"retired\",\"scope\":\"{{digest:ws/a}}\",\"targets\":[]}\n"),
                already(),
            ),
            ("no JSON, and the lock is held", taken("garbage").node(lock()), refused("migration_busy")),
            ("free, with a plan of an earlier try", only_session().node(plan.clone()), deleted()),
            (
                "free, with a plan that breaks a rule",
                only_session().node(plan.clone()).edit("cleanup-pending-1", "cleanup_pending", "x"),
                refused("durability_failed"),
            ),
            ("free, with unsafe artifacts", only_session().node(file(BESIDE, "")), refused("unsafe_artifacts")),
            (
                "it has this session and its cwd is spelled otherwise: preparing deletes it",
                taken(&tombstone.replace("{{root}}/ws/a\"", "{{root}}/ws/./a\"")),
                already(),
            ),
        ],
    );
}

const RECEIPT: &str = "agent/sessions/v2-{{digest:ws/a}}/.gjc-managed-session-internal/receipts/{{opname:@src}}";

/// The first question of this kind that a recorded case asks.
fn question(case: &str, op: &str) -> Value {
    let asks = Case::recorded(case).0["ask"].take();
    asks.as_array().unwrap().iter().find(|ask| ask["op"] == op).unwrap().clone()
}
fn migrated() -> Value {
    json!({ "kind": "opened", "path": TRANSCRIPT, "migrated": true })
}

#[test]
fn a_migration_that_stopped_before_anything_moved() {
    let prepared = || Case::recorded("interrupted-prepared");
    let staged = |state: &str, text: &str| prepared().node(file(format!("{RECEIPT}.{state}.json"), text));
    all_hold(
        &question("interrupted-prepared", "open"),
        vec![
            ("as it was", prepared(), migrated()),
            ("its receipt is null", prepared().text(".prepared.json", "null"), refused("managed_storage_unsupported")),
            ("a detached receipt is null", staged("detached", "null"), refused("managed_storage_unsupported")),
            ("a detached receipt is a number", staged("detached", "5"), migrated()),
            ("a detached receipt is no JSON", staged("detached", "x"), refused("durability_failed")),
            ("a detached receipt without a quarantine", staged("detached", r#"{"sourceArtifactQuarantine":null}"#), migrated()),
            (
                "a detached receipt is a dangling link",
                prepared().node(symlink(format!("{RECEIPT}.detached.json"), "nowhere")),
                refused("managed_storage_unsupported"),
            ),
            (
                "a published receipt is a directory",
                prepared().node(directory(format!("{RECEIPT}.published.json"))),
                refused("source_changed"),
            ),
            (
                "a published receipt is a link",
                prepared().node(symlink(format!("{RECEIPT}.published.json"), "nowhere")),
                refused("managed_storage_unsupported"),
            ),
            ("a published receipt is no JSON", staged("published", "x"), migrated()),
            ("a file stands for the copied artifacts", prepared().node(file(BESIDE, "x")), refused("durability_failed")),
            ("a link stands for the copied artifacts", prepared().node(symlink(BESIDE, "x")), refused("durability_failed")),
            ("an empty directory stands there", prepared().node(directory(BESIDE)), refused("durability_failed")),
        ],
    );
}

#[test]
fn copies_that_stand_in_the_way() {
    let name = "interrupted-prepared-with-artifacts";
    let fresh = || Case::recorded(name).without(".prepared.json");
    let log = format!("{BESIDE}/0.bash.log");
    all_hold(
        &question(name, "open"),
        vec![
            ("none", fresh(), migrated()),
            ("a file for a directory", fresh().node(file(format!("{BESIDE}/sub"), "x")), refused("managed_storage_unsupported")),
            ("a directory for a file", fresh().node(directory(&log)), refused("source_changed")),
            ("a link for a file", fresh().node(symlink(&log, "x")), refused("managed_storage_unsupported")),
            ("other bytes for a file", fresh().node(file(&log, "other")), refused("durability_failed")),
            (
                "two links of a file",
                fresh().node(file("agent/y", "out\n")).node(json!({ "type": "hardlink", "path": log, "target": "agent/y" })),
                refused("source_changed"),
            ),
            ("a further link", fresh().node(symlink(format!("{BESIDE}/zz"), "x")), refused("durability_failed")),
            (
                "the first in the order of the manifest is told",
                fresh().node(file(format!("{BESIDE}/sub"), "x")).node(directory(&log)),
                refused("source_changed"),
            ),
            (
                "a detached receipt of an earlier try",
                Case::recorded(name).node(file(format!("{RECEIPT}.detached.json"), "{}\n")),
                refused("durability_failed"),
            ),
            (
                "the prepared receipt has no parent",
                Case::recorded(name).edit(".prepared.json", r#","parentDev":"#, r#","parentDevice":"#),
                refused("durability_failed"),
            ),
        ],
    );
}

#[test]
fn artifacts_that_were_put_back_before_the_receipt_was_removed() {
    let name = "interrupted-detached-original-back";
    let back = || Case::recorded(name);
    let cleanup = r#""sourceArtifactCleanup":{"state":"cleanup_pending","role":"exchange_placeholder","retainedPath":"{{root}}/x","identity":{"dev":"1","ino":"1","size":"1","mtimeNs":"1","parentDev":"1","parentIno":"1"},"tree":{"rootDev":"1","rootIno":"1","entries":[{"relativePath":"","kind":"directory","dev":"1","ino":"1","nlink":"2","size":"1","mtimeNs":"1","ctimeNs":"1"}]}},"detachOutcome":"cleanup_pending""#;
    let identity =
        |dev: &str| back().edit(".detached.json", r#""identity":{"dev":"{{dev:@art}}""#, &format!(r#""identity":{{"dev":"{dev}""#));
    all_hold(
        &question(name, "open"),
        vec![
            ("as it was", back(), migrated()),
            ("an unknown member of the tree", back().edit(".detached.json", "\"rootDev\"", "\"zz\":1,\"rootDev\""), migrated()),
            ("no link counts", back().edit(".detached.json", "\"nlink\"", "\"links\""), migrated()),
            (
                "another inode of the tree",
                back().edit(".detached.json", r#""ino":"{{ino:@f0}}""#, r#""ino":"1""#),
                refused("durability_failed"),
            ),
            ("no parent", back().edit(".detached.json", "\"parentDev\"", "\"parentDevice\""), refused("durability_failed")),
            ("a device that is no number", identity("x"), refused("managed_storage_unsupported")),
            ("a device in hexadecimal digits", identity("0x{{devhex:@art}}"), migrated()),
            ("another device", identity("1"), refused("durability_failed")),
            (
                "a placeholder that does not stand",
                back().edit(".detached.json", r#""detachOutcome":"clean""#, cleanup),
                refused("durability_failed"),
            ),
        ],
    );
}

#[test]
fn a_committed_receipt_with_a_placeholder() {
    let name = "receipt-placeholder-matching";
    let receipt = "receipts/{{opname:@src}}.json";
    let edited = |from: &str, to: &str| Case::recorded(name).edit(receipt, from, to);
    let matched = Case::recorded(name).0["expect"][0].clone();
    let legacy = "agent/sessions/{{legacy:ws/a}}/2026-01-01T00-00-00-000Z_s1.jsonl";
    let both = json!({ "kind": "complete", "owned": [
        { "path": TRANSCRIPT, "sessionId": "s1", "provenance": "v2", "state": "native_v2" },
        { "path": legacy, "sessionId": "s1", "provenance": "legacy", "state": "legacy_unmigrated" },
    ]});
    let dev = r#""identity":{"dev":"{{dev:@ph}}""#;
    all_hold(
        &question(name, "list"),
        vec![
            ("as it was", Case::recorded(name), matched.clone()),
            ("a number as a number", edited(r#""parentIno":"{{ino"#, r#""parentIno":"0","parentIno":"{{ino"#), matched.clone()),
            ("a number in hexadecimal digits", edited(dev, r#""identity":{"dev":"0x{{devhex:@ph}}""#), matched.clone()),
            ("a number with spaces", edited(dev, r#""identity":{"dev":" {{dev:@ph}} ""#), matched.clone()),
            ("a number that is true", edited(dev, r#""identity":{"dev":true"#), both.clone()),
            ("no link count", edited(r#""nlink":"{{nlink:@ph}}","#, ""), matched.clone()),
            ("another link count", edited(r#""nlink":"{{nlink:@ph}}""#, r#""nlink":"9","zz":1"#), matched.clone()),
            ("a hash of nothing", edited(r#""ctimeNs":"{{ctimeNs:@ph}}""#, r#""ctimeNs":"{{ctimeNs:@ph}}","sha256":null"#), both),
        ],
    );
}

#[test]
fn a_transcript_whose_name_is_not_utf_8() {
    let header = r#"{"type":"session","version":5,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"{{root}}/ws/a"}"#;
    let name = data_encoding::BASE64.encode(b"x\xff.jsonl");
    let odd = json!({ "type": "file", "path": format!("{SCOPE}/"), "nameB64": name, "text": format!("{header}\n") });
    let legacy = data_encoding::BASE64.encode(b"-\xff");
    let inside = json!({ "type": "file", "path": "agent/sessions/", "nameB64": legacy, "text": "" });
    let mut case = Case::recorded("transcript-name-hidden");
    case.nodes().truncate(2);
    all_hold(
        &json!({ "op": "list", "cwd": "ws/a" }),
        vec![(
            "listed as what cannot be read",
            case.node(odd).node(inside),
            json!({ "kind": "complete", "owned": [], "foreign": 0, "invalid": ["unreadable_candidate"] }),
        )],
    );
}

#[test]
fn a_listing_follows_a_link_in_the_place_of_the_tombstones() {
    let name = "tombstone-no-final-lf";
    let hidden = Case::recorded(name).0["expect"][0].clone();
    let mut case = Case::recorded(name);
    for node in case.nodes() {
        if let Some(path) = node["path"].as_str().filter(|path| path.contains("/tombstones")) {
            let (_, below) = path.split_once("/tombstones").unwrap();
            node["path"] = format!("agent/elsewhere{below}").into();
        }
    }
    let link = symlink(format!("{SCOPE}/.gjc-managed-session-internal/tombstones"), "../../../elsewhere");
    all_hold(&json!({ "op": "list", "cwd": "ws/a" }), vec![("hidden all the same", case.node(link), hidden)]);
}
