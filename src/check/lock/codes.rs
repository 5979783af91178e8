//! Codes of the area *lock* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `lock_held`
pub static LOCK_HELD: Code = Code {
    name: "lock_held",
    token: None,
    area: "lock",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "lease runs: `migration_busy` after 5 s; owner gone: reclaimed",
    summary: "A lock is held, or its holder is gone.",
    gjc: "A running lease makes the operation wait and then fail with `migration_busy` after 5 seconds. A lock whose holder is provably gone is taken over.",
    help: "Wait for the other gjc process, or do nothing: gjc takes the lock over itself.",
    section: "02 §6.2",
    since: "0.1.0",
};

/// `lock_expired_unproven`
pub static LOCK_EXPIRED_UNPROVEN: Code = Code {
    name: "lock_expired_unproven",
    token: None,
    area: "lock",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "`migration_busy` until that pid is free",
    summary: "A lock has expired, but its holder may still run.",
    gjc: "The operation answers `migration_busy` until the process number is free.",
    help: "Make sure that no gjc uses this workspace, and end the process named if it is a forgotten one. Only then move the lock file away.",
    section: "02 §6.2",
    since: "0.1.0",
};

/// `managed_gc_protocol_lock_invalid`
pub static MANAGED_GC_PROTOCOL_LOCK_INVALID: Code = Code {
    name: "managed_gc_protocol_lock_invalid",
    token: Some("managed_gc_protocol_lock_invalid"),
    area: "lock",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "that operation: `migration_busy` for ever; inspector refuses (0.17)",
    summary: "A lock file is empty or unreadable.",
    gjc: "The operation it guards answers `migration_busy` for ever. 0.17's inspector refuses.",
    help: "Make sure that no gjc runs, then move that lock file away. It holds no content.",
    section: "02 §6.2, §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_lock_role_invalid`
pub static MANAGED_GC_PROTOCOL_LOCK_ROLE_INVALID: Code = Code {
    name: "managed_gc_protocol_lock_role_invalid",
    token: Some("managed_gc_protocol_lock_role_invalid"),
    area: "lock",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A file in `locks/` has a name that no lock has.",
    gjc: "0.17's inspector refuses the whole inspection; sessions work as usual.",
    help: "With gjc stopped, move the file out of `locks/`.",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_lock_quarantine_invalid`
pub static MANAGED_GC_PROTOCOL_LOCK_QUARANTINE_INVALID: Code = Code {
    name: "managed_gc_protocol_lock_quarantine_invalid",
    token: Some("managed_gc_protocol_lock_quarantine_invalid"),
    area: "lock",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    verdict: "inspector refuses",
    summary: "A retired lock is not empty.",
    gjc: "0.17's inspector refuses the whole inspection; sessions work as usual.",
    help: "Keep the file for inspection: with gjc stopped, move it out of `locks/`.",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `lock_residue`
pub static LOCK_RESIDUE: Code = Code {
    name: "lock_residue",
    token: None,
    area: "lock",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "none",
    summary: "Empty retired locks were left behind.",
    gjc: "Nothing.",
    help: "Nothing needs to be done.",
    section: "02 §6.2",
    since: "0.1.0",
};

/// `exclusive_lock_stale`
pub static EXCLUSIVE_LOCK_STALE: Code = Code {
    name: "exclusive_lock_stale",
    token: None,
    area: "lock",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "reclaimed",
    summary: "A lock file belongs to a process that no longer exists.",
    gjc: "gjc takes it over.",
    help: "Nothing needs to be done.",
    section: "04 §7.7",
    since: "0.1.0",
};

/// `exclusive_lock_invalid`
pub static EXCLUSIVE_LOCK_INVALID: Code = Code {
    name: "exclusive_lock_invalid",
    token: None,
    area: "lock",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    verdict: "UNVERIFIED; treat as held",
    summary: "A lock file cannot be read as a lock.",
    gjc: "Not verified; gjc may treat it as held.",
    help: "Make sure that no gjc runs, then move the lock file away.",
    section: "04 §7.7",
    since: "0.1.0",
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
