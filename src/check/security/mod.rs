//! The area *security* of spec 05: owners, modes, ACLs, links (spec 02 §4).
//!
//! What is checked where is the table of spec 02 §4.4. A wrong owner is reported where it begins: an object below a
//! directory of the same wrong owner shares its fault.

pub mod codes;

use super::each;
use super::run::Site;
use super::verdict::codes::ACL_UNAVAILABLE;
use crate::agent::layout::{self, BINDING, INTERNAL, PROTOCOL, RECOVERY};
use crate::agent::residue;
use crate::agent::security::{AclState, AclViolation, ListViolation, Need, Violation, judge_acl, judge_open_acl, violations};
use crate::agent::walk::{Listing, Object, Scope, show};
use crate::finding::{Code, Finding, Place, Sink};
use crate::fsys::{Acl, Kind, Meta, Watched};
use std::collections::BTreeMap;
use std::path::Path;

/// The agent directory, the configured root and the sessions root: drift that the next prepare repairs.
///
/// This is also where a file system without ACLs is named, once a run: everything below lies on it.
pub fn storage_directory(site: &Site<'_>, path: &Path, meta: &Meta, name_unsupported: bool, sink: &mut dyn Sink) {
    let mut sound = true;
    for violation in violations(meta, Need::Directory, site.uid) {
        sound = false;
        match violation {
            Violation::Owner(owner) => wrong_owner(site, path, owner, sink),
            Violation::Mode(mode) => {
                let message = format!("The directory has mode {mode:04o}; gjc wants 0700.");
                sink.push(Finding::new(&codes::AGENT_DIR_MODE_DRIFT, site.place(path), message));
            }
            // Another type is the affair of who looks for the directory.
            _ => {}
        }
    }
    match judge_acl(site.fs, path, Need::Directory) {
        Ok(AclState::Unsupported) if name_unsupported && sound => unsupported(site, path, sink),
        Ok(_) => {}
        Err(Violation::Acl(attribute, AclViolation::Present(_))) => {
            let message = format!("The directory carries `{}`.", attribute.attribute());
            sink.push(Finding::new(&codes::AGENT_DIR_MODE_DRIFT, site.place(path), message));
        }
        // What a start puts right everywhere: only where it refuses is it an error.
        Err(Violation::List(_)) => {
            let message = "The directory carries an access control list that gjc does not want.".to_owned();
            sink.push(Finding::new(&codes::AGENT_DIR_MODE_DRIFT, site.place(path), message));
        }
        Err(violation) => acl(site, path, violation, sink),
    }
}

/// A scope directory: exactly 0700, or all its sessions are unreachable.
pub fn scope_directory(site: &Site<'_>, path: &Path, meta: &Meta, sink: &mut dyn Sink) {
    for violation in violations(meta, Need::Directory, site.uid) {
        match violation {
            Violation::Owner(owner) => wrong_owner(site, path, owner, sink),
            Violation::Mode(mode) => {
                let message = format!("The scope directory has mode {mode:04o}; gjc resolves only 0700.");
                sink.push(Finding::new(&codes::MODE_MISMATCH, site.place(path), message));
            }
            _ => {}
        }
    }
    match judge_acl(site.fs, path, Need::Directory) {
        Ok(AclState::Unsupported) if !site.whole => unsupported(site, path, sink),
        Ok(_) => {}
        Err(violation) => acl(site, path, violation, sink),
    }
}

/// Everything that the protocols keep inside a scope, and its transcripts: links, owners, modes, ACLs, link counts. The
/// binding's own faults are the affair of the binding area, its owner and mode are looked at here. `opened_later` are files of
/// the protocol that are going to be opened: [`open_file`] or [`by_path`] is asked about their ACLs then.
pub fn inside_scope(site: &Site<'_>, scope: &Scope, opened_later: impl Fn(&Listing, &Object) -> bool + Sync, sink: &mut dyn Sink) {
    let directory = &scope.directory;
    let siblings = Siblings::of(directory);
    each(directory, sink, |object, sink| match Role::of(object) {
        Role::Binding => owner_only(site, directory, object, Need::File, sink),
        Role::Transcript => {
            if object.meta.kind == Kind::Symlink {
                link(site, directory, object, sink);
            }
            hard_links(site, directory, &siblings, object, &codes::HARD_LINKED_TRANSCRIPT, sink);
            owner_only(site, directory, object, Need::File, sink);
        }
        Role::ReplacementReceipt => {
            hard_links(site, directory, &siblings, object, &codes::HARD_LINKED_PROTOCOL_FILE, sink);
            owner_only(site, directory, object, Need::File, sink);
        }
        Role::Internal => protocol_directory(site, directory, object, sink),
        Role::Recovery => recovery(site, directory, object, sink),
        Role::Other => plain_directory(site, directory, object, sink),
    });
    if let Some(internal) = &scope.internal {
        for object in &internal.objects {
            if PROTOCOL.iter().any(|name| object.name == *name) {
                protocol_directory(site, internal, object, sink);
            } else {
                plain_directory(site, internal, object, sink);
            }
        }
    }
    for listing in [&scope.locks, &scope.receipts, &scope.tombstones].into_iter().flatten() {
        let siblings = Siblings::of(listing);
        each(listing, sink, |object, sink| {
            match object.meta.kind {
                Kind::Symlink => link(site, listing, object, sink),
                Kind::Directory => plain_directory(site, listing, object, sink),
                _ => {}
            }
            hard_links(site, listing, &siblings, object, &codes::HARD_LINKED_PROTOCOL_FILE, sink);
            if owner_and_mode(site, listing, object, Need::File, sink) && !opened_later(listing, object) {
                by_path(site, &listing.path_of(object), Need::File, sink);
            }
        });
    }
}

/// The ACL of a file of the protocol that is open.
pub fn open_file(site: &Site<'_>, path: &Path, file: &Watched<'_>, sink: &mut dyn Sink) {
    if let Err(violation) = judge_open_acl(site.fs, path, file) {
        acl(site, path, violation, sink);
    }
}

/// The ACL of what stands at a path.
pub fn by_path(site: &Site<'_>, path: &Path, need: Need, sink: &mut dyn Sink) {
    if let Err(violation) = judge_acl(site.fs, path, need) {
        acl(site, path, violation, sink);
    }
}

/// A directory below a scope that no protocol owns (artifact trees): its mode alone is gjc's affair. Protocol directories
/// are turned away, they are judged by [`inside_scope`].
pub fn inside_artifacts(site: &Site<'_>, listing: &Listing, sink: &mut dyn Sink) {
    for object in &listing.objects {
        plain_directory(site, listing, object, sink);
    }
}

/// The transcripts of a directory outside scopes: links and, below a checked agent directory, privacy.
pub fn outside_scope(site: &Site<'_>, listing: &Listing, sink: &mut dyn Sink) {
    let siblings = Siblings::of(listing);
    // A directory may be called anything.
    let named = listing.objects.iter().filter(|o| o.is_transcript_name() && o.meta.kind != Kind::Directory);
    for object in named {
        let path = listing.path_of(object);
        if object.meta.kind == Kind::Symlink {
            let message = format!("The transcript is a symlink to `{}`; it was not followed.", target_of(site, &path));
            sink.push(Finding::new(&codes::SYMLINKED_TRANSCRIPT, site.place(&path), message));
        }
        hard_links(site, listing, &siblings, object, &codes::HARD_LINKED_TRANSCRIPT, sink);
        if site.whole && object.meta.kind == Kind::File && object.meta.permissions() & 0o044 != 0 {
            let message = format!("The transcript has mode {:04o}: others can read it.", object.meta.permissions());
            sink.push(Finding::new(&codes::TRANSCRIPT_PERMISSIONS, site.place(&path), message));
        }
    }
}

fn target_of(site: &Site<'_>, link: &Path) -> String {
    site.fs.read_link(link).map_or_else(|_| "?".to_owned(), |target| show(target.as_os_str()))
}

/// `.gjc-recovery` of the agent directory or of a scope.
pub fn recovery(site: &Site<'_>, listing: &Listing, object: &Object, sink: &mut dyn Sink) {
    let path = listing.path_of(object);
    let wrong = match violations(&object.meta, Need::Directory, site.uid).next() {
        Some(Violation::ReparsePoint) => Some("is a symlink".to_owned()),
        Some(Violation::WrongType(kind)) => Some(format!("is a {}", kind.noun())),
        Some(Violation::Owner(owner)) => Some(format!("belongs to user {owner}, not to {}", site.uid)),
        Some(Violation::Mode(mode)) => Some(format!("has mode {mode:04o}; gjc wants 0700")),
        Some(other) => Some(format!("fails the owner-only check ({})", other.token())),
        None => judge_acl(site.fs, &path, Need::Directory).err().map(|v| format!("fails the owner-only check ({})", v.token())),
    };
    if let Some(wrong) = wrong {
        sink.push(Finding::new(&codes::RECOVERY_DIR_INVALID, site.place(&path), format!("`{RECOVERY}` {wrong}.")));
    }
}

/// A scope, protocol directory or managed file that is a symlink, or a scope that is no directory.
pub fn reparse_point(site: &Site<'_>, path: &Path, kind: Kind, sink: &mut dyn Sink) {
    let message = match kind {
        Kind::Symlink => {
            format!("A symlink to `{}` stands here; it was not followed.", target_of(site, path))
        }
        other => format!("A {} stands where gjc wants a directory.", other.noun()),
    };
    sink.push(Finding::new(&codes::REPARSE_POINT, site.place(path), message));
}

/// What an object of a scope directory is to the owner-only policy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Binding,
    Transcript,
    ReplacementReceipt,
    Internal,
    Recovery,
    Other,
}

impl Role {
    fn of(object: &Object) -> Role {
        match object.bytes() {
            name if name == BINDING.as_bytes() => Role::Binding,
            name if name == INTERNAL.as_bytes() => Role::Internal,
            name if name == RECOVERY.as_bytes() => Role::Recovery,
            name if residue::is_replacement_receipt(name) => Role::ReplacementReceipt,
            // Hidden names that end in `.jsonl` are examined by the listing too.
            name if layout::is_transcript_name(name) => Role::Transcript,
            _ => Role::Other,
        }
    }
}

/// A protocol directory: a real directory, owner-only.
fn protocol_directory(site: &Site<'_>, listing: &Listing, object: &Object, sink: &mut dyn Sink) {
    if object.meta.kind == Kind::Directory {
        owner_only(site, listing, object, Need::Directory, sink);
    } else if object.meta.kind == Kind::Symlink {
        // Another kind has a code of its own.
        reparse_point(site, &listing.path_of(object), object.meta.kind, sink);
    }
}

/// A directory without a role: only its mode. `.gjc-recovery` has a code of its own wherever it stands.
fn plain_directory(site: &Site<'_>, listing: &Listing, object: &Object, sink: &mut dyn Sink) {
    let mode = object.meta.permissions();
    if object.meta.kind == Kind::Directory && mode != 0o700 && object.name != RECOVERY {
        drift(site, &listing.path_of(object), mode, Need::Directory, sink);
    }
}

/// Owner, mode and ACL of an object that the policy covers; another type is not judged here.
fn owner_only(site: &Site<'_>, listing: &Listing, object: &Object, need: Need, sink: &mut dyn Sink) {
    if owner_and_mode(site, listing, object, need, sink) {
        by_path(site, &listing.path_of(object), need, sink);
    }
}

/// Owner and mode of an object that the policy covers. Whether it has the type that the policy demands.
fn owner_and_mode(site: &Site<'_>, listing: &Listing, object: &Object, need: Need, sink: &mut dyn Sink) -> bool {
    let mut typed = true;
    for violation in violations(&object.meta, need, site.uid) {
        match violation {
            Violation::Owner(owner) if owner == listing.meta.uid => {}
            Violation::Owner(owner) => wrong_owner(site, &listing.path_of(object), owner, sink),
            Violation::Mode(mode) => drift(site, &listing.path_of(object), mode, need, sink),
            _ => typed = false,
        }
    }
    typed
}

fn drift(site: &Site<'_>, path: &Path, mode: u32, need: Need, sink: &mut dyn Sink) {
    let message = format!("The mode is {mode:04o}; inside a scope gjc wants {:04o}.", need.mode());
    let mut finding = Finding::new(&codes::DESCENDANT_MODE_DRIFT, site.place(path), message);
    if mode & 0o077 == 0 {
        finding = finding.gjc("no start heals it, because no group or other bit is set; the next append refuses it with `mode_mismatch`");
    }
    sink.push(finding);
}

fn wrong_owner(site: &Site<'_>, path: &Path, owner: u32, sink: &mut dyn Sink) {
    let message = format!("It belongs to user {owner}; the check speaks for user {}.", site.uid);
    sink.push(Finding::new(&codes::OWNER_MISMATCH, site.place(path), message));
}

fn unsupported(site: &Site<'_>, path: &Path, sink: &mut dyn Sink) {
    let message = "The file system cannot store POSIX ACLs; gjc takes that as proof that there are none.";
    sink.push(Finding::new(&codes::ACL_UNSUPPORTED_FS, site.place(path), message));
}

fn acl(site: &Site<'_>, path: &Path, violation: Violation, sink: &mut dyn Sink) {
    let (attribute, wrong) = match violation {
        Violation::Acl(attribute, wrong) => (attribute, wrong),
        Violation::List(wrong) => return access_list(site, path, wrong, sink),
        Violation::ListUnavailable(errno) => {
            let message = format!("The access control list cannot be read ({}).", crate::fsys::errno_name(errno));
            return sink.push(Finding::new(&ACL_UNAVAILABLE, site.place(path), message));
        }
        _ => return,
    };
    let (code, what): (&'static Code, String) = match wrong {
        AclViolation::Present(length) => (&codes::ACL_PRESENT, format!("is there ({length} bytes)")),
        AclViolation::Malformed => (&codes::ACL_MALFORMED, "is there and empty".into()),
        AclViolation::Denied(errno) => (&codes::ACL_DENIED, format!("may not be asked for ({})", crate::fsys::errno_name(errno))),
        AclViolation::Io => (&codes::ACL_IO_ERROR, "cannot be read (EIO)".into()),
        // An object that vanished between two looks is no statement about ACLs.
        AclViolation::Unknown(crate::fsys::Errno::NOENT) => {
            super::operational::changed(site, path, "it vanished before its ACL was asked for", sink);
            return;
        }
        AclViolation::Unknown(errno) => (&codes::ACL_UNKNOWN, format!("cannot be judged ({})", crate::fsys::errno_name(errno))),
    };
    let which = match attribute {
        Acl::Access => "access",
        Acl::Default => "default",
    };
    sink.push(Finding::new(code, site.place(path), format!("The {which} ACL `{}` {what}.", attribute.attribute())));
}

/// An access control list of macOS or Windows that gjc's native check refuses.
fn access_list(site: &Site<'_>, path: &Path, wrong: ListViolation, sink: &mut dyn Sink) {
    let message = match wrong {
        ListViolation::Entries(1) => "The object carries an extended ACL of one entry.".to_owned(),
        ListViolation::Entries(count) => format!("The object carries an extended ACL of {count} entries."),
        ListViolation::ForeignPrincipal => "The DACL names somebody else than the user.".to_owned(),
        ListViolation::OldShape => {
            "The DACL names the user only, but in another shape than gjc writes; the next write repairs it.".to_owned()
        }
    };
    sink.push(Finding::new(&codes::ACL_VERIFY_FAILED, site.place(path), message));
}

fn link(site: &Site<'_>, listing: &Listing, object: &Object, sink: &mut dyn Sink) {
    reparse_point(site, &listing.path_of(object), object.meta.kind, sink);
}

/// Which names of a directory stand for one file: asked once a directory, so that many links cost no more than many files.
pub struct Siblings<'a> {
    names: BTreeMap<(u64, u64), Vec<&'a Object>>,
}

impl<'a> Siblings<'a> {
    /// Collects the files with more than one link.
    pub fn of(listing: &'a Listing) -> Self {
        let mut names: BTreeMap<_, Vec<&Object>> = BTreeMap::new();
        for object in listing.objects.iter().filter(|o| o.meta.kind == Kind::File && o.meta.nlink > 1) {
            names.entry(object.meta.object()).or_default().push(object);
        }
        Siblings { names }
    }
}

/// A file with more than one link; other names in the same directory are given, a few of them.
pub fn hard_links(site: &Site<'_>, listing: &Listing, siblings: &Siblings<'_>, object: &Object, code: &'static Code, sink: &mut dyn Sink) {
    const SHOWN: usize = 8;
    if object.meta.kind != Kind::File || object.meta.nlink <= 1 {
        return;
    }
    let message = format!("The file has {} links; gjc reads only files with one.", object.meta.nlink);
    let mut finding = Finding::new(code, site.place(&listing.path_of(object)), message);
    let same = siblings.names.get(&object.meta.object()).map(Vec::as_slice).unwrap_or_default();
    for sibling in same.iter().take(SHOWN + 1).filter(|sibling| sibling.name != object.name) {
        let note = match residue::parse(sibling.bytes()) {
            Some(_) => "surplus name, left by an interrupted write",
            None => "another name of the same file",
        };
        finding = finding.related(note, Place { path: site.name(&listing.path_of(sibling)), ..Place::default() });
    }
    sink.push(finding);
}
