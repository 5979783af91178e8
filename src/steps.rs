//! Counted work, for the tests that assert that no input makes work superlinear. Scanning, writing and showing text count
//! bytes; looking up ids, following parents, comparing uses, visiting a value and moving a member count one each. Outside of
//! the tests of this crate nothing is counted.

#[cfg(test)]
mod tests;

#[cfg(test)]
thread_local! {
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts so many steps of this thread.
#[inline(always)]
pub fn take(steps: usize) {
    #[cfg(test)]
    TAKEN.set(TAKEN.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// The steps of this thread that some work takes.
#[cfg(test)]
pub fn of(work: impl FnOnce()) -> u64 {
    let before = TAKEN.get();
    work();
    TAKEN.get() - before
}
