//! Work on the objects of one large directory, shared among as many threads as the run has. The threads are its own: scopes
//! are walked by a pool whose waiting workers take other scopes on top of their stack, and this must not nest in that.

/// Items that are worth a thread of their own.
const SHARE: usize = 2048;

/// Gives every thread a run of neighbouring items; what the runs give comes in their order. A few items make one run, in the
/// calling thread.
pub fn of<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads().min(items.len() / SHARE).max(1);
    let mut runs = items.chunks(items.len().div_ceil(threads).max(1));
    let Some(first) = runs.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let work = &work;
        // A thread that cannot be had is no loss: its run is worked on here.
        let others: Vec<_> = runs.map(|run| (run, std::thread::Builder::new().spawn_scoped(scope, move || work(run)))).collect();
        let mut all = vec![work(first)];
        for (run, other) in others {
            all.push(match other.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(given)) => given,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => work(run),
            });
        }
        all
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_runs_are_in_order_and_leave_nothing_out() {
        for count in [0, 1, 2 * super::SHARE + 1, 9 * super::SHARE] {
            let items: Vec<usize> = (0..count).collect();
            let runs = super::of(&items, <[usize]>::to_vec);
            assert_eq!(runs.concat(), items);
        }
    }
}
