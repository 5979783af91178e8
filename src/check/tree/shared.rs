//! Files that hold the same entries: forks and copies (spec 04 §9.1).

use super::codes;
use crate::check::words::count;
use crate::finding::{Finding, Place, Sink};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The entry ids of one file, compact: eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryIds(Vec<u64>);

impl EntryIds {
    /// Takes the ids of a file.
    pub fn new<'i>(ids: impl Iterator<Item = &'i [u8]>) -> Self {
        let mut hashes: Vec<u64> = ids.map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        EntryIds(hashes)
    }
    /// Number of different ids.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// True without ids.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Number of ids that both files have.
    pub fn shared_with(&self, other: &EntryIds) -> u64 {
        let (mut one, mut two) = (self.0.as_slice(), other.0.as_slice());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (one.first(), two.first()) {
            shared += u64::from(a == b);
            if a <= b {
                one = &one[1..];
            }
            if b <= a {
                two = &two[1..];
            }
        }
        shared
    }
}

/// FNV-1a with a final mix; the same on every machine.
fn hash(id: &[u8]) -> u64 {
    let hash = id.iter().fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
    (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A checked transcript, as far as it is compared with others.
#[derive(Clone, Debug)]
pub struct Checked<'c> {
    /// Its path in findings.
    pub path: &'c Arc<str>,
    /// Its session id.
    pub id: Option<&'c str>,
    /// `parentSession`: a session id, or a path.
    pub parent: Option<&'c str>,
    /// Its entry ids.
    pub entries: &'c EntryIds,
}

/// Reports pairs of files, linked by `parentSession` or by one session id, that hold entries with the same ids. Each file is
/// compared with one other.
pub fn check(files: &[Checked<'_>], sink: &mut dyn Sink) {
    let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        if let Some(id) = file.id {
            by_id.entry(id).or_insert(number);
        }
        by_name.entry(name(file.path)).or_insert(number);
    }
    for (number, file) in files.iter().enumerate() {
        let parent = file.parent.and_then(|parent| by_id.get(parent).or_else(|| by_name.get(name(parent))));
        // A copy under the same name is what migration leaves, and is told as that.
        let twin = file.id.and_then(|id| by_id.get(id)).filter(|twin| name(files[**twin].path) != name(file.path));
        let Some(other) = [parent, twin].into_iter().flatten().copied().find(|other| *other != number) else { continue };
        let shared = file.entries.shared_with(files[other].entries);
        if shared > 0 {
            let place = |file: &Checked<'_>| Place { path: Arc::clone(file.path), ..Place::default() };
            let message = format!("{} also in {}.", count(shared, "entry of the file is", "entries of the file are"), files[other].path);
            sink.push(Finding::new(&codes::SHARED_HISTORY, place(file), message).related("the other file", place(&files[other])));
        }
    }
}

/// The last segment of a path.
fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Collected;

    fn ids(names: &[&str]) -> EntryIds {
        EntryIds::new(names.iter().map(|name| name.as_bytes()))
    }

    #[test]
    fn linked_files_with_common_ids_share_history() {
        let (a, b, c) = (ids(&["1", "2", "3"]), ids(&["2", "3", "4"]), ids(&["2"]));
        let paths: Vec<Arc<str>> = ["d/a.jsonl", "d/b.jsonl", "d/c.jsonl"].iter().map(|path| (*path).into()).collect();
        let file = |at: usize, id, parent, entries| Checked { path: &paths[at], id: Some(id), parent, entries };
        let found = |files: &[Checked<'_>]| {
            let mut sink = Collected::default();
            check(files, &mut sink);
            sink.findings.iter().map(|f| format!("{}: {}", f.place.path, f.message)).collect::<Vec<_>>()
        };
        let by_id = [file(0, "a", None, &a), file(1, "b", Some("a"), &b), file(2, "c", None, &c)];
        assert_eq!(found(&by_id), ["d/b.jsonl: 2 entries of the file are also in d/a.jsonl."]);
        let by_path = [file(0, "a", None, &a), file(2, "c", Some("/home/x/d/a.jsonl"), &c)];
        assert_eq!(found(&by_path), ["d/c.jsonl: 1 entry of the file is also in d/a.jsonl."]);
        let by_twin = [file(0, "a", None, &a), file(1, "a", None, &b)];
        assert_eq!(found(&by_twin), ["d/b.jsonl: 2 entries of the file are also in d/a.jsonl."]);
    }

    #[test]
    fn files_without_link_or_without_common_ids_do_not() {
        let (a, b) = (ids(&["1", "2"]), ids(&["3"]));
        let paths: Vec<Arc<str>> = vec!["a".into(), "b".into()];
        let mut sink = Collected::default();
        let file = |at: usize, id, parent, entries| Checked { path: &paths[at], id: Some(id), parent, entries };
        check(&[file(0, "a", None, &a), file(1, "b", Some("a"), &b)], &mut sink);
        check(&[file(0, "a", None, &a), file(1, "b", None, &a)], &mut sink);
        let copies: Vec<Arc<str>> = vec!["old/x.jsonl".into(), "new/x.jsonl".into()];
        let copy = |at: usize| Checked { path: &copies[at], id: Some("a"), parent: None, entries: &a };
        check(&[copy(0), copy(1)], &mut sink);
        assert_eq!(sink.findings, []);
    }
}
