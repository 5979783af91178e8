//! `list`: gjc's managed listing of a workspace, or of all, with the reason for everything that it does not show; and gjc's
//! other lists: recent, picker, strict inventory.

use super::console::quoted;
use super::{Console, Failure, Status};
use crate::agent::catalogue;
use crate::agent::locate::{Part, part_of};
use crate::agent::predict;
use crate::agent::walk::show;
use crate::fsys::host::ThisHost;
use crate::fsys::{Fs, Kind, Real};
use crate::render::{discovery, list};
use crate::session::discovery::answer::List;
use crate::session::discovery::search::Search;
use crate::session::discovery::{inventory, picker, recent};
use std::path::{Path, PathBuf};

/// Arguments of `list`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Without PATH, --cwd or --all the sessions of the current directory are listed. Times are UTC: when the file was changed \
last, and when the session was begun. A session marked ✗ is listed by gjc, but does not open; `gjc-fsck why ID` says why.\n\
--recent, --picker and --inventory are gjc's other lists. They take any directory as PATH, as gjc's --session-dir does; nothing is \
renamed: a backup that gjc would restore first is listed under its new name.\n\
Exit status: 0 when gjc lists the workspace, 4 when it refuses it or the inventory fails, 8 when there is nothing to list."
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
    /// The recent list: the latest sessions, named by title or first prompt from their first 4 KB
    #[arg(long, conflicts_with_all = ["picker", "inventory", "all"])]
    pub recent: bool,
    /// The picker's list: starred sessions first, project transcripts included, one session an id
    #[arg(long, conflicts_with = "inventory")]
    pub picker: bool,
    /// The strict inventory: complete, or a failure that authorises nothing
    #[arg(long, conflicts_with = "all")]
    pub inventory: bool,
    /// Show only sessions in whose id, title, workspace, first message or path each of the WORDS stands
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    /// Sessions of the recent list
    #[arg(long, value_name = "N", default_value_t = recent::LIMIT, requires = "recent", value_parser = whole)]
    pub limit: usize,
    /// Agent directory (default: the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
}

fn whole(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number, as in --limit 20")
}

/// Prints the listing.
///
/// # Errors
/// No home can be trusted, there is no agent directory, or PATH is none of the things that can be listed.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if args.recent || args.picker || args.inventory {
        return other_list(args, console);
    }
    let part = args.path.as_deref().map(|path| named(path, console)).transpose()?;
    let agent_dir = match &part {
        Some(Part::Agent(agent) | Part::Directory { agent, .. }) => Some(agent.as_path()),
        None => args.agent_dir.as_deref(),
    };
    let world = console.world(&Real, &ThisHost, agent_dir)?;
    if !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let mut answer = match (&part, &args.cwd) {
        (Some(Part::Directory { .. }), Some(_)) => {
            return Err(Failure::Usage("a scope or legacy directory is listed as a whole: name it, or --cwd, not both".into()));
        }
        (Some(Part::Directory { directory, .. }), None) => catalogue::of_directory(&world, directory),
        (_, Some(cwd)) => catalogue::of_workspace(&world, cwd),
        (Some(Part::Agent(_)), None) => catalogue::of_all(&world),
        (None, None) if args.all => catalogue::of_all(&world),
        (None, None) => catalogue::of_workspace(&world, &world.current_dir),
    };
    if let Some(query) = &args.search {
        let search = Search::new(query);
        answer.keep(|texts| search.finds(texts));
    }
    // Of what is shown: a search leaves workspaces out.
    let refused = answer.workspaces.iter().any(|workspace| workspace.refused.is_some());
    let options = options_again(agent_dir, console);
    let layout = console.layout();
    console.answer(&answer, || list::text(&answer, &options, layout), || list::concise(&answer))?;
    Ok(if refused { Status::FINDINGS } else { Status::CLEAN })
}

/// One of gjc's other lists.
fn other_list(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    // Any directory will do: gjc lists what `--session-dir` names.
    let named = args.path.as_deref().map(|path| directory(path, console)).transpose()?;
    let part = named.as_deref().and_then(|path| part_of(&Real, path));
    let agent_dir = match &part {
        Some(Part::Agent(agent) | Part::Directory { agent, .. }) => Some(agent.as_path()),
        None => args.agent_dir.as_deref(),
    };
    let world = console.world(&Real, &ThisHost, agent_dir)?;
    let cwd = world.current_dir.join(args.cwd.as_deref().unwrap_or(&world.current_dir));
    let of = |path: &Path| show(path.as_os_str());
    let whole = args.all || matches!(part, Some(Part::Agent(_))) && args.cwd.is_none();
    let explicit = if matches!(part, Some(Part::Agent(_))) { None } else { named.as_deref() };
    let no_agent = explicit.is_none() && !world.fs.present(&world.agent_dir).unwrap_or(true);
    // The picker shows project transcripts too, which need no agent directory.
    if no_agent && !args.picker {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let answer = if whole {
        if !args.picker {
            return Err(Failure::Usage("this list is of one workspace or one folder, not of a whole agent directory: add --cwd DIR, or name a scope or folder of it as PATH".into()));
        }
        List::picker(&world, "all workspaces".to_owned(), picker::of_all(&world), Vec::new())
    } else if let Some(directory) = explicit {
        if args.recent {
            // What managed scopes hold is never renamed by a listing.
            let restores = !matches!(part, Some(Part::Directory { .. }));
            List::recent(&world, of(directory), recent::list(&world, directory, args.limit, restores))
        } else if args.picker {
            let (picked, restored) = picker::of_directory(&world, directory);
            List::picker(&world, of(directory), picked, restored)
        } else {
            List::inventory(of(directory), inventory::of_directory(&world, directory, &cwd))
        }
    } else if args.recent {
        match predict::resolve(&world, &cwd) {
            Ok(scope) => List::recent(&world, of(&cwd), recent::of_scope(&world, &scope, args.limit)),
            Err(refused) => List { list: "recent", of: of(&cwd), refused: Some(refused.into()), ..List::default() },
        }
    } else if args.picker {
        List::picker(&world, of(&cwd), picker::of_workspace(&world, &cwd), Vec::new())
    } else {
        List::inventory(of(&cwd), inventory::of_workspace(&world, &cwd))
    };
    if no_agent && answer.sessions.is_empty() {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let answer = match &args.search {
        Some(query) => answer.found(&Search::new(query)),
        None => answer,
    };
    let layout = console.layout();
    console.answer(&answer, || discovery::list(&answer, layout), || discovery::list_concise(&answer))?;
    let stands = answer.refused.is_none() && answer.failures.is_empty();
    Ok(if stands { Status::CLEAN } else { Status::FINDINGS })
}

/// A directory that is there.
fn directory(path: &Path, console: &Console) -> Result<PathBuf, Failure> {
    let there = console.environment.current_dir.join(path);
    let name = show(path.as_os_str());
    match Real.stat(&there) {
        Err(error) => Err(Failure::on(path, &error)),
        Ok(meta) if meta.kind != Kind::Directory => {
            Err(Failure::Usage(format!("{name}: this is a {}; `gjc-fsck why` answers about one transcript", meta.kind.noun())))
        }
        Ok(_) => Ok(there),
    }
}

/// The options that a command needs to look at the same agent directory again, each with a space before it.
pub(super) fn options_again(agent_dir: Option<&Path>, console: &Console) -> String {
    let options = [("--agent-dir", agent_dir), ("--assume-root", console.options.assume_root.as_deref())];
    options.into_iter().filter_map(|(option, path)| path.map(|path| format!(" {option} {}", quoted(path)))).collect()
}

/// What the named path is.
pub(super) fn named(path: &Path, console: &Console) -> Result<Part, Failure> {
    let there = directory(path, console)?;
    part_of(&Real, &there).ok_or_else(|| {
        // What may not be looked into may well be one of them.
        if let Err(error) = Real.list(&there) {
            return Failure::on(path, &error);
        }
        let name = show(path.as_os_str());
        let hint = "an agent directory holds `sessions`, and `~/.gjc/agent` is the usual one. `gjc-fsck check DIR` and `gjc-fsck list --picker DIR` look at any folder of transcripts";
        Failure::Operational(format!("{name}: neither an agent directory nor a scope or legacy directory of one: {hint}"))
    })
}

/// There is nothing to ask about.
pub(super) fn no_agent_directory(agent_dir: &Path) -> Failure {
    Failure::Operational(format!("{}: there is no agent directory; name another one", show(agent_dir.as_os_str())))
}
