//! What the pages of `list`, `resume` and `continue` are written on: lines of a width, paths relative to what most of them lie
//! in, and the next step.

use super::human::Layout;
use super::style::{Palette, plain, wrap};
use crate::finding::Severity;
use indexmap::IndexMap;
use std::fmt::Write;

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
    /// Words, broken between them.
    pub fn words(&mut self, indent: usize, text: &str) {
        self.line(&format!("{:indent$}{}", "", wrap(&plain(text), indent, self.width)));
    }
    /// A path, whole: whoever copies it, or searches for it in a pipe, needs all of it on one line.
    pub fn path(&mut self, indent: usize, path: &str) {
        let path = self.palette.faint(&plain(self.short(path)));
        self.line(&format!("{:indent$}{path}", ""));
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
