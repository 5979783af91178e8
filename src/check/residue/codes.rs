//! Codes of the area *residue* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("residue");

/// `stale_temp_file`
pub static STALE_TEMP_FILE: Code = Code {
    name: "stale_temp_file",
    severity: Severity::Info,
    verdict: "none",
    summary: "A temporary file was left behind.",
    gjc: "Nothing; gjc never reads it.",
    help: "It may be removed when no gjc runs. If its session is damaged, look inside first: it can hold newer content.",
    section: "01 §1; 04 §7.4, §10.6",
    ..AREA
};

/// `staged_transcript_left`
pub static STAGED_TRANSCRIPT_LEFT: Code = Code {
    name: "staged_transcript_left",
    severity: Severity::Info,
    verdict: "never listed, never resumable",
    summary: "A session that was never published was left behind.",
    gjc: "It is never listed and cannot be resumed.",
    help: "Look inside first. It may be removed when no gjc runs.",
    section: "01 §1; 04 §1.5",
    ..AREA
};

/// `staging_residue`
pub static STAGING_RESIDUE: Code = Code {
    name: "staging_residue",
    severity: Severity::Info,
    verdict: "none",
    summary: "Files of an interrupted write were left behind.",
    gjc: "Nothing; gjc never reads them.",
    help: "Keep them until the session beside them checks clean.",
    section: "02 §1.4",
    ..AREA
};

/// `orphan_backup_recoverable`
pub static ORPHAN_BACKUP_RECOVERABLE: Code = Code {
    name: "orphan_backup_recoverable",
    severity: Severity::Warning,
    verdict: "the next listing of that directory renames it",
    summary: "A session's file is gone, but its backup is there.",
    gjc: "The next listing of this directory puts the backup back in its place.",
    help: "Run gjc once in that workspace, or rename the backup to its original name.",
    section: "04 §2.2",
    ..AREA
};

/// `orphan_backup_unrecoverable`
pub static ORPHAN_BACKUP_UNRECOVERABLE: Code = Code {
    name: "orphan_backup_unrecoverable",
    severity: Severity::Info,
    verdict: "never restored",
    summary: "A backup without its session lies there, under a name that gjc does not restore.",
    gjc: "It is never put back.",
    help: "Look inside; rename it to `<name>.jsonl` by hand if it is the session you miss.",
    section: "04 §2.2",
    ..AREA
};

/// `stale_backup`
pub static STALE_BACKUP: Code = Code {
    name: "stale_backup",
    severity: Severity::Info,
    verdict: "never cleaned",
    summary: "A backup lies beside its session.",
    gjc: "gjc never cleans it up.",
    help: "Compare the two. Keep the backup if it holds more than the session.",
    section: "04 §7.4",
    ..AREA
};

/// `delete_residue`
pub static DELETE_RESIDUE: Code = Code {
    name: "delete_residue",
    severity: Severity::Info,
    verdict: "none; no deletion authority",
    summary: "Empty remains of a finished deletion.",
    gjc: "Nothing; they give gjc no right to delete anything.",
    help: "Nothing needs to be done.",
    section: "02 §9.6",
    ..AREA
};

/// `delete_residue_payload`
pub static DELETE_RESIDUE_PAYLOAD: Code = Code {
    name: "delete_residue_payload",
    severity: Severity::Warning,
    verdict: "may be the only copy of a session",
    summary: "Remains of a deletion still hold content.",
    gjc: "gjc does not touch them. They may be the only copy of a session.",
    help: "Do not remove them. Copy the content out, then let gjc finish the deletion.",
    section: "02 §9.6; 04 §7.6",
    ..AREA
};

/// `scrubbed_remnants`
pub static SCRUBBED_REMNANTS: Code = Code {
    name: "scrubbed_remnants",
    severity: Severity::Info,
    verdict: "0.17 reaps them after 15 min; 0.15 counts them against its entry limit (UNVERIFIED)",
    summary: "Empty files of finished writes were left behind.",
    gjc: "0.17 removes them after 15 minutes. 0.15 may count them against its limit of entries.",
    help: "Nothing needs to be done. With 0.15, start 0.17 once if a directory holds tens of thousands.",
    section: "02 §8.5",
    ..AREA
};

/// `recovery_quarantine`
pub static RECOVERY_QUARANTINE: Code = Code {
    name: "recovery_quarantine",
    severity: Severity::Info,
    verdict: "evidence; grows with every start; partly reaped by 0.17",
    summary: "gjc's recovery folder holds evidence of earlier writes.",
    gjc: "It grows a little with every start. 0.17 removes part of it.",
    help: "Nothing needs to be done. Keep it while you look for lost content.",
    section: "02 §8.6; 02a.13",
    ..AREA
};

/// `gc_residue_present`
pub static GC_RESIDUE_PRESENT: Code = Code {
    name: "gc_residue_present",
    severity: Severity::Info,
    releases: Releases::Only017,
    verdict: "legal final state on POSIX",
    summary: "Remains of collected artifacts lie below `.task-artifact-owners`.",
    gjc: "This is a legal final state in 0.17.",
    help: "Nothing needs to be done: it is evidence, not garbage.",
    section: "03 §10, §18",
    ..AREA
};

/// `memory_guard_left`
pub static MEMORY_GUARD_LEFT: Code = Code {
    name: "memory_guard_left",
    severity: Severity::Info,
    verdict: "keep",
    summary: "A checkpoint of gjc's memory guard was left behind.",
    gjc: "gjc may use it to recover a session.",
    help: "Keep it.",
    section: "04 §10.3",
    ..AREA
};

/// `sidecar_stale`
pub static SIDECAR_STALE: Code = Code {
    name: "sidecar_stale",
    severity: Severity::Info,
    verdict: "above 128 MiB the conditions of R decide",
    summary: "A session's index file is invalid or does not match it.",
    gjc: "gjc builds it anew. For transcripts above 128 MiB it may decide whether the session opens.",
    help: "Nothing needs to be done. For a transcript above 128 MiB keep it until gjc made a new one.",
    section: "04 §10.2",
    ..AREA
};

/// `sidecar_cache_orphan`
pub static SIDECAR_CACHE_ORPHAN: Code = Code {
    name: "sidecar_cache_orphan",
    severity: Severity::Info,
    verdict: "none",
    summary: "The index cache holds an entry of a session that does not exist.",
    gjc: "Nothing.",
    help: "It may be removed when no gjc runs.",
    section: "04 §10.2",
    ..AREA
};

/// `resident_cache_orphan`
pub static RESIDENT_CACHE_ORPHAN: Code = Code {
    name: "resident_cache_orphan",
    severity: Severity::Info,
    verdict: "none",
    summary: "The memory cache of a gjc process that has ended was left behind.",
    gjc: "Nothing; content that a session needs is in the blob store.",
    help: "It may be removed when no gjc runs.",
    section: "04 §5.9",
    ..AREA
};

/// `draft_orphan`
pub static DRAFT_ORPHAN: Code = Code {
    name: "draft_orphan",
    severity: Severity::Info,
    verdict: "none",
    summary: "An unsent draft lies in a directory without its session.",
    gjc: "gjc never shows it.",
    help: "Copy the text out if you want it.",
    section: "04 §10.1",
    ..AREA
};

/// `foreign_file`
pub static FOREIGN_FILE: Code = Code {
    name: "foreign_file",
    severity: Severity::Info,
    verdict: "ignored",
    summary: "A file lies there that gjc does not know.",
    gjc: "gjc ignores it.",
    help: "Look at what it is, and keep your own files outside the agent directory.",
    section: "04 §1.2; 02 §1",
    ..AREA
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
