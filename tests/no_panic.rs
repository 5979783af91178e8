//! No input makes anything panic: every reader and every function behind a command, over recorded inputs with edits; and the
//! program itself, each command that takes one transcript.
//!
//! A panic fails the property with the known file and the edits that lead to it.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::print_stdout, clippy::unwrap_used, reason = "a test reads its own files")]

#[path = "support/damage.rs"]
mod damage;
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use damage::{config, damaged};
use gjc_fsck::check::transcript::{Options, Storage, check};
use gjc_fsck::corpus::diff::{Level, Side, compare, version_5};
use gjc_fsck::finding::{Collected, Release};
use gjc_fsck::json::jsonl::{Event, Lines};
use gjc_fsck::json::{JsStr, Value, View, stringify};
use gjc_fsck::render::style::Palette;
use gjc_fsck::render::tree::Sheet;
use gjc_fsck::render::{context as shown_context, replay as shown_replay, tree as shown_tree};
use gjc_fsck::repair::salvage;
use gjc_fsck::session::dump::Dump;
use gjc_fsck::transcript::blobs::{MemoryStore, NoStore};
use gjc_fsck::transcript::context::answer::{LeafName, contexts};
use gjc_fsck::transcript::context::{Values, build, model};
use gjc_fsck::transcript::inspect::{self, Verdict};
use gjc_fsck::transcript::load::{Whole, load};
use gjc_fsck::transcript::migrate::{Numbered, Seeded, migrate};
use gjc_fsck::transcript::open::{self, ManagedFile, Workspace};
use gjc_fsck::transcript::outline::Outline;
use gjc_fsck::transcript::persist::opened::NameSource;
use gjc_fsck::transcript::persist::{Tally, next_write, open_for_writing, rewrite};
use gjc_fsck::transcript::readers::{bounded, candidate, first_line, managed, owner, picker, recent, trailing};
use gjc_fsck::transcript::trace::trace;
use gjc_fsck::transcript::tree::{Leaf, Tree};
use gjc_fsck::transcript::{answer, throw::Throw};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::process::{Command, Stdio};

/// Every reader of spec 01 §2. What one answers is tested elsewhere; here it answers at all.
fn every_reader(bytes: &[u8], release: Release) {
    let mut lines = Lines::new(bytes);
    while let Some(event) = lines.next().unwrap() {
        if let Event::Value(found) = event {
            stringify::to_text(&Value::from_node(found.node));
        }
    }

    let inspected = inspect::bytes(bytes, bytes.len() as u64, inspect::Options::new(release)).unwrap();
    let loaded = inspected.loaded.as_ref().ok();
    for staged in [false, true] {
        open::explicit(&inspected.verdict, loaded, staged, release);
    }
    let managed = managed::inspect(bytes).unwrap();
    for workspace in [Workspace::Same, Workspace::Other, Workspace::Missing, Workspace::NotADirectory] {
        let file = ManagedFile {
            staged: false,
            symlink: false,
            links: 1,
            inside: true,
            listed_place: true,
            malformed: managed.verdict.is_err(),
            first_bytes: bytes,
            header_cwd: managed.header_cwd.as_deref(),
        };
        open::managed(&inspected.verdict, loaded, &file, |_| workspace, release);
    }

    let _ = bounded::scan(bytes).unwrap();
    let _ = candidate::header(bytes);
    first_line::bounded_header(bytes);
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let _ = (first_line::inventory(first), first_line::picker_star(first, b"s"));
    let _ = (owner::owner(bytes, b"s").unwrap(), owner::owner_of_any(bytes).unwrap());

    let mut read_at = |buffer: &mut [u8], offset: u64| {
        let rest = bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    };
    let size = bytes.len() as u64;
    let _ = (picker::examine(size, &mut read_at, release), recent::read(size, &mut read_at, release));
    recent::unpatched_title(bytes);
    for star in [false, true] {
        trailing::scan(size, &mut read_at, star, release).unwrap();
    }
}

/// What `replay`, `migrate`, `context`, `tree`, `dump`, `diff`, `repair --salvage` and a session that goes on do.
fn every_command(bytes: &[u8], release: Release) {
    answer::replay(bytes, release).unwrap();
    answer::migrated(bytes, release, &mut Numbered::default()).unwrap();
    let some = bytes.windows(6).position(|word| word == b"\"id\":\"").and_then(|at| bytes.get(at + 6..at + 14)).unwrap_or_default();
    let leaves = [LeafName::Last, LeafName::BeforeFirst, LeafName::from(std::str::from_utf8(some).ok())];
    contexts(bytes, release, &leaves, &mut Numbered::default()).unwrap();
    let _: Result<(), Throw> = shown(bytes, release);

    let mut store = MemoryStore::default();
    if let Ok(mut opened) = open_for_writing(bytes.to_vec(), &mut Seeded::new(1), &mut store, release) {
        opened.append(Value::Null, &mut store);
        opened.set_name("a name".into(), NameSource::User, &mut store);
        opened.set_starred(true, &mut store);
        opened.rewrite(&mut store);
        opened.close(&mut store);
    }
    let _ = next_write(bytes, &NoStore, release);
    if let Ok(loaded) = load(bytes, Whole, release).unwrap() {
        rewrite(loaded.entries, &mut store, release, &mut Tally::default(), &mut Vec::new()).unwrap();
    }

    let mut copy = Vec::new();
    let mended = salvage::mend(bytes, &mut |line| {
        copy.extend_from_slice(line);
        Ok(())
    });
    if mended.is_ok() {
        assert!(copy.is_empty() || copy.ends_with(b"\n"));
        let reading = salvage::read(&copy[..], copy.len() as u64, inspect::Options::new(release)).unwrap();
        assert!(!reading.strict.is_empty());
    }

    if let Ok(Some(written)) = version_5(bytes, release) {
        compare(Side { bytes, release }, Side { bytes: &written, release }, &Level::ALL);
    }
    compare(Side { bytes, release }, Side { bytes, release: Release::ALL[0] }, &Level::ALL);
}

/// What is drawn, for a narrow terminal and for a wide one.
fn shown(bytes: &[u8], release: Release) -> Result<(), Throw> {
    let mut traced = trace(bytes, release).unwrap()?;
    for width in [40, 97, 400] {
        shown_replay::text(&traced, Palette::new(width == 97), width);
    }
    if traced.loaded.entries.is_empty() {
        return Ok(());
    }
    let migrated = migrate(&mut traced.loaded, &mut Numbered::default())?;
    let list = Values::migrated(&traced.loaded.entries, &mut traced.loaded.ids, &migrated);
    for leaf in [Leaf::Last, Leaf::BeforeFirst] {
        let outline = Outline::new(&list, &mut traced.loaded.ids, leaf, release);
        let sheet = Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget: 1 << 20 };
        shown_tree::json(sheet);
        for width in [40, 97, 400] {
            shown_tree::text(sheet, Palette::new(width == 97), width);
        }
        let context = build(&Tree::new(&list), leaf, release)?;
        model::text(&context);
        shown_context::text(sheet, &context, Palette::new(false), 40);
    }
    let messages: Vec<Value> = traced.loaded.entries.iter().filter_map(|entry| entry.get("message").cloned()).collect();
    JsStr::from_wtf8(&Dump { messages: &messages, ..Dump::default() }.text()?).to_string_lossy();
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn no_reader_and_no_command_panics(bytes in damaged()) {
        for release in Release::ALL {
            every_reader(&bytes, release);
            every_command(&bytes, release);
            for storage in [Storage::Lone, Storage::Managed] {
                let options = Options { storage, size: Some(bytes.len() as u64), ..Options::lone("t.jsonl", release) };
                check(&bytes[..], &options, &mut Collected::default()).unwrap();
            }
        }
    }
}

/// The inputs that the properties draw are not all refused at the door: most load, and many open.
#[test]
fn what_is_damaged_gets_far() {
    let mut draw = TestRunner::new(config(1));
    let (mut loads, mut opens) = (0, 0);
    for _ in 0..1_000 {
        let bytes = damaged().new_tree(&mut draw).unwrap().current();
        let inspected = inspect::bytes(&bytes[..], bytes.len() as u64, inspect::Options::new(Release::default())).unwrap();
        loads += usize::from(inspected.loaded.is_ok_and(|loaded| !loaded.entries.is_empty()));
        opens += usize::from(!matches!(inspected.verdict, Verdict::Error(_)));
    }
    assert!(loads > 600 && opens > 150, "{loads} load, {opens} open");
}

/// The commands that take one transcript and write nothing.
const COMMANDS: [&[&str]; 16] = [
    &["check", "--format", "human"],
    &["check", "--format", "json", "--gjc", "0.15"],
    &["check", "--format", "sarif"],
    &["records"],
    &["replay"],
    &["replay", "--json"],
    &["replay", "--lines"],
    &["tree"],
    &["tree", "--json"],
    &["context"],
    &["context", "--json"],
    &["context", "--as-model"],
    &["migrate"],
    &["migrate", "--json"],
    &["dump"],
    &["diff", "--version-5"],
];

/// The program ends with one of its own exit bits, says nothing of a panic, and leaves the file alone.
#[test]
fn no_command_of_the_program_panics() {
    let mut draw = TestRunner::new(config(1));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.jsonl");
    let mut answered = 0;
    for _ in 0..10 {
        let bytes = damaged().new_tree(&mut draw).unwrap().current();
        std::fs::write(&file, &bytes).unwrap();
        let started = COMMANDS.map(|command| {
            let mut program = Command::new(assert_cmd::cargo::cargo_bin!("gjc-fsck"));
            program.env_clear().current_dir(folder.path()).args(command).arg(&file);
            (command, program.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap())
        });
        for (command, output) in started {
            let said = String::from_utf8_lossy(&output.stderr);
            let status = output.status.code().unwrap_or(-1);
            let text = String::from_utf8_lossy(&bytes);
            assert!((0..16).contains(&status) && !said.contains("panicked"), "{command:?} exits {status}: {said}\n{text}");
            // Who says nothing has at least said why.
            assert!(!output.stdout.is_empty() || !said.is_empty() || bytes.is_empty() || status == 0, "{command:?} says nothing\n{text}");
            answered += usize::from(status == 0);
        }
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "nothing writes to it");
    }
    assert!(answered > 20, "{answered} answers");
}
