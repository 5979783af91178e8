//! Comparing a file with the schemas: a record file as a whole, a transcript line by line.

use super::{Complaint, Form, Judge, form, forms, of_record};
use crate::agent::layout::{BINDING, TOMBSTONES};
use crate::agent::residue::{self, Residue};
use crate::agent::{lock, migration_receipt, tombstone};
use crate::json::jsonl::{Event, Lines, Strict};
use crate::json::{Value, View, text};
use crate::repair::{plan, proof, salvage};
use crate::transcript::header;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

/// Complaints about one file that are kept; the others are counted.
pub const MOST: usize = 1_000;

/// What a schema says of a record of a file.
#[derive(serde::Serialize, Clone, PartialEq, Eq, Debug)]
pub struct Objection {
    /// 1-based line; null for a file that is one record.
    pub line: Option<u64>,
    /// The form that was asked for.
    pub form: &'static str,
    /// RFC 6901 pointer of the member.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// What came of a file.
#[derive(serde::Serialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Records by form.
    pub records: BTreeMap<&'static str, u64>,
    /// Records that are not valid.
    pub invalid: u64,
    /// What is wrong, in order; at most [`MOST`].
    pub objections: Vec<Objection>,
    /// Objections that are not listed.
    pub not_listed: u64,
}

/// The judges, each made once.
#[derive(Default)]
struct Bench(BTreeMap<&'static str, Judge>);

impl Bench {
    fn judge(&mut self, form: &Form, record: &Value) -> Vec<Complaint> {
        if !self.0.contains_key(form.name)
            && let Ok(judge) = Judge::new(form)
        {
            self.0.insert(form.name, judge);
        }
        let broken = || vec![Complaint { pointer: String::new(), message: "this schema cannot be used".to_owned() }];
        self.0.get(form.name).map_or_else(broken, |judge| judge.complaints(record))
    }
}

impl Answer {
    fn take(&mut self, line: Option<u64>, form: &'static str, complaints: Vec<Complaint>) {
        *self.records.entry(form).or_default() += 1;
        self.invalid += u64::from(!complaints.is_empty());
        for Complaint { pointer, message } in complaints {
            if self.objections.len() < MOST {
                self.objections.push(Objection { line, form, pointer, message });
            } else {
                self.not_listed += 1;
            }
        }
    }
}

/// The form of a file by its name, as gjc names its records, and by the directory where two kinds have one name; none for a
/// transcript and for anything else.
pub fn by_path(path: &Path) -> Option<Form> {
    let name = path.file_name()?.as_encoded_bytes();
    let is_tombstone = path.parent().and_then(Path::file_name).is_some_and(|folder| folder == TOMBSTONES)
        && matches!(tombstone::parse_name(name), tombstone::Name::Tombstone { .. });
    if is_tombstone {
        return form("tombstone");
    }
    let receipt = match migration_receipt::parse_name(name) {
        migration_receipt::Name::Migration { .. } => Some("migration-receipt"),
        migration_receipt::Name::Retirement(_) => Some("retirement-receipt"),
        migration_receipt::Name::Foreign => None,
    };
    let cleanup = matches!(tombstone::parse_name(name), tombstone::Name::Cleanup { .. }).then_some("cleanup-record");
    let replacement = match residue::parse(name) {
        Some(Residue::ReplaceReceiptPending | Residue::ReplaceReceiptCanonical { .. }) => Some("replacement-receipt"),
        Some(Residue::ReplaceReceiptV1 { .. }) => Some("replacement-receipt-v1"),
        _ => None,
    };
    let binding = (name == BINDING.as_bytes()).then_some("binding");
    let lock = matches!(lock::parse_name(name), Some(lock::Name::Operation(_) | lock::Name::Retirement(_))).then_some("lock");
    let case = (name == b"case.json").then_some("corpus-case");
    form(case.or(receipt).or(cleanup).or(replacement).or(binding).or(lock)?)
}

/// Of cleanup records, those of a session with task artifacts have a form of their own.
fn of_session_with_owner(found: Form, record: Option<&Value>) -> Form {
    let has_owner = record.is_some_and(|record| record.members().any(|(key, _)| key.starts_with(b"taskArtifactOwner")));
    if found.name == "cleanup-record" && has_owner { form("cleanup-record-owner").unwrap_or(found) } else { found }
}

/// The form of a record that says itself which it is: what this tool writes.
fn by_member(record: &Value) -> Option<Form> {
    let said = record.str_member("schema")?;
    let said = std::str::from_utf8(&said).ok()?;
    let own = [(plan::SCHEMA, "plan"), (proof::SCHEMA, "proof"), (salvage::SCHEMA, "salvage-proof")];
    if let Some((_, name)) = own.iter().find(|(schema, _)| *schema == said) {
        return form(name);
    }
    let name = said.strip_prefix("gjc-fsck/")?.strip_suffix("/1")?;
    forms().into_iter().find(|form| form.name == name && form.typed.is_none())
}

/// Compares a file that is one JSON record with a form that is asked for, else with what its path says, else with what it
/// says itself; none when nothing says it.
pub fn record(bytes: &[u8], asked: Option<Form>, path: &Path) -> Option<Answer> {
    let mut answer = Answer::default();
    let value = Value::parse(&text::utf8_lossy(bytes));
    let of_path = || by_path(path).map(|form| of_session_with_owner(form, value.as_ref()));
    let form = asked.or_else(of_path).or_else(|| by_member(value.as_ref()?))?;
    let complaints = match &value {
        Some(value) => Bench::default().judge(&form, value),
        None => vec![no_json()],
    };
    answer.take(None, form.name, complaints);
    Some(answer)
}

fn no_json() -> Complaint {
    Complaint { pointer: String::new(), message: "this is not one JSON value".to_owned() }
}

/// Compares each line of a file with one form, or, without one, each line of a transcript with the form of its `type` and
/// version. Memory is bounded by the longest line.
///
/// # Errors
/// The input cannot be read.
pub fn lines(input: impl Read, one: Option<Form>) -> io::Result<Answer> {
    let mut answer = Answer::default();
    let mut bench = Bench::default();
    let mut lines = Lines::new(input);
    let mut version = None;
    while let Some(event) = lines.next()? {
        let Event::Line(line) = event else { continue };
        let value = match (line.value, line.strict) {
            (Some(node), Strict::Value) => Some(Value::from_node(node)),
            (_, Strict::Empty) => continue,
            _ => None,
        };
        let record = value.as_ref().unwrap_or(&Value::Null);
        let form = match one {
            Some(form) => form,
            None => {
                let is_header = version.is_none() && record.str_member("type").is_some_and(|kind| *kind == *b"session");
                if is_header {
                    version = Some(version_of(record));
                }
                let Some(form) = of_record(record, version.unwrap_or(NEWEST), is_header) else { continue };
                form
            }
        };
        let complaints = if value.is_some() { bench.judge(&form, record) } else { vec![no_json()] };
        answer.take(Some(line.number), form.name, complaints);
    }
    // A file that was cut to nothing must not pass.
    if answer.records.is_empty() {
        let expected = one.map_or("header-v5", |form| form.name);
        answer.take(None, expected, vec![Complaint { pointer: String::new(), message: "there is no record in this file".to_owned() }]);
    }
    Ok(answer)
}

/// The newest version.
const NEWEST: u8 = 5;

/// The version whose forms a transcript with this header has. A version that gjc refuses is held against the newest.
fn version_of(record: &Value) -> u8 {
    match header::version(record) {
        Ok(version) => version.unwrap_or(1.0).clamp(1.0, f64::from(NEWEST)) as u8,
        Err(_) => NEWEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name() {
        let named = |name: &str| by_path(Path::new(name)).map(|form| form.name);
        let op = "a".repeat(64);
        assert_eq!(named(BINDING), Some("binding"));
        assert_eq!(named(&format!("{op}.lock")), Some("lock"));
        assert_eq!(named(&format!("{op}.prepared.json")), Some("migration-receipt"));
        assert_eq!(named(&format!("gc-retirement-{op}-prepared.json")), Some("retirement-receipt"));
        assert_eq!(named(&format!("receipts/{op}.json")), Some("migration-receipt"));
        assert_eq!(named(&format!("tombstones/{op}.json")), Some("tombstone"));
        assert_eq!(named(&format!("tombstones/{op}.{op}.cleanup-pending-1.json")), Some("cleanup-record"));
        assert_eq!(named(&format!("{op}.{op}.cleanup-pending-1.json")), Some("cleanup-record"));
        assert_eq!(named("a.jsonl"), None);
    }

    #[test]
    fn a_transcript_is_compared_line_by_line_with_the_forms_of_its_version() {
        let header = r#"{"type":"session","version":1,"id":"s","timestamp":"t","cwd":"/w"}"#;
        let entry = r#"{"type":"message","timestamp":"t","message":{"role":"user"}}"#;
        let answer = lines(format!("{header}\n{entry}\n\n{{\"type\":\"label\"\n").as_bytes(), None).unwrap();
        assert_eq!(answer.records.into_iter().collect::<Vec<_>>(), [("entry-v1", 2), ("header-v1", 1)]);
        let [objection] = &answer.objections[..] else { panic!("{:?}", answer.objections) };
        assert_eq!((objection.line, &*objection.message), (Some(4), "this is not one JSON value"));
        let newer = lines(format!("{}\n{entry}\n", header.replace("1,", "5,")).as_bytes(), None).unwrap();
        assert_eq!(newer.objections.iter().map(|objection| &*objection.message).collect::<Vec<_>>().len(), 2, "id and parentId");
    }

    #[test]
    fn a_file_without_a_record_is_not_valid() {
        for text in ["", "\n\r\n"] {
            let answer = lines(text.as_bytes(), None).unwrap();
            assert_eq!((answer.invalid, answer.objections[0].line), (1, None), "{text:?}");
            assert_eq!(answer.objections[0].message, "there is no record in this file");
        }
    }

    #[test]
    fn of_many_bad_lines_the_first_objections_are_kept_and_the_rest_is_counted() {
        let answer = lines("{}\n".repeat(5_000).as_bytes(), None).unwrap();
        // Its type, id, parent and time.
        assert_eq!((answer.invalid, answer.objections.len() as u64 + answer.not_listed), (5_000, 4 * 5_000));
        assert_eq!(answer.objections.len(), MOST);
    }

    #[test]
    fn what_this_tool_writes_says_what_it_is() {
        let text = r#"{"schema":"gjc-fsck/baseline/1","findings":[]}"#;
        assert_eq!(record(text.as_bytes(), None, Path::new("x")).map(|answer| answer.invalid), Some(0));
        assert_eq!(record(b"{}", None, Path::new("x")), None);
        let cleanup = format!("{0}.{0}.cleanup-completed-1.json", "a".repeat(64));
        let form = |text: &str| record(text.as_bytes(), None, Path::new(&cleanup)).unwrap().objections[0].form;
        assert_eq!((form("{}"), form("{\"taskArtifactOwnerRetired\":true}")), ("cleanup-record", "cleanup-record-owner"));
    }
}
