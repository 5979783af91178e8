//! Codes of the area *quota* (spec 05).

use crate::finding::{Class, Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("quota");

/// `managed_gc_journal_capacity_exceeded`
pub static MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED: Code = Code {
    name: "managed_gc_journal_capacity_exceeded",
    token: Some("managed_gc_journal_capacity_exceeded"),
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "replay, discovery, inspector, prepare, delete refuse; exit bit 2; neither absence nor corruption",
    summary: "The collection receipts of a workspace have reached a limit. This is a full journal, not a broken or a missing one.",
    gjc: "0.17 stops reading: collection, inspection, starting and deleting in this workspace answer this token. It does not mean that a session, binding or receipt is absent or corrupt. The limits: 64 MiB for one receipt, 512 MiB for one session's receipts, 50,000 receipts in one scope, and the replay budget of one deletion.",
    help: "Remove nothing: bindings and receipts are healthy. Do not collect or delete again here: every attempt needs one more receipt, and gjc takes none away. Stop gjc, make a backup of the whole scope, and archive the sessions whose collection is finished. Ask upstream before moving receipts.",
    section: "03 §14; 02 §9.4",
    ..AREA
};

/// `managed_gc_receipt_capacity_exceeded`
pub static MANAGED_GC_RECEIPT_CAPACITY_EXCEEDED: Code = Code {
    name: "managed_gc_receipt_capacity_exceeded",
    token: Some("managed_gc_receipt_capacity_exceeded"),
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "the owner can be prepared, never become pending",
    summary: "The artifacts of a session are too many for a collection receipt.",
    gjc: "0.17 can begin to collect the session, but never finish: the next receipt would be larger than 64 MiB. Nothing is damaged.",
    help: "Reduce the session's artifacts while the session still owns them.",
    section: "03 §4, §14 Q1",
    ..AREA
};

/// `managed_gc_protocol_entry_limit_exceeded`
pub static MANAGED_GC_PROTOCOL_ENTRY_LIMIT_EXCEEDED: Code = Code {
    name: "managed_gc_protocol_entry_limit_exceeded",
    token: Some("managed_gc_protocol_entry_limit_exceeded"),
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "inspector refuses; exit bit 2",
    summary: "The workspaces together hold more than 50,000 protocol files.",
    gjc: "0.17's inspector refuses. Nothing is damaged, and sessions work as usual.",
    help: "This is a limit, not damage. Archive scopes of workspaces that no longer exist, with gjc stopped.",
    section: "03 §14 Q9",
    ..AREA
};

/// `gc_receipt_quota_near`
pub static GC_RECEIPT_QUOTA_NEAR: Code = Code {
    name: "gc_receipt_quota_near",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "none yet",
    summary: "The collection receipts of a session or workspace are close to a limit.",
    gjc: "Nothing yet. At the limit 0.17 answers `managed_gc_journal_capacity_exceeded`.",
    help: "Collect here as rarely as you can: every `gjc gc --disk --prune` adds receipts to what is pending, and gjc takes none away. A receipt is as large as the session's artifacts are many: reduce them while the session still owns them. With gjc stopped, archive what you no longer use.",
    section: "03 §14",
    ..AREA
};

/// `gc_inventory_admission_at_risk`
pub static GC_INVENTORY_ADMISSION_AT_RISK: Code = Code {
    name: "gc_inventory_admission_at_risk",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "read-only GC may answer `managed_gc_journal_capacity_exceeded` (bound UNVERIFIED)",
    summary: "There are so many collection receipts that listing them may exceed gjc's budget.",
    gjc: "0.17's read-only collection may answer `managed_gc_journal_capacity_exceeded`; the exact bound is not known.",
    help: "Nothing needs to be done while gjc still answers. Collecting adds receipts and takes none away: with gjc stopped, archive the scopes of workspaces that no longer exist.",
    section: "03 §14.3",
    ..AREA
};

/// `limit_near`
pub static LIMIT_NEAR: Code = Code {
    name: "limit_near",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    verdict: "none yet",
    summary: "Something is close to one of gjc's limits.",
    gjc: "Nothing yet. The gauge names the limit and what happens at it.",
    help: "`gjc-fsck quota` says what is counted and what gjc does above the limit. Never remove records of gjc by hand; go on in another session, scope or directory before the limit is reached.",
    section: "design §5; 04 §6.4",
    ..AREA
};

/// `scope_capacity_exceeded`
pub static SCOPE_CAPACITY_EXCEEDED: Code = Code {
    name: "scope_capacity_exceeded",
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "0.15: start refused, blamed on the binding (operation and token UNVERIFIED in the spec); 0.17: `gjc gc` reports `over_limit`; exit bit 2",
    summary: "The files of one workspace hold more than 512 MiB.",
    gjc: "0.15 can refuse to start there and blames the binding. 0.17 starts, and `gjc gc` reports `over_limit`. The binding is healthy.",
    help: "This is a limit, not damage: never touch the binding file. Move old sessions of this workspace elsewhere, or delete them with gjc.",
    section: "03 §17; field G8",
    ..AREA
};

/// `scope_near_capacity`
pub static SCOPE_NEAR_CAPACITY: Code = Code {
    name: "scope_near_capacity",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    verdict: "`gjc gc` reports `approaching_limit`",
    summary: "The files of one workspace fill more than three quarters of 512 MiB.",
    gjc: "Nothing yet. `gjc gc` reports `approaching_limit`.",
    help: "Move old sessions of this workspace elsewhere, or delete them with gjc.",
    section: "03 §17",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED,
    &MANAGED_GC_RECEIPT_CAPACITY_EXCEEDED,
    &MANAGED_GC_PROTOCOL_ENTRY_LIMIT_EXCEEDED,
    &GC_RECEIPT_QUOTA_NEAR,
    &GC_INVENTORY_ADMISSION_AT_RISK,
    &LIMIT_NEAR,
    &SCOPE_CAPACITY_EXCEEDED,
    &SCOPE_NEAR_CAPACITY,
];
