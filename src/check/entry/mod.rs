//! The area *entry* of spec 05: what an entry must be, and what gjc ignores or trips over in it.
//!
//! [`judge`] looks at a record's content while it is in memory; [`schema`] reports at the end what the strict schema
//! refuses after patches and migration.

pub mod codes;

use super::transcript::content::{Content, Message};
use super::transcript::held::Held;
use super::transcript::signs::Sign;
use super::words::{count, shortened, with_article};
use crate::finding::{Finding, Place, Sink};
use crate::json::text::wtf8_lossy;
use crate::json::{Kind, View, Walk};
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::facts::Fact;
use crate::transcript::{date, usage};

/// Judges the content that a record brings.
pub fn judge(content: &Content<'_>, message: Option<&Message<'_>>, held: &mut Held) {
    if !content.from_patch {
        entry(content, held);
    }
    if let Some(message) = message {
        judge_message(content, message, held);
    }
    if content.signs.has(Sign::TransientKey) {
        transient_fields(content, held);
    }
}

fn entry(content: &Content<'_>, held: &mut Held) {
    let root = content.root;
    match content.kind {
        EntryKind::NonRecord | EntryKind::Session => return,
        EntryKind::Unknown => {
            let named = root.get("type");
            if named.is_some_and(|name| name.is_str("session_cold_ref")) {
                let message = "A session_cold_ref stands on disk; it is a placeholder that only memory may hold.";
                held.push(content.entry, false, Finding::new(&codes::SESSION_COLD_REF_ON_DISK, content.whole(), message));
                return;
            }
            let what = match named {
                None => "no type".to_owned(),
                Some(name) => match name.as_str() {
                    Some(text) => format!("the unknown type `{}`", shortened(&wtf8_lossy(&text))),
                    None => format!("a type that is {}", with_article(name.kind())),
                },
            };
            let message = format!("The record has {what}.");
            held.push(content.entry, false, Finding::new(&codes::UNKNOWN_ENTRY_TYPE, content.whole(), message));
        }
        EntryKind::ModelChange => {
            let has = |key| root.get(key).is_some_and(|value| value.kind() == Kind::String);
            if !has("model") && has("provider") && has("modelId") {
                let message = "The model change names `provider` and `modelId` but no `model`: the switch is ignored.".to_owned();
                content.found_in_entry(root, "/modelId", held, &codes::MODEL_CHANGE_LEGACY_IGNORED, message);
            }
        }
        _ => {}
    }
    if let Some(node) = root.get("timestamp")
        && let Some(text) = node.as_str()
        && !is_written_time(&text)
        && date::parse(&text).is_nan()
    {
        let message = format!("The timestamp `{}` is no time.", shortened(&wtf8_lossy(&text)));
        content.found_in_entry(node, "/timestamp", held, &codes::ENTRY_TIMESTAMP_INVALID, message);
    }
}

/// True for the form in which gjc writes every time, `2026-01-02T03:04:05.678Z`, with digits that make a time.
fn is_written_time(text: &[u8]) -> bool {
    let Ok(t) = <&[u8; 24]>::try_from(text) else { return false };
    let digits = |range: std::ops::Range<usize>| t[range].iter().all(u8::is_ascii_digit);
    let below = |at: usize, limit: u8| (t[at] - b'0') * 10 + (t[at + 1] - b'0') < limit;
    digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && digits(11..13)
        && digits(14..16)
        && digits(17..19)
        && digits(20..23)
        && [t[4], t[7], t[10], t[13], t[16], t[19], t[23]] == *b"--T::.Z"
        && below(5, 13)
        && (t[5], t[6]) != (b'0', b'0')
        && below(8, 29)
        && (t[8], t[9]) != (b'0', b'0')
        && below(11, 24)
        && below(14, 60)
        && below(17, 60)
}

fn judge_message(content: &Content<'_>, message: &Message<'_>, held: &mut Held) {
    match message.role {
        Role::Other => {
            if let Some(role) = message.node.get("role") {
                let name = role.as_str().map(|name| wtf8_lossy(&name)).unwrap_or_default();
                let text = format!("The role `{}` is unknown: the message stays in the context and is never sent.", shortened(&name));
                content.found_in_message(role, "/role", held, &codes::MESSAGE_ROLE_UNKNOWN, text);
            }
        }
        Role::Assistant => judge_usage(content, message.usage, "/usage", held),
        Role::ToolResult if message.tool_name.is_some_and(|name| name.is_str("task")) => {
            judge_usage(content, usage::of_task(message.details), "/details/usage", held);
        }
        _ => {}
    }
}

fn judge_usage(content: &Content<'_>, usage: Option<crate::json::Node<'_>>, pointer: &str, held: &mut Held) {
    let Some(usage) = usage else { return };
    if let Some(fault) = usage::fault(usage) {
        let what = if fault.is_empty() { with_article(usage.kind()) } else { format!("without a usable `{}`", &fault[1..]) };
        let text = format!("The usage record is {what}: totals leave it out.");
        content.found_in_message_at(&format!("{pointer}{fault}"), held, &codes::USAGE_MALFORMED, text);
    }
}

fn transient_fields(content: &Content<'_>, held: &mut Held) {
    let mut walk = Walk::new(content.root);
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    while let Some(value) = walk.next() {
        if value.member_key().is_some_and(|key| key.is_str("partialJson") || key.is_str("jsonlEvents")) {
            let pointer = walk.pointer();
            let side = if content.is_in_message(pointer.as_deref()) { &mut inside } else { &mut outside };
            side.push((value, pointer));
        }
    }
    for (in_message, found) in [(true, inside), (false, outside)] {
        let times = found.len() as u64;
        if let Some((value, pointer)) = found.into_iter().next() {
            let text = format!(
                "{} that gjc never keeps (`partialJson`, `jsonlEvents`).",
                count(times, "member holds streaming state", "members hold streaming state")
            );
            held.push(content.entry, in_message, Finding::new(&codes::TRANSIENT_FIELD_PRESENT, content.place(value, pointer), text));
        }
    }
}

/// Reports an entry that fails the strict schema as it stands after patches and migration. `place` is the entry's.
pub fn schema(fact: &Fact, place: Place, sink: &mut dyn Sink) {
    // A value without a known type has a code of its own.
    if fact.faults.is_empty() || matches!(fact.kind, EntryKind::Unknown | EntryKind::NonRecord) {
        return;
    }
    let fields: Vec<&str> = fact.faults.iter().map(|field| field.pointer().trim_start_matches('/')).collect();
    let type_name = fact.kind.name().unwrap_or_default();
    let message = match fields.as_slice() {
        [one] => format!("{type_name}: `{one}` is absent or has the wrong type."),
        [most @ .., last] => format!("{type_name}: `{}` and `{last}` are absent or have the wrong type.", most.join("`, `")),
        [] => return,
    };
    let pointer = fact.faults.iter().next().map(|field| field.pointer().to_owned());
    sink.push(Finding::new(&codes::ENTRY_SCHEMA, Place { pointer, ..place }, message));
}
