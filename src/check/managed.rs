//! What only shows when scopes and legacy directories are seen together: which workspace each transcript belongs to, what
//! the managed listing of each workspace shows, hides and refuses (areas *legacy* and *listing* of spec 05; spec 02 §5, §7).
//!
//! Every transcript is looked at once, whatever number of workspaces there is; gjc itself reads all legacy directories for
//! every listing.

use super::listing::codes as listing_codes;
use super::run::Site;
use super::{legacy, migration_receipt, quota, scope as scope_area};
use crate::agent::candidates::{Candidate, Cwds, Hidden, Invalid, Listing as Managed, Provenance, State, look};
use crate::agent::identity::{self, Identity, NoIdentity};
use crate::agent::layout::{BINDING, SessionsName, sessions_name};
use crate::agent::legacy::{MAX_UNKNOWN_DIRECTORIES, by_utf16, known_names};
use crate::agent::migration_receipt as receipt_names;
use crate::agent::record::spells;
use crate::agent::residue::{self, Residue};
use crate::agent::walk::{self, Listing, Scope, show};
use crate::finding::{Finding, Gauge, Outcome, Severity, Sink};
use crate::fsys::Kind;
use crate::json::{JsString, Value, View};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// One session directory of a sessions root.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    provenance: Provenance,
    /// The workspace that a sound binding names.
    workspace: Option<Identity>,
    /// Names of its transcripts.
    transcripts: Vec<OsString>,
    /// Operation names of staged migration receipts in it.
    staged: BTreeSet<String>,
    /// The listing, when detached artifact roots lie in it: they are judged when all staged receipts are known.
    detached: Option<Listing>,
}

impl Directory {
    /// What is remembered of a session directory until all are known.
    pub fn new(directory: &Listing, provenance: Provenance, workspace: Option<Identity>, receipts: Option<&Listing>) -> Self {
        let staged = receipts.into_iter().flat_map(|listing| &listing.objects);
        let staged = staged.filter_map(|object| match receipt_names::parse_name(object.bytes()) {
            receipt_names::Name::Migration { operation, state } if state != receipt_names::State::Committed => Some(operation.to_owned()),
            _ => None,
        });
        let is_detached = |object: &walk::Object| matches!(residue::parse(object.bytes()), Some(Residue::MigrateArtifacts { .. }));
        let detached = directory.objects.iter().any(is_detached);
        let transcripts = directory.objects.iter().filter(|object| object.is_transcript_name());
        Directory {
            path: directory.path.clone(),
            provenance,
            workspace,
            transcripts: transcripts.map(|object| object.name.clone()).collect(),
            staged: staged.collect(),
            detached: detached.then(|| directory.clone()),
        }
    }
}

/// A transcript that was looked at, with its workspace, or why it does not count.
struct Seen {
    path: PathBuf,
    found: Result<(Candidate, Identity), Invalid>,
}

/// Looks at every transcript of all directories, in one parallel sweep; what comes out is in order.
fn look_at(site: &Site<'_>, cwds: &Cwds, directories: &[Directory]) -> Vec<Vec<Seen>> {
    let files: Vec<(usize, PathBuf, Provenance)> = directories
        .iter()
        .enumerate()
        .flat_map(|(at, directory)| directory.transcripts.iter().map(move |name| (at, directory.path.join(name), directory.provenance)))
        .collect();
    let seen: Vec<(usize, Seen)> = files
        .into_par_iter()
        .map(|(at, path, provenance)| {
            let found = look(site.fs, site.release, &path, provenance).and_then(|candidate| match workspace(site, cwds, &candidate.cwd) {
                Ok(identity) => Ok((candidate, identity)),
                Err(why) => Err(candidate.without_workspace(why)),
            });
            (at, Seen { path, found })
        })
        .collect();
    let mut all: Vec<Vec<Seen>> = directories.iter().map(|_| Vec::new()).collect();
    for (at, one) in seen {
        if let Some(of) = all.get_mut(at) {
            of.push(one);
        }
    }
    all
}

/// The workspace of a header cwd. A copied directory is judged as if it lay where it came from: its workspaces are taken at
/// their word, because they cannot be resolved here.
fn workspace(site: &Site<'_>, cwds: &Cwds, cwd: &JsString) -> Result<Identity, NoIdentity> {
    cwds.of(cwd, |cwd| match identity::at_its_word(cwd).filter(|_| site.assumed_root.is_some()) {
        Some(identity) => Ok(identity),
        None => identity::posix(site.fs, Path::new("/"), cwd),
    })
}

/// Judges all session directories of a sessions root together. `root` is its listing; none when one scope is checked alone.
/// Adds the answer of the managed listing to the verdicts of each transcript.
pub fn check(
    site: &Site<'_>,
    cwds: &Cwds,
    root: Option<&Listing>,
    directories: Vec<Directory>,
    outcomes: &mut [Outcome],
    told: &Told,
    sink: &mut dyn Sink,
) {
    let staged: BTreeSet<String> = directories.iter().flat_map(|directory| directory.staged.iter().cloned()).collect();
    for directory in &directories {
        if let Some(listing) = &directory.detached {
            migration_receipt::detached_roots(site, listing, &staged, sink);
        }
    }
    let looked = look_at(site, cwds, &directories);
    let legacy_names = root.map(|root| legacy_directories(site, root, sink)).unwrap_or_default();
    let mut workspaces: BTreeMap<String, Workspace> = BTreeMap::new();
    let mut answers: BTreeMap<String, String> = BTreeMap::new();
    for (directory, seen) in directories.into_iter().zip(looked) {
        mixed(site, &directory, &seen, sink);
        let own = directory.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(identity) = directory.workspace {
            workspaces.entry(own.clone()).or_insert_with(|| Workspace { identity, candidates: Vec::new() });
        }
        let mut foreign = BTreeSet::new();
        let mut foreign_count = 0_u64;
        for seen in seen {
            let name = site.name(&seen.path).to_string();
            match seen.found {
                Err(invalid) => {
                    answers.insert(name.clone(), invalid.code.to_owned());
                    invalid_candidate(site, &invalid, told.blamed.contains(&name), sink);
                }
                Ok((candidate, identity)) => {
                    let scope = identity.directory_name();
                    if directory.provenance == Provenance::V2 && scope != own {
                        foreign_count += 1;
                        foreign.insert(identity.canonical_path);
                        answers.insert(name, "foreign".to_owned());
                        continue;
                    }
                    let of = workspaces.entry(scope).or_insert_with(|| Workspace { identity, candidates: Vec::new() });
                    of.candidates.push(candidate);
                }
            }
        }
        if foreign_count > 0 {
            let shown: Vec<&str> = foreign.iter().take(3).map(String::as_str).collect();
            let message = format!("{foreign_count} transcripts of this scope belong to other workspaces: {}.", shown.join(", "));
            sink.push(Finding::new(&listing_codes::FOREIGN_TRANSCRIPT, site.place(&directory.path), message));
        }
    }
    let strict: BTreeMap<&str, &str> = outcomes
        .iter()
        .filter_map(|outcome| Some((&*outcome.path, &*outcome.verdicts.iter().find(|(reader, _)| *reader == "S")?.1)))
        .collect();
    let base = root.map(|root| root.path.clone());
    for (scope, of) in workspaces {
        let sessions = base.clone().or_else(|| of.candidates.first().and_then(|one| Some(one.path.parent()?.parent()?.to_owned())));
        let Some(sessions) = sessions else { continue };
        let complete = root.is_none_or(|root| must_visit(site, root, &of.identity, sink));
        let resolves = sessions
            .join(&scope)
            .ancestors()
            .take_while(|above| above.starts_with(site.root))
            .all(|above| !told.refused.contains(&*site.name(above)));
        // A listing that is refused as a whole shows nothing: there is nothing to compare opening with.
        let strict = if complete && resolves { &strict } else { &BTreeMap::new() };
        of.judge(site, &sessions, &scope, &legacy_names, &mut answers, strict, sink);
    }
    for outcome in outcomes {
        if let Some(answer) = answers.remove(&*outcome.path) {
            outcome.verdicts.push(("list", answer.into()));
        }
    }
}

/// All transcripts of one workspace.
struct Workspace {
    identity: Identity,
    candidates: Vec<Candidate>,
}

impl Workspace {
    #[expect(clippy::too_many_arguments, reason = "one workspace is judged against what was gathered for all of them")]
    fn judge(
        self,
        site: &Site<'_>,
        sessions: &Path,
        scope: &str,
        legacy_names: &[String],
        answers: &mut BTreeMap<String, String>,
        strict: &BTreeMap<&str, &str>,
        sink: &mut dyn Sink,
    ) {
        let directory = sessions.join(scope);
        let digest = scope.strip_prefix("v2-").unwrap_or(scope);
        let known = known_names(&self.identity.canonical_path, &self.identity.canonical_path, site.around);
        let visited = |candidate: &Candidate| {
            let name = candidate.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
            candidate.provenance == Provenance::V2 || is_visited(&name, &known, legacy_names)
        };
        let (owned, beyond): (Vec<_>, Vec<_>) = self.candidates.into_iter().partition(visited);
        for candidate in beyond {
            answers.insert(site.name(&candidate.path).to_string(), "not visited".to_owned());
        }
        let mut listing = Managed::default();
        listing.settle(site.fs, &directory, digest, owned);
        let holds_others = listing.owned.iter().any(|listed| listed.candidate.provenance == Provenance::V2);
        for (candidate, hidden) in &listing.hidden {
            let name = site.name(&candidate.path).to_string();
            match hidden {
                Hidden::Retired { .. } => _ = answers.insert(name, "retired".to_owned()),
                Hidden::Shadowed { by, receipt } => {
                    let message = "Its migrated copy stands for it; it is kept by design.";
                    let finding = Finding::new(&legacy::codes::LEGACY_SHADOWED, site.place(&candidate.path), message);
                    sink.push(finding.related("v2 copy", site.place(by)).related("receipt", site.place(receipt)));
                    answers.insert(name, "shadowed".to_owned());
                }
            }
        }
        for listed in &listing.owned {
            let candidate = &listed.candidate;
            answers.insert(site.name(&candidate.path).to_string(), listed.state.word().to_owned());
            if listed.state == State::LegacyUnmigrated {
                let others =
                    if holds_others { "its workspace has other sessions in the scope" } else { "its workspace has no session in a scope" };
                let message = format!("A session of the workspace `{}` in the legacy layout; {others}.", self.identity.canonical_path);
                sink.push(Finding::new(&legacy::codes::LEGACY_UNMIGRATED, site.place(&candidate.path), message));
                destination(site, &directory, candidate, &listing, sink);
            }
        }
        duplicates(site, &listing, sink);
        ambiguous(site, &listing, sink);
        readers(site, &listing, strict, sink);
    }
}

/// One legacy directory that holds transcripts of several header cwds.
fn mixed(site: &Site<'_>, directory: &Directory, seen: &[Seen], sink: &mut dyn Sink) {
    if directory.provenance == Provenance::V2 {
        return;
    }
    let cwds: BTreeSet<String> =
        seen.iter().filter_map(|seen| seen.found.as_ref().ok()).map(|(candidate, _)| candidate.cwd.to_string()).collect();
    if cwds.len() > 1 {
        let shown: Vec<&str> = cwds.iter().take(3).map(String::as_str).collect();
        let message = format!("The transcripts in here name {} working directories: {}.", cwds.len(), shown.join(", "));
        sink.push(Finding::new(&legacy::codes::LEGACY_DIR_MIXED_CWD, site.place(&directory.path), message));
    }
}

/// Legacy directories in the order in which gjc takes unknown ones, and the limit on their number.
fn legacy_directories(site: &Site<'_>, root: &Listing, sink: &mut dyn Sink) -> Vec<String> {
    let legacy =
        root.objects.iter().filter(|object| object.meta.kind == Kind::Directory && sessions_name(object.bytes()) == SessionsName::Legacy);
    let mut names: Vec<String> = legacy.map(|object| object.name.to_string_lossy().into_owned()).collect();
    names.sort_by(|a, b| by_utf16(a, b));
    let (used, limit) = (names.len() as u64, MAX_UNKNOWN_DIRECTORIES as u64);
    if used > 0 {
        sink.gauge(Gauge { name: "legacy_directories", path: site.name(&root.path).to_string(), used, limit, unit: "directories" });
    }
    if used > limit {
        let message = format!("{used} legacy directories; a listing visits {limit} of those that it does not know by name.");
        sink.push(Finding::new(&legacy::codes::LEGACY_DIRECTORY_LIMIT, site.place(&root.path), message));
    } else if used * 10 >= limit * 9 {
        let message = format!("{used} of {limit} legacy directories that a listing visits.");
        sink.push(Finding::new(&quota::codes::LIMIT_NEAR, site.place(&root.path), message));
    }
    names
}

/// Whether the listing of a workspace visits this legacy directory.
fn is_visited(name: &str, known: &[String], legacy_names: &[String]) -> bool {
    if legacy_names.len() <= MAX_UNKNOWN_DIRECTORIES || known.iter().any(|known| known == name) {
        return true;
    }
    let place = |name: &str| legacy_names.binary_search_by(|other| by_utf16(other, name));
    let Ok(at) = place(name) else { return true };
    let before = known.iter().filter(|known| place(known).is_ok_and(|theirs| theirs < at)).count();
    at - before < MAX_UNKNOWN_DIRECTORIES
}

/// Known legacy names of a workspace that are no real directory: its whole listing is refused. True when there is none.
fn must_visit(site: &Site<'_>, root: &Listing, identity: &Identity, sink: &mut dyn Sink) -> bool {
    let mut complete = true;
    for name in known_names(&identity.canonical_path, &identity.canonical_path, site.around) {
        let Some(object) = root.get(&name).filter(|object| object.meta.kind != Kind::Directory) else { continue };
        let message = format!(
            "The listing of the workspace `{}` must visit `{name}`, and it is a {}: the whole listing is refused.",
            identity.canonical_path,
            object.meta.kind.noun()
        );
        sink.push(Finding::new(&legacy::codes::SCAN_FAILED, site.place(&root.path_of(object)), message));
        complete = false;
    }
    complete
}

/// A transcript that the listing does not count. The codes of the cwd are findings of their own; the others become one only
/// when no error on the same object explains them (spec 05 §1).
fn invalid_candidate(site: &Site<'_>, invalid: &Invalid, blamed: bool, sink: &mut dyn Sink) {
    if invalid.transient || (blamed && !invalid.code.starts_with("cwd_")) {
        return;
    }
    // A copy of a directory is not blamed for workspaces that exist elsewhere.
    if site.assumed_root.is_some() && invalid.code.starts_with("cwd_") {
        return;
    }
    let Some(code) = super::code(invalid.code) else { return };
    sink.push(Finding::new(code, site.place(&invalid.path), format!("The managed listing counts it as invalid: {}.", invalid.detail)));
}

/// Whether the migration of a legacy transcript would find its destination taken (spec 02 §6.4 steps 3 and 7, 02a.3).
fn destination(site: &Site<'_>, scope: &Path, source: &Candidate, listing: &Managed, sink: &mut dyn Sink) {
    let Some(name) = source.path.file_name() else { return };
    let destination = scope.join(name);
    let conflict = |why: &str, at: &Path, sink: &mut dyn Sink| {
        let message = format!("It cannot be migrated: {why}.");
        sink.push(
            Finding::new(&migration_receipt::codes::DESTINATION_CONFLICT, site.place(&source.path), message)
                .related("in the way", site.place(at)),
        );
    };
    let v2 = || listing.owned.iter().map(|listed| &listed.candidate).filter(|candidate| candidate.provenance == Provenance::V2);
    if let Some(other) = v2().find(|other| other.session_id == source.session_id && other.path != destination) {
        return conflict("another v2 file has its session id", &other.path, sink);
    }
    let Ok(meta) = site.fs.lstat(&destination) else { return };
    match v2().find(|other| other.path == destination && other.session_id == source.session_id) {
        Some(existing) if existing.meta.size == source.meta.size => {
            let hash = |candidate: &Candidate| candidate.identity(site.fs).map(|identity| identity.sha256).ok();
            if hash(existing) != hash(source) {
                conflict("the destination holds other bytes", &destination, sink);
            }
        }
        Some(_) => conflict("the destination holds other bytes", &destination, sink),
        None if meta.kind == Kind::Symlink && site.fs.stat(&destination).is_err() => {
            conflict("a dangling symlink stands at its destination (`durability_failed`)", &destination, sink);
        }
        None => conflict("something else stands at its destination", &destination, sink),
    }
}

/// Listed transcripts of one workspace that share an id: the older one is invisible in merged listings.
fn duplicates(site: &Site<'_>, listing: &Managed, sink: &mut dyn Sink) {
    let mut by_id: BTreeMap<&JsString, Vec<&Candidate>> = BTreeMap::new();
    for listed in &listing.owned {
        by_id.entry(&listed.candidate.session_id).or_default().push(&listed.candidate);
    }
    for (id, mut candidates) in by_id {
        candidates.sort_by_key(|candidate| (std::cmp::Reverse(candidate.meta.mtime_ns), candidate.path.clone()));
        let Some((newest, others)) = candidates.split_first() else { continue };
        for other in others {
            let message = format!("The session id `{id}` is also that of a later transcript of this workspace.");
            let finding = Finding::new(&listing_codes::DUPLICATE_SESSION_ID, site.place(&other.path), message);
            sink.push(finding.related("the one that merged listings show", site.place(&newest.path)));
        }
    }
}

/// Ids, or base-name suffixes, that are a prefix of another's in the same listing, ignoring case.
fn ambiguous(site: &Site<'_>, listing: &Managed, sink: &mut dyn Sink) {
    let mut names: Vec<(String, &Path)> = Vec::new();
    for listed in &listing.owned {
        let path = &*listed.candidate.path;
        names.push((listed.candidate.session_id.to_string().to_lowercase(), path));
        let stem = path.file_stem().map(show).unwrap_or_default();
        if let Some((_, suffix)) = stem.split_once('_') {
            names.push((suffix.to_lowercase(), path));
        }
    }
    names.sort();
    names.dedup();
    let mut told: BTreeSet<&Path> = BTreeSet::new();
    for pair in names.windows(2) {
        let [(short, path), (long, other)] = pair else { continue };
        if path != other && !short.is_empty() && long != short && long.starts_with(short.as_str()) && told.insert(path) {
            let message = format!("`--resume {short}` also matches `{long}`; the newest is taken.");
            sink.push(
                Finding::new(&listing_codes::ID_PREFIX_AMBIGUOUS, site.place(path), message).related("also matched", site.place(other)),
            );
        }
    }
}

/// What listings show against what opening accepts.
fn readers(site: &Site<'_>, listing: &Managed, strict: &BTreeMap<&str, &str>, sink: &mut dyn Sink) {
    use crate::transcript::readers::picker;
    let judged: Vec<Vec<Finding>> = listing
        .owned
        .par_iter()
        .map(|listed| {
            let path = &listed.candidate.path;
            let name = site.name(path);
            let mut found = Vec::new();
            let Some(answer) = strict.get(&*name) else { return found };
            let opens = matches!(*answer, "resumable" | "terminal");
            if !opens {
                let message = format!("The listing shows the session, and opening it is refused (`{answer}`).");
                found.push(Finding::new(&listing_codes::LISTED_BUT_NOT_OPENABLE, site.place(path), message));
                return found;
            }
            let Ok(file) = site.fs.open(path) else { return found };
            let mut prefix = vec![0; picker::PREFIX];
            let read = file.read_at(&mut prefix, 0).unwrap_or(0);
            prefix.truncate(read);
            let size = listed.candidate.meta.size;
            let shown = picker::read(size, &mut |buffer, offset| file.read_at(buffer, offset), site.release);
            let recent = picker::recent(&prefix);
            let hidden_name = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            let why = match (&shown, &recent) {
                (None, _) => Some("the picker skips it"),
                (Some(_), None) => Some("its header line is longer than 4,096 bytes, so the recent list leaves it out"),
                _ if hidden_name => Some("its name begins with a dot, so listings of directories leave it out"),
                _ => None,
            };
            if let Some(why) = why {
                let message = format!("The session opens, and not every list shows it: {why}.");
                found.push(Finding::new(&listing_codes::OPENABLE_BUT_NOT_LISTED, site.place(path), message));
            }
            if let (Some(shown), Some(title)) = (shown, recent)
                && size <= picker::PREFIX as u64
                && shown.title.is_some()
                && shown.title != title
                && has_title_patch(&prefix)
            {
                let message = "The file is short, so the recent list does not see the title patch in it.";
                found.push(Finding::new(&listing_codes::RECENT_TITLE_STALE, site.place(path), message));
            }
            found
        })
        .collect();
    judged.into_iter().flatten().for_each(|finding| sink.push(finding));
}

/// Whether a header patch with a title stands in the prefix (the picker's title may also be a compaction summary).
fn has_title_patch(prefix: &[u8]) -> bool {
    prefix.split(|byte| *byte == b'\n').any(|line| {
        memchr::memmem::find(line, b"header_patch").is_some()
            && Value::parse(line).is_some_and(|record| record.member("patch").is_some_and(|patch| patch.str_member("title").is_some()))
    })
}

/// Bytes that one scope may hold before gjc complains (spec 03 §17).
pub const SCOPE_BYTES: u64 = 512 << 20;

/// Size and number of entries of a scope. Which operation refuses a scope above its limit is not known: a gauge and a code,
/// no more; a healthy binding is never blamed for it.
pub fn size(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) {
    let (mut bytes, mut entries) = (0_u64, 0_u64);
    crate::agent::walk::tree(
        site.fs,
        &scope.directory.path,
        &site.limits,
        |_, _| true,
        |listing| {
            entries += listing.objects.len() as u64;
            let files = listing.objects.iter().filter(|object| object.meta.kind == Kind::File);
            bytes = files.fold(bytes, |sum, file| sum.saturating_add(file.meta.size));
        },
    );
    let path = || site.name(&scope.directory.path).to_string();
    sink.gauge(Gauge { name: "scope_bytes", path: path(), used: bytes, limit: SCOPE_BYTES, unit: "bytes" });
    let protocol: u64 =
        [&scope.locks, &scope.receipts, &scope.tombstones].into_iter().flatten().map(|role| role.objects.len() as u64).sum();
    sink.gauge(Gauge { name: "protocol_entries", path: path(), used: protocol, limit: 50_000, unit: "entries" });
    let place = || site.place(&scope.directory.path);
    if bytes > SCOPE_BYTES {
        let message =
            format!("The scope holds {bytes} bytes in {entries} objects; gjc's limit is {SCOPE_BYTES}. Nothing in it is damaged by that.");
        sink.push(Finding::new(&quota::codes::SCOPE_CAPACITY_EXCEEDED, place(), message));
    } else if bytes >= SCOPE_BYTES / 4 * 3 {
        let message = format!("The scope holds {bytes} of {SCOPE_BYTES} bytes.");
        sink.push(Finding::new(&quota::codes::SCOPE_NEAR_CAPACITY, place(), message));
    }
}

/// Whether most recorded inodes of a scope disagree with files whose content agrees: the directory was copied or restored.
/// Told once for the scope, so that no receipt and no tombstone is blamed for it.
pub fn rebound(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) -> bool {
    let mut identities = super::tombstone::recorded_identities(site, scope);
    for object in scope.receipts.iter().flat_map(|listing| &listing.objects) {
        let committed = matches!(
            receipt_names::parse_name(object.bytes()),
            receipt_names::Name::Migration { state: receipt_names::State::Committed, .. }
        );
        let Some(path) =
            scope.receipts.as_ref().map(|listing| listing.path_of(object)).filter(|_| committed && object.meta.kind == Kind::File)
        else {
            continue;
        };
        let Ok(Some(record)) = crate::agent::candidates::read_record(site.fs, &path) else { continue };
        identities.extend(["source", "destination"].iter().filter_map(|side| record.member(side)?.member("identity").cloned()));
    }
    let recorded = identities.len();
    let moved = identities.iter().filter(|identity| is_rebound(site, identity)).count();
    let most = recorded >= 2 && moved * 2 > recorded;
    if most {
        let message =
            format!("{moved} of {recorded} recorded inodes disagree with files of the same content: the directory was copied or restored.");
        sink.push(Finding::new(&scope_area::codes::IDENTITY_REBOUND, site.place(&scope.directory.path), message));
    }
    most
}

fn is_rebound(site: &Site<'_>, identity: &Value) -> bool {
    let Some(Value::String(path)) = identity.member("canonicalPath") else { return false };
    let path = site.here(Path::new(&*path.as_js().to_string_lossy()));
    let Ok(meta) = site.fs.lstat(&path) else { return false };
    let other = !(spells(identity, "dev", meta.dev) && spells(identity, "ino", meta.ino));
    // A file that grew or shrank has another content: no need to read it.
    let size = identity.member("size").and_then(View::as_f64) == Some(meta.size as f64);
    other
        && meta.kind == Kind::File
        && size
        && crate::fsys::hash_file(site.fs, &path)
            .is_ok_and(|(hash, _)| crate::agent::record::is_text(identity, "sha256", data_encoding::HEXLOWER.encode(&hash).as_bytes()))
}

/// What the other passes have said before the session directories are judged together.
#[derive(Debug)]
pub struct Told {
    /// Paths at which a finding stands that explains a candidate's refusal: any of error severity, and special files.
    blamed: BTreeSet<String>,
    /// Directories whose scopes do not resolve.
    refused: BTreeSet<String>,
}

impl Told {
    /// Reads it off the findings.
    pub fn by(findings: &[Finding]) -> Self {
        let explains =
            |finding: &&Finding| finding.code.severity == Severity::Error || *finding.code == super::operational::codes::SPECIAL_FILE;
        let refuses = |finding: &&Finding| finding.code.refuses_workspace();
        Told {
            blamed: findings.iter().filter(explains).map(|finding| finding.place.path.to_string()).collect(),
            refused: findings.iter().filter(refuses).map(|finding| judged_by(&finding.place.path).to_owned()).collect(),
        }
    }
}

/// The object that stands or falls with the object at a path: the scope of a binding, else the object itself.
pub fn judged_by(path: &str) -> &str {
    path.strip_suffix(BINDING).map_or(path, |scope| scope.strip_suffix('/').unwrap_or(scope))
}
