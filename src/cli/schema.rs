//! `schema NAME`: the JSON Schemas of gjc's records and of what gjc-fsck writes; `--check FILE` compares a file with them.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::walk::show;
use crate::fsys::input;
use crate::render::style::plain;
use crate::render::words::grouped;
use crate::schemas::check::{self, Answer};
use crate::schemas::{self, Form};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the largest record file: gjc's largest receipt.
const LARGEST: u64 = 64 << 20;

/// Arguments of `schema`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Without NAME a transcript is compared line by line, each with the schema of its version and type; \
another file by its name, or by its member `schema`.")]
pub struct Args {
    /// Which schema (default: report)
    pub name: Option<String>,
    /// List the schemas
    #[arg(long, conflicts_with_all = ["name", "check"])]
    pub list: bool,
    /// Compare this file with the schema instead of printing it; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
}

/// Prints a schema, lists them, or compares a file.
///
/// # Errors
/// There is no such schema, the file cannot be read, or the answer cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if args.list {
        let forms = schemas::forms();
        if console.options.format == Format::Json {
            let list: Vec<_> = forms.iter().map(|form| serde_json::json!({ "name": form.name, "about": form.about })).collect();
            console.json(&list)?;
            return Ok(Status::CLEAN);
        }
        let wide = forms.iter().map(|form| form.name.len()).max().unwrap_or(0);
        for form in forms {
            writeln!(console.out(), "{:<wide$}  {}", form.name, form.about)?;
        }
        return Ok(Status::CLEAN);
    }
    let form = args.name.as_deref().map(named).transpose()?;
    if let Some(file) = &args.check {
        let answer = compared(file, form)?;
        return write(file, &answer, console);
    }
    let form = form.map_or_else(|| named("report"), Ok)?;
    console.json(&(form.schema)())?;
    Ok(Status::CLEAN)
}

fn named(name: &str) -> Result<Form, Failure> {
    schemas::form(name).ok_or_else(|| Failure::Usage(format!("no schema is called `{name}`; `gjc-fsck schema --list` lists them")))
}

/// Compares a file with a form, or with what it is by its name or its own word.
fn compared(file: &Path, form: Option<Form>) -> Result<Answer, Failure> {
    let failed = |error: &io::Error| Failure::at(file, error);
    let name = file.file_name().map(|name| name.as_encoded_bytes().to_owned()).unwrap_or_default();
    let by_line = match form {
        Some(form) => form.name == "report-line" || ["header-", "entry-"].iter().any(|kind| form.name.starts_with(kind)),
        None => name.ends_with(b".jsonl") || file == Path::new("-"),
    };
    if by_line {
        let input = input::open(file).map_err(|error| failed(&error))?;
        return check::lines(input, form).map_err(|error| failed(&error));
    }
    let bytes = input::bounded(file, LARGEST).map_err(|error| failed(&error))?;
    let unknown =
        || Failure::Usage(format!("{}: say which schema it should follow: gjc-fsck schema NAME --check FILE", show(file.as_os_str())));
    check::record(&bytes, form, file).ok_or_else(unknown)
}

fn write(file: &Path, answer: &Answer, console: &mut Console) -> Result<Status, Failure> {
    let status = if answer.invalid == 0 { Status::CLEAN } else { Status::FINDINGS };
    let format = console.options.format;
    if format == Format::Json {
        console.json(answer)?;
        return Ok(status);
    }
    let out = console.out();
    let file = show(file.as_os_str());
    for objection in &answer.objections {
        let line = objection.line.map_or(String::new(), |line| format!(":{line}"));
        let pointer = if objection.pointer.is_empty() { String::new() } else { format!("{}: ", plain(&objection.pointer)) };
        writeln!(out, "{}{line}: {pointer}{} [{}]", plain(&file), plain(&objection.message), objection.form)?;
    }
    if answer.not_listed > 0 {
        writeln!(out, "{} more", grouped(answer.not_listed))?;
    }
    if format == Format::Human {
        let kinds: Vec<String> = answer.records.iter().map(|(form, count)| format!("{count} {form}")).collect();
        let records: u64 = answer.records.values().sum();
        writeln!(out, "{}: {} of {records} records are valid ({})", plain(&file), records - answer.invalid, kinds.join(", "))?;
    }
    Ok(status)
}
