//! What the session picker shows of a workspace, and what it leaves out (spec 04 §2.4, §2.7, §2.9).

use super::{Refused, list, resolve};
use crate::agent::candidates::Hidden;
use crate::agent::layout;
use crate::agent::walk::show;
use crate::agent::world::World;
use crate::finding::Difference;
use crate::fsys::{Fs, Kind, Watched};
use crate::json::JsString;
use crate::transcript::readers::picker::{self, SessionInfo, Skip};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::path::{Path, PathBuf};

/// One session as the picker shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Shown {
    /// The file, as it was found.
    pub path: PathBuf,
    /// What its beginning and its trailing patches say.
    pub info: SessionInfo,
    /// Bytes.
    pub size: u64,
    /// Modification time in milliseconds since 1970.
    pub modified_ms: i128,
}

/// A file that a list does not show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why, for people.
    pub why: String,
}

impl Skipped {
    /// A file and why it is not shown.
    pub fn new(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Skipped { path: path.into(), why: why.into() }
    }
}

/// What the picker lists for a workspace.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Picked {
    /// The sessions, later ones first. (The picker draws starred ones above the others: [`Picked::starred_first`].)
    pub sessions: Vec<Shown>,
    /// What belongs here and is not shown.
    pub skipped: Vec<Skipped>,
    /// Why the managed scope contributes nothing.
    pub refused: Option<Refused>,
}

impl Picked {
    /// The order in which the picker draws them. Nothing else looks at stars (spec 04 §2.6).
    #[must_use]
    pub fn starred_first(mut self) -> Self {
        self.sessions.sort_by_key(|shown| !shown.info.starred);
        self
    }
}

/// What the session picker lists for a workspace: the owned candidates of the managed scope (none when it fails) merged with
/// the project transcripts, one entry per id, the later one; later ones first.
pub fn picker(world: &World<'_>, cwd: &Path) -> Picked {
    let mut picked = Picked::default();
    let mut paths = Vec::new();
    match resolve(world, cwd).and_then(|scope| Ok(list(world, &scope)?)) {
        Ok(listing) => {
            paths.extend(listing.owned.iter().map(|listed| (listed.candidate.path.clone(), false)));
            picked.skipped.extend(listing.hidden.iter().map(|(candidate, hidden)| {
                let why = match hidden {
                    Hidden::Retired { .. } => "it was deleted with gjc, though the file is still there".to_owned(),
                    Hidden::Shadowed { by, .. } => format!("its migrated copy stands for it: {}", show(by.as_os_str())),
                };
                Skipped::new(&candidate.path, why)
            }));
            picked.skipped.extend(listing.invalid.iter().map(|one| Skipped::new(&one.path, format!("{}: {}", one.code, one.detail))));
        }
        Err(refused) => picked.refused = Some(refused),
    }
    let project = project_transcripts(world.fs, &world.current_dir.join(cwd));
    paths.extend(project.files.into_iter().map(|path| (path, true)));
    let mut by_id: IndexMap<JsString, Shown> = IndexMap::new();
    for (path, of_project) in paths {
        let guarded = of_project && Difference::GuardedProjectReader.in_effect(world.release);
        let shown = match if guarded { shown_guarded(world, &path) } else { examined(world, &path, &path) } {
            Ok(shown) => shown,
            Err(why) => {
                picked.skipped.push(Skipped::new(path, why));
                continue;
            }
        };
        match by_id.entry(shown.info.id.clone()) {
            // Only a strictly newer one replaces.
            Entry::Occupied(mut known) if known.get().modified_ms < shown.modified_ms => {
                let by = show(shown.path.as_os_str());
                picked.skipped.push(Skipped::new(known.insert(shown).path, superseded(&by)));
            }
            Entry::Occupied(known) => {
                picked.skipped.push(Skipped::new(shown.path, superseded(&show(known.get().path.as_os_str()))));
            }
            Entry::Vacant(free) => _ = free.insert(shown),
        }
    }
    picked.sessions = by_id.into_values().collect();
    picked.sessions.sort_by_key(|shown| std::cmp::Reverse(shown.modified_ms));
    picked
}

fn superseded(by: &str) -> String {
    format!("a file with the same id, changed later or found first, is shown instead: {by}")
}

/// What the picker shows of one file; none when it skips the file.
pub fn shown(world: &World<'_>, path: PathBuf) -> Option<Shown> {
    examined(world, &path, &path).ok()
}

/// The same of a file that is listed under one name and lies under another (without links).
///
/// # Errors
/// Why the picker skips it.
pub fn shown_from(world: &World<'_>, path: &Path, stored: &Path) -> Result<Shown, Skipped> {
    examined(world, path, stored).map_err(|why| Skipped::new(path, why))
}

fn examined(world: &World<'_>, path: &Path, stored: &Path) -> Result<Shown, &'static str> {
    let unreadable = Skip::Unreadable.words();
    let file = world.fs.open(stored).map_err(|_| unreadable)?;
    let read = || -> Result<_, &'static str> {
        let meta = file.stat().ok().filter(|meta| meta.kind == Kind::File).ok_or(unreadable)?;
        let read_at = &mut |buffer: &mut [u8], offset: u64| file.read_at(buffer, offset);
        let info = picker::examine(meta.size, read_at, world.release).map_err(Skip::words)?;
        Ok((meta, info))
    };
    let read = read();
    // The first failure counts; a file that cannot be closed was not read.
    let closed = file.close();
    let (meta, info) = read?;
    closed.map_err(|_| unreadable)?;
    Ok(Shown { path: path.to_owned(), info, size: meta.size, modified_ms: meta.mtime_ns.div_euclid(1_000_000) })
}

/// The guarded reader of project transcripts: one link, and the same file before and after.
fn shown_guarded(world: &World<'_>, path: &Path) -> Result<Shown, &'static str> {
    let unreadable = Skip::Unreadable.words();
    let watched = Watched::open(world.fs, path).map_err(|_| unreadable)?;
    let meta = watched.meta();
    let read_at = &mut |buffer: &mut [u8], offset: u64| watched.read_at(buffer, offset);
    let info = match meta.nlink {
        ..=1 => picker::examine(meta.size, read_at, world.release).map_err(Skip::words),
        _ => Err("it has more than one hard link, and it is no session of the sessions root"),
    };
    watched.finish().map_err(|_| "it changed while it was read")?;
    Ok(Shown { path: path.to_owned(), info: info?, size: meta.size, modified_ms: meta.mtime_ns.div_euclid(1_000_000) })
}

/// Transcripts below `<cwd>/.gjc` (spec 04 §2.9).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProjectTranscripts {
    /// The files, sorted.
    pub files: Vec<PathBuf>,
    /// Directories that were entered, and one that would be too many.
    pub directories: usize,
    /// True when one of the limits ended the walk.
    pub limited: bool,
    /// True when it was the limit of the files.
    pub more_files: bool,
}

/// Most directories that the project walk enters.
pub const PROJECT_DIRECTORIES: usize = 4_096;
/// Most transcripts that it takes.
pub const PROJECT_FILES: usize = 1_000;

/// Walks `<cwd>/.gjc`, which must be a real directory: names that begin with a dot and symlinks are skipped; a `*.jsonl` file
/// counts directly in `.gjc`, in a directory `agent-session`, or below a directory `sessions`.
pub fn project_transcripts(fs: &dyn Fs, cwd: &Path) -> ProjectTranscripts {
    let mut found = ProjectTranscripts::default();
    let Ok(cwd) = fs.realpath(cwd) else { return found };
    let root = cwd.join(".gjc");
    let mut pending = vec![(root.clone(), false)];
    let mut entered = 0;
    while let Some((directory, below_sessions)) = pending.pop() {
        if entered >= PROJECT_DIRECTORIES {
            found.limited = true;
            found.directories += 1;
            break;
        }
        entered += 1;
        let Ok(entries) = fs.list(&directory) else { continue };
        found.directories += 1;
        let accepted = directory == root || below_sessions || directory.file_name().is_some_and(|name| name == "agent-session");
        for entry in entries {
            let name = entry.name.as_encoded_bytes();
            let path = directory.join(&entry.name);
            if name.starts_with(b".") {
                continue;
            }
            match entry.kind.or_else(|| fs.lstat(&path).ok().map(|meta| meta.kind)) {
                Some(Kind::Directory) => pending.push((path, below_sessions || name == b"sessions")),
                Some(Kind::File) if accepted && layout::is_transcript_name(name) => {
                    if found.files.len() >= PROJECT_FILES {
                        found.limited = true;
                        found.more_files = true;
                        found.files.sort();
                        return found;
                    }
                    found.files.push(path);
                }
                _ => {}
            }
        }
    }
    found.files.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::host::Nowhere;
    use crate::fsys::{Inject, Memory, Phase};

    fn header(id: &str) -> String {
        format!("{{\"type\":\"session\",\"version\":5,\"id\":\"{id}\",\"timestamp\":\"t\",\"cwd\":\"/w\"}}\n")
    }
    /// The files that the walk of `/w` takes of these, below `/w/.gjc`.
    fn taken(files: &[&str]) -> Vec<String> {
        let fs = Memory::new();
        fs.directory("/w/.gjc");
        files.iter().for_each(|file| fs.file(format!("/w/.gjc/{file}"), b""));
        found(&fs)
    }
    fn found(fs: &Memory) -> Vec<String> {
        let found = project_transcripts(fs, Path::new("/w"));
        assert!(!found.limited);
        found.files.iter().map(|path| path.strip_prefix("/w/.gjc").unwrap().to_string_lossy().into_owned()).collect()
    }
    fn picked(fs: &dyn Fs, release: Release) -> Picked {
        picker(&World::of_agent(fs, &Nowhere, release, 1000, "/a"), Path::new("/w"))
    }

    #[test]
    fn the_root_must_be_a_real_directory() {
        let fs = Memory::new();
        fs.directory("/w");
        assert_eq!(found(&fs), [""; 0], "there is none");
        fs.file("/real/a.jsonl", b"");
        fs.symlink("/w/.gjc", "/real");
        assert_eq!(found(&fs), [""; 0], "a symlink");
        fs.remove("/w/.gjc");
        fs.file("/w/.gjc", b"");
        assert_eq!(found(&fs), [""; 0], "a file");
    }
    #[test]
    fn a_workspace_may_be_named_through_a_link() {
        let fs = Memory::new();
        fs.file("/w/.gjc/a.jsonl", b"");
        fs.symlink("/link", "/w");
        assert_eq!(project_transcripts(&fs, Path::new("/link")).files, [Path::new("/w/.gjc/a.jsonl")]);
    }
    #[test]
    fn three_places_count_and_no_other() {
        let files = ["a.jsonl", "deep/er/agent-session/b.jsonl", "sessions/c.jsonl", "x/sessions/y/z/d.jsonl"];
        assert_eq!(taken(&files), files);
        assert_eq!(taken(&["x/a.jsonl", "agent-session/x/b.jsonl", "agent-sessions/c.jsonl", "Sessions/d.jsonl"]), [""; 0]);
    }
    #[test]
    fn names_that_begin_with_a_dot_are_skipped_wherever_they_stand() {
        assert_eq!(taken(&[".a.jsonl", ".staging/b.jsonl", "sessions/.staging/c.jsonl", ".sessions/d.jsonl"]), [""; 0]);
    }
    #[test]
    fn only_the_exact_ending_counts() {
        assert_eq!(taken(&["a.JSONL", "b.jsonl.bak", "c.json", "djsonl"]), [""; 0]);
    }
    #[test]
    fn symlinks_and_special_files_are_skipped() {
        let fs = Memory::new();
        fs.file("/w/.gjc/sessions/a.jsonl", b"");
        fs.symlink("/w/.gjc/sessions/link.jsonl", "a.jsonl");
        fs.symlink("/w/.gjc/more", "/w/.gjc/sessions");
        fs.special("/w/.gjc/sessions/pipe.jsonl", Kind::Fifo);
        fs.directory("/w/.gjc/sessions/dir.jsonl");
        assert_eq!(found(&fs), ["sessions/a.jsonl"]);
    }
    #[test]
    fn a_thousand_files_are_taken_and_not_one_more() {
        let fs = Memory::new();
        let file = |n: usize| fs.file(format!("/w/.gjc/sessions/{n:04}.jsonl"), b"");
        (0..PROJECT_FILES).for_each(file);
        assert_eq!(found(&fs).len(), PROJECT_FILES);
        file(PROJECT_FILES);
        let found = project_transcripts(&fs, Path::new("/w"));
        assert_eq!((found.files.len(), found.limited), (PROJECT_FILES, true));
    }
    #[test]
    fn four_thousand_and_ninety_six_directories_are_entered_and_not_one_more() {
        let fs = Memory::new();
        let directory = |n: usize| fs.directory(format!("/w/.gjc/{n}"));
        // The root is one of them.
        (1..PROJECT_DIRECTORIES).for_each(directory);
        assert!(!project_transcripts(&fs, Path::new("/w")).limited);
        directory(PROJECT_DIRECTORIES);
        assert!(project_transcripts(&fs, Path::new("/w")).limited);
    }
    #[test]
    fn a_directory_that_cannot_be_listed_hides_what_is_in_it_and_nothing_else() {
        let fs = Memory::new();
        fs.file("/w/.gjc/a.jsonl", b"");
        fs.file("/w/.gjc/sessions/b.jsonl", b"");
        let refusing = Inject::new(&fs, |call| {
            (call.op == "opendir" && call.phase == Phase::Before && call.path.ends_with("sessions")).then_some(crate::fsys::Errno::ACCESS)
        });
        assert_eq!(project_transcripts(&refusing, Path::new("/w")).files, [Path::new("/w/.gjc/a.jsonl")]);
    }
    #[test]
    fn the_newest_release_reads_them_guarded() {
        let fs = Memory::new();
        fs.file("/w/.gjc/a.jsonl", header("a").as_bytes());
        fs.hard_link("/w/.gjc/a.jsonl", "/elsewhere");
        let of = |release| picked(&fs, release);
        assert_eq!(of(Release::V0_15).sessions.len(), 1, "the plain reader");
        let guarded = of(Release::V0_17);
        assert!(guarded.sessions.is_empty() && guarded.skipped[0].why.contains("more than one hard link"), "{:?}", guarded.skipped);
        let fs = Memory::new();
        fs.file("/w/.gjc/a.jsonl", header("a").as_bytes());
        let moving = Inject::new(&fs, |call| {
            if call.op == "read" && call.phase == Phase::After {
                fs.append("/w/.gjc/a.jsonl", b"x");
            }
            None
        });
        let moved = picked(&moving, Release::V0_17);
        assert!(moved.skipped.iter().any(|one| one.why == "it changed while it was read"), "{:?}", moved.skipped);
    }
    #[test]
    fn of_one_id_only_a_strictly_later_file_replaces() {
        let fs = Memory::new();
        for (name, seconds) in [("a", 2), ("b", 2), ("c", 1)] {
            let path = format!("/w/.gjc/{name}.jsonl");
            fs.file(&path, header("same").as_bytes());
            fs.set(&path, |meta| meta.mtime_ns = seconds * 1_000_000_000);
        }
        let shown = |fs: &Memory| picked(fs, Release::V0_15).sessions.into_iter().map(|one| one.path).collect::<Vec<_>>();
        assert_eq!(shown(&fs), [Path::new("/w/.gjc/a.jsonl")], "the first of equally late ones");
        fs.set("/w/.gjc/c.jsonl", |meta| meta.mtime_ns = 3_000_000_000);
        assert_eq!(shown(&fs), [Path::new("/w/.gjc/c.jsonl")]);
    }
}
