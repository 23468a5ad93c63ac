//! Values as bytes, which devices copy.

/// Plain values: any bytes are valid, and there is no padding.
///
/// # Safety
/// No padding, and any bytes are a value.
pub unsafe trait Plain: Copy {}

// SAFETY: numbers, and arrays of such values, have no padding and any bytes are a value.
unsafe impl Plain for u32 {}
// SAFETY: see above.
unsafe impl Plain for u8 {}
// SAFETY: see above.
unsafe impl Plain for i32 {}
// SAFETY: see above.
unsafe impl Plain for i64 {}
// SAFETY: see above.
unsafe impl Plain for f32 {}
// SAFETY: see above.
unsafe impl Plain for f64 {}
// SAFETY: `repr(C)` with three numbers of four bytes.
unsafe impl Plain for glam::Vec3 {}
// SAFETY: see above.
unsafe impl Plain for glam::IVec3 {}
// SAFETY: see above.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The bytes of some values.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` values are nothing but initialised bytes.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of some values, to be written.
pub fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: `Plain` values are nothing but initialised bytes, and any bytes are such values.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
