//! Properties of the session manager over random operation scripts: what it writes every reader of gjc accepts, and reads as
//! the manager's own state; and a crash at any moment loses at most the record being written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use gjc_fsck::finding::Release;
use gjc_fsck::fsys::{Call, Change, Errno, Inject, Memory, Phase};
use gjc_fsck::json::{JsString, Value, View, stringify};
use gjc_fsck::session::manager::{Manager, World};
use gjc_fsck::session::place::Place;
use gjc_fsck::session::script::{Did, Runner};
use gjc_fsck::session::storage::{Files, SessionStorage};
use gjc_fsck::transcript::blobs::MemoryStore;
use gjc_fsck::transcript::inspect::{self, Options, Verdict};
use gjc_fsck::transcript::load::{Whole, load};
use gjc_fsck::transcript::migrate::{IdSource, Seeded};
use gjc_fsck::transcript::readers::{bounded, first_line, managed, picker};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// An operation whose targets are chosen among the entries that there are then.
#[derive(Clone, Debug)]
enum Op {
    /// A script operation without a target.
    Plain(&'static str),
    /// A script operation whose `$` stands for an entry.
    At(&'static str, Index),
    /// The manager is closed, and another one opens the file.
    Reopen,
    /// Back to a session that was left.
    Back(Index),
}

const PLAIN: &[&str] = &[
    r#"{"op":"appendMessage","message":{"role":"user","content":"한글 \u0000 \ud800"}}"#,
    r#"{"op":"appendMessage","message":{"role":"user","content":[{"type":"text","text":"t"}]}}"#,
    r#"{"op":"appendMessage","message":{"role":"assistant","content":[{"type":"thinking","thinking":"h"},{"type":"text","text":"a"}],"provider":"p","model":"m"}}"#,
    r#"{"op":"appendMessage","message":{"role":"assistant","content":"b"}}"#,
    r#"{"op":"appendMessage","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[],"isError":false,"details":{"n":1e400}}}"#,
    r#"{"op":"appendModelChange","model":"p/m","role":"smol"}"#,
    r#"{"op":"clearModelRole","role":"smol"}"#,
    r#"{"op":"appendThinkingLevelChange","thinkingLevel":"high"}"#,
    r#"{"op":"appendServiceTierChange","serviceTier":null}"#,
    r#"{"op":"appendModeChange","mode":"plan","data":{"f":1}}"#,
    r#"{"op":"appendSessionInit","systemPrompt":"s","task":"t","tools":["read"]}"#,
    r#"{"op":"appendTtsrInjection","rules":["a"],"count":1}"#,
    r#"{"op":"appendMCPToolSelection","names":["m.a"]}"#,
    r#"{"op":"appendDiscoveredBuiltinToolSelection","names":[]}"#,
    r#"{"op":"selectTools","tools":[{"name":"m.a","domain":"mcp"},{"name":"x","domain":"discovered"}],"correlation":"c"}"#,
    r#"{"op":"appendCustomEntry","customType":"k","data":{"a":[1,{"b":null}]}}"#,
    r#"{"op":"appendCustomMessageEntry","customType":"irc:x","content":"c","display":true,"details":{"d":1}}"#,
    r#"{"op":"appendContextClear"}"#,
    r#"{"op":"branchWithSummary","entryId":null,"summary":"s"}"#,
    r#"{"op":"resetLeaf"}"#,
    r#"{"op":"setSessionName","name":"One","source":"user"}"#,
    r#"{"op":"setSessionName","name":"Two"}"#,
    r#"{"op":"setStarred","starred":true}"#,
    r#"{"op":"setStarred","starred":false}"#,
    r#"{"op":"rewriteEntries"}"#,
    r#"{"op":"ensureOnDisk"}"#,
    r#"{"op":"flush"}"#,
    r#"{"op":"newSession"}"#,
    r#"{"op":"fork"}"#,
];

const AT: &[&str] = &[
    r#"{"op":"branch","entryId":"$"}"#,
    r#"{"op":"branchWithSummary","entryId":"$","summary":"s"}"#,
    r#"{"op":"appendLabelChange","targetId":"$","label":"l"}"#,
    r#"{"op":"appendLabelChange","targetId":"$"}"#,
    r#"{"op":"appendCompaction","summary":"s","firstKeptEntryId":"$","tokensBefore":7}"#,
    r#"{"op":"createBranchedSession","leafId":"$"}"#,
];

fn op() -> impl Strategy<Value = Op> {
    // Mostly talk: a session of settings is soon left for another one.
    prop_oneof![
        6 => (0..5_usize).prop_map(|number| Op::Plain(PLAIN[number])),
        8 => (0..PLAIN.len()).prop_map(|number| Op::Plain(PLAIN[number])),
        5 => ((0..AT.len()), any::<Index>()).prop_map(|(number, index)| Op::At(AT[number], index)),
        1 => Just(Op::Reopen),
        1 => any::<Index>().prop_map(Op::Back),
    ]
}

struct Ids {
    ids: Seeded,
    sessions: u32,
}

impl Ids {
    fn new(seed: u32) -> Self {
        Ids { ids: Seeded::new(seed), sessions: seed * 1000 }
    }
}

impl IdSource for Ids {
    fn next_id(&mut self) -> JsString {
        self.ids.next_id()
    }
}

impl World for Ids {
    fn session_id(&mut self) -> JsString {
        self.sessions += 1;
        format!("session-{}", self.sessions).into()
    }
    fn now(&mut self) -> JsString {
        "2026-01-01T00:00:00.000Z".into()
    }
}

type Tested<'s> = Runner<'s, Ids, MemoryStore>;

fn place() -> Place {
    Place::explicit("/w", "/s", Release::V0_17)
}

fn begin(storage: &dyn SessionStorage, place: Place) -> Option<Tested<'_>> {
    Manager::create(Ids::new(0), MemoryStore::default(), storage, place, None).ok().map(Runner::new)
}

/// Runs an operation; none when the process cannot go on. `Ok(false)`: it threw.
fn run<'s>(runner: Tested<'s>, op: &Op, number: u32, storage: &'s dyn SessionStorage) -> Option<(Tested<'s>, bool)> {
    let mut runner = runner;
    let text = match op {
        Op::Plain(text) => (*text).to_owned(),
        Op::At(text, index) => {
            let entries = runner.manager().session().entries();
            let target = &entries[index.index(entries.len())];
            // The header is an entry that no operation finds.
            text.replace('$', &target.member("id").unwrap().as_str().map(|id| String::from_utf8(id.into_owned()).unwrap()).unwrap())
        }
        Op::Back(index) => {
            let paths = runner.manager().paths();
            format!(r#"{{"op":"setSessionFile","path":"{}"}}"#, paths[index.index(paths.len())])
        }
        Op::Reopen => {
            let path = runner.manager().session_file().unwrap().to_owned();
            let place = runner.manager().place().clone();
            let (closed, blobs) = runner.into_manager().close();
            closed.ok()?;
            return Manager::open(Ids::new(number), blobs, storage, place, path).ok().map(|manager| (Runner::new(manager), true));
        }
    };
    let did = runner.run(&Value::parse(text.as_bytes()).unwrap()).unwrap();
    Some((runner, !matches!(did, Did::Threw(_))))
}

fn texts<'v>(entries: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    entries.into_iter().map(stringify::to_text).collect()
}

/// The members of a header, without their order, and without a star that is none: a checkpoint says so of a session that was
/// never starred, and the header in memory does not.
fn header_state(header: &Value) -> BTreeSet<String> {
    let members = header.as_object().unwrap().iter();
    let said = members.filter(|(key, value)| !(**key == *"starred" && **value == Value::Bool(false)));
    said.map(|(key, value)| format!("{key}={}", stringify::to_text(value))).collect()
}

/// What R says of a transcript that a manager wrote, told from its lines: a patch has no id; each entry hangs under the one
/// before it; a compaction keeps from an entry before it, and there is one.
fn predicted(file: &[u8]) -> Option<&'static str> {
    let (mut seen, mut previous, mut kept) = (BTreeSet::new(), Value::Null, false);
    for line in file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).skip(1) {
        let entry = Value::parse(line).unwrap();
        let Some(id) = entry.member("id") else { return Some("bounded_scan_malformed") };
        let parent = entry.member("parentId").unwrap();
        if *parent != previous {
            // Whatever a first entry names as its parent, it branches off.
            let known = seen.is_empty() || *parent == Value::Null || seen.contains(&stringify::to_text(parent));
            return Some(if known { "bounded_scan_branch" } else { "bounded_scan_missing_parent" });
        }
        if let Some(first) = entry.member("firstKeptEntryId") {
            if !seen.contains(&stringify::to_text(first)) {
                return Some("bounded_scan_invalid_compaction");
            }
            kept = true;
        }
        seen.insert(stringify::to_text(id));
        previous = id.clone();
    }
    match (seen.is_empty(), kept) {
        (true, _) => Some("bounded_scan_malformed"),
        (false, false) => Some("bounded_scan_invalid_compaction"),
        (false, true) => None,
    }
}

/// Every reader's view of a file that the manager holds to be these entries.
fn accepted(file: &[u8], entries: &[Value], release: Release) -> Result<(), TestCaseError> {
    let shown = String::from_utf8_lossy(file);
    prop_assert!(file.ends_with(b"\n"));
    let loaded = load(file, Whole, release).unwrap().unwrap();
    prop_assert_eq!(header_state(&loaded.entries[0]), header_state(&entries[0]), "L reads another header");
    prop_assert_eq!(texts(&loaded.entries[1..]), texts(&entries[1..]), "L reads another state");
    let inspected = inspect::bytes(file, file.len() as u64, Options::new(release)).unwrap();
    prop_assert!(!matches!(inspected.verdict, Verdict::Error(_)), "S: {:?}\n{}", inspected.verdict, shown);
    prop_assert_eq!(managed::inspect(file).unwrap().verdict, Ok(()), "M\n{}", shown);
    let mut read_at = |buffer: &mut [u8], offset: u64| {
        let rest = file.get(offset as usize..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    };
    let picked = picker::read(file.len() as u64, &mut read_at, release);
    let header = &entries[0];
    prop_assert!(picked.is_some(), "P\n{}", shown);
    let picked = picked.unwrap();
    prop_assert!(header.member("id") == Some(&Value::String(picked.id.clone())), "P reads another id");
    let starred = header.member("starred") == Some(&Value::Bool(true));
    prop_assert_eq!(picked.starred, starred, "P reads another star\n{}", shown);
    if let Some(title) = header.str_member("title") {
        prop_assert_eq!(picked.title.as_ref().map(|title| title.as_bytes()), Some(&*title), "P reads another title\n{}", shown);
    }
    prop_assert!(first_line::bounded_header(file).is_some(), "H\n{}", shown);
    let line = file.split(|byte| *byte == b'\n').next().unwrap();
    prop_assert!(first_line::inventory(line).is_ok(), "I\n{}", shown);
    let scanned = bounded::scan(file).unwrap().err().map(|refused| refused.refusal.token());
    prop_assert_eq!(scanned, predicted(file), "R\n{}", shown);
    Ok(())
}

fn release(newer: bool) -> Release {
    if newer { Release::V0_17 } else { Release::V0_15 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 8: what the manager wrote is accepted by L, S, M, P, H and I, R's refusals are predicted, and it replays to the
    /// manager's own state.
    #[test]
    fn what_the_manager_writes_is_what_gjc_reads(ops in prop::collection::vec(op(), 1..30), newer: bool, in_scope: bool) {
        let release = release(newer);
        let fs = Memory::new();
        fs.directory("/s");
        fs.directory("/w");
        let storage = Files::new(&fs);
        let managed = || Place::managed(&fs, "/agent", "/w", release).unwrap();
        let place = if in_scope { managed() } else { Place::explicit("/w", "/s", release) };
        let folder = place.directory().to_owned();
        let mut runner = begin(&storage, place).unwrap();
        // The files of sessions that were left: nobody writes to them any more.
        let mut left: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (number, op) in ops.iter().enumerate() {
            let path = runner.manager().session_file().unwrap().to_owned();
            (runner, _) = run(runner, op, number as u32 + 1, &storage).unwrap();
            let manager = runner.manager();
            left.remove(manager.session_file().unwrap());
            if manager.session_file() != Some(&*path) && let Some(bytes) = fs.content(&path) {
                left.insert(path, bytes);
            }
            let file = fs.content(manager.session_file().unwrap());
            prop_assert_eq!(file.as_deref(), manager.file(), "after {:?}", op);
            if let Some(file) = file {
                accepted(&file, manager.session().entries(), release)?;
            }
        }
        let entries = runner.manager().session().entries().to_vec();
        let path = runner.manager().session_file().unwrap().to_owned();
        prop_assert!(runner.into_manager().close().0.is_ok());
        if let Some(file) = fs.content(&path) {
            accepted(&file, &entries, release)?;
        }
        for (path, bytes) in left {
            prop_assert_eq!(fs.content(&path), Some(bytes), "{} was written to when it was left", path);
        }
        // Nothing else lies in the folder: no temporary file, no backup.
        let hidden = storage.list_files(&folder, ".*").into_iter().filter(|path| !path.ends_with(".v2.json"));
        prop_assert_eq!(hidden.count() + storage.list_files(&folder, "*.bak").len(), 0);
    }

    /// Issue 8: a crash after any write leaves a file that loses at most the record being written. The process dies in the
    /// middle of any operation of the file system, writes may be short, and a rename may first not be permitted.
    #[test]
    fn a_crash_loses_at_most_the_record_being_written(
        ops in prop::collection::vec(op(), 1..20),
        moment in any::<Index>(),
        short: bool,
        not_permitted: bool,
    ) {
        let refused = |call: &Call<'_>| {
            let over = call.op == "rename" && call.phase == Phase::Before && call.path.extension().is_some_and(|ending| ending == "tmp");
            (not_permitted && over && call.number.is_multiple_of(2)).then_some(Errno::PERM)
        };
        let count = {
            let fs = Memory::new();
            fs.directory("/s");
            let counting = Inject::changing(&fs, refused);
            let storage = Files::new(&counting);
            let mut runner = begin(&storage, place()).unwrap();
            for (number, op) in ops.iter().enumerate() {
                match run(runner, op, number as u32 + 1, &storage) {
                    Some((next, _)) => runner = next,
                    None => break,
                }
            }
            counting.operations()
        };
        if count == 0 {
            return Ok(());
        }
        let moment = moment.index(count as usize) as u64;
        let fs = Memory::new();
        fs.directory("/s");
        let dead = AtomicBool::new(false);
        let dying = Inject::changing(&fs, |call: &Call<'_>| {
            if call.number >= moment && call.phase == Phase::Before && !(short && call.number == moment && call.op == "write") {
                dead.store(true, Ordering::SeqCst);
                return Some(Errno::IO);
            }
            refused(call)
        })
        .with_short_writes(move |call: &Call<'_>| short && call.number == moment);
        let storage = Files::new(&dying);
        let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut runner = begin(&storage, place());
        for (number, op) in ops.iter().enumerate() {
            let Some(before) = runner.take() else { break };
            let path = before.manager().session_file().unwrap().to_owned();
            let on_disk = before.manager().session().on_disk();
            if on_disk && !dead.load(Ordering::SeqCst) {
                known.insert(path, texts(&before.manager().session().entries()[1..]));
            }
            runner = run(before, op, number as u32 + 1, &storage).map(|(after, _)| after);
            if dead.load(Ordering::SeqCst) {
                break;
            }
        }
        for (path, entries) in &known {
            let found = found_after_crash(&fs, path);
            prop_assert!(found.is_some(), "{} is gone", path);
            let loaded = load(&found.unwrap()[..], Whole, Release::V0_17).unwrap().unwrap();
            prop_assert!(!loaded.entries.is_empty(), "{} has no header", path);
            let read = texts(&loaded.entries[1..]);
            prop_assert!(read.len() >= entries.len(), "{} lost {} entries", path, entries.len() - read.len());
            prop_assert_eq!(&read[..entries.len()], &entries[..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Spec 04 §7.3, §7.4: what was flushed is there after the power failed, whatever else of it the disk kept. The names of the
    /// folder are held to be durable after each operation: gjc does not make them so.
    #[test]
    fn a_power_failure_at_any_moment_loses_nothing_that_was_flushed(ops in prop::collection::vec(op(), 1..12)) {
        let run_until = |moment: u64| {
            let fs = Memory::new();
            fs.directory("/s");
            fs.settle();
            let dead = AtomicBool::new(false);
            let dying = Inject::changing(&fs, |call: &Call<'_>| {
                let dies = call.number >= moment && call.phase == Phase::Before;
                dead.fetch_or(dies, Ordering::SeqCst);
                dies.then_some(Errno::IO)
            });
            let storage = Files::new(&dying);
            let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let mut runner = begin(&storage, place());
            for (number, op) in ops.iter().enumerate() {
                let Some(before) = runner.take() else { break };
                let path = before.manager().session_file().unwrap().to_owned();
                runner = run(before, op, number as u32 + 1, &storage).map(|(after, _)| after);
                if dead.load(Ordering::SeqCst) {
                    break;
                }
                let Some(after) = &mut runner else { break };
                let flushed = after.run(&Value::parse(br#"{"op":"flush"}"#).unwrap()).unwrap();
                if matches!(flushed, Did::Threw(_)) {
                    break;
                }
                fs.sync_dir(Path::new("/s")).unwrap();
                let manager = after.manager();
                if manager.session_file() != Some(&*path) {
                    // Closing a session makes nothing durable that was not flushed before; it was.
                    known.entry(path).or_default();
                }
                if manager.session().on_disk() {
                    known.insert(manager.session_file().unwrap().to_owned(), texts(&manager.session().entries()[1..]));
                }
            }
            let operations = dying.operations();
            (fs.clone(), known, operations)
        };
        let (_, _, count) = run_until(u64::MAX);
        for moment in 0..count {
            let (fs, known, _) = run_until(moment);
            for crash in fs.crashes() {
                for (path, entries) in known.iter().filter(|(_, entries)| !entries.is_empty()) {
                    let found = found_after_crash(&crash.left, path);
                    prop_assert!(found.is_some(), "operation {}, {}: {} is gone", moment, crash.what, path);
                    let loaded = load(&found.unwrap()[..], Whole, Release::V0_17).unwrap().unwrap();
                    let read = texts(loaded.entries.iter().skip(1));
                    prop_assert!(read.len() >= entries.len(), "operation {}, {}: {} has lost entries", moment, crash.what, path);
                    prop_assert_eq!(&read[..entries.len()], &entries[..], "operation {}, {}", moment, crash.what);
                }
            }
        }
    }
}

/// The bytes of a transcript after a crash: its own, or those of the backup that gjc's listing would restore (spec 04 §2.2).
fn found_after_crash(fs: &Memory, path: &str) -> Option<Vec<u8>> {
    let storage = Files::new(fs);
    let backup = || {
        let name = path.rsplit('/').next().unwrap();
        storage.list_files("/s", "*.bak").into_iter().find(|backup| backup.rsplit('/').next().unwrap().starts_with(name))
    };
    fs.content(path).or_else(|| fs.content(backup()?))
}
