//! Codes of the area *tool pairing* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("tool pairing");

/// `toolcall_unanswered`
pub static TOOLCALL_UNANSWERED: Code = Code {
    name: "toolcall_unanswered",
    severity: Severity::Warning,
    verdict: "gjc loads it; many providers refuse the next request",
    summary: "A tool call has no result, and the conversation went on.",
    gjc: "gjc loads it. Many model providers refuse the next request.",
    help: "If requests are refused, continue from before the call in `/tree`.",
    section: "01 §2.3.12; field P7",
    ..AREA
};

/// `toolcall_abandoned`
pub static TOOLCALL_ABANDONED: Code = Code {
    name: "toolcall_abandoned",
    severity: Severity::Info,
    verdict: "normal after an interruption; S `terminal`",
    summary: "A tool call was interrupted and never got a result.",
    gjc: "Nothing breaks: this is normal after an interruption.",
    help: "Nothing needs to be done. Check the workspace, because the tool may have run although its result was not stored.",
    section: "04 §4.4",
    ..AREA
};

/// `toolcall_id_duplicate`
pub static TOOLCALL_ID_DUPLICATE: Code = Code {
    name: "toolcall_id_duplicate",
    severity: Severity::Warning,
    verdict: "pairing is ambiguous",
    summary: "Two tool calls, or two results, have the same call id.",
    gjc: "gjc loads it; which result belongs to which call is ambiguous, and providers may refuse the request.",
    help: "If requests are refused, continue from before the second one in `/tree`.",
    section: "field input 36",
    ..AREA
};

/// `toolcall_arguments_not_object`
pub static TOOLCALL_ARGUMENTS_NOT_OBJECT: Code = Code {
    name: "toolcall_arguments_not_object",
    severity: Severity::Error,
    verdict: "gjc loads it; every following model request is refused",
    summary: "The arguments of a tool call are not an object.",
    gjc: "gjc loads the session, and every request to the model that holds this call is refused: it cannot be continued.",
    help: "Continue from before the call in `/tree`, or set `arguments` to `{}` in a copy. Anything said after the call stays readable.",
    section: "field G22, G23",
    ..AREA
};

/// `toolresult_orphan`
pub static TOOLRESULT_ORPHAN: Code = Code {
    name: "toolresult_orphan",
    severity: Severity::Warning,
    verdict: "gjc loads it; many providers refuse the request",
    summary: "A tool result has no matching tool call.",
    gjc: "gjc loads it. Many model providers refuse the request.",
    help: "Look for a damaged line that held the call. If requests are refused, continue from before the result in `/tree`.",
    section: "field E3",
    ..AREA
};

/// `toolresult_before_call`
pub static TOOLRESULT_BEFORE_CALL: Code = Code {
    name: "toolresult_before_call",
    severity: Severity::Warning,
    verdict: "gjc loads it; many providers refuse the request",
    summary: "A tool result stands before its call.",
    gjc: "gjc loads it. Many model providers refuse the request.",
    help: "If requests are refused, continue from before the result in `/tree`.",
    section: "field P13",
    ..AREA
};

/// `toolresult_for_failed_call`
pub static TOOLRESULT_FOR_FAILED_CALL: Code = Code {
    name: "toolresult_for_failed_call",
    severity: Severity::Warning,
    verdict: "the provider history may keep only the result",
    summary: "A tool result answers a call of a message that ended in an error.",
    gjc: "gjc loads it. The provider may see the result without its call and refuse the request.",
    help: "If requests are refused, continue from before the failed message in `/tree`.",
    section: "field O10",
    ..AREA
};

/// `compaction_inside_tool_pair`
pub static COMPACTION_INSIDE_TOOL_PAIR: Code = Code {
    name: "compaction_inside_tool_pair",
    severity: Severity::Error,
    verdict: "a later compaction that keeps it splits the pair; the session is refused by the provider",
    summary: "A compaction stands between a tool call and its result.",
    gjc: "gjc loads the session. A later compaction that keeps this range splits the pair, and the provider then refuses every request.",
    help: "Continue from before the compaction in `/tree` and compact again when no tool is running.",
    section: "field P8",
    ..AREA
};

/// `compaction_boundary_splits_tool_pair`
pub static COMPACTION_BOUNDARY_SPLITS_TOOL_PAIR: Code = Code {
    name: "compaction_boundary_splits_tool_pair",
    severity: Severity::Warning,
    verdict: "the context begins with a result without its call",
    summary: "The kept part of a compaction begins between a tool call and its result.",
    gjc: "The conversation begins with a result whose call was summarised away; many providers refuse it.",
    help: "Continue from before the compaction in `/tree` and compact again.",
    section: "01 §9.6",
    ..AREA
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
