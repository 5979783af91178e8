//! The area *history* of spec 05: the prompt history `history.db` of an agent directory. It is looked at through a private
//! copy ([`crate::agent::history`]); sessions do not depend on it.

pub mod codes;

use super::operational;
use super::run::Site;
use crate::agent::history::audit::{Audit, Fault, Index};
use crate::agent::history::{History, NotOpened, audit};
use crate::finding::{Finding, Sink};
use crate::fsys::Kind;
use std::path::Path;

const LINKED: &str = "gjc uses the database that the link leads to, as SQLite does.";
const CHECK_BY_ITSELF: &str = "`gjc-fsck history PATH` checks the database that the link leads to.";

/// Judges the database at `path`; none there is nothing to judge: gjc makes it with the first prompt. A link is not followed:
/// a check reads nothing outside the directory.
pub fn check(site: &Site<'_>, path: &Path, sink: &mut dyn Sink) {
    let incomplete = |why: String| {
        let message = format!("The prompt history was not judged to its end: {why}.");
        Finding::new(&operational::codes::CHECK_INCOMPLETE, site.place(path), message)
    };
    if site.fs.lstat(path).is_ok_and(|meta| meta.kind == Kind::Symlink) {
        let finding = incomplete("it is a symlink, which the check of a directory does not follow".into());
        return sink.push(finding.gjc(LINKED).help(CHECK_BY_ITSELF));
    }
    match History::open(site.fs, path) {
        Ok(history) => report(site, path, &audit(&history), sink),
        Err(NotOpened::Absent) => {}
        // The walk of the agent directory names special files; none is opened.
        Err(NotOpened::NotAFile(kind)) if kind.is_special() => {}
        Err(NotOpened::NotAFile(kind)) => not_a_file(site, path, kind, sink),
        Err(NotOpened::Moving(_)) => operational::changed(site, path, "the database was written to every time it was copied", sink),
        Err(NotOpened::Failed(error)) => operational::unreadable(site, &error, sink),
        Err(why @ (NotOpened::TooLarge { .. } | NotOpened::NoRoom(_))) => sink.push(incomplete(why.to_string())),
    }
}

/// Tells what stands in the place of the database.
pub fn not_a_file(site: &Site<'_>, path: &Path, kind: Kind, sink: &mut dyn Sink) {
    let message = format!("A {} stands in the place of the database.", kind.noun());
    sink.push(Finding::new(&codes::HISTORY_CORRUPT, site.place(path), message));
}

fn report(site: &Site<'_>, path: &Path, audit: &Audit, sink: &mut dyn Sink) {
    let mut push = |code, message: String| sink.push(Finding::new(code, site.place(path), message));
    if let Some(damage) = &audit.corrupt {
        push(&codes::HISTORY_CORRUPT, format!("The database cannot be trusted: {damage}."));
    }
    if audit.holds_nothing() {
        push(&codes::HISTORY_SCHEMA, "It holds nothing of what gjc makes; gjc makes all of it when it opens the database.".into());
    } else if !audit.faults.is_empty() {
        let faults: Vec<String> = audit.faults.iter().map(fault).collect();
        push(&codes::HISTORY_SCHEMA, format!("Not as gjc makes it: {}.", faults.join("; ")));
    }
    match &audit.index {
        None => {}
        Some(Index::Count { indexed, prompts }) => {
            let message = format!("The search index holds {}, the table {}.", counted(*indexed), counted(*prompts));
            push(&codes::HISTORY_FTS_OUT_OF_SYNC, message);
        }
        Some(Index::Damaged(why)) => push(&codes::HISTORY_FTS_OUT_OF_SYNC, format!("SQLite's check of the search index fails: {why}.")),
    }
    if let Some(rows) = audit.legacy {
        push(&codes::HISTORY_MIGRATION_INTERRUPTED, format!("The table `history_legacy` is left, with {}.", counted(rows)));
    }
    if let Some(why) = &audit.incomplete {
        push(&operational::codes::CHECK_INCOMPLETE, format!("The prompt history was not judged to its end: {why}."));
    }
}

/// `trigger history_ai is missing (prompts are stored without being found)`
fn fault(fault: &Fault) -> String {
    let Fault { kind, name, different, migrates, consequence } = fault;
    match (different, migrates) {
        (_, true) => format!("{kind} `{name}` has an older form, which gjc replaces when it opens the database"),
        (true, _) => format!("{kind} `{name}` is different ({consequence})"),
        (false, _) => format!("{kind} `{name}` is missing ({consequence})"),
    }
}

/// `1 prompt`, `7 prompts`
fn counted(prompts: u64) -> String {
    format!("{prompts} {}", if prompts == 1 { "prompt" } else { "prompts" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::history::store::HistoryStore;
    use crate::finding::Collected;
    use crate::fsys::plant::{Plant, plant};
    use crate::fsys::{Inject, Memory, Phase, Real};
    use rusqlite::Connection;

    /// A database with two prompts, after these statements.
    fn database(statements: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let mut store = HistoryStore::open(&path).unwrap();
        store.add("hello", None, 0).unwrap();
        store.add("world", None, 0).unwrap();
        store.close().unwrap();
        Connection::open(&path).unwrap().execute_batch(statements).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut crate::fsys::input::open(&path).unwrap(), &mut bytes).unwrap();
        bytes
    }

    fn found_in(fs: &Memory) -> Vec<(&'static str, String)> {
        let mut sink = Collected::default();
        check(&Site::for_tests(fs), Path::new("/copy/agent/history.db"), &mut sink);
        assert!(sink.findings.iter().all(|finding| &*finding.place.path == "history.db"));
        sink.findings.into_iter().map(|finding| (finding.code.name, finding.message)).collect()
    }
    fn found(bytes: &[u8]) -> Vec<(&'static str, String)> {
        let fs = Memory::new();
        fs.file("/copy/agent/history.db", bytes);
        found_in(&fs)
    }
    fn codes(bytes: &[u8]) -> Vec<&'static str> {
        found(bytes).into_iter().map(|(code, _)| code).collect()
    }

    #[test]
    fn a_sound_database_and_none_at_all_are_clean() {
        assert_eq!(codes(&database("")), [""; 0]);
        assert_eq!(found_in(&Memory::new()), []);
    }

    #[test]
    fn a_link_is_told_and_not_followed() {
        let fs = Memory::new();
        fs.file("/elsewhere/history.db", b"secret");
        fs.directory("/copy/agent");
        fs.symlink("/copy/agent/history.db", "/elsewhere/history.db");
        let message = "The prompt history was not judged to its end: it is a symlink, which the check of a directory does not follow.";
        assert_eq!(found_in(&fs), [("check_incomplete", message.into())]);
    }

    #[test]
    fn history_corrupt_is_a_file_that_is_no_database() {
        let sound = database("");
        let mut damaged = sound.clone();
        damaged[0] ^= 1;
        assert_eq!(codes(&damaged), ["history_corrupt"]);
        damaged[0] ^= 1;
        assert_eq!(codes(&damaged), [""; 0]);
    }

    #[test]
    fn history_corrupt_is_a_directory_in_its_place() {
        let fs = Memory::new();
        fs.directory("/copy/agent/history.db");
        assert_eq!(found_in(&fs), [("history_corrupt", "A directory stands in the place of the database.".into())]);
    }

    #[test]
    fn history_schema_is_a_missing_trigger_and_its_near_miss_spells_it_otherwise() {
        let message = "Not as gjc makes it: trigger `history_ai` is missing (prompts are stored without being found).";
        assert_eq!(found(&database("DROP TRIGGER history_ai")), [("history_schema", message.into())]);
        let again = "DROP TRIGGER history_ai; create trigger history_ai after insert on history begin\n insert into history_fts (rowid,prompt) values(new.id,new.prompt); end";
        assert_eq!(codes(&database(again)), [""; 0]);
    }

    #[test]
    fn history_schema_names_everything_that_is_missing_once() {
        let found = found(&database("DROP TABLE history_fts; DROP INDEX idx_history_created_at; DROP TRIGGER history_ai"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].1.contains("`idx_history_created_at` is missing") && found[0].1.contains("`history_fts` is missing"), "{found:?}");
        assert!(super::tests::found(b"")[0].1.starts_with("It holds nothing of what gjc makes"));
    }

    #[test]
    fn history_fts_out_of_sync_is_a_row_deleted_by_hand_and_its_near_miss_is_deleted_from_the_index_too() {
        let found = found(&database("DELETE FROM history WHERE id = 1"));
        assert_eq!(found, [("history_fts_out_of_sync", "The search index holds 2 prompts, the table 1 prompt.".into())]);
        let both = "DELETE FROM history WHERE id = 1; INSERT INTO history_fts(history_fts, rowid, prompt) VALUES('delete', 1, 'hello')";
        assert_eq!(codes(&database(both)), [""; 0]);
    }

    #[test]
    fn history_migration_interrupted_is_the_table_it_leaves_and_its_near_miss_has_another_name() {
        let left = |name: &str| codes(&database(&format!("CREATE TABLE {name}(id INTEGER PRIMARY KEY, prompt TEXT)")));
        assert_eq!(left("history_legacy"), ["history_migration_interrupted"]);
        assert_eq!(left("history_legacy2"), [""; 0]);
    }

    #[test]
    fn a_database_that_never_rests_is_told_as_a_change_and_not_judged() {
        let fs = Memory::new();
        fs.file("/copy/agent/history.db", &database("DELETE FROM history WHERE id = 1"));
        let moving = Inject::new(&fs, |call| {
            if call.op == "read" && call.phase == Phase::After {
                fs.append("/copy/agent/history.db", b"+");
            }
            None
        });
        let mut sink = Collected::default();
        check(&Site { fs: &moving, ..Site::for_tests(&fs) }, Path::new("/copy/agent/history.db"), &mut sink);
        let found: Vec<&str> = sink.findings.iter().map(|finding| finding.code.name).collect();
        assert_eq!(found, ["concurrent_change"], "{:?}", sink.findings);
    }

    #[test]
    fn what_cannot_be_copied_is_not_judged() {
        let fs = Memory::new();
        fs.special("/copy/agent/history.db", Kind::Fifo);
        assert_eq!(found_in(&fs), []);
        // A schema that computes is a stranger's: silence would read as clean.
        assert_eq!(codes(&database("CREATE TABLE t(a, b AS (a))")), ["check_incomplete"]);
    }

    #[test]
    fn the_real_file_system_is_only_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = crate::fsys::Fs::realpath(&Real, folder.path()).unwrap();
        plant(&path, &[Plant::file("history.db", database(""))]).unwrap();
        let names = || crate::fsys::Fs::list(&Real, &path).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        let memory = Memory::new();
        let site = Site { fs: &Real, root: &path, ..Site::for_tests(&memory) };
        let mut sink = Collected::default();
        check(&site, &path.join("history.db"), &mut sink);
        assert!(sink.findings.is_empty());
        assert_eq!(names(), ["history.db"]);
    }
}
