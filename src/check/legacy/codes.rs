//! Codes of the area *legacy* (spec 05).

use crate::finding::{Class, Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("legacy");

/// `scan_failed`
pub static SCAN_FAILED: Code = Code {
    name: "scan_failed",
    token: Some("scan_failed"),
    severity: Severity::Error,
    fatal: true,
    verdict: "list refuses the whole workspace",
    summary: "Something that is no directory stands where gjc must look for this workspace's sessions.",
    gjc: "gjc lists no session of the whole workspace.",
    help: "With gjc stopped, move what stands at that path away, or put the real directory back.",
    section: "02 §5.2",
    ..AREA
};

/// `legacy_directory_limit`
pub static LEGACY_DIRECTORY_LIMIT: Code = Code {
    name: "legacy_directory_limit",
    severity: Severity::Warning,
    class: Some(Class::Capacity),
    verdict: "the rest is never visited",
    summary: "There are more unknown legacy directories than gjc visits (256).",
    gjc: "Sessions in the rest are never found. They are intact.",
    help: "Move directories that you no longer need out of `sessions`; open a session in them by path.",
    section: "02 §5.2",
    ..AREA
};

/// `legacy_unmigrated`
pub static LEGACY_UNMIGRATED: Code = Code {
    name: "legacy_unmigrated",
    severity: Severity::Info,
    verdict: "listed; opening it for writing migrates it",
    summary: "A session still lies in the old layout.",
    gjc: "It is listed. Opening it for writing copies it into the new layout; the old file stays.",
    help: "Nothing needs to be done. It migrates when you open it; `gjc-fsck repair` shows and does the same for all such sessions, with a proof.",
    section: "02 §7.1",
    ..AREA
};

/// `legacy_shadowed`
pub static LEGACY_SHADOWED: Code = Code {
    name: "legacy_shadowed",
    severity: Severity::Info,
    verdict: "not listed, retained by design",
    summary: "An old-layout session is hidden, because a migrated copy of it exists.",
    gjc: "The copy is listed instead; the old file is kept by design.",
    help: "Nothing needs to be done.",
    section: "02 §7.3",
    ..AREA
};

/// `legacy_dir_mixed_cwd`
pub static LEGACY_DIR_MIXED_CWD: Code = Code {
    name: "legacy_dir_mixed_cwd",
    severity: Severity::Info,
    verdict: "each is listed for its own workspace; its name proves nothing",
    summary: "One old-layout directory holds sessions of several workspaces.",
    gjc: "Each session is listed for its own workspace; the directory's name says nothing.",
    help: "Nothing needs to be done.",
    section: "02 §5.1",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&SCAN_FAILED, &LEGACY_DIRECTORY_LIMIT, &LEGACY_UNMIGRATED, &LEGACY_SHADOWED, &LEGACY_DIR_MIXED_CWD];
