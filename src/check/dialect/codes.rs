//! Codes of the area *dialect* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `not_a_session`
pub static NOT_A_SESSION: Code = Code {
    name: "not_a_session",
    token: None,
    area: "dialect",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "values exist and none has a `type` that any version of gjc knows",
    gjc: "L `[]`; S `malformed`; replaces `header_not_first`",
    help: "",
    section: "01 §2.2",
    since: "0.1.0",
};

/// `foreign_title_record`
pub static FOREIGN_TITLE_RECORD: Code = Code {
    name: "foreign_title_record",
    token: None,
    area: "dialect",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the first value is `{\"type\":\"title\",…}` and the second is a header",
    gjc: "L `[]`; S `malformed`; replaces `header_not_first`",
    help: "",
    section: "field P12, D",
    since: "0.1.0",
};

/// `dialect_detected`
pub static DIALECT_DETECTED: Code = Code {
    name: "dialect_detected",
    token: None,
    area: "dialect",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "closed list of markers, other than a leading title record. oh-my-pi: types `title_change`, `reset_boundary`, `credential_pin`, custom `session_exit`, header keys `additionalDirectories`, `previousSessionFiles`, `providerPromptCacheKey`, object `serviceTier`; pi, pi_agent_rust: header key `branchedFrom`; pi, senpi: type `session_info`; pi_agent_rust: first entry with a string id and no `parentId` in version ≥ 2; prime-agent: `agent_status`, `child_usage_attributed`, `git_state`, `session_state`; tau: type `leaf`, keys `first_kept_entry_id`, `replaces_entry_ids`; the other \"version 5\": key `ordinal`, types `client_input_receipt`, `client_input_state`",
    gjc: "explains the other findings",
    help: "",
    section: "field D",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&NOT_A_SESSION, &FOREIGN_TITLE_RECORD, &DIALECT_DETECTED];
