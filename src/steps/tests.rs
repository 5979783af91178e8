//! No superlinear work: whatever this crate does with one transcript, ten times as many entries take about ten times the steps,
//! for the shapes that invite more.

use super::of;
use crate::check::transcript::{Options, check};
use crate::corpus::diff::{Level, Side, compare, version_5};
use crate::finding::{Collected, Release};
use crate::json::jsonl::Lines;
use crate::render::style::Palette;
use crate::render::tree::Sheet;
use crate::render::{context as shown_context, replay as shown_replay, tree as shown_tree};
use crate::repair::salvage;
use crate::transcript::blobs::{MemoryStore, NoStore};
use crate::transcript::context::answer::{LeafName, contexts};
use crate::transcript::context::{Values, build, model};
use crate::transcript::inspect;
use crate::transcript::migrate::{Numbered, Seeded, migrate};
use crate::transcript::outline::Outline;
use crate::transcript::persist::{next_write, open_for_writing};
use crate::transcript::readers::{bounded, managed, owner};
use crate::transcript::trace::trace;
use crate::transcript::tree::{Leaf, Tree};
use crate::transcript::{answer, persist};

/// Entries of the smaller one of two transcripts.
const FEW: usize = 100;
/// Ten times the entries take less than twelve times the steps: ids grow by a digit, and some look-ups are logarithmic.
const LIMIT: u64 = 12;

const RELEASE: Release = Release::V0_17;

/// A name, and what is done with a transcript.
type Work = (&'static str, fn(&str));

const WORKS: [Work; 13] = [
    ("check", |text| {
        check(text.as_bytes(), &Options::lone("t.jsonl", RELEASE), &mut Collected::default()).unwrap();
    }),
    ("inspect", |text| {
        inspect::bytes(text.as_bytes(), text.len() as u64, inspect::Options::new(RELEASE)).unwrap();
    }),
    ("other readers", |text| {
        let _ = (managed::inspect(text.as_bytes()).unwrap(), bounded::scan(text.as_bytes()).unwrap());
        let _ = owner::owner_of_any(text.as_bytes()).unwrap();
    }),
    ("load", |text| {
        answer::replay(text.as_bytes(), RELEASE).unwrap();
    }),
    ("migrate", |text| {
        answer::migrated(text.as_bytes(), RELEASE, &mut Numbered::default()).unwrap();
    }),
    ("context", |text| {
        contexts(text.as_bytes(), RELEASE, &[LeafName::Last, LeafName::BeforeFirst], &mut Numbered::default()).unwrap();
    }),
    ("context, shown", |text| {
        shown(text, |sheet, list| {
            if let Ok(context) = build(&Tree::new(list), Leaf::Last, RELEASE) {
                model::text(&context);
                shown_context::text(sheet, &context, Palette::new(true), 80);
            }
        })
    }),
    ("tree", |text| {
        shown(text, |sheet, _| {
            shown_tree::text(sheet, Palette::new(true), 80);
            shown_tree::json(sheet);
        })
    }),
    ("replay", |text| {
        if let Ok(traced) = trace(text.as_bytes(), RELEASE).unwrap() {
            shown_replay::text(&traced, Palette::new(true), 80);
        }
    }),
    ("persist", |text| {
        let mut store = MemoryStore::default();
        if let Ok(mut opened) = open_for_writing(text.as_bytes().to_vec(), &mut Seeded::new(1), &mut store, RELEASE) {
            opened.rewrite(&mut store);
            opened.close(&mut store);
        }
    }),
    ("next write", |text| {
        let _ = next_write(text.as_bytes(), &NoStore, RELEASE).map(|next: persist::NextWrite| next.rewrite.bytes);
    }),
    ("salvage", |text| {
        let mut copy = Vec::new();
        let keep = &mut |line: &[u8]| {
            copy.extend_from_slice(line);
            Ok(())
        };
        salvage::mend(text.as_bytes(), keep).unwrap();
        salvage::read(&copy[..], copy.len() as u64, inspect::Options::new(RELEASE)).unwrap();
    }),
    ("diff with the version-5 form", |text| {
        if let Ok(Some(written)) = version_5(text.as_bytes(), RELEASE) {
            let side = |bytes| Side { bytes, release: RELEASE };
            compare(side(text.as_bytes()), side(&written), &Level::ALL);
        }
    }),
];

fn shown(text: &str, show: impl FnOnce(Sheet<'_>, &Values<'_>)) {
    let Ok(mut traced) = trace(text.as_bytes(), RELEASE).unwrap() else { return };
    if traced.loaded.entries.is_empty() {
        return;
    }
    let Ok(migrated) = migrate(&mut traced.loaded, &mut Numbered::default()) else { return };
    let list = Values::migrated(&traced.loaded.entries, &mut traced.loaded.ids, &migrated);
    let outline = Outline::new(&list, &mut traced.loaded.ids, Leaf::Last, RELEASE);
    show(Sheet { entries: &traced.loaded.entries, origins: &traced.origins, outline: &outline, budget: 1 << 20 }, &list);
}

/// Ten times the size takes less than twelve times the steps, whatever is done.
fn linear_from(few: usize, text: impl Fn(usize) -> String) {
    let (small, large) = (text(few), text(10 * few));
    let mut wrong = Vec::new();
    for (name, work) in WORKS {
        let (few_steps, many_steps) = (of(|| work(&small)), of(|| work(&large)));
        if few_steps < 2 * few as u64 || many_steps >= LIMIT * few_steps {
            wrong.push(format!("{name}: {few_steps} steps, of ten times the size {many_steps}"));
        }
    }
    assert!(wrong.is_empty(), "of {few}: {}", wrong.join("\n"));
}

fn linear(text: impl Fn(usize) -> String) {
    linear_from(FEW, text);
}

fn header(version: u32) -> String {
    format!(r#"{{"type":"session","version":{version},"id":"s","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}}"#) + "\n"
}

/// A transcript of version 5 with `count` lines behind the header.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(header(5), |mut text, at| {
        text += &line(at);
        text.push('\n');
        text
    })
}

fn id(entry: usize) -> String {
    format!("{entry:08x}")
}

/// An entry with an id, a parent and a time; `members` are the others, each with its comma.
fn entry(at: usize, parent: Option<usize>, kind: &str, members: &str) -> String {
    let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{}\"", id(parent)));
    format!(r#"{{"type":"{kind}","id":"{}","parentId":{parent},"timestamp":"2026-01-02T03:04:01.000Z"{members}}}"#, id(at))
}

fn says(message: &str) -> String {
    format!(r#","message":{message}"#)
}

const USER: &str = r#"{"role":"user","content":"x","timestamp":1}"#;

/// A chain of entries of one kind.
fn chain(count: usize, kind: &str, members: impl Fn(usize) -> String) -> String {
    lines(count, |at| entry(at, at.checked_sub(1), kind, &members(at)))
}

/// Messages whose parents are as `parent` says.
fn shape(parent: impl Fn(usize, usize) -> Option<usize>) {
    linear(|count| lines(count, |at| entry(at, parent(at, count), "message", &says(USER))));
}

#[test]
fn a_chain_is_linear() {
    shape(|at, _| at.checked_sub(1));
}

#[test]
fn a_star_is_linear() {
    shape(|at, _| (at > 0).then_some(0));
}

#[test]
fn a_cycle_is_linear() {
    shape(|at, count| Some(at.checked_sub(1).unwrap_or(count - 1)));
}

#[test]
fn many_small_cycles_are_linear() {
    shape(|at, _| Some(at ^ 1));
}

#[test]
fn many_tips_that_dangle_are_linear() {
    shape(|_, count| Some(count + 1));
}

#[test]
fn a_chain_in_reverse_order_is_linear() {
    shape(|at, count| (at + 1 < count).then_some(at + 1));
}

#[test]
fn a_comb_is_linear() {
    // A chain whose every entry has a second child.
    shape(|at, _| at.checked_sub(1 + at % 2));
}

#[test]
fn a_binary_tree_is_linear() {
    shape(|at, _| at.checked_sub(1).map(|at| at / 2));
}

/// Calls and results by turns; `id` numbers the pairs.
fn calls(count: usize, id: fn(usize) -> usize) -> String {
    chain(count, "message", |at| {
        says(&match (at % 2, id(at / 2)) {
            (0, id) => {
                format!(
                    r#"{{"role":"assistant","provider":"p","model":"m","content":[{{"type":"toolCall","id":"t{id:08}","name":"x","arguments":{{}}}}],"timestamp":1}}"#
                )
            }
            (_, id) => format!(r#"{{"role":"toolResult","toolCallId":"t{id:08}","toolName":"x","content":[],"timestamp":1}}"#),
        })
    })
}

#[test]
fn calls_with_ids_of_their_own_are_linear() {
    linear(|count| calls(count, |pair| pair));
}

/// Some providers count their calls anew in each message: one id may stand in every message of a file.
#[test]
fn one_call_id_in_every_message_is_linear_and_costs_about_as_much_as_one_of_its_own() {
    linear(|count| calls(count, |_| 0));
    let taken = |text: &str| of(|| WORKS[0].1(text));
    let (own, same) = (taken(&calls(FEW, |pair| pair)), taken(&calls(FEW, |_| 0)));
    assert!(same < 2 * own, "{same} steps instead of {own}");
}

#[test]
fn many_calls_in_one_message_are_linear() {
    linear(|count| {
        let calls: Vec<String> =
            (0..count).map(|id| format!(r#"{{"type":"toolCall","id":"t{id:08}","name":"name","arguments":{{"path":"/w"}}}}"#)).collect();
        let said = format!(r#"{{"role":"assistant","provider":"p","model":"m","content":[{}],"timestamp":1}}"#, calls.join(","));
        chain(1, "message", |_| says(&said))
    });
}

#[test]
fn many_labels_of_one_entry_and_of_many_are_linear() {
    for all in [false, true] {
        linear(|count| {
            lines(count, |at| match at % 2 {
                0 => entry(at, at.checked_sub(2), "message", &says(USER)),
                _ => entry(at, Some(at - 1), "label", &format!(r#","targetId":"{}","label":"text""#, id(if all { at - 1 } else { 0 }))),
            })
        });
    }
}

/// An id that many entries have, and a label of it that is as long as all of them together.
#[test]
fn a_long_label_of_an_id_that_many_entries_have_is_linear() {
    linear(|count| {
        let label = format!(r#","targetId":"{}","label":"{}""#, id(0), "l".repeat(count * 60));
        lines(count, |_| entry(0, None, "message", &says(USER))) + &entry(1, None, "label", &label) + "\n"
    });
}

#[test]
fn many_compactions_are_linear() {
    for back in [1, 2, usize::MAX] {
        linear(|count| {
            chain(count, "compaction", |at| {
                format!(r#","summary":"s","firstKeptEntryId":"{}","tokensBefore":1"#, id(at.saturating_sub(back)))
            })
        });
    }
}

#[test]
fn many_patches_of_one_entry_are_linear() {
    linear(|count| {
        lines(count, |at| match at {
            0 => entry(0, None, "message", &says(USER)),
            _ => format!(r#"{{"type":"entry_patch","entryId":"{}","patch":{{"message":{USER}}}}}"#, id(0)),
        })
    });
}

/// A long entry, and patches that say nothing of it.
#[test]
fn many_patches_of_a_long_entry_are_linear() {
    linear(|count| {
        lines(count, |at| match at {
            0 => entry(0, None, "message", &says(&format!(r#"{{"role":"user","content":"{}"}}"#, "x ".repeat(count * 50)))),
            _ => format!(r#"{{"type":"entry_patch","entryId":"{}","patch":{{}}}}"#, id(0)),
        })
    });
}

#[test]
fn many_patches_of_the_header_are_linear() {
    linear(|count| lines(count, |at| format!(r#"{{"type":"header_patch","patch":{{"title":"title {at:08}","titleSource":"auto"}}}}"#)));
}

#[test]
fn many_headers_are_linear() {
    linear(|count| lines(count, |_| header(5).trim().to_owned()));
}

#[test]
fn many_settings_are_linear() {
    linear(|count| chain(count, "model_change", |at| format!(r#","model":"p/m","role":"role-{at:08}""#)));
    linear(|count| {
        chain(count, "ttsr_injection", |at| {
            format!(r#","injectedRules":["rule-{at:08}","x"],"injectedRuleRecords":[{{"name":"rule-{at:08}"}}]"#)
        })
    });
    linear(|count| chain(count, "configured_model_chain", |at| format!(r#","role":"role-{at:08}","entries":["p/m"],"explicitHead":true"#)));
    linear(|count| chain(count, "mcp_tool_selection", |at| format!(r#","selectedToolNames":["tool-{at:08}","other"]"#)));
}

/// The value stands at that depth; it is one line.
#[test]
fn a_deep_value_is_linear() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        linear_from(10 * FEW, |count| {
            let details = format!("{}1{}", open.repeat(count), close.repeat(count));
            let said = format!(r#"{{"role":"toolResult","toolCallId":"t","toolName":"x","content":[],"details":{{"d":{details}}}}}"#);
            chain(1, "message", |_| says(&said))
        });
    }
}

#[test]
fn a_long_line_is_linear() {
    linear(|count| chain(1, "message", |_| says(&format!(r#"{{"role":"user","content":"{}"}}"#, r"word \u00e9 ".repeat(count * 20)))));
    linear(|count| {
        let blocks = vec![r#"{"type":"text","text":"this is one of many short blocks of one long message"}"#; count].join(",");
        chain(1, "message", |_| says(&format!(r#"{{"role":"user","content":[{blocks}]}}"#)))
    });
}

/// Keys that JavaScript puts in another order than they are written in.
#[test]
fn many_members_of_one_object_are_linear() {
    let keys: [fn(usize, usize) -> String; 3] =
        [|at, _| format!("member-{at:08}"), |at, count| (10 * count - at).to_string(), |_, _| "again-and-again".to_owned()];
    for key in keys {
        linear(|count| {
            let members: Vec<String> =
                (0..count).map(|at| format!(r#""{}":"0123456789012345678901234567890123456789""#, key(at, count))).collect();
            let said =
                format!(r#"{{"role":"toolResult","toolCallId":"t","toolName":"x","content":[],"details":{{{}}}}}"#, members.join(","));
            chain(1, "message", |_| says(&said))
        });
    }
}

/// Lines that are torn, fused, glued, or never end.
#[test]
fn much_damage_is_linear() {
    let whole = |at: usize| entry(at, at.checked_sub(1), "message", &says(USER));
    let damages: [fn(String) -> String; 6] = [
        |line| line[..line.len() / 2].to_owned(),
        |line| line[line.len() / 3..].to_owned(),
        |line| format!("{line}{line}"),
        |line| format!("{}{line}", &line[..40]),
        |line| line.replace(',', ",\n"),
        |line| format!("{{\"open\":{}", line.replace('}', "")),
    ];
    for damage in damages {
        linear(|count| lines(count, |at| damage(whole(at))));
        // Each other line only.
        linear(|count| lines(count, |at| if at % 2 == 0 { damage(whole(at)) } else { whole(at) }));
    }
}

#[test]
fn the_lenient_reader_takes_linear_time_over_what_never_ends() {
    for piece in ["{", "[", "\"", "{\"a\":", "{\"a\":[\"", "{}{", "\\", "\n{", "\n\"", "\n[1,"] {
        let taken = |count: usize| {
            let text = header(5) + &piece.repeat(count);
            of(|| {
                let mut lines = Lines::new(text.as_bytes());
                while lines.next().unwrap().is_some() {}
            })
        };
        let (few, many) = (taken(3_000), taken(30_000));
        assert!(few >= 2_500 && many < LIMIT * few, "{piece:?}: {few} and {many} steps");
    }
}

#[test]
fn old_versions_are_linear() {
    for version in 1..5 {
        linear(|count| {
            (0..count).fold(header(version), |mut text, at| {
                text += &match (version, at % 3) {
                    (1, 2) => format!(r#"{{"type":"compaction","timestamp":"2026-01-02T03:04:01.000Z","summary":"s","firstKeptEntryIndex":{},"tokensBefore":1}}"#, at / 2),
                    (1, _) => format!(r#"{{"type":"message","timestamp":"2026-01-02T03:04:01.000Z","message":{USER}}}"#),
                    _ => entry(at, at.checked_sub(1), "message", &says(&USER.replace("user", "hookMessage"))),
                };
                text.push('\n');
                text
            })
        });
    }
}
