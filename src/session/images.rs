//! Images reach the blob store when their entry is appended, not only when it is written: the running session keeps them there
//! (gjc's resident form; spec 01 §8.4). So a session that never gets a file can have blobs, and so can an append that failed.

use crate::finding::Release;
use crate::json::{JsString, Value, View};
use crate::transcript::blobs::{BlobSink, name_of};
use crate::transcript::persist::base64::decode_lenient;
use crate::transcript::persist::prepare::{SHORTEST_EXTERNAL_IMAGE, is_data_url, is_long, moves_out};
use crate::transcript::persist::reshape::{Reshape, reshape};

/// Puts the images of an entry that is appended into the store: those that an array under `content` holds, and data URLs under
/// `image_url`, from 1,024 units on. The entry stays what it is.
pub fn keep(entry: &mut Value, sink: &mut dyn BlobSink, release: Release) {
    reshape(entry, Above::default(), &mut Keep { sink, release });
}

#[derive(Clone, Copy, Default)]
struct Above {
    /// Directly in an array.
    array: bool,
    /// In an image that is kept: nothing in it is looked at.
    kept: bool,
}

struct Keep<'a> {
    sink: &'a mut dyn BlobSink,
    release: Release,
}

impl Keep<'_> {
    fn put(&mut self, bytes: &[u8]) {
        // A blob that cannot be stored now is tried again when the entry is written.
        self.sink.put(&name_of(bytes), bytes);
    }
}

impl Reshape for Keep<'_> {
    type Context = Above;

    fn enter(&mut self, value: &mut Value, key: Option<&JsString>, above: Above) -> (bool, Above) {
        let is = |name: &str| key.is_some_and(|key| *key == *name);
        let mut below = Above { array: matches!(value, Value::Array(_)), kept: false };
        match value {
            Value::String(text)
                if is("image_url") && is_data_url(text.as_bytes()) && is_long(text.as_bytes(), SHORTEST_EXTERNAL_IMAGE - 1) =>
            {
                self.put(text.as_js().to_string_lossy().as_bytes());
            }
            Value::Object(object) if above.array && is("content") && object.get("type").is_some_and(|kind| kind.is_str("image")) => {
                if let Some(Value::String(data)) = object.get("data")
                    && moves_out(data.as_bytes(), self.release)
                {
                    self.put(&decode_lenient(data.as_bytes()));
                    below.kept = true;
                }
            }
            _ => {}
        }
        (false, below)
    }

    fn goes_into(&self, above: Above) -> bool {
        !above.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use crate::transcript::blobs::MemoryStore;

    /// The sizes of the blobs of an entry with this member; the entry must be what it was.
    fn kept(member: &str) -> Vec<usize> {
        let text = format!("{{\"type\":\"message\",{member}}}");
        let (mut entry, mut store) = (Value::parse(text.as_bytes()).unwrap(), MemoryStore::default());
        keep(&mut entry, &mut store, Release::V0_17);
        assert_eq!(to_text(&entry), text);
        store.iter().map(|(_, bytes)| bytes.len()).collect()
    }

    #[test]
    fn long_images_in_content_and_long_data_urls_are_kept() {
        let data = "A".repeat(1_024);
        let image = |data: &str| format!(r#"{{"type":"image","data":"{data}"}}"#);
        assert_eq!(kept(&format!(r#""content":[{}]"#, image(&data))), [768]);
        assert_eq!(kept(&format!(r#""message":{{"content":[[{}]]}}"#, image(&data))), [768]);
        assert_eq!(kept(&format!(r#""content":[{}]"#, image(&data[1..]))), [0_usize; 0]);
        assert_eq!(kept(&format!(r#""content":{}"#, image(&data))), [0_usize; 0]);
        assert_eq!(kept(&format!(r#""images":[{}]"#, image(&data))), [0_usize; 0]);
        let url = |data: &str| format!("data:image/png;base64,{data}");
        assert_eq!(kept(&format!(r#""image_url":"{}""#, url(&data))), [1_046]);
        assert_eq!(kept(&format!(r#""image_url":["{}"]"#, url(&data))), [1_046]);
        assert_eq!(kept(&format!(r#""image_url":"{}""#, url("AAAA"))), [0_usize; 0]);
        // The member of an object is kept when it is written.
        assert_eq!(kept(&format!(r#""image_url":{{"url":"{}"}}"#, url(&data))), [0_usize; 0]);
        // Nothing in an image that is kept is looked at.
        let inner = format!(r#"{{"type":"image","data":"{data}","image_url":"{}"}}"#, url(&data));
        assert_eq!(kept(&format!(r#""content":[{inner}]"#)), [768]);
    }
}
