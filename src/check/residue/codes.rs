//! Codes of the area *residue* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `stale_temp_file`
pub static STALE_TEMP_FILE: Code = Code {
    name: "stale_temp_file",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a name of 04 §10.6 marked \"remove\" (`.tmp`, `.default-selection.tmp`, `.staged`, `.staged-final`, `.owner.tmp`, commit-marker temp) older than 24 h without live owner",
    gjc: "none",
    help: "",
    section: "01 §1; 04 §7.4, §10.6",
    since: "0.1.0",
};

/// `staged_transcript_left`
pub static STAGED_TRANSCRIPT_LEFT: Code = Code {
    name: "staged_transcript_left",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a file or artifact tree below `.staging/` without live owner",
    gjc: "never listed, never resumable",
    help: "",
    section: "01 §1; 04 §1.5",
    since: "0.1.0",
};

/// `staging_residue`
pub static STAGING_RESIDUE: Code = Code {
    name: "staging_residue",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`*.staging`, `.gjc-publish-*`, `*.replacement`, `*.fork-staging` older than 15 min that is no link of a live file (bytes)",
    gjc: "none",
    help: "",
    section: "02 §1.4",
    since: "0.1.0",
};

/// `orphan_backup_recoverable`
pub static ORPHAN_BACKUP_RECOVERABLE: Code = Code {
    name: "orphan_backup_recoverable",
    token: None,
    area: "residue",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `*.bak` that 04 §2.2 would restore (primary absent)",
    gjc: "the next listing of that directory renames it",
    help: "",
    section: "04 §2.2",
    since: "0.1.0",
};

/// `orphan_backup_unrecoverable`
pub static ORPHAN_BACKUP_UNRECOVERABLE: Code = Code {
    name: "orphan_backup_unrecoverable",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `*.bak` that 04 §2.2 never matches, primary absent",
    gjc: "never restored",
    help: "",
    section: "04 §2.2",
    since: "0.1.0",
};

/// `stale_backup`
pub static STALE_BACKUP: Code = Code {
    name: "stale_backup",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `*.bak` with its primary present",
    gjc: "never cleaned",
    help: "",
    section: "04 §7.4",
    since: "0.1.0",
};

/// `delete_residue`
pub static DELETE_RESIDUE: Code = Code {
    name: "delete_residue",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`.gjc-delete-*` of 0 bytes, or a tree of directories and empty files, named by a completed record",
    gjc: "none; no deletion authority",
    help: "",
    section: "02 §9.6",
    since: "0.1.0",
};

/// `delete_residue_payload`
pub static DELETE_RESIDUE_PAYLOAD: Code = Code {
    name: "delete_residue_payload",
    token: None,
    area: "residue",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`.gjc-delete-*` or `*.removing` that holds bytes or that no completed record names",
    gjc: "may be the only copy of a session",
    help: "",
    section: "02 §9.6; 04 §7.6",
    since: "0.1.0",
};

/// `scrubbed_remnants`
pub static SCRUBBED_REMNANTS: Code = Code {
    name: "scrubbed_remnants",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "entries of 0 bytes with the names of 02 §8.5 (count, oldest)",
    gjc: "0.17 reaps them after 15 min; 0.15 counts them against its entry limit (UNVERIFIED)",
    help: "",
    section: "02 §8.5",
    since: "0.1.0",
};

/// `recovery_quarantine`
pub static RECOVERY_QUARANTINE: Code = Code {
    name: "recovery_quarantine",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "entries of a `.gjc-recovery/` (count, bytes, old or new names)",
    gjc: "evidence; grows with every start; partly reaped by 0.17",
    help: "",
    section: "02 §8.6; 02a.13",
    since: "0.1.0",
};

/// `gc_residue_present`
pub static GC_RESIDUE_PRESENT: Code = Code {
    name: "gc_residue_present",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`<owner>.removing`, `.pi-tree-detached-*` or `.gjc-*` below `.task-artifact-owners`",
    gjc: "legal final state on POSIX",
    help: "",
    section: "03 §10, §18",
    since: "0.1.0",
};

/// `memory_guard_left`
pub static MEMORY_GUARD_LEFT: Code = Code {
    name: "memory_guard_left",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`.<id>.memory-guard.<uuid>.jsonl` or a `participants/` checkpoint",
    gjc: "keep",
    help: "",
    section: "04 §10.3",
    since: "0.1.0",
};

/// `sidecar_stale`
pub static SIDECAR_STALE: Code = Code {
    name: "sidecar_stale",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a session-memory sidecar is invalid or does not match its transcript (reason of 04 §10.2)",
    gjc: "above 128 MiB the conditions of R decide",
    help: "",
    section: "04 §10.2",
    since: "0.1.0",
};

/// `sidecar_cache_orphan`
pub static SIDECAR_CACHE_ORPHAN: Code = Code {
    name: "sidecar_cache_orphan",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`sidecar-cache/s-*` of no known transcript path",
    gjc: "none",
    help: "",
    section: "04 §10.2",
    since: "0.1.0",
};

/// `resident_cache_orphan`
pub static RESIDENT_CACHE_ORPHAN: Code = Code {
    name: "resident_cache_orphan",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`resident-cache/i-*` whose owner is provably dead",
    gjc: "none",
    help: "",
    section: "04 §5.9",
    since: "0.1.0",
};

/// `draft_orphan`
pub static DRAFT_ORPHAN: Code = Code {
    name: "draft_orphan",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`draft.txt` in a directory without its transcript",
    gjc: "none",
    help: "",
    section: "04 §10.1",
    since: "0.1.0",
};

/// `foreign_file`
pub static FOREIGN_FILE: Code = Code {
    name: "foreign_file",
    token: None,
    area: "residue",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a name in the agent directory, the sessions root, a scope or an artifact tree that nothing in the spec explains",
    gjc: "ignored",
    help: "",
    section: "04 §1.2; 02 §1",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &STALE_TEMP_FILE,
    &STAGED_TRANSCRIPT_LEFT,
    &STAGING_RESIDUE,
    &ORPHAN_BACKUP_RECOVERABLE,
    &ORPHAN_BACKUP_UNRECOVERABLE,
    &STALE_BACKUP,
    &DELETE_RESIDUE,
    &DELETE_RESIDUE_PAYLOAD,
    &SCRUBBED_REMNANTS,
    &RECOVERY_QUARANTINE,
    &GC_RESIDUE_PRESENT,
    &MEMORY_GUARD_LEFT,
    &SIDECAR_STALE,
    &SIDECAR_CACHE_ORPHAN,
    &RESIDENT_CACHE_ORPHAN,
    &DRAFT_ORPHAN,
    &FOREIGN_FILE,
];
