//! Codes of the area *replacement receipt* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `managed_replace_cleanup_receipt_invalid`
pub static MANAGED_REPLACE_CLEANUP_RECEIPT_INVALID: Code = Code {
    name: "managed_replace_cleanup_receipt_invalid",
    token: Some("managed_replace_cleanup_receipt_invalid"),
    area: "replacement receipt",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a pending receipt's content breaks 02 §8.2; a canonical receipt's dev and ino are not those of its name and no empty twin explains it (its content is never parsed); any other name with the two prefixes (typical cause: a copied directory)",
    gjc: "a new session fails `binding_invalid`; a migration commits, then fails `managed_storage_unsupported`; opening a v2 session succeeds",
    help: "",
    section: "02 §8.4; 02a.4, 02a.15",
    since: "0.1.0",
};

/// `managed_replace_cleanup_receipt_limit_exceeded`
pub static MANAGED_REPLACE_CLEANUP_RECEIPT_LIMIT_EXCEEDED: Code = Code {
    name: "managed_replace_cleanup_receipt_limit_exceeded",
    token: Some("managed_replace_cleanup_receipt_limit_exceeded"),
    area: "replacement receipt",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "more than 50,000 names beginning `.gjc-replace-receipt-pending-` or `.gjc-replace-cleanup-` in one directory",
    gjc: "prepare and writes `capacity_exceeded`; exit bit 2",
    help: "",
    section: "02 §8.4",
    since: "0.1.0",
};

/// `replacement_receipt_recoverable`
pub static REPLACEMENT_RECEIPT_RECOVERABLE: Code = Code {
    name: "replacement_receipt_recoverable",
    token: None,
    area: "replacement receipt",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a canonical receipt is empty and `.gjc-receipt-remove-<r>-<p>` has the identity its name records",
    gjc: "the next write retires it",
    help: "",
    section: "02 §8.4",
    since: "0.1.0",
};

/// `replacement_receipt_foreign_host`
pub static REPLACEMENT_RECEIPT_FOREIGN_HOST: Code = Code {
    name: "replacement_receipt_foreign_host",
    token: None,
    area: "replacement receipt",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a valid receipt's `publisher.host` is not this host",
    gjc: "owned for ever on this host; reconciliation skips it",
    help: "",
    section: "02 §8.3",
    since: "0.1.0",
};

/// `replacement_receipt_pending`
pub static REPLACEMENT_RECEIPT_PENDING: Code = Code {
    name: "replacement_receipt_pending",
    token: None,
    area: "replacement receipt",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "any other valid receipt, version 1 included (say owned, unowned or unproven)",
    gjc: "the next write resolves it",
    help: "",
    section: "02 §8.3, §8.4",
    since: "0.1.0",
};

/// `replacement_receipt_no_publisher`
pub static REPLACEMENT_RECEIPT_NO_PUBLISHER: Code = Code {
    name: "replacement_receipt_no_publisher",
    token: None,
    area: "replacement receipt",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a valid version-3 receipt has no `publisher`",
    gjc: "an older gjc writes here too",
    help: "",
    section: "02 §8.2",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MANAGED_REPLACE_CLEANUP_RECEIPT_INVALID,
    &MANAGED_REPLACE_CLEANUP_RECEIPT_LIMIT_EXCEEDED,
    &REPLACEMENT_RECEIPT_RECOVERABLE,
    &REPLACEMENT_RECEIPT_FOREIGN_HOST,
    &REPLACEMENT_RECEIPT_PENDING,
    &REPLACEMENT_RECEIPT_NO_PUBLISHER,
];
