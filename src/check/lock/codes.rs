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
    summary: "a parseable lock is not released and its lease runs, or it is expired and its owner is provably gone (say which)",
    gjc: "lease runs: `migration_busy` after 5 s; owner gone: reclaimed",
    help: "",
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
    summary: "a parseable lock is expired and its owner is not provably gone (pid in use, EPERM, no boot id)",
    gjc: "`migration_busy` until that pid is free",
    help: "",
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
    summary: "a lock file is empty or does not parse (02 §6.2)",
    gjc: "that operation: `migration_busy` for ever; inspector refuses (0.17)",
    help: "",
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
    summary: "a name in `locks/` matches neither L1 nor `.gjc-lock-<uuid>.stale`",
    gjc: "inspector refuses",
    help: "",
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
    summary: "`.gjc-lock-<uuid>.stale` is not empty",
    gjc: "inspector refuses",
    help: "",
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
    summary: "`.gjc-lock-<uuid>.stale` of 0 bytes (count)",
    gjc: "none",
    help: "",
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
    summary: "an exclusive lock file (04 §7.7) whose pid does not exist or has another incarnation",
    gjc: "reclaimed",
    help: "",
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
    summary: "an exclusive lock file that does not parse or is longer than 4,096 bytes",
    gjc: "UNVERIFIED; treat as held",
    help: "",
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
