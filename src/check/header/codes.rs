//! Codes of the area *header* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("header");

/// `empty_transcript`
pub static EMPTY_TRANSCRIPT: Code = Code {
    name: "empty_transcript",
    severity: Severity::Error,
    fatal: true,
    verdict: "L `[]`; S `malformed`; list `invalid_header`",
    summary: "The file holds no record at all.",
    gjc: "gjc lists it as `invalid_header` and refuses to resume it (`malformed`). There is nothing to load.",
    help: "Look for a backup or a `.bak` beside it: the content may have been lost in a crash. The empty file itself holds nothing and may be moved away.",
    section: "01 §2.2",
    ..AREA
};

/// `header_not_first`
pub static HEADER_NOT_FIRST: Code = Code {
    name: "header_not_first",
    severity: Severity::Error,
    fatal: true,
    verdict: "L `[]`; S, M `malformed`; list `invalid_header`; gjc refuses it and never overwrites it; the picker may still list it under an id cut from its broken first line",
    summary: "The first record is not a session header.",
    gjc: "gjc loads nothing, lists the file as `invalid_header` and refuses it. It does not overwrite it; the records behind are intact.",
    help: "Keep the file. Restore the header as the first line: `{\"type\":\"session\",\"version\":5,\"id\":…,\"timestamp\":…,\"cwd\":…}`, with the id from the file name and the version that the records were written in.",
    section: "01 §2.2",
    ..AREA
};

/// `header_invalid`
pub static HEADER_INVALID: Code = Code {
    name: "header_invalid",
    severity: Severity::Error,
    fatal: true,
    verdict: "S `malformed`; for `id` also L `[]`; for `id` and `cwd` also list `invalid_header`",
    summary: "The header lacks a text `id`, `cwd` or `timestamp`.",
    gjc: "gjc refuses to resume the session (`malformed`). Without `id` nothing is loaded; without `id` or `cwd` it is not listed either (`invalid_header`).",
    help: "Back up the file and correct the named field of the header. The id stands in the file name, the timestamp in its first part, and `cwd` is the absolute workspace path.",
    section: "01 §2.2, §2.4",
    ..AREA
};

/// `header_line_too_long`
pub static HEADER_LINE_TOO_LONG: Code = Code {
    name: "header_line_too_long",
    severity: Severity::Error,
    verdict: "list `invalid_header`",
    summary: "The header line in managed storage is longer than 65,536 bytes.",
    gjc: "gjc does not list the session (`invalid_header`) and so cannot open it.",
    help: "Back up the file and shorten the header: keep `type`, `version`, `id`, `timestamp`, `cwd` and `title`. Whatever made it grow came from another tool.",
    section: "02 §5.3.1a",
    ..AREA
};

/// `header_id_empty`
pub static HEADER_ID_EMPTY: Code = Code {
    name: "header_id_empty",
    severity: Severity::Warning,
    verdict: "I `header`; `--resume` finds it only by its file name",
    summary: "The header's `id` is empty.",
    gjc: "The strict inventory refuses the file (`header`), and `--resume` finds it only by its file name.",
    help: "Put the id from the file name (behind the last `_`) into the header, with gjc stopped.",
    section: "01 §1",
    ..AREA
};

/// `header_id_grammar`
pub static HEADER_ID_GRAMMAR: Code = Code {
    name: "header_id_grammar",
    severity: Severity::Info,
    verdict: "none; not written by gjc",
    summary: "The header's `id` does not look like one that gjc writes.",
    gjc: "Nothing. gjc takes any text as an id.",
    help: "Nothing needs to be done. The file was made or edited by another tool.",
    section: "01 §1",
    ..AREA
};

/// `header_field_type`
pub static HEADER_FIELD_TYPE: Code = Code {
    name: "header_field_type",
    severity: Severity::Warning,
    verdict: "lists ignore or misread the field",
    summary: "A header field (title, title source, parent session or star) has the wrong type.",
    gjc: "Lists ignore or misread that field. Stars exist in 0.17 only.",
    help: "Set the title or the star again with gjc, or correct the field in the header with gjc stopped.",
    section: "01 §3.1",
    ..AREA
};

/// `header_timestamp_invalid`
pub static HEADER_TIMESTAMP_INVALID: Code = Code {
    name: "header_timestamp_invalid",
    severity: Severity::Warning,
    verdict: "list shows an invalid creation date (null)",
    summary: "The header's `timestamp` is not a date that JavaScript can read.",
    gjc: "Lists show no creation date. Everything else works.",
    help: "Nothing needs to be done. If it bothers you, write an ISO date such as 2026-01-31T12:00:00.000Z into the header with gjc stopped.",
    section: "04 §2.4",
    ..AREA
};

/// `multiple_headers`
pub static MULTIPLE_HEADERS: Code = Code {
    name: "multiple_headers",
    severity: Severity::Warning,
    verdict: "only the first counts; in v1/v2 files the others are written back as version 3; R refuses",
    summary: "The file holds more than one session header.",
    gjc: "Only the first counts; the others stay as ordinary entries. In files of version 1 or 2 migration writes them back as version 3, and above 128 MiB the file is refused.",
    help: "If two sessions were joined into one file, split them at the second header in copies. Otherwise remove the surplus header with gjc stopped.",
    section: "01 §2.2, §6",
    ..AREA
};

/// `unsupported_session_version`
pub static UNSUPPORTED_SESSION_VERSION: Code = Code {
    name: "unsupported_session_version",
    token: Some("Unsupported session version"),
    severity: Severity::Error,
    fatal: true,
    verdict: "L throws; S `malformed`; P and lists skip the file",
    summary: "The header's `version` is not one that gjc knows (1 to 5).",
    gjc: "gjc's loader throws `Unsupported session version`: the session is not listed and cannot be resumed.",
    help: "A number above 5 is of a newer gjc: use that one. A text, null or a fraction is none: correct it in a copy to the version that the file really has.",
    section: "01 §2.2",
    ..AREA
};

/// `legacy_version`
pub static LEGACY_VERSION: Code = Code {
    name: "legacy_version",
    severity: Severity::Info,
    verdict: "opening and closing for writing rewrites the whole file as version 5",
    summary: "The session was written in an older format version.",
    gjc: "gjc loads it. Opening and closing it for writing rewrites the whole file as version 5.",
    help: "Nothing needs to be done. Keep a backup if an older gjc must still read the session.",
    section: "01 §6; vectors README 27",
    ..AREA
};

/// `version_out_of_range`
pub static VERSION_OUT_OF_RANGE: Code = Code {
    name: "version_out_of_range",
    severity: Severity::Warning,
    verdict: "treated as 1: all entry ids are regenerated",
    summary: "The header's `version` is 0 or negative.",
    gjc: "gjc treats it as version 1: on the next write every entry id is generated anew and references by id dangle.",
    help: "Before opening the session, correct the version in the header to the one that the entries show: entries with `id` and `parentId` are version 2 or later.",
    section: "01 §6",
    ..AREA
};

/// `filename_header_mismatch`
pub static FILENAME_HEADER_MISMATCH: Code = Code {
    name: "filename_header_mismatch",
    severity: Severity::Info,
    verdict: "prefix matching uses both names",
    summary: "The file name does not match the header's timestamp or id.",
    gjc: "Nothing breaks: resuming by prefix looks at both names.",
    help: "Nothing needs to be done. If you copied the file, remember that both copies carry the same id.",
    section: "01 §1; 04 §1.4, §3.1",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &EMPTY_TRANSCRIPT,
    &HEADER_NOT_FIRST,
    &HEADER_INVALID,
    &HEADER_LINE_TOO_LONG,
    &HEADER_ID_EMPTY,
    &HEADER_ID_GRAMMAR,
    &HEADER_FIELD_TYPE,
    &HEADER_TIMESTAMP_INVALID,
    &MULTIPLE_HEADERS,
    &UNSUPPORTED_SESSION_VERSION,
    &LEGACY_VERSION,
    &VERSION_OUT_OF_RANGE,
    &FILENAME_HEADER_MISMATCH,
];
