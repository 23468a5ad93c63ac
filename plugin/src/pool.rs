//! The threads of an instance: as many as the host allows, and never rayon's global ones.

use meniscus_abi::Status;
use meniscus_abi::guest::{Call, Failure};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// A pool made at the first call that needs one, and anew when the host's budget changes.
#[derive(Debug, Default)]
pub struct Pool(Option<Arc<ThreadPool>>);

impl Pool {
    /// The pool for this call.
    pub fn of(&mut self, call: &Call) -> Result<Arc<ThreadPool>, Failure> {
        let threads = call.threads();
        if let Some(pool) = self.0.as_ref().filter(|p| p.current_num_threads() == threads) {
            return Ok(pool.clone());
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|n| format!("meniscus-{n}"))
            .build()
            .map_err(|e| Failure::new(Status::UNSUPPORTED, format!("cannot start {threads} threads: {e}")))?;
        Ok(self.0.insert(Arc::new(pool)).clone())
    }
}
