//! Colours and line breaking of the texts for people.

use crate::finding::Severity;
use crate::steps;
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// The colours of one text: all plain when colours are off.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    on: bool,
}

impl Palette {
    /// Colours on or off.
    pub const fn new(on: bool) -> Self {
        Palette { on }
    }
    /// Whether colours are on.
    pub const fn on(self) -> bool {
        self.on
    }
    /// `text` in a style.
    pub fn paint(self, style: Style, text: &str) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
    /// The most important words.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }
    /// Words that may be overlooked.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default().bold(), text)
    }
    /// A capacity or a moving tree: neither good nor bad.
    pub fn aside(self, text: &str) -> String {
        self.paint(AnsiColor::Magenta.on_default().bold(), text)
    }
    /// A severity's colour.
    pub fn severity(self, severity: Severity, text: &str) -> String {
        let colour = match severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
        };
        self.paint(colour.on_default().bold(), text)
    }
}

/// `text` with everything escaped that a terminal would obey instead of show: control characters, and marks that turn the
/// direction of writing. What a file says must not be able to draw on the terminal.
pub fn plain(text: &str) -> Cow<'_, str> {
    steps::take(text.len());
    let obeyed = |c: char| c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Stands for a space at which no line ends. Nothing that was made [`plain`] holds it.
const SOLID: char = '\u{1f}';

/// A text, such as a path, that is never broken by [`wrap`], whatever spaces it has.
pub fn solid(text: &str) -> String {
    text.replace(' ', "\u{1f}")
}

/// The pieces of a text behind which a line may end, white space behind each included: words, and whole code spans, since half a
/// command is none.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut in_code = false;
        let mut white = false;
        let end = rest.char_indices().find(|(at, letter)| {
            if white && !letter.is_whitespace() {
                return true;
            }
            // A lone backtick opens nothing.
            if *letter == '`' {
                in_code = !in_code && rest[at + 1..].contains('`');
            }
            white = letter.is_whitespace() && !in_code;
            false
        });
        let (piece, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Breaks `text` into lines of at most `width` columns behind its [`pieces`]; a longer word stands alone on its line, a longer code
/// span is broken at its spaces. Lines after the first begin with `indent` spaces, which count; the first is expected to stand
/// behind as many columns.
pub fn wrap(text: &str, indent: usize, width: usize) -> String {
    steps::take(text.len());
    let room = width.saturating_sub(indent).max(20);
    let mut out = String::with_capacity(text.len() + 16);
    let mut used = 0;
    let mut put = |word: &str| {
        let wide = word.width();
        if used > 0 && used + 1 + wide > room {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.extend(word.chars().map(|letter| if letter == SOLID { ' ' } else { letter }));
        used += wide;
    };
    for piece in pieces(text).map(str::trim) {
        if piece.width() > room {
            piece.split_whitespace().for_each(&mut put);
        } else if !piece.is_empty() {
            put(piece);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_breaks_at_spaces_and_its_other_lines_are_indented() {
        assert_eq!(wrap("one two three four five six", 4, 24), "one two three four\n    five six");
    }

    #[test]
    fn a_word_wider_than_the_line_stays_whole() {
        assert_eq!(wrap("a /very/long/path/that/does/not/fit b", 0, 20), "a\n/very/long/path/that/does/not/fit\nb");
    }

    #[test]
    fn a_command_stays_on_one_line_unless_it_is_wider_than_that() {
        assert_eq!(wrap("now `gjc-fsck why ID` tells it", 0, 20), "now\n`gjc-fsck why ID`\ntells it");
        assert_eq!(wrap("`one two three four five six`", 0, 20), "`one two three four\nfive six`");
        assert_eq!(wrap("a lone ` opens nothing at all", 0, 20), "a lone ` opens\nnothing at all");
    }

    #[test]
    fn what_is_solid_is_not_broken_at_its_spaces() {
        assert_eq!(wrap(&format!("see {} now", solid("/my own/path to it")), 0, 20), "see\n/my own/path to it\nnow");
    }

    #[test]
    fn pieces_make_up_the_whole_text() {
        for text in ["", " ", " a  b\n", "x `a b` y", "`", "a` b` c", "  `a  b`c d "] {
            assert_eq!(pieces(text).collect::<String>(), text);
        }
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(wrap("가나다라마바사 아자차", 0, 20), "가나다라마바사\n아자차");
    }

    #[test]
    fn a_text_cannot_draw_on_the_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb\\nc\\u{202e}d");
        assert_eq!(plain("한글 ünï"), "한글 ünï");
    }

    #[test]
    fn without_colours_the_text_is_unchanged() {
        assert_eq!(Palette::new(false).severity(Severity::Error, "error"), "error");
        assert!(Palette::new(true).severity(Severity::Error, "error").starts_with('\u{1b}'));
    }
}
