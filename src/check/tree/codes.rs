//! Codes of the area *tree* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `duplicate_entry_id`
pub static DUPLICATE_ENTRY_ID: Code = Code {
    name: "duplicate_entry_id",
    token: None,
    area: "tree",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two entries that are no headers share an id",
    gjc: "the last one owns the id, the earlier is unreachable; R `bounded_scan_duplicate`",
    help: "",
    section: "01 §7.1, §7.3",
    since: "0.1.0",
};

/// `dangling_parent`
pub static DANGLING_PARENT: Code = Code {
    name: "dangling_parent",
    token: None,
    area: "tree",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`parentId` is a non-empty string that no entry of the file has; say how many messages are cut off, and when the header's `parentSession` is a path that a dropped `label` explains it",
    gjc: "history before it is not in the context of that branch; R `bounded_scan_missing_parent`",
    help: "",
    section: "01 §7.3; 04 §9.2",
    since: "0.1.0",
};

/// `parent_cycle`
pub static PARENT_CYCLE: Code = Code {
    name: "parent_cycle",
    token: None,
    area: "tree",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "following `parentId` from an entry meets an id twice (length 1 = its own parent)",
    gjc: "the walk stops at the repeat; tree order is arbitrary",
    help: "",
    section: "01 §7.3",
    since: "0.1.0",
};

/// `parent_after_child`
pub static PARENT_AFTER_CHILD: Code = Code {
    name: "parent_after_child",
    token: None,
    area: "tree",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an entry's parent stands later in the file, and the entry is in no cycle",
    gjc: "followed normally",
    help: "",
    section: "01 §7.3",
    since: "0.1.0",
};

/// `unreachable_branch`
pub static UNREACHABLE_BRANCH: Code = Code {
    name: "unreachable_branch",
    token: None,
    area: "tree",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "entries exist that are not on the default path (count of entries, tips and roots)",
    gjc: "not in the default context",
    help: "",
    section: "01 §7",
    since: "0.1.0",
};

/// `leaf_without_history`
pub static LEAF_WITHOUT_HISTORY: Code = Code {
    name: "leaf_without_history",
    token: None,
    area: "tree",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the file holds a message and the default path holds no `message`, `custom_message`, `branch_summary`, `compaction` or `context_clear`",
    gjc: "resume shows an empty conversation",
    help: "",
    section: "01 §7.1, §9.1",
    since: "0.1.0",
};

/// `leaf_behind_tip`
pub static LEAF_BEHIND_TIP: Code = Code {
    name: "leaf_behind_tip",
    token: None,
    area: "tree",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "counts messages behind the last common entry, or behind the root where there is none",
    gjc: "resume continues the shorter branch",
    help: "",
    section: "01 §7.1",
    since: "0.1.0",
};

/// `interleaved_branches`
pub static INTERLEAVED_BRANCHES: Code = Code {
    name: "interleaved_branches",
    token: None,
    area: "tree",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two sibling chains under one parent have at least two runs each in file order (A B A B)",
    gjc: "two writers shared the file",
    help: "",
    section: "01 §7",
    since: "0.1.0",
};

/// `shared_history`
pub static SHARED_HISTORY: Code = Code {
    name: "shared_history",
    token: None,
    area: "tree",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two checked transcripts, linked by `parentSession` or by one header id, have k ≥ 1 entry ids in common",
    gjc: "statistics count them twice",
    help: "",
    section: "04 §9.1",
    since: "0.1.0",
};

/// `label_target_missing`
pub static LABEL_TARGET_MISSING: Code = Code {
    name: "label_target_missing",
    token: None,
    area: "tree",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `label` names an id that no entry has",
    gjc: "ignored",
    help: "",
    section: "01 §7.1",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &DUPLICATE_ENTRY_ID,
    &DANGLING_PARENT,
    &PARENT_CYCLE,
    &PARENT_AFTER_CHILD,
    &UNREACHABLE_BRANCH,
    &LEAF_WITHOUT_HISTORY,
    &LEAF_BEHIND_TIP,
    &INTERLEAVED_BRANCHES,
    &SHARED_HISTORY,
    &LABEL_TARGET_MISSING,
];
