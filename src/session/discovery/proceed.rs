//! What `--continue` opens (spec 04 §3.3): the terminal's last session, else the first of the managed list that opens, else
//! the most recent file of the directory, else a new session. Every candidate that is passed over has its reason.

use super::breadcrumb::{self, Breadcrumb, Found, Header, How, Owned, Strict};
use super::resume::{self, Bounded, Look, Tail};
use super::{is_staged, is_within, picker, recent};
use crate::agent::candidates::{Candidate, Provenance};
use crate::agent::predict::{self, Listing, Policy};
use crate::agent::world::{Scope, World};
use crate::transcript::readers::managed as reader;
use std::path::{Path, PathBuf};

/// Where sessions are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination<'a> {
    /// The managed scope of the workspace.
    Managed,
    /// An explicit directory (`--session-dir`).
    Explicit(&'a Path),
}

/// What named a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The breadcrumb of the terminal.
    Breadcrumb,
    /// The managed list of the workspace.
    Listed,
    /// The most recent file of the directory.
    MostRecent,
}

impl Source {
    /// `breadcrumb`, `listed` or `most_recent`.
    pub const fn word(self) -> &'static str {
        match self {
            Source::Breadcrumb => "breadcrumb",
            Source::Listed => "listed",
            Source::MostRecent => "most_recent",
        }
    }
}

/// What opening a chosen file comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opening {
    /// It is opened.
    Opens {
        /// The file that gjc works on from then on: a migrated copy has another name.
        path: PathBuf,
        /// A legacy session is copied first.
        migrated: bool,
        /// The last message is the assistant's (or there is none): the next move is the user's.
        terminal: bool,
    },
    /// It is passed over, and the next candidate is asked.
    PassedOver {
        /// gjc's reason.
        reason: &'static str,
        /// What was found.
        detail: String,
    },
    /// gjc stops: the managed reader, which everything below the sessions root must pass, refuses the file.
    Unreadable {
        /// What was found.
        detail: String,
    },
    /// Opening it, or building its first context, throws: no other candidate is asked.
    Throws {
        /// `TypeError`, or what the operating system answers.
        code: &'static str,
    },
    /// gjc stops with an error: no other candidate is asked.
    Fails {
        /// gjc's code.
        code: &'static str,
        /// What was found.
        detail: String,
    },
}

/// One candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What named it.
    pub source: Source,
    /// The file.
    pub path: PathBuf,
    /// What comes of it.
    pub opening: Opening,
}

/// What became of the terminal's breadcrumb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Crumb {
    /// The terminal has no name, so none is looked for.
    NoTerminal,
    /// There is none.
    Absent,
    /// It is ignored.
    Ignored {
        /// What it says, when it can be read.
        says: Option<Breadcrumb>,
        /// Why it is ignored.
        why: String,
    },
    /// It leads to a session.
    Leads {
        /// What it says.
        says: Breadcrumb,
        /// The session.
        path: PathBuf,
        /// How it leads there.
        how: How,
    },
}

/// What `--continue` does. The last step is the one that counts; when none opens and none fails, gjc begins a new session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proceeding {
    /// The breadcrumb.
    pub crumb: Crumb,
    /// The candidates in order, up to the one that counts.
    pub steps: Vec<Step>,
    /// The managed scope's refusal, when it contributes nothing.
    pub refused: Option<predict::Refused>,
}

impl Proceeding {
    /// The step that counts; none when gjc begins a new session.
    pub fn end(&self) -> Option<&Step> {
        self.steps.last().filter(|step| !matches!(step.opening, Opening::PassedOver { .. }))
    }
}

/// What `--continue` does in a workspace. `breadcrumb`: the file of the terminal's breadcrumb, when it has one. `budget`: bytes
/// that a context may have.
pub fn proceed(world: &World<'_>, cwd: &Path, destination: Destination<'_>, breadcrumb: Option<&Path>, budget: u64) -> Proceeding {
    let scope = managed(world, cwd);
    let crumb = crumb(world, cwd, breadcrumb, budget);
    let managed = scope.as_ref().ok().filter(|_| destination == Destination::Managed);
    let mut course = Course { world, managed, budget, steps: Vec::new() };
    let refused = course.run(cwd, destination, &crumb);
    Proceeding { crumb, steps: course.steps, refused }
}

/// The candidates that were asked so far.
struct Course<'w, 'a> {
    world: &'w World<'a>,
    managed: Option<&'w (Scope, Listing)>,
    budget: u64,
    steps: Vec<Step>,
}

impl Course<'_, '_> {
    /// Asks a candidate; true when it settles the matter.
    fn settles(&mut self, source: Source, path: PathBuf) -> bool {
        let look = resume::look(self.world, &path, self.budget);
        let opening = open(self.world, &path, &look, self.managed, For::Continue);
        let settles = !matches!(opening, Opening::PassedOver { .. });
        self.steps.push(Step { source, path, opening });
        settles
    }
    /// Asks the candidates in order. Answers why the managed scope contributes none, when it was asked and does not.
    fn run(&mut self, cwd: &Path, destination: Destination<'_>, crumb: &Crumb) -> Option<predict::Refused> {
        // With an explicit destination only a session inside it counts.
        let inside = |path: &Path| match destination {
            Destination::Managed => true,
            Destination::Explicit(directory) => is_within(self.world, directory, path),
        };
        if let Crumb::Leads { path, .. } = crumb
            && inside(path)
            && self.settles(Source::Breadcrumb, path.clone())
        {
            return None;
        }
        let (latest, refused) = match destination {
            Destination::Explicit(directory) => (recent::most_recent(self.world, directory, true), None),
            Destination::Managed => {
                let picked = picker::of_workspace(self.world, cwd);
                for session in picked.sessions {
                    if self.settles(Source::Listed, session.path) {
                        return picked.refused;
                    }
                }
                let latest = self.managed.and_then(|(scope, _)| recent::most_recent(self.world, &scope.directory, false));
                (latest, picked.refused)
            }
        };
        if let Some(path) = latest {
            self.settles(Source::MostRecent, path);
        }
        refused
    }
}

fn managed(world: &World<'_>, cwd: &Path) -> Result<(Scope, Listing), predict::Refused> {
    let scope = predict::resolve(world, cwd)?;
    let listing = predict::list(world, &scope)?;
    Ok((scope, listing))
}

/// Reads and follows the breadcrumb.
fn crumb(world: &World<'_>, cwd: &Path, file: Option<&Path>, budget: u64) -> Crumb {
    let Some(file) = file else { return Crumb::NoTerminal };
    let ignored = |says, why: String| Crumb::Ignored { says, why };
    let says = match breadcrumb::read(world.fs, file) {
        Found::Absent => return Crumb::Absent,
        Found::Unreadable(why) => return ignored(None, format!("it {why}")),
        Found::Malformed => return ignored(None, "it has not the two lines of a breadcrumb".to_owned()),
        Found::Breadcrumb(says) => says,
    };
    if !says.is_for(world, cwd) {
        let why = format!("it speaks of another directory: {}", says.cwd);
        return ignored(Some(says), why);
    }
    match breadcrumb::follow(world, &says, |path| strict(world, path, budget), |cwd| Owned::of_workspace(world, cwd)) {
        Ok((path, how)) => Crumb::Leads { says, path, how },
        Err(why) => ignored(Some(says), why.words()),
    }
}

/// Strict inspection as a breadcrumb asks for it.
fn strict(world: &World<'_>, path: &Path, budget: u64) -> Strict {
    let inspection = resume::inspect(world, path, budget);
    match inspection.tail {
        Tail::Resumable(identity) | Tail::Terminal(identity) => {
            Ok(Header { id: identity.session_id.to_string(), cwd: inspection.cwd.map(|cwd| cwd.to_string()).unwrap_or_default() })
        }
        Tail::Error(refused) => Err(refused.reason),
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum For {
    /// `--continue`, which goes on with a large file only where the last message is not the assistant's.
    Continue,
    /// `--resume`.
    Resume,
}

/// The scope that a file of the sessions root is opened through: that of the workspace in its header.
pub fn managed_of(world: &World<'_>, path: &Path) -> Option<(Scope, Listing)> {
    if !is_within(world, &world.sessions_root, path) {
        return None;
    }
    // Where it lies does not matter here, only what its header says.
    let candidate = Candidate::read(world.fs, path, Provenance::V2).ok()?;
    managed(world, Path::new(&*candidate.cwd.as_js().to_string_lossy())).ok()
}

/// What opening a chosen file comes to that was looked at. `managed`: the scope that files of the sessions root are opened
/// through.
pub fn open(world: &World<'_>, path: &Path, look: &Look, managed: Option<&(Scope, Listing)>, purpose: For) -> Opening {
    if is_staged(path) {
        return Opening::Fails { code: "staged", detail: "Staged session paths are not resumable".to_owned() };
    }
    let terminal = match (&look.tail, &look.bounded) {
        (Tail::Resumable(_), _) | (_, Some(Ok(Bounded::Opens { continuable: true }))) => false,
        (Tail::Terminal(_), _) => true,
        (_, Some(Ok(Bounded::Opens { continuable: false }))) if purpose == For::Resume => true,
        (_, Some(Ok(Bounded::Opens { continuable: false }))) => {
            let detail = "above 128 MiB the last message must not be the assistant's".to_owned();
            return Opening::PassedOver { reason: "terminal", detail };
        }
        (Tail::Error(refused), Some(Ok(Bounded::Refused { token, line: Some(line) }))) => {
            let detail = format!("{}; the bounded scan gives up at line {line}: {token}", refused.detail);
            return Opening::Fails { code: "oversized", detail };
        }
        (_, Some(Err(reason))) => {
            return refused_by_inspection(reason.token(), "the bounded open cannot read it".to_owned());
        }
        // Whatever else the bounded open says, a file that is too large for the inspection ends as `oversized`.
        (Tail::Error(refused), _) => return refused_by_inspection(refused.reason, refused.detail.clone()),
    };
    let inside = is_within(world, &world.sessions_root, path);
    if let Some(Err(malformed)) = inside.then(|| reader::file(world.fs, path)).flatten() {
        return Opening::Unreadable { detail: malformed.to_string() };
    }
    let opened = |path: PathBuf, migrated| match look.throws {
        Some(code) => Opening::Throws { code },
        None => Opening::Opens { path, migrated, terminal },
    };
    let Some((scope, listing)) = managed.filter(|_| inside) else { return opened(path.to_owned(), false) };
    let Some(listed) = listing.owned.iter().find(|listed| listed.candidate.path == path) else {
        // Only the most recent file of a scope can be one that no listing owns: a link, or the session of another workspace.
        return Opening::Fails { code: "unauthorized", detail: "it is not an authorized managed candidate".to_owned() };
    };
    match predict::open(world, scope, &listed.candidate, Policy::CopyRetain) {
        Ok(predict::Opened { path, migrated }) => opened(path, migrated),
        // A session that changed since it was listed is another one; every other error is gjc's last word.
        Err(refused) if refused.code == "source_changed" => Opening::PassedOver { reason: "identity-mismatch", detail: refused.detail },
        Err(refused) => Opening::Fails { code: refused.code, detail: refused.detail },
    }
}

/// Two reasons of the inspection are thrown, the others pass the file over.
fn refused_by_inspection(reason: &'static str, detail: String) -> Opening {
    match reason {
        "oversized" | "context_too_large" => Opening::Fails { code: reason, detail },
        reason => Opening::PassedOver { reason, detail },
    }
}
