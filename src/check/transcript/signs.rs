//! What a record might hold, found in one flat walk over its tape. A sign costs nothing when it is absent: the pass of
//! an area looks closer only at records that carry its sign.

use crate::json::{Kind, Node, View};
use crate::transcript::blobs::REFERENCE_PREFIX;

/// Notice that replaces evicted history (spec 01 §4.5).
pub const SPILL_NOTICE: &[u8] = b"[Compacted history content evicted to durable cold storage]";
/// Beginning of the text that replaces a missing blob (spec 01 §4.4).
pub const PLACEHOLDER_PREFIX: &[u8] = b"[Session resident ";
/// End of a string that was cut when it was written (spec 01 §8.4).
pub const TRUNCATION_NOTICE: &[u8] = b"[Session persistence truncated large content]";
/// Beginning of an inline image.
pub const DATA_URL_PREFIX: &[u8] = b"data:image/";
/// Strings of this many units or more are never a matter of course (spec 01 §8.4).
pub const LONG_UNITS: usize = 1024;

/// A set of signs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Signs(u16);

/// One sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Sign {
    /// A key `partialJson` or `jsonlEvents`.
    TransientKey = 1,
    /// A string that begins `blob:sha256:`.
    Reference = 2,
    /// A string that begins like the text for a missing blob.
    Placeholder = 4,
    /// A key `__gjcResidentBlob`.
    Sentinel = 8,
    /// The eviction notice, a key `__gjcColdSpillArguments`, or a key `evictedContent`.
    Spill = 16,
    /// A long string under `data`.
    LongData = 32,
    /// A long string under `oldText` or `newText`.
    LongSnapshot = 64,
    /// A string of more than 500,000 bytes.
    VeryLong = 128,
    /// A string that ends with the truncation notice.
    Truncated = 256,
    /// A string that begins `data:image/` under `image_url` or `url`.
    DataUrl = 512,
    /// A key that only other producers write.
    ForeignKey = 1024,
}

impl Signs {
    /// The signs of a record.
    pub fn of(record: Node<'_>) -> Signs {
        let mut signs = Signs::default();
        for node in record.descend() {
            if node.kind() != Kind::String {
                continue;
            }
            let Some(raw) = node.raw_str() else { continue };
            if node.is_key() {
                signs.key(node, raw);
            } else if raw.len() >= LONG_UNITS || matches!(raw, [b'[' | b'b' | b'd', ..] | [.., b']']) || node.has_unicode_escape() {
                signs.string(node, raw);
            }
        }
        signs
    }

    /// True when the record carries the sign.
    pub const fn has(self, sign: Sign) -> bool {
        self.0 & sign as u16 != 0
    }

    /// True when the record carries one of the signs.
    pub fn any(self, signs: &[Sign]) -> bool {
        signs.iter().any(|sign| self.has(*sign))
    }

    fn set(&mut self, sign: Sign) {
        self.0 |= sign as u16;
    }

    fn key(&mut self, node: Node<'_>, raw: &[u8]) {
        if node.has_unicode_escape() {
            let key = node.as_str().unwrap_or_default();
            self.plain_key(&key);
        } else if matches!(raw.len(), 7 | 11 | 14 | 17 | 18 | 19 | 23) {
            self.plain_key(raw);
        }
    }

    fn plain_key(&mut self, key: &[u8]) {
        match key {
            b"partialJson" | b"jsonlEvents" => self.set(Sign::TransientKey),
            b"__gjcResidentBlob" => self.set(Sign::Sentinel),
            b"__gjcColdSpillArguments" | b"evictedContent" => self.set(Sign::Spill),
            b"ordinal" | b"first_kept_entry_id" | b"replaces_entry_ids" => self.set(Sign::ForeignKey),
            _ => {}
        }
    }

    fn string(&mut self, node: Node<'_>, raw: &[u8]) {
        // Only a `\u` escape can hide what is looked for, except `\/` in the prefix of a data URL.
        if node.has_unicode_escape() || (node.is_escaped() && raw.starts_with(b"data:image")) {
            let text = node.as_str().unwrap_or_default();
            self.plain_string(node, &text, raw.len());
        } else {
            self.plain_string(node, raw, raw.len());
        }
    }

    fn plain_string(&mut self, node: Node<'_>, text: &[u8], raw_length: usize) {
        if text.starts_with(REFERENCE_PREFIX.as_bytes()) {
            self.set(Sign::Reference);
        } else if text.starts_with(PLACEHOLDER_PREFIX) {
            self.set(Sign::Placeholder);
        } else if text == SPILL_NOTICE {
            self.set(Sign::Spill);
        } else if text.starts_with(DATA_URL_PREFIX) && node.member_key().is_some_and(|key| key.is_str("image_url") || key.is_str("url")) {
            self.set(Sign::DataUrl);
        }
        if text.ends_with(TRUNCATION_NOTICE) {
            self.set(Sign::Truncated);
        }
        if raw_length >= LONG_UNITS {
            if raw_length > 500_000 {
                self.set(Sign::VeryLong);
            }
            match node.member_key() {
                Some(key) if key.is_str("data") => self.set(Sign::LongData),
                Some(key) if key.is_str("oldText") || key.is_str("newText") => self.set(Sign::LongSnapshot),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tape;
    use crate::json::scan::scan;

    fn signs(text: &str) -> Signs {
        let mut tape = Tape::default();
        scan(text.as_bytes(), 0, &mut tape);
        Signs::of(tape.root(text.as_bytes()).expect("the text is a value"))
    }

    #[test]
    fn an_ordinary_record_has_no_sign() {
        let text = format!(r#"{{"type":"message","timestamp":"x","message":{{"content":[{{"text":"{}"}}]}}}}"#, "a".repeat(5000));
        assert_eq!(signs(&text), Signs::default());
    }

    #[test]
    fn each_sign_is_seen_at_any_depth_and_behind_escapes() {
        let long = "a".repeat(LONG_UNITS);
        for (inside, sign) in [
            (r#"{"partialJson":1}"#.to_owned(), Sign::TransientKey),
            (r#"{"jsonlEvent\u0073":1}"#.to_owned(), Sign::TransientKey),
            (r#"["blob:sha256:x"]"#.to_owned(), Sign::Reference),
            (r#"["\u0062lob:sha256:x"]"#.to_owned(), Sign::Reference),
            (r#"["[Session resident text blob missing"]"#.to_owned(), Sign::Placeholder),
            (r#"{"__gjcResidentBlob":true}"#.to_owned(), Sign::Sentinel),
            (r#"{"__gjcColdSpillArguments":true}"#.to_owned(), Sign::Spill),
            (r#"["[Compacted history content evicted to durable cold storage]"]"#.to_owned(), Sign::Spill),
            (format!(r#"{{"data":"{long}"}}"#), Sign::LongData),
            (format!(r#"{{"newText":"{long}"}}"#), Sign::LongSnapshot),
            (format!(r#"["{}"]"#, "a".repeat(500_001)), Sign::VeryLong),
            (r#"["x\n\n[Session persistence truncated large content]"]"#.to_owned(), Sign::Truncated),
            (r#"{"image_url":{"url":"data:image\/png;base64,AA"}}"#.to_owned(), Sign::DataUrl),
            (r#"{"ordinal":1}"#.to_owned(), Sign::ForeignKey),
        ] {
            let signs = signs(&format!(r#"{{"a":[{inside}]}}"#));
            assert!(signs.has(sign), "{sign:?}");
            assert!(signs.any(&[sign]));
        }
    }

    #[test]
    fn near_misses_have_no_sign() {
        for text in [r#"{"a":"blob:sha255:x"}"#, r#"{"a":"data:image/png;base64,AA"}"#, r#"{"a":"partialJson"}"#, r#"{"data":"short"}"#] {
            assert_eq!(signs(text), Signs::default(), "{text}");
        }
    }
}
