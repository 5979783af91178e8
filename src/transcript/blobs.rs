//! What a transcript asks of a blob store. The store itself (`agent::blobs`) lives behind this trait, so that a
//! transcript can be judged with any store, or with none.

use crate::finding::{Difference, Release};
use crate::json::{Kind, View};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Prefix of the text form of a blob reference (spec 01 §4.4).
pub const REFERENCE_PREFIX: &str = "blob:sha256:";

/// Length of the hexadecimal name of a blob.
const NAME_LENGTH: usize = 64;

/// What stands under a blob's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// Nothing.
    Missing,
    /// A regular file of this many bytes.
    File {
        /// Size in bytes.
        size: u64,
    },
    /// Something that could not be looked at (the store reports that itself); nothing is claimed about it.
    Unknown,
}

/// A blob store, as far as the check of a transcript needs one. Names are 64 lower-case hexadecimal digits.
///
/// Implementations never panic on a name, follow no link out of the store and report their own I/O errors.
pub trait BlobSource {
    /// Whether there is a store to ask. Without one nothing is claimed about any name.
    fn known(&self) -> bool {
        true
    }
    /// What stands under the name.
    fn stored(&self, name: &str) -> Stored;
    /// Whether SHA-256 of the file's bytes is its name. None when the file is missing, could not be read, or was not
    /// hashed because a quick check was asked for.
    fn intact(&self, name: &str) -> Option<bool>;
    /// At most the first `limit` bytes of the file. None when it is missing or could not be read.
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>>;
}

impl<S: BlobSource + ?Sized> BlobSource for &S {
    fn known(&self) -> bool {
        (**self).known()
    }
    fn stored(&self, name: &str) -> Stored {
        (**self).stored(name)
    }
    fn intact(&self, name: &str) -> Option<bool> {
        (**self).intact(name)
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        (**self).head(name, limit)
    }
}

/// Takes what a writer moves out of a transcript.
pub trait BlobSink {
    /// Stores `bytes` under `name`, the SHA-256 of the bytes in 64 lower-case hexadecimal digits. True: they are there,
    /// the writer may leave a reference in their place. False: they could not be stored (the store reports that itself),
    /// or nothing is stored at all; the content then stays inline, so that nothing is lost.
    fn put(&mut self, name: &str, bytes: &[u8]) -> bool;
}

/// A store that is read and written.
pub trait BlobStore: BlobSource + BlobSink {}

impl<S: BlobSource + BlobSink> BlobStore for S {}

/// No store at all: references stay what they are, content stays inline.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl BlobSource for NoStore {
    fn known(&self) -> bool {
        false
    }
    fn stored(&self, _: &str) -> Stored {
        Stored::Unknown
    }
    fn intact(&self, _: &str) -> Option<bool> {
        None
    }
    fn head(&self, _: &str, _: usize) -> Option<Vec<u8>> {
        None
    }
}

impl BlobSink for NoStore {
    fn put(&mut self, _: &str, _: &[u8]) -> bool {
        false
    }
}

/// A store in memory, ordered by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryStore {
    blobs: BTreeMap<String, Vec<u8>>,
}

impl MemoryStore {
    /// The names and the bytes, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.blobs.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }
}

impl BlobSource for MemoryStore {
    fn stored(&self, name: &str) -> Stored {
        self.blobs.get(name).map_or(Stored::Missing, |bytes| Stored::File { size: bytes.len() as u64 })
    }
    fn intact(&self, name: &str) -> Option<bool> {
        self.blobs.get(name).map(|bytes| name_of(bytes) == name)
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        self.blobs.get(name).map(|bytes| bytes[..limit.min(bytes.len())].to_vec())
    }
}

impl BlobSink for MemoryStore {
    fn put(&mut self, name: &str, bytes: &[u8]) -> bool {
        self.blobs.entry(name.to_owned()).or_insert_with(|| bytes.to_vec());
        true
    }
}

/// A store that is only read, and blobs in memory over it: nothing that is put reaches the store below.
#[derive(Clone, Debug, Default)]
pub struct Overlay<S> {
    below: S,
    added: MemoryStore,
}

impl<S: BlobSource> Overlay<S> {
    /// Nothing added yet.
    pub fn new(below: S) -> Self {
        Overlay { below, added: MemoryStore::default() }
    }
    /// What was put and is not in the store below.
    pub const fn added(&self) -> &MemoryStore {
        &self.added
    }
}

impl<S: BlobSource> BlobSource for Overlay<S> {
    fn known(&self) -> bool {
        self.below.known()
    }
    fn stored(&self, name: &str) -> Stored {
        match self.added.stored(name) {
            Stored::Missing => self.below.stored(name),
            added => added,
        }
    }
    fn intact(&self, name: &str) -> Option<bool> {
        self.added.intact(name).or_else(|| self.below.intact(name))
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        self.added.head(name, limit).or_else(|| self.below.head(name, limit))
    }
}

impl<S: BlobSource> BlobSink for Overlay<S> {
    fn put(&mut self, name: &str, bytes: &[u8]) -> bool {
        matches!(self.below.stored(name), Stored::File { .. }) || self.added.put(name, bytes)
    }
}

/// The name of a blob: SHA-256 of its bytes.
pub fn name_of(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The part of a string behind the prefix, when the release takes the string for a reference (spec 01 §4.4, 01a.7): 0.17
/// asks for the name of a blob, 0.15 for anything.
pub fn reference(text: &[u8], release: Release) -> Option<&[u8]> {
    let suffix = text.strip_prefix(REFERENCE_PREFIX.as_bytes())?;
    let fits = if Difference::BlobReferenceGrammar.in_effect(release) { is_name(suffix) } else { !suffix.is_empty() };
    fits.then_some(suffix)
}

/// The blob name of a canonical reference: the prefix and exactly 64 lower-case hexadecimal digits (0.17).
pub fn canonical(text: &[u8]) -> Option<&str> {
    let name = text.strip_prefix(REFERENCE_PREFIX.as_bytes())?;
    is_name(name).then(|| std::str::from_utf8(name).ok()).flatten()
}

/// True for the name of a blob.
pub fn is_name(name: &[u8]) -> bool {
    name.len() == NAME_LENGTH && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Why a blob of this name cannot even be found missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// It holds a NUL.
    Nul,
    /// It is longer than a file name, or the path than a path, may be: `ENAMETOOLONG`.
    TooLong,
    /// It names the folder of the store or one above it: `EISDIR`.
    Directory,
}

/// What reading the file of a name fails with, other than that there is none (01a.7). A name is joined to the folder
/// of the store as a path: `.`, `..` and empty parts go before anything is looked up, and of the rest only the first
/// part is looked up, since it is not there.
pub fn unreadable(name: &[u8]) -> Option<Unreadable> {
    if name.contains(&0) {
        return Some(Unreadable::Nul);
    }
    let (mut above, mut parts) = (0usize, Vec::new());
    for part in name.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.pop().is_none() => above += 1,
            b".." => {}
            _ => parts.push(part),
        }
    }
    let length: usize = parts.iter().map(|part| part.len() + 1).sum();
    match parts.first() {
        None => Some(Unreadable::Directory),
        Some(first) if first.len() > LONGEST_FILE_NAME || length >= LONGEST_PATH => Some(Unreadable::TooLong),
        Some(first) if above == 1 && parts.len() == 1 && *first == FOLDER => Some(Unreadable::Directory),
        Some(_) => None,
    }
}

const LONGEST_FILE_NAME: usize = 255;
const LONGEST_PATH: usize = 4096;
/// The folder of the store in the agent directory.
const FOLDER: &[u8] = b"blobs";

/// What a live reference resolves to (spec 01 §4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Live {
    /// `data` of an image: Base64 of the blob's bytes.
    ImageData,
    /// `image_url` or `image_url.url`: the blob's bytes as a data URL.
    ImageUrl,
    /// Another member named `data`: the blob's bytes as text.
    Data,
}

/// The key that a container hangs under, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Under {
    /// `content`, also through arrays.
    Content,
    /// `image_url`, directly.
    ImageUrl,
    /// Anything else, or nothing.
    Other,
}

/// What gjc resolves a reference to that is the member `key` of a container which hangs `under` a key (spec 01 §4.4).
pub fn live(key: &[u8], under: Under, is_image: impl FnOnce() -> bool) -> Option<Live> {
    match (key, under) {
        (b"data", _) if is_image() => Some(Live::ImageData),
        (b"data", Under::ImageUrl | Under::Other) => Some(Live::Data),
        (b"image_url", _) | (b"url", Under::ImageUrl) => Some(Live::ImageUrl),
        _ => None,
    }
}

/// True for an image block.
pub fn is_image<'v>(container: impl View<'v>) -> bool {
    container.get("type").is_some_and(|kind| kind.is_str("image"))
}

/// Calls `found` with every string in a live position of blob references ([`live`]) below `entry` that begins with the
/// prefix, and with that of every resident sentinel of an image, which live references turn into. Never recurses.
pub fn live_references<'v, V: View<'v>>(entry: V, mut found: impl FnMut(&[u8])) {
    // Containers still to be looked at.
    let mut pending = vec![(entry, Under::Other)];
    while let Some((value, under)) = pending.pop() {
        let in_array = if under == Under::Content { Under::Content } else { Under::Other };
        let containers = value.items().filter(|item| matches!(item.kind(), Kind::Array | Kind::Object));
        pending.extend(containers.map(|item| (item, in_array)));
        for (key, member) in value.members() {
            match member.kind() {
                Kind::Bool if *key == *b"__gjcResidentBlob" && member.as_bool() == Some(true) => {
                    sentinel_reference(value).iter().for_each(|text| found(text));
                }
                Kind::String if live(&key, under, || is_image(value)).is_some() => {
                    member.as_str().filter(|text| text.starts_with(REFERENCE_PREFIX.as_bytes())).iter().for_each(|text| found(text));
                }
                Kind::Array | Kind::Object => {
                    let under = match &*key {
                        b"content" => Under::Content,
                        b"image_url" if member.kind() == Kind::Object => Under::ImageUrl,
                        _ => Under::Other,
                    };
                    pending.push((member, under));
                }
                _ => {}
            }
        }
    }
}

/// The reference of a resident sentinel, when it is one of an image.
fn sentinel_reference<'v, V: View<'v>>(sentinel: V) -> Option<Cow<'v, [u8]>> {
    let is_image = sentinel.get("kind").is_some_and(|kind| kind.is_str("imageData") || kind.is_str("imageUrl"));
    sentinel.str_member("ref").filter(|text| is_image && text.starts_with(REFERENCE_PREFIX.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(entry: &str) -> Vec<String> {
        let entry = crate::json::Value::parse(entry.as_bytes()).unwrap();
        let mut found = Vec::new();
        live_references(&entry, |text| found.push(String::from_utf8_lossy(&text[REFERENCE_PREFIX.len()..]).into_owned()));
        found
    }

    #[test]
    fn references_live_in_four_places() {
        assert_eq!(live(r#"{"content":[{"type":"image","data":"blob:sha256:a"}]}"#), ["a"]);
        assert_eq!(live(r#"{"content":[{"image_url":"blob:sha256:b"},{"image_url":{"url":"blob:sha256:c"}}]}"#), ["c", "b"]);
        assert_eq!(live(r#"{"details":{"data":"blob:sha256:d"},"data":"blob:sha256:e"}"#), ["e", "d"]);
        assert!(live(r#"{"content":[{"data":"blob:sha256:f"}],"text":"blob:sha256:g","details":{"data":["blob:sha256:h"]}}"#).is_empty());
    }

    #[test]
    fn a_sentinel_of_an_image_holds_a_live_reference() {
        let sentinel = |rest: &str| live(&format!(r#"{{"x":[{{"__gjcResidentBlob":{rest},"ref":"blob:sha256:s"}}]}}"#));
        assert_eq!(sentinel(r#"true,"kind":"imageData""#), ["s"]);
        assert_eq!(sentinel(r#"true,"kind":"imageUrl""#), ["s"]);
        assert!(sentinel(r#"true,"kind":"text""#).is_empty() && sentinel(r#"1,"kind":"imageUrl""#).is_empty());
    }

    #[test]
    fn a_reference_is_the_prefix_and_sixty_four_lower_case_digits() {
        let name = "0123456789abcdef".repeat(4);
        assert_eq!(canonical(format!("blob:sha256:{name}").as_bytes()), Some(&*name));
        assert_eq!(canonical(format!("blob:sha256:{}", name.to_uppercase()).as_bytes()), None);
        assert_eq!(canonical(format!("blob:sha256:{name}0").as_bytes()), None);
        assert_eq!(canonical(b"blob:sha256:"), None);
        assert_eq!(canonical(format!(" blob:sha256:{name}").as_bytes()), None);
    }

    #[test]
    fn the_older_release_takes_any_suffix_but_the_empty_one() {
        assert_eq!(reference(b"blob:sha256:../x", Release::V0_15), Some(&b"../x"[..]));
        assert_eq!(reference(b"blob:sha256:../x", Release::V0_17), None);
        assert_eq!(reference(b"blob:sha256:", Release::V0_15), None);
        let name = "0123456789abcdef".repeat(4);
        assert_eq!(reference(format!("blob:sha256:{name}").as_bytes(), Release::V0_17), Some(name.as_bytes()));
    }

    #[test]
    fn a_name_is_joined_to_the_folder_as_a_path() {
        let long = |length: usize| "b".repeat(length);
        for (name, expect) in [
            ("a\0b".to_owned(), Some(Unreadable::Nul)),
            (long(255), None),
            (long(256), Some(Unreadable::TooLong)),
            (format!("a/{}", long(300)), None),
            (format!("{}/../zz", long(300)), None),
            (format!("{}/{}", long(200), long(200)), None),
            (format!("a/{}", "b/".repeat(2048)), Some(Unreadable::TooLong)),
            ("x".into(), None),
            ("../x".into(), None),
        ] {
            assert_eq!(unreadable(name.as_bytes()), expect, "{}", &name[..name.len().min(20)]);
        }
        for directory in ["", ".", "..", "/", "./", "../blobs", "../..", "a/.."] {
            assert_eq!(unreadable(directory.as_bytes()), Some(Unreadable::Directory), "{directory}");
        }
    }

    #[test]
    fn a_store_in_memory_gives_back_what_it_took() {
        let mut store = MemoryStore::default();
        let name = name_of(b"abc");
        assert_eq!(name, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(store.stored(&name), Stored::Missing);
        assert!(store.put(&name, b"abc"));
        assert_eq!(store.stored(&name), Stored::File { size: 3 });
        assert_eq!(store.intact(&name), Some(true));
        assert_eq!(store.head(&name, 2), Some(b"ab".to_vec()));
        assert!(!NoStore.put(&name, b"abc"));
    }

    #[test]
    fn what_is_put_over_a_store_does_not_reach_it() {
        let mut below = MemoryStore::default();
        below.put(&name_of(b"old"), b"old");
        let mut over = Overlay::new(below);
        assert!(over.put(&name_of(b"old"), b"old") && over.put(&name_of(b"new"), b"new"));
        assert_eq!(over.head(&name_of(b"old"), 9), Some(b"old".to_vec()));
        assert_eq!(over.stored(&name_of(b"new")), Stored::File { size: 3 });
        assert_eq!(over.added().iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [b"new"]);
    }
}
