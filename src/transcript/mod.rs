//! One transcript (`.jsonl`): its readers, entries, patches, migration, tree, context, and the bytes a writer stores
//! (spec 01).
