//! Codes of the area *security* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("security");

/// `mode_mismatch`
pub static MODE_MISMATCH: Code = Code {
    name: "mode_mismatch",
    token: Some("mode_mismatch"),
    severity: Severity::Error,
    verdict: "resolve `binding_invalid` (classification `mode_mismatch`): all its sessions are unreachable",
    summary: "A scope directory does not have mode 0700.",
    gjc: "gjc refuses the workspace (`binding_invalid`): all its sessions are unreachable, and no start repairs it.",
    help: "Run `chmod 700` on the scope directory: that alone brings its sessions back, unless other findings name it.",
    section: "02 §4.1, §4.4",
    ..AREA
};

/// `descendant_mode_drift`
pub static DESCENDANT_MODE_DRIFT: Code = Code {
    name: "descendant_mode_drift",
    severity: Severity::Warning,
    verdict: "group or other bits: healed only by a start with a new session, on Linux; otherwise append `mode_mismatch`; inspector `managed_gc_protocol_file_invalid`",
    summary: "A file or directory inside a scope has other permissions than gjc gave it.",
    gjc: "Only a start with a new session repairs it, on Linux. Until then an append can fail with `mode_mismatch`, and 0.17's inspector refuses.",
    help: "Set directories to 0700 and files to 0600.",
    section: "02 §4.4, §4.6; 02a.6",
    ..AREA
};

/// `agent_dir_mode_drift`
pub static AGENT_DIR_MODE_DRIFT: Code = Code {
    name: "agent_dir_mode_drift",
    severity: Severity::Warning,
    verdict: "set to 0700 by the next prepare; discovery and owner scan refuse until then (0.17)",
    summary: "The agent directory or `sessions` does not have mode 0700, or carries an access control list.",
    gjc: "The next start sets it right. In 0.17 garbage collection refuses until then.",
    help: "Run `chmod 700` on it and remove the list (`setfacl -b`), or just start gjc.",
    section: "02 §4.4",
    ..AREA
};

/// `recovery_dir_invalid`
pub static RECOVERY_DIR_INVALID: Code = Code {
    name: "recovery_dir_invalid",
    severity: Severity::Error,
    verdict: "agent directory: every new session fails `binding_invalid` (`prepare:retained_authority`); scope: a migration commits, then fails `managed_storage_unsupported`",
    summary: "`.gjc-recovery` is not a private real directory.",
    gjc: "In the agent directory it makes every new session fail (`binding_invalid`), and nothing repairs it. In a scope a migration is carried out and then reported as failed.",
    help: "Set it to mode 0700 and your own user. If a file or symlink stands in its place, move that away; gjc makes the directory again.",
    section: "02 §8.6; 02a.8",
    ..AREA
};

/// `owner_mismatch`
pub static OWNER_MISMATCH: Code = Code {
    name: "owner_mismatch",
    token: Some("owner_mismatch"),
    severity: Severity::Error,
    verdict: "resolve, append refuse",
    summary: "The owner is not the user who runs gjc.",
    gjc: "gjc refuses to resolve or write it.",
    help: "Run `chown` on it. If the check speaks for the wrong user, name the right one with `--as-uid`.",
    section: "02 §4.1",
    ..AREA
};

/// `acl_present`
pub static ACL_PRESENT: Code = Code {
    name: "acl_present",
    token: Some("acl_present"),
    severity: Severity::Error,
    verdict: "resolve, append refuse",
    summary: "An access control list is set.",
    gjc: "gjc refuses to resolve or write it, whatever the list says.",
    help: "Remove the list with `setfacl -b`, on a directory also `setfacl -k`.",
    section: "02 §4.2",
    ..AREA
};

/// `acl_malformed`
pub static ACL_MALFORMED: Code = Code {
    name: "acl_malformed",
    token: Some("acl_malformed"),
    severity: Severity::Error,
    verdict: "resolve, append refuse",
    summary: "The access control list of a file is empty in a way that no file system should answer.",
    gjc: "gjc refuses to resolve or write it.",
    help: "Check the file system; remove the list with `setfacl -b`.",
    section: "02 §4.2",
    ..AREA
};

/// `acl_denied`
pub static ACL_DENIED: Code = Code {
    name: "acl_denied",
    token: Some("acl_denied"),
    severity: Severity::Error,
    verdict: "resolve, append refuse",
    summary: "Reading the access control list was denied.",
    gjc: "gjc refuses to resolve or write it, because it cannot prove that the file is private.",
    help: "Check the owner and the mount options; run the check as the user who runs gjc.",
    section: "02 §4.2",
    ..AREA
};

/// `acl_io_error`
pub static ACL_IO_ERROR: Code = Code {
    name: "acl_io_error",
    token: Some("acl_io_error"),
    severity: Severity::Error,
    verdict: "resolve, append refuse",
    summary: "Reading the access control list failed with an input/output error.",
    gjc: "gjc refuses to resolve or write it.",
    help: "Check the disk and the file system before anything else, and back up the agent directory.",
    section: "02 §4.2",
    ..AREA
};

/// `acl_unknown`
pub static ACL_UNKNOWN: Code = Code {
    name: "acl_unknown",
    token: Some("acl_unknown"),
    severity: Severity::Error,
    verdict: "resolve, append refuse",
    summary: "Reading the access control list failed for an unusual reason.",
    gjc: "gjc refuses to resolve or write it.",
    help: "The error is named in the message. Move the agent directory to a local file system if this one cannot answer.",
    section: "02 §4.2",
    ..AREA
};

/// `acl_verify_failed`
pub static ACL_VERIFY_FAILED: Code = Code {
    name: "acl_verify_failed",
    token: Some("acl_verify_failed"),
    severity: Severity::Error,
    verdict: "resolve for reading refuses; for writing it is repaired",
    summary: "The access rules of a file name someone besides its owner.",
    gjc: "gjc refuses to read it. On Windows a start for writing repairs rules that an older version wrote.",
    help: "Remove the additional entries. If the message says that only the old shape is left, start gjc once in that workspace.",
    section: "02 §4.2, §4.4",
    ..AREA
};

/// `acl_unsupported_fs`
pub static ACL_UNSUPPORTED_FS: Code = Code {
    name: "acl_unsupported_fs",
    severity: Severity::Info,
    verdict: "accepted",
    summary: "The file system has no access control lists.",
    gjc: "gjc accepts that, because owner and mode are right.",
    help: "Nothing needs to be done.",
    section: "02 §4.2",
    ..AREA
};

/// `reparse_point`
pub static REPARSE_POINT: Code = Code {
    name: "reparse_point",
    token: Some("reparse_point"),
    severity: Severity::Error,
    fatal: true,
    verdict: "resolve `binding_invalid`; list `unreadable_candidate` or `scan_failed`; inspector refuses",
    summary: "A symlink stands where gjc requires the object itself.",
    gjc: "gjc does not follow it: the workspace is refused (`binding_invalid`), or the session is not listed. The check did not follow it either.",
    help: "Replace the symlink by the real file or directory, with gjc stopped. To move storage to another disk, move the whole agent directory and set GJC_CODING_AGENT_DIR.",
    section: "02 §4.1",
    ..AREA
};

/// `hard_linked_transcript`
pub static HARD_LINKED_TRANSCRIPT: Code = Code {
    name: "hard_linked_transcript",
    token: Some("hard_link"),
    severity: Severity::Error,
    verdict: "managed root: list `source_changed`, open `hard_link`; anywhere: delete, GC and bounded reads refuse",
    summary: "A transcript has more than one name (hard link).",
    gjc: "In managed storage gjc does not list it (`source_changed`) and refuses to open it (`hard_link`). Anywhere, deleting, collecting and reading large files refuse it.",
    help: "With gjc stopped, remove the surplus name, never the `.jsonl` itself. If a backup tool made the link, let it copy instead.",
    section: "01 §2.8; 02 §1.4; 04 §7.6",
    ..AREA
};

/// `hard_linked_protocol_file`
pub static HARD_LINKED_PROTOCOL_FILE: Code = Code {
    name: "hard_linked_protocol_file",
    severity: Severity::Error,
    verdict: "binding `binding_invalid`; receipt: no match; tombstone: unreadable; inspector `managed_gc_protocol_file_invalid`",
    summary: "A binding, lock, receipt or tombstone has more than one name (hard link).",
    gjc: "gjc does not trust it: a binding makes the workspace `binding_invalid`, a receipt does not match, a tombstone is unreadable. 0.17's inspector refuses.",
    help: "With gjc stopped, remove the surplus name that the message gives; keep the file under its own name.",
    section: "02 §3.2, §4.5",
    ..AREA
};

/// `symlinked_transcript`
pub static SYMLINKED_TRANSCRIPT: Code = Code {
    name: "symlinked_transcript",
    severity: Severity::Warning,
    verdict: "picker hides it, recent list shows it, delete refuses it",
    summary: "A transcript in a session directory is a symlink.",
    gjc: "The picker hides it, the recent list shows it, and deleting refuses it.",
    help: "Put the file itself in the place of the symlink, or open it by the path of its target.",
    section: "04 §2.1",
    ..AREA
};

/// `transcript_permissions`
pub static TRANSCRIPT_PERMISSIONS: Code = Code {
    name: "transcript_permissions",
    severity: Severity::Info,
    verdict: "none; privacy only; the migrated copy gets 0600",
    summary: "Other users can read this transcript.",
    gjc: "Nothing; this is only about privacy. A migrated copy is made private.",
    help: "Run `chmod 600` on it.",
    section: "01 §1; 02 §5.3",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MODE_MISMATCH,
    &DESCENDANT_MODE_DRIFT,
    &AGENT_DIR_MODE_DRIFT,
    &RECOVERY_DIR_INVALID,
    &OWNER_MISMATCH,
    &ACL_PRESENT,
    &ACL_MALFORMED,
    &ACL_DENIED,
    &ACL_IO_ERROR,
    &ACL_UNKNOWN,
    &ACL_VERIFY_FAILED,
    &ACL_UNSUPPORTED_FS,
    &REPARSE_POINT,
    &HARD_LINKED_TRANSCRIPT,
    &HARD_LINKED_PROTOCOL_FILE,
    &SYMLINKED_TRANSCRIPT,
    &TRANSCRIPT_PERMISSIONS,
];
