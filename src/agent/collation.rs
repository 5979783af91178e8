//! The order of JavaScript's `localeCompare`, by which gjc sorts the manifest of artifacts.

use std::cmp::Ordering;

/// `String.prototype.localeCompare` in the root collation, exact for ASCII: first the letters without their case, digits before
/// letters, signs before digits, in the order of the collation; then lower case before upper case. Other characters follow the
/// ASCII letters in the order of their code points, which is not exact; no reader compares the order of a manifest.
pub fn locale_compare(a: &str, b: &str) -> Ordering {
    let tertiary = || upper_case(a).cmp(upper_case(b));
    weights(a).cmp(weights(b)).then_with(tertiary).then_with(|| a.encode_utf16().cmp(b.encode_utf16()))
}

fn weights(text: &str) -> impl Iterator<Item = u32> {
    text.chars().filter_map(weight)
}
fn upper_case(text: &str) -> impl Iterator<Item = bool> {
    text.chars().filter(|c| weight(*c).is_some()).map(|c| c.is_ascii_uppercase())
}

/// Primary weight; none for what the collation ignores.
fn weight(c: char) -> Option<u32> {
    const SIGNS: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    const DIGITS: u32 = 100;
    const LETTERS: u32 = 200;
    const OTHERS: u32 = 1000;
    match c {
        '0'..='9' => Some(DIGITS + u32::from(c) - u32::from('0')),
        'a'..='z' => Some(LETTERS + u32::from(c) - u32::from('a')),
        'A'..='Z' => Some(LETTERS + u32::from(c) - u32::from('A')),
        _ => match SIGNS.chars().position(|sign| sign == c) {
            Some(at) => Some(at as u32),
            None if c.is_ascii_control() => None,
            None => Some(OTHERS + u32::from(c)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_ordered_as_the_root_collation_orders_them() {
        // What `["…"].sort((a, b) => a.localeCompare(b))` answers in the root collation.
        let sorted = ["", "_x", "-x", ".x", "(a)", "a b", "a-b", "a.b", "a/b", "a1", "aa", "ab", "Ab", "B", "b.bash.log", "b/1", "b1"];
        let mut mixed = sorted;
        mixed.reverse();
        mixed.sort_by(|a, b| locale_compare(a, b));
        assert_eq!(mixed, sorted);
    }
}
