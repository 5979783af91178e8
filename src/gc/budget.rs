//! The quotas of stored receipts and the arithmetic of appends (spec 03 §14, Q1 to Q6, Q8, Q9). Boundaries are inclusive.
//! The cleanup replay's own budget (Q7) is `agent::tombstone::ReplayBudget`.

use super::Refusal;

pub use crate::agent::budget::{Budget, Exhausted, MAX_ENTRIES, MAX_HISTORY_BYTES, MAX_RECEIPT_BYTES};

/// Entries in all receipts directories of a profile from which the inspector's inventory may be refused (Q8). The unit
/// table of that budget is not known: no exact verdict is claimed.
pub const INVENTORY_AT_RISK: u64 = 6_250;
/// Scopes of one inspection, and files over all of them (Q9).
pub const MAX_INSPECTED: u64 = 50_000;

impl From<Exhausted> for Refusal {
    fn from(_: Exhausted) -> Self {
        Refusal::JournalCapacityExceeded
    }
}

/// The `gc-retirement-` entries of one scope, counted before any name or type is judged (Q5).
pub fn scope_entries() -> Budget {
    Budget::new("`gc-retirement-` entries of one scope", MAX_ENTRIES)
}

/// What the stored history of one transcript uses (Q2, Q3, Q4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct History {
    /// State files.
    pub files: Budget,
    /// Bytes, each file once.
    pub bytes: Budget,
}

impl Default for History {
    fn default() -> Self {
        History {
            files: Budget::new("state files of one transcript", MAX_ENTRIES),
            bytes: Budget::new("stored bytes of one transcript's history", MAX_HISTORY_BYTES),
        }
    }
}

impl History {
    /// Admits a stored receipt by its size, after it was opened and before anything of it is read or allocated.
    ///
    /// # Errors
    /// Above 64 MiB by itself, or when the history has no room for it.
    pub fn admit(&mut self, size: u64) -> Result<(), Exhausted> {
        Budget::new("bytes of one receipt", MAX_RECEIPT_BYTES).charge(size)?;
        self.files.charge(1)?;
        self.bytes.charge(size)
    }
    /// How many more receipts of this size fit, the scope's entries counted: `floor` of bytes left by size, and at most the
    /// entries left.
    pub const fn appends_left(&self, next_size: u64, scope_entries: &Budget) -> u64 {
        let by_bytes = match self.bytes.left().checked_div(next_size) {
            Some(appends) => appends,
            None => u64::MAX,
        };
        if next_size > MAX_RECEIPT_BYTES {
            return 0;
        }
        let by_entries = scope_entries.left();
        if by_bytes < by_entries { by_bytes } else { by_entries }
    }
    /// Judges an append of `size` bytes before it is decoded or encoded (Q6, then Q1).
    ///
    /// Which of the two gjc reports first when both fail is UNVERIFIED; the history is asked first here, because that
    /// verdict holds for every candidate, whatever its size.
    ///
    /// # Errors
    /// [`Refusal::JournalCapacityExceeded`] or [`Refusal::ReceiptCapacityExceeded`].
    pub fn project(&self, size: u64, scope_entries: &Budget) -> Result<(), Refusal> {
        if !scope_entries.admits(1) || !self.files.admits(1) || !self.bytes.admits(size) {
            return Err(Refusal::JournalCapacityExceeded);
        }
        if size > MAX_RECEIPT_BYTES { Err(Refusal::ReceiptCapacityExceeded) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(files: u64, size: u64) -> Result<History, Exhausted> {
        let mut history = History::default();
        for _ in 0..files {
            history.admit(size)?;
        }
        Ok(history)
    }
    fn scope(entries: u64) -> Result<Budget, Exhausted> {
        let mut budget = scope_entries();
        budget.charge(entries).map(|()| budget)
    }

    #[test]
    fn one_receipt_has_64_mib() {
        assert!(stored(1, MAX_RECEIPT_BYTES - 1).is_ok());
        assert!(stored(1, MAX_RECEIPT_BYTES).is_ok());
        assert_eq!(stored(1, MAX_RECEIPT_BYTES + 1).map_err(|full| full.counts), Err("bytes of one receipt"));
    }
    #[test]
    fn eight_files_of_64_mib_fit_and_a_ninth_byte_does_not() {
        let mut history = stored(8, MAX_RECEIPT_BYTES).unwrap();
        assert_eq!(history.bytes.used, MAX_HISTORY_BYTES);
        assert_eq!(history.admit(0), Ok(()));
        assert_eq!(history.admit(1).map_err(|full| full.counts), Err("stored bytes of one transcript's history"));
        let mut short = stored(7, MAX_RECEIPT_BYTES).unwrap();
        assert_eq!(short.admit(MAX_RECEIPT_BYTES - 1), Ok(()));
        assert_eq!(short.admit(1), Ok(()));
        assert!(short.admit(1).is_err());
    }
    #[test]
    fn a_history_and_a_scope_have_50_000_entries() {
        for (entries, fits) in [(49_999, true), (50_000, true), (50_001, false)] {
            assert_eq!(stored(entries, 0).is_ok(), fits, "{entries}");
            assert_eq!(scope(entries).is_ok(), fits, "{entries}");
        }
    }
    #[test]
    fn a_history_counts_a_file_before_its_bytes_and_an_append_as_one_file_more() {
        let mut history = stored(50_000, 0).unwrap();
        assert_eq!(history.project(0, &scope(0).unwrap()), Err(Refusal::JournalCapacityExceeded));
        assert_eq!(stored(49_999, 0).unwrap().project(0, &scope(0).unwrap()), Ok(()));
        assert_eq!(history.admit(1).map_err(|full| full.counts), Err("state files of one transcript"));
        assert_eq!(history.bytes.used, 0, "what is refused costs nothing");
    }
    /// Q2, Q4, Q6 and Q1 at one less than the limit, the limit, and one more.
    #[test]
    fn bytes_at_one_less_the_limit_and_one_more() {
        for (more, fits) in [(0, true), (1, true), (2, false)] {
            let size = MAX_RECEIPT_BYTES - 1 + more;
            assert_eq!(stored(1, size).is_ok(), fits, "a stored receipt of {size}");
            let projected = History::default().project(size, &scope(0).unwrap());
            assert_eq!(projected, if fits { Ok(()) } else { Err(Refusal::ReceiptCapacityExceeded) }, "a candidate of {size}");
            let mut history = stored(7, MAX_RECEIPT_BYTES).unwrap();
            history.admit(MAX_RECEIPT_BYTES - 100).unwrap();
            let projected = history.project(99 + more, &scope(8).unwrap());
            assert_eq!(projected, if fits { Ok(()) } else { Err(Refusal::JournalCapacityExceeded) }, "{more} behind 511.9 MiB");
            assert_eq!(history.admit(99 + more).is_ok(), fits, "{more} behind 511.9 MiB");
        }
        for (entries, fits) in [(49_998, true), (49_999, true), (50_000, false)] {
            assert_eq!(History::default().project(1, &scope(entries).unwrap()).is_ok(), fits, "an append behind {entries} entries");
        }
    }
    #[test]
    fn an_append_needs_an_entry_and_its_bytes() {
        let history = stored(1, 1_885).unwrap();
        assert_eq!(history.project(1_900, &scope(49_999).unwrap()), Ok(()));
        assert_eq!(history.project(1_900, &scope(50_000).unwrap()), Err(Refusal::JournalCapacityExceeded));
        assert_eq!(history.project(MAX_RECEIPT_BYTES, &scope(1).unwrap()), Ok(()));
        assert_eq!(history.project(MAX_RECEIPT_BYTES + 1, &scope(1).unwrap()), Err(Refusal::ReceiptCapacityExceeded));
        let full = stored(8, MAX_RECEIPT_BYTES).unwrap();
        assert_eq!(full.project(0, &scope(8).unwrap()), Ok(()));
        assert_eq!(full.project(1, &scope(8).unwrap()), Err(Refusal::JournalCapacityExceeded));
        // Both bounds at once: the history is told.
        assert_eq!(history.project(MAX_HISTORY_BYTES, &scope(1).unwrap()), Err(Refusal::JournalCapacityExceeded));
    }
    #[test]
    fn appends_left_is_what_binds_first() {
        let history = stored(1, 0).unwrap();
        assert_eq!(history.appends_left(1 << 20, &scope(1).unwrap()), 512);
        assert_eq!(history.appends_left(1, &scope(49_998).unwrap()), 2);
        assert_eq!(history.appends_left(MAX_RECEIPT_BYTES + 1, &scope(1).unwrap()), 0);
        assert_eq!(history.appends_left(0, &scope(1).unwrap()), 49_999);
    }
}
