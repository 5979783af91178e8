//! The command line: one file per command, thin. The only room that prints and that reads the environment.
//!
//! A command is a file with `Args` and `run(&Args, &mut Console) -> Result<Status, Failure>`, one variant of [`Command`] and
//! one line of [`dispatch`]. `run` asks the rooms for values, writes them with [`Console::out`] and answers exit bits.

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

pub mod check;
pub mod codes;
pub mod console;
pub mod context;
pub mod corpus;
pub mod demo;
pub mod destination;
pub mod diff;
pub mod dump;
pub mod environment;
pub mod explain;
pub mod export;
pub mod gate;
pub mod gc;
pub mod history;
pub mod list;
pub mod migrate;
pub mod options;
pub mod proceed;
pub mod quota;
pub mod records;
pub mod repair;
pub mod replay;
pub mod resume;
pub mod schema;
pub mod scope;
pub mod session;
pub mod transcript;
pub mod tree;
pub mod why;

pub use crate::report::status::Status;
pub use console::{Console, Failure};
pub use environment::Environment;
pub use options::Options;

use options::Given;

/// Checks the session storage of the coding agent gjc, and says what gjc itself would do with it.
///
/// Exit status, summed: 0 clean, 1 repaired copy written, 2 inconclusive (a capacity is exceeded, or the tree moved),
/// 4 findings at or above --fail-on (a named transcript that does not exist is one), 8 a directory that does not exist
/// or holds nothing to check, or an object that could not be read, 16 wrong usage, 32 cancelled.
#[derive(Parser, Debug)]
#[command(name = "gjc-fsck", version, max_term_width = 100, subcommand_value_name = "COMMAND")]
pub struct Cli {
    /// What applies to every command.
    #[command(flatten)]
    pub options: Options,
    /// What to check, when no command is named.
    #[command(flatten)]
    pub check: check::Args,
    /// Which command; `check` when none is named.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands of design §5.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check an agent directory, a scope, a folder of transcripts or a transcript (the default)
    Check(check::Args),
    /// Make a sample agent directory with every common kind of damage, and check it
    Demo(demo::Args),
    /// Explain a code or one of gjc's own error tokens
    Explain(explain::Args),
    /// List every code
    Codes(codes::Args),
    /// Print each record that gjc's lenient reader yields, as its JSON.stringify text, one a line
    Records(records::Args),
    /// Print the entries that gjc's loader makes of a transcript, patches folded in
    Replay(replay::Args),
    /// Draw the tree of a transcript: branches, labels, compactions, the leaf, what the context holds
    Tree(tree::Args),
    /// Print the context that gjc rebuilds from a transcript
    Context(context::Args),
    /// Compare two transcripts or folders, one under two releases, or one with its version-5 form
    Diff(diff::Args),
    /// Write the version-5 form of a transcript to standard output or into a new file
    Migrate(migrate::Args),
    /// Print the scope of a working directory: name, digest, binding, legacy names
    Scope(scope::Args),
    /// List the sessions of a workspace as gjc does, with the reason for everything that it leaves out
    List(list::Args),
    /// Show which session `gjc --resume X` would take, and why
    Resume(resume::Args),
    /// Show what `gjc --continue` would open here, and why
    Continue(proceed::Args),
    /// Follow gjc's decisions about one session, up to the one at which it turns away
    Why(why::Args),
    /// Show the retirement journals: how far each is, what it holds, whether gjc would read it
    Gc(gc::Args),
    /// Show how much of each of gjc's limits is used, and what is left
    Quota(quota::Args),
    /// Print a session as text, as gjc's /dump does
    Dump(dump::Args),
    /// Write a session as one HTML file that needs nothing else, or take the session out of one
    Export(export::Args),
    /// Check the prompt history, or search it as gjc does
    History(history::Args),
    /// Copy legacy sessions into the layout that gjc uses now, with a proof that nothing was lost
    Repair(repair::Args),
    /// The reference session manager
    Session(session::Args),
    /// Run, bless, lint and count the cases of a corpus
    Corpus(corpus::Args),
    /// Print the JSON Schema of a record of gjc or of what gjc-fsck writes, or compare a file with it
    Schema(schema::Args),
}

/// Runs one command.
///
/// # Errors
/// What the command could not do; the caller turns it into words and exit bits.
pub fn dispatch(command: &Command, console: &mut Console) -> Result<Status, Failure> {
    match command {
        Command::Check(args) => check::run(args, console),
        Command::Demo(args) => demo::run(args, console),
        Command::Explain(args) => explain::run(args, console),
        Command::Codes(args) => codes::run(args, console),
        Command::Records(args) => records::run(args, console),
        Command::Replay(args) => replay::run(args, console),
        Command::Tree(args) => tree::run(args, console),
        Command::Context(args) => context::run(args, console),
        Command::Diff(args) => diff::run(args, console),
        Command::Migrate(args) => migrate::run(args, console),
        Command::Scope(args) => scope::run(args, console),
        Command::List(args) => list::run(args, console),
        Command::Resume(args) => resume::run(args, console),
        Command::Continue(args) => proceed::run(args, console),
        Command::Why(args) => why::run(args, console),
        Command::Gc(args) => gc::run(args, console),
        Command::Quota(args) => quota::run(args, console),
        Command::Dump(args) => dump::run(args, console),
        Command::Export(args) => export::run(args, console),
        Command::History(args) => history::run(args, console),
        Command::Repair(args) => repair::run(args, console),
        Command::Session(args) => session::run(args, console),
        Command::Corpus(args) => corpus::run(args, console),
        Command::Schema(args) => schema::run(args, console),
    }
}

/// What the command line itself gives, as the command sees it.
fn given(matches: &ArgMatches) -> Given {
    let mut deepest = matches;
    while let Some((_, below)) = deepest.subcommand() {
        deepest = below;
    }
    let said = |option| deepest.value_source(option) == Some(ValueSource::CommandLine);
    Given { release: said("releases"), fail_on: said("fail_on") }
}

/// Some commands have `--json`, and all that answer a program have `--format json`: who mistakes one for the other is told that, and
/// not how to name a file `--json`.
fn told_of_format(mut error: clap::Error) -> clap::Error {
    let unknown = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(argument)) if argument == "--json");
    if unknown {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec!["the form is `--format json`".into()]));
    }
    error
}

/// Parses the arguments, runs the command, and answers its exit status (design §5).
pub fn main() -> ExitCode {
    let parsed = Cli::command().try_get_matches().and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, given(&matches))));
    let mut cli = match parsed {
        Ok((cli, given)) => Cli { options: Options { given, ..cli.options }, ..cli },
        Err(error) => {
            let error = told_of_format(error);
            // Help and version are answers, not errors. Nobody reads the text of a closed pipe.
            let status = if error.use_stderr() { Status::USAGE } else { Status::CLEAN };
            let _ = error.print();
            return status.into();
        }
    };
    // To stop at once leaves nothing half done: only `repair` writes below what it reads, and what it leaves is what a crash
    // leaves, from which the next run goes on. A second handler
    // cannot exist, so the only failure is a platform without signals, where Ctrl-C keeps its own meaning.
    let _ = ctrlc::set_handler(|| std::process::exit(i32::from(Status::CANCELLED.bits())));

    let settled = cli.options.settle(cli.command.as_ref());
    let mut console = Console::new(Environment::read(), cli.options);
    let result = match &cli.command {
        _ if settled.is_err() => settled.map(|()| Status::CLEAN).map_err(Failure::Usage),
        Some(_) if !cli.check.is_empty() => Err(Failure::Usage("paths and options of `check` come behind the command".into())),
        Some(command) => dispatch(command, &mut console),
        None => check::mistyped(&cli.check, &console).map_or_else(|| check::run(&cli.check, &mut console), Err),
    };
    console.close(result).into()
}
