//! Reader O: which artifact owner a transcript names (spec 01 §3.3; 03 §5.2, §8; 0.17).

use crate::finding::Release;
use crate::json::jsonl;
use crate::json::spelling::{canonical_decimal, is_hex64};
use crate::json::text::{first_invalid_utf8, utf8_lossy};
use crate::json::{Kind, Value, View};
use crate::transcript::patch;
use std::io::{self, BufRead, BufReader, Read};

/// What a transcript says of its owner, with gjc's tokens as texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The first line is no header of the expected session.
    #[error("task_artifact_owner_transcript_header_invalid")]
    Header,
    /// The header's `taskArtifactOwner` is no locator.
    #[error("task_artifact_owner_locator_invalid")]
    Locator,
    /// A line that speaks of the owner is damaged, or is no valid patch.
    #[error("task_artifact_owner_patch_invalid")]
    Patch,
}

/// Where an owner's artifacts are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locator {
    /// 64 lower-case hexadecimal digits.
    pub owner_id: String,
    /// Device of the directory.
    pub directory_dev: u64,
    /// Inode of the directory.
    pub directory_ino: u64,
}

const KEY: &str = "taskArtifactOwner";

impl Locator {
    /// Reads a locator: exactly four members of the right form.
    pub fn of<'v, V: View<'v>>(value: V) -> Option<Locator> {
        if value.members().count() != 4 || value.get("schemaVersion").and_then(View::as_f64) != Some(1.0) {
            return None;
        }
        let text = |key| value.str_member(key).and_then(|text| String::from_utf8(text.into_owned()).ok());
        let number = |key| value.str_member(key).and_then(canonical_decimal);
        let owner_id = text("ownerId").filter(|id| is_hex64(id))?;
        Some(Locator { owner_id, directory_dev: number("directoryDev")?, directory_ino: number("directoryIno")? })
    }
}

/// The owner that a transcript names, followed line by line: the header's, then that of the last patch that sets one.
/// A patch cannot take an owner away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    owner: Option<Locator>,
    patchable: bool,
}

impl Named {
    /// Begins with the first line, without its LF, of a transcript of the session `session_id` (WTF-8).
    ///
    /// # Errors
    /// When it is no header of that session, or names an owner wrongly.
    pub fn by_header(line: &[u8], session_id: &[u8]) -> Result<Named, Refusal> {
        let (owner, patchable) = header(line, session_id)?;
        Ok(Named { owner, patchable })
    }
    /// True when the header's version lets patches count: else no later line need be shown.
    pub const fn is_patchable(&self) -> bool {
        self.patchable
    }
    /// Takes a later line, without its LF.
    ///
    /// # Errors
    /// When it speaks of the owner and is damaged, or is no valid patch.
    pub fn line(&mut self, line: &[u8]) -> Result<(), Refusal> {
        if self.patchable
            && let Some(locator) = owner_of_line(line)?
        {
            self.owner = Some(locator);
        }
        Ok(())
    }
    /// The owner so far.
    pub fn owner(self) -> Option<Locator> {
        self.owner
    }
}

/// The owner that a transcript of the session `session_id` (WTF-8) names; none when it names none.
///
/// # Errors
/// The outer error is the input's; the inner one is why the owner cannot be known.
pub fn owner(input: impl Read, session_id: &[u8]) -> io::Result<Result<Option<Locator>, Refusal>> {
    follow(input, |line| Named::by_header(line, session_id))
}

/// The owner that a transcript of whatever session names: its first line must be the header of one.
///
/// # Errors
/// As [`owner`].
pub fn owner_of_any(input: impl Read) -> io::Result<Result<Option<Locator>, Refusal>> {
    follow(input, |line| {
        let header = session(line)?;
        let (owner, patchable) = header.str_member("id").ok_or(Refusal::Header).and_then(|_| named(&header))?;
        Ok(Named { owner, patchable })
    })
}

fn follow(input: impl Read, begin: impl FnOnce(&[u8]) -> Result<Named, Refusal>) -> io::Result<Result<Option<Locator>, Refusal>> {
    let mut input = BufReader::with_capacity(256 * 1024, input);
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    let mut named = match begin(trim_lf(&line)) {
        Ok(named) => named,
        Err(refusal) => return Ok(Err(refusal)),
    };
    while named.is_patchable() {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if let Err(refusal) = named.line(trim_lf(&line)) {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(named.owner()))
}

/// The reader over the lines of a stream that is read for other readers too. Feed it every line of
/// [`Lines`](crate::json::jsonl::Lines) in order. Costs nothing on lines that are sound records and no header patches.
#[derive(Default)]
pub struct OwnerLines {
    /// What the lines so far say; none before the first.
    said: Option<Result<Option<Locator>, Refusal>>,
    /// The line that said it.
    at: u64,
    /// The id of the header, which the session must have.
    id: Option<Vec<u8>>,
    patchable: bool,
    /// Behind a first line that is no header, some record names an owner all the same.
    speaks: bool,
}

/// What an owner-bearing transcript says of its owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The owner, or why it cannot be known.
    pub said: Result<Locator, Refusal>,
    /// The line that says so, from 1.
    pub line: u64,
    /// The session of the transcript (WTF-8).
    pub session_id: Vec<u8>,
}

impl OwnerLines {
    /// Takes the next line.
    pub fn line(&mut self, line: &jsonl::Line<'_>) {
        match &self.said {
            None => {
                self.first(line.raw);
                self.at = line.number;
            }
            Some(Ok(_)) if self.patchable => match Self::later(line) {
                Ok(None) => {}
                said => (self.said, self.at) = (Some(said), line.number),
            },
            Some(Err(Refusal::Header)) if !self.speaks => self.speaks = line.value.is_some_and(names_an_owner),
            Some(_) => {}
        }
    }

    fn first(&mut self, line: &[u8]) {
        let read = session(line).and_then(|header| {
            self.id = header.str_member("id").map(std::borrow::Cow::into_owned);
            named(&header)
        });
        self.patchable = read.as_ref().is_ok_and(|(_, patchable)| *patchable);
        self.said = Some(read.map(|(owner, _)| owner));
    }

    fn later(line: &jsonl::Line<'_>) -> Result<Option<Locator>, Refusal> {
        match line.value {
            Some(record) if line.invalid_utf8.is_none() => owner_of_record(record),
            _ => owner_of_line(line.raw),
        }
    }

    /// What the transcript of the session `session_id` (WTF-8) says of its owner; none when it does not speak of one.
    pub fn claim(&self, session_id: &[u8]) -> Option<Claim> {
        let foreign = self.id.as_deref() != Some(session_id);
        let (said, line) = match self.said.as_ref()? {
            Err(Refusal::Header) => (self.speaks.then_some(Err(Refusal::Header))?, 1),
            Ok(None) => return None,
            Ok(Some(_)) if foreign => (Err(Refusal::Header), 1),
            Ok(Some(locator)) => (Ok(locator.clone()), self.at),
            Err(refusal) => (Err(*refusal), self.at),
        };
        Some(Claim { said, line, session_id: session_id.to_owned() })
    }

    /// The id of the header in the first line, WTF-8; empty when that is no header.
    pub fn own_id(&self) -> &[u8] {
        self.id.as_deref().unwrap_or_default()
    }

    /// The answer for the session `session_id` (WTF-8), after the last line.
    ///
    /// # Errors
    /// Why the owner cannot be known.
    pub fn finish(self, session_id: &[u8]) -> Result<Option<Locator>, Refusal> {
        match self.said {
            Some(said) if self.id.as_deref() == Some(session_id) => said,
            _ => Err(Refusal::Header),
        }
    }
}

fn trim_lf(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// The header's owner, and whether patches count.
fn header(line: &[u8], session_id: &[u8]) -> Result<(Option<Locator>, bool), Refusal> {
    let header = session(line)?;
    if header.str_member("id").as_deref() == Some(session_id) { named(&header) } else { Err(Refusal::Header) }
}

/// The first line, as gjc reads it where an owner is concerned (03 §8): decoded leniently, trimmed as JavaScript does.
///
/// # Errors
/// [`Refusal::Header`] when it is no JSON object of the type `session`.
pub fn session(line: &[u8]) -> Result<Value, Refusal> {
    let value = Value::parse(super::first_line::trim(&utf8_lossy(line))).ok_or(Refusal::Header)?;
    if value.get("type").is_some_and(|kind| kind.is_str("session")) { Ok(value) } else { Err(Refusal::Header) }
}

/// Whether a record that is a header or a header patch names an owner, however.
fn names_an_owner<'v, V: View<'v>>(record: V) -> bool {
    let is = |kind: &str| record.get("type").is_some_and(|own| own.is_str(kind));
    let patch = record.get("patch").filter(|_| is("header_patch"));
    (is("session") && record.get(KEY).is_some()) || patch.is_some_and(|patch| patch.get(KEY).is_some())
}

/// The owner that a header names, and whether patches count.
fn named(header: &Value) -> Result<(Option<Locator>, bool), Refusal> {
    let owner = header.get(KEY).map(|locator| Locator::of(locator).ok_or(Refusal::Locator)).transpose()?;
    Ok((owner, header.get("version").and_then(View::as_f64).is_some_and(|version| version >= 4.0)))
}

/// The owner that a line behind the header sets.
fn owner_of_line(line: &[u8]) -> Result<Option<Locator>, Refusal> {
    let holds = |word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
    // Most lines cannot name an owner, not even with escaped letters, and are not parsed.
    if !holds(KEY) && !holds("\\u") {
        return Ok(None);
    }
    let decoded = first_invalid_utf8(line).is_none();
    let value = if decoded { Value::parse(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)) } else { None };
    let Some(record) = value else {
        return if holds("header_patch") && holds(KEY) { Err(Refusal::Patch) } else { Ok(None) };
    };
    owner_of_record(&record)
}

/// The owner that a record behind the header sets.
fn owner_of_record<'v, V: View<'v>>(record: V) -> Result<Option<Locator>, Refusal> {
    let patch = record.get("patch").filter(|patch| patch.kind() == Kind::Object);
    let Some(patch) = patch.filter(|_| record.get("type").is_some_and(|kind| kind.is_str("header_patch"))) else { return Ok(None) };
    let Some(locator) = patch.get(KEY) else { return Ok(None) };
    let locator = Locator::of(locator).ok_or(Refusal::Patch)?;
    // Without the owner it must be a header patch like any other.
    let mut rest = record.to_value();
    if let Some(patch) = rest.as_object_mut().and_then(|rest| rest.get_mut("patch")).and_then(Value::as_object_mut) {
        patch.remove(KEY);
    }
    match patch::header_patch(&rest, Release::V0_17) {
        Ok(_) => Ok(Some(locator)),
        Err(_) => Err(Refusal::Patch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locator(ino: &str) -> String {
        format!(r#"{{"schemaVersion":1,"ownerId":"{}","directoryDev":"1","directoryIno":"{ino}"}}"#, "ab".repeat(32))
    }
    fn header(owner: Option<&str>, version: u32) -> String {
        let owner = owner.map_or(String::new(), |owner| format!(r#","taskArtifactOwner":{owner}"#));
        format!(r#"{{"type":"session","version":{version},"id":"s"{owner}}}"#)
    }
    fn patch(owner: &str, more: &str) -> String {
        format!(r#"{{"type":"header_patch","patch":{{"taskArtifactOwner":{owner}{more}}}}}"#)
    }
    /// The inode of the owner's directory.
    fn found(lines: &[&str]) -> Result<Option<u64>, Refusal> {
        let text = lines.join("\n");
        let read = owner(text.as_bytes(), b"s").unwrap();
        assert_eq!(streamed(text.as_bytes()), read, "the stream answers what the reader answers");
        read.map(|owner| owner.map(|owner| owner.directory_ino))
    }
    fn streamed(text: &[u8]) -> Result<Option<Locator>, Refusal> {
        let mut lines = jsonl::Lines::new(text);
        let mut owner = OwnerLines::default();
        while let Some(event) = lines.next().unwrap() {
            if let jsonl::Event::Line(line) = event {
                owner.line(&line);
            }
        }
        owner.finish(b"s")
    }

    #[test]
    fn the_last_patch_wins_over_the_header() {
        assert_eq!(found(&[&header(None, 5)]), Ok(None));
        assert_eq!(found(&[&header(Some(&locator("1")), 5)]), Ok(Some(1)));
        let patched = [&header(Some(&locator("1")), 5), &patch(&locator("2"), ""), "", "7", &patch(&locator("3"), r#","title":"t""#)];
        assert_eq!(found(&patched), Ok(Some(3)));
        assert_eq!(found(&[&header(Some(&locator("1")), 3), &patch("null", "")]), Ok(Some(1)), "patches count from version 4");
    }

    #[test]
    fn a_locator_is_four_members_of_the_right_form() {
        for wrong in ["null", "{}", &locator("01"), &locator(""), &locator("18446744073709551616"), &locator("1").replace("ab", "AB")] {
            assert_eq!(found(&[&header(Some(wrong), 5)]), Err(Refusal::Locator), "{wrong}");
            assert_eq!(found(&[&header(None, 5), &patch(wrong, "")]), Err(Refusal::Patch), "{wrong}");
        }
        assert_eq!(found(&[&header(Some(&locator("18446744073709551615")), 5)]), Ok(Some(u64::MAX)));
    }

    #[test]
    fn the_first_line_is_the_header_of_the_session() {
        for first in ["", "{", r#"{"type":"session","id":"other"}"#, r#"{"type":"label","id":"s"}"#] {
            assert_eq!(found(&[first]), Err(Refusal::Header), "{first}");
        }
        assert_eq!(found(&[&format!("\u{feff} {}\r", header(None, 5))]), Ok(None));
    }

    #[test]
    fn a_damaged_line_counts_when_it_speaks_of_the_owner() {
        let torn = r#"{"type":"header_patch","patch":{"taskArtifactOwner":{"#;
        assert_eq!(found(&[&header(None, 5), torn]), Err(Refusal::Patch));
        assert_eq!(found(&[&header(None, 5), "{\"type\":\"header_patch\""]), Ok(None));
        assert_eq!(found(&[&header(None, 5), &format!("\u{feff}{}", patch(&locator("2"), ""))]), Ok(Some(2)), "a mark on any line");
        assert_eq!(found(&[&header(None, 5), &format!("{0}{0}", patch(&locator("2"), ""))]), Err(Refusal::Patch), "glued");
        assert_eq!(found(&[&header(None, 5), &patch(&locator("1"), r#","x":1"#)]), Err(Refusal::Patch));
    }
}
