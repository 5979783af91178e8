//! Finds `blob:sha256:` and 64 lower-case hex digits in raw bytes on their way to a reader (spec 04 §5.11): unanchored,
//! so a reference inside prose or an escaped string counts too.

use crate::check::blob::store::Hash;
use crate::transcript::blobs::REFERENCE_PREFIX;
use memchr::memmem::Finder;
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::LazyLock;

const HEX: usize = 64;
/// What may be left over at the end of a buffer: one byte less than a whole reference.
const CARRY: usize = REFERENCE_PREFIX.len() + HEX - 1;

static PREFIX: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(REFERENCE_PREFIX));

/// Passes bytes through and collects the references in them.
pub struct ReferenceScan<'s, R> {
    inner: R,
    carry: Vec<u8>,
    found: &'s mut BTreeSet<Hash>,
}

impl<'s, R: Read> ReferenceScan<'s, R> {
    /// Collects into `found` what is read from `inner`.
    pub fn new(inner: R, found: &'s mut BTreeSet<Hash>) -> Self {
        ReferenceScan { inner, carry: Vec::new(), found }
    }
    fn scan(&mut self, new: &[u8]) {
        if !self.carry.is_empty() {
            // A reference that begins in the old bytes ends within the next CARRY new ones.
            self.carry.extend_from_slice(new.get(..CARRY.min(new.len())).unwrap_or_default());
            collect(&self.carry, self.found);
        }
        collect(new, self.found);
        if new.len() >= CARRY {
            self.carry.clear();
            self.carry.extend_from_slice(new.get(new.len() - CARRY..).unwrap_or_default());
        } else if self.carry.is_empty() {
            self.carry.extend_from_slice(new);
        } else {
            // The carry already holds the old bytes and all of the new ones.
            let surplus = self.carry.len().saturating_sub(CARRY);
            self.carry.drain(..surplus);
        }
    }
}

impl<R: Read> Read for ReferenceScan<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.scan(buffer.get(..n).unwrap_or_default());
        Ok(n)
    }
}

fn collect(bytes: &[u8], found: &mut BTreeSet<Hash>) {
    for at in PREFIX.find_iter(bytes) {
        let from = at + REFERENCE_PREFIX.len();
        let hash = bytes.get(from..from + HEX).and_then(|hex| data_encoding::HEXLOWER.decode(hex).ok());
        if let Some(hash) = hash.and_then(|bytes| Hash::try_from(bytes).ok()) {
            found.insert(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out so many bytes a read.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn found(text: &str, step: usize) -> usize {
        let mut found = BTreeSet::new();
        let mut scan = ReferenceScan::new(Dribble(text.as_bytes(), step), &mut found);
        std::io::copy(&mut scan, &mut std::io::sink()).unwrap();
        found.len()
    }

    #[test]
    fn references_are_found_wherever_reads_cut_them() {
        let (a, b) = ("a".repeat(64), "0123456789abcdef".repeat(4));
        let text = format!("x blob:sha256:{a}f \\\"blob:sha256:{b}\\\" blob:sha256:{} blob:sha256:blob:sha256:{b}", "A".repeat(64));
        for step in [1, 2, 7, 11, 12, 63, 64, 75, 76, 77, 100, 1000] {
            assert_eq!(found(&text, step), 2, "{step} bytes a read");
        }
    }
}
