//! `JSON.stringify` without indentation (spec 01 §8.2).

use super::value::{Object, Value};
use crate::steps;
use std::slice;

/// Where JSON text goes: into a buffer, or only into its length.
pub trait Out {
    /// Appends bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Out for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Counts the bytes of a text that is not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Length(pub u64);

impl Out for Length {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len() as u64;
    }
}

/// An object that is written member by member, for records whose values are typed and need no [`Value`] first.
#[derive(Debug)]
pub struct Members<'o, O: Out> {
    out: &'o mut O,
    first: bool,
}

/// Writes an object: `fill` writes its members in order.
pub fn object<O: Out>(out: &mut O, fill: impl FnOnce(&mut Members<'_, O>)) {
    out.put(b"{");
    let mut members = Members { out, first: true };
    fill(&mut members);
    members.out.put(b"}");
}

/// Writes an array of `items`, each as `item` writes it.
pub fn array<O: Out, T>(out: &mut O, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut O, T)) {
    out.put(b"[");
    for (number, value) in items.into_iter().enumerate() {
        if number > 0 {
            out.put(b",");
        }
        item(out, value);
    }
    out.put(b"]");
}

impl<O: Out> Members<'_, O> {
    /// A member whose value `value` writes. Keys are ours: nothing in them needs an escape.
    pub fn with(&mut self, key: &'static str, value: impl FnOnce(&mut O)) {
        debug_assert_eq!(plain(key.as_bytes()), key.len(), "{key}");
        if !std::mem::replace(&mut self.first, false) {
            self.out.put(b",");
        }
        self.out.put(b"\"");
        self.out.put(key.as_bytes());
        self.out.put(b"\":");
        value(self.out);
    }
    /// A member that is a string (WTF-8).
    pub fn text(&mut self, key: &'static str, text: impl AsRef<[u8]>) {
        self.with(key, |out| write_string(text.as_ref(), out));
    }
    /// A member that is a string of 64 lower-case hexadecimal digits.
    pub fn hex64(&mut self, key: &'static str, bytes: &[u8; 32]) {
        let mut digits = [0; 64];
        data_encoding::HEXLOWER.encode_mut(bytes, &mut digits);
        self.with(key, |out| bare(&digits, out));
    }
    /// A member that is a string of decimal digits, as a big integer becomes.
    pub fn decimal(&mut self, key: &'static str, number: u64) {
        self.with(key, |out| bare(itoa::Buffer::new().format(number).as_bytes(), out));
    }
    /// A member that is a number.
    pub fn number(&mut self, key: &'static str, number: f64) {
        self.with(key, |out| write_number(number, out));
    }
    /// A member that is a boolean.
    pub fn flag(&mut self, key: &'static str, flag: bool) {
        self.with(key, |out| out.put(if flag { b"true" } else { b"false" }));
    }
}

/// Appends the text of `value` to `out`. Iterative: any depth.
pub fn write<O: Out>(value: &Value, out: &mut O) {
    /// A container that is being written.
    enum Frame<'a> {
        Array(slice::Iter<'a, Value>),
        Object(Box<dyn Iterator<Item = (&'a super::string::JsString, &'a Value)> + 'a>),
    }
    let mut stack: Vec<(Frame<'_>, bool)> = Vec::new();
    let mut next = Some(value);
    loop {
        steps::take(1);
        match next.take() {
            Some(Value::Null) => out.put(b"null"),
            Some(Value::Bool(true)) => out.put(b"true"),
            Some(Value::Bool(false)) => out.put(b"false"),
            Some(Value::Number(number)) => write_number(*number, out),
            Some(Value::String(text)) => write_string(text.as_bytes(), out),
            Some(Value::Array(array)) => {
                out.put(b"[");
                stack.push((Frame::Array(array.as_slice().iter()), true));
            }
            Some(Value::Object(object)) => {
                out.put(b"{");
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
                        out.put(b",");
                    }
                    next = Some(item);
                }
                None => {
                    out.put(b"]");
                    stack.pop();
                }
            },
            Frame::Object(members) => match members.next() {
                Some((key, member)) => {
                    if !std::mem::replace(first, false) {
                        out.put(b",");
                    }
                    write_string(key.as_bytes(), out);
                    out.put(b":");
                    next = Some(member);
                }
                None => {
                    out.put(b"}");
                    stack.pop();
                }
            },
        }
    }
}

/// The text of `value` with each member and element on a line of its own, `indent` before it for each container that it is in:
/// `JSON.stringify(value, null, indent)`. None when it has more than `most` bytes: a deep value has many times those of its
/// plain text. Iterative: any depth.
pub fn indented(value: &Value, indent: &[u8], most: usize) -> Option<Vec<u8>> {
    /// What is left of a container.
    enum Frame<'a> {
        Array(slice::Iter<'a, Value>),
        Object(Box<dyn Iterator<Item = (&'a super::string::JsString, &'a Value)> + 'a>),
    }
    let line = |depth: usize, out: &mut Vec<u8>| {
        out.push(b'\n');
        out.extend_from_slice(&indent.repeat(depth));
    };
    let mut out = Vec::new();
    let mut stack: Vec<(Frame<'_>, bool)> = Vec::new();
    let mut next = Some(value);
    loop {
        match next.take() {
            Some(Value::Array(array)) if !array.as_slice().is_empty() => {
                out.push(b'[');
                stack.push((Frame::Array(array.as_slice().iter()), true));
            }
            Some(Value::Object(object)) if !object.is_empty() => {
                out.push(b'{');
                stack.push((Frame::Object(Box::new(Object::iter(object))), true));
            }
            // A scalar, or an empty container, which has no lines.
            Some(plain) => write(plain, &mut out),
            None => {}
        }
        let depth = stack.len();
        if out.len() + depth * indent.len() > most {
            return None;
        }
        let Some((frame, first)) = stack.last_mut() else { return Some(out) };
        let (key, item) = match frame {
            Frame::Array(items) => (None, items.next()),
            Frame::Object(members) => members.next().map_or((None, None), |(key, member)| (Some(key), Some(member))),
        };
        match item {
            Some(_) => {
                if !std::mem::replace(first, false) {
                    out.push(b',');
                }
                line(depth, &mut out);
                if let Some(key) = key {
                    write_string(key.as_bytes(), &mut out);
                    out.extend_from_slice(b": ");
                }
                next = item;
            }
            None => {
                let close = if matches!(frame, Frame::Array(_)) { b']' } else { b'}' };
                line(depth - 1, &mut out);
                out.push(close);
                stack.pop();
            }
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
pub fn write_number<O: Out>(number: f64, out: &mut O) {
    // Whole numbers that are safe have their digits for a text; -0 is 0.
    if number.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&number) {
        out.put(itoa::Buffer::new().format(number as u64).as_bytes());
    } else if number.is_finite() {
        out.put(super::number::to_js_string(number).as_bytes());
    } else {
        out.put(b"null");
    }
}

/// A quoted string that needs no escape.
fn bare<O: Out>(text: &[u8], out: &mut O) {
    out.put(b"\"");
    out.put(text);
    out.put(b"\"");
}

/// How many bytes from the beginning on surely need no escape.
fn plain(wtf8: &[u8]) -> usize {
    const TOGETHER: usize = 16;
    let special = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xED);
    // The bytes of one chunk are marked without a branch between them, and looked at as one number.
    let is_plain = |chunk: &[u8; TOGETHER]| {
        let marks = chunk.map(|byte| u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte == 0xED));
        u128::from_ne_bytes(marks) == 0
    };
    let chunks = wtf8.as_chunks().0.iter().take_while(|chunk| is_plain(chunk)).count() * TOGETHER;
    // What is left of a text of several chunks is looked at together with bytes that were seen already.
    if chunks > 0 && wtf8.len() - chunks < TOGETHER && wtf8.last_chunk().is_some_and(is_plain) {
        return wtf8.len();
    }
    chunks + wtf8[chunks..].iter().take_while(|byte| !special(**byte)).count()
}

/// A quoted string from WTF-8: escapes `"`, `\`, controls below U+0020 and lone surrogates (lower-case hex).
pub fn write_string<O: Out>(wtf8: &[u8], out: &mut O) {
    steps::take(wtf8.len());
    out.put(b"\"");
    let mut copied = 0;
    let mut at = plain(wtf8);
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
                at += 1 + plain(&wtf8[at + 1..]);
                continue;
            }
        };
        out.put(&wtf8[copied..at]);
        if escape.is_empty() {
            let unit = super::text::surrogate(&wtf8[at..]).unwrap_or(u32::from(byte));
            out.put(format!("\\u{unit:04x}").as_bytes());
        } else {
            out.put(escape);
        }
        at += length;
        copied = at;
    }
    out.put(&wtf8[copied..]);
    out.put(b"\"");
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
    fn an_escape_is_seen_wherever_it_stands() {
        for length in 0..50 {
            let mut out = Vec::new();
            write_string("a".repeat(length).as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("\"{}\"", "a".repeat(length)));
            for at in 0..length {
                let (before, behind) = ("a".repeat(at), "a".repeat(length - at - 1));
                let mut out = Vec::new();
                write_string(format!("{before}\n{behind}").as_bytes(), &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), format!("\"{before}\\n{behind}\""));
            }
        }
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
        assert_eq!(again("[9007199254740991,9007199254740992,-7,0.5,1e15]"), "[9007199254740991,9007199254740992,-7,0.5,1000000000000000]");
    }

    #[test]
    fn the_length_of_a_text_is_that_of_its_bytes() {
        let value = Value::parse(r#"{"a":[0,1e21,-7.5,true,null],"\ud800é\u2028😀\n\u0001":{}}"#.as_bytes()).unwrap();
        let mut length = Length::default();
        write(&value, &mut length);
        assert_eq!(length.0, to_text(&value).len() as u64);
    }

    #[test]
    fn an_escape_is_found_wherever_it_stands() {
        for length in [1, 15, 16, 17, 40] {
            for at in 0..length {
                let text: String = (0..length).map(|place| if place == at { '"' } else { 'é' }).collect();
                let mut out = Vec::new();
                write_string(text.as_bytes(), &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), format!("\"{}\"", text.replace('"', "\\\"")), "{at} of {length}");
            }
        }
    }
    #[test]
    fn a_big_integer_is_written_in_its_digits() {
        for number in [0, 7, 10, 1_767_225_600_000_000_000, u64::MAX] {
            let mut out = Vec::new();
            object(&mut out, |o| o.decimal("n", number));
            assert_eq!(String::from_utf8(out).unwrap(), format!("{{\"n\":\"{number}\"}}"));
        }
    }
    #[test]
    fn an_object_is_written_member_by_member() {
        let mut out = Vec::new();
        object(&mut out, |o| {
            o.number("n", 1.0);
            o.text("t", "\n");
            o.flag("f", false);
            o.with("a", |out| array(out, [1.0, 2.0], |out, n| write_number(n, out)));
            o.with("e", |out| object(out, |_| {}));
        });
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"n":1,"t":"\n","f":false,"a":[1,2],"e":{}}"#);
    }

    #[test]
    fn indented_text_has_a_line_for_each_member_and_element() {
        let of = |text: &str| indented(&Value::parse(text.as_bytes()).unwrap(), b"\t", 100).map(|text| String::from_utf8(text).unwrap());
        let indented = |text: &str| of(text).unwrap();
        assert_eq!(
            indented(r#"{"a":[1,{"b":null}],"c":{},"d":[],"e":"x"}"#),
            "{\n\t\"a\": [\n\t\t1,\n\t\t{\n\t\t\t\"b\": null\n\t\t}\n\t],\n\t\"c\": {},\n\t\"d\": [],\n\t\"e\": \"x\"\n}"
        );
        assert_eq!(indented("[]"), "[]");
        assert_eq!(indented("7"), "7");
        assert_eq!(of(&format!("{}{}", "[".repeat(20), "]".repeat(20))), None);
    }

    #[test]
    fn depth_has_no_limit() {
        let deep = format!("{}1{}", "{\"a\":[".repeat(200_000), "]}".repeat(200_000));
        assert_eq!(again(&deep), deep);
    }
}
