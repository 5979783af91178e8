//! Conformance cases: format, runner, expected failures, golden differences between releases and versions.

pub mod clean;
pub mod sample;
