//! What makes opening fail although strict inspection accepts the file (spec 01 §2.5, 01a 1–7): found entry by entry,
//! so that a check needs no second look at a record.

use super::blobs::{self, REFERENCE_PREFIX, Unreadable};
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
    /// A blob reference that names a directory (0.15): opening throws `EISDIR`.
    pub const DIRECTORY_REFERENCE: Hazards = Hazards(32);
    /// A payload that is taken and whose blob has too long a name: building the live context throws `ENAMETOOLONG`.
    pub const LONG_PAYLOAD: Hazards = Hazards(64);
    /// A payload that is taken and whose blob names a directory: building the live context throws `EISDIR`.
    pub const DIRECTORY_PAYLOAD: Hazards = Hazards(128);

    /// Blob references that make hydration throw, wherever the entry stands.
    pub const REFERENCE: Hazards = Self::LONG_REFERENCE.with(Self::NUL_REFERENCE).with(Self::DIRECTORY_REFERENCE);
    /// Those that throw wherever the entry stands: hydration, then sanitation, walk every entry.
    pub const ANYWHERE: Hazards = Self::REFERENCE.with(Self::REPLAY_PAYLOAD);
    /// Payloads that throw when they are rehydrated.
    pub const PAYLOAD: Hazards = Self::SPILL_MARKER.with(Self::LONG_PAYLOAD).with(Self::DIRECTORY_PAYLOAD);
    /// Those that throw when the entry is materialised for a context.
    pub const IN_CONTEXT: Hazards = Self::NULL_BLOCK.with(Self::PAYLOAD);

    /// The `code` of the error that the first of these throws, if it has one.
    pub const fn code(self) -> Option<&'static str> {
        if self.any(Self::NUL_REFERENCE.with(Self::SPILL_MARKER)) {
            None
        } else if self.any(Self::LONG_REFERENCE.with(Self::LONG_PAYLOAD)) {
            Some("ENAMETOOLONG")
        } else if self.any(Self::DIRECTORY_REFERENCE.with(Self::DIRECTORY_PAYLOAD)) {
            Some("EISDIR")
        } else {
            None
        }
    }

    /// True without hazards.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// True when both sets share a hazard.
    pub const fn any(self, of: Hazards) -> bool {
        self.0 & of.0 != 0
    }
    /// What both sets share.
    #[must_use]
    pub const fn of(self, of: Hazards) -> Hazards {
        Hazards(self.0 & of.0)
    }
    /// Both sets.
    #[must_use]
    pub const fn with(self, other: Hazards) -> Hazards {
        Hazards(self.0 | other.0)
    }
}

/// What the message of a `message` entry does, references excluded; `payloads` are those of its marker.
fn of_message<'v, V: View<'v>>(message: V, payloads: &Payloads) -> Hazards {
    let mut hazards = Hazards::NONE;
    if Role::of(message) != Role::Assistant {
        return hazards;
    }
    let content = message.get("content");
    let is_null = |block: &V| block.kind() == Kind::Null;
    let nulls = || content.into_iter().flat_map(View::items).enumerate().filter(|(_, block)| is_null(block)).map(|(index, _)| index);
    // The context is built of what stands there after rehydration: a payload's text takes the place of a null.
    let stays = |index: usize| payloads.named(format!("{MESSAGE}.content.{index}").as_bytes()).is_none();
    if !["message.role", "message.content"].into_iter().any(|path| payloads.named(path.as_bytes()).is_some()) && nulls().any(stays) {
        hazards = hazards.with(Hazards::NULL_BLOCK);
    }
    let replays = message.get("providerPayload").and_then(|p| p.get("type")).is_some_and(|t| t.is_str("openaiResponsesHistory"));
    if replays && (nulls().next().is_some() || content.is_none_or(|content| content.kind() != Kind::Array)) {
        hazards = hazards.with(Hazards::REPLAY_PAYLOAD);
    }
    hazards
}

/// The path that the payloads of a `message` entry begin with.
const MESSAGE: &str = "message";
/// The path that the payloads of a `custom_message` entry begin with.
const CUSTOM_MESSAGE: &str = "custom_message";

/// The hazards of blob references anywhere in an entry.
fn of_references<'v, V: View<'v>>(entry: V, release: Release) -> Hazards {
    let mut hazards = Hazards::NONE;
    if !Difference::BlobReferenceGrammar.in_effect(release) {
        blobs::live_references(entry, |text| {
            let name = &text[REFERENCE_PREFIX.len()..];
            // The empty name is no reference.
            hazards = hazards.with(match blobs::unreadable(name).filter(|_| !name.is_empty()) {
                None => Hazards::NONE,
                Some(Unreadable::Nul) => Hazards::NUL_REFERENCE,
                Some(Unreadable::TooLong) => Hazards::LONG_REFERENCE,
                Some(Unreadable::Directory) => Hazards::DIRECTORY_REFERENCE,
            });
        });
    }
    hazards
}

/// What a spill marker (`evictedContent`) can do to its entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marker {
    /// Nothing: there is none, or every payload can be read and replaces a text.
    Harmless,
    /// Materialising throws, whatever the content is.
    Throws,
    /// Materialising throws or not as the content has values at the paths of payloads: a patch may change the answer.
    Depends,
}

/// Judges the `evictedContent` of an entry.
pub fn of_marker<'v, V: View<'v>>(evicted: Option<V>, release: Release) -> Marker {
    let Some(evicted) = evicted.filter(|evicted| evicted.kind() != Kind::Null) else { return Marker::Harmless };
    let depends =
        |(path, payload): (Cow<'_, [u8]>, V)| payload.truthy() && (!of_payload(payload, release).is_empty() || may_hold_null(&path));
    match evicted.get_present("payloads") {
        None => Marker::Throws,
        Some(payloads) if payloads.members().any(depends) => Marker::Depends,
        Some(_) => Marker::Harmless,
    }
}

/// True for the path of a whole message, of its role, its content, or one block of it.
fn may_hold_null(path: &[u8]) -> bool {
    let block = |rest: &[u8]| rest.iter().all(u8::is_ascii_digit);
    matches!(path, b"message" | b"message.role" | b"message.content") || path.strip_prefix(b"message.content.").is_some_and(block)
}

/// What a payload does where it is taken. It cannot be read when it is no object with a string `ref`, or one whose `ref`
/// lacks the prefix while there is no string `sha256`. What its blob is missing for is told in its place, unless the
/// name is none that can be asked for: 0.15 asks before it compares `ref` and `sha256` (04 §5.8 has it the other way
/// round).
fn of_payload<'v, V: View<'v>>(payload: V, release: Release) -> Hazards {
    let Some(reference) = payload.str_member("ref") else { return Hazards::SPILL_MARKER };
    let sha256 = payload.str_member("sha256");
    let Some(name) = reference.strip_prefix(REFERENCE_PREFIX.as_bytes()).or(sha256.as_deref()) else { return Hazards::SPILL_MARKER };
    if Difference::BlobReferenceGrammar.in_effect(release) && sha256.as_deref() != Some(name) {
        return Hazards::NONE;
    }
    match blobs::unreadable(name) {
        None => Hazards::NONE,
        Some(Unreadable::Nul) => Hazards::SPILL_MARKER,
        Some(Unreadable::TooLong) => Hazards::LONG_PAYLOAD,
        Some(Unreadable::Directory) => Hazards::DIRECTORY_PAYLOAD,
    }
}

/// The payloads of a marker that are taken (falsy ones are not), by path: what each does. Ordered by path.
#[derive(Default)]
struct Payloads<'v>(Vec<(Cow<'v, [u8]>, Hazards)>);

/// The payloads whose paths begin with the path of a value: a range of [`Payloads`], and the length of that path.
#[derive(Clone, Copy)]
struct Reach {
    from: usize,
    to: usize,
    length: usize,
}

impl<'v> Payloads<'v> {
    fn of<V: View<'v>>(evicted: Option<V>, release: Release) -> Self {
        let payloads = evicted.and_then(|evicted| evicted.get("payloads")).into_iter().flat_map(View::members);
        let taken = payloads.filter(|(_, payload)| payload.truthy());
        let mut taken: Vec<_> = taken.map(|(path, payload)| (path, of_payload(payload, release))).collect();
        taken.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
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
    /// What the payload at exactly this path does; none when there is none.
    fn at(&self, reach: Reach) -> Option<Hazards> {
        self.0[reach.from..reach.to].first().filter(|(path, _)| path.len() == reach.length).map(|(_, does)| *does)
    }
    /// What the payload of this name does; none when there is none.
    fn named(&self, path: &[u8]) -> Option<Hazards> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(path)).ok().map(|at| self.0[at].1)
    }
}

/// What rehydrating a value takes: payloads at whose path a value stands, or which an arguments sentinel names. `root` is
/// the path of the value. Members named `evictedContent` are passed by.
fn rehydrated<'w, W: View<'w>>(payloads: &Payloads, root: &str, value: Option<W>) -> Hazards {
    let mut met = Hazards::NONE;
    // Containers still to be looked at. A value that is taken is replaced: nothing in it is looked at.
    let mut pending = Vec::new();
    let mut visit = |value: W, reach: Reach, pending: &mut Vec<(W, Reach)>| {
        if let Some(does) = payloads.at(reach) {
            met = met.with(does);
            return;
        }
        let sentinel = value.get("__gjcColdSpillArguments").and_then(View::as_bool) == Some(true);
        // A sentinel whose payload is not there stays as it is.
        if let Some(path) = if sentinel { value.str_member("refPath") } else { None } {
            met = met.with(payloads.named(&path).unwrap_or_default());
        } else if matches!(value.kind(), Kind::Array | Kind::Object) {
            pending.push((value, reach));
        }
    };
    if let Some(value) = value {
        visit(value, payloads.root(root), &mut pending);
    }
    while let Some((value, reach)) = pending.pop() {
        let unreached = reach.from == reach.to;
        for (index, item) in value.items().enumerate() {
            // Most values reach nothing: their places are not even numbered.
            let below = if unreached { reach } else { payloads.below(reach, index.to_string().as_bytes()) };
            visit(item, below, &mut pending);
        }
        for (key, member) in value.members().filter(|(key, _)| **key != *b"evictedContent") {
            let below = if unreached { reach } else { payloads.below(reach, &key) };
            visit(member, below, &mut pending);
        }
    }
    met
}

/// All hazards of an entry; `kind` is its kind.
pub fn of_entry<'v, V: View<'v>>(entry: V, kind: EntryKind, release: Release) -> Hazards {
    let evicted = entry.get("evictedContent");
    let own = match kind {
        EntryKind::Session => return Hazards::NONE,
        EntryKind::Message => of_message_entry(entry.get(MESSAGE), evicted, release),
        EntryKind::CustomMessage => of_evicted(evicted, CUSTOM_MESSAGE, Some(entry), release).0,
        _ => Hazards::NONE,
    };
    own.with(of_references(entry, release))
}

/// All hazards of a `message` entry whose message was replaced by a patch; `evicted` is its `evictedContent` unless
/// [`of_marker`] called it harmless.
pub fn of_patched_message<'v, V: View<'v>>(message: V, evicted: Option<&Value>, release: Release) -> Hazards {
    of_message_entry(Some(message), evicted, release).with(of_references(message, release))
}

fn of_message_entry<'v, 'w, V: View<'v>, W: View<'w>>(message: Option<W>, evicted: Option<V>, release: Release) -> Hazards {
    let (mut hazards, payloads) = of_evicted(evicted, MESSAGE, message, release);
    // A text in place of the whole message is no message.
    if payloads.named(MESSAGE.as_bytes()) == Some(Hazards::NONE) {
        hazards = hazards.with(Hazards::SPILL_MARKER);
    }
    hazards.with(message.map_or(Hazards::NONE, |message| of_message(message, &payloads)))
}

/// What the marker of an entry does to the value at the path `root`, and its payloads.
fn of_evicted<'v, 'w, V: View<'v>, W: View<'w>>(
    evicted: Option<V>,
    root: &str,
    value: Option<W>,
    release: Release,
) -> (Hazards, Payloads<'v>) {
    match of_marker(evicted, release) {
        Marker::Harmless => (Hazards::NONE, Payloads::default()),
        Marker::Throws => (Hazards::SPILL_MARKER, Payloads::default()),
        Marker::Depends => {
            let payloads = Payloads::of(evicted, release);
            (rehydrated(&payloads, root, value), payloads)
        }
    }
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
    fn payloads_are_met_in_the_whole_message_and_in_the_whole_custom_entry() {
        let marker = |path: &str| format!(r#"{{"payloads":{{"{path}":5}}}}"#);
        let in_message = |path: &str| {
            let text = format!(
                r#"{{"type":"message","message":{{"role":"user","content":"x","timestamp":1,"evictedContent":{{"a":1}}}},"evictedContent":{}}}"#,
                marker(path)
            );
            hazards(&text, Release::V0_17) == Hazards::SPILL_MARKER
        };
        for path in ["message", "message.role", "message.timestamp", "message.content"] {
            assert!(in_message(path), "{path}");
        }
        for path in ["message.details", "message.evictedContent.a", "custom_message", ""] {
            assert!(!in_message(path), "{path}");
        }
        for path in ["custom_message", "custom_message.type", "custom_message.evictedContent"] {
            assert_eq!(evicted("\"\"", &marker(path)), !path.ends_with("evictedContent"), "{path}");
        }
    }

    #[test]
    fn a_sentinel_whose_payload_is_not_there_is_left_alone() {
        let content = |path: &str| format!(r#"[{{"arguments":{{"__gjcColdSpillArguments":true,"refPath":{path},"notice":"N"}}}}]"#);
        let marker = r#"{"payloads":{"custom_message.content.0.arguments.notice":5}}"#;
        assert!(!evicted(&content("\"nope\""), marker));
        assert!(evicted(&content("7"), marker));
    }

    #[test]
    fn a_payload_takes_the_place_of_a_null_block_or_of_the_message() {
        let with = |path: &str| {
            let name = "a".repeat(64);
            let text = format!(
                r#"{{"type":"message","message":{{"role":"assistant","content":[null]}},"evictedContent":{{"payloads":{{"{path}":{{"ref":"blob:sha256:{name}","sha256":"{name}"}}}}}}}}"#
            );
            hazards(&text, Release::V0_17)
        };
        for path in ["message.content.0", "message.content", "message.role"] {
            assert_eq!(with(path), Hazards::NONE, "{path}");
        }
        for path in ["message.content.1", "message.content.00", "message.model"] {
            assert_eq!(with(path), Hazards::NULL_BLOCK, "{path}");
        }
        assert!(with("message").any(Hazards::SPILL_MARKER));
    }

    #[test]
    fn a_payload_whose_blob_has_no_possible_name_throws_with_the_code_of_the_read() {
        let with = |reference: &str, sha256: &str, release: Release| {
            let text = format!(
                r#"{{"type":"custom_message","content":"x","evictedContent":{{"payloads":{{"custom_message.content":{{"ref":"{reference}","sha256":"{sha256}"}}}}}}}}"#
            );
            hazards(&text, release)
        };
        let long = "b".repeat(256);
        assert_eq!(with("blob:sha256:", "x", Release::V0_15), Hazards::DIRECTORY_PAYLOAD);
        assert_eq!(with("", "..", Release::V0_15), Hazards::DIRECTORY_PAYLOAD);
        assert_eq!(with(&format!("blob:sha256:{long}"), "x", Release::V0_15), Hazards::LONG_PAYLOAD);
        assert_eq!(with("blob:sha256:a\\u0000", "x", Release::V0_15), Hazards::SPILL_MARKER);
        assert_eq!(with(&format!("blob:sha256:{}", &long[1..]), "x", Release::V0_15), Hazards::NONE);
        // The newer one compares the two first.
        assert_eq!(with("blob:sha256:.", "x", Release::V0_17), Hazards::NONE);
        assert_eq!(with("blob:sha256:.", ".", Release::V0_17), Hazards::DIRECTORY_PAYLOAD);
        assert_eq!(
            [Hazards::DIRECTORY_PAYLOAD.code(), Hazards::LONG_PAYLOAD.code(), Hazards::SPILL_MARKER.code()],
            [Some("EISDIR"), Some("ENAMETOOLONG"), None]
        );
    }

    #[test]
    fn an_impossible_reference_is_a_hazard_of_0_15() {
        let entry = |name: &str| format!(r#"{{"type":"custom","data":{{"data":"blob:sha256:{name}"}}}}"#);
        assert_eq!(hazards(&entry(&"b".repeat(255)), Release::V0_15), Hazards::NONE);
        assert_eq!(hazards(&entry(&"b".repeat(256)), Release::V0_15), Hazards::LONG_REFERENCE);
        assert_eq!(hazards(&entry("a\\u0000"), Release::V0_15), Hazards::NUL_REFERENCE);
        assert_eq!(hazards(&entry(".."), Release::V0_15), Hazards::DIRECTORY_REFERENCE);
        assert_eq!(hazards(&entry(""), Release::V0_15), Hazards::NONE);
        assert_eq!(hazards(&entry(&"b".repeat(256)), Release::V0_17), Hazards::NONE);
    }
}
