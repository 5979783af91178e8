//! The writing side of the misbehaving file system. Without one to write to, every change is `EROFS`.

use super::{Acl, Errno, Error, Inject, Meta, Result};
use crate::fsys::{Change, WriteFile};
use std::path::{Path, PathBuf};

impl<'h> Inject<'h> {
    /// As [`Inject::new`], with a writing side.
    pub fn changing(inner: &'h dyn Change, hook: impl Fn(&super::Call<'_>) -> Option<Errno> + Send + Sync + 'h) -> Self {
        Inject { change: Some(inner), ..Self::new(inner, hook) }
    }
    /// Makes the writes short (half of the bytes, at least one) for which `short` says so.
    #[must_use]
    pub fn with_short_writes(self, short: impl Fn(&super::Call<'_>) -> bool + Send + Sync + 'h) -> Self {
        Inject { short: Some(Box::new(short)), ..self }
    }
    fn change<T>(&self, op: &'static str, path: &Path, run: impl FnOnce(&'h dyn Change) -> Result<T>) -> Result<T> {
        self.around(op, path, || match self.change {
            Some(inner) => run(inner),
            None => Err(Error { op, path: path.to_owned(), errno: Errno::ROFS }),
        })
    }
    fn opened(
        &self,
        op: &'static str,
        path: &Path,
        open: impl FnOnce(&'h dyn Change) -> Result<Box<dyn WriteFile + 'h>>,
    ) -> Result<Box<dyn WriteFile + '_>> {
        let inner = self.change(op, path, open)?;
        Ok(Box::new(InjectWriteFile { inject: self, inner, path: path.to_owned() }))
    }
}

impl Change for Inject<'_> {
    fn create(&self, path: &Path, mode: u32) -> Result<Box<dyn WriteFile + '_>> {
        self.opened("create", path, |inner| inner.create(path, mode))
    }
    fn append(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>> {
        self.opened("append", path, |inner| inner.append(path))
    }
    fn reopen(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>> {
        self.opened("reopen", path, |inner| inner.reopen(path))
    }
    fn make_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.change("mkdir", path, |inner| inner.make_dir(path, mode))
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.change("rename", from, |inner| inner.rename(from, to))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.change("rename", from, |inner| inner.rename_new(from, to))
    }
    fn hard_link(&self, from: &Path, to: &Path) -> Result<()> {
        self.change("link", from, |inner| inner.hard_link(from, to))
    }
    fn unlink(&self, path: &Path) -> Result<()> {
        self.change("unlink", path, |inner| inner.unlink(path))
    }
    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.change("rmdir", path, |inner| inner.remove_dir(path))
    }
    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        self.change("chmod", path, |inner| inner.set_mode(path, mode))
    }
    fn clear_acl(&self, path: &Path, acl: Acl) -> Result<()> {
        self.change("removexattr", path, |inner| inner.clear_acl(path, acl))
    }
    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.change("fsync", path, |inner| inner.sync_dir(path))
    }
}

struct InjectWriteFile<'a, 'h> {
    inject: &'a Inject<'h>,
    inner: Box<dyn WriteFile + 'h>,
    path: PathBuf,
}

impl InjectWriteFile<'_, '_> {
    fn writing(&mut self, bytes: &[u8], write: impl FnOnce(&mut dyn WriteFile, &[u8]) -> Result<usize>) -> Result<usize> {
        let (inject, inner) = (self.inject, &mut self.inner);
        let short = inject.is_short("write", &self.path);
        let bytes = if short { bytes.get(..bytes.len().div_ceil(2)).unwrap_or_default() } else { bytes };
        inject.around("write", &self.path, || write(&mut **inner, bytes))
    }
}

impl WriteFile for InjectWriteFile<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.writing(bytes, |inner, bytes| inner.write(bytes))
    }
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> Result<usize> {
        self.writing(bytes, |inner, bytes| inner.write_at(bytes, offset))
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.inject.around("read", &self.path, || self.inner.read_at(buffer, offset))
    }
    fn truncate(&mut self, size: u64) -> Result<()> {
        let inner = &mut self.inner;
        self.inject.around("truncate", &self.path, || inner.truncate(size))
    }
    fn sync(&self) -> Result<()> {
        self.inject.around("fsync", &self.path, || self.inner.sync())
    }
    fn stat(&self) -> Result<Meta> {
        self.inject.around("fstat", &self.path, || self.inner.stat())
    }
    fn set_mode(&self, mode: u32) -> Result<()> {
        self.inject.around("chmod", &self.path, || self.inner.set_mode(mode))
    }
    fn close(self: Box<Self>) -> Result<()> {
        let InjectWriteFile { inject, inner, path } = *self;
        inject.around("close", &path, || inner.close())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Phase;
    use super::*;
    use crate::fsys::{Fs, Memory};

    #[test]
    fn a_short_write_is_half_and_write_all_goes_on() {
        let memory = Memory::new();
        memory.directory("/d");
        let inject = Inject::changing(&memory, |_| None).with_short_writes(|_| true);
        let mut file = inject.create(Path::new("/d/f"), 0o600).unwrap();
        assert_eq!(file.write(b"abcdef").unwrap(), 3);
        file.write_all(b"defghijk").unwrap();
        assert_eq!(memory.content("/d/f").unwrap(), b"abcdefghijk");
    }

    #[test]
    fn an_interrupted_write_begins_again_and_another_failure_is_told() {
        let memory = Memory::new();
        memory.directory("/d");
        for (errno, fine) in [(Errno::INTR, true), (Errno::NOSPC, false)] {
            let inject = Inject::changing(&memory, |call| (call.number == 1 && call.phase == Phase::Before).then_some(errno));
            let mut file = inject.create(Path::new("/d/f"), 0o600).unwrap();
            assert_eq!(file.write_all(b"abc").map_err(|e| e.errno), if fine { Ok(()) } else { Err(errno) });
            memory.remove("/d/f");
        }
    }

    #[test]
    fn without_a_writing_side_nothing_is_written() {
        let memory = Memory::new();
        memory.file("/f", b"x");
        let inject = Inject::new(&memory, |_| None);
        assert_eq!(inject.unlink(Path::new("/f")).unwrap_err().errno, Errno::ROFS);
        assert!(memory.lstat(Path::new("/f")).is_ok());
    }
}
