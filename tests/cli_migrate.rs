//! `migrate` as a user runs it: the bytes it prints, the files it makes, its exit status.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads and writes its own files")]

use assert_cmd::Command;
use std::path::Path;

const V1: &str = concat!(
    r#"{"type":"session","id":"old-1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w/app"}"#,
    "\n",
    r#"{"type":"message","timestamp":"t1","message":{"role":"user","content":"one"}}"#,
    "\n",
    r#"{"type":"compaction","timestamp":"t2","summary":"s","firstKeptEntryIndex":1,"tokensBefore":5}"#,
    "\n",
);

struct Run {
    status: i32,
    out: String,
    err: String,
}

/// Runs `migrate` with the text as the file `in.jsonl` of a folder.
fn migrate_in(folder: &Path, text: &str, args: &[&str]) -> Run {
    std::fs::write(folder.join("in.jsonl"), text).unwrap();
    let output = Command::cargo_bin("gjc-fsck").unwrap().current_dir(folder).arg("migrate").arg("in.jsonl").args(args).output().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("in.jsonl")).unwrap(), text, "the source was changed");
    Run {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
fn migrate(text: &str, args: &[&str]) -> Run {
    migrate_in(tempfile::tempdir().unwrap().path(), text, args)
}

#[test]
fn a_version_1_transcript_is_printed_as_version_5_with_ids_from_the_seed() {
    let run = migrate(V1, &["--seed", "1"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], r#"{"type":"session","id":"old-1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w/app","version":5}"#);
    let id = &lines[1][lines[1].len() - 26..lines[1].len() - 18];
    assert!(id.len() == 8 && id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{id}");
    assert_eq!(
        lines[1],
        format!(r#"{{"type":"message","timestamp":"t1","message":{{"role":"user","content":"one"}},"id":"{id}","parentId":null}}"#)
    );
    assert!(lines[2].contains(&format!(r#""parentId":"{id}","firstKeptEntryId":"{id}""#)), "{}", lines[2]);
    assert_eq!(migrate(V1, &["--seed", "1"]).out, run.out);
    assert_ne!(migrate(V1, &["--seed", "2"]).out, run.out);
    assert_eq!(migrate(V1, &[]).out, migrate(V1, &[]).out);
}

#[test]
fn the_whole_of_a_migrated_transcript() {
    insta::assert_snapshot!("migrated", migrate(V1, &["--seed", "1"]).out);
}

#[test]
fn what_was_migrated_is_not_changed_again() {
    let once = migrate(V1, &[]).out;
    assert_eq!(migrate(&once, &[]).out, once);
}

#[test]
fn json_prints_the_answer_with_numbered_ids() {
    let run = migrate(V1, &["--json"]);
    assert_eq!(run.status, 0);
    assert!(
        run.out.starts_with(r##"{"entries":[{"type":"session","id":"old-1""##) && run.out.contains(r##""id":"#1","parentId":"#0""##),
        "{}",
        run.out
    );
    let thrown = migrate("{\"type\":\"session\",\"id\":\"s\",\"version\":6}\n", &["--json"]);
    assert_eq!((thrown.status, thrown.out.as_str()), (4, "{\"throws\":\"Unsupported session version: 6\"}\n"));
    // As the vectors of `migrate` have it: what loads has a header at least, so no entries means that nothing is loaded.
    for text in ["", "{}\n"] {
        let nothing = migrate(text, &["--json"]);
        assert_eq!((nothing.status, nothing.out.as_str(), nothing.err.as_str()), (4, "{\"entries\":[]}\n", ""));
    }
}

#[test]
fn what_gjc_does_not_load_is_said_and_nothing_is_written() {
    for (text, says) in [
        ("{\"type\":\"session\",\"id\":\"s\",\"version\":6}\n", "it throws Error: Unsupported session version: 6"),
        ("", "gjc loads nothing of this file"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = migrate_in(folder.path(), text, &["-o", "new.jsonl"]);
        assert_eq!((run.status, run.out.as_str()), (4, ""));
        assert!(run.err.contains(says), "{}", run.err);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_new_file_is_made_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let run = migrate_in(folder.path(), V1, &["-o", "new.jsonl"]);
    assert_eq!((run.status, run.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(folder.path().join("new.jsonl")).unwrap(), migrate(V1, &[]).out);
    let again = migrate_in(folder.path(), V1, &["-o", "new.jsonl"]);
    assert_eq!(again.status, 16);
    assert!(again.err.contains("it exists, and nothing is overwritten"), "{}", again.err);
    let itself = migrate_in(folder.path(), V1, &["-o", "./in.jsonl"]);
    assert_eq!(itself.status, 16);
    assert!(itself.err.contains("this is the file that is read"), "{}", itself.err);
}

#[test]
fn images_go_to_the_blob_store_only_when_there_is_one() {
    let image = |data: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":5,\"id\":\"s\"}}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{{\"content\":[{{\"type\":\"image\",\"data\":\"{data}\"}}]}}}}\n"
        )
    };
    let inline = image(&"A".repeat(1024));
    let without = migrate(&inline, &[]);
    assert_eq!(without.out, inline);
    assert!(without.err.contains("gjc would move 1 inline images (768 bytes)"), "{}", without.err);

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("blobs")).unwrap();
    let with = migrate_in(folder.path(), &inline, &["--blobs", "blobs"]);
    let name = "ef115a0e0c15cdc41958ca46b5b14b456115f4baec5e3ca68599d2a8f435e3b8";
    // The messages of this file lack members that the strict reader asks for: hence 4.
    assert_eq!((with.status, with.out.as_str()), (4, image(&format!("blob:sha256:{name}")).as_str()));
    assert_eq!(std::fs::read(folder.path().join("blobs").join(name)).unwrap(), [0; 768]);

    let reference = image(&format!("blob:sha256:{}", "0".repeat(64)));
    assert_eq!(migrate(&reference, &[]).out, reference);
    let lost = migrate_in(folder.path(), &reference, &["--blobs", "blobs"]);
    assert!(lost.out.contains("[Session resident imageData blob missing: sha256:000"), "{}", lost.out);
    assert!(lost.err.contains("1 blob references were replaced by a placeholder"), "{}", lost.err);

    let misspelt = migrate_in(folder.path(), &inline, &["--blobs", "blob"]);
    assert_eq!((misspelt.status, misspelt.out.as_str()), (8, ""));
}

#[test]
fn what_is_left_out_and_what_is_still_refused_is_said() {
    let field = |name: &str| migrate(&std::fs::read_to_string(Path::new("corpus/field").join(name)).unwrap(), &[]);
    let torn = field("03-torn-then-appended-fused.jsonl");
    assert_eq!((torn.status, torn.err.as_str()), (0, "in.jsonl: 1 damaged line was dropped\n"));
    for name in ["21-v1-compaction-index-out-of-range.jsonl", "64-parentId-omitted-root.jsonl"] {
        let refused = field(name);
        assert_eq!(refused.status, 4, "{name}");
        assert!(refused.err.contains("gjc still refuses the result (`malformed`)"), "{name}: {}", refused.err);
        assert!(!refused.out.is_empty(), "{name}");
    }
}
