//! What reading a transcript naively gives, told in Rust: line by line, every message on the path of the last record, sound when
//! every line is JSON. The sample adapters do the same in their languages; where this differs from gjc, they must fail.

use gjc_fsck::json::{JsString, Value, View, coerce, stringify};

/// JavaScript throws: an entry that is `null` has no members.
pub struct Throws;

/// `JSON.parse` of every line; what is none is dropped. Nothing when the first value is no header.
pub fn load(text: &str) -> Vec<Value> {
    let entries: Vec<Value> = text.split('\n').filter_map(|line| Value::parse(line.as_bytes())).collect();
    if entries.first().is_some_and(|first| is(first, "type", "session")) { entries } else { Vec::new() }
}

/// The entries of version 1 numbered, and the version set.
pub fn migrate(text: &str) -> Result<Vec<Value>, Throws> {
    let mut entries = load(text);
    let Some((header, others)) = entries.split_first_mut() else { return Ok(entries) };
    if number(header.member("version")) < 2.0 {
        for (at, entry) in others.iter_mut().enumerate() {
            if matches!(entry, Value::Null) {
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
pub fn context(text: &str) -> Result<String, Throws> {
    let migrated = migrate(text)?;
    let entries = migrated.get(1..).unwrap_or_default();
    if entries.iter().any(|entry| matches!(entry, Value::Null)) {
        return Err(Throws);
    }
    let mut path: Vec<usize> = Vec::new();
    let mut next = entries.len().checked_sub(1);
    while let Some(at) = next.filter(|at| !path.contains(at) && entries[*at].truthy()) {
        path.push(at);
        let parent = key(entries[at].member("parentId"));
        next = entries.iter().rposition(|entry| parent.is_some() && key(entry.member("id")) == parent);
    }
    let said: Vec<&Value> = path.iter().rev().map(|at| &entries[*at]).filter(|entry| is(entry, "type", "message")).collect();
    let mut model = None;
    for entry in &said {
        let message = entry.member("message").filter(|message| !matches!(message, Value::Null)).ok_or(Throws)?;
        if is(message, "role", "assistant") {
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
pub fn check(text: &str) -> &'static str {
    // What JavaScript trims: white space of Unicode, and the byte order mark; not the next-line character.
    let is_blank = |line: &&str| line.chars().all(|c| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}');
    let values: Option<Vec<Value>> = text.split('\n').filter(|line| !is_blank(line)).map(|line| Value::parse(line.as_bytes())).collect();
    match values.as_deref() {
        Some([first, ..]) if !is(first, "type", "session") => "malformed",
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

/// A key of a `Map`: an absent member is one, an object equals nothing but itself.
fn key(value: Option<&Value>) -> Option<String> {
    match value {
        None => Some("undefined".to_owned()),
        Some(Value::Object(_) | Value::Array(_)) => None,
        Some(value) => Some(stringify::to_text(value)),
    }
}
