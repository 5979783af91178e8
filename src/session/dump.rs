//! The text that gjc's `/dump` puts on the clipboard (spec 04 §9.6): system prompts, configuration, tools, and the messages
//! that the agent holds after compaction.
//!
//! Exact for the roles and blocks of the specification. Two things depend on what no transcript holds and are left out: the
//! line about the cache (§9.6.1, it needs the prices of a model), and the notice behind the output of commands.
//! Like JavaScript, this is lenient about members that are only interpolated, and throws where a value is used as what it is not.

use crate::json::{JsStr, JsString, Kind, Value, View, coerce, stringify, text};
use crate::transcript::Throw;
use crate::transcript::entry::Role;
use std::borrow::Cow;

/// What is dumped.
#[derive(Clone, Copy, Default)]
pub struct Dump<'d> {
    /// System prompts; empty ones are left out.
    pub prompts: &'d [JsString],
    /// `<provider>/<id>` of the selected model.
    pub model: Option<&'d JsString>,
    /// The thinking level.
    pub thinking_level: Option<&'d JsString>,
    /// Tools: objects with `name`, `description` and `parameters`.
    pub tools: &'d [Value],
    /// The agent's messages.
    pub messages: &'d [Value],
}

/// What is dumped, as JSON gives it: `{"systemPrompt"?,"model"?,"thinkingLevel"?,"tools"?,"messages"}`.
#[derive(Default)]
pub struct Given {
    /// `systemPrompt`: strings.
    pub prompts: Vec<JsString>,
    /// `model`: `{"provider","id"}`.
    pub model: Option<JsString>,
    /// `thinkingLevel`
    pub thinking_level: Option<JsString>,
    /// `tools`
    pub tools: Vec<Value>,
    /// `messages`
    pub messages: Vec<Value>,
}

impl Given {
    /// Reads the form; an array is messages alone.
    ///
    /// # Errors
    /// What is not as it should be.
    pub fn read(given: &Value) -> Result<Given, &'static str> {
        let list = |key: &str| match given.get_present(key) {
            None => Ok(Vec::new()),
            Some(value) => value.as_array().map(<[Value]>::to_vec).ok_or("`systemPrompt`, `tools` and `messages` are arrays"),
        };
        if let Some(messages) = given.as_array() {
            return Ok(Given { messages: messages.to_vec(), ..Given::default() });
        }
        if !given.is_record() {
            return Err("messages, or an object with `messages`, are expected");
        }
        let string = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            _ => Err("a system prompt and a thinking level are strings"),
        };
        let model = match given.get_present("model") {
            None => None,
            Some(model) => {
                let part = |key: &str| model.get(key).map_or(Err("a model has `provider` and `id`"), string);
                Some(joined([part("provider")?.as_js(), "/".into(), part("id")?.as_js()]))
            }
        };
        Ok(Given {
            prompts: list("systemPrompt")?.iter().map(string).collect::<Result<_, _>>()?,
            model,
            thinking_level: given.get_present("thinkingLevel").map(string).transpose()?,
            tools: list("tools")?,
            messages: list("messages")?,
        })
    }
    /// What is dumped.
    pub fn dump(&self) -> Dump<'_> {
        let Given { prompts, model, thinking_level, tools, messages } = self;
        Dump { prompts, model: model.as_ref(), thinking_level: thinking_level.as_ref(), tools, messages }
    }
}

impl Dump<'_> {
    /// The text, in WTF-8.
    ///
    /// # Errors
    /// What JavaScript throws: a content that cannot be iterated, a thinking that is no text.
    pub fn text(&self) -> Result<Vec<u8>, Throw> {
        let mut pieces = Pieces::default();
        self.prompts(&mut pieces);
        pieces.add("## Configuration\n");
        let selected = self.model.map_or(JsStr::from("(not selected)"), JsString::as_js);
        pieces.line(["Model: ".into(), selected]);
        pieces.line(["Thinking Level: ".into(), self.thinking_level.map_or(JsStr::from(""), JsString::as_js)]);
        pieces.add("\n");
        self.tools(&mut pieces)?;
        for message in self.messages {
            write_message(message, &mut pieces)?;
            pieces.bounded()?;
        }
        Ok(text::trim(pieces.0.as_bytes()).to_vec())
    }

    fn prompts(&self, pieces: &mut Pieces) {
        let prompts: Vec<&JsString> = self.prompts.iter().filter(|prompt| !prompt.as_bytes().is_empty()).collect();
        if prompts.is_empty() {
            return;
        }
        pieces.add("## System Prompt\n");
        for (number, prompt) in prompts.iter().enumerate() {
            if prompts.len() > 1 {
                pieces.add(&format!("### System Prompt {}\n", number + 1));
            }
            pieces.line([prompt.as_js()]);
            pieces.add("\n");
        }
    }

    fn tools(&self, pieces: &mut Pieces) -> Result<(), Throw> {
        if self.tools.is_empty() {
            return Ok(());
        }
        pieces.add("## Available Tools\n");
        for tool in self.tools {
            pieces.line(["<tool name=\"".into(), interpolated(tool.get("name"))?.as_js(), "\">".into()]);
            pieces.value(tool.get("description"))?;
            let schema = tool.get("parameters").ok_or(NO_ENTRIES)?;
            let parameters = parameters(&without_type_box(schema))?;
            pieces.line(["\nParameters:\n".into(), parameters.as_js()]);
            pieces.add("</tool>\n");
            pieces.bounded()?;
        }
        pieces.add("\n");
        Ok(())
    }
}

/// Bytes of the longest text: about what a string of the engine holds. Indentation of deep values can reach it.
const MOST: usize = 1 << 29;

/// `Object.entries` of nothing.
const NO_ENTRIES: Throw = Throw::Type("undefined is not an object");
/// `for … of` something that cannot be iterated.
const NOT_ITERABLE: Throw = Throw::Type("undefined is not a function");
/// A member of null or undefined.
const NO_MEMBER: Throw = Throw::Type("null is not an object");
/// `.trim()` of something that is no string.
const NO_TRIM: Throw = Throw::Type("trim is not a function");

/// The pieces, joined with line ends.
#[derive(Default)]
struct Pieces(JsString, bool);

impl Pieces {
    fn add(&mut self, piece: &str) {
        self.line([JsStr::from(piece)]);
    }
    fn line<const N: usize>(&mut self, parts: [JsStr<'_>; N]) {
        if std::mem::replace(&mut self.1, true) {
            self.0.push_js("\n".into());
        }
        parts.into_iter().for_each(|part| self.0.push_js(part));
    }
    /// The engine gives up on a text that is too long.
    fn bounded(&self) -> Result<(), Throw> {
        if self.0.as_bytes().len() > MOST { Err(Throw::Range) } else { Ok(()) }
    }
    /// A value as `join` writes it: null and undefined are empty.
    fn value(&mut self, value: Option<&Value>) -> Result<(), Throw> {
        match value.filter(|value| value.kind() != Kind::Null) {
            None => self.add(""),
            Some(value) => self.line([coerce::to_text(value).ok_or(Throw::NO_PRIMITIVE)?.as_js()]),
        }
        Ok(())
    }
}

/// A value as a template writes it.
fn interpolated(value: Option<&Value>) -> Result<JsString, Throw> {
    value.map_or(Ok("undefined".into()), |value| coerce::to_text(value).ok_or(Throw::NO_PRIMITIVE))
}

/// What `for (const item of value)` yields, as far as items can have members: characters of a string have none.
fn iterated(value: Option<&Value>) -> Result<&[Value], Throw> {
    match value {
        Some(Value::Array(items)) => Ok(items.as_slice()),
        Some(Value::String(_)) => Ok(&[]),
        _ => Err(NOT_ITERABLE),
    }
}

/// A block of a content, and its `type` when that is a string.
type Block<'v> = (&'v Value, Cow<'v, [u8]>);

/// The items of a content. Each is asked for its `type`, which null does not survive.
fn blocks(content: Option<&Value>) -> Result<impl Iterator<Item = Result<Block<'_>, Throw>>, Throw> {
    Ok(iterated(content)?
        .iter()
        .map(|block| if block.kind() == Kind::Null { Err(NO_MEMBER) } else { Ok((block, block.str_member("type").unwrap_or_default())) }))
}

fn write_message(message: &Value, pieces: &mut Pieces) -> Result<(), Throw> {
    if message.kind() == Kind::Null {
        return Err(NO_MEMBER);
    }
    match Role::of(message) {
        Role::User => spoken("## User\n", message, pieces)?,
        Role::Developer => spoken("## Developer\n", message, pieces)?,
        Role::Assistant => assistant(message, pieces)?,
        Role::ToolResult => tool_result(message, pieces)?,
        Role::BashExecution | Role::PythonExecution if message.get("excludeFromContext").is_some_and(View::truthy) => {}
        Role::BashExecution => execution("## Bash Execution\n", bash(message)?, pieces),
        Role::PythonExecution => execution("## Python Execution\n", python(message)?, pieces),
        Role::Custom | Role::HookMessage => {
            let mut title = JsString::from("## ");
            title.push_js(interpolated(message.get("customType"))?.as_js());
            pieces.line([title.as_js(), "\n".into()]);
            content(message.get("content"), pieces)?;
        }
        Role::BranchSummary => {
            pieces.add("## Branch Summary\n");
            pieces.line(["(from branch: ".into(), interpolated(message.get("fromId"))?.as_js(), ")\n".into()]);
            pieces.value(message.get("summary"))?;
            pieces.add("\n");
        }
        Role::CompactionSummary => {
            pieces.add("## Compaction Summary\n");
            pieces.line(["(".into(), interpolated(message.get("tokensBefore"))?.as_js(), " tokens before compaction)\n".into()]);
            pieces.value(message.get("summary"))?;
            pieces.add("\n");
        }
        Role::FileMention => files(message, pieces)?,
        Role::Other | Role::None => {}
    }
    Ok(())
}

fn spoken(title: &str, message: &Value, pieces: &mut Pieces) -> Result<(), Throw> {
    pieces.add(title);
    content(message.get("content"), pieces)
}

/// A string, or blocks; and the line behind it.
fn content(content: Option<&Value>, pieces: &mut Pieces) -> Result<(), Throw> {
    if let Some(Value::String(text)) = content {
        pieces.line([text.as_js()]);
    } else {
        for block in blocks(content)? {
            match block? {
                (block, kind) if *kind == *b"text" => pieces.value(block.get("text"))?,
                (_, kind) if *kind == *b"image" => pieces.add("[Image]"),
                _ => {}
            }
        }
    }
    pieces.add("\n");
    Ok(())
}

fn assistant(message: &Value, pieces: &mut Pieces) -> Result<(), Throw> {
    pieces.add("## Assistant\n");
    for block in blocks(message.get("content"))? {
        match block? {
            (block, kind) if *kind == *b"text" => pieces.value(block.get("text"))?,
            (block, kind) if *kind == *b"thinking" => {
                let thinking = block.str_member("thinking").ok_or(NO_TRIM)?;
                if !text::trim(&thinking).is_empty() {
                    pieces.add("<thinking>");
                    pieces.line([JsStr::from_wtf8(&thinking)]);
                    pieces.add("</thinking>\n");
                }
            }
            (block, kind) if *kind == *b"toolCall" => {
                pieces.line(["<invoke name=\"".into(), interpolated(block.get("name"))?.as_js(), "\">".into()]);
                if let Some(arguments @ (Value::Object(_) | Value::Array(_))) = block.get("arguments") {
                    pieces.line([parameters(arguments)?.as_js()]);
                }
                pieces.add("</invoke>\n");
                pieces.bounded()?;
            }
            _ => {}
        }
    }
    pieces.add("");
    Ok(())
}

fn tool_result(message: &Value, pieces: &mut Pieces) -> Result<(), Throw> {
    pieces.line(["### Tool Result: ".into(), interpolated(message.get("toolName"))?.as_js()]);
    if message.get("isError").is_some_and(View::truthy) {
        pieces.add("(error)");
    }
    for block in blocks(message.get("content"))? {
        match block? {
            (block, kind) if *kind == *b"text" => {
                pieces.add("```");
                pieces.value(block.get("text"))?;
                pieces.add("```");
            }
            (_, kind) if *kind == *b"image" => pieces.add("[Image output]"),
            _ => {}
        }
    }
    pieces.add("");
    Ok(())
}

fn execution(title: &str, said: JsString, pieces: &mut Pieces) {
    pieces.add(title);
    pieces.line([said.as_js()]);
    pieces.add("\n");
}

fn bash(message: &Value) -> Result<JsString, Throw> {
    let command = interpolated(message.get("command"))?;
    let mut said = joined(["Ran `".into(), command.as_js(), "`\n".into()]);
    if !output(message, &mut said)? {
        said.push_js("(no output)".into());
    }
    ending(message, "(command cancelled)", "Command exited with code ", &mut said)?;
    Ok(said)
}

fn python(message: &Value) -> Result<JsString, Throw> {
    let code = interpolated(message.get("code"))?;
    let mut said = joined(["Ran Python:\n```python\n".into(), code.as_js(), "\n```\n".into()]);
    let mut shown = JsString::from("Output:\n");
    if output(message, &mut shown)? {
        said.push_js(shown.as_js());
    } else {
        said.push_js("(no output)".into());
    }
    ending(message, "(execution cancelled)", "Execution failed with code ", &mut said)?;
    Ok(said)
}

/// Adds the output between fences, when there is any.
fn output(message: &Value, said: &mut JsString) -> Result<bool, Throw> {
    let Some(output) = message.get("output").filter(|output| output.truthy()) else { return Ok(false) };
    let fenced = joined(["```\n".into(), interpolated(Some(output))?.as_js(), "\n```".into()]);
    said.push_js(fenced.as_js());
    Ok(true)
}

fn ending(message: &Value, cancelled: &str, failed: &str, said: &mut JsString) -> Result<(), Throw> {
    if message.get("cancelled").is_some_and(View::truthy) {
        said.push_js(joined(["\n\n".into(), cancelled.into()]).as_js());
    } else if let Some(code) = message.get_present("exitCode").filter(|code| code.as_f64() != Some(0.0)) {
        said.push_js(joined(["\n\n".into(), failed.into(), interpolated(Some(code))?.as_js()]).as_js());
    }
    Ok(())
}

fn joined<const N: usize>(parts: [JsStr<'_>; N]) -> JsString {
    let mut text = JsString::default();
    parts.into_iter().for_each(|part| text.push_js(part));
    text
}

fn files(message: &Value, pieces: &mut Pieces) -> Result<(), Throw> {
    pieces.add("## File Mention\n");
    for file in iterated(message.get("files"))? {
        if file.kind() == Kind::Null {
            return Err(NO_MEMBER);
        }
        pieces.line(["<file path=\"".into(), interpolated(file.get("path"))?.as_js(), "\">".into()]);
        if let Some(content) = file.get("content").filter(|content| content.truthy()) {
            pieces.value(Some(content))?;
        }
        if file.get("image").is_some_and(View::truthy) {
            pieces.add("[Image attached]");
        }
        pieces.add("</file>\n");
    }
    pieces.add("\n");
    Ok(())
}

/// The key that no parameter list shows.
const INTENT: &[u8] = b"_i";

/// One element for each own key. Values are indented below their key when they have several lines.
fn parameters(value: &Value) -> Result<JsString, Throw> {
    let mut lines = Pieces::default();
    let mut parameter = |key: &[u8], value: &Value| {
        if key == INTENT {
            return Ok(());
        }
        let (key, value) = (escaped(key, true), parameter_value(value)?);
        lines.line(["\t<parameter name=\"".into(), JsStr::from_wtf8(&key), "\">".into()]);
        if memchr::memchr(b'\n', &value).is_some() {
            for line in value.split(|byte| *byte == b'\n') {
                lines.line(["\t\t".into(), JsStr::from_wtf8(line)]);
            }
            lines.add("\t</parameter>");
        } else {
            lines.0.push_js(JsStr::from_wtf8(&value));
            lines.0.push_js("</parameter>".into());
        }
        lines.bounded()
    };
    match value {
        Value::Object(object) => object.iter().try_for_each(|(key, value)| parameter(key.as_bytes(), value))?,
        Value::Array(items) => {
            let mut items = items.as_slice().iter().enumerate();
            items.try_for_each(|(index, item)| parameter(index.to_string().as_bytes(), item))?;
        }
        // The own keys of a string are the numbers of its units.
        Value::String(string) => text::units(string.as_bytes()).enumerate().try_for_each(|(index, unit)| {
            let unit = Value::string(JsString::from_wtf8(text::from_units([unit])));
            parameter(index.to_string().as_bytes(), &unit)
        })?,
        Value::Number(_) | Value::Bool(_) => {}
        Value::Null => return Err(NO_ENTRIES),
    }
    Ok(lines.0)
}

/// A string as it is, anything else as indented JSON; escapes decoded, markup escaped.
fn parameter_value(value: &Value) -> Result<Vec<u8>, Throw> {
    let raw = match value {
        Value::String(text) => Cow::Borrowed(text.as_bytes()),
        other => Cow::Owned(stringify::indented(other, b"\t", MOST).ok_or(Throw::Range)?),
    };
    let decoded = decoded(&decoded(&raw, br"\\u"), br"\u");
    Ok(escaped(&decoded, false))
}

/// Every `mark` with four hexadecimal digits behind it as the character meant. Controls and surrogates are spelled with one
/// backslash instead.
fn decoded(text: &[u8], mark: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, mark) {
        let (before, behind) = (&rest[..at], &rest[at + mark.len()..]);
        let digits = behind.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            // Not here; the next one may begin within this one.
            out.extend_from_slice(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        out.extend_from_slice(before);
        let number = digits.iter().fold(0, |number, digit| number * 16 + (*digit as char).to_digit(16).unwrap_or(0));
        match char::from_u32(number).filter(|letter| !letter.is_control()) {
            Some(letter) => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                out.extend_from_slice(br"\u");
                out.extend_from_slice(digits);
            }
        }
        rest = &behind[4..];
    }
    out.extend_from_slice(rest);
    out
}

/// Text with the signs of markup as entities; quotes too, when it stands in an attribute.
fn escaped(text: &[u8], attribute: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' if attribute => out.extend_from_slice(b"&quot;"),
            _ => out.push(*byte),
        }
    }
    out
}

/// A schema without the members that begin with `TypeBox.`, at any depth. As a copy in JavaScript, it also loses members
/// called `__proto__`. Iterative: any depth.
fn without_type_box(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let mut pending = vec![&mut schema];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(object) => {
                object.retain(|key, _| !key.as_bytes().starts_with(b"TypeBox.") && key.as_bytes() != b"__proto__");
                pending.extend(object.iter_mut().map(|(_, value)| value));
            }
            Value::Array(items) => pending.extend(items.items_mut().iter_mut()),
            _ => {}
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(messages: &str) -> Result<String, Throw> {
        let messages = Value::parse(messages.as_bytes()).unwrap();
        let messages = messages.as_array().unwrap();
        Dump { messages, ..Dump::default() }.text().map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn what_javascript_throws_at_is_an_error() {
        for messages in [
            r#"[{"role":"user"}]"#,
            r#"[{"role":"user","content":[null]}]"#,
            r#"[{"role":"assistant","content":[{"type":"thinking"}]}]"#,
            r#"[{"role":"fileMention"}]"#,
            r#"[{"role":"toolResult","toolName":{"toString":1},"content":[]}]"#,
            "[null]",
        ] {
            assert!(matches!(of(messages), Err(Throw::Type(_))), "{messages}");
        }
    }

    #[test]
    fn what_it_only_interpolates_or_joins_is_shown() {
        let shown = of(r#"[{"role":"toolResult","content":[{"type":"text"},{"type":"text","text":7},3]}]"#).unwrap();
        assert!(shown.ends_with("### Tool Result: undefined\n```\n\n```\n```\n7\n```"), "{shown}");
    }

    #[test]
    fn escapes_are_decoded_twice_and_some_stay() {
        let of = |text: &str| String::from_utf8(parameter_value(&Value::string(text)).unwrap()).unwrap();
        assert_eq!(of(r"\u00e9 \\u00e9 \u20ac"), "é é €");
        assert_eq!(of(r"\u0007 \\u0007 \u007f \u009f \ud800"), r"\u0007 \u0007 \u007f \u009f \ud800");
        // The first pass makes the backslash that the second one reads.
        assert_eq!(of(r"\\u005cu0041"), "A");
        assert_eq!(of(r"\u12 \\u12g4 \\\u0041"), r"\u12 \\u12g4 \A");
        assert_eq!(of(r"\u003cb\u003e"), "&lt;b&gt;");
    }

    #[test]
    fn a_deep_value_is_written_until_the_text_would_be_too_long() {
        let deep = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            of(&format!(r#"[{{"role":"assistant","content":[{{"type":"toolCall","name":"n","arguments":{{"a":{open}1{close}}}}}]}}]"#))
        };
        assert!(deep(500).unwrap().ends_with("</invoke>"));
        assert_eq!(deep(100_000), Err(Throw::Range));
    }

    #[test]
    fn a_schema_of_any_depth_is_stripped() {
        let schema = format!("{}1{}", r#"{"TypeBox.x":{},"a":"#.repeat(100_000), "}".repeat(100_000));
        let stripped = without_type_box(&Value::parse(schema.as_bytes()).unwrap());
        assert_eq!(stringify::to_text(&stripped).len(), 100_000 * r#"{"a":}"#.len() + 1);
    }
}
