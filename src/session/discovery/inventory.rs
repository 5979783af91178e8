//! The strict inventory (spec 04 §2.10): a listing that is complete or fails. It is what authorises a deletion, so one file
//! that cannot be judged is enough to know nothing.

use super::directory::{self, Glob};
use super::{equivalent, is_staged, is_within};
use crate::agent::predict;
use crate::agent::world::World;
use crate::fsys::{Errno, Meta, Refusal, Watched};
use crate::json::text::{trim, utf8_lossy};
use crate::json::view::View;
use crate::json::{JsString, Kind, Value};
use crate::transcript::inspect::EAGER_MAX;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What kind of failure it was: gjc's word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The directory cannot be inspected, or its scope does not resolve.
    Root,
    /// The directory, or the scope, cannot be listed.
    Scan,
    /// A file is a symlink, or no regular file.
    Lstat,
    /// A file cannot be read, or moved while it was.
    Read,
    /// The first line is no JSON object.
    Parse,
    /// The first line is no session header.
    Header,
    /// The header has no workspace, or another one.
    Cwd,
    /// The file lies outside the directory.
    Containment,
    /// The header has no id.
    Identity,
}

impl FailureKind {
    /// gjc's word. (Its word `stat` belongs to a storage that has no descriptor; files never give it.)
    pub const fn word(self) -> &'static str {
        match self {
            FailureKind::Root => "root",
            FailureKind::Scan => "scan",
            FailureKind::Lstat => "lstat",
            FailureKind::Read => "read",
            FailureKind::Parse => "parse",
            FailureKind::Header => "header",
            FailureKind::Cwd => "cwd",
            FailureKind::Containment => "containment",
            FailureKind::Identity => "identity",
        }
    }
}

/// Why the inventory knows nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The object.
    pub path: PathBuf,
    /// What was found.
    pub detail: String,
}

/// A file of a complete inventory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// Header id.
    pub id: JsString,
    /// Header cwd, as written.
    pub cwd: JsString,
    /// The state in which it was read.
    pub meta: Meta,
}

/// Complete, or every failure in order. One failure is enough: nothing of the rest may be acted on.
pub type Inventory = Result<Vec<Candidate>, Vec<Failure>>;

/// The inventory of a workspace: the owned candidates of its managed scope.
///
/// # Errors
/// Every failure.
pub fn of_workspace(world: &World<'_>, cwd: &Path) -> Inventory {
    let whole = |kind, path: PathBuf, detail: String| vec![Failure { kind, path, detail }];
    let refused = |refused: predict::Refused, at: &Path| {
        (refused.path.unwrap_or_else(|| at.to_owned()), format!("{}: {}", refused.code, refused.detail))
    };
    let scope = predict::resolve(world, cwd).map_err(|error| {
        let (path, detail) = refused(error, cwd);
        whole(FailureKind::Root, path, detail)
    })?;
    let listing = predict::list(world, &scope).map_err(|error| {
        let (path, detail) = refused(error.into(), &scope.directory);
        whole(FailureKind::Scan, path, detail)
    })?;
    let files = listing.owned.iter().map(|listed| &*listed.candidate.path).filter(|path| !is_staged(path));
    all(files.map(|path| candidate(world, path, path.parent().unwrap_or(path), cwd)))
}

/// The inventory of an explicit directory for a workspace. A missing directory is complete and empty.
///
/// # Errors
/// Every failure.
pub fn of_directory(world: &World<'_>, directory: &Path, cwd: &Path) -> Inventory {
    if let Err(error) = world.fs.realpath(directory).and_then(|real| world.fs.open_dir(&real)?.close()) {
        let kind = match error.errno {
            Errno::NOENT => return Ok(Vec::new()),
            Errno::ACCESS | Errno::PERM | Errno::NOTDIR => FailureKind::Root,
            _ => FailureKind::Scan,
        };
        return Err(vec![Failure { kind, path: directory.to_owned(), detail: format!("{} answers {}", error.op, error.token()) }]);
    }
    let found = directory::read(world.fs, directory, Glob::Plain, false);
    if let Some(unlisted) = found.skipped.iter().find(|skipped| skipped.path == directory) {
        return Err(vec![Failure { kind: FailureKind::Scan, path: directory.to_owned(), detail: unlisted.why.clone() }]);
    }
    all(found.files.iter().map(|file| candidate(world, &file.path, directory, cwd)))
}

fn all(each: impl Iterator<Item = Result<Candidate, Failure>>) -> Inventory {
    let (mut candidates, mut failures) = (Vec::new(), Vec::new());
    for one in each {
        match one {
            Ok(candidate) => candidates.push(candidate),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() { Ok(candidates) } else { Err(failures) }
}

/// One file, in gjc's order of tests.
fn candidate(world: &World<'_>, path: &Path, directory: &Path, cwd: &Path) -> Result<Candidate, Failure> {
    let fail = |kind, detail: String| Err(Failure { kind, path: path.to_owned(), detail });
    if !is_within(world, directory, path) {
        return fail(FailureKind::Containment, "it lies outside the directory that is inventoried".into());
    }
    let stored = match (world.fs.realpath(path.parent().unwrap_or(path)), path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => path.to_owned(),
    };
    let (line, meta) = match first_line(world, &stored) {
        Ok(read) => read,
        Err(Refusal::Failed(error)) if error.errno == Errno::LOOP => return fail(FailureKind::Lstat, "it is a symlink".into()),
        Err(Refusal::NotAFile(kind)) => return fail(FailureKind::Lstat, format!("it is a {}, not a regular file", kind.noun())),
        Err(refusal) => return fail(FailureKind::Read, format!("it {refusal}")),
    };
    let text = utf8_lossy(&line);
    let Some(header) = Value::parse(trim(&text)).filter(|value| matches!(value.kind(), Kind::Object | Kind::Array)) else {
        return fail(FailureKind::Parse, "its first line is no JSON object".into());
    };
    if !header.member("type").is_some_and(|kind| kind.is_str("session")) {
        return fail(FailureKind::Header, "its first line is no session header".into());
    }
    let text = |key: &str| header.str_member(key).map(|text| JsString::from_wtf8(text.into_owned()));
    let Some(id) = text("id").filter(|id| !id.as_bytes().is_empty()) else {
        return fail(FailureKind::Identity, "its header has no session id".into());
    };
    let Some(own) = text("cwd") else {
        return fail(FailureKind::Cwd, "its header has no cwd".into());
    };
    if equivalent(world, Path::new(&*own.as_js().to_string_lossy())) != equivalent(world, cwd) {
        return fail(FailureKind::Cwd, format!("its header names another workspace: {own}"));
    }
    Ok(Candidate { path: path.to_owned(), id, cwd: own, meta })
}

/// The first physical line, and the state of the file. gjc holds the whole file; this no more than the line, of which
/// nothing beyond [`EAGER_MAX`] is believed.
fn first_line(world: &World<'_>, path: &Path) -> Result<(Vec<u8>, Meta), Refusal> {
    let mut watched = Watched::open(world.fs, path)?;
    let mut line = Vec::new();
    let mut block = vec![0; 1 << 16];
    while line.len() as u64 <= EAGER_MAX {
        let read = watched.read(&mut block).map_err(|error| Refusal::Failed(watched.read_error(&error)))?;
        let bytes = block.get(..read).unwrap_or_default();
        let end = memchr::memchr(b'\n', bytes);
        line.extend_from_slice(bytes.get(..end.unwrap_or(read)).unwrap_or_default());
        if read == 0 || end.is_some() {
            break;
        }
    }
    watched.finish().map(|meta| (line, meta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Release;
    use crate::fsys::host::Nowhere;
    use crate::fsys::{Fs, Inject, Memory, Phase};

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;

    fn inventory(fs: &dyn Fs) -> Inventory {
        of_directory(&World::of_agent(fs, &Nowhere, Release::default(), 1000, "/a"), Path::new("/d"), Path::new("/w"))
    }
    fn folder(text: &str) -> Memory {
        let fs = Memory::new();
        fs.directory("/w");
        fs.file("/d/a.jsonl", format!("{HEADER}\n").as_bytes());
        fs.file("/d/b.jsonl", text.as_bytes());
        fs
    }
    fn failure(text: &str) -> Option<&'static str> {
        inventory(&folder(text)).err().map(|failures| failures[0].kind.word())
    }

    #[test]
    fn a_sound_directory_is_complete_and_a_missing_one_is_empty() {
        let found = inventory(&folder(&format!("  {HEADER}\r\nwhatever"))).unwrap();
        assert_eq!(found.iter().map(|one| one.path.to_string_lossy()).collect::<Vec<_>>(), ["/d/a.jsonl", "/d/b.jsonl"]);
        assert_eq!(inventory(&Memory::new()), Ok(Vec::new()));
    }
    #[test]
    fn the_first_line_is_judged_in_order() {
        for (line, kind) in [
            (String::new(), "parse"),
            ("oops".into(), "parse"),
            ("null".into(), "parse"),
            ("7".into(), "parse"),
            (format!("\n{HEADER}"), "parse"),
            ("[]".into(), "header"),
            (HEADER.replace("session", "x"), "header"),
            (HEADER.replace("\"s\"", "\"\""), "identity"),
            (HEADER.replace("\"s\"", "7"), "identity"),
            (HEADER.replace("\"/w\"", "7"), "cwd"),
            (HEADER.replace("\"/w\"", "\"/x\""), "cwd"),
        ] {
            assert_eq!(failure(&line), Some(kind), "{line}");
        }
        assert_eq!(failure(&HEADER.replace("\"/w\"", "\"/w/../w/.\"")), None);
    }
    #[test]
    fn every_failure_is_named_and_one_is_enough() {
        let fs = folder("oops");
        fs.file("/d/c.jsonl", b"{}");
        let failures = inventory(&fs).unwrap_err();
        assert_eq!(failures.iter().map(|one| one.kind).collect::<Vec<_>>(), [FailureKind::Parse, FailureKind::Header]);
    }
    #[test]
    fn the_directory_itself_fails_by_its_error() {
        let fs = folder(HEADER);
        for (errno, kind) in [(Errno::ACCESS, FailureKind::Root), (Errno::NOTDIR, FailureKind::Root), (Errno::IO, FailureKind::Scan)] {
            let refusing = Inject::new(&fs, |call| (call.op == "opendir" && call.phase == Phase::Before).then_some(errno));
            assert_eq!(inventory(&refusing).unwrap_err()[0].kind, kind, "{errno:?}");
        }
    }
    #[test]
    fn a_file_that_becomes_a_link_or_moves_while_it_is_read_fails_it() {
        let fs = folder(HEADER);
        let linking = Inject::new(&fs, |call| {
            if call.op == "open" && call.phase == Phase::Before && call.path == Path::new("/d/b.jsonl") {
                fs.remove("/d/b.jsonl");
                fs.symlink("/d/b.jsonl", "a.jsonl");
            }
            None
        });
        assert_eq!(inventory(&linking).unwrap_err()[0].kind, FailureKind::Lstat);
        let fs = folder(HEADER);
        let moving = Inject::new(&fs, |call| {
            if call.op == "read" && call.phase == Phase::After && call.path == Path::new("/d/b.jsonl") {
                fs.append("/d/b.jsonl", b"\n");
            }
            None
        });
        assert_eq!(inventory(&moving).unwrap_err()[0].kind, FailureKind::Read);
    }
    #[test]
    fn a_link_in_a_directory_is_no_candidate_and_so_no_failure() {
        let fs = folder(HEADER);
        fs.symlink("/d/link.jsonl", "/nowhere");
        assert_eq!(inventory(&fs).unwrap().len(), 2);
    }
    #[test]
    fn a_file_that_cannot_be_read_fails_it() {
        let fs = folder(HEADER);
        let refusing = Inject::new(&fs, |call| (call.op == "read" && call.phase == Phase::Before).then_some(Errno::IO));
        assert_eq!(inventory(&refusing).unwrap_err()[0].kind, FailureKind::Read);
    }
}
