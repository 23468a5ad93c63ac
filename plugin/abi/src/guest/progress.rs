//! The part of the context that any thread may call.

use crate::Context;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Says how far a call is and hears whether to stop. May be shared between the threads of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    ctx: *mut Context,
    call: PhantomData<&'a Context>,
}

// SAFETY: `progress` is tagged [any]; the context outlives 'a.
unsafe impl Send for Progress<'_> {}
// SAFETY: as above.
unsafe impl Sync for Progress<'_> {}

impl<'a> Progress<'a> {
    /// # Safety
    /// `ctx` leads to a complete context for all of `'a`.
    pub(super) unsafe fn new(ctx: *mut Context) -> Self {
        Self { ctx, call: PhantomData }
    }

    /// Someone for long loops to ask, as often as they like, whether to stop.
    pub fn watch(self) -> Watch<'a> {
        Watch {
            progress: self,
            since: Instant::now(),
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Reports a share of this stage's work (below 0: unknown); true when the call shall stop.
    pub fn cancelled(&self, done: f64) -> bool {
        // SAFETY: the context is alive (construction) and `progress` may be called from any thread.
        unsafe { (*self.ctx).progress.is_some_and(|progress| progress(self.ctx, done) != 0) }
    }
}

/// Asks the host now and then, however often it is asked itself; a call that shall stop stays so.
#[derive(Debug)]
pub struct Watch<'a> {
    progress: Progress<'a>,
    since: Instant,
    /// When to ask the host again, ns after `since`.
    next: AtomicU64,
    stopped: AtomicBool,
}

impl Watch<'_> {
    /// Time between two questions to the host.
    const PAUSE: Duration = Duration::from_millis(20);

    /// True when the call shall stop, and from then on.
    pub fn stopped(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        let now = self.since.elapsed();
        if (now.as_nanos() as u64) < self.next.load(Ordering::Relaxed) {
            return false;
        }
        self.next.store((now + Self::PAUSE).as_nanos() as u64, Ordering::Relaxed);
        let stopped = self.progress.cancelled(-1.0);
        self.stopped.fetch_or(stopped, Ordering::Relaxed);
        stopped
    }
}
