//! How two values differ, member by member. Compared once each, without recursion.

use super::align::{SHOWN, shorten, shown};
use crate::json::{Object, Value, View, stringify, text};
use crate::steps;
use schemars::JsonSchema;
use serde::Serialize;

/// Differences of one item that are listed.
const MOST: usize = 50;
/// Levels that are told apart; what lies deeper is compared as text.
const DEEPEST: usize = 48;
/// Lines of a text that are compared line by line.
const MOST_LINES: usize = 300;

/// A difference of one member.
#[derive(Serialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub struct MemberChange {
    /// RFC 6901 pointer.
    pub pointer: String,
    /// What happened.
    pub kind: MemberKind,
    /// What stands on the first side, as JSON text, shortened; of long texts that begin alike, from shortly before they part.
    pub a: Option<String>,
    /// What stands on the second side.
    pub b: Option<String>,
    /// The difference of two texts of several lines, as a unified diff.
    pub lines: Option<String>,
}

/// What happened to a member.
#[derive(Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "snake_case")]
pub enum MemberKind {
    /// Only the second side has it.
    Added,
    /// Only the first side has it.
    Removed,
    /// Another type.
    Type,
    /// Another value of the same type.
    Value,
    /// The same members in another order.
    Order,
}

impl MemberKind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            MemberKind::Added => "added",
            MemberKind::Removed => "removed",
            MemberKind::Type => "type",
            MemberKind::Value => "value",
            MemberKind::Order => "order",
        }
    }
}

impl MemberChange {
    /// The pointer with `*` for the places of lists.
    pub fn general_pointer(&self) -> String {
        let general =
            |part: &str| if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() { "*".to_owned() } else { part.to_owned() };
        let parts: Vec<String> = self.pointer.split('/').map(general).collect();
        let pointer = parts.join("/");
        if pointer.is_empty() { "/".to_owned() } else { pointer }
    }
    /// Both sides in short.
    pub fn example(&self) -> String {
        let side = |side: &Option<String>| side.as_deref().map_or_else(|| "nothing".to_owned(), |text| shorten(text, 40));
        format!("{} → {}", side(&self.a), side(&self.b))
    }
}

/// The differences of two values, in order of place; the number of those that are not listed.
pub(super) fn members(a: &Value, b: &Value) -> (Vec<MemberChange>, u64) {
    let mut found = Found::default();
    // Reversed, so that what stands first is looked at first.
    let mut open = vec![(String::new(), 0, a, b)];
    while let Some((pointer, depth, a, b)) = open.pop() {
        steps::take(1);
        match (a, b) {
            _ if a.kind() != b.kind() => found.push(pointer, MemberKind::Type, Some(a), Some(b)),
            (Value::Object(_) | Value::Array(_), _) if depth >= DEEPEST => found.as_text(pointer, a, b),
            (Value::Object(of_a), Value::Object(of_b)) => objects(&pointer, depth, of_a, of_b, &mut open, &mut found),
            (Value::Array(of_a), Value::Array(of_b)) => {
                let (of_a, of_b) = (of_a.as_slice(), of_b.as_slice());
                let common = of_a.len().min(of_b.len());
                for (at, item) in of_a.iter().enumerate().skip(common) {
                    found.push(format!("{pointer}/{at}"), MemberKind::Removed, Some(item), None);
                }
                for (at, item) in of_b.iter().enumerate().skip(common) {
                    found.push(format!("{pointer}/{at}"), MemberKind::Added, None, Some(item));
                }
                open.extend(of_a.iter().zip(of_b).enumerate().rev().map(|(at, (a, b))| (format!("{pointer}/{at}"), depth + 1, a, b)));
            }
            _ => found.as_text(pointer, a, b),
        }
    }
    found.changes.sort_by(|a, b| a.pointer.cmp(&b.pointer));
    (found.changes, found.not_listed)
}

/// Members to compare: pointer, level, both values.
type Todo<'v> = Vec<(String, usize, &'v Value, &'v Value)>;

fn objects<'v>(pointer: &str, depth: usize, a: &'v Object, b: &'v Object, open: &mut Todo<'v>, found: &mut Found) {
    let below = |key: &[u8]| format!("{pointer}/{}", text::wtf8_lossy(key).replace('~', "~0").replace('/', "~1"));
    let of_b: std::collections::HashMap<&[u8], &Value> = b.iter().map(|(key, value)| (key.as_bytes(), value)).collect();
    let of_a: std::collections::HashSet<&[u8]> = a.iter().map(|(key, _)| key.as_bytes()).collect();
    let mut common = Vec::new();
    for (key, value) in a.iter() {
        match of_b.get(key.as_bytes()) {
            Some(other) => common.push((key.as_bytes(), value, *other)),
            None => found.push(below(key.as_bytes()), MemberKind::Removed, Some(value), None),
        }
    }
    for (key, value) in b.iter().filter(|(key, _)| !of_a.contains(key.as_bytes())) {
        found.push(below(key.as_bytes()), MemberKind::Added, None, Some(value));
    }
    let other_order: Vec<&[u8]> = b.iter().map(|(key, _)| key.as_bytes()).filter(|key| of_a.contains(key)).collect();
    if !common.iter().map(|(key, ..)| *key).eq(other_order.iter().copied()) {
        let names = |keys: Vec<&[u8]>| shorten(&keys.into_iter().map(text::wtf8_lossy).collect::<Vec<_>>().join(", "), SHOWN);
        let a = Some(names(common.iter().map(|(key, ..)| *key).collect()));
        let b = Some(names(other_order));
        found.keep(MemberChange { pointer: pointer.to_owned(), kind: MemberKind::Order, a, b, lines: None });
    }
    open.extend(common.into_iter().rev().map(|(key, a, b)| (below(key), depth + 1, a, b)));
}

#[derive(Default)]
struct Found {
    changes: Vec<MemberChange>,
    not_listed: u64,
}

impl Found {
    fn push(&mut self, pointer: String, kind: MemberKind, a: Option<&Value>, b: Option<&Value>) {
        if self.changes.len() >= MOST {
            self.not_listed += 1;
            return;
        }
        let both = a.zip(b);
        let (a, b) = match both.map(|(a, b)| apart(&stringify::to_text(a), &stringify::to_text(b))) {
            Some((a, b)) => (Some(a), Some(b)),
            None => (a.map(shown), b.map(shown)),
        };
        self.keep(MemberChange { pointer, kind, a, b, lines: both.and_then(|(a, b)| lines(a, b)) });
    }
    /// Two values of one kind, compared by their JSON text.
    fn as_text(&mut self, pointer: String, a: &Value, b: &Value) {
        if stringify::to_text(a) != stringify::to_text(b) {
            self.push(pointer, MemberKind::Value, Some(a), Some(b));
        }
    }
    fn keep(&mut self, change: MemberChange) {
        if self.changes.len() < MOST { self.changes.push(change) } else { self.not_listed += 1 }
    }
}

/// Bytes that are shown before the place where two long texts part.
const BEFORE: usize = 40;

/// Two texts that differ, each shortened so that the place where they part is in what is shown.
fn apart(a: &str, b: &str) -> (String, String) {
    let mut alike = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if alike <= SHOWN / 2 {
        return (shorten(a, SHOWN), shorten(b, SHOWN));
    }
    alike -= BEFORE;
    // What both begin with has its letters at the same places.
    while !a.is_char_boundary(alike) {
        alike -= 1;
    }
    let rest = |text: &str| format!("({alike} bytes alike) …{}", shorten(text.get(alike..).unwrap_or_default(), SHOWN));
    (rest(a), rest(b))
}

/// The unified diff of two texts of which one has several lines, when they are short enough to be compared line by line.
fn lines(a: &Value, b: &Value) -> Option<String> {
    let (a, b) = (a.as_str()?, b.as_str()?);
    let (a, b) = (text::wtf8_lossy(&a), text::wtf8_lossy(&b));
    let count = |text: &str| text.lines().count();
    if !(a.contains('\n') || b.contains('\n')) || a.len().max(b.len()) > 100 * SHOWN || count(&a).max(count(&b)) > MOST_LINES {
        return None;
    }
    let diff = similar::TextDiff::from_lines(&a, &b).unified_diff().context_radius(1).missing_newline_hint(false).to_string();
    // Long lines would leave no room for what stands in their place.
    let fits = diff.len() <= 10 * SHOWN || diff.lines().all(|line| line.len() <= SHOWN);
    fits.then(|| shorten(&diff, 10 * SHOWN))
}
