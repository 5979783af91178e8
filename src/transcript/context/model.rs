//! From messages of the context to messages for a model (spec 01 §10).
//!
//! The shapes are gjc's. The fixed sentences are not: where gjc puts a lead-in or a note in words of its own, the
//! constants below are this program's wording.

use super::js::Js;
use super::{Context, Message, Values, emitted};
use crate::json::{JsStr, JsString, Kind, Value, View, number};
use crate::transcript::entry::Role;
use std::borrow::Cow;

/// Stands before the summary of a branch that was left. Our wording.
pub const BRANCH_LEAD_IN: &str = "This is a summary of a branch of the conversation that was left to come back here:";
/// Stands before the summary of a compaction. Our wording.
pub const COMPACTION_LEAD_IN: &str =
    "The conversation before this point was compacted. What it was about is summarised here; go on from where it ended.";
/// Stands for the output of a command without output.
const NO_OUTPUT: &str = "(no output)";
/// Our wording, like the two below.
const CANCELLED: &str = "(cancelled)";
const EXIT_CODE: &str = "Exit code: ";
const OUTPUT_CUT: &str = "[The output was cut]";
/// Stands for a pruned tool result without text.
const PRUNED: &str = "[Output truncated]";

/// The messages for the model as JSON text, `{"messages":[…]}`.
pub fn text(context: &Context<'_, Values<'_>>) -> Vec<u8> {
    let mut out = b"{\"messages\":[".to_vec();
    let mut first = true;
    for message in &context.messages {
        let Some(entry) = context.list().entry(message.entry()) else { continue };
        let message = match message {
            Message::Stored(_) => entry.get("message").map(Cow::Borrowed),
            _ => Some(Cow::Owned(emitted(entry).to_value())),
        };
        let Some(message) = message else { continue };
        if let Some(converted) = convert(&message) {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            converted.write(&mut out);
        }
    }
    out.extend_from_slice(b"]}");
    out
}

/// The message for the model; none for messages that vanish.
pub fn convert(message: &Value) -> Option<Js<'_>> {
    match Role::of(message) {
        Role::User => Some(copy(message, "user", None)),
        Role::Developer => Some(copy(message, "agent", None)),
        Role::Assistant => Some(Js::Value(message)),
        Role::ToolResult => {
            let pruned = message.get("prunedAt").map(|_| text_blocks(pruned_text(message)));
            Some(copy(message, "agent", pruned))
        }
        Role::Custom | Role::HookMessage => {
            let content = match message.get("content") {
                Some(Value::String(text)) => text_blocks(text.clone()),
                other => Js::member(other),
            };
            Some(user(content, Js::member(message.get("attribution")), message, None))
        }
        Role::BranchSummary => Some(user(summary(BRANCH_LEAD_IN, message), Js::text("agent"), message, None)),
        Role::CompactionSummary => {
            let payload = message.get("providerPayload");
            Some(user(summary(COMPACTION_LEAD_IN, message), Js::text("agent"), message, payload))
        }
        Role::BashExecution | Role::PythonExecution if message.get("excludeFromContext").is_some_and(View::truthy) => None,
        Role::BashExecution => Some(user(text_blocks(bash(message)), Js::text("user"), message, None)),
        Role::PythonExecution => Some(user(text_blocks(python(message)), Js::text("user"), message, None)),
        Role::FileMention => Some(user(file_mention(message), Js::text("user"), message, None)),
        Role::Other | Role::None => None,
    }
}

/// `{...message, content?, attribution: message.attribution ?? default}`
fn copy<'m>(message: &'m Value, attribution: &str, mut content: Option<Js<'m>>) -> Js<'m> {
    let mut members = Vec::new();
    let mut attributed = false;
    for (key, value) in message.as_object().into_iter().flat_map(|object| object.iter()) {
        let value = match key.as_bytes() {
            b"attribution" => {
                attributed = true;
                if value.kind() == Kind::Null { Js::text(attribution) } else { Js::Value(value) }
            }
            b"content" => content.take().unwrap_or(Js::Value(value)),
            _ => Js::Value(value),
        };
        members.push((Cow::Borrowed(key), value));
    }
    members.extend(content.map(|content| (Cow::Owned("content".into()), content)));
    if !attributed {
        members.push((Cow::Owned("attribution".into()), Js::text(attribution)));
    }
    Js::Object(members)
}

fn user<'m>(content: Js<'m>, attribution: Js<'m>, message: &'m Value, payload: Option<&'m Value>) -> Js<'m> {
    Js::object([
        ("role", Js::text("user")),
        ("content", content),
        ("attribution", attribution),
        ("providerPayload", Js::member(payload)),
        ("timestamp", Js::member(message.get("timestamp"))),
    ])
}

fn text_block<'m>(text: JsString) -> Js<'m> {
    Js::object([("type", Js::text("text")), ("text", Js::Text(Cow::Owned(text)))])
}

fn text_blocks<'m>(text: JsString) -> Js<'m> {
    Js::Array(vec![text_block(text)])
}

/// A text put together from parts of a message.
#[derive(Default)]
struct Text(JsString);

impl Text {
    fn add(&mut self, text: &str) -> &mut Self {
        self.0.push_js(JsStr::from(text));
        self
    }
    fn js(&mut self, text: Option<&Value>) -> &mut Self {
        if let Some(Value::String(text)) = text {
            self.0.push_js(text.as_js());
        }
        self
    }
}

fn pruned_text(message: &Value) -> JsString {
    let mut text = Text::default();
    for block in message.get("content").and_then(Value::as_array).unwrap_or_default() {
        if block.get("type").is_some_and(|kind| kind.is_str("text")) {
            text.js(block.get("text"));
        }
    }
    if text.0.as_bytes().is_empty() {
        text.add(PRUNED);
    }
    text.0
}

fn summary<'m>(lead_in: &str, message: &'m Value) -> Js<'m> {
    let mut text = Text::default();
    text.add(lead_in).add("\n\n<summary>\n").js(message.get("summary")).add("\n</summary>");
    text_blocks(text.0)
}

fn bash(message: &Value) -> JsString {
    let mut text = Text::default();
    text.add("Ran `").js(message.get("command")).add("`\n");
    execution(&mut text, message);
    text.0
}

fn python(message: &Value) -> JsString {
    let mut text = Text::default();
    text.add("Ran Python:\n```python\n").js(message.get("code")).add("\n```\nOutput:\n");
    execution(&mut text, message);
    text.0
}

/// Output, how it ended, and whether the output is whole.
fn execution(text: &mut Text, message: &Value) {
    match message.get("output").filter(|output| output.truthy()) {
        Some(output) => text.add("```\n").js(Some(output)).add("\n```"),
        None => text.add(NO_OUTPUT),
    };
    let exit_code = message.get("exitCode").and_then(View::as_f64).filter(|code| *code != 0.0);
    if message.get("cancelled").is_some_and(View::truthy) {
        text.add("\n\n").add(CANCELLED);
    } else if let Some(code) = exit_code {
        text.add("\n\n").add(EXIT_CODE).add(&number::to_js_string(code));
    }
    if message.get("truncated").is_some_and(View::truthy) {
        text.add("\n\n").add(OUTPUT_CUT);
    }
}

fn file_mention(message: &Value) -> Js<'_> {
    let files = message.get("files").and_then(Value::as_array).unwrap_or_default();
    let mut text = Vec::from(&b"<system-reminder>\n"[..]);
    for (at, file) in files.iter().enumerate() {
        if at > 0 {
            text.extend_from_slice(b"\n\n");
        }
        text.extend_from_slice(b"<file path=\"");
        escape(&file.str_member("path").unwrap_or_default(), "", &mut text);
        text.extend_from_slice(b"\">\n");
        escape(&file.str_member("content").unwrap_or_default(), "\n\t", &mut text);
        text.extend_from_slice(b"\n</file>");
    }
    text.extend_from_slice(b"\n</system-reminder>");
    let images = files.iter().filter_map(|file| file.get_present("image")).map(Js::Value);
    Js::Array([text_block(JsString::from_wtf8(text))].into_iter().chain(images).collect())
}

/// Appends WTF-8 text with `& < > "` as entities, and with controls, marks that change the direction of text, and
/// lone surrogates as `\uXXXX`; what stands in `kept` is kept. The result is UTF-8.
fn escape(text: &[u8], kept: &str, out: &mut Vec<u8>) {
    let text = JsString::from_wtf8(text.to_vec());
    for character in super::js::characters(&text) {
        let Some(letter) = std::str::from_utf8(character).ok().and_then(|text| text.chars().next()) else {
            let unit = crate::json::text::surrogate(character).unwrap_or(0xFFFD);
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            continue;
        };
        match letter {
            '&' => out.extend_from_slice(b"&amp;"),
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '"' => out.extend_from_slice(b"&quot;"),
            _ if kept.contains(letter) => out.extend_from_slice(character),
            '\u{0}'..='\u{1F}'
            | '\u{7F}'..='\u{9F}'
            | '\u{61C}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}' => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(letter)).as_bytes());
            }
            _ => out.extend_from_slice(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(json: &str) -> Option<String> {
        let message = Value::parse(json.as_bytes()).unwrap();
        let mut out = Vec::new();
        convert(&message)?.write(&mut out);
        Some(String::from_utf8(out).unwrap())
    }
    /// The text of the only block of a user message.
    fn block(json: &str) -> String {
        let message = Value::parse(model(json).unwrap().as_bytes()).unwrap();
        assert!(message.get("role").unwrap().is_str("user"));
        let blocks = message.get("content").and_then(Value::as_array).unwrap();
        assert_eq!(blocks.len(), 1);
        let Some(Value::String(text)) = blocks[0].get("text") else { panic!("no text") };
        text.to_string()
    }

    #[test]
    fn a_user_message_gets_an_attribution() {
        let got = model(r#"{"role":"user","content":"c","x":1}"#);
        assert_eq!(got.as_deref(), Some(r#"{"role":"user","content":"c","x":1,"attribution":"user"}"#));
        let got = model(r#"{"role":"user","attribution":"agent","content":"c"}"#);
        assert_eq!(got.as_deref(), Some(r#"{"role":"user","attribution":"agent","content":"c"}"#));
    }

    #[test]
    fn a_developer_message_is_the_agents() {
        let got = model(r#"{"role":"developer","attribution":null,"content":"c"}"#);
        assert_eq!(got.as_deref(), Some(r#"{"role":"developer","attribution":"agent","content":"c"}"#));
    }

    #[test]
    fn an_assistant_message_is_unchanged() {
        let message = r#"{"role":"assistant","content":[],"usage":{"input":1}}"#;
        assert_eq!(model(message).as_deref(), Some(message));
    }

    #[test]
    fn a_tool_result_keeps_its_content_unless_it_was_pruned() {
        let got = model(r#"{"role":"toolResult","content":[{"type":"text","text":"t"}]}"#);
        assert_eq!(got.as_deref(), Some(r#"{"role":"toolResult","content":[{"type":"text","text":"t"}],"attribution":"agent"}"#));
        let content = r#"[{"type":"text","text":"a"},{"type":"image","data":"AAAA"},{"type":"text","text":"b"}]"#;
        let got = model(&format!(r#"{{"role":"toolResult","content":{content},"prunedAt":5}}"#)).unwrap();
        assert!(got.contains(r#""content":[{"type":"text","text":"ab"}],"prunedAt":5"#), "{got}");
        let got = model(r#"{"role":"toolResult","content":[],"prunedAt":null}"#).unwrap();
        assert!(got.contains(r#""content":[{"type":"text","text":"[Output truncated]"}]"#), "{got}");
    }

    #[test]
    fn a_custom_message_becomes_a_user_message() {
        for role in ["custom", "hookMessage"] {
            let got =
                model(&format!(r#"{{"role":"{role}","customType":"t","content":"c","display":true,"attribution":"user","timestamp":7}}"#));
            assert_eq!(
                got.as_deref(),
                Some(r#"{"role":"user","content":[{"type":"text","text":"c"}],"attribution":"user","timestamp":7}"#)
            );
        }
        let got = model(r#"{"role":"custom","content":[{"type":"image"}]}"#);
        assert_eq!(got.as_deref(), Some(r#"{"role":"user","content":[{"type":"image"}]}"#));
    }

    #[test]
    fn a_branch_summary_is_wrapped() {
        let text = block(r#"{"role":"branchSummary","summary":"a <b>","fromId":"x","timestamp":7}"#);
        assert_eq!(text, format!("{BRANCH_LEAD_IN}\n\n<summary>\na <b>\n</summary>"));
    }

    #[test]
    fn a_compaction_summary_is_wrapped_and_keeps_its_payload() {
        let message = r#"{"role":"compactionSummary","summary":"s","tokensBefore":1,"providerPayload":{"type":"p"},"timestamp":7}"#;
        assert_eq!(block(message), format!("{COMPACTION_LEAD_IN}\n\n<summary>\ns\n</summary>"));
        assert!(model(message).unwrap().ends_with(r#""attribution":"agent","providerPayload":{"type":"p"},"timestamp":7}"#));
    }

    #[test]
    fn a_bash_execution_tells_command_output_and_end() {
        assert_eq!(block(r#"{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0}"#), "Ran `ls`\n```\na\nb\n```");
        let failed = r#"{"role":"bashExecution","command":"ls","output":"","exitCode":2,"truncated":true}"#;
        assert_eq!(block(failed), "Ran `ls`\n(no output)\n\nExit code: 2\n\n[The output was cut]");
        let cancelled = r#"{"role":"bashExecution","command":"ls","output":"","exitCode":null,"cancelled":true}"#;
        assert_eq!(block(cancelled), "Ran `ls`\n(no output)\n\n(cancelled)");
        assert_eq!(model(r#"{"role":"bashExecution","command":"ls","excludeFromContext":true}"#), None);
    }

    #[test]
    fn a_python_execution_shows_its_code() {
        let text = block(r#"{"role":"pythonExecution","code":"1+1","output":"2","exitCode":0}"#);
        assert_eq!(text, "Ran Python:\n```python\n1+1\n```\nOutput:\n```\n2\n```");
        assert_eq!(model(r#"{"role":"pythonExecution","code":"1","excludeFromContext":true}"#), None);
    }

    #[test]
    fn file_mentions_are_escaped_and_bring_their_images() {
        let files = r#"[{"path":"a\n\"b\"","content":"<x> & \u202e\u0007\n\t\ud800é"},{"path":"p","content":"","image":{"type":"image"}}]"#;
        let got = model(&format!(r#"{{"role":"fileMention","files":{files}}}"#)).unwrap();
        let got = Value::parse(got.as_bytes()).unwrap();
        let blocks = got.get("content").and_then(Value::as_array).unwrap();
        assert!(blocks[0].get("text").unwrap().is_str(concat!(
            "<system-reminder>\n<file path=\"a\\u000a&quot;b&quot;\">\n&lt;x&gt; &amp; \\u202e\\u0007\n\t\\ud800é\n</file>\n\n",
            "<file path=\"p\">\n\n</file>\n</system-reminder>"
        )));
        assert!(blocks[1].get("type").unwrap().is_str("image"));
    }

    #[test]
    fn any_other_role_vanishes() {
        for message in [r#"{"role":"critic","content":"c"}"#, r#"{"content":"c"}"#, r#"{"role":7}"#, "[]"] {
            assert_eq!(model(message), None, "{message}");
        }
    }
}
