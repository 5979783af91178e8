//! Which item of one side is which of the other: by id, else by canonical bytes, else by what is left without the members that
//! migration writes. Every step is a lookup; the order of the pairs is judged by a longest increasing sequence.

use super::member::members;
use super::{Change, ChangeKind};
use crate::json::{Object, Value, View, stringify, text};
use crate::steps;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// One thing of a side.
#[derive(Debug)]
pub struct Item {
    /// Line, or number from 1.
    pub place: u64,
    /// Its type, or what stands for it.
    pub of_type: String,
    /// What makes it the same thing on both sides, when it has such a name.
    pub id: Option<Vec<u8>>,
    /// What it is.
    pub value: Value,
}

impl Item {
    fn label(&self) -> String {
        match &self.id {
            Some(id) if !id.is_empty() => format!("{} {}", self.of_type, shorten(&text::wtf8_lossy(id), 60)),
            _ => self.of_type.clone(),
        }
    }
}

/// Pairs of items: index on the first side, index on the second.
pub type Pairs = Vec<(usize, usize)>;

/// What an item is known by in one step of the alignment.
type Key = [u8; 32];

/// Members that migration writes; without them a record of an old version is its version-5 form.
const MIGRATED: [&str; 5] = ["id", "parentId", "version", "firstKeptEntryId", "firstKeptEntryIndex"];

/// Pairs the items of two sides, each at most once, in order of the first side.
pub fn align(a: &[Item], b: &[Item]) -> Pairs {
    let mut open = Open { a: vec![true; a.len()], b: vec![true; b.len()], pairs: Vec::new() };
    let named = |item: &Item| item.id.as_ref().map(|id| key(&[item.of_type.as_bytes(), id]));
    let exact = |item: &Item| Some(key(&[stringify::to_text(&item.value).as_bytes()]));
    let content = |item: &Item| Some(key(&[content(&item.value).as_bytes()]));
    open.pair((a, named), (b, named), true);
    open.pair((a, exact), (b, exact), false);
    // Two names are two things, whatever they hold: only what has none on one side is known by its content.
    let nameless = |item: &Item| if item.id.is_none() { content(item) } else { None };
    open.pair((a, nameless), (b, content), false);
    open.pair((a, content), (b, nameless), false);
    // What has a name that is not unique: in order.
    open.pair((a, named), (b, named), false);
    open.pairs.sort_unstable();
    open.pairs
}

/// What is not paired yet.
struct Open {
    a: Vec<bool>,
    b: Vec<bool>,
    pairs: Pairs,
}

impl Open {
    /// Pairs what has the same key; of several in order. `unique` leaves out keys that occur twice on a side.
    fn pair<A: Fn(&Item) -> Option<Key>, B: Fn(&Item) -> Option<Key>>(&mut self, a: (&[Item], A), b: (&[Item], B), unique: bool) {
        let (of_a, of_b) = (by_key(a.0, &self.a, a.1), by_key(b.0, &self.b, b.1));
        for (key, at_a) in of_a {
            let Some(at_b) = of_b.get(&key).filter(|at_b| !unique || (at_a.len() == 1 && at_b.len() == 1)) else { continue };
            for (a, b) in at_a.into_iter().zip(at_b) {
                steps::take(1);
                self.a[a] = false;
                self.b[*b] = false;
                self.pairs.push((a, *b));
            }
        }
    }
}

/// The items that are not paired yet, by their key, in order.
fn by_key(items: &[Item], open: &[bool], key: impl Fn(&Item) -> Option<Key>) -> HashMap<Key, Vec<usize>> {
    let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate().filter(|(at, _)| open.get(*at) == Some(&true)) {
        steps::take(1);
        if let Some(key) = key(item) {
            by_key.entry(key).or_default().push(at);
        }
    }
    by_key
}

fn key(parts: &[&[u8]]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// A record without what migration writes, its role as version 3 and later have it.
fn content(value: &Value) -> String {
    let Some(object) = value.as_object() else { return stringify::to_text(value) };
    let mut text = String::new();
    for (name, member) in object.iter().filter(|(name, _)| !MIGRATED.iter().any(|known| known.as_bytes() == name.as_bytes())) {
        text.push_str(&text::wtf8_lossy(name.as_bytes()));
        text.push('\n');
        match member.as_object().filter(|message| message.get("role").is_some_and(|role| role.is_str("hookMessage"))) {
            Some(message) => text.push_str(&as_custom(message)),
            None => text.push_str(&stringify::to_text(member)),
        }
        text.push('\n');
    }
    text
}

/// A hook message as version 3 calls it.
fn as_custom(message: &Object) -> String {
    let mut message = message.clone();
    message.set("role", Value::string("custom"));
    stringify::to_text(&Value::Object(message))
}

/// The differences of two lists of items, in the order in which a reader meets them.
pub fn changes(a: &[Item], b: &[Item]) -> Vec<Change> {
    let pairs = align(a, b);
    let in_order = increasing(&pairs);
    // Where a change stands: behind this pair that is in order (from 1; 0 = before the first), then what left, then what came.
    let mut placed: Vec<((usize, u8, usize), Change)> = Vec::new();
    let mut partner: Vec<Option<(usize, bool)>> = vec![None; a.len()];
    let mut anchors: Vec<Option<usize>> = vec![None; b.len()];
    let mut paired: Vec<bool> = vec![false; b.len()];
    for ((at_a, at_b), ordered) in pairs.iter().zip(&in_order) {
        partner[*at_a] = Some((*at_b, *ordered));
        paired[*at_b] = true;
        anchors[*at_b] = ordered.then_some(at_a + 1);
    }
    let mut behind = 0;
    for (at, item) in a.iter().enumerate() {
        let Some((at_b, ordered)) = partner[at] else {
            placed
                .push(((behind, 1, at), change(ChangeKind::OnlyA, item, Some(item.place), None, Some(shown(&item.value)), Vec::new(), 0)));
            continue;
        };
        if ordered {
            behind = at + 1;
        }
        let Some(other) = b.get(at_b) else { continue };
        let (members, not_listed) = members(&item.value, &other.value);
        let kind = if ordered { ChangeKind::Changed } else { ChangeKind::Moved };
        if !members.is_empty() || !ordered {
            let class = if ordered { 0 } else { 1 };
            placed.push(((behind, class, at), change(kind, item, Some(item.place), Some(other.place), None, members, not_listed)));
        }
    }
    let mut behind = 0;
    for (at, item) in b.iter().enumerate() {
        behind = anchors[at].unwrap_or(behind);
        if !paired[at] {
            let text = Some(shown(&item.value));
            placed.push(((behind, 2, at), change(ChangeKind::OnlyB, item, None, Some(item.place), text, Vec::new(), 0)));
        }
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, change)| change).collect()
}

fn change(
    kind: ChangeKind,
    item: &Item,
    a: Option<u64>,
    b: Option<u64>,
    text: Option<String>,
    members: Vec<super::MemberChange>,
    not_listed: u64,
) -> Change {
    Change { kind, item: item.label(), of_type: item.of_type.clone(), a, b, text, members, not_listed }
}

/// For each pair, whether it belongs to a longest sequence that is in order on both sides (patience, `n log n`).
fn increasing(pairs: &[(usize, usize)]) -> Vec<bool> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, b)) in pairs.iter().enumerate() {
        let length = tails.partition_point(|tail| {
            steps::take(1);
            pairs.get(*tail).is_some_and(|(_, other)| other < b)
        });
        before.push(length.checked_sub(1).and_then(|last| tails.get(last).copied()));
        match tails.get_mut(length) {
            Some(tail) => *tail = at,
            None => tails.push(at),
        }
    }
    let mut ordered = vec![false; pairs.len()];
    let mut at = tails.last().copied();
    while let Some(pair) = at {
        ordered[pair] = true;
        at = before.get(pair).copied().flatten();
    }
    ordered
}

/// Letters of a value that are shown.
pub(super) const SHOWN: usize = 400;

/// A value as its JSON text, shortened.
pub(super) fn shown(value: &Value) -> String {
    shorten(&stringify::to_text(value), SHOWN)
}

/// A text with at most so many letters; what is left out is counted.
pub(super) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], text.len() - end),
    }
}
