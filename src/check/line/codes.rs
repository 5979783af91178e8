//! Codes of the area *line* (spec 05).

use crate::finding::{Code, Severity};

/// The tool's own answer to damaged lines.
macro_rules! salvage {
    () => {
        "`gjc-fsck repair --salvage FILE -o DIR` copies every complete record, and lists the rest."
    };
}
pub(in crate::check) use salvage;

/// gjc's answer to them. A managed file must pass reader M before it is forked, which most damage fails.
macro_rules! fork {
    () => {
        "Outside managed storage, `gjc --fork PATH` keeps every record that parses."
    };
}
pub(in crate::check) use fork;

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("line");

/// `invalid_utf8`
pub static INVALID_UTF8: Code = Code {
    name: "invalid_utf8",
    severity: Severity::Error,
    verdict: "S, M, R `malformed`; L stores U+FFFD",
    summary: "The file holds bytes that are not valid UTF-8.",
    gjc: "gjc refuses to resume the session (`malformed`). A fork reads it leniently and stores U+FFFD for each bad sequence; a session in managed storage cannot be forked either.",
    help: concat!(
        "Keep the original, and repair the bytes at the named offset in a copy with an editor that shows them. ",
        salvage!(),
        " It puts U+FFFD for bytes that are no UTF-8. ",
        fork!()
    ),
    section: "01 §2.3.5",
    ..AREA
};

/// `utf8_bom`
pub static UTF8_BOM: Code = Code {
    name: "utf8_bom",
    severity: Severity::Warning,
    verdict: "managed: list `unreadable_candidate`; K refuses; S and L accept",
    summary: "The file begins with a UTF-8 byte order mark.",
    gjc: "Opened by path it works. In managed storage gjc does not accept the file as a session (`unreadable_candidate`), and in 0.17 starring it from the picker fails.",
    help: "With gjc stopped, remove the first three bytes (EF BB BF) of the file. An editor or a sync tool added them; gjc never writes them.",
    section: "01 §2.3.5, §2.8, §5.4",
    ..AREA
};

/// `utf8_bom_repeated`
pub static UTF8_BOM_REPEATED: Code = Code {
    name: "utf8_bom_repeated",
    severity: Severity::Error,
    verdict: "L `[]`; S `malformed`",
    summary: "The file begins with two or more UTF-8 byte order marks.",
    gjc: "gjc reads no record at all and refuses to resume the session (`malformed`).",
    help: "With gjc stopped, remove every byte before the first `{`. The records themselves are unharmed.",
    section: "01 §2.2",
    ..AREA
};

/// `utf16_bom`
pub static UTF16_BOM: Code = Code {
    name: "utf16_bom",
    severity: Severity::Error,
    fatal: true,
    verdict: "S `malformed`; L reads FF FE as UTF-16LE",
    summary: "The file is marked as UTF-16.",
    gjc: "gjc refuses to resume the session (`malformed`). Its lenient loader reads the FF FE form as UTF-16LE, nothing reads the other.",
    help: "Keep the original and convert a copy to UTF-8 without byte order mark, for example with `iconv -f UTF-16 -t UTF-8`.",
    section: "01 §2.2",
    ..AREA
};

/// `json_syntax`
pub static JSON_SYNTAX: Code = Code {
    name: "json_syntax",
    severity: Severity::Error,
    verdict: "S, M, R `malformed`; L drops the line, or what follows its first complete value",
    summary: "A line is not valid JSON.",
    gjc: "gjc refuses to resume the session (`malformed`). Its lenient loader drops the line, or what follows its first complete value, and everything that depends on it loses its parent.",
    help: concat!(
        "Keep the original and mend the line in a copy: it is usually a torn write or a manual edit. ",
        salvage!(),
        " ",
        fork!(),
        " If an entry loses its parent by that, let its `parentId` name the last entry before the damage."
    ),
    section: "01 §2.1, §2.3.6",
    ..AREA
};

/// `whitespace_only_line`
pub static WHITESPACE_ONLY_LINE: Code = Code {
    name: "whitespace_only_line",
    severity: Severity::Error,
    verdict: "S, M `malformed`; L ignores it",
    summary: "A line holds only blanks.",
    gjc: "gjc refuses to resume the session (`malformed`), also when it opens it in managed storage; the lenient loader ignores the line.",
    help: "Remove that one line, with gjc stopped and a backup made. No content is lost; truly empty lines are harmless.",
    section: "01 §2.3.6",
    ..AREA
};

/// `truncated_last_line`
pub static TRUNCATED_LAST_LINE: Code = Code {
    name: "truncated_last_line",
    severity: Severity::Error,
    verdict: "S `malformed`; R `bounded_scan_unterminated`; L drops it, or what follows its first complete value",
    summary: "The last line breaks off in the middle of a record.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader drops the unfinished record; the next append would be glued to it and lost as well.",
    help: concat!(
        "Cut the unfinished last line before gjc writes to the file, with gjc stopped and a backup made: only the record that was being written is lost. ",
        salvage!(),
        " ",
        fork!()
    ),
    section: "01 §2.3.6",
    ..AREA
};

/// `glued_records`
pub static GLUED_RECORDS: Code = Code {
    name: "glued_records",
    severity: Severity::Error,
    verdict: "S `malformed`; L keeps the first value of the line",
    summary: "Two or more complete records stand on one line.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader keeps the first record of the line and drops the others, so later history can lose its parent.",
    help: concat!(
        "Insert a line end between the records, with gjc stopped and a backup made: nothing is lost. ",
        salvage!(),
        " A fork would keep only the first of them."
    ),
    section: "01 §2.1",
    ..AREA
};

/// `fused_line`
pub static FUSED_LINE: Code = Code {
    name: "fused_line",
    severity: Severity::Error,
    verdict: "S `malformed`; L drops both records",
    summary: "A record broke off, and the next one was written onto the same line.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader drops both records.",
    help: concat!(
        "Put a line end before the complete record, which begins at the column named, and remove the torn beginning, in a copy; let its `parentId` name the last entry before the damage (version 1 has none), else the history before it is cut off. ",
        salvage!(),
        " A fork would lose both."
    ),
    section: "01 §2.1; field O2",
    ..AREA
};

/// `record_spans_lines`
pub static RECORD_SPANS_LINES: Code = Code {
    name: "record_spans_lines",
    severity: Severity::Error,
    verdict: "S `malformed`; L accepts it",
    summary: "One record is spread over several lines, as if pretty-printed.",
    gjc: "gjc refuses to resume the session (`malformed`), although its lenient loader reads the record.",
    help: concat!(
        "Join the record into one line in a copy. ",
        salvage!(),
        " ",
        fork!(),
        " Do not format transcripts with a JSON formatter."
    ),
    section: "01 §2.1.2",
    ..AREA
};

/// `lenient_swallow`
pub static LENIENT_SWALLOW: Code = Code {
    name: "lenient_swallow",
    severity: Severity::Error,
    verdict: "S `malformed`; L loses those records",
    summary: "An unfinished record swallows complete records on the lines that follow.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader reads the following records as part of the torn one, so they disappear without notice.",
    help: concat!(
        "Do not fork the file as it is: a fork would lose the swallowed records, which are intact. ",
        salvage!(),
        " By hand: complete or remove the torn line in a copy; where an entry names it as parent, let its `parentId` name the last entry before the damage."
    ),
    section: "01 §2.1.5",
    ..AREA
};

/// `nul_run`
pub static NUL_RUN: Code = Code {
    name: "nul_run",
    severity: Severity::Error,
    verdict: "S `malformed`; L drops the line, or what follows its first complete value",
    summary: "A line holds NUL bytes, as a crash or a full disk leaves them.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader drops the line, or what follows its first complete value.",
    help: concat!(
        "Remove the NUL bytes in a copy where a complete record follows them on the line, else the whole line. ",
        salvage!(),
        " If an entry then lacks its parent, let its `parentId` name the last entry before the damage. Check the disk and the file system as well."
    ),
    section: "01 §2.1; field S2",
    ..AREA
};

/// `conflict_markers`
pub static CONFLICT_MARKERS: Code = Code {
    name: "conflict_markers",
    severity: Severity::Error,
    verdict: "S `malformed`; L drops the line; both sides of the merge stay in the file",
    summary: "The file holds the conflict markers of a version control merge.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader drops the marker lines and reads both sides of the merge.",
    help: "Take one complete version of the transcript from version control instead of the merged text. Transcripts must not be merged line by line.",
    section: "01 §2.1",
    ..AREA
};

/// `missing_final_newline`
pub static MISSING_FINAL_NEWLINE: Code = Code {
    name: "missing_final_newline",
    severity: Severity::Error,
    verdict: "today nothing; the next append glues its record to this one (S is malformed then, L loses the new record); R `bounded_scan_unterminated`",
    summary: "The last record is complete, but no line end follows it.",
    gjc: "Today the session can be resumed. gjc's next append is glued to this record: the session is then refused and the new record lost. Above 128 MiB the file is refused now.",
    help: "Append one line feed to the file before the session is used again. That is the whole repair.",
    section: "01 §8.1; 04 §7.3",
    ..AREA
};

/// `crlf_blank_line`
pub static CRLF_BLANK_LINE: Code = Code {
    name: "crlf_blank_line",
    severity: Severity::Error,
    verdict: "M `malformed`; S accepts",
    summary: "A line in managed storage holds nothing but a carriage return.",
    gjc: "gjc refuses to open the session for writing (`malformed`), although the check before it accepts the file.",
    help: "Remove the empty line, or turn the line ends of the file into plain LF, with gjc stopped and a backup made.",
    section: "01 §2.8",
    ..AREA
};

/// `null_record`
pub static NULL_RECORD: Code = Code {
    name: "null_record",
    severity: Severity::Error,
    verdict: "L throws TypeError; S `malformed`; the picker skips the file; the recent list shows it when a title or a user text stands before the `null`",
    summary: "A line is the JSON value `null`.",
    gjc: "gjc's loader throws on it: the session cannot be resumed or forked and the picker skips it. The recent list may still show it when a title or a user text stands before the line.",
    help: "Remove that line, with gjc stopped and a backup made. It holds no content.",
    section: "01 §2.2",
    ..AREA
};

/// `non_object_record`
pub static NON_OBJECT_RECORD: Code = Code {
    name: "non_object_record",
    severity: Severity::Error,
    verdict: "S `malformed`; L keeps it as an entry",
    summary: "A line is a number, string, boolean or array instead of an object.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader keeps the value as an entry, so a fork carries it over.",
    help: "Remove that line, with gjc stopped and a backup made, when it is no fragment of a record that belongs together with its neighbours.",
    section: "01 §2.2, §2.3",
    ..AREA
};

/// `blank_lines`
pub static BLANK_LINES: Code = Code {
    name: "blank_lines",
    severity: Severity::Info,
    verdict: "none",
    summary: "The file holds empty lines.",
    gjc: "Nothing. gjc skips them, and never writes them itself.",
    help: "Nothing needs to be done. They show that another program touched the file.",
    section: "01 §2.3.6",
    ..AREA
};

/// `crlf_line_endings`
pub static CRLF_LINE_ENDINGS: Code = Code {
    name: "crlf_line_endings",
    severity: Severity::Info,
    verdict: "none",
    summary: "Lines end in CR LF.",
    gjc: "Nothing. gjc accepts them, and writes LF itself.",
    help: "Nothing needs to be done. Find the editor or sync tool that converts line ends, before it changes more than that.",
    section: "01 §2.1",
    ..AREA
};

/// `padded_lines`
pub static PADDED_LINES: Code = Code {
    name: "padded_lines",
    severity: Severity::Info,
    verdict: "none",
    summary: "Spaces or tabs stand before or after a record on its line.",
    gjc: "Nothing. gjc accepts them, and never writes them itself.",
    help: "Nothing needs to be done.",
    section: "01 §2.3.6",
    ..AREA
};

/// `duplicate_json_key`
pub static DUPLICATE_JSON_KEY: Code = Code {
    name: "duplicate_json_key",
    severity: Severity::Info,
    verdict: "last value wins; the other is lost on the next rewrite",
    summary: "An object of a record has the same key twice.",
    gjc: "The last value counts. The other one is lost when gjc next rewrites the file.",
    help: "Copy the earlier value out before the session is used again, if it matters. gjc never writes such records; find the tool that did.",
    section: "01 §2.1, §8.2",
    ..AREA
};

/// `number_precision`
pub static NUMBER_PRECISION: Code = Code {
    name: "number_precision",
    severity: Severity::Info,
    verdict: "changed on the next rewrite (infinity becomes null)",
    summary: "A number cannot be held exactly by JavaScript.",
    gjc: "gjc reads the nearest double. The next rewrite stores that; a number too large for a double becomes null.",
    help: "Copy the exact digits out before gjc rewrites the file, if they matter (ids of other systems, for example), and store them as a string.",
    section: "01 §8.2",
    ..AREA
};

/// `lone_surrogate`
pub static LONE_SURROGATE: Code = Code {
    name: "lone_surrogate",
    severity: Severity::Warning,
    verdict: "a rewrite turns it into U+FFFD when the string has 1,024 units or more",
    summary: "A text holds half of a UTF-16 pair, usually an emoji cut in the middle.",
    gjc: "gjc loads it. Many model providers refuse a request that holds it, and a rewrite turns it into U+FFFD when the text has 1,024 units or more.",
    help: "Replace the half character in a copy, or branch before the entry named here, when requests of this session are refused.",
    section: "01 §2.1, §8.4; vectors README 30",
    ..AREA
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
