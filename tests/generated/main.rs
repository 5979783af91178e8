//! Files that are generated from the code and committed: they must say what the code says. `GJC_FSCK_BLESS=1 cargo test`
//! writes them anew. And: what the code writes must be what its schemas promise.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::disallowed_methods, reason = "a test may")]

#[path = "../support/committed.rs"]
mod committed;

use committed::matches_the_committed_file;
use gjc_fsck::check;
use gjc_fsck::finding::{Finding, Gauge, Outcome, Place};
use gjc_fsck::report::reference::{self, CodeEntry};
use gjc_fsck::report::{self, Audit, CheckedFor, Settings, UserReason, build, releases};
use serde_json::Value;
use std::sync::Arc;

#[test]
fn the_reference_of_codes_is_current() {
    matches_the_committed_file("reports/codes.md", &reference::markdown());
}

#[test]
fn the_reference_of_release_differences_is_current() {
    matches_the_committed_file("reports/releases.md", &releases::markdown());
}

/// What a schema says against a value; empty when it is valid.
fn complaints(schema: &impl serde::Serialize, value: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&serde_json::to_value(schema).unwrap()).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// A report with every code and every member that a finding can have.
fn full_report() -> report::Report {
    let place = |line| Place {
        path: Arc::from("sessions/a.jsonl"),
        line: Some(line),
        column: Some(2),
        bytes: Some((10, 20)),
        pointer: Some("/message/content/0".into()),
        entry: Some("aaaaaaa1".into()),
    };
    let findings = check::codes().map(|code| {
        let bare = Place { path: Arc::from("sessions"), ..Place::default() };
        Finding::new(code, place(3), "what is wrong").related("cause", place(1)).related("the other half", bare).record(b"{}")
    });
    let audit = Audit {
        root: "/agent".into(),
        assumed_root: Some("/elsewhere".into()),
        checked_for: CheckedFor { uid: Some(0), reason: Some(UserReason::OwnerOfAgentDirectory) },
        findings: findings.collect(),
        gauges: vec![Gauge { name: "scope_bytes", path: "sessions/v2-x".into(), used: 1, limit: 2, unit: "bytes", appends_left: Some(3) }],
        outcomes: vec![Outcome {
            path: Arc::from("sessions/a.jsonl"),
            id: None,
            cwd: None,
            version: Some(5),
            verdicts: [("S", "malformed".into())].into(),
        }],
        ..Audit::default()
    };
    build(audit, &Settings::default())
}

#[test]
fn a_full_report_and_an_empty_one_are_what_the_schema_promises() {
    for report in [full_report(), build(Audit::default(), &Settings::default())] {
        let value = serde_json::to_value(&report).unwrap();
        assert_eq!(complaints(&report::schema(), &value), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    let good = serde_json::to_value(full_report()).unwrap();
    type Breaks = fn(&mut Value);
    let broken: [(&str, Breaks); 4] = [
        ("an unknown code", |report| report["findings"][0]["code"] = "no_such_code".into()),
        ("an unknown severity", |report| report["findings"][0]["severity"] = "fatal".into()),
        ("a missing member", |report| {
            report["findings"][0].as_object_mut().unwrap().remove("fingerprint");
        }),
        ("a line as text", |report| report["findings"][0]["line"] = "3".into()),
    ];
    for (what, breaks) in broken {
        let mut value = good.clone();
        breaks(&mut value);
        assert!(!complaints(&report::schema(), &value).is_empty(), "{what}");
    }
}

#[test]
fn every_member_of_a_finding_is_there_and_what_does_not_apply_is_null() {
    let bare = Finding::new(check::code("blank_lines").unwrap(), Place { path: Arc::from("a"), ..Place::default() }, "x");
    let report = build(Audit { findings: vec![bare], ..Audit::default() }, &Settings::default());
    let value = serde_json::to_value(&report).unwrap();
    let finding = value["findings"][0].as_object().unwrap();
    let members: Vec<&str> = finding.keys().map(String::as_str).collect();
    let mut wanted = [
        "code",
        "severity",
        "class",
        "status",
        "message",
        "notListed",
        "path",
        "line",
        "column",
        "byteStart",
        "byteEnd",
        "pointer",
        "entry",
        "related",
        "gjc",
        "help",
        "fingerprint",
    ];
    wanted.sort_unstable();
    let mut sorted = members.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, wanted);
    for member in ["line", "column", "byteStart", "byteEnd", "pointer", "entry", "class", "notListed"] {
        assert!(finding[member].is_null(), "{member}");
    }
}

#[test]
fn the_list_of_codes_is_what_its_schema_promises() {
    let entries: Vec<CodeEntry> = check::codes().map(CodeEntry::from).collect();
    let value = serde_json::to_value(entries).unwrap();
    assert_eq!(complaints(&reference::schema(), &value), Vec::<String>::new());
    assert_eq!(value.as_array().unwrap().len(), 360);
}
