//! Commit markers: a small file beside a transcript that is only ever made where there is none, or put in place of exactly the
//! one that was read (spec 04 §7.5). A marker that is no JSON is a marker all the same: what is compared are its bytes.

use super::rewrite::{discard, write_durably};
use super::{Result, SessionStorage, Stat, StorageError, join, split};
use crate::agent::sidecar::COMMIT_BYTES;
use crate::transcript::blobs::name_of;

/// A marker as it was read: what a replacement is bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Its facts.
    pub stat: Stat,
}

/// Reads a marker; none where nothing stands.
///
/// # Errors
/// `commit_marker_oversized` above 8 MiB; the storage's.
pub fn read(storage: &dyn SessionStorage, path: &str) -> Result<Option<Marker>> {
    if !storage.exists(path)? {
        return Ok(None);
    }
    if storage.stat(path)?.size > COMMIT_BYTES {
        return Err(StorageError::token("commit_marker_oversized"));
    }
    let there = storage.read_snapshot(path)?;
    Ok(Some(Marker { sha256: name_of(&there.bytes), stat: there.stat }))
}

/// Makes a marker where there is none; `name` makes the temporary name different from those of others.
///
/// # Errors
/// `commit_marker_expected_missing` where one stands; `commit_marker_create_rejected:<reason>`; the storage's. A marker that
/// has its name already stays when its directory cannot be made durable.
pub fn create(storage: &dyn SessionStorage, path: &str, name: &str, bytes: &[u8]) -> Result<()> {
    put(storage, path, name, bytes, |temporary| {
        storage.rename_no_replace(temporary, path).map_err(|error| {
            if error.is("destination_conflict") {
                return StorageError::token("commit_marker_expected_missing");
            }
            StorageError { code: error.code, message: format!("commit_marker_create_rejected:{error}") }
        })
    })
}

/// Puts a marker in place of the one that was read.
///
/// # Errors
/// `commit_marker_expected_present` where nothing stands; `commit_marker_raw_hash_mismatch` for other bytes, then
/// `commit_marker_identity_mismatch` for another file of the same bytes; the storage's. What stands there is then untouched.
pub fn replace(storage: &dyn SessionStorage, path: &str, name: &str, bytes: &[u8], expected: &Marker) -> Result<()> {
    let must_stand = || {
        let there = read(storage, path)?.ok_or_else(|| StorageError::token("commit_marker_expected_present"))?;
        match () {
            () if there.sha256 != expected.sha256 => Err(StorageError::token("commit_marker_raw_hash_mismatch")),
            () if there.stat != expected.stat => Err(StorageError::token("commit_marker_identity_mismatch")),
            () => Ok(()),
        }
    };
    must_stand()?;
    // Looked at once more when the new one is complete: whoever came first stays.
    put(storage, path, name, bytes, |temporary| must_stand().and_then(|()| storage.rename(temporary, path)))
}

/// A complete and durable temporary file, which `publish` gives its name; it leaves no residue.
fn put(storage: &dyn SessionStorage, path: &str, name: &str, bytes: &[u8], publish: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let (directory, base) = split(path);
    let temporary = join(directory, &format!(".{base}.{name}.tmp"));
    let published = write_durably(storage, &temporary, bytes).and_then(|()| publish(&temporary));
    published.inspect_err(|_| discard(storage, &temporary))?;
    storage.sync_directory(directory)
}

#[cfg(test)]
mod tests {
    use super::super::double::{Answer, Hooked};
    use super::super::{Files, Memory};
    use super::*;
    use crate::fsys;

    const PATH: &str = "/s/x.jsonl.spill.commit";

    fn token(result: Result<()>) -> String {
        result.unwrap_err().message
    }
    /// Both storages keep the same contract.
    fn on_both(check: impl Fn(&dyn SessionStorage)) {
        let fs = fsys::Memory::new();
        fs.directory("/s");
        check(&Files::new(&fs));
        check(&Memory::new());
    }
    fn nothing_beside(storage: &dyn SessionStorage) {
        assert_eq!(storage.list_files("/s", ".*"), Vec::<String>::new());
    }

    /// 04 §7.5
    #[test]
    fn a_marker_is_made_only_where_there_is_none() {
        on_both(|storage| {
            assert_eq!(read(storage, PATH), Ok(None));
            create(storage, PATH, "u", b"{\"gen\":0}\n").unwrap();
            assert_eq!(read(storage, PATH).unwrap().unwrap().sha256, name_of(b"{\"gen\":0}\n"));
            assert_eq!(token(create(storage, PATH, "u", b"{\"gen\":1}\n")), "commit_marker_expected_missing");
            assert_eq!(storage.read(PATH).unwrap(), b"{\"gen\":0}\n");
            nothing_beside(storage);
        });
    }

    /// 04 §7.5
    #[test]
    fn a_marker_is_replaced_only_when_it_is_the_one_that_was_read() {
        on_both(|storage| {
            storage.write(PATH, b"no JSON {{").unwrap();
            let first = read(storage, PATH).unwrap().unwrap();
            replace(storage, PATH, "u", b"1\n", &first).unwrap();
            assert_eq!(token(replace(storage, PATH, "u", b"2\n", &first)), "commit_marker_raw_hash_mismatch");
            assert_eq!(storage.read(PATH).unwrap(), b"1\n");
            // The same bytes in another file.
            let second = read(storage, PATH).unwrap().unwrap();
            storage.unlink(PATH).unwrap();
            assert_eq!(token(replace(storage, PATH, "u", b"2\n", &second)), "commit_marker_expected_present");
            storage.publish(PATH, b"1\n").unwrap();
            assert_eq!(token(replace(storage, PATH, "u", b"2\n", &second)), "commit_marker_identity_mismatch");
            assert_eq!(storage.read(PATH).unwrap(), b"1\n");
            nothing_beside(storage);
        });
    }

    #[test]
    fn a_marker_that_appears_meanwhile_is_not_replaced() {
        let memory = Memory::new();
        create(&memory, PATH, "u", b"0\n").unwrap();
        let expected = read(&memory, PATH).unwrap().unwrap();
        let racing = Hooked::new(&memory, |asked| {
            if asked.operation == "open_writer" {
                memory.write(PATH, b"theirs\n").unwrap();
            }
            Answer::GoOn
        });
        assert_eq!(token(replace(&racing, PATH, "u", b"1\n", &expected)), "commit_marker_raw_hash_mismatch");
        assert_eq!(memory.all(), [(PATH.to_owned(), b"theirs\n".to_vec())]);
    }

    #[test]
    fn what_fails_before_the_name_leaves_the_old_marker_and_no_residue() {
        for operation in ["open_writer", "rename"] {
            let memory = Memory::new();
            create(&memory, PATH, "u", b"0\n").unwrap();
            let expected = read(&memory, PATH).unwrap().unwrap();
            let failing = Hooked::new(&memory, |asked| if asked.operation == operation { Answer::token("EIO") } else { Answer::GoOn });
            assert!(replace(&failing, PATH, "u", b"1\n", &expected).unwrap_err().is("EIO"));
            assert_eq!(memory.all(), [(PATH.to_owned(), b"0\n".to_vec())], "{operation}");
        }
        // Behind it the new one stands.
        let memory = Memory::new();
        let failing = Hooked::new(&memory, |asked| if asked.operation == "sync_directory" { Answer::token("EIO") } else { Answer::GoOn });
        assert!(create(&failing, PATH, "u", b"0\n").unwrap_err().is("EIO"));
        assert_eq!(memory.all(), [(PATH.to_owned(), b"0\n".to_vec())]);
        let failing =
            Hooked::new(&memory, |asked| if asked.operation == "rename_no_replace" { Answer::token("EIO") } else { Answer::GoOn });
        assert_eq!(token(create(&failing, "/s/other", "u", b"")), "commit_marker_create_rejected:EIO");
    }

    #[test]
    fn a_marker_of_more_than_8_mib_is_not_read() {
        let memory = Memory::new();
        memory.write(PATH, &vec![b'x'; COMMIT_BYTES as usize]).unwrap();
        assert!(read(&memory, PATH).unwrap().is_some());
        memory.write(PATH, &vec![b'x'; COMMIT_BYTES as usize + 1]).unwrap();
        assert!(read(&memory, PATH).unwrap_err().is("commit_marker_oversized"));
    }
}
