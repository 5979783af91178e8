//! Discovery of prepared targets over a whole profile (spec 03 §13), as gjc would answer: the targets of all journals, or the
//! first token. One defect anywhere fails all of it.
//!
//! What was seen is looked at again at the end, journals first and the sessions root last: whatever came into being meanwhile
//! is refused, never adopted and never silently left out. What the specification leaves open: scopes are taken by name, journals
//! by key, and a receipt that changed or vanished is refused like one that appeared.

use super::ground::{Beside, Ground};
use super::names::PREFIX;
use super::stored::{self, Desk, Files, Inventory, Source};
use super::{Refusal, Scope, SessionsRoot, State, Target};
use crate::agent::budget::Exhausted;
use crate::agent::layout::{INTERNAL, RECEIPTS, SessionsName, sessions_name};
use crate::agent::predict::resolve;
use crate::agent::security::{self, Need, Violation};
use crate::agent::walk::{self, Limits, Listing, Object};
use crate::agent::world::World;
use crate::agent::{binding, binding::Binding};
use crate::fsys::{self, Kind, Meta};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The target of one journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What its `prepared` receipt is about.
    pub target: Arc<Target>,
    /// How far it is.
    pub state: State,
}

/// Why a discovery fails as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// gjc's token.
    Rule(Refusal),
    /// A quota: neither corrupt nor absent.
    Full(Exhausted),
    /// A file could not be captured, or what stands at a transcript's path cannot be known.
    Unread(PathBuf),
}

impl Fault {
    /// gjc's token; none where it depends on what only gjc's own run would see.
    pub const fn token(&self) -> Option<&'static str> {
        match self {
            Fault::Rule(refusal) => Some(refusal.token()),
            Fault::Full(_) => Some(Refusal::JournalCapacityExceeded.token()),
            Fault::Unread(_) => None,
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Rule(refusal)
    }
}

impl From<fsys::Error> for Fault {
    fn from(error: fsys::Error) -> Self {
        Fault::Unread(error.path)
    }
}

/// The scope cannot be authenticated.
const NO_AUTHORITY: Fault = Fault::Rule(Refusal::ScopeAuthorityMismatch);

/// Discovers the prepared targets of a profile, in order of transcript path (gjc's own order depends on the locale).
///
/// # Errors
/// The first defect.
pub fn discover(world: &World<'_>) -> Result<Vec<Found>, Fault> {
    let mut found = Vec::new();
    each(world, &mut |one| found.push(one))?;
    found.sort_by(|a, b| a.target.transcript_path.as_bytes().cmp(b.target.transcript_path.as_bytes()));
    Ok(found)
}

/// The same one by one, in order of scopes and keys: there may be more than are to be kept. What was given counts only when
/// the end is reached.
///
/// # Errors
/// The first defect.
pub fn each(world: &World<'_>, take: &mut dyn FnMut(Found)) -> Result<(), Fault> {
    let sessions = world.canonical_root(&world.sessions_root);
    for root in [&world.canonical_root(&world.agent_dir), &sessions] {
        security::verify(world.fs, root, Need::Directory, world.uid).map_err(|_| NO_AUTHORITY)?;
    }
    let scopes = scopes(world, &sessions)?;
    let mut looked = Vec::with_capacity(scopes.len());
    for (name, meta) in &scopes {
        let path = sessions.join(name);
        let receipts = scope(world, &path, meta, take)?;
        looked.push((path, receipts.as_ref().and_then(seen)));
    }
    for (path, before) in &looked {
        let now = receipts(world, path)?;
        if now.as_ref().and_then(seen) != *before {
            return Err(Refusal::ContinuationAuthorityMismatch.into());
        }
    }
    let same = |(before, now): (&(OsString, Meta), &(OsString, Meta))| before.0 == now.0 && before.1.object() == now.1.object();
    let now = self::scopes(world, &sessions)?;
    if now.len() != scopes.len() || !scopes.iter().zip(&now).all(same) {
        return Err(NO_AUTHORITY);
    }
    Ok(())
}

/// Everything in the sessions root that is named like a scope, by name.
fn scopes(world: &World<'_>, sessions: &Path) -> Result<Vec<(OsString, Meta)>, Fault> {
    let is_scope = |object: &Object| {
        matches!(sessions_name(object.bytes()), SessionsName::Scope | SessionsName::MalformedScope { blocks_owners: false })
    };
    let root = complete(walk::list(world.fs, sessions, &Limits::default())?)?;
    Ok(root.objects.into_iter().filter(is_scope).map(|object| (object.name, object.meta)).collect())
}

/// Reads one scope; its targets are given to `take`. Answers its receipts directory, none when it has none.
fn scope(world: &World<'_>, path: &Path, meta: &Meta, take: &mut dyn FnMut(Found)) -> Result<Option<Listing>, Fault> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let binding = match binding::read(world.fs, path) {
        Ok(Some(binding)) if meta.kind == Kind::Directory => binding,
        _ => return Err(NO_AUTHORITY),
    };
    if name.strip_prefix(b"v2-") != Some(binding.identity_digest.as_bytes()) {
        return Err(NO_AUTHORITY);
    }
    let is_there = authenticate(world, path, name, &binding)?;
    let Some(receipts) = receipts(world, path)? else { return Ok(None) };
    if is_there {
        journals(world, path, &binding.identity_digest, &receipts, take)?;
    } else if seen(&receipts).is_some() {
        // Nobody can say whose receipts these are.
        return Err(NO_AUTHORITY);
    }
    Ok(Some(receipts))
}

/// Whether the workspace of the scope is still there: then the scope is the one that gjc resolves for it, else the stored scope
/// must prove itself.
fn authenticate(world: &World<'_>, path: &Path, name: &[u8], binding: &Binding) -> Result<bool, Fault> {
    let identity = binding.identity().ok_or(NO_AUTHORITY)?;
    let workspace = Path::new(&identity.canonical_path);
    if world.is_copy || world.fs.present(workspace)? {
        return match resolve(world, workspace) {
            Ok(scope) if scope.directory == path => Ok(true),
            _ => Err(NO_AUTHORITY),
        };
    }
    security::verify(world.fs, path, Need::Directory, world.uid).map_err(|_| NO_AUTHORITY)?;
    binding.belongs_in(name).map_err(|_| NO_AUTHORITY)?;
    Ok(false)
}

/// The receipts directory, which must be real and owner-only when there is one.
fn receipts(world: &World<'_>, scope: &Path) -> Result<Option<Listing>, Fault> {
    let path = scope.join(INTERNAL).join(RECEIPTS);
    match security::verify(world.fs, &path, Need::Directory, world.uid) {
        Ok(_) => complete(walk::list(world.fs, &path, &Limits::default())?).map(Some),
        Err(Violation::NotFound) => Ok(None),
        Err(_) => Err(NO_AUTHORITY),
    }
}

/// A listing of which nothing is missing.
fn complete(listing: Listing) -> Result<Listing, Fault> {
    if listing.is_complete() { Ok(listing) } else { Err(Fault::Unread(listing.path)) }
}

/// A digest of the retirement receipts of a listing, as far as a change of them shows; none when there are none. A digest,
/// because there may be 50,000 in each of many scopes, and all of them are remembered to the end.
fn seen(receipts: &Listing) -> Option<[u8; 32]> {
    let ours = receipts.starting_with(PREFIX.as_bytes());
    let mut digest = Sha256::new();
    for Object { name, meta } in ours {
        digest.update(name.as_encoded_bytes());
        digest.update([0]);
        [meta.dev, meta.ino, meta.size].iter().for_each(|number| digest.update(number.to_le_bytes()));
        digest.update(meta.mtime_ns.to_le_bytes());
    }
    (!ours.is_empty()).then(|| digest.finalize().into())
}

/// The journals of a scope whose workspace is there.
fn journals(world: &World<'_>, path: &Path, digest: &str, receipts: &Listing, take: &mut dyn FnMut(Found)) -> Result<(), Fault> {
    let inventory = Inventory::of(receipts).map_err(Fault::Full)?;
    if !inventory.nobody.is_empty() || inventory.journals.iter().any(|files| files.names.are_outside_grammar()) {
        return Err(Refusal::ContinuationCorrupt.into());
    }
    let sessions = path.parent().unwrap_or(path);
    let root = SessionsRoot::new(sessions.as_os_str().as_encoded_bytes())?;
    let here = |path: &Path| path.to_owned();
    let scope = Scope { digest, directory: path.as_os_str().as_encoded_bytes(), root: &root };
    let (opened, beside) = (Source::open(world.fs, receipts), Beside::open(world.fs, receipts, inventory.journals.len()));
    let ground =
        Ground { fs: world.fs, receipts, opened: opened.as_deref(), beside: beside.as_ref(), scope, here: &here, is_copy: world.is_copy };
    let one = |desk: &mut Desk, files: &Files<'_>| {
        if !files.names.has(State::Prepared) {
            return Err(Refusal::StateMissing.into());
        }
        let held = ground.hold(files, desk);
        let journal = held.replayed.journal.map_err(|refused| match refused.fault {
            stored::Fault::Rule(refusal) => Fault::Rule(refusal),
            stored::Fault::Full(full) => Fault::Full(full),
            stored::Fault::Unread(_) | stored::Fault::Unbound => Fault::Unread(receipts.path.clone()),
        })?;
        // What is left of an owner whose retirement is pending is asked when the retirement goes on, not here.
        if journal.state() == State::OwnerRetired {
            held.proof?;
        }
        Ok(Found { state: journal.state(), target: journal.prepared.target })
    };
    // The first defect in order of keys is told, whoever met which first.
    for sweep in inventory.journals.chunks(SWEEP) {
        let judged: Vec<Result<Found, Fault>> = sweep.par_iter().map_init(Desk::default, one).collect();
        for judged in judged {
            take(judged?);
        }
    }
    Ok(())
}

/// Journals that are read before what they gave is put away.
const SWEEP: usize = 512;
