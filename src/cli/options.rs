//! The options that apply to every command.

use crate::check;
use crate::finding::{Code, Release, Severity};
use crate::report::settings::FailOn;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Heading of the options that only `check` and `demo` look at.
const OF_THE_CHECK: &str = "Options of check and demo (without effect elsewhere)";

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Options {
    /// How the answer is written to standard output
    #[arg(long, global = true, value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
    /// Also write the report in this format to this file (may be given several times)
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_parser = output_file, value_name = "FORMAT=FILE")]
    pub output: Vec<OutputFile>,
    /// Lowest severity that sets exit bit 4
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_enum, default_value_t = FailOn::Error, value_name = "LEVEL")]
    pub fail_on: FailOn,
    /// Report a code at another severity (may be given several times); a fatal code cannot be lowered
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_parser = severity_override, value_name = "CODE=LEVEL")]
    pub severity: Vec<SeverityOverride>,
    /// Release of gjc whose behaviour is asked for
    #[arg(long, global = true, value_parser = release, default_value = "0.17", value_name = "RELEASE")]
    pub gjc: Release,
    /// Blob store to check references against (default: the one of the checked agent directory)
    #[arg(long, global = true, value_name = "DIR")]
    pub blobs: Option<PathBuf>,
    /// User the check speaks for (default: the owner of the agent directory when run as root, else the effective user)
    #[arg(long, global = true, value_name = "UID")]
    pub as_uid: Option<u32>,
    /// Judge a copied agent directory as if it lay at this path
    #[arg(long, global = true, value_name = "PATH")]
    pub assume_root: Option<PathBuf>,
    /// Number of threads (default: one per core)
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub jobs: Option<u16>,
    /// No progress and no notes; the human format shows errors, and what to do about them, only
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// A form of the report.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people
    Human,
    /// One finding a line
    Concise,
    /// For programs
    Json,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour, where `by_default` says what is usual.
    pub fn wanted(self, by_default: bool) -> bool {
        match self {
            Color::Auto => by_default,
            Color::Always => true,
            Color::Never => false,
        }
    }
}

/// A file that gets a copy of the report in one format.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// The format.
    pub format: Format,
    /// The file; it is replaced.
    pub path: PathBuf,
}

/// One `--severity CODE=LEVEL`.
#[derive(Clone, Debug)]
pub struct SeverityOverride {
    /// The code.
    pub code: &'static Code,
    /// Its severity in this run.
    pub severity: Severity,
}

fn output_file(text: &str) -> Result<OutputFile, String> {
    let (format, path) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
    if path.is_empty() {
        return Err("the file name is empty".into());
    }
    Ok(OutputFile { format: Format::from_str(format, false)?, path: PathBuf::from(path) })
}

fn severity_override(text: &str) -> Result<SeverityOverride, String> {
    let (name, level) = text.split_once('=').ok_or("expected CODE=LEVEL")?;
    let code = check::code(name).ok_or_else(|| format!("no code is called `{name}`; `gjc-fsck codes` lists them"))?;
    let severity = match level {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Info,
        _ => return Err(format!("`{level}` is no level: error, warning or info")),
    };
    if code.fatal && severity < code.severity {
        return Err(format!(
            "`{}` is fatal, its severity cannot be lowered: what it names could not be read or judged to its end",
            code.name
        ));
    }
    Ok(SeverityOverride { code, severity })
}

fn release(text: &str) -> Result<Release, String> {
    match text {
        "0.15" => Ok(Release::V0_15),
        "0.17" => Ok(Release::V0_17),
        _ => Err("the releases known are 0.15 and 0.17".into()),
    }
}
