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
