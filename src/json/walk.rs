//! A walk over everything below a value, in text order, that knows at each place what stands above it.

use super::tape::Node;
use super::view::{Kind, View};

/// A walk over a value and everything in it. Never recurses; memory grows with the depth only.
pub struct Walk<'a> {
    root: Node<'a>,
    /// The next position on the tape.
    at: u32,
    end: u32,
    current: Place,
    /// Containers around the current value, the outermost first.
    above: Vec<Level>,
}

/// A value and where it stands in its container.
#[derive(Clone, Copy)]
struct Place {
    slot: u32,
    segment: Segment,
    /// The nearest key at or above the value: array elements inherit the key of their array.
    key: Option<u32>,
}

#[derive(Clone, Copy)]
struct Level {
    place: Place,
    end: u32,
    array: bool,
    /// Elements of this array that the walk has met.
    met: u32,
}

#[derive(Clone, Copy)]
enum Segment {
    Root,
    Key(u32),
    Index(u32),
}

/// A pointer longer than this is not built: the finding then has no pointer.
const LONGEST_POINTER: usize = 4096;

impl<'a> Walk<'a> {
    /// Begins before `root`.
    pub fn new(root: Node<'a>) -> Self {
        let at = root.slot_index();
        let current = Place { slot: at, segment: Segment::Root, key: None };
        Walk { root, at, end: root.slot_end(), current, above: Vec::new() }
    }

    /// The next value (keys are not values); none at the end.
    #[allow(clippy::should_implement_trait, reason = "the place of the value is asked of the walk itself")]
    pub fn next(&mut self) -> Option<Node<'a>> {
        while self.above.last().is_some_and(|level| level.end <= self.at) {
            self.above.pop();
        }
        if self.at >= self.end {
            return None;
        }
        self.current = match self.above.last_mut() {
            None => Place { slot: self.at, segment: Segment::Root, key: None },
            Some(level) if level.array => {
                level.met += 1;
                Place { slot: self.at, segment: Segment::Index(level.met - 1), key: level.place.key }
            }
            Some(_) => Place { slot: self.at + 1, segment: Segment::Key(self.at), key: Some(self.at) },
        };
        let value = self.root.slot_at(self.current.slot)?;
        let kind = value.kind();
        if matches!(kind, Kind::Array | Kind::Object) {
            self.above.push(Level { place: self.current, end: value.slot_end(), array: kind == Kind::Array, met: 0 });
        }
        self.at = self.current.slot + 1;
        Some(value)
    }

    /// Levels around the current value, without the value itself.
    fn around(&self) -> &[Level] {
        match self.above.split_last() {
            Some((last, rest)) if last.place.slot == self.current.slot => rest,
            _ => &self.above,
        }
    }

    fn node(&self, slot: Option<u32>) -> Option<Node<'a>> {
        slot.and_then(|slot| self.root.slot_at(slot))
    }

    /// The object or array that holds the current value.
    pub fn container(&self) -> Option<Node<'a>> {
        self.node(self.around().last().map(|level| level.place.slot))
    }

    /// The object or array that holds the container of the current value.
    pub fn outer_container(&self) -> Option<Node<'a>> {
        self.node(self.around().iter().rev().nth(1).map(|level| level.place.slot))
    }

    /// The nearest key at or above the current value: array elements inherit the key of their array.
    pub fn key(&self) -> Option<Node<'a>> {
        self.node(self.current.key)
    }

    /// True when the current value is a member with this key, or an element of (nested) arrays under it.
    pub fn is_under(&self, key: &str) -> bool {
        self.key().is_some_and(|k| k.is_str(key))
    }

    /// The nearest key at or above the container of the current value.
    pub fn container_key(&self) -> Option<Node<'a>> {
        self.node(self.around().last().and_then(|level| level.place.key))
    }

    /// Number of containers around the current value.
    pub fn depth(&self) -> usize {
        self.around().len()
    }

    /// The keys and indices that lead to the current value, joined by `separator`, none when that gets very long.
    fn joined(&self, mut push: impl FnMut(&mut String, &str)) -> Option<String> {
        let mut text = String::new();
        for segment in self.around().iter().map(|level| level.place.segment).chain([self.current.segment]) {
            match segment {
                Segment::Root => {}
                Segment::Index(index) => push(&mut text, &index.to_string()),
                Segment::Key(slot) => {
                    let key = self.root.slot_at(slot)?.as_str()?;
                    push(&mut text, &super::text::wtf8_lossy(&key));
                }
            }
            if text.len() > LONGEST_POINTER {
                return None;
            }
        }
        Some(text)
    }

    /// RFC 6901 pointer from the root to the current value; none when it would be very long.
    pub fn pointer(&self) -> Option<String> {
        self.joined(|text, segment| {
            text.push('/');
            text.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        })
    }

    /// The path of spec 01 §4.5: keys and indices joined by unescaped dots; none when it would be very long.
    pub fn dotted_path(&self) -> Option<String> {
        self.joined(|text, segment| {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(segment);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::scan;
    use crate::json::tape::Tape;

    fn visits(text: &str) -> Vec<(String, String)> {
        let mut tape = Tape::default();
        scan(text.as_bytes(), 0, &mut tape);
        let mut walk = Walk::new(tape.root(text.as_bytes()).expect("the text is a value"));
        let mut seen = Vec::new();
        while let Some(value) = walk.next() {
            let key = walk.key().map(|k| String::from_utf8_lossy(k.raw()).into_owned()).unwrap_or_default();
            seen.push((walk.pointer().expect("short"), format!("{key}={}", String::from_utf8_lossy(value.raw()))));
        }
        seen
    }

    #[test]
    fn every_value_is_met_once_with_its_pointer_and_nearest_key() {
        let seen = visits(r#"{"a":[1,[{"b/c":2}]],"d":{}}"#);
        let expect = [
            ("", r#"={"a":[1,[{"b/c":2}]],"d":{}}"#),
            ("/a", r#""a"=[1,[{"b/c":2}]]"#),
            ("/a/0", r#""a"=1"#),
            ("/a/1", r#""a"=[{"b/c":2}]"#),
            ("/a/1/0", r#""a"={"b/c":2}"#),
            ("/a/1/0/b~1c", r#""b/c"=2"#),
            ("/d", r#""d"={}"#),
        ];
        assert_eq!(seen, expect.map(|(pointer, value)| (pointer.to_owned(), value.to_owned())));
    }

    #[test]
    fn containers_and_their_keys_are_known() {
        let text = br#"{"content":[{"data":"x"}]}"#;
        let mut tape = Tape::default();
        scan(text, 0, &mut tape);
        let mut walk = Walk::new(tape.root(text).expect("a value"));
        while let Some(value) = walk.next() {
            if value.is_str("x") {
                assert!(walk.container().is_some_and(|c| c.kind() == Kind::Object));
                assert!(walk.outer_container().is_some_and(|c| c.kind() == Kind::Array));
                assert!(walk.container_key().is_some_and(|k| k.is_str("content")));
                assert_eq!(walk.dotted_path().as_deref(), Some("content.0.data"));
                return;
            }
        }
        unreachable!("the walk meets the string");
    }

    #[test]
    fn a_very_deep_place_has_no_pointer() {
        let text = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        let mut tape = Tape::default();
        scan(text.as_bytes(), 0, &mut tape);
        let mut walk = Walk::new(tape.root(text.as_bytes()).expect("a value"));
        while let Some(value) = walk.next() {
            if value.kind() == Kind::Number {
                assert_eq!(walk.depth(), 5000);
                assert_eq!(walk.pointer(), None);
            }
        }
    }
}
