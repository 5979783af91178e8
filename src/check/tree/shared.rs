//! Files that hold the same entries: forks and copies (spec 04 §9.1).

use super::codes;
use crate::check::words::count;
use crate::finding::{Finding, Place, Sink};
use std::sync::Arc;

/// The entry ids of one file, compact: eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryIds(Box<[u64]>);

impl EntryIds {
    /// Takes the ids of a file.
    pub fn new<'i>(ids: impl Iterator<Item = &'i [u8]>) -> Self {
        let mut hashes: Vec<u64> = ids.map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        EntryIds(hashes.into())
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
        let (mut one, mut two) = (&*self.0, &*other.0);
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
pub struct History {
    /// Its path in findings.
    pub path: Arc<str>,
    /// Its session id.
    pub id: Option<Arc<str>>,
    /// `parentSession`: a session id, or a path.
    pub parent: Option<Arc<str>>,
    /// Its entry ids.
    pub entries: EntryIds,
}

/// Files by a text that each of them has: a list of their numbers in order of it, of equal ones the first file first.
struct Index<'f, F> {
    sorted: Vec<u32>,
    files: &'f [History],
    text: F,
}

impl<'f, F: Fn(&'f History) -> Option<&'f str>> Index<'f, F> {
    fn new(files: &'f [History], text: F) -> Self {
        let mut sorted: Vec<u32> = (0..files.len() as u32).filter(|file| text(&files[*file as usize]).is_some()).collect();
        sorted.sort_unstable_by_key(|file| (text(&files[*file as usize]), *file));
        Index { sorted, files, text }
    }
    /// The first file with this text.
    fn find(&self, wanted: &str) -> Option<usize> {
        let text = |file: &u32| (self.text)(&self.files[*file as usize]);
        let at = self.sorted.partition_point(|file| text(file) < Some(wanted));
        self.sorted.get(at).filter(|file| text(file) == Some(wanted)).map(|file| *file as usize)
    }
}

/// Reports pairs of files, linked by `parentSession` or by one session id, that hold entries with the same ids. Each file is
/// compared with one other.
pub fn check(files: &[History], sink: &mut dyn Sink) {
    let by_id = Index::new(files, |file| file.id.as_deref());
    let by_name = Index::new(files, |file| Some(name(&file.path)));
    for (number, file) in files.iter().enumerate() {
        let parent = file.parent.as_deref().and_then(|parent| by_id.find(parent).or_else(|| by_name.find(name(parent))));
        // A copy under the same name is what migration leaves, and is told as that.
        let twin = file.id.as_deref().and_then(|id| by_id.find(id)).filter(|twin| name(&files[*twin].path) != name(&file.path));
        let Some(other) = [parent, twin].into_iter().flatten().find(|other| *other != number) else { continue };
        let shared = file.entries.shared_with(&files[other].entries);
        if shared > 0 {
            let place = |file: &History| Place { path: Arc::clone(&file.path), ..Place::default() };
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
        let file = |at: usize, id: &str, parent: Option<&str>, entries: &EntryIds| History {
            path: Arc::clone(&paths[at]),
            id: Some(id.into()),
            parent: parent.map(Arc::from),
            entries: entries.clone(),
        };
        let found = |files: &[History]| {
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
        let file = |at: usize, id: &str, parent: Option<&str>, entries: &EntryIds| History {
            path: Arc::clone(&paths[at]),
            id: Some(id.into()),
            parent: parent.map(Arc::from),
            entries: entries.clone(),
        };
        check(&[file(0, "a", None, &a), file(1, "b", Some("a"), &b)], &mut sink);
        check(&[file(0, "a", None, &a), file(1, "b", None, &a)], &mut sink);
        let copies: Vec<Arc<str>> = vec!["old/x.jsonl".into(), "new/x.jsonl".into()];
        let copy = |at: usize| History { path: Arc::clone(&copies[at]), id: Some("a".into()), parent: None, entries: a.clone() };
        check(&[copy(0), copy(1)], &mut sink);
        assert_eq!(sink.findings, []);
    }
}
