//! Trees in memory from which a repair begins, and what must hold of whatever it leaves.

use super::common::{Clock, NothingRuns, ground};
use gjc_fsck::agent::artifacts;
use gjc_fsck::agent::candidates::{Candidate, Provenance};
use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::lock;
use gjc_fsck::agent::migration_receipt::{DetachOutcome, Receipt, State};
use gjc_fsck::agent::predict::{self, Policy, migrate};
use gjc_fsck::agent::world::{Scope, World};
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::{Acl, Change, Fs, Kind, Memory, Meta};
use gjc_fsck::repair::apply::{Applied, repair};
use gjc_fsck::repair::plan::{Plan, Wanted, Wish};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const NOW: u64 = 1_800_000_000_000;
pub const LEGACY: &str = "/a/sessions/--ws--";

pub fn identity() -> Identity {
    Identity { platform: Platform::Posix, canonical_path: "/ws".into() }
}
pub fn scope() -> String {
    format!("/a/sessions/{}", identity().directory_name())
}

pub fn world<'a>(fs: &'a dyn Fs, now_ms: u64) -> World<'a> {
    World { now_ms, ..World::of_agent(fs, &NothingRuns, Release::default(), 1000, "/a") }
}

/// One repair by a process of this number, at this time, on one thread: operations come in one order.
pub fn run(fs: &dyn Change, now_ms: u64, pid: u32) -> (Plan, Applied) {
    run_wishing(fs, now_ms, pid, Wish::default())
}
pub fn run_wishing(fs: &dyn Change, now_ms: u64, pid: u32, wish: Wish) -> (Plan, Applied) {
    thread_local! {
        static ONE: rayon::ThreadPool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    }
    let clock = Clock::new(now_ms, pid);
    ONE.with(|one| one.install(|| repair(&ground(fs, world(fs, now_ms), &clock), &Wanted::All, wish, &mut |_| {})))
}

/// A tree to begin with.
pub struct Scene {
    pub name: &'static str,
    pub build: fn() -> Memory,
    /// Whether gjc itself would go on from every crash. It does not where artifacts lie detached (02a.1) or the scope directory
    /// is not owner-only (spec 02 §4.4).
    pub gjc_goes_on: bool,
    /// What is asked for.
    pub wish: Wish,
}

impl Scene {
    /// One repair, as [`run`].
    pub fn run(&self, fs: &dyn Change, now_ms: u64, pid: u32) -> (Plan, Applied) {
        run_wishing(fs, now_ms, pid, self.wish)
    }
}

const COPY: Wish = Wish { policy: Policy::CopyRetain, secure_modes: false };
const SECURE: Wish = Wish { policy: Policy::CopyRetain, secure_modes: true };

pub const SCENES: [Scene; 10] = [
    Scene { name: "plain", build: plain, gjc_goes_on: true, wish: COPY },
    Scene { name: "with artifacts", build: with_artifacts, gjc_goes_on: true, wish: COPY },
    Scene { name: "interrupted: prepared", build: prepared, gjc_goes_on: true, wish: COPY },
    Scene { name: "interrupted: artifacts detached", build: detached, gjc_goes_on: false, wish: COPY },
    Scene { name: "interrupted: published", build: published, gjc_goes_on: true, wish: COPY },
    Scene { name: "second run", build: second_run, gjc_goes_on: true, wish: COPY },
    Scene { name: "touched since", build: touched, gjc_goes_on: true, wish: COPY },
    Scene { name: "conflict", build: conflict, gjc_goes_on: false, wish: COPY },
    Scene { name: "two sessions", build: two_sessions, gjc_goes_on: true, wish: COPY },
    Scene { name: "modes to be secured", build: drifted, gjc_goes_on: false, wish: SECURE },
];

fn legacy(fs: &Memory, id: &str, bytes: usize) {
    // Longer than a sector, so that a crash can cut it.
    let text = clean::transcript(id, "/ws", "") + &clean::label(&"x".repeat(bytes));
    fs.file(format!("{LEGACY}/{}", clean::name(id)), text.as_bytes());
}
fn artifacts_of(fs: &Memory, id: &str) {
    let root = format!("{LEGACY}/2026-01-01T00-00-00-000Z_{id}");
    fs.directory(format!("{root}/sub"));
    fs.directory(format!("{root}/empty"));
    fs.file(format!("{root}/0.bash.log"), &[b'a'; 700]);
    fs.file(format!("{root}/sub/1.read.md"), b"text");
}
fn settled(fs: Memory) -> Memory {
    fs.settle();
    fs
}
fn ground_floor() -> Memory {
    let fs = Memory::new();
    fs.directory("/ws");
    fs.directory("/a/sessions");
    fs
}
fn plain() -> Memory {
    let fs = ground_floor();
    legacy(&fs, "s1", 600);
    settled(fs)
}
fn with_artifacts() -> Memory {
    let fs = ground_floor();
    legacy(&fs, "s1", 600);
    artifacts_of(&fs, "s1");
    settled(fs)
}
fn two_sessions() -> Memory {
    let fs = ground_floor();
    legacy(&fs, "s1", 10);
    legacy(&fs, "s2", 10);
    artifacts_of(&fs, "s2");
    settled(fs)
}
fn conflict() -> Memory {
    let fs = ground_floor();
    legacy(&fs, "s1", 600);
    legacy(&fs, "s2", 600);
    let (name, other) = (clean::name("s1"), clean::transcript("s1", "/ws", ",\"title\":\"other\""));
    fs.plant(scope(), &clean::scope(&identity(), [(name.as_str(), other.as_str())]));
    settled(fs)
}
/// Directories on the way that others may enter, one by its mode, one by an access control list, one by both.
pub fn drifted() -> Memory {
    let fs = with_artifacts();
    fs.plant(scope(), &clean::scope(&identity(), []));
    fs.chmod("/a", 0o755);
    fs.set_acl("/a/sessions", Acl::Access, Ok(28));
    fs.chmod(scope(), 0o750);
    fs.set_acl(scope(), Acl::Access, Ok(28));
    fs.set_acl(scope(), Acl::Default, Ok(28));
    settled(fs)
}
fn second_run() -> Memory {
    let fs = with_artifacts();
    run(&fs, NOW - 3_600_000, 11);
    settled(fs)
}
/// The legacy file got another modification time after its migration: it migrates again, under another name, onto the same copy.
fn touched() -> Memory {
    let fs = second_run();
    fs.append(format!("{LEGACY}/{}", clean::name("s1")), b"");
    settled(fs)
}

pub fn resolved(fs: &Memory) -> Scope {
    predict::resolve(&world(fs, NOW), Path::new("/ws")).unwrap()
}
pub fn source(fs: &dyn Fs) -> Candidate {
    Candidate::read(fs, &PathBuf::from(format!("{LEGACY}/{}", clean::name("s1"))), Provenance::Legacy).unwrap()
}

/// The receipt that gjc writes before anything moves, for the artifacts as they lie.
fn gjcs_receipt(fs: &Memory) -> (Scope, String, Receipt) {
    fs.plant(scope(), &clean::scope(&identity(), []));
    let (scope, source) = (resolved(fs), source(fs));
    let identity = source.identity(fs).unwrap();
    let survey = artifacts::survey(fs, &source.artifacts()).unwrap();
    let tree = survey.as_ref().map(|survey| artifacts::snapshot(fs, survey).unwrap());
    let destination = scope.directory.join(clean::name("s1"));
    let receipt = migrate::prepared_receipt(&scope, &source, &identity, &destination, survey.as_ref().zip(tree.as_ref()), &world(fs, NOW));
    (scope, identity.operation(), Receipt { attempt_id: "47173f68-71c9-4058-8e21-0e199166ede8".into(), ..receipt })
}
fn put(fs: &Memory, scope: &Scope, operation: &str, receipt: &Receipt) {
    fs.file(scope.protocol("receipts").join(receipt.state.file_name(operation)), &receipt.encode());
}
fn prepared() -> Memory {
    let fs = with_artifacts();
    let (scope, operation, receipt) = gjcs_receipt(&fs);
    put(&fs, &scope, &operation, &receipt);
    settled(fs)
}
fn detached() -> Memory {
    let fs = with_artifacts();
    let (scope, operation, receipt) = gjcs_receipt(&fs);
    put(&fs, &scope, &operation, &receipt);
    let root = source(&fs).artifacts();
    fs.rename(&root, migrate::detached_path(&root, &operation));
    put(&fs, &scope, &operation, &Receipt { state: State::ArtifactDetached, detach_outcome: Some(DetachOutcome::Clean), ..receipt });
    settled(fs)
}
/// The copy has its name and its receipt `.published`; gjc died before the last one.
fn published() -> Memory {
    let fs = ground_floor();
    legacy(&fs, "s1", 600);
    let (scope, operation, receipt) = gjcs_receipt(&fs);
    put(&fs, &scope, &operation, &receipt);
    let bytes = fs.content(format!("{LEGACY}/{}", clean::name("s1"))).unwrap();
    let destination = scope.directory.join(clean::name("s1"));
    fs.file(&destination, &bytes);
    let copy = Candidate::read(&fs, &destination, Provenance::V2).unwrap().identity(&fs).unwrap();
    put(&fs, &scope, &operation, &gjc_fsck::repair::receipts::finished(&receipt, State::Published, copy, &[]));
    settled(fs)
}

/// The legacy files: every fact of a transcript; of artifacts the bytes and modes, by their place below the artifact directory
/// wherever that lies.
pub fn sources(fs: &Memory) -> BTreeMap<PathBuf, (Option<Meta>, Option<Vec<u8>>)> {
    let mut all = BTreeMap::new();
    for (path, meta) in fs.snapshot() {
        let Ok(below) = path.strip_prefix(LEGACY) else { continue };
        let mut parts = below.components();
        let first = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
        let facts = (meta.kind == Kind::File).then_some(meta);
        let place =
            if first.starts_with(".gjc-migrate-") { Path::new("2026-01-01T00-00-00-000Z_s1").join(parts) } else { below.to_owned() };
        all.insert(place, (facts, fs.content(&path)));
    }
    all
}

/// Kind, mode and bytes by path.
pub type Shape = BTreeMap<PathBuf, (Kind, u32, Option<Vec<u8>>)>;

/// The tree without what chance and time decide: `.gjc-recovery` with what lies in it, and the bytes of locks and receipts.
pub fn shape(fs: &Memory) -> Shape {
    let all = fs.snapshot().into_iter().filter(|(path, _)| !path.components().any(|part| part.as_os_str() == ".gjc-recovery"));
    all.map(|(path, meta)| {
        let record = path.components().any(|part| part.as_os_str() == "locks" || part.as_os_str() == "receipts");
        let bytes = if record { None } else { fs.content(&path) };
        (path, (meta.kind, meta.mode, bytes))
    })
    .collect()
}

/// Whatever a repair leaves, at any moment: sources as they were; what stands in the scope under its own name is complete; every
/// lock parses.
pub fn nothing_is_harmed(what: &str, before: &Memory, now: &Memory) {
    assert_eq!(sources(now), sources(before), "{what}: a source changed");
    let was = shape(before);
    for (path, meta) in now.snapshot() {
        let Ok(below) = path.strip_prefix(scope()) else { continue };
        if meta.kind != Kind::File || below.components().any(|part| part.as_os_str() == ".gjc-recovery") || was.contains_key(&path) {
            continue;
        }
        let bytes = now.content(&path).unwrap();
        let text = below.to_string_lossy();
        if text.contains("/locks/") {
            assert!(lock::parse(&bytes).is_some(), "{what}: the lock {text} is torn");
        } else if text.contains("/receipts/") {
            assert!(gjc_fsck::agent::candidates::parse(&bytes).is_some(), "{what}: the receipt {text} is torn");
        } else if !text.starts_with(".gjc") {
            let copied = sources(before).get(below).and_then(|(_, bytes)| bytes.clone());
            assert_eq!(Some(bytes), copied, "{what}: {text} is not the copy of its source");
        }
        assert_eq!((meta.mode, meta.nlink), (0o600, 1), "{what}: {text}");
    }
}
