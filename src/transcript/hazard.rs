//! What makes opening fail although strict inspection accepts the file (spec 01 §2.5, 01a 1–7): found entry by entry,
//! so that a check needs no second look at a record.

use super::blobs::{self, REFERENCE_PREFIX};
use super::entry::{EntryKind, Role};
use crate::finding::{Difference, Release};
use crate::json::{Kind, Value, View};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A set of hazards of one entry.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hazards(u8);

impl Hazards {
    /// None.
    pub const NONE: Hazards = Hazards(0);
    /// Assistant content that holds `null`: building the live context throws.
    pub const NULL_BLOCK: Hazards = Hazards(1);
    /// A spill marker without usable payload: building the live context throws.
    pub const SPILL_MARKER: Hazards = Hazards(2);
    /// An OpenAI replay payload over content that is no array or holds `null`: opening throws.
    pub const REPLAY_PAYLOAD: Hazards = Hazards(4);
    /// A blob reference longer than a file name may be (0.15): opening throws `ENAMETOOLONG`.
    pub const LONG_REFERENCE: Hazards = Hazards(8);
    /// A blob reference with a NUL (0.15): opening throws.
    pub const NUL_REFERENCE: Hazards = Hazards(16);

    /// Those that throw wherever the entry stands: hydration and sanitation walk every entry.
    pub const ANYWHERE: Hazards = Hazards(Self::REPLAY_PAYLOAD.0 | Self::LONG_REFERENCE.0 | Self::NUL_REFERENCE.0);
    /// Those that throw when the entry is materialised for a context.
    pub const IN_CONTEXT: Hazards = Hazards(Self::NULL_BLOCK.0 | Self::SPILL_MARKER.0);

    /// True without hazards.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// True when both sets share a hazard.
    pub const fn any(self, of: Hazards) -> bool {
        self.0 & of.0 != 0
    }
    /// Both sets.
    #[must_use]
    pub const fn with(self, other: Hazards) -> Hazards {
        Hazards(self.0 | other.0)
    }
}

/// What the message of a `message` entry does, marker and references excluded.
fn of_message<'v, V: View<'v>>(message: V) -> Hazards {
    let mut hazards = Hazards::NONE;
    if Role::of(message) != Role::Assistant {
        return hazards;
    }
    let content = message.get("content");
    let holds_null = content.is_some_and(|content| content.items().any(|block| block.kind() == Kind::Null));
    if holds_null {
        hazards = hazards.with(Hazards::NULL_BLOCK);
    }
    let replays = message.get("providerPayload").and_then(|p| p.get("type")).is_some_and(|t| t.is_str("openaiResponsesHistory"));
    if replays && (holds_null || content.is_none_or(|content| content.kind() != Kind::Array)) {
        hazards = hazards.with(Hazards::REPLAY_PAYLOAD);
    }
    hazards
}

/// The hazards of blob references anywhere in an entry.
fn of_references<'v, V: View<'v>>(entry: V, release: Release) -> Hazards {
    let mut hazards = Hazards::NONE;
    if !Difference::BlobReferenceGrammar.in_effect(release) {
        blobs::live_references(entry, |text| {
            let name = &text[REFERENCE_PREFIX.len()..];
            if name.contains(&0) {
                hazards = hazards.with(Hazards::NUL_REFERENCE);
            } else if name.len() > LONGEST_FILE_NAME {
                hazards = hazards.with(Hazards::LONG_REFERENCE);
            }
        });
    }
    hazards
}

const LONGEST_FILE_NAME: usize = 255;

/// What a spill marker (`evictedContent`) can do to its entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marker {
    /// Nothing: there is none, or every payload can be read.
    Harmless,
    /// Materialising throws, whatever the content is.
    Throws,
    /// Materialising throws when the content has a value at the path of a wrong payload: a patch may change the answer.
    Depends,
}

/// Judges the `evictedContent` of an entry.
pub fn of_marker<'v, V: View<'v>>(evicted: Option<V>) -> Marker {
    let Some(evicted) = evicted.filter(|evicted| evicted.kind() != Kind::Null) else { return Marker::Harmless };
    match evicted.get_present("payloads") {
        None => Marker::Throws,
        Some(payloads) if payloads.members().any(|(_, payload)| is_wrong(payload)) => Marker::Depends,
        Some(_) => Marker::Harmless,
    }
}

/// A payload that is taken and cannot be read: truthy, but no object with a string `ref`, or one whose `ref` lacks the
/// prefix while there is no string `sha256`.
fn is_wrong<'v, V: View<'v>>(payload: V) -> bool {
    payload.truthy()
        && match payload.str_member("ref") {
            Some(reference) => !reference.starts_with(REFERENCE_PREFIX.as_bytes()) && payload.str_member("sha256").is_none(),
            None => true,
        }
}

/// The payloads of a marker that are taken (falsy ones are not), by path: whether each is wrong. Ordered by path.
struct Payloads<'v>(Vec<(Cow<'v, [u8]>, bool)>);

/// The payloads whose paths begin with the path of a value: a range of [`Payloads`], and the length of that path.
#[derive(Clone, Copy)]
struct Reach {
    from: usize,
    to: usize,
    length: usize,
}

impl<'v> Payloads<'v> {
    fn of<V: View<'v>>(evicted: V) -> Self {
        let payloads = evicted.get("payloads").into_iter().flat_map(View::members);
        let mut taken: Vec<_> = payloads.filter(|(_, payload)| payload.truthy()).map(|(path, payload)| (path, is_wrong(payload))).collect();
        taken.sort_unstable();
        Payloads(taken)
    }
    /// Narrows a reach to the paths that `order` calls equal; it must never decrease along the list.
    fn narrow(&self, reach: Reach, length: usize, order: impl Fn(&[u8]) -> Ordering) -> Reach {
        let paths = &self.0[reach.from..reach.to];
        let from = reach.from + paths.partition_point(|(path, _)| order(path).is_lt());
        let to = reach.from + paths.partition_point(|(path, _)| order(path).is_le());
        Reach { from, to, length }
    }
    /// The payloads at and below the path `root`.
    fn root(&self, root: &str) -> Reach {
        let all = Reach { from: 0, to: self.0.len(), length: 0 };
        self.narrow(all, root.len(), |path| path[..path.len().min(root.len())].cmp(root.as_bytes()))
    }
    /// The payloads at and below the member `key` of a value, without putting a path together.
    fn below(&self, reach: Reach, key: &[u8]) -> Reach {
        self.narrow(reach, reach.length + 1 + key.len(), |path| match path[reach.length..].split_first() {
            None => Ordering::Less,
            Some((b'.', rest)) => rest[..rest.len().min(key.len())].cmp(key),
            Some((other, _)) => other.cmp(&b'.'),
        })
    }
    /// Whether the payload at exactly this path is wrong; none when there is none.
    fn at(&self, reach: Reach) -> Option<bool> {
        self.0[reach.from..reach.to].first().filter(|(path, _)| path.len() == reach.length).map(|(_, wrong)| *wrong)
    }
    /// Whether the payload of this name is wrong; none when there is none.
    fn named(&self, path: &[u8]) -> Option<bool> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(path)).ok().map(|at| self.0[at].1)
    }
}

/// True when rehydrating the content of an entry takes a wrong payload: a value stands at its path, or an arguments
/// sentinel names it. `root` is `message.content` or `custom_message.content`.
fn meets_wrong_payload<'v, 'w, V: View<'v>, W: View<'w>>(evicted: V, root: &str, content: Option<W>) -> bool {
    let payloads = Payloads::of(evicted);
    let mut met = false;
    // Containers still to be looked at. A value that is taken is replaced: nothing in it is looked at.
    let mut pending = Vec::new();
    let mut visit = |value: W, reach: Reach, pending: &mut Vec<(W, Reach)>| {
        let sentinel = value.get("__gjcColdSpillArguments").and_then(View::as_bool) == Some(true);
        let named = if sentinel { value.str_member("refPath") } else { None };
        match payloads.at(reach).or_else(|| payloads.named(&named?)) {
            Some(wrong) => met |= wrong,
            None if matches!(value.kind(), Kind::Array | Kind::Object) => pending.push((value, reach)),
            None => {}
        }
    };
    if let Some(content) = content {
        visit(content, payloads.root(root), &mut pending);
    }
    while let Some((value, reach)) = pending.pop() {
        let unreached = reach.from == reach.to;
        for (index, item) in value.items().enumerate() {
            // Most values reach nothing: their places are not even numbered.
            let below = if unreached { reach } else { payloads.below(reach, index.to_string().as_bytes()) };
            visit(item, below, &mut pending);
        }
        for (key, member) in value.members() {
            let below = if unreached { reach } else { payloads.below(reach, &key) };
            visit(member, below, &mut pending);
        }
    }
    met
}

/// All hazards of an entry; `kind` is its kind.
pub fn of_entry<'v, V: View<'v>>(entry: V, kind: EntryKind, release: Release) -> Hazards {
    let (message, content, root) = match kind {
        EntryKind::Session => return Hazards::NONE,
        EntryKind::Message => {
            let message = entry.get("message");
            (message, message.and_then(|message| message.get("content")), "message.content")
        }
        EntryKind::CustomMessage => (None, entry.get("content"), "custom_message.content"),
        _ => return of_references(entry, release),
    };
    of_evicted(entry.get("evictedContent"), root, content)
        .with(message.map_or(Hazards::NONE, of_message))
        .with(of_references(entry, release))
}

/// All hazards of a `message` entry whose message was replaced by a patch; `evicted` is its `evictedContent` unless
/// [`of_marker`] called it harmless.
pub fn of_patched_message<'v, V: View<'v>>(message: V, evicted: Option<&Value>, release: Release) -> Hazards {
    of_evicted(evicted, "message.content", message.get("content")).with(of_message(message)).with(of_references(message, release))
}

fn of_evicted<'v, 'w, V: View<'v>, W: View<'w>>(evicted: Option<V>, root: &str, content: Option<W>) -> Hazards {
    let throws = match (of_marker(evicted), evicted) {
        (Marker::Throws, _) => true,
        (Marker::Depends, Some(evicted)) => meets_wrong_payload(evicted, root, content),
        _ => false,
    };
    if throws { Hazards::SPILL_MARKER } else { Hazards::NONE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hazards(entry: &str, release: Release) -> Hazards {
        let entry = Value::parse(entry.as_bytes()).unwrap();
        of_entry(&entry, EntryKind::of(&entry), release)
    }
    fn message(message: &str) -> Hazards {
        hazards(&format!(r#"{{"type":"message","message":{message}}}"#), Release::V0_17)
    }
    fn evicted(content: &str, evicted: &str) -> bool {
        hazards(&format!(r#"{{"type":"custom_message","content":{content},"evictedContent":{evicted}}}"#), Release::V0_17)
            .any(Hazards::SPILL_MARKER)
    }

    #[test]
    fn a_null_block_counts_in_assistant_content_only() {
        assert_eq!(message(r#"{"role":"assistant","content":[{},null]}"#), Hazards::NULL_BLOCK);
        assert_eq!(message(r#"{"role":"user","content":[null]}"#), Hazards::NONE);
        assert_eq!(message(r#"{"role":"assistant","content":[5,[],"x"]}"#), Hazards::NONE);
    }

    #[test]
    fn a_replay_payload_needs_an_array_of_blocks() {
        for content in ["\"x\"", "5", "null", "{}"] {
            let text = format!(r#"{{"role":"assistant","content":{content},"providerPayload":{{"type":"openaiResponsesHistory"}}}}"#);
            assert_eq!(message(&text), Hazards::REPLAY_PAYLOAD, "{content}");
        }
        assert_eq!(message(r#"{"role":"assistant","content":[],"providerPayload":{"type":"openaiResponsesHistory"}}"#), Hazards::NONE);
    }

    #[test]
    fn a_marker_is_absent_or_null_or_has_payloads() {
        for marker in ["\"s\"", "5", "true", "false", "0", "[]", r#"{"payloads":null}"#] {
            assert!(evicted("\"\"", marker), "{marker}");
        }
        for marker in ["null", r#"{"payloads":[]}"#, r#"{"payloads":"x"}"#, r#"{"payloads":7}"#] {
            assert!(!evicted("\"\"", marker), "{marker}");
        }
    }

    #[test]
    fn a_wrong_payload_throws_where_its_path_is_met() {
        let marker = |path: &str, payload: &str| format!(r#"{{"payloads":{{"{path}":{payload}}}}}"#);
        for payload in ["5", "\"s\"", "[]", "{}", r#"{"ref":null}"#, r#"{"ref":"abc"}"#] {
            assert!(evicted(r#"[{"text":"x"}]"#, &marker("custom_message.content.0.text", payload)), "{payload}");
            assert!(!evicted(r#"[{"text":"x"}]"#, &marker("custom_message.content.1.text", payload)), "{payload}");
        }
        for payload in ["null", "0", "\"\"", r#"{"ref":"blob:sha256:x"}"#, r#"{"ref":"","sha256":"x"}"#] {
            assert!(!evicted(r#"[{"text":"x"}]"#, &marker("custom_message.content.0.text", payload)), "{payload}");
        }
        assert!(evicted(r#"[{"arguments":{"__gjcColdSpillArguments":true,"refPath":"q"}}]"#, &marker("q", "{}")));
        assert!(evicted("\"whole\"", &marker("custom_message.content", "{}")));
        assert!(evicted(r#"[{"arguments":{"a.b":{"c":1}}}]"#, &marker("custom_message.content.0.arguments.a.b.c", "{}")));
        for other in
            ["custom_message.content.0.texts", "custom_message.content.0.tex", "custom_message.contents", "custom_message.content.00.text"]
        {
            assert!(!evicted(r#"[{"text":"x"}]"#, &marker(other, "{}")), "{other}");
        }
    }

    #[test]
    fn what_a_good_payload_replaces_is_not_looked_at() {
        let payloads = r#"{"payloads":{"custom_message.content.0":{"ref":"blob:sha256:x"},"custom_message.content.0.text":{}}}"#;
        assert!(!evicted(r#"[{"text":"x"}]"#, payloads));
    }

    #[test]
    fn an_impossible_reference_is_a_hazard_of_0_15() {
        let entry = |name: &str| format!(r#"{{"type":"custom","data":{{"data":"blob:sha256:{name}"}}}}"#);
        assert_eq!(hazards(&entry(&"b".repeat(255)), Release::V0_15), Hazards::NONE);
        assert_eq!(hazards(&entry(&"b".repeat(256)), Release::V0_15), Hazards::LONG_REFERENCE);
        assert_eq!(hazards(&entry("a\\u0000"), Release::V0_15), Hazards::NUL_REFERENCE);
        assert_eq!(hazards(&entry(&"b".repeat(256)), Release::V0_17), Hazards::NONE);
    }
}
