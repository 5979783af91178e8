//! Files in memory: a map from paths to bytes. There are no directories, no owners and no links (spec 04 §7.1).

use super::delete::{DeleteError, Deleted, Target};
use super::writer::{CloseFault, Sink};
use super::{Begin, Removal, Result, SessionStorage, Snapshot, Stat, StorageError, TreeNode, Writer, check_range, fits, split};
use crate::agent::identity::{self, Identity, NoIdentity};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// Most bytes of a staged transcript.
const STAGED_LIMIT: u64 = 20 << 20;

/// The files. Cloning shares them.
#[derive(Clone, Default)]
pub struct Memory {
    shared: Rc<RefCell<Shared>>,
}

#[derive(Default)]
struct Shared {
    files: BTreeMap<String, File>,
    inodes: u64,
    /// Time in milliseconds; every write is one later.
    clock: u64,
}

#[derive(Clone)]
struct File {
    bytes: Vec<u8>,
    ino: u64,
    mtime_ms: u64,
}

impl File {
    fn stat(&self) -> Stat {
        let mtime_ns = i128::from(self.mtime_ms) * 1_000_000;
        Stat { dev: 0, ino: self.ino, nlink: 1, size: self.bytes.len() as u64, mtime_ns, ctime_ns: mtime_ns, is_file: true }
    }
}

impl Shared {
    fn get(&self, path: &str) -> Result<&File> {
        self.files.get(path).ok_or_else(|| StorageError { code: Some("ENOENT"), message: format!("File not found: {path}") })
    }
    /// The file, made empty where there is none, with the time of now.
    fn touch(&mut self, path: &str) -> &mut File {
        self.clock += 1;
        let (clock, inodes) = (self.clock, &mut self.inodes);
        let file = self.files.entry(path.to_owned()).or_insert_with(|| {
            *inodes += 1;
            File { bytes: Vec::new(), ino: *inodes, mtime_ms: clock }
        });
        file.mtime_ms = clock;
        file
    }
}

impl Memory {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every file: path and bytes, ordered by path.
    pub fn all(&self) -> Vec<(String, Vec<u8>)> {
        self.shared.borrow().files.iter().map(|(path, file)| (path.clone(), file.bytes.clone())).collect()
    }

    /// Deletes a transcript, and what was derived from it beside it, after all of its evidence was verified (spec 04 §7.6).
    /// Nothing is changed by a refusal.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn delete_session_verified(&self, target: &Target) -> std::result::Result<Deleted, DeleteError> {
        super::delete::in_memory(target, |path| self.read_snapshot(path).ok())?;
        let derived = format!("{}{}", target.transcript, crate::agent::sidecar::SIBLING);
        self.shared.borrow_mut().files.retain(|path, _| *path != target.transcript && !path.starts_with(&derived));
        Ok(Deleted)
    }
}

impl SessionStorage for Memory {
    fn ensure_dir(&self, _: &str) -> Result<()> {
        Ok(())
    }
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.shared.borrow().files.contains_key(path))
    }
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.shared.borrow_mut().touch(path).bytes = bytes.to_vec();
        Ok(())
    }
    fn read_snapshot(&self, path: &str) -> Result<Snapshot> {
        let shared = self.shared.borrow();
        let file = shared.get(path)?;
        Ok(Snapshot { bytes: file.bytes.clone(), stat: file.stat() })
    }
    fn read_range(&self, path: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        check_range(length)?;
        let shared = self.shared.borrow();
        let bytes = &shared.get(path)?.bytes;
        let range = usize::try_from(start).ok().and_then(|start| bytes.get(start..start.checked_add(length as usize)?));
        range.map(<[u8]>::to_vec).ok_or_else(|| StorageError::token("range_not_present"))
    }
    fn stat(&self, path: &str) -> Result<Stat> {
        self.shared.borrow().get(path).map(File::stat)
    }
    fn list_files_strict(&self, directory: &str, pattern: &str) -> Result<Vec<String>> {
        let shared = self.shared.borrow();
        let inside = shared.files.keys().filter(|path| {
            let (above, name) = split(path);
            above == directory.trim_end_matches('/') && fits(name, pattern)
        });
        Ok(inside.cloned().collect())
    }
    fn rename(&self, path: &str, next: &str) -> Result<()> {
        let mut shared = self.shared.borrow_mut();
        let file = shared.get(path)?.clone();
        shared.files.remove(path);
        shared.files.insert(next.to_owned(), file);
        Ok(())
    }
    fn rename_no_replace(&self, path: &str, next: &str) -> Result<()> {
        let mut shared = self.shared.borrow_mut();
        let below = |root: &str, path: &str| path == root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        if shared.files.keys().any(|taken| below(next, taken)) {
            return Err(StorageError::token("destination_conflict"));
        }
        let moved: Vec<String> = shared.files.keys().filter(|known| below(path, known)).cloned().collect();
        if moved.is_empty() {
            shared.get(path)?;
        }
        for old in moved {
            if let Some(file) = shared.files.remove(&old) {
                shared.files.insert(format!("{next}{}", &old[path.len()..]), file);
            }
        }
        Ok(())
    }
    fn unlink(&self, path: &str) -> Result<()> {
        self.shared.borrow_mut().files.remove(path);
        Ok(())
    }
    fn publish(&self, path: &str, bytes: &[u8]) -> Result<()> {
        if self.exists(path)? {
            return Err(StorageError::token("destination_conflict"));
        }
        self.write(path, bytes)
    }
    fn replace_exact(&self, path: &str, expected: &[u8], bytes: &[u8]) -> Result<bool> {
        let same = self.shared.borrow().files.get(path).is_some_and(|file| file.bytes == expected);
        if same {
            self.write(path, bytes)?;
        }
        Ok(same)
    }
    fn tree(&self, directory: &str) -> Result<Option<Vec<TreeNode>>> {
        let shared = self.shared.borrow();
        let root = format!("{}/", directory.trim_end_matches('/'));
        let files = shared.files.iter().filter_map(|(path, file)| Some((path.strip_prefix(&root)?, file)));
        let mut nodes = BTreeMap::new();
        for (relative, file) in files {
            for (end, _) in relative.match_indices('/') {
                nodes.insert(relative[..end].to_owned(), (true, 0));
            }
            nodes.insert(relative.to_owned(), (false, file.bytes.len() as u64));
        }
        let node = |(relative, (is_directory, size))| TreeNode { relative, is_directory, size };
        Ok((!nodes.is_empty()).then(|| nodes.into_iter().map(node).collect()))
    }
    fn remove_tree(&self, directory: &str) -> Result<Removal> {
        let root = format!("{}/", directory.trim_end_matches('/'));
        self.shared.borrow_mut().files.retain(|path, _| !path.starts_with(&root));
        Ok(Removal::Removed)
    }
    fn workspace(&self, cwd: &str) -> std::result::Result<Identity, NoIdentity> {
        identity::at_its_word(Path::new(cwd)).ok_or(NoIdentity::NotFound)
    }
    fn staged_limit(&self) -> Option<u64> {
        Some(STAGED_LIMIT)
    }
    fn open_writer(&self, path: &str, begin: Begin) -> Result<Writer<'_>> {
        if begin == Begin::Truncate {
            self.write(path, b"")?;
        }
        Ok(Writer::new(Appender { files: self.clone(), path: path.to_owned() }))
    }
}

/// A writer's end of a file.
struct Appender {
    files: Memory,
    path: String,
}

impl Sink for Appender {
    fn write(&mut self, line: &[u8]) -> Result<()> {
        self.files.shared.borrow_mut().touch(&self.path).bytes.extend_from_slice(line);
        Ok(())
    }
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
    fn close(&mut self) -> std::result::Result<(), CloseFault> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &[u8])]) -> Memory {
        let memory = Memory::new();
        for (path, bytes) in files {
            memory.write(path, bytes).unwrap();
        }
        memory
    }

    /// 04 §7.1
    #[test]
    fn a_missing_file_has_its_own_message() {
        let memory = Memory::new();
        assert_eq!(memory.read("/s/x").unwrap_err().to_string(), "File not found: /s/x");
        assert_eq!(memory.rename("/s/x", "/s/y").unwrap_err().to_string(), "File not found: /s/x");
        assert_eq!(memory.unlink("/s/x"), Ok(()));
        assert_eq!(memory.exists("/s/x"), Ok(false));
        assert_eq!(memory.list_files_strict("/s", "*"), Ok(Vec::new()));
    }

    #[test]
    fn facts_are_those_of_a_file_that_was_never_on_a_disk() {
        let memory = with(&[("/s/a", b"1"), ("/s/b", b"22")]);
        let stat = memory.stat("/s/b").unwrap();
        assert_eq!((stat.dev, stat.ino, stat.nlink, stat.size, stat.mtime_ns % 1_000_000), (0, 2, 1, 2, 0));
        memory.write("/s/b", b"333").unwrap();
        let later = memory.stat("/s/b").unwrap();
        assert_eq!((later.ino, later.size), (2, 3));
        assert!(later.mtime_ns > stat.mtime_ns);
    }

    #[test]
    fn a_prefix_cut_inside_a_character_ends_in_a_replacement() {
        assert_eq!(with(&[("/s/a", "aé".as_bytes())]).read_text_prefix("/s/a", 2), Ok("a\u{FFFD}".to_owned()));
    }

    #[test]
    fn files_are_listed_directly_in_the_directory() {
        let memory = with(&[("/s/a.jsonl", b""), ("/s/.b.jsonl", b""), ("/s/c/d.jsonl", b""), ("/sx/e.jsonl", b"")]);
        assert_eq!(memory.list_files("/s", "*.jsonl"), ["/s/.b.jsonl", "/s/a.jsonl"]);
        assert_eq!(memory.list_files("/s/", ".*"), ["/s/.b.jsonl"]);
    }

    #[test]
    fn ranges_lie_inside_the_file() {
        let memory = with(&[("/s/a", b"abcd")]);
        assert_eq!(memory.read_range("/s/a", 1, 2), Ok(b"bc".to_vec()));
        assert!(memory.read_range("/s/a", 3, 2).unwrap_err().is("range_not_present"));
        assert!(memory.read_range("/s/a", u64::MAX, 2).unwrap_err().is("range_not_present"));
        assert!(memory.read_range("/s/a", 0, super::super::LONGEST_RANGE + 1).unwrap_err().is("RangeError"));
    }

    #[test]
    fn nothing_is_published_over_a_file_and_replaced_only_when_it_is_the_expected_one() {
        let memory = with(&[("/s/a", b"1")]);
        assert!(memory.publish("/s/a", b"2").unwrap_err().is("destination_conflict"));
        assert_eq!(memory.replace_exact("/s/a", b"x", b"2"), Ok(false));
        assert_eq!(memory.read("/s/a"), Ok(b"1".to_vec()));
        assert_eq!(memory.replace_exact("/s/a", b"1", b"2"), Ok(true));
        assert_eq!(memory.read("/s/a"), Ok(b"2".to_vec()));
    }

    #[test]
    fn a_tree_is_moved_where_nothing_stands() {
        let memory = with(&[("/s/a/0.x.log", b"1"), ("/s/a/b/c", b"2"), ("/s/ab", b"3"), ("/s/taken/d", b"4")]);
        assert!(memory.rename_no_replace("/s/a", "/s/taken").unwrap_err().is("destination_conflict"));
        assert!(memory.rename_no_replace("/s/none", "/s/new").unwrap_err().is("ENOENT"));
        memory.rename_no_replace("/s/a", "/s/new").unwrap();
        let paths: Vec<String> = memory.all().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["/s/ab", "/s/new/0.x.log", "/s/new/b/c", "/s/taken/d"]);
    }

    /// 04 §7.1
    #[test]
    fn deleting_a_session_takes_what_is_derived_and_its_artifacts() {
        let memory = with(&[("/s/a.jsonl", b""), ("/s/a.jsonl.spill.idx", b""), ("/s/a/0.x.log", b""), ("/s/ab.jsonl", b"")]);
        memory.delete_session_with_artifacts("/s/a.jsonl").unwrap();
        memory.delete_session_with_artifacts("/s/a.jsonl").unwrap();
        assert_eq!(memory.all().len(), 1);
    }

    /// 04 §7.6
    #[test]
    fn a_verified_deletion_takes_what_was_derived_beside_the_transcript() {
        let text = b"{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\"}\n";
        let memory = with(&[("/s/a.jsonl", text), ("/s/a.jsonl.spill.idx", b""), ("/s/ab.jsonl", b""), ("/s/a.jsonlx", b"")]);
        let mut target = Target {
            root: "/s".into(),
            transcript: "/s/a.jsonl".into(),
            session_id: "other".into(),
            cwd: "/w".into(),
            stat: memory.stat("/s/a.jsonl").unwrap(),
            sha256: crate::transcript::blobs::name_of(text),
            retires_owner: false,
        };
        assert!(memory.delete_session_verified(&target).is_err());
        assert_eq!(memory.all().len(), 4);
        target.session_id = "s".into();
        memory.delete_session_verified(&target).unwrap();
        assert_eq!(memory.list_files("/s", "*"), ["/s/a.jsonlx", "/s/ab.jsonl"]);
    }

    #[test]
    fn a_writer_appends_or_begins_anew() {
        let memory = with(&[("/s/a", b"1\n")]);
        memory.open_writer("/s/a", Begin::Append).unwrap().write_line(b"2\n").unwrap();
        assert_eq!(memory.read("/s/a"), Ok(b"1\n2\n".to_vec()));
        memory.open_writer("/s/a", Begin::Truncate).unwrap().write_line(b"3\n").unwrap();
        assert_eq!(memory.read("/s/a"), Ok(b"3\n".to_vec()));
    }
}
