//! A scope with many transcripts or unknown names: every object costs the same number of file operations, however many there
//! are, and nothing healthy is blamed. (How long fifty thousand take is measured by `ci/bench.sh`.)

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used, reason = "a test builds its own trees")]

use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::check::run::{Options, Run, Target, run};
use gjc_fsck::corpus::clean;
use gjc_fsck::finding::Release;
use gjc_fsck::fsys::plant::plant;
use gjc_fsck::fsys::{Fs, Inject, Real};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// File operations that one healthy transcript of a scope may cost: it is listed, checked, and looked at by the listing.
const FOR_EACH: u64 = 30;

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
    /// The run, and the file operations it took.
    fn checked(&self) -> (Run, u64) {
        // One worker: two may ask for the identity of the same workspace at the same time, and the count would differ.
        let options = Options { jobs: Some(1), ..Options::new(Release::V0_17, rustix::process::geteuid().as_raw(), i128::MAX / 4) };
        let counting = Inject::new(&Real, |_| None);
        let run = run(vec![Target::Path(self.root.join("agent"))], &options, &counting, &|_| {});
        (run, counting.operations())
    }
}

fn private(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A scope of so many healthy transcripts: what the check says of it, and the file operations it took.
fn healthy(transcripts: usize) -> u64 {
    let agent = Agent::new();
    for n in 0..transcripts {
        let id = format!("{n:08x}-0000-7000-8000-000000000000");
        let text = clean::transcript(&id, &agent.workspace.to_string_lossy(), "");
        agent.file(&clean::name(&id), text.as_bytes());
    }
    let (run, operations) = agent.checked();
    assert_eq!(run.outcomes.len(), transcripts);
    let listed = run.outcomes.iter().filter(|outcome| outcome.verdicts.contains(&("list", "native_v2".into()))).count();
    assert_eq!(listed, transcripts);
    let codes: std::collections::BTreeSet<_> = run.findings.iter().map(|finding| finding.code.name).collect();
    assert!(codes.is_empty(), "{codes:?}");
    operations
}

#[test]
fn every_transcript_of_a_scope_costs_the_same_few_file_operations() {
    let (few, many, most) = (healthy(100), healthy(1_100), healthy(5_100));
    assert_eq!((most - many) / 4, many - few, "the next four thousand cost four times what the first thousand cost");
    assert!(many - few <= 1_000 * FOR_EACH, "{} operations for a thousand transcripts", many - few);
}

#[test]
fn outcomes_share_what_they_have_in_common() {
    let agent = Agent::new();
    for n in 0..3 {
        let text = format!(
            "{{\"type\":\"session\",\"version\":5,\"id\":\"s{n}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{}\"}}\n",
            agent.workspace.display()
        );
        agent.file(&format!("2026-01-01T00-00-00-000Z_s{n}.jsonl"), text.as_bytes());
    }
    let (run, _) = agent.checked();
    let [first, .., last] = run.outcomes.as_slice() else { panic!("three transcripts") };
    assert!(std::sync::Arc::ptr_eq(&first.verdicts, &last.verdicts));
    assert_eq!(first.cwd.as_deref().map(str::as_ptr), last.cwd.as_deref().map(str::as_ptr));
}

#[test]
fn many_unknown_names_are_listed_up_to_a_thousand_and_counted_beyond() {
    let agent = Agent::new();
    for n in 0..5_000 {
        std::fs::write(agent.scope.join(format!("n{n}")), b"").unwrap();
    }
    let (run, operations) = agent.checked();
    let foreign = run.findings.iter().filter(|finding| finding.code.name == "foreign_file").count();
    assert_eq!(foreign, 1_001, "what is beyond the first thousand is counted");
    assert!(operations < 5_000 * FOR_EACH, "{operations} operations");
}
