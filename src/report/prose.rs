//! The sentences of the texts of codes: which of them concern a release.

use crate::finding::Release;

/// The sentences of a text, full stop included.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, then) = rest.find(". ").map_or((rest, ""), |at| (&rest[..=at], &rest[at + 2..]));
        rest = then;
        Some(sentence)
    })
}

/// A text without the sentences that begin with the other release (`In 0.17 …`, `0.17's …`). A text that would be left
/// empty stays whole.
pub fn of_release(text: &str, release: Release) -> String {
    let other = match release {
        Release::V0_15 => Release::V0_17,
        Release::V0_17 => Release::V0_15,
    };
    let elsewhere = |sentence: &&str| {
        let start = ["In ", "With "].into_iter().find_map(|word| sentence.strip_prefix(word)).unwrap_or(sentence);
        !start.starts_with(other.text())
    };
    let kept: Vec<&str> = sentences(text).filter(elsewhere).collect();
    if kept.is_empty() { text.to_owned() } else { kept.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_about_the_other_release_is_left_out() {
        let text = "gjc refuses it. 0.17's collection refuses the profile. In 0.15 nothing happens.";
        assert_eq!(of_release(text, Release::V0_15), "gjc refuses it. In 0.15 nothing happens.");
        assert_eq!(of_release(text, Release::V0_17), "gjc refuses it. 0.17's collection refuses the profile.");
    }

    #[test]
    fn a_text_about_the_other_release_alone_stays() {
        assert_eq!(of_release("0.17 refuses it.", Release::V0_15), "0.17 refuses it.");
    }
}
