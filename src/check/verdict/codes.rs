//! Codes of the area *verdict* (spec 05).

use crate::finding::{Class, Code, Releases, Role, Severity};

/// `malformed`
pub static MALFORMED: Code = Code {
    name: "malformed",
    token: Some("malformed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "S steps 5 to 11 or M fail",
    gjc: "S, M",
    help: "",
    section: "01 §2.3, §2.8",
    since: "0.1.0",
};

/// `identity_mismatch`
pub static IDENTITY_MISMATCH: Code = Code {
    name: "identity_mismatch",
    token: Some("identity-mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "the approved identity differs at strict open; or name and opened object differ",
    gjc: "open",
    help: "",
    section: "04 §4.3; 02 §4.1",
    since: "0.1.0",
};

/// `migration_required`
pub static MIGRATION_REQUIRED: Code = Code {
    name: "migration_required",
    token: Some("migration-required"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "recovery hydration of a file that needs migration",
    gjc: "open",
    help: "",
    section: "04 §4.3",
    since: "0.1.0",
};

/// `invalid_header`
pub static INVALID_HEADER: Code = Code {
    name: "invalid_header",
    token: Some("invalid_header"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "02 §5.3 step 1a or 1c",
    gjc: "list",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `unreadable_candidate`
pub static UNREADABLE_CANDIDATE: Code = Code {
    name: "unreadable_candidate",
    token: Some("unreadable_candidate"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "02 §5.3 step 1b or 1e",
    gjc: "list",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `source_changed`
pub static SOURCE_CHANGED: Code = Code {
    name: "source_changed",
    token: Some("source_changed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "a capture or consent check fails",
    gjc: "list, migrate, delete",
    help: "",
    section: "02 §4.5",
    since: "0.1.0",
};

/// `unsafe_root`
pub static UNSAFE_ROOT: Code = Code {
    name: "unsafe_root",
    token: Some("unsafe_root"),
    area: "verdict",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "the sessions root is no real directory",
    gjc: "list",
    help: "",
    section: "02 §7.3",
    since: "0.1.0",
};

/// `managed_gc_protocol_scope_limit_exceeded`
pub static MANAGED_GC_PROTOCOL_SCOPE_LIMIT_EXCEEDED: Code = Code {
    name: "managed_gc_protocol_scope_limit_exceeded",
    token: Some("managed_gc_protocol_scope_limit_exceeded"),
    area: "verdict",
    severity: Severity::Error,
    fatal: true,
    class: Some(Class::Capacity),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "more than 50,000 scopes",
    gjc: "inspector",
    help: "",
    section: "03 §14 Q9",
    since: "0.1.0",
};

/// `identity_unavailable`
pub static IDENTITY_UNAVAILABLE: Code = Code {
    name: "identity_unavailable",
    token: Some("identity_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "an asked cwd resolves with `not_utf8`, `io_error` or `identity_unavailable`",
    gjc: "resolve",
    help: "",
    section: "02 §2.2",
    since: "0.1.0",
};

/// `cwd_missing`
pub static CWD_MISSING: Code = Code {
    name: "cwd_missing",
    token: Some("cwd_missing"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "an asked cwd does not exist",
    gjc: "resolve",
    help: "",
    section: "02 §2.2",
    since: "0.1.0",
};

/// `cwd_network_unsupported`
pub static CWD_NETWORK_UNSUPPORTED: Code = Code {
    name: "cwd_network_unsupported",
    token: Some("cwd_network_unsupported"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "Windows: the header cwd is on a network path",
    gjc: "list",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `cwd_identity_unavailable`
pub static CWD_IDENTITY_UNAVAILABLE: Code = Code {
    name: "cwd_identity_unavailable",
    token: Some("cwd_identity_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "Windows: the header cwd has no volume identity",
    gjc: "list",
    help: "",
    section: "02 §5.3",
    since: "0.1.0",
};

/// `acl_unavailable`
pub static ACL_UNAVAILABLE: Code = Code {
    name: "acl_unavailable",
    token: Some("acl_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "macOS: the ACL query fails other than ENOENT or ENOTSUP",
    gjc: "resolve, append",
    help: "",
    section: "02 §4.2",
    since: "0.1.0",
};

/// `migration_busy`
pub static MIGRATION_BUSY: Code = Code {
    name: "migration_busy",
    token: Some("migration_busy"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "a needed lock is not free after 5 s, or ownership is lost",
    gjc: "migrate, delete, prepare",
    help: "",
    section: "02 §6.2",
    since: "0.1.0",
};

/// `migration_retired`
pub static MIGRATION_RETIRED: Code = Code {
    name: "migration_retired",
    token: Some("migration_retired"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "a completed tombstone retires a transcript that still exists",
    gjc: "open",
    help: "",
    section: "02 §6.3; 02a.7",
    since: "0.1.0",
};

/// `legacy_migration_disabled`
pub static LEGACY_MIGRATION_DISABLED: Code = Code {
    name: "legacy_migration_disabled",
    token: Some("legacy_migration_disabled"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "policy `disabled` and a legacy candidate",
    gjc: "open",
    help: "",
    section: "02 §6.3",
    since: "0.1.0",
};

/// `durability_failed`
pub static DURABILITY_FAILED: Code = Code {
    name: "durability_failed",
    token: Some("durability_failed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "receipt, quarantine, tombstone or copy evidence is inconsistent",
    gjc: "migrate, prepare, delete",
    help: "",
    section: "02 §10",
    since: "0.1.0",
};

/// `durability_not_provable`
pub static DURABILITY_NOT_PROVABLE: Code = Code {
    name: "durability_not_provable",
    token: Some("durability_not_provable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "native publication says so",
    gjc: "migrate",
    help: "",
    section: "02 §10",
    since: "0.1.0",
};

/// `atomic_unavailable`
pub static ATOMIC_UNAVAILABLE: Code = Code {
    name: "atomic_unavailable",
    token: Some("atomic_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "no no-replace primitive",
    gjc: "migrate, prepare",
    help: "",
    section: "02 §10",
    since: "0.1.0",
};

/// `invalid_request`
pub static INVALID_REQUEST: Code = Code {
    name: "invalid_request",
    token: Some("invalid_request"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "native publication says so",
    gjc: "migrate",
    help: "",
    section: "02 §10",
    since: "0.1.0",
};

/// `managed_storage_unsupported`
pub static MANAGED_STORAGE_UNSUPPORTED: Code = Code {
    name: "managed_storage_unsupported",
    token: Some("managed_storage_unsupported"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "every open failure that has no code of its own",
    gjc: "open, migrate",
    help: "",
    section: "02 §10.2",
    since: "0.1.0",
};

/// `capacity_exceeded`
pub static CAPACITY_EXCEEDED: Code = Code {
    name: "capacity_exceeded",
    token: Some("capacity_exceeded"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "a limit of 02 §10.1",
    gjc: "prepare",
    help: "",
    section: "02 §10.1",
    since: "0.1.0",
};

/// `content_too_large`
pub static CONTENT_TOO_LARGE: Code = Code {
    name: "content_too_large",
    token: Some("content_too_large"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "a published or rewritten file > 128 MiB",
    gjc: "migrate, rewrite",
    help: "",
    section: "02 §6.4",
    since: "0.1.0",
};

/// `near_limit_append`
pub static NEAR_LIMIT_APPEND: Code = Code {
    name: "near_limit_append",
    token: Some("near_limit_append"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "an append and its compacting rewrite would exceed 128 MiB",
    gjc: "append",
    help: "",
    section: "01 §1",
    since: "0.1.0",
};

/// `near_limit_rewrite`
pub static NEAR_LIMIT_REWRITE: Code = Code {
    name: "near_limit_rewrite",
    token: Some("near_limit_rewrite"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Capacity),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "a rewrite would exceed 128 MiB",
    gjc: "rewrite",
    help: "",
    section: "01 §1",
    since: "0.1.0",
};

/// `hard_link_unsupported`
pub static HARD_LINK_UNSUPPORTED: Code = Code {
    name: "hard_link_unsupported",
    token: Some("hard_link_unsupported"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "native tree snapshot meets a hard link",
    gjc: "migrate",
    help: "",
    section: "02 §6.6",
    since: "0.1.0",
};

/// `unsupported_entry`
pub static UNSUPPORTED_ENTRY: Code = Code {
    name: "unsupported_entry",
    token: Some("unsupported_entry"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "native tree snapshot meets a special file",
    gjc: "migrate",
    help: "",
    section: "02 §6.6",
    since: "0.1.0",
};

/// `transcript_not_single_link`
pub static TRANSCRIPT_NOT_SINGLE_LINK: Code = Code {
    name: "transcript_not_single_link",
    token: Some("transcript_not_single_link"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "link count ≠ 1",
    gjc: "gc --disk",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `transcript_header_unusable`
pub static TRANSCRIPT_HEADER_UNUSABLE: Code = Code {
    name: "transcript_header_unusable",
    token: Some("transcript_header_unusable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "no usable header",
    gjc: "gc --disk",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `transcript_unreadable`
pub static TRANSCRIPT_UNREADABLE: Code = Code {
    name: "transcript_unreadable",
    token: Some("transcript_unreadable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "unreadable",
    gjc: "gc --disk",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `bounded_scan_build_failed`
pub static BOUNDED_SCAN_BUILD_FAILED: Code = Code {
    name: "bounded_scan_build_failed",
    token: Some("bounded_scan_build_failed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "the sidecar cannot be built",
    gjc: "R",
    help: "",
    section: "04 §4.6",
    since: "0.1.0",
};

/// `bounded_first_open_descriptor_changed`
pub static BOUNDED_FIRST_OPEN_DESCRIPTOR_CHANGED: Code = Code {
    name: "bounded_first_open_descriptor_changed",
    token: Some("bounded_first_open_descriptor_changed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "file changed, or link count > 1",
    gjc: "R",
    help: "",
    section: "01 §2.7",
    since: "0.1.0",
};

/// `bounded_first_open_unreadable`
pub static BOUNDED_FIRST_OPEN_UNREADABLE: Code = Code {
    name: "bounded_first_open_unreadable",
    token: Some("bounded_first_open_unreadable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "unreadable",
    gjc: "R",
    help: "",
    section: "04 §4.6",
    since: "0.1.0",
};

/// `bounded_first_open_lock_unavailable`
pub static BOUNDED_FIRST_OPEN_LOCK_UNAVAILABLE: Code = Code {
    name: "bounded_first_open_lock_unavailable",
    token: Some("bounded_first_open_lock_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "sidecar lock not free",
    gjc: "R",
    help: "",
    section: "04 §4.6",
    since: "0.1.0",
};

/// `bounded_first_open_stale_cleanup_failed`
pub static BOUNDED_FIRST_OPEN_STALE_CLEANUP_FAILED: Code = Code {
    name: "bounded_first_open_stale_cleanup_failed",
    token: Some("bounded_first_open_stale_cleanup_failed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "old sidecar cannot be removed",
    gjc: "R",
    help: "",
    section: "04 §4.6",
    since: "0.1.0",
};

/// `scope_unavailable`
pub static SCOPE_UNAVAILABLE: Code = Code {
    name: "scope_unavailable",
    token: Some("scope_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "the scope does not resolve",
    gjc: "SDK session.list",
    help: "",
    section: "04 §3.5",
    since: "0.1.0",
};

/// `candidate_scan_failed`
pub static CANDIDATE_SCAN_FAILED: Code = Code {
    name: "candidate_scan_failed",
    token: Some("candidate_scan_failed"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "the listing fails",
    gjc: "SDK session.list",
    help: "",
    section: "04 §3.5",
    since: "0.1.0",
};

/// `candidate_invalid`
pub static CANDIDATE_INVALID: Code = Code {
    name: "candidate_invalid",
    token: Some("candidate_invalid"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "only an invalid candidate carries the id",
    gjc: "SDK session.list",
    help: "",
    section: "04 §3.5",
    since: "0.1.0",
};

/// `candidate_not_found`
pub static CANDIDATE_NOT_FOUND: Code = Code {
    name: "candidate_not_found",
    token: Some("candidate_not_found"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "no match",
    gjc: "SDK session.list",
    help: "",
    section: "04 §3.5",
    since: "0.1.0",
};

/// `candidate_ambiguous`
pub static CANDIDATE_AMBIGUOUS: Code = Code {
    name: "candidate_ambiguous",
    token: Some("candidate_ambiguous"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "more than one match",
    gjc: "SDK session.list",
    help: "",
    section: "04 §3.5",
    since: "0.1.0",
};

/// `identity_incomplete`
pub static IDENTITY_INCOMPLETE: Code = Code {
    name: "identity_incomplete",
    token: Some("identity_incomplete"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "the match lacks identity fields",
    gjc: "SDK session.list",
    help: "",
    section: "04 §3.5",
    since: "0.1.0",
};

/// `managed_gc_protocol_migration_authority_mismatch`
pub static MANAGED_GC_PROTOCOL_MIGRATION_AUTHORITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_migration_authority_mismatch",
    token: Some("managed_gc_protocol_migration_authority_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "02 §7.2 does not hold now",
    gjc: "inspector",
    help: "",
    section: "02 §9.8",
    since: "0.1.0",
};

/// `managed_gc_protocol_root_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_ROOT_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_root_identity_mismatch",
    token: Some("managed_gc_protocol_root_identity_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "a root was replaced",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_root_mismatch`
pub static MANAGED_GC_PROTOCOL_ROOT_MISMATCH: Code = Code {
    name: "managed_gc_protocol_root_mismatch",
    token: Some("managed_gc_protocol_root_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "roots disagree",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_scope_path_mismatch`
pub static MANAGED_GC_PROTOCOL_SCOPE_PATH_MISMATCH: Code = Code {
    name: "managed_gc_protocol_scope_path_mismatch",
    token: Some("managed_gc_protocol_scope_path_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "bad scope path",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_scope_unrecognized`
pub static MANAGED_GC_PROTOCOL_SCOPE_UNRECOGNIZED: Code = Code {
    name: "managed_gc_protocol_scope_unrecognized",
    token: Some("managed_gc_protocol_scope_unrecognized"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "the scope cannot be authenticated",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_scope_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_SCOPE_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_scope_identity_mismatch",
    token: Some("managed_gc_protocol_scope_identity_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "the scope was replaced",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_binding_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_BINDING_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_binding_identity_mismatch",
    token: Some("managed_gc_protocol_binding_identity_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "the binding was replaced",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_directory_identity_mismatch`
pub static MANAGED_GC_PROTOCOL_DIRECTORY_IDENTITY_MISMATCH: Code = Code {
    name: "managed_gc_protocol_directory_identity_mismatch",
    token: Some("managed_gc_protocol_directory_identity_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "a role directory was replaced",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_protocol_file_missing`
pub static MANAGED_GC_PROTOCOL_FILE_MISSING: Code = Code {
    name: "managed_gc_protocol_file_missing",
    token: Some("managed_gc_protocol_file_missing"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "a listed file vanished",
    gjc: "inspector",
    help: "",
    section: "03 §16",
    since: "0.1.0",
};

/// `managed_gc_scope_authority_unavailable`
pub static MANAGED_GC_SCOPE_AUTHORITY_UNAVAILABLE: Code = Code {
    name: "managed_gc_scope_authority_unavailable",
    token: Some("managed_gc_scope_authority_unavailable"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "no scope authority",
    gjc: "publish",
    help: "",
    section: "03 §12",
    since: "0.1.0",
};

/// `managed_replace_receipt_cleanup_pending`
pub static MANAGED_REPLACE_RECEIPT_CLEANUP_PENDING: Code = Code {
    name: "managed_replace_receipt_cleanup_pending",
    token: Some("managed_replace_receipt_cleanup_pending"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Both,
    summary: "a receipt could not be detached",
    gjc: "write",
    help: "",
    section: "02 §8.4",
    since: "0.1.0",
};

/// `task_artifact_owner_root_invalid`
pub static TASK_ARTIFACT_OWNER_ROOT_INVALID: Code = Code {
    name: "task_artifact_owner_root_invalid",
    token: Some("task_artifact_owner_root_invalid"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "sessions root not normalised or no real directory",
    gjc: "owner",
    help: "",
    section: "03 §5.5",
    since: "0.1.0",
};

/// `task_artifact_owner_profile_invalid`
pub static TASK_ARTIFACT_OWNER_PROFILE_INVALID: Code = Code {
    name: "task_artifact_owner_profile_invalid",
    token: Some("task_artifact_owner_profile_invalid"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "agent directory not normalised or no real directory",
    gjc: "owner",
    help: "",
    section: "03 §7.2",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_state_order_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_STATE_ORDER_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_state_order_invalid",
    token: Some("task_artifact_owner_continuation_state_order_invalid"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "table of 03 §12",
    gjc: "publish",
    help: "",
    section: "03 §12",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_state_mismatch`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_STATE_MISMATCH: Code = Code {
    name: "task_artifact_owner_continuation_state_mismatch",
    token: Some("task_artifact_owner_continuation_state_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "candidate shape",
    gjc: "publish",
    help: "",
    section: "03 §12",
    since: "0.1.0",
};

/// `task_artifact_owner_continuation_attempt_invalid`
pub static TASK_ARTIFACT_OWNER_CONTINUATION_ATTEMPT_INVALID: Code = Code {
    name: "task_artifact_owner_continuation_attempt_invalid",
    token: Some("task_artifact_owner_continuation_attempt_invalid"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "attempt is no safe integer ≥ 1",
    gjc: "publish",
    help: "",
    section: "03 §2",
    since: "0.1.0",
};

/// `task_artifact_owner_parent_changed_during_capture`
pub static TASK_ARTIFACT_OWNER_PARENT_CHANGED_DURING_CAPTURE: Code = Code {
    name: "task_artifact_owner_parent_changed_during_capture",
    token: Some("task_artifact_owner_parent_changed_during_capture"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: Some(Class::Transient),
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "parent identity changed",
    gjc: "capture",
    help: "",
    section: "03 §7.3",
    since: "0.1.0",
};

/// `managed_gc_receipt_encoding_mismatch`
pub static MANAGED_GC_RECEIPT_ENCODING_MISMATCH: Code = Code {
    name: "managed_gc_receipt_encoding_mismatch",
    token: Some("managed_gc_receipt_encoding_mismatch"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "measured and real length differ",
    gjc: "publish",
    help: "",
    section: "03 §3",
    since: "0.1.0",
};

/// `task_artifact_owner_relative_path_invalid`
pub static TASK_ARTIFACT_OWNER_RELATIVE_PATH_INVALID: Code = Code {
    name: "task_artifact_owner_relative_path_invalid",
    token: Some("task_artifact_owner_relative_path_invalid"),
    area: "verdict",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::VerdictToken,
    releases: Releases::Only017,
    summary: "03 §7.4",
    gjc: "provisioning",
    help: "",
    section: "03 §7.4",
    since: "0.1.0",
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
