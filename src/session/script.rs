//! Operation scripts: what a [`Manager`] is told to do, as JSON. The names of operations and of their members are those of
//! gjc's session manager (`tests/vectors/README.md` lists them, with the macros for what JSON cannot say).

use super::content::Content;
use super::manager::{Manager, OpError, World};
use super::place::Place;
use super::selection::{Domain, Named};
use super::successor::no_scope;
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
        let (fields, refused) = expand(op, &self.named);
        if let Some(Unwritable::UndefinedItem(path)) = refused {
            // The leaf moves before the summary is looked at.
            if name == "branchWithSummary"
                && let Err(error) = self.branch_point(&fields)
            {
                return Ok(Did::Threw(error));
            }
            return Ok(Did::Threw(OpError::plain(format!("Session entry contains undefined array item at entry{path}"))));
        }
        self.manager.set_unwritable(refused.is_some());
        let operated = self.operate(&name, &fields);
        self.manager.set_unwritable(false);
        Ok(match operated? {
            Err(error) => Did::Threw(error),
            Ok(returned) => {
                if let Some(Value::String(label)) = op.member("as") {
                    self.named.insert(label.clone(), returned.clone());
                }
                Did::Returned(returned)
            }
        })
    }

    /// Moves the leaf to where a branch begins.
    fn branch_point(&mut self, fields: &Value) -> Result<(), OpError> {
        match entry_in(fields, "entryId")? {
            Value::Null => {
                self.manager.reset_leaf();
                Ok(())
            }
            entry => self.manager.branch(entry),
        }
    }

    fn operate(&mut self, name: &str, fields: &Value) -> Result<Result<Value, OpError>, Wrong> {
        match content(name, fields)? {
            Some(content) => Ok(self.manager.append(content).map(Value::String)),
            None => self.act(name, fields),
        }
    }

    /// Any operation but those that only append.
    fn act(&mut self, name: &str, fields: &Value) -> Result<Result<Value, OpError>, Wrong> {
        let of = |key: &str| fields.member(key).cloned();
        let must = |key: &'static str| of(key).ok_or(Wrong::Missing(key));
        let manager = &mut self.manager;
        Ok(match name {
            "appendCustomMessageEntry" => manager.append_custom_message(fields, of("observationId")).map(Value::String),
            "appendLabelChange" => entry_in(fields, "targetId").and_then(|target| manager.label(target, of("label"))).map(Value::String),
            "branch" => entry_in(fields, "entryId").and_then(|entry| manager.branch(entry)).map(|()| Value::Null),
            "branchWithSummary" => {
                let summary = must("summary")?;
                entry_in(fields, "entryId")
                    .and_then(|entry| manager.branch_with_summary(entry, summary, of("details"), of("fromExtension")))
                    .map(Value::String)
            }
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
            "appendContextClearEntry" | "appendContextClear" => manager.clear_context(of("data")).map(Value::String),
            "setStarred" => manager.set_starred(fields.member("starred").is_none_or(View::truthy)).map(Value::Bool),
            "flush" => manager.flush().map(|()| Value::Null),
            "selectTools" => self.select_tools(fields),
            "fork" => manager.fork().map(|_| Value::Null),
            "moveTo" => self.move_to(fields, &text_of(&must("cwd")?)),
            "forkFrom" => manager.fork_file(&text_of(&must("path")?)).map(|()| Value::Null).map_err(OpError::from),
            "saveDraft" => manager.save_draft(&text_of(&must("text")?)).map(|()| Value::Null),
            "consumeDraft" => manager.take_draft().map(|text| text.map_or(Value::Null, Value::string)),
            "setSessionFile" => {
                let cancels = fields.member("cancelled").is_some_and(View::truthy);
                let switched = manager.switch(&text_of(&must("path")?), &mut Quiet { cancels });
                switched.map(|switched| Value::Bool(switched == Switched::Yes))
            }
            "createBranchedSession" => self.branched_session(fields),
            _ => return Err(Wrong::Unknown(name.to_owned())),
        })
    }

    /// `tools`, `correlation`: the tools of a new session.
    fn select_tools(&mut self, fields: &Value) -> Result<Value, OpError> {
        let named = fields.member("tools").map(tools_of);
        let correlation =
            || fields.str_member("correlation").map_or_else(|| "correlation".into(), |id| JsString::from_wtf8(id.into_owned()));
        let ids = self.manager.select_tools(named.as_deref(), correlation)?;
        Ok(Value::Array(ids.into_iter().map(Value::String).collect::<Vec<_>>().into()))
    }

    /// Moves to a workspace: in a `directory`, in the managed scope of an `agentDir`, or beside where the session is.
    fn move_to(&mut self, fields: &Value, cwd: &str) -> Result<Value, OpError> {
        let text = |key| fields.member(key).map(text_of);
        let (here, storage) = (self.manager.place(), self.manager.storage());
        let place = match (text("directory"), text("agentDir")) {
            (Some(directory), _) => Ok(Place::explicit(cwd, directory, here.release())),
            (None, Some(agent_dir)) => Place::managed_in(storage, &agent_dir, cwd, here.release()),
            (None, None) => here.beside(storage, cwd),
        };
        place.map_err(no_scope).and_then(|place| self.manager.move_to(place)).map(|_| Value::Null)
    }

    /// Branches at `leafId`; without one at the current leaf.
    fn branched_session(&mut self, fields: &Value) -> Result<Value, OpError> {
        let current = || Some(self.manager.session().leaf().clone());
        let leaf = fields.member("leafId").filter(|leaf| **leaf != Value::Null).cloned().or_else(current);
        let leaf = leaf.filter(|leaf| *leaf != Value::Null).map_or_else(|| entry_in(fields, "leafId"), Ok)?;
        self.manager.branched_session(&leaf).map(|()| Value::Null)
    }
}

/// What an operation that only appends appends; none for any other.
fn content(name: &str, fields: &Value) -> Result<Option<Content>, Wrong> {
    let of = |key: &str| fields.member(key).cloned();
    let must = |key: &'static str| of(key).ok_or(Wrong::Missing(key));
    Ok(Some(match name {
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
        "appendSessionInit" => {
            // `init` holds the members, or they stand in the operation itself.
            let given = fields.member("init").unwrap_or(fields).as_object().into_iter().flat_map(Object::iter);
            let own = fields.member("init").is_none();
            Content::session_init(given.filter(|(key, _)| !(own && (**key == *"op" || **key == *"as"))))
        }
        "appendCustomEntry" => Content::custom(must("customType")?, of("data")),
        _ => return Ok(None),
    }))
}

/// The id of an entry in a member; none names the entry `undefined`, which there never is.
fn entry_in(fields: &Value, key: &str) -> Result<Value, OpError> {
    fields.member(key).cloned().ok_or_else(|| OpError::plain("Entry undefined not found"))
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

/// The operation with its macros replaced by what they stand for, and what gjc refuses of it. An array item that is not
/// defined is looked for before anything is written, so it counts first.
fn expand(op: &Value, named: &BTreeMap<JsString, Value>) -> (Value, Option<Unwritable>) {
    let mut expanded = op.clone();
    // Place 0 is above everything.
    let mut expand = Expand { named, places: vec![Step::default()], undefined: None, bigint: false };
    reshape(&mut expanded, 0, &mut expand);
    (expanded, expand.undefined.map(Unwritable::UndefinedItem).or(expand.bigint.then_some(Unwritable::BigInt)))
}

struct Expand<'n> {
    named: &'n BTreeMap<JsString, Value>,
    /// The containers met so far.
    places: Vec<Step>,
    /// Path of the first array item that is not defined.
    undefined: Option<String>,
    bigint: bool,
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
        self.undefined.get_or_insert(path.concat());
    }

    /// What a macro stands for; none for what is no macro.
    fn make(&mut self, value: &Value) -> Option<Value> {
        let object = value.as_object().filter(|object| object.iter().any(|(key, _)| key.as_bytes().starts_with(b"$")))?;
        if object.contains("$bigint") {
            self.bigint = true;
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
        None => simple_text(value, LONGEST_TEXT),
        Some(parts) => {
            let mut joined = Vec::new();
            for part in parts {
                // All parts together are no longer than one may be.
                let left = LONGEST_TEXT.saturating_sub(joined.len());
                text::push_wtf8(&mut joined, &simple_text(part, left)?);
            }
            Some(joined)
        }
    }
}

/// A text; of what a macro repeats at most `most` bytes.
fn simple_text(value: &Value, most: usize) -> Option<Vec<u8>> {
    let count = |of: &Value| of.member("count").and_then(View::as_f64).unwrap_or(1.0) as usize;
    if let Value::String(text) = value {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(Value::String(unit)) = value.member("$repeat") {
        let count = count(value).min(most / unit.as_bytes().len().max(1));
        return Some(unit.as_bytes().repeat(count));
    }
    if let Some(bytes) = value.member("$base64_of") {
        let byte = bytes.member("byte").and_then(View::as_f64).unwrap_or_default() as u8;
        return Some(data_encoding::BASE64.encode(&vec![byte; count(bytes).min(most)]).into_bytes());
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
        let (value, refused) = expand(&Value::parse(text.as_bytes()).unwrap(), &named);
        refused.map_or_else(|| Ok(to_text(&value)), Err)
    }

    #[test]
    fn the_parts_of_a_text_are_bounded_together() {
        let part = format!("{{\"$repeat\":\"r\",\"count\":{}}}", LONGEST_TEXT / 2);
        let text = |parts: usize| {
            let parts = vec![part.clone(); parts].join(",");
            macro_text(&Value::parse(format!("{{\"$concat\":[{parts}]}}").as_bytes()).unwrap()).unwrap().len()
        };
        assert_eq!((text(1), text(2), text(9)), (LONGEST_TEXT / 2, LONGEST_TEXT / 2 * 2, LONGEST_TEXT));
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
        assert_eq!(expanded(r#"{"a":{"$bigint":"1"},"b":[{"$undefined":true}]}"#), Err(Unwritable::UndefinedItem(".b[0]".into())));
    }

    /// Runs operations on a new session: what each one answered, and the file.
    fn ran(ops: &[&str]) -> (Vec<String>, Option<String>, usize) {
        use crate::session::storage::{Memory, SessionStorage};
        use crate::session::tests::{Counted, place};
        let storage = Memory::new();
        let manager = Manager::create(Counted::default(), crate::transcript::blobs::MemoryStore::default(), &storage, place(), None);
        let mut runner = Runner::new(manager.unwrap());
        let answer = |did: Result<Did, Wrong>| match did {
            Ok(Did::Returned(value)) => to_text(&value),
            Ok(Did::Threw(error)) => format!("{}: {error}", error.class),
            Ok(Did::Snapshot(..)) => "snapshot".to_owned(),
            Err(wrong) => wrong.to_string(),
        };
        let did = ops.iter().map(|op| answer(runner.run(&Value::parse(op.as_bytes()).unwrap()))).collect();
        let manager = runner.into_manager();
        let path = manager.session_file().unwrap().to_owned();
        let file = storage.read(&path).ok().map(|bytes| String::from_utf8(bytes).unwrap());
        (did, file, manager.store().iter().count())
    }
    const ASKED: &str = r#"{"op":"appendMessage","as":"q","message":{"role":"user","content":"q"}}"#;
    const ANSWERED: &str = r#"{"op":"appendMessage","message":{"role":"assistant","content":"a"}}"#;

    /// A number without a JSON form fails when it is written, and with it all that is written together with it.
    #[test]
    fn a_bigint_is_an_error_of_the_operation_that_writes_it() {
        let bigint = r#"{"op":"appendMessage","message":{"role":"user","n":{"$bigint":"1"}}}"#;
        let failed = "SessionAppendPersistenceError: JSON.stringify cannot serialize BigInt.";
        let (did, file, _) = ran(&[bigint, ANSWERED, ASKED, r#"{"op":"rewriteEntries"}"#]);
        assert_eq!(did, ["\"e1\"", failed, failed, "TypeError: JSON.stringify cannot serialize BigInt."]);
        assert_eq!(file, None);
        let (did, file, _) = ran(&[ANSWERED, bigint, ASKED, r#"{"op":"newSession"}"#, ANSWERED]);
        assert_eq!((&did[1..3], did[4].as_str()), (&[failed.to_owned(), failed.to_owned()][..], "\"e4\""));
        assert_eq!(file.map(|file| file.lines().count()), Some(2));
        // An array item that is not defined is no failure of persistence.
        let both = r#"{"op":"appendCustomEntry","customType":"k","data":{"a":{"$bigint":"1"},"b":[{"$undefined":true}]}}"#;
        let (did, file, _) = ran(&[ANSWERED, both, ASKED]);
        assert_eq!(did[1], "Error: Session entry contains undefined array item at entry.data.b[0]");
        assert_eq!(file.map(|file| file.lines().count()), Some(3));
    }

    #[test]
    fn a_failure_of_persistence_is_raw_outside_appends_and_concerns_what_is_written() {
        let bigint = r#"{"op":"appendCustomEntry","customType":"k","data":{"$bigint":"1"}}"#;
        let (by_user, by_gjc) = (r#"{"op":"setSessionName","name":"n","source":"user"}"#, r#"{"op":"setSessionName","name":"m"}"#);
        let (ensure, rewrite) = (r#"{"op":"ensureOnDisk"}"#, r#"{"op":"rewriteEntries"}"#);
        let raw = "TypeError: JSON.stringify cannot serialize BigInt.";
        let (did, file, _) = ran(&[ANSWERED, bigint, by_user, by_gjc, ensure, rewrite]);
        assert_eq!(did[2..], [raw, "false", "null", raw]);
        assert!(!file.unwrap().contains("title"));
        // Without a file nothing is written, so nothing fails.
        let (did, file, _) = ran(&[bigint, ANSWERED, by_user]);
        assert_eq!((did[2].as_str(), file), ("true", None));
    }

    /// A branched session is written, and keeps the failure and whose the name is, though not the name.
    #[test]
    fn a_branched_session_keeps_more_of_the_old_one_than_a_new_one() {
        let (bigint, branched) =
            (r#"{"op":"appendCustomEntry","customType":"k","data":{"$bigint":"1"}}"#, r#"{"op":"createBranchedSession"}"#);
        let (did, file, _) = ran(&[ANSWERED, bigint, branched, ASKED]);
        assert_eq!(did[3], "SessionAppendPersistenceError: JSON.stringify cannot serialize BigInt.");
        assert_eq!(file.map(|file| file.lines().count()), Some(2));
        let (by_user, by_gjc) = (r#"{"op":"setSessionName","name":"n","source":"user"}"#, r#"{"op":"setSessionName","name":"m"}"#);
        assert_eq!(ran(&[ANSWERED, by_user, branched, by_gjc]).0[3], "false");
        assert_eq!(ran(&[ANSWERED, by_user, r#"{"op":"newSession"}"#, by_gjc]).0[3], "true");
    }

    /// Entries of a branch of a session without a file wait for an answer though the branch has one.
    #[test]
    fn a_branch_of_a_session_without_a_file_waits_for_an_answer() {
        let (branched, snapshot) = (r#"{"op":"createBranchedSession"}"#, r#"{"op":"snapshot","as":"s"}"#);
        let count = |ops: &[&str]| ran(ops).1.map(|file| file.lines().count());
        assert_eq!(count(&[ASKED, branched]), Some(2));
        assert_eq!(count(&[ASKED, branched, ASKED, ASKED, snapshot]), Some(2));
        assert_eq!(count(&[ASKED, branched, ASKED, ANSWERED]), Some(4));
        assert_eq!(count(&[ASKED, branched, ANSWERED, ASKED]), Some(4));
        assert_eq!(count(&[ASKED, branched, ASKED, r#"{"op":"setSessionName","name":"n"}"#]), Some(3));
        assert_eq!(count(&[ASKED, branched, ASKED, r#"{"op":"ensureOnDisk"}"#]), Some(3));
        // Where there was a file nothing waits.
        assert_eq!(count(&[ASKED, r#"{"op":"ensureOnDisk"}"#, branched, ASKED]), Some(3));
    }

    #[test]
    fn an_image_is_in_the_store_when_its_entry_is_appended() {
        let image =
            r#"{"op":"appendMessage","message":{"role":"user","content":[{"type":"image","data":{"$base64_of":{"byte":0,"count":768}}}]}}"#;
        let (_, file, blobs) = ran(&[image]);
        assert_eq!((file, blobs), (None, 1));
    }

    #[test]
    fn an_entry_that_is_not_named_is_not_found_and_a_leaf_that_is_not_is_the_current_one() {
        let missing = "Error: Entry undefined not found";
        let (did, ..) =
            ran(&[r#"{"op":"branch"}"#, r#"{"op":"branchWithSummary","summary":"s"}"#, r#"{"op":"appendLabelChange","label":"l"}"#]);
        assert_eq!(did, [missing; 3]);
        let (did, file, _) = ran(&[ASKED, ANSWERED, r#"{"op":"createBranchedSession","leafId":null}"#]);
        assert_eq!((did[2].as_str(), file.map(|file| file.lines().count())), ("null", Some(3)));
        assert_eq!(ran(&[r#"{"op":"createBranchedSession"}"#]).0, [missing]);
    }

    /// The leaf is at the branch point before the summary is looked at, and stays there.
    #[test]
    fn a_branch_whose_summary_fails_has_branched() {
        let summary = r#"{"op":"branchWithSummary","entryId":{"$ref":"q"},"summary":"s","details":[{"$undefined":true}]}"#;
        let (did, file, _) = ran(&[ASKED, ANSWERED, summary, ASKED]);
        assert_eq!(did[2], "Error: Session entry contains undefined array item at entry.details[0]");
        assert!(file.unwrap().lines().last().unwrap().contains(r#""parentId":"e1""#));
    }

    #[test]
    fn a_cleared_context_and_a_beginning_say_what_they_are_given() {
        let clear = r#"{"op":"appendContextClearEntry","data":{"d":1}}"#;
        let begin = r#"{"op":"appendSessionInit","tools":[],"zeta":1,"systemPrompt":"s","as":"i"}"#;
        let nested = r#"{"op":"appendSessionInit","init":{"task":"t","as":"x"}}"#;
        let (_, file, _) = ran(&[ANSWERED, clear, begin, nested]);
        let file = file.unwrap();
        let lines: Vec<&str> = file.lines().skip(2).collect();
        assert!(
            lines[0].starts_with(r#"{"type":"custom","customType":"context_clear","data":{"d":1},"id":"e2","parentId":null,"#),
            "{}",
            lines[0]
        );
        assert!(lines[1].ends_with(r#""tools":[],"zeta":1,"systemPrompt":"s"}"#), "{}", lines[1]);
        assert!(lines[2].ends_with(r#""task":"t","as":"x"}"#), "{}", lines[2]);
    }
}
