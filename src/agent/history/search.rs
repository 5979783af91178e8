//! What gjc finds in its prompt history (spec 04 §8): the most recent prompts, and those that contain some words.

use super::guard;
use super::open::History;
use regex::Regex;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Row, ToSql};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Most rows of an answer.
const MOST: u32 = 1_000;

/// Text of all rows of an answer that is kept: a hostile row may be as large as its database.
const MOST_BYTES: usize = 64 << 20;

/// One remembered prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    /// Its number; later ones are larger.
    pub id: i64,
    /// What was typed.
    pub text: String,
    /// When, in seconds since the epoch; none when the database holds no whole number there.
    pub created_at: Option<i64>,
    /// In which workspace.
    pub cwd: Option<String>,
}

/// The limit that gjc makes of a number: not finite is 0, else rounded down and held within 0 and 1,000.
pub fn limit(asked: f64) -> u32 {
    // A conversion saturates, and what is not a number becomes 0.
    if asked.is_finite() { (asked.floor() as u32).min(MOST) } else { 0 }
}

/// The words that a search looks for: lower case, without anything but letters and numbers.
pub fn words(query: &str) -> Vec<String> {
    // The pattern is a constant that compiles: a test calls this function.
    static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^\p{L}\p{N}]+").ok());
    let query = query.to_lowercase();
    let split = BETWEEN.iter().flat_map(|between| between.split(&query));
    split.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// What a search finds. It goes two ways, and takes what the other finds where one fails, as gjc does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// The prompts, the best first.
    pub prompts: Vec<Prompt>,
    /// Why the index could not be asked for words that begin so.
    pub index_failed: Option<String>,
    /// Why the table could not be asked for what contains the words.
    pub table_failed: Option<String>,
}

impl History {
    /// The most recent prompts, the latest first.
    ///
    /// # Errors
    /// SQLite's.
    pub fn recent(&self, limit: u32, cwd: Option<&str>) -> Result<Vec<Prompt>, Error> {
        recent(&self.connection, limit, cwd)
    }
    /// The prompts that contain the words.
    ///
    /// # Errors
    /// The budget of steps was spent.
    pub fn search(&self, query: &str, limit: u32, cwd: Option<&str>) -> Result<Answer, Error> {
        search(&self.connection, query, limit, cwd)
    }
}

/// See [`History::recent`].
pub(super) fn recent(connection: &Connection, limit: u32, cwd: Option<&str>) -> Result<Vec<Prompt>, Error> {
    let narrowed = if cwd.is_some() { "WHERE cwd = ?2" } else { "" };
    let sql = format!("SELECT id, prompt, created_at, cwd FROM history {narrowed} ORDER BY created_at DESC, id DESC LIMIT ?1");
    rows(connection, &sql, &[&limit], cwd)
}

/// See [`History::search`]. Prompts with words that begin with all of the asked ones come first; where there are fewer than
/// the limit, those follow that merely contain all of them. A way that fails finds nothing, as in gjc.
pub(super) fn search(connection: &Connection, query: &str, limit: u32, cwd: Option<&str>) -> Result<Answer, Error> {
    let words = words(query);
    let mut answer = Answer::default();
    if limit == 0 || words.is_empty() {
        return Ok(answer);
    }
    let narrowed = if cwd.is_some() { "AND h.cwd = ?3" } else { "" };
    let sql = format!(
        "SELECT h.id, h.prompt, h.created_at, h.cwd FROM history_fts JOIN history h ON h.id = history_fts.rowid \
         WHERE history_fts MATCH ?2 {narrowed} ORDER BY h.created_at DESC, h.id DESC LIMIT ?1"
    );
    // A word holds no quote: only letters and numbers are left of it.
    let wanted: Vec<String> = words.iter().map(|word| format!("\"{word}\"*")).collect();
    answer.prompts = or_nothing(rows(connection, &sql, &[&limit, &wanted.join(" ")], cwd), &mut answer.index_failed)?;
    if answer.prompts.len() < limit as usize {
        let mut seen: BTreeSet<i64> = answer.prompts.iter().map(|prompt| prompt.id).collect();
        let more = or_nothing(containing(connection, &words, limit, cwd), &mut answer.table_failed)?;
        answer.prompts.extend(more.into_iter().filter(|prompt| seen.insert(prompt.id)));
        answer.prompts.truncate(limit as usize);
    }
    Ok(answer)
}

/// Prompts that contain every word somewhere.
fn containing(connection: &Connection, words: &[String], limit: u32, cwd: Option<&str>) -> Result<Vec<Prompt>, Error> {
    let patterns: Vec<String> = words.iter().map(|word| format!("%{}%", literally(word))).collect();
    let mut parameters: Vec<&dyn ToSql> = vec![&limit];
    parameters.extend(patterns.iter().map(|pattern| pattern as &dyn ToSql));
    let mut conditions: Vec<String> = (0..words.len()).map(|at| format!("prompt LIKE ?{} ESCAPE '\\'", at + 2)).collect();
    conditions.extend(cwd.map(|_| format!("cwd = ?{}", words.len() + 2)));
    let wanted = conditions.join(" AND ");
    let sql = format!("SELECT id, prompt, created_at, cwd FROM history WHERE {wanted} ORDER BY created_at DESC, id DESC LIMIT ?1");
    rows(connection, &sql, &parameters, cwd)
}

/// A text as a LIKE pattern that matches itself.
fn literally(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        if matches!(letter, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

fn or_nothing(found: Result<Vec<Prompt>, Error>, failed: &mut Option<String>) -> Result<Vec<Prompt>, Error> {
    match found {
        Err(error) if !guard::is_spent(&error) => {
            *failed = Some(error.to_string().replace('\n', " "));
            Ok(Vec::new())
        }
        found => found,
    }
}

/// Runs a statement whose last parameter is the workspace, when one is asked for.
fn rows(connection: &Connection, sql: &str, parameters: &[&dyn ToSql], cwd: Option<&str>) -> Result<Vec<Prompt>, Error> {
    let mut statement = connection.prepare(sql)?;
    let mut all = parameters.to_vec();
    all.extend(cwd.iter().map(|cwd| cwd as &dyn ToSql));
    let mut rows = statement.query(all.as_slice())?;
    let (mut prompts, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let prompt = prompt(row)?;
        bytes += prompt.text.len() + prompt.cwd.as_ref().map_or(0, String::len);
        if bytes > MOST_BYTES {
            break;
        }
        prompts.push(prompt);
    }
    Ok(prompts)
}

fn prompt(row: &Row<'_>) -> Result<Prompt, Error> {
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    };
    Ok(Prompt {
        id: row.get(0)?,
        text: text(row.get_ref(1)?).unwrap_or_default(),
        created_at: row.get_ref(2)?.as_i64().ok(),
        cwd: text(row.get_ref(3)?),
    })
}

#[cfg(test)]
mod tests {
    use super::super::store::HistoryStore;
    use super::*;

    /// The five-row example of spec 04 §8, and a prompt of another workspace.
    fn store() -> HistoryStore {
        let mut store = HistoryStore::in_memory().unwrap();
        for prompt in ["  hello World ", "hello World", "foo_bar baz", "   ", "hello World"] {
            store.add(prompt, Some("/w"), 0).unwrap();
        }
        store.add("git-commit 한글", Some("/other"), 0).unwrap();
        store.flush().unwrap();
        store
    }

    fn found(query: &str) -> Vec<String> {
        found_in(query, 10, None)
    }
    fn found_in(query: &str, limit: u32, cwd: Option<&str>) -> Vec<String> {
        store().search(query, limit, cwd).unwrap().prompts.into_iter().map(|prompt| format!("{} {}", prompt.id, prompt.text)).collect()
    }

    #[test]
    fn all_words_are_wanted_and_each_may_be_a_beginning() {
        assert_eq!(found("wor hel"), ["3 hello World", "1 hello World"]);
        assert!(found("wor foo").is_empty());
    }

    #[test]
    fn what_stands_in_the_middle_of_a_word_is_found_behind_the_beginnings() {
        assert_eq!(found("o_b"), ["2 foo_bar baz"]);
        assert_eq!(found("mit"), ["4 git-commit 한글"]);
        // `o` begins no word; it is contained in all of them.
        assert_eq!(found("o"), ["4 git-commit 한글", "3 hello World", "2 foo_bar baz", "1 hello World"]);
        // `ba` begins two words of the second.
        assert_eq!(found("ba"), ["2 foo_bar baz"]);
    }

    #[test]
    fn signs_are_no_words() {
        assert!(found("%").is_empty());
        assert!(found("").is_empty());
        assert!(found("_ - \"").is_empty());
        assert_eq!(found("GIT commit"), ["4 git-commit 한글"]);
        assert_eq!(found("한"), ["4 git-commit 한글"]);
    }

    #[test]
    fn words_are_runs_of_letters_and_numbers_in_lower_case() {
        assert_eq!(words("Foo_bar-2 ÀΣ ½ e\u{301}x"), ["foo", "bar", "2", "àς", "½", "e", "x"]);
    }

    #[test]
    fn a_workspace_narrows_the_search_and_the_recent_ones() {
        assert_eq!(found_in("o", 10, Some("/other")), ["4 git-commit 한글"]);
        let recent: Vec<i64> = store().recent(10, Some("/w")).unwrap().iter().map(|prompt| prompt.id).collect();
        assert_eq!(recent, [3, 2, 1]);
    }

    #[test]
    fn a_limit_is_what_gjc_makes_of_it() {
        let limits = [f64::NAN, f64::INFINITY, -3.0, 0.9, 1.9, 1000.0, 1e9].map(limit);
        assert_eq!(limits, [0, 0, 0, 0, 1, 1000, 1000]);
        assert_eq!(found_in("o", 2, None), ["4 git-commit 한글", "3 hello World"]);
        assert!(found_in("o", 0, None).is_empty());
    }

    #[test]
    fn without_the_index_the_containing_ones_are_still_found() {
        let store = store();
        store.connection().execute_batch("DROP TABLE history_fts").unwrap();
        let found = store.search("wor", 10, None).unwrap();
        assert_eq!(found.prompts.iter().map(|prompt| prompt.id).collect::<Vec<_>>(), [3, 1]);
        assert_eq!((found.index_failed.as_deref(), found.table_failed), (Some("no such table: history_fts"), None));
    }

    #[test]
    fn without_the_table_nothing_is_found_and_both_ways_say_why() {
        let store = store();
        store.connection().execute_batch("DROP TABLE history").unwrap();
        let found = store.search("wor", 10, None).unwrap();
        assert!(found.prompts.is_empty());
        assert!(found.index_failed.is_some() && found.table_failed.as_deref() == Some("no such table: history"), "{found:?}");
        assert_eq!(store.search("%", 10, None).unwrap(), Answer::default(), "nothing is asked");
    }

    #[test]
    fn more_words_than_a_statement_may_have_find_what_gjc_finds() {
        let many = (0..3_000).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
        assert!(found(&many).is_empty());
    }

    #[test]
    fn the_later_one_comes_first_and_of_one_second_the_one_with_the_larger_number() {
        let store = store();
        let rows = "INSERT INTO history(id, prompt, created_at) VALUES(50, 'zeta old', 5), (20, 'zeta new', 9), (10, 'zeta new too', 9)";
        store.connection().execute_batch(rows).unwrap();
        let ids = |prompts: Vec<Prompt>| prompts.iter().map(|prompt| prompt.id).collect::<Vec<_>>();
        assert_eq!(ids(store.search("zet", 10, None).unwrap().prompts), [20, 10, 50]);
        assert_eq!(ids(store.search("eta", 10, None).unwrap().prompts), [20, 10, 50], "also those that merely contain it");
        assert_eq!(ids(store.recent(10, None).unwrap()).split_off(4), [20, 10, 50]);
    }

    #[test]
    fn beginnings_are_found_without_accents_and_middles_only_as_they_are_written() {
        let store = store();
        store.connection().execute_batch("INSERT INTO history(prompt) VALUES('Grand CAFÉ')").unwrap();
        let found = |query: &str| store.search(query, 10, None).unwrap().prompts.len();
        assert_eq!((found("cafe"), found("café"), found("CAFÉ")), (1, 1, 1), "the index folds them");
        assert_eq!((found("rand"), found("AND")), (1, 1), "letters of ASCII are one in either case");
        assert_eq!(found("afé"), 0, "other letters are not");
    }

    #[test]
    fn rows_of_odd_types_are_shown() {
        let store = store();
        store.connection().execute_batch("INSERT INTO history(prompt, created_at, cwd) VALUES(x'ff41', 'soon', 7)").unwrap();
        let recent = store.recent(1, None).unwrap();
        assert_eq!(recent[0], Prompt { id: 5, text: "\u{fffd}A".into(), created_at: None, cwd: Some("7".into()) });
    }
}
