//! The area *listing* of spec 05: what gjc's lists show and hide. What needs other files of a directory is checked with
//! the agent directory; [`recent_title`] needs the file alone.

pub mod codes;

use super::patch::TitlePatch;
use super::quota;
use super::run::Site;
use crate::agent::predict::{PROJECT_DIRECTORIES, PROJECT_FILES, project_transcripts};
use crate::finding::{Finding, Sink};
use crate::json::text::wtf8_lossy;
use std::path::Path;

/// Files of at most this many bytes show their unpatched title in the recent list (spec 04 §2.3).
const PREFIX: u64 = 4096;

/// Reports a title patch that the recent list does not see; `title` is the header's own.
pub fn recent_title(size: u64, title: Option<&[u8]>, patch: Option<&TitlePatch>, sink: &mut dyn Sink) {
    let Some(patch) = patch.filter(|patch| size <= PREFIX && title != Some(&patch.title)) else { return };
    let shown = |title: &[u8]| super::words::shortened(&wtf8_lossy(title));
    let old = title.map_or("no title".to_owned(), |title| format!("`{}`", shown(title)));
    let message = format!("The file has {size} bytes, so the recent list shows {old} where the picker shows `{}`.", shown(&patch.title));
    sink.push(Finding::new(&codes::RECENT_TITLE_STALE, patch.place.clone(), message));
}

/// Reports a workspace whose `.gjc` holds more than the picker's walk takes (spec 04 §2.9).
pub fn project_scan(site: &Site<'_>, workspace: &Path, sink: &mut dyn Sink) {
    let found = project_transcripts(site.fs, workspace);
    let place = || site.place(&workspace.join(".gjc"));
    // The walk ends at the first one that is too many.
    if found.directories > 0 {
        quota::PROJECT_DIRECTORIES.read(place(), found.directories as u64, sink);
        quota::PROJECT_TRANSCRIPTS.read(place(), found.files.len() as u64 + u64::from(found.more_files), sink);
    }
    if found.limited {
        let message = format!(
            "It holds more than the {PROJECT_DIRECTORIES} directories or {PROJECT_FILES} transcripts that a listing takes from a project."
        );
        sink.push(Finding::new(&codes::PROJECT_SCAN_LIMIT, place(), message));
    }
}
