//! The corpus: every case says what the program answers, every code is guarded by one, nothing in it is unused, and a case
//! that is wrong is rejected.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used, reason = "a test reads its own files and tells what it found")]

#[path = "support/naive.rs"]
mod naive;
#[path = "support/skipped.rs"]
mod skipped;

use gjc_fsck::check;
use gjc_fsck::corpus::case::{Case, Input};
use gjc_fsck::corpus::expected::Expectations;
use gjc_fsck::corpus::folder::{self, Folder, Only};
use gjc_fsck::corpus::observe::{self, Memo};
use gjc_fsck::corpus::run::{Failure, Observations, compare, is_canary, observations};
use gjc_fsck::corpus::{coverage, lint, run, side_by_side};
use gjc_fsck::finding::{Code, Release, Role};
use gjc_fsck::json::{Value, View};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// A case and everything that it gave: each is run once, and the tests look at that.
struct Seen {
    folder: Folder,
    case: Case,
    observations: Observations,
}

impl Seen {
    fn failures(&self) -> Vec<Failure> {
        compare(&self.case, &self.folder, &self.observations).unwrap()
    }
    fn codes(&self) -> BTreeSet<&str> {
        self.observations.iter().flat_map(|(.., observed)| &observed.answer.findings).map(|finding| finding.code.as_str()).collect()
    }
}

static CORPUS: LazyLock<Vec<Seen>> = LazyLock::new(|| {
    let corpus = folder::walk(&root()).unwrap();
    let memo = Memo::default();
    let seen = |folder: &Folder| {
        let case = folder.case().unwrap_or_else(|error| panic!("{error}"));
        let observations = observations(&case, folder, &memo).unwrap_or_else(|error| panic!("{}: {error}", folder.name));
        Seen { folder: folder.clone(), case, observations }
    };
    side_by_side::map(&corpus.cases, seen)
});

/// The cases that are right.
fn cases() -> impl Iterator<Item = &'static Seen> {
    CORPUS.iter().filter(|seen| !is_canary(&seen.folder))
}

fn said(failures: &[Failure]) -> String {
    failures.iter().map(|failure| format!("{} ({}, {:?}): {}\n", failure.case, failure.input, failure.release, failure.message)).collect()
}

#[test]
fn every_case_says_what_the_program_answers() {
    let failures: Vec<Failure> = cases().flat_map(Seen::failures).collect();
    assert!(failures.is_empty(), "{}", said(&failures));
    assert!(cases().count() > 300, "{} cases", cases().count());
}

#[test]
fn a_case_that_is_wrong_on_purpose_is_rejected_for_that() {
    let canaries: Vec<&Seen> = CORPUS.iter().filter(|seen| is_canary(&seen.folder)).collect();
    assert!(canaries.len() >= 8);
    let reasons = std::fs::read_to_string(root().join(run::REASONS)).unwrap();
    for canary in canaries {
        let own: String =
            reasons.lines().filter(|line| line.split('\t').next() == Some(&canary.folder.name)).map(|l| l.to_owned() + "\n").collect();
        assert!(!own.is_empty(), "{}: no reason is stated", canary.folder.name);
        let (_, others, stale) = Expectations::parse(&own).unwrap().sort_out(canary.failures());
        assert!(others.is_empty() && stale.is_empty(), "{}{stale:?}", said(&others));
    }
}

/// Whatever check falls silent, somebody notices. Every code is switched off where findings enter, its own case is run so, and the
/// case fails for it: because the finding is missing, or because of what the silence leaves unexplained.
#[test]
fn with_any_one_code_switched_off_its_case_fails() {
    let guarded: Vec<(&'static Code, &Seen)> = check::codes()
        .filter_map(|code| cases().find(|seen| seen.case.code.as_deref() == Some(code.name)).map(|seen| (code, seen)))
        .collect();
    let unnoticed: Vec<&str> = side_by_side::map(&guarded, |(code, seen)| {
        let release = releases_with(&seen.case.trigger, code).last().unwrap_or_else(|| panic!("{}: its case never has it", code.name));
        (!without(seen, code, release).iter().any(|failure| failure.message.starts_with(&format!("missing {}", code.name))))
            .then_some(code.name)
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(unnoticed.is_empty(), "codes whose silence nobody would notice: {unnoticed:?}");
    let named: BTreeSet<&str> = guarded.iter().map(|(code, _)| code.name).collect();
    // Verdict tokens that no finding of any case is: nothing pushes them. `tests/registry/tokens.tsv` says of each where it shows.
    let pushed: BTreeSet<&str> = cases().flat_map(Seen::codes).collect();
    let is_silent = |code: &&Code| code.role == Role::VerdictToken && !pushed.contains(code.name);
    let unguarded = check::codes().filter(|code| !named.contains(code.name) && !is_silent(code)).map(|code| code.name);
    assert_eq!(unguarded.collect::<Vec<_>>(), [] as [&str; 0], "codes without a case");
}

/// The releases whose answers name the code, oldest first.
fn releases_with<'a>(input: &'a Input, code: &'a Code) -> impl DoubleEndedIterator<Item = Release> + 'a {
    Release::ALL.into_iter().filter(|release| {
        run::answer_for(input, *release).is_some_and(|answer| answer.findings.iter().any(|finding| finding.code == code.name))
    })
}

/// What a case says of its trigger when a code is switched off.
fn without(seen: &Seen, code: &'static Code, release: Release) -> Vec<Failure> {
    let ready = observe::ready(&seen.case.trigger, &seen.folder).unwrap();
    let observed = ready.observe_without(code, release).unwrap_or_else(|error| panic!("{}: {error}", seen.folder.name));
    compare(&seen.case, &seen.folder, &vec![("trigger", release, observed)]).unwrap()
}

fn named(name: &str) -> &'static Seen {
    cases().find(|seen| seen.folder.name == name).unwrap_or_else(|| panic!("{name} is no case"))
}

/// The switch is no filter of finished answers: a verdict that nothing explains any more becomes a finding.
#[test]
fn a_code_that_is_switched_off_explains_nothing() {
    let code = check::code("truncated_last_line").unwrap();
    let failures = without(named("v5/truncated_last_line"), code, Release::default());
    let messages: Vec<&str> = failures.iter().map(|failure| failure.message.as_str()).collect();
    assert_eq!(messages, ["missing truncated_last_line at line 4, entry aaaaaaa3", "unexpected malformed"]);
}

/// Switching off a code that a case has not changes nothing of it.
#[test]
fn a_code_that_a_case_has_not_can_be_switched_off() {
    for name in ["v5/truncated_last_line", "agent/binding/binding_conflict", "agent/operational/baseline_entry_stale"] {
        let failures = without(named(name), check::code("utf8_bom").unwrap(), Release::default());
        assert!(failures.is_empty(), "{name}: {}", said(&failures));
    }
}

/// Codes that no case shows yet.
const WAITING: [&str; 0] = [];

#[test]
fn every_code_has_a_trigger_and_a_near_miss() {
    let rows = coverage::of(&root()).unwrap();
    let lacking: Vec<&str> = rows.iter().filter(|row| !row.is_covered()).map(|row| row.code.as_str()).collect();
    assert_eq!(lacking, WAITING);
}

#[test]
fn the_linter_finds_nothing_to_mend() {
    let complaints = lint::lint(&root()).unwrap();
    let said: String = complaints.iter().map(|complaint| format!("{}: {}\n", complaint.path, complaint.message)).collect();
    assert!(complaints.is_empty(), "{said}");
}

/// What is expected of the trigger of a field input is what the table of the field says.
#[test]
fn the_cases_of_the_field_say_what_its_table_says() {
    let table = std::fs::read_to_string(root().join("field/codes-expected.tsv")).unwrap();
    let mut expected: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let [file, code, _, line, ..] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let rows = expected.entry(file.to_lowercase()).or_default();
        if code != "-" {
            rows.push((code.to_owned(), line.to_owned()));
        }
    }
    for (file, mut rows) in expected {
        let name = format!("field/cases/{file}");
        let seen = cases().find(|seen| seen.folder.name == name).unwrap_or_else(|| panic!("{name} is no case"));
        let newest = Release::default();
        let answer = run::answer_for(&seen.case.trigger, newest).unwrap();
        let line = |line: Option<u64>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
        let mut said: Vec<(String, String)> = answer.findings.iter().map(|f| (f.code.clone(), line(f.line))).collect();
        said.sort();
        rows.sort();
        assert_eq!(said, rows, "{name}");
    }
}

/// The classes of damage of the field are shown: every code that its page names has a case.
#[test]
fn every_class_of_damage_of_the_field_has_its_cases() {
    let page = std::fs::read_to_string(root().join("field/README.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    assert_eq!(rows.len(), 16);
    for code in rows.iter().flat_map(|row| row.split('`').skip(1).step_by(2)) {
        assert!(cases().any(|seen| seen.case.code.as_deref() == Some(code)), "{code}");
    }
}

/// Every report of damage that is known has its cases, or the page says why it cannot have one.
#[test]
fn every_report_of_damage_has_its_cases() {
    let page = std::fs::read_to_string(root().join("field/reports.tsv")).unwrap();
    let names: BTreeSet<&str> = cases().map(|seen| &*seen.folder.name).collect();
    let (mut wrong, mut shown, mut named) = (Vec::new(), 0, BTreeSet::new());
    for line in page.lines().skip(1) {
        let [reports, _, shows] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if shows.starts_with("- ") {
            continue;
        }
        shown += 1;
        named.extend(shows.split(' '));
        wrong.extend(shows.split(' ').filter(|case| !names.contains(case)).map(|case| format!("{reports}: {case} is no case")));
    }
    let reported = cases().filter(|seen| seen.case.tags.iter().any(|tag| tag == "report")).map(|seen| &*seen.folder.name);
    let unnamed: Vec<&str> = reported.filter(|name| !named.contains(name) && !OF_A_READER.contains(name)).collect();
    assert!(wrong.is_empty() && unnamed.is_empty(), "{wrong:?} {unnamed:?}");
    assert!(shown > 60, "{shown}");
}

/// Cases of what gjc's loader does that nobody reported.
const OF_A_READER: [&str; 9] = [
    "v5/report_bare_carriage_returns",
    "v5/report_control_character_in_a_text",
    "v5/report_first_kept_empty",
    "v5/report_form_feed_in_front",
    "v5/report_line_null",
    "v5/report_line_text",
    "v5/report_patch_of_a_wrong_type",
    "v5/report_second_root",
    "v5/report_version_below_zero",
];

/// All five versions: cases of rules beside the faults, and of each old version one for every rule of its migration.
#[test]
fn every_version_has_cases_of_rules() {
    for (version, least) in [(1, 17), (2, 8), (3, 9), (4, 8), (5, 40)] {
        let of_version = |seen: &&Seen| seen.folder.name.starts_with(&format!("v{version}/"));
        let rules = cases().filter(of_version).filter(|seen| seen.case.code.is_none()).count();
        assert!(rules >= least, "version {version}: {rules}");
    }
}

/// Whatever an entry may be of, a case shows it sound.
#[test]
fn every_type_of_entry_and_every_role_is_shown_in_a_case_without_a_fault() {
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for seen in cases().filter(|seen| seen.case.kind == gjc_fsck::corpus::case::Kind::Valid) {
        let Some(file) = &seen.case.trigger.file else { continue };
        for line in seen.folder.read(file).unwrap().split(|byte| *byte == b'\n') {
            let Some(record) = Value::parse(line) else { continue };
            let text = |value: &Value, key: &str| value.str_member(key).map(|text| String::from_utf8_lossy(&text).into_owned());
            shown.extend(text(&record, "type"));
            shown.extend(record.member("message").and_then(|message| text(message, "role")).map(|role| format!("role {role}")));
        }
    }
    let types = [
        "session",
        "message",
        "model_change",
        "configured_model_chain",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "ttsr_injection",
        "mcp_tool_selection",
        "discovered_builtin_tool_selection",
        "session_init",
        "mode_change",
        "thinking_level_change",
        "service_tier_change",
        "header_patch",
        "entry_patch",
    ];
    let roles = ["user", "developer", "assistant", "toolResult", "bashExecution", "pythonExecution", "custom", "fileMention"];
    let wanted = types.map(str::to_owned).into_iter().chain(roles.map(|role| format!("role {role}")));
    let lacking: Vec<String> = wanted.filter(|what| !shown.contains(what)).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// Somebody else's corpus: whatever is wrong with it is told, and nothing of it is taken for granted.
mod anybodys {
    use super::*;
    use gjc_fsck::corpus::bless;

    const HEALTHY: &str = include_str!("../corpus/v5/compaction/trigger.jsonl");

    /// A corpus of one valid case.
    fn corpus(kind: &str, findings: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let case = format!(
            r#"{{"title":"t","section":"01 §1","tags":["rule"],"kind":"{kind}","trigger":{{"file":"a.jsonl","answers":[{{"releases":["0.17"],"findings":[{findings}]}}]}}}}"#
        );
        std::fs::create_dir(root.path().join("x")).unwrap();
        std::fs::write(root.path().join("x/case.json"), case).unwrap();
        std::fs::write(root.path().join("x/a.jsonl"), HEALTHY).unwrap();
        root
    }

    fn messages(root: &Path, list: &str) -> (Vec<String>, Vec<String>) {
        let outcome = run::run(root, &Only::default(), &Expectations::parse(list).unwrap()).unwrap();
        (outcome.failures.into_iter().map(|failure| failure.message).collect(), outcome.stale)
    }

    #[test]
    fn a_wrong_expectation_fails_unless_the_list_expects_exactly_that() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        let verdicts = "file: a transcript without expected verdicts";
        let missing = "missing utf8_bom at line 1";
        assert_eq!(messages(root.path(), "").0, [verdicts, missing]);
        let list = format!("x\ttrigger\t{missing}\nx\ttrigger\tfile: a transcript*\n");
        assert_eq!(messages(root.path(), &list), (vec![], vec![]));
        let (failures, stale) = messages(root.path(), &format!("{list}y\ttrigger\tz\n"));
        assert_eq!((failures.len(), stale), (0, vec!["line 3: y (trigger): it passes".to_owned()]));
    }

    #[test]
    fn a_case_that_is_no_case_is_a_failure_of_its_own() {
        let root = corpus("valid", "");
        std::fs::write(root.path().join("x/case.json"), "{").unwrap();
        let failures = messages(root.path(), "").0;
        assert!(failures.len() == 1 && failures[0].contains("x/case.json"), "{failures:?}");
    }

    #[test]
    fn what_bless_proposes_makes_the_corpus_pass_and_lint() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        let changes = bless::proposals(root.path(), &Only::default()).unwrap();
        let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["x/case.json", "MANIFEST.sha256"]);
        bless::write(root.path(), &changes).unwrap();
        assert_eq!(messages(root.path(), ""), (vec![], vec![]));
        assert_eq!(bless::proposals(root.path(), &Only::default()).unwrap(), []);
        std::fs::write(root.path().join(".gitattributes"), "* -text\n").unwrap();
        assert_eq!(lint::lint(root.path()).unwrap(), []);
    }

    #[test]
    fn what_no_case_can_use_is_told() {
        use std::os::unix::ffi::OsStrExt;
        let root = corpus("valid", "");
        std::os::unix::fs::symlink("/etc/passwd", root.path().join("x/link")).unwrap();
        let told: Vec<String> = lint::lint(root.path()).unwrap().into_iter().map(|c| format!("{}: {}", c.path, c.message)).collect();
        let link =
            |message: &&String| message.starts_with("MANIFEST.sha256: it cannot be compared: ") && message.ends_with("no regular file");
        assert!(told.iter().any(|message| message == "x/link: no case uses it") && told.iter().any(|m| link(&m)), "{told:?}");
        let own = run::run(&root.path().join("x"), &Only::default(), &Expectations::default()).unwrap();
        assert!(gjc_fsck::render::corpus::run(&own, "my/case").starts_with("FAIL my/case\n"), "a folder that is a case itself has a name");
        let (status, _) = command(root.path(), &["corpus", "run", "x/case.json"]);
        assert_eq!(status, 16, "a file is no corpus");
        std::fs::create_dir(root.path().join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
        std::fs::write(root.path().join(std::ffi::OsStr::from_bytes(b"\xff/case.json")), "{}").unwrap();
        let error = run::run(root.path(), &Only::default(), &Expectations::default()).unwrap_err().to_string();
        assert!(error.ends_with("the names of a corpus are UTF-8, and this one is not"), "{error}");
    }

    #[test]
    fn bless_can_be_asked_about_one_case() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        std::fs::create_dir(root.path().join("y")).unwrap();
        std::fs::copy(root.path().join("x/a.jsonl"), root.path().join("y/a.jsonl")).unwrap();
        std::fs::write(root.path().join("y/case.json"), "{").unwrap();
        let paths = |only: &str| {
            bless::proposals(root.path(), &Only::new(only)).map(|all| all.into_iter().map(|change| change.path).collect::<Vec<_>>())
        };
        assert_eq!(paths("x").unwrap(), ["x/case.json", "MANIFEST.sha256"], "what is wrong elsewhere does not hinder");
        assert!(paths("").is_err() && paths("y").is_err());
        let nowhere = paths("z").unwrap_err().to_string();
        assert!(nowhere.contains("z: no case stands here"), "{nowhere}");
    }

    #[test]
    fn a_run_can_be_asked_about_some_cases() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        for name in ["xy", "z"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
            std::fs::write(root.path().join(name).join("case.json"), "{").unwrap();
        }
        std::fs::write(root.path().join("known"), "x\ttrigger\t*\nxy\t\tno longer\nz\t\tno longer\n").unwrap();
        let run = |only: &str| command(root.path(), &["corpus", "run", ".", "--only", only, "--expected-failures", "known"]);
        let (status, text) = run("?");
        assert_eq!(status, 4);
        assert!(text.starts_with("FAIL z\n") && text.contains("STALE line 3: z ()") && !text.contains("xy"), "{text}");
        std::fs::remove_file(root.path().join("z/case.json")).unwrap();
        assert!(run("?").1.starts_with("STALE line 3: z (): it passes"), "a case that is gone");
        std::fs::write(root.path().join("known"), "x\ttrigger\t*\nxy\t\tno longer\n").unwrap();
        assert_eq!(run("?"), (0, "gjc-fsck: 1 case, 1 answer compared: 0 cases fail, 1 as expected.\n".to_owned()));
        assert!(run("x").1.contains("STALE line 2: xy ()"), "it begins so");
        assert_eq!(run("w").0, 8, "a slip of the pen is no run in which nothing fails");
    }

    /// What is not blessed yet lacks its answers, and is told nothing else.
    #[test]
    fn the_linter_says_of_a_new_case_that_it_has_no_answer() {
        let root = corpus("invalid", "");
        let path = root.path().join("x/case.json");
        let text = std::fs::read_to_string(&path).unwrap().replace(r#"[{"releases":["0.17"],"findings":[]}]"#, "[]");
        std::fs::write(&path, text).unwrap();
        let told: Vec<String> =
            lint::lint(root.path()).unwrap().into_iter().filter(|c| c.path == "x/case.json").map(|c| c.message).collect();
        assert_eq!(told, ["it is not spelled as `corpus bless` spells it", "the trigger has no answer; `corpus bless` proposes one"]);
    }

    /// A case that nobody has blessed is not one that passes.
    #[test]
    fn a_case_without_an_answer_fails() {
        let root = corpus("valid", "");
        let path = root.path().join("x/case.json");
        let text = std::fs::read_to_string(&path).unwrap().replace(r#"[{"releases":["0.17"],"findings":[]}]"#, "[]");
        std::fs::write(&path, text).unwrap();
        assert_eq!(messages(root.path(), "").0, ["the case says no answer; `corpus bless` proposes one"]);
        let adapter = format!("'{}' corpus adapter", env!("CARGO_BIN_EXE_gjc-fsck"));
        let (status, text) = command(root.path(), &["corpus", "run", ".", "--adapter", &adapter]);
        assert!(status == 4 && text.contains("  trigger: the case says no answer"), "{text}");
    }

    /// Each form for a CI says of a failure which case it is, and of a list and of canaries what is wrong with them.
    #[test]
    fn the_forms_for_a_ci_say_what_is_wrong() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        std::fs::create_dir_all(root.path().join("canaries")).unwrap();
        let passes = std::fs::read_to_string(root.path().join("x/case.json")).unwrap().replace(r#"{"code":"utf8_bom","line":1}"#, "");
        std::fs::create_dir(root.path().join("canaries/y")).unwrap();
        std::fs::write(root.path().join("canaries/y/case.json"), passes).unwrap();
        std::fs::copy(root.path().join("x/a.jsonl"), root.path().join("canaries/y/a.jsonl")).unwrap();
        assert_eq!(command(root.path(), &["corpus", "bless", "canaries", "--yes"]).0, 0, "it passes now, and should not");
        std::fs::remove_file(root.path().join("canaries/MANIFEST.sha256")).unwrap();
        std::fs::write(root.path().join("known"), "w\ttrigger\tz\nx\ttrigger\tfile*\n").unwrap();
        let run = |format: &str| command(root.path(), &["corpus", "run", ".", "--expected-failures", "known", "--format", format]);
        let (status, github) = run("github");
        assert_eq!(status, 4);
        assert_eq!(
            github,
            "::error file=x/case.json,line=1,col=1,title=corpus::trigger under 0.17: missing utf8_bom at line 1\n\
             ::error title=stale::line 1: w (trigger): it passes\n\
             ::error title=not rejected::canaries/y: it passes\n"
        );
        let lines: Vec<serde_json::Value> = run("jsonl").1.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["failure", "expected", "stale", "not rejected", "run"]);
        assert_eq!(lines[0]["failure"]["case"], "x");
        assert_eq!((&lines[4]["cases"], &lines[4]["passes"]), (&2.into(), &false.into()));
        let (_, junit) = run("junit");
        assert!(junit.contains("missing utf8_bom at line 1") && junit.contains("not rejected") && junit.contains("stale"), "{junit}");
        // Only a run has such forms.
        assert_eq!(command(root.path(), &["corpus", "lint", ".", "--format", "github"]).0, 16);
    }

    #[test]
    fn a_canary_that_fails_for_another_reason_proves_nothing() {
        let root = corpus("valid", "");
        std::fs::create_dir_all(root.path().join("canaries")).unwrap();
        std::fs::rename(root.path().join("x"), root.path().join("canaries/x")).unwrap();
        let canaries = |reasons: &str| {
            std::fs::write(root.path().join(run::REASONS), reasons).unwrap();
            run::run(root.path(), &Only::default(), &Expectations::default()).unwrap().canaries
        };
        let verdicts = "file: a transcript without expected verdicts";
        assert_eq!(canaries(&format!("canaries/x\ttrigger\t{verdicts}\n")), [] as [&str; 0]);
        assert_eq!(
            canaries("canaries/x\ttrigger\tmissing utf8_bom\n"),
            [
                format!("canaries/x: it fails for no stated reason: {verdicts}"),
                format!("canaries/reasons.tsv, line 1: canaries/x (trigger): it fails otherwise: {verdicts}"),
            ]
        );
        std::fs::remove_file(root.path().join(run::REASONS)).unwrap();
        assert_eq!(
            run::run(root.path(), &Only::default(), &Expectations::default()).unwrap().canaries,
            [] as [&str; 0],
            "without reasons any failure will do"
        );
    }

    #[test]
    fn the_linter_tells_each_kind_of_mistake() {
        let root = corpus("invalid", r#"{"code":"no_such_code"}"#);
        std::fs::write(root.path().join("x/left-over"), "").unwrap();
        let told: Vec<String> = lint::lint(root.path()).unwrap().into_iter().map(|c| format!("{}: {}", c.path, c.message)).collect();
        let expected = [
            ".gitattributes: a line `* -text` keeps a checkout from changing bytes",
            "MANIFEST.sha256: there is no manifest",
            "x/case.json: it is not spelled as `corpus bless` spells it",
            "x/case.json: its kind is invalid, and the findings of its trigger make it valid; `corpus bless` proposes what is right",
            "x/case.json: no_such_code is no code",
            "x/left-over: no case uses it",
        ];
        assert_eq!(told, expected);
    }

    fn command(root: &Path, words: &[&str]) -> (i32, String) {
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_gjc-fsck")).args(words).current_dir(root).output().unwrap();
        (program.status.code().unwrap(), String::from_utf8(program.stdout).unwrap())
    }

    #[test]
    fn the_commands_say_what_is_wrong_and_write_only_when_told() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        let before = std::fs::read(root.path().join("x/case.json")).unwrap();
        let (status, text) = command(root.path(), &["corpus", "run", "."]);
        assert_eq!(status, 4);
        assert!(text.starts_with("FAIL x\n  trigger under 0.17: "), "{text}");
        assert!(text.ends_with("gjc-fsck: 1 case, 1 answer compared: 1 case fails.\n"), "{text}");

        let (status, text) = command(root.path(), &["corpus", "bless", "."]);
        assert_eq!(status, 4);
        assert!(text.contains("changed x/case.json") && text.ends_with("2 files; --yes writes what is shown here.\n"), "{text}");
        assert_eq!(std::fs::read(root.path().join("x/case.json")).unwrap(), before, "nothing is written");

        assert_eq!(command(root.path(), &["corpus", "bless", ".", "--yes"]).0, 0);
        assert_eq!(command(root.path(), &["corpus", "run", ".", "--junit", "out.xml", "--format", "json"]).0, 0);
        let xml = std::fs::read_to_string(root.path().join("out.xml")).unwrap();
        assert!(xml.contains("<testsuite name=\"corpus: gjc-fsck\"") && xml.contains("cases that pass: 1"), "{xml}");
        let (status, text) = command(root.path(), &["corpus", "coverage", "."]);
        assert_eq!(status, 4);
        assert!(text.contains("! json_syntax") && text.contains("no case"), "{text}");
        assert_eq!(command(root.path(), &["corpus", "run", "nowhere"]).0, 8);
    }

    #[test]
    fn the_failures_of_a_run_are_a_list_that_expects_them() {
        let root = corpus("invalid", r#"{"code":"utf8_bom","line":1}"#);
        let (status, list) = command(root.path(), &["corpus", "run", ".", "--list-failures"]);
        assert_eq!(status, 4);
        std::fs::write(root.path().join("known"), &list).unwrap();
        let (status, text) = command(root.path(), &["corpus", "run", ".", "--expected-failures", "known"]);
        assert_eq!((status, text.as_str()), (0, "gjc-fsck: 1 case, 1 answer compared: 0 cases fail, 1 as expected.\n"));
    }

    #[test]
    fn a_case_cannot_reach_out_of_its_corpus() {
        let root = corpus("valid", "");
        let path = root.path().join("x/case.json");
        let text = std::fs::read_to_string(&path).unwrap().replace("a.jsonl", "../../../etc/passwd");
        std::fs::write(&path, text).unwrap();
        let failures = messages(root.path(), "").0;
        assert_eq!(failures, ["\"../../../etc/passwd\" is no path inside the corpus"]);
    }
}

/// Other implementations, judged by the same cases.
mod adapters {
    use super::naive::Language;
    use super::*;
    use gjc_fsck::agent::predict;
    use gjc_fsck::agent::world::World;
    use gjc_fsck::corpus::adapter::{self, Adapter};
    use gjc_fsck::corpus::recipe::{AGENT, WORKSPACE};
    use gjc_fsck::corpus::run::Outcome;
    use gjc_fsck::fsys::Kind;
    use gjc_fsck::fsys::host::Nowhere;
    use gjc_fsck::json::stringify;
    use gjc_fsck::transcript::answer;
    use std::process::Command;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(120);

    fn judged(command: &str, list: &str) -> Outcome {
        let mut adapter = Adapter::new(command, PATIENCE);
        let outcome = adapter::run(&root(), &Only::default(), &mut adapter, &Expectations::parse(list).unwrap()).unwrap();
        adapter.stop();
        outcome
    }

    /// Whether a test that needs this program can run; one that cannot says so.
    fn is_there(program: &str) -> bool {
        let there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
        if !there {
            super::skipped::skipped(&format!("there is no {program} on this machine"));
        }
        there
    }

    fn list(name: &str) -> String {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/adapters").join(name)).unwrap()
    }

    /// The program itself behind the protocol answers what the cases say.
    #[test]
    fn this_program_as_an_adapter_fails_nothing() {
        let outcome = judged(&format!("'{}' corpus adapter", env!("CARGO_BIN_EXE_gjc-fsck")), "");
        assert!(outcome.passes(), "{}", said(&outcome.failures));
        assert!(outcome.compared > 1_500, "{} answers", outcome.compared);
    }

    /// A question of a case: the case, its input, and what is asked.
    type Question = (String, String, String);

    fn questions(failures: &[Failure]) -> BTreeSet<Question> {
        let asked = |failure: &Failure| failure.message.split(':').next().unwrap_or_default().to_owned();
        failures.iter().map(|failure| (failure.case.clone(), failure.input.clone(), asked(failure))).collect()
    }

    /// Where reading naively is wrong, by what the cases say and gjc's own reading; no adapter is asked.
    fn where_naive_is_wrong(by: Language) -> BTreeSet<Question> {
        let newest = Release::default();
        let mut wrong = BTreeSet::new();
        for seen in cases() {
            for (name, release, observed) in seen.observations.iter().filter(|(_, release, _)| *release == newest) {
                let (_, input) = seen.case.inputs().find(|(input, _)| input == name).unwrap();
                let Some(file) = &input.file else { continue };
                let bytes = seen.folder.read(file).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                let listed = |entries: Vec<Value>| {
                    format!("{{\"entries\":[{}]}}", entries.iter().map(stringify::to_text).collect::<Vec<_>>().join(","))
                };
                let canonical = |bytes: &[u8]| stringify::to_text(&Value::parse(bytes).unwrap());
                let mut tell = |question: &str, is_right: bool| {
                    if !is_right {
                        wrong.insert((seen.folder.name.clone(), (*name).to_owned(), question.to_owned()));
                    }
                };
                tell("load", listed(naive::load(&text, by)) == canonical(&answer::replay(&bytes[..], *release).unwrap()));
                tell("migrate", naive::migrate(&text, by).is_ok_and(|all| listed(all) == canonical(observed.migrated.as_deref().unwrap())));
                tell("context", naive::context(&text, by).is_ok_and(|said| said == canonical(observed.context.as_deref().unwrap())));
                let strict = run::answer_for(input, *release).and_then(|answer| answer.verdicts.get(observe::LONE)?.get("S"));
                tell("check", strict.is_none_or(|said| said == naive::check(&text, by)));
            }
        }
        wrong
    }

    #[test]
    fn the_naive_reader_in_javascript_fails_exactly_where_it_is_wrong() {
        if !is_there("node") {
            return;
        }
        let outcome = judged("node ci/adapters/naive.mjs", &list("naive.mjs.expected"));
        assert!(outcome.passes(), "{}{:?}", said(&outcome.failures), outcome.stale);
        let (failed, wrong) = (questions(&outcome.expected), where_naive_is_wrong(Language::JavaScript));
        let differ: Vec<&Question> = failed.symmetric_difference(&wrong).collect();
        assert!(differ.is_empty(), "{differ:?}");
        assert!(failed.len() > 300, "{}", failed.len());
    }

    /// The reader in Python is the same one in another language, and it lists.
    #[test]
    fn the_naive_reader_in_python_fails_exactly_where_it_is_wrong() {
        if !is_there("python3") {
            return;
        }
        let outcome = judged("python3 ci/adapters/naive.py", &list("naive.py.expected"));
        assert!(outcome.passes(), "{}{:?}", said(&outcome.failures), outcome.stale);
        let (failed, wrong) = (questions(&outcome.expected), where_naive_is_wrong(Language::Python));
        let differ: Vec<&Question> = failed.symmetric_difference(&wrong).filter(|(.., asked)| asked != "list").collect();
        assert!(differ.is_empty(), "{differ:?}");
        let lists: BTreeSet<&str> = failed.iter().filter(|(.., asked)| asked == "list").map(|(case, ..)| case.as_str()).collect();
        assert_eq!(lists, where_listing_naively_is_wrong());
    }

    const ROOT: &str = "/t";

    /// To list naively is to take every transcript two levels below the agent directory whose header names the workspace.
    fn where_listing_naively_is_wrong() -> BTreeSet<&'static str> {
        let newest = Release::default();
        let mut wrong = BTreeSet::new();
        for seen in cases() {
            for (_, input) in seen.case.inputs().filter(|(_, input)| run::answer_for(input, newest).is_some()) {
                let Some(recipe) = input.tree.as_ref().filter(|recipe| recipe.is_ordinary()) else { continue };
                // Made on a disk, every tree lies in a folder of its own; one that needs its own place is not made.
                let Ok(fs) = recipe.make_below(ROOT) else { continue };
                let (agent, cwd) = (format!("{ROOT}{AGENT}"), format!("{ROOT}{WORKSPACE}"));
                let world = World::of_agent(&fs, &Nowhere, newest, 1000, &agent);
                let listed = predict::resolve(&world, Path::new(&cwd)).and_then(|scope| Ok(predict::list(&world, &scope)?));
                let listed = listed.map(|listing| listing.owned).unwrap_or_default();
                let gjc: BTreeSet<String> = listed.iter().map(|listed| listed.candidate.path.display().to_string()).collect();
                let sessions = Path::new(&agent).join("sessions");
                let below = |path: &Path| path.parent().and_then(Path::parent) == Some(&*sessions);
                let mut naive: BTreeSet<String> = BTreeSet::new();
                for (path, meta) in fs.snapshot().iter().filter(|(path, _)| below(path) && path.extension().is_some_and(|e| e == "jsonl")) {
                    let Some(bytes) = fs.content(path).filter(|_| meta.kind == Kind::File) else { continue };
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let header = naive::load(&text, Language::Python).into_iter().next();
                    if header.is_some_and(|header| header.member("cwd").is_some_and(|named| named.is_str(&cwd))) {
                        naive.insert(path.display().to_string());
                    }
                }
                if naive != gjc {
                    wrong.insert(seen.folder.name.as_str());
                }
            }
        }
        wrong
    }

    /// The summary says how often the reader is wrong, by what it was asked.
    #[test]
    fn the_summary_of_a_judged_reader_says_how_often_it_is_wrong() {
        let failure = |case: &str, message: &str| Failure {
            case: case.to_owned(),
            input: "trigger".to_owned(),
            release: Some(Release::default()),
            message: message.to_owned(),
        };
        let outcome = Outcome {
            subject: "mine".to_owned(),
            cases: 9,
            compared: 13,
            not_asked: 2,
            asked: BTreeMap::from([("check".to_owned(), 6), ("load".to_owned(), 7)]),
            failures: vec![failure("a", "load: no entry, but gjc loads 2")],
            expected: vec![failure("b", "load: no entry, but gjc loads 3"), failure("b", "check: reader S answers x, but gjc answers y")],
            ..Outcome::default()
        };
        assert_eq!(
            gjc_fsck::render::corpus::run(&outcome, "corpus"),
            "FAIL a\n  trigger under 0.17: load: no entry, but gjc loads 2\n\
             mine: 9 cases, 13 answers compared, 2 not asked: 1 case fails, 1 as expected.\n\
             mine is wrong in 2 of 9 cases: check differs in 1 of 6 answers, load in 2 of 7.\n"
        );
    }

    /// A corpus of one transcript, and what an adapter's failures are called.
    fn messages(command: &str, patience: Duration) -> Result<Vec<String>, String> {
        let root = tempfile::tempdir().unwrap();
        let case = r#"{"title":"t","section":"01 §1","tags":["rule"],"kind":"valid","trigger":{"file":"a.jsonl","answers":[{"releases":["0.17"],"findings":[]}]}}"#;
        std::fs::write(root.path().join("case.json"), case).unwrap();
        std::fs::write(root.path().join("a.jsonl"), include_str!("../corpus/v5/compaction/trigger.jsonl")).unwrap();
        let mut adapter = Adapter::new(command, patience);
        let outcome = adapter::run(root.path(), &Only::default(), &mut adapter, &Expectations::default())?;
        Ok(outcome.failures.into_iter().map(|failure| failure.message).collect())
    }

    /// A shell adapter that introduces itself and then does something.
    fn introduced(then: &str) -> String {
        let hello = r#"{\"id\":1,\"name\":\"sh\",\"operations\":[\"load\"]}"#;
        format!("sh -c 'read a; echo \"{hello}\"; read b; {then}'")
    }

    #[test]
    fn an_adapter_that_does_not_start_is_an_error() {
        assert_eq!(messages("false", PATIENCE).unwrap_err(), "the adapter ended (exit status: 1) instead of answering");
        let error = messages("/no/such/program", PATIENCE).unwrap_err();
        assert!(error.starts_with("the adapter ended (exit status: 127) instead of answering"), "{error}");
    }

    /// Whatever a shell takes is a command.
    #[test]
    fn an_adapter_may_be_any_command_of_a_shell() {
        let adapter = format!("'{}' corpus adapter", env!("CARGO_BIN_EXE_gjc-fsck"));
        for command in [format!("NAME=value {adapter}"), format!("cd / && {adapter}"), format!("{{ {adapter}; }} | cat")] {
            assert_eq!(messages(&command, PATIENCE), Ok(Vec::new()), "{command}");
        }
    }

    /// What a shell started for an adapter that is given up ends with it: it would go on for as long as it likes.
    #[test]
    fn an_adapter_that_is_given_up_ends_with_all_that_it_started() {
        let root = tempfile::tempdir().unwrap();
        let pid = root.path().join("pid");
        let then = format!("sleep 1000 & echo $! > {}; wait", pid.display());
        let told = messages(&introduced(&then), Duration::from_millis(1_500)).unwrap();
        assert_eq!(told, ["load: no reply within 1500 ms"]);
        let pid = std::fs::read_to_string(pid).unwrap();
        // Ended, and perhaps not yet buried by whoever inherited it.
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).ok();
        assert!(state.is_none_or(|state| state.contains(") Z ")), "it goes on");
    }

    #[test]
    fn a_reply_that_never_ends_is_given_up() {
        let told = messages(&introduced("exec cat /dev/zero"), PATIENCE).unwrap();
        assert_eq!(told, ["load: a reply of more than 67108864 bytes"]);
    }

    /// Nobody reads ahead: a reply that comes unasked stands where the next one is expected.
    #[test]
    fn a_reply_too_many_is_noticed_with_the_next_question() {
        let unasked = r#"while read a; do echo "{\"id\":2,\"answer\":{\"entries\":[]}}"; echo "{\"id\":2,\"answer\":1}"; done"#;
        let hello = r#"{\"id\":1,\"name\":\"sh\",\"operations\":[\"load\",\"migrate\"]}"#;
        let told = messages(&format!("sh -c 'read a; echo \"{hello}\"; {unasked}'"), PATIENCE).unwrap();
        assert_eq!(told, ["load: no entry, but gjc loads 6", "migrate: the reply has not the id 3 of its request"]);
    }

    #[test]
    fn an_adapter_that_crashes_fails_the_case_and_its_last_words_are_told() {
        let told = messages(&introduced("echo no more >&2; exit 3"), PATIENCE).unwrap();
        assert_eq!(told, ["load: the adapter ended (exit status: 3) instead of answering; it wrote: no more"]);
    }

    #[test]
    fn an_adapter_that_is_silent_or_talks_nonsense_fails_the_case() {
        let silent = messages(&introduced("exec sleep 1000"), Duration::from_millis(1_500)).unwrap();
        assert_eq!(silent, ["load: no reply within 1500 ms"]);
        let nonsense = messages(&introduced("echo hello; exec sleep 1000"), PATIENCE).unwrap();
        assert_eq!(nonsense, ["load: the reply is no JSON: hello"]);
        let another = messages(&introduced(r#"echo "{\"id\":9}"; exec sleep 1000"#), PATIENCE).unwrap();
        assert_eq!(another, ["load: the reply has not the id 2 of its request"]);
        let cut = messages(&introduced("printf {; exit 0"), PATIENCE).unwrap();
        assert_eq!(cut, ["load: the adapter ended in the middle of a reply: {"]);
    }
}
