//! Codes of the area *tool pairing* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `toolcall_unanswered`
pub static TOOLCALL_UNANSWERED: Code = Code {
    name: "toolcall_unanswered",
    token: None,
    area: "tool pairing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "on the default path a `toolCall` block of a message whose `stopReason` is neither `aborted` nor `error` has no `toolResult` with its id, and a later message follows",
    gjc: "gjc loads it; many providers refuse the next request",
    help: "",
    section: "01 §2.3.12; field P7",
    since: "0.1.0",
};

/// `toolcall_abandoned`
pub static TOOLCALL_ABANDONED: Code = Code {
    name: "toolcall_abandoned",
    token: None,
    area: "tool pairing",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the same for a message whose `stopReason` is `aborted` or `error`, or as the last message of the path (count)",
    gjc: "normal after an interruption; S `terminal`",
    help: "",
    section: "04 §4.4",
    since: "0.1.0",
};

/// `toolcall_id_duplicate`
pub static TOOLCALL_ID_DUPLICATE: Code = Code {
    name: "toolcall_id_duplicate",
    token: None,
    area: "tool pairing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "on one path two `toolCall` blocks, or two `toolResult` messages, have the same call id",
    gjc: "pairing is ambiguous",
    help: "",
    section: "field input 36",
    since: "0.1.0",
};

/// `toolcall_arguments_not_object`
pub static TOOLCALL_ARGUMENTS_NOT_OBJECT: Code = Code {
    name: "toolcall_arguments_not_object",
    token: None,
    area: "tool pairing",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`arguments` of a `toolCall` block is present and no object (name null, string, array …; entry id and block index)",
    gjc: "gjc loads it; every following model request is refused",
    help: "",
    section: "field G22, G23",
    since: "0.1.0",
};

/// `toolresult_orphan`
pub static TOOLRESULT_ORPHAN: Code = Code {
    name: "toolresult_orphan",
    token: None,
    area: "tool pairing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "on the default path a `toolResult` has no `toolCall` with its id before it on that path, and none after it",
    gjc: "gjc loads it; many providers refuse the request",
    help: "",
    section: "field E3",
    since: "0.1.0",
};

/// `toolresult_before_call`
pub static TOOLRESULT_BEFORE_CALL: Code = Code {
    name: "toolresult_before_call",
    token: None,
    area: "tool pairing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a call has no result behind it but one before it on the path; it is then not also `toolcall_abandoned`",
    gjc: "gjc loads it; many providers refuse the request",
    help: "",
    section: "field P13",
    since: "0.1.0",
};

/// `toolresult_for_failed_call`
pub static TOOLRESULT_FOR_FAILED_CALL: Code = Code {
    name: "toolresult_for_failed_call",
    token: None,
    area: "tool pairing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `toolResult` answers a call of a message whose `stopReason` is `error`",
    gjc: "the provider history may keep only the result",
    help: "",
    section: "field O10",
    since: "0.1.0",
};

/// `compaction_inside_tool_pair`
pub static COMPACTION_INSIDE_TOOL_PAIR: Code = Code {
    name: "compaction_inside_tool_pair",
    token: None,
    area: "tool pairing",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "on the default path a `compaction` stands between a `toolCall` message and the `toolResult` that answers it",
    gjc: "a later compaction that keeps it splits the pair; the session is refused by the provider",
    help: "",
    section: "field P8",
    since: "0.1.0",
};

/// `compaction_boundary_splits_tool_pair`
pub static COMPACTION_BOUNDARY_SPLITS_TOOL_PAIR: Code = Code {
    name: "compaction_boundary_splits_tool_pair",
    token: None,
    area: "tool pairing",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the winning compaction's kept part begins between a `toolCall` message and one of its `toolResult`s",
    gjc: "the context begins with a result without its call",
    help: "",
    section: "01 §9.6",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &TOOLCALL_UNANSWERED,
    &TOOLCALL_ABANDONED,
    &TOOLCALL_ID_DUPLICATE,
    &TOOLCALL_ARGUMENTS_NOT_OBJECT,
    &TOOLRESULT_ORPHAN,
    &TOOLRESULT_BEFORE_CALL,
    &TOOLRESULT_FOR_FAILED_CALL,
    &COMPACTION_INSIDE_TOOL_PAIR,
    &COMPACTION_BOUNDARY_SPLITS_TOOL_PAIR,
];
