//! The strict schema (spec 01 §2.4): what every entry must be after patch replay and migration.

use super::entry::EntryKind;
use crate::json::{Kind, View};

/// A member that the schema asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the member its pointer names")]
pub enum Field {
    Type,
    Id,
    ParentId,
    Timestamp,
    Cwd,
    Message,
    MessageRole,
    Model,
    Role,
    Entries,
    Summary,
    FirstKeptEntryId,
    TokensBefore,
    FromId,
    CustomType,
    Content,
    Display,
    TargetId,
    Label,
    InjectedRules,
    SelectedToolNames,
    SelectedDiscoveredBuiltinToolNames,
    MutationCorrelationId,
    SystemPrompt,
    Task,
    Tools,
    Mode,
    ThinkingLevel,
    OperatorIntent,
    ServiceTier,
}

impl Field {
    const ALL: [(Field, &'static str); 30] = [
        (Field::Type, "/type"),
        (Field::Id, "/id"),
        (Field::ParentId, "/parentId"),
        (Field::Timestamp, "/timestamp"),
        (Field::Cwd, "/cwd"),
        (Field::Message, "/message"),
        (Field::MessageRole, "/message/role"),
        (Field::Model, "/model"),
        (Field::Role, "/role"),
        (Field::Entries, "/entries"),
        (Field::Summary, "/summary"),
        (Field::FirstKeptEntryId, "/firstKeptEntryId"),
        (Field::TokensBefore, "/tokensBefore"),
        (Field::FromId, "/fromId"),
        (Field::CustomType, "/customType"),
        (Field::Content, "/content"),
        (Field::Display, "/display"),
        (Field::TargetId, "/targetId"),
        (Field::Label, "/label"),
        (Field::InjectedRules, "/injectedRules"),
        (Field::SelectedToolNames, "/selectedToolNames"),
        (Field::SelectedDiscoveredBuiltinToolNames, "/selectedDiscoveredBuiltinToolNames"),
        (Field::MutationCorrelationId, "/mutationCorrelationId"),
        (Field::SystemPrompt, "/systemPrompt"),
        (Field::Task, "/task"),
        (Field::Tools, "/tools"),
        (Field::Mode, "/mode"),
        (Field::ThinkingLevel, "/thinkingLevel"),
        (Field::OperatorIntent, "/operatorIntent"),
        (Field::ServiceTier, "/serviceTier"),
    ];

    /// RFC 6901 pointer of the member.
    pub fn pointer(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// A set of members that fail the schema.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Faults(u32);

impl Faults {
    /// No member fails.
    pub const NONE: Faults = Faults(0);

    /// True when nothing fails.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// True when this member fails.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & 1 << field as u32 != 0
    }
    /// Adds a member unless it is `right`.
    pub fn unless(&mut self, right: bool, field: Field) {
        if !right {
            self.0 |= 1 << field as u32;
        }
    }
    /// Takes a member out.
    pub fn clear(&mut self, field: Field) {
        self.0 &= !(1 << field as u32);
    }
    /// The members that fail, in the order of [`Field`].
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.iter().map(|(field, _)| *field).filter(move |field| self.contains(*field))
    }
}

/// The members of an entry that fail the schema. `kind` is the entry's kind.
pub fn faults<'v, V: View<'v>>(entry: V, kind: EntryKind) -> Faults {
    let mut faults = Faults::NONE;
    let mut need = |field, right: bool| faults.unless(right, field);
    match kind {
        EntryKind::Session => {
            need(Field::Id, string(entry, "id"));
            need(Field::Cwd, string(entry, "cwd"));
            need(Field::Timestamp, string(entry, "timestamp"));
            return faults;
        }
        // A value that has no known type fails for that alone.
        EntryKind::Unknown | EntryKind::NonRecord | EntryKind::HeaderPatch | EntryKind::EntryPatch => {
            need(Field::Type, false);
            return faults;
        }
        _ => {}
    }
    need(Field::Id, string(entry, "id"));
    need(Field::ParentId, entry.get("parentId").is_some_and(null_or_string));
    need(Field::Timestamp, string(entry, "timestamp"));
    match kind {
        EntryKind::Message => message(entry.get("message"), &mut faults),
        EntryKind::ModelChange => {
            need(Field::Model, string(entry, "model") || string(entry, "provider") && string(entry, "modelId"));
        }
        EntryKind::ConfiguredModelChain => {
            need(Field::Role, entry.str_member("role").is_some_and(|role| !role.is_empty()));
            let cleared = entry.get("cleared").and_then(View::as_bool) == Some(true);
            let named = |entries: V| entries.items().any(|name| name.as_str().is_some_and(|name| !name.is_empty()));
            need(Field::Entries, cleared || entry.get("entries").is_some_and(named));
        }
        EntryKind::Compaction => {
            need(Field::Summary, string(entry, "summary"));
            need(Field::FirstKeptEntryId, string(entry, "firstKeptEntryId"));
            need(Field::TokensBefore, is(entry, "tokensBefore", Kind::Number));
        }
        EntryKind::BranchSummary => {
            need(Field::FromId, string(entry, "fromId"));
            need(Field::Summary, string(entry, "summary"));
        }
        EntryKind::Custom => need(Field::CustomType, string(entry, "customType")),
        EntryKind::CustomMessage => {
            need(Field::CustomType, string(entry, "customType"));
            need(Field::Content, string(entry, "content") || is(entry, "content", Kind::Array));
            need(Field::Display, is(entry, "display", Kind::Bool));
        }
        EntryKind::Label => {
            need(Field::TargetId, string(entry, "targetId"));
            need(Field::Label, absent_or(entry, "label", is_string));
        }
        EntryKind::TtsrInjection => need(Field::InjectedRules, entry.get("injectedRules").is_some_and(strings)),
        EntryKind::McpToolSelection => {
            need(Field::SelectedToolNames, entry.get("selectedToolNames").is_some_and(strings));
            need(Field::SelectedDiscoveredBuiltinToolNames, absent_or(entry, "selectedDiscoveredBuiltinToolNames", strings));
            need(Field::MutationCorrelationId, absent_or(entry, "mutationCorrelationId", is_string));
        }
        EntryKind::DiscoveredBuiltinToolSelection => {
            need(Field::SelectedToolNames, entry.get("selectedToolNames").is_some_and(strings));
            need(Field::MutationCorrelationId, absent_or(entry, "mutationCorrelationId", is_string));
        }
        EntryKind::SessionInit => {
            need(Field::SystemPrompt, string(entry, "systemPrompt"));
            need(Field::Task, string(entry, "task"));
            need(Field::Tools, entry.get("tools").is_some_and(strings));
        }
        EntryKind::ModeChange => need(Field::Mode, string(entry, "mode")),
        EntryKind::ThinkingLevelChange => {
            need(Field::ThinkingLevel, absent_or(entry, "thinkingLevel", null_or_string));
            need(Field::OperatorIntent, absent_or(entry, "operatorIntent", |v: V| v.kind() == Kind::Bool));
        }
        EntryKind::ServiceTierChange => need(Field::ServiceTier, entry.get("serviceTier").is_some_and(null_or_string)),
        EntryKind::Session | EntryKind::Unknown | EntryKind::NonRecord | EntryKind::HeaderPatch | EntryKind::EntryPatch => {}
    }
    faults
}

/// The schema of the `message` member of a message entry; replaces what `faults` said of it before.
pub fn message<'v, V: View<'v>>(message: Option<V>, faults: &mut Faults) {
    faults.clear(Field::Message);
    faults.clear(Field::MessageRole);
    match message.filter(|message| matches!(message.kind(), Kind::Object | Kind::Array)) {
        // An array has no role.
        Some(message) => faults.unless(string(message, "role"), Field::MessageRole),
        None => faults.unless(false, Field::Message),
    }
}

fn is_string<'v, V: View<'v>>(value: V) -> bool {
    value.kind() == Kind::String
}
fn null_or_string<'v, V: View<'v>>(value: V) -> bool {
    matches!(value.kind(), Kind::Null | Kind::String)
}
fn strings<'v, V: View<'v>>(value: V) -> bool {
    value.kind() == Kind::Array && value.items().all(is_string)
}
fn is<'v, V: View<'v>>(entry: V, key: &str, kind: Kind) -> bool {
    entry.get(key).is_some_and(|value| value.kind() == kind)
}
fn string<'v, V: View<'v>>(entry: V, key: &str) -> bool {
    is(entry, key, Kind::String)
}
fn absent_or<'v, V: View<'v>>(entry: V, key: &str, right: fn(V) -> bool) -> bool {
    entry.get(key).is_none_or(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    /// Pointers of the members that fail, for an entry whose envelope is right.
    fn failing(payload: &str) -> Vec<&'static str> {
        let text = format!(r#"{{"id":"a","parentId":null,"timestamp":"t","cwd":"/",{payload}}}"#);
        let entry = Value::parse(text.as_bytes()).unwrap();
        faults(&entry, EntryKind::of(&entry)).iter().map(Field::pointer).collect()
    }

    #[test]
    fn every_field_stands_at_its_own_place_in_the_table() {
        for (place, (field, _)) in Field::ALL.iter().enumerate() {
            assert_eq!(*field as usize, place);
        }
    }

    #[test]
    fn an_entry_needs_its_envelope() {
        let entry = Value::parse(br#"{"type":"label","targetId":"x"}"#).unwrap();
        let pointers: Vec<_> = faults(&entry, EntryKind::Label).iter().map(Field::pointer).collect();
        assert_eq!(pointers, ["/id", "/parentId", "/timestamp"]);
    }

    #[test]
    fn the_payload_of_each_type_is_asked_for() {
        for (payload, expect) in [
            (r#""type":"session""#, &[][..]),
            (r#""type":"message","message":{"role":"anything"}"#, &[]),
            (r#""type":"message","message":[]"#, &["/message/role"]),
            (r#""type":"message","message":"x""#, &["/message"]),
            (r#""type":"message""#, &["/message"]),
            (r#""type":"model_change","model":"a/b""#, &[]),
            (r#""type":"model_change","provider":"a","modelId":"b""#, &[]),
            (r#""type":"model_change","provider":"a""#, &["/model"]),
            (r#""type":"configured_model_chain","role":"r","entries":["",7,"m"]"#, &[]),
            (r#""type":"configured_model_chain","role":"r","cleared":true"#, &[]),
            (r#""type":"configured_model_chain","role":"","entries":[""]"#, &["/role", "/entries"]),
            (r#""type":"compaction","summary":"","firstKeptEntryId":"","tokensBefore":0"#, &[]),
            (r#""type":"compaction","summary":7"#, &["/summary", "/firstKeptEntryId", "/tokensBefore"]),
            (r#""type":"branch_summary","fromId":"root","summary":null"#, &["/summary"]),
            (r#""type":"custom_message","customType":"c","content":{},"display":0"#, &["/content", "/display"]),
            (r#""type":"label","targetId":"x","label":null"#, &["/label"]),
            (r#""type":"ttsr_injection","injectedRules":["a",null]"#, &["/injectedRules"]),
            (
                r#""type":"mcp_tool_selection","selectedToolNames":[],"selectedDiscoveredBuiltinToolNames":null"#,
                &["/selectedDiscoveredBuiltinToolNames"],
            ),
            (r#""type":"session_init","systemPrompt":"","task":"""#, &["/tools"]),
            (r#""type":"thinking_level_change""#, &[]),
            (r#""type":"thinking_level_change","thinkingLevel":null,"operatorIntent":null"#, &["/operatorIntent"]),
            (r#""type":"service_tier_change""#, &["/serviceTier"]),
            (r#""type":"session_cold_ref""#, &["/type"]),
        ] {
            assert_eq!(failing(payload), expect, "{payload}");
        }
    }
}
