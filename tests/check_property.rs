//! Properties that the check of a transcript keeps on any bytes: reader S answers `malformed` exactly when a finding
//! says so, and the same bytes give the same findings. Over the inputs of the recorded suites and over mutations.

#![allow(clippy::panic, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a test reads its own files")]

#[allow(dead_code, reason = "shared with other tests")]
mod support;

use gjc_fsck::check::run;
use gjc_fsck::check::transcript::{Options, Outcome, Storage, check};
use gjc_fsck::check::verdict::{explains_managed, explains_strict};
use gjc_fsck::finding::{Collected, Finding, Release};
use gjc_fsck::fsys::Memory;
use gjc_fsck::json::View;
use gjc_fsck::json::jsonl::{Event, Lines};
use std::path::PathBuf;
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

/// A small generator: the same mutations on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// One or two edits of the kinds that damage files in the field.
fn mutate(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    const PIECES: [&[u8]; 16] = [
        b"\n",
        b"\r\n",
        b"\0",
        b"{",
        b"}",
        b"\"",
        b"\\",
        b",",
        b"null",
        b"\n \n",
        b"\n<<<<<<< HEAD\n",
        b"\xFF",
        b"\xEF\xBB\xBF",
        b"\n{\"type\":\"header_patch\",\"patch\":{}}\n",
        b"\n{\"type\":\"entry_patch\",\"entryId\":\"aaaaaaa1\",\"patch\":{\"message\":{}}}\n",
        b"\n{\"type\":\"label\",\"id\":\"l\",\"parentId\":null,\"timestamp\":\"t\",\"targetId\":\"x\"}\n",
    ];
    let mut out = bytes.to_vec();
    for _ in 0..=draw.below(2) {
        let at = draw.below(out.len() + 1);
        match draw.below(7) {
            0 => out.truncate(at),
            1 => {
                let end = (at + draw.below(40)).min(out.len());
                out.drain(at..end);
            }
            2 => {
                let piece = PIECES[draw.below(PIECES.len())];
                out.splice(at..at, piece.iter().copied());
            }
            3 => {
                // Lose the line end that follows.
                if let Some(lf) = out[at..].iter().position(|byte| *byte == b'\n') {
                    out.remove(at + lf);
                }
            }
            4 => {
                // Repeat or move a line.
                let mut lines: Vec<Vec<u8>> = out.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                if !lines.is_empty() {
                    let (from, to) = (draw.below(lines.len()), draw.below(lines.len()));
                    let line = if draw.below(2) == 0 { lines[from].clone() } else { lines.remove(from) };
                    lines.insert(to.min(lines.len()), line);
                    out = lines.concat();
                }
            }
            5 => {
                if let Some(byte) = out.get_mut(at) {
                    *byte = (draw.next() & 0x7F) as u8;
                }
            }
            _ => {
                // Another version or type.
                let words: [(&[u8], &[u8]); 5] = [
                    (b"\"version\":5", b"\"version\":1"),
                    (b"\"version\":5", b"\"version\":2"),
                    (b"\"type\":\"message\"", b"\"type\":\"compaction\""),
                    (b"\"role\":\"user\"", b"\"role\":7"),
                    (b"\"parentId\":\"", b"\"parentId\":\"x"),
                ];
                let (from, to) = words[draw.below(words.len())];
                if let Some(found) = out.windows(from.len()).position(|window| window == from) {
                    out.splice(found..found + from.len(), to.iter().copied());
                }
            }
        }
    }
    out
}

/// What mutations start from: every field input so many times, and every input of the suites that is not huge twice.
fn seeds(rounds: usize) -> Vec<(String, Vec<u8>, usize)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/field");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    assert!(files.len() > 50, "the field inputs are there");
    let suites = ["parse", "load", "migrate", "context", "open"].into_iter().flat_map(cases).map(|case| (case.name(), case.input(), 2));
    let field = files.iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap(), rounds));
    field.chain(suites.filter(|(_, bytes, _)| bytes.len() < 1 << 16)).collect()
}

#[test]
fn malformed_is_explained_over_mutations() {
    let rounds: usize = std::env::var("GJC_FSCK_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    let mut wrong = Vec::new();
    for (name, bytes, rounds) in seeds(rounds) {
        for _ in 0..rounds {
            let mutated = mutate(&bytes, &mut draw);
            let release = if draw.below(2) == 0 { Release::V0_15 } else { Release::V0_17 };
            let storage = if draw.below(3) == 0 { Storage::Managed } else { Storage::Lone };
            let options = Options { storage, ..options(&mutated, release) };
            match explained(&mutated, &options) {
                Ok((_, findings)) => assert_eq!(findings, checked(&mutated, &options).1, "the same bytes give the same findings"),
                Err(why) => wrong.push(format!("{name}: {why}\n{}", String::from_utf8_lossy(&mutated))),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them: {}", wrong.len(), wrong[..wrong.len().min(5)].join("\n\n"));
}

/// What strict inspection accepts, the lenient reader has whole: one value of it for each line that is not blank.
#[test]
fn the_lenient_reader_loses_nothing_that_strict_inspection_accepts() {
    let mut draw = Draw(0x0DDB_1A5E_5BAD_5EED);
    let mut accepted = 0;
    for (name, bytes, rounds) in seeds(20) {
        let mutations = (0..rounds).map(|_| mutate(&bytes, &mut draw)).collect::<Vec<_>>();
        for bytes in [bytes].into_iter().chain(mutations) {
            if !matches!(answer(&checked(&bytes, &options(&bytes, Release::V0_17)).0, "S"), "resumable" | "terminal") {
                continue;
            }
            accepted += 1;
            let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
            let records = text.split(|byte| *byte == b'\n').filter(|line| !matches!(line, [] | [b'\r'])).count();
            let mut lines = Lines::new(&bytes[..]);
            let mut values = 0;
            while let Some(event) = lines.next().unwrap() {
                match event {
                    Event::Value(_) => values += 1,
                    Event::Line(_) => {}
                    _ => panic!("{name}: a line is lost\n{}", String::from_utf8_lossy(&bytes)),
                }
            }
            assert_eq!(values, records, "{name}\n{}", String::from_utf8_lossy(&bytes));
        }
    }
    assert!(accepted > 500, "only {accepted} were accepted");
}

/// Whatever the number of workers: a folder of mutated transcripts gives the same findings, gauges and verdicts.
#[test]
fn workers_find_what_one_finds() {
    let fs = Memory::new();
    let mut draw = Draw(0x2545_F491_4F6C_DD1D);
    for (number, (_, bytes, _)) in seeds(1).iter().enumerate() {
        fs.file(format!("/t/{number:05}.jsonl"), &mutate(bytes, &mut draw));
    }
    let found = |jobs| {
        let options = run::Options { jobs: Some(jobs), ..run::Options::new(Release::V0_17, 1000, 0) };
        let found = run::run(vec![run::Target::Path("/t".into())], &options, &fs, &|_| {});
        assert!(found.outcomes.len() > 1_000, "{} transcripts", found.outcomes.len());
        format!("{:?} {:?} {:?}", found.findings, found.gauges, found.outcomes)
    };
    let one = found(1);
    for jobs in [2, 5] {
        assert!(found(jobs) == one, "{jobs} workers find otherwise");
    }
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
