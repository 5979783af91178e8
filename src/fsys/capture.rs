//! Reading a file so that what was read is one state of one object (spec 02 §4.5): the name is looked at before, the
//! descriptor when opened and when read, the name again after. Whoever moved the file meanwhile is noticed.

use super::{Acl, Directory, Error, File, Fs, Kind, Meta, Result, closing, errno_name, io_errno};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a file a capture may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// gjc's bounded capture: exactly one link, and a larger file is `artifact_capacity_exceeded`.
    AtMost(u64),
    /// gjc's plain capture, which has no limit; this many bytes is where this tool stops believing.
    Ceiling(u64),
    /// The first bytes only, all other conditions as in the plain capture.
    Prefix(u64),
}

/// Bytes of one state of one regular file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// What was read.
    pub bytes: Vec<u8>,
    /// The state it was read in; `size` may exceed `bytes.len()` for [`Bound::Prefix`].
    pub meta: Meta,
}

/// Why a file was not captured.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// An operation failed; a symlink is `ELOOP` from `open`.
    #[error("{0}")]
    Failed(#[from] Error),
    /// Not a regular file; it was not opened.
    #[error("is a {}", .0.noun())]
    NotAFile(Kind),
    /// Link count other than the capture accepts.
    #[error("has {0} links")]
    Links(u64),
    /// The object changed between two looks; the fields that differ.
    #[error("changed while it was read ({})", .0.join(", "))]
    Changed(Vec<&'static str>),
    /// Larger than the bound.
    #[error("is {size} bytes, more than {limit}")]
    Capacity {
        /// Size found.
        size: u64,
        /// Bound.
        limit: u64,
        /// Whether the bound is gjc's or this tool's own.
        ours: bool,
    },
}

impl Refusal {
    /// gjc's word: an errno name, `source_changed`, or `artifact_capacity_exceeded`.
    pub fn token(&self) -> &'static str {
        match self {
            Refusal::Failed(e) => errno_name(e.errno),
            Refusal::NotAFile(_) | Refusal::Links(_) | Refusal::Changed(_) => "source_changed",
            Refusal::Capacity { .. } => "artifact_capacity_exceeded",
        }
    }
    /// Whether the object does not exist.
    pub fn is_absent(&self) -> bool {
        matches!(self, Refusal::Failed(e) if e.errno == Errno::NOENT)
    }
    /// Whether the tree moved under the reader (and a second look may answer otherwise).
    pub fn is_transient(&self) -> bool {
        matches!(self, Refusal::Changed(_))
    }
}

/// A regular file being read under watch.
pub struct Watched<'a> {
    by: By<'a>,
    file: Box<dyn File + 'a>,
    meta: Meta,
    /// How often in a row reading was interrupted.
    interrupted: u32,
}

/// How the name of a watched file is looked at again.
enum By<'a> {
    /// By its whole path.
    Path(&'a dyn Fs, PathBuf),
    /// By its name in a directory that stays open, whose path is only for messages.
    Name(&'a dyn Directory, &'a Path, &'a OsStr),
}

impl By<'_> {
    fn lstat(&self) -> Result<Meta> {
        match self {
            By::Path(fs, path) => fs.lstat(path),
            By::Name(directory, _, name) => directory.lstat(name),
        }
    }
    fn path(&self) -> PathBuf {
        match self {
            By::Path(_, path) => path.clone(),
            By::Name(_, directory, name) => directory.join(name),
        }
    }
}

impl<'a> Watched<'a> {
    /// Opens a regular file of a directory that was listed, and compares the open object with what the listing showed.
    /// `path` is that of the directory, for messages.
    pub fn open_listed(directory: &'a dyn Directory, path: &'a Path, name: &'a OsStr, listed: &Meta) -> std::result::Result<Self, Refusal> {
        let by = By::Name(directory, path, name);
        match listed.kind {
            Kind::File => {}
            Kind::Symlink => return Err(Error { op: "open", path: by.path(), errno: Errno::LOOP }.into()),
            other => return Err(Refusal::NotAFile(other)),
        }
        Self::compared(by, directory.open(name)?, listed)
    }
    /// Looks at the name, opens it, and compares the open object with what the name showed. A special file is never
    /// opened, a symlink never followed.
    pub fn open(fs: &'a dyn Fs, path: &Path) -> std::result::Result<Self, Refusal> {
        let before = fs.lstat(path)?;
        match before.kind {
            Kind::File => {}
            Kind::Symlink => return Err(Error { op: "open", path: path.to_owned(), errno: Errno::LOOP }.into()),
            other => return Err(Refusal::NotAFile(other)),
        }
        let file = fs.open(path)?;
        Self::compared(By::Path(fs, path.to_owned()), file, &before)
    }
    fn compared(by: By<'a>, file: Box<dyn File + 'a>, before: &Meta) -> std::result::Result<Self, Refusal> {
        match file.stat() {
            Ok(meta) if meta.same_state(before) => Ok(Watched { by, file, meta, interrupted: 0 }),
            Ok(meta) => closing(Ok(()), || file.close()).map_err(Refusal::from).and(Err(Refusal::Changed(before.drift(&meta)))),
            Err(first) => closing(Err(first), || file.close()).map_err(Refusal::from),
        }
    }
    /// The state the file was opened in.
    pub fn meta(&self) -> Meta {
        self.meta
    }
    /// Length of an ACL attribute of the open file.
    pub fn acl(&self, acl: Acl) -> std::result::Result<usize, Errno> {
        self.file.acl(acl)
    }
    /// Reads at an offset without moving the reader.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
    /// Looks again at the name and at the descriptor, closes, and answers the one state everything was read in.
    pub fn finish(self) -> std::result::Result<Meta, Refusal> {
        let looked = match self.by.lstat() {
            // The name stands for the open object, which is as it was: the descriptor could say nothing else.
            Ok(name) if name.same_state(&self.meta) => Ok(Vec::new()),
            Ok(name) => self.file.stat().map(|after| {
                let mut fields = self.meta.drift(&after);
                fields.extend(self.meta.drift(&name));
                if name.kind != self.meta.kind {
                    fields.push("kind");
                }
                fields.sort_unstable();
                fields.dedup();
                fields
            }),
            // A name that is gone is a change, not an error: the open object is still whole.
            Err(e) if e.errno == Errno::NOENT => Ok(vec!["name"]),
            Err(e) => Err(e),
        };
        let changed = closing(looked, || self.file.close())?;
        if changed.is_empty() { Ok(self.meta) } else { Err(Refusal::Changed(changed)) }
    }
    /// Gives the descriptor back of a file that is not read: there is nothing to look at again.
    pub fn close(self) {
        let _: Result<()> = self.file.close();
    }
    /// Turns an error of reading into one that names the file.
    pub fn read_error(&self, error: &std::io::Error) -> Error {
        Error { op: "read", path: self.by.path(), errno: io_errno(error) }
    }
}

impl Read for Watched<'_> {
    /// Who reads begins again after an interruption, as the standard library does; for ever is too long: then it is `EIO`.
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let answer = self.file.read(buffer);
        match &answer {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                self.interrupted += 1;
                if self.interrupted > super::change::INTERRUPTIONS {
                    return Err(std::io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
                }
            }
            _ => self.interrupted = 0,
        }
        answer
    }
}

/// First allocation of a capture.
const ROOM: u64 = 64 * 1024;

/// Captures a file as gjc does (spec 02 §4.5). Memory is bounded by the bound and by what is really there.
pub fn capture(fs: &dyn Fs, path: &Path, bound: Bound) -> std::result::Result<Captured, Refusal> {
    capture_admitted(fs, path, bound, |_| Ok(()))
}

/// The same of a file that somebody pays for: `admit` is asked with its size once it is open and within the bound, before
/// anything of it is read or given memory. A file that it refuses is closed.
///
/// # Errors
/// What a capture refuses, or what `admit` says.
pub fn capture_admitted<E: From<Refusal>>(
    fs: &dyn Fs,
    path: &Path,
    bound: Bound,
    admit: impl FnOnce(u64) -> std::result::Result<(), E>,
) -> std::result::Result<Captured, E> {
    let mut watched = Watched::open(fs, path)?;
    let meta = watched.meta();
    let links_fit = match bound {
        Bound::AtMost(_) => meta.nlink == 1,
        Bound::Ceiling(_) | Bound::Prefix(_) => meta.nlink <= 1,
    };
    let wanted = match bound {
        _ if !links_fit => Err(Refusal::Links(meta.nlink)),
        Bound::Prefix(limit) => Ok(meta.size.min(limit)),
        Bound::AtMost(limit) | Bound::Ceiling(limit) if meta.size > limit => {
            Err(Refusal::Capacity { size: meta.size, limit, ours: matches!(bound, Bound::Ceiling(_)) })
        }
        Bound::AtMost(_) | Bound::Ceiling(_) => Ok(meta.size),
    };
    let wanted = wanted.map_err(E::from).and_then(|wanted| admit(meta.size).map(|()| wanted));
    let read = wanted.and_then(|wanted| {
        // One byte more than was promised shows growth even where the clock is too coarse to.
        let take = if wanted < meta.size { wanted } else { wanted + 1 };
        // Room for what small files hold; a claim of more is believed as it comes.
        let mut bytes = Vec::with_capacity(usize::try_from(take.min(ROOM)).unwrap_or_default());
        (&mut watched).take(take).read_to_end(&mut bytes).map_err(|e| Refusal::Failed(watched.read_error(&e)))?;
        if bytes.len() as u64 == wanted { Ok(bytes) } else { Err(Refusal::Changed(vec!["size"]).into()) }
    });
    match read {
        Ok(bytes) => Ok(watched.finish().map(|meta| Captured { bytes, meta })?),
        Err(first) => {
            let _: Result<()> = watched.file.close();
            Err(first)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Inject, Memory, Phase};
    use super::*;

    fn tree() -> Memory {
        let fs = Memory::new();
        fs.file("/d/f", b"content");
        fs
    }

    fn captured(fs: &dyn Fs, bound: Bound) -> std::result::Result<Vec<u8>, &'static str> {
        capture(fs, Path::new("/d/f"), bound).map(|c| c.bytes).map_err(|e| e.token())
    }

    #[test]
    fn a_quiet_file_is_captured_whole_or_as_prefix() {
        let fs = tree();
        assert_eq!(captured(&fs, Bound::Ceiling(100)), Ok(b"content".to_vec()));
        assert_eq!(captured(&fs, Bound::AtMost(7)), Ok(b"content".to_vec()));
        assert_eq!(captured(&fs, Bound::Prefix(3)), Ok(b"con".to_vec()));
    }

    #[test]
    fn what_is_not_admitted_was_opened_and_closed_and_not_read() {
        use std::sync::Mutex;
        struct Full;
        impl From<Refusal> for Full {
            fn from(_: Refusal) -> Self {
                Full
            }
        }
        let fs = tree();
        let calls = Mutex::new(Vec::new());
        let watch = Inject::new(&fs, |call| {
            if call.phase == Phase::Before {
                calls.lock().unwrap().push(call.op);
            }
            None
        });
        let mut asked = None;
        let refused = capture_admitted(&watch, Path::new("/d/f"), Bound::Ceiling(7), |size| {
            asked = Some(size);
            Err(Full)
        });
        assert!(refused.is_err() && asked == Some(7));
        let calls = calls.lock().unwrap();
        assert!(calls.contains(&"open") && calls.last() == Some(&"close") && !calls.contains(&"read"), "{calls:?}");
    }

    #[test]
    fn what_is_not_one_plain_file_is_refused_with_the_token_of_gjc() {
        let fs = tree();
        fs.directory("/d/dir");
        fs.symlink("/d/link", "f");
        fs.special("/d/fifo", Kind::Fifo);
        let token = |path: &str| capture(&fs, Path::new(path), Bound::Ceiling(100)).unwrap_err().token();
        assert_eq!(token("/d/absent"), "ENOENT");
        assert_eq!(token("/d/dir"), "source_changed");
        assert_eq!(token("/d/link"), "ELOOP");
        assert_eq!(token("/d/fifo"), "source_changed");
        assert_eq!(captured(&fs, Bound::AtMost(6)), Err("artifact_capacity_exceeded"));
    }

    #[test]
    fn a_read_that_is_interrupted_begins_again_but_not_for_ever() {
        let fs = tree();
        for (times, expected) in [(3, Ok(b"content".to_vec())), (u64::MAX, Err("EIO"))] {
            let left = std::sync::atomic::AtomicU64::new(times);
            let inject = Inject::new(&fs, |call| {
                let interrupts = call.op == "read" && call.phase == Phase::Before && {
                    left.fetch_update(std::sync::atomic::Ordering::SeqCst, std::sync::atomic::Ordering::SeqCst, |n| n.checked_sub(1))
                        .is_ok()
                };
                interrupts.then_some(Errno::INTR)
            });
            assert_eq!(captured(&inject, Bound::Ceiling(100)), expected, "{times}");
        }
    }

    #[test]
    fn the_name_is_looked_at_again_and_the_descriptor_only_when_that_shows_a_change() {
        let looks = |change: fn(&Memory)| {
            let fs = tree();
            let looks = std::sync::atomic::AtomicU64::new(0);
            let inject = Inject::new(&fs, |call| {
                match (call.op, call.phase) {
                    ("read", Phase::After) => change(&fs),
                    ("fstat", Phase::Before) => _ = looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
                    _ => {}
                }
                None
            });
            (captured(&inject, Bound::AtMost(100)), looks.load(std::sync::atomic::Ordering::SeqCst))
        };
        assert_eq!(looks(|_| {}), (Ok(b"content".to_vec()), 1));
        assert_eq!(looks(|fs| fs.hard_link("/d/f", "/d/g")), (Err("source_changed"), 2));
    }

    #[test]
    fn a_second_link_is_refused() {
        let fs = tree();
        fs.hard_link("/d/f", "/d/g");
        assert_eq!(capture(&fs, Path::new("/d/f"), Bound::Ceiling(100)), Err(Refusal::Links(2)));
    }

    /// At every single operation of a capture the file is swapped, grown or removed once: the capture never answers
    /// bytes of a mixture.
    #[test]
    fn a_change_at_any_moment_is_noticed_or_harmless() {
        type Change = fn(&Memory);
        let changes: [(&str, Change); 4] = [
            ("grow", |fs| fs.append("/d/f", b"+")),
            ("swap for a link", |fs| {
                fs.remove("/d/f");
                fs.file("/d/other", b"SECRET!");
                fs.symlink("/d/f", "other");
            }),
            ("remove", |fs| fs.remove("/d/f")),
            ("replace", |fs| {
                fs.remove("/d/f");
                fs.file("/d/f", b"newer!!");
            }),
        ];
        for (what, change) in changes {
            for position in 0..12 {
                for phase in [Phase::Before, Phase::After] {
                    let fs = tree();
                    let inject = Inject::new(&fs, |call| {
                        if call.number == position && call.phase == phase {
                            change(&fs);
                        }
                        None
                    });
                    match captured(&inject, Bound::Ceiling(100)) {
                        Ok(bytes) => assert!(
                            bytes == b"content" || (position == 0 && phase == Phase::Before && bytes != b"SECRET!"),
                            "{what} at {position} {phase:?}: {bytes:?}"
                        ),
                        Err(token) => assert!(matches!(token, "source_changed" | "ENOENT" | "ELOOP"), "{what} at {position}: {token}"),
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_failure_survives_a_failing_close_and_a_lone_failing_close_is_reported() {
        let fs = tree();
        let both = Inject::new(&fs, |call| match (call.op, call.phase) {
            ("read", Phase::Before) => Some(Errno::IO),
            ("close", Phase::Before) => Some(Errno::BADF),
            _ => None,
        });
        assert_eq!(captured(&both, Bound::Ceiling(100)), Err("EIO"));
        let close = Inject::new(&fs, |call| (call.op == "close" && call.phase == Phase::Before).then_some(Errno::BADF));
        assert_eq!(captured(&close, Bound::Ceiling(100)), Err("EBADF"));
    }
}
