//! Searching the lists: a session is found when each word stands in its id, title, workspace, first message or path, whatever
//! the case. (gjc's own picker searches the same five; how it weighs near misses is not part of the format.)

/// The words of a query, in lower case.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Search(Vec<String>);

impl Search {
    /// Takes the words of a query apart at white space.
    pub fn new(query: &str) -> Self {
        Search(query.split_whitespace().map(str::to_lowercase).collect())
    }
    /// Whether each word stands in one of the texts.
    pub fn finds<'t>(&self, texts: impl IntoIterator<Item = Option<&'t str>>) -> bool {
        let texts: Vec<String> = texts.into_iter().flatten().map(str::to_lowercase).collect();
        self.0.iter().all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_somewhere_and_case_does_not_matter() {
        let session = [Some("01-ab"), None, Some("/home/Ana"), Some("Fix the Parser")];
        let finds = |query: &str| Search::new(query).finds(session);
        for query in ["", "parser", "  fix  ANA ", "01-A", "the"] {
            assert!(finds(query), "{query:?}");
        }
        for query in ["parser xyz", "fixthe", "b/home"] {
            assert!(!finds(query), "{query:?}");
        }
    }
}
