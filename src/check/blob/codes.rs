//! Codes of the area *blob* (spec 05).

use crate::finding::{Code, Severity};

/// What the codes of this area have in common.
const AREA: Code = Code::of_area("blob");

/// `blob_missing`
pub static BLOB_MISSING: Code = Code {
    name: "blob_missing",
    severity: Severity::Error,
    verdict: "open shows a placeholder; in-process switch and `--fork` fail; the next full rewrite stores the placeholder for good",
    summary: "A blob that the session refers to is not in the blob store.",
    gjc: "Opening shows a placeholder instead of the content; switching to the session and `--fork` fail. The next full rewrite stores the placeholder for good.",
    help: "Restore the blob (its name is the hash) from a backup before gjc writes the session again. If it cannot be found, keep a copy of the transcript as it is now.",
    section: "01 §4.4; 04 §5.6, §5.7",
    ..AREA
};

/// `blob_hash_mismatch`
pub static BLOB_HASH_MISMATCH: Code = Code {
    name: "blob_hash_mismatch",
    severity: Severity::Error,
    verdict: "ordinary reads use the wrong bytes silently; checked reads `BlobCorruptError`",
    summary: "A blob's content does not match the hash in its name.",
    gjc: "Ordinary reads use the wrong bytes without notice; checked reads fail with `BlobCorruptError`.",
    help: "Restore the blob from a backup; check the disk. If the original cannot be found, move the bad file out, so that gjc shows a gap instead of wrong content.",
    section: "04 §5.3",
    ..AREA
};

/// `blob_ref_noncanonical`
pub static BLOB_REF_NONCANONICAL: Code = Code {
    name: "blob_ref_noncanonical",
    severity: Severity::Warning,
    verdict: "0.17: plain data; 0.15: joined into a path",
    summary: "A blob reference is not followed by exactly 64 lower-case hex digits.",
    gjc: "0.17 treats the text as plain data; in an image of 1,024 units or more the next rewrite decodes it as Base64, and the text is lost. 0.15 joins it into a path below the blob store; where nothing is, the next rewrite stores a placeholder for good.",
    help: "Correct the reference in a copy if the real hash is known; with 0.15, take it out.",
    section: "01 §4.4; 04 §5.4",
    ..AREA
};

/// `blob_ref_inert`
pub static BLOB_REF_INERT: Code = Code {
    name: "blob_ref_inert",
    severity: Severity::Info,
    verdict: "sent as text; keeps the blob alive for GC",
    summary: "A blob reference stands where gjc never resolves it.",
    gjc: "The reference is sent to the model as text. It keeps the blob alive during collection.",
    help: "Nothing needs to be done.",
    section: "04 §5.6",
    ..AREA
};

/// `blob_image_url_invalid`
pub static BLOB_IMAGE_URL_INVALID: Code = Code {
    name: "blob_image_url_invalid",
    severity: Severity::Warning,
    verdict: "the model gets a broken URL",
    summary: "The blob behind an image address is not a base64 image.",
    gjc: "The model gets a broken image address.",
    help: "Restore the blob from a backup, or attach the image again.",
    section: "04 §5.5",
    ..AREA
};

/// `blob_placeholder_persisted`
pub static BLOB_PLACEHOLDER_PERSISTED: Code = Code {
    name: "blob_placeholder_persisted",
    severity: Severity::Warning,
    verdict: "the content is lost; by hand the reference can be restored",
    summary: "A placeholder for lost content was stored in place of the content.",
    gjc: "gjc shows and sends the placeholder; the original is no longer referred to.",
    help: "If the message says that a blob of that hash exists, put the reference `blob:sha256:<hash>` back in a copy of the transcript. Otherwise the content is lost.",
    section: "01 §4.4; 04 §5.7",
    ..AREA
};

/// `resident_sentinel_on_disk`
pub static RESIDENT_SENTINEL_ON_DISK: Code = Code {
    name: "resident_sentinel_on_disk",
    severity: Severity::Error,
    verdict: "well-formed: an image resolves like a reference, a text becomes a placeholder; malformed: handed to the model as an object",
    summary: "An object that gjc keeps only in memory was written to the file.",
    gjc: "A well-formed one of an image is taken for a reference to the blob, one of a text becomes a placeholder when the session is opened; a malformed one is handed to the model as it is.",
    help: "If the blob of the hash named in it exists, replace the object by `blob:sha256:<hash>` in a copy. Please report it to gjc.",
    section: "01 §4.4; 04 §5.7",
    ..AREA
};

/// `spill_marker_invalid`
pub static SPILL_MARKER_INVALID: Code = Code {
    name: "spill_marker_invalid",
    severity: Severity::Error,
    verdict: "open may throw (01 §2.5); the content is not restored",
    summary: "The note about content that was moved out of an entry is malformed.",
    gjc: "Opening the session may throw; the moved content is not restored.",
    help: "Restore the entry from a backup, or take the marker `evictedContent` out of a copy: the notice in the message then stays.",
    section: "01 §4.5",
    ..AREA
};

/// `spill_blob_missing`
pub static SPILL_BLOB_MISSING: Code = Code {
    name: "spill_blob_missing",
    severity: Severity::Error,
    verdict: "the text becomes a notice; a tool call loses its arguments",
    summary: "Content that was moved out of an entry is missing from the blob store or damaged.",
    gjc: "The text becomes a notice; a tool call loses its arguments.",
    help: "Restore the blob from a backup before gjc writes the session again.",
    section: "01 §4.5; 04 §5.8",
    ..AREA
};

/// `spill_placeholder_without_marker`
pub static SPILL_PLACEHOLDER_WITHOUT_MARKER: Code = Code {
    name: "spill_placeholder_without_marker",
    severity: Severity::Warning,
    verdict: "the content is lost",
    summary: "A notice says that content was moved out, but nothing says where it is.",
    gjc: "gjc shows and sends the notice; the content is lost.",
    help: "Restore the entry from a backup if the content matters.",
    section: "01 §4.5",
    ..AREA
};

/// `image_base64_noncanonical`
pub static IMAGE_BASE64_NONCANONICAL: Code = Code {
    name: "image_base64_noncanonical",
    severity: Severity::Warning,
    verdict: "the next rewrite re-encodes it and may leave an orphan blob",
    summary: "A stored image is not in canonical base64.",
    gjc: "The next rewrite encodes it anew and may leave an unreferenced blob behind.",
    help: "Nothing needs to be done.",
    section: "01 §8.4; vectors README 31",
    ..AREA
};

/// `blob_unreferenced`
pub static BLOB_UNREFERENCED: Code = Code {
    name: "blob_unreferenced",
    severity: Severity::Info,
    verdict: "collectable",
    summary: "No session refers to this blob.",
    gjc: "`gjc gc --disk --prune` may collect it.",
    help: "Nothing needs to be done. To free the space, run gjc's own collection; first make sure that no session outside this agent directory uses the blob.",
    section: "04 §5.11",
    ..AREA
};

/// `blob_scan_incomplete`
pub static BLOB_SCAN_INCOMPLETE: Code = Code {
    name: "blob_scan_incomplete",
    severity: Severity::Info,
    fatal: true,
    verdict: "no blob is called unreferenced",
    summary: "A place that may refer to blobs could not be read, so no blob is called unreferenced.",
    gjc: "gjc's collection refuses in the same way when it cannot read every session.",
    help: "Make the named place readable and check again. Do not remove blobs by hand.",
    section: "04 §5.11; field O5",
    ..AREA
};

/// `blob_gc_hazard`
pub static BLOB_GC_HAZARD: Code = Code {
    name: "blob_gc_hazard",
    severity: Severity::Warning,
    verdict: "`gjc gc --disk --prune` removes it",
    summary: "A blob is referred to only from places that gjc's collection does not look at.",
    gjc: "`gjc gc --disk --prune` removes it although it is in use.",
    help: "Do not run gjc's collection until the session named here lies in a place that it scans.",
    section: "04 §5.11",
    ..AREA
};

/// `blob_gc_interrupted`
pub static BLOB_GC_INTERRUPTED: Code = Code {
    name: "blob_gc_interrupted",
    severity: Severity::Warning,
    verdict: "the blob is missing under its name",
    summary: "A collection of blobs was interrupted and left a blob under a temporary name.",
    gjc: "The blob is missing under its own name.",
    help: "With gjc stopped: if the message says that the hash is still referenced, and the content has that hash, rename the file back to the plain hash. Otherwise it may be removed.",
    section: "04 §5.11",
    ..AREA
};

/// `blob_temp_left`
pub static BLOB_TEMP_LEFT: Code = Code {
    name: "blob_temp_left",
    severity: Severity::Info,
    verdict: "none",
    summary: "An unfinished blob write was left behind.",
    gjc: "Nothing. gjc never reads it.",
    help: "It may be removed when no gjc runs.",
    section: "04 §5.2",
    ..AREA
};

/// `blob_foreign_entry`
pub static BLOB_FOREIGN_ENTRY: Code = Code {
    name: "blob_foreign_entry",
    severity: Severity::Info,
    verdict: "gjc ignores it; GC skips it",
    summary: "The blob store holds something that is not a blob.",
    gjc: "gjc ignores it, and its collection skips it.",
    help: "Look at what it is and move it elsewhere if it does not belong here. If it is a blob with a second hard link, replace it by a plain copy.",
    section: "04 §5.11",
    ..AREA
};

/// `blob_permissions`
pub static BLOB_PERMISSIONS: Code = Code {
    name: "blob_permissions",
    severity: Severity::Info,
    verdict: "none; privacy only",
    summary: "Other users can read the blob store.",
    gjc: "Nothing; this is only about privacy.",
    help: "Close it with `chmod 700` for the directory and `chmod 600` for the files.",
    section: "04 §5.1",
    ..AREA
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
