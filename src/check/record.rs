//! Reading one protocol file for the passes: what could not be read is told once, here. And telling the same of very many.

use super::operational;
use super::run::Site;
use crate::agent::candidates::{RECORD_CEILING, parse};
use crate::finding::{Code, Finding, Gauge, MOST, Place, Sink};
use crate::fsys::{Bound, Captured, Errno, Refusal, capture};
use crate::json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A protocol file as a pass sees it.
pub enum Record {
    /// One JSON value.
    Json(Value),
    /// Its bytes are no JSON.
    NotJson,
    /// Larger than this tool reads, which is gjc's own limit for a pending cleanup record and no other.
    TooLarge(u64),
    /// It was not read; whoever is to know has been told (or its link count has a code of its own).
    Unread,
}

/// Bytes of a protocol file that the directory listing showed as a regular file; none when it was not read.
pub fn bytes(site: &Site<'_>, path: &Path, bound: Bound, sink: &mut dyn Sink) -> Result<Option<Captured>, u64> {
    let again = |first: Refusal| if first.is_transient() { capture(site.fs, path, bound) } else { Err(first) };
    match capture(site.fs, path, bound).or_else(again) {
        Ok(captured) => Ok(Some(captured)),
        Err(Refusal::Capacity { size, .. }) => Err(size),
        Err(refusal) => {
            unread(site, path, refusal, sink);
            Ok(None)
        }
    }
}

/// Tells why a protocol file was not read; its size and its links have codes of their own.
pub fn unread(site: &Site<'_>, path: &Path, refusal: Refusal, sink: &mut dyn Sink) {
    match refusal {
        Refusal::Links(_) | Refusal::Capacity { .. } => {}
        Refusal::Failed(error) if matches!(error.errno, Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => {
            operational::changed(site, path, "it vanished or was replaced while the directory was read", sink);
        }
        Refusal::Failed(error) => operational::unreadable(site, &error, sink),
        refusal => operational::changed(site, path, &format!("it {refusal}"), sink),
    }
}

/// Tells that a record is larger than this tool reads, where gjc itself has no limit: nothing is claimed about it.
pub fn too_large(site: &Site<'_>, path: &Path, size: u64, sink: &mut dyn Sink) {
    let message = format!("The record has {size} bytes and was not read: {RECORD_CEILING} is the most that this tool reads of one.");
    sink.push(Finding::new(&operational::codes::CHECK_INCOMPLETE, site.place(path), message));
}

/// Reads a protocol file.
pub fn read(site: &Site<'_>, path: &Path, sink: &mut dyn Sink) -> Record {
    match bytes(site, path, Bound::Ceiling(RECORD_CEILING), sink) {
        Ok(Some(captured)) => parse(&captured.bytes).map_or(Record::NotJson, Record::Json),
        Ok(None) => Record::Unread,
        Err(size) => Record::TooLarge(size),
    }
}

/// Passes findings on and, of one code in one directory, counts what comes behind the first [`MOST`]: fifty thousand journals
/// may all be pending.
pub struct Folded<'s> {
    sink: &'s mut dyn Sink,
    place: Place,
    seen: BTreeMap<&'static str, (&'static Code, u64)>,
}

impl Sink for Folded<'_> {
    fn push(&mut self, finding: Finding) {
        let (_, seen) = self.seen.entry(finding.code.name).or_insert((finding.code, 0));
        *seen += 1;
        if *seen <= MOST {
            self.sink.push(finding);
        }
    }
    fn gauge(&mut self, gauge: Gauge) {
        self.sink.gauge(gauge);
    }
}

impl<'s> Folded<'s> {
    /// Counts at `place`.
    pub fn new(sink: &'s mut dyn Sink, place: Place) -> Self {
        Folded { sink, place, seen: BTreeMap::new() }
    }
    /// Whether what comes of this code is only counted.
    pub fn is_full(&self, code: &Code) -> bool {
        self.seen.get(code.name).is_some_and(|(_, seen)| *seen >= MOST)
    }
    /// Counts so many more of a code of which no more are listed.
    pub fn count(&mut self, code: &'static Code, more: u64) {
        self.seen.entry(code.name).or_insert((code, 0)).1 += more;
    }
    /// Tells how many were only counted.
    pub fn finish(self) {
        for (code, seen) in self.seen.into_values().filter(|(_, seen)| *seen > MOST) {
            self.sink.push(Finding::not_listed(code, &self.place.path, seen - MOST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::retirement_receipt::codes::{GC_RECEIPT_ORPHAN_TRANSCRIPT_MISSING as OTHER, GC_RETIREMENT_PENDING as PENDING};
    use crate::finding::Collected;

    /// What comes of so many findings of one code, and one of another: how many are listed, and how many others each stands for.
    fn folded(findings: u64) -> (usize, Vec<Option<u64>>) {
        let mut sink = Collected::default();
        let mut told = Folded::new(&mut sink, Place::default());
        told.push(Finding::new(&OTHER, Place::default(), "another"));
        for number in 0..findings {
            match told.is_full(&PENDING) {
                true => told.count(&PENDING, 1),
                false => told.push(Finding::new(&PENDING, Place { path: number.to_string().into(), ..Place::default() }, "pending")),
            }
        }
        told.finish();
        let rest: Vec<_> = sink.findings.iter().filter(|finding| finding.not_listed.is_some()).map(|finding| finding.not_listed).collect();
        (sink.findings.len() - rest.len(), rest)
    }
    #[test]
    fn what_comes_behind_the_listed_ones_is_counted_so_that_nothing_is_lost_of_the_total() {
        assert_eq!(folded(MOST), (MOST as usize + 1, vec![]));
        assert_eq!(folded(MOST + 1), (MOST as usize + 1, vec![Some(1)]));
        assert_eq!(folded(50_000), (MOST as usize + 1, vec![Some(50_000 - MOST)]));
    }
}
