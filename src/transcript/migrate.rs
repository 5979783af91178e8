//! Migration to version 5, in memory (spec 01 §6). Generic over what is kept of an entry.
//!
//! Only what a list of entries of an old version can hold is changed: ids and parents below version 2, the role
//! `hookMessage` below 3, the headers' versions always.

use super::entry::{EntryKind, Role};
use super::header::CURRENT_VERSION;
use super::ids::{Id, Ids};
use super::load::{Keep, Loaded, Whole};
use super::throw::Throw;
use crate::json::{JsString, Kind, Value, View};

/// What migration reads and writes of a kept entry.
pub trait Lift: Keep {
    /// True for a string, number or boolean: JavaScript refuses to set a member of it.
    fn is_primitive(&self, entry: &Self::Entry) -> bool;
    /// The `version` of a header, when it is a number.
    fn version(&self, header: &Self::Entry) -> Option<f64>;
    /// `header.version = version`
    fn set_version(&mut self, header: &mut Self::Entry, version: f64);
    /// The `id` of an entry.
    fn id(&self, entry: &Self::Entry, ids: &mut Ids) -> Id;
    /// `entry.id = id; entry.parentId = parent`, [`Id::NULL`] for none.
    fn set_ids(&mut self, entry: &mut Self::Entry, id: Id, parent: Id, ids: &Ids);
    /// The numeric `firstKeptEntryIndex` of a compaction.
    fn first_kept_index(&self, compaction: &Self::Entry) -> Option<f64>;
    /// `compaction.firstKeptEntryId = id`; [`Id::ABSENT`] takes the member away.
    fn set_first_kept(&mut self, compaction: &mut Self::Entry, id: Id, ids: &Ids);
    /// `entries[compaction].firstKeptEntryId = entries[named].id`, with the old id as it stands: `id` is its key.
    fn keep_old_id(&mut self, entries: &mut [Self::Entry], compaction: usize, named: usize, id: Id, ids: &Ids);
    /// `delete compaction.firstKeptEntryIndex`
    fn drop_first_kept_index(&mut self, compaction: &mut Self::Entry);
    /// The `message` of a `message` entry: the kind of its value (none when absent) and its role.
    fn message(&self, entry: &Self::Entry) -> (Option<Kind>, Role);
    /// `entry.message.role = "custom"`
    fn set_role_custom(&mut self, entry: &mut Self::Entry);
}

/// Where the ids of version-1 entries come from. gjc draws 8 random hexadecimal digits.
pub trait IdSource {
    /// The next id.
    fn next_id(&mut self) -> JsString;
}

/// `#0`, `#1`, …: the number of the entry among those that are no headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbered(u64);

impl IdSource for Numbered {
    fn next_id(&mut self) -> JsString {
        let id = format!("#{}", self.0);
        self.0 += 1;
        id.into()
    }
}

/// Eight hexadecimal digits as gjc writes them, from a seed: the same seed gives the same ids, and no id comes twice.
#[derive(Clone, Copy, Debug)]
pub struct Seeded(u32);

impl Seeded {
    /// Ids from this seed.
    pub const fn new(seed: u32) -> Self {
        Seeded(seed)
    }
}

impl IdSource for Seeded {
    fn next_id(&mut self) -> JsString {
        // A step through all 32-bit numbers, then a mix that maps different numbers to different ones.
        self.0 = self.0.wrapping_add(0x9E37_79B9);
        let mut id = self.0;
        id = (id ^ id >> 16).wrapping_mul(0x7FEB_352D);
        id = (id ^ id >> 15).wrapping_mul(0x846C_A68B);
        format!("{:08x}", id ^ id >> 16).into()
    }
}

/// What migration did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Migrated {
    /// The version it started from (absent = 1); 5 and above: nothing was done.
    pub from: f64,
    /// What became of the numeric `firstKeptEntryIndex` of each version-1 compaction.
    pub boundaries: Vec<Boundary>,
}

impl Migrated {
    /// Every entry that is no header got a new id and the entry before it as parent.
    pub fn chained(&self) -> bool {
        self.from < 2.0
    }
}

/// A compaction whose kept part was given by index.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Boundary {
    /// Number of the compaction among the entries.
    pub compaction: usize,
    /// Its `firstKeptEntryIndex`.
    pub index: f64,
    /// What the index named.
    pub names: Names,
}

/// What a `firstKeptEntryIndex` names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Names {
    /// This entry, which had its new id already: the boundary is kept.
    Entry(usize),
    /// This later entry, whose old id was taken and then replaced: the boundary dangles.
    StaleId(usize),
    /// This later entry, which had no id: the boundary is lost, an explicit id too.
    NoId(usize),
    /// This header: only the index is dropped.
    Header(usize),
    /// Nothing: only the index is dropped.
    Nothing,
}

/// Migrates entries to version 5.
///
/// # Errors
/// What gjc throws; the entries are then half migrated, as gjc's are.
pub fn migrate<K: Lift>(loaded: &mut Loaded<K>, source: &mut impl IdSource) -> Result<Migrated, Throw> {
    let Loaded { entries, keep, ids } = loaded;
    let first = entries.iter().position(|entry| keep.kind(entry).is_header());
    let from = first.and_then(|first| keep.version(&entries[first])).unwrap_or(1.0);
    let mut migrated = Migrated { from, boundaries: Vec::new() };
    if from >= CURRENT_VERSION {
        return Ok(migrated);
    }
    if migrated.chained() {
        migrated.boundaries = chain(entries, keep, ids, source)?;
    }
    if from < 3.0 {
        rename_hook_messages(entries, keep)?;
    }
    if let Some(first) = first {
        keep.set_version(&mut entries[first], CURRENT_VERSION);
    }
    Ok(migrated)
}

/// Version 1: new ids, each entry the child of the one before it, kept parts by id.
fn chain<K: Lift>(entries: &mut [K::Entry], keep: &mut K, ids: &mut Ids, source: &mut impl IdSource) -> Result<Vec<Boundary>, Throw> {
    let mut boundaries = Vec::new();
    // New ids of the entries so far; `Id::ABSENT` for headers.
    let mut renamed: Vec<Id> = Vec::with_capacity(entries.len());
    let mut previous = Id::NULL;
    for at in 0..entries.len() {
        let kind = keep.kind(&entries[at]);
        if kind.is_header() {
            keep.set_version(&mut entries[at], 2.0);
            renamed.push(Id::ABSENT);
            continue;
        }
        if keep.is_primitive(&entries[at]) {
            return Err(Throw::Type("Attempted to assign to readonly property."));
        }
        let id = ids.fresh(source.next_id().as_bytes());
        keep.set_ids(&mut entries[at], id, previous, ids);
        renamed.push(id);
        previous = id;
        let index = if kind == EntryKind::Compaction { keep.first_kept_index(&entries[at]) } else { None };
        let Some(index) = index else { continue };
        let named = element(index, entries.len());
        let names = match named {
            None => Names::Nothing,
            Some(named) if keep.kind(&entries[named]).is_header() => Names::Header(named),
            Some(named) => {
                if let Some(new) = renamed.get(named) {
                    keep.set_first_kept(&mut entries[at], *new, ids);
                    Names::Entry(named)
                } else {
                    let old = keep.id(&entries[named], ids);
                    keep.keep_old_id(entries, at, named, old, ids);
                    if old == Id::ABSENT { Names::NoId(named) } else { Names::StaleId(named) }
                }
            }
        };
        keep.drop_first_kept_index(&mut entries[at]);
        boundaries.push(Boundary { compaction: at, index, names });
    }
    Ok(boundaries)
}

/// The element of a list of `len` that JavaScript's `list[index]` names.
fn element(index: f64, len: usize) -> Option<usize> {
    (index.fract() == 0.0 && index >= 0.0 && index < len as f64).then_some(index as usize)
}

/// Version 2: `hookMessage` is called `custom`.
fn rename_hook_messages<K: Lift>(entries: &mut [K::Entry], keep: &mut K) -> Result<(), Throw> {
    for entry in entries {
        match keep.kind(entry) {
            EntryKind::Session => keep.set_version(entry, 3.0),
            EntryKind::Message => match keep.message(entry) {
                (None, _) => return Err(Throw::Type("undefined is not an object (evaluating 'entry.message.role')")),
                (Some(Kind::Null), _) => return Err(Throw::Type("null is not an object (evaluating 'entry.message.role')")),
                (Some(_), Role::HookMessage) => keep.set_role_custom(entry),
                (Some(_), _) => {}
            },
            _ => {}
        }
    }
    Ok(())
}

impl Lift for Whole {
    fn is_primitive(&self, entry: &Value) -> bool {
        !matches!(entry.kind(), Kind::Object | Kind::Array)
    }
    fn version(&self, header: &Value) -> Option<f64> {
        header.get("version").and_then(View::as_f64)
    }
    fn set_version(&mut self, header: &mut Value, version: f64) {
        set(header, "version", Some(Value::Number(version)));
    }
    fn id(&self, entry: &Value, ids: &mut Ids) -> Id {
        ids.of(entry.get("id"))
    }
    fn set_ids(&mut self, entry: &mut Value, id: Id, parent: Id, ids: &Ids) {
        // An array takes the members too, but they are invisible in JSON.
        set(entry, "id", ids.value(id));
        set(entry, "parentId", ids.value(parent));
    }
    fn first_kept_index(&self, compaction: &Value) -> Option<f64> {
        compaction.get("firstKeptEntryIndex").and_then(View::as_f64)
    }
    fn set_first_kept(&mut self, compaction: &mut Value, id: Id, ids: &Ids) {
        set(compaction, "firstKeptEntryId", ids.value(id));
    }
    fn keep_old_id(&mut self, entries: &mut [Value], compaction: usize, named: usize, _: Id, _: &Ids) {
        let old = entries[named].get("id").cloned();
        set(&mut entries[compaction], "firstKeptEntryId", old);
    }
    fn drop_first_kept_index(&mut self, compaction: &mut Value) {
        set(compaction, "firstKeptEntryIndex", None);
    }
    fn message(&self, entry: &Value) -> (Option<Kind>, Role) {
        let message = entry.get("message");
        (message.map(View::kind), message.map_or(Role::None, Role::of))
    }
    fn set_role_custom(&mut self, entry: &mut Value) {
        if let Some(message) = entry.as_object_mut().and_then(|entry| entry.get_mut("message")) {
            set(message, "role", Some(Value::string("custom")));
        }
    }
}

/// Sets a member of an object, or takes it away.
pub(super) fn set(object: &mut Value, key: &'static str, value: Option<Value>) {
    let Some(object) = object.as_object_mut() else { return };
    match value {
        Some(value) => object.set(key, value),
        None => {
            object.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::json::stringify::to_text;
    use crate::transcript::load::load;

    fn migrated(lines: &[&str]) -> Result<(Vec<String>, Migrated), Throw> {
        let mut loaded = load(lines.join("\n").as_bytes(), Whole, Release::V0_17).unwrap()?;
        let migrated = migrate(&mut loaded, &mut Numbered::default())?;
        Ok((loaded.entries.iter().map(to_text).collect(), migrated))
    }
    fn names(index: &str) -> (String, Vec<Names>) {
        let compaction = format!(r#"{{"type":"compaction","firstKeptEntryIndex":{index}}}"#);
        let lines = [
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"label"}"#,
            &compaction,
            r#"{"type":"label","id":"old"}"#,
            r#"{"type":"label"}"#,
            r#"{"type":"label","id":["x",{"y":1}]}"#,
        ];
        let (entries, migrated) = migrated(&lines).unwrap();
        (entries[2].clone(), migrated.boundaries.iter().map(|boundary| boundary.names).collect())
    }

    #[test]
    fn version_1_becomes_one_chain_with_new_ids() {
        let (entries, migrated) =
            migrated(&[r#"{"type":"session","id":"s"}"#, r#"{"type":"label","id":"x"}"#, r#"{"type":"session"}"#, r#"{"type":"label"}"#])
                .unwrap();
        assert_eq!(
            entries,
            [
                r##"{"type":"session","id":"s","version":5}"##,
                r##"{"type":"label","id":"#0","parentId":null}"##,
                r##"{"type":"session","version":3}"##,
                r##"{"type":"label","id":"#1","parentId":"#0"}"##,
            ]
        );
        assert_eq!(migrated.from, 1.0);
    }

    #[test]
    fn an_index_names_what_stands_in_the_list_at_that_moment() {
        let none = r##"{"type":"compaction","id":"#1","parentId":"#0"}"##;
        let kept = |id: &str| format!(r##"{{"type":"compaction","id":"#1","parentId":"#0","firstKeptEntryId":"{id}"}}"##);
        for (index, entry, expect) in [
            ("0", none.to_owned(), vec![Names::Header(0)]),
            ("99", none.to_owned(), vec![Names::Nothing]),
            ("-1", none.to_owned(), vec![Names::Nothing]),
            ("1.5", none.to_owned(), vec![Names::Nothing]),
            ("1", kept("#0"), vec![Names::Entry(1)]),
            ("2", kept("#1"), vec![Names::Entry(2)]),
            ("3", kept("old"), vec![Names::StaleId(3)]),
            ("4", none.to_owned(), vec![Names::NoId(4)]),
            ("5", none.replace('}', r#","firstKeptEntryId":["x",{"y":1}]}"#), vec![Names::StaleId(5)]),
            ("\"1\"", r##"{"type":"compaction","firstKeptEntryIndex":"1","id":"#1","parentId":"#0"}"##.to_owned(), vec![]),
        ] {
            assert_eq!(names(index), (entry, expect), "{index}");
        }
    }

    #[test]
    fn a_primitive_throws_in_version_1_only_and_a_missing_message_below_3() {
        assert!(matches!(migrated(&[r#"{"type":"session","id":"s"}"#, "7"]), Err(Throw::Type(_))));
        assert!(migrated(&[r#"{"type":"session","version":2,"id":"s"}"#, "7"]).is_ok());
        assert!(matches!(migrated(&[r#"{"type":"session","version":2,"id":"s"}"#, r#"{"type":"message"}"#]), Err(Throw::Type(_))));
        assert!(migrated(&[r#"{"type":"session","version":3,"id":"s"}"#, r#"{"type":"message"}"#]).is_ok());
    }

    #[test]
    fn seeded_ids_look_like_those_of_gjc_and_differ() {
        let mut source = Seeded::new(7);
        let ids: Vec<String> = (0..1000).map(|_| source.next_id().to_string()).collect();
        assert!(ids.iter().all(|id| id.len() == 8 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))));
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 1000);
    }
}
