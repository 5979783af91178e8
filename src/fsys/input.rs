//! A file that the user named: opened for reading, links followed, never written. `-` is standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a file that the user named on the command line.
///
/// # Errors
/// What the operating system answers; a directory is refused here, because reading it fails only later.
#[allow(clippy::disallowed_methods, reason = "this is the file system's room")]
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(file))
}
