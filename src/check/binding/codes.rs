//! Codes of the area *binding* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("binding");

/// `binding_missing`
pub static BINDING_MISSING: Code = Code {
    name: "binding_missing",
    severity: Severity::Warning,
    verdict: "resolve accepts and the next write creates it; discovery `managed_gc_scope_authority_mismatch` (0.17)",
    summary: "A scope has no binding file.",
    gjc: "Sessions work, and the next write creates the file. In 0.17 garbage collection refuses the whole profile until then.",
    help: "Start gjc once in that workspace.",
    section: "02 §3.2.1; 03 §13",
    ..AREA
};

/// `binding_invalid`
pub static BINDING_INVALID: Code = Code {
    name: "binding_invalid",
    token: Some("binding_invalid"),
    severity: Severity::Error,
    fatal: true,
    verdict: "resolve, prepare, list, open refuse; discovery `managed_gc_scope_authority_mismatch`",
    summary: "The binding file of a scope cannot be used.",
    gjc: "gjc refuses the workspace: its sessions are neither listed nor resumed nor started. 0.17's garbage collection refuses the whole profile.",
    help: "The transcripts are intact. With gjc stopped, restore the binding file from a backup, or write it anew: `gjc-fsck scope --canonical WORKSPACE` prints the exact text behind `binding`, and one line feed ends it. Never remove the scope.",
    section: "02 §3.2",
    ..AREA
};

/// `binding_conflict`
pub static BINDING_CONFLICT: Code = Code {
    name: "binding_conflict",
    token: Some("binding_conflict"),
    severity: Severity::Error,
    fatal: true,
    verdict: "resolve refuses; discovery `managed_gc_scope_authority_mismatch`",
    summary: "The binding file belongs to another workspace or another directory.",
    gjc: "gjc refuses the workspace that the directory is named after, because its scope seems to be someone else's; the sessions in it are out of reach. 0.17's garbage collection refuses the whole profile.",
    help: "With gjc stopped, look whose transcripts lie in it, by the `cwd` of their headers. If the directory was renamed, give it its proper name back; if it is a copy, move it out of `sessions` and keep it; if only the binding file is another's, restore that from a backup. Do not edit the digest.",
    section: "02 §3.2.4",
    ..AREA
};

/// Every code of this area.
pub static ALL: &[&Code] = &[&BINDING_MISSING, &BINDING_INVALID, &BINDING_CONFLICT];
