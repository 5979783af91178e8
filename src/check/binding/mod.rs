//! The area *binding* of spec 05: the binding file of a scope (spec 02 §3).

pub mod codes;

use super::operational;
use super::run::Site;
use super::security;
use crate::agent::binding::{self, Binding, Fault};
use crate::agent::layout::BINDING;
use crate::agent::walk::{Scope, show};
use crate::finding::{Finding, Sink};
use crate::fsys::{Errno, Kind, Refusal};

/// Judges the binding of a scope, and answers it when gjc would take it.
pub fn judge(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) -> Option<Binding> {
    let directory = &scope.directory;
    let path = directory.path.join(BINDING);
    let Some(object) = directory.get(BINDING) else {
        // A listing that is not whole does not prove that the binding is missing.
        if directory.is_complete() {
            let message = "The scope has no binding file.";
            sink.push(Finding::new(&codes::BINDING_MISSING, site.place(&directory.path), message));
        }
        return None;
    };
    match object.meta.kind {
        Kind::Symlink => security::reparse_point(site, &path, Kind::Symlink, sink),
        Kind::File if object.meta.nlink > 1 => {
            let siblings = security::Siblings::of(directory);
            security::hard_links(site, directory, &siblings, object, &security::codes::HARD_LINKED_PROTOCOL_FILE, sink);
        }
        // Named by the operational area, with every other special file of the scope.
        Kind::Fifo | Kind::Socket | Kind::Device => {}
        Kind::Directory => {
            invalid(site, scope, 1, "A directory stands where the binding file belongs.", sink);
        }
        Kind::File => return judge_file(site, scope, sink),
    }
    None
}

fn judge_file(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) -> Option<Binding> {
    let path = scope.directory.path.join(BINDING);
    let mut read = binding::read(site.fs, &scope.directory.path);
    if matches!(&read, Ok(None)) || matches!(&read, Err(Fault::Capture(refusal)) if refusal.is_transient()) {
        read = binding::read(site.fs, &scope.directory.path);
    }
    let name = scope.directory.path.file_name().unwrap_or_default();
    let fault = match read {
        Ok(None) => {
            operational::changed(site, &path, "it vanished while the scope was read", sink);
            return None;
        }
        Ok(Some(binding)) => match binding.belongs_in(name.as_encoded_bytes()) {
            Ok(()) => return Some(binding),
            Err(Fault::Conflict(fields)) => {
                conflict(site, scope, &binding, &fields, sink);
                return None;
            }
            Err(fault) => fault,
        },
        Err(fault) => fault,
    };
    match fault {
        Fault::Capture(Refusal::Failed(error)) if error.errno == Errno::LOOP => {
            operational::changed(site, &path, "a link took its place while the scope was read", sink);
        }
        Fault::Capture(Refusal::Failed(error)) => operational::unreadable(site, &error, sink),
        Fault::Capture(refusal) if refusal.is_transient() => operational::changed(site, &path, "it changed while it was read", sink),
        Fault::Capture(refusal) => invalid(site, scope, 1, &format!("The file {refusal}."), sink),
        Fault::NotJson => invalid(site, scope, 2, "The file is not one JSON text in UTF-8.", sink),
        Fault::Shape("not an object") => invalid(site, scope, 3, "The file is JSON, but not an object.", sink),
        Fault::Shape(field) => invalid(site, scope, 3, &format!("`{field}` is missing or wrong."), sink),
        Fault::Conflict(_) => invalid(site, scope, 4, "The text belongs to another workspace.", sink),
        Fault::NotCanonical(difference) => {
            let what = format!("The text says the right things but is not byte for byte what gjc writes: {difference}.");
            invalid(site, scope, 5, &what, sink);
        }
    }
    None
}

fn invalid(site: &Site<'_>, scope: &Scope, step: u8, what: &str, sink: &mut dyn Sink) {
    let place = site.place(&scope.directory.path.join(BINDING));
    sink.push(Finding::new(&codes::BINDING_INVALID, place, format!("{what} (Binding check, step {step} of 5.)")));
}

fn conflict(site: &Site<'_>, scope: &Scope, binding: &Binding, fields: &[&str], sink: &mut dyn Sink) {
    let named = String::from_utf8_lossy(&binding.canonical_path).into_owned();
    let expected = binding.identity().map_or_else(|| "none".to_owned(), |i| i.directory_name());
    let directory = scope.directory.path.file_name().map(show).unwrap_or_default();
    let message = format!(
        "The binding names workspace `{named}`, whose scope is `{expected}`; it bears digest `{}` and lies in `{directory}` ({} differs).",
        binding.identity_digest,
        fields.join(" and "),
    );
    sink.push(Finding::new(&codes::BINDING_CONFLICT, site.place(&scope.directory.path.join(BINDING)), message));
}
