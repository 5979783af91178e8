//! The options that apply to every command.

use super::{Command, corpus, diff};
use crate::check;
use crate::finding::{Code, Release, Severity};
use crate::report::settings::{self, FailOn};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Heading of the options that only `check` and `demo` look at.
const OF_THE_CHECK: &str = "Options of check and demo (without effect elsewhere)";

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Options {
    /// How the answer is written to standard output (those of a report: check and demo only)
    #[arg(long = "format", global = true, value_enum, default_value_t = ReportFormat::Human, value_name = "FORMAT")]
    pub report_format: ReportFormat,
    /// The same for a command that makes no report; [`Options::settle`] says it.
    #[arg(skip)]
    pub format: Format,
    /// What the command line itself says, where a settings file may say it else; `main` fills it in.
    #[arg(skip)]
    pub given: Given,
    /// Also write the report in this format to this file (may be given several times)
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_parser = output_file, value_name = "FORMAT=FILE")]
    pub output: Vec<OutputFile>,
    /// Lowest severity that sets exit bit 4
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_enum, default_value_t = FailOn::Error, value_name = "LEVEL")]
    pub fail_on: FailOn,
    /// Report a code at another severity (may be given several times); a fatal code cannot be lowered
    #[arg(long, global = true, help_heading = OF_THE_CHECK, value_parser = severity_override, value_name = "CODE=LEVEL")]
    pub severity: Vec<SeverityOverride>,
    /// Release of gjc whose behaviour is asked for; `diff` takes two
    #[arg(long = "gjc", global = true, value_delimiter = ',', value_parser = Release::named, default_value = "0.17", value_name = "RELEASE")]
    pub releases: Vec<Release>,
    /// The first of them; [`Options::settle`] says it.
    #[arg(skip)]
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

/// A form of an answer that is no report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One object a line.
    Concise,
    /// For programs.
    Json,
}

/// A form of the report.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    /// For people
    Human,
    /// One finding a line
    Concise,
    /// For programs
    Json,
    /// For programs that read line by line: one JSON object a line
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for the test pages of CI systems
    Junit,
    /// Annotations of GitHub Actions, with file, line and column
    Github,
    /// A summary for merge requests and job pages
    Markdown,
}

/// Which options the command line itself gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Given {
    /// `--gjc`.
    pub release: bool,
    /// `--fail-on`.
    pub fail_on: bool,
}

impl Options {
    /// Settles what depends on the command: the form of an answer that is no report, and the release.
    ///
    /// # Errors
    /// The command does not answer in this form, or takes one release.
    pub fn settle(&mut self, command: Option<&Command>) -> Result<(), String> {
        self.gjc = self.releases.first().copied().unwrap_or_default();
        let compares = matches!(command, Some(Command::Diff(_)));
        if self.releases.len() > if compares { 2 } else { 1 } {
            return Err(if compares { "`diff` compares two releases" } else { "`--gjc` takes one release here; `diff` takes two" }.into());
        }
        let reports = matches!(command, None | Some(Command::Check(_) | Command::Demo(_)));
        let ci = matches!(command, Some(Command::Corpus(args)) if corpus::answers_in(&args.action, self.report_format));
        if reports || ci || compares && diff::answers_in(self.report_format) {
            return Ok(());
        }
        self.format = match self.report_format {
            ReportFormat::Human => Format::Human,
            ReportFormat::Concise => Format::Concise,
            ReportFormat::Json => Format::Json,
            report => {
                let name = report.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
                return Err(format!("`--format {name}` is a form of the report, and this command makes none"));
            }
        };
        Ok(())
    }
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
    pub format: ReportFormat,
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
    let format = ReportFormat::from_str(format, false).map_err(|_| {
        let names: Vec<String> =
            ReportFormat::value_variants().iter().filter_map(|form| Some(form.to_possible_value()?.get_name().to_owned())).collect();
        format!("no form of the report is called `{format}`; the forms are {}", names.join(", "))
    })?;
    Ok(OutputFile { format, path: PathBuf::from(path) })
}

fn severity_override(text: &str) -> Result<SeverityOverride, String> {
    let (name, level) = text.split_once('=').ok_or("expected CODE=LEVEL")?;
    let code = check::code(name).ok_or_else(|| format!("no code is called `{name}`; `gjc-fsck codes` lists them"))?;
    let severity = settings::severity_of(code, level)?;
    Ok(SeverityOverride { code, severity })
}
