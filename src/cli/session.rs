//! `session run SCRIPT`: the reference session manager, driven by a script of operations. Nothing is written: the
//! transcript goes to standard output, blobs stay in memory.

use super::options::Format;
use super::{Console, Failure, Status};
use crate::agent::blob_directory::BlobDirectory;
use crate::fsys::input;
use crate::json::{JsString, Object, Value, stringify};
use crate::session::manager::{Manager, OpError, World};
use crate::session::place::Place;
use crate::session::script::{Did, Runner};
use crate::session::storage::{Memory, SessionStorage};
use crate::transcript::blobs::{BlobSource, NoStore, Overlay};
use crate::transcript::migrate::{IdSource, Seeded};
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
createBranchedSession, snapshot.")]
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
            let below = BlobDirectory::open(&path).map_err(|error| Failure::Operational(error.to_string()))?;
            run_script(args, Overlay::new(below), console)
        }
        None => run_script(args, Overlay::new(NoStore), console),
    }
}

fn run_script<S: BlobSource>(args: &Run, store: Overlay<S>, console: &mut Console) -> Result<Status, Failure> {
    let script = read(&args.script)?;
    let files = Memory::new();
    let world = Fixed { ids: Seeded::new(args.seed), now: args.now.as_str().into() };
    let place = Place::explicit(args.cwd.as_str(), args.directory.as_str(), console.options.gjc);
    let manager = match &args.open {
        None => Manager::create(world, store, &files, place, None).map_err(|error| Failure::Refused(error.to_string()))?,
        Some(path) => {
            let refused = |why: &dyn std::fmt::Display| Failure::Refused(format!("{}: {why}", path.display()));
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let inside = format!("{}/{name}", args.directory);
            files.write(&inside, &read(path)?).map_err(|error| refused(&error))?;
            Manager::open(world, store, &files, place, inside).map_err(|error| refused(&error))?
        }
    };

    let mut runner = Runner::new(manager);
    let mut did = Vec::new();
    let lines = script.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    for (number, line) in lines {
        let wrong = |why: &str| Failure::Usage(format!("{}:{}: {why}", args.script.display(), number + 1));
        let op = Value::parse(line).ok_or_else(|| wrong("this is no JSON"))?;
        did.push(runner.run(&op).map_err(|why| wrong(&why.to_string()))?);
    }

    let manager = runner.into_manager();
    let threw = did.iter().any(|did| matches!(did, Did::Threw(_)));
    if args.json || console.options.format == Format::Json {
        let mut answer = Vec::new();
        stringify::write(&answer_of(&did, manager, &files), &mut answer);
        answer.push(b'\n');
        console.out().write_all(&answer)?;
    } else {
        for (number, error) in did.iter().enumerate().filter_map(|(number, did)| Some((number, threw_of(did)?))) {
            console.note(&format!("operation {number} threw {}: {error}", error.class));
        }
        let path = manager.session_file().unwrap_or_default().to_owned();
        if let (Err(error), _) = manager.close() {
            console.note(&format!("closing threw {}: {error}", error.class));
        }
        let bytes = files.read(&path).ok();
        if bytes.is_none() {
            console.note("nothing was written yet: a session reaches the disk with its first assistant message, or by ensureOnDisk");
        }
        console.out().write_all(&bytes.unwrap_or_default())?;
    }
    Ok(if threw { Status::FINDINGS } else { Status::CLEAN })
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
