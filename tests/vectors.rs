//! The recorded answers of gjc 0.15.0: every case of every suite must hold. One test a suite, named after it.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test reads its own files and tells what it found"
)]

#[path = "support/damage.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod damage;
#[path = "suites/gc_properties.rs"]
mod gc_properties;
#[path = "suites/gc.rs"]
mod gc_suite;
#[path = "suites/list.rs"]
mod list_suite;
#[path = "suites/observed_corrections.rs"]
mod observed_corrections;
#[path = "suites/persist.rs"]
mod persist;
#[path = "suites/persist_properties.rs"]
mod persist_properties;
mod support;
#[path = "support/tree.rs"]
mod tree;
#[path = "suites/tree_neighbours.rs"]
mod tree_neighbours;
#[path = "support/trees.rs"]
mod trees_suite;

use gjc_fsck::agent::identity::{self, NoIdentity};
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::{Memory, Real};
use gjc_fsck::json::jsonl::{Event, Lines};
use gjc_fsck::json::{Value, View, stringify};
use gjc_fsck::transcript::answer;
use gjc_fsck::transcript::context::answer::{LeafName, contexts};
use gjc_fsck::transcript::inspect::{self, Looked, Options, Reason, Verdict};
use gjc_fsck::transcript::migrate::Numbered;
use gjc_fsck::transcript::open::{self, ManagedFile, Opening, Workspace};
use gjc_fsck::transcript::readers;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use support::place::Place;
use support::{Case, Others, json, run, same, string};

/// Bytes to the records of the lenient reader.
#[test]
fn parse() {
    run("parse", |case| {
        let input = case.input();
        let mut lines = Lines::new(&input[..]);
        let mut got = Vec::new();
        while let Some(event) = lines.next().map_err(|error| error.to_string())? {
            if let Event::Value(found) = event {
                got.push(stringify::to_text(&Value::from_node(found.node)));
            }
        }
        let want = case.expect("records_text").and_then(Value::as_array).ok_or("no records_text")?;
        let want: Vec<String> = want.iter().filter_map(string).collect();
        same(&want.join("\n"), &got.join("\n"))
    });
}

/// Bytes to the entries that gjc loads.
#[test]
fn load() {
    run("load", |case| entries_or_throws(case, &answer::replay(&case.input()[..], Release::V0_15).unwrap()));
}

/// Bytes to the entries, migrated to version 5.
#[test]
fn migrate() {
    run("migrate", |case| entries_or_throws(case, &answer::migrated(&case.input()[..], Release::V0_15, &mut Numbered::default()).unwrap()));
}

/// Entries and leaves to the rebuilt contexts.
#[test]
fn context() {
    run("context", |case| {
        let leaves: Vec<LeafName> = case.get("leaves").and_then(Value::as_array).unwrap_or_default().iter().map(leaf).collect();
        let asked: Vec<LeafName> = [LeafName::Last].into_iter().chain(leaves).collect();
        let answers = contexts(&case.input()[..], Release::V0_15, &asked, &mut Numbered::default()).map_err(|error| error.to_string())?;
        let mut wanted = Vec::new();
        match case.expect("load") {
            Some(thrown) => wanted.push(thrown.clone()),
            None => {
                wanted.extend(case.expect("default").cloned());
                wanted.extend(case.expect("leaves").and_then(Value::as_array).unwrap_or_default().iter().cloned());
            }
        }
        for (number, (wanted, answer)) in wanted.iter().zip(&answers).enumerate() {
            let answer = Value::parse(answer).ok_or("the answer is no JSON")?;
            context_answer(wanted, &answer).map_err(|why| format!("answer {number}: {why}"))?;
        }
        if wanted.len() == answers.len() || wanted.len() == 1 { Ok(()) } else { Err(format!("{} answers wanted", wanted.len())) }
    });
}

fn leaf(value: &Value) -> LeafName {
    match value {
        Value::String(id) => LeafName::Id(id.clone()),
        _ => LeafName::BeforeFirst,
    }
}

/// Compares one context; of what is thrown, gjc's own words are compared, of the engine's only that it throws.
fn context_answer(wanted: &Value, answer: &Value) -> Result<(), String> {
    if let Some(thrown) = wanted.member("throws") {
        let own = wanted.member("error_class").and_then(string).is_some_and(|class| class == "Error");
        let got = answer.member("throws").ok_or("want a throw")?;
        return if own { same(&json(thrown), &json(got)) } else { Ok(()) };
    }
    if wanted.member("not_loaded").is_some() {
        return answer.member("not_loaded").map(|_| ()).ok_or("want nothing loaded".to_owned());
    }
    for key in ["context", "message_entry_ids", "observation_ids"] {
        match (wanted.member(key), answer.member(key)) {
            (Some(want), Some(got)) => same(&json(want), &json(got))?,
            (None, None) => {}
            (want, got) => return Err(format!("{key}: want {}, got {}", want.is_some(), got.is_some())),
        }
    }
    Ok(())
}

/// Bytes, or a place, to the verdict of the strict inspection. Cases by reference take the input of another suite.
#[test]
fn inspect() {
    let others = Others::read();
    run("inspect", |case| {
        let subject = others.subject(case)?;
        let mut options = Options::new(Release::V0_15);
        if let Some(budget) = case.get("budget_bytes").and_then(View::as_f64) {
            options.budget = budget as u64;
        }
        strict_verdict(case.expect("S"), strict_inspection(subject, options).as_ref().map(|looked| &looked.inspected.verdict))
    });
}

/// Reader S on the place of a case, or on its input in memory.
fn strict_inspection(case: &Case, options: Options) -> Result<Looked, Reason> {
    if case.get("path").is_some() {
        return inspect::file(&Real, &Place::of(case).path, options);
    }
    let fs = Memory::new();
    fs.file("/f.jsonl", &case.input());
    inspect::file(&fs, Path::new("/f.jsonl"), options)
}

/// Compares a verdict with `{"kind":…,"reason":…,"size":…}`.
fn strict_verdict(wanted: Option<&Value>, verdict: Result<&Verdict, &Reason>) -> Result<(), String> {
    let error = |reason: &Reason| match reason.size() {
        Some(size) => format!(r#"{{"kind":"error","reason":"{}","size":{size}}}"#, reason.token()),
        None => format!(r#"{{"kind":"error","reason":"{}"}}"#, reason.token()),
    };
    let got = match verdict {
        Ok(Verdict::Resumable) => r#"{"kind":"resumable"}"#.to_owned(),
        Ok(Verdict::Terminal) => r#"{"kind":"terminal"}"#.to_owned(),
        Ok(Verdict::Error(reason)) | Err(reason) => error(reason),
    };
    same(&json(wanted.ok_or("no S")?), &got).map_err(|why| format!("S: {why} ({verdict:?})"))
}

/// Bytes at a place to what opening does, with an explicit destination and from the managed root.
#[test]
fn open() {
    let release = Release::V0_15;
    run("open", |case| {
        let place = Place::of(case);
        let said = |key| case.get("path").and_then(|path| path.member(key));
        let looked = inspect::file(&Real, &place.path, Options::new(release));
        strict_verdict(case.expect("S"), looked.as_ref().map(|looked| &looked.inspected.verdict))?;

        let missing = looked.as_ref().err().map(|reason| Verdict::Error(reason.clone()));
        let verdict = looked.as_ref().map_or_else(|_| missing.as_ref().unwrap(), |looked| &looked.inspected.verdict);
        let loaded = looked.as_ref().ok().and_then(|looked| looked.inspected.loaded.as_ref().ok());
        let staged = place.path.components().any(|part| part.as_os_str() == ".staging");
        opening(case.expect("open"), &open::explicit(verdict, loaded, staged, release)).map_err(|why| format!("open: {why}"))?;

        let bytes = case.input();
        let managed = readers::managed::inspect(&bytes[..]).unwrap();
        let file = ManagedFile {
            staged,
            symlink: said("symlink_to_input").is_some(),
            links: said("hard_links").and_then(View::as_f64).map_or(1, |links| links as u64),
            inside: said("outside").is_none(),
            listed_place: said("sub").is_none() && place.path.file_name().is_some_and(|name| name.as_bytes().ends_with(b".jsonl")),
            malformed: managed.verdict.is_err(),
            first_bytes: &bytes,
            header_cwd: managed.header_cwd.as_deref(),
        };
        let managed = open::managed(verdict, loaded, &file, workspace, release);
        opening(case.expect("M"), &managed.opening).map_err(|why| format!("M: {why}"))?;
        match case.expect("M_context") {
            None if managed.context == Opening::Opens => Ok(()),
            wanted => opening(wanted, &managed.context).map_err(|why| format!("M_context: {why}")),
        }
    });
}

/// What 0.17 does otherwise than 0.15: every answer of both releases. (What a rewrite stores is judged with `persist`.)
#[test]
fn n17() {
    run("n17", |case| {
        for release in [Release::V0_15, Release::V0_17] {
            let wanted = case.expect(release.text()).ok_or("a release is missing")?;
            release_answers(case, wanted, release).map_err(|why| format!("{}: {why}", release.text()))?;
        }
        Ok(())
    });
}

fn release_answers(case: &Case, wanted: &Value, release: Release) -> Result<(), String> {
    let looked = strict_inspection(case, Options::new(release));
    strict_verdict(wanted.member("S"), looked.as_ref().map(|looked| &looked.inspected.verdict))?;
    if let Some(entries) = wanted.member("entries") {
        let answer = answer::replay(&case.input()[..], release).map_err(|error| error.to_string())?;
        let got = Value::parse(&answer).and_then(|answer| answer.member("entries").cloned()).ok_or("no entries")?;
        same(&json(entries), &json(&got))?;
    }
    if let (Some(wanted), Ok(looked)) = (wanted.member("open"), &looked) {
        let inspected = &looked.inspected;
        opening(Some(wanted), &open::explicit(&inspected.verdict, inspected.loaded.as_ref().ok(), false, release))?;
    }
    let leaves: Vec<LeafName> = case.get("leaves").and_then(Value::as_array).unwrap_or_default().iter().map(leaf).collect();
    let asked: Vec<LeafName> = [LeafName::Last].into_iter().chain(leaves).collect();
    let answers = contexts(&case.input()[..], release, &asked, &mut Numbered::default()).map_err(|error| error.to_string())?;
    let leaves = wanted.member("leaves").and_then(Value::as_array).unwrap_or_default();
    for (wanted, answer) in wanted.member("default").into_iter().chain(leaves).zip(&answers) {
        let answer = Value::parse(answer).ok_or("the answer is no JSON")?;
        match (wanted.member("context"), answer.member("context")) {
            (Some(want), Some(got)) => same(&json(want), &json(got))?,
            (None, None) if wanted.member("throws").is_some() && answer.member("throws").is_some() => {}
            _ => return Err(format!("want {}, got {}", json(wanted), json(&answer))),
        }
    }
    Ok(())
}

/// Where the workspaces of the suite `open` lead (`tests/vectors/README.md`); its folder is that of `/w/app`. Before the
/// identity of a `cwd` is asked for, opening resolves it as text; the current directory has no folder `w`.
fn workspace(cwd: &[u8]) -> Workspace {
    let fs = Memory::new();
    for folder in ["/w/app/inner", "/w/second", "/tmp", "/root", "/home", "/current"] {
        fs.directory(folder);
    }
    fs.symlink("/w/link", "/w/app");
    fs.file("/w/file", b"");
    let mut resolved = PathBuf::from("/");
    for part in Path::new("/current").join(OsStr::from_bytes(cwd)).components() {
        match part {
            Component::Normal(name) => resolved.push(name),
            Component::ParentDir => {
                resolved.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    match identity::posix(&fs, Path::new("/"), &resolved) {
        Ok(found) if found.canonical_path == "/w/app" => Workspace::Same,
        Ok(_) => Workspace::Other,
        Err(NoIdentity::NotDirectory) => Workspace::NotADirectory,
        Err(_) => Workspace::Missing,
    }
}

/// The table behind [`workspace`] is open: any spelling of a folder of the suite leads there.
#[test]
fn workspaces_of_the_suite_open() {
    for (cwd, leads) in [
        ("/w/app", Workspace::Same),
        ("/w//app/.", Workspace::Same),
        ("/w/link/", Workspace::Same),
        ("/w/app/inner/..", Workspace::Same),
        ("/w/link/inner", Workspace::Other),
        ("/w/link/..", Workspace::Other),
        ("/", Workspace::Other),
        ("/w/file", Workspace::NotADirectory),
        ("/w/other", Workspace::Missing),
        ("w/app", Workspace::Missing),
    ] {
        assert_eq!(workspace(cwd.as_bytes()), leads, "{cwd}");
    }
}

/// What strict JSON cannot carry stands as JSON text in a case, under a name that says so.
#[test]
fn fields_that_are_json_texts() {
    let line = br#"{"expect":{"0.15":{"entries_text":["{\"a\":\"\\ud800\"}","7"],"context_text":"[[]]","about_text":"no JSON"}}}"#;
    let case = Case::parse(line);
    let answer = case.expect("0.15").unwrap();
    assert_eq!(answer.member("entries").map(json).as_deref(), Some(r#"[{"a":"\ud800"},7]"#));
    assert_eq!(answer.member("context").map(json).as_deref(), Some("[[]]"));
    assert!(answer.member("about").is_none());
}

/// Compares an opening with `"opened"`, `{"error":…}` or `{"throws":true,"code":…}`.
fn opening(wanted: Option<&Value>, got: &Opening) -> Result<(), String> {
    let got = match got {
        Opening::Opens => r#""opened""#.to_owned(),
        Opening::Refused(message) => format!(r#"{{"error":"{message}"}}"#),
        Opening::Throws { code: None } => r#"{"throws":true}"#.to_owned(),
        Opening::Throws { code: Some(code) } => format!(r#"{{"throws":true,"code":"{code}"}}"#),
    };
    same(&json(wanted.ok_or("not expected")?), &got)
}

/// Compares an answer with `expect.entries` or `expect.throws`.
fn entries_or_throws(case: &Case, answer: &[u8]) -> Result<(), String> {
    let answer = Value::parse(answer).ok_or("the answer is no JSON")?;
    for key in ["entries", "throws"] {
        match (case.expect(key), answer.member(key)) {
            (Some(want), Some(got)) => same(&json(want), &json(got))?,
            (None, None) => {}
            (want, got) => return Err(format!("{key}: want {}, got {}", want.is_some(), got.is_some())),
        }
    }
    Ok(())
}

/// Agent directories: what gjc answers about each, in order.
#[test]
fn trees() {
    trees_suite::run();
}

/// Retirement receipts, owners, journals, budgets: every pure decision.
#[test]
fn gc() {
    gc_suite::run();
}

/// A session directory: its listing, its recent list, its most recent session.
#[test]
fn list() {
    list_suite::run();
}
