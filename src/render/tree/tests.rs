//! Drawings, as they are printed.

use super::*;
use crate::finding::Release;
use crate::transcript::context::{Values, budget};
use crate::transcript::trace::trace;
use crate::transcript::tree::Leaf;

const HEADER: &str =
    r#"{"type":"session","version":5,"id":"sess-1","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w/app","title":"A title"}"#;

fn with_sheet<T>(lines: &[String], look: impl FnOnce(Sheet<'_>) -> T) -> T {
    let text = [&[HEADER.to_owned()], lines].concat().join("\n");
    let mut traced = trace(text.as_bytes(), Release::V0_17).unwrap().unwrap();
    let list = Values::new(&traced.loaded.entries, &mut traced.loaded.ids);
    let outline = Outline::new(&list, &mut traced.loaded.ids, Leaf::Last, Release::V0_17);
    look(Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget: budget::DEFAULT })
}
fn drawn(lines: &[String], width: usize) -> String {
    with_sheet(lines, |sheet| text(sheet, Palette::new(false), width))
}
fn message(id: &str, parent: &str, role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T08:00:00Z","message":{{"role":"{role}","content":"{text}"}}}}"#
    )
}

fn branches() -> Vec<String> {
    vec![
        message("a", "null", "user", "how do I begin?"),
        message("b", "\"a\"", "assistant", "one way"),
        message("c", "\"b\"", "user", "no, wait"),
        message("d", "\"a\"", "assistant", "another way"),
        message("e", "\"b\"", "user", "go on"),
        r#"{"type":"label","id":"l","parentId":"d","timestamp":"t","targetId":"b","label":"first try"}"#.to_owned(),
        r#"{"type":"compaction","id":"k","parentId":"l","timestamp":"t","summary":"what was","firstKeptEntryId":"d","tokensBefore":5}"#
            .to_owned(),
        message("f", "\"k\"", "user", "and now a very long text that will not fit into the line"),
    ]
}

#[test]
fn the_way_to_the_leaf_is_the_first_column() {
    insta::assert_snapshot!(drawn(&branches(), 60));
}

#[test]
fn a_narrow_terminal_keeps_the_marks() {
    insta::assert_snapshot!(drawn(&branches(), 24));
}

#[test]
fn irregular_graphs_are_shown_as_they_are() {
    let lines = [
        message("a", "null", "user", "one"),
        message("a", "null", "user", "two"),
        message("c", "\"zz\"", "user", "orphan"),
        message("d", "\"d\"", "user", "own parent"),
        message("x", "\"z\"", "user", "cycle"),
        message("y", "\"x\"", "user", "cycle"),
        message("z", "\"y\"", "user", "cycle"),
        r#"{"type":"session","id":"again"}"#.to_owned(),
        "7".to_owned(),
    ];
    insta::assert_snapshot!(drawn(&lines, 60));
}

#[test]
fn a_context_that_throws_is_said() {
    let lines = [r#"{"type":"mcp_tool_selection","id":"a","parentId":null,"timestamp":"t"}"#.to_owned()];
    assert!(drawn(&lines, 120).contains("! the context cannot be rebuilt, gjc throws TypeError: Spread syntax"));
}

#[test]
fn a_context_above_the_budget_is_said() {
    let shown = with_sheet(&branches(), |sheet| text(Sheet { budget: 100, ..sheet }, Palette::new(false), 80));
    assert!(shown.contains("! that is too much: gjc refuses the session as context_too_large"), "{shown}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in 24..90 {
        for line in drawn(&branches(), width).lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_json_form_is_in_file_order() {
    let json = with_sheet(&branches(), json);
    insta::assert_snapshot!(String::from_utf8(json).unwrap().replace("},{", "},\n{"));
}

#[test]
fn deep_and_wide_trees_stay_narrow() {
    // A comb whose every tooth is a comb: each entry has two children.
    let lines: Vec<String> = (0..20_000)
        .map(|n: usize| message(&n.to_string(), &if n == 0 { "null".to_owned() } else { format!("\"{}\"", (n - 1) / 2) }, "user", "x"))
        .collect();
    let deepest = drawn(&lines, 200).lines().map(|line| line.matches("│ ").count()).max();
    assert!(deepest < Some(16), "{deepest:?}");
}
