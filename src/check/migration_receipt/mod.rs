//! The area *migration receipt* of spec 05: what a copy-retain migration recorded, and whether it still holds
//! (spec 02 §6.5, §6.7, §7.2; 02a.1, 02a.2, 02a.19).

pub mod codes;

use super::record::{self, Record};
use super::retirement_receipt::codes as retirement;
use super::run::Site;
use crate::agent;
use crate::agent::artifacts;
use crate::agent::candidates::{self, Candidate, Provenance};
use crate::agent::migration_receipt::{self as receipt, Clause, Name, State};
use crate::agent::record::json_text;
use crate::agent::walk::{Listing, Scope};
use crate::finding::{Difference, Finding, Sink};
use crate::fsys::Kind;
use crate::gc;
use crate::json::{Value, View};
use std::path::{Path, PathBuf};

/// Judges everything in `receipts/` that is not a retirement receipt. `rebound` says that most recorded inodes of the scope
/// disagree (the directory was copied), so that single receipts are not blamed for it.
pub fn check(site: &Site<'_>, scope: &Scope, rebound: bool, sink: &mut dyn Sink) {
    let Some(receipts) = &scope.receipts else { return };
    let digest = digest(scope);
    // 0.17 takes every name of that beginning for a retirement receipt: that area judges it. There may be fifty thousand.
    let retirements = Difference::Retirement.in_effect(site.release);
    let is_retirement = |name: &[u8]| retirements && name.starts_with(gc::names::PREFIX.as_bytes());
    for object in receipts.objects.iter().filter(|object| !is_retirement(object.bytes())) {
        if object.meta.kind == Kind::Symlink || matches!(receipt::parse_name(object.bytes()), Name::Retirement(_)) {
            continue;
        }
        let path = receipts.path_of(object);
        let incomplete = |message: String, sink: &mut dyn Sink| {
            sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_MIGRATION_INCOMPLETE, site.place(&path), message));
        };
        match receipt::parse_name(object.bytes()) {
            Name::Retirement(_) => {}
            Name::Foreign => incomplete("The name is that of no receipt.".into(), sink),
            Name::Migration { .. } if object.meta.kind != Kind::File => {
                incomplete(format!("A {} stands in the place of a receipt.", object.meta.kind.noun()), sink);
            }
            Name::Migration { state: State::Committed, .. } => match record::read(site, &path, sink) {
                Record::Unread => {}
                Record::NotJson => no_object(site, &path, "it is not JSON", sink),
                Record::TooLarge(size) => record::too_large(site, &path, size, sink),
                Record::Json(record) => {
                    placeholder(site, &path, &record, rebound, sink);
                    committed(site, &path, &record, &digest, rebound, sink);
                }
            },
            Name::Migration { state, .. } => {
                incomplete(format!("A migration stopped after the step `{}`.", state.word()), sink);
                if state == State::Prepared {
                    prepared(site, &path, sink);
                } else if let Ok(Some(record)) = candidates::read_record(site.fs, &path) {
                    placeholder(site, &path, &record, rebound, sink);
                }
            }
        }
    }
}

fn digest(scope: &Scope) -> String {
    let name = scope.directory.path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("v2-").unwrap_or(&name).to_owned()
}

fn invalid(site: &Site<'_>, path: &Path, why: &str, sink: &mut dyn Sink) {
    let message = format!("The file counts as no receipt: {why}.");
    sink.push(Finding::new(&codes::MANAGED_GC_PROTOCOL_MIGRATION_INVALID, site.place(path), message));
}

/// A receipt that is no JSON object: the inspector has a word of its own for it, where there is one.
fn no_object(site: &Site<'_>, path: &Path, why: &str, sink: &mut dyn Sink) {
    if !Difference::Retirement.in_effect(site.release) {
        return invalid(site, path, why, sink);
    }
    let message = format!("The file counts as absent: {why}.");
    sink.push(Finding::new(&retirement::MANAGED_GC_PROTOCOL_RECORD_INVALID, site.place(path), message));
}

/// What gjc does beside an `<op>.json` that is no committed receipt.
const NOT_COMMITTED: &str = "It counts as no receipt. Opening the old session copies it and then fails (`durability_failed`), now and always. 0.17's inspector refuses.";
const KEEP_APART: &str =
    "With gjc stopped, move the file out of `receipts/` and keep it; then `gjc-fsck repair` says what would be copied.";

/// A file `<op>.json`.
fn committed(site: &Site<'_>, path: &Path, record: &Value, digest: &str, rebound: bool, sink: &mut dyn Sink) {
    if record.kind() != crate::json::Kind::Object {
        return no_object(site, path, "it is no object", sink);
    }
    let state = record.str_member("state");
    if state.as_deref() != Some(b"committed") {
        let named = state.map_or("no state".to_owned(), |state| format!("the state `{}`", String::from_utf8_lossy(&state)));
        let message = format!("The receipt stands under its final name with {named}.");
        let finding = Finding::new(&codes::MANAGED_GC_PROTOCOL_MIGRATION_INCOMPLETE, site.place(path), message);
        // What stands under the final name is never looked at again (02a.2).
        sink.push(finding.gjc(NOT_COMMITTED).help(KEEP_APART));
        return;
    }
    if receipt::is_invalid_committed(record, digest) {
        let why = if named(record, "source").is_none() || named(record, "destination").is_none() {
            "its source or destination path is no string"
        } else if !receipt::has_fixed_fields(record, digest) {
            "schema, state, policy or scope are not those of this scope"
        } else {
            "its artifact manifest is not well formed"
        };
        return invalid(site, path, why, sink);
    }
    let (Some(source), Some(destination)) = (named(record, "source"), named(record, "destination")) else { return };
    let (source_here, destination_here) = (site.here(&source), site.here(&destination));
    let present = |path: &Path| site.fs.present(path).unwrap_or(true);
    let pair = |code, message: String| {
        Finding::new(code, site.place(path), message)
            .related("legacy source", site.place(&source_here))
            .related("v2 copy", site.place(&destination_here))
    };
    match (present(&source_here), present(&destination_here)) {
        (false, _) => {
            let message = "The legacy source is gone: the v2 file counts as a native one.";
            sink.push(pair(&codes::MIGRATION_SOURCE_MISSING, message.into()));
        }
        (true, false) => {
            let message = "The v2 copy is gone and the legacy source is there: opening it copies it again and then fails for ever.";
            sink.push(pair(&codes::MIGRATION_DESTINATION_MISSING, message.into()));
        }
        (true, true) if rebound => {}
        (true, true) => {
            let message = match matches(site, path, digest, &source_here, &destination_here) {
                Ok(true) => return,
                Ok(false) => {
                    "The receipt is never looked up: its name is not the operation name of its legacy source as it is now.".to_owned()
                }
                Err(clause) => format!("The receipt no longer matches: clause {} fails ({}).", clause.number(), clause.text()),
            };
            sink.push(pair(&codes::MIGRATION_RECEIPT_STALE, message));
        }
    }
}

fn named(record: &Value, side: &str) -> Option<PathBuf> {
    match record.member(side).and_then(|side| side.member("path")) {
        Some(Value::String(path)) => Some(PathBuf::from(&*path.as_js().to_string_lossy())),
        _ => None,
    }
}

/// Spec 02 §7.2 for the two files as they are now; false when all clauses hold but gjc would look under another name.
fn matches(site: &Site<'_>, path: &Path, digest: &str, source: &Path, destination: &Path) -> Result<bool, Clause> {
    let source = Candidate::read(site.fs, source, Provenance::Legacy).map_err(|_| Clause::Lineage)?;
    let destination = Candidate::read(site.fs, destination, Provenance::V2).map_err(|_| Clause::Lineage)?;
    candidates::matches(site.fs, digest, path, &source, &destination)?;
    let operation = source.identity(site.fs).map_err(|_| Clause::Lineage)?.operation();
    Ok(path.file_name().is_some_and(|name| *name == *State::Committed.file_name(&operation)))
}

/// The empty directory that an exchange left in the place of the artifacts, when the receipt records one: what is in it would
/// be swept with it, and what is not it is no placeholder.
fn placeholder(site: &Site<'_>, receipt: &Path, record: &Value, rebound: bool, sink: &mut dyn Sink) {
    let Some(cleanup) = record.member("sourceArtifactCleanup").filter(|cleanup| receipt::is_placeholder(cleanup)) else { return };
    let Some(Value::String(recorded)) = cleanup.member("retainedPath") else { return };
    let path = site.here(Path::new(&*recorded.as_js().to_string_lossy()));
    // Nothing is claimed of what cannot be looked at; that it is gone is the receipt's affair.
    let Some(Ok(Some(facts))) = path.parent().map(|parent| candidates::placeholder_facts(site.fs, parent, &path)) else { return };
    let copied = rebound || site.assumed_root.is_some();
    let why = match &facts.root {
        None => "no directory stands there",
        Some(_) if !facts.empty => "it holds something",
        Some(_) if !copied && !agent::placeholder::is_recorded(cleanup, &facts) => {
            "it is another directory than the recorded one, or was changed"
        }
        Some(_) => return,
    };
    let message = format!("The placeholder of a migration is no longer the empty directory that its receipt records: {why}.");
    let finding = Finding::new(&retirement::EXCHANGE_PLACEHOLDER_NOT_EMPTY, site.place(&path), message);
    sink.push(finding.related("receipt", site.place(receipt)));
}

/// A `.prepared` receipt blocks its migration for ever when the artifact tree that it records is not the present one.
fn prepared(site: &Site<'_>, path: &Path, sink: &mut dyn Sink) {
    let Record::Json(record) = record::read(site, path, sink) else { return };
    let Some(source) = named(&record, "source").map(|source| site.here(&source)) else { return };
    let artifacts = candidates::artifacts_of(&source);
    let recorded = record.member("sourceArtifactQuarantine").and_then(|quarantine| quarantine.member("tree"));
    let now = artifacts::survey(site.fs, &artifacts).ok().flatten().and_then(|survey| artifacts::snapshot(site.fs, &survey).ok());
    let why = match (recorded, now) {
        (None, None) => return,
        (None, Some(_)) => "it records no artifacts, and the session has an artifact directory now",
        (Some(recorded), Some(now)) if json_text(recorded) == json_text(&now.to_value()) => return,
        (Some(_), Some(_)) => "the recorded tree, change time of its root included, is not the artifact directory as it is now",
        (Some(_), None) => "the artifacts were moved away: put back, their root has another change time than the recorded one",
    };
    let finding = Finding::new(&codes::MIGRATION_PREPARED_STALE, site.place(path), format!("The migration can never finish: {why}."));
    sink.push(finding.related("artifact directory", site.place(&artifacts)));
}

/// A detached artifact root in a legacy directory. `receipts` are the names of staged receipts in all scopes.
pub fn detached_roots(site: &Site<'_>, directory: &Listing, staged: &std::collections::BTreeSet<String>, sink: &mut dyn Sink) {
    for object in &directory.objects {
        let Some(crate::agent::residue::Residue::MigrateArtifacts { operation }) = crate::agent::residue::parse(object.bytes()) else {
            continue;
        };
        let receipt = if staged.contains(operation) { "its staged receipt exists" } else { "no staged receipt names it" };
        let owner = directory.objects.iter().filter(|o| o.is_transcript_name()).find(|transcript| {
            Candidate::read(site.fs, &directory.path_of(transcript), Provenance::Legacy)
                .and_then(|candidate| candidate.identity(site.fs))
                .is_ok_and(|identity| identity.operation() == operation)
        });
        let session = match owner {
            None => "the session that it belongs to changed or is gone".to_owned(),
            Some(transcript) => {
                let artifacts = candidates::artifacts_of(&directory.path_of(transcript));
                let has = if site.fs.present(&artifacts).unwrap_or(true) { "has" } else { "has no" };
                format!("its session `{}` {has} artifact directory now", crate::agent::walk::show(&transcript.name))
            }
        };
        let message = format!("The artifacts of a session were detached for a migration and not put back: {receipt}, {session}.");
        sink.push(Finding::new(&codes::MIGRATION_ARTIFACTS_DETACHED, site.place(&directory.path_of(object)), message));
    }
}
