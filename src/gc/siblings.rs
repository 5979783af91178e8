//! The scan for sibling transcripts that gjc makes before it retires an owner (spec 03 §9): whatever keeps it from proving that
//! nobody else names the owner. It answers "shared" at the first obstacle; a user wants to know all of them.
//!
//! What the specification leaves open, and the choice made: a *scope* is every directory of the sessions root that begins `v2-`
//! or `-`; *candidates* lie directly in a scope, directly in its `.staging`, or anywhere in the recovery directory of the
//! sessions root. What the protocol inspector refuses, and what moves or cannot be read, is left to those who report it.

use super::Locator;
use super::budget::MAX_INSPECTED;
use crate::agent::binding;
use crate::agent::layout::{BINDING, INTERNAL, PROTOCOL, RECOVERY, STAGING, SessionsName, sessions_name};
use crate::agent::security::{Need, judge_acl, violations};
use crate::agent::walk::{self, Limits, Listing, Object};
use crate::fsys::input::READ_CAP;
use crate::fsys::{Errno, Fs, Kind, Meta, Refusal, Watched};
use crate::transcript::readers::owner::owner_of_any;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Levels of the recovery directory.
const MAX_RECOVERY_DEPTH: usize = 32;

/// What keeps the scan from a proof.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Obstacle {
    /// A directory of the sessions root that gjc does not make.
    StrayDirectory,
    /// A symlink in the sessions root.
    Symlink,
    /// A directory that must be owner-only and real, and is not.
    Insecure,
    /// A v2 scope without a binding that is canonical and its own.
    Binding,
    /// A name that begins like the protocol directory, such as a copy `.saved` of it.
    ProtocolCopy,
    /// A protocol directory in a scope that is no v2 scope.
    ProtocolElsewhere,
    /// A protocol directory with other children than exactly the three roles.
    Roles,
    /// More than 50,000 scopes, or entries in all.
    TooMany,
    /// The recovery directory is deeper than 32 levels.
    RecoveryTooDeep,
    /// A file that counts as a transcript is no regular file.
    NoFile,
    /// A file that counts as a transcript has no header of a session, or its owner cannot be known.
    Unclear,
}

impl Obstacle {
    /// One of them in words, to stand before "blocks".
    pub const fn what(self) -> &'static str {
        match self {
            Obstacle::StrayDirectory => "a directory in the sessions root that gjc does not make there",
            Obstacle::Symlink => "a symlink in the sessions root",
            Obstacle::Insecure => "a directory that is not real and owner-only (0700)",
            Obstacle::Binding => "a scope without a sound binding of its own",
            Obstacle::ProtocolCopy => "a name that begins like the protocol directory and is another one",
            Obstacle::ProtocolElsewhere => "a protocol directory in a scope of the old layout",
            Obstacle::Roles => "a protocol directory with other children than its three roles",
            Obstacle::TooMany => "more than 50,000 scopes or entries",
            Obstacle::RecoveryTooDeep => "a recovery directory deeper than 32 levels",
            Obstacle::NoFile => "something named like a transcript that is no regular file",
            Obstacle::Unclear => "a file named like a transcript whose owner cannot be known",
        }
    }
}

/// Why it is not known whose a candidate is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// It does not say so that gjc would believe it.
    Unclear,
    /// It could not be read, or moved: that is no statement about it.
    Unread(Refusal),
}

/// What a candidate says of its owner; none: it names none.
pub type Said = Result<Option<Locator>, Unknown>;

/// Where the scan looks, and as whom.
#[derive(Clone, Copy)]
pub struct Profile<'a> {
    /// The file system.
    pub fs: &'a dyn Fs,
    /// The agent directory; none when it is not to be judged.
    pub agent: Option<&'a Path>,
    /// The sessions root.
    pub sessions: &'a Path,
    /// The user that gjc would run as.
    pub uid: u32,
    /// How much is read.
    pub limits: Limits,
}

/// What a scan found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scan {
    /// Everything in the way, in order of path within a scope.
    pub obstacles: Vec<(Obstacle, PathBuf)>,
    /// What could not be read, or moved.
    pub unread: Vec<(PathBuf, Refusal)>,
    /// Candidates that name an owner.
    pub named: Vec<(PathBuf, Locator)>,
    /// Scopes and entries, as gjc counts them.
    pub scopes: u64,
    /// Entries of all directories that were listed.
    pub entries: u64,
}

/// Scans a profile. `said` answers for a candidate that is a regular file.
pub fn scan(profile: &Profile<'_>, said: &mut dyn FnMut(&Path) -> Said) -> Scan {
    let mut scanning = Scanning { profile, said, scan: Scan::default() };
    for root in [profile.agent, Some(profile.sessions)].into_iter().flatten() {
        if let Ok(meta) = profile.fs.lstat(root) {
            scanning.directory(root, &meta);
        }
    }
    if let Some(root) = scanning.listing(profile.sessions) {
        scanning.root(&root);
    }
    let Scan { scopes, entries, .. } = scanning.scan;
    if scopes > MAX_INSPECTED || entries > MAX_INSPECTED {
        scanning.obstacle(Obstacle::TooMany, profile.sessions);
    }
    scanning.scan
}

/// What a candidate says, read from disk.
pub fn read(fs: &dyn Fs, path: &Path) -> Said {
    let mut watched = Watched::open(fs, path).map_err(Unknown::Unread)?;
    if watched.meta().size > READ_CAP {
        return Err(Unknown::Unclear);
    }
    let said = owner_of_any((&mut watched).take(READ_CAP)).map_err(|error| watched.read_error(&error));
    match (said, watched.finish()) {
        (Err(error), _) => Err(Unknown::Unread(error.into())),
        (_, Err(refusal)) => Err(Unknown::Unread(refusal)),
        (Ok(said), Ok(_)) => said.map_err(|_| Unknown::Unclear),
    }
}

/// True for a name that counts as a transcript: it ends in `.jsonl` or holds `.jsonl.`, and is no derived memory sidecar.
pub fn is_candidate(name: &[u8]) -> bool {
    let transcript = name.ends_with(b".jsonl") || memchr::memmem::find(name, b".jsonl.").is_some();
    transcript && !crate::agent::sidecar::is_derived(name)
}

/// A link in a file's place is a fault of the file, not of reading it.
fn is_link(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Failed(error) if error.errno == Errno::LOOP)
}

struct Scanning<'s> {
    profile: &'s Profile<'s>,
    said: &'s mut dyn FnMut(&Path) -> Said,
    scan: Scan,
}

impl Scanning<'_> {
    fn obstacle(&mut self, obstacle: Obstacle, path: &Path) {
        self.scan.obstacles.push((obstacle, path.to_owned()));
    }

    fn root(&mut self, root: &Listing) {
        self.scan.entries += root.objects.len() as u64;
        for object in &root.objects {
            let path = root.path_of(object);
            match (object.meta.kind, sessions_name(object.bytes())) {
                (Kind::Symlink, _) => self.obstacle(Obstacle::Symlink, &path),
                // What no digest can be is a scope all the same to the scan, which then finds no binding of it.
                (Kind::Directory, SessionsName::Scope | SessionsName::MalformedScope { blocks_owners: false }) => self.scope(&path, true),
                (Kind::Directory, SessionsName::Legacy) => self.scope(&path, false),
                (Kind::Directory, SessionsName::Unknown | SessionsName::MalformedScope { .. }) => {
                    self.obstacle(Obstacle::StrayDirectory, &path);
                }
                (Kind::Directory, SessionsName::Reserved) if object.name == RECOVERY => self.recovery(&path),
                _ => {}
            }
        }
    }

    fn scope(&mut self, path: &Path, is_v2: bool) {
        self.scan.scopes += 1;
        let Some(scope) = self.list(path) else { return };
        // The protocol directory is one entry more; its three names are not counted again.
        self.scan.entries += 1;
        self.directory(path, &scope.meta);
        if is_v2 {
            self.binding(path);
        }
        for object in &scope.objects {
            let below = scope.path_of(object);
            match object.bytes() {
                name if name == INTERNAL.as_bytes() && is_v2 => self.protocol(&below, &object.meta),
                name if name == INTERNAL.as_bytes() => self.obstacle(Obstacle::ProtocolElsewhere, &below),
                name if name.starts_with(INTERNAL.as_bytes()) => self.obstacle(Obstacle::ProtocolCopy, &below),
                name if name == STAGING.as_bytes() => {
                    self.directory(&below, &object.meta);
                    let staging = self.list(&below);
                    staging.iter().for_each(|staging| self.candidates(staging));
                }
                _ => {}
            }
        }
        self.candidates(&scope);
    }

    fn binding(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        match binding::read(self.profile.fs, path) {
            Ok(Some(binding)) if binding.belongs_in(name).is_ok() => {}
            Err(binding::Fault::Capture(refusal @ (Refusal::Failed(_) | Refusal::Changed(_)))) if !is_link(&refusal) => {
                self.scan.unread.push((path.join(BINDING), refusal));
            }
            _ => self.obstacle(Obstacle::Binding, path),
        }
    }

    fn protocol(&mut self, path: &Path, meta: &Meta) {
        self.directory(path, meta);
        let Some(protocol) = self.listing(path) else { return };
        // Three names in order: the listing is sorted, and so are the roles.
        if protocol.is_complete() && !protocol.objects.iter().map(Object::bytes).eq(PROTOCOL.map(str::as_bytes)) {
            self.obstacle(Obstacle::Roles, path);
        }
        for object in protocol.objects.iter().filter(|object| PROTOCOL.iter().any(|role| object.name == *role)) {
            self.directory(&protocol.path_of(object), &object.meta);
            self.list(&protocol.path_of(object));
        }
    }

    fn recovery(&mut self, path: &Path) {
        let limits = Limits { depth: MAX_RECOVERY_DEPTH, ..self.profile.limits };
        let fs = self.profile.fs;
        let troubles = walk::tree(
            fs,
            path,
            &limits,
            |_, _| true,
            |listing| {
                self.scan.entries += listing.objects.len() as u64;
                self.candidates(&listing);
            },
        );
        if troubles.iter().any(|trouble| matches!(trouble, walk::Trouble::Limit("depth of one tree", _))) {
            self.obstacle(Obstacle::RecoveryTooDeep, path);
        }
    }

    /// The names of a directory that is there, counted.
    fn list(&mut self, path: &Path) -> Option<Listing> {
        let listing = self.listing(path)?;
        self.scan.entries += listing.objects.len() as u64;
        Some(listing)
    }

    fn listing(&mut self, path: &Path) -> Option<Listing> {
        match walk::list(self.profile.fs, path, &self.profile.limits) {
            Ok(listing) => {
                listing.troubles.iter().for_each(|trouble| self.trouble(trouble));
                Some(listing)
            }
            // That it is no directory was told as what it is.
            Err(error) if matches!(error.errno, Errno::LOOP | Errno::NOTDIR) => None,
            Err(error) => {
                self.scan.unread.push((path.to_owned(), error.into()));
                None
            }
        }
    }

    fn trouble(&mut self, trouble: &walk::Trouble) {
        match trouble {
            walk::Trouble::Failed(error) => self.scan.unread.push((error.path.clone(), error.clone().into())),
            walk::Trouble::Changed(path) => self.scan.unread.push((path.clone(), Refusal::Changed(vec!["names"]))),
            // A limit of this run is told by the walk that met it first.
            walk::Trouble::Limit(..) => {}
        }
    }

    fn candidates(&mut self, listing: &Listing) {
        for object in listing.objects.iter().filter(|object| is_candidate(object.bytes())) {
            let path = listing.path_of(object);
            if object.meta.kind != Kind::File {
                self.obstacle(Obstacle::NoFile, &path);
                continue;
            }
            match (self.said)(&path) {
                Ok(Some(locator)) => self.scan.named.push((path, locator)),
                Ok(None) => {}
                Err(Unknown::Unclear) => self.obstacle(Obstacle::Unclear, &path),
                Err(Unknown::Unread(refusal)) => self.scan.unread.push((path, refusal)),
            }
        }
    }

    fn directory(&mut self, path: &Path, meta: &Meta) {
        let sound = violations(meta, Need::Directory, self.profile.uid).next().is_none();
        if !sound || judge_acl(self.profile.fs, path, Need::Directory).is_err() {
            self.obstacle(Obstacle::Insecure, path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;

    fn obstacles(fs: &Memory) -> Vec<(Obstacle, PathBuf)> {
        let profile =
            Profile { fs, agent: Some(Path::new("/a")), sessions: Path::new("/a/sessions"), uid: 1000, limits: Limits::default() };
        scan(&profile, &mut |_| Ok(None)).obstacles
    }
    fn profile() -> Memory {
        let fs = Memory::new();
        fs.directory("/a/sessions");
        for directory in ["/a", "/a/sessions"] {
            fs.chmod(directory, 0o700);
        }
        fs
    }

    #[test]
    fn a_recovery_directory_may_have_32_levels() {
        let of = |levels: usize| {
            let fs = profile();
            fs.directory(format!("/a/sessions/{RECOVERY}{}", "/d".repeat(levels)));
            obstacles(&fs)
        };
        assert_eq!(of(32), []);
        assert_eq!(of(33), [(Obstacle::RecoveryTooDeep, "/a/sessions/.gjc-recovery".into())]);
    }

    /// A v2 scope with staging and a protocol directory, everything owner-only; its binding is another matter.
    fn scope() -> (Memory, String) {
        let fs = profile();
        let scope = format!("/a/sessions/v2-{}", "b".repeat(52));
        for directory in ["", "/.staging", "/.gjc-managed-session-internal"].map(|below| format!("{scope}{below}")) {
            fs.directory(&directory);
            fs.chmod(&directory, 0o700);
        }
        for role in PROTOCOL.map(|role| format!("{scope}/{INTERNAL}/{role}")) {
            fs.directory(&role);
            fs.chmod(&role, 0o700);
        }
        (fs, scope)
    }
    #[test]
    fn every_directory_of_a_scope_is_owner_only() {
        let of = |below: &str| {
            let (fs, scope) = scope();
            if !below.is_empty() {
                fs.chmod(format!("{scope}/{below}"), 0o750);
            }
            let insecure = obstacles(&fs).into_iter().filter(|(obstacle, _)| *obstacle == Obstacle::Insecure);
            insecure.map(|(_, path)| path.strip_prefix(&scope).unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(""), [""; 0]);
        for below in [STAGING.to_owned(), INTERNAL.to_owned()].into_iter().chain(PROTOCOL.map(|role| format!("{INTERNAL}/{role}"))) {
            assert_eq!(of(&below), [below.as_str()]);
        }
    }
    #[test]
    fn the_names_of_roles_and_staging_are_counted() {
        let entries = |more: &[&str]| {
            let (fs, directory) = scope();
            more.iter().for_each(|below| fs.file(format!("{directory}/{below}"), b""));
            let profile = Profile { fs: &fs, agent: None, sessions: Path::new("/a/sessions"), uid: 1000, limits: Limits::default() };
            scan(&profile, &mut |_| Ok(None)).entries
        };
        // The scope; staging and protocol directory in it, and the one more of the scope.
        assert_eq!(entries(&[]), 4);
        let roles = PROTOCOL.map(|role| format!("{INTERNAL}/{role}/x"));
        assert_eq!(entries(&[&roles[0], &roles[1], &roles[2], ".staging/x", "x"]), 9);
    }

    /// Entries of the root, of each scope and one more for it, of roles, of staging and recovery are counted together.
    #[test]
    fn fifty_thousand_entries_are_counted_and_one_more_is_too_many() {
        let of = |more: u64| {
            let fs = profile();
            let scope = format!("/a/sessions/-{}", "x");
            fs.directory(&scope);
            fs.chmod(&scope, 0o700);
            fs.directory(format!("/a/sessions/{RECOVERY}/d"));
            // The scope, the recovery directory, the one more of the scope, and what is in the recovery directory.
            for number in 0..MAX_INSPECTED - 4 + more {
                fs.file(format!("{scope}/{number}"), b"");
            }
            obstacles(&fs)
        };
        assert_eq!(of(0), []);
        assert_eq!(of(1), [(Obstacle::TooMany, "/a/sessions".into())]);
    }

    /// What is larger than anything of gjc reads is not read; one byte less, and reading it is what fails here.
    #[test]
    fn a_candidate_above_what_gjc_reads_is_unclear_unread() {
        let said = |size: u64| {
            let fs = Memory::new();
            fs.sparse("/x.jsonl", size);
            let failing = crate::fsys::Inject::new(&fs, |call| (call.op == "read").then_some(Errno::IO));
            read(&failing, Path::new("/x.jsonl"))
        };
        assert_eq!(said(READ_CAP + 1), Err(Unknown::Unclear));
        assert!(matches!(said(READ_CAP), Err(Unknown::Unread(_))), "{:?}", said(READ_CAP));
    }

    #[test]
    fn the_agent_directory_is_judged_when_it_is_told_and_the_sessions_root_always() {
        let insecure = |directory: &str, agent: Option<&str>| {
            let fs = profile();
            fs.chmod(directory, 0o755);
            let profile =
                Profile { fs: &fs, agent: agent.map(Path::new), sessions: Path::new("/a/sessions"), uid: 1000, limits: Limits::default() };
            scan(&profile, &mut |_| Ok(None)).obstacles
        };
        assert_eq!(insecure("/a", Some("/a")), [(Obstacle::Insecure, "/a".into())]);
        assert_eq!(insecure("/a", None), [], "the sessions root alone is checked");
        assert_eq!(insecure("/a/sessions", None), [(Obstacle::Insecure, "/a/sessions".into())]);
    }

    /// A scan of the profile in which everything is as `change` left it, while `hook` may do more: its kinds of obstacles, and
    /// the last component of what was not read.
    fn scanned(
        change: impl FnOnce(&Memory, &str),
        hook: impl Fn(&Memory, &str, &crate::fsys::Call<'_>) -> Option<Errno> + Send + Sync,
    ) -> (Vec<Obstacle>, Vec<String>) {
        let identity = crate::agent::identity::Identity { platform: crate::agent::identity::Platform::Posix, canonical_path: "/ws".into() };
        let fs = profile();
        let scope = format!("/a/sessions/{}", identity.directory_name());
        fs.plant(&scope, &crate::corpus::clean::scope(&identity, []));
        change(&fs, &scope);
        let inject = crate::fsys::Inject::new(&fs, |call| hook(&fs, &scope, call));
        let profile = Profile { fs: &inject, agent: None, sessions: Path::new("/a/sessions"), uid: 1000, limits: Limits::default() };
        let scan = scan(&profile, &mut |_| Ok(None));
        let unread = scan.unread.iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        (scan.obstacles.into_iter().map(|(obstacle, _)| obstacle).collect(), unread)
    }
    fn after(change: impl FnOnce(&Memory, &str)) -> (Vec<Obstacle>, Vec<String>) {
        scanned(change, |_, _, _| None)
    }

    #[test]
    fn a_binding_is_sound_and_its_own_and_no_link() {
        assert_eq!(after(|_, _| ()), (vec![], vec![]));
        let other = |fs: &Memory, scope: &str| fs.rename(scope, format!("/a/sessions/v2-{}", "b".repeat(52)));
        assert_eq!(after(other), (vec![Obstacle::Binding], vec![]), "that of another scope");
        let linked = |fs: &Memory, scope: &str| {
            fs.rename(format!("{scope}/{BINDING}"), "/elsewhere");
            fs.symlink(format!("{scope}/{BINDING}"), "/elsewhere");
        };
        assert_eq!(after(linked), (vec![Obstacle::Binding], vec![]), "a link is a fault of it, not of reading it");
    }
    #[test]
    fn a_protocol_directory_that_is_a_link_is_insecure_and_not_unread() {
        let linked = |fs: &Memory, scope: &str| {
            fs.rename(format!("{scope}/{INTERNAL}"), "/elsewhere");
            fs.symlink(format!("{scope}/{INTERNAL}"), "/elsewhere");
        };
        assert_eq!(after(linked), (vec![Obstacle::Insecure], vec![]));
    }
    #[test]
    fn a_sound_protocol_directory_stands_only_in_a_v2_scope() {
        let legacy = |fs: &Memory, scope: &str| fs.rename(scope, "/a/sessions/-ws-");
        assert_eq!(after(legacy), (vec![Obstacle::ProtocolElsewhere], vec![]));
    }
    #[test]
    fn an_access_list_makes_a_directory_insecure() {
        let listed = |fs: &Memory, scope: &str| fs.set_acl(scope, crate::fsys::Acl::Default, Ok(4));
        assert_eq!(after(listed), (vec![Obstacle::Insecure], vec![]));
    }
    /// A role that could not be looked at may be the one that seems to be missing.
    #[test]
    fn roles_are_not_judged_by_half_of_their_names() {
        let hidden = |_: &Memory, scope: &str, call: &crate::fsys::Call<'_>| {
            (call.op == "lstat" && call.path == Path::new(&format!("{scope}/{INTERNAL}/locks"))).then_some(Errno::IO)
        };
        assert_eq!(scanned(|_, _| (), hidden), (vec![], vec!["locks".to_owned()]));
    }
    #[test]
    fn a_directory_that_changes_while_it_is_listed_is_unread() {
        let moving = |fs: &Memory, scope: &str, call: &crate::fsys::Call<'_>| {
            if call.op == "readdir" && call.path == Path::new(scope) && call.phase == crate::fsys::Phase::Before {
                fs.file(format!("{scope}/{}", call.number), b"");
            }
            None
        };
        let (obstacles, unread) = scanned(|_, _| (), moving);
        assert_eq!(obstacles, []);
        assert!(!unread.is_empty(), "nobody knows what is in it");
    }
    #[test]
    fn a_candidate_that_grows_while_it_is_read_is_unread() {
        let fs = Memory::new();
        fs.file("/x.jsonl", b"{\"type\":\"session\",\"id\":\"s\"}\n");
        assert_eq!(read(&fs, Path::new("/x.jsonl")), Ok(None));
        let growing = crate::fsys::Inject::new(&fs, |call| {
            if call.op == "read" && call.phase == crate::fsys::Phase::After {
                fs.append("/x.jsonl", b"{}\n");
            }
            None
        });
        assert!(matches!(read(&growing, Path::new("/x.jsonl")), Err(Unknown::Unread(_))));
    }
}
