//! The picker's lists: of a directory, of a workspace, of everything below the sessions root (spec 04 §2.4, §2.7).

use super::directory::{self, Glob, Restored};
use super::{Picked, Shown, Skipped, is_staged};
use crate::agent::candidates::{Provenance, list};
use crate::agent::predict::{self, shown_from};
use crate::agent::walk::show;
use crate::agent::world::World;
use crate::finding::Difference;
use crate::fsys::Kind;
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
/// scopes too, and so what a tombstone hides, is not claimed by the notes of the format: here it does not.
pub fn of_all(world: &World<'_>) -> Picked {
    let mut picked = Picked::default();
    let mut by_workspace: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for seed in seeds(world, &mut picked.skipped) {
        by_workspace.entry(seed.info.cwd.to_string()).or_default().push(seed);
    }
    let told: BTreeSet<PathBuf> = picked.skipped.iter().map(|skipped| skipped.path.clone()).collect();
    let keeps = Difference::SessionsOfNoScope.in_effect(world.release);
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    let mut scopes: BTreeSet<String> = BTreeSet::new();
    let mut orphans = Vec::new();
    for (cwd, seeds) in by_workspace {
        // An empty cwd names no workspace.
        let listing = Some(&cwd).filter(|cwd| !cwd.is_empty()).map(|cwd| {
            let scope = predict::resolve(world, Path::new(cwd))?;
            // Spellings of one directory are one workspace.
            if !scopes.insert(scope.identity.canonical_path.clone()) {
                return Ok(None);
            }
            Ok(Some(list(world, &scope)?))
        });
        match listing {
            Some(Ok(None)) => {}
            Some(Ok(Some(listing))) => {
                for candidate in listing.owned.iter().map(|listed| &listed.candidate).filter(|candidate| !is_staged(&candidate.path)) {
                    if seen.insert(candidate.path.clone()) {
                        match shown_from(world, &candidate.path, &candidate.path) {
                            Ok(shown) => picked.sessions.push(shown),
                            Err(skipped) => picked.skipped.extend(Some(skipped).filter(|one| !told.contains(&one.path))),
                        }
                    }
                }
            }
            Some(Err(refused)) => orphans.extend(seeds.into_iter().map(|seed| (seed, refused_scope(&refused)))),
            None => orphans.extend(seeds.into_iter().map(|seed| (seed, "its header names no workspace".to_owned()))),
        }
    }
    for (seed, why) in orphans {
        if keeps && seen.insert(seed.path.clone()) {
            picked.sessions.push(seed);
        } else if !keeps {
            picked.skipped.push(Skipped::new(seed.path, why));
        }
    }
    later_first(&mut picked.sessions);
    picked
}

fn refused_scope(refused: &predict::Refused) -> String {
    format!("the scope of its workspace is refused: {}", refused.code)
}

/// Every `*.jsonl` of every directory directly below the sessions root, as the picker reads it.
fn seeds(world: &World<'_>, skipped: &mut Vec<Skipped>) -> Vec<Shown> {
    let root = world.canonical_root(&world.sessions_root);
    let mut found = Vec::new();
    for entry in world.fs.list(&root).unwrap_or_default() {
        let directory = root.join(&entry.name);
        if !world.fs.lstat(&directory).is_ok_and(|meta| meta.kind == Kind::Directory) {
            continue;
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
