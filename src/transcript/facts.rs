//! What a check keeps of an entry: 40 bytes, and for the few entries that carry settings their value. Payloads of
//! messages are dropped with their record.

use super::context::{self, ContextEntries};
use super::entry::{EntryKind, Role};
use super::hazard::{self, Hazards, Marker};
use super::ids::{Id, Ids};
use super::load::{Keep, Loaded, Seen, Whole};
use super::migrate::Lift;
use super::schema::{self, Faults, Field};
use super::throw::Throw;
use super::tree::Linked;
use crate::finding::Release;
use crate::json::scan::DEEP;
use crate::json::{JsString, Kind, Object, Value, View};
use crate::steps;

/// One entry, compact.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Byte offset of the record in its file, saturating.
    offset: u32,
    /// Bytes of the record, saturating.
    len: u32,
    /// What the message it gives weighs in a context, saturating; 0 unless [`Facts`] measures. A file that is small enough
    /// to be loaded cannot reach the limit of the type: its densest text weighs 19 times its bytes.
    weight: u32,
    /// 1-based line it begins on, saturating.
    pub line: u32,
    /// Its `id`.
    pub id: Id,
    /// Its `parentId`.
    pub parent: Id,
    /// `firstKeptEntryId` of a compaction; `<provider>/<model>` of an assistant message.
    extra: Id,
    /// Members that fail the strict schema as the entry stands now (after the patches and migration so far).
    pub faults: Faults,
    /// Number of its value in [`Facts`]; `u32::MAX` when it is not kept.
    side: u32,
    /// What it is.
    pub kind: EntryKind,
    /// Role of the message of a `message` entry.
    pub role: Role,
    /// What makes opening fail although the schema holds.
    pub hazards: Hazards,
    marks: Marks,
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
    pub const fn kind(self) -> Option<Kind> {
        match self {
            MessageForm::Absent => None,
            MessageForm::Null => Some(Kind::Null),
            MessageForm::Primitive => Some(Kind::String),
            MessageForm::Array => Some(Kind::Array),
            MessageForm::Object => Some(Kind::Object),
        }
    }
}

/// Small answers packed into one byte: the form of the message in the low bits, and flags.
#[derive(Clone, Copy, Debug)]
struct Marks(u8);

impl Marks {
    const FORM: u8 = 7;
    /// A string, number or boolean instead of a record.
    const PRIMITIVE: u8 = 8;
    /// A truthy `summary`.
    const SUMMARY: u8 = 16;
    /// `provider` or `model` of an assistant message cannot become text.
    const MODEL_THROWS: u8 = 32;
    /// Nested too deeply for gjc, somewhere.
    const DEEP: u8 = 64;
    /// Nested too deeply for gjc in the message it gives.
    const DEEP_MESSAGE: u8 = 128;

    const fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }
    const fn put(&mut self, mark: u8, on: bool) {
        self.0 = if on { self.0 | mark } else { self.0 & !mark };
    }
}

impl Fact {
    /// The bytes of the record in its file, end exclusive; none beyond 4 GiB.
    pub const fn bytes(&self) -> Option<(u64, u64)> {
        match self.offset {
            u32::MAX => None,
            offset => Some((offset as u64, offset as u64 + self.len as u64)),
        }
    }
    /// What the message it gives weighs in a context (spec 01 §9.9); 0 unless [`Facts`] measures.
    pub const fn weight(&self) -> u64 {
        self.weight as u64
    }
    /// What the `message` member is.
    pub const fn message(&self) -> MessageForm {
        match self.marks.0 & Marks::FORM {
            0 => MessageForm::Absent,
            1 => MessageForm::Null,
            2 => MessageForm::Primitive,
            3 => MessageForm::Array,
            _ => MessageForm::Object,
        }
    }
    /// True when a value in it is nested deeper than gjc's functions can recurse.
    pub const fn is_deep(&self) -> bool {
        self.marks.has(Marks::DEEP)
    }
    /// True for a string, number or boolean instead of a record.
    pub const fn is_primitive(&self) -> bool {
        self.marks.has(Marks::PRIMITIVE)
    }
}

/// Keeps [`Fact`]s, and what is needed of the values of entries that settle something.
pub struct Facts {
    release: Release,
    /// Weigh the message that each entry gives.
    weigh: bool,
    values: Vec<Value>,
    has_header: bool,
}

const NO_VALUE: u32 = u32::MAX;

impl Facts {
    /// Keeps nothing yet. Without `weigh` every weight is 0: right for files whose context cannot exceed the budget
    /// ([`context::budget::cannot_exceed`]).
    pub const fn new(release: Release, weigh: bool) -> Self {
        Facts { release, weigh, values: Vec::new(), has_header: false }
    }

    /// True when entries are weighed.
    pub const fn weighs(&self) -> bool {
        self.weigh
    }
    /// The value of the header; the payload of entries that carry settings; of a compaction its `firstKeptEntryIndex` and
    /// a valid remote history (emptied); the marker of an evicted message that may be wrong. None for most entries.
    pub fn value(&self, fact: &Fact) -> Option<&Value> {
        self.values.get(fact.side as usize)
    }
    fn value_mut(&mut self, fact: &Fact) -> Option<&mut Value> {
        self.values.get_mut(fact.side as usize)
    }
    /// What [`Facts::value`] is to answer for a record.
    fn side_value<'v, V: View<'v>>(&mut self, record: V, kind: EntryKind) -> Option<Value> {
        match kind {
            // Nothing asks for further headers.
            EntryKind::Session => (!std::mem::replace(&mut self.has_header, true)).then(|| record.to_value()),
            EntryKind::ModelChange
            | EntryKind::ConfiguredModelChain
            | EntryKind::ThinkingLevelChange
            | EntryKind::ServiceTierChange
            | EntryKind::ModeChange
            | EntryKind::TtsrInjection
            | EntryKind::McpToolSelection
            | EntryKind::DiscoveredBuiltinToolSelection => Some(payload(record)),
            EntryKind::Compaction => compaction(record),
            EntryKind::Custom if record.get("customType").is_some_and(|name| name.is_str("model_profile_ownership")) => {
                Some(payload(record))
            }
            // A patch may bring content that meets a payload which the present content does not.
            EntryKind::Message => {
                let evicted = record.get("evictedContent");
                (hazard::of_marker(evicted, self.release) != Marker::Harmless).then(|| evicted.map(View::to_value)).flatten()
            }
            _ => None,
        }
    }
    /// Takes what the message of an entry says.
    fn take_message<'v, V: View<'v>>(&self, fact: &mut Fact, message: Option<V>, ids: &mut Ids) {
        fact.role = message.map_or(Role::None, Role::of);
        fact.marks.0 = fact.marks.0 & !Marks::FORM | MessageForm::of(message) as u8;
        if fact.role == Role::Assistant {
            let model = message.map(context::values::assistant_model);
            fact.marks.put(Marks::MODEL_THROWS, matches!(model, Some(Err(_))));
            fact.extra = model.and_then(Result::ok).map_or(Id::ABSENT, |model| ids.string(model.as_bytes()));
        }
    }
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A record without its envelope, which the fact holds. A hostile file may have a million of them.
fn payload<'v, V: View<'v>>(record: V) -> Value {
    let own = |key: &[u8]| !matches!(key, b"type" | b"id" | b"parentId" | b"timestamp");
    let mut members = Object::with_capacity(record.members().filter(|(key, _)| own(key)).count());
    for (key, value) in record.members().filter(|(key, _)| own(key)) {
        members.set(JsString::from_wtf8(key.into_owned()), value.to_value());
    }
    Value::Object(members)
}

/// What migration and the fold ask of a compaction beside its `firstKeptEntryId`; mostly nothing. Its texts may be long:
/// they are dropped with the record.
fn compaction<'v, V: View<'v>>(record: V) -> Option<Value> {
    let index = record.get("firstKeptEntryIndex");
    let remote = context::remote_history(record);
    if index.is_none() && remote.is_none() {
        return None;
    }
    let mut members = Object::with_capacity(2);
    if let Some(index) = index {
        members.set("firstKeptEntryIndex", index.to_value());
    }
    if let Some((provider, _)) = remote {
        let history = Value::Array(Vec::new().into());
        let remote: Object = [("provider", provider.to_value()), ("replacementHistory", history)].into_iter().collect();
        let data: Object = [("openaiRemoteCompaction", Value::Object(remote))].into_iter().collect();
        members.set("preserveData", Value::Object(data));
    }
    Some(Value::Object(members))
}

impl Keep for Facts {
    type Entry = Fact;

    fn keep<'v, V: View<'v>>(&mut self, record: V, seen: Seen, ids: &mut Ids) -> Fact {
        let side = self.side_value(record, seen.kind).map_or(NO_VALUE, |value| {
            self.values.push(value);
            self.values.len() as u32 - 1
        });
        let mut fact = Fact {
            offset: saturated(seen.at.offset),
            len: saturated(seen.at.len),
            weight: if self.weigh { saturated(context::emitted_weight(record, seen.kind)) } else { 0 },
            line: saturated(seen.at.line),
            id: seen.id,
            parent: seen.parent,
            extra: Id::ABSENT,
            faults: schema::faults(record, seen.kind),
            side,
            kind: seen.kind,
            role: Role::None,
            hazards: hazard::of_entry(record, seen.kind, self.release),
            marks: Marks(0),
        };
        fact.marks.put(Marks::PRIMITIVE, !matches!(record.kind(), Kind::Object | Kind::Array));
        fact.marks.put(Marks::DEEP, record.is_deep());
        fact.marks.put(Marks::DEEP_MESSAGE, record.is_deep() && context::emitted_is_deep(record, seen.kind));
        match seen.kind {
            EntryKind::Message => self.take_message(&mut fact, record.get("message"), ids),
            EntryKind::Compaction => fact.extra = ids.of(record.get("firstKeptEntryId")),
            EntryKind::BranchSummary => fact.marks.put(Marks::SUMMARY, record.get("summary").is_some_and(View::truthy)),
            _ => {}
        }
        fact
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
    fn set_message<'v, V: View<'v>>(&mut self, entry: &mut Fact, message: V, ids: &mut Ids) {
        self.take_message(entry, Some(message), ids);
        schema::message(Some(message), &mut entry.faults);
        let (deep, elsewhere) =
            (message.is_deep() && message.is_deeper_than(DEEP), entry.is_deep() && !entry.marks.has(Marks::DEEP_MESSAGE));
        entry.marks.put(Marks::DEEP, deep || elsewhere);
        entry.marks.put(Marks::DEEP_MESSAGE, deep);
        entry.hazards = hazard::of_patched_message(message, self.value(entry), self.release);
        entry.weight = if self.weigh { saturated(context::budget::value(message)) } else { 0 };
    }
}

impl Lift for Facts {
    fn is_primitive(&self, entry: &Fact) -> bool {
        entry.is_primitive()
    }
    fn version(&self, header: &Fact) -> Option<f64> {
        self.value(header).and_then(|header| Whole.version(header))
    }
    fn set_version(&mut self, header: &mut Fact, version: f64) {
        if let Some(header) = self.value_mut(header) {
            Whole.set_version(header, version);
        }
    }
    fn id(&self, entry: &Fact, _: &mut Ids) -> Id {
        entry.id
    }
    fn set_ids(&mut self, entry: &mut Fact, id: Id, parent: Id, _: &Ids) {
        (entry.id, entry.parent) = (id, parent);
        if entry.kind != EntryKind::NonRecord {
            entry.faults.clear(Field::Id);
            entry.faults.clear(Field::ParentId);
        }
    }
    fn first_kept_index(&self, compaction: &Fact) -> Option<f64> {
        self.value(compaction).and_then(|compaction| Whole.first_kept_index(compaction))
    }
    fn set_first_kept(&mut self, compaction: &mut Fact, id: Id, ids: &Ids) {
        compaction.extra = id;
        compaction.faults.clear(Field::FirstKeptEntryId);
        compaction.faults.unless(ids.is_string(id), Field::FirstKeptEntryId);
    }
    fn keep_old_id(&mut self, entries: &mut [Fact], compaction: usize, _: usize, id: Id, ids: &Ids) {
        self.set_first_kept(&mut entries[compaction], id, ids);
    }
    fn drop_first_kept_index(&mut self, compaction: &mut Fact) {
        if let Some(compaction) = self.value_mut(compaction) {
            Whole.drop_first_kept_index(compaction);
        }
    }
    fn message(&self, entry: &Fact) -> (Option<Kind>, Role) {
        (entry.message().kind(), entry.role)
    }
    fn set_role_custom(&mut self, entry: &mut Fact) {
        entry.role = Role::Custom;
        // The new name is shorter by five units of two bytes.
        entry.weight = entry.weight.saturating_sub(10);
    }
}

impl Linked for Loaded<Facts> {
    fn len(&self) -> usize {
        self.entries.len()
    }
    fn kind(&self, entry: usize) -> EntryKind {
        steps::take(1);
        self.entries.get(entry).map_or(EntryKind::NonRecord, |fact| fact.kind)
    }
    fn id(&self, entry: usize) -> Id {
        steps::take(1);
        self.entries.get(entry).map_or(Id::ABSENT, |fact| fact.id)
    }
    fn parent(&self, entry: usize) -> Id {
        steps::take(1);
        self.entries.get(entry).map_or(Id::ABSENT, |fact| fact.parent)
    }
}

impl ContextEntries for Loaded<Facts> {
    fn value(&self, entry: usize) -> Option<&Value> {
        self.entries.get(entry).filter(|fact| fact.kind != EntryKind::Message).and_then(|fact| self.keep.value(fact))
    }
    fn message(&self, entry: usize) -> MessageForm {
        self.entries.get(entry).map_or(MessageForm::Absent, Fact::message)
    }
    fn role(&self, entry: usize) -> Role {
        self.entries.get(entry).map_or(Role::None, |fact| fact.role)
    }
    fn assistant_model(&self, entry: usize) -> Result<JsString, Throw> {
        match self.entries.get(entry) {
            Some(fact) if !fact.marks.has(Marks::MODEL_THROWS) => {
                Ok(JsString::from_wtf8(self.ids.text(fact.extra).unwrap_or_default().to_vec()))
            }
            _ => Err(Throw::NO_PRIMITIVE),
        }
    }
    fn has_summary(&self, entry: usize) -> bool {
        self.entries.get(entry).is_some_and(|fact| fact.marks.has(Marks::SUMMARY))
    }
    fn first_kept(&self, compaction: usize) -> Option<Id> {
        self.entries.get(compaction).map(|fact| fact.extra)
    }
    fn weight(&self, entry: usize) -> u64 {
        self.entries.get(entry).map_or(0, Fact::weight)
    }
    fn is_deep(&self, entry: usize) -> bool {
        self.entries.get(entry).is_some_and(|fact| fact.marks.has(Marks::DEEP_MESSAGE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::load::load;

    fn facts(text: &str) -> Loaded<Facts> {
        load(text.as_bytes(), Facts::new(Release::V0_17, true), Release::V0_17).unwrap().unwrap()
    }

    #[test]
    fn a_fact_is_small() {
        assert!(size_of::<Fact>() <= 40);
    }

    #[test]
    fn a_fact_knows_its_place_and_its_ids() {
        let loaded = facts("{\"type\":\"session\",\"id\":\"s\"}\n\n{\"type\":\"label\",\"id\":\"a\",\"parentId\":\"b\"}\n");
        let fact = loaded.entries[1];
        assert_eq!((fact.line, fact.bytes()), (3, Some((29, 69))));
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
