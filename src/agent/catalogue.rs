//! What `list` answers: gjc's managed listing with everything a user asks of a session (when, what, how long, does it open),
//! and everything that the listing leaves out, with the reason (spec 02 §5.2, §5.3, §7; spec 04 §2.4).
//!
//! Reads only. Each listed transcript is read as a whole, because only that tells whether it opens.

use super::binding;
use super::candidates::{Candidate, Hidden, Invalid, Listed, Listing, Provenance, WorkspaceListing, list_all};
use super::identity::Identity;
use super::predict;
use super::walk::show;
use super::why::first_refusal;
use super::world::World;
use crate::json::Value;
use crate::transcript::date;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// The answer, in the order of gjc's listing.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Catalogue {
    /// The workspaces that were asked for.
    pub workspaces: Vec<Workspace>,
    /// Files that belong to no workspace.
    pub invalid: Vec<Refused>,
    /// Where sessions are, when the workspace that was asked for has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
    /// Only what a search finds is left.
    #[serde(skip)]
    pub searched: bool,
}

/// A workspace that has sessions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Elsewhere {
    /// Whether the directory is there; when not, its sessions are out of reach.
    pub exists: bool,
    /// Its path.
    pub workspace: String,
    /// How many sessions it has.
    pub sessions: usize,
}

/// One workspace.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// Its path.
    pub workspace: String,
    /// Its scope directory, which need not exist; empty when the path has no identity.
    pub scope: String,
    /// gjc's refusal of the whole workspace. What is listed all the same is out of reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// What the listing shows.
    pub sessions: Vec<Session>,
    /// What belongs here and is not shown.
    pub hidden: Vec<HiddenSession>,
    /// Files that do not count.
    pub invalid: Vec<Refused>,
    /// Files that belong to other workspaces.
    pub foreign: Vec<Foreign>,
    /// Legacy directories beyond the limit, which are not visited.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_limit: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A session that is listed.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Header id.
    pub id: String,
    /// The file.
    pub path: String,
    /// `v2` or `legacy`.
    pub provenance: &'static str,
    /// Migration state.
    pub state: &'static str,
    /// Title as the picker shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first prompt, as far as the picker sees it; null when it leaves the session out.
    pub first_message: Option<String>,
    /// When the file was changed last: UTC, to the minute.
    pub modified: Option<String>,
    /// When the session began, as its header says: UTC, to the minute; null when that is no date.
    pub begun: Option<String>,
    /// Messages that the picker counts; null when it leaves the session out.
    pub messages: Option<u64>,
    /// True when the picker counted in the first 4,096 bytes only.
    pub messages_is_estimate: bool,
    /// The later file with the same id that the picker shows instead, in this workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_instead: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Answer of the strict reader, or of the one that refuses the file.
    pub answer: String,
    /// Why it does not open although it is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does_not_open: Option<DoesNotOpen>,
}

/// A reader refuses a file that is listed.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct DoesNotOpen {
    /// Which: a step of `why`.
    pub step: &'static str,
    /// 1-based line that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What was found.
    pub detail: String,
}

/// A session that is kept from the listing.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct HiddenSession {
    /// Header id.
    pub id: String,
    /// The file.
    pub path: String,
    /// When the file was changed last.
    pub modified: Option<String>,
    /// `retired` or `shadowed`.
    pub reason: &'static str,
    /// The tombstone, or the copy that stands for it.
    pub by: String,
}

/// Something that gjc refuses.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Refused {
    /// The object.
    pub path: String,
    /// gjc's code.
    pub code: &'static str,
    /// What was found.
    pub detail: String,
    /// When it was changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
}

/// A transcript of another workspace.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Foreign {
    /// The file.
    pub path: String,
    /// `cwd` of its header.
    pub cwd: String,
    /// The workspace it belongs to.
    pub workspace: String,
}

impl Catalogue {
    /// Keeps what a search finds: of sessions by id, title, workspace, first message and path, of other files by what is known.
    /// A workspace of which nothing is left goes; so does where else sessions are.
    pub fn keep(&mut self, finds: impl Fn([Option<&str>; 5]) -> bool) {
        let by_path = |path: &str| finds([Some(path), None, None, None, None]);
        for workspace in &mut self.workspaces {
            let cwd = &*workspace.workspace;
            workspace.sessions.retain(|session| {
                finds([Some(&session.id), session.title.as_deref(), Some(cwd), session.first_message.as_deref(), Some(&session.path)])
            });
            workspace.hidden.retain(|hidden| finds([Some(&hidden.id), None, Some(cwd), None, Some(&hidden.path)]));
            workspace.invalid.retain(|invalid| by_path(&invalid.path));
            workspace.foreign.retain(|foreign| finds([None, None, Some(&foreign.cwd), None, Some(&foreign.path)]));
        }
        self.invalid.retain(|invalid| by_path(&invalid.path));
        self.workspaces
            .retain(|one| !one.sessions.is_empty() || !one.hidden.is_empty() || !one.invalid.is_empty() || !one.foreign.is_empty());
        self.elsewhere.clear();
        self.searched = true;
    }
}

/// The sessions of one workspace. When gjc refuses the workspace, what belongs to it is still told.
pub fn of_workspace(world: &World<'_>, cwd: &Path) -> Catalogue {
    let listing = predict::resolve(world, cwd).and_then(|scope| Ok((predict::list(world, &scope)?, scope)));
    let refused = match listing {
        Ok((listing, scope)) => {
            let one = workspace(world, &scope.identity.canonical_path, &scope.directory, &listing);
            return Catalogue { elsewhere: elsewhere_than(world, &one), workspaces: vec![one], invalid: Vec::new(), searched: false };
        }
        Err(refused) => refused_workspace(&refused, cwd),
    };
    let one = match world.identity(cwd) {
        Ok(identity) => {
            let of_all = list_all(world).0.into_iter().find(|one| one.identity == identity);
            let scope = world.canonical_root(&world.sessions_root).join(identity.directory_name());
            workspace(world, &identity.canonical_path, &scope, &of_all.map(|one| one.listing).unwrap_or_default())
        }
        Err(_) => Workspace { scope: String::new(), ..workspace(world, &show(cwd.as_os_str()), Path::new(""), &Listing::default()) },
    };
    Catalogue {
        elsewhere: elsewhere_than(world, &one),
        workspaces: vec![Workspace { refused: Some(refused), ..one }],
        invalid: Vec::new(),
        searched: false,
    }
}

/// gjc's refusal of a workspace; where it names no object, this one is to blame.
fn refused_workspace(refused: &predict::Refused, object: &Path) -> Refused {
    let path = refused.path.as_deref().unwrap_or(object);
    Refused { path: show(path.as_os_str()), code: refused.code, detail: refused.detail.clone(), modified: None }
}

/// The workspaces that have sessions, those first that are not there; asked for when this one has none.
fn elsewhere_than(world: &World<'_>, asked: &Workspace) -> Vec<Elsewhere> {
    if !asked.sessions.is_empty() || !asked.hidden.is_empty() {
        return Vec::new();
    }
    let (listings, invalid) = list_all(world);
    let mut gone: BTreeMap<String, usize> = BTreeMap::new();
    for cwd in invalid.iter().filter_map(|invalid| invalid.cwd.as_ref()) {
        *gone.entry(cwd.to_string()).or_default() += 1;
    }
    let gone = gone.into_iter().map(|(workspace, sessions)| Elsewhere { exists: false, workspace, sessions });
    let there = listings.into_iter().filter(|one| !one.listing.owned.is_empty());
    let there = there.map(|one| Elsewhere { exists: true, workspace: one.identity.canonical_path, sessions: one.listing.owned.len() });
    gone.chain(there).collect()
}

/// The sessions of every workspace that some transcript belongs to, in order of their paths.
pub fn of_all(world: &World<'_>) -> Catalogue {
    of_files(world, |_| true)
}

/// The sessions whose files lie directly in this directory: a scope, or a legacy directory.
pub fn of_directory(world: &World<'_>, directory: &Path) -> Catalogue {
    of_files(world, |path| path.parent() == Some(directory))
}

fn of_files(world: &World<'_>, wanted: impl Fn(&Path) -> bool) -> Catalogue {
    let (listings, invalid) = list_all(world);
    let mut listings: BTreeMap<String, WorkspaceListing> =
        listings.into_iter().map(|one| (one.identity.canonical_path.clone(), one)).collect();
    let mut bound = BTreeMap::new();
    let mut of_none = Vec::new();
    for invalid in invalid {
        // What lies in a scope is a matter of its workspace, whatever is wrong with it.
        let directory = invalid.path.parent().unwrap_or(Path::new("/")).to_owned();
        let identity = bound.entry(directory.clone()).or_insert_with(|| workspace_of_scope(world, &directory));
        match identity {
            Some(identity) => {
                let new = || WorkspaceListing { identity: identity.clone(), scope: directory, listing: Listing::default() };
                listings.entry(identity.canonical_path.clone()).or_insert_with(new).listing.invalid.push(invalid);
            }
            None => of_none.push(invalid),
        }
    }
    let mut workspaces = Vec::new();
    for mut one in listings.into_values() {
        let listing = &mut one.listing;
        listing.owned.retain(|listed| wanted(&listed.candidate.path));
        listing.hidden.retain(|(candidate, _)| wanted(&candidate.path));
        listing.foreign.retain(|(path, ..)| wanted(path));
        listing.invalid.retain(|invalid| wanted(&invalid.path));
        if listing.owned.is_empty() && listing.hidden.is_empty() && listing.foreign.is_empty() && listing.invalid.is_empty() {
            continue;
        }
        let refused = predict::resolve(world, Path::new(&one.identity.canonical_path)).err();
        let refused = refused.map(|refused| refused_workspace(&refused, &one.scope));
        workspaces.push(Workspace { refused, ..workspace(world, &one.identity.canonical_path, &one.scope, &one.listing) });
    }
    let invalid = of_none.iter().filter(|invalid| wanted(&invalid.path)).map(|invalid| refused_file(world, invalid)).collect();
    Catalogue { workspaces, invalid, elsewhere: Vec::new(), searched: false }
}

/// The workspace of a scope directory, as its binding says; it must exist.
fn workspace_of_scope(world: &World<'_>, directory: &Path) -> Option<Identity> {
    let name = directory.file_name()?.to_string_lossy();
    let identity = binding::read(world.fs, directory).ok()??.identity()?;
    let stands =
        identity.directory_name() == name && world.identity(Path::new(&identity.canonical_path)).is_ok_and(|real| real == identity);
    stands.then_some(identity)
}

fn workspace(world: &World<'_>, name: &str, scope: &Path, listing: &Listing) -> Workspace {
    let hidden = listing.hidden.iter().map(|(candidate, hidden)| {
        let (reason, by) = match hidden {
            Hidden::Retired { tombstone } => ("retired", tombstone),
            Hidden::Shadowed { by, .. } => ("shadowed", by),
        };
        HiddenSession {
            id: candidate.session_id.to_string(),
            path: show(candidate.path.as_os_str()),
            modified: modified(candidate.meta.mtime_ns),
            reason,
            by: show(by.as_os_str()),
        }
    });
    let foreign = listing.foreign.iter().map(|(path, cwd, workspace)| Foreign {
        path: show(path.as_os_str()),
        cwd: cwd.to_string(),
        workspace: workspace.clone(),
    });
    let mut sessions: Vec<(i128, Session)> =
        listing.owned.par_iter().map(|listed| (listed.candidate.meta.mtime_ns.div_euclid(1_000_000), session(world, listed))).collect();
    one_an_id(&mut sessions);
    Workspace {
        workspace: name.to_owned(),
        scope: show(scope.as_os_str()),
        refused: None,
        sessions: sessions.into_iter().map(|(_, session)| session).collect(),
        hidden: hidden.collect(),
        invalid: listing.invalid.iter().map(|invalid| refused_file(world, invalid)).collect(),
        foreign: foreign.collect(),
        beyond_limit: listing.beyond_limit,
    }
}

/// Of several sessions with one id the picker shows the latest, by milliseconds; the first in order among equals (02a.18).
fn one_an_id(sessions: &mut [(i128, Session)]) {
    let mut latest: BTreeMap<String, (i128, String)> = BTreeMap::new();
    for (modified, session) in sessions.iter().filter(|(_, session)| session.messages.is_some()) {
        match latest.get_mut(&session.id) {
            Some(known) if known.0 < *modified => *known = (*modified, session.path.clone()),
            Some(_) => {}
            None => _ = latest.insert(session.id.clone(), (*modified, session.path.clone())),
        }
    }
    for (_, session) in sessions.iter_mut().filter(|(_, session)| session.messages.is_some()) {
        session.shown_instead = latest.get(&session.id).map(|(_, path)| path.clone()).filter(|path| *path != session.path);
    }
}

fn session(world: &World<'_>, listed: &Listed) -> Session {
    let Candidate { path, meta, provenance, session_id, .. } = &*listed.candidate;
    let shown = predict::shown(world, path.clone());
    let begun = shown.as_ref().and_then(|shown| shown.info.timestamp.clone()).map(Value::String);
    let step = first_refusal(world, path, true);
    let does_not_open = step.turns_away.then(|| {
        let seen = step.evidence.first();
        DoesNotOpen {
            step: step.step,
            line: seen.and_then(|seen| seen.line),
            detail: seen.map(|seen| seen.shows.clone()).unwrap_or_default(),
        }
    });
    Session {
        id: session_id.to_string(),
        path: show(path.as_os_str()),
        provenance: provenance.word(),
        state: listed.state.word(),
        modified: modified(meta.mtime_ns),
        begun: begun.and_then(|timestamp| date::minute(date::time_of(Some(&timestamp)))),
        first_message: shown.as_ref().map(|shown| shown.info.first_message.to_string()),
        messages: shown.as_ref().map(|shown| shown.info.message_count),
        messages_is_estimate: shown.as_ref().is_some_and(|shown| shown.info.message_count_is_estimate),
        title: shown.and_then(|shown| shown.info.title).map(|title| title.to_string()),
        shown_instead: None,
        size: meta.size,
        answer: step.answer,
        does_not_open,
    }
}

/// Whether `list` calls this a legacy session.
pub const LEGACY: &str = Provenance::Legacy.word();

fn modified(mtime_ns: i128) -> Option<String> {
    date::minute(mtime_ns.div_euclid(1_000_000) as f64)
}

fn refused_file(world: &World<'_>, invalid: &Invalid) -> Refused {
    let meta = world.fs.lstat(&invalid.path).ok();
    Refused {
        path: show(invalid.path.as_os_str()),
        code: invalid.code,
        detail: invalid.detail.clone(),
        modified: meta.and_then(|meta| modified(meta.mtime_ns)),
    }
}
