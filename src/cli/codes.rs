//! `codes`: the whole table of codes.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::check;
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
    let json = console.options.format == Format::Json;
    let out = console.out();
    if json {
        let entries: Vec<CodeEntry> = codes.into_iter().map(CodeEntry::from).collect();
        serde_json::to_writer_pretty(&mut *out, &entries).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for code in codes {
            writeln!(out, "{:<7}  {:<58}  {}", reference::level(code.severity), code.name, code.summary)?;
        }
    }
    Ok(Status::CLEAN)
}
