//! Findings that wait for the end of the file: whether gjc loads the file at all, and whether a later patch replaces
//! the message they are about.

use crate::finding::{Finding, Sink};
use std::collections::HashMap;

/// Waiting findings.
#[derive(Default, Debug)]
pub struct Held {
    findings: Vec<Waiting>,
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
        self.findings.push(Waiting { entry, message, finding });
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
        let Held { findings, replaced } = self;
        for Waiting { entry, message, finding } in findings {
            let current = replaced.get(&entry).copied().unwrap_or_default();
            if message.is_none_or(|version| version == current) && !drop(entry as usize, &finding) {
                sink.push(finding);
            }
        }
    }
}
