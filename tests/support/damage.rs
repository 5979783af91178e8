//! Damage for properties: recorded inputs, and a list of edits of the kinds that harm transcripts in the field. What shrinks is
//! the list of edits and each edit, never the bytes: a counterexample is a known file and the few things done to it.

use crate::support::{Case, cases};
use gjc_fsck::json::{Value, View};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use std::path::Path;
use std::sync::LazyLock;

/// What the properties start from.
pub struct Seeds {
    /// Inputs of the recorded suites that are not huge, each once.
    pub suites: Vec<Vec<u8>>,
    /// The field inputs.
    pub field: Vec<Vec<u8>>,
}

/// Both kinds, the smallest first, since the first ones are what a counterexample shrinks to.
pub static SEEDS: LazyLock<Seeds> = LazyLock::new(|| {
    let suites = ["parse", "load", "migrate", "context", "persist", "inspect", "open", "n17"];
    let suites = suites.into_iter().flat_map(cases).filter(own).map(|case| case.input());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/field");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let field =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).map(|path| std::fs::read(path).unwrap());
    Seeds { suites: smallest_first(suites.collect()), field: smallest_first(field.collect()) }
});

/// A case that has an input of its own, and no huge one.
fn own(case: &Case) -> bool {
    case.get("suite").is_none() && case.get("input").is_none_or(|recipe| size(recipe) < 1 << 16)
}

/// Bytes that a recipe describes; some describe hundreds of megabytes.
fn size(recipe: &Value) -> usize {
    match (recipe, recipe.member("$repeat"), recipe.member("$concat")) {
        (Value::String(text), ..) => text.as_bytes().len(),
        (_, Some(text), _) => size(text).saturating_mul(recipe.member("count").and_then(View::as_f64).unwrap_or(1.0) as usize),
        (.., Some(parts)) => parts.as_array().unwrap_or_default().iter().map(size).sum(),
        _ => 0,
    }
}

fn smallest_first(mut inputs: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    assert!(inputs.len() > 50, "there is something to start from");
    inputs.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    inputs.dedup();
    inputs
}

/// How many cases a property takes, the same ones in every run and on every machine. `GJC_FSCK_MUTATIONS` multiplies them.
pub fn config(cases: u32) -> ProptestConfig {
    let times = std::env::var("GJC_FSCK_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig {
        cases: cases.saturating_mul(times),
        rng_seed: RngSeed::Fixed(0x9E37_79B9_7F4A_7C15),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    }
}

/// Text that damage leaves behind.
const PIECES: [&str; 18] = [
    "\n",
    "\r\n",
    "\0",
    "{",
    "}",
    "\"",
    "\\",
    ",",
    "null",
    "\n \n",
    "\u{FEFF}",
    "\n\u{FEFF}",
    "\u{A0}",
    "\n<<<<<<< HEAD\n",
    "\n{\"type\":\"header_patch\",\"patch\":{}}\n",
    "\n{\"type\":\"entry_patch\",\"entryId\":\"aaaaaaa1\",\"patch\":{\"message\":{}}}\n",
    "\n{\"type\":\"label\",\"id\":\"l\",\"parentId\":null,\"timestamp\":\"t\",\"targetId\":\"x\"}\n",
    "\n{\"type\":\"compaction\",\"id\":\"c\",\"parentId\":null,\"timestamp\":\"t\",\"summary\":\"\",\"firstKeptEntryId\":\"x\",\"tokensBefore\":0}\n",
];

/// What may stand where a member's value stood.
const VALUES: [&str; 18] = [
    "null",
    "true",
    "0",
    "-0",
    "1",
    "4",
    "6",
    "1e999",
    "1.5",
    "9007199254740993",
    "\"\"",
    "\"x\"",
    "\"\\ud800\"",
    "\"blob:sha256:0000000000000000000000000000000000000000000000000000000000000000\"",
    "[]",
    "[null,7]",
    "{}",
    "{\"__proto__\":{},\"type\":\"text\"}",
];

/// A word of the format, and what may stand in its place.
const WORDS: [(&str, &str); 10] = [
    ("\"version\":5", "\"version\":1"),
    ("\"version\":5", "\"version\":2"),
    ("\"version\":5", "\"version\":4"),
    ("\"type\":\"message\"", "\"type\":\"compaction\""),
    ("\"type\":\"message\"", "\"type\":\"entry_patch\""),
    ("\"role\":\"user\"", "\"role\":7"),
    ("\"role\":\"user\"", "\"role\":\"toolResult\""),
    ("\"parentId\":\"", "\"parentId\":\"x"),
    ("\"id\":", "\"targetId\":"),
    ("\"content\":", "\"content\":1,\"content\":"),
];

/// One way to harm a file.
#[derive(Clone, Debug)]
pub enum Edit {
    /// The file ends there.
    Cut(Index),
    /// So many bytes are gone.
    Remove(Index, usize),
    /// A byte is another one.
    Byte(Index, u8),
    /// Something stands there that does not belong there.
    Insert(Index, &'static str),
    /// The next line end is gone.
    Join(Index),
    /// A line stands a second time, somewhere else.
    Repeat(Index, Index),
    /// A line stands somewhere else.
    Move(Index, Index),
    /// A member has another value.
    Value(Index, &'static str),
    /// A member has the value that another member has: ids that meet, parents that form a ring.
    Borrow(Index, Index),
    /// The first of a word after that place is another one.
    Word(Index, (&'static str, &'static str)),
}

/// Any edit.
pub fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        1 => at().prop_map(Edit::Cut),
        1 => (at(), 1..40usize).prop_map(|(at, bytes)| Edit::Remove(at, bytes)),
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        2 => (at(), prop::sample::select(&PIECES[..])).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        1 => at().prop_map(Edit::Join),
        1 => (at(), at()).prop_map(|(from, to)| Edit::Repeat(from, to)),
        1 => (at(), at()).prop_map(|(from, to)| Edit::Move(from, to)),
        3 => (at(), prop::sample::select(&VALUES[..])).prop_map(|(at, value)| Edit::Value(at, value)),
        2 => (at(), at()).prop_map(|(at, from)| Edit::Borrow(at, from)),
        1 => (at(), prop::sample::select(&WORDS[..])).prop_map(|(at, word)| Edit::Word(at, word)),
    ]
}

/// A recorded input, now and then as it is, mostly with one to three edits.
pub fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let seed = prop_oneof![
        3 => any::<Index>().prop_map(|at| at.get(&SEEDS.field).as_slice()),
        2 => any::<Index>().prop_map(|at| at.get(&SEEDS.suites).as_slice()),
    ];
    (seed, prop::collection::vec(edit(), 0..4)).prop_map(|(seed, edits)| apply(seed, &edits))
}

/// The bytes after the edits.
pub fn apply(seed: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for edit in edits {
        harm(&mut bytes, edit);
    }
    bytes
}

fn harm(bytes: &mut Vec<u8>, edit: &Edit) {
    let place = |at: &Index, bytes: &[u8]| at.index(bytes.len() + 1);
    match edit {
        Edit::Cut(at) => bytes.truncate(place(at, bytes)),
        Edit::Remove(at, count) => {
            let at = place(at, bytes);
            bytes.drain(at..(at + count).min(bytes.len()));
        }
        Edit::Byte(at, byte) => {
            let at = place(at, bytes);
            if let Some(there) = bytes.get_mut(at) {
                *there = *byte;
            }
        }
        Edit::Insert(at, piece) => {
            let at = place(at, bytes);
            bytes.splice(at..at, piece.bytes());
        }
        Edit::Join(at) => {
            let at = place(at, bytes);
            if let Some(end) = bytes[at..].iter().position(|byte| *byte == b'\n') {
                bytes.remove(at + end);
            }
        }
        Edit::Repeat(from, to) | Edit::Move(from, to) => {
            let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            if lines.is_empty() {
                return;
            }
            let from = from.index(lines.len());
            let line = if matches!(edit, Edit::Repeat(..)) { lines[from].clone() } else { lines.remove(from) };
            lines.insert(to.index(lines.len() + 1), line);
            *bytes = lines.concat();
        }
        Edit::Value(at, value) => {
            let spans = scalars(bytes);
            if !spans.is_empty() {
                bytes.splice(at.get(&spans).clone(), value.bytes());
            }
        }
        Edit::Borrow(at, from) => {
            let spans = scalars(bytes);
            if !spans.is_empty() {
                let value = bytes[from.get(&spans).clone()].to_vec();
                bytes.splice(at.get(&spans).clone(), value);
            }
        }
        Edit::Word(at, (word, other)) => {
            let at = place(at, bytes);
            let first = bytes[at..].windows(word.len()).position(|window| window == word.as_bytes());
            if let Some(first) = first {
                bytes.splice(at + first..at + first + word.len(), other.bytes());
            }
        }
    }
}

/// Where the values of members stand that are no containers.
fn scalars(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut spans = Vec::new();
    for (colon, _) in bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"\":") {
        let from = colon + 2;
        let to = match bytes.get(from) {
            Some(b'"') => end_of_string(bytes, from),
            Some(b'{' | b'[') | None => continue,
            Some(_) => bytes[from..].iter().position(|byte| b",}]\n".contains(byte)).map(|end| from + end),
        };
        spans.extend(to.map(|to| from..to));
    }
    spans
}

/// The end of the string that begins there, behind its quote; none when the line ends first.
fn end_of_string(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}
