//! Base64 as gjc's runtime decodes it: leniently, and not reversibly (spec 01 §8.4).

/// Decodes what is there: both alphabets (`+/` and `-_`), every other unit is skipped (padding and white space too), a
/// last group of a single digit is dropped.
pub fn decode_lenient(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut held) = (0u32, 0u32);
    for digit in text.iter().filter_map(|byte| digit(*byte)) {
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

/// The six bits of a digit. Bytes of longer characters are no digits.
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
        for text in ["YWJj", "Y W\nJj", "YW=Jj", "!YWJj!", "Y\u{e9}WJj", "YWJjZ"] {
            assert_eq!(decode_lenient(text.as_bytes()), b"abc", "{text}");
        }
        assert_eq!(decode_lenient(b"YWI="), b"ab");
        assert_eq!(decode_lenient(b"YW"), b"a");
        assert_eq!(decode_lenient(b"-_-_"), decode_lenient(b"+/+/"));
    }

    proptest! {
        #[test]
        fn canonical_text_decodes_to_what_was_encoded(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode_lenient(encode(&bytes).as_bytes()), bytes);
        }
    }
}
