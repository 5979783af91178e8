//! What only shows when scopes and legacy directories are seen together: which workspace each transcript belongs to, what
//! the managed listing of each workspace shows, hides and refuses (areas *legacy* and *listing* of spec 05; spec 02 §5, §7).
//!
//! Every transcript is looked at once, whatever number of workspaces there is; gjc itself reads all legacy directories for
//! every listing.

use super::listing::codes as listing_codes;
use super::run::Site;
use super::run::part::Files;
use super::{legacy, migration_receipt, quota, scope as scope_area, words};
use crate::agent::candidates::{Candidate, Candidates, Cwds, Hidden, Invalid, Listing as Managed, Provenance, State, look_into};
use crate::agent::identity::{Identity, NoIdentity};
use crate::agent::layout::{BINDING, SessionsName, sessions_name};
use crate::agent::legacy::{MAX_UNKNOWN_DIRECTORIES, by_utf16, known_names};
use crate::agent::migration_receipt as receipt_names;
use crate::agent::record::spells;
use crate::agent::residue::{self, Residue};
use crate::agent::walk::{self, Listing, Scope, show};
use crate::finding::{Common, Finding, Outcome, Severity, Sink};
use crate::fsys::Kind;
use crate::gc::names as retirement;
use crate::json::{JsString, Value, View};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One session directory of a sessions root.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    provenance: Provenance,
    /// The workspace that a sound binding names.
    workspace: Option<Identity>,
    /// Its transcripts, but for those in `links`.
    transcripts: Arc<Files>,
    /// Links that are named like transcripts.
    links: Arc<Files>,
    /// Operation names of staged migration receipts in it.
    staged: BTreeSet<String>,
    /// The listing, when detached artifact roots lie in it: they are judged when all staged receipts are known.
    detached: Option<Listing>,
}

impl Directory {
    /// What is remembered of a session directory until all are known.
    pub fn new(
        directory: &Listing,
        provenance: Provenance,
        workspace: Option<Identity>,
        receipts: Option<&Listing>,
        transcripts: Arc<Files>,
    ) -> Self {
        let staged = receipts.into_iter().flat_map(of_migrations);
        let staged = staged.filter_map(|object| match receipt_names::parse_name(object.bytes()) {
            receipt_names::Name::Migration { operation, state } if state != receipt_names::State::Committed => Some(operation.to_owned()),
            _ => None,
        });
        let is_detached = |object: &walk::Object| matches!(residue::parse(object.bytes()), Some(Residue::MigrateArtifacts { .. }));
        let detached = directory.objects.iter().any(is_detached);
        let links = directory.objects.iter().filter(|object| object.is_transcript_name() && object.meta.kind == Kind::Symlink);
        Directory {
            path: directory.path.clone(),
            provenance,
            workspace,
            transcripts,
            links: Arc::new(Files::new(&directory.path, links.map(|object| object.name.clone()))),
            staged: staged.collect(),
            detached: detached.then(|| directory.clone()),
        }
    }
    /// The paths of its transcripts. It forgets which they are.
    fn take_paths(&mut self) -> impl Iterator<Item = PathBuf> + use<> {
        let [transcripts, links] = [&mut self.transcripts, &mut self.links].map(std::mem::take);
        transcripts.paths().chain(links.paths())
    }
    /// The name of the directory.
    fn name(&self) -> Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }
}

/// The outcomes of all transcripts, which get the answers of the managed listing.
pub struct Answers<'c> {
    /// In order of path.
    outcomes: Vec<Outcome>,
    common: &'c mut Common,
}

impl<'c> Answers<'c> {
    /// Takes outcomes.
    pub fn new(mut outcomes: Vec<Outcome>, common: &'c mut Common) -> Self {
        outcomes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Answers { outcomes, common }
    }
    /// The outcomes with what they were given, in order of path.
    pub fn into_outcomes(self) -> Vec<Outcome> {
        self.outcomes
    }
    fn find(&self, name: &str) -> Option<usize> {
        self.outcomes.binary_search_by(|outcome| (*outcome.path).cmp(name)).ok()
    }
    /// What reader S answers of a transcript.
    fn strict(&self, name: &str) -> Option<&str> {
        let verdicts = &self.outcomes.get(self.find(name)?)?.verdicts;
        verdicts.iter().find(|(reader, _)| *reader == "S").map(|(_, answer)| &**answer)
    }
    /// Notes what the listing answers of a transcript.
    fn put(&mut self, name: &str, answer: &'static str) {
        let Some(outcome) = self.find(name).and_then(|at| self.outcomes.get_mut(at)) else { return };
        let others = outcome.verdicts.iter().filter(|(reader, _)| *reader != "list");
        outcome.verdicts = others.cloned().chain([("list", answer.into())]).collect();
        self.common.share(outcome);
    }
}

/// A transcript that was looked at.
struct Seen {
    /// It and its workspace, or why it does not count.
    found: Result<(Candidate, Arc<Identity>), Invalid>,
    /// What is to be said when the listing shows it: other lists do not show the same.
    unlike: Vec<Finding>,
}

/// Transcripts of one parallel sweep: what is kept of them is put to their workspaces before the next ones are looked at.
const SWEEP: usize = 1024;

/// Looks at one transcript.
fn look(site: &Site<'_>, cwds: &Cwds, path: &Path, provenance: Provenance, answers: &Answers<'_>) -> Seen {
    let (mut candidate, prefix) = match look_into(site.fs, site.release, path, provenance) {
        Ok(looked) => looked,
        Err(invalid) => return Seen { found: Err(invalid), unlike: Vec::new() },
    };
    let unlike = if answers.strict(&site.name(path)).is_some_and(opens) { unlike(site, &candidate, &prefix) } else { Vec::new() };
    let found = match workspace(site, cwds, &candidate.cwd) {
        Ok(identity) => {
            if let Some(cwd) = cwds.shared(&candidate.cwd) {
                candidate.cwd = cwd;
            }
            Ok((candidate, identity))
        }
        Err(why) => Err(candidate.without_workspace(why)),
    };
    Seen { found, unlike }
}

/// Whether opening accepts what reader S answers so.
fn opens(strict: &str) -> bool {
    matches!(strict, "resumable" | "terminal")
}

/// The workspace of a header cwd, asked for once.
fn workspace(site: &Site<'_>, cwds: &Cwds, cwd: &JsString) -> Result<Arc<Identity>, NoIdentity> {
    cwds.of(cwd, |cwd| site.workspace(cwd))
}

/// Judges all session directories of a sessions root together. `root` is its listing; none when one scope is checked alone.
/// Adds the answer of the managed listing to the verdicts of each transcript.
pub fn check(
    site: &Site<'_>,
    cwds: &Cwds,
    root: Option<&Listing>,
    directories: Vec<Directory>,
    answers: &mut Answers<'_>,
    told: &Told,
    sink: &mut dyn Sink,
) {
    let staged: BTreeSet<String> = directories.iter().flat_map(|directory| directory.staged.iter().cloned()).collect();
    for directory in &directories {
        if let Some(listing) = &directory.detached {
            migration_receipt::detached_roots(site, listing, &staged, sink);
        }
    }
    let legacy_names = root.map(|root| legacy_directories(site, root, sink)).unwrap_or_default();
    let all = All { site, root, legacy_names: &legacy_names, told };
    // Legacy transcripts may belong to any workspace and wait for it; those of a scope belong to its own or to none, so that
    // a workspace is judged, and forgotten, when its scope was looked at.
    let (scopes, legacy): (Vec<_>, Vec<_>) = directories.into_iter().partition(|directory| directory.provenance == Provenance::V2);
    let mut order: Vec<Directory> = legacy.into_iter().chain(scopes).collect();
    // The names of each directory are forgotten as its transcripts are looked at.
    let files: Vec<_> = order.iter_mut().map(Directory::take_paths).collect();
    let mut files = files.into_iter().enumerate().flat_map(|(at, paths)| paths.map(move |path| (at, path)));
    let mut workspaces: BTreeMap<String, Workspace> = BTreeMap::new();
    let (mut at, mut gathered) = (0, Gathered::default());
    loop {
        let sweep: Vec<(usize, PathBuf)> = files.by_ref().take(SWEEP).collect();
        let seen: Vec<Seen> = sweep.par_iter().map(|(of, path)| look(site, cwds, path, order[*of].provenance, answers)).collect();
        // Directories that end before this file, or, when there is no further one, all that are left.
        let mut leave =
            |until: usize, gathered: &mut Gathered, workspaces: &mut BTreeMap<_, _>, answers: &mut Answers<'_>, sink: &mut dyn Sink| {
                while at < until {
                    all.leave(&order[at], std::mem::take(gathered), workspaces, answers, sink);
                    at += 1;
                }
            };
        if sweep.is_empty() {
            leave(order.len(), &mut gathered, &mut workspaces, answers, sink);
            break;
        }
        for ((of, _), seen) in sweep.iter().zip(seen) {
            leave(*of, &mut gathered, &mut workspaces, answers, sink);
            all.gather(&order[*of], seen, &mut gathered, &mut workspaces, answers, sink);
        }
    }
    for (scope, workspace) in workspaces {
        all.judge(&scope, workspace, answers, sink);
    }
}

/// The names of a receipts directory among which receipts of migrations are: there may be fifty thousand others.
fn of_migrations(receipts: &Listing) -> impl Iterator<Item = &walk::Object> {
    receipts.not_starting_with(retirement::PREFIX.as_bytes())
}

/// What was seen of one directory so far.
#[derive(Default)]
struct Gathered {
    /// Scope names of the workspaces that occurred.
    scopes: BTreeMap<*const Identity, String>,
    /// Working directories, as headers of a legacy directory spell them.
    cwds: BTreeSet<String>,
    /// Workspaces that transcripts of a scope belong to, which is not theirs.
    foreign: BTreeSet<String>,
    foreign_count: u64,
}

/// What all workspaces are judged with.
struct All<'a> {
    site: &'a Site<'a>,
    root: Option<&'a Listing>,
    legacy_names: &'a [String],
    told: &'a Told,
}

impl All<'_> {
    /// Puts a transcript of a directory to its workspace.
    fn gather(
        &self,
        directory: &Directory,
        seen: Seen,
        gathered: &mut Gathered,
        workspaces: &mut BTreeMap<String, Workspace>,
        answers: &mut Answers<'_>,
        sink: &mut dyn Sink,
    ) {
        let site = self.site;
        let Seen { found, unlike } = seen;
        let (candidate, identity) = match found {
            Ok(found) => found,
            Err(invalid) => {
                let name = site.name(&invalid.path);
                answers.put(&name, invalid.code);
                invalid_candidate(site, &invalid, self.told.blamed.contains(&*name), sink);
                return;
            }
        };
        let scope = gathered.scopes.entry(Arc::as_ptr(&identity)).or_insert_with(|| identity.directory_name());
        if directory.provenance == Provenance::Legacy {
            gathered.cwds.insert(candidate.cwd.to_string());
        } else if *scope != directory.name() {
            gathered.foreign_count += 1;
            gathered.foreign.insert(identity.canonical_path.clone());
            answers.put(&site.name(&candidate.path), "foreign");
            return;
        }
        let of = match workspaces.get_mut(scope) {
            Some(of) => of,
            None => workspaces.entry(scope.clone()).or_insert(Workspace::of((*identity).clone())),
        };
        if !unlike.is_empty() {
            of.unlike.insert(candidate.path.clone(), unlike);
        }
        of.candidates.push(Box::new(candidate));
    }

    /// Says what only the whole of a directory shows; a scope ends the wait of its workspace.
    fn leave(
        &self,
        directory: &Directory,
        gathered: Gathered,
        workspaces: &mut BTreeMap<String, Workspace>,
        answers: &mut Answers<'_>,
        sink: &mut dyn Sink,
    ) {
        let place = || self.site.place(&directory.path);
        let shown = |names: &BTreeSet<String>| names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
        let Gathered { cwds, foreign, foreign_count, .. } = gathered;
        if cwds.len() > 1 {
            let message = format!("The transcripts in here name {} working directories: {}.", cwds.len(), shown(&cwds));
            sink.push(Finding::new(&legacy::codes::LEGACY_DIR_MIXED_CWD, place(), message));
        }
        if foreign_count > 0 {
            let message = format!(
                "{} to another workspace: {}.",
                words::count(foreign_count, "transcript of this directory belongs", "transcripts of this directory belong"),
                shown(&foreign)
            );
            sink.push(Finding::new(&listing_codes::FOREIGN_TRANSCRIPT, place(), message));
        }
        if directory.provenance == Provenance::V2 {
            let own = directory.name();
            let bound = directory.workspace.clone().map(Workspace::of);
            if let Some(workspace) = workspaces.remove(&*own).or(bound) {
                self.judge(&own, workspace, answers, sink);
            }
        }
    }

    /// Judges the transcripts of one workspace.
    fn judge(&self, scope: &str, of: Workspace, answers: &mut Answers<'_>, sink: &mut dyn Sink) {
        let (site, root) = (self.site, self.root);
        let base = root.map(|root| root.path.clone());
        let sessions = base.or_else(|| of.candidates.first().and_then(|one| Some(one.path.parent()?.parent()?.to_owned())));
        let Some(sessions) = sessions else { return };
        let complete = root.is_none_or(|root| must_visit(site, root, &of.identity, sink));
        let directory = sessions.join(scope);
        let resolves = directory
            .ancestors()
            .take_while(|above| above.starts_with(site.root))
            .all(|above| !self.told.refused.contains(&*site.name(above)));
        let digest = scope.strip_prefix("v2-").unwrap_or(scope);
        let known = known_names(&of.identity.canonical_path, &of.identity.canonical_path, site.around);
        let visited = |candidate: &Candidate| {
            let name = candidate.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
            candidate.provenance == Provenance::V2 || is_visited(&name, &known, self.legacy_names)
        };
        let mut owned = of.candidates;
        for beyond in owned.extract_if(.., |candidate| !visited(candidate)) {
            answers.put(&site.name(&beyond.path), "not visited");
        }
        let mut listing = Managed::default();
        listing.settle(site.fs, &directory, digest, owned);
        let holds_others = listing.owned.iter().any(|listed| listed.candidate.provenance == Provenance::V2);
        for (candidate, hidden) in &listing.hidden {
            let name = site.name(&candidate.path);
            match hidden {
                Hidden::Retired { .. } => answers.put(&name, "retired"),
                Hidden::Shadowed { by, receipt } => {
                    let message = "Its migrated copy stands for it; it is kept by design.";
                    let finding = Finding::new(&legacy::codes::LEGACY_SHADOWED, site.place(&candidate.path), message);
                    sink.push(finding.related("v2 copy", site.place(by)).related("receipt", site.place(receipt)));
                    answers.put(&name, "shadowed");
                }
            }
        }
        for listed in &listing.owned {
            let candidate = &listed.candidate;
            answers.put(&site.name(&candidate.path), listed.state.word());
            if listed.state == State::LegacyUnmigrated {
                let others =
                    if holds_others { "its workspace has other sessions in the scope" } else { "its workspace has no session in a scope" };
                let message = format!("A session of the workspace `{}` in the legacy layout; {others}.", of.identity.canonical_path);
                sink.push(Finding::new(&legacy::codes::LEGACY_UNMIGRATED, site.place(&candidate.path), message));
                destination(site, &directory, candidate, &listing, sink);
            }
        }
        duplicates(site, &listing, sink);
        ambiguous(site, &listing, sink);
        // A listing that is refused as a whole shows nothing: there is nothing to compare opening with.
        if complete && resolves {
            readers(site, &listing, answers, of.unlike, sink);
        }
    }
}

/// All transcripts of one workspace.
struct Workspace {
    identity: Identity,
    candidates: Candidates,
    /// What is to be said of those that the listing shows.
    unlike: BTreeMap<PathBuf, Vec<Finding>>,
}

impl Workspace {
    const fn of(identity: Identity) -> Self {
        Workspace { identity, candidates: Vec::new(), unlike: BTreeMap::new() }
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
        quota::LEGACY_DIRECTORIES.read(site.place(&root.path), used, sink);
    }
    if used > limit {
        let message = format!("{used} legacy directories; a listing visits {limit} of those that it does not know by name.");
        sink.push(Finding::new(&legacy::codes::LEGACY_DIRECTORY_LIMIT, site.place(&root.path), message));
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
    let code = match invalid.code {
        "cwd_not_found" => &listing_codes::CWD_NOT_FOUND,
        "cwd_not_directory" => &listing_codes::CWD_NOT_DIRECTORY,
        "cwd_not_utf8" => &listing_codes::CWD_NOT_UTF8,
        "cwd_io_error" => &listing_codes::CWD_IO_ERROR,
        word => match super::code(word) {
            Some(code) => code,
            None => return,
        },
    };
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
    let mut candidates: Vec<&Candidate> = listing.owned.iter().map(|listed| &*listed.candidate).collect();
    // The newest of an id first.
    candidates.sort_by_key(|candidate| (&candidate.session_id, std::cmp::Reverse(candidate.meta.mtime_ns), &candidate.path));
    for twins in candidates.chunk_by(|one, two| one.session_id == two.session_id) {
        let Some((newest, others)) = twins.split_first() else { continue };
        for other in others {
            let message = format!("The session id `{}` is also that of a later transcript of this workspace.", other.session_id);
            let finding = Finding::new(&listing_codes::DUPLICATE_SESSION_ID, site.place(&other.path), message);
            sink.push(finding.related("the one that merged listings show", site.place(&newest.path)));
        }
    }
}

/// Ids, or base-name suffixes (what stands behind the last `_`), that are a prefix of another session's in the same listing,
/// ignoring case (spec 04 §3.1). Sessions of the very same id have a code of their own.
fn ambiguous(site: &Site<'_>, listing: &Managed, sink: &mut dyn Sink) {
    let mut names: Vec<(Cow<'_, str>, &JsString, &Path)> = Vec::with_capacity(listing.owned.len());
    for listed in &listing.owned {
        let (path, session_id) = (&*listed.candidate.path, &listed.candidate.session_id);
        let id = session_id.as_js().to_string_lossy();
        let suffix = path.file_stem().and_then(|stem| match stem.to_str() {
            Some(stem) => stem.rsplit_once('_').map(|(_, suffix)| Cow::Borrowed(suffix)),
            None => show(stem).rsplit_once('_').map(|(_, suffix)| Cow::Owned(suffix.to_owned())),
        });
        // Nearly always the id itself.
        let suffix = suffix.filter(|suffix| *suffix != id);
        names.push((lower_case(id), session_id, path));
        names.extend(suffix.map(|suffix| (lower_case(suffix), session_id, path)));
    }
    names.sort_unstable();
    names.dedup_by(|a, b| (&a.0, a.1) == (&b.0, b.1));
    let mut told: BTreeSet<&Path> = BTreeSet::new();
    for (at, (short, id, path)) in names.iter().enumerate() {
        // What begins with the name stands right behind it; few of these are the session's own other name.
        let mut longer = names.iter().skip(at + 1).take_while(|(long, ..)| long.starts_with(&**short));
        if !short.is_empty()
            && let Some((long, _, other)) = longer.find(|(_, other, _)| other != id)
            && told.insert(path)
        {
            let message = if long == short {
                format!("`--resume {short}` also matches another session that is called so; the newest is taken.")
            } else {
                format!("`--resume {short}` also matches `{long}`; the newest is taken.")
            };
            sink.push(
                Finding::new(&listing_codes::ID_PREFIX_AMBIGUOUS, site.place(path), message).related("also matched", site.place(other)),
            );
        }
    }
}

/// The text in lower case; most names are.
fn lower_case(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) { text } else { text.to_lowercase().into() }
}

/// What listings show against what opening accepts.
fn readers(site: &Site<'_>, listing: &Managed, answers: &Answers<'_>, mut unlike: BTreeMap<PathBuf, Vec<Finding>>, sink: &mut dyn Sink) {
    for listed in &listing.owned {
        let path = &listed.candidate.path;
        if let Some(answer) = answers.strict(&site.name(path)).filter(|answer| !opens(answer)) {
            let message = format!("The listing shows the session, and opening it is refused (`{answer}`).");
            sink.push(Finding::new(&listing_codes::LISTED_BUT_NOT_OPENABLE, site.place(path), message));
        }
        unlike.remove(path).into_iter().flatten().for_each(|finding| sink.push(finding));
    }
}

/// What lists of other kinds make of a transcript that opens, where that is not what the managed listing says. `prefix` is
/// its beginning.
fn unlike(site: &Site<'_>, candidate: &Candidate, prefix: &[u8]) -> Vec<Finding> {
    use crate::transcript::readers::{picker, recent};
    let (path, size) = (&candidate.path, candidate.meta.size);
    let mut found = Vec::new();
    let file = (size > prefix.len() as u64).then(|| site.fs.open(path));
    let Ok(file) = file.transpose() else { return found };
    let read_at = &mut |buffer: &mut [u8], offset: u64| match &file {
        Some(file) => file.read_at(buffer, offset),
        None => {
            Ok(usize::try_from(offset).ok().and_then(|offset| prefix.get(offset..)).map_or(0, |mut rest| rest.read(buffer).unwrap_or(0)))
        }
    };
    let shown = picker::read(size, read_at, site.release);
    // Nothing is said of a file that cannot be closed: it was not read.
    if file.is_some_and(|file| file.close().is_err()) {
        return found;
    }
    let prefix = &prefix[..prefix.len().min(picker::PREFIX)];
    let recent = recent::unpatched_title(prefix);
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
        && has_title_patch(prefix)
    {
        let message = "The file is short, so the recent list does not see the title patch in it.";
        found.push(Finding::new(&listing_codes::RECENT_TITLE_STALE, site.place(path), message));
    }
    found
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
/// Entries of one scope that gjc looks at when it adds up their bytes (spec 03 §17).
pub const SCOPE_ENTRIES: u64 = 200_000;

/// Size and number of entries of a scope. Which operation refuses a scope above its limit is not known: a gauge and a code,
/// no more; a healthy binding is never blamed for it.
pub fn size(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) {
    let (mut bytes, mut entries) = (0_u64, 0_u64);
    let mut count = |listing: &Listing| {
        entries += listing.objects.len() as u64;
        let files = listing.objects.iter().filter(|object| object.meta.kind == Kind::File);
        bytes = files.fold(bytes, |sum, file| sum.saturating_add(file.meta.size));
    };
    // What was listed is not listed again: a scope may hold tens of thousands of files.
    for listing in scope.listings() {
        count(listing);
        for object in listing.objects.iter().filter(|object| object.meta.kind == Kind::Directory) {
            let path = listing.path_of(object);
            if scope.listings().all(|known| known.path != path) {
                walk::tree(site.fs, &path, &site.limits, |_, _| true, |listing| count(&listing));
            }
        }
    }
    sink.gauge(quota::SCOPE_BYTES.gauge(site.name(&scope.directory.path), bytes));
    let place = || site.place(&scope.directory.path);
    quota::SCOPE_ENTRIES.read(place(), entries, sink);
    if bytes > SCOPE_BYTES {
        let message =
            format!("The scope holds {bytes} bytes in {entries} objects; gjc's limit is {SCOPE_BYTES}. Nothing in it is damaged by that.");
        sink.push(Finding::new(&quota::codes::SCOPE_CAPACITY_EXCEEDED, place(), message));
    } else if quota::SCOPE_BYTES.is_near(bytes) {
        let message = format!("The scope holds {bytes} of {SCOPE_BYTES} bytes.");
        sink.push(Finding::new(&quota::codes::SCOPE_NEAR_CAPACITY, place(), message));
    }
}

/// Whether most recorded inodes of a scope disagree with files whose content agrees: the directory was copied or restored.
/// Told once for the scope, so that no receipt and no tombstone is blamed for it.
pub fn rebound(site: &Site<'_>, scope: &Scope, sink: &mut dyn Sink) -> bool {
    let mut identities = super::tombstone::recorded_identities(site, scope);
    for object in scope.receipts.iter().flat_map(of_migrations) {
        let committed = matches!(
            receipt_names::parse_name(object.bytes()),
            receipt_names::Name::Migration { state: receipt_names::State::Committed, .. }
        );
        if !committed || object.meta.kind != Kind::File {
            continue;
        }
        let Some(path) = scope.receipts.as_ref().map(|listing| listing.path_of(object)) else { continue };
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
    /// Paths at which a finding stands that explains a candidate's refusal: any of error severity.
    blamed: BTreeSet<String>,
    /// Directories whose scopes do not resolve.
    refused: BTreeSet<String>,
}

impl Told {
    /// Reads it off the findings.
    pub fn by(findings: &[Finding]) -> Self {
        let explains = |finding: &&Finding| finding.code.severity == Severity::Error;
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
