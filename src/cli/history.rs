//! `history [PATH]`, `history search WORDS`: the prompt history `history.db`, looked at through a private copy.

use super::options::Format;
use super::{Console, Failure, Status, check};
use crate::agent::history::search::{Prompt, limit};
use crate::agent::history::{History, NotOpened};
use crate::agent::layout::HISTORY;
use crate::check::run::{self, Depth};
use crate::fsys::{Fs, Kind, Real};
use crate::render::NoExcerpts;
use crate::render::history as page;
use crate::report;
use std::path::{Path, PathBuf};

/// Arguments of `history`.
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "The database and its -wal are copied to a private place and looked at there: nothing is made beside them, and a running gjc is not \
disturbed."
)]
pub struct Args {
    /// Agent directory or database to check (default: the user's own)
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// What else to do.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// What can be done with a prompt history besides checking it.
#[derive(clap::Subcommand, Debug)]
pub enum Action {
    /// Print the prompts that gjc would find, the best first; without words the most recent ones
    Search(Search),
}

/// Arguments of `history search`.
#[derive(clap::Args, Debug)]
pub struct Search {
    /// What to look for: each word, or a part of one
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// Agent directory or database (default: the user's own)
    #[arg(long = "in", value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Only prompts of this workspace, spelled as gjc stored it
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// Most prompts; gjc gives no more than 1,000
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    pub limit: f64,
}

/// Checks, or searches.
///
/// # Errors
/// No agent directory can be named; the database cannot be read or searched.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    match &args.action {
        Some(Action::Search(search)) => find(search, console),
        None => audit(args.path.as_deref(), console),
    }
}

fn audit(path: Option<&Path>, console: &mut Console) -> Result<Status, Failure> {
    let path = path.map_or_else(|| own(console), |path| Ok(path.to_owned()))?;
    let run = run::history(&path, &check::options(Depth::Full, console), &Real);
    if run.findings.is_empty() && database(&path, console).is_ok_and(|path| !Real.present(&path).unwrap_or(true)) {
        console.note("there is no prompt history; gjc makes it with the first prompt");
    }
    let report = report::build(check::audit(run, console), &check::settings(console));
    check::write(&report, &NoExcerpts, console)
}

fn find(search: &Search, console: &mut Console) -> Result<Status, Failure> {
    let named = search.path.as_deref().map_or_else(|| own(console), |path| Ok(path.to_owned()))?;
    let path = database(&named, console)?;
    let history = History::open(&Real, &path).map_err(|why| match why {
        NotOpened::Absent => Failure::Operational(format!("{}: {why}", path.display())),
        _ => Failure::Operational(format!("{}: not searched: {why}", path.display())),
    })?;
    let (words, most, cwd) = (search.words.join(" "), limit(search.limit), search.cwd.as_deref());
    let found = if search.words.is_empty() { history.recent(most, cwd) } else { history.search(&words, most, cwd) };
    let found: Vec<Prompt> = found.map_err(|error| Failure::Refused(format!("{}: {error}", path.display())))?;
    let width = console.environment.width;
    let text = match console.options.format {
        Format::Json => page::json(&found),
        Format::Concise => page::concise(&found),
        Format::Human => page::text(&found, crate::render::style::Palette::new(console.colour()), width),
    };
    console.out().write_all(text.as_bytes())?;
    if found.is_empty() {
        console.note("no prompt was found");
    }
    Ok(Status::CLEAN)
}

/// The user's own agent directory.
fn own(console: &Console) -> Result<PathBuf, Failure> {
    let location = console.environment.location(&Real).map_err(|error| Failure::Operational(error.to_string()))?;
    Ok(location.data)
}

/// The database of what was named, without links.
fn database(named: &Path, console: &Console) -> Result<PathBuf, Failure> {
    let named = console.environment.current_dir.join(named);
    let real = Real.realpath(&named).map_err(|error| Failure::Operational(error.to_string()))?;
    let is_directory = Real.lstat(&real).is_ok_and(|meta| meta.kind == Kind::Directory);
    Ok(if is_directory { real.join(HISTORY) } else { real })
}
