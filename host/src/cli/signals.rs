//! Handles Ctrl-C and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::{Duration, Instant};

/// Signals within this time count as one: a signal to a process group also arrives through the parent process.
#[cfg(unix)]
const ONE: Duration = Duration::from_millis(100);

/// The request that a signal makes.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    /// Finish the substep, write a checkpoint, end.
    pub(super) stop: Arc<AtomicBool>,
    /// End at once; the substep under way is lost.
    pub(super) cancel: Arc<AtomicBool>,
}

/// Makes writes beyond the file size limit (`ulimit -f`) fail like writes to a full disk, instead of ending the
/// process.
pub(super) fn survive_file_limits() {
    #[cfg(unix)]
    {
        // If no handler can be set, the limit ends the process as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

impl Signals {
    /// Listens from now on: the first signal stops after the substep, the second breaks it off, the third ends the
    /// process. Where a parent process looks on it ends this one at the second.
    pub(super) fn listen() -> Self {
        let signals = Self::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGINT, SIGTERM};
            let flags = signals.clone();
            // Without signals a cook still ends; it only cannot be stopped gently.
            if let Ok(mut incoming) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
                std::thread::spawn(move || {
                    let (mut heard, mut last) = (0, None);
                    for _ in incoming.forever() {
                        // A key held down is many: the last that counted is what they are close to.
                        if last.is_some_and(|t: Instant| t.elapsed() < ONE) {
                            continue;
                        }
                        last = Some(Instant::now());
                        heard += 1;
                        match heard - 1 {
                            0 => {
                                flags.stop.store(true, Ordering::SeqCst);
                                super::tell(
                                    "\nstopping after this substep and saving; once more to break it off unsaved",
                                );
                            }
                            1 => flags.cancel.store(true, Ordering::SeqCst),
                            _ => std::process::exit(i32::from(super::INTERRUPTED)),
                        }
                    }
                });
            }
        }
        signals
    }
}
