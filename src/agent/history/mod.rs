//! The prompt history `history.db` (spec 04 §8): what gjc expects of it, an audit, the search, and the reference writer.
//!
//! A database is hostile input. It is looked at through a private copy of the file and its `-wal` ([`open`]): nothing is made
//! beside the original, no lock of a running gjc is met. SQLite gets no extension, no trust in what a schema calls, and a
//! budget of steps ([`guard`]). Only [`store`] writes, to a database that its caller names.

pub mod audit;
mod guard;
pub mod open;
pub mod schema;
pub mod search;
pub mod store;

pub use audit::{Audit, audit};
pub use open::{History, NotOpened};
