//! The blob store as a whole: names, links, modes, hashes, and which blobs nothing refers to (spec 04 §5).

use super::codes;
use crate::agent::blobs::{BlobName, GRACE_NS, Store, blob_name};
use crate::check::operational;
use crate::check::run::Site;
use crate::check::words;
use crate::finding::{Collected, Finding, Sink};
use crate::fsys::{Errno, Kind};
use crate::transcript::blobs::BlobSource;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A blob by its hash.
pub type Hash = [u8; 32];

/// References to blobs, found in raw text (spec 04 §5.11).
#[derive(Clone, Default, Debug)]
pub struct References {
    /// In places that gjc's blob collection scans: regular files `<sessions>/<dir>/*.jsonl`.
    pub scanned: BTreeSet<Hash>,
    /// In places that it does not scan and that may hold references all the same.
    pub elsewhere: BTreeSet<Hash>,
    /// Roots that could not be read to their end: no blob is called unreferenced then.
    pub incomplete: Vec<PathBuf>,
}

impl References {
    /// Adds what another part of the tree refers to.
    pub fn merge(&mut self, other: References) {
        self.scanned.extend(other.scanned);
        self.elsewhere.extend(other.elsewhere);
        self.incomplete.extend(other.incomplete);
    }
    fn any(&self, hash: &Hash) -> bool {
        self.scanned.contains(hash) || self.elsewhere.contains(hash)
    }
}

/// Judges the blobs that a part of the transcripts refers to, in a store that is not itself checked: their hashes.
pub fn judge_referenced(site: &Site<'_>, store: &Store<'_>, references: &References, sink: &mut dyn Sink) {
    for hash in references.scanned.union(&references.elsewhere) {
        let name = data_encoding::HEXLOWER.encode(hash);
        unread(site, store, &name, sink);
        if store.intact(&name) == Some(false) {
            let place = site.place(&store.path_of(&name));
            sink.push(Finding::new(&codes::BLOB_HASH_MISMATCH, place, "The SHA-256 of the bytes is not the name."));
        }
    }
}

/// A blob that was to be hashed and could not be read.
fn unread(site: &Site<'_>, store: &Store<'_>, name: &str, sink: &mut dyn Sink) {
    match store.unread(name) {
        Some(error) if matches!(error.errno, Errno::NOENT | Errno::LOOP) => {
            operational::changed(site, &error.path, "it vanished or was replaced while the store was read", sink);
        }
        Some(error) => operational::unreadable(site, &error, sink),
        None => {}
    }
}

/// Judges a store. `references` is none when only a part of the roots was looked at: then nothing is said about
/// unreferenced blobs.
pub fn judge(site: &Site<'_>, store: &Store<'_>, references: Option<&References>, sink: &mut dyn Sink) {
    let Some(listing) = store.listing() else { return };
    if listing.meta.permissions() != 0o700 {
        let message = format!("The blob directory has mode {:04o}; gjc makes it 0700.", listing.meta.permissions());
        sink.push(Finding::new(&codes::BLOB_PERMISSIONS, site.place(&listing.path), message));
    }
    for trouble in &listing.troubles {
        operational::trouble(site, trouble, sink);
    }
    operational::names(site, listing, |_| true, sink);

    // Roots that were not read to their end withhold all claims of absence.
    let whole = references.filter(|r| r.incomplete.is_empty() && listing.is_complete());
    if let Some(references) = references.filter(|r| !r.incomplete.is_empty() && !store.is_empty()) {
        let named: BTreeSet<_> = references.incomplete.iter().map(|path| site.name(path)).collect();
        let shown: Vec<&str> = named.iter().take(3).map(|name| &**name).collect();
        let message = format!(
            "{} of the places that may refer to blobs could not be read ({}{}).",
            named.len(),
            shown.join(", "),
            if named.len() > shown.len() { ", …" } else { "" }
        );
        sink.push(Finding::new(&codes::BLOB_SCAN_INCOMPLETE, site.place(&listing.path), message));
    }

    let judged: Vec<Collected> = (0..listing.objects.len())
        .into_par_iter()
        .map(|index| {
            let mut found = Collected::default();
            judge_object(site, store, index, references, whole, &mut found);
            found
        })
        .collect();
    for finding in judged.into_iter().flat_map(|found| found.findings) {
        sink.push(finding);
    }
}

fn judge_object(
    site: &Site<'_>,
    store: &Store<'_>,
    index: usize,
    references: Option<&References>,
    whole: Option<&References>,
    sink: &mut dyn Sink,
) {
    let Some((listing, object)) = store.listing().and_then(|listing| Some((listing, listing.objects.get(index)?))) else { return };
    let path = listing.path_of(object);
    if let BlobName::Blob(hash) = blob_name(object.bytes()) {
        unread(site, store, hash, sink);
    }
    let mut push = |code, message: String| sink.push(Finding::new(code, site.place(&path), message));
    let age_ns = site.now_ns - object.meta.mtime_ns;
    match blob_name(object.bytes()) {
        BlobName::Foreign => push(&codes::BLOB_FOREIGN_ENTRY, "The name is not that of a blob.".into()),
        BlobName::Temporary(hash) => {
            if age_ns > GRACE_NS {
                push(&codes::BLOB_TEMP_LEFT, format!("Residue of an interrupted write of blob {hash}, older than 24 hours."));
            }
        }
        BlobName::Removing(hash) => {
            let referenced = decode(hash).is_some_and(|hash| references.is_some_and(|r| r.any(&hash)));
            let still = match (references, referenced) {
                (Some(_), true) => "the blob is still referenced",
                (Some(_), false) => "no reference to the blob was found",
                (None, _) => "references were not looked for",
            };
            push(&codes::BLOB_GC_INTERRUPTED, format!("The removal of blob {hash} was interrupted; {still}."));
        }
        BlobName::Blob(_) if object.meta.kind != Kind::File => {
            push(&codes::BLOB_FOREIGN_ENTRY, format!("The blob is a {}, not a regular file.", object.meta.kind.noun()));
        }
        BlobName::Blob(hash) => {
            if object.meta.nlink != 1 {
                push(&codes::BLOB_FOREIGN_ENTRY, format!("The blob has {} links; gjc's collection skips it.", object.meta.nlink));
            }
            if object.meta.permissions() & 0o044 != 0 {
                push(&codes::BLOB_PERMISSIONS, format!("The blob has mode {:04o}: others can read it.", object.meta.permissions()));
            }
            if store.is_intact(index) == Some(false) {
                push(&codes::BLOB_HASH_MISMATCH, "The SHA-256 of the bytes is not the name.".into());
            }
            if let (Some(references), Some(hash)) = (whole, decode(hash)) {
                match (references.scanned.contains(&hash), references.elsewhere.contains(&hash)) {
                    (true, _) => {}
                    (false, true) => {
                        push(
                            &codes::BLOB_GC_HAZARD,
                            "The blob is referenced only from places that gjc's blob collection does not scan.".into(),
                        );
                    }
                    (false, false) if age_ns > GRACE_NS => {
                        push(
                            &codes::BLOB_UNREFERENCED,
                            format!("Nothing below the agent directory refers to the blob ({}).", words::bytes(object.meta.size)),
                        );
                    }
                    (false, false) => {}
                }
            }
        }
    }
}

fn decode(hash: &str) -> Option<Hash> {
    data_encoding::HEXLOWER.decode(hash.as_bytes()).ok()?.try_into().ok()
}
