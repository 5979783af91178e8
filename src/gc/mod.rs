//! Retirement receipts: names, codec, owner locator and evidence, journal replay, quotas and budgets (spec 03).
//!
//! Values and rules; nothing is checked or printed here. Only [`stored`], [`present`], [`owners`], [`siblings`], [`ground`],
//! [`survey`], [`discovery`] and [`inspector`] look at the disk, through `fsys`. What gjc's codec keeps as JSON is held decoded: a receipt that repeats its
//! evidence or its continuation holds it once, because the decoder has compared them. No release before 0.17 has any of this.
//!
//! A reader goes this way: the names of a receipts directory into a [`stored::Inventory`] (which counts before it judges),
//! its journals one by one through [`journal::replay`], each file admitted by a [`budget::History`] before it is read, and what
//! is on disk compared by [`attempt::live_check`].
//!
//! # What the specification leaves open, and the choice made
//!
//! * The unit table of the inventory admission (Q8): no exact verdict, only [`budget::INVENTORY_AT_RISK`].
//! * Which token a journal with several defects reports first: that of the older order (§11.1): `prepared`, the binding of
//!   the transcript, misnamed entries, then every file is decoded in the order of [`State`], and only then gaps, evidence
//!   and history are compared. Without `prepared` a misnamed entry is told before the missing state.
//! * Whether a candidate above 64 MiB or a full history is told first (Q1 against Q6): the history.
//! * The state-file quota of one transcript (Q3) has no effect of its own beside the scope's (Q5); it is counted all the same.
//! * What depth the writer's limit of 32 counts: the containers around a value.
//! * The order of a publication's rules within one state: binding, evidence, shape, order, history, quotas, decoding,
//!   proof. The token for a first `prepared` without transcript: that of a transcript which cannot be captured.
//! * When `task_artifact_owner_retained_root_replaced` is said of a retired owner: when the root that stands there is another
//!   object than the evidenced one; `…_physical_retirement_unverified` else.
//! * Whether a path lies below the sessions root is told by its text, with scope and root in canonical form; gjc asks
//!   `realpath`. Windows paths are not judged.

pub mod attempt;
pub mod budget;
pub mod continuation;
pub mod discovery;
pub mod ground;
pub mod inspector;
pub mod journal;
pub mod names;
pub mod outcome;
pub mod owner;
pub mod owners;
pub mod place;
pub mod present;
pub mod publish;
pub mod receipt;
pub mod refusal;
pub mod rollback;
pub mod siblings;
pub mod stored;
pub mod survey;

pub use crate::agent::owner_evidence::{Evidence, Locator, TreeSnapshot};
pub use crate::agent::placeholder;
pub use budget::Budget;
pub use continuation::{Continuation, List};
pub use journal::{Journal, Replay, Subject};
pub use names::{Key, Name, Names, State};
pub use outcome::{NativeOutcome, Outcome, Retained, Why};
pub use place::{OwnerPaths, Scope, SessionsRoot};
pub use receipt::{Identity, Progress, Receipt, Target};
pub use refusal::Refusal;
