//! No superlinear work: load, tree, context and check of ten times as many entries take about ten times the steps, for the
//! shapes that invite more.

use super::{Options, check};
use crate::finding::{Collected, Release};
use crate::steps;
use crate::transcript::context::answer::{LeafName, contexts};
use crate::transcript::migrate::Numbered;

const FEW: usize = 500;
/// Ten times the entries take less than twelve times the steps: ids grow by a digit, and some look-ups are logarithmic.
const LIMIT: u64 = 12;

const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}"#;

/// A transcript of `count` messages; `parent` tells whose child each one is, `message` what it says.
fn transcript(count: usize, parent: impl Fn(usize) -> Option<usize>, message: impl Fn(usize) -> String) -> String {
    let mut text = format!("{HEADER}\n");
    for entry in 0..count {
        let parent = parent(entry).map_or_else(|| "null".to_owned(), |parent| format!("\"{parent:08x}\""));
        let message = message(entry);
        text += &format!(
            r#"{{"type":"message","id":"{entry:08x}","parentId":{parent},"timestamp":"2026-01-02T03:04:01.000Z","message":{message}}}"#
        );
        text.push('\n');
    }
    text
}

/// The steps that load, tree, context and check of a transcript are.
fn steps_of(text: &str) -> u64 {
    steps::of(|| {
        let mut sink = Collected::default();
        check(text.as_bytes(), &Options::lone("t.jsonl", Release::V0_17), &mut sink).unwrap();
        let answers = contexts(text.as_bytes(), Release::V0_17, &[LeafName::Last], &mut Numbered::default()).unwrap();
        assert!(answers[0].starts_with(b"{\"context\""));
    })
}

/// Ten times the entries cost less than twelve times the steps.
fn linear(of: impl Fn(usize) -> String) {
    let (few, many) = (steps_of(&of(FEW)), steps_of(&of(10 * FEW)));
    assert!(few > 100 * FEW as u64, "each entry was looked at");
    assert!(many < LIMIT * few, "{FEW} entries take {few} steps, ten times as many {many}");
}

fn linear_shape(parent: fn(usize, usize) -> Option<usize>) {
    let said = |_| r#"{"role":"user","content":"x","timestamp":1}"#.to_owned();
    linear(|count| transcript(count, |entry| parent(entry, count), said));
}

#[test]
fn a_chain_is_linear() {
    linear_shape(|entry, _| entry.checked_sub(1));
}

#[test]
fn a_star_is_linear() {
    linear_shape(|entry, _| (entry > 0).then_some(0));
}

#[test]
fn a_cycle_is_linear() {
    linear_shape(|entry, count| Some(entry.checked_sub(1).unwrap_or(count - 1)));
}

#[test]
fn many_tips_that_dangle_are_linear() {
    linear_shape(|_, count| Some(count + 1));
}

#[test]
fn a_comb_is_linear() {
    // A chain whose every entry has a second child.
    linear_shape(|entry, _| entry.checked_sub(1 + entry % 2));
}

/// Calls and results by turns; `id` numbers the pairs.
fn calls(count: usize, id: fn(usize) -> usize) -> String {
    let said = |at: usize| match (at % 2, id(at / 2)) {
        (0, id) => {
            format!(r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"t{id:08}","name":"x","arguments":{{}}}}],"timestamp":1}}"#)
        }
        (_, id) => format!(r#"{{"role":"toolResult","toolCallId":"t{id:08}","toolName":"x","content":[],"timestamp":1}}"#),
    };
    transcript(count, |entry| entry.checked_sub(1), said)
}

#[test]
fn calls_with_ids_of_their_own_are_linear() {
    linear(|count| calls(count, |pair| pair));
}

/// Some providers count their calls anew in each message: one id may stand in every message of a file.
#[test]
fn one_call_id_in_every_message_is_linear_and_costs_about_as_much_as_one_of_its_own() {
    linear(|count| calls(count, |_| 0));
    let (own, same) = (steps_of(&calls(FEW, |pair| pair)), steps_of(&calls(FEW, |_| 0)));
    assert!(same < 2 * own, "{same} steps instead of {own}");
}
