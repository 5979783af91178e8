//! `corpus`: run, bless, lint and count the cases of a corpus, ours or anybody's.

use super::options::ReportFormat;
use super::{Console, Failure, Status};
use crate::corpus::adapter::{self, Adapter};
use crate::corpus::run::{self, Outcome};
use crate::corpus::{bless, by_release, coverage, expected::Expectations, folder::Only, lint, serve};
use crate::fsys::{Fs, Kind, Real};
use crate::render::corpus as render;
use crate::render::style::plain;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `corpus`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to do with a corpus.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with a corpus.
#[derive(clap::Subcommand, Debug)]
pub enum Action {
    /// Compare what each case says with what this program (or an adapter) answers
    Run(Run),
    /// Show what would have to be written so that the cases say what this program answers; write it with --yes
    Bless(Bless),
    /// Look for whatever is wrong with the cases themselves: names, form, one fault a case, unused files, changed bytes
    Lint(Place),
    /// List the codes with the cases that show them
    Coverage(Place),
    /// Show what the cases answer differently under the oldest and the newest release, as Markdown
    Releases(Place),
    /// Answer as an adapter does, on standard input and output: `corpus run --adapter 'gjc-fsck corpus adapter'`
    Adapter,
}

/// Where a corpus is.
#[derive(clap::Args, Debug)]
pub struct Place {
    /// Folder of the corpus
    #[arg(default_value = "corpus", value_name = "DIR")]
    pub dir: PathBuf,
}

/// Arguments of `corpus run`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Exit status: 0 when every case passes or fails as expected, 4 when one does not, 8 when the corpus cannot be read."
)]
pub struct Run {
    /// Where the corpus is.
    #[command(flatten)]
    pub place: Place,
    /// Only the cases whose folder begins so, relative to DIR (v5/my_case), or, with `*` and `?`, is of this form
    #[arg(long, value_name = "CASE", default_value = "", hide_default_value = true)]
    pub only: String,
    /// Ask this command instead of this program: an adapter, which answers JSON lines on its standard input and output
    #[arg(long, value_name = "CMD")]
    pub adapter: Option<String>,
    /// Seconds that an adapter may take for one answer
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// List of failures that are expected: CASE, INPUT and MESSAGE a line, with tabs between. An entry that comes to nothing fails the run
    #[arg(long, value_name = "FILE")]
    pub expected_failures: Option<PathBuf>,
    /// Print the list that would expect every failure of this run
    #[arg(long)]
    pub list_failures: bool,
    /// Write the result as JUnit XML to this file, too
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Arguments of `corpus bless`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Exit status: 0 when there is nothing to write or it was written, 4 when there is something to write and --yes was not given."
)]
pub struct Bless {
    /// Where the corpus is.
    #[command(flatten)]
    pub place: Place,
    /// Only the cases whose folder begins so, relative to DIR (v5/my_case), or, with `*` and `?`, is of this form: a new case is seen at once
    #[arg(long, value_name = "CASE", default_value = "", hide_default_value = true)]
    pub only: String,
    /// Write it
    #[arg(long)]
    pub yes: bool,
}

/// Does it.
///
/// # Errors
/// The corpus cannot be read or written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    match &args.action {
        Action::Run(args) => run_cases(args, console),
        Action::Bless(args) => bless(args, console),
        Action::Lint(place) => lint(place, console),
        Action::Coverage(place) => coverage(place, console),
        Action::Releases(place) => releases(place, console),
        Action::Adapter => {
            serve::serve(std::io::stdin().lock(), console.out())?;
            Ok(Status::CLEAN)
        }
    }
}

/// Refuses a corpus that is not there.
fn root(place: &Place, console: &Console) -> Result<PathBuf, Failure> {
    let root = console.environment.current_dir.join(&place.dir);
    let meta = Real.stat(&root).map_err(|error| Failure::on(&place.dir, &error))?;
    if meta.kind != Kind::Directory {
        return Err(Failure::Usage(format!(
            "{}: this is no folder; a corpus is one, with a case.json in it or below",
            place.dir.display()
        )));
    }
    Ok(root)
}

fn operational(error: impl std::fmt::Display) -> Failure {
    Failure::Operational(error.to_string())
}

fn run_cases(args: &Run, console: &mut Console) -> Result<Status, Failure> {
    let root = self::root(&args.place, console)?;
    let expectations = match &args.expected_failures {
        Some(file) => lint::expectations(&console.environment.current_dir.join(file)).map_err(Failure::Usage)?,
        None => Expectations::default(),
    };
    let only = Only::new(&args.only);
    let outcome = match &args.adapter {
        None => run::run(&root, &only, &expectations).map_err(operational)?,
        Some(command) => {
            let mut adapter = Adapter::new(command, Duration::from_secs(args.timeout));
            let outcome = adapter::run(&root, &only, &mut adapter, &expectations).map_err(Failure::Operational)?;
            adapter.stop();
            outcome
        }
    };
    if let Some(file) = &args.junit {
        super::destination::outside(console, file)?;
        let file = console.environment.current_dir.join(file);
        let text = render::junit(&outcome).map_err(operational)?;
        crate::fsys::output::write_report(&file, |out| out.write_all(text.as_bytes())).map_err(operational)?;
    }
    if args.list_failures {
        let text = Expectations::text(&outcome.failures.iter().chain(&outcome.expected).cloned().collect::<Vec<_>>());
        console.out().write_all(text.as_bytes())?;
    } else {
        match console.options.report_format {
            ReportFormat::Github => {
                let text = render::github(&outcome, &args.place.dir.to_string_lossy());
                console.out().write_all(text.as_bytes())?;
            }
            ReportFormat::Jsonl => console.out().write_all(render::jsonl(&outcome).map_err(operational)?.as_bytes())?,
            ReportFormat::Junit => console.out().write_all(render::junit(&outcome).map_err(operational)?.as_bytes())?,
            _ => {
                let folder = plain(&args.place.dir.to_string_lossy()).into_owned();
                console.answer(&outcome, || render::run(&outcome, &folder), || render::run(&outcome, &folder))?;
            }
        }
    }
    Ok(status(&outcome))
}

/// The forms in which `corpus run` answers besides those of every command: what a CI shows.
pub(super) fn answers_in(action: &Action, format: ReportFormat) -> bool {
    matches!(action, Action::Run(_)) && matches!(format, ReportFormat::Github | ReportFormat::Jsonl | ReportFormat::Junit)
}

fn status(outcome: &Outcome) -> Status {
    if outcome.passes() { Status::CLEAN } else { Status::FINDINGS }
}

fn bless(args: &Bless, console: &mut Console) -> Result<Status, Failure> {
    let root = self::root(&args.place, console)?;
    let changes = bless::proposals(&root, &Only::new(&args.only)).map_err(operational)?;
    if args.yes {
        bless::write(&root, &changes).map_err(operational)?;
    }
    console.out().write_all(render::changes(&changes, args.yes).as_bytes())?;
    Ok(if changes.is_empty() || args.yes { Status::CLEAN } else { Status::FINDINGS })
}

fn lint(place: &Place, console: &mut Console) -> Result<Status, Failure> {
    let complaints = lint::lint(&root(place, console)?).map_err(operational)?;
    for complaint in &complaints {
        writeln!(console.out(), "{}: {}", complaint.path, complaint.message)?;
    }
    if complaints.is_empty() {
        writeln!(console.out(), "Nothing to mend.")?;
    }
    Ok(if complaints.is_empty() { Status::CLEAN } else { Status::FINDINGS })
}

fn releases(place: &Place, console: &mut Console) -> Result<Status, Failure> {
    let differing = by_release::differing(&root(place, console)?).map_err(operational)?;
    console.answer(&differing, || render::by_release(&differing), || render::by_release(&differing))?;
    Ok(Status::CLEAN)
}

fn coverage(place: &Place, console: &mut Console) -> Result<Status, Failure> {
    let rows = coverage::of(&root(place, console)?).map_err(operational)?;
    let lacking = rows.iter().any(|row| !row.is_covered());
    console.answer(&rows, || render::coverage(&rows), || render::coverage(&rows))?;
    Ok(if lacking { Status::FINDINGS } else { Status::CLEAN })
}
