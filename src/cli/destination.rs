//! Where a command may write: never into session storage, whatever the user named.

use super::Failure;
use crate::agent::layout::{SESSIONS, SessionsName, sessions_name};
use crate::fsys::{Fs, Kind};
use std::path::Path;

/// Refuses a new file or folder that would lie in an agent directory: gjc would find a foreign file there, or lose one of
/// its own. A relative path is taken from `base`.
///
/// # Errors
/// [`Failure::Usage`] for such a path.
pub fn outside_storage(fs: &dyn Fs, base: &Path, path: &Path) -> Result<(), Failure> {
    let path = base.join(path);
    let Some(agent) = nearest(fs, &path).and_then(|folder| folder.ancestors().find(|folder| is_agent(fs, folder)).map(Path::to_owned))
    else {
        return Ok(());
    };
    let why = "this lies in the agent directory";
    Err(Failure::Usage(format!("{}: {why} {}, and nothing is written there; name a place outside", path.display(), agent.display())))
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
fn nearest(fs: &dyn Fs, path: &Path) -> Option<std::path::PathBuf> {
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
        outside_storage(fs, Path::new("/w"), Path::new(path)).is_err()
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
