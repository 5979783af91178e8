//! The writing side of the tree in memory.

use super::{Content, Links, Memory, NO_ATTRIBUTE, Tree};
use crate::fsys::{Acl, Change, Errno, Error, Kind, Meta, Result, WriteFile};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

type Answer<T> = std::result::Result<T, Errno>;

impl Tree {
    /// The directory of a path (which must be there, and no link) and the name in it.
    fn place(&self, path: &Path) -> Answer<(u64, OsString)> {
        let Some(Component::Normal(name)) = path.components().next_back() else { return Err(Errno::INVAL) };
        let parent = self.find(path.parent().unwrap_or(Path::new("/")), Links::Refuse)?;
        match self.node(parent)?.meta.kind {
            Kind::Directory => Ok((parent, name.to_owned())),
            _ => Err(Errno::NOTDIR),
        }
    }
    fn free(&self, directory: u64, name: &OsStr) -> Answer<()> {
        match self.child(directory, name) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => Ok(()),
            Err(other) => Err(other),
        }
    }
    fn unname(&mut self, directory: u64, name: &OsStr) {
        if let Some(Content::Names(names)) = self.nodes.get_mut(&directory).map(|n| &mut n.content) {
            names.remove(name);
        }
        self.touch(directory, true);
    }
    fn relink(&mut self, ino: u64, change: impl FnOnce(u64) -> u64) {
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.meta.nlink = change(node.meta.nlink);
        }
        self.touch(ino, false);
    }
    fn make(&mut self, path: &Path, content: Content, mode: u32) -> Answer<u64> {
        let (parent, name) = self.place(path)?;
        self.free(parent, &name)?;
        let ino = self.insert(content, mode);
        self.name(parent, &name, ino);
        Ok(ino)
    }
    fn take(&mut self, path: &Path, directory: bool) -> Answer<()> {
        let (parent, name) = self.place(path)?;
        let ino = self.child(parent, &name)?;
        match (&self.node(ino)?.content, directory) {
            (Content::Names(_), false) => return Err(Errno::ISDIR),
            (Content::Names(names), true) if !names.is_empty() => return Err(Errno::NOTEMPTY),
            (Content::Names(_), true) => {}
            (_, true) => return Err(Errno::NOTDIR),
            (_, false) => {}
        }
        self.unname(parent, &name);
        self.relink(ino, |n| n.saturating_sub(1));
        Ok(())
    }
    fn move_name(&mut self, from: &Path, to: &Path, replace: bool) -> Answer<()> {
        let ((old, old_name), (new, new_name)) = (self.place(from)?, self.place(to)?);
        let ino = self.child(old, &old_name)?;
        match self.child(new, &new_name) {
            Err(Errno::NOENT) => {}
            Err(other) => return Err(other),
            Ok(_) if !replace => return Err(Errno::EXIST),
            Ok(there) if there == ino => return Ok(()),
            Ok(there) => {
                let moving_directory = self.node(ino)?.meta.kind == Kind::Directory;
                match (&self.node(there)?.content, moving_directory) {
                    (Content::Names(names), true) if !names.is_empty() => return Err(Errno::NOTEMPTY),
                    (Content::Names(_), false) => return Err(Errno::ISDIR),
                    (Content::Names(_), true) => {}
                    (_, true) => return Err(Errno::NOTDIR),
                    (_, false) => {}
                }
                self.relink(there, |n| n.saturating_sub(1));
            }
        }
        self.unname(old, &old_name);
        self.name(new, &new_name, ino);
        self.touch(ino, false);
        Ok(())
    }
    fn open_file(&self, path: &Path) -> Answer<u64> {
        let ino = self.find(path, Links::Refuse)?;
        match self.node(ino)?.meta.kind {
            Kind::File => Ok(ino),
            Kind::Directory => Err(Errno::ISDIR),
            _ => Err(Errno::NXIO),
        }
    }
    fn edit_bytes<T>(&mut self, ino: u64, edit: impl FnOnce(&mut Vec<u8>) -> T) -> Answer<T> {
        let node = self.nodes.get_mut(&ino).ok_or(Errno::STALE)?;
        let Content::Bytes(bytes) = &mut node.content else { return Err(Errno::FBIG) };
        let bytes = Arc::make_mut(bytes);
        let answer = edit(bytes);
        node.meta.size = bytes.len() as u64;
        self.touch(ino, true);
        Ok(answer)
    }
}

impl Memory {
    /// The bytes of a file, if there is one (links are followed).
    pub fn content(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let tree = self.tree();
        let ino = tree.find(path.as_ref(), Links::Follow).ok()?;
        match &tree.node(ino).ok()?.content {
            Content::Bytes(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }
    fn change<T>(&self, op: &'static str, path: &Path, run: impl FnOnce(&mut Tree) -> Answer<T>) -> Result<T> {
        run(&mut self.tree()).map_err(|errno| Error { op, path: path.to_owned(), errno })
    }
    fn handle(&self, ino: u64, path: &Path, appending: bool) -> Box<dyn WriteFile + '_> {
        Box::new(MemoryWriteFile { fs: self, ino, path: path.to_owned(), position: 0, appending })
    }
}

impl Change for Memory {
    fn create(&self, path: &Path, mode: u32) -> Result<Box<dyn WriteFile + '_>> {
        let ino = self.change("create", path, |tree| tree.make(path, Content::Bytes(Arc::default()), mode & 0o7777))?;
        Ok(self.handle(ino, path, false))
    }
    fn append(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>> {
        let ino = self.change("append", path, |tree| tree.open_file(path))?;
        Ok(self.handle(ino, path, true))
    }
    fn reopen(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>> {
        let ino = self.change("reopen", path, |tree| tree.open_file(path))?;
        Ok(self.handle(ino, path, false))
    }
    fn make_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.change("mkdir", path, |tree| tree.make(path, Content::Names(BTreeMap::new()), mode & 0o7777)).map(|_| ())
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.change("rename", from, |tree| tree.move_name(from, to, true))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.change("rename", from, |tree| tree.move_name(from, to, false))
    }
    fn hard_link(&self, from: &Path, to: &Path) -> Result<()> {
        self.change("link", from, |tree| {
            let ((old, old_name), (new, new_name)) = (tree.place(from)?, tree.place(to)?);
            let ino = tree.child(old, &old_name)?;
            if tree.node(ino)?.meta.kind == Kind::Directory {
                return Err(Errno::PERM);
            }
            tree.free(new, &new_name)?;
            tree.name(new, &new_name, ino);
            tree.relink(ino, |n| n + 1);
            Ok(())
        })
    }
    fn unlink(&self, path: &Path) -> Result<()> {
        self.change("unlink", path, |tree| tree.take(path, false))
    }
    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.change("rmdir", path, |tree| tree.take(path, true))
    }
    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        self.change("chmod", path, |tree| {
            let ino = tree.find(path, Links::Refuse)?;
            tree.set_mode(ino, mode)
        })
    }
    fn clear_acl(&self, path: &Path, acl: Acl) -> Result<()> {
        self.change("removexattr", path, |tree| {
            let ino = tree.find(path, Links::Refuse)?;
            let node = tree.nodes.get_mut(&ino).ok_or(Errno::STALE)?;
            node.acl[acl as usize].map(|_| ())?;
            node.acl[acl as usize] = Err(NO_ATTRIBUTE);
            tree.touch(ino, false);
            Ok(())
        })
    }
    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.change("fsync", path, |tree| {
            let ino = tree.find(path, Links::Refuse)?;
            match tree.node(ino)?.meta.kind {
                Kind::Directory => tree.sync(ino),
                _ => Err(Errno::NOTDIR),
            }
        })
    }
}

impl Tree {
    fn set_mode(&mut self, ino: u64, mode: u32) -> Answer<()> {
        self.nodes.get_mut(&ino).ok_or(Errno::STALE)?.meta.mode = mode & 0o7777;
        self.touch(ino, false);
        Ok(())
    }
}

struct MemoryWriteFile<'a> {
    fs: &'a Memory,
    ino: u64,
    path: PathBuf,
    position: usize,
    appending: bool,
}

/// Writes over what stands at an offset; a hole is zeros.
fn put(content: &mut Vec<u8>, bytes: &[u8], offset: usize) -> usize {
    let end = offset.saturating_add(bytes.len());
    if content.len() < end {
        content.resize(end, 0);
    }
    if let Some(place) = content.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
    end
}

impl WriteFile for MemoryWriteFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let (ino, position) = (self.ino, if self.appending { None } else { Some(self.position) });
        let end = self
            .fs
            .change("write", &self.path, |tree| tree.edit_bytes(ino, |content| put(content, bytes, position.unwrap_or(content.len()))))?;
        self.position = end;
        Ok(bytes.len())
    }
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> Result<usize> {
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        self.fs.change("write", &self.path, |tree| match self.appending {
            true => Err(Errno::BADF),
            false => tree.edit_bytes(self.ino, |content| put(content, bytes, at)),
        })?;
        Ok(bytes.len())
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let file = super::MemoryFile { fs: self.fs, ino: self.ino, path: self.path.clone(), position: 0 };
        crate::fsys::File::read_at(&file, buffer, offset).map_err(|e| Error {
            op: "read",
            path: self.path.clone(),
            errno: crate::fsys::io_errno(&e),
        })
    }
    fn truncate(&mut self, size: u64) -> Result<()> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.fs.change("truncate", &self.path, |tree| tree.edit_bytes(self.ino, |content| content.resize(size, 0)))?;
        self.position = size;
        Ok(())
    }
    fn sync(&self) -> Result<()> {
        self.fs.change("fsync", &self.path, |tree| tree.sync(self.ino))
    }
    fn stat(&self) -> Result<Meta> {
        self.fs.change("fstat", &self.path, |tree| tree.node(self.ino).map(|n| n.meta))
    }
    fn set_mode(&self, mode: u32) -> Result<()> {
        self.fs.change("chmod", &self.path, |tree| tree.set_mode(self.ino, mode))
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
