//! Where a manager's sessions live.

use super::storage::{self, SessionStorage, StorageError, join, split};
use crate::agent::binding;
use crate::agent::identity::{self, Identity, NoIdentity};
use crate::agent::layout::{BINDING, INTERNAL, PROTOCOL, SESSIONS, STAGING};
use crate::finding::Release;
use crate::fsys::Fs;
use crate::transcript::persist::Destination;
use std::path::Path;

/// The workspace that new sessions belong to, the folder of their transcripts, and whose rules hold there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    cwd: String,
    directory: String,
    release: Release,
    destination: Destination,
    /// The identity that a managed scope is bound to.
    identity: Option<Identity>,
    /// Path of the terminal's breadcrumb, where there is a terminal.
    breadcrumb: Option<String>,
}

impl Place {
    /// A folder that the user named (`--session-dir`, or the folder of a transcript): an override, nothing of the managed
    /// policy holds there.
    pub fn explicit(cwd: impl Into<String>, directory: impl Into<String>, release: Release) -> Self {
        let destination = Destination::Explicit;
        Place { cwd: cwd.into(), directory: directory.into(), release, destination, identity: None, breadcrumb: None }
    }
    /// No folder at all (`--no-session`).
    pub fn nowhere(cwd: impl Into<String>, release: Release) -> Self {
        let destination = Destination::Nowhere;
        Place { cwd: cwd.into(), directory: String::new(), release, destination, identity: None, breadcrumb: None }
    }
    /// The managed scope of a workspace in an agent directory. It is the `v2-…` folder of the workspace's identity and
    /// nothing else: no manager writes into another scope, or in the legacy layout.
    ///
    /// # Errors
    /// The workspace has no identity.
    pub fn managed(fs: &dyn Fs, agent_dir: &str, cwd: &str, release: Release) -> Result<Self, NoIdentity> {
        let identity = identity::posix(fs, Path::new("/"), Path::new(cwd))?;
        Ok(Self::scope(&join(agent_dir, SESSIONS), identity, cwd, release))
    }
    /// The same, asked of a storage.
    ///
    /// # Errors
    /// The workspace has no identity.
    pub fn managed_in(storage: &dyn SessionStorage, agent_dir: &str, cwd: &str, release: Release) -> Result<Self, NoIdentity> {
        Ok(Self::scope(&join(agent_dir, SESSIONS), storage.workspace(cwd)?, cwd, release))
    }
    fn scope(sessions_root: &str, identity: Identity, cwd: &str, release: Release) -> Self {
        let directory = join(sessions_root, &identity.directory_name());
        Place { directory, destination: Destination::Managed, identity: Some(identity), ..Place::nowhere(cwd, release) }
    }
    /// The place of another workspace in the same storage: its managed scope beside this one, else the same folder.
    ///
    /// # Errors
    /// The workspace has no identity.
    pub fn beside(&self, storage: &dyn SessionStorage, cwd: &str) -> Result<Self, NoIdentity> {
        let Some(root) = self.sessions_root() else { return Ok(Place { cwd: cwd.to_owned(), ..self.clone() }) };
        let breadcrumb = self.breadcrumb.clone();
        Ok(Place { breadcrumb, ..Self::scope(root, storage.workspace(cwd)?, cwd, self.release) })
    }
    /// The same place, and the breadcrumb of the terminal that the manager runs in.
    pub fn at_terminal(self, breadcrumb: impl Into<String>) -> Self {
        Place { breadcrumb: Some(breadcrumb.into()), ..self }
    }

    /// The workspace.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }
    /// The folder of the transcripts; empty where there is none.
    pub fn directory(&self) -> &str {
        &self.directory
    }
    /// The release of gjc.
    pub const fn release(&self) -> Release {
        self.release
    }
    /// Whose rules hold.
    pub const fn destination(&self) -> Destination {
        self.destination
    }
    /// The path of the terminal's breadcrumb.
    pub fn breadcrumb(&self) -> Option<&str> {
        self.breadcrumb.as_deref()
    }
    /// The sessions root that a managed scope lies in.
    pub fn sessions_root(&self) -> Option<&str> {
        self.identity.as_ref().map(|_| split(&self.directory).0)
    }
    /// Makes a managed scope ready for a new transcript: its folders, and its binding where there is none. Does nothing in
    /// another destination.
    ///
    /// # Errors
    /// `binding_invalid` for a binding that is not canonical, `binding_conflict` for one of another workspace; the storage's.
    pub fn prepare(&self, storage: &dyn SessionStorage) -> storage::Result<()> {
        let Some(identity) = &self.identity else { return Ok(()) };
        for name in PROTOCOL {
            storage.ensure_dir(&join(&join(&self.directory, INTERNAL), name))?;
        }
        let path = join(&self.directory, BINDING);
        match storage.publish(&path, &binding::canonical_text(identity)) {
            Err(error) if error.is("destination_conflict") => {
                let bound = binding::parse(&storage.read(&path)?).and_then(|binding| binding.belongs_to(identity));
                bound.map_err(|fault| StorageError::token(fault.code()))
            }
            published => published,
        }
    }
    /// Whether a transcript lies where this manager may open it: anywhere, or, in a managed scope, directly in it.
    pub fn admits(&self, path: &str) -> bool {
        self.destination != Destination::Managed || split(path).0 == self.directory
    }
}

/// Whether a path is that of a staged transcript, which is never opened (spec 04 §1.5).
pub fn is_staged(path: &str) -> bool {
    split(split(path).0).1 == STAGING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::layout::{SessionsName, sessions_name};
    use crate::fsys::Memory;

    /// 02 §1.3, seeds "On-Disk Layout"
    #[test]
    fn a_managed_place_is_the_v2_scope_of_its_workspace() {
        let fs = Memory::new();
        fs.directory("/w/app");
        fs.symlink("/w/link", "/w/app");
        let place = Place::managed(&fs, "/home/.gjc/agent", "/w/app", Release::default()).unwrap();
        let name = place.directory().strip_prefix("/home/.gjc/agent/sessions/").unwrap();
        assert!(matches!(sessions_name(name.as_bytes()), SessionsName::Scope), "{name}");
        // Another spelling of the workspace is the same scope; a workspace that is not there has none.
        let same = Place::managed(&fs, "/home/.gjc/agent/", "/w/link", Release::default()).unwrap();
        assert_eq!((same.directory(), same.cwd()), (place.directory(), "/w/link"));
        assert_eq!(Place::managed(&fs, "/home/.gjc/agent", "/none", Release::default()), Err(NoIdentity::NotFound));
        assert!(place.admits(&format!("{}/s.jsonl", place.directory())) && !place.admits("/home/.gjc/agent/sessions/--w--/s.jsonl"));
    }

    /// 02 §3.1, §3.2
    #[test]
    fn a_scope_is_bound_to_its_workspace() {
        let (fs, storage) = (Memory::new(), crate::session::storage::Memory::new());
        fs.directory("/w/app");
        fs.directory("/w/other");
        let place = |cwd| Place::managed(&fs, "/agent", cwd, Release::default()).unwrap();
        let (here, other) = (place("/w/app"), place("/w/other"));
        here.prepare(&storage).unwrap();
        here.prepare(&storage).unwrap();
        let path = join(here.directory(), BINDING);
        let binding = binding::parse(&storage.read(&path).unwrap()).unwrap();
        assert_eq!(binding.belongs_in(split(here.directory()).1.as_bytes()), Ok(()));
        other.prepare(&storage).unwrap();
        storage.write(&path, &storage.read(&join(other.directory(), BINDING)).unwrap()).unwrap();
        assert!(here.prepare(&storage).unwrap_err().is("binding_conflict"));
        storage.write(&path, b"{}").unwrap();
        assert!(here.prepare(&storage).unwrap_err().is("binding_invalid"));
    }

    /// 02 §1.1
    #[test]
    fn an_explicit_place_is_where_the_user_said() {
        let place = Place::explicit("/w", "/anywhere", Release::default());
        assert_eq!((place.directory(), place.destination()), ("/anywhere", Destination::Explicit));
        assert!(place.admits("/else/s.jsonl"));
    }

    /// 04 §1.5
    #[test]
    fn staged_is_directly_in_a_folder_of_that_name() {
        assert!(is_staged("/s/.staging/a.jsonl"));
        assert!(!is_staged("/s/.staging/x/a.jsonl") && !is_staged("/s/a.jsonl"));
    }
}
