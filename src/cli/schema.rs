//! `schema NAME`: the JSON Schemas of what gjc-fsck writes.

use super::{Console, Failure, Status};
use crate::render::jsonl;
use crate::report;
use clap::ValueEnum;
use std::io;

/// Arguments of `schema`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Which schema
    #[arg(value_enum, default_value_t = Name::Report)]
    pub name: Name,
}

/// The schemas.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// The report that `check --format json` writes
    Report,
    /// One line of what `check --format jsonl` writes
    ReportLine,
    /// The baseline that `check --baseline` reads
    Baseline,
    /// The list that `codes --format json` writes
    Codes,
    /// The journals that `gc --format json` writes
    Gc,
    /// The readings that `quota --format json` writes
    Quota,
}

/// Prints a schema.
///
/// # Errors
/// The answer cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let schema = match args.name {
        Name::Report => report::schema(),
        Name::ReportLine => jsonl::schema(),
        Name::Baseline => report::baseline::schema(),
        Name::Codes => report::reference::schema(),
        Name::Gc => schemars::schema_for!(crate::gc::survey::Survey),
        Name::Quota => report::quota::schema(),
    };
    let out = console.out();
    serde_json::to_writer_pretty(&mut *out, &schema).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(Status::CLEAN)
}
