//! Drafts: the input that was not sent yet, kept beside the artifacts of its session until it is taken once (spec 04 §10.1).

use super::artifacts::Artifacts;
use super::manager::{Manager, OpError, World};
use super::storage::{artifacts_directory, join};
use crate::transcript::blobs::BlobStore;

/// The name of a draft in the artifacts directory.
const DRAFT: &str = "draft.txt";

impl<W: World, B: BlobStore> Manager<'_, W, B> {
    /// The path of the draft; none of a session in memory.
    fn draft(&self) -> Option<String> {
        self.session_file().map(|file| join(artifacts_directory(file), DRAFT))
    }

    /// Keeps the input for the next time that the session is opened; an empty text takes away what was kept. A text brings the
    /// session to disk first: a draft without its transcript would never be found. Nothing is kept of a session in memory.
    ///
    /// # Errors
    /// Persistence failed, now or earlier; the storage's.
    pub fn save_draft(&mut self, text: &str) -> Result<(), OpError> {
        let Some(path) = self.draft() else { return Ok(()) };
        if text.is_empty() {
            let kept = self.storage.exists(&path)?;
            if kept {
                self.storage.unlink(&path)?;
            }
            if self.breadcrumb_due && (kept || self.draft_taken) {
                self.leave_breadcrumb();
            }
            self.draft_taken &= self.breadcrumb_due;
            return Ok(());
        }
        self.ensure_on_disk()?;
        Artifacts::new(self.storage, artifacts_directory(&self.path)).replace_named(DRAFT, text.as_bytes())?;
        if self.breadcrumb_due {
            self.leave_breadcrumb();
        }
        Ok(())
    }

    /// Takes the input that was kept: it is gone then.
    ///
    /// # Errors
    /// The storage's.
    pub fn take_draft(&mut self) -> Result<Option<String>, OpError> {
        let Some(path) = self.draft() else { return Ok(None) };
        if !self.storage.exists(&path)? {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&self.storage.read(&path)?).into_owned();
        self.storage.unlink(&path)?;
        self.draft_taken = self.breadcrumb_due;
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::super::storage::{Memory, SessionStorage};
    use super::super::tests::{Counted, FIRST, create, lines, place, talked};
    use super::*;
    use crate::finding::Release;
    use crate::transcript::blobs::MemoryStore;

    const PATH: &str = "/s/2026-01-01T00-00-00-000Z_s1/draft.txt";
    const CRUMB: &str = "/state/terminal-sessions/pts-3";

    /// 04 §10.1
    #[test]
    fn a_draft_is_kept_with_its_transcript_and_taken_once() {
        let storage = Memory::new();
        let mut manager = create(&storage);
        manager.save_draft("").unwrap();
        assert_eq!((manager.take_draft(), storage.all()), (Ok(None), Vec::new()));
        manager.save_draft("one").unwrap();
        manager.save_draft("two").unwrap();
        assert_eq!((lines(&storage, FIRST), storage.read(PATH)), (1, Ok(b"two".to_vec())));
        assert_eq!((manager.take_draft(), manager.take_draft()), (Ok(Some("two".into())), Ok(None)));
        manager.save_draft("three").unwrap();
        manager.save_draft("").unwrap();
        assert_eq!(storage.exists(PATH), Ok(false));
    }

    #[test]
    fn nothing_is_kept_of_a_session_in_memory() {
        let storage = Memory::new();
        let nowhere = Place::nowhere("/w", Release::V0_17);
        let mut manager = Manager::create(Counted::default(), MemoryStore::default(), &storage, nowhere, None).unwrap();
        manager.save_draft("x").unwrap();
        assert_eq!((manager.take_draft(), storage.all()), (Ok(None), Vec::new()));
    }

    /// 04 §3.4: after a read-only open, on the first draft action
    #[test]
    fn a_draft_action_leaves_the_breadcrumb_of_a_session_that_was_only_opened() {
        let opened = |storage: &Memory| {
            talked(storage);
            storage.write(PATH, b"kept").unwrap();
        };
        let crumb = |act: fn(&mut Manager<'_, Counted, MemoryStore>)| {
            let storage = Memory::new();
            opened(&storage);
            let at = place().at_terminal(CRUMB);
            let mut manager = Manager::open(Counted::default(), MemoryStore::default(), &storage, at, FIRST.into()).unwrap();
            assert_eq!(storage.exists(CRUMB), Ok(false));
            act(&mut manager);
            storage.exists(CRUMB).unwrap()
        };
        assert!(crumb(|manager| manager.save_draft("new").unwrap()));
        assert!(crumb(|manager| manager.save_draft("").unwrap()));
        assert!(!crumb(|manager| _ = manager.take_draft().unwrap()));
        assert!(crumb(|manager| {
            manager.take_draft().unwrap();
            manager.save_draft("").unwrap();
        }));
    }
}
