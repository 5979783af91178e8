//! The renderers show what the report decided: human (miette lives only here), concise, json. Same report, same bytes.

pub mod concise;
pub mod context;
pub mod entry;
pub mod explain;
pub mod human;
pub mod json;
pub mod replay;
pub mod style;
pub mod tree;

/// Gives the human renderer the bytes around a place. The renderers themselves read no files.
pub trait Excerpts {
    /// At most `len` bytes of the file at `path` (as the report names it) from byte `start` on; none when it cannot be
    /// read, or is no text file.
    fn bytes(&self, path: &str, start: u64, len: usize) -> Option<Vec<u8>>;
}

/// No excerpts.
pub struct NoExcerpts;

impl Excerpts for NoExcerpts {
    fn bytes(&self, _: &str, _: u64, _: usize) -> Option<Vec<u8>> {
        None
    }
}
