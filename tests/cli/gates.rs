//! What a CI job uses: forms that other programs read, several reports of one run, settings, skip lists, baselines, and the
//! scripts of `ci/`.

use super::{err, out, program, run, status};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const TORN: &str = "corpus/field/01-torn-tail.jsonl";
const DANGLING: &str = "corpus/field/24-parent-missing.jsonl";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The demo in a form, and as JSON.
fn demo(format: &str) -> (String, Value) {
    (out(&run(&["demo", "--format", format])), json(&out(&run(&["demo", "--format", "json"]))))
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).unwrap()
}

#[test]
fn the_sarif_of_the_demo_is_sarif_2_1_0_and_holds_every_finding() {
    let (text, report) = demo("sarif");
    let sarif = json(&text);
    let schema = json(&std::fs::read_to_string(root().join("tests/sarif/sarif-schema-2.1.0.json")).unwrap());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let complaints: Vec<String> = validator.iter_errors(&sarif).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    let results = list(&sarif, "/runs/0/results");
    let findings = list(&report, "/findings");
    assert_eq!(results.len(), findings.len());
    for (result, finding) in results.iter().zip(findings) {
        assert_eq!(result["ruleId"], finding["code"]);
        let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"], "the index leads to the rule");
        let location = &result["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], finding["path"]);
        assert_eq!(location["region"]["startLine"], finding["line"]);
        assert_eq!(result["partialFingerprints"]["gjcFsck/v1"], finding["fingerprint"]);
    }
    let mut broken = sarif.clone();
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&broken), "the schema can refuse");
    for object in ["/runs/0", "/runs/0/tool/driver/rules/0", "/runs/0/results/0", "/runs/0/results/0/locations/0/physicalLocation"] {
        let mut broken = sarif.clone();
        broken.pointer_mut(object).unwrap().as_object_mut().unwrap().insert("unknown".to_owned(), 1.into());
        assert!(!validator.is_valid(&broken), "it knows every member of {object}");
    }
}

#[test]
fn the_junit_of_the_demo_is_read_back_with_its_failures() {
    let (text, report) = demo("junit");
    let junit = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let cases = &junit.test_suites[0].test_cases;
    let wanted: std::collections::BTreeSet<(&str, &str)> = list(&report, "/findings")
        .iter()
        .filter(|finding| finding["status"] != 0)
        .map(|finding| (finding["path"].as_str().unwrap(), finding["code"].as_str().unwrap()))
        .collect();
    let failed: std::collections::BTreeSet<(&str, &str)> = cases
        .iter()
        .filter(|case| matches!(case.status, quick_junit::TestCaseStatus::NonSuccess { .. }))
        .map(|case| (case.classname.as_ref().unwrap().as_str(), case.name.as_str()))
        .collect();
    assert!(!wanted.is_empty());
    assert_eq!(failed, wanted);
    let touched: std::collections::BTreeSet<&str> = wanted.iter().map(|(path, _)| *path).collect();
    let passed = list(&report, "/transcripts").iter().filter(|transcript| !touched.contains(transcript["path"].as_str().unwrap())).count();
    assert_eq!((cases.len() - failed.len(), junit.tests, junit.failures + junit.errors), (passed, cases.len(), failed.len()));
    assert!(!text.contains("timestamp") && !text.contains("time="), "no clock");
}

/// The JUnit XML that test pages read, by the strictest schema among them (that of Jenkins' xUnit plugin), as far as it is used here:
/// elements, where each may stand, the attributes of each, and those that it must have.
const JUNIT: [(&str, &str, &[&str], &[&str]); 6] = [
    ("testsuites", "", &["name", "time", "tests", "failures", "errors"], &[]),
    (
        "testsuite",
        "testsuites",
        &[
            "name",
            "tests",
            "failures",
            "errors",
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
        ],
        &["name", "tests", "failures", "errors"],
    ),
    ("testcase", "testsuite", &["name", "time", "classname", "group"], &["name"]),
    ("failure", "testcase", &["message", "type"], &[]),
    ("error", "testcase", &["message", "type"], &[]),
    ("skipped", "testcase", &["message", "type"], &[]),
];

/// The elements that may hold a text.
const JUNIT_TEXTS: [&str; 3] = ["failure", "error", "skipped"];

/// An element with its attributes and the names of those above it.
type Element = (Vec<String>, std::collections::BTreeMap<String, String>);

fn elements(xml: &str) -> Vec<Element> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(xml);
    let (mut above, mut all): (Vec<String>, Vec<Element>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            event @ (Event::Start(_) | Event::Empty(_)) => {
                let (Event::Start(start) | Event::Empty(start)) = &event else { unreachable!() };
                let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
                let attribute = |attribute: quick_xml::events::attributes::Attribute<'_>| {
                    let value = String::from_utf8(attribute.value.to_vec()).unwrap();
                    (String::from_utf8(attribute.key.as_ref().to_vec()).unwrap(), value)
                };
                let attributes = start.attributes().map(|found| attribute(found.unwrap())).collect();
                above.push(name);
                all.push((above.clone(), attributes));
                if matches!(event, Event::Empty(_)) {
                    above.pop();
                }
            }
            Event::End(_) => _ = above.pop(),
            Event::Text(text) => {
                let text = text.decode().unwrap();
                let holds = above.last().is_some_and(|name| JUNIT_TEXTS.contains(&name.as_str()));
                assert!(holds || text.trim().is_empty(), "{above:?} holds {text}");
            }
            Event::Eof => return all,
            _ => {}
        }
    }
}

/// What is wrong with a JUnit file: elements and attributes that the form does not have, counts that are not those of its cases.
fn junit_faults(xml: &str) -> Vec<String> {
    let all = elements(xml);
    let mut faults = Vec::new();
    for (path, attributes) in &all {
        let (name, parent) = (path.last().unwrap(), path.iter().rev().nth(1).map_or("", String::as_str));
        let Some((.., known, wanted)) = JUNIT.iter().find(|(element, above, ..)| element == name && *above == parent) else {
            faults.push(format!("<{name}> below <{parent}>"));
            continue;
        };
        faults.extend(attributes.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("<{name} {key}>")));
        faults.extend(wanted.iter().filter(|key| !attributes.contains_key(**key)).map(|key| format!("<{name}> without {key}")));
    }
    let count = |name: &str| all.iter().filter(|(path, _)| path.last().unwrap() == name).count().to_string();
    for (path, attributes) in all.iter().filter(|(path, _)| path.last().unwrap().starts_with("testsuite")) {
        for (attribute, element) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error")] {
            if attributes.get(attribute).is_some_and(|said| *said != count(element)) {
                faults.push(format!("{path:?} says {} {attribute}, there are {}", attributes[attribute], count(element)));
            }
        }
    }
    faults
}

#[test]
fn the_junit_of_the_demo_has_the_form_that_test_pages_read_and_its_counts_agree() {
    let (text, _) = demo("junit");
    assert_eq!(junit_faults(&text), [] as [&str; 0]);
    let cases = elements(&text).iter().filter(|(path, _)| path.last().unwrap() == "testcase").count();
    assert!(cases > 10, "{cases}");
    // The form can refuse.
    let once = |from: &str, to: &str| junit_faults(&text.replacen(from, to, 1)).len();
    assert_eq!(
        (once("<testcase ", "<testcase line=\"1\" "), once("<testcase name=", "<testcase id="), once("tests=\"", "tests=\"1")),
        (1, 2, 1)
    );
    assert_eq!(once("<testsuites ", "<testsuites skipped=\"0\" "), 1);
}

#[test]
fn the_junit_of_a_corpus_run_has_that_form_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("x")).unwrap();
    std::fs::copy(root().join("corpus/v5/compaction/trigger.jsonl"), folder.path().join("x/a.jsonl")).unwrap();
    let case = r#"{"title":"t","section":"01 §1","tags":["rule"],"kind":"valid","trigger":{"file":"a.jsonl","answers":[{"releases":["0.17"],"findings":[{"code":"utf8_bom"}]}]}}"#;
    std::fs::write(folder.path().join("x/case.json"), case).unwrap();
    assert_eq!(status(&run_in(&folder, &["corpus", "run", ".", "--junit", "out.xml"])), 4);
    let text = std::fs::read_to_string(folder.path().join("out.xml")).unwrap();
    assert_eq!(junit_faults(&text), [] as [&str; 0]);
    assert!(text.contains("<testcase name=\"x\" classname=\"corpus\">") && text.contains("missing utf8_bom"), "{text}");
}

/// The properties of a workflow command, and its message.
fn annotation(line: &str) -> (&str, std::collections::BTreeMap<&str, &str>, &str) {
    let (kind, rest) = line.strip_prefix("::").unwrap().split_once(' ').unwrap();
    let (properties, message) = rest.split_once("::").unwrap();
    (kind, properties.split(',').map(|property| property.split_once('=').unwrap()).collect(), message)
}

#[test]
fn the_annotations_of_the_demo_carry_file_line_and_column() {
    let (text, report) = demo("github");
    let findings = list(&report, "/findings");
    assert_eq!(text.lines().count(), findings.len());
    let kinds: Vec<&str> = text.lines().map(|line| annotation(line).0).collect();
    let first_warning = kinds.iter().position(|kind| *kind == "warning").unwrap();
    assert!(kinds[..first_warning].iter().all(|kind| *kind == "error"), "the worst come first: {kinds:?}");
    assert!(text.lines().filter(|line| line.contains(",col=")).count() > 10, "{text}");
    let mut seen: Vec<(String, Option<String>, String)> = Vec::new();
    for line in text.lines() {
        let (_, properties, message) = annotation(line);
        assert_eq!(properties.contains_key("line"), properties.contains_key("col"), "{line}");
        assert!(properties.get("col").is_none_or(|column| column.parse::<u64>().unwrap() >= 1), "{line}");
        assert!(message.contains("%0Agjc: ") && message.contains("%0Ahelp: "), "{line}");
        seen.push((properties["file"].to_owned(), properties.get("line").map(|line| (*line).to_owned()), properties["title"].to_owned()));
    }
    let mut wanted: Vec<_> = findings
        .iter()
        .map(|finding| {
            let line = finding["line"].as_u64().map(|line| line.to_string());
            (finding["path"].as_str().unwrap().to_owned(), line, finding["code"].as_str().unwrap().to_owned())
        })
        .collect();
    seen.sort();
    wanted.sort();
    assert_eq!(seen, wanted);
}

#[test]
fn an_annotation_counts_columns_as_an_editor_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    let header = "{\"type\":\"session\",\"version\":5,\"id\":\"s\",\"timestamp\":\"2026-01-02T03:04:00.000Z\",\"cwd\":\"/w\"}\n";
    std::fs::write(&file, format!("{header}{{\"x\":\"üü\"}} {{\"y\":1}}\n")).unwrap();
    let finding = |format| out(&run(&[file.to_str().unwrap(), "--format", format]));
    let json = json(&finding("json"));
    let glued = list(&json, "/findings").iter().find(|finding| finding["code"] == "glued_records").unwrap();
    let column = glued["column"].as_u64().unwrap();
    assert!(column > 10, "behind the umlauts: {glued}");
    let github = finding("github");
    assert!(github.contains(&format!("line=2,col={},title=glued_records", column - 2)), "{column}: {github}");
}

#[test]
fn what_a_name_or_a_text_holds_neither_ends_an_annotation_nor_steers_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let name = "50%,a:b::c\u{1b}[2J.jsonl";
    let title = "\"type\":\"session\",\"version\":5,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/w\"";
    std::fs::write(folder.path().join(name), format!("{{{title}}}\n{{\"type\":\"100%\\n::error::\u{9b}2J\",\"id\":\"a\"}}\n")).unwrap();
    let text = out(&run_in(&folder, &[".", "--format", "github"]));
    assert!(text.lines().count() > 1, "{text}");
    for line in text.lines() {
        let (_, properties, message) = annotation(line);
        assert_eq!(properties["file"], "50%25%2Ca%3Ab%3A%3Ac\\u{1b}[2J.jsonl", "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(message.match_indices('%').all(|(at, _)| matches!(&message[at..at + 3], "%25" | "%0A" | "%0D")), "{message}");
    }
}

#[test]
fn every_line_of_jsonl_is_an_object_of_its_schema_and_the_summary_comes_last() {
    let schema = json(&out(&run(&["schema", "report-line"])));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (text, report) = demo("jsonl");
    let lines: Vec<Value> = text.lines().map(json).collect();
    for line in &lines {
        assert!(validator.is_valid(line), "{line}");
    }
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((of("run"), of("summary")), (1, 1));
    assert_eq!((of("finding"), of("transcript")), (list(&report, "/findings").len(), list(&report, "/transcripts").len()));
    assert_eq!(lines[0]["kind"], "run");
    assert_eq!(lines.last().unwrap()["status"], report["summary"]["status"]);
}

#[test]
fn the_markdown_of_the_demo_counts_what_the_report_counts() {
    let (text, report) = demo("markdown");
    assert!(text.starts_with("## gjc-fsck: trouble found\n"), "{text}");
    let counting = list(&report, "/findings").iter().filter(|finding| finding["status"] != 0).count();
    let rows =
        text.split("### What counts").nth(1).unwrap().split("###").next().unwrap().lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, counting);
    for (code, count) in report["summary"]["codes"].as_object().unwrap() {
        assert!(text.contains(&format!("| {count} | `{code}` |")), "{code}");
    }
}

#[test]
fn several_reports_of_one_run_are_what_several_runs_print() {
    let folder = tempfile::tempdir().unwrap();
    let formats = ["human", "concise", "json", "jsonl", "sarif", "junit", "github", "markdown"];
    let path = |format: &str| folder.path().join(format!("report.{format}x"));
    let mut command = program();
    command.arg(TORN);
    for format in formats {
        command.args(["--output", &format!("{format}={}", path(format).display())]);
    }
    assert_eq!(status(&command.output().unwrap()), 4);
    for format in formats {
        assert_eq!(std::fs::read_to_string(path(format)).unwrap(), out(&run(&[TORN, "--format", format])), "{format}");
    }
    let twice = format!("json={}", path("json").display());
    let refused = run(&[TORN, "--output", &twice, "--output", &twice]);
    assert_eq!(status(&refused), 16, "{}", err(&refused));
}

#[test]
fn a_form_of_the_report_is_refused_where_there_is_no_report() {
    let refused = run(&["tree", "corpus/field/00-ok.jsonl", "--format", "sarif"]);
    assert_eq!(status(&refused), 16);
    assert!(err(&refused).contains("form of the report"), "{}", err(&refused));
}

/// A folder with a transcript that has a torn tail, one whose parent dangles, and whatever else is named.
fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("t")).unwrap();
    for (name, from) in [("t/torn.jsonl", TORN), ("t/dangling.jsonl", DANGLING)] {
        std::fs::copy(root().join(from), folder.path().join(name)).unwrap();
    }
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn run_in(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    program().current_dir(folder.path()).args(args).output().unwrap()
}

#[test]
fn a_baseline_accepts_what_is_there_and_nothing_new_and_asks_for_what_is_gone() {
    let folder = workspace(&[]);
    let gate = |more: &[&str]| run_in(&folder, &[&["check", "t", "--baseline", "known.json", "--format", "concise"], more].concat());
    let none = gate(&[]);
    assert_eq!(status(&none), 16);
    assert!(err(&none).contains("--update-baseline makes it"), "{}", err(&none));

    let made = gate(&["--update-baseline"]);
    assert_eq!((status(&made), out(&made).as_str()), (0, ""), "{}", err(&made));
    assert!(err(&made).contains("findings are known from now on"), "{}", err(&made));
    let first = std::fs::read(folder.path().join("known.json")).unwrap();
    assert_eq!((status(&gate(&[])), out(&gate(&[]))), (0, String::new()));
    assert_eq!(status(&gate(&["--fail-on", "info"])), 0, "what is known counts at no level");

    // Something new.
    let torn = folder.path().join("t/torn.jsonl");
    let before = std::fs::read(&torn).unwrap();
    std::fs::copy(&torn, folder.path().join("t/second.jsonl")).unwrap();
    let new = gate(&[]);
    assert_eq!(status(&new), 4);
    assert!(out(&new).contains("t/second.jsonl:4"), "{}", out(&new));
    std::fs::remove_file(folder.path().join("t/second.jsonl")).unwrap();

    // Something gone.
    std::fs::copy(root().join("corpus/field/00-ok.jsonl"), &torn).unwrap();
    let gone = gate(&[]);
    assert_eq!(status(&gone), 4);
    assert!(out(&gone).contains("known.json: error[baseline_entry_stale]"), "{}", out(&gone));
    assert_eq!(status(&gate(&["--update-baseline"])), 0);
    assert!(std::fs::read(folder.path().join("known.json")).unwrap() != first);

    std::fs::write(&torn, before).unwrap();
    assert_eq!(status(&gate(&["--update-baseline"])), 0);
    assert!(std::fs::read(folder.path().join("known.json")).unwrap() == first, "same findings, same bytes");
}

#[test]
fn a_run_of_one_file_asks_only_for_what_the_baseline_holds_of_it() {
    let folder = workspace(&[]);
    let gate = |args: &[&str]| run_in(&folder, &[args, &["--baseline", "known.json", "--format", "concise"]].concat());
    assert_eq!(status(&gate(&["t/torn.jsonl", "t/dangling.jsonl", "--update-baseline"])), 0);
    let known = || std::fs::read_to_string(folder.path().join("known.json")).unwrap();
    let both = known();
    let one = gate(&["t/torn.jsonl"]);
    assert_eq!((status(&one), out(&one)), (0, String::new()), "the other file was not looked at");
    // To write it anew for one file forgets nothing of the other.
    assert_eq!(status(&gate(&["t/torn.jsonl", "--update-baseline"])), 0);
    assert_eq!(known(), both);
    // What is gone of the file itself is asked for.
    std::fs::copy(root().join("corpus/field/00-ok.jsonl"), folder.path().join("t/torn.jsonl")).unwrap();
    assert!(out(&gate(&["t/torn.jsonl"])).contains("baseline_entry_stale"));
    assert_eq!(status(&gate(&["t/torn.jsonl", "--update-baseline"])), 0);
    assert!(!known().contains("torn.jsonl") && known().contains("dangling.jsonl"), "{}", known());
    // A skip of another file is not stale either.
    std::fs::write(folder.path().join("skips.toml"), "[[skip]]\npath = \"t/other.jsonl\"\nreason = \"x\"\n").unwrap();
    let skipping = |path: &str| out(&run_in(&folder, &["check", path, "--skip-list", "skips.toml", "--format", "concise"]));
    assert!(!skipping("t/torn.jsonl").contains("baseline_entry_stale"));
    assert!(skipping(".").contains("baseline_entry_stale"), "near miss");
}

#[test]
fn what_stands_in_the_place_of_the_settings_and_is_no_file_is_not_passed_over() {
    let folder = workspace(&[("gjc-fsck.toml/x", "")]);
    let refused = run_in(&folder, &["check", "t"]);
    assert_eq!(status(&refused), 16);
    assert!(err(&refused).contains("gjc-fsck.toml: this is a directory, no settings file"), "{}", err(&refused));
    assert_eq!(status(&run_in(&folder, &["check", "t", "--no-config"])), 4);
}

#[test]
fn a_baseline_is_written_nowhere_else() {
    let folder = workspace(&[]);
    let inside = run_in(&folder, &["check", "t", "--baseline", "t/known.json", "--update-baseline"]);
    assert_eq!(status(&inside), 16, "{}", err(&inside));
    assert!(!folder.path().join("t/known.json").exists());
    assert_eq!(status(&run_in(&folder, &["check", "t", "--update-baseline"])), 16, "it has no name");
    std::fs::write(folder.path().join("known.json"), "{}").unwrap();
    let broken = run_in(&folder, &["check", "t", "--baseline", "known.json"]);
    assert_eq!(status(&broken), 16);
    assert!(err(&broken).contains("no baseline: missing field"), "{}", err(&broken));
}

#[test]
fn a_baseline_replaces_nothing_but_a_baseline() {
    let folder = workspace(&[("a.jsonl", "no session\n"), ("notes.txt", "mine")]);
    let refused = run_in(&folder, &["a.jsonl", "--baseline", "notes.txt", "--update-baseline"]);
    assert_eq!(status(&refused), 16, "{}", err(&refused));
    assert_eq!(std::fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_run_that_could_not_read_everything_writes_no_baseline() {
    let folder = workspace(&[("a.jsonl", "no session\n")]);
    run_in(&folder, &["a.jsonl", "--baseline", "known.json", "--update-baseline"]);
    let known = std::fs::read(folder.path().join("known.json")).unwrap();
    let mistyped = run_in(&folder, &["no-such-folder", "--baseline", "known.json", "--update-baseline"]);
    assert!(err(&mistyped).contains("not written anew"), "{}", err(&mistyped));
    assert_eq!(std::fs::read(folder.path().join("known.json")).unwrap(), known);
}

#[test]
fn of_several_reports_none_is_written_when_one_cannot_be() {
    let folder = workspace(&[("a.jsonl", "no session\n"), ("b.jsonl", "another transcript\n")]);
    let refused = run_in(&folder, &["a.jsonl", "--output", "sarif=first.sarif", "--output", "json=b.jsonl"]);
    assert_eq!(status(&refused), 16, "{}", err(&refused));
    assert!(!folder.path().join("first.sarif").exists());
}

#[test]
fn no_report_is_written_into_an_agent_directory() {
    let folder = workspace(&[("a.jsonl", "no session\n"), ("agent/history.db", "prompts"), ("agent/sessions/--w--/x.txt", "")]);
    for output in ["json=agent/history.db", "json=agent/new.json", "json=agent/sessions/--w--/report.json"] {
        let refused = run_in(&folder, &["a.jsonl", "--output", output]);
        assert_eq!(status(&refused), 16, "{output}: {}", err(&refused));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("agent/history.db")).unwrap(), "prompts");
}

#[test]
fn the_settings_file_says_paths_release_levels_and_skips() {
    let settings = "paths = [\"t\"]\nrelease = \"0.15\"\nfail-on = \"warning\"\n[severity]\ndangling_parent = \"info\"\n\
                    [[skip]]\npath = \"torn.jsonl\"\nreason = \"kept as it was found\"\n";
    let folder = workspace(&[("gjc-fsck.toml", settings)]);
    let report = json(&out(&run_in(&folder, &["--format", "json"])));
    assert_eq!((&report["root"], &report["release"]), (&"t".into(), &"0.15".into()));
    assert_eq!(report["gate"]["config"], "gjc-fsck.toml");
    assert_eq!(report["gate"]["known"][0]["reason"], "kept as it was found");
    let dangling = list(&report, "/findings").iter().find(|finding| finding["code"] == "dangling_parent").unwrap();
    assert_eq!(dangling["severity"], "info");
    assert!(list(&report, "/findings").iter().all(|finding| finding["path"] != "torn.jsonl"), "{report}");

    // The command line counts more.
    let over = ["--format", "json", "--gjc", "0.17", "--severity", "dangling_parent=error"];
    let report = json(&out(&run_in(&folder, &over)));
    assert_eq!((&report["release"], &report["summary"]["status"]), (&"0.17".into(), &4.into()));
    let without = json(&out(&run_in(&folder, &["t", "--no-config", "--format", "json"])));
    assert!(without["gate"]["config"].is_null());
    assert_eq!((&without["release"], &without["summary"]["known"]), (&"0.17".into(), &0.into()));

    // From elsewhere what it names lies beside it.
    let config = folder.path().join("gjc-fsck.toml");
    let report = json(&out(&run(&["check", "--config", config.to_str().unwrap(), "--format", "json"])));
    assert_eq!(report["root"], folder.path().join("t").to_str().unwrap());
}

#[test]
fn an_unknown_key_is_a_finding_that_leads_to_its_line() {
    let folder = workspace(&[("gjc-fsck.toml", "[[skip]]\npath = \".\"\nreason = \"all of it\"\n[other]\n")]);
    let text = out(&run_in(&folder, &["t", "--format", "concise"]));
    assert_eq!(text, "gjc-fsck.toml:4:2: warning[config_unknown_key] the key `other` is not known\n");
    let drawn = out(&run_in(&folder, &["t", "--severity", "config_unknown_key=error"]));
    assert!(drawn.contains("[other]"), "the line is shown: {drawn}");
    assert!(drawn.contains("findings are known beforehand") || drawn.contains("finding is known beforehand"), "{drawn}");
}

#[test]
fn a_fatal_code_is_silenced_by_nothing() {
    let folder = workspace(&[("skips.toml", "[[skip]]\npath = \"utf16.jsonl\"\nreason = \"x\"\n")]);
    std::fs::copy(root().join("corpus/v5/utf16_bom/trigger.jsonl"), folder.path().join("t/utf16.jsonl")).unwrap();
    let gate = |more: &[&str]| out(&run_in(&folder, &[&["check", "t", "--format", "concise", "--baseline", "known.json"], more].concat()));
    assert!(gate(&["--update-baseline"]).contains("error[utf16_bom]"));
    let renewed = run_in(&folder, &["check", "t", "--baseline", "known.json", "--update-baseline"]);
    assert!(err(&renewed).contains("1 finding of a fatal code fails the gate all the same"), "{}", err(&renewed));
    assert!(gate(&[]).contains("error[utf16_bom]"), "the baseline does not hold it");
    assert!(gate(&["--skip-list", "skips.toml", "--update-baseline"]).contains("error[utf16_bom]"));
    std::fs::write(folder.path().join("gjc-fsck.toml"), "[severity]\nutf16_bom = \"info\"\n").unwrap();
    let lowered = run_in(&folder, &["t"]);
    assert_eq!(status(&lowered), 16);
    assert!(err(&lowered).contains("gjc-fsck.toml:2:13: `utf16_bom` is fatal"), "{}", err(&lowered));
}

#[test]
fn the_kept_demo_says_which_command_gives_its_answer_again() {
    for release in ["0.15", "0.17"] {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("it's kept");
        let demo = program().args(["demo", "--gjc", release, "--keep"]).arg(&kept).output().unwrap();
        let said = err(&demo);
        let (_, command) = said.split_once("this gives its answer again: gjc-fsck ").unwrap();
        let shell = format!("exec \"$0\" {}", command.trim_end());
        let again = Command::new("sh").arg("-c").arg(shell).arg(assert_cmd::cargo::cargo_bin!("gjc-fsck")).env_clear().output().unwrap();
        assert_eq!((out(&again), status(&again)), (out(&demo), status(&demo)), "{command}");
    }
}

/// A command with the program in its search path, and git and the shell beside it.
fn script(program: &Path) -> Command {
    let bin = assert_cmd::cargo::cargo_bin!("gjc-fsck").parent().unwrap().to_owned();
    let mut command = Command::new(program);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    command.env_clear().env("PATH", path).env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

#[test]
fn the_gate_script_writes_every_report_and_keeps_the_status() {
    let folder = workspace(&[]);
    let gate = |more: &[(&str, &str)], args: &[&str]| {
        script(&root().join("ci/gate.sh")).current_dir(folder.path()).envs(more.iter().copied()).args(args).output().unwrap()
    };
    let output = gate(&[], &["t"]);
    assert_eq!(status(&output), 4, "{}", err(&output));
    assert!(out(&output).contains("t/torn.jsonl:4"), "{}", out(&output));
    for report in ["gjc-fsck.sarif", "gjc-fsck.junit.xml", "gjc-fsck.md", "gjc-fsck.json"] {
        assert!(std::fs::metadata(folder.path().join("gjc-fsck-reports").join(report)).unwrap().len() > 0, "{report}");
    }
    let github = gate(&[("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "summary.md")], &["t"]);
    assert!(out(&github).starts_with("::error file=t/torn.jsonl,line=4,"), "{}", out(&github));
    assert!(std::fs::read_to_string(folder.path().join("summary.md")).unwrap().starts_with("## gjc-fsck: trouble found"));
    assert_eq!(status(&gate(&[], &["t/torn.jsonl", "--fail-on", "never"])), 0);
    // Nothing is left in what is checked, and the way out is told.
    let inside = gate(&[("GJC_FSCK_REPORTS", "t/reports")], &["t"]);
    assert_eq!((status(&inside), folder.path().join("t/reports").exists()), (16, false));
    assert!(err(&inside).contains("GJC_FSCK_REPORTS names a folder"), "{}", err(&inside));
    // A limit alone is inconclusive; whether that fails the job is the owner's choice.
    std::fs::copy(root().join("corpus/field/00-ok.jsonl"), folder.path().join("ok.jsonl")).unwrap();
    let budget = ("GJC_SESSION_CONTEXT_BUDGET_BYTES", "100");
    assert_eq!(status(&gate(&[budget], &["ok.jsonl"])), 2);
    assert_eq!(status(&gate(&[budget, ("GJC_FSCK_INCONCLUSIVE", "pass")], &["ok.jsonl"])), 0);
}

fn git(folder: &Path, args: &[&str]) {
    let done =
        script(Path::new("git")).current_dir(folder).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(args).output();
    let done = done.unwrap();
    assert!(done.status.success(), "git {args:?}: {}", err(&done));
}

#[test]
fn the_commit_hook_looks_at_what_is_staged() {
    let folder = workspace(&[]);
    git(folder.path(), &["init", "-q"]);
    let hook = folder.path().join(".git/hooks/pre-commit");
    std::fs::copy(root().join("ci/pre-commit"), &hook).unwrap();
    let commit = || {
        let args = ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"];
        script(Path::new("git")).current_dir(folder.path()).args(args).output().unwrap()
    };
    git(folder.path(), &["add", "t/torn.jsonl"]);
    // What lies in the working tree meanwhile does not matter.
    std::fs::copy(root().join("corpus/field/00-ok.jsonl"), folder.path().join("t/torn.jsonl")).unwrap();
    let refused = commit();
    assert!(!refused.status.success());
    let said = out(&refused) + &err(&refused);
    assert!(said.contains("t/torn.jsonl:4:"), "{said}");
    git(folder.path(), &["add", "t/torn.jsonl"]);
    let accepted = commit();
    assert!(accepted.status.success(), "{}{}", out(&accepted), err(&accepted));
    // Under pre-commit.com the files are named.
    let named = script(&root().join("ci/pre-commit")).current_dir(folder.path()).args(["t/dangling.jsonl"]).output().unwrap();
    assert!(out(&named).contains("t/dangling.jsonl:"), "{}", out(&named));
    assert_eq!(status(&named), 0, "a warning does not refuse a commit");
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    assert!(hooks.contains("entry: ci/pre-commit\n"), "{hooks}");
}

/// The text of a step's `run: |` block that holds `word`.
fn block(yaml: &str, word: &str) -> String {
    let blocks = yaml.split("run: |\n").skip(1).map(|rest| {
        let lines = rest.lines().take_while(|line| line.starts_with("        "));
        lines.map(|line| &line[8..]).collect::<Vec<_>>().join("\n")
    });
    blocks.into_iter().find(|block| block.contains(word)).unwrap()
}

#[test]
fn the_steps_of_the_github_action_run() {
    let folder = workspace(&[]);
    let action = root().join("ci/github-action");
    let yaml = std::fs::read_to_string(action.join("action.yml")).unwrap();
    let step = |word: &str, more: &[(&str, &str)]| {
        let block = block(&yaml, word);
        assert!(!block.contains("${{"), "what a user types is data, not shell text: {block}");
        let mut bash = script(Path::new("bash"));
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &block]).current_dir(folder.path());
        bash.env("GITHUB_ACTION_PATH", &action).env("GITHUB_OUTPUT", "outputs").env("GITHUB_ACTIONS", "true");
        bash.envs(more.iter().copied()).output().unwrap()
    };
    let install = step("cargo install", &[]);
    assert_eq!((status(&install), out(&install).as_str()), (0, ""), "the program is there already: {}", err(&install));
    let inputs = [("GJC_FSCK_ARGUMENTS", "t\n--fail-on warning"), ("GJC_FSCK_REPORTS", "out"), ("GJC_FSCK_INCONCLUSIVE", "fail")];
    let check = step("gate.sh", &inputs);
    assert_eq!(status(&check), 4, "{}", err(&check));
    assert!(out(&check).starts_with("::error file=t/torn.jsonl,line=4,col="), "{}", out(&check));
    let outputs = std::fs::read_to_string(folder.path().join("outputs")).unwrap();
    assert_eq!(outputs, "sarif=out/gjc-fsck.sarif\njunit=out/gjc-fsck.junit.xml\n");
    for output in outputs.lines() {
        assert!(folder.path().join(output.split_once('=').unwrap().1).exists(), "{output}");
    }
    // The whole repository is checked, too: the reports lie elsewhere when no folder is named.
    let temporary = tempfile::tempdir().unwrap();
    let inputs = [("GJC_FSCK_ARGUMENTS", "."), ("GJC_FSCK_REPORTS", ""), ("RUNNER_TEMP", temporary.path().to_str().unwrap())];
    let check = step("gate.sh", &inputs);
    assert_eq!(status(&check), 4, "{}", err(&check));
    assert!(temporary.path().join("gjc-fsck-reports/gjc-fsck.sarif").exists());
    for input in ["arguments", "reports", "inconclusive"] {
        assert!(yaml.contains(&format!("${{{{ inputs.{input} }}}}")), "{input} is used");
    }
}

#[test]
fn the_script_of_the_gitlab_job_runs() {
    let folder = workspace(&[]);
    let yaml = std::fs::read_to_string(root().join("ci/gitlab.yml")).unwrap();
    let line = yaml.split("\n  script:\n    - ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let mut bash = script(Path::new("bash"));
    let output = bash.args(["-c", line]).env("GJC_FSCK_ARGUMENTS", "t").current_dir(folder.path()).output().unwrap();
    assert_eq!(status(&output), 4, "{}", err(&output));
    // Every file that the job keeps is there.
    for file in yaml.split("artifacts:").nth(1).unwrap().split([' ', '\n']).filter(|word| word.starts_with("gjc-fsck.")) {
        assert!(folder.path().join(file).exists(), "{file}");
    }
}
