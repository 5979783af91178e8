//! The suite `persist`: operations on a transcript, and the bytes that gjc then has on disk. And what `n17` says of a full
//! rewrite.

use crate::support::{Case, cases, json, run_cases, same, string};
use gjc_fsck::finding::Release;
use gjc_fsck::json::view::len_utf16;
use gjc_fsck::json::{JsStr, JsString, Value, View};
use gjc_fsck::transcript::EntryKind;
use gjc_fsck::transcript::blobs::{BlobSink, MemoryStore, name_of};
use gjc_fsck::transcript::migrate::IdSource;
use gjc_fsck::transcript::persist::opened::NameSource;
use gjc_fsck::transcript::persist::{Opened, open_for_writing};
use std::collections::BTreeSet;

/// Rules that open a transcript; the others need the session manager, which makes new ones.
const RULES: [&str; 3] = ["open_v5", "open_old", "open_refused"];

/// Ids as the suite shows them: `e0000001`, `e0000002`, … in order of creation.
struct Counted(u64);

impl IdSource for Counted {
    fn next_id(&mut self) -> JsString {
        self.0 += 1;
        format!("e{:07}", self.0).into()
    }
}

#[test]
fn persist() {
    let (chosen, others): (Vec<Case>, Vec<Case>) = cases("persist").into_iter().partition(|case| RULES.contains(&rule(case).as_str()));
    let not_run: BTreeSet<String> = others.iter().map(rule).collect();
    println!("persist: not run, they need the session manager: {}", Vec::from_iter(not_run).join(", "));
    run_cases("persist", chosen, run_script);
}

fn rule(case: &Case) -> String {
    case.text("rule").unwrap_or_default()
}

fn run_script(case: &Case) -> Result<(), String> {
    let mut store = store(case);
    let mut ids = Counted(0);
    let input = case.input();
    let opened = open_for_writing(input, &mut ids, &mut store, Release::V0_15);
    let mut opened = match (opened, case.expect("throws")) {
        (Ok(opened), None) => opened,
        (Err(refusal), Some(throws)) => {
            return same(&string(throws.member("message").ok_or("no message")?).unwrap_or_default(), &refusal.to_string());
        }
        (Ok(_), Some(_)) => return Err("it was opened".into()),
        (Err(refusal), None) => return Err(format!("it was refused: {refusal}")),
    };
    let ops = case.get("ops").and_then(Value::as_array).ok_or("no ops")?;
    for (number, op) in ops.iter().enumerate() {
        let returns = operate(op, &mut opened, &mut ids, &mut store)?;
        if let Some(want) = case.expect("returns").and_then(|returns| returns.member(&number.to_string())) {
            same(&json(want), &json(&returns))?;
        }
    }
    file(case.expect("files").ok_or("no files")?, opened.file())?;
    let closed = opened.close(&mut store);
    match case.expect("files_after_close") {
        Some(want) => file(want, &closed)?,
        None => file(case.expect("files").ok_or("no files")?, &closed)?,
    }
    blobs(case.expect("blobs"), &store)
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

/// Runs one operation; answers what it returns where the suite looks at it.
fn operate(op: &Value, opened: &mut Opened, ids: &mut Counted, store: &mut MemoryStore) -> Result<Value, String> {
    let name = op.member("op").and_then(string).ok_or("an op has a name")?;
    match name.as_str() {
        "appendMessage" => {
            let message = op.member("message").ok_or("no message")?.clone();
            let envelope = [
                ("type", Value::string("message")),
                ("id", Value::String(ids.next_id())),
                ("parentId", opened.leaf().clone()),
                ("timestamp", Value::string("2026-01-01T00:00:00.000Z")),
                ("message", message),
            ];
            opened.append(Value::Object(envelope.into_iter().collect()), store);
        }
        "setSessionName" => {
            let name = op.member("name").and_then(string).ok_or("no name")?;
            let source = if op.member("source").is_some_and(|source| source.is_str("auto")) { NameSource::Auto } else { NameSource::User };
            return Ok(Value::Bool(opened.set_name(JsStr::from(&*name), source, store)));
        }
        "rewriteEntries" => opened.rewrite(store),
        "ensureOnDisk" => opened.ensure_on_disk(store),
        other => return Err(format!("the op {other} is not modelled")),
    }
    Ok(Value::Null)
}

/// Compares a file with `[{"name","exists","lines","no_final_newline"?}]`.
fn file(want: &Value, got: &[u8]) -> Result<(), String> {
    let [want] = want.as_array().ok_or("files is a list")? else { return Err("one file was expected".into()) };
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
    let opened = open_for_writing(case.input(), &mut Counted(0), &mut store, release);
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
