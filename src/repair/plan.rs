//! What a repair would do: which sessions are copied, from where to where, with what; what must be made or secured before; and
//! why each other session is left alone, in gjc's words. Reads only.
//!
//! The rules are those of spec 02 §6.3 to §6.7, one function a step; where they differ from gjc's, `repair` says why.

use super::{Policy, Refused, failed};
use crate::agent::artifacts::{self, Survey};
use crate::agent::binding;
use crate::agent::candidates::{self, Candidate, Hidden, Invalid, Listing, Retirement, WorkspaceListing, artifacts_of, read_record};
use crate::agent::identity::Identity;
use crate::agent::layout;
use crate::agent::migration_receipt::{self as receipt, Name, Receipt, State};
use crate::agent::predict::{self, Cleanup, migrate};
use crate::agent::record::{TranscriptIdentity, Tree, json_text};
use crate::agent::residue;
use crate::agent::security::{self, Need, Violation};
use crate::agent::tombstone::Provenance;
use crate::agent::world::{Scope, World};
use crate::fsys::{Errno, Fs, Kind};
use crate::json::{Value, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The form of a plan file.
pub const SCHEMA: &str = "gjc-fsck/plan/1";

/// Larger files are no plans.
pub const LIMIT: u64 = 1 << 30;

/// A whole plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// The agent directory, without links.
    pub agent_dir: String,
    /// `copy-retain` or `disabled`.
    pub policy: String,
    /// The scopes with something to do or to say, in order of their workspaces.
    pub scopes: Vec<ScopePlan>,
    /// Legacy files that are no sessions of a workspace that is here, with gjc's code.
    pub invalid: Vec<Refusal>,
    /// What could not be read: nobody knows whether there is something to do.
    pub unread: Vec<Refusal>,
}

/// One scope.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScopePlan {
    /// The workspace.
    pub workspace: String,
    /// The scope directory, which need not exist yet.
    pub directory: String,
    /// Why nothing is done here at all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<Refusal>,
    /// Mode changes that preparing needs; done only when asked for.
    pub mode_changes: Vec<ModeChange>,
    /// Directories and the binding that are made.
    pub makes: Vec<String>,
    /// The legacy sessions.
    pub sessions: Vec<SessionPlan>,
    /// What interrupted migrations of no session above left in `receipts/`.
    pub leftovers: Vec<Leftover>,
    /// Committed receipts that no longer match their two files: reported, never touched.
    pub stale_receipts: Vec<StaleReceipt>,
}

/// Why something is not done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// gjc's token, or the code of a finding where gjc has none.
    pub code: String,
    /// What was found.
    pub detail: String,
    /// The object that decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
}

/// A directory that must become owner-only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    /// The directory.
    pub path: String,
    /// Its permission bits, octal.
    pub from: String,
    /// What they become, octal.
    pub to: String,
    /// Whether an access control list is removed.
    pub acl: bool,
}

/// One legacy session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPlan {
    /// Header id.
    pub session_id: String,
    /// The legacy transcript.
    pub source: String,
    /// Where its copy goes.
    pub destination: String,
    /// Operation name: it changes with the source's place, inode, size, time and content.
    pub operation: String,
    /// Bytes of the transcript.
    pub size: u64,
    /// Its SHA-256, lower-case hex.
    pub sha256: String,
    /// Which object it is and when it was modified; a plan without it says less about what changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<Seen>,
    /// Its artifact directory, when it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub artifacts: Option<ArtifactPlan>,
    /// The destination holds these bytes already: only the receipt is missing.
    pub copied_already: bool,
    /// The artifact directory that an interrupted migration moved away, to be put back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub put_back: Option<PutBack>,
    /// Receipts of an interrupted migration that can no longer match, to be moved into `.gjc-recovery`.
    pub set_aside: Vec<String>,
    /// Why it is left alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<Refusal>,
}

/// A transcript as the plan saw it, besides size and content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seen {
    /// Device, in decimal.
    pub dev: String,
    /// Inode, in decimal.
    pub ino: String,
    /// Modification time, nanoseconds since 1970, in decimal.
    pub mtime_ns: String,
}

impl From<&TranscriptIdentity> for Seen {
    fn from(identity: &TranscriptIdentity) -> Self {
        Seen { dev: identity.dev.to_string(), ino: identity.ino.to_string(), mtime_ns: identity.mtime_ns.to_string() }
    }
}

/// The artifacts of a session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArtifactPlan {
    /// Regular files.
    pub files: u64,
    /// Directories, the root included.
    pub directories: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// SHA-256 over the snapshot of the tree (every name, inode, size, time and content; not the root's change time).
    pub tree: String,
}

/// A directory that gets its name back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutBack {
    /// Where it lies.
    pub from: String,
    /// Its own place.
    pub to: String,
}

/// Staged receipts of an operation that no session can have any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Leftover {
    /// The operation.
    pub operation: String,
    /// Its receipts, to be moved into `.gjc-recovery`.
    pub set_aside: Vec<String>,
    /// Why they are left alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<Refusal>,
}

/// A committed receipt that no longer matches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaleReceipt {
    /// The receipt.
    pub path: String,
    /// The first clause of spec 02 §7.2 that it breaks, in words.
    pub wants: String,
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Refusal { code: refused.code.to_owned(), detail: refused.detail, path: refused.path.as_deref().map(text) }
    }
}

impl SessionPlan {
    /// Whether it is copied.
    pub const fn is_done(&self) -> bool {
        self.refused.is_none()
    }
}

impl SessionPlan {
    /// What differs between the planned transcript and the one that is there now, in words.
    pub(super) fn transcript_drift(&self, now: &TranscriptIdentity) -> String {
        let mut drift = Vec::new();
        if let Some(was) = &self.file {
            let now = Seen::from(now);
            if (&was.dev, &was.ino) != (&now.dev, &now.ino) {
                drift.push(format!("it is another file (device and inode {}:{}, now {}:{})", was.dev, was.ino, now.dev, now.ino));
            }
            if was.mtime_ns != now.mtime_ns {
                drift.push(format!("its modification time (mtime {} ns, now {} ns)", was.mtime_ns, now.mtime_ns));
            }
        }
        if self.size != now.size {
            drift.push(format!("its size ({} bytes, now {})", self.size, now.size));
        }
        if self.sha256 != now.sha256 {
            drift.push("its bytes (another SHA-256)".to_owned());
        } else if !drift.is_empty() {
            drift.push("but not its bytes".to_owned());
        }
        if drift.is_empty() {
            drift.push("its place, inode or modification time".to_owned());
        }
        format!("the transcript changed since the plan: {}; make a new plan", drift.join(", "))
    }
    /// What else differs between this plan of a session and one that is made now, in words.
    pub(super) fn drift(&self, now: &SessionPlan) -> String {
        let artifacts = |plan: &SessionPlan| match &plan.artifacts {
            None => "none".to_owned(),
            Some(all) => format!("{} files, {} directories, {} bytes", all.files, all.directories, all.bytes),
        };
        let mut drift = Vec::new();
        if self.artifacts != now.artifacts {
            let (was, is) = (artifacts(self), artifacts(now));
            drift.push(match was == is {
                true => format!("its artifacts ({was}, but a name, an inode, a time or bytes of one differ)"),
                false => format!("its artifacts ({was}; now {is})"),
            });
        }
        for (differs, what) in [
            (self.put_back != now.put_back, "where its artifacts lie"),
            (self.set_aside != now.set_aside, "what an interrupted migration left in receipts/"),
            (self.session_id != now.session_id, "its session id"),
            (self.destination != now.destination, "its destination"),
            (self.size != now.size || self.sha256 != now.sha256, "its size or SHA-256, which the plan states otherwise"),
        ] {
            if differs {
                drift.push(what.to_owned());
            }
        }
        format!("this session changed since the plan: {}; make a new plan", drift.join(", "))
    }
}

impl ScopePlan {
    /// Sessions that are copied.
    pub fn planned(&self) -> impl Iterator<Item = &SessionPlan> {
        self.sessions.iter().filter(|session| self.refused.is_none() && session.is_done())
    }
    /// Whether applying this writes anything.
    pub fn writes(&self) -> bool {
        self.refused.is_none() && (self.planned().next().is_some() || self.leftovers.iter().any(|leftover| leftover.refused.is_none()))
    }
}

/// Which legacy sessions are looked at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    /// All of the agent directory.
    #[default]
    All,
    /// Those that belong to this scope, or lie in this legacy directory.
    Directory(PathBuf),
    /// This one.
    Transcript(PathBuf),
}

impl Wanted {
    fn session(&self, scope: &Path, source: &Path) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Directory(directory) => scope == directory || source.parent() == Some(directory),
            Wanted::Transcript(transcript) => source == transcript,
        }
    }
    /// Whether an unreadable transcript at this path may be one that is meant.
    fn is_maybe(&self, path: &Path) -> bool {
        match self {
            Wanted::All => true,
            // Whether it belongs to a scope nobody can tell.
            Wanted::Directory(directory) => path.parent() == Some(directory),
            Wanted::Transcript(transcript) => path == transcript,
        }
    }
    /// Whether the scope as a whole is meant, with what interrupted migrations left in it.
    fn scope(&self, scope: &Path) -> bool {
        matches!(self, Wanted::All) || matches!(self, Wanted::Directory(directory) if directory == scope)
    }
}

/// Whether a file lies in a legacy directory.
fn is_legacy(path: &Path) -> bool {
    let directory = path.parent().and_then(Path::file_name);
    directory.is_some_and(|name| layout::sessions_name(name.as_bytes()) == layout::SessionsName::Legacy)
}

pub(super) fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

pub(super) fn hex(hash: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(hash)
}

/// What is asked for besides a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wish {
    /// gjc's setting `session.directoryMigration`.
    pub policy: Policy,
    /// Directories that are not owner-only may be made so; else their scope is refused.
    pub secure_modes: bool,
}

/// The plan for an agent directory.
pub fn plan(world: &World<'_>, wanted: &Wanted, wish: Wish) -> Plan {
    let mut unread = Vec::new();
    let (mut workspaces, invalid) = candidates::list_all_telling(world, &mut |error| {
        // A name that is no directory, or no longer there, holds no sessions.
        if !matches!(error.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) {
            unread.push(Refusal::from(failed(&error)));
        }
    });
    // A scope without a transcript may still hold what an interrupted migration left.
    scopes_beside(world, &mut workspaces, &mut unread);
    let mut left = Vec::new();
    for invalid in invalid.iter().filter(|invalid| is_legacy(&invalid.path) && wanted.is_maybe(&invalid.path)) {
        let refusal = Refusal { code: invalid.code.to_owned(), detail: invalid.detail.clone(), path: Some(text(&invalid.path)) };
        if invalid.transient { unread.push(refusal) } else { left.push(refusal) }
    }
    workspaces.sort_by(|a, b| a.identity.canonical_path.cmp(&b.identity.canonical_path));
    let scopes = workspaces.into_iter().filter_map(|one| scope_plan(world, &one, &invalid, wanted, wish)).collect();
    let word = match wish.policy {
        Policy::CopyRetain => "copy-retain",
        Policy::Disabled => "disabled",
    };
    let agent_dir = text(world.canonical_root(&world.agent_dir));
    Plan { schema: SCHEMA.to_owned(), agent_dir, policy: word.to_owned(), scopes, invalid: left, unread }
}

/// Adds the scopes with a readable binding that no transcript led to.
fn scopes_beside(world: &World<'_>, workspaces: &mut Vec<WorkspaceListing>, unread: &mut Vec<Refusal>) {
    let root = world.canonical_root(&world.sessions_root);
    let known: BTreeSet<PathBuf> = workspaces.iter().map(|one| one.scope.clone()).collect();
    // Whether the root can be listed was told before.
    for entry in world.fs.list(&root).unwrap_or_default() {
        let scope = root.join(&entry.name);
        if layout::sessions_name(entry.name.as_bytes()) != layout::SessionsName::Scope || known.contains(&scope) {
            continue;
        }
        match binding::read(world.fs, &scope) {
            Ok(Some(binding)) => {
                if let Some(identity) = binding.identity().filter(|identity| *identity.directory_name() == *entry.name) {
                    workspaces.push(WorkspaceListing { identity, scope, listing: Listing::default() });
                }
            }
            Err(binding::Fault::Capture(crate::fsys::Refusal::Failed(error))) if error.errno != Errno::LOOP => {
                unread.push(Refusal::from(failed(&error)));
            }
            // A scope that gjc does not resolve has a finding of its own.
            Ok(None) | Err(_) => {}
        }
    }
}

/// The plan for one scope; none when there is nothing to do and nothing to say.
fn scope_plan(world: &World<'_>, of: &WorkspaceListing, invalid: &[Invalid], wanted: &Wanted, wish: Wish) -> Option<ScopePlan> {
    let legacy = |candidate: &Candidate| candidate.provenance == Provenance::Legacy && wanted.session(&of.scope, &candidate.path);
    let sources: Vec<&Candidate> = of.listing.owned.iter().map(|listed| &*listed.candidate).filter(|c| legacy(c)).collect();
    let staged = if wanted.scope(&of.scope) { staged_receipts(world, &of.scope) } else { Ok(BTreeMap::new()) };
    let (staged, unlisted) = staged.map_or_else(|refused| (BTreeMap::new(), Some(refused)), |staged| (staged, None));
    let stale: Vec<StaleReceipt> = of
        .listing
        .stale
        .iter()
        .filter(|stale| wanted.session(&of.scope, &stale.source))
        .map(|stale| StaleReceipt { path: text(&stale.receipt), wants: stale.clause.text().to_owned() })
        .collect();
    if sources.is_empty() && staged.is_empty() && stale.is_empty() && unlisted.is_none() {
        return None;
    }
    let mut plan = ScopePlan {
        workspace: of.identity.canonical_path.clone(),
        directory: text(&of.scope),
        refused: None,
        mode_changes: Vec::new(),
        makes: Vec::new(),
        sessions: Vec::new(),
        leftovers: Vec::new(),
        stale_receipts: stale,
    };
    if let Some(refused) = unlisted {
        plan.sessions = sources.iter().map(|source| unread(source, &of.scope, refused.clone().into())).collect();
        plan.refused = Some(refused.into());
        return Some(plan);
    }
    if sources.is_empty() && staged.is_empty() {
        return Some(plan);
    }
    if wish.policy == Policy::Disabled {
        let refused = || Refused::new("legacy_migration_disabled", "the policy says not to copy legacy sessions").into();
        plan.sessions = sources.iter().map(|source| unread(source, &of.scope, refused())).collect();
        return Some(plan);
    }
    match unread_in(world.fs, &of.scope, invalid).map_or_else(|| ready(world, &of.identity), Err) {
        Ok(ready) => {
            plan.makes = ready.makes;
            plan.mode_changes = ready.mode_changes;
            let mut deciding = Deciding::new(world, &ready.scope, &of.listing);
            plan.sessions = sources.iter().map(|source| deciding.session(source)).collect();
            plan.leftovers = deciding.leftovers(&staged);
            // Nothing is written: then nothing needs to be made or secured either.
            if !plan.writes() {
                plan.makes.clear();
                plan.mode_changes.clear();
            }
            if let Some(first) = plan.mode_changes.first().filter(|_| !wish.secure_modes) {
                plan.refused = Some(mode_mismatch(first).into());
            }
        }
        Err(refused) => {
            plan.sessions = sources.iter().map(|source| unread(source, &of.scope, refused.clone().into())).collect();
            plan.refused = Some(refused.into());
        }
    }
    Some(plan)
}

/// A file of the scope that cannot be read now: it may have the id of a session that would be copied. A link has none: gjc never
/// follows it.
pub(super) fn unread_in(fs: &dyn Fs, scope: &Path, invalid: &[Invalid]) -> Option<Refused> {
    let is_link = |path: &Path| fs.lstat(path).is_ok_and(|meta| meta.kind == Kind::Symlink);
    let unread = invalid.iter().find(|one| one.transient && one.path.parent() == Some(scope) && !is_link(&one.path))?;
    let detail = format!(
        "{}, and may have the id of a session that would be copied; make it readable, or move it out of the scope with gjc stopped",
        unread.detail
    );
    Some(Refused::new("managed_storage_unsupported", detail).at(&unread.path))
}

/// A session that is refused before it is looked into.
fn unread(source: &Candidate, scope: &Path, refused: Refusal) -> SessionPlan {
    SessionPlan {
        session_id: source.session_id.to_string(),
        source: text(&source.path),
        destination: text(scope.join(source.path.file_name().unwrap_or_default())),
        operation: String::new(),
        size: source.meta.size,
        sha256: String::new(),
        file: None,
        artifacts: None,
        copied_already: false,
        put_back: None,
        set_aside: Vec::new(),
        refused: Some(refused),
    }
}

/// A scope that can be written to once what is named is made and secured.
pub(super) struct Ready {
    pub(super) scope: Scope,
    makes: Vec<String>,
    pub(super) mode_changes: Vec<ModeChange>,
}

/// The directories that preparing makes or secures, outermost first (spec 02 §4.4), and the scope's quarantine.
pub(super) fn directories(scope: &Scope) -> Vec<PathBuf> {
    let internal = scope.directory.join(layout::INTERNAL);
    let mut all = vec![scope.configured_root().to_owned()];
    // Every component between the two.
    let below: Vec<PathBuf> =
        scope.sessions_root.ancestors().take_while(|path| *path != scope.configured_root()).map(Path::to_owned).collect();
    all.extend(below.into_iter().rev());
    all.extend([scope.directory.clone(), internal.clone()]);
    all.extend(layout::PROTOCOL.map(|role| internal.join(role)));
    all.push(scope.directory.join(layout::RECOVERY));
    all
}

/// Whether the scope of a workspace can be written to (spec 02 §4.4, §6.3): resolved, listed, of the right owner, without a
/// deletion that is not finished and without a replacement receipt.
pub(super) fn ready(world: &World<'_>, identity: &Identity) -> Result<Ready, Refused> {
    let cwd = Path::new(&identity.canonical_path);
    let named = Scope {
        identity: identity.clone(),
        lexical_cwd: cwd.to_owned(),
        agent_dir: world.canonical_root(&world.agent_dir),
        sessions_root: world.canonical_root(&world.sessions_root),
        directory: world.canonical_root(&world.sessions_root).join(identity.directory_name()),
    };
    let mode_changes = mode_changes(world, &named)?;
    let scope = match predict::resolve(world, cwd) {
        Ok(scope) => scope,
        // The one refusal that securing the scope directory ends.
        Err(refused) if mode_changes.iter().any(|change| change.path == text(&named.directory)) && is_mode(&refused) => named,
        Err(refused) => return Err(refused),
    };
    // What fails gjc's listing of this workspace: then gjc opens none of its sessions.
    candidates::known_directories(world, &scope, &scope.known_legacy_names(world))?;
    unfinished_deletions(world, &scope)?;
    replacement_receipts(world, &scope)?;
    if mode_changes.is_empty() {
        predict::reconcile(world, cwd)?;
    }
    let missing = |path: &Path| match world.fs.lstat(path) {
        Ok(_) => Ok(false),
        Err(error) if error.errno == Errno::NOENT => Ok(true),
        Err(error) => Err(failed(&error)),
    };
    let mut makes = Vec::new();
    for path in directories(&scope).into_iter().chain([scope.directory.join(layout::BINDING)]) {
        if missing(&path)? {
            makes.push(text(path));
        }
    }
    Ok(Ready { scope, makes, mode_changes })
}

/// A directory that must be secured first, and may not.
pub(super) fn mode_mismatch(change: &ModeChange) -> Refused {
    let what = if change.from == change.to { "has an access control list".to_owned() } else { format!("has mode {}", change.from) };
    Refused::new("mode_mismatch", format!("this directory {what}; --secure-modes makes it owner-only")).at(&change.path)
}

fn is_mode(refused: &Refused) -> bool {
    refused.classification.is_some_and(|token| token == "mode_mismatch" || token.starts_with("acl_"))
}

/// The directories on the way that are not owner-only and can be made so.
pub(super) fn mode_changes(world: &World<'_>, scope: &Scope) -> Result<Vec<ModeChange>, Refused> {
    let mut changes = Vec::new();
    for path in directories(scope) {
        let refuse = |violation: Violation| {
            // What a migration of gjc meets only when it is committed (02a.8) is met here before anything is written.
            let code = if path.ends_with(layout::RECOVERY) { "managed_storage_unsupported" } else { "binding_invalid" };
            Refused::new(code, format!("the directory is not owner-only: {}", violation.token())).at(&path)
        };
        match security::verify(world.fs, &path, Need::Directory, world.uid) {
            Ok(_) | Err(Violation::NotFound) => {}
            Err(Violation::Mode(mode)) => {
                let acl = match security::judge_acl(world.fs, &path, Need::Directory) {
                    Ok(_) => false,
                    // No repair removes the list of another system: nothing of the directory is changed then.
                    Err(list @ (Violation::List(_) | Violation::ListUnavailable(_))) => return Err(refuse(list)),
                    Err(_) => true,
                };
                changes.push(ModeChange { path: text(&path), from: format!("{mode:04o}"), to: "0700".to_owned(), acl });
            }
            Err(Violation::Acl(_, security::AclViolation::Present(_) | security::AclViolation::Malformed)) => {
                changes.push(ModeChange { path: text(&path), from: "0700".to_owned(), to: "0700".to_owned(), acl: true });
            }
            Err(violation) => return Err(refuse(violation)),
        }
    }
    Ok(changes)
}

/// A deletion that is not finished: repair never goes on with one. Nor does it go on where it cannot tell.
fn unfinished_deletions(world: &World<'_>, scope: &Scope) -> Result<(), Refused> {
    let tombstones = scope.protocol(layout::TOMBSTONES);
    match world.fs.list(&tombstones) {
        Ok(_) => {}
        Err(error) if error.errno == Errno::NOENT => return Ok(()),
        Err(error) => return Err(failed(&error)),
    }
    let retired = Retirement::read(world.fs, &tombstones, &scope.digest());
    if let Some(unreadable) = retired.ended_by {
        let why = "a file of tombstones/ cannot be read: nobody can tell which sessions are deleted";
        return Err(Refused::new("durability_failed", why).at(unreadable));
    }
    for target in predict::pending_targets(world, scope)? {
        if target.cleanup != Cleanup::Completed {
            let why = format!("the deletion of session {} is not finished; a repair never goes on with one", target.target.session_id);
            return Err(Refused::new("cleanup_pending", why).at(target.tombstone));
        }
    }
    Ok(())
}

/// Replacement receipts in the directories that are written to.
fn replacement_receipts(world: &World<'_>, scope: &Scope) -> Result<(), Refused> {
    for directory in [scope.directory.clone()].into_iter().chain(layout::PROTOCOL.map(|role| scope.protocol(role))) {
        let entries = match world.fs.list(&directory) {
            Ok(entries) => entries,
            Err(error) if error.errno == Errno::NOENT => continue,
            Err(error) => return Err(failed(&error)),
        };
        if let Some(found) = entries.iter().find(|entry| residue::is_replacement_receipt(entry.name.as_bytes())) {
            let why = "an unfinished replacement of a transcript: gjc resolves it with its next write, a repair does not";
            return Err(Refused::new("replacement_receipt_pending", why).at(directory.join(&found.name)));
        }
    }
    Ok(())
}

/// The receipts in `receipts/` that are not committed, by operation.
fn staged_receipts(world: &World<'_>, scope: &Path) -> Result<BTreeMap<String, Vec<(State, PathBuf)>>, Refused> {
    let receipts = scope.join(layout::INTERNAL).join(layout::RECEIPTS);
    let mut found: BTreeMap<String, Vec<(State, PathBuf)>> = BTreeMap::new();
    let entries = match world.fs.list(&receipts) {
        Ok(entries) => entries,
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Vec::new(),
        Err(error) => return Err(failed(&error)),
    };
    for entry in entries {
        if let Name::Migration { operation, state } = receipt::parse_name(entry.name.as_bytes())
            && state != State::Committed
        {
            found.entry(operation.to_owned()).or_default().push((state, receipts.join(&entry.name)));
        }
    }
    Ok(found)
}

/// Decides the sessions of one scope, one after the other: each knows what those before it will have done.
pub(super) struct Deciding<'a> {
    world: &'a World<'a>,
    scope: &'a Scope,
    /// Where each session id is, or will be, in the scope.
    claimed: BTreeMap<String, PathBuf>,
    /// SHA-256 of what an earlier session of this plan puts at a destination.
    coming: BTreeMap<PathBuf, String>,
    /// Operations of legacy files that are there: unmigrated ones as they are decided, shadowed ones from the beginning.
    operations: BTreeMap<String, Standing>,
    /// The lock that the asker holds itself.
    own_lock: Option<PathBuf>,
    /// Names of the scope that were there when it was listed, and what was looked at since.
    known: BTreeSet<OsString>,
    /// Detached artifact directories, looked for when the first leftover asks.
    detached: OnceCell<BTreeMap<String, PathBuf>>,
}

/// What became of the legacy file of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Planned,
    Refused,
    Migrated,
}

/// Everything that carrying one session out needs.
pub(super) struct Decided {
    pub(super) plan: SessionPlan,
    pub(super) survey: Option<Survey>,
    pub(super) prepared: Receipt,
    /// A `.prepared` receipt is there and matches.
    pub(super) is_prepared: bool,
}

impl<'a> Deciding<'a> {
    pub(super) fn new(world: &'a World<'a>, scope: &'a Scope, listing: &Listing) -> Self {
        let v2 = listing.owned.iter().map(|listed| &listed.candidate).filter(|candidate| candidate.provenance == Provenance::V2);
        let claimed = v2.map(|candidate| (candidate.session_id.to_string(), candidate.path.clone())).collect();
        let migrated = listing.hidden.iter().filter_map(|(candidate, hidden)| match hidden {
            Hidden::Shadowed { .. } => Some((candidate.identity(world.fs).ok()?.operation(), Standing::Migrated)),
            Hidden::Retired { .. } => None,
        });
        Deciding {
            world,
            scope,
            claimed,
            coming: BTreeMap::new(),
            operations: migrated.collect(),
            own_lock: None,
            known: BTreeSet::new(),
            detached: OnceCell::new(),
        }
    }
    /// The same for one who writes: `known` are the names of the scope from before it was listed.
    pub(super) fn writing(world: &'a World<'a>, scope: &'a Scope, listing: &Listing, known: BTreeSet<OsString>) -> Self {
        Deciding { known, ..Self::new(world, scope, listing) }
    }
    /// Takes note of transcripts that others made since the scope was listed (spec 02 §6.4 steps 1 and 3 list it afresh for each
    /// session): their session ids are taken.
    ///
    /// # Errors
    /// The scope cannot be listed.
    pub(super) fn look_again(&mut self) -> Result<(), Refused> {
        for name in transcript_names(self.world.fs, &self.scope.directory)? {
            let path = self.scope.directory.join(&name);
            if self.known.insert(name)
                && let Some(made) = predict::candidate_at(self.world, self.scope, &path)
            {
                self.claimed.entry(made.session_id.to_string()).or_insert(path);
            }
        }
        Ok(())
    }
    /// The asker holds this lock from now on.
    pub(super) fn hold(&mut self, lock: &Path) {
        self.own_lock = Some(lock.to_owned());
    }
    /// A session is copied: its id is taken.
    pub(super) fn claim(&mut self, session: &SessionPlan) {
        self.claimed.insert(session.session_id.clone(), PathBuf::from(&session.destination));
    }
    fn lock_is_free(&self, operation: &str) -> Result<(), Refused> {
        let lock = self.scope.protocol(layout::LOCKS).join(format!("{operation}.lock"));
        if self.own_lock.as_ref() == Some(&lock) {
            return Ok(());
        }
        predict::lock_blocks(self.world, &lock).map_or(Ok(()), |why| Err(Refused::new("migration_busy", why).at(lock)))
    }

    fn session(&mut self, source: &Candidate) -> SessionPlan {
        let mut plan = unread(source, &self.scope.directory, Refusal::from(Refused::new("", "")));
        plan.refused = None;
        match self.decide(source, &mut plan) {
            Ok(_) => {
                self.claimed.insert(plan.session_id.clone(), PathBuf::from(&plan.destination));
                self.coming.insert(PathBuf::from(&plan.destination), plan.sha256.clone());
                self.operations.insert(plan.operation.clone(), Standing::Planned);
            }
            Err(refused) => {
                plan.refused = Some(refused.into());
                plan.set_aside.clear();
                plan.put_back = None;
                self.operations.insert(plan.operation.clone(), Standing::Refused);
            }
        }
        plan
    }

    /// Decides one session as the tree is now.
    ///
    /// # Errors
    /// Why it is left alone.
    pub(super) fn decide_one(&self, source: &Candidate) -> Result<Decided, Refused> {
        let mut plan = unread(source, &self.scope.directory, Refusal::from(Refused::new("", "")));
        plan.refused = None;
        let (survey, prepared, is_prepared) = self.decide(source, &mut plan)?;
        Ok(Decided { plan, survey, prepared, is_prepared })
    }

    fn decide(&self, source: &Candidate, plan: &mut SessionPlan) -> Result<(Option<Survey>, Receipt, bool), Refused> {
        let fs = self.world.fs;
        if source.path.to_str().is_none() {
            return Err(Refused::new("managed_storage_unsupported", "its path is not UTF-8, which no receipt can record").at(&source.path));
        }
        let identity = source.identity(fs).map_err(|why| changed(&why.to_string(), &source.path))?;
        let operation = identity.operation();
        plan.operation.clone_from(&operation);
        plan.sha256.clone_from(&identity.sha256);
        plan.file = Some(Seen::from(&identity));
        self.lock_is_free(&operation)?;
        let destination = PathBuf::from(&plan.destination);
        self.is_free_for(source, &identity.sha256, &destination, plan)?;
        if identity.size > migrate::PUBLISH_LIMIT {
            let why = "content_too_large: the transcript is larger than 128 MiB";
            return Err(Refused::new("managed_storage_unsupported", why).at(&source.path));
        }
        let earlier = self.earlier(source, &operation)?;
        let lies_at = earlier.detached.clone().unwrap_or_else(|| source.artifacts());
        let survey =
            artifacts::survey(fs, &lies_at).map_err(|fault| Refused::new(fault.code(), fault.to_string()).at(source.artifacts()))?;
        let tree = survey.as_ref().map(|survey| artifacts::snapshot(fs, survey)).transpose();
        let tree = tree.map_err(|why| changed(&why.to_string(), &source.artifacts()))?;
        plan.artifacts = survey.as_ref().zip(tree.as_ref()).map(|(survey, tree)| artifact_plan(survey, tree));
        if survey.as_ref().is_some_and(|survey| !survey.items.iter().all(|item| survey.root.join(&item.relative).to_str().is_some())) {
            return Err(Refused::new("managed_storage_unsupported", "an artifact's name is not UTF-8").at(source.artifacts()));
        }
        let copies = artifacts_of(&destination);
        if let Some(survey) = &survey {
            migrate::copy_artifacts(self.world, survey, &copies)?;
        }
        let there = artifacts::survey(fs, &copies).map_err(|fault| Refused::new("durability_failed", fault.to_string()).at(&copies))?;
        migrate::extra_artifacts(survey.as_ref(), there.as_ref(), &copies)?;
        let committed = self.scope.protocol(layout::RECEIPTS).join(State::Committed.file_name(&operation));
        if fs.present(&committed).map_err(|e| failed(&e))? {
            // It was not there when the scope was listed.
            if is_migrated(fs, self.scope, source, &operation, &destination) {
                return Err(faster(&destination));
            }
            let why = "an older receipt keeps this operation name and does not match (02a.2); it is not overwritten. With gjc stopped, \
                       move it out of receipts/, or touch the legacy file";
            return Err(Refused::new("durability_failed", why).at(committed));
        }
        let prepared = migrate::prepared_receipt(
            self.scope,
            source,
            &identity,
            &destination,
            survey.as_ref().zip(tree.as_ref()).filter(|_| earlier.detached.is_none()),
            self.world,
        );
        if survey.is_some() && earlier.detached.is_none() && prepared.quarantine.is_none() {
            return Err(changed("could not be looked at", &source.artifacts()));
        }
        let mut is_prepared = false;
        for (state, path) in earlier.staged {
            let keeps = match state {
                State::Prepared => {
                    earlier.detached.is_none() && earlier.prepared.as_ref().is_some_and(|found| prepared.prepared_matches(found))
                }
                // gjc tolerates one that is there.
                State::Published => true,
                State::ArtifactDetached | State::Committed => false,
            };
            is_prepared |= keeps && state == State::Prepared;
            if !keeps {
                plan.set_aside.push(text(path));
            }
        }
        if let Some(from) = earlier.detached {
            plan.put_back = Some(PutBack { from: text(from), to: text(source.artifacts()) });
        }
        Ok((survey, prepared, is_prepared))
    }

    /// Spec 02 §6.4 steps 2, 3 and 7: whether the destination can become, or already is, the copy.
    fn is_free_for(&self, source: &Candidate, sha256: &str, destination: &Path, plan: &mut SessionPlan) -> Result<(), Refused> {
        let conflict = |why: &str, path: &Path| Refused::new("destination_conflict", why).at(path);
        let claimed = self.claimed.get(&plan.session_id);
        if let Some(other) = claimed.filter(|other| *other != destination) {
            return Err(conflict("another v2 file has this session id", other));
        }
        if let Some(coming) = self.coming.get(destination) {
            let same = claimed.is_some() && coming == sha256;
            return if same { Ok(()) } else { Err(conflict("another legacy session is copied to this name", destination)) };
        }
        let fs = self.world.fs;
        match fs.lstat(destination) {
            Err(error) if error.errno == Errno::NOENT => return Ok(()),
            Err(error) => return Err(failed(&error)),
            // gjc's test follows links and answers so later (02a.3).
            Ok(meta) if meta.kind == Kind::Symlink && fs.stat(destination).is_err() => {
                return Err(Refused::new("durability_failed", "the destination name is taken by a dangling symlink").at(destination));
            }
            Ok(_) => {}
        }
        let there = predict::candidate_at(self.world, self.scope, destination).filter(|there| there.session_id == source.session_id);
        let Some(there) = there else { return Err(conflict("something else stands at the destination", destination)) };
        let identity = there.identity(fs).map_err(|why| changed(&why.to_string(), destination))?;
        if identity.sha256 != sha256 {
            return Err(conflict("the destination holds other bytes", destination));
        }
        plan.copied_already = true;
        Ok(())
    }

    /// Spec 02 §6.7 with the safer rules: what an interrupted migration left, and where the artifacts are.
    fn earlier(&self, source: &Candidate, operation: &str) -> Result<Earlier, Refused> {
        let fs = self.world.fs;
        let durability = |why: &str, path: &Path| Refused::new("durability_failed", why).at(path);
        let receipts = self.scope.protocol(layout::RECEIPTS);
        let mut earlier = Earlier::default();
        let mut records: Vec<(State, PathBuf, Option<Value>)> = Vec::new();
        for state in [State::ArtifactDetached, State::Prepared, State::Published] {
            let path = receipts.join(state.file_name(operation));
            if fs.present(&path).map_err(|e| failed(&e))? {
                let record = match read_record(fs, &path) {
                    Ok(record) => record,
                    Err(crate::fsys::Refusal::Failed(error)) if error.errno != Errno::LOOP => return Err(failed(&error)),
                    Err(_) => None,
                };
                records.push((state, path, record));
            }
        }
        let artifacts = source.artifacts();
        let detached = migrate::detached_path(&artifacts, operation);
        let original = fs.present(&artifacts).map_err(|e| failed(&e))?;
        let moved = fs.present(&detached).map_err(|e| failed(&e))?;
        let quarantine = |record: &Option<Value>| record.as_ref().and_then(|record| record.member("sourceArtifactQuarantine")).is_some();
        match (original, moved) {
            (true, true) => {
                let by_receipt = records.iter().any(|(state, ..)| *state == State::ArtifactDetached);
                let code = if by_receipt { "durability_failed" } else { "destination_conflict" };
                return Err(Refused::new(code, "original and detached artifact directory both exist").at(detached));
            }
            (true, false) => {}
            (false, false) => {
                if let Some((_, path, _)) = records.iter().find(|(state, _, record)| *state != State::Published && quarantine(record)) {
                    return Err(durability("the artifact directory that this receipt records is neither in its place nor detached", path));
                }
            }
            (false, true) => {
                let directory = source.path.parent().unwrap_or(Path::new("/"));
                let proven = records.iter().any(|(state, _, record)| {
                    let record = record.as_ref().filter(|_| *state != State::Published);
                    record.is_some_and(|record| {
                        let of_detach = *state == State::ArtifactDetached;
                        let place = (artifacts.as_os_str().as_bytes(), directory.as_os_str().as_bytes());
                        receipt::recoverable(record, of_detach, place.0, place.1).ok().flatten().is_some_and(|found| {
                            let at = found.quarantine.str_member("detachedPath");
                            at.is_some_and(|at| *at == *detached.as_os_str().as_bytes())
                                && migrate::is_recorded(self.world, &detached, found.quarantine)
                        })
                    })
                });
                if !proven {
                    let why = "artifacts were moved away here, and no receipt proves that they are this session's as they were";
                    let code = if records.is_empty() { "destination_conflict" } else { "durability_failed" };
                    return Err(Refused::new(code, why).at(detached));
                }
                earlier.detached = Some(detached);
            }
        }
        for (state, path, record) in records {
            if state == State::Prepared {
                earlier.prepared = record;
            }
            earlier.staged.push((state, path));
        }
        Ok(earlier)
    }

    /// What is staged for operations that no planned session has.
    fn leftovers(&self, staged: &BTreeMap<String, Vec<(State, PathBuf)>>) -> Vec<Leftover> {
        let mut found = Vec::new();
        for (operation, receipts) in staged {
            let of = self.operations.get(operation);
            if matches!(of, Some(Standing::Planned | Standing::Refused)) {
                continue;
            }
            let refused = self.is_over(operation, of.is_some()).err().map(Refusal::from);
            found.push(Leftover {
                operation: operation.clone(),
                set_aside: receipts.iter().map(|(_, path)| text(path)).collect(),
                refused,
            });
        }
        found
    }

    /// Whether nothing depends on the staged receipts of an operation any more: no artifacts lie detached under its name.
    pub(super) fn is_over(&self, operation: &str, migrated: bool) -> Result<(), Refused> {
        self.lock_is_free(operation)?;
        let detached = match self.detached.get() {
            Some(detached) => detached,
            None => {
                let found = self.detached_roots()?;
                self.detached.get_or_init(|| found)
            }
        };
        match detached.get(operation) {
            None => Ok(()),
            Some(detached) => {
                let why = if migrated {
                    "the session is copied, but its artifacts still lie detached"
                } else {
                    "the session changed or is gone, and its artifacts lie detached: put them back by hand"
                };
                Err(Refused::new("migration_artifacts_detached", why).at(detached))
            }
        }
    }
    /// Every detached artifact directory of the sessions root, by operation.
    fn detached_roots(&self) -> Result<BTreeMap<String, PathBuf>, Refused> {
        let fs = self.world.fs;
        let mut found = BTreeMap::new();
        for entry in fs.list(&self.scope.sessions_root).map_err(|e| failed(&e))? {
            if layout::sessions_name(entry.name.as_bytes()) != layout::SessionsName::Legacy {
                continue;
            }
            let directory = self.scope.sessions_root.join(&entry.name);
            if fs.lstat(&directory).map_err(|e| failed(&e))?.kind != Kind::Directory {
                continue;
            }
            for below in fs.list(&directory).map_err(|e| failed(&e))? {
                if let Some(residue::Residue::MigrateArtifacts { operation }) = residue::parse(below.name.as_bytes()) {
                    found.insert(operation.to_owned(), directory.join(&below.name));
                }
            }
        }
        Ok(found)
    }
}

/// Names of transcripts in a directory.
pub(super) fn transcript_names(fs: &dyn Fs, directory: &Path) -> Result<BTreeSet<OsString>, Refused> {
    let entries = fs.list(directory).map_err(|e| failed(&e))?.into_iter();
    Ok(entries.map(|entry| entry.name).filter(|name| layout::is_transcript_name(name.as_bytes())).collect())
}

/// Whether a committed receipt of this operation matches the two files as they are now.
pub(super) fn is_migrated(fs: &dyn Fs, scope: &Scope, source: &Candidate, operation: &str, destination: &Path) -> bool {
    let receipt = scope.protocol(layout::RECEIPTS).join(State::Committed.file_name(operation));
    Candidate::read(fs, destination, Provenance::V2)
        .is_ok_and(|copy| candidates::matches(fs, &scope.digest(), &receipt, source, &copy).is_ok())
}

/// Another process copied the session while this one was at work.
pub(super) fn faster(destination: &Path) -> Refused {
    Refused::new("migration_busy", "another process copied this session meanwhile: nothing is left to do for it").at(destination)
}

/// What an interrupted migration left.
#[derive(Default)]
struct Earlier {
    staged: Vec<(State, PathBuf)>,
    prepared: Option<Value>,
    detached: Option<PathBuf>,
}

fn changed(why: &str, path: &Path) -> Refused {
    Refused::new("source_changed", format!("it {why}")).at(path)
}

fn artifact_plan(survey: &Survey, tree: &Tree) -> ArtifactPlan {
    let files = survey.items.iter().filter(|item| item.meta.kind == Kind::File).count() as u64;
    ArtifactPlan { files, directories: survey.items.len() as u64 - files, bytes: survey.bytes, tree: tree_hash(tree) }
}

/// SHA-256 over a snapshot, the root's change time left out.
pub(super) fn tree_hash(tree: &Tree) -> String {
    hex(&Sha256::digest(json_text(&migrate::without_root_ctime(&tree.to_value()))))
}
