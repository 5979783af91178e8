//! gjc-fsck: reference implementation, conformance toolkit and fsck for the session storage of the coding agent
//! Gajae-Code (gjc).
//!
//! The map of the crate, in the direction of knowledge (a room may use every room before it, never one behind it):
//!
//! | room | what may happen in it |
//! |---|---|
//! | [`json`] | JavaScript-exact JSON: read, hold, write |
//! | [`fsys`] | the only room that touches the file system |
//! | [`finding`] | what a check pushes |
//! | [`transcript`] | one `.jsonl`: readers, entries, patches, migration, tree, context, what a writer stores |
//! | [`agent`] | what an agent directory holds: scopes, bindings, legacy directories, locks, receipts, blobs |
//! | [`gc`] | retirement receipts, owners, quotas |
//! | [`session`] | the reference session manager |
//! | [`check`] | one room per area of codes: declares them and pushes findings |
//! | [`repair`] | the copy-retain migration |
//! | [`report`] | overrides, order, counts, fingerprints |
//! | [`corpus`] | conformance cases: what they judge is what a user sees, hence behind `report` |
//! | [`render`] | human, concise, json, and the forms of CI systems |
//! | [`schemas`] | the published JSON Schemas, and how a record compares with one |
//! | [`cli`] | one file per command, thin |
//!
//! Beside the rooms stand `steps` (counted work, for the tests that assert that no work is superlinear) and `shares` (one large
//! directory, shared among all threads).

pub mod agent;
pub mod check;
pub mod cli;
pub mod corpus;
pub mod finding;
pub mod fsys;
pub mod gc;
pub mod json;
pub mod render;
pub mod repair;
pub mod report;
pub mod schemas;
pub mod session;
mod shares;
mod steps;
pub mod transcript;
