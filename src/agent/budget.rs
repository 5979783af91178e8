//! One counter for everything that gjc bounds: what it counts, the limit, what is used, and where it refused.

/// Bytes of one retirement receipt, written or stored (spec 03 §14, Q1, Q2).
pub const MAX_RECEIPT_BYTES: u64 = 64 << 20;
/// Stored bytes of one transcript's retirement history (Q4).
pub const MAX_HISTORY_BYTES: u64 = 512 << 20;
/// State files of one transcript (Q3), and `gc-retirement-` entries of one scope (Q5).
pub const MAX_ENTRIES: u64 = 50_000;

/// A budget. Boundaries are inclusive: exactly the limit is admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// What is counted, in plural: `bytes of one receipt`, `directory entries`, …
    pub counts: &'static str,
    /// The most that is admitted.
    pub limit: u64,
    /// What is charged so far.
    pub used: u64,
    /// What the first refused charge would have made of it.
    pub refused_at: Option<u64>,
}

/// A charge that a budget refused. It is neither absence nor corruption, and no permission to delete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("more than {limit} {counts}: {asked}")]
pub struct Exhausted {
    /// What is counted.
    pub counts: &'static str,
    /// The limit.
    pub limit: u64,
    /// What the charge would have made of it.
    pub asked: u64,
}

impl Budget {
    /// An unused budget.
    pub const fn new(counts: &'static str, limit: u64) -> Budget {
        Budget { counts, limit, used: 0, refused_at: None }
    }
    /// Whether a charge would be admitted.
    pub const fn admits(&self, amount: u64) -> bool {
        match self.used.checked_add(amount) {
            Some(used) => used <= self.limit,
            None => false,
        }
    }
    /// Charges `amount`, or nothing when it does not fit.
    ///
    /// # Errors
    /// When the limit would be passed; the budget remembers the first such charge.
    pub fn charge(&mut self, amount: u64) -> Result<(), Exhausted> {
        let asked = self.used.saturating_add(amount);
        if self.admits(amount) {
            self.used = asked;
            return Ok(());
        }
        self.refused_at.get_or_insert(asked);
        Err(Exhausted { counts: self.counts, limit: self.limit, asked })
    }
    /// What is left.
    pub const fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
    /// Used per hundred of the limit, rounded down, in whole per cent; more than 100 never occurs.
    pub const fn percent(&self) -> u64 {
        if self.limit == 0 { 100 } else { (self.used as u128 * 100 / self.limit as u128) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_limit_is_admitted_and_a_refused_charge_costs_nothing() {
        let mut budget = Budget::new("things", 10);
        assert_eq!(budget.charge(9), Ok(()));
        assert_eq!(budget.charge(2), Err(Exhausted { counts: "things", limit: 10, asked: 11 }));
        assert_eq!(budget.charge(1), Ok(()));
        assert_eq!((budget.used, budget.left(), budget.refused_at, budget.percent()), (10, 0, Some(11), 100));
        assert_eq!(budget.charge(0), Ok(()));
        assert!(budget.charge(u64::MAX).is_err());
        assert_eq!(budget.refused_at, Some(11));
    }
}
