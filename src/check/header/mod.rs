//! The area *header* of spec 05: whether the file begins as a transcript, and what its header says.
//!
//! [`HeaderPass`] notes the first values of the file as they come; at the end it judges the header as patches left it.

pub mod codes;

use super::line::{LostIds, Mark};
use super::transcript::Source;
use super::words::{count, shortened, with_article};
use super::{dialect, patch};
use crate::finding::{Difference, Finding, Place, Release, Sink};
use crate::json::jsonl::{Found, Line};
use crate::json::text::wtf8_lossy;
use crate::json::{Kind, Value, View};
use crate::transcript::load::Outcome;
use crate::transcript::{EntryKind, Throw, date, header};

/// Longest header line that the managed listing reads, LF included (spec 02 §5.3).
pub const HEADER_LINE_CAP: u64 = 65_536;

/// The first value that is no patch record.
struct First {
    place: Place,
    is_header: bool,
    /// `{"type":"title",…}`
    is_title: bool,
    /// The value behind it is a header.
    header_follows: bool,
    what: String,
}

/// The header that counts, as it stands in the file.
struct Header {
    place: Place,
    value: Value,
}

/// The pass over headers.
pub struct HeaderPass<'s> {
    source: &'s Source,
    /// The first value of all, for files of patches alone.
    first_value: Option<Place>,
    first: Option<First>,
    header: Option<Header>,
    /// Places of the headers behind the first one.
    further: Vec<Place>,
    further_count: u64,
    unsupported: Option<(Place, String)>,
    /// Some value has a type that gjc knows.
    any_known: bool,
    /// Values that are entries or patches.
    records: u64,
    values: u64,
    no_lf_within_cap: bool,
    lines: u64,
}

/// How many extra headers get a finding of their own.
const MOST_FURTHER: usize = 1000;

impl<'s> HeaderPass<'s> {
    /// A pass that has seen nothing.
    pub fn new(source: &'s Source) -> Self {
        HeaderPass {
            source,
            first_value: None,
            first: None,
            header: None,
            further: Vec::new(),
            further_count: 0,
            unsupported: None,
            any_known: false,
            records: 0,
            values: 0,
            no_lf_within_cap: false,
            lines: 0,
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>) {
        if self.lines == 0 {
            self.no_lf_within_cap = !line.has_lf || line.offset + line.raw.len() as u64 >= HEADER_LINE_CAP;
        }
        self.lines += 1;
    }

    /// The first header of the file as it stands there.
    pub fn first_header(&self) -> Option<&Value> {
        self.header.as_ref().map(|header| &header.value)
    }

    /// Takes the next value and what loading made of it.
    pub fn value(&mut self, found: &Found<'_>, kind: EntryKind, outcome: &Outcome) {
        let patch = matches!(kind, EntryKind::HeaderPatch | EntryKind::EntryPatch);
        self.any_known |= !matches!(kind, EntryKind::Unknown | EntryKind::NonRecord)
            || found.node.get("type").is_some_and(|name| name.is_str("session_cold_ref"));
        self.records += u64::from(!matches!(kind, EntryKind::Unknown | EntryKind::NonRecord | EntryKind::Session));
        if self.first_value.is_none() {
            self.first_value = Some(self.source.found(found));
        }
        if let Outcome::Throws(Throw::UnsupportedVersion(text)) = outcome {
            // As it is written: the text "5" is refused, the number is not.
            let written = found.node.get("version").map(|version| String::from_utf8_lossy(version.raw()).into_owned());
            self.unsupported = Some((self.source.found(found), written.unwrap_or_else(|| text.to_string())));
        }
        if kind.is_header() && self.header.is_none() {
            self.header = Some(Header { place: self.header_place(found), value: Value::from_node(found.node) });
        }
        if let Outcome::FurtherHeader(_) = outcome {
            self.further_count += 1;
            if self.further.len() < MOST_FURTHER {
                self.further.push(self.header_place(found));
            }
        }
        match &mut self.first {
            None if patch => {}
            None => {
                let is_title = found.node.get("type").is_some_and(|name| name.is_str("title"));
                let what = match kind {
                    EntryKind::NonRecord => with_article(found.node.kind()),
                    EntryKind::Unknown => "no record of gjc".to_owned(),
                    kind => format!("a {} record", kind.name().unwrap_or_default()),
                };
                let place = self.source.found(found);
                self.first = Some(First { place, is_header: kind.is_header(), is_title, header_follows: false, what });
            }
            Some(first) => first.header_follows |= self.values == 1 && kind.is_header(),
        }
        self.values += 1;
    }

    fn header_place(&self, found: &Found<'_>) -> Place {
        Place { entry: found.node.str_member("id").map(|id| wtf8_lossy(&id)), ..self.source.found(found) }
    }

    /// Reports what is wrong with the beginning of the file and with its header.
    ///
    /// `effective` is the header after patches, when loading yields entries. `lost` are the damaged lines.
    pub fn finish(self, ending: &Ending<'_>, sink: &mut dyn Sink) {
        if self.source.managed && self.no_lf_within_cap && self.lines > 0 {
            let message = format!("No line end stands within the first {HEADER_LINE_CAP} bytes.");
            sink.push(Finding::new(&codes::HEADER_LINE_TOO_LONG, Place { column: Some(1), ..self.source.line(1) }, message));
        }
        if !ending.any_text {
            if ending.mark == Mark::None || ending.mark == Mark::Utf8 {
                let what = match (self.lines, ending.mark) {
                    (0, Mark::Utf8) => "The file holds nothing but a byte order mark.",
                    (0, _) => "The file has no bytes.",
                    _ => "The file holds only blank lines.",
                };
                sink.push(Finding::new(&codes::EMPTY_TRANSCRIPT, self.source.file(), what));
            }
            return;
        }
        self.beginning(ending, sink);
        if let Some((place, version)) = &self.unsupported {
            let place = Place { pointer: Some("/version".to_owned()), ..place.clone() };
            let message = format!("The header's version is {}; gjc accepts integral numbers up to 5.", shortened(version));
            sink.push(Finding::new(&codes::UNSUPPORTED_SESSION_VERSION, place, message));
        }
        // Only the first value can be the header that counts.
        if let Some(header) = self.header.as_ref().filter(|_| self.first.as_ref().is_some_and(|first| first.is_header)) {
            let value = ending.effective.unwrap_or(&header.value);
            fields(header, value, ending, sink);
            if ending.effective.is_some() {
                version(header, sink);
                self.file_name(header, ending.file_name, sink);
                self.further_headers(header, sink);
            }
            patch::inline_star(&header.place, value, ending.release, sink);
        }
    }

    /// Whether the first value that is no patch is a header.
    fn beginning(&self, ending: &Ending<'_>, sink: &mut dyn Sink) {
        let spares_managed = ending.managed_header;
        let push = |finding: Finding, sink: &mut dyn Sink| sink.push(Finding { spares_managed, ..finding });
        let Some(first) = &self.first else {
            if let Some(place) = &self.first_value {
                let message = "The file holds patch records and no header.";
                push(Finding::new(&codes::HEADER_NOT_FIRST, place.clone(), message), sink);
            }
            return;
        };
        if first.is_header {
            return;
        }
        let place = first.place.clone();
        if first.is_title && first.header_follows {
            let message = "A title record of oh-my-pi stands before the header.";
            push(Finding::new(&dialect::codes::FOREIGN_TITLE_RECORD, place, message), sink);
        } else if !self.any_known {
            let message = format!("No value has a type that gjc knows; the first is {}.", first.what);
            push(Finding::new(&dialect::codes::NOT_A_SESSION, place, message), sink);
        } else {
            let recoverable = count(self.records, "record of the file is", "records of the file are");
            let message = format!("The first value is {}, not a header; {recoverable} complete.", first.what);
            let mut finding = Finding::new(&codes::HEADER_NOT_FIRST, place, message);
            if let Some(damaged) = first.place.line.and_then(|line| ending.lost.before(line)) {
                finding = finding.related("cause", self.source.damaged(damaged));
            }
            push(finding, sink);
        }
    }

    fn further_headers(&self, first: &Header, sink: &mut dyn Sink) {
        for (at, place) in self.further.iter().enumerate() {
            let rest = self.further_count - self.further.len() as u64;
            let more = if at + 1 == self.further.len() && rest > 0 { format!(" {rest} more follow.") } else { String::new() };
            let message = format!("The file holds {}; only the first counts.{more}", count(self.further_count + 1, "header", "headers"));
            sink.push(
                Finding::new(&codes::MULTIPLE_HEADERS, place.clone(), message).related("the header that counts", first.place.clone()),
            );
        }
    }

    fn file_name(&self, header: &Header, file_name: Option<&str>, sink: &mut dyn Sink) {
        let (true, Some(name)) = (self.source.managed, file_name) else { return };
        let text = |key| header.value.str_member(key).map(|text| wtf8_lossy(&text));
        let (Some(id), Some(timestamp)) = (text("id"), text("timestamp")) else { return };
        let stamp = timestamp.replace([':', '.'], "-");
        let Some(base) = name.strip_suffix(".jsonl") else { return };
        if base == format!("{stamp}_{id}") {
            return;
        }
        let what = match (base.starts_with(&format!("{stamp}_")), base.ends_with(&format!("_{id}"))) {
            (true, _) => "id differs",
            (false, true) => "time differs",
            (false, false) => "time and id differ",
        };
        let message =
            format!("The file is named {}, its header says {}_{}: the {what}.", shortened(name), shortened(&stamp), shortened(&id));
        sink.push(Finding::new(&codes::FILENAME_HEADER_MISMATCH, header.place.clone(), message));
    }
}

/// What the other passes know when the file has ended.
pub struct Ending<'e> {
    /// How the file begins.
    pub mark: Mark,
    /// Some line holds something else than white space.
    pub any_text: bool,
    /// Damaged lines.
    pub lost: &'e LostIds,
    /// The header after patches, before migration; none when loading throws or yields nothing.
    pub effective: Option<&'e Value>,
    /// Whose behaviour is asked for.
    pub release: Release,
    /// Name of the file in its directory.
    pub file_name: Option<&'e str>,
    /// Reader M finds a header with a text `id` on the first line with content, which is all that it asks. It sees one
    /// behind a byte order mark on a later line, where no other reader does.
    pub managed_header: bool,
}

/// The fields of the header as patches left them.
fn fields(header: &Header, value: &Value, ending: &Ending<'_>, sink: &mut dyn Sink) {
    let at = |key: &str| Place { pointer: Some(format!("/{key}")), ..header.place.clone() };
    let wrong = |key: &str| match value.get(key) {
        None => Some(format!("`{key}` is absent")),
        Some(member) if member.kind() != Kind::String => Some(format!("`{key}` is {}", with_article(member.kind()))),
        Some(_) => None,
    };
    let invalid: Vec<(&str, String)> = ["id", "cwd", "timestamp"].into_iter().filter_map(|key| Some((key, wrong(key)?))).collect();
    if let Some((first, _)) = invalid.first() {
        let words: Vec<&str> = invalid.iter().map(|(_, words)| words.as_str()).collect();
        let message = format!("The header is no header that gjc opens: {}.", words.join(", "));
        sink.push(Finding { spares_managed: ending.managed_header, ..Finding::new(&codes::HEADER_INVALID, at(first), message) });
    }
    if let Some(id) = value.str_member("id") {
        let shown = wtf8_lossy(&id);
        if id.is_empty() {
            sink.push(Finding::new(&codes::HEADER_ID_EMPTY, at("id"), "The session id is the empty string."));
        } else if !is_written_id(&id) {
            let message = format!("The session id `{}` is none that gjc writes.", shortened(&shown));
            sink.push(Finding::new(&codes::HEADER_ID_GRAMMAR, at("id"), message));
        }
    }
    if let Some(text) = value.str_member("timestamp")
        && date::parse(&text).is_nan()
    {
        let message = format!("The header's timestamp `{}` is no time.", shortened(&wtf8_lossy(&text)));
        sink.push(Finding::new(&codes::HEADER_TIMESTAMP_INVALID, at("timestamp"), message));
    }
    let is = |key: &str, fits: fn(&Value) -> bool| value.get(key).is_none_or(fits);
    let stars = Difference::StarPatches.in_effect(ending.release);
    let misread: Vec<&str> = [
        ("title", is("title", |v| v.kind() == Kind::String)),
        ("parentSession", is("parentSession", |v| v.kind() == Kind::String)),
        ("titleSource", is("titleSource", |v| v.is_str("auto") || v.is_str("user"))),
        ("starred", !stars || is("starred", |v| v.kind() == Kind::Bool)),
        ("starredPatchVersion", !stars || is("starredPatchVersion", |v| v.as_f64() == Some(1.0))),
    ]
    .into_iter()
    .filter_map(|(key, right)| (!right).then_some(key))
    .collect();
    if let Some(first) = misread.first() {
        let verb = if misread.len() == 1 { "has a value" } else { "have values" };
        let message = format!("`{}` of the header {verb} that gjc does not write.", misread.join("`, `"));
        sink.push(Finding::new(&codes::HEADER_FIELD_TYPE, at(first), message));
    }
}

/// What the version means for the next write.
fn version(header: &Header, sink: &mut dyn Sink) {
    let at = || Place { pointer: Some("/version".to_owned()), ..header.place.clone() };
    match header::version(&header.value) {
        Ok(None) => {
            sink.push(Finding::new(&codes::LEGACY_VERSION, header.place.clone(), "The header has no version: the file is of version 1."))
        }
        Ok(Some(version)) if version <= 0.0 => {
            let message = format!("The header's version is {}; it is treated as 1.", crate::json::number::to_js_string(version));
            sink.push(Finding::new(&codes::VERSION_OUT_OF_RANGE, at(), message));
        }
        Ok(Some(version)) if version < header::CURRENT_VERSION => {
            let message = format!("The file is of version {}.", crate::json::number::to_js_string(version));
            sink.push(Finding::new(&codes::LEGACY_VERSION, at(), message));
        }
        Ok(Some(_)) | Err(_) => {}
    }
}

/// A UUIDv7 in lower case, or `^[A-Za-z0-9._-]{1,128}$`; every UUID is also the latter.
fn is_written_id(id: &[u8]) -> bool {
    (1..=128).contains(&id.len()) && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}
