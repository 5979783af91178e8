//! Codes of the area *header* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `empty_transcript`
pub static EMPTY_TRANSCRIPT: Code = Code {
    name: "empty_transcript",
    token: None,
    area: "header",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the file has no bytes or only blank lines",
    gjc: "L `[]`; S `malformed`; list `invalid_header`",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `header_not_first`
pub static HEADER_NOT_FIRST: Code = Code {
    name: "header_not_first",
    token: None,
    area: "header",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "values exist and the first one that is no patch record is not an object with `type` `session`",
    gjc: "L `[]`; S, M `malformed`; list `invalid_header`; gjc refuses it and never overwrites it",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `header_invalid`
pub static HEADER_INVALID: Code = Code {
    name: "header_invalid",
    token: None,
    area: "header",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the header's `id` is not a string, or its `cwd` or `timestamp` is not a string",
    gjc: "S `malformed`; for `id` also L `[]`; for `id` and `cwd` also list `invalid_header`",
    help: "",
    section: "01 §2.2, §2.4",
    since: "0.1.0",
};

/// `header_line_too_long`
pub static HEADER_LINE_TOO_LONG: Code = Code {
    name: "header_line_too_long",
    token: None,
    area: "header",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: no LF within the first 65,536 bytes",
    gjc: "list `invalid_header`",
    help: "",
    section: "02 §5.3.1a",
    since: "0.1.0",
};

/// `header_id_empty`
pub static HEADER_ID_EMPTY: Code = Code {
    name: "header_id_empty",
    token: None,
    area: "header",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the header's `id` is the empty string",
    gjc: "I `header`; `--resume` finds it only by its file name",
    help: "",
    section: "01 §1",
    since: "0.1.0",
};

/// `header_id_grammar`
pub static HEADER_ID_GRAMMAR: Code = Code {
    name: "header_id_grammar",
    token: None,
    area: "header",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "not empty, and the header's `id` matches neither UUIDv7 nor `^[A-Za-z0-9._-]{1,128}$`",
    gjc: "none; not written by gjc",
    help: "",
    section: "01 §1",
    since: "0.1.0",
};

/// `header_field_type`
pub static HEADER_FIELD_TYPE: Code = Code {
    name: "header_field_type",
    token: None,
    area: "header",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`title` or `parentSession` not a string, `titleSource` not `auto`/`user`, `starred` not boolean, or `starredPatchVersion` present and not 1",
    gjc: "lists ignore or misread the field",
    help: "",
    section: "01 §3.1",
    since: "0.1.0",
};

/// `header_timestamp_invalid`
pub static HEADER_TIMESTAMP_INVALID: Code = Code {
    name: "header_timestamp_invalid",
    token: None,
    area: "header",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the header's `timestamp` is a string that JavaScript `Date` cannot parse",
    gjc: "list shows an invalid creation date (null)",
    help: "",
    section: "04 §2.4",
    since: "0.1.0",
};

/// `multiple_headers`
pub static MULTIPLE_HEADERS: Code = Code {
    name: "multiple_headers",
    token: None,
    area: "header",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "more than one record has `type` `session`",
    gjc: "only the first counts; in v1/v2 files the others are written back as version 3; R refuses",
    help: "",
    section: "01 §2.2, §6",
    since: "0.1.0",
};

/// `unsupported_session_version`
pub static UNSUPPORTED_SESSION_VERSION: Code = Code {
    name: "unsupported_session_version",
    token: Some("Unsupported session version"),
    area: "header",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`version` of the first `session` record is present and not an integral number ≤ 5",
    gjc: "L throws; S `malformed`; P and lists skip the file",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `legacy_version`
pub static LEGACY_VERSION: Code = Code {
    name: "legacy_version",
    token: None,
    area: "header",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the header's `version` is absent or an integer 1 to 4",
    gjc: "opening and closing for writing rewrites the whole file as version 5",
    help: "",
    section: "01 §6; vectors README 27",
    since: "0.1.0",
};

/// `version_out_of_range`
pub static VERSION_OUT_OF_RANGE: Code = Code {
    name: "version_out_of_range",
    token: None,
    area: "header",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the header's `version` is ≤ 0",
    gjc: "treated as 1: all entry ids are regenerated",
    help: "",
    section: "01 §6",
    since: "0.1.0",
};

/// `filename_header_mismatch`
pub static FILENAME_HEADER_MISMATCH: Code = Code {
    name: "filename_header_mismatch",
    token: None,
    area: "header",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: the base name is not `<stamp>_<id>.jsonl` of the header (say whether stamp or id differs)",
    gjc: "prefix matching uses both names",
    help: "",
    section: "01 §1; 04 §1.4, §3.1",
    since: "0.1.0",
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
