//! The tree of a transcript, for a terminal of any width and as JSON.
//!
//! Every branch is drawn beside the line it left; the line goes on below it in its own column. The way to the leaf is
//! always the first column, elsewhere the larger subtree keeps the column: so the drawing is never wider than the
//! logarithm of the number of entries, whatever the tree.

use super::entry::{clip, glimpse, id, preview, word};
use super::style::{Palette, wrap};
use super::words::{count, grouped};
use crate::json::{JsString, Value, View};
use crate::steps;
use crate::transcript::context::Kept;
use crate::transcript::context::js::Js;
use crate::transcript::outline::{Outline, Parent};
use crate::transcript::trace::Origin;
use crate::transcript::tree::PathEnd;
use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// What the renderers see of a transcript.
#[derive(Clone, Copy)]
pub struct Sheet<'s> {
    /// The entries, header first.
    pub entries: &'s [Value],
    /// Where each came from.
    pub origins: &'s [Origin],
    /// Their places.
    pub outline: &'s Outline,
    /// Bytes that gjc allows a context.
    pub budget: u64,
}

impl Sheet<'_> {
    /// The line an entry begins on.
    pub fn line(&self, entry: usize) -> u64 {
        self.origins.get(entry).map_or(0, |origin| origin.at.line)
    }
    fn id(&self, entry: usize) -> String {
        id(self.entries.get(entry).and_then(|entry| entry.get("id")))
    }
    /// An entry in the words of a sentence: `line 5 (id b)`.
    pub fn name(&self, entry: usize) -> String {
        format!("line {} (id {})", self.line(entry), clip(&self.id(entry), 40))
    }
}

/// One entry to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// Its number.
    pub entry: usize,
    /// How many columns stand left of it: the logarithm of the number of entries at most.
    pub depth: usize,
    /// How it joins what stands above it.
    pub joint: Joint,
}

/// How an entry joins what stands above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joint {
    /// It begins a tree.
    Root,
    /// It begins a branch, in a column of its own.
    Branch,
    /// It goes on in the column of its parent.
    Goes,
}

/// The entries in the order in which they are drawn: each behind its parent, its branches before what goes on in its own
/// column. The way to the leaf keeps its column, elsewhere the larger subtree does.
pub fn items(outline: &Outline) -> Vec<Item> {
    let sizes = sizes(outline);
    let mut items = Vec::with_capacity(outline.places.len());
    for root in outline.shape.roots() {
        let mut pending = vec![Item { entry: root, depth: 0, joint: Joint::Root }];
        while let Some(item) = pending.pop() {
            items.push(item);
            let children: Vec<usize> = outline.shape.children(item.entry).collect();
            let on_path = children.iter().position(|child| outline.places[*child].on_path);
            let largest = || (0..children.len()).max_by_key(|at| sizes[children[*at]]);
            let Some(trunk) = on_path.or_else(largest) else { continue };
            pending.push(Item { entry: children[trunk], depth: item.depth, joint: Joint::Goes });
            let branches = children.iter().enumerate().filter(|(at, _)| *at != trunk);
            pending.extend(branches.rev().map(|(_, child)| Item { entry: *child, depth: item.depth + 1, joint: Joint::Branch }));
        }
    }
    items
}

/// The tree as text.
pub fn text(sheet: Sheet<'_>, palette: Palette, width: usize) -> String {
    let mut out = head(sheet, palette, width);
    let digits = sheet.origins.last().map_or(1, |origin| origin.at.line.to_string().len());
    for item in items(sheet.outline) {
        if item.joint == Joint::Root {
            out.push('\n');
        }
        out.push_str(&row(sheet, &item, palette, width, digits));
    }
    foot(sheet, palette, width, &mut out);
    out
}

/// Number of entries of each subtree.
fn sizes(outline: &Outline) -> Vec<u32> {
    let mut order = Vec::with_capacity(outline.places.len());
    let mut pending: Vec<usize> = outline.shape.roots().collect();
    while let Some(entry) = pending.pop() {
        order.push(entry);
        pending.extend(outline.shape.children(entry));
    }
    let mut sizes = vec![1u32; outline.places.len()];
    for entry in order.into_iter().rev() {
        sizes[entry] = 1 + outline.shape.children(entry).map(|child| sizes[child]).sum::<u32>();
    }
    sizes
}

fn row(sheet: Sheet<'_>, item: &Item, palette: Palette, width: usize, digits: usize) -> String {
    let Some(entry) = sheet.entries.get(item.entry) else { return String::new() };
    let place = &sheet.outline.places[item.entry];
    let mark = match place {
        place if place.in_context => "●",
        place if place.on_path => "○",
        _ => "·",
    };
    steps::take(1 + item.depth);
    let mut columns = "│ ".repeat(item.depth);
    if item.joint == Joint::Branch {
        columns.truncate(columns.len() - "│ ".len());
        columns.push_str("├─");
    }
    let number = format!("{:>digits$} ", sheet.line(item.entry));
    let mut notes = Vec::new();
    if sheet.outline.leaf() == Some(item.entry) {
        notes.push("<- leaf".to_owned());
    }
    notes.extend(place.label.as_ref().map(|label| format!("[{}]", glimpse(label.as_bytes(), 24))));
    match place.parent {
        Parent::Unknown => notes.push(format!("! unknown parent {}", clip(&id(entry.get("parentId")), 16))),
        Parent::Itself => notes.push("! its own parent".to_owned()),
        Parent::ClosesCycle(parent) => notes.push(format!("! cycle: parent is line {}", sheet.line(parent))),
        Parent::None | Parent::Entry(_) => {}
    }
    let notes = notes.join(" ");
    let what = word(entry);
    let own = clip(&sheet.id(item.entry), 16);

    // What does not fit is cut from the right; notes are not cut, they are why one looks.
    let mut left = width.saturating_sub(number.width() + columns.width() + 2);
    let note_width = if notes.is_empty() { 0 } else { notes.width() + 1 };
    left = left.saturating_sub(note_width);
    let what = clip(&what, left);
    left = left.saturating_sub(what.width());
    let own = clip(&own, left.saturating_sub(1));
    left = left.saturating_sub(own.width() + 1);
    let said = if left > 5 { preview(entry, left - 2) } else { String::new() };

    let mut line = palette.faint(&number);
    line.push_str(&palette.faint(&columns));
    let strong = |text: &str| if place.on_path { palette.strong(text) } else { palette.faint(text) };
    for part in [strong(mark), strong(&what), palette.faint(&own), palette.aside(&notes)] {
        if !part.is_empty() && !line.ends_with(' ') && !line.ends_with("├─") {
            line.push(' ');
        }
        line.push_str(&part);
    }
    if !said.is_empty() {
        line.push_str("  ");
        line.push_str(&said);
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

/// The session's id and what its header says of it.
pub fn head(sheet: Sheet<'_>, palette: Palette, width: usize) -> String {
    let Some(header) = sheet.entries.first() else { return String::new() };
    let mut out = format!("session {}", palette.strong(&clip(&id(header.get("id")), width.saturating_sub(8))));
    out.push('\n');
    for key in ["title", "cwd", "timestamp", "parentSession"] {
        if let Some(Value::String(text)) = header.get(key) {
            let room = width.saturating_sub(key.len() + 1);
            let _ = writeln!(out, "{} {}", palette.faint(key), glimpse(text.as_bytes(), room));
        }
    }
    out
}

/// What the drawing does not show: entries that nothing finds, what the context holds, and the marks.
fn foot(sheet: Sheet<'_>, palette: Palette, width: usize, out: &mut String) {
    let outline = sheet.outline;
    let mut lines = Vec::new();
    let shadowed = outline.places.iter().enumerate().filter_map(|(entry, place)| Some((entry, place.shadowed_by?)));
    for (entry, latest) in shadowed {
        lines.push(format!("! {} is unreachable: line {} has the same id", sheet.name(entry), sheet.line(latest)));
    }
    let further =
        sheet.entries.iter().enumerate().skip(1).filter(|(_, entry)| entry.get("type").is_some_and(|kind| kind.is_str("session")));
    for (entry, _) in further {
        lines.push(format!("! line {} is a further header: nothing reads it", sheet.line(entry)));
    }
    lines.extend(summary(sheet));
    lines.push("● gives a message to the context, ○ on the path to the leaf, · elsewhere".to_owned());
    out.push('\n');
    remarks(&lines, palette, width, out);
}

/// Appends lines of words, broken to the width; those that begin with `!` stand out.
pub fn remarks(lines: &[String], palette: Palette, width: usize, out: &mut String) {
    for line in lines {
        let line = wrap(line, 2, width);
        out.push_str(&if line.starts_with('!') { palette.aside(&line) } else { palette.faint(&line) });
        out.push('\n');
    }
}

/// Counts, where the path ends, what the compaction keeps, what the context weighs.
pub fn summary(sheet: Sheet<'_>) -> Vec<String> {
    let outline = sheet.outline;
    let entries = sheet.entries.iter().filter(|entry| !entry.get("type").is_some_and(|kind| kind.is_str("session"))).count();
    let mut lines = vec![format!(
        "{}, {}, {}; {} on the path to the leaf",
        count(entries as u64, "entry", "entries"),
        count(outline.shape.roots().len() as u64, "root", "roots"),
        count(outline.branchings() as u64, "branching", "branchings"),
        grouped(outline.path.entries.len() as u64)
    )];
    match (outline.end(), outline.path.entries.first()) {
        (Some(PathEnd::Dangling(_)), Some(first)) => {
            let parent = id(sheet.entries.get(*first).and_then(|entry| entry.get("parentId")));
            lines.push(format!("the path ends at {}: its parent {} is unknown", sheet.name(*first), clip(&parent, 40)));
        }
        (Some(PathEnd::Cycle(parent)), Some(first)) => {
            lines.push(format!("the path ends at {}: its parent, {}, is on it already", sheet.name(*first), sheet.name(parent)));
        }
        _ => {}
    }
    if let Some(compaction) = outline.compaction {
        let entry = sheet.entries.get(compaction.entry);
        let kept = match compaction.kept {
            Kept::From(place) => {
                let first = outline.path.entries.get(place).map(|first| sheet.name(*first)).unwrap_or_default();
                format!("keeps {} from {first} on", count((compaction.place - place) as u64, "entry", "entries"))
            }
            Kept::Replaced => "keeps nothing: a remote history replaces what was before".to_owned(),
            Kept::NotFound => {
                let wanted = id(entry.and_then(|entry| entry.get("firstKeptEntryId")));
                format!("keeps nothing: {} is not on the path before it", clip(&wanted, 40))
            }
        };
        lines.push(format!("the compaction at {} {kept}", sheet.name(compaction.entry)));
    }
    match &outline.context {
        Ok((messages, weight)) => {
            let bytes = weight.unwrap_or(0);
            let (weight, budget) = (grouped(bytes), grouped(sheet.budget));
            lines.push(format!(
                "the context holds {} and weighs {weight} of {budget} bytes",
                count(*messages as u64, "message", "messages")
            ));
            if bytes > sheet.budget {
                lines.push("! that is too much: gjc refuses the session as context_too_large".to_owned());
            }
        }
        Err(throw) => lines.push(format!("! the context cannot be rebuilt, gjc throws {}: {throw}", throw.class())),
    }
    lines
}

/// The tree as JSON: `{"session","leaf","entries":[…]}`. Entries stand in file order and name others by line.
pub fn json(sheet: Sheet<'_>) -> Vec<u8> {
    let outline = sheet.outline;
    let line = |entry: usize| Js::Number(sheet.line(entry) as f64);
    let null = || Js::Value(&Value::Null);
    let mut entries = Vec::new();
    for (at, entry) in sheet.entries.iter().enumerate() {
        let Some(place) = outline.places.get(at) else { continue };
        let parent_line = match place.parent {
            Parent::Entry(parent) | Parent::ClosesCycle(parent) => line(parent),
            Parent::Itself => line(at),
            Parent::None | Parent::Unknown => null(),
        };
        let problem = match place.parent {
            Parent::Unknown => Js::text("unknown_parent"),
            Parent::Itself => Js::text("own_parent"),
            Parent::ClosesCycle(_) => Js::text("closes_cycle"),
            Parent::None | Parent::Entry(_) => Js::Undefined,
        };
        let role = entry.get("message").and_then(|message| message.get("role"));
        entries.push(Js::object([
            ("line", line(at)),
            ("type", Js::member(entry.get("type"))),
            ("role", Js::member(role)),
            ("id", Js::member(entry.get("id"))),
            ("parentId", Js::member(entry.get("parentId"))),
            ("parent_line", parent_line),
            ("children_lines", Js::Array(outline.shape.children(at).map(line).collect())),
            ("label", place.label.as_ref().map_or(Js::Undefined, |label| Js::Text(Cow::Borrowed(label)))),
            ("on_path", Js::Bool(place.on_path)),
            ("in_context", Js::Bool(place.in_context)),
            ("problem", problem),
            ("shadowed_by_line", place.shadowed_by.map_or(Js::Undefined, line)),
        ]));
    }
    let thrown = outline.context.as_ref().err().map(ToString::to_string);
    let tree = Js::object([
        ("session", Js::member(sheet.entries.first().and_then(|header| header.get("id")))),
        ("leaf_line", outline.leaf().map_or_else(null, line)),
        ("path_lines", Js::Array(outline.path.entries.iter().map(|entry| line(*entry)).collect())),
        ("root_lines", Js::Array(outline.shape.roots().map(line).collect())),
        ("context_throws", thrown.map_or(Js::Undefined, |text| Js::Text(Cow::Owned(JsString::from(text))))),
        ("entries", Js::Array(entries)),
    ]);
    let mut out = Vec::new();
    tree.write(&mut out);
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests;
