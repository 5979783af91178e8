//! What a transcript asks of a blob store. The store itself (`agent::blobs`) lives behind this trait, so that a
//! transcript can be judged with any store, or with none.

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
    /// What stands under the name.
    fn stored(&self, name: &str) -> Stored;
    /// Whether SHA-256 of the file's bytes is its name. None when the file is missing, could not be read, or was not
    /// hashed because a quick check was asked for.
    fn intact(&self, name: &str) -> Option<bool>;
    /// At most the first `limit` bytes of the file. None when it is missing or could not be read.
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>>;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_the_prefix_and_sixty_four_lower_case_digits() {
        let name = "0123456789abcdef".repeat(4);
        assert_eq!(canonical(format!("blob:sha256:{name}").as_bytes()), Some(&*name));
        assert_eq!(canonical(format!("blob:sha256:{}", name.to_uppercase()).as_bytes()), None);
        assert_eq!(canonical(format!("blob:sha256:{name}0").as_bytes()), None);
        assert_eq!(canonical(b"blob:sha256:"), None);
        assert_eq!(canonical(format!(" blob:sha256:{name}").as_bytes()), None);
    }
}
