//! Lists of expected failures: a case that is known to fail, and how. What passes, fails otherwise or does not exist any
//! more makes its entry stale, and a stale entry fails the run: a list says what is so, not what was so once.
//!
//! One entry a line: `CASE<tab>INPUT<tab>MESSAGE`. Empty lines and lines that begin with `#` are left out. The message is the
//! one that the run prints; a `*` at its end stands for whatever follows.

use super::folder::Only;
use super::run::Failure;

/// A list of expected failures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expectations {
    entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    line: usize,
    case: String,
    input: String,
    message: String,
}

/// A line that is no entry.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {0}: an entry is CASE, INPUT and MESSAGE, with tabs between")]
pub struct NoEntry(usize);

impl Expectations {
    /// Reads a list.
    ///
    /// # Errors
    /// A line is no entry.
    pub fn parse(text: &str) -> Result<Expectations, NoEntry> {
        let mut entries = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut parts = line.splitn(3, '\t').map(str::to_owned);
            let (Some(case), Some(input), Some(message)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(NoEntry(number + 1));
            };
            entries.push(Entry { line: number + 1, case, input, message });
        }
        Ok(Expectations { entries })
    }
    /// The entries of the cases that are meant: of others nobody knows whether they fail.
    #[must_use]
    pub fn only(&self, only: &Only) -> Expectations {
        Expectations { entries: self.entries.iter().filter(|entry| only.means(&entry.case)).cloned().collect() }
    }
    /// The list that expects these failures and no others.
    pub fn text(failures: &[Failure]) -> String {
        let mut lines: Vec<String> = failures.iter().map(|f| format!("{}\t{}\t{}\n", f.case, f.input, f.message)).collect();
        lines.sort();
        lines.dedup();
        lines.concat()
    }
    /// Failures that are expected, those that are not, and what is said of entries that came to nothing.
    pub fn sort_out(&self, failures: Vec<Failure>) -> (Vec<Failure>, Vec<Failure>, Vec<String>) {
        let mut met = vec![false; self.entries.len()];
        let mut cases: std::collections::BTreeMap<(&str, &str), Vec<usize>> = std::collections::BTreeMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            cases.entry((&entry.case, &entry.input)).or_default().push(at);
        }
        let (expected, others): (Vec<Failure>, Vec<Failure>) = failures.into_iter().partition(|failure| {
            let mut is_expected = false;
            for at in cases.get(&(failure.case.as_str(), failure.input.as_str())).into_iter().flatten() {
                if self.entries.get(*at).is_some_and(|entry| entry.means(&failure.message)) {
                    is_expected = true;
                    if let Some(met) = met.get_mut(*at) {
                        *met = true;
                    }
                }
            }
            is_expected
        });
        let unmet = self.entries.iter().zip(met).filter(|(_, met)| !met).map(|(entry, _)| entry);
        let stale = unmet.map(|entry| {
            let now = others.iter().find(|failure| failure.case == entry.case && failure.input == entry.input);
            let now = now.map_or("it passes".to_owned(), |failure| format!("it fails otherwise: {}", failure.message));
            format!("line {}: {} ({}): {now}", entry.line, entry.case, entry.input)
        });
        let stale = stale.collect();
        (expected, others, stale)
    }
}

impl Entry {
    fn means(&self, message: &str) -> bool {
        match self.message.strip_suffix('*') {
            Some(start) => message.starts_with(start),
            None => message == self.message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(message: &str) -> Failure {
        Failure { case: "v5/x".to_owned(), input: "trigger".to_owned(), release: None, message: message.to_owned() }
    }

    fn sorted(list: &str, messages: &[&str]) -> (usize, usize, Vec<String>) {
        let list = Expectations::parse(list).unwrap();
        let (expected, others, stale) = list.sort_out(messages.iter().map(|message| failure(message)).collect());
        (expected.len(), others.len(), stale)
    }

    #[test]
    fn an_entry_expects_its_message_and_no_other() {
        let list = "# known\n\nv5/x\ttrigger\tmissing a\n";
        assert_eq!(sorted(list, &["missing a"]), (1, 0, vec![]));
        assert_eq!(sorted(list, &["missing b"]), (0, 1, vec!["line 3: v5/x (trigger): it fails otherwise: missing b".to_owned()]));
        assert_eq!(sorted(list, &[]), (0, 0, vec!["line 3: v5/x (trigger): it passes".to_owned()]));
    }

    #[test]
    fn a_star_stands_for_the_rest() {
        assert_eq!(sorted("v5/x\ttrigger\tmissing*\n", &["missing a", "missing b", "other"]), (2, 1, vec![]));
    }

    #[test]
    fn a_list_of_failures_expects_them() {
        let text = Expectations::text(&[failure("b"), failure("a"), failure("a")]);
        assert_eq!(text, "v5/x\ttrigger\ta\nv5/x\ttrigger\tb\n");
        assert_eq!(sorted(&text, &["a", "b", "a"]), (3, 0, vec![]));
        assert_eq!(Expectations::parse("v5/x trigger").unwrap_err(), NoEntry(1));
    }
}
