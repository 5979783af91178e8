//! No superlinear work: load, tree, context and check of ten times as many entries take about ten times the work, for the
//! shapes that invite more. Work is counted as the time that the thread was on a processor, which no other process changes.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::panic, reason = "a test may")]

use gjc_fsck::check::transcript::{Options, check};
use gjc_fsck::finding::{Collected, Release};
use gjc_fsck::transcript::context::answer::{LeafName, contexts};
use gjc_fsck::transcript::migrate::Numbered;
use std::time::{Duration, Instant};

const FEW: usize = 2_000;
/// Ten times the entries may take less than twelve times the work.
const LIMIT: f64 = 12.0;
/// Caches and the clock disturb a single measurement; superlinear work exceeds the limit every time.
const ATTEMPTS: usize = 6;

/// A transcript of `count` messages, where `parent` tells whose child each one is.
fn transcript(count: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    let mut text =
        String::from("{\"type\":\"session\",\"version\":5,\"id\":\"s\",\"timestamp\":\"2026-01-02T03:04:00.000Z\",\"cwd\":\"/w\"}\n");
    for entry in 0..count {
        let parent = parent(entry).map_or_else(|| "null".to_owned(), |parent| format!("\"{parent:08x}\""));
        text += &format!(
            "{{\"type\":\"message\",\"id\":\"{entry:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-01-02T03:04:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"x\",\"timestamp\":1}}}}\n"
        );
    }
    text
}

/// Time of this thread on a processor, where the system tells it; else time.
fn now(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_deref().and_then(|text| text.split(' ').next()).and_then(|text| text.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The work that load, tree, context and check of a transcript are.
fn work(text: &str) -> Duration {
    let start = Instant::now();
    let before = now(start);
    let mut sink = Collected::default();
    check(text.as_bytes(), &Options::lone("t.jsonl", Release::V0_17), &mut sink).unwrap();
    let answers = contexts(text.as_bytes(), Release::V0_17, &[LeafName::Last], &mut Numbered::default()).unwrap();
    assert!(answers[0].starts_with(b"{\"context\""));
    now(start) - before
}

/// Ten times the entries cost less than twelve times the work.
fn linear(shape: &str, parent: fn(usize, usize) -> Option<usize>) {
    let of = |count: usize| transcript(count, |entry| parent(entry, count));
    let (few, many) = (of(FEW), of(10 * FEW));
    let (mut least_few, mut least_many) = (Duration::MAX, Duration::MAX);
    for _ in 0..ATTEMPTS {
        least_few = least_few.min(work(&few));
        least_many = least_many.min(work(&many));
        if least_many.as_secs_f64() < LIMIT * least_few.as_secs_f64() {
            return;
        }
    }
    panic!("{shape}: {FEW} entries take {least_few:?}, ten times as many {least_many:?}");
}

#[test]
fn a_chain_is_linear() {
    linear("chain", |entry, _| entry.checked_sub(1));
}

#[test]
fn a_star_is_linear() {
    linear("star", |entry, _| (entry > 0).then_some(0));
}

#[test]
fn a_cycle_is_linear() {
    linear("cycle", |entry, count| Some(entry.checked_sub(1).unwrap_or(count - 1)));
}

#[test]
fn many_tips_that_dangle_are_linear() {
    linear("dangling", |_, count| Some(count + 1));
}

#[test]
fn a_comb_is_linear() {
    // A chain whose every entry has a second child.
    linear("comb", |entry, _| entry.checked_sub(1 + entry % 2));
}
