//! The picker's lists: of a directory, of a workspace, of everything below the sessions root (spec 04 §2.4, §2.7).

use super::directory::{self, Glob, Restored};
use super::{Picked, Shown, Skipped, is_staged};
use crate::agent::candidates::{Cwds, Provenance, WorkspaceListing, list_all};
use crate::agent::predict::{self, shown_from};
use crate::agent::walk::show;
use crate::agent::world::World;
use crate::finding::Difference;
use crate::fsys::{Errno, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// `list(cwd, directory)`: the transcripts of one directory, later ones first; of equally late ones by name. Also the backups
/// that gjc renames before it lists.
pub fn of_directory(world: &World<'_>, directory: &Path) -> (Picked, Vec<Restored>) {
    let found = directory::read(world.fs, directory, Glob::Plain, true);
    let mut picked = Picked { skipped: found.skipped, ..Picked::default() };
    for file in &found.files {
        match shown_from(world, &file.path, &file.stored) {
            Ok(shown) => picked.sessions.push(shown),
            Err(skipped) => picked.skipped.push(skipped),
        }
    }
    later_first(&mut picked.sessions);
    (picked, found.restored)
}

/// `list(cwd)`: the managed scope of a workspace, merged with its project transcripts.
pub fn of_workspace(world: &World<'_>, cwd: &Path) -> Picked {
    predict::picker(world, cwd)
}

/// `listAll()`: every directory of the sessions root is a seed; each workspace that a seed names gives the owned candidates
/// of its scope. Files of several directories with one id stay beside each other: the first one is what an id means.
///
/// The newest release keeps the seeds of workspaces whose scope cannot be resolved or listed. That it keeps those of sound
/// scopes too, and so what a tombstone hides, is not claimed by the notes of the format: here it does not. Every file is
/// looked at once, whatever the number of workspaces, so the limit on unknown legacy directories is not applied.
pub fn of_all(world: &World<'_>) -> Picked {
    let mut picked = Picked::default();
    let cwds = Cwds::default();
    // By canonical path: spellings of one directory are one workspace.
    let mut by_workspace: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    let mut orphans: Vec<(Shown, String)> = Vec::new();
    for seed in seeds(world, &mut picked.skipped) {
        match cwds.identity(world, &seed.info.cwd) {
            Ok(identity) => by_workspace.entry(identity.canonical_path.clone()).or_default().push(seed),
            Err(_) if seed.info.cwd.as_bytes().is_empty() => orphans.push((seed, "its header names no workspace".to_owned())),
            Err(why) => orphans.push((seed, refused_scope(why.scope_error()))),
        }
    }
    let told: BTreeSet<PathBuf> = picked.skipped.iter().map(|skipped| skipped.path.clone()).collect();
    let mut listings: BTreeMap<String, WorkspaceListing> =
        list_all(world).0.into_iter().map(|one| (one.identity.canonical_path.clone(), one)).collect();
    for (workspace, seeds) in by_workspace {
        match refusal(world, Path::new(&workspace)) {
            Some(code) => orphans.extend(seeds.into_iter().map(|seed| (seed, refused_scope(code)))),
            None => {
                let owned = listings.remove(&workspace).map(|one| one.listing.owned).unwrap_or_default();
                for candidate in owned.iter().map(|listed| &listed.candidate).filter(|candidate| !is_staged(&candidate.path)) {
                    match shown_from(world, &candidate.path, &candidate.path) {
                        Ok(shown) => picked.sessions.push(shown),
                        Err(skipped) => picked.skipped.extend(Some(skipped).filter(|one| !told.contains(&one.path))),
                    }
                }
            }
        }
    }
    let keeps = Difference::SessionsOfNoScope.in_effect(world.release);
    for (seed, why) in orphans {
        if keeps {
            picked.sessions.push(seed);
        } else {
            picked.skipped.push(Skipped::new(seed.path, why));
        }
    }
    later_first(&mut picked.sessions);
    picked
}

fn refused_scope(code: &str) -> String {
    format!("the scope of its workspace is refused: {code}")
}

/// Why the scope of a workspace cannot be resolved, or its listing fails at one of the places that it looks at by name.
fn refusal(world: &World<'_>, workspace: &Path) -> Option<&'static str> {
    let scope = match predict::resolve(world, workspace) {
        Ok(scope) => scope,
        Err(refused) => return Some(refused.code),
    };
    let mut places = scope.known_legacy_names(world).into_iter().map(|name| scope.sessions_root.join(name));
    let is_in_the_way = |path: PathBuf| match world.fs.lstat(&path) {
        Ok(meta) => meta.kind != Kind::Directory,
        Err(error) => error.errno != Errno::NOENT,
    };
    places.any(is_in_the_way).then_some("scan_failed")
}

/// Every `*.jsonl` of every directory directly below the sessions root, as the picker reads it.
fn seeds(world: &World<'_>, skipped: &mut Vec<Skipped>) -> Vec<Shown> {
    let root = world.canonical_root(&world.sessions_root);
    let mut found = Vec::new();
    let entries = world.fs.list(&root).unwrap_or_else(|error| {
        skipped.extend((error.errno != Errno::NOENT).then(|| Skipped::new(&root, directory::unlisted(&error))));
        Vec::new()
    });
    for entry in entries {
        let directory = root.join(&entry.name);
        match world.fs.lstat(&directory) {
            Ok(meta) if meta.kind == Kind::Directory => {}
            Ok(_) => continue,
            Err(error) => {
                skipped.push(Skipped::new(directory, format!("it cannot be looked at: {}", error.token())));
                continue;
            }
        }
        let listed = directory::read(world.fs, &directory, Glob::Plain, false);
        skipped.extend(listed.skipped);
        for file in listed.files {
            match shown_from(world, &file.path, &file.stored) {
                Ok(shown) => found.push(shown),
                Err(why) => skipped.push(why),
            }
        }
    }
    found
}

/// The order of every list; gjc leaves ties as the directory gave them, here they follow the name.
fn later_first(sessions: &mut [Shown]) {
    sessions.sort_by(|a, b| b.modified_ms.cmp(&a.modified_ms).then_with(|| a.path.cmp(&b.path)));
}

/// What kind of place a listed session lies in, for people: `scope`, `legacy`, `project` or `directory`.
pub fn place(world: &World<'_>, path: &Path) -> &'static str {
    let root = world.canonical_root(&world.sessions_root);
    let directory = path.parent().filter(|directory| directory.parent() == Some(&root));
    match directory.and_then(Path::file_name).map(|name| crate::agent::layout::sessions_name(name.as_encoded_bytes())) {
        Some(crate::agent::layout::SessionsName::Scope) => Provenance::V2.word(),
        Some(crate::agent::layout::SessionsName::Legacy) => Provenance::Legacy.word(),
        _ if path.components().any(|component| component.as_os_str() == ".gjc") && !path.starts_with(&root) => "project",
        _ => "directory",
    }
}

/// A path as it is shown.
pub fn text(path: &Path) -> String {
    show(path.as_os_str())
}
