//! `why ID-OR-PATH`: why a session is not listed, not resumable, not migrated: gjc's decisions about it, step by step.

use super::check::options;
use super::list::no_agent_directory;
use super::{Console, Failure, Status};
use crate::agent::layout::{BLOBS, is_transcript_name};
use crate::agent::locate::{Part, part_of};
use crate::agent::walk::show;
use crate::agent::why::{Chain, Reported, why};
use crate::agent::world::World;
use crate::check::run::{self, Depth, Target};
use crate::fsys::host::ThisHost;
use crate::fsys::{Fs, Kind, Real};
use crate::render::why as render;
use crate::session::discovery::resolve::is_path_like;
use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Arguments of `why`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Steps: found, regular file, header, workspace, scope, binding, modes, receipts, tombstones, shadowing, strict reader, \
managed reader, bounded reader, listing, picker, open. The first one at which gjc turns away is the last one shown. Nothing is written. \
In brackets: the section of the notes of the format. Exit status: 0 gjc opens the session, 4 it turns away or there is no such session, 16 several sessions begin with ID."
)]
pub struct Args {
    /// Session id or the beginning of one, or path of a transcript
    #[arg(value_name = "ID-OR-PATH")]
    pub session: OsString,
    /// Agent directory (default: the one the path lies in, else the user's own)
    #[arg(long, value_name = "DIR")]
    pub agent_dir: Option<PathBuf>,
}

/// Prints the chain; exit bit 4 when gjc turns away somewhere.
///
/// # Errors
/// No home can be trusted, there is no agent directory to look for an id in, or a directory is named.
pub fn run(args: &Args, console: &mut Console) -> Result<Status, Failure> {
    let path = console.environment.current_dir.join(&args.session);
    let is_directory = Real.stat(&path).is_ok_and(|meta| meta.kind == Kind::Directory);
    // A directory with the name of a transcript stands in gjc's way; any other is a misunderstanding.
    if args.session.is_empty() || is_directory && !is_transcript_name(args.session.as_encoded_bytes()) {
        let hint = "name a session id or a transcript; `gjc-fsck list` shows the sessions";
        let what =
            if args.session.is_empty() { "nothing is named".to_owned() } else { format!("{}: this is a directory", show(&args.session)) };
        return Err(Failure::Usage(format!("{what}; {hint}")));
    }
    let inferred = match args.agent_dir {
        None => path.parent().and_then(|directory| part_of(&Real, directory)),
        Some(_) => None,
    };
    let inferred = match inferred {
        Some(Part::Directory { agent, .. }) => Some(agent),
        Some(Part::Agent(_)) | None => None,
    };
    if let Some(agent) = &inferred {
        console.note(&format!("agent directory taken from the path: {}", show(agent.as_os_str())));
    }
    // A file that lies outside managed storage needs no home to be judged.
    let homeless = args.agent_dir.is_none() && console.environment.location(&Real).is_err() && Real.lstat(&path).is_ok();
    let inferred = inferred.or_else(|| path.parent().filter(|_| homeless).map(Path::to_owned));
    let world = console.world(&Real, &ThisHost, args.agent_dir.as_deref().or(inferred.as_deref()))?;
    let is_id = !is_path_like(&args.session) && Real.lstat(&path).is_err();
    if is_id && !world.fs.present(&world.agent_dir).unwrap_or(true) {
        return Err(no_agent_directory(&world.agent_dir));
    }
    let mut chain = why(&world, &args.session);
    chain.reported = reported(&world, &chain, console);
    let layout = console.layout();
    console.answer(&chain, || render::text(&chain, layout), || render::concise(&chain))?;
    Ok(match chain.stop() {
        None => Status::CLEAN,
        Some(step) if step.answer == "ambiguous" => Status::USAGE,
        Some(_) => Status::FINDINGS,
    })
}

/// What must be checked so that the check says of a transcript all that it would say of it in its storage: the file itself, to the
/// end; the directory it lies in, with which other findings come; and the whole storage where a step looks beyond that.
fn targets_of(world: &World<'_>, chain: &Chain, path: &Path) -> Vec<(PathBuf, Depth)> {
    const OF_THE_STORAGE: [&str; 5] = ["receipts", "tombstones", "shadowing", "listing", "open"];
    let Some(Part::Directory { directory, .. }) = path.parent().and_then(|directory| part_of(&Real, directory)) else {
        return vec![(path.to_owned(), Depth::Full)];
    };
    let beyond = chain.stop().is_some_and(|step| OF_THE_STORAGE.contains(&step.step));
    // What is judged as if it lay elsewhere is judged from its root.
    match (world.is_copy, beyond) {
        (true, _) => vec![(world.agent_dir.clone(), Depth::Quick)],
        (false, true) => vec![(path.to_owned(), Depth::Full), (world.agent_dir.clone(), Depth::Quick)],
        (false, false) => vec![(path.to_owned(), Depth::Full), (directory, Depth::Quick)],
    }
}

/// What the check reports about the file and about what gjc turned away at; the worst first.
fn reported(world: &World<'_>, chain: &Chain, console: &Console) -> Vec<Reported> {
    let Some(path) = &chain.file else { return Vec::new() };
    let decided = chain.stop().into_iter().flat_map(|step| &step.evidence).map(|seen| seen.path.clone());
    let mut wanted: BTreeSet<String> = decided.chain([show(path.as_os_str())]).collect();
    wanted.extend(Real.realpath(path).map(|real| show(real.as_os_str())));
    let mut codes: IndexMap<&'static str, Reported> = IndexMap::new();
    for (target, depth) in targets_of(world, chain, path) {
        // A code that an earlier look counted is not counted again.
        for (code, one) in reported_of(world, &target, depth, &wanted, console) {
            codes.entry(code).or_insert(one);
        }
    }
    let mut reported: Vec<Reported> = codes.into_values().collect();
    reported.sort_by_key(|one| std::cmp::Reverse(one.severity));
    reported
}

/// What the check of one target reports about these paths.
fn reported_of(
    world: &World<'_>,
    target: &Path,
    depth: Depth,
    wanted: &BTreeSet<String>,
    console: &Console,
) -> IndexMap<&'static str, Reported> {
    let target = Real.realpath(target).unwrap_or_else(|_| target.to_owned());
    let name = show(target.as_os_str());
    let mut options = options(depth, console);
    // Of its own storage a check knows the blobs.
    let blobs = world.agent_dir.join(BLOBS);
    if target != world.agent_dir
        && target.starts_with(&world.agent_dir)
        && Real.lstat(&blobs).is_ok_and(|meta| meta.kind == Kind::Directory)
    {
        options.blobs = Some(blobs);
    }
    let run = run::run(vec![Target::Path(target)], &options, &Real, &|_| {});
    let mut codes = IndexMap::new();
    for finding in &run.findings {
        // Of a directory the check names what lies in it.
        let named = match &*finding.place.path {
            "." => name.clone(),
            path if path == name => name.clone(),
            path => format!("{name}/{path}"),
        };
        if wanted.contains(&named) {
            let (code, severity, line) = (finding.code.name, finding.severity, finding.place.line);
            codes.entry(code).or_insert(Reported { code, severity, line, count: 0 }).count += 1;
        }
    }
    codes
}
