//! Codes of the area *listing* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `listed_but_not_openable`
pub static LISTED_BUT_NOT_OPENABLE: Code = Code {
    name: "listed_but_not_openable",
    token: None,
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a listing accepts the file and S refuses it",
    gjc: "the picker shows it, opening fails",
    help: "",
    section: "04 §2.8, §4",
    since: "0.1.0",
};

/// `openable_but_not_listed`
pub static OPENABLE_BUT_NOT_LISTED: Code = Code {
    name: "openable_but_not_listed",
    token: None,
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "S accepts the file and the picker or the recent list leaves it out (name excluded; header line > 4,096 bytes; a prefix message without usable content)",
    gjc: "found only by path",
    help: "",
    section: "04 §2.1, §2.3; vectors README 41, 42",
    since: "0.1.0",
};

/// `recent_title_stale`
pub static RECENT_TITLE_STALE: Code = Code {
    name: "recent_title_stale",
    token: None,
    area: "listing",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "size ≤ 4,096 bytes and an effective title patch differs from the header title",
    gjc: "the recent list shows the old title",
    help: "",
    section: "04 §2.3",
    since: "0.1.0",
};

/// `duplicate_session_id`
pub static DUPLICATE_SESSION_ID: Code = Code {
    name: "duplicate_session_id",
    token: None,
    area: "listing",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two listed transcripts of one workspace have one header id, and none shadows the other",
    gjc: "the older is invisible in merged listings",
    help: "",
    section: "04 §2.7, §9.5",
    since: "0.1.0",
};

/// `id_prefix_ambiguous`
pub static ID_PREFIX_AMBIGUOUS: Code = Code {
    name: "id_prefix_ambiguous",
    token: None,
    area: "listing",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "ignoring case, a full id or base-name suffix is a prefix of another's in the same listing",
    gjc: "`--resume` takes the newest",
    help: "",
    section: "04 §3.1",
    since: "0.1.0",
};

/// `foreign_transcript`
pub static FOREIGN_TRANSCRIPT: Code = Code {
    name: "foreign_transcript",
    token: None,
    area: "listing",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript in a scope or legacy directory whose header cwd belongs to another workspace (count)",
    gjc: "not listed here",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `cwd_not_found`
pub static CWD_NOT_FOUND: Code = Code {
    name: "cwd_not_found",
    token: Some("cwd_not_found"),
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: the header cwd does not exist",
    gjc: "list: invalid; not openable for writing",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `cwd_not_directory`
pub static CWD_NOT_DIRECTORY: Code = Code {
    name: "cwd_not_directory",
    token: Some("cwd_not_directory"),
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: the header cwd is no directory",
    gjc: "list: invalid; not openable for writing",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `cwd_not_utf8`
pub static CWD_NOT_UTF8: Code = Code {
    name: "cwd_not_utf8",
    token: Some("cwd_not_utf8"),
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: the canonical path of the header cwd is not UTF-8",
    gjc: "list: invalid; not openable for writing",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `cwd_io_error`
pub static CWD_IO_ERROR: Code = Code {
    name: "cwd_io_error",
    token: Some("cwd_io_error"),
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "managed root: the header cwd cannot be resolved for another reason (NUL, EACCES, loop)",
    gjc: "list: invalid; not openable for writing",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `session_in_wrong_directory`
pub static SESSION_IN_WRONG_DIRECTORY: Code = Code {
    name: "session_in_wrong_directory",
    token: None,
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript lies directly in the agent directory or directly in the sessions root",
    gjc: "no managed listing visits it",
    help: "",
    section: "02 §1.3",
    since: "0.1.0",
};

/// `project_scan_limit`
pub static PROJECT_SCAN_LIMIT: Code = Code {
    name: "project_scan_limit",
    token: None,
    area: "listing",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`<cwd>/.gjc` holds more than 4,096 directories or more than 1,000 transcripts",
    gjc: "the rest is not listed",
    help: "",
    section: "04 §2.9",
    since: "0.1.0",
};

/// `parent_session_dangling`
pub static PARENT_SESSION_DANGLING: Code = Code {
    name: "parent_session_dangling",
    token: None,
    area: "listing",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a whole agent directory was checked and `parentSession` is an absent path, or an id that no transcript has",
    gjc: "none",
    help: "",
    section: "04 §9.1",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &LISTED_BUT_NOT_OPENABLE,
    &OPENABLE_BUT_NOT_LISTED,
    &RECENT_TITLE_STALE,
    &DUPLICATE_SESSION_ID,
    &ID_PREFIX_AMBIGUOUS,
    &FOREIGN_TRANSCRIPT,
    &CWD_NOT_FOUND,
    &CWD_NOT_DIRECTORY,
    &CWD_NOT_UTF8,
    &CWD_IO_ERROR,
    &SESSION_IN_WRONG_DIRECTORY,
    &PROJECT_SCAN_LIMIT,
    &PARENT_SESSION_DANGLING,
];
