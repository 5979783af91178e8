//! The area *dialect* of spec 05: files of other producers. [`DialectPass`] looks for the closed list of markers
//! (05a); what a file without a usable beginning is, [`super::header`] decides.

pub mod codes;

use super::transcript::Source;
use super::transcript::signs::{Sign, Signs};
use crate::finding::{Finding, Place, Sink};
use crate::json::jsonl::Found;
use crate::json::text::wtf8_lossy;
use crate::json::{Kind, Node, View};
use crate::transcript::EntryKind;

/// Another producer of files of this family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Producer {
    OhMyPi,
    Pi,
    PiOrSenpi,
    PiAgentRust,
    PrimeAgent,
    Tau,
    Ordinal,
}

impl Producer {
    const fn name(self) -> &'static str {
        match self {
            Producer::OhMyPi => "oh-my-pi",
            Producer::Pi => "pi or pi_agent_rust",
            Producer::PiOrSenpi => "pi or senpi",
            Producer::PiAgentRust => "pi_agent_rust",
            Producer::PrimeAgent => "prime-agent",
            Producer::Tau => "tau",
            Producer::Ordinal => "the other \"version 5\" (`ordinal`)",
        }
    }
}

/// The first marker of a producer, and how many records carry one.
struct Marked {
    producer: Producer,
    place: Place,
    marker: String,
    records: u64,
}

/// The pass over records.
pub struct DialectPass<'s> {
    source: &'s Source,
    /// At most one for each producer.
    marked: Vec<Marked>,
    /// An entry was seen.
    any_entry: bool,
    /// The first header's version is at least 2.
    has_ids: bool,
    any_header: bool,
}

impl<'s> DialectPass<'s> {
    /// A pass that has seen nothing.
    pub fn new(source: &'s Source) -> Self {
        DialectPass { source, marked: Vec::new(), any_entry: false, has_ids: false, any_header: false }
    }

    /// Takes the next object of the file.
    pub fn record(&mut self, found: &Found<'_>, kind: EntryKind, signs: Signs) {
        let record = found.node;
        match kind {
            EntryKind::Session => self.header(found),
            EntryKind::HeaderPatch | EntryKind::EntryPatch | EntryKind::NonRecord => return,
            // gjc's own memory-only form, leaked: its `ordinal` is nobody's mark.
            EntryKind::Unknown if record.get("type").is_some_and(|name| name.is_str("session_cold_ref")) => return,
            EntryKind::Unknown => {
                if let Some(name) = record.str_member("type") {
                    self.unknown_type(found, &name);
                }
            }
            EntryKind::Custom if record.get("customType").is_some_and(|name| name.is_str("session_exit")) => {
                self.mark(found, Producer::OhMyPi, "custom `session_exit`");
            }
            EntryKind::ServiceTierChange if record.get("serviceTier").is_some_and(View::is_record) => {
                self.mark(found, Producer::OhMyPi, "an object as `serviceTier`");
            }
            _ => {}
        }
        if signs.has(Sign::ForeignKey) {
            for (key, producer) in
                [("ordinal", Producer::Ordinal), ("first_kept_entry_id", Producer::Tau), ("replaces_entry_ids", Producer::Tau)]
            {
                if record.get(key).is_some() {
                    self.mark(found, producer, &format!("key `{key}`"));
                }
            }
        }
        if !self.any_entry && kind != EntryKind::Session {
            self.any_entry = true;
            let string_id = record.get("id").is_some_and(|id| id.kind() == Kind::String);
            if self.has_ids && string_id && record.get("parentId").is_none() {
                self.mark(found, Producer::PiAgentRust, "a first entry without `parentId`");
            }
        }
    }

    fn header(&mut self, found: &Found<'_>) {
        if !self.any_header {
            self.any_header = true;
            self.has_ids = found.node.get("version").and_then(View::as_f64).is_some_and(|version| version >= 2.0);
        }
        let has = |key: &str| found.node.get(key).is_some();
        for key in ["additionalDirectories", "previousSessionFiles", "providerPromptCacheKey"] {
            if has(key) {
                self.mark(found, Producer::OhMyPi, &format!("header key `{key}`"));
            }
        }
        if found.node.get("serviceTier").is_some_and(View::is_record) {
            self.mark(found, Producer::OhMyPi, "an object as `serviceTier`");
        }
        if has("branchedFrom") {
            self.mark(found, Producer::Pi, "header key `branchedFrom`");
        }
    }

    fn unknown_type(&mut self, found: &Found<'_>, name: &[u8]) {
        let producer = match name {
            b"title_change" | b"reset_boundary" | b"credential_pin" => Producer::OhMyPi,
            b"session_info" => Producer::PiOrSenpi,
            b"agent_status" | b"child_usage_attributed" | b"git_state" | b"session_state" => Producer::PrimeAgent,
            b"leaf" => Producer::Tau,
            b"client_input_receipt" | b"client_input_state" => Producer::Ordinal,
            _ => return,
        };
        self.mark(found, producer, &format!("type `{}`", wtf8_lossy(name)));
    }

    fn mark(&mut self, found: &Found<'_>, producer: Producer, marker: &str) {
        match self.marked.iter_mut().find(|marked| marked.producer == producer) {
            Some(marked) => marked.records += u64::from(marked.place.line != Some(found.line)),
            None => {
                let place = Place { entry: entry_id(found.node), ..self.source.found(found) };
                self.marked.push(Marked { producer, place, marker: marker.to_owned(), records: 1 });
            }
        }
    }

    /// Reports each producer once, at its first marker.
    pub fn finish(self, sink: &mut dyn Sink) {
        for Marked { producer, place, marker, records } in self.marked {
            let more = if records > 1 { format!(", in {records} records") } else { String::new() };
            let message = format!("The file carries a marker of {}: {marker}{more}.", producer.name());
            sink.push(Finding::new(&codes::DIALECT_DETECTED, place, message));
        }
    }
}

fn entry_id(record: Node<'_>) -> Option<String> {
    record.str_member("id").map(|id| wtf8_lossy(&id))
}
