//! Readers of the first line alone, each with its own idea of a first line: H, the bounded header; I, the strict
//! inventory; K, the star of the picker (spec 01 §2; 04 §2.6, §2.10, §4.1).

use crate::json::text::{first_invalid_utf8, utf8_lossy};
use crate::json::{Value, View};

/// Where the LF of the first line must stand for H: among this many bytes.
pub const HEADER_WINDOW: usize = 8_388_609;

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// H: the header by itself, from the first [`HEADER_WINDOW`] bytes of a file. None is `malformed`: no LF among them, no
/// UTF-8, no JSON, or no header with a string `id`.
///
/// A byte order mark is dropped, as the runtime's decoder does (not recorded from gjc).
pub fn bounded_header(first_bytes: &[u8]) -> Option<Value> {
    let window = &first_bytes[..first_bytes.len().min(HEADER_WINDOW)];
    let line = &window[..memchr::memchr(b'\n', window)?];
    if first_invalid_utf8(line).is_some() {
        return None;
    }
    let value = Value::parse(line.strip_prefix(MARK).unwrap_or(line))?;
    (is_header(&value) && value.str_member("id").is_some()).then_some(value)
}

/// What keeps a file out of the strict inventory; the first such file fails the whole inventory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InventoryFailure {
    /// The first line is no JSON.
    #[error("parse")]
    Parse,
    /// No `session`, or `id` is no non-empty string.
    #[error("header")]
    Header,
    /// `cwd` is no string.
    #[error("cwd")]
    Cwd,
}

/// The header that the strict inventory reads; texts are WTF-8.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InventoryHeader {
    /// `id`, not empty.
    pub id: Vec<u8>,
    /// `cwd`
    pub cwd: Vec<u8>,
}

/// I: the first line of a file, LF excluded.
///
/// # Errors
/// What the inventory fails with.
pub fn inventory(first_line: &[u8]) -> Result<InventoryHeader, InventoryFailure> {
    let text = utf8_lossy(first_line);
    // JSON.parse allows no more white space than JSON does, JavaScript's trim takes the rest.
    let value = Value::parse(trim(&text)).ok_or(InventoryFailure::Parse)?;
    let id = value.str_member("id").filter(|id| is_header(&value) && !id.is_empty()).ok_or(InventoryFailure::Header)?;
    let cwd = value.str_member("cwd").ok_or(InventoryFailure::Cwd)?;
    Ok(InventoryHeader { id: id.into_owned(), cwd: cwd.into_owned() })
}

/// JavaScript's `trim` of UTF-8 text.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let Ok(text) = std::str::from_utf8(text) else { return text };
    // White space of Unicode, without U+0085, with the byte order mark.
    text.trim_matches(|c: char| c == '\u{feff}' || c.is_whitespace() && c != '\u{85}').as_bytes()
}

/// What starring a session from the picker comes to, by its first line (0.17).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Star {
    /// A patch is appended.
    Append,
    /// The header is rewritten with the capability, then the patch is appended.
    Upgrade,
    /// The first line is no header of this session.
    IdentityChanged,
    /// Version below 4: `Session format requires an upgrade.`
    OldFormat,
}

/// K: the first line of a file, LF excluded. A byte order mark stays, and fails `JSON.parse`.
pub fn picker_star(first_line: &[u8], session_id: &[u8]) -> Star {
    let value = match Value::parse(&utf8_lossy(first_line)) {
        Some(value) if is_header(&value) && value.str_member("id").as_deref() == Some(session_id) => value,
        _ => return Star::IdentityChanged,
    };
    if value.get("version").and_then(View::as_f64).is_none_or(|version| version < 4.0) {
        Star::OldFormat
    } else if crate::transcript::header::star_capable(&value) {
        Star::Append
    } else {
        Star::Upgrade
    }
}

fn is_header(value: &Value) -> bool {
    value.get("type").is_some_and(|kind| kind.is_str("session"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","cwd":"/w"}"#;

    fn accepts_bounded(text: &str) -> bool {
        bounded_header(text.as_bytes()).is_some()
    }

    #[test]
    fn the_bounded_header_needs_its_lf() {
        assert!(accepts_bounded(&format!("{HEADER}\n")));
        assert!(accepts_bounded(&format!("\u{feff} {HEADER}\r\n")));
        assert!(!accepts_bounded(HEADER));
        assert!(!accepts_bounded(&format!("\n{HEADER}\n")));
        assert!(bounded_header(b"{\"type\":\"session\",\"id\":\"\xFF\"}\n").is_none());
        let padded = |spaces: usize| format!("{HEADER}{}\n", " ".repeat(spaces - HEADER.len()));
        assert!(accepts_bounded(&padded(8_388_608)));
        assert!(!accepts_bounded(&padded(8_388_609)));
    }

    #[test]
    fn the_inventory_wants_an_id_and_a_cwd() {
        assert_eq!(inventory(format!("\u{feff}\u{a0}{HEADER}\r").as_bytes()).map(|header| header.cwd), Ok(b"/w".to_vec()));
        assert_eq!(inventory(b""), Err(InventoryFailure::Parse));
        assert_eq!(inventory(br#"{"type":"session","id":"","cwd":"/"}"#), Err(InventoryFailure::Header));
        assert_eq!(inventory(br#"{"type":"message","id":"s","cwd":"/"}"#), Err(InventoryFailure::Header));
        assert_eq!(inventory(br#"{"type":"session","id":"s"}"#), Err(InventoryFailure::Cwd));
    }

    #[test]
    fn the_star_is_appended_to_capable_headers_only() {
        assert_eq!(picker_star(HEADER.as_bytes(), b"s"), Star::Upgrade);
        assert_eq!(picker_star(HEADER.replace("\"id\"", "\"starredPatchVersion\":1,\"id\"").as_bytes(), b"s"), Star::Append);
        assert_eq!(picker_star(HEADER.replace('5', "3").as_bytes(), b"s"), Star::OldFormat);
        assert_eq!(picker_star(HEADER.as_bytes(), b"other"), Star::IdentityChanged);
        assert_eq!(picker_star(format!("\u{feff}{HEADER}").as_bytes(), b"s"), Star::IdentityChanged);
    }
}
