//! From a path to a guarded connection.

use super::guard::{self, LARGEST};
use crate::fsys::scratch::{NoCopy, Scratch};
use crate::fsys::{Fs, Kind, Refusal};
use rusqlite::Connection;
use std::path::Path;

/// What belongs to a database in WAL mode. The `-shm` is an index of the log that SQLite makes anew. A rollback journal
/// `-journal` is left behind on purpose: gjc makes none, and one may name any file of the machine, which SQLite would
/// remove when it believes that nobody needs it any more.
pub const COMPANIONS: [&str; 1] = ["-wal"];

/// A private copy of a prompt history, open. Reading it may write to the copy.
pub struct History {
    /// Closed before the copy goes.
    pub(super) connection: Connection,
    scratch: Scratch,
}

/// Why a prompt history was not opened.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// Nothing stands there: gjc makes it when it needs it.
    #[error("there is no prompt history")]
    Absent,
    /// It is no file, so it is no database.
    #[error("a {} stands in its place", .0.noun())]
    NotAFile(Kind),
    /// It kept moving while it was copied.
    #[error("it changed every time it was copied ({0})")]
    Moving(String),
    /// It is larger than this program looks at.
    #[error("it has {size} bytes with its log, more than the {limit} that are looked at")]
    TooLarge {
        /// Bytes of the database and its log.
        size: u64,
        /// The most that are copied.
        limit: u64,
    },
    /// An operation failed.
    #[error("{0}")]
    Failed(crate::fsys::Error),
    /// The private copy could not be made.
    #[error("{0}")]
    NoRoom(String),
}

impl From<NoCopy> for NotOpened {
    fn from(no_copy: NoCopy) -> Self {
        match no_copy {
            NoCopy::Copy(error) => NotOpened::NoRoom(format!("no private copy could be made: {error}")),
            NoCopy::Original(refusal) => match refusal {
                Refusal::Failed(error) if refusal_is_absence(&error) => NotOpened::Absent,
                Refusal::Failed(error) => NotOpened::Failed(error),
                Refusal::NotAFile(kind) => NotOpened::NotAFile(kind),
                Refusal::Changed(fields) => NotOpened::Moving(fields.join(", ")),
                Refusal::Capacity { size, limit, .. } => NotOpened::TooLarge { size, limit },
                // Links do not matter here; no copy asks for them.
                Refusal::Links(links) => NotOpened::NoRoom(format!("it has {links} links")),
            },
        }
    }
}

fn refusal_is_absence(error: &crate::fsys::Error) -> bool {
    matches!(error.errno, crate::fsys::Errno::NOENT | crate::fsys::Errno::NOTDIR)
}

impl History {
    /// Copies and opens. What SQLite says of the content shows when it is asked something.
    ///
    /// # Errors
    /// Why there is nothing to ask.
    pub fn open(fs: &dyn Fs, path: &Path) -> Result<History, NotOpened> {
        let scratch = Scratch::copy(fs, path, &COMPANIONS, LARGEST)?;
        let connection =
            guard::connect(&scratch.path_of(path), scratch.bytes()).map_err(|error| NotOpened::NoRoom(format!("SQLite: {error}")))?;
        Ok(History { connection, scratch })
    }
    /// Bytes of the database and its log.
    pub const fn bytes(&self) -> u64 {
        self.scratch.bytes()
    }
}
