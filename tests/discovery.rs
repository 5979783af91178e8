//! What `list --recent|--picker|--inventory`, `resume` and `continue` show, on an agent directory in memory: times and inodes
//! are the same in every run.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test may")]

use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::predict;
use gjc_fsck::agent::world::World;
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::host::Nowhere;
use gjc_fsck::fsys::{Errno, Inject, Memory};
use gjc_fsck::render::discovery;
use gjc_fsck::render::human::Layout;
use gjc_fsck::session::discovery::answer::{Continue, List, Resume, TerminalName};
use gjc_fsck::session::discovery::proceed::{self, Destination, For, proceed};
use gjc_fsck::session::discovery::search::Search;
use gjc_fsck::session::discovery::{inventory, picker, recent, resolve};
use gjc_fsck::transcript::context::budget;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

const PAGE: Layout = Layout { colour: false, width: 80, quiet: false };
const HOUR_NS: i128 = 3_600_000_000_000;

fn identity(path: &str) -> Identity {
    Identity { platform: Platform::Posix, canonical_path: path.into() }
}
fn scope(workspace: &str) -> PathBuf {
    Path::new("/agent/sessions").join(identity(workspace).directory_name())
}
fn path(workspace: &str, id: &str) -> PathBuf {
    scope(workspace).join(clean::name(id))
}

/// `/ws` has a sound session, a starred one, a broken one, one with a hostile title, a file that is none, a legacy session, a
/// project transcript; `/other` has one session. In `/mine` lie a session, a link to it and an orphaned backup.
fn agent() -> Memory {
    let fs = Memory::new();
    let star = "{\"type\":\"header_patch\",\"patch\":{\"starred\":true}}\n";
    let text = |id: &str, more: &str| clean::transcript(id, "/ws", more);
    let texts = [
        ("sound", text("sound", ",\"title\":\"Cache the parser\"")),
        ("starred", text("starred", ",\"title\":\"Keep this\"") + star),
        ("broken", text("broken", ",\"title\":\"Torn at the end\"") + "oops\n"),
        ("hostile", text("hostile", ",\"title\":\"\\u001b[31m\u{202e}한글 제목\"")),
        ("null", text("null", "") + "null\n"),
    ];
    for (workspace, texts) in [("/ws", &texts[..]), ("/other", &[("elsewhere", clean::transcript("elsewhere", "/other", ""))])] {
        fs.directory(workspace);
        let named: Vec<(String, &str)> = texts.iter().map(|(id, text)| (clean::name(id), text.as_str())).collect();
        fs.plant(scope(workspace), &clean::scope(&identity(workspace), named.iter().map(|(name, text)| (name.as_str(), *text))));
    }
    fs.file(scope("/ws").join("garbage.jsonl"), b"garbage\n");
    fs.file("/agent/sessions/--ws--/2025-12-31T00-00-00-000Z_old.jsonl", text("old", "").as_bytes());
    fs.file("/ws/.gjc/agent-session/p.jsonl", text("project", "").as_bytes());
    fs.file("/mine/a.jsonl", text("mine", "").as_bytes());
    fs.symlink("/mine/link.jsonl", "a.jsonl");
    fs.file("/mine/b.jsonl.016a.bak", text("backup", "").as_bytes());
    fs.file("/mine/.hidden.jsonl", b"");
    let dated = [
        path("/ws", "sound"),
        path("/ws", "starred"),
        path("/ws", "broken"),
        path("/ws", "hostile"),
        path("/ws", "null"),
        scope("/ws").join("garbage.jsonl"),
        path("/other", "elsewhere"),
        "/agent/sessions/--ws--/2025-12-31T00-00-00-000Z_old.jsonl".into(),
        "/ws/.gjc/agent-session/p.jsonl".into(),
        "/mine/a.jsonl".into(),
        "/mine/link.jsonl".into(),
        "/mine/b.jsonl.016a.bak".into(),
    ];
    for (hours, path) in dated.iter().enumerate() {
        fs.set(path, |meta| meta.mtime_ns = (hours as i128 * 9 + 1) * HOUR_NS);
    }
    fs
}
fn world(fs: &Memory) -> World<'_> {
    World { now_ms: (100 * HOUR_NS / 1_000_000) as u64, ..World::of_agent(fs, &Nowhere, Release::V0_17, 1000, "/agent") }
}
fn shown(list: &List) -> String {
    discovery::list(list, PAGE)
}

fn recent_list(fs: &Memory) -> List {
    let scope = predict::resolve(&world(fs), Path::new("/ws")).unwrap();
    List::recent(&world(fs), "/ws".into(), recent::of_scope(&world(fs), &scope, recent::LIMIT))
}
fn picker_list(fs: &Memory) -> List {
    List::picker(&world(fs), "/ws".into(), picker::of_workspace(&world(fs), Path::new("/ws")), Vec::new())
}

#[test]
fn the_recent_list() {
    let fs = agent();
    insta::assert_snapshot!("recent", shown(&recent_list(&fs)));
    insta::assert_snapshot!("recent-concise", discovery::list_concise(&recent_list(&fs)));
    let limited = List::recent(&world(&fs), "/ws".into(), recent::list(&world(&fs), &scope("/ws"), 1, false));
    assert!(shown(&limited).contains("beyond the limit, not shown"), "{}", shown(&limited));
}

#[test]
fn the_picker() {
    let fs = agent();
    insta::assert_snapshot!("picker", shown(&picker_list(&fs)));
    let (picked, restored) = picker::of_directory(&world(&fs), Path::new("/mine"));
    insta::assert_snapshot!("picker-of-a-directory", shown(&List::picker(&world(&fs), "/mine".into(), picked, restored)));
    let all = List::picker(&world(&fs), "all workspaces".into(), picker::of_all(&world(&fs)), Vec::new());
    insta::assert_snapshot!("picker-of-all-concise", discovery::list_concise(&all));
    let nowhere = picker::of_workspace(&world(&fs), Path::new("/nowhere"));
    insta::assert_snapshot!("picker-refused", shown(&List::picker(&world(&fs), "/nowhere".into(), nowhere, Vec::new())));
}

#[test]
fn the_strict_inventory() {
    let fs = agent();
    insta::assert_snapshot!("inventory", shown(&List::inventory("/ws".into(), inventory::of_workspace(&world(&fs), Path::new("/ws")))));
    fs.file("/mine/bad.jsonl", b"oops\n");
    let failing = inventory::of_directory(&world(&fs), Path::new("/mine"), Path::new("/other"));
    insta::assert_snapshot!("inventory-fails", shown(&List::inventory("/mine".into(), failing)));
}

#[test]
fn a_search_keeps_what_it_finds() {
    let fs = agent();
    let ids = |query: &str| {
        let found = picker_list(&fs).found(&Search::new(query));
        found.sessions.iter().map(|row| row.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids("PARSER cache"), ["sound"]);
    assert_eq!(ids("agent-session"), ["project"], "a path counts");
    assert_eq!(ids("hello torn"), ["broken"], "the first message counts");
    assert_eq!(ids("nothing like it"), Vec::<String>::new());
}

fn resumed(fs: &Memory, asked: &str, cwd: &str) -> Resume {
    let world = world(fs);
    let meant = resolve::resolve(&world, OsStr::new(asked), Path::new(cwd), None);
    Resume::new(&world, asked.into(), &meant, budget::DEFAULT, |path, look| {
        proceed::open(&world, path, look, proceed::managed_of(&world, path).as_ref(), For::Resume)
    })
}

#[test]
fn resume_says_what_is_taken_and_why() {
    let fs = agent();
    let told = |asked: &str, cwd: &str| discovery::resume(&resumed(&fs, asked, cwd), " --agent-dir /agent", PAGE);
    insta::assert_snapshot!("resume-several", told("S", "/ws"));
    insta::assert_snapshot!("resume-broken", told("broken", "/ws"));
    insta::assert_snapshot!("resume-legacy", told("old", "/ws"));
    insta::assert_snapshot!("resume-of-another-workspace", told("else", "/ws"));
    insta::assert_snapshot!("resume-nobody", told("nobody", "/ws"));
    assert!(told("/mine/new.jsonl", "/ws").starts_with("◆ nothing stands at this path"));
    assert!(told("/mine/link.jsonl", "/ws").starts_with("✓"), "a path may be a link");
    let concise = |asked: &str| discovery::resume_concise(&resumed(&fs, asked, "/ws"));
    insta::assert_snapshot!("resume-concise", ["S", "broken", "nobody", "/mine/new.jsonl"].map(concise).concat());
}

#[test]
fn what_keeps_a_session_from_being_found_is_named() {
    let fs = agent();
    let refusing = Inject::new(&fs, |call| (call.op == "opendir" && call.path == Path::new("/agent/sessions")).then_some(Errno::ACCESS));
    let world = World { fs: &refusing, ..world(&fs) };
    let meant = resolve::resolve(&world, OsStr::new("elsewhere"), Path::new("/nowhere"), None);
    let answer = Resume::new(&world, "elsewhere".into(), &meant, budget::DEFAULT, |_, _| unreachable!("nothing is opened"));
    assert_eq!((answer.action, answer.refused.as_ref().map(|refused| refused.code)), ("not_found", Some("cwd_missing")));
    let left_out: Vec<(&str, &str)> = answer.left_out.iter().map(|one| (&*one.path, &*one.why)).collect();
    assert_eq!(left_out, [("/agent/sessions", "the directory cannot be listed: EACCES")]);
    insta::assert_snapshot!("resume-unreadable", discovery::resume(&answer, "", PAGE));
    // A file with such a name that no list shows.
    insta::assert_snapshot!("resume-not-listed", discovery::resume(&resumed(&agent(), "garb", "/ws"), "", PAGE));
}

fn continued(fs: &Memory, crumb: Option<&str>) -> Continue {
    let file = "/agent/terminal-sessions/pts-3";
    if let Some(text) = crumb {
        fs.file(file, text.as_bytes());
    }
    let terminal = TerminalName { id: "pts-3".into(), from: "--terminal".into(), file: file.into() };
    let proceeding = proceed(&world(fs), Path::new("/ws"), Destination::Managed, Some(Path::new(file)), budget::DEFAULT);
    Continue::new(Path::new("/ws"), Some(terminal), proceeding)
}

#[test]
fn continue_says_what_is_opened_and_what_is_passed_over() {
    let told = |crumb: Option<&str>, change: &dyn Fn(&Memory)| {
        let fs = agent();
        change(&fs);
        discovery::proceed(&continued(&fs, crumb), "", PAGE)
    };
    let crumb = format!("/ws\n{}\n", path("/ws", "sound").display());
    insta::assert_snapshot!("continue-breadcrumb", told(Some(&crumb), &|_| {}));
    // The project transcript is the latest; without it the legacy session, and behind that the broken ones.
    let broken = |fs: &Memory| {
        fs.remove("/ws/.gjc/agent-session/p.jsonl");
        fs.remove("/agent/sessions/--ws--/2025-12-31T00-00-00-000Z_old.jsonl");
        fs.append(path("/ws", "hostile"), b"oops\n");
    };
    insta::assert_snapshot!("continue-passed-over", told(Some("/elsewhere\n/gone.jsonl\n"), &broken));
    insta::assert_snapshot!("continue-new", told(None, &|fs| fs.remove("/ws")));
    let fs = agent();
    insta::assert_snapshot!("continue-concise", discovery::proceed_concise(&continued(&fs, Some("one line"))));
}

#[test]
fn every_line_fits_its_terminal_and_draws_nothing_on_it() {
    let fs = agent();
    fs.file("/mine/bad.jsonl", b"oops\n");
    let lists = [
        recent_list(&fs),
        picker_list(&fs),
        List::inventory("/mine".into(), inventory::of_directory(&world(&fs), Path::new("/mine"), Path::new("/ws"))),
    ];
    for width in [40, 57, 80, 120, 400] {
        let layout = Layout { width, ..PAGE };
        let mut pages: Vec<String> = lists.iter().map(|list| discovery::list(list, layout)).collect();
        pages.extend(
            ["S", "broken", "else", "nobody", "/mine/x.jsonl"].map(|asked| discovery::resume(&resumed(&fs, asked, "/ws"), "", layout)),
        );
        pages.push(discovery::proceed(&continued(&fs, Some("/ws\n/gone/with/a/long/name/that/does/not/fit.jsonl\n")), "", layout));
        for page in pages {
            for line in page.lines() {
                // A path is never broken, however wide it is; what stands before it is short.
                let path = line.split_whitespace().last().filter(|word| word.contains(['/', '.'])).map_or(0, UnicodeWidthStr::width);
                let is_long = path + 24 > width;
                assert!(is_long || line.width() <= width, "{width}: {} columns: {line}", line.width());
            }
            assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
        }
    }
}
