//! Codes of the area *patch* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("patch");

/// `header_patch_invalid`
pub static HEADER_PATCH_INVALID: Code = Code {
    name: "header_patch_invalid",
    severity: Severity::Warning,
    verdict: "the whole record is ignored; the next rewrite drops it",
    summary: "A header patch is malformed.",
    gjc: "gjc ignores the whole patch, so the title, path or star it meant is not in effect, and the next rewrite drops it. 0.15 also refuses every patch that carries a star.",
    help: "Set the title, path or star again with gjc.",
    section: "01 §5.2",
    ..AREA
};

/// `entry_patch_invalid`
pub static ENTRY_PATCH_INVALID: Code = Code {
    name: "entry_patch_invalid",
    severity: Severity::Warning,
    verdict: "the whole record is ignored; the next rewrite drops it",
    summary: "An entry patch is malformed.",
    gjc: "gjc ignores the whole patch, so the change it meant is not in effect, and the next rewrite drops it.",
    help: "If the change matters, copy it out now: after the next rewrite it is gone.",
    section: "01 §5.2",
    ..AREA
};

/// `patch_before_v4`
pub static PATCH_BEFORE_V4: Code = Code {
    name: "patch_before_v4",
    severity: Severity::Warning,
    verdict: "ignored",
    summary: "A patch stands where patches do not count: before the header, or in a file older than version 4.",
    gjc: "gjc ignores it, and the next rewrite drops it. Opening and closing an older file for writing is such a rewrite.",
    help: "Set the title or path again with gjc after the session was opened once and so became version 5.",
    section: "01 §5.3",
    ..AREA
};

/// `entry_patch_target_missing`
pub static ENTRY_PATCH_TARGET_MISSING: Code = Code {
    name: "entry_patch_target_missing",
    severity: Severity::Warning,
    verdict: "ignored",
    summary: "An entry patch names an entry that does not stand before it, or that is no message.",
    gjc: "gjc ignores the patch, and the next rewrite drops it.",
    help: "Look for a lost line before the patch: other findings on this file name it. Without one nothing needs to be done.",
    section: "01 §5.3",
    ..AREA
};

/// `star_without_capability`
pub static STAR_WITHOUT_CAPABILITY: Code = Code {
    name: "star_without_capability",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "not starred in effect",
    summary: "A star is set, but the header does not declare the star format.",
    gjc: "0.17 does not show the session as starred; 0.15 knows no stars.",
    help: "Star the session again with gjc 0.17.",
    section: "01 §2.6, §5.3",
    ..AREA
};

/// `star_checkpoint_missing`
pub static STAR_CHECKPOINT_MISSING: Code = Code {
    name: "star_checkpoint_missing",
    severity: Severity::Info,
    releases: Releases::Only017,
    verdict: "none; the reverse scan reads further",
    summary: "A title or path patch is not preceded by a star patch, as 0.17 writes it.",
    gjc: "Nothing breaks: the list reads further back to find the star.",
    help: "Nothing needs to be done. An older gjc or another tool wrote the patch.",
    section: "01 §5.4",
    ..AREA
};

/// `owner_patch_shadows_fields`
pub static OWNER_PATCH_SHADOWS_FIELDS: Code = Code {
    name: "owner_patch_shadows_fields",
    severity: Severity::Warning,
    releases: Releases::Only017,
    verdict: "ordinary replay ignores the whole record",
    summary: "A patch that names an artifact owner also carries a title, path or star.",
    gjc: "0.17 ignores the title, path or star of such a patch.",
    help: "Set the title, path or star again with gjc. Leave the patch where it is: it names the owner of the task artifacts.",
    section: "01 §3.3",
    ..AREA
};

/// `replay_sanitation_pending`
pub static REPLAY_SANITATION_PENDING: Code = Code {
    name: "replay_sanitation_pending",
    severity: Severity::Info,
    verdict: "merely opening for writing appends an `entry_patch` (v4 and older: rewrites)",
    summary: "An assistant message carries an OpenAI history that gjc will clean.",
    gjc: "Merely opening the session for writing appends a patch. In version 4 and older it rewrites the file; from managed storage the next rewrite takes the history out.",
    help: "Nothing needs to be done. Do not wonder that the file changes although nothing was said.",
    section: "01 §5.4; vectors README 38",
    ..AREA
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
