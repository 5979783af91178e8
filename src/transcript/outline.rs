//! What there is to show of a tree: the place of each entry, its label, and what of it the context holds.

use super::context::{self, Compaction, Values};
use super::date;
use super::entry::EntryKind;
use super::ids::{Id, Ids};
use super::throw::Throw;
use super::tree::{Bits, Leaf, Linked, Path, PathEnd, Shape, Tree};
use crate::finding::Release;
use crate::json::{JsString, Value, View};
use std::collections::HashMap;

/// A tree with everything about its entries.
pub struct Outline {
    /// Parents and children; shadowed duplicates are no part of it.
    pub shape: Shape,
    /// The way to the leaf.
    pub path: Path,
    /// For each entry of the list (headers too) where it stands.
    pub places: Vec<Place>,
    /// The compaction that counts.
    pub compaction: Option<Compaction>,
    /// Number of messages of the context, and what it weighs; or what gjc throws.
    pub context: Result<(usize, Option<u64>), Throw>,
}

/// Where an entry stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What its `parentId` leads to.
    pub parent: Parent,
    /// A later entry with the same id: nothing finds this one.
    pub shadowed_by: Option<usize>,
    /// On the way to the leaf.
    pub on_path: bool,
    /// It gives a message to the context.
    pub in_context: bool,
    /// The label that was set last for its id; of several entries with one id the last one has it.
    pub label: Option<JsString>,
}

/// What a `parentId` leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parent {
    /// Nothing: it is falsy.
    None,
    /// An entry.
    Entry(usize),
    /// Nothing: no entry has that id.
    Unknown,
    /// The entry itself.
    Itself,
    /// An entry, but the edge is not drawn: it would close a cycle.
    ClosesCycle(usize),
}

impl Outline {
    /// Looks at loaded (and migrated) entries.
    pub fn new(list: &Values<'_>, ids: &mut Ids, leaf: Leaf, release: Release) -> Outline {
        let tree = Tree::new(list);
        let entries = list.entries();
        let labels = labels(entries, ids);
        let shape = tree.shape(|entry| date::time_of(entries.get(entry).and_then(|entry| entry.get("timestamp"))));
        let path = tree.path_to(leaf);
        let rebuilt = context::build(&tree, leaf, release);

        let bits = |set: &mut dyn Iterator<Item = usize>| {
            let mut bits = Bits::new(list.len());
            set.for_each(|entry| bits.set(entry));
            bits
        };
        let on_path = bits(&mut path.entries.iter().copied());
        let in_context = match &rebuilt {
            Ok(context) => bits(&mut context.messages.iter().map(|message| message.entry())),
            Err(_) => Bits::new(0),
        };
        let drawn_root = bits(&mut shape.roots());
        let place = |entry: usize| Place {
            parent: match tree.parent(entry) {
                Some(parent) if parent == entry => Parent::Itself,
                Some(parent) if drawn_root.has(entry) => Parent::ClosesCycle(parent),
                Some(parent) => Parent::Entry(parent),
                None if list.parent(entry).truthy() => Parent::Unknown,
                None => Parent::None,
            },
            shadowed_by: tree.find(list.id(entry)).filter(|latest| *latest != entry && !list.kind(entry).is_header()),
            on_path: on_path.has(entry),
            in_context: in_context.has(entry),
            // A label names an id, and an id leads to one entry: many entries of one id do not repeat a long label.
            label: labels.get(&list.id(entry)).filter(|_| tree.find(list.id(entry)) == Some(entry)).cloned(),
        };
        let places = (0..list.len()).map(place).collect();
        let compaction = rebuilt.as_ref().ok().and_then(|context| context.compaction);
        let context = rebuilt.map(|context| (context.messages.len(), context.weight()));
        Outline { shape, path, places, compaction, context }
    }

    /// The leaf; none before the first entry.
    pub fn leaf(&self) -> Option<usize> {
        self.path.entries.last().copied()
    }
    /// Entries that have more than one child.
    pub fn branchings(&self) -> usize {
        (0..self.places.len()).filter(|entry| self.shape.children(*entry).len() > 1).count()
    }
    /// Why nothing stands before the first entry of the path.
    pub fn end(&self) -> Option<PathEnd> {
        self.path.end
    }
}

/// The label of each id that has one: the last `label` entry for it decides, an empty or absent label takes it away.
fn labels(entries: &[Value], ids: &mut Ids) -> HashMap<Id, JsString> {
    let mut labels = HashMap::new();
    for entry in entries.iter().filter(|entry| EntryKind::of(*entry) == EntryKind::Label) {
        let target = ids.of(entry.get("targetId"));
        match entry.get("label") {
            Some(Value::String(label)) if !label.as_bytes().is_empty() => labels.insert(target, label.clone()),
            // Another truthy value would be shown by nothing.
            _ => labels.remove(&target),
        };
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(lines: &[&str]) -> Outline {
        let entries: Vec<Value> = lines.iter().map(|line| Value::parse(line.as_bytes()).unwrap()).collect();
        let mut ids = Ids::default();
        let list = Values::new(&entries, &mut ids);
        Outline::new(&list, &mut ids, Leaf::Last, Release::V0_17)
    }

    #[test]
    fn each_entry_has_its_place() {
        let outline = outline(&[
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"message","id":"a","parentId":"zz","message":{}}"#,
            r#"{"type":"message","id":"b","parentId":"b","message":{}}"#,
            r#"{"type":"message","id":"c","parentId":"d","message":{}}"#,
            r#"{"type":"message","id":"d","parentId":"c","message":{}}"#,
            r#"{"type":"message","id":"a","parentId":null,"message":{}}"#,
        ]);
        let parents: Vec<Parent> = outline.places.iter().map(|place| place.parent).collect();
        assert_eq!(parents, [Parent::None, Parent::Unknown, Parent::Itself, Parent::Entry(4), Parent::ClosesCycle(3), Parent::None]);
        assert_eq!(outline.places[1].shadowed_by, Some(5));
        assert!(outline.places[5].on_path && outline.places[5].in_context && !outline.places[4].on_path);
        assert_eq!(outline.leaf(), Some(5));
    }

    #[test]
    fn the_last_label_of_an_id_counts() {
        let label = |id: &str, text: &str| format!(r#"{{"type":"label","id":"{id}","parentId":null,"targetId":"a","label":"{text}"}}"#);
        let message = r#"{"type":"message","id":"a","parentId":null,"message":{}}"#;
        let of = |lines: &[&str]| outline(lines).places[0].label.as_ref().map(ToString::to_string);
        assert_eq!(of(&[message, &label("x", "one"), &label("y", "two")]).as_deref(), Some("two"));
        assert_eq!(of(&[message, &label("x", "one"), &label("y", "")]), None);
        let twice = outline(&[message, message, &label("x", "one")]);
        assert_eq!(twice.places[..2].iter().map(|place| place.label.is_some()).collect::<Vec<_>>(), [false, true]);
    }
}
