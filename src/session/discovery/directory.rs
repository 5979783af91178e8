//! The files of one directory that a list looks at (spec 04 §2.1), and the orphaned backups that gjc renames before it looks
//! (§2.2). Nothing is renamed here: a restored backup is listed under its future name and read where it lies.

use super::Skipped;
use crate::agent::layout::{TRANSCRIPT_SUFFIX, is_transcript_name};
use crate::fsys::{Entry, Errno, Error, Fs, Kind, Meta};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How the names are enumerated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glob {
    /// The picker, the strict inventory: regular files.
    Plain,
    /// The recent list: links to files too, with the time of the link.
    ByTime,
}

/// A file that a list looks at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Its name in the list.
    pub path: PathBuf,
    /// Where its bytes lie now, without links.
    pub stored: PathBuf,
    /// Facts of the name: of the link, where it is one.
    pub meta: Meta,
}

/// A backup that gjc renames when it lists the directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Restored {
    /// The backup.
    pub backup: PathBuf,
    /// Its new name.
    pub primary: PathBuf,
}

/// What a list finds in a directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Directory {
    /// The files, sorted by name.
    pub files: Vec<Candidate>,
    /// The backups that are renamed first.
    pub restored: Vec<Restored>,
    /// Transcripts, by their names, that the list does not look at. When the directory itself cannot be read it stands here,
    /// and the list is empty.
    pub skipped: Vec<Skipped>,
}

/// Why a directory gives nothing.
pub fn unlisted(error: &Error) -> String {
    format!("the directory cannot be listed: {}", error.token())
}

/// Looks at a directory; a missing one is empty. `restores`: the list recovers orphaned backups first, which the read-only
/// picker of a workspace does not.
pub fn read(fs: &dyn Fs, directory: &Path, glob: Glob, restores: bool) -> Directory {
    let mut found = Directory::default();
    let names = fs.realpath(directory).and_then(|real| Ok((fs.list(&real)?, real)));
    let (names, real) = match names {
        Ok(names) => names,
        Err(error) if error.errno == Errno::NOENT => return found,
        Err(error) => {
            found.skipped.push(Skipped::new(directory, unlisted(&error)));
            return found;
        }
    };
    for entry in &names {
        let (path, stored) = (directory.join(&entry.name), real.join(&entry.name));
        if !is_transcript_name(entry.name.as_encoded_bytes()) {
            continue;
        }
        if entry.name.as_encoded_bytes().starts_with(b".") {
            found.skipped.push(Skipped::new(path, "its name begins with a dot"));
            continue;
        }
        match fs.lstat(&stored) {
            Ok(meta) if meta.kind == Kind::File => found.files.push(Candidate { path, stored, meta }),
            Ok(meta) if meta.kind == Kind::Symlink && glob == Glob::ByTime => match fs.realpath(&stored) {
                Ok(stored) => found.files.push(Candidate { path, stored, meta }),
                Err(_) => found.skipped.push(Skipped::new(path, "it is a symlink that leads nowhere")),
            },
            Ok(meta) if meta.kind == Kind::Symlink => {
                found.skipped.push(Skipped::new(path, "it is a symlink, which only the recent list follows"));
            }
            Ok(meta) => found.skipped.push(Skipped::new(path, format!("it is a {}, not a file", meta.kind.noun()))),
            // It went while we looked.
            Err(error) => found.skipped.push(Skipped::new(path, format!("it cannot be looked at: {}", error.token()))),
        }
    }
    if restores {
        for (primary, (backup, meta)) in orphans(fs, &real, &names) {
            let (path, stored) = (directory.join(&primary), real.join(&backup));
            found.restored.push(Restored { backup: directory.join(&backup), primary: path.clone() });
            found.files.push(Candidate { path, stored, meta });
        }
        found.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    found
}

/// The backups that are renamed: for each absent primary the newest; of equally new ones the first by name (gjc: the first
/// that the directory names).
fn orphans(fs: &dyn Fs, real: &Path, names: &[Entry]) -> BTreeMap<PathBuf, (PathBuf, Meta)> {
    let mut newest: BTreeMap<PathBuf, (PathBuf, Meta)> = BTreeMap::new();
    for entry in names {
        let Some(primary) = primary_of(entry.name.as_encoded_bytes()) else { continue };
        let Ok(meta) = fs.lstat(&real.join(&entry.name)) else { continue };
        if meta.kind != Kind::File {
            continue;
        }
        let primary = PathBuf::from(std::ffi::OsStr::from_bytes(primary));
        if newest.get(&primary).is_none_or(|(_, known)| known.mtime_ns < meta.mtime_ns) {
            newest.insert(primary, (entry.name.clone().into(), meta));
        }
    }
    // A link that leads nowhere does not exist for gjc.
    newest.retain(|primary, _| fs.stat(&real.join(primary)).is_err());
    newest
}

/// The name that a backup is restored to: what stands before the last dot but one, when that is the name of a transcript.
fn primary_of(name: &[u8]) -> Option<&[u8]> {
    let rest = name.strip_suffix(b".bak").filter(|_| !name.starts_with(b"."))?;
    let cut = memchr::memrchr(b'.', rest).filter(|cut| *cut > 0)?;
    rest.get(..cut).filter(|primary| primary.ends_with(TRANSCRIPT_SUFFIX.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::{Inject, Memory, Phase};

    fn names(found: &Directory) -> Vec<String> {
        found.files.iter().map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }
    fn folder() -> Memory {
        let fs = Memory::new();
        for name in ["b.jsonl", "a.jsonl", ".hidden.jsonl", "c.JSONL", "d.txt", "below/x.jsonl"] {
            fs.file(format!("/d/{name}"), b"");
        }
        fs.directory("/d/dir.jsonl");
        fs.symlink("/d/link.jsonl", "a.jsonl");
        fs.symlink("/d/lost.jsonl", "nowhere");
        fs.special("/d/pipe.jsonl", Kind::Fifo);
        fs
    }

    #[test]
    fn a_list_looks_at_regular_files_named_like_transcripts() {
        let found = read(&folder(), Path::new("/d"), Glob::Plain, false);
        assert_eq!(names(&found), ["a.jsonl", "b.jsonl"]);
        assert_eq!(found.skipped.len(), 5, "{:?}", found.skipped);
    }
    #[test]
    fn the_recent_list_follows_links_and_dates_them_by_the_link() {
        let found = read(&folder(), Path::new("/d"), Glob::ByTime, false);
        assert_eq!(names(&found), ["a.jsonl", "b.jsonl", "link.jsonl"]);
        assert_eq!((&*found.files[2].stored, found.files[2].meta.kind), (Path::new("/d/a.jsonl"), Kind::Symlink));
    }
    #[test]
    fn a_missing_directory_is_empty_and_an_unreadable_one_says_why() {
        let fs = folder();
        assert_eq!(read(&fs, Path::new("/gone"), Glob::Plain, true), Directory::default());
        let refusing = Inject::new(&fs, |call| (call.op == "opendir" && call.phase == Phase::Before).then_some(Errno::ACCESS));
        let found = read(&refusing, Path::new("/d"), Glob::Plain, true);
        assert_eq!((found.files.len(), &*found.skipped[0].why), (0, "the directory cannot be listed: EACCES"));
    }
    #[test]
    fn the_name_of_a_backup_is_cut_at_the_last_dot() {
        let primary = |name: &str| primary_of(name.as_bytes()).map(|name| String::from_utf8_lossy(name).into_owned());
        assert_eq!(primary("x.jsonl.016a.bak").as_deref(), Some("x.jsonl"));
        assert_eq!(primary("x.jsonl.a.b.bak"), None, "what is left ends in .a");
        for never in ["x.jsonl.bak", "x.bak", ".x.jsonl.1.bak", "x.jsonl.1.bak2", ".bak"] {
            assert_eq!(primary(never), None, "{never}");
        }
    }
    #[test]
    fn the_newest_orphan_is_listed_under_its_future_name() {
        let fs = Memory::new();
        fs.file("/d/x.jsonl.1.bak", b"old");
        fs.file("/d/x.jsonl.2.bak", b"new");
        fs.file("/d/y.jsonl.1.bak", b"");
        fs.file("/d/y.jsonl", b"");
        let found = read(&fs, Path::new("/d"), Glob::Plain, true);
        assert_eq!(names(&found), ["x.jsonl", "y.jsonl"]);
        assert_eq!(found.files[0].stored, Path::new("/d/x.jsonl.2.bak"));
        assert_eq!(found.restored.len(), 1);
        assert_eq!(names(&read(&fs, Path::new("/d"), Glob::Plain, false)), ["y.jsonl"]);
    }
}
