//! The records beside transcripts: bindings, locks, receipts, tombstones, cleanup records (spec 02 §3, §6, §8, §9; spec 03
//! §4 to §6). A record whose reader asks for certain members alone is open; one whose reader counts its members is closed.

use super::marker::*;
use super::{Form, generator, head, of, typed};
use schemars::{JsonSchema, Schema, json_schema};

/// Which workspace a scope directory belongs to.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Binding {
    /// 1.
    pub schema_version: One,
    /// 2.
    pub layout_version: Two,
    /// 1.
    pub identity_version: One,
    /// `posix` or `win32`.
    #[schemars(extend("enum" = ["posix", "win32"]))]
    pub platform: Text,
    /// The workspace.
    pub canonical_path: Text,
    /// The digest of platform and path.
    pub identity_digest: Digest,
}

/// A lock of a migration, a deletion or a retirement.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Lock {
    /// UUID of the attempt.
    pub attempt_id: Text,
    /// The process that holds or held it.
    pub pid: Number,
    /// The boot it was taken in.
    #[schemars(default)]
    pub boot_id: Anything,
    /// UUID of the process.
    pub process_start_id: Text,
    /// Milliseconds since 1970.
    pub created_at: Number,
    /// Milliseconds since 1970.
    pub heartbeat_at: Number,
    /// Milliseconds since 1970.
    pub lease_expires_at: Number,
    /// True after release.
    #[schemars(default)]
    pub released: Flag,
}

/// A terminal breadcrumb.
#[derive(JsonSchema, Default)]
#[schemars(deny_unknown_fields)]
pub struct Breadcrumb {
    /// The working directory.
    pub cwd: Line,
    /// The transcript.
    pub file: Line,
}

/// The identity of a file in a replacement receipt.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct ReplacedFile {
    /// Device; 0.17 also takes a negative one.
    pub dev: SignedDecimal,
    /// Inode; 0.17 also takes a negative one.
    pub ino: SignedDecimal,
    /// Link count.
    pub nlink: Decimal,
    /// Bytes.
    pub size: Decimal,
    /// Nanoseconds since 1970.
    pub mtime_ns: Decimal,
    /// Nanoseconds since 1970.
    pub ctime_ns: Decimal,
    /// Content hash.
    pub sha256: Sha256,
}

/// Who published a replacement receipt (0.17).
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Publisher {
    /// The attempt; the name of the staging file holds it.
    pub attempt_id: Uuid,
    /// UUID of the isolate.
    pub owner_id: Uuid,
    /// The process.
    pub pid: Pid,
    /// Its start.
    pub incarnation: Incarnation,
    /// The host.
    pub host: SomeText,
}

/// A replacement receipt of version 3.
#[derive(JsonSchema, Default)]
pub struct ReplacementReceipt {
    /// 3.
    pub version: Three,
    /// The staging file.
    pub staging: Text,
    /// The transcript.
    pub destination: Text,
    /// What it becomes.
    pub successor: ReplacedFile,
    /// What it was.
    pub predecessor: ReplacedFile,
    /// Who published it.
    #[schemars(default)]
    pub publisher: Publisher,
}

/// A replacement receipt of version 1.
#[derive(JsonSchema, Default)]
pub struct ReplacementReceiptV1 {
    /// 1.
    pub version: One,
    /// Path of the predecessor.
    pub predecessor: Text,
    /// Path of the successor.
    pub successor: Text,
    /// What the predecessor is.
    pub identity: FileV1,
}

/// The identity of a file in a receipt of version 1.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct FileV1 {
    /// Device.
    pub dev: Decimal,
    /// Inode.
    pub ino: Decimal,
    /// Link count.
    pub nlink: Decimal,
    /// Bytes.
    pub size: Decimal,
    /// Nanoseconds since 1970.
    pub mtime_ns: Decimal,
    /// Nanoseconds since 1970.
    pub ctime_ns: Decimal,
    /// Content hash.
    pub sha256: Sha256,
}

/// An entry of a tree as a migration or a deletion records it.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct LooseEntry {
    /// Path below the root; empty for the root.
    pub relative_path: InnerPath,
    /// `file` or `directory`.
    #[schemars(extend("enum" = ["file", "directory"]))]
    pub kind: Text,
    /// Device.
    pub dev: Text,
    /// Inode.
    pub ino: Text,
    /// Bytes.
    pub size: Text,
    /// Nanoseconds since 1970.
    pub mtime_ns: Text,
    /// Nanoseconds since 1970.
    pub ctime_ns: Text,
    /// Link count; not read.
    #[schemars(default)]
    pub nlink: Anything,
    /// Content hash.
    #[schemars(default)]
    pub sha256: Text,
}

/// A tree as a migration or a deletion records it.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct LooseTree {
    /// Device of the root.
    pub root_dev: Text,
    /// Inode of the root.
    pub root_ino: Text,
    /// The entries; one of them is the root.
    #[schemars(with = "Vec<LooseEntry>", extend("minItems" = 1))]
    pub entries: (),
}

/// The artifact directory that a migration detaches.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Quarantine {
    /// Where it lay.
    pub path: Text,
    /// Where it lies meanwhile.
    pub detached_path: Text,
    /// Its identity.
    pub identity: DirectoryIdentity,
    /// Its tree.
    pub tree: LooseTree,
    /// `detached_artifact_root` once it is detached.
    #[schemars(default)]
    pub role: Anything,
}

/// The identity of a directory.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct DirectoryIdentity {
    /// Device.
    pub dev: BigIntText,
    /// Inode.
    pub ino: BigIntText,
    /// Size.
    pub size: BigIntText,
    /// Nanoseconds since 1970.
    pub mtime_ns: BigIntText,
    /// Device of the directory it lies in.
    pub parent_dev: BigIntText,
    /// Inode of the directory it lies in.
    pub parent_ino: BigIntText,
}

/// The identity of a directory and of the one it lies in.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct PlaceholderIdentity {
    /// Device.
    pub dev: BigIntText,
    /// Inode.
    pub ino: BigIntText,
    /// Size.
    pub size: BigIntText,
    /// Nanoseconds since 1970.
    pub mtime_ns: BigIntText,
    /// Device of the directory it lies in.
    pub parent_dev: BigIntText,
    /// Inode of the directory it lies in.
    pub parent_ino: BigIntText,
}

/// The placeholder directory that an exchange left.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Placeholder {
    /// `cleanup_pending`.
    #[schemars(extend("const" = "cleanup_pending"))]
    pub state: Text,
    /// `exchange_placeholder`.
    #[schemars(extend("const" = "exchange_placeholder"))]
    pub role: Text,
    /// Where it was kept.
    pub retained_path: Text,
    /// Its identity.
    pub identity: PlaceholderIdentity,
    /// Its tree: the root alone.
    #[schemars(extend("properties" = { "entries": { "maxItems": 1 } }))]
    pub tree: LooseTree,
}

/// A file or directory of the migrated artifacts.
#[derive(JsonSchema, Default)]
#[schemars(transform = sized_file)]
pub struct ManifestEntry {
    /// `directory` or `file`.
    #[schemars(extend("enum" = ["directory", "file"]))]
    pub kind: Text,
    /// Path below the artifact directory.
    pub path: InnerPath,
}

fn sized_file(schema: &mut Schema) {
    schema.insert("if".into(), serde_json::json!({ "properties": { "kind": { "const": "file" } } }));
    schema.insert(
        "then".into(),
        serde_json::json!({
            "properties": {
                "size": { "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991u64 },
                "sha256": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
            },
            "required": ["size", "sha256"],
        }),
    );
}

/// One side of a committed migration.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Party {
    /// The transcript.
    pub path: Text,
    /// Its session.
    pub session_id: Text,
    /// What its header says.
    pub header: PartyHeader,
    /// Its identity.
    pub identity: MigratedFile,
    /// Its content hash; not read.
    #[schemars(default)]
    pub sha256: Anything,
}

/// What the header of a migrated transcript says.
#[derive(JsonSchema, Default)]
pub struct PartyHeader {
    /// The session id.
    pub id: Text,
    /// The workspace.
    pub cwd: Text,
}

/// The identity of a migrated transcript: device and inode count, for it may have been written to since.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct MigratedFile {
    /// Device.
    pub dev: Decimal,
    /// Inode.
    pub ino: Decimal,
    /// Where it lies; compared with nothing.
    #[schemars(default)]
    pub canonical_path: Anything,
    /// Its session; compared with nothing.
    #[schemars(default)]
    pub session_id: Anything,
    /// Link count; compared with nothing.
    #[schemars(default)]
    pub nlink: Anything,
    /// Bytes; compared with nothing.
    #[schemars(default)]
    pub size: Anything,
    /// Nanoseconds since 1970; compared with nothing.
    #[schemars(default)]
    pub mtime_ns: Anything,
    /// Nanoseconds since 1970; compared with nothing.
    #[schemars(default)]
    pub ctime_ns: Anything,
    /// Content hash; compared with nothing.
    #[schemars(default)]
    pub sha256: Anything,
    /// Milliseconds since 1970; compared with nothing.
    #[schemars(default)]
    pub mtime_ms: Anything,
}

/// The source of a committed migration.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Source {
    /// The transcript.
    pub path: Text,
    /// Its session.
    pub session_id: Text,
    /// Its content hash.
    pub sha256: Text,
    /// What its header says.
    pub header: PartyHeader,
    /// Its identity.
    pub identity: SourceFile,
}

/// The identity of the source of a migration.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct SourceFile {
    /// Device.
    pub dev: Decimal,
    /// Inode.
    pub ino: Decimal,
    /// Bytes.
    pub size: Safe,
    /// Nanoseconds since 1970.
    pub mtime_ns: SignedDecimal,
    /// Where it lies; compared with nothing.
    #[schemars(default)]
    pub canonical_path: Anything,
    /// Its session; compared with nothing.
    #[schemars(default)]
    pub session_id: Anything,
    /// Link count; compared with nothing.
    #[schemars(default)]
    pub nlink: Anything,
    /// Nanoseconds since 1970; compared with nothing.
    #[schemars(default)]
    pub ctime_ns: Anything,
    /// Content hash; compared with nothing.
    #[schemars(default)]
    pub sha256: Anything,
    /// Milliseconds since 1970; compared with nothing.
    #[schemars(default)]
    pub mtime_ms: Anything,
}

/// A committed migration, as the listing reads it.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct MigrationReceipt {
    /// 2.
    pub schema_version: Two,
    /// `committed`.
    #[schemars(extend("const" = "committed"))]
    pub state: Text,
    /// `copy-retain`.
    #[schemars(extend("const" = "copy-retain"))]
    pub policy: Text,
    /// UUID of the attempt; compared with nothing.
    #[schemars(default)]
    pub attempt_id: Anything,
    /// Scope digest.
    pub scope: Text,
    /// The legacy transcript.
    pub source: Source,
    /// The v2 transcript.
    pub destination: Party,
    /// The artifacts that were copied.
    #[schemars(with = "Vec<ManifestEntry>")]
    pub artifact_manifest: (),
    /// The artifact directory that was detached; looked at beside a placeholder only.
    #[schemars(default)]
    pub source_artifact_quarantine: Anything,
    /// The placeholder that was left.
    #[schemars(default)]
    pub source_artifact_cleanup: Placeholder,
}

/// An earlier step of a migration, as recovery reads it.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct MigrationStep {
    /// `prepared`, `artifact_detached` or `published`.
    #[schemars(extend("enum" = ["prepared", "artifact_detached", "published"]))]
    pub state: Text,
    /// The artifact directory that is detached.
    #[schemars(default)]
    pub source_artifact_quarantine: Quarantine,
    /// 2; recovery does not look at it.
    #[schemars(default)]
    pub schema_version: Anything,
    /// `copy-retain`; recovery does not look at it.
    #[schemars(default)]
    pub policy: Anything,
    /// UUID of the attempt.
    #[schemars(default)]
    pub attempt_id: Anything,
    /// Scope digest; recovery does not look at it.
    #[schemars(default)]
    pub scope: Anything,
    /// The legacy transcript; recovery does not look at it.
    #[schemars(default)]
    pub source: Anything,
    /// The v2 transcript; recovery does not look at it.
    #[schemars(default)]
    pub destination: Anything,
    /// The artifacts: none before `published`.
    #[schemars(default)]
    pub artifact_manifest: Anything,
    /// The placeholder that was left.
    #[schemars(default)]
    pub source_artifact_cleanup: Anything,
    /// What came of the detaching: `clean` or `cleanup_pending`, of `artifact_detached` only.
    #[schemars(default)]
    pub detach_outcome: Anything,
}

/// The identity of a retired transcript.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct TombstoneIdentity {
    /// Where it lay.
    pub canonical_path: Text,
    /// Device.
    pub dev: BigIntText,
    /// Inode.
    pub ino: BigIntText,
    /// Bytes.
    pub size: Number,
    /// Nanoseconds since 1970.
    pub mtime_ns: BigIntText,
    /// Content hash.
    pub sha256: Text,
    /// Milliseconds since 1970.
    pub mtime_ms: Number,
}

/// A retired transcript.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = no_other_owner_members)]
pub struct TombstoneTarget {
    /// Where it lay.
    pub path: Text,
    /// Its session.
    pub session_id: Text,
    /// Its workspace.
    pub cwd: Text,
    /// `v2` or `legacy`.
    #[schemars(default, extend("enum" = ["v2", "legacy"]))]
    pub provenance: Text,
    /// Its identity.
    pub identity: TombstoneIdentity,
    /// Its task artifacts (0.17).
    #[schemars(default)]
    pub task_artifact_owner_deletion_evidence: Evidence,
}

fn no_other_owner_members(schema: &mut Schema) {
    schema.insert("patternProperties".into(), serde_json::json!({ "^taskArtifactOwner(?!DeletionEvidence$)": false }));
}

/// A verified deletion.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = no_owner_members)]
pub struct Tombstone {
    /// 2.
    pub schema_version: Two,
    /// `retired`.
    #[schemars(extend("const" = "retired"))]
    pub state: Text,
    /// Scope digest.
    pub scope: Text,
    /// What is retired: for a migrated pair the v2 file first.
    #[schemars(with = "Vec<TombstoneTarget>")]
    pub targets: (),
}

fn no_owner_members(schema: &mut Schema) {
    schema.insert("patternProperties".into(), serde_json::json!({ "^taskArtifactOwner": false }));
}

/// Where the owner of a session's task artifacts is.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Locator {
    /// 1.
    pub schema_version: One,
    /// SHA-256 of the session id.
    pub owner_id: Sha256,
    /// Device.
    pub directory_dev: Decimal,
    /// Inode.
    pub directory_ino: Decimal,
}

/// Device and inode.
#[derive(JsonSchema, Default)]
#[schemars(deny_unknown_fields)]
pub struct Inode {
    /// Device.
    pub dev: Decimal,
    /// Inode.
    pub ino: Decimal,
}

/// An entry of the tree of an owner.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TreeEntry {
    /// Path below the root; empty for the root.
    pub relative_path: TreePath,
    /// `directory` or `file`.
    #[schemars(extend("enum" = ["directory", "file"]))]
    pub kind: Text,
    /// Device.
    pub dev: Decimal,
    /// Inode.
    pub ino: Decimal,
    /// Link count.
    pub nlink: Decimal,
    /// Bytes.
    pub size: Decimal,
    /// Nanoseconds since 1970.
    pub mtime_ns: Decimal,
    /// Nanoseconds since 1970.
    pub ctime_ns: Decimal,
    /// Content hash.
    #[schemars(default)]
    pub sha256: Sha256,
}

/// The tree of an owner.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct TreeSnapshot {
    /// Device of the root.
    pub root_dev: Decimal,
    /// Inode of the root.
    pub root_ino: Decimal,
    /// The entries; one of them is the root.
    #[schemars(with = "Vec<TreeEntry>", extend("minItems" = 1, "maxItems" = 50_000))]
    pub entries: (),
}

/// The task artifacts of a session, as a deletion or a retirement found them.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// 2.
    pub schema_version: Two,
    /// The session.
    pub session_id: SomeText,
    /// Where they are.
    pub locator: Locator,
    /// The directory of all owners.
    pub parent_identity: Inode,
    /// Their tree.
    pub tree_snapshot: TreeSnapshot,
}

/// The identity of a transcript under retirement.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct RetiredFile {
    /// Device.
    pub dev: Decimal,
    /// Inode.
    pub ino: Decimal,
    /// Always 1.
    #[schemars(extend("const" = "1"))]
    pub nlink: Text,
    /// Bytes.
    pub size: Safe,
    /// Nanoseconds since 1970.
    pub mtime_ns: SignedDecimal,
    /// Content hash.
    pub sha256: Sha256,
}

/// What every retirement receipt holds.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct Retirement {
    /// 1.
    pub schema_version: One,
    /// Scope digest.
    pub scope: Text,
    /// The transcript.
    pub transcript_path: Text,
    /// Its session.
    pub session_id: SomeText,
    /// Its workspace.
    pub cwd: Text,
    /// Its identity.
    pub transcript_identity: RetiredFile,
    /// Its task artifacts.
    pub task_artifact_owner_deletion_evidence: Evidence,
}

/// What a receipt after `prepared` holds besides.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct ArtifactsRemoved {
    /// True.
    pub artifacts_removed: True,
}

/// What a receipt of `owner_pending` holds besides.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct OwnerPending {
    /// From 1.
    pub owner_retirement_attempt: Attempt,
    /// True.
    pub artifacts_removed: True,
    /// What came of the attempt.
    pub task_artifact_owner_retirement_outcome: Retained,
    /// What is left.
    pub task_artifact_owner_retirement_continuation: Continuation,
    /// True, when the outcome is `payload_retired`.
    #[schemars(default)]
    pub task_artifact_owner_payload_retired: True,
    /// True, when the outcome is `payload_retired`.
    #[schemars(default)]
    pub task_artifact_owner_namespace_retained: True,
}

/// What a receipt of `owner_retired` holds besides.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct OwnerRetired {
    /// True.
    pub artifacts_removed: True,
    /// True.
    pub task_artifact_owner_retired: True,
    /// `completed`.
    pub task_artifact_owner_retirement_outcome: Completed,
}

/// A completed removal.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Completed {
    /// `completed`.
    #[schemars(extend("const" = "completed"))]
    pub kind: Text,
    /// The task artifacts.
    pub evidence: Evidence,
    /// What the removal answered.
    pub native_outcome: Succeeded,
}

/// A removal that succeeded.
#[derive(JsonSchema, Default)]
#[schemars(deny_unknown_fields)]
pub struct Succeeded {
    /// True.
    pub ok: True,
}

/// A removal that left something.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, transform = members_of_kind)]
pub struct Retained {
    /// `payload_retired`, `cleanup_pending` or `uncertain`.
    #[schemars(extend("enum" = ["payload_retired", "cleanup_pending", "uncertain"]))]
    pub kind: Text,
    /// `retained`, of `payload_retired` only.
    #[schemars(default, extend("const" = "retained"))]
    pub namespace: Text,
    /// The task artifacts.
    pub evidence: Evidence,
    /// What is left.
    pub continuation: Continuation,
    /// Why it is uncertain.
    #[schemars(default)]
    pub reason: SomeText,
    /// What the removal answered.
    #[schemars(default)]
    pub native_outcome: NativeOutcome,
}

fn members_of_kind(schema: &mut Schema) {
    let when = |kind: &str, then: serde_json::Value| serde_json::json!({ "if": { "properties": { "kind": { "const": kind } }, "required": ["kind"] }, "then": then });
    schema.insert(
        "allOf".into(),
        serde_json::json!([
            when("payload_retired", serde_json::json!({ "required": ["namespace", "nativeOutcome"], "properties": { "reason": false } })),
            when("cleanup_pending", serde_json::json!({ "properties": { "reason": false, "namespace": false } })),
            when("uncertain", serde_json::json!({ "required": ["reason"], "properties": { "namespace": false } })),
        ]),
    );
}

/// What the native removal answered.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, transform = success_says_nothing_else)]
pub struct NativeOutcome {
    /// Whether it succeeded.
    pub ok: Flag,
    /// Its code.
    #[schemars(default)]
    pub code: Text,
    /// A path that was detached.
    #[schemars(default)]
    pub detached_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_successor_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_placeholder_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_unknown_path: Text,
    /// Whether the payload is durably gone.
    #[schemars(default)]
    pub payload_durable: Flag,
    /// Its code on Windows.
    #[schemars(default)]
    pub windows_error_code: Text,
}

fn success_says_nothing_else(schema: &mut Schema) {
    schema.insert("if".into(), serde_json::json!({ "properties": { "ok": { "const": true } }, "required": ["ok"] }));
    schema.insert("then".into(), serde_json::json!({ "maxProperties": 1 }));
}

/// What is left of an owner after an attempt.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct Continuation {
    /// 1.
    pub schema_version: One,
    /// The directory of all owners.
    pub parent_identity: Inode,
    /// Where the rest is.
    pub retained_root_path: Text,
    /// The rest.
    pub retained_tree_snapshot: TreeSnapshot,
    /// Which of the two root paths were seen detached.
    #[schemars(default, extend("minItems" = 1, "maxItems" = 2))]
    pub detached_paths: Texts,
    /// Codes of the removal.
    #[schemars(default, schema_with = "native_codes")]
    pub native_codes: (),
    /// Paths that are kept.
    #[schemars(default, extend("minItems" = 1, "maxItems" = 256))]
    pub retained_successor_paths: Texts,
    /// Paths that are kept.
    #[schemars(default, extend("minItems" = 1, "maxItems" = 256))]
    pub retained_placeholder_paths: Texts,
    /// Paths that are kept.
    #[schemars(default, extend("minItems" = 1, "maxItems" = 256))]
    pub retained_unknown_paths: Texts,
    /// Codes of the removal on Windows.
    #[schemars(default, schema_with = "windows_codes")]
    pub windows_error_codes: (),
    /// Whether the payload is durably gone.
    #[schemars(default)]
    pub payload_durable: Flag,
}

fn native_codes(_: &mut schemars::SchemaGenerator) -> Schema {
    codes("^[0-9A-Za-z_.:-]{1,128}$")
}

fn windows_codes(_: &mut schemars::SchemaGenerator) -> Schema {
    codes("^0x[0-9A-Fa-f]{8}$")
}

fn codes(pattern: &str) -> Schema {
    json_schema!({
        "type": "array", "minItems": 1, "maxItems": 64, "uniqueItems": true,
        "items": { "type": "string", "pattern": pattern },
    })
}

/// What every cleanup record holds.
#[derive(JsonSchema, Default)]
pub struct Cleanup {
    /// Scope digest.
    pub scope: Text,
    /// The tombstone.
    pub tombstone: Text,
    /// What is cleaned up.
    pub target: CleanupTarget,
}

/// What is cleaned up.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct CleanupTarget {
    /// The transcript.
    pub path: Text,
    /// Its session.
    pub session_id: Text,
    /// Its workspace.
    pub cwd: Text,
    /// Its identity.
    pub identity: CleanupIdentity,
}

/// The identity of what is cleaned up: what the tombstone says of its target, each number in its canonical text.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct CleanupIdentity {
    /// Device.
    pub dev: SignedDecimal,
    /// Inode.
    pub ino: SignedDecimal,
    /// Bytes.
    pub size: Number,
    /// Nanoseconds since 1970.
    pub mtime_ns: SignedDecimal,
    /// Content hash.
    pub sha256: Text,
}

/// What a pending cleanup record of a session without task artifacts says of them: nothing.
#[derive(JsonSchema, Default)]
#[schemars(transform = no_owner_members)]
pub struct NoOwner {}

/// What a pending cleanup record of a session with task artifacts says of them.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = transcript_deleted_alone)]
pub struct OwnerAlone {
    /// True: the transcript is gone.
    #[schemars(default)]
    pub task_artifact_owner_transcript_deleted: True,
}

fn transcript_deleted_alone(schema: &mut Schema) {
    schema.insert("patternProperties".into(), serde_json::json!({ "^taskArtifactOwner(?!TranscriptDeleted$)": false }));
}

/// What a completed cleanup record of a session with task artifacts says of them; their content is not looked at.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = ten_members)]
pub struct OwnerCompleted {
    /// 1.
    pub schema_version: One,
    /// 1.
    pub attempt: One,
    /// The evidence of the tombstone.
    pub task_artifact_owner_deletion_evidence: Anything,
    /// What came of the removal.
    pub task_artifact_owner_retirement_outcome: Anything,
    /// Whether they are gone.
    pub task_artifact_owner_retired: Anything,
    /// Whether the transcript is gone.
    pub task_artifact_owner_transcript_deleted: Anything,
}

fn ten_members(schema: &mut Schema) {
    schema.insert("maxProperties".into(), 10.into());
}

/// What a pending cleanup record holds besides.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct CleanupPending {
    /// 2.
    pub schema_version: Two,
    /// From 1, without a gap.
    pub attempt: Attempt,
    /// Where the artifacts are to be detached to.
    pub planned_artifacts_path: Text,
    /// Where the transcript is to be detached to.
    pub planned_transcript_path: Text,
    /// Where the artifacts were detached to.
    #[schemars(default)]
    pub detached_artifacts_path: Text,
    /// Where the transcript was detached to.
    #[schemars(default)]
    pub detached_transcript_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_artifacts_successor_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_artifacts_placeholder_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_artifacts_unknown_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_transcript_successor_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_transcript_placeholder_path: Text,
    /// A path that is kept.
    #[schemars(default)]
    pub retained_transcript_unknown_path: Text,
    /// True.
    #[schemars(default)]
    pub artifacts_payload_durable: True,
    /// True.
    #[schemars(default)]
    pub transcript_payload_durable: True,
    /// The attempt that removed the artifacts.
    #[schemars(default)]
    pub artifacts_removed_attempt: Attempt,
    /// The artifacts as they were.
    #[schemars(default, schema_with = "expected_identity")]
    pub expected_artifacts_identity: (),
    /// Their tree.
    #[schemars(default)]
    pub expected_artifacts_tree: LooseTree,
}

/// An identity that is judged when it is truthy.
fn expected_identity(_: &mut schemars::SchemaGenerator) -> Schema {
    let text = || serde_json::json!({ "type": "string" });
    json_schema!({
        "$comment": "null, false, 0, an empty text, or an identity of texts and a size",
        "anyOf": [
            { "enum": [null, false, 0, ""] },
            {
                "type": "object",
                "properties": { "dev": text(), "ino": text(), "size": { "type": "number" }, "mtimeNs": text(), "sha256": text() },
                "required": ["dev", "ino", "size", "mtimeNs", "sha256"],
            },
        ],
    })
}

/// What a cleanup record of removed artifacts holds besides.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = durable_root)]
pub struct CleanupArtifactsRemoved {
    /// 2.
    pub schema_version: Two,
    /// The attempt that removed them.
    pub attempt: Attempt,
    /// What is cleaned up.
    pub target: RemovedTarget,
    /// What is left of the artifact directory.
    #[schemars(default)]
    pub retained_artifacts_root: RetainedRoot,
}

fn durable_root(schema: &mut Schema) {
    schema.insert(
        "dependentSchemas".into(),
        serde_json::json!({
            "retainedArtifactsRoot": {
                "properties": { "artifactsPayloadDurable": { "const": true } },
                "required": ["artifactsPayloadDurable"],
            },
        }),
    );
}

/// What is cleaned up, with the path it was recorded under.
#[derive(JsonSchema, Default)]
pub struct RemovedTarget {
    /// Its identity.
    pub identity: RemovedIdentity,
}

/// The identity of what is cleaned up.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct RemovedIdentity {
    /// Where it lay.
    pub canonical_path: Text,
}

/// What is left of an artifact directory: directories and scrubbed files.
#[derive(JsonSchema, Default)]
pub struct RetainedRoot {
    /// Where it is.
    pub path: SomeText,
    /// Its identity.
    pub identity: ArtifactIdentity,
    /// Its tree.
    #[schemars(extend("properties" = {
        "entries": {
            "items": {
                "$comment": "a directory, or a file of size 0 with the digest of nothing",
                "anyOf": [
                    { "properties": { "kind": { "const": "directory" } } },
                    {
                        "properties": {
                            "size": { "const": "0" },
                            "sha256": { "const": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                        },
                        "required": ["sha256"],
                    },
                ],
            },
        },
    }))]
    pub tree: LooseTree,
}

/// The identity of an artifact directory.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase")]
pub struct ArtifactIdentity {
    /// Device.
    pub dev: Text,
    /// Inode.
    pub ino: Text,
    /// Bytes.
    pub size: Number,
    /// Nanoseconds since 1970.
    pub mtime_ns: Text,
    /// Empty.
    pub sha256: Text,
}

/// What a completed cleanup record holds besides.
#[derive(JsonSchema, Default)]
#[schemars(rename_all = "camelCase", transform = six_members)]
pub struct CleanupCompleted {
    /// 1.
    pub schema_version: One,
    /// 1.
    pub attempt: One,
}

fn six_members(schema: &mut Schema) {
    schema.insert("maxProperties".into(), 6.into());
}

/// A schema that chooses by `state`: what all share, and what each state adds; `closed` counts the members.
fn by_state(id: &str, about: &str, shared: Option<fn(&mut schemars::SchemaGenerator) -> Schema>, states: &[State], closed: bool) -> Schema {
    let mut generator = generator();
    let mut all: Vec<serde_json::Value> = shared.map(|shared| shared(&mut generator).to_value()).into_iter().collect();
    for (names, payload) in states {
        let payload = payload(&mut generator).to_value();
        all.push(serde_json::json!({ "if": { "properties": { "state": { "enum": names } }, "required": ["state"] }, "then": payload }));
    }
    let mut names: Vec<&str> = states.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    names.dedup();
    let mut schema = json_schema!({
        "type": "object",
        "properties": { "state": { "enum": names } },
        "required": ["state"],
        "allOf": all,
    });
    if closed {
        schema.insert("unevaluatedProperties".into(), false.into());
    }
    head(&mut schema, id, about);
    schema.insert("$defs".into(), generator.take_definitions(true).into());
    schema
}

/// States, and what they add.
type State = (&'static [&'static str], fn(&mut schemars::SchemaGenerator) -> Schema);

fn migration_receipt() -> Schema {
    let states: [State; 2] = [
        (&["committed"], schemars::SchemaGenerator::subschema_for::<MigrationReceipt>),
        (&["prepared", "artifact_detached", "published"], schemars::SchemaGenerator::subschema_for::<MigrationStep>),
    ];
    let mut schema = by_state("migration-receipt", "A receipt of a migration.", None, &states, false);
    // A placeholder is there only beside a detached artifact directory; a detached one says what came of it.
    let detached = serde_json::json!({
        "properties": {
            "sourceArtifactQuarantine": {
                "type": "object",
                "properties": { "role": { "const": "detached_artifact_root" } },
                "required": ["role"],
            },
        },
    });
    let placeholder = generator_definition::<Placeholder>();
    let rules = serde_json::json!([
        {
            "if": { "properties": { "state": { "const": "committed" } }, "required": ["sourceArtifactCleanup"] },
            "then": { "allOf": [detached, { "required": ["sourceArtifactQuarantine"] }] },
        },
        {
            "if": { "properties": { "state": { "const": "artifact_detached" } }, "required": ["sourceArtifactQuarantine"] },
            "then": {
                "$comment": "`detachOutcome` `clean`, or `cleanup_pending` with the placeholder",
                "allOf": [detached],
                "anyOf": [
                    { "properties": { "detachOutcome": { "const": "clean" }, "sourceArtifactCleanup": false }, "required": ["detachOutcome"] },
                    {
                        "properties": { "detachOutcome": { "const": "cleanup_pending" }, "sourceArtifactCleanup": placeholder },
                        "required": ["detachOutcome", "sourceArtifactCleanup"],
                    },
                ],
            },
        },
    ]);
    if let (Some(all), serde_json::Value::Array(rules)) = (schema.get_mut("allOf").and_then(serde_json::Value::as_array_mut), rules) {
        all.extend(rules);
    }
    schema
}

/// A reference to the definition of a type that the schema holds anyway.
fn generator_definition<T: JsonSchema>() -> serde_json::Value {
    generator().subschema_for::<T>().to_value()
}

fn retirement_receipt() -> Schema {
    let states: [State; 4] = [
        (&["prepared"], schemars::SchemaGenerator::subschema_for::<Anything>),
        (&["artifacts_removed"], schemars::SchemaGenerator::subschema_for::<ArtifactsRemoved>),
        (&["owner_pending"], schemars::SchemaGenerator::subschema_for::<OwnerPending>),
        (&["owner_retired"], schemars::SchemaGenerator::subschema_for::<OwnerRetired>),
    ];
    let shared = schemars::SchemaGenerator::subschema_for::<Retirement>;
    let mut schema = by_state("retirement-receipt", "A receipt of a retirement (0.17).", Some(shared), &states, true);
    let flags = ["taskArtifactOwnerPayloadRetired", "taskArtifactOwnerNamespaceRetained"];
    let rule = serde_json::json!({
        "if": {
            "properties": { "taskArtifactOwnerRetirementOutcome": { "properties": { "kind": { "const": "payload_retired" } }, "required": ["kind"] } },
            "required": ["taskArtifactOwnerRetirementOutcome"],
        },
        "then": { "required": flags },
        "else": { "properties": { flags[0]: false, flags[1]: false } },
    });
    if let Some(all) = schema.get_mut("allOf").and_then(serde_json::Value::as_array_mut) {
        all.push(rule);
    }
    schema
}

fn cleanup_record() -> Schema {
    let states: [State; 4] = [
        (&["cleanup_pending"], schemars::SchemaGenerator::subschema_for::<CleanupPending>),
        (&["cleanup_pending"], schemars::SchemaGenerator::subschema_for::<NoOwner>),
        (&["artifacts_removed"], schemars::SchemaGenerator::subschema_for::<CleanupArtifactsRemoved>),
        (&["cleanup_completed"], schemars::SchemaGenerator::subschema_for::<CleanupCompleted>),
    ];
    let shared = schemars::SchemaGenerator::subschema_for::<Cleanup>;
    by_state("cleanup-record", "A cleanup record of a verified deletion without task artifacts.", Some(shared), &states, false)
}

fn cleanup_record_owner() -> Schema {
    let states: [State; 4] = [
        (&["cleanup_pending"], schemars::SchemaGenerator::subschema_for::<CleanupPending>),
        (&["cleanup_pending"], schemars::SchemaGenerator::subschema_for::<OwnerAlone>),
        (&["artifacts_removed"], schemars::SchemaGenerator::subschema_for::<CleanupArtifactsRemoved>),
        (&["cleanup_completed"], schemars::SchemaGenerator::subschema_for::<OwnerCompleted>),
    ];
    let shared = schemars::SchemaGenerator::subschema_for::<Cleanup>;
    by_state("cleanup-record-owner", "A cleanup record of a verified deletion with task artifacts.", Some(shared), &states, false)
}

/// What no schema can say of a cleanup record.
const CLEANUP: &[(&str, &str)] = &[
    ("attempt", "attempts count from 1 without a gap; a record speaks of no later one"),
    (
        "paths",
        "every path lies beside the transcript and begins with `.gjc-`; the two planned ones differ, and no earlier record planned them",
    ),
    ("tree", "a recorded tree has exactly one root, a directory that is what `rootDev` and `rootIno` say"),
    ("number", "the expected identity's numbers are texts that BigInt reads"),
];

/// The forms of storage.
pub(super) fn forms() -> Vec<Form> {
    let form = |name, about, schema, typed, unsaid| Form { name, about, schema, typed: Some(typed), unsaid };
    vec![
        form(
            "binding",
            "The binding of a scope directory.",
            (|| of::<Binding>("binding", "The binding of a scope directory.")) as fn() -> Schema,
            typed::binding as super::Typed,
            &[
                ("digest", "`identityDigest` is the digest of `platform` and `canonicalPath`, and the directory bears it"),
                ("canonical", "the bytes are the one canonical text: members in order, no white space, one line feed at the end"),
            ],
        ),
        form("lock", "A lock of a scope.", || of::<Lock>("lock", "A lock of a scope."), typed::lock, &[]),
        form(
            "migration-receipt",
            "A receipt of a migration: the committed one as the listing reads it, the earlier ones as recovery reads them.",
            migration_receipt,
            typed::migration_receipt,
            &[
                ("tree", "a recorded tree has exactly one root, a directory that is what `rootDev` and `rootIno` say"),
                ("range", "device and inode are at most 2^64−1, times have at most 127 bits"),
                ("sides", "`header.id` is `sessionId`"),
                (
                    "paths",
                    "the detached directory lies beside the transcript, as `.gjc-migrate-…`, and `path` is the transcript's without `.jsonl`",
                ),
            ],
        ),
        form(
            "replacement-receipt",
            "A replacement receipt of version 3, as 0.17 reads it.",
            || of::<ReplacementReceipt>("replacement-receipt", "A replacement receipt of version 3."),
            typed::replacement_receipt,
            &[
                ("directory", "`staging` and `destination` lie directly in the directory of the receipt"),
                ("staging", "with a publisher, `staging` is `.<name>.<attemptId>.replacement` beside `destination`"),
                ("range", "numbers of objects have at most 64 bits, sizes are at most 2^53−1, times have at most 128 bits"),
            ],
        ),
        form(
            "replacement-receipt-v1",
            "A replacement receipt of version 1.",
            || of::<ReplacementReceiptV1>("replacement-receipt-v1", "A replacement receipt of version 1."),
            typed::replacement_receipt_v1,
            &[
                ("name", "device and inode are those of the receipt's name and of `predecessor`; numbers have at most 64 bits"),
                ("directory", "`predecessor` and `successor` lie directly in the directory of the receipt"),
            ],
        ),
        form(
            "retirement-receipt",
            "A receipt of a retirement (0.17).",
            retirement_receipt,
            typed::retirement_receipt,
            &[
                ("task_artifact_owner_continuation_authority_mismatch", "the transcript lies two levels below a normalised sessions root"),
                ("task_artifact_owner_continuation_locator_mismatch", "the evidence is that of the receipt's session"),
                (
                    "task_artifact_owner_continuation_evidence_corrupt",
                    "the evidence is whole: the owner id is the hash of the session id, the tree has one root and no entry without its directory",
                ),
                ("task_artifact_owner_evidence_invalid", "what is left is a whole tree"),
                ("task_artifact_owner_continuation_invalid", "what is left lies where the owner may lie, and is a part of the evidence"),
                (
                    "task_artifact_owner_retirement_outcome_invalid",
                    "the outcome holds the receipt's evidence, and names nothing that the continuation does not record",
                ),
                ("task_artifact_owner_continuation_outcome_mismatch", "outcome and receipt hold one and the same continuation"),
            ],
        ),
        form(
            "tombstone",
            "A tombstone of a verified deletion, as the resuming reader of 0.17 reads it.",
            || of::<Tombstone>("tombstone", "A tombstone of a verified deletion."),
            typed::tombstone,
            &[("owner", "recorded task artifacts are whole, and those of the target's session")],
        ),
        form(
            "cleanup-record",
            "A cleanup record of a verified deletion without task artifacts, as 0.17 reads it.",
            cleanup_record,
            typed::cleanup_record::<false>,
            CLEANUP,
        ),
        form(
            "cleanup-record-owner",
            "A cleanup record of a verified deletion with task artifacts (0.17).",
            cleanup_record_owner,
            typed::cleanup_record::<true>,
            CLEANUP,
        ),
    ]
}
