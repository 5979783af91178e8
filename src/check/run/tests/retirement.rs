//! Retirement receipts and their quotas: a session whose owner is being retired, one fault at a time in its journal or beside
//! it, with the exact findings and a near miss.

use super::*;
use crate::agent::artifacts;
use crate::agent::owner_evidence::{EMPTY_SHA256, Evidence, Inode, Locator, TreeSnapshot, owner_id};
use crate::gc::{Continuation, Identity as Transcript, Key, NativeOutcome, Progress, Receipt, Retained, State, Target, Why};
use sha2::{Digest, Sha256};
use std::sync::Arc;

const PENDING: &str = "gc_retirement_pending";

/// The clean tree with an owner of its session; what the receipts of its journal say.
pub(super) struct Retirement {
    pub(super) tree: Tree,
    pub(super) prepared: Receipt,
}

pub(super) fn owner() -> String {
    format!("/a/sessions/.task-artifact-owners/{}", owner_id("s1".into()).unwrap())
}

impl Retirement {
    pub(super) fn new() -> Self {
        let tree = Tree::new();
        let fs = &tree.fs;
        fs.file(format!("{}/0.bash.log", owner()), b"output");
        let root = fs.lstat(Path::new(&owner())).unwrap();
        let id = owner_id("s1".into()).unwrap();
        let locator = format!(
            ",\"taskArtifactOwner\":{{\"schemaVersion\":1,\"ownerId\":\"{id}\",\"directoryDev\":\"{}\",\"directoryIno\":\"{}\"}}",
            root.dev, root.ino
        );
        let manifest = crate::gc::owner::Manifest {
            locator: Locator { owner_id: id.clone(), directory_dev: root.dev, directory_ino: root.ino },
            session_id: "s1".into(),
        };
        fs.file(format!("{}/{}", owner(), crate::gc::owner::MANIFEST), &manifest.encode());
        fs.remove(tree.transcript());
        fs.file(tree.transcript(), text("s1", &locator).as_bytes());
        let file = fs.lstat(Path::new(&tree.transcript())).unwrap();
        let survey = artifacts::survey(fs, Path::new(&owner())).unwrap().unwrap();
        let parent = fs.lstat(Path::new("/a/sessions/.task-artifact-owners")).unwrap();
        let prepared = Receipt {
            scope: identity("/ws").digest_text(),
            target: Arc::new(Target {
                transcript_path: tree.transcript().as_str().into(),
                session_id: "s1".into(),
                cwd: "/ws".into(),
                identity: Transcript {
                    dev: file.dev.into(),
                    ino: file.ino.into(),
                    size: file.size,
                    mtime_ns: file.mtime_ns.into(),
                    sha256: Sha256::digest(text("s1", &locator)).into(),
                },
                locator: manifest.locator.clone(),
            }),
            evidence: Evidence {
                session_id: "s1".into(),
                locator: manifest.locator,
                parent: Inode { dev: parent.dev, ino: parent.ino },
                tree: TreeSnapshot::captured(&artifacts::snapshot(fs, &survey).unwrap()).unwrap(),
            },
            progress: Progress::Prepared,
        };
        Retirement { tree, prepared }
    }
    fn key(&self) -> Key {
        Key::of(self.prepared.target.transcript_path.as_js())
    }
    pub(super) fn path(&self, state: State) -> String {
        self.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{}", self.key().name(state)))
    }
    pub(super) fn receipt(&self, progress: Progress) -> Receipt {
        Receipt { progress, ..self.prepared.clone() }
    }
    pub(super) fn store(&self, receipt: &Receipt) {
        self.tree.fs.file(self.path(receipt.state()), &receipt.encode().unwrap());
    }
    /// The journal up to `prepared`, `artifacts_removed` and so many uncertain attempts.
    pub(super) fn with(self, attempts: u64) -> Self {
        self.store(&self.prepared);
        self.store(&self.receipt(Progress::ArtifactsRemoved));
        for attempt in 1..=attempts {
            self.store(&self.pending(attempt, uncertain(&self.prepared.evidence)));
        }
        self
    }
    pub(super) fn pending(&self, attempt: u64, outcome: Retained) -> Receipt {
        self.receipt(Progress::OwnerPending { attempt, outcome: Box::new(outcome) })
    }
    /// Changes the text of a stored receipt.
    fn edit(&self, state: State, from: &str, to: &str) {
        let bytes = self.receipt_bytes(state);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{text}");
        self.tree.fs.remove(self.path(state));
        self.tree.fs.file(self.path(state), text.replacen(from, to, 1).as_bytes());
    }
    fn receipt_bytes(&self, state: State) -> Vec<u8> {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut self.tree.fs.open(Path::new(&self.path(state))).unwrap(), &mut bytes).unwrap();
        bytes
    }
    /// Codes, each with the state (or other file) it is said of.
    pub(super) fn found(&self) -> Vec<String> {
        self.found_by(&options())
    }
    pub(super) fn found_by(&self, options: &Options) -> Vec<String> {
        let receipts = format!("SCOPE/{INTERNAL}/{RECEIPTS}");
        let run = checked(&self.tree.fs, "/a", options);
        let found = found_in(&run);
        found
            .iter()
            .map(|line| line.replace(&self.key().prefix(), "").replace(&format!("{receipts}/"), "").replace(&receipts, "RECEIPTS"))
            .collect()
    }
    fn found_beside_residue(&self) -> Vec<String> {
        self.found().into_iter().filter(|line| !line.starts_with("gc_residue_present ")).collect()
    }
    pub(super) fn detach(&self) {
        self.tree.fs.rename(owner(), format!("{}.removing", owner()));
    }
}

fn removing(evidence: &Evidence) -> Continuation {
    Continuation::new(evidence.parent, format!("{}.removing", owner()).as_str().into(), evidence.tree.clone())
}
pub(super) fn uncertain(evidence: &Evidence) -> Retained {
    let mut continuation = removing(evidence);
    continuation.retained_root = owner().as_str().into();
    Retained { why: Why::Uncertain { reason: "task_artifact_owner_native_removal_uncertain".into() }, continuation, native: None }
}
/// An attempt that emptied every file and left the tree at `.removing`.
pub(super) fn payload_retired(evidence: &Evidence) -> Retained {
    let mut continuation = removing(evidence);
    continuation.payload_durable = Some(true);
    continuation.append(crate::gc::List::NativeCodes, "cleanup_pending".into());
    for entry in &mut continuation.tree.entries {
        if entry.kind == crate::agent::record::NodeKind::File {
            (entry.size, entry.sha256) = (0, Some(EMPTY_SHA256));
        }
    }
    let native = NativeOutcome { ok: false, code: Some("cleanup_pending".into()), payload_durable: Some(true), ..NativeOutcome::default() };
    Retained { why: Why::PayloadRetired, continuation, native: Some(native) }
}
const PREPARED: State = State::Prepared;
const REMOVED: State = State::ArtifactsRemoved;
const RETIRED: State = State::OwnerRetired;

fn only(code: &str, at: &str) -> Vec<String> {
    vec![format!("{code} {at}")]
}
/// The journal before the fault: sound, with its own artifacts gone.
fn near_miss() {
    assert_eq!(Retirement::new().with(0).found(), pending_at("artifacts_removed.json"), "near miss");
}
fn pending_at(at: &str) -> Vec<String> {
    only(PENDING, at)
}

#[test]
fn an_owner_without_journal_is_nothing_special() {
    assert_eq!(Retirement::new().found(), NOTHING);
}

#[test]
fn gc_retirement_pending() {
    let journal = Retirement::new();
    journal.store(&journal.prepared);
    assert_eq!(journal.found(), pending_at("prepared.json"));
    assert_eq!(Retirement::new().with(0).found(), pending_at("artifacts_removed.json"));
    assert_eq!(Retirement::new().with(2).found(), pending_at("owner_pending-00000002.json"));
    assert_eq!(journal.found_by(&Options { release: Release::V0_15, ..options() }), NOTHING, "0.15 has no retirement");
    // Near miss: retired, and nothing of the owner is left.
    let retired = Retirement::new().with(1);
    retired.store(&retired.receipt(Progress::OwnerRetired));
    retired.tree.fs.remove(owner());
    assert_eq!(retired.found(), NOTHING);
}

#[test]
fn every_receipt_is_asked_for_its_acl_once_whether_it_is_opened_or_not() {
    let acl = |journal: &Retirement, state| journal.tree.fs.set_acl(journal.path(state), Acl::Access, Ok(28));
    let of_acl = |journal: &Retirement| -> Vec<String> { journal.found().into_iter().filter(|line| line.starts_with("acl_")).collect() };
    let journal = Retirement::new().with(1);
    acl(&journal, REMOVED);
    assert_eq!(of_acl(&journal), only("acl_present", "artifacts_removed.json"));
    // The replay ends at its first receipt, the next one is never opened.
    journal.edit(PREPARED, "\"prepared\"", "\"other\"");
    assert_eq!(of_acl(&journal), only("acl_present", "artifacts_removed.json"));
    // 0.15 knows no journal, and the policy is the same.
    let old: Vec<String> = journal.found_by(&Options { release: Release::V0_15, ..options() });
    assert!(old.contains(&"acl_present artifacts_removed.json".to_owned()), "{old:?}");
    // Nor is any journal read where a name could not be looked at: it may be the receipt that is missing.
    let (journal, unseen) = (Retirement::new().with(1), Retirement::new().path(PREPARED));
    acl(&journal, REMOVED);
    let fails = Inject::new(&journal.tree.fs, |call| (call.op == "lstat" && call.path == Path::new(&unseen)).then_some(Errno::IO));
    let run = checked(&fails, "/a", &options());
    assert_eq!(run.findings.iter().filter(|finding| finding.code.name == "acl_present").count(), 1);
    assert!(!run.findings.iter().any(|finding| finding.code.name == PENDING));
    // Near miss: the file system cannot store one.
    let journal = Retirement::new().with(1);
    journal.tree.fs.set_acl(journal.path(REMOVED), Acl::Access, Err(Errno::OPNOTSUPP));
    assert_eq!(of_acl(&journal), NOTHING);
}

#[test]
fn gc_receipt_orphan_transcript_missing() {
    let journal = Retirement::new().with(1);
    journal.tree.fs.remove(journal.tree.transcript());
    let at = "owner_pending-00000001.json";
    assert_eq!(journal.found(), [format!("gc_receipt_orphan_transcript_missing {at}"), format!("{PENDING} {at}")]);
    // Near miss: the journal is at its end.
    journal.store(&journal.receipt(Progress::OwnerRetired));
    journal.tree.fs.remove(owner());
    assert_eq!(journal.found(), NOTHING);
}

#[test]
fn gc_receipt_not_canonical() {
    let journal = Retirement::new().with(0);
    journal.edit(PREPARED, "{\"schemaVersion\":1,", "{ \"schemaVersion\":1,");
    assert_eq!(journal.found(), ["gc_receipt_not_canonical prepared.json".to_owned(), format!("{PENDING} artifacts_removed.json")]);
    let journal = Retirement::new().with(0);
    journal.edit(REMOVED, "true}\n", "true}");
    assert_eq!(
        journal.found(),
        ["gc_receipt_not_canonical artifacts_removed.json".to_owned(), format!("{PENDING} artifacts_removed.json")]
    );
}

#[test]
fn continuation_corrupt() {
    near_miss();
    const CODE: &str = "task_artifact_owner_continuation_corrupt";
    let journal = Retirement::new().with(0);
    journal.edit(REMOVED, "true}\n", "true\n");
    assert_eq!(journal.found(), only(CODE, "artifacts_removed.json"), "no JSON");
    let journal = Retirement::new().with(0);
    journal.edit(PREPARED, "\"nlink\":\"1\",\"size\"", "\"nlink\":\"2\",\"size\"");
    assert_eq!(journal.found(), only(CODE, "prepared.json"), "a malformed identity");
    for name in ["prepared.json.tmp", "owner_pending-000000001.json"] {
        let journal = Retirement::new().with(0);
        journal.tree.fs.file(journal.path(PREPARED).replace("prepared.json", name), b"");
        assert_eq!(journal.found(), only(CODE, name), "a name that is none");
    }
    let journal = Retirement::new().with(0);
    journal.tree.fs.directory(journal.path(RETIRED));
    assert_eq!(journal.found(), only(CODE, "owner_retired.json"), "a directory");
    let journal = Retirement::new().with(0);
    journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-x-prepared.json")), b"{}");
    let nobody = format!("{CODE} gc-retirement-x-prepared.json");
    assert_eq!(journal.found(), [format!("{PENDING} artifacts_removed.json"), nobody], "of no transcript: the journals stand");
}

#[test]
fn continuation_mismatch() {
    near_miss();
    let journal = Retirement::new().with(0);
    journal.edit(REMOVED, "true}\n", "true,\"taskArtifactOwnerLocator\":null}\n");
    assert_eq!(journal.found(), only("task_artifact_owner_continuation_mismatch", "artifacts_removed.json"));
}

#[test]
fn continuation_identity_invalid() {
    near_miss();
    let journal = Retirement::new().with(0);
    journal.tree.fs.remove(journal.tree.transcript());
    journal.tree.fs.directory(journal.tree.transcript());
    // What else is wrong with a directory in a transcript's place is told by other areas.
    let found = journal.found();
    assert!(found.contains(&"task_artifact_owner_continuation_identity_invalid prepared.json".to_owned()), "{found:?}");
}

#[test]
fn transcript_replaced() {
    near_miss();
    const CODE: &str = "task_artifact_owner_continuation_transcript_replaced";
    let journal = Retirement::new().with(0);
    let grown = "{\"type\":\"label\",\"id\":\"e0000002\",\"parentId\":\"e0000001\",\"timestamp\":\"2026-01-01T00:00:02.000Z\",\"targetId\":\"e0000001\",\"label\":\"x\"}\n";
    journal.tree.fs.append(journal.tree.transcript(), grown.as_bytes());
    assert_eq!(journal.found(), only(CODE, "prepared.json"));
    let copied = Options { assume_root: Some("/home/ana/.gjc/agent".into()), ..options() };
    let elsewhere = Retirement::new().with(0).found_by(&copied);
    assert!(!elsewhere.iter().any(|line| line.starts_with(CODE)), "the inodes of a copy are no evidence: {elsewhere:?}");
}

#[test]
fn locator_missing() {
    near_miss();
    let journal = Retirement::new().with(0);
    journal.tree.fs.remove(journal.tree.transcript());
    journal.tree.fs.file(journal.tree.transcript(), text("s1", "").as_bytes());
    assert_eq!(journal.found(), only("task_artifact_owner_locator_missing", "prepared.json"));
}

#[test]
fn evidence_codes() {
    near_miss();
    let journal = Retirement::new().with(0);
    journal.edit(PREPARED, "\"schemaVersion\":2", "\"schemaVersion\":3");
    assert_eq!(
        journal.found(),
        only("task_artifact_owner_evidence_invalid", "prepared.json"),
        "in the receipt that everything starts from"
    );
    let journal = Retirement::new().with(0);
    journal.edit(REMOVED, "\"schemaVersion\":2", "\"schemaVersion\":3");
    assert_eq!(journal.found(), only("task_artifact_owner_continuation_evidence_corrupt", "artifacts_removed.json"), "in a later one");
    let journal = Retirement::new().with(0);
    journal.edit(REMOVED, "\"ctimeNs\":\"", "\"ctimeNs\":\"1");
    assert_eq!(journal.found(), only("task_artifact_owner_continuation_evidence_mismatch", "artifacts_removed.json"), "sound, and another");
    let journal = Retirement::new().with(0);
    let mut other = journal.receipt(Progress::ArtifactsRemoved);
    other.evidence.session_id = "s2".into();
    other.evidence.locator.owner_id = owner_id("s2".into()).unwrap();
    journal.tree.fs.remove(journal.path(REMOVED));
    journal.store(&other);
    assert_eq!(journal.found(), only("task_artifact_owner_continuation_locator_mismatch", "artifacts_removed.json"), "of another owner");
}

#[test]
fn outcome_codes() {
    let at = "owner_pending-00000001.json";
    let with = |from: &str, to: &str| {
        let journal = Retirement::new().with(1);
        journal.edit(State::OwnerPending(1), from, to);
        journal.found()
    };
    let reason = "\"reason\":\"task_artifact_owner_native_removal_uncertain\"";
    assert_eq!(with(reason, "\"reason\":\"\""), only("task_artifact_owner_retirement_outcome_invalid", at));
    assert_eq!(with(reason, "\"reason\":\"another\""), pending_at(at), "near miss: any reason will do");
    let outcome_first = "\"schemaVersion\":1,\"parentIdentity\"";
    assert_eq!(with(outcome_first, "\"schemaVersion\":2,\"parentIdentity\""), only("task_artifact_owner_continuation_invalid", at));
    let journal = Retirement::new().with(1);
    let text = String::from_utf8(journal.receipt_bytes(State::OwnerPending(1))).unwrap();
    let last = text.rfind("\"schemaVersion\":1,\"parentIdentity\"").unwrap();
    let turned = format!("{}{}", &text[..last], text[last..].replacen("\"schemaVersion\":1", "\"schemaVersion\":2", 1));
    journal.tree.fs.remove(journal.path(State::OwnerPending(1)));
    journal.tree.fs.file(journal.path(State::OwnerPending(1)), turned.as_bytes());
    assert_eq!(journal.found(), only("task_artifact_owner_continuation_outcome_mismatch", at), "the receipt's own continuation");
}

#[test]
fn state_missing() {
    const CODE: &str = "task_artifact_owner_continuation_state_missing";
    let without = |attempts, state| {
        let journal = Retirement::new().with(attempts);
        journal.tree.fs.remove(journal.path(state));
        journal.found()
    };
    assert_eq!(without(0, PREPARED), only(CODE, "artifacts_removed.json"));
    assert_eq!(without(1, REMOVED), only(CODE, "owner_pending-00000001.json"));
    assert_eq!(without(2, State::OwnerPending(1)), only(CODE, "owner_pending-00000002.json"), "a gap");
    assert_eq!(without(2, State::OwnerPending(2)), pending_at("owner_pending-00000001.json"), "near miss: the last attempt");
    let journal = Retirement::new().with(0);
    journal.tree.fs.rename(journal.path(REMOVED), journal.path(RETIRED));
    assert_eq!(journal.found(), only(CODE, "owner_retired.json"), "a state in the wrong file");
}

#[test]
fn authority_mismatch() {
    near_miss();
    const CODE: &str = "task_artifact_owner_continuation_authority_mismatch";
    let journal = Retirement::new().with(0);
    journal.edit(PREPARED, NAME, "2026-01-01T00-00-00-000Z_s2.jsonl");
    assert_eq!(journal.found(), only(CODE, "prepared.json"), "the key is not that of the path");
    let journal = Retirement::new().with(2);
    let mut grown = uncertain(&journal.prepared.evidence);
    grown.continuation.append(crate::gc::List::NativeCodes, "EBUSY".into());
    for (attempt, outcome) in [(1, grown), (2, uncertain(&journal.prepared.evidence))] {
        journal.tree.fs.remove(journal.path(State::OwnerPending(attempt)));
        journal.store(&journal.pending(attempt, outcome));
    }
    assert_eq!(journal.found(), only(CODE, "owner_pending-00000002.json"), "a later attempt forgets what an earlier one saw");
}

#[test]
fn live_checks_of_a_retired_owner() {
    let journal = Retirement::new().with(0);
    journal.store(&journal.receipt(Progress::OwnerRetired));
    journal.tree.fs.remove(owner());
    assert_eq!(journal.found(), NOTHING, "near miss: nothing of the owner is left");
    let retired = || {
        let journal = Retirement::new().with(0);
        journal.store(&journal.receipt(Progress::OwnerRetired));
        journal
    };
    assert_eq!(retired().found(), only("task_artifact_owner_physical_retirement_unverified", "owner_retired.json"));
    let journal = retired();
    journal.tree.fs.remove(owner());
    journal.tree.fs.directory(owner());
    assert_eq!(journal.found(), only("task_artifact_owner_retained_root_replaced", "owner_retired.json"));
    let journal = retired();
    journal.tree.fs.remove("/a/sessions/.task-artifact-owners");
    journal.tree.fs.directory("/a/sessions/.task-artifact-owners");
    assert_eq!(journal.found(), only("task_artifact_owner_parent_identity_mismatch", "owner_retired.json"));
}

#[test]
fn live_checks_of_a_retained_owner() {
    let at = "owner_pending-00000001.json";
    let retained = || {
        let journal = Retirement::new().with(0);
        journal.store(&journal.pending(1, payload_retired(&journal.prepared.evidence)));
        journal.detach();
        for file in ["0.bash.log", crate::gc::owner::MANIFEST] {
            journal.tree.fs.truncate(format!("{}.removing/{file}", owner()), 0);
        }
        journal
    };
    // That a removal left something is told by the area of residues.
    assert_eq!(retained().found_beside_residue(), pending_at(at), "near miss: emptied files in the detached tree are how it ends on POSIX");
    let journal = retained();
    journal.tree.fs.remove(format!("{}.removing", owner()));
    assert_eq!(journal.found(), [format!("{PENDING} {at}"), format!("task_artifact_owner_retained_tree_mismatch {at}")], "gone");
    let journal = retained();
    journal.tree.fs.file(format!("{}.removing/new", owner()), b"");
    assert_eq!(journal.found_beside_residue(), [format!("{PENDING} {at}"), format!("task_artifact_owner_retained_tree_mismatch {at}")]);
}

#[test]
fn retired_payload_changed() {
    // The continuation says that the payload is durably gone, and its tree still lists a file with content.
    let at = "owner_pending-00000001.json";
    let of = |durable| {
        let journal = Retirement::new().with(0);
        let mut outcome = uncertain(&journal.prepared.evidence);
        outcome.continuation.payload_durable = durable;
        journal.store(&journal.pending(1, outcome));
        journal.found()
    };
    assert_eq!(of(Some(true)), [format!("{PENDING} {at}"), format!("task_artifact_owner_retired_payload_changed {at}")]);
    assert_eq!(of(None), pending_at(at));
}

// quotas

#[test]
fn a_receipt_above_64_mib_is_neither_corrupt_nor_absent() {
    let journal = Retirement::new().with(0);
    let set = |size| {
        journal.tree.fs.remove(journal.path(REMOVED));
        journal.tree.fs.sparse(journal.path(REMOVED), size);
    };
    set((64 << 20) + 1);
    assert_eq!(journal.found(), only("managed_gc_journal_capacity_exceeded", "artifacts_removed.json"));
    set(1 << 10);
    assert_eq!(journal.found(), only("task_artifact_owner_continuation_corrupt", "artifacts_removed.json"), "near miss: it is read");
}

#[test]
fn fifty_thousand_entries_are_readable_and_one_more_is_capacity_whatever_they_are() {
    let entries = |count: u64| {
        let tree = Tree::new();
        for number in 0..count {
            tree.fs.file(tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-{number}")), b"");
        }
        let codes: std::collections::BTreeSet<String> =
            checked(&tree.fs, "/a", &options()).findings.iter().map(|finding| finding.code.name.to_owned()).collect();
        codes.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(
        entries(50_000),
        ["gc_inventory_admission_at_risk", "gc_receipt_quota_near", "limit_near", "task_artifact_owner_continuation_corrupt"],
        "all names are bad, and that is said; so is how near the inspector's own limit is"
    );
    assert_eq!(
        entries(50_001),
        ["gc_inventory_admission_at_risk", "managed_gc_journal_capacity_exceeded", "managed_gc_protocol_entry_limit_exceeded"],
        "the inspector refuses as well"
    );
}

#[test]
fn gc_inventory_admission_at_risk() {
    let entries = |count: u64| {
        let tree = Tree::new();
        for number in 0..count {
            tree.fs.file(tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-{number}")), b"");
        }
        checked(&tree.fs, "/a", &options()).findings.iter().any(|finding| finding.code.name == "gc_inventory_admission_at_risk")
    };
    assert!(entries(6_251));
    assert!(!entries(6_250));
}

#[test]
fn managed_gc_receipt_capacity_exceeded() {
    // An owner with very long paths: the evidence stands four times in a pending receipt.
    let with = |entries: u64| {
        let mut journal = Retirement::new();
        let file = journal.prepared.evidence.tree.entries.iter().find(|entry| entry.size > 0).cloned().unwrap();
        for number in 0..entries {
            let relative_path = format!("{}{number}", "x".repeat(4_000)).as_str().into();
            journal.prepared.evidence.tree.entries.push(crate::agent::owner_evidence::Entry { relative_path, ..file.clone() });
        }
        journal.store(&journal.prepared);
        journal.found()
    };
    assert_eq!(with(5_000), [format!("{PENDING} prepared.json"), "managed_gc_receipt_capacity_exceeded prepared.json".to_owned()]);
    assert_eq!(with(3_000), pending_at("prepared.json"), "near miss: 50 MB");
}

#[test]
fn managed_gc_protocol_entry_limit_exceeded() {
    // The roles of all scopes count together: here two of one scope.
    let exceeded = |tombstones: u64| {
        let tree = Tree::new();
        for number in 0..30_000 {
            tree.fs.file(tree.at(&format!("{INTERNAL}/{LOCKS}/{number}")), b"{}");
        }
        for number in 0..tombstones {
            tree.fs.file(tree.at(&format!("{INTERNAL}/{TOMBSTONES}/{number}")), b"{}");
        }
        let run = checked(&tree.fs, "/a", &options());
        let found = run.findings.iter().filter(|finding| finding.code.name == "managed_gc_protocol_entry_limit_exceeded");
        found.map(|finding| finding.place.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(exceeded(20_001), ["sessions"]);
    assert_eq!(exceeded(20_000), NOTHING);
}

#[test]
fn gc_receipt_quota_near_of_a_cleanup_replay() {
    let near = |entries: u64| {
        let tree = Tree::new();
        for number in 0..entries {
            tree.fs.file(tree.at(&format!("{INTERNAL}/{TOMBSTONES}/{number}")), b"{}");
        }
        let run = checked(&tree.fs, "/a", &options());
        let gauge = run.gauges.iter().find(|gauge| gauge.name == "tombstone_entries").map(|gauge| gauge.used);
        assert_eq!(gauge, Some(entries));
        run.findings.iter().any(|finding| finding.code.name == "gc_receipt_quota_near")
    };
    assert!(near(45_000));
    assert!(!near(44_999));
}

/// One operation that fails once is no damage: no journal is blamed, by the check or in the table, for what was not seen.
#[test]
fn a_failure_at_every_operation_blames_no_journal() {
    let journal = Retirement::new().with(2);
    let blames = |line: &String| line.starts_with("task_artifact_owner_") || line.starts_with("managed_gc_protocol_record");
    for (position, (op, path)) in super::owner::operations_on(&journal).iter().enumerate() {
        let inject =
            Inject::new(&journal.tree.fs, |call| (call.number == position as u64 && call.phase == Phase::Before).then_some(Errno::IO));
        let found = found_in(&checked(&inject, "/a", &options()));
        assert!(!found.iter().any(blames) || *op == "getxattr", "{op} {} at {position}: {found:?}", path.display());
    }
    let same = |path: &Path| path.to_owned();
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &|_, _| () };
    let mut unread = 0;
    for position in 0.. {
        let failed = std::sync::atomic::AtomicBool::new(false);
        let inject = Inject::new(&journal.tree.fs, |call| {
            let fails = call.number == position && call.phase == Phase::Before;
            failed.fetch_or(fails, std::sync::atomic::Ordering::SeqCst);
            fails.then_some(Errno::IO)
        });
        let Ok(survey) = crate::gc::survey::survey(&inject, Path::new("/a/sessions"), &around) else { continue };
        if !failed.load(std::sync::atomic::Ordering::SeqCst) {
            break;
        }
        let missing = survey.scopes.is_empty();
        assert!(!missing || !survey.unread.is_empty(), "nothing is left out in silence, at {position}: {survey:?}");
        unread += u64::from(missing);
        let tokens: Vec<&str> = survey.scopes.iter().flat_map(|scope| &scope.journals).filter_map(|row| row.refused.as_deref()).collect();
        assert!(tokens.iter().all(|token| !token.starts_with("task_artifact_owner_")), "at {position}: {tokens:?}");
    }
    assert!(unread > 3, "{unread}");
}

/// A receipt that grows while it is read was not read.
#[test]
fn a_receipt_that_moves_while_it_is_read_is_refused() {
    let journal = Retirement::new().with(0);
    let path = journal.path(REMOVED);
    let inject = Inject::new(&journal.tree.fs, |call| {
        if call.op == "read" && call.phase == Phase::Before && call.path == Path::new(&path) {
            journal.tree.fs.append(&path, b" ");
        }
        None
    });
    let (same, tell) = (|path: &Path| path.to_owned(), |_, _| ());
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &tell };
    let survey = crate::gc::survey::survey(&inject, Path::new("/a/sessions"), &around).unwrap();
    assert_eq!(survey.scopes[0].journals[0].refused.as_deref(), Some("source_changed"));
}

#[test]
fn a_directory_in_the_place_of_prepared_is_corrupt() {
    let journal = Retirement::new().with(0);
    journal.tree.fs.remove(journal.path(PREPARED));
    journal.tree.fs.directory(journal.path(PREPARED));
    assert_eq!(surveyed(&journal).scopes[0].journals[0].refused.as_deref(), Some("task_artifact_owner_continuation_corrupt"));
}

/// Its transcript says another workspace, whose scope is another directory.
#[test]
fn a_transcript_of_another_workspace_has_no_authority_here() {
    let journal = Retirement::new().with(0);
    journal.tree.fs.directory("/ws2");
    let bytes = String::from_utf8(journal.tree.fs.content(journal.tree.transcript()).unwrap()).unwrap();
    journal.tree.fs.remove(journal.tree.transcript());
    journal.tree.fs.file(journal.tree.transcript(), bytes.replace("\"/ws\"", "\"/ws2\"").as_bytes());
    assert_eq!(surveyed(&journal).scopes[0].journals[0].refused.as_deref(), Some("task_artifact_owner_continuation_authority_mismatch"));
}

#[test]
fn a_transcript_that_cannot_be_looked_at_is_not_gone() {
    let journal = Retirement::new().with(0);
    let path = journal.tree.transcript();
    let inject = Inject::new(&journal.tree.fs, |call| (call.op == "lstat" && call.path == Path::new(&path)).then_some(Errno::ACCESS));
    let (same, tell) = (|path: &Path| path.to_owned(), |_, _| ());
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &tell };
    let survey = crate::gc::survey::survey(&inject, Path::new("/a/sessions"), &around).unwrap();
    let row = &survey.scopes[0].journals[0];
    assert_eq!((row.present, row.refused.as_deref()), (None, Some("transcript_unreadable")));
}

/// Of a copy neither inodes nor what stands of an owner prove anything against a journal.
#[test]
fn the_table_of_a_copy_asks_nothing_of_its_inodes() {
    let copied = |journal: &Retirement| {
        let same = |path: &Path| path.to_owned();
        let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: true, told: &|_, _| () };
        let survey = crate::gc::survey::survey(&journal.tree.fs, Path::new("/a/sessions"), &around).unwrap();
        let row = survey.scopes[0].journals[0].clone();
        (row.state, row.refused, row.not_begun)
    };
    let journal = Retirement::new().with(0);
    journal.tree.fs.renumber(journal.tree.transcript(), 77_777);
    journal.tree.fs.file(format!("{}/1.bash.log", owner()), b"more");
    assert!(surveyed(&journal).scopes[0].journals[0].refused.is_some(), "where it stands in its place it is another transcript");
    assert_eq!(copied(&journal), (Some("artifacts_removed"), None, None));
    let retired = Retirement::new().with(1);
    retired.store(&retired.receipt(Progress::OwnerRetired));
    let row = &surveyed(&retired).scopes[0].journals[0];
    assert_eq!((row.state, row.refused.as_deref()), (Some("owner_retired"), Some("task_artifact_owner_physical_retirement_unverified")));
    assert_eq!(copied(&retired), (Some("owner_retired"), None, None));
}

#[test]
fn the_gauge_of_a_scope_tells_the_journal_with_the_least_room_and_only_a_whole_profile_has_an_inventory() {
    let journal = Retirement::new().with(0);
    let large = {
        let mut receipt = journal.prepared.clone();
        Arc::make_mut(&mut receipt.target).transcript_path = journal.tree.at("2026-01-02T00-00-00-000Z_s1.jsonl").as_str().into();
        let file = receipt.evidence.tree.entries[1].clone();
        for number in 0..200 {
            let path = format!("{number}.bash.log.{}", "x".repeat(100));
            receipt.evidence.tree.entries.push(crate::agent::owner_evidence::Entry { relative_path: path.as_str().into(), ..file.clone() });
        }
        receipt
    };
    let name = Key::of(large.target.transcript_path.as_js()).name(PREPARED);
    journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}")), &large.encode().unwrap());
    let run = checked(&journal.tree.fs, "/a", &options());
    let left = |name: &str| run.gauges.iter().filter(|gauge| gauge.name == name).map(|gauge| gauge.appends_left).collect::<Vec<_>>();
    let expected = ((512 << 20) - large.encode().unwrap().len() as u64) / large.next_pending_length();
    assert!(expected < 49_000, "{expected}");
    assert_eq!(left("retirement_entries"), [Some(u32::try_from(expected).unwrap())]);
    assert_eq!(left("largest_retirement_history"), [Some(u32::try_from(expected).unwrap())]);
    for other in ["largest_retirement_receipt", "largest_retirement_states", "next_retirement_receipt", "receipts_inventory"] {
        assert_eq!(left(other), [None], "{other}");
    }
    let part = checked(&journal.tree.fs, &journal.tree.scope, &options());
    assert!(!part.gauges.iter().any(|gauge| gauge.name == "receipts_inventory"), "{:?}", part.gauges);
    assert!(part.gauges.iter().any(|gauge| gauge.name == "retirement_entries"));
}

/// Every attempt repeats what the earlier ones recorded and adds to it: the lists have room for so many and no more.
#[test]
fn the_lists_of_a_continuation_have_gauges() {
    let with = |codes: usize, paths: usize| {
        let journal = Retirement::new().with(0);
        let mut outcome = uncertain(&journal.prepared.evidence);
        (0..codes).for_each(|code| outcome.continuation.append(crate::gc::List::NativeCodes, format!("c{code}").as_str().into()));
        let path = |number: usize| format!("/a/sessions/.gjc-recovery/{number}");
        (0..paths).for_each(|number| outcome.continuation.append(crate::gc::List::Unknown, path(number).as_str().into()));
        journal.store(&journal.pending(1, outcome));
        let run = checked(&journal.tree.fs, "/a", &options());
        let used = |name: &str| run.gauges.iter().find(|gauge| gauge.name == name).map(|gauge| (gauge.used, gauge.limit));
        let near = run.findings.iter().filter(|finding| finding.code.name == "limit_near").count();
        (used("continuation_codes"), used("continuation_paths"), near)
    };
    assert_eq!(with(0, 0), (None, None, 0));
    assert_eq!(with(57, 230), (Some((57, 64)), Some((230, 256)), 0));
    assert_eq!(with(58, 0), (Some((58, 64)), None, 1));
    assert_eq!(with(1, 231), (Some((1, 64)), Some((231, 256)), 1));
    assert_eq!(with(64, 256), (Some((64, 64)), Some((256, 256)), 2));
    assert_eq!(with(65, 0), (None, None, 0), "no continuation: that has a code of its own");
}

#[test]
fn a_lookup_is_of_a_transcript_of_the_scope() {
    let journal = Retirement::new().with(0);
    let same = |path: &Path| path.to_owned();
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &|_, _| () };
    let one = |name: &str| {
        let survey = crate::gc::survey::one(&journal.tree.fs, Path::new(&journal.tree.scope), std::ffi::OsStr::new(name), &around);
        survey.map(|survey| survey.scopes.len()).map_err(|fault| crate::gc::survey::token(&fault))
    };
    assert_eq!(one(NAME), Ok(1));
    assert_eq!(one("other.jsonl"), Ok(0));
    for none in ["other.json", ".jsonl", "..jsonl/"] {
        assert_eq!(one(none), Err(AUTHORITY.to_owned()), "{none}");
    }
}

// the table of `gc`

fn surveyed(journal: &Retirement) -> crate::gc::survey::Survey {
    let same = |path: &Path| path.to_owned();
    let told = Mutex::new(Vec::new());
    let tell = |read: u64, known: u64| told.lock().unwrap().push((read, known));
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &tell };
    let survey = crate::gc::survey::survey(&journal.tree.fs, Path::new("/a/sessions"), &around).unwrap();
    let journals = survey.scopes.iter().map(|scope| scope.journals.len() as u64).sum::<u64>();
    assert_eq!(told.lock().unwrap().last().copied().unwrap_or_default(), (journals, journals), "how far it is was told");
    survey
}

/// A retirement that removed nothing yet begins with a fresh capture of the owner: `gc` says what gjc would say to that.
#[test]
fn the_owner_is_still_what_was_prepared() {
    let begun = |change: &dyn Fn(&Retirement)| {
        let journal = Retirement::new().with(0);
        change(&journal);
        let row = surveyed(&journal).scopes[0].journals[0].clone();
        assert_eq!(row.refused, None, "it is no matter of the journal");
        row.not_begun
    };
    let token = |token: &str| Some(token.to_owned());
    assert_eq!(begun(&|_| ()), None);
    let another = |journal: &Retirement| journal.tree.fs.file(format!("{}/1.bash.log", owner()), b"more");
    assert_eq!(begun(&another), token("task_artifact_owner_continuation_evidence_mismatch"));
    assert_eq!(begun(&|journal| journal.tree.fs.remove(owner())), token("task_artifact_owner_missing"));
    let publishing = |journal: &Retirement| {
        journal.tree.fs.file(format!("{}/.x.00000000-0000-4000-8000-000000000000.staging", owner()), b"");
    };
    assert_eq!(begun(&publishing), token("task_artifact_owner_writer_not_quiescent"));
    let pending = Retirement::new().with(1);
    another(&pending);
    let row = &surveyed(&pending).scopes[0].journals[0];
    assert_eq!(row.not_begun, None, "near miss: an attempt was made, which has rules of its own");
    assert_eq!(row.refused.as_deref(), Some("task_artifact_owner_retained_tree_mismatch"));
}

#[test]
fn the_table_says_how_far_each_retirement_is_and_what_fits() {
    let journal = Retirement::new().with(2);
    let survey = surveyed(&journal);
    assert_eq!((survey.looked_at, survey.scopes.len(), survey.scopes[0].entries), (1, 1, 4));
    let row = &survey.scopes[0].journals[0];
    assert_eq!((row.state, row.attempts, row.outcome, row.receipts), (Some("owner_pending"), 2, Some("uncertain"), 4));
    assert_eq!((row.present, row.refused.as_deref()), (Some(true), None));
    assert_eq!(row.transcript, Some(journal.tree.transcript()));
    let next =
        journal.pending(3, Retained { why: Why::CleanupPending, ..uncertain(&journal.prepared.evidence) }).encode().unwrap().len() as u64;
    assert_eq!(row.next_bytes, Some(next));
    assert_eq!(row.appends_left, Some(((512 << 20) - row.bytes).div_euclid(next).min(50_000 - 4)));
}

#[test]
fn the_table_names_the_token_of_a_refused_journal() {
    let journal = Retirement::new().with(2);
    journal.tree.fs.remove(journal.path(State::OwnerPending(1)));
    let survey = surveyed(&journal);
    let row = &survey.scopes[0].journals[0];
    assert_eq!(row.refused.as_deref(), Some("task_artifact_owner_continuation_state_missing"));
    assert_eq!((row.next_bytes, row.appends_left), (None, None));
}

#[test]
fn a_scope_without_receipts_has_no_table() {
    let survey = surveyed(&Retirement::new());
    assert_eq!((survey.looked_at, survey.scopes), (1, Vec::new()));
}

// one transcript, looked up by itself

const AUTHORITY: &str = "task_artifact_owner_continuation_authority_mismatch";

fn looked_up(fs: &dyn Fs, tree: &Tree) -> Result<Vec<String>, String> {
    let same = |path: &Path| path.to_owned();
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &|_, _| () };
    let transcript = tree.transcript();
    let transcript = Path::new(&transcript);
    let survey = crate::gc::survey::one(fs, transcript.parent().unwrap(), transcript.file_name().unwrap(), &around);
    let survey = survey.map_err(|fault| crate::gc::survey::token(&fault))?;
    if survey.scopes.iter().any(|scope| scope.full) {
        return Ok(vec!["full".to_owned()]);
    }
    let rows = survey.scopes.iter().flat_map(|scope| &scope.journals);
    Ok(rows.map(|row| row.refused.clone().unwrap_or_else(|| row.state.unwrap_or("no state").to_owned())).collect())
}
/// The names of the operations on the receipts directory itself.
fn streams(change: impl Fn(&Retirement, &crate::fsys::Call<'_>) + Sync) -> (Result<Vec<String>, String>, usize) {
    let journal = Retirement::new().with(1);
    let receipts = journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}"));
    let calls = Mutex::new(0);
    let inject = Inject::new(&journal.tree.fs, |call| {
        change(&journal, call);
        // A stream is begun once, and asked for its entries one by one.
        if call.op == "readdir" && call.phase == Phase::Before && call.path == Path::new(&receipts) {
            *calls.lock().unwrap() += 1;
        }
        None
    });
    let answer = looked_up(&inject, &journal.tree);
    drop(inject);
    (answer, calls.into_inner().unwrap())
}

#[test]
fn a_lookup_counts_once_and_collects_twice_while_the_directory_stays_the_same() {
    let (answer, calls) = streams(|_, _| ());
    assert_eq!(answer, Ok(vec!["owner_pending".to_owned()]));
    let (_, touched) = streams(|journal, call| {
        // The journal was opened to be read: the first two streams are past.
        if call.op == "open" && call.phase == Phase::Before {
            journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/unrelated")), b"");
        }
    });
    assert_eq!(calls % 3, 0, "three streams: {calls}");
    assert!(touched > calls + 1, "a fourth one, because the evidence differs: {touched} of {calls}");
}

#[test]
fn what_appears_while_a_journal_is_looked_up_is_refused_at_every_position() {
    let operations = {
        let journal = Retirement::new().with(1);
        let inject = Inject::new(&journal.tree.fs, |_| None);
        assert!(looked_up(&inject, &journal.tree).is_ok());
        inject.operations()
    };
    let (mut adopted, mut refused, mut left_out) = (0, 0, 0);
    for position in 0..=operations {
        let (answer, _) = streams(|journal, call| {
            if call.number == position && call.phase == Phase::Before {
                journal.store(&journal.pending(2, uncertain(&journal.prepared.evidence)));
            }
        });
        match answer {
            Ok(_) if refused == 0 => adopted += 1,
            Ok(_) => left_out += 1,
            Err(token) => {
                assert_eq!(token, AUTHORITY, "at {position}");
                assert_eq!(left_out, 0, "at {position}: between the first look and the last");
                refused += 1;
            }
        }
    }
    // Behind the last look stands what the owner of a retirement is asked for.
    assert!(adopted <= 4 && refused > 20 && left_out < refused, "{adopted} {refused} {left_out} of {operations}");
}

#[test]
fn a_full_directory_is_told_as_full_even_when_it_filled_meanwhile() {
    let fill = |journal: &Retirement, entries: u64| {
        for number in 0..entries {
            journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-{number}")), b"");
        }
    };
    let journal = Retirement::new().with(0);
    fill(&journal, 49_998);
    assert_eq!(looked_up(&journal.tree.fs, &journal.tree), Ok(vec!["artifacts_removed".to_owned()]), "near miss");
    let done = std::sync::atomic::AtomicBool::new(false);
    let inject = Inject::new(&journal.tree.fs, |call| {
        if call.op == "open" && !done.swap(true, std::sync::atomic::Ordering::SeqCst) {
            journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-more")), b"");
        }
        None
    });
    assert_eq!(looked_up(&inject, &journal.tree), Ok(vec!["full".to_owned()]), "as of all journals: no error of reading");
}

#[test]
fn a_transcript_without_receipts_has_no_journal() {
    let journal = Retirement::new();
    assert_eq!(looked_up(&journal.tree.fs, &journal.tree), Ok(Vec::new()));
    journal.tree.fs.remove(journal.tree.at(INTERNAL));
    assert_eq!(looked_up(&journal.tree.fs, &journal.tree), Ok(Vec::new()), "nor without their directory");
}

/// A receipt that is refused for its size or its links was opened and closed, and nothing was read of it (§14.1).
#[test]
fn nothing_is_read_of_a_receipt_that_is_refused() {
    let operations = |change: &dyn Fn(&Retirement)| {
        let journal = Retirement::new().with(0);
        change(&journal);
        let path = journal.path(REMOVED);
        let calls = Mutex::new(Vec::new());
        let inject = Inject::new(&journal.tree.fs, |call| {
            if call.path == Path::new(&path) && call.phase == Phase::Before && matches!(call.op, "open" | "read" | "close") {
                calls.lock().unwrap().push(call.op);
            }
            None
        });
        let answer = looked_up(&inject, &journal.tree).unwrap();
        drop(inject);
        (answer, calls.into_inner().unwrap())
    };
    let (answer, sound) = operations(&|_| ());
    assert_eq!(answer, ["artifacts_removed"]);
    assert_eq!((sound.first(), sound.contains(&"read"), sound.last()), (Some(&"open"), true, Some(&"close")), "near miss");
    let too_large = |journal: &Retirement| {
        journal.tree.fs.remove(journal.path(REMOVED));
        journal.tree.fs.sparse(journal.path(REMOVED), crate::gc::budget::MAX_RECEIPT_BYTES + 1);
    };
    assert_eq!(operations(&too_large), (vec!["managed_gc_journal_capacity_exceeded".to_owned()], vec!["open", "close"]));
    let linked = |journal: &Retirement| journal.tree.fs.hard_link(journal.path(REMOVED), "/a/elsewhere");
    assert_eq!(operations(&linked), (vec!["source_changed".to_owned()], vec!["open", "close"]));
}

/// How far the journal of the transcript is for others who ask it, held against the disk.
fn journal_of(journal: &Retirement) -> Option<State> {
    let directory = journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}"));
    let receipts = crate::agent::walk::list(&journal.tree.fs, Path::new(&directory), &Limits::default()).unwrap();
    let root = crate::gc::SessionsRoot::new(b"/a/sessions").unwrap();
    let digest = identity("/ws").digest_text();
    let scope = crate::gc::Scope { digest: &digest, directory: journal.tree.scope.as_bytes(), root: &root };
    let here = |path: &Path| path.to_owned();
    let ground = crate::gc::ground::Ground {
        fs: &journal.tree.fs,
        receipts: &receipts,
        opened: None,
        beside: None,
        scope,
        here: &here,
        is_copy: false,
    };
    let found = ground.journal_of(&journal.prepared.target.transcript_path, &mut crate::gc::stored::Desk::default());
    found.unwrap().map(|journal| journal.state())
}

#[test]
fn a_journal_that_the_disk_contradicts_counts_for_nobody() {
    let journal = Retirement::new().with(0);
    assert_eq!(journal_of(&journal), Some(State::ArtifactsRemoved));
    journal.store(&journal.receipt(Progress::OwnerRetired));
    assert_eq!(journal_of(&journal), None, "the owner that it calls retired stands there");
    journal.tree.fs.remove(owner());
    assert_eq!(journal_of(&journal), Some(State::OwnerRetired), "near miss: it is gone");
}

/// The lookup of a journal while `change` is made to its directory when its first receipt is opened; the times and counts of the
/// directory are as they were, so that only what is in it tells.
fn looked_up_beside(change: impl Fn(&Retirement, &str) + Sync) -> Result<Vec<String>, String> {
    let done = std::sync::atomic::AtomicBool::new(false);
    let (answer, _) = streams(|journal, call| {
        if call.op == "open" && call.phase == Phase::Before && !done.swap(true, std::sync::atomic::Ordering::SeqCst) {
            let directory = journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}"));
            let before = journal.tree.fs.lstat(Path::new(&directory)).unwrap();
            change(journal, &directory);
            if journal.tree.fs.lstat(Path::new(&directory)).unwrap().object() == before.object() {
                journal.tree.fs.set(&directory, |meta| *meta = before);
            }
        }
    });
    answer
}

#[test]
fn a_lookup_compares_names_kinds_counts_and_the_directory_itself() {
    assert_eq!(looked_up_beside(|_, _| ()), Ok(vec!["owner_pending".to_owned()]));
    let refused = Err(AUTHORITY.to_owned());
    // Names and kinds of this transcript change when its last receipt was read.
    let at_the_end = |change: &(dyn Fn(&Retirement, &str) + Sync)| {
        let last = Retirement::new().path(State::OwnerPending(1));
        let (answer, _) = streams(|journal, call| {
            if call.op == "close" && call.phase == Phase::After && call.path == Path::new(&last) {
                let directory = journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}"));
                let before = journal.tree.fs.lstat(Path::new(&directory)).unwrap();
                change(journal, &last);
                journal.tree.fs.set(&directory, |meta| *meta = before);
            }
        });
        answer
    };
    let next = |last: &str| last.replace("00000001", "00000002");
    assert_eq!(at_the_end(&|j, last| j.tree.fs.rename(last, next(last))), refused, "a name");
    let directory = |j: &Retirement, last: &str| {
        j.tree.fs.remove(last);
        j.tree.fs.directory(last);
    };
    assert_eq!(at_the_end(&directory), refused, "a kind");
    let counted = |_: &Retirement, directory: &str| format!("{directory}/gc-retirement-{}-prepared.json", "ab".repeat(32));
    assert_eq!(looked_up_beside(|j, at| j.tree.fs.file(counted(j, at), b"{}")), refused, "the receipt of another transcript");
    let moved = |journal: &Retirement, directory: &str| {
        let before = journal.tree.fs.lstat(Path::new(directory)).unwrap();
        journal.tree.fs.rename(directory, "/elsewhere");
        journal.tree.fs.set("/elsewhere", |meta| *meta = before);
        journal.tree.fs.symlink(directory, "/elsewhere");
    };
    assert_eq!(looked_up_beside(moved), refused, "the path leads to another directory");
}

/// Journals are shown by transcript, those that tell none last; their keys are in no such order.
#[test]
fn the_table_is_in_order_of_transcripts() {
    let journal = Retirement::new();
    journal.store(&journal.prepared);
    for number in 2..9 {
        let path = journal.tree.at(&format!("2026-01-0{number}T00-00-00-000Z_s1.jsonl"));
        let mut prepared = journal.prepared.clone();
        Arc::make_mut(&mut prepared.target).transcript_path = path.as_str().into();
        let name = Key::of(path.as_str().into()).name(State::Prepared);
        journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}")), &prepared.encode().unwrap());
    }
    for key in ["00", "ff"] {
        let name = format!("gc-retirement-{}-prepared.json", key.repeat(32));
        journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}")), b"{");
    }
    let rows = surveyed(&journal).scopes[0].journals.clone();
    let days: Vec<Option<char>> = rows.iter().map(|row| row.transcript.as_ref()?.rsplit_once("/2026-01-0")?.1.chars().next()).collect();
    let wanted: Vec<Option<char>> = "12345678".chars().map(Some).chain([None, None]).collect();
    assert_eq!(days, wanted);
}

/// What was not seen may be the receipt that a journal seems to lack.
#[test]
fn a_scope_of_which_a_receipt_was_not_seen_has_no_table() {
    let journal = Retirement::new().with(1);
    let hidden = journal.path(State::Prepared);
    let inject = Inject::new(&journal.tree.fs, |call| (call.op == "lstat" && call.path == Path::new(&hidden)).then_some(Errno::IO));
    let same = |path: &Path| path.to_owned();
    let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &|_, _| () };
    let survey = crate::gc::survey::survey(&inject, Path::new("/a/sessions"), &around).unwrap();
    assert_eq!((survey.scopes.len(), survey.unread.len()), (0, 1), "{survey:?}");
}

/// The journal of a transcript that is gone, whose next receipt has exactly so many bytes.
fn next_of(bytes: u64) -> Retirement {
    let mut journal = Retirement::new();
    journal.tree.fs.remove(journal.tree.transcript());
    let file = journal.prepared.evidence.tree.entries.iter().find(|entry| entry.size > 0).cloned().unwrap();
    let mut add = |path: String| {
        let relative_path = path.as_str().into();
        journal.prepared.evidence.tree.entries.push(crate::agent::owner_evidence::Entry { relative_path, ..file.clone() });
    };
    (0..(bytes / 4 - 100_000) / 4_500).for_each(|number| add(format!("{}{number:05}", "x".repeat(4_000))));
    add("y".to_owned());
    // A path stands in it four times, a working directory once.
    let length = journal.prepared.next_pending_length();
    let left = usize::try_from(bytes - length).unwrap();
    journal.prepared.evidence.tree.entries.last_mut().unwrap().relative_path = "y".repeat(1 + left / 4).as_str().into();
    Arc::make_mut(&mut journal.prepared.target).cwd = format!("/ws{}", "z".repeat(left % 4)).as_str().into();
    assert_eq!(journal.prepared.next_pending_length(), bytes);
    journal.store(&journal.prepared);
    journal
}

#[test]
fn a_next_receipt_of_exactly_64_mib_fits_and_one_byte_more_does_not() {
    let found = |bytes| {
        let found = next_of(bytes).found();
        found.into_iter().filter(|line| !line.starts_with("gc_re")).collect::<Vec<_>>()
    };
    assert_eq!(found(64 << 20), only("limit_near", "prepared.json"));
    assert_eq!(found((64 << 20) + 1), only("managed_gc_receipt_capacity_exceeded", "prepared.json"));
}

/// Behind the first sweep of journals nothing is made of what is only counted: each that has it counts all the same, and only
/// those that have it.
#[test]
fn what_is_only_counted_of_journals_counts_each_that_has_it() {
    let totals = |last: fn(Retirement) -> Retirement| {
        let journal = last(Retirement::new());
        let last = journal.key();
        let paths = (0..).map(|number| journal.tree.at(&format!("{number}.jsonl")));
        for path in paths.filter(|path| Key::of(path.as_str().into()) < last).take(2_048) {
            let mut receipt = journal.prepared.clone();
            Arc::make_mut(&mut receipt.target).transcript_path = path.as_str().into();
            let name = Key::of(path.as_str().into()).name(PREPARED);
            journal.tree.fs.file(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}")), &receipt.encode().unwrap());
        }
        let run = checked(&journal.tree.fs, "/a", &options());
        let total = |code: &str| {
            let own = run.findings.iter().filter(|finding| finding.code.name == code);
            own.map(|finding| finding.not_listed.unwrap_or(1)).sum::<u64>()
        };
        (total(PENDING), total("gc_receipt_orphan_transcript_missing"))
    };
    let orphan = |journal: Retirement| {
        journal.tree.fs.remove(journal.tree.transcript());
        journal.with(0)
    };
    let retired = |journal: Retirement| {
        let journal = journal.with(0);
        journal.store(&journal.receipt(Progress::OwnerRetired));
        journal
    };
    assert_eq!(totals(|journal| journal), (2_048, 2_048), "without a journal");
    assert_eq!(totals(|journal| journal.with(0)), (2_049, 2_048), "its transcript is there");
    assert_eq!(totals(orphan), (2_049, 2_049));
    assert_eq!(totals(retired), (2_048, 2_048), "it is at its end");
}

/// A cwd that leads nowhere is surely not that of another workspace: what the transcript says is compared, and differs.
#[test]
fn a_workspace_that_cannot_be_resolved_is_no_other_workspace() {
    let journal = Retirement::new().with(0);
    let refused = |cwd: &str| {
        let text = String::from_utf8(journal.tree.fs.content(journal.tree.transcript()).unwrap()).unwrap();
        let (before, behind) = text.split_once("\"cwd\":\"").unwrap();
        let (_, behind) = behind.split_once('"').unwrap();
        journal.tree.fs.remove(journal.tree.transcript());
        journal.tree.fs.file(journal.tree.transcript(), format!("{before}\"cwd\":\"{cwd}\"{behind}").as_bytes());
        surveyed(&journal).scopes[0].journals[0].refused.clone()
    };
    assert_eq!(refused("/gone").as_deref(), Some("task_artifact_owner_continuation_transcript_replaced"));
    journal.tree.fs.directory("/gone");
    assert_eq!(refused("/gone").as_deref(), Some(AUTHORITY), "near miss: it is there");
}

/// What stands of an owner and cannot be looked at proves nothing against the receipt that says it is gone.
#[test]
fn an_owner_that_cannot_be_looked_at_contradicts_no_receipt() {
    let journal = Retirement::new().with(0);
    journal.store(&journal.receipt(Progress::OwnerRetired));
    let refused = |failing: &str| {
        let inject = Inject::new(&journal.tree.fs, |call| (call.path == Path::new(failing)).then_some(Errno::IO));
        let same = |path: &Path| path.to_owned();
        let around = crate::gc::survey::Around { recorded: &same, here: &same, is_copy: false, told: &|_, _| () };
        crate::gc::survey::survey(&inject, Path::new("/a/sessions"), &around).unwrap().scopes[0].journals[0].refused.clone()
    };
    assert_eq!(refused(&owner()), None);
    assert_eq!(refused("/a/sessions/.task-artifact-owners"), None);
    assert_eq!(refused("/nowhere").as_deref(), Some("task_artifact_owner_physical_retirement_unverified"), "near miss: it stands there");
}

/// §8: gjc trims the first line as JavaScript does; the journal of such a transcript is read.
#[test]
fn a_transcript_whose_first_line_begins_with_white_space_of_javascript_is_the_prepared_one() {
    let mut journal = Retirement::new();
    let text = format!("\u{a0}{}", String::from_utf8(journal.tree.fs.content(journal.tree.transcript()).unwrap()).unwrap());
    journal.tree.fs.remove(journal.tree.transcript());
    journal.tree.fs.file(journal.tree.transcript(), text.as_bytes());
    let file = journal.tree.fs.lstat(Path::new(&journal.tree.transcript())).unwrap();
    let sha256 = Sha256::digest(text.as_bytes()).into();
    Arc::make_mut(&mut journal.prepared.target).identity =
        Transcript { dev: file.dev.into(), ino: file.ino.into(), size: file.size, mtime_ns: file.mtime_ns.into(), sha256 };
    let journal = journal.with(0);
    assert_eq!(surveyed(&journal).scopes[0].journals[0].refused, None);
}

/// §11.1 step 7: its own artifacts are removed before the owner is, whatever became of the owner.
#[test]
fn an_owner_is_not_retired_before_the_artifacts_of_its_session_are_removed() {
    let refused = |states: &[Progress]| {
        let journal = Retirement::new();
        states.iter().for_each(|progress| journal.store(&journal.receipt(progress.clone())));
        journal.tree.fs.remove(owner());
        surveyed(&journal).scopes[0].journals[0].refused.clone()
    };
    let missing = Some("task_artifact_owner_continuation_state_missing".to_owned());
    assert_eq!(refused(&[Progress::Prepared, Progress::OwnerRetired]), missing);
    assert_eq!(refused(&[Progress::Prepared, Progress::ArtifactsRemoved, Progress::OwnerRetired]), None, "near miss");
}
