//! Operation scripts: what a [`Manager`] is told to do, as JSON. The names of operations and of their members are those of
//! gjc's session manager (`tests/vectors/README.md` lists them, with the macros for what JSON cannot say).

use super::content::Content;
use super::manager::{Manager, OpError, World};
use super::place::Place;
use super::selection::{Domain, Named};
use super::switch::{Quiet, Switched};
use crate::json::{JsStr, JsString, Object, Value, View, text};
use crate::transcript::blobs::BlobStore;
use crate::transcript::persist::opened::NameSource;
use crate::transcript::persist::reshape::{Reshape, reshape};
use std::collections::BTreeMap;

/// What one operation did.
#[derive(Clone, PartialEq, Debug)]
pub enum Did {
    /// It returned this; null for nothing.
    Returned(Value),
    /// It threw.
    Threw(OpError),
    /// It asked for the current transcript: its name in the script, and the bytes where there is a file.
    Snapshot(String, Option<Vec<u8>>),
}

/// Runs scripts on a manager. What operations named with `as` returned is remembered.
pub struct Runner<'s, W, S> {
    manager: Manager<'s, W, S>,
    named: BTreeMap<JsString, Value>,
}

/// Why an operation cannot be run at all: the script is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Wrong {
    /// gjc has no such operation, or it is not modelled.
    #[error("no operation is called `{0}`")]
    Unknown(String),
    /// A member is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
}

/// Longest text that a macro makes, in bytes: a script is not to fill the memory.
const LONGEST_TEXT: usize = 1 << 26;

impl<'s, W: World, S: BlobStore> Runner<'s, W, S> {
    /// Begins with a manager.
    pub const fn new(manager: Manager<'s, W, S>) -> Self {
        Runner { manager, named: BTreeMap::new() }
    }
    /// The manager.
    pub const fn manager(&self) -> &Manager<'s, W, S> {
        &self.manager
    }
    /// The manager, when the script has ended.
    pub fn into_manager(self) -> Manager<'s, W, S> {
        self.manager
    }

    /// Runs one operation.
    ///
    /// # Errors
    /// It is no operation.
    pub fn run(&mut self, op: &Value) -> Result<Did, Wrong> {
        let name = op.str_member("op").ok_or(Wrong::Missing("op"))?.into_owned();
        let name = JsString::from_wtf8(name).to_string();
        if name == "snapshot" {
            let label = op.str_member("as").map(|label| JsString::from_wtf8(label.into_owned()).to_string()).unwrap_or_default();
            return Ok(Did::Snapshot(label, self.manager.file().map(<[u8]>::to_vec)));
        }
        let fields = match expand(op, &self.named) {
            Ok(fields) => fields,
            Err(Unwritable::UndefinedItem(path)) => {
                let message = format!("Session entry contains undefined array item at entry{path}");
                return Ok(Did::Threw(OpError { class: "Error", message }));
            }
            Err(Unwritable::BigInt) => return Ok(Did::Threw(self.manager.fail("JSON.stringify cannot serialize BigInt."))),
        };
        Ok(match self.operate(&name, &fields)? {
            Err(error) => Did::Threw(error),
            Ok(returned) => {
                if let Some(Value::String(label)) = op.member("as") {
                    self.named.insert(label.clone(), returned.clone());
                }
                Did::Returned(returned)
            }
        })
    }

    fn operate(&mut self, name: &str, fields: &Value) -> Result<Result<Value, OpError>, Wrong> {
        let of = |key: &str| fields.member(key).cloned();
        let must = |key: &'static str| of(key).ok_or(Wrong::Missing(key));
        let manager = &mut self.manager;
        let content = match name {
            "appendMessage" => Content::message(must("message")?),
            "appendModelChange" => Content::model_change(must("model")?, of("role"), fields.member("metadata")),
            "clearModelRole" => Content::model_cleared(must("role")?),
            "appendConfiguredModelChain" => Content::configured_model_chain(&must("chain")?),
            "appendThinkingLevelChange" => Content::thinking_level_change(of("thinkingLevel"), of("operatorIntent")),
            "appendServiceTierChange" => Content::service_tier_change(of("serviceTier")),
            "appendModeChange" => Content::mode_change(must("mode")?, of("data")),
            "appendCompaction" => Content::compaction(fields),
            "appendTtsrInjection" => Content::ttsr_injection(must("rules")?, of("records"), of("count")),
            "appendMCPToolSelection" => Content::mcp_tool_selection(must("names")?, of("correlation")),
            "appendDiscoveredBuiltinToolSelection" => Content::discovered_builtin_tool_selection(must("names")?, of("correlation")),
            "appendSessionInit" => Content::session_init(fields),
            "appendCustomEntry" => Content::custom(must("customType")?, of("data")),
            _ => {
                return Ok(match name {
                    "appendCustomMessageEntry" => manager.append_custom_message(fields, of("observationId")).map(Value::String),
                    "appendLabelChange" => manager.label(must("targetId")?, of("label")).map(Value::String),
                    "branch" => manager.branch(must("entryId")?).map(|()| Value::Null),
                    "branchWithSummary" => manager
                        .branch_with_summary(must("entryId")?, must("summary")?, of("details"), of("fromExtension"))
                        .map(Value::String),
                    "resetLeaf" => {
                        manager.reset_leaf();
                        Ok(Value::Null)
                    }
                    "setSessionName" => {
                        let user = fields.member("source").is_some_and(|source| source.is_str("user"));
                        let source = if user { NameSource::User } else { NameSource::Auto };
                        let name = must("name")?;
                        manager.set_name(JsStr::from_wtf8(&name.as_str().unwrap_or_default()), source).map(Value::Bool)
                    }
                    "rewriteEntries" => manager.rewrite().map(|()| Value::Null),
                    "ensureOnDisk" => manager.ensure_on_disk().map(|()| Value::Null),
                    "newSession" => {
                        let parent = fields.member("options").and_then(|options| options.member("parentSession")).cloned();
                        manager.new_session(parent).map(|()| Value::Null)
                    }
                    "appendContextClear" => manager.clear_context().map(Value::String),
                    "setStarred" => manager.set_starred(fields.member("starred").is_none_or(View::truthy)).map(Value::Bool),
                    "flush" => manager.flush().map(|()| Value::Null),
                    "selectTools" => {
                        let named = of("tools").map(|tools| tools_of(&tools));
                        let correlation = || of("correlation").and_then(|id| id.as_str().map(|id| JsString::from_wtf8(id.into_owned())));
                        let correlation = || correlation().unwrap_or_else(|| "correlation".into());
                        let ids = manager.select_tools(named.as_deref(), correlation);
                        ids.map(|ids| Value::Array(ids.into_iter().map(Value::String).collect::<Vec<_>>().into()))
                    }
                    "fork" => manager.fork().map(|_| Value::Null),
                    "moveTo" => {
                        let (cwd, directory) = (text_of(&must("cwd")?), of("directory").map(|directory| text_of(&directory)));
                        let directory = directory.unwrap_or_else(|| manager.place().directory().to_owned());
                        let release = manager.place().release();
                        manager.move_to(Place::explicit(cwd, directory, release)).map(|_| Value::Null)
                    }
                    "setSessionFile" => {
                        let cancels = fields.member("cancelled").is_some_and(View::truthy);
                        let switched = manager.switch(&text_of(&must("path")?), &mut Quiet { cancels });
                        switched.map(|switched| Value::Bool(switched == Switched::Yes))
                    }
                    "createBranchedSession" => manager.branched_session(&must("leafId")?).map(|()| Value::Null),
                    _ => return Err(Wrong::Unknown(name.to_owned())),
                });
            }
        };
        Ok(manager.append(content).map(Value::String))
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map(|text| JsString::from_wtf8(text.into_owned()).to_string()).unwrap_or_default()
}

/// `[{"name","domain":"mcp"|"discovered"|"essential"}]`
fn tools_of(tools: &Value) -> Vec<Named> {
    let domain = |tool: &Value| match tool.str_member("domain").as_deref() {
        Some(b"mcp") => Domain::Mcp,
        Some(b"discovered") => Domain::Discovered,
        _ => Domain::Essential,
    };
    let tools = tools.as_array().unwrap_or_default().iter();
    tools.map(|tool| (tool.member("name").map(text_of).unwrap_or_default().into(), domain(tool))).collect()
}

/// A script: operations, and what they begin with.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// `name`: of a case.
    pub name: Option<String>,
    /// `input`: the transcript that is opened, in place of a new session.
    pub input: Option<Vec<u8>>,
    /// `blobs`: what the blob store holds.
    pub blobs: Vec<Vec<u8>>,
    /// The operations, each with its line in the file.
    pub ops: Vec<(usize, Value)>,
}

/// Why a text is no script: the line (1-based) and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}: {why}")]
pub struct NoScript {
    /// The line.
    pub line: usize,
    /// What is wrong.
    pub why: &'static str,
}

/// Reads scripts. A text is one operation a line; or one JSON value, an array of operations or a case; or one case a line, as in
/// the suite `persist` (`tests/vectors/README.md`): `{"name"?,"input"?|"input_b64"?,"blobs"?,"ops":[…]}`.
///
/// # Errors
/// What is wrong with which line.
pub fn scripts(text: &[u8]) -> Result<Vec<Script>, NoScript> {
    if let Some(whole) = Value::parse(text) {
        return Ok(vec![match &whole {
            Value::Array(ops) => Script { ops: ops.as_slice().iter().map(|op| (1, op.clone())).collect(), ..Script::default() },
            case if case.member("ops").is_some() => case_of(case, 1)?,
            _ => {
                let above = text.iter().take_while(|byte| byte.is_ascii_whitespace()).filter(|byte| **byte == b'\n').count();
                Script { ops: vec![(above + 1, whole)], ..Script::default() }
            }
        }]);
    }
    let (mut cases, mut ops) = (Vec::new(), Vec::new());
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line_number = number + 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value = Value::parse(line).ok_or(NoScript { line: line_number, why: "this is no JSON" })?;
        if value.member("ops").is_some() {
            cases.push(case_of(&value, line_number)?);
        } else {
            ops.push((line_number, value));
        }
    }
    match (cases.is_empty(), ops.first()) {
        (true, _) => Ok(vec![Script { ops, ..Script::default() }]),
        (false, None) => Ok(cases),
        (false, Some((line, _))) => Err(NoScript { line: *line, why: "an operation among cases" }),
    }
}

fn case_of(case: &Value, line: usize) -> Result<Script, NoScript> {
    let wrong = |why| NoScript { line, why };
    let decoded = |value: &Value| {
        let text = value.as_str().ok_or(wrong("Base64 is missing"))?;
        data_encoding::BASE64.decode(&text).map_err(|_| wrong("this is no Base64"))
    };
    let input = match (case.member("input"), case.member("input_b64")) {
        (Some(text), _) => Some(text.as_str().ok_or(wrong("`input` is no string"))?.into_owned()),
        (None, Some(base64)) => Some(decoded(base64)?),
        (None, None) => None,
    };
    let blobs = case.member("blobs").and_then(Value::as_array).unwrap_or_default().iter();
    let blobs = blobs.map(|blob| decoded(blob.member("bytes_b64").unwrap_or(&Value::Null))).collect::<Result<_, _>>()?;
    let ops = case.member("ops").and_then(Value::as_array).ok_or(wrong("`ops` is no array"))?;
    let ops = ops.iter().map(|op| (line, op.clone())).collect();
    Ok(Script { name: case.member("name").map(text_of), input, blobs, ops })
}

/// A value that gjc refuses to store.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Unwritable {
    /// An array holds `undefined` at this path.
    UndefinedItem(String),
    /// A BigInt has no JSON text.
    BigInt,
}

/// The operation with its macros replaced by what they stand for.
fn expand(op: &Value, named: &BTreeMap<JsString, Value>) -> Result<Value, Unwritable> {
    let mut expanded = op.clone();
    // Place 0 is above everything.
    let mut expand = Expand { named, places: vec![Step::default()], refused: None };
    reshape(&mut expanded, 0, &mut expand);
    expand.refused.map_or(Ok(expanded), Err)
}

struct Expand<'n> {
    named: &'n BTreeMap<JsString, Value>,
    /// The containers met so far.
    places: Vec<Step>,
    refused: Option<Unwritable>,
}

/// A container: where it hangs, and how many values were met in it.
#[derive(Default)]
struct Step {
    above: usize,
    /// The member `.key`, or the element `[n]`.
    segment: String,
    array: bool,
    met: usize,
}

impl Reshape for Expand<'_> {
    type Context = usize;

    fn enter(&mut self, value: &mut Value, key: Option<&JsString>, above: usize) -> (bool, usize) {
        let container = &mut self.places[above];
        let segment = if container.array { format!("[{}]", container.met) } else { key.map(|key| format!(".{key}")).unwrap_or_default() };
        container.met += 1;
        if is_macro(value, "$undefined") {
            // In an object it is taken out on the way down into the object; what is left stands in an array.
            self.refuse(above, &segment);
        }
        let made = self.make(value);
        let changed = made.is_some();
        if let Some(made) = made {
            *value = made;
        }
        if let Value::Object(object) = value {
            object.retain(|_, member| !is_macro(member, "$undefined"));
        }
        if !matches!(value, Value::Array(_) | Value::Object(_)) {
            return (changed, above);
        }
        self.places.push(Step { above, segment, array: matches!(value, Value::Array(_)), met: 0 });
        (changed, self.places.len() - 1)
    }
}

impl Expand<'_> {
    /// Remembers the first `undefined` in an array.
    fn refuse(&mut self, above: usize, own: &str) {
        let mut path = vec![own];
        let mut at = above;
        while at != 0 {
            path.push(&self.places[at].segment);
            at = self.places[at].above;
        }
        path.reverse();
        self.refused.get_or_insert(Unwritable::UndefinedItem(path.concat()));
    }

    /// What a macro stands for; none for what is no macro.
    fn make(&mut self, value: &Value) -> Option<Value> {
        let object = value.as_object().filter(|object| object.iter().any(|(key, _)| key.as_bytes().starts_with(b"$")))?;
        if object.contains("$bigint") {
            self.refused.get_or_insert(Unwritable::BigInt);
            return Some(Value::Null);
        }
        if let Some(Value::String(name)) = object.get("$ref") {
            return Some(self.named.get(name).cloned().unwrap_or_default());
        }
        if let Some(number) = object.get("$number") {
            let text = number.as_str()?.into_owned();
            return Some(Value::Number(match text.as_slice() {
                b"Infinity" => f64::INFINITY,
                b"-Infinity" => f64::NEG_INFINITY,
                b"NaN" => f64::NAN,
                number => crate::json::number::parse(number),
            }));
        }
        if let Some(date) = object.get("$date") {
            return Some(date.clone());
        }
        if object.contains("$map") {
            return Some(Value::Object(Object::new()));
        }
        if let Some(bytes) = object.get("$bytes").and_then(Value::as_array) {
            return Some(Value::Object(bytes.iter().enumerate().map(|(index, byte)| (index.to_string(), byte.clone())).collect()));
        }
        macro_text(value).map(|text| Value::String(JsString::from_wtf8(text)))
    }
}

fn is_macro(value: &Value, name: &str) -> bool {
    value.as_object().is_some_and(|object| object.len() == 1 && object.contains(name))
}

/// The text that a macro makes. Macros nest in `$concat` only, and not deeper than that.
fn macro_text(value: &Value) -> Option<Vec<u8>> {
    match value.member("$concat").and_then(Value::as_array) {
        None => simple_text(value),
        Some(parts) => {
            let mut joined = Vec::new();
            for part in parts {
                text::push_wtf8(&mut joined, &simple_text(part)?);
            }
            Some(joined)
        }
    }
}

fn simple_text(value: &Value) -> Option<Vec<u8>> {
    let count = |of: &Value| of.member("count").and_then(View::as_f64).unwrap_or(1.0) as usize;
    if let Value::String(text) = value {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(Value::String(unit)) = value.member("$repeat") {
        let count = count(value).min(LONGEST_TEXT / unit.as_bytes().len().max(1));
        return Some(unit.as_bytes().repeat(count));
    }
    if let Some(bytes) = value.member("$base64_of") {
        let byte = bytes.member("byte").and_then(View::as_f64).unwrap_or_default() as u8;
        return Some(data_encoding::BASE64.encode(&vec![byte; count(bytes).min(LONGEST_TEXT)]).into_bytes());
    }
    let units = value.member("$code_units").and_then(Value::as_array)?;
    Some(text::from_units(units.iter().map(|unit| unit.as_f64().unwrap_or_default() as u16)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;

    fn expanded(text: &str) -> Result<String, Unwritable> {
        let named = BTreeMap::from([(JsString::from("a"), Value::string("id-a"))]);
        expand(&Value::parse(text.as_bytes()).unwrap(), &named).map(|value| to_text(&value))
    }

    #[test]
    fn a_script_is_operations_or_cases() {
        let op = r#"{"op":"flush"}"#;
        let count = |text: &str| scripts(text.as_bytes()).map(|scripts| scripts.iter().map(|script| script.ops.len()).collect::<Vec<_>>());
        assert_eq!(count(op), Ok(vec![1]));
        assert_eq!(count(&format!("{op}\n\n{op}\n")), Ok(vec![2]));
        assert_eq!(count(&format!("[{op},\n{op}]")), Ok(vec![2]));
        assert_eq!(count(&format!("{{\"name\":\"n\",\n\"ops\":[{op}]}}")), Ok(vec![1]));
        let cases =
            format!("{{\"ops\":[]}}\n{{\"name\":\"b\",\"input_b64\":\"YQ==\",\"blobs\":[{{\"bytes_b64\":\"Yg==\"}}],\"ops\":[{op}]}}\n");
        let read = scripts(cases.as_bytes()).unwrap();
        assert_eq!((read.len(), read[1].name.as_deref()), (2, Some("b")));
        assert_eq!((read[1].input.as_deref(), &read[1].blobs, read[1].ops[0].0), (Some(&b"a"[..]), &vec![b"b".to_vec()], 2));
        assert_eq!(count(""), Ok(vec![0]));
        let wrong = |text: &str| scripts(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(wrong("{\n"), "1: this is no JSON");
        assert_eq!(wrong(&format!("{cases}{op}\n")), "3: an operation among cases");
        assert_eq!(wrong("{\"input_b64\":\"?\",\"ops\":[]}"), "1: this is no Base64");
    }

    #[test]
    fn macros_stand_for_what_json_cannot_say() {
        for (text, value) in [
            (r#"{"x":{"$repeat":"ab","count":2}}"#, r#"{"x":"abab"}"#),
            (r#"{"x":{"$concat":[{"$repeat":"r","count":2},"s",{"$code_units":[55296]}]}}"#, r#"{"x":"rrs\ud800"}"#),
            (r#"{"x":[{"$base64_of":{"byte":0,"count":3}}]}"#, r#"{"x":["AAAA"]}"#),
            (r#"{"x":{"$ref":"a"},"y":{"$ref":"none"}}"#, r#"{"x":"id-a","y":null}"#),
            (r#"{"x":[{"$number":"Infinity"},{"$number":"-0"}]}"#, r#"{"x":[null,0]}"#),
            (r#"{"x":{"$bytes":[1,255]}}"#, r#"{"x":{"0":1,"1":255}}"#),
            (r#"{"x":{"$map":[]},"y":{"$date":"2026-05-05T05:05:05.005Z"}}"#, r#"{"x":{},"y":"2026-05-05T05:05:05.005Z"}"#),
            (r#"{"x":{"a":{"$undefined":true},"b":1},"y":{"$undefined":true}}"#, r#"{"x":{"b":1}}"#),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(value));
        }
    }

    #[test]
    fn what_gjc_refuses_to_store_is_named() {
        assert_eq!(expanded(r#"{"m":{"c":[1,{"$undefined":true}]}}"#), Err(Unwritable::UndefinedItem(".m.c[1]".into())));
        assert_eq!(expanded(r#"{"d":{"l":[0,[{"$undefined":true}]]}}"#), Err(Unwritable::UndefinedItem(".d.l[1][0]".into())));
        assert_eq!(expanded(r#"{"n":{"$bigint":"1"}}"#), Err(Unwritable::BigInt));
    }
}
