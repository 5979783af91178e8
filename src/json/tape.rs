//! The borrowed form of a value: a flat list of nodes with byte spans over the text they were scanned from.
//!
//! A [`Tape`] is reused from record to record, so that a check allocates nothing per record.

use super::view::{Census, Kind, View};
use std::borrow::Cow;

/// One value (or object key) of a tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// First byte of the value's text, from the beginning of the scanned text.
    pub start: u32,
    /// First byte behind the value's text.
    pub end: u32,
    /// Index of the first slot behind this value and everything in it.
    pub next: u32,
    /// What it is; object keys are strings that stand before their value.
    pub kind: Kind,
    /// `flag::*`.
    pub flags: u8,
    /// Bytes of a string that its escapes take beyond one for each unit; [`EXCESS_UNKNOWN`] or more is not counted.
    pub excess: u16,
}

/// The most that [`Slot::excess`] can say.
pub(crate) const EXCESS_UNKNOWN: u16 = u16::MAX;

pub(crate) mod flag {
    /// A string whose text holds a backslash.
    pub const ESCAPED: u8 = 1;
    /// An object that repeats a key.
    pub const DUPLICATE_KEY: u8 = 2;
    /// An object that has a key which JavaScript sorts before the others (an array index).
    pub const INDEX_KEY: u8 = 4;
    /// `true` (on a boolean).
    pub const TRUE: u8 = 8;
    /// A string that is the key of a member.
    pub const KEY: u8 = 16;
    /// A string that holds a `\u` escape.
    pub const UNICODE_ESCAPE: u8 = 32;
    /// A string that holds an escape of a surrogate, paired or not.
    pub const SURROGATE_ESCAPE: u8 = 64;
    /// A number that may not survive a round trip: an exponent, or more than 15 bytes.
    pub const LONG_NUMBER: u8 = 128;
}

/// The scanned values of one text.
#[derive(Default, Debug)]
pub struct Tape {
    pub(crate) slots: Vec<Slot>,
    /// Containers that are open while scanning; kept for its allocation.
    pub(crate) open: Vec<u32>,
    /// The flags of all slots together.
    pub(crate) flags: u8,
    /// Some container stands deeper than [`scan::DEEP`](super::scan::DEEP) levels.
    pub(crate) deep: bool,
}

/// A value on a tape, together with the text it was scanned from.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) tape: &'a Tape,
    pub(crate) at: u32,
}

impl Tape {
    /// The value that the last successful scan left here. `text` must be the text that was scanned.
    pub fn root<'a>(&'a self, text: &'a [u8]) -> Option<Node<'a>> {
        (!self.slots.is_empty()).then_some(Node { text, tape: self, at: 0 })
    }
}

impl<'a> Node<'a> {
    fn slot(self) -> Slot {
        self.tape.slots[self.at as usize]
    }
    fn at(self, at: u32) -> Self {
        Node { at, ..self }
    }
    /// Byte span of the value's text in the scanned text.
    pub fn span(self) -> (usize, usize) {
        let slot = self.slot();
        (slot.start as usize, slot.end as usize)
    }
    /// Position of the value on its tape: grows in text order, the root's is 0.
    pub fn slot_index(self) -> u32 {
        self.at
    }
    /// First position behind this value and everything in it.
    pub fn slot_end(self) -> u32 {
        self.slot().next
    }
    /// The value (or key) at a position of this tape.
    pub fn slot_at(self, at: u32) -> Option<Self> {
        ((at as usize) < self.tape.slots.len()).then_some(self.at(at))
    }
    /// True when the node is the key of a member.
    pub fn is_key(self) -> bool {
        let slot = self.slot();
        slot.kind == Kind::String && slot.flags & flag::KEY != 0
    }
    /// The key that stands directly before this value, when the value is a member of an object.
    pub fn member_key(self) -> Option<Self> {
        let before = self.at(self.at.checked_sub(1)?);
        (before.is_key() && !self.is_key()).then_some(before)
    }
    /// True when some object of the whole scanned text repeats a key.
    pub fn any_duplicate_key(self) -> bool {
        self.tape.flags & flag::DUPLICATE_KEY != 0
    }
    /// True when some number of the whole scanned text has an exponent or more than 15 bytes.
    pub fn any_long_number(self) -> bool {
        self.tape.flags & flag::LONG_NUMBER != 0
    }
    /// True when some string of the whole scanned text escapes a surrogate.
    pub fn any_surrogate_escape(self) -> bool {
        self.tape.flags & flag::SURROGATE_ESCAPE != 0
    }
    /// True when this string escapes a surrogate, paired or not.
    pub fn has_surrogate_escape(self) -> bool {
        let slot = self.slot();
        slot.kind == Kind::String && slot.flags & flag::SURROGATE_ESCAPE != 0
    }
    /// True when this string holds a `\u` escape.
    pub fn has_unicode_escape(self) -> bool {
        let slot = self.slot();
        slot.kind == Kind::String && slot.flags & flag::UNICODE_ESCAPE != 0
    }
    /// The UTF-16 length of this string or key; 0 for anything else. Nothing is decoded, save for very many escapes.
    pub fn units(self) -> usize {
        let slot = self.slot();
        let Some(raw) = self.raw_str() else { return 0 };
        if slot.flags & flag::ESCAPED == 0 {
            super::view::len_utf16(raw)
        } else if slot.excess < EXCESS_UNKNOWN {
            super::view::len_utf16(raw) - usize::from(slot.excess)
        } else {
            super::view::len_utf16(&super::text::unescape(raw))
        }
    }
    /// True when this number has an exponent or more than 15 bytes.
    pub fn is_long_number(self) -> bool {
        let slot = self.slot();
        slot.kind == Kind::Number && slot.flags & flag::LONG_NUMBER != 0
    }
    /// The value's JSON text as it stands in the file.
    pub fn raw(self) -> &'a [u8] {
        let (start, end) = self.span();
        &self.text[start..end]
    }
    /// True when this object itself repeats a key.
    pub fn repeats_a_key(self) -> bool {
        self.slot().flags & flag::DUPLICATE_KEY != 0
    }
    /// The members of an object as they are written: every duplicate, in text order, keys as nodes.
    pub fn written_members(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        let slot = self.slot();
        let (mut at, end) = if slot.kind == Kind::Object { (self.at + 1, slot.next) } else { (0, 0) };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let key = self.at(at);
            let value = self.at(at + 1);
            at = value.slot().next;
            Some((key, value))
        })
    }
    /// The text between the quotes of a string (or key), escapes as written.
    pub fn raw_str(self) -> Option<&'a [u8]> {
        let slot = self.slot();
        (slot.kind == Kind::String).then(|| &self.text[slot.start as usize + 1..slot.end as usize - 1])
    }
    /// True for a string with at least one escape.
    pub fn is_escaped(self) -> bool {
        self.slot().flags & flag::ESCAPED != 0
    }
    fn key_is(self, key: &[u8]) -> bool {
        match self.raw_str() {
            Some(raw) if !self.is_escaped() => raw == key,
            Some(raw) => super::text::unescape(raw) == key,
            None => false,
        }
    }
    /// Every value below and including this one in text order, with the key each one stands under (array elements
    /// inherit none). Iterates; never recurses.
    pub fn descend(self) -> impl Iterator<Item = Node<'a>> {
        let end = self.slot().next;
        (self.at..end).map(move |at| self.at(at))
    }
}

impl<'a> View<'a> for Node<'a> {
    fn to_value(self) -> super::value::Value {
        super::value::Value::from_node(self)
    }
    fn census(self) -> Option<Census> {
        // Of duplicate keys only the last value exists.
        if self.any_duplicate_key() {
            return None;
        }
        let mut census = Census::default();
        let mut is_member = true;
        for node in self.descend() {
            let slot = node.slot();
            let is_key = slot.kind == Kind::String && slot.flags & flag::KEY != 0;
            census.elements += u64::from(!is_member && !is_key);
            is_member = is_key;
            match slot.kind {
                Kind::String => {
                    census.strings += 1;
                    census.units += node.units() as u64;
                }
                Kind::Number | Kind::Bool => census.scalars += 1,
                Kind::Object => census.objects += 1,
                Kind::Null | Kind::Array => {}
            }
        }
        Some(census)
    }
    fn is_deep(self) -> bool {
        self.tape.deep
    }
    fn kind(self) -> Kind {
        self.slot().kind
    }
    fn get(self, key: &str) -> Option<Self> {
        let object = self.slot();
        if object.kind != Kind::Object {
            return None;
        }
        // The key with its quotes, when nothing in it is escaped; its first byte tells most keys apart.
        let length = key.len() as u32 + 2;
        let first = key.as_bytes().first().copied().unwrap_or(b'"');
        let mut found = None;
        let mut at = self.at + 1;
        while at < object.next {
            let slot = self.tape.slots[at as usize];
            let plain = slot.flags & flag::ESCAPED == 0;
            let alike = || slot.end - slot.start == length && self.text.get(slot.start as usize + 1) == Some(&first);
            if (!plain || alike()) && self.at(at).key_is(key.as_bytes()) {
                found = Some(self.at(at + 1));
                if object.flags & flag::DUPLICATE_KEY == 0 {
                    break;
                }
            }
            at = self.tape.slots[at as usize + 1].next;
        }
        found
    }
    fn as_str(self) -> Option<Cow<'a, [u8]>> {
        let raw = self.raw_str()?;
        Some(if self.is_escaped() { Cow::Owned(super::text::unescape(raw)) } else { Cow::Borrowed(raw) })
    }
    fn as_f64(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| super::number::parse(self.raw()))
    }
    fn as_bool(self) -> Option<bool> {
        let slot = self.slot();
        (slot.kind == Kind::Bool).then_some(slot.flags & flag::TRUE != 0)
    }
    fn items(self) -> impl Iterator<Item = Self> {
        let slot = self.slot();
        let (mut at, end) = if slot.kind == Kind::Array { (self.at + 1, slot.next) } else { (0, 0) };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let item = self.at(at);
            at = item.slot().next;
            Some(item)
        })
    }
    fn members(self) -> impl Iterator<Item = (Cow<'a, [u8]>, Self)> {
        let plain = self.slot().flags & (flag::DUPLICATE_KEY | flag::INDEX_KEY) == 0;
        let ordered = if plain { Vec::new() } else { self.javascript_order() };
        let written = plain.then(|| self.written_members().map(|(k, v)| (k.as_str().unwrap_or_default(), v)));
        written.into_iter().flatten().chain(ordered)
    }
}

impl<'a> Node<'a> {
    /// Members in JavaScript's order when it differs from the order they are written in.
    fn javascript_order(self) -> Vec<(Cow<'a, [u8]>, Self)> {
        let mut seen: indexmap::IndexMap<Cow<'a, [u8]>, Node<'a>> = indexmap::IndexMap::new();
        for (key, value) in self.written_members() {
            seen.insert(key.as_str().unwrap_or_default(), value);
        }
        let mut members: Vec<_> = seen.into_iter().collect();
        members.sort_by_key(|(key, _)| super::value::array_index(key).map_or(u64::MAX, u64::from));
        members
    }
}

#[cfg(test)]
mod tests {
    use crate::json::view::len_utf16;
    use crate::json::{Tape, View, scan};

    #[test]
    fn the_length_of_a_string_is_that_of_its_text() {
        for text in [r#""""#, r#""plain""#, r#""a\n\"\\b""#, r#""\u0041\ud83d\ude00\ud800""#, "\"ä€😀\\t😀\"", r#""\\u0041""#] {
            let mut tape = Tape::default();
            assert!(matches!(scan::scan(text.as_bytes(), 0, &mut tape), scan::Outcome::Complete { .. }));
            let node = tape.root(text.as_bytes()).unwrap();
            assert_eq!(Some(node.units()), node.as_str().map(|text| len_utf16(&text)), "{text}");
        }
    }
}
