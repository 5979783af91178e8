//! `repair [PATH]`: copies legacy sessions into the layout that gjc uses now, as gjc itself documents it, with a proof; and
//! `repair --salvage`: what can be read of one damaged transcript, in a new file.

use super::console::quoted;
use super::list::{named, no_agent_directory};
use super::{Console, Failure, Status, destination};
use crate::agent::layout::is_transcript_name;
use crate::agent::locate::{Part, part_of};
use crate::agent::walk::show;
use crate::fsys::host::ThisHost;
use crate::fsys::output::NewFile;
use crate::fsys::{Change, Errno, Fs, Kind, Real, Sha256Reader, Watched, input};
use crate::render::repair as render;
use crate::repair::apply::{Applied, Made, apply};
use crate::repair::outside::uuid_of;
use crate::repair::plan::{self, Plan, ScopePlan, Wanted, Wish, plan};
use crate::repair::proof::{self, Proof};
use crate::repair::salvage::{self, Salvage};
use crate::repair::{Ground, Outside, Policy};
use crate::transcript::inspect::Options;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Arguments of `repair`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Without --apply nothing is written. What is done is gjc's own copy-retain migration: each legacy session and its artifacts \
are copied under a lock, never over anything, and the old files keep their bytes, modes and times. A repair that is stopped or crashes at \
any point can be run again; a lock that it leaves ends after 60 seconds. Exit status, summed: 1 a copy was written, 4 a session was left \
alone (or a proof no longer holds), 8 something could not be read or written."
)]
pub struct Args {
    /// Agent directory, scope, legacy directory or legacy transcript (default: the user's agent directory)
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Print what would be done (the default)
    #[arg(long, group = "doing")]
    pub plan: bool,
    /// Do it: what PLAN says, refusing what changed since, or what a plan made now says
    #[arg(long, group = "doing", value_name = "PLAN", num_args = 0..=1)]
    pub apply: Option<Option<PathBuf>>,
    /// Look again at everything that a proof says, of --proof or of --salvage
    #[arg(long, group = "doing", value_name = "PROOF", conflicts_with = "path")]
    pub verify: Option<PathBuf>,
    /// Write every record of FILE that is still complete into a new transcript below -o DIR, with a proof; any transcript, anywhere
    #[arg(long, group = "doing", value_name = "FILE", conflicts_with = "path")]
    pub salvage: Option<PathBuf>,
    /// With --plan: write the plan to this new file as well. With --salvage: the directory of the new transcript
    #[arg(short = 'o', long = "out", value_name = "NEW")]
    pub out: Option<PathBuf>,
    /// gjc's setting session.directoryMigration
    #[arg(long, value_enum, default_value_t = PolicyName::CopyRetain, value_name = "POLICY")]
    pub policy: PolicyName,
    /// Make the directories on the way owner-only first, as gjc does; without it a scope that needs it is refused
    #[arg(long)]
    pub secure_modes: bool,
    /// Write a proof of each copied session into this directory
    #[arg(long, value_name = "DIR")]
    pub proof: Option<PathBuf>,
}

/// Values of gjc's setting.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyName {
    /// Copy, and keep the old files
    CopyRetain,
    /// Leave legacy sessions where they are
    Disabled,
}

/// Plans, applies or verifies.
///
/// # Errors
/// PATH, plan or proof cannot be read; the files belong to somebody else; a proof cannot be written.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    if args.out.is_some() && (args.apply.is_some() || args.verify.is_some()) {
        return Err(Failure::Usage("-o goes with --plan: it names the file that the plan is written to".into()));
    }
    if args.proof.is_some() && args.apply.is_none() {
        return Err(Failure::Usage("--proof goes with --apply: there is nothing to prove without it".into()));
    }
    if let Some(path) = &args.verify {
        return verify(path, console);
    }
    if let Some(path) = &args.salvage {
        let Some(directory) = &args.out else {
            return Err(Failure::Usage("--salvage writes a new transcript: name its directory with -o DIR".into()));
        };
        return salvage(path, directory, console);
    }
    if console.options.assume_root.is_some() {
        return Err(Failure::Usage("a copied agent directory (--assume-root) is judged only: receipts record where it really lies".into()));
    }
    let given = match &args.apply {
        Some(Some(path)) => Some(read_plan(path)?),
        _ => None,
    };
    let (wanted, agent) = wanted(args, given.as_ref(), console)?;
    let world = console.world(&Real, &ThisHost, agent.as_deref())?;
    if !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let storage = [world.canonical_root(&world.agent_dir), world.canonical_root(&world.sessions_root)];
    if let Some(file) = &args.out {
        destination::outside_storage(&Real, &console.environment.current_dir, file, &storage)?;
        destination::outside(console, file)?;
    }
    let proofs = args.proof.as_deref().map(|directory| target(directory, &storage, console)).transpose()?;
    let policy = match args.policy {
        PolicyName::CopyRetain => Policy::CopyRetain,
        PolicyName::Disabled => Policy::Disabled,
    };
    let wish = Wish { policy, secure_modes: args.secure_modes };
    if given.is_some() && policy == Policy::Disabled {
        return Err(Failure::Usage("a plan already says its policy; give --policy where it is made".into()));
    }
    let owner = world.uid;
    let machine = Machine::new();
    let ground = Ground { fs: &Real, world, outside: &machine };
    let made = if given.is_some() { Made::Earlier } else { Made::Now };
    let planned = given.unwrap_or_else(|| plan(&ground.now(), &wanted, wish));
    if args.apply.is_none() {
        return show_plan(args, &planned, console);
    }
    if owner != console.environment.uid {
        let why = format!(
            "this agent directory belongs to user {owner}; what another user writes there gjc refuses to read: run this as that user"
        );
        return Err(Failure::Operational(why));
    }
    if planned.scopes.iter().any(ScopePlan::writes)
        && let Some(directory) = &proofs
    {
        directory.make()?;
    }
    let mut unwritten = Vec::new();
    let applied = apply(&ground, &planned, made, args.secure_modes, &mut |proof| {
        if let Some(directory) = &proofs
            && let Err(failure) = write_json(&directory.path.join(proof.file_name()), proof)
        {
            unwritten.push(failure.to_string());
        }
    });
    if let Some(directory) = proofs.as_ref().filter(|_| applied.copied() == 0) {
        directory.unmake();
    }
    show_applied(args, &planned, &applied, console)?;
    for failure in &unwritten {
        console.note(&format!("the session is copied, but its proof could not be written: {failure}"));
    }
    let copied = if applied.copied() > 0 { Status::REPAIRED } else { Status::CLEAN };
    let left = applied.refusals().any(|refusal| refusal.code != "legacy_migration_disabled");
    let left = if left { Status::FINDINGS } else { Status::CLEAN };
    let failed = if unwritten.is_empty() { Status::CLEAN } else { Status::OPERATIONAL };
    Ok(copied | left | failed | of_unread(&planned))
}

/// What is looked at, and the agent directory that it lies in.
fn wanted(args: &Args, given: Option<&Plan>, console: &Console) -> Result<(Wanted, Option<PathBuf>), Failure> {
    if let Some(plan) = given {
        if args.path.is_some() {
            return Err(Failure::Usage("a plan says itself what it is about: leave PATH out".into()));
        }
        return Ok((Wanted::All, Some(PathBuf::from(&plan.agent_dir))));
    }
    let Some(path) = &args.path else { return Ok((Wanted::All, None)) };
    let there = console.environment.current_dir.join(path);
    let transcript = path.file_name().is_some_and(|name| is_transcript_name(name.as_encoded_bytes()));
    if transcript && Real.lstat(&there).is_ok_and(|meta| meta.kind == Kind::File) {
        let real = Real.realpath(&there).map_err(|error| Failure::Operational(error.to_string()))?;
        if let Some(Part::Directory { agent, .. }) = real.parent().and_then(|directory| part_of(&Real, directory)) {
            return Ok((Wanted::Transcript(real), Some(agent)));
        }
        return Err(Failure::Usage(format!(
            "{}: it lies in no agent directory; `--salvage` mends a transcript anywhere",
            show(path.as_os_str())
        )));
    }
    Ok(match named(path, console)? {
        Part::Agent(agent) => (Wanted::All, Some(agent)),
        Part::Directory { agent, directory } => (Wanted::Directory(directory), Some(agent)),
    })
}

fn show_plan(args: &Args, planned: &Plan, console: &mut Console) -> Result<Status, Failure> {
    if let Some(path) = &args.out {
        write_json(path, planned)?;
        console.note(&format!("the plan is written to {}", show(path.as_os_str())));
    }
    let kept = args.out.as_deref().map(quoted);
    let layout = console.layout();
    answer(console, planned, || render::plan(planned, kept.as_deref(), layout))?;
    let refused = |refused: &Option<plan::Refusal>| refused.as_ref().is_some_and(|refusal| refusal.code != "legacy_migration_disabled");
    let left = planned.scopes.iter().any(|scope| {
        refused(&scope.refused)
            || scope.sessions.iter().any(|session| refused(&session.refused))
            || scope.leftovers.iter().any(|leftover| refused(&leftover.refused))
    }) || !planned.invalid.is_empty();
    Ok(if left { Status::FINDINGS } else { Status::CLEAN } | of_unread(planned))
}

fn of_unread(planned: &Plan) -> Status {
    if planned.unread.is_empty() { Status::CLEAN } else { Status::OPERATIONAL }
}

fn show_applied(args: &Args, planned: &Plan, applied: &Applied, console: &mut Console) -> Result<(), Failure> {
    let layout = console.layout();
    answer(console, applied, || render::applied(applied, planned, args.proof.as_deref(), layout))
}

fn verify(path: &Path, console: &mut Console) -> Result<Status, Failure> {
    let bytes = read_bytes(path, plan::LIMIT)?;
    let schema = parse_json::<Form>(path, "a proof", &bytes)?.schema;
    let (what, checked) = match &*schema {
        proof::SCHEMA => {
            let proof: Proof = parse_json(path, "a proof", &bytes)?;
            (format!("the proof of session {}", proof.session_id), proof::verify(&Real, &proof))
        }
        salvage::SCHEMA => {
            let proof: Salvage = parse_json(path, "a salvage proof", &bytes)?;
            (format!("the salvage proof of {}", proof.copy.path), salvage::verify(&Real, &proof))
        }
        _ => {
            let forms = format!("`{}` nor `{}`", proof::SCHEMA, salvage::SCHEMA);
            return Err(Failure::Usage(format!("{}: a proof of neither form, {forms}", show(path.as_os_str()))));
        }
    };
    let layout = console.layout();
    answer(console, &checked, || render::verified(&what, &checked, layout))?;
    Ok(if checked.iter().all(|one| one.holds) { Status::CLEAN } else { Status::FINDINGS })
}

/// Writes the mended copy and its proof. Nothing is written when there is nothing to mend.
fn salvage(path: &Path, directory: &Path, console: &mut Console) -> Result<Status, Failure> {
    let source = Real.realpath(&console.environment.current_dir.join(path)).map_err(|error| not_there("file", path, &error))?;
    let made = target(directory, &[], console)?;
    made.make()?;
    let salvaged = salvage_into(&source, &made.path, console);
    // Where nothing was written; else it is not empty.
    made.unmake();
    salvaged
}

fn salvage_into(source: &Path, directory: &Path, console: &mut Console) -> Result<Status, Failure> {
    let name = source.file_name().unwrap_or_default();
    let to = directory.join(name);
    let mut proof_name = name.to_owned();
    proof_name.push(".salvage.json");
    let options = Options { release: console.options.gjc, budget: super::transcript::budget(console) };
    let unread = |why: crate::fsys::Refusal| Failure::unread(source, &why);
    let mut copy = NewFile::create(&to, Some(source))?;
    let mut reader = Sha256Reader::new(Watched::open(&Real, source).map_err(unread)?);
    let (mut hash, mut size) = (Sha256::new(), 0);
    let mended = salvage::mend(&mut reader, &mut |line| {
        hash.update(line);
        size += line.len() as u64;
        copy.write_all(line)
    });
    let mended = mended.map_err(|error| match error {
        salvage::Unmendable::Read(error) => Failure::at(source, &error),
        salvage::Unmendable::Write(error) => Failure::at(&to, &error),
        utf16 @ salvage::Unmendable::Utf16 => Failure::Refused(format!("{}: {utf16}", show(source.as_os_str()))),
    })?;
    let (source_hash, source_size, watched) = reader.finish();
    watched.finish().map_err(unread)?;
    let hex = |hash: &[u8]| data_encoding::HEXLOWER.encode(hash);
    let hashed = |path: &Path, size: u64, hash: &[u8]| salvage::Hashed { path: show(path.as_os_str()), size, sha256: hex(hash) };
    let copied = hashed(&to, size, &hash.finalize());
    let original = hashed(source, source_size, &source_hash);
    let before = Watched::open(&Real, source).map_err(unread)?;
    let before = salvage::read(before, source_size, options).map_err(|error| Failure::at(source, &error))?;
    if mended.lines.is_empty() {
        let why = "no complete record is in this file: there is nothing to salvage, and nothing is written";
        return Err(Failure::Refused(format!("{}: {why}", show(source.as_os_str()))));
    }
    let layout = console.layout();
    if copied.sha256 == original.sha256 {
        answer(console, &before, || render::nothing_to_salvage(&original, &before, layout))?;
        return Ok(if before.because.is_some() { Status::FINDINGS } else { Status::CLEAN });
    }
    // Both names must be free before one of them is taken.
    let proof = directory.join(proof_name);
    let proof_file = NewFile::create(&proof, Some(source))?;
    copy.publish()?;
    let after = input::open(&to).and_then(|file| salvage::read(file, size, options)).map_err(|error| Failure::at(&to, &error))?;
    let tool = env!("CARGO_PKG_VERSION").to_owned();
    let done = Salvage { schema: salvage::SCHEMA.to_owned(), tool, source: original, copy: copied, before, after, mended };
    put_json(proof_file, &proof, &done)?;
    answer(console, &done, || render::salvaged(&done, &proof, layout))?;
    Ok(Status::REPAIRED | if done.after.because.is_some() { Status::FINDINGS } else { Status::CLEAN })
}

/// A directory that new files go into.
struct Target {
    /// Without links.
    path: PathBuf,
    is_missing: bool,
}

impl Target {
    /// Makes it, owner-only, where it is missing.
    fn make(&self) -> Result<(), Failure> {
        if !self.is_missing {
            return Ok(());
        }
        let why = |error: crate::fsys::Error| format!("{}: the folder cannot be made: {}", show(self.path.as_os_str()), error.token());
        Real.make_dir(&self.path, 0o700).map_err(|error| Failure::Operational(why(error)))
    }
    /// Takes it away again, if it was made and is empty.
    fn unmake(&self) {
        if self.is_missing {
            // An empty folder that stays harms nothing.
            let _ = Real.remove_dir(&self.path);
        }
    }
}

/// The directory that is named for new files: it is there, or its last component is missing. It lies neither in `storage` nor
/// in the storage of this user, nor in any other that its content tells. Nothing is made yet.
fn target(named: &Path, storage: &[PathBuf], console: &Console) -> Result<Target, Failure> {
    let full = console.environment.current_dir.join(named);
    let found = match Real.realpath(&full) {
        Ok(path) => {
            let meta = Real.stat(&path).map_err(|error| Failure::Operational(error.to_string()))?;
            if meta.kind != Kind::Directory {
                return Err(Failure::Usage(format!("{}: this is no folder, and new files go into one", show(named.as_os_str()))));
            }
            Target { path, is_missing: false }
        }
        Err(error) => {
            let parts = full.parent().zip(full.file_name()).filter(|_| error.errno == Errno::NOENT);
            let (parent, name) = parts.ok_or_else(|| not_there("folder", named, &error))?;
            let real = Real.realpath(parent).map_err(|error| not_there("folder", parent, &error))?;
            Target { path: real.join(name), is_missing: true }
        }
    };
    let own = console.location(&Real, None).map(|own| destination::roots(&Real, &own)).unwrap_or_default();
    destination::folder_outside_storage(&Real, named, &found.path, &[storage, &own].concat())?;
    Ok(found)
}

/// What was named and cannot be found, in words.
fn not_there(what: &str, named: &Path, error: &crate::fsys::Error) -> Failure {
    let name = show(named.as_os_str());
    Failure::Operational(match error.errno {
        Errno::NOENT => format!("{name}: there is no {what} of this name"),
        _ => format!("{name}: the {what} cannot be reached: {}", error.token()),
    })
}

/// Writes the answer: as JSON where that is asked for, else for people.
fn answer(console: &mut Console, value: &impl Serialize, text: impl Fn() -> String) -> Result<(), Failure> {
    Ok(console.answer(value, &text, &text)?)
}

fn read_plan(path: &Path) -> Result<Plan, Failure> {
    if Real.stat(path).is_ok_and(|meta| meta.kind == Kind::Directory) {
        let name = show(path.as_os_str());
        return Err(Failure::Usage(format!(
            "{name}: --apply takes a plan file; write `gjc-fsck repair {name} --apply` to repair a directory"
        )));
    }
    let plan: Plan = read_json(path, "a plan", plan::LIMIT)?;
    if plan.schema != plan::SCHEMA {
        return Err(Failure::Usage(format!("{}: a plan of another form than `{}`", show(path.as_os_str()), plan::SCHEMA)));
    }
    Ok(plan)
}

fn read_json<T: DeserializeOwned>(path: &Path, what: &str, limit: u64) -> Result<T, Failure> {
    parse_json(path, what, &read_bytes(path, limit)?)
}

/// The form that a proof says it has.
#[derive(serde::Deserialize)]
struct Form {
    schema: String,
}

fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let file = input::open(path).map_err(|error| Failure::at(path, &error))?;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::at(path, &error))?;
    Ok(bytes)
}

fn parse_json<T: DeserializeOwned>(path: &Path, what: &str, bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|error| Failure::Usage(format!("{}: this is not {what}: {error}", show(path.as_os_str()))))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    put_json(NewFile::create(path, None)?, path, value)
}

/// Fills a file that is begun, and gives it its name.
fn put_json(mut file: NewFile, path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut file, value).map_err(std::io::Error::from).map_err(|error| Failure::at(path, &error))?;
    file.write_all(b"\n").map_err(|error| Failure::at(path, &error))?;
    Ok(file.publish()?)
}

/// This machine and this process.
struct Machine {
    process: String,
}

impl Machine {
    fn new() -> Self {
        Machine { process: chance() }
    }
}

/// A UUID from the random keys that the standard library gives each hash map.
fn chance() -> String {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    uuid_of(half() << 64 | half())
}

impl Outside for Machine {
    #[allow(clippy::disallowed_methods, reason = "a lock is renewed by the clock of this moment")]
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
    fn uuid(&self) -> String {
        chance()
    }
    fn wait(&self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }
    fn pid(&self) -> u32 {
        std::process::id()
    }
    fn process_start_id(&self) -> &str {
        &self.process
    }
}
