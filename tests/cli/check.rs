//! `check`: formats, exit bits, what it does not touch.

use super::{err, out, program, run, status};

const FORMATS: [&str; 8] = ["human", "concise", "json", "jsonl", "sarif", "junit", "github", "markdown"];

#[test]
fn a_missing_agent_directory_is_named_and_exits_8() {
    for args in [&["no/such/agent"][..], &["check", "no/such/agent"]] {
        let output = run(args);
        assert_eq!(status(&output), 8, "{}{}", out(&output), err(&output));
        let said = out(&output) + &err(&output);
        assert!(said.contains("agent_dir_missing") && said.contains("no/such/agent"), "{said}");
        assert!(said.contains("gjc-fsck PATH"), "it says how to name one: {said}");
    }
}

#[test]
fn one_job_and_two_jobs_write_the_same_bytes() {
    for format in FORMATS {
        let of = |jobs| run(&["corpus/field", "--format", format, "--jobs", jobs]);
        let (one, two) = (of("1"), of("2"));
        assert!(!one.stdout.is_empty(), "{format}");
        assert!(one.stdout == two.stdout, "{format}: the bytes differ");
        assert_eq!(status(&one), status(&two));
    }
}

/// gjc reads the budget of a context from the environment, and so does the check that speaks for it.
#[test]
fn the_budget_of_the_environment_is_in_force() {
    let with = |budget: &str| {
        let args = ["corpus/field/00-ok.jsonl", "--format", "concise"];
        let output = program().args(args).env("GJC_SESSION_CONTEXT_BUDGET_BYTES", budget).output().unwrap();
        (status(&output), out(&output), err(&output))
    };
    let (status, said, _) = with("100");
    assert_eq!(status, 2, "a capacity: {said}");
    assert!(said.contains("error[context_too_large]") && said.contains("the budget is 100"), "{said}");
    assert_eq!(with("1000000000"), (0, String::new(), String::new()), "near miss");
    let (status, said, note) = with("1e9");
    assert_eq!((status, said.as_str()), (0, ""));
    assert!(note.contains("GJC_SESSION_CONTEXT_BUDGET_BYTES is ignored"), "{note}");
}

#[test]
fn check_is_the_default_command() {
    let file = "corpus/field/01-torn-tail.jsonl";
    let (with, without) = (run(&["check", file]), run(&[file]));
    assert!(with == without, "{}\n{}", out(&with), out(&without));
}

#[test]
fn a_torn_tail_is_shown_and_exits_4_in_every_format() {
    for format in FORMATS {
        let output = run(&["corpus/field/01-torn-tail.jsonl", "--format", format]);
        assert_eq!(status(&output), 4, "{format}");
        assert!(out(&output).contains("truncated_last_line"), "{format}: {}", out(&output));
    }
}

#[test]
fn concise_names_line_severity_and_code() {
    let lines = out(&run(&["corpus/field/01-torn-tail.jsonl", "--format", "concise"]));
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(lines.contains(":4") && lines.contains(": error[truncated_last_line] "), "{lines}");
}

#[test]
fn standard_input_is_a_transcript() {
    let file = std::fs::File::open(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/field/01-torn-tail.jsonl")).unwrap();
    let output = program().args(["-", "--format", "concise"]).stdin(file).output().unwrap();
    assert_eq!(status(&output), 4);
    assert!(out(&output).starts_with("-:4:"), "{}", out(&output));
}

#[test]
fn a_healthy_file_is_clean() {
    let output = run(&["corpus/field/00-ok.jsonl"]);
    assert_eq!(status(&output), 0);
    assert!(out(&output).starts_with("✓ clean"), "{}", out(&output));
}

#[test]
fn fail_on_and_severity_move_the_exit_status() {
    let file = "corpus/field/24-parent-missing.jsonl";
    assert_eq!(status(&run(&[file])), 0, "a dangling parent is a warning");
    assert_eq!(status(&run(&[file, "--fail-on", "warning"])), 4);
    assert_eq!(status(&run(&[file, "--severity", "dangling_parent=error"])), 4);
    let torn = "corpus/field/01-torn-tail.jsonl";
    assert_eq!(status(&run(&[torn, "--fail-on", "never"])), 0);
    assert_eq!(status(&run(&[torn, "--severity", "truncated_last_line=info"])), 0);
}

#[test]
fn a_report_file_gets_the_same_report_and_is_replaced_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let output = format!("json={}", path.display());
    for _ in 0..2 {
        let run = run(&["corpus/field/01-torn-tail.jsonl", "--format", "json", "--output", &output]);
        assert_eq!(status(&run), 4);
        assert!(std::fs::read(&path).unwrap() == run.stdout);
    }
}

#[test]
fn no_report_is_written_into_what_is_checked_or_over_a_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let transcript = folder.path().join("a.jsonl");
    std::fs::write(&transcript, "precious\n").unwrap();
    assert_eq!(status(&run(&[root, "--output", &format!("json={root}/report.json")])), 16);
    let over = run(&["corpus/field/00-ok.jsonl", "--output", &format!("json={}", transcript.display())]);
    assert_eq!(status(&over), 16, "{}", err(&over));
    assert_eq!(std::fs::read(&transcript).unwrap(), b"precious\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_named_twice_is_checked_once() {
    let file = "corpus/field/01-torn-tail.jsonl";
    let twice = run(&[file, "./corpus/field/../field/01-torn-tail.jsonl", "--format", "concise"]);
    assert_eq!(out(&twice), out(&run(&[file, "--format", "concise"])));
    assert!(err(&twice).contains("named more than once, checked once"), "{}", err(&twice));
}

#[test]
fn the_checked_folder_has_its_name_in_the_report_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("empty.jsonl");
    std::fs::create_dir(&named).unwrap();
    let output = run(&[named.to_str().unwrap()]);
    assert_eq!(status(&output), 8);
    assert!(out(&output).contains(&format!("\n{}\nagent_dir_missing\n", named.display())), "{}", out(&output));
    assert!(out(&run(&["corpus/field"])).contains("gjc-fsck explain") && !out(&run(&["corpus/field"])).contains("explain CODE"));
}

#[test]
fn a_report_file_that_cannot_be_written_is_named_and_nothing_else() {
    let unknown = run(&["corpus/field/00-ok.jsonl", "--output", "foo=bar"]);
    assert_eq!(status(&unknown), 16);
    assert!(err(&unknown).contains("no form of the report is called `foo`; the forms are human, concise, json,"), "{}", err(&unknown));
    let nowhere = run(&["corpus/field/00-ok.jsonl", "--output", "json=no/such/folder/report.json"]);
    assert_eq!(status(&nowhere), 8);
    assert_eq!(err(&nowhere), "gjc-fsck: no/such/folder/report.json: the folder of this file does not exist\n");
}

#[test]
fn quiet_shows_the_verdict_and_the_errors_only() {
    let text = out(&run(&["corpus/field/04-glued-two-complete.jsonl", "--quiet"]));
    assert!(text.contains("glued_records"), "{text}");
    // The one error is drawn together with what to do.
    assert!(!text.contains("dangling_parent") && !text.contains("Next"), "{text}");
    let several = out(&run(&["corpus/field", "--quiet"]));
    let (_, next) = several.split_once("\nNext\n").unwrap();
    assert!(next.contains("gjc-fsck explain"), "{next}");
}

#[test]
fn colours_only_on_request_when_the_output_is_no_terminal() {
    let file = "corpus/field/01-torn-tail.jsonl";
    assert!(!out(&run(&[file])).contains('\u{1b}'));
    assert!(out(&run(&[file, "--color", "always"])).contains('\u{1b}'));
}

#[test]
fn demo_shows_damage_and_exits_4_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = program().env("TMPDIR", folder.path()).arg("demo").output().unwrap();
    assert_eq!(status(&output), 4 | (status(&output) & 2), "{}", out(&output));
    assert!(out(&output).starts_with('✗'), "{}", out(&output));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Everything that could tell a visit: names, bytes, modes, link counts, sizes, modification and change times.
fn traces(root: &std::path::Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;
    let mut traces: Vec<String> = walkdir::WalkDir::new(root)
        .into_iter()
        .map(|entry| {
            let entry = entry.unwrap();
            let meta = entry.path().symlink_metadata().unwrap();
            let bytes = if meta.is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
            let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
            format!("{} {:o} {} {} {times:?} {bytes:?}", entry.path().display(), meta.mode(), meta.nlink(), meta.size())
        })
        .collect();
    traces.sort();
    traces
}

#[test]
fn a_check_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    let root = agent.to_str().unwrap();
    assert_eq!(status(&run(&["demo", "--keep", root])) & !2, 4);
    let before = traces(&agent);
    assert!(before.len() > 20, "the sample is there");
    for format in FORMATS {
        for release in ["0.15", "0.17"] {
            run(&[root, "--format", format, "--gjc", release]);
        }
    }
    run(&[root, "--quick"]);
    run(&[root, "--connectivity-only"]);
    assert!(traces(&agent) == before, "the check changed what it checked");
}

#[test]
fn the_sample_is_never_planted_among_other_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "x").unwrap();
    let output = run(&["demo", "--keep", folder.path().to_str().unwrap()]);
    assert_eq!(status(&output), 16, "{}", err(&output));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn one_job_and_two_jobs_write_the_same_bytes_for_an_agent_directory() {
    for format in FORMATS {
        let of = |jobs| run(&["demo", "--format", format, "--jobs", jobs]).stdout;
        assert!(of("1") == of("2"), "{format}");
    }
}

#[test]
fn every_report_is_what_the_schema_promises() {
    let schema: serde_json::Value = serde_json::from_slice(&run(&["schema"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for args in [&["corpus/field"][..], &["no/such/agent"], &["demo"]] {
        let output = program().args(args).args(["--format", "json"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let complaints: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(complaints.is_empty(), "{args:?}: {complaints:?}");
        assert_eq!(report["summary"]["status"], status(&output));
    }
}
