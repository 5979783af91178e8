//! Codes of the area *migration receipt* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("migration receipt");

/// `migration_receipt_stale`
pub static MIGRATION_RECEIPT_STALE: Code = Code {
    name: "migration_receipt_stale",
    severity: Severity::Warning,
    verdict: "both copies are listed; inspector `managed_gc_protocol_migration_authority_mismatch`",
    summary: "A migration receipt no longer matches its two files.",
    gjc: "Both the old and the migrated session are listed, and they can diverge. 0.17's inspector answers `managed_gc_protocol_migration_authority_mismatch`.",
    help: "Go on with the copy in the `v2-…` directory only. Do not edit the receipt.",
    section: "02 §7.2",
    ..AREA
};

/// `migration_source_missing`
pub static MIGRATION_SOURCE_MISSING: Code = Code {
    name: "migration_source_missing",
    severity: Severity::Info,
    verdict: "the v2 file counts as `native_v2`; inspector refuses (0.17)",
    summary: "The old file of a migrated session is gone.",
    gjc: "The migrated session works as a native one. 0.17's inspector refuses.",
    help: "Nothing needs to be done. The migrated session is complete.",
    section: "02 §7.1, §9.8",
    ..AREA
};

/// `migration_destination_missing`
pub static MIGRATION_DESTINATION_MISSING: Code = Code {
    name: "migration_destination_missing",
    severity: Severity::Error,
    verdict: "listed as legacy; opening it copies the file and then fails `durability_failed`, both copies stay listed; inspector refuses (0.17)",
    summary: "The migrated copy of a session is gone, while its receipt and the old file remain.",
    gjc: "The session is listed as an old one. Opening it copies the file again and then fails with `durability_failed`; from then on both copies are listed. 0.17's inspector refuses.",
    help: "Restore the copy from a backup. Without one, make a new modification time for the old file (`touch`) with gjc stopped: it then migrates anew. Do not edit the receipt.",
    section: "02 §7.2; 02a.2",
    ..AREA
};

/// `managed_gc_protocol_migration_incomplete`
pub static MANAGED_GC_PROTOCOL_MIGRATION_INCOMPLETE: Code = Code {
    name: "managed_gc_protocol_migration_incomplete",
    token: Some("managed_gc_protocol_migration_incomplete"),
    severity: Severity::Warning,
    verdict: "opening the legacy session finishes or rolls back (but see the next code); inspector refuses (0.17)",
    summary: "A migration was interrupted and left its working receipts.",
    gjc: "Opening the old session finishes it or rolls it back. Until then 0.17's inspector refuses.",
    help: "With gjc stopped, `gjc-fsck repair` says what it would finish, `gjc-fsck repair --apply` finishes it. Opening the old session with gjc does too, unless the artifacts were already moved: see `migration_prepared_stale`.",
    section: "02 §6.7, §9.8",
    ..AREA
};

/// `migration_prepared_stale`
pub static MIGRATION_PREPARED_STALE: Code = Code {
    name: "migration_prepared_stale",
    severity: Severity::Error,
    verdict: "opening the legacy session: `durability_failed` now and always",
    summary: "An interrupted migration can never finish: its receipt no longer describes the artifact directory.",
    gjc: "Opening the old session fails with `durability_failed`, now and on every later attempt.",
    help: "Nothing is lost. With gjc stopped, `gjc-fsck repair --apply` puts artifacts back that were moved away, keeps the named receipt in `.gjc-recovery`, and migrates the session anew.",
    section: "02a.1",
    ..AREA
};

/// `managed_gc_protocol_migration_invalid`
pub static MANAGED_GC_PROTOCOL_MIGRATION_INVALID: Code = Code {
    name: "managed_gc_protocol_migration_invalid",
    token: Some("managed_gc_protocol_migration_invalid"),
    severity: Severity::Error,
    verdict: "counts as no receipt; opening its legacy source copies it and then fails `durability_failed`; inspector refuses (0.17)",
    summary: "A migration receipt is malformed.",
    gjc: "It counts as no receipt. Opening the old session copies it and then fails with `durability_failed`. 0.17's inspector refuses.",
    help: "With gjc stopped and a backup made, move the named receipt out of `receipts/`, then open the old session again.",
    section: "02 §7.2, §9.8; 02a.2",
    ..AREA
};

/// `migration_artifacts_detached`
pub static MIGRATION_ARTIFACTS_DETACHED: Code = Code {
    name: "migration_artifacts_detached",
    severity: Severity::Error,
    verdict: "the session lacks its artifacts; reopening puts them back and then fails for ever (`migration_prepared_stale`); without receipt and with an artifact directory: `destination_conflict`",
    summary: "The artifacts of a session were set aside by an interrupted migration.",
    gjc: "The session lacks its artifacts. Reopening puts them back and then fails for ever (`migration_prepared_stale`); without a receipt, beside a new artifact directory, it answers `destination_conflict`.",
    help: "Keep the directory. With gjc stopped, `gjc-fsck repair --apply` puts it back where a receipt proves whose it is. Without a receipt, and with a backup made, rename it back to the session's artifact directory if that name is free.",
    section: "02 §6.4, §6.7; 02a.1, 02a.19",
    ..AREA
};

/// `destination_conflict`
pub static DESTINATION_CONFLICT: Code = Code {
    name: "destination_conflict",
    token: Some("destination_conflict"),
    severity: Severity::Error,
    verdict: "open for writing refuses",
    summary: "Another file stands where this old session would be migrated to.",
    gjc: "Opening the old session for writing is refused. Both files stay as they are.",
    help: "Compare the two. Go on with the one you want; move the other out of the scope with gjc stopped, and keep it.",
    section: "02 §6.4; 02a.3",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MIGRATION_RECEIPT_STALE,
    &MIGRATION_SOURCE_MISSING,
    &MIGRATION_DESTINATION_MISSING,
    &MANAGED_GC_PROTOCOL_MIGRATION_INCOMPLETE,
    &MIGRATION_PREPARED_STALE,
    &MANAGED_GC_PROTOCOL_MIGRATION_INVALID,
    &MIGRATION_ARTIFACTS_DETACHED,
    &DESTINATION_CONFLICT,
];
