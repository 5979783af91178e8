//! What gjc's operations on the workspace of a tree answer: the words that no check of the tree prints, because only resolving,
//! listing, preparing, opening, deleting or collecting gives them. They are predicted ([`crate::agent::predict`], [`crate::gc`]);
//! nothing of the tree is written.

use super::recipe::WORKSPACE;
use crate::agent::candidates::{Candidate, Provenance};
use crate::agent::predict::{self, Deleted, Listing, Policy, Refused};
use crate::agent::world::{Scope, World};
use crate::finding::Difference;
use crate::gc::inspector::{self, Answer};
use crate::session::discovery::saved::saved;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An operation, with the session that it is about (`resolve`, `open s1`), and gjc's answer: a word where it carries it out, its
/// own token where it refuses.
pub type Operations = BTreeMap<String, String>;

/// Session ids that are asked about at most.
const MOST: usize = 8;
/// The session of the clean base. It is asked about, found or not.
const SESSION: &str = "s1";

/// Asks about the workspace of the clean base, and about every session that a listing of it shows.
pub fn of(world: &World<'_>) -> Operations {
    let cwd = Path::new(WORKSPACE);
    let mut told = Operations::new();
    // Of several sessions with one id gjc takes the first.
    let mut tell = |operation: String, answer: String| _ = told.entry(operation).or_insert(answer);
    tell("prepare".to_owned(), answer(predict::prepare(world, cwd), |_| "prepares"));
    tell("reconcile".to_owned(), answer(predict::reconcile(world, cwd), |_| "reconciles"));
    if Difference::Retirement.in_effect(world.release) {
        let inspected = match inspector::inspect(world, None).answer {
            Answer::Accepts => "accepts".to_owned(),
            Answer::Refuses { message, .. } => message,
            Answer::Unknown { .. } => "unknown".to_owned(),
        };
        tell("inspect".to_owned(), inspected);
    }
    let scope = predict::resolve(world, cwd);
    let listing = scope.as_ref().ok().map(|scope| predict::list(world, scope).map_err(Refused::from));
    let mut ids = BTreeSet::from([SESSION.to_owned()]);
    if let (Ok(scope), Some(Ok(listing))) = (&scope, &listing) {
        ids.extend(sessions(listing));
        for (id, candidate) in candidates(listing) {
            on(world, scope, &id, candidate, &mut tell);
        }
    }
    if Difference::SavedSessionOmission.in_effect(world.release) {
        for id in ids.iter().take(MOST) {
            let omission = saved(world, id, cwd).saved_session_omission;
            let said = omission.map_or("the session".to_owned(), |omission| match omission.detail_code {
                Some(detail) => format!("{}: {detail}", omission.reason),
                None => omission.reason.to_owned(),
            });
            tell(format!("session.list {id}"), said);
        }
    }
    tell("resolve".to_owned(), answer(scope, |_| "resolves"));
    if let Some(listing) = listing {
        tell("list".to_owned(), answer(listing, |_| "lists"));
    }
    told
}

/// gjc's token when it refuses.
fn answer<T>(result: Result<T, Refused>, done: impl FnOnce(T) -> &'static str) -> String {
    result.map_or_else(|refused| refused.code.to_owned(), |value| done(value).to_owned())
}

/// The ids of a listing, whatever became of their files.
fn sessions(listing: &Listing) -> impl Iterator<Item = String> + '_ {
    let listed = listing.owned.iter().map(|listed| listed.candidate.session_id.to_string());
    let invalid = listing.invalid.iter().filter_map(|invalid| invalid.session_id.as_ref()).map(ToString::to_string);
    listed.chain(invalid)
}

/// What can be opened or deleted: what is listed, then what was there and is hidden.
fn candidates(listing: &Listing) -> impl Iterator<Item = (String, &Candidate)> {
    let listed = listing.owned.iter().map(|listed| (listed.candidate.session_id.to_string(), &*listed.candidate));
    let hidden = listing.hidden.iter().map(|(candidate, _)| (format!("{} (hidden)", candidate.session_id), &**candidate));
    listed.chain(hidden).take(MOST)
}

fn on(world: &World<'_>, scope: &Scope, id: &str, candidate: &Candidate, tell: &mut impl FnMut(String, String)) {
    let opened = |policy| answer(predict::open(world, scope, candidate, policy), |opened| if opened.migrated { "copies" } else { "opens" });
    tell(format!("open {id}"), opened(Policy::CopyRetain));
    if candidate.provenance == Provenance::Legacy {
        tell(format!("open {id}, migration disabled"), opened(Policy::Disabled));
    }
    let deleted = predict::delete(world, scope, candidate);
    tell(
        format!("delete {id}"),
        answer(deleted, |deleted| match deleted {
            Deleted::Deleted { .. } => "deletes",
            Deleted::AlreadyDeleted { .. } => "was deleted",
        }),
    );
}
