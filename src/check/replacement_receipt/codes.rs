//! Codes of the area *replacement receipt* (spec 05).

use crate::finding::{Class, Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("replacement receipt");

/// `managed_replace_cleanup_receipt_invalid`
pub static MANAGED_REPLACE_CLEANUP_RECEIPT_INVALID: Code = Code {
    name: "managed_replace_cleanup_receipt_invalid",
    token: Some("managed_replace_cleanup_receipt_invalid"),
    severity: Severity::Error,
    verdict: "a new session fails `binding_invalid`; a migration commits, then fails `managed_storage_unsupported`; opening a v2 session succeeds",
    summary: "A replacement receipt is invalid; typically the directory was copied or restored.",
    gjc: "Starting a new session in this workspace fails with `binding_invalid`; a migration is carried out and then reported as failed. Opening a migrated session works.",
    help: "Make sure that the transcript it names is complete. Then, with gjc stopped and a backup made, move the receipt out of the directory.",
    section: "02 §8.4; 02a.4, 02a.15",
    ..AREA
};

/// `managed_replace_cleanup_receipt_limit_exceeded`
pub static MANAGED_REPLACE_CLEANUP_RECEIPT_LIMIT_EXCEEDED: Code = Code {
    name: "managed_replace_cleanup_receipt_limit_exceeded",
    token: Some("managed_replace_cleanup_receipt_limit_exceeded"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "prepare and writes `capacity_exceeded`; exit bit 2",
    summary: "A directory holds more than 50,000 replacement receipts.",
    gjc: "Starting and writing answer `capacity_exceeded`. Nothing is damaged.",
    help: "This is a limit, not damage. With gjc stopped and a backup made, move the receipts whose transcripts are complete elsewhere; never touch the binding file.",
    section: "02 §8.4",
    ..AREA
};

/// `replacement_receipt_recoverable`
pub static REPLACEMENT_RECEIPT_RECOVERABLE: Code = Code {
    name: "replacement_receipt_recoverable",
    severity: Severity::Info,
    verdict: "the next write retires it",
    summary: "A replacement receipt is empty, and its real content still exists beside it.",
    gjc: "The next write settles it.",
    help: "Nothing needs to be done.",
    section: "02 §8.4",
    ..AREA
};

/// `replacement_receipt_foreign_host`
pub static REPLACEMENT_RECEIPT_FOREIGN_HOST: Code = Code {
    name: "replacement_receipt_foreign_host",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "owned for ever on this host; reconciliation skips it",
    summary: "A replacement receipt was written on another machine.",
    gjc: "0.17 on this machine treats it as owned by the other one and never settles it.",
    help: "Let gjc on the other machine finish, if both share the directory. If the directory was moved here for good, move the receipt out with gjc stopped, after checking that the transcript is complete.",
    section: "02 §8.3",
    ..AREA
};

/// `replacement_receipt_pending`
pub static REPLACEMENT_RECEIPT_PENDING: Code = Code {
    name: "replacement_receipt_pending",
    severity: Severity::Info,
    verdict: "the next write resolves it",
    summary: "A replacement is not settled yet.",
    gjc: "The next write settles it.",
    help: "Nothing needs to be done.",
    section: "02 §8.3, §8.4",
    ..AREA
};

/// `replacement_receipt_no_publisher`
pub static REPLACEMENT_RECEIPT_NO_PUBLISHER: Code = Code {
    name: "replacement_receipt_no_publisher",
    severity: Severity::Info,
    releases: Releases::Only017,
    verdict: "an older gjc writes here too",
    summary: "A replacement receipt does not say who wrote it.",
    gjc: "An older gjc writes here too; 0.17 reads it.",
    help: "Use one version of gjc for one agent directory.",
    section: "02 §8.2",
    ..AREA
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
