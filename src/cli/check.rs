//! `check [PATH…]`: the audit.

use super::options::ReportFormat;
use super::{Console, Failure, Status, destination, gate};
use crate::agent::walk::show;
use crate::check::run::{self, Depth, Progress, Run, Target, Why};
use crate::finding::{Code, Severity};
use crate::fsys::output::write_report;
use crate::fsys::{Fs, Kind, Real};
use crate::render::human::{self, Layout};
use crate::render::{Excerpts, concise, github, json, jsonl, junit, markdown, sarif};
use crate::report::gate::Told;
use crate::report::{self, Audit, Blobs, CheckedFor, Report, Settings, UserReason};
use indicatif::HumanBytes;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Arguments of `check`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Args {
    /// Agent directory, scope, folder of transcripts, transcript, or `-` (default: the user's agent directory)
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// No context, no tool pairing, no blob hashing
    #[arg(long, conflicts_with = "connectivity_only")]
    pub quick: bool,
    /// Only header, ids, parents, leaf and references
    #[arg(long)]
    pub connectivity_only: bool,
    /// What is known beforehand.
    #[command(flatten)]
    pub gate: gate::Args,
}

impl Args {
    /// True when nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.quick && !self.connectivity_only && self.gate == gate::Args::default()
    }
    fn depth(&self) -> Depth {
        match (self.quick, self.connectivity_only) {
            (_, true) => Depth::Connectivity,
            (true, _) => Depth::Quick,
            _ => Depth::Full,
        }
    }
}

/// Checks, reports, and answers the exit bits.
///
/// # Errors
/// No agent directory can be named, or the report cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let prepared = gate::prepare(&args.gate, console)?;
    let mut paths = if args.paths.is_empty() { prepared.paths } else { args.paths.clone() };
    once_each(&mut paths, console);
    let mut targets: Vec<Target> = paths.iter().map(|path| target(path)).collect();
    if paths.is_empty() {
        let location = console.environment.location(&Real).map_err(|error| Failure::Operational(error.to_string()))?;
        paths.push(location.data.clone());
        targets.push(Target::Agent(location));
    }
    let renewed = prepared.baseline.as_deref().filter(|_| args.gate.update_baseline);
    refuse_outputs_inside(&paths, renewed, console)?;
    let options = options(args.depth(), console);
    let audit = audit(observed(targets, &options, console), console);
    let own = prepared.told.files();
    let overrides = prepared.severity.into_iter().chain(overrides(console)).collect();
    let only = looked_at(&paths, console);
    let below = paths.first().filter(|_| only.is_none()).map(|path| path.to_string_lossy().into_owned());
    let told = Told { only, below, ..prepared.told };
    let settings = Settings { overrides, told, ..settings(console) };
    let report = report::build(audit, &settings);
    if let Some(baseline) = renewed {
        gate::renew(baseline, prepared.replaced.as_ref(), &report, |path| settings.told.reaches(path), console)?;
    }
    let base = &console.environment.current_dir;
    let targets = paths.iter().map(|path| (path.to_string_lossy().into_owned(), base.join(path))).collect();
    write(&report, &Files { fs: &Real, targets, own, base: base.clone() }, console)
}

/// What is named twice, by whatever path, is checked once, under its first name.
fn once_each(paths: &mut Vec<PathBuf>, console: &Console) {
    let mut seen = BTreeSet::new();
    paths.retain(|path| {
        let there = console.environment.current_dir.join(path);
        let is_new = seen.insert(Real.realpath(&there).unwrap_or(there));
        if !is_new {
            console.note(&format!("{}: named more than once, checked once", show(path.as_os_str())));
        }
        is_new
    });
}

/// What the run looks at, as its report names it; none when that is everything of one directory.
fn looked_at(paths: &[PathBuf], console: &Console) -> Option<Vec<String>> {
    let is_directory =
        |path: &PathBuf| Real.stat(&console.environment.current_dir.join(path)).is_ok_and(|meta| meta.kind == Kind::Directory);
    match paths {
        [one] if is_directory(one) => None,
        several => Some(several.iter().map(|path| path.to_string_lossy().into_owned()).collect()),
    }
}

/// Why the first word of a command line without a command is more likely a mistyped command than a path.
pub(super) fn mistyped(args: &Args, console: &Console) -> Option<Failure> {
    let word = args.paths.first()?;
    let command = meant_command(word, &console.environment.current_dir)?;
    Some(Failure::Usage(format!("{}: no such command or path; did you mean `{command}`?", word.display())))
}

/// The command that a word looks like which names nothing on disk.
fn meant_command(path: &Path, base: &Path) -> Option<String> {
    let word = path.to_str().filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()))?;
    if Real.present(&base.join(path)).unwrap_or(true) {
        return None;
    }
    let alike = |name: &str| similar::TextDiff::from_chars(word, name).ratio();
    let cli = <super::Cli as clap::CommandFactory>::command();
    let best = cli.get_subcommands().map(|command| command.get_name().to_owned()).max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(&best) >= 0.7).then_some(best)
}

pub(super) fn target(path: &Path) -> Target {
    if path == Path::new("-") { Target::Stream(Box::new(io::stdin())) } else { Target::Path(path.to_owned()) }
}

/// What the run is told.
pub(super) fn options(depth: Depth, console: &Console) -> run::Options {
    let (options, environment) = (&console.options, &console.environment);
    run::Options {
        depth,
        blobs: options.blobs.clone(),
        assume_root: options.assume_root.clone(),
        as_uid: options.as_uid,
        jobs: options.jobs.map(usize::from),
        current_dir: environment.current_dir.clone(),
        around: environment.surroundings(&Real),
        budget: super::transcript::budget(console),
        ..run::Options::new(options.gjc, environment.uid, environment.now_ns())
    }
}

/// What the report is asked for.
pub(super) fn settings(console: &Console) -> Settings {
    let options = &console.options;
    Settings { release: options.gjc, fail_on: options.fail_on, overrides: overrides(console).collect(), ..Settings::default() }
}

/// The severities that the command line asks for.
fn overrides(console: &Console) -> impl Iterator<Item = (&'static Code, Severity)> {
    console.options.severity.iter().map(|wanted| (wanted.code, wanted.severity))
}

/// Runs the check with a progress bar on standard error, when that is a terminal.
pub(super) fn observed(targets: Vec<Target>, options: &run::Options, console: &Console) -> Run {
    let bar = console.bar("{spinner} {pos} of {len} transcripts {wide_bar} {msg}");
    let run = run::run(targets, options, &Real, &|progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        bar.set_message(HumanBytes(progress.bytes).to_string());
    });
    bar.finish_and_clear();
    run
}

/// What a run found, as the report takes it.
pub(super) fn audit(run: Run, console: &Console) -> Audit {
    let checked_for = run.speaks_for.map_or_else(CheckedFor::default, |(uid, why)| CheckedFor {
        uid: Some(uid),
        reason: Some(match why {
            Why::Asked => UserReason::Asked,
            Why::Owner => UserReason::OwnerOfAgentDirectory,
            Why::Effective => UserReason::EffectiveUser,
        }),
    });
    Audit {
        root: run.root,
        assumed_root: console.options.assume_root.as_ref().map(|path| path.to_string_lossy().into_owned()),
        checked_for,
        blobs: Blobs { checked: run.blobs.is_some(), store: run.blobs },
        findings: run.findings,
        gauges: run.gauges,
        outcomes: run.outcomes,
    }
}

/// Writes the report to standard output and to every `--output`, and answers its exit bits.
pub(super) fn write(report: &Report, excerpts: &dyn Excerpts, console: &mut Console) -> Result<Status, Failure> {
    let (colour, width, quiet) = (console.colour(), console.environment.width, console.options.quiet);
    for file in &console.options.output {
        // A file has no width and no colours of its own: the same bytes wherever the run was started.
        let layout = Layout { colour: false, width: 100, quiet };
        write_report(&file.path, |out| render(report, file.format, excerpts, layout, out))?;
    }
    let status = report.status();
    let format = console.options.report_format;
    match render(report, format, excerpts, Layout { colour, width, quiet }, console.out()) {
        // Who closes the pipe has seen enough; the exit status still says how it stands.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(status),
        written => written.map(|()| status).map_err(Failure::Output),
    }
}

fn render(report: &Report, format: ReportFormat, excerpts: &dyn Excerpts, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    match format {
        ReportFormat::Human => out.write_all(human::text(report, excerpts, layout).as_bytes()),
        ReportFormat::Concise => concise::write(report, excerpts, out),
        ReportFormat::Json => json::write(report, out),
        ReportFormat::Jsonl => jsonl::write(report, out),
        ReportFormat::Sarif => sarif::write(report, excerpts, out),
        ReportFormat::Junit => junit::write(report, excerpts, out),
        ReportFormat::Github => github::write(report, excerpts, out),
        ReportFormat::Markdown => markdown::write(report, excerpts, out),
    }
}

/// A report file below what is checked, or in the place of it, would change what is checked. `baseline` is one that is to be
/// written. Of two files with one name the second would replace the first.
fn refuse_outputs_inside(paths: &[PathBuf], baseline: Option<&Path>, console: &Console) -> Result<(), Failure> {
    let base = &console.environment.current_dir;
    let written = || console.options.output.iter().map(|file| &*file.path).chain(baseline);
    if let Some((_, twice)) = written().enumerate().find(|(at, path)| written().take(*at).any(|other| base.join(other) == base.join(path)))
    {
        return Err(Failure::Usage(format!("{}: two things would be written to this file", twice.display())));
    }
    // By any of its names: a hard link has the same object.
    let object = |path: &Path| Real.stat(&base.join(path)).map(|meta| (meta.dev, meta.ino)).ok();
    for file in written() {
        destination::outside(console, file)?;
        destination::replaceable(&Real, base, file)?;
        let there = object(file);
        if there.is_some() && paths.iter().any(|path| object(path) == there) {
            let message = format!("{}: this is the file that is checked; name another one", file.display());
            return Err(Failure::Usage(message));
        }
        let folder = base.join(file).parent().map(Path::to_owned).unwrap_or_default();
        let Ok(folder) = Real.realpath(&folder) else { continue };
        let inside = |path: &PathBuf| Real.realpath(&base.join(path)).is_ok_and(|root| folder.starts_with(root));
        if paths.iter().any(inside) {
            let message = format!("{}: nothing is written into the directory that is checked", file.display());
            return Err(Failure::Usage(message));
        }
    }
    Ok(())
}

/// The checked files, for the excerpts of the human report. Opened as the check opens them: no link is followed.
pub(super) struct Files<'a> {
    pub fs: &'a dyn Fs,
    /// What was checked: as it was named, and as an absolute path.
    pub targets: Vec<(String, PathBuf)>,
    /// Files of the run itself that findings may be about, as they were named: settings, skip lists, the baseline.
    pub own: Vec<String>,
    /// What relative names of them are relative to.
    pub base: PathBuf,
}

impl Files<'_> {
    fn is_own(&self, path: &str) -> bool {
        self.own.iter().any(|own| own == path)
    }
    /// The file that a path of the report means. Of several targets the report names each as the user did; of one
    /// directory it names what lies in it.
    fn file(&self, path: &str) -> Option<PathBuf> {
        if self.is_own(path) {
            return Some(self.base.join(path));
        }
        let several = self.targets.len() > 1;
        self.targets.iter().find_map(|(name, target)| {
            let name = name.trim_end_matches('/');
            let real = || self.fs.realpath(target).ok();
            match path.strip_prefix(name) {
                Some("") => real(),
                Some(below) if several => Some(real()?.join(below.strip_prefix('/')?)),
                _ if several => None,
                _ => Some(real()?.join(path)),
            }
        })
    }
}

impl Excerpts for Files<'_> {
    /// Of one directory the report names what lies in it; a temporary folder has no name.
    fn opened<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match self.targets.as_slice() {
            [(name, target)]
                if !name.is_empty() && !self.is_own(path) && self.fs.stat(target).is_ok_and(|meta| meta.kind == Kind::Directory) =>
            {
                if path == "." { name.clone().into() } else { format!("{}/{path}", name.trim_end_matches('/')).into() }
            }
            _ => path.into(),
        }
    }
    fn bytes(&self, path: &str, start: u64, len: usize) -> Option<Vec<u8>> {
        let file = self.fs.open(&self.file(path)?).ok()?;
        if file.stat().ok()?.kind != Kind::File {
            return None;
        }
        let mut bytes = vec![0; len];
        let got = file.read_at(&mut bytes, start).ok()?;
        bytes.truncate(got);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excerpt of `path` when these were checked.
    fn excerpt(targets: &[&str], path: &str) -> Option<String> {
        let base = Path::new(env!("CARGO_MANIFEST_DIR"));
        let targets = targets.iter().map(|name| ((*name).to_owned(), base.join(name))).collect();
        let bytes = Files { fs: &Real, targets, own: Vec::new(), base: base.to_owned() }.bytes(path, 0, 17)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn a_path_of_the_report_leads_to_its_file() {
        let header = Some("{\"type\":\"session\"".to_owned());
        assert_eq!(excerpt(&["corpus/field"], "00-ok.jsonl"), header);
        assert_eq!(excerpt(&["corpus/"], "field/00-ok.jsonl"), header);
        assert_eq!(excerpt(&["corpus/field/00-ok.jsonl"], "corpus/field/00-ok.jsonl"), header);
        assert_eq!(excerpt(&["src", "corpus/field/"], "corpus/field/00-ok.jsonl"), header);
        assert_eq!(excerpt(&["Cargo.toml", "./corpus/field/00-ok.jsonl"], "./corpus/field/00-ok.jsonl"), header);
    }

    #[test]
    fn a_path_of_the_report_is_named_as_the_user_can_open_it() {
        let base = Path::new(env!("CARGO_MANIFEST_DIR"));
        let opened = |name: &str, path: &str| {
            let targets = vec![(name.to_owned(), base.join(name))];
            Files { fs: &Real, targets, own: vec!["known.json".into()], base: base.to_owned() }.opened(path).into_owned()
        };
        assert_eq!(opened("corpus/", "field/00-ok.jsonl"), "corpus/field/00-ok.jsonl");
        assert_eq!(opened("corpus/field/00-ok.jsonl", "corpus/field/00-ok.jsonl"), "corpus/field/00-ok.jsonl");
        assert_eq!(opened("-", "-"), "-");
        assert_eq!(opened("corpus/", "known.json"), "known.json", "a file of the run itself");
    }

    #[test]
    fn a_mistyped_command_is_recognised() {
        let meant = |word: &str| meant_command(Path::new(word), Path::new(env!("CARGO_MANIFEST_DIR")));
        assert_eq!(meant("chek").as_deref(), Some("check"));
        assert_eq!(meant("migarte").as_deref(), Some("migrate"));
        assert_eq!(meant("src"), None);
        assert_eq!(meant("sessions.d"), None);
    }

    #[test]
    fn what_is_no_file_of_the_targets_has_no_excerpt() {
        assert_eq!(excerpt(&["src", "corpus/field"], "00-ok.jsonl"), None);
        assert_eq!(excerpt(&["corpus"], "field"), None);
        assert_eq!(excerpt(&["-"], "-"), None);
    }
}
