//! `session run SCRIPT`: the reference session manager, driven by a script of operations. The transcript goes to standard
//! output and blobs stay in memory; with `-o` both become new files.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::blob_directory::BlobDirectory;
use crate::agent::layout;
use crate::finding::Release;
use crate::fsys::output::NewFile;
use crate::fsys::{self, Change, Errno, Fs, Real, input};
use crate::json::{JsString, Object, Value, stringify};
use crate::session::manager::{Manager, OpError, World};
use crate::session::older;
use crate::session::place::Place;
use crate::session::script::{self, Did, Runner, Script};
use crate::session::storage::{Memory, SessionStorage};
use crate::transcript::blobs::{BlobSink, BlobSource, MemoryStore, NoStore, Overlay, name_of};
use crate::transcript::migrate::{IdSource, Seeded};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `session`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What the session manager can be told.
#[derive(clap::Subcommand, Debug)]
pub enum Action {
    /// Run a script of operations and print the transcript that gjc would have then
    Run(Run),
}

/// Arguments of `session run`.
#[derive(clap::Args, Debug)]
#[command(after_help = "A script is one operation a line, as JSON, named as in gjc's session manager:\n  \
{\"op\":\"appendMessage\",\"as\":\"u\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n  \
{\"op\":\"appendLabelChange\",\"targetId\":{\"$ref\":\"u\"},\"label\":\"start\"}\n  \
{\"op\":\"ensureOnDisk\"}\n\
A session is written with its first assistant message, or by ensureOnDisk.\n\
appendModelChange, clearModelRole, appendConfiguredModelChain, appendThinkingLevelChange, appendServiceTierChange, appendModeChange, \
appendCompaction, appendTtsrInjection, appendMCPToolSelection, appendDiscoveredBuiltinToolSelection, appendCustomEntry, \
appendCustomMessageEntry, branch, branchWithSummary, resetLeaf, setSessionName, rewriteEntries, ensureOnDisk, newSession, \
createBranchedSession, appendSessionInit, appendContextClear, selectTools, setStarred, fork, forkFrom, moveTo, setSessionFile, \
saveDraft, consumeDraft, flush, snapshot.\n\
A script may also be a JSON array of operations, or cases {\"name\",\"input\",\"blobs\",\"ops\":[…]}, one a line; of several, each \
becomes a folder below -o.")]
pub struct Run {
    /// The script; `-` is standard input
    pub script: PathBuf,
    /// Open this transcript instead of beginning a new session; it is only read
    #[arg(long, value_name = "FILE")]
    pub open: Option<PathBuf>,
    /// Workspace of new sessions
    #[arg(long, value_name = "DIR", default_value = "/w/app")]
    pub cwd: String,
    /// Folder that the transcripts are said to lie in
    #[arg(long, value_name = "DIR", default_value = "/w/sessions")]
    pub directory: String,
    /// Seed of session and entry ids
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u32,
    /// The time that is written
    #[arg(long, value_name = "TIME", default_value = "2026-01-01T00:00:00.000Z")]
    pub now: String,
    /// Write the transcripts with what lies beside them, and blobs below `blobs/`, as new files in this folder
    #[arg(short = 'o', value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Write transcripts as this version of the format had them
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub format_version: u8,
    /// Print everything as one JSON object: transcripts, what the operations returned and threw, snapshots, blobs
    #[arg(long)]
    pub json: bool,
}

/// Runs the action.
///
/// # Errors
/// A file cannot be read, the script is wrong, gjc does not open the transcript.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let Action::Run(args) = &args.action;
    match console.options.blobs.clone() {
        Some(path) => {
            let below = || BlobDirectory::open(&path).map(Overlay::new).map_err(|error| Failure::Operational(error.to_string()));
            run_scripts(args, below, console)
        }
        None => run_scripts(args, || Ok(Overlay::new(NoStore)), console),
    }
}

/// Runs every script of a file; `store` gives each its blob store.
fn run_scripts<S: BlobSource>(
    args: &Run,
    store: impl Fn() -> Result<Overlay<S>, Failure>,
    console: &mut Console,
) -> Result<Status, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::Usage(format!("{}:{why}", args.script.display()));
    let scripts = script::scripts(&read(&args.script)?).map_err(|why| wrong(&why))?;
    let several = scripts.len() > 1;
    match (is_json(args, console), &args.into) {
        (true, Some(_)) => return Err(Failure::Usage("-o writes files, and --json prints everything: ask for one of both".into())),
        (false, None) if several => return Err(Failure::Usage("several scripts: name a folder with -o, or ask for --json".into())),
        _ => {}
    }
    let mut threw = false;
    for script in scripts {
        let folder = args.into.as_ref().map(|into| match script.name.as_deref().filter(|_| several) {
            Some(name) => into.join(plain(name)),
            None => into.clone(),
        });
        threw |= one_script(args, script, folder.as_deref(), store()?, console)?;
    }
    Ok(if threw { Status::FINDINGS } else { Status::CLEAN })
}

/// Runs one script; answers whether an operation threw.
fn one_script<S: BlobSource>(
    args: &Run,
    script: Script,
    folder: Option<&Path>,
    store: Overlay<S>,
    console: &mut Console,
) -> Result<bool, Failure> {
    let files = Memory::new();
    let manager = match begin(args, &script, store, &files, console.options.gjc) {
        Ok(manager) => manager,
        // Of a case among others this is its answer.
        Err(Failure::Refused(why)) if script.name.is_some() && folder.is_some() => {
            console.note(&why);
            return Ok(true);
        }
        Err(failure) => return Err(failure),
    };
    let mut runner = Runner::new(manager);
    let mut did = Vec::new();
    for (line, op) in &script.ops {
        let wrong = |why: &dyn std::fmt::Display| Failure::Usage(format!("{}:{line}: {why}", args.script.display()));
        did.push(runner.run(op).map_err(|why| wrong(&why))?);
    }
    let manager = runner.into_manager();
    let threw = did.iter().any(|did| matches!(did, Did::Threw(_)));
    if is_json(args, console) {
        let mut text = Vec::new();
        let answer = answer_of(&did, manager, &files);
        stringify::write(&answer, &mut text);
        text.push(b'\n');
        console.content(&text)?;
        return Ok(threw || answer.member("close_error").is_some());
    }
    for (number, error) in did.iter().enumerate().filter_map(|(number, did)| Some((number, threw_of(did)?))) {
        console.note(&format!("operation {number} threw {}: {error}", error.class));
    }
    let path = manager.session_file().unwrap_or_default().to_owned();
    let (closed, store) = manager.close();
    // An operation that threw has been told, and closing throws the same again.
    if let (Err(error), false) = (&closed, threw) {
        console.note(&format!("closing threw {}: {error}", error.class));
    }
    let threw = threw || closed.is_err();
    let release = console.options.gjc;
    match folder {
        Some(folder) => {
            let versioned = |(path, bytes): (String, Vec<u8>)| {
                let bytes = at_version(args, release, &path, bytes)?;
                Ok((path, bytes))
            };
            let written: Vec<(String, Vec<u8>)> = files.all().into_iter().map(versioned).collect::<Result<_, Failure>>()?;
            // Not before there is something to write: a script that is wrong leaves nothing behind.
            if let Some(into) = &args.into {
                make_folder(into)?;
            }
            write_out(folder, &args.directory, &written, store.added())?;
        }
        None => {
            let text = files.read(&path).ok().map(|bytes| at_version(args, release, &path, bytes)).transpose()?;
            if text.is_none() {
                console.note("nothing was written yet: a session reaches the disk with its first assistant message, or by ensureOnDisk");
            }
            console.content(&text.unwrap_or_default())?;
        }
    }
    Ok(threw)
}

fn is_json(args: &Run, console: &Console) -> bool {
    args.json || console.options.format == Format::Json
}

/// The session that a script begins with: a new one, or the transcript that is opened.
fn begin<'s, S: BlobSource>(
    args: &Run,
    script: &Script,
    mut store: Overlay<S>,
    files: &'s Memory,
    release: Release,
) -> Result<Manager<'s, Fixed, Overlay<S>>, Failure> {
    let world = Fixed { ids: Seeded::new(args.seed), now: args.now.as_str().into() };
    let place = Place::explicit(args.cwd.as_str(), args.directory.as_str(), release);
    for blob in &script.blobs {
        store.put(&name_of(blob), blob);
    }
    let (shown, name, bytes) = match (&args.open, &script.input) {
        (Some(path), _) => {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (path.display().to_string(), name, read(path)?)
        }
        (None, Some(input)) => (script.name.clone().unwrap_or_default(), "session.jsonl".to_owned(), input.clone()),
        (None, None) => {
            return Manager::create(world, store, files, place, None).map_err(|error| Failure::Refused(error.to_string()));
        }
    };
    let refused = |why: &dyn std::fmt::Display| Failure::Refused(format!("{shown}: {why}"));
    let inside = format!("{}/{name}", args.directory);
    files.write(&inside, &bytes).map_err(|error| refused(&error))?;
    Manager::open(world, store, files, place, inside).map_err(|error| refused(&error))
}

/// A file as the wanted version of the format had it; only transcripts have one.
fn at_version(args: &Run, release: Release, path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if !path.ends_with(layout::TRANSCRIPT_SUFFIX) {
        return Ok(bytes);
    }
    let older = older::at_version(&bytes, args.format_version, release);
    older.map_err(|why| Failure::Refused(format!("no transcript of version {}: {why}", args.format_version)))
}

/// Writes transcripts, what lies beside them, and blobs as new files. What is in the folder of the transcripts comes directly
/// into this one; what a script put elsewhere keeps its path.
fn write_out(folder: &Path, directory: &str, files: &[(String, Vec<u8>)], blobs: &MemoryStore) -> Result<(), Failure> {
    let put = |path: &Path, bytes: &[u8]| {
        let mut file = NewFile::create(path, None)?;
        file.write_all(bytes).map_err(|error| Failure::at(path, &error))?;
        file.publish().map_err(Failure::from)
    };
    make_folder(folder)?;
    for (path, bytes) in files {
        let inside = path.strip_prefix(directory.trim_end_matches('/')).filter(|rest| rest.starts_with('/'));
        // A script names the paths: none leads out of the folder.
        let names: Vec<&str> = inside.unwrap_or(path).split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
        let Some((name, above)) = names.split_last() else { continue };
        let mut here = folder.to_owned();
        for name in above {
            here.push(name);
            make_folder(&here)?;
        }
        put(&here.join(name), bytes)?;
    }
    for (number, (name, bytes)) in blobs.iter().enumerate() {
        let folder = folder.join(layout::BLOBS);
        if number == 0 {
            make_folder(&folder)?;
        }
        put(&folder.join(name), bytes)?;
    }
    Ok(())
}

/// Makes a folder where there is none; the one above it must be there.
fn make_folder(path: &Path) -> Result<(), Failure> {
    let failed = |error: fsys::Error| Failure::Operational(error.to_string());
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name() else { return Ok(()) };
    match Real.make_dir(&Real.realpath(above).map_err(failed)?.join(name), 0o755) {
        Err(error) if error.errno != Errno::EXIST => Err(failed(error)),
        _ => Ok(()),
    }
}

/// The name of a case as the name of a folder.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.chars().map(plain).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = input::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| Failure::at(path, &error))?;
    Ok(bytes)
}

const fn threw_of(did: &Did) -> Option<&OpError> {
    match did {
        Did::Threw(error) => Some(error),
        Did::Returned(_) | Did::Snapshot(..) => None,
    }
}

/// Everything, in the shape of the suite `persist` (`tests/vectors/README.md`).
fn answer_of<W: World, S: BlobSource>(did: &[Did], manager: Manager<'_, W, Overlay<S>>, storage: &Memory) -> Value {
    let (mut returns, mut errors, mut snapshots) = (Object::new(), Object::new(), Object::new());
    for (number, did) in did.iter().enumerate() {
        match did {
            Did::Returned(Value::Null) => {}
            Did::Returned(value) => returns.set(number.to_string(), value.clone()),
            Did::Threw(error) => {
                let members = [("message", Value::string(error.message.clone())), ("error_class", Value::string(error.class))];
                errors.set(number.to_string(), Value::Object(members.into_iter().collect()));
            }
            Did::Snapshot(name, bytes) => snapshots.set(name.clone(), file_of(None, bytes.as_deref())),
        }
    }
    let files: Vec<Value> = manager.paths().iter().map(|path| file_of(Some(path), storage.read(path).ok().as_deref())).collect();
    let path = manager.session_file().unwrap_or_default().to_owned();
    let current = storage.read(&path).ok();
    let (closed, store) = manager.close();
    let after = storage.read(&path).ok();
    let mut answer = Object::new();
    answer.set("files", Value::Array(files.into()));
    if after != current {
        answer.set("after_close", file_of(None, after.as_deref()));
    }
    for (key, object) in [("returns", returns), ("op_errors", errors), ("snapshots", snapshots)] {
        if !object.is_empty() {
            answer.set(key, Value::Object(object));
        }
    }
    if let Err(error) = closed {
        answer.set("close_error", Value::string(error.message));
    }
    let blob = |(name, bytes): (&str, &[u8])| {
        let members = [("sha256", Value::string(name)), ("bytes", Value::Number(bytes.len() as f64))];
        Value::Object(members.into_iter().collect())
    };
    let blobs: Vec<Value> = store.added().iter().map(blob).collect();
    if !blobs.is_empty() {
        answer.set("blobs", Value::Array(blobs.into()));
    }
    Value::Object(answer)
}

/// `{"name"?,"exists","lines"?,"no_final_newline"?}`
fn file_of(path: Option<&str>, bytes: Option<&[u8]>) -> Value {
    let mut file = Object::new();
    if let Some(path) = path {
        file.set("name", Value::string(path.rsplit('/').next().unwrap_or(path)));
    }
    file.set("exists", Value::Bool(bytes.is_some()));
    if let Some(bytes) = bytes {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let ended = lines.pop_if(|last| last.is_empty()).is_some();
        let text = |line: &[u8]| Value::string(String::from_utf8_lossy(line).into_owned());
        file.set("lines", Value::Array(lines.into_iter().map(text).collect::<Vec<_>>().into()));
        if !ended {
            file.set("no_final_newline", Value::Bool(true));
        }
    }
    Value::Object(file)
}

/// A world in which everything comes from the seed, and no time passes.
struct Fixed {
    ids: Seeded,
    now: JsString,
}

impl IdSource for Fixed {
    fn next_id(&mut self) -> JsString {
        self.ids.next_id()
    }
}

impl World for Fixed {
    /// In the form of a UUID of version 7.
    fn session_id(&mut self) -> JsString {
        let [a, b, c, d] = [(); 4].map(|()| self.ids.next_id().to_string());
        format!("{a}-{}-7{}-8{}-{}{d}", &b[..4], &b[5..], &c[..3], &c[4..]).into()
    }
    fn now(&mut self) -> JsString {
        self.now.clone()
    }
}
