//! Codes of the area *scope* (spec 05).

use crate::finding::{Code, Releases, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("scope");

/// `sessions_root_unavailable`
pub static SESSIONS_ROOT_UNAVAILABLE: Code = Code {
    name: "sessions_root_unavailable",
    token: Some("sessions_root_unavailable"),
    severity: Severity::Error,
    fatal: true,
    verdict: "resolve refuses every scope; list `unsafe_root`",
    summary: "The `sessions` directory is a symlink, is no directory, or cannot be looked at.",
    gjc: "gjc refuses every workspace: nothing is listed, nothing can be started or resumed.",
    help: "Make `sessions` a real directory: move the symlink's target into its place, or set GJC_CODING_AGENT_DIR to where the real one lies.",
    section: "02 §4.4, §10.1; 02a.20",
    ..AREA
};

/// `scope_name_malformed`
pub static SCOPE_NAME_MALFORMED: Code = Code {
    name: "scope_name_malformed",
    severity: Severity::Warning,
    verdict: "never scanned; if it does not match `^v2-[a-z2-7]{52}$` it blocks every owner retirement",
    summary: "A directory is named like a workspace scope (`v2-…`), but no digest has this form.",
    gjc: "gjc never looks inside: its sessions are out of reach. A name of the wrong length also blocks every release of task artifacts.",
    help: "Look at what is inside: gjc reaches no session in it. If it was a scope, give it its name back with gjc stopped, as `gjc-fsck scope WORKSPACE` prints it. If that name is taken, it is a copy: move it out of `sessions` and keep it.",
    section: "02 §2.3; 03 §9",
    ..AREA
};

/// `unknown_scope_dir`
pub static UNKNOWN_SCOPE_DIR: Code = Code {
    name: "unknown_scope_dir",
    severity: Severity::Warning,
    verdict: "its transcripts are listed only by `listAll` (0.17); blocks every owner retirement (0.17)",
    summary: "The `sessions` directory holds a folder that gjc does not know.",
    gjc: "Its transcripts are not listed for any workspace (0.17 shows them only in the list of everything). In 0.17 it also blocks every release of task artifacts.",
    help: "The workspaces of its transcripts are named in the message. Open the sessions by path, and move the folder out of `sessions` with gjc stopped.",
    section: "02 §1.3; 03 §9",
    ..AREA
};

/// `workspace_missing`
pub static WORKSPACE_MISSING: Code = Code {
    name: "workspace_missing",
    token: Some("cwd_missing"),
    severity: Severity::Info,
    verdict: "resolve of that cwd refuses; its sessions are reachable only when the path exists again",
    summary: "The workspace of this scope does not exist on this machine.",
    gjc: "gjc cannot be started there, so its sessions are reachable again only when the path exists.",
    help: "Nothing needs to be done if the workspace was removed on purpose. Otherwise put it back at the same path; the sessions are intact.",
    section: "02 §2.2",
    ..AREA
};

/// `network_unsupported`
pub static NETWORK_UNSUPPORTED: Code = Code {
    name: "network_unsupported",
    token: Some("network_unsupported"),
    severity: Severity::Error,
    verdict: "resolve refuses",
    summary: "The workspace lies on a network path.",
    gjc: "On Windows gjc refuses such a workspace: nothing can be started or resumed there.",
    help: "Use a local path, or map the share in a way that gjc accepts.",
    section: "02 §2.1",
    ..AREA
};

/// `identity_rebound`
pub static IDENTITY_REBOUND: Code = Code {
    name: "identity_rebound",
    severity: Severity::Warning,
    verdict: "migration shadowing and retirement no longer apply: both copies are listed",
    summary: "Most of the recorded file identities belong to another disk: the directory was copied or restored.",
    gjc: "Migrated sessions are listed twice, and deletions recorded earlier no longer hide their sessions. The contents agree.",
    help: "Nothing is lost. Work with the copies in the `v2-…` directory. Do not edit receipts; for a copy made only to be checked, use `--assume-root`.",
    section: "02 §7.2, §9.3",
    ..AREA
};

/// `managed_gc_scope_authority_mismatch`
pub static MANAGED_GC_SCOPE_AUTHORITY_MISMATCH: Code = Code {
    name: "managed_gc_scope_authority_mismatch",
    token: Some("managed_gc_scope_authority_mismatch"),
    severity: Severity::Error,
    releases: Releases::Only017,
    verdict: "discovery and inspector refuse the whole profile",
    summary: "A scope with pending garbage collection has no workspace, or a directory above it is not private.",
    gjc: "0.17 stops garbage collection and inspection for the whole profile. Sessions work as usual.",
    help: "Create the workspace directory again, or set the named directory to mode 0700 and its owner to the user of gjc.",
    section: "03 §13",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &SESSIONS_ROOT_UNAVAILABLE,
    &SCOPE_NAME_MALFORMED,
    &UNKNOWN_SCOPE_DIR,
    &WORKSPACE_MISSING,
    &NETWORK_UNSUPPORTED,
    &IDENTITY_REBOUND,
    &MANAGED_GC_SCOPE_AUTHORITY_MISMATCH,
];
