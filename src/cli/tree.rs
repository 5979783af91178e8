//! `tree FILE`: the tree of a transcript.

use super::options::Format;
use super::{Console, Failure, Status, transcript};
use crate::render::style::Palette;
use crate::render::tree::{self, Sheet};
use crate::transcript::context::Values;
use crate::transcript::context::answer::LeafName;
use crate::transcript::outline::Outline;
use crate::transcript::tree::Tree;
use std::path::PathBuf;

/// Arguments of `tree`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Every branch is drawn beside the line it left; the way to the leaf is the first column. \
A transcript of version 1 is shown as gjc migrates it, with the ids #0, #1, …")]
pub struct Args {
    /// Transcript; `-` is standard input
    pub file: PathBuf,
    /// Take this entry as the leaf (default: the last one)
    #[arg(long, value_name = "ID")]
    pub leaf: Option<String>,
    /// Print JSON, one object
    #[arg(long)]
    pub json: bool,
}

/// Draws the tree.
///
/// # Errors
/// The file cannot be read, gjc loads nothing of it, or no entry has the id.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let (mut traced, migrated) = transcript::open_migrated(&args.file, console)?;
    let name = LeafName::from(args.leaf.as_deref());
    let leaf = name.resolve(&traced.loaded.ids);
    let list = Values::migrated(&traced.loaded.entries, &mut traced.loaded.ids, &migrated);
    transcript::leaf_is_there(&args.file, &name, &Tree::new(&list), leaf)?;
    let outline = Outline::new(&list, &mut traced.loaded.ids, leaf, console.options.gjc);
    let budget = transcript::budget(console);
    let sheet = Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget };
    if args.json || console.options.format == Format::Json {
        console.out().write_all(&tree::json(sheet))?;
    } else {
        let text = tree::text(sheet, Palette::new(console.colour()), console.environment.width);
        console.out().write_all(text.as_bytes())?;
    }
    Ok(Status::CLEAN)
}
