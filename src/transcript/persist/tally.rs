//! What a writer changed of the records it was given: for notes to people and for predictions.

/// Counts of changes. Every field is a number of places unless it says bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Edit snapshots replaced by a digest (spec 01 §8.4 step 1).
    pub edit_snapshots: u64,
    /// `partialJson` and `jsonlEvents` members dropped.
    pub transient_members: u64,
    /// Inline images and data URLs that go to the blob store.
    pub moved_out: u64,
    /// Bytes of those blobs.
    pub moved_out_bytes: u64,
    /// Strings cut at 500,000 units.
    pub cut_strings: u64,
    /// Signatures emptied because they are longer.
    pub emptied_signatures: u64,
    /// Image data that is not canonical base64, re-encoded.
    pub reencoded_images: u64,
    /// Strings in which lone surrogates became U+FFFD.
    pub lone_surrogates: u64,
    /// Blob references replaced for good by the placeholder text, because the blob is missing.
    pub lost_references: u64,
    /// Resident sentinels that leaked to disk, replaced by the placeholder text.
    pub sentinels: u64,
    /// Blob references resolved and stored inline from now on.
    pub inlined_references: u64,
}

impl Tally {
    /// True when something is gone for good that the file held before.
    pub const fn loses(&self) -> bool {
        self.cut_strings + self.emptied_signatures + self.lone_surrogates + self.lost_references + self.sentinels + self.reencoded_images
            > 0
    }
}
