//! One entry as an article: who, when, what of it the model sees, its content, and the findings about it.

use super::escape;
use super::image;
use super::markdown::{self, Breaks};
use super::{Page, anchor};
use crate::finding::Severity;
use crate::json::{JsStr, Kind, Value, View, coerce, number, stringify};
use crate::render::entry::{glimpse, id, word};
use crate::render::words::{count, grouped};
use crate::report::Entry as Finding;
use crate::transcript::EntryKind;
use crate::transcript::date;
use crate::transcript::entry::Role;
use crate::transcript::outline::Parent;
use std::fmt::Write;

/// Columns of the glimpse in a line that can be unfolded.
const GLIMPSE: usize = 90;

/// JSON of this many bytes is set in lines; more than that stands in one.
const MOST_INDENTED: usize = 1 << 20;

/// What an entry looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// The user or a developer speaks.
    User,
    /// The model speaks.
    Assistant,
    /// What a tool, a command or a file brought in.
    Tool,
    /// A summary that replaces what stands above.
    Compaction,
    /// Something else that is said.
    Note,
    /// A change of a setting, a label: one line.
    Quiet,
}

impl Look {
    /// How an entry looks.
    pub fn of(entry: &Value) -> Look {
        match EntryKind::of(entry) {
            EntryKind::Message => match entry.get("message").map_or(Role::None, Role::of) {
                Role::User | Role::Developer => Look::User,
                Role::Assistant => Look::Assistant,
                Role::ToolResult | Role::BashExecution | Role::PythonExecution | Role::FileMention => Look::Tool,
                Role::CompactionSummary => Look::Compaction,
                _ => Look::Note,
            },
            EntryKind::Compaction => Look::Compaction,
            EntryKind::CustomMessage | EntryKind::BranchSummary => Look::Note,
            _ => Look::Quiet,
        }
    }
    /// The class of its element.
    pub const fn class(self) -> &'static str {
        match self {
            Look::User => "user",
            Look::Assistant => "assistant",
            Look::Tool => "tool",
            Look::Compaction => "compaction",
            Look::Note => "note",
            Look::Quiet => "quiet",
        }
    }
}

/// What an entry is called.
pub fn title(entry: &Value) -> String {
    let message = entry.get("message");
    match (EntryKind::of(entry), message.map_or(Role::None, Role::of)) {
        (EntryKind::Message, Role::User) => "User".into(),
        (EntryKind::Message, Role::Developer) => "Developer".into(),
        (EntryKind::Message, Role::Assistant) => "Assistant".into(),
        (EntryKind::Message, Role::ToolResult) => "Tool result".into(),
        (EntryKind::Message, Role::BashExecution) => "Command".into(),
        (EntryKind::Message, Role::PythonExecution) => "Python".into(),
        (EntryKind::Message, Role::FileMention) => "Files".into(),
        (EntryKind::Compaction, _) | (EntryKind::Message, Role::CompactionSummary) => "Compaction".into(),
        (EntryKind::BranchSummary, _) | (EntryKind::Message, Role::BranchSummary) => "Branch summary".into(),
        (EntryKind::ModelChange, _) => "Model".into(),
        (EntryKind::ConfiguredModelChain, _) => "Model chain".into(),
        (EntryKind::ThinkingLevelChange, _) => "Thinking level".into(),
        (EntryKind::ServiceTierChange, _) => "Service tier".into(),
        (EntryKind::ModeChange, _) => "Mode".into(),
        (EntryKind::Label, _) => "Label".into(),
        (EntryKind::TtsrInjection, _) => "Rules".into(),
        (EntryKind::McpToolSelection | EntryKind::DiscoveredBuiltinToolSelection, _) => "Tools".into(),
        (EntryKind::SessionInit, _) => "Start".into(),
        (EntryKind::Custom | EntryKind::CustomMessage, _) => {
            let kind = entry.str_member("customType").unwrap_or_default();
            if kind.is_empty() { "Custom".into() } else { glimpse(&kind, 40) }
        }
        _ => word(entry),
    }
}

/// Appends the article of an entry.
pub fn article(out: &mut String, page: &Page<'_>, number: usize) {
    let Some(entry) = page.sheet.entries.get(number) else { return };
    let Some(place) = page.sheet.outline.places.get(number) else { return };
    let look = Look::of(entry);
    let standing = page.standing(number);
    let _ = write!(out, "<article class=\"e {} {}\" id=\"{}\" tabindex=\"-1\">", look.class(), standing.class(), anchor(number));
    out.push_str("<header><span class=\"who\">");
    escape::text(out, &title(entry));
    out.push_str("</span>");
    aside(out, entry);
    if let Some(label) = &place.label {
        out.push_str("<span class=\"label\" title=\"label\"><bdi>");
        escape::text(out, &glimpse(label.as_bytes(), 60));
        out.push_str("</bdi></span>");
    }
    if page.sheet.outline.leaf() == Some(number) {
        out.push_str("<span class=\"leaf\">the next prompt continues here</span>");
    }
    out.push_str(standing.words());
    joint(out, page, number, entry);
    out.push_str("<span class=\"where\">");
    if let Some(minute) = date::minute(date::time_of(entry.get("timestamp"))) {
        let _ = write!(out, "<time datetime=\"{minute}\">{}</time> ", minute.replace('T', " ").trim_end_matches('Z'));
    }
    let line = grouped(page.sheet.line(number));
    let _ = write!(out, "<a href=\"#m{number}\" title=\"show in the map\">line {line}</a>");
    out.push_str("</span></header>");
    body(out, page, entry);
    for finding in page.findings.of(number) {
        self::finding(out, finding);
    }
    out.push_str("</article>\n");
}

/// Whether everything that a record says fits beside its name.
const fn is_one_line(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::ModelChange
            | EntryKind::ConfiguredModelChain
            | EntryKind::ThinkingLevelChange
            | EntryKind::ServiceTierChange
            | EntryKind::ModeChange
            | EntryKind::Label
            | EntryKind::TtsrInjection
            | EntryKind::McpToolSelection
            | EntryKind::DiscoveredBuiltinToolSelection
    )
}

/// What stands beside the name: the model that answered, what a setting was set to.
fn aside(out: &mut String, entry: &Value) {
    let text = match EntryKind::of(entry) {
        kind if is_one_line(kind) => {
            out.push_str("<span class=\"set\"><bdi>");
            escape::text(out, &crate::render::entry::preview(entry, 300));
            out.push_str("</bdi></span>");
            return;
        }
        EntryKind::Message => {
            let Some(message) = entry.get("message") else { return };
            let name = |key: &str| message.str_member(key).map(|text| glimpse(&text, 60)).unwrap_or_default();
            match Role::of(message) {
                Role::Assistant => name("model"),
                Role::ToolResult => name("toolName"),
                _ => return,
            }
        }
        _ => return,
    };
    if !text.is_empty() {
        out.push_str("<span class=\"what\"><bdi>");
        escape::text(out, &text);
        out.push_str("</bdi></span>");
    }
}

/// Says how an entry hangs in the tree where that is no matter of course.
fn joint(out: &mut String, page: &Page<'_>, number: usize, entry: &Value) {
    let Some(place) = page.sheet.outline.places.get(number) else { return };
    let said = match place.parent {
        Parent::Unknown => format!("its parent {} is not in the file", id(entry.get("parentId"))),
        Parent::Itself => "it is its own parent".to_owned(),
        Parent::ClosesCycle(parent) => format!("its parent, line {}, would close a circle", page.sheet.line(parent)),
        Parent::None | Parent::Entry(_) => match place.shadowed_by {
            Some(later) => format!("line {} has the same id: nothing finds this entry", page.sheet.line(later)),
            None => return,
        },
    };
    out.push_str("<span class=\"joint\">");
    escape::text(out, &said);
    out.push_str("</span>");
}

/// Appends a finding with what gjc does about it and what to do.
pub fn finding(out: &mut String, finding: &Finding) {
    let level = level(finding.severity);
    let _ = write!(out, "<div class=\"finding {level}\" role=\"note\"><p><b>{level}</b> <code>{}</code> ", finding.code.name);
    sentence(out, &finding.message);
    out.push_str("</p><details><summary>What gjc does, what to do</summary><p>");
    sentence(out, &finding.gjc);
    out.push_str("</p><p>");
    sentence(out, &finding.help);
    out.push_str("</p></details></div>\n");
}

/// Appends a sentence of the report; what stands between backticks is code.
fn sentence(out: &mut String, text: &str) {
    let parts: Vec<&str> = text.split('`').collect();
    // A last backtick without a partner is a backtick.
    let pairs = (parts.len() - 1) / 2;
    for (at, part) in parts.iter().enumerate() {
        match at % 2 {
            1 if at / 2 < pairs => {
                out.push_str("<code>");
                escape::text(out, part);
                out.push_str("</code>");
            }
            1 => {
                out.push('`');
                escape::text(out, part);
            }
            _ => escape::text(out, part),
        }
    }
}

/// The word for a severity, which is its class too.
pub const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn body(out: &mut String, page: &Page<'_>, entry: &Value) {
    match EntryKind::of(entry) {
        EntryKind::Message => {
            if let Some(message) = entry.get("message") {
                self::message(out, page, message);
            }
        }
        EntryKind::CustomMessage => content(out, entry.get("content"), Breaks::Kept),
        EntryKind::BranchSummary => {
            told(out, &format!("What was tried on the branch that left {}:", id(entry.get("fromId"))));
            markdown_of(out, entry.get("summary"), Breaks::Folded);
        }
        EntryKind::Compaction => compaction(out, page, entry),
        EntryKind::Custom => folded_json(out, "data", entry.get("data")),
        EntryKind::SessionInit => {
            for key in ["task", "systemPrompt"] {
                folded_text(out, key, entry.get(key));
            }
            folded_json(out, "tools", entry.get("tools"));
        }
        EntryKind::Unknown | EntryKind::NonRecord | EntryKind::Session => folded_json(out, "the record", Some(entry)),
        // Said beside the name; patches are no entries.
        _ => {}
    }
}

/// A sentence of this program.
fn told(out: &mut String, text: &str) {
    out.push_str("<p class=\"told\">");
    escape::text(out, text);
    out.push_str("</p>");
}

fn message(out: &mut String, page: &Page<'_>, message: &Value) {
    match Role::of(message) {
        Role::User | Role::Developer => content(out, message.get("content"), Breaks::Kept),
        Role::Assistant => assistant(out, page, message),
        Role::ToolResult => tool_result(out, page, message),
        Role::BashExecution => execution(out, message, "command"),
        Role::PythonExecution => execution(out, message, "code"),
        Role::FileMention => files(out, message),
        Role::BranchSummary | Role::CompactionSummary => markdown_of(out, message.get("summary"), Breaks::Folded),
        Role::Custom | Role::HookMessage => content(out, message.get("content"), Breaks::Kept),
        Role::Other | Role::None => folded_json(out, "the message", Some(message)),
    }
}

/// A string or a list of blocks.
fn content(out: &mut String, content: Option<&Value>, breaks: Breaks) {
    match content {
        Some(Value::Array(blocks)) => blocks.as_slice().iter().for_each(|block| self::block(out, block, breaks)),
        Some(Value::String(text)) => markdown::write(out, &text.as_js().to_string_lossy(), breaks),
        None => {}
        Some(other) => folded_json(out, "content", Some(other)),
    }
}

fn block(out: &mut String, block: &Value, breaks: Breaks) {
    let kind = block.str_member("type").unwrap_or_default();
    match &*kind {
        b"text" => markdown_of(out, block.get("text"), breaks),
        b"image" | b"image_url" => image::figure(out, block),
        _ => folded_json(out, &glimpse(&kind, 40), Some(block)),
    }
}

fn markdown_of(out: &mut String, text: Option<&Value>, breaks: Breaks) {
    match text {
        Some(Value::String(text)) => markdown::write(out, &text.as_js().to_string_lossy(), breaks),
        None => {}
        Some(other) => folded_json(out, "text", Some(other)),
    }
}

fn assistant(out: &mut String, page: &Page<'_>, message: &Value) {
    match message.get("content") {
        Some(Value::Array(blocks)) => {
            for block in blocks.as_slice() {
                match &*block.str_member("type").unwrap_or_default() {
                    b"thinking" => thinking(out, block),
                    b"toolCall" => tool_call(out, page, block),
                    _ => self::block(out, block, Breaks::Folded),
                }
            }
        }
        other => content(out, other, Breaks::Folded),
    }
    if let Some(error) = message.str_member("errorMessage").filter(|text| !text.is_empty()) {
        out.push_str("<p class=\"failed\">");
        escape::js(out, &error);
        out.push_str("</p>");
    }
    let mut facts = Vec::new();
    match message.str_member("stopReason") {
        Some(reason) if !matches!(&*reason, b"stop" | b"toolUse") => facts.push(format!("stopped: {}", glimpse(&reason, 40))),
        _ => {}
    }
    if let Some(usage) = message.get("usage") {
        let tokens = |key: &str| usage.get(key).and_then(View::as_f64).filter(|tokens| *tokens > 0.0 && tokens.is_finite());
        for (key, word) in [("input", "in"), ("cacheRead", "from cache"), ("output", "out")] {
            facts.extend(tokens(key).map(|tokens| format!("{} {word}", grouped(tokens as u64))));
        }
        let cost = usage.get("cost").and_then(|cost| cost.get("total")).and_then(View::as_f64);
        facts.extend(cost.filter(|cost| *cost > 0.0 && cost.is_finite()).map(|cost| format!("${cost:.4}")));
    }
    if !facts.is_empty() {
        out.push_str("<p class=\"facts\">");
        escape::text(out, &facts.join(" · "));
        out.push_str("</p>");
    }
}

fn thinking(out: &mut String, block: &Value) {
    let text = block.str_member("thinking").unwrap_or_default();
    if crate::json::text::trim(&text).is_empty() {
        return;
    }
    fold(out, "thinking", "Thinking", &glimpse(&text, GLIMPSE), |out| {
        out.push_str("<div class=\"thought\">");
        markdown::write(out, &JsStr::from_wtf8(&text).to_string_lossy(), Breaks::Folded);
        out.push_str("</div>");
    });
}

fn tool_call(out: &mut String, page: &Page<'_>, block: &Value) {
    let name = glimpse(&block.str_member("name").unwrap_or_default(), 40);
    let arguments = block.get("arguments");
    let said = arguments.map(first_words).unwrap_or_default();
    fold(out, "call", &name, &said, |out| {
        match arguments {
            Some(Value::Object(members)) if !members.is_empty() => {
                out.push_str("<dl>");
                for (key, value) in members.iter() {
                    out.push_str("<dt>");
                    escape::js(out, key.as_bytes());
                    out.push_str("</dt><dd>");
                    pre(out, value);
                    out.push_str("</dd>");
                }
                out.push_str("</dl>");
            }
            Some(other) => pre(out, other),
            None => told(out, "no arguments"),
        }
        let result = block.str_member("id").and_then(|call| page.results.get(&*call).copied());
        if let Some(result) = result {
            let _ = write!(out, "<p class=\"told\"><a href=\"#{}\">its result</a></p>", anchor(result));
        }
    });
}

/// The first argument in few words: nearly always what the call is about.
fn first_words(arguments: &Value) -> String {
    let Some(members) = arguments.as_object() else { return String::new() };
    let wanted = ["command", "path", "file_path", "pattern", "query", "url", "code", "prompt"];
    let named = wanted.iter().find_map(|key| members.get(key));
    let first = || members.iter().find(|(key, _)| *key.as_bytes() != *b"_i").map(|(_, value)| value);
    match named.or_else(first) {
        Some(Value::String(text)) => glimpse(text.as_bytes(), GLIMPSE),
        Some(Value::Number(value)) => number::to_js_string(*value),
        Some(other) => other.kind().word().to_owned(),
        None => String::new(),
    }
}

fn tool_result(out: &mut String, page: &Page<'_>, message: &Value) {
    let failed = message.get("isError").is_some_and(View::truthy);
    let blocks = message.get("content").and_then(Value::as_array).unwrap_or_default();
    let texts = || blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("text")));
    let lines: usize = texts().filter_map(|block| block.str_member("text")).map(|text| lines(&text)).sum();
    let first = texts().filter_map(|block| block.str_member("text")).find(|text| !crate::json::text::trim(text).is_empty());
    let said = first.map(|text| glimpse(&text, GLIMPSE)).unwrap_or_else(|| "no text".to_owned());
    let (class, title) = if failed { ("result failed", "failed") } else { ("result", "ok") };
    fold(out, class, &format!("{title} · {}", count(lines as u64, "line", "lines")), &said, |out| {
        for block in blocks {
            match (&*block.str_member("type").unwrap_or_default(), block.get("text")) {
                (b"text", Some(text)) => pre(out, text),
                _ => self::block(out, block, Breaks::Kept),
            }
        }
        if !matches!(message.get("content"), Some(Value::Array(_))) {
            folded_json(out, "content", message.get("content"));
        }
        let call = message.str_member("toolCallId").and_then(|call| page.calls.get(&*call).copied());
        if let Some(call) = call {
            let _ = write!(out, "<p class=\"told\"><a href=\"#{}\">its call</a></p>", anchor(call));
        }
    });
    // Images are what one wants to see of a result.
    blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind.is_str("image"))).for_each(|block| image::figure(out, block));
}

fn execution(out: &mut String, message: &Value, key: &str) {
    if let Some(command) = message.get(key) {
        pre(out, command);
    }
    let output = message.str_member("output").unwrap_or_default();
    let how = match message.get_present("exitCode").and_then(View::as_f64) {
        _ if message.get("cancelled").is_some_and(View::truthy) => "cancelled".to_owned(),
        Some(code) if code != 0.0 => format!("exit status {}", number::to_js_string(code)),
        _ => "ok".to_owned(),
    };
    let class = if how == "ok" { "result" } else { "result failed" };
    fold(out, class, &format!("{how} · {}", count(lines(&output) as u64, "line", "lines")), &glimpse(&output, GLIMPSE), |out| {
        out.push_str("<pre>");
        escape::js(out, &output);
        out.push_str("</pre>");
    });
}

fn files(out: &mut String, message: &Value) {
    for file in message.get("files").and_then(Value::as_array).unwrap_or_default() {
        let path = glimpse(&file.str_member("path").unwrap_or_default(), 200);
        let content = file.str_member("content").unwrap_or_default();
        fold(out, "result", &path, &count(lines(&content) as u64, "line", "lines"), |out| {
            out.push_str("<pre>");
            escape::js(out, &content);
            out.push_str("</pre>");
        });
        if let Some(picture) = file.get_present("image") {
            image::figure(out, picture);
        }
    }
}

fn compaction(out: &mut String, page: &Page<'_>, entry: &Value) {
    let before = entry.get("tokensBefore").and_then(View::as_f64).filter(|tokens| *tokens >= 0.0 && tokens.is_finite());
    let said = match before {
        Some(tokens) => format!("{} tokens became this summary; ", grouped(tokens as u64)),
        None => "What stands above became this summary; ".to_owned(),
    };
    let kept = entry.get("firstKeptEntryId");
    let first = kept.and_then(|kept| page.by_id.get(&*kept.as_str()?).copied());
    out.push_str("<p class=\"told\">");
    escape::text(out, &said);
    match first {
        Some(first) => {
            let line = grouped(page.sheet.line(first));
            let _ = write!(out, "what begins with <a href=\"#{}\">line {line}</a> was kept beside it.", anchor(first));
        }
        // Not every compaction keeps something.
        None if kept.and_then(|kept| kept.as_str()).is_none_or(|id| id.is_empty()) => {
            out.push_str("it names nothing that was kept beside it.")
        }
        None => {
            out.push_str("what was to be kept beside it, from ");
            escape::text(out, &id(kept));
            out.push_str(" on, is not in the file.");
        }
    }
    out.push_str("</p>");
    let summary = entry.str_member("summary").unwrap_or_default();
    fold(out, "summary", "Summary", &glimpse(&summary, GLIMPSE), |out| markdown_of(out, entry.get("summary"), Breaks::Folded));
}

/// Something that unfolds: its name, a glimpse of it, and what is inside.
fn fold(out: &mut String, class: &str, title: &str, glimpse: &str, inside: impl FnOnce(&mut String)) {
    let _ = write!(out, "<details class=\"fold {class}\"><summary><b><bdi>");
    escape::text(out, title);
    out.push_str("</bdi></b> <span><bdi>");
    escape::text(out, glimpse);
    out.push_str("</bdi></span></summary><div class=\"inside\">");
    inside(out);
    out.push_str("</div></details>\n");
}

fn folded_text(out: &mut String, title: &str, value: Option<&Value>) {
    if let Some(Value::String(text)) = value {
        fold(out, "record", title, &glimpse(text.as_bytes(), GLIMPSE), |out| {
            out.push_str("<pre>");
            escape::js(out, text.as_bytes());
            out.push_str("</pre>");
        });
    } else {
        folded_json(out, title, value);
    }
}

fn folded_json(out: &mut String, title: &str, value: Option<&Value>) {
    if let Some(value) = value {
        fold(out, "record", title, value.kind().word(), |out| pre(out, value));
    }
}

/// A value as it is: a string as text, anything else as JSON.
fn pre(out: &mut String, value: &Value) {
    out.push_str("<pre>");
    match value {
        Value::String(text) => escape::js(out, text.as_bytes()),
        other if matches!(other.kind(), Kind::Array | Kind::Object) => {
            let indented = stringify::indented(other, b"  ", MOST_INDENTED).unwrap_or_else(|| stringify::to_text(other).into_bytes());
            escape::js(out, &indented);
        }
        other => escape::js(out, coerce::to_text(other).unwrap_or_default().as_bytes()),
    }
    out.push_str("</pre>");
}

/// Lines of a text.
fn lines(text: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', text).count();
    ends + usize::from(!text.is_empty() && !text.ends_with(b"\n"))
}
