//! `records FILE`: what gjc's lenient reader yields.

use super::{Console, Failure, Status};
use crate::fsys::input;
use crate::json::jsonl::{Event, Lines};
use crate::json::{Value, stringify};
use std::path::PathBuf;

/// Arguments of `records`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Transcript; `-` is standard input
    pub file: PathBuf,
}

/// Writes each value of the lenient reader as its `JSON.stringify` text, one a line, in file order.
///
/// # Errors
/// The file cannot be read, or the answer cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let file = input::open(&args.file).map_err(|error| Failure::at(&args.file, &error))?;
    let mut lines = Lines::new(file);
    let mut text = Vec::new();
    while let Some(event) = lines.next().map_err(|error| Failure::at(&args.file, &error))? {
        if let Event::Value(found) = event {
            text.clear();
            stringify::write(&Value::from_node(found.node), &mut text);
            text.push(b'\n');
            console.content(&text)?;
        }
    }
    Ok(Status::CLEAN)
}
