//! The blob store (spec 04 §5): one file per blob, named by the SHA-256 of its bytes.
//!
//! The directory is read once; blobs are hashed when they are first asked for, each at most once per run.

use super::walk::{self, Limits, Listing, Object};
use crate::fsys::{Bound, Errno, Error, Fs, Kind, capture, hash_file};
use crate::transcript::blobs::{BlobSource, Stored, is_name};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Prefix of a blob that gjc's blob collection was about to remove.
pub const REMOVING_PREFIX: &[u8] = b".gjc-gc-blob-";

/// A blob that has not been written for this long may be collected (spec 04 §5.11), in nanoseconds.
pub const GRACE_NS: i128 = 24 * 3600 * 1_000_000_000;

/// What a name of the store means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlobName<'a> {
    /// A blob.
    Blob(&'a str),
    /// `<hash>.tmp.*`: residue of an immutable put.
    Temporary(&'a str),
    /// `.gjc-gc-blob-<hash>`: an interrupted removal.
    Removing(&'a str),
    /// Anything else.
    Foreign,
}

/// Reads a name of the store.
pub fn blob_name(name: &[u8]) -> BlobName<'_> {
    fn hash(bytes: &[u8]) -> Option<&str> {
        std::str::from_utf8(bytes).ok().filter(|_| is_name(bytes))
    }
    if let Some(hash) = hash(name) {
        return BlobName::Blob(hash);
    }
    if let Some(hash) = name.strip_prefix(REMOVING_PREFIX).and_then(hash) {
        return BlobName::Removing(hash);
    }
    match name.split_at_checked(64) {
        Some((head, tail)) if tail.starts_with(b".tmp.") => hash(head).map_or(BlobName::Foreign, BlobName::Temporary),
        _ => BlobName::Foreign,
    }
}

/// A store of this machine.
pub struct Store<'a> {
    fs: &'a dyn Fs,
    path: PathBuf,
    /// None: there is no such directory.
    listing: Option<Listing>,
    /// Whether each object of the listing has the hash that its name says, or why it could not be read; set when it was hashed.
    intact: Vec<OnceLock<Option<Result<bool, Errno>>>>,
    hashing: bool,
}

impl<'a> Store<'a> {
    /// Reads the directory of a store; `hashing` says whether blobs may be hashed at all.
    ///
    /// # Errors
    /// The directory could not be read.
    pub fn open(fs: &'a dyn Fs, path: &Path, limits: &Limits, hashing: bool) -> Result<Self, Error> {
        let listing = walk::list(fs, path, limits)?;
        let intact = listing.objects.iter().map(|_| OnceLock::new()).collect();
        Ok(Store { fs, path: path.to_owned(), listing: Some(listing), intact, hashing })
    }
    /// A store that is known not to exist: it holds nothing.
    pub fn absent(fs: &'a dyn Fs, path: &Path) -> Self {
        Store { fs, path: path.to_owned(), listing: None, intact: Vec::new(), hashing: false }
    }
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// What is in the directory; none when there is no such directory.
    pub fn listing(&self) -> Option<&Listing> {
        self.listing.as_ref()
    }
    fn objects(&self) -> &[Object] {
        self.listing.as_ref().map(|listing| listing.objects.as_slice()).unwrap_or_default()
    }
    /// Whether there is anything in it.
    pub fn is_empty(&self) -> bool {
        self.objects().is_empty()
    }
    /// Whether an object of the listing has the hash that its name says; none when it could not be read or hashing is off.
    pub fn is_intact(&self, index: usize) -> Option<bool> {
        self.hashed(index)?.ok()
    }
    /// Why a blob could not be hashed; none when it was, or was not to be.
    pub fn unread(&self, name: &str) -> Option<Error> {
        let (index, _) = self.find(name)?;
        let errno = self.hashed(index)?.err()?;
        Some(Error { op: "read", path: self.path_of(name), errno })
    }
    fn hashed(&self, index: usize) -> Option<Result<bool, Errno>> {
        let (object, slot) = (self.objects().get(index)?, self.intact.get(index)?);
        *slot.get_or_init(|| {
            if !self.hashing || object.meta.kind != Kind::File {
                return None;
            }
            let hashed = hash_file(self.fs, &self.path.join(&object.name));
            Some(hashed.map(|(hash, _)| data_encoding::HEXLOWER.encode(&hash).as_bytes() == object.bytes()).map_err(|error| error.errno))
        })
    }
    fn find(&self, name: &str) -> Option<(usize, &Object)> {
        if !is_name(name.as_bytes()) {
            return None;
        }
        let at = self.objects().binary_search_by(|o| o.bytes().cmp(name.as_bytes())).ok()?;
        self.objects().get(at).map(|object| (at, object))
    }
    /// Path of a blob.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl BlobSource for Store<'_> {
    fn stored(&self, name: &str) -> Stored {
        match self.find(name) {
            Some((_, object)) if object.meta.kind == Kind::File => Stored::File { size: object.meta.size },
            // A link is never followed here, and gjc would; a special file would make it wait.
            Some(_) => Stored::Unknown,
            None if self.listing.as_ref().is_none_or(Listing::is_complete) => Stored::Missing,
            None => Stored::Unknown,
        }
    }
    fn intact(&self, name: &str) -> Option<bool> {
        self.find(name).and_then(|(index, _)| self.is_intact(index))
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        self.find(name)?;
        capture(self.fs, &self.path_of(name), Bound::Prefix(limit as u64)).ok().map(|c| c.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn names_of_the_store() {
        assert_eq!(blob_name(ABC.as_bytes()), BlobName::Blob(ABC));
        assert_eq!(blob_name(format!("{ABC}.tmp.1.2.ab").as_bytes()), BlobName::Temporary(ABC));
        assert_eq!(blob_name(format!(".gjc-gc-blob-{ABC}").as_bytes()), BlobName::Removing(ABC));
        for foreign in [ABC.to_uppercase(), format!("{ABC}.png"), ABC[1..].to_owned(), ".gjc-gc-blob-x".into(), String::new()] {
            assert_eq!(blob_name(foreign.as_bytes()), BlobName::Foreign, "{foreign}");
        }
    }

    #[test]
    fn a_store_answers_for_what_is_in_it() {
        let fs = Memory::new();
        let damaged = "0".repeat(64);
        let linked = "1".repeat(64);
        fs.file(format!("/b/{ABC}"), b"abc");
        fs.file(format!("/b/{damaged}"), b"abc");
        fs.symlink(format!("/b/{linked}"), ABC);
        let store = Store::open(&fs, Path::new("/b"), &Limits::default(), true).unwrap();
        assert_eq!(store.stored(ABC), Stored::File { size: 3 });
        assert_eq!(store.intact(ABC), Some(true));
        assert_eq!(store.intact(&damaged), Some(false));
        assert_eq!(store.head(ABC, 2), Some(b"ab".to_vec()));
        assert_eq!(store.stored(&"2".repeat(64)), Stored::Missing);
        assert_eq!(store.stored("../../etc/passwd"), Stored::Missing);
        assert_eq!((store.stored(&linked), store.intact(&linked), store.head(&linked, 9)), (Stored::Unknown, None, None));
        let quick = Store::open(&fs, Path::new("/b"), &Limits::default(), false).unwrap();
        assert_eq!(quick.intact(ABC), None);
    }
}
