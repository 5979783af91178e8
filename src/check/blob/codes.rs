//! Codes of the area *blob* (spec 05).

use crate::finding::{Code, Releases, Role, Severity};

/// `blob_missing`
pub static BLOB_MISSING: Code = Code {
    name: "blob_missing",
    token: None,
    area: "blob",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the blob store is known and a reference in a resolving position (01 §4.4; not cold spill) has no file in it",
    gjc: "open shows a placeholder; in-process switch and `--fork` fail; the next full rewrite stores the placeholder for good",
    help: "",
    section: "01 §4.4; 04 §5.6, §5.7",
    since: "0.1.0",
};

/// `blob_hash_mismatch`
pub static BLOB_HASH_MISMATCH: Code = Code {
    name: "blob_hash_mismatch",
    token: None,
    area: "blob",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "SHA-256 of a blob file differs from its name",
    gjc: "ordinary reads use the wrong bytes silently; checked reads `BlobCorruptError`",
    help: "",
    section: "04 §5.3",
    since: "0.1.0",
};

/// `blob_ref_noncanonical`
pub static BLOB_REF_NONCANONICAL: Code = Code {
    name: "blob_ref_noncanonical",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a string in a resolving position begins `blob:sha256:` and is not followed by exactly 64 lower-case hex digits",
    gjc: "0.17: plain data; 0.15: joined into a path",
    help: "",
    section: "01 §4.4; 04 §5.4",
    since: "0.1.0",
};

/// `blob_ref_inert`
pub static BLOB_REF_INERT: Code = Code {
    name: "blob_ref_inert",
    token: None,
    area: "blob",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a canonical reference stands where gjc never resolves it (04 §5.6, last row)",
    gjc: "sent as text; keeps the blob alive for GC",
    help: "",
    section: "04 §5.6",
    since: "0.1.0",
};

/// `blob_image_url_invalid`
pub static BLOB_IMAGE_URL_INVALID: Code = Code {
    name: "blob_image_url_invalid",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a blob referenced from `image_url` is no UTF-8 text that starts `data:image/` and contains `;base64,`",
    gjc: "the model gets a broken URL",
    help: "",
    section: "04 §5.5",
    since: "0.1.0",
};

/// `blob_placeholder_persisted`
pub static BLOB_PLACEHOLDER_PERSISTED: Code = Code {
    name: "blob_placeholder_persisted",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a stored string matches `^\\[Session resident (text|imageUrl|imageData) blob missing: sha256:[0-9a-f]{64}; original content unavailable\\]$` (say whether a blob of that hash exists)",
    gjc: "the content is lost; by hand the reference can be restored",
    help: "",
    section: "01 §4.4; 04 §5.7",
    since: "0.1.0",
};

/// `resident_sentinel_on_disk`
pub static RESIDENT_SENTINEL_ON_DISK: Code = Code {
    name: "resident_sentinel_on_disk",
    token: None,
    area: "blob",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an object has `__gjcResidentBlob` true",
    gjc: "well-formed: becomes a placeholder; malformed: handed to the model as an object",
    help: "",
    section: "01 §4.4; 04 §5.7",
    since: "0.1.0",
};

/// `spill_marker_invalid`
pub static SPILL_MARKER_INVALID: Code = Code {
    name: "spill_marker_invalid",
    token: None,
    area: "blob",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`evictedContent` violates 01 §4.5 (shape, path grammar, hash of `ref` differs from `sha256`)",
    gjc: "open may throw (01 §2.5); the content is not restored",
    help: "",
    section: "01 §4.5",
    since: "0.1.0",
};

/// `spill_blob_missing`
pub static SPILL_BLOB_MISSING: Code = Code {
    name: "spill_blob_missing",
    token: None,
    area: "blob",
    severity: Severity::Error,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the blob store is known and a cold-spill payload's blob is absent, fails its hash, or (`json`) does not parse",
    gjc: "the text becomes a notice; a tool call loses its arguments",
    help: "",
    section: "01 §4.5; 04 §5.8",
    since: "0.1.0",
};

/// `spill_placeholder_without_marker`
pub static SPILL_PLACEHOLDER_WITHOUT_MARKER: Code = Code {
    name: "spill_placeholder_without_marker",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "the eviction notice or an arguments sentinel stands where no payload has that path",
    gjc: "the content is lost",
    help: "",
    section: "01 §4.5",
    since: "0.1.0",
};

/// `image_base64_noncanonical`
pub static IMAGE_BASE64_NONCANONICAL: Code = Code {
    name: "image_base64_noncanonical",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "an inline image of a `content` array with `data` of 1,024 units or more is not canonical base64",
    gjc: "the next rewrite re-encodes it and may leave an orphan blob",
    help: "",
    section: "01 §8.4; vectors README 31",
    since: "0.1.0",
};

/// `blob_unreferenced`
pub static BLOB_UNREFERENCED: Code = Code {
    name: "blob_unreferenced",
    token: None,
    area: "blob",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a blob older than 24 h has no reference in the superset of 04 §5.11, and every root was scanned",
    gjc: "collectable",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `blob_scan_incomplete`
pub static BLOB_SCAN_INCOMPLETE: Code = Code {
    name: "blob_scan_incomplete",
    token: None,
    area: "blob",
    severity: Severity::Info,
    fatal: true,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a root that may hold references could not be scanned; orphan claims are withheld",
    gjc: "no blob is called unreferenced",
    help: "",
    section: "04 §5.11; field O5",
    since: "0.1.0",
};

/// `blob_gc_hazard`
pub static BLOB_GC_HAZARD: Code = Code {
    name: "blob_gc_hazard",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "a blob is referenced only from places that gjc's blob GC does not scan",
    gjc: "`gjc gc --disk --prune` removes it",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `blob_gc_interrupted`
pub static BLOB_GC_INTERRUPTED: Code = Code {
    name: "blob_gc_interrupted",
    token: None,
    area: "blob",
    severity: Severity::Warning,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`blobs/.gjc-gc-blob-<hash>` exists (say whether the hash is still referenced)",
    gjc: "the blob is missing under its name",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `blob_temp_left`
pub static BLOB_TEMP_LEFT: Code = Code {
    name: "blob_temp_left",
    token: None,
    area: "blob",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`<hash>.tmp.*` older than 24 h",
    gjc: "none",
    help: "",
    section: "04 §5.2",
    since: "0.1.0",
};

/// `blob_foreign_entry`
pub static BLOB_FOREIGN_ENTRY: Code = Code {
    name: "blob_foreign_entry",
    token: None,
    area: "blob",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "any other name in `blobs/`, or a blob that is not regular or has link count ≠ 1",
    gjc: "gjc ignores it; GC skips it",
    help: "",
    section: "04 §5.11",
    since: "0.1.0",
};

/// `blob_permissions`
pub static BLOB_PERMISSIONS: Code = Code {
    name: "blob_permissions",
    token: None,
    area: "blob",
    severity: Severity::Info,
    fatal: false,
    class: None,
    role: Role::Diagnostic,
    releases: Releases::Both,
    summary: "`blobs/` is not 0700, or a blob is readable by group or others (POSIX)",
    gjc: "none; privacy only",
    help: "",
    section: "04 §5.1",
    since: "0.1.0",
};

/// Every code of this area.
pub static ALL: &[&Code] = &[
    &BLOB_MISSING,
    &BLOB_HASH_MISMATCH,
    &BLOB_REF_NONCANONICAL,
    &BLOB_REF_INERT,
    &BLOB_IMAGE_URL_INVALID,
    &BLOB_PLACEHOLDER_PERSISTED,
    &RESIDENT_SENTINEL_ON_DISK,
    &SPILL_MARKER_INVALID,
    &SPILL_BLOB_MISSING,
    &SPILL_PLACEHOLDER_WITHOUT_MARKER,
    &IMAGE_BASE64_NONCANONICAL,
    &BLOB_UNREFERENCED,
    &BLOB_SCAN_INCOMPLETE,
    &BLOB_GC_HAZARD,
    &BLOB_GC_INTERRUPTED,
    &BLOB_TEMP_LEFT,
    &BLOB_FOREIGN_ENTRY,
    &BLOB_PERMISSIONS,
];
