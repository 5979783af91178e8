//! The suite `persist`: operations on a transcript, and the bytes that gjc then has on disk. And what `n17` says of a full
//! rewrite.

use crate::support::{Case, cases, json, run, run_cases, same, string};
use gjc_fsck::finding::Release;
use gjc_fsck::json::view::len_utf16;
use gjc_fsck::json::{JsString, Value, View};
use gjc_fsck::session::manager::{Manager, OpError, World};
use gjc_fsck::session::place::Place;
use gjc_fsck::session::script::{Did, Runner};
use gjc_fsck::session::storage::{Memory, SessionStorage};
use gjc_fsck::transcript::EntryKind;
use gjc_fsck::transcript::blobs::{BlobSink, MemoryStore, name_of};
use gjc_fsck::transcript::migrate::IdSource;
use gjc_fsck::transcript::persist::open_for_writing;
use std::collections::BTreeSet;

/// Ids and times as the suite shows them: entries `e0000001`, `e0000002`, … in order of creation, sessions likewise, one time.
#[derive(Default)]
struct Counted {
    entries: u64,
    sessions: u64,
}

impl IdSource for Counted {
    fn next_id(&mut self) -> JsString {
        self.entries += 1;
        format!("e{:07}", self.entries).into()
    }
}

impl World for Counted {
    fn session_id(&mut self) -> JsString {
        self.sessions += 1;
        format!("00000000-0000-7000-8000-{:012}", self.sessions).into()
    }
    fn now(&mut self) -> JsString {
        "2026-01-01T00:00:00.000Z".into()
    }
}

#[test]
fn persist() {
    run("persist", run_script);
}

fn run_script(case: &Case) -> Result<(), String> {
    let place = Place::explicit("/w/app", "/w/sessions", Release::V0_15);
    let files_of = Memory::new();
    let manager = if case.get("input").is_some() || case.get("input_b64").is_some() {
        let path = "/w/sessions/session.jsonl";
        files_of.write(path, &case.input()).map_err(|error| error.to_string())?;
        match (Manager::open(Counted::default(), store(case), &files_of, place, path.into()), case.expect("throws")) {
            (Ok(manager), None) => manager,
            (Err(refusal), Some(throws)) => return same(&text(throws, "message"), &refusal.to_string()),
            (Ok(_), Some(_)) => return Err("it was opened".into()),
            (Err(refusal), None) => return Err(format!("it was refused: {refusal}")),
        }
    } else {
        Manager::create(Counted::default(), store(case), &files_of, place, None).map_err(|error| error.to_string())?
    };
    let mut runner = Runner::new(manager);
    for (number, op) in case.get("ops").and_then(Value::as_array).ok_or("no ops")?.iter().enumerate() {
        let did = runner.run(op).map_err(|wrong| wrong.to_string())?;
        outcome(case, &number.to_string(), did).map_err(|why| format!("op {number}: {why}"))?;
    }
    let mut manager = runner.into_manager();
    same(&case.expect("flush_error").and_then(string).unwrap_or_default(), &message(manager.flush()))?;
    let paths: Vec<String> = manager.paths().into_iter().map(str::to_owned).collect();
    let stored = || paths.iter().map(|path| (path.as_str(), files_of.read(path).ok())).collect::<Vec<_>>();
    files(case, "files", &stored())?;
    if manager.file().map(<[u8]>::to_vec) != stored().last().and_then(|(_, bytes)| bytes.clone()) {
        return Err("the manager and its storage hold different files".into());
    }
    let (closed, store) = manager.close();
    same(&case.expect("close_error").and_then(string).unwrap_or_default(), &message(closed))?;
    files(case, if case.expect("files_after_close").is_some() { "files_after_close" } else { "files" }, &stored())?;
    blobs(case.expect("blobs"), &store)
}

fn message(result: Result<(), OpError>) -> String {
    result.err().map(|error| error.message).unwrap_or_default()
}

fn text(object: &Value, key: &str) -> String {
    object.member(key).and_then(string).unwrap_or_default()
}

/// Compares what an operation did with `returns`, `op_errors` and `snapshots`.
fn outcome(case: &Case, number: &str, did: Did) -> Result<(), String> {
    let error = case.expect("op_errors").and_then(|errors| errors.member(number));
    match (did, error) {
        (Did::Threw(got), Some(want)) => {
            same(&format!("{}: {}", text(want, "error_class"), text(want, "message")), &format!("{}: {}", got.class, got.message))
        }
        (Did::Threw(got), None) => Err(format!("it threw {got}")),
        (_, Some(want)) => Err(format!("it did not throw {}", json(want))),
        (Did::Returned(got), None) => match case.expect("returns").and_then(|returns| returns.member(number)) {
            Some(want) => same(&json(want), &json(&got)),
            None => Ok(()),
        },
        (Did::Snapshot(name, got), None) => {
            file(case.expect("snapshots").and_then(|all| all.member(&name)).ok_or("no snapshot of this name")?, got.as_deref())
        }
    }
}

/// The blob store beforehand.
fn store(case: &Case) -> MemoryStore {
    let mut store = MemoryStore::default();
    for blob in case.get("blobs").and_then(Value::as_array).unwrap_or_default() {
        let text = blob.member("bytes_b64").and_then(string).expect("a blob has its bytes");
        let bytes = data_encoding::BASE64.decode(text.as_bytes()).expect("bytes_b64 is Base64");
        store.put(&name_of(&bytes), &bytes);
    }
    store
}

/// Compares the transcripts with `[{"name","exists","lines"}]`.
fn files(case: &Case, key: &str, got: &[(&str, Option<Vec<u8>>)]) -> Result<(), String> {
    let want = case.expect(key).and_then(Value::as_array).ok_or("no files")?;
    if want.len() != got.len() {
        return Err(format!("{} files, want {}", got.len(), want.len()));
    }
    // Whether the entry behind a fresh label or the label itself got its id first is not told: what counts is which ids are equal.
    let renamed = case.text("rule").as_deref() == Some("branch");
    for (want, (path, bytes)) in want.iter().zip(got) {
        same(&format!("/w/sessions/{}", text(want, "name")), path)?;
        match (renamed, bytes) {
            (true, Some(bytes)) => {
                let lines: Vec<String> =
                    want.member("lines").and_then(Value::as_array).unwrap_or_default().iter().filter_map(string).collect();
                same(&by_appearance(&format!("{}\n", lines.join("\n"))), &by_appearance(&String::from_utf8_lossy(bytes)))?;
            }
            _ => file(want, bytes.as_deref())?,
        }
    }
    Ok(())
}

/// The text with its entry ids numbered in order of appearance.
fn by_appearance(text: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut renamed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\"e00000") {
        let id = &rest[at + 1..at + 9];
        let number = seen.iter().position(|known| *known == id).unwrap_or_else(|| {
            seen.push(id);
            seen.len() - 1
        });
        renamed.push_str(&rest[..=at]);
        renamed.push_str(&format!("#{number}"));
        rest = &rest[at + 9..];
    }
    renamed + rest
}

/// Compares a file with `{"exists","lines","no_final_newline"?}`.
fn file(want: &Value, got: Option<&[u8]>) -> Result<(), String> {
    let Some(got) = got else {
        return same(&json(want.member("exists").unwrap_or(&Value::Null)), "false");
    };
    same(&json(want.member("exists").unwrap_or(&Value::Null)), "true")?;
    let (last, mut lines) =
        got.split(|byte| *byte == b'\n').collect::<Vec<_>>().split_last().map(|(last, rest)| (*last, rest.to_vec())).ok_or("no line")?;
    let unterminated = !last.is_empty();
    lines.extend(unterminated.then_some(last));
    let wanted = want.member("lines").and_then(Value::as_array).ok_or("no lines")?;
    if wanted.len() != lines.len() {
        return Err(format!("{} lines, want {}: {}", lines.len(), wanted.len(), String::from_utf8_lossy(got)));
    }
    if want.member("no_final_newline").is_some_and(View::truthy) != unterminated {
        return Err("the end of the last line differs".into());
    }
    wanted.iter().zip(lines).try_for_each(|(want, got)| line(want, got))
}

/// Compares a line with its text, or with `{length_utf16, length_utf8, sha256_utf8, head120, tail80, long_strings}`.
fn line(want: &Value, got: &[u8]) -> Result<(), String> {
    if let Some(want) = string(want) {
        return same(&want, &String::from_utf8_lossy(got));
    }
    let number = |key: &str| want.member(key).and_then(View::as_f64).unwrap_or(-1.0);
    let text = String::from_utf8_lossy(got);
    let short = text.chars().take(120).collect::<String>();
    if !string(want.member("head120").ok_or("no head120")?).is_some_and(|head| text.starts_with(&head)) {
        return Err(format!("a line begins otherwise: {short}"));
    }
    if (number("length_utf16"), number("length_utf8")) != (len_utf16(got) as f64, got.len() as f64) {
        return Err(format!("a line has {} units and {} bytes: {short}", len_utf16(got), got.len()));
    }
    same(&string(want.member("sha256_utf8").ok_or("no sha256")?).unwrap_or_default(), &name_of(got))
}

/// Compares the blob store with `[{"sha256","bytes"}]`.
fn blobs(want: Option<&Value>, got: &MemoryStore) -> Result<(), String> {
    let want = want.and_then(Value::as_array).unwrap_or_default().iter().map(|blob| {
        (
            blob.member("sha256").and_then(string).unwrap_or_default(),
            blob.member("bytes").and_then(View::as_f64).unwrap_or_default() as usize,
        )
    });
    let got = got.iter().map(|(name, bytes)| (name.to_owned(), bytes.len()));
    same(&format!("{:?}", want.collect::<BTreeSet<_>>()), &format!("{:?}", got.collect::<BTreeSet<_>>()))
}

/// What a full rewrite stores, and which blobs it makes, in both releases.
#[test]
fn n17_rewritten() {
    let chosen: Vec<Case> = cases("n17")
        .into_iter()
        .filter(|case| {
            ["0.15", "0.17"].iter().any(|release| case.expect(release).is_some_and(|answer| answer.member("rewritten").is_some()))
        })
        .collect();
    run_cases("n17_rewritten", chosen, |case| {
        for (name, release) in [("0.15", Release::V0_15), ("0.17", Release::V0_17)] {
            let answer = case.expect(name).ok_or("no answer")?;
            rewritten(case, answer, release).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    });
}

fn rewritten(case: &Case, answer: &Value, release: Release) -> Result<(), String> {
    let mut store = store(case);
    let before: BTreeSet<String> = store.iter().map(|(name, _)| name.to_owned()).collect();
    let want = answer.member("rewritten").ok_or("no rewritten")?;
    let opened = open_for_writing(case.input(), &mut Counted::default(), &mut store, release);
    let mut opened = match (opened, want.member("throws")) {
        (Ok(opened), None) => opened,
        (Err(refusal), Some(_)) => return same(&want.member("code").and_then(string).unwrap_or_default(), &refusal.to_string()),
        (Ok(_), Some(_)) => return Err("it was opened".into()),
        (Err(refusal), None) => return Err(format!("it was refused: {refusal}")),
    };
    if let Some(want) = answer.member("live_messages") {
        let entries = opened.live_entries(&mut store);
        let messages =
            entries.iter().filter(|entry| EntryKind::of(*entry) == EntryKind::Message).filter_map(|entry| entry.member("message"));
        same(&json(want), &format!("[{}]", messages.map(json).collect::<Vec<_>>().join(",")))?;
    }
    opened.rewrite(&mut store);
    let lines: Vec<String> = String::from_utf8_lossy(opened.file()).lines().map(str::to_owned).collect();
    let wanted: Vec<String> = want.as_array().unwrap_or_default().iter().filter_map(string).collect();
    same(&wanted.join("\n"), &lines.join("\n"))?;
    let new: Vec<String> = store.iter().map(|(name, _)| name.to_owned()).filter(|name| !before.contains(name)).collect();
    let wanted: Vec<String> = answer.member("new_blobs").and_then(Value::as_array).unwrap_or_default().iter().filter_map(string).collect();
    same(&wanted.join(" "), &new.join(" "))
}
