//! The checks: one room per area of spec 05. Each declares the codes it reports and holds the pass that reports them.
//!
//! Checks look through `transcript`, `agent`, `gc` and `session`; they push findings and never print or exit.

pub mod artifact;
pub mod binding;
pub mod blob;
pub mod breadcrumb;
pub mod context;
pub mod dialect;
pub mod entry;
pub mod header;
pub mod history;
pub mod legacy;
pub mod line;
pub mod listing;
pub mod lock;
pub mod managed;
pub mod migrate;
pub mod migration_receipt;
pub mod operational;
pub mod owner;
pub mod patch;
pub mod quota;
pub mod record;
pub mod replacement_receipt;
pub mod residue;
pub mod retirement_receipt;
pub mod run;
pub mod scope;
pub mod security;
pub mod size;
pub mod tombstone;
pub mod tool_pairing;
pub mod transcript;
pub mod tree;
pub mod verdict;
mod words;

pub use run::run;

use crate::agent::walk::{Listing, Object};
use crate::finding::{Code, Collected, Sink};
use crate::shares;

/// Judges every object of a directory. A large one is shared among all threads; what is found comes in order of the names.
fn each(listing: &Listing, sink: &mut dyn Sink, judge: impl Fn(&Object, &mut dyn Sink) + Sync) {
    let found = shares::of(&listing.objects, |objects| {
        let mut found = Collected::default();
        objects.iter().for_each(|object| judge(object, &mut found));
        found
    });
    for finding in found.into_iter().flat_map(|found| found.findings) {
        sink.push(finding);
    }
}

/// The table of codes, assembled from the rooms that declare them, in the order of spec 05.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    [
        operational::codes::ALL,
        line::codes::ALL,
        header::codes::ALL,
        entry::codes::ALL,
        patch::codes::ALL,
        migrate::codes::ALL,
        tree::codes::ALL,
        context::codes::ALL,
        tool_pairing::codes::ALL,
        blob::codes::ALL,
        size::codes::ALL,
        scope::codes::ALL,
        binding::codes::ALL,
        security::codes::ALL,
        legacy::codes::ALL,
        lock::codes::ALL,
        migration_receipt::codes::ALL,
        replacement_receipt::codes::ALL,
        tombstone::codes::ALL,
        retirement_receipt::codes::ALL,
        owner::codes::ALL,
        quota::codes::ALL,
        listing::codes::ALL,
        breadcrumb::codes::ALL,
        artifact::codes::ALL,
        history::codes::ALL,
        residue::codes::ALL,
        dialect::codes::ALL,
        verdict::codes::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The code with this name, or with this token of gjc.
pub fn code(name: &str) -> Option<&'static Code> {
    codes().find(|code| code.name == name).or_else(|| codes().find(|code| code.token == Some(name)))
}
