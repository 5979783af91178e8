//! The session-memory sidecar of a transcript (spec 04 §10.2): derived data with whose help gjc opens a long transcript from
//! its tail. Pure: what its commit record and its tail say is compared with the facts of the transcript.
//!
//! What the chapter does not tell is not judged: what the record, base and index digests are taken over, and the parts of
//! the sidecar that have digests of their own. The parts of the checksum chain are taken for the texts of the members.

use super::candidates::parse;
use crate::fsys::Meta;
use crate::json::{Kind, Value, View};
use sha2::{Digest, Sha256};

/// How the names of a sidecar begin in an artifact directory or in a cache instance.
pub const STEM: &str = ".session-memory.spill.";
/// What follows the name of a transcript in the names of its older sidecar, a sibling.
pub const SIBLING: &str = ".spill.";
/// The record that makes a sidecar valid.
pub const COMMIT: &str = "commit";
/// The chain of records.
pub const TAIL: &str = "tail";
/// The index.
pub const INDEX: &str = "idx";
/// Most bytes of a commit record.
pub const COMMIT_BYTES: u64 = 8 << 20;
/// How far a transcript may be ahead of its sidecar.
pub const MOST_AHEAD: u64 = 4 << 20;

/// Whether a name is that of derived data, by what follows its first `.spill.` (spec 03 §9, 04 §10.2).
pub fn is_derived(name: &[u8]) -> bool {
    const EXACT: [&[u8]; 4] = [b"idx", b"tail", b"commit", b"buckets"];
    const PREFIX: [&[u8]; 7] = [b"build-", b"dict-", b"capture-", b"fork-", b"overlay-", b"parent-", b"metadata-"];
    let Some(at) = memchr::memmem::find(name, SIBLING.as_bytes()) else { return false };
    let rest = name.get(at + SIBLING.len()..).unwrap_or_default();
    EXACT.contains(&rest)
        || PREFIX.iter().any(|prefix| rest.len() > prefix.len() && rest.starts_with(prefix))
        || (rest.len() > b".tmp".len() && rest.ends_with(b".tmp"))
}

/// Why a sidecar cannot be used, in gjc's words where it has some.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stale {
    /// Parts of it exist and the commit record does not.
    #[error("its commit record is missing")]
    Uncommitted,
    /// The commit record is larger than 8 MiB.
    #[error("its commit record has {0} bytes, more than 8 MiB")]
    CommitTooLarge(u64),
    /// The commit record is no JSON object, or lacks a member or has another type there.
    #[error("its commit record is malformed: {0}")]
    CommitMalformed(&'static str),
    /// `base_invalid`
    #[error("`base_invalid`")]
    Base,
    /// `chain_invalid` and which rule of the chain broke first, at which line of the tail.
    #[error("`chain_invalid`: {rule} at line {line} of its tail")]
    Chain {
        /// `seq_discontinuity`, `offset_discontinuity`, `checksum_mismatch`, or that the record is malformed.
        rule: &'static str,
        /// Line of the tail, from 1.
        line: u64,
    },
    /// `terminal_checksum_mismatch`
    #[error("`terminal_checksum_mismatch`: its last committed record is another one")]
    TerminalChecksum,
    /// `terminal_seq_mismatch`
    #[error("`terminal_seq_mismatch`: its tail has no record {0}")]
    TerminalSeq(i128),
    /// `transcript_size_mismatch`
    #[error("`transcript_size_mismatch`: it was made for {recorded} bytes, the transcript has {found}")]
    Size {
        /// Size in the commit record.
        recorded: i128,
        /// Size of the transcript.
        found: u64,
    },
    /// `descriptor_mismatch`
    #[error("`descriptor_mismatch`: it was made for another state of the transcript ({})", .0.join(", "))]
    Descriptor(Vec<&'static str>),
}

/// Whether the sidecar fits its transcript. A transcript that is at most 4 MiB ahead, and a tail with records behind the
/// committed one, are states that gjc goes on from. `tail` is none when there is none, or when it is too large to look at.
/// `moved` is true for a copy of an agent directory, in which no device, inode or time is the recorded one.
///
/// # Errors
/// The first reason for which gjc does not use it.
pub fn judge(commit: &[u8], tail: Option<&[u8]>, transcript: &Meta, moved: bool) -> Result<(), Stale> {
    let commit = Commit::read(commit)?;
    if let Some(tail) = tail {
        chain(&commit, tail)?;
    }
    let found = i128::from(transcript.size);
    if commit.size > found || found - commit.size > i128::from(MOST_AHEAD) {
        return Err(Stale::Size { recorded: commit.size, found: transcript.size });
    }
    if moved {
        return Ok(());
    }
    let mut recorded = vec![("dev", i128::from(transcript.dev)), ("ino", i128::from(transcript.ino))];
    if commit.size == found {
        recorded.extend([("size", found), ("mtimeNs", transcript.mtime_ns), ("ctimeNs", transcript.ctime_ns)]);
        if commit.descriptor.get_present("nlink").is_some() {
            recorded.push(("nlink", i128::from(transcript.nlink)));
        }
    }
    let differs: Vec<&'static str> = recorded
        .into_iter()
        .filter(|(key, found)| !commit.descriptor.member(key).is_some_and(|value| is_number(value, *found)))
        .map(|(key, _)| key)
        .collect();
    if differs.is_empty() { Ok(()) } else { Err(Stale::Descriptor(differs)) }
}

/// What the commit record says.
struct Commit {
    descriptor: Value,
    base_digest: Value,
    base_end: i128,
    checksum: Vec<u8>,
    seq: i128,
    size: i128,
}

impl Commit {
    fn read(bytes: &[u8]) -> Result<Commit, Stale> {
        let record = parse(bytes).filter(|record| record.is_record()).ok_or(Stale::CommitMalformed("it is no JSON object"))?;
        let member = |key: &str| record.member(key);
        let descriptor = member("descriptor").filter(|value| value.is_record()).ok_or(Stale::CommitMalformed("`descriptor`"))?;
        let base = member("base").filter(|value| value.is_record()).ok_or(Stale::Base)?;
        let base_digest = base.member("baseDigest").filter(|digest| digest.kind() == Kind::String).ok_or(Stale::Base)?;
        let base_end = base.member("baseEndOffset").and_then(integer).filter(|end| *end >= 0).ok_or(Stale::Base)?;
        let checksum = record.str_member("terminalChecksum").ok_or(Stale::CommitMalformed("`terminalChecksum`"))?;
        Ok(Commit {
            descriptor: descriptor.clone(),
            base_digest: base_digest.clone(),
            base_end,
            checksum: checksum.into_owned(),
            seq: member("terminalSeq").and_then(integer).ok_or(Stale::CommitMalformed("`terminalSeq`"))?,
            size: member("transcriptSize").and_then(integer).ok_or(Stale::CommitMalformed("`transcriptSize`"))?,
        })
    }
}

/// The members of a tail record that its checksum covers, in that order.
const CHAINED: [&str; 10] = ["gen", "seq", "kind", "ordinal", "id", "parentId", "type", "byteOffset", "byteLength", "recordDigest"];

/// Walks the records of the tail up to the committed one; what stands behind it is ahead of the commit.
fn chain(commit: &Commit, tail: &[u8]) -> Result<(), Stale> {
    let mut before: Option<(i128, Vec<u8>)> = None;
    let mut end = commit.base_end;
    let lines = tail.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.is_empty());
    for (text, line) in lines {
        let broken = |rule| Stale::Chain { rule, line };
        let record = parse(text).filter(|record| record.is_record()).ok_or(broken("a malformed record"))?;
        let number = |key: &str| record.member(key).and_then(integer).ok_or(broken("a malformed record"));
        let (seq, offset, length) = (number("seq")?, number("byteOffset")?, number("byteLength")?);
        if before.as_ref().is_some_and(|(last, _)| seq != last + 1) {
            return Err(broken("`seq_discontinuity`"));
        }
        // Whether a length counts the line feed is not told: both are taken.
        if !(end..=end + 1).contains(&offset) || length < 0 {
            return Err(broken("`offset_discontinuity`"));
        }
        end = offset + length;
        let mut hash = Sha256::new();
        match &before {
            None => {
                part(&mut hash, &text_of(&commit.base_digest).unwrap_or_default());
                part(&mut hash, commit.base_end.to_string().as_bytes());
            }
            Some((_, checksum)) => part(&mut hash, checksum),
        }
        for key in CHAINED {
            let text = match record.member(key).filter(|value| value.kind() != Kind::Null) {
                Some(value) => text_of(value).ok_or(broken("a malformed record"))?,
                None => b"<null>".to_vec(),
            };
            part(&mut hash, &text);
        }
        let checksum = data_encoding::HEXLOWER.encode(&hash.finalize()).into_bytes();
        if record.str_member("checksum").as_deref() != Some(checksum.as_slice()) {
            return Err(broken("`checksum_mismatch`"));
        }
        if seq == commit.seq {
            return if checksum == commit.checksum { Ok(()) } else { Err(Stale::TerminalChecksum) };
        }
        before = Some((seq, checksum));
    }
    // A sidecar whose tail holds nothing yet commits to its base.
    if before.is_none() && commit.seq <= 0 { Ok(()) } else { Err(Stale::TerminalSeq(commit.seq)) }
}

/// One part of the checksum: four bytes of length, big-endian, and the text.
fn part(hash: &mut Sha256, text: &[u8]) {
    hash.update(u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    hash.update(text);
}

/// A string, or a number as JavaScript writes it.
fn text_of(value: &Value) -> Option<Vec<u8>> {
    value
        .as_str()
        .map(|text| text.into_owned())
        .or_else(|| value.as_f64().map(|number| crate::json::number::to_js_string(number).into_bytes()))
}

/// An integer, written as a number or, as gjc writes its 64-bit ones, as a string of digits.
fn integer(value: &Value) -> Option<i128> {
    if let Some(text) = value.as_str() {
        return std::str::from_utf8(&text).ok()?.parse().ok();
    }
    value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0).map(|number| number as i128)
}

/// Whether a member is this integer. A JSON number is as exact as JavaScript's.
fn is_number(value: &Value, found: i128) -> bool {
    match value.as_f64() {
        Some(number) => number == found as f64,
        None => integer(value) == Some(found),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The commit record and the tail of a transcript of one committed record, and of one more behind it.
    pub(crate) fn sound(transcript: &Meta) -> (String, String) {
        let base = ("d".repeat(64), transcript.size.saturating_sub(20));
        let record = |seq: u64, offset: u64, before: &[&[u8]]| {
            let texts = ["1", &seq.to_string(), "entry", "7", "e1", "<null>", "message", &offset.to_string(), "10", "r"].map(str::to_owned);
            let mut hash = Sha256::new();
            before.iter().for_each(|text| part(&mut hash, text));
            texts.iter().for_each(|text| part(&mut hash, text.as_bytes()));
            let checksum = data_encoding::HEXLOWER.encode(&hash.finalize());
            let line = format!(
                r#"{{"gen":1,"seq":{seq},"kind":"entry","ordinal":7,"id":"e1","parentId":null,"type":"message","byteOffset":{offset},"byteLength":10,"recordDigest":"r","checksum":"{checksum}"}}"#
            );
            (line, checksum)
        };
        let end = base.1.to_string();
        let (first, checksum) = record(1, base.1, &[base.0.as_bytes(), end.as_bytes()]);
        let (second, _) = record(2, base.1 + 10, &[checksum.as_bytes()]);
        let commit = format!(
            r#"{{"gen":1,"descriptor":{{"dev":"{}","ino":"{}","nlink":"{}","size":"{}","mtimeNs":"{}","ctimeNs":"{}"}},"base":{{"baseDigest":"{}","baseEndOffset":{}}},"terminalChecksum":"{checksum}","terminalSeq":1,"transcriptSize":{}}}"#,
            transcript.dev,
            transcript.ino,
            transcript.nlink,
            transcript.size,
            transcript.mtime_ns,
            transcript.ctime_ns,
            base.0,
            base.1,
            transcript.size,
        );
        (format!("{commit}\n"), format!("{first}\n{second}\n"))
    }

    fn transcript() -> Meta {
        let fs = crate::fsys::Memory::new();
        fs.file("/t.jsonl", &[b'x'; 100]);
        crate::fsys::Fs::lstat(&fs, std::path::Path::new("/t.jsonl")).unwrap()
    }
    /// The answer after one edit of the commit record and one of the tail.
    fn after(commit: (&str, &str), tail: (&str, &str), transcript: &Meta) -> Result<(), Stale> {
        let (sound_commit, sound_tail) = sound(&self::transcript());
        let edited = |text: String, (from, to): (&str, &str)| {
            assert!(text.contains(from), "the edit changes something: {from}");
            text.replacen(from, to, 1)
        };
        judge(edited(sound_commit, commit).as_bytes(), Some(edited(sound_tail, tail).as_bytes()), transcript, false)
    }
    const AS_IS: (&str, &str) = ("gen", "gen");

    #[test]
    fn a_sidecar_that_fits() {
        assert_eq!(after(AS_IS, AS_IS, &transcript()), Ok(()));
        let (commit, _) = sound(&transcript());
        assert_eq!(judge(commit.as_bytes(), None, &transcript(), false), Ok(()), "without its tail only the commit is judged");
    }
    #[test]
    fn a_transcript_that_is_a_little_ahead_is_fine_and_one_far_ahead_is_not() {
        let ahead = |size| Meta { size, mtime_ns: 9, ctime_ns: 9, ..transcript() };
        assert_eq!(after(AS_IS, AS_IS, &ahead(100 + MOST_AHEAD)), Ok(()));
        assert_eq!(after(AS_IS, AS_IS, &ahead(101 + MOST_AHEAD)), Err(Stale::Size { recorded: 100, found: 101 + MOST_AHEAD }));
        assert_eq!(after(AS_IS, AS_IS, &ahead(99)), Err(Stale::Size { recorded: 100, found: 99 }));
    }
    #[test]
    fn the_descriptor_is_the_state_that_was_committed() {
        let moved = Meta { ino: transcript().ino + 1, ..transcript() };
        assert_eq!(after(AS_IS, AS_IS, &moved), Err(Stale::Descriptor(vec!["ino"])));
        let touched = Meta { mtime_ns: transcript().mtime_ns + 1, ..transcript() };
        assert_eq!(after(AS_IS, AS_IS, &touched), Err(Stale::Descriptor(vec!["mtimeNs"])));
        let (commit, tail) = sound(&transcript());
        assert_eq!(judge(commit.as_bytes(), Some(tail.as_bytes()), &moved, true), Ok(()), "a copy has other inodes");
    }
    #[test]
    fn each_rule_of_the_chain_has_its_word() {
        let broken = |tail| after(AS_IS, tail, &transcript());
        let chain = |rule, line| Err(Stale::Chain { rule, line });
        assert_eq!(broken(("\"ordinal\":7", "\"ordinal\":8")), chain("`checksum_mismatch`", 1));
        assert_eq!(broken(("\"byteOffset\":80", "\"byteOffset\":79")), chain("`offset_discontinuity`", 1));
        assert_eq!(broken(("{", "")), chain("a malformed record", 1));
        let later = |from, to| after(("\"terminalSeq\":1", "\"terminalSeq\":2"), (from, to), &transcript());
        assert_eq!(later("\"seq\":2", "\"seq\":3"), chain("`seq_discontinuity`", 2));
        assert_eq!(later("\"byteOffset\":90", "\"byteOffset\":92"), chain("`offset_discontinuity`", 2));
        assert_eq!(broken(("\"seq\":2", "\"seq\":3")), Ok(()), "behind the committed record");
    }
    #[test]
    fn the_commit_names_the_last_record() {
        let with = |from, to| after((from, to), AS_IS, &transcript());
        assert_eq!(with("\"terminalSeq\":1", "\"terminalSeq\":3"), Err(Stale::TerminalSeq(3)));
        assert_eq!(with("\"terminalChecksum\":\"", "\"terminalChecksum\":\"0"), Err(Stale::TerminalChecksum));
        assert_eq!(with("\"baseDigest\":\"", "\"baseDigest\":7,\"x\":\""), Err(Stale::Base));
        assert_eq!(with("\"descriptor\":", "\"other\":"), Err(Stale::CommitMalformed("`descriptor`")));
        assert_eq!(judge(b"oops", None, &transcript(), false), Err(Stale::CommitMalformed("it is no JSON object")));
    }
}
