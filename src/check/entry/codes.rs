//! Codes of the area *entry* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("entry");

/// `entry_schema`
pub static ENTRY_SCHEMA: Code = Code {
    name: "entry_schema",
    severity: Severity::Error,
    verdict: "S `malformed`; R `bounded_scan_unsupported`",
    summary: "An entry of a known type lacks a required field or has one of the wrong type.",
    gjc: "gjc refuses to resume the session (`malformed`). Above 128 MiB it answers `bounded_scan_unsupported`.",
    help: "Keep the original. Correct the named field in a copy, or take out the entry and let its children name its parent. A fork carries the damage over.",
    section: "01 §2.4",
    ..AREA
};

/// `unknown_entry_type`
pub static UNKNOWN_ENTRY_TYPE: Code = Code {
    name: "unknown_entry_type",
    severity: Severity::Error,
    verdict: "S `malformed`; L keeps it, the context ignores it",
    summary: "An entry has no type, or one that gjc does not know.",
    gjc: "gjc refuses to resume the session (`malformed`). The lenient loader keeps the entry and the conversation ignores it.",
    help: "If a newer gjc wrote it, use that version. If another tool did, take the entry out of a copy and let its children name its parent.",
    section: "01 §2.4",
    ..AREA
};

/// `session_cold_ref_on_disk`
pub static SESSION_COLD_REF_ON_DISK: Code = Code {
    name: "session_cold_ref_on_disk",
    severity: Severity::Error,
    verdict: "S `malformed`; the content behind it is not in the file",
    summary: "An in-memory reference was written to the file instead of its entry.",
    gjc: "gjc refuses to resume the session (`malformed`). The content behind it is not in the file.",
    help: "Restore the transcript from a backup. Without one, take the entry out of a copy and let its children name its parent; please report it to gjc.",
    section: "01 §4.2",
    ..AREA
};

/// `entry_crashes_replay`
pub static ENTRY_CRASHES_REPLAY: Code = Code {
    name: "entry_crashes_replay",
    severity: Severity::Error,
    verdict: "S `malformed`",
    summary: "An entry is well-formed, but rebuilding the conversation from it throws.",
    gjc: "gjc refuses to resume the session (`malformed`). The check of profile ownership exists in 0.17 only.",
    help: "In a copy, correct or take out the named entry (`injectedRuleRecords` must be a list of objects; ownership data must be complete).",
    section: "01 §2.4",
    ..AREA
};

/// `open_throws`
pub static OPEN_THROWS: Code = Code {
    name: "open_throws",
    severity: Severity::Error,
    verdict: "S accepts; open throws TypeError",
    summary: "An entry passes gjc's check, yet opening the session throws.",
    gjc: "The session is listed and the check before resuming accepts it; then opening fails with a TypeError. In managed storage it may fail only at the first request.",
    help: "In a copy, repair what is named here: a `null` content block, an OpenAI history without a list of blocks, or an eviction marker without payloads.",
    section: "01 §2.5",
    ..AREA
};

/// `entry_timestamp_invalid`
pub static ENTRY_TIMESTAMP_INVALID: Code = Code {
    name: "entry_timestamp_invalid",
    severity: Severity::Info,
    verdict: "time NaN (null) in the context; sorts as equal in the tree",
    summary: "An entry's `timestamp` is not a date that JavaScript can read.",
    gjc: "The conversation holds no time for it, and the tree sorts it as equal.",
    help: "Nothing needs to be done.",
    section: "01 §2.4, §7.3",
    ..AREA
};

/// `model_change_legacy_ignored`
pub static MODEL_CHANGE_LEGACY_IGNORED: Code = Code {
    name: "model_change_legacy_ignored",
    severity: Severity::Warning,
    verdict: "schema accepts; the context ignores the switch",
    summary: "A model change names `provider` and `modelId` but no `model`, as pi writes it.",
    gjc: "gjc accepts the entry and ignores the switch: the session goes on with another model than the entry says.",
    help: "Choose the model again after resuming.",
    section: "01 §9.3",
    ..AREA
};

/// `assistant_model_missing`
pub static ASSISTANT_MODEL_MISSING: Code = Code {
    name: "assistant_model_missing",
    severity: Severity::Warning,
    verdict: "context: model `undefined/undefined`",
    summary: "An assistant message does not say which provider or model wrote it.",
    gjc: "gjc infers the session's model from it and gets `undefined/undefined`.",
    help: "Choose a model after resuming; the next model change settles it.",
    section: "01 §9.3",
    ..AREA
};

/// `message_role_unknown`
pub static MESSAGE_ROLE_UNKNOWN: Code = Code {
    name: "message_role_unknown",
    severity: Severity::Warning,
    verdict: "kept in the context; nothing is sent to the model",
    summary: "A message has a role that gjc does not know.",
    gjc: "It stays in the conversation, and nothing of it is sent to the model.",
    help: "If the text matters, say it again as a user message. The entry came from another tool.",
    section: "01 §4.3, §10",
    ..AREA
};

/// `usage_malformed`
pub static USAGE_MALFORMED: Code = Code {
    name: "usage_malformed",
    severity: Severity::Info,
    verdict: "excluded from totals; R refuses",
    summary: "A message's token usage is incomplete or has wrong types.",
    gjc: "gjc leaves it out of the totals. Above 128 MiB the file is refused.",
    help: "Nothing needs to be done below 128 MiB; totals of this session are too low.",
    section: "01 §8.3",
    ..AREA
};

/// `transient_field_present`
pub static TRANSIENT_FIELD_PRESENT: Code = Code {
    name: "transient_field_present",
    severity: Severity::Info,
    verdict: "the next rewrite drops it",
    summary: "A record holds a field that gjc keeps only in memory (`partialJson`, `jsonlEvents`).",
    gjc: "The next rewrite drops the field.",
    help: "Nothing needs to be done.",
    section: "01 §8.4",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &ENTRY_SCHEMA,
    &UNKNOWN_ENTRY_TYPE,
    &SESSION_COLD_REF_ON_DISK,
    &ENTRY_CRASHES_REPLAY,
    &OPEN_THROWS,
    &ENTRY_TIMESTAMP_INVALID,
    &MODEL_CHANGE_LEGACY_IGNORED,
    &ASSISTANT_MODEL_MISSING,
    &MESSAGE_ROLE_UNKNOWN,
    &USAGE_MALFORMED,
    &TRANSIENT_FIELD_PRESENT,
];
