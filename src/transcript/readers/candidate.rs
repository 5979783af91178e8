//! What the candidate listing of the managed root asks of a file's first line (spec 02 §5.3 steps 1a–c, 01a 5).

use crate::json::text::utf8_lossy;
use crate::json::{Kind, Value, View};

/// Bytes of a file that are looked at; the LF of the header must be among them.
pub const WINDOW: usize = 65_536;

/// The header of a candidate (texts are WTF-8).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// `id`
    pub id: Vec<u8>,
    /// `cwd`
    pub cwd: Vec<u8>,
}

/// Why a file is no candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// No LF in the window, or the first line is no header with string `id` and `cwd`.
    #[error("invalid_header")]
    InvalidHeader,
    /// The first line is not accepted by `JSON.parse` (a byte order mark included).
    #[error("unreadable_candidate")]
    UnreadableCandidate,
}

/// Reads the header of a candidate from the first bytes of its file; [`WINDOW`] of them are enough.
///
/// # Errors
/// Why the file is no candidate.
pub fn header(first_bytes: &[u8]) -> Result<Header, Refusal> {
    let window = &first_bytes[..first_bytes.len().min(WINDOW)];
    let lf = memchr::memchr(b'\n', window).ok_or(Refusal::InvalidHeader)?;
    let value = Value::parse(&utf8_lossy(&window[..lf])).ok_or(Refusal::UnreadableCandidate)?;
    let text = |key| value.str_member(key).map(|text| text.into_owned());
    match (text("id"), text("cwd")) {
        (Some(id), Some(cwd)) if value.kind() == Kind::Object && value.get("type").is_some_and(|t| t.is_str("session")) => {
            Ok(Header { id, cwd })
        }
        _ => Err(Refusal::InvalidHeader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<Refusal> {
        header(text.as_bytes()).err()
    }
    fn padded(bytes: usize) -> String {
        let (head, tail) = (r#"{"type":"session","id":"s","cwd":"/w","x":""#, "\"}\n");
        format!("{head}{}{tail}", "x".repeat(bytes - head.len() - tail.len()))
    }

    #[test]
    fn spaces_and_a_cr_around_the_header_are_fine() {
        let header = header(b"  {\"type\":\"session\",\"id\":\"\",\"cwd\":\"/w\"}\r\n").unwrap();
        assert_eq!(header, Header { id: Vec::new(), cwd: b"/w".to_vec() });
    }

    #[test]
    fn the_lf_stands_among_the_first_65536_bytes() {
        assert_eq!(refusal(&padded(65_536)), None);
        assert_eq!(refusal(&padded(65_537)), Some(Refusal::InvalidHeader));
        assert_eq!(refusal(r#"{"type":"session","id":"s","cwd":"/w"}"#), Some(Refusal::InvalidHeader));
        assert_eq!(refusal(""), Some(Refusal::InvalidHeader));
    }

    #[test]
    fn the_first_line_is_json_and_a_header() {
        assert_eq!(refusal("\u{feff}{}\n"), Some(Refusal::UnreadableCandidate));
        assert_eq!(refusal("\n"), Some(Refusal::UnreadableCandidate));
        assert_eq!(refusal("[]\n"), Some(Refusal::InvalidHeader));
        assert_eq!(refusal("{\"type\":\"session\",\"id\":\"s\"}\n"), Some(Refusal::InvalidHeader));
        assert_eq!(refusal("{\"id\":\"s\",\"cwd\":\"/\"}\n"), Some(Refusal::InvalidHeader));
    }
}
