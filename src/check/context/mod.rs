//! The area *context* of spec 05: what the rebuilt default context hides, repeats or cannot hold.

pub mod codes;

use super::entry;
use super::transcript::content::{Content, Message, Stop};
use super::tree::{Graph, is_message};
use super::words::{count, shortened};
use crate::finding::{Finding, Place, Sink};
use crate::json::{Kind, Value, View};
use crate::transcript::EntryKind;
use crate::transcript::context::{Compaction, ContextEntries, Kept};
use crate::transcript::entry::Role;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is unusual about an entry and needs its path to be judged. Most entries have no mark.
#[derive(Default, Debug)]
pub struct Marks(HashMap<usize, u8>);

/// One mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mark {
    /// An assistant message with empty content that was aborted or failed.
    EmptyTurn = 1,
    /// An assistant message without a string `provider` or `model`.
    NoModel = 2,
    /// A `context_clear`.
    Clear = 4,
}

impl Marks {
    /// Takes the content that a record brings; a patch replaces what was said of the message.
    pub fn take(&mut self, content: &Content<'_>, message: Option<&Message<'_>>) {
        if content.from_patch && !self.0.is_empty() {
            self.0.remove(&content.entry);
        }
        if let Some(message) = message.filter(|message| message.role == Role::Assistant) {
            let empty = match message.content {
                None => true,
                Some(content) => match content.kind() {
                    Kind::Array => content.items().next().is_none(),
                    Kind::String => !content.truthy(),
                    _ => false,
                },
            };
            if empty && message.stop != Stop::Other {
                self.set(content.entry, Mark::EmptyTurn);
            }
            let is_string = |member: Option<crate::json::Node<'_>>| member.is_some_and(|member| member.kind() == Kind::String);
            if !is_string(message.provider) || !is_string(message.model) {
                self.set(content.entry, Mark::NoModel);
            }
        } else if content.kind == EntryKind::Custom && content.root.get("customType").is_some_and(|name| name.is_str("context_clear")) {
            self.set(content.entry, Mark::Clear);
        }
    }
    fn set(&mut self, entry: usize, mark: Mark) {
        *self.0.entry(entry).or_default() |= mark as u8;
    }
    /// True when the entry has the mark.
    pub fn has(&self, entry: usize, mark: Mark) -> bool {
        self.0.get(&entry).is_some_and(|marks| marks & mark as u8 != 0)
    }
}

/// Reports everything of the area that needs no payload. `explained` are compactions of which migration told.
pub fn check(graph: &Graph<'_>, compaction: Option<Compaction>, explained: &HashSet<usize>, marks: &Marks, sink: &mut dyn Sink) {
    if let Some(compaction) = compaction {
        boundary(graph, compaction, explained, sink);
    }
    siblings(graph, sink);
    empty_turns(graph, marks, sink);
    redundant(graph, sink);
    models(graph, marks, sink);
}

/// The kept part of the winning compaction.
fn boundary(graph: &Graph<'_>, compaction: Compaction, explained: &HashSet<usize>, sink: &mut dyn Sink) {
    let Compaction { entry, place, kept } = compaction;
    let pointer = || Place { pointer: Some("/firstKeptEntryId".to_owned()), ..graph.place(entry) };
    match kept {
        Kept::Replaced => {}
        Kept::NotFound => {
            let first = graph.loaded.first_kept(entry).filter(|id| graph.loaded.ids.is_string(*id));
            let Some(first) = first.filter(|_| !explained.contains(&entry)) else { return };
            let why = match graph.tree.find(first) {
                None => "no entry has it",
                Some(found) if found == entry => "it is the compaction itself",
                Some(found) if graph.on_path(found).is_some() => "it stands behind the compaction",
                Some(_) => "it is on another branch",
            };
            let id = if graph.renamed { String::new() } else { format!(" `{}`", shortened(&graph.text(first))) };
            let message = format!("`firstKeptEntryId`{id} is not on the path before the compaction: {why}.");
            sink.push(Finding::new(&codes::COMPACTION_FIRST_KEPT_MISSING, pointer(), message));
        }
        Kept::From(from) => {
            let path = &graph.path.entries;
            let Some(earlier) = path[..place].iter().rposition(|entry| graph.kind(*entry) == EntryKind::Compaction) else { return };
            if from <= earlier {
                return;
            }
            let kept_by_earlier = graph.loaded.first_kept(path[earlier]);
            let first = path[..earlier].iter().position(|entry| Some(graph.loaded.entries[*entry].id) == kept_by_earlier);
            let messages = first.map_or(0, |first| path[first..earlier].iter().filter(|entry| is_message(graph.kind(**entry))).count());
            if messages > 0 {
                let message = format!(
                    "The compaction of line {} kept {}; this one keeps nothing before line {}.",
                    graph.loaded.entries[path[earlier]].line,
                    count(messages as u64, "message", "messages"),
                    graph.loaded.entries[path[from]].line
                );
                let finding = Finding::new(&codes::COMPACTION_GAP, pointer(), message);
                sink.push(finding.related("the earlier compaction", graph.place(path[earlier])));
            }
        }
    }
}

/// Compactions that share their parent, or that nothing follows while a sibling goes on.
fn siblings(graph: &Graph<'_>, sink: &mut dyn Sink) {
    if !graph.forest.branches {
        return;
    }
    let entries = &graph.loaded.entries;
    let compactions: Vec<usize> = (0..entries.len()).filter(|entry| graph.kind(*entry) == EntryKind::Compaction).collect();
    let parents: HashSet<usize> = compactions.iter().filter_map(|entry| graph.forest.parent(*entry)).collect();
    if parents.is_empty() {
        return;
    }
    // For each parent of a compaction: a child that goes on, and the first compaction.
    let mut goes_on: HashMap<usize, usize> = HashMap::new();
    for entry in (0..entries.len()).filter(|entry| graph.forest.has_child(*entry)) {
        if let Some(parent) = graph.forest.parent(entry).filter(|parent| parents.contains(parent)) {
            goes_on.entry(parent).or_insert(entry);
        }
    }
    let mut first: HashMap<usize, usize> = HashMap::new();
    for entry in compactions {
        let Some(parent) = graph.forest.parent(entry) else { continue };
        let twin = *first.entry(parent).or_insert(entry);
        let unused = !graph.forest.has_child(entry) && graph.tree.last() != Some(entry);
        let (what, other) = match goes_on.get(&parent) {
            _ if twin != entry => ("another compaction has the same parent", twin),
            // Of two compactions the later one says it.
            Some(sibling) if unused && graph.kind(*sibling) != EntryKind::Compaction => {
                ("nothing follows it, and the session went on beside it", *sibling)
            }
            _ => continue,
        };
        let message = format!("The summary is one of two from one place: {what} (line {}).", entries[other].line);
        sink.push(Finding::new(&codes::COMPACTION_SIBLINGS, graph.place(entry), message).related("the sibling", graph.place(other)));
    }
}

/// Runs of empty assistant turns.
fn empty_turns(graph: &Graph<'_>, marks: &Marks, sink: &mut dyn Sink) {
    const RUN: usize = 3;
    let mut run: Vec<usize> = Vec::new();
    let mut report = |run: &mut Vec<usize>| {
        if run.len() >= RUN {
            let last = graph.loaded.entries[run[run.len() - 1]].line;
            let message = format!("{} empty assistant turns that were aborted or failed follow each other up to line {last}.", run.len());
            sink.push(Finding::new(&codes::EMPTY_TURN_RUN, graph.place(run[0]), message));
        }
        run.clear();
    };
    for entry in &graph.path.entries {
        if marks.has(*entry, Mark::EmptyTurn) {
            run.push(*entry);
        } else if is_message(graph.kind(*entry)) {
            report(&mut run);
        }
    }
    report(&mut run);
}

/// Settings that set what is in force already.
fn redundant(graph: &Graph<'_>, sink: &mut dyn Sink) {
    let mut times: BTreeMap<&'static str, u64> = BTreeMap::new();
    // What is in force, by setting and role; a missing member is the default.
    let mut in_force: HashMap<(EntryKind, String), Option<String>> = HashMap::new();
    for entry in &graph.path.entries {
        let kind = graph.kind(*entry);
        let Some((role, value)) = graph.loaded.value(*entry).and_then(|value| setting(kind, value)) else { continue };
        let default = match kind {
            EntryKind::ThinkingLevelChange => Some("\"off\"".to_owned()),
            EntryKind::ModeChange => Some("\"none\"".to_owned()),
            _ => None,
        };
        let key = (kind, role);
        let before = in_force.get(&key).cloned().unwrap_or(default);
        let unset = kind == EntryKind::McpToolSelection
            || kind == EntryKind::DiscoveredBuiltinToolSelection
            || kind == EntryKind::ConfiguredModelChain;
        if before == value && !(unset && value.is_none()) {
            *times.entry(kind.name().unwrap_or_default()).or_default() += 1;
        }
        in_force.insert(key, value);
    }
    if !times.is_empty() {
        let words: Vec<String> = times.iter().map(|(kind, times)| format!("{times} {kind}")).collect();
        let message = format!("Entries that set what is in force already: {}.", words.join(", "));
        sink.push(Finding::new(&codes::REDUNDANT_ENTRY_RUN, graph.source.file(), message));
    }
}

/// The role and the value that an entry sets; a value of none is "unset".
fn setting(kind: EntryKind, entry: &Value) -> Option<(String, Option<String>)> {
    let text = |key: &str| entry.get_present(key).map(crate::json::stringify::to_text);
    let value = match kind {
        EntryKind::ThinkingLevelChange => Some(text("thinkingLevel").unwrap_or_else(|| "\"off\"".to_owned())),
        EntryKind::ServiceTierChange => text("serviceTier"),
        EntryKind::ModeChange => Some([text("mode"), text("data")].into_iter().flatten().collect()),
        EntryKind::ModelChange if entry.get("cleared").is_some_and(View::truthy) => None,
        EntryKind::ModelChange => Some(text("model").filter(|_| entry.get("model").is_some_and(View::truthy))?),
        EntryKind::ConfiguredModelChain if entry.get("cleared").and_then(View::as_bool) == Some(true) => None,
        EntryKind::ConfiguredModelChain => {
            Some(["entries", "origin", "identity", "explicitHead"].iter().map(|key| text(key).unwrap_or_default() + ",").collect())
        }
        // The older form sets both selections.
        EntryKind::McpToolSelection if entry.get("selectedDiscoveredBuiltinToolNames").is_some() => return None,
        EntryKind::McpToolSelection | EntryKind::DiscoveredBuiltinToolSelection => text("selectedToolNames"),
        _ => return None,
    };
    let role = match kind {
        EntryKind::ModelChange | EntryKind::ConfiguredModelChain => text("role").unwrap_or_else(|| "\"default\"".to_owned()),
        _ => String::new(),
    };
    Some((role, value))
}

/// Assistant messages that name no model while the default model is taken from them.
fn models(graph: &Graph<'_>, marks: &Marks, sink: &mut dyn Sink) {
    for entry in &graph.path.entries {
        let change = if graph.kind(*entry) == EntryKind::ModelChange { graph.loaded.value(*entry) } else { None };
        if change.and_then(|change| setting(EntryKind::ModelChange, change)).is_some_and(|(role, _)| role == "\"default\"") {
            return;
        }
        if marks.has(*entry, Mark::NoModel) {
            let message = "The assistant message names no provider or no model, and no model change comes before it: the context takes `undefined` for it.";
            sink.push(Finding::new(&entry::codes::ASSISTANT_MODEL_MISSING, graph.place(*entry), message));
        }
    }
}
