//! What gjc's HTML export carries of a session, and how to get it back (spec 04 §9.7).
//!
//! Every export of gjc holds one data element: base64 of a JSON object with the header, the entries of all branches, and the
//! id of the leaf. This room writes and reads that element, and knows the rules of `/export`'s argument; the page around the
//! element is the business of a renderer.

use crate::json::{JsString, Value, View, stringify};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

/// How the data element begins.
pub const OPEN: &str = r#"<script id="session-data" type="application/json">"#;
/// How it ends.
pub const CLOSE: &str = "</script>";

/// Writes the data element: the members `header`, `entries`, `leafId` in this order. Entries come one at a time, so that
/// nothing is held twice.
///
/// # Errors
/// Those of `out`.
pub fn write_data(out: &mut dyn Write, header: &Value, entries: impl Iterator<Item = Value>, leaf: Option<&Value>) -> io::Result<()> {
    out.write_all(OPEN.as_bytes())?;
    let mut base64 = Base64 { out, held: Vec::with_capacity(BLOCK * 2) };
    let mut text = b"{\"header\":".to_vec();
    stringify::write(header, &mut text);
    text.extend_from_slice(b",\"entries\":[");
    for (number, entry) in entries.enumerate() {
        if number > 0 {
            text.push(b',');
        }
        stringify::write(&entry, &mut text);
        base64.put(&text)?;
        text.clear();
    }
    text.extend_from_slice(b"],\"leafId\":");
    stringify::write(leaf.unwrap_or(&Value::Null), &mut text);
    text.push(b'}');
    base64.put(&text)?;
    base64.end()?.write_all(CLOSE.as_bytes())
}

/// Base64 of a stream: whole groups of three bytes are written, the rest is held.
struct Base64<'o> {
    out: &'o mut dyn Write,
    held: Vec<u8>,
}

/// Bytes that are encoded at once: a multiple of three.
const BLOCK: usize = 3 << 14;

impl<'o> Base64<'o> {
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.held.len() + bytes.len() >= BLOCK {
            let (now, later) = bytes.split_at(BLOCK - self.held.len());
            self.held.extend_from_slice(now);
            self.out.write_all(data_encoding::BASE64.encode(&self.held).as_bytes())?;
            self.held.clear();
            bytes = later;
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }
    fn end(self) -> io::Result<&'o mut dyn Write> {
        self.out.write_all(data_encoding::BASE64.encode(&self.held).as_bytes())?;
        Ok(self.out)
    }
}

/// A session that was taken out of an export.
#[derive(PartialEq, Debug)]
pub struct Recovered {
    /// The header.
    pub header: Value,
    /// The entries.
    pub entries: Vec<Value>,
    /// The id of the leaf; null before the first entry.
    pub leaf: Value,
}

/// Why there is no session in a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoSession {
    /// It is no export of gjc.
    #[error("it holds no element `session-data`: this is no export of gjc")]
    NoElement,
    /// The page was cut.
    #[error("its element `session-data` never ends: the file was cut")]
    Cut,
    /// The element holds something else.
    #[error("its element `session-data` is no base64 of a JSON object with `header` and `entries`")]
    NotData,
}

/// Takes the session out of a page, of gjc or of this program.
///
/// # Errors
/// Why it is not there.
pub fn recover(page: &[u8]) -> Result<Recovered, NoSession> {
    let find = |what: &str, text: &[u8]| memchr::memmem::find(text, what.as_bytes());
    let begin = find(OPEN, page).ok_or(NoSession::NoElement)? + OPEN.len();
    let data = page.get(begin..).unwrap_or_default();
    let data = data.get(..find(CLOSE, data).ok_or(NoSession::Cut)?).unwrap_or_default();
    let json = data_encoding::BASE64.decode(data.trim_ascii()).map_err(|_| NoSession::NotData)?;
    let mut data = Value::parse(&json).ok_or(NoSession::NotData)?;
    let members = data.as_object_mut().ok_or(NoSession::NotData)?;
    let header = members.remove("header").filter(|header| header.is_record());
    let Some(Value::Array(mut entries)) = members.remove("entries") else { return Err(NoSession::NotData) };
    Ok(Recovered {
        header: header.ok_or(NoSession::NotData)?,
        entries: std::mem::take(entries.items_mut()),
        leaf: members.remove("leafId").unwrap_or_default(),
    })
}

impl Recovered {
    /// Writes the transcript: header and entries, one JSON text a line.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::new();
        for record in std::iter::once(&self.header).chain(&self.entries) {
            line.clear();
            stringify::write(record, &mut line);
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }
    /// Whether a reader of the transcript would come to the leaf of the export: it takes the last entry.
    pub fn ends_at_its_leaf(&self) -> bool {
        match self.entries.last() {
            None => self.leaf == Value::Null,
            Some(last) => last.get("id") == Some(&self.leaf),
        }
    }
}

/// Why `/export` refuses its argument.
pub const USE_DUMP: &str = "/export writes a file; /dump copies the session to the clipboard (here: `gjc-fsck dump`)";

/// The file that the command line `/export …` names; none for the default. Words are split at white space, quotes are
/// letters like any other: of a path with spaces only the first part is taken.
///
/// # Errors
/// [`USE_DUMP`], where the word asks for the clipboard.
pub fn argument(command: &str) -> Result<Option<&str>, &'static str> {
    // JavaScript's white space, which is Rust's and the byte order mark, without U+0085.
    let space = |c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}';
    let words = command.split_once(space).map_or("", |(_, rest)| rest);
    destination(words.trim_start_matches(space).split(space).next().unwrap_or_default())
}

/// The file that one word names; none for the default.
///
/// # Errors
/// [`USE_DUMP`], where the word asks for the clipboard.
pub fn destination(word: &str) -> Result<Option<&str>, &'static str> {
    match word {
        "--copy" | "clipboard" | "copy" => Err(USE_DUMP),
        "" => Ok(None),
        path => Ok(Some(path)),
    }
}

/// The name of an export, when none is given.
pub fn default_name(transcript: &OsStr) -> OsString {
    let name = transcript.as_encoded_bytes();
    let base = name.strip_suffix(b".jsonl").unwrap_or(name);
    let mut export = OsString::from("gjc-session-");
    export.push(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(base));
    export.push(".html");
    export
}

/// The id of an entry as `leafId` has it.
pub fn leaf_id(entry: Option<&Value>) -> Option<Value> {
    entry.and_then(|entry| entry.get("id")).and_then(|id| id.as_str()).map(|id| Value::String(JsString::from_wtf8(id.into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Value {
        Value::parse(text.as_bytes()).unwrap()
    }
    fn page(header: &Value, entries: &[Value], leaf: Option<&Value>) -> Vec<u8> {
        let mut out = b"<!doctype html>".to_vec();
        write_data(&mut out, header, entries.iter().cloned(), leaf).unwrap();
        out.extend_from_slice(b"<p>end");
        out
    }

    /// Computed by running gjc: spec 04 §9.7.
    #[test]
    fn the_element_is_the_one_of_gjc() {
        let header = value(r#"{"type":"session","version":5,"id":"s1","cwd":"/w"}"#);
        let page = String::from_utf8(page(&header, &[], None)).unwrap();
        let data = page.strip_prefix("<!doctype html><script id=\"session-data\" type=\"application/json\">").unwrap();
        assert!(data.starts_with("eyJoZWFkZXIiOnsidHlwZSI6InNlc3Npb24i"), "{data}");
        let json = data_encoding::BASE64.decode(data.split('<').next().unwrap().as_bytes()).unwrap();
        assert_eq!(json, br#"{"header":{"type":"session","version":5,"id":"s1","cwd":"/w"},"entries":[],"leafId":null}"#);
    }

    #[test]
    fn what_is_no_export_is_told_apart() {
        assert_eq!(recover(b"<p>"), Err(NoSession::NoElement));
        assert_eq!(recover(format!("{OPEN}eyJ9").as_bytes()), Err(NoSession::Cut));
        for data in ["!!!!", "bnVsbA==", "e30=", "eyJoZWFkZXIiOnt9fQ=="] {
            assert_eq!(recover(format!("{OPEN}{data}{CLOSE}").as_bytes()), Err(NoSession::NotData), "{data}");
        }
    }

    #[test]
    fn a_leaf_that_is_not_the_last_entry_is_noticed() {
        let entries = [value(r#"{"id":"a"}"#), value(r#"{"id":"b"}"#)];
        let ends = |leaf: &Value| recover(&page(&value("{}"), &entries, Some(leaf))).unwrap().ends_at_its_leaf();
        assert!(ends(&Value::string("b")));
        assert!(!ends(&Value::string("a")));
        assert!(!ends(&Value::Null));
    }

    #[test]
    fn the_argument_of_export_is_its_first_word() {
        assert_eq!(argument("/export"), Ok(None));
        assert_eq!(argument("/export  "), Ok(None));
        assert_eq!(argument("/export out.html"), Ok(Some("out.html")));
        assert_eq!(argument("/export \t \"my file.html\""), Ok(Some("\"my")));
        for word in ["--copy", "clipboard", "copy"] {
            assert_eq!(argument(&format!("/export {word}")), Err(USE_DUMP));
        }
        assert_eq!(argument("/export copy.html"), Ok(Some("copy.html")));
    }

    #[test]
    fn an_export_is_called_after_its_transcript() {
        assert_eq!(default_name(OsStr::new("2026_s1.jsonl")), "gjc-session-2026_s1.html");
        assert_eq!(default_name(OsStr::new("-")), "gjc-session--.html");
    }

    proptest! {
        #[test]
        fn what_was_put_in_comes_out(texts in proptest::collection::vec(any::<String>(), 0..30), size in 0usize..200_000) {
            let entry = |text: &str| Value::Object([("id", Value::string(text)), ("text", Value::string("x".repeat(size / 30)))].into_iter().collect());
            let entries: Vec<Value> = texts.iter().map(|text| entry(text)).collect();
            let header = value(r#"{"type":"session","id":"</script>"}"#);
            let leaf = leaf_id(entries.last());
            let recovered = recover(&page(&header, &entries, leaf.as_ref())).unwrap();
            prop_assert_eq!(&recovered.header, &header);
            prop_assert_eq!(&recovered.entries, &entries);
            prop_assert!(recovered.ends_at_its_leaf());
        }
    }
}
