//! Tombstones and cleanup histories of verified deletions: names, the two readers of a tombstone, the replay of a
//! history and its budget (spec 02 §9, 02a.10, 02a.11; spec 03 §14.2, §15). Pure; disk questions are closures.
//!
//! Two readers, on purpose: the *listing* hides a session on evidence that the *resuming* code refuses, and the reverse.

use super::budget::{Budget, Exhausted};
use super::owner_evidence::{EMPTY_SHA256, Evidence};
use super::posix;
use super::record::{BigInt, TranscriptIdentity, bigint, equals, is_text, is_tree, operation_name, record_bytes, spells};
use crate::finding::{Difference, Release};
use crate::json::spelling::is_hex64;
use crate::json::value::Array;
use crate::json::view::View;
use crate::json::{JsString, Kind, Object, Value, number};
use std::collections::HashSet;

/// Phase of a cleanup record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CleanupState {
    /// `cleanup-pending-<n>`
    Pending,
    /// `cleanup-artifacts_removed-<n>`
    ArtifactsRemoved,
    /// `cleanup-completed-1`
    Completed,
}

impl CleanupState {
    /// The word in a file name.
    pub const fn word(self) -> &'static str {
        match self {
            CleanupState::Pending => "pending",
            CleanupState::ArtifactsRemoved => "artifacts_removed",
            CleanupState::Completed => "completed",
        }
    }
    /// The word in the record.
    pub const fn record_word(self) -> &'static str {
        match self {
            CleanupState::Pending => "cleanup_pending",
            CleanupState::ArtifactsRemoved => "artifacts_removed",
            CleanupState::Completed => "cleanup_completed",
        }
    }
}

/// What a name in `tombstones/` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name<'a> {
    /// T1: `<op>.json`
    Tombstone {
        /// Operation name.
        operation: &'a str,
    },
    /// T2: a cleanup record with a canonical attempt (and attempt 1 when completed).
    Cleanup {
        /// Operation name of the tombstone.
        tombstone: &'a str,
        /// Operation name of the target.
        target: &'a str,
        /// Phase.
        state: CleanupState,
        /// Attempt number, 1 … 2^53−1.
        attempt: u64,
    },
    /// Begins like a cleanup record of some target, but the rest is not canonical.
    CleanupMalformed {
        /// Operation name of the tombstone.
        tombstone: &'a str,
        /// Operation name of the target.
        target: &'a str,
        /// Text between `cleanup-` and `.json`.
        suffix: &'a str,
    },
    /// Neither.
    Foreign,
}

/// Reads a name of `tombstones/`.
pub fn parse_name(name: &[u8]) -> Name<'_> {
    let Some(stem) = std::str::from_utf8(name).ok().and_then(|text| text.strip_suffix(".json")) else { return Name::Foreign };
    if is_hex64(stem) {
        return Name::Tombstone { operation: stem };
    }
    let fields = stem.split_once('.').and_then(|(tombstone, rest)| Some((tombstone, rest.split_once('.')?)));
    let Some((tombstone, (target, rest))) = fields else { return Name::Foreign };
    let Some(suffix) = rest.strip_prefix("cleanup-").filter(|_| is_hex64(tombstone) && is_hex64(target)) else { return Name::Foreign };
    let parsed = suffix.rsplit_once('-').and_then(|(state, attempt)| {
        let state =
            [CleanupState::Pending, CleanupState::ArtifactsRemoved, CleanupState::Completed].into_iter().find(|s| s.word() == state)?;
        let attempt = crate::json::spelling::canonical_decimal(attempt).filter(|n| (1..=MAX_SAFE).contains(n))?;
        (state != CleanupState::Completed || attempt == 1).then_some((state, attempt))
    });
    match parsed {
        Some((state, attempt)) => Name::Cleanup { tombstone, target, state, attempt },
        None => Name::CleanupMalformed { tombstone, target, suffix },
    }
}

const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// Basename of a cleanup record.
pub fn cleanup_name(tombstone: &str, target: &str, state: CleanupState, attempt: u64) -> String {
    format!("{tombstone}.{target}.cleanup-{}-{attempt}.json", state.word())
}

/// The attempt of a pending cleanup record of this tombstone and target, by its name: none when the name is not one of
/// theirs, an inner none when its attempt is not canonical (newest: `durability_failed`).
pub fn pending_attempt(name: &[u8], tombstone: &str, target: &str) -> Option<Option<u64>> {
    let prefix = format!("{tombstone}.{target}.cleanup-pending-");
    let digits = name.strip_prefix(prefix.as_bytes())?.strip_suffix(b".json")?;
    let attempt = std::str::from_utf8(digits).ok().and_then(crate::json::spelling::canonical_decimal);
    Some(attempt.filter(|attempt| (1..=MAX_SAFE).contains(attempt)))
}

/// Where a retired transcript was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Provenance {
    /// In the scope directory.
    V2,
    /// In a legacy directory.
    Legacy,
}

impl Provenance {
    /// gjc's word.
    pub const fn word(self) -> &'static str {
        match self {
            Provenance::V2 => "v2",
            Provenance::Legacy => "legacy",
        }
    }
}

/// A transcript as the listing holds it, to be compared with targets.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Path, session id, inode, size, mtime, hash.
    pub identity: &'a TranscriptIdentity,
    /// Header cwd text.
    pub cwd: &'a JsString,
}

/// The listing's reader (spec 02 §9.3): does this JSON value retire the candidate?
pub fn listing_retires(record: &Value, scope: &str, candidate: Candidate<'_>) -> bool {
    is_retired_record(record, scope)
        && record.member("targets").into_iter().flat_map(View::items).any(|target| target_equals(target, candidate, true))
}

/// Schema 2, `retired`, this scope, and an array of targets.
pub fn is_retired_record(record: &Value, scope: &str) -> bool {
    equals(record, "schemaVersion", 2.0)
        && is_text(record, "state", b"retired")
        && is_text(record, "scope", scope.as_bytes())
        && record.member("targets").is_some_and(|targets| targets.kind() == Kind::Array)
}

/// A raw target equals the candidate as the listing compares; `with_cwd` false leaves the spelling of the cwd out (02a.11).
pub fn target_equals(target: &Value, candidate: Candidate<'_>, with_cwd: bool) -> bool {
    let identity = candidate.identity;
    is_text(target, "path", identity.canonical_path.as_bytes())
        && is_text(target, "sessionId", identity.session_id.as_bytes())
        && (!with_cwd || is_text(target, "cwd", candidate.cwd.as_bytes()))
        && target.member("identity").is_some_and(|found| {
            is_text(found, "canonicalPath", identity.canonical_path.as_bytes())
                && spells(found, "dev", identity.dev)
                && spells(found, "ino", identity.ino)
                && equals(found, "size", identity.size as f64)
                && spells(found, "mtimeNs", identity.mtime_ns)
                && is_text(found, "sha256", identity.sha256.as_bytes())
        })
}

/// A target as the resuming reader holds it.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Transcript path.
    pub path: JsString,
    /// Session id.
    pub session_id: JsString,
    /// Header cwd.
    pub cwd: JsString,
    /// Where it lay.
    pub provenance: Provenance,
    /// Recorded canonical path.
    pub canonical_path: JsString,
    /// Recorded device.
    pub dev: BigInt,
    /// Recorded inode.
    pub ino: BigInt,
    /// Recorded size.
    pub size: f64,
    /// Recorded modification time.
    pub mtime_ns: BigInt,
    /// Recorded content hash.
    pub sha256: JsString,
    /// Recorded modification time in milliseconds; compared with nothing.
    pub mtime_ms: f64,
    /// The evidence of the owner that goes with it (newest).
    pub owner_evidence: Option<Box<Evidence>>,
}

impl Target {
    /// The operation name of this target: the second hex of its cleanup records.
    pub fn operation(&self) -> String {
        operation_name(
            self.canonical_path.as_bytes(),
            &[&self.dev.to_string(), &self.ino.to_string(), &number::to_js_string(self.size), &self.mtime_ns.to_string()],
            self.sha256.as_bytes(),
        )
    }
    /// True when dev, ino, size, mtime and hash are those of the file.
    pub fn is_file(&self, file: &TranscriptIdentity) -> bool {
        self.dev == BigInt::Value(file.dev.into())
            && self.ino == BigInt::Value(file.ino.into())
            && self.size == file.size as f64
            && self.mtime_ns == BigInt::Value(file.mtime_ns)
            && self.sha256 == *file.sha256.as_str()
    }
    /// Directory of the transcript, without a trailing slash.
    pub fn directory(&self) -> &[u8] {
        posix::dirname(self.path.as_bytes())
    }
    /// The artifact directory: the path without `.jsonl`.
    pub fn artifacts(&self) -> &[u8] {
        let path = self.path.as_bytes();
        path.get(..path.len().saturating_sub(6)).unwrap_or_default()
    }
}

/// A tombstone as the resuming reader holds it.
#[derive(Clone, PartialEq, Debug)]
pub struct Tombstone {
    /// Targets in order: for a migrated pair the v2 file first.
    pub targets: Vec<Target>,
}

/// Why the resuming reader has no tombstone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotATombstone {
    /// Some rule fails: it is skipped.
    #[error("it is no tombstone of this scope")]
    Skipped,
    /// Newest: owner members where they must not be.
    #[error("owner members stand where they are not supported")]
    OwnerScope,
    /// A number's text is no BigInt: `durability_failed`.
    #[error("a recorded number is no integer")]
    Number,
}

/// The resuming reader (spec 02 §9.2, spec 03 §15.2), all or nothing. `within_root` answers whether a path lies inside the
/// sessions root (real paths compared; the root itself counts), `scope_directory` is the scope's absolute path.
pub fn read(
    record: &Value,
    scope: &str,
    scope_directory: &[u8],
    release: Release,
    within_root: &dyn Fn(&JsString) -> bool,
) -> Result<Tombstone, NotATombstone> {
    let owners = Difference::TombstoneOwners.in_effect(release);
    let read = || {
        if owners && claims_owner(record, b"") {
            return Err(NotATombstone::OwnerScope);
        }
        if !is_retired_record(record, scope) {
            return Err(NotATombstone::Skipped);
        }
        let mut targets = Vec::new();
        for target in record.member("targets").into_iter().flat_map(View::items) {
            if owners && claims_owner(target, OWNER_EVIDENCE.as_bytes()) {
                return Err(NotATombstone::OwnerScope);
            }
            targets.push(read_target(target, scope_directory, owners, within_root)?);
        }
        Ok(Tombstone { targets })
    };
    // Whatever else is wrong with it: a record that is no tombstone must claim no owner anywhere (spec 03 §15.2).
    read().map_err(|why| if owners && claims_owner_somewhere(record) { NotATombstone::OwnerScope } else { why })
}

/// The owner member that a target may have.
const OWNER_EVIDENCE: &str = "taskArtifactOwnerDeletionEvidence";

/// Whether the value has an owner member other than the allowed one.
fn claims_owner(value: &Value, allowed: &[u8]) -> bool {
    value.members().any(|(key, _)| key.starts_with(b"taskArtifactOwner") && *key != *allowed)
}

/// Whether a record, its `target`, one of its `targets`, or such a one inside these, has any owner member.
fn claims_owner_somewhere(record: &Value) -> bool {
    let mut pending = vec![record];
    while let Some(value) = pending.pop() {
        if claims_owner(value, b"") {
            return true;
        }
        pending.extend(value.member("target"));
        pending.extend(value.member("targets").into_iter().flat_map(View::items));
    }
    false
}

fn read_target(
    target: &Value,
    scope_directory: &[u8],
    owners: bool,
    within_root: &dyn Fn(&JsString) -> bool,
) -> Result<Target, NotATombstone> {
    let skip = NotATombstone::Skipped;
    let text = |value: &Value, key: &str| value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned())).ok_or(skip);
    let identity = target.member("identity").filter(|identity| identity.is_record()).ok_or(skip)?;
    let (path, session_id, cwd) = (text(target, "path")?, text(target, "sessionId")?, text(target, "cwd")?);
    if !within_root(&path) {
        return Err(skip);
    }
    let in_scope =
        path.as_bytes().strip_prefix(scope_directory).and_then(|rest| rest.strip_prefix(b"/")).is_some_and(|name| !name.contains(&b'/'));
    let provenance = match target.member("provenance") {
        None if in_scope => Provenance::V2,
        None => Provenance::Legacy,
        Some(word) if word.is_str("v2") => Provenance::V2,
        Some(word) if word.is_str("legacy") => Provenance::Legacy,
        Some(_) => return Err(skip),
    };
    let number = |key: &str| identity.member(key).and_then(View::as_f64).ok_or(skip);
    let (canonical_path, sha256) = (text(identity, "canonicalPath")?, text(identity, "sha256")?);
    let (dev, ino, mtime_ns) = (text(identity, "dev")?, text(identity, "ino")?, text(identity, "mtimeNs")?);
    let (size, mtime_ms) = (number("size")?, number("mtimeMs")?);
    let owner_evidence = match target.member(OWNER_EVIDENCE).filter(|_| owners) {
        Some(evidence) => {
            let evidence = Evidence::read(evidence).ok().filter(|evidence| evidence.session_id == session_id);
            Some(Box::new(evidence.ok_or(NotATombstone::OwnerScope)?))
        }
        None => None,
    };
    let integer = |text: &JsString| match bigint(text.as_bytes()) {
        BigInt::SyntaxError => Err(NotATombstone::Number),
        value => Ok(value),
    };
    let (dev, ino, mtime_ns) = (integer(&dev)?, integer(&ino)?, integer(&mtime_ns)?);
    Ok(Target { path, session_id, cwd, provenance, canonical_path, dev, ino, size, mtime_ns, sha256, mtime_ms, owner_evidence })
}

/// A tombstone as gjc writes it.
pub fn encode(scope: &str, targets: &[(&TranscriptIdentity, &JsString, Provenance)]) -> Vec<u8> {
    let target = |(identity, cwd, provenance): &(&TranscriptIdentity, &JsString, Provenance)| {
        Value::Object(Object::from_iter([
            ("path", Value::String(identity.canonical_path.clone())),
            ("sessionId", Value::String(identity.session_id.clone())),
            ("cwd", Value::String((*cwd).clone())),
            ("provenance", Value::string(provenance.word())),
            ("identity", identity.to_value()),
        ]))
    };
    record_bytes(&Value::Object(Object::from_iter([
        ("schemaVersion", Value::Number(2.0)),
        ("state", Value::string("retired")),
        ("scope", Value::string(scope)),
        ("targets", Value::Array(Array::from(targets.iter().map(target).collect::<Vec<_>>()))),
    ])))
}

/// What a cleanup record is judged against.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// Scope digest.
    pub scope: &'a str,
    /// Absolute path of the tombstone in use.
    pub tombstone_path: &'a [u8],
    /// The target.
    pub target: &'a Target,
    /// Release whose rules hold.
    pub release: Release,
}

/// One pending record that passed.
#[derive(Clone, PartialEq, Debug)]
pub struct Pending {
    /// Its own attempt number.
    pub attempt: u64,
    /// Where artifacts were, or would have been, detached to.
    pub planned_artifacts: JsString,
    /// Where the transcript was, or would have been, detached to.
    pub planned_transcript: JsString,
    /// The whole record, for the evidence in it.
    pub record: Value,
}

impl Pending {
    /// A path that the record names, other than the planned ones.
    pub fn path(&self, key: &str) -> Option<JsString> {
        self.record.str_member(key).map(|path| JsString::from_wtf8(path.into_owned()))
    }
}

/// What the replay of a pending history gives.
#[derive(Clone, PartialEq, Debug)]
pub enum Replay {
    /// A record of it could not be read, is no JSON or has a number that is none: to gjc there is no history then
    /// (spec 02 §9.4: not an error by itself).
    Unread,
    /// All records, in order; perhaps none.
    Pending(Vec<Pending>),
}

/// Why a replay fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// A rule of spec 02 §9.4 is broken.
    #[error("durability_failed")]
    Durability,
    /// Owner members where they are not supported (newest).
    #[error("task_artifact_owner_legacy_scope_unsupported")]
    OwnerScope,
    /// The budget of spec 03 §14.2 is used up (newest).
    #[error("managed_gc_journal_capacity_exceeded")]
    Capacity,
}

impl History<'_> {
    /// Replays pending records, named in whatever order by the attempt of the file name (when canonical) and by what `read`
    /// turns into the JSON value of a record; none = it cannot be read or is no JSON.
    ///
    /// 0.15.0 reads all, skips what is no object and goes by the record's own attempt. Newest judges the names first and then
    /// reads and judges one record after the other, so that a fault hides what comes behind it.
    ///
    /// # Errors
    /// What gjc's replay throws, or what `read` gives.
    pub fn replay<T>(
        &self,
        mut records: Vec<(Option<u64>, T)>,
        mut read: impl FnMut(T) -> Result<Option<Value>, ReplayError>,
    ) -> Result<Replay, ReplayError> {
        let mut history = Vec::new();
        let mut plans = Plans::default();
        if Difference::CleanupAttemptOfName.in_effect(self.release) {
            if records.iter().any(|(name, _)| name.is_none()) {
                return Err(ReplayError::Durability);
            }
            records.sort_by_key(|(name, _)| *name);
            for (name, record) in records {
                let Some(record) = read(record)? else { return Ok(Replay::Unread) };
                if !self.append(&mut history, &mut plans, record, name)? {
                    return Ok(Replay::Unread);
                }
            }
        } else {
            let mut values = Vec::new();
            for (_, record) in records {
                let Some(record) = read(record)? else { return Ok(Replay::Unread) };
                values.extend(record.is_record().then_some(record));
            }
            let attempt = |record: &Value| record.member("attempt").and_then(View::as_f64).unwrap_or(f64::NAN);
            values.sort_by(|a, b| attempt(a).total_cmp(&attempt(b)));
            for record in values {
                if !self.append(&mut history, &mut plans, record, None)? {
                    return Ok(Replay::Unread);
                }
            }
        }
        Ok(Replay::Pending(history))
    }

    /// Judges the next record of a history. False when BigInt throws on one of its numbers: a syntax error like that of JSON,
    /// to which the replay answers "none" (spec 03 §15.3).
    fn append(&self, history: &mut Vec<Pending>, plans: &mut Plans, record: Value, name: Option<u64>) -> Result<bool, ReplayError> {
        let bad = ReplayError::Durability;
        let owners = Difference::TombstoneOwners.in_effect(self.release);
        if owners && claims_owner(&record, b"taskArtifactOwnerTranscriptDeleted") {
            return Err(ReplayError::OwnerScope);
        }
        let owner_deleted = !owners
            || record
                .member("taskArtifactOwnerTranscriptDeleted")
                .is_none_or(|deleted| deleted.as_bool() == Some(true) && self.target.owner_evidence.is_some());
        let attempt = history.len() as u64 + 1;
        let path = |key: &str| record.str_member(key).map(|path| JsString::from_wtf8(path.into_owned()));
        let (artifacts, transcript) = (path("plannedArtifactsPath").ok_or(bad)?, path("plannedTranscriptPath").ok_or(bad)?);
        let named = |keys: &[&str], prefix: &[u8]| {
            keys.iter().all(|key| record.member(key).is_none_or(|_| path(key).is_some_and(|path| self.is_beside(&path, prefix))))
        };
        let flags = ["artifactsPayloadDurable", "transcriptPayloadDurable"]
            .iter()
            .all(|key| record.member(key).is_none_or(|flag| flag.as_bool() == Some(true)));
        let removed_attempt = record.member("artifactsRemovedAttempt").is_none_or(|removed| {
            removed.as_f64().is_some_and(|removed| removed.fract() == 0.0 && removed >= 1.0 && removed <= attempt as f64)
        });
        let whole = self.common(&record, CleanupState::Pending, 2.0, attempt)
            && name.is_none_or(|name| name == attempt)
            && self.is_beside(&artifacts, QUARANTINE)
            && self.is_beside(&transcript, QUARANTINE)
            && artifacts != transcript
            && plans.are_fresh(&artifacts, &transcript)
            && named(&["detachedArtifactsPath", "detachedTranscriptPath"], QUARANTINE)
            && named(&RETAINED_KEYS, RETAINED)
            && flags
            && removed_attempt
            && owner_deleted;
        if !whole {
            return Err(bad);
        }
        // "If truthy" for the identity (spec 03 §15.3); the tree is judged whenever it is there.
        if let Some(identity) = record.member("expectedArtifactsIdentity").filter(|identity| identity.truthy()) {
            if !is_artifact_identity(identity) {
                return Err(bad);
            }
            let is_number = |key: &&str| identity.str_member(key).is_some_and(|text| bigint(&text) != BigInt::SyntaxError);
            if !["dev", "ino", "mtimeNs"].iter().all(is_number) {
                return Ok(false);
            }
        }
        let known = plans.knows(path("detachedArtifactsPath").as_ref(), path("detachedTranscriptPath").as_ref());
        if !record.member("expectedArtifactsTree").is_none_or(is_tree) || (attempt > 1 && !known) {
            return Err(bad);
        }
        plans.add(&artifacts, &transcript);
        history.push(Pending { attempt, planned_artifacts: artifacts, planned_transcript: transcript, record });
        Ok(true)
    }

    /// Whether gjc's own next record would pass behind these: its planned paths are new, and what it says is detached was planned.
    pub fn takes(&self, history: &[Pending], planned: (&JsString, &JsString), detached: (Option<&JsString>, Option<&JsString>)) -> bool {
        let mut plans = Plans::default();
        for pending in history {
            plans.add(&pending.planned_artifacts, &pending.planned_transcript);
        }
        let beside = |path: Option<&JsString>| path.is_none_or(|path| self.is_beside(path, QUARANTINE));
        plans.are_fresh(planned.0, planned.1)
            && beside(detached.0)
            && beside(detached.1)
            && (history.is_empty() || plans.knows(detached.0, detached.1))
    }

    /// Whether a path lies beside the transcript under a name that begins so.
    pub fn is_beside(&self, path: &JsString, prefix: &[u8]) -> bool {
        is_sibling(path.as_bytes(), self.target.directory(), prefix)
    }

    /// The fields that every cleanup record shares. canonicalPath and mtimeMs of the target are not compared.
    fn common(&self, record: &Value, state: CleanupState, schema: f64, attempt: u64) -> bool {
        equals(record, "schemaVersion", schema)
            && is_text(record, "state", state.record_word().as_bytes())
            && is_text(record, "scope", self.scope.as_bytes())
            && is_text(record, "tombstone", self.tombstone_path)
            && equals(record, "attempt", attempt as f64)
            && record.member("target").is_some_and(|target| self.is_target(target))
    }

    /// The recorded target is this one. Its numbers are compared as text.
    fn is_target(&self, target: &Value) -> bool {
        is_text(target, "path", self.target.path.as_bytes())
            && is_text(target, "sessionId", self.target.session_id.as_bytes())
            && is_text(target, "cwd", self.target.cwd.as_bytes())
            && target.member("identity").is_some_and(|identity| {
                spells(identity, "dev", &self.target.dev)
                    && spells(identity, "ino", &self.target.ino)
                    && equals(identity, "size", self.target.size)
                    && spells(identity, "mtimeNs", &self.target.mtime_ns)
                    && is_text(identity, "sha256", self.target.sha256.as_bytes())
            })
    }

    /// Judges an `artifacts_removed` record of this attempt (spec 02 §9.5). Not valid = it does not count; an error =
    /// `durability_failed`. `live` answers what stands at the path of a retained root now.
    pub fn artifacts_removed(
        &self,
        record: &Value,
        attempt: u64,
        live: &dyn Fn(&JsString, &Value) -> LiveRoot,
    ) -> Result<bool, ReplayError> {
        let canonical = record
            .member("target")
            .and_then(|target| target.member("identity"))
            .is_some_and(|identity| is_text(identity, "canonicalPath", self.target.canonical_path.as_bytes()));
        if !self.common(record, CleanupState::ArtifactsRemoved, 2.0, attempt) || !canonical {
            return Ok(false);
        }
        let Some(root) = record.member("retainedArtifactsRoot") else { return Ok(true) };
        let text = |value: &Value, key: &str| value.str_member(key).map(std::borrow::Cow::into_owned);
        let removing = || text(record, "plannedArtifactsPath").map(|planned| [planned.as_slice(), b".removing"].concat());
        let place = text(record, "detachedArtifactsPath").or_else(removing);
        let path = text(root, "path").filter(|path| place.as_ref() == Some(path)).map(JsString::from_wtf8);
        let durable = record.member("artifactsPayloadDurable").and_then(View::as_bool) == Some(true);
        let identity = root.member("identity").filter(|identity| is_artifact_identity(identity));
        let empty = root.member("tree").is_some_and(is_payload_free);
        let (Some(path), Some(identity), true, true) = (path, identity, durable, empty) else { return Err(ReplayError::Durability) };
        match live(&path, identity) {
            LiveRoot::Holds => Ok(true),
            LiveRoot::Differs => Err(ReplayError::Durability),
            LiveRoot::Untold => Ok(false),
        }
    }

    /// Judges the `completed` record: its closed set of members (newest), schema 1, attempt 1, and the common fields.
    pub fn is_completed(&self, record: &Value) -> bool {
        const PLAIN: [&str; 6] = ["schemaVersion", "state", "scope", "tombstone", "attempt", "target"];
        const OWNER: [&str; 4] = [
            "taskArtifactOwnerDeletionEvidence",
            "taskArtifactOwnerRetirementOutcome",
            "taskArtifactOwnerRetired",
            "taskArtifactOwnerTranscriptDeleted",
        ];
        let Some(object) = record.as_object() else { return false };
        let has = |keys: &[&str]| keys.iter().all(|key| object.contains(key));
        let closed = match object.len() {
            6 => has(&PLAIN) && self.target.owner_evidence.is_none(),
            10 => has(&PLAIN) && has(&OWNER) && self.target.owner_evidence.is_some(),
            _ => false,
        };
        // 0.15.0 knows no owner members and does not count members.
        (closed || !Difference::ClosedCompletedRecord.in_effect(self.release)) && self.common(record, CleanupState::Completed, 1.0, 1)
    }
}

/// What stands where an `artifacts_removed` record retained the artifact root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LiveRoot {
    /// Nothing, or the recorded directory, and it holds no payload.
    Holds,
    /// Something else.
    Differs,
    /// It cannot be compared; the record does not count then.
    Untold,
}

/// The names that a deletion gives to what it detaches begin so.
pub const QUARANTINE: &[u8] = b".gjc-delete-";
/// The names under which the native code may leave something begin so.
pub const RETAINED: &[u8] = b".gjc-";

/// The paths, of both kinds, that earlier records of a history planned. A history may have 50,000 records: they are looked
/// up, not searched.
#[derive(Default)]
struct Plans(HashSet<JsString>);

impl Plans {
    fn add(&mut self, artifacts: &JsString, transcript: &JsString) {
        self.0.extend([artifacts.clone(), transcript.clone()]);
    }
    fn are_fresh(&self, artifacts: &JsString, transcript: &JsString) -> bool {
        !self.0.contains(artifacts) && !self.0.contains(transcript)
    }
    /// What is detached was planned; a directory also with `.removing` behind the planned path.
    fn knows(&self, artifacts: Option<&JsString>, transcript: Option<&JsString>) -> bool {
        let removing = |path: &JsString| path.as_bytes().strip_suffix(b".removing").is_some_and(|planned| self.0.contains(planned));
        artifacts.is_none_or(|path| self.0.contains(path) || removing(path)) && transcript.is_none_or(|path| self.0.contains(path))
    }
}

/// The paths under which the native code may have left something, artifacts first.
pub const RETAINED_KEYS: [&str; 6] = [
    "retainedArtifactsSuccessorPath",
    "retainedArtifactsPlaceholderPath",
    "retainedArtifactsUnknownPath",
    "retainedTranscriptSuccessorPath",
    "retainedTranscriptPlaceholderPath",
    "retainedTranscriptUnknownPath",
];

/// The identity of an artifact directory is whole: its numbers are texts, only the size is a number.
fn is_artifact_identity(identity: &Value) -> bool {
    identity.is_record()
        && ["dev", "ino", "mtimeNs", "sha256"].iter().all(|key| identity.str_member(key).is_some())
        && identity.member("size").is_some_and(|size| size.kind() == Kind::Number)
}

/// A tree whose files are all empty.
pub fn is_payload_free(tree: &Value) -> bool {
    let digest = data_encoding::HEXLOWER.encode(&EMPTY_SHA256);
    is_tree(tree)
        && tree.member("entries").into_iter().flat_map(View::items).all(|entry| {
            is_text(entry, "kind", b"directory") || (is_text(entry, "size", b"0") && is_text(entry, "sha256", digest.as_bytes()))
        })
}

/// True when `path` lies directly in `directory` and its name has this prefix; slashes at its end do not count.
pub fn is_sibling(path: &[u8], directory: &[u8], prefix: &[u8]) -> bool {
    posix::dirname(path) == directory && posix::basename(path).starts_with(prefix)
}

/// The cleanup replay budget (spec 03 §14.2), exact. One for each replay of a (tombstone, target) pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayBudget {
    /// Directory entries, matching or not.
    pub entries: Budget,
    /// Receipts read.
    pub receipts: Budget,
    /// Bytes read.
    pub bytes: Budget,
    /// Work units: one for an entry, one for every begun 64 KiB of a receipt and at least one.
    pub work: Budget,
}

impl Default for ReplayBudget {
    fn default() -> Self {
        ReplayBudget {
            entries: Budget::new("directory entries", Self::MAX_ENTRIES),
            receipts: Budget::new("cleanup receipts read", Self::MAX_RECEIPTS),
            bytes: Budget::new("bytes of cleanup receipts", Self::MAX_BYTES),
            work: Budget::new("work units of one replay", Self::MAX_WORK),
        }
    }
}

impl ReplayBudget {
    /// Directory entries, matching or not.
    pub const MAX_ENTRIES: u64 = 50_000;
    /// Receipts read.
    pub const MAX_RECEIPTS: u64 = 50_000;
    /// Bytes of one receipt.
    pub const MAX_RECEIPT_BYTES: u64 = 64 << 20;
    /// Bytes of all receipts.
    pub const MAX_BYTES: u64 = 512 << 20;
    /// Work units.
    pub const MAX_WORK: u64 = 100_000;
    /// Bytes that one unit pays for.
    pub const UNIT: u64 = 65_536;

    /// Admits one directory entry.
    pub fn entry(&mut self) -> Result<(), ReplayError> {
        self.entries.charge(1)?;
        Ok(self.work.charge(1)?)
    }
    /// Admits one receipt of this size.
    pub fn receipt(&mut self, size: u64) -> Result<(), ReplayError> {
        Budget::new("bytes of one cleanup receipt", Self::MAX_RECEIPT_BYTES).charge(size)?;
        self.receipts.charge(1)?;
        self.bytes.charge(size)?;
        Ok(self.work.charge(size.div_ceil(Self::UNIT).max(1))?)
    }
}

impl From<Exhausted> for ReplayError {
    fn from(_: Exhausted) -> Self {
        ReplayError::Capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: &str = "526fp3m4ekf6ylauiugh45dkg5idljyahgf623hfifqcbxkavw2a";
    const PATH: &str = "/s/v2/x.jsonl";

    fn identity() -> TranscriptIdentity {
        TranscriptIdentity {
            canonical_path: PATH.into(),
            session_id: "s1".into(),
            dev: 65024,
            ino: 7,
            nlink: 1,
            size: 100,
            mtime_ns: 1_767_225_600_000_000_000,
            ctime_ns: 5,
            sha256: "a".repeat(64),
        }
    }
    fn text() -> String {
        String::from_utf8(encode(SCOPE, &[(&identity(), &"/srv/pi".into(), Provenance::V2)])).unwrap()
    }
    fn value(text: &str) -> Value {
        Value::parse(text.as_bytes()).expect("JSON")
    }
    fn hides(text: &str) -> bool {
        listing_retires(&value(text), SCOPE, Candidate { identity: &identity(), cwd: &"/srv/pi".into() })
    }
    fn resumes(text: &str) -> Result<Tombstone, NotATombstone> {
        read(&value(text), SCOPE, b"/s/v2", Release::V0_15, &|path| path.as_bytes().starts_with(b"/s/"))
    }
    fn target() -> Target {
        resumes(&text()).unwrap().targets.remove(0)
    }

    #[test]
    fn a_written_tombstone_hides_and_resumes() {
        assert!(hides(&text()));
        let tombstone = resumes(&text()).unwrap();
        assert_eq!(tombstone.targets.len(), 1);
        assert_eq!(tombstone.targets[0].operation(), identity().operation());
        assert!(tombstone.targets[0].is_file(&identity()));
    }
    #[test]
    fn evidence_that_hides_although_the_resuming_reader_refuses_it() {
        for (from, to) in [("\"v2\"", "\"elsewhere\""), (",\"mtimeMs\":1767225600000", ""), ("\"targets\":[", "\"targets\":[null,")] {
            let edited = text().replace(from, to);
            assert_ne!(edited, text(), "{from}");
            assert!(hides(&edited), "{from}");
            assert_eq!(resumes(&edited), Err(NotATombstone::Skipped), "{from}");
        }
    }
    #[test]
    fn evidence_that_resumes_although_the_listing_shows_the_session() {
        let edited = text().replace("/srv/pi", "/srv/./pi");
        assert!(!hides(&edited));
        assert!(resumes(&edited).is_ok());
    }
    #[test]
    fn each_compared_member_matters_to_the_listing() {
        for (from, to) in [
            ("\"sessionId\":\"s1\",\"cwd\"", "\"sessionId\":\"s2\",\"cwd\""),
            ("\"dev\":\"65024\"", "\"dev\":\"1\""),
            ("\"ino\":\"7\"", "\"ino\":\"8\""),
            ("\"size\":100", "\"size\":101"),
            ("\"mtimeNs\":\"1767225600000000000\"", "\"mtimeNs\":\"1\""),
            ("\"schemaVersion\":2", "\"schemaVersion\":1"),
            ("\"targets\":[", "\"targets\":{\"a\":["),
        ] {
            let edited = text().replacen(from, to, 1);
            let edited = if from.contains("targets") { edited.replace("}]}", "}]}}") } else { edited };
            assert!(!hides(&edited), "{from}");
        }
        for (from, to) in [("\"ctimeNs\":\"5\"", "\"ctimeNs\":\"6\""), ("\"nlink\":\"1\"", "\"nlink\":\"2\"")] {
            assert!(hides(&text().replacen(from, to, 1)), "{from}");
        }
    }
    #[test]
    fn a_number_that_is_no_integer_is_worse_than_no_tombstone() {
        assert_eq!(resumes(&text().replace("\"ino\":\"7\"", "\"ino\":\"seven\"")), Err(NotATombstone::Number));
        assert!(resumes(&text().replace("\"ino\":\"7\"", "\"ino\":\" 0x7 \"")).is_ok());
    }
    #[test]
    fn newest_refuses_owner_members() {
        let read = |text: &str| read(&value(text), SCOPE, b"/s/v2", Release::V0_17, &|_| true).map(|_| ());
        assert_eq!(read(&text().replace("\"state\"", "\"taskArtifactOwnerX\":1,\"state\"")), Err(NotATombstone::OwnerScope));
        assert_eq!(read(&text().replace("\"provenance\"", "\"taskArtifactOwnerX\":1,\"provenance\"")), Err(NotATombstone::OwnerScope));
        let with =
            |evidence: &str| text().replace("\"provenance\"", &format!("\"taskArtifactOwnerDeletionEvidence\":{evidence},\"provenance\""));
        assert_eq!(read(&with(&crate::agent::owner_evidence::example("s1"))), Ok(()));
        assert_eq!(read(&with(&crate::agent::owner_evidence::example("another"))), Err(NotATombstone::OwnerScope));
        assert_eq!(read(&with("null")), Err(NotATombstone::OwnerScope));
        assert!(resumes(&with("null")).is_ok());
        // No tombstone for another reason: an owner member anywhere in it is told before that reason.
        let evidence = crate::agent::owner_evidence::example("s1");
        for (from, to) in [
            ("\"v2\"", "\"elsewhere\""),
            ("\"cwd\":\"/srv/pi\",", ""),
            ("\"dev\":\"65024\"", "\"dev\":\"x\""),
            ("\"retired\"", "\"other\""),
        ] {
            let spoilt = |text: String| text.replace(from, to);
            assert_ne!(spoilt(text()), text());
            assert_eq!(read(&spoilt(with(&evidence))), Err(NotATombstone::OwnerScope), "{from}");
            assert_ne!(read(&spoilt(text())), Err(NotATombstone::OwnerScope), "{from}");
            assert_ne!(resumes(&spoilt(with(&evidence))), Err(NotATombstone::OwnerScope), "{from}");
        }
        let malformed = with("{}").replace("\"dev\":\"65024\"", "\"dev\":\"x\"");
        assert_eq!(read(&malformed), Err(NotATombstone::OwnerScope));
        let nested = r#"{"targets":[{"target":{"targets":[{"taskArtifactOwnerX":1}]}}]}"#;
        assert_eq!(read(nested), Err(NotATombstone::OwnerScope));
        assert_eq!(read(&nested.replace("Owner", "Other")), Err(NotATombstone::Skipped));
        assert!(resumes(&text().replace("\"state\"", "\"taskArtifactOwnerX\":1,\"state\"")).is_ok());
    }
    #[test]
    fn absent_provenance_follows_the_directory() {
        let absent = text().replace("\"provenance\":\"v2\",", "");
        assert_eq!(resumes(&absent).unwrap().targets[0].provenance, Provenance::V2);
        let elsewhere = absent.replace("/s/v2/", "/s/-l/");
        assert_eq!(resumes(&elsewhere).unwrap().targets[0].provenance, Provenance::Legacy);
    }
    #[test]
    fn names() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        assert_eq!(parse_name(format!("{a}.json").as_bytes()), Name::Tombstone { operation: &a });
        for (state, attempt) in [(CleanupState::Pending, 12), (CleanupState::ArtifactsRemoved, 3), (CleanupState::Completed, 1)] {
            let name = cleanup_name(&a, &b, state, attempt);
            assert_eq!(parse_name(name.as_bytes()), Name::Cleanup { tombstone: &a, target: &b, state, attempt });
        }
        for suffix in ["pending-01", "pending-0", "completed-2", "other-1", "pending-9007199254740992", "pending"] {
            let name = format!("{a}.{b}.cleanup-{suffix}.json");
            assert_eq!(parse_name(name.as_bytes()), Name::CleanupMalformed { tombstone: &a, target: &b, suffix }, "{suffix}");
        }
        assert_eq!(parse_name(b"x.json"), Name::Foreign);
        assert_eq!(parse_name(format!("{a}.txt").as_bytes()), Name::Foreign);
    }

    fn pending(attempt: u64) -> String {
        let op = identity().operation();
        let mut identity = identity().to_value();
        if let Some(identity) = identity.as_object_mut() {
            identity.set("canonicalPath", Value::string("not compared"));
        }
        let identity = String::from_utf8(super::super::record::json_text(&identity)).unwrap();
        format!(
            r#"{{"schemaVersion":2,"state":"cleanup_pending","scope":"{SCOPE}","tombstone":"/t.json","attempt":{attempt},"target":{{"path":"{PATH}","sessionId":"s1","cwd":"/srv/pi","identity":{identity}}},"plannedArtifactsPath":"/s/v2/.gjc-delete-{op}-artifacts-{attempt}","plannedTranscriptPath":"/s/v2/.gjc-delete-{op}-transcript-{attempt}"}}"#
        )
    }
    /// How many records pass; none when there is no history to gjc. A text that is no JSON stands for a record that cannot be read.
    fn replay(release: Release, records: &[(Option<u64>, String)]) -> Result<Option<usize>, ReplayError> {
        let target = target();
        let history = History { scope: SCOPE, tombstone_path: b"/t.json", target: &target, release };
        let records = records.iter().map(|(name, text)| (*name, text)).collect();
        history.replay(records, |text| Ok(Value::parse(text.as_bytes()))).map(|replay| match replay {
            Replay::Unread => None,
            Replay::Pending(all) => Some(all.len()),
        })
    }

    #[test]
    fn a_contiguous_history_replays_in_any_order() {
        let records = [(Some(3), pending(3)), (Some(1), pending(1)), (Some(2), pending(2))];
        assert_eq!(replay(Release::V0_15, &records), Ok(Some(3)));
        assert_eq!(replay(Release::V0_17, &records), Ok(Some(3)));
        assert_eq!(replay(Release::V0_17, &[]), Ok(Some(0)));
    }
    #[test]
    fn a_gap_fails() {
        let records = [(Some(1), pending(1)), (Some(3), pending(3))];
        assert_eq!(replay(Release::V0_15, &records), Err(ReplayError::Durability));
    }
    fn with(member: &str) -> String {
        pending(1).replace("\"plannedArtifactsPath\"", &format!("{member},\"plannedArtifactsPath\""))
    }
    fn expecting(identity: &str) -> String {
        with(&format!("\"expectedArtifactsIdentity\":{identity}"))
    }
    const NO_NUMBER: &str = r#"{"dev":"x","ino":"1","size":1,"mtimeNs":"1","sha256":""}"#;

    #[test]
    fn the_targets_numbers_are_compared_as_text() {
        for ino in ["seven", " 7 ", "0x7", "007"] {
            let text = pending(1).replace("\"ino\":\"7\"", &format!("\"ino\":\"{ino}\""));
            assert_ne!(text, pending(1));
            for release in Release::ALL {
                assert_eq!(replay(release, &[(Some(1), text.clone())]), Err(ReplayError::Durability), "{ino}");
            }
        }
    }
    #[test]
    fn an_expected_number_that_bigint_refuses_reads_as_no_history() {
        for release in Release::ALL {
            assert_eq!(replay(release, &[(Some(1), expecting(NO_NUMBER))]), Ok(None));
            assert_eq!(replay(release, &[(Some(1), expecting(&NO_NUMBER.replace('x', " 0x7 ")))]), Ok(Some(1)));
        }
    }
    #[test]
    fn a_number_that_bigint_refuses_hides_only_what_is_judged_after_it() {
        let newest = |text: String| replay(Release::V0_17, &[(Some(1), text)]);
        let bad = expecting(NO_NUMBER);
        assert_eq!(newest(bad.replace("cleanup_pending", "artifacts_removed")), Err(ReplayError::Durability));
        assert_eq!(newest(bad.replace("\"size\":1,", "\"size\":\"1\",")), Err(ReplayError::Durability));
        assert_eq!(newest(bad.replace(",\"sha256\":\"\"", "")), Err(ReplayError::Durability));
        assert_eq!(newest(bad.replace("\"attempt\"", "\"taskArtifactOwnerX\":1,\"attempt\"")), Err(ReplayError::OwnerScope));
        assert_eq!(newest(bad.replace("\"plannedArtifactsPath\"", "\"expectedArtifactsTree\":{},\"plannedArtifactsPath\"")), Ok(None));
        // The owner rule comes before the shape, and a wrong owner mark is part of the shape.
        let marked = with("\"taskArtifactOwnerTranscriptDeleted\":true,\"taskArtifactOwnerX\":1");
        assert_eq!(newest(marked), Err(ReplayError::OwnerScope));
    }
    #[test]
    fn newest_judges_one_record_after_the_other_and_the_names_first() {
        let broken = pending(1).replace("cleanup_pending", "artifacts_removed");
        let cut = [(Some(1), broken), (Some(2), "{".to_owned())];
        assert_eq!(replay(Release::V0_17, &cut), Err(ReplayError::Durability));
        assert_eq!(replay(Release::V0_15, &cut), Ok(None));
        let odd_name = [(Some(1), "{".to_owned()), (None, pending(2))];
        assert_eq!(replay(Release::V0_17, &odd_name), Err(ReplayError::Durability));
        assert_eq!(replay(Release::V0_15, &odd_name), Ok(None));
        assert_eq!(replay(Release::V0_17, &[(Some(2), "{".to_owned()), (Some(1), pending(1))]), Ok(None));
    }
    #[test]
    fn newest_goes_by_the_file_name_and_old_by_the_record() {
        for name in [Some(7), None] {
            let records = [(name, pending(1))];
            assert_eq!(replay(Release::V0_15, &records), Ok(Some(1)));
            assert_eq!(replay(Release::V0_17, &records), Err(ReplayError::Durability));
        }
    }
    #[test]
    fn an_array_is_skipped_by_old_and_fails_in_newest() {
        let records = [(Some(1), "[]".to_owned())];
        assert_eq!(replay(Release::V0_15, &records), Ok(Some(0)));
        assert_eq!(replay(Release::V0_17, &records), Err(ReplayError::Durability));
    }
    #[test]
    fn slashes_at_the_end_of_a_planned_path_do_not_count() {
        let slash = pending(1).replace("-artifacts-1\"", "-artifacts-1/\"");
        assert_ne!(slash, pending(1));
        assert_eq!(replay(Release::V0_17, &[(Some(1), slash)]), Ok(Some(1)));
        let doubled = pending(1).replace("/s/v2/.gjc-delete", "/s/v2//.gjc-delete");
        assert_eq!(replay(Release::V0_17, &[(Some(1), doubled)]), Err(ReplayError::Durability));
    }
    #[test]
    fn what_is_detached_may_be_any_path_that_was_planned() {
        let op = identity().operation();
        let second = |member: &str, path: &str| {
            let member = format!("\"{member}\":\"/s/v2/.gjc-delete-{op}-{path}\",\"plannedArtifactsPath\"");
            replay(Release::V0_17, &[(Some(1), pending(1)), (Some(2), pending(2).replace("\"plannedArtifactsPath\"", &member))])
        };
        assert_eq!(second("detachedTranscriptPath", "artifacts-1"), Ok(Some(2)));
        assert_eq!(second("detachedArtifactsPath", "transcript-1"), Ok(Some(2)));
        assert_eq!(second("detachedArtifactsPath", "transcript-1.removing"), Ok(Some(2)));
        assert_eq!(second("detachedTranscriptPath", "transcript-1.removing"), Err(ReplayError::Durability));
        assert_eq!(second("detachedTranscriptPath", "transcript-2"), Err(ReplayError::Durability));
    }
    #[test]
    fn immutable_fields_planned_paths_and_flags() {
        let op = identity().operation();
        for (from, to) in [
            ("\"attempt\":1", "\"attempt\":\"1\"".to_owned()),
            ("cleanup_pending", "artifacts_removed".to_owned()),
            ("/t.json", "/u.json".to_owned()),
            ("\"sessionId\":\"s1\",\"cwd\"", "\"sessionId\":\"s2\",\"cwd\"".to_owned()),
            ("/s/v2/.gjc-delete-", "/s/v2/.other-".to_owned()),
            ("/s/v2/.gjc-delete-", "/s/v3/.gjc-delete-".to_owned()),
            ("-transcript-1", "-artifacts-1".to_owned()),
            ("\"plannedArtifactsPath\"", "\"transcriptPayloadDurable\":false,\"plannedArtifactsPath\"".to_owned()),
            ("\"plannedArtifactsPath\"", "\"artifactsRemovedAttempt\":2,\"plannedArtifactsPath\"".to_owned()),
            ("\"plannedArtifactsPath\"", "\"retainedTranscriptUnknownPath\":\"/s/v2/x\",\"plannedArtifactsPath\"".to_owned()),
            ("\"plannedArtifactsPath\"", "\"expectedArtifactsIdentity\":{\"dev\":\"1\"},\"plannedArtifactsPath\"".to_owned()),
            ("\"plannedArtifactsPath\"", "\"expectedArtifactsTree\":{},\"plannedArtifactsPath\"".to_owned()),
        ] {
            let edited = pending(1).replacen(from, &to, 1);
            assert_ne!(edited, pending(1), "{from}");
            assert_eq!(replay(Release::V0_15, &[(Some(1), edited)]), Err(ReplayError::Durability), "{from} -> {to}");
        }
        let detached = pending(2).replace(
            "\"plannedArtifactsPath\"",
            &format!("\"detachedTranscriptPath\":\"/s/v2/.gjc-delete-{op}-transcript-9\",\"plannedArtifactsPath\""),
        );
        assert_eq!(replay(Release::V0_15, &[(Some(1), pending(1)), (Some(2), detached.clone())]), Err(ReplayError::Durability));
        let planned = detached.replace("transcript-9", "transcript-1");
        assert_eq!(replay(Release::V0_15, &[(Some(1), pending(1)), (Some(2), planned)]), Ok(Some(2)));
    }
    #[test]
    fn owner_members_of_a_pending_record() {
        let other = with("\"taskArtifactOwnerX\":1");
        assert_eq!(replay(Release::V0_15, &[(Some(1), other.clone())]), Ok(Some(1)));
        assert_eq!(replay(Release::V0_17, &[(Some(1), other)]), Err(ReplayError::OwnerScope));
        let deleted = with("\"taskArtifactOwnerTranscriptDeleted\":true");
        assert_eq!(replay(Release::V0_17, &[(Some(1), deleted)]), Err(ReplayError::Durability));
    }
    #[test]
    fn completed_is_a_closed_record() {
        let target = target();
        let history = |release| History { scope: SCOPE, tombstone_path: b"/t.json", target: &target, release };
        let text = pending(1).replace("\"schemaVersion\":2", "\"schemaVersion\":1").replace("cleanup_pending", "cleanup_completed");
        let at = text.find(",\"plannedArtifactsPath\"").unwrap();
        let text = format!("{}}}", &text[..at]);
        assert!(history(Release::V0_17).is_completed(&value(&text)));
        assert!(history(Release::V0_15).is_completed(&value(&text)));
        let extra = text.replace("\"attempt\"", "\"note\":1,\"attempt\"");
        assert!(!history(Release::V0_17).is_completed(&value(&extra)));
        assert!(history(Release::V0_15).is_completed(&value(&extra)));
        assert!(!history(Release::V0_15).is_completed(&value(&text.replace("\"attempt\":1", "\"attempt\":2"))));
        assert!(!history(Release::V0_15).is_completed(&value(&text.replace("\"schemaVersion\":1", "\"schemaVersion\":2"))));
    }
    #[test]
    fn artifacts_removed_with_a_retained_root() {
        let target = target();
        let history = History { scope: SCOPE, tombstone_path: b"/t.json", target: &target, release: Release::V0_15 };
        let plain = pending(1).replace("cleanup_pending", "artifacts_removed").replace("not compared", PATH);
        let judge = |text: &str| history.artifacts_removed(&value(text), 1, &|_, _| LiveRoot::Holds);
        assert_eq!(judge(&plain), Ok(true));
        assert_eq!(judge(&pending(1)), Ok(false));
        let op = identity().operation();
        let root = format!(
            r#""retainedArtifactsRoot":{{"path":"/s/v2/.gjc-delete-{op}-artifacts-1.removing","identity":{{"dev":"1","ino":"2","size":40,"mtimeNs":"0","sha256":""}},"tree":{{"rootDev":"1","rootIno":"2","entries":[{{"relativePath":"","kind":"directory","dev":"1","ino":"2","size":"40","mtimeNs":"0","ctimeNs":"0"}}]}}}}"#
        );
        let retained = plain.replace("\"plannedArtifactsPath\"", &format!("{root},\"plannedArtifactsPath\""));
        assert_eq!(judge(&retained), Err(ReplayError::Durability));
        let durable = retained.replace("\"plannedArtifactsPath\"", "\"artifactsPayloadDurable\":true,\"plannedArtifactsPath\"");
        assert_eq!(judge(&durable), Ok(true));
        for (live, verdict) in [(LiveRoot::Differs, Err(ReplayError::Durability)), (LiveRoot::Untold, Ok(false))] {
            assert_eq!(history.artifacts_removed(&value(&durable), 1, &|_, _| live), verdict);
        }
        // A string `detachedArtifactsPath` says where it must be; the planned path then does not.
        let elsewhere =
            durable.replace("\"plannedArtifactsPath\"", "\"detachedArtifactsPath\":\"/s/v2/.gjc-delete-o\",\"plannedArtifactsPath\"");
        assert_eq!(judge(&elsewhere), Err(ReplayError::Durability));
        for (from, to) in [("\"size\":40", "\"size\":\"40\""), ("\"identity\":{\"dev\":\"1\"", "\"identity\":{\"dev\":1")] {
            assert_ne!(durable.replace(from, to), durable);
            assert_eq!(judge(&durable.replace(from, to)), Err(ReplayError::Durability), "{to}");
        }
    }
    #[test]
    fn an_empty_file_without_the_digest_of_nothing_is_payload() {
        let tree = |file: &str| {
            let root = r#"{"relativePath":"","kind":"directory","dev":"1","ino":"2","size":"40","mtimeNs":"0","ctimeNs":"0"}"#;
            let file = format!(r#"{{"relativePath":"f","kind":"file","dev":"1","ino":"3","mtimeNs":"0","ctimeNs":"0",{file}}}"#);
            is_payload_free(&value(&format!(r#"{{"rootDev":"1","rootIno":"2","entries":[{root},{file}]}}"#)))
        };
        let digest = data_encoding::HEXLOWER.encode(&EMPTY_SHA256);
        assert!(tree(&format!(r#""size":"0","sha256":"{digest}""#)));
        assert!(!tree(r#""size":"0""#));
        assert!(!tree(&format!(r#""size":"00","sha256":"{digest}""#)));
    }

    fn spend(entries: u64, receipts: &[(u64, u64)]) -> Result<ReplayBudget, ReplayError> {
        let mut budget = ReplayBudget::default();
        for _ in 0..entries {
            budget.entry()?;
        }
        for (count, size) in receipts {
            for _ in 0..*count {
                budget.receipt(*size)?;
            }
        }
        Ok(budget)
    }
    #[test]
    fn the_thresholds_of_the_budget() {
        assert!(spend(50_000, &[]).is_ok());
        assert!(spend(50_001, &[]).is_err());
        assert_eq!(spend(50_000, &[(49_999, 1)]).map(|budget| budget.work.used), Ok(99_999));
        assert_eq!(spend(50_000, &[(49_998, 1), (1, 65_537)]).map(|budget| budget.work.used), Ok(100_000));
        assert_eq!(spend(50_000, &[(49_997, 1), (2, 65_537)]), Err(ReplayError::Capacity));
        assert!(spend(0, &[(8_192, 65_536)]).is_ok());
        assert!(spend(0, &[(8_193, 65_536)]).is_err());
        assert!(spend(0, &[(8, 64 << 20)]).is_ok());
        assert!(spend(0, &[(9, 64 << 20)]).is_err());
        assert_eq!(spend(0, &[(1, 67_108_864)]).map(|budget| budget.work.used), Ok(1_024));
        assert!(spend(0, &[(1, 67_108_865)]).is_err());
        assert!(spend(0, &[(8, 64 << 20), (1, 0)]).is_ok());
        assert!(spend(0, &[(7, 64 << 20), (1, (64 << 20) - 1), (1, 1)]).is_ok());
        assert!(spend(0, &[(8, 64 << 20), (1, 1)]).is_err());
        assert!(spend(49_999, &[]).is_ok());
    }
}
