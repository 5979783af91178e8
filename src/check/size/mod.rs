//! The area *size* of spec 05: what is too long for gjc, or was cut, or would be moved elsewhere by the next rewrite.
//!
//! [`judge`] looks at a record's content while it is in memory; [`SizePass`] counts lines and bytes of the file.

pub mod codes;

use super::quota;
use super::transcript::content::{Content, Message};
use super::transcript::held::Held;
use super::transcript::signs::{DATA_URL_PREFIX, LONG_UNITS, Sign, TRUNCATION_NOTICE};
use super::transcript::{Source, Storage};
use super::words::{bytes, count};
use crate::finding::{Code, Finding, Place, Sink};
use crate::json::jsonl::Line;
use crate::json::view::len_utf16;
use crate::json::{Kind, Node, View, Walk};
use crate::transcript::blobs;
use crate::transcript::entry::{EntryKind, Role};
use crate::transcript::readers::bounded::{Refusal, Refused};
use std::sync::Arc;

/// Largest transcript that gjc loads whole and writes (spec 01 §1).
pub const FILE_CAP: u64 = 134_217_728;
/// Largest transcript that gjc reads at all (spec 01 §1).
pub const BOUNDED_CAP: u64 = 2_148_532_224;
/// Longest line, LF included, that the bounded readers and the managed inspection accept (spec 01 §1).
pub const LINE_CAP: u64 = 8_388_608;
/// Longest string that a writer keeps (spec 01 §8.4).
const STRING_LIMIT: usize = 500_000;
/// Longest `oldText` or `newText` that a writer keeps inline (spec 01 §8.4).
const SNAPSHOT_LIMIT: usize = 16_384;

/// Places of one kind in one record.
#[derive(Default)]
struct Tally {
    first: Option<Place>,
    in_message: bool,
    times: u64,
    bytes: u64,
}

impl Tally {
    fn add<'v>(&mut self, content: &Content<'v>, walk: &Walk<'v>, value: Node<'v>) {
        self.times += 1;
        self.bytes += value.raw().len() as u64;
        if self.first.is_none() {
            let pointer = walk.pointer();
            self.in_message = content.is_in_message(pointer.as_deref());
            self.first = Some(content.place(value, pointer));
        }
    }
    fn report(self, content: &Content<'_>, held: &mut Held, code: &'static Code, message: impl FnOnce(&Self) -> String) {
        let text = message(&self);
        if let Some(place) = self.first {
            held.push(content.entry, self.in_message, Finding::new(code, place, text));
        }
    }
}

/// Judges the content that a record brings.
pub fn judge(content: &Content<'_>, message: Option<&Message<'_>>, held: &mut Held) {
    const LOOK: [Sign; 4] = [Sign::LongData, Sign::VeryLong, Sign::Truncated, Sign::DataUrl];
    let edits = message.filter(|message| message.role == Role::ToolResult).and_then(|message| message.details);
    let edits = edits.filter(|details| details.kind() == Kind::Object);
    let look = content.signs.any(&LOOK) || (edits.is_some() && content.signs.has(Sign::LongSnapshot));
    // What a header holds is never prepared for disk as an entry is.
    if !look || content.kind == EntryKind::Session {
        return;
    }
    let [mut over, mut cut, mut images, mut snapshots] = [(); 4].map(|()| Tally::default());
    let mut walk = Walk::new(content.root);
    while let Some(value) = walk.next() {
        let Some(text) = value.as_str() else { continue };
        let long = value.raw().len() > LONG_UNITS;
        if long && text.len() > STRING_LIMIT && len_utf16(&text) > STRING_LIMIT {
            over.add(content, &walk, value);
        }
        if text.ends_with(TRUNCATION_NOTICE) {
            cut.add(content, &walk, value);
        }
        if is_inline_url(&walk, value, &text) || (long && is_inline_image(&walk, value, &text) == Some(true)) {
            images.add(content, &walk, value);
        }
        if long
            && edits.is_some_and(|details| (details.slot_index()..details.slot_end()).contains(&value.slot_index()))
            && value.member_key().is_some_and(|key| key.is_str("oldText") || key.is_str("newText"))
            && len_utf16(&text) > SNAPSHOT_LIMIT
        {
            snapshots.add(content, &walk, value);
        }
    }
    over.report(content, held, &codes::STRING_OVER_LIMIT, |tally| {
        format!("{} more than 500,000 units.", count(tally.times, "string has", "strings have"))
    });
    cut.report(content, held, &codes::TRUNCATED_CONTENT, |tally| {
        format!("{} cut when the record was written.", count(tally.times, "string was", "strings were"))
    });
    images.report(content, held, &codes::INLINE_IMAGE_OVER_THRESHOLD, |tally| {
        format!("{} inline, {} in all.", count(tally.times, "image stands", "images stand"), bytes(tally.bytes))
    });
    snapshots.report(content, held, &codes::EDIT_SNAPSHOT_INLINE, |tally| {
        format!("{} inline, {} in all.", count(tally.times, "edit snapshot stands", "edit snapshots stand"), bytes(tally.bytes))
    });
}

/// A base64 data URL under `image_url`, or under `url` of an object there.
fn is_inline_url(walk: &Walk<'_>, value: Node<'_>, text: &[u8]) -> bool {
    let Some(key) = value.member_key().filter(|_| text.starts_with(DATA_URL_PREFIX)) else { return false };
    let under =
        key.is_str("image_url") || key.is_str("url") && walk.container().and_then(Node::member_key).is_some_and(|k| k.is_str("image_url"));
    under && memchr::memmem::find(text, b";base64,").is_some()
}

/// For the `data` of an image block of a `content` array that holds 1,024 units or more and no reference: whether it
/// is canonical Base64.
pub(super) fn is_inline_image(walk: &Walk<'_>, value: Node<'_>, text: &[u8]) -> Option<bool> {
    let is_data = value.member_key().is_some_and(|key| key.is_str("data"));
    let block = walk.container().filter(|_| is_data)?;
    let in_content = walk.outer_container().is_some_and(|outer| outer.kind() == Kind::Array)
        && walk.container_key().is_some_and(|key| key.is_str("content"));
    let is_image = in_content && block.get("type").is_some_and(|kind| kind.is_str("image"));
    if !is_image || blobs::canonical(text).is_some() || len_utf16(text) < LONG_UNITS {
        return None;
    }
    Some(is_canonical_base64(text))
}

/// Base64 that decoding and encoding gives back unchanged.
fn is_canonical_base64(text: &[u8]) -> bool {
    // The decoder refuses wrong padding and trailing bits, which are all that can differ.
    let mut buffer = [0; 3072];
    let blocks = text.chunks(4096);
    let last = blocks.len().saturating_sub(1);
    blocks.enumerate().all(|(at, block)| {
        let whole = block.len() % 4 == 0 && (at == last || block.last() != Some(&b'='));
        whole
            && data_encoding::BASE64
                .decode_mut(block, buffer.get_mut(..data_encoding::BASE64.decode_len(block.len()).unwrap_or(0)).unwrap_or_default())
                .is_ok()
    })
}

/// One of the largest records of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Large {
    len: u64,
    line: u64,
}

/// The pass over sizes of lines and of the file.
pub struct SizePass<'s> {
    source: &'s Source,
    /// The ten longest lines, the shortest first.
    largest: Vec<Large>,
    /// Bytes up to the end of the first line.
    first_line: u64,
    size: u64,
}

/// How many large records a finding names.
const LARGEST: usize = 10;

impl<'s> SizePass<'s> {
    /// A pass that has seen nothing.
    pub fn new(source: &'s Source) -> Self {
        SizePass { source, largest: Vec::with_capacity(LARGEST + 1), first_line: 0, size: 0 }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &Line<'_>, sink: &mut dyn Sink) {
        let len = line.raw.len() as u64 + u64::from(line.has_lf);
        self.size = line.offset + len;
        if line.number == 1 {
            self.first_line = self.size;
        }
        if self.largest.len() < LARGEST || len > self.largest[0].len {
            self.largest.push(Large { len, line: line.number });
            self.largest.sort_by_key(|large| large.len);
            if self.largest.len() > LARGEST {
                self.largest.remove(0);
            }
        }
        if len > LINE_CAP {
            let code = if self.source.managed { &codes::LINE_TOO_LONG } else { &codes::LINE_TOO_LONG_FOR_MANAGED };
            let message = format!("The line has {len} bytes; the managed root accepts {LINE_CAP}.");
            sink.push(Finding::new(code, self.source.span(line.number, line.offset, line.raw.len()), message));
        }
    }

    /// Bytes read so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reports how near the file is to its cap, or that it is above. `bounded` is the answer of reader R, when it was
    /// asked: above the cap the bounded open is all that is left. A legacy file does not come so far: it is opened as a
    /// copy, and none is made of it. `patches` are the bytes of its patch lines.
    ///
    /// Two more things exclude the bounded open and are not to be seen on the disk: another memory mode than the default,
    /// and Windows (spec 04 §4.6). They are not claimed.
    pub fn finish(self, bounded: Option<Result<(), Refused>>, storage: Storage, patches: u64, sink: &mut dyn Sink) {
        of_file(&self.source.file(), self.size, sink);
        if let Some(longest) = self.largest.last() {
            quota::LONGEST_LINE.read(self.source.line(longest.line), longest.len, sink);
        }
        if storage != Storage::Lone && self.first_line > 0 {
            quota::HEADER_LINE.read(self.source.line(1), self.first_line, sink);
        }
        if self.size > FILE_CAP && patches > 0 {
            quota::PATCH_OVERLAY_BYTES.read(self.source.file(), patches, sink);
        }
        if self.size * 10 > FILE_CAP * 9 && self.size <= FILE_CAP {
            let headroom = FILE_CAP - self.size;
            let records: Vec<String> =
                self.largest.iter().rev().map(|large| format!("line {} ({})", large.line, bytes(large.len))).collect();
            let message =
                format!("{} are left below the cap of {FILE_CAP}; the largest records are {}.", bytes(headroom), records.join(", "));
            sink.push(Finding::new(&codes::NEAR_PER_FILE_CAP, self.source.file(), message));
        }
        if self.size > BOUNDED_CAP {
            let message = format!("The file has {} bytes; gjc reads none above {BOUNDED_CAP}.", self.size);
            sink.push(Finding::new(&codes::OVERSIZED, self.source.file(), message));
        } else if self.size > FILE_CAP && storage == Storage::Legacy {
            let message =
                format!("The file has {} bytes; gjc opens a legacy transcript as a copy, and copies {FILE_CAP} at most.", self.size);
            sink.push(Finding::new(&codes::OVERSIZED, self.source.file(), message));
        } else if let (true, Some(Err(Refused { refusal, line }))) = (self.size > FILE_CAP, bounded) {
            let token = refusal.token();
            let refuses = format!("The bounded open refuses line {line}: {}.", refusal.words());
            let code = refusal_code(refusal);
            let told = if code.is_none() { format!(" {refuses}") } else { String::new() };
            let message = format!(
                "The file has {} bytes; above {FILE_CAP} only the bounded open is left, and it refuses ({token}).{told}",
                self.size
            );
            sink.push(Finding::new(&codes::OVERSIZED, self.source.file(), message));
            if let Some(code) = code {
                sink.push(Finding::new(code, self.source.line(line), refuses));
            }
        }
    }
}

/// Readings of the size of a transcript.
pub fn of_file(place: &Place, size: u64, sink: &mut dyn Sink) {
    sink.gauge(quota::TRANSCRIPT_BYTES.gauge(Arc::clone(&place.path), size));
    if size > FILE_CAP {
        quota::BOUNDED_TRANSCRIPT_BYTES.read(place.clone(), size, sink);
    }
}

/// The code that says the same; none for a refusal that spec 05 has as a verdict only.
fn refusal_code(refusal: Refusal) -> Option<&'static Code> {
    Some(match refusal {
        Refusal::Unterminated => &codes::BOUNDED_SCAN_UNTERMINATED,
        Refusal::OversizedLine => &codes::BOUNDED_SCAN_OVERSIZED_LINE,
        Refusal::Malformed => &codes::BOUNDED_SCAN_MALFORMED,
        Refusal::Unsupported => &codes::BOUNDED_SCAN_UNSUPPORTED,
        Refusal::Branch => &codes::BOUNDED_SCAN_BRANCH,
        Refusal::MissingParent => &codes::BOUNDED_SCAN_MISSING_PARENT,
        Refusal::Duplicate => &codes::BOUNDED_SCAN_DUPLICATE,
        Refusal::InvalidCompaction => &codes::BOUNDED_SCAN_INVALID_COMPACTION,
        Refusal::Budget => &codes::BOUNDED_SCAN_BUDGET,
        Refusal::BuildFailed => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Collected;
    use crate::json::jsonl::Strict;

    /// What a file gives whose last line, of `len` bytes with its LF, begins at `offset`.
    fn found(managed: bool, offset: u64, len: usize, bounded: Option<Result<(), Refused>>) -> Vec<String> {
        found_in(if managed { Storage::Managed } else { Storage::Lone }, offset, len, bounded)
    }
    fn found_in(storage: Storage, offset: u64, len: usize, bounded: Option<Result<(), Refused>>) -> Vec<String> {
        let source = Source { path: "t.jsonl".into(), managed: storage != Storage::Lone };
        let raw = vec![b'x'; len - 1];
        let line = Line { number: 9, offset, raw: &raw, text: &raw, has_lf: true, invalid_utf8: None, strict: Strict::Empty, value: None };
        let mut sink = Collected::default();
        let mut pass = SizePass::new(&source);
        pass.line(&line, &mut sink);
        pass.finish(bounded, storage, 0, &mut sink);
        assert_eq!(sink.gauges[0].used, offset + len as u64);
        sink.findings.iter().map(|finding| format!("{}@{}", finding.code.name, finding.place.line.unwrap_or_default())).collect()
    }
    const NOTHING: [&str; 0] = [];

    #[test]
    fn a_long_line_is_refused_in_managed_storage_and_may_come_there() {
        let cap = usize::try_from(LINE_CAP).expect("the cap fits");
        assert_eq!(found(true, 0, cap, None), ["limit_near@9"]);
        assert_eq!(found(true, 0, cap + 1, None), ["line_too_long@9"]);
        assert_eq!(found(false, 0, cap + 1, None), ["line_too_long_for_managed@9"]);
    }

    #[test]
    fn a_file_is_near_its_cap_above_nine_tenths_and_up_to_the_cap() {
        // 90 % of the cap are 120,795,955.2 bytes.
        assert_eq!(found(false, 120_795_945, 10, None), NOTHING);
        assert_eq!(found(false, 120_795_946, 10, None), ["near_per_file_cap@0"]);
        assert_eq!(found(false, FILE_CAP - 10, 10, Some(Ok(()))), ["near_per_file_cap@0"]);
    }

    #[test]
    fn above_the_cap_the_bounded_open_decides_and_above_its_own_nothing_helps() {
        assert_eq!(found(false, FILE_CAP - 9, 10, Some(Ok(()))), NOTHING);
        for (refusal, code) in [
            (Refusal::Unterminated, "bounded_scan_unterminated@3"),
            (Refusal::OversizedLine, "bounded_scan_oversized_line@3"),
            (Refusal::Malformed, "bounded_scan_malformed@3"),
            (Refusal::Unsupported, "bounded_scan_unsupported@3"),
            (Refusal::Branch, "bounded_scan_branch@3"),
            (Refusal::MissingParent, "bounded_scan_missing_parent@3"),
            (Refusal::Duplicate, "bounded_scan_duplicate@3"),
            (Refusal::InvalidCompaction, "bounded_scan_invalid_compaction@3"),
            (Refusal::Budget, "bounded_scan_budget@3"),
        ] {
            assert_eq!(found(false, FILE_CAP, 10, Some(Err(Refused { refusal, line: 3 }))), ["oversized@0", code]);
            assert_eq!(found(false, FILE_CAP - 10, 10, Some(Err(Refused { refusal, line: 3 }))), ["near_per_file_cap@0"]);
        }
        // That the index cannot be built is a verdict of the reader, and no code.
        let no_index = Some(Err(Refused { refusal: Refusal::BuildFailed, line: 3 }));
        assert_eq!(found(false, FILE_CAP, 10, no_index), ["oversized@0"]);
        assert_eq!(found(false, BOUNDED_CAP, 10, Some(Ok(()))), ["oversized@0"]);
    }

    #[test]
    fn a_file_above_the_cap_is_measured_against_what_the_bounded_open_and_its_fork_take() {
        let of = |size: u64, patches: u64| {
            let source = Source { path: "t.jsonl".into(), managed: true };
            let mut sink = Collected::default();
            SizePass { size, ..SizePass::new(&source) }.finish(Some(Ok(())), Storage::Managed, patches, &mut sink);
            let gauges = sink.gauges.iter().map(|gauge| (gauge.name, gauge.used)).collect::<Vec<_>>();
            (gauges, sink.findings.iter().map(|finding| finding.code.name).collect::<Vec<_>>())
        };
        assert_eq!(of(FILE_CAP, 10).0, [("transcript_bytes", FILE_CAP)]);
        let above = [("transcript_bytes", FILE_CAP + 1), ("bounded_transcript_bytes", FILE_CAP + 1)];
        assert_eq!(of(FILE_CAP + 1, 0), (above.to_vec(), vec![]));
        assert_eq!(of(FILE_CAP + 1, 8 << 20).0.last(), Some(&("patch_overlay_bytes", 8 << 20)));
        assert_eq!(of(FILE_CAP + 1, 7_549_748).1, ["limit_near"]);
        assert_eq!(of(1_933_679_001, 0).1, [""; 0]);
        assert_eq!(of(1_933_679_002, 0).1, ["limit_near"]);
        assert_eq!(of(BOUNDED_CAP + 1, 0).1, ["oversized"]);
    }

    #[test]
    fn a_legacy_file_above_the_cap_is_never_copied_so_the_bounded_open_does_not_help() {
        assert_eq!(found_in(Storage::Managed, FILE_CAP - 9, 10, Some(Ok(()))), NOTHING);
        assert_eq!(found_in(Storage::Legacy, FILE_CAP - 9, 10, Some(Ok(()))), ["oversized@0"]);
        assert_eq!(found_in(Storage::Legacy, FILE_CAP - 10, 10, Some(Ok(()))), ["near_per_file_cap@0"]);
    }

    #[test]
    fn canonical_base64_survives_decoding_and_encoding() {
        for (text, canonical) in [
            ("YWJj".repeat(3000), true),
            (format!("{}YQ==", "YWJj".repeat(1023)), true),
            (format!("{}YQ==", "YWJj".repeat(3000)), true),
            // Trailing bits, no padding, URL alphabet, white space, padding inside.
            ("YR==".to_owned(), false),
            ("YWJ".to_owned(), false),
            ("YW-_".to_owned(), false),
            ("YWJj YWJj".to_owned(), false),
            (format!("{}YQ=={}", "YWJj".repeat(1023), "YWJj".repeat(4)), false),
        ] {
            assert_eq!(is_canonical_base64(text.as_bytes()), canonical, "{:.20}", text);
        }
    }
}
