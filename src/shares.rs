//! Work on the objects of one large directory, shared among as many threads as the run has. The threads are its own: scopes
//! are walked by a pool whose waiting workers take other scopes on top of their stack, and this must not nest in that.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError, mpsc};

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

/// The same while the items still come: `read` gives them away in batches, which other threads work on meanwhile; what the batches
/// give comes in their order. A run of one thread works on each batch where it is given.
pub fn while_read<T: Send, R: Send>(read: impl FnOnce(&mut dyn FnMut(Vec<T>)), work: impl Fn(Vec<T>) -> R + Sync) -> Vec<R> {
    let most = rayon::current_num_threads() - 1;
    let (give, given) = mpsc::channel::<(usize, Vec<T>)>();
    let given = Mutex::new(given);
    let worker = || {
        let mut done = Vec::new();
        // The lock is free again when a batch was had. A thread that broke with it took nothing with it.
        while let Ok((at, batch)) = { given.lock().unwrap_or_else(PoisonError::into_inner).recv() } {
            done.push((at, work(batch)));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let (mut count, mut own, mut others) = (0, Vec::new(), Vec::new());
        read(&mut |batch| {
            let at = count;
            count += 1;
            // Threads are made as there is something to do for them; one that cannot be had is no loss.
            if others.len() < most
                && let Ok(other) = std::thread::Builder::new().spawn_scoped(scope, worker)
            {
                others.push(other);
            }
            match others.is_empty() {
                true => own.push((at, work(batch))),
                // Nobody closes the other end before all was given.
                false => _ = give.send((at, batch)),
            }
        });
        drop(give);
        own.extend(worker());
        for other in others {
            match other.join() {
                Ok(done) => own.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        own
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, done)| done).collect()
}

/// Sorts items, stably. Every thread sorts a run of neighbours; what is then left to do is to merge the runs.
pub fn sort<T: Send>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering + Sync) {
    let threads = rayon::current_num_threads().min(items.len() / SHARE).max(1);
    let order = &order;
    std::thread::scope(|scope| {
        let mut runs = items.chunks_mut(items.len().div_ceil(threads).max(1));
        let first = runs.next();
        // A run whose thread cannot be had is sorted below.
        runs.for_each(|run| _ = std::thread::Builder::new().spawn_scoped(scope, move || run.sort_by(order)));
        first.into_iter().for_each(|run| run.sort_by(order));
    });
    items.sort_by(order);
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

    #[test]
    fn items_are_sorted_and_equal_ones_keep_their_order() {
        for (threads, count) in [(1, 0), (2, 1), (2, 2 * super::SHARE), (3, 3 * super::SHARE + 1), (2, 9 * super::SHARE)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut items: Vec<(usize, usize)> = (0..count).map(|at| (at * 7919 % 97, at)).collect();
            pool.install(|| super::sort(&mut items, |a, b| a.0.cmp(&b.0)));
            assert!(items.is_sorted() && items.len() == count, "{threads} threads, {count} items");
        }
    }

    #[test]
    fn what_batches_give_is_in_their_order_whoever_worked_on_them() {
        for (threads, batches) in [(1, 5), (2, 0), (2, 1), (2, 40), (5, 40)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let given = pool.install(|| super::while_read(|give| (0..batches).for_each(|at| give(vec![at; 3])), |batch| batch[0]));
            assert_eq!(given, (0..batches).collect::<Vec<_>>(), "{threads} threads");
        }
    }
}
