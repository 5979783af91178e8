//! Codes of the area *lock* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("lock");

/// `lock_held`
pub static LOCK_HELD: Code = Code {
    name: "lock_held",
    severity: Severity::Info,
    verdict: "lease runs: `migration_busy` after 5 s; owner gone: reclaimed",
    summary: "A lock is held, or its holder is gone.",
    gjc: "A running lease makes the operation wait and then fail with `migration_busy` after 5 seconds. A lock whose holder is provably gone is taken over.",
    help: "Wait for the other gjc process, or do nothing: gjc takes the lock over itself.",
    section: "02 §6.2",
    ..AREA
};

/// `lock_expired_unproven`
pub static LOCK_EXPIRED_UNPROVEN: Code = Code {
    name: "lock_expired_unproven",
    severity: Severity::Warning,
    verdict: "`migration_busy` until that pid is free",
    summary: "A lock has expired, but its holder may still run.",
    gjc: "The operation answers `migration_busy` until the process number is free.",
    help: "Make sure that no gjc uses this workspace, and end the process named if it is a forgotten one. Only then move the lock file away.",
    section: "02 §6.2",
    ..AREA
};

/// `managed_gc_protocol_lock_invalid`
pub static MANAGED_GC_PROTOCOL_LOCK_INVALID: Code = Code {
    name: "managed_gc_protocol_lock_invalid",
    token: Some("managed_gc_protocol_lock_invalid"),
    severity: Severity::Error,
    verdict: "that operation: `migration_busy` for ever; inspector refuses (0.17)",
    summary: "A lock file is empty or unreadable.",
    gjc: "The operation it guards answers `migration_busy` for ever. 0.17's inspector refuses.",
    help: "Make sure that no gjc runs, then move that lock file away. It holds no content.",
    section: "02 §6.2, §9.8",
    ..AREA
};

/// `managed_gc_protocol_lock_role_invalid`
pub static MANAGED_GC_PROTOCOL_LOCK_ROLE_INVALID: Code = Code {
    name: "managed_gc_protocol_lock_role_invalid",
    token: Some("managed_gc_protocol_lock_role_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A file in `locks/` has a name that no lock has.",
    gjc: "0.17's inspector refuses the whole inspection; sessions work as usual.",
    help: "With gjc stopped, move the file out of `locks/`.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_lock_quarantine_invalid`
pub static MANAGED_GC_PROTOCOL_LOCK_QUARANTINE_INVALID: Code = Code {
    name: "managed_gc_protocol_lock_quarantine_invalid",
    token: Some("managed_gc_protocol_lock_quarantine_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A retired lock is not empty.",
    gjc: "0.17's inspector refuses the whole inspection; sessions work as usual.",
    help: "Keep the file for inspection: with gjc stopped, move it out of `locks/`.",
    section: "02 §9.8",
    ..AREA
};

/// `lock_residue`
pub static LOCK_RESIDUE: Code = Code {
    name: "lock_residue",
    severity: Severity::Info,
    verdict: "none",
    summary: "Empty retired locks were left behind.",
    gjc: "Nothing.",
    help: "Nothing needs to be done.",
    section: "02 §6.2",
    ..AREA
};

/// `exclusive_lock_stale`
pub static EXCLUSIVE_LOCK_STALE: Code = Code {
    name: "exclusive_lock_stale",
    severity: Severity::Info,
    verdict: "reclaimed",
    summary: "A lock file belongs to a process that no longer exists.",
    gjc: "gjc takes it over.",
    help: "Nothing needs to be done.",
    section: "04 §7.7",
    ..AREA
};

/// `exclusive_lock_invalid`
pub static EXCLUSIVE_LOCK_INVALID: Code = Code {
    name: "exclusive_lock_invalid",
    severity: Severity::Warning,
    verdict: "UNVERIFIED; treat as held",
    summary: "A lock file cannot be read as a lock.",
    gjc: "Not verified; gjc may treat it as held.",
    help: "Make sure that no gjc runs, then move the lock file away.",
    section: "04 §7.7",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &LOCK_HELD,
    &LOCK_EXPIRED_UNPROVEN,
    &MANAGED_GC_PROTOCOL_LOCK_INVALID,
    &MANAGED_GC_PROTOCOL_LOCK_ROLE_INVALID,
    &MANAGED_GC_PROTOCOL_LOCK_QUARANTINE_INVALID,
    &LOCK_RESIDUE,
    &EXCLUSIVE_LOCK_STALE,
    &EXCLUSIVE_LOCK_INVALID,
];
