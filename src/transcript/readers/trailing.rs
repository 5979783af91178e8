//! The reverse scan for header patches that listings make in large files (spec 01 §5.6, 04 §2.5).

use super::picker::{PREFIX, ReadAt};
use crate::finding::Release;
use crate::json::text::utf8_lossy;
use crate::json::{JsString, Value, View};
use crate::transcript::{EntryKind, patch};
use std::io;

/// Bytes that the scan reads at a time.
const CHUNK: u64 = 65_536;
/// A line larger than this is not looked at: no patch of gjc comes near.
const LINE_LIMIT: usize = 64 << 20;

/// The newest values that trailing patches set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trailing {
    /// `title`
    pub title: Option<JsString>,
    /// `cwd`
    pub cwd: Option<JsString>,
    /// `starred`, when it was asked for.
    pub starred: Option<bool>,
}

impl Trailing {
    /// Takes what an older line sets and no newer one set.
    fn take(&mut self, line: &[u8], star: bool, release: Release) {
        if memchr::memmem::find(line, b"header_patch").is_none() {
            return;
        }
        let Some(record) = Value::parse(&utf8_lossy(line)) else { return };
        let record = &record;
        if EntryKind::of(record) != EntryKind::HeaderPatch {
            return;
        }
        let Ok(patch) = patch::header_patch(record, release) else { return };
        let text = |value: Option<&Value>| value.and_then(View::as_str).map(|text| JsString::from_wtf8(text.into_owned()));
        self.title = self.title.take().or_else(|| text(patch.title));
        self.cwd = self.cwd.take().or_else(|| text(patch.cwd));
        self.starred = self.starred.or_else(|| patch.starred.filter(|_| star).and_then(View::as_bool));
    }
    fn is_complete(&self, star: bool) -> bool {
        self.title.is_some() && self.cwd.is_some() && (self.starred.is_some() || !star)
    }
}

/// The beginning of a line whose rest was read before: pieces, the last one first.
#[derive(Default)]
struct Rest {
    pieces: Vec<Vec<u8>>,
    bytes: usize,
}

impl Rest {
    fn push(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        if self.bytes > LINE_LIMIT {
            self.pieces.clear();
        } else {
            self.pieces.push(piece.to_vec());
        }
    }
    /// The whole line; empty when it is too long to be looked at.
    fn line(&mut self) -> Vec<u8> {
        let rest = std::mem::take(self);
        rest.pieces.into_iter().rev().collect::<Vec<_>>().concat()
    }
}

/// Scans a file of `size` bytes from its end until everything is found. Files of at most 4,096 bytes are not scanned.
/// `star`: `starred` is asked for.
///
/// # Errors
/// The file cannot be read.
pub fn scan(size: u64, read_at: ReadAt<'_>, star: bool, release: Release) -> io::Result<Trailing> {
    let mut found = Trailing::default();
    if size <= PREFIX as u64 {
        return Ok(found);
    }
    let mut rest = Rest::default();
    let mut end = size;
    let mut buffer = Vec::new();
    while end > 0 && !found.is_complete(star) {
        let start = end.saturating_sub(CHUNK);
        buffer.resize((end - start) as usize, 0);
        let chunk = filled(&mut buffer, start, read_at)?;
        end = start;
        let mut lines = chunk.rsplit(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            rest.push(line);
            // What stands before this piece is not read yet, unless the file or a line ends there.
            if lines.peek().is_some() || end == 0 {
                found.take(&rest.line(), star, release);
                if found.is_complete(star) {
                    break;
                }
            }
        }
    }
    Ok(found)
}

/// Fills the buffer as far as the file goes.
fn filled<'b>(buffer: &'b mut [u8], offset: u64, read_at: ReadAt<'_>) -> io::Result<&'b [u8]> {
    let mut length = 0;
    while length < buffer.len() {
        match read_at(&mut buffer[length..], offset + length as u64)? {
            0 => break,
            read => length += read,
        }
    }
    Ok(&buffer[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str, star: bool) -> Trailing {
        let bytes = text.as_bytes();
        let mut read_at = |buffer: &mut [u8], offset: u64| {
            let from = bytes.get(offset as usize..).unwrap_or_default();
            let take = from.len().min(buffer.len());
            buffer[..take].copy_from_slice(&from[..take]);
            Ok(take)
        };
        scan(bytes.len() as u64, &mut read_at, star, Release::V0_17).unwrap()
    }
    fn patch(members: &str) -> String {
        format!("{{\"type\":\"header_patch\",\"patch\":{{{members}}}}}\n")
    }

    #[test]
    fn the_newest_patch_of_each_field_wins_wherever_chunks_are_cut() {
        for filler in [5_000, 65_400, 65_480, 65_536, 200_000] {
            let filler = format!("\"{}\"\n", "x".repeat(filler));
            let text = [patch(r#""title":"old""#), patch(r#""title":"new","starred":true"#), filler, patch(r#""cwd":"/w""#)].concat();
            let found = scanned(&text, true);
            assert_eq!((found.title, found.cwd, found.starred), (Some("new".into()), Some("/w".into()), Some(true)));
        }
    }

    #[test]
    fn a_star_is_found_only_when_it_is_asked_for() {
        let text = [patch(r#""starred":false"#), format!("\"{}\"", "x".repeat(5_000))].concat();
        assert_eq!(scanned(&text, false).starred, None);
        assert_eq!(scanned(&text, true).starred, Some(false));
    }

    #[test]
    fn small_files_and_invalid_patches_say_nothing() {
        assert_eq!(scanned(&patch(r#""title":"t""#), true), Trailing::default());
        let text = [patch(r#""title":"t","x":1"#), format!("\"{}\"", "x".repeat(5_000))].concat();
        assert_eq!(scanned(&text, true), Trailing::default());
    }
}
