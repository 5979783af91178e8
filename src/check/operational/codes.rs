//! Codes of the area *operational* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `missing`
pub static MISSING: Code = Code {
    name: "missing",
    token: Some("missing"),
    area: "operational",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript path named by the user, a plan or a proof does not exist (ENOENT)",
    gjc: "S `missing`; opening that path creates a new session there",
    help: "",
    section: "01 §2.3.1; 04 §4.3",
    since: "0.1.0",
};

/// `read_failed`
pub static READ_FAILED: Code = Code {
    name: "read_failed",
    token: Some("read-failed"),
    area: "operational",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a transcript path is not a regular file, or reading it fails with an errno other than ENOENT",
    gjc: "S `read-failed`",
    help: "",
    section: "01 §2.3.1–4",
    since: "0.1.0",
};

/// `unstable`
pub static UNSTABLE: Code = Code {
    name: "unstable",
    token: Some("unstable"),
    area: "operational",
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Transient),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "dev, ino, nlink, size, mtime or ctime of a transcript differ between the stat before, the descriptor and the stat after reading",
    gjc: "S `unstable`; exit bit 2",
    help: "",
    section: "01 §2.3.4",
    since: "0.1.0",
};

/// `concurrent_change`
pub static CONCURRENT_CHANGE: Code = Code {
    name: "concurrent_change",
    token: None,
    area: "operational",
    severity: Severity::Info,
    fatal: true,
    class: Some(Class::Transient),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "any object other than a transcript vanished, appeared or changed between two looks of this run, also after one repeat",
    gjc: "none proven; exit bit 2; in discovery and inspection gjc would answer its `…_changed` token",
    help: "",
    section: "02 §4.5, §9.8; 03 §13",
    since: "0.1.0",
};

/// `agent_dir_missing`
pub static AGENT_DIR_MISSING: Code = Code {
    name: "agent_dir_missing",
    token: None,
    area: "operational",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the agent directory or the directory given as PATH does not exist, is no directory, or is a dangling symlink",
    gjc: "nothing was checked; exit bit 8; for a dangling symlink gjc lists nothing and prepare fails",
    help: "",
    section: "02 §1.1; 02a.20",
    since: "0.1.0",
};

/// `object_unreadable`
pub static OBJECT_UNREADABLE: Code = Code {
    name: "object_unreadable",
    token: None,
    area: "operational",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a file or directory inside the checked tree could not be opened or read (errno given), so it was not judged",
    gjc: "nothing is claimed about it; exit bit 8",
    help: "",
    section: "design §5",
    since: "0.1.0",
};

/// `check_incomplete`
pub static CHECK_INCOMPLETE: Code = Code {
    name: "check_incomplete",
    token: None,
    area: "operational",
    severity: Severity::Warning,
    fatal: true,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a limit of this run (`--max-duration`, memory, descriptors, depth) ended before everything was read",
    gjc: "nothing is claimed about the rest; exit bit 2",
    help: "",
    section: "design §5",
    since: "0.1.0",
};

/// `special_file`
pub static SPECIAL_FILE: Code = Code {
    name: "special_file",
    token: None,
    area: "operational",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a FIFO, socket or device stands where gjc expects a file or a directory (it is never opened)",
    gjc: "list `source_changed` (0.15: `unreadable_candidate`); S `read-failed`; artifact trees `unsafe_artifacts`; 0.15, with group or other bits inside a scope: every new session fails `binding_invalid`",
    help: "",
    section: "02 §4.5, §5.3, §6.6; 02a.14",
    since: "0.1.0",
};

/// `name_not_utf8`
pub static NAME_NOT_UTF8: Code = Code {
    name: "name_not_utf8",
    token: None,
    area: "operational",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a name below the agent directory is not valid UTF-8",
    gjc: "artifact tree: migrate `managed_storage_unsupported`; elsewhere UNVERIFIED",
    help: "",
    section: "02 §6.6",
    since: "0.1.0",
};

/// `config_unknown_key`
pub static CONFIG_UNKNOWN_KEY: Code = Code {
    name: "config_unknown_key",
    token: None,
    area: "operational",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`gjc-fsck.toml` holds a key or a code that this version does not know",
    gjc: "the key has no effect",
    help: "",
    section: "issue 06 §5",
    since: "0.1.0",
};

/// `baseline_entry_stale`
pub static BASELINE_ENTRY_STALE: Code = Code {
    name: "baseline_entry_stale",
    token: None,
    area: "operational",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an entry of the baseline or of the skip list matched nothing in this run",
    gjc: "none; the gate fails",
    help: "",
    section: "issue 06 §5",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MISSING,
    &READ_FAILED,
    &UNSTABLE,
    &CONCURRENT_CHANGE,
    &AGENT_DIR_MISSING,
    &OBJECT_UNREADABLE,
    &CHECK_INCOMPLETE,
    &SPECIAL_FILE,
    &NAME_NOT_UTF8,
    &CONFIG_UNKNOWN_KEY,
    &BASELINE_ENTRY_STALE,
];
