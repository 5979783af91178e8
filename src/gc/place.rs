//! Where receipts, owners and transcripts may lie: rules on the text of paths (spec 03 §1, §2, §5.5). Nothing is looked up
//! on disk.
//!
//! Paths are POSIX: receipts of a Windows profile (`path.win32`) are not judged.

use super::Refusal;
use crate::agent::layout::{RECOVERY, TASK_ARTIFACT_OWNERS};
use crate::json::JsStr;

/// True for what `path.resolve` gives back unchanged: absolute, no empty, `.` or `..` component, no slash at the end.
pub fn is_normal(path: &[u8]) -> bool {
    let is_name = |rest: &[u8]| !matches!(rest, [] | [b'/', ..] | [b'.'] | [b'.', b'/', ..] | [b'.', b'.'] | [b'.', b'.', b'/', ..]);
    let names = || memchr::memchr_iter(b'/', path).all(|slash| path.get(slash + 1..).is_some_and(is_name));
    path == b"/" || path.starts_with(b"/") && names()
}

/// `path.resolve` of an absolute path: `.` and `..` folded by text, doubled and final slashes gone.
pub fn resolve(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for component in path.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    let mut resolved = vec![b'/'];
    resolved.extend_from_slice(&kept.join(&b'/'));
    resolved
}

/// Directory and name of a normalised path that is not the root.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr(b'/', path)?;
    let (directory, name) = (path.get(..at.max(1))?, path.get(at + 1..)?);
    (!name.is_empty()).then_some((directory, name))
}

/// Whether a normalised path is a direct child of a directory.
pub fn is_directly_in(directory: &[u8], path: &[u8]) -> bool {
    split(path).is_some_and(|(own, _)| own == directory)
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, slash, name].concat()
}

/// The sessions root of a profile: absolute and normalised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionsRoot(Vec<u8>);

impl SessionsRoot {
    /// Takes a path as the sessions root.
    ///
    /// # Errors
    /// [`Refusal::RootInvalid`] when it is relative or not normalised; a slash at the end is enough.
    pub fn new(path: &[u8]) -> Result<SessionsRoot, Refusal> {
        if is_normal(path) { Ok(SessionsRoot(path.to_owned())) } else { Err(Refusal::RootInvalid) }
    }
    /// The path.
    pub fn path(&self) -> &[u8] {
        &self.0
    }
    /// True for a normalised path below the root, not the root itself.
    pub fn holds(&self, path: &[u8]) -> bool {
        let below = path.strip_prefix(self.0.as_slice()).is_some_and(|rest| self.0.ends_with(b"/") || rest.starts_with(b"/"));
        below && path.len() > self.0.len() && is_normal(path)
    }
    /// Where the owner with this id is and may be left.
    pub fn owner(&self, owner_id: &str) -> OwnerPaths {
        let owners = join(&self.0, TASK_ARTIFACT_OWNERS.as_bytes());
        let root = join(&owners, owner_id.as_bytes());
        OwnerPaths { removing: [root.as_slice(), b".removing"].concat(), root, owners, recovery: join(&self.0, RECOVERY.as_bytes()) }
    }
}

/// The paths that a retirement of one owner may speak of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerPaths {
    /// `<R>/.task-artifact-owners`
    pub owners: Vec<u8>,
    /// `<R>/.task-artifact-owners/<ownerId>`
    pub root: Vec<u8>,
    /// The root after native detachment.
    pub removing: Vec<u8>,
    /// `<R>/.gjc-recovery`
    pub recovery: Vec<u8>,
}

impl OwnerPaths {
    /// One of the two places of the owner's root.
    pub fn is_root(&self, path: &[u8]) -> bool {
        path == self.root || path == self.removing
    }
    /// A side path: a root, a `.gjc-…` name beside the owners, or anything directly in the recovery directory.
    pub fn is_side(&self, path: &[u8]) -> bool {
        let Some((directory, name)) = split(path).filter(|_| is_normal(path)) else { return false };
        self.is_root(path) || (directory == self.owners && name.starts_with(b".gjc-") && name.len() > 5) || directory == self.recovery
    }
}

/// One workspace's v2 directory, as far as the rules of its receipts ask.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Scope digest: the value of `scope` in every receipt.
    pub digest: &'a str,
    /// Path of the v2 directory.
    pub directory: &'a [u8],
    /// The sessions root it lies in.
    pub root: &'a SessionsRoot,
}

impl Scope<'_> {
    /// Whether a transcript path is acceptable (§2): normalised, directly in this scope, extension exactly `.jsonl`, below
    /// the sessions root. gjc compares the last after `realpath` of both sides; here the text decides, because scope and
    /// root are given in canonical form.
    pub fn accepts(&self, transcript: JsStr<'_>) -> bool {
        let path = transcript.as_bytes();
        let in_scope = split(path).is_some_and(|(directory, name)| {
            // A name that is only `.jsonl` has no extension for `path.extname`.
            directory == self.directory && name.len() > b".jsonl".len() && name.ends_with(b".jsonl")
        });
        is_normal(path) && in_scope && self.root.holds(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str) -> String {
        String::from_utf8(resolve(path.as_bytes())).unwrap()
    }

    #[test]
    fn a_normal_path_is_what_resolving_leaves_alone() {
        for path in [
            "/", "/a", "/a/..b", "/a/b.c", "/a//b", "/a/", "/a/./b", "/a/../b", "/..", "/a/.", "/a/.b", "/.", "//", "/a/...", "/...",
            "/a/..", "/a/.../b",
        ] {
            assert_eq!(is_normal(path.as_bytes()), text(path) == path, "{path}");
        }
        assert!(!is_normal(b"a") && !is_normal(b""));
        assert_eq!(text("/a//b/./../c/"), "/a/c");
        assert_eq!(text("/../../a"), "/a");
    }
    #[test]
    fn the_root_holds_what_is_below_it() {
        let root = SessionsRoot::new(b"/r").unwrap();
        assert!(root.holds(b"/r/a") && root.holds(b"/r/a/b"));
        for outside in ["/r", "/ra", "/r/", "/r/../x", "/r/a/", "/x", "r/a"] {
            assert!(!root.holds(outside.as_bytes()), "{outside}");
        }
        assert!(SessionsRoot::new(b"/").unwrap().holds(b"/a"));
        assert_eq!(SessionsRoot::new(b"/r/"), Err(Refusal::RootInvalid));
    }
    #[test]
    fn side_paths_lie_beside_the_owners_or_in_recovery() {
        let paths = SessionsRoot::new(b"/r").unwrap().owner("id");
        for side in
            ["/.task-artifact-owners/id", "/.task-artifact-owners/id.removing", "/.task-artifact-owners/.gjc-x", "/.gjc-recovery/..x"]
        {
            assert!(paths.is_side(format!("/r{side}").as_bytes()), "{side}");
        }
        for foreign in
            ["/.task-artifact-owners/.gjc-", "/.task-artifact-owners/x", "/.gjc-recovery", "/.gjc-recovery/a/b", "/.gjc-recovery/.."]
        {
            assert!(!paths.is_side(format!("/r{foreign}").as_bytes()), "{foreign}");
        }
    }
    #[test]
    fn a_transcript_lies_directly_in_its_scope() {
        let root = SessionsRoot::new(b"/r").unwrap();
        let scope = Scope { digest: "d", directory: b"/r/v2-d", root: &root };
        let accepts = |path: &str| scope.accepts(JsStr::from(path));
        assert!(accepts("/r/v2-d/a.jsonl") && accepts("/r/v2-d/..jsonl"));
        for other in ["/r/v2-d/.jsonl", "/r/v2-d/a.JSONL", "/r/v2-d/x/a.jsonl", "/r/a.jsonl", "/r/v2-d/./a.jsonl", "v2-d/a.jsonl", ""] {
            assert!(!accepts(other), "{other}");
        }
    }
}
