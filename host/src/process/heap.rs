//! Memory that cannot be had is noted, so that the end of the process can be explained.

use super::board::board;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; it notes what it could not give.
struct Noting;

#[global_allocator]
static HEAP: Noting = Noting;

fn noted(address: *mut u8, bytes: usize) -> *mut u8 {
    if address.is_null() {
        board().lacks(bytes as u64);
    }
    address
}

// SAFETY: every call goes to the system's allocator; noting a failure allocates nothing.
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

/// The extension `mns.memory`: so many bytes could not be had by a plugin's allocator. Should it abort, this was why.
pub(crate) extern "C" fn note_lack(bytes: u64) {
    board().lacks(bytes);
}
