//! Codes of the area *context* (spec 05).

use crate::finding::{Class, Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("context");

/// `compaction_first_kept_missing`
pub static COMPACTION_FIRST_KEPT_MISSING: Code = Code {
    name: "compaction_first_kept_missing",
    severity: Severity::Warning,
    verdict: "the model sees only the summary",
    summary: "The compaction's first kept entry is not in the history before it.",
    gjc: "The model sees the summary and what follows, but none of the messages that should have been kept.",
    help: "In `/tree`, continue from before the compaction and compact again; or say again what the model must know.",
    section: "01 §9.6",
    ..AREA
};

/// `compaction_gap`
pub static COMPACTION_GAP: Code = Code {
    name: "compaction_gap",
    severity: Severity::Info,
    verdict: "the messages that only the earlier one kept are in the context no more; whether the later summary covers them cannot be read from the file",
    summary: "A second compaction keeps less than the first, and the messages between may be in neither summary.",
    gjc: "Messages that only the first compaction kept are no longer sent to the model.",
    help: "Read the later summary. If something important is missing, say it again or continue from before the second compaction.",
    section: "01 §9.6",
    ..AREA
};

/// `compaction_siblings`
pub static COMPACTION_SIBLINGS: Code = Code {
    name: "compaction_siblings",
    severity: Severity::Info,
    verdict: "the unused summary stays in the file",
    summary: "Two compactions stand side by side, and one of them leads nowhere.",
    gjc: "The unused summary stays in the file and is not sent.",
    help: "Nothing needs to be done.",
    section: "01 §9.6",
    ..AREA
};

/// `context_too_large`
pub static CONTEXT_TOO_LARGE: Code = Code {
    name: "context_too_large",
    token: Some("context_too_large"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "S `context_too_large`; `--continue` throws; exit bit 2",
    summary: "The conversation rebuilt from this file is larger than gjc's memory budget.",
    gjc: "gjc refuses to resume the session (`context_too_large`), and `--continue` throws. The file is not damaged.",
    help: "Raise GJC_SESSION_CONTEXT_BUDGET_BYTES on a machine with enough memory, resume and `/compact`; or fork from an earlier point. This is a limit, not damage.",
    section: "01 §9.9",
    ..AREA
};

/// `empty_turn_run`
pub static EMPTY_TURN_RUN: Code = Code {
    name: "empty_turn_run",
    severity: Severity::Warning,
    verdict: "sent again on every request",
    summary: "Several empty, failed assistant turns follow each other.",
    gjc: "They are sent again with every request.",
    help: "Continue from before them in `/tree`, or compact.",
    section: "field O11",
    ..AREA
};

/// `redundant_entry_run`
pub static REDUNDANT_ENTRY_RUN: Code = Code {
    name: "redundant_entry_run",
    severity: Severity::Info,
    verdict: "none; the file grows",
    summary: "Setting changes repeat the value that is already in force.",
    gjc: "Nothing breaks; the file grows.",
    help: "Nothing needs to be done.",
    section: "01 §9.2",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] =
    &[&COMPACTION_FIRST_KEPT_MISSING, &COMPACTION_GAP, &COMPACTION_SIBLINGS, &CONTEXT_TOO_LARGE, &EMPTY_TURN_RUN, &REDUNDANT_ENTRY_RUN];
