//! Ends the process when memory runs out, with a message that names the node that needed it.

use super::board::board;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a message on failure.
struct Noting;

#[global_allocator]
static HEAP: Noting = Noting;

thread_local! {
    /// The caller can do without this memory.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Lets `f` ask for memory that it can do without: a failure does not end the process.
pub(crate) fn trying<T>(f: impl FnOnce() -> T) -> T {
    let before = TRYING.replace(true);
    let result = f();
    TRYING.set(before);
    result
}

fn noted(address: *mut u8, bytes: usize) -> *mut u8 {
    if address.is_null() && !TRYING.get() {
        end_for_want(bytes as u64);
    }
    address
}

// SAFETY: every call goes to the system's allocator; what is done about a failure allocates nothing.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system allocator's.
        noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.realloc(address, layout, size) }, size)
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(address, layout) }
    }
}

/// Prints who needed so many bytes that were missing, and ends the process. Also the extension `mns.memory`, for
/// plugins' allocators.
pub(crate) extern "C" fn end_for_want(bytes: u64) {
    let board = board();
    board.starved(bytes);
    #[cfg(unix)]
    {
        if !super::board::is_shared() {
            board.print();
        }
        // SAFETY: nothing of the process is needed any more: what is on disk is whole.
        unsafe { libc::_exit(1) }
    }
    #[cfg(not(unix))]
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_may_fail() {
        let mut list: Vec<u8> = Vec::new();
        assert!(trying(|| list.try_reserve_exact(isize::MAX as usize - 1)).is_err());
        assert!(!TRYING.get());
    }
}
