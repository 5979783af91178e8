//! The writing side: making, naming, moving and taking away, one system call an operation, each by path.
//!
//! [`Change`] extends [`Fs`] and not the other way round: a check is handed `&dyn Fs`, and no `&dyn Fs` becomes a
//! `&dyn Change`. Who may change a tree says so in its signature (`repair`, and the reference session manager).
//!
//! ```compile_fail
//! fn check(fs: &dyn gjc_fsck::fsys::Fs) {
//!     fs.unlink(std::path::Path::new("/anything"));
//! }
//! ```
//!
//! As on the reading side, a symlink at any component above the last is `ELOOP`; the last one is never followed. Modes are
//! set as they are named, whatever the process's mask. Nothing is durable before [`WriteFile::sync`] (content and mode) and
//! [`Change::sync_dir`] (names): [`super::Memory::crashes`] answers what a crash may leave.

use super::{Acl, Errno, Error, Fs, Meta, Result};
use std::path::Path;

/// A regular file open for writing.
pub trait WriteFile: Send {
    /// Writes at the position (which begins at 0; at the end for [`Change::append`]) and moves it: how many bytes were taken.
    fn write(&mut self, bytes: &[u8]) -> Result<usize>;
    /// Writes over what stands at an offset, without moving the position. Not for a file opened by [`Change::append`]
    /// (`EBADF`): there every write goes to the end.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> Result<usize>;
    /// Reads at an offset, without moving the position; 0 at or behind the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;
    /// Cuts or extends with zeros to so many bytes; the position moves to the new end.
    fn truncate(&mut self, size: u64) -> Result<()>;
    /// Makes content, size and mode durable (`fsync`).
    fn sync(&self) -> Result<()>;
    /// Facts of the open object, whatever its name stands for by now.
    fn stat(&self) -> Result<Meta>;
    /// Sets the permission bits.
    fn set_mode(&self, mode: u32) -> Result<()>;
    /// Closes. (The real one cannot observe an error of closing: sync before, that tells all. An injected one can.)
    fn close(self: Box<Self>) -> Result<()>;

    /// Writes everything: a short write goes on, an interrupted one begins again (but not for ever), one that takes nothing is
    /// `EIO`.
    ///
    /// # Errors
    /// The first failure; what was taken until then stays.
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        let mut patience = Patience::default();
        while !bytes.is_empty() {
            let taken = patience.taken(self.write(bytes))?;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }
    /// Writes everything over what stands at an offset, as [`WriteFile::write_all`] does.
    ///
    /// # Errors
    /// The first failure; what was taken until then stays.
    fn write_all_at(&mut self, mut bytes: &[u8], mut offset: u64) -> Result<()> {
        let mut patience = Patience::default();
        while !bytes.is_empty() {
            let taken = patience.taken(self.write_at(bytes, offset))?;
            offset += taken as u64;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }
}

/// How often one operation may be interrupted before that is an error.
pub(super) const INTERRUPTIONS: u32 = 100;

/// Counts how often in a row a write was interrupted.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    /// How many bytes a write took; an interrupted one took none, and one that answers none is an error.
    fn taken(&mut self, answer: Result<usize>) -> Result<usize> {
        match answer {
            Err(e) if e.errno == Errno::INTR && self.0 < INTERRUPTIONS => {
                self.0 += 1;
                Ok(0)
            }
            Ok(0) => Err(Error { op: "write", path: Path::new("").to_owned(), errno: Errno::IO }),
            answer => {
                self.0 = 0;
                answer
            }
        }
    }
}

/// A file system that may be changed.
pub trait Change: Fs {
    /// Makes a new regular file and opens it for reading and writing (`O_CREAT|O_EXCL|O_NOFOLLOW`); whatever stands there is `EEXIST`.
    fn create(&self, path: &Path, mode: u32) -> Result<Box<dyn WriteFile + '_>>;
    /// Opens an existing file so that every write goes to its end (`O_APPEND|O_NOFOLLOW`).
    fn append(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>>;
    /// Opens an existing file for reading and writing from its beginning, cutting nothing.
    fn reopen(&self, path: &Path) -> Result<Box<dyn WriteFile + '_>>;
    /// Makes a directory; whatever stands there is `EEXIST`.
    fn make_dir(&self, path: &Path, mode: u32) -> Result<()>;
    /// Gives an object another name; a file or an empty directory that has the name loses it.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;
    /// Gives an object another name; whatever has the name keeps it (`EEXIST`; `renameat2` with `RENAME_NOREPLACE`). Where
    /// the system or the file system cannot do that: `ENOSYS` or `EINVAL`.
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()>;
    /// Gives a file a second name; whatever has the name keeps it (`EEXIST`).
    fn hard_link(&self, from: &Path, to: &Path) -> Result<()>;
    /// Takes a name of something that is no directory away.
    fn unlink(&self, path: &Path) -> Result<()>;
    /// Takes an empty directory away.
    fn remove_dir(&self, path: &Path) -> Result<()>;
    /// Sets the permission bits of a file or directory; a symlink is `ELOOP`.
    fn set_mode(&self, path: &Path, mode: u32) -> Result<()>;
    /// Removes an ACL attribute; `ENODATA` = there was none, `ENOTSUP` = the file system has none.
    fn clear_acl(&self, path: &Path, acl: Acl) -> Result<()>;
    /// Makes the names of a directory durable.
    fn sync_dir(&self, path: &Path) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Kind, Memory, Real};
    use std::path::PathBuf;

    /// One line an operation: what it answers. Times, inodes and places are left out, so that two systems can agree.
    fn script(fs: &dyn Change, root: &Path) -> Vec<String> {
        let at = |name: &str| root.join(name);
        let said = |answer: Result<()>| answer.map_or_else(|e| format!("{} {}", e.op, e.token()), |()| "fine".to_owned());
        let mut log = Vec::new();
        let mut tell = |what: &str, answer: Result<()>| log.push(format!("{what}: {}", said(answer)));
        tell("make a directory", fs.make_dir(&at("d"), 0o710));
        tell("make it again", fs.make_dir(&at("d"), 0o700));
        tell("make one below nothing", fs.make_dir(&at("none/d"), 0o700));
        tell(
            "create",
            fs.create(&at("d/f"), 0o640).and_then(|mut f| f.write_all(b"hello").and_then(|()| f.sync()).and_then(|()| f.close())),
        );
        tell("create again", fs.create(&at("d/f"), 0o600).map(|_| ()));
        tell("create over a link", fs.create(&at("link"), 0o600).map(|_| ()));
        tell("create behind a link", fs.create(&at("dir-link/x"), 0o600).map(|_| ()));
        tell("append behind a link", fs.append(&at("link")).map(|_| ()));
        tell("append to nothing", fs.append(&at("d/none")).map(|_| ()));
        tell("append", fs.append(&at("d/f")).and_then(|mut f| f.write_all(b" world").and_then(|()| f.write_at(b"x", 0).map(|_| ()))));
        tell(
            "reopen",
            fs.reopen(&at("d/f")).and_then(|mut f| {
                f.write_all_at(b"W", 6)?;
                f.write_all(b"J")?;
                let mut whole = [0; 20];
                let n = f.read_at(&mut whole, 0)?;
                assert_eq!(whole.get(..n).unwrap(), b"Jello World");
                f.truncate(4)?;
                f.write_all(b"y")?;
                f.set_mode(0o604)
            }),
        );
        tell("link", fs.hard_link(&at("d/f"), &at("d/g")));
        tell("link over a name", fs.hard_link(&at("d/f"), &at("d/g")));
        tell("link a directory", fs.hard_link(&at("d"), &at("e")));
        tell("rename without replacing", fs.rename_new(&at("d/g"), &at("g")));
        tell("the same over a name", fs.rename_new(&at("g"), &at("d/f")));
        tell("the same over a dangling link", fs.rename_new(&at("g"), &at("link")));
        tell("rename over the same object", fs.rename(&at("g"), &at("d/f")));
        tell("rename a directory over a file", fs.rename(&at("d"), &at("g")));
        tell("rename a file over a directory", fs.rename(&at("g"), &at("d")));
        tell("unlink a directory", fs.unlink(&at("d")));
        tell("unlink a name of two", fs.unlink(&at("g")));
        tell("unlink it again", fs.unlink(&at("g")));
        tell("unlink behind a link", fs.unlink(&at("dir-link/x")));
        tell("remove a full directory", fs.remove_dir(&at("d")));
        tell("remove a file as directory", fs.remove_dir(&at("d/f")));
        tell("chmod", fs.set_mode(&at("d"), 0o700));
        tell("chmod a link", fs.set_mode(&at("dir-link"), 0o700));
        tell("sync a directory", fs.sync_dir(&at("d")));
        tell("sync a file as directory", fs.sync_dir(&at("d/f")));
        tell("the root has no name", fs.unlink(Path::new("/")));
        for path in ["d", "d/f", "g"] {
            let answer = fs.lstat(&at(path)).map_or_else(
                |e| e.token().to_owned(),
                |m| format!("{} {:o} {} links, {}", m.kind.noun(), m.mode, m.nlink, m.size).replace("0 links", "2 links"),
            );
            log.push(format!("{path}: {answer}"));
        }
        log
    }

    /// A directory's size and links are the file system's own affair.
    fn comparable(log: Vec<String>) -> Vec<String> {
        log.into_iter().map(|line| if line.starts_with("d: directory") { line.chars().take(16).collect() } else { line }).collect()
    }

    #[test]
    fn the_real_file_system_and_the_one_in_memory_answer_alike() {
        let folder = tempfile::tempdir().unwrap();
        let root = Real.realpath(folder.path()).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
        std::os::unix::fs::symlink("d", root.join("dir-link")).unwrap();
        let memory = Memory::new();
        memory.symlink(root.join("link"), "nowhere");
        memory.symlink(root.join("dir-link"), "d");
        let real = comparable(script(&Real, &root));
        assert_eq!(real, comparable(script(&memory, &root)));
        assert!(real.iter().filter(|line| line.ends_with(": fine")).count() == 9, "{real:#?}");
        assert_eq!(memory.lstat(&root.join("d")).unwrap().kind, Kind::Directory);
    }

    /// Rooms that judge take `&dyn Fs`; none of them names the writing trait.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test reads the sources of this crate")]
    fn no_room_that_judges_names_the_writing_side() {
        let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = 0;
        for room in ["json", "finding", "transcript", "agent", "gc", "check", "report", "render"] {
            for entry in walkdir::WalkDir::new(source.join(room)).into_iter().flatten().filter(|e| e.file_type().is_file()) {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                files += 1;
                let names =
                    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "WriteFile" || word == "Change");
                let fsys = text.contains("fsys::Change") || text.contains("dyn Change") || text.contains("WriteFile");
                assert!(!(names && fsys), "{} names the writing side", entry.path().display());
            }
        }
        assert!(files > 100, "the rooms are where they are looked for");
    }
}
