//! Locks, receipts, tombstones, residue, artifacts, legacy directories and listings: one fault at a time in a clean agent
//! directory, with its exact findings and a near miss.

use super::*;
use crate::agent::candidates::{Provenance, look, path_text};
use crate::agent::legacy::Surroundings;
use crate::agent::lock::Lock;
use crate::agent::migration_receipt::{DirectoryIdentity, ManifestEntry, Party, Placeholder, Quarantine, Receipt, State};
use crate::agent::record::{TranscriptIdentity, Tree as Recorded, TreeEntry};
use crate::agent::replacement_receipt as replacement;
use crate::agent::residue::Inode;
use crate::agent::tombstone::{self, CleanupState, cleanup_name};
use sha2::{Digest, Sha256};

pub(super) const UUID: &str = "47173f68-71c9-4058-8e21-0e199166ede8";
pub(super) const DEAD: f64 = 2_147_483_646.0;
pub(super) const LEGACY: &str = "/a/sessions/--ws--";

pub(super) fn op() -> String {
    "c".repeat(64)
}
/// Codes only, without places, of what was found. That two transcripts share their history is true of every pair here and
/// judged elsewhere.
pub(super) fn codes_of(found: &[String]) -> Vec<&str> {
    found.iter().filter_map(|line| line.split(' ').next()).filter(|code| *code != "shared_history").collect()
}
pub(super) fn codes_after(change: impl FnOnce(&Tree)) -> Vec<String> {
    codes_of(&after(change)).into_iter().map(str::to_owned).collect()
}
fn under(release: Release, change: impl FnOnce(&Tree)) -> Vec<String> {
    let tree = Tree::new();
    change(&tree);
    found_in(&checked(&tree.fs, "/a", &Options { release, ..options() }))
}

// lock

pub(super) fn lock(pid: f64, expires: f64, released: Option<bool>) -> Vec<u8> {
    let lock = Lock {
        attempt_id: UUID.into(),
        pid,
        boot_id: None,
        process_start_id: UUID.into(),
        created_at: 1.0,
        heartbeat_at: 1.0,
        lease_expires_at: expires,
        released,
    };
    lock.encode()
}
pub(super) fn with_lock(name: &str, bytes: &[u8]) -> Vec<String> {
    codes_after(|t| t.fs.file(t.at(&format!("{INTERNAL}/{LOCKS}/{name}")), bytes))
}

#[test]
fn locks_by_lease_and_owner() {
    let name = format!("{}.lock", op());
    let now = 1_700_000_000_000.0;
    let me = f64::from(std::process::id());
    assert_eq!(with_lock(&name, &lock(DEAD, now + 1.0, None)), ["lock_held"], "the lease runs");
    assert_eq!(with_lock(&name, &lock(DEAD, 1.0, None)), ["lock_held"], "expired, owner gone");
    assert_eq!(with_lock(&name, &lock(me, 1.0, None)), ["lock_expired_unproven"]);
    assert_eq!(with_lock(&name, &lock(me, now + 1.0, Some(true))), NOTHING, "released: the resting state");
}
#[test]
fn locks_that_do_not_parse() {
    let name = format!("{}.lock", op());
    assert_eq!(with_lock(&name, b""), ["managed_gc_protocol_lock_invalid"]);
    assert_eq!(with_lock(&name, b"{"), ["managed_gc_protocol_lock_invalid"]);
    let directory = codes_after(|t| t.fs.directory(t.at(&format!("{INTERNAL}/{LOCKS}/{name}"))));
    assert_eq!(directory, ["managed_gc_protocol_lock_invalid"]);
}
#[test]
fn names_in_locks() {
    let released = lock(DEAD, 1.0, Some(true));
    assert_eq!(with_lock("x.lock", &released), ["managed_gc_protocol_lock_role_invalid"]);
    assert_eq!(with_lock(&format!("gc-retirement-{}.lock", op()), &released), NOTHING);
    assert_eq!(with_lock(&format!(".gc-lock-{UUID}.stale"), b""), ["managed_gc_protocol_lock_role_invalid"]);
    assert_eq!(with_lock(&format!(".gjc-lock-{UUID}.stale"), b""), ["lock_residue"]);
    assert_eq!(with_lock(&format!(".gjc-lock-{UUID}.stale"), b"x"), ["managed_gc_protocol_lock_quarantine_invalid"]);
}
#[test]
fn exclusive_locks() {
    let with = |text: &str| codes_after(|t| t.fs.file(t.at("broker.lock"), text.as_bytes()));
    let me = std::process::id();
    assert_eq!(with(&format!("{{\"pid\":{DEAD},\"token\":\"t\"}}\n")), ["exclusive_lock_stale", "foreign_file"]);
    assert_eq!(with(&format!("{{\"pid\":{me},\"token\":\"t\"}}\n")), ["foreign_file"]);
    assert_eq!(with("oops"), ["exclusive_lock_invalid", "foreign_file"]);
    assert_eq!(with(&format!("{{\"pid\":{me}}}{}", " ".repeat(4_096))), ["exclusive_lock_invalid", "foreign_file"]);
}

// migration receipts and legacy transcripts

fn captured(tree: &Tree, path: &str) -> TranscriptIdentity {
    look(&tree.fs, Release::V0_17, Path::new(path), Provenance::V2).unwrap().identity(&tree.fs).unwrap()
}
pub(super) fn read(tree: &Tree, path: &str) -> String {
    let captured = crate::fsys::capture(&tree.fs, Path::new(path), crate::fsys::Bound::Ceiling(1 << 20)).unwrap();
    String::from_utf8(captured.bytes).unwrap()
}
pub(super) fn legacy(tree: &Tree) -> String {
    let path = format!("{LEGACY}/{NAME}");
    tree.fs.file(&path, text("s1", "").as_bytes());
    tree.fs.chmod(LEGACY, 0o700);
    path
}
fn digest() -> String {
    identity("/ws").digest_text()
}
pub(super) fn receipt(tree: &Tree, state: State) -> (String, Receipt) {
    let (source, destination) = (format!("{LEGACY}/{NAME}"), tree.transcript());
    let party = |path: &str| Party {
        path: path_text(Path::new(path)),
        session_id: "s1".into(),
        cwd: "/ws".into(),
        identity: tree.fs.present(Path::new(path)).unwrap().then(|| captured(tree, path)),
    };
    let receipt = Receipt {
        state,
        attempt_id: UUID.into(),
        scope: digest(),
        source: party(&source),
        destination: party(&destination),
        manifest: Vec::new(),
        quarantine: None,
        cleanup: None,
        detach_outcome: None,
    };
    (state.file_name(&receipt.source.identity.as_ref().unwrap().operation()), receipt)
}
pub(super) fn put_receipt(tree: &Tree, (name, receipt): (String, Receipt)) -> String {
    let path = tree.at(&format!("{INTERNAL}/{RECEIPTS}/{name}"));
    tree.fs.file(&path, &receipt.encode());
    path
}
/// A migrated pair with its committed receipt.
pub(super) fn migrated(tree: &Tree) -> String {
    legacy(tree);
    put_receipt(tree, receipt(tree, State::Committed))
}
pub(super) fn edit(tree: &Tree, path: &str, from: &str, to: &str) {
    let text = read(tree, path);
    assert!(text.contains(from), "the edit must change something: {from}");
    tree.fs.remove(path);
    tree.fs.file(path, text.replacen(from, to, 1).as_bytes());
}

#[test]
fn a_migrated_pair_is_only_shadowed() {
    assert_eq!(codes_after(|t| _ = migrated(t)), ["legacy_shadowed"]);
}
#[test]
fn a_legacy_transcript_without_receipt_is_unmigrated_and_its_twin_a_duplicate() {
    let other = after(|t| {
        legacy(t);
        t.fs.remove(t.transcript());
    });
    assert_eq!(codes_of(&other), ["legacy_unmigrated"]);
    assert_eq!(codes_after(|t| _ = legacy(t)), ["duplicate_session_id", "legacy_unmigrated"]);
}
#[test]
fn a_stale_receipt_names_its_clause() {
    for (from, to) in [("\"cwd\":\"/ws\"}", "\"cwd\":\"/wz\"}"), ("\"mtimeNs\":\"1", "\"mtimeNs\":\"2"), ("\"ino\":\"", "\"ino\":\"9")] {
        let found = codes_after(|t| {
            let path = migrated(t);
            edit(t, &path, from, to);
        });
        assert_eq!(found, ["duplicate_session_id", "legacy_unmigrated", "migration_receipt_stale"], "{from}");
    }
}
#[test]
fn a_receipt_that_counts_as_none() {
    for (from, to) in [
        ("\"path\":\"/a/sessions/--ws--/", "\"path\":[\"/a/sessions/--ws--/"),
        ("copy-retain", "move"),
        ("\"artifactManifest\":[]", "\"artifactManifest\":{}"),
        ("{\"schemaVersion\":2", "{\"schemaVersion\":3"),
    ] {
        let found = codes_after(|t| {
            let path = migrated(t);
            if to.contains('[') {
                edit(t, &path, "\"path\":\"/a/sessions/--ws--/2026-01-01T00-00-00-000Z_s1.jsonl\"", "\"path\":7");
            } else {
                edit(t, &path, from, to);
            }
        });
        assert!(found.contains(&"managed_gc_protocol_migration_invalid".to_owned()), "{from}: {found:?}");
    }
    let garbage = codes_after(|t| t.fs.file(t.at(&format!("{INTERNAL}/{RECEIPTS}/{}.json", op())), b"oops"));
    assert_eq!(garbage, ["managed_gc_protocol_record_invalid"], "what is no JSON object has a word of its own");
}
#[test]
fn a_missing_half_of_a_migrated_pair() {
    let source = codes_after(|t| {
        migrated(t);
        t.fs.remove(LEGACY);
    });
    assert_eq!(source, ["migration_source_missing"]);
    let destination = codes_after(|t| {
        migrated(t);
        t.fs.remove(t.transcript());
    });
    assert_eq!(destination, ["legacy_unmigrated", "migration_destination_missing"]);
}
#[test]
fn an_unfinished_migration() {
    for state in [State::Prepared, State::ArtifactDetached, State::Published] {
        let found = codes_after(|t| {
            legacy(t);
            t.fs.remove(t.transcript());
            let mut unfinished = receipt(t, state);
            unfinished.1.destination.identity = None;
            put_receipt(t, unfinished);
        });
        assert_eq!(found, ["legacy_unmigrated", "managed_gc_protocol_migration_incomplete"], "{state:?}");
    }
    let foreign = codes_after(|t| t.fs.file(t.at(&format!("{INTERNAL}/{RECEIPTS}/x.json")), b"{}"));
    assert_eq!(foreign, ["managed_gc_protocol_migration_incomplete"]);
    let published = codes_after(|t| {
        let path = migrated(t);
        edit(t, &path, "committed", "published");
    });
    assert!(published.contains(&"managed_gc_protocol_migration_incomplete".to_owned()), "{published:?}");
}
/// The artifact root as a `prepared` receipt records it.
fn quarantine(tree: &Tree, ctime_off: i128) -> Quarantine {
    let root = format!("{LEGACY}/2026-01-01T00-00-00-000Z_s1");
    let meta = tree.fs.lstat(Path::new(&root)).unwrap();
    let entry = TreeEntry { ctime_ns: meta.ctime_ns + ctime_off, ..TreeEntry::of("".into(), &meta, None) };
    Quarantine {
        path: path_text(Path::new(&root)),
        detached_path: format!("{LEGACY}/.gjc-migrate-{}-artifacts", op()).into(),
        identity: DirectoryIdentity {
            dev: meta.dev,
            ino: meta.ino,
            size: meta.size,
            mtime_ns: meta.mtime_ns,
            parent_dev: 1,
            parent_ino: 1,
        },
        tree: Recorded { entries: vec![entry] },
    }
}
fn prepared_with(ctime_off: i128) -> Vec<String> {
    codes_after(|t| {
        legacy(t);
        t.fs.remove(t.transcript());
        t.fs.directory(format!("{LEGACY}/2026-01-01T00-00-00-000Z_s1"));
        let mut prepared = receipt(t, State::Prepared);
        prepared.1.quarantine = Some(quarantine(t, ctime_off));
        put_receipt(t, prepared);
    })
}
const PLACEHOLDER: &str = "/a/sessions/--ws--/.gjc-exact-unlink-placeholder-1-1";

/// A migrated pair whose receipt, of this state, records an exchange placeholder; after `change`, the findings at it.
fn placeholder_after(state: State, change: impl FnOnce(&Tree)) -> (Vec<String>, Vec<String>) {
    let tree = Tree::new();
    legacy(&tree);
    let root = format!("{LEGACY}/2026-01-01T00-00-00-000Z_s1");
    tree.fs.directory(&root);
    tree.fs.directory(PLACEHOLDER);
    let mut recorded = receipt(&tree, state);
    let parent = tree.fs.lstat(Path::new(LEGACY)).unwrap();
    let moved = quarantine(&tree, 0);
    tree.fs.remove(&root);
    let meta = tree.fs.lstat(Path::new(PLACEHOLDER)).unwrap();
    let entry = TreeEntry::of("".into(), &meta, None);
    let identity = DirectoryIdentity {
        dev: meta.dev,
        ino: meta.ino,
        size: meta.size,
        mtime_ns: meta.mtime_ns,
        parent_dev: parent.dev,
        parent_ino: parent.ino,
    };
    recorded.1.quarantine = Some(moved);
    recorded.1.cleanup = Some(Placeholder { retained_path: PLACEHOLDER.into(), identity, tree: Recorded { entries: vec![entry] } });
    put_receipt(&tree, recorded);
    change(&tree);
    let found = found(&tree);
    let told = found.iter().filter(|line| line.starts_with("exchange_placeholder_not_empty")).cloned().collect();
    (told, codes_of(&found).into_iter().map(str::to_owned).collect())
}
#[test]
fn an_exchange_placeholder_holds_something_or_is_another_directory() {
    let told = vec!["exchange_placeholder_not_empty sessions/--ws--/.gjc-exact-unlink-placeholder-1-1".to_owned()];
    let child = |tree: &Tree| tree.fs.file(format!("{PLACEHOLDER}/deep/payload"), b"x");
    let replaced = |tree: &Tree| {
        tree.fs.remove(PLACEHOLDER);
        tree.fs.directory(PLACEHOLDER);
    };
    let file = |tree: &Tree| {
        tree.fs.remove(PLACEHOLDER);
        tree.fs.file(PLACEHOLDER, b"");
    };
    for state in [State::Committed, State::ArtifactDetached, State::Published] {
        let at = |change: fn(&Tree)| placeholder_after(state, change).0;
        assert_eq!(at(|_| ()), NOTHING, "near miss: it is there and empty ({state:?})");
        assert_eq!((at(child), at(replaced), at(file)), (told.clone(), told.clone(), told.clone()), "{state:?}");
        assert_eq!(at(|tree| tree.fs.remove(PLACEHOLDER)), NOTHING, "near miss: it is gone ({state:?})");
    }
    // The receipt no longer matches, which has effects of its own.
    assert_eq!(placeholder_after(State::Committed, |_| ()).1, ["legacy_shadowed"]);
    let stale = placeholder_after(State::Committed, child).1;
    assert!(stale.contains(&"migration_receipt_stale".to_owned()), "{stale:?}");
}
/// Only the first name in it is asked for, and nothing of it is read or counted.
#[test]
fn a_placeholder_is_proven_empty_by_its_first_child() {
    let tree = Tree::new();
    for number in 0..100 {
        tree.fs.file(format!("/p/d/{number}"), b"");
    }
    let operations = |path: &str| {
        let inject = Inject::new(&tree.fs, |_| None);
        let facts = crate::agent::candidates::placeholder_facts(&inject, Path::new("/p"), Path::new(path)).unwrap();
        (facts.is_some_and(|facts| facts.empty), inject.operations())
    };
    tree.fs.directory("/p/none");
    tree.fs.file("/p/one/child", b"");
    let (empty, most) = operations("/p/one");
    assert!(!empty && operations("/p/none").0);
    assert_eq!(operations("/p/d"), (false, most), "a hundred children cost what one does");
}
#[test]
fn a_prepared_receipt_is_stale_when_the_root_moved() {
    assert_eq!(prepared_with(0), ["legacy_unmigrated", "managed_gc_protocol_migration_incomplete"]);
    assert_eq!(prepared_with(1), ["legacy_unmigrated", "managed_gc_protocol_migration_incomplete", "migration_prepared_stale"]);
}
#[test]
fn a_detached_artifact_root() {
    let found = after(|t| {
        legacy(t);
        t.fs.remove(t.transcript());
        t.fs.directory(format!("{LEGACY}/.gjc-migrate-{}-artifacts", op()));
    });
    assert_eq!(codes_of(&found), ["legacy_unmigrated", "migration_artifacts_detached"]);
    let near = codes_after(|t| {
        legacy(t);
        t.fs.remove(t.transcript());
        t.fs.directory(format!("{LEGACY}/.gjc-migrate-{}-artifacts", "C".repeat(64)));
    });
    assert_eq!(near, ["legacy_unmigrated"]);
}
#[test]
fn a_destination_that_is_taken() {
    let conflict = |make: &dyn Fn(&Tree)| {
        let found = codes_after(|t| {
            legacy(t);
            t.fs.remove(t.transcript());
            make(t);
        });
        found.contains(&"destination_conflict".to_owned())
    };
    assert!(conflict(&|t| t.fs.file(t.transcript(), text("s1", ",\"title\":\"x\"").as_bytes())), "other bytes");
    assert!(conflict(&|t| t.fs.file(t.at("other.jsonl"), text("s1", "").as_bytes())), "same id elsewhere");
    assert!(conflict(&|t| t.fs.symlink(t.transcript(), "/nowhere")), "dangling symlink");
    assert!(conflict(&|t| t.fs.directory(t.transcript())), "directory");
    assert!(!conflict(&|t| t.fs.file(t.transcript(), text("s1", "").as_bytes())), "the same bytes");
    assert!(!conflict(&|t| t.fs.file(t.at("2026-01-01T00-00-00-000Z_s2.jsonl"), text("s2", "").as_bytes())), "another session");
}
// legacy directories

#[test]
fn a_known_legacy_name_that_is_no_directory() {
    let with_home = |make: &dyn Fn(&Tree)| {
        let tree = Tree::new();
        make(&tree);
        let around = Surroundings { home: "/".into(), home_real: "/".into(), ..Surroundings::default() };
        found_in(&checked(&tree.fs, "/a", &Options { around, ..options() }))
    };
    assert_eq!(with_home(&|t| t.fs.file(LEGACY, b"")), ["scan_failed sessions/--ws--"]);
    assert_eq!(with_home(&|t| t.fs.symlink("/a/sessions/-ws", "/elsewhere")), ["scan_failed sessions/-ws"]);
    assert_eq!(with_home(&|t| t.fs.file("/a/sessions/-other", b"")), ["foreign_file sessions/-other"], "no listing asks for it");
}
#[test]
fn too_many_legacy_directories_are_a_capacity() {
    let many = |count: usize| {
        let tree = Tree::new();
        for n in 0..count {
            tree.fs.directory(format!("/a/sessions/-{n:04}"));
        }
        let run = checked(&tree.fs, "/a", &options());
        let gauge = run.gauges.iter().find(|gauge| gauge.name == "legacy_directories").map(|gauge| (gauge.used, gauge.limit));
        (codes_of(&found_in(&run)).into_iter().map(str::to_owned).collect::<Vec<_>>(), gauge)
    };
    assert_eq!(many(257), (vec!["legacy_directory_limit".to_owned()], Some((257, 256))));
    assert_eq!(many(256).0, ["limit_near"]);
    assert_eq!(many(100).0, NOTHING);
}
#[test]
fn mixed_cwds_in_one_legacy_directory() {
    let with = |cwd: &str| {
        codes_after(|t| {
            t.fs.directory("/ws2");
            legacy(t);
            t.fs.remove(t.transcript());
            let other = text("s2", "").replace("\"cwd\":\"/ws\"", &format!("\"cwd\":\"{cwd}\""));
            t.fs.file(format!("{LEGACY}/2026-01-01T00-00-00-000Z_s2.jsonl"), other.as_bytes());
        })
    };
    assert_eq!(with("/ws2"), ["legacy_dir_mixed_cwd", "legacy_unmigrated", "legacy_unmigrated"]);
    assert_eq!(with("/ws"), ["legacy_unmigrated", "legacy_unmigrated"]);
}

// listing

#[test]
fn header_cwds_that_do_not_resolve() {
    for (cwd, make, code) in
        [("/gone", None, "cwd_not_found"), ("/file", Some(Kind::File), "cwd_not_directory"), ("/loop", Some(Kind::Symlink), "cwd_io_error")]
    {
        let found = codes_after(|t| {
            match make {
                Some(Kind::File) => t.fs.file(cwd, b""),
                Some(_) => t.fs.symlink(cwd, cwd),
                None => {}
            }
            t.fs.remove(t.transcript());
            t.fs.file(t.transcript(), text("s1", "").replace("\"cwd\":\"/ws\"", &format!("\"cwd\":\"{cwd}\"")).as_bytes());
        });
        assert!(found.contains(&code.to_owned()), "{cwd}: {found:?}");
    }
    assert_eq!(codes_after(|_| {}), NOTHING, "near miss of all: the workspace of the scope");
}
#[test]
fn a_transcript_of_another_workspace_is_counted() {
    let found = after(|t| {
        t.fs.directory("/ws2");
        let other = text("s2", "").replace("\"cwd\":\"/ws\"", "\"cwd\":\"/ws2\"");
        t.fs.file(t.at("2026-01-01T00-00-00-000Z_s2.jsonl"), other.as_bytes());
    });
    assert_eq!(found, ["foreign_transcript SCOPE"]);
    assert_eq!(after(|t| t.fs.file(t.at("2026-01-01T00-00-00-000Z_s2.jsonl"), text("s2", "").as_bytes())), NOTHING, "near miss");
}
#[test]
fn duplicate_and_ambiguous_ids() {
    let second = |id: &str| codes_after(|t| t.fs.file(t.at(&format!("2026-01-01T00-00-00-000Z_{id}.jsonl")), text(id, "").as_bytes()));
    assert_eq!(second("S1x"), ["id_prefix_ambiguous"]);
    assert_eq!(second("S1"), ["id_prefix_ambiguous"], "the same but for its case");
    assert_eq!(second("x1"), NOTHING);
    // What counts of the file's name stands behind its last `_`.
    let named =
        |name: &str, id: &str| codes_after(|t| t.fs.file(t.at(&format!("2026-01-01T00-00-00-000Z_{name}.jsonl")), text(id, "").as_bytes()));
    assert_eq!(named("a_S1x", "a_S1x"), ["id_prefix_ambiguous"]);
    assert_eq!(named("s1_x", "x1"), ["filename_header_mismatch"]);
    // The session's own other name may stand between the two.
    let between = codes_after(|t| {
        t.fs.remove(t.transcript());
        t.fs.file(t.at("2026-01-01T00-00-00-000Z_s1-x.jsonl"), text("s1", "").as_bytes());
        t.fs.file(t.at("2026-01-01T00-00-00-000Z_s1-y.jsonl"), text("s1-y", "").as_bytes());
    });
    assert!(between.contains(&"id_prefix_ambiguous".to_owned()), "{between:?}");
    let same = codes_after(|t| t.fs.file(t.at("2026-01-02T00-00-00-000Z_s1.jsonl"), text("s1", "").as_bytes()));
    assert_eq!(same, ["duplicate_session_id", "filename_header_mismatch"], "the copy has a name of another time");
}
#[test]
fn listed_but_not_openable() {
    let found = codes_after(|t| {
        t.fs.remove(t.transcript());
        t.fs.file(t.transcript(), format!("{}oops\n", text("s1", "")).as_bytes());
    });
    assert_eq!(found, ["json_syntax", "listed_but_not_openable"]);
    assert_eq!(codes_after(|t| t.fs.append(t.transcript(), b"")), NOTHING, "near miss: without the line");
}
#[test]
fn a_refused_scope_lists_nothing_so_nothing_is_listed_but_not_openable() {
    let found = codes_after(|t| {
        t.fs.remove(t.transcript());
        t.fs.file(t.transcript(), format!("{}oops\n", text("s1", "")).as_bytes());
        t.fs.chmod(&t.scope, 0o755);
    });
    assert_eq!(found, ["json_syntax", "mode_mismatch"]);
}
#[test]
fn openable_but_not_listed() {
    let with = |bytes: usize| {
        codes_after(|t| {
            t.fs.remove(t.transcript());
            t.fs.file(t.transcript(), text("s1", &format!(",\"title\":\"{}\"", "t".repeat(bytes))).as_bytes());
        })
    };
    assert_eq!(with(5_000), ["openable_but_not_listed"]);
    assert_eq!(with(50), NOTHING);
}
#[test]
fn recent_title_stale() {
    let with = |filler: usize| {
        codes_after(|t| {
            t.fs.remove(t.transcript());
            let long = text("s1", ",\"title\":\"old\"").replace("hello", &"h".repeat(filler));
            t.fs.file(t.transcript(), format!("{long}{{\"type\":\"header_patch\",\"patch\":{{\"title\":\"new\"}}}}\n").as_bytes());
        })
    };
    assert!(with(5).contains(&"recent_title_stale".to_owned()), "{:?}", with(5));
    assert!(!with(5_000).contains(&"recent_title_stale".to_owned()));
}
#[test]
fn verdicts_of_the_listing_are_added() {
    let tree = Tree::new();
    legacy(&tree);
    put_receipt(&tree, receipt(&tree, State::Committed));
    let run = checked(&tree.fs, "/a", &options());
    let list: Vec<_> =
        run.outcomes.iter().map(|o| o.verdicts.iter().find(|(reader, _)| *reader == "list").map(|(_, answer)| &**answer)).collect();
    assert_eq!(list, [Some("shadowed"), Some("migrated_v2")]);
}
/// What the managed inspection or the listing refuses and no error explains: gjc's bare token says it.
#[test]
fn a_refusal_that_nothing_explains_is_told_by_its_token() {
    let with = |text: String| {
        codes_after(|t| {
            t.fs.remove(t.transcript());
            t.fs.file(t.transcript(), text.as_bytes());
        })
    };
    let sound = text("s1", "");
    assert_eq!(with(sound.clone()), NOTHING, "near miss of all three");
    // The strict inspection takes a byte order mark and an empty first line; the listing parses what stands before the first LF.
    assert_eq!(with(format!("\u{feff}{sound}")), ["unreadable_candidate", "utf8_bom"]);
    assert_eq!(with(format!("\n{sound}")), ["blank_lines", "unreadable_candidate"]);
    // A patch supplies the cwd that the header lacks; the listing looks at the header alone.
    let patched = format!("{}{{\"type\":\"header_patch\",\"patch\":{{\"cwd\":\"/ws\"}}}}\n", sound.replace(",\"cwd\":\"/ws\"", ""));
    assert_eq!(with(patched), ["invalid_header", "star_checkpoint_missing"]);
    // The loader drops a patch in front of the header; the managed inspection wants the header first.
    let before = format!("{{\"type\":\"header_patch\",\"patch\":{{\"title\":\"t\"}}}}\n{sound}");
    assert_eq!(with(before), ["malformed", "patch_before_v4"], "one token is enough");
    // An error on the same file explains the refusal, and the token is not said.
    assert_eq!(with(String::new()), ["empty_transcript"]);
    assert_eq!(with(sound.replace("\"/ws\"", "7")), ["header_invalid"]);
}

// replacement receipts

fn pending(tree: &Tree, publisher: Option<replacement::Publisher>) -> replacement::Receipt {
    let file = |ino| replacement::FileIdentity { dev: 1, ino, nlink: 1, size: 3, mtime_ns: 1, ctime_ns: 1, sha256: "a".repeat(64) };
    let staging = replacement::staging_path(tree.transcript().as_bytes(), UUID).unwrap();
    replacement::Receipt {
        staging: String::from_utf8(staging).unwrap().into(),
        destination: tree.transcript().into(),
        successor: file(2),
        predecessor: file(1),
        publisher,
    }
}
fn with_pending(release: Release, publisher: impl Fn() -> Option<replacement::Publisher>, edit: impl Fn(String) -> String) -> Vec<String> {
    let found = under(release, |t| {
        let text = String::from_utf8(pending(t, publisher()).encode()).unwrap();
        t.fs.file(t.at(&format!(".gjc-replace-receipt-pending-{UUID}.json")), edit(text).as_bytes());
    });
    codes_of(&found).into_iter().map(str::to_owned).collect()
}
#[test]
fn pending_replacement_receipts() {
    let as_is = |text: String| text;
    assert_eq!(with_pending(Release::V0_15, || None, as_is), ["replacement_receipt_pending"]);
    assert_eq!(with_pending(Release::V0_17, || None, as_is), ["replacement_receipt_no_publisher", "replacement_receipt_pending"]);
    let by = |host: &str| {
        let host = host.to_owned();
        move || {
            Some(replacement::Publisher {
                attempt_id: UUID.into(),
                owner_id: UUID.into(),
                pid: 2_147_483_646,
                incarnation: "linux:1".into(),
                host: host.as_str().into(),
            })
        }
    };
    let here = crate::fsys::host::Liveness::host(&ThisHost).unwrap();
    assert_eq!(with_pending(Release::V0_17, by(&here), as_is), ["replacement_receipt_pending"]);
    assert_eq!(with_pending(Release::V0_17, by("another-host"), as_is), ["replacement_receipt_foreign_host"]);
    let invalid = ["managed_replace_cleanup_receipt_invalid"];
    assert_eq!(with_pending(Release::V0_17, || None, |text| text.replace("\"version\":3", "\"version\":2")), invalid);
}
#[test]
fn canonical_replacement_receipts_are_judged_by_their_inode() {
    let predecessor = replacement::FileIdentity { dev: 1, ino: 1, nlink: 1, size: 3, mtime_ns: 1, ctime_ns: 1, sha256: String::new() };
    let own = |t: &Tree, name: &str| {
        let meta = t.fs.lstat(Path::new(&t.at(name))).unwrap();
        Inode { dev: meta.dev, ino: meta.ino }
    };
    let with = |off: u64, bytes: &[u8]| {
        codes_after(|t| {
            t.fs.file(t.at("tmp"), bytes);
            let named = Inode { ino: own(t, "tmp").ino + off, ..own(t, "tmp") };
            t.fs.rename(t.at("tmp"), t.at(&replacement::canonical_name(&predecessor, named)));
        })
    };
    assert_eq!(with(0, b"garbage"), ["replacement_receipt_pending"], "the content is never parsed");
    assert_eq!(with(1_000, b""), ["managed_replace_cleanup_receipt_invalid"]);
    let explained = codes_after(|t| {
        t.fs.file(t.at("tmp"), b"receipt");
        let receipt = own(t, "tmp");
        t.fs.rename(t.at("tmp"), t.at(&replacement::removed_name(receipt, Inode { dev: 1, ino: 1 })));
        t.fs.file(t.at(&replacement::canonical_name(&predecessor, receipt)), b"");
    });
    assert_eq!(explained, ["replacement_receipt_recoverable"]);
    assert_eq!(codes_after(|t| t.fs.file(t.at(".gjc-replace-cleanup-x"), b"")), ["managed_replace_cleanup_receipt_invalid"]);
}
#[test]
fn too_many_replacement_receipts_are_a_capacity_and_no_corruption() {
    let tree = Tree::new();
    for n in 0..50_001 {
        tree.fs.file(tree.at(&format!(".gjc-replace-receipt-pending-{n}")), b"");
    }
    let run = checked(&tree.fs, "/a", &options());
    assert_eq!(codes_of(&found_in(&run)), ["managed_replace_cleanup_receipt_limit_exceeded"]);
    let gauge = run.gauges.iter().find(|gauge| gauge.name == "replacement_receipts").unwrap();
    assert_eq!((gauge.used, gauge.limit), (50_001, 50_000));
}
#[test]
fn fifty_thousand_remnants_are_never_called_damage() {
    let tree = Tree::new();
    for n in 0..50_001 {
        tree.fs.file(tree.at(&format!(".gjc-receipt-remove-{n:x}-1")), b"");
    }
    let run = |release| checked(&tree.fs, "/a", &Options { release, ..options() });
    assert_eq!(codes_of(&found_in(&run(Release::V0_17))), ["scrubbed_remnants"]);
    assert_eq!(codes_of(&found_in(&run(Release::V0_15))), ["managed_replace_cleanup_receipt_limit_exceeded", "scrubbed_remnants"]);
    // Only 0.15 has a limit that they fill.
    let used = |release| run(release).gauges.iter().find(|gauge| gauge.name == "replacement_receipts").map(|gauge| gauge.used);
    assert_eq!((used(Release::V0_15), used(Release::V0_17)), (Some(50_001), None));
}

// tombstones

pub(super) fn put_tombstone(tree: &Tree, edit: impl Fn(String) -> String) -> (String, TranscriptIdentity) {
    let identity = captured(tree, &tree.transcript());
    let text = String::from_utf8(tombstone::encode(&digest(), &[(&identity, &"/ws".into(), tombstone::Provenance::V2)])).unwrap();
    let path = tree.at(&format!("{INTERNAL}/{TOMBSTONES}/{}.json", identity.operation()));
    tree.fs.file(&path, edit(text).as_bytes());
    (path, identity)
}
pub(super) fn as_is(text: String) -> String {
    text
}
pub(super) fn cleanup(
    tree: &Tree,
    identity: &TranscriptIdentity,
    state: CleanupState,
    attempt: u64,
    edit: impl Fn(String) -> String,
) -> String {
    let op = identity.operation();
    let tombstone = tree.at(&format!("{INTERNAL}/{TOMBSTONES}/{op}.json"));
    let schema = if state == CleanupState::Completed { 1 } else { 2 };
    let identity_text = String::from_utf8(crate::agent::record::json_text(&identity.to_value())).unwrap();
    let planned = if state == CleanupState::Completed {
        String::new()
    } else {
        format!(
            r#","plannedArtifactsPath":"{0}/.gjc-delete-{op}-artifacts-{attempt}","plannedTranscriptPath":"{0}/.gjc-delete-{op}-transcript-{attempt}""#,
            tree.scope
        )
    };
    let text = format!(
        r#"{{"schemaVersion":{schema},"state":"{}","scope":"{}","tombstone":"{tombstone}","attempt":{attempt},"target":{{"path":"{}","sessionId":"s1","cwd":"/ws","identity":{identity_text}}}{planned}}}"#,
        state.record_word(),
        digest(),
        tree.transcript(),
    );
    let path = tree.at(&format!("{INTERNAL}/{TOMBSTONES}/{}", cleanup_name(&op, &op, state, attempt)));
    tree.fs.file(&path, edit(text).as_bytes());
    path
}

#[test]
fn a_tombstone_whose_transcript_is_gone_is_pending_until_completed() {
    let pending = codes_after(|t| {
        put_tombstone(t, as_is);
        t.fs.remove(t.transcript());
    });
    assert_eq!(pending, ["cleanup_pending"]);
    let completed = codes_after(|t| {
        let (_, identity) = put_tombstone(t, as_is);
        cleanup(t, &identity, CleanupState::Pending, 1, as_is);
        cleanup(t, &identity, CleanupState::ArtifactsRemoved, 1, as_is);
        cleanup(t, &identity, CleanupState::Completed, 1, as_is);
        t.fs.remove(t.transcript());
    });
    assert_eq!(completed, NOTHING);
}
#[test]
fn what_stands_at_a_retired_path() {
    let with = |edit_tombstone: &dyn Fn(String) -> String, change: &dyn Fn(&Tree)| {
        codes_after(|t| {
            put_tombstone(t, edit_tombstone);
            change(t);
        })
    };
    assert_eq!(with(&as_is, &|_| {}), ["cleanup_pending", "retired_session_present"]);
    assert_eq!(with(&|text| text.replace("\"cwd\":\"/ws\"", "\"cwd\":\"/./ws\""), &|_| {}), ["cleanup_pending", "retired_session_listed"]);
    let grown = with(&as_is, &|t| t.fs.append(t.transcript(), clean::label("x").as_bytes()));
    assert_eq!(grown, ["cleanup_pending", "retired_session_changed"]);
    let new_after_completion = codes_after(|t| {
        let (_, identity) = put_tombstone(t, as_is);
        cleanup(t, &identity, CleanupState::Completed, 1, as_is);
        t.fs.remove(t.transcript());
        t.fs.file(t.transcript(), text("s1", ",\"title\":\"new\"").as_bytes());
    });
    assert_eq!(new_after_completion, NOTHING);
}
#[test]
fn tombstones_that_are_none() {
    let with = |edit: &dyn Fn(String) -> String| codes_after(|t| _ = put_tombstone(t, edit));
    assert_eq!(with(&|_| "oops".into()), ["tombstone_unreadable"]);
    for edit in [
        (|text| text.replace("\"schemaVersion\":2", "\"schemaVersion\":1")) as fn(String) -> String,
        |text| text.replace("\"v2\"", "\"other\""),
        |text| text.replace("/a/sessions/", "/b/sessions/"),
        |text| format!("{}[]}}", text.split_once('[').unwrap().0),
    ] {
        assert_eq!(with(&edit), ["managed_gc_protocol_tombstone_invalid"]);
    }
    assert_eq!(
        with(&|text| text.replace("\"state\"", "\"taskArtifactOwnerX\":1,\"state\"")),
        ["task_artifact_owner_legacy_scope_unsupported"]
    );
    let directory = codes_after(|t| t.fs.directory(t.at(&format!("{INTERNAL}/{TOMBSTONES}/{}.json", op()))));
    assert_eq!(directory, ["managed_gc_protocol_file_invalid", "tombstone_unreadable"]);
}
#[test]
fn names_in_tombstones() {
    let with = |name: &str, bytes: &[u8]| codes_after(|t| t.fs.file(t.at(&format!("{INTERNAL}/{TOMBSTONES}/{name}")), bytes));
    assert_eq!(with("x.json", b"{}"), ["managed_gc_protocol_tombstone_role_invalid"]);
    assert_eq!(with("x.json", b""), ["tombstone_unreadable"]);
    assert_eq!(with(&format!("{0}.{0}.cleanup-completed-2.json", op()), b"{}"), ["managed_gc_protocol_tombstone_role_invalid"]);
    assert_eq!(with(&format!("{0}.{0}.cleanup-completed-1.json", op()), b"{}"), ["managed_gc_protocol_tombstone_authority_missing"]);
    assert_eq!(with(&format!("{0}.{0}.cleanup-pending-1.json", op()), b"oops"), ["cleanup_receipt_unreadable"]);
}
#[test]
fn cleanup_records_that_break_a_rule() {
    let with = |state, attempt, edit: &dyn Fn(String) -> String| {
        codes_after(|t| {
            let (_, identity) = put_tombstone(t, as_is);
            if state == CleanupState::ArtifactsRemoved {
                cleanup(t, &identity, CleanupState::Pending, 1, as_is);
            }
            cleanup(t, &identity, state, attempt, edit);
            t.fs.remove(t.transcript());
        })
    };
    let pending = "cleanup_pending";
    assert_eq!(with(CleanupState::Pending, 1, &as_is), [pending]);
    assert_eq!(with(CleanupState::Pending, 2, &as_is), [pending, "managed_gc_protocol_tombstone_history_invalid"], "a gap");
    let plan = |text: String| text.replace(".gjc-delete-", ".other-");
    assert_eq!(with(CleanupState::Pending, 1, &plan), [pending, "managed_gc_protocol_tombstone_history_invalid"]);
    let target = |text: String| text.replacen("\"dev\":\"", "\"dev\":\"x", 1);
    assert_eq!(with(CleanupState::Pending, 1, &target), [pending, "managed_gc_protocol_tombstone_history_invalid"]);
    let expected = r#""expectedArtifactsIdentity":{"dev":"x","ino":"1","size":1,"mtimeNs":"1","sha256":""},"plannedArtifactsPath""#;
    let integer = |text: String| text.replace("\"plannedArtifactsPath\"", expected);
    assert_eq!(with(CleanupState::Pending, 1, &integer), [pending, "cleanup_receipt_unreadable"]);
    let owner = |text: String| text.replace("\"state\"", "\"taskArtifactOwnerX\":1,\"state\"");
    assert_eq!(with(CleanupState::Pending, 1, &owner), [pending, "task_artifact_owner_legacy_scope_unsupported"]);
    assert_eq!(with(CleanupState::ArtifactsRemoved, 1, &as_is), [pending]);
    let state = |text: String| text.replace("\"artifacts_removed\"", "\"x\"");
    assert_eq!(with(CleanupState::ArtifactsRemoved, 1, &state), [pending, "managed_gc_protocol_tombstone_artifacts_invalid"]);
    assert_eq!(with(CleanupState::Completed, 1, &as_is), NOTHING);
    let extra = |text: String| text.replace("\"state\"", "\"note\":1,\"state\"");
    assert_eq!(with(CleanupState::Completed, 1, &extra), [pending, "managed_gc_protocol_tombstone_completion_invalid"]);
}
#[test]
fn a_record_of_removed_artifacts_is_judged_by_itself() {
    let with = |edit: &dyn Fn(String) -> String| {
        codes_after(|t| {
            let (_, identity) = put_tombstone(t, as_is);
            cleanup(t, &identity, CleanupState::ArtifactsRemoved, 1, edit);
            t.fs.remove(t.transcript());
        })
    };
    assert_eq!(with(&as_is), ["cleanup_pending"], "no pending record, and the inspector accepts it");
    let attempt = |text: String| text.replace("\"attempt\":1", "\"attempt\":2");
    assert_eq!(with(&attempt), ["cleanup_pending", "managed_gc_protocol_tombstone_artifacts_invalid"]);
}
#[test]
fn a_cleanup_record_of_no_target() {
    let found = codes_after(|t| {
        let (_, identity) = put_tombstone(t, as_is);
        let path = cleanup(t, &identity, CleanupState::Completed, 1, as_is);
        t.fs.rename(&path, path.replace(&format!(".{}", identity.operation()), &format!(".{}", op())));
        t.fs.remove(t.transcript());
    });
    assert_eq!(found, ["cleanup_pending", "managed_gc_protocol_tombstone_target_missing"]);
}
#[test]
fn artifacts_that_stop_a_deletion() {
    let with = |make: &dyn Fn(&Tree, &str)| {
        codes_after(|t| {
            put_tombstone(t, as_is);
            let artifacts = t.at("2026-01-01T00-00-00-000Z_s1");
            t.fs.directory(&artifacts);
            make(t, &artifacts);
        })
    };
    let plain = ["cleanup_pending", "retired_session_present"];
    assert_eq!(with(&|_, _| {}), plain);
    let stopped = ["cleanup_pending", "retired_session_present", "tombstone_artifacts_mismatch", "unsafe_artifacts"];
    assert_eq!(with(&|t, artifacts| t.fs.symlink(format!("{artifacts}/l"), "/x")), stopped);
}

// residue

fn residue_after(name: &str, bytes: &[u8], age_ns: i128) -> Vec<String> {
    codes_after(|t| {
        t.fs.file(t.at(name), bytes);
        t.fs.set(t.at(name), |meta| meta.mtime_ns = options().now_ns - age_ns);
    })
}
#[test]
fn temporaries_and_staging_by_age() {
    let hour = 3_600_000_000_000;
    assert_eq!(residue_after(".a.jsonl.016a0b0c0d0e0f10.tmp", b"x", 25 * hour), ["stale_temp_file"]);
    assert_eq!(residue_after(".a.jsonl.016a0b0c0d0e0f10.tmp", b"x", hour), NOTHING);
    assert_eq!(residue_after(&format!(".a.jsonl.{UUID}.staging"), b"x", hour), ["staging_residue"]);
    assert_eq!(residue_after(&format!(".a.jsonl.{UUID}.staging"), b"x", 1), NOTHING);
    let guard = residue_after(&format!(".s.memory-guard.{UUID}.jsonl"), text("s", "").as_bytes(), 1);
    assert!(guard.contains(&"memory_guard_left".to_owned()), "{guard:?}");
}
#[test]
fn what_a_deletion_leaves() {
    let with = |bytes: &[u8], completed: bool| {
        codes_after(|t| {
            let (_, identity) = put_tombstone(t, as_is);
            if completed {
                cleanup(t, &identity, CleanupState::Completed, 1, as_is);
            }
            t.fs.remove(t.transcript());
            t.fs.file(t.at(&format!(".gjc-delete-{}-transcript-1", identity.operation())), bytes);
        })
    };
    assert_eq!(with(b"", true), ["delete_residue"]);
    assert_eq!(with(b"x", true), ["delete_residue_payload"]);
    assert_eq!(with(b"", false), ["cleanup_pending", "delete_residue_payload"]);
    assert_eq!(residue_after(".gjc-delete-y", b"abc", 1), ["delete_residue_payload"], "no form that gjc gives such names");
    assert_eq!(residue_after(".gjc-new.removing", b"abc", 1), ["delete_residue_payload"]);
    assert_eq!(residue_after(".gjc-deleted", b"abc", 1), NOTHING, "near miss");
}
#[test]
fn scrubbed_names_and_quarantines() {
    assert_eq!(residue_after(".gjc-exact-unlink-placeholder-1-2", b"", 1), ["scrubbed_remnants"]);
    assert_eq!(residue_after(".gjc-exact-unlink-placeholder-1-2", b"x", 1), NOTHING);
    let recovery = |name: &str| {
        codes_after(|t| {
            t.fs.file(format!("/a/{RECOVERY}/{name}"), b"x");
            t.fs.chmod(format!("/a/{RECOVERY}"), 0o700);
        })
    };
    assert_eq!(recovery(".gjc-managed-remove-12-3"), ["recovery_quarantine"]);
    assert_eq!(recovery(".gjc-reaper-cursor"), NOTHING);
}
#[test]
fn backups() {
    assert_eq!(residue_after(&format!("{NAME}.016a0b0c0d0e0f10.bak"), b"x", 1), ["stale_backup"]);
    assert_eq!(residue_after("gone.jsonl.016a0b0c0d0e0f10.bak", b"x", 1), ["orphan_backup_unrecoverable"]);
    let folder = |names: &[&str]| {
        let fs = Memory::new();
        for name in names {
            fs.file(format!("/f/{name}"), text("s1", "").as_bytes());
        }
        codes_of(&found_in(&checked(&fs, "/f", &options()))).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(folder(&["gone.jsonl.1.bak"]), ["orphan_backup_recoverable"]);
    assert_eq!(folder(&["gone.jsonl.bak"]), ["orphan_backup_unrecoverable"]);
    assert_eq!(folder(&["x.jsonl", "x.jsonl.bak"]), ["stale_backup"]);
    assert_eq!(folder(&[".x.jsonl.1.bak"]), ["orphan_backup_unrecoverable"], "gjc's glob leaves out names that begin with a dot");
    assert_eq!(folder(&["x.jsonl.1.bak", "x.jsonl.2.bak"]), ["orphan_backup_recoverable", "orphan_backup_unrecoverable"]);
}
#[test]
fn links_and_directories_among_backups() {
    let folder = |fill: &dyn Fn(&Memory)| {
        let fs = Memory::new();
        fs.file("/f/other.jsonl", text("s0", "").as_bytes());
        fill(&fs);
        let found = found_in(&checked(&fs, "/f", &options()));
        found.into_iter().filter(|line| line.contains("bak")).collect::<Vec<_>>()
    };
    let backup = |fs: &Memory| fs.file("/f/x.jsonl.1.bak", text("s1", "").as_bytes());
    let dangling = |fs: &Memory| {
        backup(fs);
        fs.symlink("/f/x.jsonl", "/nowhere");
    };
    assert_eq!(folder(&dangling), ["orphan_backup_recoverable x.jsonl.1.bak"], "what leads nowhere is not there");
    let leading = |fs: &Memory| {
        backup(fs);
        fs.symlink("/f/x.jsonl", "/f/other.jsonl");
    };
    assert_eq!(folder(&leading), ["stale_backup x.jsonl.1.bak"]);
    assert_eq!(folder(&|fs| fs.symlink("/f/x.jsonl.1.bak", "/f/other.jsonl")), ["orphan_backup_unrecoverable x.jsonl.1.bak"]);
    assert_eq!(folder(&|fs| fs.directory("/f/x.jsonl.1.bak")), NOTHING);
}
#[test]
fn foreign_names_in_the_sessions_root() {
    let file = |name: &str| after(|t| t.fs.file(format!("/a/sessions/{name}"), b""));
    let link = |name: &str| after(|t| t.fs.symlink(format!("/a/sessions/{name}"), "/ws"));
    for name in ["zz", "-zz", "v2-zz"] {
        assert_eq!(file(name), [format!("foreign_file sessions/{name}")]);
        assert_eq!(link(name), [format!("foreign_file sessions/{name}")]);
    }
    // The listing of the workspace must visit this one.
    let legacy = std::path::Path::new(LEGACY).file_name().unwrap().to_str().unwrap();
    assert_eq!(file(legacy), [format!("scan_failed sessions/{legacy}")]);
}
#[test]
fn staged_attempts_and_foreign_names() {
    assert_eq!(codes_after(|t| t.fs.file(t.at(&format!("{STAGING}/x.jsonl")), b"")), ["staged_transcript_left"]);
    assert_eq!(codes_after(|t| t.fs.file(t.at("notes.txt"), b"")), ["foreign_file"]);
    assert_eq!(codes_after(|t| t.fs.file(t.at(&format!("{NAME}.spill.buckets")), b"")), NOTHING);
    assert_eq!(codes_after(|t| t.fs.file("/a/notes.txt", b"")), ["foreign_file"]);
    assert_eq!(codes_after(|t| t.fs.file("/a/config.yml", b"")), NOTHING);
}
#[test]
fn names_of_the_legacy_layout_that_are_no_directories_are_counted_not_listed() {
    let found = after(|t| (0..3_000).for_each(|n| t.fs.file(format!("/a/sessions/-{n}"), b"")));
    assert_eq!(found.len(), 1_001);
    assert_eq!(found.iter().filter(|found| *found == "foreign_file sessions").count(), 1, "the rest of them");
}
#[test]
fn a_hundred_thousand_unknown_names_are_counted_not_listed() {
    let found = after(|t| {
        for n in 0..100_000 {
            t.fs.file(t.at(&format!("n{n}")), b"");
        }
    });
    assert_eq!(found.len(), 1_001);
}
#[test]
fn caches_of_nobody() {
    let hex = |path: &str| data_encoding::HEXLOWER.encode(&Sha256::digest(path.as_bytes()))[..32].to_owned();
    let known = codes_after(|t| t.fs.directory(format!("/a/sidecar-cache/s-{}", hex(&t.transcript()))));
    assert_eq!(known, NOTHING);
    assert_eq!(codes_after(|t| t.fs.directory(format!("/a/sidecar-cache/s-{}", hex("/x")))), ["sidecar_cache_orphan"]);
    let resident = |pid: f64| codes_after(|t| t.fs.file("/a/resident-cache/i-x/owner.json", format!("{{\"pid\":{pid}}}").as_bytes()));
    assert_eq!(resident(DEAD), ["resident_cache_orphan"]);
    assert_eq!(resident(f64::from(std::process::id())), NOTHING);
}

// artifacts

pub(super) fn with_artifacts(make: impl FnOnce(&Tree, &str)) -> Vec<String> {
    codes_after(|t| {
        let root = t.at("2026-01-01T00-00-00-000Z_s1");
        t.fs.directory(&root);
        make(t, &root);
    })
}
#[test]
fn artifact_trees() {
    assert_eq!(with_artifacts(|t, root| t.fs.file(format!("{root}/0.bash.log"), b"x")), NOTHING);
    assert_eq!(with_artifacts(|t, root| t.fs.sparse(format!("{root}/0.bash.log"), (128 << 20) + 1)), ["unsafe_artifacts"]);
    let deep = |levels: usize| with_artifacts(|t, root| t.fs.directory(format!("{root}/{}", vec!["d"; levels].join("/"))));
    assert_eq!(deep(32), ["limit_near"]);
    assert!(deep(33).contains(&"unsafe_artifacts".to_owned()));
    let full = |files: u64| with_artifacts(|t, root| (0..files).for_each(|n| t.fs.sparse(format!("{root}/{n}.bash.log"), 128 << 20)));
    // Of the bytes of the tree and of those of a file.
    assert_eq!(full(4), ["limit_near", "limit_near", "scope_capacity_exceeded"]);
    assert_eq!(full(5), ["artifact_capacity_exceeded", "scope_capacity_exceeded"]);
}
#[test]
fn artifact_numbers_and_orphans() {
    assert_eq!(with_artifacts(|t, root| t.fs.file(format!("{root}/9007199254740992.x.log"), b"")), ["artifact_id_out_of_range"]);
    assert_eq!(with_artifacts(|t, root| t.fs.file(format!("{root}/9007199254740991.x.log"), b"")), NOTHING);
    let two = |name: &str| {
        with_artifacts(|t, root| {
            t.fs.file(format!("{root}/7.bash.log"), b"");
            t.fs.file(format!("{root}/{name}"), b"");
        })
    };
    assert_eq!(two("7.md"), ["artifact_ambiguous"]);
    assert_eq!(two("8.md"), NOTHING);
    assert_eq!(codes_after(|t| t.fs.directory(t.at("nobody"))), ["artifact_orphan_directory"]);
    assert_eq!(codes_after(|t| t.fs.file(t.at("nobody/draft.txt"), b"")), ["artifact_orphan_directory", "draft_orphan"]);
    assert_eq!(with_artifacts(|t, root| t.fs.directory(format!("{root}/local"))), ["legacy_local_unmigrated"]);
}
#[test]
fn metadata_of_agent_outputs() {
    let sha = data_encoding::HEXLOWER.encode(&Sha256::digest(b"out"));
    let with = |meta: String| {
        with_artifacts(|t, root| {
            t.fs.file(format!("{root}/1-A.md"), b"out");
            t.fs.file(format!("{root}/1-A.md.meta.json"), meta.as_bytes());
        })
    };
    let good = format!("{{\n  \"id\": \"1-A\",\n  \"kind\": \"agent-output\",\n  \"sizeBytes\": 3,\n  \"sha256\": \"{sha}\"\n}}");
    assert_eq!(with(good.clone()), NOTHING);
    assert_eq!(with(good.replace("\"sizeBytes\": 3", "\"sizeBytes\": 4")), ["artifact_metadata_mismatch"]);
    assert_eq!(with(good.replace(&sha, &"0".repeat(64))), ["artifact_metadata_mismatch"]);
    assert_eq!(with("{}".into()), ["artifact_metadata_mismatch"]);
}

// sizes

#[test]
fn a_scope_above_its_size_is_a_capacity_and_its_binding_is_not_blamed() {
    let with = |bytes: u64| {
        let tree = Tree::new();
        tree.fs.sparse(tree.at(&format!("{NAME}.spill.buckets")), bytes);
        let run = checked(&tree.fs, "/a", &options());
        let gauge = run.gauges.iter().find(|gauge| gauge.name == "scope_bytes").map(|gauge| gauge.limit);
        assert_eq!(gauge, Some(512 << 20));
        codes_of(&found_in(&run)).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(with(513 << 20), ["scope_capacity_exceeded"]);
    assert_eq!(with(400 << 20), ["scope_near_capacity"]);
    assert_eq!(with(300 << 20), NOTHING);
}

#[test]
fn a_manifest_of_a_committed_receipt_is_looked_up_beside_the_copy() {
    let with = |there: bool| {
        codes_after(|t| {
            legacy(t);
            let root = t.at("2026-01-01T00-00-00-000Z_s1");
            t.fs.directory(&root);
            let mut committed = receipt(t, State::Committed);
            committed.1.manifest = vec![ManifestEntry::Directory { path: "".into() }, ManifestEntry::Directory { path: "sub".into() }];
            put_receipt(t, committed);
            if there {
                t.fs.directory(format!("{root}/sub"));
            }
        })
    };
    assert_eq!(with(true), ["legacy_shadowed"]);
    assert_eq!(with(false), ["duplicate_session_id", "legacy_unmigrated", "migration_receipt_stale"]);
}
