//! Codes of the area *verdict* (spec 05).

use crate::check::line::codes::{fork, salvage};
use crate::finding::{Class, Code, Releases, Role, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code { role: Role::VerdictToken, ..Code::of_area("verdict") };

/// `malformed`
pub static MALFORMED: Code = Code {
    name: "malformed",
    token: Some("malformed"),
    severity: Severity::Error,
    fatal: true,
    verdict: "S, M",
    summary: "gjc's check before resuming refuses the transcript.",
    gjc: "The session cannot be resumed or opened for writing.",
    help: concat!(
        "Keep the original, and mend what the other findings on the file name; where there is none, please report the file's shape to gjc-fsck. ",
        salvage!(),
        " ",
        fork!()
    ),
    section: "01 §2.3, §2.8",
    ..AREA
};

/// `identity_mismatch`
pub static IDENTITY_MISMATCH: Code = Code {
    name: "identity_mismatch",
    token: Some("identity-mismatch"),
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Transient),
    verdict: "open",
    summary: "The file that was opened is not the one that was looked at before.",
    gjc: "gjc stops opening it (`identity-mismatch`).",
    help: "Stop other gjc processes and sync tools, then try again.",
    section: "04 §4.3; 02 §4.1",
    ..AREA
};

/// `migration_required`
pub static MIGRATION_REQUIRED: Code = Code {
    name: "migration_required",
    token: Some("migration-required"),
    severity: Severity::Error,
    verdict: "open",
    summary: "The transcript must be migrated before it can be used for recovery.",
    gjc: "Recovery of this session stops (`migration-required`).",
    help: "Open the session once normally, so that gjc rewrites it as version 5.",
    section: "04 §4.3",
    ..AREA
};

/// `invalid_header`
pub static INVALID_HEADER: Code = Code {
    name: "invalid_header",
    token: Some("invalid_header"),
    severity: Severity::Error,
    verdict: "list",
    summary: "The first line of a session file is no usable header.",
    gjc: "The session is not listed.",
    help: "Restore the header line: `type`, `version`, `id`, `timestamp` and `cwd`, shorter than 65,536 bytes.",
    section: "02 §5.3",
    ..AREA
};

/// `unreadable_candidate`
pub static UNREADABLE_CANDIDATE: Code = Code {
    name: "unreadable_candidate",
    token: Some("unreadable_candidate"),
    severity: Severity::Error,
    verdict: "list",
    summary: "A session file cannot be taken as a session of managed storage.",
    gjc: "The session is not listed, and opening it by path is refused.",
    help: "Look for a byte order mark, an empty first line, wrong permissions or a symlink at the file.",
    section: "02 §5.3",
    ..AREA
};

/// `source_changed`
pub static SOURCE_CHANGED: Code = Code {
    name: "source_changed",
    token: Some("source_changed"),
    severity: Severity::Error,
    verdict: "list, migrate, delete",
    summary: "A session file changed, or is no single plain file, while gjc took hold of it.",
    gjc: "gjc does not list, migrate or delete it in this state.",
    help: "Stop other gjc processes, look for a second hard link, then check again.",
    section: "02 §4.5",
    ..AREA
};

/// `unsafe_root`
pub static UNSAFE_ROOT: Code = Code {
    name: "unsafe_root",
    token: Some("unsafe_root"),
    severity: Severity::Error,
    fatal: true,
    verdict: "list",
    summary: "The sessions directory is not a real directory.",
    gjc: "Nothing is listed.",
    help: "Make `sessions` a real directory in the agent directory.",
    section: "02 §7.3",
    ..AREA
};

/// `managed_gc_protocol_scope_limit_exceeded`
pub static MANAGED_GC_PROTOCOL_SCOPE_LIMIT_EXCEEDED: Code = Code {
    name: "managed_gc_protocol_scope_limit_exceeded",
    token: Some("managed_gc_protocol_scope_limit_exceeded"),
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "There are more than 50,000 workspaces.",
    gjc: "0.17's inspector refuses. Nothing is damaged, and sessions work as usual.",
    help: "This is a limit, not damage. Archive scopes of workspaces that no longer exist, with gjc stopped.",
    section: "03 §14 Q9",
    ..AREA
};

/// `identity_unavailable`
pub static IDENTITY_UNAVAILABLE: Code = Code {
    name: "identity_unavailable",
    token: Some("identity_unavailable"),
    severity: Severity::Error,
    verdict: "resolve",
    summary: "The identity of a workspace cannot be determined.",
    gjc: "gjc refuses the workspace: nothing is listed, resumed or started there.",
    help: "Check that the path is readable, valid UTF-8, and on a file system that answers.",
    section: "02 §2.2",
    ..AREA
};

/// `cwd_missing`
pub static CWD_MISSING: Code = Code {
    name: "cwd_missing",
    token: Some("cwd_missing"),
    severity: Severity::Error,
    verdict: "resolve",
    summary: "The workspace that was asked for does not exist.",
    gjc: "gjc refuses it; its sessions are intact.",
    help: "Create the directory again at the same path, then start gjc there.",
    section: "02 §2.2",
    ..AREA
};

/// `cwd_network_unsupported`
pub static CWD_NETWORK_UNSUPPORTED: Code = Code {
    name: "cwd_network_unsupported",
    token: Some("cwd_network_unsupported"),
    severity: Severity::Error,
    verdict: "list",
    summary: "The session's workspace lies on a network path.",
    gjc: "On Windows gjc lists the session as invalid.",
    help: "Map the share to a local path, or open the session elsewhere by path.",
    section: "02 §5.3",
    ..AREA
};

/// `cwd_identity_unavailable`
pub static CWD_IDENTITY_UNAVAILABLE: Code = Code {
    name: "cwd_identity_unavailable",
    token: Some("cwd_identity_unavailable"),
    severity: Severity::Error,
    verdict: "list",
    summary: "The volume of the session's workspace has no identity.",
    gjc: "On Windows gjc lists the session as invalid.",
    help: "Move the workspace to a volume with a file system that gjc supports.",
    section: "02 §5.3",
    ..AREA
};

/// `acl_unavailable`
pub static ACL_UNAVAILABLE: Code = Code {
    name: "acl_unavailable",
    token: Some("acl_unavailable"),
    severity: Severity::Error,
    verdict: "resolve, append",
    summary: "Access rules cannot be queried.",
    gjc: "On macOS gjc refuses to resolve or write the file.",
    help: "Move the agent directory to a local file system.",
    section: "02 §4.2",
    ..AREA
};

/// `migration_busy`
pub static MIGRATION_BUSY: Code = Code {
    name: "migration_busy",
    token: Some("migration_busy"),
    severity: Severity::Error,
    verdict: "migrate, delete, prepare",
    summary: "A lock that gjc needs is not free.",
    gjc: "Migrating, deleting or starting stops after 5 seconds.",
    help: "Wait for the other gjc process. If none runs, look at the findings about locks.",
    section: "02 §6.2",
    ..AREA
};

/// `migration_retired`
pub static MIGRATION_RETIRED: Code = Code {
    name: "migration_retired",
    token: Some("migration_retired"),
    severity: Severity::Error,
    verdict: "open",
    summary: "The session was deleted, although its file still exists.",
    gjc: "gjc refuses to open it.",
    help: "Copy the transcript out of managed storage and open the copy, if you want it back.",
    section: "02 §6.3; 02a.7",
    ..AREA
};

/// `legacy_migration_disabled`
pub static LEGACY_MIGRATION_DISABLED: Code = Code {
    name: "legacy_migration_disabled",
    token: Some("legacy_migration_disabled"),
    severity: Severity::Error,
    verdict: "open",
    summary: "The session lies in the old layout, and migration is switched off.",
    gjc: "gjc refuses to open it for writing.",
    help: "Set `session.directoryMigration` to `copy-retain`, or fork the session.",
    section: "02 §6.3",
    ..AREA
};

/// `durability_failed`
pub static DURABILITY_FAILED: Code = Code {
    name: "durability_failed",
    token: Some("durability_failed"),
    severity: Severity::Error,
    fatal: true,
    verdict: "migrate, prepare, delete",
    summary: "The records of a migration or deletion contradict what is on disk.",
    gjc: "gjc stops the operation and leaves everything as it is.",
    help: "Keep all files. The findings about receipts and tombstones of this scope name the cause.",
    section: "02 §10",
    ..AREA
};

/// `durability_not_provable`
pub static DURABILITY_NOT_PROVABLE: Code = Code {
    name: "durability_not_provable",
    token: Some("durability_not_provable"),
    severity: Severity::Error,
    verdict: "migrate",
    summary: "The file system cannot promise that a write is durable.",
    gjc: "gjc stops the migration; the source is untouched.",
    help: "Move the agent directory to a local file system.",
    section: "02 §10",
    ..AREA
};

/// `atomic_unavailable`
pub static ATOMIC_UNAVAILABLE: Code = Code {
    name: "atomic_unavailable",
    token: Some("atomic_unavailable"),
    severity: Severity::Error,
    verdict: "migrate, prepare",
    summary: "The file system cannot create a file without replacing another.",
    gjc: "gjc stops the migration or the start; nothing is overwritten.",
    help: "Move the agent directory to a local file system that supports it.",
    section: "02 §10",
    ..AREA
};

/// `invalid_request`
pub static INVALID_REQUEST: Code = Code {
    name: "invalid_request",
    token: Some("invalid_request"),
    severity: Severity::Error,
    verdict: "migrate",
    summary: "The native part of gjc refused a request.",
    gjc: "The migration stops; the source is untouched.",
    help: "Update gjc, so that its parts fit together.",
    section: "02 §10",
    ..AREA
};

/// `managed_storage_unsupported`
pub static MANAGED_STORAGE_UNSUPPORTED: Code = Code {
    name: "managed_storage_unsupported",
    token: Some("managed_storage_unsupported"),
    severity: Severity::Error,
    verdict: "open, migrate",
    summary: "gjc cannot open or migrate the session, for a reason without a name of its own.",
    gjc: "The session stays as it is.",
    help: "Look at the other findings: size above 128 MiB, artifacts, permissions, or the recovery folder.",
    section: "02 §10.2",
    ..AREA
};

/// `capacity_exceeded`
pub static CAPACITY_EXCEEDED: Code = Code {
    name: "capacity_exceeded",
    token: Some("capacity_exceeded"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "prepare",
    summary: "Starting in a workspace met a limit.",
    gjc: "gjc refuses to start there. Nothing is damaged.",
    help: "This is a limit, not damage: look at the gauges to see which. Never touch the binding file.",
    section: "02 §10.1",
    ..AREA
};

/// `content_too_large`
pub static CONTENT_TOO_LARGE: Code = Code {
    name: "content_too_large",
    token: Some("content_too_large"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    verdict: "migrate, rewrite",
    summary: "A file would become larger than 128 MiB.",
    gjc: "gjc refuses to write or migrate it; what exists is untouched.",
    help: "Go on in a new session. This is a limit, not damage.",
    section: "02 §6.4",
    ..AREA
};

/// `near_limit_append`
pub static NEAR_LIMIT_APPEND: Code = Code {
    name: "near_limit_append",
    token: Some("near_limit_append"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "append",
    summary: "The next record does not fit into the 128 MiB of a transcript.",
    gjc: "0.17 refuses the append, and the record is not stored.",
    help: "Go on in a new session: fork from a recent point. `/compact` does not shrink the file.",
    section: "01 §1",
    ..AREA
};

/// `near_limit_rewrite`
pub static NEAR_LIMIT_REWRITE: Code = Code {
    name: "near_limit_rewrite",
    token: Some("near_limit_rewrite"),
    severity: Severity::Error,
    class: Some(Class::Capacity),
    releases: Releases::Only017,
    verdict: "rewrite",
    summary: "A rewritten transcript would be larger than 128 MiB.",
    gjc: "0.17 refuses the rewrite; the old file stays.",
    help: "Go on in a new session: fork from a recent point.",
    section: "01 §1",
    ..AREA
};

/// `hard_link_unsupported`
pub static HARD_LINK_UNSUPPORTED: Code = Code {
    name: "hard_link_unsupported",
    token: Some("hard_link_unsupported"),
    severity: Severity::Error,
    verdict: "migrate",
    summary: "A session's artifacts contain a hard link.",
    gjc: "gjc stops the migration; the source is untouched.",
    help: "Replace the hard link by a plain copy.",
    section: "02 §6.6",
    ..AREA
};

/// `unsupported_entry`
pub static UNSUPPORTED_ENTRY: Code = Code {
    name: "unsupported_entry",
    token: Some("unsupported_entry"),
    severity: Severity::Error,
    verdict: "migrate",
    summary: "A session's artifacts contain a device, pipe or socket.",
    gjc: "gjc stops the migration; the source is untouched.",
    help: "Move the special file out of the artifact directory.",
    section: "02 §6.6",
    ..AREA
};

/// `transcript_not_single_link`
pub static TRANSCRIPT_NOT_SINGLE_LINK: Code = Code {
    name: "transcript_not_single_link",
    token: Some("transcript_not_single_link"),
    severity: Severity::Error,
    verdict: "gc --disk",
    summary: "A transcript has a second name (hard link).",
    gjc: "`gjc gc --disk` keeps it and does not count its references as safe.",
    help: "Remove the surplus name, never the `.jsonl` itself.",
    section: "04 §5.11",
    ..AREA
};

/// `transcript_header_unusable`
pub static TRANSCRIPT_HEADER_UNUSABLE: Code = Code {
    name: "transcript_header_unusable",
    token: Some("transcript_header_unusable"),
    severity: Severity::Error,
    verdict: "gc --disk",
    summary: "A transcript has no usable header.",
    gjc: "`gjc gc --disk` keeps it.",
    help: "Restore the header line.",
    section: "04 §5.11",
    ..AREA
};

/// `transcript_unreadable`
pub static TRANSCRIPT_UNREADABLE: Code = Code {
    name: "transcript_unreadable",
    token: Some("transcript_unreadable"),
    severity: Severity::Error,
    verdict: "gc --disk",
    summary: "A transcript cannot be read.",
    gjc: "`gjc gc --disk` keeps it, and stops collecting blobs.",
    help: "Give your user read permission on it.",
    section: "04 §5.11",
    ..AREA
};

/// `bounded_scan_build_failed`
pub static BOUNDED_SCAN_BUILD_FAILED: Code = Code {
    name: "bounded_scan_build_failed",
    token: Some("bounded_scan_build_failed"),
    severity: Severity::Error,
    verdict: "R",
    summary: "The index of a very large transcript cannot be built.",
    gjc: "The session does not open.",
    help: "Look at the findings about size: they say what the bounded reader does not accept.",
    section: "04 §4.6",
    ..AREA
};

/// `bounded_first_open_descriptor_changed`
pub static BOUNDED_FIRST_OPEN_DESCRIPTOR_CHANGED: Code = Code {
    name: "bounded_first_open_descriptor_changed",
    token: Some("bounded_first_open_descriptor_changed"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    verdict: "R",
    summary: "A very large transcript changed while it was read, or has a second hard link.",
    gjc: "The session does not open.",
    help: "Stop other gjc processes and remove a surplus hard link, then check again.",
    section: "01 §2.7",
    ..AREA
};

/// `bounded_first_open_unreadable`
pub static BOUNDED_FIRST_OPEN_UNREADABLE: Code = Code {
    name: "bounded_first_open_unreadable",
    token: Some("bounded_first_open_unreadable"),
    severity: Severity::Error,
    verdict: "R",
    summary: "A very large transcript cannot be read.",
    gjc: "The session does not open.",
    help: "Give your user read permission; check the disk.",
    section: "04 §4.6",
    ..AREA
};

/// `bounded_first_open_lock_unavailable`
pub static BOUNDED_FIRST_OPEN_LOCK_UNAVAILABLE: Code = Code {
    name: "bounded_first_open_lock_unavailable",
    token: Some("bounded_first_open_lock_unavailable"),
    severity: Severity::Error,
    verdict: "R",
    summary: "The index of a very large transcript is locked.",
    gjc: "The session does not open until the lock is free.",
    help: "Wait for the other gjc process.",
    section: "04 §4.6",
    ..AREA
};

/// `bounded_first_open_stale_cleanup_failed`
pub static BOUNDED_FIRST_OPEN_STALE_CLEANUP_FAILED: Code = Code {
    name: "bounded_first_open_stale_cleanup_failed",
    token: Some("bounded_first_open_stale_cleanup_failed"),
    severity: Severity::Error,
    verdict: "R",
    summary: "An old index of a very large transcript cannot be removed.",
    gjc: "The session does not open.",
    help: "Check the permissions of the `.spill.` files beside the transcript.",
    section: "04 §4.6",
    ..AREA
};

/// `scope_unavailable`
pub static SCOPE_UNAVAILABLE: Code = Code {
    name: "scope_unavailable",
    token: Some("scope_unavailable"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "SDK session.list",
    summary: "The workspace of a session cannot be resolved.",
    gjc: "In 0.17 the SDK's list leaves the session out and says so.",
    help: "The detail code beside it names the cause; look it up with `gjc-fsck explain`.",
    section: "04 §3.5",
    ..AREA
};

/// `candidate_scan_failed`
pub static CANDIDATE_SCAN_FAILED: Code = Code {
    name: "candidate_scan_failed",
    token: Some("candidate_scan_failed"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "SDK session.list",
    summary: "The sessions of a workspace cannot be listed.",
    gjc: "In 0.17 the SDK's list leaves the asked session out and says so.",
    help: "The detail code beside it names the cause; look it up with `gjc-fsck explain`.",
    section: "04 §3.5",
    ..AREA
};

/// `candidate_invalid`
pub static CANDIDATE_INVALID: Code = Code {
    name: "candidate_invalid",
    token: Some("candidate_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "SDK session.list",
    summary: "The asked session exists, but only as an invalid file.",
    gjc: "In 0.17 the SDK's list leaves it out and says so.",
    help: "Check its file: the findings name the cause.",
    section: "04 §3.5",
    ..AREA
};

/// `candidate_not_found`
pub static CANDIDATE_NOT_FOUND: Code = Code {
    name: "candidate_not_found",
    token: Some("candidate_not_found"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "SDK session.list",
    summary: "No session has the asked id.",
    gjc: "In 0.17 the SDK's list answers this; 0.15 answers nothing.",
    help: "Check the id and the workspace it is asked for.",
    section: "04 §3.5",
    ..AREA
};

/// `candidate_ambiguous`
pub static CANDIDATE_AMBIGUOUS: Code = Code {
    name: "candidate_ambiguous",
    token: Some("candidate_ambiguous"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "SDK session.list",
    summary: "More than one session has the asked id.",
    gjc: "In 0.17 the SDK's list takes none of them.",
    help: "Keep one of the two copies in the workspace, and the other elsewhere.",
    section: "04 §3.5",
    ..AREA
};

/// `identity_incomplete`
pub static IDENTITY_INCOMPLETE: Code = Code {
    name: "identity_incomplete",
    token: Some("identity_incomplete"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "SDK session.list",
    summary: "The file system does not give the asked session a complete identity.",
    gjc: "In 0.17 the SDK's list leaves it out and says which fields are missing.",
    help: "Move the agent directory to a local file system.",
    section: "04 §3.5",
    ..AREA
};

/// `managed_gc_protocol_migration_authority_mismatch`
pub static MANAGED_GC_PROTOCOL_MIGRATION_AUTHORITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_migration_authority_mismatch",
    token: Some("managed_gc_protocol_migration_authority_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A migration receipt does not match its files now.",
    gjc: "0.17's inspector refuses; sessions work as usual.",
    help: "Look at the findings about migration receipts of this scope. Do not edit the receipt.",
    section: "02 §9.8",
    ..AREA
};

/// `managed_gc_protocol_root_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_ROOT_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_root_identity_mismatch",
    token: Some("managed_gc_protocol_root_identity_mismatch"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A directory above the scopes was replaced during an inspection.",
    gjc: "0.17's inspector refuses.",
    help: "Check again when nothing moves the agent directory.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_root_mismatch`
pub static MANAGED_GC_PROTOCOL_ROOT_MISMATCH: Code = Code {
    name: "managed_gc_protocol_root_mismatch",
    token: Some("managed_gc_protocol_root_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "The scopes of one inspection do not lie below one sessions directory.",
    gjc: "0.17's inspector refuses.",
    help: "Inspect one agent directory at a time.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_scope_path_mismatch`
pub static MANAGED_GC_PROTOCOL_SCOPE_PATH_MISMATCH: Code = Code {
    name: "managed_gc_protocol_scope_path_mismatch",
    token: Some("managed_gc_protocol_scope_path_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "The path of a scope is not one that gjc gives.",
    gjc: "0.17's inspector refuses.",
    help: "Move a copied or renamed scope out of `sessions`.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_scope_unrecognized`
pub static MANAGED_GC_PROTOCOL_SCOPE_UNRECOGNIZED: Code = Code {
    name: "managed_gc_protocol_scope_unrecognized",
    token: Some("managed_gc_protocol_scope_unrecognized"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A scope cannot be proven to be one.",
    gjc: "0.17's inspector refuses.",
    help: "Look at the findings about the binding of this scope.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_scope_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_SCOPE_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_scope_identity_mismatch",
    token: Some("managed_gc_protocol_scope_identity_mismatch"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A scope directory was replaced during an inspection.",
    gjc: "0.17's inspector refuses.",
    help: "Check again when nothing moves the scope.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_binding_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_BINDING_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_binding_identity_mismatch",
    token: Some("managed_gc_protocol_binding_identity_mismatch"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A binding file was replaced during an inspection.",
    gjc: "0.17's inspector refuses; the binding may be healthy.",
    help: "Check again when no gjc starts in that workspace.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_directory_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_DIRECTORY_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_directory_identity_mismatch",
    token: Some("managed_gc_protocol_directory_identity_mismatch"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A protocol directory was replaced during an inspection.",
    gjc: "0.17's inspector refuses.",
    help: "Check again when no gjc works in that workspace.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_protocol_file_missing`
pub static MANAGED_GC_PROTOCOL_FILE_MISSING: Code = Code {
    name: "managed_gc_protocol_file_missing",
    token: Some("managed_gc_protocol_file_missing"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    releases: Releases::Only017,
    verdict: "inspector",
    summary: "A protocol file vanished during an inspection.",
    gjc: "0.17's inspector refuses; a running gjc may just have finished with it.",
    help: "Check again when no gjc works in that workspace.",
    section: "03 §16",
    ..AREA
};

/// `managed_gc_scope_authority_unavailable`
pub static MANAGED_GC_SCOPE_AUTHORITY_UNAVAILABLE: Code = Code {
    name: "managed_gc_scope_authority_unavailable",
    token: Some("managed_gc_scope_authority_unavailable"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "publish",
    summary: "gjc may not write collection receipts for this workspace.",
    gjc: "In 0.17 no receipt is published.",
    help: "Look at the findings about the binding and permissions of the scope.",
    section: "03 §12",
    ..AREA
};

/// `managed_replace_receipt_cleanup_pending`
pub static MANAGED_REPLACE_RECEIPT_CLEANUP_PENDING: Code = Code {
    name: "managed_replace_receipt_cleanup_pending",
    token: Some("managed_replace_receipt_cleanup_pending"),
    severity: Severity::Error,
    verdict: "write",
    summary: "A replacement receipt could not be settled.",
    gjc: "The write that met it fails; the transcript is untouched.",
    help: "Look at the findings about replacement receipts of this directory.",
    section: "02 §8.4",
    ..AREA
};

/// `task_artifact_owner_root_invalid`
pub static TASK_ARTIFACT_OWNER_ROOT_INVALID: Code = Code {
    name: "task_artifact_owner_root_invalid",
    token: Some("task_artifact_owner_root_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "owner",
    summary: "The path of the sessions directory is not a plain real one.",
    gjc: "0.17 refuses operations on artifact owners.",
    help: "Make `sessions` a real directory, and give the agent directory without `.` or `..`.",
    section: "03 §5.5",
    ..AREA
};

/// `task_artifact_owner_profile_invalid`
pub static TASK_ARTIFACT_OWNER_PROFILE_INVALID: Code = Code {
    name: "task_artifact_owner_profile_invalid",
    token: Some("task_artifact_owner_profile_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "owner",
    summary: "The path of the agent directory is not a plain real one.",
    gjc: "0.17 refuses operations on artifact owners.",
    help: "Set GJC_CODING_AGENT_DIR to the real path of the directory.",
    section: "03 §7.2",
    ..AREA
};

/// `task_artifact_owner_continuation_state_order_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_STATE_ORDER_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_state_order_invalid",
    token: Some("task_artifact_owner_continuation_state_order_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "publish",
    summary: "A collection step was asked for out of order.",
    gjc: "0.17 publishes no receipt; the journal is unchanged.",
    help: "Let `gjc gc --disk --prune` go on from the recorded step.",
    section: "03 §12",
    ..AREA
};

/// `task_artifact_owner_continuation_state_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_STATE_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_state_mismatch",
    token: Some("task_artifact_owner_continuation_state_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "publish",
    summary: "A collection receipt to be written does not have the shape of its step.",
    gjc: "0.17 publishes no receipt; the journal is unchanged.",
    help: "Nothing on disk is wrong. Please report it to gjc.",
    section: "03 §12",
    ..AREA
};

/// `task_artifact_owner_continuation_attempt_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_ATTEMPT_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_attempt_invalid",
    token: Some("task_artifact_owner_continuation_attempt_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "publish",
    summary: "The attempt number of a collection receipt is not a positive whole number.",
    gjc: "0.17 publishes no receipt.",
    help: "Nothing on disk is wrong. Please report it to gjc.",
    section: "03 §2",
    ..AREA
};

/// `task_artifact_owner_parent_changed_during_capture`
pub static TASK_ARTIFACT_OWNER_PARENT_CHANGED_DURING_CAPTURE: Code = Code {
    name: "task_artifact_owner_parent_changed_during_capture",
    token: Some("task_artifact_owner_parent_changed_during_capture"),
    severity: Severity::Error,
    class: Some(Class::Transient),
    releases: Releases::Only017,
    verdict: "capture",
    summary: "The directory of artifact owners changed while gjc recorded it.",
    gjc: "0.17 stops the collection; nothing was removed.",
    help: "Run the collection again when no session writes artifacts.",
    section: "03 §7.3",
    ..AREA
};

/// `managed_gc_receipt_encoding_mismatch`
pub static MANAGED_GC_RECEIPT_ENCODING_MISMATCH: Code = Code {
    name: "managed_gc_receipt_encoding_mismatch",
    token: Some("managed_gc_receipt_encoding_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "publish",
    summary: "A collection receipt came out longer or shorter than measured.",
    gjc: "0.17 publishes no receipt.",
    help: "Nothing on disk is wrong. Please report it to gjc.",
    section: "03 §3",
    ..AREA
};

/// `task_artifact_owner_relative_path_invalid`
pub static TASK_ARTIFACT_OWNER_RELATIVE_PATH_INVALID: Code = Code {
    name: "task_artifact_owner_relative_path_invalid",
    token: Some("task_artifact_owner_relative_path_invalid"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "provisioning",
    summary: "The path of a task artifact is not allowed.",
    gjc: "0.17 refuses to provide the artifact owner.",
    help: "Give the artifact a plain relative name without `..`.",
    section: "03 §7.4",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &MALFORMED,
    &IDENTITY_MISMATCH,
    &MIGRATION_REQUIRED,
    &INVALID_HEADER,
    &UNREADABLE_CANDIDATE,
    &SOURCE_CHANGED,
    &UNSAFE_ROOT,
    &MANAGED_GC_PROTOCOL_SCOPE_LIMIT_EXCEEDED,
    &IDENTITY_UNAVAILABLE,
    &CWD_MISSING,
    &CWD_NETWORK_UNSUPPORTED,
    &CWD_IDENTITY_UNAVAILABLE,
    &ACL_UNAVAILABLE,
    &MIGRATION_BUSY,
    &MIGRATION_RETIRED,
    &LEGACY_MIGRATION_DISABLED,
    &DURABILITY_FAILED,
    &DURABILITY_NOT_PROVABLE,
    &ATOMIC_UNAVAILABLE,
    &INVALID_REQUEST,
    &MANAGED_STORAGE_UNSUPPORTED,
    &CAPACITY_EXCEEDED,
    &CONTENT_TOO_LARGE,
    &NEAR_LIMIT_APPEND,
    &NEAR_LIMIT_REWRITE,
    &HARD_LINK_UNSUPPORTED,
    &UNSUPPORTED_ENTRY,
    &TRANSCRIPT_NOT_SINGLE_LINK,
    &TRANSCRIPT_HEADER_UNUSABLE,
    &TRANSCRIPT_UNREADABLE,
    &BOUNDED_SCAN_BUILD_FAILED,
    &BOUNDED_FIRST_OPEN_DESCRIPTOR_CHANGED,
    &BOUNDED_FIRST_OPEN_UNREADABLE,
    &BOUNDED_FIRST_OPEN_LOCK_UNAVAILABLE,
    &BOUNDED_FIRST_OPEN_STALE_CLEANUP_FAILED,
    &SCOPE_UNAVAILABLE,
    &CANDIDATE_SCAN_FAILED,
    &CANDIDATE_INVALID,
    &CANDIDATE_NOT_FOUND,
    &CANDIDATE_AMBIGUOUS,
    &IDENTITY_INCOMPLETE,
    &MANAGED_GC_PROTOCOL_MIGRATION_AUTHORITY_MISMATCH,
    &MANAGED_GC_PROTOCOL_ROOT_IDENTITY_MISMATCH,
    &MANAGED_GC_PROTOCOL_ROOT_MISMATCH,
    &MANAGED_GC_PROTOCOL_SCOPE_PATH_MISMATCH,
    &MANAGED_GC_PROTOCOL_SCOPE_UNRECOGNIZED,
    &MANAGED_GC_PROTOCOL_SCOPE_IDENTITY_MISMATCH,
    &MANAGED_GC_PROTOCOL_BINDING_IDENTITY_MISMATCH,
    &MANAGED_GC_PROTOCOL_DIRECTORY_IDENTITY_MISMATCH,
    &MANAGED_GC_PROTOCOL_FILE_MISSING,
    &MANAGED_GC_SCOPE_AUTHORITY_UNAVAILABLE,
    &MANAGED_REPLACE_RECEIPT_CLEANUP_PENDING,
    &TASK_ARTIFACT_OWNER_ROOT_INVALID,
    &TASK_ARTIFACT_OWNER_PROFILE_INVALID,
    &TASK_ARTIFACT_OWNER_CONTINUATION_STATE_ORDER_INVALID,
    &TASK_ARTIFACT_OWNER_CONTINUATION_STATE_MISMATCH,
    &TASK_ARTIFACT_OWNER_CONTINUATION_ATTEMPT_INVALID,
    &TASK_ARTIFACT_OWNER_PARENT_CHANGED_DURING_CAPTURE,
    &MANAGED_GC_RECEIPT_ENCODING_MISMATCH,
    &TASK_ARTIFACT_OWNER_RELATIVE_PATH_INVALID,
];
