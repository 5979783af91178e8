//! Codes of the area *tree* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("tree");

/// `duplicate_entry_id`
pub static DUPLICATE_ENTRY_ID: Code = Code {
    name: "duplicate_entry_id",
    severity: Severity::Warning,
    verdict: "the last one owns the id, the earlier is unreachable; R `bounded_scan_duplicate`",
    summary: "Two entries have the same id.",
    gjc: "The later one owns the id; the earlier is unreachable. Above 128 MiB the file is refused (`bounded_scan_duplicate`).",
    help: "Compare the two entries: where the bytes differ, give the earlier one another id in a copy to see it again; where they are equal nothing is lost.",
    section: "01 §7.1, §7.3",
    ..AREA
};

/// `dangling_parent`
pub static DANGLING_PARENT: Code = Code {
    name: "dangling_parent",
    severity: Severity::Warning,
    verdict: "history before it is not in the context of that branch; R `bounded_scan_missing_parent`",
    summary: "An entry's parent is not in the file, so the history before it is cut off.",
    gjc: "gjc opens the session and shows only what follows this entry; the cut-off messages stay in the file. Above 128 MiB the file is refused.",
    help: "Before you continue the session, let the entry name the nearest entry before it as parent, in a copy. If another finding names a damaged line, mend that first: it may be the parent.",
    section: "01 §7.3; 04 §9.2",
    ..AREA
};

/// `parent_cycle`
pub static PARENT_CYCLE: Code = Code {
    name: "parent_cycle",
    severity: Severity::Warning,
    verdict: "the walk stops at the repeat; tree order is arbitrary",
    summary: "Following the parents of an entry leads back to itself.",
    gjc: "gjc stops at the repeat, so the order of the history is arbitrary and part of it may be missing.",
    help: "In a copy, let the first entry of the cycle name the entry before it in the file as its parent.",
    section: "01 §7.3",
    ..AREA
};

/// `parent_after_child`
pub static PARENT_AFTER_CHILD: Code = Code {
    name: "parent_after_child",
    severity: Severity::Info,
    verdict: "followed normally",
    summary: "An entry's parent stands later in the file.",
    gjc: "Nothing breaks: gjc follows it as usual. Above 128 MiB the file is refused.",
    help: "Nothing needs to be done.",
    section: "01 §7.3",
    ..AREA
};

/// `unreachable_branch`
pub static UNREACHABLE_BRANCH: Code = Code {
    name: "unreachable_branch",
    severity: Severity::Info,
    verdict: "not in the default context",
    summary: "The file holds entries that are not part of the current conversation.",
    gjc: "They are not sent to the model. They stay reachable in `/tree`.",
    help: "Nothing needs to be done: this is normal after branching. If other findings name a lost parent, look there.",
    section: "01 §7",
    ..AREA
};

/// `leaf_without_history`
pub static LEAF_WITHOUT_HISTORY: Code = Code {
    name: "leaf_without_history",
    severity: Severity::Warning,
    verdict: "resume shows an empty conversation",
    summary: "The file holds messages, but the last entry leads to none of them.",
    gjc: "Resuming shows an empty conversation, and continuing starts a new branch beside the old one.",
    help: "Open `/tree` and choose the branch with the messages before you write anything, or remove the stray last entry in a copy.",
    section: "01 §7.1, §9.1",
    ..AREA
};

/// `leaf_behind_tip`
pub static LEAF_BEHIND_TIP: Code = Code {
    name: "leaf_behind_tip",
    severity: Severity::Warning,
    verdict: "resume continues the shorter branch",
    summary: "The last entry belongs to an older branch than the one with the most recent work.",
    gjc: "Resuming continues the shorter branch; the longer one stays in the file, out of sight.",
    help: "Choose the longer branch in `/tree` after resuming, before you write anything.",
    section: "01 §7.1",
    ..AREA
};

/// `interleaved_branches`
pub static INTERLEAVED_BRANCHES: Code = Code {
    name: "interleaved_branches",
    severity: Severity::Info,
    verdict: "two writers shared the file",
    summary: "Two branches were written alternately, as two gjc windows on one session do.",
    gjc: "Both branches are kept; resuming continues the one that was written last.",
    help: "Look at both branches in `/tree`. Fork a session instead of opening it twice.",
    section: "01 §7",
    ..AREA
};

/// `shared_history`
pub static SHARED_HISTORY: Code = Code {
    name: "shared_history",
    severity: Severity::Info,
    verdict: "statistics count them twice",
    summary: "Two transcripts share entries, because one was made from the other.",
    gjc: "Nothing breaks. Usage statistics count the shared entries twice.",
    help: "Nothing needs to be done.",
    section: "04 §9.1",
    ..AREA
};

/// `label_target_missing`
pub static LABEL_TARGET_MISSING: Code = Code {
    name: "label_target_missing",
    severity: Severity::Info,
    verdict: "ignored",
    summary: "A label names an entry that is not in the file.",
    gjc: "gjc ignores the label.",
    help: "Nothing needs to be done.",
    section: "01 §7.1",
    ..AREA
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
