//! Discovery of prepared targets over a profile: its answer and its tokens, and that nothing which comes into being meanwhile is
//! adopted or silently left out.

use super::retirement::{Retirement, owner};
use super::*;
use crate::agent::world::World;
use crate::fsys::host::Nowhere;
use crate::gc::discovery::{Found, discover};
use crate::gc::{Progress, Receipt, State};
use std::sync::Arc;

fn world(fs: &dyn Fs) -> World<'_> {
    World::of_agent(fs, &Nowhere, Release::V0_17, 1000, "/a")
}
/// Transcript (`1` or `2`) and state of every target, or the token.
fn discovered(fs: &dyn Fs) -> Result<Vec<State>, &'static str> {
    let found: Vec<Found> = discover(&world(fs)).map_err(|fault| fault.token().unwrap_or("unread"))?;
    Ok(found.into_iter().map(|found| found.state).collect())
}
fn after(attempts: u64, change: impl FnOnce(&Retirement)) -> Result<Vec<State>, &'static str> {
    let journal = Retirement::new().with(attempts);
    change(&journal);
    discovered(&journal.tree.fs)
}
/// A `prepared` receipt of a second transcript of the scope, which is gone.
fn second(journal: &Retirement) -> (String, Vec<u8>) {
    let path = journal.tree.at("2026-01-02T00-00-00-000Z_s1.jsonl");
    let mut prepared: Receipt = journal.prepared.clone();
    Arc::make_mut(&mut prepared.target).transcript_path = path.as_str().into();
    let name = crate::gc::Key::of(path.as_str().into()).name(State::Prepared);
    (journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}")), prepared.encode().unwrap())
}
/// The scope of another workspace, which exists.
fn other_scope() -> String {
    format!("/a/sessions/{}", identity("/ws2").directory_name())
}
fn plant_other(fs: &Memory) {
    fs.plant(other_scope(), &clean::scope(&identity("/ws2"), []));
}

const CORRUPT: &str = "task_artifact_owner_continuation_corrupt";
const STATE_MISSING: &str = "task_artifact_owner_continuation_state_missing";
const AUTHORITY: &str = "task_artifact_owner_continuation_authority_mismatch";
const SCOPE_AUTHORITY: &str = "managed_gc_scope_authority_mismatch";

#[test]
fn it_answers_the_targets_of_all_journals_by_transcript() {
    assert_eq!(discovered(&Retirement::new().tree.fs), Ok(vec![]));
    assert_eq!(after(0, |_| ()), Ok(vec![State::ArtifactsRemoved]));
    let two = after(2, |journal| {
        let (path, bytes) = second(journal);
        journal.tree.fs.file(path, &bytes);
        journal.tree.fs.directory("/ws2");
        plant_other(&journal.tree.fs);
    });
    assert_eq!(two, Ok(vec![State::OwnerPending(2), State::Prepared]));
}

#[test]
fn one_defect_anywhere_fails_it() {
    let receipts = |journal: &Retirement, name: &str| journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}"));
    assert_eq!(after(0, |j| j.tree.fs.file(receipts(j, "gc-retirement-x"), b"")), Err(CORRUPT), "a name that is none");
    assert_eq!(after(0, |j| j.tree.fs.file(receipts(j, "other"), b"")), Ok(vec![State::ArtifactsRemoved]), "near miss: no receipt");
    assert_eq!(after(0, |j| j.tree.fs.remove(j.path(State::Prepared))), Err(STATE_MISSING));
    assert_eq!(after(0, |j| j.tree.fs.remove(j.tree.at(BINDING))), Err(SCOPE_AUTHORITY));
    assert_eq!(after(0, |j| j.tree.fs.chmod("/a", 0o755)), Err(SCOPE_AUTHORITY));
    assert_eq!(after(0, |j| j.tree.fs.chmod(j.tree.at(&format!("{INTERNAL}/{RECEIPTS}")), 0o755)), Err(SCOPE_AUTHORITY));
    assert_eq!(after(0, |j| j.tree.fs.file(format!("/a/sessions/v2-{}", "b".repeat(52)), b"")), Err(SCOPE_AUTHORITY), "no directory");
    assert_eq!(
        after(0, |j| j.tree.fs.directory("/a/sessions/stray")),
        Ok(vec![State::ArtifactsRemoved]),
        "near miss: no scope by its name"
    );
    let retired = after(0, |j| j.store(&j.receipt(Progress::OwnerRetired)));
    assert_eq!(retired, Err("task_artifact_owner_physical_retirement_unverified"));
    let gone = after(0, |j| {
        j.store(&j.receipt(Progress::OwnerRetired));
        j.tree.fs.remove(owner());
    });
    assert_eq!(gone, Ok(vec![State::OwnerRetired]), "near miss: nothing of the owner is left");
}

#[test]
fn absence_of_a_workspace_is_authenticated() {
    // Without receipts the scope proves itself and is skipped; with one, nothing of the profile is known.
    let without = |change: fn(&Memory)| {
        let journal = Retirement::new().with(0);
        plant_other(&journal.tree.fs);
        change(&journal.tree.fs);
        discovered(&journal.tree.fs)
    };
    assert_eq!(without(|_| ()), Ok(vec![State::ArtifactsRemoved]));
    assert_eq!(without(|fs| fs.file(format!("{}/{INTERNAL}/{RECEIPTS}/gc-retirement-x", other_scope()), b"")), Err(SCOPE_AUTHORITY));
    assert_eq!(without(|fs| fs.chmod(other_scope(), 0o755)), Err(SCOPE_AUTHORITY));
    assert_eq!(without(|fs| fs.append(format!("{}/{BINDING}", other_scope()), b" ")), Err(SCOPE_AUTHORITY), "not canonical");
    assert_eq!(
        without(|fs| fs.remove(format!("{}/{INTERNAL}", other_scope()))),
        Ok(vec![State::ArtifactsRemoved]),
        "no receipts directory"
    );
}

/// The numbers of the operations that list `directory`, in a run in which nothing changes: when its names are read and when it
/// is closed, for the first and for the last listing.
fn listings(directory: &str) -> ([(u64, u64); 2], u64) {
    listings_of(directory, &prepared())
}
fn listings_of(directory: &str, journal: &Retirement) -> ([(u64, u64); 2], u64) {
    let calls = Mutex::new(Vec::new());
    let inject = Inject::new(&journal.tree.fs, |call| {
        if call.path == Path::new(directory) && call.phase == Phase::Before && matches!(call.op, "opendir" | "close") {
            calls.lock().unwrap().push(call.number);
        }
        None
    });
    assert_eq!(discovered(&inject), Ok(vec![State::Prepared]));
    let calls = calls.lock().unwrap().clone();
    // It is opened, read and closed twice; that of a journal is opened in between, to read the receipts.
    let (6 | 7, [_, first @ .., _, read, closed]) = (calls.len(), &calls[..]) else { panic!("{calls:?}") };
    ([(first[0], first[1]), (*read, *closed)], inject.operations())
}
/// A journal of one receipt, and an empty workspace beside.
fn prepared() -> Retirement {
    let journal = Retirement::new();
    journal.store(&journal.prepared);
    journal.tree.fs.directory("/ws2");
    journal
}

/// What `change` makes before the operation of each number is refused with `token` from the moment when `directory` was listed
/// first until it is listed last. `adopted` is the answer when it was there in time.
///
/// Every position is tried, the one behind the last operation included. From the moment on when the names of the directory were
/// listed last there is nothing to refuse: nobody looks again, as nobody looks when discovery has ended, and what comes into
/// being then is not part of the answer.
fn at_every_position(directory: &str, token: &str, adopted: &[State], change: impl Fn(&Retirement) + Sync) {
    at_every_position_of(prepared, directory, token, adopted, change);
}
fn at_every_position_of(
    make: impl Fn() -> Retirement,
    directory: &str,
    token: &str,
    adopted: &[State],
    change: impl Fn(&Retirement) + Sync,
) {
    let ([(first, first_end), (last, _)], total) = listings_of(directory, &make());
    let mut refused = 0;
    for position in 0..=total {
        let journal = make();
        let inject = Inject::new(&journal.tree.fs, |call| {
            if call.number == position && call.phase == Phase::Before {
                change(&journal);
            }
            None
        });
        let answer = discovered(&inject);
        match &answer {
            Ok(_) if position <= first_end => assert!(position > first || answer.as_deref() == Ok(adopted), "{position}: {answer:?}"),
            Ok(states) => assert!(position > last && states == &[State::Prepared], "left out or adopted at {position}: {answer:?}"),
            // A directory that moves for as long as it is listed is not known either.
            Err(said) => assert!(position > first && *said == token, "{position}: {answer:?}"),
        }
        refused += u64::from(answer.is_err());
        if position > first_end && position <= last {
            assert_eq!(answer, Err(token), "between {first_end} and {last}, at {position}");
        }
    }
    assert!(refused > 10, "{refused} of {total}");
}

#[test]
fn a_scope_that_appears_meanwhile_is_refused_at_every_position() {
    at_every_position("/a/sessions", SCOPE_AUTHORITY, &[State::Prepared], |journal| plant_other(&journal.tree.fs));
}

#[test]
fn a_populated_scope_that_appears_meanwhile_is_refused_at_every_position() {
    at_every_position("/a/sessions", SCOPE_AUTHORITY, &[State::Prepared], |journal| {
        plant_other(&journal.tree.fs);
        journal.tree.fs.file(format!("{}/{INTERNAL}/{RECEIPTS}/{}.json", other_scope(), "ab".repeat(32)), b"{}");
    });
}

#[test]
fn a_journal_that_appears_in_a_processed_scope_is_refused_at_every_position() {
    let receipts = Retirement::new().tree.at(&format!("{INTERNAL}/{RECEIPTS}"));
    at_every_position(&receipts, AUTHORITY, &[State::Prepared, State::Prepared], |journal| {
        let (path, bytes) = second(journal);
        journal.tree.fs.file(path, &bytes);
    });
}

/// The scope of the other workspace has no receipt, is read, and then gets its first one.
#[test]
fn a_first_receipt_in_a_processed_scope_is_refused_at_every_position() {
    let make = || {
        let journal = prepared();
        plant_other(&journal.tree.fs);
        journal
    };
    let receipts = format!("{}/{INTERNAL}/{RECEIPTS}", other_scope());
    at_every_position_of(make, &receipts, AUTHORITY, &[State::Prepared, State::Prepared], |journal| {
        let path = format!("{}/2026-01-02T00-00-00-000Z_s1.jsonl", other_scope());
        let mut first: Receipt = journal.prepared.clone();
        first.scope = identity("/ws2").digest_text();
        Arc::make_mut(&mut first.target).transcript_path = path.as_str().into();
        let name = crate::gc::Key::of(path.as_str().into()).name(State::Prepared);
        journal.tree.fs.file(format!("{receipts}/{name}"), &first.encode().unwrap());
    });
}

/// The scope directory itself is replaced by a copy when it was read: the same name, another object.
#[test]
fn a_scope_that_is_replaced_meanwhile_is_refused() {
    let replaced = |number: u64| {
        let journal = prepared();
        let inject = Inject::new(&journal.tree.fs, |call| {
            if call.number == number && call.phase == Phase::Before {
                let scope = journal.tree.at("");
                journal.tree.fs.rename(scope.trim_end_matches('/'), "/elsewhere");
                journal.tree.fs.plant(scope.trim_end_matches('/'), &clean::scope(&identity("/ws"), [(NAME, text("s1", "").as_str())]));
                // The same receipts, so that only the scope tells.
                journal.tree.fs.remove(journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}")));
                journal.tree.fs.rename(format!("/elsewhere/{INTERNAL}/{RECEIPTS}"), journal.tree.at(&format!("{INTERNAL}/{RECEIPTS}")));
            }
            None
        });
        discovered(&inject)
    };
    let ([_, (last, _)], _) = listings("/a/sessions");
    assert_eq!(replaced(last - 1), Err(SCOPE_AUTHORITY));
}

/// Before or behind the scopes that were read, by name.
#[test]
fn a_scope_is_refused_wherever_its_name_sorts() {
    let ([_, (last, _)], _) = listings("/a/sessions");
    let own = identity("/ws").directory_name();
    let workspaces = (0..).map(|number| format!("/w{number}"));
    let before = workspaces.clone().find(|path| identity(path).directory_name() < own).unwrap();
    let behind = workspaces.clone().find(|path| identity(path).directory_name() > own).unwrap();
    for workspace in [before, behind] {
        let journal = prepared();
        let inject = Inject::new(&journal.tree.fs, |call| {
            if call.number == last - 1 && call.phase == Phase::Before {
                journal
                    .tree
                    .fs
                    .plant(format!("/a/sessions/{}", identity(&workspace).directory_name()), &clean::scope(&identity(&workspace), []));
            }
            None
        });
        assert_eq!(discovered(&inject), Err(SCOPE_AUTHORITY), "{workspace}");
    }
}

/// A receipt that changes under the same name is one that nobody read: in size, in time, or as another object.
#[test]
fn a_receipt_that_changes_in_a_processed_scope_is_refused() {
    let receipts = Retirement::new().tree.at(&format!("{INTERNAL}/{RECEIPTS}"));
    let ([_, (last, _)], _) = listings(&receipts);
    let changed = |change: &(dyn Fn(&Memory, &str) + Sync)| {
        let journal = prepared();
        let path = journal.path(State::Prepared);
        let inject = Inject::new(&journal.tree.fs, |call| {
            if call.number == last - 2 && call.phase == Phase::Before {
                change(&journal.tree.fs, &path);
            }
            None
        });
        discovered(&inject)
    };
    assert_eq!(changed(&|_, _| ()), Ok(vec![State::Prepared]));
    assert_eq!(changed(&|fs, path| fs.set(path, |meta| meta.size += 1)), Err(AUTHORITY), "size");
    assert_eq!(changed(&|fs, path| fs.set(path, |meta| meta.mtime_ns += 1)), Err(AUTHORITY), "time");
    assert_eq!(changed(&|fs, path| fs.renumber(path, 99_999)), Err(AUTHORITY), "object");
}

#[test]
fn a_workspace_that_leads_elsewhere_now_has_no_scope_there() {
    let journal = Retirement::new().with(0);
    plant_other(&journal.tree.fs);
    journal.tree.fs.symlink("/ws2", "/ws");
    assert_eq!(discovered(&journal.tree.fs), Err(SCOPE_AUTHORITY));
}

#[test]
fn the_sessions_root_is_owner_only_too() {
    assert_eq!(after(0, |journal| journal.tree.fs.chmod("/a/sessions", 0o750)), Err(SCOPE_AUTHORITY));
}

/// The names of a directory are judged before any journal of it is read.
#[test]
fn the_grammar_of_names_comes_before_the_journals() {
    let grown = |journal: &Retirement| journal.tree.fs.append(journal.tree.transcript(), b"{}\n");
    assert_eq!(after(0, grown), Err("task_artifact_owner_continuation_transcript_replaced"));
    let odd = after(0, |journal| {
        grown(journal);
        journal.tree.fs.file(journal.path(State::OwnerPending(1)).replace("00000001", "1"), b"");
    });
    assert_eq!(odd, Err(CORRUPT));
}

/// What could not be seen may be what is missing.
#[test]
fn a_scope_that_cannot_be_read_to_its_end_is_not_known() {
    let journal = Retirement::new().with(1);
    let prepared = journal.path(State::Prepared);
    let inject = Inject::new(&journal.tree.fs, |call| (call.op == "lstat" && call.path == Path::new(&prepared)).then_some(Errno::IO));
    assert_eq!(discovered(&inject), Err("unread"));
}

/// What is left of an owner whose retirement is pending is asked when the retirement goes on.
#[test]
fn a_pending_retirement_is_found_whatever_is_left_of_its_owner() {
    assert_eq!(
        after(1, |journal| journal.tree.fs.remove(owner())),
        Ok(vec![State::ArtifactsRemoved, State::OwnerPending(1)][1..].to_vec())
    );
}

/// The workspaces of a copy are those of another machine.
#[test]
fn the_workspace_of_a_copy_need_not_be_here() {
    let journal = Retirement::new().with(0);
    journal.tree.fs.rename("/ws", "/elsewhere");
    let world = World { is_copy: true, ..world(&journal.tree.fs) };
    assert_eq!(discover(&world).map(|found| found.len()), Ok(1));
    assert_eq!(discovered(&journal.tree.fs), Err(SCOPE_AUTHORITY), "here it would be missing");
}
