//! The blob directory of a session manager, below a storage (spec 04 §5.1, §5.2): one file a blob, named by its hash.
//!
//! gjc writes an image in place. Here a blob is complete and durable before it has its name, and one that is there already is
//! left alone: the bytes are the same, and no crash leaves half of them where a transcript refers to them.

use super::{SessionStorage, join};
use crate::transcript::blobs::{BlobSink, BlobSource, Stored, name_of};

/// The blobs in a directory.
#[derive(Clone)]
pub struct Blobs<'s> {
    storage: &'s dyn SessionStorage,
    directory: String,
}

impl<'s> Blobs<'s> {
    /// The blobs in a directory; it is made when the first one is stored.
    pub fn new(storage: &'s dyn SessionStorage, directory: impl Into<String>) -> Self {
        Blobs { storage, directory: directory.into() }
    }
    fn path(&self, name: &str) -> String {
        join(&self.directory, name)
    }
}

impl BlobSource for Blobs<'_> {
    fn stored(&self, name: &str) -> Stored {
        let path = self.path(name);
        match self.storage.exists(&path) {
            Ok(false) => Stored::Missing,
            Ok(true) => self.storage.stat(&path).map_or(Stored::Unknown, |stat| Stored::File { size: stat.size }),
            Err(_) => Stored::Unknown,
        }
    }
    fn intact(&self, name: &str) -> Option<bool> {
        self.storage.read(&self.path(name)).ok().map(|bytes| name_of(&bytes) == name)
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        let path = self.path(name);
        let size = self.storage.stat(&path).ok()?.size;
        self.storage.read_range(&path, 0, size.min(limit as u64)).ok()
    }
}

impl BlobSink for Blobs<'_> {
    fn put(&mut self, name: &str, bytes: &[u8]) -> bool {
        let path = self.path(name);
        match self.storage.publish(&path, bytes) {
            Ok(()) => true,
            // What is damaged is mended by the bytes that it should have had.
            Err(error) if error.is("destination_conflict") => self
                .storage
                .read(&path)
                .is_ok_and(|there| name_of(&there) == name || self.storage.replace_exact(&path, &there, bytes).unwrap_or(false)),
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::double::{Answer, Hooked};
    use super::super::{Files, Memory};
    use super::*;
    use crate::fsys;
    use crate::fsys::Fs;
    use std::path::Path;

    /// 04 §5.1
    #[test]
    fn a_blob_is_a_file_of_its_owner_named_by_its_hash() {
        let fs = fsys::Memory::new();
        let files = Files::new(&fs);
        let mut blobs = Blobs::new(&files, "/agent/blobs");
        let name = name_of(b"abc");
        assert_eq!((blobs.stored(&name), blobs.intact(&name), blobs.head(&name, 9)), (Stored::Missing, None, None));
        assert!(blobs.put(&name, b"abc") && blobs.put(&name, b"abc"));
        assert_eq!(
            (blobs.stored(&name), blobs.intact(&name), blobs.head(&name, 2)),
            (Stored::File { size: 3 }, Some(true), Some(b"ab".to_vec()))
        );
        let mode = |path: &str| fs.lstat(Path::new(path)).unwrap().permissions();
        assert_eq!((mode("/agent/blobs"), mode(&format!("/agent/blobs/{name}"))), (0o700, 0o600));
    }

    #[test]
    fn a_damaged_blob_is_mended_and_one_that_cannot_be_stored_is_not_claimed() {
        let memory = Memory::new();
        let name = name_of(b"abc");
        memory.write(&format!("/b/{name}"), b"ab").unwrap();
        let mut blobs = Blobs::new(&memory, "/b");
        assert_eq!(blobs.intact(&name), Some(false));
        assert!(blobs.put(&name, b"abc"));
        assert_eq!(blobs.intact(&name), Some(true));
        let full = Hooked::new(&memory, |asked| if asked.operation == "publish" { Answer::token("ENOSPC") } else { Answer::GoOn });
        assert!(!Blobs::new(&full, "/b").put(&name_of(b"x"), b"x"));
        assert_eq!(memory.all().len(), 1);
    }
}
