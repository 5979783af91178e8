//! Spellings that records hold as strings: decimal numbers, hashes, UUIDs. What JavaScript says with a regular expression
//! in gjc; one place for every room.

/// `^(0|[1-9][0-9]*)$`, of any length.
pub fn is_decimal(text: &[u8]) -> bool {
    match text {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Plain decimal without leading zeros (`0` itself is fine), up to 2^64−1.
pub fn canonical_decimal(text: impl AsRef<[u8]>) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    match text.as_ref() {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] => text.as_ref().iter().try_fold(0_u64, |number, byte| number.checked_mul(10)?.checked_add(digit(byte)?)),
        _ => None,
    }
}

/// `[0-9a-f]`
pub const fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// 64 lower-case hexadecimal digits.
pub fn is_hex64(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(is_hex)
}

/// The 32 bytes that 64 lower-case hexadecimal digits spell.
pub fn hex64(text: &[u8]) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let spelt = text.len() == 64 && data_encoding::HEXLOWER.decode_mut(text, &mut bytes).is_ok();
    spelt.then_some(bytes)
}

/// A lower-case UUID, 8-4-4-4-12, any version digits.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().enumerate().all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { is_hex(byte) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_has_no_leading_zero_and_no_sign() {
        for good in ["0", "7", "10", "99999999999999999999999"] {
            assert!(is_decimal(good.as_bytes()), "{good}");
        }
        for bad in ["", "00", "07", "-1", "+1", "1 ", "1\n", "1.0", "x"] {
            assert!(!is_decimal(bad.as_bytes()), "{bad}");
        }
        assert_eq!(canonical_decimal("18446744073709551615"), Some(u64::MAX));
        assert_eq!(canonical_decimal("18446744073709551616"), None);
    }
    #[test]
    fn a_hash_is_64_lower_case_digits() {
        assert_eq!(hex64("0f".repeat(32).as_bytes()), Some([15; 32]));
        for bad in ["0f".repeat(31), "0F".repeat(32), "0f".repeat(33), String::new()] {
            assert_eq!(hex64(bad.as_bytes()), None, "{bad}");
            assert!(!is_hex64(&bad), "{bad}");
        }
    }
}
