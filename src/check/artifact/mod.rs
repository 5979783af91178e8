//! The area *artifact* of spec 05: artifact directories beside transcripts (spec 02 §6.6; spec 04 §6).

pub mod codes;

use super::quota;
use super::record;
use super::residue;
use super::run::Site;
use crate::agent::artifacts::{self, Fault, MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES, Survey};
use crate::agent::layout;
use crate::agent::walk::{Listing, show};
use crate::finding::{Finding, Gauge, Sink};
use crate::fsys::{Bound, Kind};
use crate::json::{Value, View};
use std::collections::BTreeMap;
use std::path::Path;

/// Largest safe integer of JavaScript.
const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// Judges the artifact directory of every transcript of this session directory, and directories that belong to none.
pub fn check(site: &Site<'_>, directory: &Listing, sink: &mut dyn Sink) {
    for object in &directory.objects {
        let name = object.bytes();
        let path = directory.path_of(object);
        let has_transcript = directory.get(&format!("{}{}", show(&object.name), layout::TRANSCRIPT_SUFFIX)).is_some();
        if has_transcript && !layout::is_transcript_name(name) {
            tree(site, &path, sink);
        } else if object.meta.kind == Kind::Directory && !name.starts_with(b".") && !layout::is_transcript_name(name) {
            if crate::agent::residue::parse(name).is_none() {
                let message = "No transcript of this name stands beside the directory.";
                sink.push(Finding::new(&codes::ARTIFACT_ORPHAN_DIRECTORY, site.place(&path), message));
            }
            if site.fs.present(&path.join("draft.txt")).unwrap_or(false) {
                let message = "A draft without its transcript.";
                sink.push(Finding::new(&residue::codes::DRAFT_ORPHAN, site.place(&path.join("draft.txt")), message));
            }
        }
    }
}

/// One artifact tree.
fn tree(site: &Site<'_>, root: &Path, sink: &mut dyn Sink) {
    let survey = match artifacts::survey(site.fs, root) {
        Ok(None) => return,
        Ok(Some(survey)) => survey,
        Err(Fault::Unsafe { path, why }) => {
            let finding = Finding::new(&codes::UNSAFE_ARTIFACTS, site.place(&path), format!("The object {why}."));
            sink.push(finding.related("artifact tree", site.place(root)));
            return;
        }
        Err(Fault::Capacity { limit, unit }) => {
            let message = format!("The tree holds more than {limit} {unit}: a limit of gjc, no damage.");
            sink.push(Finding::new(&codes::ARTIFACT_CAPACITY_EXCEEDED, site.place(root), message));
            return;
        }
        // A name that is no UTF-8 has a code of its own; a failure was met by the walk too.
        Err(Fault::Unsupported(_)) => return,
    };
    gauges(site, &survey, sink);
    numbers(site, &survey, sink);
    metadata(site, &survey, sink);
    if survey.items.iter().any(|item| item.relative == "local" && item.meta.kind == Kind::Directory) {
        let message =
            "A legacy `local` directory; whether its files were taken over is recorded in the temp directory, which is not looked at.";
        sink.push(Finding::new(&codes::LEGACY_LOCAL_UNMIGRATED, site.place(&root.join("local")), message));
    }
}

fn gauges(site: &Site<'_>, survey: &Survey, sink: &mut dyn Sink) {
    let path = site.name(&survey.root).to_string();
    let gauges = [
        Gauge { name: "artifact_entries", path: path.clone(), used: survey.entries(), limit: MAX_ENTRIES, unit: "entries" },
        Gauge { name: "artifact_bytes", path, used: survey.bytes, limit: MAX_TOTAL_BYTES, unit: "bytes" },
    ];
    for gauge in gauges {
        // Thousands of small trees would drown the others: a gauge begins at a hundredth of its limit.
        if gauge.used < gauge.limit / 100 {
            continue;
        }
        if gauge.used >= gauge.limit / 10 * 9 {
            let message = format!("{} of {} {}.", gauge.used, gauge.limit, gauge.unit);
            sink.push(Finding::new(&quota::codes::LIMIT_NEAR, site.place(&survey.root), message));
        }
        sink.gauge(gauge);
    }
}

/// Numbered artifacts and claims: `<id>.….log`, `.artifact-id-<id>`; and files that share a number.
fn numbers(site: &Site<'_>, survey: &Survey, sink: &mut dyn Sink) {
    let mut by_id: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in survey.items.iter().filter(|item| item.meta.kind == Kind::File && !item.relative.contains('/')) {
        let name = item.relative.as_str();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let logged =
            name.split_once('.').filter(|(id, rest)| is_number(id) && rest.contains('.') && rest.ends_with(".log")).map(|(id, _)| id);
        let claimed = name.strip_prefix(".artifact-id-").filter(|id| is_number(id));
        if let Some(id) = logged.or(claimed)
            && id.parse::<u64>().map_or(true, |id| id > MAX_SAFE)
        {
            let message = format!("The number {id} is no safe integer: the next artifact cannot be numbered.");
            sink.push(Finding::new(&codes::ARTIFACT_ID_OUT_OF_RANGE, site.place(&survey.root.join(name)), message));
        }
        if let Some((id, _)) = name.split_once('.').filter(|(id, _)| is_number(id))
            && !name.ends_with(".meta.json")
        {
            by_id.entry(id).or_default().push(name);
        }
    }
    for (id, names) in by_id.iter().filter(|(_, names)| names.len() > 1) {
        let message = format!("`artifact://{id}` is ambiguous: {}.", names.iter().take(4).copied().collect::<Vec<_>>().join(", "));
        sink.push(Finding::new(&codes::ARTIFACT_AMBIGUOUS, site.place(&survey.root), message));
    }
}

/// Metadata of agent outputs and selectors (spec 04 §6.1, §6.3).
fn metadata(site: &Site<'_>, survey: &Survey, sink: &mut dyn Sink) {
    /// Metadata and selectors are short.
    const SHORT: u64 = 64 << 10;
    let names: std::collections::BTreeSet<&str> = survey.items.iter().map(|item| item.relative.as_str()).collect();
    for item in survey.items.iter().filter(|item| item.meta.kind == Kind::File && !item.relative.contains('/')) {
        let path = survey.root.join(&item.relative);
        let mismatch = |why: String, sink: &mut dyn Sink| {
            sink.push(Finding::new(&codes::ARTIFACT_METADATA_MISMATCH, site.place(&path), format!("`agent://` refuses it: {why}.")));
        };
        if let Some(output) = item.relative.strip_suffix(".meta.json") {
            let Ok(Some(captured)) = record::bytes(site, &path, Bound::Prefix(SHORT), sink) else { continue };
            let value = crate::agent::candidates::parse(&captured.bytes);
            let Some(value) = value.filter(|value| value.member("kind").is_some_and(|kind| kind.is_str("agent-output"))) else {
                mismatch("its metadata is malformed".into(), sink);
                continue;
            };
            if !names.contains(output) {
                mismatch("the output that it describes is missing".into(), sink);
            } else if let Some(why) = differs(site, &survey.root.join(output), &value, "sizeBytes", "sha256") {
                mismatch(why, sink);
            }
        } else if item.meta.size <= SHORT && names.iter().any(|name| is_generation(name, &item.relative)) {
            // A selector bears the logical name of an output that has managed generations.
            let Ok(Some(captured)) = record::bytes(site, &path, Bound::Prefix(SHORT), sink) else { continue };
            let value = crate::agent::candidates::parse(&captured.bytes);
            let text =
                |key: &str| value.as_ref().and_then(|value| value.str_member(key)).map(|text| String::from_utf8_lossy(&text).into_owned());
            let (Some(output), Some(meta), Some(value)) = (text("outputFilename"), text("metadataFilename"), value.as_ref()) else {
                mismatch("the selector is malformed".into(), sink);
                continue;
            };
            let outside = |name: &str| name.contains('/');
            if outside(&output) || outside(&meta) {
                mismatch("the selector names something outside the directory".into(), sink);
            } else if let Some(why) = differs(site, &survey.root.join(&output), value, "outputSizeBytes", "outputSha256")
                .or_else(|| differs(site, &survey.root.join(&meta), value, "metadataSizeBytes", "metadataSha256"))
            {
                mismatch(why, sink);
            }
        }
    }
}

/// `<prefix>.<uuid>.output` is a generation of the logical output `<prefix>` or `<prefix>.<anything>`.
fn is_generation(name: &str, logical: &str) -> bool {
    name.strip_suffix(".output").and_then(|rest| rest.rsplit_once('.')).is_some_and(|(prefix, uuid)| {
        crate::json::spelling::is_uuid(uuid)
            && logical != name
            && (logical == prefix || logical.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')))
            && !logical.ends_with(".output")
    })
}

/// Why a file is not of the recorded size and hash.
fn differs(site: &Site<'_>, path: &Path, record: &Value, size: &str, sha256: &str) -> Option<String> {
    let name = path.file_name().map(show).unwrap_or_default();
    let Ok(meta) = site.fs.lstat(path) else { return Some(format!("`{name}` is missing")) };
    if record.member(size).and_then(View::as_f64) != Some(meta.size as f64) {
        return Some(format!("`{name}` has {} bytes, recorded is another size", meta.size));
    }
    if meta.size > MAX_FILE_BYTES {
        return None;
    }
    match artifacts::hash(site.fs, path) {
        Ok(hash) if crate::agent::record::is_text(record, sha256, hash.as_bytes()) => None,
        Ok(_) => Some(format!("the hash of `{name}` is not the recorded one")),
        Err(_) => None,
    }
}
