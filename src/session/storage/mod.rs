//! Where a session manager keeps its files: the operations of gjc's `SessionStorage`, their contracts and the order of
//! their errors (spec 04 §7).
//!
//! Two implementations: [`Memory`], a map of paths, and [`Files`], a file system of [`crate::fsys`]. Both are called through
//! a shared reference; both give out one kind of [`Writer`], whose states and latched errors exist once.

pub mod blobs;
pub mod delete;
#[cfg(test)]
pub(crate) mod double;
mod files;
pub mod lock;
pub mod marker;
mod memory;
pub mod rewrite;
pub mod staged;
mod writer;

pub use blobs::Blobs;
pub use files::Files;
pub use memory::Memory;
pub use rewrite::{Snowflakes, rewrite};
pub use writer::{Buffered, CloseFault, CloseState, Sink, Writer};

use crate::agent::identity::{Identity, NoIdentity};
use crate::fsys;

/// Most bytes that one [`SessionStorage::read_range`] gives out.
pub const LONGEST_RANGE: u64 = 64 << 20;

/// An operation that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct StorageError {
    /// The errno (`ENOENT`) or gjc's token (`source_changed`), where there is one.
    pub code: Option<&'static str>,
    /// The message.
    pub message: String,
}

impl StorageError {
    /// An error that has only its message.
    pub fn plain(message: impl Into<String>) -> Self {
        StorageError { code: None, message: message.into() }
    }
    /// An error whose message is its token.
    pub fn token(token: &'static str) -> Self {
        StorageError { code: Some(token), message: token.to_owned() }
    }
    /// Whether it carries this errno or token.
    pub fn is(&self, code: &str) -> bool {
        self.code == Some(code)
    }
}

impl From<fsys::Error> for StorageError {
    fn from(error: fsys::Error) -> Self {
        StorageError { code: Some(error.token()), message: error.to_string() }
    }
}

/// Answer of an operation of this room.
pub type Result<T> = std::result::Result<T, StorageError>;

/// Facts of one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Device number; 0 in memory.
    pub dev: u64,
    /// Inode number; in memory the number of the file in order of creation.
    pub ino: u64,
    /// Link count.
    pub nlink: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds since the epoch; whole milliseconds in memory.
    pub mtime_ns: i128,
    /// Change time in nanoseconds since the epoch.
    pub ctime_ns: i128,
    /// A regular file.
    pub is_file: bool,
}

/// A file and its facts, both of one open object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The facts.
    pub stat: Stat,
}

/// How a writer begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// Behind what is there.
    Append,
    /// With an empty file.
    Truncate,
}

/// One object of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeNode {
    /// Its path below the root, `/`-separated.
    pub relative: String,
    /// A directory; else a regular file.
    pub is_directory: bool,
    /// Its size, 0 of a directory.
    pub size: u64,
}

/// What became of a directory tree that was to be removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removal {
    /// Nothing of it is left.
    Removed,
    /// It is detached under another name and not gone yet.
    Pending,
}

/// The operations. Paths are absolute, `/`-separated texts.
pub trait SessionStorage {
    /// Makes a directory and those above it. Nothing in memory.
    ///
    /// # Errors
    /// The system's.
    fn ensure_dir(&self, directory: &str) -> Result<()>;
    /// Whether something stands there. Absence is no error.
    ///
    /// # Errors
    /// Any reason but absence.
    fn exists(&self, path: &str) -> Result<bool>;
    /// Writes a whole file in place, not atomically, with the mode that the process gives new files; makes its directory.
    ///
    /// # Errors
    /// `Unsafe reparse storage path: <path>` for a link on the way; the system's.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()>;
    /// A whole regular file and its facts; no link is followed.
    ///
    /// # Errors
    /// There is none (in memory: `File not found: <path>`), it is no regular file, the system's.
    fn read_snapshot(&self, path: &str) -> Result<Snapshot>;
    /// `length` bytes from `start` on, of a regular file with one link that does not change meanwhile.
    ///
    /// # Errors
    /// More than [`LONGEST_RANGE`] is a RangeError; `range_not_present` beyond the end; `source_changed`; the system's.
    fn read_range(&self, path: &str, start: u64, length: u64) -> Result<Vec<u8>>;
    /// The facts of a file; links are followed.
    ///
    /// # Errors
    /// There is none; the system's.
    fn stat(&self, path: &str) -> Result<Stat>;
    /// The files directly in a directory whose names fit a pattern (`*`, `.*`, `*.ext`, or a name), as paths in order.
    ///
    /// # Errors
    /// The directory cannot be read. [`SessionStorage::list_files`] hides this.
    fn list_files_strict(&self, directory: &str, pattern: &str) -> Result<Vec<String>>;
    /// The same, and nothing where the directory cannot be read.
    fn list_files(&self, directory: &str, pattern: &str) -> Vec<String> {
        self.list_files_strict(directory, pattern).unwrap_or_default()
    }
    /// Gives a file another name; what stands there is replaced.
    ///
    /// # Errors
    /// There is no such file; the system's.
    fn rename(&self, path: &str, next: &str) -> Result<()>;
    /// Gives a file or a tree another name where nothing stands.
    ///
    /// # Errors
    /// `destination_conflict`; there is no such file; the system's.
    fn rename_no_replace(&self, path: &str, next: &str) -> Result<()>;
    /// Takes a file away. In memory one that does not exist is silently gone.
    ///
    /// # Errors
    /// The system's.
    fn unlink(&self, path: &str) -> Result<()>;
    /// Makes a complete file where nothing stands; it is durable before it has its name.
    ///
    /// # Errors
    /// `destination_conflict`; the system's.
    fn publish(&self, path: &str, bytes: &[u8]) -> Result<()>;
    /// Replaces the content when it is the expected one; answers whether it was.
    ///
    /// # Errors
    /// The system's.
    fn replace_exact(&self, path: &str, expected: &[u8], bytes: &[u8]) -> Result<bool>;
    /// What a directory holds, ordered by path; none where nothing stands.
    ///
    /// # Errors
    /// `unsafe_artifacts` when it, or something in it, is neither a directory nor a regular file; `capacity_exceeded`; the
    /// system's.
    fn tree(&self, directory: &str) -> Result<Option<Vec<TreeNode>>>;
    /// Removes a directory and everything in it; absence is fine.
    ///
    /// # Errors
    /// The system's; then some of it may be gone.
    fn remove_tree(&self, directory: &str) -> Result<Removal>;
    /// Opens a writer; it makes the directory and the file (0600).
    ///
    /// # Errors
    /// `Unsafe reparse storage path: <path>` for a link on the way; the system's.
    fn open_writer(&self, path: &str, begin: Begin) -> Result<Writer<'_>>;

    /// The identity of a workspace. In memory, where there are none, an absolute path is taken at its word.
    ///
    /// # Errors
    /// The native code.
    fn workspace(&self, cwd: &str) -> std::result::Result<Identity, NoIdentity>;
    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// The system's.
    fn sync_directory(&self, _: &str) -> Result<()> {
        Ok(())
    }

    /// Most bytes of a staged transcript; none where there is no limit.
    fn staged_limit(&self) -> Option<u64> {
        None
    }
    /// A whole file.
    ///
    /// # Errors
    /// As [`SessionStorage::read_snapshot`].
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.read_snapshot(path).map(|snapshot| snapshot.bytes)
    }
    /// The first `bytes` bytes as text, a sequence cut at the boundary as U+FFFD.
    ///
    /// # Errors
    /// As [`SessionStorage::read_snapshot`].
    fn read_text_prefix(&self, path: &str, bytes: usize) -> Result<String> {
        let whole = self.read(path)?;
        Ok(String::from_utf8_lossy(&whole[..bytes.min(whole.len())]).into_owned())
    }
    /// Removes a transcript, what was derived from it and its artifacts, in an explicit destination. A missing transcript is
    /// fine.
    ///
    /// # Errors
    /// The transcript cannot be removed; `Session file deleted but failed to remove artifacts directory …`.
    fn delete_session_with_artifacts(&self, transcript: &str) -> Result<()> {
        match self.unlink(transcript) {
            Err(error) if !error.is("ENOENT") => return Err(error),
            _ => {}
        }
        let (directory, name) = split(transcript);
        for derived in self.list_files(directory, "*") {
            if split(&derived).1.strip_prefix(name).is_some_and(|rest| rest.starts_with(".spill.")) {
                self.unlink(&derived)?;
            }
        }
        let artifacts = artifacts_directory(transcript);
        self.remove_tree(artifacts).map(|_| ()).map_err(|error| StorageError {
            code: error.code,
            message: format!("Session file deleted but failed to remove artifacts directory {artifacts}: {error}"),
        })
    }
}

/// Directory and name of a path.
pub fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((directory, name)) => (directory, name),
        None => (".", path),
    }
}

/// A name in a directory.
pub fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// The artifacts directory of a transcript: its path without its last six characters (spec 04 §1.4).
pub fn artifacts_directory(transcript: &str) -> &str {
    transcript.strip_suffix(crate::agent::layout::TRANSCRIPT_SUFFIX).unwrap_or(transcript)
}

/// Whether a name fits a pattern of [`SessionStorage::list_files_strict`].
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.as_bytes() {
        b"*" => true,
        b".*" => name.starts_with('.'),
        [b'*', b'.', ..] => name.ends_with(&pattern[1..]),
        _ => name == pattern,
    }
}

/// Refuses a range that is too long to be read at once.
fn check_range(length: u64) -> Result<()> {
    let fits = length <= LONGEST_RANGE;
    if fits {
        Ok(())
    } else {
        Err(StorageError { code: Some("RangeError"), message: format!("A range holds at most {LONGEST_RANGE} bytes") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_names() {
        for (name, pattern, answer) in [
            ("a.jsonl", "*", true),
            (".a", "*", true),
            (".a", ".*", true),
            ("a", ".*", false),
            ("a.jsonl", "*.jsonl", true),
            ("a.JSONL", "*.jsonl", false),
            ("a.jsonl", "a.jsonl", true),
            ("a.jsonl", "a.json", false),
        ] {
            assert_eq!(fits(name, pattern), answer, "{name} {pattern}");
        }
    }

    #[test]
    fn paths_are_split_and_joined() {
        assert_eq!((split("/a/b"), split("/b"), split("b")), (("/a", "b"), ("/", "b"), (".", "b")));
        assert_eq!((join("/a", "b"), join("/", "b")), ("/a/b".to_owned(), "/b".to_owned()));
        assert_eq!(artifacts_directory("/a/b.jsonl"), "/a/b");
    }
}
