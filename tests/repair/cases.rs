//! Every recorded tree that has to do with legacy sessions: repaired, checked, repaired again, and compared with the tree that
//! gjc left where it was asked to open the session.

use super::common::{Clock, ground, in_all_threads, quick, snapshot};
use super::tree::{self, Tree, now_ms, real_world, recorded};
use gjc_fsck::check::run::{Target, run};
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::Real;
use gjc_fsck::repair::apply::{Applied, Session, repair};
use gjc_fsck::repair::plan::{Plan, Wanted, Wish, plan};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The areas of recorded trees whose cases may hold a legacy session.
const AREAS: [&str; 11] =
    ["legacy", "migration", "artifacts", "interrupted", "receipt", "lock", "tombstone", "cleanup", "replace", "residue", "delete"];

fn cases() -> Vec<Value> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(recorded()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let only = std::env::var("GJC_FSCK_TREE").ok();
    paths.retain(|path| only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only)));
    let read = |path: &PathBuf| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap();
    let all = paths.iter().map(read);
    all.filter(|case| AREAS.contains(&case["area"].as_str().unwrap())).collect()
}

fn repaired(tree: &Tree) -> (Plan, Applied) {
    let clock = Clock::new(now_ms(), 4_000_000);
    let ground = ground(&Real, real_world(&tree.root, Release::V0_15, now_ms()), &clock);
    repair(&ground, &Wanted::All, Wish::default(), &mut |_| {})
}

/// The codes that repair is for.
const REPAIRABLE: [&str; 2] = ["legacy_unmigrated", "managed_gc_protocol_migration_incomplete"];

/// Names in `receipts/` that no rule of gjc explains: nobody but the user may move them.
fn is_foreign(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    use gjc_fsck::agent::migration_receipt::{Name, parse_name};
    parse_name(name.as_bytes()) == Name::Foreign
}

/// What is left after a repair is what the next plan refuses with a reason.
fn nothing_repairable_is_left(name: &str, tree: &Tree) {
    let world = real_world(&tree.root, Release::V0_15, now_ms());
    let left = plan(&world, &Wanted::All, Wish::default());
    let mut explained: BTreeMap<String, String> = BTreeMap::new();
    for scope in &left.scopes {
        assert!(!scope.writes(), "{name}: a second plan would write: {scope:#?}");
        for session in &scope.sessions {
            let refused = session.refused.as_ref().or(scope.refused.as_ref()).unwrap();
            explained.insert(session.source.clone(), refused.code.clone());
        }
        explained.extend(scope.leftovers.iter().flat_map(|one| {
            let refused = one.refused.as_ref().or(scope.refused.as_ref()).unwrap();
            one.set_aside.iter().map(|path| (path.clone(), refused.code.clone()))
        }));
    }
    let agent = tree.root.join("agent");
    let found = run(vec![Target::Path(agent.clone())], &tree::checking(Release::V0_15, 1), &Real, &|_| {});
    for finding in found.findings.iter().filter(|finding| REPAIRABLE.contains(&finding.code.name)) {
        let path = finding.place.path.to_string();
        let path = if path.starts_with('/') { path } else { agent.join(&path).to_string_lossy().into_owned() };
        let operation = path.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default().to_owned();
        let of_refused = left.scopes.iter().flat_map(|scope| &scope.sessions).any(|session| session.operation == operation);
        assert!(
            explained.contains_key(&path) || of_refused || is_foreign(&path) || finding.message.contains("stands under its final name"),
            "{name}: {} is left at {path}: {}\n{left:#?}",
            finding.code.name,
            finding.message
        );
    }
}

/// Sessions that gjc migrates and a repair leaves alone, and why.
const NOT_AS_GJC: [(&str, &str); 1] = [(
    "migration-leftover-detached-root",
    "gjc does not look at artifacts that lie detached, and copies the session without them (02a.19)",
)];

/// The session that gjc migrated in the first question that changed something.
fn migrated_by_gjc(case: &Value) -> Option<&str> {
    let asked = case["ask"].as_array()?.iter().zip(case["expect"].as_array()?);
    let (ask, expect) = asked.into_iter().find(|(_, expect)| expect["changed"] == true)?;
    (ask["op"] == "open" && expect["kind"] == "opened" && expect["migrated"] == true).then(|| ask["session"].as_str())?
}

#[test]
fn after_repair_nothing_repairable_is_left_and_a_second_repair_writes_nothing() {
    let (mut copied, mut refused) = (0, BTreeMap::<String, usize>::new());
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        let tree = Tree::of_case_in(&quick(), &case);
        let before = snapshot(&tree.root);
        let (plan, applied) = repaired(&tree);
        copied += applied.copied();
        for refusal in applied.refusals() {
            *refused.entry(refusal.code.clone()).or_default() += 1;
        }
        if let Some(session) = migrated_by_gjc(&case) {
            let done = applied.sessions.iter().any(|one| one.session_id == session && one.proof.is_some());
            let left = NOT_AS_GJC.iter().find(|(case, _)| *case == name);
            assert_eq!(done, left.is_none(), "{name}: gjc migrates {session}; {applied:#?}");
        }
        let after = snapshot(&tree.root);
        let put_back = plan.scopes.iter().flat_map(|scope| &scope.sessions).any(|session| session.put_back.is_some());
        for (path, facts) in &before {
            let legacy = path.strip_prefix(tree.root.join("agent/sessions")).is_ok_and(|below| below.to_string_lossy().starts_with('-'));
            // Putting artifacts back is the one change of a legacy directory, and moves no byte.
            if legacy && !put_back {
                assert_eq!(after.get(path), Some(facts), "{name}: {} changed", path.display());
            }
        }
        nothing_repairable_is_left(name, &tree);
        let (_, again) = repaired(&tree);
        assert_eq!(again.copied(), 0, "{name}");
        assert_eq!(snapshot(&tree.root), after, "{name}: a second repair wrote something");
    }
    println!("copied {copied}, refused {refused:?}");
    if std::env::var_os("GJC_FSCK_TREE").is_none() {
        assert!(copied > 60, "{copied}");
    }
}

/// What a repair answers where gjc refuses to open, and why it is not gjc's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Otherwise {
    /// The question is about a v2 session, and no legacy session is there: a repair opens none and resumes no deletion.
    NothingToCopy,
    /// A staged receipt can no longer match. gjc fails for ever (02a.1); a repair moves it to `.gjc-recovery`, puts artifacts back
    /// that lie detached and provably are the session's, and starts anew.
    StartsAnew,
    /// gjc commits, and fails afterwards with `managed_storage_unsupported` (02a.4, 02a.8). A repair refuses before it writes.
    RefusesBefore(&'static str),
}

impl Otherwise {
    const fn words(self) -> &'static str {
        match self {
            Otherwise::NothingToCopy => "nothing to copy",
            Otherwise::StartsAnew => "copied",
            Otherwise::RefusesBefore(code) => code,
        }
    }
}

const NOT_GJCS_ANSWER: [(&str, Otherwise); 18] = [
    ("cleanup-completed-transcript-present", Otherwise::NothingToCopy),
    ("cleanup-locked", Otherwise::NothingToCopy),
    ("interrupted-detached-not-clean-outcome", Otherwise::StartsAnew),
    ("interrupted-detached-prepared-only", Otherwise::StartsAnew),
    ("interrupted-detached-wrong-prefix", Otherwise::StartsAnew),
    ("interrupted-prepared-destination", Otherwise::StartsAnew),
    ("interrupted-prepared-empty", Otherwise::StartsAnew),
    ("interrupted-prepared-manifest", Otherwise::StartsAnew),
    ("interrupted-prepared-missing-quarantine", Otherwise::StartsAnew),
    ("interrupted-prepared-not-json", Otherwise::StartsAnew),
    ("interrupted-prepared-scope", Otherwise::StartsAnew),
    ("interrupted-prepared-state", Otherwise::StartsAnew),
    ("interrupted-prepared-tree-changed", Otherwise::StartsAnew),
    ("legacy-known-file-with-scope", Otherwise::NothingToCopy),
    ("migration-invalid-replacement-receipt", Otherwise::RefusesBefore("replacement_receipt_pending")),
    ("residue-recovery-in-scope-0755-migrate", Otherwise::RefusesBefore("mode_mismatch")),
    ("tombstone-grew-after-retirement-reconcile", Otherwise::NothingToCopy),
    ("tombstone-retired-open", Otherwise::NothingToCopy),
];

/// What a repair says of a session: a code, or in words.
fn answer(applied: &Applied, session: &str, path: Option<PathBuf>) -> String {
    let is_it = |one: &&Session| one.session_id == session && path.as_ref().is_none_or(|path| Path::new(&one.source) == path);
    match applied.sessions.iter().find(is_it) {
        None => "nothing to copy".to_owned(),
        Some(Session { refused: Some(refusal), .. }) => refusal.code.clone(),
        Some(_) => "copied".to_owned(),
    }
}

#[test]
fn what_gjc_refuses_a_repair_refuses_with_the_same_code() {
    let answers = Mutex::new(BTreeMap::new());
    in_all_threads(&cases(), |case| {
        let asked = case["ask"].as_array().unwrap().iter().zip(case["expect"].as_array().unwrap());
        // Until something else than gjc's own preparations changed the tree.
        let mut asked = asked.take_while(|(ask, _)| !matches!(ask["op"].as_str(), Some("apply" | "delete")));
        let Some((ask, expect)) = asked.find(|(ask, _)| ask["op"] == "open") else { return };
        if expect["kind"] == "opened" {
            return;
        }
        let tree = Tree::of_case_in(&quick(), case);
        let (_, applied) = repaired(&tree);
        let path = ask["path"].as_str().map(|path| tree.root.join(tree.expand(path)));
        let ours = answer(&applied, ask["session"].as_str().unwrap(), path);
        let gjcs = expect["code"].as_str().unwrap().to_owned();
        answers.lock().unwrap().insert(case["name"].as_str().unwrap().to_owned(), (gjcs, ours));
    });
    let answers = answers.into_inner().unwrap();
    let differing: Vec<(&str, &str)> =
        answers.iter().filter(|(_, (gjcs, ours))| gjcs != ours).map(|(case, (_, ours))| (case.as_str(), ours.as_str())).collect();
    let known = NOT_GJCS_ANSWER.iter().filter(|(case, _)| answers.contains_key(*case));
    let known: Vec<(&str, &str)> = known.map(|(case, otherwise)| (*case, otherwise.words())).collect();
    assert_eq!(differing, known, "{answers:#?}");
    assert!(std::env::var_os("GJC_FSCK_TREE").is_some() || answers.len() > 60, "{}", answers.len());
    println!("{} refusals of gjc, {} answered otherwise", answers.len(), differing.len());
}

/// `path type mode` of everything below, with the parts of names that are chance or number written as in the recorded answers.
fn entries(root: &Path, below: &str) -> Vec<String> {
    let top = root.join(below);
    let mut found = Vec::new();
    for (path, facts) in snapshot(&top) {
        let Ok(relative) = path.strip_prefix(&top) else { continue };
        if relative.as_os_str().is_empty() {
            continue;
        }
        let kind = match facts.mode & 0o170_000 {
            0o040_000 => "dir",
            0o100_000 => "file",
            0o120_000 => "symlink",
            0o010_000 => "fifo",
            _ => "other",
        };
        let mode = if kind == "symlink" { String::new() } else { format!(" {:04o}", facts.mode & 0o7777) };
        found.push(format!("{} {kind}{mode}", chance(&relative.to_string_lossy())));
    }
    found.sort();
    found
}

/// `.gjc-managed-remove-12-3` as the recorded answers write it.
fn chance(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').map_or(("", path), |(directory, name)| (directory, name));
    let numbers = |rest: &str| rest.split('-').count() == 2 && rest.chars().all(|c| c.is_ascii_digit() || c == '-');
    let name = match name.strip_prefix(".gjc-managed-remove-") {
        Some(rest) if numbers(rest) => ".gjc-managed-remove-<pid>-<n>",
        _ => name,
    };
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Where our tree differs from the one that gjc left, and why (see `repair`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Difference {
    /// How many removed files lie in a scope's `.gjc-recovery`: we detach nothing (no `.detached` receipt), move a prepared
    /// receipt that cannot match, and keep a retired lock there.
    Recovery,
    /// A retired lock lies in `.gjc-recovery` with its content, not scrubbed in `locks/`.
    RetiredLock,
    /// gjc fails, and leaves what it made until then: directories, the lock, staged receipts, in one case the committed one. A
    /// repair refuses in its plan and writes nothing at all.
    Unwritten,
    /// gjc fails for ever at a staged receipt; a repair starts anew: the copy stands, with its committed receipt.
    StartedAnew,
    /// gjc leaves artifacts detached that a repair puts back.
    PutBack,
    /// gjc was asked to delete the copied session afterwards, which a repair never does.
    Deleted,
}
use Difference::{Deleted, PutBack, Recovery, RetiredLock, StartedAnew, Unwritten};

/// The cases whose trees differ; those of all others are equal.
const NOT_GJCS_TREE: [(&str, &[Difference]); 26] = [
    ("artifacts-destination-differs", &[Unwritten]),
    ("artifacts-empty-directory", &[Recovery]),
    ("artifacts-files", &[Recovery]),
    ("artifacts-modes-ignored", &[Recovery]),
    ("delete-migrated-pair", &[Deleted]),
    ("interrupted-committed-garbage-blocks", &[Unwritten]),
    ("interrupted-committed-stale-blocks", &[Unwritten]),
    ("interrupted-detached-both-present", &[Unwritten]),
    ("interrupted-detached-missing", &[Unwritten]),
    ("interrupted-detached-not-clean-outcome", &[Recovery, StartedAnew, PutBack]),
    ("interrupted-detached-prepared-only", &[Recovery, StartedAnew]),
    ("interrupted-detached-wrong-prefix", &[Recovery, StartedAnew]),
    ("interrupted-prepared-destination", &[StartedAnew]),
    ("interrupted-prepared-empty", &[StartedAnew]),
    ("interrupted-prepared-manifest", &[StartedAnew]),
    ("interrupted-prepared-missing-quarantine", &[Recovery, StartedAnew]),
    ("interrupted-prepared-not-json", &[StartedAnew]),
    ("interrupted-prepared-scope", &[StartedAnew]),
    ("interrupted-prepared-state", &[StartedAnew]),
    ("interrupted-prepared-tree-changed", &[Recovery, StartedAnew]),
    ("interrupted-prepared-with-artifacts", &[Recovery]),
    ("lock-dead-expired", &[RetiredLock]),
    ("lock-released", &[RetiredLock]),
    ("migration-invalid-replacement-receipt", &[Unwritten]),
    ("migration-leftover-detached-root-with-artifacts", &[Unwritten]),
    ("receipt-destination-deleted", &[Unwritten]),
];

/// What an entry that only one of the trees has is an example of. `is_ours` says which tree; `as_before` that a repair wrote
/// nothing, `deleted` that gjc deleted the session.
fn difference(entry: &str, is_ours: bool, as_before: bool, deleted: bool) -> Option<Difference> {
    let path = entry.split(' ').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let in_legacy = path.starts_with('-');
    let staged = [".prepared.json", ".detached.json", ".published.json"].iter().any(|end| name.ends_with(end));
    Some(match is_ours {
        // The session and its copy, both gone in gjc's tree.
        _ if deleted && (is_ours == name.ends_with("_s1.jsonl")) => Deleted,
        false if as_before => Unwritten,
        _ if name == ".gjc-recovery" || name == ".gjc-managed-remove-<pid>-<n>" => Recovery,
        false if name == ".gjc-lock-<uuid>.stale" => RetiredLock,
        false if staged => StartedAnew,
        false if in_legacy && path.contains(".gjc-migrate-") => PutBack,
        true if in_legacy && path.contains("_s1") => PutBack,
        true if path.contains("_s1") || path.ends_with(".json") => StartedAnew,
        _ => return None,
    })
}

/// How our tree of a case differs from gjc's; none for a case in which gjc is not asked to change something, and then for the
/// tree.
fn differences(case: &Value) -> Option<BTreeSet<Difference>> {
    let name = case["name"].as_str().unwrap();
    let (asks, expects) = (case["ask"].as_array().unwrap(), case["expect"].as_array().unwrap());
    let open = (0..asks.len()).find(|at| asks[*at]["op"] == "open" && expects[*at]["changed"] == true)?;
    let asked = (open..asks.len()).find(|at| asks[*at]["op"] == "tree")?;
    let deleted = asks[open..asked].iter().any(|ask| ask["op"] == "delete");
    let tree = Tree::of_case_in(&quick(), case);
    let below = tree.expand(asks[asked]["path"].as_str().unwrap());
    let gjcs: Vec<String> = expects[asked]["entries"].as_array().unwrap().iter().map(|entry| entry_text(&tree, entry)).collect();
    let before = snapshot(&tree.root);
    repaired(&tree);
    let as_before = snapshot(&tree.root) == before;
    let mut ours = entries(&tree.root, &below);
    let only_gjcs: Vec<&String> = gjcs.iter().filter(|entry| take(&mut ours, entry).is_none()).collect();
    let explained = |entry: &String, is_ours| {
        difference(entry, is_ours, as_before, deleted).unwrap_or_else(|| panic!("{name}: {entry}\ngjc {only_gjcs:#?}\nours {ours:#?}"))
    };
    Some(only_gjcs.iter().map(|entry| explained(entry, false)).chain(ours.iter().map(|entry| explained(entry, true))).collect())
}

#[test]
fn where_gjc_changes_something_our_tree_is_gjcs() {
    let all = Mutex::new(BTreeMap::new());
    in_all_threads(&cases(), |case| {
        if let Some(differences) = differences(case) {
            all.lock().unwrap().insert(case["name"].as_str().unwrap().to_owned(), differences);
        }
    });
    let all = all.into_inner().unwrap();
    for (name, differences) in &all {
        let known = NOT_GJCS_TREE.iter().find(|(case, _)| case == name).map_or(&[][..], |(_, known)| known);
        assert_eq!(differences.iter().copied().collect::<Vec<_>>(), known, "{name}");
    }
    println!("{} trees compared", all.len());
    assert!(std::env::var_os("GJC_FSCK_TREE").is_some() || all.len() >= 35, "{}", all.len());
}

fn take(from: &mut Vec<String>, entry: &str) -> Option<String> {
    from.iter().position(|other| other == entry).map(|at| from.remove(at))
}

fn entry_text(tree: &Tree, entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let mode = if entry["mode"].is_null() { String::new() } else { format!(" {}", text("mode")) };
    format!("{} {}{mode}", tree.expand(text("path")), text("type"))
}
