//! A whole agent directory: storage roots, the entries of the sessions root, the blob store, and what only shows when
//! everything was seen.

use super::directory::Work;
use super::file::Where;
use super::part::{Part, TaskWork};
use super::{Depth, Site};
use crate::agent::layout::{self, RECOVERY, SessionsName, sessions_name};
use crate::agent::locate::Location;
use crate::agent::walk::{self, Listing, Object};
use crate::check::blob::store;
use crate::check::breadcrumb;
use crate::check::residue::{self, Place};
use crate::check::{history, listing as listing_area, operational, owner, scope, security, tombstone};
use crate::finding::{Code, Collected, Finding, Sink};
use crate::fsys::{Errno, Kind};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Checks the agent directory. It is there and is a directory; `agent` is its listing. Under XDG it is the data root.
pub fn check(work: &Work<'_>, location: &Location, agent: &Listing) -> Part {
    let site = &work.site;
    let mut part = site.part();
    security::storage_directory(site, &agent.path, &agent.meta, true, &mut part);
    operational::names(site, agent, |object| !is_storage_name(object) || object.name == layout::SESSIONS, &mut part);
    for trouble in &agent.troubles {
        operational::trouble(site, trouble, &mut part);
    }
    if let Some(recovery) = agent.get(RECOVERY) {
        security::recovery(site, agent, recovery, &mut part);
        if let Ok(quarantine) = walk::list(site.fs, &agent.path_of(recovery), &site.limits) {
            residue::recovery(site, &quarantine, &mut part);
        }
    }
    residue::directory(site, agent, Place::Agent, &BTreeSet::new(), &mut part);
    misplaced(work, agent, "the agent directory", Where::LONE, &mut part);
    part.absorb(sessions(work, &location.sessions()));
    // Before the files are read, which forgets their names.
    let tasks = part.tasks.clone().into_iter().filter(|task| task.work != TaskWork::References);
    residue::caches(site, &location.cache, tasks.flat_map(|task| task.files.paths()), site.host, &mut part);
    work.settle(&mut part);
    unlisted(site, &mut part);
    owners(site, &mut part);
    parents(site, &mut part);
    breadcrumbs(site, location, &mut part);
    if site.depth != Depth::Connectivity {
        history::check(site, &location.history(), &mut part);
    }
    if let Some(blobs) = site.store {
        store::judge(site, blobs, Some(&part.references.clone()), &mut part);
    }
    part
}

/// Checks a sessions root; it may be absent.
pub fn sessions(work: &Work<'_>, path: &Path) -> Part {
    let site = &work.site;
    let mut part = site.part();
    match site.fs.lstat(path) {
        Ok(meta) if meta.kind == Kind::Directory => security::storage_directory(site, path, &meta, false, &mut part),
        Ok(meta) => {
            scope::sessions_root_of_wrong_kind(site, path, meta.kind, &mut part);
            part.references.incomplete.push(path.to_owned());
            return part;
        }
        Err(error) if error.errno == Errno::NOENT => return part,
        Err(error) => {
            scope::sessions_root_unavailable(site, path, &error, &mut part);
            part.references.incomplete.push(path.to_owned());
            return part;
        }
    }
    let root = match walk::list(site.fs, path, &site.limits) {
        Ok(root) => root,
        Err(error) => {
            operational::unreadable(site, &error, &mut part);
            part.references.incomplete.push(path.to_owned());
            return part;
        }
    };
    operational::names(site, &root, |object| sessions_name(object.bytes()) == SessionsName::Unknown, &mut part);
    for trouble in &root.troubles {
        operational::trouble(site, trouble, &mut part);
        part.references.incomplete.push(path.to_owned());
    }
    misplaced(work, &root, "the sessions root", Where::LISTED, &mut part);
    let completed = completed(site, &root);
    let work = &Work { completed: &completed, ..*work };
    let parts: Vec<Part> = root.objects.par_iter().map(|object| entry(work, &root, object)).collect();
    for other in parts {
        part.absorb(other);
    }
    residue::directory(site, &root, Place::Sessions, &completed, &mut part);
    part.sessions = Some(root);
    part
}

/// Operation names of all targets whose deletion is finished, by the names in every `tombstones/`.
fn completed(site: &Site<'_>, root: &Listing) -> BTreeSet<String> {
    let scopes =
        root.objects.iter().filter(|object| object.meta.kind == Kind::Directory && sessions_name(object.bytes()) == SessionsName::Scope);
    scopes
        .filter_map(|scope| {
            let tombstones = root.path_of(scope).join(layout::INTERNAL).join(layout::TOMBSTONES);
            walk::list(site.fs, &tombstones, &site.limits).ok()
        })
        .flat_map(|tombstones| tombstone::completed_residue(Some(&tombstones)))
        .collect()
}

/// One name of the sessions root.
fn entry(work: &Work<'_>, root: &Listing, object: &Object) -> Part {
    let site = &work.site;
    let path = root.path_of(object);
    let mut part = site.part();
    let name = sessions_name(object.bytes());
    if object.meta.kind != Kind::Directory {
        // Special files were named with the listing; links and files of other names have areas of their own.
        if name == SessionsName::Scope && !object.meta.kind.is_special() {
            security::reparse_point(site, &path, object.meta.kind, &mut part);
        }
        return part;
    }
    match name {
        SessionsName::Scope => work.scope(&path),
        SessionsName::Legacy => work.plain(&path),
        SessionsName::Unknown | SessionsName::MalformedScope { .. } => {
            let mut part = work.plain(&path);
            part.unlisted.push(path);
            part
        }
        // Owners of task artifacts and the quarantine are judged by their own areas.
        SessionsName::Reserved => {
            if object.name == layout::TASK_ARTIFACT_OWNERS {
                part.owners = owner::walk(site, &path, &mut part);
            }
            part
        }
    }
}

/// Owners of task artifacts: judged when everything else of the sessions root was.
pub fn owners(site: &Site<'_>, part: &mut Part) {
    let Some(sessions) = part.sessions.take() else { return };
    let paths = |tells: fn(&Code) -> bool| {
        let told = part.findings.iter().filter(|finding| tells(finding.code));
        told.map(|finding| finding.place.path.to_string()).collect::<BTreeSet<String>>()
    };
    let seen = part.owners.take();
    let facts = owner::Facts {
        sessions: &sessions.path,
        owned: &std::mem::take(&mut part.owned),
        journals: &std::mem::take(&mut part.journals),
        owners: seen.as_ref(),
        outcomes: &part.outcomes,
        told: &paths(owner::tells_of_scan),
        unread: &paths(owner::tells_of_reading),
    };
    let mut found = site.part();
    owner::check(site, &facts, &mut found);
    part.absorb(found);
}

/// Directories that no listing visits, with the workspaces of what is in them: known when their transcripts were read.
pub fn unlisted(site: &Site<'_>, part: &mut Part) {
    let unlisted = std::mem::take(&mut part.unlisted);
    let mut workspaces: BTreeMap<Arc<str>, BTreeSet<&str>> = unlisted.iter().map(|path| (site.name(path), BTreeSet::new())).collect();
    for outcome in &part.outcomes {
        let directory = outcome.path.rsplit_once('/').and_then(|(directory, _)| workspaces.get_mut(directory));
        if let (Some(workspaces), Some(cwd)) = (directory, outcome.cwd.as_deref()) {
            workspaces.insert(cwd);
        }
    }
    let mut found = site.part();
    for path in &unlisted {
        scope::directory_name(site, path, workspaces.get(&site.name(path)).unwrap_or(&BTreeSet::new()), &mut found);
    }
    part.absorb(found);
}

/// The last sessions of terminals: judged when it is known what each transcript is.
fn breadcrumbs(site: &Site<'_>, location: &Location, part: &mut Part) {
    let mut found = Collected::default();
    breadcrumb::check(site, &location.terminal_sessions(), &location.sessions(), &part.outcomes, &mut found);
    part.collected(found.findings);
}

/// Transcripts that lie where no managed listing looks; they are checked all the same.
fn misplaced(work: &Work<'_>, listing: &Listing, place: &str, at: Where, part: &mut Part) {
    let siblings = security::Siblings::of(listing);
    for object in listing.objects.iter().filter(|o| o.is_transcript_name() && o.meta.kind == Kind::File) {
        let path = listing.path_of(object);
        let message = format!("The transcript lies directly in {place}.");
        part.push(Finding::new(&listing_area::codes::SESSION_IN_WRONG_DIRECTORY, work.site.place(&path), message));
        security::hard_links(&work.site, listing, &siblings, object, &security::codes::HARD_LINKED_TRANSCRIPT, part);
        part.absorb(work.transcript(&path, at));
    }
}

/// Names of the agent directory that hold session storage: only there does the kind of the object matter.
fn is_storage_name(object: &Object) -> bool {
    [layout::SESSIONS, layout::BLOBS, layout::TERMINAL_SESSIONS, layout::HISTORY].iter().any(|name| object.name == *name)
}

/// Every `parentSession`: an id that some transcript has, or a path that exists.
fn parents(site: &Site<'_>, part: &mut Part) {
    if part.parents.is_empty() {
        return;
    }
    let ids: BTreeSet<&str> = part.outcomes.iter().filter_map(|outcome| outcome.id.as_deref()).collect();
    let mut dangling = Vec::new();
    for (path, parent) in &part.parents {
        let is_path = parent.contains(['/', '\\']) || parent.ends_with(layout::TRANSCRIPT_SUFFIX);
        let there = if is_path {
            let base = path.parent().unwrap_or(path);
            // Only proven absence counts.
            site.fs.present(&base.join(site.here(Path::new(parent)))).unwrap_or(true)
        } else {
            ids.contains(parent.as_str())
        };
        if !there {
            let what = if is_path { "path does not exist" } else { "id belongs to no transcript here" };
            let message = format!("`parentSession` is `{parent}`; this {what}.");
            dangling.push(Finding::new(&listing_area::codes::PARENT_SESSION_DANGLING, site.place(path), message));
        }
    }
    part.collected(dangling);
}
