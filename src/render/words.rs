//! Numbers in sentences.

/// A count with its noun: `1 entry`, `2 entries`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Entries of a transcript that loads: the header is not counted, as a tree has no place for it.
pub fn headed(entries: u64) -> String {
    format!("the header and {}", count(entries, "entry", "entries"))
}

/// A number with thousands apart: `1,234`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The title above sizes that are near their limits, or above one.
pub const fn near_limits(exceeded: bool) -> &'static str {
    if exceeded { "Above, at or near a limit" } else { "At or near a limit" }
}

/// A text as one word of a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '%' | ':' | ',');
    let bare = !text.is_empty() && !text.starts_with('-') && text.chars().all(plain);
    if bare { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_for_a_shell() {
        assert_eq!(shell_word("/tmp/a-b.c"), "/tmp/a-b.c");
        assert_eq!(shell_word("it's here"), r"'it'\''s here'");
        assert_eq!((&*shell_word("-x"), &*shell_word("")), ("'-x'", "''"));
    }

    #[test]
    fn what_is_above_a_limit_is_not_called_near_it() {
        assert_eq!((near_limits(true), near_limits(false)), ("Above, at or near a limit", "At or near a limit"));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1234567), "1,234,567");
        assert_eq!(count(1, "entry", "entries"), "1 entry");
    }
}
