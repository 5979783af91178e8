//! What `tree`, `context` and `replay` share: a transcript that the user named, loaded as gjc loads it.

use super::console::quoted;
use super::{Console, Failure, Status};
use crate::agent::walk::show;
use crate::fsys::input;
use crate::transcript::Throw;
use crate::transcript::context::answer::LeafName;
use crate::transcript::context::{Values, budget};
use crate::transcript::migrate::{Migrated, Numbered, migrate};
use crate::transcript::trace::{Traced, trace};
use crate::transcript::tree::{Leaf, Tree};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The exit bits of an answer of [`answer`](crate::transcript::answer): nothing came of a file that gjc throws at, or loads
/// nothing of. The latter answers `{"entries":[]}`, as the vectors of `load` and `migrate` have it; of what loads there is
/// always a header.
pub fn status_of(answer: &[u8]) -> Status {
    if answer == br#"{"entries":[]}"# || answer.starts_with(br#"{"throws":"#) { Status::FINDINGS } else { Status::CLEAN }
}

/// Loads a file.
///
/// # Errors
/// The file cannot be read, or gjc loads nothing of it.
pub fn open(file: &Path, console: &Console) -> Result<Traced, Failure> {
    let input = input::open(file).map_err(|error| Failure::at(file, &error))?;
    let traced = trace(input, console.options.gjc).map_err(|error| Failure::at(file, &error))?;
    let traced = traced.map_err(|throw| throws(file, &throw))?;
    if traced.loaded.entries.is_empty() {
        let why = "gjc loads nothing of this file: it does not begin with a session header";
        return Err(Failure::Refused(format!("{}: {why}", file.display())));
    }
    Ok(traced)
}

/// Loads and migrates a file; entries of version 1 get the ids `#0`, `#1`, …
///
/// # Errors
/// The file cannot be read, or gjc does not load it.
pub fn open_migrated(file: &Path, console: &Console) -> Result<(Traced, Migrated), Failure> {
    let mut traced = open(file, console)?;
    let migrated = migrate(&mut traced.loaded, &mut Numbered::default()).map_err(|throw| throws(file, &throw))?;
    Ok((traced, migrated))
}

fn throws(file: &Path, throw: &Throw) -> Failure {
    Failure::Refused(format!("{}: gjc does not load this file, it throws {}: {throw}", file.display(), throw.class()))
}

/// Refuses a leaf that is named and does not exist: gjc would take the last entry in its place, and a person who mistypes an
/// id would read the answer to another question.
///
/// # Errors
/// No entry has the id.
pub fn leaf_is_there(file: &Path, name: &LeafName, tree: &Tree<'_, Values<'_>>, leaf: Leaf) -> Result<(), Failure> {
    match name {
        LeafName::Id(id) if !tree.has(leaf) => {
            let again = quoted(file);
            let hint = format!("`gjc-fsck tree {again}` shows the ids. (gjc would take the last entry)");
            Err(Failure::Usage(format!("{}: no entry has the id `{id}`; {hint}", show(file.as_os_str()))))
        }
        _ => Ok(()),
    }
}

/// The budget that is in force for contexts. A value that gjc would ignore is ignored with a note, as gjc does it.
pub fn budget(console: &Console) -> u64 {
    let Some(text) = console.environment.get(budget::VARIABLE) else { return budget::DEFAULT };
    budget::from_environment(text.as_bytes()).unwrap_or_else(|| {
        console.note(&format!("{} is ignored: it is no number from 1 to {}", budget::VARIABLE, budget::MAX));
        budget::DEFAULT
    })
}
