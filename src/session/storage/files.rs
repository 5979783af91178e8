//! Files of a file system (spec 04 §7.1, §7.2). No symbolic link is followed on the way to a file that is written.

use super::writer::{CloseFault, Sink};
use super::{Begin, Removal, Result, SessionStorage, Snapshot, Stat, StorageError, TreeNode, Writer, check_range, fits, join, split};
use crate::agent::artifacts::{self, Fault};
use crate::agent::identity::{self, Identity, NoIdentity};
use crate::fsys::{Change, Errno, Fs, Kind, Meta, WriteFile};
use std::cell::Cell;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Mode of files: their owner's only.
const FILE_MODE: u32 = 0o600;
/// Mode of files that are written in place: what the process's mask leaves of it.
const PLAIN_MODE: u32 = 0o666;
/// Mode of directories.
const DIRECTORY_MODE: u32 = 0o700;

/// The files below a file system.
pub struct Files<'f> {
    fs: &'f dyn Change,
    /// Number of the next temporary name.
    next: Cell<u64>,
}

impl<'f> Files<'f> {
    /// Over a file system.
    pub fn new(fs: &'f dyn Change) -> Self {
        Files { fs, next: Cell::new(0) }
    }

    /// Refuses a link at any component of a path; what is not there yet is no link.
    fn refuse_links(&self, path: &Path) -> Result<()> {
        let mut here = PathBuf::new();
        for component in path.components() {
            here.push(component);
            if !matches!(component, Component::Normal(_)) {
                continue;
            }
            match self.fs.lstat(&here) {
                Ok(meta) if meta.kind == Kind::Symlink => return Err(unsafe_path(&here)),
                Ok(_) => {}
                Err(error) if error.errno == Errno::NOENT => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn make_dirs(&self, directory: &Path) -> Result<()> {
        let mut here = PathBuf::new();
        for component in directory.components() {
            here.push(component);
            if matches!(component, Component::Normal(_)) {
                match self.fs.make_dir(&here, DIRECTORY_MODE) {
                    Err(error) if error.errno != Errno::EXIST => return Err(error.into()),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Makes the directory of a file that is written; no link leads there, and none stands there.
    fn make_place(&self, path: &Path) -> Result<()> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        self.refuse_links(directory)?;
        self.make_dirs(directory)?;
        self.refuse_links(path)
    }

    /// A new file beside `path` under a name that nothing has.
    fn temporary(&self, path: &str, suffix: &str) -> Result<(PathBuf, Box<dyn WriteFile + 'f>)> {
        let (directory, name) = split(path);
        self.make_dirs(Path::new(directory))?;
        loop {
            let number = self.next.get();
            self.next.set(number + 1);
            let temporary = PathBuf::from(join(directory, &format!(".{name}.{number:016x}.{suffix}")));
            match self.fs.create(&temporary, FILE_MODE) {
                Ok(file) => return Ok((temporary, file)),
                Err(error) if error.errno == Errno::EXIST => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A complete and durable file under a temporary name, then `name` gives it its own. What fails leaves no residue.
    fn put(&self, path: &str, suffix: &str, bytes: &[u8], name: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let (temporary, mut file) = self.temporary(path, suffix)?;
        let written = file.write_all(bytes).and_then(|()| file.sync());
        let closed = file.close();
        let named = written.and(closed).map_err(StorageError::from).and_then(|()| name(&temporary));
        if named.is_err() {
            // A temporary file that stays is residue, not another error.
            let _ = self.fs.unlink(&temporary);
        }
        named
    }
}

fn unsafe_path(path: &Path) -> StorageError {
    StorageError { code: Some("ELOOP"), message: format!("Unsafe reparse storage path: {}", path.display()) }
}

const fn stat_of(meta: &Meta) -> Stat {
    Stat {
        dev: meta.dev,
        ino: meta.ino,
        nlink: meta.nlink,
        size: meta.size,
        mtime_ns: meta.mtime_ns,
        ctime_ns: meta.ctime_ns,
        is_file: matches!(meta.kind, Kind::File),
    }
}

fn not_regular(path: &str) -> StorageError {
    StorageError::plain(format!("Not a regular file: {path}"))
}

fn conflict(error: crate::fsys::Error) -> StorageError {
    match error.errno {
        Errno::EXIST => StorageError::token("destination_conflict"),
        Errno::NOSYS | Errno::INVAL => StorageError::token("atomic_unavailable"),
        _ => error.into(),
    }
}

impl SessionStorage for Files<'_> {
    fn ensure_dir(&self, directory: &str) -> Result<()> {
        self.refuse_links(Path::new(directory))?;
        self.make_dirs(Path::new(directory))
    }
    fn exists(&self, path: &str) -> Result<bool> {
        match self.fs.stat(Path::new(path)) {
            Ok(_) => Ok(true),
            Err(error) if error.errno == Errno::NOENT || error.errno == Errno::NOTDIR => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let file_path = Path::new(path);
        self.make_place(file_path)?;
        let mut file = match self.fs.create(file_path, PLAIN_MODE) {
            Err(error) if error.errno == Errno::EXIST => self.fs.reopen(file_path)?,
            made => made?,
        };
        if file.stat()?.kind != Kind::File {
            return Err(not_regular(path));
        }
        let written = file.truncate(0).and_then(|()| file.write_all(bytes));
        // The error of writing comes first.
        let closed = file.close();
        Ok(written.and(closed)?)
    }
    fn read_snapshot(&self, path: &str) -> Result<Snapshot> {
        let mut file = self.fs.open(Path::new(path))?;
        let stat = stat_of(&file.stat()?);
        if !stat.is_file {
            return Err(not_regular(path));
        }
        let mut bytes = Vec::new();
        let read = file.read_to_end(&mut bytes);
        // The error of reading matters more than that of closing.
        let closed = file.close();
        read.map_err(|error| StorageError::plain(error.to_string()))?;
        closed?;
        Ok(Snapshot { bytes, stat })
    }
    fn read_range(&self, path: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        check_range(length)?;
        let path = Path::new(path);
        let file = self.fs.open(path)?;
        let before = file.stat()?;
        if before.kind != Kind::File || before.nlink > 1 {
            return Err(StorageError::token("source_changed"));
        }
        if start.checked_add(length).is_none_or(|end| end > before.size) {
            return Err(StorageError::token("range_not_present"));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, start + filled as u64) {
                Ok(0) => return Err(StorageError::token("source_changed")),
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StorageError::plain(error.to_string())),
            }
        }
        let same = file.stat()?.object() == before.object() && self.fs.lstat(path)?.object() == before.object();
        file.close()?;
        if same { Ok(bytes) } else { Err(StorageError::token("source_changed")) }
    }
    fn stat(&self, path: &str) -> Result<Stat> {
        Ok(stat_of(&self.fs.stat(Path::new(path))?))
    }
    fn list_files_strict(&self, directory: &str, pattern: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in self.fs.list(Path::new(directory))? {
            // A glob that begins with a star finds no hidden names; names that are no text are none of gjc's.
            let Some(name) = entry.name.to_str().filter(|name| fits(name, pattern) && !(pattern.starts_with('*') && name.starts_with('.')))
            else {
                continue;
            };
            let path = join(directory, name);
            if self.fs.lstat(Path::new(&path))?.kind == Kind::File {
                found.push(path);
            }
        }
        Ok(found)
    }
    fn rename(&self, path: &str, next: &str) -> Result<()> {
        Ok(self.fs.rename(Path::new(path), Path::new(next))?)
    }
    fn rename_no_replace(&self, path: &str, next: &str) -> Result<()> {
        self.make_dirs(Path::new(split(next).0))?;
        self.fs.rename_new(Path::new(path), Path::new(next)).map_err(conflict)
    }
    fn unlink(&self, path: &str) -> Result<()> {
        Ok(self.fs.unlink(Path::new(path))?)
    }
    fn publish(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.refuse_links(Path::new(split(path).0))?;
        self.put(path, "staging", bytes, |temporary| self.fs.rename_new(temporary, Path::new(path)).map_err(conflict))?;
        Ok(self.fs.sync_dir(Path::new(split(path).0))?)
    }
    fn replace_exact(&self, path: &str, expected: &[u8], bytes: &[u8]) -> Result<bool> {
        if self.read(path)? != expected {
            return Ok(false);
        }
        self.put(path, "replacement", bytes, |temporary| Ok(self.fs.rename(temporary, Path::new(path))?))?;
        Ok(true)
    }
    fn tree(&self, directory: &str) -> Result<Option<Vec<TreeNode>>> {
        let fs: &dyn Fs = self.fs;
        let survey = artifacts::survey(fs, Path::new(directory)).map_err(|fault| match fault {
            Fault::Unsafe { .. } => StorageError::token("unsafe_artifacts"),
            Fault::Capacity { .. } => StorageError::token("capacity_exceeded"),
            Fault::Unsupported(message) => StorageError::plain(message),
        })?;
        let node = |item: artifacts::Item| TreeNode {
            is_directory: item.meta.kind == Kind::Directory,
            size: if item.meta.kind == Kind::Directory { 0 } else { item.meta.size },
            relative: item.relative,
        };
        Ok(survey.map(|survey| {
            let mut nodes: Vec<TreeNode> = survey.items.into_iter().filter(|item| !item.relative.is_empty()).map(node).collect();
            nodes.sort_by(|a, b| a.relative.cmp(&b.relative));
            nodes
        }))
    }
    fn remove_tree(&self, directory: &str) -> Result<Removal> {
        let root = PathBuf::from(directory);
        if !self.fs.present(&root)? {
            return Ok(Removal::Removed);
        }
        // Directories are removed behind what they hold, so in the reverse of the order in which they are found.
        let (mut pending, mut found) = (vec![root], Vec::new());
        while let Some(directory) = pending.pop() {
            for entry in self.fs.list(&directory)? {
                let path = directory.join(&entry.name);
                match self.fs.lstat(&path)?.kind {
                    Kind::Directory => pending.push(path),
                    _ => self.fs.unlink(&path)?,
                }
            }
            found.push(directory);
        }
        for directory in found.into_iter().rev() {
            self.fs.remove_dir(&directory)?;
        }
        Ok(Removal::Removed)
    }
    fn workspace(&self, cwd: &str) -> std::result::Result<Identity, NoIdentity> {
        identity::posix(self.fs, Path::new("/"), Path::new(cwd))
    }
    fn sync_directory(&self, directory: &str) -> Result<()> {
        Ok(self.fs.sync_dir(Path::new(directory))?)
    }
    fn open_writer(&self, path: &str, begin: Begin) -> Result<Writer<'_>> {
        let file_path = Path::new(path);
        self.make_place(file_path)?;
        let mut file = match self.fs.create(file_path, FILE_MODE) {
            Err(error) if error.errno == Errno::EXIST => match begin {
                Begin::Append => self.fs.append(file_path)?,
                Begin::Truncate => self.fs.reopen(file_path)?,
            },
            made => made?,
        };
        let meta = file.stat()?;
        if meta.kind != Kind::File {
            return Err(not_regular(path));
        }
        if meta.permissions() != FILE_MODE {
            file.set_mode(FILE_MODE)?;
        }
        // Only what passed is cut.
        if begin == Begin::Truncate && meta.size > 0 {
            file.truncate(0)?;
        }
        Ok(Writer::new(Appender { file: Some(file), owner: meta.uid, path: path.to_owned() }))
    }
}

/// A writer's end of a file.
struct Appender<'a> {
    /// None when it was closed.
    file: Option<Box<dyn WriteFile + 'a>>,
    owner: u32,
    path: String,
}

impl Appender<'_> {
    /// The file is still its owner's only.
    fn verify(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let meta = file.stat()?;
        let wrong = match () {
            () if meta.uid != self.owner => "owner_mismatch",
            () if meta.permissions() != FILE_MODE => "mode_mismatch",
            () => return Ok(()),
        };
        Err(StorageError { code: Some(wrong), message: format!("Owner-only security rejected {}: {wrong}", self.path) })
    }
}

impl Sink for Appender<'_> {
    fn write(&mut self, line: &[u8]) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| Ok(file.write_all(line)?))
    }
    fn sync(&mut self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.sync())?;
        self.verify()
    }
    fn close(&mut self) -> std::result::Result<(), CloseFault> {
        self.verify().map_err(CloseFault::Undispatched)?;
        self.file.take().map_or(Ok(()), |file| file.close()).map_err(|error| CloseFault::Dispatched(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::CloseState;
    use super::*;
    use crate::fsys::{Call, Inject, Memory, Phase, Real};

    fn storage(fs: &Memory) -> Files<'_> {
        fs.directory("/s");
        Files::new(fs)
    }
    fn names(fs: &Memory, directory: &str) -> Vec<String> {
        fs.list(Path::new(directory)).unwrap().iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
    }
    fn text(fs: &Memory, path: &str) -> String {
        String::from_utf8(fs.content(path).unwrap()).unwrap()
    }

    /// 04 §7.2
    #[test]
    fn a_writer_makes_the_file_and_its_folders_for_their_owner_only() {
        let fs = Memory::new();
        let storage = storage(&fs);
        let mut writer = storage.open_writer("/s/a/b/x.jsonl", Begin::Append).unwrap();
        writer.write_line(b"1\n").unwrap();
        writer.fsync().unwrap();
        writer.close().unwrap();
        assert_eq!(writer.state(), CloseState::Closed);
        assert_eq!(text(&fs, "/s/a/b/x.jsonl"), "1\n");
        assert_eq!(fs.lstat(Path::new("/s/a/b/x.jsonl")).unwrap().permissions(), 0o600);
        assert_eq!(fs.lstat(Path::new("/s/a/b")).unwrap().permissions(), 0o700);
        storage.open_writer("/s/a/b/x.jsonl", Begin::Append).unwrap().write_line(b"2\n").unwrap();
        assert_eq!(text(&fs, "/s/a/b/x.jsonl"), "1\n2\n");
    }

    /// 04 §7.1
    #[test]
    fn a_link_on_the_way_is_unsafe() {
        let fs = Memory::new();
        let storage = storage(&fs);
        fs.directory("/real");
        fs.file("/real/x.jsonl", b"precious\n");
        fs.symlink("/s/link", "/real");
        fs.symlink("/s/x.jsonl", "/real/x.jsonl");
        for path in ["/s/link/x.jsonl", "/s/link/new/x.jsonl", "/s/x.jsonl"] {
            let error = storage.open_writer(path, Begin::Truncate).err().unwrap();
            assert!(error.to_string().starts_with("Unsafe reparse storage path: /s/"), "{path}: {error}");
        }
        assert_eq!((text(&fs, "/real/x.jsonl").as_str(), names(&fs, "/real")), ("precious\n", vec!["x.jsonl".to_owned()]));
    }

    /// 04 §7.2
    #[test]
    fn a_file_that_others_may_read_is_closed_to_them_and_one_that_becomes_so_is_refused() {
        let fs = Memory::new();
        let storage = storage(&fs);
        fs.file("/s/x", b"");
        fs.chmod("/s/x", 0o644);
        let mut writer = storage.open_writer("/s/x", Begin::Append).unwrap();
        assert_eq!(fs.lstat(Path::new("/s/x")).unwrap().permissions(), 0o600);
        fs.chmod("/s/x", 0o640);
        writer.write_line(b"1\n").unwrap();
        assert_eq!(writer.close().unwrap_err().to_string(), "Owner-only security rejected /s/x: mode_mismatch");
        assert_eq!(writer.state(), CloseState::CloseFailedRetryable);
        fs.chmod("/s/x", 0o600);
        assert_eq!(writer.close(), Ok(()));
        fs.chmod("/s/x", 0o640);
        // Truncation only happens behind the check, which here mends first.
        storage.open_writer("/s/x", Begin::Truncate).unwrap();
        assert_eq!(text(&fs, "/s/x"), "");
    }

    #[test]
    fn what_is_no_regular_file_is_not_read_as_one() {
        let fs = Memory::new();
        let storage = storage(&fs);
        assert!(storage.read("/s/none").unwrap_err().is("ENOENT"));
        assert!(storage.read("/s").is_err());
        fs.file("/s/x", b"abcd");
        fs.symlink("/s/link", "/s/x");
        assert!(storage.read("/s/link").unwrap_err().is("ELOOP"));
        assert_eq!((storage.exists("/s/link"), storage.exists("/s/none"), storage.exists("/s/x/y")), (Ok(true), Ok(false), Ok(false)));
    }

    /// 04 §7.1
    #[test]
    fn ranges_are_those_of_a_file_with_one_link_that_does_not_change() {
        let fs = Memory::new();
        let storage = storage(&fs);
        fs.file("/s/x", b"abcd");
        assert_eq!(storage.read_range("/s/x", 1, 2), Ok(b"bc".to_vec()));
        assert!(storage.read_range("/s/x", 3, 2).unwrap_err().is("range_not_present"));
        assert!(storage.read_range("/s/x", u64::MAX, 2).unwrap_err().is("range_not_present"));
        let replaced = Inject::changing(&fs, |call: &Call<'_>| {
            if call.op == "read" && call.phase == Phase::After {
                fs.remove("/s/x");
                fs.file("/s/x", b"efgh");
            }
            None
        });
        assert!(Files::new(&replaced).read_range("/s/x", 1, 2).unwrap_err().is("source_changed"));
        fs.hard_link("/s/x", "/s/y");
        assert!(storage.read_range("/s/x", 1, 2).unwrap_err().is("source_changed"));
    }

    #[test]
    fn hidden_names_and_links_are_not_listed() {
        let fs = Memory::new();
        let storage = storage(&fs);
        for name in ["b.jsonl", "a.jsonl", ".hidden.jsonl", "c.txt"] {
            fs.file(format!("/s/{name}"), b"");
        }
        fs.symlink("/s/link.jsonl", "a.jsonl");
        fs.directory("/s/folder.jsonl");
        assert_eq!(storage.list_files("/s", "*.jsonl"), ["/s/a.jsonl", "/s/b.jsonl"]);
        assert_eq!(storage.list_files("/s", ".*"), ["/s/.hidden.jsonl"]);
        assert!(storage.list_files_strict("/none", "*").is_err());
        assert_eq!(storage.list_files("/none", "*"), Vec::<String>::new());
    }

    /// 04 §6.4
    #[test]
    fn publishing_never_replaces_and_leaves_no_residue() {
        let fs = Memory::new();
        let storage = storage(&fs);
        storage.publish("/s/d/x", b"1").unwrap();
        assert!(storage.publish("/s/d/x", b"2").unwrap_err().is("destination_conflict"));
        assert_eq!((text(&fs, "/s/d/x").as_str(), names(&fs, "/s/d")), ("1", vec!["x".to_owned()]));
        assert_eq!((storage.replace_exact("/s/d/x", b"2", b"3"), storage.replace_exact("/s/d/x", b"1", b"3")), (Ok(false), Ok(true)));
        assert_eq!((text(&fs, "/s/d/x").as_str(), names(&fs, "/s/d")), ("3", vec!["x".to_owned()]));
    }

    #[test]
    fn a_tree_is_listed_moved_and_removed_without_following_a_link() {
        let fs = Memory::new();
        let storage = storage(&fs);
        fs.file("/s/t/a/b", b"12");
        fs.file("/s/t/c", b"3");
        let tree = storage.tree("/s/t").unwrap().unwrap();
        assert_eq!(tree.iter().map(|node| (node.relative.as_str(), node.size)).collect::<Vec<_>>(), [("a", 0), ("a/b", 2), ("c", 1)]);
        assert_eq!(storage.tree("/s/none"), Ok(None));
        storage.rename_no_replace("/s/t", "/s/u").unwrap();
        fs.file("/keep", b"");
        fs.symlink("/s/u/link", "/keep");
        assert!(storage.tree("/s/u").unwrap_err().is("unsafe_artifacts"));
        assert_eq!(storage.remove_tree("/s/u"), Ok(Removal::Removed));
        assert_eq!(storage.remove_tree("/s/u"), Ok(Removal::Removed));
        assert_eq!((names(&fs, "/s"), text(&fs, "/keep").as_str()), (Vec::new(), ""));
    }

    /// 04 §7.4
    #[test]
    fn a_rewrite_that_fails_anywhere_leaves_the_old_file() {
        let old = || {
            let fs = Memory::new();
            fs.file("/s/x.jsonl", b"old\n");
            fs
        };
        let count = {
            let fs = old();
            let counting = Inject::changing(&fs, |_: &Call<'_>| None);
            super::super::rewrite(&Files::new(&counting), "/s/x.jsonl", b"new\n", &mut Default::default()).unwrap();
            assert_eq!((text(&fs, "/s/x.jsonl").as_str(), names(&fs, "/s")), ("new\n", vec!["x.jsonl".to_owned()]));
            counting.operations()
        };
        for number in 0..count {
            let fs = old();
            let failing =
                Inject::changing(&fs, move |call: &Call<'_>| (call.number == number && call.phase == Phase::Before).then_some(Errno::IO));
            let outcome = super::super::rewrite(&Files::new(&failing), "/s/x.jsonl", b"new\n", &mut Default::default());
            let want = if outcome.is_ok() { "new\n" } else { "old\n" };
            assert_eq!(text(&fs, "/s/x.jsonl"), want, "operation {number}");
        }
    }

    #[test]
    fn a_real_folder_does_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let root = Real.realpath(folder.path()).unwrap().to_string_lossy().into_owned();
        let storage = Files::new(&Real);
        let path = format!("{root}/d/x.jsonl");
        storage.open_writer(&path, Begin::Append).unwrap().write_line(b"1\n").unwrap();
        super::super::rewrite(&storage, &path, b"2\n", &mut Default::default()).unwrap();
        assert_eq!(storage.read(&path), Ok(b"2\n".to_vec()));
        assert!(storage.publish(&path, b"3").unwrap_err().is("destination_conflict"));
        storage.delete_session_with_artifacts(&path).unwrap();
        assert_eq!(storage.list_files(&format!("{root}/d"), "*"), Vec::<String>::new());
    }
}
