//! `replay FILE`: the entries that gjc's loader makes of a transcript, patches folded in.

use super::{Console, Failure, Status};
use crate::fsys::input;
use crate::json::stringify;
use crate::transcript::answer;
use crate::transcript::load::{Whole, load};
use std::path::PathBuf;

/// Arguments of `replay`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Transcript; `-` is standard input
    pub file: PathBuf,
    /// Print `{"entries":[…]}` instead of one entry a line; what gjc throws is `{"throws":"…"}`
    #[arg(long)]
    pub json: bool,
}

/// Writes the entries in file order, the header first.
///
/// # Errors
/// The file cannot be read; without `--json`, gjc's loader throws.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let release = console.options.gjc;
    let file = input::open(&args.file).map_err(|error| Failure::at(&args.file, &error))?;
    let mut text = Vec::new();
    let mut status = Status::CLEAN;
    if args.json {
        text = answer::replay(file, release).map_err(|error| Failure::at(&args.file, &error))?;
        text.push(b'\n');
        if text.starts_with(br#"{"throws":"#) {
            status = Status::FINDINGS;
        }
    } else {
        let loaded = load(file, Whole, release).map_err(|error| Failure::at(&args.file, &error))?;
        let name = args.file.display();
        let loaded = loaded
            .map_err(|throw| Failure::Refused(format!("{name}: gjc does not load this file, it throws {}: {throw}", throw.class())))?;
        for entry in &loaded.entries {
            stringify::write(entry, &mut text);
            text.push(b'\n');
        }
    }
    console.out().write_all(&text)?;
    Ok(status)
}
