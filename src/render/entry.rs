//! One entry in one line: what it is, and a glimpse of what it says. Shared by `tree`, `context` and `replay`.

use super::style::plain;
use crate::json::{JsStr, Value, View, number};
use crate::steps;
use crate::transcript::EntryKind;
use crate::transcript::entry::Role;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What an entry is: the role of its message, else its type.
pub fn word(entry: &Value) -> String {
    let kind = EntryKind::of(entry);
    let member = match kind {
        EntryKind::Message => entry.get("message").and_then(|message| message.get("role")),
        _ => entry.get("type"),
    };
    match (member, kind) {
        (Some(Value::String(text)), _) => clip(&plain(&text.as_js().to_string_lossy()), 40),
        (_, EntryKind::NonRecord) => entry.kind().word().to_owned(),
        (_, EntryKind::Message) => "message".to_owned(),
        (..) => "no type".to_owned(),
    }
}

/// An id as text: strings as they are, other values as JSON, nothing as `-`.
pub fn id(id: Option<&Value>) -> String {
    match id {
        None => "-".to_owned(),
        Some(Value::String(text)) if text.as_bytes().is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => glimpse(text.as_bytes(), 100),
        Some(Value::Number(number)) => number::to_js_string(*number),
        Some(other) => other.kind().word().to_owned(),
    }
}

/// What an entry says, in at most `width` columns and on one line.
pub fn preview(entry: &Value, width: usize) -> String {
    let text = |key: &str| entry.get(key).map(|value| shown(value, width)).unwrap_or_default();
    let line = match EntryKind::of(entry) {
        EntryKind::Message => return entry.get("message").map(|message| message_preview(message, width)).unwrap_or_default(),
        EntryKind::CustomMessage => format!("{} {}", text("customType"), content(entry.get("content"), width)),
        EntryKind::ModelChange if entry.get("cleared").is_some_and(View::truthy) => format!("{} cleared", role(entry, width)),
        EntryKind::ModelChange if entry.get("model").is_some_and(View::truthy) => format!("{} = {}", role(entry, width), text("model")),
        // The spelling of old releases passes the schema and sets nothing.
        EntryKind::ModelChange => format!("{} {} (no effect)", text("provider"), text("modelId")),
        EntryKind::ConfiguredModelChain => format!("{} = {}", role(entry, width), text("entries")),
        EntryKind::ThinkingLevelChange => text("thinkingLevel"),
        EntryKind::ServiceTierChange => text("serviceTier"),
        EntryKind::ModeChange => text("mode"),
        // Not every compaction keeps something.
        EntryKind::Compaction => match entry.get("firstKeptEntryId").filter(|kept| kept.as_str().is_some_and(|id| !id.is_empty())) {
            Some(kept) => format!("keeps from {}: {}", id(Some(kept)), text("summary")),
            None => text("summary"),
        },
        EntryKind::BranchSummary => format!("from {}: {}", id(entry.get("fromId")), text("summary")),
        EntryKind::Custom => text("customType"),
        EntryKind::Label => format!("{} -> {}", text("label"), id(entry.get("targetId"))),
        EntryKind::TtsrInjection => text("injectedRules"),
        EntryKind::McpToolSelection | EntryKind::DiscoveredBuiltinToolSelection => text("selectedToolNames"),
        EntryKind::SessionInit => text("task"),
        EntryKind::Session => text("cwd"),
        EntryKind::HeaderPatch | EntryKind::EntryPatch | EntryKind::Unknown => String::new(),
        EntryKind::NonRecord => shown(entry, width),
    };
    clip(line.trim(), width)
}

fn role(entry: &Value, width: usize) -> String {
    entry.get_present("role").map_or_else(|| "default".to_owned(), |role| shown(role, width))
}

/// What a message says.
pub fn message_preview(message: &Value, width: usize) -> String {
    let text = |key: &str| message.get(key).map(|value| shown(value, width)).unwrap_or_default();
    let said = match Role::of(message) {
        Role::ToolResult => match text("toolName") {
            name if name.is_empty() => content(message.get("content"), width),
            name => format!("{name}: {}", content(message.get("content"), width)),
        },
        Role::BashExecution => text("command"),
        Role::PythonExecution => text("code"),
        Role::FileMention => {
            let files = message.get("files").and_then(Value::as_array).unwrap_or_default();
            let paths = files.iter().take(8).filter_map(|file| file.get("path")).map(|path| shown(path, width));
            paths.collect::<Vec<_>>().join(" ")
        }
        Role::BranchSummary | Role::CompactionSummary => text("summary"),
        _ => content(message.get("content"), width),
    };
    clip(said.trim(), width)
}

/// The first blocks of a content.
fn content(content: Option<&Value>, width: usize) -> String {
    match content {
        Some(Value::Array(blocks)) => {
            let mut said = String::new();
            for block in blocks.as_slice() {
                if said.width() >= width {
                    break;
                }
                if !said.is_empty() {
                    said.push(' ');
                }
                said.push_str(&self::block(block, width));
            }
            said
        }
        Some(other) => shown(other, width),
        None => String::new(),
    }
}

fn block(block: &Value, width: usize) -> String {
    let text = |key: &str| block.get(key).map(|value| shown(value, width)).unwrap_or_default();
    match block.get("type") {
        Some(kind) if kind.is_str("text") => text("text"),
        Some(kind) if kind.is_str("toolCall") => format!("[call {}]", text("name")),
        Some(kind) => format!("[{}]", shown(kind, width)),
        None => String::new(),
    }
}

/// A value in few words.
fn shown(value: &Value, width: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number::to_js_string(*number),
        Value::String(text) => glimpse(text.as_bytes(), width),
        Value::Array(items) => {
            let mut names = String::new();
            for item in items.as_slice() {
                if names.width() >= width {
                    break;
                }
                if !names.is_empty() {
                    names.push(' ');
                }
                // One level is enough for a glimpse.
                match item {
                    Value::Array(_) | Value::Object(_) => names.push_str(item.kind().word()),
                    other => names.push_str(&shown(other, width)),
                }
            }
            names
        }
        Value::Object(_) => value.kind().word().to_owned(),
    }
}

/// The beginning of a text, white space folded, nothing in it that a terminal obeys. Reads little more than it shows.
pub fn glimpse(wtf8: &[u8], width: usize) -> String {
    // A column is at most four bytes of text, and folded space is not worth more than as much again.
    let mut end = wtf8.len().min(width.saturating_mul(8).saturating_add(64));
    while end < wtf8.len() && wtf8[end] & 0xC0 == 0x80 {
        end += 1;
    }
    let cut = end < wtf8.len();
    let text = JsStr::from_wtf8(&wtf8[..end]).to_string_lossy();
    let mut folded = String::new();
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    if cut {
        folded.push('…');
    }
    clip(&plain(&folded), width)
}

/// A text in at most `width` columns; what does not fit ends in `…`.
pub fn clip(text: &str, width: usize) -> String {
    steps::take(text.len());
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let mut out = String::new();
    for letter in text.chars() {
        let columns = letter.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        used += columns;
        out.push(letter);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// `text` filled up with spaces to `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width())));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        Value::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn an_entry_is_called_by_its_role_or_its_type() {
        assert_eq!(word(&value(r#"{"type":"message","message":{"role":"user"}}"#)), "user");
        assert_eq!(word(&value(r#"{"type":"message"}"#)), "message");
        assert_eq!(word(&value(r#"{"type":"future\u001b[31m"}"#)), r"future\u{1b}[31m");
        assert_eq!(word(&value("{}")), "no type");
        assert_eq!(word(&value("[1]")), "array");
    }

    #[test]
    fn a_preview_is_one_short_line() {
        let entry = value(r#"{"type":"message","message":{"role":"user","content":"two\n  lines\tof text"}}"#);
        assert_eq!(preview(&entry, 40), "two lines of text");
        assert_eq!(preview(&entry, 10), "two lines…");
        let blocks = r#"[{"type":"text","text":"hm"},{"type":"toolCall","name":"read"},{"type":"image"}]"#;
        let entry = value(&format!(r#"{{"type":"message","message":{{"role":"assistant","content":{blocks}}}}}"#));
        assert_eq!(preview(&entry, 40), "hm [call read] [image]");
    }

    #[test]
    fn settings_are_shown_as_what_they_set() {
        assert_eq!(preview(&value(r#"{"type":"model_change","model":"p/m"}"#), 40), "default = p/m");
        assert_eq!(preview(&value(r#"{"type":"label","targetId":"a","label":"x"}"#), 40), "x -> a");
        assert_eq!(preview(&value(r#"{"type":"compaction","firstKeptEntryId":"a","summary":"s"}"#), 40), "keeps from a: s");
        assert_eq!(preview(&value(r#"{"type":"compaction","summary":"s"}"#), 40), "s");
        assert_eq!(preview(&value(r#"{"type":"mcp_tool_selection","selectedToolNames":["a",[],7]}"#), 40), "a array 7");
    }

    #[test]
    fn a_model_change_without_model_has_no_effect() {
        assert_eq!(preview(&value(r#"{"type":"model_change","provider":"p","modelId":"m"}"#), 40), "p m (no effect)");
    }

    #[test]
    fn wide_letters_count_twice_and_huge_texts_are_not_read() {
        assert_eq!(clip("가나다라", 5), "가나…");
        assert_eq!(glimpse("가".repeat(1_000_000).as_bytes(), 7), "가가가…");
        assert_eq!(glimpse(b" \n a", 7), "a");
    }

    #[test]
    fn ids_that_are_no_strings_are_told_apart() {
        assert_eq!(id(None), "-");
        assert_eq!(id(Some(&value("\"\""))), "\"\"");
        assert_eq!(id(Some(&value("7"))), "7");
        assert_eq!(id(Some(&Value::Null)), "null");
    }
}
