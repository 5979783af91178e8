//! `export FILE [OUT]`: a session as one HTML file; `export --recover PAGE [OUT]`: the transcript out of one.

use super::options::Format;
use super::{Console, Failure, Status, check, transcript};
use crate::agent::blob_directory::BlobDirectory;
use crate::agent::layout::BLOBS;
use crate::agent::locate::{self, Part};
use crate::agent::walk::show;
use crate::check::run::{Depth, Target};
use crate::finding::Class;
use crate::fsys::output::{NewFile, Refused};
use crate::fsys::{Fs, Kind, Real, input};
use crate::json::{Value, View};
use crate::render::page;
use crate::render::style::plain;
use crate::render::tree::Sheet;
use crate::render::words::count;
use crate::report;
use crate::session::export::{self, default_name, destination, leaf_id};
use crate::transcript::EntryKind;
use crate::transcript::blobs::{BlobSource, NoStore, Overlay};
use crate::transcript::context::Values;
use crate::transcript::context::answer::LeafName;
use crate::transcript::inspect::{self, Verdict};
use crate::transcript::outline::Outline;
use crate::transcript::persist::Tally;
use crate::transcript::persist::settle::{Origin, settle};
use crate::transcript::tree::Tree;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Arguments of `export`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The page needs nothing but itself: no network, no other file. Images come from the blob store of the agent directory that FILE lies \
in, or from --blobs DIR. It carries gjc's own data element, so that --recover gives the session back."
)]
pub struct Args {
    /// Transcript; with --recover the page
    pub file: PathBuf,
    /// The new file, which must not exist; `-` is standard output (default: gjc-session-NAME.html in the current directory; with
    /// --recover standard output)
    #[arg(allow_hyphen_values = true)]
    pub out: Option<PathBuf>,
    /// Take the session out of an exported page, of gjc or of this program
    #[arg(long, conflicts_with = "leaf")]
    pub recover: bool,
    /// Take this entry as the leaf (default: the last one)
    #[arg(long, value_name = "ID")]
    pub leaf: Option<String>,
}

/// Exports, or recovers.
///
/// # Errors
/// The file cannot be read, gjc loads nothing of it, the page holds no session, the new file exists or cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if console.options.format == Format::Json {
        return Err(Failure::Usage("`export` writes a page, --recover a transcript: neither has a form as JSON".into()));
    }
    let named = match args.out.as_deref().map(|path| (path, path.to_str())) {
        Some((_, Some(word))) => destination(word).map_err(|why| Failure::Usage(why.into()))?.map(PathBuf::from),
        Some((path, None)) => Some(path.to_owned()),
        None => None,
    };
    if args.recover {
        return recover(args, named, console);
    }
    if args.file == Path::new("-") {
        return Err(Failure::Usage("a session in memory cannot be exported, in gjc neither: name a file".into()));
    }
    if !Real.present(&console.environment.current_dir.join(&args.file)).unwrap_or(true) {
        // gjc's words.
        return Err(Failure::Operational(format!("File not found: {}", show(args.file.as_os_str()))));
    }
    let out = named.unwrap_or_else(|| console.environment.current_dir.join(default_name(args.file.file_name().unwrap_or_default())));
    match store(&args.file, console)? {
        Some(store) => export(args, &out, &store, console),
        None => export(args, &out, &NoStore, console),
    }
}

/// The blobs that the transcript refers to.
fn store(file: &Path, console: &Console) -> Result<Option<BlobDirectory>, Failure> {
    let open = |path: &Path| BlobDirectory::open(path).map(Some).map_err(|error| Failure::Operational(error.to_string()));
    if let Some(path) = &console.options.blobs {
        return open(path);
    }
    let directory = console.environment.current_dir.join(file);
    let Some(Part::Agent(agent) | Part::Directory { agent, .. }) = directory.parent().and_then(|parent| locate::part_of(&Real, parent))
    else {
        return Ok(None);
    };
    let blobs = agent.join(BLOBS);
    if Real.lstat(&blobs).is_ok_and(|meta| meta.kind == Kind::Directory) { open(&blobs) } else { Ok(None) }
}

fn export<S: BlobSource>(args: &Args, out: &Path, store: &S, console: &mut Console) -> Result<Status, Failure> {
    let release = console.options.gjc;
    let (mut traced, migrated) = transcript::open_migrated(&args.file, console)?;
    let mut tally = Tally::default();
    let mut settled = |entry: &mut Value| settle(entry, &mut Overlay::new(store), release, Origin::File, &mut tally);
    traced.loaded.entries.iter_mut().skip(1).for_each(&mut settled);
    let name = LeafName::from(args.leaf.as_deref());
    let leaf = name.resolve(&traced.loaded.ids);
    let list = Values::migrated(&traced.loaded.entries, &mut traced.loaded.ids, &migrated);
    transcript::leaf_is_there(&args.file, &name, &Tree::new(&list), leaf)?;
    let outline = Outline::new(&list, &mut traced.loaded.ids, leaf, release);
    let sheet = Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget: transcript::budget(console) };

    let run = check::observed(vec![Target::Path(args.file.clone())], &check::options(Depth::Full, console), console);
    let report = report::build(check::audit(run, console), &check::settings(console));
    let leaf = outline.leaf().and_then(|leaf| leaf_id(sheet.entries.get(leaf)));
    let header = sheet.entries.first().unwrap_or(&Value::Null);
    let entries = || sheet.entries.iter().skip(1).filter(|entry| EntryKind::of(*entry) != EntryKind::Session).cloned();
    let page = |out: &mut dyn Write| page::write(out, sheet, &report, |out| export::write_data(out, header, entries(), leaf.as_ref()));

    if out == Path::new("-") {
        page(console.out())?;
    } else {
        super::destination::outside(console, out)?;
        let mut file = NewFile::create(out, Some(&args.file)).map_err(refused)?;
        page(&mut file).map_err(|error| Failure::at(out, &error))?;
        file.publish().map_err(refused)?;
        writeln!(console.out(), "Exported to: {}", plain(&show(out.as_os_str())))?;
    }
    let moved = report.findings.iter().any(|finding| finding.class == Some(Class::Transient));
    if moved {
        console.note("the transcript changed while it was read: the page may show a part of it. Export again when gjc has ended");
    }
    if tally.lost_references > 0 {
        let lost = count(tally.lost_references, "blob reference has", "blob references have");
        console.note(&format!("{lost} no blob that was found (--blobs names the store): gjc's placeholder stands there"));
    }
    if let Some(refusal) = refusal(&args.file, console)? {
        console.note(&format!("gjc itself would not export this file: Could not open session: {refusal}"));
    }
    Ok(if moved { Status::INCONCLUSIVE } else { Status::CLEAN })
}

/// Why gjc does not open the file.
fn refusal(file: &Path, console: &Console) -> Result<Option<&'static str>, Failure> {
    let options = inspect::Options { release: console.options.gjc, budget: transcript::budget(console) };
    let size = Real.stat(file).map(|meta| meta.size).unwrap_or_default();
    let input = input::open(file).map_err(|error| Failure::at(file, &error))?;
    let inspected = inspect::bytes(input, size, options).map_err(|error| Failure::at(file, &error))?;
    Ok(match &inspected.verdict {
        Verdict::Error(reason) => Some(reason.token()),
        _ => None,
    })
}

fn recover(args: &Args, named: Option<PathBuf>, console: &mut Console) -> Result<Status, Failure> {
    let mut page = Vec::new();
    let read = input::open(&args.file).and_then(|mut file| file.read_to_end(&mut page));
    read.map_err(|error| Failure::at(&args.file, &error))?;
    let recovered = export::recover(&page).map_err(|why| Failure::Refused(format!("{}: {why}", args.file.display())))?;
    match named.filter(|path| path != Path::new("-")) {
        None => {
            let mut text = Vec::new();
            recovered.write(&mut text)?;
            console.content(&text)?;
        }
        Some(path) => {
            super::destination::outside(console, &path)?;
            let mut file = NewFile::create(&path, Some(&args.file)).map_err(refused)?;
            recovered.write(&mut file).map_err(|error: io::Error| Failure::at(&path, &error))?;
            file.publish().map_err(refused)?;
        }
    }
    if !recovered.ends_at_its_leaf() {
        let leaf = recovered.leaf.as_str().unwrap_or_default().into_owned();
        let leaf = String::from_utf8_lossy(&leaf).into_owned();
        console.note(&format!("the export stood at `{leaf}`; a transcript always continues from its last entry"));
    }
    Ok(Status::CLEAN)
}

/// gjc's words for its own source; else as everywhere.
fn refused(refused: Refused) -> Failure {
    match refused {
        Refused::Source(_) => Failure::Usage("HTML export output must not overwrite the source transcript".into()),
        other => other.into(),
    }
}
