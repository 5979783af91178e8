//! Preparing a scope for writing: the synchronous way of a new session and the asynchronous way of an existing one
//! (spec 02 §4.4 to §4.7, §8.4; 02a.4 to 02a.8, 02a.14).

use super::resume;
use super::{Refused, Stage, resolve_for_write};
use crate::agent::budget::{Budget, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_RECEIPT_BYTES};
use crate::agent::candidates::{RECORD_CEILING, parse};
use crate::agent::layout;
use crate::agent::replacement_receipt::{self, NAME_LIMIT, READ_LIMIT};
use crate::agent::residue::{self, Inode, Residue};
use crate::agent::security::{self, Need};
use crate::agent::walk;
use crate::agent::world::{Scope, World};
use crate::finding::{Difference, Release};
use crate::fsys::{Bound, Captured, Errno, Fs, Kind, Meta, capture};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Resolves for writing, then the synchronous prepare: a start with a new session.
///
/// # Errors
/// gjc's refusal, with `diagnostic` when the prepare itself refuses.
pub fn prepare(world: &World<'_>, cwd: &Path) -> Result<Scope, Refused> {
    let scope = resolve_for_write(world, cwd)?;
    let stop = |diagnostic, code, path: &Path, detail: String| {
        let mut refused = Refused::new(code, detail).at(path).classified(Stage::Prepare, Some(code));
        refused.diagnostic = Some(diagnostic);
        refused
    };
    let owned = |diagnostic, path: &Path| owned_directory(world, path).map_err(|detail| stop(diagnostic, "binding_invalid", path, detail));
    owned("prepare:root_authority", &chain_end(world, scope.configured_root()))?;
    owned("prepare:sessions_root", &scope.sessions_root)?;
    owned("prepare:scope_directory", &scope.directory)?;
    let recovery = scope.configured_root().join(layout::RECOVERY);
    recovery_directory(world, &recovery).map_err(|detail| stop("prepare:retained_authority", "binding_invalid", &recovery, detail))?;
    self_heal(world, &scope).map_err(|(code, path, detail)| stop("prepare:store", code, &path, detail))?;
    replacement_receipts(world, &scope.directory)
        .map_err(|fault| stop("prepare:binding_publish", fault.code, &fault.path, fault.detail))?;
    let internal = scope.directory.join(layout::INTERNAL);
    owned("prepare:internal_directory", &internal)?;
    owned("prepare:locks_directory", &internal.join(layout::LOCKS))?;
    owned("prepare:receipts_directory", &internal.join(layout::RECEIPTS))?;
    owned("prepare:tombstones_directory", &internal.join(layout::TOMBSTONES))?;
    retirement_capacity(world, &scope)?;
    Ok(scope)
}

/// Resolves for writing, then the asynchronous prepare, which resumes every unfinished tombstone.
///
/// # Errors
/// gjc's refusal, without `diagnostic`.
pub fn reconcile(world: &World<'_>, cwd: &Path) -> Result<Scope, Refused> {
    let scope = resolve_for_write(world, cwd)?;
    asynchronous(world, &scope, None)?;
    Ok(scope)
}

/// The asynchronous prepare of a resolved scope. `session` is the session that is being opened: failures of other sessions'
/// tombstones are only logged then. Answers the transcripts that resuming deletes on
/// its way.
pub(super) fn asynchronous(
    world: &World<'_>,
    scope: &Scope,
    session: Option<&crate::json::JsString>,
) -> Result<Vec<std::path::PathBuf>, Refused> {
    let stop = |code, path: &Path, detail: String| Refused::new(code, detail).at(path).classified(Stage::Prepare, Some(code));
    let internal = scope.directory.join(layout::INTERNAL);
    let roles = layout::PROTOCOL.map(|role| internal.join(role));
    let directories = [&scope.sessions_root, &scope.directory, &internal].into_iter().chain(&roles);
    owned_directory(world, &chain_end(world, scope.configured_root()))
        .map_err(|detail| stop("binding_invalid", scope.configured_root(), detail))?;
    for directory in directories {
        owned_directory(world, directory).map_err(|detail| stop("binding_invalid", directory, detail))?;
    }
    retirement_capacity(world, scope)?;
    resume::resume_all(world, scope, session).map_err(|refused| {
        let code = refused.code;
        refused.classified(Stage::Prepare, Some(code))
    })
}

/// A scope whose retirement receipts are above a quota cannot be prepared (spec 03 §14.1, §16; spec 05). What shows in the
/// directory is asked; nothing is read.
///
/// UNVERIFIED: the specification says that preparing reports the code, and not which of the ways to it a start of gjc goes; the
/// reading that warns is chosen.
fn retirement_capacity(world: &World<'_>, scope: &Scope) -> Result<(), Refused> {
    if !Difference::Retirement.in_effect(world.release) {
        return Ok(());
    }
    let path = scope.protocol(layout::RECEIPTS);
    let Ok(receipts) = walk::list(world.fs, &path, &walk::Limits::default()) else { return Ok(()) };
    // The names of one transcript begin alike: `gc-retirement-` and 64 digits.
    let ours: Vec<&walk::Object> = receipts.objects.iter().filter(|object| object.bytes().starts_with(b"gc-retirement-")).collect();
    let mut entries = Budget::new("`gc-retirement-` entries of one scope", MAX_ENTRIES);
    let mut room = entries.charge(ours.len() as u64);
    for journal in ours.chunk_by(|a, b| a.bytes().get(..78) == b.bytes().get(..78)) {
        let mut history = Budget::new("stored bytes of one transcript's history", MAX_HISTORY_BYTES);
        for object in journal {
            let one = Budget::new("bytes of one receipt", MAX_RECEIPT_BYTES).charge(object.meta.size);
            room = room.and(one).and(history.charge(object.meta.size));
        }
    }
    room.map_err(|full| {
        let detail =
            format!("{} {}, and gjc goes to {}: a limit of the retirement receipts, no damage", full.asked, full.counts, full.limit);
        Refused::new("managed_gc_journal_capacity_exceeded", detail).at(path).classified(Stage::Prepare, None)
    })
}

/// The configured root as prepare meets it: a dangling symlink stays what it is (02a.20).
fn chain_end(world: &World<'_>, root: &Path) -> std::path::PathBuf {
    match world.fs.lstat(&world.agent_dir) {
        Ok(meta) if meta.kind == Kind::Symlink && world.fs.stat(&world.agent_dir).is_err() => world.agent_dir.clone(),
        _ => root.to_owned(),
    }
}

/// What creating or securing a directory needs: it is absent, or a real directory of the right owner. Modes and ACLs are
/// put right by gjc itself.
fn owned_directory(world: &World<'_>, path: &Path) -> Result<(), String> {
    match world.fs.lstat(path) {
        Err(error) if error.errno == Errno::NOENT => Ok(()),
        Err(error) => Err(error.to_string()),
        Ok(meta) if meta.kind != Kind::Directory => Err(format!("is a {}", meta.kind.noun())),
        Ok(meta) if meta.uid != world.uid => Err(format!("belongs to user {}, not {}", meta.uid, world.uid)),
        Ok(_) => Ok(()),
    }
}

/// `.gjc-recovery` is created when absent and never repaired: it must be an owner-only real directory (02a.8).
pub(super) fn recovery_directory(world: &World<'_>, path: &Path) -> Result<(), String> {
    match world.fs.lstat(path) {
        Err(error) if error.errno == Errno::NOENT => Ok(()),
        _ => security::verify(world.fs, path, Need::Directory, world.uid).map(|_| ()).map_err(|violation| violation.token().to_owned()),
    }
}

/// Most entries that the newest self-heal looks at before it leaves the rest to the background (spec 02 §4.6).
const HEAL_ENTRIES: usize = 8_192;

type HealFault = (&'static str, std::path::PathBuf, String);

/// The self-heal of modes inside a scope: it fails where an entry with group or other bits cannot be re-secured, that is a
/// special file, or an entry of another owner (02a.14).
fn self_heal(world: &World<'_>, scope: &Scope) -> Result<(), HealFault> {
    // The newest release answers `mode_mismatch` inside; the scope code stays the default one.
    let code = "binding_invalid";
    let mut pending = vec![scope.directory.clone()];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        let Ok(entries) = world.fs.list(&path) else { continue };
        for entry in entries {
            seen += 1;
            if seen > HEAL_ENTRIES && Difference::HealLimit.in_effect(world.release) {
                return Ok(());
            }
            let below = path.join(&entry.name);
            let Ok(meta) = world.fs.lstat(&below) else { continue };
            let drifted = meta.permissions() & 0o077 != 0;
            match meta.kind {
                Kind::Symlink => {}
                Kind::Directory => {
                    if drifted && meta.uid != world.uid {
                        return Err((code, below, format!("belongs to user {} and has mode {:04o}", meta.uid, meta.mode)));
                    }
                    pending.push(below);
                }
                Kind::File if drifted && meta.uid != world.uid => {
                    return Err((code, below, format!("belongs to user {} and has mode {:04o}", meta.uid, meta.mode)));
                }
                kind if kind.is_special() && drifted => {
                    return Err((code, below, format!("is a {} with mode {:04o} that cannot be re-secured", kind.noun(), meta.mode)));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A replacement receipt that blocks writes to its directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceiptFault {
    /// The scope code it surfaces as.
    pub code: &'static str,
    /// The receipt.
    pub path: std::path::PathBuf,
    /// Why.
    pub detail: String,
}

/// What a store mutation in this directory meets first: every replacement receipt is reconciled (spec 02 §8.4).
pub(super) fn replacement_receipts(world: &World<'_>, directory: &Path) -> Result<(), ReceiptFault> {
    let entries = match world.fs.list(directory) {
        Ok(entries) => entries,
        Err(error) if error.errno == Errno::NOENT => return Ok(()),
        Err(error) => return Err(ReceiptFault { code: "binding_invalid", path: directory.to_owned(), detail: error.to_string() }),
    };
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_bytes()).filter(|name| residue::is_replacement_receipt(name)).collect();
    if names.len() as u64 > NAME_LIMIT {
        let detail = format!("managed_replace_cleanup_receipt_limit_exceeded: {} replacement receipts", names.len());
        return Err(ReceiptFault { code: "capacity_exceeded", path: directory.to_owned(), detail });
    }
    for name in names {
        judge_receipt(world.fs, world.release, directory, directory, name).map_err(|why| ReceiptFault {
            code: "binding_invalid",
            path: directory.join(OsStr::from_bytes(name)),
            detail: format!("managed_replace_cleanup_receipt_invalid: {why}"),
        })?;
    }
    Ok(())
}

/// What reconciliation makes of one receipt name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReceiptStanding {
    /// Gone meanwhile.
    Gone,
    /// A valid pending receipt.
    Pending(Box<replacement_receipt::Receipt>),
    /// A canonical receipt under its own inode; the content is never parsed (02a.15).
    Canonical,
    /// An empty canonical receipt whose empty twin explains it.
    Recoverable,
    /// A valid version-1 receipt.
    V1,
}

/// Judges one receipt by name and content.
///
/// `spelled` is the directory as records name it; it differs from `directory` only for a copy that is judged as if it lay
/// elsewhere.
///
/// # Errors
/// Why it is `managed_replace_cleanup_receipt_invalid`.
pub fn judge_receipt(fs: &dyn Fs, release: Release, spelled: &Path, directory: &Path, name: &[u8]) -> Result<ReceiptStanding, String> {
    let path = directory.join(OsStr::from_bytes(name));
    if !replacement_receipt::accepts_name(name, release) {
        return Err("its name is none of the forms of this release".to_owned());
    }
    let in_directory = spelled.as_os_str().as_bytes();
    let read = |path: &Path| match capture(fs, path, Bound::Prefix(READ_LIMIT as u64)) {
        Ok(captured) => Ok(Some(captured)),
        Err(refusal) if refusal.is_absent() => Ok(None),
        Err(refusal) => Err(refusal.to_string()),
    };
    let Some(Captured { bytes, meta }) = read(&path)? else { return Ok(ReceiptStanding::Gone) };
    match residue::parse(name) {
        Some(Residue::ReplaceReceiptPending) => replacement_receipt::parse(&bytes, in_directory, release)
            .map(|receipt| ReceiptStanding::Pending(Box::new(receipt)))
            .map_err(|why| why.to_string()),
        Some(Residue::ReplaceReceiptCanonical { predecessor, receipt }) => {
            if meta.object() == (receipt.dev, receipt.ino) {
                return Ok(ReceiptStanding::Canonical);
            }
            let twin = directory.join(replacement_receipt::removed_name(receipt, predecessor));
            let explained = meta.size == 0 && fs.lstat(&twin).is_ok_and(|twin| is_object(&twin, receipt));
            if explained {
                Ok(ReceiptStanding::Recoverable)
            } else {
                Err(format!(
                    "its name records inode {} of device {}, it is inode {} of device {}",
                    receipt.ino, receipt.dev, meta.ino, meta.dev
                ))
            }
        }
        Some(Residue::ReplaceReceiptV1 { predecessor, .. }) => {
            let receipt = replacement_receipt::parse_v1(&bytes, in_directory, predecessor).map_err(|why| why.to_string())?;
            let name = receipt.predecessor.as_bytes().rsplit(|byte| *byte == b'/').find(|part| !part.is_empty()).unwrap_or_default();
            match is_predecessor(fs, &directory.join(OsStr::from_bytes(name)), &receipt.identity) {
                true => Ok(ReceiptStanding::V1),
                false => Err("managed_replace_cleanup_pending: the predecessor is another file than the recorded one".to_owned()),
            }
        }
        _ => Err("its name is none of the forms of this release".to_owned()),
    }
}

/// Nothing, or exactly the recorded file, stands at the predecessor's path: gjc removes nothing else.
fn is_predecessor(fs: &dyn Fs, path: &Path, recorded: &replacement_receipt::FileIdentity) -> bool {
    let meta = match fs.lstat(path) {
        Ok(meta) => meta,
        Err(error) => return error.errno == Errno::NOENT,
    };
    meta.kind == Kind::File
        && meta.object() == (recorded.dev, recorded.ino)
        && meta.nlink == recorded.nlink
        && meta.size == recorded.size
        && u128::try_from(meta.mtime_ns) == Ok(recorded.mtime_ns)
        && crate::fsys::hash_file(fs, path).is_ok_and(|(hash, _)| data_encoding::HEXLOWER.encode(&hash) == recorded.sha256)
}

fn is_object(meta: &Meta, inode: Inode) -> bool {
    meta.kind == Kind::File && meta.object() == (inode.dev, inode.ino)
}

/// Reads a record as the resuming code does: `Ok(None)` when it cannot be captured, `Err` when it is not JSON.
pub(super) fn resuming_record(world: &World<'_>, path: &Path) -> Result<Option<crate::json::Value>, NotJson> {
    match capture(world.fs, path, Bound::Ceiling(RECORD_CEILING)) {
        Ok(captured) => parse(&captured.bytes).map(Some).ok_or(NotJson),
        Err(_) => Ok(None),
    }
}

/// A protocol file that is no JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NotJson;
