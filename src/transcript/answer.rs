//! What the readers answer, as JSON text: the shape in which answers are printed and compared
//! (`tests/vectors/README.md`).

use super::load::{Loaded, Whole, load};
use super::migrate::{IdSource, migrate};
use super::throw::Throw;
use crate::finding::Release;
use crate::json::stringify;
use std::io::{self, Read};

/// `{"entries":[…]}`, or `{"throws":"…"}`: what `loadEntriesFromFile` returns for the file.
///
/// # Errors
/// The input cannot be read.
pub fn replay(input: impl Read, release: Release) -> io::Result<Vec<u8>> {
    Ok(text(load(input, Whole, release)?))
}

/// The same, migrated to version 5. Ids of version-1 entries come from `source`.
///
/// # Errors
/// The input cannot be read.
pub fn migrated(input: impl Read, release: Release, source: &mut impl IdSource) -> io::Result<Vec<u8>> {
    let loaded = load(input, Whole, release)?.and_then(|mut loaded| {
        if !loaded.entries.is_empty() {
            migrate(&mut loaded, source)?;
        }
        Ok(loaded)
    });
    Ok(text(loaded))
}

fn text(loaded: Result<Loaded<Whole>, Throw>) -> Vec<u8> {
    let mut out = Vec::new();
    match loaded {
        Ok(loaded) => {
            out.extend_from_slice(b"{\"entries\":[");
            for (number, entry) in loaded.entries.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                stringify::write(entry, &mut out);
            }
            out.extend_from_slice(b"]}");
        }
        Err(throw) => {
            out.extend_from_slice(b"{\"throws\":");
            stringify::write_string(throw.to_string().as_bytes(), &mut out);
            out.push(b'}');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::migrate::Numbered;

    #[test]
    fn what_loads_nothing_has_no_entries_and_is_not_migrated() {
        assert_eq!(replay(&b""[..], Release::V0_17).unwrap(), b"{\"entries\":[]}");
        assert_eq!(migrated(&b"7\n"[..], Release::V0_17, &mut Numbered::default()).unwrap(), b"{\"entries\":[]}");
    }

    #[test]
    fn what_throws_says_so() {
        let answer = replay(&b"{\"type\":\"session\",\"version\":\"x\\u0022\"}"[..], Release::V0_17).unwrap();
        assert_eq!(answer, br#"{"throws":"Unsupported session version: x\""}"#);
    }
}
