//! What the pages of `list`, `resume` and `continue` are written on: lines of a width, paths relative to what most of them lie
//! in, and the next step.

use super::human::Layout;
use super::style::{Palette, plain, wrap};
use crate::finding::Severity;
use indexmap::IndexMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// A page that is being written.
pub struct Paper {
    /// Its colours.
    pub palette: Palette,
    /// Columns.
    pub width: usize,
    /// What paths are shown relative to, longest first, each with a slash behind it: the directory that most sessions of a
    /// list lie in, and the one above it.
    pub bases: [String; 2],
    /// What is written so far.
    pub out: String,
}

impl Paper {
    /// An empty page.
    pub fn new(layout: Layout) -> Self {
        Paper { palette: Palette::new(layout.colour), width: layout.width.min(120), bases: Default::default(), out: String::new() }
    }
    /// One line. Writing into a String cannot fail.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}", text.trim_end());
    }
    /// Words, broken at spaces; a word that is wider than the line wherever it must be.
    pub fn words(&mut self, indent: usize, text: &str) {
        let room = self.width.saturating_sub(indent);
        for line in wrap(&plain(text), 0, room).lines().flat_map(|line| broken(line, room)) {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }
    /// A path, broken wherever it must be: nothing of it is left out.
    pub fn path(&mut self, indent: usize, path: &str) {
        let path = plain(self.short(path)).into_owned();
        for part in broken(&path, self.width.saturating_sub(indent)) {
            let part = self.palette.faint(&part);
            self.line(&format!("{:indent$}{part}", ""));
        }
    }
    /// A path as it is shown.
    pub fn short<'p>(&self, path: &'p str) -> &'p str {
        self.bases.iter().filter(|base| !base.is_empty()).find_map(|base| path.strip_prefix(&**base)).unwrap_or(path)
    }
    /// Words about what does not work.
    pub fn bad(&self, text: &str) -> String {
        self.palette.severity(Severity::Error, text)
    }
    /// gjc's refusal: its code, and what was found.
    pub fn refused(&mut self, code: &str, detail: &str) {
        let head = self.bad(&format!("✗ refused: {code}"));
        self.line(&format!("  {head}"));
        self.words(4, detail);
    }
    /// What to ask next, apart from what stands above.
    pub fn next(&mut self, text: &str) {
        self.line("");
        self.arrow(text);
    }
    /// What to ask next.
    pub fn arrow(&mut self, text: &str) {
        self.line(&format!("→ {}", wrap(text, 2, self.width)));
    }
}

/// The directory that most files lie in; the first of several.
pub fn home<'p>(paths: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for directory in paths.filter_map(|path| path.rsplit_once('/')).map(|(directory, _)| directory) {
        *counts.entry(directory).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(directory, _)| directory)
}

/// A directory and the one above it, as paths are shown relative to.
pub fn bases(home: &str) -> [String; 2] {
    let above = home.rsplit_once('/').map(|(above, _)| format!("{above}/")).filter(|above| above.len() > 1);
    [format!("{home}/"), above.unwrap_or_default()]
}

/// A text in pieces of at most `width` columns.
pub fn broken(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let mut parts = vec![String::new()];
    let mut used = 0;
    for letter in text.chars() {
        let columns = letter.width().unwrap_or(0);
        if used + columns > width {
            parts.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_broken_and_not_cut() {
        assert_eq!(broken("/a/b", 20), ["/a/b"]);
        assert_eq!(broken("0123456789abc", 10), ["0123456789", "abc"]);
        assert_eq!(broken("가나다라마바", 10), ["가나다라마", "바"]);
    }
}
