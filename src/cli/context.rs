//! `context FILE`: the context that gjc rebuilds.

use super::options::Format;
use super::{Console, Failure, Status, transcript};
use crate::fsys::input;
use crate::render::style::Palette;
use crate::render::{context, tree::Sheet};
use crate::transcript::context::answer::{LeafName, answers};
use crate::transcript::context::{Values, build, model};
use crate::transcript::migrate::Numbered;
use crate::transcript::outline::Outline;
use crate::transcript::tree::Tree;
use std::path::PathBuf;

/// Arguments of `context`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Entries of version 1 have the ids #0, #1, … With --as-model the messages are those that gjc would send to a model; \
the sentences that gjc puts around summaries and command output are worded differently."
)]
pub struct Args {
    /// Transcript; `-` is standard input
    pub file: PathBuf,
    /// Rebuild for this entry (default: the last one; --json takes it for an id that does not occur too, as gjc does)
    #[arg(long, value_name = "ID", conflicts_with = "leaf_null")]
    pub leaf: Option<String>,
    /// Rebuild for the place before the first entry
    #[arg(long)]
    pub leaf_null: bool,
    /// Print `{"context":…,"message_entry_ids":[…]}`; what gjc throws is `{"throws":"…"}`
    #[arg(long, conflicts_with_all = ["text", "as_model"])]
    pub json: bool,
    /// Print messages and settings for people (the default)
    #[arg(long, conflicts_with = "as_model")]
    pub text: bool,
    /// Print `{"messages":[…]}` as they go to a model
    #[arg(long)]
    pub as_model: bool,
}

impl Args {
    fn leaf(&self) -> LeafName {
        match &self.leaf {
            _ if self.leaf_null => LeafName::BeforeFirst,
            leaf => LeafName::from(leaf.as_deref()),
        }
    }
}

/// Rebuilds the context.
///
/// # Errors
/// The file cannot be read; without `--json` also when gjc loads nothing of it, or throws.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if args.json || (console.options.format == Format::Json && !args.text && !args.as_model) {
        return answer(args, console);
    }
    let release = console.options.gjc;
    let (mut traced, migrated) = transcript::open_migrated(&args.file, console)?;
    let name = args.leaf();
    let leaf = name.resolve(&traced.loaded.ids);
    let list = Values::migrated(&traced.loaded.entries, &mut traced.loaded.ids, &migrated);
    let tree = Tree::new(&list);
    transcript::leaf_is_there(&args.file, &name, &tree, leaf)?;
    let outline = Outline::new(&list, &mut traced.loaded.ids, leaf, release);
    let rebuilt = build(&tree, leaf, release).map_err(|throw| {
        let file = args.file.display();
        Failure::Refused(format!("{file}: the context cannot be rebuilt, gjc throws {}: {throw}", throw.class()))
    })?;
    if args.as_model {
        let mut text = model::text(&rebuilt);
        text.push(b'\n');
        console.content(&text)?;
    } else {
        let budget = transcript::budget(console);
        let sheet = Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget };
        let text = context::text(sheet, &rebuilt, Palette::new(console.colour()), console.environment.width);
        console.out().write_all(text.as_bytes())?;
    }
    Ok(Status::CLEAN)
}

fn answer(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let file = input::open(&args.file).map_err(|error| Failure::at(&args.file, &error))?;
    let answers = answers(file, console.options.gjc, &[args.leaf()], &mut Numbered::default());
    let mut status = Status::CLEAN;
    for mut answer in answers.map_err(|error| Failure::at(&args.file, &error))? {
        if !answer.text.starts_with(b"{\"context\":") {
            status = Status::FINDINGS;
        }
        answer.text.push(b'\n');
        console.content(&answer.text)?;
        if answer.unknown {
            let id = args.leaf.as_deref().unwrap_or_default();
            console.note(&format!("no entry has the id `{id}`: this is the context of the last entry, as gjc answers then"));
        }
    }
    Ok(status)
}
