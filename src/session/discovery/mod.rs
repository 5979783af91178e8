//! How gjc finds sessions and chooses one (spec 04 §2, §3, §4): the lists of a directory, of a workspace and of all; the
//! strict inventory; ids, flags and breadcrumbs; the inspection before a session is opened.
//!
//! Reads only, over [`Fs`](crate::fsys::Fs). What gjc would rename or write on the way (a backup that a listing restores, a
//! legacy session that opening copies) is said, not done.

pub mod answer;
pub mod breadcrumb;
pub mod directory;
pub mod inventory;
pub mod picker;
pub mod proceed;
pub mod recent;
pub mod resolve;
pub mod resume;
pub mod saved;
pub mod search;
pub mod worktree;

pub use crate::agent::predict::{Picked, Shown, Skipped};

use crate::agent::layout::STAGING;
use crate::agent::locate::normalise;
use crate::agent::world::World;
use std::path::{Path, PathBuf};

/// The path as gjc compares paths (spec 04 §1.3): absolute and without links; where that cannot be told, absolute and
/// normalised as text.
pub fn equivalent(world: &World<'_>, path: &Path) -> PathBuf {
    let absolute = normalise(&world.current_dir.join(path));
    world.fs.realpath(&absolute).unwrap_or(absolute)
}

/// Whether a path lies in a directory, the directory itself included.
pub fn is_within(world: &World<'_>, root: &Path, path: &Path) -> bool {
    equivalent(world, path).starts_with(equivalent(world, root))
}

/// Whether a path is that of a staged transcript, which is never listed and never resumed (spec 04 §1.5).
pub fn is_staged(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|name| name == STAGING)
}

#[cfg(test)]
#[path = "tests.rs"]
mod of_an_agent_directory;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    #[test]
    fn paths_are_compared_without_links_and_missing_ones_as_text() {
        let fs = Memory::new();
        fs.directory("/real/in");
        fs.symlink("/link", "/real");
        let world = World::of_agent(&fs, &Nowhere, Release::default(), 1000, "/a");
        assert_eq!(equivalent(&world, Path::new("link/in")), Path::new("/real/in"));
        assert_eq!(equivalent(&world, Path::new("/gone/../also/./gone")), Path::new("/also/gone"));
        assert!(is_within(&world, Path::new("/real"), Path::new("/link/in")));
        assert!(is_within(&world, Path::new("/real"), Path::new("/link")));
        assert!(!is_within(&world, Path::new("/real/in"), Path::new("/real/inn")));
    }

    #[test]
    fn only_the_parent_directory_makes_a_path_staged() {
        assert!(is_staged(Path::new("/s/.staging/a.jsonl")));
        assert!(!is_staged(Path::new("/s/.staging/below/a.jsonl")));
        assert!(!is_staged(Path::new("/s/x.staging/a.jsonl")));
    }
}
