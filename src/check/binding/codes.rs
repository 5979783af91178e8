//! Codes of the area *binding* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `binding_missing`
pub static BINDING_MISSING: Code = Code {
    name: "binding_missing",
    token: None,
    area: "binding",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a scope directory has no `.gjc-managed-session-scope.v2.json`",
    gjc: "resolve accepts and the next write creates it; discovery `managed_gc_scope_authority_mismatch` (0.17)",
    help: "",
    section: "02 §3.2.1; 03 §13",
    since: "0.1.0",
};

/// `binding_invalid`
pub static BINDING_INVALID: Code = Code {
    name: "binding_invalid",
    token: Some("binding_invalid"),
    area: "binding",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "02 §3.2 step 1 (for a reason without a code of its own), 2, 3 or 5 fails; name the step",
    gjc: "resolve, prepare, list, open refuse; discovery `managed_gc_scope_authority_mismatch`",
    help: "",
    section: "02 §3.2",
    since: "0.1.0",
};

/// `binding_conflict`
pub static BINDING_CONFLICT: Code = Code {
    name: "binding_conflict",
    token: Some("binding_conflict"),
    area: "binding",
    severity: Severity::Error,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the shape is right and `platform`, `canonicalPath` or `identityDigest` differs from the resolved identity, from the recomputed digest, or from the directory name",
    gjc: "resolve refuses; discovery `managed_gc_scope_authority_mismatch`",
    help: "",
    section: "02 §3.2.4",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&BINDING_MISSING, &BINDING_INVALID, &BINDING_CONFLICT];
