//! The sample agent directory of `demo`: several scopes, transcripts of versions 1 to 5, branches, a compaction, blobs, a
//! legacy directory, and one instance of each common kind of damage. Its files lie under `corpus/agent/sample`.
//!
//! It is the agent directory of a user who is not here ([`ROOT`]): it is judged as if it lay there.

use crate::agent::identity::{Identity, Platform};
use crate::agent::{binding, layout, legacy};
use crate::fsys::plant::Plant;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Where the sample would lie at its user's: what `--assume-root` names.
pub const ROOT: &str = "/home/ana/.gjc/agent";

macro_rules! sample {
    ($name:literal) => {
        include_bytes!(concat!("../../corpus/agent/sample/", $name)).as_slice()
    };
}

/// One workspace and what its scope holds.
struct Workspace {
    path: &'static str,
    mode: u32,
    binding: Binding,
    /// Holds a lock file that was never written.
    locked: bool,
    transcripts: &'static [(&'static str, &'static [u8])],
}

enum Binding {
    Canonical,
    /// The right values behind Windows line ends: somebody opened and saved it in an editor.
    Edited,
    Missing,
}

const WORKSPACES: [Workspace; 3] = [
    Workspace {
        path: "/home/ana/dev/app",
        mode: 0o700,
        binding: Binding::Canonical,
        locked: true,
        transcripts: &[
            ("2026-03-02T09-00-00-000Z_01a22bfd-a266-7001-bec6-7deb7dfe0001.jsonl", sample!("app/healthy.jsonl")),
            ("2026-03-03T14-00-00-000Z_01a22bfd-a266-7002-bec6-7deb7dfe0002.jsonl", sample!("app/torn-tail.jsonl")),
            ("2026-03-04T10-00-00-000Z_01a22bfd-a266-7003-bec6-7deb7dfe0003.jsonl", sample!("app/fused-line.jsonl")),
            ("2026-03-05T16-00-00-000Z_01a22bfd-a266-7004-bec6-7deb7dfe0004.jsonl", sample!("app/blob-missing.jsonl")),
            ("2026-03-06T11-00-00-000Z_01a22bfd-a266-7005-bec6-7deb7dfe0005.jsonl", sample!("app/stale-leaf.jsonl")),
        ],
    },
    Workspace {
        path: "/home/ana/dev/api",
        mode: 0o700,
        binding: Binding::Edited,
        locked: false,
        transcripts: &[("2026-03-07T08-00-00-000Z_01a22bfd-a266-7006-bec6-7deb7dfe0006.jsonl", sample!("api/no-final-newline.jsonl"))],
    },
    Workspace {
        path: "/home/ana/Projekt-ü",
        mode: 0o755,
        binding: Binding::Missing,
        locked: false,
        transcripts: &[("2026-03-08T12-00-00-000Z_01a22bfd-a266-7007-bec6-7deb7dfe0007.jsonl", sample!("ue/version-4.jsonl"))],
    },
];

const LEGACY: [(&str, &[u8]); 3] = [
    ("2026-03-01T09-00-00-000Z_01a22bfd-a266-7008-bec6-7deb7dfe0008.jsonl", sample!("legacy/version-3.jsonl")),
    ("2026-03-01T12-00-00-000Z_01a22bfd-a266-7009-bec6-7deb7dfe0009.jsonl", sample!("legacy/version-2.jsonl")),
    ("2026-03-01T15-00-00-000Z_01a22bfd-a266-700a-bec6-7deb7dfe000a.jsonl", sample!("legacy/version-1.jsonl")),
];

/// A blob that is whole: the flame graph of `app/healthy.jsonl`.
const FLAME_GRAPH: &[u8] = sample!("blobs/flame-graph");
/// A blob whose writer died half-way: its bytes are not those its name promises.
const DAMAGED: &[u8] = sample!("blobs/damaged");

/// Everything to make below a fresh folder that stands for [`ROOT`]. The same bytes and modes every time.
pub fn plants() -> Vec<Plant> {
    let mut plants = vec![Plant::directory(layout::SESSIONS), Plant::directory(layout::BLOBS)];
    for workspace in &WORKSPACES {
        plants.extend(scope(workspace));
    }
    let legacy = Path::new(layout::SESSIONS).join(legacy::absolute_name("/home/ana/dev/app"));
    plants.extend(LEGACY.iter().map(|(name, bytes)| Plant::file(legacy.join(name), *bytes)));
    plants.push(Plant::file(blob(&Sha256::digest(FLAME_GRAPH)), FLAME_GRAPH));
    plants.push(Plant::file(blob(&Sha256::digest(b"half of a picture")), DAMAGED));
    plants
}

fn blob(hash: &[u8]) -> PathBuf {
    Path::new(layout::BLOBS).join(data_encoding::HEXLOWER.encode(hash))
}

fn scope(workspace: &Workspace) -> Vec<Plant> {
    let identity = Identity { platform: Platform::Posix, canonical_path: workspace.path.to_owned() };
    let scope = Path::new(layout::SESSIONS).join(identity.directory_name());
    let internal = scope.join(layout::INTERNAL);
    let mut plants = vec![Plant::directory(&scope)];
    plants.extend(layout::PROTOCOL.iter().map(|role| Plant::directory(internal.join(role))));
    let text = binding::canonical_text(&identity);
    match workspace.binding {
        Binding::Canonical => plants.push(Plant::file(scope.join(layout::BINDING), text)),
        Binding::Edited => {
            let edited = [text.strip_suffix(b"\n").unwrap_or(&text), b"\r\n"].concat();
            plants.push(Plant::file(scope.join(layout::BINDING), edited));
        }
        Binding::Missing => {}
    }
    plants.extend(workspace.transcripts.iter().map(|(name, bytes)| Plant::file(scope.join(name), *bytes)));
    if workspace.locked {
        // A process died between making its lock file and writing its record.
        let operation = "5e55104f".repeat(8);
        plants.push(Plant::file(internal.join(layout::LOCKS).join(format!("{operation}.lock")), ""));
    }
    // The scope's own mode comes last: its children are made first.
    plants.push(Plant::directory(&scope).with_mode(workspace.mode));
    plants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_can_be_planted_and_is_the_same_every_time() {
        let (first, second) = (plants(), plants());
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
        let root = tempfile::tempdir().unwrap();
        crate::fsys::plant::plant(root.path(), &first).unwrap();
    }

    #[test]
    fn the_healthy_transcript_refers_to_the_blob_that_is_there() {
        let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(FLAME_GRAPH));
        let healthy = String::from_utf8(WORKSPACES[0].transcripts[0].1.to_vec()).unwrap();
        assert!(healthy.contains(&format!("blob:sha256:{hash}")));
    }
}
