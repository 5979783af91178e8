//! What every pass over a directory is told: where it looks, for whom, and how its places are named.

use super::Depth;
use super::part::Part;
use crate::agent::blobs::Store;
use crate::agent::identity::{self, Identity, NoIdentity};
use crate::agent::legacy::Surroundings;
use crate::agent::walk::{Limits, show};
use crate::finding::{Mute, Place, Release};
use crate::fsys::Fs;
use crate::fsys::host::Liveness;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One checked target, as the passes see it.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// Canonical path of what is checked; places are relative to it.
    pub root: &'a Path,
    /// What stands before the relative path in places when several targets are checked; empty for one.
    pub prefix: &'a str,
    /// Where the root is judged to lie, when it is a copy.
    pub assumed_root: Option<&'a Path>,
    /// The user the check speaks for.
    pub uid: u32,
    /// Whether this process runs as that user (or as root): only then does an `EACCES` of ours say what gjc would meet.
    pub speaks_for_itself: bool,
    /// The release.
    pub release: Release,
    /// How deep to go.
    pub depth: Depth,
    /// Time of the run, nanoseconds since the epoch.
    pub now_ns: i128,
    /// How much is read.
    pub limits: Limits,
    /// The blob store, when one is known.
    pub store: Option<&'a Store<'a>>,
    /// Whether a whole agent directory is checked: place-bound codes need one.
    pub whole: bool,
    /// Processes and host, for locks and publishers.
    pub host: &'a dyn Liveness,
    /// Home and temp directory, for the names of legacy directories.
    pub around: &'a Surroundings,
    /// Bytes that a rebuilt context may have.
    pub budget: u64,
    /// A code that is switched off.
    pub mute: Mute,
    /// Measure every rebuilt context, not only one that may be too large.
    pub weigh: bool,
}

impl Site<'_> {
    /// A place for what a pass gives.
    pub fn part(&self) -> Part {
        Part::new(self.mute)
    }
    /// The text that names a path in findings: relative to the root, `.` for the root itself, absolute outside of it.
    pub fn name(&self, path: &Path) -> Arc<str> {
        let relative = match path.strip_prefix(self.root) {
            Ok(relative) => show(relative.as_os_str()),
            Err(_) => return show(path.as_os_str()).into(),
        };
        match (self.prefix, &*relative) {
            ("", "") => ".".into(),
            ("", relative) => relative.into(),
            (prefix, "") => prefix.into(),
            (prefix, relative) => format!("{}/{relative}", prefix.trim_end_matches('/')).into(),
        }
    }
    /// A place that is a whole object.
    pub fn place(&self, path: &Path) -> Place {
        Place { path: self.name(path), ..Place::default() }
    }
    /// The workspace of a header cwd. A copied directory is judged as if it lay where it came from: its workspaces are taken at
    /// their word, because they cannot be resolved here.
    ///
    /// # Errors
    /// The native code.
    pub fn workspace(&self, cwd: &Path) -> Result<Identity, NoIdentity> {
        match identity::at_its_word(cwd).filter(|_| self.assumed_root.is_some()) {
            Some(identity) => Ok(identity),
            None => identity::posix(self.fs, Path::new("/"), cwd),
        }
    }
    /// A path below the root as records of a copied directory spell it.
    pub fn recorded(&self, here: &Path) -> PathBuf {
        match (self.assumed_root, here.strip_prefix(self.root)) {
            (Some(assumed), Ok(relative)) => assumed.join(relative),
            _ => here.to_owned(),
        }
    }
    /// Where a path that a record spells lies on this machine.
    pub fn here(&self, recorded: &Path) -> PathBuf {
        match self.assumed_root.and_then(|assumed| recorded.strip_prefix(assumed).ok()) {
            Some(relative) => self.root.join(relative),
            None => recorded.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;

    static AROUND: std::sync::LazyLock<Surroundings> = std::sync::LazyLock::new(Surroundings::default);

    impl<'a> Site<'a> {
        /// An agent directory at `/copy/agent` of user 1000.
        pub(crate) fn for_tests(fs: &'a Memory) -> Self {
            Site {
                fs,
                root: Path::new("/copy/agent"),
                prefix: "",
                assumed_root: None,
                uid: 1000,
                speaks_for_itself: true,
                release: Release::V0_17,
                depth: Depth::Full,
                now_ns: 0,
                limits: Limits::default(),
                store: None,
                whole: true,
                host: &crate::fsys::host::Nowhere,
                around: &AROUND,
                budget: crate::transcript::context::budget::DEFAULT,
                mute: Mute::default(),
                weigh: false,
            }
        }
    }

    fn site<'a>(fs: &'a Memory, prefix: &'a str, assumed_root: Option<&'a Path>) -> Site<'a> {
        Site { prefix, assumed_root, ..Site::for_tests(fs) }
    }

    #[test]
    fn places_are_relative_to_the_root() {
        let fs = Memory::new();
        let one = site(&fs, "", None);
        assert_eq!(&*one.name(Path::new("/copy/agent")), ".");
        assert_eq!(&*one.name(Path::new("/copy/agent/sessions")), "sessions");
        assert_eq!(&*one.name(Path::new("/xdg/gjc/sessions")), "/xdg/gjc/sessions");
        let many = site(&fs, "agent/", None);
        assert_eq!(&*many.name(Path::new("/copy/agent/sessions")), "agent/sessions");
        assert_eq!(&*many.name(Path::new("/copy/agent")), "agent/");
    }

    #[test]
    fn a_copy_is_judged_as_if_it_lay_where_it_came_from() {
        let fs = Memory::new();
        let copied = site(&fs, "", Some(Path::new("/home/ana/.gjc/agent")));
        assert_eq!(copied.recorded(Path::new("/copy/agent/sessions")), Path::new("/home/ana/.gjc/agent/sessions"));
        assert_eq!(copied.here(Path::new("/home/ana/.gjc/agent/blobs")), Path::new("/copy/agent/blobs"));
        assert_eq!(copied.here(Path::new("/elsewhere")), Path::new("/elsewhere"));
    }
}
