//! Handles Ctrl-C, SIGTERM and the end of the processor time.

#[cfg(unix)]
use crate::process::board::{Seen, being, board};
#[cfg(unix)]
use crate::process::{hurry, limits::no_thread_because};
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
    /// They are passed on to a cook of its own process, which says what it does.
    is_passed_on: bool,
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
    /// process. Where a parent process looks on it ends this one at the second. The error is one sentence.
    pub(super) fn listen() -> Result<Self, String> {
        Self::begin(false)
    }

    /// The same for one who passes signals on to a cook in a process of its own.
    pub(super) fn listen_and_pass_on() -> Result<Self, String> {
        Self::begin(true)
    }

    fn begin(is_passed_on: bool) -> Result<Self, String> {
        let signals = Self { is_passed_on, ..Self::default() };
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGINT, SIGTERM, SIGXCPU};
            let flags = signals.clone();
            let seconds = leave_time_to_save();
            // Without signals a cook still ends; it only cannot be stopped gently.
            if let Ok(mut incoming) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGXCPU]) {
                let listen = move || {
                    let mut counted = Counted::default();
                    incoming.forever().for_each(|signal| match signal {
                        SIGXCPU => flags.run_out(seconds),
                        _ => flags.hear(counted.one_more()),
                    });
                };
                let begun = std::thread::Builder::new().name(crate::process::SIGNALS.into()).spawn(listen);
                begun.map_err(|e| no_thread_because("begin a thread that hears signals", &e))?;
            }
        }
        Ok(signals)
    }

    /// Does what the signal of this number asks for.
    #[cfg(unix)]
    fn hear(&self, number: Option<u32>) {
        match number {
            None => {}
            Some(1) => {
                hurry();
                self.stop.store(true, Ordering::SeqCst);
                if self.is_passed_on {
                    return;
                }
                super::tell(&stopping(&board().read()));
            }
            Some(2) => self.cancel.store(true, Ordering::SeqCst),
            Some(_) => std::process::exit(i32::from(super::INTERRUPTED)),
        }
    }

    /// The processor time that the system allows is nearly over.
    #[cfg(unix)]
    fn run_out(&self, seconds: u64) {
        // The system sends this once a second.
        if !self.stop.swap(true, Ordering::SeqCst) {
            super::tell(&format!(
                "\nof the {seconds} s of processor time that `ulimit -t` allows nearly all is used: stopping after this \
                 substep and saving; raise the limit to go on"
            ));
        }
    }
}

/// What a cook says when it is told to stop: whom it waits for, and how to wait no longer.
#[cfg(unix)]
fn stopping(seen: &Seen) -> String {
    let call =
        if seen.inside { format!(" ({} is {})", seen.subject, being(&seen.doing)) } else { String::new() };
    format!("\nstopping after this substep and saving{call}; once more to break it off unsaved")
}

/// Signals that count, of all that came.
#[cfg(unix)]
#[derive(Default)]
struct Counted {
    heard: u32,
    last: Option<Instant>,
}

#[cfg(unix)]
impl Counted {
    /// The number of a signal; none for one that belongs to the one before.
    fn one_more(&mut self) -> Option<u32> {
        // A key held down is many: the last that counted is what they are close to.
        if self.last.is_some_and(|t| t.elapsed() < ONE) {
            return None;
        }
        self.last = Some(Instant::now());
        self.heard += 1;
        Some(self.heard)
    }
}

/// Where the system limits the processor time (`ulimit -t`), has it say so early enough to save what is done; the limit,
/// seconds.
#[cfg(unix)]
fn leave_time_to_save() -> u64 {
    /// Share of the limit that is kept for that, and most of it, seconds.
    const SHARE: u64 = 10;
    const MOST: u64 = 60;
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is filled in, or stays as it is; a limit of this process alone is lowered.
    unsafe {
        libc::getrlimit(libc::RLIMIT_CPU, &raw mut limit);
        if limit.rlim_max == libc::RLIM_INFINITY {
            return limit.rlim_cur;
        }
        let early = limit.rlim_max.saturating_sub((limit.rlim_max / SHARE).clamp(1, MOST));
        if early > 0 && early < limit.rlim_cur {
            let new = libc::rlimit { rlim_cur: early, ..limit };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const new);
        }
    }
    limit.rlim_max
}
