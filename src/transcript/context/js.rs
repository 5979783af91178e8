//! Values put together from parts of entries: what JavaScript would hold, without copying what entries hold.

use crate::json::stringify::{self, write_number, write_string};
use crate::json::value::Array;
use crate::json::{JsString, Object, Value};
use std::borrow::Cow;

/// A value of the rebuilt context. Only [`Js::Value`] can be deep; the rest is nested as this room nests it.
#[derive(Clone, PartialEq, Debug)]
pub enum Js<'v> {
    /// `undefined`
    Undefined,
    /// A value of an entry.
    Value(&'v Value),
    /// A string.
    Text(Cow<'v, JsString>),
    /// A number.
    Number(f64),
    /// A boolean.
    Bool(bool),
    /// A string spread into an array of its characters (code points).
    Characters(&'v JsString),
    /// An array.
    Array(Vec<Js<'v>>),
    /// An object; members in JavaScript's order.
    Object(Vec<(Cow<'v, JsString>, Js<'v>)>),
}

impl<'v> Js<'v> {
    /// A text of this program.
    pub fn text(text: &str) -> Self {
        Js::Text(Cow::Owned(JsString::from(text)))
    }
    /// A member of an entry; `undefined` when it is absent.
    pub fn member(value: Option<&'v Value>) -> Self {
        value.map_or(Js::Undefined, Js::Value)
    }
    /// An object with these keys.
    pub fn object<const N: usize>(members: [(&str, Js<'v>); N]) -> Self {
        Js::Object(members.into_iter().map(|(key, value)| (Cow::Owned(JsString::from(key)), value)).collect())
    }

    /// Appends the `JSON.stringify` text: `undefined` members are dropped, `undefined` elements are `null`.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Js::Undefined => out.extend_from_slice(b"null"),
            Js::Value(value) => stringify::write(value, out),
            Js::Text(text) => write_string(text.as_bytes(), out),
            Js::Number(number) => write_number(*number, out),
            Js::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Js::Characters(text) => list(out, characters(text), write_string),
            Js::Array(items) => list(out, items.iter(), Js::write),
            Js::Object(members) => {
                out.push(b'{');
                for (at, (key, value)) in members.iter().filter(|(_, value)| *value != Js::Undefined).enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    write_string(key.as_bytes(), out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// An owned copy, as `JSON.parse(JSON.stringify(value))` would make it.
    pub fn to_value(&self) -> Value {
        match self {
            Js::Undefined => Value::Null,
            Js::Value(value) => (*value).clone(),
            Js::Text(text) => Value::String(text.clone().into_owned()),
            Js::Number(number) => Value::Number(*number),
            Js::Bool(value) => Value::Bool(*value),
            Js::Characters(text) => Value::Array(Array::from(characters(text).map(character_value).collect::<Vec<_>>())),
            Js::Array(items) => Value::Array(Array::from(items.iter().map(Js::to_value).collect::<Vec<_>>())),
            Js::Object(members) => {
                let present = members.iter().filter(|(_, value)| *value != Js::Undefined);
                Value::Object(present.map(|(key, value)| (key.clone().into_owned(), value.to_value())).collect::<Object>())
            }
        }
    }
}

fn list<I>(out: &mut Vec<u8>, items: impl Iterator<Item = I>, write: impl Fn(I, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// The characters that `for … of` and spreading take from a string: code points, lone surrogates alone.
pub fn characters(text: &JsString) -> impl Iterator<Item = &[u8]> {
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        let (_, tail) = rest.split_first()?;
        let length = 1 + tail.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        let (character, behind) = rest.split_at(length);
        rest = behind;
        Some(character)
    })
}

/// One character as a value.
pub fn character_value(character: &[u8]) -> Value {
    Value::String(JsString::from_wtf8(character.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(js: &Js<'_>) -> String {
        let mut out = Vec::new();
        js.write(&mut out);
        assert_eq!(Value::parse(&out), Some(js.to_value()));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn undefined_is_dropped_from_objects_and_null_in_arrays() {
        let members = [("a", Js::Undefined), ("b", Js::Array(vec![Js::Undefined, Js::Bool(true)])), ("c", Js::Number(1.0))];
        assert_eq!(text(&Js::object(members)), r#"{"b":[null,true],"c":1}"#);
    }

    #[test]
    fn a_string_is_spread_by_code_points() {
        let word = Value::parse(r#""aé😀\ud800""#.as_bytes()).unwrap();
        let Value::String(word) = &word else { panic!() };
        assert_eq!(text(&Js::Characters(word)), r#"["a","é","😀","\ud800"]"#);
    }
}
