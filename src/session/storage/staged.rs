//! A transcript that is written beside its destination and takes its place when it is complete (spec 04 §7.5).

use super::{Begin, Result, SessionStorage, Stat, StorageError, Writer, join, split};

/// Longest line, its LF included.
pub const LONGEST_LINE: usize = 64 << 20;
/// Most bytes of the patches behind the entries.
pub const OVERLAY_BYTES: usize = 8 << 20;
/// Most patches.
pub const OVERLAY_PATCHES: usize = 65_536;

/// A staged transcript. Dropped, it leaves its file behind: residue of a crash.
pub struct Staged<'s> {
    storage: &'s dyn SessionStorage,
    destination: String,
    path: String,
    /// What stood at the destination when this began.
    expected: Option<Stat>,
    writer: Writer<'s>,
    bytes: u64,
    overlay: Vec<u8>,
    patches: usize,
}

/// Begins a staged transcript for a destination; `name` makes its own name different from those of others.
///
/// # Errors
/// The storage's.
pub fn stage<'s>(storage: &'s dyn SessionStorage, destination: &str, name: &str) -> Result<Staged<'s>> {
    let (directory, base) = split(destination);
    let path = join(directory, &format!(".{base}.{name}.staged"));
    let writer = storage.open_writer(&path, Begin::Truncate)?;
    let expected = standing(storage, destination)?;
    Ok(Staged { storage, destination: destination.to_owned(), path, expected, writer, bytes: 0, overlay: Vec::new(), patches: 0 })
}

fn standing(storage: &dyn SessionStorage, path: &str) -> Result<Option<Stat>> {
    if storage.exists(path)? { storage.stat(path).map(Some) } else { Ok(None) }
}

impl Staged<'_> {
    /// Where it is written until it is published.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Adds an entry, its LF included.
    ///
    /// # Errors
    /// `staged_line_too_long`, `staged_memory_capacity_exceeded`; the writer's, which stay.
    pub fn write_line(&mut self, line: &[u8]) -> Result<()> {
        self.admit(line)?;
        self.writer.write_line(line)?;
        self.bytes += line.len() as u64;
        Ok(())
    }
    /// Adds a patch: it stands behind all entries.
    ///
    /// # Errors
    /// `staged_overlay_capacity_exceeded`; as [`Staged::write_line`].
    pub fn patch(&mut self, line: &[u8]) -> Result<()> {
        if self.patches == OVERLAY_PATCHES || self.overlay.len() + line.len() > OVERLAY_BYTES {
            return Err(StorageError::token("staged_overlay_capacity_exceeded"));
        }
        self.admit(line)?;
        self.patches += 1;
        self.overlay.extend_from_slice(line);
        Ok(())
    }
    fn admit(&self, line: &[u8]) -> Result<()> {
        if line.len() > LONGEST_LINE {
            return Err(StorageError::token("staged_line_too_long"));
        }
        let bytes = self.bytes + (self.overlay.len() + line.len()) as u64;
        let fits = self.storage.staged_limit().is_none_or(|limit| bytes <= limit);
        if fits { Ok(()) } else { Err(StorageError::token("staged_memory_capacity_exceeded")) }
    }

    /// Makes it durable and puts it in place of what stood at the destination when this began.
    ///
    /// # Errors
    /// `destination_identity_changed` when something else stands there by now; `staged_publish_rejected:<reason>`; the writer's.
    /// The destination is then what it was, and the staged file is gone.
    pub fn publish(mut self) -> Result<()> {
        let published = self.finish();
        if published.is_err() {
            // What stays is residue, not another error.
            let _ = self.storage.unlink(&self.path);
        }
        published
    }

    fn finish(&mut self) -> Result<()> {
        if !self.overlay.is_empty() {
            self.writer.write_line(&std::mem::take(&mut self.overlay))?;
        }
        self.writer.fsync()?;
        self.writer.close()?;
        if standing(self.storage, &self.destination)? != self.expected {
            return Err(StorageError::token("destination_identity_changed"));
        }
        let named = match self.expected {
            // What appears at the last moment is not replaced either.
            None => self.storage.rename_no_replace(&self.path, &self.destination),
            Some(_) => self.storage.rename(&self.path, &self.destination),
        };
        named.map_err(|error| StorageError { code: error.code, message: format!("staged_publish_rejected:{error}") })
    }

    /// Gives it up.
    ///
    /// # Errors
    /// The storage's.
    pub fn discard(mut self) -> Result<()> {
        // The file goes whether or not it can be closed.
        let _ = self.writer.close();
        self.storage.unlink(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Files, Memory};
    use super::*;
    use crate::fsys;

    const PATH: &str = "/s/x.jsonl";

    /// 04 §7.5
    #[test]
    fn a_complete_transcript_takes_its_place_with_its_patches_behind_it() {
        let fs = fsys::Memory::new();
        fs.file(PATH, b"old\n");
        let storage = Files::new(&fs);
        let mut staged = stage(&storage, PATH, "u").unwrap();
        assert_eq!(staged.path(), "/s/.x.jsonl.u.staged");
        staged.write_line(b"1\n").unwrap();
        staged.patch(b"p\n").unwrap();
        staged.write_line(b"2\n").unwrap();
        assert_eq!(storage.read(PATH).unwrap(), b"old\n");
        staged.publish().unwrap();
        assert_eq!((storage.read(PATH).unwrap(), storage.list_files("/s", ".*").len()), (b"1\n2\np\n".to_vec(), 0));
    }

    #[test]
    fn what_changed_at_the_destination_is_not_replaced() {
        let storage = Memory::new();
        let mut staged = stage(&storage, PATH, "u").unwrap();
        staged.write_line(b"1\n").unwrap();
        storage.write(PATH, b"appeared\n").unwrap();
        assert!(staged.publish().unwrap_err().is("destination_identity_changed"));
        let staged = stage(&storage, PATH, "v").unwrap();
        storage.write(PATH, b"changed!\n").unwrap();
        assert!(staged.publish().unwrap_err().is("destination_identity_changed"));
        assert_eq!(storage.all(), [(PATH.to_owned(), b"changed!\n".to_vec())]);
    }

    #[test]
    fn a_rename_that_is_refused_says_why() {
        let fs = fsys::Memory::new();
        fs.directory("/s");
        let refusing = fsys::Inject::changing(&fs, |call: &fsys::Call<'_>| {
            (call.op == "rename" && call.phase == fsys::Phase::Before).then_some(fsys::Errno::IO)
        });
        let storage = Files::new(&refusing);
        let error = stage(&storage, PATH, "u").unwrap().publish().unwrap_err();
        assert!(error.message.starts_with("staged_publish_rejected:") && error.is("EIO"), "{error}");
        assert_eq!(storage.list_files("/s", ".*").len(), 0);
    }

    #[test]
    fn capacities() {
        let storage = Memory::new();
        let mut staged = stage(&storage, PATH, "u").unwrap();
        let line = vec![b'x'; 10 << 20];
        staged.write_line(&line).unwrap();
        staged.write_line(&line).unwrap();
        assert!(staged.write_line(b"x").unwrap_err().is("staged_memory_capacity_exceeded"));
        staged.discard().unwrap();
        assert_eq!(storage.all(), []);
        let fs = fsys::Memory::new();
        let files = Files::new(&fs);
        let mut staged = stage(&files, PATH, "u").unwrap();
        assert!(staged.patch(&vec![b'x'; OVERLAY_BYTES + 1]).unwrap_err().is("staged_overlay_capacity_exceeded"));
        for _ in 0..OVERLAY_PATCHES {
            staged.patch(b"p").unwrap();
        }
        assert!(staged.patch(b"p").unwrap_err().is("staged_overlay_capacity_exceeded"));
        assert!(staged.write_line(&vec![b'x'; LONGEST_LINE + 1]).unwrap_err().is("staged_line_too_long"));
        staged.discard().unwrap();
    }
}
