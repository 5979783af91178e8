//! `export` as a user calls it: where the page goes, what is refused, and the way back.

use super::{err, out, program, run, status};
use gjc_fsck::json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SESSION: &str = "corpus/field/31-stale-leaf-tail.jsonl";

#[test]
fn a_page_is_written_once_and_the_session_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let before = fs::metadata(SESSION).map(|meta| (meta.mtime_nsec(), meta.len())).unwrap();
    let output = run(&["export", SESSION, page]);
    assert_eq!((status(&output), out(&output)), (0, format!("Exported to: {page}\n")), "{}", err(&output));
    assert!(fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
    assert_eq!(fs::metadata(SESSION).map(|meta| (meta.mtime_nsec(), meta.len())).unwrap(), before);

    let again = run(&["export", SESSION, page]);
    assert_eq!(status(&again), 16);
    assert!(err(&again).contains("nothing is overwritten"), "{}", err(&again));

    // A transcript of version 5 without patches comes back record by record.
    let recovered = run(&["export", "--recover", page]);
    assert_eq!(out(&recovered), fs::read_to_string(SESSION).unwrap());
    let transcript = folder.path().join("back.jsonl");
    let output = run(&["export", "--recover", page, transcript.to_str().unwrap()]);
    assert_eq!((status(&output), fs::read_to_string(&transcript).unwrap()), (0, out(&recovered)));
}

/// Whatever loads comes back as gjc's loaded and migrated entries: what `migrate` makes of the file is what it makes of the
/// recovered one.
#[test]
fn what_comes_back_is_what_gjc_loads() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = 0;
    for entry in fs::read_dir("corpus/field").unwrap() {
        let transcript = entry.unwrap().path();
        if transcript.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let page = folder.path().join(format!("{pages}.html"));
        let output = run(&["export", "--quiet", transcript.to_str().unwrap(), page.to_str().unwrap()]);
        if status(&output) == 4 {
            // gjc loads nothing of it.
            continue;
        }
        assert_eq!(status(&output), 0, "{}: {}", transcript.display(), err(&output));
        pages += 1;
        let recovered = folder.path().join(format!("{pages}.jsonl"));
        assert_eq!(status(&run(&["export", "--quiet", "--recover", page.to_str().unwrap(), recovered.to_str().unwrap()])), 0);
        let entries = |path: &Path| {
            let text = out(&run(&["migrate", "--json", path.to_str().unwrap()]));
            let answer = Value::parse(text.as_bytes()).unwrap();
            let entries = answer.member("entries").and_then(Value::as_array).unwrap().to_vec();
            // Further headers are no entries to an export.
            let is_header = |entry: &Value| entry.member("type") == Some(&Value::string("session"));
            entries.into_iter().enumerate().filter(|(at, entry)| *at == 0 || !is_header(entry)).map(|(_, entry)| entry).collect::<Vec<_>>()
        };
        assert_eq!(entries(&recovered), entries(&transcript), "{}", transcript.display());
    }
    assert!(pages > 30, "{pages} pages");
}

#[test]
fn the_default_name_is_that_of_gjc_in_the_current_directory() {
    let folder = tempfile::tempdir().unwrap();
    let session = fs::canonicalize(SESSION).unwrap();
    let output = program().current_dir(folder.path()).args(["export", session.to_str().unwrap()]).output().unwrap();
    assert_eq!(status(&output), 0, "{}", err(&output));
    assert!(folder.path().join("gjc-session-31-stale-leaf-tail.html").is_file());
}

#[test]
fn what_gjc_refuses_is_refused() {
    for word in ["copy", "clipboard", "--copy"] {
        let output = run(&["export", SESSION, word]);
        assert_eq!(status(&output), 16, "{word}");
        assert!(err(&output).contains("/dump"), "{word}: {}", err(&output));
    }
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.jsonl");
    fs::copy(SESSION, &own).unwrap();
    let own = own.to_str().unwrap();
    let output = run(&["export", own, own]);
    assert_eq!(status(&output), 16);
    assert!(err(&output).contains("HTML export output must not overwrite the source transcript"), "{}", err(&output));
    assert_eq!(status(&run(&["export", "-"])), 16);
    let output = run(&["export", "no-such-file.jsonl"]);
    assert_eq!((status(&output), err(&output)), (8, "gjc-fsck: File not found: no-such-file.jsonl\n".to_owned()));
    let output = run(&["export", SESSION, "-", "--leaf", "nobody"]);
    assert_eq!((status(&output), out(&output)), (16, String::new()));
    assert!(err(&output).contains("no entry has the id `nobody`"), "{}", err(&output));
    let output = run(&["export", "--recover", SESSION]);
    assert_eq!(status(&output), 4);
    assert!(err(&output).contains("no export of gjc"), "{}", err(&output));
}

#[test]
fn a_damaged_session_is_exported_with_a_note_and_its_findings() {
    let output = run(&["export", "corpus/field/01-torn-tail.jsonl", "-"]);
    assert_eq!(status(&output), 0);
    assert!(err(&output).contains("Could not open session: malformed"), "{}", err(&output));
    assert!(out(&output).contains("<code>truncated_last_line</code>"));
}

#[test]
fn images_come_from_the_blob_store_of_the_agent_directory() {
    let folder = tempfile::tempdir().unwrap();
    let (sessions, blobs) = (folder.path().join("sessions/--w--"), folder.path().join("blobs"));
    fs::create_dir_all(&sessions).unwrap();
    fs::create_dir(&blobs).unwrap();
    // `abc` by its SHA-256.
    let name = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let image = |name: &str| format!(r#"{{"type":"image","mimeType":"image/png","data":"blob:sha256:{name}"}}"#);
    let content = format!("[{},{}]", image(name), image(&"0".repeat(64)));
    let text = format!(
        "{{\"type\":\"session\",\"version\":5,\"id\":\"s\",\"timestamp\":\"2026-01-02T03:04:00.000Z\",\"cwd\":\"/w\"}}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-02T03:04:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":{content},\"timestamp\":1}}}}\n"
    );
    fs::write(sessions.join("t.jsonl"), text).unwrap();
    fs::write(blobs.join(name), "abc").unwrap();
    let output = run(&["export", sessions.join("t.jsonl").to_str().unwrap(), "-"]);
    assert!(out(&output).contains("src=\"data:image/png;base64,YWJj\""), "{}", err(&output));
    assert!(err(&output).contains("1 blob reference has no blob that was found"), "{}", err(&output));
    assert_eq!(fs::read_dir(&blobs).unwrap().count(), 1, "nothing is added to the store");
}
