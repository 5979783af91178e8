//! The reference session manager: what gjc's own does to transcripts, one operation at a time (spec 01 §4.2, §7.2, §8.1;
//! spec 04 §9.1, §9.2). Nothing here touches a file, reads a clock or draws a random number: files come and go as bytes,
//! times and ids come from a [`manager::World`].

pub mod content;
pub mod manager;
pub mod script;
