//! The surroundings in which gjc would run, and one resolved scope: what every question about a workspace starts from
//! (spec 02 §1.1, §2.4, §2.5). Looking at files is left to the rooms that use it.

use super::identity::{self, Identity, NoIdentity};
use super::layout;
use super::legacy::Surroundings;
use crate::finding::Release;
use crate::fsys::Fs;
use crate::fsys::host::Liveness;
use crate::transcript::context::budget;
use std::path::{Path, PathBuf};

/// Everything that an answer of gjc depends on besides the tree itself.
#[derive(Clone)]
pub struct World<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// Processes and host.
    pub host: &'a dyn Liveness,
    /// The clock, in milliseconds since 1970.
    pub now_ms: u64,
    /// The user that gjc would run as.
    pub uid: u32,
    /// Whose behaviour is asked for.
    pub release: Release,
    /// The process's current directory.
    pub current_dir: PathBuf,
    /// The agent directory as configured: absolute, unresolved.
    pub agent_dir: PathBuf,
    /// The sessions root as configured: absolute, unresolved.
    pub sessions_root: PathBuf,
    /// Home and temp directory, for the names of legacy directories.
    pub around: Surroundings,
    /// Bytes that a context may have (spec 01 §9.9).
    pub context_budget: u64,
    /// Whether the agent directory is a copy from elsewhere (`--assume-root`): its workspaces are taken at their word.
    pub is_copy: bool,
}

/// A resolved scope (spec 02 §2.5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Platform and canonical path of the workspace.
    pub identity: Identity,
    /// The cwd as asked: absolute, unresolved.
    pub lexical_cwd: PathBuf,
    /// Canonical agent directory.
    pub agent_dir: PathBuf,
    /// Canonical sessions root.
    pub sessions_root: PathBuf,
    /// `sessions_root/v2-…`
    pub directory: PathBuf,
}

impl Scope {
    /// The 52 characters that receipts and tombstones name the scope by.
    pub fn digest(&self) -> String {
        self.identity.digest_text()
    }
    /// `.gjc-managed-session-internal/<role>`
    pub fn protocol(&self, role: &str) -> PathBuf {
        self.directory.join(layout::INTERNAL).join(role)
    }
    /// The configured root: the agent directory when the sessions root lies inside it, else the sessions root's parent
    /// (spec 02 §1.1). The anchor of all security checks on writes.
    pub fn configured_root(&self) -> &Path {
        if self.sessions_root.starts_with(&self.agent_dir) {
            &self.agent_dir
        } else {
            self.sessions_root.parent().unwrap_or(&self.sessions_root)
        }
    }
    /// The directory names under which older releases kept this workspace's sessions.
    pub fn known_legacy_names(&self, world: &World<'_>) -> Vec<String> {
        super::legacy::known_names(&self.identity.canonical_path, &self.lexical_cwd.to_string_lossy(), &world.around)
    }
}

impl<'a> World<'a> {
    /// An agent directory and nothing around it: no home, the clock at 0, the current directory `/`.
    pub fn of_agent(fs: &'a dyn Fs, host: &'a dyn Liveness, release: Release, uid: u32, agent_dir: impl Into<PathBuf>) -> Self {
        let agent_dir = agent_dir.into();
        World {
            fs,
            host,
            now_ms: 0,
            uid,
            release,
            current_dir: "/".into(),
            sessions_root: agent_dir.join(layout::SESSIONS),
            agent_dir,
            around: Surroundings::default(),
            context_budget: budget::DEFAULT,
            is_copy: false,
        }
    }
}

impl World<'_> {
    /// The identity of a working directory, as the user or a header says it.
    ///
    /// # Errors
    /// The native code.
    pub fn identity(&self, cwd: &Path) -> Result<Identity, NoIdentity> {
        match identity::at_its_word(cwd).filter(|_| self.is_copy) {
            Some(identity) => Ok(identity),
            None => identity::posix(self.fs, &self.current_dir, cwd),
        }
    }
    /// A storage root as gjc canonicalises it (spec 02 §2.4).
    pub fn canonical_root(&self, path: &Path) -> PathBuf {
        super::identity::canonical_root(self.fs, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;
    use crate::fsys::host::Nowhere;

    fn world(fs: &Memory) -> World<'_> {
        World {
            fs,
            host: &Nowhere,
            now_ms: 0,
            uid: 0,
            release: Release::V0_15,
            current_dir: "/".into(),
            agent_dir: "/a".into(),
            sessions_root: "/a/sessions".into(),
            around: Surroundings::default(),
            context_budget: budget::DEFAULT,
            is_copy: false,
        }
    }

    #[test]
    fn a_symlink_above_the_root_is_resolved_and_a_missing_tail_kept() {
        let fs = Memory::new();
        fs.directory("/real/agent");
        fs.symlink("/link", "/real");
        assert_eq!(world(&fs).canonical_root(Path::new("/link/agent/sessions")), Path::new("/real/agent/sessions"));
        assert_eq!(world(&fs).canonical_root(Path::new("/link/agent")), Path::new("/real/agent"));
    }
    #[test]
    fn a_loop_leaves_the_path_alone() {
        let fs = Memory::new();
        fs.symlink("/loop", "/loop");
        assert_eq!(world(&fs).canonical_root(Path::new("/loop/sessions")), Path::new("/loop/sessions"));
    }
    #[test]
    fn the_configured_root_is_the_agent_directory_only_when_sessions_lie_in_it() {
        let scope = |agent: &str, sessions: &str| Scope {
            identity: Identity { platform: super::super::identity::Platform::Posix, canonical_path: "/w".into() },
            lexical_cwd: "/w".into(),
            agent_dir: agent.into(),
            sessions_root: sessions.into(),
            directory: Path::new(sessions).join("v2-x"),
        };
        assert_eq!(scope("/a", "/a/sessions").configured_root(), Path::new("/a"));
        assert_eq!(scope("/a", "/x/gjc/sessions").configured_root(), Path::new("/x/gjc"));
    }
}
