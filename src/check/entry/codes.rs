//! Codes of the area *entry* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `entry_schema`
pub static ENTRY_SCHEMA: Code = Code {
    name: "entry_schema",
    token: None,
    area: "entry",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "after replay and migration an entry of a known type (a later `session` record included) fails the strict schema; name type, field and pointer, and no code of area migrate holds for that member",
    gjc: "S `malformed`; R `bounded_scan_unsupported`",
    help: "",
    section: "01 §2.4",
    since: "0.1.0",
};

/// `unknown_entry_type`
pub static UNKNOWN_ENTRY_TYPE: Code = Code {
    name: "unknown_entry_type",
    token: None,
    area: "entry",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a record's `type` is absent, no string, or none of the entry types of 01 §2.4, `session`, `header_patch`, `entry_patch`",
    gjc: "S `malformed`; L keeps it, the context ignores it",
    help: "",
    section: "01 §2.4",
    since: "0.1.0",
};

/// `session_cold_ref_on_disk`
pub static SESSION_COLD_REF_ON_DISK: Code = Code {
    name: "session_cold_ref_on_disk",
    token: None,
    area: "entry",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a record has `type` `session_cold_ref`",
    gjc: "S `malformed`; the content behind it is not in the file",
    help: "",
    section: "01 §4.2",
    since: "0.1.0",
};

/// `entry_crashes_replay`
pub static ENTRY_CRASHES_REPLAY: Code = Code {
    name: "entry_crashes_replay",
    token: None,
    area: "entry",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the strict schema holds and building the default context throws (bad `injectedRuleRecords`, invalid on-path `model_profile_ownership`)",
    gjc: "S `malformed`",
    help: "",
    section: "01 §2.4",
    since: "0.1.0",
};

/// `open_throws`
pub static OPEN_THROWS: Code = Code {
    name: "open_throws",
    token: None,
    area: "entry",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "one of the three cases of 01 §2.5",
    gjc: "S accepts; open throws TypeError",
    help: "",
    section: "01 §2.5",
    since: "0.1.0",
};

/// `entry_timestamp_invalid`
pub static ENTRY_TIMESTAMP_INVALID: Code = Code {
    name: "entry_timestamp_invalid",
    token: None,
    area: "entry",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an entry's `timestamp` is a string that JavaScript `Date` cannot parse",
    gjc: "time NaN (null) in the context; sorts as equal in the tree",
    help: "",
    section: "01 §2.4, §7.3",
    since: "0.1.0",
};

/// `model_change_legacy_ignored`
pub static MODEL_CHANGE_LEGACY_IGNORED: Code = Code {
    name: "model_change_legacy_ignored",
    token: None,
    area: "entry",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `model_change` has `provider` and `modelId` but no `model`",
    gjc: "schema accepts; the context ignores the switch",
    help: "",
    section: "01 §9.3",
    since: "0.1.0",
};

/// `assistant_model_missing`
pub static ASSISTANT_MODEL_MISSING: Code = Code {
    name: "assistant_model_missing",
    token: None,
    area: "entry",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an assistant message on the default path lacks a string `provider` or `model` while the default model is inferred",
    gjc: "context: model `undefined/undefined`",
    help: "",
    section: "01 §9.3",
    since: "0.1.0",
};

/// `message_role_unknown`
pub static MESSAGE_ROLE_UNKNOWN: Code = Code {
    name: "message_role_unknown",
    token: None,
    area: "entry",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`message.role` is none of the roles of 01 §4.3 or §10",
    gjc: "kept in the context; nothing is sent to the model",
    help: "",
    section: "01 §4.3, §10",
    since: "0.1.0",
};

/// `usage_malformed`
pub static USAGE_MALFORMED: Code = Code {
    name: "usage_malformed",
    token: None,
    area: "entry",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a usage object fails 01 §8.3",
    gjc: "excluded from totals; R refuses",
    help: "",
    section: "01 §8.3",
    since: "0.1.0",
};

/// `transient_field_present`
pub static TRANSIENT_FIELD_PRESENT: Code = Code {
    name: "transient_field_present",
    token: None,
    area: "entry",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a key `partialJson` or `jsonlEvents` occurs at any depth",
    gjc: "the next rewrite drops it",
    help: "",
    section: "01 §8.4",
    since: "0.1.0",
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
