//! The only room that touches the file system: no-follow open, bounded capture, identity, ACL query.
//!
//! Two traits, three implementations: [`Real`], [`Memory`] (for tests) and [`Inject`] (wraps another and makes chosen
//! operations fail or the tree change under the reader).
//! * [`Fs`] reads: no method of it opens anything for writing. It is all that a check is ever handed.
//! * [`Change`] writes, and is an [`Fs`] too; no `&dyn Fs` becomes one. Only `repair` and the reference session manager take it.
//!
//! Beside them [`output`] makes the new files that the user asked for by name, and never touches one that exists.
//!
//! Two ways to reach an object, and why there are two:
//! * by path ([`Fs`]): `open` and `open_dir` refuse a symlink at *any* component, so callers hand in canonical paths
//!   ([`Fs::realpath`] of what the user named, plus names found below it);
//! * by name below a directory that is held open ([`Directory`]): what a walk uses, so that a directory swapped for a
//!   symlink in mid-walk cannot lead it elsewhere.
//!
//! Names are bytes: `OsStr` keeps what is not UTF-8.

mod authority;
mod capture;
mod change;
mod errno;
mod hash;
pub mod host;
mod inject;
pub mod input;
mod memory;
pub mod output;
pub mod plant;
mod real;
pub mod scratch;

pub use authority::Authority;
pub use capture::{Bound, Captured, Refusal, Watched, capture, capture_admitted};
pub use change::{Change, WriteFile};
pub use errno::{NO_ATTRIBUTE, errno_name, errno_of};
pub use hash::{Sha256Reader, hash_file};
pub use inject::{Call, Inject, Phase};
pub use memory::{Crash, Memory};
pub use real::Real;
pub use rustix::io::Errno;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What kind of object a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link (only `lstat` and directory entries answer this).
    Symlink,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
}

impl Kind {
    /// The word for messages: `file`, `directory`, `symlink`, `FIFO`, `socket`, `device`.
    pub const fn noun(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Symlink => "symlink",
            Kind::Fifo => "FIFO",
            Kind::Socket => "socket",
            Kind::Device => "device",
        }
    }
    /// FIFO, socket or device: never opened.
    pub const fn is_special(self) -> bool {
        matches!(self, Kind::Fifo | Kind::Socket | Kind::Device)
    }
}

/// Facts of one object, as `statx` answers them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Meta {
    /// Kind of object.
    pub kind: Kind,
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Link count.
    pub nlink: u64,
    /// The twelve permission bits (set-uid, set-gid and sticky included).
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since the epoch.
    pub mtime_ns: i128,
    /// Change time in nanoseconds since the epoch.
    pub ctime_ns: i128,
}

impl Meta {
    /// The nine bits that owner-only checks look at (spec 02 §4.1: set-uid, set-gid and sticky are ignored).
    pub const fn permissions(&self) -> u32 {
        self.mode & 0o777
    }
    /// `dev` and `ino`: which object it is, whatever its name.
    pub const fn object(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }
    /// Whether both looks saw one unchanged object: dev, ino, nlink, size, mtime and ctime agree (spec 02 §4.5).
    pub fn same_state(&self, other: &Meta) -> bool {
        self.kind == other.kind
            && self.object() == other.object()
            && self.nlink == other.nlink
            && self.size == other.size
            && self.mtime_ns == other.mtime_ns
            && self.ctime_ns == other.ctime_ns
    }
    /// Names of the fields that differ from `other`, in the order dev, ino, nlink, size, mtime, ctime.
    pub fn drift(&self, other: &Meta) -> Vec<&'static str> {
        [
            ("dev", self.dev == other.dev),
            ("ino", self.ino == other.ino),
            ("nlink", self.nlink == other.nlink),
            ("size", self.size == other.size),
            ("mtime", self.mtime_ns == other.mtime_ns),
            ("ctime", self.ctime_ns == other.ctime_ns),
        ]
        .into_iter()
        .filter_map(|(name, same)| (!same).then_some(name))
        .collect()
    }
}

/// One name of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name: any bytes without `/` and NUL.
    pub name: OsString,
    /// The kind the directory itself claims, when it claims one; `lstat` is the authority.
    pub kind: Option<Kind>,
}

/// Which of the two POSIX ACL attributes is asked for (spec 02 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Acl {
    /// `system.posix_acl_access`, files and directories.
    Access,
    /// `system.posix_acl_default`, directories only.
    Default,
}

impl Acl {
    /// Name of the extended attribute.
    pub const fn attribute(self) -> &'static str {
        match self {
            Acl::Access => "system.posix_acl_access",
            Acl::Default => "system.posix_acl_default",
        }
    }
}

/// What a system other than Linux keeps of an object in place of the two attributes (spec 02 §4.2).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NativeAcl {
    /// macOS: so many entries of its extended ACL.
    Extended(usize),
    /// Windows: its discretionary list.
    Dacl {
        /// What stands above it passes nothing on to it.
        protected: bool,
        /// Its entries, in order; none when it has no such list, and everybody may do everything.
        entries: Option<Vec<DaclEntry>>,
    },
}

/// One entry of a Windows DACL, as far as gjc looks at it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DaclEntry {
    /// `ACCESS_ALLOWED_ACE`.
    pub allows: bool,
    /// Its SID is the current user's.
    pub of_user: bool,
    /// Access mask.
    pub mask: u32,
    /// Inheritance flags.
    pub flags: u8,
}

/// A file-system operation that failed: which, where, with what errno.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{op} {}: {}", path.display(), errno_name(*errno))]
pub struct Error {
    /// The operation: `lstat`, `stat`, `realpath`, `readlink`, `open`, `opendir`, `readdir`, `read`, `fstat`, `getxattr`, `getacl`,
    /// `close`;
    /// of the writing side `create`, `append`, `reopen`, `mkdir`, `rename`, `link`, `unlink`, `rmdir`, `chmod`, `removexattr`,
    /// `write`, `truncate`, `fsync`.
    pub op: &'static str,
    /// The object, as far as it was named.
    pub path: PathBuf,
    /// Why.
    pub errno: Errno,
}

impl Error {
    /// The errno's name (`EACCES`).
    pub fn token(&self) -> &'static str {
        errno_name(self.errno)
    }
}

/// Answer of an operation of this room.
pub type Result<T> = std::result::Result<T, Error>;

/// Names of a directory as they come; the caller sorts what it keeps.
pub type Entries<'a> = Box<dyn Iterator<Item = Result<Entry>> + Send + 'a>;

/// A regular file open for reading. Reads go on from where the last one ended.
pub trait File: std::io::Read + Send {
    /// Facts of the open object, whatever its name stands for by now.
    fn stat(&self) -> Result<Meta>;
    /// Reads up to `buffer.len()` bytes at an offset, without moving the reader; 0 at or behind the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize>;
    /// Length of an ACL attribute of the open object, or why not, as [`Fs::acl`] has it: nearly every file answers `ENODATA`, so
    /// no path is made for that.
    fn acl(&self, acl: Acl) -> std::result::Result<usize, Errno>;
    /// Closes and reports what closing answers. (The real one cannot observe an error of closing; an injected one can.)
    fn close(self: Box<Self>) -> Result<()>;
}

/// A directory held open. Names are single components; symlinks are never followed.
pub trait Directory: Send + Sync {
    /// Facts of the directory itself.
    fn stat(&self) -> Result<Meta>;
    /// Facts of a name, not following it.
    fn lstat(&self, name: &OsStr) -> Result<Meta>;
    /// Opens a regular file for reading; a symlink answers `ELOOP`.
    fn open<'a>(&'a self, name: &'a OsStr) -> Result<Box<dyn File + 'a>>;
    /// Opens a sub-directory; a symlink answers `ELOOP`.
    fn open_dir(&self, name: &OsStr) -> Result<Box<dyn Directory + '_>>;
    /// The text of a symlink.
    fn read_link(&self, name: &OsStr) -> Result<PathBuf>;
    /// The names, without `.` and `..`, in no order.
    fn entries(&self) -> Result<Entries<'_>>;
    /// Gives the descriptor back.
    fn close(self: Box<Self>) -> Result<()>;
}

/// The file system as checks see it: reading only.
pub trait Fs: Send + Sync {
    /// Facts of a path, not following its last component.
    fn lstat(&self, path: &Path) -> Result<Meta>;
    /// Facts of what a path leads to, following links.
    fn stat(&self, path: &Path) -> Result<Meta>;
    /// The absolute path without links, `.` and `..`, resolved physically (spec 02a.12).
    fn realpath(&self, path: &Path) -> Result<PathBuf>;
    /// The text of a symlink.
    fn read_link(&self, path: &Path) -> Result<PathBuf>;
    /// Opens a regular file (or whatever stands there: `File::stat` says) for reading without ever blocking; a symlink
    /// at any component answers `ELOOP`.
    fn open(&self, path: &Path) -> Result<Box<dyn File + '_>>;
    /// Opens a directory; a symlink at any component answers `ELOOP`, another kind `ENOTDIR`.
    fn open_dir(&self, path: &Path) -> Result<Box<dyn Directory + '_>>;
    /// Length of an ACL attribute, asked with a zero-length get, not following the last component.
    /// `ENODATA` = absent, `ENOTSUP` = the file system has none.
    fn acl(&self, path: &Path, acl: Acl) -> Result<usize>;
    /// What stands in place of these attributes on a system that has none: `None` where POSIX ACLs are asked for, as on Linux.
    /// The real file system answers this everywhere: the lists of macOS and Windows are read through no safe interface that this
    /// crate knows. The one in memory answers what it was told.
    fn native_acl(&self, _path: &Path) -> Result<Option<NativeAcl>> {
        Ok(None)
    }

    /// All names of a directory, sorted by bytes. For small directories; a walk streams [`Directory::entries`].
    fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        let directory = self.open_dir(path)?;
        let mut all = directory.entries()?.collect::<Result<Vec<Entry>>>()?;
        all.sort_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        directory.close()?;
        Ok(all)
    }
    /// Whether something stands at this path; `ENOENT` and `ENOTDIR` are the two ways of absence.
    fn present(&self, path: &Path) -> Result<bool> {
        match self.lstat(path) {
            Ok(_) => Ok(true),
            Err(e) if e.errno == Errno::NOENT || e.errno == Errno::NOTDIR => Ok(false),
            Err(e) => Err(e),
        }
    }
}

/// Lets the first failure survive a failing close, and reports a failing close after a good result.
pub fn closing<T>(outcome: Result<T>, close: impl FnOnce() -> Result<()>) -> Result<T> {
    let closed = close();
    outcome.and_then(|value| closed.map(|()| value))
}

/// The number of an error of the standard library; `EINVAL` where it has none.
pub fn io_errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error)
}
