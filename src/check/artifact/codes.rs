//! Codes of the area *artifact* (spec 05).

use crate::finding::{Class, Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("artifact");

/// `unsafe_artifacts`
pub static UNSAFE_ARTIFACTS: Code = Code {
    name: "unsafe_artifacts",
    token: Some("unsafe_artifacts"),
    severity: Severity::Error,
    verdict: "migration (so opening a legacy session), fork, managed move, delete refuse",
    summary: "A session's artifacts contain something that gjc does not copy: a symlink, hard link, device, too deep a folder or too large a file.",
    gjc: "Migrating, forking, moving and deleting the session are refused; an old-layout session therefore cannot be opened for writing.",
    help: "Replace the symlink or hard link by a plain copy, or move the named item out of the artifact directory.",
    section: "02 §6.6",
    ..AREA
};

/// `artifact_capacity_exceeded`
pub static ARTIFACT_CAPACITY_EXCEEDED: Code = Code {
    name: "artifact_capacity_exceeded",
    token: Some("artifact_capacity_exceeded"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "migration (so opening a legacy session), fork, managed move, delete refuse; exit bit 2",
    summary: "A session has more artifacts than gjc copies (50,000 entries or 512 MiB).",
    gjc: "Migrating, forking, moving and deleting the session are refused; an old-layout session therefore cannot be opened for writing. Nothing is damaged.",
    help: "This is a limit, not damage. Move artifacts that you no longer need out of the directory.",
    section: "02 §6.6",
    ..AREA
};

/// `artifact_orphan_directory`
pub static ARTIFACT_ORPHAN_DIRECTORY: Code = Code {
    name: "artifact_orphan_directory",
    severity: Severity::Info,
    verdict: "none",
    summary: "A directory looks like a session's artifacts, but the session is not there.",
    gjc: "Nothing; gjc never looks at it.",
    help: "Look at what is inside before you remove it: the transcript may have been moved or lost.",
    section: "04 §6.1",
    ..AREA
};

/// `artifact_id_out_of_range`
pub static ARTIFACT_ID_OUT_OF_RANGE: Code = Code {
    name: "artifact_id_out_of_range",
    token: Some("artifact_id_out_of_range"),
    severity: Severity::Error,
    verdict: "the next artifact cannot be numbered",
    summary: "A numbered artifact has a number that is too large.",
    gjc: "The next artifact of this session cannot be numbered, so storing it fails.",
    help: "Rename the file to a small free number, with gjc stopped.",
    section: "04 §6.2",
    ..AREA
};

/// `artifact_ambiguous`
pub static ARTIFACT_AMBIGUOUS: Code = Code {
    name: "artifact_ambiguous",
    severity: Severity::Warning,
    verdict: "`artifact://<id>` refuses",
    summary: "Two artifacts have the same number.",
    gjc: "The link to that number refuses.",
    help: "Rename one of them after looking at both, with gjc stopped.",
    section: "04 §6.3",
    ..AREA
};

/// `artifact_reference_missing`
pub static ARTIFACT_REFERENCE_MISSING: Code = Code {
    name: "artifact_reference_missing",
    severity: Severity::Warning,
    verdict: "the link is dead",
    summary: "A link in the session names an artifact that is not there.",
    gjc: "The link is dead; the conversation works.",
    help: "Restore the artifact from a backup if you need it.",
    section: "04 §6.3",
    ..AREA
};

/// `artifact_metadata_mismatch`
pub static ARTIFACT_METADATA_MISMATCH: Code = Code {
    name: "artifact_metadata_mismatch",
    severity: Severity::Error,
    verdict: "`agent://` refuses",
    summary: "The stored output of a sub-agent does not match its description.",
    gjc: "The `agent://` link refuses.",
    help: "Restore the output and its `.meta.json` from a backup; the file itself can still be read by hand.",
    section: "04 §6.3",
    ..AREA
};

/// `import_provenance_invalid`
pub static IMPORT_PROVENANCE_INVALID: Code = Code {
    name: "import_provenance_invalid",
    severity: Severity::Warning,
    verdict: "provenance unknown",
    summary: "An imported session does not say properly where it came from.",
    gjc: "Nothing breaks; its origin is unknown.",
    help: "Nothing needs to be done.",
    section: "04 §9.8",
    ..AREA
};

/// `legacy_local_unmigrated`
pub static LEGACY_LOCAL_UNMIGRATED: Code = Code {
    name: "legacy_local_unmigrated",
    severity: Severity::Info,
    verdict: "`local://` of the resumed session may not resolve",
    summary: "Local files of an old session were not taken over.",
    gjc: "`local://` links may not work in the resumed session.",
    help: "Resume the session once with the gjc that migrates them; the files are still in the folder named.",
    section: "04 §10.4",
    ..AREA
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
