//! What a side has at each level, and the version-5 form of a transcript.

use super::align::{Item, align};
use super::{Has, Level, Side};
use crate::finding::Release;
use crate::json::jsonl::{Event, Lines};
use crate::json::{Kind, Value, View, text};
use crate::transcript::blobs::NoStore;
use crate::transcript::context::answer::{LeafName, contexts};
use crate::transcript::header;
use crate::transcript::load::{Loaded, Whole, load};
use crate::transcript::migrate::{IdSource, Seeded, migrate};
use crate::transcript::persist::rewrite::rewrite;
use crate::transcript::persist::sanitise::sanitise;
use crate::transcript::persist::tally::Tally;
use crate::transcript::throw::Throw;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What a side has, or why it has nothing.
pub(super) enum Items {
    /// Its items, in order.
    Are(Vec<Item>),
    /// The same, with ids that migration drew.
    Drawn(Vec<Item>),
    /// gjc throws.
    Throws(String),
    /// gjc loads nothing.
    Nothing,
}

impl Items {
    pub(super) fn has(&self) -> Has {
        match self {
            Items::Are(items) | Items::Drawn(items) => Has::Items(items.len() as u64),
            Items::Throws(said) => Has::Throws(said.clone()),
            Items::Nothing => Has::Nothing,
        }
    }
    pub(super) fn into_items(self) -> Vec<Item> {
        match self {
            Items::Are(items) | Items::Drawn(items) => items,
            Items::Throws(_) | Items::Nothing => Vec::new(),
        }
    }
}

/// The ids that entries of version 1 get.
fn ids() -> Seeded {
    Seeded::new(0)
}

/// What a side has at a level. Reading bytes in memory cannot fail.
pub(super) fn items(side: Side<'_>, level: Level) -> Items {
    match level {
        Level::Records => records(side.bytes),
        Level::Migrated => migrated(side),
        Level::Context => context(side),
    }
}

/// A record or entry at a place. `nth` is its number among the items: the header needs no name.
fn record(place: u64, nth: usize, value: Value) -> Item {
    let kind = value.str_member("type").map(|kind| text::wtf8_lossy(&kind));
    let of_type = kind.unwrap_or_else(|| if value.kind() == Kind::Object { "no type".to_owned() } else { "no record".to_owned() });
    let id = match value.str_member("id") {
        _ if nth == 0 && of_type == "session" => Some(Vec::new()),
        Some(id) => Some(id.into_owned()),
        None => None,
    };
    Item { place, of_type, id, value }
}

fn records(bytes: &[u8]) -> Items {
    let mut lines = Lines::new(bytes);
    let mut items: Vec<Item> = Vec::new();
    while let Ok(Some(event)) = lines.next() {
        if let Event::Value(found) = event {
            items.push(record(found.line, items.len(), Value::from_node(found.node)));
        }
    }
    // Ids of version 1 mean nothing: migration gives others.
    if items.first().is_some_and(|first| is_of_version_1(&first.value)) {
        nameless(&mut items);
    }
    Items::Are(items)
}

fn is_of_version_1<'v>(header: impl View<'v>) -> bool {
    header.get("type").is_some_and(|kind| kind.is_str("session"))
        && header::version(header).is_ok_and(|version| version.unwrap_or(1.0) < 2.0)
}

/// No item but the header has a name.
fn nameless(items: &mut [Item]) {
    items.iter_mut().skip(1).for_each(|item| item.id = None);
}

fn migrated(side: Side<'_>) -> Items {
    let loaded = match load(side.bytes, Whole, side.release) {
        Ok(Ok(loaded)) if loaded.entries.is_empty() => return Items::Nothing,
        Ok(Ok(loaded)) => Ok(loaded),
        Ok(Err(throw)) => Err(throw),
        Err(_) => return Items::Nothing,
    };
    let lifted = loaded.and_then(|mut loaded| migrate(&mut loaded, &mut ids()).map(|migrated| (migrated, loaded)));
    match lifted {
        Ok((migrated, Loaded { entries, .. })) => {
            let mut items: Vec<Item> = entries.into_iter().enumerate().map(|(nth, entry)| record(nth as u64 + 1, nth, entry)).collect();
            if !migrated.chained() {
                return Items::Are(items);
            }
            nameless(&mut items);
            Items::Drawn(items)
        }
        Err(throw) => Items::Throws(format!("{}: {throw}", throw.class())),
    }
}

/// Whether the first record is a header of version 1.
fn begins_version_1(bytes: &[u8]) -> bool {
    let mut lines = Lines::new(bytes);
    while let Ok(Some(event)) = lines.next() {
        if let Event::Value(found) = event {
            return is_of_version_1(found.node);
        }
    }
    false
}

/// Gives entries whose ids were drawn the ids of what they are paired with, in them and in what names them: what is the same
/// thing on both sides has the same name.
pub(super) fn adopt(drawn: &mut [Item], other: &[Item]) {
    // A header keeps its own.
    let id = |item: &Item| item.value.str_member("id").filter(|_| item.of_type != "session").map(Cow::into_owned);
    let mut names: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut alone = vec![true; drawn.len()];
    for (at, at_other) in align(drawn, other) {
        if let (Some(item), Some(alone), Some(name)) = (drawn.get(at), alone.get_mut(at), other.get(at_other).and_then(id)) {
            *alone = false;
            names.extend(id(item).map(|drawn| (drawn, name)));
        }
    }
    // What is alone must not be named like something else.
    let taken: HashSet<Vec<u8>> = other.iter().chain(&*drawn).filter_map(id).collect();
    let mut fresh = Seeded::new(1);
    for item in drawn.iter().zip(alone).filter_map(|(item, alone)| if alone { id(item) } else { None }) {
        let free = std::iter::repeat_with(|| fresh.next_id().as_bytes().to_vec()).find(|name| !taken.contains(name));
        names.extend(free.map(|name| (item, name)));
    }
    let entries = drawn.iter_mut().filter(|item| item.of_type != "session");
    for object in entries.filter_map(|item| item.value.as_object_mut()) {
        for member in ["id", "parentId", "firstKeptEntryId"] {
            let name = object.get(member).and_then(View::as_str).and_then(|named| names.get(&*named));
            if let Some(name) = name {
                object.set(member, Value::string(text::wtf8_lossy(name)));
            }
        }
    }
}

/// Messages with the entries they come from, then the settings.
fn context(side: Side<'_>) -> Items {
    let answers = contexts(side.bytes, side.release, &[LeafName::Last], &mut ids());
    let answer = answers.ok().and_then(|answers| Value::parse(answers.first()?));
    let Some(answer) = answer else { return Items::Nothing };
    if let Some(said) = answer.str_member("throws") {
        return Items::Throws(text::wtf8_lossy(&said));
    }
    let Some(context) = answer.member("context").and_then(Value::as_object) else { return Items::Nothing };
    // Ids that migration drew name nothing.
    let ids = answer.member("message_entry_ids").and_then(Value::as_array).filter(|_| !begins_version_1(side.bytes)).unwrap_or_default();
    let mut items = Vec::new();
    for (nth, message) in context.get("messages").and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
        let role = message.str_member("role").map_or_else(|| "message".to_owned(), |role| text::wtf8_lossy(&role));
        let id = ids.get(nth).and_then(View::as_str).map(Cow::into_owned);
        items.push(Item { place: nth as u64 + 1, of_type: role, id, value: message.clone() });
    }
    let settings = context.iter().filter(|(name, _)| name.as_bytes() != b"messages");
    items.extend(settings.enumerate().map(|(nth, (name, value))| Item {
        place: nth as u64 + 1,
        of_type: format!("setting {}", text::wtf8_lossy(name.as_bytes())),
        id: Some(Vec::new()),
        value: value.clone(),
    }));
    Items::Are(items)
}

/// The version-5 form of a transcript, as gjc would write it on close with an empty blob store. Ids of version-1 entries are
/// made from a fixed seed.
///
/// # Errors
/// What gjc throws; none when gjc loads nothing.
pub fn version_5(bytes: &[u8], release: Release) -> Result<Option<Vec<u8>>, Throw> {
    let Ok(loaded) = load(bytes, Whole, release) else { return Ok(None) };
    let mut loaded = loaded?;
    if loaded.entries.is_empty() {
        return Ok(None);
    }
    migrate(&mut loaded, &mut ids())?;
    let Loaded { mut entries, .. } = loaded;
    for entry in &mut entries {
        sanitise(entry);
    }
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let written = rewrite(entries, &mut NoStore, release, &mut Tally::default(), &mut text);
    Ok(written.is_ok().then_some(text))
}
