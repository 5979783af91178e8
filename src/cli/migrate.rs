//! `migrate FILE`: the version-5 form of a transcript, on standard output or in a new file; never in place.

use super::options::Format;
use super::{Console, Failure, Status, destination, transcript};
use crate::agent::blob_directory::BlobDirectory;
use crate::finding::Release;
use crate::fsys::output::NewFile;
use crate::fsys::{Sha256Reader, input};
use crate::json::Value;
use crate::json::jsonl::{Event, Lines};
use crate::transcript::Throw;
use crate::transcript::answer;
use crate::transcript::blobs::{BlobStore, NoStore};
use crate::transcript::inspect::{self, Verdict};
use crate::transcript::load::{Loaded, Loader, Whole};
use crate::transcript::migrate::{Numbered, Seeded, migrate};
use crate::transcript::persist::{Tally, rewrite, sanitise};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Arguments of `migrate`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "What is written is what a full rewrite by gjc would store: patches folded in, unreadable lines gone, long strings cut. \
With --blobs DIR inline images of 1,024 units or more go there and missing blobs leave gjc's placeholder; without it images stay inline and \
references stay references."
)]
pub struct Args {
    /// Transcript; `-` is standard input
    pub file: PathBuf,
    /// Write to this new file instead of standard output; it must not exist
    #[arg(short = 'o', value_name = "NEW")]
    pub into: Option<PathBuf>,
    /// Print `{"entries":[…]}` instead, with the ids of version-1 entries as `#0`, `#1`, …; what gjc throws is `{"throws":"…"}`,
    /// and where it loads nothing there are no entries
    #[arg(long)]
    pub json: bool,
    /// Seed of the ids that version-1 entries get (default: taken from the SHA-256 of the input)
    #[arg(long, value_name = "S")]
    pub seed: Option<u32>,
}

/// Migrates a transcript.
///
/// # Errors
/// The file cannot be read, the new file or a blob cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let source = (args.file != Path::new("-")).then_some(args.file.as_path());
    // Before anything is read: a run that cannot deliver does no work.
    if let Some(path) = &args.into {
        destination::outside(console, path)?;
    }
    let new_file = args.into.as_deref().map(|path| NewFile::create(path, source)).transpose()?;
    if args.json || console.options.format == Format::Json {
        print_answer(args, new_file, console)
    } else {
        write_transcript(args, new_file, console)
    }
}

fn print_answer(args: &Args, new_file: Option<NewFile>, console: &mut Console) -> Result<Status, Failure> {
    let file = input::open(&args.file).map_err(|error| Failure::at(&args.file, &error))?;
    let mut answer =
        answer::migrated(file, console.options.gjc, &mut Numbered::default()).map_err(|error| Failure::at(&args.file, &error))?;
    let status = transcript::status_of(&answer);
    answer.push(b'\n');
    deliver(new_file, console, &answer)?;
    Ok(status)
}

fn write_transcript(args: &Args, new_file: Option<NewFile>, console: &mut Console) -> Result<Status, Failure> {
    let release = console.options.gjc;
    let file = input::open(&args.file).map_err(|error| Failure::at(&args.file, &error))?;
    let mut reader = Sha256Reader::new(file);
    let (loaded, left_out) = counted(&mut reader, release).map_err(|error| Failure::at(&args.file, &error))?;
    let (hash, ..) = reader.finish();
    let seed = args.seed.unwrap_or_else(|| u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]));

    let name = args.file.display();
    let mut entries = match loaded.and_then(|loaded| migrated(loaded, seed)) {
        Ok(entries) if entries.is_empty() => {
            return Err(Failure::Refused(format!("{name}: gjc loads nothing of this file: it does not begin with a session header")));
        }
        Ok(entries) => entries,
        Err(throw) => return Err(Failure::Refused(format!("{name}: gjc does not load this file, it throws {}: {throw}", throw.class()))),
    };

    let sanitised = entries.iter_mut().filter_map(sanitise).count();
    let mut tally = Tally::default();
    let directory = console.options.blobs.as_deref().map(BlobDirectory::open).transpose();
    let mut directory = directory.map_err(|error| Failure::Operational(error.to_string()))?;
    let store: &mut dyn BlobStore = match &mut directory {
        Some(directory) => directory,
        None => &mut NoStore,
    };
    let mut text = Vec::new();
    rewrite(entries, store, release, &mut tally, &mut text)?;
    deliver(new_file, console, &text)?;
    for note in left_out.notes().into_iter().chain(notes(sanitised, &tally, directory.as_ref())) {
        console.note(&format!("{name}: {note}"));
    }
    // The lenient reader carries over what the strict one refuses: that a file was written does not say that it opens.
    let inspected = inspect::bytes(&text[..], text.len() as u64, inspect::Options { release, budget: transcript::budget(console) })?;
    let refused = matches!(inspected.verdict, Verdict::Error(_));
    if let Verdict::Error(reason) = &inspected.verdict {
        let token = reason.token();
        console.note(&format!("{name}: gjc still refuses the result (`{token}`): see `gjc-fsck explain {token}`, and check the result"));
    }
    match directory.as_ref().and_then(BlobDirectory::failure) {
        Some(why) => Err(Failure::Operational(format!("a blob was not stored and its content stayed inline: {why}"))),
        None if refused => Ok(Status::FINDINGS),
        None => Ok(Status::CLEAN),
    }
}

/// What the lenient reader did not carry over.
#[derive(Default)]
struct LeftOut {
    /// Damaged lines.
    skipped: u64,
    /// The line behind which nothing was read.
    lost_from: Option<u64>,
    /// Records that are no entries of their own: patches, and what an id's later record replaced.
    folded: u64,
}

impl LeftOut {
    fn notes(&self) -> Vec<String> {
        let counted = |count: u64, one: &str, many: &str| (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }));
        [
            counted(self.skipped, "damaged line was dropped", "damaged lines were dropped"),
            self.lost_from.map(|line| format!("what begins on line {line} never ends: it and all behind it were dropped")),
            counted(self.folded, "record was folded into others or dropped", "records were folded into others or dropped"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Loads, and counts what is not carried over.
fn counted(input: impl Read, release: Release) -> std::io::Result<(Result<Loaded<Whole>, Throw>, LeftOut)> {
    let mut lines = Lines::new(input);
    let mut loader = Loader::new(Whole, release);
    let (mut left_out, mut values) = (LeftOut::default(), 0_u64);
    while let Some(event) = lines.next()? {
        match &event {
            Event::Line(_) => {}
            Event::Value(_) => values += 1,
            Event::Skipped { .. } => left_out.skipped += 1,
            Event::Lost { line, .. } => left_out.lost_from = Some(*line),
        }
        loader.event(&event);
    }
    let loaded = loader.finish();
    left_out.folded = loaded.as_ref().map_or(0, |loaded| values.saturating_sub(loaded.entries.len() as u64));
    Ok((loaded, left_out))
}

fn migrated(mut loaded: Loaded<Whole>, seed: u32) -> Result<Vec<Value>, Throw> {
    if !loaded.entries.is_empty() {
        migrate(&mut loaded, &mut Seeded::new(seed))?;
    }
    Ok(loaded.entries)
}

/// Writes an answer where it was asked for.
fn deliver(new_file: Option<NewFile>, console: &mut Console, text: &[u8]) -> Result<(), Failure> {
    match new_file {
        None => Ok(console.content(text)?),
        Some(mut file) => {
            file.write_all(text)?;
            Ok(file.publish()?)
        }
    }
}

/// What the person should know of the rewrite.
fn notes(sanitised: usize, tally: &Tally, directory: Option<&BlobDirectory>) -> Vec<String> {
    let mut notes = Vec::new();
    match directory {
        None if tally.moved_out > 0 => notes.push(format!(
            "gjc would move {} inline images ({} bytes) to its blob store; they stay inline without --blobs DIR",
            tally.moved_out, tally.moved_out_bytes
        )),
        Some(directory) if directory.added() > 0 => notes.push(format!("{} blobs were added to the blob store", directory.added())),
        _ => {}
    }
    for (count, what) in [
        (sanitised as u64, "messages held a provider's replay payload, which every opening takes out"),
        (tally.lost_references, "blob references were replaced by a placeholder, their blobs are missing"),
        (tally.cut_strings, "strings were cut at 500,000 units"),
        (tally.emptied_signatures, "signatures longer than 500,000 units were emptied"),
        (tally.transient_members, "members partialJson or jsonlEvents were dropped"),
        (tally.edit_snapshots, "edit snapshots were replaced by their digests"),
        (tally.lone_surrogates, "long strings held lone surrogates, now U+FFFD"),
        (tally.reencoded_images, "images were no canonical base64 and were encoded again"),
    ] {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    }
    notes
}
