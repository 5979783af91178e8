//! gjc's other readers of a transcript (spec 01 §2, §2.6–§2.8, §3.3). They accept different inputs, so each answers for
//! itself; none asks another.

pub mod bounded;
pub mod candidate;
pub mod first_line;
pub mod managed;
pub mod owner;
pub mod picker;
pub mod recent;
pub mod trailing;
