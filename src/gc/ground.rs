//! One scope's journals with everything they are held against: the transcript of each, and what stands of its owner.

use super::journal::Current;
use super::stored::{Desk, Fault, Files, Refused, Replayed, Source, replay};
use super::{Journal, Key, Progress, Refusal, Scope, Target, attempt, present};
use crate::agent::identity;
use crate::agent::tombstone::Pending;
use crate::agent::walk::{Listing, Object};
use crate::fsys::{Directory, Errno, Fs, Watched};
use crate::json::{JsString, Value, View};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Where the journals of one scope lie and what they are about.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// The receipts directory.
    pub receipts: &'a Listing,
    /// The same, held open, where many journals are read; see [`Source::open`].
    pub opened: Option<&'a dyn Directory>,
    /// What stands in the scope directory, where many transcripts are asked for.
    pub beside: Option<&'a Beside<'a>>,
    /// The scope as records spell it.
    pub scope: Scope<'a>,
    /// Where a path that records spell lies on this machine.
    pub here: &'a (dyn Fn(&Path) -> PathBuf + Sync),
    /// A copy from elsewhere: its inodes prove nothing, and its workspaces are taken at their word.
    pub is_copy: bool,
}

/// The scope directory, held open, for who asks it for very many transcripts.
pub struct Beside<'f> {
    directory: Box<dyn Directory + 'f>,
    /// All its names in lower case; none when they are too many, or one is not ASCII: then each is asked for.
    names: Option<BTreeSet<Vec<u8>>>,
}

impl<'f> Beside<'f> {
    /// Opens the scope directory of a receipts directory that holds so many journals: no more names are read than that.
    pub fn open(fs: &'f dyn Fs, receipts: &Listing, journals: usize) -> Option<Beside<'f>> {
        let directory = fs.open_dir(receipts.path.parent()?.parent()?).ok()?;
        let names = directory.entries().ok().and_then(|entries| {
            let mut names = BTreeSet::new();
            for entry in entries {
                let name = entry.ok()?.name.into_vec();
                if names.len() >= journals || !name.is_ascii() {
                    return None;
                }
                names.insert(name.to_ascii_lowercase());
            }
            Some(names)
        });
        Some(Beside { directory, names })
    }
    /// Whether nothing stands under a name, for certain. File systems may fold the case of names, so that one which differs in
    /// case alone may be there.
    fn lacks(&self, name: &OsStr) -> bool {
        let listed = self.names.as_ref().filter(|_| name.is_ascii());
        listed.is_some_and(|names| names.is_empty() || !names.contains(&name.as_bytes().to_ascii_lowercase()))
            || self.directory.lstat(name).is_err_and(|error| error.errno == Errno::NOENT)
    }
}

/// A journal and what stands beside it.
#[derive(Debug)]
pub struct Held {
    /// The journal.
    pub replayed: Replayed,
    /// Whether the transcript is gone; none when nobody looked.
    pub absent: Option<bool>,
    /// The live check of a removal that was begun (§10); what cannot be looked at is no proof against it.
    pub proof: Result<(), Refusal>,
}

impl Ground<'_> {
    /// The journal of a transcript, held against the disk; none when there is none, or gjc refuses it. Spelled as records do.
    ///
    /// # Errors
    /// Its receipts cannot be read, so that nobody knows.
    pub fn journal_of(&self, transcript: &JsString, desk: &mut Desk) -> Result<Option<Journal>, Fault> {
        let Some(files) = Files::of(self.receipts, Key::of(transcript.as_js())) else { return Ok(None) };
        let held = self.hold(&files, desk);
        match held.replayed.journal {
            Ok(journal) => Ok(Some(journal).filter(|_| held.proof.is_ok())),
            Err(Refused { fault: fault @ (Fault::Unread(_) | Fault::Unbound), .. }) => Err(fault),
            Err(_) => Ok(None),
        }
    }

    /// Whether the `completed` record of a deletion that took an owner along counts (§15.3): the owner's journal is at its end
    /// and says the same, and the latest pending record of the cleanup says that the transcript was deleted. That the record's
    /// set of members is closed is `tombstone::History::is_completed`'s.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn completes(&self, transcript: &JsString, latest: Option<&Pending>, record: &Value, desk: &mut Desk) -> Result<bool, Fault> {
        let deleted = latest.and_then(|latest| latest.record.member("taskArtifactOwnerTranscriptDeleted")).and_then(View::as_bool);
        if deleted != Some(true) {
            return Ok(false);
        }
        let journal = self.journal_of(transcript, desk)?;
        Ok(journal.is_some_and(|journal| journal.completes(record, self.scope.root)))
    }

    /// Reads one journal and holds it against the disk.
    pub fn hold(&self, files: &Files<'_>, desk: &mut Desk) -> Held {
        self.hold_watched(files, desk, |_, _| {})
    }

    /// The same; `opened` sees each receipt when it was opened.
    pub fn hold_watched<'f>(&self, files: &Files<'f>, desk: &mut Desk, opened: impl FnMut(&'f Object, &Watched<'_>)) -> Held {
        let mut absent = None;
        let source = Source { fs: self.fs, listing: self.receipts, opened: self.opened };
        let replayed = replay(source, self.scope, files, desk, opened, |target| {
            let current = self.current(target)?;
            absent = Some(current == Current::Absent);
            match current {
                Current::Present(_) if self.is_copy => Ok(()),
                current => current.bind(target).map_err(Fault::from),
            }
        });
        let proof = match &replayed.journal {
            Ok(journal) if !self.is_copy => self.proof(journal),
            _ => Ok(()),
        };
        Held { replayed, absent, proof }
    }

    /// What stands at the transcript's path now.
    fn current(&self, target: &Target) -> Result<Current, Fault> {
        let recorded = Path::new(OsStr::from_bytes(target.transcript_path.as_bytes()));
        // The replay binds only a target whose path `Scope::accepts` took: a normalised name directly in this scope. So the last
        // component, asked of the scope's own directory, is the whole question; most are gone, which it tells by the name alone.
        if self.beside.zip(recorded.file_name()).is_some_and(|(scope, name)| scope.lacks(name)) {
            return Ok(Current::Absent);
        }
        let path = (self.here)(recorded);
        present::transcript(self.fs, &path, target, |cwd: &JsString| {
            let cwd = cwd.as_js().to_string_lossy();
            let identity = match identity::at_its_word(Path::new(&*cwd)).filter(|_| self.is_copy) {
                Some(identity) => Ok(identity),
                None => identity::posix(self.fs, Path::new("/"), Path::new(&*cwd)),
            };
            identity.is_ok_and(|identity| identity.digest_text() != self.scope.digest)
        })
    }

    /// Only of a removal that was begun: what the next retirement would say of a tree that nobody began to remove is no
    /// matter of the journal.
    fn proof(&self, journal: &Journal) -> Result<(), Refusal> {
        if matches!(journal.newest, Progress::Prepared | Progress::ArtifactsRemoved) {
            return Ok(());
        }
        let paths = self.scope.root.owner(&journal.prepared.evidence.locator.owner_id);
        match present::owner_roots(self.fs, &paths, |path| (self.here)(Path::new(OsStr::from_bytes(path)))) {
            Ok(live) => attempt::live_check(&journal.newest_receipt(), &paths, &live),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::layout::{INTERNAL, RECEIPTS};
    use crate::agent::walk::{Limits, list};
    use crate::fsys::{Inject, Memory, Phase};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A scope with these names, beside so many journals: whether a name is lacking, and how often it had to be asked for.
    fn lacks(names: &[&str], journals: usize, name: &str) -> (bool, u64) {
        let fs = Memory::new();
        let path = format!("/s/v2-x/{INTERNAL}/{RECEIPTS}");
        fs.directory(&path);
        names.iter().for_each(|name| fs.file(format!("/s/v2-x/{name}"), b""));
        let receipts = list(&fs, Path::new(&path), &Limits::default()).unwrap();
        let asked = AtomicU64::new(0);
        let counting = Inject::new(&fs, |call| {
            asked.fetch_add(u64::from(call.op == "lstat" && call.phase == Phase::Before), Ordering::SeqCst);
            None
        });
        let beside = Beside::open(&counting, &receipts, journals).unwrap();
        let lacks = beside.lacks(OsStr::new(name));
        (lacks, asked.load(Ordering::SeqCst))
    }

    #[test]
    fn a_transcript_that_the_scope_does_not_name_is_not_asked_for() {
        assert_eq!(lacks(&["a.jsonl"], 9, "b.jsonl"), (true, 0));
        assert_eq!(lacks(&["a.jsonl"], 9, "a.jsonl"), (false, 1));
    }
    #[test]
    fn a_name_that_differs_in_case_alone_is_asked_for() {
        assert_eq!(lacks(&["A.jsonl"], 9, "a.jsonl"), (true, 1), "this file system tells them apart");
    }
    #[test]
    fn every_name_is_asked_for_when_some_cannot_be_compared_or_they_are_too_many() {
        assert_eq!(lacks(&["ä.jsonl"], 9, "b.jsonl"), (true, 1));
        assert_eq!(lacks(&["a.jsonl"], 9, "ä.jsonl"), (true, 1));
        assert_eq!(lacks(&["a.jsonl", "b.jsonl"], 3, "c.jsonl"), (true, 0), "the protocol directory is the third name");
        assert_eq!(lacks(&["a.jsonl", "b.jsonl"], 2, "c.jsonl"), (true, 1));
    }
}
