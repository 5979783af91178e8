//! Private copies of files that a library must open for writing: the originals are only read, and nothing is made beside
//! them. The copies lie in a folder of mode 0700 below the system's temporary directory and go with it.

use super::{Errno, Error, Fs, Refusal, Watched, io_errno};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How often a set of files that keeps moving is tried.
const ATTEMPTS: usize = 8;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum NoCopy {
    /// An original was not one quiet regular file, or could not be read.
    #[error("{0}")]
    Original(#[from] Refusal),
    /// The copy could not be written.
    #[error("no private copy could be made: {0}")]
    Copy(#[from] io::Error),
}

/// Copies of some files, taken in one state of all of them.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    bytes: u64,
}

impl Scratch {
    /// Copies `main` and those of its `companions` (suffixes of its name, like `-wal`) that exist, under the same names.
    ///
    /// All of them are open before the first is read; each is read twice, and its name and descriptor are looked at again
    /// behind the last: what was copied is one state of the whole set. A set that moves is tried again some times.
    ///
    /// # Errors
    /// `main` is not there, an original is no regular file or moved at every attempt, all together are larger than `limit`
    /// bytes, or the copy could not be written.
    pub fn copy(fs: &dyn Fs, main: &Path, companions: &[&str], limit: u64) -> Result<Scratch, NoCopy> {
        let mut last = Refusal::Changed(Vec::new());
        for _ in 0..ATTEMPTS {
            match Self::attempt(fs, main, companions, limit) {
                Err(NoCopy::Original(refusal)) if refusal.is_transient() => last = refusal,
                done => return done,
            }
        }
        Err(last.into())
    }

    fn attempt(fs: &dyn Fs, main: &Path, companions: &[&str], limit: u64) -> Result<Scratch, NoCopy> {
        let mut open = vec![(main.to_owned(), Some(Watched::open(fs, main)?))];
        for suffix in companions {
            let path = with_suffix(main, suffix);
            match Watched::open(fs, &path) {
                Ok(watched) => open.push((path, Some(watched))),
                Err(refusal) if refusal.is_absent() => open.push((path, None)),
                Err(refusal) => return Err(refusal.into()),
            }
        }
        let size: u64 = open.iter().filter_map(|(_, watched)| watched.as_ref()).map(|watched| watched.meta().size).sum();
        if size > limit {
            return Err(Refusal::Capacity { size, limit, ours: true }.into());
        }

        let private = std::fs::Permissions::from_mode(0o700);
        let scratch = Scratch { folder: tempfile::Builder::new().prefix("gjc-fsck-").permissions(private).tempdir()?, bytes: size };
        let mut first = Vec::new();
        for (path, watched) in &open {
            let Some(watched) = watched else { continue };
            let mut copy = tempfile_named(&scratch.path_of(path))?;
            first.push(hash(watched, |bytes| copy.write_all(bytes))?);
        }
        let present = || open.iter().filter_map(|(_, watched)| watched.as_ref());
        for (watched, first) in present().zip(first) {
            if hash(watched, |_| Ok(()))? != first {
                return Err(Refusal::Changed(vec!["content"]).into());
            }
        }
        for (path, watched) in open {
            match watched {
                Some(watched) => drop(watched.finish()?),
                None if fs.present(&path).map_err(Refusal::from)? => return Err(Refusal::Changed(vec!["name"]).into()),
                None => {}
            }
        }
        Ok(scratch)
    }

    /// Where the copy of an original lies.
    pub fn path_of(&self, original: &Path) -> PathBuf {
        self.folder.path().join(original.file_name().unwrap_or_default())
    }
    /// Bytes of all copies.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The path with something added to its last name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[allow(clippy::disallowed_methods, reason = "this is the file system's room")]
fn tempfile_named(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::create_new(path)
}

/// Hands the bytes that a file was promised to have to `take`, and answers their hash. More or fewer are a change.
fn hash(watched: &Watched<'_>, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> Result<[u8; 32], NoCopy> {
    let (wanted, mut at) = (watched.meta().size, 0u64);
    let mut buffer = vec![0; 256 * 1024];
    let mut hash = Sha256::new();
    loop {
        let got = match watched.read_at(&mut buffer, at) {
            Ok(got) => got,
            Err(error) if io_errno(&error) == Errno::INTR => continue,
            Err(error) => return Err(Refusal::Failed(watched.read_error(&error)).into()),
        };
        at += got as u64;
        if got == 0 || at > wanted {
            break;
        }
        let bytes = buffer.get(..got).unwrap_or_default();
        hash.update(bytes);
        take(bytes)?;
    }
    if at == wanted { Ok(hash.finalize().into()) } else { Err(Refusal::Changed(vec!["size"]).into()) }
}

impl NoCopy {
    /// The failed operation, when it was one.
    pub const fn failed(&self) -> Option<&Error> {
        match self {
            NoCopy::Original(Refusal::Failed(error)) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test looks at the copies")]
mod tests {
    use super::super::{Inject, Kind, Memory, Phase};
    use super::*;

    fn tree() -> Memory {
        let fs = Memory::new();
        fs.file("/d/f", b"content");
        fs.file("/d/f-wal", b"log");
        fs
    }

    fn copied(fs: &dyn Fs) -> Result<Vec<(String, Vec<u8>)>, NoCopy> {
        let scratch = Scratch::copy(fs, Path::new("/d/f"), &["-wal", "-none"], 100)?;
        let mut all: Vec<_> = std::fs::read_dir(scratch.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
            .collect();
        all.sort();
        Ok(all)
    }

    #[test]
    fn a_file_is_copied_with_the_companions_that_it_has() {
        let all = copied(&tree()).unwrap();
        assert_eq!(all, [("f".to_owned(), b"content".to_vec()), ("f-wal".to_owned(), b"log".to_vec())]);
    }

    #[test]
    fn nobody_else_can_look_at_the_copies_and_they_go_with_the_scratch() {
        use std::os::unix::fs::MetadataExt;
        let fs = tree();
        let scratch = Scratch::copy(&fs, Path::new("/d/f"), &[], 100).unwrap();
        let folder = scratch.folder.path().to_owned();
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        drop(scratch);
        assert!(std::fs::metadata(&folder).is_err());
    }

    #[test]
    fn what_is_too_large_absent_or_no_file_is_refused() {
        let fs = tree();
        fs.symlink("/d/link", "f");
        fs.special("/d/fifo", Kind::Fifo);
        let refusal = |path: &str, limit| match Scratch::copy(&fs, Path::new(path), &["-wal"], limit) {
            Err(NoCopy::Original(refusal)) => refusal.token(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refusal("/d/f", 9), "artifact_capacity_exceeded");
        assert_eq!(refusal("/d/none", 9), "ENOENT");
        assert_eq!(refusal("/d/link", 9), "ELOOP");
        assert_eq!(refusal("/d/fifo", 9), "source_changed");
    }

    /// At every single operation the log grows, is emptied, or appears once: the copy is one state or the other.
    #[test]
    fn a_copy_is_never_a_mixture() {
        for position in 0..40 {
            let fs = tree();
            let inject = Inject::new(&fs, |call| {
                if call.number == position && call.phase == Phase::Before {
                    fs.remove("/d/f");
                    fs.file("/d/f", b"later!!");
                    fs.remove("/d/f-wal");
                    fs.file("/d/f-wal", b"new");
                }
                None
            });
            let texts: Vec<Vec<u8>> = copied(&inject).unwrap().into_iter().map(|(_, bytes)| bytes).collect();
            assert!(texts == [&b"content"[..], b"log"] || texts == [&b"later!!"[..], b"new"], "{position}: {texts:?}");
        }
    }

    #[test]
    fn what_never_rests_is_given_up() {
        let fs = tree();
        let inject = Inject::new(&fs, |call| {
            if call.op == "read" {
                fs.append("/d/f-wal", b"+");
            }
            None
        });
        assert!(matches!(copied(&inject), Err(NoCopy::Original(refusal)) if refusal.is_transient()));
    }
}
