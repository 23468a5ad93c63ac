//! How long to wait for a process on a machine that has much else to do.

use std::time::Duration;

/// The most that a wait is stretched.
const MOST: f64 = 20.0;
/// How much less of the processors a process gets that has asked for little (`nice`).
const HUMBLE: f64 = 4.0;

/// A time limit that was chosen for an idle machine, stretched by the processes that wait for each processor.
pub(crate) fn stretched(limit: Duration) -> Duration {
    limit.mul_f64(factor(load(), processors(), is_humble()))
}

fn factor(load: f64, processors: f64, is_humble: bool) -> f64 {
    let share = if is_humble { HUMBLE } else { 1.0 };
    (share * load / processors).clamp(1.0, MOST)
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64)
}

/// Processes that ran or wanted to run, on average over the last minute; 0 where nobody knows.
fn load() -> f64 {
    let mut load = [0.0f64];
    // SAFETY: room for the one number that is asked for.
    let told = unsafe { libc::getloadavg(load.as_mut_ptr(), 1) };
    if told == 1 && load[0].is_finite() { load[0] } else { 0.0 }
}

fn is_humble() -> bool {
    // SAFETY: a question about this process.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_stretched_on_busy_machines_alone() {
        assert_eq!(factor(0.0, 2.0, false), 1.0);
        assert_eq!(factor(1.5, 2.0, false), 1.0);
        assert_eq!(factor(8.0, 2.0, false), 4.0);
        assert_eq!(factor(8.0, 2.0, true), 16.0);
        assert_eq!(factor(1e3, 2.0, true), MOST);
    }
}
