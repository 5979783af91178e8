//! What is durable apart from what is visible, and the trees that a crash may leave.
//!
//! A file's content, size and mode are durable as of its last `fsync`, a directory's names (and its mode) as of its own. A
//! name given and a name taken of one object is one rename, which a crash leaves done or undone, also across directories; to
//! sync either of the two makes all of it durable. (Journalling and copy-on-write file systems are so. POSIX promises less.)
//! A new object has its mode from the beginning, no content and no names.

use super::{Content, Errno, Kind, Memory, Meta, Node, ROOT, Tree};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

/// What one object holds on the disk.
#[derive(Clone)]
pub(super) struct Durable {
    content: Content,
    mode: u32,
}

/// One tree that a crash may leave.
pub struct Crash {
    /// Which of the unsynced changes are in it, in words.
    pub what: String,
    /// The tree; all of it is durable.
    pub left: Memory,
}

/// What becomes of unsynced data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Data {
    Kept,
    Dropped,
    /// Of the new bytes the first 512 are there.
    Cut,
    /// The size is new, the new bytes are zeros.
    Zeros,
}

/// The unit in which a crash cuts.
const SECTOR: usize = 512;

/// One unsynced change of names: the places whose inode differs, and whether it is made.
type Step = Vec<(u64, OsString, Option<u64>)>;

impl Tree {
    pub(super) fn sync(&mut self, ino: u64) -> Result<(), Errno> {
        let node = self.node(ino)?;
        let durable = Durable { content: node.content.clone(), mode: node.meta.mode };
        if node.meta.kind == Kind::Directory {
            let touched = self.steps().into_iter().filter(|step| step.iter().any(|(directory, ..)| *directory == ino));
            let elsewhere: Step = touched.flatten().filter(|(directory, ..)| *directory != ino).collect();
            for (directory, name, object) in elsewhere {
                self.make_durable(directory, name, object);
            }
        }
        self.durable.insert(ino, durable);
        Ok(())
    }
    /// One name of a directory as it is now, while the rest of its names stays unsynced.
    fn make_durable(&mut self, directory: u64, name: OsString, object: Option<u64>) {
        let Ok(mode) = self.node(directory).map(|node| node.meta.mode) else { return };
        let durable = self.durable.entry(directory).or_insert_with(|| Durable { content: Content::Names(BTreeMap::new()), mode });
        if let Content::Names(names) = &mut durable.content {
            match object {
                Some(object) => _ = names.insert(name, object),
                None => _ = names.remove(&name),
            }
        }
    }
    /// Content of a node as data is kept or not.
    fn content_after(&self, ino: u64, node: &Node, data: Data) -> Content {
        let empty = || match node.meta.kind {
            Kind::File => Content::Bytes(Arc::default()),
            _ => node.content.clone(),
        };
        let old = self.durable.get(&ino).map_or_else(empty, |durable| durable.content.clone());
        match (data, &old, &node.content) {
            (Data::Dropped, ..) => old,
            (Data::Cut, Content::Bytes(was), Content::Bytes(is)) if is.len() > was.len() => {
                Content::Bytes(Arc::new(is.get(..is.len().min(was.len() + SECTOR)).unwrap_or_default().to_vec()))
            }
            (Data::Zeros, Content::Bytes(was), Content::Bytes(is)) if is.len() > was.len() => {
                let mut bytes = was.to_vec();
                bytes.resize(is.len(), 0);
                Content::Bytes(Arc::new(bytes))
            }
            _ => node.content.clone(),
        }
    }
    /// The unsynced changes of names. An object that lost one name and got another was renamed.
    fn steps(&self) -> Vec<Step> {
        let none = BTreeMap::new();
        let mut lost: BTreeMap<u64, Vec<(u64, OsString)>> = BTreeMap::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut given: Vec<(u64, OsString, u64)> = Vec::new();
        for (directory, node) in &self.nodes {
            let Content::Names(now) = &node.content else { continue };
            let was = match self.durable.get(directory).map(|durable| &durable.content) {
                Some(Content::Names(names)) => names,
                _ => &none,
            };
            for name in was.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
                match (was.get(name), now.get(name)) {
                    (old, new) if old == new => {}
                    (_, Some(new)) => given.push((*directory, name.clone(), *new)),
                    (Some(old), None) => lost.entry(*old).or_default().push((*directory, name.clone())),
                    (None, None) => {}
                }
            }
        }
        for (directory, name, ino) in given {
            let mut step = vec![(directory, name, Some(ino))];
            if let Some((from, old_name)) = lost.get_mut(&ino).and_then(Vec::pop) {
                step.push((from, old_name, None));
            }
            steps.push(step);
        }
        steps.extend(lost.into_values().flatten().map(|(directory, name)| vec![(directory, name, None)]));
        steps
    }
    /// The tree in which only the chosen steps and that much data are on the disk.
    fn after(&self, data: Data, chosen: &[&Step]) -> Tree {
        let mut names: BTreeMap<u64, BTreeMap<OsString, u64>> = BTreeMap::new();
        for (ino, node) in &self.nodes {
            if node.meta.kind == Kind::Directory {
                let durable = match self.durable.get(ino).map(|durable| &durable.content) {
                    Some(Content::Names(names)) => names.clone(),
                    _ => BTreeMap::new(),
                };
                names.insert(*ino, durable);
            }
        }
        for (directory, name, ino) in chosen.iter().flat_map(|step| step.iter()) {
            let Some(names) = names.get_mut(directory) else { continue };
            match ino {
                Some(ino) => _ = names.insert(name.clone(), *ino),
                None => _ = names.remove(name),
            }
        }
        let mut links: BTreeMap<u64, u64> = BTreeMap::new();
        let mut pending = vec![ROOT];
        while let Some(directory) = pending.pop() {
            for ino in names.get(&directory).into_iter().flat_map(BTreeMap::values) {
                *links.entry(*ino).or_default() += 1;
                if names.contains_key(ino) {
                    pending.push(*ino);
                }
            }
        }
        let mut left =
            Tree { nodes: BTreeMap::new(), durable: BTreeMap::new(), next_ino: self.next_ino, clock: self.clock + 1_000_000_000 };
        for (ino, node) in &self.nodes {
            let content = match names.remove(ino) {
                Some(names) => Content::Names(names),
                None => self.content_after(*ino, node, data),
            };
            let mut meta = node.meta;
            if let Content::Bytes(bytes) = &content {
                meta.size = bytes.len() as u64;
            }
            if meta.kind == Kind::File {
                meta.nlink = links.get(ino).copied().unwrap_or_default();
            }
            if data == Data::Dropped
                && let Some(durable) = self.durable.get(ino)
            {
                meta.mode = durable.mode;
            }
            left.nodes.insert(*ino, Node { content, meta, acl: node.acl, native: node.native.clone() });
        }
        left.settle();
        left
    }
    fn settle(&mut self) {
        let all = self.nodes.iter().map(|(ino, node)| (*ino, Durable { content: node.content.clone(), mode: node.meta.mode }));
        self.durable = all.collect();
    }
    /// Paths, objects, modes and bytes, without times.
    fn fingerprint(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        let mut pending = vec![ROOT];
        while let Some(ino) = pending.pop() {
            let Some(node) = self.nodes.get(&ino) else { continue };
            (ino, node.meta.mode).hash(&mut hash);
            match &node.content {
                Content::Bytes(bytes) => bytes.hash(&mut hash),
                Content::Zeros(size) => size.hash(&mut hash),
                Content::Names(names) => {
                    names.hash(&mut hash);
                    pending.extend(names.values());
                }
                Content::Link(target) => target.hash(&mut hash),
                Content::Special(kind) => kind.hash(&mut hash),
            }
        }
        hash.finish()
    }
}

impl Memory {
    /// Makes everything durable that is visible now.
    pub fn settle(&self) {
        self.tree().settle();
    }
    /// The trees that a crash at this moment may leave, each different from the others; the first is the visible one.
    /// Unsynced data is kept, dropped, cut at 512 bytes or zeros; unsynced changes of names are all made, none, each one
    /// alone, or all but one. (Data dropped with names kept is "rename before data".)
    pub fn crashes(&self) -> Vec<Crash> {
        let tree = self.tree();
        let steps = tree.steps();
        let mut choices: Vec<(String, Vec<&Step>)> =
            vec![("names kept".to_owned(), steps.iter().collect()), ("names dropped".to_owned(), Vec::new())];
        for (at, step) in steps.iter().enumerate() {
            let name = step.first().map(|(_, name, _)| name.to_string_lossy().into_owned()).unwrap_or_default();
            choices.push((format!("only the name {name} kept"), vec![step]));
            let others = steps.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, step)| step).collect();
            choices.push((format!("only the name {name} dropped"), others));
        }
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for (words, chosen) in &choices {
            for data in [Data::Kept, Data::Dropped, Data::Cut, Data::Zeros] {
                let left = tree.after(data, chosen);
                if seen.insert(left.fingerprint()) {
                    all.push(Crash {
                        what: format!("data {data:?}, {words}").to_lowercase(),
                        left: Memory { tree: Arc::new(Mutex::new(left)) },
                    });
                }
            }
        }
        all
    }
    /// A number for paths, objects, modes and bytes, without times: the same for the same tree in one run of the program.
    pub fn fingerprint(&self) -> u64 {
        self.tree().fingerprint()
    }
    /// A number for everything that can be asked of the tree, times and access control lists too: the same for the same tree
    /// in one run of the program. What is durable of it is left out.
    pub fn state(&self) -> u64 {
        let tree = self.tree();
        let mut hash = DefaultHasher::new();
        tree.fingerprint().hash(&mut hash);
        for (ino, node) in &tree.nodes {
            let Meta { kind, dev, ino: _, nlink, mode, uid, gid, size, mtime_ns, ctime_ns } = node.meta;
            // An object without a name is nobody's.
            if kind == Kind::Directory || nlink > 0 {
                (ino, kind, dev, nlink, mode, (uid, gid, size), (mtime_ns, ctime_ns)).hash(&mut hash);
                node.acl.map(|acl| acl.map_err(Errno::raw_os_error)).hash(&mut hash);
                node.native.as_ref().map_err(|errno| errno.raw_os_error()).hash(&mut hash);
            }
        }
        hash.finish()
    }
    /// A tree of its own with the same objects and the same durable state.
    pub fn fork(&self) -> Memory {
        let tree = self.tree();
        let copy = |node: &Node| Node { content: node.content.clone(), meta: node.meta, acl: node.acl, native: node.native.clone() };
        let nodes = tree.nodes.iter().map(|(ino, node)| (*ino, copy(node)));
        let forked = Tree { nodes: nodes.collect(), durable: tree.durable.clone(), next_ino: tree.next_ino, clock: tree.clock };
        Memory { tree: Arc::new(Mutex::new(forked)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Change, Fs, WriteFile};
    use std::path::Path;

    /// The trees, as path → content, that crashing now may leave.
    fn left(fs: &Memory, path: &str) -> BTreeSet<Option<Vec<u8>>> {
        fs.crashes().into_iter().map(|crash| crash.left.content(path)).collect()
    }

    fn create<'a>(fs: &'a Memory, path: &str, bytes: &[u8]) -> Box<dyn WriteFile + 'a> {
        let mut file = fs.create(Path::new(path), 0o600).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn an_unsynced_file_may_be_absent_empty_cut_zeros_or_whole() {
        let fs = Memory::new();
        fs.directory("/d");
        fs.settle();
        let bytes = vec![b'x'; 700];
        create(&fs, "/d/f", &bytes);
        let expected = BTreeSet::from([None, Some(Vec::new()), Some(vec![b'x'; 512]), Some(vec![0; 700]), Some(bytes)]);
        assert_eq!(left(&fs, "/d/f"), expected);
    }

    #[test]
    fn a_synced_file_under_a_synced_name_is_whole() {
        let fs = Memory::new();
        fs.directory("/d");
        fs.settle();
        create(&fs, "/d/f", b"abc").sync().unwrap();
        assert_eq!(left(&fs, "/d/f"), BTreeSet::from([None, Some(b"abc".to_vec())]));
        fs.sync_dir(Path::new("/d")).unwrap();
        assert_eq!(fs.crashes().len(), 1);
        assert_eq!(left(&fs, "/d/f"), BTreeSet::from([Some(b"abc".to_vec())]));
    }

    #[test]
    fn a_rename_is_done_or_undone_and_may_come_before_the_data() {
        let fs = Memory::new();
        fs.file("/d/old", b"old");
        fs.settle();
        create(&fs, "/d/new", b"new");
        fs.sync_dir(Path::new("/d")).unwrap();
        Change::rename(&fs, Path::new("/d/new"), Path::new("/d/old")).unwrap();
        let seen: BTreeSet<_> = fs.crashes().iter().map(|crash| (crash.left.content("/d/new"), crash.left.content("/d/old"))).collect();
        let bytes = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(
            seen,
            BTreeSet::from([
                (bytes("new"), bytes("old")),
                (bytes(""), bytes("old")),
                (bytes("\0\0\0"), bytes("old")),
                (None, bytes("new")),
                (None, bytes("")),
                (None, bytes("\0\0\0")),
            ])
        );
    }

    #[test]
    fn a_rename_across_directories_is_whole_when_either_is_synced() {
        for synced in ["/d", "/e"] {
            let fs = Memory::new();
            fs.file("/d/f", b"x");
            fs.file("/e/other", b"y");
            fs.settle();
            Change::rename(&fs, Path::new("/d/f"), Path::new("/e/f")).unwrap();
            assert_eq!(left(&fs, "/d/f"), BTreeSet::from([None, Some(b"x".to_vec())]));
            fs.sync_dir(Path::new(synced)).unwrap();
            assert_eq!(left(&fs, "/d/f"), BTreeSet::from([None]), "{synced}");
            assert_eq!(left(&fs, "/e/f"), BTreeSet::from([Some(b"x".to_vec())]), "{synced}");
        }
    }

    #[test]
    fn names_below_an_unsynced_directory_are_lost_with_it() {
        let fs = Memory::new();
        fs.directory("/d");
        fs.settle();
        fs.make_dir(Path::new("/d/e"), 0o700).unwrap();
        create(&fs, "/d/e/f", b"x").sync().unwrap();
        fs.sync_dir(Path::new("/d/e")).unwrap();
        assert_eq!(left(&fs, "/d/e/f"), BTreeSet::from([None, Some(b"x".to_vec())]));
    }

    #[test]
    fn a_mode_that_is_not_synced_may_be_the_old_one() {
        let fs = Memory::new();
        fs.file("/f", b"x");
        fs.settle();
        fs.set_mode(Path::new("/f"), 0o644).unwrap();
        let modes: BTreeSet<u32> = fs.crashes().iter().map(|crash| crash.left.lstat(Path::new("/f")).unwrap().mode).collect();
        assert_eq!(modes, BTreeSet::from([0o600, 0o644]));
    }
}
