//! `replay FILE`: the entries that gjc's loader makes of a transcript, patches folded in.

use super::options::Format;
use super::{Console, Failure, Status, transcript};
use crate::fsys::input;
use crate::json::stringify;
use crate::render::replay;
use crate::render::style::Palette;
use crate::transcript::answer;
use std::path::PathBuf;

/// Arguments of `replay`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Nothing is migrated: the entries are as gjc holds them right after loading. For people each is one line: \
the line it came from, what it is, what it says, and below it the patches that changed it.")]
pub struct Args {
    /// Transcript; `-` is standard input
    pub file: PathBuf,
    /// Print `{"entries":[…]}` instead; what gjc throws is `{"throws":"…"}`, and where it loads nothing there are no entries
    #[arg(long, conflicts_with = "lines")]
    pub json: bool,
    /// Print the JSON text of each entry instead, one a line
    #[arg(long)]
    pub lines: bool,
}

/// Writes the entries in file order, the header first.
///
/// # Errors
/// The file cannot be read; without `--json`, gjc's loader throws or loads nothing.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if args.json || (console.options.format == Format::Json && !args.lines) {
        return answer(args, console);
    }
    let traced = transcript::open(&args.file, console)?;
    if args.lines {
        let mut line = Vec::new();
        for entry in &traced.loaded.entries {
            line.clear();
            stringify::write(entry, &mut line);
            line.push(b'\n');
            console.content(&line)?;
        }
    } else {
        let text = replay::text(&traced, Palette::new(console.colour()), console.environment.width);
        console.out().write_all(text.as_bytes())?;
    }
    Ok(Status::CLEAN)
}

fn answer(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let file = input::open(&args.file).map_err(|error| Failure::at(&args.file, &error))?;
    let mut text = answer::replay(file, console.options.gjc).map_err(|error| Failure::at(&args.file, &error))?;
    let status = transcript::status_of(&text);
    text.push(b'\n');
    console.content(&text)?;
    Ok(status)
}
