//! `dump FILE`: the text that gjc's `/dump` would put on the clipboard.

use super::options::Format;
use super::{Console, Failure, Status, transcript};
use crate::fsys::input;
use crate::json::{Value, View, coerce};
use crate::session::dump::Given;
use crate::transcript::context::answer::LeafName;
use crate::transcript::context::{Message, Values, build, emitted};
use crate::transcript::tree::Tree;
use std::path::{Path, PathBuf};

/// Arguments of `dump`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A transcript holds neither the system prompts nor the tools of the agent: name them with --with, or leave them out. Two things are \
never in the text: the line about the cache, which needs the prices of the model, and the notice behind the output of commands. On a \
terminal what it would obey is escaped; a file or pipe gets the text byte for byte."
)]
pub struct Args {
    /// Transcript, or with --messages a JSON file; `-` is standard input
    pub file: PathBuf,
    /// FILE is no transcript but JSON: messages, or `{"systemPrompt"?,"model"?,"thinkingLevel"?,"tools"?,"messages"}`
    #[arg(long, alias = "json", conflicts_with_all = ["leaf", "with"])]
    pub messages: bool,
    /// JSON file with `systemPrompt` and `tools` (and `model`, `thinkingLevel` instead of those of the transcript)
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    /// Dump the branch that ends with this entry (default: the last one)
    #[arg(long, value_name = "ID")]
    pub leaf: Option<String>,
}

/// Prints the text.
///
/// # Errors
/// The file cannot be read, gjc loads nothing of it, or throws at its messages.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if console.options.format == Format::Json {
        return Err(Failure::Usage(
            "`dump` writes text, as /dump does; `gjc-fsck context --format json` gives a program the messages".into(),
        ));
    }
    let given = if args.messages { given(&args.file)? } else { of_transcript(args, console)? };
    let text = given.dump().text().map_err(|throw| {
        let file = args.file.display();
        Failure::Refused(format!("{file}: gjc does not dump these messages, it throws {}: {throw}", throw.class()))
    })?;
    // Lone surrogates cannot be written: they are what a terminal would show.
    let mut text = crate::json::JsStr::from_wtf8(&text).to_string_lossy().into_owned();
    text.push('\n');
    console.content(text.as_bytes())?;
    Ok(Status::CLEAN)
}

fn given(path: &Path) -> Result<Given, Failure> {
    let mut bytes = Vec::new();
    let read = input::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| Failure::at(path, &error))?;
    let wrong = |why: &str| Failure::Usage(format!("{}: {why}", path.display()));
    let value = Value::parse(&bytes).ok_or_else(|| wrong("this is no JSON"))?;
    Given::read(&value).map_err(wrong)
}

/// The messages of the context, and the model and level that are in force there.
fn of_transcript(args: &Args, console: &Console) -> Result<Given, Failure> {
    let release = console.options.gjc;
    let (mut traced, migrated) = transcript::open_migrated(&args.file, console)?;
    let name = LeafName::from(args.leaf.as_deref());
    let leaf = name.resolve(&traced.loaded.ids);
    let list = Values::migrated(&traced.loaded.entries, &mut traced.loaded.ids, &migrated);
    let tree = Tree::new(&list);
    transcript::leaf_is_there(&args.file, &name, &tree, leaf)?;
    let context = build(&tree, leaf, release).map_err(|throw| {
        let file = args.file.display();
        Failure::Refused(format!("{file}: the context cannot be rebuilt, gjc throws {}: {throw}", throw.class()))
    })?;
    let message = |message: &Message| {
        let entry = list.entry(message.entry())?;
        match message {
            Message::Stored(_) => entry.get("message").cloned(),
            _ => Some(emitted(entry).to_value()),
        }
    };
    let messages = context.messages.iter().filter_map(message).collect();
    let with = args.with.as_deref().map_or_else(|| Ok(Given::default()), given)?;
    Ok(Given {
        model: with.model.or_else(|| context.settings.default_model().and_then(coerce::to_text)),
        thinking_level: with.thinking_level.or_else(|| coerce::to_text(&context.settings.thinking_level())),
        messages,
        ..with
    })
}
