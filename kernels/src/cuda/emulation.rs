//! The emulated device: the kernels' own source compiled by the host's C++ compiler, with the threads of a block as
//! fibers. It tests kernels and driver code without a GPU; it is far too slow for anything else.

use super::device::{Device, Failure};
use super::launch::{Launch, Program};
use std::ffi::{CStr, CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn meniscus_emulation_allocate(bytes: usize) -> *mut c_void;
    fn meniscus_emulation_free(memory: *mut c_void, bytes: usize);
    fn meniscus_emulation_launch(
        name: *const c_char,
        grid: u32,
        block: u32,
        arguments: *mut *mut c_void,
        sizes: *const u32,
        descending: c_int,
    ) -> *const c_char;
}

/// A device on the processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Emulation {
    /// Whether blocks, and the threads of a block between two barriers, run in reverse order.
    pub descending: bool,
}

/// Memory between two inaccessible pages.
pub struct Memory {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with as many bytes, freed once.
        unsafe { meniscus_emulation_free(self.start.cast(), self.bytes) }
    }
}

impl Memory {
    /// Fails unless the `count` bytes from `at` are inside.
    fn check(&self, at: usize, count: usize) -> Result<(), Failure> {
        let inside = at.checked_add(count).is_some_and(|end| end <= self.bytes);
        if inside { Ok(()) } else { Err(Failure(format!("{count} bytes at {at} of {}", self.bytes))) }
    }
}

impl Emulation {
    /// Runs one launch.
    ///
    /// # Safety
    /// As for [`Device::run`].
    unsafe fn launch(&self, launch: &Launch) -> Result<(), Failure> {
        let name = CString::new(launch.kernel).map_err(|e| Failure(e.to_string()))?;
        let mut pointers = launch.pointers();
        // SAFETY: name, pointers and sizes live through the call; sizes end with 0; kernels read arguments only.
        let complaint = unsafe {
            meniscus_emulation_launch(
                name.as_ptr(),
                launch.grid,
                launch.block,
                pointers.as_mut_ptr(),
                launch.sizes().as_ptr(),
                self.descending.into(),
            )
        };
        if complaint.is_null() {
            return Ok(());
        }
        // SAFETY: a complaint is a constant string.
        let complaint = unsafe { CStr::from_ptr(complaint) };
        Err(Failure(format!("{}: {}", launch.kernel, complaint.to_string_lossy())))
    }
}

impl Device for Emulation {
    type Memory = Memory;

    fn describe(&self) -> String {
        "emulation on the processor".into()
    }

    fn allocate(&mut self, bytes: usize) -> Result<Memory, Failure> {
        // SAFETY: any number of bytes may be asked for.
        let start: *mut u8 = unsafe { meniscus_emulation_allocate(bytes) }.cast();
        if start.is_null() { Err(Failure(format!("no {bytes} bytes"))) } else { Ok(Memory { start, bytes }) }
    }

    fn address(memory: &Memory) -> u64 {
        memory.start as u64
    }

    fn upload(&mut self, memory: &mut Memory, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        memory.check(at, bytes.len())?;
        // SAFETY: inside the memory, which is not where `bytes` are.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start.add(at), bytes.len()) };
        Ok(())
    }

    fn clear(&mut self, memory: &mut Memory, bytes: usize) -> Result<(), Failure> {
        memory.check(0, bytes)?;
        // SAFETY: inside the memory.
        unsafe { std::ptr::write_bytes(memory.start, 0, bytes) };
        Ok(())
    }

    fn download(&mut self, memory: &Memory, at: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        memory.check(at, bytes.len())?;
        // SAFETY: inside the memory, which is not where `bytes` are.
        unsafe { std::ptr::copy_nonoverlapping(memory.start.add(at), bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    unsafe fn run(&mut self, program: &Program, times: usize) -> Result<(), Failure> {
        for launch in (0..times).flat_map(|_| &program.launches) {
            // SAFETY: the caller vouches for the addresses.
            unsafe { self.launch(launch)? };
        }
        Ok(())
    }
}
