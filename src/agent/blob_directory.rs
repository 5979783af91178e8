//! A folder of blobs that a command reads and adds to: new blobs only, complete or not there at all (spec 04 §5.1, §5.2).

use crate::fsys::output::NewFile;
use crate::fsys::{self, Errno, Fs, Kind, Real};
use crate::transcript::blobs::{BlobSink, BlobSource, Stored};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder that holds blobs under their names.
pub struct BlobDirectory {
    path: PathBuf,
    added: u64,
    failure: Option<String>,
}

impl BlobDirectory {
    /// Looks at the folder, which must exist: a misspelt one would make every blob missing.
    ///
    /// # Errors
    /// It is not there, is no folder, or cannot be read.
    pub fn open(path: &Path) -> fsys::Result<Self> {
        let path = Real.realpath(path)?;
        Real.open_dir(&path)?.close()?;
        Ok(BlobDirectory { path, added: 0, failure: None })
    }
    /// Number of blobs that were added.
    pub const fn added(&self) -> u64 {
        self.added
    }
    /// The first failure to read or add a blob.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn fail(&mut self, why: String) -> bool {
        self.failure.get_or_insert(why);
        false
    }
}

impl BlobSource for BlobDirectory {
    fn stored(&self, name: &str) -> Stored {
        match Real.lstat(&self.path.join(name)) {
            Ok(meta) if meta.kind == Kind::File => Stored::File { size: meta.size },
            Err(error) if error.errno == Errno::NOENT => Stored::Missing,
            Ok(_) | Err(_) => Stored::Unknown,
        }
    }
    fn intact(&self, name: &str) -> Option<bool> {
        let (hash, _) = fsys::hash_file(&Real, &self.path.join(name)).ok()?;
        Some(data_encoding::HEXLOWER.encode(&hash) == name)
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        let file = Real.open(&self.path.join(name)).ok()?;
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, limit as u64), &mut bytes).ok()?;
        Some(bytes)
    }
}

impl BlobSink for BlobDirectory {
    fn put(&mut self, name: &str, bytes: &[u8]) -> bool {
        match self.stored(name) {
            Stored::File { .. } if self.intact(name) == Some(true) => return true,
            Stored::Missing => {}
            Stored::File { .. } | Stored::Unknown => {
                return self.fail(format!("{}: what stands there is not this blob", self.path.join(name).display()));
            }
        }
        let added = NewFile::create(&self.path.join(name), None).map_err(|error| error.to_string()).and_then(|mut file| {
            file.write_all(bytes).map_err(|error| format!("{}: {error}", self.path.display()))?;
            file.publish().map_err(|error| error.to_string())
        });
        match added {
            Ok(()) => {
                self.added += 1;
                true
            }
            Err(why) => self.fail(why),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test looks at its own folder")]
mod tests {
    use super::*;
    use crate::transcript::blobs::name_of;

    #[test]
    fn blobs_are_added_once_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = BlobDirectory::open(folder.path()).unwrap();
        let name = name_of(b"abc");
        assert_eq!(store.stored(&name), Stored::Missing);
        assert!(store.put(&name, b"abc") && store.put(&name, b"abc"));
        assert_eq!(store.added(), 1);
        assert_eq!(store.stored(&name), Stored::File { size: 3 });
        assert_eq!((store.intact(&name), store.head(&name, 2)), (Some(true), Some(b"ab".to_vec())));
        assert_eq!(store.failure(), None);
    }

    #[test]
    fn a_damaged_blob_is_not_replaced_and_nothing_refers_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let name = name_of(b"abc");
        std::fs::write(folder.path().join(&name), "ab").unwrap();
        let mut store = BlobDirectory::open(folder.path()).unwrap();
        assert!(!store.put(&name, b"abc"));
        assert!(store.failure().unwrap().ends_with("what stands there is not this blob"));
        assert_eq!(std::fs::read(folder.path().join(&name)).unwrap(), b"ab");
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("elsewhere"), "abc").unwrap();
        let name = name_of(b"abc");
        std::os::unix::fs::symlink("elsewhere", folder.path().join(&name)).unwrap();
        let store = BlobDirectory::open(folder.path()).unwrap();
        assert_eq!((store.stored(&name), store.head(&name, 9)), (Stored::Unknown, None));
    }

    #[test]
    fn the_folder_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        assert!(BlobDirectory::open(&folder.path().join("none")).is_err());
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(BlobDirectory::open(&folder.path().join("file")).is_err());
    }
}
