//! Codes of the area *operational* (spec 05).

use crate::finding::{Class, Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("operational");

/// `missing`
pub static MISSING: Code = Code {
    name: "missing",
    token: Some("missing"),
    severity: Severity::Error,
    fatal: true,
    verdict: "S `missing`; opening that path creates a new session there",
    summary: "The transcript named here does not exist.",
    gjc: "gjc cannot resume it. Opened by this very path, gjc starts a new, empty session there.",
    help: "Check the spelling of the path. If the file was moved, name its new place; if it was lost, restore it from a backup before you open that path with gjc.",
    section: "01 §2.3.1; 04 §4.3",
    ..AREA
};

/// `read_failed`
pub static READ_FAILED: Code = Code {
    name: "read_failed",
    token: Some("read-failed"),
    severity: Severity::Error,
    fatal: true,
    verdict: "S `read-failed`",
    summary: "The transcript is not a regular file, or reading it failed.",
    gjc: "gjc refuses to resume it (`read-failed`).",
    help: "Look at what stands at the path: give the user read permission, or put the real file in the place of the directory, pipe or device. Then check again.",
    section: "01 §2.3.1–4",
    ..AREA
};

/// `unstable`
pub static UNSTABLE: Code = Code {
    name: "unstable",
    token: Some("unstable"),
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Transient),
    verdict: "S `unstable`; exit bit 2",
    summary: "The transcript changed while it was being read.",
    gjc: "gjc refuses to resume a file that moves under it (`unstable`). This says nothing about the content.",
    help: "Stop the gjc process that writes this session, then check again. Do not repair anything on the strength of this run.",
    section: "01 §2.3.4",
    ..AREA
};

/// `concurrent_change`
pub static CONCURRENT_CHANGE: Code = Code {
    name: "concurrent_change",
    severity: Severity::Info,
    fatal: true,
    class: Some(Class::Transient),
    verdict: "none proven; exit bit 2; in discovery and inspection gjc would answer its `…_changed` token",
    summary: "Something other than a transcript appeared, vanished or changed during the check, also on a second look.",
    gjc: "Nothing is proven about the object. gjc's own collector and inspector give up with a `…_changed` token in this situation.",
    help: "Stop running gjc processes, or wait until they are idle, and check again.",
    section: "02 §4.5, §9.8; 03 §13",
    ..AREA
};

/// `agent_dir_missing`
pub static AGENT_DIR_MISSING: Code = Code {
    name: "agent_dir_missing",
    severity: Severity::Error,
    fatal: true,
    verdict: "nothing was checked; exit bit 8; for a dangling symlink gjc lists nothing and prepare fails",
    summary: "The directory to check does not exist, is no directory or a dangling symlink, or holds nothing to check.",
    gjc: "gjc creates its agent directory at the first start. With a dangling symlink it lists no session, and starting one fails.",
    help: "Name the agent directory: `gjc-fsck PATH`, or set GJC_CODING_AGENT_DIR as gjc does. If the symlink's target is on a disk that is not mounted, mount it first.",
    section: "02 §1.1; 02a.20",
    ..AREA
};

/// `object_unreadable`
pub static OBJECT_UNREADABLE: Code = Code {
    name: "object_unreadable",
    severity: Severity::Error,
    fatal: true,
    verdict: "nothing is claimed about it; exit bit 8",
    summary: "A file or directory inside the checked tree could not be opened or read, so it was not judged.",
    gjc: "gjc meets the same obstacle when it runs as this user. Nothing is claimed about what is inside.",
    help: "Look at the error named in the message: usually permissions or a failing disk. Run the check as the user who runs gjc, then check again.",
    section: "design §5",
    ..AREA
};

/// `check_incomplete`
pub static CHECK_INCOMPLETE: Code = Code {
    name: "check_incomplete",
    severity: Severity::Warning,
    fatal: true,
    class: Some(Class::Capacity),
    verdict: "nothing is claimed about the rest; exit bit 2",
    summary: "A limit of this run ended the check before everything was read.",
    gjc: "Nothing is claimed about the rest; gjc does not know this limit.",
    help: "Run the check again with a higher limit, or check the remaining folders one by one.",
    section: "design §5",
    ..AREA
};

/// `special_file`
pub static SPECIAL_FILE: Code = Code {
    name: "special_file",
    severity: Severity::Warning,
    verdict: "list `source_changed` (0.15: `unreadable_candidate`); S `read-failed`; artifact trees `unsafe_artifacts`; 0.15, with group or other bits inside a scope: every new session fails `binding_invalid`",
    summary: "A pipe, socket or device stands where gjc expects a file or a directory.",
    gjc: "It is never opened. gjc lists it as `source_changed` (0.15: `unreadable_candidate`) and refuses to resume it; inside an artifact tree it makes migration, fork, move and delete fail. In 0.15, one with group or other permission bits inside a scope makes every new session fail.",
    help: "Find out which program made it, and move it out of the agent directory.",
    section: "02 §4.5, §5.3, §6.6; 02a.14",
    ..AREA
};

/// `name_not_utf8`
pub static NAME_NOT_UTF8: Code = Code {
    name: "name_not_utf8",
    severity: Severity::Warning,
    verdict: "artifact tree: migrate `managed_storage_unsupported`; elsewhere UNVERIFIED",
    summary: "A file name below the agent directory is not valid UTF-8.",
    gjc: "Inside an artifact tree, migrating the session fails with `managed_storage_unsupported`. Elsewhere gjc's behaviour is not verified.",
    help: "Rename the file to a name in UTF-8. Its content need not change.",
    section: "02 §6.6",
    ..AREA
};

/// `config_unknown_key`
pub static CONFIG_UNKNOWN_KEY: Code = Code {
    name: "config_unknown_key",
    severity: Severity::Warning,
    verdict: "the key has no effect",
    summary: "The file `gjc-fsck.toml` holds a key or a code that this version does not know.",
    gjc: "gjc does not read this file. The key has no effect on the check.",
    help: "Correct the spelling, or take the key out. `gjc-fsck codes` lists the codes; the README names the keys.",
    section: "issue 06 §5",
    ..AREA
};

/// `baseline_entry_stale`
pub static BASELINE_ENTRY_STALE: Code = Code {
    name: "baseline_entry_stale",
    severity: Severity::Error,
    verdict: "none; the gate fails",
    summary: "An entry of the baseline or of the skip list matched nothing in this run.",
    gjc: "gjc does not read baselines; this concerns only your own gate, which fails so that old exceptions do not pile up.",
    help: "Good news in most cases: what was accepted is gone. Take the entry out of the skip list, or let `--update-baseline` write the baseline anew. Compare with the same paths as when it was written: entries name files as the report does.",
    section: "issue 06 §5",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MISSING,
    &READ_FAILED,
    &UNSTABLE,
    &CONCURRENT_CHANGE,
    &AGENT_DIR_MISSING,
    &OBJECT_UNREADABLE,
    &CHECK_INCOMPLETE,
    &SPECIAL_FILE,
    &NAME_NOT_UTF8,
    &CONFIG_UNKNOWN_KEY,
    &BASELINE_ENTRY_STALE,
];
