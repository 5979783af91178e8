//! The second half of the check: what is said of the entries when the last byte was read.

use super::{HeaderFacts, Options, Outcome, Passes, Source};
use crate::check::header::Ending;
use crate::check::line::LostIds;
use crate::check::size::FILE_CAP;
use crate::check::tree::shared::EntryIds;
use crate::check::tree::{Forest, Graph};
use crate::check::{context, entry, listing, migrate, owner as owner_area, quota, tool_pairing, tree, verdict};
use crate::finding::{Answer, Difference, Finding, Release, Sink};
use crate::json::text::Encoding;
use crate::json::{Value, View};
use crate::transcript::context::{Compaction, settings::Settings};
use crate::transcript::facts::{Fact, Facts};
use crate::transcript::hazard::Hazards;
use crate::transcript::inspect::{self, Inspected, Reason, Verdict};
use crate::transcript::load::Loaded;
use crate::transcript::open;
use crate::transcript::readers::first_line::{self, Star};
use crate::transcript::readers::owner::{self, Locator};
use crate::transcript::schema::{Faults, Field};
use crate::transcript::tree::{Leaf, Tree};
use std::collections::HashSet;

impl Passes<'_> {
    /// Reports what only the whole file can tell.
    pub(super) fn finish(self, options: &Options<'_>, sink: &mut verdict::Watch<'_>) -> Outcome {
        let Passes {
            source,
            encoding,
            strict,
            managed,
            bounded,
            owner,
            first_line,
            prefix,
            lines,
            loader,
            headers,
            patches,
            sizes,
            dialects,
            ..
        } = self;
        let lost_lines = lines.finish(encoding, sink);
        let size = sizes.size();
        // What the readers of the lines hold is freed before the entries are looked at.
        let bounded = bounded.filter(|_| size > FILE_CAP).map(|bounded| bounded.finish());
        let mut outcome = Outcome { size, ..Outcome::default() };
        outcome.counts.lines = lost_lines.lines;
        outcome.counts.values = lost_lines.values;
        outcome.counts.damaged_lines = lost_lines.lost.total();
        (outcome.counts.patches_applied, outcome.counts.patches_ignored) = (patches.applied, patches.ignored);

        let loaded = loader.finish();
        let version = loaded.as_ref().ok().and_then(|loaded| Some(version_of(loaded.keep.value(loaded.entries.first()?)?)));
        let old = match (&loaded, version) {
            (Ok(loaded), Some(version)) => migrate::old_ids(loaded, version),
            _ => HashSet::new(),
        };
        let lenient = match &loaded {
            Err(throw) => format!("throws: {throw}"),
            Ok(loaded) if loaded.entries.is_empty() => "[]".to_owned(),
            Ok(loaded) => format!("loads {} entries", loaded.entries.len()),
        };
        let strict_options = inspect::Options { release: options.release, budget: options.budget };
        let inspected = inspect::conclude(strict.finish(encoding), loaded, strict_options);
        let loads = inspected.loaded.as_ref().is_ok_and(|loaded| !loaded.entries.is_empty());
        let effective = inspected.loaded.as_ref().ok().and_then(|loaded| loaded.keep.value(loaded.entries.first()?));

        let unpatched = headers.first_header().cloned();
        let ending = Ending {
            mark: lost_lines.mark,
            any_text: lost_lines.any_text,
            lost: &lost_lines.lost,
            effective,
            release: options.release,
            file_name: options.file_name,
            managed_header: managed.has_header(),
        };
        headers.finish(&ending, sink);
        let patches_bytes = patches.bytes;
        let title = patches.finish(loads, sink);
        if loads {
            let own = unpatched.as_ref().and_then(|header| header.str_member("title"));
            listing::recent_title(size, own.as_deref(), title.as_ref(), sink);
        }
        dialects.finish(sink);
        outcome.header = header_facts(unpatched.as_ref(), effective);
        let effective_id = effective.and_then(|header| header.str_member("id")).map(std::borrow::Cow::into_owned);
        outcome.id = effective_id.as_deref().map(crate::json::text::wtf8_lossy);
        outcome.version = version.map(|version| version as i64);

        if loads {
            outcome.artifacts = self.artifacts.settle(&self.held);
        }
        let rest = Rest {
            source,
            options,
            references: self.references,
            shift: self.shift,
            calls: self.calls,
            marks: self.marks,
            texts: self.texts,
            held: self.held,
            lost: &lost_lines.lost,
            parent_is_path: outcome
                .header
                .parent_session
                .as_ref()
                .is_some_and(|parent| parent.iter().any(|byte| matches!(byte, b'/' | b'\\'))),
            old,
            version: version.unwrap_or(1.0),
            size,
        };
        rest.check(&inspected, loads, sink);
        outcome.entry_ids = entry_ids(&inspected, version);
        outcome.counts.entries = inspected.loaded.as_ref().map_or(0, |loaded| loaded.entries.len() as u64);
        sizes.finish(bounded, options.storage, patches_bytes, sink);

        outcome.verdicts.push(("L", lenient.into()));
        outcome.verdicts.push(("S", strict_answer(&inspected.verdict, size)));
        if let Some(bounded) = bounded {
            outcome.verdicts.push(("R", bounded.map_or_else(|refused| refused.refusal.token(), |()| "opens").into()));
        }
        // The last word of an opening that nothing refuses before.
        if matches!(inspected.verdict, Verdict::Resumable | Verdict::Terminal)
            && let Some(throws) = inspected.loaded.as_ref().ok().and_then(|loaded| open::throws(loaded, options.release))
        {
            outcome.verdicts.push(("open", throws.into()));
        }
        let managed = managed.finish(encoding);
        if source.managed {
            outcome.verdicts.push(("M", if managed.is_ok() { "opens" } else { "malformed" }.into()));
        }
        if encoding != Encoding::Utf16Le && size > 0 {
            outcome.verdicts.extend(first_line_answers(&first_line.0, outcome.id.as_deref(), options.release));
            outcome.verdicts.push(("P", if prefix.is_listed(options.release) { "lists" } else { "skips" }.into()));
            let claimed = owner.as_ref().and_then(|owner| owner.claim(effective_id.as_deref().unwrap_or(owner.own_id())));
            outcome.owner = claimed.and_then(|claim| owner_area::named(source, claim, sink));
            if let (Some(owner), Some(id)) = (owner, effective_id) {
                outcome.verdicts.push(("O", owner_answer(&owner.finish(&id))));
            }
        }
        verdict::unexplained(source, &inspected.verdict, sink);
        if source.managed {
            verdict::unexplained_managed(source, managed, sink);
        }
        outcome
    }
}

/// The exact answers of the readers that look at the first line alone.
fn first_line_answers(line: &[u8], id: Option<&str>, release: Release) -> Vec<(&'static str, Answer)> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let bounded = if first_line::bounded_header(line).is_some() { "opens" } else { "malformed" };
    let inventory = first_line::inventory(text).map_or_else(|failure| failure.to_string().into(), |_| Answer::from("lists"));
    let mut answers = vec![("H", bounded.into()), ("I", inventory)];
    if let Some(id) = id.filter(|_| Difference::PickerStar.in_effect(release)) {
        let star = match first_line::picker_star(text, id.as_bytes()) {
            Star::Append => "stars",
            Star::Upgrade => "stars after an upgrade of the header",
            Star::IdentityChanged => "Selected session identity changed.",
            Star::OldFormat => "Session format requires an upgrade.",
        };
        answers.push(("K", star.into()));
    }
    answers
}

/// The exact answer of reader O: whether the transcript names an owner of task artifacts.
fn owner_answer(owner: &Result<Option<Locator>, owner::Refusal>) -> Answer {
    match owner {
        Ok(None) => "no owner".into(),
        Ok(Some(_)) => "owner".into(),
        Err(refusal) => refusal.to_string().into(),
    }
}

/// The exact answer of reader S on the bytes.
fn strict_answer(verdict: &Verdict, size: u64) -> Answer {
    match verdict {
        _ if size > inspect::EAGER_MAX => Reason::Oversized { size }.token().into(),
        Verdict::Resumable => "resumable".into(),
        Verdict::Terminal => "terminal".into(),
        Verdict::Error(reason) => reason.token().into(),
    }
}

/// The version that gjc takes a header for.
fn version_of(header: &Value) -> f64 {
    header.get("version").and_then(View::as_f64).unwrap_or(1.0)
}

fn header_facts(unpatched: Option<&Value>, effective: Option<&Value>) -> HeaderFacts {
    let header = effective.or(unpatched);
    let text = |header: Option<&Value>, key: &str| header.and_then(|header| header.str_member(key)).map(|text| text.into_owned());
    HeaderFacts {
        cwd: text(header, "cwd"),
        unpatched_cwd: text(unpatched, "cwd"),
        title: text(header, "title"),
        parent_session: text(header, "parentSession"),
        timestamp: text(header, "timestamp"),
    }
}

/// Ids as the file has them: of version 1 there are none to compare.
fn entry_ids(inspected: &Inspected, version: Option<f64>) -> EntryIds {
    let (Ok(loaded), Some(2.0..)) = (&inspected.loaded, version) else { return EntryIds::default() };
    let entries = loaded.entries.iter().filter(|fact| !fact.kind.is_header());
    EntryIds::new(entries.filter_map(|fact| loaded.ids.text(fact.id)))
}

/// What the streaming pass left for the end.
struct Rest<'r> {
    source: &'r Source,
    options: &'r Options<'r>,
    references: migrate::References,
    shift: migrate::Shift,
    calls: tool_pairing::Calls,
    marks: context::Marks,
    texts: tree::Texts,
    held: super::Held,
    lost: &'r LostIds,
    parent_is_path: bool,
    old: HashSet<crate::transcript::Id>,
    /// Version of the file.
    version: f64,
    /// Bytes of the file.
    size: u64,
}

impl Rest<'_> {
    fn check(mut self, inspected: &Inspected, loads: bool, sink: &mut dyn Sink) {
        let Some(loaded) = inspected.loaded.as_ref().ok().filter(|_| loads) else {
            // gjc loads nothing: only sizes are said of what the file holds.
            self.held.release(sink, |_, finding| finding.code.area != "size");
            return;
        };
        self.calls.settle(&self.held);
        let explained = match &inspected.migrated {
            Some(Ok(migrated)) => migrate::check(self.source, loaded, migrated, &self.old, &self.references, &self.shift, sink),
            _ => {
                migrate::throws(self.source, loaded, self.version, sink);
                self.held.release(sink, |_, _| false);
                return;
            }
        };
        // A marker that makes opening throw is told as that.
        let tree = Tree::new(loaded);
        // Nothing asks for the messages of the context: they are freed at once. Its path is that of its leaf.
        let context = crate::transcript::context::build(&tree, Leaf::Last, self.options.release);
        let (path, compaction) = match context {
            Ok(context) => {
                let weight = Some(&context).filter(|_| loaded.keep.weighs() && is_measured(&inspected.verdict, self.size));
                if let Some(weight) = weight.and_then(|context| context.weight()) {
                    quota::REPLAYED_CONTEXT.read_within(self.source.file(), weight, self.options.budget, sink);
                }
                (context.path, Ok(context.compaction))
            }
            Err(throw) => (tree.path_to(Leaf::Last), Err(throw)),
        };
        let throwing = open_throws(loaded, &path.entries, compaction.as_ref().ok().copied().flatten());
        let marker = |entry: usize| throwing.contains(&entry) && loaded.entries[entry].hazards.any(Hazards::PAYLOAD);
        std::mem::take(&mut self.held)
            .release(sink, |entry, finding| *finding.code == crate::check::blob::codes::SPILL_MARKER_INVALID && marker(entry));
        for (number, fact) in loaded.entries.iter().enumerate().skip(1) {
            let mut fact = *fact;
            if explained.first_kept.contains(&number) {
                fact.faults.clear(Field::FirstKeptEntryId);
            }
            let place = if self.version < 2.0 { self.source.numbered(&fact) } else { self.source.fact(&fact, &loaded.ids) };
            entry::schema(&fact, place, sink);
        }
        let mut throwing: Vec<usize> = throwing.into_iter().collect();
        throwing.sort_unstable();
        for entry in throwing {
            let fact = &loaded.entries[entry];
            sink.push(Finding::new(&entry::codes::OPEN_THROWS, self.source.fact(fact, &loaded.ids), why_open_throws(fact)));
        }

        let forest = Forest::new(&tree);
        let mut place_on_path = vec![u32::MAX; loaded.entries.len()];
        path.entries.iter().enumerate().for_each(|(place, entry)| place_on_path[*entry] = place as u32);
        let graph = Graph {
            source: self.source,
            loaded,
            tree: &tree,
            forest: &forest,
            path: &path,
            place_on_path: &place_on_path,
            marks: &self.marks,
            renamed: self.version < 2.0,
        };
        let labels = self.references.labels(&loaded.ids, &explained.references);
        tree::check(&graph, &std::mem::take(&mut self.texts), self.lost, &labels, self.parent_is_path, sink);
        if !self.options.context {
            return;
        }
        match &compaction {
            Ok(compaction) => {
                self.budget(&inspected.verdict, sink);
                let mut told = explained.first_kept;
                told.extend(&explained.references);
                context::check(&graph, *compaction, &told, &self.marks, sink);
                tool_pairing::check(&graph, &self.calls, *compaction, sink);
            }
            Err(throw) => {
                crash(&graph, self.options, throw, sink);
                context::check(&graph, None, &HashSet::new(), &self.marks, sink);
                tool_pairing::check(&graph, &self.calls, None, sink);
            }
        }
    }

    fn budget(&self, verdict: &Verdict, sink: &mut dyn Sink) {
        if let Verdict::Error(Reason::ContextTooLarge { bytes }) = verdict {
            let message = format!("The rebuilt context measures {bytes} bytes; the budget is {}.", self.options.budget);
            sink.push(Finding::new(&context::codes::CONTEXT_TOO_LARGE, self.source.file(), message));
        }
    }
}

/// Whether gjc measures the context of a file: it comes so far, and of a larger file it builds that of the tail alone.
const fn is_measured(verdict: &Verdict, size: u64) -> bool {
    let reached = matches!(verdict, Verdict::Resumable | Verdict::Terminal | Verdict::Error(Reason::ContextTooLarge { .. }));
    reached && size <= FILE_CAP
}

/// Building the default context throws: names the entry, unless the schema told of it.
fn crash(graph: &Graph<'_>, options: &Options<'_>, throw: &crate::transcript::Throw, sink: &mut dyn Sink) {
    let mut settings = Settings::default();
    let culprit = graph.path.entries.iter().find(|entry| settings.take(graph.loaded, **entry, options.release).is_err());
    if let Some(entry) = culprit
        && graph.loaded.entries[*entry].faults == Faults::NONE
    {
        let message = format!("Building the context throws at this entry: {throw}.");
        sink.push(Finding::new(&entry::codes::ENTRY_CRASHES_REPLAY, graph.place(*entry), message));
    }
}

/// The entries that make opening throw: a replay payload or too deep nesting anywhere, or on the path what no compaction covers.
fn open_throws(loaded: &Loaded<Facts>, path: &[usize], compaction: Option<Compaction>) -> HashSet<usize> {
    if loaded.entries.iter().all(|fact| fact.hazards.is_empty() && !fact.is_deep()) {
        return HashSet::new();
    }
    let numbers = 0..loaded.entries.len();
    let anywhere = |entry: &usize| loaded.entries[*entry].hazards.any(Hazards::ANYWHERE) || loaded.entries[*entry].is_deep();
    let mut throwing: HashSet<usize> = numbers.filter(anywhere).collect();
    let materialised = open::materialised(path, compaction);
    throwing.extend(materialised.iter().filter(|entry| loaded.entries[**entry].hazards.any(Hazards::IN_CONTEXT)));
    throwing
}

fn why_open_throws(fact: &Fact) -> &'static str {
    let hazards = fact.hazards;
    if fact.is_deep() {
        "A value of the entry is nested more than 100,000 levels deep: gjc walks it with functions that recurse."
    } else if hazards.any(Hazards::REPLAY_PAYLOAD) {
        "The message has an OpenAI replay payload over content that is no list of blocks."
    } else if hazards.any(Hazards::NULL_BLOCK) {
        "The content of the assistant message holds null."
    } else if hazards.any(Hazards::PAYLOAD) {
        "The cold-spill marker has no payloads, or one without a usable reference."
    } else {
        "A blob reference of the entry is no possible file name."
    }
}
