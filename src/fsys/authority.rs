//! Retained authority: a directory held open so that everything below it is reached through that one descriptor.

use super::{Directory, Fs, Meta, Result, closing};
use std::path::Path;

/// The descriptor a store works through. A store that derives one from a directory *owns* it and releases it exactly
/// once, also when its construction fails; a handed-in one is *borrowed* and stays its giver's.
pub enum Authority<'a> {
    /// Derived here; given back by [`Authority::release`] or when dropped.
    Owned(Box<dyn Directory + 'a>),
    /// Somebody else's.
    Borrowed(&'a dyn Directory),
}

impl<'a> Authority<'a> {
    /// Opens the directory (a final symlink, or one on the way, is refused) and hands it to `build`. When `build` fails
    /// the descriptor is released before the error is returned, and the error of `build` is the one that counts.
    pub fn derive<T>(fs: &'a dyn Fs, path: &Path, build: impl FnOnce(&dyn Directory, Meta) -> Result<T>) -> Result<(Authority<'a>, T)> {
        let directory = fs.open_dir(path)?;
        match directory.stat().and_then(|meta| build(&*directory, meta)) {
            Ok(built) => Ok((Authority::Owned(directory), built)),
            Err(first) => closing(Err(first), || directory.close()),
        }
    }
    /// The directory itself.
    pub fn directory(&self) -> &(dyn Directory + 'a) {
        match self {
            Authority::Owned(own) => &**own,
            Authority::Borrowed(lent) => *lent,
        }
    }
    /// Gives an owned descriptor back and says how closing went; a borrowed one is left alone.
    pub fn release(self) -> Result<()> {
        match self {
            Authority::Owned(own) => own.close(),
            Authority::Borrowed(_) => Ok(()),
        }
    }
}
