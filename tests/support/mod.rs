//! How the recorded suites are run (`tests/vectors/README.md` describes their format).
//!
//! `GJC_FSCK_VECTORS` names another folder of suites.

pub mod place;

use gjc_fsck::json::{Object, Value, View, stringify};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// One line of a suite.
pub struct Case {
    value: Value,
}

impl Case {
    /// The case that a line of a suite holds.
    pub fn parse(line: &[u8]) -> Case {
        Case { value: spelled_out(Value::parse(line).expect("every line of a suite is JSON")) }
    }
    /// Its name, unique in the suite.
    pub fn name(&self) -> String {
        self.text("name").expect("every case has a name")
    }
    /// A member of the case.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.value.member(key)
    }
    /// A string member of the case.
    pub fn text(&self, key: &str) -> Option<String> {
        self.value.member(key).and_then(string)
    }
    /// A member of `expect`.
    pub fn expect(&self, key: &str) -> Option<&Value> {
        self.value.member("expect").and_then(|expect| expect.member(key))
    }
    /// The bytes of the file: `input` (a recipe) or `input_b64`.
    pub fn input(&self) -> Vec<u8> {
        match (self.get("input"), self.text("input_b64")) {
            (Some(recipe), _) => bytes(recipe),
            (None, Some(base64)) => data_encoding::BASE64.decode(base64.as_bytes()).expect("input_b64 is Base64"),
            (None, None) => Vec::new(),
        }
    }
}

/// The cases of other suites, for those of `inspect` that refer to one instead of having an input.
pub struct Others(HashMap<String, Case>);

impl Others {
    /// Reads the suites that can be referred to.
    pub fn read() -> Others {
        let suites = ["parse", "load", "migrate", "context"];
        Others(
            suites
                .into_iter()
                .filter(|suite| folder().join(format!("{suite}.jsonl")).exists())
                .flat_map(|suite| cases(suite).into_iter().map(move |case| (format!("{suite}/{}", case.name()), case)))
                .collect(),
        )
    }
    /// The case whose input `case` is about: the one it refers to, else itself.
    pub fn subject<'c>(&'c self, case: &'c Case) -> Result<&'c Case, String> {
        let Some(name) = case.text("case") else { return Ok(case) };
        let name = format!("{}/{name}", case.text("suite").unwrap_or_default());
        self.0.get(&name).ok_or(format!("no case {name}"))
    }
}

/// The bytes that a recipe describes: a string, `{"$repeat": text, "count": n}` or `{"$concat": [recipe, …]}`.
pub fn bytes(recipe: &Value) -> Vec<u8> {
    if let Value::String(text) = recipe {
        return text.as_bytes().to_vec();
    }
    if let Some(parts) = recipe.member("$concat").and_then(Value::as_array) {
        return parts.iter().flat_map(bytes).collect();
    }
    let text = recipe.member("$repeat").expect("a recipe is a string, $repeat or $concat");
    let count = recipe.member("count").and_then(View::as_f64).expect("$repeat has a count");
    bytes(text).repeat(count as usize)
}

/// The text of a string value.
pub fn string(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// What `JSON.stringify` prints for a value.
pub fn json(value: &Value) -> String {
    stringify::to_text(value)
}

/// Right when two texts are the same; else both, cut to what can be read.
pub fn same(want: &str, got: &str) -> Result<(), String> {
    if want == got {
        return Ok(());
    }
    let differ = want.bytes().zip(got.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| -> String {
        let from = differ.saturating_sub(60);
        String::from_utf8_lossy(&text.as_bytes()[from.min(text.len())..]).chars().take(300).collect()
    };
    Err(format!("they differ at byte {differ}\n  want …{}\n  got  …{}", around(want), around(got)))
}

/// The folder of the suites.
pub fn folder() -> PathBuf {
    std::env::var_os("GJC_FSCK_VECTORS").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from)
}

/// The cases of a suite.
pub fn cases(suite: &str) -> Vec<Case> {
    let path = folder().join(format!("{suite}.jsonl"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(Case::parse).collect()
}

/// The value with a member `X` beside every `X_text` that holds a JSON text, or an array of them, in its place: strict JSON
/// cannot carry lone surrogates and deep nesting.
fn spelled_out(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.as_slice().iter().cloned().map(spelled_out).collect::<Vec<_>>().into()),
        Value::Object(members) => {
            let mut all: Object = members.iter().map(|(key, member)| (key.clone(), spelled_out(member.clone()))).collect();
            for (key, texts) in members.iter() {
                if let Some(plain) = key.to_string().strip_suffix("_text").filter(|plain| !members.contains(plain))
                    && let Some(meant) = from_text(texts)
                {
                    all.set(plain, meant);
                }
            }
            Value::Object(all)
        }
        scalar => scalar,
    }
}

/// The value that a JSON text means; of an array of texts, the array of their values.
fn from_text(texts: &Value) -> Option<Value> {
    match texts {
        Value::String(text) => Value::parse(text.as_bytes()),
        Value::Array(texts) => Some(Value::Array(texts.as_slice().iter().map(from_text).collect::<Option<Vec<_>>>()?.into())),
        _ => None,
    }
}

/// Runs every case of a suite, prints `SUITE passed/total`, and fails unless all hold. A case that panics does not hold.
pub fn run(suite: &str, holds: impl Fn(&Case) -> Result<(), String>) {
    run_cases(suite, cases(suite), holds);
}

/// The same with chosen cases of a suite.
pub fn run_cases(suite: &str, cases: Vec<Case>, holds: impl Fn(&Case) -> Result<(), String>) {
    let mut passed = 0;
    for case in &cases {
        match catch_unwind(AssertUnwindSafe(|| holds(case))) {
            Ok(Ok(())) => passed += 1,
            Ok(Err(why)) => println!("{suite} {}: {why}", case.name()),
            Err(_) => println!("{suite} {}: panicked", case.name()),
        }
    }
    println!("{suite} {passed}/{}", cases.len());
    assert!(!cases.is_empty(), "{suite} has no case");
    assert_eq!(passed, cases.len(), "{suite}: not every case holds");
}
