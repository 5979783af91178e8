//! One scope's journals with everything they are held against: the transcript of each, and what stands of its owner.

use super::journal::Current;
use super::stored::{Fault, Files, Refused, Replayed, Source, replay};
use super::{Journal, Key, Progress, Refusal, Scope, Target, attempt, present};
use crate::agent::identity;
use crate::agent::tombstone::Pending;
use crate::agent::walk::Listing;
use crate::fsys::{Directory, Errno, Fs};
use crate::json::{JsString, Tape, Value, View};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
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
    /// The scope directory, held open, where many transcripts are asked for; see [`Ground::beside`].
    pub beside: Option<&'a dyn Directory>,
    /// The scope as records spell it.
    pub scope: Scope<'a>,
    /// Where a path that records spell lies on this machine.
    pub here: &'a (dyn Fn(&Path) -> PathBuf + Sync),
    /// A copy from elsewhere: its inodes prove nothing, and its workspaces are taken at their word.
    pub is_copy: bool,
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
    /// Opens the scope directory of a receipts directory.
    pub fn beside<'f>(fs: &'f dyn Fs, receipts: &Listing) -> Option<Box<dyn Directory + 'f>> {
        fs.open_dir(receipts.path.parent()?.parent()?).ok()
    }

    /// The journal of a transcript, held against the disk; none when there is none, or gjc refuses it. Spelled as records do.
    ///
    /// # Errors
    /// Its receipts cannot be read, so that nobody knows.
    pub fn journal_of(&self, transcript: &JsString, tape: &mut Tape) -> Result<Option<Journal>, Fault> {
        let Some(files) = Files::of(self.receipts, Key::of(transcript.as_js())) else { return Ok(None) };
        let held = self.hold(&files, tape);
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
    pub fn completes(&self, transcript: &JsString, latest: Option<&Pending>, record: &Value, tape: &mut Tape) -> Result<bool, Fault> {
        let deleted = latest.and_then(|latest| latest.record.member("taskArtifactOwnerTranscriptDeleted")).and_then(View::as_bool);
        if deleted != Some(true) {
            return Ok(false);
        }
        let journal = self.journal_of(transcript, tape)?;
        Ok(journal.is_some_and(|journal| journal.completes(record, self.scope.root)))
    }

    /// Reads one journal and holds it against the disk.
    pub fn hold(&self, files: &Files<'_>, tape: &mut Tape) -> Held {
        let mut absent = None;
        let source = Source { fs: self.fs, listing: self.receipts, opened: self.opened };
        let replayed = replay(source, self.scope, files, tape, |target| {
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
        if let Some((scope, name)) = self.beside.zip(recorded.file_name())
            && scope.lstat(name).is_err_and(|error| error.errno == Errno::NOENT)
        {
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
