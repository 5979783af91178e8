//! The inspection before a session is opened (spec 04 §4): its verdict with the identity that opening compares, the bounded
//! way into transcripts above 128 MiB, and the cold identity that samples such a file.

use crate::agent::candidates::path_text;
use crate::agent::record::TranscriptIdentity;
use crate::agent::why::cause_of;
use crate::agent::world::World;
use crate::fsys::{Fs, Kind, Meta, Sha256Reader};
use crate::json::text::{trim, utf8_lossy};
use crate::json::view::View;
use crate::json::{JsString, Value};
use crate::transcript::EntryKind;
use crate::transcript::ids::Ids;
use crate::transcript::inspect::{self, EAGER_MAX, Inspected, Options, Reason, Verdict};
use crate::transcript::load::{self, Keep, Seen};
use crate::transcript::open;
use crate::transcript::readers::bounded::{self, BOUNDED_MAX, LONGEST_LINE};
use crate::transcript::readers::picker::ReadAt;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// What gjc's inspection answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tail {
    /// The last message of the context is not from the assistant: gjc can go on.
    Resumable(TranscriptIdentity),
    /// It is, or there is none: opening works, and the next move is the user's.
    Terminal(TranscriptIdentity),
    /// gjc refuses the file.
    Error(Refused),
}

/// A reason, and the size that gjc tells with some.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// gjc's token.
    pub reason: &'static str,
    /// Bytes on disk (`oversized`) or measured (`context_too_large`).
    pub size: Option<u64>,
    /// What was found, for people.
    pub detail: String,
}

impl Refused {
    /// A reason; `inspected` when the bytes were judged.
    fn new(reason: &Reason, inspected: Option<&Inspected>) -> Self {
        let detail = match (reason, inspected) {
            (Reason::Malformed(cause), Some(inspected)) => {
                let (line, words) = cause_of(cause, inspected);
                line.map_or_else(|| words.clone(), |line| format!("line {line}: {words}"))
            }
            (Reason::Missing, _) => "there is no such file".to_owned(),
            (Reason::Unstable, _) => "the file changed while it was read".to_owned(),
            (Reason::Oversized { size }, _) => format!("{size} bytes, more than gjc loads whole"),
            (Reason::ContextTooLarge { bytes }, _) => format!("its context measures {bytes} bytes, more than the budget"),
            _ => "it is no regular file, or it cannot be read".to_owned(),
        };
        Refused { reason: reason.token(), size: reason.size(), detail }
    }
}

/// An inspected file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspection {
    /// The verdict.
    pub tail: Tail,
    /// Header cwd, patched; none when the file is refused.
    pub cwd: Option<JsString>,
    /// What opening it, or building its first context, throws all the same.
    pub throws: Option<&'static str>,
}

/// Inspects a file as gjc does before it resumes it.
pub fn inspect(world: &World<'_>, path: &Path, budget: u64) -> Inspection {
    let refused = |reason: &Reason, inspected| Inspection { tail: Tail::Error(Refused::new(reason, inspected)), cwd: None, throws: None };
    let options = Options { release: world.release, budget };
    let looked = match inspect::file(world.fs, path, options) {
        Ok(looked) => looked,
        Err(reason) => return refused(&reason, None),
    };
    let tail: fn(TranscriptIdentity) -> Tail = match &looked.inspected.verdict {
        Verdict::Resumable => Tail::Resumable,
        Verdict::Terminal => Tail::Terminal,
        Verdict::Error(reason) => return refused(reason, Some(&looked.inspected)),
    };
    // A second look, for the hash and the header, at a file that the first one accepted: it must be the same.
    let again = match second_look(world, &looked.canonical, &looked.meta) {
        Ok(again) => again,
        Err(reason) => return refused(&reason, None),
    };
    let throws = looked.inspected.loaded.as_ref().ok().and_then(|loaded| open::throws(loaded, world.release));
    Inspection {
        throws,
        cwd: again.cwd,
        tail: tail(TranscriptIdentity::of(path_text(&looked.canonical), again.id, &looked.meta, again.sha256)),
    }
}

/// What the verdict does not carry.
struct Again {
    sha256: String,
    id: JsString,
    cwd: Option<JsString>,
}

fn second_look(world: &World<'_>, path: &Path, expected: &Meta) -> Result<Again, Reason> {
    let failed = |_| Reason::ReadFailed;
    let file = world.fs.open(path).map_err(failed)?;
    let mut hashing = Sha256Reader::new(file);
    let loaded = load::load(&mut hashing, HeaderOnly, world.release);
    // Loading may have seen enough before the end.
    let rest = io::copy(&mut hashing, &mut io::sink());
    let (hash, _, file) = hashing.finish();
    let after = file.stat();
    file.close().map_err(failed)?;
    let (loaded, _) = (loaded.map_err(|_| Reason::ReadFailed)?, rest.map_err(|_| Reason::ReadFailed)?);
    if !after.map_err(failed)?.same_state(expected) || !world.fs.stat(path).map_err(failed)?.same_state(expected) {
        return Err(Reason::Unstable);
    }
    let header = loaded.ok().and_then(|loaded| loaded.entries.into_iter().next()).and_then(|(_, header)| header);
    let text = |key: &str| header.as_ref()?.str_member(key).map(|text| JsString::from_wtf8(text.into_owned()));
    Ok(Again { sha256: HEXLOWER.encode(&hash), id: text("id").unwrap_or_default(), cwd: text("cwd") })
}

/// Keeps the first header as patches leave it, and of every other entry its kind.
struct HeaderOnly;

impl Keep for HeaderOnly {
    type Entry = (EntryKind, Option<Box<Value>>);
    fn keep<'v, V: View<'v>>(&mut self, record: V, seen: Seen, _: &mut Ids) -> Self::Entry {
        (seen.kind, seen.kind.is_header().then(|| Box::new(record.to_value())))
    }
    fn kind(&self, entry: &Self::Entry) -> EntryKind {
        entry.0
    }
    fn set_header<'v, V: View<'v>>(&mut self, header: &mut Self::Entry, key: &'static str, value: V) {
        if let Some(header) = header.1.as_mut().and_then(|header| header.as_object_mut()) {
            header.set(key, value.to_value());
        }
    }
    fn set_message<'v, V: View<'v>>(&mut self, _: &mut Self::Entry, _: V, _: &mut Ids) {}
}

/// The bounded open of a transcript above [`EAGER_MAX`] (spec 04 §4.6), as a cold first open does it: without a sidecar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bounded {
    /// The file is small enough to be loaded whole.
    NotAsked,
    /// Every line passes. Whether `--continue` takes it: the last message of its context is not from the assistant.
    Opens {
        /// A continuable tail.
        continuable: bool,
    },
    /// The scan gives up; opening ends as `oversized`.
    Refused {
        /// gjc's token.
        token: &'static str,
        /// 1-based line that decides; none when the whole file is to blame.
        line: Option<u64>,
    },
}

/// Tries the bounded open of a file (links are followed).
///
/// # Errors
/// Why there are no bytes to scan.
pub fn bounded(world: &World<'_>, path: &Path) -> Result<Bounded, Reason> {
    bounded_above(world, path, EAGER_MAX)
}

/// The same, with another bound of what is loaded whole.
pub(super) fn bounded_above(world: &World<'_>, path: &Path, eager: u64) -> Result<Bounded, Reason> {
    let absent = |_| if world.fs.stat(path).is_ok() { Reason::ReadFailed } else { Reason::Missing };
    let real = world.fs.realpath(path).map_err(absent)?;
    let meta = world.fs.stat(&real).map_err(absent)?;
    if meta.kind != Kind::File {
        return Err(Reason::ReadFailed);
    }
    if meta.size <= eager {
        return Ok(Bounded::NotAsked);
    }
    if meta.size > BOUNDED_MAX {
        return Ok(Bounded::Refused { token: "oversized", line: None });
    }
    let changed = Bounded::Refused { token: "bounded_first_open_descriptor_changed", line: None };
    if meta.nlink > 1 {
        return Ok(changed);
    }
    let failed = |_| Reason::ReadFailed;
    let mut file = world.fs.open(&real).map_err(failed)?;
    let scanned = bounded::scan(io::Read::take(&mut file, meta.size + 1));
    file.close().map_err(failed)?;
    if let Err(refused) = scanned.map_err(|_| Reason::ReadFailed)? {
        return Ok(Bounded::Refused { token: refused.refusal.token(), line: Some(refused.line) });
    }
    // No line is longer than 8 MiB now, and the entries are a chain: what is kept of them is small.
    let mut file = world.fs.open(&real).map_err(failed)?;
    let inspected =
        inspect::bytes(io::Read::take(&mut file, meta.size + 1), meta.size, Options { release: world.release, budget: u64::MAX });
    let after = file.stat();
    file.close().map_err(failed)?;
    if !after.map_err(failed)?.same_state(&meta) {
        return Ok(changed);
    }
    let verdict = inspected.map_err(|_| Reason::ReadFailed)?.verdict;
    match verdict {
        Verdict::Resumable => Ok(Bounded::Opens { continuable: true }),
        Verdict::Terminal => Ok(Bounded::Opens { continuable: false }),
        Verdict::Error(reason) => Err(reason),
    }
}

/// Everything about a file that decides whether it opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    /// The verdict of the inspection.
    pub tail: Tail,
    /// The bounded open, when the file is too large for the inspection.
    pub bounded: Option<Result<Bounded, Reason>>,
    /// What opening it throws although the inspection takes it.
    pub throws: Option<&'static str>,
}

/// Looks at a file once: inspected whole, or scanned when it is too large for that.
pub fn look(world: &World<'_>, path: &Path, budget: u64) -> Look {
    let Inspection { tail, throws, .. } = inspect(world, path, budget);
    let is_large = matches!(&tail, Tail::Error(refused) if refused.reason == "oversized");
    Look { tail, bounded: is_large.then(|| bounded(world, path)), throws }
}

/// What gjc compares of a cold transcript before it rolls back to it, in place of a hash of the whole file (spec 04 §4.7).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColdIdentity {
    /// The path without links.
    pub canonical_path: PathBuf,
    /// Id of the header within the first frame.
    pub session_id: JsString,
    /// The state of the file: dev, ino, nlink, size, mtime and ctime count.
    pub meta: Meta,
    /// SHA-256 over the sampled frames.
    pub fingerprint: [u8; 32],
}

/// Why a cold identity cannot be had, or no longer holds: gjc's message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ColdFault {
    /// No regular file with one link and at most 2,148,532,224 bytes, no header in the first frame, or not readable.
    #[error("Session rollback persistence identity is unavailable.")]
    Unavailable,
    /// The file changed while it was sampled, or is not the one that was sampled before.
    #[error("Session rollback persistence identity changed.")]
    Changed,
}

impl ColdIdentity {
    /// Samples a file.
    ///
    /// # Errors
    /// [`ColdFault::Unavailable`], or [`ColdFault::Changed`] when it moves meanwhile.
    pub fn sample(fs: &dyn Fs, path: &Path) -> Result<Self, ColdFault> {
        let gone = |_| ColdFault::Unavailable;
        let canonical_path = fs.realpath(path).map_err(gone)?;
        let meta = fs.stat(&canonical_path).map_err(gone)?;
        if meta.kind != Kind::File || meta.nlink != 1 || meta.size == 0 || meta.size > BOUNDED_MAX {
            return Err(ColdFault::Unavailable);
        }
        let file = fs.open(&canonical_path).map_err(gone)?;
        let sampled = fingerprint(meta.size, &mut |buffer, offset| {
            let read = file.read_at(buffer, offset)?;
            let unchanged = file.stat().is_ok_and(|now| now.same_state(&meta));
            if unchanged { Ok(read) } else { Err(io::Error::other("changed")) }
        });
        let unchanged =
            file.stat().is_ok_and(|now| now.same_state(&meta)) && fs.stat(&canonical_path).is_ok_and(|now| now.same_state(&meta));
        file.close().map_err(gone)?;
        if !unchanged {
            return Err(ColdFault::Changed);
        }
        let (fingerprint, first) = sampled.map_err(|_| ColdFault::Unavailable)?;
        Ok(ColdIdentity { canonical_path, session_id: session_in(&first).ok_or(ColdFault::Unavailable)?, meta, fingerprint })
    }
    /// Whether the file still is the one that was sampled. An edit of what is not sampled that keeps every stat field is
    /// not seen: so it is in gjc.
    ///
    /// # Errors
    /// Why not.
    pub fn still_holds(&self, fs: &dyn Fs) -> Result<(), ColdFault> {
        let now = ColdIdentity::sample(fs, &self.canonical_path)?;
        let same = now.canonical_path == self.canonical_path
            && now.session_id == self.session_id
            && now.meta.same_state(&self.meta)
            && now.fingerprint == self.fingerprint;
        if same { Ok(()) } else { Err(ColdFault::Changed) }
    }
}

/// Bytes of the first frame, at most.
const HEADER_FRAME: u64 = LONGEST_LINE + 1;
/// Bytes of each other frame, at most.
const SAMPLE: u64 = 65_536;

/// The frames of a file of this size: start and length, in the order in which they are hashed.
pub fn frames(size: u64) -> Vec<(u64, u64)> {
    let (first, length) = (size.min(HEADER_FRAME), size.min(SAMPLE));
    let last = size - length;
    let mut frames = vec![(0, first)];
    // At most 2 GiB: doubling cannot overflow.
    for start in [last / 3, 2 * last / 3, last] {
        if start + length > first && !frames.contains(&(start, length)) {
            frames.push((start, length));
        }
    }
    frames
}

/// The id of the header that the first line of a first frame which is not blank must be.
pub fn session_in(first: &[u8]) -> Option<JsString> {
    let line = first.split(|byte| *byte == b'\n').find(|line| !trim(line).is_empty())?;
    let header = Value::parse(trim(&utf8_lossy(line)))?;
    let id = header.str_member("id").filter(|_| header.member("type").is_some_and(|kind| kind.is_str("session")))?;
    Some(JsString::from_wtf8(id.into_owned()))
}

/// The fingerprint of a file, and its first frame.
///
/// # Errors
/// The file cannot be read, or ends before its size.
pub fn fingerprint(size: u64, read_at: ReadAt<'_>) -> io::Result<([u8; 32], Vec<u8>)> {
    let mut hash = Sha256::new();
    let mut first = Vec::new();
    for (start, length) in frames(size) {
        let mut frame = vec![0; length as usize];
        let mut filled = 0;
        while let Some(rest) = frame.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match read_at(rest, start + filled as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => filled += read,
            }
        }
        hash.update(start.to_be_bytes());
        // A frame has at most 8 MiB and one byte.
        hash.update((length as u32).to_be_bytes());
        hash.update(&frame);
        if start == 0 && first.is_empty() {
            first = frame;
        }
    }
    Ok((hash.finalize().into(), first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::host::Nowhere;
    use crate::fsys::{Inject, Memory, Phase};
    use crate::transcript::context::budget;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;
    const USER: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"hi"}}"#;

    fn world(fs: &dyn Fs) -> World<'_> {
        World::of_agent(fs, &Nowhere, Release::default(), 1000, "/agent")
    }
    fn hex(size: u64, byte: u8) -> String {
        let mut all = |buffer: &mut [u8], _: u64| {
            buffer.fill(byte);
            Ok(buffer.len())
        };
        HEXLOWER.encode(&fingerprint(size, &mut all).unwrap().0)
    }

    #[test]
    fn the_computed_fingerprints_of_the_notes() {
        let text = b"{\"type\":\"session\"}\n";
        let mut read_at = |buffer: &mut [u8], offset: u64| {
            let rest = text.get(offset as usize..).unwrap_or_default();
            let take = rest.len().min(buffer.len());
            buffer[..take].copy_from_slice(&rest[..take]);
            Ok(take)
        };
        let small = fingerprint(text.len() as u64, &mut read_at).unwrap().0;
        assert_eq!(HEXLOWER.encode(&small), "20ba6b082df05dea079a7b2c66fe332813271f2d1112aa68462769c54cc6e29b");
        let large = 134_217_729;
        let starts: Vec<u64> = frames(large).into_iter().map(|(start, _)| start).collect();
        assert_eq!(starts, [0, 44_717_397, 89_434_795, 134_152_193]);
        assert_eq!(frames(large).iter().map(|(_, length)| length).sum::<u64>(), 8_585_217);
        assert_eq!(hex(large, b'a'), "99d19c69f636c4aaf9d11f2a34bac1e0da561a63f44b9bfe6b0a0dbf1aa7ce7c");
    }
    #[test]
    fn frames_that_the_first_one_covers_are_skipped_and_none_is_repeated() {
        assert_eq!(frames(1), [(0, 1)]);
        assert_eq!(frames(HEADER_FRAME), [(0, HEADER_FRAME)]);
        assert_eq!(frames(HEADER_FRAME + 1), [(0, HEADER_FRAME), (HEADER_FRAME + 1 - SAMPLE, SAMPLE)]);
    }
    #[test]
    fn a_cold_identity_needs_one_link_and_a_header_and_holds_until_the_file_moves() {
        let fs = Memory::new();
        fs.file("/s.jsonl", format!("\n{HEADER}\n{USER}\n").as_bytes());
        let cold = ColdIdentity::sample(&fs, Path::new("/s.jsonl")).unwrap();
        assert_eq!((cold.session_id.to_string().as_str(), cold.still_holds(&fs)), ("s", Ok(())));
        fs.append("/s.jsonl", b"{}\n");
        assert_eq!(cold.still_holds(&fs), Err(ColdFault::Changed));
        fs.hard_link("/s.jsonl", "/other");
        assert_eq!(cold.still_holds(&fs), Err(ColdFault::Unavailable));
        for (name, text) in [("/empty", ""), ("/none", "{\"type\":\"session\"}\n"), ("/late", "{}\n{\"type\":\"session\",\"id\":\"s\"}\n")]
        {
            fs.file(name, text.as_bytes());
            assert_eq!(ColdIdentity::sample(&fs, Path::new(name)), Err(ColdFault::Unavailable), "{name}");
        }
    }
    #[test]
    fn a_file_that_moves_while_it_is_sampled_has_changed() {
        let fs = Memory::new();
        fs.file("/s.jsonl", format!("{HEADER}\n").as_bytes());
        let moving = Inject::new(&fs, |call| {
            if call.op == "read" && call.phase == Phase::After {
                fs.append("/s.jsonl", b"x");
            }
            None
        });
        assert_eq!(ColdIdentity::sample(&moving, Path::new("/s.jsonl")), Err(ColdFault::Changed));
    }
    #[test]
    fn the_identity_of_an_inspected_file_is_complete() {
        let fs = Memory::new();
        let patch = r#"{"type":"header_patch","patch":{"cwd":"/moved"}}"#;
        fs.file("/d/s.jsonl", format!("{HEADER}\n{USER}\n{patch}\n").as_bytes());
        fs.symlink("/link.jsonl", "/d/s.jsonl");
        let found = inspect(&world(&fs), Path::new("/link.jsonl"), budget::DEFAULT);
        assert_eq!(found.cwd.map(|cwd| cwd.to_string()).as_deref(), Some("/moved"));
        let Tail::Resumable(identity) = found.tail else { panic!("{:?}", found.tail) };
        assert_eq!((identity.canonical_path.to_string().as_str(), identity.session_id.to_string().as_str()), ("/d/s.jsonl", "s"));
        let (hash, size) = crate::fsys::hash_file(&fs, Path::new("/d/s.jsonl")).unwrap();
        assert_eq!((identity.sha256, identity.size), (HEXLOWER.encode(&hash), size));
    }
    #[test]
    fn a_refused_file_has_a_reason_and_some_a_size() {
        let fs = Memory::new();
        fs.file("/bad.jsonl", b"oops");
        fs.sparse("/big.jsonl", EAGER_MAX + 1);
        let reason = |path: &str, budget| match inspect(&world(&fs), Path::new(path), budget).tail {
            Tail::Error(refused) => (refused.reason, refused.size),
            other => panic!("{other:?}"),
        };
        assert_eq!(reason("/bad.jsonl", budget::DEFAULT), ("malformed", None));
        assert_eq!(reason("/none.jsonl", budget::DEFAULT), ("missing", None));
        assert_eq!(reason("/big.jsonl", budget::DEFAULT), ("oversized", Some(EAGER_MAX + 1)));
        fs.file("/tight.jsonl", format!("{HEADER}\n{USER}\n").as_bytes());
        assert_eq!(reason("/tight.jsonl", 10).0, "context_too_large");
    }
    #[test]
    fn a_file_is_opened_bounded_only_above_128_mib_and_only_as_a_chain() {
        let fs = Memory::new();
        fs.file("/small.jsonl", HEADER.as_bytes());
        fs.sparse("/zeros.jsonl", EAGER_MAX + 1);
        fs.sparse("/huge.jsonl", BOUNDED_MAX + 1);
        let asked = |path: &str| bounded(&world(&fs), Path::new(path));
        assert_eq!(asked("/small.jsonl"), Ok(Bounded::NotAsked));
        assert_eq!(asked("/zeros.jsonl"), Ok(Bounded::Refused { token: "bounded_scan_oversized_line", line: Some(1) }));
        assert_eq!(asked("/huge.jsonl"), Ok(Bounded::Refused { token: "oversized", line: None }));
        assert_eq!(asked("/none.jsonl"), Err(Reason::Missing));
        fs.hard_link("/zeros.jsonl", "/twice.jsonl");
        assert_eq!(asked("/zeros.jsonl"), Ok(Bounded::Refused { token: "bounded_first_open_descriptor_changed", line: None }));
    }
}
