//! A file system in memory, for tests: files, directories, links, special files, owners, modes, ACLs, sparse sizes.
//!
//! The builders take `&self`, so that a hook of [`super::Inject`] can change the tree while it is being read. Builders
//! make missing parent directories (0700). Every change moves an internal clock by one nanosecond. The writing side is in
//! `change`; what of it a crash may leave, in `crash`.

mod change;
mod crash;

pub use crash::Crash;

use super::errno::NO_ATTRIBUTE;
use super::plant::Plant;
use super::{Acl, Directory, Entries, Entry, Errno, Error, File, Fs, Kind, Meta, NativeAcl, Result};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tree. Cloning shares it.
#[derive(Clone, Default)]
pub struct Memory {
    tree: Arc<Mutex<Tree>>,
}

#[derive(Clone)]
enum Content {
    Bytes(Arc<Vec<u8>>),
    /// So many zero bytes, stored nowhere.
    Zeros(u64),
    Names(BTreeMap<OsString, u64>),
    Link(PathBuf),
    Special(Kind),
}

struct Node {
    content: Content,
    meta: Meta,
    acl: [std::result::Result<usize, Errno>; 2],
    native: std::result::Result<Option<NativeAcl>, Errno>,
}

struct Tree {
    nodes: BTreeMap<u64, Node>,
    /// What of each object is on the disk; an object that is not here has nothing there but its mode.
    durable: BTreeMap<u64, crash::Durable>,
    next_ino: u64,
    clock: i128,
}

const ROOT: u64 = 2;
const LINK_LIMIT: usize = 40;

impl Default for Tree {
    fn default() -> Self {
        let mut tree = Tree { nodes: BTreeMap::new(), durable: BTreeMap::new(), next_ino: ROOT, clock: 1_700_000_000_000_000_000 };
        tree.insert(Content::Names(BTreeMap::new()), 0o755);
        tree
    }
}

impl Tree {
    fn insert(&mut self, content: Content, mode: u32) -> u64 {
        let (kind, size) = match &content {
            Content::Bytes(bytes) => (Kind::File, bytes.len() as u64),
            Content::Zeros(size) => (Kind::File, *size),
            Content::Names(_) => (Kind::Directory, 0),
            Content::Link(target) => (Kind::Symlink, target.as_os_str().len() as u64),
            Content::Special(kind) => (*kind, 0),
        };
        let ino = self.next_ino;
        self.next_ino += 1;
        self.clock += 1;
        let meta = Meta { kind, dev: 1, ino, nlink: 1, mode, uid: 1000, gid: 1000, size, mtime_ns: self.clock, ctime_ns: self.clock };
        self.nodes.insert(ino, Node { content, meta, acl: [Err(NO_ATTRIBUTE); 2], native: Ok(None) });
        ino
    }
    fn node(&self, ino: u64) -> std::result::Result<&Node, Errno> {
        self.nodes.get(&ino).ok_or(Errno::STALE)
    }
    fn child(&self, directory: u64, name: &OsStr) -> std::result::Result<u64, Errno> {
        match &self.node(directory)?.content {
            Content::Names(names) => names.get(name).copied().ok_or(Errno::NOENT),
            _ => Err(Errno::NOTDIR),
        }
    }
    /// The inode of a path; `links` says which symlinks are followed.
    fn find(&self, path: &Path, links: Links) -> std::result::Result<u64, Errno> {
        self.plain(path).unwrap_or_else(|| self.resolve(path, links).map(|(ino, _)| ino))
    }
    /// The same where the path has neither a link nor `..` in it, nor is empty: most paths are so, and each operation has one.
    fn plain(&self, path: &Path) -> Option<std::result::Result<u64, Errno>> {
        if path.as_os_str().is_empty() {
            return None;
        }
        let mut here = ROOT;
        let mut names = path.components().filter(|part| !matches!(part, Component::RootDir | Component::CurDir)).peekable();
        while let Some(part) = names.next() {
            let Component::Normal(name) = part else { return None };
            let node = match self.child(here, name).and_then(|ino| self.node(ino)) {
                Ok(node) => node,
                Err(errno) => return Some(Err(errno)),
            };
            match &node.content {
                Content::Link(_) => return None,
                Content::Names(_) => {}
                _ if names.peek().is_some() => return Some(Err(Errno::NOTDIR)),
                _ => {}
            }
            here = node.meta.ino;
        }
        Some(Ok(here))
    }
    /// Walks a path; `links` says which symlinks are followed. Answers the inode and its canonical path.
    fn resolve(&self, path: &Path, links: Links) -> std::result::Result<(u64, PathBuf), Errno> {
        if path.as_os_str().is_empty() {
            return Err(Errno::NOENT);
        }
        let mut rest: Vec<OsString> = steps(path);
        let mut trail: Vec<(u64, OsString)> = Vec::new();
        let mut followed = 0;
        while let Some(name) = rest.pop() {
            let here = trail.last().map_or(ROOT, |(ino, _)| *ino);
            if name == ".." {
                trail.pop();
                continue;
            }
            let ino = self.child(here, &name)?;
            let node = self.node(ino)?;
            match &node.content {
                Content::Link(_) if links == Links::Refuse => return Err(Errno::LOOP),
                Content::Link(target) if !(rest.is_empty() && links == Links::KeepLast) => {
                    followed += 1;
                    if followed > LINK_LIMIT {
                        return Err(Errno::LOOP);
                    }
                    if target.is_absolute() {
                        trail.clear();
                    }
                    rest.extend(steps(target));
                }
                Content::Names(_) | Content::Link(_) => trail.push((ino, name)),
                _ if rest.is_empty() => trail.push((ino, name)),
                _ => return Err(Errno::NOTDIR),
            }
        }
        let mut canonical = PathBuf::from("/");
        canonical.extend(trail.iter().map(|(_, name)| name));
        Ok((trail.last().map_or(ROOT, |(ino, _)| *ino), canonical))
    }
    fn touch(&mut self, ino: u64, content_too: bool) {
        self.clock += 1;
        let clock = self.clock;
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.meta.ctime_ns = clock;
            if content_too {
                node.meta.mtime_ns = clock;
            }
        }
    }
    fn renumber(&mut self, old: u64, new: u64) {
        let Some(mut node) = self.nodes.remove(&old) else { return };
        node.meta.ino = new;
        self.nodes.insert(new, node);
        if let Some(durable) = self.durable.remove(&old) {
            self.durable.insert(new, durable);
        }
        for node in self.nodes.values_mut() {
            if let Content::Names(names) = &mut node.content {
                names.values_mut().filter(|named| **named == old).for_each(|named| *named = new);
            }
        }
    }
    /// The directory of a path, made where it is missing.
    fn parent(&mut self, path: &Path) -> u64 {
        let mut here = ROOT;
        for name in path.parent().map(steps).unwrap_or_default().into_iter().rev() {
            here = match self.child(here, &name) {
                Ok(ino) => ino,
                Err(_) => {
                    let ino = self.insert(Content::Names(BTreeMap::new()), 0o700);
                    self.name(here, &name, ino);
                    ino
                }
            };
        }
        here
    }
    fn name(&mut self, directory: u64, name: &OsStr, ino: u64) {
        if let Some(Content::Names(names)) = self.nodes.get_mut(&directory).map(|n| &mut n.content) {
            names.insert(name.to_owned(), ino);
        }
        self.touch(directory, true);
    }
}

/// Names of a path, last first, so that `pop` walks it.
fn steps(path: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = path
        .components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect();
    names.reverse();
    names
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    KeepLast,
    Refuse,
}

impl Memory {
    /// An empty tree: `/` alone.
    pub fn new() -> Self {
        Self::default()
    }
    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn add(&self, path: impl AsRef<Path>, content: Content, mode: u32) {
        let path = path.as_ref();
        let mut tree = self.tree();
        let parent = tree.parent(path);
        let ino = tree.insert(content, mode);
        tree.name(parent, path.file_name().unwrap_or_default(), ino);
    }
    /// A file with these bytes, mode 0600.
    pub fn file(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        self.add(path, Content::Bytes(Arc::new(bytes.to_vec())), 0o600);
    }
    /// A file of so many zero bytes that takes no memory.
    pub fn sparse(&self, path: impl AsRef<Path>, size: u64) {
        self.add(path, Content::Zeros(size), 0o600);
    }
    /// A directory, mode 0700; one that exists stays.
    pub fn directory(&self, path: impl AsRef<Path>) {
        self.tree().parent(&path.as_ref().join("."));
        if self.lstat(path.as_ref()).is_err() {
            self.add(path, Content::Names(BTreeMap::new()), 0o700);
        }
    }
    /// A symlink.
    pub fn symlink(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) {
        self.add(path, Content::Link(target.as_ref().to_owned()), 0o777);
    }
    /// A FIFO, socket or device.
    pub fn special(&self, path: impl AsRef<Path>, kind: Kind) {
        self.add(path, Content::Special(kind), 0o600);
    }
    /// A second name for a file.
    pub fn hard_link(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        let mut tree = self.tree();
        if let Ok(ino) = tree.find(from.as_ref(), Links::KeepLast) {
            let parent = tree.parent(to.as_ref());
            tree.name(parent, to.as_ref().file_name().unwrap_or_default(), ino);
            if let Some(node) = tree.nodes.get_mut(&ino) {
                node.meta.nlink += 1;
            }
            tree.touch(ino, false);
        }
    }
    /// Takes a name away (with everything below it).
    pub fn remove(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let mut tree = self.tree();
        let Ok(ino) = tree.find(path, Links::KeepLast) else { return };
        let parent = tree.parent(path);
        if let Some(Content::Names(names)) = tree.nodes.get_mut(&parent).map(|n| &mut n.content) {
            names.remove(path.file_name().unwrap_or_default());
        }
        if let Some(node) = tree.nodes.get_mut(&ino) {
            node.meta.nlink = node.meta.nlink.saturating_sub(1);
        }
        tree.touch(ino, false);
        tree.touch(parent, true);
    }
    /// Gives an object another name.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        let mut tree = self.tree();
        let Ok(ino) = tree.find(from.as_ref(), Links::KeepLast) else { return };
        let (old, new) = (tree.parent(from.as_ref()), tree.parent(to.as_ref()));
        if let Some(Content::Names(names)) = tree.nodes.get_mut(&old).map(|n| &mut n.content) {
            names.remove(from.as_ref().file_name().unwrap_or_default());
        }
        tree.name(new, to.as_ref().file_name().unwrap_or_default(), ino);
        tree.touch(old, true);
        tree.touch(ino, false);
    }
    /// Changes the bytes of a file in place.
    pub fn append(&self, path: impl AsRef<Path>, more: &[u8]) {
        self.edit(path, |node| {
            if let Content::Bytes(bytes) = &mut node.content {
                Arc::make_mut(bytes).extend_from_slice(more);
                node.meta.size = bytes.len() as u64;
            }
        });
    }
    /// Cuts a file to so many bytes in place.
    pub fn truncate(&self, path: impl AsRef<Path>, size: usize) {
        self.edit(path, |node| {
            if let Content::Bytes(bytes) = &mut node.content {
                Arc::make_mut(bytes).truncate(size);
                node.meta.size = bytes.len() as u64;
            }
        });
    }
    fn edit(&self, path: impl AsRef<Path>, change: impl FnOnce(&mut Node)) {
        let mut tree = self.tree();
        if let Ok(ino) = tree.find(path.as_ref(), Links::KeepLast) {
            tree.touch(ino, true);
            if let Some(node) = tree.nodes.get_mut(&ino) {
                change(node);
            }
        }
    }
    /// Changes the facts of an object (its `kind` and `ino` stay what they are).
    pub fn set(&self, path: impl AsRef<Path>, change: impl FnOnce(&mut Meta)) {
        let mut tree = self.tree();
        if let Ok(ino) = tree.find(path.as_ref(), Links::KeepLast)
            && let Some(node) = tree.nodes.get_mut(&ino)
        {
            let kind = node.meta.kind;
            change(&mut node.meta);
            node.meta.kind = kind;
            node.meta.ino = ino;
        }
    }
    /// Gives an object this inode; one that has it by chance gets another. So a tree can be what records in it say.
    pub fn renumber(&self, path: impl AsRef<Path>, ino: u64) {
        let mut tree = self.tree();
        if let Ok(old) = tree.find(path.as_ref(), Links::KeepLast)
            && old != ino
            && old != ROOT
            && ino > ROOT
        {
            let free = tree.next_ino.max(ino.saturating_add(1));
            tree.next_ino = free + 1;
            tree.renumber(ino, free);
            tree.renumber(old, ino);
        }
    }
    /// Changes the permission bits.
    pub fn chmod(&self, path: impl AsRef<Path>, mode: u32) {
        self.set(path, |meta| meta.mode = mode);
    }
    /// Decides what an ACL query answers.
    pub fn set_acl(&self, path: impl AsRef<Path>, acl: Acl, answer: std::result::Result<usize, Errno>) {
        let mut tree = self.tree();
        if let Ok(ino) = tree.find(path.as_ref(), Links::KeepLast)
            && let Some(node) = tree.nodes.get_mut(&ino)
        {
            node.acl[acl as usize] = answer;
        }
    }
    /// Decides what a query for the access rules of another system is answered.
    pub fn set_native_acl(&self, path: impl AsRef<Path>, answer: std::result::Result<Option<NativeAcl>, Errno>) {
        let mut tree = self.tree();
        if let Ok(ino) = tree.find(path.as_ref(), Links::KeepLast)
            && let Some(node) = tree.nodes.get_mut(&ino)
        {
            node.native = answer;
        }
    }
    /// Makes everything of `plants` below `root`.
    pub fn plant(&self, root: impl AsRef<Path>, plants: &[Plant]) {
        for plant in plants {
            match plant {
                Plant::Directory { path, mode } => {
                    let at = root.as_ref().join(path);
                    self.directory(&at);
                    self.chmod(at, *mode);
                }
                Plant::File { path, mode, bytes } => {
                    let at = root.as_ref().join(path);
                    self.file(&at, bytes);
                    self.chmod(at, *mode);
                }
            }
        }
    }
    /// Every path of the tree with its facts, sorted: to prove that nothing changed.
    pub fn snapshot(&self) -> Vec<(PathBuf, Meta)> {
        let tree = self.tree();
        let mut all = Vec::new();
        let mut pending = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, ino)) = pending.pop() {
            let Ok(node) = tree.node(ino) else { continue };
            if let Content::Names(names) = &node.content {
                pending.extend(names.iter().map(|(name, ino)| (path.join(name), *ino)));
            }
            all.push((path, node.meta));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
    fn meta(&self, op: &'static str, path: &Path, links: Links) -> Result<Meta> {
        let tree = self.tree();
        tree.find(path, links).and_then(|ino| tree.node(ino)).map(|n| n.meta).map_err(|errno| Error { op, path: path.to_owned(), errno })
    }
    fn open_ino(&self, ino: u64, path: PathBuf) -> Result<Box<dyn File + '_>> {
        match self.tree().node(ino).map(|n| n.meta.kind) {
            Ok(Kind::Symlink) => Err(Error { op: "open", path, errno: Errno::LOOP }),
            Ok(Kind::Socket) => Err(Error { op: "open", path, errno: Errno::NXIO }),
            Ok(_) => Ok(Box::new(MemoryFile { fs: self, ino, path, position: 0 })),
            Err(errno) => Err(Error { op: "open", path, errno }),
        }
    }
    fn open_dir_ino(&self, ino: u64, path: PathBuf) -> Result<Box<dyn Directory + '_>> {
        match self.tree().node(ino).map(|n| n.meta.kind) {
            Ok(Kind::Directory) => Ok(Box::new(MemoryDirectory { fs: self, ino, path })),
            Ok(Kind::Symlink) => Err(Error { op: "opendir", path, errno: Errno::LOOP }),
            Ok(_) => Err(Error { op: "opendir", path, errno: Errno::NOTDIR }),
            Err(errno) => Err(Error { op: "opendir", path, errno }),
        }
    }
}

impl Fs for Memory {
    fn lstat(&self, path: &Path) -> Result<Meta> {
        self.meta("lstat", path, Links::KeepLast)
    }
    fn stat(&self, path: &Path) -> Result<Meta> {
        self.meta("stat", path, Links::Follow)
    }
    fn realpath(&self, path: &Path) -> Result<PathBuf> {
        self.tree().resolve(path, Links::Follow).map(|(_, canonical)| canonical).map_err(|errno| Error {
            op: "realpath",
            path: path.to_owned(),
            errno,
        })
    }
    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        let tree = self.tree();
        let target = tree.find(path, Links::KeepLast).and_then(|ino| match &tree.node(ino)?.content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(Errno::INVAL),
        });
        target.map_err(|errno| Error { op: "readlink", path: path.to_owned(), errno })
    }
    fn open(&self, path: &Path) -> Result<Box<dyn File + '_>> {
        let found = self.tree().find(path, Links::Refuse);
        let ino = found.map_err(|errno| Error { op: "open", path: path.to_owned(), errno })?;
        self.open_ino(ino, path.to_owned())
    }
    fn open_dir(&self, path: &Path) -> Result<Box<dyn Directory + '_>> {
        let found = self.tree().find(path, Links::Refuse);
        let ino = found.map_err(|errno| Error { op: "opendir", path: path.to_owned(), errno })?;
        self.open_dir_ino(ino, path.to_owned())
    }
    fn acl(&self, path: &Path, acl: Acl) -> Result<usize> {
        let tree = self.tree();
        let answer = tree.find(path, Links::KeepLast).and_then(|ino| tree.node(ino)).and_then(|n| n.acl[acl as usize]);
        answer.map_err(|errno| Error { op: "getxattr", path: path.to_owned(), errno })
    }
    fn native_acl(&self, path: &Path) -> Result<Option<NativeAcl>> {
        let tree = self.tree();
        let node = tree.find(path, Links::KeepLast).and_then(|ino| tree.node(ino));
        node.and_then(|node| node.native.clone()).map_err(|errno| Error { op: "getacl", path: path.to_owned(), errno })
    }
}

struct MemoryFile<'a> {
    fs: &'a Memory,
    ino: u64,
    path: PathBuf,
    position: u64,
}

impl std::io::Read for MemoryFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.read_at(buffer, self.position)?;
        self.position += n as u64;
        Ok(n)
    }
}

impl File for MemoryFile<'_> {
    fn stat(&self) -> Result<Meta> {
        self.fs.tree().node(self.ino).map(|n| n.meta).map_err(|errno| Error { op: "fstat", path: self.path.clone(), errno })
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let tree = self.fs.tree();
        match tree.node(self.ino).map(|n| &n.content) {
            Ok(Content::Bytes(bytes)) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let rest = bytes.get(from..).unwrap_or_default();
                let n = rest.len().min(buffer.len());
                buffer[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            }
            Ok(Content::Zeros(size)) => {
                let n = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
                buffer[..n].fill(0);
                Ok(n)
            }
            Ok(Content::Names(_)) => Err(std::io::Error::from_raw_os_error(Errno::ISDIR.raw_os_error())),
            Ok(_) => Ok(0),
            Err(errno) => Err(std::io::Error::from_raw_os_error(errno.raw_os_error())),
        }
    }
    fn acl(&self, acl: Acl) -> std::result::Result<usize, Errno> {
        self.fs.tree().node(self.ino).and_then(|node| node.acl[acl as usize])
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct MemoryDirectory<'a> {
    fs: &'a Memory,
    ino: u64,
    path: PathBuf,
}

impl MemoryDirectory<'_> {
    fn child<T>(&self, op: &'static str, name: &OsStr, take: impl FnOnce(&Node) -> std::result::Result<T, Errno>) -> Result<T> {
        let tree = self.fs.tree();
        let answer = tree.child(self.ino, name).and_then(|ino| tree.node(ino)).and_then(take);
        answer.map_err(|errno| Error { op, path: self.path.join(name), errno })
    }
}

impl Directory for MemoryDirectory<'_> {
    fn stat(&self) -> Result<Meta> {
        self.fs.tree().node(self.ino).map(|n| n.meta).map_err(|errno| Error { op: "fstat", path: self.path.clone(), errno })
    }
    fn lstat(&self, name: &OsStr) -> Result<Meta> {
        self.child("lstat", name, |node| Ok(node.meta))
    }
    fn open<'a>(&'a self, name: &'a OsStr) -> Result<Box<dyn File + 'a>> {
        let ino = self.child("open", name, |node| Ok(node.meta.ino))?;
        self.fs.open_ino(ino, self.path.join(name))
    }
    fn open_dir(&self, name: &OsStr) -> Result<Box<dyn Directory + '_>> {
        let ino = self.child("opendir", name, |node| Ok(node.meta.ino))?;
        self.fs.open_dir_ino(ino, self.path.join(name))
    }
    fn read_link(&self, name: &OsStr) -> Result<PathBuf> {
        self.child("readlink", name, |node| match &node.content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(Errno::INVAL),
        })
    }
    fn entries(&self) -> Result<Entries<'_>> {
        let tree = self.fs.tree();
        let names: Vec<Result<Entry>> = match tree.node(self.ino).map(|n| &n.content) {
            Ok(Content::Names(names)) => {
                names.iter().map(|(name, ino)| Ok(Entry { name: name.clone(), kind: tree.node(*ino).ok().map(|n| n.meta.kind) })).collect()
            }
            Ok(_) => return Err(Error { op: "readdir", path: self.path.clone(), errno: Errno::NOTDIR }),
            Err(errno) => return Err(Error { op: "readdir", path: self.path.clone(), errno }),
        };
        Ok(Box::new(names.into_iter()))
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_where_they_may_be_and_refused_elsewhere() {
        let fs = Memory::new();
        fs.file("/real/f", b"x");
        fs.symlink("/l", "real");
        assert_eq!(fs.realpath(Path::new("/l/../l/f")).unwrap(), Path::new("/real/f"));
        assert!(fs.stat(Path::new("/l")).unwrap().kind == Kind::Directory);
        assert!(fs.lstat(Path::new("/l")).unwrap().kind == Kind::Symlink);
        assert_eq!(fs.open(Path::new("/l/f")).map(|_| ()).unwrap_err().errno, Errno::LOOP);
        assert!(fs.open(Path::new("/real/f")).is_ok());
    }

    #[test]
    fn an_object_gets_the_inode_it_should_have_under_all_its_names() {
        let fs = Memory::new();
        fs.file("/a", b"a");
        fs.file("/b", b"b");
        fs.hard_link("/a", "/d/a");
        let (a, b) = (fs.lstat(Path::new("/a")).unwrap().ino, fs.lstat(Path::new("/b")).unwrap().ino);
        fs.renumber("/a", b);
        for (path, bytes) in [("/a", b"a"), ("/d/a", b"a"), ("/b", b"b")] {
            assert_eq!(fs.content(path).unwrap(), bytes, "{path}");
        }
        assert_eq!(fs.lstat(Path::new("/d/a")).unwrap().ino, b);
        assert!(![a, b].contains(&fs.lstat(Path::new("/b")).unwrap().ino));
    }

    #[test]
    fn a_loop_of_links_ends() {
        let fs = Memory::new();
        fs.symlink("/a", "b");
        fs.symlink("/b", "a");
        assert_eq!(fs.stat(Path::new("/a")).unwrap_err().errno, Errno::LOOP);
    }
}
