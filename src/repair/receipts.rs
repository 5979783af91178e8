//! The receipts of a migration (spec 02 §6.5): what each says, and the order of a manifest.

use crate::agent::candidates::path_text;
pub use crate::agent::migration_receipt::sort_manifest as sort;
use crate::agent::migration_receipt::{ManifestEntry, Party, Receipt, State};
use crate::agent::record::TranscriptIdentity;
use crate::json::JsString;
use std::path::Path;

/// `.published` or the committed receipt, made from the prepared one: the manifest in its order, the destination with its
/// identity, no quarantine (nothing was detached).
pub fn finished(prepared: &Receipt, state: State, destination: TranscriptIdentity, manifest: &[ManifestEntry]) -> Receipt {
    Receipt {
        state,
        destination: Party { identity: Some(destination), ..prepared.destination.clone() },
        manifest: manifest.to_vec(),
        quarantine: None,
        cleanup: None,
        detach_outcome: None,
        ..prepared.clone()
    }
}

/// The prepared receipt of this attempt.
pub fn prepared(planned: Receipt, attempt_id: &JsString, destination: &Path) -> Receipt {
    let destination = Party { path: path_text(destination), ..planned.destination };
    Receipt { attempt_id: attempt_id.clone(), destination, ..planned }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_comes_before_a_file_of_the_same_path() {
        let file = ManifestEntry::File { path: "x".into(), size: 0, sha256: String::new() };
        let directory = ManifestEntry::Directory { path: "x".into() };
        let mut manifest = vec![file.clone(), directory.clone()];
        sort(&mut manifest);
        assert_eq!(manifest, [directory, file]);
    }
}
