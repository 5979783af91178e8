//! What a writer makes of a record before it stores it (spec 01 §8.4, 04 §5.5).
//!
//! Two things of the spec need no code here: a member whose value is `undefined` does not exist in a [`Value`], and
//! numbers get the text of JavaScript when they are written.

use super::base64;
use super::reshape::{Reshape, reshape};
use super::snapshots;
use super::tally::Tally;
use crate::finding::Release;
use crate::json::text;
use crate::json::view::len_utf16;
use crate::json::{JsString, Object, Value, View};
use crate::transcript::blobs::{self, BlobSink, REFERENCE_PREFIX};

/// Longest string that is stored, in UTF-16 units.
pub const LONGEST_STRING: usize = 500_000;
/// What ends a string that was cut.
pub const CUT_NOTICE: &str = "\n\n[Session persistence truncated large content]";
/// Image data of fewer units stays inline.
pub const SHORTEST_EXTERNAL_IMAGE: usize = 1_024;

/// Members that are dropped wherever they stand.
const TRANSIENT_MEMBERS: [&str; 2] = ["partialJson", "jsonlEvents"];
/// Strings under these keys are emptied, not cut.
const SIGNATURES: [&str; 3] = ["thinkingSignature", "thoughtSignature", "textSignature"];
/// Members of the `details` of a `custom_message` that are never stored (spec 01 §4.2).
const TRANSIENT_DETAILS: [&str; 2] = ["__pendingDisplayTag", "ownedCompletions"];

/// The record as a writer stores it: edit snapshots bounded, transient members gone, images in the blob store, long
/// strings cut. Header patches are stored as they are and do not come here.
pub fn prepare(record: Value, sink: &mut dyn BlobSink, release: Release) -> Value {
    prepare_counting(record, sink, release, &mut Tally::default())
}

/// [`prepare`], counting what it changes.
pub fn prepare_counting(mut record: Value, sink: &mut dyn BlobSink, release: Release, tally: &mut Tally) -> Value {
    snapshots::bound(&mut record, tally);
    reshape(&mut record, Above::default(), &mut Prepare { sink, release, tally });
    record
}

/// Removes what a new `custom_message` entry carries for the running session only. Done when an entry is appended; what
/// an opened file holds under these names stays.
pub fn drop_transient_details(entry: &mut Value) {
    if entry.member("type").is_some_and(|kind| kind.is_str("custom_message"))
        && let Some(details) = entry.as_object_mut().and_then(|entry| entry.get_mut("details")).and_then(Value::as_object_mut)
    {
        for name in TRANSIENT_DETAILS {
            details.remove(name);
        }
    }
}

/// What the container of a value is.
#[derive(Clone, Copy, Default)]
pub(super) struct Above {
    /// An array.
    pub array: bool,
    /// An image block: an object with `type` `image` and string `data`.
    pub image: bool,
    /// An element of an array under the key `content`.
    pub in_content_array: bool,
    /// The object that is the value of a member `image_url`.
    pub image_url: bool,
    /// Such an object whose `url` is moved out: an `image_url` in it is a member like all others.
    pub moved_url: bool,
    /// A container whose nearest key is `content`.
    pub under_content: bool,
    /// An image block whose data is moved out, or something in it: all else in it stays as it is.
    pub in_moved_image: bool,
    /// A member that is never stored, or something in it.
    pub transient: bool,
}

impl Above {
    /// What a value tells the values in it, being under the nearest key `key` and in a container `above`.
    pub fn of(value: &Value, key: Option<&JsString>, above: Above, release: Release) -> Above {
        let under_content = key.is_some_and(|key| *key == "content");
        let in_moved_image = above.in_moved_image;
        let transient = above.transient || key.is_some_and(|key| TRANSIENT_MEMBERS.iter().any(|name| *key == **name));
        match value {
            Value::Array(_) => Above { array: true, under_content, in_moved_image, transient, ..Above::default() },
            Value::Object(object) => {
                let image = image_data(object);
                let in_content_array = above.array && under_content && !in_moved_image;
                let image_url = !above.array && !above.moved_url && key.is_some_and(|key| *key == "image_url");
                let moved_url = matches!(object.get("url"), Some(Value::String(url)) if image_url && is_data_url(url.as_bytes()));
                Above {
                    array: false,
                    image: image.is_some(),
                    in_content_array,
                    image_url,
                    moved_url,
                    under_content,
                    transient,
                    in_moved_image: in_moved_image || in_content_array && image.is_some_and(|data| moves_out(data, release)),
                }
            }
            _ => above,
        }
    }

    /// True for a string that holds the data of an image which a writer moves out.
    pub fn is_image_data(self, key: &JsString) -> bool {
        self.image && self.in_content_array && *key == "data"
    }

    /// True for the object of an `image_url` that has a `url`.
    fn is_url_object(self, object: &Object) -> bool {
        self.image_url && matches!(object.get("url"), Some(Value::String(_)))
    }

    /// True for a string that may be a data URL which a writer moves out.
    pub fn is_image_url(self, key: &JsString) -> bool {
        *key == "image_url" || self.image_url && *key == "url"
    }
}

/// The data of an image block.
fn image_data(object: &Object) -> Option<&[u8]> {
    match object.get("data") {
        Some(Value::String(data)) if object.get("type").is_some_and(|kind| kind.is_str("image")) => Some(data.as_bytes()),
        _ => None,
    }
}

/// True for image data, in an array under `content`, that goes to the blob store.
pub fn moves_out(data: &[u8], release: Release) -> bool {
    blobs::reference(data, release).is_none() && is_long(data, SHORTEST_EXTERNAL_IMAGE - 1)
}

/// True for a data URL that is moved out under `image_url`, whatever its length.
pub fn is_data_url(text: &[u8]) -> bool {
    text.starts_with(b"data:image/") && memchr::memmem::find(text, b";base64,").is_some()
}

struct Prepare<'a> {
    sink: &'a mut dyn BlobSink,
    release: Release,
    tally: &'a mut Tally,
}

impl Reshape for Prepare<'_> {
    type Context = Above;

    fn enter(&mut self, value: &mut Value, key: Option<&JsString>, above: Above) -> (bool, Above) {
        let below = Above::of(value, key, above, self.release);
        let changed = match value {
            Value::Object(block) if below.in_moved_image => self.move_image_out(block),
            Value::Object(object) if below.is_url_object(object) => false,
            Value::Object(object) => self.drop_transient(object),
            Value::String(text) => match key.and_then(|key| self.string(text, key, above)) {
                Some(stored) => {
                    *text = stored;
                    true
                }
                None => false,
            },
            _ => false,
        };
        (changed, below)
    }

    fn goes_into(&self, below: Above) -> bool {
        !below.in_moved_image
    }

    /// An object in which anything changed gets its lines counted again. The object of an `image_url` is taken as it is
    /// once a member of it changed; else it is an object like all others.
    fn leave(&mut self, object: &mut Object, below: Above, changed: bool) -> bool {
        let is_url_object = below.is_url_object(object);
        if is_url_object && changed {
            return true;
        }
        let changed = changed || is_url_object && self.drop_transient(object);
        if changed {
            count_lines(object);
        }
        changed
    }
}

/// Sets `lineCount` to the lines of `content`, where both are there.
fn count_lines(object: &mut Object) {
    if let (Some(Value::String(content)), Some(Value::Number(_))) = (object.get("content"), object.get("lineCount")) {
        let lines = memchr::memchr_iter(b'\n', content.as_bytes()).count() + 1;
        object.set("lineCount", Value::Number(lines as f64));
    }
}

impl Prepare<'_> {
    fn drop_transient(&mut self, object: &mut Object) -> bool {
        let dropped = TRANSIENT_MEMBERS.into_iter().filter(|name| object.remove(name).is_some()).count();
        self.tally.transient_members += dropped as u64;
        dropped > 0
    }

    /// The data of an image block becomes a reference. Data that cannot be moved out stays whole: cut it would be no
    /// image.
    fn move_image_out(&mut self, block: &mut Object) -> bool {
        let Some(reference) = image_data(block).and_then(|data| self.move_out(&base64::decode_lenient(data))) else { return false };
        block.set("data", Value::String(reference));
        true
    }

    /// What is stored in place of a string; none when it stays.
    fn string(&mut self, whole: &JsString, key: &JsString, above: Above) -> Option<JsString> {
        let bytes = whole.as_bytes();
        if above.is_image_url(key) && is_data_url(bytes) {
            return self.move_out(whole.as_js().to_string_lossy().as_bytes());
        }
        if !is_long(bytes, LONGEST_STRING) {
            return None;
        }
        if SIGNATURES.iter().any(|name| *key == **name) {
            self.tally.emptied_signatures += 1;
            return Some(JsString::default());
        }
        self.tally.cut_strings += 1;
        let mut cut = text::prefix(bytes, LONGEST_STRING - CUT_NOTICE.len());
        // Never a high surrogate before the notice, be it one of its own or half a pair.
        if cut.len() >= 3 && matches!(text::surrogate(&cut[cut.len() - 3..]), Some(0xD800..=0xDBFF)) {
            cut.truncate(cut.len() - 3);
        }
        cut.extend_from_slice(CUT_NOTICE.as_bytes());
        Some(JsString::from_wtf8(cut))
    }

    fn move_out(&mut self, blob: &[u8]) -> Option<JsString> {
        self.tally.moved_out += 1;
        self.tally.moved_out_bytes += blob.len() as u64;
        let name = blobs::name_of(blob);
        self.sink.put(&name, blob).then(|| format!("{REFERENCE_PREFIX}{name}").into())
    }
}

/// True when the text has more than `units` UTF-16 units.
pub fn is_long(text: &[u8], units: usize) -> bool {
    // A string has at most as many units as bytes.
    text.len() > units && len_utf16(text) > units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use crate::transcript::blobs::{MemoryStore, NoStore};

    fn prepared(text: &str) -> String {
        prepared_into(text, &mut MemoryStore::default())
    }
    fn prepared_into(text: &str, sink: &mut dyn BlobSink) -> String {
        to_text(&prepare(Value::parse(text.as_bytes()).unwrap(), sink, Release::V0_17))
    }
    fn name(store: &MemoryStore) -> String {
        store.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_notice_has_47_units() {
        assert_eq!(CUT_NOTICE.len(), 47);
    }

    /// What is stored for the string `text` (as it stands in JSON): long runs of `a` are shown as their number.
    fn stored(text: &str) -> String {
        let stored = prepared(&format!("{{\"k\":\"{text}\"}}"));
        let kept = stored.trim_start_matches("{\"k\":\"").trim_end_matches("\"}").replace(CUT_NOTICE.trim(), "NOTICE");
        let filled = kept.bytes().take_while(|byte| *byte == b'a').count();
        format!("{filled}{}", &kept[filled..])
    }

    #[test]
    fn a_string_of_500_001_units_is_cut_to_500_000_notice_included() {
        assert_eq!(stored(&"a".repeat(500_000)), "500000");
        assert_eq!(stored(&"a".repeat(500_001)), r"499953\n\nNOTICE");
    }

    #[test]
    fn a_cut_never_ends_in_half_a_pair() {
        let filled = "a".repeat(499_952);
        assert_eq!(stored(&format!("{filled}{}", "😀".repeat(100))), r"499952\n\nNOTICE");
        assert_eq!(stored(&format!("{filled}\\ud800{}", "b".repeat(100))), r"499952\n\nNOTICE");
        assert_eq!(stored(&format!("{filled}\\udc00{}", "b".repeat(100))), r"499952\udc00\n\nNOTICE");
        assert_eq!(stored(&format!("{}😀{}", &filled[1..], "b".repeat(100))), r"499951😀\n\nNOTICE");
    }

    #[test]
    fn long_signatures_become_empty_and_a_plain_signature_is_cut() {
        let long = "s".repeat(500_001);
        for key in SIGNATURES {
            assert_eq!(prepared(&format!("{{\"{key}\":\"{long}\"}}")), format!("{{\"{key}\":\"\"}}"));
        }
        assert!(prepared(&format!("{{\"signature\":\"{long}\"}}")).ends_with("content]\"}"));
    }

    #[test]
    fn lines_are_counted_again_in_objects_in_which_anything_changed() {
        let content = "l\\n".repeat(300_000);
        assert!(prepared(&format!("{{\"content\":\"{content}\",\"lineCount\":300001}}")).ends_with("\"lineCount\":249979}"));
        assert_eq!(
            prepared(r#"{"content":"a\nb","lineCount":7,"deep":[{"partialJson":1}]}"#),
            r#"{"content":"a\nb","lineCount":2,"deep":[{}]}"#
        );
        for untouched in [r#"{"content":"a\nb","lineCount":7}"#, r#"{"content":["a"],"lineCount":7}"#] {
            assert_eq!(prepared(untouched), untouched);
        }
        assert_eq!(prepared(r#"{"content":"a","lineCount":"many","partialJson":1}"#), r#"{"content":"a","lineCount":"many"}"#);
    }

    #[test]
    fn transient_members_are_dropped_at_any_depth() {
        assert_eq!(
            prepared(r#"{"a":[{"partialJson":"x","arguments":{"jsonlEvents":1,"b":2}}],"jsonlEvents":[]}"#),
            r#"{"a":[{"arguments":{"b":2}}]}"#
        );
    }

    #[test]
    fn an_image_of_1024_units_in_a_content_array_goes_to_the_store() {
        let mut store = MemoryStore::default();
        let image = |data: &str| format!(r#"{{"content":[[{{"mimeType":"m","data":"{data}","type":"image"}}]]}}"#);
        let stored = prepared_into(&image(&"A".repeat(1024)), &mut store);
        assert_eq!(name(&store), "ef115a0e0c15cdc41958ca46b5b14b456115f4baec5e3ca68599d2a8f435e3b8");
        assert_eq!(stored, image(&format!("blob:sha256:{}", name(&store))));
        assert_eq!(store.iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [[0; 768]]);
        assert_eq!(prepared_into(&stored, &mut NoStore), stored);
        assert_eq!(prepared(&image(&"A".repeat(1023))), image(&"A".repeat(1023)));
    }

    #[test]
    fn a_block_whose_image_is_moved_out_keeps_all_else() {
        let mut store = MemoryStore::default();
        let block = |data: &str| {
            format!(
                r#"{{"content":[{{"type":"image","data":"{data}","partialJson":"z","content":"a\nb","lineCount":9,"deep":{{"jsonlEvents":1}}}}]}}"#
            )
        };
        let stored = prepared_into(&block(&"A".repeat(1024)), &mut store);
        assert_eq!(stored, block(&format!("blob:sha256:{}", name(&store))));
        assert_eq!(prepared(&block("AAAA")), r#"{"content":[{"type":"image","data":"AAAA","content":"a\nb","lineCount":2,"deep":{}}]}"#);
    }

    #[test]
    fn the_object_of_an_image_url_is_taken_as_it_is_once_a_member_changed() {
        let more = r#""partialJson":"x","content":"a\nb","lineCount":9"#;
        let mut store = MemoryStore::default();
        let stored = prepared_into(&format!(r#"{{"image_url":{{"url":"data:image/png;base64,BBBB",{more}}}}}"#), &mut store);
        assert_eq!(stored, format!(r#"{{"image_url":{{"url":"blob:sha256:{}",{more}}}}}"#, name(&store)));
        assert_eq!(
            prepared(&format!(r#"{{"image_url":{{"url":"https://example.org",{more}}}}}"#)),
            r#"{"image_url":{"url":"https://example.org","content":"a\nb","lineCount":2}}"#
        );
        let inner = |url: &str| format!(r#"{{"image_url":{{"url":"{url}","image_url":{{"url":"data:image/png;base64,AAAA"}}}}}}"#);
        assert_eq!(prepared(&inner("data:image/png;base64,BBBB")), inner(&format!("blob:sha256:{}", name(&store))));
        assert_ne!(prepared(&inner("https://example.org")), inner("https://example.org"));
        assert_eq!(
            prepared(&format!(r#"{{"image_url":{{"uri":"x",{more}}}}}"#)),
            r#"{"image_url":{"uri":"x","content":"a\nb","lineCount":2}}"#
        );
    }

    #[test]
    fn images_elsewhere_stay_inline() {
        let image = format!(r#"{{"type":"image","data":"{}"}}"#, "A".repeat(1024));
        for text in
            [format!(r#"{{"images":[{image}]}}"#), format!(r#"{{"content":{image}}}"#), format!(r#"{{"content":[{{"a":{image}}}]}}"#)]
        {
            assert_eq!(prepared(&text), text);
        }
    }

    #[test]
    fn data_urls_go_to_the_store_at_any_length_as_text() {
        let mut store = MemoryStore::default();
        let stored = prepared_into(r#"{"image_url":"data:image/png;base64,AAAA"}"#, &mut store);
        assert_eq!(name(&store), "bde6da8e9d3902a86a1452ec62648cd07cb1cfbae0ec8dd5142ad881c7aa2ba0");
        assert_eq!(stored, format!(r#"{{"image_url":"blob:sha256:{}"}}"#, name(&store)));
        let mut store = MemoryStore::default();
        prepared_into(r#"{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}"#, &mut store);
        assert_eq!(name(&store), "e1e10747c2374f621aa59fefede6ef99dc6acdb41b267ab4af408d5529f89ea8");
        for text in [
            r#"{"image_url":"https://example.org/a.png"}"#,
            r#"{"image_url":{"url":"data:text/plain;base64,AAAA"}}"#,
            r#"{"image_url":"data:image/svg+xml,<svg/>"}"#,
            r#"{"url":"data:image/png;base64,AAAA"}"#,
        ] {
            assert_eq!(prepared(text), text);
        }
    }

    #[test]
    fn what_cannot_be_moved_out_stays_inline_and_whole() {
        let long = format!(r#"{{"content":[{{"type":"image","data":"{}"}}]}}"#, "A".repeat(500_004));
        let mut tally = Tally::default();
        let kept = prepare_counting(Value::parse(long.as_bytes()).unwrap(), &mut NoStore, Release::V0_17, &mut tally);
        assert_eq!(to_text(&kept), long);
        assert_eq!((tally.moved_out, tally.moved_out_bytes, tally.cut_strings), (1, 375_003, 0));
    }

    #[test]
    fn transient_details_of_a_new_custom_message_are_dropped_at_the_top() {
        let mut entry = Value::parse(
            br#"{"type":"custom_message","details":{"__pendingDisplayTag":1,"ownedCompletions":2,"keep":{"ownedCompletions":3}}}"#,
        )
        .unwrap();
        drop_transient_details(&mut entry);
        assert_eq!(to_text(&entry), r#"{"type":"custom_message","details":{"keep":{"ownedCompletions":3}}}"#);
        let mut other = Value::parse(br#"{"type":"message","details":{"ownedCompletions":2}}"#).unwrap();
        drop_transient_details(&mut other);
        assert!(other.member("details").unwrap().member("ownedCompletions").is_some());
    }
}
