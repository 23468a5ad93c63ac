//! Time this thread has run.

use rustix::time::{ClockId, clock_gettime};

/// Seconds that this thread has run: what else the machine does is not counted.
pub fn own_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
