//! `explain CODE`: what a code, or a token of gjc, means and what to do.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::check;
use crate::render::explain;
use crate::report::reference::{self, CodeEntry, Found};

/// Arguments of `explain`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Name of a code, or an error token as gjc prints it
    #[arg(required = true, value_name = "CODE")]
    pub codes: Vec<String>,
}

/// Explains each name.
///
/// # Errors
/// A name that no code and no token has (its neighbours are named), or the answer cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    for name in &args.codes {
        match reference::find(name) {
            Found::Codes(codes) => found.extend(codes),
            Found::Word(word) => words.push(word),
            Found::Nothing { neighbours } => {
                let near = match neighbours.is_empty() {
                    true => "`gjc-fsck codes` lists every code".to_owned(),
                    false => format!("did you mean {}?", neighbours.join(", ")),
                };
                return Err(Failure::Usage(format!("no code and no token of gjc is called `{name}`; {near}")));
            }
        }
    }
    let (json, colour, width) = (console.options.format == Format::Json, console.colour(), console.environment.width);
    let release = console.options.gjc;
    if json {
        // A word of gjc is answered by the codes that lead to it.
        let led = words.iter().flat_map(|word| word.codes).filter_map(|name| check::code(name));
        let entries: Vec<CodeEntry> = found.into_iter().chain(led).map(CodeEntry::from).collect();
        console.json(&entries)?;
        return Ok(Status::CLEAN);
    }
    let pages = found.into_iter().map(|code| explain::code(code, release, colour, width));
    let pages = pages.chain(words.into_iter().map(|word| explain::word(word, colour, width)));
    console.out().write_all(pages.collect::<Vec<_>>().join("\n").as_bytes())?;
    Ok(Status::CLEAN)
}
