//! What new entries hold beside their envelope: their members, in the order in which they are written (spec 01 §4.2).

use crate::json::{JsString, Object, Value, View};

/// A new entry without its envelope. Members that are none are left away.
#[derive(Clone, PartialEq, Debug)]
pub struct Content {
    kind: &'static str,
    members: Vec<(JsString, Option<Value>)>,
    /// `custom` and `custom_message`: the envelope comes behind the members.
    envelope_last: bool,
}

/// The envelope of an entry.
#[derive(Clone, PartialEq, Debug)]
pub struct Envelope {
    /// `id`
    pub id: JsString,
    /// `parentId`: a string, or null for a root.
    pub parent: Value,
    /// `timestamp`
    pub timestamp: JsString,
}

impl Content {
    fn new(kind: &'static str, members: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Self {
        let members = members.into_iter().map(|(key, value)| (JsString::from(key), value)).collect();
        Content { kind, members, envelope_last: false }
    }

    /// The whole entry.
    pub fn entry(self, envelope: Envelope) -> Value {
        let mut entry = Object::new();
        entry.set("type", Value::string(self.kind));
        let envelope =
            [("id", Value::String(envelope.id)), ("parentId", envelope.parent), ("timestamp", Value::String(envelope.timestamp))];
        let envelope = envelope.map(|(key, value)| (JsString::from(key), value));
        let members = self.members.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let ordered: Vec<(JsString, Value)> =
            if self.envelope_last { members.chain(envelope).collect() } else { envelope.into_iter().chain(members).collect() };
        for (key, value) in ordered {
            entry.set(key, value);
        }
        Value::Object(entry)
    }

    /// A message of the conversation.
    pub fn message(message: Value) -> Self {
        Content::new("message", [("message", Some(message))])
    }
    /// Another model, for a role or for all; `metadata` says why.
    pub fn model_change(model: Value, role: Option<Value>, metadata: Option<&Value>) -> Self {
        let of = |key| metadata.and_then(|metadata| metadata.member(key)).cloned();
        Content::new(
            "model_change",
            [
                ("model", Some(model)),
                ("role", role),
                ("previousModel", of("previousModel")),
                ("reason", of("reason")),
                ("thinkingLevel", of("thinkingLevel")),
            ],
        )
    }
    /// No model of its own for a role any more.
    pub fn model_cleared(role: Value) -> Self {
        Content::new("model_change", [("model", Some(Value::string(""))), ("role", Some(role)), ("cleared", Some(Value::Bool(true)))])
    }
    /// The models configured for a role; `chain` holds the members.
    pub fn configured_model_chain(chain: &Value) -> Self {
        let members = ["role", "entries", "origin", "identity", "explicitHead", "cleared"];
        Content::new("configured_model_chain", members.map(|key| (key, chain.member(key).cloned())))
    }
    /// Another thinking level; null for none. That it was not the operator's intent is not said.
    pub fn thinking_level_change(level: Option<Value>, operator_intent: Option<Value>) -> Self {
        let operator_intent = operator_intent.filter(|intent| intent.truthy());
        Content::new("thinking_level_change", [("thinkingLevel", Some(level.unwrap_or_default())), ("operatorIntent", operator_intent)])
    }
    /// Another service tier; null is none, and what is not said is not said.
    pub fn service_tier_change(tier: Option<Value>) -> Self {
        Content::new("service_tier_change", [("serviceTier", tier)])
    }
    /// Another mode.
    pub fn mode_change(mode: Value, data: Option<Value>) -> Self {
        Content::new("mode_change", [("mode", Some(mode)), ("data", data)])
    }
    /// A summary in place of what came before an entry; `fields` holds the members.
    pub fn compaction(fields: &Value) -> Self {
        let members = ["summary", "shortSummary", "firstKeptEntryId", "tokensBefore", "details", "fromExtension", "preserveData"];
        Content::new("compaction", members.map(|key| (key, fields.member(key).cloned())))
    }
    /// A summary of a branch that was left at an entry, or at the root.
    pub fn branch_summary(from: Value, summary: Value, details: Option<Value>, from_extension: Option<Value>) -> Self {
        Content::new(
            "branch_summary",
            [("fromId", Some(from)), ("summary", Some(summary)), ("details", details), ("fromExtension", from_extension)],
        )
    }
    /// A label for an entry; without text it takes the label away.
    pub fn label(target: Value, label: Option<Value>) -> Self {
        Content::new("label", [("targetId", Some(target)), ("label", label)])
    }
    /// Rules that were injected.
    pub fn ttsr_injection(rules: Value, records: Option<Value>, count: Option<Value>) -> Self {
        Content::new("ttsr_injection", [("injectedRules", Some(rules)), ("injectedRuleRecords", records), ("ttsrMessageCount", count)])
    }
    /// The MCP tools in use.
    pub fn mcp_tool_selection(names: Value, correlation: Option<Value>) -> Self {
        Content::new("mcp_tool_selection", [("selectedToolNames", Some(names)), ("mutationCorrelationId", correlation)])
    }
    /// The discovered built-in tools in use.
    pub fn discovered_builtin_tool_selection(names: Value, correlation: Option<Value>) -> Self {
        Content::new("discovered_builtin_tool_selection", [("selectedToolNames", Some(names)), ("mutationCorrelationId", correlation)])
    }
    /// How a sub-agent was begun: all members, in the caller's order.
    pub fn session_init<'m>(members: impl IntoIterator<Item = (&'m JsString, &'m Value)>) -> Self {
        let members = members.into_iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
        Content { kind: "session_init", members, envelope_last: false }
    }
    /// Data of an extension.
    pub fn custom(custom_type: Value, data: Option<Value>) -> Self {
        let content = Content::new("custom", [("customType", Some(custom_type)), ("data", data)]);
        Content { envelope_last: true, ..content }
    }
    /// A message of an extension. `observation` is the id under which it is observed; it goes into `details` that are an
    /// object, unless it is empty. Types beginning `irc:` are observed under session and entry.
    pub fn custom_message(fields: &Value, observation: Option<Value>) -> Self {
        let of = |key| fields.member(key).cloned();
        let mut details = of("details");
        if let (Some(Value::Object(details)), Some(observation)) = (&mut details, observation.filter(|id| id.truthy())) {
            details.set("observationId", observation);
        }
        let content = Content::new(
            "custom_message",
            [
                ("customType", of("customType")),
                ("content", of("content")),
                ("display", of("display")),
                ("details", details),
                ("attribution", Some(of("attribution").unwrap_or_else(|| Value::string("agent")))),
            ],
        );
        Content { envelope_last: true, ..content }
    }
}

/// True for a `custom_message` that is observed under session and entry.
pub fn is_irc(fields: &Value) -> bool {
    fields.str_member("customType").is_some_and(|name| name.starts_with(b"irc:"))
}

/// What a fresh header says beside the envelope.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lineage {
    /// `parentSession`: an id or a path.
    pub parent_session: Option<Value>,
    /// `title` and `titleSource`, where a fork takes them over.
    pub title: [Option<Value>; 2],
    /// Where they stand: behind the `id` in a fork of the running session, at the end in a fork of a file.
    pub title_first: bool,
}

impl Content {
    /// The fresh header of a session (spec 01 §3.2). The star of another session is never taken over.
    pub fn header(release: crate::finding::Release, id: JsString, timestamp: JsString, cwd: &str, lineage: Lineage) -> Value {
        let capable = crate::finding::Difference::StarCapableHeaders.in_effect(release).then_some(Value::Number(1.0));
        let Lineage { parent_session, title: [title, source], title_first } = lineage;
        let title = [("title", title), ("titleSource", source)];
        let (before, behind) = if title_first { (Some(title), None) } else { (None, Some(title)) };
        let members = [
            ("type", Some(Value::string("session"))),
            ("version", Some(Value::Number(crate::transcript::header::CURRENT_VERSION))),
            ("starredPatchVersion", capable),
            ("id", Some(Value::String(id))),
        ];
        let rest = [("timestamp", Some(Value::String(timestamp))), ("cwd", Some(Value::string(cwd))), ("parentSession", parent_session)];
        let all = members.into_iter().chain(before.into_iter().flatten()).chain(rest).chain(behind.into_iter().flatten());
        Value::Object(all.filter_map(|(key, value)| Some((key, value?))).collect())
    }
}

impl From<Option<Value>> for Lineage {
    fn from(parent_session: Option<Value>) -> Self {
        Lineage { parent_session, ..Lineage::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::json::stringify::to_text;

    fn entry(content: Content) -> String {
        to_text(&content.entry(Envelope { id: "i".into(), parent: Value::Null, timestamp: "t".into() }))
    }
    fn value(text: &str) -> Value {
        Value::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_envelope_comes_first_except_in_custom_entries() {
        assert_eq!(
            entry(Content::label(Value::string("x"), None)),
            r#"{"type":"label","id":"i","parentId":null,"timestamp":"t","targetId":"x"}"#
        );
        assert_eq!(
            entry(Content::custom(Value::string("k"), Some(Value::Null))),
            r#"{"type":"custom","customType":"k","data":null,"id":"i","parentId":null,"timestamp":"t"}"#
        );
    }

    #[test]
    fn an_observation_goes_into_details_that_are_an_object() {
        let observed = |details: &str| {
            let fields = value(&format!(r#"{{"customType":"irc:x","content":"c","display":true{details}}}"#));
            assert!(is_irc(&fields));
            entry(Content::custom_message(&fields, Some(Value::string("o"))))
        };
        assert!(observed(r#","details":{"a":1}"#).contains(r#""details":{"a":1,"observationId":"o"},"attribution":"agent","id""#));
        assert!(!observed("").contains("observationId"));
        assert!(observed(r#","details":[1]"#).contains(r#""details":[1],"#));
        let fields = value(r#"{"customType":"k","content":"c","display":true,"details":{}}"#);
        assert!(entry(Content::custom_message(&fields, Some(Value::string("")))).contains(r#""details":{},"#));
    }

    /// 01 §3.2
    #[test]
    fn a_fork_has_its_title_where_the_kind_of_fork_puts_it() {
        let lineage = |title_first| {
            let title = [Some(Value::string("T")), Some(Value::string("auto"))];
            Lineage { parent_session: Some(Value::string("p")), title, title_first }
        };
        let header = |title_first| to_text(&Content::header(Release::V0_15, "s".into(), "t".into(), "/w", lineage(title_first)));
        let title = r#""title":"T","titleSource":"auto""#;
        assert_eq!(
            header(true),
            format!(r#"{{"type":"session","version":5,"id":"s",{title},"timestamp":"t","cwd":"/w","parentSession":"p"}}"#)
        );
        assert_eq!(
            header(false),
            format!(r#"{{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w","parentSession":"p",{title}}}"#)
        );
    }

    /// 01 §4.2
    #[test]
    fn a_beginning_has_what_the_caller_said_in_the_caller_s_order() {
        let fields = value(r#"{"tools":["a"],"zeta":1,"task":"t","timestamp":"theirs"}"#);
        let text = entry(Content::session_init(fields.as_object().unwrap().iter()));
        assert_eq!(text, r#"{"type":"session_init","id":"i","parentId":null,"timestamp":"theirs","tools":["a"],"zeta":1,"task":"t"}"#);
    }

    #[test]
    fn what_is_not_said_is_not_written() {
        let head = r#""id":"i","parentId":null,"timestamp":"t""#;
        let level = |intent: &str| entry(Content::thinking_level_change(None, Some(value(intent))));
        assert_eq!(level("false"), format!(r#"{{"type":"thinking_level_change",{head},"thinkingLevel":null}}"#));
        assert_eq!(level("true"), format!(r#"{{"type":"thinking_level_change",{head},"thinkingLevel":null,"operatorIntent":true}}"#));
        assert_eq!(entry(Content::service_tier_change(None)), format!(r#"{{"type":"service_tier_change",{head}}}"#));
        assert_eq!(
            entry(Content::service_tier_change(Some(Value::Null))),
            format!(r#"{{"type":"service_tier_change",{head},"serviceTier":null}}"#)
        );
    }

    #[test]
    fn a_header_of_the_newer_release_can_be_starred() {
        let header = |release| to_text(&Content::header(release, "s".into(), "t".into(), "/w", Some(Value::string("p")).into()));
        assert_eq!(header(Release::V0_15), r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w","parentSession":"p"}"#);
        assert!(header(Release::V0_17).starts_with(r#"{"type":"session","version":5,"starredPatchVersion":1,"id":"s""#));
    }
}
