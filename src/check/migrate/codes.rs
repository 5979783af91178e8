//! Codes of the area *migrate* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `migration_first_kept_lost`
pub static MIGRATION_FIRST_KEPT_LOST: Code = Code {
    name: "migration_first_kept_lost",
    token: None,
    area: "migrate",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "v1 `compaction` whose `firstKeptEntryIndex` yields no id (table of 01 §6) and no explicit id remains",
    gjc: "S `malformed`; L context: summary only",
    help: "",
    section: "01 §6",
    since: "0.1.0",
};

/// `migration_index_shifted`
pub static MIGRATION_INDEX_SHIFTED: Code = Code {
    name: "migration_index_shifted",
    token: None,
    area: "migrate",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "v1 file: a numeric `firstKeptEntryIndex` ≥ the number of values before a dropped line or a second header",
    gjc: "the boundary names another record than the writer meant",
    help: "",
    section: "01 §6; vectors README 15",
    since: "0.1.0",
};

/// `migration_refs_dangling`
pub static MIGRATION_REFS_DANGLING: Code = Code {
    name: "migration_refs_dangling",
    token: None,
    area: "migrate",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "version < 2: a `label.targetId`, `branch_summary.fromId` or explicit `firstKeptEntryId` names an old id",
    gjc: "ids are replaced, the reference dangles",
    help: "",
    section: "01 §6; vectors README 16",
    since: "0.1.0",
};

/// `migration_throws`
pub static MIGRATION_THROWS: Code = Code {
    name: "migration_throws",
    token: None,
    area: "migrate",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "version < 2 and a value is no object, or version < 3 and a `message` entry lacks `message`",
    gjc: "migration throws; S `malformed`",
    help: "",
    section: "01 §6",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&MIGRATION_FIRST_KEPT_LOST, &MIGRATION_INDEX_SHIFTED, &MIGRATION_REFS_DANGLING, &MIGRATION_THROWS];
