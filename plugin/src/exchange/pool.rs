//! The thread pool of a call: as many threads as the host allows, the calling one among them, and never rayon's global pool.

use meniscus_abi::Status;
use meniscus_abi::guest::Failure;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The pool that the calling thread works in, for all instances that are called on it: no work is handed to another thread
    /// while this one waits, and a node finds the threads awake that worked for the node before.
    static OWN: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
}

/// Most threads of a pool, whatever a host allows.
const MOST: usize = 1024;

/// The pool of an instance's calls.
#[derive(Debug, Default)]
pub struct Pool {
    now: Option<Arc<ThreadPool>>,
    /// One without the calling thread, for budgets other than that of its first call: a thread cannot leave its pool.
    beside: Option<Arc<ThreadPool>>,
}

impl Pool {
    /// Makes the pool this large, for a call on this thread.
    pub fn fit(&mut self, threads: usize) -> Result<(), Failure> {
        let threads = threads.min(MOST);
        let fits = |pool: &Arc<ThreadPool>| pool.current_num_threads() == threads;
        let own = |own: &RefCell<Option<Arc<ThreadPool>>>| {
            let mut own = own.borrow_mut();
            if own.is_none() {
                *own = pool(threads, true).ok();
            }
            own.clone()
        };
        // A thread that is ending has none any more.
        self.now = OWN.try_with(own).ok().flatten().filter(fits);
        if self.now.is_none() {
            if !self.beside.as_ref().is_some_and(fits) {
                let pool = pool(threads, false)
                    .map_err(|e| Failure::new(Status::UNSUPPORTED, format!("cannot start {threads} threads ({e}): raise the limit of threads (ulimit -u) or of memory (ulimit -v), or use fewer --threads")))?;
                self.beside = Some(pool);
            }
            self.now.clone_from(&self.beside);
        }
        Ok(())
    }

    /// Runs `work` in the pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.now {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// A pool of some threads, the calling one among them or not.
fn pool(threads: usize, with_caller: bool) -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("meniscus-{n}"));
    Ok(Arc::new(if with_caller { builder.use_current_thread() } else { builder }.build()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// The number of threads that some work finds itself in, and whether it began on the calling one.
    fn seen(pool: &Pool) -> (usize, bool) {
        let caller = std::thread::current().id();
        let counted: usize = pool.install(|| (0..1000usize).into_par_iter().map(|n| n % 2).sum());
        assert_eq!(counted, 500);
        pool.install(|| (rayon::current_num_threads(), std::thread::current().id() == caller))
    }

    #[test]
    fn every_call_has_the_threads_that_its_host_allows() {
        let on_a_thread = |pools: &mut [Pool], budgets: &[usize]| {
            std::thread::scope(|s| {
                let calls = s.spawn(|| {
                    for (n, &threads) in budgets.iter().enumerate() {
                        for pool in &mut *pools {
                            pool.fit(threads).unwrap();
                            assert_eq!(seen(pool), (threads, threads == budgets[0]), "call {n}");
                        }
                    }
                });
                calls.join().unwrap();
            });
        };
        let mut pools = [Pool::default(), Pool::default()];
        on_a_thread(&mut pools, &[3, 3, 1, 2, 3]);
        // Called on other threads from now on, which the first pool does not hold.
        on_a_thread(&mut pools, &[1, 1]);
        on_a_thread(&mut pools, &[2, 3]);
    }
}
