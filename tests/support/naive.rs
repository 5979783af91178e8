//! What reading a transcript naively gives, told in Rust: line by line, every message on the path of the last record, sound when
//! every line is JSON. The sample adapters do the same in their languages; where this differs from gjc, they must fail.

use gjc_fsck::json::{JsString, Value, View, coerce, stringify};

/// What a reader is written in. The two do the same, and their languages do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// An absent member is `undefined`; only `null` has no members.
    JavaScript,
    /// A file that is read as text has its lone carriage returns and those in front of a line end made line ends. Whoever looks up a
    /// member of anything but an object, or one that is not there, throws. The header has a text for its `id`.
    Python,
}
use Language::{JavaScript, Python};

/// The reader throws: what it looked for has no members, or not this one.
pub struct Throws;

/// `JSON.parse` of every line; what is none is dropped. Nothing when the first value is no header.
pub fn load(text: &str, by: Language) -> Vec<Value> {
    let entries: Vec<Value> = lines(text, by).split('\n').filter_map(|line| Value::parse(line.as_bytes())).collect();
    if entries.first().is_some_and(|first| is_header(first, by)) { entries } else { Vec::new() }
}

fn lines(text: &str, by: Language) -> String {
    if by == Python { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

fn is_header(value: &Value, by: Language) -> bool {
    is(value, "type", "session") && (by == JavaScript || value.str_member("id").is_some())
}

/// Whether members of it can be looked up and set.
fn has_members(value: &Value, by: Language) -> bool {
    if by == Python { value.as_object().is_some() } else { !matches!(value, Value::Null) }
}

/// The entries of version 1 numbered, and the version set.
pub fn migrate(text: &str, by: Language) -> Result<Vec<Value>, Throws> {
    let mut entries = load(text, by);
    let Some((header, others)) = entries.split_first_mut() else { return Ok(entries) };
    let version = header.member("version");
    if by == Python && !matches!(version, None | Some(Value::Number(_) | Value::Bool(_))) {
        return Err(Throws);
    }
    if number(version) < 2.0 {
        for (at, entry) in others.iter_mut().enumerate() {
            if !has_members(entry, by) {
                return Err(Throws);
            }
            // Members of anything else than an object are set, and never seen.
            let Some(entry) = entry.as_object_mut() else { continue };
            entry.set("id", Value::string(format!("#{at}").as_str()));
            entry.set("parentId", if at == 0 { Value::Null } else { Value::string(format!("#{}", at - 1).as_str()) });
        }
    }
    if let Some(header) = header.as_object_mut() {
        header.set("version", Value::Number(5.0));
    }
    Ok(entries)
}

/// Every message from the last record up to the root.
pub fn context(text: &str, by: Language) -> Result<String, Throws> {
    let migrated = migrate(text, by)?;
    let entries = migrated.get(1..).unwrap_or_default();
    if entries.iter().any(|entry| !has_members(entry, by) || by == Python && key(entry.member("id"), by).is_none()) {
        return Err(Throws);
    }
    let mut path: Vec<usize> = Vec::new();
    let mut next = entries.len().checked_sub(1);
    while let Some(at) = next.filter(|at| !path.contains(at) && entries[*at].truthy()) {
        path.push(at);
        let parent = key(entries[at].member("parentId"), by);
        if by == Python && parent.is_none() {
            return Err(Throws);
        }
        next = entries.iter().rposition(|entry| parent.is_some() && key(entry.member("id"), by) == parent);
    }
    let said: Vec<&Value> = path.iter().rev().map(|at| &entries[*at]).filter(|entry| is(entry, "type", "message")).collect();
    let mut model = None;
    for entry in &said {
        let message = entry.member("message").filter(|message| has_members(message, by)).ok_or(Throws)?;
        if by == Python && entry.member("id").is_none() {
            return Err(Throws);
        }
        if is(message, "role", "assistant") {
            if by == Python && (message.member("provider").is_none() || message.member("model").is_none()) {
                return Err(Throws);
            }
            model = Some(format!("{}/{}", in_text(message.member("provider")), in_text(message.member("model"))));
        }
    }
    let quoted = |text: &str| stringify::to_text(&Value::string(text));
    let (models, chains) = model.map_or((String::new(), String::new()), |model| {
        let model = quoted(&model);
        let chain = format!(r#""default":{{"role":"default","entries":[{model}],"origin":"legacy_session","explicitHead":true}}"#);
        (format!(r#""default":{model}"#), chain)
    });
    let messages: Vec<String> = said.iter().filter_map(|entry| entry.member("message")).map(stringify::to_text).collect();
    let ids: Vec<String> = said.iter().map(|entry| entry.member("id").map_or("null".to_owned(), stringify::to_text)).collect();
    Ok(format!(
        r#"{{"context":{{"messages":[{}],"thinkingLevel":"off","models":{{{models}}},"configuredModelChains":{{{chains}}},"injectedTtsrRules":[],"injectedTtsrRuleRecords":[],"ttsrMessageCount":0,"selectedMCPToolNames":[],"hasPersistedMCPToolSelection":false,"hasPersistedDiscoveredBuiltinToolSelection":false,"mode":"none"}},"message_entry_ids":[{}]}}"#,
        messages.join(","),
        ids.join(",")
    ))
}

/// What reader S would answer if it asked no more than that every line with content is JSON, and the first one a header.
pub fn check(text: &str, by: Language) -> &'static str {
    // What JavaScript trims: white space of Unicode, and the byte order mark; not the next-line character. Python trims that and the
    // four separators of ASCII, and no mark.
    let is_space = |c: char| match by {
        JavaScript => (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}',
        Python => c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c),
    };
    let is_blank = |line: &&str| line.chars().all(is_space);
    let values: Option<Vec<Value>> =
        lines(text, by).split('\n').filter(|line| !is_blank(line)).map(|line| Value::parse(line.as_bytes())).collect();
    match values.as_deref() {
        Some([first, ..]) if !is_header(first, by) => "malformed",
        Some([.., last]) if last.member("message").is_some_and(|message| is(message, "role", "assistant")) => "terminal",
        Some([_, ..]) => "resumable",
        _ => "malformed",
    }
}

fn is(value: &Value, member: &str, text: &str) -> bool {
    value.member(member).is_some_and(|value| value.is_str(text))
}

/// What JavaScript compares with a number: an absent version is 1.
fn number(value: Option<&Value>) -> f64 {
    match value {
        None | Some(Value::Null) => 1.0,
        Some(Value::Number(number)) => *number,
        Some(Value::Bool(flag)) => f64::from(*flag),
        Some(value) => in_text(Some(value)).trim().parse().unwrap_or(f64::NAN),
    }
}

/// What a template literal makes of it.
fn in_text(value: Option<&Value>) -> String {
    value.map_or("undefined".to_owned(), |value| coerce::to_text(value).map_or(String::new(), |text: JsString| text.to_string()))
}

/// A key of a `Map`: an absent member is one, an object equals nothing but itself. Of a `dict`: an absent member is `None`, and an
/// object is none.
fn key(value: Option<&Value>, by: Language) -> Option<String> {
    match value {
        None => Some(if by == Python { "null" } else { "undefined" }.to_owned()),
        Some(Value::Object(_) | Value::Array(_)) => None,
        Some(value) => Some(stringify::to_text(value)),
    }
}
