//! The bounded identity of a transcript too large to be hashed as a whole, through a storage (spec 04 §4.7): facts and a
//! fingerprint of samples. An edit of what is not sampled that keeps every fact stays unseen; this is a check, not a proof.

use super::discovery::resume::{fingerprint, session_in};
use super::storage::{SessionStorage, Stat, StorageError};
use crate::json::JsString;
use crate::transcript::readers::bounded::BOUNDED_MAX;
use std::io;

/// What is compared. All of it must be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColdIdentity {
    /// The path; a storage follows no link.
    pub canonical_path: String,
    /// The header's `id`.
    pub session_id: JsString,
    /// The facts.
    pub stat: Stat,
    /// SHA-256 over the samples.
    pub fingerprint: [u8; 32],
}

/// The identity of the transcript at a path. The facts are looked at again with every sample.
///
/// # Errors
/// Why there is none: it is no regular file with one link, empty or too large, has no header, changes while it is read, or
/// cannot be read.
pub fn identity(storage: &dyn SessionStorage, path: &str) -> Result<ColdIdentity, StorageError> {
    let stat = storage.stat(path)?;
    if !stat.is_file || stat.nlink != 1 || stat.size == 0 || stat.size > BOUNDED_MAX {
        return Err(StorageError::token("identity_unavailable"));
    }
    let sampled = fingerprint(stat.size, &mut |buffer, start| {
        let bytes = storage.read_range(path, start, buffer.len() as u64).map_err(io::Error::other)?;
        if storage.stat(path).ok() != Some(stat) {
            return Err(io::Error::other("source_changed"));
        }
        // A range is read whole or not at all.
        buffer.copy_from_slice(&bytes);
        Ok(bytes.len())
    });
    let (fingerprint, first) = sampled.map_err(|_| StorageError::token("source_changed"))?;
    let session_id = session_in(&first).ok_or_else(|| StorageError::token("identity_unavailable"))?;
    Ok(ColdIdentity { canonical_path: path.to_owned(), session_id, stat, fingerprint })
}

#[cfg(test)]
mod tests {
    use super::super::storage::{Files, Memory};
    use super::*;
    use crate::fsys;

    /// 04 §4.7
    #[test]
    fn a_header_may_stand_behind_empty_lines_and_alone() {
        let storage = Memory::new();
        let header = r#"{"type":"session","id":"s"}"#;
        for text in [format!("{header}\n"), format!("\n \n{header}\n{{}}\n"), header.to_owned()] {
            storage.write("/s/x", text.as_bytes()).unwrap();
            assert_eq!(identity(&storage, "/s/x").unwrap().session_id, JsString::from("s"));
        }
        for text in ["", "\n", "{}\n", "garbage\n"] {
            storage.write("/s/x", text.as_bytes()).unwrap();
            assert!(identity(&storage, "/s/x").unwrap_err().is("identity_unavailable"), "{text:?}");
        }
    }

    /// 04 §4.7
    #[test]
    fn a_second_link_has_no_identity_and_a_change_while_reading_is_seen() {
        let fs = fsys::Memory::new();
        fs.file("/s/x", b"{\"type\":\"session\",\"id\":\"s\"}\n");
        let changing = fsys::Inject::changing(&fs, |call: &fsys::Call<'_>| {
            if call.op == "read" && call.phase == fsys::Phase::After {
                fs.append("/s/x", b"x");
            }
            None
        });
        assert!(identity(&Files::new(&changing), "/s/x").unwrap_err().is("source_changed"));
        fs.hard_link("/s/x", "/s/y");
        assert!(identity(&Files::new(&fs), "/s/x").unwrap_err().is("identity_unavailable"));
        assert!(identity(&Files::new(&fs), "/s/none").unwrap_err().is("ENOENT"));
    }
}
