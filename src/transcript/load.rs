//! Reader L: from the values of a file to its entries (spec 01 §2.2, §5). Every rule of loading lives here once; what is
//! kept of a record is the business of a [`Keep`].
//!
//! A [`Loader`] is fed in file order and answers for each record what became of it, so that a check reports what the
//! replay did instead of replaying again.

use super::entry::EntryKind;
use super::header;
use super::ids::{Id, Ids};
use super::patch;
use super::throw::Throw;
use crate::finding::Release;
use crate::json::jsonl::{Event, Found, Lines};
use crate::json::{Kind, Value, View};
use std::io::{self, Read};

/// Where a record stands in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct At {
    /// 1-based line it begins on.
    pub line: u64,
    /// Byte offset of its first byte.
    pub offset: u64,
    /// Bytes of its text.
    pub len: u64,
}

impl From<&Found<'_>> for At {
    fn from(found: &Found<'_>) -> Self {
        At { line: found.line, offset: found.offset, len: found.end - found.offset }
    }
}

/// What the loader knows of a record when it becomes an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Its kind.
    pub kind: EntryKind,
    /// Its `id`.
    pub id: Id,
    /// Its `parentId`.
    pub parent: Id,
    /// Its place.
    pub at: At,
}

/// What is kept of each entry: the whole value ([`Whole`]), or what a check needs ([`super::facts::Facts`]).
pub trait Keep {
    /// One kept entry.
    type Entry;
    /// Keeps a record that became an entry.
    fn keep<'v, V: View<'v>>(&mut self, record: V, seen: Seen, ids: &mut Ids) -> Self::Entry;
    /// The kind of a kept entry.
    fn kind(&self, entry: &Self::Entry) -> EntryKind;
    /// A header patch sets the member `key` of the header.
    fn set_header<'v, V: View<'v>>(&mut self, header: &mut Self::Entry, key: &'static str, value: V);
    /// An entry patch replaces the `message` of a `message` entry.
    fn set_message<'v, V: View<'v>>(&mut self, entry: &mut Self::Entry, message: V, ids: &mut Ids);
}

/// Keeps the value of every entry.
#[derive(Clone, Copy, Default, Debug)]
pub struct Whole;

impl Keep for Whole {
    type Entry = Value;
    fn keep<'v, V: View<'v>>(&mut self, record: V, _: Seen, _: &mut Ids) -> Value {
        record.to_value()
    }
    fn kind(&self, entry: &Value) -> EntryKind {
        EntryKind::of(entry)
    }
    fn set_header<'v, V: View<'v>>(&mut self, header: &mut Value, key: &'static str, value: V) {
        if let Some(header) = header.as_object_mut() {
            header.set(key, value.to_value());
        }
    }
    fn set_message<'v, V: View<'v>>(&mut self, entry: &mut Value, message: V, _: &mut Ids) {
        if let Some(entry) = entry.as_object_mut() {
            entry.set("message", message.to_value());
        }
    }
}

/// What became of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is the header that counts; number of the entry.
    Header(usize),
    /// It is a further header, kept as an entry that nothing reads; number of the entry.
    FurtherHeader(usize),
    /// It became this entry.
    Entry(usize),
    /// A header patch was applied.
    HeaderPatched {
        /// It carried `starred`, which a header without the capability ignores.
        star_ignored: bool,
    },
    /// An entry patch replaced the message of this entry.
    EntryPatched(usize),
    /// A valid entry patch without `message` met its target and changed nothing.
    EntryPatchEmpty(usize),
    /// A patch that had no effect.
    PatchIgnored(Ignored),
    /// Loading throws here; nothing behind this record matters.
    Throws(Throw),
    /// Loading has thrown, or yields nothing (entry 0 is no header with a string `id`): nothing is kept.
    Dropped,
}

/// Why a patch had no effect. Validity is asked first: it does not depend on where the patch stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ignored {
    /// The record is not valid (spec 01 §5.2).
    Invalid(patch::Fault),
    /// Valid, but no header stands before it.
    BeforeHeader,
    /// Valid, but the header's version is absent or below 4.
    BeforeVersion4,
    /// No entry before it has the id.
    TargetMissing,
    /// The latest entry with the id is no `message`; its number.
    TargetNotMessage(usize),
}

/// A loaded transcript.
pub struct Loaded<K: Keep> {
    /// Header first; empty when gjc loads nothing.
    pub entries: Vec<K::Entry>,
    /// What kept them.
    pub keep: K,
    /// The ids that occur.
    pub ids: Ids,
}

/// Values behind a broken line that are known to be too many for one call: from this number on loading throws a
/// `RangeError`. 500,000 pass, 1,000,000 throw; where between the engine gives up is not known, so the answer is "loads"
/// until it is known to be "throws".
const SPREAD_THROWS: u64 = 1_000_000;

/// The header that counts.
struct Header {
    entry: usize,
    /// Version 4 or 5: patches have effect.
    patchable: bool,
    star_capable: bool,
}

/// Turns records into entries, in file order.
pub struct Loader<K: Keep> {
    release: Release,
    keep: K,
    ids: Ids,
    entries: Vec<K::Entry>,
    /// Number of the latest entry of an id, by [`Id::index`]; `u32::MAX` when there is none.
    by_id: Vec<u32>,
    header: Option<Header>,
    /// The first `session` record was seen and its version checked.
    version_checked: bool,
    /// What does not begin with a header loads as nothing.
    needs_header: bool,
    /// Entry 0 is no header with a string id: the result will be empty.
    nothing: bool,
    thrown: Option<Throw>,
    values: u64,
    /// Values since the latest broken line, when a value stood before that line: they are appended in one call.
    spread: Option<u64>,
}

const NO_ENTRY: u32 = u32::MAX;

impl<K: Keep> Loader<K> {
    /// A loader that has seen nothing.
    pub fn new(keep: K, release: Release) -> Self {
        Loader {
            release,
            keep,
            ids: Ids::default(),
            entries: Vec::new(),
            by_id: Vec::new(),
            header: None,
            version_checked: false,
            needs_header: true,
            nothing: false,
            thrown: None,
            values: 0,
            spread: None,
        }
    }

    /// The same for a reader that looks for the header elsewhere too: entries count although no header is the first of them.
    pub fn without_header(keep: K, release: Release) -> Self {
        Loader { needs_header: false, ..Loader::new(keep, release) }
    }

    /// Takes the next event of a file; answers what became of the value, if it is one.
    pub fn event(&mut self, event: &Event<'_>) -> Option<Outcome> {
        match event {
            Event::Value(found) => {
                let outcome = self.push(found.node, At::from(found));
                if !found.discarded.is_empty() {
                    self.broken_line();
                }
                Some(outcome)
            }
            Event::Skipped { .. } => {
                self.broken_line();
                None
            }
            Event::Line(_) | Event::Lost { .. } => None,
        }
    }

    /// The lenient reader recovered from a broken line.
    fn broken_line(&mut self) {
        self.spread = (self.values > 0).then_some(0);
    }

    /// Takes the next value of the file.
    pub fn push<'v, V: View<'v>>(&mut self, value: V, at: At) -> Outcome {
        self.values += 1;
        if let Some(count) = &mut self.spread {
            *count += 1;
            if *count >= SPREAD_THROWS {
                // Reading comes before everything else, so this beats whatever a record threw.
                self.thrown = Some(Throw::Range);
            }
        }
        if self.thrown.is_some() {
            return Outcome::Dropped;
        }
        match self.record(value, at) {
            Ok(outcome) => outcome,
            Err(throw) => {
                self.thrown = Some(throw.clone());
                self.forget();
                Outcome::Throws(throw)
            }
        }
    }

    fn record<'v, V: View<'v>>(&mut self, value: V, at: At) -> Result<Outcome, Throw> {
        if value.kind() == Kind::Null {
            return Err(Throw::Type("null is not an object (evaluating 'record.type')"));
        }
        let kind = EntryKind::of(value);
        if kind.is_header() && !self.version_checked {
            header::version(value)?;
            self.version_checked = true;
        }
        if self.nothing {
            return Ok(Outcome::Dropped);
        }
        Ok(match kind {
            EntryKind::HeaderPatch => self.header_patch(value),
            EntryKind::EntryPatch => self.entry_patch(value),
            _ => self.entry(value, kind, at),
        })
    }

    fn entry<'v, V: View<'v>>(&mut self, value: V, kind: EntryKind, at: At) -> Outcome {
        let number = self.entries.len();
        if self.needs_header && number == 0 && !(kind.is_header() && value.str_member("id").is_some()) {
            self.nothing = true;
            self.forget();
            return Outcome::Dropped;
        }
        let id = self.ids.of(value.get("id"));
        let parent = self.ids.of(value.get("parentId"));
        let entry = self.keep.keep(value, Seen { kind, id, parent, at }, &mut self.ids);
        self.entries.push(entry);
        if !kind.is_header() {
            if self.by_id.len() <= id.index() {
                self.by_id.resize(id.index() + 1, NO_ENTRY);
            }
            self.by_id[id.index()] = number as u32;
            return Outcome::Entry(number);
        }
        if self.header.is_some() {
            return Outcome::FurtherHeader(number);
        }
        // The first header is the record whose version was checked.
        let patchable = value.get("version").and_then(View::as_f64).is_some_and(|version| version >= 4.0);
        self.header = Some(Header { entry: number, patchable, star_capable: header::star_capable(value) });
        Outcome::Header(number)
    }

    fn header_patch<'v, V: View<'v>>(&mut self, record: V) -> Outcome {
        let patch = match patch::header_patch(record, self.release) {
            Ok(patch) => patch,
            Err(fault) => return Outcome::PatchIgnored(Ignored::Invalid(fault)),
        };
        let Loader { header, entries, keep, .. } = self;
        let header = match header {
            None => return Outcome::PatchIgnored(Ignored::BeforeHeader),
            Some(header) if !header.patchable => return Outcome::PatchIgnored(Ignored::BeforeVersion4),
            Some(header) => header,
        };
        let star = patch.starred.filter(|_| header.star_capable);
        let entry = &mut entries[header.entry];
        for (key, value) in [("cwd", patch.cwd), ("title", patch.title), ("titleSource", patch.title_source), ("starred", star)] {
            if let Some(value) = value {
                keep.set_header(entry, key, value);
            }
        }
        Outcome::HeaderPatched { star_ignored: patch.starred.is_some() && star.is_none() }
    }

    fn entry_patch<'v, V: View<'v>>(&mut self, record: V) -> Outcome {
        let patch = match patch::entry_patch(record) {
            Ok(patch) => patch,
            Err(fault) => return Outcome::PatchIgnored(Ignored::Invalid(fault)),
        };
        match &self.header {
            None => return Outcome::PatchIgnored(Ignored::BeforeHeader),
            Some(header) if !header.patchable => return Outcome::PatchIgnored(Ignored::BeforeVersion4),
            Some(_) => {}
        }
        let target = self.ids.find(&patch.entry_id.as_str().unwrap_or_default());
        let number = target.and_then(|id| self.by_id.get(id.index())).copied().filter(|number| *number != NO_ENTRY);
        let Some(number) = number.map(|number| number as usize) else {
            return Outcome::PatchIgnored(Ignored::TargetMissing);
        };
        let Loader { entries, keep, ids, .. } = self;
        let entry = &mut entries[number];
        if keep.kind(entry) != EntryKind::Message {
            return Outcome::PatchIgnored(Ignored::TargetNotMessage(number));
        }
        match patch.message {
            None => Outcome::EntryPatchEmpty(number),
            Some(message) => {
                keep.set_message(entry, message, ids);
                Outcome::EntryPatched(number)
            }
        }
    }

    /// Frees what nobody will ask for.
    fn forget(&mut self) {
        self.entries = Vec::new();
        self.by_id = Vec::new();
        self.header = None;
    }

    /// The entries so far; empty once loading threw or yields nothing.
    pub fn entries(&self) -> &[K::Entry] {
        &self.entries
    }
    /// What keeps the entries.
    pub fn keep(&self) -> &K {
        &self.keep
    }
    /// The ids that occurred so far.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The same, for another reader of the file that compares ids too. More ids than the entries have do no harm.
    pub const fn ids_mut(&mut self) -> &mut Ids {
        &mut self.ids
    }

    /// The result of loading.
    ///
    /// # Errors
    /// What gjc throws.
    pub fn finish(self) -> Result<Loaded<K>, Throw> {
        match self.thrown {
            Some(throw) => Err(throw),
            None => Ok(Loaded { entries: self.entries, keep: self.keep, ids: self.ids }),
        }
    }
}

/// `loadEntriesFromFile`: reads a whole file.
///
/// # Errors
/// The outer error is the input's, the inner one what gjc throws.
pub fn load<K: Keep, R: Read>(input: R, keep: K, release: Release) -> io::Result<Result<Loaded<K>, Throw>> {
    let mut lines = Lines::new(input);
    let mut loader = Loader::new(keep, release);
    while let Some(event) = lines.next()? {
        loader.event(&event);
    }
    Ok(loader.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","cwd":"/a"}"#;
    const MESSAGE: &str = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user"}}"#;

    /// Entries as text, or what was thrown; and the outcome of the last value.
    fn run(lines: &[&str], release: Release) -> (Result<Vec<String>, String>, Outcome) {
        let text = lines.join("\n");
        let mut lines = Lines::new(text.as_bytes());
        let mut loader = Loader::new(Whole, release);
        let mut last = Outcome::Dropped;
        while let Some(event) = lines.next().unwrap() {
            last = loader.event(&event).unwrap_or(last);
        }
        let entries = loader.finish().map(|loaded| loaded.entries.iter().map(to_text).collect());
        (entries.map_err(|throw| throw.to_string()), last)
    }
    fn loaded(lines: &[&str]) -> Vec<String> {
        run(lines, Release::V0_17).0.unwrap()
    }
    fn last(lines: &[&str]) -> Outcome {
        run(lines, Release::V0_17).1
    }

    #[test]
    fn nothing_is_loaded_unless_the_first_entry_is_a_header_with_a_string_id() {
        assert!(loaded(&[]).is_empty());
        assert!(loaded(&[MESSAGE, HEADER]).is_empty());
        assert!(loaded(&["42", HEADER]).is_empty());
        assert!(loaded(&[r#"{"type":"session","version":5,"id":7}"#]).is_empty());
        assert_eq!(loaded(&["garbage", HEADER]), [HEADER]);
    }

    #[test]
    fn a_null_throws_wherever_it_stands() {
        for lines in [&["null"][..], &["null", HEADER], &[HEADER, "null"], &[MESSAGE, "null"]] {
            let (thrown, outcome) = run(lines, Release::V0_17);
            assert_eq!(thrown, Err("null is not an object (evaluating 'record.type')".to_owned()));
            assert!(matches!(outcome, Outcome::Throws(_) | Outcome::Dropped));
        }
    }

    #[test]
    fn the_first_header_wherever_it_stands_must_have_an_acceptable_version() {
        let six = r#"{"type":"session","version":6,"id":"s"}"#;
        let message = "Unsupported session version: 6".to_owned();
        assert_eq!(run(&[six], Release::V0_17).0, Err(message.clone()));
        assert_eq!(run(&[MESSAGE, six], Release::V0_17).0, Err(message));
        assert_eq!(loaded(&[HEADER, six]).len(), 2);
    }

    #[test]
    fn a_header_patch_changes_the_header_and_is_no_entry() {
        let patch = r#"{"type":"header_patch","patch":{"title":"","cwd":"/b"}}"#;
        assert_eq!(loaded(&[HEADER, patch]), [r#"{"type":"session","version":5,"id":"s","cwd":"/b","title":""}"#]);
        assert_eq!(last(&[HEADER, patch]), Outcome::HeaderPatched { star_ignored: false });
    }

    #[test]
    fn a_star_needs_the_capability_but_the_rest_of_its_patch_does_not() {
        let patch = r#"{"type":"header_patch","patch":{"title":"t","starred":true}}"#;
        let capable = r#"{"type":"session","version":5,"starredPatchVersion":1,"id":"s"}"#;
        assert_eq!(loaded(&[HEADER, patch]), [r#"{"type":"session","version":5,"id":"s","cwd":"/a","title":"t"}"#]);
        assert_eq!(last(&[HEADER, patch]), Outcome::HeaderPatched { star_ignored: true });
        assert!(loaded(&[capable, patch])[0].ends_with(r#""title":"t","starred":true}"#));
        let old = run(&[capable, patch], Release::V0_15);
        assert_eq!(old.0, Ok(vec![capable.to_owned()]));
        assert!(matches!(old.1, Outcome::PatchIgnored(Ignored::Invalid(_))));
    }

    #[test]
    fn an_entry_patch_replaces_the_whole_message_of_the_nearest_entry_with_the_id() {
        let later = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"2"}}"#;
        let patch = r#"{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"x"}}}"#;
        let entries = loaded(&[HEADER, MESSAGE, later, patch]);
        assert_eq!(entries[1], MESSAGE);
        assert_eq!(entries[2], r#"{"type":"message","id":"a","parentId":null,"message":{"role":"x"}}"#);
        assert_eq!(last(&[HEADER, MESSAGE, later, patch]), Outcome::EntryPatched(2));
    }

    #[test]
    fn a_patch_without_a_target_is_ignored() {
        let label = r#"{"type":"label","id":"a","parentId":null,"targetId":"x"}"#;
        let patch = r#"{"type":"entry_patch","entryId":"a","patch":{"message":{}}}"#;
        let old = r#"{"type":"session","version":3,"id":"s"}"#;
        for (lines, why) in [
            (vec![HEADER, patch], Ignored::TargetMissing),
            (vec![HEADER, patch, MESSAGE, patch, label, patch], Ignored::TargetNotMessage(2)),
            (vec![patch], Ignored::BeforeHeader),
            (vec![old, MESSAGE, patch], Ignored::BeforeVersion4),
        ] {
            assert_eq!(last(&lines), Outcome::PatchIgnored(why), "{lines:?}");
        }
    }

    #[test]
    fn too_many_values_behind_a_broken_line_overflow_the_call() {
        let text = |count: usize| format!("{HEADER}\n}}\n{}", "7\n".repeat(count));
        let result = |count| load(text(count).as_bytes(), Whole, Release::V0_17).unwrap().map(|loaded| loaded.entries.len());
        assert_eq!(result(500_000), Ok(500_001));
        assert_eq!(result(1_000_000), Err(Throw::Range));
    }
}
