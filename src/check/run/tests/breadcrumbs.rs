//! Breadcrumbs of terminals: the trigger and the near miss of each code, and what is no fault.

use super::managed::*;
use super::*;
use crate::agent::layout::TERMINAL_SESSIONS;

/// The findings of the clean agent directory with this breadcrumb, after a change.
fn with(text: &str, change: impl FnOnce(&Tree)) -> Vec<String> {
    codes_after(|t| {
        t.fs.file(format!("/a/{TERMINAL_SESSIONS}/pts-3"), text.replace("TRANSCRIPT", &t.transcript()).as_bytes());
        change(t);
    })
}
fn unchanged(_: &Tree) {}
/// Without what the change means for others.
fn of_breadcrumbs(codes: Vec<String>) -> Vec<String> {
    codes.into_iter().filter(|code| code.starts_with("breadcrumb")).collect()
}

#[test]
fn breadcrumb_malformed() {
    for text in ["", "/ws", "/ws\n", "/ws\r\nTRANSCRIPT\r\n", "/ws\nTRANSCRIPT\r\nmore"] {
        assert_eq!(with(text, unchanged), ["breadcrumb_malformed"], "{text:?}");
    }
    for text in ["/ws\nTRANSCRIPT\n", "/ws\nTRANSCRIPT", " /ws\nTRANSCRIPT\nmore\r\n"] {
        assert_eq!(with(text, unchanged), NOTHING, "{text:?}");
    }
}

#[test]
fn breadcrumb_dangling() {
    assert_eq!(with("/ws\n/gone/x.jsonl\n", unchanged), ["breadcrumb_dangling"]);
    // The one that was migrated has its name.
    assert_eq!(with(&format!("/ws\n/a/sessions/-old/{NAME}\n"), unchanged), NOTHING);
    assert_eq!(with(&format!("/elsewhere\n/a/sessions/-old/{NAME}\n"), unchanged), ["breadcrumb_dangling"]);
    let twins = with(&format!("/ws\n/gone/{NAME}\n"), |t| {
        t.fs.file(format!("/a/sessions/--ws--/{NAME}"), text("s9", "").as_bytes());
    });
    assert_eq!(of_breadcrumbs(twins), ["breadcrumb_dangling"], "two have its name");
}

#[test]
fn breadcrumb_mismatch() {
    let outside = |t: &Tree| {
        t.fs.directory("/ws2");
        t.fs.file("/mine/x.jsonl", text("x", "").as_bytes());
        t.fs.file("/mine/bad.jsonl", b"oops\n");
        t.fs.file("/mine/.staging/x.jsonl", text("x", "").as_bytes());
    };
    for text in ["/ws\n/mine/bad.jsonl\n", "/ws\n/mine/.staging/x.jsonl\n", "/ws2\n/mine/x.jsonl\n", "/ws\n/mine\n"] {
        assert_eq!(with(text, outside), ["breadcrumb_mismatch"], "{text:?}");
    }
    for text in ["/ws\n/mine/x.jsonl\n", "/./ws\n/mine/../mine/x.jsonl\n"] {
        assert_eq!(with(text, outside), NOTHING, "{text:?}");
    }
}

#[test]
fn a_transcript_of_the_sessions_root_that_no_listing_owns() {
    let foreign = |id: &str| with("/ws\n/a/sessions/x.jsonl\n", |t| t.fs.file("/a/sessions/x.jsonl", text(id, "").as_bytes()));
    assert_eq!(of_breadcrumbs(foreign("s9")), ["breadcrumb_mismatch"]);
    assert_eq!(of_breadcrumbs(foreign("s1")), NOTHING, "the listed one with its id stands for it");
}

#[test]
fn a_transcript_that_the_run_refused_is_not_read_again() {
    let tree = Tree::new();
    tree.fs.append(tree.transcript(), b"oops\n");
    tree.fs.file("/a/terminal-sessions/pts-3", format!("/ws\n{}\n", tree.transcript()).as_bytes());
    let opened = Mutex::new(0);
    let counting = Inject::new(&tree.fs, |call| {
        if call.op == "open" && call.phase == Phase::Before && call.path.ends_with(NAME) {
            *opened.lock().unwrap() += 1;
        }
        None
    });
    let found = checked(&counting, "/a", &options()).findings.iter().map(|f| f.code.name).collect::<Vec<_>>();
    assert!(found.contains(&"breadcrumb_mismatch"), "{found:?}");
    let with = *opened.lock().unwrap();
    tree.fs.remove("/a/terminal-sessions/pts-3");
    checked(&counting, "/a", &options());
    assert_eq!(with, *opened.lock().unwrap() - with, "as often as without a breadcrumb");
}

#[test]
fn a_copy_is_judged_as_if_it_lay_where_it_came_from() {
    let tree = Tree::new();
    let recorded = tree.transcript().replace("/a/", "/home/ana/agent/");
    tree.fs.file("/a/terminal-sessions/pts-3", format!("/ws\n{recorded}\n").as_bytes());
    let copied = Options { assume_root: Some("/home/ana/agent".into()), ..options() };
    let codes = |options: &Options| checked(&tree.fs, "/a", options).findings.iter().map(|f| f.code.name).collect::<Vec<_>>();
    assert!(!codes(&copied).iter().any(|code| code.starts_with("breadcrumb")), "{:?}", codes(&copied));
    // Here the file is missing, and the listed one has its name.
    assert!(!codes(&options()).iter().any(|code| code.starts_with("breadcrumb")));
}
