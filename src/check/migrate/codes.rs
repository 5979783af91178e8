//! Codes of the area *migrate* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("migrate");

/// `migration_first_kept_lost`
pub static MIGRATION_FIRST_KEPT_LOST: Code = Code {
    name: "migration_first_kept_lost",
    severity: Severity::Error,
    verdict: "S `malformed`; L context: summary only",
    summary: "In this version 1 file a compaction's kept boundary cannot be found any more.",
    gjc: "gjc refuses to resume the session (`malformed`). Read leniently, the conversation holds only the summary.",
    help: "Keep the original. In a copy add a `firstKeptEntryId` to the compaction, or lower its `firstKeptEntryIndex` to an entry that exists.",
    section: "01 §6",
    ..AREA
};

/// `migration_index_shifted`
pub static MIGRATION_INDEX_SHIFTED: Code = Code {
    name: "migration_index_shifted",
    severity: Severity::Warning,
    verdict: "the boundary names another record than the writer meant",
    summary: "In this version 1 file a compaction's boundary counts records, and one before it was lost or added.",
    gjc: "gjc takes the boundary from the records that it can read, so it names another record than the writer meant: some messages are missing from the conversation or doubled by the summary.",
    help: "Repair the lost line or remove the second header first (other findings name it), before gjc migrates the file.",
    section: "01 §6; vectors README 15",
    ..AREA
};

/// `migration_refs_dangling`
pub static MIGRATION_REFS_DANGLING: Code = Code {
    name: "migration_refs_dangling",
    severity: Severity::Warning,
    verdict: "ids are replaced, the reference dangles",
    summary: "In this old file a label, branch summary or compaction refers to an id that migration replaces.",
    gjc: "Migration gives every entry a new id; the reference then points nowhere.",
    help: "Keep a backup of the old file. The label or summary must be set again after migration.",
    section: "01 §6; vectors README 16",
    ..AREA
};

/// `migration_throws`
pub static MIGRATION_THROWS: Code = Code {
    name: "migration_throws",
    severity: Severity::Error,
    verdict: "migration throws; S `malformed`",
    summary: "An entry of this old file makes the migration fail.",
    gjc: "gjc refuses to resume the session (`malformed`): migration throws.",
    help: "Keep the original. In a copy take out the named entry (a value that is no object, or a message entry without `message`).",
    section: "01 §6",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&MIGRATION_FIRST_KEPT_LOST, &MIGRATION_INDEX_SHIFTED, &MIGRATION_REFS_DANGLING, &MIGRATION_THROWS];
