//! The audit of a prompt history: is it a sound database, is everything there that gjc makes, does the search index hold
//! what the table holds (spec 04 §8, the paragraph "Checks").

use super::guard;
use super::open::History;
use super::schema::{DOCSIZE, EXPECTED, Expected, LEGACY, Schema};
use rusqlite::{Connection, Error};

/// Messages of the integrity check that are kept.
const MESSAGES: usize = 5;

/// What an audit found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Audit {
    /// Why the file is no sound database; then nothing is said of the search index.
    pub corrupt: Option<String>,
    /// What is missing or different.
    pub faults: Vec<Fault>,
    /// How the search index differs from the table.
    pub index: Option<Index>,
    /// Rows of a table that an interrupted migration left.
    pub legacy: Option<u64>,
    /// Prompts; none when they could not be counted.
    pub prompts: Option<u64>,
    /// What kept the audit from its end.
    pub incomplete: Option<String>,
}

/// An object that is not as gjc makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// `table`, `index` or `trigger`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Something of this name is there, with another definition.
    pub different: bool,
    /// gjc replaces it when it opens the database.
    pub migrates: bool,
    /// What follows.
    pub consequence: &'static str,
}

/// How the search index differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// It has another number of prompts than the table.
    Count {
        /// Prompts in the index.
        indexed: u64,
        /// Prompts in the table.
        prompts: u64,
    },
    /// SQLite's own check of it fails.
    Damaged(String),
}

/// Looks at everything.
pub fn audit(history: &History) -> Audit {
    let mut audit = Audit::default();
    if let Err(error) = look(&history.connection, &mut audit) {
        if guard::is_spent(&error) {
            audit.incomplete = Some("the steps that a database of this size may take are spent".into());
        } else {
            audit.corrupt.get_or_insert_with(|| words(&error));
        }
    }
    audit
}

fn look(connection: &Connection, audit: &mut Audit) -> Result<(), Error> {
    let schema = Schema::read(connection)?;
    audit.faults = schema.faults().iter().map(|fault| Fault::of(fault.expected, fault.found.is_some(), fault.migrates)).collect();
    let strangers = schema.strangers();
    if !strangers.is_empty() {
        let names: Vec<String> = strangers.iter().take(MESSAGES).map(|name| format!("`{name}`")).collect();
        audit.incomplete = Some(format!("the integrity check would evaluate definitions that are not gjc's: {}", names.join(", ")));
    } else if let Some(damage) = integrity(connection)? {
        audit.corrupt = Some(damage);
        return Ok(());
    }
    if schema.has_table(LEGACY) {
        audit.legacy = Some(count(connection, LEGACY)?);
    }
    // Another table of this name may compute its columns.
    if strangers.is_empty() && schema.has_table("history") {
        let prompts = count(connection, "history")?;
        audit.prompts = Some(prompts);
        if schema.is_ours("history") && schema.is_ours("history_fts") && schema.has_table(DOCSIZE) {
            audit.index = index(connection, prompts)?;
        }
    }
    Ok(())
}

impl Fault {
    fn of(expected: &'static Expected, different: bool, migrates: bool) -> Fault {
        Fault { kind: expected.kind, name: expected.name, different, migrates, consequence: expected.consequence }
    }
}

fn count(connection: &Connection, table: &str) -> Result<u64, Error> {
    // The names are this program's own.
    connection.query_row(&format!("SELECT count(*) FROM main.\"{table}\""), [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
}

/// The first words of the integrity check, when it finds anything. What it finds in the search index is not meant here.
fn integrity(connection: &Connection) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare("PRAGMA integrity_check(100)")?;
    let mut rows = statement.query([])?;
    let mut damage: Vec<String> = Vec::new();
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if message != "ok" && !is_about_the_index(&message) && damage.len() < MESSAGES {
            damage.push(message.replace('\n', " "));
        }
    }
    Ok((!damage.is_empty()).then(|| format!("the integrity check says: {}", damage.join("; "))))
}

fn is_about_the_index(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("fts5 table") || message.starts_with("fts5: ") || message.contains("fts5 file format")
}

/// Compares the search index with the table: first the numbers, then what SQLite itself compares. The rows of `history_fts`
/// prove nothing: it has no content of its own.
fn index(connection: &Connection, prompts: u64) -> Result<Option<Index>, Error> {
    let indexed = count(connection, DOCSIZE)?;
    if indexed != prompts {
        return Ok(Some(Index::Count { indexed, prompts }));
    }
    // A command of FTS5, spelled as an insertion; 1 = compare with the content too.
    match connection.execute("INSERT INTO history_fts(history_fts, rank) VALUES('integrity-check', 1)", []) {
        Ok(_) => Ok(None),
        Err(error) if guard::is_spent(&error) => Err(error),
        Err(error) => Ok(Some(Index::Damaged(words(&error)))),
    }
}

/// SQLite's words, on one line.
fn words(error: &Error) -> String {
    error.to_string().replace('\n', " ")
}

impl Audit {
    /// Whether nothing was found and everything was looked at.
    pub fn is_clean(&self) -> bool {
        let Audit { corrupt, faults, index, legacy, incomplete, .. } = self;
        corrupt.is_none() && faults.is_empty() && index.is_none() && legacy.is_none() && incomplete.is_none()
    }
    /// Whether the database holds nothing that gjc makes: an empty file, or another program's.
    pub fn holds_nothing(&self) -> bool {
        self.faults.len() == EXPECTED.len() && self.faults.iter().all(|fault| !fault.different)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes and damages its own database")]
mod tests {
    use super::super::store::HistoryStore;
    use super::*;
    use crate::fsys::Real;
    use std::path::{Path, PathBuf};

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        /// A database with three prompts, closed: everything is in the one file.
        fn new() -> Self {
            let place = Place { folder: tempfile::tempdir().unwrap() };
            let mut store = HistoryStore::open(&place.path()).unwrap();
            for prompt in ["hello World", "foo_bar baz", "git commit"] {
                store.add(prompt, Some("/w"), 0).unwrap();
            }
            store.close().unwrap();
            place
        }
        fn path(&self) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join("history.db")
        }
        fn with(self, statements: &str) -> Self {
            Connection::open(self.path()).unwrap().execute_batch(statements).unwrap();
            self
        }
        fn audit(&self) -> Audit {
            audit(&History::open(&Real, &self.path()).unwrap())
        }
        /// Names, bytes and times of everything in the folder.
        fn state(&self) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
            let mut all: Vec<_> = std::fs::read_dir(self.folder.path())
                .unwrap()
                .map(|entry| entry.unwrap())
                .map(|entry| {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    (entry.file_name().into_string().unwrap(), bytes, entry.metadata().unwrap().modified().unwrap())
                })
                .collect();
            all.sort();
            all
        }
    }

    #[test]
    fn what_gjc_leaves_is_clean() {
        let place = Place::new();
        let audit = place.audit();
        assert!(audit.is_clean(), "{audit:?}");
        assert_eq!(audit.prompts, Some(3));
    }

    #[test]
    fn beside_a_running_writer_the_log_is_read_and_nothing_in_the_folder_changes() {
        let place = Place::new();
        let writer = Connection::open(place.path()).unwrap();
        writer.execute_batch("PRAGMA wal_autocheckpoint=0; INSERT INTO history(prompt) VALUES('only in the log'); BEGIN IMMEDIATE; INSERT INTO history(prompt) VALUES('not committed');").unwrap();
        let before = place.state();
        assert_eq!(before.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(), ["history.db", "history.db-shm", "history.db-wal"]);
        let audit = place.audit();
        assert!(audit.is_clean(), "{audit:?}");
        assert_eq!(audit.prompts, Some(4));
        assert_eq!(place.state(), before);
        writer.execute_batch("COMMIT").unwrap();
        assert_eq!(place.audit().prompts, Some(5));
    }

    #[test]
    fn a_missing_trigger_is_named_and_what_it_left_unindexed_is_told() {
        let place = Place::new().with("DROP TRIGGER history_ai");
        let audit = place.audit();
        assert_eq!(audit.faults.iter().map(|fault| (fault.name, fault.different)).collect::<Vec<_>>(), [("history_ai", false)]);
        assert_eq!(audit.index, None);
        let audit = place.with("INSERT INTO history(prompt) VALUES('lost')").audit();
        assert_eq!(audit.index, Some(Index::Count { indexed: 3, prompts: 4 }));
    }

    #[test]
    fn a_row_deleted_by_hand_leaves_a_stale_index_entry() {
        let audit = Place::new().with("DELETE FROM history WHERE id = 2").audit();
        assert_eq!(audit.index, Some(Index::Count { indexed: 3, prompts: 2 }));
        assert_eq!((audit.corrupt, audit.faults), (None, vec![]));
    }

    #[test]
    fn a_prompt_changed_by_hand_is_found_by_the_check_of_the_index_although_the_numbers_agree() {
        let audit = Place::new().with("UPDATE history SET prompt = 'something else' WHERE id = 2").audit();
        assert!(matches!(audit.index, Some(Index::Damaged(_))), "{audit:?}");
        assert_eq!(audit.corrupt, None);
    }

    #[test]
    fn a_damaged_index_is_no_damaged_database() {
        let audit = Place::new().with("UPDATE history_fts_data SET block = x'00' WHERE id = 10").audit();
        assert!(matches!(audit.index, Some(Index::Damaged(_))), "{audit:?}");
        assert_eq!(audit.corrupt, None);
    }

    #[test]
    fn an_interrupted_migration_is_counted() {
        let place = Place::new().with(
            "CREATE TABLE history_legacy(id INTEGER PRIMARY KEY, prompt TEXT); INSERT INTO history_legacy(prompt) VALUES('a'), ('b')",
        );
        assert_eq!(place.audit().legacy, Some(2));
    }

    fn damaged(change: impl Fn(&mut Vec<u8>)) -> Audit {
        let place = Place::new();
        let mut bytes = std::fs::read(place.path()).unwrap();
        change(&mut bytes);
        std::fs::write(place.path(), bytes).unwrap();
        let before = place.state();
        let audit = place.audit();
        assert_eq!(place.state(), before);
        audit
    }

    #[test]
    fn what_is_no_database_or_a_damaged_one_is_corrupt() {
        let corrupt = [
            damaged(|bytes| *bytes = b"this is no database, only text that is long enough to be one".repeat(100)),
            damaged(|bytes| bytes.truncate(5000)),
            damaged(|bytes| bytes.truncate(100)),
            damaged(|bytes| bytes[4096..8192].fill(0xFF)),
        ];
        for audit in corrupt {
            assert!(audit.corrupt.is_some(), "{audit:?}");
            assert_eq!(audit.index, None);
        }
    }

    /// SQLite takes an empty file for an empty database, and gjc fills it.
    #[test]
    fn an_empty_file_holds_nothing() {
        let audit = damaged(Vec::clear);
        assert!(audit.holds_nothing() && audit.corrupt.is_none(), "{audit:?}");
    }

    #[test]
    fn no_single_damaged_byte_makes_the_audit_fail_otherwise() {
        let place = Place::new();
        let sound = std::fs::read(place.path()).unwrap();
        for at in (0..sound.len()).step_by(257) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x5A;
            std::fs::write(place.path(), &bytes).unwrap();
            let first = place.audit();
            assert_eq!(place.audit(), first, "byte {at}");
        }
    }

    #[test]
    fn a_schema_that_computes_is_not_evaluated() {
        // Each row would compare a long text with a pattern of many wildcards: hours.
        let hostile = "CREATE TABLE trap(a TEXT, b AS (a LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b') STORED NOT NULL);";
        let audit = Place::new().with(hostile).audit();
        assert_eq!(audit.incomplete.as_deref(), Some("the integrity check would evaluate definitions that are not gjc's: `trap`"));
        assert_eq!(audit.prompts, None);
    }

    #[test]
    fn a_rollback_journal_is_not_replayed_and_what_it_names_stays() {
        let place = Place::new();
        let named = place.folder.path().join("precious");
        std::fs::write(&named, "precious").unwrap();
        std::fs::write(place.folder.path().join("history.db-journal"), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7".repeat(100)).unwrap();
        let before = place.state();
        assert!(place.audit().is_clean());
        assert_eq!(place.state(), before);
    }

    #[test]
    fn what_is_not_there_or_no_file_is_not_opened() {
        use super::super::NotOpened;
        let place = Place::new();
        let open = |path: &Path| History::open(&Real, path).map(|_| ()).unwrap_err();
        let folder = place.path().parent().unwrap().to_owned();
        assert!(matches!(open(&folder.join("none.db")), NotOpened::Absent));
        assert!(matches!(open(&folder), NotOpened::NotAFile(_)));
        std::os::unix::fs::symlink(place.path(), folder.join("link.db")).unwrap();
        assert!(matches!(open(&folder.join("link.db")), NotOpened::Failed(_)));
        std::fs::File::create(folder.join("huge.db")).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(open(&folder.join("huge.db")), NotOpened::TooLarge { .. }));
    }
}
