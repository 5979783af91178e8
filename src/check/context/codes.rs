//! Codes of the area *context* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `compaction_first_kept_missing`
pub static COMPACTION_FIRST_KEPT_MISSING: Code = Code {
    name: "compaction_first_kept_missing",
    token: None,
    area: "context",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`firstKeptEntryId`, after migration, is a string and not the id of an entry before the compaction on its path, and there is no remote replacement history",
    gjc: "the model sees only the summary",
    help: "",
    section: "01 §9.6",
    since: "0.1.0",
};

/// `compaction_gap`
pub static COMPACTION_GAP: Code = Code {
    name: "compaction_gap",
    token: None,
    area: "context",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two compactions are on the path, the later `firstKeptEntryId` stands after the earlier compaction, and that one kept at least one message",
    gjc: "the messages that only the earlier one kept are in the context no more; whether the later summary covers them cannot be read from the file",
    help: "",
    section: "01 §9.6",
    since: "0.1.0",
};

/// `compaction_siblings`
pub static COMPACTION_SIBLINGS: Code = Code {
    name: "compaction_siblings",
    token: None,
    area: "context",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two compactions have one parent, or a compaction without descendants has a sibling that goes on",
    gjc: "the unused summary stays in the file",
    help: "",
    section: "01 §9.6",
    since: "0.1.0",
};

/// `context_too_large`
pub static CONTEXT_TOO_LARGE: Code = Code {
    name: "context_too_large",
    token: Some("context_too_large"),
    area: "context",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the rebuilt default context measures more than 536,870,912 (or `GJC_SESSION_CONTEXT_BUDGET_BYTES`)",
    gjc: "S `context_too_large`; `--continue` throws; exit bit 2",
    help: "",
    section: "01 §9.9",
    since: "0.1.0",
};

/// `empty_turn_run`
pub static EMPTY_TURN_RUN: Code = Code {
    name: "empty_turn_run",
    token: None,
    area: "context",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "three or more assistant messages with empty `content` and `stopReason` `aborted` or `error` follow each other on the default path without a user or tool message between",
    gjc: "sent again on every request",
    help: "",
    section: "field O11",
    since: "0.1.0",
};

/// `redundant_entry_run`
pub static REDUNDANT_ENTRY_RUN: Code = Code {
    name: "redundant_entry_run",
    token: None,
    area: "context",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a change to the value already in force, defaults of 01 §9.2 included (the first `off` counts)",
    gjc: "none; the file grows",
    help: "",
    section: "01 §9.2",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] =
    &[&COMPACTION_FIRST_KEPT_MISSING, &COMPACTION_GAP, &COMPACTION_SIBLINGS, &CONTEXT_TOO_LARGE, &EMPTY_TURN_RUN, &REDUNDANT_ENTRY_RUN];
