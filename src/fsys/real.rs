//! The real file system: `openat2` with `RESOLVE_NO_SYMLINKS` where the kernel has it, else a walk component by component.
//!
//! Everything is opened `O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY` (a FIFO never makes us wait), with
//! `O_NOATIME` where the owner allows it, so that checking leaves not even an access time. The writing side is apart (`change`).

// This room is where the fence of clippy.toml has its gate.
#![allow(clippy::disallowed_methods)]

mod change;

#[cfg(not(target_os = "linux"))]
use super::errno::NO_ATTRIBUTE;
use super::{Acl, Directory, Entries, Entry, Errno, Error, File, Fs, Kind, Meta, Result, io_errno};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Real;

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::NOCTTY);
const READ_DIRECTORY: OFlags = READ.union(OFlags::DIRECTORY);

fn fail(op: &'static str, path: &Path) -> impl FnOnce(Errno) -> Error {
    move |errno| Error { op, path: path.to_owned(), errno }
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
    }
}

// The integer types of `struct stat` differ between platforms; on some of them a cast changes nothing.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn meta_of(stat: &Stat) -> Meta {
    let nanos = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
    Meta {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        nlink: stat.st_nlink as u64,
        mode: stat.st_mode as u32 & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: nanos(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
        ctime_ns: nanos(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
    }
}

/// Runs an opening with `O_NOATIME`, and without it where it is not ours to ask for.
fn without_access_time<T>(flags: OFlags, open: impl Fn(OFlags) -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    #[cfg(target_os = "linux")]
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => {}
        answer => return answer,
    }
    open(flags)
}

/// Opens one name below a directory; a symlink answers `ELOOP` also where the kernel says `ENOTDIR` for it.
fn open_name(directory: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    without_access_time(flags, |flags| rustix::fs::openat(directory, name, flags, Mode::empty())).map_err(|errno| {
        let is_link = errno == Errno::NOTDIR
            && rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|s| kind_of(FileType::from_raw_mode(s.st_mode)) == Kind::Symlink);
        if is_link { Errno::LOOP } else { errno }
    })
}

/// Opens a path, refusing a symlink at every component, one `openat` a component.
fn open_by_components(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    const STEP: OFlags = READ_DIRECTORY;

    let start = if path.is_absolute() { OsStr::new("/") } else { OsStr::new(".") };
    let mut names = path
        .components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(name),
            Component::ParentDir => Some(OsStr::new("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .peekable();
    if names.peek().is_none() {
        return if path.as_os_str().is_empty() { Err(Errno::NOENT) } else { open_name(rustix::fs::CWD, start, flags) };
    }
    let mut here = rustix::fs::openat(rustix::fs::CWD, start, STEP, Mode::empty())?;
    loop {
        let Some(name) = names.next() else { return Ok(here) };
        if names.peek().is_none() {
            return open_name(here.as_fd(), name, flags);
        }
        here = rustix::fs::openat(&here, name, STEP, Mode::empty()).map_err(|errno| {
            let is_link = rustix::fs::statat(&here, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|s| kind_of(FileType::from_raw_mode(s.st_mode)) == Kind::Symlink);
            if is_link { Errno::LOOP } else { errno }
        })?;
    }
}

/// Opens a path, refusing a symlink at every component.
fn open_without_links(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let answer = without_access_time(flags, |flags| rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve));
        match answer {
            // No such system call, a sandbox that forbids it, a racing rename, a path longer than one call may name, or an
            // `ENOTDIR` that may stand for a link in the last place: the walk knows better.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::NAMETOOLONG | Errno::NOTDIR) => {}
            answer => return answer,
        }
    }
    open_by_components(path, flags)
}

impl Fs for Real {
    fn lstat(&self, path: &Path) -> Result<Meta> {
        rustix::fs::lstat(path).map(|s| meta_of(&s)).map_err(fail("lstat", path))
    }
    fn stat(&self, path: &Path) -> Result<Meta> {
        rustix::fs::stat(path).map(|s| meta_of(&s)).map_err(fail("stat", path))
    }
    fn realpath(&self, path: &Path) -> Result<PathBuf> {
        std::fs::canonicalize(path).map_err(|e| fail("realpath", path)(io_errno(&e)))
    }
    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        read_link_at(rustix::fs::CWD, path.as_os_str()).map_err(fail("readlink", path))
    }
    fn open(&self, path: &Path) -> Result<Box<dyn File + '_>> {
        let fd = open_without_links(path, READ).map_err(fail("open", path))?;
        Ok(Box::new(RealFile { file: fd.into(), directory: Path::new(""), name: Cow::Owned(path.into()) }))
    }
    fn open_dir(&self, path: &Path) -> Result<Box<dyn Directory + '_>> {
        let fd = open_without_links(path, READ_DIRECTORY).map_err(fail("opendir", path))?;
        Ok(Box::new(RealDirectory { fd, path: path.to_owned() }))
    }
    fn acl(&self, path: &Path, acl: Acl) -> Result<usize> {
        query_acl(path, acl).map_err(fail("getxattr", path))
    }
}

#[cfg(target_os = "linux")]
fn query_acl(path: &Path, acl: Acl) -> rustix::io::Result<usize> {
    rustix::fs::lgetxattr_query(path, acl.attribute())
}

#[cfg(target_os = "linux")]
fn query_open_acl(file: BorrowedFd<'_>, acl: Acl) -> rustix::io::Result<usize> {
    rustix::fs::fgetxattr_query(file, acl.attribute())
}

/// Elsewhere than on Linux there are no POSIX ACL attributes to ask for.
#[cfg(not(target_os = "linux"))]
fn query_acl(_path: &Path, _acl: Acl) -> rustix::io::Result<usize> {
    Err(NO_ATTRIBUTE)
}
#[cfg(not(target_os = "linux"))]
fn query_open_acl(_file: BorrowedFd<'_>, _acl: Acl) -> rustix::io::Result<usize> {
    Err(NO_ATTRIBUTE)
}

fn read_link_at(directory: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<PathBuf> {
    let text = rustix::fs::readlinkat(directory, name, Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(text.as_bytes())))
}

/// An open file, and what it is called below a directory: its whole path is only made for an error.
struct RealFile<'d> {
    file: std::fs::File,
    directory: &'d Path,
    name: Cow<'d, OsStr>,
}

impl std::io::Read for RealFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.file.read(buffer)
    }
}

impl File for RealFile<'_> {
    fn stat(&self) -> Result<Meta> {
        rustix::fs::fstat(&self.file).map(|s| meta_of(&s)).map_err(|errno| fail("fstat", &self.directory.join(&*self.name))(errno))
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
    fn acl(&self, acl: Acl) -> std::result::Result<usize, Errno> {
        query_open_acl(self.file.as_fd(), acl)
    }
    fn close(self: Box<Self>) -> Result<()> {
        // Dropping closes. The answer of close(2) cannot be had without `unsafe`, and says nothing of a file only read.
        Ok(())
    }
}

struct RealDirectory {
    fd: OwnedFd,
    path: PathBuf,
}

impl RealDirectory {
    fn fail(&self, op: &'static str, name: &OsStr) -> impl FnOnce(Errno) -> Error {
        move |errno| Error { op, path: self.path.join(name), errno }
    }
}

impl Directory for RealDirectory {
    fn stat(&self) -> Result<Meta> {
        rustix::fs::fstat(&self.fd).map(|s| meta_of(&s)).map_err(fail("fstat", &self.path))
    }
    fn lstat(&self, name: &OsStr) -> Result<Meta> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).map(|s| meta_of(&s)).map_err(self.fail("lstat", name))
    }
    fn open<'a>(&'a self, name: &'a OsStr) -> Result<Box<dyn File + 'a>> {
        let fd = open_name(self.fd.as_fd(), name, READ).map_err(self.fail("open", name))?;
        Ok(Box::new(RealFile { file: fd.into(), directory: &self.path, name: Cow::Borrowed(name) }))
    }
    fn open_dir(&self, name: &OsStr) -> Result<Box<dyn Directory + '_>> {
        let fd = open_name(self.fd.as_fd(), name, READ_DIRECTORY).map_err(self.fail("opendir", name))?;
        Ok(Box::new(RealDirectory { fd, path: self.path.join(name) }))
    }
    fn read_link(&self, name: &OsStr) -> Result<PathBuf> {
        read_link_at(self.fd.as_fd(), name).map_err(self.fail("readlink", name))
    }
    fn entries(&self) -> Result<Entries<'_>> {
        let stream = rustix::fs::Dir::read_from(&self.fd).map_err(fail("readdir", &self.path))?;
        Ok(Box::new(stream.filter_map(|entry| match entry {
            Ok(entry) => {
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                let kind = match entry.file_type() {
                    FileType::Unknown => None,
                    known => Some(kind_of(known)),
                };
                (name != "." && name != "..").then(|| Ok(Entry { name: name.to_owned(), kind }))
            }
            Err(errno) => Some(Err(fail("readdir", &self.path)(errno))),
        })))
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = Real.realpath(temp.path()).unwrap();
        std::fs::create_dir(root.join("d")).unwrap();
        std::fs::write(root.join("d/f"), b"content").unwrap();
        std::os::unix::fs::symlink("d", root.join("dir-link")).unwrap();
        std::os::unix::fs::symlink("f", root.join("d/file-link")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("d/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        (temp, root)
    }

    fn errno<T>(answer: Result<T>) -> Errno {
        answer.map(|_| ()).unwrap_err().errno
    }

    #[test]
    fn a_link_at_any_component_is_refused_by_both_ways_of_opening() {
        let (_temp, root) = tree();
        for path in ["dir-link/f", "d/file-link", "loop", "loop/f"] {
            assert_eq!(errno(Real.open(&root.join(path))), Errno::LOOP, "{path}");
            assert_eq!(open_by_components(&root.join(path), READ).map(|_| ()).unwrap_err(), Errno::LOOP, "{path} by components");
        }
        for path in ["dir-link", "loop"] {
            assert_eq!(errno(Real.open_dir(&root.join(path))), Errno::LOOP, "{path}");
            assert_eq!(open_by_components(&root.join(path), READ_DIRECTORY).map(|_| ()).unwrap_err(), Errno::LOOP, "{path} by components");
        }
        assert_eq!(errno(Real.open_dir(&root.join("d/f"))), Errno::NOTDIR);
        assert_eq!(errno(Real.open(&root.join("d/absent"))), Errno::NOENT);
        assert!(open_by_components(&root.join("d/f"), READ).is_ok());
    }

    #[test]
    fn below_a_held_directory_a_link_is_refused_too() {
        let (_temp, root) = tree();
        let held = Real.open_dir(&root).unwrap();
        assert_eq!(errno(held.open_dir(OsStr::new("dir-link"))), Errno::LOOP);
        let d = held.open_dir(OsStr::new("d")).unwrap();
        assert_eq!(errno(d.open(OsStr::new("file-link"))), Errno::LOOP);
        assert_eq!(d.read_link(OsStr::new("file-link")).unwrap(), Path::new("f"));
        let mut text = String::new();
        d.open(OsStr::new("f")).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
    }

    #[test]
    fn descriptors_are_close_on_exec() {
        use rustix::io::{FdFlags, fcntl_getfd};
        let (_temp, root) = tree();
        let file = open_without_links(&root.join("d/f"), READ).unwrap();
        let directory = open_without_links(&root.join("d"), READ_DIRECTORY).unwrap();
        let below = open_name(directory.as_fd(), OsStr::new("f"), READ).unwrap();
        let walked = open_by_components(&root.join("d/f"), READ).unwrap();
        for fd in [&file, &directory, &below, &walked] {
            assert!(fcntl_getfd(fd).unwrap().contains(FdFlags::CLOEXEC));
        }
    }

    #[test]
    fn a_fifo_without_writer_does_not_hang() {
        let (_temp, root) = tree();
        let fifo = Real.open(&root.join("d/fifo")).unwrap();
        assert_eq!(fifo.stat().unwrap().kind, Kind::Fifo);
    }

    #[test]
    fn names_that_are_not_utf8_are_kept() {
        let (_temp, root) = tree();
        let name = OsStr::from_bytes(b"bad-\xff");
        if std::fs::write(root.join(name), b"").is_err() {
            eprintln!("skipped: this file system refuses names that are not UTF-8");
            return;
        }
        let names: Vec<_> = Real.list(&root).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, [name, OsStr::new("d"), OsStr::new("dir-link"), OsStr::new("loop")]);
    }

    #[test]
    fn a_path_longer_than_one_call_may_name_is_reached_by_components() {
        let temp = tempfile::tempdir().unwrap();
        let mut path = Real.realpath(temp.path()).unwrap();
        let name = "x".repeat(250);
        let mut here = rustix::fs::openat(rustix::fs::CWD, &path, READ_DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&here, name.as_str(), Mode::RWXU).unwrap();
            here = rustix::fs::openat(&here, name.as_str(), READ_DIRECTORY, Mode::empty()).unwrap();
            path.push(&name);
        }
        assert_eq!(Real.open_dir(&path).unwrap().stat().unwrap().ino, rustix::fs::fstat(&here).unwrap().st_ino);
    }

    #[test]
    fn an_acl_query_answers_absent_or_unsupported_on_a_plain_file() {
        let (_temp, root) = tree();
        let answer = errno(Real.acl(&root.join("d/f"), Acl::Access));
        assert!(answer == super::super::errno::NO_ATTRIBUTE || answer == Errno::OPNOTSUPP, "{answer:?}");
    }
}
