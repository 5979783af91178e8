//! Writes a small tree into a fresh folder: the sample agent directory of `demo`, and trees for tests.
//!
//! This is the one place of the crate that makes files besides repair; it never overwrites and never leaves its root.

#![allow(clippy::disallowed_methods, reason = "this is fsys")]

use std::io;
use std::path::{Component, Path, PathBuf};

/// One object to make. Paths are relative to the root and are made in the order given.
#[derive(Clone, Debug)]
pub enum Plant {
    /// A directory; missing parents are made with mode 0700.
    Directory {
        /// Where.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// A file that must not exist yet.
    File {
        /// Where.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
        /// Content.
        bytes: Vec<u8>,
    },
}

impl Plant {
    /// A directory of mode 0700.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Plant::Directory { path: path.into(), mode: 0o700 }
    }
    /// A file of mode 0600.
    pub fn file(path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        Plant::File { path: path.into(), mode: 0o600, bytes: bytes.into() }
    }
    /// The same object with other permission bits.
    #[must_use]
    pub fn with_mode(mut self, bits: u32) -> Self {
        match &mut self {
            Plant::Directory { mode, .. } | Plant::File { mode, .. } => *mode = bits,
        }
        self
    }
}

/// Makes every plant below `root`, which must exist.
///
/// # Errors
/// The first failure of the system; `InvalidInput` for a path that would leave the root; `AlreadyExists` for a file that is there.
pub fn plant(root: &Path, plants: &[Plant]) -> io::Result<()> {
    for plant in plants {
        match plant {
            Plant::Directory { path, mode } => {
                let path = inside(root, path)?;
                make_directory(&path)?;
                set_mode(&path, *mode)?;
            }
            Plant::File { path, mode, bytes } => {
                let path = inside(root, path)?;
                if let Some(parent) = path.parent() {
                    make_directory(parent)?;
                }
                let mut file = std::fs::File::options().write(true).create_new(true).open(&path)?;
                io::Write::write_all(&mut file, bytes)?;
                set_mode(&path, *mode)?;
            }
        }
    }
    Ok(())
}

fn inside(root: &Path, path: &Path) -> io::Result<PathBuf> {
    if path.components().all(|part| matches!(part, Component::Normal(_))) {
        Ok(root.join(path))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} would leave the root", path.display())))
    }
}

#[cfg(unix)]
fn make_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_would_leave_the_root_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let error = plant(root.path(), &[Plant::file("../escape", "x")]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn nothing_is_overwritten() {
        let root = tempfile::tempdir().unwrap();
        plant(root.path(), &[Plant::file("a/b", "first")]).unwrap();
        let error = plant(root.path(), &[Plant::file("a/b", "second")]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(root.path().join("a/b")).unwrap(), b"first");
    }
}
