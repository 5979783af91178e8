//! The files of one directory that a list looks at (spec 04 §2.1), and the orphaned backups that gjc renames before it looks
//! (§2.2). Nothing is renamed here: a restored backup is listed under its future name and read where it lies.

use super::Skipped;
use crate::agent::layout::is_transcript_name;
use crate::agent::residue::{self, Residue};
use crate::fsys::{Errno, Error, Fs, Kind, Meta};
use std::collections::BTreeMap;
use std::ffi::OsStr;
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
        for (primary, (backup, meta)) in restored(fs, &real, names.iter().map(|entry| entry.name.as_os_str())) {
            let (path, stored) = (directory.join(&primary), real.join(&backup));
            found.restored.push(Restored { backup: directory.join(&backup), primary: path.clone() });
            found.files.push(Candidate { path, stored, meta });
        }
        found.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    found
}

/// The backups that are renamed, by the name that they get: for each absent primary the newest; of equally new ones the
/// first by name (gjc: the first that the directory names).
pub fn restored<'n>(fs: &dyn Fs, real: &Path, names: impl Iterator<Item = &'n OsStr>) -> Backups {
    let mut newest = Backups::new();
    for name in names {
        let Some(Residue::Backup { primary: Some(primary) }) = residue::parse(name.as_encoded_bytes()) else { continue };
        let Ok(meta) = fs.lstat(&real.join(name)) else { continue };
        if meta.kind != Kind::File {
            continue;
        }
        let primary = PathBuf::from(OsStr::from_bytes(primary));
        if newest.get(&primary).is_none_or(|(_, known)| known.mtime_ns < meta.mtime_ns) {
            newest.insert(primary, (name.into(), meta));
        }
    }
    // A link that leads nowhere does not exist for gjc.
    newest.retain(|primary, _| fs.stat(&real.join(primary)).is_err());
    newest
}

/// Names of backups, by the names that they get.
pub type Backups = BTreeMap<PathBuf, (PathBuf, Meta)>;

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
        for (backup, primary) in [
            ("x.jsonl.016a.bak", Some("x.jsonl")),
            // What is left ends in `.a`.
            ("x.jsonl.a.b.bak", None),
            ("x.jsonl.bak", None),
            ("x.bak", None),
            (".x.jsonl.1.bak", None),
            ("x.jsonl.1.bak2", None),
            (".bak", None),
        ] {
            let fs = Memory::new();
            fs.file(format!("/d/{backup}"), b"");
            let found = restored(&fs, Path::new("/d"), [OsStr::new(backup)].into_iter());
            assert_eq!(found.into_keys().next(), primary.map(PathBuf::from), "{backup}");
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
