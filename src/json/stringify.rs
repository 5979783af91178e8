//! `JSON.stringify` without indentation (spec 01 §8.2).

use super::value::{Object, Value};
use std::slice;

/// Appends the text of `value` to `out`. Iterative: any depth.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    /// A container that is being written.
    enum Frame<'a> {
        Array(slice::Iter<'a, Value>),
        Object(Box<dyn Iterator<Item = (&'a super::string::JsString, &'a Value)> + 'a>),
    }
    let mut stack: Vec<(Frame<'_>, bool)> = Vec::new();
    let mut next = Some(value);
    loop {
        match next.take() {
            Some(Value::Null) => out.extend_from_slice(b"null"),
            Some(Value::Bool(true)) => out.extend_from_slice(b"true"),
            Some(Value::Bool(false)) => out.extend_from_slice(b"false"),
            Some(Value::Number(number)) => write_number(*number, out),
            Some(Value::String(text)) => write_string(text.as_bytes(), out),
            Some(Value::Array(array)) => {
                out.push(b'[');
                stack.push((Frame::Array(array.as_slice().iter()), true));
            }
            Some(Value::Object(object)) => {
                out.push(b'{');
                stack.push((Frame::Object(Box::new(Object::iter(object))), true));
            }
            None => {}
        }
        let Some((frame, first)) = stack.last_mut() else {
            return;
        };
        match frame {
            Frame::Array(items) => match items.next() {
                Some(item) => {
                    if !std::mem::replace(first, false) {
                        out.push(b',');
                    }
                    next = Some(item);
                }
                None => {
                    out.push(b']');
                    stack.pop();
                }
            },
            Frame::Object(members) => match members.next() {
                Some((key, member)) => {
                    if !std::mem::replace(first, false) {
                        out.push(b',');
                    }
                    write_string(key.as_bytes(), out);
                    out.push(b':');
                    next = Some(member);
                }
                None => {
                    out.push(b'}');
                    stack.pop();
                }
            },
        }
    }
}

/// The text of `value`. Always well-formed UTF-8: lone surrogates are escaped.
pub fn to_text(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    // Every byte comes from ASCII literals, number text, or UTF-8 sequences whose lone surrogates were escaped.
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A number as `JSON.stringify` writes it: non-finite is `null`, -0 is `0`.
pub fn write_number(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        out.extend_from_slice(super::number::to_js_string(number).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// A quoted string from WTF-8: escapes `"`, `\`, controls below U+0020 and lone surrogates (lower-case hex).
pub fn write_string(wtf8: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut copied = 0;
    let mut at = 0;
    while at < wtf8.len() {
        let byte = wtf8[at];
        let (escape, length): (&[u8], usize) = match byte {
            b'"' => (b"\\\"", 1),
            b'\\' => (b"\\\\", 1),
            8 => (b"\\b", 1),
            9 => (b"\\t", 1),
            10 => (b"\\n", 1),
            12 => (b"\\f", 1),
            13 => (b"\\r", 1),
            0..=0x1F => (b"", 1),
            0xED if wtf8.get(at + 1).is_some_and(|b| *b >= 0xA0) => (b"", 3),
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(&wtf8[copied..at]);
        if escape.is_empty() {
            let unit = super::text::surrogate(&wtf8[at..]).unwrap_or(u32::from(byte));
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        } else {
            out.extend_from_slice(escape);
        }
        at += length;
        copied = at;
    }
    out.extend_from_slice(&wtf8[copied..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> String {
        to_text(&Value::parse(text.as_bytes()).expect("the test's text is JSON"))
    }

    #[test]
    fn escapes_are_those_of_javascript() {
        assert_eq!(again(r#""\u0001\u001f\u007f\u2028\/\"\\\ud800\ude00x\uD83D""#), "\"\\u0001\\u001f\u{7f}\u{2028}/\\\"\\\\𐈀x\\ud83d\"");
    }

    #[test]
    fn keys_are_ordered_as_javascript_orders_them() {
        assert_eq!(
            again(r#"{"b":1,"2":2,"1":3,"b":4,"01":5,"4294967295":6,"4294967294":7}"#),
            r#"{"1":3,"2":2,"4294967294":7,"b":4,"01":5,"4294967295":6}"#
        );
    }

    #[test]
    fn numbers_without_json_text_are_null_and_negative_zero_is_zero() {
        assert_eq!(again("[1e400,-1e400,-0,1e21,1.0]"), "[null,null,0,1e+21,1]");
    }

    #[test]
    fn depth_has_no_limit() {
        let deep = format!("{}1{}", "{\"a\":[".repeat(200_000), "]}".repeat(200_000));
        assert_eq!(again(&deep), deep);
    }
}
