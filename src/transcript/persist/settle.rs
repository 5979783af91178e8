//! What opening makes of an entry before it can be written again (spec 01 §4.4, §8.4; 04 §5.6, §5.7; 01a.7, 01a.10).
//!
//! gjc turns live blob references into lazy ones, moves images to the blob store and keeps long strings in a store of
//! UTF-8 texts; writing asks for all of them again. This room does both halves at once.

use super::base64;
use super::prepare::{Above, SHORTEST_EXTERNAL_IMAGE, is_data_url, is_long, moves_out};
use super::reshape::{Reshape, reshape};
use super::tally::Tally;
use crate::finding::Release;
use crate::json::{JsString, Object, Value, View};
use crate::transcript::blobs::{self, BlobStore, Stored};

/// Strings of this many units pass through the store of UTF-8 texts.
const SHORTEST_RESIDENT: usize = 1_024;

/// Strings under these keys never do.
const NEVER_RESIDENT: [&str; 17] = [
    "id",
    "type",
    "parentId",
    "timestamp",
    "role",
    "provider",
    "model",
    "api",
    "customType",
    "mode",
    "mimeType",
    "stopReason",
    "toolName",
    "targetId",
    "firstKeptEntryId",
    "encrypted_content",
    "reasoning_encrypted_content",
];

/// Where an entry comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It was read from the transcript: its references are live.
    File,
    /// The running session made it: a text that looks like a reference is a text.
    Session,
}

/// Settles an entry: references resolved (a missing blob leaves its placeholder), images as their canonical base64, lone
/// surrogates of long strings replaced.
///
/// Where there is no store ([`blobs::NoStore`]), or a blob cannot be read, references stay what they are.
pub fn settle(entry: &mut Value, store: &mut dyn BlobStore, release: Release, origin: Origin, tally: &mut Tally) {
    reshape(entry, Above::default(), &mut Settle { store, release, origin, tally });
}

/// What the reader of a missing blob is shown (spec 01 §4.4), and what a rewrite then stores.
pub fn placeholder(kind: &str, hash: &[u8]) -> JsString {
    let text = [b"[Session resident ", kind.as_bytes(), b" blob missing: sha256:", hash, b"; original content unavailable]"];
    JsString::from_wtf8(text.concat())
}

/// A reference whose blob is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// `imageData` or `imageUrl`.
    pub kind: &'static str,
    /// The name of the blob, or what stands in its place (0.15).
    pub hash: JsString,
}

/// The first live reference of an entry whose blob the store does not have. A store that is not known misses nothing.
pub fn first_missing(entry: &Value, store: &dyn blobs::BlobSource, release: Release) -> Option<Missing> {
    struct Find<'a> {
        store: &'a dyn blobs::BlobSource,
        release: Release,
        missing: Option<Missing>,
    }
    impl Reshape for Find<'_> {
        type Context = Above;

        fn enter(&mut self, value: &mut Value, key: Option<&JsString>, above: Above) -> (bool, Above) {
            if let (Value::String(text), Some(key), None) = (&*value, key, &self.missing)
                && let Some(hash) = blobs::reference(text.as_bytes(), self.release)
                && let Some(resolves) = live(key, above)
                && self.store.stored(&String::from_utf8_lossy(hash)) == Stored::Missing
            {
                self.missing = Some(Missing { kind: resolves.kind(), hash: JsString::from_wtf8(hash.to_vec()) });
            }
            (false, Above::of(value, key, above, self.release))
        }
    }
    if !store.known() {
        return None;
    }
    let mut find = Find { store, release, missing: None };
    reshape(&mut entry.clone(), Above::default(), &mut find);
    find.missing
}

struct Settle<'a> {
    store: &'a mut dyn BlobStore,
    release: Release,
    origin: Origin,
    tally: &'a mut Tally,
}

/// What a live reference stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resolves {
    /// Base64 of the blob.
    ImageData,
    /// The blob as text.
    ImageUrl,
}

impl Reshape for Settle<'_> {
    type Context = Above;

    fn enter(&mut self, value: &mut Value, key: Option<&JsString>, above: Above) -> (bool, Above) {
        let settled = match (&*value, key) {
            (Value::Object(object), _) => self.sentinel(object, key, above),
            (Value::String(text), Some(key)) => self.string(text, key, above),
            _ => None,
        };
        let changed = settled.is_some();
        if let Some(settled) = settled {
            *value = Value::String(settled);
        }
        (changed, Above::of(value, key, above, self.release))
    }
}

impl Settle<'_> {
    /// A well-formed sentinel that leaked to disk is what a live reference turns into: an image comes from the blob store.
    /// A text would come from the store of this process, which is empty.
    fn sentinel(&mut self, object: &Object, key: Option<&JsString>, above: Above) -> Option<JsString> {
        if object.get("__gjcResidentBlob") != Some(&Value::Bool(true)) {
            return None;
        }
        let is = |kind: &str| object.get("kind").is_some_and(|is| is.is_str(kind));
        let Some(Value::String(reference)) = object.get("ref") else { return None };
        let hash = blobs::reference(reference.as_bytes(), self.release)?;
        if let Some(image) = [Resolves::ImageData, Resolves::ImageUrl].into_iter().find(|image| is(image.kind())) {
            return self.resolve(hash, image, key, above);
        }
        is("text").then(|| {
            self.tally.sentinels += 1;
            placeholder("text", hash)
        })
    }

    fn string(&mut self, text: &JsString, key: &JsString, above: Above) -> Option<JsString> {
        let bytes = text.as_bytes();
        if self.origin == Origin::File
            && let Some(hash) = blobs::reference(bytes, self.release)
            && let Some(resolves) = live(key, above)
        {
            return self.resolve(hash, resolves, Some(key), above);
        }
        if above.is_image_data(key) && moves_out(bytes, self.release) {
            return self.reencode(bytes, above.transient);
        }
        if above.in_moved_image {
            return None;
        }
        // Writing drops the member; its blob was stored before, and stays behind.
        if above.transient && *key == "image_url" && is_data_url(bytes) && is_long(bytes, SHORTEST_RESIDENT - 1) {
            let blob = text.as_js().to_string_lossy();
            self.store.put(&blobs::name_of(blob.as_bytes()), blob.as_bytes());
        }
        let through_utf8 = (above.is_image_url(key) && is_data_url(bytes))
            || (is_long(bytes, SHORTEST_RESIDENT - 1) && !NEVER_RESIDENT.iter().any(|name| *key == **name));
        if through_utf8 && text.as_js().has_lone_surrogate() {
            self.tally.lone_surrogates += 1;
            return Some(text.as_js().to_string_lossy().into_owned().into());
        }
        None
    }

    fn resolve(&mut self, hash: &[u8], resolves: Resolves, key: Option<&JsString>, above: Above) -> Option<JsString> {
        if !self.store.known() {
            return None;
        }
        // What is no name of a blob (0.15 takes it for a reference all the same) has none.
        let name = std::str::from_utf8(hash).ok().filter(|name| blobs::is_name(name.as_bytes()));
        let Stored::File { size } = name.map_or(Stored::Missing, |name| self.store.stored(name)) else {
            if name.is_some_and(|name| self.store.stored(name) == Stored::Unknown) {
                return None;
            }
            self.tally.lost_references += 1;
            return Some(placeholder(resolves.kind(), hash));
        };
        let bytes = self.store.head(name?, usize::try_from(size).unwrap_or(usize::MAX))?;
        let (resolved, moves_out_again) = match resolves {
            Resolves::ImageData => {
                let text = base64::encode(&bytes);
                let long = text.len() >= SHORTEST_EXTERNAL_IMAGE;
                (text.into_bytes(), long && key.is_some_and(|key| above.is_image_data(key)))
            }
            Resolves::ImageUrl => {
                let text = crate::json::text::utf8_lossy(&bytes).into_owned();
                let data_url = is_data_url(&text);
                (text, data_url && key.is_some_and(|key| above.is_image_url(key)) && !above.in_moved_image)
            }
        };
        self.tally.inlined_references += u64::from(!moves_out_again);
        Some(JsString::from_wtf8(resolved))
    }

    /// Image data goes to the blob store and comes back as canonical base64; a blob that is then too short to be
    /// referred to, or that only a `transient` member held, stays behind as an orphan.
    fn reencode(&mut self, text: &[u8], transient: bool) -> Option<JsString> {
        let blob = base64::decode_lenient(text);
        let canonical = base64::encode(&blob);
        if canonical.as_bytes() == text {
            // What is stored canonical anyway is put when it is written.
            if transient {
                self.store.put(&blobs::name_of(&blob), &blob);
            }
            return None;
        }
        self.tally.reencoded_images += 1;
        self.store.put(&blobs::name_of(&blob), &blob).then(|| canonical.into())
    }
}

impl Resolves {
    const fn kind(self) -> &'static str {
        match self {
            Resolves::ImageData => "imageData",
            Resolves::ImageUrl => "imageUrl",
        }
    }
}

/// What a reference at this place resolves to; none where it is plain text (spec 01 §4.4). Elements of arrays never
/// resolve.
fn live(key: &JsString, above: Above) -> Option<Resolves> {
    if above.array {
        None
    } else if *key == "data" && above.image {
        Some(Resolves::ImageData)
    } else if above.is_image_url(key) || *key == "data" && !above.under_content {
        Some(Resolves::ImageUrl)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use crate::transcript::blobs::{BlobSink, MemoryStore, NoStore};
    use proptest::prelude::*;

    fn settled_with(text: &str, store: &mut dyn BlobStore, release: Release, origin: Origin) -> (String, Tally) {
        let mut value = Value::parse(text.as_bytes()).unwrap();
        let mut tally = Tally::default();
        settle(&mut value, store, release, origin, &mut tally);
        (to_text(&value), tally)
    }
    /// With the blobs `abc` and a data URL in the store.
    fn settled(text: &str) -> String {
        let mut store = MemoryStore::default();
        for blob in [&b"abc"[..], b"data:image/png;base64,AAAA"] {
            store.put(&blobs::name_of(blob), blob);
        }
        settled_with(text, &mut store, Release::V0_17, Origin::File).0
    }
    fn reference(blob: &[u8]) -> String {
        format!("blob:sha256:{}", blobs::name_of(blob))
    }

    #[test]
    fn live_references_resolve_and_others_stay() {
        let abc = reference(b"abc");
        let url = reference(b"data:image/png;base64,AAAA");
        for (stored, resolved) in [
            (format!(r#"{{"type":"image","data":"{abc}"}}"#), r#"{"type":"image","data":"YWJj"}"#.to_owned()),
            (format!(r#"{{"content":[{{"type":"image","data":"{abc}"}}]}}"#), r#"{"content":[{"type":"image","data":"YWJj"}]}"#.into()),
            (format!(r#"{{"image_url":"{url}"}}"#), r#"{"image_url":"data:image/png;base64,AAAA"}"#.into()),
            (format!(r#"{{"image_url":{{"url":"{url}"}}}}"#), r#"{"image_url":{"url":"data:image/png;base64,AAAA"}}"#.into()),
            (format!(r#"{{"details":{{"data":"{abc}"}}}}"#), r#"{"details":{"data":"abc"}}"#.into()),
            (format!(r#"{{"data":"{abc}"}}"#), r#"{"data":"abc"}"#.into()),
        ] {
            assert_eq!(settled(&stored), resolved);
        }
        for stays in [
            format!(r#"{{"text":"{abc}"}}"#),
            format!(r#"{{"data":["{abc}"]}}"#),
            format!(r#"{{"content":[{{"type":"file","data":"{abc}"}}]}}"#),
            format!(r#"{{"content":{{"data":"{abc}"}}}}"#),
            format!(r#"{{"url":"{abc}"}}"#),
            format!(r#"{{"data":" {abc}"}}"#),
        ] {
            assert_eq!(settled(&stays), stays);
        }
    }

    #[test]
    fn a_missing_blob_leaves_its_placeholder_for_good() {
        let zeros = "0".repeat(64);
        let missing = format!("blob:sha256:{zeros}");
        let shown = |kind: &str| format!("[Session resident {kind} blob missing: sha256:{zeros}; original content unavailable]");
        assert_eq!(
            settled(&format!(r#"{{"type":"image","data":"{missing}"}}"#)),
            format!(r#"{{"type":"image","data":"{}"}}"#, shown("imageData"))
        );
        assert_eq!(settled(&format!(r#"{{"image_url":"{missing}"}}"#)), format!(r#"{{"image_url":"{}"}}"#, shown("imageUrl")));
        let text = format!(r#"{{"data":"{missing}"}}"#);
        assert_eq!(settled_with(&text, &mut NoStore, Release::V0_17, Origin::File).0, text);
        assert_eq!(settled_with(&text, &mut MemoryStore::default(), Release::V0_17, Origin::Session).0, text);
        assert_eq!(settled_with(&text, &mut MemoryStore::default(), Release::V0_17, Origin::File).1.lost_references, 1);
    }

    #[test]
    fn the_older_release_takes_any_suffix_for_a_missing_blob() {
        let text = r#"{"type":"image","data":"blob:sha256:../x"}"#;
        assert_eq!(settled(text), text);
        assert_eq!(
            settled_with(text, &mut MemoryStore::default(), Release::V0_15, Origin::File).0,
            r#"{"type":"image","data":"[Session resident imageData blob missing: sha256:../x; original content unavailable]"}"#
        );
        let empty = r#"{"type":"image","data":"blob:sha256:"}"#;
        assert_eq!(settled_with(empty, &mut MemoryStore::default(), Release::V0_15, Origin::File).0, empty);
    }

    #[test]
    fn a_well_formed_sentinel_becomes_a_placeholder_and_a_malformed_one_stays() {
        let hash = "1".repeat(64);
        assert_eq!(
            settled(&format!(r#"{{"a":{{"__gjcResidentBlob":true,"kind":"text","ref":"blob:sha256:{hash}"}}}}"#)),
            format!(r#"{{"a":"[Session resident text blob missing: sha256:{hash}; original content unavailable]"}}"#)
        );
        for stays in [
            format!(r#"{{"a":{{"__gjcResidentBlob":1,"kind":"text","ref":"blob:sha256:{hash}"}}}}"#),
            format!(r#"{{"a":{{"__gjcResidentBlob":true,"kind":"file","ref":"blob:sha256:{hash}"}}}}"#),
            r#"{"a":{"__gjcResidentBlob":true,"kind":"text","ref":7}}"#.to_owned(),
        ] {
            assert_eq!(settled(&stays), stays);
        }
    }

    #[test]
    fn a_sentinel_of_an_image_resolves_like_a_reference() {
        let sentinel =
            |kind: &str, blob: &[u8]| format!(r#"{{"a":[{{"__gjcResidentBlob":true,"kind":"{kind}","ref":"{}"}}]}}"#, reference(blob));
        assert_eq!(settled(&sentinel("imageData", b"abc")), r#"{"a":["YWJj"]}"#);
        assert_eq!(settled(&sentinel("imageUrl", b"abc")), r#"{"a":["abc"]}"#);
        assert!(settled(&sentinel("imageData", b"never stored")).contains("[Session resident imageData blob missing: sha256:"));
        assert!(settled(&sentinel("text", b"abc")).contains("[Session resident text blob missing: sha256:"));
    }

    #[test]
    fn images_in_members_that_are_never_stored_leave_their_blobs_behind() {
        let orphans = |entry: &str| {
            let mut store = MemoryStore::default();
            settled_with(entry, &mut store, Release::V0_17, Origin::File);
            store.iter().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>()
        };
        let url = |units: usize| format!("data:image/png;base64,{}", "A".repeat(units - 22));
        for name in ["partialJson", "jsonlEvents"] {
            assert_eq!(orphans(&format!(r#"{{"{name}":{{"x":[{{"image_url":"{}"}}]}}}}"#, url(1024))), [1024]);
            assert_eq!(orphans(&format!(r#"{{"{name}":{{"content":[{{"type":"image","data":"{}"}}]}}}}"#, "A".repeat(1024))), [768]);
            assert_eq!(orphans(&format!(r#"{{"{name}":{{"image_url":{{"url":"{}"}}}}}}"#, url(1024))), [0; 0], "a text like others");
        }
        assert_eq!(orphans(&format!(r#"{{"partialJson":{{"image_url":"{}"}}}}"#, url(1023))), [0; 0]);
        assert_eq!(orphans(&format!(r#"{{"image_url":"{}"}}"#, url(1024))), [0; 0], "what is written is put then");
    }

    #[test]
    fn lone_surrogates_survive_in_strings_of_fewer_than_1024_units() {
        let text = |key: &str, units: usize| format!(r#"{{"{key}":"{}\ud800"}}"#, "r".repeat(units - 1));
        assert_eq!(settled(&text("content", 1023)), text("content", 1023));
        assert_eq!(settled(&text("content", 1024)), text("content", 1024).replace("\\ud800", "\u{FFFD}"));
        assert_eq!(settled(&text("model", 1024)), text("model", 1024));
    }

    #[test]
    fn image_data_that_is_not_canonical_base64_is_reencoded_and_its_blob_stays_behind() {
        let mut store = MemoryStore::default();
        let image = |data: &str| format!(r#"{{"content":[{{"type":"image","data":"{data}"}}]}}"#);
        let (text, tally) = settled_with(&image(&"!a".repeat(600)), &mut store, Release::V0_17, Origin::Session);
        assert_eq!(text, image(&"a".repeat(600)));
        assert_eq!(tally.reencoded_images, 1);
        assert_eq!(
            store.iter().map(|(name, bytes)| (name, bytes.len())).collect::<Vec<_>>(),
            [("707177e8b8599fd62308c689407203355b41595681e68384531d9ca9f5a51112", 450)]
        );
        let kept = image(&"!a".repeat(600));
        assert_eq!(settled_with(&kept, &mut NoStore, Release::V0_17, Origin::File).0, kept);
    }

    /// Values with many keys and strings that matter here.
    fn any_entry() -> impl Strategy<Value = String> {
        let reference = format!("\"blob:sha256:{}\"", "0".repeat(64));
        let leaf = prop_oneof![Just(reference), Just("\"image\"".to_owned()), Just("1".to_owned())];
        leaf.prop_recursive(5, 40, 5, |inner| {
            let key = prop_oneof![Just("data"), Just("image_url"), Just("url"), Just("content"), Just("type"), Just("x")];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
                proptest::collection::vec((key, inner), 0..5).prop_map(|members| {
                    let members: Vec<String> = members.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        /// [`blobs::live_references`] looks, this room resolves: both must mean the same places.
        #[test]
        fn what_is_called_live_is_what_is_resolved(text in any_entry()) {
            let entry = Value::parse(text.as_bytes()).unwrap();
            let live = |text: &str| {
                let mut count = 0;
                blobs::live_references(&Value::parse(text.as_bytes()).unwrap(), |_| count += 1);
                count
            };
            let (settled, tally) = settled_with(&to_text(&entry), &mut MemoryStore::default(), Release::V0_17, Origin::File);
            prop_assert_eq!(tally.lost_references, live(&to_text(&entry)));
            prop_assert_eq!(live(&settled), 0);
        }
    }
}
