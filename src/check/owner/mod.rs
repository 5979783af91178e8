//! The area *owner* of spec 05: what a transcript says of the owner of its task artifacts, the owners on disk, and what keeps
//! gjc from retiring any of them (spec 03 §5.2, §7, §8, §9). Only release 0.17 has owners.
//!
//! A transcript is judged by itself where it is read; owners are judged when every transcript and every journal of the
//! sessions root was seen. An owner whose removal a journal records as begun is the journal's affair: it may be gone.

pub mod codes;

use super::quota;
use super::record::{self, Folded};
use super::residue;
use super::run::Site;
use super::transcript::Source;
use super::words::count;
use crate::agent::layout::TASK_ARTIFACT_OWNERS;
use crate::agent::walk::{self, Listing};
use crate::finding::{Code, Difference, Finding, Outcome, Place, Sink};
use crate::fsys::Kind;
use crate::gc::owner::{MANIFEST, is_pending_publication, owner_id};
use crate::gc::owners::{Fault, Owners};
use crate::gc::siblings::{self, Obstacle, Profile};
use crate::gc::{Key, Locator, Refusal, State};
use crate::json::JsString;
use crate::json::spelling::is_hex64;
use crate::transcript::readers::owner::{Claim, Refusal as Unclear};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An owner, and the session that it is said to be of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The session.
    pub session: JsString,
    /// The owner.
    pub locator: Locator,
}

/// An owner that a journal is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journalled {
    /// The owner.
    pub named: Named,
    /// The receipts directory that its journal lies in.
    pub directory: Arc<Path>,
    /// The transcript that it is of.
    pub key: Key,
    /// Whether its removal was begun: some `owner_pending` or `owner_retired` receipt stands.
    pub begun: bool,
}

impl Journalled {
    /// The `prepared` receipt.
    fn receipt(&self) -> PathBuf {
        self.directory.join(self.key.name(State::Prepared))
    }
}

/// The directory of owners as the walk saw it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// What is in it.
    pub listing: Listing,
    /// Pending publications by name of the owner's directory: the first of them, and how many.
    pub publications: BTreeMap<OsString, (PathBuf, u64)>,
}

/// Reports what a transcript says of its owner; answers the owner that it names.
pub fn named(source: &Source, claim: Claim, sink: &mut dyn Sink) -> Option<Named> {
    let place = || source.line(claim.line);
    let mut push = |code, place, message: &str| sink.push(Finding::new(code, place, message));
    let session = JsString::from_wtf8(claim.session_id.clone());
    match claim.said {
        Err(Unclear::Header) => {
            let message = "The transcript names an owner of task artifacts, and its first line is no header of its session.";
            push(&codes::TASK_ARTIFACT_OWNER_TRANSCRIPT_HEADER_INVALID, place(), message);
            None
        }
        Err(Unclear::Locator) => {
            let place = Place { pointer: Some("/taskArtifactOwner".to_owned()), ..place() };
            push(&codes::TASK_ARTIFACT_OWNER_LOCATOR_INVALID, place, "The header's `taskArtifactOwner` has not the form of a locator.");
            None
        }
        Err(Unclear::Patch) => {
            let message = "The line speaks of the session's owner of task artifacts and is no valid patch that names one.";
            push(&codes::TASK_ARTIFACT_OWNER_PATCH_INVALID, place(), message);
            None
        }
        Ok(locator) => {
            match owner_id(session.as_js()) {
                None => {
                    let message = "The session names an owner of task artifacts and has an empty id.";
                    push(&codes::TASK_ARTIFACT_OWNER_SESSION_ID_INVALID, place(), message);
                }
                Some(id) if id != locator.owner_id => {
                    let message = "The owner that the session names is that of another session id.";
                    push(&codes::TASK_ARTIFACT_OWNER_SESSION_MISMATCH, place(), message);
                }
                Some(_) => {}
            }
            Some(Named { session, locator })
        }
    }
}

/// Walks the directory of owners: what is in it, what removals left, and what is not yet published.
pub fn walk(site: &Site<'_>, path: &Path, sink: &mut dyn Sink) -> Option<Seen> {
    let listing = match walk::list(site.fs, path, &site.limits) {
        Ok(listing) => listing,
        Err(error) => {
            super::operational::unreadable(site, &error, sink);
            return None;
        }
    };
    for trouble in &listing.troubles {
        super::operational::trouble(site, trouble, sink);
    }
    let mut publications: BTreeMap<OsString, (PathBuf, u64)> = BTreeMap::new();
    for owner in &listing.objects {
        let root = listing.path_of(owner);
        let mut tree = Tree::default();
        let visit = |below: &Listing| {
            tree.add(&root, below);
            for object in below.objects.iter().filter(|object| is_pending_publication(object.bytes())) {
                let first = || (below.path_of(object), 0);
                publications.entry(owner.name.clone()).or_insert_with(first).1 += 1;
            }
        };
        residue::owner(site, &listing, owner, visit, sink);
        let is_owner = owner.meta.kind == Kind::Directory && owner.name.to_str().is_some_and(is_hex64);
        if is_owner && Difference::Retirement.in_effect(site.release) {
            tree.report(site, &root, sink);
        }
    }
    Some(Seen { listing, publications })
}

/// What of the limits of a captured tree an owner uses (spec 03 §5.3).
#[derive(Default)]
struct Tree {
    /// Entries below the root.
    entries: u64,
    bytes: u64,
    largest_file: u64,
    depth: u64,
}

impl Tree {
    fn add(&mut self, root: &Path, below: &Listing) {
        self.entries += below.objects.len() as u64;
        for file in below.objects.iter().filter(|object| object.meta.kind == Kind::File) {
            self.bytes = self.bytes.saturating_add(file.meta.size);
            self.largest_file = self.largest_file.max(file.meta.size);
        }
        self.depth = self.depth.max(below.path.strip_prefix(root).map_or(0, |below| below.components().count() as u64));
    }
    fn report(&self, site: &Site<'_>, root: &Path, sink: &mut dyn Sink) {
        for (measure, used) in [
            (&quota::OWNER_TREE_ENTRIES, self.entries + 1),
            (&quota::OWNER_TREE_BYTES, self.bytes),
            (&quota::OWNER_TREE_FILE_BYTES, self.largest_file),
            (&quota::OWNER_TREE_DEPTH, self.depth),
        ] {
            measure.read(site.place(root), used, sink);
        }
    }
}

/// Everything that is known when the walk is done.
pub struct Facts<'f> {
    /// The sessions root.
    pub sessions: &'f Path,
    /// Transcripts that name an owner.
    pub owned: &'f [(PathBuf, Named)],
    /// Journals.
    pub journals: &'f [Journalled],
    /// The directory of owners; none when there is none, or it was not read.
    pub owners: Option<&'f Seen>,
    /// Verdicts of all transcripts.
    pub outcomes: &'f [Outcome],
    /// Paths, as findings spell them, of which something is said already that blocks every retirement.
    pub told: &'f BTreeSet<String>,
    /// Paths of which it was said that they were not read: if there is one, it is not known that nobody names an owner.
    pub unread: &'f BTreeSet<String>,
}

/// True for a code that says that its object was not read or not judged.
pub fn tells_of_reading(code: &Code) -> bool {
    code.area == "operational" && code.fatal
}

/// True for a code that itself says that owners are not retired any more because of its object.
pub fn tells_of_scan(code: &Code) -> bool {
    code.verdict.contains("owner scan") || code.verdict.contains("every owner retirement")
}

/// Judges all owners of a sessions root.
pub fn check(site: &Site<'_>, facts: &Facts<'_>, sink: &mut dyn Sink) {
    if !Difference::Retirement.in_effect(site.release) {
        return;
    }
    let path = facts.sessions.join(TASK_ARTIFACT_OWNERS);
    let owners = Owners { fs: site.fs, path: &path, is_copy: site.assumed_root.is_some() };
    let told = Folded::new(sink, site.place(&path));
    let mut audit = Audit { site, facts, owners, said: BTreeSet::new(), complete: facts.unread.is_empty(), told };
    audit.opened();
    audit.shared();
    let beside = audit.siblings();
    audit.directories(&beside);
    audit.told.finish();
}

/// What makes two locators equal.
fn key(locator: &Locator) -> (&str, u64, u64) {
    (&locator.owner_id, locator.directory_dev, locator.directory_ino)
}

struct Audit<'a, 's> {
    site: &'a Site<'a>,
    facts: &'a Facts<'a>,
    owners: Owners<'a>,
    /// What was said of which object: several sessions may name one owner.
    said: BTreeSet<(&'static str, PathBuf)>,
    /// Whether everything could be read so far.
    complete: bool,
    told: Folded<'s>,
}

impl<'a> Audit<'a, '_> {
    fn push(&mut self, code: &'static Code, path: &Path, message: String, by: Option<&Path>) {
        if !self.said.insert((code.name, path.to_owned())) {
            return;
        }
        let finding = Finding::new(code, self.site.place(path), message);
        self.told.push(match by {
            Some(by) if by != path => finding.related("named by", self.site.place(by)),
            _ => finding,
        });
    }

    /// Opens every owner that a transcript or a journal names.
    fn opened(&mut self) {
        let facts = self.facts;
        let begun: BTreeSet<&str> =
            facts.journals.iter().filter(|journal| journal.begun).map(|journal| journal.named.locator.owner_id.as_str()).collect();
        let stands = |named: &Named| !begun.contains(named.locator.owner_id.as_str());
        for (transcript, named) in facts.owned.iter().filter(|(_, named)| stands(named)) {
            // What the transcript says wrongly was told with the transcript.
            if owner_id(named.session.as_js()).as_deref() == Some(named.locator.owner_id.as_str()) {
                self.open(named, transcript, true);
            }
        }
        // That nothing is left of an owner is no news to a journal, and there may be fifty thousand of those.
        let all_gone = facts.owners.is_none() && self.site.fs.present(self.owners.path).is_ok_and(|there| !there);
        let is_gone = |named: &Named| match facts.owners {
            Some(seen) => seen.listing.is_complete() && seen.listing.get(&named.locator.owner_id).is_none(),
            None => all_gone,
        };
        for journal in facts.journals.iter().filter(|journal| stands(&journal.named) && !is_gone(&journal.named)) {
            self.open(&journal.named, &journal.receipt(), false);
        }
    }

    fn open(&mut self, named: &Named, by: &Path, is_transcript: bool) {
        let refusal = match self.owners.open(&named.locator, named.session.as_js()) {
            Ok(_) => return,
            Err(Fault::Rule(refusal)) => refusal,
            Err(Fault::Unread(refusal)) => {
                let root = self.owners.root(&named.locator.owner_id);
                return record::unread(self.site, &root, refusal, &mut self.told);
            }
            Err(Fault::Uncaptured(_)) => return,
        };
        self.refused(refusal, &named.locator.owner_id, by, is_transcript);
    }

    fn refused(&mut self, refusal: Refusal, owner: &str, by: &Path, is_transcript: bool) {
        let root = self.owners.root(owner);
        let manifest = root.join(MANIFEST);
        let (code, path, message) = match refusal {
            Refusal::OwnerMissing if !is_transcript => return,
            Refusal::OwnerMissing => {
                let removed = self.site.fs.lstat(&self.owners.path.join(format!("{owner}.removing"))).is_ok();
                let hint = if removed { "; what stands beside it under `.removing` was detached by a removal" } else { "" };
                let message = format!("The owner `{owner}` of the session's task artifacts does not exist{hint}.");
                (&codes::TASK_ARTIFACT_OWNER_MISSING, by.to_owned(), message)
            }
            Refusal::OwnerReplaced => {
                let parent = self.site.fs.lstat(self.owners.path).is_ok_and(|meta| meta.kind == Kind::Directory);
                let path = if parent { root } else { self.owners.path.to_owned() };
                (&codes::TASK_ARTIFACT_OWNER_REPLACED, path, "It is no real directory.".to_owned())
            }
            Refusal::OwnerIdentityMismatch => {
                let message = "The directory has another device or inode than the session recorded.";
                (&codes::TASK_ARTIFACT_OWNER_IDENTITY_MISMATCH, root, message.to_owned())
            }
            Refusal::SessionMismatch => {
                let message = "The manifest names another session than the one that names this owner.";
                (&codes::TASK_ARTIFACT_OWNER_SESSION_MISMATCH, manifest, message.to_owned())
            }
            Refusal::ManifestMissing => {
                (&codes::TASK_ARTIFACT_OWNER_MANIFEST_MISSING, root, "The owner is in use and has no manifest.".to_owned())
            }
            Refusal::ManifestInvalid => {
                let message = "The manifest is no JSON object of its five members.";
                (&codes::TASK_ARTIFACT_OWNER_MANIFEST_INVALID, manifest, message.to_owned())
            }
            Refusal::ManifestMismatch => {
                let message = "The manifest has another owner id, device or inode than the session recorded.";
                (&codes::TASK_ARTIFACT_OWNER_MANIFEST_MISMATCH, manifest, message.to_owned())
            }
            _ => return,
        };
        self.push(code, &path, message, Some(by));
    }

    /// Owners that several transcripts name.
    fn shared(&mut self) {
        let mut by_owner: BTreeMap<(&str, u64, u64), Vec<&Path>> = BTreeMap::new();
        for (path, Named { locator, .. }) in self.facts.owned {
            by_owner.entry(key(locator)).or_default().push(path);
        }
        for mut paths in by_owner.into_values() {
            paths.sort_unstable();
            if let [first, .., last] = paths.as_slice() {
                let others = match paths.len() {
                    2 => "Another transcript names".to_owned(),
                    all => format!("{} other transcripts name", all - 1),
                };
                let message = format!("{others} the same owner of task artifacts.");
                let code = &codes::TASK_ARTIFACT_OWNER_SHARED_WITH_SIBLING_TRANSCRIPT;
                self.push(code, last, message, Some(first));
            }
        }
    }

    /// Whether there is an owner that could be retired.
    fn has_owner(&self) -> bool {
        let directory = |object: &walk::Object| object.meta.kind == Kind::Directory && object.name.to_str().is_some_and(is_hex64);
        !self.facts.owned.is_empty() || self.facts.owners.is_some_and(|seen| seen.listing.objects.iter().any(directory))
    }

    /// What keeps gjc from retiring any owner. Answers the owners that files beside the transcripts name.
    fn siblings(&mut self) -> BTreeSet<String> {
        let (site, facts) = (self.site, self.facts);
        if !self.has_owner() {
            return BTreeSet::new();
        }
        let answer = |outcome: &'a Outcome| outcome.verdicts.iter().find(|(reader, _)| *reader == "O").map(|(_, answer)| &**answer);
        let answers: BTreeMap<&str, &str> = facts.outcomes.iter().filter_map(|outcome| Some((&*outcome.path, answer(outcome)?))).collect();
        let owned: BTreeMap<&Path, &Locator> = facts.owned.iter().map(|(path, named)| (path.as_path(), &named.locator)).collect();
        let mut said = |path: &Path| match (owned.get(path), answers.get(&*site.name(path))) {
            (Some(locator), _) => Ok(Some((*locator).clone())),
            (None, Some(&"no owner")) => Ok(None),
            (None, Some(_)) => Err(siblings::Unknown::Unclear),
            (None, None) => siblings::read(site.fs, path),
        };
        let agent = facts.sessions.parent().filter(|_| site.whole);
        let profile = Profile { fs: site.fs, agent, sessions: facts.sessions, uid: site.uid, limits: site.limits };
        let scan = siblings::scan(&profile, &mut said);
        quota::OWNER_SCAN_ENTRIES.read(site.place(facts.sessions), scan.entries, &mut self.told);
        for (path, refusal) in scan.unread {
            self.complete = false;
            if !facts.unread.contains(&*site.name(&path)) {
                record::unread(site, &path, refusal, &mut self.told);
            }
        }
        let mut kinds: BTreeMap<Obstacle, Vec<PathBuf>> = BTreeMap::new();
        for (obstacle, path) in scan.obstacles {
            if !facts.told.contains(&*site.name(&path)) {
                kinds.entry(obstacle).or_default().push(path);
            }
        }
        for (obstacle, paths) in &kinds {
            self.blocked(obstacle.what(), paths);
        }
        let beside: Vec<(PathBuf, Locator)> = scan.named.into_iter().filter(|(path, _)| !owned.contains_key(path.as_path())).collect();
        let locators: BTreeSet<(&str, u64, u64)> = facts.owned.iter().map(|(_, named)| key(&named.locator)).collect();
        let of_others = |locator: &Locator| locators.contains(&key(locator));
        let copies: Vec<PathBuf> = beside.iter().filter(|(_, locator)| of_others(locator)).map(|(path, _)| path.clone()).collect();
        if !copies.is_empty() {
            self.blocked("a copy beside the transcripts that names an owner of one of them", &copies);
        }
        beside.into_iter().map(|(_, locator)| locator.owner_id).collect()
    }

    /// One finding for all obstacles of one kind, at the first of them.
    fn blocked(&mut self, what: &str, paths: &[PathBuf]) {
        let Some(first) = paths.first() else { return };
        let more = match paths.len() {
            1 => String::new(),
            all => format!(" ({} like it)", count(all as u64 - 1, "more", "more")),
        };
        let message = format!("No owner of this profile is retired while this stands here: {what}{more}.");
        self.push(&codes::OWNER_SCAN_BLOCKED, first, message, None);
    }

    /// Owners on disk that nobody names, and those into which something is still written.
    fn directories(&mut self, beside: &BTreeSet<String>) {
        let Some(seen) = self.facts.owners else { return };
        let transcripts = self.facts.owned.iter().map(|(_, named)| &named.locator);
        let journals = self.facts.journals.iter().map(|journal| &journal.named.locator);
        let known: BTreeSet<&str> = transcripts.chain(journals).map(|locator| locator.owner_id.as_str()).collect();
        for object in &seen.listing.objects {
            let path = seen.listing.path_of(object);
            if let Some((first, number)) = seen.publications.get(&object.name) {
                let message = format!("{} not finished in this owner.", count(*number, "publication is", "publications are"));
                self.push(&codes::TASK_ARTIFACT_OWNER_WRITER_NOT_QUIESCENT, first, message, None);
            }
            let Some(owner) = object.name.to_str().filter(|name| is_hex64(name)) else { continue };
            match object.meta.kind {
                _ if known.contains(owner) || beside.contains(owner) => {}
                Kind::Directory if self.complete => self.unnamed(owner, &path),
                Kind::Directory => {}
                // Special files have a code of their own.
                kind if kind.is_special() => {}
                _ => self.refused(Refusal::OwnerReplaced, owner, &path, false),
            }
        }
    }

    fn unnamed(&mut self, owner: &str, path: &Path) {
        match self.owners.manifest(owner) {
            Ok(manifest) => {
                let session = manifest.session_id.as_js();
                let whose = if owner_id(session).as_deref() == Some(owner) { "session" } else { "other session" };
                let session = super::words::shortened(&session.to_string_lossy());
                let message =
                    format!("No transcript and no journal of this profile names this owner; its manifest names the {whose} `{session}`.");
                self.push(&codes::TASK_ARTIFACT_OWNER_UNREFERENCED, path, message, None);
            }
            Err(Fault::Rule(Refusal::ManifestMissing)) => {
                let message = "The owner has no manifest, which is written last, and nobody names it.".to_owned();
                self.push(&codes::TASK_ARTIFACT_OWNER_PROVISIONING_INTERRUPTED, path, message, None);
            }
            Err(Fault::Rule(refusal)) => self.refused(refusal, owner, path, false),
            Err(Fault::Unread(refusal)) => record::unread(self.site, path, refusal, &mut self.told),
            Err(Fault::Uncaptured(_)) => {}
        }
    }
}
