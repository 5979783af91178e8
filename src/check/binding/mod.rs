//! The area *binding* of spec 05: the binding file of a scope (spec 02 §3).

pub mod codes;

use super::operational;
use super::run::Site;
use super::security;
use crate::agent::binding::{self, Binding, Fault};
use crate::agent::candidates::{Candidate, Provenance};
use crate::agent::layout::BINDING;
use crate::agent::walk::{Scope, show};
use crate::finding::{Finding, Sink};
use crate::fsys::{Errno, Kind, Refusal};
use crate::json::JsString;
use std::path::Path;

/// Transcripts of a scope that are asked which workspace they belong to.
const TRANSCRIPTS: usize = 16;

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
    let expected = binding.identity().map(|identity| identity.directory_name());
    let directory = scope.directory.path.file_name().map(show).unwrap_or_default();
    let message = format!(
        "The binding names workspace `{named}`, whose scope is `{}`; it bears digest `{}` and lies in `{directory}` ({} differs).",
        expected.as_deref().unwrap_or("none"),
        binding.identity_digest,
        fields.join(" and "),
    );
    let finding = Finding::new(&codes::BINDING_CONFLICT, site.place(&scope.directory.path.join(BINDING)), message);
    sink.push(match stranger(site, scope, &directory, expected.as_deref()) {
        Stranger::Binding(workspace) => {
            let workspace = workspace.unwrap_or(named);
            let finding = finding.gjc(format!(
                "gjc refuses the workspace `{workspace}`, whose scope this is. 0.17's garbage collection refuses the whole profile."
            ));
            finding.help(format!(
                "Leave the directory and its transcripts where they are: only the binding file is wrong. With gjc stopped, restore it from a \
                 backup, or write it anew: `gjc-fsck scope --canonical {workspace}` prints the exact text behind `binding`, and one line \
                 feed ends it."
            ))
        }
        Stranger::Directory { name, is_taken: false } => finding.gjc(elsewhere(&named, &name)).help(format!(
            "The directory was renamed, or copied from elsewhere, and nothing has its proper name. With gjc stopped, rename it to `{name}`. \
             Do not edit the binding."
        )),
        Stranger::Directory { name, is_taken: true } => finding.gjc(elsewhere(&named, &name)).help(format!(
            "This is a copy: `{name}` is there too. Never move one into the other as a whole. With gjc stopped, put the transcripts that only \
             this one has beside those of the other, with their artifact directories, then move this directory out of `sessions` and keep it."
        )),
        Stranger::Unknown => finding,
    });
}

fn elsewhere(workspace: &str, name: &str) -> String {
    format!(
        "gjc looks for the sessions of `{workspace}` in `{name}` and never here: these are out of its reach. 0.17's garbage collection \
         refuses the whole profile."
    )
}

/// What does not belong where a scope's name and its binding contradict each other.
enum Stranger {
    /// The binding: the transcripts belong to the workspace (told when it is not the binding's) that the directory is named after.
    Binding(Option<String>),
    /// The directory: its proper name, and whether something has that.
    Directory { name: String, is_taken: bool },
    /// Nobody can say.
    Unknown,
}

/// The name that a directory should have by the workspace that its binding names, and whether something beside it has that; none when
/// no sound binding is in it, or nobody can look.
pub fn proper_name(site: &Site<'_>, directory: &Path) -> Option<(String, bool)> {
    let binding = binding::read(site.fs, directory).ok()??;
    let name = binding.identity()?.directory_name();
    binding.belongs_in(name.as_bytes()).ok()?;
    let is_taken = site.fs.present(&directory.parent()?.join(&name)).ok()?;
    Some((name, is_taken))
}

fn stranger(site: &Site<'_>, scope: &Scope, directory: &str, expected: Option<&str>) -> Stranger {
    if expected == Some(directory) {
        return Stranger::Binding(None);
    }
    let belongs_here = |cwd: &JsString| {
        let cwd = cwd.as_js().to_string_lossy();
        site.workspace(Path::new(&*cwd)).ok().filter(|identity| identity.directory_name() == directory)
    };
    // One transcript tells: gjc keeps those of other workspaces elsewhere.
    let transcripts = scope.transcripts().filter(|object| object.meta.kind == Kind::File).take(TRANSCRIPTS);
    let headers = transcripts.filter_map(|object| Candidate::read(site.fs, &scope.directory.path_of(object), Provenance::V2).ok());
    if let Some(identity) = headers.filter_map(|transcript| belongs_here(&transcript.cwd)).next() {
        return Stranger::Binding(Some(identity.canonical_path));
    }
    let (Some(name), Some(sessions)) = (expected, scope.directory.path.parent()) else { return Stranger::Unknown };
    match site.fs.present(&sessions.join(name)) {
        Ok(is_taken) => Stranger::Directory { name: name.to_owned(), is_taken },
        Err(_) => Stranger::Unknown,
    }
}
