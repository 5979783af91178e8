//! A file system that misbehaves on purpose: before and after every operation a hook may change the tree underneath or
//! make the operation fail. Operations are numbered from 0 in the order they begin.

mod change;

use super::{Acl, Change, Directory, Entries, Errno, Error, File, Fs, Meta, NativeAcl, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The moment of a call of the hook.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// The operation has not begun; an errno answered here replaces it.
    Before,
    /// The operation is done; an errno answered here replaces its result.
    After,
}

/// What the hook is told.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Number of the operation, counted from 0 over the whole [`Inject`].
    pub number: u64,
    /// Its name, as in [`Error::op`].
    pub op: &'static str,
    /// Its object.
    pub path: &'a Path,
    /// Before or after it.
    pub phase: Phase,
}

type Short<'h> = dyn Fn(&Call<'_>) -> bool + Send + Sync + 'h;
type Hook<'h> = dyn Fn(&Call<'_>) -> Option<Errno> + Send + Sync + 'h;

/// Wraps a file system with a hook.
pub struct Inject<'h> {
    inner: &'h dyn Fs,
    change: Option<&'h dyn Change>,
    hook: Box<Hook<'h>>,
    short: Option<Box<Short<'h>>>,
    count: AtomicU64,
}

impl<'h> Inject<'h> {
    /// Calls `hook` before and after every operation on `inner`.
    pub fn new(inner: &'h dyn Fs, hook: impl Fn(&Call<'_>) -> Option<Errno> + Send + Sync + 'h) -> Self {
        Inject { inner, change: None, hook: Box::new(hook), short: None, count: AtomicU64::new(0) }
    }
    /// Makes every `n`-th operation fail (the `n`-th, the `2n`-th, …; `n` = 0 makes none fail).
    pub fn failing_every(inner: &'h dyn Fs, n: u64, errno: Errno) -> Self {
        Self::new(inner, move |call| (call.phase == Phase::Before && n > 0 && (call.number + 1) % n == 0).then_some(errno))
    }
    /// How many operations have begun.
    pub fn operations(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
    /// Whether the operation that begins next is a short write.
    fn is_short(&self, op: &'static str, path: &Path) -> bool {
        let call = Call { number: self.operations(), op, path, phase: Phase::Before };
        self.short.as_ref().is_some_and(|short| short(&call))
    }
    fn around<T>(&self, op: &'static str, path: &Path, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let ask = |phase| match (self.hook)(&Call { number, op, path, phase }) {
            Some(errno) => Err(Error { op, path: path.to_owned(), errno }),
            None => Ok(()),
        };
        ask(Phase::Before)?;
        let answer = run();
        ask(Phase::After)?;
        answer
    }
    fn around_io(&self, path: &Path, run: impl FnOnce() -> std::io::Result<usize>) -> std::io::Result<usize> {
        let mut failed = None;
        let answer = self.around("read", path, || {
            run().map_err(|e| {
                let error = Error { op: "read", path: path.to_owned(), errno: super::io_errno(&e) };
                failed = Some(e);
                error
            })
        });
        answer.map_err(|e| failed.unwrap_or_else(|| std::io::Error::from_raw_os_error(e.errno.raw_os_error())))
    }
}

impl Fs for Inject<'_> {
    fn lstat(&self, path: &Path) -> Result<Meta> {
        self.around("lstat", path, || self.inner.lstat(path))
    }
    fn stat(&self, path: &Path) -> Result<Meta> {
        self.around("stat", path, || self.inner.stat(path))
    }
    fn realpath(&self, path: &Path) -> Result<PathBuf> {
        self.around("realpath", path, || self.inner.realpath(path))
    }
    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.around("readlink", path, || self.inner.read_link(path))
    }
    fn open(&self, path: &Path) -> Result<Box<dyn File + '_>> {
        self.around("open", path, || {
            let inner = self.inner.open(path)?;
            Ok(Box::new(InjectFile { inject: self, inner, path: path.to_owned() }) as Box<dyn File>)
        })
    }
    fn open_dir(&self, path: &Path) -> Result<Box<dyn Directory + '_>> {
        self.around("opendir", path, || {
            let inner = self.inner.open_dir(path)?;
            Ok(Box::new(InjectDirectory { inject: self, inner, path: path.to_owned() }) as Box<dyn Directory>)
        })
    }
    fn acl(&self, path: &Path, acl: Acl) -> Result<usize> {
        self.around("getxattr", path, || self.inner.acl(path, acl))
    }
    fn native_acl(&self, path: &Path) -> Result<Option<NativeAcl>> {
        match self.inner.native_acl(path) {
            // Nothing is asked where there are no such lists: nothing can happen around it.
            Ok(None) => Ok(None),
            answer => self.around("getacl", path, || answer),
        }
    }
}

struct InjectFile<'a, 'h> {
    inject: &'a Inject<'h>,
    inner: Box<dyn File + 'a>,
    path: PathBuf,
}

impl std::io::Read for InjectFile<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let inner = &mut self.inner;
        self.inject.around_io(&self.path, || inner.read(buffer))
    }
}

impl File for InjectFile<'_, '_> {
    fn stat(&self) -> Result<Meta> {
        self.inject.around("fstat", &self.path, || self.inner.stat())
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.inject.around_io(&self.path, || self.inner.read_at(buffer, offset))
    }
    fn acl(&self, acl: Acl) -> std::result::Result<usize, Errno> {
        let fail = |errno| Error { op: "getxattr", path: self.path.clone(), errno };
        self.inject.around("getxattr", &self.path, || self.inner.acl(acl).map_err(fail)).map_err(|error| error.errno)
    }
    fn close(self: Box<Self>) -> Result<()> {
        let InjectFile { inject, inner, path } = *self;
        inject.around("close", &path, || inner.close())
    }
}

struct InjectDirectory<'a, 'h> {
    inject: &'a Inject<'h>,
    inner: Box<dyn Directory + 'a>,
    path: PathBuf,
}

impl Directory for InjectDirectory<'_, '_> {
    fn stat(&self) -> Result<Meta> {
        self.inject.around("fstat", &self.path, || self.inner.stat())
    }
    fn lstat(&self, name: &OsStr) -> Result<Meta> {
        self.inject.around("lstat", &self.path.join(name), || self.inner.lstat(name))
    }
    fn open<'a>(&'a self, name: &'a OsStr) -> Result<Box<dyn File + 'a>> {
        let path = self.path.join(name);
        self.inject.around("open", &path, || {
            let inner = self.inner.open(name)?;
            Ok(Box::new(InjectFile { inject: self.inject, inner, path: path.clone() }) as Box<dyn File>)
        })
    }
    fn open_dir(&self, name: &OsStr) -> Result<Box<dyn Directory + '_>> {
        let path = self.path.join(name);
        self.inject.around("opendir", &path, || {
            let inner = self.inner.open_dir(name)?;
            Ok(Box::new(InjectDirectory { inject: self.inject, inner, path: path.clone() }) as Box<dyn Directory>)
        })
    }
    fn read_link(&self, name: &OsStr) -> Result<PathBuf> {
        self.inject.around("readlink", &self.path.join(name), || self.inner.read_link(name))
    }
    fn entries(&self) -> Result<Entries<'_>> {
        let mut stream = self.inject.around("opendir", &self.path, || self.inner.entries())?;
        let mut ended = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let next = self.inject.around("readdir", &self.path, || stream.next().transpose()).transpose();
            ended = !matches!(next, Some(Ok(_)));
            next
        })))
    }
    fn close(self: Box<Self>) -> Result<()> {
        let InjectDirectory { inject, inner, path } = *self;
        inject.around("close", &path, || inner.close())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Authority, Memory};
    use super::*;

    #[test]
    fn every_third_operation_fails() {
        let fs = Memory::new();
        fs.file("/a", b"");
        let inject = Inject::failing_every(&fs, 3, Errno::IO);
        let answers: Vec<bool> = (0..6).map(|_| inject.lstat(Path::new("/a")).is_ok()).collect();
        assert_eq!(answers, [true, true, false, true, true, false]);
        assert_eq!(inject.operations(), 6);
    }

    fn counted(fs: &Memory, run: impl FnOnce(&dyn Fs)) -> (u64, u64) {
        let opened = AtomicU64::new(0);
        let closed = AtomicU64::new(0);
        let inject = Inject::new(fs, |call| {
            match (call.op, call.phase) {
                ("opendir", Phase::After) => _ = opened.fetch_add(1, Ordering::SeqCst),
                ("close", Phase::Before) => _ = closed.fetch_add(1, Ordering::SeqCst),
                _ => {}
            }
            None
        });
        run(&inject);
        (opened.load(Ordering::SeqCst), closed.load(Ordering::SeqCst))
    }

    /// Wherever a descriptor is read: what fails first is told, whatever closing answers; a close that fails alone is told too.
    #[test]
    fn the_first_failure_survives_a_failing_close() {
        type Reader = fn(&dyn Fs) -> Option<Errno>;
        let readers: [(&str, &[&str], Reader); 4] = [
            ("capture", &["lstat", "open", "fstat", "read"], |fs| {
                match crate::fsys::capture(fs, Path::new("/d/f"), crate::fsys::Bound::Ceiling(9)) {
                    Err(crate::fsys::Refusal::Failed(error)) => Some(error.errno),
                    _ => None,
                }
            }),
            ("hash", &["open", "read"], |fs| crate::fsys::hash_file(fs, Path::new("/d/f")).err().map(|error| error.errno)),
            ("list", &["opendir", "readdir"], |fs| fs.list(Path::new("/d")).err().map(|error| error.errno)),
            ("derive", &["opendir", "fstat", "lstat"], |fs| {
                let derived = Authority::derive(fs, Path::new("/d"), |directory, _| directory.lstat(OsStr::new("f")));
                match derived {
                    Ok((authority, _)) => authority.release().err().map(|error| error.errno),
                    Err(error) => Some(error.errno),
                }
            }),
        ];
        let fs = Memory::new();
        fs.file("/d/f", b"x");
        for (name, steps, read) in readers {
            for step in steps {
                let both = Inject::new(&fs, |call| match (call.op, call.phase) {
                    (op, Phase::Before) if op == *step => Some(Errno::IO),
                    ("close", Phase::Before) => Some(Errno::BADF),
                    _ => None,
                });
                assert_eq!(read(&both), Some(Errno::IO), "{name}: {step} fails, then closing");
            }
            let close = Inject::new(&fs, |call| (call.op == "close" && call.phase == Phase::Before).then_some(Errno::BADF));
            assert_eq!(read(&close), Some(Errno::BADF), "{name}: closing alone fails");
            assert_eq!(read(&fs), None, "{name}: nothing fails");
        }
    }

    #[test]
    fn a_derived_authority_is_released_exactly_once() {
        let fs = Memory::new();
        fs.directory("/d");
        let counts = counted(&fs, |fs| {
            let (authority, ino) = Authority::derive(fs, Path::new("/d"), |_, meta| Ok(meta.ino)).unwrap();
            assert_eq!(authority.directory().stat().unwrap().ino, ino);
            authority.release().unwrap();
        });
        assert_eq!(counts, (1, 1));
    }

    #[test]
    fn a_failing_construction_releases_too_and_keeps_its_own_error() {
        let fs = Memory::new();
        fs.directory("/d");
        let counts = counted(&fs, |fs| {
            let outcome = Authority::derive(fs, Path::new("/d"), |d, _| d.lstat(OsStr::new("absent")));
            assert_eq!(outcome.map(|_| ()).unwrap_err().errno, Errno::NOENT);
        });
        assert_eq!(counts, (1, 1));
    }

    #[test]
    fn a_lent_authority_stays_with_its_giver() {
        let fs = Memory::new();
        fs.directory("/d");
        let counts = counted(&fs, |fs| {
            let lent = fs.open_dir(Path::new("/d")).unwrap();
            Authority::Borrowed(&*lent).release().unwrap();
            assert!(lent.stat().is_ok());
            lent.close().unwrap();
        });
        assert_eq!(counts, (1, 1));
    }

    #[test]
    fn a_symlink_is_no_authority_also_when_it_leads_to_the_same_object() {
        let fs = Memory::new();
        fs.directory("/d");
        fs.symlink("/l", "d");
        let (own, named) = (fs.lstat(Path::new("/d")).unwrap(), fs.stat(Path::new("/l")).unwrap());
        assert_eq!(own.object(), named.object());
        let refused = Authority::derive(&fs, Path::new("/l"), |_, _| Ok(())).map(|_| ()).unwrap_err();
        assert_eq!(refused.errno, Errno::LOOP);
    }
}
