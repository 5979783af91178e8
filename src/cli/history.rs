//! `history [PATH]`, `history search WORDS`: the prompt history `history.db`, looked at through a private copy.

use super::options::{Format, ReportFormat};
use super::{Console, Failure, Status, check};
use crate::agent::history::search::{Answer, limit};
use crate::agent::history::{History, NotOpened};
use crate::agent::layout::HISTORY;
use crate::agent::locate::{Part, part_of};
use crate::agent::walk::show;
use crate::check::run::{self, Depth, Run};
use crate::fsys::{Fs, Kind, Real};
use crate::render::NoExcerpts;
use crate::render::history as page;
use crate::render::style::plain;
use crate::render::words::shell_word;
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
    #[arg(long = "in", visible_alias = "agent-dir", value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Only prompts of this workspace, spelled as gjc stored it
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// Most prompts; gjc gives no more than 1,000
    #[arg(long, value_name = "N", default_value_t = 100.0, value_parser = number)]
    pub limit: f64,
}

fn number(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "expected a number, as in --limit 20")
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
    let own = path.is_none();
    let path = path.map_or_else(|| self::own(console), |path| Ok(path.to_owned()))?;
    let run = run::history(&path, &check::options(Depth::Full, console), &Real);
    if run.findings.is_empty() && database(&path, console).is_ok_and(|(path, _)| !Real.present(&path).unwrap_or(true)) {
        return absent(&path, own, console);
    }
    let report = report::build(check::audit(run, console), &check::settings(console));
    check::write(&report, &NoExcerpts, console)
}

/// There is no database. An agent directory needs none before the first prompt; in any other folder nothing was checked.
fn absent(folder: &Path, own: bool, console: &mut Console) -> Result<Status, Failure> {
    let name = show(folder.as_os_str());
    let is_agent = own || matches!(part_of(&Real, &console.environment.current_dir.join(folder)), Some(Part::Agent(_)));
    if !is_agent {
        let why = "neither a prompt history nor an agent directory: there is nothing to check";
        return Err(Failure::Operational(format!("{name}: {why}")));
    }
    let told = "there is no prompt history; gjc makes it with the first prompt";
    match console.options.report_format {
        ReportFormat::Human => writeln!(console.out(), "{}: {told}", plain(&name))?,
        _ => {
            console.note(told);
            let report = report::build(check::audit(Run { root: name, ..Run::default() }, console), &check::settings(console));
            return check::write(&report, &NoExcerpts, console);
        }
    }
    Ok(Status::CLEAN)
}

fn find(search: &Search, console: &mut Console) -> Result<Status, Failure> {
    let named = search.path.as_deref().map_or_else(|| own(console), |path| Ok(path.to_owned()))?;
    let (path, name) = database(&named, console)?;
    let history = History::open(&Real, &path).map_err(|why| match why {
        NotOpened::Absent => Failure::Operational(format!("{name}: {why}")),
        _ => Failure::Operational(format!("{name}: not searched: {why}")),
    })?;
    let (words, most, cwd) = (search.words.join(" "), limit(search.limit), search.cwd.as_deref());
    let again = shell_word(&name);
    let not_searched =
        |why: &str| Failure::Operational(format!("{name}: not searched to its end: {why}; `gjc-fsck history {again}` checks it"));
    let found = if search.words.is_empty() {
        history.recent(most, cwd).map(|prompts| Answer { prompts, ..Answer::default() })
    } else {
        history.search(&words, most, cwd)
    };
    let found = found.map_err(|error| not_searched(&error.to_string()))?;
    let width = console.environment.width;
    let text = match console.options.format {
        Format::Json => page::json(&found.prompts),
        Format::Concise => page::concise(&found.prompts),
        Format::Human => page::text(&found.prompts, crate::render::style::Palette::new(console.colour()), width),
    };
    console.out().write_all(text.as_bytes())?;
    match (&found.table_failed, &found.index_failed) {
        (Some(why), _) => Err(not_searched(why)),
        (None, index) => {
            if let Some(why) = index {
                console.note(&format!("the search index cannot be asked ({why}): gjc finds what contains the words, no better ones first"));
            }
            if found.prompts.is_empty() {
                console.note("no prompt was found");
            }
            Ok(Status::CLEAN)
        }
    }
}

/// The user's own agent directory.
fn own(console: &Console) -> Result<PathBuf, Failure> {
    let location = console.environment.location(&Real).map_err(|error| Failure::Operational(error.to_string()))?;
    Ok(location.data)
}

/// The database of what was named: without links, and by the name that leads to it.
fn database(named: &Path, console: &Console) -> Result<(PathBuf, String), Failure> {
    let real = Real.realpath(&console.environment.current_dir.join(named)).map_err(|error| Failure::on(named, &error))?;
    let is_directory = Real.lstat(&real).is_ok_and(|meta| meta.kind == Kind::Directory);
    let (real, name) = if is_directory { (real.join(HISTORY), named.join(HISTORY)) } else { (real, named.to_owned()) };
    Ok((real, show(name.as_os_str())))
}
