//! The typed verdict: what this crate's own reader of a form says of a record. Where a reader compares a record with something
//! else (its directory, the scope, the transcript), the record is compared with itself: what it says of them is taken for true.

use crate::agent::migration_receipt::{self, Side, matches};
use crate::agent::owner_evidence::Evidence;
use crate::agent::record::{TranscriptIdentity, is_tree};
use crate::agent::residue::Inode;
use crate::agent::tombstone::{self, CleanupState, History, NotATombstone, Target};
use crate::agent::{binding as bindings, lock as locks, replacement_receipt as replacement};
use crate::finding::Release;
use crate::gc::{self, SessionsRoot};
use crate::json::{JsString, Value, View, stringify};
use crate::transcript::entry::EntryKind;
use crate::transcript::load::{At, Loader, Whole};
use crate::transcript::migrate::{Numbered, migrate};
use crate::transcript::{header as headers, patch, schema};
use std::sync::Arc;

/// The shape is wrong: what a schema can say.
const SHAPE: &str = "shape";

type Verdict = Result<(), &'static str>;

fn hold(holds: bool, rule: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(rule) }
}

/// The release whose readers are asked: the newest.
fn newest() -> Release {
    Release::default()
}

fn text(value: &Value, key: &str) -> Option<JsString> {
    value.str_member(key).map(|text| JsString::from_wtf8(text.into_owned()))
}

fn plain(value: &Value, key: &str) -> Option<String> {
    String::from_utf8(value.str_member(key)?.into_owned()).ok()
}

/// The folder of a path.
fn folder(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).and_then(|at| path.get(..at)).unwrap_or_default()
}

/// The record as gjc's writer would spell it: JSON text and one line feed.
fn line(value: &Value) -> Vec<u8> {
    let mut line = Vec::new();
    stringify::write(value, &mut line);
    line.push(b'\n');
    line
}

/// A record of this tool, read by the type that writes it.
pub(super) fn own<T: serde::de::DeserializeOwned>(record: &Value) -> Verdict {
    let record = super::plain_json(record);
    // A number that no integer of 32 bits holds: the schema knows the kind of a number, not its width.
    fn wide(record: &serde_json::Value) -> bool {
        let mut open = vec![record];
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::Number(number) if number.as_f64().is_some_and(|number| number.abs() > f64::from(u32::MAX)) => {
                    return true;
                }
                serde_json::Value::Array(items) => open.extend(items),
                serde_json::Value::Object(members) => open.extend(members.values()),
                _ => {}
            }
        }
        false
    }
    let rule = if wide(&record) { "range" } else { SHAPE };
    T::deserialize(&record).map(|_| ()).map_err(|_| rule)
}

/// A header of a version: accepted as such, and by the strict schema.
pub(super) fn header<const V: u8>(record: &Value) -> Verdict {
    let of_version = headers::version(record).is_ok_and(|version| {
        let version = version.unwrap_or(1.0);
        if V == 1 { version <= 1.0 } else { version == f64::from(V) }
    });
    let whole = EntryKind::of(record) == EntryKind::Session && schema::faults(record, EntryKind::Session).is_empty();
    hold(of_version && whole, SHAPE)
}

/// An entry of a version: what the strict schema says of it after migration, behind a header and four messages.
pub(super) fn entry<const V: u8>(record: &Value) -> Verdict {
    let mut loader = Loader::new(Whole, newest());
    let head = format!(r#"{{"type":"session","version":{V},"id":"s","timestamp":"t","cwd":"/"}}"#);
    let message = r#"{"type":"message","id":"m","parentId":null,"timestamp":"t","message":{"role":"user"}}"#;
    for before in [head.as_str(), message, message, message, message] {
        if let Some(value) = Value::parse(before.as_bytes()) {
            loader.push(&value, At::default());
        }
    }
    loader.push(record, At::default());
    let Ok(mut loaded) = loader.finish() else { return Err(SHAPE) };
    let entry = loaded.entries.len() == 6 && migrate(&mut loaded, &mut Numbered::default()).is_ok();
    let Some(last) = loaded.entries.last().filter(|_| entry) else { return Err(SHAPE) };
    let faults = schema::faults(last, EntryKind::of(last));
    let lost = V == 1
        && EntryKind::of(record) == EntryKind::Compaction
        && record.member("firstKeptEntryIndex").is_some_and(|index| index.as_f64().is_some())
        && faults.iter().eq([schema::Field::FirstKeptEntryId]);
    hold(!lost, "index")?;
    hold(faults.is_empty(), SHAPE)
}

/// A header patch that takes effect.
pub(super) fn header_patch(record: &Value) -> Verdict {
    hold(EntryKind::of(record) == EntryKind::HeaderPatch && patch::header_patch(record, newest()).is_ok(), SHAPE)
}

/// An entry patch that takes effect.
pub(super) fn entry_patch(record: &Value) -> Verdict {
    hold(EntryKind::of(record) == EntryKind::EntryPatch && patch::entry_patch(record).is_ok(), SHAPE)
}

/// A binding in the directory that its digest names.
pub(super) fn binding(record: &Value) -> Verdict {
    let binding = bindings::parse(&line(record)).map_err(|_| SHAPE)?;
    match binding.belongs_in(format!("v2-{}", binding.identity_digest).as_bytes()) {
        Ok(()) => Ok(()),
        Err(bindings::Fault::Conflict(_)) => Err("digest"),
        // A member too many is a matter of shape; their order is not.
        Err(_) if record.as_object().is_some_and(|object| object.len() != 6) => Err(SHAPE),
        Err(_) => Err("canonical"),
    }
}

/// A lock that parses.
pub(super) fn lock(record: &Value) -> Verdict {
    hold(locks::read(record).is_some(), SHAPE)
}

/// A breadcrumb that is read back as it was written.
pub(super) fn breadcrumb(record: &Value) -> Verdict {
    let members = record.as_object().map_or(0, crate::json::Object::len);
    let (Some(cwd), Some(file)) = (plain(record, "cwd"), plain(record, "file")) else { return Err(SHAPE) };
    let lines = [&cwd, &file].into_iter().all(|line| !line.is_empty() && !line.contains('\n'));
    hold(members == 2 && lines, SHAPE)
}

/// The disk says yes to everything.
struct Yes;

impl migration_receipt::Evidence for Yes {
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

/// A transcript as one side of a receipt names it; what it does not name is zero.
fn side(side: &Value) -> Option<(TranscriptIdentity, JsString)> {
    let identity = side.member("identity")?;
    let number = |key: &str| plain(identity, key).and_then(|text| text.parse::<u64>().ok());
    let size = identity.member("size").and_then(View::as_f64).unwrap_or_default();
    let file = TranscriptIdentity {
        canonical_path: text(side, "path")?,
        session_id: text(side, "sessionId")?,
        dev: number("dev")?,
        ino: number("ino")?,
        nlink: 1,
        size: if size.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&size) { size as u64 } else { 0 },
        mtime_ns: plain(identity, "mtimeNs").and_then(|text| text.parse().ok()).unwrap_or_default(),
        ctime_ns: 0,
        sha256: plain(side, "sha256").unwrap_or_default(),
    };
    Some((file, text(side.member("header")?, "cwd")?))
}

/// A migration receipt: a committed one matches what it names; of an earlier one recovery reads the detached directory.
pub(super) fn migration_receipt(record: &Value) -> Verdict {
    let state = plain(record, "state").filter(|_| record.is_record()).ok_or(SHAPE)?;
    let trees = ["sourceArtifactQuarantine", "sourceArtifactCleanup"].map(|key| record.member(key).and_then(|part| part.member("tree")));
    match state.as_str() {
        "committed" => {
            let scope = plain(record, "scope").ok_or(SHAPE)?;
            let (from, to) = (record.member("source").ok_or(SHAPE)?, record.member("destination").ok_or(SHAPE)?);
            let ((source, source_cwd), (destination, destination_cwd)) = match (side(from), side(to)) {
                (Some(from), Some(to)) => (from, to),
                _ if [from, to].into_iter().any(|side| side.member("identity").is_some_and(is_out_of_range)) => return Err("range"),
                _ => return Err(SHAPE),
            };
            let (source, destination) =
                (Side { identity: &source, cwd: &source_cwd }, Side { identity: &destination, cwd: &destination_cwd });
            // gjc reads numbers of a placeholder that are no texts; it never writes them.
            let written = record.member("sourceArtifactCleanup").is_none_or(migration_receipt::is_placeholder);
            let matched = written && matches(record, &scope, source, destination, &Yes).is_ok();
            let own_id = |side: &Value| side.member("header").is_some_and(|header| text(header, "id") == text(side, "sessionId"));
            match matched {
                true => Ok(()),
                false if from.member("identity").is_some_and(is_out_of_range) => Err("range"),
                false if !own_id(from) || !own_id(to) => Err("sides"),
                false => Err(if trees[1].is_some_and(|tree| !is_tree(tree)) { "tree" } else { SHAPE }),
            }
        }
        "prepared" | "artifact_detached" | "published" => {
            let path = record.member("sourceArtifactQuarantine").and_then(|quarantine| text(quarantine, "path"));
            let artifacts = path.unwrap_or_default();
            let read =
                migration_receipt::recoverable(record, state == "artifact_detached", artifacts.as_bytes(), folder(artifacts.as_bytes()));
            let detached = record.member("sourceArtifactQuarantine").and_then(|quarantine| text(quarantine, "detachedPath"));
            let beside =
                detached.is_some_and(|path| tombstone::is_sibling(path.as_bytes(), folder(artifacts.as_bytes()), b".gjc-migrate-"));
            match read {
                // gjc reads any falsy quarantine as none, and writes none by leaving it out.
                Ok(None) if record.member("sourceArtifactQuarantine").is_some() => Err(SHAPE),
                Ok(_) => Ok(()),
                Err(_) if !beside => Err("paths"),
                Err(_) if trees.into_iter().flatten().any(|tree| !is_tree(tree)) => Err("tree"),
                Err(_) => Err(SHAPE),
            }
        }
        _ => Err(SHAPE),
    }
}

/// A number of the identity is canonical, but too large.
fn is_out_of_range(identity: &Value) -> bool {
    let decimal =
        |key: &str| plain(identity, key).filter(|text| crate::json::spelling::is_decimal(text.trim_start_matches('-').as_bytes()));
    ["dev", "ino"].iter().any(|key| decimal(key).is_some_and(|text| text.parse::<u64>().is_err()))
        || decimal("mtimeNs").is_some_and(|text| text.parse::<i128>().is_err())
}

/// A replacement receipt in the directory of its destination.
pub(super) fn replacement_receipt(record: &Value) -> Verdict {
    use replacement::Invalid;
    let destination = text(record, "destination").unwrap_or_default();
    match replacement::parse(&line(record), folder(destination.as_bytes()), newest()) {
        Ok(_) => Ok(()),
        Err(Invalid::Elsewhere) => Err("directory"),
        // A whole publisher whose staging file is another one; the rest of its rules a schema can say.
        Err(Invalid::Publisher) => Err("staging"),
        Err(Invalid::Identity) => Err("range"),
        Err(_) => Err(SHAPE),
    }
}

/// A replacement receipt of version 1 whose name says what it says.
pub(super) fn replacement_receipt_v1(record: &Value) -> Verdict {
    let identity = record.member("identity");
    let number = |key: &str| plain(identity?, key)?.parse::<u64>().ok();
    let name = Inode { dev: number("dev").unwrap_or_default(), ino: number("ino").unwrap_or_default() };
    let predecessor = text(record, "predecessor").unwrap_or_default();
    match replacement::parse_v1(&line(record), folder(predecessor.as_bytes()), name) {
        Ok(_) => Ok(()),
        Err(replacement::Invalid::Elsewhere) => Err("directory"),
        Err(replacement::Invalid::Identity) => Err("name"),
        Err(_) => Err(SHAPE),
    }
}

/// A retirement receipt about the transcript that it names.
pub(super) fn retirement_receipt(record: &Value) -> Verdict {
    let scope = plain(record, "scope").ok_or(SHAPE)?;
    let path = text(record, "transcriptPath").ok_or(SHAPE)?;
    let root = folder(folder(path.as_bytes()));
    let authority = gc::Refusal::ContinuationAuthorityMismatch.token();
    let Ok(root) = SessionsRoot::new(root) else { return Err(authority) };
    let mut about = record.clone();
    // What a caller of gjc's codec would pass beside the receipt.
    let locator = record.member("taskArtifactOwnerDeletionEvidence").and_then(|evidence| evidence.member("locator"));
    if let (Some(object), Some(locator)) = (about.as_object_mut(), locator) {
        object.set("taskArtifactOwnerLocator", locator.clone());
    }
    let target = gc::Target::read(&about, root.path()).map(Arc::new).map_err(gc::Refusal::token)?;
    gc::Receipt::decode(record, &scope, &root, &target).map(|_| ()).map_err(gc::Refusal::token)
}

/// A tombstone of its scope, whose targets lie inside the sessions root.
pub(super) fn tombstone(record: &Value) -> Verdict {
    let scope = plain(record, "scope").unwrap_or_default();
    match tombstone::read(record, &scope, b"", newest(), &|_| true) {
        Ok(_) => Ok(()),
        Err(NotATombstone::OwnerScope) => Err("owner"),
        Err(NotATombstone::Skipped | NotATombstone::Number) => Err(SHAPE),
    }
}

/// The target of a cleanup record, as its tombstone would hold it.
fn cleanup_target(record: &Value) -> Option<Target> {
    let mut target = record.member("target")?.clone();
    let path = text(&target, "path")?;
    if let Some(Value::Object(identity)) = target.as_object_mut().and_then(|target| target.get_mut("identity")) {
        if identity.get("canonicalPath").is_none_or(|path| path.as_str().is_none()) {
            identity.set("canonicalPath", Value::String(path));
        }
        identity.set("mtimeMs", Value::Number(0.0));
    }
    if let Some(target) = target.as_object_mut() {
        target.retain(|key, _| !key.as_bytes().starts_with(b"taskArtifactOwner") && key.as_bytes() != b"provenance");
    }
    let scope = "s";
    let tombstone = Value::Object(crate::json::Object::from_iter([
        ("schemaVersion", Value::Number(2.0)),
        ("state", Value::string("retired")),
        ("scope", Value::string(scope)),
        ("targets", Value::Array(crate::json::value::Array::from(vec![target]))),
    ]));
    tombstone::read(&tombstone, scope, b"", newest(), &|_| true).ok()?.targets.pop()
}

/// Task artifacts of some session: only whether a tombstone names any decides how its cleanup records are read.
fn some_owner() -> Option<Evidence> {
    let owner = r#"{"schemaVersion":2,"sessionId":"s","locator":{"schemaVersion":1,"ownerId":"043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89","directoryDev":"1","directoryIno":"2"},"parentIdentity":{"dev":"1","ino":"3"},"treeSnapshot":{"rootDev":"1","rootIno":"2","entries":[{"relativePath":"","kind":"directory","dev":"1","ino":"2","nlink":"2","size":"0","mtimeNs":"1","ctimeNs":"1"}]}}"#;
    Evidence::read(&Value::parse(owner.as_bytes())?).ok()
}

/// A cleanup record of the target that it names, which has task artifacts or not: the first pending one, one of removed
/// artifacts, or the completed one.
pub(super) fn cleanup_record<const OWNER: bool>(record: &Value) -> Verdict {
    let state = plain(record, "state").ok_or(SHAPE)?;
    let mut target = cleanup_target(record).ok_or(SHAPE)?;
    if OWNER {
        target.owner_evidence = Some(Box::new(some_owner().ok_or(SHAPE)?));
    }
    let (scope, path) = (plain(record, "scope").ok_or(SHAPE)?, text(record, "tombstone").ok_or(SHAPE)?);
    let history = History { scope: &scope, tombstone_path: path.as_bytes(), target: &target, release: newest() };
    if state == CleanupState::Completed.record_word() {
        return hold(history.is_completed(record), SHAPE);
    }
    if state == CleanupState::ArtifactsRemoved.record_word() {
        return artifacts_removed(record, &history);
    }
    let whole =
        |number: &&Value| number.as_f64().is_some_and(|number| number.fract() == 0.0 && (1.0..=9_007_199_254_740_991.0).contains(&number));
    let later = |key: &str| record.member(key).filter(whole).is_some_and(|number| number.as_f64() != Some(1.0));
    let known = match history.replay(vec![(Some(1), record)], |record| Ok(Some(record.clone()))) {
        Ok(tombstone::Replay::Pending(_)) => return Ok(()),
        Ok(tombstone::Replay::Unread) => "number",
        Err(_) if later("attempt") || later("artifactsRemovedAttempt") => "attempt",
        Err(_) if record.member("expectedArtifactsTree").is_some_and(|tree| !is_tree(tree)) => "tree",
        Err(_) if !has_cleanup_paths(record, target.directory()) => "paths",
        Err(_) => SHAPE,
    };
    Err(known)
}

/// A record of removed artifacts, after the pending record that it follows; what it says of the disk is taken for true.
fn artifacts_removed(record: &Value, history: &History<'_>) -> Verdict {
    let root = record.member("retainedArtifactsRoot");
    let path = root.and_then(|root| text(root, "path")).unwrap_or_default();
    let attempt = record.member("attempt").and_then(View::as_f64).unwrap_or_default();
    let whole = attempt.fract() == 0.0 && (1.0..=9_007_199_254_740_991.0).contains(&attempt);
    let attempt = if whole { attempt as u64 } else { 1 };
    let planned = text(record, "plannedArtifactsPath").map(|planned| [planned.as_bytes(), b".removing"].concat());
    let in_place = match text(record, "detachedArtifactsPath") {
        Some(detached) => detached == path,
        None => planned.is_some_and(|planned| planned == path.as_bytes()),
    };
    match history.artifacts_removed(record, attempt, &|_, _| tombstone::LiveRoot::Holds) {
        Ok(true) => Ok(()),
        Err(_) if root.and_then(|root| root.member("tree")).is_some_and(|tree| !is_tree(tree)) => Err("tree"),
        Err(_) if !in_place => Err("paths"),
        Ok(false) | Err(_) => Err(SHAPE),
    }
}

/// Every path of a pending record lies beside the transcript under a name of gjc's, and the planned ones differ.
fn has_cleanup_paths(record: &Value, directory: &[u8]) -> bool {
    let beside = |key: &[u8], prefix: &[u8]| {
        let member = std::str::from_utf8(key).ok().and_then(|key| text(record, key));
        member.is_none_or(|path| tombstone::is_sibling(path.as_bytes(), directory, prefix))
    };
    let keys = record.as_object().into_iter().flat_map(crate::json::Object::iter).map(|(key, _)| key.as_bytes());
    keys.into_iter().all(|key| {
        let own = key.starts_with(b"planned") || key.starts_with(b"detached");
        (!own || beside(key, b".gjc-delete-")) && (!key.starts_with(b"retained") || beside(key, b".gjc-"))
    }) && text(record, "plannedArtifactsPath") != text(record, "plannedTranscriptPath")
}
