//! What gjc's next write would do to a transcript: facts for predictions, found by doing it without storing anything.

use super::rewrite::rewrite;
use super::sanitise::sanitise;
use super::tally::Tally;
use crate::finding::Release;
use crate::json::jsonl::{Event, Lines};
use crate::json::{Kind, Node, View, number};
use crate::transcript::Throw;
use crate::transcript::blobs::{BlobSink, BlobSource, Stored};
use crate::transcript::header::CURRENT_VERSION;
use crate::transcript::inspect::{self, Options, Verdict};
use crate::transcript::load::{Loader, Outcome, Whole};
use crate::transcript::migrate::{Seeded, migrate};
use std::io::{self, Write};

/// What the next write does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextWrite {
    /// The file does not end in LF: the next record is glued to this line (1-based) and both are lost for a strict reader.
    pub glued_to_line: Option<u64>,
    /// Messages with a native replay payload: opening appends one `entry_patch` for each, or rewrites an older version.
    pub sanitised_on_open: u64,
    /// The file is of a version below 5: opening and closing rewrites it, and so does the first write.
    pub rewritten_on_close: bool,
    /// What the next full rewrite does.
    pub rewrite: FullRewrite,
}

/// What a full rewrite changes of a file. Counts of places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FullRewrite {
    /// Bytes of the file afterwards.
    pub bytes: u64,
    /// It would write what stands there already.
    pub changes_nothing: bool,
    /// Lines of which nothing is left: unreadable ones, and lines swallowed by an incomplete value.
    pub lost_lines: u64,
    /// Lines of which something behind the first value is thrown away.
    pub lost_tails: u64,
    /// Patches that are folded into their header or entry.
    pub folded_patches: u64,
    /// Patches without effect, gone afterwards.
    pub dropped_patches: u64,
    /// Objects that repeat a key: all values but the last are gone.
    pub duplicate_keys: u64,
    /// Numbers that come back as another decimal value.
    pub changed_numbers: u64,
    /// gjc opens the file now and refuses what it writes: an infinite number that the schema asks for becomes `null`.
    pub refused_afterwards: bool,
    /// What happens to the content of the records.
    pub content: Tally,
}

/// Predicts the next write to a file of these bytes. Blobs are looked at, nothing is stored.
///
/// # Errors
/// What gjc throws when it loads or migrates the file: then it does not write to it either. A file of which gjc loads
/// nothing has no header, and its rewrite would be empty; gjc refuses to open it.
pub fn next_write(file: &[u8], blobs: &dyn BlobSource, release: Release) -> Result<NextWrite, Throw> {
    let mut facts = FullRewrite::default();
    let mut loader = Loader::new(Whole, release);
    let mut lines = Lines::new(file);
    let mut last_line = 0;
    // Reading from memory cannot fail; if it did the rest of the file would simply not be there.
    while let Ok(Some(event)) = lines.next() {
        match &event {
            Event::Line(line) => last_line = line.number,
            Event::Value(found) => {
                facts.lost_tails += u64::from(!found.discarded.is_empty());
                facts.count_text(found.node);
            }
            Event::Skipped { .. } => facts.lost_lines += 1,
            Event::Lost { line, .. } => facts.lost_lines += count_lines(file).saturating_sub(line - 1),
        }
        match loader.event(&event) {
            Some(Outcome::HeaderPatched { .. } | Outcome::EntryPatched(_)) => facts.folded_patches += 1,
            Some(Outcome::PatchIgnored(_) | Outcome::EntryPatchEmpty(_)) => facts.dropped_patches += 1,
            _ => {}
        }
    }
    let mut loaded = loader.finish()?;
    let from = if loaded.entries.is_empty() { CURRENT_VERSION } else { migrate(&mut loaded, &mut Seeded::new(0))?.from };
    let sanitised_on_open = loaded.entries.iter_mut().filter_map(sanitise).count() as u64;
    // Only a number that comes back as `null` can make a difference to inspection.
    let mut compare = Compare { file, bytes: 0, same: true, kept: (facts.changed_numbers > 0).then(Vec::new) };
    // The output is compared, not kept, and comparing cannot fail.
    let _ = rewrite(loaded.entries, &mut DryRun(blobs), release, &mut facts.content, &mut compare);
    facts.bytes = compare.bytes as u64;
    facts.refused_afterwards = compare.kept.is_some_and(|written| is_accepted(file, release) && !is_accepted(&written, release));
    facts.changes_nothing = compare.same && compare.bytes == file.len();
    Ok(NextWrite {
        glued_to_line: (!file.is_empty() && !file.ends_with(b"\n")).then_some(last_line.max(1)),
        sanitised_on_open,
        rewritten_on_close: from < CURRENT_VERSION,
        rewrite: facts,
    })
}

impl FullRewrite {
    /// Counts what only the text of a value tells.
    fn count_text(&mut self, node: Node<'_>) {
        if !node.any_duplicate_key() && !node.any_long_number() {
            return;
        }
        for value in node.descend() {
            match value.kind() {
                Kind::Object if value.repeats_a_key() => self.duplicate_keys += 1,
                Kind::Number if value.is_long_number() && !number::survives(value.raw()) => self.changed_numbers += 1,
                _ => {}
            }
        }
    }
}

fn count_lines(file: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', file).count() as u64 + u64::from(!file.is_empty() && !file.ends_with(b"\n"))
}

/// Compares what is written with what is there.
struct Compare<'f> {
    file: &'f [u8],
    bytes: usize,
    same: bool,
    /// The output, where it is asked for.
    kept: Option<Vec<u8>>,
}

/// Whether strict inspection accepts a file.
fn is_accepted(file: &[u8], release: Release) -> bool {
    inspect::bytes(file, file.len() as u64, Options::new(release)).is_ok_and(|inspected| !matches!(inspected.verdict, Verdict::Error(_)))
}

impl Write for Compare<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.same &= self.file.get(self.bytes..self.bytes.saturating_add(bytes.len())) == Some(bytes);
        self.bytes += bytes.len();
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A store that says yes and stores nothing.
struct DryRun<'s>(&'s dyn BlobSource);

impl BlobSource for DryRun<'_> {
    fn known(&self) -> bool {
        self.0.known()
    }
    fn stored(&self, name: &str) -> Stored {
        self.0.stored(name)
    }
    fn intact(&self, name: &str) -> Option<bool> {
        self.0.intact(name)
    }
    fn head(&self, name: &str, limit: usize) -> Option<Vec<u8>> {
        self.0.head(name, limit)
    }
}

impl BlobSink for DryRun<'_> {
    fn put(&mut self, _: &str, _: &[u8]) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::blobs::{MemoryStore, NoStore};

    const HEADER: &str = r#"{"type":"session","version":5,"id":"s","timestamp":"t","cwd":"/w"}"#;
    const LABEL: &str = r#"{"type":"label","id":"a","parentId":null,"timestamp":"t","targetId":"x"}"#;

    fn predicted(text: &str) -> NextWrite {
        next_write(text.as_bytes(), &MemoryStore::default(), Release::V0_17).unwrap()
    }

    #[test]
    fn a_file_as_gjc_writes_it_is_left_alone() {
        let text = format!("{HEADER}\n{LABEL}\n");
        let expect = NextWrite {
            glued_to_line: None,
            sanitised_on_open: 0,
            rewritten_on_close: false,
            rewrite: FullRewrite { bytes: text.len() as u64, changes_nothing: true, ..FullRewrite::default() },
        };
        assert_eq!(predicted(&text), expect);
    }

    #[test]
    fn a_missing_line_end_is_where_the_next_record_is_glued() {
        let next = predicted(&format!("{HEADER}\n\n{LABEL}"));
        assert_eq!(next.glued_to_line, Some(3));
        assert!(!next.rewrite.changes_nothing);
    }

    #[test]
    fn lines_and_patches_that_a_rewrite_drops_are_counted() {
        let text = [
            HEADER,
            "garbage",
            &format!("{LABEL} {LABEL}"),
            r#"{"type":"header_patch","patch":{"title":"T"}}"#,
            r#"{"type":"header_patch","patch":{"title":7}}"#,
            r#"{"type":"entry_patch","entryId":"none","patch":{}}"#,
            "",
        ]
        .join("\n");
        let rewrite = predicted(&text).rewrite;
        assert_eq!((rewrite.lost_lines, rewrite.lost_tails), (1, 1));
        assert_eq!((rewrite.folded_patches, rewrite.dropped_patches), (1, 2));
        assert_eq!(predicted(&format!("{HEADER}\n{{\"a\":\n{LABEL}\n")).rewrite.lost_lines, 2);
    }

    #[test]
    fn text_that_does_not_come_back_is_counted() {
        let text = format!("{HEADER}\n{}\n", r#"{"type":"x","a":1,"a":2,"n":[9007199254740993,0.1,1e400],"o":{"b":1,"b":1}}"#);
        let rewrite = predicted(&text).rewrite;
        assert_eq!((rewrite.duplicate_keys, rewrite.changed_numbers), (2, 2));
    }

    #[test]
    fn gjc_can_write_what_it_then_refuses() {
        let compaction = |tokens: &str| {
            format!(
                "{HEADER}\n{}{tokens}}}\n",
                r#"{"type":"compaction","id":"a","parentId":null,"timestamp":"t","summary":"","firstKeptEntryId":"","tokensBefore":"#
            )
        };
        assert!(predicted(&compaction("1e400")).rewrite.refused_afterwards);
        assert!(!predicted(&compaction("9007199254740993")).rewrite.refused_afterwards);
        assert!(!predicted(&compaction("\"x\",\"n\":1e400")).rewrite.refused_afterwards);
    }

    #[test]
    fn a_reference_to_a_missing_blob_is_lost_when_the_store_is_known() {
        let text = format!("{HEADER}\n{{\"type\":\"custom\",\"data\":\"blob:sha256:{}\"}}\n", "0".repeat(64));
        assert_eq!(predicted(&text).rewrite.content.lost_references, 1);
        let unknown = next_write(text.as_bytes(), &NoStore, Release::V0_17).unwrap();
        assert!(unknown.rewrite.changes_nothing);
    }

    #[test]
    fn older_versions_and_replay_payloads_are_written_by_opening_and_closing() {
        let next = predicted(&format!("{}\n", HEADER.replace(":5", ":3")));
        assert!(next.rewritten_on_close && !next.rewrite.changes_nothing);
        let replay = r#"{"type":"message","id":"b","message":{"role":"assistant","content":[],"providerPayload":{"type":"openaiResponsesHistory"}}}"#;
        assert_eq!(predicted(&format!("{HEADER}\n{replay}\n")).sanitised_on_open, 1);
    }

    #[test]
    fn what_gjc_throws_is_no_prediction() {
        assert!(next_write(b"null\n", &NoStore, Release::V0_17).is_err());
    }
}
