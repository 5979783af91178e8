//! One transcript of a run: opened without following links, read under watch, given to the transcript check.

use super::refs::ReferenceScan;
use super::{Depth, Site};
use crate::agent::layout::{SESSIONS, SessionsName, sessions_name};
use crate::check::artifact::{self, references::Reference};
use crate::check::blob::store::Hash;
use crate::check::operational::{self, codes};
use crate::check::owner;
use crate::check::size;
use crate::check::transcript::{self, Storage};
use crate::check::tree::shared::EntryIds;
use crate::finding::{Collected, Finding, Outcome, Place, Sink};
use crate::fsys::input::{self, Capped, READ_CAP};
use crate::fsys::{Errno, Error, Refusal, Watched};
use crate::json::JsStr;
use crate::transcript::blobs::BlobSource;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// What one transcript gave.
#[derive(Default, Debug)]
pub struct Checked {
    /// Findings and gauges, in the order they came.
    pub collected: Collected,
    /// The verdicts; none when the object is no transcript at all.
    pub outcome: Option<Outcome>,
    /// `parentSession` of its header, when that is a text.
    pub parent: Option<String>,
    /// Ids of its entries.
    pub entries: EntryIds,
    /// Artifacts that its tool results refer to.
    pub artifacts: Vec<(Reference, Place)>,
    /// The owner of task artifacts that it names.
    pub owner: Option<owner::Named>,
    /// Blob references in its bytes.
    pub references: BTreeSet<Hash>,
    /// Whether all of its bytes were read.
    pub read_whole: bool,
    /// Its size.
    pub bytes: u64,
}

/// Where a transcript lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Where {
    /// A scope, a legacy directory, or anywhere else.
    pub storage: Storage,
    /// It was found in the listing of a session directory, so that its name must be the one that gjc gives.
    pub listed: bool,
}

impl Where {
    /// In a scope, or directly in the sessions root.
    pub const LISTED: Where = Where { storage: Storage::Managed, listed: true };
    /// In a legacy directory.
    pub const LEGACY: Where = Where { storage: Storage::Legacy, listed: true };
    /// Anywhere, under any name.
    pub const LONE: Where = Where { storage: Storage::Lone, listed: false };
    /// A file that the user named: whether it is listed is not asked.
    pub fn named(path: &Path) -> Where {
        let name = |path: Option<&Path>| path.and_then(Path::file_name).unwrap_or_default().to_owned();
        let (own, above) = (name(path.parent()), name(path.parent().and_then(Path::parent)));
        let storage = match sessions_name(own.as_encoded_bytes()) {
            SessionsName::Scope if above == SESSIONS => Storage::Managed,
            SessionsName::Legacy if above == SESSIONS => Storage::Legacy,
            _ => Storage::Lone,
        };
        Where { storage, listed: false }
    }
}

/// Checks one transcript. A file that moves while it is read is read once more; if it moves again, it is `unstable` and
/// nothing else is said of it.
pub fn check(site: &Site<'_>, path: &Path, at: Where) -> Checked {
    let attempt = || attempt(site, path, at);
    let mut checked = attempt().or_else(|_moved| attempt()).unwrap_or_else(|moved| unstable(site, path, &moved));
    // They are needed here only: a sweep of files is held in memory together.
    let references = std::mem::take(&mut checked.artifacts);
    if at.listed {
        let id = checked.outcome.as_ref().and_then(|outcome| outcome.id.as_deref());
        artifact::beside(site, path, id, &references, &mut checked.collected);
    }
    checked
}

/// Checks a transcript that comes as a stream: there is no file to watch.
pub fn check_stream(site: &Site<'_>, path: &Path, input: impl Read) -> Checked {
    let mut checked = Checked::default();
    match pass(site, path, Where::LONE, None, Capped::new(input), &mut checked.collected) {
        Ok((outcome, compared)) => {
            checked.outcome = Some(outcome);
            compared.give(&mut checked);
            checked.read_whole = true;
        }
        Err(error) if input::is_too_large(&error) => {
            let message = format!("The stream has more than {READ_CAP} bytes; nothing of gjc reads so many, and it was not read further.");
            checked.collected = Collected::default();
            checked.collected.push(Finding::new(&size::codes::OVERSIZED, site.place(path), message));
            checked.outcome = Some(verdict(site, path, "oversized"));
        }
        Err(error) => {
            let message = format!("The stream cannot be read: {error}.");
            checked.collected = Collected::default();
            checked.collected.push(Finding::new(&codes::READ_FAILED, site.place(path), message));
            checked.outcome = Some(verdict(site, path, "read-failed"));
        }
    }
    checked
}

/// One look. The error is a movement of the file.
fn attempt(site: &Site<'_>, path: &Path, at: Where) -> Result<Checked, Refusal> {
    let mut checked = Checked::default();
    let watched = match Watched::open(site.fs, path) {
        Ok(watched) => watched,
        Err(refusal @ Refusal::Changed(_)) => return Err(refusal),
        Err(Refusal::Failed(error)) if matches!(error.errno, Errno::NOENT | Errno::LOOP) => return Err(Refusal::Failed(error)),
        Err(refusal) => {
            refused(site, path, &refusal, &mut checked);
            return Ok(checked);
        }
    };
    let meta = watched.meta();
    checked.bytes = meta.size;
    if meta.size > READ_CAP {
        let message = format!("The file has {} bytes; nothing of gjc reads more than {READ_CAP}, and its content was not read.", meta.size);
        size::of_file(&site.place(path), meta.size, &mut checked.collected);
        checked.collected.push(Finding::new(&size::codes::OVERSIZED, site.place(path), message));
        checked.outcome = Some(verdict(site, path, "oversized"));
        return watched.finish().map(|_| checked);
    }
    let mut watched = watched;
    let scan = ReferenceScan::new((&mut watched).take(meta.size), &mut checked.references);
    match pass(site, path, at, Some(meta.size), scan, &mut checked.collected) {
        Ok((outcome, compared)) => {
            checked.outcome = Some(outcome);
            compared.give(&mut checked);
            checked.read_whole = true;
        }
        Err(error) => {
            let error = watched.read_error(&error);
            // Whatever was found before the error says nothing of the file as a whole.
            checked.collected = Collected::default();
            refused(site, path, &Refusal::Failed(error), &mut checked);
        }
    }
    match watched.finish() {
        Ok(_) => Ok(checked),
        Err(moved @ Refusal::Changed(_)) => Err(moved),
        // The content was read whole; that the name cannot be looked at again is a fault of its own.
        Err(refusal) => {
            if checked.read_whole {
                refused(site, path, &refusal, &mut checked);
            }
            Ok(checked)
        }
    }
}

/// A transcript that is no regular file, or that cannot be read.
fn refused(site: &Site<'_>, path: &Path, refusal: &Refusal, checked: &mut Checked) {
    match refusal {
        Refusal::Failed(error) if is_ours(site, error) => operational::unreadable(site, error, &mut checked.collected),
        refusal => {
            let message = match refusal {
                Refusal::Failed(error) => format!("The transcript cannot be read: {} answers {}.", error.op, error.token()),
                other => format!("The transcript {other}."),
            };
            checked.collected.push(Finding::new(&codes::READ_FAILED, site.place(path), message));
        }
    }
    checked.outcome = Some(verdict(site, path, "read-failed"));
}

/// Whether a failure says something of this process only: its own limits, or rights that the user has whom the check
/// speaks for.
fn is_ours(site: &Site<'_>, error: &Error) -> bool {
    match error.errno {
        _ if operational::is_exhaustion(error) => true,
        Errno::ACCESS | Errno::PERM => !site.speaks_for_itself,
        _ => false,
    }
}

fn unstable(site: &Site<'_>, path: &Path, moved: &Refusal) -> Checked {
    let what = match moved {
        Refusal::Changed(fields) if fields.as_slice() == ["ctime"] => "only its change time moved".to_owned(),
        Refusal::Changed(fields) => format!("{} moved", fields.join(", ")),
        other => format!("it became unreadable ({})", other.token()),
    };
    let mut checked = Checked { outcome: Some(verdict(site, path, "unstable")), ..Checked::default() };
    let message = format!("The file changed while it was read, twice: {what}.");
    checked.collected.push(Finding::new(&codes::UNSTABLE, site.place(path), message));
    checked
}

fn verdict(site: &Site<'_>, path: &Path, answer: &'static str) -> Outcome {
    Outcome { path: site.name(path), verdicts: [("S", answer.into())].into(), ..Outcome::default() }
}

/// What of a transcript is compared with other objects.
struct Compared {
    parent: Option<String>,
    entries: EntryIds,
    artifacts: Vec<(Reference, Place)>,
    owner: Option<owner::Named>,
}

impl Compared {
    fn give(self, checked: &mut Checked) {
        (checked.parent, checked.entries, checked.artifacts, checked.owner) = (self.parent, self.entries, self.artifacts, self.owner);
    }
}

/// The transcript check proper.
fn pass(
    site: &Site<'_>,
    path: &Path,
    at: Where,
    size: Option<u64>,
    input: impl Read,
    sink: &mut dyn Sink,
) -> std::io::Result<(Outcome, Compared)> {
    let file_name = path.file_name().and_then(|name| name.to_str()).filter(|_| at.listed);
    let options = transcript::Options {
        storage: at.storage,
        file_name,
        store: site.store.map(|store| store as &dyn BlobSource),
        context: site.depth == Depth::Full,
        size,
        budget: site.budget,
        mute: site.mute,
        weigh: site.weigh,
        ..transcript::Options::lone(site.name(path), site.release)
    };
    let outcome = transcript::check(input, &options, sink)?;
    let text = |wtf8: Option<Vec<u8>>| wtf8.map(|wtf8| JsStr::from_wtf8(&wtf8).to_string());
    let (cwd, parent) = (text(outcome.header.cwd), text(outcome.header.parent_session));
    let compared = Compared { parent, entries: outcome.entry_ids, artifacts: outcome.artifacts, owner: outcome.owner };
    let (id, cwd, verdicts) = (outcome.id.map(Arc::from), cwd.map(Arc::from), outcome.verdicts.into());
    Ok((Outcome { path: options.path, id, cwd, version: outcome.version, verdicts }, compared))
}
