//! temp
pub mod finding;
pub mod json;
