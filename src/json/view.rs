//! One way to look at a JSON value, whichever form it is held in.
//!
//! Rules (schema, patch validity, measuring, …) are generic over [`View`], so that each is written once and holds for
//! the borrowed form that checks stream through and for the owned form that replay builds.

use super::string::JsStr;
use super::value::Value;
use std::borrow::Cow;

/// The `typeof` of a JSON value, with null and arrays told apart from objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// a double
    Number,
    /// a string of UTF-16 units
    String,
    /// an array
    Array,
    /// an object that is no array
    Object,
}

impl Kind {
    /// The word gjc's users know: `null`, `boolean`, `number`, `string`, `array`, `object`.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// How much a value holds, itself included.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Census {
    /// UTF-16 units of all strings and keys.
    pub units: u64,
    /// Strings and keys.
    pub strings: u64,
    /// Numbers and booleans.
    pub scalars: u64,
    /// Objects.
    pub objects: u64,
    /// Elements of arrays.
    pub elements: u64,
}

/// Read access to a JSON value with JavaScript's rules: own properties only, the last of duplicate keys.
pub trait View<'a>: Copy + 'a {
    /// What the value is.
    fn kind(self) -> Kind;
    /// The own member `key` of an object (the last duplicate); none for anything else.
    fn get(self, key: &str) -> Option<Self>;
    /// The text of a string value.
    fn as_str(self) -> Option<Cow<'a, [u8]>>;
    /// The double of a number value.
    fn as_f64(self) -> Option<f64>;
    /// The value of a boolean.
    fn as_bool(self) -> Option<bool>;
    /// The elements of an array, in order; nothing for anything else.
    fn items(self) -> impl Iterator<Item = Self>;
    /// The effective members of an object in JavaScript's order (array-index keys first, ascending; the last of
    /// duplicate values at the first one's place); nothing for anything else. Keys are WTF-8.
    fn members(self) -> impl Iterator<Item = (Cow<'a, [u8]>, Self)>;

    /// The owned form of the value.
    fn to_value(self) -> Value;

    /// What the value holds, when that can be told without looking at its members one by one.
    fn census(self) -> Option<Census> {
        None
    }
    /// Whether the text that the value was scanned from nests containers deeper than [`DEEP`](super::scan::DEEP). An owned
    /// value does not know.
    fn is_deep(self) -> bool {
        false
    }
    /// Whether the value nests containers deeper than so many levels. Iterative: any depth.
    fn is_deeper_than(self, levels: usize) -> bool {
        let mut pending = vec![(self, 1)];
        while let Some((value, level)) = pending.pop() {
            if matches!(value.kind(), Kind::Array | Kind::Object) {
                if level > levels {
                    return true;
                }
                pending.extend(value.items().map(|item| (item, level + 1)));
                pending.extend(value.members().map(|(_, member)| (member, level + 1)));
            }
        }
        false
    }
    /// `isRecord` of spec 01: a JSON object.
    fn is_record(self) -> bool {
        self.kind() == Kind::Object
    }
    /// True when the value is the string `text`.
    fn is_str(self, text: &str) -> bool {
        self.as_str().is_some_and(|s| *s == *text.as_bytes())
    }
    /// The member `key` when it is a string.
    fn str_member(self, key: &str) -> Option<Cow<'a, [u8]>> {
        self.get(key).and_then(Self::as_str)
    }
    /// The member `key` when it is present and not null.
    fn get_present(self, key: &str) -> Option<Self> {
        self.get(key).filter(|v| v.kind() != Kind::Null)
    }
    /// JavaScript truthiness: false for null, `false`, 0, NaN and the empty string.
    fn truthy(self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Bool => self.as_bool() == Some(true),
            Kind::Number => self.as_f64().is_some_and(|n| n != 0.0 && !n.is_nan()),
            Kind::String => self.as_str().is_some_and(|s| !s.is_empty()),
            Kind::Array | Kind::Object => true,
        }
    }
}

/// The UTF-16 length of WTF-8 bytes.
pub fn len_utf16(wtf8: &[u8]) -> usize {
    JsStr::from_wtf8(wtf8).len_utf16()
}
