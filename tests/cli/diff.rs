//! `diff`: what it prints at every level in every form, and the committed golden differences.

use super::committed::matches_the_committed_file;
use super::{err, out, run, status};
use std::path::Path;

const OLD: &str = "corpus/field/00-ok.jsonl";
const GROWN: &str = "corpus/field/31-stale-leaf-tail.jsonl";
const CUT: &str = "corpus/field/24-parent-missing.jsonl";
const OTHER: &str = "corpus/field/57-header-patch-ok.jsonl";

fn differ(args: &[&str]) -> String {
    let output = run(&[&["diff"], args].concat());
    assert_eq!(status(&output), 4, "{}", err(&output));
    out(&output)
}

#[test]
fn every_level_in_every_form() {
    for (a, b, level) in [(OTHER, GROWN, "records"), (OTHER, GROWN, "migrated"), (GROWN, CUT, "context")] {
        for format in ["human", "json", "markdown"] {
            let text = differ(&[a, b, "--level", level, "--format", format]);
            insta::assert_snapshot!(format!("diff-{level}-{format}"), text);
        }
    }
}

/// The same for each kind of pair: two releases, the version-5 form, a version-1 source and what another run migrated it to, folders.
#[test]
fn every_kind_of_pair_at_every_level_in_every_form() {
    let old = "corpus/v1/hook_message/trigger.jsonl";
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.jsonl");
    std::fs::write(&new, migrated_by_another_run(old)).unwrap();
    for (kind, pair) in [
        ("releases", &["corpus/v5/entry_model_profile_ownership/trigger.jsonl", "--gjc", "0.15,0.17"][..]),
        ("version-5", &[old, "--version-5"]),
        ("source-and-form", &[old, new.to_str().unwrap()]),
        ("folders", &["corpus/v5/dangling_parent", "corpus/v5/parent_cycle"]),
    ] {
        for format in ["human", "json", "markdown"] {
            let levels = ["records", "migrated", "context"].map(|level| {
                let output = run(&[&["diff", "--level", level, "--format", format], pair].concat());
                format!("status {}\n{}", status(&output), out(&output).replace(folder.path().to_str().unwrap(), "…"))
            });
            insta::assert_snapshot!(format!("diff-{kind}-{format}"), levels.join("\n"));
        }
    }
}

/// The version-5 form with ids that no other run draws.
fn migrated_by_another_run(path: &str) -> String {
    let mut text = out(&run(&["migrate", path]));
    let ids: Vec<String> = text.lines().skip(1).map(|line| line.split("\"id\":\"").nth(1).unwrap()[..8].to_owned()).collect();
    for (at, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("000000{at:02}"));
    }
    text
}

#[test]
fn of_two_copies_it_says_which_is_the_beginning_of_the_other_and_where_they_part() {
    let first_lines = |a: &str, b: &str| differ(&[a, b]).lines().nth(2).unwrap().to_owned();
    assert_eq!(
        first_lines(OLD, GROWN),
        "bytes: a is the beginning of b; 1,199 bytes and 5 whole lines in common; b goes on at line 6, column 1 with 151 bytes more"
    );
    assert!(first_lines(GROWN, OLD).starts_with("bytes: b is the beginning of a; "));
    assert!(first_lines(OLD, OTHER).starts_with("bytes: they part at line 1, column 129; "));
    let same = run(&["diff", OLD, OLD]);
    assert_eq!(status(&same), 0);
    assert!(out(&same).ends_with("\nthey do not differ\n"), "{}", out(&same));
}

#[test]
fn json_follows_its_schema() {
    let schema: serde_json::Value = serde_json::from_slice(&run(&["schema", "diff"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for args in [&[OTHER, GROWN][..], &["corpus", "--version-5"], &["corpus", "--gjc", "0.15,0.17"]] {
        let answer: serde_json::Value = serde_json::from_slice(&run(&[&["diff", "--format", "json"], args].concat()).stdout).unwrap();
        assert!(validator.is_valid(&answer), "{args:?}");
        assert!(!answer["files"].as_array().unwrap().is_empty(), "{args:?}");
    }
}

#[test]
fn folders_are_compared_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, from: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(from), path).unwrap();
    };
    put("a/x/same.jsonl", OLD);
    put("b/x/same.jsonl", OLD);
    put("a/other.jsonl", OLD);
    put("b/other.jsonl", GROWN);
    put("a/old.jsonl", OLD);
    put("b/new.jsonl", OLD);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = differ(&[&path("a"), &path("b"), "--level", "records"]);
    assert!(text.contains("\n- old.jsonl\n+ new.jsonl\n"), "{text}");
    assert!(text.contains("\n=== other.jsonl\n") && !text.contains("same.jsonl"), "{text}");
    assert!(text.ends_with("\n1 of 2 transcripts differ; 2 are on one side only\n"), "{text}");
    assert_eq!(status(&run(&["diff", &path("a"), OLD])), 16, "a folder and a file");
}

#[test]
fn what_is_named_like_a_transcript_and_is_none_is_not_taken_for_absent() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for side in ["a", "b"] {
        std::fs::create_dir(path(side)).unwrap();
    }
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(OLD), path("a/x.jsonl")).unwrap();
    std::os::unix::fs::symlink(path("a/x.jsonl"), path("b/x.jsonl")).unwrap();
    let output = run(&["diff", path("a").to_str().unwrap(), path("b").to_str().unwrap()]);
    assert_eq!(status(&output), 2, "{}", out(&output));
    assert!(out(&output).contains("\n! x.jsonl: in b it is a symlink, which is not read here\n"), "{}", out(&output));
    // Two folders without any transcript are not the same conversation.
    std::fs::create_dir(path("empty")).unwrap();
    let nothing = run(&["diff", path("empty").to_str().unwrap(), path("empty").to_str().unwrap()]);
    assert_eq!(status(&nothing), 8);
    assert!(err(&nothing).ends_with("empty: no transcript lies there\n"), "{}", err(&nothing));
}

#[test]
fn what_differs_in_its_bytes_alone_is_said_to() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(OLD)).unwrap();
    let spaced = folder.path().join("spaced.jsonl");
    std::fs::write(&spaced, text.replace("\"id\":", "\"id\": ")).unwrap();
    assert!(differ(&[OLD, spaced.to_str().unwrap()]).ends_with("\ntheir bytes differ, and nothing else that was compared\n"));
}

#[test]
fn a_file_that_is_too_large_is_compared_by_its_bytes_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, size: u64| {
        let path = folder.path().join(name);
        std::fs::File::create(&path).unwrap().set_len(size).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (a, b) = (path("a.jsonl", 70 << 20), path("b.jsonl", (70 << 20) + 5));
    let output = run(&["diff", &a, &b]);
    assert_eq!(status(&output), 2, "{}", out(&output));
    assert!(out(&output).contains("are not compared; bytes: a is the beginning of b; 73,400,320 bytes"), "{}", out(&output));
}

#[test]
fn a_side_that_is_not_named_is_asked_for() {
    for args in
        [&["diff", OLD][..], &["diff", OLD, "--gjc", "0.15"], &["diff", OLD, OLD, "--version-5"], &["diff", OLD, "--gjc", "0.15,0.17,0.15"]]
    {
        assert_eq!(status(&run(args)), 16, "{args:?}");
    }
    assert_eq!(status(&run(&["check", OLD, "--gjc", "0.15,0.17"])), 16, "only `diff` takes two releases");
    assert_eq!(status(&run(&["diff", OLD, OLD, "--format", "sarif"])), 16);
    assert_eq!(status(&run(&["diff", OLD, "no/such/file.jsonl"])), 8);
    let twice = run(&["diff", "-", "-"]);
    assert_eq!(status(&twice), 16);
    assert!(err(&twice).contains("standard input can be read once"), "{}", err(&twice));
}

#[test]
fn what_cannot_be_read_is_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    // A socket cannot be opened, by whomever.
    let socket = folder.path().join("a.jsonl");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let output = run(&["diff", OLD, socket.to_str().unwrap()]);
    assert_eq!(status(&output), 8, "{}", out(&output));
    assert!(err(&output).contains("a.jsonl: this is a socket"), "{}", err(&output));
}

/// What reviewers read of what changes between releases and versions: a change of it is a change of behaviour. What releases
/// make of directories, and what they find in all, is in `cases.md`.
#[test]
fn the_golden_differences_are_current() {
    let (page, plain) = (("<!-- ", " -->"), ("$ ", ""));
    let (releases, version_5) = (["diff", "corpus", "--gjc", "0.15,0.17", "--format"], ["diff", "corpus", "--version-5", "--format"]);
    for (name, args, comment) in [
        ("releases.md", &[&releases[..], &["markdown"]].concat()[..], page),
        ("releases.diff", &[&releases[..], &["human"]].concat(), plain),
        ("versions.md", &[&version_5[..], &["markdown"]].concat(), page),
        ("versions.diff", &[&version_5[..], &["human"]].concat(), plain),
        ("cases.md", &["corpus", "releases", "corpus"], page),
    ] {
        let command = format!("gjc-fsck {}", args.join(" "));
        let text = format!("{}{command}{}\n\n{}", comment.0, comment.1, out(&run(args)));
        matches_the_committed_file(&format!("reports/golden/{name}"), &text);
    }
}
