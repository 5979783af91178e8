//! The check of what a user names: an agent directory, a scope, a folder of transcripts, a transcript, standard input.
//!
//! `run` decides what each target is, walks it without following a link and without opening anything for writing, and
//! gives every object to the pass that judges it. Transcripts are checked in parallel; what comes out is in order of path.

mod agent;
mod directory;
mod file;
pub mod part;
mod refs;
mod site;
/// Whether a folder held nothing that could be judged.
fn nothing_was_read(part: &Part) -> bool {
    part.findings.is_empty() && part.outcomes.is_empty()
}

#[cfg(test)]
mod tests;

pub use site::Site;

use self::directory::Work;
use self::file::Where;
use self::part::{Part, Tally};
use super::operational::{self, codes};
use super::{blob, scope};
use crate::agent::blobs::Store;
use crate::agent::candidates::Cwds;
use crate::agent::layout::{self, BINDING, INTERNAL, SESSIONS, SessionsName, sessions_name};
use crate::agent::legacy::Surroundings;
use crate::agent::locate::Location;
use crate::agent::walk::{self, Limits, Listing};
use crate::finding::{Common, Finding, Gauge, Mute, Outcome, Release, Sink};
use crate::fsys::host::{Liveness, Nowhere, ThisHost};
use crate::fsys::{Errno, Error, Fs, Kind, Meta};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What is to be checked.
pub enum Target {
    /// A path as the user named it (absolute, or relative to [`Options::current_dir`]).
    Path(PathBuf),
    /// The user's own storage, as [`crate::agent::locate`] found it.
    Agent(Location),
    /// A transcript that comes as a stream; its findings lie at `-`.
    Stream(Box<dyn Read + Send>),
}

/// How deep a check goes (design §2, *quick* and *connectivity only*).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Depth {
    /// Everything.
    #[default]
    Full,
    /// No context, no tool pairing, no blob hashing.
    Quick,
    /// Header, ids, parents, leaf and references only.
    Connectivity,
}

/// What a run is told. There is no clock and no environment in here but what the caller put in.
#[derive(Clone, Debug)]
pub struct Options {
    /// The release whose behaviour is asked for.
    pub release: Release,
    /// How deep to go.
    pub depth: Depth,
    /// A blob store named by the user; else the one of the checked agent directory.
    pub blobs: Option<PathBuf>,
    /// Judge the directory as if it lay here.
    pub assume_root: Option<PathBuf>,
    /// `--as-uid`.
    pub as_uid: Option<u32>,
    /// The effective user of this process.
    pub uid: u32,
    /// Worker threads; none = one a core.
    pub jobs: Option<usize>,
    /// The time of the run in nanoseconds since the epoch: ages of residue are measured against it.
    pub now_ns: i128,
    /// What relative targets are relative to.
    pub current_dir: PathBuf,
    /// Home and temp directory of the user the check speaks for; empty = not known.
    pub around: Surroundings,
    /// Bytes that a rebuilt context may have.
    pub budget: u64,
    /// A code that is switched off.
    #[doc(hidden)]
    pub mute: Mute,
    /// Measure every rebuilt context, not only one that may be too large.
    pub weigh: bool,
}

impl Options {
    /// A full check for this release by this user at this time, of paths relative to `/`, told nothing else.
    pub fn new(release: Release, uid: u32, now_ns: i128) -> Self {
        Options {
            release,
            depth: Depth::Full,
            blobs: None,
            assume_root: None,
            as_uid: None,
            uid,
            jobs: None,
            now_ns,
            current_dir: "/".into(),
            around: Surroundings::default(),
            budget: crate::transcript::context::budget::DEFAULT,
            mute: Mute::default(),
            weigh: false,
        }
    }
}

/// Why a check speaks for the user it speaks for (design §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// `--as-uid`.
    Asked,
    /// Run as root: the owner of the agent directory.
    Owner,
    /// The effective user.
    Effective,
}

/// What a run found. Nothing is decided here: the report filters, orders and counts.
#[derive(Default, Debug)]
pub struct Run {
    /// What was checked, as it was named.
    pub root: String,
    /// Whom the check speaks for; none where users do not matter (a lone transcript).
    pub speaks_for: Option<(u32, Why)>,
    /// The blob store that was looked at, as it was named or found; none = blobs were not checked.
    pub blobs: Option<String>,
    /// Findings, in order of path.
    pub findings: Vec<Finding>,
    /// Gauges, in order of path.
    pub gauges: Vec<Gauge>,
    /// Transcripts, in order of path.
    pub outcomes: Vec<Outcome>,
}

/// How far a run is; totals grow while directories are still being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Transcripts done.
    pub done: u64,
    /// Transcripts known.
    pub total: u64,
    /// Bytes of transcripts done.
    pub bytes: u64,
}

/// What gjc does about a path that the user named and that holds nothing of it.
const NOT_ASKED: &str = "Nothing: no session storage of gjc was found here.";
/// What to do about it.
const NAME_SOMETHING: &str = "Check the spelling: `gjc-fsck PATH` takes an agent directory, a scope, a folder of transcripts or a \
                              transcript (a file whose name ends in .jsonl).";

/// Stack of a worker thread.
const STACK: usize = 16 << 20;

/// Checks the targets. Never fails: what cannot be read is a finding (`agent_dir_missing`, `object_unreadable`, …).
pub fn run(targets: Vec<Target>, options: &Options, fs: &dyn Fs, progress: &(dyn Fn(Progress) + Sync)) -> Run {
    run_on(&ThisHost, targets, options, fs, progress)
}

/// The same, on a host that answers what it is told to.
pub fn run_on(host: &dyn Liveness, targets: Vec<Target>, options: &Options, fs: &dyn Fs, progress: &(dyn Fn(Progress) + Sync)) -> Run {
    let tally = Tally::new(progress);
    let names: Vec<String> = targets.iter().map(Target::name).collect();
    let mut run = Run { root: names.join(" "), ..Run::default() };
    let several = targets.len() > 1;
    let work = || {
        for (target, name) in targets.into_iter().zip(&names) {
            let prefix = if several { name.as_str() } else { "" };
            let mut part = Checker { options, fs, host, tally: &tally, name, prefix }.target(target);
            part::shared_history(&mut part);
            run.speaks_for = run.speaks_for.or(part.speaks_for);
            run.blobs = run.blobs.take().or(part.store);
            append(&mut run.findings, part.findings);
            append(&mut run.gauges, part.gauges);
            append(&mut run.outcomes, part.outcomes);
        }
    };
    // Without threads of its own a run is slower and says the same. A worker that waits takes other work on top of its
    // stack, hence the size.
    match rayon::ThreadPoolBuilder::new().num_threads(options.jobs.unwrap_or(0)).stack_size(STACK).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
    run.outcomes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    run
}

/// Adds what comes behind; the first list is taken as it is, without a copy.
fn append<T>(all: &mut Vec<T>, mut more: Vec<T>) {
    if all.is_empty() { *all = more } else { all.append(&mut more) }
}

/// Checks a prompt history alone: that of an agent directory, or the database itself. Never fails, like [`run`].
pub fn history(path: &Path, options: &Options, fs: &dyn Fs) -> Run {
    let tally = Tally::new(&|_| {});
    let name = walk::show(path.as_os_str());
    let checker = Checker { options, fs, host: &ThisHost, tally: &tally, name: &name, prefix: "" };
    let named = options.current_dir.join(path);
    let mut part = match fs.realpath(&named).and_then(|real| fs.lstat(&real).map(|meta| (real, meta))) {
        Ok((real, meta)) => {
            let mut part = checker.part();
            let is_agent = meta.kind == Kind::Directory && real.file_name().is_none_or(|name| name != layout::HISTORY);
            let database = if is_agent { real.join(layout::HISTORY) } else { real };
            let root = database.parent().unwrap_or(&database).to_owned();
            let site = checker.site(&root, options.uid);
            match fs.lstat(&database) {
                // Here no walk of the agent directory names it.
                Ok(meta) if meta.kind.is_special() => super::history::not_a_file(&site, &database, meta.kind, &mut part),
                _ => super::history::check(&site, &database, &mut part),
            }
            part
        }
        Err(error) => checker.absent(&named, &error, Expected::Directory),
    };
    Run { root: name, findings: std::mem::take(&mut part.findings), ..Run::default() }
}

impl Target {
    /// The target as it was named.
    pub fn name(&self) -> String {
        match self {
            Target::Path(path) => walk::show(path.as_os_str()),
            Target::Agent(location) => walk::show(location.data.as_os_str()),
            Target::Stream(_) => "-".to_owned(),
        }
    }
}

/// What would stand at a path at which nothing can be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// The user's own agent directory.
    Own,
    Directory,
    Transcript,
}

/// What a directory is, by its name and by what is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Agent,
    Sessions,
    Scope,
    /// A legacy directory below a sessions root.
    Legacy,
    Folder,
}

impl Shape {
    fn of(listing: &Listing) -> Shape {
        let name = |path: &Path| path.file_name().unwrap_or_default().as_encoded_bytes().to_owned();
        let (own, parent) = (name(&listing.path), listing.path.parent().map(name).unwrap_or_default());
        let is = |object: &walk::Object, wanted: &[SessionsName]| {
            object.meta.kind == Kind::Directory && wanted.contains(&sessions_name(object.bytes()))
        };
        if sessions_name(&own) == SessionsName::Scope || listing.get(BINDING).is_some() || listing.get(INTERNAL).is_some() {
            Shape::Scope
        } else if own == SESSIONS.as_bytes() && listing.objects.iter().any(|o| is(o, &[SessionsName::Scope, SessionsName::Legacy])) {
            Shape::Sessions
        } else if sessions_name(&own) == SessionsName::Legacy && parent == SESSIONS.as_bytes() {
            Shape::Legacy
        } else if [SESSIONS, layout::BLOBS, layout::TERMINAL_SESSIONS, layout::HISTORY].iter().any(|name| listing.get(name).is_some()) {
            Shape::Agent
        } else {
            Shape::Folder
        }
    }
}

/// Blobs of a named store that what was checked refers to.
fn referenced_blobs(site: &Site<'_>, part: &mut Part) {
    if let Some(store) = site.store {
        let references = std::mem::take(&mut part.references);
        blob::store::judge_referenced(site, store, &references, part);
    }
}

/// One target on its way.
#[derive(Clone, Copy)]
struct Checker<'a> {
    options: &'a Options,
    fs: &'a dyn Fs,
    host: &'a dyn Liveness,
    tally: &'a Tally<'a>,
    /// The target as it was named.
    name: &'a str,
    /// What stands before relative paths; empty when there is one target only.
    prefix: &'a str,
}

impl<'a> Checker<'a> {
    fn target(&self, target: Target) -> Part {
        match target {
            Target::Stream(input) => self.stream(input),
            Target::Agent(location) => self.own(location),
            Target::Path(path) => self.path(&self.options.current_dir.join(path)),
        }
    }

    fn stream(&self, input: Box<dyn Read + Send>) -> Part {
        let path = Path::new("-");
        let mut part = self.part();
        let store = self.named_store(&mut part);
        let site = Site { prefix: "-", store: store.as_ref(), ..self.site(path, self.options.uid) };
        self.tally.expect(1);
        let checked = file::check_stream(&site, path, input);
        self.tally.done(checked.bytes);
        part.transcript(path, checked, false, &mut Common::default());
        part
    }

    /// The user's own storage: there is no doubt what it is.
    fn own(&self, mut location: Location) -> Part {
        // The agent directory of the scope code is the parent of the sessions root: under XDG that is not where the
        // configuration lies (spec 02 §1.1).
        let root = location.data.clone();
        let named = |part: &mut Part, push: &dyn Fn(&Site<'_>, &mut Part)| push(&self.site(&root, self.options.uid), part);
        let mut part = self.part();
        let looked = self.fs.realpath(&root).and_then(|real| self.fs.lstat(&real).map(|meta| (real, meta)));
        let (real, meta) = match looked {
            Ok(found) => found,
            Err(error) if error.errno == Errno::LOOP => {
                named(&mut part, &|site, part| scope::sessions_root_unavailable(site, &root, &error, part));
                return part;
            }
            Err(error) => return self.absent(&root, &error, Expected::Own),
        };
        if meta.kind != Kind::Directory {
            named(&mut part, &|site, part| scope::sessions_root_of_wrong_kind(site, &root, meta.kind, part));
            return part;
        }
        for other in [&mut location.agent_dir, &mut location.state, &mut location.cache] {
            *other = self.fs.realpath(other).unwrap_or_else(|_| other.clone());
        }
        location.data = real;
        match walk::list(self.fs, &location.data, &Limits::default()) {
            Ok(listing) => self.agent(&location, &listing),
            Err(error) => {
                named(&mut part, &|site, part| operational::unreadable(site, &error, part));
                part
            }
        }
    }

    /// Whatever the user named.
    fn path(&self, path: &Path) -> Part {
        let looked = self.fs.realpath(path).and_then(|real| self.fs.lstat(&real).map(|meta| (real, meta)));
        let (real, meta) = match looked {
            Ok(found) => found,
            Err(error) => {
                let is_transcript = layout::is_transcript_name(path.as_os_str().as_encoded_bytes());
                return self.absent(path, &error, if is_transcript { Expected::Transcript } else { Expected::Directory });
            }
        };
        if meta.kind.is_special() {
            // What the user names is meant to be a transcript: gjc fails to read it, and here it is not even opened.
            let mut part = self.part();
            let message = format!("The transcript is a {}; it was not opened.", meta.kind.noun());
            let site = Site { prefix: self.name, ..self.site(&real, self.options.uid) };
            part.push(Finding::new(&codes::READ_FAILED, site.place(&real), message));
            return part;
        }
        if meta.kind != Kind::Directory {
            let mut part = self.transcript(&real);
            if meta.kind.is_special() {
                // In a directory it is in the way; named, it is what should have been read, and nothing was.
                let site = Site { prefix: self.name, ..self.site(&real, self.options.uid) };
                let message = format!("It is a {}: it was not opened, and nothing is said of its content.", meta.kind.noun());
                part.push(Finding::new(&codes::READ_FAILED, site.place(&real), message));
            }
            return part;
        }
        let mut part = self.part();
        let listing = match walk::list(self.fs, &real, &Limits::default()) {
            Ok(listing) => listing,
            Err(error) => {
                operational::unreadable(&self.site(&real, self.options.uid), &error, &mut part);
                return part;
            }
        };
        let shape = Shape::of(&listing);
        if shape == Shape::Agent {
            return self.agent(&Location::explicit(real), &listing);
        }
        if shape == Shape::Folder
            && let Some((inner, listing)) = self.inner_agent(&listing)
        {
            let prefix = [self.prefix.trim_end_matches('/'), inner].join("/");
            let checker = Checker { prefix: prefix.trim_start_matches('/'), ..*self };
            return checker.agent(&Location::explicit(listing.path.clone()), &listing);
        }
        let speaks_for = self.speak_for(&listing.meta);
        let store = self.named_store(&mut part);
        let site = Site { store: store.as_ref(), ..self.site(&real, speaks_for.0) };
        let cwds = Cwds::default();
        let work = Work { site, tally: self.tally, all_references: false, cwds: &cwds, completed: &BTreeSet::new() };
        part.absorb(match shape {
            Shape::Sessions => agent::sessions(&work, &real),
            Shape::Scope => work.scope(&real),
            Shape::Legacy => work.plain(&real),
            Shape::Folder | Shape::Agent => work.folder(&real),
        });
        work.settle(&mut part);
        agent::unlisted(&site, &mut part);
        agent::owners(&site, &mut part);
        referenced_blobs(&site, &mut part);
        if shape == Shape::Folder && nothing_was_read(&part) {
            let message = format!("Nothing to check in {}: no transcript, scope or agent directory found.", self.name);
            part.push(Finding::new(&codes::AGENT_DIR_MISSING, site.place(&real), message).gjc(NOT_ASKED).help(NAME_SOMETHING));
        }
        // Owners and modes matter in managed storage; a folder of transcripts belongs to whom it may.
        part.speaks_for = (shape != Shape::Folder).then_some(speaks_for);
        part
    }

    /// A configuration root or a home was named: the agent directory in it is meant.
    fn inner_agent(&self, outer: &Listing) -> Option<(&'static str, Listing)> {
        ["agent", ".gjc/agent"].into_iter().find_map(|inner| {
            let listing = walk::list(self.fs, &outer.path.join(inner), &Limits::default()).ok()?;
            (Shape::of(&listing) == Shape::Agent).then_some((inner, listing))
        })
    }

    fn transcript(&self, path: &Path) -> Part {
        let mut part = self.part();
        let store = self.named_store(&mut part);
        // A lone file is called what the user called it.
        let site = Site { prefix: self.name, store: store.as_ref(), ..self.site(path, self.options.uid) };
        let cwds = Cwds::default();
        let work = Work { site, tally: self.tally, all_references: false, cwds: &cwds, completed: &BTreeSet::new() };
        part.absorb(work.transcript(path, Where::named(path)));
        work.settle(&mut part);
        referenced_blobs(&site, &mut part);
        part
    }

    fn agent(&self, location: &Location, listing: &Listing) -> Part {
        let speaks_for = self.speak_for(&listing.meta);
        let mut part = self.part();
        let site = self.site(&location.data, speaks_for.0);
        let store =
            if self.options.blobs.is_some() { self.named_store(&mut part) } else { self.own_store(&site, &location.blobs(), &mut part) };
        let site = Site { store: store.as_ref(), whole: true, ..site };
        // Without blobs there is nothing that a reference elsewhere could keep alive.
        let cwds = Cwds::default();
        let all_references = store.as_ref().is_some_and(|store| !store.is_empty());
        let work = Work { site, tally: self.tally, all_references, cwds: &cwds, completed: &BTreeSet::new() };
        part.absorb(agent::check(&work, location, listing));
        part.speaks_for = Some(speaks_for);
        part
    }

    /// A target that cannot be looked at.
    fn absent(&self, path: &Path, error: &Error, expected: Expected) -> Part {
        let mut part = self.part();
        let site = Site { prefix: self.name, ..self.site(path, self.options.uid) };
        let own = expected == Expected::Own;
        let gone = matches!(error.errno, Errno::NOENT | Errno::NOTDIR);
        let what = match (self.fs.lstat(path), self.fs.stat(path)) {
            // A pipe of the shell, such as `<(…)`: its link leads to no path.
            (_, Ok(meta)) => format!("a {} stands here that has no path; `gjc-fsck check -` reads standard input", meta.kind.noun()),
            (Ok(link), _) if link.kind == Kind::Symlink => "a dangling symlink stands here".to_owned(),
            _ => "nothing stands here".to_owned(),
        };
        let (code, message) = match (expected == Expected::Transcript, error.errno) {
            (true, Errno::NOENT) => (&codes::MISSING, format!("No transcript: {what}.")),
            (true, _) => (&codes::READ_FAILED, format!("The transcript cannot be read: {} answers {}.", error.op, error.token())),
            (false, _) if gone => {
                let hint = if own { " Name an agent directory as PATH, or set GJC_CODING_AGENT_DIR." } else { "" };
                (&codes::AGENT_DIR_MISSING, format!("No directory to check: {what}.{hint}"))
            }
            _ => (&codes::OBJECT_UNREADABLE, format!("Not judged: {} answers {}.", error.op, error.token())),
        };
        let mut finding = Finding::new(code, site.place(path), message);
        if *code == codes::AGENT_DIR_MISSING && !own {
            finding = finding.gjc(NOT_ASKED).help(NAME_SOMETHING);
        }
        part.push(finding);
        part
    }

    /// Whom the check of a directory speaks for (design §4).
    fn speak_for(&self, meta: &Meta) -> (u32, Why) {
        match self.options.as_uid {
            Some(uid) => (uid, Why::Asked),
            None if self.options.uid == 0 => (meta.uid, Why::Owner),
            None => (self.options.uid, Why::Effective),
        }
    }

    /// The store that `--blobs` names.
    fn named_store(&self, part: &mut Part) -> Option<Store<'a>> {
        let path = self.options.blobs.as_ref()?;
        let real = self.fs.realpath(&self.options.current_dir.join(path));
        let opened = real.and_then(|real| Store::open(self.fs, &real, &Limits::default(), self.options.depth == Depth::Full));
        match opened {
            Ok(store) => {
                part.store = Some(walk::show(path.as_os_str()));
                Some(store)
            }
            Err(error) => {
                operational::unreadable(&self.site(Path::new(""), self.options.uid), &error, part);
                None
            }
        }
    }

    /// The store of an agent directory. A link in its place is not followed: who keeps blobs elsewhere can name them.
    fn own_store(&self, site: &Site<'_>, path: &Path, part: &mut Part) -> Option<Store<'a>> {
        let opened = match self.fs.lstat(path) {
            Ok(meta) if meta.kind == Kind::Directory => Store::open(self.fs, path, &site.limits, self.options.depth == Depth::Full),
            Err(error) if error.errno == Errno::NOENT => Ok(Store::absent(self.fs, path)),
            Ok(meta) => {
                if !meta.kind.is_special() {
                    let message = format!("The blob store is a {} and was not looked at; name the store with --blobs.", meta.kind.noun());
                    part.push(Finding::new(&blob::codes::BLOB_FOREIGN_ENTRY, site.place(path), message));
                }
                return None;
            }
            Err(error) => Err(error),
        };
        match opened {
            Ok(store) => {
                part.store = Some(site.name(path).to_string());
                Some(store)
            }
            Err(error) => {
                operational::unreadable(site, &error, part);
                None
            }
        }
    }

    fn site<'s>(&'s self, root: &'s Path, uid: u32) -> Site<'s> {
        Site {
            fs: self.fs,
            root,
            prefix: self.prefix,
            assumed_root: self.options.assume_root.as_deref(),
            uid,
            speaks_for_itself: self.options.uid == uid || self.options.uid == 0,
            release: self.options.release,
            depth: self.options.depth,
            now_ns: self.options.now_ns,
            limits: Limits::default(),
            store: None,
            whole: false,
            // What a copy records of processes happened elsewhere: nothing of it can be proven here.
            host: if self.options.assume_root.is_some() { &Nowhere } else { self.host },
            around: &self.options.around,
            budget: self.options.budget,
            mute: self.options.mute,
            weigh: self.options.weigh,
        }
    }

    fn part(&self) -> Part {
        Part::new(self.options.mute)
    }
}
