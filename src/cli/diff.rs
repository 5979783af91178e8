//! `diff A [B]`: two transcripts or folders of transcripts compared, one under two releases, or with its version-5 form.

use super::options::ReportFormat;
use super::{Console, Failure, Status};
use crate::agent::walk::{self, Limits, Trouble, show};
use crate::corpus::diff::{Answer, FileDiff, Level, MOST_BYTES, NotCompared, SCHEMA, Side, compare, copies, version_5};
use crate::finding::Release;
use crate::fsys::{Fs, Kind, Real, input};
use crate::render::diff as render;
use crate::transcript::throw::Throw;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of `diff`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Exit status: 0 they do not differ, 4 they differ, 2 something could not be compared, 8 something could not be read \
(added up).\n\
Entries are paired by id (not one that migration drew), else by their bytes, else by what is left of them without the members that \
migration writes."
)]
pub struct Args {
    /// Transcript, or folder of transcripts
    pub a: PathBuf,
    /// The other one; without it A is compared under two releases (`--gjc 0.15,0.17`) or with --version-5
    pub b: Option<PathBuf>,
    /// Compare A with the version-5 form that gjc would write of it
    #[arg(long, conflicts_with = "b")]
    pub version_5: bool,
    /// Compare at this level only (may be given several times)
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub level: Vec<Level>,
}

/// What the two sides of each pair are.
#[derive(Clone, Copy)]
enum Sides {
    /// Two files.
    Files,
    /// One file, read by two releases.
    Releases,
    /// One file, and its version-5 form.
    Version5,
}

/// Compares, and answers whether the sides differ.
///
/// # Errors
/// The sides are not named, or cannot be listed; the answer cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let is_stream = |path: &Path| path == Path::new("-");
    if is_stream(&args.a) && args.b.as_deref().is_some_and(is_stream) {
        return Err(Failure::Usage("standard input can be read once: name a file for one of the sides".into()));
    }
    let releases = (console.options.gjc, console.options.releases.last().copied().unwrap_or_default());
    let sides = match (&args.b, args.version_5) {
        (Some(_), _) => Sides::Files,
        (None, true) => Sides::Version5,
        (None, false) if releases.0 != releases.1 => Sides::Releases,
        (None, false) => return Err(Failure::Usage("name the other side: B, two releases (--gjc 0.15,0.17), or --version-5".into())),
    };
    let levels = if args.level.is_empty() { Level::ALL.to_vec() } else { args.level.clone() };
    let base = console.environment.current_dir.clone();
    let listed = |path: &Path| transcripts(&base, path);
    let of_a = listed(&args.a)?;
    let of_b = args.b.as_deref().map(listed).transpose()?;
    if of_b.as_ref().is_some_and(|of_b| of_b.is_folder != of_a.is_folder) {
        return Err(Failure::Usage("one of them is a folder and the other is none".into()));
    }
    let mut answer = Answer {
        schema: SCHEMA,
        a: show(args.a.as_os_str()),
        b: show(args.b.as_ref().unwrap_or(&args.a).as_os_str()),
        compared: 0,
        files: Vec::new(),
        only_a: Vec::new(),
        only_b: Vec::new(),
        not_compared: Vec::new(),
    };
    match sides {
        Sides::Version5 => answer.b += " (as version 5)",
        _ if releases.0 != releases.1 => {
            answer.a += &format!(" (gjc {})", releases.0.text());
            answer.b += &format!(" (gjc {})", releases.1.text());
        }
        _ => {}
    }
    let pairing = Pairing { sides, releases, levels: &levels };
    let mut open = Status::CLEAN;
    let names: BTreeSet<&String> = of_a.objects.keys().chain(of_b.iter().flat_map(|of_b| of_b.objects.keys())).collect();
    if names.is_empty() {
        let both = args.b.iter().fold(show(args.a.as_os_str()), |said, b| format!("{said}, {}", show(b.as_os_str())));
        return Err(Failure::Operational(format!("{both}: no transcript lies there")));
    }
    for name in names {
        let a = of_a.objects.get(name);
        let b = of_b.as_ref().map_or(a, |of_b| of_b.objects.get(name));
        match (a, b) {
            (Some(Stands::Transcript(a)), Some(Stands::Transcript(b))) => open = open | pairing.compare(name, a, b, &mut answer),
            (Some(Stands::Other(kind)), _) => open = open | not_read(name, *kind, 'a', &mut answer),
            (_, Some(Stands::Other(kind))) => open = open | not_read(name, *kind, 'b', &mut answer),
            (Some(_), None) => answer.only_a.push(name.clone()),
            (None, _) => answer.only_b.push(name.clone()),
        }
    }
    Ok(open | write(&answer, console)?)
}

/// What has the name of a transcript on one side and is no file is not taken for absent.
fn not_read(name: &str, kind: Kind, side: char, answer: &mut Answer) -> Status {
    answer.compared += 1;
    let reason = format!("in {side} it is a {}, which is not read here", kind.noun());
    answer.not_compared.push(NotCompared { path: name.to_owned(), reason });
    Status::INCONCLUSIVE
}

/// What stands below a compared folder and is named like a transcript.
enum Stands {
    /// A file.
    Transcript(PathBuf),
    /// A link, FIFO, socket or device.
    Other(Kind),
}

/// The transcripts that a path names, by their path below it; by the empty path when it names one.
struct Named {
    is_folder: bool,
    objects: BTreeMap<String, Stands>,
}

fn transcripts(base: &Path, path: &Path) -> Result<Named, Failure> {
    let one = |file: PathBuf| Named { is_folder: false, objects: BTreeMap::from([(String::new(), Stands::Transcript(file))]) };
    if path == Path::new("-") {
        return Ok(one(path.to_owned()));
    }
    let real = Real.realpath(&base.join(path)).map_err(|error| Failure::on(path, &error))?;
    if Real.stat(&real).map_err(|error| Failure::on(path, &error))?.kind != Kind::Directory {
        // Known before any work: of a file that cannot be read there is nothing to compare.
        input::open(&real).map(drop).or_else(|error| if input::is_too_large(&error) { Ok(()) } else { Err(Failure::at(path, &error)) })?;
        return Ok(one(real));
    }
    let mut objects = BTreeMap::new();
    let visit = |listing: walk::Listing| {
        for object in listing.objects.iter().filter(|object| object.is_transcript_name() && object.meta.kind != Kind::Directory) {
            let file = listing.path_of(object);
            let name = file.strip_prefix(&real).map_or_else(|_| show(&object.name), |below| show(below.as_os_str()));
            let stands = if object.meta.kind == Kind::File { Stands::Transcript(file) } else { Stands::Other(object.meta.kind) };
            objects.insert(name, stands);
        }
    };
    let named = |file: &Path| file.strip_prefix(&real).map_or_else(|_| file.to_owned(), |below| path.join(below));
    match walk::tree(&Real, &real, &Limits::default(), |_, _| true, visit).first() {
        Some(Trouble::Failed(error)) => Err(Failure::on(&named(&error.path), error)),
        Some(Trouble::Changed(changed)) => {
            Err(Failure::Operational(format!("{}: it changed while it was read; do it again", show(named(changed).as_os_str()))))
        }
        Some(Trouble::Limit(limit, at)) => {
            Err(Failure::Operational(format!("{}: too much to list ({limit})", show(named(at).as_os_str()))))
        }
        None => Ok(Named { is_folder: true, objects }),
    }
}

/// How pairs are compared.
struct Pairing<'p> {
    sides: Sides,
    releases: (Release, Release),
    levels: &'p [Level],
}

/// Why two transcripts are not compared.
enum Not {
    /// One of them cannot be read.
    Read(String),
    /// gjc makes nothing of it, or it is too large.
    Compared(String),
}

impl Pairing<'_> {
    /// Compares a pair; answers what kept it from being compared.
    fn compare(&self, name: &str, a: &Path, b: &Path, answer: &mut Answer) -> Status {
        answer.compared += 1;
        let (status, reason) = match self.file(a, b) {
            Ok(file) => {
                if !file.is_same() {
                    answer.files.push(FileDiff { path: name.to_owned(), ..file });
                }
                return Status::CLEAN;
            }
            Err(Not::Read(reason)) => (Status::OPERATIONAL, reason),
            Err(Not::Compared(reason)) => (Status::INCONCLUSIVE, reason),
        };
        answer.not_compared.push(NotCompared { path: name.to_owned(), reason });
        status
    }

    fn file(&self, a: &Path, b: &Path) -> Result<FileDiff, Not> {
        let unread = |path: &Path, error: &io::Error| Not::Read(Failure::at(path, error).to_string());
        let read = |path: &Path| match input::bounded(path, MOST_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if input::is_too_large(&error) => Ok(None),
            Err(error) => Err(unread(path, &error)),
        };
        let too_large = || format!("more than {MOST_BYTES} bytes: the records of so large a file are not compared");
        let of_a = read(a)?;
        let version_5 = match (self.sides, &of_a) {
            (Sides::Version5, Some(bytes)) => {
                let throws = |throw: Throw| Not::Compared(format!("gjc throws {}: {throw}", throw.class()));
                let made = version_5(bytes, self.releases.0).map_err(throws)?;
                Some(made.ok_or_else(|| Not::Compared("gjc loads nothing of it".to_owned()))?)
            }
            _ => None,
        };
        let of_b = match self.sides {
            Sides::Files => read(b)?,
            Sides::Releases => of_a.clone(),
            Sides::Version5 => version_5,
        };
        match (self.sides, of_a, of_b) {
            (_, Some(bytes_a), Some(bytes_b)) => {
                let copies = matches!(self.sides, Sides::Files).then(|| copies(&bytes_a[..], &bytes_b[..])).transpose();
                let sides = [(&bytes_a, self.releases.0), (&bytes_b, self.releases.1)].map(|(bytes, release)| Side { bytes, release });
                let levels = compare(sides[0], sides[1], self.levels);
                Ok(FileDiff { path: String::new(), copies: copies.map_err(|error| unread(a, &error))?, levels })
            }
            (Sides::Files, ..) => {
                let open = |path: &Path| input::open(path).map_err(|error| unread(path, &error));
                let copies = copies(open(a)?, open(b)?).map_err(|error| unread(a, &error))?;
                Err(Not::Compared(format!("{}; bytes: {}", too_large(), render::relation(&copies))))
            }
            _ => Err(Not::Compared(too_large())),
        }
    }
}

fn write(answer: &Answer, console: &mut Console) -> Result<Status, Failure> {
    match console.options.report_format {
        ReportFormat::Json => console.json(answer)?,
        ReportFormat::Markdown => console.out().write_all(render::markdown(answer).as_bytes())?,
        _ => console.out().write_all(render::text(answer).as_bytes())?,
    }
    let differ = !(answer.files.is_empty() && answer.only_a.is_empty() && answer.only_b.is_empty());
    Ok(if differ { Status::FINDINGS } else { Status::CLEAN })
}

/// The forms in which this command answers.
pub(super) fn answers_in(format: ReportFormat) -> bool {
    matches!(format, ReportFormat::Human | ReportFormat::Concise | ReportFormat::Json | ReportFormat::Markdown)
}
