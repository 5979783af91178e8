//! What a repair leaves alone although gjc might not: unfinished deletions, replacement receipts, old receipts, directories that
//! others may enter. Nothing is written then, whoever asks.

use super::common::{Clock, ground};
use super::scenes::{LEGACY, NOW, SCENES, drifted, resolved, run, run_wishing, scope, source, world};
use gjc_fsck::agent::candidates::{Candidate, Provenance, State};
use gjc_fsck::agent::predict::{self, Policy};
use gjc_fsck::corpus::clean;
use gjc_fsck::fsys::{Acl, Errno, Fs, Inject, Memory, NativeAcl, Phase};
use gjc_fsck::repair::apply::{Applied, Made, apply};
use gjc_fsck::repair::plan::{Leftover, Plan, ScopePlan, Wanted, Wish, plan};
use std::path::{Path, PathBuf};

fn scene(name: &str) -> Memory {
    (SCENES.iter().find(|scene| scene.name == name).unwrap().build)()
}

/// A legacy session that could be copied, in a scope where another session was deleted, and only the tombstone written.
fn with_unfinished_deletion() -> Memory {
    let fs = scene("plain");
    let other = clean::transcript("s2", "/ws", "");
    fs.plant(scope(), &clean::scope(&super::scenes::identity(), [(clean::name("s2").as_str(), other.as_str())]));
    let path = PathBuf::from(scope()).join(clean::name("s2"));
    let identity = Candidate::read(&fs, &path, Provenance::V2).unwrap().identity(&fs).unwrap();
    let target = format!(
        r#"{{"path":"{0}","sessionId":"s2","cwd":"/ws","provenance":"v2","identity":{{"canonicalPath":"{0}","sessionId":"s2","dev":"{1}","ino":"{2}","nlink":"1","size":{3},"mtimeNs":"{4}","ctimeNs":"{5}","sha256":"{6}","mtimeMs":{7}}}}}"#,
        path.display(),
        identity.dev,
        identity.ino,
        identity.size,
        identity.mtime_ns,
        identity.ctime_ns,
        identity.sha256,
        identity.mtime_ns / 1_000_000,
    );
    let tombstone = format!(r#"{{"schemaVersion":2,"state":"retired","scope":"{}","targets":[{target}]}}"#, resolved(&fs).digest());
    fs.file(resolved(&fs).protocol("tombstones").join(format!("{}.json", identity.operation())), format!("{tombstone}\n").as_bytes());
    fs
}

/// The one refusal of a scope, or of its one session; carrying the plan out answers the same and writes nothing.
fn refused(fs: &Memory) -> (String, String, Option<String>) {
    let before = fs.snapshot();
    let (plan, applied) = run(fs, NOW, 12);
    let [scope] = &plan.scopes[..] else { panic!("{plan:#?}") };
    let [session] = &scope.sessions[..] else { panic!("{scope:#?}") };
    let refusal = session.refused.clone().or(scope.refused.clone()).unwrap();
    assert!(!scope.writes());
    assert_eq!(applied.sessions[0].refused.as_ref(), Some(&refusal));
    assert_eq!((applied.copied(), fs.snapshot()), (0, before));
    (refusal.code, refusal.detail, refusal.path)
}

#[test]
fn a_scope_with_an_unfinished_deletion_is_refused_and_the_deletion_not_resumed() {
    let fs = with_unfinished_deletion();
    let (code, detail, path) = refused(&fs);
    assert_eq!(code, "cleanup_pending");
    assert!(detail.contains("session s2") && path.unwrap().contains("/tombstones/"), "{detail}");
    // gjc would delete it now.
    assert!(fs.content(PathBuf::from(scope()).join(clean::name("s2"))).is_some());
    let resumed = predict::pending_targets(&world(&fs, NOW), &resolved(&fs)).unwrap();
    assert_eq!(resumed.len(), 1);
}

#[test]
fn a_scope_with_a_replacement_receipt_is_refused_wherever_it_lies() {
    for place in ["", ".gjc-managed-session-internal/receipts", ".gjc-managed-session-internal/locks"] {
        let fs = scene("conflict");
        fs.remove(PathBuf::from(scope()).join(clean::name("s1")));
        fs.remove(format!("{LEGACY}/{}", clean::name("s2")));
        let at = PathBuf::from(scope()).join(place).join(".gjc-replace-receipt-pending-0a1b2c3d-1111-4222-8333-444444444444.json");
        fs.file(&at, b"{oops");
        let (code, _, path) = refused(&fs);
        assert_eq!((code.as_str(), path.unwrap()), ("replacement_receipt_pending", at.to_string_lossy().into_owned()));
        fs.remove(&at);
        assert_eq!(run(&fs, NOW, 12).1.copied(), 1, "without it nothing stands in the way");
    }
}

/// 02a.2: gjc copies the session first, and then fails for ever.
#[test]
fn a_committed_receipt_that_would_block_is_reported_and_not_overwritten() {
    for garbage in [false, true] {
        let fs = scene("second run");
        let operation = source(&fs).identity(&fs).unwrap().operation();
        let receipt = resolved(&fs).protocol("receipts").join(format!("{operation}.json"));
        let copy = PathBuf::from(scope()).join(clean::name("s1"));
        fs.remove(&copy);
        fs.remove(copy.with_extension(""));
        if garbage {
            fs.truncate(&receipt, 0);
            fs.append(&receipt, b"garbage");
        }
        let (code, detail, path) = refused(&fs);
        assert_eq!((code.as_str(), path.as_deref()), ("durability_failed", receipt.to_str()));
        assert!(detail.contains("02a.2") && detail.contains("move it out of receipts/, or touch the legacy file"), "{detail}");
        // Either piece of advice is right.
        let moved = fs.fork();
        moved.rename(&receipt, "/kept.json");
        assert_eq!(run(&moved, NOW, 12).1.copied(), 1);
        fs.append(format!("{LEGACY}/{}", clean::name("s1")), b"");
        assert_eq!(run(&fs, NOW, 12).1.copied(), 1);
    }
}

fn secured(fs: &dyn gjc_fsck::fsys::Change) -> (Plan, Applied) {
    run_wishing(fs, NOW, 12, Wish { policy: Policy::CopyRetain, secure_modes: true })
}

#[test]
fn directories_that_others_may_enter_are_named_and_secured_only_when_asked_for() {
    let fs = drifted();
    let (code, _, path) = refused(&fs);
    assert_eq!((code.as_str(), path.as_deref()), ("mode_mismatch", Some("/a")));
    let (plan, applied) = secured(&fs);
    let changes: Vec<(&str, &str, bool)> =
        plan.scopes[0].mode_changes.iter().map(|change| (change.path.as_str(), change.from.as_str(), change.acl)).collect();
    assert_eq!(changes, [("/a", "0755", false), ("/a/sessions", "0700", true), (&scope(), "0750", true)]);
    assert_eq!(applied.copied(), 1, "{applied:#?}");
    for path in ["/a", "/a/sessions", &scope()] {
        let path = Path::new(path);
        assert_eq!(fs.lstat(path).unwrap().mode, 0o700, "{}", path.display());
        assert!(fs.acl(path, Acl::Access).is_err() && fs.acl(path, Acl::Default).is_err(), "{}", path.display());
    }
    let listing = predict::list(&world(&fs, NOW), &resolved(&fs)).unwrap();
    assert!(listing.owned.iter().all(|listed| listed.state == State::MigratedV2));
    // The legacy directory is not on the way.
    assert_eq!(fs.lstat(Path::new(LEGACY)).unwrap(), drifted().lstat(Path::new(LEGACY)).unwrap());
}

/// The lists of macOS and Windows are no attribute that a repair could remove: it says so before it changes anything.
#[test]
fn the_access_list_of_another_system_is_refused_before_anything_is_changed() {
    let fs = drifted();
    fs.set_native_acl(scope(), Ok(Some(NativeAcl::Extended(1))));
    let before = fs.fingerprint();
    let (_, applied) = secured(&fs);
    let refusal = applied.refusals().next().unwrap();
    assert_eq!((refusal.code.as_str(), applied.copied()), ("binding_invalid", 0));
    assert!(refusal.detail.contains("acl_verify_failed"), "{}", refusal.detail);
    assert!(fs.fingerprint() == before, "nothing is changed");
}

#[test]
fn an_access_control_list_that_stays_ends_it() {
    for errno in [Errno::PERM, Errno::IO] {
        let fs = drifted();
        let inject = Inject::changing(&fs, |call| (call.op == "removexattr" && call.phase == Phase::Before).then_some(errno));
        let (_, applied) = secured(&inject);
        assert_eq!(applied.copied(), 0);
        assert_eq!(applied.refusals().next().unwrap().code, "managed_storage_unsupported");
        drop(inject);
        assert!(fs.lstat(&PathBuf::from(scope()).join(clean::name("s1"))).is_err());
        // The directories that were done are done; the rest is done when it can be.
        assert_eq!(secured(&fs).1.copied(), 1);
    }
}

/// A scope with a binding and a file beside the session that would be copied.
fn beside(put: impl Fn(&Memory, &Path)) -> Memory {
    let fs = scene("plain");
    fs.plant(scope(), &clean::scope(&super::scenes::identity(), []));
    put(&fs, &PathBuf::from(scope()).join(clean::name("s9")));
    fs
}

/// The plan says so, not only who carries it out.
#[test]
fn a_transcript_of_the_scope_that_cannot_be_read_may_be_the_session_that_would_be_copied() {
    let fs = beside(|fs, path| fs.file(path, clean::transcript("s9", "/ws", "").as_bytes()));
    let unread = PathBuf::from(scope()).join(clean::name("s9"));
    let inject = Inject::changing(&fs, |call| (call.op == "open" && call.path == unread).then_some(Errno::IO));
    let plan = plan(&world(&inject, NOW), &Wanted::All, Wish::default());
    let refusal = plan.scopes[0].refused.as_ref().unwrap();
    assert_eq!((refusal.code.as_str(), plan.scopes[0].writes()), ("managed_storage_unsupported", false));
    assert!(refusal.detail.contains("make it readable, or move it out"), "{}", refusal.detail);
}
#[test]
fn a_link_in_the_scope_is_never_followed_and_hinders_nothing() {
    let fs = beside(|fs, path| fs.symlink(path, "/elsewhere"));
    let (plan, applied) = run(&fs, NOW, 12);
    assert_eq!((plan.scopes[0].refused.as_ref(), applied.copied()), (None, 1), "{applied:#?}");
}

/// gjc lists nothing of a workspace then, and so opens nothing of it (spec 02 §5.2).
#[test]
fn a_workspace_whose_listing_fails_is_refused_in_the_plan() {
    for make in [|fs: &Memory| fs.symlink(LEGACY, "elsewhere"), |fs: &Memory| fs.file(LEGACY, b"x")] {
        let fs = scene("plain");
        fs.rename(LEGACY, "/a/sessions/-an-old-name");
        make(&fs);
        let (code, _, path) = refused(&fs);
        assert_eq!((code.as_str(), path.as_deref()), ("scan_failed", Some(LEGACY)));
        fs.remove(LEGACY);
        assert_eq!(run(&fs, NOW, 12).1.copied(), 1);
    }
}

/// A plan file is somebody's text: what it names is looked at as if nobody had ever seen it.
#[test]
fn a_plan_moves_nothing_but_staged_receipts_and_takes_no_lock_elsewhere() {
    let fs = scene("interrupted: prepared");
    let operation = source(&fs).identity(&fs).unwrap().operation();
    // The legacy file has another operation name now, and the receipt is a leftover.
    fs.append(format!("{LEGACY}/{}", clean::name("s1")), b"");
    let clock = Clock::new(NOW, 12);
    let ground = ground(&fs, world(&fs, NOW), &clock);
    let honest = plan(&ground.now(), &Wanted::All, Wish::default());
    assert_eq!(honest.scopes[0].leftovers[0].operation, operation);
    let receipts = resolved(&fs).protocol("receipts");
    let transcript = format!("{LEGACY}/{}", clean::name("s1"));
    let binding = format!("{}/.gjc-managed-session-scope.v2.json", scope());
    let committed = receipts.join(format!("{operation}.json")).to_string_lossy().into_owned();
    fs.file(&committed, b"{}");
    let around = receipts.join(format!("../receipts/{operation}.prepared.json")).to_string_lossy().into_owned();
    let staged = receipts.join(format!("{operation}.prepared.json")).to_string_lossy().into_owned();
    let before = fs.snapshot();
    for (operation, moved) in [
        (operation.as_str(), transcript.as_str()),
        (&operation, &binding),
        (&operation, &committed),
        (&operation, &around),
        ("../../../../ws/lock", &staged),
    ] {
        let leftover = Leftover { operation: operation.to_owned(), set_aside: vec![moved.to_owned()], refused: None };
        let scope = ScopePlan { sessions: Vec::new(), leftovers: vec![leftover], ..honest.scopes[0].clone() };
        let forged = Plan { scopes: vec![scope], ..honest.clone() };
        let applied = apply(&ground, &forged, Made::Earlier, false, &mut |_| {});
        assert_eq!(applied.refusals().next().unwrap().code, "source_changed", "{moved}");
        let mut after = fs.snapshot();
        // Preparing the scope makes its quarantine.
        after.retain(|(path, _)| !path.ends_with(".gjc-recovery"));
        assert_eq!(after.len(), before.len(), "{moved}");
        assert!(fs.content(moved).is_some());
    }
}
