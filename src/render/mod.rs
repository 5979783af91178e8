//! The renderers show what the report decided: human (miette lives only here), concise, json. Same report, same bytes.

pub mod explain;
pub mod style;
