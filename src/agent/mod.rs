//! What an agent directory holds: layout, walk, identity and digest, binding, legacy directories, locks, migration
//! receipts, tombstones, replacement receipts, blobs (spec 02, spec 04 §5).

pub mod artifacts;
pub mod binding;
pub mod blob_directory;
pub mod blobs;
pub mod budget;
pub mod candidates;
pub mod catalogue;
pub mod collation;
pub mod history;
pub mod identity;
pub mod layout;
pub mod legacy;
pub mod locate;
pub mod lock;
pub mod migration_receipt;
pub mod owner_evidence;
pub mod placeholder;
pub mod posix;
pub mod predict;
pub mod record;
pub mod replacement_receipt;
pub mod residue;
pub mod security;
pub mod sidecar;
pub mod tombstone;
pub mod walk;
pub mod why;
pub mod world;
