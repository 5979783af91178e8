//! The area *scope* of spec 05: the sessions root, the names in it, and the workspaces behind the scopes.

pub mod codes;

use super::binding;
use super::run::Site;
use crate::agent::binding::Binding;
use crate::agent::identity::{self, NoIdentity, Platform};
use crate::agent::layout::{SessionsName, sessions_name};
use crate::agent::security::{self, Need, Violation};
use crate::agent::walk::Scope;
use crate::finding::{Finding, Sink};
use crate::fsys::{Error, Kind};
use std::collections::BTreeSet;
use std::path::Path;

/// The sessions root is there and is no real directory.
pub fn sessions_root_of_wrong_kind(site: &Site<'_>, path: &Path, kind: Kind, sink: &mut dyn Sink) {
    let message = format!("The sessions root is a {}; gjc wants a real directory.", kind.noun());
    sink.push(Finding::new(&codes::SESSIONS_ROOT_UNAVAILABLE, site.place(path), message));
}

/// The sessions root, or the agent directory above it, could not be looked at.
pub fn sessions_root_unavailable(site: &Site<'_>, path: &Path, error: &Error, sink: &mut dyn Sink) {
    let message = format!("The sessions root is not available: {} answers {}.", error.op, error.token());
    sink.push(Finding::new(&codes::SESSIONS_ROOT_UNAVAILABLE, site.place(path), message));
}

/// A directory of the sessions root whose name belongs to no workspace. `workspaces` are the header cwds of what is in it.
pub fn directory_name(site: &Site<'_>, path: &Path, workspaces: &BTreeSet<&str>, sink: &mut dyn Sink) {
    let name = path.file_name().unwrap_or_default();
    match sessions_name(name.as_encoded_bytes()) {
        SessionsName::MalformedScope { blocks_owners } => {
            let why = if blocks_owners {
                "The name begins like a scope's and is not `v2-` and 52 characters of `[a-z2-7]`"
            } else {
                "The name looks like a scope's, but the digest of no workspace ends so: the last character is `a` or `q`"
            };
            let finding = Finding::new(&codes::SCOPE_NAME_MALFORMED, site.place(path), format!("{why}; {}.", held(workspaces)));
            sink.push(match binding::proper_name(site, path) {
                Some((name, false)) => finding.help(format!("It is a scope that was renamed: with gjc stopped, rename it to `{name}`.")),
                Some((name, true)) => finding.help(format!(
                    "It is a copy of the scope `{name}`, which is there too. With gjc stopped, put the transcripts that only the copy has beside \
                     those of the other, with their artifact directories, then move the copy out of `sessions` and keep it."
                )),
                None => finding,
            });
        }
        SessionsName::Unknown => {
            let message = format!("No managed listing visits a directory of this name; {}.", held(workspaces));
            sink.push(Finding::new(&codes::UNKNOWN_SCOPE_DIR, site.place(path), message));
        }
        SessionsName::Scope | SessionsName::Legacy | SessionsName::Reserved => {}
    }
}

/// Whose transcripts lie in a directory.
fn held(workspaces: &BTreeSet<&str>) -> String {
    match workspaces.len() {
        0 => "no transcript with a workspace is in it".to_owned(),
        n => {
            let shown: Vec<&str> = workspaces.iter().take(3).copied().collect();
            format!("its transcripts belong to {}{}", shown.join(", "), if n > shown.len() { ", …" } else { "" })
        }
    }
}

/// The workspace that a sound binding names: whether it is here, and what its absence means for retirement receipts.
pub fn workspace(site: &Site<'_>, scope: &Scope, binding: &Binding, sink: &mut dyn Sink) {
    let Some(identity) = binding.identity() else { return };
    let place = || site.place(&scope.directory.path);
    let path = &identity.canonical_path;
    let absence = match identity.platform {
        Platform::Win32 if path.starts_with(r"\\?\UNC\") || (path.starts_with(r"\\") && !path.starts_with(r"\\?\")) => {
            let message = format!("The binding names the network path `{path}`.");
            sink.push(Finding::new(&codes::NETWORK_UNSUPPORTED, place(), message));
            return;
        }
        // What a Windows workspace is cannot be asked here.
        Platform::Win32 if !cfg!(windows) => Some(NoIdentity::NotFound),
        _ => identity::posix(site.fs, Path::new("/"), Path::new(path)).err(),
    };
    let Some(absence) = absence else { return retirement_authority(site, scope, sink) };
    // The workspaces of a copy exist where it came from: nobody asked for them here.
    if site.assumed_root.is_some() {
        return;
    }
    let message = format!("The workspace `{path}` does not resolve to a directory here ({}).", absence.scope_error());
    sink.push(Finding::new(&codes::WORKSPACE_MISSING, place(), message));
    if holds_retirement_receipts(scope) {
        let message = format!("The scope holds retirement receipts and its workspace `{path}` does not exist here.");
        sink.push(Finding::new(&codes::MANAGED_GC_SCOPE_AUTHORITY_MISMATCH, place(), message));
    }
}

fn holds_retirement_receipts(scope: &Scope) -> bool {
    scope.receipts.iter().flat_map(|receipts| &receipts.objects).any(|object| object.bytes().starts_with(b"gc-retirement-"))
}

/// The directories on the way to the retirement receipts of a scope are owner-only, or their discovery refuses (spec 03 §13).
/// Without such receipts nothing is lost by that, and the modes have codes of their own.
fn retirement_authority(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) {
    if !holds_retirement_receipts(scope) {
        return;
    }
    let above = scope.directory.path.ancestors().skip(1).take(2).map(Path::to_owned);
    let receipts = scope.receipts.iter().map(|receipts| receipts.path.clone());
    for directory in above.chain(receipts) {
        if let Err(violation) = security::verify(site.fs, &directory, Need::Directory, site.uid) {
            if matches!(violation, Violation::NotFound | Violation::Identity) {
                return super::operational::changed(site, &directory, "it vanished or was replaced while its scopes were read", sink);
            }
            let message = format!(
                "The scope holds retirement receipts and `{}` is no owner-only directory ({}): their discovery refuses the whole profile.",
                site.name(&directory),
                violation.token()
            );
            return sink.push(Finding::new(&codes::MANAGED_GC_SCOPE_AUTHORITY_MISMATCH, site.place(&scope.directory.path), message));
        }
    }
}
