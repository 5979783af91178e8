//! The rebuilt context as JSON text: the shape in which answers are printed and compared (`tests/vectors/README.md`).

use super::js::Js;
use super::{Context, Message, Values, build, emitted};
use crate::finding::Release;
use crate::json::{JsStr, JsString, Value, View, coerce, stringify};
use crate::transcript::ids::Ids;
use crate::transcript::load::{Loaded, Whole, load};
use crate::transcript::migrate::{IdSource, migrate};
use crate::transcript::throw::Throw;
use crate::transcript::tree::{Leaf, Tree};
use std::borrow::Cow;
use std::io::{self, Read};

/// The leaf as a caller names it.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum LeafName {
    /// No leaf.
    #[default]
    Last,
    /// `null`
    BeforeFirst,
    /// This id.
    Id(JsString),
}

/// The leaf of an option that may be absent.
impl From<Option<&str>> for LeafName {
    fn from(id: Option<&str>) -> Self {
        id.map_or(LeafName::Last, |id| LeafName::Id(id.into()))
    }
}

impl LeafName {
    /// The leaf, among the ids that occur; an id that does not occur is as good as none.
    pub fn resolve(&self, ids: &Ids) -> Leaf {
        match self {
            LeafName::Last => Leaf::Last,
            LeafName::BeforeFirst => Leaf::BeforeFirst,
            LeafName::Id(text) => ids.find(text.as_bytes()).map_or(Leaf::Last, Leaf::Id),
        }
    }
}

/// The namespace of observation ids when there is no session id.
const LEGACY_NAMESPACE: &str = "legacy-session";

/// What gjc answers for one leaf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The JSON text.
    pub text: Vec<u8>,
    /// No entry has the id that names the leaf, so this is the answer for the last entry.
    pub unknown: bool,
}

/// Loads and migrates a file and rebuilds the context for each leaf: `{"context":…,"message_entry_ids":[…]}`, with
/// `observation_ids` when a message has one; `{"throws":"…"}`; or `{"not_loaded":true}`.
///
/// # Errors
/// The input cannot be read.
pub fn contexts(input: impl Read, release: Release, leaves: &[LeafName], source: &mut impl IdSource) -> io::Result<Vec<Vec<u8>>> {
    Ok(answers(input, release, leaves, source)?.into_iter().map(|answer| answer.text).collect())
}

/// The same, and whether each leaf was there.
///
/// # Errors
/// The input cannot be read.
pub fn answers(input: impl Read, release: Release, leaves: &[LeafName], source: &mut impl IdSource) -> io::Result<Vec<Answer>> {
    let all = |text: Vec<u8>| Ok(vec![Answer { text, unknown: false }; leaves.len()]);
    let mut loaded = match load(input, Whole, release)? {
        Err(throw) => return all(thrown(&throw)),
        Ok(loaded) if loaded.entries.is_empty() => return all(b"{\"not_loaded\":true}".to_vec()),
        Ok(loaded) => loaded,
    };
    let migrated = match migrate(&mut loaded, source) {
        Err(throw) => return all(thrown(&throw)),
        Ok(migrated) => migrated,
    };
    let Loaded { entries, mut ids, .. } = loaded;
    let list = Values::migrated(&entries, &mut ids, &migrated);
    let tree = Tree::new(&list);
    let namespace = namespace(&entries);
    let answer = |name: &LeafName| {
        let leaf = name.resolve(&ids);
        let text = build(&tree, leaf, release).and_then(|context| text(&context, &namespace)).unwrap_or_else(|throw| thrown(&throw));
        Answer { text, unknown: matches!(name, LeafName::Id(_)) && !tree.has(leaf) }
    };
    Ok(leaves.iter().map(answer).collect())
}

/// The session id, which namespaces observation ids.
pub fn namespace(entries: &[Value]) -> JsString {
    match entries.first().and_then(|header| header.get("id")) {
        Some(Value::String(id)) => id.clone(),
        _ => JsString::from(LEGACY_NAMESPACE),
    }
}

/// `{"throws":"…"}`
pub fn thrown(throw: &Throw) -> Vec<u8> {
    let mut out = b"{\"throws\":".to_vec();
    stringify::write_string(throw.to_string().as_bytes(), &mut out);
    out.push(b'}');
    out
}

/// `{"context":…,"message_entry_ids":[…],"observation_ids"?:[…]}`
///
/// # Errors
/// JavaScript cannot turn the id of a `custom_message` into text.
pub fn text(context: &Context<'_, Values<'_>>, namespace: &JsString) -> Result<Vec<u8>, Throw> {
    let list = context.list();
    let id_of = |message: &Message| match message {
        Message::Stored(_) | Message::Custom(_) => Js::member(list.entry(message.entry()).and_then(|entry| entry.get("id"))),
        Message::BranchSummary(_) | Message::CompactionSummary(_) => Js::Value(&Value::Null),
    };
    let observation_of = |message: &Message| match message {
        Message::Custom(_) => list.entry(message.entry()).map_or(Ok(Js::Undefined), |entry| observation(entry, namespace)),
        _ => Ok(Js::Value(&Value::Null)),
    };
    let mut answer = vec![("context", to_js(context)), ("message_entry_ids", Js::Array(context.messages.iter().map(id_of).collect()))];
    if context.messages.iter().any(|message| matches!(message, Message::Custom(_))) {
        answer.push(("observation_ids", Js::Array(context.messages.iter().map(observation_of).collect::<Result<_, _>>()?)));
    }
    let mut out = Vec::new();
    object(answer).write(&mut out);
    Ok(out)
}

/// The context as the object that gjc hands on; key order as in spec 01 §9.2.
pub fn to_js<'c>(context: &'c Context<'_, Values<'_>>) -> Js<'c> {
    let list = context.list();
    let message = |message: &Message| list.entry(message.entry()).map_or(Js::Undefined, emitted);
    let mut members = vec![("messages", Js::Array(context.messages.iter().map(message).collect()))];
    members.extend(context.settings.members());
    object(members)
}

fn object<'v>(members: Vec<(&'static str, Js<'v>)>) -> Js<'v> {
    Js::Object(members.into_iter().map(|(key, value)| (Cow::Owned(JsString::from(key)), value)).collect())
}

/// The observation id of a `custom_message`: its own, or one made from session and entry.
fn observation<'v>(entry: &'v Value, namespace: &JsString) -> Result<Js<'v>, Throw> {
    if let Some(own @ Value::String(_)) = entry.get("details").and_then(|details| details.get("observationId")) {
        return Ok(Js::Value(own));
    }
    let id = entry.get("id").map_or_else(|| Some("undefined".into()), coerce::to_text).ok_or(Throw::NO_PRIMITIVE)?;
    let mut text = JsString::from("session:");
    text.push_js(namespace.as_js());
    text.push_js(JsStr::from(":entry:"));
    text.push_js(id.as_js());
    Ok(Js::Text(Cow::Owned(text)))
}
