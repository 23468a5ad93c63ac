//! The thread pool of an instance: as many threads as the host allows, and never rayon's global pool.

use meniscus_abi::Status;
use meniscus_abi::guest::Failure;
use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread without work stays awake during a call. Small shots are made of loops of some ten microseconds with
/// a few of serial work between them; to wake a thread that sleeps takes as long as such a loop.
const PATIENCE: Duration = Duration::from_micros(500);
/// Threads that stay awake beside the one that works: more would find nothing to do in loops this short, and in long ones
/// they are woken all the same.
const MOST_AWAKE: usize = 7;

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
    let done = AtomicBool::new(false);
    pool.in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| stay_awake(&done)));
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

fn stay_awake(done: &AtomicBool) {
    let mut idle_since = Instant::now();
    while !done.load(Ordering::Relaxed) && idle_since.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(Yield::Executed) => idle_since = Instant::now(),
            _ => std::thread::yield_now(),
        }
    }
}
