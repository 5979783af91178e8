//! `String(value)` of JavaScript for values that JSON can carry.

use super::number::to_js_string;
use super::string::{JsStr, JsString};
use super::view::{Kind, View};

/// `String(value)`: arrays become their elements joined by commas (null elements are empty), objects
/// `[object Object]`. None where JavaScript throws a `TypeError`: an object whose own member `toString` hides the
/// inherited function. Iterative: any depth (the engine would run out of stack).
pub fn to_text<'a, V: View<'a>>(value: V) -> Option<JsString> {
    let mut text = JsString::default();
    // What is still to be written, next one last; none is the comma between two elements of an array.
    let mut pending = vec![Some((value, false))];
    while let Some(next) = pending.pop() {
        let Some((value, is_element)) = next else {
            text.push_js(JsStr::from(","));
            continue;
        };
        match value.kind() {
            Kind::Null if is_element => {}
            Kind::Null => text.push_js(JsStr::from("null")),
            Kind::Bool => text.push_js(JsStr::from(if value.as_bool() == Some(true) { "true" } else { "false" })),
            Kind::Number => text.push_js(JsStr::from(to_js_string(value.as_f64().unwrap_or(f64::NAN)).as_str())),
            Kind::String => text.push_js(JsStr::from_wtf8(&value.as_str().unwrap_or_default())),
            Kind::Object if value.get("toString").is_some() => return None,
            Kind::Object => text.push_js(JsStr::from("[object Object]")),
            Kind::Array => {
                let first = pending.len();
                for item in value.items() {
                    if pending.len() > first {
                        pending.push(None);
                    }
                    pending.push(Some((item, true)));
                }
                pending[first..].reverse();
            }
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn text(json: &str) -> Option<String> {
        to_text(&Value::parse(json.as_bytes()).unwrap()).map(|text| text.to_string())
    }

    #[test]
    fn scalars_are_their_words() {
        assert_eq!(text("null").as_deref(), Some("null"));
        assert_eq!(text("true").as_deref(), Some("true"));
        assert_eq!(text("-0").as_deref(), Some("0"));
        assert_eq!(text("1e400").as_deref(), Some("Infinity"));
        assert_eq!(text("\"x\"").as_deref(), Some("x"));
    }

    #[test]
    fn arrays_join_and_null_elements_are_empty() {
        assert_eq!(text("[1,[2,null],[],{}]").as_deref(), Some("1,2,,,[object Object]"));
    }

    #[test]
    fn an_own_to_string_member_throws() {
        assert_eq!(text("[{\"toString\":1}]"), None);
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = format!("{}7{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(text(&deep).as_deref(), Some("7"));
    }
}
