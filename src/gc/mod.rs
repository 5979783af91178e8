//! Retirement receipts: names, codec, owner locator and evidence, journal replay, quotas and budgets (spec 03).
//!
//! Values and rules only: nothing is checked or printed here, and what the disk says comes in as facts.

pub mod budget;
pub mod continuation;
pub mod journal;
pub mod names;
pub mod outcome;
pub mod owner;
pub mod place;
pub mod publish;
pub mod receipt;
pub mod refusal;

pub use crate::agent::owner_evidence::{Evidence, Locator, TreeSnapshot};
pub use budget::Budget;
pub use continuation::{Continuation, List};
pub use journal::{Journal, Replay};
pub use names::{Key, Name, Names, State};
pub use outcome::{NativeOutcome, Outcome, Retained, Why};
pub use place::{OwnerPaths, Scope, SessionsRoot};
pub use receipt::{Identity, Progress, Receipt, Target};
pub use refusal::Refusal;
