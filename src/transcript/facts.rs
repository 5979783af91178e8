//! What a check keeps of an entry: 48 bytes, and for the few entries that carry settings their value. Payloads of
//! messages are dropped with their record.

use super::entry::{EntryKind, Role};
use super::hazard::{self, Hazards, Marker};
use super::ids::{Id, Ids};
use super::load::{Keep, Seen, Whole};
use super::migrate::Lift;
use super::schema::{self, Faults, Field};
use crate::finding::Release;
use crate::json::{Kind, Value, View};

/// One entry, compact.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Byte offset of the record in its file.
    pub offset: u64,
    /// Bytes of the record, saturating.
    pub len: u32,
    /// 1-based line it begins on, saturating.
    pub line: u32,
    /// Its `id`.
    pub id: Id,
    /// Its `parentId`.
    pub parent: Id,
    /// Members that fail the strict schema as the entry stands now (after the patches and migration so far).
    pub faults: Faults,
    /// Number of its value in [`Facts`]; `u32::MAX` when it is not kept.
    side: u32,
    /// What it is.
    pub kind: EntryKind,
    /// Role of the message of a `message` entry.
    pub role: Role,
    /// What `message` is.
    pub message: MessageForm,
    /// A string, number or boolean instead of a record.
    pub is_primitive: bool,
    /// What makes opening fail although the schema holds.
    pub hazards: Hazards,
}

/// What the `message` member of an entry is. Migration and the context treat the forms differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum MessageForm {
    /// Absent (or the entry is no `message`).
    Absent,
    /// `null`
    Null,
    /// A string, number or boolean.
    Primitive,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl MessageForm {
    /// The form of a `message` member.
    pub fn of<'v, V: View<'v>>(message: Option<V>) -> Self {
        match message.map(View::kind) {
            None => MessageForm::Absent,
            Some(Kind::Null) => MessageForm::Null,
            Some(Kind::Array) => MessageForm::Array,
            Some(Kind::Object) => MessageForm::Object,
            Some(_) => MessageForm::Primitive,
        }
    }
    /// The kind of the value, a string standing for every primitive; none when it is absent.
    pub fn kind(self) -> Option<Kind> {
        match self {
            MessageForm::Absent => None,
            MessageForm::Null => Some(Kind::Null),
            MessageForm::Primitive => Some(Kind::String),
            MessageForm::Array => Some(Kind::Array),
            MessageForm::Object => Some(Kind::Object),
        }
    }
}

/// Keeps [`Fact`]s, and the values of entries that settle something: headers, settings and compactions.
pub struct Facts {
    release: Release,
    values: Vec<Value>,
}

const NO_VALUE: u32 = u32::MAX;

impl Facts {
    /// Keeps nothing yet.
    pub const fn new(release: Release) -> Self {
        Facts { release, values: Vec::new() }
    }
    /// What is kept of the value of a record: all of it when it settles something, nothing of most.
    fn side_value<'v, V: View<'v>>(&self, record: V, kind: EntryKind) -> Option<Value> {
        match kind {
            EntryKind::Session
            | EntryKind::ModelChange
            | EntryKind::ConfiguredModelChain
            | EntryKind::ThinkingLevelChange
            | EntryKind::ServiceTierChange
            | EntryKind::ModeChange
            | EntryKind::TtsrInjection
            | EntryKind::McpToolSelection
            | EntryKind::DiscoveredBuiltinToolSelection
            | EntryKind::Compaction => Some(record.to_value()),
            EntryKind::Custom if record.get("customType").is_some_and(|name| name.is_str("model_profile_ownership")) => {
                Some(record.to_value())
            }
            // A patch may bring content that meets a payload which the present content does not.
            EntryKind::Message => {
                let evicted = record.get("evictedContent");
                (hazard::of_marker(evicted) != Marker::Harmless).then(|| evicted.map(View::to_value)).flatten()
            }
            _ => None,
        }
    }
    /// The value of a header, of an entry that carries settings, or of a compaction; the marker of an evicted message
    /// that may be wrong.
    pub fn value(&self, fact: &Fact) -> Option<&Value> {
        self.values.get(fact.side as usize)
    }
    fn value_mut(&mut self, fact: &Fact) -> Option<&mut Value> {
        self.values.get_mut(fact.side as usize)
    }
}

impl Keep for Facts {
    type Entry = Fact;

    fn keep<'v, V: View<'v>>(&mut self, record: V, seen: Seen, _: &mut Ids) -> Fact {
        let message = if seen.kind == EntryKind::Message { record.get("message") } else { None };
        let side = self.side_value(record, seen.kind).map_or(NO_VALUE, |value| {
            self.values.push(value);
            self.values.len() as u32 - 1
        });
        Fact {
            offset: seen.at.offset,
            len: u32::try_from(seen.at.len).unwrap_or(u32::MAX),
            line: u32::try_from(seen.at.line).unwrap_or(u32::MAX),
            id: seen.id,
            parent: seen.parent,
            faults: schema::faults(record, seen.kind),
            side,
            kind: seen.kind,
            role: message.map_or(Role::None, Role::of),
            message: MessageForm::of(message),
            is_primitive: !matches!(record.kind(), Kind::Object | Kind::Array),
            hazards: hazard::of_entry(record, seen.kind, self.release),
        }
    }
    fn kind(&self, entry: &Fact) -> EntryKind {
        entry.kind
    }
    fn set_header<'v, V: View<'v>>(&mut self, header: &mut Fact, key: &'static str, value: V) {
        if key == "cwd" {
            // A patch is valid only with a string.
            header.faults.clear(Field::Cwd);
        }
        if let Some(header) = self.value_mut(header) {
            Whole.set_header(header, key, value);
        }
    }
    fn set_message<'v, V: View<'v>>(&mut self, entry: &mut Fact, message: V, _: &mut Ids) {
        entry.role = Role::of(message);
        entry.message = MessageForm::of(Some(message));
        schema::message(Some(message), &mut entry.faults);
        entry.hazards = hazard::of_patched_message(message, self.value(entry), self.release);
    }
}

impl Lift for Facts {
    fn is_primitive(&self, entry: &Fact) -> bool {
        entry.is_primitive
    }
    fn version(&self, header: &Fact) -> Option<f64> {
        self.value(header).and_then(|header| Whole.version(header))
    }
    fn set_version(&mut self, header: &mut Fact, version: f64) {
        if let Some(header) = self.value_mut(header) {
            Whole.set_version(header, version);
        }
    }
    fn id(&self, entry: &Fact, ids: &Ids) -> Option<Value> {
        ids.value(entry.id)
    }
    fn set_ids(&mut self, entry: &mut Fact, id: Id, parent: Id, _: &Ids) {
        (entry.id, entry.parent) = (id, parent);
        entry.faults.clear(Field::Id);
        entry.faults.clear(Field::ParentId);
    }
    fn first_kept_index(&self, compaction: &Fact) -> Option<f64> {
        self.value(compaction).and_then(|compaction| Whole.first_kept_index(compaction))
    }
    fn set_first_kept(&mut self, compaction: &mut Fact, id: Option<Value>) {
        compaction.faults.clear(Field::FirstKeptEntryId);
        compaction.faults.unless(matches!(id, Some(Value::String(_))), Field::FirstKeptEntryId);
        if let Some(compaction) = self.value_mut(compaction) {
            Whole.set_first_kept(compaction, id);
        }
    }
    fn drop_first_kept_index(&mut self, compaction: &mut Fact) {
        if let Some(compaction) = self.value_mut(compaction) {
            Whole.drop_first_kept_index(compaction);
        }
    }
    fn message(&self, entry: &Fact) -> (Option<Kind>, Role) {
        (entry.message.kind(), entry.role)
    }
    fn set_role_custom(&mut self, entry: &mut Fact) {
        entry.role = Role::Custom;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::load::{Loaded, load};

    fn facts(text: &str) -> Loaded<Facts> {
        load(text.as_bytes(), Facts::new(Release::V0_17), Release::V0_17).unwrap().unwrap()
    }

    #[test]
    fn a_fact_is_small() {
        assert!(size_of::<Fact>() <= 48);
    }

    #[test]
    fn a_fact_knows_its_place_and_its_ids() {
        let loaded = facts("{\"type\":\"session\",\"id\":\"s\"}\n\n{\"type\":\"label\",\"id\":\"a\",\"parentId\":\"b\"}\n");
        let fact = loaded.entries[1];
        assert_eq!((fact.line, fact.offset, fact.len), (3, 29, 40));
        assert_eq!(loaded.ids.text(fact.id), Some(&b"a"[..]));
        assert_eq!(loaded.ids.text(fact.parent), Some(&b"b"[..]));
    }

    #[test]
    fn patches_mend_what_the_schema_refused() {
        let loaded = facts(concat!(
            r#"{"type":"session","version":5,"id":"s","timestamp":"t"}"#,
            "\n",
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{}}"#,
            "\n",
            r#"{"type":"header_patch","patch":{"cwd":"/b"}}"#,
            "\n",
            r#"{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"assistant"}}}"#,
        ));
        assert_eq!(loaded.entries[0].faults, Faults::NONE);
        assert_eq!(loaded.entries[1].faults, Faults::NONE);
        assert_eq!(loaded.entries[1].role, Role::Assistant);
        let header = loaded.keep.value(&loaded.entries[0]).unwrap();
        assert!(header.get("cwd").unwrap().is_str("/b"));
        assert_eq!(loaded.keep.value(&loaded.entries[1]), None);
    }
}
