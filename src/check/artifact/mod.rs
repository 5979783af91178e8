//! The area *artifact* of spec 05: artifact directories beside transcripts (spec 02 §6.6; spec 04 §6), and what transcripts say
//! of artifacts and of the file they were imported from.

pub mod codes;
pub mod provenance;
pub mod references;

use self::references::Reference;
use super::quota;
use super::record;
use super::residue;
use super::run::Site;
use crate::agent::artifacts::{self, Fault, MAX_FILE_BYTES, Survey};
use crate::agent::layout;
use crate::agent::walk::{self, Listing, Object, show};
use crate::finding::{Finding, Place, Sink};
use crate::fsys::{Bound, Errno, Kind, capture};
use crate::json::{Value, View};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Largest safe integer of JavaScript.
const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// Judges the artifact directory of every transcript of this session directory, and directories that belong to none.
pub fn check(site: &Site<'_>, directory: &Listing, sink: &mut dyn Sink) {
    for object in &directory.objects {
        let name = object.bytes();
        let path = directory.path_of(object);
        if transcript_of(directory, object).is_some() && !layout::is_transcript_name(name) {
            tree(site, &path, sink);
        } else if object.meta.kind == Kind::Directory
            && !name.starts_with(b".")
            && !layout::is_transcript_name(name)
            // Where not every name could be looked at, none is proven absent.
            && directory.is_complete()
        {
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

/// The transcript whose artifact directory this object of a session directory would be.
pub fn transcript_of<'l>(directory: &'l Listing, object: &Object) -> Option<&'l Object> {
    directory.get(&format!("{}{}", show(&object.name), layout::TRANSCRIPT_SUFFIX))
}

/// What a listed transcript wants beside it: the artifacts that its tool results refer to, and no `local` directory whose files
/// were not taken over. `id` is the id in its header.
pub fn beside(site: &Site<'_>, transcript: &Path, id: Option<&str>, references: &[(Reference, Place)], sink: &mut dyn Sink) {
    let root = transcript.with_extension("");
    local(site, &root, id, sink);
    if references.is_empty() {
        return;
    }
    let objects = match walk::list(site.fs, &root, &site.limits) {
        Ok(listing) if listing.is_complete() => listing.objects,
        Err(error) if error.errno == Errno::NOENT => Vec::new(),
        // What stands there instead, or cannot be read, has codes of its own.
        _ => return,
    };
    for (reference, place) in references {
        if !reference.is_among(&objects) {
            let message = format!("No file of the artifact directory is what `{reference}` names.");
            sink.push(Finding::new(&codes::ARTIFACT_REFERENCE_MISSING, place.clone(), message));
        }
    }
}

/// The marker that says what became of a legacy `local` directory (spec 04 §10.4).
const LOCAL_MARKER: &str = ".gjc-local-legacy-migrated-v1";

/// A legacy `local` directory whose files were not taken over into the temp directory.
fn local(site: &Site<'_>, root: &Path, id: Option<&str>, sink: &mut dyn Sink) {
    let is_directory = |path: &Path| site.fs.lstat(path).is_ok_and(|meta| meta.kind == Kind::Directory);
    let local = root.join("local");
    if !is_directory(root) || !is_directory(&local) {
        return;
    }
    let temp = Some(site.around.temp_real.as_str()).filter(|temp| !temp.is_empty() && site.assumed_root.is_none());
    // How gjc sanitises an id is not told: an id of these characters needs none.
    let plain = |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let state = match (temp, id.filter(plain)) {
        (None, _) => "the temp directory in which that is recorded is not known".to_owned(),
        (_, None) => "where that is recorded for an id like this is not known".to_owned(),
        (Some(temp), Some(id)) => {
            let marker = Path::new(temp).join("gjc-local").join(id).join(LOCAL_MARKER);
            match capture(site.fs, &marker, Bound::Prefix(64)) {
                Ok(marker) => match marker.bytes.trim_ascii_end() {
                    b"verified" | b"absent" => return,
                    b"cleanup_pending" => "they were taken over and it is still to be removed (`cleanup_pending`)".to_owned(),
                    other => format!("the marker says `{}`", String::from_utf8_lossy(other)),
                },
                Err(refusal) if refusal.is_absent() => {
                    format!("there is no marker in {}", show(marker.parent().unwrap_or(root).as_os_str()))
                }
                Err(refusal) => format!("the marker {refusal}"),
            }
        }
    };
    let message = format!("A legacy `local` directory; whether its files were taken over: {state}.");
    sink.push(Finding::new(&codes::LEGACY_LOCAL_UNMIGRATED, site.place(&local), message));
}

/// One artifact tree.
fn tree(site: &Site<'_>, root: &Path, sink: &mut dyn Sink) {
    let survey = match artifacts::survey(site.fs, root) {
        Ok(None) => return,
        Ok(Some(survey)) => survey,
        Err(Fault::Unsafe { path, why }) => {
            beyond(site, root, &path, sink);
            let finding = Finding::new(&codes::UNSAFE_ARTIFACTS, site.place(&path), format!("The object {why}."));
            sink.push(finding.related("artifact tree", site.place(root)));
            return;
        }
        Err(Fault::Capacity { limit, unit, used }) => {
            let measure = if unit == quota::ARTIFACT_BYTES.unit { &quota::ARTIFACT_BYTES } else { &quota::ARTIFACT_ENTRIES };
            sink.gauge(measure.gauge(site.name(root), used));
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
}

fn gauges(site: &Site<'_>, survey: &Survey, sink: &mut dyn Sink) {
    for (measure, used) in [
        (&quota::ARTIFACT_ENTRIES, survey.entries()),
        (&quota::ARTIFACT_BYTES, survey.bytes),
        (&quota::ARTIFACT_FILE_BYTES, survey.largest_file()),
        (&quota::ARTIFACT_DEPTH, survey.depth()),
    ] {
        measure.read(site.place(&survey.root), used, sink);
    }
}

/// The reading of a tree that is refused because of one object in it, when that is beyond a limit.
fn beyond(site: &Site<'_>, root: &Path, path: &Path, sink: &mut dyn Sink) {
    let Ok(meta) = site.fs.lstat(path) else { return };
    let (measure, used) = match meta.kind {
        Kind::File => (&quota::ARTIFACT_FILE_BYTES, meta.size),
        Kind::Directory => (&quota::ARTIFACT_DEPTH, path.strip_prefix(root).map_or(0, |below| below.components().count() as u64)),
        _ => return,
    };
    if used > measure.limit {
        sink.gauge(measure.gauge(site.name(root), used));
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
    let names: BTreeSet<&str> = survey.items.iter().map(|item| item.relative.as_str()).collect();
    let generations: BTreeSet<&str> = names.iter().filter_map(|name| generation_of(name)).collect();
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
        } else if item.meta.size <= SHORT && is_selector(&item.relative, &generations) {
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

/// What a managed generation of an output, `<prefix>.<uuid>.output`, is a generation of.
fn generation_of(name: &str) -> Option<&str> {
    let (prefix, uuid) = name.strip_suffix(".output")?.rsplit_once('.')?;
    crate::json::spelling::is_uuid(uuid).then_some(prefix)
}

/// Whether a name is the logical name of an output that has generations: `<prefix>`, or `<prefix>.` and anything.
fn is_selector(name: &str, generations: &BTreeSet<&str>) -> bool {
    let prefixes = name.match_indices('.').map(|(at, _)| name.get(..at).unwrap_or(name)).chain([name]);
    !name.ends_with(".output") && prefixes.into_iter().any(|prefix| generations.contains(prefix))
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
