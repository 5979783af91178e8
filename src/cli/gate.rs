//! What `check` is told beforehand: `gjc-fsck.toml`, skip lists, the baseline. Reads the files, and writes a baseline anew.

use super::{Console, Failure, Status};
use crate::finding::{Code, Severity};
use crate::fsys::output::write_report;
use crate::fsys::{Fs, Kind, Real, input};
use crate::render::words;
use crate::report::config::{self, Config};
use crate::report::gate::{Told, Use};
use crate::report::{Baseline, Entry, Report};
use std::path::{Path, PathBuf};

/// Bytes of the largest file that is read here: a baseline of half a million findings.
const LARGEST: u64 = 64 << 20;

/// Arguments about what is known beforehand.
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Gates")]
#[group(skip)]
pub struct Args {
    /// Findings in this file are known and do not count; what it holds of what is checked and is gone counts
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the baseline anew: every finding of this run is known from now on (not those of a fatal code); of several paths, or
    /// of one file, what it holds about others stays
    #[arg(long)]
    pub update_baseline: bool,
    /// A TOML file of `[[skip]]` tables with `path`, `reason` and perhaps `codes` (may be given several times)
    #[arg(long, value_name = "FILE")]
    pub skip_list: Vec<PathBuf>,
    /// The settings file (default: `gjc-fsck.toml` in the current directory, when there is one)
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Read no settings file
    #[arg(long)]
    pub no_config: bool,
}

/// What a check is told, as far as it does not stand in the options.
#[derive(Debug)]
pub struct Prepared {
    /// What to check when the command line names nothing.
    pub paths: Vec<PathBuf>,
    /// Severities of the settings file; the command line's count more.
    pub severity: Vec<(&'static Code, Severity)>,
    /// The baseline file.
    pub baseline: Option<PathBuf>,
    /// The baseline that `--update-baseline` replaces.
    pub replaced: Option<Baseline>,
    /// For the report.
    pub told: Told,
}

/// Reads what the check is told, and puts what the settings file says into the options that the command line leaves open.
///
/// # Errors
/// A file cannot be read, or is not what it should be.
pub fn prepare(args: &Args, console: &mut Console) -> Result<Prepared, Failure> {
    let (name, config) = match settings_file(args, console)? {
        Some(path) => (Some(shown(&path)), read_config(&path, config::Kind::Settings, console)?),
        None => (None, Config::default()),
    };
    let given = console.options.given;
    if let Some(release) = config.release.filter(|_| !given.release) {
        console.options.gjc = release;
    }
    if let Some(fail_on) = config.fail_on.filter(|_| !given.fail_on) {
        console.options.fail_on = fail_on;
    }
    // What a file names lies beside it.
    let folder = name.as_deref().and_then(|name| Path::new(name).parent()).unwrap_or(Path::new("")).to_owned();
    let mut told = Told { config: name, remarks: config.remarks, skips: config.skips, ..Told::default() };
    for list in &args.skip_list {
        let list = read_config(list, config::Kind::SkipList, console)?;
        told.remarks.extend(list.remarks);
        told.skips.extend(list.skips);
    }
    let baseline = args.baseline.clone().or_else(|| config.baseline.map(|path| folder.join(path)));
    if args.update_baseline && baseline.is_none() {
        return Err(Failure::Usage("--update-baseline needs --baseline FILE, or `baseline` in the settings file".into()));
    }
    let mut replaced = None;
    if let Some(path) = &baseline {
        let compared = if args.update_baseline {
            // What stands there and is no baseline is not replaced by one.
            let there = Real.present(&console.environment.current_dir.join(path)).unwrap_or(true);
            replaced = if there { Some(read_baseline(path, console)?) } else { None };
            Use::Renew
        } else {
            Use::Compare(read_baseline(path, console)?)
        };
        told.baseline = Some((shown(path), compared));
    }
    let paths = config.paths.iter().map(|path| folder.join(path)).collect();
    Ok(Prepared { paths, severity: config.severity, baseline, replaced, told })
}

/// Writes the baseline of a report, in the place of the one that stood there.
///
/// # Errors
/// It cannot be written. A run that could not read everything writes none: what it did not see would be forgotten.
pub fn renew(
    path: &Path,
    replaced: Option<&Baseline>,
    report: &Report,
    reached: impl Fn(&str) -> bool,
    console: &Console,
) -> Result<(), Failure> {
    let status = report.status();
    if status.has(Status::OPERATIONAL) || status.has(Status::CANCELLED) {
        console.note(&format!("{}: not written anew, because not everything could be read", path.display()));
        return Ok(());
    }
    let known = Baseline::of(&report.gate);
    let baseline = replaced.map_or_else(|| known.clone(), |older| known.clone().with(older, reached));
    let count = |baseline: &Baseline| baseline.findings.iter().map(|accepted| accepted.count).sum::<u64>();
    write_report(&console.environment.current_dir.join(path), |out| out.write_all(baseline.text().as_bytes()))?;
    let before = replaced.map_or_else(String::new, |replaced| format!(" (before: {})", count(replaced)));
    console.note(&format!("{}: {} findings are known from now on{before}", path.display(), count(&baseline)));
    let fatal: u64 = report.findings.iter().filter(|entry| entry.code.fatal && entry.status != 0).map(Entry::count).sum();
    if fatal > 0 {
        let fails = words::count(fatal, "finding of a fatal code fails", "findings of fatal codes fail");
        console.note(&format!("{fails} the gate all the same: what could not be judged to its end is never known beforehand"));
    }
    Ok(())
}

/// The settings file to read: the named one, else the one in the current directory when something of that name stands there.
/// What stands there and is no file is not passed over: whoever put it there expects it to have an effect.
fn settings_file(args: &Args, console: &Console) -> Result<Option<PathBuf>, Failure> {
    if args.config.is_some() || args.no_config {
        return Ok(args.config.clone());
    }
    let usual = console.environment.current_dir.join(config::NAME);
    if !Real.present(&usual).unwrap_or(true) {
        return Ok(None);
    }
    match Real.stat(&usual) {
        Ok(meta) if meta.kind == Kind::File => Ok(Some(PathBuf::from(config::NAME))),
        Ok(meta) => {
            Err(Failure::Usage(format!("{}: this is a {}, no settings file; --no-config reads none", config::NAME, meta.kind.noun())))
        }
        Err(error) => Err(Failure::Operational(format!("{}: {}; --no-config reads none", config::NAME, error.token()))),
    }
}

fn read_config(path: &Path, kind: config::Kind, console: &Console) -> Result<Config, Failure> {
    let bytes = read(path, console)?;
    let text = String::from_utf8(bytes).map_err(|error| Failure::Usage(format!("{}: {error}", shown(path))))?;
    config::parse(&shown(path), &text, kind).map_err(|fault| Failure::Usage(fault.to_string()))
}

fn read_baseline(path: &Path, console: &Console) -> Result<Baseline, Failure> {
    let base = &console.environment.current_dir;
    if !Real.present(&base.join(path)).unwrap_or(true) {
        return Err(Failure::Usage(format!("{}: there is no such baseline; --update-baseline makes it", shown(path))));
    }
    Baseline::parse(&read(path, console)?).map_err(|fault| Failure::Usage(format!("{}: no baseline: {fault}", shown(path))))
}

fn read(path: &Path, console: &Console) -> Result<Vec<u8>, Failure> {
    input::bounded(&console.environment.current_dir.join(path), LARGEST).map_err(|error| Failure::at(path, &error))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
