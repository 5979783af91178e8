//! Edit snapshots: the bodies that an edit tool leaves in the `details` of its result (spec 01 §8.4 step 1, 04 §5.5).

use super::tally::Tally;
use crate::json::view::len_utf16;
use crate::json::{Object, Value, View};
use sha2::{Digest, Sha256};

/// A body of more units is replaced.
pub const LONGEST_BODY: usize = 16_384;

/// What stands in place of a body.
pub const NOTICE: &str = "[edit snapshot externalized: see oldTextDigest/newTextDigest; full body omitted from transcript]";

/// The bodies and their digests.
const BODIES: [(&str, &str); 2] = [("oldText", "oldTextDigest"), ("newText", "newTextDigest")];

/// Replaces the long bodies of *one tree* below the `details` of a tool result; others stay until a later rewrite.
///
/// Which one: the first object-valued child of `details` that has a long body; else the first child that is a container
/// and in which the same question finds one; else `details` itself. An array is one tree: each of its elements is asked.
pub fn bound(record: &mut Value, tally: &mut Tally) {
    let Some(details) = details_of_tool_result(record) else { return };
    let before = tally.edit_snapshots;
    bound_below(details, tally);
    if tally.edit_snapshots == before && has_long_body(details) {
        bound_object(details, tally);
    }
}

/// A container whose containers are still to be entered.
struct Open<'a> {
    is_array: bool,
    /// Bodies that had been replaced when it was entered.
    before: u64,
    rest: std::vec::IntoIter<&'a mut Value>,
}

fn bound_below(details: &mut Value, tally: &mut Tally) {
    let mut open: Vec<Open> = enter(details, tally).into_iter().collect();
    while let Some(container) = open.last_mut() {
        let is_done = !container.is_array && tally.edit_snapshots > container.before;
        match container.rest.next().filter(|_| !is_done) {
            Some(child) => open.extend(enter(child, tally)),
            None => drop(open.pop()),
        }
    }
}

/// Bounds what has long bodies directly in a container: of an object one child, of an array all. What is left to enter.
fn enter<'a>(container: &'a mut Value, tally: &mut Tally) -> Option<Open<'a>> {
    let before = tally.edit_snapshots;
    let (is_array, children): (bool, Vec<&mut Value>) = match container {
        Value::Array(array) => (true, array.items_mut().iter_mut().collect()),
        Value::Object(object) => (false, object.iter_mut().map(|(_, value)| value).collect()),
        _ => return None,
    };
    let mut rest = Vec::new();
    for child in children {
        if has_long_body(child) {
            bound_object(child, tally);
            if !is_array {
                return None;
            }
        } else if is_container(child) {
            rest.push(child);
        }
    }
    Some(Open { is_array, before, rest: rest.into_iter() })
}

fn details_of_tool_result(record: &mut Value) -> Option<&mut Value> {
    if !record.member("type").is_some_and(|kind| kind.is_str("message")) {
        return None;
    }
    let message = record.as_object_mut()?.get_mut("message")?;
    if !message.member("role").is_some_and(|role| role.is_str("toolResult")) {
        return None;
    }
    message.as_object_mut()?.get_mut("details").filter(|details| details.as_object().is_some())
}

const fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

fn has_long_body(value: &Value) -> bool {
    value.as_object().is_some_and(|object| BODIES.iter().any(|(body, _)| long_body(object, body).is_some()))
}

fn long_body<'a>(object: &'a Object, key: &str) -> Option<&'a [u8]> {
    match object.get(key) {
        // A string has at most as many units as bytes.
        Some(Value::String(text)) if text.as_bytes().len() > LONGEST_BODY && len_utf16(text.as_bytes()) > LONGEST_BODY => {
            Some(text.as_bytes())
        }
        _ => None,
    }
}

fn bound_object(value: &mut Value, tally: &mut Tally) {
    let Some(object) = value.as_object_mut() else { return };
    let digests = BODIES.map(|(body, name)| long_body(object, body).map(|text| (body, name, digest(text))));
    for (body, _, _) in digests.iter().flatten() {
        object.set(*body, Value::string(NOTICE));
        tally.edit_snapshots += 1;
    }
    for (_, name, digest) in digests.into_iter().flatten() {
        object.set(name, digest);
    }
}

/// `{"bytes":…,"sha256":"…"}` of the UTF-8 form of a text.
fn digest(text: &[u8]) -> Value {
    let utf8 = crate::json::JsStr::from_wtf8(text).to_string_lossy();
    let sha256 = data_encoding::HEXLOWER.encode(&Sha256::digest(utf8.as_bytes()));
    let members = [("bytes", Value::Number(utf8.len() as f64)), ("sha256", Value::string(sha256))];
    Value::Object(members.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;

    fn long(unit: &str) -> String {
        format!("\"{}\"", unit.repeat(LONGEST_BODY + 1))
    }

    /// The `details` after one pass, and the number of bodies replaced; long texts are shown as `A…`.
    fn pass(role: &str, details: &str) -> (String, u64) {
        let text = format!(r#"{{"type":"message","message":{{"role":"{role}","details":{details}}}}}"#);
        let mut record = Value::parse(text.as_bytes()).unwrap();
        let mut tally = Tally::default();
        bound(&mut record, &mut tally);
        let details = to_text(record.member("message").unwrap().member("details").unwrap());
        (details.replace(&long("o"), "\"A…\"").replace(NOTICE, "NOTICE"), tally.edit_snapshots)
    }

    const DIGEST: &str = r#"{"bytes":16385,"sha256":"77426c79c82762b6d786ab2e12b73927a04938d569607eb4f3a4d73872155536"}"#;

    #[test]
    fn a_body_of_16385_units_becomes_a_digest_behind_the_existing_members() {
        let (details, bodies) = pass("toolResult", &format!(r#"{{"oldText":{},"diff":"d"}}"#, long("o")));
        assert_eq!(details, format!(r#"{{"oldText":"NOTICE","diff":"d","oldTextDigest":{DIGEST}}}"#));
        assert_eq!(bodies, 1);
    }

    #[test]
    fn units_count_for_the_length_and_utf8_for_the_digest() {
        let kept = format!("{{\"newText\":\"{}\"}}", "é".repeat(LONGEST_BODY));
        assert_eq!(pass("toolResult", &kept), (kept, 0));
        let (details, _) = pass("toolResult", &format!(r#"{{"newText":{}}}"#, long("é")));
        assert!(details.contains(r#""newTextDigest":{"bytes":32770,"#), "{details}");
    }

    #[test]
    fn other_roles_and_details_that_are_an_array_are_untouched() {
        let object = format!(r#"{{"oldText":{}}}"#, long("o"));
        assert_eq!(pass("user", &object).1, 0);
        assert_eq!(pass("toolResult", &format!("[{object}]")).1, 0);
    }

    #[test]
    fn one_pass_bounds_one_tree() {
        let body = format!(r#"{{"oldText":{}}}"#, long("o"));
        // An object-valued child comes first, wherever it stands.
        let (details, bodies) = pass("toolResult", &format!(r#"{{"oldText":{},"list":[{body}],"one":{body},"two":{body}}}"#, long("o")));
        assert_eq!(
            details,
            format!(
                r#"{{"oldText":"A…","list":[{{"oldText":"A…"}}],"one":{{"oldText":"NOTICE","oldTextDigest":{DIGEST}}},"two":{{"oldText":"A…"}}}}"#
            )
        );
        assert_eq!(bodies, 1);
        // Then trees, an array with all its elements, then `details` itself.
        let list = |body: &str| format!(r#""perFileResults":[{{"x":1}},{body},{{"deep":[{body}],"other":[{body}]}}]"#);
        let text = format!(r#"{{"oldText":{},{},"later":[{body}]}}"#, long("o"), list(&body));
        let (details, bodies) = pass("toolResult", &text);
        let bounded = format!(r#"{{"oldText":"NOTICE","oldTextDigest":{DIGEST}}}"#);
        let expect = list(&bounded).replace(&format!(r#""other":[{bounded}]"#), r#""other":[{"oldText":"A…"}]"#);
        assert_eq!(details, format!(r#"{{"oldText":"A…",{expect},"later":[{{"oldText":"A…"}}]}}"#));
        assert_eq!(bodies, 2);
        let (details, _) = pass("toolResult", &format!(r#"{{"oldText":{},"perFileResults":[{{"x":1}}]}}"#, long("o")));
        assert_eq!(details, format!(r#"{{"oldText":"NOTICE","perFileResults":[{{"x":1}}],"oldTextDigest":{DIGEST}}}"#));
    }

    #[test]
    fn later_passes_reach_everything() {
        let body = format!(r#"{{"oldText":{}}}"#, long("o"));
        let text = format!(
            r#"{{"type":"message","message":{{"role":"toolResult","details":{{"oldText":{},"files":[{body},{{"deep":[[{body}]]}}]}}}}}}"#,
            long("o")
        );
        let mut record = Value::parse(text.as_bytes()).unwrap();
        let mut passes = Vec::new();
        loop {
            let mut tally = Tally::default();
            bound(&mut record, &mut tally);
            passes.push(tally.edit_snapshots);
            if tally.edit_snapshots == 0 {
                break;
            }
        }
        assert_eq!(passes, [2, 1, 0]);
    }

    #[test]
    fn depth_has_no_limit() {
        let deep = format!("{{\"a\":{}{{\"oldText\":{}}}{}}}", "[".repeat(200_000), long("o"), "]".repeat(200_000));
        assert_eq!(pass("toolResult", &deep).1, 1);
    }
}
