//! Conformance cases: their format, the runner, the linter, adapters for other implementations. Beside them the clean scope
//! and the sample directory that cases and `demo` begin with.
//!
//! What a corpus judges is what a user sees, so the runner stands behind `report` and asks it.

pub mod adapter;
pub mod bless;
pub mod by_release;
pub mod case;
pub mod clean;
pub mod coverage;
pub mod diff;
pub mod expected;
pub mod folder;
pub mod lint;
pub mod manifest;
pub mod observe;
pub mod operations;
pub mod placeholder;
pub mod protocol;
pub mod recipe;
pub mod run;
pub mod sample;
pub mod serve;
pub mod side_by_side;
