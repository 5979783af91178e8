//! The area *tree* of spec 05: what ids and parent ids make of a file, and what the default leaf leaves out.

pub mod codes;
mod forest;
pub mod shared;

pub use forest::{Forest, is_message};

use super::context::{Mark, Marks};
use super::line::LostIds;
use super::transcript::Source;
use super::words::{count, shortened};
use crate::finding::{Finding, Place, Sink};
use crate::json::text::wtf8_lossy;
use crate::steps;
use crate::transcript::facts::Facts;
use crate::transcript::load::Loaded;
use crate::transcript::tree::{Path, Tree};
use crate::transcript::{EntryKind, Id};
use std::collections::{HashMap, HashSet};

/// A fingerprint of the text of each entry: tells whether two records with one id have equal bytes.
#[derive(Default)]
pub struct Texts(Vec<u32>);

impl Texts {
    /// Takes the text of the next entry.
    pub fn push(&mut self, text: &[u8]) {
        self.0.push(fingerprint(text));
    }
    fn equal(&self, one: usize, two: usize) -> bool {
        self.0.get(one).is_some() && self.0.get(one) == self.0.get(two)
    }
}

/// Mixes a text, eight bytes at a time in four independent lanes. Not against malice: it decides one word of a message.
fn fingerprint(text: &[u8]) -> u32 {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    let mut lanes = [text.len() as u64, 1, 2, 3];
    let mut blocks = text.chunks_exact(32);
    for block in &mut blocks {
        for (lane, bytes) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            let bytes = <[u8; 8]>::try_from(bytes).map_or(0, u64::from_le_bytes);
            *lane = (*lane ^ bytes).wrapping_mul(MIX).rotate_left(29);
        }
    }
    for bytes in blocks.remainder().chunks(8) {
        lanes[0] = (lanes[0] ^ word(bytes)).wrapping_mul(MIX).rotate_left(29);
    }
    let mixed = lanes.iter().fold(0u64, |mixed, lane| (mixed ^ lane).wrapping_mul(MIX).rotate_left(31));
    (mixed >> 32) as u32
}

/// What the passes over the loaded entries share.
pub struct Graph<'g> {
    /// Names places.
    pub source: &'g Source,
    /// The entries, migrated.
    pub loaded: &'g Loaded<Facts>,
    /// Their tree.
    pub tree: &'g Tree<'g, Loaded<Facts>>,
    /// The same with cycles cut open.
    pub forest: &'g Forest,
    /// The path of the default leaf.
    pub path: &'g Path,
    /// Place of each entry on that path; `u32::MAX` when it is not there.
    pub place_on_path: &'g [u32],
    /// What is unusual about entries.
    pub marks: &'g Marks,
    /// The ids are those that migration gave: the file does not know them.
    pub renamed: bool,
}

impl Graph<'_> {
    /// Place of an entry.
    pub fn place(&self, entry: usize) -> Place {
        match self.loaded.entries.get(entry) {
            None => self.source.file(),
            Some(fact) if self.renamed => self.source.numbered(fact),
            Some(fact) => self.source.fact(fact, &self.loaded.ids),
        }
    }
    /// Kind of an entry.
    pub fn kind(&self, entry: usize) -> EntryKind {
        steps::take(1);
        self.loaded.entries.get(entry).map_or(EntryKind::NonRecord, |fact| fact.kind)
    }
    /// Place of an entry on the default path.
    pub fn on_path(&self, entry: usize) -> Option<usize> {
        self.place_on_path.get(entry).filter(|place| **place != u32::MAX).map(|place| *place as usize)
    }
    /// Text of an id.
    pub fn text(&self, id: Id) -> String {
        self.loaded.ids.text(id).map(wtf8_lossy).unwrap_or_default()
    }
    /// Entries that are no headers, in file order.
    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.loaded.entries.len()).filter(|entry| !self.kind(*entry).is_header())
    }
    /// Line of an entry.
    fn line(&self, entry: usize) -> u32 {
        self.loaded.entries.get(entry).map_or(0, |fact| fact.line)
    }
}

/// What a `label` entry names.
#[derive(Clone, Debug)]
pub struct Label {
    /// The label.
    pub entry: usize,
    /// Its target, when some entry ever had that id.
    pub target: Option<Id>,
    /// Its target as it is written (WTF-8).
    pub text: Box<[u8]>,
}

/// Reports everything of the area.
///
/// `labels` are the targets that labels name, `parent_is_path` tells whether the header's `parentSession` is a path.
pub fn check(graph: &Graph<'_>, texts: &Texts, lost: &LostIds, labels: &[Label], parent_is_path: bool, sink: &mut dyn Sink) {
    duplicates(graph, texts, sink);
    parents(graph, lost, parent_is_path, sink);
    cycles(graph, sink);
    unreachable(graph, sink);
    leaf(graph, sink);
    if graph.forest.branches {
        interleaved(graph, sink);
    }
    for Label { entry: label, target, text } in labels {
        if target.and_then(|target| graph.tree.find(target)).is_none() {
            let message = format!("The label names `{}`, which no entry has.", shortened(&wtf8_lossy(text)));
            let place = Place { pointer: Some("/targetId".to_owned()), ..graph.place(*label) };
            sink.push(Finding::new(&codes::LABEL_TARGET_MISSING, place, message));
        }
    }
}

fn duplicates(graph: &Graph<'_>, texts: &Texts, sink: &mut dyn Sink) {
    if graph.members().all(|entry| !graph.tree.is_shadowed(entry)) {
        return;
    }
    let mut first: HashMap<Id, usize> = HashMap::new();
    for entry in graph.members() {
        let id = graph.loaded.entries[entry].id;
        // Ids that are no strings are the schema's business; a missing id is nobody's twin.
        if !graph.loaded.ids.is_string(id) {
            continue;
        }
        let Some(earlier) = first.insert(id, entry) else { continue };
        let (bytes, help) = if texts.equal(earlier, entry) {
            (
                "the bytes are equal",
                "Nothing needs to be done below 128 MiB: the bytes are equal, so nothing is lost. Above, take one of the two out of a copy.",
            )
        } else {
            ("the bytes differ", "Give the earlier entry another id in a copy, to see it again: the bytes differ.")
        };
        let message = format!("`{}` is the id of line {} too; {bytes}.", shortened(&graph.text(id)), graph.line(earlier));
        let finding = Finding::new(&codes::DUPLICATE_ENTRY_ID, graph.place(entry), message).help(help);
        sink.push(finding.related("first occurrence", graph.place(earlier)));
    }
}

fn parents(graph: &Graph<'_>, lost: &LostIds, parent_is_path: bool, sink: &mut dyn Sink) {
    let mut before: Option<usize> = None;
    for entry in graph.members() {
        let previous = before.replace(entry);
        let parent = graph.loaded.entries[entry].parent;
        let Some(found) = graph.tree.parent(entry) else {
            if parent.truthy() && graph.loaded.ids.is_string(parent) {
                dangling(graph, entry, previous, lost, parent_is_path, sink);
            }
            continue;
        };
        if found > entry && !graph.forest.is_cyclic(entry) {
            let message = format!("Its parent `{}` stands later, on line {}.", graph.text(parent), graph.line(found));
            let finding = Finding::new(&codes::PARENT_AFTER_CHILD, graph.place(entry), message);
            sink.push(finding.related("parent", graph.place(found)));
        }
    }
}

fn dangling(graph: &Graph<'_>, entry: usize, previous: Option<usize>, lost: &LostIds, parent_is_path: bool, sink: &mut dyn Sink) {
    let parent = graph.loaded.entries[entry].parent;
    let cause = graph.loaded.ids.text(parent).and_then(|id| lost.cause(id));
    let cut = previous.map_or(0, |previous| graph.forest.reach(previous));
    let lost = match cut {
        0 => "no message before it is cut off".to_owned(),
        cut => count(u64::from(cut), "message before it is cut off", "messages before it are cut off"),
    };
    let mut message = format!("Its parent `{}` is not in the file; {lost}.", shortened(&graph.text(parent)));
    if let Some(damaged) = cause {
        message.push_str(&format!(" It stood on the damaged line {}.", damaged.line));
    }
    let place = Place { pointer: Some("/parentId".to_owned()), ..graph.place(entry) };
    let mut finding = Finding::new(&codes::DANGLING_PARENT, place, message);
    if let Some(damaged) = cause {
        finding = finding.related("cause", graph.source.damaged(damaged)).help(
            "Mend the damaged line that held the parent, in a copy, before you continue the session. If it cannot be mended, let this entry \
             name the nearest entry before it as parent.",
        );
    } else if parent_is_path {
        finding = finding.help(
            "The session was branched from another file: gjc drops labels while branching and leaves their children without a parent. \
             Look for the id in the file that `parentSession` names.",
        );
    }
    sink.push(finding);
}

fn cycles(graph: &Graph<'_>, sink: &mut dyn Sink) {
    for cycle in graph.forest.cycles() {
        let message = if cycle.members == 1 {
            "The entry is its own parent.".to_owned()
        } else {
            format!("Following `parentId` from here comes back after {} entries (line {}).", cycle.members, graph.line(cycle.other))
        };
        let mut finding = Finding::new(&codes::PARENT_CYCLE, graph.place(cycle.first), message);
        if cycle.members > 1 {
            finding = finding.related("parent", graph.place(cycle.other));
        }
        sink.push(finding);
    }
}

fn unreachable(graph: &Graph<'_>, sink: &mut dyn Sink) {
    let (mut entries, mut tips, mut roots) = (0, 0, 0);
    for entry in graph.members() {
        let fact = &graph.loaded.entries[entry];
        let shadowed = fact.id != Id::ABSENT && graph.tree.is_shadowed(entry);
        if shadowed || fact.kind == EntryKind::NonRecord || graph.on_path(entry).is_some() {
            continue;
        }
        entries += 1;
        tips += u64::from(fact.id == Id::ABSENT || !graph.forest.has_child(entry));
        roots += u64::from(graph.forest.parent(entry).is_none());
    }
    if entries > 0 {
        let message = format!(
            "{} not on the path of the last one ({}, {}).",
            count(entries, "entry is", "entries are"),
            count(tips, "tip", "tips"),
            count(roots, "root", "roots")
        );
        sink.push(Finding::new(&codes::UNREACHABLE_BRANCH, graph.source.file(), message));
    }
}

/// What the default path leaves out of the conversation.
fn leaf(graph: &Graph<'_>, sink: &mut dyn Sink) {
    let Some(leaf) = graph.tree.last() else { return };
    let shows = |entry: &usize| {
        let kind = graph.kind(*entry);
        is_message(kind)
            || matches!(kind, EntryKind::BranchSummary | EntryKind::Compaction)
            || kind == EntryKind::Custom && graph.marks.has(*entry, Mark::Clear)
    };
    let messages = graph.members().filter(|entry| is_message(graph.kind(*entry))).count() as u64;
    if messages > 0 && !graph.path.entries.iter().any(shows) {
        let message = format!("The last entry leads to no message; the file holds {}.", count(messages, "message", "messages"));
        sink.push(Finding::new(&codes::LEAF_WITHOUT_HISTORY, graph.place(leaf), message));
    }
    // Another tip is there where something forks, or where the leaf is not the end of its branch.
    if graph.forest.branches || graph.forest.has_child(leaf) {
        behind_tip(graph, leaf, sink);
    }
}

/// A tip that reaches more messages than the leaf, which itself has none behind their fork.
fn behind_tip(graph: &Graph<'_>, leaf: usize, sink: &mut dyn Sink) {
    let reach = graph.forest.reach(leaf);
    let carries = |entry: &usize| is_message(graph.kind(*entry)) || graph.kind(*entry) == EntryKind::BranchSummary;
    // A fork before this place of the path has something behind it on the path.
    let Some(last) = graph.path.entries.iter().rposition(carries) else { return };
    if reach == 0 {
        return;
    }
    let tips = graph.members().filter(|entry| !graph.forest.has_child(*entry) && graph.on_path(*entry).is_none());
    let better = tips.filter(|tip| graph.forest.reach(*tip) > reach).filter(|tip| {
        let fork = graph.forest.fork(*tip, leaf).map(|(parent, ..)| parent);
        // No fork: the leaf itself lies on the way to the tip, or they share nothing.
        let common = fork.or_else(|| graph.forest.is_ancestor(leaf, *tip).then_some(leaf));
        common.and_then(|common| graph.on_path(common)).is_some_and(|place| place >= last)
    });
    if let Some(tip) = better.max_by_key(|tip| (graph.forest.reach(*tip), *tip)) {
        let message = format!(
            "The last entry reaches {}, another tip on line {} reaches {}.",
            count(u64::from(reach), "message", "messages"),
            graph.line(tip),
            graph.forest.reach(tip)
        );
        sink.push(Finding::new(&codes::LEAF_BEHIND_TIP, graph.place(leaf), message).related("the longer branch", graph.place(tip)));
    }
}

/// Sibling chains that alternate in file order: A B A B.
fn interleaved(graph: &Graph<'_>, sink: &mut dyn Sink) {
    // A change from one chain to the other shows in two neighbours of the file; A B A B has three.
    let mut changes: HashMap<(usize, usize), u32> = HashMap::new();
    let mut reported: HashSet<usize> = HashSet::new();
    let mut before: Option<usize> = None;
    for entry in graph.members() {
        let Some(previous) = before.replace(entry) else { continue };
        if graph.forest.parent(entry) == Some(previous) {
            continue;
        }
        let Some((parent, one, two)) = graph.forest.fork(previous, entry) else { continue };
        let chains = (one.min(two), one.max(two));
        let summary = [one, two].iter().any(|chain| graph.kind(*chain) == EntryKind::BranchSummary);
        let times = changes.entry(chains).or_default();
        *times += 1;
        if *times == 3 && !summary && reported.insert(parent) {
            let message = format!(
                "Two branches below line {} were written by turns; the other begins on line {}.",
                graph.line(parent),
                graph.line(chains.0)
            );
            let finding = Finding::new(&codes::INTERLEAVED_BRANCHES, graph.place(chains.1), message);
            sink.push(finding.related("the other branch", graph.place(chains.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::check::transcript::{Options, check};
    use crate::finding::{Collected, Release};

    /// Codes of a transcript of version 5 with these lines behind its header.
    fn codes(lines: &[&str]) -> Vec<&'static str> {
        let header = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w"}"#;
        let text = [&[header], lines].concat().join("\n") + "\n";
        let mut sink = Collected::default();
        check(text.as_bytes(), &Options::lone("t.jsonl", Release::default()), &mut sink).unwrap();
        sink.findings.iter().map(|finding| finding.code.name).collect()
    }
    fn user(id: &str, parent: &str) -> String {
        let message = r#"{"role":"user","content":"x","timestamp":1}"#;
        format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T08:00:01.000Z","message":{message}}}"#)
    }

    /// No entry has two children: the leaf alone lies before the tip.
    #[test]
    fn a_leaf_on_the_way_to_the_tip_is_behind_it_without_any_fork() {
        let [a, b, c, d] = [user("a", "null"), user("b", "\"a\""), user("c", "\"b\""), user("d", "\"c\"")];
        assert_eq!(codes(&[&a, &b, &d, &c]), ["parent_after_child", "unreachable_branch", "leaf_behind_tip"]);
        assert!(codes(&[&a, &b, &c, &d]).is_empty());
    }
}
