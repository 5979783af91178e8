//! The owned form of a value: what JavaScript would hold after `JSON.parse`.

use super::string::JsString;
use super::tape::Node;
use super::view::{Kind, View};
use crate::steps;
use indexmap::IndexMap;
use std::borrow::Cow;

/// A JavaScript value that JSON can carry, plus `undefined` members simply being absent. Neither cloning nor dropping
/// one recurses, whatever its depth.
#[derive(PartialEq, Debug, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// a boolean
    Bool(bool),
    /// a double
    Number(f64),
    /// a string
    String(JsString),
    /// an array
    Array(Array),
    /// an object
    Object(Object),
}

/// An array. Dropping one never recurses, whatever its depth.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Array(Vec<Value>);

/// An object in JavaScript's member order: array-index keys ascending, then the others as inserted.
/// Dropping one never recurses, whatever its depth.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Object {
    /// Boxed, so that a value is small: arrays of numbers are common, objects are not made to be many.
    members: Box<IndexMap<JsString, Value>>,
    index_keys: usize,
}

/// The number of an array-index key (`0` … `4294967294` in canonical form).
pub fn array_index(key: &[u8]) -> Option<u32> {
    match key {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if key.len() <= 10 && rest.iter().all(u8::is_ascii_digit) => {
            let value = key.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
            u32::try_from(value).ok().filter(|index| *index != u32::MAX)
        }
        _ => None,
    }
}

impl Array {
    /// The elements.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }
    /// The elements, for changing them.
    pub fn items_mut(&mut self) -> &mut Vec<Value> {
        &mut self.0
    }
}

impl From<Vec<Value>> for Array {
    fn from(items: Vec<Value>) -> Self {
        Array(items)
    }
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }
    /// An object without members, with room for `members` of them and no more.
    pub fn with_capacity(members: usize) -> Self {
        Object { members: Box::new(IndexMap::with_capacity(members)), index_keys: 0 }
    }
    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }
    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
    /// The own member `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.members.get(key.as_bytes())
    }
    /// The own member `key`, for changing it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.members.get_mut(key.as_bytes())
    }
    /// True when the own member exists.
    pub fn contains(&self, key: &str) -> bool {
        self.members.contains_key(key.as_bytes())
    }
    /// `object[key] = value`: an existing member keeps its place, a new one goes where JavaScript puts it.
    pub fn set(&mut self, key: impl Into<JsString>, value: Value) {
        let key = key.into();
        if let Some(slot) = self.members.get_mut(key.as_bytes()) {
            *slot = value;
            return;
        }
        match array_index(key.as_bytes()) {
            None => {
                self.members.insert(key, value);
            }
            Some(index) => {
                let at = self.index_place(index);
                // What stands behind it moves.
                steps::take(self.members.len() - at);
                self.members.shift_insert(at, key, value);
                self.index_keys += 1;
            }
        }
    }
    fn index_place(&self, index: u32) -> usize {
        let (mut low, mut high) = (0, self.index_keys);
        while low < high {
            let middle = (low + high) / 2;
            let key = self.members.get_index(middle).and_then(|(key, _)| array_index(key.as_bytes()));
            if key.is_some_and(|key| key < index) { low = middle + 1 } else { high = middle }
        }
        low
    }
    /// `delete object[key]`.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let (at, _, removed) = self.members.shift_remove_full(key.as_bytes())?;
        steps::take(self.members.len() - at);
        self.index_keys -= usize::from(array_index(key.as_bytes()).is_some());
        Some(removed)
    }
    /// Members in JavaScript's order.
    pub fn iter(&self) -> impl Iterator<Item = (&JsString, &Value)> {
        self.members.iter()
    }
    /// Members in JavaScript's order, values for changing.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&JsString, &mut Value)> {
        self.members.iter_mut()
    }
    /// The members in JavaScript's order, taken out.
    pub fn into_members(mut self) -> Vec<(JsString, Value)> {
        self.members.drain(..).collect()
    }
    /// Keeps the members for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&JsString, &mut Value) -> bool) {
        self.members.retain(|key, value| keep(key, value));
        self.index_keys = self.members.keys().filter(|key| array_index(key.as_bytes()).is_some()).count();
    }
}

impl<K: Into<JsString>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        let mut object = Object::new();
        for (key, value) in members {
            object.set(key, value);
        }
        object
    }
}

impl Value {
    /// A string value.
    pub fn string(text: impl Into<JsString>) -> Self {
        Value::String(text.into())
    }
    /// The own member `key` of an object.
    pub fn member(&self, key: &str) -> Option<&Value> {
        self.as_object().and_then(|object| object.get(key))
    }
    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
    /// The object, if it is one, for changing it.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
    /// The elements, if it is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(array) => Some(array.as_slice()),
            _ => None,
        }
    }
    /// The value JavaScript holds for scanned text. Iterative: any depth.
    pub fn from_node(node: Node<'_>) -> Value {
        Value::copy(node)
    }
    /// An owned copy of whatever form a value is held in. Iterative: any depth.
    fn copy<'a, V: View<'a>>(node: V) -> Value {
        /// A container whose remaining members are still to be read.
        enum Frame<'a, V> {
            Array(Array, Vec<V>),
            Object(Object, Vec<(Cow<'a, [u8]>, V)>, JsString),
        }
        let mut stack: Vec<Frame<'_, V>> = Vec::new();
        let mut next = Some(node);
        let mut done = Value::Null;
        loop {
            steps::take(1);
            if let Some(node) = next.take() {
                match node.kind() {
                    Kind::Array => {
                        let mut items: Vec<_> = node.items().collect();
                        items.reverse();
                        stack.push(Frame::Array(Array::default(), items));
                    }
                    Kind::Object => {
                        let mut members: Vec<_> = node.members().collect();
                        members.reverse();
                        stack.push(Frame::Object(Object::with_capacity(members.len()), members, JsString::default()));
                    }
                    Kind::Null => done = Value::Null,
                    Kind::Bool => done = Value::Bool(node.as_bool() == Some(true)),
                    Kind::Number => done = Value::Number(node.as_f64().unwrap_or(f64::NAN)),
                    Kind::String => done = Value::String(JsString::from_wtf8(node.as_str().unwrap_or_default().into_owned())),
                }
                if node.kind() != Kind::Array && node.kind() != Kind::Object {
                    match stack.last_mut() {
                        None => return done,
                        Some(Frame::Array(array, _)) => array.0.push(std::mem::take(&mut done)),
                        Some(Frame::Object(object, _, key)) => object.set(std::mem::take(key), std::mem::take(&mut done)),
                    }
                }
            }
            // Take the next child of the innermost container, or close it into its parent.
            match stack.last_mut() {
                None => return done,
                Some(Frame::Array(_, items)) => next = items.pop(),
                Some(Frame::Object(_, members, key)) => {
                    next = members.pop().map(|(name, value)| {
                        *key = JsString::from_wtf8(name.into_owned());
                        value
                    });
                }
            }
            if next.is_none() {
                let closed = match stack.pop() {
                    Some(Frame::Array(array, _)) => Value::Array(array),
                    Some(Frame::Object(object, ..)) => Value::Object(object),
                    None => return done,
                };
                match stack.last_mut() {
                    None => return closed,
                    Some(Frame::Array(array, _)) => array.0.push(closed),
                    Some(Frame::Object(object, _, key)) => object.set(std::mem::take(key), closed),
                }
            }
        }
    }
    /// `JSON.parse` of a whole text; none when JavaScript would throw.
    pub fn parse(text: &[u8]) -> Option<Value> {
        let mut tape = super::tape::Tape::default();
        match super::scan::scan(text, 0, &mut tape) {
            super::scan::Outcome::Complete { end } if super::scan::skip_space(text, end) == text.len() => {
                tape.root(text).map(Value::from_node)
            }
            _ => None,
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        Value::copy(self)
    }
}

impl<'a> View<'a> for &'a Value {
    fn to_value(self) -> Value {
        self.clone()
    }
    fn kind(self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }
    fn get(self, key: &str) -> Option<Self> {
        self.member(key)
    }
    fn as_str(self) -> Option<Cow<'a, [u8]>> {
        match self {
            Value::String(text) => Some(Cow::Borrowed(text.as_bytes())),
            _ => None,
        }
    }
    fn as_f64(self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
    fn as_bool(self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }
    fn items(self) -> impl Iterator<Item = Self> {
        self.as_array().unwrap_or_default().iter()
    }
    fn members(self) -> impl Iterator<Item = (Cow<'a, [u8]>, Self)> {
        self.as_object().into_iter().flat_map(Object::iter).map(|(key, value)| (Cow::Borrowed(key.as_bytes()), value))
    }
}

/// Empties `first` and everything below it level by level, so that no drop nests.
fn unnest(first: Vec<Value>) {
    let mut pending = first;
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(mut array) => pending.append(&mut array.0),
            Value::Object(mut object) => pending.extend(object.members.drain(..).map(|(_, value)| value)),
            _ => {}
        }
    }
}

const fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.0.iter().any(is_container) {
            unnest(std::mem::take(&mut self.0));
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.members.values().any(is_container) {
            unnest(self.members.drain(..).map(|(_, value)| value).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i32>().prop_map(|n| Value::Number(f64::from(n))),
            any::<f64>().prop_filter("JSON has no text for it", |n| n.is_finite() && *n != 0.0).prop_map(Value::Number),
            proptest::collection::vec(any::<u16>(), 0..6)
                .prop_map(|units| Value::String(JsString::from_wtf8(crate::json::text::from_units(units)))),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(|items| Value::Array(items.into())),
                proptest::collection::vec(("[a-c0-9\\\\\"]{0,3}", inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in any_value()) {
            prop_assert_eq!(Value::parse(to_text(&value).as_bytes()), Some(value));
        }

        #[test]
        fn both_forms_look_the_same(value in any_value()) {
            let text = to_text(&value);
            let mut tape = crate::json::Tape::default();
            crate::json::scan::scan(text.as_bytes(), 0, &mut tape);
            let node = tape.root(text.as_bytes()).expect("text of a value");
            let of_node: Vec<_> = node.members().map(|(k, v)| (k.into_owned(), v.kind(), v.as_f64(), v.as_str().map(Cow::into_owned))).collect();
            let of_value: Vec<_> = (&value).members().map(|(k, v)| (k.into_owned(), v.kind(), v.as_f64(), v.as_str().map(Cow::into_owned))).collect();
            prop_assert_eq!(of_node, of_value);
        }
    }

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 32);
    }

    #[test]
    fn a_removed_index_key_leaves_the_order_intact() {
        let mut object: Object = [("x", Value::Null), ("3", Value::Null), ("1", Value::Null)].into_iter().collect();
        object.remove("1");
        object.set("2", Value::Null);
        assert_eq!(object.iter().map(|(key, _)| key.to_string()).collect::<Vec<_>>(), ["2", "3", "x"]);
    }
}
