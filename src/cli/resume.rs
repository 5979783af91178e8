//! `resume X`: which session `gjc --resume X` would take, and why; or what the SDK would say of a saved session.

use super::list::{no_agent_directory, options_again};
use super::{Console, Failure, Status};
use crate::agent::walk::show;
use crate::fsys::Real;
use crate::fsys::host::ThisHost;
use crate::render::discovery;
use crate::session::discovery::answer::Resume;
use crate::session::discovery::proceed::{self, For};
use crate::session::discovery::resolve::{self, Meant};
use crate::session::discovery::saved;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of `resume`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "X is a path when it holds a / or \\ or ends in .jsonl. Else the first session of the list is taken whose id, file name, or \
end of the file name (behind the last _) begins with it, whatever the case: first in the list of the workspace, then in that of all. \
Several matches are no error for gjc. Nothing is opened or written.\n\
Of the SDK's reasons identity_incomplete does not occur here: this system tells the link count and change time of every file.\n\
Exit status: 0 gjc opens a session, begins one at the path, or asks whether to fork it; 4 it refuses, or there is no such session."
)]
pub struct Args {
    /// Session id or the beginning of one, or path of a transcript
    #[arg(value_name = "X")]
    pub session: OsString,
    /// Working directory in which gjc is called (default: the current one)
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Explicit directory of sessions; only it is searched
    #[arg(long, value_name = "DIR", conflicts_with = "sdk_json")]
    pub session_dir: Option<PathBuf>,
    /// Agent directory (default: the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
    /// Print what the SDK's session.list answers to resolveSessionId: savedSession, or savedSessionOmission with the reason
    #[arg(long)]
    pub sdk_json: bool,
}

/// Prints what is chosen.
///
/// # Errors
/// No home can be trusted, or there is no agent directory.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let world = console.world(&Real, &ThisHost, args.agent_dir.as_deref())?;
    // A path is opened wherever it lies.
    let needs_agent = args.sdk_json || args.session_dir.is_none() && !resolve::is_path_like(&args.session);
    if needs_agent && !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let cwd = world.current_dir.join(args.cwd.as_deref().unwrap_or(&world.current_dir));
    let asked = args.session.to_string_lossy().into_owned();
    if args.sdk_json {
        let reply = saved::saved(&world, &asked, &cwd);
        console.json(&reply)?;
        return Ok(if reply.saved_session.is_some() { Status::CLEAN } else { Status::FINDINGS });
    }
    let session_dir = args.session_dir.as_ref().map(|directory| world.current_dir.join(directory));
    if let Some(directory) = session_dir.as_deref().filter(|directory| !world.fs.present(directory).unwrap_or(true)) {
        console.note(&format!("{}: there is no such directory, so it holds no session", show(directory.as_os_str())));
    }
    let meant = resolve::resolve(&world, &args.session, &cwd, session_dir.as_deref());
    // With an explicit directory there is no managed policy, for ids at least; a path of the sessions root is opened through
    // the scope of its workspace.
    let is_managed = session_dir.is_none() || matches!(meant, Meant::Path(_));
    let answer = Resume::new(&world, asked, &meant, world.context_budget, |path, look| {
        let managed = if is_managed { proceed::managed_of(&world, path) } else { None };
        proceed::open(&world, path, look, managed.as_ref(), For::Resume)
    });
    let (layout, options) = (console.layout(), options_again(args.agent_dir.as_deref(), console));
    console.answer(&answer, || discovery::resume(&answer, &options, layout), || discovery::resume_concise(&answer))?;
    Ok(if matches!(answer.action, "fails" | "not_found") { Status::FINDINGS } else { Status::CLEAN })
}
