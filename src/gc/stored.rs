//! The retirement receipts of one scope as they lie on disk: which journals there are by their names, and each of them read
//! and replayed within its quotas (spec 03 §11, §13, §14.1).
//!
//! Order of charges: the entries of the directory are counted before a name is judged; then each file is opened without
//! following a link, admitted by the link count and size of its descriptor, and only then given memory. A refused file was
//! opened and closed, and nothing was read from it.

use super::budget::{self, History};
use super::names::PREFIX;
use super::{Budget, Journal, Key, Name, Names, Refusal, Scope, State, Subject, Target, journal};
use crate::agent::budget::Exhausted;
use crate::agent::walk::{Listing, Object};
use crate::fsys::{self, Directory, Fs, Kind, Watched};
use crate::json::Tape;
use crate::shares;
use std::cell::{Cell, RefCell};
use std::io::Read;
use std::sync::Arc;

/// The `gc-retirement-` entries of a receipts directory, by transcript.
#[derive(Debug)]
pub struct Inventory<'l> {
    /// How many there are, whatever they are.
    pub entries: Budget,
    /// Journals, by ascending key.
    pub journals: Vec<Files<'l>>,
    /// Entries whose names tell no transcript.
    pub nobody: Vec<&'l Object>,
}

/// The files of one transcript's journal.
#[derive(Debug)]
pub struct Files<'l> {
    /// The transcript.
    pub key: Key,
    /// What the names say.
    pub names: Names,
    /// The entries, sorted by name.
    pub objects: &'l [Object],
}

impl<'l> Inventory<'l> {
    /// Sorts the entries of a receipts directory.
    ///
    /// # Errors
    /// More than 50,000 entries: nothing is judged then (§14.1).
    pub fn of(receipts: &'l Listing) -> Result<Inventory<'l>, Exhausted> {
        // The names of a listing are sorted: those that begin alike lie together, all of these and the ones of each transcript.
        let starting = receipts.starting_with(PREFIX.as_bytes());
        let mut entries = budget::scope_entries();
        entries.charge(starting.len() as u64)?;
        let mut inventory = Inventory { entries, journals: Vec::new(), nobody: Vec::new() };
        let parse = |objects: &[Object]| objects.iter().map(|object| Name::parse(object.bytes())).collect::<Vec<_>>();
        let names: Vec<Name> = shares::of(starting, parse).concat();
        let mut rest = starting;
        for names in names.chunk_by(|a, b| a.key() == b.key()) {
            let (objects, behind) = rest.split_at(names.len());
            rest = behind;
            match names.first().and_then(|name| name.key()) {
                Some(key) => {
                    let entries = names.iter().zip(objects).map(|(name, object)| (*name, object.meta.kind == Kind::File));
                    inventory.journals.push(Files { key, names: Names::parsed(key, entries), objects });
                }
                None => inventory.nobody.extend(objects),
            }
        }
        Ok(inventory)
    }
}

impl<'l> Files<'l> {
    /// The files of one transcript; none when no name begins with its key.
    pub fn of(receipts: &'l Listing, key: Key) -> Option<Files<'l>> {
        let objects = receipts.starting_with(key.prefix().as_bytes());
        let names = Names::of(key, objects.iter().map(|object| (object.bytes(), object.meta.kind == Kind::File)));
        (!objects.is_empty()).then_some(Files { key, names, objects })
    }
}

impl<'l> Files<'l> {
    /// The bytes that are stored for this transcript.
    pub fn bytes(&self) -> u64 {
        self.objects.iter().map(|object| object.meta.size).fold(0, u64::saturating_add)
    }
    /// The file of a state.
    pub fn file(&self, state: State) -> Option<&'l Object> {
        // Looked up, not searched: a journal may have 50,000 files, and each is asked for. All of them begin alike.
        let suffix = state.suffix();
        let behind = |object: &Object| object.bytes().get(Key::PREFIX_LENGTH..).unwrap_or_default().cmp(suffix.as_bytes());
        let at = self.objects.binary_search_by(behind).ok()?;
        self.objects.get(at)
    }
}

/// Why a journal was not replayed to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// gjc's own token.
    Rule(Refusal),
    /// A quota: neither corrupt nor absent.
    Full(Exhausted),
    /// A receipt could not be captured: gjc's word for it is [`fsys::Refusal::token`].
    Unread(fsys::Refusal),
    /// What stands at the transcript's path could not be read, or its owner cannot be known: that has findings of its own.
    Unbound,
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Rule(refusal)
    }
}

/// A journal that is refused, and the file that was looked at last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Why.
    pub fault: Fault,
    /// The state whose file it is about; none before the first is read.
    pub at: Option<State>,
}

/// What came of one journal.
#[derive(Debug)]
pub struct Replayed {
    /// What `prepared` is about, when it could be read so far.
    pub target: Option<Arc<Target>>,
    /// What of the quotas of one transcript is used, as far as it was read.
    pub history: History,
    /// The journal, or why there is none.
    pub journal: Result<Journal, Refused>,
}

/// A receipts directory from which receipts are read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// The directory as it was listed.
    pub listing: &'a Listing,
    /// The same directory, held open; none: every receipt is opened by its path.
    pub opened: Option<&'a dyn Directory>,
}

impl Source<'_> {
    /// Opens the directory of a listing, when it is still the one that was listed.
    pub fn open<'f>(fs: &'f dyn Fs, listing: &Listing) -> Option<Box<dyn Directory + 'f>> {
        let opened = fs.open_dir(&listing.path).ok()?;
        opened.stat().is_ok_and(|meta| meta.object() == listing.meta.object()).then_some(opened)
    }
}

/// The memory that reading receipts needs, used again for each of them.
#[derive(Default)]
pub struct Desk {
    tape: Tape,
    bytes: Cell<Vec<u8>>,
}

/// The bytes of a receipt on a [`Desk`], whose memory is the next one's when they are done with.
struct OnDesk<'d> {
    bytes: Vec<u8>,
    desk: &'d Cell<Vec<u8>>,
}

impl AsRef<[u8]> for OnDesk<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for OnDesk<'_> {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        // Of what one large receipt needed only this much is kept.
        bytes.clear();
        bytes.shrink_to(64 * 1024);
        self.desk.set(bytes);
    }
}

/// Reads and replays one journal. `opened` sees each receipt when it was opened, before anything of it is read; `bind` compares
/// the prepared target with what stands at the transcript's path now.
pub fn replay<'f>(
    source: Source<'_>,
    scope: Scope<'_>,
    files: &Files<'f>,
    Desk { tape, bytes }: &mut Desk,
    mut opened: impl FnMut(&'f Object, &Watched<'_>),
    bind: impl FnOnce(&Target) -> Result<(), Fault>,
) -> Replayed {
    let desk = &*bytes;
    let history = RefCell::new(History::default());
    let looked_at = Cell::new(None);
    let mut read = |state: State| {
        looked_at.set(Some(state));
        let object = files.file(state).ok_or(Refusal::StateMissing)?;
        if object.meta.kind != Kind::File {
            return Err(Fault::Rule(Refusal::ContinuationCorrupt));
        }
        let mut bytes = OnDesk { bytes: desk.take(), desk };
        receipt(source, object, &mut history.borrow_mut(), &mut bytes.bytes, |watched| opened(object, watched))?;
        Ok(bytes)
    };
    let mut prepared = None;
    let bind = |target: &Arc<Target>| {
        prepared = Some(Arc::clone(target));
        bind(target)
    };
    let journal = journal::replay(scope, Subject::Key(files.key), &files.names, tape, &mut read, bind);
    let journal = journal.and_then(|journal| journal.ok_or(Fault::Rule(Refusal::StateMissing)));
    let journal = journal.map_err(|fault| Refused { fault, at: looked_at.get() });
    Replayed { target: prepared, history: history.into_inner(), journal }
}

/// One receipt through one descriptor, into `bytes`.
fn receipt(
    source: Source<'_>,
    object: &Object,
    history: &mut History,
    bytes: &mut Vec<u8>,
    opened: impl FnOnce(&Watched<'_>),
) -> Result<(), Fault> {
    let watched = match source.opened {
        Some(directory) => Watched::open_listed(directory, &source.listing.path, &object.name, &object.meta),
        None => Watched::open(source.fs, &source.listing.path_of(object)),
    };
    let mut watched = watched.map_err(Fault::Unread)?;
    opened(&watched);
    let meta = watched.meta();
    let admitted =
        if meta.nlink == 1 { history.admit(meta.size).map_err(Fault::Full) } else { Err(Fault::Unread(fsys::Refusal::Links(meta.nlink))) };
    if let Err(fault) = admitted {
        watched.close();
        return Err(fault);
    }
    // One byte more than the descriptor promised is growth, which the second look shows.
    let promised = usize::try_from(meta.size).unwrap_or(usize::MAX - 1);
    bytes.clear();
    bytes.resize(promised + 1, 0);
    let read = fill(&mut watched, bytes);
    let failed = read.as_ref().err().map(|error| watched.read_error(error));
    // The first failure counts.
    match (failed, watched.finish()) {
        (Some(error), _) => Err(Fault::Unread(error.into())),
        (None, Err(refusal)) => Err(Fault::Unread(refusal)),
        (None, Ok(_)) => {
            bytes.truncate(read.unwrap_or_default());
            Ok(())
        }
    }
}

/// Reads until the buffer is full, or the last read gave less than was asked: a regular file ends there.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let asked = buffer.len() - filled;
        match file.read(&mut buffer[filled..]) {
            Ok(got) => {
                filled += got.min(asked);
                if got == 0 || got < asked && filled + 1 == buffer.len() {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::walk::{Limits, list};
    use crate::fsys::Memory;
    use std::path::Path;

    #[test]
    fn a_directory_that_was_swapped_since_it_was_listed_is_not_the_one_to_read_from() {
        let fs = Memory::new();
        fs.directory("/r");
        let listing = list(&fs, Path::new("/r"), &Limits::default()).unwrap();
        assert!(Source::open(&fs, &listing).is_some(), "near miss: it stands there still");
        fs.rename("/r", "/elsewhere");
        assert!(Source::open(&fs, &listing).is_none(), "nothing stands there");
        fs.directory("/r");
        assert!(Source::open(&fs, &listing).is_none(), "another one");
    }

    /// Gives one byte at a time, and is interrupted before each.
    struct Slow<'b>(&'b [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(std::io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut buffer[..1]) }
        }
    }

    #[test]
    fn a_receipt_is_read_to_its_end_however_slowly_it_comes() {
        let mut buffer = [0; 8];
        assert_eq!(fill(&mut Slow(b"receipt", false), &mut buffer).unwrap(), 7);
        assert_eq!(&buffer, b"receipt\0");
    }
}
