//! What the protocol inspector asks of a protocol directory and of every entry in its three roles, whatever the entry is for
//! (spec 02 §9.8, 03 §16).
//!
//! The inspector ends at the first object that it refuses; the registry has a code for each kind of object and none for the
//! inspection as a whole. So the check reports every object that is refused, each under its own code, whose verdict says that
//! the inspector refuses; which of them gjc would name first, and that nothing is collected then, is the answer of `gc` and `why`.

use super::codes;
use crate::agent::layout::{INTERNAL, PROTOCOL};
use crate::agent::security::{Need, Violation, violations};
use crate::agent::walk::{Listing, Object, Scope, show};
use crate::check::each;
use crate::check::run::Site;
use crate::finding::{Difference, Finding, Sink};
use crate::fsys::Kind;
use crate::gc::names::PREFIX;
use memchr::memmem::Finder;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// Judges the protocol directory of a scope. `told` are objects, as findings spell them, of which a code says already that the
/// inspector refuses them.
pub fn check(site: &Site<'_>, scope: &Scope, told: &BTreeSet<String>, sink: &mut dyn Sink) {
    if let Some(object) = scope.directory.get(INTERNAL) {
        directory(site, &scope.directory, object, sink);
    }
    if let Some(internal) = &scope.internal {
        for object in internal.objects.iter().filter(|object| is_role(object)) {
            directory(site, internal, object, sink);
        }
        if Difference::Retirement.in_effect(site.release) {
            roles(site, internal, sink);
        }
    }
    if Difference::Retirement.in_effect(site.release) {
        for role in [&scope.locks, &scope.receipts, &scope.tombstones].into_iter().flatten() {
            each(role, sink, |object, sink| entry(site, role, object, told, sink));
        }
    }
}

fn is_role(object: &Object) -> bool {
    PROTOCOL.iter().any(|role| object.name == *role)
}

/// Something else than a directory; a symlink has a code of its own.
fn directory(site: &Site<'_>, parent: &Listing, object: &Object, sink: &mut dyn Sink) {
    if !matches!(object.meta.kind, Kind::Directory | Kind::Symlink) {
        let message = format!("A {} stands in the place of this directory.", object.meta.kind.noun());
        sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_DIRECTORY_INVALID, site.place(&parent.path_of(object)), message));
    }
}

/// The children of a protocol directory are exactly the three roles.
fn roles(site: &Site<'_>, internal: &Listing, sink: &mut dyn Sink) {
    let missing = PROTOCOL.iter().filter(|role| internal.get(role).is_none()).map(|role| format!("`{role}` is missing"));
    let others = internal.objects.iter().filter(|object| !is_role(object));
    let extra = others.map(|object| format!("`{}` does not belong there", show(&object.name)));
    let wrong: Vec<String> = missing.chain(extra).collect();
    // A name that could not be looked at may be the missing one.
    if wrong.is_empty() || !internal.is_complete() {
        return;
    }
    let mut message = wrong.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if wrong.len() > 5 {
        message.push_str(&format!(", and {} more", wrong.len() - 5));
    }
    sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_ROLES_INVALID, site.place(&internal.path), format!("In it {message}.")));
}

/// What no name of an entry has in it.
static TRANSCRIPT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(".jsonl"));

/// One entry of a role.
fn entry(site: &Site<'_>, role: &Listing, object: &Object, told: &BTreeSet<String>, sink: &mut dyn Sink) {
    if TRANSCRIPT.find(object.bytes()).is_some() {
        let message = "The name is that of a transcript, or of something beside one.";
        sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_ENTRY_INVALID, site.place(&role.path_of(object)), message));
        return;
    }
    // A retirement receipt that is no file is told with its journal.
    let is_journal = object.bytes().starts_with(PREFIX.as_bytes()) && role.path.ends_with(Path::new(crate::agent::layout::RECEIPTS));
    let wrong = match violations(&object.meta, Need::File, site.uid).next() {
        Some(Violation::ReparsePoint | Violation::WrongType(_)) if is_journal => None,
        Some(Violation::ReparsePoint) => Some("is a symlink".to_owned()),
        Some(Violation::WrongType(kind)) => Some(format!("is a {}", kind.noun())),
        // A wrong owner is told where it begins.
        Some(Violation::Owner(owner)) if owner != role.meta.uid => Some(format!("belongs to user {owner}, not to {}", site.uid)),
        Some(Violation::Mode(mode)) => Some(format!("has mode {mode:04o} and not 0600")),
        _ => None,
    };
    let Some(wrong) = wrong else { return };
    let path = role.path_of(object);
    if !told.contains(&*site.name(&path)) {
        sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_FILE_INVALID, site.place(&path), format!("The entry {wrong}.")));
    }
}
