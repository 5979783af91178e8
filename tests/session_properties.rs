//! Properties of the session manager over random operation scripts, in managed scopes and in explicit folders: what it writes
//! every reader of gjc accepts, and reads as the manager's own state; and a crash at any moment loses at most the record being
//! written. The scripts talk, branch, fork and move, with images and with texts that are cut.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use gjc_fsck::finding::Release;
use gjc_fsck::fsys::{Call, Change, Errno, Fs, Inject, Memory, Phase};
use gjc_fsck::json::{JsString, Value, View, stringify};
use gjc_fsck::session::manager::{Manager, World};
use gjc_fsck::session::older;
use gjc_fsck::session::place::Place;
use gjc_fsck::session::script::{Did, Runner};
use gjc_fsck::session::storage::{Blobs, Files, SessionStorage, artifacts_directory, split};
use gjc_fsck::transcript::blobs::{BlobSource, MemoryStore};
use gjc_fsck::transcript::inspect::{self, Options, Verdict};
use gjc_fsck::transcript::load::{Whole, load};
use gjc_fsck::transcript::migrate::{IdSource, Seeded};
use gjc_fsck::transcript::persist::prepare;
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
    /// A fork of the file of a session.
    ForkOf(Index),
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
    IMAGE,
    r#"{"op":"appendCustomMessageEntry","customType":"k","content":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}],"display":true}"#,
    r#"{"op":"saveDraft","text":"draft"}"#,
    r#"{"op":"consumeDraft"}"#,
    r#"{"op":"createBranchedSession","leafId":null}"#,
    // The other workspace: of the same kind of place, of a managed one, in another folder.
    r#"{"op":"moveTo","cwd":"/w"}"#,
    r#"{"op":"moveTo","cwd":"/w2"}"#,
    r#"{"op":"moveTo","cwd":"/w3","agentDir":"/agent"}"#,
    r#"{"op":"moveTo","cwd":"/w4","directory":"/t"}"#,
];

const IMAGE: &str = r#"{"op":"appendMessage","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":{"$base64_of":{"byte":7,"count":900}}}]}}"#;
/// A text that is cut when it is stored.
const LONG: &str =
    r#"{"op":"appendMessage","message":{"role":"assistant","content":[{"type":"text","text":{"$repeat":"long ","count":100001}}]}}"#;
/// The folders that transcripts come to lie in, beside the managed scopes.
const FOLDERS: [&str; 2] = ["/s", "/t"];
const WORKSPACES: [&str; 4] = ["/w", "/w2", "/w3", "/w4"];

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
        1 => any::<Index>().prop_map(Op::ForkOf),
    ]
}
/// The same, and now and then a text that is cut.
fn op_with_long() -> impl Strategy<Value = Op> {
    prop_oneof![6 => op(), 1 => Just(Op::Plain(LONG))]
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

type Tested<'s> = Runner<'s, Ids, Blobs<'s>>;

/// The workspaces, and the folders of explicit places.
fn workspaces() -> Memory {
    let fs = Memory::new();
    for path in WORKSPACES.iter().chain(&FOLDERS) {
        fs.directory(path);
    }
    fs
}
/// Where a session begins: in the managed scope of `/w`, or in a folder.
fn place_of(storage: &dyn SessionStorage, in_scope: bool, release: Release) -> Place {
    if in_scope { Place::managed_in(storage, "/agent", "/w", release).unwrap() } else { Place::explicit("/w", "/s", release) }
}
/// Every folder that a transcript may lie in.
fn folders(fs: &Memory) -> Vec<String> {
    let storage = Files::new(fs);
    let scope = |cwd: &&str| Place::managed_in(&storage, "/agent", cwd, Release::V0_17).unwrap().directory().to_owned();
    WORKSPACES.iter().map(scope).chain(FOLDERS.map(str::to_owned)).collect()
}
fn blobs(storage: &dyn SessionStorage) -> Blobs<'_> {
    Blobs::new(storage, "/agent/blobs")
}

fn begin(storage: &dyn SessionStorage, place: Place) -> Option<Tested<'_>> {
    Manager::create(Ids::new(0), blobs(storage), storage, place, None).ok().map(Runner::new)
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
            text.replace(
                "\"$\"",
                &format!("\"{}\"", target.member("id").unwrap().as_str().map(|id| String::from_utf8(id.into_owned()).unwrap()).unwrap()),
            )
        }
        Op::Back(index) => {
            let paths = runner.manager().paths();
            format!(r#"{{"op":"setSessionFile","path":"{}"}}"#, paths[index.index(paths.len())])
        }
        Op::ForkOf(index) => {
            let paths = runner.manager().paths();
            format!(r#"{{"op":"forkFrom","path":"{}"}}"#, paths[index.index(paths.len())])
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

/// The entries as they are stored: images are references, long texts are cut.
fn as_stored(entries: &[Value], release: Release) -> Vec<String> {
    let prepared = entries.iter().map(|entry| prepare(entry.clone(), &mut MemoryStore::default(), release));
    prepared.map(|entry| stringify::to_text(&entry)).collect()
}

/// Every reader's view of a file that the manager holds to be these entries.
fn accepted(file: &[u8], entries: &[Value], release: Release) -> Result<(), TestCaseError> {
    let shown = String::from_utf8_lossy(file);
    prop_assert!(file.ends_with(b"\n"));
    let loaded = load(file, Whole, release).unwrap().unwrap();
    prop_assert_eq!(header_state(&loaded.entries[0]), header_state(&entries[0]), "L reads another header");
    prop_assert_eq!(texts(&loaded.entries[1..]), as_stored(&entries[1..], release), "L reads another state");
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
        let fs = workspaces();
        let storage = Files::new(&fs);
        let mut runner = begin(&storage, place_of(&storage, in_scope, release)).unwrap();
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
            // What waits for an answer is not in the file.
            if let Some(file) = file.filter(|_| !manager.session().is_behind()) {
                accepted(&file, manager.session().entries(), release)?;
            }
        }
        let behind = runner.manager().session().is_behind();
        let entries = runner.manager().session().entries().to_vec();
        let path = runner.manager().session_file().unwrap().to_owned();
        prop_assert!(runner.into_manager().close().0.is_ok());
        if let Some(file) = fs.content(&path).filter(|_| !behind) {
            accepted(&file, &entries, release)?;
        }
        for (path, bytes) in left {
            prop_assert_eq!(fs.content(&path), Some(bytes), "{} was written to when it was left", path);
        }
        // Nothing else lies in the folders: no temporary file, no backup, no staging directory.
        for folder in folders(&fs) {
            let hidden = storage.list_files(&folder, ".*").into_iter().filter(|path| !path.ends_with(".v2.json"));
            prop_assert_eq!(hidden.count() + storage.list_files(&folder, "*.bak").len(), 0);
            let staged = fs.list(Path::new(&folder)).unwrap_or_default();
            prop_assert!(staged.iter().all(|entry| !entry.name.to_string_lossy().ends_with(".fork-staging")));
        }
    }
}

/// Runs a script until the process dies at a moment; what was known to be on disk before the operation that died.
struct Dying<'o> {
    ops: &'o [Op],
    in_scope: bool,
    short: bool,
    not_permitted: bool,
}

impl Dying<'_> {
    fn refused(&self, call: &Call<'_>) -> Option<Errno> {
        let over = call.op == "rename" && call.phase == Phase::Before && call.path.extension().is_some_and(|ending| ending == "tmp");
        (self.not_permitted && over && call.number.is_multiple_of(2)).then_some(Errno::PERM)
    }

    /// The tree afterwards, the entries of each transcript, and how many operations there were.
    fn until(&self, moment: u64) -> (Memory, BTreeMap<String, Vec<String>>, u64) {
        let fs = workspaces();
        let dead = AtomicBool::new(false);
        let dying = Inject::changing(&fs, |call: &Call<'_>| {
            if call.number >= moment && call.phase == Phase::Before && !(self.short && call.number == moment && call.op == "write") {
                dead.store(true, Ordering::SeqCst);
                return Some(Errno::IO);
            }
            self.refused(call)
        })
        .with_short_writes(move |call: &Call<'_>| self.short && call.number == moment);
        let storage = Files::new(&dying);
        // The scope of the first place is asked for before anything fails.
        let place = place_of(&Files::new(&fs), self.in_scope, Release::V0_17);
        let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut runner = begin(&storage, place);
        for (number, op) in self.ops.iter().enumerate() {
            let Some(before) = runner.take() else { break };
            let path = before.manager().session_file().unwrap().to_owned();
            let session = before.manager().session_id();
            let is_whole = before.manager().session().on_disk() && !before.manager().session().is_behind();
            if is_whole && !dead.load(Ordering::SeqCst) {
                known.insert(path.clone(), as_stored(&before.manager().session().entries()[1..], Release::V0_17));
            }
            runner = run(before, op, number as u32 + 1, &storage).map(|(after, _)| after);
            if dead.load(Ordering::SeqCst) {
                break;
            }
            // A session that has moved is not where it was.
            let moved = |after: &Tested<'_>| after.manager().session_id() == session && after.manager().session_file() != Some(&*path);
            if runner.as_ref().is_some_and(moved) {
                known.remove(&path);
            }
        }
        let operations = dying.operations();
        (fs.clone(), known, operations)
    }

    /// What was on disk before the record that was being written at a moment is there afterwards.
    fn loses_no_more(&self, moment: Index) -> Result<(), TestCaseError> {
        let (_, _, count) = self.until(u64::MAX);
        if count == 0 {
            return Ok(());
        }
        let (fs, known, _) = self.until(moment.index(count as usize) as u64);
        known.iter().try_for_each(|(path, entries)| survives(&fs, path, entries, "crash"))
    }
}

/// The transcript is there, in its folder or where it was moving to, with all of these entries first, and with every blob that it
/// refers to.
fn survives(fs: &Memory, path: &str, entries: &[String], what: &str) -> Result<(), TestCaseError> {
    let found = found_after_crash(fs, path);
    prop_assert!(!found.is_empty(), "{}: {} is gone", what, path);
    let read: Vec<Vec<String>> = found
        .iter()
        .map(|bytes| load(&bytes[..], Whole, Release::V0_17).unwrap().unwrap().entries)
        .filter(|loaded| !loaded.is_empty())
        .map(|loaded| texts(&loaded[1..]))
        .collect();
    let whole = read.iter().find(|read| read.starts_with(entries));
    prop_assert!(whole.is_some(), "{}: {} has lost entries: {:?}", what, path, read.iter().map(Vec::len).collect::<Vec<_>>());
    let storage = Files::new(fs);
    for text in whole.into_iter().flatten() {
        for (at, _) in text.match_indices("blob:sha256:") {
            let name = &text[at + 12..at + 76];
            prop_assert_eq!(blobs(&storage).intact(name), Some(true), "{}: blob {}", what, name);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 8: a crash after any write leaves a file that loses at most the record being written. The process dies in the
    /// middle of any operation of the file system, writes may be short, and a rename may first not be permitted.
    #[test]
    fn a_crash_loses_at_most_the_record_being_written(
        ops in prop::collection::vec(op(), 1..20),
        moment in any::<Index>(),
        in_scope: bool,
        short: bool,
        not_permitted: bool,
    ) {
        let script = Dying { ops: &ops, in_scope, short, not_permitted };
        script.loses_no_more(moment)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same with texts of which only the beginning is stored.
    #[test]
    fn a_crash_with_long_texts_loses_no_more(ops in prop::collection::vec(op_with_long(), 2..8), moment in any::<Index>(), in_scope: bool) {
        let script = Dying { ops: &ops, in_scope, short: true, not_permitted: false };
        script.loses_no_more(moment)?;
    }
}

/// A transcript of an older version, and the contents that must never be lost.
fn older_transcript(version: u8) -> (Vec<u8>, Vec<String>) {
    let header = r#"{"type":"session","version":5,"id":"old","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let contents: Vec<String> = ["\"one\"", "[{\"type\":\"text\",\"text\":\"two\"}]", "\"three\""].map(str::to_owned).to_vec();
    let mut text = format!("{header}\n");
    let mut parent = "null".to_owned();
    for (number, (role, content)) in ["user", "assistant", "user"].iter().zip(&contents).enumerate() {
        text += &format!(
            "{{\"type\":\"message\",\"id\":\"m{number}\",\"parentId\":{parent},\"timestamp\":\"t\",\"message\":{{\"role\":\"{role}\",\"content\":{content}}}}}\n"
        );
        parent = format!("\"m{number}\"");
    }
    (older::at_version(text.as_bytes(), version, Release::V0_17).unwrap(), contents)
}

/// Issue 8: the migration that the first persistence brings loses nothing either, wherever the process dies, whatever the first
/// persistence is, in both kinds of places.
#[test]
fn no_crash_of_a_first_persistence_loses_an_older_transcript() {
    let first = [
        PLAIN[0],
        r#"{"op":"setSessionName","name":"One","source":"user"}"#,
        r#"{"op":"setStarred","starred":true}"#,
        r#"{"op":"rewriteEntries"}"#,
        r#"{"op":"fork"}"#,
        r#"{"op":"newSession"}"#,
        r#"{"op":"moveTo","cwd":"/w2"}"#,
        r#"{"op":"moveTo","cwd":"/w3","agentDir":"/agent"}"#,
    ];
    let run = |version: u8, in_scope: bool, op: &str, moment: u64| {
        let fs = workspaces();
        let place = place_of(&Files::new(&fs), in_scope, Release::V0_17);
        let path = format!("{}/old.jsonl", place.directory());
        let (old, contents) = older_transcript(version);
        Files::new(&fs).publish(&path, &old).unwrap();
        let dying = Inject::changing(&fs, |call: &Call<'_>| (call.number >= moment && call.phase == Phase::Before).then_some(Errno::IO));
        let storage = Files::new(&dying);
        let opened = Manager::open(Ids::new(1), blobs(&storage), &storage, place, path.clone());
        if let Ok(manager) = opened {
            let mut runner = Runner::new(manager);
            let _ = runner.run(&Value::parse(op.as_bytes()).unwrap()).unwrap();
            let _ = runner.into_manager().close();
        }
        let kept = found_after_crash(&fs, &path).iter().any(|bytes| {
            let loaded = load(&bytes[..], Whole, Release::V0_17).unwrap().unwrap().entries;
            let content = |entry: &Value| entry.member("message")?.member("content").map(stringify::to_text);
            loaded.iter().filter_map(content).collect::<Vec<_>>().starts_with(&contents)
        });
        assert!(kept, "version {version}, in scope: {in_scope}, {op}, operation {moment}");
        dying.operations()
    };
    for version in 1..=5 {
        for in_scope in [false, true] {
            for op in first {
                let count = run(version, in_scope, op, u64::MAX);
                assert!(count > 5, "{count} operations: {op}");
                for moment in 0..count {
                    run(version, in_scope, op, moment);
                }
            }
        }
    }
}

/// Issue 8: a move of a session with artifacts between managed places, as the user sees it: all of it in one of both places,
/// wherever the process dies (the unit tests of `session::carry` go through each single fault).
#[test]
fn no_crash_of_a_move_loses_an_artifact() {
    let run = |moment: u64| {
        let fs = workspaces();
        let plain = Files::new(&fs);
        let mut runner = begin(&plain, place_of(&plain, true, Release::V0_17)).unwrap();
        for op in [PLAIN[0], PLAIN[2], IMAGE] {
            runner.run(&Value::parse(op.as_bytes()).unwrap()).unwrap();
        }
        let path = runner.manager().session_file().unwrap().to_owned();
        plain.publish(&format!("{}/0.bash.log", artifacts_directory(&path)), b"out").unwrap();
        let place = runner.manager().place().clone();
        drop(runner);
        let dying = Inject::changing(&fs, |call: &Call<'_>| (call.number >= moment && call.phase == Phase::Before).then_some(Errno::IO));
        let storage = Files::new(&dying);
        if let Ok(manager) = Manager::open(Ids::new(1), blobs(&storage), &storage, place, path.clone()) {
            let _ = Runner::new(manager).run(&Value::parse(br#"{"op":"moveTo","cwd":"/w2"}"#).unwrap()).unwrap();
        }
        let whole = folders(&fs).iter().any(|folder| {
            let moved = format!("{folder}/{}", split(&path).1);
            let artifact = plain.read(&format!("{}/0.bash.log", artifacts_directory(&moved)));
            plain.read(&moved).is_ok_and(|bytes| bytes.iter().filter(|byte| **byte == b'\n').count() >= 4)
                && artifact == Ok(b"out".to_vec())
        });
        assert!(whole, "operation {moment}");
        dying.operations()
    };
    let count = run(u64::MAX);
    assert!(count > 30, "{count} operations");
    for moment in 0..count {
        run(moment);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Spec 04 §7.3, §7.4: what was flushed is there after the power failed, whatever else of it the disk kept. The names of the
    /// folders are held to be durable after each operation: gjc does not make them so.
    #[test]
    fn a_power_failure_at_any_moment_loses_nothing_that_was_flushed(ops in prop::collection::vec(op(), 1..10), in_scope: bool) {
        let run_until = |moment: u64| {
            let fs = workspaces();
            for cwd in WORKSPACES {
                Place::managed_in(&Files::new(&fs), "/agent", cwd, Release::V0_17).unwrap().prepare(&Files::new(&fs)).unwrap();
            }
            fs.directory("/agent/blobs");
            fs.settle();
            let dead = AtomicBool::new(false);
            let dying = Inject::changing(&fs, |call: &Call<'_>| {
                let dies = call.number >= moment && call.phase == Phase::Before;
                dead.fetch_or(dies, Ordering::SeqCst);
                dies.then_some(Errno::IO)
            });
            let storage = Files::new(&dying);
            let place = place_of(&Files::new(&fs), in_scope, Release::V0_17);
            let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let mut runner = begin(&storage, place);
            for (number, op) in ops.iter().enumerate() {
                let Some(before) = runner.take() else { break };
                let path = before.manager().session_file().unwrap().to_owned();
                let session = before.manager().session_id();
                runner = run(before, op, number as u32 + 1, &storage).map(|(after, _)| after);
                if dead.load(Ordering::SeqCst) {
                    break;
                }
                let Some(after) = &mut runner else { break };
                let flushed = after.run(&Value::parse(br#"{"op":"flush"}"#).unwrap()).unwrap();
                if matches!(flushed, Did::Threw(_)) {
                    break;
                }
                for folder in folders(&fs) {
                    fs.sync_dir(Path::new(&folder)).unwrap();
                }
                let manager = after.manager();
                if manager.session_file() != Some(&*path) {
                    if manager.session_id() == session {
                        known.remove(&path);
                    } else {
                        // Closing a session makes nothing durable that was not flushed before; it was.
                        known.entry(path).or_default();
                    }
                }
                if manager.session().on_disk() && !manager.session().is_behind() {
                    let entries = as_stored(&manager.session().entries()[1..], Release::V0_17);
                    known.insert(manager.session_file().unwrap().to_owned(), entries);
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
                    survives(&crash.left, path, entries, &format!("operation {moment}, {}", crash.what))?;
                }
            }
        }
    }
}

/// What is left of a transcript after a crash: the files of its name in every folder, and the backups that gjc's listing would
/// restore (spec 04 §2.2).
fn found_after_crash(fs: &Memory, path: &str) -> Vec<Vec<u8>> {
    let (storage, name) = (Files::new(fs), split(path).1);
    let named = |folder: String| {
        let own = format!("{folder}/{name}");
        let is_its = |backup: &String| split(backup).1.starts_with(name);
        let backups: Vec<String> = storage.list_files(&folder, "*.bak").into_iter().filter(is_its).collect();
        fs.content(&own).into_iter().chain(backups.into_iter().filter_map(|backup| fs.content(backup))).collect::<Vec<_>>()
    };
    folders(fs).into_iter().flat_map(named).collect()
}
