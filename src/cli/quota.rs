//! `quota [PATH]`: how much of each of gjc's limits is used, and what is left.

use super::check::{observed, options, settings, target};
use super::{Console, Failure, Status};
use crate::check::quota::{Measure, measure};
use crate::check::run::{self, Depth, Target};
use crate::finding::Severity;
use crate::fsys::Real;
use crate::render::quota as page;
use crate::report::build::bits;
use crate::report::quota::{Quota, quota};
use std::path::PathBuf;

/// Arguments of `quota`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Exit status: 0 when everything is within its limit, 2 when a limit is passed (that is no damage), \
4 when it is that of a record for which gjc refuses the transcript, 8 when something could not be read: what it uses is then not in the answer.")]
pub struct Args {
    /// Agent directory, scope, folder of transcripts, or transcript (default: the user's agent directory)
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
}

/// Prints the gauges.
///
/// # Errors
/// No agent directory can be named, or nothing of it could be measured.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let target = match &args.path {
        Some(path) => target(path),
        None => Target::Agent(console.environment.location(&Real).map_err(|error| Failure::Operational(error.to_string()))?),
    };
    let options = run::Options { weigh: true, ..options(Depth::Connectivity, console) };
    let run = observed(vec![target], &options, console);
    // What could not be read is said by the check; here it only matters that the answer is not whole.
    let unread: Vec<String> = run
        .findings
        .iter()
        .filter(|finding| finding.code.area == "operational" && finding.code.severity == Severity::Error)
        // What is said of the target itself names it.
        .map(
            |finding| {
                if &*finding.place.path == "." { finding.message.clone() } else { format!("{}: {}", finding.place.path, finding.message) }
            },
        )
        .collect();
    let answer = Quota { unread, ..quota(&run.gauges, &run.outcomes, console.options.gjc, run.root) };
    let exceeded = answer.measures.iter().filter(|one| one.readings.iter().any(|reading| reading.exceeded));
    // What the check says of the same limit decides: a capacity, or a record for which gjc refuses the whole transcript.
    let status = exceeded.fold(Status::CLEAN, |status, one| {
        let beyond = measure(one.name).and_then(Measure::beyond);
        let reported = beyond.filter(|beyond| run.findings.iter().any(|finding| finding.code == *beyond));
        status | reported.map_or(Status::INCONCLUSIVE, |code| bits(code, code.severity, &settings(console)))
    });
    // Nothing was measured: an answer without a measure would look as if nothing were used.
    if answer.measures.is_empty() && !answer.unread.is_empty() {
        return Err(Failure::Operational(answer.unread.join("; ")));
    }
    let layout = console.layout();
    console.answer(&answer, || page::text(&answer, layout), || page::concise(&answer))?;
    Ok(if answer.unread.is_empty() { status } else { status | Status::OPERATIONAL })
}
