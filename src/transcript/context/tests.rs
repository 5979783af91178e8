//! The rules that the recorded answers do not show: release differences, budget, classes.

use super::answer::{LeafName, contexts};
use super::*;
use crate::transcript::ids::Ids;
use crate::transcript::migrate::Numbered;

const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/a"}"#;

fn message(id: &str, parent: &str, role: &str) -> String {
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"t","message":{{"role":"{role}","content":"c"}}}}"#)
}
fn entry(id: &str, parent: &str, kind: &str, rest: &str) -> String {
    format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"t"{rest}}}"#)
}
fn context_of(lines: &[String], release: Release) -> String {
    let text = format!("{HEADER}\n{}", lines.join("\n"));
    let mut answers = contexts(text.as_bytes(), release, &[LeafName::Last], &mut Numbered::default()).unwrap();
    String::from_utf8(answers.remove(0)).unwrap()
}
fn values(lines: &[String]) -> (Vec<Value>, Ids) {
    (lines.iter().map(|line| Value::parse(line.as_bytes()).unwrap()).collect(), Ids::default())
}
fn class(lines: &[String], budget: u64) -> Result<Class, Throw> {
    let (entries, mut ids) = values(lines);
    classify(&Values::new(&entries, &mut ids), Release::V0_17, Some(budget))
}
fn weight(lines: &[String]) -> Option<u64> {
    let (entries, mut ids) = values(lines);
    let list = Values::new(&entries, &mut ids);
    build(&Tree::new(&list), Leaf::Last, Release::V0_17).unwrap().weight()
}

fn ownership(data: &str) -> String {
    entry("o", "null", "custom", &format!(r#","customType":"model_profile_ownership"{data}"#))
}

#[test]
fn ownership_is_known_to_0_17_only() {
    let line = [ownership(r#","data":{"kind":"profile","profile":" fast "}"#)];
    let new = context_of(&line, Release::V0_17);
    assert!(new.contains(
        r#""configuredModelChains":{},"modelProfileOwnershipMarker":{"kind":"profile","profile":" fast "},"injectedTtsrRules":[]"#
    ));
    assert!(!context_of(&line, Release::V0_15).contains("modelProfileOwnershipMarker"));
}

#[test]
fn invalid_ownership_on_the_path_is_an_error() {
    for data in [
        "",
        r#","data":null"#,
        r#","data":"inherit""#,
        r#","data":[]"#,
        r#","data":{"kind":"x"}"#,
        r#","data":{"kind":"inherit","x":1}"#,
        r#","data":{"kind":"profile"}"#,
        r#","data":{"kind":"profile","profile":" \u3000\ufeff\u00a0\n"}"#,
        r#","data":{"kind":"profile","profile":5}"#,
    ] {
        assert_eq!(context_of(&[ownership(data)], Release::V0_17), r#"{"throws":"model_profile_ownership_invalid"}"#, "{data}");
        assert!(context_of(&[ownership(data)], Release::V0_15).starts_with(r#"{"context""#), "{data}");
    }
}

#[test]
fn a_zero_width_space_is_not_blank() {
    let line = ownership(r#","data":{"kind":"profile","profile":"\u200b"}"#);
    assert!(context_of(&[line], Release::V0_17).contains("modelProfileOwnershipMarker"));
}

#[test]
fn invalid_ownership_off_the_path_does_no_harm() {
    let lines = [ownership(""), message("a", "null", "user")];
    assert!(context_of(&lines, Release::V0_17).starts_with(r#"{"context""#));
}

#[test]
fn the_tail_decides_the_class() {
    assert_eq!(class(&[], 1), Ok(Class::Terminal));
    assert_eq!(class(&[message("a", "null", "user")], budget::DEFAULT), Ok(Class::Resumable));
    assert_eq!(class(&[message("a", "null", "assistant")], budget::DEFAULT), Ok(Class::Terminal));
    let label = entry("l", "\"a\"", "label", r#","targetId":"a""#);
    assert_eq!(class(&[message("a", "null", "assistant"), label], budget::DEFAULT), Ok(Class::Terminal));
    let summary = entry("b", "\"a\"", "branch_summary", r#","fromId":"a","summary":"s""#);
    assert_eq!(class(&[message("a", "null", "assistant"), summary], budget::DEFAULT), Ok(Class::Resumable));
}

#[test]
fn what_throws_has_no_class() {
    assert!(class(&[entry("x", "null", "mcp_tool_selection", "")], budget::DEFAULT).is_err());
}

#[test]
fn an_empty_list_is_never_measured_and_one_label_weighs_940() {
    assert_eq!(weight(&[]), None);
    assert_eq!(weight(&[entry("l", "null", "label", r#","targetId":"a""#)]), Some(940));
}

#[test]
fn the_budget_itself_is_not_too_much() {
    let label = [entry("l", "null", "label", r#","targetId":"a""#)];
    assert_eq!(class(&label, 940), Ok(Class::Terminal));
    assert_eq!(class(&label, 939), Ok(Class::TooLarge { bytes: 940 }));
}

#[test]
fn a_message_adds_its_place_and_its_weight() {
    let user = message("a", "null", "user");
    let body = budget::value(&Value::parse(br#"{"role":"user","content":"c"}"#).unwrap());
    assert_eq!(weight(&[user]), Some(940 + 8 + body));
}

#[test]
fn a_custom_message_weighs_what_it_emits_with_all_its_keys() {
    let custom = entry("a", "null", "custom_message", r#","customType":"t","content":["x"],"display":true"#);
    let entry = Value::parse(custom.as_bytes()).unwrap();
    let emitted = budget::Scale::default().js(&emitted(&entry));
    assert_eq!(emitted_weight(&entry, EntryKind::CustomMessage), emitted);
    assert_eq!(weight(&[custom]), Some(940 + 8 + emitted));
}

#[test]
fn a_compaction_weighs_what_it_emits() {
    let rest = r#","summary":"s","firstKeptEntryId":"a","tokensBefore":1,"preserveData":{"openaiRemoteCompaction":{"provider":"p","replacementHistory":[{"x":1}]}}"#;
    let entry = Value::parse(entry("k", "null", "compaction", rest).as_bytes()).unwrap();
    assert_eq!(emitted_weight(&entry, EntryKind::Compaction), budget::Scale::default().js(&emitted(&entry)));
}

#[test]
fn a_model_shared_with_its_legacy_chain_counts_once() {
    let shared = weight(&[entry("m", "null", "model_change", r#","model":{}"#)]).unwrap();
    let scalar = weight(&[entry("m", "null", "model_change", r#","model":7"#)]).unwrap();
    assert_eq!(shared - 48, scalar - 16);
}

#[test]
fn a_rule_name_shared_with_its_record_counts_once() {
    let rest = |name: &str| format!(r#","injectedRules":[],"injectedRuleRecords":[{{"name":{name}}}]"#);
    let shared = weight(&[entry("r", "null", "ttsr_injection", &rest("{}"))]).unwrap();
    let twice = weight(&[entry("r", "null", "ttsr_injection", &rest("null"))]).unwrap();
    assert_eq!(shared, twice + 48);
}

#[test]
fn a_role_with_the_name_of_a_chain_prototype_key_gets_no_chain() {
    let chain = entry("c", "null", "configured_model_chain", r#","role":"__proto__","entries":["p/1"],"identity":"i""#);
    let model = |id: &str, parent: &str, role: &str| entry(id, parent, "model_change", &format!(r#","model":"p/m","role":"{role}""#));
    let lines = [chain, model("m", "\"c\"", "identity"), model("n", "\"m\"", "other")];
    assert!(
        context_of(&lines, Release::V0_17).contains(
            r#""configuredModelChains":{"other":{"role":"other","entries":["p/m"],"origin":"legacy_session","explicitHead":true}}"#
        )
    );
}

#[test]
fn values_without_text_throw_where_text_is_needed() {
    let message = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","provider":{"toString":1}}}"#;
    assert!(context_of(&[message.to_owned()], Release::V0_17).starts_with(r#"{"throws""#));
    let model = entry("m", "null", "model_change", r#","model":"p/m","role":[{"toString":1}]"#);
    assert!(context_of(&[model], Release::V0_17).starts_with(r#"{"throws""#));
    let summary = r#"{"type":"branch_summary","id":"b","parentId":null,"timestamp":[{"toString":1}],"summary":"s"}"#;
    assert!(context_of(&[summary.to_owned()], Release::V0_17).starts_with(r#"{"throws""#));
}

#[test]
fn an_array_in_a_version_1_file_is_a_link_of_the_chain() {
    let header = r#"{"type":"session","id":"s"}"#;
    let message = r#"{"type":"message","message":{"role":"user","content":"c"}}"#;
    let messages = |lines: &[&str]| {
        let text = [&[header], lines].concat().join("\n");
        let answers = contexts(text.as_bytes(), Release::V0_17, &[LeafName::Last], &mut Numbered::default()).unwrap();
        String::from_utf8_lossy(&answers[0]).matches("\"content\"").count()
    };
    assert_eq!(messages(&[message, "[1]", message]), 2);
    assert_eq!(messages(&[message, "[1]", "[]", message, "[1]"]), 2);
    assert_eq!(messages(&["[1]", message]), 1);
}

#[test]
fn many_roles_and_rules_stay_linear() {
    let lines: Vec<String> = (0..40_000)
        .map(|n| {
            let parent = if n == 0 { "null".to_owned() } else { format!("\"{}\"", n - 1) };
            match n % 4 {
                0 => entry(&n.to_string(), &parent, "model_change", &format!(r#","model":"p/m","role":"r{n}""#)),
                1 => entry(&n.to_string(), &parent, "model_change", &format!(r#","model":"","cleared":true,"role":"r{}""#, n / 8)),
                2 => entry(&n.to_string(), &parent, "ttsr_injection", &format!(r#","injectedRules":["r{n}"]"#)),
                _ => entry(&n.to_string(), &parent, "compaction", r#","summary":"s","firstKeptEntryId":"none","tokensBefore":1"#),
            }
        })
        .collect();
    assert!(weight(&lines).unwrap() > 940);
}

#[test]
fn an_id_that_cannot_become_text_throws_where_an_observation_id_is_made_of_it() {
    let of = |id: &str, details: &str| {
        let custom = format!(
            r#"{{"type":"custom_message","id":{id},"parentId":null,"timestamp":"t","customType":"c","content":"x","details":{details}}}"#
        );
        let text = format!("{{\"type\":\"session\",\"version\":5,\"id\":\"s\"}}\n{custom}\n");
        let answers = contexts(text.as_bytes(), Release::V0_17, &[LeafName::Last], &mut Numbered::default()).unwrap();
        String::from_utf8(answers.concat()).unwrap()
    };
    assert_eq!(of(r#"{"toString":1}"#, "{}"), r#"{"throws":"No default value"}"#);
    assert!(of("{}", "{}").contains("session:s:entry:[object Object]"));
    assert!(of(r#"{"toString":1}"#, r#"{"observationId":"own"}"#).contains("own"));
}
