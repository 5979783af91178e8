//! What the commands `list --recent|--picker|--inventory`, `resume` and `continue` answer, ready to be shown: paths and times as
//! text. Nothing is decided here.

use super::breadcrumb::How;
use super::directory::Restored;
use super::inventory::Inventory;
use super::proceed::{self, Crumb, Opening, Proceeding};
use super::recent::{RecentList, time_ago};
use super::resolve::{Match, Meant};
use super::resume::{Bounded, ColdIdentity, Look, Tail};
use super::search::Search;
use super::{Picked, Shown, Skipped, is_staged, picker, resume};
use crate::agent::predict::Refused;
use crate::agent::record::TranscriptIdentity;
use crate::agent::walk::show;
use crate::agent::world::World;
use crate::transcript::date;
use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// A path as text.
fn text(path: &Path) -> String {
    show(path.as_os_str())
}
/// A time for people: UTC, to the minute.
fn minute(ms: i128) -> Option<String> {
    date::minute(ms as f64)
}

/// gjc's refusal of a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// gjc's code.
    pub code: &'static str,
    /// What was found.
    pub detail: String,
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Refusal { code: refused.code, detail: refused.detail }
    }
}

/// A file that a list leaves out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl From<Skipped> for LeftOut {
    fn from(skipped: Skipped) -> Self {
        LeftOut { path: text(&skipped.path), why: skipped.why }
    }
}

/// A backup that gjc renames before it lists.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Restore {
    /// The backup.
    pub backup: String,
    /// Its new name.
    pub primary: String,
}

impl From<Restored> for Restore {
    fn from(restored: Restored) -> Self {
        Restore { backup: text(&restored.backup), primary: text(&restored.primary) }
    }
}

/// One of gjc's lists.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct List {
    /// `recent`, `picker` or `inventory`.
    pub list: &'static str,
    /// The workspace or directory that was listed; `all`.
    pub of: String,
    /// The refusal of the managed scope, which then contributes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// The sessions, in gjc's order.
    pub sessions: Vec<Row>,
    /// What is left out.
    pub left_out: Vec<LeftOut>,
    /// Why the inventory is incomplete, and so authorises nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Backups that gjc renames before it lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restores: Vec<Restore>,
    /// Files beyond the limit of the recent list.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_limit: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A session of a list.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Header id.
    pub id: String,
    /// The file.
    pub path: String,
    /// The name of the recent list, or the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the name was taken from: `title`, `prompt`, `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_by: Option<&'static str>,
    /// The first prompt, as far as the picker sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_message: Option<String>,
    /// Workspace of the header, patched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Starred in effect.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub starred: bool,
    /// Messages that the picker counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// It counted in the first 4,096 bytes only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub messages_is_estimate: bool,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The session it was made from: an id or a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// When the session began, as its header says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// When the file was changed last.
    pub modified: Option<String>,
    /// How long ago that is, as the recent list says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ago: Option<String>,
    /// Where it lies: `v2`, `legacy`, `project` or `directory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<&'static str>,
}

/// Why the strict inventory knows nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Failure {
    /// gjc's word.
    pub kind: &'static str,
    /// The object.
    pub path: String,
    /// What was found.
    pub detail: String,
}

impl List {
    /// The recent list. Ages count from the world's clock.
    pub fn recent(world: &World<'_>, of: String, found: RecentList) -> Self {
        let row = |session: &super::recent::Session| Row {
            id: session.recent.id.to_string(),
            path: text(&session.path),
            name: Some(session.name()),
            named_by: Some(session.recent.named_by.word()),
            cwd: session.recent.cwd.as_ref().map(|cwd| cwd.to_string()),
            begun: session.recent.timestamp.as_ref().and_then(|begun| date::minute(date::parse(begun.as_bytes()))),
            modified: minute(session.modified_ms()),
            ago: Some(time_ago(i128::from(world.now_ms), session.modified_ms())),
            ..Row::default()
        };
        List {
            list: "recent",
            of,
            sessions: found.sessions.iter().map(row).collect(),
            left_out: found.skipped.into_iter().map(LeftOut::from).collect(),
            restores: found.restored.into_iter().map(Restore::from).collect(),
            beyond_limit: found.beyond,
            ..List::default()
        }
    }
    /// One of the picker's lists.
    pub fn picker(world: &World<'_>, of: String, picked: Picked, restored: Vec<Restored>) -> Self {
        let picked = picked.starred_first();
        List {
            list: "picker",
            of,
            refused: picked.refused.map(Refusal::from),
            sessions: picked.sessions.iter().map(|shown| Row::of(world, shown)).collect(),
            left_out: picked.skipped.into_iter().map(LeftOut::from).collect(),
            restores: restored.into_iter().map(Restore::from).collect(),
            ..List::default()
        }
    }
    /// The strict inventory.
    pub fn inventory(of: String, inventory: Inventory) -> Self {
        let mut list = List { list: "inventory", of, ..List::default() };
        match inventory {
            Ok(candidates) => {
                list.sessions.extend(candidates.into_iter().map(|one| Row {
                    id: one.id.to_string(),
                    path: text(&one.path),
                    cwd: Some(one.cwd.to_string()),
                    size: Some(one.meta.size),
                    modified: minute(one.meta.mtime_ns.div_euclid(1_000_000)),
                    ..Row::default()
                }));
            }
            Err(failures) => {
                let failure = |one: super::inventory::Failure| Failure { kind: one.kind.word(), path: text(&one.path), detail: one.detail };
                list.failures.extend(failures.into_iter().map(failure));
            }
        }
        list
    }
    /// Keeps what a search finds; an inventory that fails keeps its failures, for they concern every session of it.
    #[must_use]
    pub fn found(mut self, search: &Search) -> Self {
        self.sessions.retain(|row| {
            let texts = [Some(&*row.id), row.name.as_deref(), row.cwd.as_deref(), row.first_message.as_deref(), Some(&*row.path)];
            search.finds(texts)
        });
        self.left_out.retain(|one| search.finds([Some(&*one.path)]));
        self
    }
}

impl Row {
    /// A session of the picker.
    pub fn of(world: &World<'_>, shown: &Shown) -> Self {
        let info = &shown.info;
        Row {
            id: info.id.to_string(),
            path: text(&shown.path),
            name: info.title.as_ref().map(|title| title.to_string()),
            first_message: Some(info.first_message.to_string()),
            cwd: Some(info.cwd.to_string()),
            starred: info.starred,
            messages: Some(info.message_count),
            messages_is_estimate: info.message_count_is_estimate,
            size: Some(shown.size),
            parent_session: info.parent_session.as_ref().map(|parent| parent.to_string()),
            begun: info.timestamp.as_ref().and_then(|begun| date::minute(date::parse(begun.as_bytes()))),
            modified: minute(shown.modified_ms),
            place: Some(picker::place(world, &shown.path)),
            ..Row::default()
        }
    }
}

/// What opening a file comes to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Step {
    /// What named it: `breadcrumb`, `listed`, `most_recent`, `path`, `id`.
    pub source: &'static str,
    /// The file.
    pub path: String,
    /// `opens`, `passed_over` or `fails`.
    pub outcome: &'static str,
    /// gjc's code or reason; for a file that opens, `resumable` or `terminal`.
    pub code: &'static str,
    /// What was found.
    pub detail: String,
    /// The copy that is opened in place of a legacy session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

impl Step {
    /// A step from what opening comes to.
    pub fn new(source: &'static str, path: &Path, opening: &Opening) -> Self {
        let copied = match opening {
            Opening::Opens { path, migrated: true, .. } => Some(text(path)),
            _ => None,
        };
        let (outcome, code, detail) = match opening {
            Opening::Opens { terminal: true, .. } => ("opens", "terminal", "the next move is the user's".to_owned()),
            Opening::Opens { terminal: false, .. } => ("opens", "resumable", "gjc can go on where it stopped".to_owned()),
            Opening::PassedOver { reason, detail } => ("passed_over", *reason, detail.clone()),
            Opening::Unreadable { detail } => ("fails", "malformed", format!("the managed reader: {detail}")),
            Opening::Throws { code } => ("fails", *code, "the inspection takes it, and opening throws at a value of an entry".to_owned()),
            Opening::Fails { code, detail } => ("fails", *code, detail.clone()),
        };
        Step { source, path: text(path), outcome, code, detail, copy: copied }
    }
}

/// What became of the breadcrumb.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct CrumbState {
    /// `no_terminal`, `absent`, `ignored` or `leads`.
    pub state: &'static str,
    /// First line: the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Second line: the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Why it is ignored, or how it leads to a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl From<&Crumb> for CrumbState {
    fn from(crumb: &Crumb) -> Self {
        let (state, says, why) = match crumb {
            Crumb::NoTerminal => ("no_terminal", None, None),
            Crumb::Absent => ("absent", None, None),
            Crumb::Ignored { says, why } => ("ignored", says.as_ref(), Some(why.clone())),
            Crumb::Leads { says, how, .. } => ("leads", Some(says), Some(How::words(*how).to_owned())),
        };
        CrumbState { state, cwd: says.map(|says| says.cwd.clone()), file: says.map(|says| says.file.clone()), why }
    }
}

/// A terminal, and the name of its breadcrumb.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct TerminalName {
    /// The name.
    pub id: String,
    /// What it was taken from.
    pub from: String,
    /// The breadcrumb file.
    pub file: String,
}

/// What `--continue` does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Continue {
    /// The working directory.
    pub cwd: String,
    /// `opens`, `fails` or `new`.
    pub action: &'static str,
    /// The terminal; none when it has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalName>,
    /// Its breadcrumb.
    pub breadcrumb: CrumbState,
    /// The managed scope's refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// The candidates in order, up to the one that counts.
    pub steps: Vec<Step>,
}

impl Continue {
    /// From what was found.
    pub fn new(cwd: &Path, terminal: Option<TerminalName>, proceeding: Proceeding) -> Self {
        let action = match proceeding.end().map(|step| &step.opening) {
            Some(Opening::Opens { .. }) => "opens",
            Some(_) => "fails",
            None => "new",
        };
        let step = |step: &proceed::Step| Step::new(step.source.word(), &step.path, &step.opening);
        Continue {
            cwd: text(cwd),
            action,
            terminal,
            breadcrumb: (&proceeding.crumb).into(),
            steps: proceeding.steps.iter().map(step).collect(),
            refused: proceeding.refused.map(Refusal::from),
        }
    }
}

/// A session that an argument matches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct MatchRow {
    /// How: `id`, `name` or `suffix`.
    pub rule: &'static str,
    /// The same for people.
    #[serde(skip)]
    pub words: &'static str,
    /// The session.
    #[serde(flatten)]
    pub session: Row,
}

impl MatchRow {
    fn of(world: &World<'_>, one: &Match) -> Self {
        MatchRow { rule: one.rule.word(), words: one.rule.words(), session: Row::of(world, &one.session) }
    }
}

/// What gjc's inspection says of the chosen file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inspected {
    /// `resumable`, `terminal` or gjc's reason.
    pub verdict: &'static str,
    /// The size that gjc tells with some reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The identity that opening compares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The bounded open: `opens`, or the token at which it gives up; absent where it is not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded: Option<&'static str>,
    /// The line at which it gives up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded_line: Option<u64>,
    /// Fingerprint of the cold identity of a file above 128 MiB (0.17).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_fingerprint: Option<String>,
}

/// An identity: big integers are decimal strings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The path without links.
    pub canonical_path: String,
    /// Header id.
    pub session_id: String,
    /// Device number.
    pub dev: String,
    /// Inode number.
    pub ino: String,
    /// Link count.
    pub nlink: String,
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds.
    pub mtime_ns: String,
    /// Change time in nanoseconds.
    pub ctime_ns: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

impl From<&TranscriptIdentity> for Identity {
    fn from(identity: &TranscriptIdentity) -> Self {
        Identity {
            canonical_path: identity.canonical_path.to_string(),
            session_id: identity.session_id.to_string(),
            dev: identity.dev.to_string(),
            ino: identity.ino.to_string(),
            nlink: identity.nlink.to_string(),
            size: identity.size,
            mtime_ns: identity.mtime_ns.to_string(),
            ctime_ns: identity.ctime_ns.to_string(),
            sha256: identity.sha256.clone(),
        }
    }
}

impl Inspected {
    /// What a look at a file says; a file that is opened bounded is sampled.
    fn of(world: &World<'_>, path: &Path, look: &Look) -> Self {
        let (verdict, size, identity) = match &look.tail {
            Tail::Resumable(identity) => ("resumable", None, Some(identity)),
            Tail::Terminal(identity) => ("terminal", None, Some(identity)),
            Tail::Error(refused) => (refused.reason, refused.size, None),
        };
        let (bounded, bounded_line) = match &look.bounded {
            Some(Ok(Bounded::Opens { continuable: true })) => (Some("opens"), None),
            Some(Ok(Bounded::Opens { continuable: false })) => (Some("opens with a terminal tail"), None),
            Some(Ok(Bounded::Refused { token, line })) => (Some(*token), *line),
            Some(Ok(Bounded::NotAsked) | Err(_)) | None => (None, None),
        };
        // Only what is opened bounded is sampled in place of being hashed.
        let cold = bounded.filter(|answer| answer.starts_with("opens")).and_then(|_| ColdIdentity::sample(world.fs, path).ok());
        Inspected {
            verdict,
            size,
            identity: identity.map(Identity::from),
            bounded,
            bounded_line,
            cold_fingerprint: cold.map(|cold| HEXLOWER.encode(&cold.fingerprint)),
        }
    }
}

/// What `--resume X` does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// X.
    pub asked: String,
    /// `opens`, `creates` (a new session at a path where nothing is), `asks_to_fork`, `fails` or `not_found`.
    pub action: &'static str,
    /// Where X was found: `path`, `local`, `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<&'static str>,
    /// gjc's words when it opens nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Sessions that match, in gjc's order; the first one is taken.
    pub matches: Vec<MatchRow>,
    /// What opening the chosen file comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<Step>,
    /// What inspection says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inspection: Option<Inspected>,
    /// How many sessions were looked at when nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<usize>,
    /// Files of such a name that no list shows, and what could not be listed, when nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Why the workspace contributes no session, when nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

impl Resume {
    /// From what an argument means. `open` says what opening a file comes to that was looked at.
    pub fn new(world: &World<'_>, asked: String, meant: &Meant, budget: u64, open: impl FnOnce(&Path, &Look) -> Opening) -> Self {
        let mut answer = Resume {
            asked,
            action: "not_found",
            reach: None,
            message: None,
            matches: Vec::new(),
            opening: None,
            inspection: None,
            looked_at: None,
            left_out: Vec::new(),
            refused: None,
        };
        let (path, source, forks) = match meant {
            Meant::Nothing { looked_at, left_out, refused } => {
                answer.looked_at = Some(*looked_at);
                answer.left_out = left_out.iter().cloned().map(LeftOut::from).collect();
                answer.refused = refused.clone().map(Refusal::from);
                answer.message = Some(format!("Session \"{}\" not found.", answer.asked));
                return answer;
            }
            Meant::Path(path) => {
                answer.reach = Some("path");
                (path.as_path(), "path", None)
            }
            Meant::Session { matches, reach, asks_to_fork } => {
                answer.reach = Some(reach.word());
                answer.matches = matches.iter().map(|one| MatchRow::of(world, one)).collect();
                // There is at least one match.
                let Some(first) = matches.first() else { return answer };
                (first.session.path.as_path(), "id", asks_to_fork.then(|| first.session.info.cwd.to_string()))
            }
        };
        let look = resume::look(world, path, budget);
        let inspection = Inspected::of(world, path, &look);
        let missing = inspection.verdict == "missing";
        answer.inspection = Some(inspection);
        if missing && source == "path" && !is_staged(path) {
            answer.action = "creates";
            return answer;
        }
        // Here nothing is passed over: there is no next candidate.
        let opening = match open(path, &look) {
            Opening::PassedOver { reason, detail } => Opening::Fails { code: reason, detail },
            other => other,
        };
        answer.action = if matches!(opening, Opening::Opens { .. }) { "opens" } else { "fails" };
        answer.message = match &opening {
            // gjc says this one in words of its own.
            Opening::Fails { code: "staged", detail } => Some(detail.clone()),
            Opening::Unreadable { .. } => Some("Could not inspect managed session: malformed".to_owned()),
            Opening::Throws { code } => Some((*code).to_owned()),
            Opening::Fails { code, .. } => Some(format!("Could not open session: {code}")),
            _ => None,
        };
        answer.opening = Some(Step::new(source, path, &opening));
        if let Some(cwd) = forks {
            answer.action = "asks_to_fork";
            answer.message = Some(format!("Session \"{}\" is in another project ({cwd}).", answer.asked));
        }
        answer
    }
}
