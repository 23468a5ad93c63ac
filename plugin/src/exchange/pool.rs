//! The thread pool of an instance: as many threads as the host allows, and never rayon's global pool.

use meniscus_abi::Status;
use meniscus_abi::guest::Failure;
use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread without work stays awake during a call. Small shots are made of loops of some ten microseconds with
/// a few of serial work between them; to wake a thread that sleeps takes as long as such a loop.
const PATIENCE: Duration = Duration::from_micros(500);
/// Most threads that stay awake beside the one that works: more find nothing to do in loops this short.
const MOST_AWAKE: usize = 3;
/// A thread that comes to its watch later than this after the call began was busy or slow to wake, and keeps none: it may
/// be in the middle of work that another thread waits for.
const LATE: Duration = Duration::from_micros(100);

/// A pool made at the first call that needs one, and anew when the host's budget changes.
#[derive(Debug, Default)]
pub struct Pool(Option<ThreadPool>);

impl Pool {
    /// Makes the pool this large.
    pub fn fit(&mut self, threads: usize) -> Result<(), Failure> {
        if self.0.as_ref().is_some_and(|p| p.current_num_threads() == threads) {
            return Ok(());
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|n| format!("meniscus-{n}"))
            .build()
            .map_err(|e| Failure::new(Status::UNSUPPORTED, format!("cannot start {threads} threads ({e}): raise the limit of threads (ulimit -u) or of memory (ulimit -v), or use fewer --threads")))?;
        self.0 = Some(pool);
        Ok(())
    }

    /// Runs `work` in the pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => awake(pool, work),
            None => work(),
        }
    }
}

/// Runs `work` in a pool whose other threads stay awake for it: they look for parts of its loops, and sleep after
/// [`PATIENCE`] without any, or when it is done. Which thread runs a part changes no result.
fn awake<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let helpers = (pool.current_num_threads() - 1).min(MOST_AWAKE);
    if helpers == 0 {
        return pool.install(work);
    }
    let (done, began) = (AtomicBool::new(false), Instant::now());
    pool.in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| stay_awake(&done, began)));
        // Also where the work panics.
        let _done = Done(&done);
        pool.install(work)
    })
}

/// Tells those that stay awake that the work is done, when it goes.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn stay_awake(done: &AtomicBool, began: Instant) {
    let mut idle_since = Instant::now();
    if idle_since.duration_since(began) > LATE {
        return;
    }
    while !done.load(Ordering::Relaxed) && idle_since.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(Yield::Executed) => idle_since = Instant::now(),
            _ => std::thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn threads_that_stay_awake_take_part_and_end_with_the_work() {
        let mut pool = Pool::default();
        for threads in [1, 2, 3, 12] {
            pool.fit(threads).expect("some threads");
            for n in 0..50u64 {
                let sum = pool.install(|| (0..n).into_par_iter().map(|k| k * k).sum::<u64>());
                assert_eq!(sum, (0..n).map(|k| k * k).sum());
            }
            let failed = catch_unwind(AssertUnwindSafe(|| pool.install(|| panic!("no liquid"))));
            assert!(failed.is_err());
            // Work that waits for its parts finds nobody stuck.
            let deep = pool.install(|| {
                (0..8).into_par_iter().map(|_| (0..100).into_par_iter().map(|k| k).sum::<i32>()).sum::<i32>()
            });
            assert_eq!(deep, 8 * 4950);
        }
    }
}
