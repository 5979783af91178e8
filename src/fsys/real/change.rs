//! The writing side of the real file system: the parent is opened without following a link, the rest is one `*at` call.

use super::{READ, READ_DIRECTORY, Real, fail, io_errno, meta_of, open_without_links};
use crate::fsys::{Acl, Change, Errno, Error, Meta, Result, WriteFile};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use std::ffi::OsStr;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

const WRITE: OFlags = OFlags::RDWR.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::NOCTTY);

/// The directory of a path, held open, and the name in it.
fn place(path: &Path) -> rustix::io::Result<(OwnedFd, &OsStr)> {
    let Some(Component::Normal(name)) = path.components().next_back() else { return Err(Errno::INVAL) };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((open_without_links(parent, READ_DIRECTORY)?, name))
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as rustix::fs::RawMode)
}

/// Sets the bits that the process's mask took away.
fn unmask(fd: impl AsFd, mode: u32) -> rustix::io::Result<()> {
    let there = meta_of(&rustix::fs::fstat(&fd)?).mode;
    if there == mode & 0o7777 { Ok(()) } else { rustix::fs::fchmod(&fd, bits(mode)) }
}

fn open_for_writing(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let (parent, name) = place(path)?;
    rustix::fs::openat(&parent, name, WRITE | flags, Mode::empty())
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_without_replacing(from: &Path, to: &Path) -> rustix::io::Result<()> {
    let ((old, old_name), (new, new_name)) = (place(from)?, place(to)?);
    rustix::fs::renameat_with(&old, old_name, &new, new_name, rustix::fs::RenameFlags::NOREPLACE)
}

/// No such call elsewhere.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_without_replacing(_from: &Path, _to: &Path) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}

#[cfg(target_os = "linux")]
fn remove_acl(path: &Path, acl: Acl) -> rustix::io::Result<()> {
    let (parent, name) = place(path)?;
    let fd = rustix::fs::openat(&parent, name, READ, Mode::empty())?;
    rustix::fs::fremovexattr(&fd, acl.attribute())
}

/// Elsewhere than on Linux there are no POSIX ACL attributes.
#[cfg(not(target_os = "linux"))]
fn remove_acl(_path: &Path, _acl: Acl) -> rustix::io::Result<()> {
    Err(crate::fsys::NO_ATTRIBUTE)
}

impl Change for Real {
    fn create(&self, path: &Path, mode: u32) -> Result<Box<dyn WriteFile + '_>> {
        let create = || {
            let (parent, name) = place(path)?;
            let fd = rustix::fs::openat(&parent, name, WRITE | OFlags::CREATE | OFlags::EXCL, bits(mode))?;
            unmask(&fd, mode)?;
            Ok(fd)
        };
        Ok(RealWriteFile::new(create().map_err(fail("create", path))?, path, false))
    }
    fn append(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>> {
        Ok(RealWriteFile::new(open_for_writing(path, OFlags::APPEND).map_err(fail("append", path))?, path, true))
    }
    fn reopen(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>> {
        Ok(RealWriteFile::new(open_for_writing(path, OFlags::empty()).map_err(fail("reopen", path))?, path, false))
    }
    fn make_dir(&self, path: &Path, mode: u32) -> Result<()> {
        let make = || {
            let (parent, name) = place(path)?;
            rustix::fs::mkdirat(&parent, name, bits(mode))?;
            unmask(rustix::fs::openat(&parent, name, READ_DIRECTORY, Mode::empty())?, mode)
        };
        make().map_err(fail("mkdir", path))
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let rename = || {
            let ((old, old_name), (new, new_name)) = (place(from)?, place(to)?);
            rustix::fs::renameat(&old, old_name, &new, new_name)
        };
        rename().map_err(fail("rename", from))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        rename_without_replacing(from, to).map_err(fail("rename", from))
    }
    fn hard_link(&self, from: &Path, to: &Path) -> Result<()> {
        let link = || {
            let ((old, old_name), (new, new_name)) = (place(from)?, place(to)?);
            rustix::fs::linkat(&old, old_name, &new, new_name, AtFlags::empty())
        };
        link().map_err(fail("link", from))
    }
    fn unlink(&self, path: &Path) -> Result<()> {
        place(path).and_then(|(parent, name)| rustix::fs::unlinkat(&parent, name, AtFlags::empty())).map_err(fail("unlink", path))
    }
    fn remove_dir(&self, path: &Path) -> Result<()> {
        place(path).and_then(|(parent, name)| rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)).map_err(fail("rmdir", path))
    }
    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        open_without_links(path, READ).and_then(|fd| rustix::fs::fchmod(&fd, bits(mode))).map_err(fail("chmod", path))
    }
    fn clear_acl(&self, path: &Path, acl: Acl) -> Result<()> {
        remove_acl(path, acl).map_err(fail("removexattr", path))
    }
    fn sync_dir(&self, path: &Path) -> Result<()> {
        open_without_links(path, READ_DIRECTORY).and_then(|fd| rustix::fs::fsync(&fd)).map_err(fail("fsync", path))
    }
}

struct RealWriteFile {
    file: std::fs::File,
    path: PathBuf,
    appending: bool,
}

impl RealWriteFile {
    fn new(fd: OwnedFd, path: &Path, appending: bool) -> Box<Self> {
        Box::new(RealWriteFile { file: fd.into(), path: path.to_owned(), appending })
    }
    fn fail(&self, op: &'static str) -> impl FnOnce(std::io::Error) -> Error + use<> {
        let path = self.path.clone();
        move |error| Error { op, path, errno: io_errno(&error) }
    }
}

impl WriteFile for RealWriteFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes).map_err(self.fail("write"))
    }
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> Result<usize> {
        if self.appending {
            return Err(Error { op: "write", path: self.path.clone(), errno: Errno::BADF });
        }
        self.file.write_at(bytes, offset).map_err(self.fail("write"))
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.file.read_at(buffer, offset).map_err(self.fail("read"))
    }
    fn truncate(&mut self, size: u64) -> Result<()> {
        self.file.set_len(size).and_then(|()| self.file.seek(SeekFrom::Start(size))).map(|_| ()).map_err(self.fail("truncate"))
    }
    fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(self.fail("fsync"))
    }
    fn stat(&self) -> Result<Meta> {
        rustix::fs::fstat(&self.file).map(|s| meta_of(&s)).map_err(fail("fstat", &self.path))
    }
    fn set_mode(&self, mode: u32) -> Result<()> {
        rustix::fs::fchmod(&self.file, bits(mode)).map_err(fail("chmod", &self.path))
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
