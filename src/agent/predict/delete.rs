//! Verified deletion, predicted and never performed (spec 02 §9.6, 02a.9).

use super::deletion::{Deletion, Done, Flow};
use super::open::{consent, prepared};
use super::resume::{lock_is_free, names, stem, targets, with_history};
use super::{Refused, list};
use crate::agent::candidates::{Candidate, Hidden, Provenance};
use crate::agent::layout;
use crate::agent::record::{BigInt, TranscriptIdentity};
use crate::agent::tombstone::Target;
use crate::agent::world::{Scope, World};
use crate::fsys::Refusal;
use crate::json::JsString;
use std::path::PathBuf;

/// gjc's answer to a deletion that it carries out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deleted {
    /// The session is gone; the tombstone is this file.
    Deleted {
        /// The tombstone.
        tombstone: PathBuf,
    },
    /// It was gone already.
    AlreadyDeleted {
        /// The tombstone.
        tombstone: PathBuf,
    },
}

/// Deletes a candidate, in mind. Whatever its tombstone names is deleted: of a migrated pair the v2 file and the legacy one.
///
/// # Errors
/// One of the codes of spec 02 §10.2. The tombstone may have been written by then (02a.9). Preparing comes before anything
/// else, and is refused by any session's unfinished deletion.
pub fn delete(world: &World<'_>, scope: &Scope, candidate: &Candidate) -> Result<Deleted, Refused> {
    let gone = prepared(world, scope, None)?;
    let current = if gone.contains(&candidate.path) {
        Err(Refused::new("source_changed", "preparing deletes the transcript first").at(&candidate.path))
    } else {
        consent(world, candidate)
    };
    let partner = if current.is_ok() { partner(world, scope, candidate) } else { None };
    let tombstone = match (containing(world, scope, candidate)?, &current) {
        (Some(existing), _) => existing,
        (None, Err(refused)) => return Err(refused.clone()),
        (None, Ok(())) => {
            let operation = identity(world, partner.as_ref().unwrap_or(candidate))?.operation();
            scope.protocol(layout::TOMBSTONES).join(format!("{operation}.json"))
        }
    };
    lock_is_free(world, scope, &stem(&tombstone))?;
    let targets = match targets(world, scope, &tombstone)? {
        Some(targets) => targets,
        None => {
            current?;
            if world.fs.present(&tombstone).unwrap_or(true) {
                let why = "what takes the name of the tombstone cannot be read as one of this scope";
                return Err(Refused::new("durability_failed", why).at(tombstone));
            }
            [Some(candidate), partner.as_ref()].into_iter().flatten().map(|candidate| target(world, candidate)).collect::<Result<_, _>>()?
        }
    };
    let names = names(world, scope);
    let mut any = false;
    for target in targets {
        if gone.iter().any(|path| *path.as_os_str() == *target.path.as_js().to_string_lossy()) {
            continue;
        }
        let pending = with_history(world, scope, &names, &tombstone, target);
        let done = Deletion::new(world, scope, &pending, Flow::Direct).go_on();
        any |= done.map_err(|thrown| thrown.while_deleting())? == Done::Deleted;
    }
    Ok(if any { Deleted::Deleted { tombstone } } else { Deleted::AlreadyDeleted { tombstone } })
}

fn identity(world: &World<'_>, candidate: &Candidate) -> Result<TranscriptIdentity, Refused> {
    let changed = |refusal: Refusal| Refused::new("source_changed", refusal.to_string()).at(&candidate.path);
    candidate.identity(world.fs).map_err(changed)
}

/// The legacy partner of a migrated pair: the tombstone is named after it.
fn partner(world: &World<'_>, scope: &Scope, candidate: &Candidate) -> Option<Candidate> {
    let hidden = list(world, scope).ok()?.hidden;
    let shadows =
        |hidden: &Hidden| matches!(hidden, Hidden::Shadowed { by, .. } if *by == candidate.path && candidate.provenance == Provenance::V2);
    hidden.into_iter().find(|(_, hidden)| shadows(hidden)).map(|(legacy, _)| *legacy)
}

/// The tombstone that has this very file among its targets.
fn containing(world: &World<'_>, scope: &Scope, candidate: &Candidate) -> Result<Option<PathBuf>, Refused> {
    let known = candidate.identity(world.fs).ok();
    let path = crate::agent::candidates::path_text(&candidate.path);
    for name in names(world, scope) {
        let tombstone = scope.protocol(layout::TOMBSTONES).join(&*name.to_string_lossy());
        let is_candidate = |target: &Target| {
            // Of a file that is another one by now the content is not known any more: the rest of what was listed counts.
            let listed = known.clone().unwrap_or_else(|| {
                TranscriptIdentity::of(path.clone(), candidate.session_id.clone(), &candidate.meta, target.sha256.to_string())
            });
            target.path == path && target.is_file(&listed)
        };
        if targets(world, scope, &tombstone)?.is_some_and(|targets| targets.iter().any(is_candidate)) {
            return Ok(Some(tombstone));
        }
    }
    Ok(None)
}

/// A candidate as a fresh tombstone names it.
fn target(world: &World<'_>, candidate: &Candidate) -> Result<Target, Refused> {
    let identity = identity(world, candidate)?;
    Ok(Target {
        path: identity.canonical_path.clone(),
        session_id: identity.session_id.clone(),
        cwd: (*candidate.cwd).clone(),
        provenance: candidate.provenance,
        dev: BigInt::Value(identity.dev.into()),
        ino: BigInt::Value(identity.ino.into()),
        size: identity.size as f64,
        mtime_ns: BigInt::Value(identity.mtime_ns),
        mtime_ms: identity.mtime_ms() as f64,
        sha256: JsString::from(identity.sha256.as_str()),
        canonical_path: identity.canonical_path,
        owner_evidence: None,
    })
}
