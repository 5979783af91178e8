//! Codes of the area *size and caps* (spec 05).

use crate::finding::{Class, Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("size and caps");

/// `oversized`
pub static OVERSIZED: Code = Code {
    name: "oversized",
    token: Some("oversized"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "S `oversized`; migrate `managed_storage_unsupported`; exit bit 2",
    summary: "The transcript is larger than gjc can open.",
    gjc: "gjc refuses to resume it (`oversized`); a legacy one cannot be migrated (`managed_storage_unsupported`). The file is not damaged.",
    help: "Keep it as an archive and go on in a new session. Above 128 MiB only a strictly linear version 5 file with a compaction can be opened. This is a limit, not damage.",
    section: "01 §1, §2.3.3; 04 §4.6",
    ..AREA
};

/// `near_per_file_cap`
pub static NEAR_PER_FILE_CAP: Code = Code {
    name: "near_per_file_cap",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    verdict: "one more large append fails: `near_limit_append` (0.17), `content_too_large` (0.15)",
    summary: "The transcript is close to the 128 MiB limit.",
    gjc: "It works today. When the next record does not fit, the append fails: `near_limit_append` (0.17) or `content_too_large` (0.15). `/compact` adds a record and does not shrink the file.",
    help: "Go on in a new session (fork from a recent point) before the limit is reached. The largest records are named in the message.",
    section: "01 §1, §12",
    ..AREA
};

/// `line_too_long`
pub static LINE_TOO_LONG: Code = Code {
    name: "line_too_long",
    severity: Severity::Error,
    verdict: "M `malformed`; R `bounded_scan_oversized_line`",
    summary: "A line in managed storage is longer than 8 MiB.",
    gjc: "gjc refuses to open the session for writing (`malformed`), although the check before it accepts the file and gjc itself may have written the line.",
    help: "Keep the original. In a copy outside managed storage the session can be opened by path; there, fork from before the record, or shorten its largest text.",
    section: "01 §2.8",
    ..AREA
};

/// `line_too_long_for_managed`
pub static LINE_TOO_LONG_FOR_MANAGED: Code = Code {
    name: "line_too_long_for_managed",
    severity: Severity::Warning,
    verdict: "`/move` brings it into managed storage, where M refuses it",
    summary: "A line is longer than 8 MiB, which managed storage does not accept.",
    gjc: "It works where it is. After `/move` into managed storage the session can no longer be opened for writing.",
    help: "Leave the session where it is, or fork from before the record.",
    section: "01 §2.8; 04 §9.5",
    ..AREA
};

/// `string_over_limit`
pub static STRING_OVER_LIMIT: Code = Code {
    name: "string_over_limit",
    severity: Severity::Info,
    verdict: "the next rewrite cuts it (signatures become empty)",
    summary: "A text is longer than 500,000 characters.",
    gjc: "The next rewrite cuts it and adds a notice; a signature becomes empty.",
    help: "Copy the text out before the session is used again, if you need the whole of it.",
    section: "01 §8.4",
    ..AREA
};

/// `truncated_content`
pub static TRUNCATED_CONTENT: Code = Code {
    name: "truncated_content",
    severity: Severity::Info,
    verdict: "content was cut when it was written",
    summary: "A text was cut when it was stored.",
    gjc: "gjc wrote the notice at its end; the rest is not in the file.",
    help: "Nothing can be done here; the tool's own output may still exist as an artifact.",
    section: "01 §8.4",
    ..AREA
};

/// `inline_image_over_threshold`
pub static INLINE_IMAGE_OVER_THRESHOLD: Code = Code {
    name: "inline_image_over_threshold",
    severity: Severity::Info,
    verdict: "the next rewrite moves it to the blob store",
    summary: "An image is stored inside the transcript instead of in the blob store.",
    gjc: "The next rewrite moves it to the blob store.",
    help: "Nothing needs to be done.",
    section: "01 §8.4",
    ..AREA
};

/// `edit_snapshot_inline`
pub static EDIT_SNAPSHOT_INLINE: Code = Code {
    name: "edit_snapshot_inline",
    severity: Severity::Info,
    verdict: "the next rewrite may externalise it (one container per pass)",
    summary: "A tool result holds a whole file before or after an edit.",
    gjc: "The next rewrite may move it out, one at a time.",
    help: "Nothing needs to be done. If the transcript is large, this is where its size comes from.",
    section: "01 §8.4",
    ..AREA
};

/// `bounded_scan_unterminated`
pub static BOUNDED_SCAN_UNTERMINATED: Code = Code {
    name: "bounded_scan_unterminated",
    token: Some("bounded_scan_unterminated"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "In a transcript above 128 MiB the last line has no line end.",
    gjc: "Only the bounded reader could open a file this large, and it refuses; gjc answers `oversized`.",
    help: "Back up the file. If the last record is complete, append one line feed; if it is torn, cut it.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_oversized_line`
pub static BOUNDED_SCAN_OVERSIZED_LINE: Code = Code {
    name: "bounded_scan_oversized_line",
    token: Some("bounded_scan_oversized_line"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "In a transcript above 128 MiB a line is longer than 8 MiB.",
    gjc: "Only the bounded reader could open a file this large, and it refuses; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_malformed`
pub static BOUNDED_SCAN_MALFORMED: Code = Code {
    name: "bounded_scan_malformed",
    token: Some("bounded_scan_malformed"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "In a transcript above 128 MiB a line is empty, broken, or a patch record.",
    gjc: "Only the bounded reader could open a file this large, and it accepts no patches and no bad line; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_unsupported`
pub static BOUNDED_SCAN_UNSUPPORTED: Code = Code {
    name: "bounded_scan_unsupported",
    token: Some("bounded_scan_unsupported"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "In a transcript above 128 MiB an entry is incomplete, or the header is not version 5.",
    gjc: "Only the bounded reader could open a file this large, and it refuses; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session.",
    section: "01 §2.7; 04 §4.6",
    ..AREA
};

/// `bounded_scan_branch`
pub static BOUNDED_SCAN_BRANCH: Code = Code {
    name: "bounded_scan_branch",
    token: Some("bounded_scan_branch"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "A transcript above 128 MiB has branches.",
    gjc: "Only the bounded reader could open a file this large, and it accepts a single line of history; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_missing_parent`
pub static BOUNDED_SCAN_MISSING_PARENT: Code = Code {
    name: "bounded_scan_missing_parent",
    token: Some("bounded_scan_missing_parent"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "In a transcript above 128 MiB an entry's parent does not stand before it.",
    gjc: "Only the bounded reader could open a file this large, and it refuses; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_duplicate`
pub static BOUNDED_SCAN_DUPLICATE: Code = Code {
    name: "bounded_scan_duplicate",
    token: Some("bounded_scan_duplicate"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "In a transcript above 128 MiB an id occurs twice.",
    gjc: "Only the bounded reader could open a file this large, and it refuses; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_invalid_compaction`
pub static BOUNDED_SCAN_INVALID_COMPACTION: Code = Code {
    name: "bounded_scan_invalid_compaction",
    token: Some("bounded_scan_invalid_compaction"),
    severity: Severity::Error,
    verdict: "R refuses; S `oversized`",
    summary: "A transcript above 128 MiB has no usable compaction.",
    gjc: "Only the bounded reader could open a file this large, and it needs a compaction whose kept boundary stands before it; gjc answers `oversized`.",
    help: "Keep the file as an archive and go on in a new session. Next time compact before the file reaches 128 MiB.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_scan_budget`
pub static BOUNDED_SCAN_BUDGET: Code = Code {
    name: "bounded_scan_budget",
    token: Some("bounded_scan_budget"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "R refuses; S `oversized`; exit bit 2",
    summary: "A transcript above 128 MiB needs more than the bounded reader's budget.",
    gjc: "gjc answers `oversized`. The file is not damaged.",
    help: "Keep the file as an archive and go on in a new session. This is a limit, not damage.",
    section: "01 §2.7",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &OVERSIZED,
    &NEAR_PER_FILE_CAP,
    &LINE_TOO_LONG,
    &LINE_TOO_LONG_FOR_MANAGED,
    &STRING_OVER_LIMIT,
    &TRUNCATED_CONTENT,
    &INLINE_IMAGE_OVER_THRESHOLD,
    &EDIT_SNAPSHOT_INLINE,
    &BOUNDED_SCAN_UNTERMINATED,
    &BOUNDED_SCAN_OVERSIZED_LINE,
    &BOUNDED_SCAN_MALFORMED,
    &BOUNDED_SCAN_UNSUPPORTED,
    &BOUNDED_SCAN_BRANCH,
    &BOUNDED_SCAN_MISSING_PARENT,
    &BOUNDED_SCAN_DUPLICATE,
    &BOUNDED_SCAN_INVALID_COMPACTION,
    &BOUNDED_SCAN_BUDGET,
];
