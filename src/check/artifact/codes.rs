//! Codes of the area *artifact* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `unsafe_artifacts`
pub static UNSAFE_ARTIFACTS: Code = Code {
    name: "unsafe_artifacts",
    token: Some("unsafe_artifacts"),
    area: "artifact",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an artifact tree holds a symlink, special file, hard link, a directory deeper than 32, a file > 134,217,728 bytes, or its root is no real directory",
    gjc: "migration (so opening a legacy session), fork, managed move, delete refuse",
    help: "",
    section: "02 §6.6",
    since: "0.1.0",
};

/// `artifact_capacity_exceeded`
pub static ARTIFACT_CAPACITY_EXCEEDED: Code = Code {
    name: "artifact_capacity_exceeded",
    token: Some("artifact_capacity_exceeded"),
    area: "artifact",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an artifact tree has more than 50,000 entries or more than 536,870,912 bytes",
    gjc: "migration (so opening a legacy session), fork, managed move, delete refuse; exit bit 2",
    help: "",
    section: "02 §6.6",
    since: "0.1.0",
};

/// `artifact_orphan_directory`
pub static ARTIFACT_ORPHAN_DIRECTORY: Code = Code {
    name: "artifact_orphan_directory",
    token: None,
    area: "artifact",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a directory beside transcripts has no `<name>.jsonl` and no reserved name",
    gjc: "none",
    help: "",
    section: "04 §6.1",
    since: "0.1.0",
};

/// `artifact_id_out_of_range`
pub static ARTIFACT_ID_OUT_OF_RANGE: Code = Code {
    name: "artifact_id_out_of_range",
    token: Some("artifact_id_out_of_range"),
    area: "artifact",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a numbered artifact or claim name is no safe integer",
    gjc: "the next artifact cannot be numbered",
    help: "",
    section: "04 §6.2",
    since: "0.1.0",
};

/// `artifact_ambiguous`
pub static ARTIFACT_AMBIGUOUS: Code = Code {
    name: "artifact_ambiguous",
    token: None,
    area: "artifact",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "two files `<id>.*` that do not end `.meta.json`",
    gjc: "`artifact://<id>` refuses",
    help: "",
    section: "04 §6.3",
    since: "0.1.0",
};

/// `artifact_reference_missing`
pub static ARTIFACT_REFERENCE_MISSING: Code = Code {
    name: "artifact_reference_missing",
    token: None,
    area: "artifact",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an `artifact://` or `agent://` reference of a transcript has no file in its artifact directory",
    gjc: "the link is dead",
    help: "",
    section: "04 §6.3",
    since: "0.1.0",
};

/// `artifact_metadata_mismatch`
pub static ARTIFACT_METADATA_MISMATCH: Code = Code {
    name: "artifact_metadata_mismatch",
    token: None,
    area: "artifact",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "agent-output metadata or a selector is malformed, or a size or hash differs",
    gjc: "`agent://` refuses",
    help: "",
    section: "04 §6.3",
    since: "0.1.0",
};

/// `import_provenance_invalid`
pub static IMPORT_PROVENANCE_INVALID: Code = Code {
    name: "import_provenance_invalid",
    token: None,
    area: "artifact",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a `session-import` entry lacks a required key or `sourceSha256` is not 64 hex digits",
    gjc: "provenance unknown",
    help: "",
    section: "04 §9.8",
    since: "0.1.0",
};

/// `legacy_local_unmigrated`
pub static LEGACY_LOCAL_UNMIGRATED: Code = Code {
    name: "legacy_local_unmigrated",
    token: None,
    area: "artifact",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`<artifacts>/local` exists and the marker is absent or not `verified`/`absent` (say `cleanup_pending`)",
    gjc: "`local://` of the resumed session may not resolve",
    help: "",
    section: "04 §10.4",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &UNSAFE_ARTIFACTS,
    &ARTIFACT_CAPACITY_EXCEEDED,
    &ARTIFACT_ORPHAN_DIRECTORY,
    &ARTIFACT_ID_OUT_OF_RANGE,
    &ARTIFACT_AMBIGUOUS,
    &ARTIFACT_REFERENCE_MISSING,
    &ARTIFACT_METADATA_MISMATCH,
    &IMPORT_PROVENANCE_INVALID,
    &LEGACY_LOCAL_UNMIGRATED,
];
