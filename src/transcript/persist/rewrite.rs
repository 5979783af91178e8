//! The full rewrite: header(s) and all entries in file order, duplicates and unreachable branches too, no patches; each
//! settled and prepared (spec 01 §8.5).

use super::prepare::prepare_counting;
use super::settle::{Origin, settle};
use super::tally::Tally;
use crate::finding::Release;
use crate::json::{Value, stringify};
use crate::transcript::EntryKind;
use crate::transcript::blobs::BlobStore;
use std::io::{self, Write};

/// An entry as a rewrite stores it.
pub fn stored(mut entry: Value, origin: Origin, store: &mut dyn BlobStore, release: Release, tally: &mut Tally) -> Value {
    // Opening does not look for references in headers.
    let origin = if EntryKind::of(&entry).is_header() { Origin::Session } else { origin };
    settle(&mut entry, store, release, origin, tally);
    prepare_counting(entry, store, release, tally)
}

/// Writes the transcript that a rewrite makes of entries read from a file: one record a line, each line ended.
///
/// # Errors
/// Those of `out`.
pub fn rewrite(
    entries: impl IntoIterator<Item = Value>,
    store: &mut dyn BlobStore,
    release: Release,
    tally: &mut Tally,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    for entry in entries {
        line.clear();
        write_line(&stored(entry, Origin::File, store, release, tally), &mut line);
        out.write_all(&line)?;
    }
    Ok(())
}

/// Appends a record and its LF.
pub fn write_line(record: &Value, out: &mut Vec<u8>) {
    stringify::write(record, out);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::blobs::{MemoryStore, NoStore};
    use crate::transcript::load::{Whole, load};

    fn rewritten(text: &str) -> String {
        let loaded = load(text.as_bytes(), Whole, Release::V0_17).unwrap().unwrap();
        let mut out = Vec::new();
        rewrite(loaded.entries, &mut NoStore, Release::V0_17, &mut Tally::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;

    #[test]
    fn everything_is_written_again_in_file_order_and_patches_are_folded_in() {
        let a = r#"{"type":"label","id":"a","parentId":null,"timestamp":"t","targetId":"x"}"#;
        let text = format!("{HEADER}\n{a}\ngarbage\n{{\"type\":\"header_patch\",\"patch\":{{\"title\":\"T\"}}}}\n{a}");
        let header = HEADER.replace("\"cwd\":\"/w\"", "\"cwd\":\"/w\",\"title\":\"T\"");
        assert_eq!(rewritten(&text), format!("{header}\n{a}\n{a}\n"));
    }

    /// Headers pass through the store of UTF-8 texts as entries do; their references are texts.
    #[test]
    fn long_strings_of_the_header_lose_their_lone_surrogates() {
        let title = |units: usize| HEADER.replace("\"cwd\"", &format!("\"title\":\"{}\\ud800\",\"cwd\"", "t".repeat(units - 1))) + "\n";
        assert_eq!(rewritten(&title(1023)), title(1023));
        assert_eq!(rewritten(&title(1024)), title(1024).replace("\\ud800", "\u{FFFD}"));
        let reference = HEADER.replace("\"/w\"", &format!("\"/w\",\"data\":\"blob:sha256:{}\"", "0".repeat(64))) + "\n";
        let stored = |entry: &str| {
            stored(
                Value::parse(entry.as_bytes()).unwrap(),
                Origin::File,
                &mut MemoryStore::default(),
                Release::V0_17,
                &mut Tally::default(),
            )
        };
        assert_eq!(stringify::to_text(&stored(&reference)) + "\n", reference);
    }

    #[test]
    fn numbers_escapes_and_duplicate_keys_are_normalised() {
        let text = format!("{HEADER}\n{}", r#"{"type":"x","a":1,"b":1.50,"a":2,"c":-0,"d":1e400,"e":"\u0041\/","2":0}"#);
        assert!(rewritten(&text).ends_with("{\"2\":0,\"type\":\"x\",\"a\":2,\"b\":1.5,\"c\":0,\"d\":null,\"e\":\"A/\"}\n"));
    }
}
