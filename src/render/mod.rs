//! The renderers show what the report decided: human (miette lives only here), concise, json. Same report, same bytes.

pub mod concise;
pub mod context;
pub mod entry;
pub mod explain;
pub mod history;
pub mod human;
pub mod journals;
pub mod json;
pub mod list;
pub mod quota;
pub mod replay;
pub mod style;
pub mod tree;
pub mod why;
pub mod words;

use std::borrow::Cow;

/// What the renderers ask of the checked files. They themselves read none.
pub trait Excerpts {
    /// The path under which the user can open the file that the report names.
    fn opened<'a>(&self, path: &'a str) -> Cow<'a, str> {
        path.into()
    }
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
