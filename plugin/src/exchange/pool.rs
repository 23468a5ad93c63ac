//! The thread pool of an instance: as many threads as the host allows, and never rayon's global pool.

use meniscus_abi::Status;
use meniscus_abi::guest::Failure;
use rayon::{ThreadPool, ThreadPoolBuilder};

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
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
