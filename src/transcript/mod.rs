//! One transcript: readers, entries, patches, migration, tree, context, persistence.

pub mod blobs;
