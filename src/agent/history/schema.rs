//! What gjc expects in its database, and what is there.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

/// An object that gjc makes.
pub struct Expected {
    /// `table`, `index` or `trigger`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its definition. White space and the case of words outside quotes do not matter.
    pub sql: &'static str,
    /// What follows when it is missing or different.
    pub consequence: &'static str,
}

/// The objects of spec 04 §8, in the order in which gjc makes them.
pub static EXPECTED: [Expected; 5] = [
    Expected {
        kind: "table",
        name: "history",
        sql: "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, \
              created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)), cwd TEXT)",
        consequence: "prompts may not be stored or found",
    },
    Expected {
        kind: "index",
        name: "idx_history_created_at",
        sql: "CREATE INDEX idx_history_created_at ON history(created_at DESC)",
        consequence: "recall is slower until gjc makes it again",
    },
    Expected {
        kind: "index",
        name: "idx_history_cwd_created_at",
        sql: "CREATE INDEX idx_history_cwd_created_at ON history(cwd, created_at DESC)",
        consequence: "recall in a workspace is slower until gjc makes it again",
    },
    Expected {
        kind: "table",
        name: "history_fts",
        sql: "CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id')",
        consequence: "search by words fails until gjc makes and fills it again",
    },
    Expected {
        kind: "trigger",
        name: "history_ai",
        sql: "CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt); END",
        consequence: "prompts are stored without being found",
    },
];

/// The tables that FTS5 keeps its index in, and those that SQLite makes by itself.
const OWN: [&str; 7] =
    ["history_fts_data", "history_fts_idx", "history_fts_docsize", "history_fts_config", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4"];

/// What tells a table that gjc makes anew when it opens the database.
pub const OLDER_FORM: &str = "unixepoch(";

/// The table of a migration under way.
pub const LEGACY: &str = "history_legacy";

/// The table behind the search index that has one row for each indexed prompt.
pub const DOCSIZE: &str = "history_fts_docsize";

/// Most objects that are read; gjc makes eleven.
const MOST: usize = 200;

/// One object of a database.
pub struct Object {
    kind: String,
    name: String,
    sql: String,
}

/// The objects of a database.
pub struct Schema {
    objects: Vec<Object>,
    /// Not all of them were read.
    cut: bool,
}

impl Schema {
    /// Reads the objects.
    ///
    /// # Errors
    /// SQLite's: the file is no database, or the table of objects is damaged.
    pub fn read(connection: &Connection) -> Result<Schema> {
        let text =
            |value: ValueRef<'_>| value.as_bytes_or_null().ok().flatten().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
        let mut rows = statement.query([])?;
        let mut schema = Schema { objects: Vec::new(), cut: false };
        while let Some(row) = rows.next()? {
            if schema.objects.len() == MOST {
                schema.cut = true;
                break;
            }
            schema.objects.push(Object { kind: text(row.get_ref(0)?), name: text(row.get_ref(1)?), sql: text(row.get_ref(2)?) });
        }
        Ok(schema)
    }
    fn get(&self, kind: &str, name: &str) -> Option<&Object> {
        // SQLite compares names without regard to ASCII case.
        self.objects.iter().find(|object| object.kind == kind && object.name.eq_ignore_ascii_case(name))
    }
    /// Whether there is an ordinary or virtual table of this name.
    pub fn has_table(&self, name: &str) -> bool {
        self.get("table", name).is_some()
    }
    /// Whether the object is there exactly as gjc makes it.
    pub fn is_ours(&self, name: &str) -> bool {
        let expected = EXPECTED.iter().find(|expected| expected.name == name);
        expected.is_some_and(|expected| self.get(expected.kind, name).is_some_and(|object| same(&object.sql, expected.sql)))
    }
    /// What is missing, and what is different.
    pub fn faults(&self) -> Vec<Fault> {
        let fault = |expected: &'static Expected| match self.get(expected.kind, expected.name) {
            None => Some(Fault { expected, found: None, migrates: false }),
            Some(object) if same(&object.sql, expected.sql) => None,
            Some(object) => {
                let migrates = expected.name == "history" && object.sql.contains(OLDER_FORM);
                Some(Fault { expected, found: Some(object.sql.clone()), migrates })
            }
        };
        EXPECTED.iter().filter_map(fault).collect()
    }
    /// Objects that nobody but a stranger makes, whose definitions SQLite would evaluate while it checks the database: with
    /// them the integrity check is not bounded by the size of the file, so it is not run.
    pub fn strangers(&self) -> Vec<&str> {
        let evaluated = |object: &&Object| match object.kind.as_str() {
            // Neither is run: triggers and views are off.
            "trigger" | "view" => false,
            _ if object.sql.is_empty() => false,
            _ => !self.is_tame(object),
        };
        let mut names: Vec<&str> = self.objects.iter().filter(evaluated).map(|object| object.name.as_str()).collect();
        names.extend(self.cut.then_some("…"));
        names
    }
    /// Whether a definition holds nothing to be evaluated for each row.
    fn is_tame(&self, object: &Object) -> bool {
        if self.is_ours(&object.name) || OWN.iter().any(|own| object.name.eq_ignore_ascii_case(own)) {
            return true;
        }
        let words = tokens(&object.sql);
        match object.kind.as_str() {
            // One list of columns and nothing behind it: no expression, no condition.
            "index" => words.iter().filter(|word| *word == "(").count() == 1 && !words.iter().any(|word| word == "where"),
            "table" => words.get(1).is_some_and(|word| word == "table") && !generates(&words),
            _ => false,
        }
    }
}

/// Whether a table has a computed column: `AS (` in its definition.
fn generates(words: &[String]) -> bool {
    words.windows(2).any(|pair| pair[0] == "as" && pair[1] == "(") || words.iter().any(|word| word == "generated")
}

/// Something that is not as gjc makes it.
pub struct Fault {
    /// What gjc makes.
    pub expected: &'static Expected,
    /// The definition that is there instead; none when nothing of this name is.
    pub found: Option<String>,
    /// gjc replaces this older form by the present one when it opens the database.
    pub migrates: bool,
}

/// Whether two definitions are the same but for white space, comments, and the case of words outside quotes.
fn same(one: &str, other: &str) -> bool {
    tokens(one) == tokens(other)
}

/// The words and signs of a definition; quoted texts as they stand.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if matches!(first, '\'' | '"' | '`' | '[') {
            let close = if first == '[' { ']' } else { first };
            let length = rest[1..].find(close).map_or(rest.len(), |end| end + 2);
            tokens.push(rest[..length].to_owned());
            length
        } else if word(first) {
            let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
            tokens.push(rest[..length].to_ascii_lowercase());
            length
        } else {
            tokens.push(first.to_string());
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(statements: &str) -> Schema {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(statements).unwrap();
        Schema::read(&connection).unwrap()
    }

    fn all() -> String {
        EXPECTED.iter().map(|expected| format!("{};", expected.sql)).collect()
    }

    #[test]
    fn what_gjc_makes_has_no_fault_and_no_stranger() {
        let schema = schema(&all());
        assert!(schema.faults().is_empty());
        assert!(schema.strangers().is_empty());
        assert!(EXPECTED.iter().all(|expected| schema.is_ours(expected.name)));
    }

    #[test]
    fn white_space_and_case_of_keywords_do_not_matter() {
        let spaced = all().replace("AFTER INSERT ON history BEGIN", "after\n\tinsert  on history\nbegin").replace("(prompt,", "( prompt ,");
        assert!(schema(&spaced).faults().is_empty());
    }

    #[test]
    fn each_object_that_is_missing_or_different_is_one_fault() {
        let names = |statements: &str| schema(statements).faults().iter().map(|fault| fault.expected.name).collect::<Vec<_>>();
        assert_eq!(names(""), ["history", "idx_history_created_at", "idx_history_cwd_created_at", "history_fts", "history_ai"]);
        assert_eq!(names(&all().replace("(created_at DESC)", "(created_at)")), ["idx_history_created_at"]);
        assert_eq!(names(&all().replace("content_rowid='id'", "content_rowid='ID'")), ["history_fts"]);
        assert_eq!(names(&all().replace("cwd TEXT)", "cwd TEXT, more TEXT)")), ["history"]);
    }

    #[test]
    fn the_older_form_of_the_table_is_known() {
        let older = all().replace("CAST(strftime('%s','now') AS INTEGER)", "unixepoch()");
        assert!(schema(&older).faults().iter().all(|fault| fault.migrates));
        assert_eq!(schema(&older).faults().len(), 1);
    }

    #[test]
    fn what_would_be_evaluated_is_a_stranger_and_plain_tables_and_indexes_are_not() {
        let with = |more: &str| schema(&format!("{}{more}", all())).strangers().into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert!(with("CREATE TABLE notes (a TEXT DEFAULT (CAST(1 AS TEXT)), b); CREATE INDEX n ON notes(a, b);").is_empty());
        assert!(with("CREATE VIEW v AS SELECT hex(1); CREATE TRIGGER t AFTER DELETE ON history BEGIN SELECT 1; END;").is_empty());
        assert_eq!(with("CREATE TABLE g (a, b AS (a || a));"), ["g"]);
        assert_eq!(with("CREATE INDEX e ON history(lower(prompt));"), ["e"]);
        assert_eq!(with("CREATE INDEX w ON history(prompt) WHERE prompt LIKE '%a%a%';"), ["w"]);
        assert_eq!(with("CREATE VIRTUAL TABLE r USING rtree(id, a, b);"), ["r"]);
    }

    #[test]
    fn a_quote_that_never_ends_is_read_to_the_end() {
        assert_eq!(tokens("a 'b -- c"), ["a", "'b -- c"]);
        assert_eq!(tokens("/* never"), Vec::<String>::new());
        assert_eq!(tokens("é['"), ["é", "['"]);
    }
}
