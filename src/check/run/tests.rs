//! A clean agent directory, and one fault at a time: each test names the fault, the exact findings, and near misses.

mod breadcrumbs;
mod cases;
mod discovery;
mod inspector;
mod managed;
mod owner;
mod protocol;
mod quota;
mod retirement;

use super::*;
use crate::agent::binding::canonical_text;
use crate::agent::identity::{Identity, Platform};
use crate::agent::layout::{LOCKS, RECEIPTS, RECOVERY, STAGING, TOMBSTONES};
use crate::corpus::clean;
use crate::fsys::{Acl, Inject, Memory, NO_ATTRIBUTE, Phase};
use std::sync::Mutex;

const NAME: &str = "2026-01-01T00-00-00-000Z_s1.jsonl";
const DAY_NS: i128 = 24 * 3600 * 1_000_000_000;

/// A workspace and an agent directory with one scope, one transcript and one blob: nothing is wrong with it.
struct Tree {
    fs: Memory,
    scope: String,
}

fn identity(path: &str) -> Identity {
    Identity { platform: Platform::Posix, canonical_path: path.into() }
}

fn text(id: &str, more: &str) -> String {
    clean::transcript(id, "/ws", more)
}

impl Tree {
    fn new() -> Self {
        let fs = Memory::new();
        fs.directory("/ws");
        fs.directory("/a");
        let scope = format!("/a/sessions/{}", identity("/ws").directory_name());
        fs.plant(&scope, &clean::scope(&identity("/ws"), [(NAME, text("s1", "").as_str())]));
        Tree { fs, scope }
    }
    /// The path of something in the scope.
    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.scope)
    }
    fn transcript(&self) -> String {
        self.at(NAME)
    }
}

fn options() -> Options {
    // The clock of the tree in memory stands at this instant.
    Options { jobs: Some(1), ..Options::new(Release::V0_17, 1000, 1_700_000_000_000_000_000) }
}

fn checked(fs: &dyn Fs, target: &str, options: &Options) -> Run {
    run(vec![Target::Path(target.into())], options, fs, &|_| {})
}

/// `code path` of every finding, sorted; the scope directory is called `SCOPE`, the transcript `TRANSCRIPT`.
fn found_in(run: &Run) -> Vec<String> {
    let scope = identity("/ws").directory_name();
    let mut all: Vec<String> = run
        .findings
        .iter()
        .map(|f| format!("{} {}", f.code.name, f.place.path).replace(&format!("sessions/{scope}"), "SCOPE").replace(NAME, "TRANSCRIPT"))
        .collect();
    all.sort();
    all
}

fn found(tree: &Tree) -> Vec<String> {
    found_in(&checked(&tree.fs, "/a", &options()))
}

/// The findings after one change to the clean tree.
fn after(change: impl FnOnce(&Tree)) -> Vec<String> {
    let tree = Tree::new();
    change(&tree);
    found(&tree)
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_clean_agent_directory_gives_nothing() {
    let tree = Tree::new();
    let run = checked(&tree.fs, "/a", &options());
    assert_eq!(found_in(&run), NOTHING);
    assert_eq!(run.outcomes.len(), 1);
    assert_eq!(run.outcomes[0].id.as_deref(), Some("s1"));
    assert_eq!(run.speaks_for, Some((1000, Why::Effective)));
    assert_eq!(run.blobs.as_deref(), Some("blobs"));
}

// binding

#[test]
fn binding_missing() {
    assert_eq!(after(|t| t.fs.remove(t.at(BINDING))), ["binding_missing SCOPE"]);
}

#[test]
fn binding_invalid_at_each_step_and_no_other_code() {
    let good = String::from_utf8(canonical_text(&identity("/ws"))).unwrap();
    let with = |text: &str| {
        after(|t| {
            t.fs.remove(t.at(BINDING));
            t.fs.file(t.at(BINDING), text.as_bytes());
        })
    };
    assert_eq!(with(&good), NOTHING, "near miss");
    let invalid = [format!("binding_invalid SCOPE/{BINDING}")];
    for text in ["", "{", "[]", good.trim_end(), &good.replace(":1,", ":1.0,"), &format!("\u{feff}{good}"), &"x".repeat(2 << 20)] {
        assert_eq!(with(text), invalid, "{text:.40}");
    }
    let directory = after(|t| {
        t.fs.remove(t.at(BINDING));
        t.fs.directory(t.at(BINDING));
    });
    assert_eq!(directory, invalid);
}

#[test]
fn binding_conflict() {
    let conflict = after(|t| {
        t.fs.remove(t.at(BINDING));
        t.fs.directory("/elsewhere");
        t.fs.file(t.at(BINDING), &canonical_text(&identity("/elsewhere")));
    });
    assert_eq!(conflict, [format!("binding_conflict SCOPE/{BINDING}")]);
}

#[test]
fn a_binding_that_is_a_link_or_has_two_names_has_codes_of_its_own() {
    let link = after(|t| {
        t.fs.rename(t.at(BINDING), "/elsewhere");
        t.fs.symlink(t.at(BINDING), "/elsewhere");
    });
    assert_eq!(link, [format!("reparse_point SCOPE/{BINDING}")]);
    let linked = after(|t| t.fs.hard_link(t.at(BINDING), "/elsewhere"));
    assert_eq!(linked, [format!("hard_linked_protocol_file SCOPE/{BINDING}")]);
    let fifo = after(|t| {
        t.fs.remove(t.at(BINDING));
        t.fs.special(t.at(BINDING), Kind::Fifo);
    });
    assert_eq!(fifo, [format!("special_file SCOPE/{BINDING}")]);
}

// scope

#[test]
fn workspace_missing() {
    let missing = after(|t| t.fs.remove("/ws"));
    assert!(missing.contains(&"workspace_missing SCOPE".to_owned()), "{missing:?}");
    let moved = after(|t| {
        t.fs.remove("/ws");
        t.fs.file("/ws", b"");
    });
    assert!(moved.contains(&"workspace_missing SCOPE".to_owned()), "{moved:?}");
}

#[test]
fn a_scope_name_that_no_digest_has() {
    let name = identity("/ws").directory_name();
    let malformed = |name: &str| {
        let path = format!("/a/sessions/{name}");
        after(|t| t.fs.directory(&path))
    };
    let never = format!("{}b", &name[..name.len() - 1]);
    assert_eq!(malformed(&never), [format!("scope_name_malformed sessions/{never}")]);
    assert_eq!(malformed("v2-short"), ["scope_name_malformed sessions/v2-short"]);
}

#[test]
fn unknown_scope_dir_names_the_workspaces_of_what_is_in_it() {
    let tree = Tree::new();
    tree.fs.file("/a/sessions/old/2026-01-01T00-00-00-000Z_s2.jsonl", text("s2", "").as_bytes());
    let run = checked(&tree.fs, "/a", &options());
    assert_eq!(found_in(&run), ["unknown_scope_dir sessions/old"]);
    assert!(run.findings[0].message.contains("/ws"), "{}", run.findings[0].message);
    for reserved in [".gjc-recovery", ".task-artifact-owners", ".task-artifact-owner-locks"] {
        assert_eq!(after(|t| t.fs.directory(format!("/a/sessions/{reserved}"))), NOTHING, "{reserved}");
    }
}

#[test]
fn sessions_root_unavailable() {
    let unavailable = ["sessions_root_unavailable sessions"];
    let replaced = |make: &dyn Fn(&Memory)| {
        after(|t| {
            t.fs.rename("/a/sessions", "/moved");
            t.fs.directory("/a/blobs");
            make(&t.fs);
        })
    };
    assert_eq!(replaced(&|fs| fs.symlink("/a/sessions", "/moved")), unavailable);
    assert_eq!(replaced(&|fs| fs.file("/a/sessions", b"")), unavailable);
    assert_eq!(replaced(&|fs| fs.special("/a/sessions", Kind::Fifo)), unavailable);
    assert_eq!(replaced(&|_| {}), NOTHING, "an agent directory without sessions");
}

#[test]
fn a_network_workspace() {
    let path = r"\\?\UNC\host\share";
    let windows = Identity { platform: Platform::Win32, canonical_path: path.into() };
    let name = windows.directory_name();
    let network = after(|t| t.fs.file(format!("/a/sessions/{name}/{BINDING}"), &canonical_text(&windows)));
    assert_eq!(network, [format!("network_unsupported sessions/{name}")]);
    let local = Identity { platform: Platform::Win32, canonical_path: r"\\?\Volume{0}\a".into() };
    let name = local.directory_name();
    let here = after(|t| t.fs.file(format!("/a/sessions/{name}/{BINDING}"), &canonical_text(&local)));
    assert_eq!(here, [format!("workspace_missing sessions/{name}")]);
}

// security

#[test]
fn mode_mismatch_is_about_scope_directories() {
    assert_eq!(after(|t| t.fs.chmod(&t.scope, 0o755)), ["mode_mismatch SCOPE"]);
    assert_eq!(after(|t| t.fs.chmod(&t.scope, 0o2700)), NOTHING, "set-gid is ignored");
}

#[test]
fn agent_dir_mode_drift() {
    assert_eq!(after(|t| t.fs.chmod("/a", 0o755)), ["agent_dir_mode_drift ."]);
    assert_eq!(after(|t| t.fs.chmod("/a/sessions", 0o750)), ["agent_dir_mode_drift sessions"]);
    assert_eq!(after(|t| t.fs.set_acl("/a", Acl::Access, Ok(28))), ["agent_dir_mode_drift ."]);
}

#[test]
fn descendant_mode_drift() {
    assert_eq!(after(|t| t.fs.chmod(t.transcript(), 0o644)), ["descendant_mode_drift SCOPE/TRANSCRIPT"]);
    assert_eq!(after(|t| t.fs.chmod(t.at(BINDING), 0o400)), [format!("descendant_mode_drift SCOPE/{BINDING}")]);
    let locks = format!("{INTERNAL}/{LOCKS}");
    assert_eq!(after(|t| t.fs.chmod(t.at(&locks), 0o755)), [format!("descendant_mode_drift SCOPE/{locks}")]);
    let artifacts = |mode| {
        after(|t| {
            t.fs.file(t.at("2026-01-01T00-00-00-000Z_s1/sub/0.bash.log"), b"");
            t.fs.chmod(t.at("2026-01-01T00-00-00-000Z_s1/sub"), mode);
            t.fs.chmod(t.at("2026-01-01T00-00-00-000Z_s1/sub/0.bash.log"), 0o644);
        })
    };
    assert_eq!(artifacts(0o755), ["descendant_mode_drift SCOPE/2026-01-01T00-00-00-000Z_s1/sub"]);
    assert_eq!(artifacts(0o700), NOTHING, "the mode of an artifact file is nobody's affair");
}

#[test]
fn recovery_dir_invalid() {
    let agent = format!("/a/{RECOVERY}");
    for change in [0o755, 0o700] {
        let found = after(|t| {
            t.fs.directory(&agent);
            t.fs.chmod(&agent, change);
        });
        let expected: &[&str] = if change == 0o700 { &[] } else { &["recovery_dir_invalid .gjc-recovery"] };
        assert_eq!(found, expected, "{change:o}");
    }
    assert_eq!(after(|t| t.fs.symlink(&agent, "/ws")), ["recovery_dir_invalid .gjc-recovery"]);
    assert_eq!(after(|t| t.fs.file(t.at(RECOVERY), b"")), ["recovery_dir_invalid SCOPE/.gjc-recovery"]);
}

#[test]
fn owner_mismatch_is_reported_where_it_begins() {
    assert_eq!(after(|t| t.fs.set(t.transcript(), |m| m.uid = 7)), ["owner_mismatch SCOPE/TRANSCRIPT"]);
    let copied = after(|t| {
        for (path, _) in t.fs.snapshot() {
            t.fs.set(path, |m| m.uid = 7);
        }
    });
    assert_eq!(copied, ["owner_mismatch .", "owner_mismatch SCOPE", "owner_mismatch sessions"]);
}

#[test]
fn each_answer_to_an_acl_query_has_its_code() {
    let answers = [
        (Ok(28), "acl_present"),
        (Ok(0), "acl_malformed"),
        (Err(Errno::ACCESS), "acl_denied"),
        (Err(Errno::PERM), "acl_denied"),
        (Err(Errno::IO), "acl_io_error"),
        (Err(Errno::RANGE), "acl_unknown"),
    ];
    for (answer, code) in answers {
        assert_eq!(after(|t| t.fs.set_acl(&t.scope, Acl::Default, answer)), [format!("{code} SCOPE")]);
        assert_eq!(after(|t| t.fs.set_acl(t.transcript(), Acl::Access, answer)), [format!("{code} SCOPE/TRANSCRIPT")]);
    }
    assert_eq!(after(|t| t.fs.set_acl(&t.scope, Acl::Default, Err(NO_ATTRIBUTE))), NOTHING);
}

#[test]
fn a_file_system_without_acls_is_named_once() {
    let unsupported = |t: &Tree| {
        for (path, _) in t.fs.snapshot() {
            t.fs.set_acl(&path, Acl::Access, Err(Errno::OPNOTSUPP));
            t.fs.set_acl(&path, Acl::Default, Err(Errno::OPNOTSUPP));
        }
    };
    assert_eq!(after(unsupported), ["acl_unsupported_fs ."]);
    let tree = Tree::new();
    unsupported(&tree);
    assert_eq!(found_in(&checked(&tree.fs, &tree.scope, &options())), ["acl_unsupported_fs ."], "a scope alone");
}

#[test]
fn reparse_point_wherever_a_managed_object_is_a_link() {
    let replaced = |name: &str| {
        after(|t| {
            let path = if name.is_empty() { t.scope.clone() } else { t.at(name) };
            t.fs.rename(&path, "/moved");
            t.fs.symlink(&path, "/moved");
        })
    };
    assert_eq!(replaced(""), ["reparse_point SCOPE"]);
    assert_eq!(replaced(NAME), ["reparse_point SCOPE/TRANSCRIPT"]);
    assert_eq!(replaced(INTERNAL), [format!("reparse_point SCOPE/{INTERNAL}")]);
    for name in [LOCKS, RECEIPTS, TOMBSTONES] {
        assert_eq!(replaced(&format!("{INTERNAL}/{name}")), [format!("reparse_point SCOPE/{INTERNAL}/{name}")]);
    }
    let file = after(|t| {
        t.fs.remove(&t.scope);
        t.fs.file(&t.scope, b"");
    });
    assert_eq!(file, ["reparse_point SCOPE"]);
}

#[test]
fn hard_linked_transcript_names_the_other_name() {
    let tree = Tree::new();
    let other = tree.at(&format!(".{NAME}.01234567-89ab-cdef-0123-456789abcdef.staging"));
    tree.fs.hard_link(tree.transcript(), &other);
    let run = checked(&tree.fs, "/a", &options());
    let finding = run.findings.iter().find(|f| f.code.name == "hard_linked_transcript").expect("the link is found");
    assert_eq!(finding.related.len(), 1);
    assert!(other.ends_with(&*finding.related[0].place.path), "{}", finding.related[0].place.path);
    assert!(finding.related[0].note.contains("surplus"), "{}", finding.related[0].note);
}

#[test]
fn transcripts_outside_scopes() {
    let legacy = "/a/sessions/--ws--/2026-01-01T00-00-00-000Z_s2.jsonl";
    let plain = |t: &Tree| t.fs.file(legacy, text("s2", "").as_bytes());
    let security = |change: &dyn Fn(&Tree)| {
        let tree = Tree::new();
        plain(&tree);
        change(&tree);
        let run = checked(&tree.fs, "/a", &options());
        let area = |f: &&Finding| f.code.area == "security";
        run.findings.iter().filter(area).map(|f| f.code.name).collect::<Vec<_>>()
    };
    assert_eq!(security(&|_| {}), NOTHING);
    assert_eq!(security(&|t| t.fs.chmod(legacy, 0o644)), ["transcript_permissions"]);
    assert_eq!(security(&|t| t.fs.chmod(legacy, 0o611)), NOTHING, "not readable");
    let linked = |t: &Tree| {
        t.fs.rename(legacy, "/moved");
        t.fs.symlink(legacy, "/moved");
    };
    assert_eq!(security(&linked), ["symlinked_transcript"]);
    assert_eq!(security(&|t| t.fs.hard_link(legacy, "/second")), ["hard_linked_transcript"]);
}

#[test]
fn retirement_receipts_without_a_workspace() {
    let tree = Tree::new();
    tree.fs.file(tree.at(&format!("{INTERNAL}/{RECEIPTS}/gc-retirement-x")), b"");
    tree.fs.remove("/ws");
    let mismatch = |options: &Options| {
        checked(&tree.fs, "/a", options).findings.iter().any(|finding| finding.code.name == "managed_gc_scope_authority_mismatch")
    };
    assert!(mismatch(&options()));
    let copied = Options { assume_root: Some("/home/ana/.gjc/agent".into()), ..options() };
    assert!(!mismatch(&copied), "the workspaces of a copy exist where it came from");
}

// operational

#[test]
fn what_is_not_there() {
    let fs = Memory::new();
    let at = |target: &str| found_in(&checked(&fs, target, &options()));
    fs.symlink("/dangling", "/nowhere");
    fs.symlink("/loop", "loop");
    fs.file("/file", b"");
    assert_eq!(at("/none"), ["agent_dir_missing /none"]);
    assert_eq!(at("/dangling"), ["agent_dir_missing /dangling"]);
    assert_eq!(at("/file/x"), ["agent_dir_missing /file/x"]);
    assert_eq!(at("/none.jsonl"), ["missing /none.jsonl"]);
    fs.file("/some.jsonl", text("s1", "").as_bytes());
    assert_eq!(at("/some.jsonl"), NOTHING, "near miss: it exists");
    assert_eq!(at("/loop"), ["object_unreadable /loop"]);
    let own = |path: &str| found_in(&run(vec![Target::Agent(Location::explicit(path.into()))], &options(), &fs, &|_| {}));
    assert_eq!(own("/none"), ["agent_dir_missing /none"]);
    assert_eq!(own("/dangling"), ["agent_dir_missing /dangling"]);
    assert_eq!(own("/loop"), ["sessions_root_unavailable ."]);
    assert_eq!(own("/file"), ["sessions_root_unavailable ."]);
    fs.directory("/empty");
    assert_eq!(own("/empty"), NOTHING);
    assert_eq!(at("/empty"), ["agent_dir_missing ."], "a named folder that holds nothing may be a slip");
    fs.file("/texts/notes.txt", b"hello");
    let run = checked(&fs, "/texts", &options());
    assert_eq!(run.findings[0].message, "Nothing to check in /texts: no transcript, scope or agent directory found.");
    fs.special("/pipes/a", Kind::Fifo);
    assert_eq!(at("/pipes"), ["agent_dir_missing ."], "what nobody opens is nothing that was checked");
    fs.special("/pipes/a.jsonl", Kind::Fifo);
    assert_eq!(at("/pipes"), ["read_failed a.jsonl"], "near miss: it is named like a transcript, and refused as one");
}

#[test]
fn a_transcript_that_is_no_file() {
    assert_eq!(after(|t| t.fs.directory(t.at("x.jsonl"))), ["read_failed SCOPE/x.jsonl"]);
    for kind in [Kind::Fifo, Kind::Socket, Kind::Device] {
        assert_eq!(after(|t| t.fs.special(t.at("x.jsonl"), kind)), ["read_failed SCOPE/x.jsonl"], "{kind:?}");
        assert_eq!(after(|t| t.fs.special(t.at("x"), kind)), ["special_file SCOPE/x"], "{kind:?}");
    }
    let fs = Memory::new();
    fs.special("/pipe", Kind::Fifo);
    assert_eq!(found_in(&checked(&fs, "/pipe", &options())), ["read_failed /pipe"]);
    assert_eq!(after(|t| t.fs.file(t.at("2026-01-01T00-00-00-000Z_x.jsonl"), text("x", "").as_bytes())), NOTHING, "near miss: a file");
}

#[test]
fn special_files_and_foreign_bytes_in_names_anywhere_below() {
    use std::os::unix::ffi::OsStrExt;
    let artifact = "2026-01-01T00-00-00-000Z_s1/0.bash.log";
    let found = after(|t| t.fs.special(t.at(artifact), Kind::Fifo));
    assert_eq!(found, [format!("special_file SCOPE/{artifact}"), format!("unsafe_artifacts SCOPE/{artifact}")]);
    let lock = format!("{INTERNAL}/{LOCKS}/x.lock");
    assert!(after(|t| t.fs.special(t.at(&lock), Kind::Socket)).contains(&format!("special_file SCOPE/{lock}")));
    let named = |name: &[u8]| {
        let folder = "2026-01-01T00-00-00-000Z_s1";
        after(|t| t.fs.file(Path::new(&t.at(folder)).join(std::ffi::OsStr::from_bytes(name)), b""))
    };
    assert_eq!(named(b"0.\xff.log"), ["name_not_utf8 SCOPE/2026-01-01T00-00-00-000Z_s1/0.\\xff.log"]);
    assert_eq!(named(b"0.y.log"), NOTHING, "near miss: another letter");
    assert_eq!(after(|t| t.fs.file(t.at(artifact), b"")), NOTHING, "near miss: a file");
}

#[test]
fn an_unreadable_directory_or_transcript_is_not_judged() {
    let tree = Tree::new();
    let denied = |op: &'static str, path: String| {
        let inject = Inject::new(&tree.fs, move |call| {
            (call.op == op && call.phase == Phase::Before && call.path == Path::new(&path)).then_some(Errno::ACCESS)
        });
        found_in(&checked(&inject, "/a", &options()))
    };
    assert_eq!(denied("opendir", "/elsewhere".into()), NOTHING, "near miss");
    assert_eq!(denied("opendir", tree.scope.clone()), ["object_unreadable SCOPE"]);
    assert_eq!(denied("opendir", "/a/sessions".into()), ["object_unreadable sessions"]);
    assert_eq!(denied("opendir", "/a".into()), ["object_unreadable ."]);
    assert_eq!(denied("open", tree.transcript()), ["read_failed SCOPE/TRANSCRIPT"]);
    assert_eq!(denied("read", tree.transcript()), ["read_failed SCOPE/TRANSCRIPT"]);
    assert_eq!(denied("open", tree.at(BINDING)), [format!("object_unreadable SCOPE/{BINDING}")]);
    // Another user's rights prove nothing about what gjc, run by that user, would meet.
    let inject = Inject::new(&tree.fs, |call| (call.op == "open" && call.phase == Phase::Before).then_some(Errno::ACCESS));
    let found = found_in(&checked(&inject, &tree.transcript(), &Options { uid: 7, as_uid: Some(1000), ..options() }));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_transcript_that_keeps_moving_is_unstable_and_one_that_moved_once_is_not() {
    for (times, expected) in [(1, vec![]), (100, vec!["unstable SCOPE/TRANSCRIPT".to_owned()])] {
        let tree = Tree::new();
        let left = Mutex::new(times);
        let inject = Inject::new(&tree.fs, |call| {
            let mut left = left.lock().unwrap();
            if call.op == "read" && call.phase == Phase::After && call.path == Path::new(&tree.transcript()) && *left > 0 {
                *left -= 1;
                tree.fs.append(tree.transcript(), clean::label("x").as_bytes());
            }
            None
        });
        assert_eq!(found_in(&checked(&inject, "/a", &options())), expected, "{times}");
    }
}

/// A scope that its parent's listing named a moment ago.
#[test]
fn what_vanishes_while_it_is_looked_at_changed() {
    let vanishing = |gone: bool| {
        let tree = Tree::new();
        let inject = Inject::new(&tree.fs, |call| {
            if gone && call.op == "opendir" && call.phase == Phase::Before && call.path == Path::new(&tree.scope) {
                tree.fs.rename(&tree.scope, "/moved");
            }
            None
        });
        found_in(&checked(&inject, "/a", &options()))
    };
    assert_eq!(vanishing(true), ["concurrent_change SCOPE"]);
    assert_eq!(vanishing(false), NOTHING, "near miss");
}

#[test]
fn the_largest_files_end_at_once() {
    let oversized = after(|t| t.fs.sparse(t.at("2026-01-01T00-00-00-000Z_big.jsonl"), 1 << 40));
    assert_eq!(oversized, ["oversized SCOPE/2026-01-01T00-00-00-000Z_big.jsonl", "scope_capacity_exceeded SCOPE"]);
}

#[test]
fn what_lies_in_a_legacy_directory_is_opened_as_a_copy() {
    let legacy = "/a/sessions/--ws--/2026-01-01T00-00-00-000Z_s2.jsonl";
    let tree = Tree::new();
    tree.fs.sparse(legacy, (128 << 20) + 1);
    for (target, path) in [("/a", "sessions/--ws--/2026-01-01T00-00-00-000Z_s2.jsonl"), (legacy, legacy)] {
        let run = checked(&tree.fs, target, &options());
        let oversized: Vec<_> = run.findings.iter().filter(|finding| finding.code.name == "oversized").collect();
        assert_eq!(oversized.len(), 1, "{target}");
        assert_eq!(&*oversized[0].place.path, path);
        assert!(oversized[0].message.contains("gjc opens a legacy transcript as a copy"), "{}", oversized[0].message);
    }
}

// header, listing

#[test]
fn filename_header_mismatch_needs_an_agent_directory() {
    let renamed = |t: &Tree| t.fs.rename(t.transcript(), t.at("2026-01-01T00-00-00-000Z_s9.jsonl"));
    assert_eq!(after(renamed), ["filename_header_mismatch SCOPE/2026-01-01T00-00-00-000Z_s9.jsonl"]);
    let tree = Tree::new();
    renamed(&tree);
    assert_eq!(found_in(&checked(&tree.fs, &tree.at("2026-01-01T00-00-00-000Z_s9.jsonl"), &options())), NOTHING, "alone");
}

#[test]
fn parent_session_dangling() {
    let child = |parent: &str| {
        let tree = Tree::new();
        let more = format!(",\"parentSession\":\"{parent}\"");
        tree.fs.file(tree.at("2026-01-01T00-00-00-000Z_s2.jsonl"), text("s2", &more).as_bytes());
        let run = checked(&tree.fs, "/a", &options());
        run.findings.iter().filter(|f| f.code.name == "parent_session_dangling").count()
    };
    assert_eq!(child("s1"), 0);
    assert_eq!(child("s3"), 1);
    assert_eq!(child(&Tree::new().transcript()), 0);
    assert_eq!(child("/nowhere/x.jsonl"), 1);
    let tree = Tree::new();
    tree.fs.file("/folder/x.jsonl", text("s2", ",\"parentSession\":\"s3\"").as_bytes());
    assert_eq!(found_in(&checked(&tree.fs, "/folder", &options())), NOTHING, "without an agent directory nobody knows");
}

#[test]
fn session_in_wrong_directory() {
    let name = "2026-01-01T00-00-00-000Z_s2.jsonl";
    assert_eq!(after(|t| t.fs.file(format!("/a/{name}"), text("s2", "").as_bytes())), [format!("session_in_wrong_directory {name}")]);
    assert_eq!(
        after(|t| t.fs.file(format!("/a/sessions/{name}"), text("s2", "").as_bytes())),
        [format!("session_in_wrong_directory sessions/{name}")]
    );
    assert_eq!(after(|t| t.fs.file(t.at(name), text("s2", "").as_bytes())), NOTHING, "near miss: in the scope");
}

// blob store

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A tree whose transcript refers to the blob in its prose.
fn with_blob() -> Tree {
    let tree = Tree::new();
    tree.fs.file(format!("/a/blobs/{ABC}"), b"abc");
    tree.fs.append(tree.transcript(), clean::label(&format!("blob:sha256:{ABC}f")).as_bytes());
    tree
}

/// Blob findings a day and more after everything was written.
fn blob_findings(tree: &Tree) -> Vec<String> {
    let later = Options { now_ns: options().now_ns + 2 * DAY_NS, ..options() };
    let run = checked(&tree.fs, "/a", &later);
    let mut all: Vec<String> = found_in(&run).into_iter().filter(|f| f.starts_with("blob_")).collect();
    all.iter_mut().for_each(|f| *f = f.replace(ABC, "ABC"));
    all
}

#[test]
fn a_referenced_blob_is_sound() {
    assert_eq!(blob_findings(&with_blob()), NOTHING);
}

#[test]
fn blob_unreferenced_after_a_day() {
    let tree = with_blob();
    tree.fs.remove(tree.transcript());
    assert_eq!(blob_findings(&tree), ["blob_unreferenced blobs/ABC"]);
    assert_eq!(blob_findings(&with_blob()), NOTHING, "referred to by a transcript");
    assert_eq!(found(&tree), NOTHING, "within the grace of 24 hours");
}

#[test]
fn blob_gc_hazard_when_only_others_refer_to_it() {
    for place in ["2026-01-01T00-00-00-000Z_s1/0-Child.md", ".staging/a.jsonl", "old.jsonl.0123456789abcdef.bak"] {
        let tree = with_blob();
        tree.fs.remove(tree.transcript());
        tree.fs.file(tree.at(place), format!("see blob:sha256:{ABC}").as_bytes());
        assert_eq!(blob_findings(&tree), ["blob_gc_hazard blobs/ABC"], "{place}");
        tree.fs.file(tree.transcript(), format!("{}{}", text("s1", ""), clean::label(&format!("blob:sha256:{ABC}f"))).as_bytes());
        assert_eq!(blob_findings(&tree), NOTHING, "near miss: a transcript refers to it too");
    }
    let tree = with_blob();
    tree.fs.remove(tree.transcript());
    tree.fs.file("/ws/.gjc/sessions/x.jsonl", format!("blob:sha256:{ABC}").as_bytes());
    assert_eq!(blob_findings(&tree), ["blob_gc_hazard blobs/ABC"], "a project transcript of the workspace");
}

#[test]
fn blob_scan_incomplete_withholds_claims() {
    let tree = with_blob();
    tree.fs.rename(&tree.scope, "/moved");
    tree.fs.symlink(&tree.scope, "/moved");
    tree.fs.sparse("/a/sessions/--x--/2026-01-01T00-00-00-000Z_big.jsonl", 1 << 40);
    assert_eq!(blob_findings(&tree), ["blob_scan_incomplete blobs"]);
    tree.fs.remove("/a/sessions/--x--/2026-01-01T00-00-00-000Z_big.jsonl");
    tree.fs.remove(&tree.scope);
    tree.fs.rename("/moved", &tree.scope);
    assert_eq!(blob_findings(&tree), NOTHING, "near miss: everything can be read");
}

#[test]
fn blob_hash_mismatch() {
    let tree = with_blob();
    tree.fs.append(format!("/a/blobs/{ABC}"), b"d");
    assert_eq!(blob_findings(&tree), ["blob_hash_mismatch blobs/ABC"]);
    assert_eq!(blob_findings(&with_blob()), NOTHING, "near miss: the bytes that the name says");
    let quick = Options { depth: Depth::Quick, ..options() };
    assert_eq!(found_in(&checked(&tree.fs, "/a", &quick)), NOTHING, "a quick check hashes nothing");
}

#[test]
fn a_named_store_is_asked_for_what_a_lone_transcript_refers_to() {
    let tree = with_blob();
    let named = |tree: &Tree| {
        let options = Options { blobs: Some("/a/blobs".into()), ..options() };
        let run = checked(&tree.fs, &tree.transcript(), &options);
        (run.blobs.clone(), found_in(&run))
    };
    assert_eq!(named(&tree), (Some("/a/blobs".into()), vec![]));
    tree.fs.append(format!("/a/blobs/{ABC}"), b"d");
    tree.fs.file(format!("/a/blobs/{}", "0".repeat(64)), b"damaged, but nothing refers to it");
    assert_eq!(named(&tree).1, [format!("blob_hash_mismatch /a/blobs/{ABC}")]);
    let absent = Options { blobs: Some("/none".into()), ..options() };
    assert_eq!(found_in(&checked(&tree.fs, &tree.transcript(), &absent)), ["object_unreadable /none"]);
}

#[test]
fn descriptors_that_run_out_are_a_limit_of_the_run() {
    let tree = Tree::new();
    let inject = Inject::new(&tree.fs, |call| (call.op == "open" && call.phase == Phase::Before).then_some(Errno::MFILE));
    let mut found = found_in(&checked(&inject, "/a", &options()));
    found.dedup();
    assert_eq!(found, [format!("check_incomplete SCOPE/{BINDING}"), "check_incomplete SCOPE/TRANSCRIPT".into()]);
    let busy = Inject::new(&tree.fs, |call| (call.op == "open" && call.phase == Phase::Before).then_some(Errno::IO));
    assert!(
        !found_in(&checked(&busy, "/a", &options())).iter().any(|found| found.starts_with("check_incomplete")),
        "near miss: EIO is no limit"
    );
}

#[test]
fn names_of_the_blob_store() {
    let named = |name: &str| {
        let tree = with_blob();
        tree.fs.file(format!("/a/blobs/{name}"), b"abc");
        (blob_findings(&tree), found(&tree).len())
    };
    assert_eq!(named(&format!("{ABC}.tmp.1.2.ab")), (vec!["blob_temp_left blobs/ABC.tmp.1.2.ab".into()], 0));
    assert_eq!(named(&format!(".gjc-gc-blob-{ABC}")), (vec!["blob_gc_interrupted blobs/.gjc-gc-blob-ABC".into()], 1));
    assert_eq!(named("notes.txt"), (vec!["blob_foreign_entry blobs/notes.txt".into()], 1));
    assert_eq!(named(ABC), (vec![], 0), "near miss of all three: the name of its bytes");
}

#[test]
fn a_blob_that_is_linked_or_readable_by_others() {
    let tree = with_blob();
    tree.fs.hard_link(format!("/a/blobs/{ABC}"), "/second");
    assert_eq!(blob_findings(&tree), ["blob_foreign_entry blobs/ABC"]);
    let tree = with_blob();
    tree.fs.chmod(format!("/a/blobs/{ABC}"), 0o644);
    tree.fs.chmod("/a/blobs", 0o755);
    assert_eq!(blob_findings(&tree), ["blob_permissions blobs", "blob_permissions blobs/ABC"]);
    tree.fs.chmod(format!("/a/blobs/{ABC}"), 0o600);
    tree.fs.chmod("/a/blobs", 0o700);
    assert_eq!(blob_findings(&tree), NOTHING, "near miss: as gjc makes them");
    let tree = with_blob();
    tree.fs.rename("/a/blobs", "/moved");
    tree.fs.symlink("/a/blobs", "/moved");
    assert_eq!(blob_findings(&tree), ["blob_foreign_entry blobs"], "a linked store is not followed");
}

// whom the check speaks for, and where the copy came from

#[test]
fn whom_the_check_speaks_for() {
    let tree = Tree::new();
    let speaks = |options: Options| {
        let run = checked(&tree.fs, "/a", &options);
        (run.speaks_for, run.findings.len())
    };
    assert_eq!(speaks(Options { uid: 0, ..options() }), (Some((1000, Why::Owner)), 0));
    assert_eq!(speaks(Options { uid: 7, ..options() }).0, Some((7, Why::Effective)));
    assert_eq!(speaks(Options { uid: 7, as_uid: Some(1000), ..options() }), (Some((1000, Why::Asked)), 0));
    assert_eq!(checked(&tree.fs, &tree.transcript(), &options()).speaks_for, None);
}

#[test]
fn a_copied_directory_is_judged_as_if_it_lay_where_it_came_from() {
    let tree = Tree::new();
    let more = format!(",\"parentSession\":\"/home/ana/.gjc/agent/sessions/{}/{NAME}\"", identity("/ws").directory_name());
    tree.fs.file(tree.at("2026-01-01T00-00-00-000Z_s2.jsonl"), text("s2", &more).as_bytes());
    let dangling = |assume_root: Option<PathBuf>| {
        let run = checked(&tree.fs, "/a", &Options { assume_root, ..options() });
        run.findings.iter().filter(|f| f.code.name == "parent_session_dangling").count()
    };
    assert_eq!(dangling(None), 1);
    assert_eq!(dangling(Some("/home/ana/.gjc/agent".into())), 0);
}

// shapes of targets

#[test]
fn a_target_is_what_its_content_says() {
    let tree = Tree::new();
    let paths = |target: &str| checked(&tree.fs, target, &options()).outcomes.iter().map(|o| o.path.to_string()).collect::<Vec<_>>();
    let scope = identity("/ws").directory_name();
    assert_eq!(paths("/a"), [format!("sessions/{scope}/{NAME}")]);
    assert_eq!(paths("/a/sessions"), [format!("{scope}/{NAME}")]);
    assert_eq!(paths(&tree.scope), [NAME]);
    assert_eq!(paths(&tree.transcript()), [tree.transcript()]);
    tree.fs.file("/folder/b/x.jsonl", text("x", "").as_bytes());
    tree.fs.file("/folder/.git/y.jsonl", b"");
    tree.fs.file("/folder/a.jsonl", text("a", "").as_bytes());
    assert_eq!(paths("/folder"), ["a.jsonl", "b/x.jsonl"]);
    tree.fs.symlink("/link", "/folder");
    assert_eq!(paths("/link"), ["a.jsonl", "b/x.jsonl"], "a link that the user names is followed");
}

#[test]
fn under_xdg_the_data_root_is_the_agent_directory() {
    let tree = Tree::new();
    tree.fs.directory("/home/.gjc/agent");
    tree.fs.chmod("/home/.gjc/agent", 0o755);
    let location = Location { data: "/a".into(), ..Location::explicit("/home/.gjc/agent".into()) };
    let own = || run(vec![Target::Agent(location.clone())], &options(), &tree.fs, &|_| {});
    assert_eq!(found_in(&own()), NOTHING, "gjc never looks at the mode of the configuration's directory");
    assert_eq!((own().root.as_str(), own().outcomes.len()), ("/a", 1));
    tree.fs.chmod("/a", 0o755);
    assert_eq!(found_in(&own()), ["agent_dir_mode_drift ."]);
}

#[test]
fn the_agent_directory_inside_a_home_or_configuration_root_is_meant() {
    let tree = Tree::new();
    tree.fs.directory("/home/.gjc");
    tree.fs.rename("/a", "/home/.gjc/agent");
    let paths = |target: &str| checked(&tree.fs, target, &options()).outcomes.iter().map(|o| o.path.to_string()).collect::<Vec<_>>();
    let scope = identity("/ws").directory_name();
    assert_eq!(paths("/home/.gjc"), [format!("agent/sessions/{scope}/{NAME}")]);
    assert_eq!(paths("/home"), [format!(".gjc/agent/sessions/{scope}/{NAME}")]);
}

#[test]
fn several_targets_keep_their_names_apart() {
    let tree = Tree::new();
    tree.fs.file("/folder/a.jsonl", b"");
    let targets = vec![Target::Path("/folder".into()), Target::Path("folder/a.jsonl".into()), Target::Stream(Box::new(std::io::empty()))];
    let run = run(targets, &options(), &tree.fs, &|_| {});
    let paths: Vec<&str> = run.outcomes.iter().map(|o| &*o.path).collect();
    assert_eq!(paths, ["-", "/folder/a.jsonl", "folder/a.jsonl"]);
    assert_eq!(run.root, "/folder folder/a.jsonl -");
}

#[test]
fn progress_counts_every_transcript() {
    let tree = Tree::new();
    let last = Mutex::new(Progress::default());
    run(vec![Target::Path("/a".into())], &options(), &tree.fs, &|progress| *last.lock().unwrap() = progress);
    let last = *last.lock().unwrap();
    assert_eq!((last.done, last.total, last.bytes > 0), (1, 1, true));
}

// hostility

/// The tree of the race tests: everything that the walk opens.
fn rich() -> Tree {
    let tree = with_blob();
    tree.fs.file(tree.at("2026-01-01T00-00-00-000Z_s1/0.bash.log"), b"log");
    tree.fs.file(tree.at("2026-01-01T00-00-00-000Z_s1/1-A/.gjc-replace-cleanup-x"), b"x");
    let (commit, tail) = crate::agent::sidecar::tests::sound(&tree.fs.lstat(Path::new(&tree.transcript())).unwrap());
    tree.fs.file(tree.at("2026-01-01T00-00-00-000Z_s1/.session-memory.spill.commit"), commit.as_bytes());
    tree.fs.file(tree.at("2026-01-01T00-00-00-000Z_s1/.session-memory.spill.tail"), tail.as_bytes());
    tree.fs.file("/a/sessions/.task-artifact-owners/owner-1/0.bash.log", b"log");
    tree.fs.file(tree.at(&format!("{STAGING}/x.jsonl")), b"");
    tree.fs.file("/a/sessions/--x--/2026-01-01T00-00-00-000Z_s2.jsonl", text("s2", "").as_bytes());
    tree.fs.file("/secret/private", format!("blob:sha256:{} SECRET", "0".repeat(64)).as_bytes());
    tree
}

fn operations(tree: &Tree) -> u64 {
    let counting = Inject::new(&tree.fs, |_| None);
    checked(&counting, "/a", &options());
    counting.operations()
}

/// At every operation once, each of its objects fails, vanishes, is renamed, swapped for a link, or grows: the run ends,
/// says so, and nothing behind a link is ever opened.
#[test]
fn a_race_at_every_operation_ends_well() {
    type Change = fn(&Memory, &Path);
    let changes: [(&str, Change); 4] = [
        ("removed", |fs, path| fs.remove(path)),
        ("renamed", |fs, path| fs.rename(path, "/renamed")),
        ("swapped for a link", |fs, path| {
            fs.rename(path, "/swapped");
            fs.symlink(path, "/secret/private");
        }),
        ("grown", |fs, path| fs.append(path, b"\n{\"x\":1}\n")),
    ];
    let total = operations(&rich());
    assert!(total > 100, "the walk does something: {total}");
    for (what, change) in changes {
        for position in 0..total {
            let tree = rich();
            let opened = Mutex::new(Vec::new());
            let inject = Inject::new(&tree.fs, |call| {
                if call.op == "open" && call.phase == Phase::After {
                    opened.lock().unwrap().push(call.path.to_owned());
                }
                if call.number == position && call.phase == Phase::Before && call.path != Path::new("/a") {
                    change(&tree.fs, call.path);
                }
                None
            });
            let run = checked(&inject, "/a", &options());
            let opened = opened.lock().unwrap();
            assert!(
                opened.iter().all(|path| !path.starts_with("/secret") && !path.starts_with("/swapped")),
                "{what} at {position}: {opened:?}"
            );
            let invented = run.findings.iter().any(|f| f.message.contains("SECRET"));
            assert!(!invented, "{what} at {position}");
        }
    }
}

/// Whatever fails and goes on failing shows: the run says something else than the undisturbed one.
#[test]
fn a_failing_operation_is_told() {
    let calls = Mutex::new(BTreeSet::new());
    let undisturbed = {
        let tree = rich();
        let noting = Inject::new(&tree.fs, |call| {
            calls.lock().unwrap().insert((call.op, call.path.to_owned()));
            None
        });
        let run = checked(&noting, "/a", &options());
        (found_in(&run), run.outcomes)
    };
    let mut silent = Vec::new();
    // What is absent is absent for whoever asks again; and a close that fails after everything was read takes nothing away.
    let mut calls = calls.into_inner().unwrap();
    let there = rich();
    calls.retain(|(op, path)| there.fs.lstat(path).is_ok() && *op != "close");
    for (op, path) in calls {
        for errno in [Errno::IO, Errno::ACCESS, Errno::MFILE] {
            let tree = rich();
            let fails = |call: &crate::fsys::Call<'_>| call.op == op && call.path == path && call.phase == Phase::Before;
            let inject = Inject::new(&tree.fs, |call| fails(call).then_some(errno));
            let run = checked(&inject, "/a", &options());
            if (found_in(&run), run.outcomes) == undisturbed {
                silent.push(format!("{} from {op} {}", crate::fsys::errno_name(errno), path.display()));
            }
        }
    }
    assert!(silent.is_empty(), "passed in silence:\n{}", silent.join("\n"));
}

/// One operation that fails once is no damage: what is said beyond the undisturbed run is that something could not be read,
/// or gjc's own answer to such a failure.
#[test]
fn a_failure_at_every_operation_invents_nothing() {
    let undisturbed = found(&rich());
    let mut invented = BTreeSet::new();
    for errno in [Errno::IO, Errno::ACCESS, Errno::MFILE] {
        for position in 0..operations(&rich()) {
            let tree = rich();
            let inject = Inject::new(&tree.fs, |call| (call.number == position && call.phase == Phase::Before).then_some(errno));
            let run = checked(&inject, "/a", &options());
            for finding in run.findings.iter().filter(|finding| finding.code.area != "operational") {
                let line = found_in(&Run { findings: vec![finding.clone()], ..Run::default() }).remove(0);
                if !undisturbed.contains(&line) {
                    invented.insert((finding.code.name, crate::fsys::errno_name(errno)));
                }
            }
        }
    }
    // What of it gjc would answer, asked at that moment; and that the search for references was not whole.
    const ANSWERS: [&str; 9] = [
        "acl_denied",
        "acl_io_error",
        "acl_unknown",
        "blob_scan_incomplete",
        "cwd_io_error",
        "listed_but_not_openable",
        "openable_but_not_listed",
        "sessions_root_unavailable",
        "workspace_missing",
    ];
    invented.retain(|(code, _)| !ANSWERS.contains(code));
    assert!(invented.is_empty(), "{invented:?}");
}

#[test]
fn checking_changes_nothing_and_is_deterministic() {
    let tree = rich();
    let before = tree.fs.snapshot();
    let first = checked(&tree.fs, "/a", &Options { jobs: Some(4), ..options() });
    let second = checked(&tree.fs, "/a", &options());
    assert_eq!(tree.fs.snapshot(), before);
    assert_eq!(first.findings, second.findings);
    assert_eq!(first.outcomes, second.outcomes);
}
