//! A file that the user named: opened for reading, links followed, never written. `-` is standard input.

use super::Kind;
use rustix::fs::OFlags;
use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// gjc reads no transcript above this size, whatever it is asked (spec 01 §2.8): neither do we.
pub const READ_CAP: u64 = 2_148_532_224;

/// Opens a file that the user named on the command line. The reader fails where an input goes beyond [`READ_CAP`]: standard
/// input may have no end.
///
/// # Errors
/// What the operating system answers. What is no regular file, and a file above [`READ_CAP`], are refused here, before a
/// byte is read: a pipe without a writer would be waited for, a device may have no end.
#[allow(clippy::disallowed_methods, reason = "this is the file system's room")]
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(Capped::new(io::stdin().lock())));
    }
    // Looked at before it is opened, for opening a device may do something; and again behind it, for it may be another now.
    admit(&std::fs::metadata(path)?)?;
    let without_waiting = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(without_waiting.cast_signed()).open(path)?;
    admit(&file.metadata()?)?;
    Ok(Box::new(Capped::new(file)))
}

/// Refuses what is no regular file, and one that is too large.
fn admit(meta: &Metadata) -> io::Result<()> {
    let kind = meta.file_type();
    let stream = |what: &str| {
        let text = format!("this is a {what}, not a file (`-` reads standard input)");
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    };
    if kind.is_dir() {
        Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a directory, not a file"))
    } else if kind.is_fifo() {
        stream(Kind::Fifo.noun())
    } else if kind.is_socket() {
        stream(Kind::Socket.noun())
    } else if !kind.is_file() {
        stream(Kind::Device.noun())
    } else if meta.len() > READ_CAP {
        Err(too_large())
    } else {
        Ok(())
    }
}

/// Reads a file that the user named, when it has at most `most` bytes.
///
/// # Errors
/// What the operating system answers; a larger file is refused.
pub fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {most} bytes")));
    }
    Ok(bytes)
}

/// Whether an error of reading is the end that a [`Capped`] reader sets.
pub fn is_too_large(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {READ_CAP} bytes, which nothing of gjc reads"))
}

/// A reader that fails where its input goes beyond [`READ_CAP`].
pub struct Capped<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Capped<R> {
    /// Watches the length of `inner`.
    pub fn new(inner: R) -> Self {
        Capped { inner, left: READ_CAP }
    }
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(got as u64).ok_or_else(too_large)?;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_above_the_cap_is_refused_before_it_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(READ_CAP).unwrap();
        assert!(open(file.path()).is_ok());
        file.as_file().set_len(1 << 40).unwrap();
        assert!(is_too_large(&open(file.path()).map(|_| ()).unwrap_err()));
    }

    #[test]
    fn a_stream_ends_with_an_error_behind_the_cap() {
        let mut input = Capped { inner: io::repeat(b'x'), left: 100 };
        assert_eq!(input.by_ref().take(100).read_to_end(&mut Vec::new()).unwrap(), 100);
        assert!(is_too_large(&input.read(&mut [0]).unwrap_err()));
    }

    #[test]
    fn a_bounded_file_is_read_whole_or_not_at_all() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(10).unwrap();
        assert_eq!(bounded(file.path(), 10).unwrap(), [0; 10]);
        assert!(is_too_large(&bounded(file.path(), 9).unwrap_err()));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting_for_it() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let refusal = |path: &Path| open(path).map(|_| ()).unwrap_err();
        assert_eq!(refusal(&fifo).to_string(), "this is a FIFO, not a file (`-` reads standard input)");
        assert_eq!(refusal(Path::new("/dev/zero")).to_string(), "this is a device, not a file (`-` reads standard input)");
        assert_eq!(refusal(folder.path()).kind(), io::ErrorKind::IsADirectory);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&fifo, &link).unwrap();
        assert_eq!(refusal(&link).kind(), io::ErrorKind::InvalidInput, "links are followed, and what they lead to counts");
    }
}
