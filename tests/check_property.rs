//! Properties that the check of a transcript keeps on any bytes: reader S answers `malformed` exactly when a finding
//! says so, and the same bytes give the same findings, for any number of workers. Over the inputs of the recorded suites and
//! over mutations of them, which proptest draws and shrinks edit by edit.

#![allow(clippy::panic, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a test reads its own files")]

#[path = "support/damage.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod damage;
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use damage::{SEEDS, config, damaged};
use gjc_fsck::check::run;
use gjc_fsck::check::transcript::{Options, Outcome, Storage, check};
use gjc_fsck::check::verdict::{explains_managed, explains_strict};
use gjc_fsck::finding::{Collected, Finding, Release};
use gjc_fsck::fsys::Memory;
use gjc_fsck::json::View;
use gjc_fsck::json::jsonl::{Event, Lines};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::{Others, cases};

fn checked(bytes: &[u8], options: &Options<'_>) -> (Outcome, Vec<Finding>) {
    let mut sink = Collected::default();
    let outcome = check(bytes, options, &mut sink).unwrap();
    (outcome, sink.findings)
}

fn options(bytes: &[u8], release: Release) -> Options<'static> {
    Options { size: Some(bytes.len() as u64), ..Options::lone("t.jsonl", release) }
}

fn answer<'o>(outcome: &'o Outcome, reader: &str) -> &'o str {
    outcome.verdicts.iter().find(|(letter, _)| *letter == reader).map_or("not asked", |(_, answer)| answer)
}

/// S is `malformed` exactly when a code says so, and M likewise; S never needs the bare token.
fn explained(bytes: &[u8], options: &Options<'_>) -> Result<(Outcome, Vec<Finding>), String> {
    let (outcome, findings) = checked(bytes, options);
    let names: Vec<&str> = findings.iter().map(|finding| finding.code.name).collect();
    let said = findings.iter().any(|finding| explains_strict(finding.code));
    let malformed = answer(&outcome, "S") == "malformed";
    let managed = answer(&outcome, "M") == "malformed";
    let said_of_managed = findings.iter().any(explains_managed);
    if options.storage == Storage::Managed && said_of_managed != managed {
        return Err(format!("M answers {}, the findings are {names:?}", answer(&outcome, "M")));
    }
    // The bare token stands for what only M refuses, never for S.
    let others = findings.iter().filter(|finding| finding.code.name != "malformed").any(explains_managed);
    if names.contains(&"malformed") && (!managed || others) {
        return Err(format!("nothing explains `malformed`: {names:?} {:?}", findings.last().map(|finding| &finding.message)));
    }
    // Of a file that is too large S says that alone.
    if said != malformed && answer(&outcome, "S") != "oversized" {
        return Err(format!("S answers {}, the findings are {names:?}", answer(&outcome, "S")));
    }
    Ok((outcome, findings))
}

/// Reader M decodes each line by itself and so drops a byte order mark in front of any line, where no other reader does.
#[test]
fn malformed_is_explained_behind_marks_on_later_lines() {
    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    const LABEL: &str = r#"{"type":"label","id":"l","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","targetId":"x"}"#;
    let lines = ["", "\u{FEFF}", "7", "{\"type\":\"session\"}", HEADER, LABEL, "{} {}", "{\"a\":"];
    let behind = |line: &str| format!("\u{FEFF}{line}");
    let pieces: Vec<String> = lines.iter().map(|line| (*line).to_owned()).chain(lines.iter().map(|line| behind(line))).collect();
    let mut read = 0;
    for first in &pieces {
        for second in &pieces {
            for third in &pieces {
                let bytes = format!("{first}\n{second}\n{third}\n").into_bytes();
                let managed = Options { storage: Storage::Managed, ..options(&bytes, Release::V0_17) };
                let (outcome, _) = explained(&bytes, &managed).unwrap_or_else(|why| panic!("{why}\n{}", String::from_utf8_lossy(&bytes)));
                read += u32::from(answer(&outcome, "M") == "opens");
            }
        }
    }
    assert!(read > 100, "M reads {read} of them");
}

/// Every suite that has bytes of transcripts.
#[test]
fn malformed_is_explained_over_the_suites() {
    for suite in ["parse", "load", "migrate", "context", "open", "persist", "n17"] {
        support::run(suite, |case| {
            let bytes = case.input();
            explained(&bytes, &options(&bytes, Release::V0_15))?;
            explained(&bytes, &options(&bytes, Release::V0_17))?;
            explained(&bytes, &Options { storage: Storage::Managed, size: None, ..options(&bytes, Release::V0_17) })?;
            Ok(())
        });
    }
}

/// The verdict of S that comes with the findings is the recorded one.
#[test]
fn inspect_gives_the_recorded_verdict() {
    let others = Others::read();
    support::run("inspect", |case| {
        let subject = others.subject(case)?;
        if subject.get("path").is_some() {
            return Ok(());
        }
        let bytes = subject.input();
        let budget = case.get("budget_bytes").and_then(View::as_f64).map(|budget| budget as u64);
        let mut options = options(&bytes, Release::V0_15);
        options.budget = budget.unwrap_or(options.budget);
        let (outcome, findings) = explained(&bytes, &options)?;
        explained(&bytes, &Options { storage: Storage::Managed, ..options })?;
        let wanted = case.expect("S").and_then(|verdict| verdict.member("reason").or(verdict.member("kind"))).and_then(support::string);
        support::same(&wanted.unwrap_or_default(), answer(&outcome, "S"))?;
        let too_large = findings.iter().any(|finding| finding.code.name == "context_too_large");
        if too_large != (answer(&outcome, "S") == "context_too_large") {
            return Err("context_too_large is reported exactly when S answers it".to_owned());
        }
        Ok(())
    });
}

/// `open_throws` is reported exactly for what S accepts and an explicit open trips over.
#[test]
fn what_opening_trips_over_is_reported() {
    support::run("open", |case| {
        if case.get("path").is_some() {
            return Ok(());
        }
        let bytes = case.input();
        let (outcome, findings) = checked(&bytes, &options(&bytes, Release::V0_15));
        let accepted = matches!(answer(&outcome, "S"), "resumable" | "terminal");
        let throws = case.expect("open").is_some_and(|open| open.member("throws").is_some());
        let reported = findings.iter().any(|finding| finding.code.name == "open_throws");
        if accepted && throws != reported {
            let names: Vec<&str> = findings.iter().map(|finding| finding.code.name).collect();
            return Err(format!("opening throws: {throws}; reported: {names:?}"));
        }
        Ok(())
    });
}

proptest! {
    #![proptest_config(config(4_000))]

    /// In both storages.
    #[test]
    fn malformed_is_explained_over_mutations(bytes in damaged(), newer in any::<bool>()) {
        let release = Release::ALL[usize::from(newer)];
        for storage in [Storage::Lone, Storage::Managed] {
            let options = Options { storage, ..options(&bytes, release) };
            explained(&bytes, &options).map_err(TestCaseError::fail)?;
        }
    }

    /// What strict inspection accepts, the lenient reader has whole: one value of it for each line that is not blank.
    #[test]
    fn the_lenient_reader_loses_nothing_that_strict_inspection_accepts(bytes in damaged()) {
        if let Some((records, values)) = records_and_values(&bytes)? {
            prop_assert_eq!(values, records);
        }
    }
}

/// The records that a file has by its lines and the values that the lenient reader yields, where reader S accepts it.
fn records_and_values(bytes: &[u8]) -> Result<Option<(usize, usize)>, TestCaseError> {
    if !matches!(answer(&checked(bytes, &options(bytes, Release::V0_17)).0, "S"), "resumable" | "terminal") {
        return Ok(None);
    }
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let records = text.split(|byte| *byte == b'\n').filter(|line| !matches!(line, [] | [b'\r'])).count();
    let mut lines = Lines::new(bytes);
    let mut values = 0;
    while let Some(event) = lines.next().unwrap() {
        match event {
            Event::Value(_) => values += 1,
            Event::Line(_) => {}
            _ => return Err(TestCaseError::fail("a line is lost")),
        }
    }
    Ok(Some((records, values)))
}

/// The property about what strict inspection accepts is not one about nothing: what it starts from is accepted often, and so
/// is what is made of it.
#[test]
fn strict_inspection_accepts_much_of_what_is_damaged() {
    let mut draw = TestRunner::new(config(1));
    let accepted = |bytes: &[u8]| records_and_values(bytes).unwrap().map_or(0, |(records, values)| usize::from(records == values));
    let undamaged: usize = SEEDS.field.iter().chain(&SEEDS.suites).map(|bytes| accepted(bytes)).sum();
    assert!(undamaged > 300, "only {undamaged} of the recorded inputs");
    let inputs = (0..1_000).map(|_| damaged().new_tree(&mut draw).unwrap().current());
    let harmed: usize = inputs.map(|bytes| accepted(&bytes)).sum();
    assert!(harmed > 150, "only {harmed} of 1,000 with edits");
}

/// Whatever the number of workers: a folder of mutated transcripts gives the same findings, gauges and verdicts.
fn workers_find_what_one_finds(transcripts: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let fs = Memory::new();
    for (number, bytes) in transcripts.iter().enumerate() {
        fs.file(format!("/t/{number:05}.jsonl"), bytes);
    }
    let found = |jobs| {
        let options = run::Options { jobs: Some(jobs), ..run::Options::new(Release::V0_17, 1000, 0) };
        let found = run::run(vec![run::Target::Path("/t".into())], &options, &fs, &|_| {});
        assert_eq!(found.outcomes.len(), transcripts.len());
        format!("{:?} {:?} {:?}", found.findings, found.gauges, found.outcomes)
    };
    let one = found(1);
    for jobs in [2, 5] {
        prop_assert!(found(jobs) == one, "{} workers find otherwise", jobs);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn a_folder_is_checked_alike_by_one_worker_and_by_many(transcripts in prop::collection::vec(damaged(), 1..60)) {
        workers_find_what_one_finds(&transcripts)?;
    }
}

/// Every recorded input at once, which is enough for workers to get out of step.
#[test]
fn a_large_folder_is_checked_alike_by_one_worker_and_by_many() {
    let all: Vec<Vec<u8>> = SEEDS.field.iter().chain(&SEEDS.suites).cloned().collect();
    assert!(all.len() > 1_000);
    workers_find_what_one_finds(&all).unwrap();
}

/// Bytes fed one at a time give what the whole file gives.
#[test]
fn the_size_of_reads_does_not_matter() {
    struct Trickle<'b>(&'b [u8]);
    impl std::io::Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let (Some((first, rest)), Some(slot)) = (self.0.split_first(), buffer.first_mut()) else { return Ok(0) };
            *slot = *first;
            self.0 = rest;
            Ok(1)
        }
    }
    for case in cases("parse").iter().take(200) {
        let bytes = case.input();
        if bytes.len() > 4096 {
            continue;
        }
        let options = options(&bytes, Release::V0_17);
        let mut sink = Collected::default();
        check(Trickle(&bytes), &options, &mut sink).unwrap();
        assert_eq!(sink.findings, checked(&bytes, &options).1, "{}", case.name());
    }
}
