//! Cases that no committed file can hold, because only a file of many megabytes has the fault.
//!
//! Each is a pair: a trigger, and its near miss, the smallest change of it after which the code is gone and no other code
//! appears. The files are made while they are read; most of their bytes are the filler of one `custom` entry after another.
//!
//! ```text
//! line 1   header                       version 5
//! line 2   a user message               a, parent null
//! line 3   a user message               b
//! line 4…  entries that fill the file   p1, p2, …
//! then     a compaction                 k, keeps from the last of them on
//! last     a user message               z
//! ```
//!
//! That is a file that gjc opens at any size up to 2 GiB: one chain, one compaction that keeps little, no patches, every line
//! ended and short enough.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails loudly")]

use gjc_fsck::check::size::{BOUNDED_CAP, FILE_CAP, LINE_CAP};
use gjc_fsck::check::transcript::{Options, Outcome, Storage, check};
use gjc_fsck::finding::{Collected, Release};
use std::collections::BTreeSet;
use std::io::Read;

/// One byte more than gjc loads whole: only the bounded open is left.
const ABOVE: u64 = FILE_CAP + 1;
/// Most that a filler holds: strings above 500,000 units would be a finding of their own.
const FILLER: u64 = 490_000;

/// Text of a file that is made while it is read.
#[derive(Clone)]
enum Piece {
    Text(String),
    /// So many times the letter x.
    Filler(u64),
}

/// A file as its pieces.
#[derive(Clone, Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(mut self, text: &str) -> Self {
        self.0.push(Piece::Text(text.to_owned()));
        self
    }
    fn line(self, record: &str) -> Self {
        self.text(&format!("{record}\n"))
    }
    /// A `custom` entry whose data are so many letters.
    fn filled(mut self, id: &str, parent: &str, letters: u64) -> Self {
        let [start, end] = filled(id, parent);
        self.0.extend([Piece::Text(start), Piece::Filler(letters), Piece::Text(end)]);
        self
    }
    fn len(&self) -> u64 {
        self.0.iter().map(|piece| if let Piece::Filler(letters) = piece { *letters } else { piece.text().len() as u64 }).sum()
    }
    fn reader(&self) -> impl Read {
        let nothing: Box<dyn Read> = Box::new(std::io::empty());
        self.0.iter().fold(nothing, |read, piece| match piece {
            Piece::Text(text) => Box::new(read.chain(std::io::Cursor::new(text.clone()))),
            Piece::Filler(letters) => Box::new(read.chain(std::io::repeat(b'x').take(*letters))),
        })
    }
}

impl Piece {
    fn text(&self) -> &str {
        if let Piece::Text(text) = self { text } else { "" }
    }
}

/// The two ends of a `custom` entry.
fn filled(id: &str, parent: &str) -> [String; 2] {
    let start = format!(
        r#"{{"type":"custom","id":"{id}","parentId":"{parent}","timestamp":"2026-01-02T03:04:02.000Z","customType":"filler","data":""#
    );
    [start, "\"}\n".to_owned()]
}

fn header(version: u32) -> String {
    format!(r#"{{"type":"session","version":{version},"id":"s-1","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}}"#)
}

fn user(id: &str, parent: &str) -> String {
    let message = r#"{"role":"user","content":"x","timestamp":1}"#;
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-02T03:04:01.000Z","message":{message}}}"#)
}

/// The compaction `k`, which keeps from its parent on.
fn compaction(parent: &str) -> String {
    let summary = format!(r#""summary":"s","firstKeptEntryId":"{parent}","tokensBefore":1"#);
    format!(r#"{{"type":"compaction","id":"k","parentId":"{parent}","timestamp":"2026-01-02T03:04:01.000Z",{summary}}}"#)
}

/// What is changed of the sound file.
struct Edit {
    size: u64,
    header: String,
    /// Stands behind the message `a`; the fillers follow it.
    second: (String, &'static str),
    /// The last lines, with their line ends; told the id of the last filler.
    end: fn(&str) -> String,
}

/// The sound file.
const SOUND_END: fn(&str) -> String = |last| format!("{}\n{}\n", compaction(last), user("z", "\"k\""));
/// Its end without the compaction.
const END_WITHOUT: fn(&str) -> String = |last| format!("{}\n", user("z", &format!("\"{last}\"")));

fn sound(size: u64) -> Edit {
    Edit { size, header: header(5), second: (user("b", "\"a\""), "b"), end: SOUND_END }
}

impl Edit {
    /// The file, of exactly the wanted size.
    fn file(&self) -> Pieces {
        let (second, mut parent) = (&self.second.0, self.second.1.to_owned());
        let mut file = Pieces::default().line(&self.header).line(&user("a", "null")).line(second);
        for number in 1.. {
            let id = format!("p{number}");
            let shell: u64 = filled(&id, &parent).iter().map(|text| text.len() as u64).sum();
            let left = self.size - file.len() - shell - (self.end)(&id).len() as u64;
            // A filler that would leave no room for another one takes half of what is left.
            let letters = if left <= FILLER {
                left
            } else if left < FILLER + 1_000 {
                left / 2
            } else {
                FILLER
            };
            file = file.filled(&id, &parent, letters);
            parent = id;
            if letters == left {
                break;
            }
        }
        let file = file.text(&(self.end)(&parent));
        assert_eq!(file.len(), self.size);
        file
    }
}

fn lone(file: &Pieces) -> Options<'static> {
    Options { size: Some(file.len()), ..Options::lone("t.jsonl", Release::V0_17) }
}

/// What a file gives.
fn checked(file: &Pieces, options: &Options<'_>) -> (Outcome, BTreeSet<&'static str>) {
    let mut sink = Collected::default();
    let outcome = check(file.reader(), options, &mut sink).unwrap();
    (outcome, sink.findings.iter().map(|finding| finding.code.name).collect())
}

fn codes(file: &Pieces) -> BTreeSet<&'static str> {
    checked(file, &lone(file)).1
}

fn answer(outcome: &Outcome, reader: &str) -> String {
    outcome.verdicts.iter().find(|(letter, _)| *letter == reader).map_or_else(String::new, |(_, answer)| answer.to_string())
}

/// Exactly these codes for the trigger; for the near miss what remains of them, without the first, and perhaps that it is near.
fn pair(expected: &[&'static str], trigger: &Pieces, near_miss: &Pieces) {
    assert_eq!(codes(trigger), BTreeSet::from_iter(expected.iter().copied()), "the trigger");
    let left = codes(near_miss);
    assert!(left.iter().all(|code| expected[1..].contains(code) || *code == "limit_near"), "the near miss: {left:?}");
}

mod above_the_cap {
    //! Above 134,217,728 bytes S answers `oversized`, and gjc opens what the bounded scan accepts. What it refuses, one edit of
    //! the sound file each, are the cases `corpus/agent/size_and_caps/bounded_scan_*`.

    use super::*;

    /// In a scope the bounded open reads it. A legacy transcript is opened as the copy that gjc makes of it, and of so many
    /// bytes it makes none.
    #[test]
    fn in_a_legacy_directory() {
        let file = sound(ABOVE).file();
        let at = |storage| checked(&file, &Options { storage, ..lone(&file) }).1;
        assert_eq!(at(Storage::Legacy), BTreeSet::from(["oversized"]));
        assert_eq!(at(Storage::Managed), BTreeSet::new(), "near miss");
    }
}

mod at_the_cap {
    //! Up to 134,217,728 bytes S reads the file, and R is not asked: its faults are silent there.

    use super::*;

    /// The smallest file that is oversized and the largest that is not. What R minds in it (it has no compaction) is no
    /// finding below the cap; that the file is nearly full is one.
    #[test]
    fn one_byte_makes_a_file_oversized() {
        let of = |size| Edit { end: END_WITHOUT, ..sound(size) }.file();
        assert_eq!(codes(&of(FILE_CAP + 1)), BTreeSet::from(["oversized", "bounded_scan_invalid_compaction"]));
        let (outcome, found) = checked(&of(FILE_CAP), &lone(&of(FILE_CAP)));
        assert_eq!(found, BTreeSet::from(["near_per_file_cap"]));
        assert_eq!((answer(&outcome, "S").as_str(), answer(&outcome, "R").as_str()), ("resumable", ""));
    }

    /// Above 2 GiB and 1 MiB not even the bounded open reads: nothing of the file is looked at.
    #[test]
    fn above_two_gib_no_content_helps() {
        use gjc_fsck::check::run::{self, Target};
        let fs = gjc_fsck::fsys::Memory::new();
        fs.sparse("/t.jsonl", BOUNDED_CAP + 1);
        let options = run::Options { jobs: Some(1), ..run::Options::new(Release::V0_17, 1000, 1_700_000_000_000_000_000) };
        let run = run::run(vec![Target::Path("/t.jsonl".into())], &options, &fs, &|_| {});
        assert_eq!(run.findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>(), ["oversized"]);
    }
}

/// An entry `long` behind the message `a` whose line has so many bytes with its LF, made of strings that a writer keeps.
fn record_of(bytes: u64) -> String {
    let start = filled("long", "a")[0].trim_end_matches('"').to_owned();
    let mut left = bytes - start.len() as u64 - "[]}\n".len() as u64;
    let mut strings = Vec::new();
    while left > 0 {
        // Two quotes, and a comma before every string but the first; what is left over is never too short for another.
        let around = if strings.is_empty() { 2 } else { 3 };
        let letters = if left <= FILLER { left - around } else { FILLER - 100 };
        strings.push(format!("\"{}\"", "x".repeat(usize::try_from(letters).unwrap())));
        left -= letters + around;
    }
    let record = format!("{start}[{}]}}", strings.join(","));
    assert_eq!(record.len() as u64 + 1, bytes);
    record
}

mod lines_and_strings {
    use super::*;

    fn with(record: &str) -> Pieces {
        Pieces::default().line(&header(5)).line(&user("a", "null")).line(record)
    }

    /// 8,388,608 bytes with the LF are the most that the bounded readers and the managed inspection take.
    #[test]
    fn a_line_above_8_mib_is_refused_in_the_managed_root_and_told_of_elsewhere() {
        let (long, short) = (with(&record_of(LINE_CAP + 1)), with(&record_of(LINE_CAP)));
        pair(&["line_too_long_for_managed"], &long, &short);

        let managed = |file: &Pieces| checked(file, &Options { storage: Storage::Managed, ..lone(file) });
        let (outcome, found) = managed(&long);
        assert_eq!(found, BTreeSet::from(["line_too_long"]));
        // The trap of spec 01 §2.8: gjc writes and inspects such a session, and cannot open it.
        assert_eq!((answer(&outcome, "S").as_str(), answer(&outcome, "M").as_str()), ("resumable", "malformed"));
        let (outcome, found) = managed(&short);
        assert_eq!(found, BTreeSet::from(["limit_near"]));
        assert_eq!(answer(&outcome, "M"), "opens");
    }

    /// The next rewrite cuts a string of 500,001 units and leaves one of 500,000 alone. Units, not bytes: é has two bytes.
    #[test]
    fn a_string_above_500_000_units_will_be_cut() {
        let of = |letters: u64| Pieces::default().line(&header(5)).line(&user("a", "null")).filled("b", "a", letters);
        pair(&["string_over_limit"], &of(500_001), &of(500_000));
        let of = |units: usize| with(&user("b", "\"a\"").replace("\"x\"", &format!("\"{}\"", "é".repeat(units))));
        pair(&["string_over_limit"], &of(500_001), &of(500_000));
    }
}

mod in_the_managed_root {
    //! What lies in a legacy directory is opened as a copy, and a copy is published with 134,217,728 bytes at most.

    use super::*;
    use gjc_fsck::agent::identity::{Identity, Platform};
    use gjc_fsck::agent::predict::{self, Policy};
    use gjc_fsck::agent::world::World;
    use gjc_fsck::corpus::clean;
    use gjc_fsck::fsys::Memory;
    use gjc_fsck::fsys::host::Nowhere;
    use std::path::Path;

    /// What opening the one legacy transcript of so many bytes comes to.
    fn opened(bytes: u64) -> Result<(), (String, String)> {
        let identity = Identity { platform: Platform::Posix, canonical_path: "/ws".into() };
        let fs = Memory::new();
        fs.directory("/ws");
        fs.plant(format!("/a/sessions/{}", identity.directory_name()), &clean::scope(&identity, []));
        let mut text = clean::transcript("s2", "/ws", "").into_bytes();
        text.resize(usize::try_from(bytes).unwrap(), b'\n');
        fs.file("/a/sessions/--ws--/2026-01-01T00-00-00-000Z_s2.jsonl", &text);
        let world = World::of_agent(&fs, &Nowhere, Release::V0_17, 1000, "/a");
        let scope = predict::resolve(&world, Path::new("/ws")).unwrap();
        let listing = predict::list(&world, &scope).unwrap();
        let [listed] = listing.owned.as_slice() else { panic!("{listing:?}") };
        predict::open(&world, &scope, &listed.candidate, Policy::CopyRetain)
            .map(|_| ())
            .map_err(|refused| (refused.code.to_owned(), refused.detail))
    }

    #[test]
    fn a_legacy_transcript_above_the_cap_cannot_be_migrated() {
        let (code, detail) = opened(FILE_CAP + 1).unwrap_err();
        assert_eq!(code, "managed_storage_unsupported");
        assert!(detail.starts_with("content_too_large: "), "{detail}");
        assert_eq!(opened(FILE_CAP), Ok(()), "near miss");
    }
}
