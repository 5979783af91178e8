//! Usage records of messages: when gjc counts one (spec 01 §8.3). A record that fails is left out of totals; that
//! changes nothing on disk and refuses nothing, except to the bounded reader.

use crate::json::{Kind, View};

/// The usage record that a task left in the details of its result; none unless it is an object or an array.
pub fn of_task<'v, V: View<'v>>(details: Option<V>) -> Option<V> {
    details.and_then(|details| details.get("usage")).filter(|usage| matches!(usage.kind(), Kind::Object | Kind::Array))
}

/// The first member that keeps a usage record out of the totals; none when it is counted.
///
/// The rule that no running sum may become infinite depends on all records together and is not asked here.
pub fn fault<'v, V: View<'v>>(usage: V) -> Option<&'static str> {
    if !usage.is_record() {
        return Some("");
    }
    for (key, pointer) in [("input", "/input"), ("output", "/output"), ("cacheRead", "/cacheRead"), ("cacheWrite", "/cacheWrite")] {
        if !usage.get(key).is_some_and(countable) {
            return Some(pointer);
        }
    }
    if !usage.get("premiumRequests").is_none_or(countable) {
        return Some("/premiumRequests");
    }
    match usage.get("cost") {
        None => None,
        Some(cost) if cost.kind() != Kind::Object => Some("/cost"),
        Some(cost) => (!cost.get("total").is_some_and(countable)).then_some("/cost/total"),
    }
}

/// A finite number that is not negative.
fn countable<'v, V: View<'v>>(value: V) -> bool {
    value.as_f64().is_some_and(|number| number.is_finite() && number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn of(text: &str) -> Option<&'static str> {
        fault(&Value::parse(text.as_bytes()).expect("the text is JSON"))
    }

    #[test]
    fn a_task_has_a_usage_record_only_where_its_details_hold_a_container() {
        let of = |text: &str| of_task(Some(&Value::parse(text.as_bytes()).expect("the text is JSON"))).is_some();
        assert!(of(r#"{"usage":{}}"#) && of(r#"{"usage":[]}"#));
        for text in ["{}", "7", "null", r#"{"usage":null}"#, r#"{"usage":5}"#, r#"{"usage":"x"}"#, r#"{"usage":true}"#] {
            assert!(!of(text), "{text}");
        }
    }

    #[test]
    fn four_counts_are_needed_and_the_rest_may_be_absent() {
        let counts = r#""input":1,"output":0,"cacheRead":0,"cacheWrite":2.5"#;
        assert_eq!(of(&format!("{{{counts}}}")), None);
        assert_eq!(of(&format!(r#"{{{counts},"premiumRequests":0,"cost":{{"total":0.1}}}}"#)), None);
        for (extra, pointer) in [
            (r#""premiumRequests":null"#, "/premiumRequests"),
            (r#""cost":[]"#, "/cost"),
            (r#""cost":null"#, "/cost"),
            (r#""cost":{}"#, "/cost/total"),
            (r#""cost":{"total":-1}"#, "/cost/total"),
            (r#""input":1e400"#, "/input"),
            (r#""output":"1""#, "/output"),
        ] {
            assert_eq!(of(&format!("{{{counts},{extra}}}")), Some(pointer), "{extra}");
        }
        for text in ["null", "[]", "7"] {
            assert_eq!(of(text), Some(""), "{text}");
        }
    }
}
