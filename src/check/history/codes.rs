//! Codes of the area *history* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `history_corrupt`
pub static HISTORY_CORRUPT: Code = Code {
    name: "history_corrupt",
    token: None,
    area: "history",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the file is no SQLite database or the integrity check fails",
    gjc: "prompt recall fails; sessions are not touched",
    help: "",
    section: "04 §8",
    since: "0.1.0",
};

/// `history_schema`
pub static HISTORY_SCHEMA: Code = Code {
    name: "history_schema",
    token: None,
    area: "history",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a table, column, index or trigger of 04 §8 is missing or different",
    gjc: "missing indexes are made again; a missing trigger stops indexing",
    help: "",
    section: "04 §8",
    since: "0.1.0",
};

/// `history_fts_out_of_sync`
pub static HISTORY_FTS_OUT_OF_SYNC: Code = Code {
    name: "history_fts_out_of_sync",
    token: None,
    area: "history",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "rows of `history_fts_docsize` and `history` differ in number, or the FTS check fails",
    gjc: "search misses or invents prompts",
    help: "",
    section: "04 §8",
    since: "0.1.0",
};

/// `history_migration_interrupted`
pub static HISTORY_MIGRATION_INTERRUPTED: Code = Code {
    name: "history_migration_interrupted",
    token: None,
    area: "history",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a table `history_legacy` exists",
    gjc: "prompts in it are not found",
    help: "",
    section: "04 §8",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&HISTORY_CORRUPT, &HISTORY_SCHEMA, &HISTORY_FTS_OUT_OF_SYNC, &HISTORY_MIGRATION_INTERRUPTED];
