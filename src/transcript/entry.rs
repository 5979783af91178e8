//! The kinds of records a transcript holds (spec 01 §2.4, §4.2, §5.1).

use crate::json::View;

/// What a value of a transcript is, by its `type`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum EntryKind {
    /// `session`: a header.
    Session,
    /// `message`
    Message,
    /// `model_change`
    ModelChange,
    /// `configured_model_chain`
    ConfiguredModelChain,
    /// `compaction`
    Compaction,
    /// `branch_summary`
    BranchSummary,
    /// `custom`
    Custom,
    /// `custom_message`
    CustomMessage,
    /// `label`
    Label,
    /// `ttsr_injection`
    TtsrInjection,
    /// `mcp_tool_selection`
    McpToolSelection,
    /// `discovered_builtin_tool_selection`
    DiscoveredBuiltinToolSelection,
    /// `session_init`
    SessionInit,
    /// `mode_change`
    ModeChange,
    /// `thinking_level_change`
    ThinkingLevelChange,
    /// `service_tier_change`
    ServiceTierChange,
    /// `header_patch`: never an entry.
    HeaderPatch,
    /// `entry_patch`: never an entry.
    EntryPatch,
    /// An object whose `type` is absent, no string, or none of the above (`session_cold_ref` too: it is memory-only).
    Unknown,
    /// A number, string, boolean or array. (`null` makes loading throw.)
    NonRecord,
}

impl EntryKind {
    const NAMED: [(&'static str, EntryKind); 18] = [
        ("message", EntryKind::Message),
        ("session", EntryKind::Session),
        ("model_change", EntryKind::ModelChange),
        ("configured_model_chain", EntryKind::ConfiguredModelChain),
        ("compaction", EntryKind::Compaction),
        ("branch_summary", EntryKind::BranchSummary),
        ("custom", EntryKind::Custom),
        ("custom_message", EntryKind::CustomMessage),
        ("label", EntryKind::Label),
        ("ttsr_injection", EntryKind::TtsrInjection),
        ("mcp_tool_selection", EntryKind::McpToolSelection),
        ("discovered_builtin_tool_selection", EntryKind::DiscoveredBuiltinToolSelection),
        ("session_init", EntryKind::SessionInit),
        ("mode_change", EntryKind::ModeChange),
        ("thinking_level_change", EntryKind::ThinkingLevelChange),
        ("service_tier_change", EntryKind::ServiceTierChange),
        ("header_patch", EntryKind::HeaderPatch),
        ("entry_patch", EntryKind::EntryPatch),
    ];

    /// The kind of a value.
    pub fn of<'v, V: View<'v>>(value: V) -> EntryKind {
        if !value.is_record() {
            return EntryKind::NonRecord;
        }
        value.str_member("type").map_or(EntryKind::Unknown, |name| Self::named(&name))
    }
    /// The kind whose `type` is `name`; [`EntryKind::Unknown`] when there is none.
    pub fn named(name: &[u8]) -> EntryKind {
        Self::NAMED.iter().find(|(known, _)| known.as_bytes() == name).map_or(EntryKind::Unknown, |(_, kind)| *kind)
    }
    /// The `type` of the kind; none for [`EntryKind::Unknown`] and [`EntryKind::NonRecord`].
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name)
    }
    /// True for a header.
    pub const fn is_header(self) -> bool {
        matches!(self, EntryKind::Session)
    }
}

/// The role of a stored message (spec 01 §4.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Role {
    /// `user`
    User,
    /// `developer`
    Developer,
    /// `assistant`
    Assistant,
    /// `toolResult`
    ToolResult,
    /// `custom`
    Custom,
    /// `hookMessage` (before version 3)
    HookMessage,
    /// `bashExecution`
    BashExecution,
    /// `pythonExecution`
    PythonExecution,
    /// `fileMention`
    FileMention,
    /// `branchSummary`: understood, never stored by gjc.
    BranchSummary,
    /// `compactionSummary`: understood, never stored by gjc.
    CompactionSummary,
    /// Another string: kept, but nothing for the model.
    Other,
    /// The role is absent or no string.
    None,
}

impl Role {
    const NAMED: [(&'static str, Role); 11] = [
        ("user", Role::User),
        ("developer", Role::Developer),
        ("assistant", Role::Assistant),
        ("toolResult", Role::ToolResult),
        ("custom", Role::Custom),
        ("hookMessage", Role::HookMessage),
        ("bashExecution", Role::BashExecution),
        ("pythonExecution", Role::PythonExecution),
        ("fileMention", Role::FileMention),
        ("branchSummary", Role::BranchSummary),
        ("compactionSummary", Role::CompactionSummary),
    ];

    /// The role of a message value.
    pub fn of<'v, V: View<'v>>(message: V) -> Role {
        let Some(name) = message.str_member("role") else { return Role::None };
        Self::NAMED.iter().find(|(known, _)| known.as_bytes() == &*name).map_or(Role::Other, |(_, role)| *role)
    }
    /// The text of the role; none for [`Role::Other`] and [`Role::None`].
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, role)| *role == self).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn kind(text: &str) -> Option<EntryKind> {
        Value::parse(text.as_bytes()).as_ref().map(EntryKind::of)
    }

    #[test]
    fn every_named_kind_is_found_by_its_name() {
        for (name, kind) in EntryKind::NAMED {
            assert_eq!(EntryKind::named(name.as_bytes()), kind);
            assert_eq!(kind.name(), Some(name));
        }
    }

    #[test]
    fn what_has_no_known_type_is_unknown_and_what_is_no_object_no_record() {
        assert_eq!(kind(r#"{"type":"session_cold_ref"}"#), Some(EntryKind::Unknown));
        assert_eq!(kind(r#"{"type":7}"#), Some(EntryKind::Unknown));
        assert_eq!(kind("{}"), Some(EntryKind::Unknown));
        assert_eq!(kind(r#""session""#), Some(EntryKind::NonRecord));
        assert_eq!(kind("[]"), Some(EntryKind::NonRecord));
    }
}
