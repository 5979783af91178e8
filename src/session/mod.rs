//! The reference session manager: what gjc's own does to transcripts, one operation at a time (spec 01 §4.2, §7.2, §8;
//! spec 04 §4.8, §5.7, §6, §7, §9). The manager reaches files through a [`storage::SessionStorage`] only; nothing here reads
//! a clock or draws a random number: times and ids come from a [`manager::World`]. How gjc finds sessions and chooses one is
//! in [`discovery`], which only reads.

pub mod artifacts;
pub mod carry;
pub mod cold;
pub mod content;
pub mod discovery;
pub mod draft;
pub mod dump;
pub mod export;
pub mod images;
pub mod large_fork;
pub mod manager;
pub mod older;
pub mod place;
pub mod rollback;
pub mod script;
pub mod selection;
pub mod storage;
pub mod successor;
pub mod switch;

#[cfg(test)]
mod tests;
