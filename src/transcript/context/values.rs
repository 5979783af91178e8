//! Whole entries as the tree and the fold see them.

use super::ContextEntries;
use super::settings::NO_PRIMITIVE;
use crate::json::{JsStr, JsString, Kind, Value, View, coerce};
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::facts::MessageForm;
use crate::transcript::ids::{Id, Ids};
use crate::transcript::migrate::Migrated;
use crate::transcript::throw::Throw;
use crate::transcript::tree::Linked;
use std::collections::HashMap;

/// A list of whole entries with their links.
pub struct Values<'e> {
    entries: &'e [Value],
    links: Vec<(EntryKind, Id, Id)>,
    /// `firstKeptEntryId` of each compaction.
    first_kept: HashMap<usize, Id>,
}

impl<'e> Values<'e> {
    /// Reads the links of loaded (and migrated) entries; ids that are new are added to `ids`.
    pub fn new(entries: &'e [Value], ids: &mut Ids) -> Self {
        let mut first_kept = HashMap::new();
        let mut links = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let kind = EntryKind::of(entry);
            if kind == EntryKind::Compaction {
                first_kept.insert(at, ids.of(entry.get("firstKeptEntryId")));
            }
            links.push((kind, ids.of(entry.get("id")), ids.of(entry.get("parentId"))));
        }
        Values { entries, links, first_kept }
    }
    /// The same for entries that were just migrated. Migration from version 1 gives ids to arrays too, as properties of
    /// the array: JSON text does not show them, but gjc walks over them.
    pub fn migrated(entries: &'e [Value], ids: &mut Ids, migrated: &Migrated) -> Self {
        let mut values = Self::new(entries, ids);
        if !migrated.chained() {
            return values;
        }
        let chain: Vec<usize> = (0..entries.len()).filter(|entry| !values.links[*entry].0.is_header()).collect();
        for (place, at) in chain.iter().enumerate().filter(|(_, at)| entries[**at].kind() == Kind::Array) {
            let before = place.checked_sub(1).and_then(|place| chain.get(place));
            let parent = before.map_or(Id::NULL, |before| values.links[*before].1);
            let id = match chain.get(place + 1) {
                Some(after) if entries[*after].kind() != Kind::Array => values.links[*after].2,
                // Nothing but the chain knows this id: any that is its own will do.
                _ => ids.of(Some(&entries[*at])),
            };
            values.links[*at] = (EntryKind::NonRecord, id, parent);
        }
        values
    }
    /// All entries.
    pub fn entries(&self) -> &'e [Value] {
        self.entries
    }
    /// The entry.
    pub fn entry(&self, entry: usize) -> Option<&'e Value> {
        self.entries.get(entry)
    }
    fn member(&self, entry: usize, key: &str) -> Option<&'e Value> {
        self.entry(entry).and_then(|entry| entry.get(key))
    }
}

impl Linked for Values<'_> {
    fn len(&self) -> usize {
        self.entries.len()
    }
    fn kind(&self, entry: usize) -> EntryKind {
        self.links.get(entry).map_or(EntryKind::NonRecord, |link| link.0)
    }
    fn id(&self, entry: usize) -> Id {
        self.links.get(entry).map_or(Id::ABSENT, |link| link.1)
    }
    fn parent(&self, entry: usize) -> Id {
        self.links.get(entry).map_or(Id::ABSENT, |link| link.2)
    }
}

impl ContextEntries for Values<'_> {
    fn value(&self, entry: usize) -> Option<&Value> {
        self.entry(entry)
    }
    fn message(&self, entry: usize) -> MessageForm {
        MessageForm::of(self.member(entry, "message"))
    }
    fn role(&self, entry: usize) -> Role {
        self.member(entry, "message").map_or(Role::None, Role::of)
    }
    fn assistant_model(&self, entry: usize) -> Result<JsString, Throw> {
        self.member(entry, "message").map_or(Err(NO_PRIMITIVE), assistant_model)
    }
    fn has_summary(&self, entry: usize) -> bool {
        self.member(entry, "summary").is_some_and(View::truthy)
    }
    fn first_kept(&self, compaction: usize) -> Option<Id> {
        self.first_kept.get(&compaction).copied()
    }
    fn time_throws(&self, entry: usize) -> bool {
        self.member(entry, "timestamp").is_some_and(|time| coerce::to_text(time).is_none())
    }
    fn weight(&self, entry: usize) -> u64 {
        self.entry(entry).map_or(0, |value| super::emitted_weight(value, self.kind(entry)))
    }
}

/// `` `${message.provider}/${message.model}` ``
///
/// # Errors
/// JavaScript cannot turn one of the two into text.
pub fn assistant_model<'v, V: View<'v>>(message: V) -> Result<JsString, Throw> {
    let text = |key| message.get(key).map_or_else(|| Ok("undefined".into()), |value| coerce::to_text(value).ok_or(NO_PRIMITIVE));
    let mut model = text("provider")?;
    model.push_js(JsStr::from("/"));
    model.push_js(text("model")?.as_js());
    Ok(model)
}
