//! Choosing a session in a whole agent directory: one workspace `/ws` with a scope, another one `/other`, and a terminal.

use super::answer::Resume;
use super::breadcrumb::How;
use super::proceed::{Crumb, Destination, For, Opening, Proceeding, Source, proceed};
use super::resolve::{Meant, Reach, resolve};
use super::resume::{ColdFault, ColdIdentity, Look, Refused, Tail, bounded_above};
use super::saved::{self, Reply};
use super::{picker, proceed as proceeding, recent, resume};
use crate::agent::identity::{Identity, Platform};
use crate::agent::world::World;
use crate::corpus::clean;
use crate::finding::Release;
use crate::fsys::Memory;
use crate::fsys::host::Nowhere;
use crate::transcript::context::budget;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const CRUMB: &str = "/a/terminal-sessions/pts-3";

struct Tree {
    fs: Memory,
}

fn identity(path: &str) -> Identity {
    Identity { platform: Platform::Posix, canonical_path: path.into() }
}

impl Tree {
    /// Sessions `s1` and, later, `s2` of `/ws`; `o1` of `/other`.
    fn new() -> Self {
        let fs = Memory::new();
        for (workspace, ids) in [("/ws", &["s1", "s2"][..]), ("/other", &["o1"])] {
            fs.directory(workspace);
            let texts: Vec<(String, String)> = ids.iter().map(|id| (clean::name(id), clean::transcript(id, workspace, ""))).collect();
            let plants = clean::scope(&identity(workspace), texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
            fs.plant(scope(workspace), &plants);
        }
        let tree = Tree { fs };
        for (at, id) in ["s1", "s2"].iter().enumerate() {
            tree.date(path("/ws", id), at as i128 + 1);
        }
        tree
    }
    fn date(&self, path: impl AsRef<Path>, seconds: i128) {
        self.fs.set(path, |meta| meta.mtime_ns = seconds * 1_000_000_000);
    }
    fn world(&self) -> World<'_> {
        World::of_agent(&self.fs, &Nowhere, Release::default(), 1000, "/a")
    }
    fn proceeds(&self, destination: Destination<'_>) -> Proceeding {
        proceed(&self.world(), Path::new("/ws"), destination, Some(Path::new(CRUMB)), budget::DEFAULT)
    }
    /// What named the session that `--continue` opens, and its path.
    fn opens(&self) -> Option<(Source, PathBuf)> {
        let proceeding = self.proceeds(Destination::Managed);
        proceeding.end().map(|step| match &step.opening {
            Opening::Opens { path, .. } => (step.source, path.clone()),
            other => panic!("{other:?}"),
        })
    }
    fn breadcrumb(&self, cwd: &str, file: &Path) {
        self.fs.file(CRUMB, format!("{cwd}\n{}\n", file.display()).as_bytes());
    }
    fn rewrite(&self, path: &Path, text: &str) {
        self.fs.remove(path);
        self.fs.file(path, text.as_bytes());
    }
}

fn scope(workspace: &str) -> PathBuf {
    Path::new("/a/sessions").join(identity(workspace).directory_name())
}
fn path(workspace: &str, id: &str) -> PathBuf {
    scope(workspace).join(clean::name(id))
}

#[test]
fn without_a_breadcrumb_the_latest_of_the_list_is_continued() {
    let tree = Tree::new();
    let proceeding = tree.proceeds(Destination::Managed);
    assert_eq!((&proceeding.crumb, proceeding.steps.len()), (&Crumb::Absent, 1));
    assert_eq!(tree.opens(), Some((Source::Listed, path("/ws", "s2"))));
}

#[test]
fn the_breadcrumb_of_the_terminal_comes_first() {
    let tree = Tree::new();
    tree.breadcrumb("/ws", &path("/ws", "s1"));
    assert_eq!(tree.opens(), Some((Source::Breadcrumb, path("/ws", "s1"))));
    assert!(matches!(tree.proceeds(Destination::Managed).crumb, Crumb::Leads { how: How::Exact, .. }));
}

#[test]
fn a_breadcrumb_of_another_directory_is_ignored_and_one_of_a_worktree_is_not() {
    let tree = Tree::new();
    tree.breadcrumb("/other", &path("/other", "o1"));
    assert_eq!(tree.opens(), Some((Source::Listed, path("/ws", "s2"))));
    let proceeding = tree.proceeds(Destination::Managed);
    assert!(matches!(&proceeding.crumb, Crumb::Ignored { why, .. } if why.contains("/other")), "{:?}", proceeding.crumb);
    tree.fs.directory("/ws/.git/worktrees/other");
    tree.fs.file("/ws/.git/worktrees/other/commondir", b"../..");
    tree.fs.file("/other/.git", b"gitdir: /ws/.git/worktrees/other");
    let proceeding = tree.proceeds(Destination::Managed);
    assert!(matches!(proceeding.crumb, Crumb::Leads { how: How::Exact, .. }), "{:?}", proceeding.crumb);
}

#[test]
fn what_strict_inspection_refuses_is_passed_over() {
    let tree = Tree::new();
    let broken = format!("{}oops\n", clean::transcript("s2", "/ws", ""));
    tree.rewrite(&path("/ws", "s2"), &broken);
    tree.date(path("/ws", "s2"), 9);
    let proceeding = tree.proceeds(Destination::Managed);
    assert!(matches!(proceeding.steps[0].opening, Opening::PassedOver { reason: "malformed", .. }), "{:?}", proceeding.steps);
    assert_eq!(tree.opens(), Some((Source::Listed, path("/ws", "s1"))));
}

#[test]
fn a_session_that_is_too_large_ends_the_search_with_an_error() {
    let tree = Tree::new();
    let tight = proceed(&tree.world(), Path::new("/ws"), Destination::Managed, None, 10);
    assert_eq!(tight.crumb, Crumb::NoTerminal);
    assert!(matches!(tight.end().unwrap().opening, Opening::Fails { code: "context_too_large", .. }), "{:?}", tight.steps);
    let mut large = clean::transcript("s2", "/ws", "").into_bytes();
    large.resize((128 << 20) + 1, b' ');
    tree.fs.remove(path("/ws", "s2"));
    tree.fs.file(path("/ws", "s2"), &large);
    tree.date(path("/ws", "s2"), 9);
    let end = tree.proceeds(Destination::Managed);
    let Opening::Fails { code: "oversized", detail } = &end.end().unwrap().opening else { panic!("{:?}", end.steps) };
    assert!(detail.ends_with("bounded_scan_oversized_line"), "{detail}");
}

#[test]
fn an_explicit_directory_knows_its_most_recent_file_only() {
    let tree = Tree::new();
    tree.breadcrumb("/ws", &path("/ws", "s1"));
    assert_eq!(tree.proceeds(Destination::Explicit(Path::new("/mine"))).end(), None, "a new session");
    tree.fs.file("/mine/x.jsonl", clean::transcript("x", "/ws", "").as_bytes());
    let end = tree.proceeds(Destination::Explicit(Path::new("/mine")));
    assert_eq!(end.end().map(|step| (step.source, &*step.path)), Some((Source::MostRecent, Path::new("/mine/x.jsonl"))));
    tree.breadcrumb("/ws", Path::new("/mine/x.jsonl"));
    let end = tree.proceeds(Destination::Explicit(Path::new("/mine")));
    assert_eq!(end.end().map(|step| step.source), Some(Source::Breadcrumb), "it lies inside");
}

#[test]
fn nothing_that_opens_means_a_new_session() {
    let tree = Tree::new();
    for id in ["s1", "s2"] {
        tree.rewrite(&path("/ws", id), "oops\n");
    }
    assert_eq!(tree.opens(), None);
}

#[test]
fn an_id_of_the_workspace_is_local_and_any_other_is_global_and_may_be_forked() {
    let tree = Tree::new();
    let meant = |argument: &str, cwd: &str| match resolve(&tree.world(), OsStr::new(argument), Path::new(cwd), None) {
        Meant::Session { matches, reach, asks_to_fork } => {
            Some((matches[0].session.info.id.to_string(), matches.len(), reach, asks_to_fork))
        }
        _ => None,
    };
    assert_eq!(meant("s", "/ws"), Some(("s2".into(), 2, Reach::Local, false)));
    assert_eq!(meant("o1", "/ws"), Some(("o1".into(), 1, Reach::Global, true)));
    assert_eq!(meant("nobody", "/ws"), None);
    assert_eq!(meant("s", "/other"), Some(("s2".into(), 2, Reach::Global, true)));
}

#[test]
fn the_list_of_all_holds_every_workspace_once() {
    let tree = Tree::new();
    tree.date(path("/other", "o1"), 5);
    tree.fs.symlink("/link", "/ws");
    let spelled = path("/ws", "s1");
    tree.rewrite(&spelled, &clean::transcript("s1", "/link", ""));
    tree.date(&spelled, 1);
    let ids = |world: &World<'_>| picker::of_all(world).sessions.iter().map(|shown| shown.info.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&tree.world()), ["o1", "s2", "s1"]);
    tree.fs.file("/a/sessions/-gone/g.jsonl", clean::transcript("g1", "/gone", "").as_bytes());
    assert_eq!(ids(&tree.world()).len(), 4, "the newest release keeps what no scope claims");
    assert_eq!(ids(&World { release: Release::V0_15, ..tree.world() }).len(), 3);
}

#[test]
fn stars_change_what_the_picker_draws_first_and_nothing_else() {
    let tree = Tree::new();
    let star = "{\"type\":\"header_patch\",\"patch\":{\"starred\":true}}\n";
    tree.fs.append(path("/ws", "s1"), star.as_bytes());
    tree.date(path("/ws", "s1"), 1);
    let picked = picker::of_workspace(&tree.world(), Path::new("/ws"));
    let ids = |picked: &super::Picked| picked.sessions.iter().map(|shown| shown.info.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&picked), ["s2", "s1"]);
    assert_eq!(ids(&picked.starred_first()), ["s1", "s2"]);
}

#[test]
fn the_picker_says_what_it_leaves_out() {
    let tree = Tree::new();
    tree.fs.file(scope("/ws").join("late.jsonl"), clean::transcript("s1", "/ws", "").as_bytes());
    tree.date(scope("/ws").join("late.jsonl"), 7);
    let null = format!("{}null\n", clean::transcript("s3", "/ws", ""));
    tree.fs.file(path("/ws", "s3"), null.as_bytes());
    let picked = picker::of_workspace(&tree.world(), Path::new("/ws"));
    assert_eq!(picked.sessions[0].path, scope("/ws").join("late.jsonl"), "the later one of an id");
    let skipped: Vec<&Path> = picked.skipped.iter().map(|skipped| &*skipped.path).collect();
    assert_eq!(skipped.len(), 2, "{:?}", picked.skipped);
    assert!(skipped.contains(&&*path("/ws", "s1")) && skipped.contains(&&*path("/ws", "s3")));
    let refused = picker::of_workspace(&tree.world(), Path::new("/nowhere"));
    assert_eq!(refused.refused.map(|refused| refused.code), Some("cwd_missing"));
}

/// The strict reader takes a line that holds nothing but a carriage return for an empty one.
#[test]
fn what_the_managed_reader_refuses_does_not_open_from_the_sessions_root() {
    let text = format!("{}\r\n", clean::transcript("s1", "/ws", ""));
    let opens = |at: &Path| {
        let tree = Tree::new();
        tree.rewrite(&path("/ws", "s1"), &text);
        tree.fs.file("/ws/copy.jsonl", text.as_bytes());
        let look = resume::look(&tree.world(), at, u64::MAX);
        let scope = proceeding::managed_of(&tree.world(), at);
        proceeding::open(&tree.world(), at, &look, scope.as_ref(), For::Resume)
    };
    let refused = opens(&path("/ws", "s1"));
    assert!(matches!(&refused, Opening::Unreadable { detail } if detail.contains("is no JSON by itself")), "{refused:?}");
    assert!(matches!(opens(Path::new("/ws/copy.jsonl")), Opening::Opens { .. }), "near miss: outside nobody asks");
}

#[test]
fn what_throws_at_opening_does_not_open_although_the_inspection_takes_it() {
    let null = "{\"type\":\"message\",\"id\":\"e9\",\"parentId\":\"e0000001\",\"timestamp\":\"2026-01-01T00:00:02.000Z\",\"message\":\
                {\"role\":\"assistant\",\"content\":[BLOCK],\"timestamp\":1767225602000}}\n";
    let opens = |block: &str| {
        let tree = Tree::new();
        tree.rewrite(&path("/ws", "s1"), &format!("{}{}", clean::transcript("s1", "/ws", ""), null.replace("BLOCK", block)));
        let look = resume::look(&tree.world(), &path("/ws", "s1"), u64::MAX);
        let scope = proceeding::managed_of(&tree.world(), &path("/ws", "s1"));
        proceeding::open(&tree.world(), &path("/ws", "s1"), &look, scope.as_ref(), For::Resume)
    };
    assert_eq!(opens("null"), Opening::Throws { code: "TypeError" });
    let text = opens("{\"type\":\"text\",\"text\":\"hello\"}");
    assert!(matches!(text, Opening::Opens { .. }), "{text:?}");
}

#[test]
fn the_most_recent_file_of_a_scope_may_be_one_that_no_listing_owns() {
    let tree = Tree::new();
    tree.fs.symlink(scope("/ws").join("z.jsonl"), path("/other", "o1"));
    tree.date(scope("/ws").join("z.jsonl"), 99);
    assert_eq!(recent::most_recent(&tree.world(), &scope("/ws"), false), Some(scope("/ws").join("z.jsonl")));
    for id in ["s1", "s2"] {
        tree.rewrite(&path("/ws", id), "oops\n");
        tree.date(path("/ws", id), 1);
    }
    let end = tree.proceeds(Destination::Managed);
    assert!(matches!(end.end().unwrap().opening, Opening::Fails { code: "unauthorized", .. }), "{:?}", end.steps);
}

/// The omission of the SDK: reason, code behind it, number of candidates.
fn omission(tree: &Tree, id: &str, cwd: &str) -> Option<(&'static str, Option<&'static str>, Option<usize>)> {
    let reply = saved::saved(&tree.world(), id, Path::new(cwd));
    reply.saved_session_omission.map(|omission| (omission.reason, omission.detail_code, omission.candidate_count))
}

#[test]
fn the_sdk_gets_the_session_with_its_identity() {
    let tree = Tree::new();
    let saved = saved::saved(&tree.world(), "s1", Path::new("/ws")).saved_session.unwrap();
    assert_eq!((saved.path, saved.identity.nlink.as_str()), (path("/ws", "s1").display().to_string(), "1"));
    assert_eq!((saved.identity.mtime_ns.as_str(), saved.identity.mtime_ms), ("1000000000", 1_000));
    assert_eq!(omission(&tree, "s1", "/ws"), None);
}

#[test]
fn the_sdk_gets_the_reason_that_comes_first() {
    let tree = Tree::new();
    assert_eq!(omission(&tree, "s1", "/nowhere"), Some(("scope_unavailable", Some("cwd_missing"), None)));
    assert_eq!(omission(&tree, "s", "/ws"), Some(("candidate_not_found", None, None)), "the id must be the whole one");
    tree.fs.file(scope("/ws").join("twin.jsonl"), clean::transcript("s1", "/ws", "").as_bytes());
    assert_eq!(omission(&tree, "s1", "/ws"), Some(("candidate_ambiguous", None, Some(2))));
    tree.fs.file(scope("/ws").join("bad.jsonl"), b"oops\n");
    assert_eq!(omission(&tree, "bad", "/ws"), Some(("candidate_invalid", Some("unreadable_candidate"), None)));
    tree.fs.file("/a/sessions/--ws--", b"");
    assert_eq!(omission(&tree, "s1", "/ws"), Some(("candidate_scan_failed", Some("scan_failed"), None)));
    let before = saved::saved(&World { release: Release::V0_15, ..tree.world() }, "s1", Path::new("/ws"));
    assert_eq!(before, Reply::default(), "0.15 leaves it out without a word");
}

/// One chain with a compaction, whose last message is the user's.
fn chain() -> String {
    let entry = |id: &str, parent: &str, rest: &str| {
        format!("{{\"id\":\"{id}\",\"parentId\":\"{parent}\",\"timestamp\":\"2026-01-01T00:00:01.000Z\",{rest}}}\n")
    };
    let mut text = clean::transcript("large", "/ws", "");
    text += &entry("p", "e0000001", "\"type\":\"custom\",\"customType\":\"n\"");
    text += &entry("k", "p", "\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryId\":\"p\",\"tokensBefore\":1");
    text += &entry("z", "k", "\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"go on\",\"timestamp\":1}");
    text
}

#[test]
fn a_large_session_is_continued_only_where_the_user_spoke_last() {
    let tree = Tree::new();
    let path = Path::new("/mine/large.jsonl");
    tree.fs.file(path, chain().as_bytes());
    // As one that is too large to be loaded whole: the bound, and what the inspection said of it, are set down here.
    let look = || {
        let refused = Refused { reason: "oversized", size: None, detail: String::new() };
        Look { tail: Tail::Error(refused), bounded: Some(bounded_above(&tree.world(), path, 0)), throws: None }
    };
    let opening = |look: &Look, purpose| super::proceed::open(&tree.world(), path, look, None, purpose);
    let opens = |terminal| Opening::Opens { path: path.to_owned(), migrated: false, terminal };
    assert_eq!(opening(&look(), For::Continue), opens(false));
    let cold = ColdIdentity::sample(&tree.fs, path).unwrap();
    assert_eq!(cold.session_id.to_string(), "large");
    let answer =
        "{\"type\":\"message\",\"id\":\"y\",\"parentId\":\"z\",\"timestamp\":\"t\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n";
    tree.fs.append(path, answer.as_bytes());
    assert_eq!(cold.still_holds(&tree.fs), Err(ColdFault::Changed));
    let answered = look();
    assert_eq!(opening(&answered, For::Resume), opens(true));
    let continued = opening(&answered, For::Continue);
    assert!(matches!(continued, Opening::PassedOver { reason: "terminal", .. }), "{continued:?}");
}

#[test]
fn a_staged_transcript_is_never_resumed_whether_it_is_there_or_not() {
    let tree = Tree::new();
    let staged = scope("/ws").join(".staging/attempt.jsonl");
    let resumed = |tree: &Tree| {
        let world = tree.world();
        let meant = resolve(&world, staged.as_os_str(), Path::new("/ws"), None);
        Resume::new(&world, "x".into(), &meant, budget::DEFAULT, |path, look| {
            super::proceed::open(&world, path, look, super::proceed::managed_of(&world, path).as_ref(), For::Resume)
        })
    };
    for _ in 0..2 {
        let answer = resumed(&tree);
        assert_eq!((answer.action, answer.message.as_deref()), ("fails", Some("Staged session paths are not resumable")));
        tree.fs.file(&staged, clean::transcript("s9", "/ws", "").as_bytes());
    }
}

#[test]
fn a_session_whose_next_move_is_the_users_is_continued_too() {
    let tree = Tree::new();
    let answer = "{\"type\":\"message\",\"id\":\"zz\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:09.000Z\",\"message\":{\"role\":\"assistant\",\"content\":[],\"api\":\"x\",\"provider\":\"p\",\"model\":\"m\",\"stopReason\":\"stop\",\"timestamp\":1}}\n";
    tree.fs.append(path("/ws", "s2"), answer.as_bytes());
    tree.date(path("/ws", "s2"), 9);
    let proceeding = tree.proceeds(Destination::Managed);
    let end = proceeding.end().map(|step| &step.opening);
    assert!(matches!(end, Some(Opening::Opens { terminal: true, .. })), "{:?}", proceeding.steps);
}

#[test]
fn the_sdk_looks_once_more_at_a_file_that_moved() {
    let tree = Tree::new();
    let moved = std::sync::atomic::AtomicBool::new(false);
    let once = crate::fsys::Inject::new(&tree.fs, |call| {
        let is_read = call.op == "read" && call.phase == crate::fsys::Phase::After && call.path == path("/ws", "s1");
        if is_read && !moved.swap(true, std::sync::atomic::Ordering::Relaxed) {
            tree.fs.append(path("/ws", "s1"), b"\n");
        }
        None
    });
    let reply = saved::saved(&World { fs: &once, ..tree.world() }, "s1", Path::new("/ws"));
    assert!(reply.saved_session.is_some(), "{reply:?}");
    assert!(moved.load(std::sync::atomic::Ordering::Relaxed), "it did move");
}

#[test]
fn whoever_may_not_look_below_the_sessions_root_is_told_so() {
    let tree = Tree::new();
    let refusing = crate::fsys::Inject::new(&tree.fs, |call| {
        (call.op == "lstat" && call.path == scope("/other")).then_some(crate::fsys::Errno::ACCESS)
    });
    let picked = picker::of_all(&World { fs: &refusing, ..tree.world() });
    let told: Vec<_> = picked.skipped.iter().map(|skipped| (&*skipped.path, &*skipped.why)).collect();
    assert_eq!(told, [(&*scope("/other"), "it cannot be looked at: EACCES")]);
}
