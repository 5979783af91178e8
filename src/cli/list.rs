//! `list`: gjc's managed listing of a workspace, or of all, with the reason for everything that it does not show.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::catalogue::{self, Catalogue};
use crate::agent::locate::{Part, part_of};
use crate::agent::walk::show;
use crate::fsys::host::ThisHost;
use crate::fsys::{Errno, Fs, Kind, Real};
use crate::render::human::Layout;
use crate::render::list;
use std::path::{Path, PathBuf};

/// Arguments of `list`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Without PATH, --cwd or --all the sessions of the current directory are listed. Times are UTC: when the file was changed \
last, and when the session was begun. A session marked ✗ is listed by gjc, but does not open; `gjc-fsck why ID` says why. \
Exit status: 0 when gjc lists the workspace, 4 when it refuses it."
)]
pub struct Args {
    /// Agent directory (its sessions of all workspaces), scope, or legacy directory (the sessions that lie in it)
    #[arg(value_name = "PATH", conflicts_with = "agent_dir")]
    pub path: Option<PathBuf>,
    /// Working directory whose sessions are listed (default: the current one)
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub cwd: Option<PathBuf>,
    /// List the sessions of all workspaces
    #[arg(long)]
    pub all: bool,
    /// Agent directory (default: the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
}

/// Prints the listing.
///
/// # Errors
/// No home can be trusted, there is no agent directory, or PATH is none of the things that can be listed.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let part = args.path.as_deref().map(|path| named(path, console)).transpose()?;
    let agent_dir = match &part {
        Some(Part::Agent(agent) | Part::Directory { agent, .. }) => Some(agent.as_path()),
        None => args.agent_dir.as_deref(),
    };
    let world = console.world(&Real, &ThisHost, agent_dir)?;
    if !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let answer = match (&part, &args.cwd) {
        (Some(Part::Directory { .. }), Some(_)) => {
            return Err(Failure::Usage("a scope or legacy directory is listed as a whole: name it, or --cwd, not both".into()));
        }
        (Some(Part::Directory { directory, .. }), None) => catalogue::of_directory(&world, directory),
        (_, Some(cwd)) => catalogue::of_workspace(&world, cwd),
        (Some(Part::Agent(_)), None) => catalogue::of_all(&world),
        (None, None) if args.all => catalogue::of_all(&world),
        (None, None) => catalogue::of_workspace(&world, &world.current_dir),
    };
    write(&answer, console)?;
    let refused = answer.workspaces.iter().any(|workspace| workspace.refused.is_some());
    Ok(if refused { Status::FINDINGS } else { Status::CLEAN })
}

fn write(answer: &Catalogue, console: &mut Console) -> Result<(), Failure> {
    let layout = Layout { colour: console.colour(), width: console.environment.width, quiet: console.options.quiet };
    let format = console.options.format;
    let out = console.out();
    match format {
        Format::Human => out.write_all(list::text(answer, layout).as_bytes())?,
        Format::Concise => out.write_all(list::concise(answer).as_bytes())?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, answer).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// What the named path is.
pub(super) fn named(path: &Path, console: &Console) -> Result<Part, Failure> {
    let there = console.environment.current_dir.join(path);
    let name = show(path.as_os_str());
    match Real.stat(&there) {
        Err(error) if error.errno == Errno::NOENT => Err(Failure::Operational(format!("{name}: nothing stands here; check the spelling"))),
        Err(error) => Err(Failure::Operational(format!("{name}: {}", error.token()))),
        Ok(meta) if meta.kind != Kind::Directory => {
            Err(Failure::Usage(format!("{name}: this is a {}; `gjc-fsck why` answers about one transcript", meta.kind.noun())))
        }
        Ok(_) => part_of(&Real, &there).ok_or_else(|| {
            let hint = "`gjc-fsck list --cwd DIR` lists the sessions of a workspace, `gjc-fsck check DIR` looks at a folder of transcripts";
            Failure::Usage(format!("{name}: neither an agent directory nor a scope or legacy directory of one; {hint}"))
        }),
    }
}

/// There is nothing to ask about.
pub(super) fn no_agent_directory(agent_dir: &Path) -> Failure {
    Failure::Operational(format!("{}: there is no agent directory; name another one", show(agent_dir.as_os_str())))
}
