//! Codes of the area *migration receipt* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `migration_receipt_stale`
pub static MIGRATION_RECEIPT_STALE: Code = Code {
    name: "migration_receipt_stale",
    token: None,
    area: "migration receipt",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a committed receipt whose source and destination both exist no longer matches (name the clause of 02 §7.2)",
    gjc: "both copies are listed; inspector `managed_gc_protocol_migration_authority_mismatch`",
    help: "",
    section: "02 §7.2",
    since: "0.1.0",
};

/// `migration_source_missing`
pub static MIGRATION_SOURCE_MISSING: Code = Code {
    name: "migration_source_missing",
    token: None,
    area: "migration receipt",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a committed receipt's legacy source is gone",
    gjc: "the v2 file counts as `native_v2`; inspector refuses (0.17)",
    help: "",
    section: "02 §7.1, §9.8",
    since: "0.1.0",
};

/// `migration_destination_missing`
pub static MIGRATION_DESTINATION_MISSING: Code = Code {
    name: "migration_destination_missing",
    token: None,
    area: "migration receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a committed receipt's v2 file is gone while the source exists",
    gjc: "listed as legacy; opening it copies the file and then fails `durability_failed`, both copies stay listed; inspector refuses (0.17)",
    help: "",
    section: "02 §7.2; 02a.2",
    since: "0.1.0",
};

/// `managed_gc_protocol_migration_incomplete`
pub static MANAGED_GC_PROTOCOL_MIGRATION_INCOMPLETE: Code = Code {
    name: "managed_gc_protocol_migration_incomplete",
    token: Some("managed_gc_protocol_migration_incomplete"),
    area: "migration receipt",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`receipts/` holds `<op>.prepared.json`, `.detached.json`, `.published.json`, any other name that is neither `<op>.json` nor R1, or an `<op>.json` whose `state` is not `committed`",
    gjc: "opening the legacy session finishes or rolls back (but see the next code); inspector refuses (0.17)",
    help: "",
    section: "02 §6.7, §9.8",
    since: "0.1.0",
};

/// `migration_prepared_stale`
pub static MIGRATION_PREPARED_STALE: Code = Code {
    name: "migration_prepared_stale",
    token: None,
    area: "migration receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`<op>.prepared.json` records an artifact tree, root ctime included, that differs from the artifact directory as it is now or would be once put back",
    gjc: "opening the legacy session: `durability_failed` now and always",
    help: "",
    section: "02a.1",
    since: "0.1.0",
};

/// `managed_gc_protocol_migration_invalid`
pub static MANAGED_GC_PROTOCOL_MIGRATION_INVALID: Code = Code {
    name: "managed_gc_protocol_migration_invalid",
    token: Some("managed_gc_protocol_migration_invalid"),
    area: "migration receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`receipts/<op>.json` is a committed record whose source or destination path is no string, or that breaks clause 1, 4 or 6 of 02 §7.2",
    gjc: "counts as no receipt; opening its legacy source copies it and then fails `durability_failed`; inspector refuses (0.17)",
    help: "",
    section: "02 §7.2, §9.8; 02a.2",
    since: "0.1.0",
};

/// `migration_artifacts_detached`
pub static MIGRATION_ARTIFACTS_DETACHED: Code = Code {
    name: "migration_artifacts_detached",
    token: None,
    area: "migration receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`.gjc-migrate-<op>-artifacts` exists in a legacy directory (say whether its receipt exists and whether the session has an artifact directory now)",
    gjc: "the session lacks its artifacts; reopening puts them back and then fails for ever (`migration_prepared_stale`); without receipt and with an artifact directory: `destination_conflict`",
    help: "",
    section: "02 §6.4, §6.7; 02a.1, 02a.19",
    since: "0.1.0",
};

/// `destination_conflict`
pub static DESTINATION_CONFLICT: Code = Code {
    name: "destination_conflict",
    token: Some("destination_conflict"),
    area: "migration receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an owned legacy transcript's destination name holds other bytes or no regular file, or another v2 file has its session id (a dangling symlink there: `durability_failed`)",
    gjc: "open for writing refuses",
    help: "",
    section: "02 §6.4; 02a.3",
    since: "0.1.0",
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
