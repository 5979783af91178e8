//! Decoding of bytes to text as gjc's runtime does it (spec 01 §2.2), and of JSON string escapes.

/// How the lenient file reader (L) decodes a file (the paragraph in `tests/vectors/README.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// UTF-8; `bom` bytes of byte order mark are dropped (0 or 3).
    Utf8 {
        /// Length of the dropped mark.
        bom: usize,
    },
    /// UTF-16LE behind `FF FE`.
    Utf16Le,
}

/// U+FEFF in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The encoding that the first bytes of a file select.
pub fn sniff(head: &[u8]) -> Encoding {
    if head.starts_with(&[0xFF, 0xFE]) {
        Encoding::Utf16Le
    } else if head.starts_with(BYTE_ORDER_MARK) {
        Encoding::Utf8 { bom: BYTE_ORDER_MARK.len() }
    } else {
        Encoding::Utf8 { bom: 0 }
    }
}

/// UTF-8 with one U+FFFD per maximal bad subsequence; borrowed when nothing had to be replaced.
pub fn utf8_lossy(bytes: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return std::borrow::Cow::Borrowed(bytes);
    }
    match String::from_utf8_lossy(bytes) {
        std::borrow::Cow::Borrowed(text) => std::borrow::Cow::Borrowed(text.as_bytes()),
        std::borrow::Cow::Owned(text) => std::borrow::Cow::Owned(text.into_bytes()),
    }
}

/// UTF-16LE to WTF-8; an odd last byte is dropped, a lone surrogate stays.
pub fn utf16le(bytes: &[u8]) -> Vec<u8> {
    from_units(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])))
}

/// Offset of the first byte that fatal UTF-8 decoding refuses.
pub fn first_invalid_utf8(bytes: &[u8]) -> Option<usize> {
    simdutf8::compat::from_utf8(bytes).err().map(|error| error.valid_up_to())
}

/// The WTF-8 of the text between the quotes of a scanned string token.
pub fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        push_wtf8(&mut out, &rest[..backslash]);
        let (unit, taken) = match rest.get(backslash + 1) {
            Some(b'u') => (hex4(rest.get(backslash + 2..backslash + 6)), 6),
            Some(b'b') => (8, 2),
            Some(b'f') => (12, 2),
            Some(b'n') => (10, 2),
            Some(b'r') => (13, 2),
            Some(b't') => (9, 2),
            Some(other) => (u32::from(*other), 2),
            None => break,
        };
        push_unit(&mut out, unit);
        rest = rest.get(backslash + taken..).unwrap_or_default();
    }
    push_wtf8(&mut out, rest);
    out
}

fn hex4(digits: Option<&[u8]>) -> u32 {
    digits.unwrap_or_default().iter().fold(0, |value, digit| value * 16 + (*digit as char).to_digit(16).unwrap_or(0))
}

/// Appends one UTF-16 unit, joining it with a high surrogate before it.
pub fn push_unit(out: &mut Vec<u8>, unit: u32) {
    let encoded = match unit {
        0..=0x7F => {
            out.push(unit as u8);
            return;
        }
        0x80..=0x7FF => {
            out.extend([0xC0 | (unit >> 6) as u8, 0x80 | (unit & 0x3F) as u8]);
            return;
        }
        _ => [0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8],
    };
    push_wtf8(out, &encoded);
}

/// Appends WTF-8 to WTF-8; a high surrogate at the seam joins with a low one.
pub fn push_wtf8(out: &mut Vec<u8>, tail: &[u8]) {
    if let (Some(high), Some(low)) = (trailing_high_surrogate(out), leading_low_surrogate(tail)) {
        out.truncate(out.len() - 3);
        let scalar = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        let mut buffer = [0; 4];
        let joined = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut buffer);
        out.extend_from_slice(joined.as_bytes());
        out.extend_from_slice(&tail[3..]);
    } else {
        out.extend_from_slice(tail);
    }
}

/// The lone surrogate that three WTF-8 bytes encode, if they do.
pub fn surrogate(bytes: &[u8]) -> Option<u32> {
    match bytes {
        [0xED, second @ 0xA0..=0xBF, third, ..] => Some(0xD000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F)),
        _ => None,
    }
}

fn trailing_high_surrogate(bytes: &[u8]) -> Option<u32> {
    let tail = bytes.len().checked_sub(3).map(|at| &bytes[at..])?;
    surrogate(tail).filter(|unit| *unit < 0xDC00)
}

fn leading_low_surrogate(bytes: &[u8]) -> Option<u32> {
    surrogate(bytes).filter(|unit| *unit >= 0xDC00)
}

/// The UTF-16 units of WTF-8 text.
pub fn units(wtf8: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut at = 0;
    let mut low = None;
    std::iter::from_fn(move || {
        if let Some(unit) = low.take() {
            return Some(unit);
        }
        let first = *wtf8.get(at)?;
        let byte = |i: usize| u32::from(wtf8.get(at + i).copied().unwrap_or(0x80) & 0x3F);
        let (scalar, length) = match first {
            0..=0x7F => (u32::from(first), 1),
            0x80..=0xDF => (u32::from(first & 0x1F) << 6 | byte(1), 2),
            0xE0..=0xEF => (u32::from(first & 0x0F) << 12 | byte(1) << 6 | byte(2), 3),
            _ => (u32::from(first & 0x07) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3), 4),
        };
        at += length;
        if scalar < 0x10000 {
            return Some(scalar as u16);
        }
        low = Some(0xDC00 | ((scalar - 0x10000) & 0x3FF) as u16);
        Some(0xD800 | ((scalar - 0x10000) >> 10) as u16)
    })
}

/// WTF-8 from UTF-16 units.
pub fn from_units(units: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut out = Vec::new();
    for unit in units {
        push_unit(&mut out, u32::from(unit));
    }
    out
}

/// WTF-8 with every lone surrogate as U+FFFD.
pub fn wtf8_lossy(wtf8: &[u8]) -> String {
    char::decode_utf16(units(wtf8)).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The white space and line ends that JavaScript's `trim` takes away, as UTF-8.
const TRIMMED: [&[u8]; 25] = [
    b"\t",
    b"\n",
    b"\x0B",
    b"\x0C",
    b"\r",
    b" ",
    b"\xC2\xA0",
    b"\xE1\x9A\x80",
    b"\xE2\x80\x80",
    b"\xE2\x80\x81",
    b"\xE2\x80\x82",
    b"\xE2\x80\x83",
    b"\xE2\x80\x84",
    b"\xE2\x80\x85",
    b"\xE2\x80\x86",
    b"\xE2\x80\x87",
    b"\xE2\x80\x88",
    b"\xE2\x80\x89",
    b"\xE2\x80\x8A",
    b"\xE2\x80\xA8",
    b"\xE2\x80\xA9",
    b"\xE2\x80\xAF",
    b"\xE2\x81\x9F",
    b"\xE3\x80\x80",
    b"\xEF\xBB\xBF",
];

/// `text.trim()` of JavaScript.
pub fn trim(wtf8: &[u8]) -> &[u8] {
    let mut text = wtf8;
    while let Some(rest) = TRIMMED.iter().find_map(|space| text.strip_prefix(*space)) {
        text = rest;
    }
    while let Some(rest) = TRIMMED.iter().find_map(|space| text.strip_suffix(*space)) {
        text = rest;
    }
    text
}

/// The first `units` UTF-16 units of WTF-8 text. A cut through a pair leaves its high surrogate.
pub fn prefix(wtf8: &[u8], units_wanted: usize) -> Vec<u8> {
    // Every character has at most as many units as bytes.
    if wtf8.len() <= units_wanted { wtf8.to_vec() } else { from_units(units(wtf8).take(units_wanted)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escaped_pairs_join_and_lone_surrogates_stay() {
        assert_eq!(unescape(br"\ud83d\ude00"), "😀".as_bytes());
        assert_eq!(unescape(br"\ud83d!"), b"\xED\xA0\xBD!");
        assert_eq!(unescape(br"\ude00\ud83d"), b"\xED\xB8\x80\xED\xA0\xBD");
        assert_eq!(unescape(br"\b\f\n\r\t\/\\\u00e9"), "\u{8}\u{c}\n\r\t/\\é".as_bytes());
    }

    #[test]
    fn wtf8_shows_lone_surrogates_as_replacements() {
        assert_eq!(wtf8_lossy(b"a\xED\xA0\xBDb"), "a\u{FFFD}b");
    }

    #[test]
    fn trim_takes_javascript_space_and_nothing_else() {
        assert_eq!(trim("\u{FEFF} \u{A0}\u{3000}\tx y\n\u{2028}".as_bytes()), b"x y");
        assert_eq!(trim("\u{200B}".as_bytes()), "\u{200B}".as_bytes());
        assert_eq!(trim(b" \t"), b"");
    }

    #[test]
    fn a_prefix_counts_units_and_may_cut_a_pair() {
        assert_eq!(prefix("a😀b".as_bytes(), 3), "a😀".as_bytes());
        assert_eq!(prefix("a😀b".as_bytes(), 2), b"a\xED\xA0\xBD");
        assert_eq!(prefix(b"ab", 9), b"ab");
    }

    proptest! {
        #[test]
        fn units_round_trip(units_in in proptest::collection::vec(any::<u16>(), 0..40)) {
            let wtf8 = from_units(units_in.iter().copied());
            prop_assert_eq!(units(&wtf8).collect::<Vec<_>>(), units_in.clone());
            prop_assert_eq!(crate::json::view::len_utf16(&wtf8), units_in.len());
        }
    }
}
