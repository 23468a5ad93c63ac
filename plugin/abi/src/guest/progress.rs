//! The part of the context that any thread may call.

use crate::Context;
use std::marker::PhantomData;

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

    /// Reports a share of this stage's work (below 0: unknown); true when the call shall stop.
    pub fn cancelled(&self, done: f64) -> bool {
        // SAFETY: the context is alive (construction) and `progress` may be called from any thread.
        unsafe { (*self.ctx).progress.is_some_and(|progress| progress(self.ctx, done) != 0) }
    }
}
