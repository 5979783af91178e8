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
