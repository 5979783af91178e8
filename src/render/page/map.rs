//! The tree as a picture that can be walked: a list of rows, each a link to its entry, over lines that show how they hang
//! together. For a screen reader it is a tree whose levels are the columns of the picture.

use super::entry::{Look, title};
use super::{Page, anchor, escape};
use crate::render::entry::{glimpse, preview};
use crate::render::tree::{Item, Joint};
use std::fmt::Write;

/// Height of a row; the style sheet says the same.
const ROW: usize = 26;
/// Width of a column, and where the first one's middle is.
const COLUMN: usize = 14;
const FIRST: usize = 12;
/// Columns that are told apart; trees that need more have 2^30 entries.
const COLUMNS: usize = 30;
/// Rows that a browser lays out together; the style sheet knows their height.
const CHUNKED: usize = 100;
const CHUNK: &str = "<div role=\"none\" class=\"rows\">\n";
/// Letters of a row.
const GLIMPSE: usize = 64;

/// Rows that hang together in one column.
struct Chain {
    /// Place of its first and last row.
    rows: (usize, usize),
    depth: usize,
    length: usize,
}

/// Appends the picture.
pub fn write(out: &mut String, page: &Page<'_>) {
    let (chains, chain_of) = chains(page.items);
    let row_of = rows(page);
    let depth = page.items.iter().map(|item| item.depth.min(COLUMNS)).max().unwrap_or(0);
    let (width, height) = (FIRST * 2 + COLUMN * depth, ROW * page.items.len());
    let _ =
        write!(out, "<div class=\"picture\"><svg width=\"{width}\" height=\"{height}\" aria-hidden=\"true\"><path class=\"lines\" d=\"");
    let (x, y) = (|depth: usize| FIRST + COLUMN * depth.min(COLUMNS), |row: usize| row * ROW + ROW / 2);
    for chain in &chains {
        let (x, (first, last)) = (x(chain.depth), chain.rows);
        if last > first {
            let _ = write!(out, "M{x} {}V{}", y(first), y(last));
        }
    }
    for (row, item) in page.items.iter().enumerate().filter(|(_, item)| item.joint == Joint::Branch) {
        let parent = page.parent(item.entry).and_then(|parent| row_of.get(parent).copied()).unwrap_or(row);
        let (from, to) = (x(item.depth.saturating_sub(1)), x(item.depth));
        let _ = write!(out, "M{from} {}V{}Q{from} {} {to} {}", y(parent), y(row) - ROW / 2, y(row), y(row));
    }
    out.push_str("\"/>");
    let leaf = page.sheet.outline.leaf().and_then(|leaf| row_of.get(leaf).copied());
    let first = page.sheet.outline.path.entries.first().and_then(|entry| row_of.get(*entry).copied());
    if let (Some(first), Some(leaf)) = (first, leaf) {
        let _ = write!(out, "<path class=\"way\" d=\"M{} {}V{}\"/>", x(0), y(first), y(leaf));
    }
    out.push_str("</svg><div role=\"tree\" id=\"tree\" aria-label=\"Every entry of the session\">\n");
    for (row, item) in page.items.iter().enumerate() {
        if row % CHUNKED == 0 {
            if row > 0 {
                out.push_str("</div>\n");
            }
            out.push_str(CHUNK);
        }
        let (chain, place) = chain_of.get(row).copied().unwrap_or_default();
        let length = chains.get(chain).map_or(1, |chain| chain.length);
        self::row(out, page, *item, place, length);
    }
    out.push_str(if page.items.is_empty() { "</div></div>\n" } else { "</div></div></div>\n" });
}

fn row(out: &mut String, page: &Page<'_>, item: Item, place: usize, length: usize) {
    let number = item.entry;
    let Some(entry) = page.sheet.entries.get(number) else { return };
    let (look, standing) = (Look::of(entry), page.standing(number));
    let _ = write!(
        out,
        "<a role=\"treeitem\" id=\"m{number}\" href=\"#{}\" tabindex=\"-1\" aria-level=\"{}\" aria-posinset=\"{place}\" aria-setsize=\"{length}\" class=\"k{} {} {}\">",
        anchor(number),
        item.depth + 1,
        item.depth.min(COLUMNS),
        look.class(),
        standing.class(),
    );
    out.push_str("<b>");
    escape::text(out, &title(entry));
    out.push_str("</b> <bdi>");
    escape::text(out, &preview(entry, GLIMPSE));
    out.push_str("</bdi>");
    if let Some(label) = page.sheet.outline.places.get(number).and_then(|place| place.label.as_ref()) {
        out.push_str("<i class=\"label\">");
        escape::text(out, &glimpse(label.as_bytes(), 24));
        out.push_str("</i>");
    }
    if page.sheet.outline.leaf() == Some(number) {
        out.push_str("<i class=\"leaf\">leaf</i>");
    }
    if let Some(level) = page.findings.worst(number) {
        let _ = write!(out, "<i class=\"mark {level}\">{level}</i>");
    }
    out.push_str("</a>\n");
}

/// The row of each entry.
fn rows(page: &Page<'_>) -> Vec<usize> {
    let mut rows = vec![0; page.sheet.entries.len()];
    for (row, item) in page.items.iter().enumerate() {
        if let Some(slot) = rows.get_mut(item.entry) {
            *slot = row;
        }
    }
    rows
}

/// The chains of the rows, and of each row its chain and its place in it, from 1.
fn chains(items: &[Item]) -> (Vec<Chain>, Vec<(usize, usize)>) {
    let (mut chains, mut of_rows): (Vec<Chain>, Vec<(usize, usize)>) = (Vec::new(), Vec::with_capacity(items.len()));
    // The chain that goes on in each column.
    let mut open: Vec<usize> = Vec::new();
    for (row, item) in items.iter().enumerate() {
        open.truncate(item.depth + 1);
        match open.get(item.depth) {
            Some(chain) if item.joint == Joint::Goes => {
                let number = *chain;
                if let Some(chain) = chains.get_mut(number) {
                    chain.rows.1 = row;
                    chain.length += 1;
                    of_rows.push((number, chain.length));
                }
            }
            _ => {
                open.truncate(item.depth);
                open.push(chains.len());
                of_rows.push((chains.len(), 1));
                chains.push(Chain { rows: (row, row), depth: item.depth, length: 1 });
            }
        }
    }
    (chains, of_rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_in_a_column_is_one_chain() {
        use Joint::{Branch, Goes, Root};
        let item = |entry, depth, joint| Item { entry, depth, joint };
        let items = [item(1, 0, Root), item(2, 1, Branch), item(3, 1, Goes), item(4, 1, Branch), item(5, 0, Goes), item(6, 0, Root)];
        let (chains, of_rows) = chains(&items);
        assert_eq!(
            chains.iter().map(|chain| (chain.rows, chain.length)).collect::<Vec<_>>(),
            [((0, 4), 2), ((1, 2), 2), ((3, 3), 1), ((5, 5), 1)]
        );
        assert_eq!(of_rows, [(0, 1), (1, 1), (1, 2), (2, 1), (0, 2), (3, 1)]);
    }
}
