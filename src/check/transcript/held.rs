//! Findings that wait for the end of the file: whether gjc loads the file at all, and whether a later patch replaces
//! the message they are about.
//!
//! Of one code at most [`MOST`] wait; further ones are counted, so that a file of a million odd entries costs no more memory
//! than one of a few thousand.

use crate::finding::{self, Finding, Sink};
use std::collections::{BTreeMap, HashMap};

/// Findings of one code that wait. Some may turn out to be replaced or explained, so more wait than are kept in the end.
const MOST: u64 = 4 * finding::MOST;

/// Waiting findings.
#[derive(Default, Debug)]
pub struct Held {
    findings: Vec<Waiting>,
    /// Findings of each code that wait, and those that are only counted with the last of them as their example.
    counts: BTreeMap<&'static str, u64>,
    counted: BTreeMap<&'static str, (u64, Waiting)>,
    /// How often the message of an entry was replaced.
    replaced: HashMap<u32, u32>,
}

#[derive(Debug)]
struct Waiting {
    entry: u32,
    /// The finding is about the message as it stood after this many patches; none when it is about the rest.
    message: Option<u32>,
    finding: Finding,
}

impl Held {
    /// A finding about an entry; `in_message` when it is about the entry's message.
    pub fn push(&mut self, entry: usize, in_message: bool, finding: Finding) {
        let entry = entry as u32;
        let message = in_message.then(|| self.version(entry));
        let waiting = Waiting { entry, message, finding };
        let code = waiting.finding.code.name;
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MOST {
            self.findings.push(waiting);
        } else {
            let counted = self.counted.get(code).map_or(0, |(counted, _)| *counted);
            self.counted.insert(code, (counted + 1, waiting));
        }
    }

    /// A patch replaces the message of an entry.
    pub fn replace_message(&mut self, entry: usize) {
        *self.replaced.entry(entry as u32).or_default() += 1;
    }

    /// How often the message of an entry was replaced so far.
    pub fn version(&self, entry: u32) -> u32 {
        if self.replaced.is_empty() { 0 } else { self.replaced.get(&entry).copied().unwrap_or_default() }
    }

    /// Passes on what is still true, in the order it came, except what `drop` says is explained otherwise.
    pub fn release(self, sink: &mut dyn Sink, mut drop: impl FnMut(usize, &Finding) -> bool) {
        let Held { findings, replaced, counted, .. } = self;
        for Waiting { entry, message, finding } in findings {
            let current = replaced.get(&entry).copied().unwrap_or_default();
            if message.is_none_or(|version| version == current) && !drop(entry as usize, &finding) {
                sink.push(finding);
            }
        }
        for (count, Waiting { entry, finding, .. }) in counted.into_values() {
            if !drop(entry as usize, &finding) {
                sink.further(finding.code, &finding.place.path, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::entry::codes::MESSAGE_ROLE_UNKNOWN;
    use crate::finding::{Collected, Place};

    #[test]
    fn of_one_code_a_bounded_number_waits_and_every_one_is_counted() {
        let mut held = Held::default();
        let many = usize::try_from(MOST).unwrap() + 70;
        for entry in 0..many {
            held.push(entry, true, Finding::new(&MESSAGE_ROLE_UNKNOWN, Place::default(), "x"));
        }
        assert_eq!(held.findings.len() as u64, MOST);
        let mut sink = Collected::default();
        held.release(&mut sink, |_, _| false);
        let rest = sink.findings.last().unwrap();
        assert_eq!(rest.message, format!("{} more places of this kind are not listed", many as u64 - finding::MOST));
    }
}
