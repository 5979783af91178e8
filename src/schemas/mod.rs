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
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value as Json;
use std::cmp::Reverse;

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
        let mut complaints = Vec::new();
        for error in self.validator.iter_errors(&record).take(10 * MOST) {
            self.complain(&error, &mut complaints);
        }
        complaints.sort_unstable();
        complaints.dedup();
        complaints.truncate(MOST);
        complaints
    }

    /// An error in words. Of a choice of several shapes the schema says what they are, or what is wrong is told of the one that the
    /// record comes nearest to.
    fn complain(&self, error: &ValidationError<'_>, complaints: &mut Vec<Complaint>) {
        // Choices lie inside each other as deep as the schema has them, and no deeper than the record.
        let mut open: Vec<&ValidationError<'_>> = vec![error];
        while let Some(error) = open.pop() {
            let pointer = error.instance_path().as_str().to_owned();
            let shapes = match error.kind() {
                ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context.as_slice(),
                _ => &[],
            };
            let nearest = shapes.iter().max_by_key(|shape| nearness(&pointer, shape)).filter(|shape| is_near(&pointer, shape));
            match (self.said(error), tags(&pointer, shapes), nearest) {
                (Some(said), ..) => complaints.push(Complaint { pointer, message: format!("expected {said}") }),
                (_, Some((pointer, message)), _) => complaints.push(Complaint { pointer, message }),
                (_, _, Some(shape)) => open.extend(shape.iter().take(MOST)),
                _ => complaints.push(Complaint { pointer, message: error.masked().to_string() }),
            }
        }
    }

    /// What the schema says about a choice in words of its own.
    fn said(&self, error: &ValidationError<'_>) -> Option<&str> {
        let place = error.schema_path().as_str();
        let (above, keyword) = place.rsplit_once('/')?;
        let schema = ["anyOf", "oneOf", "not"].contains(&keyword).then(|| self.schema.pointer(above))??;
        schema.get("$comment").and_then(Json::as_str)
    }
}

/// How near a record comes to a shape, by what is wrong with it: a tag of another shape is far, and what lies deep is near.
fn nearness(pointer: &str, shape: &[ValidationError<'_>]) -> (bool, bool, usize, Reverse<usize>) {
    let tag = |error: &ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. });
    let depth = |error: &ValidationError<'_>| error.instance_path().as_str().matches('/').count();
    (is_near(pointer, shape), !shape.iter().any(tag), shape.iter().map(depth).min().unwrap_or_default(), Reverse(shape.len()))
}

/// Whether a record is at least of the kind of a shape: an object where it asks for one.
fn is_near(pointer: &str, shape: &[ValidationError<'_>]) -> bool {
    let here = |error: &ValidationError<'_>| error.instance_path().as_str() == pointer;
    !shape.iter().any(|error| matches!(error.kind(), ValidationErrorKind::Type { .. }) && here(error))
}

/// The member that tells shapes apart, and the words that it may be, when every shape of a choice asks for another one there.
fn tags(pointer: &str, shapes: &[Vec<ValidationError<'static>>]) -> Option<(String, String)> {
    let mut words = Vec::new();
    let mut place: Option<&str> = None;
    for shape in shapes.iter().filter(|shape| is_near(pointer, shape)) {
        let (at, word) = shape.iter().find_map(|error| match error.kind() {
            ValidationErrorKind::Constant { expected_value } => Some((error.instance_path().as_str(), expected_value.to_string())),
            _ => None,
        })?;
        if *place.get_or_insert(at) != at {
            return None;
        }
        words.push(word);
    }
    Some((place?.to_owned(), format!("expected one of {}", words.join(", "))))
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

    /// A choice of shapes is no answer: what is wrong is told of the shape that is meant.
    #[test]
    fn of_a_choice_the_nearest_shape_says_what_is_wrong() {
        let judge = Judge::new(&form("corpus-case").unwrap()).unwrap();
        let said = |step: &str| {
            let trigger = format!(r#"{{"tree":{{"steps":[{step}]}},"answers":[]}}"#);
            let case = format!(r#"{{"title":"t","section":"s","tags":[],"kind":"valid","trigger":{trigger}}}"#);
            let complaints = judge.complaints(&Value::parse(case.as_bytes()).unwrap());
            complaints.into_iter().map(|c| format!("{} {}", c.pointer, c.message)).collect::<Vec<_>>()
        };
        let at = "/trigger/tree/steps/0";
        assert_eq!(said(r#"{"do":"acl","answer":{"errno":5}}"#), [format!("{at}/answer/errno value is not of type \"string\"")]);
        assert_eq!(said(r#"{"do":"acl","answer":{"bytes":1}}"#), [] as [&str; 0]);
        assert_eq!(said(r#"{"do":"remove","path":7}"#), [format!("{at}/path value is not of type \"string\"")]);
        let fly = said(r#"{"do":"fly"}"#);
        let known = format!("{at}/do expected one of \"file\", \"sparse\", \"directory\"");
        assert!(fly.len() == 1 && fly[0].starts_with(&known), "{fly:?}");
        let part = said(r#"{"do":"file","path":"/x","content":[{"fill":{"text":"x"}}]}"#);
        assert_eq!(part, [format!("{at}/content/0/fill \"times\" is a required property")]);
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
