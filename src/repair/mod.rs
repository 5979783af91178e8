//! Repair, and only by the documented copy-retain migration: plan, apply, proof (spec 02 §3, §4, §6); and salvage, which writes
//! a mended transcript outside managed storage.
//!
//! What may happen here: a plan only reads. Applying one makes files and directories in the scopes that it names, always under
//! names that were free, and never touches a legacy transcript or its artifacts. The one exception is the artifact directory
//! that an interrupted migration of gjc moved away: it is put back under its own name.
//!
//! Where this differs from gjc, because gjc is known to lose there (02a):
//! * The source's artifacts are never detached. So the legacy directory keeps its bytes, modes and times, there is no
//!   `.detached` receipt, and `.published` and the committed receipt carry no quarantine. `.prepared` names the artifact root
//!   with its tree, as gjc's does: a migration of gjc that finds it after a crash of ours then matches it and goes on.
//! * What is not published yet is written in the scope's `.gjc-recovery`, under a name that gjc itself uses for it; so a crash
//!   leaves nothing behind in `receipts/` and `locks/`, where gjc's inspector refuses foreign names.
//! * The lock record is complete and durable before it gets its name, and is rewritten in place with the same length: no crash
//!   leaves an empty or torn lock. A released lock is moved to `.gjc-recovery` with its content, not scrubbed.
//! * A deletion is never resumed and a replacement receipt never reconciled: such scopes are refused.
//!
//! | room | what may happen in it |
//! |---|---|
//! | [`plan`] | decides over what `agent` knows; reads |
//! | [`store`] | makes, publishes and sets aside, inside one scope; knows what this attempt made |
//! | [`lock`] | acquires, renews and releases the lock of one migration |
//! | [`receipts`] | the records, as gjc spells them |
//! | [`apply`] | carries a plan out, step by step |
//! | [`proof`] | what was done to one session, and whether it still holds |
//! | [`salvage`] | carries what can be read of a damaged transcript into a new one |

pub mod apply;
pub mod lock;
pub mod outside;
pub mod plan;
pub mod proof;
pub mod receipts;
pub mod salvage;
pub mod store;

pub use crate::agent::predict::{Policy, Refused};
use crate::agent::world::World;
use crate::fsys::Change;
pub use outside::Outside;

/// Everything that a repair acts on. `world.fs` reads the file system that `fs` changes.
pub struct Ground<'a> {
    /// The writing side.
    pub fs: &'a dyn Change,
    /// What gjc would see.
    pub world: World<'a>,
    /// Clock, chance and this process.
    pub outside: &'a dyn Outside,
}

impl<'a> Ground<'a> {
    /// The same world at this moment.
    pub fn now(&self) -> World<'a> {
        World { now_ms: self.outside.now_ms(), ..self.world.clone() }
    }
}

/// A failing operation of the file system, as gjc surfaces it when a session is opened (spec 02 §10.2).
pub(crate) fn failed(error: &crate::fsys::Error) -> Refused {
    Refused::new("managed_storage_unsupported", error.to_string()).at(error.path.clone())
}
