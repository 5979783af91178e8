//! New files that a command writes where the user said: never in place, never over something that exists, and complete or
//! not there at all.

#![allow(clippy::disallowed_methods, reason = "this is the file system's room")]

use super::Errno;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Why a new file was not made.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The destination is the file that is read.
    #[error("{}: this is the file that is read; name another one", .0.display())]
    Source(PathBuf),
    /// Something stands there.
    #[error("{}: it exists, and nothing is overwritten", .0.display())]
    Exists(PathBuf),
    /// The system refused.
    #[error("{}: {error}", path.display())]
    System {
        /// The destination.
        path: PathBuf,
        /// Its answer.
        error: io::Error,
    },
}

impl Refused {
    fn system(path: &Path) -> impl FnOnce(io::Error) -> Refused {
        move |error| match error.kind() {
            io::ErrorKind::AlreadyExists => Refused::Exists(path.to_owned()),
            _ => Refused::System { path: path.to_owned(), error: own(error) },
        }
    }
}

/// The system's answer without the temporary name that nobody asked about. With that name comes no number.
fn own(error: io::Error) -> io::Error {
    match error.kind() {
        _ if error.raw_os_error().is_some() => error,
        io::ErrorKind::NotFound => Errno::NOENT.into(),
        io::ErrorKind::PermissionDenied => Errno::ACCESS.into(),
        kind => kind.into(),
    }
}

/// A file of mode 0600 that is being written under a temporary name beside its destination. Dropped before
/// [`NewFile::publish`] it leaves nothing behind.
pub struct NewFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file. `source` is the file that is read meanwhile.
    ///
    /// # Errors
    /// The destination exists or is the source, by whatever name; the folder cannot be written.
    pub fn create(path: &Path, source: Option<&Path>) -> Result<NewFile, Refused> {
        let object = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
        if let Some(object_there) = object(path)
            && source.and_then(object) == Some(object_there)
        {
            return Err(Refused::Source(path.to_owned()));
        }
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(Refused::Exists(path.to_owned()));
        }
        let file = NamedTempFile::with_prefix_in(".gjc-fsck-", folder(path)).map_err(Refused::system(path))?;
        Ok(NewFile { file: BufWriter::with_capacity(1 << 16, file), path: path.to_owned() })
    }

    /// Makes the content durable and gives the file its name.
    ///
    /// # Errors
    /// Those of the system; something stands under the name by now.
    pub fn publish(self) -> Result<(), Refused> {
        let failed = || Refused::system(&self.path);
        let file = self.file.into_inner().map_err(|error| failed()(error.into_error()))?;
        file.as_file().sync_all().map_err(failed())?;
        file.persist_noclobber(&self.path).map_err(|error| failed()(error.error))?;
        // The name too; a folder that cannot be opened or synced does not undo what is there.
        let _ = File::open(folder(&self.path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Puts a report where the user said, in one step: complete, or what was there before. A report is replaced by the next
/// one; a transcript never is. `report` writes it: a report of many transcripts is large and is not held as a whole.
///
/// # Errors
/// The system's, or [`Refused::Exists`] for a name that ends `.jsonl` or stands for no regular file that can be replaced.
pub fn write_report(path: &Path, report: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Refused> {
    let failed = || Refused::system(path);
    let write_to = |file: &File| {
        let mut out = BufWriter::new(file);
        report(&mut out)?;
        out.flush()
    };
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() && path.extension().is_none_or(|extension| extension != "jsonl") => {}
        // A pipe or a device takes what is written to it; nothing of it is replaced.
        Ok(meta) if !meta.is_file() && !meta.is_dir() && !meta.is_symlink() => {
            return File::options().write(true).open(path).and_then(|file| write_to(&file)).map_err(failed());
        }
        Ok(_) => return Err(Refused::Exists(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed()(error)),
    }
    // As wide as the user's mask allows: a report is read by others.
    let wide = std::fs::Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().prefix(".gjc-fsck-").permissions(wide).tempfile_in(folder(path)).map_err(failed())?;
    write_to(file.as_file()).map_err(failed())?;
    file.persist(path).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// The folder of a path.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_published_file_is_complete_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let mut file = NewFile::create(&path, None).unwrap();
        file.write_all(b"text").unwrap();
        file.publish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"text");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["new"]);
    }

    #[test]
    fn a_report_replaces_the_one_before_and_never_a_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.json");
        write_report(&report, |out| out.write_all(b"first")).unwrap();
        write_report(&report, |out| out.write_all(b"second")).unwrap();
        assert_eq!(std::fs::read(&report).unwrap(), b"second");

        let transcript = folder.path().join("session.jsonl");
        std::fs::write(&transcript, "precious").unwrap();
        assert!(matches!(write_report(&transcript, |out| out.write_all(b"report")), Err(Refused::Exists(_))));
        std::os::unix::fs::symlink("session.jsonl", folder.path().join("link")).unwrap();
        assert!(matches!(write_report(&folder.path().join("link"), |out| out.write_all(b"report")), Err(Refused::Exists(_))));
        assert_eq!(std::fs::read(&transcript).unwrap(), b"precious");
        assert_eq!(names(folder.path()), ["link", "report.json", "session.jsonl"]);
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = NewFile::create(&folder.path().join("new"), None).unwrap();
        file.write_all(b"text").unwrap();
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("there");
        std::fs::write(&path, "old").unwrap();
        assert!(matches!(NewFile::create(&path, None), Err(Refused::Exists(_))));
        // Not even what appears meanwhile.
        let late = folder.path().join("late");
        let file = NewFile::create(&late, None).unwrap();
        std::fs::write(&late, "old").unwrap();
        assert!(matches!(file.publish(), Err(Refused::Exists(_))));
        assert_eq!(std::fs::read(&late).unwrap(), b"old");
        std::os::unix::fs::symlink("nowhere", folder.path().join("dangling")).unwrap();
        assert!(matches!(NewFile::create(&folder.path().join("dangling"), None), Err(Refused::Exists(_))));
    }

    #[test]
    fn the_source_is_known_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source");
        std::fs::write(&source, "old").unwrap();
        let (link, symlink) = (folder.path().join("link"), folder.path().join("symlink"));
        std::fs::hard_link(&source, &link).unwrap();
        std::os::unix::fs::symlink(&source, &symlink).unwrap();
        for path in [&source, &link, &symlink] {
            assert!(matches!(NewFile::create(path, Some(&source)), Err(Refused::Source(_))));
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(NewFile::create(&folder.path().join("a/b"), None), Err(Refused::System { .. })));
    }
}
