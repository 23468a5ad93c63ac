//! Whether this processor has the instructions that the program was built with.

/// Ends the program where the processor lacks some; before anything else is done, since anything else may use them.
#[inline(never)]
pub(super) fn end_if_too_old() {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    if !has_avx2() {
        let line = b"error: this build of Meniscus needs a processor with AVX2 (Intel Core from 2013, AMD from 2015 on), and this one, or \
            the virtual machine on it, has none: build it from source with RUSTFLAGS=-Ctarget-cpu=native cargo build --release \
            -p meniscus -p meniscus-plugin\n";
        // SAFETY: constant text; the process has not begun to work.
        unsafe {
            libc::write(2, line.as_ptr().cast::<libc::c_void>(), line.len());
            libc::_exit(1);
        }
    }
}

/// Whether the processor has what x86-64-v3 adds to older ones. Asks the processor itself: the standard library's answer is fixed
/// when it is built, to what it was built for.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
fn has_avx2() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    /// FMA, MOVBE, the system says which registers it keeps, AVX and F16C.
    const BASIC: u32 = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29;
    /// BMI1, AVX2 and BMI2.
    const WIDE: u32 = 1 << 3 | 1 << 5 | 1 << 8;
    /// LZCNT.
    const COUNTS: u32 = 1 << 5;
    /// Registers of 128 and of 256 bits.
    const KEPT: u64 = 1 << 1 | 1 << 2;
    let has = |found: u32, wanted: u32| found & wanted == wanted;
    has(__cpuid(1).ecx, BASIC)
        // SAFETY: the system says which registers it keeps.
        && unsafe { _xgetbv(0) } & KEPT == KEPT
        && __cpuid(0).eax >= 7
        && has(__cpuid_count(7, 0).ebx, WIDE)
        && has(__cpuid(0x8000_0001).ecx, COUNTS)
}
