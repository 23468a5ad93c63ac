//! Memory that cannot be had: the host knows whose call it was, says so and ends the process.

use super::Call;
use crate::{EndForWant, MEMORY_EXTENSION};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

/// The system's allocator, for a plugin's `#[global_allocator]`; where it cannot give what is asked the host is called,
/// and memory that a plugin could do without must be asked for elsewhere.
#[derive(Debug)]
pub struct Heap;

static HOST: OnceLock<EndForWant> = OnceLock::new();

/// Asks a host whom to call; the first answer stands.
pub(super) fn meet(call: &Call) {
    if HOST.get().is_some() {
        return;
    }
    let Some(extension) = call.context().extension else { return };
    // SAFETY: [owner] function on the owner's thread; the id outlives it.
    let address = unsafe { extension(call.raw(), MEMORY_EXTENSION.as_ptr(), 1) };
    if !address.is_null() {
        // SAFETY: revision 1 of this extension is a function of that type (header), good as long as the process.
        let end = unsafe { std::mem::transmute::<*const std::ffi::c_void, EndForWant>(address) };
        HOST.get_or_init(|| end);
    }
}

fn noted(address: *mut u8, bytes: usize) -> *mut u8 {
    if address.is_null()
        && let Some(end) = HOST.get()
    {
        end(bytes as u64);
    }
    address
}

// SAFETY: every call goes to the system's allocator; what is done about a failure allocates nothing.
unsafe impl GlobalAlloc for Heap {
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
