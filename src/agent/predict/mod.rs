//! What gjc would answer about a workspace and a session of it, without writing anything: resolve, list, inspect, prepare
//! (synchronous), reconcile (asynchronous), open, delete (spec 02 §3 to §10, 02a). Where gjc's answer depends on what its
//! own earlier steps write, the decision is simulated.
//!
//! Concurrent writers are not foreseen: an answer is for the tree as it stands.

mod delete;
mod deletion;
pub mod migrate;
mod open;
mod picker;
mod prepare;
mod resume;

pub use super::candidates::{ListError, Listing, list};
pub use delete::{Deleted, delete};
pub use open::{Opened, Policy, candidate_at, open, pick};
pub use picker::{
    PROJECT_DIRECTORIES, PROJECT_FILES, Picked, ProjectTranscripts, Shown, Skipped, picker, project_transcripts, shown, shown_from,
};
pub use prepare::{ReceiptStanding, judge_receipt, prepare, reconcile};
pub use resume::{Cleanup, PendingTarget, cleanup_history, is_within_sessions, lock_blocks, pending_targets};

use super::binding;
use super::security::{self, Need, Violation};
use super::world::{Scope, World};
use crate::fsys::{Errno, Kind};
use std::path::{Path, PathBuf};

/// Where an operation stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// While the scope was resolved.
    Resolve,
    /// While the scope was prepared for writing.
    Prepare,
}

impl Stage {
    /// `resolve` or `prepare`.
    pub const fn word(self) -> &'static str {
        match self {
            Stage::Resolve => "resolve",
            Stage::Prepare => "prepare",
        }
    }
}

/// gjc refuses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Refused {
    /// Where it stopped; none when listing, picking, opening or deleting itself refuses.
    pub stage: Option<Stage>,
    /// gjc's code.
    pub code: &'static str,
    /// `cause.classification` (spec 02 §4.7).
    pub classification: Option<&'static str>,
    /// `prepare:<stage>` of the synchronous prepare.
    pub diagnostic: Option<&'static str>,
    /// Step of spec 02 §3.2 that refused a binding.
    pub step: Option<u8>,
    /// What was found, for people.
    pub detail: String,
    /// The object that decided.
    pub path: Option<PathBuf>,
}

impl Refused {
    /// A refusal with nothing but its code and reason.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Refused { stage: None, code, classification: None, diagnostic: None, step: None, detail: detail.into(), path: None }
    }
    /// Names the object that decided.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }
    /// Sets stage and classification.
    #[must_use]
    pub fn classified(mut self, stage: Stage, classification: Option<&'static str>) -> Self {
        self.stage = Some(stage);
        self.classification = classification;
        self
    }
}

impl From<ListError> for Refused {
    fn from(error: ListError) -> Self {
        let code = error.code();
        match error {
            ListError::UnsafeRoot(path) => Refused::new(code, "is no real directory: the whole listing fails").at(path),
            ListError::ScanFailed { path, why } => Refused::new(code, format!("{why}: the whole listing fails")).at(path),
        }
    }
}

/// Resolves the scope of a working directory (spec 02 §2, §3.2, §4.4). `cwd` is what the user says; a relative one is
/// taken from the current directory.
///
/// # Errors
/// gjc's refusal.
pub fn resolve(world: &World<'_>, cwd: &Path) -> Result<Scope, Refused> {
    resolved(world, cwd, |_| false)
}

/// The same for writing: an access control list of macOS or Windows is tolerated, because preparing puts it right (spec 02 §4.4).
pub(super) fn resolve_for_write(world: &World<'_>, cwd: &Path) -> Result<Scope, Refused> {
    resolved(world, cwd, |violation| matches!(violation, Violation::List(_)))
}

fn resolved(world: &World<'_>, cwd: &Path, is_tolerated: impl FnOnce(&Violation) -> bool) -> Result<Scope, Refused> {
    let refuse = |code, classification, detail: String, path: &Path| {
        Err(Refused::new(code, detail).at(path).classified(Stage::Resolve, classification))
    };
    let identity = match world.identity(cwd) {
        Ok(identity) => identity,
        Err(why) => return refuse(why.scope_error(), None, format!("the directory has no identity: {}", why.token()), cwd),
    };
    match world.fs.lstat(&world.sessions_root) {
        Ok(meta) if meta.kind == Kind::Directory => {}
        Ok(meta) => {
            let what = format!("the sessions root is a {}", meta.kind.noun());
            return refuse("sessions_root_unavailable", Some("reparse_point"), what, &world.sessions_root);
        }
        Err(error) if error.errno == Errno::NOENT => {}
        Err(error) => return refuse("sessions_root_unavailable", None, error.to_string(), &world.sessions_root),
    }
    let sessions_root = world.canonical_root(&world.sessions_root);
    let directory = sessions_root.join(identity.directory_name());
    let scope = Scope {
        lexical_cwd: world.current_dir.join(cwd),
        agent_dir: world.canonical_root(&world.agent_dir),
        sessions_root,
        directory,
        identity,
    };
    match world.fs.lstat(&scope.directory) {
        Ok(meta) if meta.kind == Kind::Directory => {}
        Ok(meta) => {
            return refuse("binding_invalid", Some("reparse_point"), format!("the scope path is a {}", meta.kind.noun()), &scope.directory);
        }
        Err(error) if matches!(error.errno, Errno::NOENT | Errno::NOTDIR) => return Ok(scope),
        Err(error) => return refuse("binding_invalid", None, error.to_string(), &scope.directory),
    }
    if let Err(violation) = security::verify(world.fs, &scope.directory, Need::Directory, world.uid)
        && !is_tolerated(&violation)
    {
        let what = format!("the scope directory is not owner-only: {}", violation.token());
        return refuse("binding_invalid", Some(violation.token()), what, &scope.directory);
    }
    let judged =
        binding::read(world.fs, &scope.directory).and_then(|found| found.map_or(Ok(()), |found| found.belongs_to(&scope.identity)));
    match judged {
        Ok(()) => Ok(scope),
        Err(fault) => {
            let mut refused = Refused::new(fault.code(), binding_detail(&fault)).at(scope.directory.join(super::layout::BINDING));
            refused = refused.classified(Stage::Resolve, Some(fault.classification()));
            refused.step = Some(fault.step());
            Err(refused)
        }
    }
}

/// What is wrong with a binding, in words.
pub fn binding_detail(fault: &binding::Fault) -> String {
    use binding::Fault;
    match fault {
        Fault::Capture(refusal) => format!("the binding {refusal}"),
        Fault::NotJson => "the binding is not JSON".to_owned(),
        Fault::Shape(field) => format!("the binding's {field} is wrong"),
        Fault::Conflict(fields) => format!("the binding belongs to another workspace: {}", fields.join(", ")),
        Fault::NotCanonical(difference) => format!("the binding is not written in the canonical form: {difference}"),
    }
}

/// What strict inspection answers about a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InspectedFile {
    /// `resumable` or `terminal`.
    pub kind: &'static str,
    /// The path without links.
    pub path: PathBuf,
    /// Header id.
    pub session_id: crate::json::JsString,
}

/// The strict read-only inspection of one file (spec 01 §2.3).
///
/// # Errors
/// gjc's reason.
pub fn inspect(world: &World<'_>, path: &Path) -> Result<InspectedFile, &'static str> {
    use crate::transcript::inspect::{Options, Verdict, file};
    let looked = file(world.fs, path, Options { release: world.release, budget: world.context_budget }).map_err(|reason| reason.token())?;
    let kind = match &looked.inspected.verdict {
        Verdict::Resumable => "resumable",
        Verdict::Terminal => "terminal",
        Verdict::Error(reason) => return Err(reason.token()),
    };
    let loaded = looked.inspected.loaded.as_ref().ok();
    let id = loaded.and_then(|loaded| loaded.entries.first().and_then(|header| loaded.ids.text(header.id)));
    let session_id = id.map(|id| crate::json::JsString::from_wtf8(id.to_vec())).unwrap_or_default();
    Ok(InspectedFile { kind, path: looked.canonical, session_id })
}
