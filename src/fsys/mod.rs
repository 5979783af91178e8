//! The only room that touches the file system: no-follow open, bounded read, identity, owner-only checks, ACL rule.
//! One trait, three implementations: real, in memory, and one that injects faults.

pub mod input;
