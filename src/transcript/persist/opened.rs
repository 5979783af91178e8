//! A transcript that is open for writing: what each operation of gjc's session manager does to its bytes (spec 01 §5.4,
//! §6, §8; 04 §4.8, §7.3). The file is a vector of bytes; who holds the real one asks what was done to them
//! ([`Opened::take_written`]), does the same, and takes the operation back when that fails ([`Opened::undo`]).

use super::prepare::{drop_transient_details, prepare_counting};
use super::rewrite::{stored, write_line};
use super::sanitise::sanitise;
use super::settle::{Origin, settle};
use super::tally::Tally;
use crate::finding::{Difference, Release};
use crate::json::{JsStr, JsString, Object, Value, View, text};
use crate::transcript::EntryKind;
use crate::transcript::blobs::BlobStore;
use crate::transcript::entry::Role;
use crate::transcript::header;
use crate::transcript::inspect::{self, Cause, EAGER_MAX, Options, Reason, Verdict};
use crate::transcript::load::{Whole, load};
use crate::transcript::migrate::{IdSource, migrate};
use crate::transcript::open::{self, Opening};

/// Longest name of a session, in UTF-16 units.
const LONGEST_NAME: usize = 1_000;

/// Who gave a session its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameSource {
    /// gjc itself; ignored once the user gave one.
    Auto,
    /// The user.
    User,
}

impl NameSource {
    /// `auto` or `user`.
    pub const fn text(self) -> &'static str {
        match self {
            NameSource::Auto => "auto",
            NameSource::User => "user",
        }
    }
}

/// A transcript open for writing.
#[derive(Clone)]
pub struct Opened {
    /// The bytes of the file now.
    file: Vec<u8>,
    disk: Disk,
    /// Header(s) and entries, migrated and sanitised, otherwise as they were read or appended.
    entries: Vec<Value>,
    /// Where each of them comes from.
    origins: Vec<Origin>,
    /// The `id` of the entry that the next one is a child of.
    leaf: Value,
    release: Release,
    tally: Tally,
    /// What was done to the file and not yet asked for.
    written: Vec<Written>,
}

/// What the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Disk {
    /// There is none: it is written when an answer of the assistant exists, or on demand.
    Absent,
    /// Of an older version: the next write, or closing, rewrites it.
    Older,
    /// Appended to.
    Current,
    /// A branch of a session that has no file: it was written, and entries wait again for an answer of the assistant.
    Waiting {
        /// There are entries that wait.
        behind: bool,
    },
    /// There is none and never will be.
    Never,
}

/// What an operation did to the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Written {
    /// These bytes were added at the end: one record, one write.
    Record(Vec<u8>),
    /// The file was written as a whole.
    Whole(Rewritten),
}

/// A rewrite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// So many of the first bytes of [`Opened::file`] are what was written; records behind them came later.
    pub length: usize,
    /// What the file was; empty where there was none.
    pub replaced: Vec<u8>,
    disk: Disk,
}

/// A transcript before an operation.
pub struct Before {
    header: Option<Value>,
    entries: usize,
    leaf: Value,
    tally: Tally,
}

/// Where a transcript lies (spec 04 §7.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// At a path that the user named: what opening sanitises is appended at once.
    Explicit,
    /// In a managed scope: what opening sanitises stays in memory until the next rewrite.
    Managed,
    /// In memory only: nothing is ever written.
    Nowhere,
}

/// Why gjc does not open a transcript for writing. Nothing was written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// Strict inspection refuses it.
    #[error("Could not open session: {}", .0.token())]
    Inspection(Reason),
    /// Inspection accepts it, and opening throws (spec 01 §2.5): the engine, or the operating system with this code.
    #[error("{}", .code.unwrap_or("TypeError"))]
    Throws {
        /// `ENAMETOOLONG` when the operating system throws.
        code: Option<&'static str>,
    },
}

/// Opens a transcript for writing at an explicit destination. `ids` gives version-1 entries their ids.
///
/// # Errors
/// Why gjc does not.
pub fn open_for_writing(file: Vec<u8>, ids: &mut impl IdSource, store: &mut dyn BlobStore, release: Release) -> Result<Opened, Refusal> {
    open_at(Destination::Explicit, file, ids, store, release)
}

/// Opens a transcript for writing where it lies.
///
/// # Errors
/// Why gjc does not.
pub fn open_at(
    destination: Destination,
    file: Vec<u8>,
    ids: &mut impl IdSource,
    store: &mut dyn BlobStore,
    release: Release,
) -> Result<Opened, Refusal> {
    let size = file.len() as u64;
    let malformed = |cause| Refusal::Inspection(Reason::Malformed(cause));
    if size > EAGER_MAX {
        return Err(Refusal::Inspection(Reason::Oversized { size }));
    }
    // Memory can be read; an answer without entries would be refused below.
    let inspected = inspect::bytes(&file[..], size, Options::new(release)).map_err(|_| Refusal::Inspection(Reason::ReadFailed))?;
    if let Verdict::Error(reason) = &inspected.verdict {
        return Err(Refusal::Inspection(reason.clone()));
    }
    if let Opening::Throws { code } = open::explicit(&inspected.verdict, inspected.loaded.as_ref().ok(), false, release) {
        return Err(Refusal::Throws { code });
    }
    let mut loaded = load(&file[..], Whole, release)
        .map_err(|_| Refusal::Inspection(Reason::ReadFailed))?
        .map_err(|throw| malformed(Cause::Load(throw)))?;
    let migrated = migrate(&mut loaded, ids).map_err(|throw| malformed(Cause::Migration(throw)))?;
    Ok(Opened::begin(destination, file, loaded.entries, migrated.from, store, release))
}

impl Opened {
    /// A new session: a header, and entries taken over from another session. Nothing is written before an answer of the
    /// assistant exists, or it is asked for; with [`Destination::Nowhere`] not even then.
    pub fn create(
        destination: Destination,
        header: Value,
        taken_over: Vec<(Value, Origin)>,
        store: &mut dyn BlobStore,
        release: Release,
    ) -> Self {
        let (mut entries, mut origins) = (vec![header], vec![Origin::Session]);
        for (entry, origin) in taken_over {
            entries.push(entry);
            origins.push(origin);
        }
        let leaf = last_id(&entries);
        let disk = if destination == Destination::Nowhere { Disk::Never } else { Disk::Absent };
        let (tally, written) = (Tally::default(), Vec::new());
        let mut created = Opened { file: Vec::new(), disk, entries, origins, leaf, release, tally, written };
        created.write_first(store);
        created
    }

    /// Goes on where reading and inspecting ended: `entries` are those of `file`, migrated from version `from`; the first
    /// one is the header. Sanitises replay payloads, which already writes.
    fn begin(destination: Destination, file: Vec<u8>, entries: Vec<Value>, from: f64, store: &mut dyn BlobStore, release: Release) -> Self {
        let disk = if from < header::CURRENT_VERSION { Disk::Older } else { Disk::Current };
        let origins = vec![Origin::File; entries.len()];
        // The last entry of the file, whatever it is.
        let leaf = last_id(&entries);
        let mut opened = Opened { file, disk, entries, origins, leaf, release, tally: Tally::default(), written: Vec::new() };
        let patches = opened.sanitise();
        if destination == Destination::Explicit {
            opened.write_patches(patches, store);
        }
        opened
    }

    /// Whether there is a file.
    pub fn on_disk(&self) -> bool {
        !matches!(self.disk, Disk::Absent | Disk::Never)
    }
    /// The bytes of the file now.
    pub fn file(&self) -> &[u8] {
        &self.file
    }
    /// Header(s) and entries as the session knows them, references unresolved.
    pub fn entries(&self) -> &[Value] {
        &self.entries
    }
    /// True while the next write, or closing, rewrites the file because it is of an older version.
    pub fn rewrite_pending(&self) -> bool {
        self.disk == Disk::Older
    }
    /// True while entries wait for an answer of the assistant though there is a file.
    pub fn is_behind(&self) -> bool {
        self.disk == Disk::Waiting { behind: true }
    }
    /// From now on entries wait for an answer of the assistant, if there is none yet, though the file was written: so it is with a
    /// branch of a session without a file.
    pub fn wait_again(&mut self) {
        if self.disk == Disk::Current && !self.has_answer() {
            self.disk = Disk::Waiting { behind: false };
        }
    }
    /// Whether the file holds what the session does, so that records are added to it.
    fn is_appended_to(&self) -> bool {
        matches!(self.disk, Disk::Current | Disk::Waiting { behind: false })
    }
    /// What was changed in the records that were written so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }
    /// The `id` of the entry that the next one is a child of; `null` when the next one is a root.
    pub const fn leaf(&self) -> &Value {
        &self.leaf
    }
    /// Moves the leaf. Nothing is written: reading the file again finds its last entry.
    pub fn set_leaf(&mut self, leaf: Value) {
        self.leaf = leaf;
    }
    /// Where an entry comes from, by its number.
    pub fn origin(&self, entry: usize) -> Origin {
        self.origins.get(entry).copied().unwrap_or(Origin::Session)
    }
    /// The entries as a context of the running session sees them: references resolved.
    pub fn live_entries(&self, store: &mut dyn BlobStore) -> Vec<Value> {
        let settled = |(number, entry): (usize, &Value)| {
            let mut entry = entry.clone();
            if !EntryKind::of(&entry).is_header() {
                settle(&mut entry, store, self.release, self.origin(number), &mut Tally::default());
            }
            entry
        };
        self.entries.iter().enumerate().map(settled).collect()
    }

    /// What was done to the file since this was last asked, in order.
    pub fn take_written(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.written)
    }
    /// Whether something was done to the file since that was last asked.
    pub fn has_written(&self) -> bool {
        !self.written.is_empty()
    }
    /// Makes one rewrite of records that were added since then; false when it was one already.
    pub fn fold(&mut self, store: &mut dyn BlobStore) -> bool {
        if !self.written.iter().all(|written| matches!(written, Written::Record(_))) {
            return false;
        }
        for written in self.take_written() {
            if let Written::Record(record) = written {
                self.file.truncate(self.file.len().saturating_sub(record.len()));
            }
        }
        self.rewrite(store);
        true
    }
    /// What [`Opened::undo`] needs to know of now. An operation adds entries, moves the leaf, and changes the header; nothing
    /// else.
    pub fn before(&self) -> Before {
        let header = self.entries.first().cloned();
        Before { header, entries: self.entries.len(), leaf: self.leaf.clone(), tally: self.tally }
    }
    /// Takes back what happened since; `undone` is what was not done to the real file, in the order in which it should have
    /// been.
    pub fn undo(&mut self, before: Before, undone: Vec<Written>) {
        for written in undone.into_iter().rev() {
            match written {
                Written::Record(record) => self.file.truncate(self.file.len().saturating_sub(record.len())),
                Written::Whole(Rewritten { replaced, disk, .. }) => {
                    self.file = replaced;
                    self.disk = disk;
                }
            }
        }
        self.entries.truncate(before.entries);
        self.origins.truncate(before.entries);
        if let (Some(first), Some(header)) = (self.entries.first_mut(), before.header) {
            *first = header;
        }
        self.leaf = before.leaf;
        self.tally = before.tally;
    }
    /// The file is gone: the next write makes it again as a whole.
    pub fn vanished(&mut self) {
        if self.disk == Disk::Current {
            self.disk = Disk::Older;
        }
    }

    /// Appends an entry, complete with its envelope. The last byte of the file is not looked at: a file without final LF
    /// gets the record glued to its last line.
    pub fn append(&mut self, mut entry: Value, store: &mut dyn BlobStore) {
        drop_transient_details(&mut entry);
        self.leaf = entry.member("id").cloned().unwrap_or_default();
        self.entries.push(entry.clone());
        self.origins.push(Origin::Session);
        self.write(entry, Origin::Session, store);
    }

    /// Gives the session a name. False when nothing came of it: nothing is left of the name, or the user's own name stands
    /// against an automatic one.
    pub fn set_name(&mut self, name: JsStr<'_>, source: NameSource, store: &mut dyn BlobStore) -> bool {
        let name = sanitise_name(name);
        let Some(header) = self.header_mut().filter(|_| !name.as_js().is_empty()) else { return false };
        if source == NameSource::Auto && header.get("titleSource").is_some_and(|source| source.is_str("user")) {
            return false;
        }
        let patch = [("title", Value::String(name)), ("titleSource", Value::string(source.text()))];
        self.patch_header(patch.into_iter().collect(), store);
        true
    }

    /// Whether the session is starred: its header can be, and is (spec 04 §2.6).
    pub fn starred(&self) -> bool {
        self.entries.first().is_some_and(|header| header::star_capable(header) && header.member("starred") == Some(&Value::Bool(true)))
    }
    /// Stars the session, or takes its star. False when it is so already. A header that cannot be starred is rewritten to one
    /// that can, without the star that it may claim, before the star itself is a record.
    pub fn set_starred(&mut self, starred: bool, store: &mut dyn BlobStore) -> bool {
        if self.starred() == starred {
            return false;
        }
        if let Some(header) = self.header_mut().filter(|header| header.get("starredPatchVersion") != Some(&Value::Number(1.0))) {
            header.remove("starred");
            header.set("starredPatchVersion", Value::Number(1.0));
            if self.is_appended_to() {
                self.rewrite(store);
            }
        }
        self.patch_header([("starred", Value::Bool(starred))].into_iter().collect(), store);
        true
    }
    /// Moves the session to another workspace: the patch says so, and the rewrite behind it folds it into the header.
    pub fn set_cwd(&mut self, cwd: Value, store: &mut dyn BlobStore) {
        let appended = self.is_appended_to();
        self.patch_header([("cwd", cwd)].into_iter().collect(), store);
        if appended {
            self.rewrite(store);
        }
    }

    /// Sets members of the header and appends the patch that says so. A capable header gets its star confirmed first
    /// (0.17), so that listings find it from the end of the file.
    fn patch_header(&mut self, patch: Object, store: &mut dyn BlobStore) {
        let release = self.release;
        let Some(header) = self.header_mut() else { return };
        for (key, value) in patch.iter() {
            header.set(key.clone(), value.clone());
        }
        let checkpoint = Difference::StarCheckpoint.in_effect(release) && !patch.contains("starred");
        let starred = header.get("starred") == Some(&Value::Bool(true));
        let capable = self.entries.first().is_some_and(header::star_capable);
        match self.disk {
            Disk::Absent | Disk::Never => return,
            Disk::Older | Disk::Waiting { behind: true } => return self.rewrite(store),
            Disk::Current | Disk::Waiting { behind: false } => {}
        }
        if checkpoint && capable {
            let star = [("starred", Value::Bool(starred))];
            self.add_record(&header_patch(star.into_iter().collect()));
        }
        self.add_record(&header_patch(patch));
    }

    /// Adds a record at the end of the file.
    fn add_record(&mut self, record: &Value) {
        let mut line = Vec::new();
        write_line(record, &mut line);
        self.file.extend_from_slice(&line);
        self.written.push(Written::Record(line));
    }

    /// Makes sure that there is a file and that it is what the session holds: writes it, or rewrites one of an older version.
    pub fn ensure_on_disk(&mut self, store: &mut dyn BlobStore) {
        if !self.is_appended_to() {
            self.rewrite(store);
        }
    }

    /// Rewrites the file, or writes it first.
    pub fn rewrite(&mut self, store: &mut dyn BlobStore) {
        if self.disk == Disk::Never {
            return;
        }
        let mut file = Vec::with_capacity(self.file.len());
        for (number, entry) in self.entries.iter().enumerate() {
            let record = stored(entry.clone(), self.origin(number), store, self.release, &mut self.tally);
            write_line(&record, &mut file);
        }
        let rewritten = Rewritten { length: file.len(), replaced: std::mem::replace(&mut self.file, file), disk: self.disk };
        self.disk = Disk::Current;
        self.written.push(Written::Whole(rewritten));
    }

    /// What closing writes: a file of an older version is rewritten, even when nothing was appended.
    pub fn finish(&mut self, store: &mut dyn BlobStore) {
        if self.disk == Disk::Older {
            self.rewrite(store);
        }
    }

    /// Closes the session; answers the bytes of the file. Closing rewrites a file of an older version, even when nothing
    /// was appended.
    pub fn close(mut self, store: &mut dyn BlobStore) -> Vec<u8> {
        self.finish(store);
        self.file
    }

    /// The first write of a new session: due when an answer of the assistant exists.
    fn write_first(&mut self, store: &mut dyn BlobStore) {
        if self.has_answer() {
            self.rewrite(store);
        }
    }

    fn has_answer(&self) -> bool {
        let answer = |entry: &Value| {
            EntryKind::of(entry) == EntryKind::Message
                && entry.member("message").is_some_and(|message| Role::of(message) == Role::Assistant)
        };
        self.entries.iter().any(answer)
    }

    fn header_mut(&mut self) -> Option<&mut Object> {
        self.entries.first_mut().and_then(Value::as_object_mut)
    }

    /// Writes one record at the end, or the whole file when that is due. The entries hold what the record says already.
    fn write(&mut self, mut record: Value, origin: Origin, store: &mut dyn BlobStore) {
        match self.disk {
            Disk::Never => return,
            Disk::Absent => return self.write_first(store),
            Disk::Older => return self.rewrite(store),
            Disk::Waiting { .. } if !self.has_answer() => return self.disk = Disk::Waiting { behind: true },
            Disk::Waiting { behind: true } => return self.rewrite(store),
            Disk::Waiting { behind: false } => self.disk = Disk::Current,
            Disk::Current => {}
        }
        settle(&mut record, store, self.release, origin, &mut self.tally);
        let record = prepare_counting(record, store, self.release, &mut self.tally);
        self.add_record(&record);
    }

    /// Takes native replay payloads out of assistant messages; answers the patches that say so.
    fn sanitise(&mut self) -> Vec<Value> {
        let mut patches = Vec::new();
        for entry in &mut self.entries {
            if let Some(message) = sanitise(entry) {
                let message = Value::Object(message.clone());
                let id = entry.member("id").cloned().unwrap_or_default();
                patches.push(entry_patch(id, message));
            }
        }
        patches
    }

    fn write_patches(&mut self, patches: Vec<Value>, store: &mut dyn BlobStore) {
        // Where a rewrite is due it holds all of them.
        if self.disk == Disk::Older && !patches.is_empty() {
            return self.rewrite(store);
        }
        for patch in patches {
            self.write(patch, Origin::File, store);
        }
    }
}

/// The `id` of the last entry that is no header; `null` without one.
fn last_id(entries: &[Value]) -> Value {
    let last = entries.iter().rev().find(|entry| !EntryKind::of(*entry).is_header());
    last.and_then(|entry| entry.member("id")).cloned().unwrap_or_default()
}

fn header_patch(patch: Object) -> Value {
    let members = [("type", Value::string("header_patch")), ("patch", Value::Object(patch))];
    Value::Object(members.into_iter().collect())
}

fn entry_patch(entry_id: Value, message: Value) -> Value {
    let patch: Object = [("message", message)].into_iter().collect();
    let members = [("type", Value::string("entry_patch")), ("entryId", entry_id), ("patch", Value::Object(patch))];
    Value::Object(members.into_iter().collect())
}

/// A name as it is stored: control characters are spaces, runs of spaces are one, trimmed, at most 1,000 units.
pub fn sanitise_name(name: JsStr<'_>) -> JsString {
    let mut spaced = Vec::with_capacity(name.as_bytes().len());
    let mut bytes = name.as_bytes().iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let control = matches!(byte, 0..=0x1F | 0x7F) || byte == 0xC2 && bytes.next_if(|next| matches!(next, 0x80..=0x9F)).is_some();
        match if control { b' ' } else { byte } {
            b' ' if spaced.last() == Some(&b' ') => {}
            byte => spaced.push(byte),
        }
    }
    JsString::from_wtf8(text::prefix(text::trim(&spaced), LONGEST_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use crate::transcript::blobs::MemoryStore;
    use crate::transcript::migrate::Seeded;

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;
    const ASK: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"x"}}"#;
    const REPLAY: &str = r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x","thinkingSignature":"s"},7],"providerPayload":{"type":"openaiResponsesHistory"},"z":1}}"#;
    const SANITISED: &str = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x"},7],"z":1}"#;

    fn open(text: &str) -> Opened {
        open_for_writing(text.into(), &mut Seeded::new(1), &mut MemoryStore::default(), Release::V0_17).unwrap()
    }
    fn refusal(text: &str, release: Release) -> String {
        open_for_writing(text.into(), &mut Seeded::new(1), &mut MemoryStore::default(), release).err().unwrap().to_string()
    }
    fn text(opened: &Opened) -> &str {
        std::str::from_utf8(opened.file()).unwrap()
    }
    fn name(text: &str) -> String {
        to_text(&Value::String(sanitise_name(JsStr::from(text))))
    }

    #[test]
    fn what_inspection_refuses_is_not_opened() {
        for text in ["", "{}\n", &format!("{HEADER}\n{{\n"), &format!("{HEADER}\n \n"), &format!("{HEADER}\n{{\"type\":\"x\"}}\n")] {
            assert_eq!(refusal(text, Release::V0_17), "Could not open session: malformed");
        }
    }

    #[test]
    fn what_throws_behind_inspection_is_not_opened() {
        let replay = REPLAY.replace("[{\"type\":\"thinking\",\"thinking\":\"x\",\"thinkingSignature\":\"s\"},7]", "\"text\"");
        assert_eq!(refusal(&format!("{HEADER}\n{replay}\n"), Release::V0_17), "TypeError");
        let null_block = ASK.replace("user", "assistant").replace("\"x\"", "[null]");
        assert_eq!(refusal(&format!("{HEADER}\n{null_block}\n"), Release::V0_17), "TypeError");
        let long = ASK.replace("\"x\"", &format!("[{{\"type\":\"image\",\"data\":\"blob:sha256:{}\"}}]", "z".repeat(256)));
        assert_eq!(refusal(&format!("{HEADER}\n{long}\n"), Release::V0_15), "ENAMETOOLONG");
        assert_eq!(open(&format!("{HEADER}\n{long}\n")).entries().len(), 2);
    }

    #[test]
    fn an_appended_record_is_glued_to_a_line_without_end() {
        let mut opened = open(&format!("{HEADER}\n{ASK}"));
        opened.append(Value::parse(ASK.as_bytes()).unwrap(), &mut MemoryStore::default());
        assert_eq!(text(&opened), format!("{HEADER}\n{ASK}{ASK}\n"));
    }

    #[test]
    fn a_replay_payload_is_patched_away_at_once() {
        let file = format!("{HEADER}\n{ASK}\n{REPLAY}\n");
        let patch = format!(r#"{{"type":"entry_patch","entryId":"b","patch":{{"message":{SANITISED}}}}}"#);
        assert_eq!(text(&open(&file)), format!("{file}{patch}\n"));
        assert_eq!(text(&open(&format!("{file}{patch}\n"))), format!("{file}{patch}\n"));
    }

    #[test]
    fn a_file_of_an_older_version_is_rewritten_by_the_first_write_or_by_closing() {
        let header = HEADER.replace(":5", ":4");
        let file = format!("{header}\n{ASK}\n");
        let opened = open(&file);
        assert_eq!(text(&opened), file);
        assert!(opened.rewrite_pending());
        assert_eq!(opened.close(&mut MemoryStore::default()), format!("{HEADER}\n{ASK}\n").into_bytes());
        let mut opened = open(&file);
        assert!(opened.set_name(JsStr::from("N"), NameSource::Auto, &mut MemoryStore::default()));
        assert!(text(&opened).starts_with(&HEADER.replace("\"/w\"", r#""/w","title":"N","titleSource":"auto""#)));
        assert!(!opened.rewrite_pending());
        // With a replay payload to sanitise, opening itself is the first write.
        let opened = open(&format!("{header}\n{ASK}\n{REPLAY}\n"));
        assert!(text(&opened).ends_with(&format!("\"message\":{SANITISED}}}\n")) && !text(&opened).contains("entry_patch"));
    }

    #[test]
    fn a_new_session_is_written_with_the_first_answer() {
        let mut store = MemoryStore::default();
        let value = |text: &str| Value::parse(text.as_bytes()).unwrap();
        let mut created = Opened::create(Destination::Explicit, value(HEADER), Vec::new(), &mut store, Release::V0_17);
        created.append(value(ASK), &mut store);
        assert!(created.set_name(JsStr::from("N"), NameSource::User, &mut store));
        assert!(!created.on_disk() && created.file().is_empty());
        created.append(value(REPLAY), &mut store);
        let header = HEADER.replace("\"/w\"", r#""/w","title":"N","titleSource":"user""#);
        assert_eq!(text(&created), format!("{header}\n{ASK}\n{REPLAY}\n"));
        created.append(value(ASK), &mut store);
        assert_eq!(text(&created), format!("{header}\n{ASK}\n{REPLAY}\n{ASK}\n"));
        assert!(created.leaf().is_str("a"));
    }

    #[test]
    fn a_name_is_a_patch_and_the_user_s_own_stays() {
        let mut store = MemoryStore::default();
        let mut opened = open(&format!("{HEADER}\n"));
        assert!(opened.set_name(JsStr::from("One"), NameSource::User, &mut store));
        assert!(!opened.set_name(JsStr::from("Two"), NameSource::Auto, &mut store));
        assert!(!opened.set_name(JsStr::from(" \n"), NameSource::User, &mut store));
        assert_eq!(text(&opened), format!("{HEADER}\n{}\n", r#"{"type":"header_patch","patch":{"title":"One","titleSource":"user"}}"#));
    }

    #[test]
    fn a_capable_header_gets_its_star_confirmed_before_another_patch() {
        let header = HEADER.replace("\"id\"", "\"starredPatchVersion\":1,\"id\"");
        let mut opened = open(&format!("{header}\n{}\n", r#"{"type":"header_patch","patch":{"starred":true}}"#));
        assert!(opened.set_name(JsStr::from("N"), NameSource::User, &mut MemoryStore::default()));
        let lines: Vec<&str> = text(&opened).lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                r#"{"type":"header_patch","patch":{"starred":true}}"#,
                r#"{"type":"header_patch","patch":{"title":"N","titleSource":"user"}}"#
            ]
        );
    }

    /// 04 §2.6, 01 §5.4
    #[test]
    fn starring_a_header_that_cannot_be_starred_rewrites_it_first() {
        let mut store = MemoryStore::default();
        let mut opened = open(&format!("{}\n", HEADER.replace("\"cwd\"", "\"starred\":true,\"cwd\"")));
        assert!(!opened.starred() && !opened.set_starred(false, &mut store));
        assert!(opened.set_starred(true, &mut store) && !opened.set_starred(true, &mut store));
        let capable = HEADER.replace("\"/w\"", "\"/w\",\"starredPatchVersion\":1");
        let star = r#"{"type":"header_patch","patch":{"starred":true}}"#;
        assert_eq!(text(&opened), format!("{capable}\n{star}\n"));
        assert!(matches!(*opened.take_written(), [Written::Whole(_), Written::Record(_)]));
        assert!(opened.set_starred(false, &mut store));
        assert_eq!(text(&opened), format!("{capable}\n{star}\n{}\n", star.replace("true", "false")));
    }

    /// 04 §9.5 step 4
    #[test]
    fn a_move_is_a_patch_and_a_rewrite_that_folds_it_in() {
        let mut opened = open(&format!("{HEADER}\n{ASK}\n"));
        opened.set_cwd(Value::string("/new"), &mut MemoryStore::default());
        assert!(matches!(*opened.take_written(), [Written::Record(_), Written::Whole(_)]));
        assert_eq!(text(&opened), format!("{}\n{ASK}\n", HEADER.replace("/w", "/new")));
    }

    type Operation<'o> = &'o dyn Fn(&mut Opened, &mut MemoryStore);

    /// 01 §8.1
    #[test]
    fn what_was_not_written_is_taken_back() {
        let mut store = MemoryStore::default();
        let value = |text: &str| Value::parse(text.as_bytes()).unwrap();
        for file in [format!("{HEADER}\n{ASK}\n"), format!("{}\n{ASK}\n", HEADER.replace(":5", ":4"))] {
            let operations: [Operation<'_>; 3] = [
                &|opened, store| opened.append(value(REPLAY), store),
                &|opened, store| assert!(opened.set_name(JsStr::from("N"), NameSource::User, store)),
                &|opened, store| assert!(opened.set_starred(true, store)),
            ];
            for operate in operations {
                let mut opened = open(&file);
                let before = opened.before();
                operate(&mut opened, &mut store);
                let undone = opened.take_written();
                assert!(!undone.is_empty());
                opened.undo(before, undone);
                assert_eq!((text(&opened), opened.entries().len()), (file.as_str(), 2));
                assert!(opened.leaf().is_str("a"));
                assert_eq!(opened.close(&mut store), format!("{HEADER}\n{ASK}\n").into_bytes());
            }
        }
    }

    /// 01 §8.5
    #[test]
    fn a_file_that_is_gone_is_made_again_as_a_whole() {
        let mut opened = open(&format!("{HEADER}\n{ASK}\n"));
        opened.vanished();
        opened.append(Value::parse(REPLAY.as_bytes()).unwrap(), &mut MemoryStore::default());
        assert!(matches!(*opened.take_written(), [Written::Whole(_)]));
        assert_eq!(text(&opened), format!("{HEADER}\n{ASK}\n{REPLAY}\n"));
    }

    /// 01 §5.4
    #[test]
    fn in_a_managed_scope_what_opening_sanitised_waits_for_the_next_rewrite() {
        let file = format!("{HEADER}\n{ASK}\n{REPLAY}\n");
        let mut store = MemoryStore::default();
        let bytes = file.clone().into_bytes();
        let mut opened = open_at(Destination::Managed, bytes, &mut Seeded::new(0), &mut store, Release::V0_17).unwrap();
        assert_eq!(text(&opened), file);
        opened.rewrite(&mut store);
        assert!(text(&opened).ends_with(&format!("\"message\":{SANITISED}}}\n")));
    }

    #[test]
    fn names_are_sanitised() {
        assert_eq!(name(" a\u{1}\u{7F}\u{85}  b\tc\u{A0}"), "\"a b c\"");
        assert_eq!(name("é\u{2003}x"), "\"é\u{2003}x\"");
        assert_eq!(name(&format!("{}😀", "a".repeat(999))), format!("\"{}\\ud83d\"", "a".repeat(999)));
        assert_eq!(name("\u{1}\u{9F}"), "\"\"");
    }

    #[test]
    fn what_looks_like_a_reference_in_an_appended_entry_stays() {
        let entry = format!(
            r#"{{"type":"custom","customType":"k","data":"blob:sha256:{}","id":"x","parentId":null,"timestamp":"t"}}"#,
            "0".repeat(64)
        );
        let mut opened = open(&format!("{HEADER}\n"));
        let mut store = MemoryStore::default();
        opened.append(Value::parse(entry.as_bytes()).unwrap(), &mut store);
        opened.rewrite(&mut store);
        assert_eq!(text(&opened), format!("{HEADER}\n{entry}\n"));
        // Read again it is a reference, and its blob is missing.
        let mut again = open(text(&opened));
        again.rewrite(&mut store);
        assert!(text(&again).contains("[Session resident imageUrl blob missing"));
        assert_eq!(again.tally().lost_references, 1);
    }
}
