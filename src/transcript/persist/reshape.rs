//! A walk over an owned value that may change it: down with the nearest key, up again knowing whether anything below
//! changed. Never recurses; memory grows with the depth.

use crate::json::{JsString, Object, Value};
use crate::steps;
use std::mem::take;

/// What happens on such a walk.
pub trait Reshape {
    /// What a container tells the values in it.
    type Context: Copy;
    /// On the way down: may change or replace the value. `key` is the nearest member name at or above it (array elements
    /// inherit the name of their array; none at the root), `context` what its container told. Answers whether it was
    /// changed, and what it tells the values in it.
    fn enter(&mut self, value: &mut Value, key: Option<&JsString>, context: Self::Context) -> (bool, Self::Context);
    /// Whether the values in a container that told `context` are walked; else it stays as [`Reshape::enter`] left it.
    fn goes_into(&self, _context: Self::Context) -> bool {
        true
    }
    /// On the way up, for objects: `context` is what this one told its members, `changed` whether it or anything in it
    /// was changed. Answers whether it was, now.
    fn leave(&mut self, _object: &mut Object, _context: Self::Context, changed: bool) -> bool {
        changed
    }
}

/// A container on the way down: what is done of it, and what is left.
enum Open {
    Array(Vec<Value>, std::vec::IntoIter<Value>),
    Object(Object, std::vec::IntoIter<(JsString, Value)>),
}

struct Frame<C> {
    open: Open,
    /// The key of the member that is being entered, in an object.
    key: Option<JsString>,
    /// The frame that holds the nearest key for the values in this one: itself for an object, inherited by an array.
    keyed: Option<usize>,
    context: C,
    changed: bool,
}

/// Walks `root` and answers whether anything was changed.
pub fn reshape<R: Reshape>(root: &mut Value, context: R::Context, reshape: &mut R) -> bool {
    let mut stack: Vec<Frame<R::Context>> = Vec::new();
    // The value to enter; its key is the one of the innermost frame.
    let mut value = take(root);
    let mut context = context;
    loop {
        steps::take(1);
        let keyed = stack.last().and_then(|frame| frame.keyed);
        let key = keyed.and_then(|keyed| stack.get(keyed)).and_then(|frame| frame.key.as_ref());
        let (mut changed, below) = reshape.enter(&mut value, key, context);
        // Go down, or come back with a finished value.
        let mut finished = match value {
            container @ (Value::Array(_) | Value::Object(_)) if !reshape.goes_into(below) => Some(container),
            Value::Array(mut array) => {
                let items = take(array.items_mut());
                let open = Open::Array(Vec::with_capacity(items.len()), items.into_iter());
                stack.push(Frame { open, key: None, keyed, context: below, changed });
                None
            }
            Value::Object(object) => {
                let open = Open::Object(Object::new(), object.into_members().into_iter());
                let keyed = Some(stack.len());
                stack.push(Frame { open, key: None, keyed, context: below, changed });
                None
            }
            leaf => Some(leaf),
        };
        // Close what is finished until something is left to enter.
        loop {
            let Some(frame) = stack.last_mut() else {
                *root = finished.unwrap_or_default();
                return changed;
            };
            if let Some(done) = finished.take() {
                frame.changed |= changed;
                match &mut frame.open {
                    Open::Array(items, _) => items.push(done),
                    Open::Object(object, _) => object.set(frame.key.take().unwrap_or_default(), done),
                }
            }
            let next = match &mut frame.open {
                Open::Array(_, rest) => rest.next(),
                Open::Object(_, rest) => rest.next().map(|(key, value)| {
                    frame.key = Some(key);
                    value
                }),
            };
            context = frame.context;
            if let Some(next) = next {
                value = next;
                break;
            }
            let Some(frame) = stack.pop() else { continue };
            changed = frame.changed;
            finished = Some(match frame.open {
                Open::Array(items, _) => Value::Array(items.into()),
                Open::Object(mut object, _) => {
                    changed = reshape.leave(&mut object, frame.context, changed);
                    Value::Object(object)
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;

    /// Writes down what it meets; doubles numbers under the key `n`; marks changed objects.
    #[derive(Default)]
    struct Trace(Vec<String>);

    impl Reshape for Trace {
        type Context = usize;
        fn enter(&mut self, value: &mut Value, key: Option<&JsString>, depth: usize) -> (bool, usize) {
            self.0.push(format!("{depth}:{}", key.map(ToString::to_string).unwrap_or_default()));
            let changed = match value {
                Value::Number(number) if key.is_some_and(|key| *key == "n") => {
                    *number *= 2.0;
                    true
                }
                _ => false,
            };
            (changed, depth + 1)
        }
        fn leave(&mut self, object: &mut Object, _: usize, changed: bool) -> bool {
            if changed {
                object.set("changed", Value::Bool(true));
            }
            changed
        }
    }

    fn run(text: &str) -> (String, bool, Vec<String>) {
        let mut value = Value::parse(text.as_bytes()).unwrap();
        let mut trace = Trace::default();
        let changed = reshape(&mut value, 0, &mut trace);
        (to_text(&value), changed, trace.0)
    }

    #[test]
    fn what_changes_is_known_above_and_not_beside() {
        let (text, changed, _) = run(r#"{"a":{"n":[1,[2]]},"b":{"c":1},"2":0}"#);
        assert_eq!(text, r#"{"2":0,"a":{"n":[2,[4]],"changed":true},"b":{"c":1},"changed":true}"#);
        assert!(changed);
    }

    #[test]
    fn what_is_not_gone_into_stays_as_it_was_left() {
        /// Cuts texts below the top two levels.
        struct Shallow;
        impl Reshape for Shallow {
            type Context = usize;
            fn enter(&mut self, value: &mut Value, _: Option<&JsString>, depth: usize) -> (bool, usize) {
                let is_text = matches!(value, Value::String(_));
                if is_text {
                    *value = Value::Null;
                }
                (is_text, depth + 1)
            }
            fn goes_into(&self, depth: usize) -> bool {
                depth < 2
            }
        }
        let mut value = Value::parse(br#"{"a":["x",{"b":"x"}],"c":"x"}"#).unwrap();
        assert!(reshape(&mut value, 0, &mut Shallow));
        assert_eq!(to_text(&value), r#"{"a":["x",{"b":"x"}],"c":null}"#);
    }

    #[test]
    fn array_elements_inherit_the_key_and_members_have_their_own() {
        assert_eq!(run(r#"{"a":[[0],{"b":0}]}"#).2, ["0:", "1:a", "2:a", "3:a", "2:a", "3:b"]);
    }

    #[test]
    fn a_long_key_is_not_copied_for_every_array_below_it() {
        let text = format!("{{\"{}\":{}1{}}}", "k".repeat(1 << 20), "[".repeat(100_000), "]".repeat(100_000));
        let mut value = Value::parse(text.as_bytes()).unwrap();
        /// Looks at nothing.
        struct Look;
        impl Reshape for Look {
            type Context = ();
            fn enter(&mut self, _: &mut Value, key: Option<&JsString>, (): ()) -> (bool, ()) {
                (key.is_none(), ())
            }
        }
        // Copying it would take a hundred gigabytes.
        assert!(reshape(&mut value, (), &mut Look));
        assert_eq!(to_text(&value), text);
    }

    #[test]
    fn what_does_not_change_stays_whatever_its_depth() {
        let deep = format!("{}1{}", "[{\"a\":".repeat(100_000), "}]".repeat(100_000));
        let (text, changed, met) = run(&deep);
        assert_eq!(text, deep);
        assert!(!changed);
        assert_eq!(met.len(), 200_001);
        assert_eq!(run("7").0, "7");
    }
}
