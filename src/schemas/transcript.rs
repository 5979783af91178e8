//! The records of a transcript: headers and entries of each version, and patches (spec 01 §2.4, §3.1, §5.2, §6). What is asked
//! for is what gjc's strict inspection asks for; every other member is free.

use super::marker::*;
use super::{Form, generator, head, of, typed};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// What every header holds.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Header {
    /// The session id.
    pub id: Text,
    /// When the session began, ISO 8601.
    pub timestamp: Text,
    /// The workspace, an absolute path; patches may change it.
    pub cwd: Text,
    /// The name of the session; a string when gjc wrote it.
    #[schemars(default)]
    pub title: Anything,
    /// `auto` or `user` when gjc wrote it.
    #[schemars(default)]
    pub title_source: Anything,
    /// Where the session came from, when it is a fork or a branch.
    #[schemars(default)]
    pub parent_session: Anything,
    /// 1 = patches may set stars (0.17).
    #[schemars(default)]
    pub starred_patch_version: Anything,
}

/// What every entry that is no header holds.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Envelope {
    /// The entry's id.
    pub id: Text,
    /// The id of the entry before it; null for a root.
    pub parent_id: TextOrNull,
    /// When it was written, ISO 8601.
    pub timestamp: Text,
}

/// What every entry of version 1 holds; ids and parents are given by the migration.
#[derive(JsonSchema, Default)]
pub struct EnvelopeV1 {
    /// When it was written, ISO 8601.
    pub timestamp: Text,
}

/// A message.
#[derive(JsonSchema, Default)]
pub struct Message {
    /// What was said.
    pub message: MessageBody,
}

/// What was said.
#[derive(JsonSchema, Default)]
pub struct MessageBody {
    /// Who said it.
    pub role: Text,
    /// A text or blocks, when gjc wrote it.
    #[schemars(default)]
    pub content: Anything,
}

/// Another model.
#[derive(JsonSchema, Default)]
#[schemars(transform = model_or_legacy)]
pub struct ModelChange {}

fn model_or_legacy(schema: &mut Schema) {
    let text = || json_schema!({ "type": "string" }).to_value();
    schema.insert("$comment".into(), "a string `model`, or strings `provider` and `modelId`".into());
    schema.insert(
        "anyOf".into(),
        serde_json::json!([
            { "properties": { "model": text() }, "required": ["model"] },
            { "properties": { "provider": text(), "modelId": text() }, "required": ["provider", "modelId"] },
        ]),
    );
}

/// The models that a role tries in turn.
#[derive(JsonSchema, Default)]
#[schemars(transform = cleared_or_named)]
pub struct ConfiguredModelChain {
    /// The role.
    pub role: SomeText,
}

fn cleared_or_named(schema: &mut Schema) {
    schema.insert("$comment".into(), "`cleared` true, or a list `entries` that holds a text".into());
    schema.insert(
        "anyOf".into(),
        serde_json::json!([
            { "properties": { "cleared": { "const": true } }, "required": ["cleared"] },
            {
                "properties": { "entries": { "type": "array", "contains": { "type": "string", "minLength": 1 } } },
                "required": ["entries"],
            },
        ]),
    );
}

/// A summary that replaces what stands before the first kept entry.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Compaction {
    /// The summary.
    pub summary: Text,
    /// The id of the first entry that is kept.
    pub first_kept_entry_id: Text,
    /// Tokens before it.
    pub tokens_before: Number,
}

/// A compaction of version 1, which names the first kept entry by its number, or by its id.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = index_or_id)]
pub struct CompactionV1 {
    /// The summary.
    pub summary: Text,
    /// Tokens before it.
    pub tokens_before: Number,
}

fn index_or_id(schema: &mut Schema) {
    schema.insert("$comment".into(), "a number `firstKeptEntryIndex`, or a string `firstKeptEntryId`".into());
    schema.insert(
        "anyOf".into(),
        serde_json::json!([
            { "properties": { "firstKeptEntryIndex": { "type": "number" } }, "required": ["firstKeptEntryIndex"] },
            { "properties": { "firstKeptEntryId": { "type": "string" } }, "required": ["firstKeptEntryId"] },
        ]),
    );
}

/// A summary of a branch that was left.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct BranchSummary {
    /// The entry that the branch left from, or `root`.
    pub from_id: Text,
    /// The summary.
    pub summary: Text,
}

/// A record of an extension.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Custom {
    /// Whose record it is.
    pub custom_type: Text,
    /// What it holds.
    #[schemars(default)]
    pub data: Anything,
}

/// A message of an extension.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct CustomMessage {
    /// Whose message it is.
    pub custom_type: Text,
    /// A text or blocks.
    pub content: TextOrBlocks,
    /// Whether it is shown.
    pub display: Flag,
}

/// A label of an entry; without `label` it is taken away.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Label {
    /// The entry.
    pub target_id: Text,
    /// The label.
    #[schemars(default)]
    pub label: Text,
}

/// Rules that were injected.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct TtsrInjection {
    /// Their names.
    pub injected_rules: Texts,
}

/// The tools of MCP servers that are on.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct McpToolSelection {
    /// Their names.
    pub selected_tool_names: Texts,
    /// The built-in tools that are on.
    #[schemars(default)]
    pub selected_discovered_builtin_tool_names: Texts,
    /// The change it belongs to.
    #[schemars(default)]
    pub mutation_correlation_id: Text,
}

/// The built-in tools that are on.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct DiscoveredBuiltinToolSelection {
    /// Their names.
    pub selected_tool_names: Texts,
    /// The change it belongs to.
    #[schemars(default)]
    pub mutation_correlation_id: Text,
}

/// How a session of a sub-agent began.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct SessionInit {
    /// Its system prompt.
    pub system_prompt: Text,
    /// Its task.
    pub task: Text,
    /// Its tools.
    pub tools: Texts,
}

/// Another mode.
#[derive(JsonSchema, Default)]
pub struct ModeChange {
    /// The mode.
    pub mode: Text,
}

/// Another level of thinking.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct ThinkingLevelChange {
    /// The level; absent or null = the default.
    #[schemars(default)]
    pub thinking_level: TextOrNull,
    /// Whether the operator asked for it.
    #[schemars(default)]
    pub operator_intent: Flag,
}

/// Another service tier.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct ServiceTierChange {
    /// The tier; null = none.
    pub service_tier: TextOrNull,
}

/// A patch of the header.
#[derive(JsonSchema, Default)]
#[schemars(deny_unknown_fields)]
pub struct HeaderPatch {
    /// `header_patch`.
    #[schemars(extend("const" = "header_patch"))]
    pub r#type: Text,
    /// What it sets.
    pub patch: HeaderPatchBody,
}

/// What a patch of the header sets.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeaderPatchBody {
    /// Another workspace.
    #[schemars(default)]
    pub cwd: Text,
    /// Another name.
    #[schemars(default)]
    pub title: Text,
    /// Who gave it.
    #[schemars(default, extend("enum" = ["auto", "user"]))]
    pub title_source: Text,
    /// Starred or not (0.17).
    #[schemars(default)]
    pub starred: Flag,
}

/// A patch of an entry.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct EntryPatch {
    /// `entry_patch`.
    #[schemars(extend("const" = "entry_patch"))]
    pub r#type: Text,
    /// The entry.
    pub entry_id: Text,
    /// What it sets.
    pub patch: EntryPatchBody,
}

/// What a patch of an entry sets.
#[derive(JsonSchema, Default)]
#[schemars(deny_unknown_fields)]
pub struct EntryPatchBody {
    /// The message that replaces the entry's.
    #[schemars(default)]
    pub message: Record,
}

/// The schema of a header of a version.
fn header<const V: u8>() -> Schema {
    let id = format!("header-v{V}");
    let mut schema = of::<Header>(&id, &format!("The header of a transcript of version {V}: its first record."));
    let version = match V {
        1 => json_schema!({ "type": "integer", "maximum": 1, "description": "Absent, or a whole number of at most 1." }),
        _ => json_schema!({ "const": V }),
    };
    let required: &[&str] = if V == 1 { &["type", "id", "timestamp", "cwd"] } else { &["type", "version", "id", "timestamp", "cwd"] };
    schema.insert("required".into(), required.into());
    if let Some(properties) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        properties.insert("type".into(), serde_json::json!({ "const": "session" }));
        properties.insert("version".into(), version.to_value());
    }
    schema
}

/// Adds what one `type` asks for.
type Payload = (&'static str, fn(&mut SchemaGenerator) -> Schema);

/// Every type of entry but the header's.
const PAYLOADS: [Payload; 15] = [
    ("branch_summary", SchemaGenerator::subschema_for::<BranchSummary>),
    ("compaction", SchemaGenerator::subschema_for::<Compaction>),
    ("configured_model_chain", SchemaGenerator::subschema_for::<ConfiguredModelChain>),
    ("custom", SchemaGenerator::subschema_for::<Custom>),
    ("custom_message", SchemaGenerator::subschema_for::<CustomMessage>),
    ("discovered_builtin_tool_selection", SchemaGenerator::subschema_for::<DiscoveredBuiltinToolSelection>),
    ("label", SchemaGenerator::subschema_for::<Label>),
    ("mcp_tool_selection", SchemaGenerator::subschema_for::<McpToolSelection>),
    ("message", SchemaGenerator::subschema_for::<Message>),
    ("mode_change", SchemaGenerator::subschema_for::<ModeChange>),
    ("model_change", SchemaGenerator::subschema_for::<ModelChange>),
    ("service_tier_change", SchemaGenerator::subschema_for::<ServiceTierChange>),
    ("session_init", SchemaGenerator::subschema_for::<SessionInit>),
    ("thinking_level_change", SchemaGenerator::subschema_for::<ThinkingLevelChange>),
    ("ttsr_injection", SchemaGenerator::subschema_for::<TtsrInjection>),
];

/// The schema of an entry of a version: what its `type` asks for stands behind a condition, so that a validator names the
/// member at fault and not a choice of sixteen shapes.
fn entry<const V: u8>() -> Schema {
    let mut generator = generator();
    let is = |name: &str| serde_json::json!({ "properties": { "type": { "const": name } }, "required": ["type"] });
    let header = generator.subschema_for::<Header>();
    let envelope = if V == 1 { generator.subschema_for::<EnvelopeV1>() } else { generator.subschema_for::<Envelope>() };
    let mut all = vec![serde_json::json!({ "if": is("session"), "then": header, "else": envelope })];
    for (name, payload) in PAYLOADS {
        let payload = match name {
            "compaction" if V == 1 => generator.subschema_for::<CompactionV1>(),
            _ => payload(&mut generator),
        };
        all.push(serde_json::json!({ "if": is(name), "then": payload }));
    }
    let names: Vec<&str> = PAYLOADS.iter().map(|(name, _)| *name).chain(["session"]).collect();
    let mut schema = json_schema!({
        "type": "object",
        "properties": { "type": { "enum": names } },
        "required": ["type"],
        "allOf": all,
    });
    let about = format!("A record of a transcript of version {V} behind its header, patches aside.");
    head(&mut schema, &format!("entry-v{V}"), &about);
    schema.insert("$defs".into(), generator.take_definitions(true).into());
    schema
}

/// The forms of a transcript.
pub(super) fn forms() -> Vec<Form> {
    const INDEX: (&str, &str) =
        ("index", "`firstKeptEntryIndex` is the place of an entry that stands before the compaction or is it (the header is 0)");
    let form = |name, about, schema, typed, unsaid| Form { name, about, schema, typed: Some(typed), unsaid };
    vec![
        form(
            "header-v1",
            "The header of a transcript of version 1.",
            header::<1> as fn() -> Schema,
            typed::header::<1> as super::Typed,
            &[],
        ),
        form("header-v2", "The header of a transcript of version 2.", header::<2>, typed::header::<2>, &[]),
        form("header-v3", "The header of a transcript of version 3.", header::<3>, typed::header::<3>, &[]),
        form("header-v4", "The header of a transcript of version 4.", header::<4>, typed::header::<4>, &[]),
        form("header-v5", "The header of a transcript of version 5.", header::<5>, typed::header::<5>, &[]),
        form("entry-v1", "An entry of a transcript of version 1.", entry::<1>, typed::entry::<1>, &[INDEX]),
        form("entry-v2", "An entry of a transcript of version 2.", entry::<2>, typed::entry::<2>, &[]),
        form("entry-v3", "An entry of a transcript of version 3.", entry::<3>, typed::entry::<3>, &[]),
        form("entry-v4", "An entry of a transcript of version 4.", entry::<4>, typed::entry::<4>, &[]),
        form("entry-v5", "An entry of a transcript of version 5.", entry::<5>, typed::entry::<5>, &[]),
        form("header-patch", "A patch of the header (version 4 and later); `starred` is for 0.17.", header_patch, typed::header_patch, &[]),
        form("entry-patch", "A patch of an entry (version 4 and later).", entry_patch, typed::entry_patch, &[]),
    ]
}

fn header_patch() -> Schema {
    of::<HeaderPatch>("header-patch", "A patch of the header.")
}

fn entry_patch() -> Schema {
    of::<EntryPatch>("entry-patch", "A patch of an entry.")
}
