//! The forms of one report, as snapshots: what a user of a terminal, of a pipe, of a program and of a CI system gets.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::disallowed_methods, reason = "a test may")]

use gjc_fsck::check;
use gjc_fsck::finding::{Finding, Gauge, Outcome, Place, Release, Severity};
use gjc_fsck::render::human::{self, Layout};
use gjc_fsck::render::{Excerpts, NoExcerpts, concise, github, json, jsonl, junit, markdown, sarif};
use gjc_fsck::report::{Audit, Blobs, CheckedFor, FailOn, Report, Settings, UserReason, build};
use std::sync::Arc;

const TORN: &str = "sessions/v2-5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq/2026-01-02T03-04-05-000Z_0190aaaa.jsonl";
const BRANCHY: &str = "sessions/--w-demo--/2026-01-03T10-00-00-000Z_0190bbbb.jsonl";
const LARGE: &str = "sessions/--w-demo--/2026-01-04T10-00-00-000Z_0190cccc.jsonl";

/// The fourth line of the torn transcript.
const LINE_4: &str = "{\"type\":\"message\",\"id\":\"aaaaaaa3\",\"parentId\":\"aaaaaaa2\",\"message\":{\"role\":\"user\",\"cont{\"type\":\"message\",\"id\":\"aaaaaaa4\",\"parentId\":\"aaaaaaa3\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n";

/// Line 4 begins at byte 1,000 of the torn transcript; nothing else can be read.
struct Line4;

impl Excerpts for Line4 {
    fn bytes(&self, path: &str, start: u64, len: usize) -> Option<Vec<u8>> {
        let from = usize::try_from(start.checked_sub(1000)?).ok()?;
        let bytes = LINE_4.as_bytes().get(from..)?;
        (path == TORN).then(|| bytes[..len.min(bytes.len())].to_vec())
    }
}

fn place(path: &str, line: Option<u64>) -> Place {
    Place { path: Arc::from(path), line, ..Place::default() }
}

fn finding(code: &str, place: Place, message: &str) -> Finding {
    Finding::new(check::code(code).expect("a code of the registry"), place, message)
}

fn report() -> Report {
    let mut findings = vec![
        finding(
            "fused_line",
            Place { column: Some(86), bytes: Some((1085, 1183)), ..place(TORN, Some(4)) },
            "a torn record of 85 bytes, then one complete record (aaaaaaa4) from column 86 on",
        )
        .record(LINE_4.as_bytes()),
        finding("dangling_parent", place(TORN, Some(9)), "parentId aaaaaaa3 is not in the file; 2 messages are cut off")
            .related("cause: the record was on this line", place(TORN, Some(4))),
        finding("unreachable_branch", place(TORN, None), "2 entries, 1 tip, 1 root"),
        finding("legacy_version", place(BRANCHY, Some(1)), "version 3"),
        finding("unreachable_branch", place(BRANCHY, None), "7 entries, 2 tips, 1 root"),
        finding("near_per_file_cap", place(LARGE, None), "120.1 MiB of 128 MiB; 8,284,012 bytes are left"),
        finding(
            "mode_mismatch",
            place("sessions/v2-5rv7jbgitapagoa4ocoosggzxmdsobetnarxtc2pjcty2dxyl2yq", None),
            "mode 0755 instead of 0700",
        ),
        finding(
            "unstable",
            place("sessions/--w-demo--/2026-01-05T10-00-00-000Z_0190dddd.jsonl", None),
            "size and mtime changed while it was read",
        ),
    ];
    for line in [12, 15, 18, 21, 24, 30] {
        let message = format!("arguments of block 0 are a string\u{1b}[2J in entry e{line}");
        findings.push(finding(
            "toolcall_arguments_not_object",
            Place { entry: Some(format!("e{line}")), ..place(BRANCHY, Some(line)) },
            &message,
        ));
    }
    let gauge = |path: &str, used| Gauge {
        name: "transcript_bytes",
        path: path.into(),
        used,
        limit: 134_217_728,
        unit: "bytes",
        appends_left: None,
    };
    let outcome = |path: &str, id: &str, version, answer: &'static str| Outcome {
        path: Arc::from(path),
        id: Some(id.into()),
        cwd: Some("/w/demo".into()),
        version: Some(version),
        verdicts: [("L", "8 entries".into()), ("S", answer.into())].into(),
    };
    let audit = Audit {
        root: "/home/me/.gjc/agent".into(),
        checked_for: CheckedFor { uid: Some(1000), reason: Some(UserReason::EffectiveUser) },
        blobs: Blobs { checked: true, store: Some("/home/me/.gjc/agent/blobs".into()) },
        findings,
        gauges: vec![gauge(TORN, 1183), gauge(BRANCHY, 52_000), gauge(LARGE, 125_933_716)],
        outcomes: vec![
            outcome(TORN, "0190aaaa", 5, "malformed"),
            outcome(BRANCHY, "0190bbbb", 3, "resumable"),
            outcome(LARGE, "0190cccc", 5, "terminal"),
        ],
        ..Audit::default()
    };
    build(audit, &Settings::default())
}

fn human(report: &Report, excerpts: &dyn Excerpts, layout: Layout) -> String {
    human::text(report, excerpts, layout)
}

/// What a renderer writes of the report.
fn written(write: impl Fn(&Report, &dyn Excerpts, &mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&report(), &Line4, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn jsonl_is_one_object_a_line() {
    insta::assert_snapshot!(written(|report, _, out| jsonl::write(report, out)));
}

#[test]
fn sarif_has_a_rule_a_code_and_a_result_a_finding() {
    insta::assert_snapshot!(written(sarif::write));
}

#[test]
fn junit_has_a_case_a_code_and_file() {
    insta::assert_snapshot!(written(junit::write));
}

#[test]
fn github_is_one_command_a_finding() {
    insta::assert_snapshot!(written(github::write));
}

#[test]
fn markdown_is_a_summary() {
    insta::assert_snapshot!(written(markdown::write));
}

#[test]
fn quiet_leaves_out_what_is_no_error() {
    let quiet = human(&report(), &Line4, Layout { colour: false, width: 100, quiet: true });
    assert!(quiet.contains("fused_line"), "{quiet}");
    for aside in ["Limits", "near_per_file_cap", "Warnings"] {
        assert!(!quiet.contains(aside), "{aside}: {quiet}");
    }
}

/// One kind of finding in very many files, a rare one beside it, and a folder that stands for more than a report lists.
#[test]
fn human_of_one_kind_in_many_files_shows_a_few_and_counts_the_rest_by_folder() {
    let file = |folder: &str, at: usize| format!("{folder}/{at:04}.jsonl");
    let many = |folder: &'static str, count| {
        (0..count).map(move |at| finding("json_syntax", place(&file(folder, at), Some(1)), "the line is no JSON"))
    };
    let mut findings: Vec<Finding> = many("a", 40).chain(many("b/c", 1_500)).collect();
    findings.push(finding("dangling_parent", place(&file("b/c", 700), Some(2)), "parentId aaaaaaa3 is not in the file"));
    findings.push(finding("utf16_bom", place(&file("b/c", 900), Some(1)), "the file is UTF-16"));
    findings.push(Finding::not_listed(check::code("json_syntax").unwrap(), &Arc::from("a"), 49_000));
    let report = build(Audit { root: "t".into(), findings, ..Audit::default() }, &Settings::default());
    let text = human(&report, &NoExcerpts, Layout { colour: false, width: 80, quiet: false });
    assert!(text.lines().count() < 80, "{text}");
    insta::assert_snapshot!(text);
    // Near miss: as many files as are all shown.
    let few = build(Audit { findings: many("a", 8).collect(), ..Audit::default() }, &Settings::default());
    let text = human(&few, &NoExcerpts, Layout { colour: false, width: 80, quiet: false });
    assert!(text.contains("\na/0007.jsonl\n") && !text.contains("many more files"), "{text}");
}

#[test]
fn human_for_a_terminal_of_100_columns() {
    insta::assert_snapshot!(human(&report(), &Line4, Layout { colour: false, width: 100, quiet: false }));
}

#[test]
fn human_for_a_narrow_terminal() {
    insta::assert_snapshot!(human(&report(), &Line4, Layout { colour: false, width: 60, quiet: false }));
}

#[test]
fn human_without_the_files_still_says_everything() {
    insta::assert_snapshot!(human(&report(), &NoExcerpts, Layout { colour: false, width: 100, quiet: true }));
}

#[test]
fn human_of_a_clean_directory_is_one_line_and_what_was_checked() {
    let audit = Audit { root: "/home/me/.gjc/agent".into(), ..Audit::default() };
    insta::assert_snapshot!(human(&build(audit, &Settings::default()), &NoExcerpts, Layout { colour: false, width: 100, quiet: false }));
}

#[test]
fn warnings_alone_are_not_called_clean() {
    let first_line = |code, settings: &Settings| {
        let audit = Audit { findings: vec![finding(code, place("a", Some(1)), "x")], ..Audit::default() };
        human(&build(audit, settings), &NoExcerpts, Layout { colour: false, width: 100, quiet: false }).lines().next().unwrap().to_owned()
    };
    assert_eq!(first_line("dangling_parent", &Settings::default()), "✓ no errors: 1 warning");
    assert_eq!(first_line("blank_lines", &Settings::default()), "✓ clean");
    let never = Settings { fail_on: FailOn::Never, ..Settings::default() };
    assert_eq!(first_line("json_syntax", &never), "◆ nothing that counts for the exit status: 1 error");
}

/// A report of one finding on one transcript whose lenient and strict readers answer this.
fn report_of(code: &str, lenient: &'static str, strict: &'static str, settings: &Settings) -> Report {
    let verdicts = [("L", lenient.into()), ("S", strict.into())].into();
    let outcomes = vec![Outcome { path: Arc::from("a"), verdicts, ..Outcome::default() }];
    build(Audit { findings: vec![finding(code, place("a", Some(1)), "x")], outcomes, ..Audit::default() }, settings)
}

#[test]
fn what_cannot_be_resumed_is_never_called_clean() {
    let code = check::code("json_syntax").unwrap();
    let lowered = Settings { overrides: vec![(code, Severity::Info)], ..Settings::default() };
    let report = report_of("json_syntax", "loads 1 entry", "malformed", &lowered);
    assert_eq!(report.summary.status, 0);
    let text = human(&report, &NoExcerpts, Layout { colour: false, width: 100, quiet: true });
    assert!(text.starts_with("◆ no errors, and sessions that gjc refuses\n  1 of 1 transcript cannot be resumed\n"), "{text}");
}

#[test]
fn no_fork_is_advised_of_a_file_of_which_nothing_is_loaded() {
    let help = |lenient| report_of("json_syntax", lenient, "malformed", &Settings::default()).findings[0].help.clone();
    assert!(help("loads 1 entry").contains("`gjc --fork PATH` keeps"), "{}", help("loads 1 entry"));
    assert!(help("[]").starts_with("A fork cannot help"), "{}", help("[]"));
}

#[test]
fn a_lone_finding_is_not_advised_twice() {
    let text = human(
        &report_of("json_syntax", "loads 1 entry", "malformed", &Settings::default()),
        &NoExcerpts,
        Layout { colour: false, width: 100, quiet: false },
    );
    assert!(text.contains("help: Keep the original and mend") && !text.contains("Next"), "{text}");
}

/// Half an advice may be the contrary of it.
#[test]
fn each_next_step_is_the_whole_advice_and_every_code_is_named() {
    let names = ["json_syntax", "glued_records", "fused_line", "nul_run", "record_spans_lines", "lenient_swallow"];
    let findings = names.iter().enumerate().map(|(at, name)| finding(name, place(&format!("{at}"), Some(1)), "x"));
    let report = build(Audit { findings: findings.collect(), ..Audit::default() }, &Settings::default());
    let text = human(&report, &NoExcerpts, Layout { colour: false, width: 100, quiet: false });
    let next = text.split_once("\nNext\n").unwrap().1.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in &names[..5] {
        assert!(next.contains(check::code(name).unwrap().help), "{name}: {next}");
    }
    assert!(next.contains(&format!("what to do about the last 1: gjc-fsck explain {}", names.join(" "))), "{next}");
}

#[test]
fn what_keeps_a_session_from_opening_comes_before_what_it_lacks() {
    let refused = Outcome { path: Arc::from("b"), verdicts: [("S", "malformed".into())].into(), ..Outcome::default() };
    let opens = Outcome { path: Arc::from("a"), verdicts: [("S", "resumable".into())].into(), ..Outcome::default() };
    let findings = vec![
        finding("history_corrupt", place("0.db", None), "x"),
        finding("blob_missing", place("a", Some(2)), "x"),
        finding("json_syntax", place("b", Some(2)), "x"),
    ];
    let report = build(Audit { findings, outcomes: vec![refused, opens], ..Audit::default() }, &Settings::default());
    let text = human(&report, &NoExcerpts, Layout { colour: false, width: 100, quiet: false });
    let at = |code| text.find(code).unwrap();
    assert!(at("json_syntax") < at("blob_missing") && at("blob_missing") < at("history_corrupt"), "{text}");
}

#[test]
fn colours_change_no_word() {
    let layout = |colour| Layout { colour, width: 100, quiet: false };
    let coloured = human(&report(), &Line4, layout(true));
    assert!(coloured.contains("\u{1b}["));
    let mut words = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        words.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    words.push_str(rest);
    assert_eq!(words, human(&report(), &Line4, layout(false)));
}

#[test]
fn concise_is_one_line_a_finding() {
    let mut out = Vec::new();
    concise::write(&report(), &NoExcerpts, &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn json_is_the_report() {
    let mut out = Vec::new();
    json::write(&report(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn explain_says_that_a_full_journal_is_neither_missing_nor_damaged() {
    insta::assert_snapshot!(gjc_fsck::render::explain::code(
        check::code("managed_gc_journal_capacity_exceeded").unwrap(),
        Release::V0_17,
        false,
        80
    ));
}

#[test]
fn explain_of_a_fatal_verdict_token_of_one_release() {
    insta::assert_snapshot!(gjc_fsck::render::explain::code(check::code("identity_mismatch").unwrap(), Release::V0_17, false, 80));
}

#[test]
fn explain_leaves_out_what_is_said_of_the_other_release() {
    let page = |release| gjc_fsck::render::explain::code(check::code("blob_ref_noncanonical").unwrap(), release, false, 80);
    let gjc_does = |release| page(release).split("What to do").next().unwrap().split_once("What gjc does").unwrap().1.to_owned();
    let (older, newest) = (gjc_does(Release::V0_15), gjc_does(Release::V0_17));
    assert!(older.contains("0.15") && !older.contains("0.17"), "{older}");
    assert!(newest.contains("0.17") && !newest.contains("0.15"), "{newest}");
}

#[test]
fn what_helps_one_of_several_is_not_said_of_all() {
    let of = |other: &str| {
        let one = finding("json_syntax", place("a.jsonl", Some(1)), "x").help("Mend the header.");
        let two = finding("json_syntax", place("b.jsonl", Some(2)), "y").help(other);
        let audit = Audit { findings: vec![one, two], ..Audit::default() };
        let page = human(&build(audit, &Settings::default()), &NoExcerpts, Layout { colour: false, width: 100, quiet: false });
        page.split_once("Next").unwrap().1.contains("Mend the header.")
    };
    assert!(of("Mend the header."));
    assert!(!of("Mend the entry."));
}
