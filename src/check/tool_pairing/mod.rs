//! The area *tool pairing* of spec 05: calls without results, results without calls, and what stands between them.
//!
//! [`Calls`] keeps the ids of calls and results of a file while it is read; [`check`] pairs them along the default
//! path.

pub mod codes;

use super::transcript::content::{Content, Message, Stop};
use super::transcript::held::Held;
use super::tree::Graph;
use super::words::{count, shortened, with_article};
use crate::finding::{Finding, Place, Sink};
use crate::json::text::wtf8_lossy;
use crate::json::{Kind, View};
use crate::steps;
use crate::transcript::context::{Compaction, Kept};
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::{Id, Ids};

/// A call or a result.
#[derive(Clone, Copy, Debug)]
struct Use {
    entry: u32,
    /// The message as it stood after this many patches.
    version: u32,
    call: Id,
    /// Block of a call; [`RESULT`] for a result.
    block: u32,
    stop: Stop,
}

const RESULT: u32 = u32::MAX;

impl Use {
    const fn is_call(&self) -> bool {
        self.block != RESULT
    }
}

/// The calls and results of a file.
#[derive(Default)]
pub struct Calls {
    ids: Ids,
    uses: Vec<Use>,
}

impl Calls {
    /// Takes the calls or the result of a message.
    pub fn take(&mut self, content: &Content<'_>, message: &Message<'_>, held: &mut Held) {
        let entry = content.entry as u32;
        let version = held.version(entry);
        match message.role {
            Role::ToolResult => {
                if let Some(id) = message.tool_call_id.and_then(View::as_str) {
                    let call = self.ids.string(&id);
                    self.uses.push(Use { entry, version, call, block: RESULT, stop: Stop::Other });
                }
            }
            Role::Assistant => {
                for (block, node) in message.content.into_iter().flat_map(View::items).enumerate() {
                    if !node.get("type").is_some_and(|name| name.is_str("toolCall")) {
                        continue;
                    }
                    if let Some(id) = node.get("id").and_then(View::as_str) {
                        let call = self.ids.string(&id);
                        self.uses.push(Use { entry, version, call, block: block as u32, stop: message.stop });
                    }
                    if let Some(arguments) = node.get("arguments").filter(|arguments| arguments.kind() != Kind::Object) {
                        let text = format!("The arguments of block {block} are {}, not an object.", with_article(arguments.kind()));
                        let pointer = format!("/content/{block}/arguments");
                        content.found_in_message(arguments, &pointer, held, &codes::TOOLCALL_ARGUMENTS_NOT_OBJECT, text);
                    }
                }
            }
            _ => {}
        }
    }

    /// Only what stands in messages as they are now, in file order.
    pub fn settle(&mut self, held: &Held) {
        self.uses.retain(|used| held.version(used.entry) == used.version);
        self.uses.sort_by_key(|used| used.entry);
    }

    /// The numbers of all uses.
    fn numbers(&self) -> std::ops::Range<u32> {
        0..self.uses.len() as u32
    }
    fn get(&self, number: u32) -> &Use {
        &self.uses[number as usize]
    }
    /// The uses on the default path by their ids, those of one id in path order.
    fn on_path(&self, graph: &Graph<'_>) -> Vec<OnPath> {
        let place = |number: u32| graph.on_path(self.get(number).entry as usize);
        let on_path = self.numbers().filter_map(|number| place(number).map(|place| OnPath { number, place: place as u32 }));
        let mut on_path: Vec<OnPath> = on_path.collect();
        on_path.sort_unstable_by_key(|on| (self.get(on.number).call, on.place, on.number));
        on_path
    }

    fn text(&self, call: Id) -> String {
        self.ids.text(call).map(|text| shortened(&wtf8_lossy(text))).unwrap_or_default()
    }
}

/// A use on the default path.
#[derive(Clone, Copy)]
struct OnPath {
    /// Its number in [`Calls`].
    number: u32,
    place: u32,
}

impl OnPath {
    const fn place(&self) -> usize {
        self.place as usize
    }
}

/// What is wrong with a call or a result on the path. A file may have as many as it has entries: each becomes a finding only
/// when it is its turn.
#[derive(Clone, Copy)]
enum Fault {
    AnswersFailed {
        result: OnPath,
        call: OnPath,
    },
    Unanswered(OnPath),
    BeforeCall {
        result: OnPath,
        call: OnPath,
    },
    Orphan(OnPath),
    /// Places of a compaction, and of a pair around it.
    CompactionInside {
        compaction: usize,
        call: usize,
        result: usize,
    },
    /// The winning compaction; places of the pair that its kept part cuts.
    KeptSplits {
        winning: Compaction,
        call: usize,
        result: usize,
    },
}

impl Fault {
    /// Where on the path it is reported.
    const fn place(&self) -> usize {
        match self {
            Fault::AnswersFailed { result, .. } | Fault::BeforeCall { result, .. } => result.place(),
            Fault::Unanswered(on) | Fault::Orphan(on) => on.place(),
            Fault::CompactionInside { compaction, .. } => *compaction,
            Fault::KeptSplits { winning, .. } => winning.place,
        }
    }

    fn finding(&self, graph: &Graph<'_>, calls: &Calls) -> Finding {
        let at = |place: usize| graph.place(graph.path.entries[place]);
        let id = |on: &OnPath| calls.text(calls.get(on.number).call);
        let line = |place: usize| graph.loaded.entries[graph.path.entries[place]].line;
        match self {
            Fault::AnswersFailed { result, call } => {
                let message = format!("The result answers the call `{}` of a message that failed.", id(call));
                Finding::new(&codes::TOOLRESULT_FOR_FAILED_CALL, at(result.place()), message).related("the call", at(call.place()))
            }
            Fault::Unanswered(on) => {
                let block = calls.get(on.number).block;
                let message = format!("The call `{}` (block {block}) has no result.", id(on));
                let pointer = Some(format!("/message/content/{block}"));
                Finding::new(&codes::TOOLCALL_UNANSWERED, Place { pointer, ..at(on.place()) }, message)
            }
            Fault::BeforeCall { result, call } => {
                let message = format!("The result of `{}` stands before its call.", id(result));
                Finding::new(&codes::TOOLRESULT_BEFORE_CALL, at(result.place()), message).related("the call", at(call.place()))
            }
            Fault::Orphan(on) => {
                let message = format!("No call before the result has the id `{}`.", id(on));
                Finding::new(&codes::TOOLRESULT_ORPHAN, at(on.place()), message)
            }
            Fault::CompactionInside { compaction, call, result } => {
                let message =
                    format!("The compaction stands between a call (line {}) and its result (line {}).", line(*call), line(*result));
                Finding::new(&codes::COMPACTION_INSIDE_TOOL_PAIR, at(*compaction), message)
                    .related("the call", at(*call))
                    .related("the result", at(*result))
            }
            Fault::KeptSplits { winning, call, result } => {
                let message =
                    format!("The kept part begins between a call (line {}) and its result (line {}).", line(*call), line(*result));
                let place = Place { pointer: Some("/firstKeptEntryId".to_owned()), ..graph.place(winning.entry) };
                Finding::new(&codes::COMPACTION_BOUNDARY_SPLITS_TOOL_PAIR, place, message)
                    .related("the call", at(*call))
                    .related("the result", at(*result))
            }
        }
    }
}

/// Pairs calls and results along the default path.
pub fn check(graph: &Graph<'_>, calls: &Calls, compaction: Option<Compaction>, sink: &mut dyn Sink) {
    if calls.uses.is_empty() {
        return;
    }
    duplicates(graph, calls, sink);
    let on_path = calls.on_path(graph);
    let last_message = graph.path.entries.iter().rposition(|entry| super::tree::is_message(graph.kind(*entry))).unwrap_or(0);
    let mut faults: Vec<(usize, Fault)> = Vec::new();
    let mut abandoned = (0u64, None::<OnPath>);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for group in on_path.chunk_by(|one, two| calls.get(one.number).call == calls.get(two.number).call) {
        // Both in path order: one id may stand in every message of a file.
        let (called, answered): (Vec<OnPath>, Vec<OnPath>) = group.iter().partition(|on| calls.get(on.number).is_call());
        let before = |uses: &[OnPath], place: u32| uses.first().is_some_and(|first| first.place < place);
        let behind = |uses: &[OnPath], place: u32| uses.get(uses.partition_point(|on| on.place <= place)).copied();
        for on in group {
            steps::take(1);
            let used = calls.get(on.number);
            let fault = if used.is_call() {
                match behind(&answered, on.place) {
                    Some(result) => {
                        pairs.push((on.place(), result.place()));
                        if used.stop != Stop::Error {
                            continue;
                        }
                        Fault::AnswersFailed { result, call: *on }
                    }
                    // Its result stands before it and is reported there.
                    None if before(&answered, on.place) => continue,
                    None if used.stop != Stop::Other || on.place() >= last_message => {
                        abandoned.0 += 1;
                        abandoned.1 = abandoned.1.filter(|first| first.place <= on.place).or(Some(*on));
                        continue;
                    }
                    None => Fault::Unanswered(*on),
                }
            } else if before(&called, on.place) {
                continue;
            } else {
                behind(&called, on.place).map_or(Fault::Orphan(*on), |call| Fault::BeforeCall { result: *on, call })
            };
            faults.push((fault.place(), fault));
        }
    }
    compactions(graph, compaction, &pairs, &mut faults);
    // In path order; a stable sort keeps the order within one entry.
    faults.sort_by_key(|(place, _)| *place);
    faults.iter().for_each(|(_, fault)| sink.push(fault.finding(graph, calls)));
    if let (times @ 1.., Some(first)) = abandoned {
        let line = graph.place(graph.path.entries[first.place()]).line.unwrap_or_default();
        let message = format!(
            "{} without a result in messages that were aborted, failed or came last; the first is `{}` on line {line}.",
            count(times, "call is", "calls are"),
            calls.text(calls.get(first.number).call)
        );
        sink.push(Finding::new(&codes::TOOLCALL_ABANDONED, graph.source.file(), message));
    }
}

/// Compactions between a call and its result, and a kept part that begins there. `pairs` are places on the path.
fn compactions(graph: &Graph<'_>, winning: Option<Compaction>, pairs: &[(usize, usize)], faults: &mut Vec<(usize, Fault)>) {
    let Some(winning) = winning else { return };
    let path = &graph.path.entries;
    let places: Vec<usize> = (0..path.len()).filter(|place| graph.kind(path[*place]) == EntryKind::Compaction).collect();
    // How many pairs each compaction stands inside, and one of them.
    let mut inside: Vec<Option<(usize, usize)>> = vec![None; places.len()];
    let mut reached = 0;
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    for (call, result) in sorted {
        let from = places.partition_point(|place| *place <= call).max(reached);
        let to = places.partition_point(|place| *place < result);
        for slot in inside.iter_mut().take(to).skip(from) {
            steps::take(1);
            slot.get_or_insert((call, result));
        }
        // Pairs come by their call: what was reached once needs no second look.
        reached = reached.max(to);
    }
    let found = places.iter().zip(inside);
    let found = found.filter_map(|(place, pair)| pair.map(|(call, result)| Fault::CompactionInside { compaction: *place, call, result }));
    faults.extend(found.map(|fault| (fault.place(), fault)));
    let Kept::From(from) = winning.kept else { return };
    if let Some((call, result)) = pairs.iter().copied().filter(|(call, result)| *call < from && from <= *result).min() {
        faults.push((winning.place, Fault::KeptSplits { winning, call, result }));
    }
}

/// How many earlier uses of one id a use is compared with.
const MOST_COMPARED: usize = 8;

/// Calls or results of one id on one path, whichever path.
fn duplicates(graph: &Graph<'_>, calls: &Calls, sink: &mut dyn Sink) {
    let mut numbers: Vec<u32> = calls.numbers().collect();
    // Calls before results, each in file order.
    numbers.sort_unstable_by_key(|number| (calls.get(*number).call, !calls.get(*number).is_call(), *number));
    let mut found: Vec<(Use, Use)> = Vec::new();
    for group in numbers.chunk_by(|one, two| calls.get(*one).call == calls.get(*two).call) {
        let twin = group.iter().enumerate().find_map(|(at, number)| {
            let used = *calls.get(*number);
            let earlier = group[..at].iter().rev().take(MOST_COMPARED).map(|number| calls.get(*number));
            let earlier = earlier.filter(|other| other.is_call() == used.is_call());
            let at = used.entry as usize;
            let on_one_path = |other: &&Use| {
                steps::take(1);
                let other = other.entry as usize;
                graph.forest.is_ancestor(other, at) || graph.forest.is_ancestor(at, other)
            };
            earlier.filter(|other| !graph.tree.is_shadowed(other.entry as usize)).find(on_one_path).map(|other| (*other, used))
        });
        found.extend(twin.filter(|(_, used)| !graph.tree.is_shadowed(used.entry as usize)));
    }
    found.sort_by_key(|(_, used)| used.entry);
    for (first, used) in found {
        let what = if used.is_call() { "calls" } else { "results" };
        let message = format!("Two {what} on one path have the id `{}`.", calls.text(used.call));
        let finding = Finding::new(&codes::TOOLCALL_ID_DUPLICATE, graph.place(used.entry as usize), message);
        sink.push(finding.related("first occurrence", graph.place(first.entry as usize)));
    }
}
