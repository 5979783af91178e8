//! Inputs that the releases answer differently and that no suite has.

use crate::tree::Tree;
use crate::trees_suite;
use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::layout::TOMBSTONES;
use gjc_fsck::agent::replacement_receipt::{self, FileIdentity, Receipt};
use gjc_fsck::agent::tombstone::{self, History};
use gjc_fsck::agent::world::World;
use gjc_fsck::check;
use gjc_fsck::check::run::{Run, Target};
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::{Collected, Finding, Place, Release};
use gjc_fsck::fsys::Memory;
use gjc_fsck::fsys::host::Nowhere;
use gjc_fsck::json::{JsStr, Value, stringify};
use gjc_fsck::report::{Audit, Settings, build};
use gjc_fsck::session::content::Content;
use gjc_fsck::session::discovery::{Picked, picker as picker_lists, saved};
use gjc_fsck::transcript::blobs::MemoryStore;
use gjc_fsck::transcript::inspect;
use gjc_fsck::transcript::migrate::Seeded;
use gjc_fsck::transcript::open;
use gjc_fsck::transcript::persist::open_for_writing;
use gjc_fsck::transcript::persist::opened::NameSource;
use gjc_fsck::transcript::readers::picker;
use serde_json::json;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Answer = fn(Release) -> String;

/// Every input: its name, and what a release answers to it.
pub const ALL: &[(&str, Answer)] = &[
    ("the_header_of_a_new_session", the_header_of_a_new_session),
    ("a_new_title_of_a_starred_session", a_new_title_of_a_starred_session),
    ("a_title_patch_without_star_before_it", a_title_patch_without_star_before_it),
    ("a_starred_session_in_the_picker", a_starred_session_in_the_picker),
    ("the_readers_of_a_transcript", the_readers_of_a_transcript),
    ("a_title_patch_behind_a_long_header", a_title_patch_behind_a_long_header),
    ("a_project_transcript_with_two_links", a_project_transcript_with_two_links),
    ("a_session_whose_workspace_is_gone", a_session_whose_workspace_is_gone),
    ("a_saved_session_that_is_not_found", a_saved_session_that_is_not_found),
    ("a_patch_that_names_an_owner", a_patch_that_names_an_owner),
    ("a_reference_longer_than_a_file_name", a_reference_longer_than_a_file_name),
    ("a_reference_with_a_nul", a_reference_with_a_nul),
    ("a_finding_of_a_later_code", a_finding_of_a_later_code),
    ("a_drifted_fifo_behind_8192_entries", a_drifted_fifo_behind_8192_entries),
    ("a_receipt_without_publisher", a_receipt_without_publisher),
    ("a_receipt_name_with_a_sign", a_receipt_name_with_a_sign),
    ("a_receipt_number_with_a_sign", a_receipt_number_with_a_sign),
    ("a_scrubbed_remnant", a_scrubbed_remnant),
    ("a_tombstone_whose_inode_is_no_number", a_tombstone_whose_inode_is_no_number),
    ("a_tombstone_with_an_owner_member", a_tombstone_with_an_owner_member),
    ("a_pending_record_of_more_than_64_mib", a_pending_record_of_more_than_64_mib),
    ("a_completed_record_with_a_further_member", a_completed_record_with_a_further_member),
    ("a_name_of_a_retirement_receipt", a_name_of_a_retirement_receipt),
];

/// What a release answers to an input; none when there is no such input.
pub fn answer(name: &str, release: Release) -> Option<String> {
    ALL.iter().find(|(input, _)| *input == name).map(|(_, answer)| answer(release))
}

// transcripts

const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}"#;
const STARS: &str = r#"{"type":"session","version":5,"starredPatchVersion":1,"id":"s","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}"#;
const TITLE: &str = r#"{"type":"header_patch","patch":{"title":"T"}}"#;

fn lines(records: &[&str]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn codes_and_readers(text: &str, release: Release) -> String {
    let mut sink = Collected::default();
    let outcome = check::transcript::check(text.as_bytes(), &check::transcript::Options::lone("t.jsonl", release), &mut sink).unwrap();
    let codes: Vec<&str> = sink.findings.iter().map(|finding| finding.code.name).collect();
    format!("{codes:?} {:?}", outcome.verdicts)
}

fn the_header_of_a_new_session(release: Release) -> String {
    stringify::to_text(&Content::header(release, "s".into(), "t".into(), "/w", None.into()))
}

fn a_new_title_of_a_starred_session(release: Release) -> String {
    let mut store = MemoryStore::default();
    let mut opened = open_for_writing(lines(&[STARS]).into_bytes(), &mut Seeded::new(1), &mut store, release).unwrap();
    opened.set_name(JsStr::from("New"), NameSource::User, &mut store);
    String::from_utf8_lossy(opened.file()).into_owned()
}

fn a_title_patch_without_star_before_it(release: Release) -> String {
    let text = codes_and_readers(&lines(&[STARS, TITLE]), release);
    text.split(']').next().unwrap_or_default().to_owned()
}

fn the_readers_of_a_transcript(release: Release) -> String {
    codes_and_readers(&lines(&[HEADER]), release)
}

fn a_title_patch_behind_a_long_header(release: Release) -> String {
    let header = HEADER.replace("\"cwd\"", &format!("\"parentSession\":\"{}\",\"cwd\"", "p".repeat(5_000)));
    format!("{:?}", picked(&lines(&[&header, TITLE]), release).map(|info| info.title))
}

fn a_starred_session_in_the_picker(release: Release) -> String {
    let star = r#"{"type":"header_patch","patch":{"starred":true}}"#;
    format!("{:?}", picked(&lines(&[STARS, star]), release).map(|info| info.starred))
}

fn picked(text: &str, release: Release) -> Option<picker::SessionInfo> {
    let text = text.as_bytes();
    let mut read_at = |buffer: &mut [u8], offset: u64| {
        let rest = text.get(offset as usize..).unwrap_or_default();
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        Ok(taken)
    };
    picker::read(text.len() as u64, &mut read_at, release)
}

/// How many sessions a list shows of a file system with the workspace `/w` and an agent directory `/a`.
fn listed(fs: &Memory, release: Release, list: impl FnOnce(&World<'_>) -> Picked) -> String {
    fs.directory("/w");
    fs.directory("/a/sessions");
    list(&World::of_agent(fs, &Nowhere, release, 1000, "/a")).sessions.len().to_string()
}

fn a_project_transcript_with_two_links(release: Release) -> String {
    let fs = Memory::new();
    fs.file("/w/.gjc/s.jsonl", lines(&[HEADER]).as_bytes());
    fs.hard_link("/w/.gjc/s.jsonl", "/elsewhere");
    listed(&fs, release, |world| picker_lists::of_workspace(world, Path::new("/w")))
}

fn a_session_whose_workspace_is_gone(release: Release) -> String {
    let fs = Memory::new();
    fs.file("/a/sessions/-old/s.jsonl", lines(&[&HEADER.replace("\"cwd\":\"", "\"cwd\":\"/gone")]).as_bytes());
    listed(&fs, release, picker_lists::of_all)
}

fn a_saved_session_that_is_not_found(release: Release) -> String {
    let fs = Memory::new();
    fs.directory("/w");
    let world = World::of_agent(&fs, &Nowhere, release, 1000, "/a");
    serde_json::to_string(&saved::saved(&world, "nobody", Path::new("/w"))).unwrap()
}

fn a_patch_that_names_an_owner(release: Release) -> String {
    let patch = r#"{"type":"header_patch","patch":{"title":"T","taskArtifactOwner":{}}}"#;
    let text = codes_and_readers(&lines(&[HEADER, patch]), release);
    text.split(']').next().unwrap_or_default().to_owned()
}

fn opening_with_image(data: &str, release: Release) -> String {
    let entry = format!(
        r#"{{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:01.000Z","message":{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}],"timestamp":1}}}}"#
    );
    let text = lines(&[HEADER, &entry]);
    let inspected = inspect::bytes(text.as_bytes(), text.len() as u64, inspect::Options::new(release)).unwrap();
    format!("{:?}", open::explicit(&inspected.verdict, inspected.loaded.as_ref().ok(), false, release))
}

fn a_reference_longer_than_a_file_name(release: Release) -> String {
    opening_with_image(&format!("blob:sha256:{}", "z".repeat(256)), release)
}

fn a_reference_with_a_nul(release: Release) -> String {
    opening_with_image("blob:sha256:a\\u0000", release)
}

fn a_finding_of_a_later_code(release: Release) -> String {
    let place = Place { path: Arc::from("sessions"), ..Place::default() };
    let finding = Finding::new(check::code("managed_gc_protocol_roles_invalid").unwrap(), place, "x");
    let report = build(Audit { findings: vec![finding], ..Audit::default() }, &Settings { release, ..Settings::default() });
    report.findings.len().to_string()
}

// an agent directory in memory

/// The check of a clean agent directory with one more file in its scope.
fn checked(name: &str, bytes: impl Fn(&str) -> Vec<u8>, release: Release) -> Run {
    let fs = Memory::new();
    let identity = Identity { platform: Platform::Posix, canonical_path: "/ws".into() };
    let scope = format!("/a/sessions/{}", identity.directory_name());
    fs.directory("/ws");
    fs.plant(&scope, &clean::scope(&identity, []));
    fs.file(format!("{scope}/{name}"), &bytes(&scope));
    let options = check::run::Options { jobs: Some(1), ..check::run::Options::new(release, 1000, 1_700_000_000_000_000_000) };
    check::run(vec![Target::Path("/a".into())], &options, &fs, &|_| {})
}

const UUID: &str = "00000000-0000-4000-8000-000000000001";

fn receipt(directory: &str) -> Receipt {
    let file = |ino| FileIdentity { dev: 65_024, ino, nlink: 1, size: 3, mtime_ns: 1, ctime_ns: 1, sha256: "a".repeat(64) };
    let destination = format!("{directory}/2026-01-01T00-00-00-000Z_s1.jsonl");
    let staging = replacement_receipt::staging_path(destination.as_bytes(), UUID).unwrap();
    Receipt {
        staging: String::from_utf8(staging).unwrap().into(),
        destination: destination.into(),
        successor: file(2),
        predecessor: file(1),
        publisher: None,
    }
}

fn a_receipt_without_publisher(release: Release) -> String {
    let run = checked(&format!(".gjc-replace-receipt-pending-{UUID}.json"), |scope| receipt(scope).encode(), release);
    format!("{:?}", run.findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>())
}

fn a_name_of_a_retirement_receipt(release: Release) -> String {
    let run = checked(".gjc-managed-session-internal/receipts/gc-retirement-x.json", |_| Vec::new(), release);
    format!("{:?}", run.findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>())
}

fn a_scrubbed_remnant(release: Release) -> String {
    let run = checked(".gjc-receipt-remove-1-1", |_| Vec::new(), release);
    format!("{:?}", run.gauges.iter().find(|gauge| gauge.name == "replacement_receipts").map(|gauge| gauge.used))
}

fn a_receipt_name_with_a_sign(release: Release) -> String {
    replacement_receipt::accepts_name(b".gjc-replace-cleanup--1f-2-receipt-1-3.json", release).to_string()
}

fn a_receipt_number_with_a_sign(release: Release) -> String {
    let text = String::from_utf8(receipt("/s").encode()).unwrap().replacen("\"65024\"", "\"-1\"", 1);
    replacement_receipt::parse(text.as_bytes(), b"/s", release).is_ok().to_string()
}

// agent directories on the real file system

/// The tree of a recorded case whose scope has a tombstone and a pending record.
struct Deleted {
    tree: Tree,
    tombstone: PathBuf,
    pending: PathBuf,
}

impl Deleted {
    fn new() -> Deleted {
        let tree = recorded("cleanup-pending-owner-key");
        let world = trees_suite::world(&tree, Release::V0_15);
        let scope = gjc_fsck::agent::predict::resolve(&world, &tree.root.join("ws/a")).unwrap();
        let directory = scope.protocol(TOMBSTONES);
        let (mut tombstone, mut pending) = (PathBuf::new(), PathBuf::new());
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains(".cleanup-pending-") { pending = path } else { tombstone = path }
        }
        // The recorded fault is another one.
        edit(&pending, |record| {
            record.as_object_mut().unwrap().retain(|key, _| !key.starts_with("taskArtifactOwner"));
        });
        Deleted { tree, tombstone, pending }
    }
    fn reconciled(&self, release: Release) -> String {
        let answer = trees_suite::answer(&self.tree, &json!({ "op": "reconcile", "cwd": "ws/a" }), release);
        format!("{} {}", answer["kind"], answer["code"])
    }
}

fn recorded(name: &str) -> Tree {
    Tree::of_case(&trees_suite::case_of(name))
}

fn edit(path: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let mut record = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut record);
    std::fs::write(path, record.to_string()).unwrap();
}

fn a_tombstone_whose_inode_is_no_number(release: Release) -> String {
    let deleted = Deleted::new();
    edit(&deleted.tombstone, |record| record["targets"][0]["identity"]["ino"] = "seven".into());
    deleted.reconciled(release)
}

fn a_tombstone_with_an_owner_member(release: Release) -> String {
    let deleted = Deleted::new();
    edit(&deleted.tombstone, |record| record["taskArtifactOwnerX"] = 1.into());
    deleted.reconciled(release)
}

fn a_pending_record_of_more_than_64_mib(release: Release) -> String {
    let deleted = Deleted::new();
    std::fs::OpenOptions::new().write(true).open(&deleted.pending).unwrap().set_len((64 << 20) + 1).unwrap();
    deleted.reconciled(release)
}

fn a_completed_record_with_a_further_member(release: Release) -> String {
    let deleted = Deleted::new();
    let read = |path: &Path| Value::parse(&std::fs::read(path).unwrap()).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let tombstone: serde_json::Value = serde_json::from_slice(&std::fs::read(&deleted.tombstone).unwrap()).unwrap();
    let scope = text(&tombstone["scope"]);
    edit(&deleted.pending, |record| {
        record["schemaVersion"] = 1.into();
        record["state"] = "cleanup_completed".into();
        record["note"] = 1.into();
        record["target"]["identity"]["canonicalPath"] = tombstone["targets"][0]["identity"]["canonicalPath"].clone();
    });
    let target = tombstone::read(&read(&deleted.tombstone), &scope, b"/", release, &|_| true).unwrap().targets.remove(0);
    let path = deleted.tombstone.to_string_lossy().into_owned();
    let history = History { scope: &scope, tombstone_path: path.as_bytes(), target: &target, release };
    history.is_completed(&read(&deleted.pending)).to_string()
}

/// The answer of a prepared scope whose entries are more than the self-heal of 0.17 looks at before it finds what it
/// cannot re-secure.
fn a_drifted_fifo_behind_8192_entries(release: Release) -> String {
    let tree = recorded("healthy-one-scope");
    let world = trees_suite::world(&tree, release);
    let scope = gjc_fsck::agent::predict::resolve(&world, &tree.root.join("ws/a")).unwrap().directory;
    for number in 0..8_192 {
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(scope.join(format!("x{number}"))).unwrap();
    }
    let below = scope.join("zz");
    std::fs::DirBuilder::new().create(&below).unwrap();
    let fifo = below.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from(0o666), 0).unwrap();
    trees_suite::answer(&tree, &json!({ "op": "prepare", "cwd": "ws/a" }), release)["kind"].to_string()
}
