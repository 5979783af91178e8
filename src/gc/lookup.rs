//! The standalone lookup of one transcript's journal (spec 03 §11, §14.3): how gjc reads it without a lease and outside of
//! discovery. Nothing of the directory is kept but the entries of this transcript.
//!
//! The names of the receipts directory are streamed, one entry at a time: to be counted, to be collected, and when the journal
//! was read to be collected once more. The first count is good for the end as long as fresh evidence of the directory is that
//! of the beginning; else they are counted anew, so that a full directory is told as full. What differs then is refused: what
//! came into being meanwhile is neither adopted nor left out.
//!
//! # What the specification leaves open, and the choice made
//!
//! * Evidence of the directory: the object behind its path and behind the descriptor, its times, size and link count.
//! * The token of a difference: that of discovery (§13).
//! * The inventory admission (Q8) whose unit table is not known: only the quota of stored entries (Q5) is charged.

use super::budget::scope_entries;
use super::ground::{Ground, Held};
use super::names::PREFIX;
use super::stored::{Desk, Fault, Files};
use super::{Budget, Key, Refusal, Scope};
use crate::agent::walk::{Listing, Object};
use crate::fsys::{self, Directory, Entries, Errno, Fs, Meta};
use crate::json::JsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a lookup found, and its directory: what is in it of this transcript, and no other entry.
#[derive(Debug)]
pub struct Looked {
    /// The `gc-retirement-` entries of the scope.
    pub entries: Budget,
    /// The receipts directory, with the entries of the transcript alone.
    pub receipts: Listing,
    /// The journal and what stands beside it; none when no entry is of this transcript.
    pub held: Option<Held>,
}

/// Where a journal is looked up.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// The receipts directory, canonical.
    pub directory: &'a Path,
    /// The scope as records spell it.
    pub scope: Scope<'a>,
    /// Where a path that records spell lies on this machine.
    pub here: &'a (dyn Fn(&Path) -> PathBuf + Sync),
    /// A copy from elsewhere.
    pub is_copy: bool,
}

/// Looks up the journal of a transcript, spelled as records do. None: there is no receipts directory.
///
/// # Errors
/// The path is no transcript of the scope; the directory is full, could not be read, or changed meanwhile. What is wrong with
/// the journal itself is in the answer.
pub fn lookup(place: &Place<'_>, transcript: &JsString) -> Result<Option<Looked>, Fault> {
    if !place.scope.accepts(transcript.as_js()) {
        return Err(Refusal::ContinuationAuthorityMismatch.into());
    }
    let opened = match place.fs.open_dir(place.directory) {
        Ok(opened) => opened,
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(unread(error)),
    };
    let looked = looked(place, &*opened, Key::of(transcript.as_js()));
    match (looked, opened.close()) {
        (Ok(looked), Ok(())) => Ok(Some(looked)),
        (Err(fault), _) => Err(fault),
        (Ok(_), Err(error)) => Err(unread(error)),
    }
}

fn looked(place: &Place<'_>, opened: &dyn Directory, key: Key) -> Result<Looked, Fault> {
    let before = opened.stat().map_err(unread)?;
    let entries = count(opened)?;
    let (collected, objects) = collect(opened, key)?;
    let receipts = Listing { path: place.directory.to_owned(), meta: before, objects, troubles: Vec::new() };
    let Place { fs, scope, here, is_copy, .. } = *place;
    let ground = Ground { fs, receipts: &receipts, opened: Some(opened), beside: None, scope, here, is_copy };
    let held = Files::of(&receipts, key).map(|files| ground.hold(&files, &mut Desk::default()));
    let same = evidence(place, opened)?.is_some_and(|now| now.same_state(&before));
    let counted = if same { entries } else { count(opened)? };
    let (again, objects) = collect(opened, key)?;
    let alike = |(a, b): (&Object, &Object)| a.name == b.name && a.meta.kind == b.meta.kind;
    let names = objects.len() == receipts.objects.len() && objects.iter().zip(&receipts.objects).all(alike);
    let counts = [collected, counted.used, again].iter().all(|count| *count == entries.used);
    let unchanged = same && names && counts && evidence(place, opened)?.is_some_and(|now| now.same_state(&before));
    if unchanged { Ok(Looked { entries, receipts, held }) } else { Err(Refusal::ContinuationAuthorityMismatch.into()) }
}

/// The directory as it is now, when its path still leads to it.
fn evidence(place: &Place<'_>, opened: &dyn Directory) -> Result<Option<Meta>, Fault> {
    let now = opened.stat().map_err(unread)?;
    match place.fs.lstat(place.directory) {
        Ok(named) => Ok((named.object() == now.object()).then_some(now)),
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(unread(error)),
    }
}

/// The counting stream: ends at the first entry that is too many, whatever the names are.
fn count(opened: &dyn Directory) -> Result<Budget, Fault> {
    let mut entries = scope_entries();
    for entry in stream(opened)? {
        if entry.map_err(unread)?.name.as_bytes().starts_with(PREFIX.as_bytes()) {
            entries.charge(1).map_err(Fault::Full)?;
        }
    }
    Ok(entries)
}

/// The collecting stream: how many entries there are, and those of one transcript, by name.
fn collect(opened: &dyn Directory, key: Key) -> Result<(u64, Vec<Object>), Fault> {
    let prefix = key.prefix();
    let mut entries = scope_entries();
    let mut objects = Vec::new();
    for entry in stream(opened)? {
        let name = entry.map_err(unread)?.name;
        if name.as_bytes().starts_with(PREFIX.as_bytes()) {
            entries.charge(1).map_err(Fault::Full)?;
        }
        if name.as_bytes().starts_with(prefix.as_bytes()) {
            match opened.lstat(&name) {
                Ok(meta) => objects.push(Object { name, meta }),
                // It was there a moment ago.
                Err(error) if error.errno == Errno::NOENT => return Err(Refusal::ContinuationAuthorityMismatch.into()),
                Err(error) => return Err(unread(error)),
            }
        }
    }
    objects.sort_by(|a, b| a.bytes().cmp(b.bytes()));
    Ok((entries.used, objects))
}

fn stream(opened: &dyn Directory) -> Result<Entries<'_>, Fault> {
    opened.entries().map_err(unread)
}

fn unread(error: fsys::Error) -> Fault {
    Fault::Unread(error.into())
}
