//! What the protocol inspector asks of every protocol directory and of every entry in it, whatever the entry is for: one fault at
//! a time, with the exact findings and a near miss.

use super::*;

const OP: &str = "abababababababababababababababababababababababababababababababab";

/// The findings of a release after one change, the scope's protocol directory called `PROTOCOL`.
fn found_by(release: Release, change: impl FnOnce(&Tree)) -> Vec<String> {
    let tree = Tree::new();
    change(&tree);
    let run = checked(&tree.fs, "/a", &Options { release, ..options() });
    found_in(&run).into_iter().map(|line| line.replace(&format!("SCOPE/{INTERNAL}"), "PROTOCOL")).collect()
}
fn found(change: impl FnOnce(&Tree)) -> Vec<String> {
    found_by(Release::V0_17, change)
}
fn at(tree: &Tree, name: &str) -> String {
    tree.at(&format!("{INTERNAL}/{name}"))
}

#[test]
fn managed_gc_protocol_roles_invalid() {
    const CODE: &str = "managed_gc_protocol_roles_invalid PROTOCOL";
    let more = |tree: &Tree| tree.fs.directory(at(tree, "more"));
    assert_eq!(found(more), [CODE]);
    assert_eq!(found(|tree| tree.fs.remove(at(tree, RECEIPTS))), [CODE]);
    assert_eq!(found_by(Release::V0_15, more), NOTHING, "0.15 has no inspector");
    assert_eq!(found(|tree| tree.fs.remove(tree.at(INTERNAL))), NOTHING, "near miss: none of them is there yet");
    assert_eq!(found(|tree| tree.fs.directory(at(tree, "locks"))), NOTHING, "near miss: a role");
}

#[test]
fn managed_gc_protocol_entry_invalid() {
    const CODE: &str = "managed_gc_protocol_entry_invalid";
    let with = |name: &str| found(|tree| tree.fs.file(at(tree, name), b"{}")).into_iter().filter(|line| line.starts_with(CODE)).collect();
    let none: Vec<String> = with("locks/x.json");
    assert_eq!(none, NOTHING, "near miss: another name is the affair of its role");
    for name in ["locks/x.jsonl", "receipts/x.jsonl.bak", "tombstones/.jsonl"] {
        let found: Vec<String> = with(name);
        assert_eq!(found, [format!("{CODE} PROTOCOL/{name}")]);
    }
}

#[test]
fn managed_gc_protocol_directory_invalid() {
    let replaced = |release, name: &str| {
        found_by(release, |tree| {
            let path = if name.is_empty() { tree.at(INTERNAL) } else { at(tree, name) };
            tree.fs.remove(&path);
            tree.fs.file(path, b"");
        })
    };
    for release in [Release::V0_15, Release::V0_17] {
        assert_eq!(replaced(release, ""), ["managed_gc_protocol_directory_invalid PROTOCOL"]);
        assert_eq!(replaced(release, "locks"), ["managed_gc_protocol_directory_invalid PROTOCOL/locks"]);
    }
    let linked = found(|tree| {
        tree.fs.rename(at(tree, "locks"), "/elsewhere");
        tree.fs.symlink(at(tree, "locks"), "/elsewhere");
    });
    assert_eq!(linked, ["reparse_point PROTOCOL/locks"], "near miss: a link has a code of its own");
}

#[test]
fn managed_gc_protocol_file_invalid() {
    const CODE: &str = "managed_gc_protocol_file_invalid";
    let tombstone = format!("tombstones/{OP}.json");
    let directory = found(|tree| tree.fs.directory(at(tree, &tombstone)));
    assert_eq!(directory, [format!("{CODE} PROTOCOL/{tombstone}"), format!("tombstone_unreadable PROTOCOL/{tombstone}")]);
    let foreign = found(|tree| {
        tree.fs.file(at(tree, &tombstone), b"oops");
        tree.fs.set(at(tree, &tombstone), |meta| meta.uid = 1001);
    });
    assert!(foreign.contains(&format!("{CODE} PROTOCOL/{tombstone}")), "{foreign:?}");
    let private = found(|tree| tree.fs.file(at(tree, &tombstone), b"oops"));
    assert_eq!(private, [format!("tombstone_unreadable PROTOCOL/{tombstone}")], "near miss: an ordinary private file");
    // A mode has a code of its own, which names the inspector.
    let readable = found(|tree| {
        tree.fs.file(at(tree, &tombstone), b"oops");
        tree.fs.chmod(at(tree, &tombstone), 0o644);
    });
    assert!(!readable.iter().any(|line| line.starts_with(CODE)), "{readable:?}");
    assert!(readable.contains(&format!("descendant_mode_drift PROTOCOL/{tombstone}")), "{readable:?}");
}

#[test]
fn managed_gc_protocol_record_invalid() {
    const CODE: &str = "managed_gc_protocol_record_invalid";
    let receipt = format!("receipts/{OP}.json");
    let completed = format!("tombstones/{OP}.{OP}.cleanup-completed-1.json");
    for name in [&receipt, &completed] {
        for bytes in ["oops", "[]", "7"] {
            let found = found(|tree| tree.fs.file(at(tree, name), bytes.as_bytes()));
            assert_eq!(found, [format!("{CODE} PROTOCOL/{name}")], "{bytes}");
        }
    }
    let object = |name: &str| found(|tree| tree.fs.file(at(tree, name), br#"{"state":"committed"}"#));
    assert_eq!(object(&receipt), [format!("managed_gc_protocol_migration_invalid PROTOCOL/{receipt}")], "near miss: an object");
    assert_eq!(object(&completed), [format!("managed_gc_protocol_tombstone_authority_missing PROTOCOL/{completed}")], "near miss");
    let in_0_15 = found_by(Release::V0_15, |tree| tree.fs.file(at(tree, &receipt), b"oops"));
    assert_eq!(in_0_15, [format!("managed_gc_protocol_migration_invalid PROTOCOL/{receipt}")], "0.15 has no inspector");
}

/// A role that could not be looked at may be the one that seems to be missing.
#[test]
fn roles_that_could_not_be_looked_at_are_not_missing() {
    let tree = Tree::new();
    let locks = at(&tree, "locks");
    let inject = Inject::new(&tree.fs, |call| (call.op == "lstat" && call.path == Path::new(&locks)).then_some(Errno::IO));
    let found = found_in(&checked(&inject, "/a", &options()));
    assert!(!found.is_empty() && !found.iter().any(|line| line.starts_with("managed_gc_protocol_roles_invalid ")), "{found:?}");
}

#[test]
fn of_many_names_that_are_no_roles_five_are_named() {
    let message = |strays: usize| {
        let tree = Tree::new();
        (0..strays).for_each(|stray| tree.fs.directory(at(&tree, &format!("more{stray}"))));
        let run = checked(&tree.fs, "/a", &options());
        run.findings.iter().find(|finding| finding.code.name == "managed_gc_protocol_roles_invalid").unwrap().message.to_string()
    };
    assert!(message(5).ends_with("`more4` does not belong there."), "{}", message(5));
    assert!(message(7).ends_with("`more4` does not belong there, and 2 more."), "{}", message(7));
}

/// A whole directory of another user is told once, where it begins.
#[test]
fn what_belongs_to_the_owner_of_its_directory_is_not_told_again() {
    let owned = |names: &[&str]| {
        let mut found = found(|tree| {
            tree.fs.file(at(tree, &format!("locks/{OP}.lock")), b"{}");
            names.iter().for_each(|name| tree.fs.set(at(tree, name), |meta| meta.uid = 7));
        });
        found.retain(|line| !line.starts_with("managed_gc_protocol_lock_invalid "));
        found
    };
    let lock = format!("locks/{OP}.lock");
    assert_eq!(owned(&[&lock]), [format!("owner_mismatch PROTOCOL/{lock}")]);
    assert_eq!(owned(&["locks", &lock]), ["owner_mismatch PROTOCOL/locks"]);
}
