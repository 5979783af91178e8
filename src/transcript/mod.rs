//! One transcript (`.jsonl`): its readers, entries, patches, migration, tree, context, and the bytes a writer stores
//! (spec 01).
//!
//! A transcript's way through this room: [`crate::json::jsonl::Lines`] yields values, [`load`] turns them into entries
//! and replays patches ([`facts`] is what a check keeps of each), [`migrate`] lifts them to version 5, [`schema`] judges
//! them, [`tree`] finds the leaf and its path, [`context`] folds the path. [`inspect`] is gjc's verdict over all of it,
//! [`open`] what opening does behind that verdict, [`readers`] are those who look at the same bytes in another way, and
//! [`persist`] is what a writer makes of them.

pub mod answer;
pub mod blobs;
pub mod context;
pub mod date;
pub mod entry;
pub mod facts;
pub mod hazard;
pub mod header;
pub mod ids;
pub mod inspect;
pub mod load;
pub mod migrate;
pub mod open;
pub mod outline;
pub mod patch;
pub mod persist;
pub mod readers;
pub mod schema;
pub mod throw;
pub mod trace;
pub mod tree;
pub mod usage;

pub use entry::EntryKind;
pub use ids::{Id, Ids};
pub use throw::Throw;
