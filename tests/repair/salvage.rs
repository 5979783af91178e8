//! Salvage over every field input: no recoverable record is lost, every byte of the source is accounted for, and the copy is read
//! at least as well as the source.

use gjc_fsck::check::line::begins_with_own_record;
use gjc_fsck::finding::Release;
use gjc_fsck::json::jsonl::{Event, Lines};
use gjc_fsck::json::{Tape, Value, View, stringify};
use gjc_fsck::repair::salvage::{Mended, mend, read};
use gjc_fsck::transcript::inspect::Options;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn field() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/field")
}
fn inputs() -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(field()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect()
}
fn salvaged(bytes: &[u8]) -> (Vec<u8>, Mended) {
    let mut copy = Vec::new();
    let mended = mend(bytes, &mut |line| {
        copy.extend_from_slice(line);
        Ok(())
    });
    (copy, mended.unwrap())
}
fn text(value: &Value) -> String {
    stringify::to_text(value)
}
/// The records, as JSON text, that gjc's lenient reader yields; and those that begin a line and that it may miss.
fn records(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut tape) = (Lines::new(bytes), Tape::default());
    let (mut yielded, mut own) = (Vec::new(), Vec::new());
    while let Some(event) = lines.next().unwrap() {
        match event {
            Event::Value(found) if found.node.is_record() && found.node.str_member("type").is_some() => {
                let swallows = found.text.split(|b| *b == b'\n').skip(1).any(|piece| begins_with_own_record(piece, &mut tape));
                if !swallows {
                    yielded.push(text(&Value::from_node(found.node)));
                }
            }
            Event::Line(line) if line.value.is_some_and(|node| node.is_record()) && begins_with_own_record(line.text, &mut tape) => {
                own.extend(line.value.map(|node| text(&Value::from_node(node))));
            }
            _ => {}
        }
    }
    (yielded, own)
}

/// What comes back at the end of these has a parent that is torn: its path ends there, and nothing is invented.
const HANGS_ON_A_LOST_RECORD: [&str; 1] = ["03-torn-then-appended-fused"];

#[test]
fn no_record_is_lost_and_every_byte_is_accounted_for() {
    let inputs = inputs();
    assert!(inputs.len() > 40);
    for (name, bytes) in &inputs {
        let (copy, mended) = salvaged(bytes);
        let lines = mended.lines.iter().map(|line| (line.from, line.to));
        let mut ranges: Vec<(u64, u64)> = lines.chain(mended.left.iter().map(|left| (left.from, left.to))).collect();
        ranges.sort_unstable();
        let mut at = 0;
        for (from, to) in ranges {
            assert_eq!(from, at, "{name}: {mended:#?}");
            at = to;
        }
        assert_eq!(at, bytes.len() as u64, "{name}: {mended:#?}");
        let (kept, _) = records(&copy);
        assert_eq!(kept.len(), mended.lines.len(), "{name}: each line of the copy is one record");
        let (yielded, own) = records(bytes);
        for record in yielded.iter().chain(&own) {
            assert!(kept.contains(record), "{name}: {record} is lost");
        }
        // A copy of the copy is the copy.
        assert_eq!(salvaged(&copy).0, copy, "{name}");
        let (before, after) = (reading(bytes), reading(&copy));
        let hangs = HANGS_ON_A_LOST_RECORD.contains(&name.as_str());
        assert_eq!(after.messages >= before.messages, !hangs, "{name}: {before:?} {after:?}");
        assert!(after.because.is_some() || after.strict != "malformed", "{name}: {after:?}");
    }
}

fn reading(bytes: &[u8]) -> gjc_fsck::repair::salvage::Reading {
    read(bytes, bytes.len() as u64, Options::new(Release::default())).unwrap()
}

/// The codes of damaged lines.
const LINE_DAMAGE: [&str; 14] = [
    "truncated_last_line",
    "fused_line",
    "glued_records",
    "record_spans_lines",
    "lenient_swallow",
    "nul_run",
    "json_syntax",
    "header_not_first",
    "utf8_bom",
    "invalid_utf8",
    "conflict_markers",
    "null_record",
    "non_object_record",
    "not_a_session",
];

/// What `codes-expected.tsv` notes of a file with damaged lines.
#[derive(Default, Debug)]
struct Noted {
    /// Complete records that the lenient reader misses.
    recoverable: usize,
    /// Ids of such records, where they are named.
    ids: Vec<String>,
    /// Numbers of bytes that belong to no complete record.
    torn: Vec<u64>,
    /// The first value is no header: gjc loads none of those that its reader yields.
    loads_nothing: bool,
}

impl Noted {
    fn take(&mut self, note: &str) {
        let words: Vec<&str> = note.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let number = |word: &str| if word == "one" { Some(1) } else { word.parse::<usize>().ok() };
        let is_id = |word: &&&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (at, word) in words.iter().enumerate() {
            let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied().unwrap_or_default();
            match *word {
                // `2 values; L keeps A, drops B`
                "drops" => {
                    let dropped: Vec<String> = words[at + 1..].iter().take_while(|word| is_id(word)).map(|id| (*id).to_owned()).collect();
                    self.recoverable += dropped.len();
                    self.ids.extend(dropped);
                }
                // `2 records recoverable`, `1 record (A) swallowed`, `one complete record (A)`
                "record" | "records" => {
                    if let Some(count) = number(before(if before(1) == "complete" { 2 } else { 1 })) {
                        self.recoverable += count;
                        self.ids.extend(words.get(at + 1).filter(is_id).map(|id| (*id).to_owned()));
                    }
                }
                // `60 bytes of an incomplete object`, `300 NUL bytes`
                "bytes" => self.torn.extend(number(before(if before(1) == "NUL" { 2 } else { 1 })).map(|bytes| bytes as u64)),
                // `from byte column 71 on`
                "column" => self.torn.extend(words.get(at + 1).and_then(|word| number(word)).map(|column| column as u64 - 1)),
                _ => {}
            }
        }
    }
}

fn noted() -> BTreeMap<String, Noted> {
    let table = std::fs::read_to_string(field().join("codes-expected.tsv")).unwrap();
    let mut files: BTreeMap<String, Noted> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        if LINE_DAMAGE.contains(&cells[1]) {
            let noted = files.entry(cells[0].to_owned()).or_default();
            noted.take(cells[4]);
            noted.loads_nothing |= cells[1] == "header_not_first";
        }
    }
    files
}

/// The records that the notes of `codes-expected.tsv` call recoverable come back, and no other is there; the bytes that they call
/// torn are listed.
#[test]
fn what_the_notes_call_recoverable_comes_back() {
    let (inputs, noted) = (inputs(), noted());
    let mut all = 0;
    for (name, noted) in &noted {
        let bytes = &inputs[name];
        let (copy, mended) = salvaged(bytes);
        let (mut back, _) = records(&copy);
        for record in if noted.loads_nothing { Vec::new() } else { records(bytes).0 } {
            let at = back.iter().position(|kept| *kept == record).unwrap_or_else(|| panic!("{name}: {record} is lost"));
            back.remove(at);
        }
        assert_eq!(back.len(), noted.recoverable, "{name}: {noted:?}\n{back:#?}");
        for id in &noted.ids {
            assert!(back.iter().any(|record| record.contains(&format!("\"id\":\"{id}\""))), "{name}: {id}\n{back:#?}");
        }
        for torn in &noted.torn {
            assert!(mended.left.iter().any(|left| left.to - left.from == *torn), "{name}: {torn} bytes\n{:#?}", mended.left);
        }
        all += noted.recoverable;
    }
    println!("{} files with damaged lines, {all} records recovered", noted.len());
    assert_eq!((noted.len(), all), (16, 6), "{noted:#?}");
}

/// After salvage the strict reader opens what is whole, and the command can say what still stops it elsewhere.
#[test]
fn what_is_mended_is_opened_or_it_is_said_why_not() {
    let inputs = inputs();
    for (name, strict) in [
        ("03-torn-then-appended-fused", true),
        ("04-glued-two-complete", true),
        ("07-torn-swallows-next-record", true),
        ("09-nul-run-glued-to-record", true),
        ("10-header-torn", false),
        ("06-pretty-printed-record", true),
    ] {
        let bytes = &inputs[name];
        let (before, after) = (reading(bytes), reading(&salvaged(bytes).0));
        assert_eq!(after.because.is_none(), strict, "{name}: {after:?}");
        assert_ne!(before.strict, "resumable", "{name}");
    }
}

/// Fewer messages than before are never answered without the reason: where the context is cut, and what was there before.
#[test]
fn what_hangs_on_a_lost_record_is_told() {
    let bytes = &inputs()["03-torn-then-appended-fused"];
    let (copy, _) = salvaged(bytes);
    let (before, after) = (reading(bytes), reading(&copy));
    assert_eq!((before.messages, after.messages), (2, 1));
    assert_eq!((before.leaf.as_deref(), after.leaf.as_deref()), (Some("aaaaaaa2"), Some("aaaaaaa4")));
    let cut = after.cut.unwrap();
    assert_eq!((cut.line, cut.id.as_deref(), cut.parent.as_str()), (4, Some("aaaaaaa4"), "aaaaaaa3"));
    // Nothing of before is lost: it is the path to the entry that was the last one.
    assert!(String::from_utf8(copy).unwrap().lines().nth(2).unwrap().contains("\"id\":\"aaaaaaa2\""));
}
