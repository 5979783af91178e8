//! SHA-256 of what is read, streaming.

use super::{Error, Fs, Result, closing, io_errno};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// Passes bytes through and hashes them on the way.
pub struct Sha256Reader<R> {
    inner: R,
    hash: Sha256,
    length: u64,
}

impl<R: Read> Sha256Reader<R> {
    /// Hashes what will be read from `inner`.
    pub fn new(inner: R) -> Self {
        Sha256Reader { inner, hash: Sha256::new(), length: 0 }
    }
    /// The hash and the number of bytes read so far, and the reader.
    pub fn finish(self) -> ([u8; 32], u64, R) {
        (self.hash.finalize().into(), self.length, self.inner)
    }
}

impl<R: Read> Read for Sha256Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hash.update(buffer.get(..n).unwrap_or_default());
        self.length += n as u64;
        Ok(n)
    }
}

/// SHA-256 and length of a file, reading 256 KiB at a time.
pub fn hash_file(fs: &dyn Fs, path: &Path) -> Result<([u8; 32], u64)> {
    let file = fs.open(path)?;
    let mut reader = Sha256Reader::new(file);
    let read = drain(&mut reader).map_err(|e| Error { op: "read", path: path.to_owned(), errno: io_errno(&e) });
    let (hash, length, file) = reader.finish();
    closing(read, || file.close()).map(|()| (hash, length))
}

/// Reads to the end.
fn drain(reader: &mut impl Read) -> std::io::Result<()> {
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    #[test]
    fn a_file_is_hashed_whole() {
        let fs = Memory::new();
        fs.file("/a", b"abc");
        let (hash, length) = hash_file(&fs, Path::new("/a")).unwrap();
        assert_eq!(data_encoding::HEXLOWER.encode(&hash), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(length, 3);
    }
}
