//! Why one session is not listed, not resumable, not migrated: the whole chain of gjc's decisions about one file, in fixed
//! order, up to and including the first one at which gjc turns away (spec 02 §3 to §9, spec 01 §2, spec 04 §2).
//!
//! Nothing is written; what opening would do is predicted.

mod find;
mod readers;

pub use readers::{cause_of, first_refusal};

use super::candidates::{self, Candidate, Hidden, Listing, Provenance, look, read_record};
use super::identity::NoIdentity;
use super::layout;
use super::migration_receipt;
use super::predict::{self, Policy, Refused, Shown, binding_detail};
use super::security::{self, Need, Violation};
use super::tombstone;
use super::world::{Scope, World};
use super::{binding, walk};
use crate::finding::Difference;
use crate::fsys::{Entry, Errno, Kind, Meta};
use crate::json::View;
use crate::transcript::inspect::Inspected;
use crate::transcript::open::{self, NOT_A_CANDIDATE, Opening, STAGED, anywhere, in_context};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Something that was looked at, and what it showed.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Evidence {
    /// The object.
    pub path: String,
    /// 1-based line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What was found.
    pub shows: String,
}

/// One decision.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Name of the step, fixed.
    pub step: &'static str,
    /// gjc's answer: a token, or a few words where it has none.
    pub answer: String,
    /// True when gjc turns away here.
    pub turns_away: bool,
    /// Section of the format's description.
    pub section: &'static str,
    /// What was looked at.
    pub evidence: Vec<Evidence>,
    /// What the user can do, where gjc turns away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The answer to `why`.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// What was asked for.
    pub asked: String,
    /// The file, when one was found.
    pub path: Option<String>,
    /// The same, byte for byte.
    #[serde(skip)]
    #[schemars(skip)]
    pub file: Option<PathBuf>,
    /// The steps that were taken.
    pub steps: Vec<Step>,
    /// True when gjc opens the session and can go on with it.
    pub opens: bool,
    /// What the check reports about the objects that the answer rests on, where it was asked.
    pub reported: Vec<Reported>,
}

impl Chain {
    /// The step at which gjc turns away.
    pub fn stop(&self) -> Option<&Step> {
        self.steps.last().filter(|step| step.turns_away)
    }
}

/// A code that the check reports.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Reported {
    /// Name of the code.
    pub code: &'static str,
    /// Its severity.
    pub severity: crate::finding::Severity,
    /// The first line that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How often it is reported.
    pub count: usize,
}

/// The steps, in order.
pub const STEPS: [&str; 16] = [
    "found",
    "regular file",
    "header",
    "workspace",
    "scope",
    "binding",
    "modes",
    "receipts",
    "tombstones",
    "shadowing",
    "strict reader",
    "managed reader",
    "bounded reader",
    "listing",
    "picker",
    "open",
];

/// Answer of the step "found" when a path was named.
pub const BY_PATH: &str = "named by its path";

/// A step that passes.
fn passes(step: &'static str, section: &'static str, answer: impl Into<String>, evidence: Vec<Evidence>) -> Step {
    Step { step, answer: answer.into(), turns_away: false, section, evidence, advice: None }
}
/// A step at which gjc turns away.
fn stops(step: &'static str, section: &'static str, answer: impl Into<String>, evidence: Vec<Evidence>, advice: &str) -> Step {
    Step { step, answer: answer.into(), turns_away: true, section, evidence, advice: Some(advice.to_owned()) }
}
fn saw(path: &Path, shows: impl Into<String>) -> Evidence {
    Evidence { path: walk::show(path.as_os_str()), line: None, shows: shows.into() }
}
fn saw_line(path: &Path, line: u64, shows: impl Into<String>) -> Evidence {
    Evidence { line: Some(line), ..saw(path, shows) }
}
/// What a stat shows; size and links of a directory are the file system's own affair.
fn stat(meta: &Meta) -> String {
    let (noun, mode, owner) = (meta.kind.noun(), meta.permissions(), meta.uid);
    match meta.kind {
        Kind::Directory => format!("{noun}, mode {mode:04o}, owner {owner}"),
        _ => {
            let links = if meta.nlink == 1 { "1 link".to_owned() } else { format!("{} links", meta.nlink) };
            format!("{noun}, mode {mode:04o}, {links}, {} bytes, owner {owner}", meta.size)
        }
    }
}

/// Follows the chain for a path, or for a session id (or the beginning of one) among all transcripts of the sessions root.
pub fn why(world: &World<'_>, asked: impl AsRef<OsStr>) -> Chain {
    let asked = asked.as_ref();
    let mut chain = Chain { asked: walk::show(asked), path: None, file: None, steps: Vec::new(), opens: false, reported: Vec::new() };
    let path = match find::find(world, asked) {
        Ok((path, step)) => {
            chain.steps.push(step);
            path
        }
        Err(step) => {
            chain.steps.push(step);
            return chain;
        }
    };
    chain.path = Some(walk::show(path.as_os_str()));
    chain.file = Some(path.clone());
    let mut follow = Follow { world, path, candidate: None, scope: None, listing: None, read: None };
    for step in Follow::STEPS {
        let Some(step) = step(&mut follow) else { continue };
        let stop = step.turns_away;
        chain.steps.push(step);
        if stop {
            return chain;
        }
    }
    chain.opens = true;
    chain
}

/// What is known on the way.
struct Follow<'w, 'a> {
    world: &'w World<'a>,
    path: PathBuf,
    candidate: Option<Candidate>,
    scope: Option<Scope>,
    listing: Option<Listing>,
    /// What reader S read.
    read: Option<Inspected>,
}

type StepOf<'w, 'a> = fn(&mut Follow<'w, 'a>) -> Option<Step>;

impl<'w, 'a> Follow<'w, 'a> {
    const STEPS: [StepOf<'w, 'a>; 15] = [
        Self::regular_file,
        Self::header,
        Self::workspace,
        Self::scope,
        Self::binding,
        Self::modes,
        Self::receipts,
        Self::tombstones,
        Self::shadowing,
        Self::strict,
        Self::managed,
        Self::bounded,
        Self::listing,
        Self::picker,
        Self::open,
    ];

    fn root(&self) -> PathBuf {
        self.world.canonical_root(&self.world.sessions_root)
    }
    /// Whether the file lies directly in a directory of the sessions root.
    fn is_managed(&self) -> bool {
        self.path.parent().and_then(Path::parent) == Some(&*self.root())
    }
    /// Whether the file lies directly in a staging area (spec 04 §1.5).
    fn is_staged(&self) -> bool {
        self.path.parent().and_then(Path::file_name).is_some_and(|name| name == layout::STAGING)
    }
    fn directory_name(&self) -> String {
        self.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
    }

    fn regular_file(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §4.5";
        let meta = match self.world.fs.lstat(&self.path) {
            Ok(meta) => meta,
            Err(error) => {
                return Some(stops(
                    "regular file",
                    SECTION,
                    "unreadable_candidate",
                    vec![saw(&self.path, error.to_string())],
                    "Make the file readable for the user that runs gjc.",
                ));
            }
        };
        let mut evidence = vec![saw(&self.path, stat(&meta))];
        if self.path.to_str().is_none() {
            let shows = "the name is not UTF-8; what gjc makes of such names is not known, so rename the file first";
            evidence.push(saw(&self.path, shows));
        }
        if !self.is_managed() {
            // A path outside is opened as it is, through links too (spec 01 §2.3): only the kind behind them counts.
            return Some(match self.world.fs.stat(&self.path) {
                Ok(behind) if behind.kind == Kind::File => passes("regular file", "01 §2.3", "regular file", evidence),
                Ok(_) => {
                    let advice = "Name a regular file: nothing else is a transcript.";
                    stops("regular file", "01 §2.3", "read-failed", evidence, advice)
                }
                Err(_) => {
                    stops("regular file", "01 §2.3", "missing", evidence, "The link leads nowhere: put the file back where it points.")
                }
            });
        }
        Some(match meta.kind {
            Kind::File if meta.nlink <= 1 => passes("regular file", SECTION, "regular file", evidence),
            Kind::File => stops(
                "regular file",
                SECTION,
                self.by_release("source_changed"),
                evidence,
                "Remove the surplus name of the file (a `.staging`, `.replacement` or `.gjc-…` name beside it), never the main one.",
            ),
            Kind::Symlink => stops(
                "regular file",
                SECTION,
                "unreadable_candidate",
                evidence,
                "Put the real file in place of the link: inside the sessions directory links are never followed.",
            ),
            _ => stops(
                "regular file",
                SECTION,
                self.by_release("source_changed"),
                evidence,
                "Move the object away: only a regular file is a transcript.",
            ),
        })
    }
    /// 0.15.0 called everything that a capture refuses unreadable.
    fn by_release(&self, newest: &'static str) -> &'static str {
        if Difference::CandidateSourceChanged.in_effect(self.world.release) { newest } else { "unreadable_candidate" }
    }

    fn header(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §5.3";
        match look(self.world.fs, self.world.release, &self.path, Provenance::V2) {
            Ok(mut candidate) => {
                if !self.directory_name().starts_with("v2-") {
                    candidate.provenance = Provenance::Legacy;
                }
                let shows = format!("id `{}`, cwd `{}`", candidate.session_id, candidate.cwd);
                self.candidate = Some(candidate);
                Some(passes("header", SECTION, "session header", vec![saw_line(&self.path, 1, shows)]))
            }
            Err(invalid) if !self.is_managed() => {
                let shows = format!("{}; only the listing of managed files asks for that", invalid.detail);
                Some(passes("header", SECTION, "not asked", vec![saw(&self.path, shows)]))
            }
            Err(invalid) if self.path.file_name().is_some_and(|name| name.to_str().is_none()) => Some(stops(
                "header",
                SECTION,
                invalid.code,
                vec![saw(&self.path, invalid.detail)],
                "Give the file a name in UTF-8 that ends in `.jsonl`, with gjc stopped. Its content need not change.",
            )),
            Err(invalid) => Some(stops(
                "header",
                SECTION,
                invalid.code,
                vec![saw_line(&self.path, 1, invalid.detail)],
                "Repair the first line: one JSON object of type \"session\" with string id and cwd, ended by a line feed. Keep a copy of the file.",
            )),
        }
    }

    fn workspace(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §2.1";
        let candidate = self.candidate.as_ref()?;
        let cwd = PathBuf::from(&*candidate.cwd.as_js().to_string_lossy());
        match self.world.identity(&cwd) {
            Ok(identity) => {
                let shows = if self.world.is_copy {
                    "the working directory of the header, taken at its word: the agent directory is a copy from elsewhere".to_owned()
                } else if Path::new(&identity.canonical_path) == cwd {
                    "the working directory of the header is there".to_owned()
                } else {
                    format!("the working directory of the header leads to `{}`", identity.canonical_path)
                };
                Some(passes("workspace", SECTION, "resolves", vec![saw(&cwd, shows)]))
            }
            Err(why) => {
                let advice = match why {
                    // The scope is that of the old path, and a symlink there makes the session one of the new path: of no use in it.
                    NoIdentity::NotFound if candidate.provenance == Provenance::V2 => {
                        "Create the directory again at this path, resume the session there, and take it to where you work now with `/move DIRECTORY`. A symlink does not do: the scope belongs to this very path."
                    }
                    NoIdentity::NotFound => {
                        "Create the directory again, or put a symlink there that leads to where it moved: then the session belongs to that workspace."
                    }
                    NoIdentity::NotDirectory => "A file stands where the working directory was: move it away and recreate the directory.",
                    _ => "Make the directory reachable for the user that runs gjc.",
                };
                // Outside managed storage the cwd is not asked for a listing.
                self.is_managed().then(|| {
                    stops(
                        "workspace",
                        SECTION,
                        why.candidate_code(),
                        vec![saw_line(&self.path, 1, format!("cwd `{}`: {}", candidate.cwd, why.token()))],
                        advice,
                    )
                })
            }
        }
    }

    fn scope(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §1.3";
        let directory = self.path.parent().unwrap_or(&self.path).to_owned();
        let root = self.root();
        if !self.is_managed() && self.path.starts_with(&root) {
            let advice = "Copy the file out of the sessions directory, and open the copy by its path (`gjc --resume PATH`).";
            let shows = "is inside the sessions root, but no directory that a listing visits";
            let answer = if self.is_staged() { STAGED } else { NOT_A_CANDIDATE };
            return Some(stops("scope", "01 §2.8", answer, vec![saw(&directory, shows)], advice));
        }
        if !self.is_managed() {
            let shows = format!("lies outside the sessions root `{}`: no managed listing visits it", walk::show(root.as_os_str()));
            return Some(passes("scope", SECTION, "not managed", vec![saw(&directory, shows)]));
        }
        let name = self.directory_name();
        if !matches!(layout::sessions_name(name.as_bytes()), layout::SessionsName::Scope | layout::SessionsName::Legacy) {
            let advice = "Move the transcript into the scope of its workspace by opening it with `gjc --resume PATH` there; no listing visits this directory.";
            return Some(stops(
                "scope",
                SECTION,
                "not visited",
                vec![saw(&directory, "is neither a scope nor a legacy directory")],
                advice,
            ));
        }
        let cwd = PathBuf::from(&*self.candidate.as_ref()?.cwd.as_js().to_string_lossy());
        let identity = self.world.identity(&cwd).ok()?;
        let expected = identity.directory_name();
        if name.starts_with("v2-") && name != expected {
            let shows = format!("is the scope of another workspace; this session belongs to `{expected}`");
            let advice = "The session is only listed in its own workspace: stop gjc, make a backup, and move the file to the scope of that workspace.";
            return Some(stops("scope", "02 §5.3", "foreign", vec![saw(&directory, shows)], advice));
        }
        let sessions_root = self.world.fs.lstat(&self.world.sessions_root);
        if sessions_root.as_ref().is_ok_and(|meta| meta.kind != Kind::Directory) {
            let shows = sessions_root.map(|meta| stat(&meta)).unwrap_or_default();
            let advice = "Make `sessions` a real directory, or point GJC_CODING_AGENT_DIR to where it lies.";
            return Some(stops("scope", "02 §4.4", "sessions_root_unavailable", vec![saw(&self.world.sessions_root, shows)], advice));
        }
        let scope = root.join(&expected);
        match self.world.fs.lstat(&scope) {
            Ok(meta) if meta.kind != Kind::Directory => Some(stops(
                "scope",
                "02 §4.4",
                "binding_invalid",
                vec![saw(&scope, stat(&meta))],
                "Put the real directory in place of what stands there.",
            )),
            Ok(meta) => Some(passes("scope", SECTION, expected, vec![saw(&scope, stat(&meta))])),
            Err(_) => Some(passes("scope", SECTION, expected, vec![saw(&scope, "does not exist yet; the next start creates it")])),
        }
    }

    fn own_scope(&self) -> Option<PathBuf> {
        let cwd = PathBuf::from(&*self.candidate.as_ref()?.cwd.as_js().to_string_lossy());
        let identity = self.world.identity(&cwd).ok()?;
        self.is_managed().then(|| self.root().join(identity.directory_name()))
    }

    fn binding(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §3.2";
        let directory = self.own_scope()?;
        let file = directory.join(layout::BINDING);
        let cwd = PathBuf::from(&*self.candidate.as_ref()?.cwd.as_js().to_string_lossy());
        let identity = self.world.identity(&cwd).ok()?;
        Some(
            match binding::read(self.world.fs, &directory)
                .and_then(|found| found.map_or(Ok(false), |found| found.belongs_to(&identity).map(|()| true)))
            {
                Ok(true) => passes("binding", SECTION, "canonical", vec![saw(&file, "names this workspace in the canonical form")]),
                Ok(false) => passes("binding", SECTION, "missing", vec![saw(&file, "does not exist; the next write creates it")]),
                Err(fault) => {
                    let shows = format!("step {}: {}", fault.step(), binding_detail(&fault));
                    let advice = if fault.step() == 4 {
                        "The directory is that of this workspace and the binding file is another's: leave the transcripts where they are, and restore the file from a backup, or write it anew (`gjc-fsck scope` prints it)."
                    } else {
                        "If the content is right, write it in the canonical form (`gjc-fsck scope` prints it); otherwise restore it from a backup."
                    };
                    stops("binding", SECTION, fault.code(), vec![saw(&file, shows)], advice)
                }
            },
        )
    }

    fn modes(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §4.1";
        let directory = self.own_scope()?;
        let file = self.world.fs.lstat(&self.path).ok()?;
        if !self.world.fs.present(&directory).unwrap_or(true) {
            return Some(passes("modes", SECTION, "nothing to check", vec![saw(&directory, "does not exist yet")]));
        }
        let mut evidence = vec![saw(&self.path, stat(&file))];
        Some(match security::verify(self.world.fs, &directory, Need::Directory, self.world.uid) {
            Ok(_) => {
                if let Ok(meta) = self.world.fs.lstat(&directory) {
                    evidence.insert(0, saw(&directory, stat(&meta)));
                }
                passes("modes", SECTION, "owner-only", evidence)
            }
            Err(violation) => {
                let shows = self.world.fs.lstat(&directory).map_or_else(|error| error.to_string(), |meta| stat(&meta));
                evidence.insert(0, saw(&directory, format!("{} ({shows})", violation.token())));
                stops("modes", SECTION, "binding_invalid", evidence, advice_on_security(&violation))
            }
        })
    }

    /// Never turns away: what receipts name this file is evidence for the steps behind it; whether one of them matches, and so
    /// hides the file, is the step "shadowing".
    fn receipts(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §7.2";
        let scope = self.own_scope()?;
        let receipts = scope.join(layout::INTERNAL).join(layout::RECEIPTS);
        let own = candidates::path_text(&self.path);
        let (mut evidence, mut unread) = (Vec::new(), Vec::new());
        for entry in self.entries(&receipts, &mut unread) {
            let migration_receipt::Name::Migration { state, .. } = migration_receipt::parse_name(entry.name.as_encoded_bytes()) else {
                continue;
            };
            let file = receipts.join(&entry.name);
            let record = match read_record(self.world.fs, &file) {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                Err(refusal) => {
                    unread.push(saw(&file, format!("{refusal}: whether it names this file nobody can tell")));
                    continue;
                }
            };
            let names =
                |side: &str| record.member(side).is_some_and(|side| side.str_member("path").is_some_and(|path| *path == *own.as_bytes()));
            for (side, word) in [("source", "legacy source"), ("destination", "v2 copy")] {
                if names(side) {
                    evidence.push(saw(&file, format!("a `{}` receipt names this file as its {word}", state.word())));
                }
            }
        }
        let answer = match (evidence.is_empty(), unread.is_empty()) {
            (true, true) => "none",
            (true, false) => "none that can be read",
            (false, _) => "named by receipts",
        };
        evidence.append(&mut unread);
        if evidence.is_empty() {
            evidence.push(saw(&receipts, "no migration receipt names this file"));
        }
        Some(passes("receipts", SECTION, answer, evidence))
    }

    /// What a directory of the protocol holds, nothing where there is none; one that cannot be listed is evidence.
    fn entries(&self, directory: &Path, unread: &mut Vec<Evidence>) -> Vec<Entry> {
        self.world.fs.list(directory).unwrap_or_else(|error| {
            if !matches!(error.errno, Errno::NOENT | Errno::NOTDIR) {
                unread.push(saw(directory, format!("cannot be listed: {}", error.token())));
            }
            Vec::new()
        })
    }

    /// Resolves and lists the workspace; gjc's refusal when it does.
    fn list(&mut self) -> Result<(), Refused> {
        if self.listing.is_some() {
            return Ok(());
        }
        let Some(candidate) = &self.candidate else { return Ok(()) };
        let cwd = PathBuf::from(&*candidate.cwd.as_js().to_string_lossy());
        let scope = predict::resolve(self.world, &cwd)?;
        let listing = predict::list(self.world, &scope)?;
        (self.scope, self.listing) = (Some(scope), Some(listing));
        Ok(())
    }
    /// Why the listing hides this file, if it does.
    fn hidden(&self) -> Option<Hidden> {
        self.listing.as_ref()?.hidden.iter().find(|(candidate, _)| candidate.path == self.path).map(|(_, hidden)| hidden.clone())
    }

    fn tombstones(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §9.3";
        let scope = self.own_scope()?;
        let directory = scope.join(layout::INTERNAL).join(layout::TOMBSTONES);
        if let Err(refused) = self.list() {
            return Some(refusal("tombstones", "02 §5.2", &refused, &directory));
        }
        if let Some(Hidden::Retired { tombstone }) = self.hidden() {
            let advice = "The session was deleted with gjc. While its deletion is unfinished the next open of the workspace deletes the file: copy it elsewhere first if you want it back.";
            return Some(stops("tombstones", SECTION, "retired", vec![saw(&tombstone, "retires exactly this file")], advice));
        }
        let own = candidates::path_text(&self.path);
        let mut evidence = Vec::new();
        for entry in self.entries(&directory, &mut evidence) {
            let tombstone::Name::Tombstone { .. } = tombstone::parse_name(entry.name.as_encoded_bytes()) else { continue };
            let file = directory.join(&entry.name);
            let Ok(Some(record)) = read_record(self.world.fs, &file) else {
                evidence.push(saw(&file, "cannot be read: retired sessions may be shown because of it"));
                continue;
            };
            let targets = record.member("targets").into_iter().flat_map(View::items);
            if targets.into_iter().any(|target| target.str_member("path").is_some_and(|path| *path == *own.as_bytes())) {
                evidence.push(saw(&file, "retired another state of this path, so it does not hide the file"));
            }
        }
        if evidence.is_empty() {
            evidence.push(saw(&directory, "no tombstone names this file"));
        }
        Some(passes("tombstones", SECTION, "not retired", evidence))
    }

    fn shadowing(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §7.3";
        self.own_scope()?;
        if let Some(Hidden::Shadowed { by, receipt }) = self.hidden() {
            let advice = "The session lives on in its migrated copy: open that one. The legacy file is kept by design.";
            let evidence = vec![saw(&by, "is shown instead"), saw(&receipt, "is the matching committed receipt")];
            return Some(stops("shadowing", SECTION, "shadowed", evidence, advice));
        }
        let stale = self.listing.as_ref()?.stale.iter().find(|stale| stale.source == self.path || stale.destination == self.path);
        Some(match stale {
            None => passes("shadowing", SECTION, "not shadowed", vec![saw(&self.path, "no matching receipt hides it")]),
            Some(stale) => {
                let shows = format!("does not match: clause {} ({})", stale.clause.number(), stale.clause.text());
                passes("shadowing", SECTION, "both copies are listed", vec![saw(&stale.receipt, shows)])
            }
        })
    }

    fn strict(&mut self) -> Option<Step> {
        let (step, read) = readers::strict(self.world, &self.path);
        self.read = read;
        Some(step)
    }

    fn managed(&mut self) -> Option<Step> {
        if !self.is_managed() {
            let shows = "lies outside the sessions root: only managed files are asked";
            return Some(passes("managed reader", "01 §2.8", "not asked", vec![saw(&self.path, shows)]));
        }
        readers::managed(self.world, &self.path)
    }

    fn bounded(&mut self) -> Option<Step> {
        readers::bounded(self.world, &self.path)
    }

    fn listing(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §7.3";
        if !self.is_managed() {
            return Some(passes(
                "listing",
                SECTION,
                "not asked",
                vec![saw(&self.path, "lies outside the sessions root: no managed listing visits it")],
            ));
        }
        if let Err(refused) = self.list() {
            return Some(refusal("listing", SECTION, &refused, &self.path.clone()));
        }
        let listing = self.listing.as_ref()?;
        if let Some(listed) = listing.owned.iter().find(|listed| listed.candidate.path == self.path) {
            let shows = format!("listed as {} from {}", listed.state.word(), listed.candidate.provenance.word());
            return Some(passes("listing", SECTION, listed.state.word(), vec![saw(&self.path, shows)]));
        }
        let advice =
            format!("Move legacy directories that you do not need elsewhere: 256 are visited, and {} more are not.", listing.beyond_limit);
        Some(stops(
            "listing",
            "02 §5.2",
            "not visited",
            vec![saw(&self.path, "lies in a legacy directory that the listing does not visit")],
            &advice,
        ))
    }

    fn picker(&mut self) -> Option<Step> {
        const SECTION: &str = "04 §2.4";
        let shown = match readers::picker(self.world, &self.path) {
            Ok(shown) => shown,
            Err(step) if self.is_managed() => return Some(*step),
            Err(step) => {
                let shows = "a listing of its directory (--session-dir) leaves it out; by its path it opens all the same";
                return Some(passes("picker", SECTION, step.answer, vec![saw(&self.path, shows)]));
            }
        };
        if let Some(rival) = self.rival(&shown) {
            let advice = "The picker shows one session an id, and this is not the one. Open it by its path (`gjc --resume PATH`); a copy needs an id of its own to be listed beside the original.";
            let shows = format!("has the id `{}` too, and is shown instead: of two the later one", rival.info.id);
            return Some(stops("picker", "04 §2.7", "not the one shown", vec![saw(&rival.path, shows)], advice));
        }
        let title = shown.info.title.map_or_else(|| "no title".to_owned(), |title| format!("title `{title}`"));
        let messages = match (shown.info.message_count, shown.info.message_count_is_estimate) {
            (1, false) => "1 message".to_owned(),
            (count, false) => format!("{count} messages"),
            (count, true) => format!("{count} or more messages"),
        };
        Some(passes("picker", SECTION, "shown", vec![saw(&self.path, format!("{title}, {messages}"))]))
    }

    /// The session that the picker shows in place of this one, because it has the same id and is newer (02a.18): the first in
    /// order stays unless a later one is strictly newer.
    fn rival(&self, own: &Shown) -> Option<Shown> {
        let listing = self.listing.as_ref()?;
        let twins = listing.owned.iter().map(|listed| &listed.candidate).filter(|candidate| candidate.session_id == own.info.id);
        let project = predict::project_transcripts(self.world.fs, &self.world.current_dir.join(&self.scope.as_ref()?.lexical_cwd)).files;
        let paths = twins.map(|candidate| candidate.path.clone()).chain(project);
        let alike = paths.filter_map(|path| predict::shown(self.world, path)).filter(|shown| shown.info.id == own.info.id);
        let best = alike.reduce(|best, next| if best.modified_ms < next.modified_ms { next } else { best })?;
        (best.path != self.path).then_some(best)
    }

    fn open(&mut self) -> Option<Step> {
        const SECTION: &str = "02 §6.3";
        if let Some(step) = self.throws() {
            return Some(step);
        }
        if self.is_staged() {
            let shows = "lies in a staging area, where a session is written before it is published";
            let advice = "Copy the file elsewhere, and open the copy by its path.";
            return Some(stops("open", "04 §1.5", STAGED, vec![saw(&self.path, shows)], advice));
        }
        let (Some(scope), Some(candidate)) = (&self.scope, &self.candidate) else {
            return Some(passes("open", "04 §4", "opened", vec![saw(&self.path, "a path is opened as it is")]));
        };
        Some(match predict::open(self.world, scope, candidate, Policy::CopyRetain) {
            Ok(opened) if opened.migrated => {
                passes("open", SECTION, "opened", vec![saw(&opened.path, "the legacy file is copied here, and the copy is opened")])
            }
            Ok(opened) => passes("open", SECTION, "opened", vec![saw(&opened.path, "is opened as it is")]),
            Err(refused) => {
                let path = refused.path.clone().unwrap_or_else(|| self.path.clone());
                refusal("open", SECTION, &refused, &path)
            }
        })
    }

    /// Reader S accepts entries that opening, or the first context, trips over (spec 01 §2.5, 01a 1 to 3).
    fn throws(&self) -> Option<Step> {
        const SECTION: &str = "01 §2.5";
        let loaded = self.read.as_ref()?.loaded.as_ref().ok()?;
        let code = open::throws(loaded, self.world.release)?;
        let advice = "Take the value that is named below out of the entry, in a copy; keep the original.";
        let shows = |opening: &Opening, of: &'static str| match opening {
            Opening::Throws { code: Some("EISDIR") } => "the name of a blob leads to a directory",
            Opening::Throws { code: Some(_) } => "the name of a blob is longer than a file name may be",
            _ => of,
        };
        let shows = match anywhere(loaded) {
            Opening::Opens => shows(
                &in_context(loaded, self.world.release),
                "an entry on the path holds a value that building the context throws at: gjc opens the session at most to its first prompt",
            ),
            opening => shows(&opening, "an entry holds a value that opening throws at, wherever the entry stands"),
        };
        Some(stops("open", SECTION, code, vec![saw(&self.path, shows)], advice))
    }
}

/// What makes a scope directory owner-only again; gjc does not repair it at start.
fn advice_on_security(violation: &Violation) -> &'static str {
    match violation {
        Violation::Mode(_) => "Run `chmod 700` on the scope directory: gjc does not repair it at start.",
        Violation::Owner(_) => {
            "Give the scope directory to the user that runs gjc (`chown`), or run gjc as its owner: it does not repair this at start."
        }
        Violation::Acl(..) | Violation::List(_) => {
            "Remove the access control list of the scope directory (on Linux `setfacl -b -k`): gjc does not repair it at start."
        }
        Violation::ReparsePoint | Violation::WrongType(_) => "Put the real directory in place of what stands there.",
        _ => "Look at what stands in the way of looking at the scope directory, then ask again.",
    }
}

/// A refusal of gjc as a step.
fn refusal(step: &'static str, section: &'static str, refused: &Refused, path: &Path) -> Step {
    let advice = match refused.code {
        "migration_busy" => {
            "Wait for the process that holds the lock. An empty or unreadable lock file is never reclaimed: remove it when no gjc runs."
        }
        "destination_conflict" => "Decide which of the two files to keep, and move the other away.",
        "durability_failed" => {
            "Keep all evidence: recorded steps and files disagree. A copy of the transcript outside the agent directory opens by its path."
        }
        "unsafe_artifacts" | "artifact_capacity_exceeded" => "Mend or thin the artifact directory beside the transcript.",
        "scan_failed" => "Replace what stands there by a real directory, or move it away: until then the workspace lists nothing.",
        "managed_gc_journal_capacity_exceeded" => {
            "A limit is reached and nothing is damaged: see `gjc-fsck quota`. With gjc stopped, back up the scope as a whole. A copy of the transcript outside the agent directory opens by its path."
        }
        "migration_retired" => "The session was deleted; copy the file elsewhere if you want it back.",
        "source_changed" => "An unfinished deletion names this path: copy the file elsewhere before gjc opens the workspace again.",
        _ => "See `gjc-fsck explain` for the code; nothing was changed.",
    };
    let path = refused.path.as_deref().unwrap_or(path);
    stops(step, section, refused.code, vec![saw(path, refused.detail.clone())], advice)
}
