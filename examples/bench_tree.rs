//! Writes the agent directory that `ci/bench.sh` measures: many small healthy transcripts in scopes of their own workspaces.
//!
//! `cargo run --release --example bench_tree -- DIR SCOPES TRANSCRIPTS`: `TRANSCRIPTS` in all, two lines each, below
//! `DIR/agent`; the workspaces stand below `DIR/workspaces`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a generator, not part of the tool")]

use gjc_fsck::agent::binding::canonical_text;
use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::layout::{BINDING, INTERNAL, LOCKS, RECEIPTS, SESSIONS, TOMBSTONES};
use std::fs::{create_dir_all, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn directory(path: &Path) {
    create_dir_all(path).unwrap();
    set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
}

fn file(path: &Path, bytes: &[u8]) {
    write(path, bytes).unwrap();
    set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

/// A healthy session of two lines.
fn transcript(id: &str, workspace: &Path) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":5,\"starredPatchVersion\":1,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{}\"}}\n\
         {{\"type\":\"message\",\"id\":\"e0000001\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\",\"timestamp\":1767225601000}}}}\n",
        workspace.display()
    )
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| "target/bench-tree".to_owned()));
    let scopes: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let transcripts: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    create_dir_all(&root).unwrap();
    let root = root.canonicalize().unwrap();
    directory(&root.join("agent"));
    directory(&root.join("agent").join(SESSIONS));
    for number in 0..scopes {
        let workspace = root.join(format!("workspaces/{number}"));
        create_dir_all(&workspace).unwrap();
        let identity = Identity { platform: Platform::Posix, canonical_path: workspace.to_string_lossy().into_owned() };
        let scope = root.join("agent").join(SESSIONS).join(identity.directory_name());
        for path in [scope.clone(), scope.join(INTERNAL)] {
            directory(&path);
        }
        for role in [LOCKS, RECEIPTS, TOMBSTONES] {
            directory(&scope.join(INTERNAL).join(role));
        }
        file(&scope.join(BINDING), &canonical_text(&identity));
        for at in (number..transcripts).step_by(scopes) {
            let id = format!("{at:08x}-0000-7000-8000-000000000000");
            file(&scope.join(format!("2026-01-01T00-00-00-000Z_{id}.jsonl")), transcript(&id, &workspace).as_bytes());
        }
    }
    println!("{transcripts} transcripts in {scopes} scopes");
}
