//! A fork of a transcript that is too large to be read as a whole (spec 04 §4.6, §5.10, §9.1): it is read twice line by line,
//! once to be judged and once to be copied, and its artifacts are copied too. Memory is one line and the patches.
//!
//! No manager of this crate holds such a session; what comes out is the fork itself, which gjc opens from its tail.

use super::carry;
use super::content::Lineage;
use super::manager::{OpError, OpenError, World, fresh};
use super::place::Place;
use super::storage::staged::{OVERLAY_BYTES, OVERLAY_PATCHES, stage};
use super::storage::{LONGEST_RANGE, SessionStorage, Stat, StorageError, artifacts_directory};
use super::successor::{Artifacts, NOT_PERSISTENT};
use crate::json::{JsString, Value, View, stringify};
use crate::transcript::blobs::{BlobSource, Stored};
use crate::transcript::entry::Role;
use crate::transcript::header::CURRENT_VERSION;
use crate::transcript::inspect::{EAGER_MAX, Reason};
use crate::transcript::patch;
use crate::transcript::persist::settle::first_missing;
use crate::transcript::persist::{Destination, Refusal, sanitise};
use crate::transcript::readers::bounded::{self, BOUNDED_MAX, LONGEST_LINE};
use crate::transcript::{EntryKind, persist};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

/// Most bytes of a blob that a bounded fork verifies.
const LONGEST_BLOB: u64 = 16 << 20;

/// A fork that stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LargeFork {
    /// Path of its transcript.
    pub path: String,
    /// What became of the artifacts.
    pub artifacts: Artifacts,
}

/// Where large transcripts are forked from and to.
#[derive(Clone, Copy)]
pub struct LargeForks<'s, B> {
    storage: &'s dyn SessionStorage,
    blobs: &'s B,
    place: &'s Place,
    /// Most bytes of a transcript that is read as a whole, and so not forked this way.
    eager: u64,
}

impl<'s, B: BlobSource> LargeForks<'s, B> {
    /// Forks at a place of transcripts whose blobs are in a store.
    pub const fn new(storage: &'s dyn SessionStorage, blobs: &'s B, place: &'s Place) -> Self {
        LargeForks { storage, blobs, place, eager: EAGER_MAX }
    }

    /// Forks the transcript at `source`, which has more than 128 MiB; `name` makes the names of what is staged different from
    /// those of others. One chain of records of version 5 with a compaction, patches of at most 8 MiB, and every blob that it
    /// refers to: that is copied, with its patches folded in.
    ///
    /// # Errors
    /// `oversized` for any other transcript, or one that gjc could not open from its tail; `fork_source_identity_changed`; a
    /// place without files; as [`carry::fork_artifacts`]; the storage's. Nothing is left of the fork then.
    pub fn fork<W: World>(&self, world: &mut W, source: &str, name: &str) -> Result<LargeFork, OpenError> {
        let LargeForks { storage, place, .. } = *self;
        if place.destination() == Destination::Nowhere {
            return Err(OpError::plain(NOT_PERSISTENT).into());
        }
        let stat = storage.stat(source)?;
        let oversized = || OpenError::Refused(Refusal::Inspection(Reason::Oversized { size: stat.size }));
        if stat.size <= self.eager || stat.size > BOUNDED_MAX {
            return Err(oversized());
        }
        let source = Source { storage, path: source, stat };
        let judged = Judged::read(source, self.blobs, place)?.ok_or_else(oversized)?;
        let of = |key: &str| judged.header.member(key).cloned();
        let lineage = Lineage { parent_session: of("id"), title: [of("title"), of("titleSource")], title_first: false };
        place.prepare(storage)?;
        let (path, header) = fresh(world, place, lineage);

        let mut staged = stage(storage, &path, name)?;
        let copied = judged.copy(source, &header, &mut |line| staged.write_line(line));
        match copied {
            Ok(()) => staged.publish()?,
            Err(error) => {
                // What stays is residue, not another error.
                let _ = staged.discard();
                return Err(error.into());
            }
        }
        let finished = source.finish(&path, name).map_err(OpenError::from).and_then(|artifacts| artifacts.ok_or_else(oversized));
        let artifacts = finished.map_err(|error| match storage.unlink(&path) {
            Ok(()) => error,
            Err(second) => OpError::plain(format!("{error}; the fork stays at {path}: {second}")).into(),
        })?;
        Ok(LargeFork { path, artifacts })
    }
}

fn changed() -> StorageError {
    StorageError::token("fork_source_identity_changed")
}

/// What the first reading found.
struct Judged {
    /// With its patches.
    header: Value,
    /// The message that a patch gives an entry, by the entry's id.
    messages: BTreeMap<JsString, Value>,
    /// Lines are not copied as they stand: there are patches, or answers that may have replay payloads.
    transforms: bool,
    sha256: [u8; 32],
}

impl Judged {
    /// None for a transcript that is not forked this way.
    fn read(source: Source<'_>, blobs: &impl BlobSource, place: &Place) -> Result<Option<Self>, StorageError> {
        let release = place.release();
        let verified = Verified(blobs);
        let (mut header, mut messages) = (None::<Value>, BTreeMap::new());
        let (mut previous, mut compaction, mut transforms) = (Value::Null, false, false);
        let (mut overlay, mut patches) = (0, 0);
        let mut hash = Sha256::new();
        let complete = source.each_line(&mut |line| {
            hash.update(line);
            let Some(record) = std::str::from_utf8(line).ok().and_then(|text| Value::parse(text.as_bytes())) else { return Ok(false) };
            let kind = EntryKind::of(&record);
            let Some(first) = &mut header else {
                let current = record.member("version").and_then(View::as_f64) == Some(CURRENT_VERSION);
                header = Some(record).filter(|_| kind.is_header() && current);
                return Ok(header.is_some());
            };
            if matches!(kind, EntryKind::HeaderPatch | EntryKind::EntryPatch) {
                (overlay, patches, transforms) = (overlay + line.len(), patches + 1, true);
                if overlay > OVERLAY_BYTES || patches > OVERLAY_PATCHES {
                    return Ok(false);
                }
                return Ok(if kind == EntryKind::HeaderPatch {
                    fold(first, &record, release)
                } else {
                    let Ok(patch) = patch::entry_patch(&record) else { return Ok(false) };
                    if let (Some(id), Some(message)) = (patch.entry_id.as_str(), patch.message) {
                        messages.insert(JsString::from_wtf8(id.into_owned()), message.clone());
                    }
                    first_missing(&record, &verified, release).is_none()
                });
            }
            let (id, parent) = (record.member("id"), record.member("parentId"));
            let chained = matches!(id, Some(Value::String(_))) && parent == Some(&previous) && id != Some(&previous);
            if kind.is_header() || !chained || first_missing(&record, &verified, release).is_some() {
                return Ok(false);
            }
            compaction |= kind == EntryKind::Compaction;
            transforms |= is_answer(&record);
            previous = id.cloned().unwrap_or_default();
            Ok(true)
        })?;
        let Some(header) = header.filter(|_| complete && compaction) else { return Ok(None) };
        Ok(Some(Judged { header, messages, transforms, sha256: hash.finalize().into() }))
    }

    /// The second reading: every record under the fork's header.
    fn copy(
        &self,
        source: Source<'_>,
        header: &Value,
        write: &mut dyn FnMut(&[u8]) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut hash = Sha256::new();
        let mut is_first = true;
        let mut out = Vec::new();
        let complete = source.each_line(&mut |line| {
            hash.update(line);
            out.clear();
            if std::mem::take(&mut is_first) {
                persist::rewrite::write_line(header, &mut out);
            } else if !self.transforms {
                out.extend_from_slice(line);
            } else {
                let Some(mut record) = Value::parse(line) else { return Ok(false) };
                match EntryKind::of(&record) {
                    EntryKind::HeaderPatch | EntryKind::EntryPatch => return Ok(true),
                    EntryKind::Message => self.patch(&mut record),
                    _ => {}
                }
                sanitise(&mut record);
                stringify::write(&record, &mut out);
                out.push(b'\n');
            }
            write(&out).map(|()| true)
        })?;
        let same = complete && <[u8; 32]>::from(hash.finalize()) == self.sha256;
        if same { Ok(()) } else { Err(changed()) }
    }

    fn patch(&self, entry: &mut Value) {
        let id = entry.str_member("id").map(|id| JsString::from_wtf8(id.into_owned()));
        if let (Some(message), Some(entry)) = (id.and_then(|id| self.messages.get(&id)), entry.as_object_mut()) {
            entry.set("message", message.clone());
        }
    }
}

fn is_answer(record: &Value) -> bool {
    EntryKind::of(record) == EntryKind::Message && record.member("message").is_some_and(|message| Role::of(message) == Role::Assistant)
}

/// Sets what a patch says of the header; false for one that is not valid.
fn fold(header: &mut Value, record: &Value, release: crate::finding::Release) -> bool {
    let (Ok(patch), Some(header)) = (patch::header_patch(record, release), header.as_object_mut()) else { return false };
    let members = [("cwd", patch.cwd), ("title", patch.title), ("titleSource", patch.title_source), ("starred", patch.starred)];
    for (key, value) in members.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        header.set(key, value.clone());
    }
    true
}

/// A store that has only what is intact and not too large to be verified.
struct Verified<'b, B>(&'b B);

impl<B: BlobSource> BlobSource for Verified<'_, B> {
    fn known(&self) -> bool {
        self.0.known()
    }
    fn stored(&self, name: &str) -> Stored {
        match self.0.stored(name) {
            Stored::File { size } if size > LONGEST_BLOB || self.0.intact(name) != Some(true) => Stored::Missing,
            stored => stored,
        }
    }
    fn intact(&self, name: &str) -> Option<bool> {
        self.0.intact(name)
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        self.0.head(name, limit)
    }
}

/// A file as long as it is the one with these facts.
#[derive(Clone, Copy)]
struct Source<'s> {
    storage: &'s dyn SessionStorage,
    path: &'s str,
    stat: Stat,
}

impl<'s> Source<'s> {
    /// Its bytes, read range by range.
    const fn ranges(self) -> Ranges<'s> {
        Ranges { file: self, at: 0 }
    }

    /// Calls `take` with every line, its LF included, until it says false; false then, and for a line that is too long or has
    /// no LF.
    fn each_line(self, take: &mut dyn FnMut(&[u8]) -> Result<bool, StorageError>) -> Result<bool, StorageError> {
        let mut input = BufReader::with_capacity(256 * 1024, self.ranges());
        let mut line = Vec::new();
        loop {
            line.clear();
            (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(|_| changed())?;
            match line.last() {
                None => return Ok(true),
                Some(b'\n') if line.len() as u64 <= LONGEST_LINE => {}
                Some(_) => return Ok(false),
            }
            if !take(&line)? {
                return Ok(false);
            }
        }
    }

    /// Copies the artifacts when the transcript of the fork stands; none where gjc could not open it from its tail.
    fn finish(self, fork: &str, name: &str) -> Result<Option<Artifacts>, StorageError> {
        let Source { storage, path, stat } = self;
        if storage.stat(path)? != stat {
            return Err(changed());
        }
        let written = Source { storage, path: fork, stat: storage.stat(fork)? };
        if bounded::scan(written.ranges()).map_err(|_| changed())?.is_err() {
            return Ok(None);
        }
        let published = carry::fork_artifacts(storage, artifacts_directory(path), artifacts_directory(fork), name)?;
        Ok(Some(if published.is_some() { Artifacts::Taken } else { Artifacts::None }))
    }
}

struct Ranges<'s> {
    file: Source<'s>,
    at: u64,
}

impl Read for Ranges<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Source { storage, path, stat } = self.file;
        let length = (buffer.len() as u64).min(stat.size - self.at).min(LONGEST_RANGE);
        let bytes = storage.read_range(path, self.at, length).map_err(io::Error::other)?;
        if storage.stat(path).ok() != Some(stat) {
            return Err(io::Error::other("source_changed"));
        }
        let read = (&*bytes).read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::storage::double::{Answer, Hooked};
    use super::super::storage::{Memory, join};
    use super::super::tests::{Counted, FIRST, place, text};
    use super::*;
    use crate::finding::Release;
    use crate::transcript::blobs::{BlobSink, MemoryStore, name_of};

    const SOURCE: &str = "/x/large.jsonl";
    const HEADER: &str = r#"{"type":"session","version":5,"id":"x","timestamp":"t","cwd":"/w","title":"old"}"#;

    fn entry(id: &str, parent: &str, rest: &str) -> String {
        format!(r#"{{"id":"{id}","parentId":{parent},"timestamp":"t",{rest}}}"#)
    }
    /// A chain with a compaction and what else is said, line by line.
    fn chain(more: &[&str]) -> String {
        let user = entry("a", "null", r#""type":"message","message":{"role":"user","content":"q"}"#);
        let compaction = entry("k", "\"a\"", r#""type":"compaction","summary":"s","firstKeptEntryId":"a","tokensBefore":1"#);
        let lines = [HEADER.to_owned(), user, compaction].into_iter().chain(more.iter().map(|line| (*line).to_owned()));
        lines.map(|line| line + "\n").collect()
    }
    fn forked(storage: &dyn SessionStorage, blobs: &MemoryStore) -> Result<LargeFork, String> {
        let place = place();
        let forks = LargeForks { eager: 10, ..LargeForks::new(storage, blobs, &place) };
        forks.fork(&mut Counted::default(), SOURCE, "u").map_err(|error| error.to_string())
    }
    fn stored(text: &str) -> Memory {
        let storage = Memory::new();
        storage.write(SOURCE, text.as_bytes()).unwrap();
        storage
    }
    const OVERSIZED: &str = "Could not open session: oversized";

    /// 04 §9.1: artifacts are copied on this path
    #[test]
    fn a_large_fork_has_every_record_and_the_artifacts() {
        let storage = stored(&chain(&[]));
        storage.write("/x/large/0.bash.log", b"out").unwrap();
        assert_eq!(forked(&storage, &MemoryStore::default()), Ok(LargeFork { path: FIRST.into(), artifacts: Artifacts::Taken }));
        let written = text(&storage, FIRST);
        let (first, rest) = written.split_once('\n').unwrap();
        assert!(first.ends_with(r#""cwd":"/w","parentSession":"x","title":"old"}"#), "{first}");
        assert_eq!(rest, chain(&[]).split_once('\n').unwrap().1);
        assert_eq!(storage.read(&join(artifacts_directory(FIRST), "0.bash.log")), Ok(b"out".to_vec()));
        assert_eq!(storage.all().len(), 4);
    }

    #[test]
    fn patches_are_folded_in_and_replay_payloads_taken_out() {
        let answer = entry(
            "b",
            "\"k\"",
            r#""type":"message","message":{"role":"assistant","content":[],"providerPayload":{"type":"openaiResponsesHistory"}}"#,
        );
        let title = r#"{"type":"header_patch","patch":{"title":"new","titleSource":"user"}}"#;
        let message = r#"{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"user","content":"patched"}}}"#;
        let storage = stored(&chain(&[&answer, title, message]));
        assert_eq!(forked(&storage, &MemoryStore::default()).map(|fork| fork.artifacts), Ok(Artifacts::None));
        let written = text(&storage, FIRST);
        assert!(written.lines().next().unwrap().ends_with(r#""title":"new","titleSource":"user"}"#), "{written}");
        assert!(
            written.contains(r#""content":"patched""#) && !written.contains("_patch") && !written.contains("providerPayload"),
            "{written}"
        );
        assert_eq!(written.lines().count(), 4);
    }

    /// 04 §4.6
    #[test]
    fn what_is_no_chain_is_too_large_and_leaves_nothing() {
        let user = |id: &str, parent: &str| entry(id, parent, r#""type":"message","message":{"role":"user","content":"q"}"#);
        for (why, source) in [
            ("a branch", chain(&[&user("b", "\"a\"")])),
            ("the same id twice", chain(&[&user("k", "\"k\"")])),
            ("no JSON", chain(&["oops"])),
            ("no compaction", format!("{HEADER}\n{}\n", user("a", "null"))),
            ("an older version", chain(&[]).replace(":5,", ":4,")),
            ("no line feed", chain(&[]).trim_end().to_owned()),
            ("a patch that is not valid", chain(&[r#"{"type":"header_patch","patch":{"title":1}}"#])),
            ("a compaction that keeps from nowhere", chain(&[]).replace(r#""firstKeptEntryId":"a""#, r#""firstKeptEntryId":"z""#)),
        ] {
            let storage = stored(&source);
            assert_eq!(forked(&storage, &MemoryStore::default()), Err(OVERSIZED.into()), "{why}");
            assert_eq!(storage.all().len(), 1, "{why}");
        }
        let (storage, blobs) = (stored(&chain(&[])), MemoryStore::default());
        let refused =
            |place: &Place| LargeForks::new(&storage, &blobs, place).fork(&mut Counted::default(), SOURCE, "u").unwrap_err().to_string();
        assert_eq!(refused(&Place::nowhere("/w", Release::V0_17)), "--fork requires session persistence");
        assert_eq!(refused(&place()), OVERSIZED, "small enough to be read as a whole");
    }

    /// 04 §5.10
    #[test]
    fn each_blob_is_verified() {
        let name = name_of(b"abc");
        let image = format!(r#""type":"message","message":{{"role":"user","content":[{{"type":"image","data":"blob:sha256:{name}"}}]}}"#);
        let source = chain(&[&entry("b", "\"k\"", &image)]);
        assert_eq!(forked(&stored(&source), &MemoryStore::default()), Err(OVERSIZED.into()));
        let mut blobs = MemoryStore::default();
        blobs.put(&name, b"abc");
        assert!(forked(&stored(&source), &blobs).is_ok());
    }

    #[test]
    fn a_source_that_changes_or_artifacts_that_cannot_follow_leave_nothing() {
        let memory = stored(&chain(&[]));
        let changing = Hooked::new(&memory, |asked| {
            if asked.operation == "open_writer" {
                memory.write(SOURCE, chain(&[]).replace("\"q\"", "\"r\"").as_bytes()).unwrap();
            }
            Answer::GoOn
        });
        assert_eq!(forked(&changing, &MemoryStore::default()), Err("fork_source_identity_changed".into()));
        assert_eq!(memory.all().len(), 1);
        memory.write("/x/large/0.bash.log", b"out").unwrap();
        memory.write(&join(artifacts_directory(FIRST), "taken"), b"").unwrap();
        assert_eq!(forked(&memory, &MemoryStore::default()), Err("destination_conflict".into()));
        assert_eq!(memory.all().len(), 3);
    }
}
