//! Notes which call is being made, and on whose thread.

#[cfg(target_os = "linux")]
use super::Board;
use super::board;
use super::shared::OWN;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

thread_local! {
    /// The frame that this thread writes, beside the calls of other threads; 0 if none.
    pub(super) static WRITES: Cell<i64> = const { Cell::new(0) };
}

/// Who writes frames.
pub(super) const WRITER: &str = "the writer of frames";

/// From now on this thread does no node's work: it writes a frame. Numbers count from `i32::MIN`.
pub(crate) fn writes_frame(frame: i32) {
    WRITES.set(i64::from(frame) - i64::from(i32::MIN) + 1);
}

/// Notes that the calling thread waits for whoever writes a frame.
pub(crate) fn waits_for_frame(frame: i32) -> Call {
    enter(WRITER, &format!("at frame {frame}"), "")
}

thread_local! {
    /// This thread is one of the program's own: the one that makes the calls, or one that writes a frame.
    static OWN_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// From now on this thread counts as one of the program's own.
pub(in crate::process) fn is_own_thread() {
    OWN_THREAD.set(true);
}

/// Whether this thread is one of the program's own; safe in a signal handler.
pub(in crate::process) fn on_own_thread() -> bool {
    OWN_THREAD.get() || WRITES.get() != 0
}

/// Notes a call while it lasts.
#[must_use]
pub(crate) struct Call(());

impl Drop for Call {
    fn drop(&mut self) {
        super::super::open_files::look();
        board().inside.store(false, Ordering::SeqCst);
    }
}

/// Records the call about to be made, in the words of [`Seen`].
pub(crate) fn enter(subject: &str, doing: &str, plugin: &str) -> Call {
    enter_for(subject, doing, plugin, Duration::ZERO)
}

/// Records a call with a time limit; 0 is none. A parent that watches ends it.
pub(crate) fn enter_for(subject: &str, doing: &str, plugin: &str, limit: Duration) -> Call {
    is_own_thread();
    let board = board();
    board.inside.store(false, Ordering::SeqCst);
    board.calls.fetch_add(1, Ordering::SeqCst);
    board.limit.store(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    // Each process keeps its own number, too: if two processes come back from a call, either may be the first to record
    // the next one.
    for board in [board, &OWN] {
        board.subject.set(subject);
        board.doing.set(doing);
        board.plugin.set(plugin);
    }
    board.inside.store(true, Ordering::SeqCst);
    Call(())
}

/// A sentence on the call of this process: who did what, when, from which plugin.
#[cfg(target_os = "linux")]
pub(super) fn own_call(did: &str) -> String {
    let plugin = OWN.plugin.get();
    let from = if plugin.is_empty() { String::new() } else { format!(" ({plugin})") };
    format!("{} {did} {}{from}", OWN.subject.get(), OWN.doing.get())
}

#[cfg(target_os = "linux")]
impl Board {
    /// Number of the call that was noted last.
    pub(in crate::process) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Number of the call under way that may not last for ever, and how long it may.
    pub(in crate::process) fn limited(&self) -> Option<(u64, Duration)> {
        let limit = self.limit.load(Ordering::SeqCst);
        (self.is_inside() && limit > 0).then(|| (self.calls(), Duration::from_millis(limit)))
    }
}
