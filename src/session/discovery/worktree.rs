//! Linked git worktrees: two directories of one repository (spec 04 §3.4). Looked up as git does, by reading `.git`,
//! `gitdir:` and `commondir`; git itself is never run.

use super::equivalent;
use crate::agent::world::World;
use crate::fsys::{Bound, Kind, capture};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of a `.git` file or of `commondir` that are read: a path is shorter.
const CEILING: u64 = 1 << 16;

/// Where the repository of a directory keeps its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    /// What belongs to this worktree.
    pub git_dir: PathBuf,
    /// What all worktrees of the repository share.
    pub common_dir: PathBuf,
}

/// The repository that a directory belongs to: its own, or that of the nearest directory above it.
pub fn repository(world: &World<'_>, directory: &Path) -> Option<Repository> {
    let start = equivalent(world, directory);
    let git_dir = start.ancestors().find_map(|directory| {
        let dot_git = directory.join(".git");
        let real = world.fs.realpath(&dot_git).ok()?;
        match world.fs.stat(&real).ok()?.kind {
            Kind::Directory => Some(real),
            Kind::File => Some(directory.join(path_in(world, &real, b"gitdir:")?)),
            _ => None,
        }
    })?;
    let git_dir = equivalent(world, &git_dir);
    let common_dir =
        path_in(world, &git_dir.join("commondir"), b"").map_or_else(|| git_dir.clone(), |path| equivalent(world, &git_dir.join(path)));
    Some(Repository { git_dir, common_dir })
}

/// The path that a small file names behind `label`.
fn path_in(world: &World<'_>, file: &Path, label: &[u8]) -> Option<PathBuf> {
    let text = capture(world.fs, file, Bound::Prefix(CEILING)).ok()?.bytes;
    let path = text.trim_ascii().strip_prefix(label)?.trim_ascii();
    (!path.is_empty() && !path.contains(&0)).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// Whether two directories are different worktrees of one repository.
pub fn are_linked(world: &World<'_>, one: &Path, other: &Path) -> bool {
    match (repository(world, one), repository(world, other)) {
        (Some(one), Some(other)) => one.common_dir == other.common_dir && one.git_dir != other.git_dir,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    /// `/main` with the worktrees `/wt/a` (absolute paths) and `/wt/b` (relative ones), and another repository `/other`.
    fn worktrees() -> Memory {
        let fs = Memory::new();
        fs.directory("/main/.git/worktrees/a");
        fs.directory("/main/src");
        fs.file("/main/.git/worktrees/a/commondir", b"../..\n");
        fs.file("/wt/a/.git", b"gitdir: /main/.git/worktrees/a\n");
        fs.file("/main/.git/worktrees/b/commondir", b"/main/.git");
        fs.file("/wt/b/.git", b"gitdir: ../../main/.git/worktrees/b");
        fs.directory("/other/.git");
        fs.directory("/none");
        fs
    }
    fn linked(fs: &Memory, one: &str, other: &str) -> bool {
        are_linked(&World::of_agent(fs, &Nowhere, Release::default(), 1000, "/agent"), Path::new(one), Path::new(other))
    }

    #[test]
    fn worktrees_of_one_repository_are_linked() {
        let fs = worktrees();
        assert!(linked(&fs, "/main", "/wt/a"));
        assert!(linked(&fs, "/wt/a", "/main/src"));
        assert!(linked(&fs, "/wt/a", "/wt/b"));
    }
    #[test]
    fn one_worktree_is_not_linked_with_itself_nor_with_strangers() {
        let fs = worktrees();
        assert!(!linked(&fs, "/main", "/main/src"), "the same git directory");
        assert!(!linked(&fs, "/main", "/other"));
        assert!(!linked(&fs, "/main", "/none"));
        fs.remove("/wt/a/.git");
        fs.file("/wt/a/.git", b"nonsense");
        assert!(!linked(&fs, "/main", "/wt/a"));
    }
    #[test]
    fn a_repository_named_through_a_link_is_the_same() {
        let fs = worktrees();
        fs.symlink("/private", "/main");
        fs.remove("/wt/a/.git");
        fs.file("/wt/a/.git", b"gitdir: /private/.git/worktrees/a");
        assert!(linked(&fs, "/main", "/wt/a"));
    }
}
