//! The area *operational* of spec 05: what could not be read or judged, and what moved while we looked.

pub mod codes;

use super::run::Site;
use crate::agent::walk::{Listing, Object, Trouble, show};
use crate::finding::{Finding, Sink};
use crate::fsys::{Errno, Error, Kind};
use std::path::Path;

/// What went wrong while a directory was read.
pub fn trouble(site: &Site<'_>, trouble: &Trouble, sink: &mut dyn Sink) {
    match trouble {
        Trouble::Failed(error) => unreadable(site, error, sink),
        Trouble::Changed(path) => changed(site, path, "the directory changed while it was read, twice", sink),
        Trouble::Limit(what, path) => {
            let message = format!("The limit of this run for {what} ended before everything was read.");
            sink.push(Finding::new(&codes::CHECK_INCOMPLETE, site.place(path), message));
        }
    }
}

/// An object that could not be opened or read, so that nothing is claimed about it. When it is this process that has no
/// descriptor or memory left, that is a limit of the run and no fault of the object.
pub fn unreadable(site: &Site<'_>, error: &Error, sink: &mut dyn Sink) {
    if is_exhaustion(error) {
        let message = format!("Not judged: {} answers {}, a limit of this run.", error.op, error.token());
        sink.push(Finding::new(&codes::CHECK_INCOMPLETE, site.place(&error.path), message));
        return;
    }
    let message = format!("Not judged: {} answers {}.", error.op, error.token());
    sink.push(Finding::new(&codes::OBJECT_UNREADABLE, site.place(&error.path), message));
}

/// Whether an error says that this process, or this machine, has nothing left to open files with.
pub fn is_exhaustion(error: &Error) -> bool {
    matches!(error.errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
}

/// An object other than a transcript that moved under the check.
pub fn changed(site: &Site<'_>, path: &Path, how: &str, sink: &mut dyn Sink) {
    sink.push(Finding::new(&codes::CONCURRENT_CHANGE, site.place(path), format!("Not judged: {how}.")));
}

/// A FIFO, socket or device where gjc expects a file or a directory.
pub fn special(site: &Site<'_>, path: &Path, kind: Kind, sink: &mut dyn Sink) {
    let message = format!("A {} stands here; it was not opened.", kind.noun());
    sink.push(Finding::new(&codes::SPECIAL_FILE, site.place(path), message));
}

/// Names that are not UTF-8, and special files that no other area claims (`claimed`).
pub fn names(site: &Site<'_>, listing: &Listing, claimed: impl Fn(&Object) -> bool, sink: &mut dyn Sink) {
    for object in &listing.objects {
        if std::str::from_utf8(object.bytes()).is_err() {
            let message = format!("The name `{}` is not valid UTF-8.", show(&object.name));
            sink.push(Finding::new(&codes::NAME_NOT_UTF8, site.place(&listing.path_of(object)), message));
        }
        if object.meta.kind.is_special() && !claimed(object) {
            special(site, &listing.path_of(object), object.meta.kind, sink);
        }
    }
}
