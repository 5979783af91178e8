//! The published JSON Schemas (draft 2020-12), generated from Rust types, and the comparison of a record with one.
//!
//! A [`Form`] is a kind of record: its schema, and for what gjc writes the *typed verdict*: what this crate's own reader says of
//! such a record. Both are compared by `tests/schemas.rs` over every case and thousands of mutated records; what the reader asks
//! for and no schema can say is named by the form (`unsaid`), and `reports/schemas.md` lists it.
//!
//! Nothing is read or written here. A value is looked at to a fixed depth, whatever its own.

pub mod check;
mod marker;
mod plain;
#[allow(dead_code, reason = "the types stand for records; only their schemas are used")]
mod storage;
#[allow(dead_code, reason = "the types stand for records; only their schemas are used")]
mod transcript;
mod typed;

use crate::json::{Kind, Value, View, text};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value as Json;

/// What the reader of a form says of a record: nothing, or the rule that it breaks.
pub type Typed = fn(&Value) -> Result<(), &'static str>;

/// A kind of record that has a published schema.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name: `schemas/<name>.schema.json`.
    pub name: &'static str,
    /// What such a record is, in one line.
    pub about: &'static str,
    /// Makes the schema.
    pub schema: fn() -> Schema,
    /// What the reader says; none for what only this tool writes.
    pub typed: Option<Typed>,
    /// Rules of the reader that a schema cannot say: the name that `typed` answers, and the rule in words.
    pub unsaid: &'static [(&'static str, &'static str)],
}

/// Every form, sorted by name.
pub fn forms() -> Vec<Form> {
    let mut forms = [plain::forms(), storage::forms(), transcript::forms()].concat();
    forms.sort_unstable_by_key(|form| form.name);
    forms
}

/// The form with this name.
pub fn form(name: &str) -> Option<Form> {
    forms().into_iter().find(|form| form.name == name)
}

/// The form that a record of a transcript of this version has, by its `type`.
pub fn of_record(record: &Value, version: u8, first: bool) -> Option<Form> {
    let kind = record.str_member("type");
    match kind.as_deref() {
        Some(b"session") if first => form(&format!("header-v{version}")),
        Some(b"header_patch") => form("header-patch"),
        Some(b"entry_patch") => form("entry-patch"),
        _ => form(&format!("entry-v{version}")),
    }
}

/// What a schema says against a record.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Complaint {
    /// RFC 6901 pointer of the member, empty for the whole record.
    pub pointer: String,
    /// What is wrong there. Nothing of the record stands in it.
    pub message: String,
}

/// Complaints about one record that are named.
const MOST: usize = 20;

/// A schema that is ready to judge records.
pub struct Judge {
    validator: jsonschema::Validator,
    schema: Json,
}

impl Judge {
    /// Prepares the schema of a form.
    ///
    /// # Errors
    /// The schema is none; that is a fault of this crate, in words.
    pub fn new(form: &Form) -> Result<Self, String> {
        let schema = (form.schema)().to_value();
        let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
        Ok(Judge { validator, schema })
    }

    /// True when the schema accepts the record.
    pub fn accepts(&self, record: &Value) -> bool {
        self.validator.is_valid(&plain_json(record))
    }

    /// What the schema says against the record, in order of place; the first twenty.
    pub fn complaints(&self, record: &Value) -> Vec<Complaint> {
        let record = plain_json(record);
        let mut complaints: Vec<Complaint> =
            self.validator.iter_errors(&record).take(10 * MOST).map(|error| self.complaint(&error)).collect();
        complaints.sort_unstable();
        complaints.dedup();
        complaints.truncate(MOST);
        complaints
    }

    /// An error in words. A choice of several shapes says what they are in the words of the schema.
    fn complaint(&self, error: &jsonschema::ValidationError<'_>) -> Complaint {
        let place = error.schema_path().as_str();
        let above = place.rsplit_once('/').map_or("", |(above, _)| above);
        let choice = ["/anyOf", "/oneOf", "/not"].iter().any(|keyword| place.ends_with(keyword));
        let said = self.schema.pointer(above).and_then(|schema| schema.get("$comment")).and_then(Json::as_str);
        let message = match said {
            Some(said) if choice => format!("expected {said}"),
            _ => error.masked().to_string(),
        };
        Complaint { pointer: error.instance_path().as_str().to_owned(), message }
    }
}

/// Levels of a record that a schema can speak of, with room to spare. What lies deeper stands as an empty value of its kind.
const DEEPEST: usize = 24;

/// A record for a JSON Schema validator, which knows no lone surrogates and no infinite numbers: U+FFFD and the largest
/// number stand for them.
pub fn plain_json(record: &Value) -> Json {
    convert(record, DEEPEST)
}

/// Descends at most `left` levels.
fn convert(value: &Value, left: usize) -> Json {
    match value.kind() {
        Kind::Null => Json::Null,
        Kind::Bool => Json::Bool(value.as_bool() == Some(true)),
        Kind::Number => number(value.as_f64().unwrap_or_default()),
        Kind::String => Json::String(value.as_str().map_or_else(String::new, |said| text::wtf8_lossy(&said))),
        Kind::Array if left == 0 => Json::Array(Vec::new()),
        Kind::Array => Json::Array(value.as_array().unwrap_or_default().iter().map(|item| convert(item, left - 1)).collect()),
        Kind::Object => {
            let members = value.as_object().into_iter().flat_map(crate::json::Object::iter).filter(|_| left > 0);
            Json::Object(members.map(|(key, member)| (text::wtf8_lossy(key.as_bytes()), convert(member, left.saturating_sub(1)))).collect())
        }
    }
}

fn number(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Json::from(number as i64);
    }
    let finite = if number.is_finite() { number } else { f64::MAX.copysign(number) };
    serde_json::Number::from_f64(finite).map_or(Json::Null, Json::Number)
}

/// The schema of a type, under an identifier.
fn of<T: JsonSchema>(id: &str, about: &str) -> Schema {
    let mut schema = generator().into_root_schema_for::<T>();
    head(&mut schema, id, about);
    schema
}

fn generator() -> SchemaGenerator {
    schemars::generate::SchemaSettings::draft2020_12().into_generator()
}

fn head(schema: &mut Schema, id: &str, about: &str) {
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("$id".to_owned(), format!("gjc-fsck/{id}/1").into());
    schema.insert("title".to_owned(), id.into());
    schema.insert("description".to_owned(), about.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_form_can_judge() {
        let forms = forms();
        assert!(forms.windows(2).all(|pair| pair[0].name < pair[1].name), "sorted, and none twice");
        for form in forms {
            assert!(Judge::new(&form).is_ok(), "{}", form.name);
            assert!(form.about.ends_with('.'), "{}", form.name);
        }
    }

    #[test]
    fn a_complaint_names_the_member_and_holds_nothing_of_the_record() {
        let judge = Judge::new(&form("entry-v5").unwrap()).unwrap();
        let said = |text: &str| {
            let complaints = judge.complaints(&Value::parse(text.as_bytes()).unwrap());
            complaints.into_iter().map(|complaint| format!("{}: {}", complaint.pointer, complaint.message)).collect::<Vec<_>>()
        };
        assert_eq!(
            said(r#"{"type":"label","id":"a","parentId":7,"timestamp":"t","label":"secret"}"#),
            [": \"targetId\" is a required property", "/parentId: value is not of types \"null\", \"string\""]
        );
        assert_eq!(
            said(r#"{"type":"model_change","id":"a","parentId":null,"timestamp":"t"}"#),
            [": expected a string `model`, or strings `provider` and `modelId`"]
        );
        assert_eq!(said(r#"{"type":"no_such_type","id":"a","parentId":null,"timestamp":"t"}"#).len(), 1);
    }

    #[test]
    fn a_value_of_any_depth_is_judged() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        let text = format!(r#"{{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"c","data":{deep}}}"#);
        assert!(Judge::new(&form("entry-v5").unwrap()).unwrap().accepts(&Value::parse(text.as_bytes()).unwrap()));
    }

    #[test]
    fn what_json_schema_does_not_know_is_stood_in_for() {
        let value = Value::parse(br#"{"a":1e400,"b":"\ud800","c":-0,"d":1.5}"#).unwrap();
        assert_eq!(plain_json(&value), serde_json::json!({"a": f64::MAX, "b": "\u{fffd}", "c": 0, "d": 1.5}));
    }
}
