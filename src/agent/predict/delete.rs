//! Verified deletion, predicted and never performed (spec 02 §9.6, 02a.9).

use super::open::prepared;
use super::resume::lock_blocks;
use super::{Refused, list};
use crate::agent::artifacts;
use crate::agent::candidates::{Candidate, Hidden, Provenance};
use crate::agent::layout;
use crate::agent::world::{Scope, World};
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

/// Deletes a candidate, in mind.
///
/// # Errors
/// One of the codes of spec 02 §10.2. The tombstone may have been written by then (02a.9).
pub fn delete(world: &World<'_>, scope: &Scope, candidate: &Candidate) -> Result<Deleted, Refused> {
    super::open::consent(world, candidate)?;
    let gone = prepared(world, scope, candidate)?;
    let listing = list(world, scope).map_err(|error| Refused::new("binding_invalid", error.to_string()))?;
    // The logical candidate: the legacy partner of a migrated pair, else the candidate itself.
    let partner = listing.hidden.iter().find_map(|(legacy, hidden)| match hidden {
        Hidden::Shadowed { by, .. } if *by == candidate.path && candidate.provenance == Provenance::V2 => Some(&**legacy),
        _ => None,
    });
    let identity = partner
        .unwrap_or(candidate)
        .identity(world.fs)
        .map_err(|refusal| Refused::new("source_changed", refusal.to_string()).at(&candidate.path))?;
    let operation = identity.operation();
    let tombstone = scope.protocol(layout::TOMBSTONES).join(format!("{operation}.json"));
    if gone.contains(&candidate.path) {
        return Ok(Deleted::AlreadyDeleted { tombstone });
    }
    let lock = scope.protocol(layout::LOCKS).join(format!("{operation}.lock"));
    if let Some(why) = lock_blocks(world, &lock) {
        return Err(Refused::new("migration_busy", why).at(lock));
    }
    for target in std::iter::once(candidate).chain(partner) {
        artifacts::survey(world.fs, &target.artifacts())
            .map_err(|fault| Refused::new(fault.code(), format!("{fault} (the tombstone is written by then)")).at(target.artifacts()))?;
        if target.meta.nlink > 1 {
            return Err(Refused::new("source_changed", "the transcript has more than one link").at(&target.path));
        }
    }
    Ok(Deleted::Deleted { tombstone })
}
