//! Codes of the area *patch* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `header_patch_invalid`
pub static HEADER_PATCH_INVALID: Code = Code {
    name: "header_patch_invalid",
    token: None,
    area: "patch",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `header_patch` record fails 01 §5.2 (in 0.15 also when it carries `starred`)",
    gjc: "the whole record is ignored; the next rewrite drops it",
    help: "",
    section: "01 §5.2",
    since: "0.1.0",
};

/// `entry_patch_invalid`
pub static ENTRY_PATCH_INVALID: Code = Code {
    name: "entry_patch_invalid",
    token: None,
    area: "patch",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an `entry_patch` record fails 01 §5.2",
    gjc: "the whole record is ignored; the next rewrite drops it",
    help: "",
    section: "01 §5.2",
    since: "0.1.0",
};

/// `patch_before_v4`
pub static PATCH_BEFORE_V4: Code = Code {
    name: "patch_before_v4",
    token: None,
    area: "patch",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a valid patch stands before the header, or under a first header whose `version` is absent or < 4",
    gjc: "ignored",
    help: "",
    section: "01 §5.3",
    since: "0.1.0",
};

/// `entry_patch_target_missing`
pub static ENTRY_PATCH_TARGET_MISSING: Code = Code {
    name: "entry_patch_target_missing",
    token: None,
    area: "patch",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "no earlier entry has the patch's `entryId`, or the latest earlier one with that id is not a `message`",
    gjc: "ignored",
    help: "",
    section: "01 §5.3",
    since: "0.1.0",
};

/// `star_without_capability`
pub static STAR_WITHOUT_CAPABILITY: Code = Code {
    name: "star_without_capability",
    token: None,
    area: "patch",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "`starred` in the header or in a patch while `starredPatchVersion` is not 1",
    gjc: "not starred in effect",
    help: "",
    section: "01 §2.6, §5.3",
    since: "0.1.0",
};

/// `star_checkpoint_missing`
pub static STAR_CHECKPOINT_MISSING: Code = Code {
    name: "star_checkpoint_missing",
    token: None,
    area: "patch",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "capable header; a title or cwd patch whose preceding record is no `starred` patch",
    gjc: "none; the reverse scan reads further",
    help: "",
    section: "01 §5.4",
    since: "0.1.0",
};

/// `owner_patch_shadows_fields`
pub static OWNER_PATCH_SHADOWS_FIELDS: Code = Code {
    name: "owner_patch_shadows_fields",
    token: None,
    area: "patch",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Only017,
    summary: "a `header_patch` with `taskArtifactOwner` also carries `title`, `cwd` or `starred`",
    gjc: "ordinary replay ignores the whole record",
    help: "",
    section: "01 §3.3",
    since: "0.1.0",
};

/// `replay_sanitation_pending`
pub static REPLAY_SANITATION_PENDING: Code = Code {
    name: "replay_sanitation_pending",
    token: None,
    area: "patch",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an assistant message has `providerPayload.type` `openaiResponsesHistory`",
    gjc: "merely opening for writing appends an `entry_patch` (v4 and older: rewrites)",
    help: "",
    section: "01 §5.4; vectors README 38",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &HEADER_PATCH_INVALID,
    &ENTRY_PATCH_INVALID,
    &PATCH_BEFORE_V4,
    &ENTRY_PATCH_TARGET_MISSING,
    &STAR_WITHOUT_CAPABILITY,
    &STAR_CHECKPOINT_MISSING,
    &OWNER_PATCH_SHADOWS_FIELDS,
    &REPLAY_SANITATION_PENDING,
];
