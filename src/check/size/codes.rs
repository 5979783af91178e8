//! Codes of the area *size and caps* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `oversized`
pub static OVERSIZED: Code = Code {
    name: "oversized",
    token: Some("oversized"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and (size > 2,148,532,224, or R refuses, or memory mode or platform excludes the bounded open); legacy files: always",
    gjc: "S `oversized`; migrate `managed_storage_unsupported`; exit bit 2",
    help: "",
    section: "01 §1, §2.3.3; 04 §4.6",
    since: "0.1.0",
};

/// `near_per_file_cap`
pub static NEAR_PER_FILE_CAP: Code = Code {
    name: "near_per_file_cap",
    token: None,
    area: "size and caps",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 90 % of 134,217,728 and not above it (with headroom and the ten largest records)",
    gjc: "one more large append fails: `near_limit_append` (0.17), `content_too_large` (0.15)",
    help: "",
    section: "01 §1, §12",
    since: "0.1.0",
};

/// `line_too_long`
pub static LINE_TOO_LONG: Code = Code {
    name: "line_too_long",
    token: None,
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: a line, LF included, has more than 8,388,608 bytes",
    gjc: "M `malformed`; R `bounded_scan_oversized_line`",
    help: "",
    section: "01 §2.8",
    since: "0.1.0",
};

/// `line_too_long_for_managed`
pub static LINE_TOO_LONG_FOR_MANAGED: Code = Code {
    name: "line_too_long_for_managed",
    token: None,
    area: "size and caps",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "outside the managed root: the same",
    gjc: "`/move` brings it into managed storage, where M refuses it",
    help: "",
    section: "01 §2.8; 04 §9.5",
    since: "0.1.0",
};

/// `string_over_limit`
pub static STRING_OVER_LIMIT: Code = Code {
    name: "string_over_limit",
    token: None,
    area: "size and caps",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a string has more than 500,000 UTF-16 units",
    gjc: "the next rewrite cuts it (signatures become empty)",
    help: "",
    section: "01 §8.4",
    since: "0.1.0",
};

/// `truncated_content`
pub static TRUNCATED_CONTENT: Code = Code {
    name: "truncated_content",
    token: None,
    area: "size and caps",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a string ends with `[Session persistence truncated large content]`",
    gjc: "content was cut when it was written",
    help: "",
    section: "01 §8.4",
    since: "0.1.0",
};

/// `inline_image_over_threshold`
pub static INLINE_IMAGE_OVER_THRESHOLD: Code = Code {
    name: "inline_image_over_threshold",
    token: None,
    area: "size and caps",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an image block of a `content` array holds canonical base64 of 1,024 units or more, or an `image_url` is an inline base64 data URL",
    gjc: "the next rewrite moves it to the blob store",
    help: "",
    section: "01 §8.4",
    since: "0.1.0",
};

/// `edit_snapshot_inline`
pub static EDIT_SNAPSHOT_INLINE: Code = Code {
    name: "edit_snapshot_inline",
    token: None,
    area: "size and caps",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `toolResult`'s `details` holds `oldText` or `newText` of more than 16,384 units (bytes reclaimable)",
    gjc: "the next rewrite may externalise it (one container per pass)",
    help: "",
    section: "01 §8.4",
    since: "0.1.0",
};

/// `bounded_scan_unterminated`
pub static BOUNDED_SCAN_UNTERMINATED: Code = Code {
    name: "bounded_scan_unterminated",
    token: Some("bounded_scan_unterminated"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and the last line has no LF",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_oversized_line`
pub static BOUNDED_SCAN_OVERSIZED_LINE: Code = Code {
    name: "bounded_scan_oversized_line",
    token: Some("bounded_scan_oversized_line"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and a line has more than 8,388,608 bytes",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_malformed`
pub static BOUNDED_SCAN_MALFORMED: Code = Code {
    name: "bounded_scan_malformed",
    token: Some("bounded_scan_malformed"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and a line is empty, no UTF-8, no JSON, or no record with string `type` and `id` (every patch record fails here)",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_unsupported`
pub static BOUNDED_SCAN_UNSUPPORTED: Code = Code {
    name: "bounded_scan_unsupported",
    token: Some("bounded_scan_unsupported"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and a record fails the strict schema, or the header is not version 5 (token for the header UNVERIFIED)",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7; 04 §4.6",
    since: "0.1.0",
};

/// `bounded_scan_branch`
pub static BOUNDED_SCAN_BRANCH: Code = Code {
    name: "bounded_scan_branch",
    token: Some("bounded_scan_branch"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and an entry's parent was seen but is not the previous entry",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_missing_parent`
pub static BOUNDED_SCAN_MISSING_PARENT: Code = Code {
    name: "bounded_scan_missing_parent",
    token: Some("bounded_scan_missing_parent"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and an entry's parent was never seen",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_duplicate`
pub static BOUNDED_SCAN_DUPLICATE: Code = Code {
    name: "bounded_scan_duplicate",
    token: Some("bounded_scan_duplicate"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and an id occurs twice",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_invalid_compaction`
pub static BOUNDED_SCAN_INVALID_COMPACTION: Code = Code {
    name: "bounded_scan_invalid_compaction",
    token: Some("bounded_scan_invalid_compaction"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and there is no compaction, or one whose `firstKeptEntryId` was not seen before it",
    gjc: "R refuses; S `oversized`",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_scan_budget`
pub static BOUNDED_SCAN_BUDGET: Code = Code {
    name: "bounded_scan_budget",
    token: Some("bounded_scan_budget"),
    area: "size and caps",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size > 134,217,728 and the bounded scan's budgets are exceeded",
    gjc: "R refuses; S `oversized`; exit bit 2",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
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
