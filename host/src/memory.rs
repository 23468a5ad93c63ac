//! How the process keeps its memory.

/// Lets freed memory stay with the process: a substep frees and asks for the same arrays again, hundreds of megabytes of
/// them, and each time the system would take the pages back and hand them out zeroed (a sixth of a substep's time).
///
/// Call it before any thread starts. Elsewhere than on glibc it does nothing.
pub(crate) fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Bytes up to which an array is kept, and those that may be free at the end of the heap.
        const KEPT: i32 = 1 << 30;
        /// Threads that share a heap. Each heap keeps what was freed in it: with one per thread that adds up.
        const SHARE: usize = 8;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let heaps = i32::try_from(threads.div_ceil(SHARE)).unwrap_or(1);
        for (option, value) in
            [(libc::M_MMAP_THRESHOLD, KEPT), (libc::M_TRIM_THRESHOLD, KEPT), (libc::M_ARENA_MAX, heaps)]
        {
            // SAFETY: mallopt takes plain numbers and may be called at any time; a value it refuses changes nothing.
            unsafe { libc::mallopt(option, value) };
        }
    }
}
