//! The empty directory that an exact unlink may leave beside a detached root, and the proof that a recorded one is still
//! what it was (spec 03 §18, spec 02 §7.2.5). Pure: what the disk says comes in as facts.

use super::record::{BigInt, NodeKind, RootRule, Tree, TreeEntry, is_tree, same_trees, to_bigint};
use crate::json::Value;

/// The name of the placeholder with this device and inode: lower-case hex, not padded.
pub fn name(dev: u64, ino: u64) -> String {
    format!(".gjc-exact-unlink-placeholder-{dev:x}-{ino:x}")
}

/// What the disk says of a recorded placeholder. A fact that could not be had makes the proof fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The directory of the recorded path is exactly the given parent.
    pub in_place: bool,
    /// Device and inode of the parent.
    pub parent: (u64, u64),
    /// The object at the recorded path as a tree entry, when it is a real directory.
    pub root: Option<TreeEntry>,
    /// It has no child.
    pub empty: bool,
}

/// Whether a recorded `sourceArtifactCleanup` still holds: the same real directory in the same parent, empty, of the same
/// size and time, and recorded as a tree of exactly its root, equal in all that counts of an entry.
pub fn holds(cleanup: &Value, facts: &Facts) -> bool {
    let (Some(tree), Some(root)) = (cleanup.member("tree"), &facts.root) else { return false };
    facts.in_place && facts.empty && is_recorded(cleanup, facts) && is_tree_of(tree, root)
}

/// Whether the directory is the recorded one, of the recorded size and time and in the recorded parent. The recorded numbers
/// are read as `BigInt` reads them.
pub fn is_recorded(cleanup: &Value, facts: &Facts) -> bool {
    let (Some(identity), Some(root)) = (cleanup.member("identity"), &facts.root) else { return false };
    let (parent_dev, parent_ino) = facts.parent;
    let is = |key: &str, number: i128| identity.member(key).is_some_and(|recorded| to_bigint(recorded) == BigInt::Value(number));
    root.kind == NodeKind::Directory
        && is("dev", root.dev.into())
        && is("ino", root.ino.into())
        && is("size", root.size.into())
        && is("mtimeNs", root.mtime_ns)
        && is("parentDev", parent_dev.into())
        && is("parentIno", parent_ino.into())
}

/// A recorded tree whose only entry is this root.
fn is_tree_of(tree: &Value, root: &TreeEntry) -> bool {
    let live = Tree { entries: vec![root.clone()] }.to_value();
    is_tree(tree) && same_trees(tree, &live, RootRule::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let root = TreeEntry {
            relative_path: "".into(),
            kind: NodeKind::Directory,
            dev: 2049,
            ino: 200_001,
            nlink: 2,
            size: 40,
            mtime_ns: 5,
            ctime_ns: 6,
            sha256: None,
        };
        Facts { in_place: true, parent: (2049, 7), root: Some(root), empty: true }
    }
    fn cleanup() -> String {
        r#"{"identity":{"dev":"2049","ino":"200001","size":"40","mtimeNs":"5","parentDev":"2049","parentIno":"7"},"tree":{"rootDev":"2049","rootIno":"200001","entries":[{"kind":"directory","relativePath":"","dev":"2049","ino":"200001","nlink":"2","size":"40","mtimeNs":"5","ctimeNs":"6"}]}}"#.into()
    }
    fn proven(text: &str, facts: &Facts) -> bool {
        holds(&Value::parse(text.as_bytes()).unwrap(), facts)
    }

    #[test]
    fn the_worked_name() {
        assert_eq!(name(2049, 200_001), ".gjc-exact-unlink-placeholder-801-30d41");
    }
    #[test]
    fn an_unchanged_empty_directory_holds() {
        assert!(proven(&cleanup(), &facts()));
    }
    #[test]
    fn any_fact_that_differs_says_no() {
        let root = facts().root;
        for changed in [
            Facts { in_place: false, ..facts() },
            Facts { empty: false, ..facts() },
            Facts { root: None, ..facts() },
            Facts { parent: (2049, 8), ..facts() },
            Facts { parent: (2050, 7), ..facts() },
            Facts { root: root.clone().map(|root| TreeEntry { dev: 1, ..root }), ..facts() },
            Facts { root: root.clone().map(|root| TreeEntry { size: 41, ..root }), ..facts() },
            Facts { root: root.clone().map(|root| TreeEntry { ino: 1, ..root }), ..facts() },
            Facts { root: root.clone().map(|root| TreeEntry { mtime_ns: 6, ..root }), ..facts() },
            Facts { root: root.map(|root| TreeEntry { ctime_ns: 7, ..root }), ..facts() },
        ] {
            assert!(!proven(&cleanup(), &changed), "{changed:?}");
        }
    }
    /// The identity is compared by itself: a record whose tree is right and whose identity is not, does not hold.
    #[test]
    fn each_number_of_the_recorded_identity_counts() {
        for key in ["dev", "ino", "size", "mtimeNs", "parentDev", "parentIno"] {
            let (from, other) = (format!("\"{key}\":\""), format!("\"{key}\":\"9"));
            let text = cleanup().replacen(&from, &other, 1);
            assert_ne!(text, cleanup(), "{key}");
            assert!(!proven(&text, &facts()), "{key}");
        }
    }
    #[test]
    fn the_record_must_be_of_exactly_the_root() {
        let entry = r#"{"kind":"directory""#;
        for (from, to) in [
            ("\"parentIno\":\"7\"", "\"parentIno\":7.5"),
            ("\"parentIno\":\"7\"", "\"parentIno\":null"),
            ("\"ctimeNs\":\"6\"", "\"ctimeNs\":\"6\",\"sha256\":\"x\""),
            ("\"rootIno\":\"200001\"", "\"rootIno\":\"200002\""),
            (entry, "{\"kind\":\"file\""),
            ("}]}", "},{}]}"),
        ] {
            let text = cleanup().replacen(from, to, 1);
            assert_ne!(text, cleanup());
            assert!(!proven(&text, &facts()), "{to}");
        }
    }
    #[test]
    fn numbers_in_any_spelling_link_counts_and_unknown_members_do_not_matter() {
        for (from, to) in [
            ("\"parentIno\":\"7\"", "\"parentIno\":7"),
            ("\"parentIno\":\"7\"", "\"parentIno\":\" 0x7 \""),
            ("\"nlink\":\"2\",", ""),
            ("\"nlink\":\"2\"", "\"nlink\":\"9\",\"note\":1"),
        ] {
            let text = cleanup().replacen(from, to, 1);
            assert_ne!(text, cleanup());
            assert!(proven(&text, &facts()), "{to}");
        }
    }
}
