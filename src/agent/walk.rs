//! What is in an agent directory: listings of directories, read once, in order of name, never through a symlink.
//!
//! A directory is read through its own descriptor, so that swapping it for a link in mid-read leads nowhere. Memory is one
//! listing at a time, bounded by [`Limits`]. A directory that changes while it is read is read once more; if it changes
//! again, what was seen is kept and the trouble is named.

use super::layout::{self, INTERNAL, LOCKS, RECEIPTS, RECOVERY, TOMBSTONES};
use crate::fsys::{Errno, Error, Fs, Kind, Meta, closing};
use crate::shares;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// How much of a tree is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Names of one directory.
    pub entries: usize,
    /// Levels below the directory where a tree walk begins.
    pub depth: usize,
    /// Objects of one tree walk.
    pub objects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries: 2_000_000, depth: 64, objects: 4_000_000 }
    }
}

/// One object of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its name.
    pub name: OsString,
    /// Its facts, not following links.
    pub meta: Meta,
}

impl Object {
    /// The name as bytes.
    pub fn bytes(&self) -> &[u8] {
        self.name.as_encoded_bytes()
    }
    /// Whether it is named like a transcript.
    pub fn is_transcript_name(&self) -> bool {
        layout::is_transcript_name(self.bytes())
    }
}

/// What went wrong while a directory was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// An object, or the directory itself, could not be opened or looked at.
    Failed(Error),
    /// The directory changed while it was read, twice.
    Changed(PathBuf),
    /// A limit of this run ended before everything was read: which, and where.
    Limit(&'static str, PathBuf),
}

/// A directory that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listing {
    /// Its path: absolute and canonical when that of the root was.
    pub path: PathBuf,
    /// Facts of the directory itself.
    pub meta: Meta,
    /// What is in it, sorted by the bytes of the names.
    pub objects: Vec<Object>,
    /// What could not be read of it.
    pub troubles: Vec<Trouble>,
}

impl Listing {
    /// The object of this name.
    pub fn get(&self, name: &str) -> Option<&Object> {
        self.objects.binary_search_by(|o| o.bytes().cmp(name.as_bytes())).ok().and_then(|at| self.objects.get(at))
    }
    /// The objects whose names begin with this: they lie together.
    pub fn starting_with(&self, prefix: &[u8]) -> &[Object] {
        let start = self.objects.partition_point(|object| object.bytes() < prefix);
        let rest = self.objects.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|object| object.bytes().starts_with(prefix))).unwrap_or_default()
    }
    /// All other objects, in order.
    pub fn not_starting_with(&self, prefix: &[u8]) -> impl Iterator<Item = &Object> {
        let start = self.objects.partition_point(|object| object.bytes() < prefix);
        let (before, rest) = self.objects.split_at(start);
        let behind = rest.get(self.starting_with(prefix).len()..).unwrap_or_default();
        before.iter().chain(behind)
    }
    /// The path of one of its objects.
    pub fn path_of(&self, object: &Object) -> PathBuf {
        self.path.join(&object.name)
    }
    /// Whether everything in it was seen.
    pub fn is_complete(&self) -> bool {
        self.troubles.is_empty()
    }
}

/// Reads a directory. A symlink at any component of the path is refused.
///
/// # Errors
/// The directory could not be opened or looked at.
pub fn list(fs: &dyn Fs, path: &Path, limits: &Limits) -> Result<Listing, Error> {
    let first = list_once(fs, path, limits)?;
    if first.troubles.iter().any(|t| matches!(t, Trouble::Changed(_))) { list_once(fs, path, limits) } else { Ok(first) }
}

/// Names of a directory that are looked at one by one, as they come.
const FEW: usize = 1024;
/// Names that are looked at together.
const BATCH: usize = 2048;

fn list_once(fs: &dyn Fs, path: &Path, limits: &Limits) -> Result<Listing, Error> {
    let directory = fs.open_dir(path)?;
    let read = || {
        let meta = directory.stat()?;
        let mut listing = Listing { path: path.to_owned(), meta, objects: Vec::new(), troubles: Vec::new() };
        let mut changed = false;
        let mut take = |listing: &mut Listing, looked: Result<Object, Error>| match looked {
            Ok(object) => listing.objects.push(object),
            Err(error) if error.errno == Errno::NOENT => changed = true,
            Err(error) => listing.troubles.push(Trouble::Failed(error)),
        };
        let look = |name: OsString| directory.lstat(&name).map(|meta| Object { name, meta });
        let mut entries = directory.entries()?;
        let mut ended = None;
        // The next name, unless this is the end.
        let mut next = |so_far: usize| match entries.next()? {
            Ok(_) if so_far >= limits.entries => {
                ended = Some(Trouble::Limit("entries of one directory", path.to_owned()));
                None
            }
            Ok(entry) => Some(entry.name),
            Err(error) => {
                ended = Some(Trouble::Failed(error));
                None
            }
        };
        // The first names are looked at as they come; the rest of a large directory is while further names are read.
        let mut first = 0;
        while first < FEW
            && let Some(name) = next(first)
        {
            first += 1;
            take(&mut listing, look(name));
        }
        if first == FEW {
            let looked = shares::while_read(
                |give| {
                    let (mut so_far, mut batch) = (first, Vec::new());
                    while let Some(name) = next(so_far) {
                        so_far += 1;
                        batch.push(name);
                        if batch.len() == BATCH {
                            give(std::mem::take(&mut batch));
                        }
                    }
                    give(batch);
                },
                // Each batch is sorted and put into memory in that order: the whole is then merged, and whoever walks over the names
                // does not jump.
                |mut names: Vec<OsString>| {
                    names.sort_unstable();
                    names.into_iter().map(|name| look(name.as_os_str().to_owned())).collect::<Vec<_>>()
                },
            );
            looked.into_iter().flatten().for_each(|looked| take(&mut listing, looked));
        }
        listing.troubles.extend(ended);
        changed |= !directory.stat()?.same_state(&meta);
        if changed {
            listing.troubles.push(Trouble::Changed(path.to_owned()));
        }
        shares::sort(&mut listing.objects, |a, b| a.bytes().cmp(b.bytes()));
        Ok(listing)
    };
    let outcome = read();
    closing(outcome, || directory.close())
}

/// A managed scope: the scope directory and the directories that gjc's protocols keep in it. A part is none when nothing,
/// or no directory, stands under its name (the listing of its parent says what does), or when it could not be read (the
/// troubles say why).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// The scope directory.
    pub directory: Listing,
    /// `.gjc-managed-session-internal/`.
    pub internal: Option<Listing>,
    /// `locks/` in it.
    pub locks: Option<Listing>,
    /// `receipts/` in it.
    pub receipts: Option<Listing>,
    /// `tombstones/` in it.
    pub tombstones: Option<Listing>,
    /// `.gjc-recovery/` of the scope.
    pub recovery: Option<Listing>,
    /// Parts that are there and could not be opened.
    pub troubles: Vec<Trouble>,
}

impl Scope {
    /// Every listing of the scope, outermost first.
    pub fn listings(&self) -> impl Iterator<Item = &Listing> {
        [Some(&self.directory), self.internal.as_ref(), self.locks.as_ref(), self.receipts.as_ref(), self.tombstones.as_ref()]
            .into_iter()
            .chain([self.recovery.as_ref()])
            .flatten()
    }
    /// The role directories of the protocol that could be listed.
    pub fn roles(&self) -> impl Iterator<Item = &Listing> {
        [&self.locks, &self.receipts, &self.tombstones].into_iter().flatten()
    }
    /// Files of the scope that are named like transcripts, whatever they are.
    pub fn transcripts(&self) -> impl Iterator<Item = &Object> {
        self.directory.objects.iter().filter(|o| o.is_transcript_name())
    }
}

/// Reads a scope.
///
/// # Errors
/// The scope directory itself could not be read.
pub fn scope(fs: &dyn Fs, path: &Path, limits: &Limits) -> Result<Scope, Error> {
    let directory = list(fs, path, limits)?;
    let mut troubles = Vec::new();
    let mut part = |parent: Option<&Listing>, name: &str| {
        let parent = parent?;
        let object = parent.get(name).filter(|o| o.meta.kind == Kind::Directory)?;
        match list(fs, &parent.path_of(object), limits) {
            Ok(listing) => Some(listing),
            Err(error) => {
                troubles.push(trouble_of(error));
                None
            }
        }
    };
    let internal = part(Some(&directory), INTERNAL);
    let locks = part(internal.as_ref(), LOCKS);
    let receipts = part(internal.as_ref(), RECEIPTS);
    let tombstones = part(internal.as_ref(), TOMBSTONES);
    let recovery = part(Some(&directory), RECOVERY);
    Ok(Scope { directory, internal, locks, receipts, tombstones, recovery, troubles })
}

/// A directory that was there a moment ago and is gone, or is a link now, is a change; all else is a failure.
fn trouble_of(error: Error) -> Trouble {
    match error.errno {
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR => Trouble::Changed(error.path),
        _ => Trouble::Failed(error),
    }
}

/// Reads every directory below (and including) `root` that `enter` does not turn away, parents before children, siblings
/// in order of name. `enter` is asked with the listing a directory stands in and the directory; `visit` gets each listing.
/// No recursion; directories are opened one at a time.
pub fn tree(
    fs: &dyn Fs,
    root: &Path,
    limits: &Limits,
    mut enter: impl FnMut(&Listing, &Object) -> bool,
    mut visit: impl FnMut(Listing),
) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let mut pending = vec![(root.to_owned(), 0)];
    let mut seen = 0;
    while let Some((path, depth)) = pending.pop() {
        let listing = match list(fs, &path, limits) {
            Ok(listing) => listing,
            Err(error) => {
                troubles.push(trouble_of(error));
                continue;
            }
        };
        seen += listing.objects.len();
        let children: Vec<_> =
            listing.objects.iter().filter(|o| o.meta.kind == Kind::Directory && enter(&listing, o)).map(|o| listing.path_of(o)).collect();
        if seen > limits.objects {
            troubles.push(Trouble::Limit("objects of one tree", path));
            visit(listing);
            break;
        }
        if depth >= limits.depth && !children.is_empty() {
            troubles.push(Trouble::Limit("depth of one tree", path));
        } else {
            pending.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
        visit(listing);
    }
    troubles
}

/// A path or name as text; bytes that are not UTF-8 stand as `\xff`.
pub fn show(path: &OsStr) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for chunk in path.as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Inject, Memory, Phase};

    fn names(listing: &Listing) -> Vec<String> {
        listing.objects.iter().map(|o| show(&o.name)).collect()
    }

    #[test]
    fn a_scope_is_read_with_its_protocol_directories() {
        let fs = Memory::new();
        fs.file("/s/b.jsonl", b"");
        fs.file("/s/a.jsonl", b"");
        fs.file(format!("/s/{INTERNAL}/locks/x.lock"), b"");
        fs.directory(format!("/s/{INTERNAL}/receipts"));
        fs.symlink(format!("/s/{INTERNAL}/tombstones"), "receipts");
        let scope = scope(&fs, Path::new("/s"), &Limits::default()).unwrap();
        assert_eq!(names(&scope.directory), [INTERNAL, "a.jsonl", "b.jsonl"]);
        assert_eq!(scope.transcripts().count(), 2);
        assert_eq!(scope.locks.as_ref().map(names), Some(vec!["x.lock".to_owned()]));
        assert_eq!(scope.receipts.as_ref().map(names), Some(vec![]));
        assert!(scope.tombstones.is_none(), "a link is no part");
        assert!(scope.recovery.is_none() && scope.troubles.is_empty());
        assert_eq!(scope.listings().count(), 4);
    }

    #[test]
    fn names_that_begin_alike_lie_together() {
        let fs = Memory::new();
        for name in ["a", "b", "b-", "b-1", "b-2", "b.", "c"] {
            fs.file(format!("/d/{name}"), b"");
        }
        let listing = list(&fs, Path::new("/d"), &Limits::default()).unwrap();
        let starting = |prefix: &str| listing.starting_with(prefix.as_bytes()).iter().map(|o| show(&o.name)).collect::<Vec<_>>();
        assert_eq!(starting("b-"), ["b-", "b-1", "b-2"]);
        assert_eq!(starting("d"), Vec::<String>::new());
        assert_eq!(starting("").len(), 7);
        let others = |prefix: &str| listing.not_starting_with(prefix.as_bytes()).map(|o| show(&o.name)).collect::<Vec<_>>();
        assert_eq!(others("b-"), ["a", "b", "b.", "c"]);
        assert_eq!((others("d").len(), others("").len()), (7, 0));
    }

    #[test]
    fn a_directory_that_changes_once_is_read_again_and_one_that_keeps_changing_is_trouble() {
        for (times, complete) in [(1, true), (9, false)] {
            let fs = Memory::new();
            fs.file("/d/a", b"");
            let left = std::sync::atomic::AtomicI32::new(times);
            let inject = Inject::new(&fs, |call| {
                let moves =
                    call.op == "readdir" && call.phase == Phase::After && left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) > 0;
                if moves {
                    fs.file(format!("/d/new{}", call.number), b"");
                }
                None
            });
            let listing = list(&inject, Path::new("/d"), &Limits::default()).unwrap();
            assert_eq!(listing.is_complete(), complete, "{times}: {:?}", listing.troubles);
        }
    }

    #[test]
    fn what_fails_first_survives_a_failing_close_and_a_lone_failing_close_is_told() {
        let fs = Memory::new();
        fs.file("/d/a", b"");
        let errno = |fails: &'static str| {
            let inject = Inject::new(&fs, |call| match (call.op, call.phase) {
                (op, Phase::Before) if op == fails => Some(Errno::IO),
                ("close", Phase::Before) => Some(Errno::BADF),
                _ => None,
            });
            list(&inject, Path::new("/d"), &Limits::default()).unwrap_err().errno
        };
        assert_eq!((errno("opendir"), errno("fstat")), (Errno::IO, Errno::IO));
        assert_eq!(errno("nothing"), Errno::BADF);
    }

    #[test]
    fn a_directory_swapped_for_a_link_while_it_is_read_leads_nowhere() {
        let fs = Memory::new();
        fs.file("/d/mine", b"");
        fs.file("/secret/other", b"");
        for position in 0..8 {
            let inject = Inject::new(&fs, |call| {
                if call.number == position && call.phase == Phase::Before {
                    fs.rename("/d", "/moved");
                    fs.symlink("/d", "/secret");
                }
                None
            });
            match list(&inject, Path::new("/d"), &Limits::default()) {
                Ok(listing) => assert_eq!(names(&listing), ["mine"], "at {position}"),
                Err(error) => assert!(matches!(error.errno, Errno::LOOP | Errno::NOENT), "at {position}: {error}"),
            }
            fs.remove("/d");
            fs.rename("/moved", "/d");
        }
    }

    #[test]
    fn a_tree_is_walked_in_order_without_following_links_and_within_limits() {
        let fs = Memory::new();
        fs.file("/t/b/x", b"");
        fs.file("/t/a/y/z", b"");
        fs.symlink("/t/c", "/t");
        let walk = |limits: Limits| {
            let mut seen = Vec::new();
            let troubles = tree(&fs, Path::new("/t"), &limits, |_, _| true, |l| seen.push(l.path.display().to_string()));
            (seen, troubles.len())
        };
        assert_eq!(walk(Limits::default()), (vec!["/t".into(), "/t/a".into(), "/t/a/y".into(), "/t/b".into()], 0));
        assert_eq!(walk(Limits { depth: 1, ..Limits::default() }), (vec!["/t".into(), "/t/a".into(), "/t/b".into()], 1));
        assert_eq!(walk(Limits { entries: 1, ..Limits::default() }).0.len(), 3);
        assert_eq!(walk(Limits { objects: 3, ..Limits::default() }).1, 1);
    }

    #[test]
    #[cfg(unix)]
    fn a_name_that_is_not_utf8_is_shown_by_its_bytes() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(show(OsStr::from_bytes(b"a\xff\xfeb\xc3\xbc")), "a\\xff\\xfebü");
    }
}
