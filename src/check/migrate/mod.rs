//! The area *migrate* of spec 05: what lifting an old file to version 5 loses or shifts.

pub mod codes;

use super::transcript::Source;
use super::transcript::content::Content;
use super::tree::Label;
use super::words::{shortened, with_article};
use crate::finding::{Finding, Place, Sink};
use crate::json::text::wtf8_lossy;
use crate::json::{Kind, View};
use crate::transcript::facts::{Fact, Facts};
use crate::transcript::load::Loaded;
use crate::transcript::migrate::{Boundary, Migrated, Names};
use crate::transcript::schema::Field;
use crate::transcript::{EntryKind, Id, Ids};
use std::collections::HashSet;

/// Where the numbering of values that `firstKeptEntryIndex` counts may have shifted: a dropped line or a second header.
#[derive(Default, Debug)]
pub struct Shift {
    first: Option<(u64, Place)>,
}

impl Shift {
    /// A line was dropped, or a second header came, behind `entries` entries.
    pub fn note(&mut self, entries: usize, place: impl FnOnce() -> Place) {
        if self.first.is_none() {
            self.first = Some((entries as u64, place()));
        }
    }
}

/// A reference by id that migration does not translate.
#[derive(Debug)]
struct Reference {
    entry: usize,
    /// The id (WTF-8).
    target: Box<[u8]>,
    pointer: &'static str,
}

/// The ids that labels, branch summaries and compactions name.
#[derive(Default, Debug)]
pub struct References(Vec<Reference>);

impl References {
    /// Takes what an entry names.
    pub fn take(&mut self, content: &Content<'_>) {
        let (key, pointer) = match content.kind {
            EntryKind::Label => ("targetId", "/targetId"),
            EntryKind::BranchSummary => ("fromId", "/fromId"),
            EntryKind::Compaction => ("firstKeptEntryId", "/firstKeptEntryId"),
            _ => return,
        };
        if let Some(target) = content.root.str_member(key) {
            self.0.push(Reference { entry: content.entry, target: target.as_ref().into(), pointer });
        }
    }

    /// What labels name, those of the entries in `except` left out.
    pub fn labels(&self, ids: &Ids, except: &HashSet<usize>) -> Vec<Label> {
        let labels = self.0.iter().filter(|reference| reference.pointer == "/targetId" && !except.contains(&reference.entry));
        labels.map(|label| Label { entry: label.entry, target: ids.find(&label.target), text: label.target.clone() }).collect()
    }
}

/// What the area already said of an entry, so that no later stage says it again.
#[derive(Default, Debug)]
pub struct Explained {
    /// Compactions whose missing `firstKeptEntryId` is explained.
    pub first_kept: HashSet<usize>,
    /// Entries whose reference dangles because of the migration.
    pub references: HashSet<usize>,
}

/// The ids that entries had before migration gave them new ones; empty for version 2 and above.
pub fn old_ids(loaded: &Loaded<Facts>, version: f64) -> HashSet<Id> {
    let entries = loaded.entries.iter().filter(|_| version < 2.0);
    entries.filter(|fact| !fact.kind.is_header()).map(|fact| fact.id).collect()
}

/// Reports what migration did to a file; `old` are the ids of before.
pub fn check(
    source: &Source,
    loaded: &Loaded<Facts>,
    migrated: &Migrated,
    old: &HashSet<Id>,
    references: &References,
    shift: &Shift,
    sink: &mut dyn Sink,
) -> Explained {
    let mut explained = Explained::default();
    if migrated.from >= 2.0 {
        return explained;
    }
    let at = |entry: usize, pointer: &str| {
        let place = loaded.entries.get(entry).map_or_else(|| source.file(), |fact| source.numbered(fact));
        Place { pointer: Some(pointer.to_owned()), ..place }
    };
    let lost = |entry: usize| loaded.entries.get(entry).is_some_and(|fact| fact.faults.contains(Field::FirstKeptEntryId));
    for Boundary { compaction, index, names } in &migrated.boundaries {
        let index = crate::json::number::to_js_string(*index);
        if lost(*compaction) {
            explained.first_kept.insert(*compaction);
            let what = match names {
                Names::Header(_) => "the header",
                Names::NoId(_) | Names::StaleId(_) => "a later entry that has no id yet",
                Names::Entry(_) | Names::Nothing => "no value",
            };
            let message = format!("`firstKeptEntryIndex` {index} names {what}: the boundary is lost.");
            sink.push(Finding::new(&codes::MIGRATION_FIRST_KEPT_LOST, at(*compaction, "/firstKeptEntryIndex"), message));
        }
    }
    // An index that is no number stays, and names nothing.
    for (entry, fact) in loaded.entries.iter().enumerate() {
        if fact.kind == EntryKind::Compaction && !explained.first_kept.contains(&entry) && lost(entry) {
            let index = loaded.keep.value(fact).and_then(|value| value.get("firstKeptEntryIndex"));
            if let Some(index) = index.filter(|index| index.kind() != Kind::Number) {
                explained.first_kept.insert(entry);
                let message = format!("`firstKeptEntryIndex` is {}: the boundary is lost.", with_article(index.kind()));
                sink.push(Finding::new(&codes::MIGRATION_FIRST_KEPT_LOST, at(entry, "/firstKeptEntryIndex"), message));
            }
        }
    }
    if let Some((before, cause)) = &shift.first {
        for Boundary { compaction, index, names } in &migrated.boundaries {
            if *index < *before as f64 || explained.first_kept.contains(compaction) {
                continue;
            }
            let named = match names {
                Names::Entry(named) if named == compaction => "the compaction itself".to_owned(),
                Names::Entry(named) | Names::StaleId(named) => {
                    format!("the entry of line {}", loaded.entries.get(*named).map_or(0, |fact| fact.line))
                }
                _ => "nothing".to_owned(),
            };
            let message = format!(
                "`firstKeptEntryIndex` {} counts over line {}, which changed the numbering; it now names {named}.",
                crate::json::number::to_js_string(*index),
                cause.line.unwrap_or_default()
            );
            let finding = Finding::new(&codes::MIGRATION_INDEX_SHIFTED, at(*compaction, "/firstKeptEntryIndex"), message);
            sink.push(finding.related("cause", cause.clone()));
        }
    }
    let indexed: HashSet<usize> = migrated.boundaries.iter().map(|boundary| boundary.compaction).collect();
    for Reference { entry, target, pointer } in &references.0 {
        // An index beats an explicit id.
        let by_index = *pointer == "/firstKeptEntryId" && indexed.contains(entry);
        if !by_index && loaded.ids.find(target).is_some_and(|id| old.contains(&id)) {
            explained.references.insert(*entry);
            let message = format!("It names the old id `{}`; migration gives every entry a new one.", shortened(&wtf8_lossy(target)));
            sink.push(Finding::new(&codes::MIGRATION_REFS_DANGLING, at(*entry, pointer), message));
        }
    }
    explained
}

/// Reports the entry that migration throws on. `version` is that of the file.
pub fn throws(source: &Source, loaded: &Loaded<Facts>, version: f64, sink: &mut dyn Sink) {
    // A value that is no object is a line's fault, and said there.
    let breaks =
        |fact: &&Fact| version < 3.0 && fact.kind == EntryKind::Message && matches!(fact.message().kind(), None | Some(Kind::Null));
    let primitive = loaded.entries.iter().position(|fact| version < 2.0 && fact.is_primitive());
    let broken = loaded.entries.iter().find(breaks);
    if let Some(fact) = broken.filter(|_| primitive.is_none()) {
        let place = Place { pointer: Some("/message".to_owned()), ..source.fact(fact, &loaded.ids) };
        let message = "The message entry has no `message`; migration to version 3 throws on it.";
        sink.push(Finding::new(&codes::MIGRATION_THROWS, place, message));
    }
}
