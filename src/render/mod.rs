//! The renderers show what the report decided: human (miette lives only here), concise, json, jsonl, sarif, junit,
//! github, markdown. Same report, same bytes.

pub mod concise;
pub mod context;
pub mod corpus;
pub mod diff;
pub mod discovery;
pub mod entry;
pub mod explain;
pub mod github;
pub mod history;
pub mod human;
pub mod journals;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod list;
pub mod markdown;
pub mod page;
pub mod paper;
pub mod quota;
pub mod repair;
pub mod replay;
pub mod sarif;
pub mod style;
pub mod tree;
pub mod why;
pub mod words;

use crate::report::Position;
use std::borrow::Cow;

/// What the renderers ask of the checked files. They themselves read none.
pub trait Excerpts {
    /// The path under which the user can open the file that the report names.
    fn opened<'a>(&self, path: &'a str) -> Cow<'a, str> {
        path.into()
    }
    /// At most `len` bytes of the file at `path` (as the report names it) from byte `start` on; none when it cannot be
    /// read, or is no text file.
    fn bytes(&self, path: &str, start: u64, len: usize) -> Option<Vec<u8>>;
}

/// No excerpts.
pub struct NoExcerpts;

impl Excerpts for NoExcerpts {
    fn bytes(&self, _: &str, _: u64, _: usize) -> Option<Vec<u8>> {
        None
    }
}

/// Bytes of a line that are read to find a column in it.
const FAR: u64 = 1 << 16;

/// The column of a place as editors and code hosts count it: 1 and the UTF-16 units before it in its line. None when the file
/// cannot be read, or the place lies too far in its line for anybody to look there.
fn column(place: &Position, files: &dyn Excerpts) -> Option<u64> {
    let (start, before) = (place.byte_start?, place.column?.checked_sub(1)?);
    if before == 0 {
        return Some(1);
    }
    if before > FAR {
        return None;
    }
    // A finding about a whole line names the column where its trouble is; the others begin there.
    let whole_line = start == 0 || files.bytes(&place.path, start - 1, 1)? == b"\n";
    let line_start = if whole_line { start } else { start.checked_sub(before)? };
    let bytes = files.bytes(&place.path, line_start, usize::try_from(before).ok()?)?;
    (bytes.len() as u64 == before).then(|| String::from_utf8_lossy(&bytes).encode_utf16().count() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(&'static str);

    impl Excerpts for Text {
        fn bytes(&self, _: &str, start: u64, len: usize) -> Option<Vec<u8>> {
            let rest = self.0.as_bytes().get(usize::try_from(start).ok()?..)?;
            Some(rest[..len.min(rest.len())].to_vec())
        }
    }

    fn at(start: u64, column: u64) -> Position {
        Position {
            path: "a".into(),
            line: Some(2),
            column: Some(column),
            byte_start: Some(start),
            byte_end: None,
            pointer: None,
            entry: None,
        }
    }

    #[test]
    fn a_column_counts_utf_16_units() {
        let files = Text("x\nü😀end\n");
        assert_eq!(column(&at(8, 7), &files), Some(4), "the place itself");
        assert_eq!(column(&at(2, 7), &files), Some(4), "its line, and the column in it");
        assert_eq!(column(&at(2, 1), &files), Some(1));
    }

    #[test]
    fn a_column_that_nobody_can_see_is_none() {
        assert_eq!(column(&at(8, 7), &NoExcerpts), None);
        assert_eq!(column(&at(2, FAR + 2), &Text("x\ny")), None);
        assert_eq!(column(&at(2, 9), &Text("x\ny")), None);
        assert_eq!(column(&Position { column: Some(0), ..at(2, 1) }, &Text("x\ny")), None);
    }
}
