//! Where each verdict token of the registry (spec 05 §3) is shown: `tokens.tsv`, one row a token, in the order of the registry.
//!
//! | shown by | the last column |
//! |---|---|
//! | `case` | a case of the corpus that has the token as a finding of its own, or among the answers of gjc's readers and operations |
//! | `test` | a test function that names it |
//! | `vector` | a file of gjc's own answers that holds it |
//! | `platform` | it cannot occur on this system: which one it needs |
//! | `race` | it needs another process between two steps of one operation: which steps |
//! | `writer` | only gjc itself says it while it writes, of what no tree shows: what happens |
//!
//! For the last three nothing here answers the token: a row may not say so of a token that this program gives.

use super::cases::{names, test_function};
use super::{root, sources};
use gjc_fsck::check;
use gjc_fsck::corpus::case::{Answer, Case};
use gjc_fsck::finding::{Code, Role};

fn tokens() -> impl Iterator<Item = &'static Code> {
    check::codes().filter(|code| code.role == Role::VerdictToken)
}

fn table() -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(root().join("tests/registry/tokens.tsv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("token\tshown by\twhere, or why not"));
    let row = |line: &str| <[String; 3]>::try_from(line.split('\t').map(str::to_owned).collect::<Vec<_>>()).unwrap();
    lines.map(row).collect()
}

#[test]
fn every_token_has_its_row() {
    let rows: Vec<String> = table().into_iter().map(|[token, ..]| token).collect();
    assert_eq!(rows, tokens().map(|token| token.name).collect::<Vec<_>>());
}

#[test]
fn every_token_is_shown_where_its_row_says_or_cannot_be() {
    let mut wrong = Vec::new();
    for ([token, how, place], code) in table().iter().zip(tokens()) {
        let said = match how.as_str() {
            "case" => case(place, code),
            "test" => {
                let (path, name) = place.split_once("::").unwrap();
                test_function(path, name).and_then(|body| names(&body, token))
            }
            "vector" => std::fs::read_to_string(root().join(place)).map_err(|_| "no such file").and_then(|text| names(&text, token)),
            "platform" | "race" | "writer" if place.len() < 20 => Err("no reason"),
            "platform" | "race" | "writer" => cases_named(place),
            _ => Err("shown by nothing that is known"),
        };
        if let Err(fault) = said {
            wrong.push(format!("{token}: {how} {place}: {fault}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a reason refers to is there.
fn cases_named(reason: &str) -> Result<(), &'static str> {
    let mut cases = reason.split([' ', '(', ')', ',', ';']).filter(|word| word.starts_with("corpus/"));
    if cases.all(|case| root().join(case).join("case.json").is_file()) { Ok(()) } else { Err("its reason names a case that is not there") }
}

/// A case that has the token for its own, or whose answers hold it.
fn case(place: &str, token: &Code) -> Result<(), &'static str> {
    let text = std::fs::read(root().join(place).join("case.json")).map_err(|_| "no case")?;
    let case: Case = serde_json::from_slice(&text).map_err(|_| "no case that can be read")?;
    let is_own = case.code.as_deref() == Some(token.name);
    // A token stands alone, or in front of what gjc appends to it, or behind what it details.
    let holds = |said: &str| said.split([':', ' ']).any(|word| word == token.name || token.token == Some(word));
    let said = |answer: &Answer| {
        let verdicts = answer.verdicts.values().flat_map(|readers| readers.values());
        verdicts.chain(answer.operations.iter().flat_map(|operations| operations.values())).any(|said| holds(said))
    };
    if is_own || case.trigger.answers.iter().any(said) { Ok(()) } else { Err("no answer of its trigger holds the token") }
}

/// Tokens that are said to be beyond this program are not given by it: no refusal is made of them.
#[test]
fn no_token_is_given_that_is_said_to_be_beyond_this_program() {
    let texts: Vec<String> = sources(&root().join("src"))
        .iter()
        .filter(|path| !path.ends_with("codes.rs"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for [token, how, _] in table().iter().filter(|[_, how, _]| matches!(how.as_str(), "platform" | "writer")) {
        let made = [format!("Refused::new(\"{token}\""), format!("Stop::at(\"{token}\""), format!("token(\"{token}\"")];
        assert!(!texts.iter().any(|text| made.iter().any(|made| text.contains(made))), "{token} ({how}) is given");
    }
}
