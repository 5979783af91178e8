//! Numbers: the double JavaScript reads from a token, and the text JavaScript writes for a double.

/// The double of a scanned number token (overflow gives infinity, `-0` stays negative zero).
pub fn parse(token: &[u8]) -> f64 {
    // Whole numbers of at most 15 digits are exact in a double and by far the most frequent tokens.
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit) {
        let whole = digits.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0')) as f64;
        return if negative { -whole } else { whole };
    }
    std::str::from_utf8(token).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// `String(number)` of JavaScript: shortest round-trip text with JavaScript's exponent rules.
pub fn to_js_string(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    ryu_js::Buffer::new().format(number).to_owned()
}

/// True when the token's decimal value is that of the text JavaScript would write for it (spec 05
/// `number_precision`); infinity never is.
pub fn survives(token: &[u8]) -> bool {
    let significant = token.iter().take_while(|b| !matches!(b, b'e' | b'E')).filter(|b| b.is_ascii_digit()).count();
    let has_exponent = token.iter().any(|b| matches!(b, b'e' | b'E'));
    if significant <= 15 && !has_exponent {
        return true;
    }
    let number = parse(token);
    // What JavaScript itself wrote is by far the most frequent.
    let as_written = || number != 0.0 && ryu_js::Buffer::new().format(number).as_bytes() == token;
    number.is_finite() && (as_written() || decimal(token) == decimal(to_js_string(number).as_bytes()))
}

/// Sign, significant digits without leading and trailing zeros, and the power of ten of the last digit.
fn decimal(token: &[u8]) -> (bool, Vec<u8>, i64) {
    let negative = token.first() == Some(&b'-');
    let (mantissa, exponent) = match token.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (&token[..at], decimal_exponent(&token[at + 1..])),
        None => (token, 0),
    };
    let fraction = mantissa.iter().position(|b| *b == b'.').map_or(0, |dot| mantissa.len() - dot - 1);
    let mut digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let mut power = exponent.saturating_sub(fraction as i64);
    while digits.last() == Some(&b'0') {
        digits.pop();
        power = power.saturating_add(1);
    }
    let zeros = digits.iter().take_while(|b| **b == b'0').count();
    digits.drain(..zeros);
    if digits.is_empty() {
        // Zero has no sign in JSON text: JavaScript writes -0 as 0, and that is no loss of precision.
        return (false, digits, 0);
    }
    (negative, digits, power)
}

/// An exponent of any length, saturating.
fn decimal_exponent(text: &[u8]) -> i64 {
    let negative = text.first() == Some(&b'-');
    let value = text.iter().filter(|b| b.is_ascii_digit()).fold(0i64, |v, d| v.saturating_mul(10).saturating_add(i64::from(d - b'0')));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_doubles_of_javascript() {
        assert_eq!(parse(b"1e400"), f64::INFINITY);
        assert!(parse(b"-0").is_sign_negative());
        assert_eq!(parse(b"123456789012345678901234567890"), 1.2345678901234568e29);
        assert_eq!(parse(b"4.9999999999999999999"), 5.0);
    }

    #[test]
    fn text_has_javascript_exponents() {
        assert_eq!(to_js_string(1e21), "1e+21");
        assert_eq!(to_js_string(0.000_000_1), "1e-7");
        assert_eq!(to_js_string(-0.0), "0");
        assert_eq!(to_js_string(5.0), "5");
    }

    #[test]
    fn a_number_survives_when_its_decimal_value_comes_back() {
        for kept in ["0.1", "1e2", "100000000000000000000", "1.50", "-0", "9007199254740992", "1E-7", "0e999999999999999999999"] {
            assert!(survives(kept.as_bytes()), "{kept}");
        }
        for changed in ["9007199254740993", "0.10000000000000000001", "1e400", "1e-400", "12345678901234567890"] {
            assert!(!survives(changed.as_bytes()), "{changed}");
        }
    }
}
