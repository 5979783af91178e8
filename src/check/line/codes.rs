//! Codes of the area *line* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `invalid_utf8`
pub static INVALID_UTF8: Code = Code {
    name: "invalid_utf8",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "fatal UTF-8 decoding fails (one leading BOM removed); byte offset of the first bad byte",
    gjc: "S, M, R `malformed`; L stores U+FFFD",
    help: "",
    section: "01 §2.3.5",
    since: "0.1.0",
};

/// `utf8_bom`
pub static UTF8_BOM: Code = Code {
    name: "utf8_bom",
    token: None,
    area: "line",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the file begins with exactly one EF BB BF",
    gjc: "managed: list `unreadable_candidate`; K refuses; S and L accept",
    help: "",
    section: "01 §2.3.5, §2.8, §5.4",
    since: "0.1.0",
};

/// `utf8_bom_repeated`
pub static UTF8_BOM_REPEATED: Code = Code {
    name: "utf8_bom_repeated",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the file begins with two or more EF BB BF",
    gjc: "L `[]`; S `malformed`",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `utf16_bom`
pub static UTF16_BOM: Code = Code {
    name: "utf16_bom",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the file begins with FF FE or FE FF",
    gjc: "S `malformed`; L reads FF FE as UTF-16LE",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `json_syntax`
pub static JSON_SYNTAX: Code = Code {
    name: "json_syntax",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a non-empty `\\r?\\n` piece fails `JSON.parse` and no more specific code of this area applies",
    gjc: "S, M, R `malformed`; L drops the line",
    help: "",
    section: "01 §2.1, §2.3.6",
    since: "0.1.0",
};

/// `whitespace_only_line`
pub static WHITESPACE_ONLY_LINE: Code = Code {
    name: "whitespace_only_line",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a piece consists of spaces, tabs or CR only",
    gjc: "S, M `malformed`; L ignores it",
    help: "",
    section: "01 §2.3.6",
    since: "0.1.0",
};

/// `truncated_last_line`
pub static TRUNCATED_LAST_LINE: Code = Code {
    name: "truncated_last_line",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the last piece has no final LF and ends inside a value. Order of the line codes: `glued_records`, `fused_line`, `truncated_last_line`, `json_syntax`",
    gjc: "S `malformed`; R `bounded_scan_unterminated`; L drops it",
    help: "",
    section: "01 §2.3.6",
    since: "0.1.0",
};

/// `glued_records`
pub static GLUED_RECORDS: Code = Code {
    name: "glued_records",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a line holds two or more complete JSON values with nothing, spaces or tabs between them",
    gjc: "S `malformed`; L keeps the first value of the line",
    help: "",
    section: "01 §2.1",
    since: "0.1.0",
};

/// `fused_line`
pub static FUSED_LINE: Code = Code {
    name: "fused_line",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a line begins with an incomplete value, and from byte column c on holds one or more complete records of their own",
    gjc: "S `malformed`; L drops both records",
    help: "",
    section: "01 §2.1; field O2",
    since: "0.1.0",
};

/// `record_spans_lines`
pub static RECORD_SPANS_LINES: Code = Code {
    name: "record_spans_lines",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "L yields one value whose text covers two or more lines and swallows no record",
    gjc: "S `malformed`; L accepts it",
    help: "",
    section: "01 §2.1.2",
    since: "0.1.0",
};

/// `lenient_swallow`
pub static LENIENT_SWALLOW: Code = Code {
    name: "lenient_swallow",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a value that L begins on one line and that is complete or incomplete (not failed) covers a following line that begins, at column 1, with a complete record of its own; count them",
    gjc: "S `malformed`; L loses those records",
    help: "",
    section: "01 §2.1.5",
    since: "0.1.0",
};

/// `nul_run`
pub static NUL_RUN: Code = Code {
    name: "nul_run",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a line contains a raw 0x00 byte (count, and whether a complete record follows on that line)",
    gjc: "S `malformed`; L drops the line",
    help: "",
    section: "01 §2.1; field S2",
    since: "0.1.0",
};

/// `conflict_markers`
pub static CONFLICT_MARKERS: Code = Code {
    name: "conflict_markers",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a line begins with seven `<`, `=`, `>` or `|` followed by a space or the line end",
    gjc: "S `malformed`; L drops the line; both sides of the merge stay in the file",
    help: "",
    section: "01 §2.1",
    since: "0.1.0",
};

/// `missing_final_newline`
pub static MISSING_FINAL_NEWLINE: Code = Code {
    name: "missing_final_newline",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the last piece is not empty and passes `JSON.parse`, or is `glued_records` or `fused_line`",
    gjc: "next append glues its record to this one: S then `malformed`, L loses the new record; R `bounded_scan_unterminated`",
    help: "",
    section: "01 §8.1; 04 §7.3",
    since: "0.1.0",
};

/// `crlf_blank_line`
pub static CRLF_BLANK_LINE: Code = Code {
    name: "crlf_blank_line",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: a line is exactly CR LF",
    gjc: "M `malformed`; S accepts",
    help: "",
    section: "01 §2.8",
    since: "0.1.0",
};

/// `null_record`
pub static NULL_RECORD: Code = Code {
    name: "null_record",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a line is the JSON value `null`",
    gjc: "L throws TypeError; S `malformed`; P and lists skip the file",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `non_object_record`
pub static NON_OBJECT_RECORD: Code = Code {
    name: "non_object_record",
    token: None,
    area: "line",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a line is a JSON number, string, boolean or array",
    gjc: "S `malformed`; L keeps it as an entry",
    help: "",
    section: "01 §2.2, §2.3",
    since: "0.1.0",
};

/// `blank_lines`
pub static BLANK_LINES: Code = Code {
    name: "blank_lines",
    token: None,
    area: "line",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "empty pieces exist (count)",
    gjc: "none",
    help: "",
    section: "01 §2.3.6",
    since: "0.1.0",
};

/// `crlf_line_endings`
pub static CRLF_LINE_ENDINGS: Code = Code {
    name: "crlf_line_endings",
    token: None,
    area: "line",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "lines end in CR LF (count; mixed or not)",
    gjc: "none",
    help: "",
    section: "01 §2.1",
    since: "0.1.0",
};

/// `padded_lines`
pub static PADDED_LINES: Code = Code {
    name: "padded_lines",
    token: None,
    area: "line",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "spaces or tabs stand before or after a value on its line (count)",
    gjc: "none",
    help: "",
    section: "01 §2.3.6",
    since: "0.1.0",
};

/// `duplicate_json_key`
pub static DUPLICATE_JSON_KEY: Code = Code {
    name: "duplicate_json_key",
    token: None,
    area: "line",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an object of a record repeats a key (pointer)",
    gjc: "last value wins; the other is lost on the next rewrite",
    help: "",
    section: "01 §2.1, §8.2",
    since: "0.1.0",
};

/// `number_precision`
pub static NUMBER_PRECISION: Code = Code {
    name: "number_precision",
    token: None,
    area: "line",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a number token's decimal value differs from the double it is read as, overflow to infinity included",
    gjc: "changed on the next rewrite (infinity becomes null)",
    help: "",
    section: "01 §8.2",
    since: "0.1.0",
};

/// `lone_surrogate`
pub static LONE_SURROGATE: Code = Code {
    name: "lone_surrogate",
    token: None,
    area: "line",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a decoded string holds an unpaired surrogate",
    gjc: "a rewrite turns it into U+FFFD when the string has 1,024 units or more",
    help: "",
    section: "01 §2.1, §8.4; vectors README 30",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &INVALID_UTF8,
    &UTF8_BOM,
    &UTF8_BOM_REPEATED,
    &UTF16_BOM,
    &JSON_SYNTAX,
    &WHITESPACE_ONLY_LINE,
    &TRUNCATED_LAST_LINE,
    &GLUED_RECORDS,
    &FUSED_LINE,
    &RECORD_SPANS_LINES,
    &LENIENT_SWALLOW,
    &NUL_RUN,
    &CONFLICT_MARKERS,
    &MISSING_FINAL_NEWLINE,
    &CRLF_BLANK_LINE,
    &NULL_RECORD,
    &NON_OBJECT_RECORD,
    &BLANK_LINES,
    &CRLF_LINE_ENDINGS,
    &PADDED_LINES,
    &DUPLICATE_JSON_KEY,
    &NUMBER_PRECISION,
    &LONE_SURROGATE,
];
