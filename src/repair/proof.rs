//! What a repair did to one session, written down so that anybody can look again: identities and hashes of both sides, each
//! artifact, the receipt, and what was left out (nothing, in a copy-retain migration).

use super::plan::{hex, text};
use crate::agent::artifacts;
use crate::agent::candidates::{self, Candidate, Provenance, artifacts_of};
use crate::agent::migration_receipt::ManifestEntry;
use crate::agent::record::TranscriptIdentity;
use crate::fsys::{Bound, Fs, Refusal, Watched, capture};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The form of a proof file.
pub const SCHEMA: &str = "gjc-fsck/proof/1";
/// Larger files are no proofs.
pub const LIMIT: u64 = 64 << 20;

/// One proof.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proof {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of this program.
    pub tool: String,
    /// Header id.
    pub session_id: String,
    /// The workspace.
    pub workspace: String,
    /// The 52 characters of the scope.
    pub scope: String,
    /// Operation name.
    pub operation: String,
    /// The legacy transcript.
    pub source: Source,
    /// The copy.
    pub destination: File,
    /// The copy has exactly the source's bytes.
    pub bytes_equal: bool,
    /// The artifacts, in the order of the receipt's manifest.
    pub artifacts: Vec<Artifact>,
    /// The committed receipt.
    pub receipt: Receipt,
    /// What was not copied, and why.
    pub left_out: Vec<LeftOut>,
}

/// The source, before the first and after the last step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Before.
    pub before: File,
    /// After.
    pub after: File,
}

/// A transcript as it was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct File {
    /// Where.
    pub path: String,
    /// Device, in decimal.
    pub dev: String,
    /// Inode, in decimal.
    pub ino: String,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970, in decimal.
    pub mtime_ns: String,
    /// SHA-256, lower-case hex.
    pub sha256: String,
}

/// One artifact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Path below the artifact directory; empty for the directory itself.
    pub path: String,
    /// `directory` or `file`.
    pub kind: String,
    /// Bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// SHA-256 of a file, the same on both sides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<String>,
}

/// The committed receipt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Where.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// Something that was not copied.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// What.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl From<&TranscriptIdentity> for File {
    fn from(identity: &TranscriptIdentity) -> Self {
        File {
            path: identity.canonical_path.to_string(),
            dev: identity.dev.to_string(),
            ino: identity.ino.to_string(),
            size: identity.size,
            mtime_ns: identity.mtime_ns.to_string(),
            sha256: identity.sha256.clone(),
        }
    }
}

impl From<&ManifestEntry> for Artifact {
    fn from(entry: &ManifestEntry) -> Self {
        match entry {
            ManifestEntry::Directory { path } => Artifact { path: path.to_string(), kind: "directory".into(), size: None, sha256: None },
            ManifestEntry::File { path, size, sha256 } => {
                Artifact { path: path.to_string(), kind: "file".into(), size: Some(*size), sha256: Some(sha256.clone()) }
            }
        }
    }
}

impl Proof {
    /// Name of the proof's file.
    pub fn file_name(&self) -> String {
        format!("{}.proof.json", self.operation)
    }
}

/// One thing that was looked at again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Checked {
    /// What must hold.
    pub what: String,
    /// The object.
    pub path: String,
    /// Whether it does.
    pub holds: bool,
    /// What was found.
    pub found: String,
}

/// Looks at everything that a proof says. The copy may have grown since: a session goes on.
pub fn verify(fs: &dyn Fs, proof: &Proof) -> Vec<Checked> {
    let mut all = Vec::new();
    let mut check = |what: &str, path: &str, outcome: Result<String, String>| {
        let holds = outcome.is_ok();
        let found = outcome.unwrap_or_else(|why| why);
        all.push(Checked { what: what.to_owned(), path: path.to_owned(), holds, found });
    };
    let (source, destination) = (&proof.source.after, &proof.destination);
    let unchanged = if proof.source.before == proof.source.after { Ok("the same".to_owned()) } else { Err("they differ".to_owned()) };
    check("the source was the same before and after", &source.path, unchanged);
    let (source_path, destination_path) = (PathBuf::from(&source.path), PathBuf::from(&destination.path));
    let from = Candidate::read(fs, &source_path, Provenance::Legacy);
    let from = from.and_then(|candidate| candidate.identity(fs).map(|identity| (candidate, identity)));
    check(
        "the source is unchanged since",
        &source.path,
        match &from {
            Ok((_, identity)) if File::from(identity) == *source => Ok(format!("{} bytes, sha256 {}", identity.size, identity.sha256)),
            Ok((_, identity)) if identity.sha256 == source.sha256 => Err("the same bytes, but another object or time".to_owned()),
            Ok((_, identity)) => Err(format!("other bytes: {}, sha256 {}", identity.size, identity.sha256)),
            Err(why) => Err(said(why)),
        },
    );
    check("the copy begins with the source's bytes", &destination.path, begins(fs, &destination_path, destination.size, &source.sha256));
    let root = artifacts_of(&destination_path);
    for artifact in &proof.artifacts {
        let path = root.join(&artifact.path);
        let outcome = match (&artifact.sha256, artifact.size) {
            (Some(sha256), Some(size)) => match artifacts::hash(fs, &path) {
                Ok(hash) if hash == *sha256 => Ok(format!("{size} bytes, sha256 {sha256}")),
                Ok(hash) => Err(format!("other bytes: sha256 {hash}")),
                Err(why) => Err(said(&why)),
            },
            _ => match fs.lstat(&path) {
                Ok(meta) if meta.kind == crate::fsys::Kind::Directory => Ok("a directory".to_owned()),
                Ok(meta) => Err(format!("a {}", meta.kind.noun())),
                Err(error) => Err(error.token().to_owned()),
            },
        };
        check("the artifact is in the copy", &text(&path), outcome);
    }
    let receipt = PathBuf::from(&proof.receipt.path);
    check(
        "the receipt is the one that was written",
        &proof.receipt.path,
        match capture(fs, &receipt, Bound::Ceiling(LIMIT)) {
            Ok(captured) if hex(&Sha256::digest(&captured.bytes)) == proof.receipt.sha256 => Ok("the same bytes".to_owned()),
            Ok(_) => Err("other bytes".to_owned()),
            Err(why) => Err(said(&why)),
        },
    );
    let to = Candidate::read(fs, &destination_path, Provenance::V2);
    check(
        "gjc matches the receipt (migrated_v2)",
        &proof.receipt.path,
        match (&from, &to) {
            (Ok((from, _)), Ok(to)) => match candidates::matches(fs, &proof.scope, &receipt, from, to) {
                Ok(()) => Ok("all nine clauses hold".to_owned()),
                Err(clause) => Err(format!("clause {} does not hold: {}", clause.number(), clause.text())),
            },
            (Err(why), _) | (_, Err(why)) => Err(said(why)),
        },
    );
    all
}

pub(super) fn said(why: &Refusal) -> String {
    if why.is_absent() { "nothing stands there".to_owned() } else { why.to_string() }
}

/// Whether a file begins with so many bytes of this hash.
pub(super) fn begins(fs: &dyn Fs, path: &Path, size: u64, sha256: &str) -> Result<String, String> {
    let looked = || -> Result<(String, u64, u64), Refusal> {
        let mut watched = Watched::open(fs, path)?;
        let (mut hash, mut left) = (Sha256::new(), size);
        let mut block = vec![0; 1 << 16];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(block.len()).min(block.len());
            let read = watched.read(block.get_mut(..most).unwrap_or_default()).map_err(|e| Refusal::Failed(watched.read_error(&e)))?;
            if read == 0 {
                break;
            }
            hash.update(block.get(..read).unwrap_or_default());
            left -= read as u64;
        }
        let meta = watched.finish()?;
        Ok((hex(&hash.finalize()), size - left, meta.size))
    };
    match looked() {
        Ok((_, read, _)) if read < size => Err(format!("it has {read} of {size} bytes")),
        Ok((found, _, now)) if found == sha256 => Ok(match now.saturating_sub(size) {
            0 => format!("{size} bytes, nothing added"),
            more => format!("{size} bytes, {more} added since"),
        }),
        Ok((found, ..)) => Err(format!("other bytes: sha256 {found}")),
        Err(why) => Err(said(&why)),
    }
}
