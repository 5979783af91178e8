//! Writes the agent directory that `ci/bench.sh` measures: many small healthy transcripts in scopes of their own workspaces.
//!
//! `cargo run --release --example bench_tree -- DIR SCOPES TRANSCRIPTS [RECEIPTS [BLOBS]]`: `TRANSCRIPTS` in all, two lines each,
//! below `DIR/agent`; the workspaces stand below `DIR/workspaces`. `RECEIPTS`: so many `prepared` retirement receipts of about
//! 1 KB, of transcripts that are gone, in the first scope. `BLOBS`: so many blobs of 4 MiB.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a generator, not part of the tool")]

use gjc_fsck::agent::binding::canonical_text;
use gjc_fsck::agent::identity::{Identity, Platform};
use gjc_fsck::agent::layout::{BINDING, BLOBS, INTERNAL, LOCKS, RECEIPTS, SESSIONS, TOMBSTONES};
use gjc_fsck::agent::owner_evidence::{Entry, Evidence, Inode, Locator, TreeSnapshot, owner_id};
use gjc_fsck::agent::record::NodeKind;
use gjc_fsck::gc::{Identity as Prepared, Key, Progress, Receipt, State, Target};
use gjc_fsck::json::JsString;
use sha2::{Digest, Sha256};
use std::fs::{create_dir_all, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// The first receipt of the retirement of a session: an owner of a directory and one file.
fn prepared(scope: &str, directory: &Path, number: usize) -> (String, Vec<u8>) {
    let session: JsString = format!("{number:08x}-0000-7000-8000-000000000000").as_str().into();
    let path = directory.join(format!("2026-01-01T00-00-00-000Z_{session}.jsonl"));
    let transcript_path: JsString = path.to_string_lossy().as_ref().into();
    let locator = Locator { owner_id: owner_id(session.as_js()).unwrap(), directory_dev: 2049, directory_ino: 1_000_000 + number as u64 };
    let root = Inode { dev: 2049, ino: locator.directory_ino };
    let entry = |path: &str, kind, ino, sha256| Entry {
        relative_path: path.into(),
        kind,
        dev: 2049,
        ino,
        nlink: 1,
        size: 4096,
        mtime_ns: 1_767_225_600_000_000_000_u64.into(),
        ctime_ns: 1_767_225_600_000_000_000_u64.into(),
        sha256,
    };
    let entries = vec![entry("", NodeKind::Directory, root.ino, None), entry("0.bash.log", NodeKind::File, root.ino + 1, Some([7; 32]))];
    let receipt = Receipt {
        scope: scope.to_owned(),
        target: Arc::new(Target {
            transcript_path: transcript_path.clone(),
            session_id: session.clone(),
            cwd: "/work".into(),
            identity: Prepared { dev: 2049_u64.into(), ino: 7_u64.into(), size: 512, mtime_ns: 1_u64.into(), sha256: [1; 32] },
            locator: locator.clone(),
        }),
        evidence: Evidence { session_id: session, locator, parent: Inode { dev: 2049, ino: 9 }, tree: TreeSnapshot { root, entries } },
        progress: Progress::Prepared,
    };
    (Key::of(transcript_path.as_js()).name(State::Prepared), receipt.encode().unwrap())
}

/// A blob of 4 MiB that no other number has, under the name that its content gives it.
fn blob(number: usize) -> (String, Vec<u8>) {
    let bytes = format!("{number:08}").repeat(512 * 1024).into_bytes();
    (data_encoding::HEXLOWER.encode(&Sha256::digest(&bytes)), bytes)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| "target/bench-tree".to_owned()));
    let scopes: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let transcripts: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let receipts: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let blobs: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
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
        for at in 0..if number == 0 { receipts } else { 0 } {
            let (name, bytes) = prepared(&identity.digest_text(), &scope, at);
            file(&scope.join(INTERNAL).join(RECEIPTS).join(name), &bytes);
        }
        for at in (number..transcripts).step_by(scopes) {
            let id = format!("{at:08x}-0000-7000-8000-000000000000");
            file(&scope.join(format!("2026-01-01T00-00-00-000Z_{id}.jsonl")), transcript(&id, &workspace).as_bytes());
        }
    }
    if blobs > 0 {
        directory(&root.join("agent").join(BLOBS));
    }
    for number in 0..blobs {
        let (name, bytes) = blob(number);
        file(&root.join("agent").join(BLOBS).join(name), &bytes);
    }
    println!("{transcripts} transcripts in {scopes} scopes, {receipts} retirement receipts, {blobs} blobs");
}
