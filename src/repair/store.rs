//! Writing inside one scope: stage, publish without replacing, set aside, and take back what this attempt made.
//!
//! A file is complete and durable under a spare name in the scope's `.gjc-recovery` before it gets its own name by a rename that
//! replaces nothing; then the directory is synced. (gjc falls back to a hard link where the system has no such rename; here that
//! is `atomic_unavailable`, because a crash between the two steps of that fallback makes the file unreadable for gjc.)
//!
//! Taking back is by object, never by name: what was made is known by device, inode, size and time, and is moved into
//! `.gjc-recovery` and looked at again before it is unlinked.

use super::{Refused, failed};
use crate::agent::layout;
use crate::agent::security::{self, Need};
use crate::fsys::{Change, Errno, Error, Kind, Meta, WriteFile};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

/// The scope that is written to.
pub struct Store<'a> {
    fs: &'a dyn Change,
    scope: PathBuf,
    uid: u32,
    pid: u32,
    next: Cell<u64>,
    made: RefCell<Vec<Made>>,
}

/// Something that this attempt made, as it was when it was made.
#[derive(Clone, Debug)]
struct Made {
    path: PathBuf,
    meta: Meta,
}

/// The families of names in `.gjc-recovery` that a repair uses (spec 02 §8.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Written, not yet published.
    Candidate,
    /// Taken out of its place, kept with its content.
    Removed,
}

impl Family {
    const fn word(self) -> &'static str {
        match self {
            Family::Candidate => ".gjc-managed-replace",
            Family::Removed => ".gjc-managed-remove",
        }
    }
}

/// A file that is written and has no name of its own yet.
pub struct Staged<'a> {
    /// Where it lies.
    pub path: PathBuf,
    /// It, still open.
    pub file: Box<dyn WriteFile + 'a>,
}

impl<'a> Store<'a> {
    /// A store for one scope; `uid` is whom its files must belong to.
    pub fn new(fs: &'a dyn Change, scope: &Path, uid: u32, pid: u32) -> Self {
        Store { fs, scope: scope.to_owned(), uid, pid, next: Cell::new(0), made: RefCell::default() }
    }
    /// The file system.
    pub fn fs(&self) -> &'a dyn Change {
        self.fs
    }
    /// The scope's quarantine.
    pub fn recovery(&self) -> PathBuf {
        self.scope.join(layout::RECOVERY)
    }
    /// The next name of a family; it may be taken.
    fn spare(&self, family: Family) -> PathBuf {
        let n = self.next.get();
        self.next.set(n + 1);
        self.recovery().join(format!("{}-{}-{n}", family.word(), self.pid))
    }

    /// Makes a directory that is missing, or accepts a real owner-only one that is there. Its name is durable then.
    ///
    /// # Errors
    /// gjc's token of the policy that what is there violates, or the failing operation.
    pub fn directory(&self, path: &Path) -> Result<(), Refused> {
        match self.fs.make_dir(path, Need::Directory.mode()) {
            Ok(()) => {
                let meta = self.fs.lstat(path).map_err(|e| failed(&e))?;
                self.made.borrow_mut().push(Made { path: path.to_owned(), meta });
            }
            Err(error) if error.errno == Errno::EXIST => {}
            Err(error) => return Err(failed(&error)),
        }
        security::verify(self.fs, path, Need::Directory, self.uid)
            .map_err(|violation| Refused::new("binding_invalid", violation.token()).at(path))?;
        // Also for one that was there: whoever made it may have crashed before this.
        self.sync_parent(path)
    }

    /// Writes a file under a spare name and makes it durable. `write` may fail with a refusal of its own.
    ///
    /// # Errors
    /// The failing operation; nothing is left then, as far as that can be done.
    pub fn stage(&self, write: impl FnOnce(&mut dyn WriteFile) -> Result<(), Refused>) -> Result<Staged<'a>, Refused> {
        let mut attempts = 0_u32;
        let (path, mut file) = loop {
            let path = self.spare(Family::Candidate);
            match self.fs.create(&path, Need::File.mode()) {
                Ok(file) => break (path, file),
                // An earlier process of this number left its own behind.
                Err(error) if error.errno == Errno::EXIST && attempts < SPARE_LIMIT => attempts += 1,
                Err(error) => return Err(failed(&error)),
            }
        };
        let written = write(&mut *file).and_then(|()| file.sync().map_err(|e| failed(&e)));
        match written {
            Ok(()) => Ok(Staged { path, file }),
            Err(first) => {
                let _ = file.close();
                self.discard(&path);
                Err(first)
            }
        }
    }
    /// Takes away a spare name that this store made a moment ago. What cannot be taken away stays: it harms nobody there.
    pub fn discard(&self, staged: &Path) {
        let _ = self.fs.unlink(staged);
    }

    /// Gives a staged file its name, without replacing, and makes the name durable.
    ///
    /// # Errors
    /// [`NotPublished`]; the staged file is gone then, unless it got its name.
    pub fn publish(&self, staged: &Staged<'_>, to: &Path) -> Result<Meta, NotPublished> {
        let fail = |error: &Error| NotPublished::Failed(failed(error));
        // Before it has the name, so that it can be taken back whatever fails after.
        let own = staged.file.stat().map_err(|error| {
            self.discard(&staged.path);
            fail(&error)
        })?;
        let named = self.fs.rename_new(&staged.path, to);
        // A rename that fails may be done all the same (a network file system lost the answer): then it is to be taken back.
        let is_named = named.is_ok() || self.fs.lstat(to).is_ok_and(|there| there.object() == own.object());
        if is_named {
            self.made.borrow_mut().push(Made { path: to.to_owned(), meta: own });
        } else {
            self.discard(&staged.path);
        }
        named.map_err(|error| match error.errno {
            Errno::EXIST if !is_named => NotPublished::Taken,
            Errno::INVAL | Errno::NOSYS => NotPublished::Failed(Refused::new("atomic_unavailable", error.to_string()).at(to)),
            _ => NotPublished::Failed(failed(&error)),
        })?;
        let there = self.fs.lstat(to).map_err(|e| fail(&e))?;
        if there.object() != own.object() {
            return Err(NotPublished::Failed(Refused::new("durability_failed", "another file stands under the new name").at(to)));
        }
        self.sync_parent(to).map_err(NotPublished::Failed)?;
        self.fs.sync_dir(&self.recovery()).map_err(|e| fail(&e))?;
        Ok(there)
    }
    /// Stages and publishes bytes.
    ///
    /// # Errors
    /// [`NotPublished`].
    pub fn publish_bytes(&self, to: &Path, bytes: &[u8]) -> Result<Meta, NotPublished> {
        let staged = self
            .stage(|file| file.write_all(bytes).map_err(|e| failed(&Error { path: to.to_owned(), ..e })))
            .map_err(NotPublished::Failed)?;
        let published = self.publish(&staged, to);
        let closed = staged.file.close();
        published.and_then(|meta| closed.map(|()| meta).map_err(|e| NotPublished::Failed(failed(&e))))
    }

    /// Moves an object out of its place into `.gjc-recovery`, where it keeps its content. Only the object that was looked at:
    /// if another one has the name by now, it gets the name back.
    ///
    /// # Errors
    /// `source_changed` when it is another object, or the failing operation.
    pub fn set_aside(&self, path: &Path, expected: &Meta) -> Result<PathBuf, Refused> {
        let mut attempts = 0_u32;
        let aside = loop {
            let aside = self.spare(Family::Removed);
            match self.fs.rename_new(path, &aside) {
                Ok(()) => break aside,
                Err(error) if error.errno == Errno::EXIST && attempts < SPARE_LIMIT => attempts += 1,
                Err(error) => return Err(failed(&error)),
            }
        };
        let moved = self.fs.lstat(&aside).map_err(|e| failed(&e))?;
        if moved.object() != expected.object() {
            self.give_back(&aside, path)?;
            return Err(Refused::new("source_changed", "another file has this name by now").at(path));
        }
        self.fs.sync_dir(&self.recovery()).map_err(|e| failed(&e))?;
        self.sync_parent(path)?;
        Ok(aside)
    }

    /// Gives an object that was moved out of its place its name back.
    fn give_back(&self, aside: &Path, path: &Path) -> Result<(), Refused> {
        self.fs.rename_new(aside, path).map_err(|error| {
            let why = format!("it was moved out of its place ({}) and cannot be moved back: {}", path.display(), error.token());
            Refused::new("source_changed", why).at(aside)
        })?;
        self.fs.sync_dir(&self.recovery()).map_err(|e| failed(&e))?;
        self.sync_parent(path)
    }

    /// Makes the name of a path durable.
    ///
    /// # Errors
    /// The failing operation.
    pub fn sync_parent(&self, path: &Path) -> Result<(), Refused> {
        self.fs.sync_dir(path.parent().unwrap_or(Path::new("/"))).map_err(|e| failed(&e))
    }

    /// Forgets what was made: it is not to be taken back any more.
    pub fn keep(&self) {
        self.made.borrow_mut().clear();
    }
    /// Takes back what was made since the last [`Store::keep`], the latest first: exactly these objects, and only those that
    /// nobody changed since. The first that cannot be taken back ends it, so that what stays is a beginning of what was made and
    /// never an end without its beginning (a receipt without its copy). Answers what stays.
    pub fn roll_back(&self) -> Vec<PathBuf> {
        let mut made = self.made.take();
        while let Some(last) = made.pop() {
            if self.take_back(&last).is_err() {
                made.push(last);
                break;
            }
        }
        made.into_iter().map(|made| made.path).collect()
    }
    fn take_back(&self, made: &Made) -> Result<(), Refused> {
        let there = match self.fs.lstat(&made.path) {
            Ok(there) => there,
            Err(error) if error.errno == Errno::NOENT => return Ok(()),
            Err(error) => return Err(failed(&error)),
        };
        let changed = || Refused::new("source_changed", "it is not as this attempt made it").at(&made.path);
        if there.object() != made.meta.object() || there.kind != made.meta.kind {
            return Err(changed());
        }
        if there.kind == Kind::Directory {
            // Only an empty one goes: what others put there stays, and the directory with it.
            return self.fs.remove_dir(&made.path).map_err(|e| failed(&e)).and_then(|()| self.sync_parent(&made.path));
        }
        if is_other(&there, &made.meta) {
            return Err(changed());
        }
        let aside = self.set_aside(&made.path, &there)?;
        // gjc may have had it open and gone on with it until it lost its name: then it gets the name back.
        if is_other(&self.fs.lstat(&aside).map_err(|e| failed(&e))?, &made.meta) {
            self.give_back(&aside, &made.path)?;
            return Err(changed());
        }
        // Out of its place it is; what cannot be unlinked there harms nobody.
        self.discard(&aside);
        Ok(())
    }
}

/// Whether a file that was made has other content by now.
fn is_other(now: &Meta, made: &Meta) -> bool {
    now.size != made.size || now.mtime_ns != made.mtime_ns
}

/// How many spare names are tried before the directory is said to be full of them.
const SPARE_LIMIT: u32 = 100_000;

/// Why a file did not get its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotPublished {
    /// Something has the name.
    Taken,
    /// An operation failed. The file may have its name all the same, without being durable there.
    Failed(Refused),
}

impl NotPublished {
    /// As a refusal: an occupied name is `destination_conflict`.
    pub fn refused(self, at: &Path) -> Refused {
        match self {
            NotPublished::Taken => Refused::new("destination_conflict", "something has this name").at(at),
            NotPublished::Failed(refused) => refused,
        }
    }
}

/// Closes a staged file, letting a first failure survive.
///
/// # Errors
/// The first failure, or that of closing.
pub fn close_after<T>(outcome: Result<T, Refused>, file: Box<dyn WriteFile + '_>) -> Result<T, Refused> {
    let closed = file.close().map_err(|e| failed(&e));
    outcome.and_then(|value| closed.map(|()| value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Fs, Inject, Memory, Phase};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn tree() -> Memory {
        let fs = Memory::new();
        fs.directory("/s/.gjc-recovery");
        fs
    }
    fn store(fs: &dyn Change) -> Store<'_> {
        Store::new(fs, Path::new("/s"), 1000, 7)
    }
    fn names(fs: &Memory, path: &str) -> Vec<String> {
        fs.list(Path::new(path)).unwrap().into_iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_published_file_is_owner_only_and_leaves_nothing_beside_it() {
        let fs = tree();
        store(&fs).publish_bytes(Path::new("/s/f"), b"abc").unwrap();
        assert_eq!((fs.content("/s/f").unwrap(), fs.lstat(Path::new("/s/f")).unwrap().mode), (b"abc".to_vec(), 0o600));
        assert!(names(&fs, "/s/.gjc-recovery").is_empty());
    }
    #[test]
    fn nothing_is_replaced() {
        let fs = tree();
        fs.file("/s/f", b"old");
        fs.symlink("/s/l", "nowhere");
        fs.directory("/s/d");
        for name in ["f", "l", "d"] {
            let answer = store(&fs).publish_bytes(&Path::new("/s").join(name), b"new");
            assert_eq!(answer, Err(NotPublished::Taken), "{name}");
        }
        assert_eq!(fs.content("/s/f").unwrap(), b"old");
        assert!(names(&fs, "/s/.gjc-recovery").is_empty());
    }
    #[test]
    fn where_the_system_cannot_rename_without_replacing_nothing_is_published() {
        let fs = tree();
        let inject = Inject::changing(&fs, |call| (call.op == "rename" && call.phase == Phase::Before).then_some(Errno::INVAL));
        let refused = store(&inject).publish_bytes(Path::new("/s/f"), b"x").unwrap_err().refused(Path::new("/s/f"));
        assert_eq!(refused.code, "atomic_unavailable");
        assert!(fs.content("/s/f").is_none() && names(&fs, "/s/.gjc-recovery").is_empty());
    }
    #[test]
    fn a_rename_that_is_done_although_it_fails_is_taken_back() {
        for errno in [Errno::IO, Errno::EXIST] {
            let fs = tree();
            let first = AtomicBool::new(true);
            let inject = Inject::changing(&fs, |call| {
                (call.op == "rename" && call.phase == Phase::After && first.swap(false, Ordering::SeqCst)).then_some(errno)
            });
            let store = store(&inject);
            let refused = store.publish_bytes(Path::new("/s/f"), b"x").unwrap_err().refused(Path::new("/s/f"));
            assert_eq!((refused.code, fs.content("/s/f").is_some()), ("managed_storage_unsupported", true));
            assert_eq!(store.roll_back(), Vec::<PathBuf>::new());
            assert!(fs.content("/s/f").is_none());
        }
    }
    #[test]
    fn spare_names_of_an_earlier_process_are_stepped_over() {
        let fs = tree();
        fs.file("/s/.gjc-recovery/.gjc-managed-replace-7-0", b"evidence");
        fs.file("/s/.gjc-recovery/.gjc-managed-remove-7-2", b"evidence");
        let store = store(&fs);
        let meta = store.publish_bytes(Path::new("/s/f"), b"x").unwrap();
        let aside = store.set_aside(Path::new("/s/f"), &meta).unwrap();
        assert_eq!(aside, Path::new("/s/.gjc-recovery/.gjc-managed-remove-7-3"));
        assert_eq!(fs.content("/s/.gjc-recovery/.gjc-managed-remove-7-2").unwrap(), b"evidence");
        assert_eq!(fs.content("/s/.gjc-recovery/.gjc-managed-replace-7-0").unwrap(), b"evidence");
    }
    #[test]
    fn an_object_that_was_swapped_keeps_its_name() {
        let fs = tree();
        fs.file("/s/f", b"looked at");
        let meta = fs.lstat(Path::new("/s/f")).unwrap();
        fs.remove("/s/f");
        fs.file("/s/f", b"successor");
        let refused = store(&fs).set_aside(Path::new("/s/f"), &meta).unwrap_err();
        assert_eq!(refused.code, "source_changed");
        assert_eq!(fs.content("/s/f").unwrap(), b"successor");
    }
    #[test]
    fn only_what_this_attempt_made_and_nobody_changed_is_taken_back() {
        let fs = tree();
        fs.file("/s/.gjc-managed-old", b"a name is no authority");
        let store = store(&fs);
        store.publish_bytes(Path::new("/s/kept"), b"x").unwrap();
        store.keep();
        store.directory(Path::new("/s/d")).unwrap();
        store.publish_bytes(Path::new("/s/d/f"), b"x").unwrap();
        assert_eq!(store.roll_back(), Vec::<PathBuf>::new());
        assert_eq!(names(&fs, "/s"), [".gjc-managed-old", ".gjc-recovery", "kept"]);
        assert!(names(&fs, "/s/.gjc-recovery").is_empty());
        assert_eq!(store.roll_back(), Vec::<PathBuf>::new(), "a second time there is nothing");
    }
    #[test]
    fn what_somebody_changed_stays_and_ends_the_rollback() {
        let fs = tree();
        let store = store(&fs);
        store.publish_bytes(Path::new("/s/first"), b"x").unwrap();
        store.publish_bytes(Path::new("/s/second"), b"x").unwrap();
        fs.append("/s/second", b"more");
        assert_eq!(store.roll_back(), [PathBuf::from("/s/first"), PathBuf::from("/s/second")]);
        assert_eq!(names(&fs, "/s"), [".gjc-recovery", "first", "second"]);
        // A directory that others put something into stays too.
        store.directory(Path::new("/s/d")).unwrap();
        fs.file("/s/d/theirs", b"x");
        assert_eq!(store.roll_back(), [PathBuf::from("/s/d")]);
        assert!(fs.content("/s/d/theirs").is_some());
    }
    /// A gjc that opened a copy before it is taken back may still write to it.
    #[test]
    fn what_is_written_while_it_is_taken_back_gets_its_name_back() {
        let fs = tree();
        let inject = Inject::changing(&fs, |call| {
            if call.op == "rename" && call.phase == Phase::Before && call.path == Path::new("/s/copy") {
                fs.append("/s/copy", b" and more");
            }
            None
        });
        let store = store(&inject);
        store.publish_bytes(Path::new("/s/copy"), b"session").unwrap();
        assert_eq!(store.roll_back(), [PathBuf::from("/s/copy")]);
        assert_eq!(fs.content("/s/copy").unwrap(), b"session and more");
        assert!(names(&fs, "/s/.gjc-recovery").is_empty());
    }
    #[test]
    fn a_swapped_object_whose_name_was_taken_is_said_where_it_lies() {
        let fs = tree();
        fs.file("/s/f", b"looked at");
        let meta = fs.lstat(Path::new("/s/f")).unwrap();
        let inject = Inject::changing(&fs, |call| {
            if call.op == "rename" && call.path == Path::new("/s/f") {
                match call.phase {
                    // Another object has the name when it is moved, and a third one right after.
                    Phase::Before => {
                        fs.remove("/s/f");
                        fs.file("/s/f", b"successor");
                    }
                    Phase::After => fs.file("/s/f", b"third"),
                }
            }
            None
        });
        let refused = store(&inject).set_aside(Path::new("/s/f"), &meta).unwrap_err();
        assert_eq!(fs.content(refused.path.unwrap()).unwrap(), b"successor");
        assert_eq!((fs.content("/s/f").unwrap(), refused.code), (b"third".to_vec(), "source_changed"));
    }
    #[test]
    fn a_directory_that_is_there_must_be_owner_only() {
        let fs = tree();
        fs.directory("/s/d");
        fs.chmod("/s/d", 0o755);
        assert_eq!(store(&fs).directory(Path::new("/s/d")).unwrap_err().detail, "mode_mismatch");
        assert_eq!(fs.lstat(Path::new("/s/d")).unwrap().mode, 0o755);
    }
}
