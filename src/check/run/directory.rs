//! Directories of sessions: scopes, legacy and other directories of the sessions root, and plain folders of transcripts.
//!
//! The walk judges what directories show and notes the files; [`Work::settle`] reads the files, all of them in parallel.

use super::Site;
use super::file::{self, Where};
use super::part::{Files, Part, Scanned, Tally, Task, TaskWork};
use super::refs::ReferenceScan;
use crate::agent::candidates::{Cwds, Provenance};
use crate::agent::identity::Identity;
use crate::agent::layout::{INTERNAL, RECOVERY, STAGING};
use crate::agent::walk::{self, Listing, Object, Scope, Trouble};
use crate::check::blob::store::References;
use crate::check::residue::Place;
use crate::check::{
    artifact, binding, listing as listing_area, lock, managed, migration_receipt, operational, quota, replacement_receipt, residue,
    retirement_receipt, scope, security, tombstone,
};
use crate::finding::Common;
use crate::fsys::input::READ_CAP;
use crate::fsys::{Errno, Error, Kind, Watched};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the passes over directories share.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Where, and for whom.
    pub site: Site<'a>,
    /// Who is told how far it is.
    pub tally: &'a Tally<'a>,
    /// Whether references are looked for in files that are no transcripts.
    pub all_references: bool,
    /// Identities of header cwds, looked up once each.
    pub cwds: &'a Cwds,
    /// Operation names of targets whose deletion is finished, in all scopes.
    pub completed: &'a BTreeSet<String>,
}

impl<'a> Work<'a> {
    /// A managed scope.
    pub fn scope(&self, path: &Path) -> Part {
        let mut part = self.site.part();
        let scope = match walk::scope(self.site.fs, path, &self.site.limits) {
            Ok(scope) => scope,
            Err(error) => {
                self.gone(path, error, &mut part);
                return part;
            }
        };
        let site = &self.site;
        security::scope_directory(site, path, &scope.directory.meta, &mut part);
        let binding = binding::judge(site, &scope, &mut part);
        if let Some(binding) = &binding {
            scope::workspace(site, &scope, binding, &mut part);
            self.project(binding, &mut part);
            // A copy says nothing of the workspaces of this machine.
            if let Some(identity) = binding.identity().filter(|_| site.assumed_root.is_none()) {
                listing_area::project_scan(site, Path::new(&identity.canonical_path), &mut part);
            }
        }
        let audited = scope.receipts.as_ref().filter(|receipts| retirement_receipt::audits(site, receipts));
        let opened_later = |listing: &Listing, object: &Object| {
            audited.is_some_and(|receipts| std::ptr::eq(receipts, listing)) && retirement_receipt::is_of_journal(object)
        };
        security::inside_scope(site, &scope, opened_later, &mut part);
        for listing in scope.listings() {
            operational::names(site, listing, |object| claimed(listing, &scope, object), &mut part);
            self.troubles(&listing.troubles, &mut part);
        }
        self.troubles(&scope.troubles, &mut part);
        let transcripts = self.transcripts(&scope.directory, Where::LISTED, &mut part);
        self.below(&scope.directory, true, &mut part);
        self.protocols(&scope, binding.and_then(|binding| binding.identity()), transcripts, &mut part);
        part.receipts.extend(scope.receipts.filter(|receipts| !receipts.objects.is_empty()));
        part
    }

    /// What only shows when all session directories that were looked at are seen together.
    fn together(&self, part: &mut Part, common: &mut Common) {
        let (directories, root) = (std::mem::take(&mut part.directories), part.sessions.take());
        let told = managed::Told::by(&part.findings);
        let mut answers = managed::Answers::new(std::mem::take(&mut part.outcomes), common);
        managed::check(&self.site, self.cwds, root.as_ref(), directories, &mut answers, &told, part);
        if let Some(root) = &root {
            residue::foreign_legacy_names(&self.site, root, part);
        }
        (part.outcomes, part.sessions) = (answers.into_outcomes(), root);
        let inspected = part.sessions.as_ref().map_or(self.site.root, |root| &root.path).to_owned();
        // A scope that is checked alone says nothing of how many there are.
        let scopes = if part.sessions.is_some() { std::mem::take(&mut part.scopes) } else { 0 };
        quota::inspected(&self.site, &inspected, scopes, std::mem::take(&mut part.protocol_entries), part);
        let receipts = std::mem::take(&mut part.receipts);
        part.journals = retirement_receipt::check(&self.site, &receipts, part);
        // Fifty thousand names take longer to forget than everything that follows: nobody waits for it.
        rayon::spawn(move || drop(receipts));
    }

    /// Locks, receipts, tombstones, residue and artifacts of a scope.
    fn protocols(&self, scope: &Scope, workspace: Option<Identity>, transcripts: Arc<Files>, part: &mut Part) {
        let site = &self.site;
        if let Some(locks) = &scope.locks {
            lock::check(site, locks, site.host, part);
        }
        let rebound = managed::rebound(site, scope, part);
        migration_receipt::check(site, scope, rebound, part);
        replacement_receipt::check(site, &scope.directory, site.host, part);
        tombstone::check(site, scope, part);
        let refused = part.findings.iter().filter(|finding| finding.code.verdict.contains("inspector"));
        let refused = refused.map(|finding| finding.place.path.to_string()).collect();
        retirement_receipt::protocol::check(site, scope, &refused, part);
        let completed = tombstone::completed_residue(scope.tombstones.as_ref());
        residue::directory(site, &scope.directory, Place::Scope, &completed, part);
        residue::exclusive_locks(site, &scope.directory, site.host, part);
        residue::sidecars(site, &scope.directory, part);
        for role in scope.roles() {
            residue::directory(site, role, Place::Protocol, &completed, part);
        }
        if let Some(recovery) = &scope.recovery {
            residue::recovery(site, recovery, part);
        }
        artifact::check(site, &scope.directory, part);
        managed::size(site, scope, part);
        part.scopes += 1;
        part.protocol_entries += scope.roles().map(|role| role.objects.len() as u64).sum::<u64>();
        let (provenance, receipts) = (Provenance::V2, scope.receipts.as_ref());
        part.directories.push(managed::Directory::new(&scope.directory, provenance, workspace, receipts, transcripts));
    }

    /// A directory of the sessions root that is no scope: a legacy directory, or one that no listing visits.
    pub fn plain(&self, path: &Path) -> Part {
        let mut part = self.site.part();
        let listing = match walk::list(self.site.fs, path, &self.site.limits) {
            Ok(listing) => listing,
            Err(error) => {
                self.gone(path, error, &mut part);
                return part;
            }
        };
        operational::names(&self.site, &listing, Object::is_transcript_name, &mut part);
        self.troubles(&listing.troubles, &mut part);
        security::outside_scope(&self.site, &listing, &mut part);
        let legacy = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"));
        let transcripts = self.transcripts(&listing, if legacy { Where::LEGACY } else { Where::LISTED }, &mut part);
        self.below(&listing, false, &mut part);
        // Deletions in a legacy directory are recorded in the scope of its workspace.
        residue::directory(&self.site, &listing, Place::Legacy, self.completed, &mut part);
        residue::sidecars(&self.site, &listing, &mut part);
        replacement_receipt::check(&self.site, &listing, self.site.host, &mut part);
        artifact::check(&self.site, &listing, &mut part);
        if legacy {
            part.directories.push(managed::Directory::new(&listing, Provenance::Legacy, None, None, transcripts));
        }
        part
    }

    /// A folder of transcripts, and the folders in it (hidden ones left out).
    pub fn folder(&self, path: &Path) -> Part {
        let mut part = self.site.part();
        let visible = |_: &Listing, object: &Object| !object.bytes().starts_with(b".");
        let troubles = walk::tree(self.site.fs, path, &self.site.limits, visible, |listing| {
            self.troubles(&listing.troubles, &mut part);
            residue::directory(&self.site, &listing, Place::Folder, self.completed, &mut part);
            residue::sidecars(&self.site, &listing, &mut part);
            security::outside_scope(&self.site, &listing, &mut part);
            let files = listing.objects.iter().filter(|o| !matches!(o.meta.kind, Kind::Symlink | Kind::Directory));
            let names = files.filter(|o| o.is_transcript_name()).map(|o| o.name.clone());
            self.note(&listing.path, names, TaskWork::Transcript { at: Where::LONE, scanned: Scanned::All }, &mut part);
        });
        self.troubles(&troubles, &mut part);
        part
    }

    /// One transcript outside a session directory.
    pub fn transcript(&self, path: &Path, at: Where) -> Part {
        let mut part = self.site.part();
        if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
            self.note(directory, [name.to_owned()].into_iter(), TaskWork::Transcript { at, scanned: Scanned::None }, &mut part);
        }
        part
    }

    /// The transcripts of a session directory. Links were reported, they are not followed.
    fn transcripts(&self, listing: &Listing, at: Where, part: &mut Part) -> Arc<Files> {
        let named = listing.objects.iter().filter(|o| o.is_transcript_name());
        let names = named.filter(|o| o.meta.kind != Kind::Symlink).map(|o| o.name.clone());
        // gjc's blob collection leaves hidden names out.
        self.note(&listing.path, names, TaskWork::Transcript { at, scanned: Scanned::Visible }, part)
    }

    /// Notes files of a directory.
    fn note(&self, directory: &Path, names: impl Iterator<Item = OsString>, work: TaskWork, part: &mut Part) -> Arc<Files> {
        let files = Arc::new(Files::new(directory, names));
        if files.count() > 0 {
            part.tasks.push(Task { files: Arc::clone(&files), work });
        }
        if work != TaskWork::References {
            self.tally.expect(files.count());
        }
        files
    }

    /// Reads the files that the walk noted. What they give comes in the order in which they were noted.
    pub fn settle(&self, part: &mut Part) {
        enum Done {
            Checked(Box<file::Checked>, bool),
            Searched(References),
        }
        /// Files of one sweep: what they give is put in its place before the next ones are read.
        const SWEEP: usize = 1024;
        let mut common = Common::default();
        let tasks = std::mem::take(&mut part.tasks);
        let transcripts = tasks.iter().filter(|task| task.work != TaskWork::References).map(|task| task.files.count());
        part.expect(transcripts.clone().sum(), transcripts.count());
        let mut files = tasks.into_iter().flat_map(|task| task.files.paths().map(move |path| (path, task.work)));
        loop {
            let sweep: Vec<(PathBuf, TaskWork)> = files.by_ref().take(SWEEP).collect();
            if sweep.is_empty() {
                break;
            }
            let done: Vec<Done> = sweep
                .par_iter()
                .map(|(path, work)| match work {
                    TaskWork::Transcript { at, scanned } => {
                        let checked = file::check(&self.site, path, *at);
                        self.tally.done(checked.bytes);
                        Done::Checked(Box::new(checked), path.file_name().is_some_and(|name| scanned.has(name)))
                    }
                    TaskWork::References => Done::Searched(references_of(&self.site, path)),
                })
                .collect();
            for ((path, _), done) in sweep.iter().zip(done) {
                match done {
                    Done::Checked(checked, scanned) => part.transcript(path, *checked, scanned, &mut common),
                    Done::Searched(references) => part.references.merge(references),
                }
            }
        }
        drop(files);
        self.together(part, &mut common);
    }

    /// Everything below a session directory that is no protocol directory: artifact trees, staged attempts. Their
    /// transcripts (of subagents) are checked too; no listing knows them, so what depends on a place does not apply.
    fn below(&self, directory: &Listing, in_scope: bool, part: &mut Part) {
        self.search(directory, |object| !object.is_transcript_name(), part);
        for object in directory.objects.iter().filter(|o| o.meta.kind == Kind::Directory && o.name != INTERNAL) {
            let root = directory.path_of(object);
            let owned = object.name != STAGING && object.name != RECOVERY;
            let has_transcript = artifact::transcript_of(directory, object).is_some();
            let troubles = walk::tree(
                self.site.fs,
                &root,
                &self.site.limits,
                |_, _| true,
                |listing| {
                    if object.name != RECOVERY {
                        operational::names(&self.site, &listing, |_| false, part);
                    }
                    if in_scope && owned {
                        security::inside_artifacts(&self.site, &listing, part);
                    }
                    if owned {
                        // Transcripts of subagents are replaced in their own directory.
                        replacement_receipt::check(&self.site, &listing, self.site.host, part);
                    }
                    if owned && listing.path == root && has_transcript {
                        residue::directory(&self.site, &listing, Place::Artifacts, self.completed, part);
                    }
                    self.troubles(&listing.troubles, part);
                    let transcript = |file: &Object| owned && file.is_transcript_name();
                    let files = listing.objects.iter().filter(|o| o.meta.kind == Kind::File);
                    let names = files.filter(|o| transcript(o)).map(|o| o.name.clone());
                    self.note(&listing.path, names, TaskWork::Transcript { at: Where::LONE, scanned: Scanned::None }, part);
                    self.search(&listing, |file| !transcript(file), part);
                },
            );
            self.troubles(&troubles, part);
        }
    }

    /// Notes files that are no transcripts and may refer to blobs.
    fn search(&self, listing: &Listing, wanted: impl Fn(&Object) -> bool, part: &mut Part) {
        if self.all_references {
            let files = listing.objects.iter().filter(|o| o.meta.kind == Kind::File);
            self.note(&listing.path, files.filter(|o| wanted(o)).map(|o| o.name.clone()), TaskWork::References, part);
        }
    }

    /// Project transcripts of a workspace (spec 04 §2.9) may refer to blobs too: `<cwd>/.gjc`, without hidden names.
    fn project(&self, binding: &crate::agent::binding::Binding, part: &mut Part) {
        let Some(identity) = binding.identity() else { return };
        if !self.all_references || self.site.assumed_root.is_some() {
            return;
        }
        let root = Path::new(&identity.canonical_path).join(".gjc");
        if !self.site.fs.lstat(&root).is_ok_and(|meta| meta.kind == Kind::Directory) {
            return;
        }
        const PROJECT: walk::Limits = walk::Limits { entries: 100_000, depth: 64, objects: 100_000 };
        let visible = |_: &Listing, object: &Object| !object.bytes().starts_with(b".");
        let troubles = walk::tree(self.site.fs, &root, &PROJECT, visible, |listing| {
            self.search(&listing, Object::is_transcript_name, part);
            if !listing.is_complete() {
                part.references.incomplete.push(listing.path.clone());
            }
        });
        if !troubles.is_empty() {
            part.references.incomplete.push(root);
        }
    }

    fn troubles(&self, troubles: &[Trouble], part: &mut Part) {
        for trouble in troubles {
            operational::trouble(&self.site, trouble, part);
            let path = match trouble {
                Trouble::Failed(error) => &error.path,
                Trouble::Changed(path) | Trouble::Limit(_, path) => path,
            };
            part.references.incomplete.push(path.clone());
        }
    }

    /// A directory that its parent's listing named a moment ago.
    fn gone(&self, path: &Path, error: Error, part: &mut Part) {
        let trouble = match error.errno {
            Errno::NOENT | Errno::LOOP | Errno::NOTDIR => Trouble::Changed(path.to_owned()),
            _ => Trouble::Failed(error),
        };
        self.troubles(&[trouble], part);
    }
}

/// Special files of a scope that another code names: transcripts are judged one by one.
fn claimed(listing: &Listing, scope: &Scope, object: &Object) -> bool {
    listing.path == scope.directory.path && object.is_transcript_name()
}

/// References in the raw bytes of one file. A file that is gone, moves or cannot be read leaves the search incomplete.
fn references_of(site: &Site<'_>, path: &Path) -> References {
    let mut references = References::default();
    let read = || -> Option<()> {
        let mut watched = Watched::open(site.fs, path).ok()?;
        let size = watched.meta().size;
        if size > READ_CAP {
            return None;
        }
        let mut scan = ReferenceScan::new((&mut watched).take(size), &mut references.elsewhere);
        let mut buffer = vec![0; 64 * 1024];
        while scan.read(&mut buffer).ok()? > 0 {}
        watched.finish().ok().map(|_| ())
    };
    if { read }().is_none() {
        references.incomplete.push(path.to_owned());
    }
    references
}
