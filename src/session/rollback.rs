//! Going back to a session as it was (spec 04 §4.7, seeds "Storage Abstractions"). Only the manager that issued a snapshot, and
//! only while it lives, takes it back, and only when the file is still what it was. What is refused changes nothing.

use super::cold::{self, ColdIdentity};
use super::manager::{Manager, OpError, World};
use super::place::Place;
use super::storage::{SessionStorage, Stat};
use crate::transcript::blobs::{BlobStore, name_of};
use crate::transcript::inspect::EAGER_MAX;
use crate::transcript::persist::Opened;
use std::rc::Rc;

/// A session as it was. It cannot be copied, looked into or made otherwise, so that nothing can redirect where it leads.
pub struct Snapshot {
    issuer: Rc<()>,
    path: String,
    place: Place,
    session: Opened,
    persisted: Persisted,
}

/// What stood at the path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Persisted {
    /// Nothing was written yet.
    Nothing,
    /// A file that could be hashed.
    Whole(Stat, String),
    /// One that is sampled only.
    Cold(ColdIdentity),
}

fn unavailable() -> OpError {
    OpError::plain("Session rollback persistence identity is unavailable.")
}

impl<W: World, B: BlobStore> Manager<'_, W, B> {
    /// The current session as it is.
    ///
    /// # Errors
    /// The identity of its file cannot be told.
    pub fn snapshot(&self) -> Result<Snapshot, OpError> {
        self.snapshot_above(EAGER_MAX)
    }

    fn snapshot_above(&self, eager: u64) -> Result<Snapshot, OpError> {
        let persisted = if self.session.on_disk() { persisted(self.storage, &self.path, eager)? } else { Persisted::Nothing };
        let (path, place, session) = (self.path.clone(), self.place.clone(), self.session.clone());
        Ok(Snapshot { issuer: Rc::clone(&self.issuer), path, place, session, persisted })
    }

    /// Makes a session of a snapshot the current one again. A failure of persistence that is known ends with it.
    ///
    /// # Errors
    /// This manager did not issue it; its file is another one by now; the current session cannot be closed. The current session
    /// stays, and so does a failure of persistence that is known.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), OpError> {
        self.restore_above(snapshot, EAGER_MAX)
    }

    fn restore_above(&mut self, snapshot: &Snapshot, eager: u64) -> Result<(), OpError> {
        if !Rc::ptr_eq(&snapshot.issuer, &self.issuer) {
            return Err(OpError::plain("Session rollback snapshot is not authentic."));
        }
        let now = match snapshot.persisted {
            Persisted::Nothing if self.storage.exists(&snapshot.path).map_err(|_| unavailable())? => None,
            Persisted::Nothing => Some(Persisted::Nothing),
            _ => Some(persisted(self.storage, &snapshot.path, eager)?),
        };
        if now.as_ref() != Some(&snapshot.persisted) {
            return Err(OpError::plain("Session rollback persistence identity changed."));
        }
        self.reinstall(snapshot.path.clone(), snapshot.place.clone(), snapshot.session.clone())
    }
}

fn persisted(storage: &dyn SessionStorage, path: &str, eager: u64) -> Result<Persisted, OpError> {
    let of = || {
        if storage.stat(path)?.size > eager {
            return cold::identity(storage, path).map(Persisted::Cold);
        }
        let file = storage.read_snapshot(path)?;
        Ok(Persisted::Whole(file.stat, name_of(&file.bytes)))
    };
    of().map_err(|_: super::storage::StorageError| unavailable())
}

#[cfg(test)]
mod tests {
    use super::super::storage::{Memory, SessionStorage};
    use super::super::tests::{FIRST, SECOND, answer, ask, create, lines, talked, text, value};
    use super::*;
    use crate::session::content::Content;

    fn message(result: Result<(), OpError>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn a_manager_goes_back_to_a_session_as_it_was() {
        let storage = Memory::new();
        let mut manager = talked(&storage);
        manager.branch(value("\"e1\"")).unwrap();
        let snapshot = manager.snapshot().unwrap();
        manager.new_session(None).unwrap();
        manager.append(answer("other")).unwrap();
        manager.restore(&snapshot).unwrap();
        assert_eq!(manager.session_file(), Some(FIRST));
        manager.append(ask("again")).unwrap();
        assert!(text(&storage, FIRST).lines().last().unwrap().contains(r#""parentId":"e1""#));
        assert_eq!(lines(&storage, SECOND), 2);
    }

    /// 04 §4.7: not issued by the live manager
    #[test]
    fn a_foreign_snapshot_is_not_authentic() {
        let (storage, elsewhere) = (Memory::new(), Memory::new());
        let (mut manager, other) = (talked(&storage), talked(&elsewhere));
        let foreign = other.snapshot().unwrap();
        let before = storage.all();
        assert_eq!(message(manager.restore(&foreign)), "Session rollback snapshot is not authentic.");
        drop(other);
        assert_eq!(message(manager.restore(&foreign)), "Session rollback snapshot is not authentic.");
        assert_eq!((manager.session_file(), storage.all()), (Some(FIRST), before));
        manager.append(ask("r")).unwrap();
    }

    #[test]
    fn what_was_written_since_keeps_the_current_session_installed() {
        let storage = Memory::new();
        let mut manager = talked(&storage);
        let snapshot = manager.snapshot().unwrap();
        manager.append(ask("r")).unwrap();
        assert_eq!(message(manager.restore(&snapshot)), "Session rollback persistence identity changed.");
        assert_eq!(manager.session().entries().len(), 4);
        storage.unlink(FIRST).unwrap();
        assert_eq!(message(manager.restore(&snapshot)), "Session rollback persistence identity is unavailable.");
        assert_eq!(manager.session().entries().len(), 4);
    }

    #[test]
    fn a_session_that_was_not_written_must_still_not_be() {
        let storage = Memory::new();
        let mut manager = create(&storage);
        manager.append(ask("q")).unwrap();
        let snapshot = manager.snapshot().unwrap();
        manager.append(Content::custom(value("\"k\""), None)).unwrap();
        manager.restore(&snapshot).unwrap();
        assert_eq!(manager.session().entries().len(), 2);
        storage.write(FIRST, b"appeared").unwrap();
        assert_eq!(message(manager.restore(&snapshot)), "Session rollback persistence identity changed.");
    }

    /// 04 §4.7: above the bound the samples are compared, not all of it
    #[test]
    fn a_cold_transcript_is_compared_by_its_bounded_identity() {
        let storage = Memory::new();
        let mut manager = talked(&storage);
        let snapshot = manager.snapshot_above(10).unwrap();
        assert!(matches!(&snapshot.persisted, Persisted::Cold(cold) if cold.canonical_path == FIRST));
        manager.restore_above(&snapshot, 10).unwrap();
        let same_size = text(&storage, FIRST).replace("\"content\":\"q\"", "\"content\":\"x\"");
        storage.write(FIRST, same_size.as_bytes()).unwrap();
        assert_eq!(message(manager.restore_above(&snapshot, 10)), "Session rollback persistence identity changed.");
        assert_eq!(manager.session_file(), Some(FIRST));
    }

    #[test]
    fn a_known_failure_ends_with_a_restoration_and_stays_with_a_refusal() {
        let storage = Memory::new();
        let mut manager = talked(&storage);
        let (old, new) = (manager.snapshot().unwrap(), {
            manager.append(ask("r")).unwrap();
            manager.snapshot().unwrap()
        });
        let failure = manager.fail("ENOSPC");
        assert!(manager.restore(&old).is_err());
        assert_eq!(manager.check(), Err(failure));
        manager.restore(&new).unwrap();
        assert_eq!(manager.check(), Ok(()));
    }

    #[test]
    fn an_older_file_that_waits_for_its_migration_still_waits_after_a_restoration() {
        let storage = Memory::new();
        let old = "{\"type\":\"session\",\"version\":4,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";
        storage.write(FIRST, old.as_bytes()).unwrap();
        let mut manager = super::super::tests::open(&storage, FIRST).unwrap();
        let snapshot = manager.snapshot().unwrap();
        manager.restore(&snapshot).unwrap();
        assert_eq!(text(&storage, FIRST), old);
        manager.append(ask("q")).unwrap();
        assert!(text(&storage, FIRST).starts_with(&old.trim_end().replace(":4", ":5")));
    }
}
