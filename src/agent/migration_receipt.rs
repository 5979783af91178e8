//! Migration receipts: names, the record as gjc writes it, and the rules by which gjc reads one back (spec 02 §6.5, §6.7,
//! §7.2). Pure; what has to be looked up on disk is asked of [`Evidence`].

use super::collation::locale_compare;
use super::record::{
    BigInt, NodeKind, TranscriptIdentity, Tree, decimal, equals, is_text, is_tree, json_text, record_bytes, spells, to_bigint,
};
use super::tombstone::is_sibling;
use crate::json::spelling::is_hex64;
use crate::json::value::Array;
use crate::json::view::View;
use crate::json::{JsString, Kind, Object, Value};

/// The states of a migration, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Before anything moved.
    Prepared,
    /// The artifact root is detached.
    ArtifactDetached,
    /// The copy is published.
    Published,
    /// Finished.
    Committed,
}

impl State {
    /// The record's word.
    pub const fn word(self) -> &'static str {
        match self {
            State::Prepared => "prepared",
            State::ArtifactDetached => "artifact_detached",
            State::Published => "published",
            State::Committed => "committed",
        }
    }
    /// Basename of the receipt of this state.
    pub fn file_name(self, operation: &str) -> String {
        match self {
            State::Prepared => format!("{operation}.prepared.json"),
            State::ArtifactDetached => format!("{operation}.detached.json"),
            State::Published => format!("{operation}.published.json"),
            State::Committed => format!("{operation}.json"),
        }
    }
}

/// What a name in `receipts/` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name<'a> {
    /// R2 of spec 02 §9.8: a migration receipt.
    Migration {
        /// Operation name.
        operation: &'a str,
        /// By its suffix.
        state: State,
    },
    /// R1: a retirement receipt; its grammar belongs to the retirement journal.
    Retirement(&'a str),
    /// Neither.
    Foreign,
}

/// Reads a name of `receipts/`.
pub fn parse_name(name: &[u8]) -> Name<'_> {
    let Ok(text) = std::str::from_utf8(name) else { return Name::Foreign };
    let Some(stem) = text.strip_suffix(".json") else { return Name::Foreign };
    if is_retirement(stem) {
        return Name::Retirement(text);
    }
    let (operation, state) = match stem.split_once('.') {
        None => (stem, State::Committed),
        Some((operation, "prepared")) => (operation, State::Prepared),
        Some((operation, "detached")) => (operation, State::ArtifactDetached),
        Some((operation, "published")) => (operation, State::Published),
        Some(_) => return Name::Foreign,
    };
    if is_hex64(operation) { Name::Migration { operation, state } } else { Name::Foreign }
}

/// R1 without `.json`.
fn is_retirement(stem: &str) -> bool {
    let Some(rest) = stem.strip_prefix("gc-retirement-") else { return false };
    let Some((hex, rest)) = rest.split_at_checked(64) else { return false };
    let Some(kind) = rest.strip_prefix('-') else { return false };
    let attempt = |kind: &str| {
        kind.strip_prefix("owner_pending-").is_some_and(|digits| digits.len() >= 8 && digits.bytes().all(|digit| digit.is_ascii_digit()))
    };
    is_hex64(hex) && (matches!(kind, "prepared" | "artifacts_removed" | "owner_retired") || attempt(kind))
}

/// One side of a migration as the record names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Party {
    /// Absolute path.
    pub path: JsString,
    /// Session id; also `header.id`.
    pub session_id: JsString,
    /// `header.cwd`.
    pub cwd: JsString,
    /// Present for a source, and for the destination from `published` on; `sha256` is repeated beside it.
    pub identity: Option<TranscriptIdentity>,
}

/// One entry of `artifactManifest`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ManifestEntry {
    /// A directory; the root has the empty path.
    Directory {
        /// `/`-separated path below the artifact root.
        path: JsString,
    },
    /// A regular file.
    File {
        /// `/`-separated path below the artifact root.
        path: JsString,
        /// Bytes.
        size: u64,
        /// SHA-256 in lower-case hex.
        sha256: String,
    },
}

impl ManifestEntry {
    /// Its path.
    pub const fn path(&self) -> &JsString {
        match self {
            ManifestEntry::Directory { path } | ManifestEntry::File { path, .. } => path,
        }
    }
    const fn kind(&self) -> NodeKind {
        match self {
            ManifestEntry::Directory { .. } => NodeKind::Directory,
            ManifestEntry::File { .. } => NodeKind::File,
        }
    }
    fn to_value(&self) -> Value {
        let mut entry = Object::from_iter([("kind", Value::string(self.kind().word())), ("path", Value::String(self.path().clone()))]);
        if let ManifestEntry::File { size, sha256, .. } = self {
            entry.set("size", Value::Number(*size as f64));
            entry.set("sha256", Value::string(sha256.clone()));
        }
        Value::Object(entry)
    }
}

/// Sorts a manifest as gjc does: `localeCompare` on path, then on kind.
pub fn sort_manifest(manifest: &mut [ManifestEntry]) {
    let directory = |entry: &ManifestEntry| matches!(entry, ManifestEntry::Directory { .. });
    manifest.sort_by(|a, b| locale_compare(&a.path().to_string(), &b.path().to_string()).then(directory(b).cmp(&directory(a))));
}

/// Identity of an artifact root or placeholder: the directory and its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirectoryIdentity {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Size that stat reports.
    pub size: u64,
    /// Modification time in nanoseconds.
    pub mtime_ns: i128,
    /// Device of the parent directory.
    pub parent_dev: u64,
    /// Inode of the parent directory.
    pub parent_ino: u64,
}

impl DirectoryIdentity {
    fn to_value(self) -> Value {
        Value::Object(Object::from_iter([
            ("dev", decimal(self.dev)),
            ("ino", decimal(self.ino)),
            ("size", decimal(self.size)),
            ("mtimeNs", decimal(self.mtime_ns)),
            ("parentDev", decimal(self.parent_dev)),
            ("parentIno", decimal(self.parent_ino)),
        ]))
    }
}

/// `sourceArtifactQuarantine`: the artifact root that is, or is going to be, detached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quarantine {
    /// Original path of the artifact root.
    pub path: JsString,
    /// Where it lies while it is copied.
    pub detached_path: JsString,
    /// Its identity.
    pub identity: DirectoryIdentity,
    /// Snapshot of the tree.
    pub tree: Tree,
}

/// `sourceArtifactCleanup`: the placeholder directory that an exchange left at the original path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placeholder {
    /// Where it was kept.
    pub retained_path: JsString,
    /// Its identity.
    pub identity: DirectoryIdentity,
    /// A tree of exactly one entry, the root.
    pub tree: Tree,
}

/// `detachOutcome` of an `artifact_detached` record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DetachOutcome {
    /// No placeholder.
    Clean,
    /// A placeholder was left.
    CleanupPending,
}

/// A migration receipt as gjc writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// Which step it proves.
    pub state: State,
    /// Attempt id of the lock.
    pub attempt_id: JsString,
    /// 52-character scope digest.
    pub scope: String,
    /// The legacy transcript.
    pub source: Party,
    /// The v2 transcript.
    pub destination: Party,
    /// Empty in `prepared` and `artifact_detached`.
    pub manifest: Vec<ManifestEntry>,
    /// Only when the source has an artifact directory.
    pub quarantine: Option<Quarantine>,
    /// Only when the detach left a placeholder.
    pub cleanup: Option<Placeholder>,
    /// Only in `artifact_detached`.
    pub detach_outcome: Option<DetachOutcome>,
}

/// The word of a quarantine's role.
pub const DETACHED_ROLE: &str = "detached_artifact_root";
/// The word of a placeholder's role.
pub const PLACEHOLDER_ROLE: &str = "exchange_placeholder";

impl Receipt {
    /// The file's bytes: keys in gjc's order, one LF.
    pub fn encode(&self) -> Vec<u8> {
        record_bytes(&self.to_value())
    }
    /// The record form.
    pub fn to_value(&self) -> Value {
        let party = |party: &Party, with_identity: bool| {
            let mut object = Object::from_iter([
                ("path", Value::String(party.path.clone())),
                ("sessionId", Value::String(party.session_id.clone())),
                (
                    "header",
                    Value::Object(Object::from_iter([
                        ("id", Value::String(party.session_id.clone())),
                        ("cwd", Value::String(party.cwd.clone())),
                    ])),
                ),
            ]);
            if let Some(identity) = party.identity.as_ref().filter(|_| with_identity) {
                object.set("identity", identity.to_value());
                object.set("sha256", Value::string(identity.sha256.clone()));
            }
            Value::Object(object)
        };
        let mut record = Object::from_iter([
            ("schemaVersion", Value::Number(2.0)),
            ("state", Value::string(self.state.word())),
            ("policy", Value::string("copy-retain")),
            ("attemptId", Value::String(self.attempt_id.clone())),
            ("scope", Value::string(self.scope.clone())),
            ("source", party(&self.source, true)),
            ("destination", party(&self.destination, self.state >= State::Published)),
            ("artifactManifest", Value::Array(Array::from(self.manifest.iter().map(ManifestEntry::to_value).collect::<Vec<_>>()))),
        ]);
        if let Some(quarantine) = &self.quarantine {
            let mut object = Object::from_iter([
                ("path", Value::String(quarantine.path.clone())),
                ("detachedPath", Value::String(quarantine.detached_path.clone())),
                ("identity", quarantine.identity.to_value()),
                ("tree", quarantine.tree.to_value()),
            ]);
            if self.state != State::Prepared {
                object.set("role", Value::string(DETACHED_ROLE));
            }
            record.set("sourceArtifactQuarantine", Value::Object(object));
        }
        if let Some(cleanup) = &self.cleanup {
            record.set(
                "sourceArtifactCleanup",
                Value::Object(Object::from_iter([
                    ("state", Value::string("cleanup_pending")),
                    ("role", Value::string(PLACEHOLDER_ROLE)),
                    ("retainedPath", Value::String(cleanup.retained_path.clone())),
                    ("identity", cleanup.identity.to_value()),
                    ("tree", cleanup.tree.to_value()),
                ])),
            );
        }
        if let Some(outcome) = self.detach_outcome {
            let word = match outcome {
                DetachOutcome::Clean => "clean",
                DetachOutcome::CleanupPending => "cleanup_pending",
            };
            record.set("detachOutcome", Value::string(word));
        }
        Value::Object(record)
    }

    /// True when `found`, read from the `prepared` receipt's place, matches this plan (spec 02 §6.5). `attemptId` is not
    /// compared; the tree is compared as JSON text, so the root's ctime counts (02a.1).
    pub fn prepared_matches(&self, found: &Value) -> bool {
        let Some(source_identity) = &self.source.identity else { return false };
        let (Some(source), Some(destination)) = (found.member("source"), found.member("destination")) else { return false };
        let Some(manifest) = found.member("artifactManifest").and_then(Value::as_array) else { return false };
        equals(found, "schemaVersion", 2.0)
            && is_text(found, "state", b"prepared")
            && is_text(found, "policy", b"copy-retain")
            && is_text(found, "scope", self.scope.as_bytes())
            && manifest.is_empty()
            && is_text(source, "path", self.source.path.as_bytes())
            && is_text(source, "sessionId", self.source.session_id.as_bytes())
            && is_text(source, "sha256", source_identity.sha256.as_bytes())
            && source.member("identity").is_some_and(|identity| same_file(identity, source_identity))
            && is_text(destination, "path", self.destination.path.as_bytes())
            && is_text(destination, "sessionId", self.destination.session_id.as_bytes())
            && destination.member("header").is_some_and(|header| {
                is_text(header, "id", self.destination.session_id.as_bytes()) && is_text(header, "cwd", self.destination.cwd.as_bytes())
            })
            && self.prepared_quarantine_matches(found.member("sourceArtifactQuarantine"))
    }
    fn prepared_quarantine_matches(&self, found: Option<&Value>) -> bool {
        match (&self.quarantine, found) {
            (None, None) => true,
            (Some(plan), Some(found)) => {
                is_text(found, "path", plan.path.as_bytes())
                    && is_text(found, "detachedPath", plan.detached_path.as_bytes())
                    && found.member("identity").is_some_and(|identity| {
                        spells(identity, "dev", plan.identity.dev)
                            && spells(identity, "ino", plan.identity.ino)
                            && spells(identity, "size", plan.identity.size)
                            && spells(identity, "mtimeNs", plan.identity.mtime_ns)
                    })
                    && found.member("tree").is_some_and(|tree| json_text(tree) == json_text(&plan.tree.to_value()))
            }
            _ => false,
        }
    }
}

/// `identity` names this file: dev, ino, mtime as strings, size as a number.
fn same_file(identity: &Value, file: &TranscriptIdentity) -> bool {
    spells(identity, "dev", file.dev)
        && spells(identity, "ino", file.ino)
        && equals(identity, "size", file.size as f64)
        && spells(identity, "mtimeNs", file.mtime_ns)
}

/// The clauses of spec 02 §7.2 that a committed receipt can break, by their numbers there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Clause {
    /// 1: captured, valid JSON, an object.
    Readable,
    /// 2: paths and source hash.
    Paths,
    /// 3: source unchanged, destination the same object and still beginning with the source's content.
    Lineage,
    /// 4: the manifest's shape.
    ManifestShape,
    /// 5: the recorded placeholder still exists unchanged.
    Placeholder,
    /// 6: schema, state, policy, scope.
    Fixed,
    /// 7: every manifest entry exists in the destination's artifact directory.
    Manifest,
    /// 8: the source's ids, cwd and identity.
    Source,
    /// 9: the destination's ids, cwd and inode.
    Destination,
}

impl Clause {
    /// Number in spec 02 §7.2.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
    /// What it asks for, for a message.
    pub const fn text(self) -> &'static str {
        match self {
            Clause::Readable => "it is a readable JSON object",
            Clause::Paths => "it names these two paths and the source's hash",
            Clause::Lineage => "the v2 file still begins with the whole content of the legacy file",
            Clause::ManifestShape => "its artifact manifest is well formed",
            Clause::Placeholder => "the placeholder directory that it records still exists unchanged",
            Clause::Fixed => "schema, state, policy and scope are those of a committed receipt of this scope",
            Clause::Manifest => "every artifact of its manifest exists unchanged beside the v2 file",
            Clause::Source => "it records the legacy file as it is now",
            Clause::Destination => "it records the v2 file's session, cwd and inode",
        }
    }
}

/// What only the disk can answer for a receipt that is being matched.
pub trait Evidence {
    /// Clause 3: both files captured again, the source unchanged, the destination the same object that begins with it.
    fn lineage_holds(&self) -> bool;
    /// Clause 5: a real directory directly in the legacy directory with this identity and exactly this recorded tree.
    fn placeholder_holds(&self, placeholder: &Value) -> bool;
    /// Clause 7: every well-formed manifest entry exists in the destination's artifact directory.
    fn manifest_holds(&self, manifest: &[Value]) -> bool;
}

/// One transcript that a receipt is matched against: identity, session id inside it, and the header's cwd text.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The file as captured.
    pub identity: &'a TranscriptIdentity,
    /// Header cwd.
    pub cwd: &'a JsString,
}

/// Whether a committed receipt matches source and destination; the first broken clause otherwise.
///
/// Clauses that need no disk are asked first within their number; the order of numbers is kept, so that a check can name
/// the first broken one. Any exception in gjc is "no match" as well.
pub fn matches(receipt: &Value, scope: &str, source: Side<'_>, destination: Side<'_>, disk: &dyn Evidence) -> Result<(), Clause> {
    let hold = |holds: bool, clause: Clause| if holds { Ok(()) } else { Err(clause) };
    hold(receipt.is_record(), Clause::Readable)?;
    let (from, to) = (receipt.member("source"), receipt.member("destination"));
    let (Some(from), Some(to)) = (from, to) else { return Err(Clause::Paths) };
    hold(
        is_text(to, "path", destination.identity.canonical_path.as_bytes())
            && is_text(from, "path", source.identity.canonical_path.as_bytes())
            && is_text(from, "sha256", source.identity.sha256.as_bytes()),
        Clause::Paths,
    )?;
    hold(disk.lineage_holds(), Clause::Lineage)?;
    let manifest = receipt.member("artifactManifest").and_then(Value::as_array).ok_or(Clause::ManifestShape)?;
    hold(manifest.iter().all(is_manifest_entry), Clause::ManifestShape)?;
    if let Some(cleanup) = receipt.member("sourceArtifactCleanup") {
        let role =
            receipt.member("sourceArtifactQuarantine").is_some_and(|quarantine| is_text(quarantine, "role", DETACHED_ROLE.as_bytes()));
        hold(role && names_placeholder(cleanup) && disk.placeholder_holds(cleanup), Clause::Placeholder)?;
    }
    hold(has_fixed_fields(receipt, scope), Clause::Fixed)?;
    hold(disk.manifest_holds(manifest), Clause::Manifest)?;
    hold(
        is_text(from, "sessionId", source.identity.session_id.as_bytes())
            && from.member("header").is_some_and(|header| {
                is_text(header, "id", source.identity.session_id.as_bytes()) && is_text(header, "cwd", source.cwd.as_bytes())
            })
            && from.member("identity").is_some_and(|identity| same_file(identity, source.identity)),
        Clause::Source,
    )?;
    hold(
        is_text(to, "sessionId", destination.identity.session_id.as_bytes())
            && to.member("header").is_some_and(|header| {
                is_text(header, "id", destination.identity.session_id.as_bytes()) && is_text(header, "cwd", destination.cwd.as_bytes())
            })
            && to.member("identity").is_some_and(|identity| {
                spells(identity, "dev", destination.identity.dev) && spells(identity, "ino", destination.identity.ino)
            }),
        Clause::Destination,
    )
}

/// Clause 6.
pub fn has_fixed_fields(receipt: &Value, scope: &str) -> bool {
    equals(receipt, "schemaVersion", 2.0)
        && is_text(receipt, "state", b"committed")
        && is_text(receipt, "policy", b"copy-retain")
        && is_text(receipt, "scope", scope.as_bytes())
}

/// Clause 4 for one entry.
pub fn is_manifest_entry(entry: &Value) -> bool {
    let Some(path) = entry.str_member("path") else { return false };
    if !super::record::is_plain_relative(&path) {
        return false;
    }
    match entry.member("kind") {
        Some(kind) if kind.is_str("directory") => true,
        Some(kind) if kind.is_str("file") => {
            let sha256 = entry.str_member("sha256").is_some_and(|text| std::str::from_utf8(&text).is_ok_and(is_hex64));
            sha256 && entry.member("size").and_then(View::as_f64).is_some_and(is_safe_size)
        }
        _ => false,
    }
}

/// A safe integer that is not negative.
fn is_safe_size(size: f64) -> bool {
    size.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&size)
}

/// The members of the identity of an artifact root or a placeholder.
const IDENTITY: [&str; 6] = ["dev", "ino", "size", "mtimeNs", "parentDev", "parentIno"];

/// All of them are texts, as gjc writes them.
fn has_texts(identity: &Value) -> bool {
    IDENTITY.iter().all(|key| identity.str_member(key).is_some())
}
/// `BigInt` reads all of them; a number that is no text is read, too.
fn has_numbers(identity: &Value) -> bool {
    IDENTITY.iter().all(|key| identity.member(key).is_some_and(|number| to_bigint(number) != BigInt::SyntaxError))
}

/// The shape half of clause 5: state, role, retained path, a tree of exactly its root, and an identity whose members are there
/// and can be read as numbers.
fn names_placeholder(cleanup: &Value) -> bool {
    is_placeholder_of(cleanup, has_numbers)
}

/// The same of a record as gjc writes it: the members of its identity are texts.
pub fn is_placeholder(cleanup: &Value) -> bool {
    is_placeholder_of(cleanup, has_texts)
}

fn is_placeholder_of(cleanup: &Value, identity: fn(&Value) -> bool) -> bool {
    is_text(cleanup, "state", b"cleanup_pending")
        && is_text(cleanup, "role", PLACEHOLDER_ROLE.as_bytes())
        && cleanup.str_member("retainedPath").is_some()
        && cleanup.member("identity").is_some_and(identity)
        && cleanup
            .member("tree")
            .is_some_and(|tree| is_tree(tree) && tree.member("entries").and_then(Value::as_array).is_some_and(|e| e.len() == 1))
}

/// A quarantine that recovery accepts (spec 02 §6.7): what `prepared` or `detached` says about a detached artifact root.
#[derive(Clone, Copy, Debug)]
pub struct Recoverable<'a> {
    /// The whole `sourceArtifactQuarantine`.
    pub quarantine: &'a Value,
    /// `clean`, `cleanup_pending`, or none for a `prepared` receipt.
    pub outcome: Option<DetachOutcome>,
}

/// Reads the quarantine of a `prepared` or `detached` receipt for recovery. `Ok(None)`: there is none. That a recorded
/// placeholder still stands is for the caller to ask.
///
/// `artifacts` is the transcript path without `.jsonl`, `directory` the legacy directory.
///
/// # Errors
/// What gjc answers to a quarantine that it cannot use.
pub fn recoverable<'a>(
    receipt: &'a Value,
    detached: bool,
    artifacts: &[u8],
    directory: &[u8],
) -> Result<Option<Recoverable<'a>>, NotRecoverable> {
    if receipt.kind() == Kind::Null {
        return Err(NotRecoverable::Throws);
    }
    let Some(quarantine) = receipt.member("sourceArtifactQuarantine").filter(|quarantine| quarantine.truthy()) else { return Ok(None) };
    let beside = quarantine.str_member("detachedPath").is_some_and(|path| is_sibling(&path, directory, b".gjc-migrate-"));
    let identity = quarantine.member("identity").filter(|identity| has_texts(identity));
    let whole = is_text(quarantine, "path", artifacts) && beside && quarantine.member("tree").is_some_and(is_tree);
    let Some(identity) = identity.filter(|_| whole) else { return Err(NotRecoverable::Durability) };
    let readable = |identity| if has_numbers(identity) { Ok(()) } else { Err(NotRecoverable::Throws) };
    readable(identity)?;
    if !detached {
        return Ok(Some(Recoverable { quarantine, outcome: None }));
    }
    if !is_text(quarantine, "role", DETACHED_ROLE.as_bytes()) {
        return Err(NotRecoverable::Durability);
    }
    let cleanup = receipt.member("sourceArtifactCleanup");
    let outcome = match (receipt.member("detachOutcome"), cleanup) {
        (Some(outcome), None) if outcome.is_str("clean") => DetachOutcome::Clean,
        (Some(outcome), Some(cleanup)) if outcome.is_str("cleanup_pending") && is_placeholder(cleanup) => {
            cleanup.member("identity").map_or(Ok(()), readable)?;
            DetachOutcome::CleanupPending
        }
        _ => return Err(NotRecoverable::Durability),
    };
    Ok(Some(Recoverable { quarantine, outcome: Some(outcome) }))
}

/// The quarantine cannot be used for recovery (spec 02 §6.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotRecoverable {
    /// It breaks a rule: `durability_failed`.
    #[error("the recorded quarantine of the artifact root is not usable")]
    Durability,
    /// Reading it throws: the receipt is `null`, or a number is none. `managed_storage_unsupported`.
    #[error("the receipt is null, or a number of the quarantine is no integer")]
    Throws,
}

/// True when the receipt names no usable source or destination path, or breaks clause 1, 4 or 6 although it says
/// `committed`: the condition of `managed_gc_protocol_migration_invalid`.
pub fn is_invalid_committed(receipt: &Value, scope: &str) -> bool {
    let path = |side: &str| receipt.member(side).is_some_and(|side| side.str_member("path").is_some());
    let manifest =
        receipt.member("artifactManifest").and_then(Value::as_array).is_some_and(|entries| entries.iter().all(is_manifest_entry));
    receipt.kind() != Kind::Object || !path("source") || !path("destination") || !manifest || !has_fixed_fields(receipt, scope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::record::TreeEntry;

    const SCOPE: &str = "526fp3m4ekf6ylauiugh45dkg5idljyahgf623hfifqcbxkavw2a";

    fn identity(path: &str, ino: u64) -> TranscriptIdentity {
        TranscriptIdentity {
            canonical_path: path.into(),
            session_id: "s1".into(),
            dev: 65024,
            ino,
            nlink: 1,
            size: 100,
            mtime_ns: 1_767_225_600_123_456_789,
            ctime_ns: 5,
            sha256: "a".repeat(64),
        }
    }
    fn party(path: &str, ino: u64) -> Party {
        Party { path: path.into(), session_id: "s1".into(), cwd: "/srv/pi".into(), identity: Some(identity(path, ino)) }
    }
    fn committed() -> Receipt {
        Receipt {
            state: State::Committed,
            attempt_id: "47173f68-71c9-4058-8e21-0e199166ede8".into(),
            scope: SCOPE.into(),
            source: party("/s/-l/x.jsonl", 1),
            destination: party("/s/v2/x.jsonl", 2),
            manifest: vec![],
            quarantine: None,
            cleanup: None,
            detach_outcome: None,
        }
    }
    fn with_artifacts(state: State) -> Receipt {
        let directory = DirectoryIdentity { dev: 65024, ino: 9, size: 4096, mtime_ns: 3, parent_dev: 65024, parent_ino: 8 };
        let root = TreeEntry {
            relative_path: "".into(),
            kind: NodeKind::Directory,
            dev: 65024,
            ino: 9,
            nlink: 2,
            size: 4096,
            mtime_ns: 3,
            ctime_ns: 4,
            sha256: None,
        };
        let tree = Tree { entries: vec![root] };
        let op = identity("/s/-l/x.jsonl", 1).operation();
        Receipt {
            state,
            quarantine: Some(Quarantine {
                path: "/s/-l/x".into(),
                detached_path: format!("/s/-l/.gjc-migrate-{op}-artifacts").into(),
                identity: directory,
                tree,
            }),
            detach_outcome: (state == State::ArtifactDetached).then_some(DetachOutcome::Clean),
            ..committed()
        }
    }

    /// Everything on disk is as recorded.
    struct AllHolds;
    impl Evidence for AllHolds {
        fn lineage_holds(&self) -> bool {
            true
        }
        fn placeholder_holds(&self, _: &Value) -> bool {
            true
        }
        fn manifest_holds(&self, _: &[Value]) -> bool {
            true
        }
    }
    /// Matches `receipt` after one textual edit of its bytes.
    fn edited(receipt: &Receipt, from: &str, to: &str) -> Result<(), Clause> {
        let text = String::from_utf8(receipt.encode()).unwrap();
        assert!(text.contains(from), "the edit must change something: {from}");
        let value = Value::parse(text.replacen(from, to, 1).as_bytes()).expect("still JSON");
        let (source, destination) = (identity("/s/-l/x.jsonl", 1), identity("/s/v2/x.jsonl", 2));
        let cwd = "/srv/pi".into();
        matches(&value, SCOPE, Side { identity: &source, cwd: &cwd }, Side { identity: &destination, cwd: &cwd }, &AllHolds)
    }

    #[test]
    fn names_by_state() {
        let op = "b".repeat(64);
        for state in [State::Prepared, State::ArtifactDetached, State::Published, State::Committed] {
            assert_eq!(parse_name(state.file_name(&op).as_bytes()), Name::Migration { operation: &op, state });
        }
        assert_eq!(parse_name(format!("{op}.other.json").as_bytes()), Name::Foreign);
        assert_eq!(parse_name(b"x.json"), Name::Foreign);
    }
    #[test]
    fn names_of_retirement_receipts_are_told_apart() {
        let hex = "c".repeat(64);
        for kind in ["prepared", "artifacts_removed", "owner_retired", "owner_pending-00000001", "owner_pending-123456789"] {
            let name = format!("gc-retirement-{hex}-{kind}.json");
            assert_eq!(parse_name(name.as_bytes()), Name::Retirement(&name));
        }
        for kind in ["owner_pending-0000001", "other", ""] {
            assert_eq!(parse_name(format!("gc-retirement-{hex}-{kind}.json").as_bytes()), Name::Foreign, "{kind}");
        }
    }
    #[test]
    fn a_committed_receipt_is_written_in_gjcs_key_order() {
        let text = String::from_utf8(committed().encode()).unwrap();
        assert!(text.ends_with("]}\n"), "{text}");
        let keys: Vec<String> =
            Value::parse(text.as_bytes()).unwrap().as_object().unwrap().iter().map(|(key, _)| key.to_string()).collect();
        assert_eq!(keys, ["schemaVersion", "state", "policy", "attemptId", "scope", "source", "destination", "artifactManifest"]);
        assert!(
            text.contains(r#""destination":{"path":"/s/v2/x.jsonl","sessionId":"s1","header":{"id":"s1","cwd":"/srv/pi"},"identity":{"#)
        );
    }
    #[test]
    fn a_prepared_receipt_has_no_identity_of_its_destination_and_no_role() {
        let text = String::from_utf8(with_artifacts(State::Prepared).encode()).unwrap();
        assert!(
            text.contains(
                r#""destination":{"path":"/s/v2/x.jsonl","sessionId":"s1","header":{"id":"s1","cwd":"/srv/pi"}},"artifactManifest""#
            ),
            "{text}"
        );
        assert!(!text.contains("role"));
        let detached = String::from_utf8(with_artifacts(State::ArtifactDetached).encode()).unwrap();
        assert!(detached.ends_with("\"role\":\"detached_artifact_root\"},\"detachOutcome\":\"clean\"}\n"), "{detached}");
    }
    #[test]
    fn an_untouched_receipt_matches() {
        assert_eq!(edited(&committed(), "", ""), Ok(()));
    }
    #[test]
    fn each_clause_names_itself() {
        for (from, to, clause) in [
            ("/s/v2/x.jsonl", "/s/v2/y.jsonl", Clause::Paths),
            ("\"artifactManifest\":[]", "\"artifactManifest\":{}", Clause::ManifestShape),
            ("\"artifactManifest\":[]", "\"artifactManifest\":[null]", Clause::ManifestShape),
            ("\"artifactManifest\":[]", "\"artifactManifest\":[],\"sourceArtifactCleanup\":null", Clause::Placeholder),
            ("\"schemaVersion\":2", "\"schemaVersion\":1", Clause::Fixed),
            ("committed", "published", Clause::Fixed),
            ("copy-retain", "move", Clause::Fixed),
            ("\"size\":100", "\"size\":\"100\"", Clause::Source),
            ("\"ino\":\"1\"", "\"ino\":\"3\"", Clause::Source),
            ("\"ino\":\"2\"", "\"ino\":\"3\"", Clause::Destination),
        ] {
            assert_eq!(edited(&committed(), from, to), Err(clause), "{from} -> {to}");
        }
        assert_eq!(Clause::Readable.number(), 1);
        assert_eq!(Clause::Destination.number(), 9);
    }
    #[test]
    fn ctime_and_link_count_are_not_compared() {
        assert_eq!(edited(&committed(), "\"ctimeNs\":\"5\"", "\"ctimeNs\":\"6\""), Ok(()));
        assert_eq!(edited(&committed(), "\"nlink\":\"1\"", "\"nlink\":\"2\""), Ok(()));
    }
    #[test]
    fn manifest_entries() {
        let entry = |text: &str| is_manifest_entry(&Value::parse(text.as_bytes()).unwrap());
        let sha = "a".repeat(64);
        assert!(entry(r#"{"kind":"directory","path":""}"#));
        assert!(entry(&format!(r#"{{"kind":"file","path":"a/b","size":0,"sha256":"{sha}"}}"#)));
        assert!(!entry(&format!(r#"{{"kind":"file","path":"a\\..\\b","size":0,"sha256":"{sha}"}}"#)));
        assert!(!entry(&format!(r#"{{"kind":"file","path":"a","size":0,"sha256":"{}"}}"#, sha.to_uppercase())));
        assert!(!entry(&format!(r#"{{"kind":"file","path":"a","size":"0","sha256":"{sha}"}}"#)));
        assert!(!entry(r#"{"kind":"link","path":"a"}"#));
    }
    #[test]
    fn a_prepared_receipt_matches_its_own_plan_whatever_the_attempt() {
        let plan = with_artifacts(State::Prepared);
        let text = String::from_utf8(plan.encode()).unwrap();
        let other_attempt = Value::parse(text.replace("47173f68", "00000000").as_bytes()).unwrap();
        assert!(plan.prepared_matches(&other_attempt));
    }
    #[test]
    fn a_prepared_receipt_does_not_survive_a_changed_ctime_of_the_artifact_root() {
        let plan = with_artifacts(State::Prepared);
        let text = String::from_utf8(plan.encode()).unwrap();
        let moved = Value::parse(text.replace("\"ctimeNs\":\"4\"", "\"ctimeNs\":\"40\"").as_bytes()).unwrap();
        assert!(!plan.prepared_matches(&moved));
    }
    #[test]
    fn recovery_needs_the_quarantine_in_its_place() {
        let detached = with_artifacts(State::ArtifactDetached);
        let read =
            |text: &str| recoverable(&Value::parse(text.as_bytes()).unwrap(), true, b"/s/-l/x", b"/s/-l").map(|found| found.is_some());
        let text = String::from_utf8(detached.encode()).unwrap();
        assert_eq!(read(&text), Ok(true));
        assert_eq!(read(&text.replace(".gjc-migrate-", ".gjc-other-")), Err(NotRecoverable::Durability));
        assert_eq!(read(&text.replace("\"clean\"", "\"cleanup_pending\"")), Err(NotRecoverable::Durability));
        assert_eq!(read(&text.replace("detached_artifact_root", "x")), Err(NotRecoverable::Durability));
        assert_eq!(read("{}"), Ok(false));
        for none in ["5", "[]", "{\"sourceArtifactQuarantine\":null}", "{\"sourceArtifactQuarantine\":0}"] {
            assert_eq!(read(none), Ok(false), "{none}");
        }
        assert_eq!(read("null"), Err(NotRecoverable::Throws));
        assert_eq!(read(&text.replace(",\"parentDev\":\"65024\"", "")), Err(NotRecoverable::Durability));
        let identity = |dev: &str| {
            text.replace("\"identity\":{\"dev\":\"65024\",\"ino\":\"9\"", &format!("\"identity\":{{\"dev\":\"{dev}\",\"ino\":\"9\""))
        };
        assert_ne!(identity("x"), text);
        assert_eq!(read(&identity("x")), Err(NotRecoverable::Throws));
        assert_eq!(read(&identity(" 0xfe00 ")), Ok(true));
        assert_eq!(
            read(&identity("x").replace("detached_artifact_root", "x")),
            Err(NotRecoverable::Throws),
            "numbers come before the role"
        );
    }
    #[test]
    fn a_committed_receipt_without_paths_is_invalid() {
        let value = |text: String| Value::parse(text.as_bytes()).unwrap();
        let text = String::from_utf8(committed().encode()).unwrap();
        assert!(!is_invalid_committed(&value(text.clone()), SCOPE));
        assert!(is_invalid_committed(&value(text.replace("\"/s/-l/x.jsonl\"", "7")), SCOPE));
        assert!(is_invalid_committed(&value("[]".into()), SCOPE));
    }
}
