//! A session manager over files in memory that can be made to fail.

use super::content::Content;
use super::manager::{Manager, OpError, OpenError, World};
use super::place::Place;
use super::storage::{Files, Memory, SessionStorage};
use super::successor::Artifacts;
use crate::finding::Release;
use crate::fsys::{self, Call, Errno, Inject, Phase};
use crate::json::{JsStr, JsString, Value};
use crate::transcript::blobs::{BlobSink, MemoryStore, name_of};
use crate::transcript::migrate::IdSource;
use crate::transcript::persist::opened::NameSource;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ids in order of creation, and one time.
#[derive(Default)]
pub(super) struct Counted {
    entries: u64,
    sessions: u64,
}

impl IdSource for Counted {
    fn next_id(&mut self) -> JsString {
        self.entries += 1;
        format!("e{}", self.entries).into()
    }
}

impl World for Counted {
    fn session_id(&mut self) -> JsString {
        self.sessions += 1;
        format!("s{}", self.sessions).into()
    }
    fn now(&mut self) -> JsString {
        "2026-01-01T00:00:00.000Z".into()
    }
}

pub(super) type Tested<'s> = Manager<'s, Counted, MemoryStore>;

pub(super) const FIRST: &str = "/s/2026-01-01T00-00-00-000Z_s1.jsonl";
pub(super) const SECOND: &str = "/s/2026-01-01T00-00-00-000Z_s2.jsonl";

pub(super) fn place() -> Place {
    Place::explicit("/w", "/s", Release::V0_17)
}
pub(super) fn create(storage: &dyn SessionStorage) -> Tested<'_> {
    Manager::create(Counted::default(), MemoryStore::default(), storage, place(), None).unwrap()
}
pub(super) fn open<'s>(storage: &'s dyn SessionStorage, path: &str) -> Result<Tested<'s>, OpenError> {
    Manager::open(Counted::default(), MemoryStore::default(), storage, place(), path.to_owned())
}
pub(super) fn value(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}
pub(super) fn ask(text: &str) -> Content {
    Content::message(value(&format!(r#"{{"role":"user","content":"{text}"}}"#)))
}
pub(super) fn answer(text: &str) -> Content {
    Content::message(value(&format!(r#"{{"role":"assistant","content":"{text}"}}"#)))
}
pub(super) fn text(storage: &dyn SessionStorage, path: &str) -> String {
    String::from_utf8(storage.read(path).unwrap()).unwrap()
}
pub(super) fn lines(storage: &dyn SessionStorage, path: &str) -> usize {
    text(storage, path).lines().count()
}

/// A conversation on disk.
pub(super) fn talked(storage: &dyn SessionStorage) -> Tested<'_> {
    let mut manager = create(storage);
    manager.append(ask("q")).unwrap();
    manager.append(answer("a")).unwrap();
    manager
}

/// 04 §7.3
#[test]
fn a_session_without_an_answer_is_never_written() {
    let storage = Memory::new();
    let mut manager = create(&storage);
    manager.append(ask("q")).unwrap();
    assert!(manager.set_name(JsStr::from("N"), NameSource::User).unwrap());
    manager.flush().unwrap();
    assert_eq!(manager.close().0, Ok(()));
    assert_eq!(storage.all(), []);
}

/// 04 §7.3
#[test]
fn the_first_answer_writes_everything_and_later_entries_are_appended() {
    let storage = Memory::new();
    let mut manager = create(&storage);
    manager.set_name(JsStr::from("N"), NameSource::User).unwrap();
    manager.append(ask("q")).unwrap();
    manager.append(answer("a")).unwrap();
    assert_eq!(manager.session_file(), Some(FIRST));
    assert_eq!(lines(&storage, FIRST), 3);
    assert!(text(&storage, FIRST).lines().next().unwrap().ends_with(r#""title":"N","titleSource":"user"}"#));
    let before = storage.stat(FIRST).unwrap();
    manager.append(ask("r")).unwrap();
    assert_eq!((lines(&storage, FIRST), storage.stat(FIRST).unwrap().ino), (4, before.ino));
    assert_eq!(storage.all().len(), 1);
}

/// 04 §7.3: ensure-on-disk
#[test]
fn a_draft_brings_the_session_to_disk() {
    let storage = Memory::new();
    let mut manager = create(&storage);
    manager.ensure_on_disk().unwrap();
    assert_eq!(lines(&storage, FIRST), 1);
    manager.append(ask("q")).unwrap();
    assert_eq!(lines(&storage, FIRST), 2);
}

/// Seeds "Persist vs in-memory"
#[test]
fn nothing_is_written_of_a_session_in_memory_and_it_is_not_forked() {
    let storage = Memory::new();
    let place = Place::nowhere("/w", Release::V0_17);
    let mut manager = Manager::create(Counted::default(), MemoryStore::default(), &storage, place, None).unwrap();
    manager.append(ask("q")).unwrap();
    manager.append(answer("a")).unwrap();
    manager.rewrite().unwrap();
    manager.ensure_on_disk().unwrap();
    assert!(manager.set_starred(true).unwrap());
    assert_eq!((manager.session_file(), manager.session().entries().len()), (None, 3));
    assert_eq!(manager.fork(), Err(OpError::plain("Cannot fork an in-memory session")));
    assert_eq!(manager.close().0, Ok(()));
    assert_eq!(storage.all(), []);
}

/// 04 §4.8
#[test]
fn opening_what_is_not_there_begins_a_session_at_that_path() {
    let storage = Memory::new();
    let manager = open(&storage, "/s/any name.jsonl").unwrap();
    assert_eq!(manager.session_file(), Some("/s/any name.jsonl"));
    assert_eq!(lines(&storage, "/s/any name.jsonl"), 1);
}

/// 04 §4.8
#[test]
fn what_is_malformed_or_empty_is_refused_and_not_touched() {
    let storage = Memory::new();
    for bytes in [&b""[..], b"{}\n", b"garbage\n"] {
        storage.write(FIRST, bytes).unwrap();
        let error = open(&storage, FIRST).err().unwrap();
        assert_eq!(error.to_string(), "Could not open session: malformed");
        assert_eq!(storage.read(FIRST).unwrap(), bytes);
    }
    let error = open(&storage, "/s/.staging/a.jsonl").err().unwrap();
    assert_eq!(error.to_string(), "Staged session paths are not resumable");
}

/// 01 §6, 04 §4.8
#[test]
fn an_older_file_is_migrated_by_the_first_write_and_not_by_reading() {
    let storage = Memory::new();
    let old = "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n{\"type\":\"message\",\"timestamp\":\"t\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n";
    storage.write(FIRST, old.as_bytes()).unwrap();
    let mut manager = open(&storage, FIRST).unwrap();
    assert_eq!(text(&storage, FIRST), old);
    manager.append(ask("r")).unwrap();
    let new = text(&storage, FIRST);
    assert!(new.starts_with(r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w","version":5}"#), "{new}");
    assert!(new.lines().nth(2).unwrap().contains(r#""parentId":"e1""#), "{new}");
}

/// A disk on which nothing can be written while it is full.
fn while_full<'f>(fs: &'f fsys::Memory, full: &'f AtomicBool) -> Inject<'f> {
    Inject::changing(fs, |call: &Call<'_>| {
        (call.op == "write" && call.phase == Phase::Before && full.load(Ordering::SeqCst)).then_some(Errno::NOSPC)
    })
}

/// 04 §7.3: the first failure is latched, rethrown, and ends with the session
#[test]
fn a_failed_append_is_taken_back_and_stays_until_another_session_is_installed() {
    let fs = fsys::Memory::new();
    fs.directory("/s");
    let full = AtomicBool::new(false);
    let failing = while_full(&fs, &full);
    let storage = Files::new(&failing);
    let mut manager = talked(&storage);
    full.store(true, Ordering::SeqCst);
    let error = manager.append(ask("r")).unwrap_err();
    assert_eq!(error.class, "SessionAppendPersistenceError");
    assert_eq!((manager.session().entries().len(), lines(&storage, FIRST)), (3, 3));
    assert!(manager.session().leaf() == &Value::string("e2"));
    full.store(false, Ordering::SeqCst);
    assert_eq!(manager.append(ask("r")), Err(error.clone()));
    for again in [manager.rewrite(), manager.flush(), manager.set_starred(true).map(|_| ())] {
        assert_eq!(again, Err(OpError::plain(error.message.as_str())));
    }
    assert_eq!(lines(&storage, FIRST), 3);
    manager.new_session(None).unwrap();
    assert_eq!(manager.check(), Ok(()));
    manager.append(answer("b")).unwrap();
    assert_eq!((manager.paths(), lines(&storage, SECOND)), (vec![FIRST, SECOND], 2));
    assert_eq!(manager.close().0, Ok(()));
}

/// 01 §8.5
#[test]
fn a_file_that_vanished_is_written_again_as_a_whole() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    storage.unlink(FIRST).unwrap();
    manager.append(ask("r")).unwrap();
    assert_eq!(lines(&storage, FIRST), 4);
}

/// 04 §2.6
#[test]
fn stars_are_records_with_a_checkpoint_before_another_patch() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    assert!(manager.set_starred(true).unwrap() && !manager.set_starred(true).unwrap());
    manager.set_name(JsStr::from("N"), NameSource::User).unwrap();
    let patches: Vec<String> = text(&storage, FIRST).lines().skip(3).map(str::to_owned).collect();
    let star = r#"{"type":"header_patch","patch":{"starred":true}}"#;
    assert_eq!(patches, [star, star, r#"{"type":"header_patch","patch":{"title":"N","titleSource":"user"}}"#]);
    let old = Place::explicit("/w", "/s", Release::V0_15);
    let mut manager = Manager::create(Counted::default(), MemoryStore::default(), &storage, old, None).unwrap();
    assert!(manager.set_starred(true).is_err());
}

/// 01 §4.2: `context_clear`
#[test]
fn clearing_the_context_begins_a_fresh_root() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    manager.clear_context(None).unwrap();
    manager.append(ask("r")).unwrap();
    let written = text(&storage, FIRST);
    assert!(written.contains(r#"{"type":"custom","customType":"context_clear","id":"e3","parentId":null"#), "{written}");
    assert!(written.contains(r#""id":"e4","parentId":"e3""#), "{written}");
}

/// 01 §4.2 (0.17)
#[test]
fn who_owns_the_model_profile_is_said_again_behind_a_cleared_context() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    let marker = value(r#"{"kind":"profile","profile":"fast"}"#);
    manager.append(Content::custom(Value::string("model_profile_ownership"), Some(marker))).unwrap();
    manager.clear_context(None).unwrap();
    let written = text(&storage, FIRST);
    let last = written.lines().last().unwrap();
    assert!(last.contains(r#""customType":"model_profile_ownership","data":{"kind":"profile","profile":"fast"}"#), "{last}");
    assert!(last.contains(r#""parentId":"e4""#), "{last}");
}

/// 04 §4.3 step 2
#[test]
fn what_is_too_large_is_not_even_read() {
    let fs = fsys::Memory::new();
    fs.directory("/s");
    fs.sparse(FIRST, 134_217_729);
    let storage = Files::new(&fs);
    assert_eq!(open(&storage, FIRST).err().unwrap().to_string(), "Could not open session: oversized");
}

/// 04 §7.4: near the limit an append becomes a rewrite, and what is too large even then does not reach the file
#[test]
fn a_managed_transcript_stays_small_enough_to_be_opened_again() {
    let fs = fsys::Memory::new();
    fs.directory("/w/app");
    let storage = Files::new(&fs);
    let place = Place::managed(&fs, "/agent", "/w/app", Release::V0_17).unwrap();
    let mut manager = Manager::create(Counted::default(), MemoryStore::default(), &storage, place, None).unwrap();
    manager.append(answer("a")).unwrap();
    for name in ["One", "Two", "Three"] {
        manager.set_name(JsStr::from(name), NameSource::User).unwrap();
    }
    let path = manager.session_file().unwrap().to_owned();
    let with_patches = storage.read(&path).unwrap().len() as u64;
    manager.most_managed = with_patches + 10;
    manager.append(ask("folded")).unwrap();
    let folded = text(&storage, &path);
    assert!(!folded.contains("header_patch") && folded.contains("\"Three\"") && folded.contains("folded"), "{folded}");
    let error = manager.append(ask(&"x".repeat(1000))).unwrap_err();
    assert_eq!((error.message.as_str(), text(&storage, &path)), ("near_limit_append", folded.clone()));
    assert_eq!(manager.session().entries().len(), 3);
    manager.new_session(None).unwrap();
    manager.most_managed = 10;
    assert_eq!(manager.ensure_on_disk().unwrap_err().message, "near_limit_rewrite");
    assert_eq!(text(&storage, &path), folded);
}

/// 04 §9.3: what cannot be written does not become the current session
#[test]
fn a_successor_that_cannot_be_written_leaves_the_current_session() {
    let fs = fsys::Memory::new();
    fs.directory("/s");
    let full = AtomicBool::new(false);
    let failing = while_full(&fs, &full);
    let storage = Files::new(&failing);
    let mut manager = talked(&storage);
    full.store(true, Ordering::SeqCst);
    assert!(manager.fork().is_err());
    assert!(manager.branched_session(&Value::string("e2")).is_err());
    full.store(false, Ordering::SeqCst);
    assert_eq!((manager.session_file(), manager.check()), (Some(FIRST), Ok(())));
    manager.append(ask("r")).unwrap();
    assert_eq!((lines(&storage, FIRST), storage.list_files("/s", "*").len(), storage.list_files("/s", ".*").len()), (4, 1, 0));
}

/// 04 §9.1, §9.3
#[test]
fn a_fork_has_everything_under_a_fresh_id() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    manager.set_name(JsStr::from("N"), NameSource::User).unwrap();
    manager.set_starred(true).unwrap();
    storage.write("/s/2026-01-01T00-00-00-000Z_s1/0.bash.log", b"out").unwrap();
    storage.write("/s/2026-01-01T00-00-00-000Z_s1/.session-memory.spill.idx", b"derived").unwrap();
    let source = text(&storage, FIRST);
    assert_eq!(manager.fork(), Ok(Artifacts::Taken));
    let title = r#""title":"N","titleSource":"user""#;
    let header = format!(
        r#"{{"type":"session","version":5,"starredPatchVersion":1,"id":"s2",{title},"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","parentSession":"s1"}}"#
    );
    let entries: Vec<&str> = source.lines().filter(|line| line.contains("\"message\"")).collect();
    assert_eq!(text(&storage, SECOND), format!("{header}\n{}\n", entries.join("\n")));
    assert_eq!(text(&storage, FIRST), source);
    assert_eq!(storage.tree("/s/2026-01-01T00-00-00-000Z_s2").unwrap().unwrap().len(), 1);
    manager.append(ask("r")).unwrap();
    assert_eq!((lines(&storage, SECOND), text(&storage, FIRST)), (4, source));
}

/// Seeds "Session operations"
#[test]
fn a_fork_waits_for_the_response() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    manager.set_streaming(true);
    assert_eq!(manager.fork(), Err(OpError::plain("Cannot fork while a response is streaming")));
    assert_eq!((manager.session_file(), storage.all().len()), (Some(FIRST), 1));
    manager.set_streaming(false);
    assert_eq!(manager.fork(), Ok(Artifacts::None));
}

fn fork_from<'s>(storage: &'s dyn SessionStorage, blobs: MemoryStore) -> Result<Tested<'s>, OpenError> {
    Manager::fork_from(Counted::default(), blobs, storage, place(), "/s/x.jsonl")
}

/// 04 §9.4
#[test]
fn a_fork_of_a_file_reads_leniently() {
    let storage = Memory::new();
    let message = r#"{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{"role":"user","content":"q"}}"#;
    let unknown = r#"{"type":"other","id":"o","parentId":"m","timestamp":"t"}"#;
    let header = r#"{"type":"session","version":5,"id":"x","timestamp":"t","cwd":"/w","title":"T"}"#;
    storage.write("/s/x.jsonl", format!("garbage\n{header}\n{message}\nbad\n{unknown}\n").as_bytes()).unwrap();
    let manager = fork_from(&storage, MemoryStore::default()).unwrap();
    let forked = text(&storage, manager.session_file().unwrap());
    assert!(forked.lines().next().unwrap().ends_with(r#""cwd":"/w","parentSession":"x","title":"T"}"#), "{forked}");
    assert!(forked.ends_with(&format!("\n{message}\n{unknown}\n")), "{forked}");
    for empty in ["", "garbage\n", "{}\n"] {
        storage.write("/s/x.jsonl", empty.as_bytes()).unwrap();
        let manager = fork_from(&storage, MemoryStore::default()).unwrap();
        let path = manager.session_file().unwrap();
        assert_eq!((lines(&storage, path), manager.session().entries()[0].member("parentSession")), (1, None));
    }
    storage.write("/s/x.jsonl", header.replace(":5", ":6").as_bytes()).unwrap();
    assert_eq!(fork_from(&storage, MemoryStore::default()).err().unwrap().to_string(), "Unsupported session version: 6");
    storage.unlink("/s/x.jsonl").unwrap();
    assert!(fork_from(&storage, MemoryStore::default()).is_err());
}

/// 04 §5.7
#[test]
fn a_fork_of_a_file_with_a_missing_blob_fails_and_leaves_nothing() {
    let storage = Memory::new();
    let hash = name_of(b"abc");
    let image = format!(r#"{{"type":"image","data":"blob:sha256:{hash}"}}"#);
    let message =
        format!(r#"{{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{{"role":"user","content":[{image}]}}}}"#);
    let header = r#"{"type":"session","version":5,"id":"x","timestamp":"t","cwd":"/w"}"#;
    storage.write("/s/x.jsonl", format!("{header}\n{message}\n").as_bytes()).unwrap();
    let before = storage.all();
    let error = fork_from(&storage, MemoryStore::default()).err().unwrap();
    assert_eq!(error.to_string(), format!("Missing resident imageData blob: {hash} (session x) [/s/x.jsonl]"));
    assert!(matches!(error, OpenError::Failed(OpError { class: "ResidentBlobMissingError", .. })));
    assert_eq!(storage.all(), before);
    let mut blobs = MemoryStore::default();
    blobs.put(&hash, b"abc");
    assert!(fork_from(&storage, blobs).is_ok());
}

/// 04 §9.5
#[test]
fn a_move_takes_the_file_its_artifacts_and_the_workspace_along() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    storage.write("/s/2026-01-01T00-00-00-000Z_s1/0.bash.log", b"out").unwrap();
    let elsewhere = Place::explicit("/new", "/t", Release::V0_17);
    assert_eq!(manager.move_to(elsewhere.clone()), Ok(Artifacts::Taken));
    let moved = "/t/2026-01-01T00-00-00-000Z_s1.jsonl";
    assert_eq!(manager.session_file(), Some(moved));
    let paths: Vec<String> = storage.all().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, [moved, "/t/2026-01-01T00-00-00-000Z_s1/0.bash.log"]);
    assert!(text(&storage, moved).starts_with(
        r#"{"type":"session","version":5,"starredPatchVersion":1,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/new"}"#
    ));
    assert!(!text(&storage, moved).contains("header_patch"));
    assert_eq!(manager.move_to(elsewhere), Ok(Artifacts::None));
    manager.append(ask("r")).unwrap();
    assert_eq!(lines(&storage, moved), 4);
    storage.write(FIRST, b"taken").unwrap();
    assert_eq!(manager.move_to(place()), Err(OpError::plain("destination_conflict")));
    assert_eq!(manager.session_file(), Some(moved));
    manager.append(ask("s")).unwrap();
    assert_eq!((lines(&storage, moved), text(&storage, FIRST).as_str()), (5, "taken"));
}

/// 02 §1.3, 04 §7.4
#[test]
fn a_managed_session_is_written_in_its_scope_and_only_over_what_it_left() {
    let fs = fsys::Memory::new();
    fs.directory("/w/app");
    let storage = Files::new(&fs);
    let place = Place::managed(&fs, "/agent", "/w/app", Release::V0_17).unwrap();
    let mut manager = Manager::create(Counted::default(), MemoryStore::default(), &storage, place.clone(), None).unwrap();
    manager.append(answer("a")).unwrap();
    let path = manager.session_file().unwrap().to_owned();
    assert!(path.starts_with("/agent/sessions/v2-"), "{path}");
    manager.rewrite().unwrap();
    let mut bytes = storage.read(&path).unwrap();
    bytes.extend_from_slice(b"{}\n");
    storage.write(&path, &bytes).unwrap();
    assert_eq!(manager.rewrite().unwrap_err().message, "session_persistence_input_stale");
    assert_eq!(storage.read(&path).unwrap(), bytes);
    let legacy = Manager::open(Counted::default(), MemoryStore::default(), &storage, place, "/agent/sessions/--w-app--/s.jsonl".into());
    assert!(legacy.err().unwrap().to_string().contains("not an authorized managed candidate"));
}

const CRUMB: &str = "/state/terminal-sessions/tmux-%3";

fn in_terminal(storage: &dyn SessionStorage) -> Tested<'_> {
    Manager::create(Counted::default(), MemoryStore::default(), storage, place().at_terminal(CRUMB), None).unwrap()
}
/// The transcript that the breadcrumb names.
fn crumb(storage: &dyn SessionStorage) -> Option<String> {
    let text = storage.read(CRUMB).ok()?;
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.strip_suffix('\n').unwrap().split('\n');
    assert_eq!(lines.next().map(|cwd| cwd.starts_with("/w")), Some(true), "{text}");
    lines.next().map(str::to_owned)
}

/// 04 §3.4: written on create, new session, switch, fork, branch, move, restore
#[test]
fn a_manager_leaves_the_breadcrumb_of_its_terminal() {
    let storage = Memory::new();
    let mut manager = in_terminal(&storage);
    // The file may name a transcript that does not exist yet.
    assert_eq!((storage.read(CRUMB).unwrap(), storage.exists(FIRST)), (format!("/w\n{FIRST}\n").into_bytes(), Ok(false)));
    let mut named_after = |act: &mut dyn FnMut(&mut Tested<'_>)| {
        storage.unlink(CRUMB).unwrap();
        act(&mut manager);
        assert_eq!(crumb(&storage).as_deref(), manager.session_file());
        crumb(&storage).unwrap()
    };
    assert_eq!(named_after(&mut |manager| manager.new_session(None).unwrap()), SECOND);
    named_after(&mut |manager| {
        manager.append(answer("a")).unwrap();
        manager.fork().map(|_| ()).unwrap();
    });
    named_after(&mut |manager| manager.branched_session(&value("\"e1\"")).unwrap());
    assert_eq!(named_after(&mut |manager| manager.set_session_file(SECOND).unwrap()), SECOND);
    named_after(&mut |manager| {
        let snapshot = manager.snapshot().unwrap();
        manager.restore(&snapshot).unwrap();
    });
    named_after(&mut |manager| manager.fork_file(SECOND).unwrap());
    let moved = named_after(&mut |manager| _ = manager.move_to(Place::explicit("/w2", "/t", Release::V0_17)).unwrap());
    assert!(moved.starts_with("/t/"), "{moved}");
    assert_eq!(storage.read(CRUMB).unwrap(), format!("/w2\n{moved}\n").into_bytes());
    let forked = Manager::fork_from(Counted::default(), MemoryStore::default(), &storage, place().at_terminal(CRUMB), SECOND).unwrap();
    assert_eq!(crumb(&storage).as_deref(), forked.session_file());
}

/// 04 §3.4: opening a file alone wrote nothing; after it, the first persistence does
#[test]
fn opening_leaves_no_breadcrumb_before_something_is_written() {
    let storage = Memory::new();
    talked(&storage);
    let at = || place().at_terminal(CRUMB);
    let open = |path: &str| Manager::open(Counted::default(), MemoryStore::default(), &storage, at(), path.into());
    let mut manager = open(FIRST).unwrap();
    manager.branch(value("\"e1\"")).unwrap();
    manager.flush().unwrap();
    assert_eq!(storage.exists(CRUMB), Ok(false));
    manager.append(ask("r")).unwrap();
    assert_eq!(crumb(&storage).as_deref(), Some(FIRST));
    storage.unlink(CRUMB).unwrap();
    manager.append(ask("s")).unwrap();
    assert_eq!(storage.exists(CRUMB), Ok(false));
    // A session that begins at a path is created.
    open("/s/new.jsonl").unwrap();
    assert_eq!(crumb(&storage).as_deref(), Some("/s/new.jsonl"));
}

/// 04 §3.4: failures are ignored; below the project's own `.gjc` it is written atomically; the mode is the umask's
#[test]
fn a_breadcrumb_is_a_hint() {
    let fs = fsys::Memory::new();
    fs.directory("/s");
    fs.file("/state", b"");
    let renamed = AtomicBool::new(false);
    let watched = Inject::changing(&fs, |call: &Call<'_>| {
        renamed.fetch_or(call.op == "rename" && call.path.starts_with("/w/.gjc"), Ordering::SeqCst);
        None
    });
    let storage = Files::new(&watched);
    let mut manager = in_terminal(&storage);
    manager.append(answer("a")).unwrap();
    assert_eq!(crumb(&storage), None);
    let at = |crumb: &str| place().at_terminal(crumb);
    Manager::create(Counted::default(), MemoryStore::default(), &storage, at("/crumbs/pts-3"), None).unwrap();
    let mode = fsys::Fs::lstat(&fs, std::path::Path::new("/crumbs/pts-3")).unwrap().permissions();
    assert_eq!((mode, renamed.load(Ordering::SeqCst)), (0o666, false), "nothing masks it here");
    Manager::create(Counted::default(), MemoryStore::default(), &storage, at("/w/.gjc/x/pts-3"), None).unwrap();
    assert!(renamed.load(Ordering::SeqCst) && storage.exists("/w/.gjc/x/pts-3").unwrap());
}

/// 04 §7.3: lifecycle fences
#[test]
fn what_was_prepared_from_a_session_that_was_used_meanwhile_is_prepared_again() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    let mut prepared = 0;
    manager
        .rewrite_prepared(|manager| {
            prepared += 1;
            if prepared < 3 {
                manager.append(ask("meanwhile")).unwrap();
            }
        })
        .unwrap();
    assert_eq!((prepared, lines(&storage, FIRST)), (3, 5));
    // Three times, and then it stays.
    let stale = manager.rewrite_prepared(|manager| _ = manager.append(ask("again")).unwrap()).unwrap_err();
    assert_eq!((stale.message.as_str(), lines(&storage, FIRST)), ("session_persistence_input_stale", 8));
    assert_eq!(manager.rewrite(), Err(stale));
    // Another session is not written over, and has no failure.
    let mut manager = talked(&storage);
    let lifecycle = manager.rewrite_prepared(|manager| manager.new_session(None).unwrap()).unwrap_err();
    assert_eq!(lifecycle.message, "session_persistence_lifecycle_changed");
    assert_eq!((manager.check(), manager.session_file(), storage.exists(SECOND)), (Ok(()), Some(SECOND), Ok(false)));
}

/// 04 §9.2
#[test]
fn a_branched_session_is_written_at_once() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    manager.branched_session(&value("\"e1\"")).unwrap();
    assert_eq!(lines(&storage, SECOND), 2);
    assert!(text(&storage, SECOND).contains(&format!(r#""parentSession":"{FIRST}""#)));
}

/// 04 §9.4, inside the managed root
#[test]
fn a_fork_inside_the_managed_root_is_strict_about_utf_8_and_wants_a_candidate() {
    let fs = fsys::Memory::new();
    fs.directory("/w/app");
    fs.directory("/w/other");
    let storage = Files::new(&fs);
    let scope = |cwd: &str| Place::managed(&fs, "/agent", cwd, Release::V0_17).unwrap();
    let header = |cwd: &str| format!(r#"{{"type":"session","version":5,"id":"x","timestamp":"t","cwd":"{cwd}"}}"#);
    let message = |text: &[u8]| {
        let line = r#"{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{"role":"user","content":"?"}}"#;
        [line.as_bytes(), b"\n"]
            .concat()
            .iter()
            .flat_map(|byte| if *byte == b'?' { text.to_vec() } else { vec![*byte] })
            .collect::<Vec<u8>>()
    };
    let forks = |folder: &str, first: &str, text: &[u8]| {
        let path = format!("{folder}/x.jsonl");
        storage.write(&path, &[first.as_bytes(), b"\n", &message(text)].concat()).unwrap();
        let forked = Manager::fork_from(Counted::default(), MemoryStore::default(), &storage, scope("/w/app"), &path);
        forked.map_err(|error| error.to_string()).map(|manager| {
            // Each fork here would have the same name.
            storage.unlink(manager.session_file().unwrap()).unwrap();
            manager.session().entries().len()
        })
    };
    let (own, other) = (scope("/w/app").directory().to_owned(), scope("/w/other").directory().to_owned());
    assert_eq!(forks(&own, &header("/w/app"), b"ok"), Ok(2));
    // A plain file may hold anything; what is inside may not.
    assert_eq!(forks("/plain", &header("/w/app"), b"\xFF"), Ok(2));
    assert_eq!(forks(&own, &header("/w/app"), b"\xFF"), Err("The encoded data was not valid for encoding utf-8".into()));
    assert_eq!(forks(&own, &format!("\u{FEFF}{}", header("/w/app")), b"ok"), Ok(2));
    // In another folder of the root it must be a candidate of its workspace.
    let no_candidate = Err("Session is inside managed storage but is not an authorized managed candidate.".to_owned());
    assert_eq!(forks(&other, &header("/w/other"), b"ok"), Ok(2));
    assert_eq!(forks("/agent/sessions/--w-other--", &header("/w/other"), b"ok"), Ok(2));
    assert_eq!(forks(&other, &header("/w/app"), b"ok"), no_candidate);
    assert_eq!(forks("/agent/sessions/--elsewhere--", &header("/w/other"), b"ok"), no_candidate);
    assert_eq!(
        forks(&other, &header("/none"), b"ok"),
        Err("Could not resolve managed session scope: The workspace directory does not exist.".into())
    );
    assert_eq!(forks(&other, "garbage", b"ok"), Err("Could not inspect managed session: malformed".into()));
    assert_eq!(forks(&own, "garbage", b"ok"), Ok(1), "in the folder itself it is a lenient reader");
}

/// 04 §3.2, §4.1
#[test]
fn a_fork_of_a_file_needs_files_and_one_that_can_be_read_whole() {
    let fs = fsys::Memory::new();
    fs.directory("/s");
    fs.sparse("/s/x.jsonl", crate::transcript::inspect::EAGER_MAX + 1);
    let storage = Files::new(&fs);
    assert_eq!(fork_from(&storage, MemoryStore::default()).err().unwrap().to_string(), "Could not open session: oversized");
    let nowhere = Place::nowhere("/w", Release::V0_17);
    let error = Manager::fork_from(Counted::default(), MemoryStore::default(), &storage, nowhere, "/s/x.jsonl").err().unwrap();
    assert_eq!(error.to_string(), "--fork requires session persistence");
    assert_eq!(storage.list_files("/s", "*").len(), 1);
}

/// 01 §5.4: a fork of a file sanitises too
#[test]
fn a_fork_of_a_file_has_no_replay_payloads() {
    let storage = Memory::new();
    let header = r#"{"type":"session","version":5,"id":"x","timestamp":"t","cwd":"/w"}"#;
    let message = r#"{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"h","thinkingSignature":"s"}],"providerPayload":{"type":"openaiResponsesHistory"}}}"#;
    storage.write("/s/x.jsonl", format!("{header}\n{message}\n").as_bytes()).unwrap();
    let manager = fork_from(&storage, MemoryStore::default()).unwrap();
    let forked = text(&storage, manager.session_file().unwrap());
    assert!(
        forked.ends_with("\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"h\"}]}}\n"),
        "{forked}"
    );
}

/// Seeds "Tree and Leaf Semantics"
#[test]
fn branching_moves_the_leaf_and_writes_nothing_before_the_next_entry() {
    let storage = Memory::new();
    let mut manager = talked(&storage);
    let before = text(&storage, FIRST);
    manager.branch(value("\"e1\"")).unwrap();
    assert_eq!(manager.branch(value("\"none\"")), Err(OpError::plain("Entry none not found")));
    assert_eq!(text(&storage, FIRST), before);
    let last = |storage: &Memory| text(storage, FIRST).lines().last().unwrap().to_owned();
    manager.append(ask("other")).unwrap();
    assert!(last(&storage).contains(r#""id":"e3","parentId":"e1""#));
    manager.reset_leaf();
    manager.append(ask("root")).unwrap();
    assert!(last(&storage).contains(r#""id":"e4","parentId":null"#));
    manager.branch_with_summary(value("\"e2\""), value("\"left\""), None, None).unwrap();
    assert!(last(&storage).contains(r#""parentId":"e2","timestamp":"2026-01-01T00:00:00.000Z","fromId":"e2","summary":"left"}"#));
    manager.branch_with_summary(Value::Null, value("\"left\""), None, Some(Value::Bool(true))).unwrap();
    assert!(
        last(&storage)
            .contains(r#""parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","fromId":"root","summary":"left","fromExtension":true}"#)
    );
    let unknown = manager.branch_with_summary(value("\"none\""), Value::Null, None, None);
    assert_eq!((unknown, lines(&storage, FIRST)), (Err(OpError::plain("Entry none not found")), 7));
}

/// 04 §9.2 with its hazard: labels leave the path, and what stood behind one has a parent that is not there
#[test]
fn a_branched_session_has_its_labels_at_the_end() {
    let storage = Memory::new();
    let mut manager = create(&storage);
    manager.append(ask("a")).unwrap();
    manager.label(value("\"e1\""), Some(value("\"first\""))).unwrap();
    manager.append(answer("b")).unwrap();
    manager.append(ask("c")).unwrap();
    manager.label(value("\"e3\""), Some(value("\"gone\""))).unwrap();
    manager.label(value("\"e3\""), None).unwrap();
    assert_eq!(manager.label(value("\"none\""), None), Err(OpError::plain("Entry none not found")));
    manager.branched_session(&value("\"e4\"")).unwrap();
    let written = text(&storage, SECOND);
    let lines: Vec<&str> = written.lines().skip(1).collect();
    assert!(lines[0].contains(r#""id":"e1","parentId":null"#), "{written}");
    assert!(lines[1].contains(r#""id":"e3","parentId":"e2""#), "{written}");
    assert!(lines[2].contains(r#""id":"e4","parentId":"e3""#), "{written}");
    assert!(lines[3].starts_with(r#"{"type":"label","#) && lines[3].contains(r#""parentId":"e4""#), "{written}");
    assert!(lines[3].ends_with(r#""targetId":"e1","label":"first"}"#) && lines.len() == 4, "{written}");
    // The fresh label is the leaf.
    manager.append(ask("d")).unwrap();
    let label = Value::parse(lines[3].as_bytes()).unwrap();
    let last = text(&storage, SECOND).lines().last().map(|line| Value::parse(line.as_bytes()).unwrap()).unwrap();
    assert_eq!(last.member("parentId"), label.member("id"));
}

/// 04 §2.6: a header that cannot be starred is rewritten to one that can, without the star that it claims, before the star
#[test]
fn a_star_needs_a_header_that_says_it_can_have_one() {
    const PATH: &str = "/s/x.jsonl";
    let storage = Memory::new();
    let header = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w","starred":true}"#;
    let message = r#"{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{"role":"user","content":"q"}}"#;
    storage.write(PATH, format!("{header}\n{message}\n").as_bytes()).unwrap();
    let mut manager = open(&storage, PATH).unwrap();
    assert!(manager.set_starred(true).unwrap());
    let capable = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w","starredPatchVersion":1}"#;
    let star = |starred| format!(r#"{{"type":"header_patch","patch":{{"starred":{starred}}}}}"#);
    assert_eq!(text(&storage, PATH), format!("{capable}\n{message}\n{}\n", star(true)));
    assert!(manager.set_starred(false).unwrap());
    assert_eq!(text(&storage, PATH), format!("{capable}\n{message}\n{}\n{}\n", star(true), star(false)));
    // The star is never copied.
    manager.set_starred(true).unwrap();
    manager.fork().unwrap();
    assert!(!text(&storage, manager.session_file().unwrap()).contains("\"starred\""));
}

/// Seeds "Discovery selection authority": persisted by a new session, one id for one mutation; resuming appends nothing
#[test]
fn a_new_session_persists_what_its_caller_said_of_tools() {
    use super::selection::Domain;
    let storage = Memory::new();
    let mut manager = create(&storage);
    let named = [("x".into(), Domain::Discovered), ("read".into(), Domain::Essential), ("m.a".into(), Domain::Mcp)];
    let mut asked = 0;
    let ids = manager.select_tools(Some(&named), || {
        asked += 1;
        "c".into()
    });
    assert_eq!((ids.unwrap().len(), asked), (2, 1));
    assert_eq!(manager.select_tools(None, || "never".into()), Ok(Vec::new()));
    manager.append(answer("a")).unwrap();
    let written = text(&storage, FIRST);
    let lines: Vec<&str> = written.lines().skip(1).collect();
    assert!(lines[0].starts_with(r#"{"type":"mcp_tool_selection","id":"e1""#), "{written}");
    assert!(lines[0].ends_with(r#""selectedToolNames":["m.a"],"mutationCorrelationId":"c"}"#), "{written}");
    assert!(lines[1].starts_with(r#"{"type":"discovered_builtin_tool_selection","id":"e2","parentId":"e1""#), "{written}");
    assert!(lines[1].ends_with(r#""selectedToolNames":["x"],"mutationCorrelationId":"c"}"#), "{written}");
    open(&storage, FIRST).unwrap().close().0.unwrap();
    assert_eq!(text(&storage, FIRST), written);
}
