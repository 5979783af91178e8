//! Base64 as gjc's runtime decodes it: leniently, and not reversibly (spec 01 §8.4).

use crate::json::text::units;

/// Decodes the beginning of a WTF-8 text, up to the first `=`: both alphabets (`+/` and `-_`), every other unit is skipped
/// (white space too), a last group of a single digit is dropped. Of each UTF-16 unit only the low byte counts: U+0141 is an
/// `A`, and the first half of an emoji (D83D) ends the data.
pub fn decode_lenient(text: &[u8]) -> Vec<u8> {
    if text.is_ascii() { decode(text.iter().copied()) } else { decode(units(text).map(|unit| unit as u8)) }
}

fn decode(bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.size_hint().0 / 4 * 3 + 2);
    let (mut bits, mut held) = (0u32, 0u32);
    for digit in bytes.take_while(|byte| *byte != b'=').filter_map(digit) {
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

/// The six bits of a digit.
const fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Canonical base64: the standard alphabet, padded.
pub fn encode(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_outside_the_alphabets_are_skipped() {
        for text in ["YWJj", "Y W\nJj", "!YWJj!", "Y\u{e9}WJj", "YWJjZ"] {
            assert_eq!(decode_lenient(text.as_bytes()), b"abc", "{text}");
        }
        assert_eq!(decode_lenient(b"YWI="), b"ab");
        assert_eq!(decode_lenient(b"YW=Jj"), b"a", "nothing behind the padding counts");
        assert_eq!(decode_lenient(b"YW"), b"a");
        assert_eq!(decode_lenient(b"-_-_"), decode_lenient(b"+/+/"));
    }

    #[test]
    fn of_a_unit_the_low_byte_counts() {
        assert_eq!(decode_lenient("YW\u{14a}j".as_bytes()), b"abc", "U+014A is a J");
        assert_eq!(decode_lenient("YW\u{20ac}Jj".as_bytes()), b"abc");
        assert_eq!(decode_lenient("YWJj\u{1f600}YWJj".as_bytes()), b"abc", "D83D ends in the byte of `=`");
    }

    proptest! {
        #[test]
        fn canonical_text_decodes_to_what_was_encoded(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode_lenient(encode(&bytes).as_bytes()), bytes);
        }
    }
}
