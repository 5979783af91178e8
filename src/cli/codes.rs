//! `codes`: the whole table of codes.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::check;
use crate::render::style::wrap;
use crate::report::reference::{self, CodeEntry};

/// Arguments of `codes`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only the codes of this area
    #[arg(long, value_name = "AREA")]
    pub area: Option<String>,
}

/// Lists the codes: one a line, or as JSON.
///
/// # Errors
/// The area does not exist, or the answer cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let wanted = |area: &str| args.area.as_deref().is_none_or(|name| name == area);
    let codes: Vec<_> = check::codes().filter(|code| wanted(code.area)).collect();
    if codes.is_empty() {
        let mut areas: Vec<_> = check::codes().map(|code| code.area).collect();
        areas.dedup();
        return Err(Failure::Usage(format!("no such area; the areas are: {}", areas.join(", "))));
    }
    let (format, width) = (console.options.format, console.environment.width);
    if format == Format::Json {
        let entries: Vec<CodeEntry> = codes.into_iter().map(CodeEntry::from).collect();
        console.json(&entries)?;
    } else {
        let out = console.out();
        let names = codes.iter().map(|code| code.name.len()).max().unwrap_or(0);
        for code in codes {
            let level = reference::level(code.severity);
            // People get a table where it fits, and else the summary below its code; programs get one line a code.
            let indent = if width >= names + 50 { names + 11 } else { 9 };
            match format {
                Format::Concise => writeln!(out, "{level:<7}  {:<names$}  {}", code.name, code.summary)?,
                _ if indent > 9 => writeln!(out, "{level:<7}  {:<names$}  {}", code.name, wrap(code.summary, indent, width))?,
                _ => writeln!(out, "{level:<7}  {}\n         {}", code.name, wrap(code.summary, indent, width))?,
            }
        }
    }
    Ok(Status::CLEAN)
}
