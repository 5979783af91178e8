//! Codes of the area *listing* (spec 05).

use crate::finding::{Class, Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("listing");

/// `listed_but_not_openable`
pub static LISTED_BUT_NOT_OPENABLE: Code = Code {
    name: "listed_but_not_openable",
    severity: Severity::Warning,
    verdict: "the picker shows it, opening fails",
    summary: "The session is listed, but cannot be resumed.",
    gjc: "The picker shows it, and opening it fails.",
    help: "The other findings on this file say why, and what to do.",
    section: "04 §2.8, §4",
    ..AREA
};

/// `openable_but_not_listed`
pub static OPENABLE_BUT_NOT_LISTED: Code = Code {
    name: "openable_but_not_listed",
    severity: Severity::Warning,
    verdict: "found only by path",
    summary: "The session can be resumed, but a list leaves it out.",
    gjc: "It is found only by its path: its name is excluded, its header line is longer than 4,096 bytes, or its beginning holds a message without usable content.",
    help: "Open it by its path (`gjc --resume PATH`), or give the file the name that gjc would give it.",
    section: "04 §2.1, §2.3; vectors README 41, 42",
    ..AREA
};

/// `recent_title_stale`
pub static RECENT_TITLE_STALE: Code = Code {
    name: "recent_title_stale",
    severity: Severity::Info,
    verdict: "the recent list shows the old title",
    summary: "The list of recent sessions shows an older title.",
    gjc: "This list does not look at title patches of small files. The picker shows the right title.",
    help: "Nothing needs to be done.",
    section: "04 §2.3",
    ..AREA
};

/// `duplicate_session_id`
pub static DUPLICATE_SESSION_ID: Code = Code {
    name: "duplicate_session_id",
    severity: Severity::Error,
    verdict: "the older is invisible in merged listings",
    summary: "Two sessions of one workspace have the same id.",
    gjc: "Only the one written last is visible in merged lists; the other can be resumed by its path.",
    help: "Decide which one to continue. Keep the other outside the session directory.",
    section: "04 §2.7, §9.5",
    ..AREA
};

/// `id_prefix_ambiguous`
pub static ID_PREFIX_AMBIGUOUS: Code = Code {
    name: "id_prefix_ambiguous",
    severity: Severity::Info,
    verdict: "`--resume` takes the newest",
    summary: "One session's id is the beginning of another's.",
    gjc: "`--resume` takes the newest of them.",
    help: "Give a longer id, or the path.",
    section: "04 §3.1",
    ..AREA
};

/// `foreign_transcript`
pub static FOREIGN_TRANSCRIPT: Code = Code {
    name: "foreign_transcript",
    severity: Severity::Info,
    verdict: "not listed here",
    summary: "A session directory holds transcripts of other workspaces.",
    gjc: "They are not listed here.",
    help: "Nothing needs to be done. If they are missing elsewhere, open them by path.",
    section: "02 §5.3",
    ..AREA
};

/// `cwd_not_found`
pub static CWD_NOT_FOUND: Code = Code {
    name: "cwd_not_found",
    token: Some("cwd_not_found"),
    severity: Severity::Warning,
    verdict: "list: invalid; not openable for writing",
    summary: "The workspace that the session names does not exist.",
    gjc: "gjc lists the session as invalid and does not open it for writing. The transcript is sound.",
    help: "Create the directory again at the named path, then resume.",
    section: "02 §5.3",
    ..AREA
};

/// `cwd_not_directory`
pub static CWD_NOT_DIRECTORY: Code = Code {
    name: "cwd_not_directory",
    token: Some("cwd_not_directory"),
    severity: Severity::Warning,
    verdict: "list: invalid; not openable for writing",
    summary: "The workspace that the session names is not a directory.",
    gjc: "gjc lists the session as invalid and does not open it for writing. The transcript is sound.",
    help: "Put the directory back at the named path, then resume.",
    section: "02 §5.3",
    ..AREA
};

/// `cwd_not_utf8`
pub static CWD_NOT_UTF8: Code = Code {
    name: "cwd_not_utf8",
    token: Some("cwd_not_utf8"),
    severity: Severity::Warning,
    verdict: "list: invalid; not openable for writing",
    summary: "The real path of the session's workspace is not valid UTF-8.",
    gjc: "gjc lists the session as invalid and does not open it for writing. The transcript is sound.",
    help: "Rename the directory, or the symlink's target, to a name in UTF-8.",
    section: "02 §5.3",
    ..AREA
};

/// `cwd_io_error`
pub static CWD_IO_ERROR: Code = Code {
    name: "cwd_io_error",
    token: Some("cwd_io_error"),
    severity: Severity::Warning,
    verdict: "list: invalid; not openable for writing",
    summary: "The workspace that the session names cannot be looked at.",
    gjc: "gjc lists the session as invalid and does not open it for writing. The transcript is sound.",
    help: "Look at the error named: permissions on a parent directory, a symlink loop, or a NUL in the path.",
    section: "02 §5.3",
    ..AREA
};

/// `session_in_wrong_directory`
pub static SESSION_IN_WRONG_DIRECTORY: Code = Code {
    name: "session_in_wrong_directory",
    severity: Severity::Warning,
    verdict: "no managed listing visits it",
    summary: "A transcript lies where no list looks.",
    gjc: "gjc finds it only by its path.",
    help: "Open it by its path (`gjc --resume PATH`), or fork it from there.",
    section: "02 §1.3",
    ..AREA
};

/// `project_scan_limit`
pub static PROJECT_SCAN_LIMIT: Code = Code {
    name: "project_scan_limit",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    verdict: "the rest is not listed",
    summary: "The project's `.gjc` folder holds more than gjc scans.",
    gjc: "The rest is not listed. Nothing is damaged.",
    help: "Move old transcripts out of the project's `.gjc` folder.",
    section: "04 §2.9",
    ..AREA
};

/// `parent_session_dangling`
pub static PARENT_SESSION_DANGLING: Code = Code {
    name: "parent_session_dangling",
    severity: Severity::Info,
    verdict: "none",
    summary: "The session it was made from does not exist here.",
    gjc: "Nothing. Only the link to the earlier session is dead.",
    help: "Nothing needs to be done.",
    section: "04 §9.1",
    ..AREA
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
