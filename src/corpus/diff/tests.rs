use super::*;
use crate::steps;

const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

fn message(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn file(lines: &[&str]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn diff(a: &[u8], b: &[u8], level: Level) -> LevelDiff {
    let side = |bytes| Side { bytes, release: Release::V0_17 };
    compare(side(a), side(b), &[level]).pop().unwrap()
}

/// Kind and item of each change, and the members in short.
fn said(diff: &LevelDiff) -> Vec<String> {
    let members =
        |change: &Change| change.members.iter().map(|member| format!(" {} {}", member.pointer, member.kind.word())).collect::<String>();
    diff.changes.iter().map(|change| format!("{} {}{}", change.kind.word(), change.item, members(change))).collect()
}

#[test]
fn the_same_file_does_not_differ_at_any_level() {
    let file = file(&[HEADER, &message("a", "null", "x"), "7", "{}"]);
    for level in Level::ALL {
        assert!(diff(&file, &file, level).is_same(), "{level:?}");
    }
}

#[test]
fn entries_are_paired_by_id_and_their_members_are_compared() {
    let a = file(&[HEADER, &message("a", "null", "one"), &message("b", "\"a\"", "two")]);
    let b = file(&[HEADER, &message("b", "\"a\"", "TWO"), &message("c", "\"b\"", "three")]);
    let records = diff(&a, &b, Level::Records);
    assert_eq!(said(&records), ["only in a message a", "changed message b /message/content value", "only in b message c"]);
    let change = &records.changes[1];
    assert_eq!((change.a, change.b), (Some(3), Some(2)), "by line");
    assert_eq!((change.members[0].a.as_deref(), change.members[0].b.as_deref()), (Some("\"two\""), Some("\"TWO\"")));
}

#[test]
fn key_order_and_types_are_differences_of_their_own() {
    let a = file(&[HEADER, r#"{"type":"x","id":"a","n":1,"m":[1,2]}"#]);
    let b = file(&[HEADER, r#"{"id":"a","type":"x","n":"1","m":[1],"k":null}"#]);
    assert_eq!(said(&diff(&a, &b, Level::Records)), ["changed x a  order /k added /m/1 removed /n type"]);
}

#[test]
fn what_has_no_id_is_paired_by_its_bytes_and_what_moved_is_said_to_have_moved() {
    let (one, two, three) = (r#"{"type":"custom","n":1}"#, r#"{"type":"custom","n":2}"#, r#"{"type":"custom","n":3}"#);
    let (a, b) = (file(&[HEADER, one, two, three]), file(&[HEADER, three, one, two]));
    assert_eq!(said(&diff(&a, &b, Level::Records)), ["moved custom"]);
    assert_eq!(said(&diff(&a, &file(&[HEADER, one, one, two]), Level::Records)), ["only in b custom", "only in a custom"]);
}

#[test]
fn ids_that_occur_twice_are_paired_in_order() {
    let a = file(&[HEADER, &message("a", "null", "x"), &message("a", "null", "y")]);
    let b = file(&[HEADER, &message("a", "null", "y"), &message("a", "null", "z")]);
    assert_eq!(said(&diff(&a, &b, Level::Records)), ["moved message a /message/content value"], "the other one is the same");
}

#[test]
fn a_version_1_file_and_its_version_5_form_are_the_same_conversation() {
    let header = HEADER.replace("5", "1");
    let old = file(&[
        &header,
        r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"hookMessage","content":"two"}}"#,
    ]);
    let new = version_5(&old, Release::V0_17).unwrap().unwrap();
    let records = said(&diff(&old, &new, Level::Records));
    assert_eq!(
        records,
        [
            "changed session /version value",
            "changed message /id added /parentId added",
            "changed message /id added /message/role value /parentId added"
        ]
    );
    let context = diff(&old, &new, Level::Context);
    assert_eq!(said(&context), Vec::<String>::new(), "{:?}", context.changes);
}

/// Ids of version 1 are drawn anew by every migration: neither they nor what names them is a difference.
#[test]
fn entries_whose_ids_were_drawn_are_known_by_what_they_hold() {
    let header = HEADER.replace("\"version\":5,", "");
    let said_by = |text: &str| format!(r#"{{"type":"message","timestamp":"t","message":{{"role":"user","content":"{text}"}}}}"#);
    let kept = r#"{"type":"compaction","timestamp":"t","summary":"s","firstKeptEntryIndex":2,"tokensBefore":1}"#;
    let old = file(&[&header, &said_by("one"), &said_by("two"), kept]);
    let more = file(&[&header, &said_by("one"), &said_by("X"), &said_by("two")]);
    assert_eq!(
        said(&diff(&file(&[&header, &said_by("one"), &said_by("two")]), &more, Level::Migrated)),
        ["only in b message", "changed message /parentId value"]
    );
    assert_eq!(said(&diff(&more, &file(&[&header, &said_by("one"), &said_by("two")]), Level::Context)), ["only in a user"]);
    // Its form of version 5, migrated by somebody else.
    let mut new = String::from_utf8(version_5(&old, Release::V0_17).unwrap().unwrap()).unwrap();
    for (at, id) in new.clone().lines().skip(1).map(|line| line.split("\"id\":\"").nth(1).unwrap()[..8].to_owned()).enumerate() {
        new = new.replace(&id, &format!("other{at}"));
    }
    assert!(new.contains("\"firstKeptEntryId\":\"other1\""), "{new}");
    for (a, b) in [(&old[..], new.as_bytes()), (new.as_bytes(), &old)] {
        let migrated = diff(a, b, Level::Migrated);
        assert!(migrated.is_same(), "{:?}", migrated.changes);
        assert!(diff(a, b, Level::Context).is_same());
    }
}

#[test]
fn of_long_texts_that_begin_alike_the_place_where_they_part_is_shown() {
    let of = |letter: &str, lines: &str| file(&[HEADER, &message("a", "null", &format!("{}{letter}{lines}", "ü".repeat(1_000)))]);
    let member = |a: &[u8], b: &[u8]| diff(a, b, Level::Records).changes.pop().unwrap().members.pop().unwrap();
    let long = member(&of("A", ""), &of("B", ""));
    assert!(long.a.as_deref().is_some_and(|a| a.starts_with("(1961 bytes alike) …üü") && a.ends_with("üA\"")), "{long:?}");
    assert!(long.b.as_deref().is_some_and(|b| b.ends_with("üB\"")), "{long:?}");
    let paragraph = "y".repeat(5_000);
    let longer = member(&of("A", &format!("{paragraph}\\nx")), &of("B", &format!("{paragraph}\\nx")));
    assert!(longer.lines.is_none() && longer.b.is_some_and(|b| b.contains("üB")));
    assert_eq!(member(&of("A", ""), &file(&[HEADER, &message("a", "null", "s")])).b.as_deref(), Some("\"s\""), "near miss");
}

#[test]
fn two_ids_are_two_entries_whatever_they_hold() {
    let (a, b) = (file(&[HEADER, &message("a", "null", "x")]), file(&[HEADER, &message("b", "null", "x")]));
    assert_eq!(said(&diff(&a, &b, Level::Records)), ["only in a message a", "only in b message b"]);
}

#[test]
fn what_gjc_throws_is_what_the_side_has() {
    let good = file(&[HEADER]);
    let migrated = diff(&good, &file(&[&HEADER.replace("5", "6")]), Level::Migrated);
    assert_eq!(migrated.a, Has::Items(1));
    assert!(matches!(&migrated.b, Has::Throws(said) if said.contains("Unsupported session version: 6")), "{:?}", migrated.b);
    assert_eq!(diff(&good, b"x\n", Level::Migrated).b, Has::Nothing);
    assert!(!migrated.is_same());
}

#[test]
fn the_releases_differ_where_a_star_is_set() {
    let header = HEADER.replace("\"version\"", "\"starredPatchVersion\":1,\"version\"");
    let file = file(&[&header, r#"{"type":"header_patch","patch":{"starred":true,"title":"t"}}"#]);
    let side = |release| Side { bytes: &file, release };
    let levels = compare(side(Release::V0_15), side(Release::V0_17), &Level::ALL);
    assert!(levels[0].is_same(), "the records are the same");
    assert_eq!(said(&levels[1]), ["changed session /starred added /title added"]);
}

#[test]
fn text_of_several_lines_is_compared_line_by_line() {
    let a = file(&[HEADER, &message("a", "null", "one\\ntwo\\nthree")]);
    let b = file(&[HEADER, &message("a", "null", "one\\n2\\nthree")]);
    let lines = diff(&a, &b, Level::Records).changes[0].members[0].lines.clone().unwrap();
    assert!(lines.contains("-two\n+2\n"), "{lines}");
}

#[test]
fn lists_are_bounded_and_what_is_left_out_is_counted() {
    let many = |from: usize| (from..from + 1_500).map(|n| message(&format!("e{n}"), "null", "x")).collect::<Vec<_>>();
    let of = |entries: &[String]| file(&std::iter::once(HEADER).chain(entries.iter().map(String::as_str)).collect::<Vec<_>>());
    let records = diff(&of(&many(0)), &of(&many(10_000)), Level::Records);
    assert_eq!((records.changes.len(), records.not_listed), (1_000, 2_000));
    let members = |n: usize| (0..200).map(|at| format!("\"k{at}\":{n}")).collect::<Vec<_>>().join(",");
    let wide = |n| file(&[HEADER, &format!("{{\"type\":\"x\",\"id\":\"a\",{}}}", members(n))]);
    let change = diff(&wide(1), &wide(2), Level::Records).changes.pop().unwrap();
    assert_eq!((change.members.len(), change.not_listed), (50, 150));
}

/// Ten times the input takes about ten times the work, however it is ordered and whatever repeats in it.
#[test]
fn no_input_makes_the_work_superlinear() {
    let lines = |count: usize, of: &dyn Fn(usize) -> String| {
        let entries: Vec<String> = (0..count).map(of).collect();
        file(&std::iter::once(HEADER).chain(entries.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    type Of = fn(usize) -> String;
    let shapes: [(&str, Of, Of); 4] = [
        ("reversed", |n| message(&format!("e{n}"), "null", "x"), |n| message(&format!("e{}", 100_000 - n), "null", "x")),
        ("one id", |n| message("e", "null", &n.to_string()), |n| message("e", "null", &(n + 7).to_string())),
        ("all the same", |_| "7".to_owned(), |_| "7".to_owned()),
        ("nothing in common", |n| format!("{{\"a\":{n}}}"), |n| format!("{{\"b\":{n}}}")),
    ];
    for (name, of_a, of_b) in shapes {
        let taken = |count| {
            let (a, b) = (lines(count, &of_a), lines(count, &of_b));
            steps::of(|| {
                diff(&a, &b, Level::Records);
            })
        };
        let (small, large) = (taken(300), taken(3_000));
        assert!(large < small * 14, "{name}: {small} and {large} steps");
    }
}

#[test]
fn a_record_of_any_depth_is_compared() {
    let deep = |leaf: &str| {
        file(&[HEADER, &format!("{{\"type\":\"x\",\"id\":\"a\",\"d\":{}{leaf}{}}}", "[".repeat(100_000), "]".repeat(100_000))])
    };
    let change = diff(&deep("1"), &deep("2"), Level::Records).changes.pop().unwrap();
    assert_eq!(change.members.len(), 1);
    assert!(change.members[0].a.as_ref().unwrap().len() < 1_000, "shortened");
}
