//! The area *residue* of spec 05: what interrupted or finished writes leave behind, by closed grammar of names and by what
//! is really there (spec 02 §1.4, §8.5, §8.6; spec 04 §2.2, §10.6). A name is never authority: nothing here advises to
//! delete by name alone.

pub mod codes;

use super::legacy;
use super::record;
use super::run::Site;
use super::run::part::Part;
use super::words;
use crate::agent::layout::{self, SessionsName, sessions_name};
use crate::agent::residue::{self, DeleteOwner, RecoveryFormat, Residue};
use crate::agent::sidecar::{self, Stale};
use crate::agent::walk::{self, Listing, Object};
use crate::finding::{Code, Finding, Sink};
use crate::fsys::host::{Liveness, Signal};
use crate::fsys::{Bound, Errno, Kind, Meta};
use crate::gc::owner::MANIFEST;
use crate::json::View;
use crate::session::discovery::directory::{Backups, restored};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const MINUTE_NS: i128 = 60 * 1_000_000_000;
/// Younger names may belong to a write in progress.
const STAGING_AGE: i128 = 15 * MINUTE_NS;
/// Younger temporaries may belong to a rewrite in progress.
const TEMP_AGE: i128 = 24 * 60 * MINUTE_NS;
/// Foreign names of one directory that are listed one by one; the rest is counted.
const MOST_FOREIGN: usize = 1_000;

/// What kind of directory is looked at: it decides which names need no explanation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The agent directory.
    Agent,
    /// The sessions root.
    Sessions,
    /// A managed scope.
    Scope,
    /// A legacy directory.
    Legacy,
    /// A folder of transcripts outside managed storage: orphaned backups are restored by its next listing.
    Folder,
    /// The root of an artifact tree; what its directories hold is the session's own affair.
    Artifacts,
    /// `locks/`, `receipts/` or `tombstones/`: their areas judge the names.
    Protocol,
}

/// Judges the names of one directory. `completed` holds the operation names of targets whose deletion is finished.
pub fn directory(site: &Site<'_>, listing: &Listing, place: Place, completed: &BTreeSet<String>, sink: &mut dyn Sink) {
    let mut scrubbed = Scrubbed::default();
    let mut foreign = 0;
    let restored = LazyCell::new(|| restored(site.fs, &listing.path, listing.objects.iter().map(|object| object.name.as_os_str())));
    for object in &listing.objects {
        // Most names need no explanation: neither is their path.
        let path = LazyCell::new(|| listing.path_of(object));
        let push = |code: &'static Code, message: String, sink: &mut dyn Sink| sink.push(Finding::new(code, site.place(&path), message));
        let age = site.now_ns - object.meta.mtime_ns;
        match residue::parse(object.bytes()) {
            Some(Residue::RewriteTemp { .. } | Residue::Staged { .. } | Residue::OwnerTemp { .. }) if object.meta.kind == Kind::File => {
                if age > TEMP_AGE {
                    push(
                        &codes::STALE_TEMP_FILE,
                        format!("An unfinished write of {}, {}.", words::bytes(object.meta.size), old(age)),
                        sink,
                    );
                }
            }
            Some(
                Residue::Staging { .. }
                | Residue::Publish { .. }
                | Residue::Replacement { .. }
                | Residue::ForkStaging { .. }
                | Residue::ForkStagingDirectory { .. },
            ) => {
                // A link of a live file makes that file unreadable: the security area names it.
                let linked = object.meta.kind == Kind::File && object.meta.nlink > 1;
                if age > STAGING_AGE && !linked {
                    let bytes = words::bytes(bytes_below(site, &path, object));
                    push(&codes::STAGING_RESIDUE, format!("Unpublished bytes of an interrupted write: {bytes}, {}.", old(age)), sink);
                }
            }
            // Where not every name could be looked at, no primary is proven absent.
            Some(Residue::Backup { primary })
                if place != Place::Agent && listing.is_complete() && matches!(object.meta.kind, Kind::File | Kind::Symlink) =>
            {
                backup(site, listing, object, primary, place, &restored, sink)
            }
            Some(Residue::Delete { owner, .. }) => {
                let bytes = bytes_below(site, &path, object);
                // The disk pass of 0.15 leaves no tombstone, so nothing can name its scrubbed remains.
                let named = match owner {
                    DeleteOwner::Operation { operation, .. } => completed.contains(operation),
                    DeleteOwner::DiskGc { .. } => true,
                };
                deleted(bytes, named, &push, sink);
            }
            Some(Residue::OtherDeletion) => deleted(bytes_below(site, &path, object), false, &push, sink),
            Some(Residue::MemoryGuard { .. }) => {
                push(&codes::MEMORY_GUARD_LEFT, format!("A memory-guard transcript of {}.", words::bytes(object.meta.size)), sink);
            }
            Some(_) if object.meta.kind == Kind::File && object.meta.size == 0 && residue::is_reapable_prefix(object.bytes()) => {
                scrubbed.add(object.meta.mtime_ns);
            }
            Some(_) => {}
            None if is_explained(listing, object, place) || object.meta.kind.is_special() => {}
            None => {
                foreign += 1;
                if foreign <= MOST_FOREIGN {
                    push(&codes::FOREIGN_FILE, format!("Nothing of gjc explains this {}.", object.meta.kind.noun()), sink);
                }
            }
        }
        if object.name == layout::STAGING && object.meta.kind == Kind::Directory {
            staged(site, &path, sink);
        }
    }
    more_foreign(site, listing, foreign, sink);
    scrubbed.report(site, listing, sink);
}

/// Says how many foreign names of a directory were not listed one by one.
fn more_foreign(site: &Site<'_>, listing: &Listing, foreign: usize, sink: &mut dyn Sink) {
    if foreign > MOST_FOREIGN {
        let message = format!("{} more names in this directory are not explained.", foreign - MOST_FOREIGN);
        sink.push(Finding::new(&codes::FOREIGN_FILE, site.place(&listing.path), message));
    }
}

/// Scrubbed remnants of one directory.
#[derive(Default)]
struct Scrubbed {
    count: u64,
    oldest: Option<i128>,
}

impl Scrubbed {
    fn add(&mut self, mtime_ns: i128) {
        self.count += 1;
        self.oldest = Some(self.oldest.map_or(mtime_ns, |oldest| oldest.min(mtime_ns)));
    }
    fn report(&self, site: &Site<'_>, listing: &Listing, sink: &mut dyn Sink) {
        let Some(oldest) = self.oldest else { return };
        let message = format!("{} scrubbed {}, the oldest {}.", self.count, plural(self.count, "name"), old(site.now_ns - oldest));
        sink.push(Finding::new(&codes::SCRUBBED_REMNANTS, site.place(&listing.path), message));
    }
}

fn plural(count: u64, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// An age in words, coarse enough to be the same a second later.
fn old(age_ns: i128) -> String {
    let minutes = age_ns / MINUTE_NS;
    match minutes {
        ..=0 => "just made".to_owned(),
        1..=119 => format!("{minutes} min old"),
        120..=2_879 => format!("{} h old", minutes / 60),
        _ => format!("{} days old", minutes / 1_440),
    }
}

/// Bytes of a file, or of all files below a directory.
fn bytes_below(site: &Site<'_>, path: &Path, object: &Object) -> u64 {
    match object.meta.kind {
        Kind::Directory => {
            let mut bytes = 0_u64;
            walk::tree(
                site.fs,
                path,
                &site.limits,
                |_, _| true,
                |listing| {
                    let files = listing.objects.iter().filter(|object| object.meta.kind == Kind::File);
                    bytes = files.fold(bytes, |sum, file| sum.saturating_add(file.meta.size));
                },
            );
            bytes
        }
        Kind::File => object.meta.size,
        _ => 0,
    }
}

fn deleted(bytes: u64, named: bool, push: &dyn Fn(&'static Code, String, &mut dyn Sink), sink: &mut dyn Sink) {
    match (bytes, named) {
        (0, true) => push(&codes::DELETE_RESIDUE, "What a finished deletion leaves: no bytes in it.".into(), sink),
        (0, false) => push(&codes::DELETE_RESIDUE_PAYLOAD, "The remains of a deletion that no completed record names.".into(), sink),
        (bytes, _) => push(
            &codes::DELETE_RESIDUE_PAYLOAD,
            format!("{} under the name of a deletion: maybe the only copy.", words::bytes(bytes)),
            sink,
        ),
    }
}

/// A `*.bak` (spec 04 §2.2). Managed listings never restore backups. `restored` are those that the next listing of the
/// directory renames.
fn backup(
    site: &Site<'_>,
    listing: &Listing,
    object: &Object,
    primary: Option<&[u8]>,
    place: Place,
    restored: &Backups,
    sink: &mut dyn Sink,
) {
    let path = listing.path_of(object);
    let push = |code: &'static Code, message: String, sink: &mut dyn Sink| sink.push(Finding::new(code, site.place(&path), message));
    // As gjc does it: what a link leads to counts.
    let is_there = |name: &[u8]| site.fs.stat(&listing.path.join(OsStr::from_bytes(name))).is_ok();
    let Some(primary) = primary else {
        // Backups of other things are no business of session storage.
        let Some(primary) = object.bytes().strip_suffix(b".bak").and_then(transcript_in) else { return };
        let code = if is_there(primary) { &codes::STALE_BACKUP } else { &codes::ORPHAN_BACKUP_UNRECOVERABLE };
        return push(code, "A backup under a name that gjc never restores.".into(), sink);
    };
    let shown = String::from_utf8_lossy(primary).into_owned();
    if is_there(primary) {
        return push(&codes::STALE_BACKUP, format!("A backup of `{shown}`, which is there."), sink);
    }
    let lost = |why: &str| (&codes::ORPHAN_BACKUP_UNRECOVERABLE, format!("`{shown}` is gone and this is a backup of it; {why}."));
    let (code, message) = match restored.get(Path::new(OsStr::from_bytes(primary))) {
        _ if matches!(place, Place::Scope | Place::Legacy) => lost("managed listings restore none"),
        _ if object.meta.kind != Kind::File => lost(&format!("a {} is never restored", object.meta.kind.noun())),
        Some((backup, _)) if backup.as_os_str() == object.name => {
            (&codes::ORPHAN_BACKUP_RECOVERABLE, format!("`{shown}` is gone: the next listing of this directory restores it from here."))
        }
        Some((_, meta)) if meta.mtime_ns == object.meta.mtime_ns => lost("one that is as old is restored in its place"),
        _ => lost("a newer one is restored in its place"),
    };
    push(code, message, sink);
}

/// The transcript whose name stands in front of a suffix: `x.jsonl` of `x.jsonl` and of `x.jsonl.1`.
fn transcript_in(stem: &[u8]) -> Option<&[u8]> {
    let cut = |stem: &[u8]| memchr::memrchr(b'.', stem);
    if layout::is_transcript_name(stem) { Some(stem) } else { stem.get(..cut(stem)?).filter(|name| layout::is_transcript_name(name)) }
}

/// Whether a name that is no residue belongs where it is.
fn is_explained(listing: &Listing, object: &Object, place: Place) -> bool {
    let name = object.bytes();
    match place {
        // What only looks like a name of the protocols is judged by their areas.
        Place::Protocol | Place::Folder => true,
        Place::Agent => layout::is_agent_name(name) || layout::is_transcript_name(name),
        Place::Sessions => match sessions_name(name) {
            // What is no directory under a legacy name is judged when the workspaces are known.
            SessionsName::Scope | SessionsName::Legacy | SessionsName::Reserved => true,
            SessionsName::Unknown | SessionsName::MalformedScope { .. } => {
                object.meta.kind == Kind::Directory || layout::is_transcript_name(name)
            }
        },
        Place::Scope | Place::Legacy => {
            let reserved = [layout::BINDING, layout::INTERNAL, layout::RECOVERY, layout::STAGING];
            // A directory beside transcripts is an artifact directory or an orphan, and the artifact area's.
            let transcript = || listing.get(&format!("{}{}", walk::show(&object.name), layout::TRANSCRIPT_SUFFIX)).is_some();
            let beside = !name.starts_with(b".") && (object.meta.kind == Kind::Directory || transcript());
            beside || layout::is_transcript_name(name) || reserved.iter().any(|r| r.as_bytes() == name)
        }
        Place::Artifacts => {
            // Names of spec 04 §6.1. One that is no UTF-8 has a code of its own.
            std::str::from_utf8(name).is_err() || name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        }
    }
}

/// What is no directory in the sessions root, under a name like that of a legacy directory, and is none that the listing of a
/// workspace must visit.
pub fn foreign_legacy_names(site: &Site<'_>, root: &Listing, part: &mut Part) {
    let foreign = root.objects.iter().filter(|object| {
        let kind = object.meta.kind;
        kind != Kind::Directory
            && !kind.is_special()
            && sessions_name(object.bytes()) == SessionsName::Legacy
            && !layout::is_transcript_name(object.bytes())
            && residue::parse(object.bytes()).is_none()
    });
    let visited = part.findings.iter().filter(|finding| *finding.code == legacy::codes::SCAN_FAILED);
    let visited: BTreeSet<String> = visited.map(|finding| finding.place.path.to_string()).collect();
    let places = foreign.map(|object| (site.place(&root.path_of(object)), object.meta.kind));
    let foreign: Vec<_> = places.filter(|(place, _)| !visited.contains(&*place.path)).collect();
    let names = foreign.len();
    for (place, kind) in foreign.into_iter().take(MOST_FOREIGN) {
        part.push(Finding::new(&codes::FOREIGN_FILE, place, format!("Nothing of gjc explains this {}.", kind.noun())));
    }
    more_foreign(site, root, names, part);
}

/// Unpublished attempts below `.staging/`.
fn staged(site: &Site<'_>, path: &Path, sink: &mut dyn Sink) {
    let Ok(listing) = walk::list(site.fs, path, &site.limits) else { return };
    for object in &listing.objects {
        let below = listing.path_of(object);
        let message = format!("An unpublished attempt: {}.", words::bytes(bytes_below(site, &below, object)));
        sink.push(Finding::new(&codes::STAGED_TRANSCRIPT_LEFT, site.place(&below), message));
    }
}

/// The quarantine of the native write protocol: count, bytes, formats of the names.
pub fn recovery(site: &Site<'_>, listing: &Listing, sink: &mut dyn Sink) {
    let (mut count, mut bytes, mut old_names, mut new_names) = (0_u64, 0_u64, 0_u64, 0_u64);
    for object in &listing.objects {
        match residue::parse(object.bytes()) {
            Some(Residue::Recovery { format: RecoveryFormat::Old, .. }) => old_names += 1,
            Some(Residue::Recovery { .. }) => new_names += 1,
            Some(Residue::ReaperCursor | Residue::ReaperFirstSeen) => continue,
            _ => {}
        }
        count += 1;
        bytes = bytes.saturating_add(bytes_below(site, &listing.path_of(object), object));
    }
    if count > 0 {
        let (objects, bytes) = (words::count(count, "quarantined object", "quarantined objects"), words::bytes(bytes));
        let old_names = words::count(old_names, "old name", "old names");
        let message = format!("{objects} of {bytes} ({old_names}, {new_names} {}).", if new_names == 1 { "new one" } else { "new ones" });
        sink.push(Finding::new(&codes::RECOVERY_QUARANTINE, site.place(&listing.path), message));
    }
}

/// The sidecars of the transcripts of a directory: siblings, and those in artifact directories (spec 04 §10.2).
pub fn sidecars(site: &Site<'_>, listing: &Listing, sink: &mut dyn Sink) {
    for transcript in listing.objects.iter().filter(|object| object.is_transcript_name() && object.meta.kind == Kind::File) {
        let path = listing.path_of(transcript);
        let name = walk::show(&transcript.name);
        let sibling = format!("{name}{}", sidecar::SIBLING);
        if [sidecar::COMMIT, sidecar::TAIL, sidecar::INDEX].iter().any(|part| listing.get(&format!("{sibling}{part}")).is_some()) {
            sidecar(site, &listing.path, &sibling, (&path, &transcript.meta), sink);
        }
        let artifacts = listing.get(name.strip_suffix(layout::TRANSCRIPT_SUFFIX).unwrap_or(&name));
        if let Some(artifacts) = artifacts.filter(|object| object.meta.kind == Kind::Directory) {
            sidecar(site, &listing.path_of(artifacts), sidecar::STEM, (&path, &transcript.meta), sink);
        }
    }
}

/// One sidecar, whose files begin with `stem`, of a transcript.
fn sidecar(site: &Site<'_>, directory: &Path, stem: &str, transcript: (&Path, &Meta), sink: &mut dyn Sink) {
    /// A longer tail is not looked at: the commit record is judged alone.
    const TAIL_BYTES: u64 = 32 << 20;
    let path = |part: &str| directory.join(format!("{stem}{part}"));
    let mut is_file = |part: &str| match site.fs.lstat(&path(part)) {
        Ok(meta) => Some(meta.kind == Kind::File),
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR) => Some(false),
        Err(error) => {
            super::operational::unreadable(site, &error, sink);
            None
        }
    };
    let (Some(commit), Some(tail), Some(index)) = (is_file(sidecar::COMMIT), is_file(sidecar::TAIL), is_file(sidecar::INDEX)) else {
        return;
    };
    let read = |part: &str, most: u64, sink: &mut dyn Sink| record::bytes(site, &path(part), Bound::Ceiling(most), sink);
    let judged = if commit {
        match read(sidecar::COMMIT, sidecar::COMMIT_BYTES, sink) {
            Err(size) => Err(Stale::CommitTooLarge(size)),
            // It was told why it could not be read.
            Ok(None) => return,
            Ok(Some(commit)) => {
                let tail = if tail { read(sidecar::TAIL, TAIL_BYTES, sink).ok().flatten() } else { None };
                let tail = tail.map(|tail| tail.bytes);
                sidecar::judge(&commit.bytes, tail.as_deref(), transcript.1, site.assumed_root.is_some())
            }
        }
    } else if tail || index {
        Err(Stale::Uncommitted)
    } else {
        return;
    };
    if let Err(why) = judged {
        let finding = Finding::new(&codes::SIDECAR_STALE, site.place(&path(sidecar::COMMIT)), format!("gjc builds it anew: {why}."));
        sink.push(finding.related("transcript", site.place(transcript.0)));
    }
}

/// What finished and interrupted removals left in the tree of one owner below `.task-artifact-owners` (spec 03 §10, §18): one
/// finding an owner. `visit` sees every directory of it.
pub fn owner(site: &Site<'_>, owners: &Listing, owner: &Object, mut visit: impl FnMut(&Listing), sink: &mut dyn Sink) {
    let is_residue = |name: &[u8]| (name.starts_with(b".gjc-") && name != MANIFEST.as_bytes()) || name.starts_with(b".pi-tree-detached-");
    let below = owners.path_of(owner);
    let mut names = u64::from(is_residue(owner.bytes()) || owner.bytes().ends_with(b".removing"));
    if owner.meta.kind == Kind::Directory {
        let enter = |_: &Listing, _: &Object| true;
        let mut troubles = Vec::new();
        let look = |listing: Listing| {
            names += listing.objects.iter().filter(|object| is_residue(object.bytes())).count() as u64;
            visit(&listing);
            troubles.extend(listing.troubles);
        };
        let more = walk::tree(site.fs, &below, &site.limits, enter, look);
        for trouble in troubles.iter().chain(&more) {
            super::operational::trouble(site, trouble, sink);
        }
    }
    if names > 0 {
        let message = format!("{names} {} that removals left: evidence, never swept by name.", plural(names, "name"));
        sink.push(Finding::new(&codes::GC_RESIDUE_PRESENT, site.place(&below), message));
    }
}

/// Caches beside the sessions (spec 04 §5.9, §10.2): instances whose owner is gone, sidecars of unknown transcripts.
/// `transcripts` are the paths of all transcripts as gjc spells them.
pub fn caches(
    site: &Site<'_>,
    cache_root: &Path,
    transcripts: impl Iterator<Item = std::path::PathBuf>,
    host: &dyn Liveness,
    sink: &mut dyn Sink,
) {
    use sha2::{Digest, Sha256};
    let listed = |name: &str| {
        let path = cache_root.join(name);
        let real = site.fs.lstat(&path).is_ok_and(|meta| meta.kind == Kind::Directory);
        real.then(|| walk::list(site.fs, &path, &site.limits).ok()).flatten()
    };
    if let Some(sidecars) = listed("sidecar-cache") {
        let instance = |path: &Path| {
            let hex = data_encoding::HEXLOWER.encode(&Sha256::digest(site.recorded(path).as_os_str().as_encoded_bytes()));
            hex.chars().take(32).collect::<String>()
        };
        let known: BTreeMap<String, std::path::PathBuf> = transcripts.map(|path| (instance(&path), path)).collect();
        for object in &sidecars.objects {
            let Some(hex) = object.name.to_str().and_then(|name| name.strip_prefix("s-")) else { continue };
            let Some(transcript) = known.get(hex) else {
                let message = "A sidecar of no transcript that this check saw.";
                sink.push(Finding::new(&codes::SIDECAR_CACHE_ORPHAN, site.place(&sidecars.path_of(object)), message));
                continue;
            };
            if object.meta.kind == Kind::Directory
                && let Ok(meta) = site.fs.lstat(transcript)
            {
                sidecar(site, &sidecars.path_of(object), sidecar::STEM, (transcript, &meta), sink);
            }
        }
    }
    if let Some(instances) = listed("resident-cache") {
        for object in instances.objects.iter().filter(|object| object.bytes().starts_with(b"i-") && object.meta.kind == Kind::Directory) {
            let path = instances.path_of(object);
            let owner = crate::fsys::capture(site.fs, &path.join("owner.json"), Bound::AtMost(16 << 10)).ok();
            let pid = owner
                .and_then(|owner| crate::agent::candidates::parse(&owner.bytes))
                .and_then(|owner| owner.member("pid").and_then(View::as_f64));
            if pid.is_some_and(|pid| host.signal(pid) == Signal::NoSuchProcess) {
                let message = format!("The cache of process {}, which is gone.", pid.unwrap_or_default());
                sink.push(Finding::new(&codes::RESIDENT_CACHE_ORPHAN, site.place(&path), message));
            }
        }
    }
}

/// Exclusive lock files among other names of a directory (spec 04 §7.7).
pub fn exclusive_locks(site: &Site<'_>, listing: &Listing, host: &dyn Liveness, sink: &mut dyn Sink) {
    for object in listing.objects.iter().filter(|object| object.meta.kind == Kind::File && object.bytes().ends_with(b".lock")) {
        super::lock::exclusive(site, &listing.path_of(object), host, sink);
    }
}
