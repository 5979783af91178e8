//! The context that gjc rebuilds from a path: messages and settings (spec 01 §9).
//!
//! The fold is written once over [`ContextEntries`]: whole values answer `context FILE`, the compact facts of the
//! streaming check answer the strict inspection. What gjc throws is an `Err`, never a panic; nothing recurses over
//! the depth or the length of its input, and everything is linear in the number of entries.

pub mod answer;
pub mod budget;
pub mod js;
pub mod model;
pub mod roles;
pub mod settings;
pub mod values;

pub use settings::Settings;
pub use values::Values;

use super::entry::{EntryKind, Role};
use super::facts::MessageForm;
use super::ids::Id;
use super::throw::Throw;
use super::tree::{Leaf, Linked, Path, Tree};
use crate::finding::Release;
use crate::json::scan::DEEP;
use crate::json::{JsString, Value, View};
use crate::transcript::date;
use js::Js;
use std::borrow::Cow;

/// A list of entries as the fold sees it.
pub trait ContextEntries: Linked {
    /// The entry. Asked for settings, compactions and `custom` entries only; none has no effect.
    fn value(&self, entry: usize) -> Option<&Value>;
    /// What the `message` of a `message` entry is.
    fn message(&self, entry: usize) -> MessageForm;
    /// The role of the message of a `message` entry.
    fn role(&self, entry: usize) -> Role;
    /// `<provider>/<model>` of an assistant message, by string interpolation.
    ///
    /// # Errors
    /// JavaScript cannot turn one of the two into text.
    fn assistant_model(&self, entry: usize) -> Result<JsString, Throw>;
    /// True when the `summary` of a `branch_summary` is truthy.
    fn has_summary(&self, entry: usize) -> bool;
    /// The `firstKeptEntryId` of a compaction; none when it is a value that no id equals.
    fn first_kept(&self, compaction: usize) -> Option<Id>;
    /// True when `new Date(timestamp)` throws: the timestamp is an object without text. A string never does.
    fn time_throws(&self, _entry: usize) -> bool {
        false
    }
    /// What the message of an entry weighs ([`emitted_weight`]).
    fn weight(&self, entry: usize) -> u64;
    /// Whether the message of an entry is known to be nested too deeply to be weighed ([`emitted_is_deep`]).
    fn is_deep(&self, _entry: usize) -> bool {
        false
    }
}

/// A message of the context, by the number of the entry it comes from. A context has as many as a file has entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// The stored message of a `message` entry.
    Stored(u32),
    /// A `custom_message` entry.
    Custom(u32),
    /// A `branch_summary` entry with a summary.
    BranchSummary(u32),
    /// The winning compaction.
    CompactionSummary(u32),
}

impl Message {
    /// The entry it comes from.
    pub const fn entry(self) -> usize {
        match self {
            Message::Stored(entry) | Message::Custom(entry) | Message::BranchSummary(entry) | Message::CompactionSummary(entry) => {
                entry as usize
            }
        }
    }
}

/// What the winning compaction leaves of the entries before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// Those from this place of the path on.
    From(usize),
    /// None: a remote history replaces them.
    Replaced,
    /// None: `firstKeptEntryId` is not found before the compaction.
    NotFound,
}

/// The compaction that counts: the last one on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compaction {
    /// Its entry.
    pub entry: usize,
    /// Its place on the path.
    pub place: usize,
    /// What it keeps.
    pub kept: Kept,
}

/// A rebuilt context.
pub struct Context<'l, L: ?Sized> {
    list: &'l L,
    /// The path it was rebuilt from; empty for the empty context.
    pub path: Path,
    /// Its messages.
    pub messages: Vec<Message>,
    /// The compaction that counts.
    pub compaction: Option<Compaction>,
    /// Everything else.
    pub settings: Settings<'l>,
}

/// `buildSessionContext`: rebuilds the context for a leaf.
///
/// # Errors
/// What gjc throws.
pub fn build<'l, L: ContextEntries + ?Sized>(tree: &Tree<'l, L>, leaf: Leaf, release: Release) -> Result<Context<'l, L>, Throw> {
    let list = tree.list();
    let path = tree.path_to(leaf);
    let mut settings = Settings::default();
    for entry in &path.entries {
        settings.take(list, *entry, release)?;
    }
    let mut messages = Vec::new();
    let compaction = compaction(list, &path.entries);
    let (kept, after) = match compaction {
        None => (0..0, 0),
        Some(Compaction { entry, place, kept }) => {
            messages.push(timed(list, Message::CompactionSummary(entry as u32))?);
            let kept = match kept {
                Kept::From(first) => first..place,
                Kept::Replaced | Kept::NotFound => 0..0,
            };
            (kept, place + 1)
        }
    };
    for entry in path.entries[kept].iter().chain(&path.entries[after..]) {
        messages.extend(emit(list, *entry)?);
    }
    Ok(Context { list, path, messages, compaction, settings })
}

fn compaction<L: ContextEntries + ?Sized>(list: &L, path: &[usize]) -> Option<Compaction> {
    let place = path.iter().rposition(|entry| list.kind(*entry) == EntryKind::Compaction)?;
    let entry = path[place];
    let kept = if list.value(entry).is_some_and(|entry| remote_history(entry).is_some()) {
        Kept::Replaced
    } else {
        let wanted = list.first_kept(entry);
        let first = path[..place].iter().position(|entry| Some(list.id(*entry)) == wanted);
        first.map_or(Kept::NotFound, Kept::From)
    };
    Some(Compaction { entry, place, kept })
}

/// The message that an entry other than the winning compaction gives.
fn emit<L: ContextEntries + ?Sized>(list: &L, entry: usize) -> Result<Option<Message>, Throw> {
    Ok(match list.kind(entry) {
        EntryKind::Message => match list.message(entry) {
            MessageForm::Object | MessageForm::Array => Some(Message::Stored(entry as u32)),
            // gjc remembers the entry of each message in a WeakMap.
            _ => return Err(Throw::Type("WeakMap keys must be objects or non-registered symbols")),
        },
        EntryKind::CustomMessage => Some(timed(list, Message::Custom(entry as u32))?),
        EntryKind::BranchSummary if list.has_summary(entry) => Some(timed(list, Message::BranchSummary(entry as u32))?),
        _ => None,
    })
}

/// A message that is stamped with the time of its entry.
fn timed<L: ContextEntries + ?Sized>(list: &L, message: Message) -> Result<Message, Throw> {
    if list.time_throws(message.entry()) { Err(settings::NO_PRIMITIVE) } else { Ok(message) }
}

/// The remote history of a compaction, when it is valid: its `provider` and `replacementHistory`.
pub fn remote_history<'v, V: View<'v>>(compaction: V) -> Option<(V, V)> {
    let remote = compaction.get("preserveData")?.get("openaiRemoteCompaction")?;
    let provider = remote.get("provider").filter(|provider| provider.as_str().is_some_and(|text| !text.is_empty()))?;
    let history = remote.get("replacementHistory").filter(|history| history.kind() == crate::json::Kind::Array)?;
    Some((provider, history))
}

impl<'l, L: ContextEntries + ?Sized> Context<'l, L> {
    /// The entries it was rebuilt from.
    pub fn list(&self) -> &'l L {
        self.list
    }
    /// What it weighs (spec 01 §9.9); none for the empty context, which is not measured.
    pub fn weight(&self) -> Option<u64> {
        if self.path.entries.is_empty() {
            return None;
        }
        let mut scale = budget::Scale::default();
        let messages: u64 = self.messages.iter().map(|message| budget::ELEMENT + self.list.weight(message.entry())).sum();
        let others = self.settings.members();
        let others: u64 = others.iter().map(|(key, value)| budget::string(key.as_bytes()) + scale.js(value)).sum();
        Some(budget::OBJECT + budget::string(b"messages") + messages + others)
    }
    /// True when the last message is from the assistant, or there is none.
    pub fn is_terminal(&self) -> bool {
        match self.messages.last() {
            Some(message @ Message::Stored(_)) => self.list.role(message.entry()) == Role::Assistant,
            Some(_) => false,
            None => true,
        }
    }
}

/// How the strict inspection ends (spec 01 §2.3, steps 11 and 12).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The last message is not from the assistant.
    Resumable,
    /// The last message is from the assistant, or there is none.
    Terminal,
    /// The context weighs more than the budget allows.
    TooLarge {
        /// What it weighs.
        bytes: u64,
    },
}

/// Rebuilds the context for the last entry and classifies it. A `budget` of none is not asked ([`budget::cannot_exceed`]).
///
/// # Errors
/// What gjc throws: the transcript is then `malformed`.
pub fn classify<L: ContextEntries + ?Sized>(list: &L, release: Release, budget: Option<u64>) -> Result<Class, Throw> {
    let tree = Tree::new(list);
    let context = build(&tree, Leaf::Last, release)?;
    // Weighing recurses, whatever the budget.
    if context.messages.iter().any(|message| list.is_deep(message.entry())) {
        return Err(Throw::Range);
    }
    let over = budget.and_then(|budget| context.weight().filter(|bytes| *bytes > budget));
    Ok(match over {
        Some(bytes) => Class::TooLarge { bytes },
        None if context.is_terminal() => Class::Terminal,
        None => Class::Resumable,
    })
}

/// Where a member of a message comes from.
enum Source {
    Text(&'static str),
    /// The member of the entry with this name.
    Member(&'static str),
    /// The entry's `timestamp` as milliseconds.
    Time,
    /// The remote history.
    Payload,
}

/// The messages that entries other than `message` give, member by member.
fn members_of(kind: EntryKind) -> &'static [(&'static str, Source)] {
    use Source::{Member, Payload, Text, Time};
    match kind {
        EntryKind::CustomMessage => &[
            ("role", Text("custom")),
            ("customType", Member("customType")),
            ("content", Member("content")),
            ("display", Member("display")),
            ("details", Member("details")),
            ("attribution", Member("attribution")),
            ("timestamp", Time),
        ],
        EntryKind::BranchSummary => {
            &[("role", Text("branchSummary")), ("summary", Member("summary")), ("fromId", Member("fromId")), ("timestamp", Time)]
        }
        EntryKind::Compaction => &[
            ("role", Text("compactionSummary")),
            ("summary", Member("summary")),
            ("shortSummary", Member("shortSummary")),
            ("tokensBefore", Member("tokensBefore")),
            ("providerPayload", Payload),
            ("timestamp", Time),
        ],
        _ => &[],
    }
}

/// The type that a remote history has in a message.
const HISTORY: &str = "openaiResponsesHistory";

/// The message that an entry gives.
pub fn emitted(entry: &Value) -> Js<'_> {
    let kind = EntryKind::of(entry);
    if kind == EntryKind::Message {
        return Js::member(entry.get("message"));
    }
    let member = |source: &Source| match source {
        Source::Text(text) => Js::text(text),
        Source::Member(key) => Js::member(entry.get(key)),
        Source::Time => Js::Number(date::time_of(entry.get("timestamp"))),
        Source::Payload => remote_history(entry).map_or(Js::Undefined, |(provider, history)| {
            Js::object([("type", Js::text(HISTORY)), ("provider", Js::Value(provider)), ("items", Js::Value(history))])
        }),
    };
    Js::Object(members_of(kind).iter().map(|(key, source)| (Cow::Owned(JsString::from(*key)), member(source))).collect())
}

/// What the message weighs that an entry gives. The same for every form of the entry.
pub fn emitted_weight<'v, V: View<'v>>(entry: V, kind: EntryKind) -> u64 {
    if kind == EntryKind::Message {
        return entry.get("message").map_or(0, budget::value);
    }
    let weight = |source: &Source| match source {
        Source::Text(text) => budget::string(text.as_bytes()),
        Source::Member(key) => entry.get(key).map_or(0, budget::value),
        Source::Time => 8,
        Source::Payload => remote_history(entry).map_or(0, |(provider, history)| {
            let keys: u64 = ["type", "provider", "items"].iter().map(|key| budget::string(key.as_bytes())).sum();
            budget::OBJECT + keys + budget::string(HISTORY.as_bytes()) + budget::value(provider) + budget::value(history)
        }),
    };
    let members = members_of(kind);
    budget::OBJECT + members.iter().map(|(key, source)| budget::string(key.as_bytes()) + weight(source)).sum::<u64>()
}

/// Whether the message that an entry gives is nested deeper than gjc's functions can recurse ([`DEEP`]).
pub fn emitted_is_deep<'v, V: View<'v>>(entry: V, kind: EntryKind) -> bool {
    let is_deep = |key: &str| entry.get(key).is_some_and(|member| member.is_deeper_than(DEEP));
    match kind {
        EntryKind::Message => is_deep("message"),
        _ => members_of(kind).iter().any(|(_, source)| match source {
            Source::Member(key) => is_deep(key),
            Source::Payload => remote_history(entry).is_some_and(|(_, history)| history.is_deeper_than(DEEP)),
            Source::Text(_) | Source::Time => false,
        }),
    }
}

#[cfg(test)]
mod tests;
