//! `continue`: what `gjc --continue` would open in this directory and terminal, and why.

use super::list::{no_agent_directory, options_again};
use super::{Console, Failure, Status};
use crate::agent::walk::show;
use crate::fsys::Real;
use crate::fsys::host::ThisHost;
use crate::render::discovery;
use crate::session::discovery::answer::{Continue, TerminalName};
use crate::session::discovery::proceed::{Destination, proceed};
use std::path::PathBuf;

/// Arguments of `continue`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "gjc asks the breadcrumb of the terminal, then the sessions of the workspace in the order of the picker, then the most \
recent file of the directory. The first that opens is continued; with none, a new session begins. The name of the terminal comes from \
TMUX_PANE, the terminal device, KITTY_WINDOW_ID, TERM_SESSION_ID or WT_SESSION. Nothing is opened or written.\n\
Exit status: 0 gjc opens a session or begins one, 4 it stops with an error."
)]
pub struct Args {
    /// Name of a terminal, as a file of terminal-sessions (default: this one)
    #[arg(long, value_name = "ID")]
    pub terminal: Option<String>,
    /// Working directory in which gjc is called (default: the current one)
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Explicit directory of sessions
    #[arg(long, value_name = "DIR")]
    pub session_dir: Option<PathBuf>,
    /// Agent directory (default: the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
}

/// Prints what is continued.
///
/// # Errors
/// No home can be trusted, there is no agent directory, or the name of the terminal is none.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let location = console.location(&Real, args.agent_dir.as_deref())?;
    let world = console.world(&Real, &ThisHost, args.agent_dir.as_deref())?;
    if args.session_dir.is_none() && !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let named = match &args.terminal {
        Some(id) if id.is_empty() || id.contains(['/', '\0']) || id == "." || id == ".." => {
            return Err(Failure::Usage(format!("`{id}` is no name of a terminal; the files of terminal-sessions are")));
        }
        Some(id) => Some((id.clone(), "--terminal".to_owned())),
        None => console.environment.terminal(&Real).id().map(|(id, from)| (id, from.to_owned())),
    };
    let breadcrumb = named.as_ref().map(|(id, _)| location.terminal_sessions().join(id));
    let terminal = named.zip(breadcrumb.as_ref()).map(|((id, from), file)| TerminalName { id, from, file: show(file.as_os_str()) });
    let cwd = world.current_dir.join(args.cwd.as_deref().unwrap_or(&world.current_dir));
    let session_dir = args.session_dir.as_ref().map(|directory| world.current_dir.join(directory));
    if let Some(directory) = session_dir.as_deref().filter(|directory| !world.fs.present(directory).unwrap_or(true)) {
        console.note(&format!("{}: there is no such directory, so it holds no session", show(directory.as_os_str())));
    }
    let destination = session_dir.as_deref().map_or(Destination::Managed, Destination::Explicit);
    let answer = Continue::new(&cwd, terminal, proceed(&world, &cwd, destination, breadcrumb.as_deref(), world.context_budget));
    let (layout, options) = (console.layout(), options_again(args.agent_dir.as_deref(), console));
    console.answer(&answer, || discovery::proceed(&answer, &options, layout), || discovery::proceed_concise(&answer))?;
    Ok(if answer.action == "fails" { Status::FINDINGS } else { Status::CLEAN })
}
