//! Retirement receipts: names, codec, owner locator and evidence, journal replay, quotas and budgets (spec 03).
//!
//! Values and rules; nothing is checked or printed here. Only [`stored`], [`present`], [`owners`], [`siblings`], [`ground`],
//! [`survey`], [`lookup`], [`discovery`] and [`inspector`] look at the disk, through `fsys`. What gjc's codec keeps as JSON is held
//! decoded: a receipt that repeats its evidence or its continuation holds it once, because the decoder has compared them. No
//! release before 0.17 has any of this.
//!
//! A reader goes this way: the names of a receipts directory into a [`stored::Inventory`] (which counts before it judges),
//! its journals one by one through [`journal::replay`], each file admitted by a [`budget::History`] before it is read, and what
//! is on disk compared by [`attempt::live_check`].
//!
//! # UNVERIFIED, and the choice made
//!
//! What spec 03 §21 lists, in its order:
//!
//! 1. The unit table of the inventory admission (Q8): no exact verdict, only [`budget::INVENTORY_AT_RISK`].
//! 2. Which token a journal with several defects reports first, and whether the count of the scope (Q5) comes before the size
//!    of its receipts (Q1, Q6): that of the older order (§11.1): `prepared`, the binding of the transcript, misnamed entries, both
//!    named states, whether each is what its file is called, odd attempts, every attempt, and only then evidence and history.
//!    The count of the scope comes before everything. Whether a candidate above 64 MiB or a full history is told first (Q1
//!    against Q6): the history.
//! 3. The state-file quota of one transcript (Q3) has no effect of its own beside the scope's (Q5); it is counted all the same.
//! 4. The names of lock quarantines: exactly `.gjc-lock-<uuid>.stale` with a lower-case UUID. Codes of the empty-directory call
//!    other than `directory_not_empty`: none is told, a placeholder that is not proven empty does not verify.
//! 5. How the newest `gc --disk` words records of receipts without a transcript: not predicted; `gc` shows the state itself.
//! 6. Whether 0.17 still says `source_changed` of a hard-linked receipt on read-only paths: yes.
//! 7. Whether some release of `gjc gc` has an inventory store of sessions: none is looked for.
//!
//! And what else the specification does not say:
//!
//! * What depth the writer's limit of 32 counts: the containers around a value.
//! * The token for a first `prepared` without transcript: that of a transcript which cannot be captured.
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
pub mod lookup;
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
