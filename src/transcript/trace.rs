//! Reader L with the origin of everything: which line an entry came from, and what each patch did.

use super::load::{At, Loaded, Loader, Outcome, Whole};
use super::throw::Throw;
use crate::finding::Release;
use crate::json::View;
use crate::json::jsonl::{Event, Lines};
use crate::steps;
use crate::transcript::entry::EntryKind;
use std::io::{self, Read};

/// A loaded transcript with its origins.
pub struct Traced {
    /// The entries, header first.
    pub loaded: Loaded<Whole>,
    /// Where each entry came from.
    pub origins: Vec<Origin>,
    /// Every patch record, in file order.
    pub patches: Vec<Patch>,
}

/// Where an entry came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Its record.
    pub at: At,
    /// The patches that changed it, as numbers in [`Traced::patches`].
    pub patches: Vec<usize>,
}

/// A patch record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// Its place.
    pub at: At,
    /// `header_patch` or `entry_patch`.
    pub kind: EntryKind,
    /// The members that it sets: at most the first [`MEMBERS`].
    pub sets: Vec<String>,
    /// What became of it.
    pub outcome: Outcome,
}

/// Members of a patch that are remembered by name. A valid patch has at most four.
pub const MEMBERS: usize = 8;

/// Loads a file.
///
/// # Errors
/// The outer error is the input's, the inner one what gjc throws.
pub fn trace(input: impl Read, release: Release) -> io::Result<Result<Traced, Throw>> {
    let mut lines = Lines::new(input);
    let mut loader = Loader::new(Whole, release);
    let mut origins: Vec<Origin> = Vec::new();
    let mut patches: Vec<Patch> = Vec::new();
    while let Some(event) = lines.next()? {
        steps::take(1);
        let Some(outcome) = loader.event(&event) else { continue };
        let Event::Value(found) = &event else { continue };
        let at = At::from(found);
        let changed = match &outcome {
            Outcome::Header(_) | Outcome::FurtherHeader(_) | Outcome::Entry(_) => {
                origins.push(Origin { at, patches: Vec::new() });
                continue;
            }
            Outcome::Throws(_) | Outcome::Dropped => continue,
            Outcome::HeaderPatched { .. } => origins.first_mut(),
            Outcome::EntryPatched(entry) => origins.get_mut(*entry),
            Outcome::EntryPatchEmpty(_) | Outcome::PatchIgnored(_) => None,
        };
        if let Some(origin) = changed {
            origin.patches.push(patches.len());
        }
        let members = found.node.get("patch").into_iter().flat_map(View::members).take(MEMBERS);
        let sets = members.map(|(key, _)| crate::json::JsStr::from_wtf8(&key).to_string()).collect();
        patches.push(Patch { at, kind: EntryKind::of(found.node), sets, outcome });
    }
    Ok(loader.finish().map(|loaded| {
        if loaded.entries.is_empty() {
            origins.clear();
        }
        Traced { loaded, origins, patches }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_knows_its_line_and_its_patches() {
        let text = concat!(
            r#"{"type":"session","version":5,"id":"s"}"#,
            "\n\ngarbage\n",
            r#"{"type":"message","id":"a","message":{}}"#,
            "\n",
            r#"{"type":"header_patch","patch":{"title":"t","cwd":"/"}}"#,
            "\n",
            r#"{"type":"entry_patch","entryId":"a","patch":{"message":{}}}"#,
            "\n",
            r#"{"type":"entry_patch","entryId":"b","patch":{"message":{}}}"#,
            "\n",
        );
        let traced = trace(text.as_bytes(), Release::V0_17).unwrap().unwrap();
        let lines: Vec<u64> = traced.origins.iter().map(|origin| origin.at.line).collect();
        assert_eq!(lines, [1, 4]);
        assert_eq!(traced.origins[0].patches, [0]);
        assert_eq!(traced.origins[1].patches, [1]);
        assert_eq!(traced.patches[0].sets, ["title", "cwd"]);
        assert!(matches!(traced.patches[2].outcome, Outcome::PatchIgnored(_)));
    }

    #[test]
    fn what_loads_nothing_has_no_origins() {
        let traced = trace(&b"7\n{\"type\":\"session\",\"id\":\"s\"}\n"[..], Release::V0_17).unwrap().unwrap();
        assert!(traced.loaded.entries.is_empty() && traced.origins.is_empty());
    }
}
