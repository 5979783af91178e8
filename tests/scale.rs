//! A scope with as many transcripts, remnants and unknown names as users have met: audited in time, and never blamed.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test builds its own trees and tells how long it took"
)]

use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::check::run::{Options, Run, Target, run};
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::plant::plant;
use gjc_fsck::fsys::{Fs, Real};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is promised is promised of the released program; a debug build proves the same with a tenth.
const TRANSCRIPTS: usize = if cfg!(debug_assertions) { 5_000 } else { 50_000 };

struct Agent {
    _folder: tempfile::TempDir,
    root: PathBuf,
    scope: PathBuf,
    workspace: PathBuf,
}

impl Agent {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Real.realpath(folder.path()).unwrap();
        let workspace = root.join("ws");
        std::fs::create_dir(&workspace).unwrap();
        let identity = Identity { platform: Platform::Posix, canonical_path: workspace.to_string_lossy().into_owned() };
        let scope = root.join("agent/sessions").join(identity.directory_name());
        plant(&scope, &clean::scope(&identity, [])).unwrap();
        Agent { _folder: folder, root, scope, workspace }
    }
    fn file(&self, name: &str, bytes: &[u8]) {
        let path = self.scope.join(name);
        std::fs::write(&path, bytes).unwrap();
        private(&path, 0o600);
    }
    fn checked(&self) -> (Run, Duration) {
        let options = Options::new(Release::V0_17, rustix::process::geteuid().as_raw(), i128::MAX / 4);
        let begin = Instant::now();
        let run = run(vec![Target::Path(self.root.join("agent"))], &options, &Real, &|_| {});
        (run, begin.elapsed())
    }
}

fn private(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Code built for debugging is many times slower; what is promised is the released program.
fn within(seconds: u64, took: Duration, what: &str) {
    println!("{what}: {took:?}");
    let limit = if cfg!(debug_assertions) { seconds * 15 } else { seconds };
    assert!(took < Duration::from_secs(limit), "{what} took {took:?}");
}

#[test]
fn fifty_thousand_transcripts_in_one_scope() {
    let agent = Agent::new();
    for n in 0..TRANSCRIPTS {
        let id = format!("{n:08x}-0000-7000-8000-000000000000");
        let text = clean::transcript(&id, &agent.workspace.to_string_lossy(), "");
        agent.file(&clean::name(&id), text.as_bytes());
    }
    let (run, took) = agent.checked();
    within(4, took, &format!("{TRANSCRIPTS} transcripts"));
    assert_eq!(run.outcomes.len(), TRANSCRIPTS);

    let listed = run.outcomes.iter().filter(|outcome| outcome.verdicts.contains(&("list", "native_v2".into()))).count();

    assert_eq!(listed, TRANSCRIPTS);
    let codes: std::collections::BTreeSet<_> = run.findings.iter().map(|finding| finding.code.name).collect();
    assert!(codes.is_empty(), "{codes:?}");
}

#[test]
fn a_hundred_thousand_unknown_names() {
    let agent = Agent::new();
    for n in 0..100_000 {
        std::fs::write(agent.scope.join(format!("n{n}")), b"").unwrap();
    }
    let (run, took) = agent.checked();
    within(4, took, "100,000 unknown names");
    let foreign = run.findings.iter().filter(|finding| finding.code.name == "foreign_file").count();
    assert_eq!(foreign, 1_001, "what is beyond the first thousand is counted");
}
