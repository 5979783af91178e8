//! Codes of the area *quota* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `managed_gc_journal_capacity_exceeded`
pub static MANAGED_GC_JOURNAL_CAPACITY_EXCEEDED: Code = Code {
    name: "managed_gc_journal_capacity_exceeded",
    token: Some("managed_gc_journal_capacity_exceeded"),
    area: "quota",
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a stored receipt > 64 MiB; a transcript's receipts > 512 MiB; > 50,000 `gc-retirement-` entries in one scope; or a cleanup replay beyond 03 §14.2",
    gjc: "replay, discovery, inspector, prepare, delete refuse; exit bit 2; neither absence nor corruption",
    help: "",
    section: "03 §14; 02 §9.4",
    since: "0.1.0",
};

/// `managed_gc_receipt_capacity_exceeded`
pub static MANAGED_GC_RECEIPT_CAPACITY_EXCEEDED: Code = Code {
    name: "managed_gc_receipt_capacity_exceeded",
    token: Some("managed_gc_receipt_capacity_exceeded"),
    area: "quota",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "the next pending receipt of a journal (about four times its tree) would exceed 64 MiB",
    gjc: "the owner can be prepared, never become pending",
    help: "",
    section: "03 §4, §14 Q1",
    since: "0.1.0",
};

/// `managed_gc_protocol_entry_limit_exceeded`
pub static MANAGED_GC_PROTOCOL_ENTRY_LIMIT_EXCEEDED: Code = Code {
    name: "managed_gc_protocol_entry_limit_exceeded",
    token: Some("managed_gc_protocol_entry_limit_exceeded"),
    area: "quota",
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "more than 50,000 files in the role directories of the inspected scopes",
    gjc: "inspector refuses; exit bit 2",
    help: "",
    section: "03 §14 Q9",
    since: "0.1.0",
};

/// `gc_receipt_quota_near`
pub static GC_RECEIPT_QUOTA_NEAR: Code = Code {
    name: "gc_receipt_quota_near",
    token: None,
    area: "quota",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "at least 90 % of one of Q2 to Q5 or of a limit of 03 §14.2, or fewer than 3 appends left",
    gjc: "none yet",
    help: "",
    section: "03 §14",
    since: "0.1.0",
};

/// `gc_inventory_admission_at_risk`
pub static GC_INVENTORY_ADMISSION_AT_RISK: Code = Code {
    name: "gc_inventory_admission_at_risk",
    token: None,
    area: "quota",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "more than 6,250 entries in all receipts directories of the profile together",
    gjc: "read-only GC may answer `managed_gc_journal_capacity_exceeded` (bound UNVERIFIED)",
    help: "",
    section: "03 §14.3",
    since: "0.1.0",
};

/// `limit_near`
pub static LIMIT_NEAR: Code = Code {
    name: "limit_near",
    token: None,
    area: "quota",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "any other gauge (artifact trees, replacement receipts, legacy directories, project scan) stands at 90 % of its limit or more and not above it",
    gjc: "none yet",
    help: "",
    section: "design §5; 04 §6.4",
    since: "0.1.0",
};

/// `scope_capacity_exceeded`
pub static SCOPE_CAPACITY_EXCEEDED: Code = Code {
    name: "scope_capacity_exceeded",
    token: None,
    area: "quota",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the files of one scope hold more than 536,870,912 bytes",
    gjc: "0.15: start refused, blamed on the binding (operation and token UNVERIFIED in the spec); 0.17: `gjc gc` reports `over_limit`; exit bit 2",
    help: "",
    section: "03 §17; field G8",
    since: "0.1.0",
};

/// `scope_near_capacity`
pub static SCOPE_NEAR_CAPACITY: Code = Code {
    name: "scope_near_capacity",
    token: None,
    area: "quota",
    severity: Severity::Warning,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "at least 75 % of that and not above it",
    gjc: "`gjc gc` reports `approaching_limit`",
    help: "",
    section: "03 §17",
    since: "0.1.0",
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
