//! The check of a transcript where a lone file without a store does not reach: managed storage, a blob store, a budget,
//! patches that replace what was wrong, verdicts of the readers.

#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use gjc_fsck::check::transcript::{Options, Outcome, Storage, check};
use gjc_fsck::finding::{Collected, Finding, Release};
use gjc_fsck::transcript::blobs::{BlobSink, BlobSource, MemoryStore, Stored, name_of};

const HEADER: &str = r#"{"type":"session","version":5,"id":"s-1","timestamp":"2026-01-02T03:04:00.000Z","cwd":"/w"}"#;

fn lone() -> Options<'static> {
    Options::lone("t.jsonl", Release::V0_17)
}

fn run(text: &str, options: &Options<'_>) -> (Outcome, Vec<Finding>) {
    let mut sink = Collected::default();
    let outcome = check(text.as_bytes(), options, &mut sink).unwrap();
    (outcome, sink.findings)
}

fn codes(text: &str, options: &Options<'_>) -> Vec<&'static str> {
    run(text, options).1.iter().map(|finding| finding.code.name).collect()
}

fn lines(records: &[&str]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn message(id: &str, parent: &str, message: &str) -> String {
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-02T03:04:01.000Z","message":{message}}}"#)
}

fn user(id: &str, parent: &str, content: &str) -> String {
    message(id, parent, &format!(r#"{{"role":"user","content":{content},"timestamp":1}}"#))
}

mod managed {
    use super::*;

    fn options() -> Options<'static> {
        Options { storage: Storage::Managed, file_name: Some("2026-01-02T03-04-00-000Z_s-1.jsonl"), ..lone() }
    }

    #[test]
    fn a_file_named_as_gjc_names_it_is_clean() {
        assert_eq!(codes(&lines(&[HEADER, &user("a", "null", "\"x\"")]), &options()), [""; 0]);
    }

    #[test]
    fn a_blank_line_of_cr_lf_is_refused() {
        let text = format!("{HEADER}\n\r\n{}\n", user("a", "null", "\"x\""));
        let (outcome, findings) = run(&text, &options());
        assert_eq!(findings.iter().map(|f| f.code.name).collect::<Vec<_>>(), ["crlf_blank_line"]);
        assert!(outcome.verdicts.contains(&("S", "resumable".into())));
        assert!(outcome.verdicts.contains(&("M", "malformed".into())));
        // M skips a line that is LF alone, and CR behind a record is white space.
        assert_eq!(codes(&text.replace("\n\r\n", "\n\n"), &options()), ["blank_lines"]);
        assert_eq!(codes(&text.replace("\n\r\n", "\n"), &options()), [""; 0], "near miss");
    }

    #[test]
    fn a_name_that_says_something_else_than_the_header_is_told() {
        let text = lines(&[HEADER]);
        for (name, what) in [
            ("2026-01-02T03-04-00-000Z_s-2.jsonl", "the id differs"),
            ("2026-01-02T03-04-00-001Z_s-1.jsonl", "the time differs"),
            ("x.jsonl", "the time and id differ"),
        ] {
            let (_, findings) = run(&text, &Options { file_name: Some(name), ..options() });
            assert_eq!(findings.len(), 1, "{name}");
            assert_eq!(findings[0].code.name, "filename_header_mismatch");
            assert!(findings[0].message.contains(what), "{name}: {}", findings[0].message);
        }
        assert_eq!(codes(&text, &options()), [""; 0], "near miss: the name that gjc gives");
        assert_eq!(codes(&text, &Options { storage: Storage::Lone, file_name: Some("x.jsonl"), ..options() }), [""; 0]);
    }

    #[test]
    fn a_header_must_end_within_65536_bytes() {
        let header = |length: usize| {
            let head = HEADER.trim_end_matches('}');
            let pad = length - head.len() - r#","pad":""}"#.len() - 1;
            format!("{head},\"pad\":\"{}\"}}\n", "p".repeat(pad))
        };
        assert_eq!(header(65_536).len(), 65_536);
        assert_eq!(codes(&header(58_982), &options()), [""; 0]);
        assert_eq!(codes(&header(65_536), &options()), ["limit_near"], "near miss: it fits, and hardly");
        assert_eq!(codes(&header(65_537), &options()), ["header_line_too_long"]);
        assert_eq!(codes(&header(65_537), &lone()), [""; 0]);
    }
}

mod blobs {
    use super::*;

    struct Store(MemoryStore);
    impl Store {
        fn with(blobs: &[&[u8]]) -> Store {
            let mut store = MemoryStore::default();
            blobs.iter().for_each(|bytes| assert!(store.put(&name_of(bytes), bytes)));
            Store(store)
        }
        fn found(&self, text: &str) -> Vec<&'static str> {
            codes(text, &Options { store: Some(&self.0), ..lone() })
        }
    }

    fn image(reference: &str) -> String {
        lines(&[HEADER, &user("a", "null", &format!(r#"[{{"type":"image","data":"{reference}","mimeType":"image/png"}}]"#))])
    }

    #[test]
    fn a_reference_needs_its_blob_only_where_a_store_is_known() {
        let text = image(&format!("blob:sha256:{}", name_of(b"png")));
        assert_eq!(codes(&text, &lone()), [""; 0]);
        assert_eq!(Store::with(&[]).found(&text), ["blob_missing"]);
        assert_eq!(Store::with(&[b"png"]).found(&text), [""; 0]);
    }

    #[test]
    fn a_blob_is_missed_once_an_entry_and_name() {
        let name = name_of(b"png");
        let block = format!(r#"{{"type":"image","data":"blob:sha256:{name}","mimeType":"image/png"}}"#);
        let text = lines(&[HEADER, &user("a", "null", &format!("[{block},{block}]")), &user("b", "\"a\"", &format!("[{block}]"))]);
        assert_eq!(Store::with(&[]).found(&text), ["blob_missing", "blob_missing"]);
    }

    /// A store whose one blob has other bytes than its name says.
    struct Damaged(String);
    impl BlobSource for Damaged {
        fn stored(&self, name: &str) -> Stored {
            if name == self.0 { Stored::File { size: 1 } } else { Stored::Missing }
        }
        fn intact(&self, name: &str) -> Option<bool> {
            (name == self.0).then_some(false)
        }
        fn head(&self, _: &str, _: usize) -> Option<Vec<u8>> {
            Some(b"?".to_vec())
        }
    }

    #[test]
    fn bytes_that_do_not_hash_to_their_name_are_told() {
        let name = name_of(b"png");
        let text = image(&format!("blob:sha256:{name}"));
        assert_eq!(codes(&text, &Options { store: Some(&Damaged(name)), ..lone() }), ["blob_hash_mismatch"]);
    }

    #[test]
    fn the_blob_of_an_image_url_is_a_data_url() {
        let text = |bytes: &[u8]| {
            let reference = format!("blob:sha256:{}", name_of(bytes));
            lines(&[HEADER, &user("a", "null", &format!(r#"[{{"type":"input_image","image_url":{{"url":"{reference}"}}}}]"#))])
        };
        let good: &[u8] = b"data:image/png;base64,AAAA";
        assert_eq!(Store::with(&[good]).found(&text(good)), [""; 0]);
        for bad in [&b"data:image/png,AAAA"[..], b"png", b"data:image/png;base64,\xFF"] {
            assert_eq!(Store::with(&[bad]).found(&text(bad)), ["blob_image_url_invalid"]);
        }
    }

    fn spilled(bytes: &[u8], encoding: &str) -> String {
        let name = name_of(bytes);
        let payload = format!(
            r#"{{"kind":"cold_spill","ref":"blob:sha256:{name}","encoding":"{encoding}","originalChars":2000,"sha256":"{name}","bytes":{}}}"#,
            bytes.len()
        );
        let marker = format!(
            r#"{{"evictedAt":1,"reason":"compacted_history","compactionEntryId":"c","firstKeptEntryId":"k","payloads":{{"message.content.0.text":{payload}}}}}"#
        );
        let content = r#"[{"type":"text","text":"[Compacted history content evicted to durable cold storage]"}]"#;
        let record = user("a", "null", content);
        lines(&[HEADER, &format!("{},\"evictedContent\":{marker}}}", record.trim_end_matches('}').to_owned() + "}")])
    }

    #[test]
    fn evicted_text_needs_its_blob() {
        let text = spilled(b"{}", "json");
        assert_eq!(codes(&text, &lone()), [""; 0]);
        assert_eq!(Store::with(&[b"{}"]).found(&text), [""; 0]);
        assert_eq!(Store::with(&[]).found(&text), ["spill_blob_missing"]);
        assert_eq!(Store::with(&[b"{"]).found(&spilled(b"{", "json")), ["spill_blob_missing"]);
        assert_eq!(Store::with(&[b"{"]).found(&spilled(b"{", "utf8")), [""; 0]);
        let damaged = Damaged(name_of(b"{}"));
        assert_eq!(codes(&text, &Options { store: Some(&damaged), ..lone() }), ["spill_blob_missing"]);
    }

    #[test]
    fn a_placeholder_says_whether_its_blob_is_back() {
        let name = name_of(b"png");
        let placeholder = format!("[Session resident imageData blob missing: sha256:{name}; original content unavailable]");
        let text = lines(&[HEADER, &user("a", "null", &format!("\"{placeholder}\""))]);
        let told = |store: Option<&dyn BlobSource>| run(&text, &Options { store, ..lone() }).1.remove(0).message;
        assert!(told(Some(&Store::with(&[b"png"]).0)).ends_with("A blob of that hash exists."));
        assert!(told(Some(&Store::with(&[]).0)).ends_with("No blob of that hash exists."));
        assert!(told(None).ends_with("in place of the reference."));
    }
}

mod patches {
    use super::*;

    fn patch(id: &str, message: &str) -> String {
        format!(r#"{{"type":"entry_patch","entryId":"{id}","patch":{{"message":{message}}}}}"#)
    }

    #[test]
    fn what_a_patch_replaced_is_not_judged() {
        let bad = message("a", "null", r#"{"role":"robot","partialJson":1,"content":"blob:sha256:"}"#);
        let good = r#"{"role":"user","content":"x"}"#;
        assert_eq!(codes(&lines(&[HEADER, &bad]), &lone()), ["message_role_unknown", "transient_field_present"]);
        assert_eq!(codes(&lines(&[HEADER, &bad, &patch("a", good)]), &lone()), [""; 0]);
    }

    #[test]
    fn what_a_patch_brought_is_judged_where_it_stands() {
        let text = lines(&[HEADER, &user("a", "null", "\"x\""), &patch("a", r#"{"role":"robot"}"#)]);
        let (_, findings) = run(&text, &lone());
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].code.name, findings[0].place.line), ("message_role_unknown", Some(3)));
        assert_eq!(findings[0].place.pointer.as_deref(), Some("/patch/message/role"));
        assert_eq!(findings[0].place.entry.as_deref(), Some("a"));
    }

    #[test]
    fn a_patched_call_is_paired_as_it_is_now() {
        let call = r#"{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"c","name":"n","arguments":{}}]}"#;
        let result = message("b", "\"a\"", r#"{"role":"toolResult","toolCallId":"c","toolName":"n","content":[],"isError":false}"#);
        let base = [HEADER.to_owned(), message("a", "null", call), result];
        let base: Vec<&str> = base.iter().map(String::as_str).collect();
        assert_eq!(codes(&lines(&base), &lone()), [""; 0]);
        let other = patch("a", &call.replace("\"c\"", "\"d\""));
        let (_, findings) = run(&lines(&[&base[..], &[&other]].concat()), &lone());
        let found: Vec<_> = findings.iter().map(|finding| (finding.code.name, finding.place.line)).collect();
        assert_eq!(found, [("toolcall_unanswered", Some(2)), ("toolresult_orphan", Some(3))]);
    }

    #[test]
    fn a_header_patch_mends_the_header() {
        let header = HEADER.replace(r#","cwd":"/w""#, "");
        assert_eq!(codes(&lines(&[&header]), &lone()), ["header_invalid"]);
        assert_eq!(codes(&lines(&[&header, r#"{"type":"header_patch","patch":{"cwd":"/w"}}"#]), &lone()), [""; 0]);
    }
}

#[test]
fn a_context_above_the_budget_is_a_capacity_finding() {
    let text = lines(&[HEADER, &user("a", "null", &format!("\"{}\"", "x".repeat(5000)))]);
    let (outcome, findings) = run(&text, &Options { budget: 10_000, ..lone() });
    assert_eq!(findings.iter().map(|f| f.code.name).collect::<Vec<_>>(), ["context_too_large"]);
    assert!(outcome.verdicts.contains(&("S", "context_too_large".into())));
    // The finding says what is needed: a budget of as much is enough, one byte less is not.
    let measured = findings[0].message.split(' ').find_map(|word| word.parse::<u64>().ok()).unwrap();
    assert_eq!(codes(&text, &Options { budget: measured - 1, ..lone() }), ["context_too_large"]);
    assert_eq!(codes(&text, &Options { budget: measured, ..lone() }), ["limit_near"], "near miss: it fits, and hardly");
    assert_eq!(codes(&text, &Options { budget: measured * 10 / 9 + 1, ..lone() }), [""; 0], "below nine tenths of the budget");
}

#[test]
fn when_nothing_loads_only_lines_header_sizes_and_dialect_speak() {
    // Everything that entries, tree and blobs would say is there, behind a header without id.
    let bad = message("a", "\"zzz\"", r#"{"role":"robot","partialJson":1,"content":[{"type":"image","data":"blob:sha256:x"}]}"#);
    let header = HEADER.replace(r#""id":"s-1","#, "");
    assert_eq!(codes(&lines(&[&header, &bad]), &lone()), ["header_invalid"]);
    assert_eq!(codes(&lines(&[HEADER, &bad, "null"]), &lone()), ["null_record"]);
}

#[test]
fn the_outcome_names_the_answers_of_the_readers() {
    let (outcome, _) = run(&lines(&[HEADER, &user("a", "null", "\"x\"")]), &lone());
    let answers: Vec<(&str, &str)> = outcome.verdicts.iter().map(|(reader, answer)| (*reader, &**answer)).collect();
    let expect = [
        ("L", "loads 2 entries"),
        ("S", "resumable"),
        ("H", "opens"),
        ("I", "lists"),
        ("K", "stars after an upgrade of the header"),
        ("P", "lists"),
        ("O", "no owner"),
    ];
    assert_eq!(answers, expect);
    assert_eq!((outcome.id.as_deref(), outcome.version), (Some("s-1"), Some(5)));
    assert_eq!(outcome.entry_ids.len(), 1);
    assert_eq!(outcome.header.cwd.as_deref(), Some(&b"/w"[..]));

    let (outcome, _) = run("", &lone());
    assert_eq!(outcome.verdicts, [("L", "[]".into()), ("S", "malformed".into())]);
    let (outcome, _) = run(&lines(&[HEADER, "null"]), &lone());
    assert!(outcome.verdicts[0].1.starts_with("throws: null is not an object"));
}

/// Reader P sees 4,096 bytes: what is wrong behind them, and what only opening minds, does not keep a session from the list.
#[test]
fn the_picker_is_asked_for_the_first_4096_bytes() {
    let answer = |text: &str| {
        let (outcome, _) = run(text, &lone());
        outcome.verdicts.iter().find(|(reader, _)| *reader == "P").map_or("not asked".to_owned(), |(_, answer)| answer.to_string())
    };
    assert_eq!(answer(&lines(&[HEADER, "oops"])), "lists");
    assert_eq!(answer(&lines(&["oops", HEADER])), "lists");
    assert_eq!(answer(&lines(&[HEADER, "null"])), "skips", "loading the prefix throws");
    let long = user("a", "null", &format!("\"{}\"", "x".repeat(5_000)));
    assert_eq!(answer(&lines(&[HEADER, &long, "null"])), "lists", "the null is out of sight");
    assert_eq!(answer(&lines(&[&user("a", "null", "\"x\""), HEADER])), "skips", "the first value is no header");
    assert_eq!(answer(&format!("\u{feff}{}", lines(&[HEADER]))), "lists");
    assert_eq!(answer(""), "not asked");
}

/// Reader O takes the owner from the header and from patches that replay ignores as a whole. 0.15 has no such reader.
#[test]
fn the_owner_locator_is_asked_where_the_release_has_it() {
    let locator = format!(r#"{{"schemaVersion":1,"ownerId":"{}","directoryDev":"1","directoryIno":"2"}}"#, "ab".repeat(32));
    let with = |patch: &str| lines(&[HEADER, &format!(r#"{{"type":"header_patch","patch":{{"taskArtifactOwner":{patch}}}}}"#)]);
    let answer = |text: &str, release: Release| {
        let (outcome, _) = run(text, &Options::lone("t.jsonl", release));
        outcome.verdicts.iter().find(|(reader, _)| *reader == "O").map(|(_, answer)| answer.to_string())
    };
    assert_eq!(answer(&with(&locator), Release::V0_17).as_deref(), Some("owner"));
    assert_eq!(answer(&with("null"), Release::V0_17).as_deref(), Some("task_artifact_owner_patch_invalid"));
    let header = HEADER.replace(r#""cwd""#, r#""taskArtifactOwner":null,"cwd""#);
    assert_eq!(answer(&lines(&[&header]), Release::V0_17).as_deref(), Some("task_artifact_owner_locator_invalid"));
    assert_eq!(
        answer(&format!("\n{}", lines(&[HEADER])), Release::V0_17).as_deref(),
        Some("task_artifact_owner_transcript_header_invalid")
    );
    assert_eq!(answer(&with(&locator), Release::V0_15), None);
}

#[test]
fn hostile_shapes_end_quickly() {
    let deep = format!(
        "{{\"type\":\"custom\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-02T03:04:00.000Z\",\"customType\":\"x\",\"data\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(codes(&lines(&[HEADER, &deep]), &lone()), ["open_throws"], "gjc recurses, this program does not");
    // Two writers by turns, each a chain of thousands of entries.
    let mut text = lines(&[HEADER, &user("e0", "null", "\"x\"")]);
    for number in 1..20_000usize {
        let parent = if number < 3 { 0 } else { number - 2 };
        text.push_str(&user(&format!("e{number}"), &format!("\"e{parent}\""), "\"x\""));
        text.push('\n');
    }
    let found = codes(&text, &lone());
    assert!(found.contains(&"interleaved_branches") && found.contains(&"unreachable_branch"), "{found:?}");
}

#[test]
fn a_fork_in_one_folder_shares_the_history_of_its_parent() {
    use gjc_fsck::check::run::{self, Target};
    let fs = gjc_fsck::fsys::Memory::new();
    let entry = user("aaaaaaa1", "null", "\"x\"");
    let child = HEADER.replace("s-1", "s-2").replace(r#""cwd""#, r#""parentSession":"s-1","cwd""#);
    fs.file("/folder/a.jsonl", lines(&[HEADER, &entry]).as_bytes());
    fs.file("/folder/b.jsonl", lines(&[&child, &entry]).as_bytes());
    fs.file("/folder/c.jsonl", lines(&[&child.replace("s-2", "s-3"), &user("bbbbbbb1", "null", "\"y\"")]).as_bytes());
    let options = run::Options { jobs: Some(1), ..run::Options::new(Release::V0_17, 1000, 1_700_000_000_000_000_000) };
    let run = run::run(vec![Target::Path("/folder".into())], &options, &fs, &|_| {});
    let found: Vec<(&str, &str)> = run.findings.iter().map(|finding| (finding.code.name, &*finding.place.path)).collect();
    assert_eq!(found, [("shared_history", "b.jsonl")]);
}

/// Rules at their edges: what just has the fault, and what just has it not.
mod edges {
    use super::*;

    const TIME: &str = r#""timestamp":"2026-01-02T03:04:01.000Z""#;

    /// Whether a transcript of version 5 with these entries has the code.
    fn has(code: &str, entries: &[String]) -> bool {
        has_behind(HEADER, code, entries)
    }
    fn has_behind(header: &str, code: &str, entries: &[String]) -> bool {
        let text = format!("{header}\n{}", entries.iter().map(|entry| format!("{entry}\n")).collect::<String>());
        codes(&text, &lone()).contains(&code)
    }
    fn header(version: &str, id: &str) -> String {
        HEADER.replace("\"version\":5", &format!("\"version\":{version}")).replace("\"s-1\"", &format!("\"{id}\""))
    }
    /// An entry of a type, with what else it has.
    fn entry(kind: &str, id: &str, parent: &str, members: &str) -> String {
        format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},{TIME},{members}}}"#)
    }
    fn said(id: &str, parent: &str) -> String {
        user(id, parent, "\"x\"")
    }
    fn assistant(id: &str, parent: &str, stop: &str, content: &str) -> String {
        let message_of =
            format!(r#"{{"role":"assistant","content":[{content}],"provider":"p","model":"m","stopReason":"{stop}","timestamp":1}}"#);
        message(id, parent, &message_of)
    }
    fn label(id: &str, parent: &str) -> String {
        entry("label", id, parent, r#""targetId":"a","label":"l""#)
    }
    fn compaction(id: &str, parent: &str, first_kept: &str) -> String {
        entry("compaction", id, parent, &format!(r#""summary":"s","firstKeptEntryId":"{first_kept}","tokensBefore":1"#))
    }
    const CALL: &str = r#"{"type":"toolCall","id":"t","name":"read","arguments":{}}"#;
    fn result(id: &str, parent: &str) -> String {
        message(id, parent, r#"{"role":"toolResult","toolCallId":"t","toolName":"read","content":[],"isError":false,"timestamp":1}"#)
    }

    #[test]
    fn three_empty_turns_that_did_not_end_are_a_run() {
        let turns = |stop: [&str; 3], between: String| {
            let [one, two, three] = stop;
            has(
                "empty_turn_run",
                &[
                    said("a", "null"),
                    assistant("b", "\"a\"", one, ""),
                    assistant("c", "\"b\"", two, ""),
                    between,
                    assistant("e", "\"d\"", three, ""),
                ],
            )
        };
        assert!(turns(["aborted", "error", "aborted"], label("d", "\"c\"")));
        assert!(!turns(["aborted", "error", "aborted"], said("d", "\"c\"")), "a message between");
        assert!(!turns(["aborted", "stop", "aborted"], label("d", "\"c\"")), "one ended");
        assert!(!turns(["aborted", "error", "aborted"], label("x", "\"c\"")), "two of them on the path");
    }

    #[test]
    fn a_gap_needs_kept_messages_and_a_beginning_behind_the_earlier_compaction() {
        let gap = |kept_by_first: &str, kept_by_second: &str| {
            let first = [said("a", "null"), label("l", "\"a\""), compaction("c", "\"l\"", kept_by_first)];
            let second = [said("d", "\"c\""), compaction("e", "\"d\"", kept_by_second)];
            has("compaction_gap", &[first.to_vec(), second.to_vec()].concat())
        };
        assert!(gap("a", "d"));
        assert!(!gap("a", "c"), "from the earlier compaction itself on");
        assert!(!gap("l", "d"), "the earlier one kept no message");
    }

    #[test]
    fn a_compaction_beside_the_way_is_one_that_nothing_follows() {
        let beside = |rest: [String; 3]| has("compaction_siblings", &[vec![said("a", "null")], rest.to_vec()].concat());
        assert!(beside([compaction("c", "\"a\"", "a"), said("b", "\"a\""), said("d", "\"b\"")]));
        assert!(!beside([said("b", "\"a\""), said("d", "\"b\""), compaction("c", "\"a\"", "a")]), "it is the leaf");
        assert!(!beside([compaction("c", "\"a\"", "a"), said("b", "\"a\""), said("d", "\"c\"")]), "it goes on");
        assert!(beside([compaction("c", "\"a\"", "a"), compaction("b", "\"a\"", "a"), said("d", "\"b\"")]), "two of one place");
    }

    #[test]
    fn a_kept_part_splits_a_pair_when_it_begins_between_call_and_result_or_with_the_result() {
        let splits = |first_kept: &str| {
            let pair = [said("a", "null"), assistant("b", "\"a\"", "toolUse", CALL), result("c", "\"b\""), said("d", "\"c\"")];
            has("compaction_boundary_splits_tool_pair", &[pair.to_vec(), vec![compaction("e", "\"d\"", first_kept)]].concat())
        };
        assert_eq!(["b", "c", "d"].map(splits), [false, true, false]);
    }

    #[test]
    fn what_came_last_or_was_aborted_is_abandoned_and_not_unanswered() {
        let call = |stop: &str, next: &str| {
            let next = if next == "label" { label("c", "\"b\"") } else { said("c", "\"b\"") };
            let entries = [said("a", "null"), assistant("b", "\"a\"", stop, CALL), next];
            ["toolcall_unanswered", "toolcall_abandoned"].map(|code| has(code, &entries))
        };
        assert_eq!(call("toolUse", "message"), [true, false]);
        assert_eq!(call("toolUse", "label"), [false, true]);
        assert_eq!(call("aborted", "message"), [false, true]);
    }

    #[test]
    fn a_result_of_an_aborted_call_is_none_of_a_failed_one() {
        let failed = |stop: &str| has("toolresult_for_failed_call", &[assistant("a", "null", stop, CALL), result("b", "\"a\"")]);
        assert_eq!(["error", "aborted", "toolUse"].map(failed), [true, false, false]);
    }

    /// Of two uses with one id, one lies in an entry that a later entry of the same id hides.
    #[test]
    fn a_hidden_entry_calls_nothing_twice() {
        let twice =
            |id: &str| has("toolcall_id_duplicate", &[assistant("a", "null", "toolUse", CALL), assistant(id, "\"a\"", "toolUse", CALL)]);
        assert_eq!(["b", "a"].map(twice), [true, false]);
    }

    #[test]
    fn the_id_of_a_header_has_1_to_128_letters_of_its_grammar() {
        let wrong = |id: &str| has_behind(&header("5", id), "header_id_grammar", &[]);
        assert!(!wrong(&"a".repeat(128)) && wrong(&"a".repeat(129)));
        assert!(!wrong("A.z_0-9") && wrong("a:b") && wrong("é"));
        assert!(!wrong("") && has_behind(&header("5", ""), "header_id_empty", &[]));
    }

    #[test]
    fn versions_are_old_from_1_on_and_out_of_range_below() {
        let told = |version: &str| ["version_out_of_range", "legacy_version"].map(|code| has_behind(&header(version, "s"), code, &[]));
        assert_eq!(told("0"), [true, false]);
        assert_eq!(told("1"), [false, true]);
        assert_eq!(told("4"), [false, true]);
        assert_eq!(told("5"), [false, false]);
    }

    #[test]
    fn branches_alternate_from_the_second_return_on() {
        let branches = |last: &[String], kind: &str| {
            let second = entry(kind, "c", "\"a\"", r#""summary":"s","fromId":"a","customType":"x""#);
            let entries = [vec![said("a", "null"), said("b", "\"a\""), second], last.to_vec()].concat();
            has("interleaved_branches", &entries)
        };
        let (back, again) = (said("d", "\"b\""), said("e", "\"c\""));
        assert!(branches(&[back.clone(), again.clone()], "custom"));
        assert!(!branches(std::slice::from_ref(&back), "custom"), "one return");
        assert!(!branches(&[back, again], "branch_summary"), "the way that gjc leaves a branch");
    }

    #[test]
    fn a_setting_is_redundant_that_is_in_force() {
        let redundant = |entries: &[String]| has("redundant_entry_run", entries);
        let level =
            |id: &str, parent: &str, level: &str| entry("thinking_level_change", id, parent, &format!(r#""thinkingLevel":"{level}""#));
        let tools = |id: &str, parent: &str| entry("mcp_tool_selection", id, parent, r#""selectedToolNames":[]"#);
        assert!(redundant(&[level("a", "null", "off")]) && !redundant(&[level("a", "null", "high")]));
        assert!(!redundant(&[tools("a", "null")]) && redundant(&[tools("a", "null"), tools("b", "\"a\"")]));
    }

    #[test]
    fn a_leaf_without_history_misses_messages_that_there_are() {
        let leaf = |kind: &str, members: &str| has("leaf_without_history", &[said("a", "null"), entry(kind, "b", "null", members)]);
        assert!(leaf("custom", r#""customType":"x""#));
        assert!(!leaf("custom", r#""customType":"context_clear""#), "that is what clearing means");
        assert!(!has("leaf_without_history", &[entry("custom", "b", "null", r#""customType":"x""#)]), "there is none");
    }

    #[test]
    fn a_ring_is_a_ring_and_not_a_parent_behind_its_child() {
        let ring = [said("a", "\"b\""), said("b", "\"a\"")];
        assert!(has("parent_cycle", &ring) && !has("parent_after_child", &ring));
        assert!(has("parent_cycle", &[said("a", "\"a\"")]) && !has("parent_after_child", &[said("a", "\"a\"")]));
        assert!(has("parent_after_child", &[said("a", "\"b\""), said("b", "null")]));
    }

    #[test]
    fn ids_that_are_no_strings_are_faults_of_the_schema_alone() {
        let entries = [said("a", "null").replace("\"a\"", "7"), said("a", "null").replace("\"a\"", "7")];
        assert!(has("entry_schema", &entries) && !has("duplicate_entry_id", &entries));
        assert!(!has("dangling_parent", &[said("a", "8")]) && has("dangling_parent", &[said("a", "\"8\"")]));
    }

    #[test]
    fn a_new_name_needs_a_star_checkpoint_before_it_or_in_it() {
        let header = HEADER.replace("\"cwd\"", "\"starredPatchVersion\":1,\"cwd\"");
        let patch = |members: &str| format!(r#"{{"type":"header_patch","patch":{{{members}}}}}"#);
        let (star, name) = (patch("\"starred\":false"), patch("\"title\":\"t\""));
        let missing = |patches: &[&String]| {
            has_behind(&header, "star_checkpoint_missing", &patches.iter().map(|patch| (*patch).clone()).collect::<Vec<_>>())
        };
        assert!(missing(&[&name]) && !missing(&[&star, &name]) && missing(&[&star, &name, &name]));
        assert!(!missing(&[&patch("\"starred\":true,\"title\":\"t\"")]));
        assert!(!codes(&format!("{header}\n{name}\n"), &Options::lone("t", Release::V0_15)).contains(&"star_checkpoint_missing"));
        assert!(!has("star_checkpoint_missing", &[name]), "the header has no stars");
    }

    #[test]
    fn migration_throws_below_version_3_alone() {
        let entries = [format!(r#"{{"type":"message","id":"a","parentId":null,{TIME}}}"#)];
        assert_eq!(
            ["1", "2", "3", "4"].map(|version| has_behind(&header(version, "s"), "migration_throws", &entries)),
            [true, true, false, false]
        );
    }

    #[test]
    fn only_an_answer_of_a_model_is_sanitised() {
        let payload = r#""providerPayload":{"type":"openaiResponsesHistory","items":[]}"#;
        let with = |role: &str| {
            has(
                "replay_sanitation_pending",
                &[message("a", "null", &format!(r#"{{"role":"{role}","content":[],"provider":"p","model":"m",{payload},"timestamp":1}}"#))],
            )
        };
        assert_eq!(["assistant", "user"].map(with), [true, false]);
    }

    #[test]
    fn a_title_record_is_foreign_where_a_header_follows_it() {
        let title = r#"{"type":"title","v":1,"title":"t"}"#;
        assert!(codes(&lines(&[title, HEADER]), &lone()).contains(&"foreign_title_record"));
        assert!(!codes(&lines(&[title, &said("a", "null"), HEADER]), &lone()).contains(&"foreign_title_record"));
    }

    #[test]
    fn a_first_entry_without_parent_is_foreign_from_version_2_on() {
        let entry = format!(r#"{{"type":"custom","id":"a",{TIME},"customType":"x"}}"#);
        let foreign = |version: &str, before: &[String]| {
            has_behind(&header(version, "s"), "dialect_detected", &[before, std::slice::from_ref(&entry)].concat())
        };
        assert!(!foreign("1", &[]) && foreign("2", &[]) && foreign("5", &[]));
        assert!(!foreign("5", &[label("l", "null")]), "the second one");
    }

    #[test]
    fn numbers_are_imprecise_that_do_not_come_back() {
        let number =
            |number: &str| has("number_precision", &[entry("custom", "a", "null", &format!(r#""customType":"x","data":{number}"#))]);
        assert!(!number("9007199254740992") && number("9007199254740993"));
        assert!(!number("1e308") && number("1e309"));
    }

    #[test]
    fn an_empty_file_has_no_other_fault() {
        for text in ["", "\n", "\n\n\n", "\u{FEFF}\n\n"] {
            let wanted: &[&str] = if text.starts_with('\u{FEFF}') { &["utf8_bom", "empty_transcript"] } else { &["empty_transcript"] };
            assert_eq!(codes(text, &lone()), wanted, "{text:?}");
        }
    }

    /// The record is torn: that it has no line end is what tearing means.
    #[test]
    fn only_a_complete_record_lacks_its_line_end() {
        let whole = lines(&[HEADER, &said("a", "null")]);
        let cut = |bytes: usize| codes(&whole[..whole.len() - bytes], &lone());
        assert_eq!(cut(0), [""; 0]);
        assert_eq!(cut(1), ["missing_final_newline"]);
        assert_eq!(cut(2), ["truncated_last_line"]);
    }
}
