//! What a record puts into an entry, as the passes over contents see it: a whole entry, or, by a patch, its message.

use super::Source;
use super::held::Held;
use super::signs::Signs;
use crate::finding::{Code, Finding, Place};
use crate::json::jsonl::Found;
use crate::json::text::wtf8_lossy;
use crate::json::{Node, View, Walk};
use crate::transcript::EntryKind;
use crate::transcript::entry::Role;

/// The content that one record brings.
pub struct Content<'v> {
    /// Names places.
    pub source: &'v Source,
    /// The record.
    pub found: Found<'v>,
    /// Number of the entry it belongs to.
    pub entry: usize,
    /// Kind of that entry.
    pub kind: EntryKind,
    /// The record itself, or the message that a patch brings.
    pub root: Node<'v>,
    /// The record is an `entry_patch`: `root` is the new message of the entry.
    pub from_patch: bool,
    /// Signs of the record.
    pub signs: Signs,
}

impl<'v> Content<'v> {
    /// The message, for `message` entries.
    pub fn message(&self) -> Option<Node<'v>> {
        if self.from_patch {
            Some(self.root)
        } else if self.kind == EntryKind::Message {
            self.root.get("message")
        } else {
            None
        }
    }

    /// The id of the entry as the record spells it.
    pub fn id(&self) -> Option<String> {
        let key = if self.from_patch { "entryId" } else { "id" };
        self.found.node.str_member(key).map(|id| wtf8_lossy(&id))
    }

    /// Place of a value inside `root`; `pointer` is relative to `root`.
    pub fn place(&self, node: Node<'_>, pointer: Option<String>) -> Place {
        let pointer = pointer.map(|pointer| if self.from_patch { format!("/patch/message{pointer}") } else { pointer });
        Place { entry: self.id(), ..self.source.inside(&self.found, node, pointer) }
    }

    /// Place of the record.
    pub fn whole(&self) -> Place {
        Place { entry: self.id(), ..self.source.found(&self.found) }
    }

    /// Keeps a finding about the value that a walk over `root` stands at.
    pub fn found_at(&self, walk: &Walk<'v>, node: Node<'v>, held: &mut Held, code: &'static Code, message: String) {
        let pointer = walk.pointer();
        let in_message = self.is_in_message(pointer.as_deref());
        held.push(self.entry, in_message, Finding::new(code, self.place(node, pointer), message));
    }

    /// Keeps a finding about a value below the message; `pointer` is relative to the message.
    pub fn found_in_message(&self, node: Node<'v>, pointer: &str, held: &mut Held, code: &'static Code, message: String) {
        let pointer = if self.from_patch { pointer.to_owned() } else { format!("/message{pointer}") };
        held.push(self.entry, true, Finding::new(code, self.place(node, Some(pointer)), message));
    }

    /// Keeps a finding about a member of the message that may be absent; `pointer` is relative to the message.
    pub fn found_in_message_at(&self, pointer: &str, held: &mut Held, code: &'static Code, message: String) {
        let pointer = if self.from_patch { format!("/patch/message{pointer}") } else { format!("/message{pointer}") };
        let place = Place { pointer: Some(pointer), ..self.whole() };
        held.push(self.entry, true, Finding::new(code, place, message));
    }

    /// Keeps a finding about the entry outside its message.
    pub fn found_in_entry(&self, node: Node<'v>, pointer: &str, held: &mut Held, code: &'static Code, message: String) {
        held.push(self.entry, false, Finding::new(code, self.place(node, Some(pointer.to_owned())), message));
    }

    /// True for a pointer, relative to `root`, that leads into the message of a `message` entry.
    pub fn is_in_message(&self, pointer: Option<&str>) -> bool {
        self.from_patch
            || self.kind == EntryKind::Message && pointer.is_some_and(|pointer| pointer == "/message" || pointer.starts_with("/message/"))
    }
}

/// How an assistant message ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Stop {
    /// In any other way, or without saying so.
    #[default]
    Other,
    /// `aborted`
    Aborted,
    /// `error`
    Error,
}

/// The members of a message that checks look at, found in one walk over its members.
#[derive(Clone, Copy)]
pub struct Message<'v> {
    /// The message itself.
    pub node: Node<'v>,
    /// Its role.
    pub role: Role,
    /// `content`
    pub content: Option<Node<'v>>,
    /// `usage`
    pub usage: Option<Node<'v>>,
    /// `details`
    pub details: Option<Node<'v>>,
    /// `provider`
    pub provider: Option<Node<'v>>,
    /// `model`
    pub model: Option<Node<'v>>,
    /// `providerPayload`
    pub provider_payload: Option<Node<'v>>,
    /// `toolCallId`
    pub tool_call_id: Option<Node<'v>>,
    /// `toolName`
    pub tool_name: Option<Node<'v>>,
    /// `stopReason`
    pub stop: Stop,
}

impl<'v> Message<'v> {
    /// Takes a message apart.
    pub fn of(node: Node<'v>, role: Role) -> Self {
        let mut message = Message {
            node,
            role,
            content: None,
            usage: None,
            details: None,
            provider: None,
            model: None,
            provider_payload: None,
            tool_call_id: None,
            tool_name: None,
            stop: Stop::Other,
        };
        // In text order, so that the last of duplicate keys counts.
        for (key, value) in node.written_members() {
            match key.as_str().unwrap_or_default().as_ref() {
                b"content" => message.content = Some(value),
                b"usage" => message.usage = Some(value),
                b"details" => message.details = Some(value),
                b"provider" => message.provider = Some(value),
                b"model" => message.model = Some(value),
                b"providerPayload" => message.provider_payload = Some(value),
                b"toolCallId" => message.tool_call_id = Some(value),
                b"toolName" => message.tool_name = Some(value),
                b"stopReason" => {
                    message.stop = match value.raw() {
                        b"\"aborted\"" => Stop::Aborted,
                        b"\"error\"" => Stop::Error,
                        _ if value.is_str("aborted") => Stop::Aborted,
                        _ if value.is_str("error") => Stop::Error,
                        _ => Stop::Other,
                    }
                }
                _ => {}
            }
        }
        message
    }
}
