//! Words that the messages of all areas share.

use crate::json::Kind;

/// `1 line is`, `3 lines are`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `1 byte`, `20 bytes`.
pub(crate) fn bytes(number: u64) -> String {
    count(number, "byte", "bytes")
}

/// `a string`, `an array`, `null`.
pub(crate) fn with_article(kind: Kind) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Array | Kind::Object => format!("an {}", kind.word()),
        _ => format!("a {}", kind.word()),
    }
}

/// A text from the file, short enough for a sentence.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
