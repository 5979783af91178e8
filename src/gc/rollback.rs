//! Names that a failed publication of artifacts may remove again (spec 03 §18). Newly seen `.gjc-…` and `.removing` names
//! are never among them.

use crate::agent::layout::STAGING;

/// What a path below an artifact directory is for a rollback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removable<'a> {
    /// `<id>.<toolType>.log`: only the exact captured file.
    Numbered {
        /// Decimal id.
        id: &'a str,
        /// `[a-zA-Z0-9_-]+`
        tool: &'a str,
    },
    /// `[a-zA-Z0-9_.-]+`: only the exact captured file.
    Named(&'a str),
    /// `.staging/<attemptId>`: the attempt's own subtree, while its root is the same object.
    Attempt(&'a str),
    /// `.artifact-id-<n>`: reserves an id and is not published.
    Claim(&'a str),
}

/// Reads a `/`-separated path below the artifact directory; none for what a rollback never removes.
pub fn removable(relative: &str) -> Option<Removable<'_>> {
    if let Some(attempt) = relative.strip_prefix(STAGING).and_then(|rest| rest.strip_prefix('/')) {
        return is_attempt_id(attempt).then_some(Removable::Attempt(attempt));
    }
    if let Some(id) = relative.strip_prefix(".artifact-id-") {
        return is_number(id).then_some(Removable::Claim(id));
    }
    let named = !relative.is_empty() && relative.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'));
    if !named || matches!(relative, "." | "..") || relative == STAGING || relative.starts_with(".gjc-") || relative.ends_with(".removing") {
        return None;
    }
    let numbered = relative.strip_suffix(".log").and_then(|rest| rest.split_once('.'));
    match numbered.filter(|(id, tool)| is_number(id) && !tool.is_empty() && !tool.contains('.')) {
        Some((id, tool)) => Some(Removable::Numbered { id, tool }),
        None => Some(Removable::Named(relative)),
    }
}

/// `^[A-Za-z0-9_-]{1,128}$`
pub fn is_attempt_id(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| is_word(byte) || byte == b'-')
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_number(text: &str) -> bool {
    crate::json::spelling::is_decimal(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rollback_may_remove() {
        assert_eq!(removable("0.bash.log"), Some(Removable::Numbered { id: "0", tool: "bash" }));
        assert_eq!(removable("12.web_search-2.log"), Some(Removable::Numbered { id: "12", tool: "web_search-2" }));
        assert_eq!(removable("report.v1.md"), Some(Removable::Named("report.v1.md")));
        assert_eq!(removable("01.bash.log"), Some(Removable::Named("01.bash.log")));
        assert_eq!(removable("0..log"), Some(Removable::Named("0..log")), "a tool type has a character at least");
        assert_eq!(removable("0.a.b.log"), Some(Removable::Named("0.a.b.log")), "and no dot");
        assert_eq!(removable(".staging/a_b-1"), Some(Removable::Attempt("a_b-1")));
        assert_eq!(removable(".artifact-id-7"), Some(Removable::Claim("7")));
    }
    #[test]
    fn what_it_never_removes() {
        let long = format!(".staging/{}", "a".repeat(129));
        let never = [
            "",
            ".",
            "..",
            ".staging",
            ".staging/",
            ".staging/a/b",
            ".staging/..",
            &long,
            ".gjc-x",
            "sub.removing",
            "sub/0.bash.log",
            "a b",
            "ä",
            ".artifact-id-07",
            ".artifact-id-",
        ];
        for name in never {
            assert_eq!(removable(name), None, "{name}");
        }
    }
}
