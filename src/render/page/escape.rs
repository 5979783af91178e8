//! Text into HTML. Everything of a transcript passes through here; nothing of it is ever markup.

use crate::json::JsStr;

/// Appends a text, for the inside of an element and of a quoted attribute alike. Control characters become the pictures that
/// Unicode has of them: a page holds no NUL, and what a terminal obeys should be seen. So should what turns the direction of
/// writing: live, it could make a sentence of the page say something else.
pub fn text(out: &mut String, text: &str) {
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || (c.is_control() && !matches!(c, '\n' | '\t')) || turns(c);
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        let (plain, behind) = rest.split_at(at);
        out.push_str(plain);
        let mut letters = behind.chars();
        match letters.next() {
            Some('&') => out.push_str("&amp;"),
            Some('<') => out.push_str("&lt;"),
            Some('>') => out.push_str("&gt;"),
            Some('"') => out.push_str("&quot;"),
            Some('\'') => out.push_str("&#39;"),
            // A line end of another system; a lone one would end the line of the page all the same.
            Some('\r') if letters.as_str().starts_with('\n') => {}
            Some(turning) if turns(turning) => out.extend(turning.escape_unicode()),
            Some(control) => out.push(picture(control)),
            None => {}
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
}

/// The same for a JavaScript string; a lone surrogate is shown as U+FFFD.
pub fn js(out: &mut String, wtf8: &[u8]) {
    text(out, &JsStr::from_wtf8(wtf8).to_string_lossy());
}

/// Embeddings, overrides and isolates, and what ends them. The marks for left and right stay: they turn nothing but
/// themselves, and right-to-left scripts need them.
const fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn picture(control: char) -> char {
    match u32::from(control) {
        code @ 0..=0x1F => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7F => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(of: &str) -> String {
        let mut out = String::new();
        text(&mut out, of);
        out
    }

    #[test]
    fn markup_and_controls_are_shown() {
        assert_eq!(escaped("<a href=\"x\" b='y'>&amp;"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
        assert_eq!(escaped("a\0b\u{1b}[2Jc\td\r\ne\rf\u{7f}\u{9b}"), "a\u{2400}b\u{241b}[2Jc\td\ne\u{240d}f\u{2421}\u{fffd}");
        assert_eq!(escaped("한글 é"), "한글 é");
    }

    #[test]
    fn nothing_turns_the_direction_of_the_page() {
        assert_eq!(escaped("a\u{202e}gpj.exe\u{2069}"), "a\\u{202e}gpj.exe\\u{2069}");
        assert_eq!(escaped("שלום\u{200f}!"), "שלום\u{200f}!");
    }
}
