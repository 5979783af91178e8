//! What a side has at each level, and the version-5 form of a transcript.

use super::align::Item;
use super::{Has, Level, Side};
use crate::finding::Release;
use crate::json::jsonl::{Event, Lines};
use crate::json::{Kind, Value, View};
use crate::transcript::blobs::NoStore;
use crate::transcript::context::answer::{LeafName, contexts};
use crate::transcript::header;
use crate::transcript::load::{Loaded, Whole, load};
use crate::transcript::migrate::{Seeded, migrate};
use crate::transcript::persist::rewrite::rewrite;
use crate::transcript::persist::sanitise::sanitise;
use crate::transcript::persist::tally::Tally;
use crate::transcript::throw::Throw;

/// What a side has, or why it has nothing.
pub(super) enum Items {
    /// Its items, in order.
    Are(Vec<Item>),
    /// gjc throws.
    Throws(String),
    /// gjc loads nothing.
    Nothing,
}

impl Items {
    pub(super) fn has(&self) -> Has {
        match self {
            Items::Are(items) => Has::Items(items.len() as u64),
            Items::Throws(said) => Has::Throws(said.clone()),
            Items::Nothing => Has::Nothing,
        }
    }
    pub(super) fn into_items(self) -> Vec<Item> {
        match self {
            Items::Are(items) => items,
            Items::Throws(_) | Items::Nothing => Vec::new(),
        }
    }
}

/// The ids that entries of version 1 get: the same on both sides.
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
    let kind = value.str_member("type").map(|kind| crate::json::text::wtf8_lossy(&kind));
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
    let header = items.first().filter(|first| first.of_type == "session");
    let of_version_1 = header.is_some_and(|header| header::version(&header.value).is_ok_and(|version| version.unwrap_or(1.0) < 2.0));
    if of_version_1 {
        items.iter_mut().skip(1).for_each(|item| item.id = None);
    }
    Items::Are(items)
}

fn migrated(side: Side<'_>) -> Items {
    let loaded = match load(side.bytes, Whole, side.release) {
        Ok(Ok(loaded)) if loaded.entries.is_empty() => return Items::Nothing,
        Ok(Ok(loaded)) => Ok(loaded),
        Ok(Err(throw)) => Err(throw),
        Err(_) => return Items::Nothing,
    };
    let lifted = loaded.and_then(|mut loaded| migrate(&mut loaded, &mut ids()).map(|_| loaded));
    match lifted {
        Ok(Loaded { entries, .. }) => {
            Items::Are(entries.into_iter().enumerate().map(|(nth, entry)| record(nth as u64 + 1, nth, entry)).collect())
        }
        Err(throw) => Items::Throws(format!("{}: {throw}", throw.class())),
    }
}

/// Messages with the entries they come from, then the settings.
fn context(side: Side<'_>) -> Items {
    let answers = contexts(side.bytes, side.release, &[LeafName::Last], &mut ids());
    let answer = answers.ok().and_then(|answers| Value::parse(answers.first()?));
    let Some(answer) = answer else { return Items::Nothing };
    if let Some(said) = answer.str_member("throws") {
        return Items::Throws(crate::json::text::wtf8_lossy(&said));
    }
    let Some(context) = answer.member("context").and_then(Value::as_object) else { return Items::Nothing };
    let ids = answer.member("message_entry_ids").and_then(Value::as_array).unwrap_or_default();
    let mut items = Vec::new();
    for (nth, message) in context.get("messages").and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
        let role = message.str_member("role").map_or_else(|| "message".to_owned(), |role| crate::json::text::wtf8_lossy(&role));
        let id = ids.get(nth).and_then(View::as_str).map(std::borrow::Cow::into_owned);
        items.push(Item { place: nth as u64 + 1, of_type: role, id, value: message.clone() });
    }
    let settings = context.iter().filter(|(name, _)| name.as_bytes() != b"messages");
    items.extend(settings.enumerate().map(|(nth, (name, value))| Item {
        place: nth as u64 + 1,
        of_type: format!("setting {}", crate::json::text::wtf8_lossy(name.as_bytes())),
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
