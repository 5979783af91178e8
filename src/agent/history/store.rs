//! The reference writer of a prompt history: what gjc stores of what is typed (spec 04 §8).

use super::schema::{EXPECTED, OLDER_FORM};
use super::search::{self, Answer, Prompt};
use crate::json::text;
use rusqlite::{Connection, Error, OptionalExtension};
use std::path::Path;

/// Milliseconds for which prompts are gathered into one transaction.
pub const GATHERING_MS: u64 = 100;

/// A prompt history that is written. The clock is the caller's: it hands in the time with each prompt, and may call
/// [`HistoryStore::tick`] when no prompt comes.
pub struct HistoryStore {
    connection: Connection,
    /// The prompt that was added last, written or not; a repetition of it is ignored.
    last: Option<String>,
    /// Prompts that are not yet written, and when the first of them came.
    gathered: Vec<(String, Option<String>)>,
    since_ms: u64,
}

impl HistoryStore {
    /// Opens a database, and makes what is missing in it, as gjc does. This writes to `path`.
    ///
    /// # Errors
    /// SQLite's.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::prepare(Connection::open(path)?)
    }
    /// A history that nobody keeps.
    ///
    /// # Errors
    /// SQLite's.
    pub fn in_memory() -> Result<Self, Error> {
        Self::prepare(Connection::open_in_memory()?)
    }

    fn prepare(mut connection: Connection) -> Result<Self, Error> {
        let is_there = |kind: &str, name: &str| {
            connection
                .query_row("SELECT 1 FROM sqlite_schema WHERE type = ?1 AND name = ?2", [kind, name], |_| Ok(()))
                .optional()
                .map(|row| row.is_some())
        };
        connection.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=5000;")?;
        let indexed = is_there("table", "history_fts")?;
        for expected in &EXPECTED {
            if !is_there(expected.kind, expected.name)? {
                connection.execute_batch(expected.sql)?;
            }
        }
        if has_older_form(&connection)? {
            renew(&mut connection)?;
        }
        if !indexed {
            connection.execute_batch("INSERT INTO history_fts(history_fts) VALUES('rebuild')")?;
        }
        let last = connection.query_row("SELECT prompt FROM history ORDER BY id DESC LIMIT 1", [], |row| row.get(0)).optional()?;
        Ok(HistoryStore { connection, last, gathered: Vec::new(), since_ms: 0 })
    }

    /// Adds what was typed at `now_ms`. White space around it is dropped; nothing, and what was added just before (in
    /// whatever workspace), is ignored: then the answer is false.
    ///
    /// # Errors
    /// Earlier prompts were due and could not be written.
    pub fn add(&mut self, prompt: &str, cwd: Option<&str>, now_ms: u64) -> Result<bool, Error> {
        self.tick(now_ms)?;
        // What is cut off is whole characters, so what is left is text.
        let prompt = std::str::from_utf8(text::trim(prompt.as_bytes())).unwrap_or_default();
        if prompt.is_empty() || self.last.as_deref() == Some(prompt) {
            return Ok(false);
        }
        if self.gathered.is_empty() {
            self.since_ms = now_ms;
        }
        self.last = Some(prompt.to_owned());
        self.gathered.push((prompt.to_owned(), cwd.map(str::to_owned)));
        Ok(true)
    }

    /// Writes what was gathered, when the first of it is old enough.
    ///
    /// # Errors
    /// It could not be written.
    pub fn tick(&mut self, now_ms: u64) -> Result<(), Error> {
        if !self.gathered.is_empty() && now_ms.saturating_sub(self.since_ms) >= GATHERING_MS { self.flush() } else { Ok(()) }
    }

    /// Writes what was gathered, in one transaction: all of it or nothing. What could not be written is dropped, as in gjc.
    ///
    /// # Errors
    /// It could not be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        let gathered = std::mem::take(&mut self.gathered);
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare("INSERT INTO history (prompt, cwd) VALUES (?1, ?2)")?;
            for (prompt, cwd) in &gathered {
                insert.execute((prompt, cwd))?;
            }
        }
        transaction.commit()
    }

    /// Writes what was gathered and closes.
    ///
    /// # Errors
    /// It could not be written.
    pub fn close(mut self) -> Result<(), Error> {
        self.flush()?;
        self.connection.close().map_err(|(_, error)| error)
    }

    /// See [`super::History::recent`]. What is gathered is not yet there.
    ///
    /// # Errors
    /// SQLite's.
    pub fn recent(&self, limit: u32, cwd: Option<&str>) -> Result<Vec<Prompt>, Error> {
        search::recent(&self.connection, limit, cwd)
    }
    /// See [`super::History::search`]. What is gathered is not yet there.
    ///
    /// # Errors
    /// None but that of a budget, which this connection does not have.
    pub fn search(&self, query: &str, limit: u32, cwd: Option<&str>) -> Result<Answer, Error> {
        search::search(&self.connection, query, limit, cwd)
    }
    #[cfg(test)]
    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// Whether the table computes its times with a function that older versions of SQLite do not have.
fn has_older_form(connection: &Connection) -> Result<bool, Error> {
    let sql: Option<String> = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'history'", [], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(sql.is_some_and(|sql| sql.contains(OLDER_FORM)))
}

/// Makes the table anew, all of it or nothing. The index by workspace is not among what is made: its name is still taken by
/// that of the old table, with which it goes. gjc makes it when it opens the database the next time.
fn renew(connection: &mut Connection) -> Result<(), Error> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "ALTER TABLE history RENAME TO history_legacy; DROP INDEX IF EXISTS idx_history_created_at; \
         DROP TRIGGER IF EXISTS history_ai; DROP TABLE IF EXISTS history_fts",
    )?;
    let make = |names: [&str; 2]| {
        EXPECTED.iter().filter(|expected| names.contains(&expected.name)).try_for_each(|expected| transaction.execute_batch(expected.sql))
    };
    make(["history", "idx_history_created_at"])?;
    transaction.execute_batch(
        "INSERT INTO history (id, prompt, created_at, cwd) SELECT id, prompt, created_at, cwd FROM history_legacy; DROP TABLE history_legacy",
    )?;
    make(["history_fts", "history_ai"])?;
    transaction.execute_batch("INSERT INTO history_fts(history_fts) VALUES('rebuild')")?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(store: &HistoryStore) -> Vec<String> {
        let mut rows = store.recent(1_000, None).unwrap();
        rows.reverse();
        rows.into_iter().map(|prompt| prompt.text).collect()
    }

    #[test]
    fn the_five_additions_of_the_specification_give_three_rows() {
        let mut store = HistoryStore::in_memory().unwrap();
        let added = ["  hello World ", "hello World", "foo_bar baz", " \t\n ", "hello World"].map(|text| store.add(text, None, 0).unwrap());
        assert_eq!(added, [true, false, true, false, true]);
        store.flush().unwrap();
        assert_eq!(texts(&store), ["hello World", "foo_bar baz", "hello World"]);
    }

    #[test]
    fn a_repetition_is_ignored_whatever_the_workspace_and_across_openings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let mut store = HistoryStore::open(&path).unwrap();
        assert!(store.add("again", Some("/a"), 0).unwrap());
        assert!(!store.add("again", Some("/b"), 0).unwrap());
        store.close().unwrap();
        let mut store = HistoryStore::open(&path).unwrap();
        assert!(!store.add("again", Some("/c"), 0).unwrap());
        assert_eq!(texts(&store), ["again"]);
    }

    #[test]
    fn the_previous_prompt_of_a_database_is_the_one_with_the_largest_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        HistoryStore::open(&path).unwrap().close().unwrap();
        let rows = "INSERT INTO history(id, prompt, created_at) VALUES(1, 'typed later', 99), (2, 'stored last', 1)";
        Connection::open(&path).unwrap().execute_batch(rows).unwrap();
        let mut store = HistoryStore::open(&path).unwrap();
        assert!(!store.add("stored last", None, 0).unwrap());
        assert!(store.add("typed later", None, 0).unwrap());
    }

    #[test]
    fn white_space_is_what_javascript_trims() {
        let mut store = HistoryStore::in_memory().unwrap();
        assert!(store.add("\u{feff}\u{a0} kept\u{2003}\n", None, 0).unwrap());
        assert!(!store.add("\u{a0}\u{feff}", None, 0).unwrap());
        assert!(store.add("\u{200b}", None, 0).unwrap(), "a space without width is no white space");
        store.flush().unwrap();
        assert_eq!(texts(&store), ["kept", "\u{200b}"]);
    }

    #[test]
    fn nothing_is_ever_dropped_for_its_age_or_number() {
        let mut store = HistoryStore::in_memory().unwrap();
        for number in 0..1_500 {
            store.add(&format!("prompt {number}"), None, 0).unwrap();
        }
        store.flush().unwrap();
        let rows: i64 = store.connection.query_row("SELECT count(*) FROM history", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1_500);
    }

    #[test]
    fn what_comes_within_a_tenth_of_a_second_is_written_together() {
        let mut store = HistoryStore::in_memory().unwrap();
        store.add("one", None, 1_000).unwrap();
        store.add("two", None, 1_099).unwrap();
        assert!(texts(&store).is_empty());
        store.add("three", None, 1_100).unwrap();
        assert_eq!(texts(&store), ["one", "two"]);
        store.tick(1_199).unwrap();
        assert_eq!(texts(&store), ["one", "two"]);
        store.tick(1_200).unwrap();
        assert_eq!(texts(&store), ["one", "two", "three"]);
    }

    #[test]
    fn a_batch_is_written_whole_or_not_at_all() {
        let mut store = HistoryStore::in_memory().unwrap();
        store
            .connection
            .execute_batch("CREATE TRIGGER no BEFORE INSERT ON history WHEN new.prompt = 'two' BEGIN SELECT RAISE(ABORT, 'no'); END")
            .unwrap();
        store.add("one", None, 0).unwrap();
        store.add("two", None, 0).unwrap();
        assert!(store.flush().is_err());
        assert!(texts(&store).is_empty());
        // And what is typed again is still a repetition.
        assert!(!store.add("two", None, 0).unwrap());
    }

    #[test]
    fn what_is_missing_is_made_again_and_the_index_is_filled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let mut store = HistoryStore::open(&path).unwrap();
        store.add("kept", None, 0).unwrap();
        store.close().unwrap();
        Connection::open(&path).unwrap().execute_batch("DROP TABLE history_fts; DROP INDEX idx_history_created_at;").unwrap();
        let store = HistoryStore::open(&path).unwrap();
        assert_eq!(store.search("kep", 10, None).unwrap().prompts.len(), 1);
        assert!(super::super::schema::Schema::read(&store.connection).unwrap().faults().is_empty());
    }

    #[test]
    fn a_table_of_the_older_form_is_made_anew_with_all_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let old = "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, \
                   created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT); \
                   INSERT INTO history(id, prompt, created_at, cwd) VALUES(7, 'kept', 5, '/w'), (9, 'kept too', 6, NULL)";
        Connection::open(&path).unwrap().execute_batch(old).unwrap();
        let missing = |store: &HistoryStore| {
            let schema = super::super::schema::Schema::read(&store.connection).unwrap();
            assert!(!schema.has_table("history_legacy"));
            schema.faults().iter().map(|fault| fault.expected.name).collect::<Vec<_>>()
        };
        let mut store = HistoryStore::open(&path).unwrap();
        assert_eq!(missing(&store), ["idx_history_cwd_created_at"], "until the next opening");
        assert!(!store.add("kept too", None, 0).unwrap(), "the previous prompt is known");
        let found = store.search("kep", 10, None).unwrap().prompts;
        assert_eq!(found.iter().map(|prompt| (prompt.id, prompt.created_at)).collect::<Vec<_>>(), [(9, Some(6)), (7, Some(5))]);
        store.close().unwrap();
        assert_eq!(missing(&HistoryStore::open(&path).unwrap()), [""; 0]);
    }

    #[test]
    fn times_are_whole_seconds() {
        let mut store = HistoryStore::in_memory().unwrap();
        store.add("now", None, 0).unwrap();
        store.flush().unwrap();
        let at = store.recent(1, None).unwrap()[0].created_at.unwrap();
        assert!(at > 1_600_000_000 && at < 100_000_000_000, "{at}");
    }
}
