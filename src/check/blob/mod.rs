//! The area *blob* of spec 05, as far as a transcript can tell: references, placeholders, leaked sentinels and cold
//! spill, and with a known blob store also what the references lead to. What the store itself holds is checked with
//! the agent directory.

pub mod codes;
pub mod store;

use super::size::is_inline_image;
use super::transcript::content::Content;
use super::transcript::held::Held;
use super::transcript::signs::{DATA_URL_PREFIX, LONG_UNITS, PLACEHOLDER_PREFIX, SPILL_NOTICE, Sign};
use super::words::{bytes, shortened, with_article};
use crate::finding::Finding;
use crate::json::text::wtf8_lossy;
use crate::json::{Kind, Node, View, Walk};
use crate::transcript::EntryKind;
use crate::transcript::blobs::{self, BlobSource, Live, REFERENCE_PREFIX, Stored, Under};
use std::collections::{HashMap, HashSet};

/// Whether gjc resolves a reference string at the place a walk stands at, and to what.
fn live_position(walk: &Walk<'_>, value: Node<'_>) -> Option<Live> {
    let key = value.member_key()?.as_str()?;
    let container = walk.container()?;
    let under = if container.member_key().is_some_and(|key| key.is_str("image_url")) {
        Under::ImageUrl
    } else if walk.container_key().is_some_and(|key| key.is_str("content")) {
        Under::Content
    } else {
        Under::Other
    };
    blobs::live(&key, under, || blobs::is_image(container))
}

/// The pass over contents.
pub struct BlobPass<'s> {
    store: Option<&'s dyn BlobSource>,
    /// Paths of the cold-spill payloads of entries that have some.
    payloads: HashMap<usize, HashSet<String>>,
}

impl<'s> BlobPass<'s> {
    /// A pass that has seen nothing. Without a store nothing is said about blobs themselves.
    pub fn new(store: Option<&'s dyn BlobSource>) -> Self {
        BlobPass { store, payloads: HashMap::new() }
    }

    /// Judges the content that a record brings.
    pub fn judge(&mut self, content: &Content<'_>, held: &mut Held) {
        const LOOK: [Sign; 5] = [Sign::Reference, Sign::Placeholder, Sign::Sentinel, Sign::Spill, Sign::LongData];
        // Every entry is walked except headers (04 §5.6); what is no object or of no known type is reported as that.
        if !content.signs.any(&LOOK) || matches!(content.kind, EntryKind::Session | EntryKind::NonRecord) {
            return;
        }
        self.marker(content, held);
        self.walk(content, held);
    }

    /// The `evictedContent` marker of an entry (spec 01 §4.5).
    fn marker(&mut self, content: &Content<'_>, held: &mut Held) {
        if content.from_patch || !matches!(content.kind, EntryKind::Message | EntryKind::CustomMessage) {
            return;
        }
        // `null` is as good as absent (01a.1).
        let Some(marker) = content.root.get_present("evictedContent") else { return };
        let mut paths = HashSet::new();
        let mut fault = marker_fault(marker);
        for (path, payload) in marker.get("payloads").into_iter().flat_map(View::members) {
            let path = wtf8_lossy(&path);
            fault = fault.or_else(|| payload_fault(content.kind, &path, payload));
            if let Some(name) = payload.str_member("ref").and_then(|text| blobs::canonical(&text).map(str::to_owned)) {
                self.spilled(content, payload, &path, &name, held);
            }
            paths.insert(path);
        }
        if let Some((what, node)) = fault {
            let message = format!("The cold-spill marker is not as gjc writes it: {what}.");
            held.push(
                content.entry,
                false,
                Finding::new(&codes::SPILL_MARKER_INVALID, content.place(node, Some("/evictedContent".to_owned())), message),
            );
        }
        self.payloads.insert(content.entry, paths);
    }

    /// The blob of a payload.
    fn spilled(&self, content: &Content<'_>, payload: Node<'_>, path: &str, name: &str, held: &mut Held) {
        let Some(store) = self.store else { return };
        let what = match store.stored(name) {
            Stored::Missing => "is missing",
            Stored::Unknown => return,
            Stored::File { .. } if store.intact(name) == Some(false) => "does not hash to its name",
            Stored::File { .. } if payload.get("encoding").is_some_and(|encoding| encoding.is_str("json")) && !holds_json(store, name) => {
                "is no JSON"
            }
            Stored::File { .. } => return,
        };
        let message = format!("The blob {name} of the evicted `{}` {what}.", shortened(path));
        let place = content.place(payload, Some(format!("/evictedContent/payloads/{}", path.replace('~', "~0").replace('/', "~1"))));
        held.push(content.entry, false, Finding::new(&codes::SPILL_BLOB_MISSING, place, message));
    }

    fn walk(&self, content: &Content<'_>, held: &mut Held) {
        let mut seen: HashSet<(&'static str, String)> = HashSet::new();
        let no_paths = HashSet::new();
        let paths = self.payloads.get(&content.entry).unwrap_or(&no_paths);
        // End of the marker and of sentinels: what they hold is judged with them.
        let mut behind = 0;
        let mut walk = Walk::new(content.root);
        while let Some(value) = walk.next() {
            if value.slot_index() < behind {
                continue;
            }
            match value.kind() {
                Kind::Object => {
                    let is_true = |key| value.get(key).is_some_and(|member| member.as_bool() == Some(true));
                    if !content.from_patch && walk.depth() == 1 && value.member_key().is_some_and(|key| key.is_str("evictedContent")) {
                        behind = value.slot_end();
                    } else if content.signs.has(Sign::Sentinel) && is_true("__gjcResidentBlob") {
                        behind = value.slot_end();
                        let fate = match well_formed_sentinel(value) {
                            Some("text") => "it turns into the text for a missing blob",
                            Some(_) => "gjc takes it for a reference to the blob",
                            None => "the model gets the object itself",
                        };
                        let message = format!("An object of the memory-only cache was written to disk; {fate}.");
                        content.found_at(&walk, value, held, &codes::RESIDENT_SENTINEL_ON_DISK, message);
                    } else if content.signs.has(Sign::Spill) && is_true("__gjcColdSpillArguments") {
                        behind = value.slot_end();
                        let named = value.str_member("refPath").map(|path| wtf8_lossy(&path));
                        let path = spill_path(content, &walk);
                        if !path.into_iter().chain(named).any(|path| paths.contains(&path)) {
                            let message = "Evicted tool-call arguments have no payload in the entry's marker.".to_owned();
                            content.found_at(&walk, value, held, &codes::SPILL_PLACEHOLDER_WITHOUT_MARKER, message);
                        }
                    }
                }
                Kind::String => self.string(content, &walk, value, paths, &mut seen, held),
                _ => {}
            }
        }
    }

    fn string<'v>(
        &self,
        content: &Content<'v>,
        walk: &Walk<'v>,
        value: Node<'v>,
        paths: &HashSet<String>,
        seen: &mut HashSet<(&'static str, String)>,
        held: &mut Held,
    ) {
        // Every text of this area is told by its first bytes or by its length.
        let Some(raw) = value.raw_str() else { return };
        if raw.len() < LONG_UNITS && !matches!(raw, [b'b' | b'[' | b'\\', ..]) {
            return;
        }
        let Some(text) = value.as_str() else { return };
        if text.starts_with(REFERENCE_PREFIX.as_bytes()) {
            self.reference(content, walk, value, &text, seen, held);
        } else if let Some(name) = placeholder(&text) {
            let known = match self.store.map(|store| store.stored(name)) {
                Some(Stored::File { .. }) => " A blob of that hash exists.",
                Some(Stored::Missing) => " No blob of that hash exists.",
                Some(Stored::Unknown) | None => "",
            };
            let message = format!("The text for the missing blob {name} was stored in place of the reference.{known}");
            content.found_at(walk, value, held, &codes::BLOB_PLACEHOLDER_PERSISTED, message);
        } else if *text == *SPILL_NOTICE {
            if !spill_path(content, walk).is_some_and(|path| paths.contains(&path)) {
                let message = "The eviction notice stands where no payload of the entry's marker belongs.".to_owned();
                content.found_at(walk, value, held, &codes::SPILL_PLACEHOLDER_WITHOUT_MARKER, message);
            }
        } else if is_inline_image(walk, value, &text) == Some(false) {
            let message = format!("An inline image of {} is no canonical Base64.", bytes(text.len() as u64));
            content.found_at(walk, value, held, &codes::IMAGE_BASE64_NONCANONICAL, message);
        }
    }

    fn reference<'v>(
        &self,
        content: &Content<'v>,
        walk: &Walk<'v>,
        value: Node<'v>,
        text: &[u8],
        seen: &mut HashSet<(&'static str, String)>,
        held: &mut Held,
    ) {
        let Some(live) = live_position(walk, value) else {
            if let Some(name) = blobs::canonical(text)
                && seen.insert(("inert", name.to_owned()))
            {
                let message = format!("The reference to {name} stands where gjc never resolves it.");
                content.found_at(walk, value, held, &codes::BLOB_REF_INERT, message);
            }
            return;
        };
        let Some(name) = blobs::canonical(text) else {
            let rest = wtf8_lossy(&text[REFERENCE_PREFIX.len()..]);
            let mut message = format!("`{}` behind `blob:sha256:` is no hash of 64 lower-case digits.", shortened(&rest));
            if live == Live::ImageData && is_inline_image(walk, value, text).is_some() {
                // 01a.10: no reference any more, so it is decoded as Base64.
                message.push_str(" The next rewrite decodes the text as an image and loses it.");
            }
            content.found_at(walk, value, held, &codes::BLOB_REF_NONCANONICAL, message);
            return;
        };
        let Some(store) = self.store else { return };
        if !seen.insert(("live", name.to_owned())) {
            return;
        }
        match store.stored(name) {
            Stored::Unknown => {}
            Stored::Missing => {
                let message = format!("The blob {name} is not in the blob store.");
                content.found_at(walk, value, held, &codes::BLOB_MISSING, message);
            }
            Stored::File { .. } if store.intact(name) == Some(false) => {
                let message = format!("The bytes of the blob {name} do not hash to its name.");
                content.found_at(walk, value, held, &codes::BLOB_HASH_MISMATCH, message);
            }
            Stored::File { .. } if live == Live::ImageUrl && !holds_data_url(store, name) => {
                let message = format!("The blob {name} of an image URL holds no base64 data URL.");
                content.found_at(walk, value, held, &codes::BLOB_IMAGE_URL_INVALID, message);
            }
            Stored::File { .. } => {}
        }
    }
}

/// What is wrong with a marker itself, payloads excepted.
fn marker_fault(marker: Node<'_>) -> Option<(String, Node<'_>)> {
    if marker.kind() != Kind::Object {
        return Some((format!("it is {}", with_article(marker.kind())), marker));
    }
    let is = |key, kind| marker.get(key).is_some_and(|value: Node<'_>| value.kind() == kind);
    let wrong = if !is("payloads", Kind::Object) {
        "`payloads` is no object"
    } else if !is("evictedAt", Kind::Number) {
        "`evictedAt` is no number"
    } else if !marker.get("reason").is_some_and(|reason| reason.is_str("compacted_history")) {
        "`reason` is not `compacted_history`"
    } else if !is("compactionEntryId", Kind::String) || !is("firstKeptEntryId", Kind::String) {
        "`compactionEntryId` or `firstKeptEntryId` is no string"
    } else {
        return None;
    };
    Some((wrong.to_owned(), marker))
}

fn payload_fault<'v>(kind: EntryKind, path: &str, payload: Node<'v>) -> Option<(String, Node<'v>)> {
    let shown = shortened(path);
    let wrong = |what: &str| Some((format!("{what} of `{shown}`"), payload));
    if !is_spill_path(kind, path) {
        return Some((format!("`{shown}` is no path of evicted content"), payload));
    }
    if payload.kind() != Kind::Object || !payload.get("kind").is_some_and(|kind| kind.is_str("cold_spill")) {
        return wrong("`kind` is not `cold_spill` in the payload");
    }
    let reference = payload.str_member("ref").unwrap_or_default();
    let Some(name) = blobs::canonical(&reference) else {
        return wrong("`ref` is no reference in the payload");
    };
    let hash = payload.str_member("sha256").unwrap_or_default();
    if *hash != *name.as_bytes() {
        return wrong("`sha256` differs from `ref` in the payload");
    }
    if !payload.get("encoding").is_some_and(|encoding| encoding.is_str("utf8") || encoding.is_str("json")) {
        return wrong("`encoding` is neither `utf8` nor `json` in the payload");
    }
    let number = |key| payload.get(key).is_some_and(|value| value.kind() == Kind::Number);
    if !number("originalChars") || !number("bytes") {
        return wrong("`originalChars` or `bytes` is no number in the payload");
    }
    None
}

/// The path grammar of spec 01 §4.5.
fn is_spill_path(kind: EntryKind, path: &str) -> bool {
    let rest = match kind {
        EntryKind::CustomMessage if path == "custom_message.content" => return true,
        EntryKind::CustomMessage => path.strip_prefix("custom_message.content."),
        _ => path.strip_prefix("message.content."),
    };
    let Some((index, member)) = rest.and_then(|rest| rest.split_once('.')) else { return false };
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index && (matches!(member, "text" | "thinking" | "data" | "arguments") || member.starts_with("arguments."))
}

/// The path under which a payload for the current place of a walk would stand.
fn spill_path(content: &Content<'_>, walk: &Walk<'_>) -> Option<String> {
    let path = walk.dotted_path()?;
    Some(match content.kind {
        _ if content.from_patch => format!("message.{path}"),
        EntryKind::CustomMessage => format!("custom_message.{path}"),
        _ => path,
    })
}

/// The hash in the text that replaces a missing blob.
fn placeholder(text: &[u8]) -> Option<&str> {
    let rest = text.strip_prefix(PLACEHOLDER_PREFIX)?;
    let rest = [&b"text"[..], b"imageUrl", b"imageData"].iter().find_map(|kind| rest.strip_prefix(*kind))?;
    let rest = rest.strip_prefix(b" blob missing: sha256:")?;
    let (name, tail) = rest.split_at_checked(64)?;
    let name = std::str::from_utf8(name).ok().filter(|name| blobs::is_name(name.as_bytes()))?;
    (tail == b"; original content unavailable]").then_some(name)
}

/// The kind of a well-formed sentinel.
fn well_formed_sentinel(object: Node<'_>) -> Option<&'static str> {
    let kind = ["text", "imageUrl", "imageData"].into_iter().find(|name| object.get("kind").is_some_and(|kind| kind.is_str(name)));
    kind.filter(|_| object.str_member("ref").is_some_and(|text| blobs::canonical(&text).is_some()))
}

/// Whether a blob begins like a base64 data URL. Only its head is read: no prefix of an image comes near that length.
fn holds_data_url(store: &dyn BlobSource, name: &str) -> bool {
    const HEAD: usize = 4096;
    store.head(name, HEAD).is_none_or(|head| {
        let utf8 = match std::str::from_utf8(&head) {
            Ok(_) => true,
            // A character may be cut where the head ends.
            Err(error) => error.error_len().is_none() && head.len() == HEAD,
        };
        utf8 && head.starts_with(DATA_URL_PREFIX) && memchr::memmem::find(&head, b";base64,").is_some()
    })
}

/// Whether a payload's blob parses as JSON; what cannot be read is not judged.
fn holds_json(store: &dyn BlobSource, name: &str) -> bool {
    let limit = usize::try_from(super::size::FILE_CAP).unwrap_or(usize::MAX);
    store.head(name, limit).is_none_or(|text| crate::json::Value::parse(&text).is_some())
}
