//! How large gjc measures a rebuilt context, and how large it may be (spec 01 §9.9, 01a.12).
//!
//! Nothing, `null` and `undefined` weigh 0, a string 16 and 2 for each UTF-16 unit, a number or boolean 8, an array 8
//! for each element and its elements, an object 48 and for each member its key as a string and its value. A member
//! that is `undefined` counts its key. A container that was counted already weighs 0.

use super::js::{Js, characters};
use crate::json::view::len_utf16;
use crate::json::{Census, Kind, Value, View};
use crate::steps;
use std::collections::HashSet;

/// Bytes a context may have unless the environment says otherwise.
pub const DEFAULT: u64 = 536_870_912;
/// Bytes that the environment may allow at most.
pub const MAX: u64 = 8_589_934_592;
/// The variable that overrides [`DEFAULT`].
pub const VARIABLE: &str = "GJC_SESSION_CONTEXT_BUDGET_BYTES";

/// The budget that a value of [`VARIABLE`] asks for; none when gjc ignores it (with a warning).
pub fn from_environment(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let bytes = text.iter().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    (1..=MAX).contains(&bytes).then_some(bytes)
}

/// True when the context of a file of `bytes` bytes cannot exceed `budget`: nothing has to be measured.
///
/// Nothing weighs more for its bytes than the name of an injected rule: `"a",`, 4 bytes, becomes a name, 26 measured bytes,
/// and a record `{name, lastInjectedAt}`, 150 (9.5). The densest value of a message is `{},` as array elements, 56 for 3. An
/// empty context weighs less than 1,024.
pub const fn cannot_exceed(bytes: u64, budget: u64) -> bool {
    bytes.saturating_mul(45).saturating_add(1024) <= budget
}

/// What an object weighs beside its members.
pub const OBJECT: u64 = 48;
/// What an array element weighs beside its value.
pub const ELEMENT: u64 = 8;
const SCALAR: u64 = 8;

/// What a string or a key weighs (WTF-8).
pub fn string(text: &[u8]) -> u64 {
    2 * len_utf16(text) as u64 + 16
}

/// What a value weighs that shares no part with another. Iterative: any depth.
pub fn value<'v, V: View<'v>>(value: V) -> u64 {
    match value.census() {
        Some(Census { units, strings, scalars, objects, elements }) => {
            2 * units + 16 * strings + SCALAR * scalars + OBJECT * objects + ELEMENT * elements
        }
        None => weigh(value, |_| true),
    }
}

/// Weighs `value` without the containers for which `is_new` says no.
fn weigh<'v, V: View<'v>>(value: V, mut is_new: impl FnMut(V) -> bool) -> u64 {
    let mut total = 0;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        steps::take(1);
        match value.kind() {
            Kind::Null => {}
            Kind::Bool | Kind::Number => total += SCALAR,
            Kind::String => total += string(&value.as_str().unwrap_or_default()),
            Kind::Array if is_new(value) => {
                let before = pending.len();
                pending.extend(value.items());
                total += ELEMENT * (pending.len() - before) as u64;
            }
            Kind::Object if is_new(value) => {
                total += OBJECT;
                for (key, member) in value.members() {
                    total += string(&key);
                    pending.push(member);
                }
            }
            Kind::Array | Kind::Object => {}
        }
    }
    total
}

/// Weighs values that may share containers.
#[derive(Default)]
pub struct Scale {
    seen: HashSet<*const Value>,
}

impl Scale {
    /// What a value adds.
    pub fn js(&mut self, js: &Js<'_>) -> u64 {
        match js {
            Js::Undefined => 0,
            Js::Value(value) => weigh(*value, |container| self.seen.insert(std::ptr::from_ref(container))),
            Js::Text(text) => string(text.as_bytes()),
            Js::Number(_) | Js::Bool(_) => SCALAR,
            Js::Characters(text) => characters(text).map(|character| ELEMENT + string(character)).sum(),
            Js::Array(items) => items.iter().map(|item| ELEMENT + self.js(item)).sum(),
            Js::Object(members) => OBJECT + members.iter().map(|(key, member)| string(key.as_bytes()) + self.js(member)).sum::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same for both forms of a value.
    fn weight(json: &str) -> u64 {
        let mut tape = crate::json::Tape::default();
        crate::json::scan::scan(json.as_bytes(), 0, &mut tape);
        let borrowed = value(tape.root(json.as_bytes()).unwrap());
        let owned = value(&Value::parse(json.as_bytes()).unwrap());
        assert_eq!(borrowed, owned, "{json}");
        owned
    }

    #[test]
    fn escapes_duplicates_and_nesting_weigh_what_they_become() {
        assert_eq!(weight(r#""\u00e9\n\ud83d\ude00x""#), 16 + 2 * 5);
        assert_eq!(weight(r#"{"a":1,"a":"xx"}"#), 48 + 18 + 20);
        assert_eq!(weight(r#"{"a":[[],{"b":[1,null]}],"c":true}"#), 48 + 18 + 2 * 8 + 48 + 18 + 2 * 8 + 8 + 18 + 8);
        let many = format!("\"{}\"", "\\n".repeat(70_000));
        assert_eq!(weight(&many), 16 + 140_000);
    }

    #[test]
    fn scalars() {
        assert_eq!(weight("null"), 0);
        assert_eq!(weight("true"), 8);
        assert_eq!(weight("1e400"), 8);
    }

    #[test]
    fn strings_weigh_by_utf16_units() {
        assert_eq!(weight("\"\""), 16);
        assert_eq!(weight("\"é\""), 18);
        assert_eq!(weight("\"😀\""), 20);
    }

    #[test]
    fn arrays_weigh_by_element() {
        assert_eq!(weight("[]"), 0);
        assert_eq!(weight("[null,1,[]]"), 24 + 8);
    }

    #[test]
    fn objects_weigh_by_member_and_a_repeated_key_counts_once() {
        assert_eq!(weight("{}"), 48);
        assert_eq!(weight("{\"a\":null}"), 48 + 18);
        assert_eq!(weight("{\"a\":1,\"a\":\"x\"}"), 48 + 18 + 18);
    }

    #[test]
    fn an_undefined_member_counts_its_key() {
        assert_eq!(Scale::default().js(&Js::object([("mode", Js::Undefined)])), 48 + 24);
    }

    #[test]
    fn a_shared_container_counts_once_also_inside_another() {
        let outer = Value::parse(b"{\"name\":{}}").unwrap();
        let inner = outer.member("name").unwrap();
        let mut scale = Scale::default();
        assert_eq!(scale.js(&Js::Value(inner)), 48);
        assert_eq!(scale.js(&Js::Value(&outer)), 48 + 24);
        assert_eq!(scale.js(&Js::Value(&outer)), 0);
    }

    #[test]
    fn equal_containers_that_are_not_the_same_count_each() {
        let pair = Value::parse(b"[[1],[1]]").unwrap();
        assert_eq!(Scale::default().js(&Js::Value(&pair)), 2 * (8 + 8 + 8));
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(weight(&deep), 8 * 199_999);
    }

    #[test]
    fn the_environment_overrides_the_budget_within_limits() {
        assert_eq!(from_environment(b"1"), Some(1));
        assert_eq!(from_environment(b"0008589934592"), Some(MAX));
        for ignored in ["", "0", "8589934593", "99999999999999999999999", "1e3", " 1", "-1", "1.0"] {
            assert_eq!(from_environment(ignored.as_bytes()), None, "{ignored:?}");
        }
    }

    #[test]
    fn the_densest_text_stays_below_the_bound() {
        let text = format!("[{}{{}}]", "{},".repeat(1000));
        assert!(weight(&text) <= 19 * text.len() as u64);
        assert!(!cannot_exceed(text.len() as u64, weight(&text)));
        assert!(cannot_exceed(1024, DEFAULT));
    }
}
