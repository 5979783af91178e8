//! A storage for tests: each operation is first told to a hook, which lets it go on, fails it, or has a tree detached only.

use super::{Begin, Removal, Result, SessionStorage, Snapshot, Stat, StorageError, TreeNode, Writer};
use crate::agent::identity::{Identity, NoIdentity};

/// An operation that is about to happen.
pub(crate) struct Asked<'a> {
    /// Name of the method.
    pub operation: &'static str,
    pub path: &'a str,
    /// The other path of a rename.
    pub next: Option<&'a str>,
}

/// What a hook says.
pub(crate) enum Answer {
    GoOn,
    Fail(StorageError),
    /// A tree that was to be removed stands under another name and is not gone yet.
    Detach,
}

impl Answer {
    /// The operation fails with this errno or token.
    pub(crate) fn token(token: &'static str) -> Self {
        Answer::Fail(StorageError::token(token))
    }
}

/// Another storage with a hook before it.
pub(crate) struct Hooked<'s> {
    inner: &'s dyn SessionStorage,
    hook: Box<dyn Fn(&Asked<'_>) -> Answer + 's>,
}

impl<'s> Hooked<'s> {
    pub(crate) fn new(inner: &'s dyn SessionStorage, hook: impl Fn(&Asked<'_>) -> Answer + 's) -> Self {
        Hooked { inner, hook: Box::new(hook) }
    }
    fn ask(&self, operation: &'static str, path: &str, next: Option<&str>) -> Result<()> {
        match (self.hook)(&Asked { operation, path, next }) {
            Answer::Fail(error) => Err(error),
            Answer::GoOn | Answer::Detach => Ok(()),
        }
    }
    fn before(&self, operation: &'static str, path: &str) -> Result<&'s dyn SessionStorage> {
        self.ask(operation, path, None).map(|()| self.inner)
    }
}

impl SessionStorage for Hooked<'_> {
    fn ensure_dir(&self, directory: &str) -> Result<()> {
        self.before("ensure_dir", directory)?.ensure_dir(directory)
    }
    fn exists(&self, path: &str) -> Result<bool> {
        self.before("exists", path)?.exists(path)
    }
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.before("write", path)?.write(path, bytes)
    }
    fn read_snapshot(&self, path: &str) -> Result<Snapshot> {
        self.before("read_snapshot", path)?.read_snapshot(path)
    }
    fn read_range(&self, path: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        self.before("read_range", path)?.read_range(path, start, length)
    }
    fn stat(&self, path: &str) -> Result<Stat> {
        self.before("stat", path)?.stat(path)
    }
    fn list_files_strict(&self, directory: &str, pattern: &str) -> Result<Vec<String>> {
        self.before("list_files_strict", directory)?.list_files_strict(directory, pattern)
    }
    fn rename(&self, path: &str, next: &str) -> Result<()> {
        self.ask("rename", path, Some(next))?;
        self.inner.rename(path, next)
    }
    fn rename_no_replace(&self, path: &str, next: &str) -> Result<()> {
        self.ask("rename_no_replace", path, Some(next))?;
        self.inner.rename_no_replace(path, next)
    }
    fn unlink(&self, path: &str) -> Result<()> {
        self.before("unlink", path)?.unlink(path)
    }
    fn publish(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.before("publish", path)?.publish(path, bytes)
    }
    fn replace_exact(&self, path: &str, expected: &[u8], bytes: &[u8]) -> Result<bool> {
        self.before("replace_exact", path)?.replace_exact(path, expected, bytes)
    }
    fn tree(&self, directory: &str) -> Result<Option<Vec<TreeNode>>> {
        self.before("tree", directory)?.tree(directory)
    }
    fn remove_tree(&self, directory: &str) -> Result<Removal> {
        match (self.hook)(&Asked { operation: "remove_tree", path: directory, next: None }) {
            Answer::Fail(error) => Err(error),
            Answer::GoOn => self.inner.remove_tree(directory),
            Answer::Detach => {
                self.inner.rename_no_replace(directory, &format!("{directory}.removing"))?;
                Ok(Removal::Pending)
            }
        }
    }
    fn open_writer(&self, path: &str, begin: Begin) -> Result<Writer<'_>> {
        self.before("open_writer", path)?.open_writer(path, begin)
    }
    fn workspace(&self, cwd: &str) -> std::result::Result<Identity, NoIdentity> {
        self.inner.workspace(cwd)
    }
    fn sync_directory(&self, directory: &str) -> Result<()> {
        self.before("sync_directory", directory)?.sync_directory(directory)
    }
    fn staged_limit(&self) -> Option<u64> {
        self.inner.staged_limit()
    }
}
