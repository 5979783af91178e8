//! Ids as JavaScript compares them: a `Map` keyed by whatever an entry's `id` is.
//!
//! Readers accept any value as an id and compare without conversion (7 is not "7", 1.0 is 1). [`Ids`] gives equal keys
//! equal numbers, so that everything behind it compares and indexes by a `u32`.

use crate::json::{JsString, Kind, Object, Value, View};
use crate::steps;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// One key. Equal ids of one [`Ids`] are equal keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(u32);

impl Id {
    /// The member is absent (`undefined`).
    pub const ABSENT: Id = Id(0);
    /// `null`
    pub const NULL: Id = Id(1);
    const FALSE: Id = Id(2);
    const TRUE: Id = Id(3);
    /// The empty string.
    pub const EMPTY: Id = Id(4);
    const ZERO: Id = Id(5);
    const FIRST: u32 = 6;

    /// Index of the key in tables over all keys of its [`Ids`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// JavaScript truthiness of the key.
    pub const fn truthy(self) -> bool {
        self.0 == Self::TRUE.0 || self.0 > Self::ZERO.0
    }
    /// Absent or null.
    pub const fn is_nullish(self) -> bool {
        self.0 <= Self::NULL.0
    }
}

/// What each key was and its text, by number. A large file has a key for each of its entries: five bytes and the text.
#[derive(Default)]
struct Keys {
    kinds: Vec<Kind>,
    /// Where in `texts` the text of each key ends; it begins where the one before it ends.
    ends: Vec<u32>,
    texts: Vec<u8>,
}

impl Keys {
    fn len(&self) -> usize {
        self.kinds.len()
    }
    fn push(&mut self, kind: Kind, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.kinds.push(kind);
        self.ends.push(self.texts.len() as u32);
    }
    fn get(&self, number: usize) -> Option<(Kind, &[u8])> {
        let kind = *self.kinds.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        // Texts of more than 4 GiB are beyond what is kept.
        let text = self.texts.get(start as usize..self.ends[number] as usize).unwrap_or_default();
        Some((kind, text))
    }
}

/// All keys of one transcript.
pub struct Ids {
    keys: Keys,
    /// The keys by their text, those of [`Ids::fresh`] excepted.
    table: HashTable<Place>,
    hasher: DefaultHashBuilder,
    /// The key that [`Ids::intern`] made last; 0 before the first.
    latest: u32,
}

/// A key in the table, with its hash: neither growing nor most comparisons look at its text.
#[derive(Clone, Copy)]
struct Place {
    hash: u32,
    slot: u32,
}

/// The half of a hash that is kept.
const fn fold(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// The hash that the table is asked with: all of its bits depend on the kept half.
const fn spread(hash: u32) -> u64 {
    (hash as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Default for Ids {
    fn default() -> Self {
        Ids { keys: Keys::default(), table: HashTable::new(), hasher: DefaultHashBuilder::default(), latest: 0 }
    }
}

impl Ids {
    /// The key of a member; none is `undefined`.
    pub fn of<'v, V: View<'v>>(&mut self, value: Option<V>) -> Id {
        let Some(value) = value else { return Id::ABSENT };
        match value.kind() {
            Kind::Null => Id::NULL,
            Kind::Bool => {
                if value.as_bool() == Some(true) {
                    Id::TRUE
                } else {
                    Id::FALSE
                }
            }
            Kind::String => self.string(&value.as_str().unwrap_or_default()),
            Kind::Number => {
                let number = value.as_f64().unwrap_or(f64::NAN);
                // A Map does not tell -0 from 0.
                if number == 0.0 { Id::ZERO } else { self.intern(Kind::Number, &number.to_bits().to_le_bytes()) }
            }
            // An object is equal to itself only: a key that nothing else can get.
            kind @ (Kind::Array | Kind::Object) => self.push(kind, &[]),
        }
    }
    /// The key of a string (WTF-8).
    pub fn string(&mut self, text: &[u8]) -> Id {
        if text.is_empty() { Id::EMPTY } else { self.intern(Kind::String, text) }
    }
    /// A string key that equals no other, whatever their text: an id that gjc draws at random.
    pub fn fresh(&mut self, text: &[u8]) -> Id {
        self.push(Kind::String, text)
    }
    /// The key of a string that is known already.
    pub fn find(&self, text: &[u8]) -> Option<Id> {
        if text.is_empty() {
            return Some(Id::EMPTY);
        }
        let hash = fold(self.hasher.hash_one((Kind::String, text)));
        let same = |place: &Place| place.hash == hash && self.matches(place.slot, Kind::String, text);
        self.table.find(spread(hash), same).map(|place| Id(place.slot))
    }
    /// The text of a string key.
    pub fn text(&self, id: Id) -> Option<&[u8]> {
        if id == Id::EMPTY {
            return Some(&[]);
        }
        self.key(id.0).filter(|(kind, _)| *kind == Kind::String).map(|(_, text)| text)
    }
    /// The value of a key; none when it is absent. An object stands for any object.
    pub fn value(&self, id: Id) -> Option<Value> {
        match id {
            Id::ABSENT => None,
            Id::NULL => Some(Value::Null),
            Id::FALSE | Id::TRUE => Some(Value::Bool(id == Id::TRUE)),
            Id::EMPTY => Some(Value::string("")),
            Id::ZERO => Some(Value::Number(0.0)),
            _ => self.key(id.0).map(|(kind, text)| match (kind, <[u8; 8]>::try_from(text)) {
                (Kind::String, _) => Value::string(JsString::from_wtf8(text.to_vec())),
                (Kind::Number, Ok(bits)) => Value::Number(f64::from_bits(u64::from_le_bytes(bits))),
                _ => Value::Object(Object::new()),
            }),
        }
    }
    /// True for a string key.
    pub fn is_string(&self, id: Id) -> bool {
        self.text(id).is_some()
    }
    /// Number of keys: every [`Id::index`] is below it.
    pub fn len(&self) -> usize {
        Id::FIRST as usize + self.keys.len()
    }
    /// Never: the simple keys always exist.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Kind and text of a key that is none of the simple ones.
    fn key(&self, slot: u32) -> Option<(Kind, &[u8])> {
        self.keys.get(slot.checked_sub(Id::FIRST)? as usize)
    }
    fn matches(&self, slot: u32, kind: Kind, text: &[u8]) -> bool {
        self.key(slot) == Some((kind, text))
    }
    fn intern(&mut self, kind: Kind, text: &[u8]) -> Id {
        // A parent is most often the entry before: the key that was made last.
        if self.matches(self.latest, kind, text) {
            return Id(self.latest);
        }
        steps::take(1);
        let next = Id::FIRST + self.keys.len() as u32;
        let Ids { keys, table, hasher, latest } = self;
        let hash = fold(hasher.hash_one((kind, text)));
        let same = |place: &Place| {
            steps::take(1);
            place.hash == hash && keys.get((place.slot - Id::FIRST) as usize) == Some((kind, text))
        };
        match table.entry(spread(hash), same, |place| spread(place.hash)) {
            Entry::Occupied(place) => return Id(place.get().slot),
            Entry::Vacant(place) => place.insert(Place { hash, slot: next }),
        };
        *latest = next;
        self.push(kind, text)
    }
    fn push(&mut self, kind: Kind, text: &[u8]) -> Id {
        let id = Id(Id::FIRST + self.keys.len() as u32);
        self.keys.push(kind, text);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ids: &mut Ids, text: &str) -> Id {
        ids.of(Value::parse(text.as_bytes()).as_ref())
    }

    #[test]
    fn equal_strings_are_one_key_and_keep_their_text() {
        let mut ids = Ids::default();
        let a = id(&mut ids, "\"a\"");
        assert_eq!(a, id(&mut ids, "\"\\u0061\""));
        assert_ne!(a, id(&mut ids, "\"b\""));
        assert_eq!(ids.text(a), Some(&b"a"[..]));
        assert_eq!(ids.find(b"a"), Some(a));
        assert_eq!(ids.find(b"c"), None);
    }

    #[test]
    fn a_fresh_key_is_nobody_elses() {
        let mut ids = Ids::default();
        let fresh = ids.fresh(b"a");
        assert_ne!(ids.string(b"a"), fresh);
        let known = ids.string(b"a");
        assert_ne!(ids.fresh(b"a"), known);
        assert_eq!((ids.string(b"a"), ids.find(b"a")), (known, Some(known)));
    }

    #[test]
    fn many_keys_keep_their_numbers() {
        let mut ids = Ids::default();
        let made: Vec<Id> = (0..5000).map(|number| ids.string(number.to_string().as_bytes())).collect();
        assert!((0..5000).rev().all(|number| ids.string(number.to_string().as_bytes()) == made[number]));
        assert_eq!(ids.len(), 5006);
    }

    #[test]
    fn a_number_is_no_string_and_zero_has_no_sign() {
        let mut ids = Ids::default();
        assert_ne!(id(&mut ids, "7"), id(&mut ids, "\"7\""));
        assert_eq!(id(&mut ids, "1.0"), id(&mut ids, "1"));
        assert_eq!(id(&mut ids, "-0"), id(&mut ids, "0"));
    }

    #[test]
    fn objects_equal_nothing() {
        let mut ids = Ids::default();
        assert_ne!(id(&mut ids, "{}"), id(&mut ids, "{}"));
    }

    #[test]
    fn falsy_keys_are_those_of_javascript() {
        let mut ids = Ids::default();
        for (text, truthy) in
            [("null", false), ("false", false), ("0", false), ("\"\"", false), ("true", true), ("\"0\"", true), ("[]", true)]
        {
            assert_eq!(id(&mut ids, text).truthy(), truthy, "{text}");
        }
        assert!(!Id::ABSENT.truthy());
    }
}
