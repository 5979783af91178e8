//! Codes of the area *history* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("history");

/// `history_corrupt`
pub static HISTORY_CORRUPT: Code = Code {
    name: "history_corrupt",
    severity: Severity::Error,
    fatal: true,
    verdict: "prompt recall fails; sessions are not touched",
    summary: "The prompt history database is damaged.",
    gjc: "Prompt recall fails. Sessions are not touched.",
    help: "Stop gjc, back up `history.db`, and recover what you can with `sqlite3 history.db .recover`. Only prompt history is at stake.",
    section: "04 §8",
    ..AREA
};

/// `history_schema`
pub static HISTORY_SCHEMA: Code = Code {
    name: "history_schema",
    severity: Severity::Warning,
    verdict: "missing indexes are made again; a missing trigger stops indexing",
    summary: "The prompt history database lacks a table, index or trigger, or has a different one.",
    gjc: "gjc makes missing indexes again. A missing trigger stops new prompts from being found.",
    help: "Stop gjc and back up `history.db`. If search misses new prompts, let gjc build a new database and copy the rows.",
    section: "04 §8",
    ..AREA
};

/// `history_fts_out_of_sync`
pub static HISTORY_FTS_OUT_OF_SYNC: Code = Code {
    name: "history_fts_out_of_sync",
    severity: Severity::Warning,
    verdict: "search misses or invents prompts",
    summary: "The search index of the prompt history does not match its rows.",
    gjc: "Search misses prompts or finds ones that do not exist.",
    help: "Stop gjc, back up `history.db`, and rebuild the index: `INSERT INTO history_fts(history_fts) VALUES('rebuild')`.",
    section: "04 §8",
    ..AREA
};

/// `history_migration_interrupted`
pub static HISTORY_MIGRATION_INTERRUPTED: Code = Code {
    name: "history_migration_interrupted",
    severity: Severity::Warning,
    verdict: "prompts in it are not found",
    summary: "An upgrade of the prompt history was interrupted.",
    gjc: "Prompts in the old table are not found.",
    help: "Stop gjc, back up `history.db`, and copy the missing rows from `history_legacy` into `history`.",
    section: "04 §8",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&HISTORY_CORRUPT, &HISTORY_SCHEMA, &HISTORY_FTS_OUT_OF_SYNC, &HISTORY_MIGRATION_INTERRUPTED];
