//! Where a command may write: never into session storage, whatever the user named.

use super::{Console, Failure};
use crate::agent::layout::{SESSIONS, SessionsName, sessions_name};
use crate::agent::locate::{Location, Part, part_of};
use crate::agent::walk::show;
use crate::fsys::{Fs, Kind, Real};
use std::path::{Path, PathBuf};

/// The roots of one storage that are there, without links. Under XDG there are several.
pub fn roots(fs: &dyn Fs, location: &Location) -> Vec<PathBuf> {
    let named = [location.agent_dir.clone(), location.data.clone(), location.state.clone(), location.sessions()];
    named.iter().filter_map(|path| fs.realpath(path).ok()).collect()
}

/// Refuses a new file or folder that would lie in the storage of this user, or in any other.
///
/// # Errors
/// [`Failure::Usage`] for such a path.
pub fn outside(console: &Console, path: &Path) -> Result<(), Failure> {
    let own = console.location(&Real, None).map(|own| roots(&Real, &own)).unwrap_or_default();
    outside_storage(&Real, &console.environment.current_dir, path, &own)
}

/// Refuses a new file or folder that would lie in session storage: gjc would find a foreign file there, or lose one of its
/// own. Storage are the `known` roots (without links), and whatever holds what gjc makes. A relative path is taken from `base`.
///
/// # Errors
/// [`Failure::Usage`] for such a path.
pub fn outside_storage(fs: &dyn Fs, base: &Path, path: &Path, known: &[PathBuf]) -> Result<(), Failure> {
    match nearest(fs, &base.join(path)) {
        Some(folder) => folder_outside_storage(fs, path, &folder, known),
        None => Ok(()),
    }
}

/// The same for a folder that new files go into, or whose last part is still to be made: `real` is it, without links.
///
/// # Errors
/// [`Failure::Usage`] for such a folder.
pub fn folder_outside_storage(fs: &dyn Fs, named: &Path, real: &Path, known: &[PathBuf]) -> Result<(), Failure> {
    let is_storage = |folder: &&Path| {
        known.iter().any(|root| root == folder) || is_agent(fs, folder) || matches!(part_of(fs, folder), Some(Part::Directory { .. }))
    };
    match real.ancestors().find(is_storage) {
        None => Ok(()),
        Some(inside) => Err(Failure::Usage(format!(
            "{}: this lies in gjc's own storage ({}), where only gjc makes files; name a place outside of it",
            show(named.as_os_str()),
            show(inside.as_os_str())
        ))),
    }
}

/// Refuses a report file that [`crate::fsys::output::write_report`] would not write: known before any work is done, so that
/// of several files either all are written or none.
///
/// # Errors
/// [`Failure::Usage`] where a transcript, a link or a folder stands there.
pub fn replaceable(fs: &dyn Fs, base: &Path, path: &Path) -> Result<(), Failure> {
    let Ok(meta) = fs.lstat(&base.join(path)) else { return Ok(()) };
    let transcript = meta.kind == Kind::File && path.extension().is_some_and(|extension| extension == "jsonl");
    if transcript || matches!(meta.kind, Kind::Directory | Kind::Symlink) {
        let what = if transcript { "a transcript may stand there" } else { meta.kind.noun() };
        return Err(Failure::Usage(format!("{}: it exists ({what}), and is not replaced by a report", path.display())));
    }
    Ok(())
}

/// The nearest folder above a path that exists, without links.
fn nearest(fs: &dyn Fs, path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find_map(|folder| fs.realpath(folder).ok())
}

/// Whether gjc's storage lies here: a `sessions` folder that holds a scope, a legacy directory, or what gjc reserves.
fn is_agent(fs: &dyn Fs, folder: &Path) -> bool {
    let Ok(names) = fs.list(&folder.join(SESSIONS)) else { return false };
    names.iter().any(|entry| {
        matches!(sessions_name(entry.name.as_encoded_bytes()), SessionsName::Scope | SessionsName::Legacy | SessionsName::Reserved)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsys::Memory;

    fn refused(fs: &Memory, path: &str) -> bool {
        outside_storage(fs, Path::new("/w"), Path::new(path), &[]).is_err()
    }

    /// Before gjc made anything in it, nothing but its place tells that it is storage.
    #[test]
    fn an_empty_agent_directory_is_known_by_its_place() {
        let fs = Memory::new();
        fs.directory("/w");
        fs.directory("/data/gjc");
        fs.symlink("/home/.gjc/agent", "/data/gjc");
        let known = roots(&fs, &Location::explicit("/home/.gjc/agent".into()));
        for (path, refused) in [("/home/.gjc/agent/x", true), ("/data/gjc/new/x", true), ("/data/x", false), ("/home/.gjc/x", false)] {
            let file = outside_storage(&fs, Path::new("/w"), Path::new(path), &known);
            assert_eq!(file.is_err(), refused, "{path}");
        }
        assert!(folder_outside_storage(&fs, Path::new("x"), Path::new("/data/gjc"), &known).is_err());
        assert!(folder_outside_storage(&fs, Path::new("x"), Path::new("/data"), &known).is_ok());
    }

    #[test]
    fn nothing_is_written_anywhere_below_an_agent_directory() {
        let fs = Memory::new();
        fs.directory("/w");
        fs.directory("/home/.gjc/agent/sessions/--w--");
        fs.directory("/home/.gjc/agent/blobs");
        fs.symlink("/w/link", "/home/.gjc/agent/blobs");
        for path in ["/home/.gjc/agent/history.db", "/home/.gjc/agent/blobs/x", "/home/.gjc/agent/sessions/--w--/new/x", "link/x"] {
            assert!(refused(&fs, path), "{path}");
        }
    }

    #[test]
    fn a_project_with_a_folder_called_sessions_is_no_agent_directory() {
        let fs = Memory::new();
        fs.directory("/w/sessions/monday");
        fs.directory("/home/.gjc/agent/sessions/--w--");
        for path in ["report.json", "sessions/report.json", "/home/.gjc/report.json", "/nowhere/x"] {
            assert!(!refused(&fs, path), "{path}");
        }
    }

    #[test]
    fn a_report_replaces_a_file_but_no_transcript_link_or_folder() {
        let fs = Memory::new();
        fs.file("/w/report.json", b"{}");
        fs.file("/w/a.jsonl", b"{}");
        fs.directory("/w/folder");
        fs.symlink("/w/link", "report.json");
        let answers =
            ["report.json", "absent", "a.jsonl", "folder", "link"].map(|path| replaceable(&fs, Path::new("/w"), Path::new(path)).is_ok());
        assert_eq!(answers, [true, true, false, false, false]);
    }
}
