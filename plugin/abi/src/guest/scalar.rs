//! Rust types of the element types.

use crate::Element;

/// A type whose values are elements of a port.
///
/// # Safety
/// Implemented for plain numbers of which every bit pattern is a value.
pub unsafe trait Scalar: Copy + Default + PartialEq + Send + Sync + 'static {
    /// Its element type.
    const ELEMENT: Element;
}

macro_rules! scalars {
    ($($ty:ty => $element:ident,)*) => {$(
        // SAFETY: a plain number.
        unsafe impl Scalar for $ty {
            const ELEMENT: Element = Element::$element;
        }
    )*};
}
scalars! { f32 => F32, f64 => F64, i32 => I32, i64 => I64, u8 => U8, u32 => U32, u64 => U64, }
