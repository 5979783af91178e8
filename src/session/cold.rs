//! The bounded identity of a transcript too large to be hashed as a whole (spec 04 §4.7): facts and a fingerprint of samples.
//! An edit of what is not sampled that keeps every fact stays unseen; this is a check, not a proof.

use super::storage::{SessionStorage, Stat, StorageError};
use crate::json::{JsString, Value, View};
use crate::transcript::readers::bounded::BOUNDED_MAX;
use crate::transcript::readers::first_line::HEADER_WINDOW;
use sha2::{Digest, Sha256};

/// Bytes of a sample behind the first one.
const SAMPLE: u64 = 65_536;

/// Most bytes that one identity asks for.
pub const MOST_BYTES: u64 = HEADER_WINDOW as u64 + 3 * SAMPLE;

/// What is compared. All of it must be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColdIdentity {
    /// The path.
    pub canonical_path: String,
    /// The header's `id`.
    pub session_id: JsString,
    /// The facts.
    pub stat: Stat,
    /// SHA-256 of the frames, in lower-case hexadecimal digits.
    pub fingerprint: String,
}

/// A range that is sampled: where it begins and how many bytes it has.
pub type Frame = (u64, u64);

/// The frames of a file of this size, in order: the beginning, then samples at a third, at two thirds and at the end that do
/// not lie in the beginning; none twice.
pub fn frames(size: u64) -> Vec<Frame> {
    let beginning = size.min(HEADER_WINDOW as u64);
    let sample = size.min(SAMPLE);
    let last = size - sample;
    let mut frames = vec![(0, beginning)];
    for start in [last / 3, 2 * last / 3, last] {
        if start + sample > beginning && !frames.iter().skip(1).any(|(taken, _)| *taken == start) {
            frames.push((start, sample));
        }
    }
    frames
}

/// SHA-256 over the frames: each is where it begins (8 bytes, big endian), its length (4 bytes, big endian) and its bytes.
/// `read` gives the bytes of a frame.
///
/// # Errors
/// Those of `read`.
pub fn fingerprint<E>(size: u64, mut read: impl FnMut(Frame) -> Result<Vec<u8>, E>) -> Result<String, E> {
    let mut hash = Sha256::new();
    for (start, length) in frames(size) {
        hash.update(start.to_be_bytes());
        hash.update((length as u32).to_be_bytes());
        hash.update(read((start, length))?);
    }
    Ok(data_encoding::HEXLOWER.encode(&hash.finalize()))
}

/// The identity of the transcript at a path.
///
/// # Errors
/// Why there is none: it is no regular file with one link, empty or too large, has no header, changes while it is read, or
/// cannot be read.
pub fn identity(storage: &dyn SessionStorage, path: &str) -> Result<ColdIdentity, StorageError> {
    let stat = storage.stat(path)?;
    if !stat.is_file || stat.nlink != 1 || stat.size == 0 || stat.size > BOUNDED_MAX {
        return Err(StorageError::token("identity_unavailable"));
    }
    let mut session_id = None;
    let fingerprint = fingerprint(stat.size, |(start, length)| {
        let bytes = storage.read_range(path, start, length)?;
        if start == 0 && session_id.is_none() {
            session_id = Some(session_of(&bytes));
        }
        if storage.stat(path)? == stat { Ok(bytes) } else { Err(StorageError::token("source_changed")) }
    })?;
    let session_id = session_id.flatten().ok_or_else(|| StorageError::token("identity_unavailable"))?;
    Ok(ColdIdentity { canonical_path: path.to_owned(), session_id, stat, fingerprint })
}

/// The `id` of the header that the first line that is not blank must be.
fn session_of(beginning: &[u8]) -> Option<JsString> {
    let line = beginning.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    let header = Value::parse(line.trim_ascii())?;
    let id = header.str_member("id").filter(|_| header.member("type").is_some_and(|kind| kind.is_str("session")))?;
    Some(JsString::from_wtf8(id.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::storage::{Files, Memory};
    use super::*;
    use crate::fsys;
    use std::convert::Infallible;

    /// 04 §4.7
    #[test]
    fn the_worked_fingerprint_of_a_small_file() {
        let text = b"{\"type\":\"session\"}\n";
        let read = |(start, length): Frame| Ok::<_, Infallible>(text[start as usize..(start + length) as usize].to_vec());
        assert_eq!(fingerprint(19, read).unwrap(), "20ba6b082df05dea079a7b2c66fe332813271f2d1112aa68462769c54cc6e29b");
    }

    /// 04 §4.7
    #[test]
    fn the_worked_fingerprint_of_a_large_file_asks_for_a_bounded_number_of_bytes() {
        let mut asked = 0;
        let read = |(_, length): Frame| {
            asked += length;
            Ok::<_, Infallible>(vec![b'a'; length as usize])
        };
        let print = fingerprint(134_217_729, read).unwrap();
        assert_eq!(print, "99d19c69f636c4aaf9d11f2a34bac1e0da561a63f44b9bfe6b0a0dbf1aa7ce7c");
        assert_eq!((asked, MOST_BYTES), (8_585_217, 8_585_217));
        let starts: Vec<u64> = frames(134_217_729).iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [0, 44_717_397, 89_434_795, 134_152_193]);
    }

    #[test]
    fn samples_that_lie_in_the_beginning_are_not_taken_again() {
        assert_eq!(frames(8_388_609), [(0, 8_388_609)]);
        assert_eq!(frames(8_388_610), [(0, 8_388_609), (8_323_074, 65_536)]);
        assert_eq!(frames(1), [(0, 1)]);
    }

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
