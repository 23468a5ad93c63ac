//! Reading structs that may grow, written by another build of this contract.

use crate::{Array, Attribute, Context, Geometry, Grid, Node, Param, Plugin, Port, Role, Solve, Table};
use std::ffi::{CStr, c_char};

/// A struct whose first field is its size, and which is valid when every byte is zero.
///
/// # Safety
/// Implemented for `#[repr(C)]` structs of integers, floats, raw pointers and optional functions whose
/// first field is `size: u32`.
pub unsafe trait Growable: Copy {
    /// Its size in bytes in this build, as its `size` field holds it.
    const SIZE: u32 = size_of::<Self>() as u32;

    /// All zero but for `size`: what to start filling in.
    fn blank() -> Self {
        // SAFETY: zero is a valid value of every field (trait contract), and `size` is the first field.
        unsafe {
            let mut blank = std::mem::MaybeUninit::<Self>::zeroed();
            blank.as_mut_ptr().cast::<u32>().write(Self::SIZE);
            blank.assume_init()
        }
    }
}

macro_rules! growable {
    ($($name:ident)*) => {$(
        // SAFETY: `#[repr(C)]`, `size` first, and every field may be zero.
        unsafe impl Growable for $name {}
    )*};
}
growable!(Array Attribute Context Geometry Grid Node Param Plugin Port Role Solve Table);

/// Copies what is there of a struct written with another size; the rest is zero.
///
/// # Safety
/// `from` is null or leads to a struct of that type, its own `size` true.
pub unsafe fn read<T: Growable>(from: *const T) -> Option<T> {
    if from.is_null() {
        return None;
    }
    let mut to = T::blank();
    // SAFETY: min(size, SIZE) bytes are readable there and writable here.
    unsafe {
        let size = from.cast::<u32>().read().min(T::SIZE) as usize;
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut to).cast::<u8>(), size);
    }
    Some(to)
}

/// Copies an array of such structs, its stride being the elements' own `size`; empty when null or when an
/// element's `size` cannot be one.
///
/// # Safety
/// `from` is null or leads to `count` structs of that type, each one's `size` true.
pub unsafe fn read_array<T: Growable>(from: *const T, count: u32) -> Vec<T> {
    if from.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: there is a first element, and the others follow at its size.
    unsafe {
        let stride = from.cast::<u32>().read() as usize;
        if stride < size_of::<u32>() || !stride.is_multiple_of(align_of::<T>()) {
            return Vec::new();
        }
        (0..count as usize).filter_map(|i| read(from.cast::<u8>().add(i * stride).cast::<T>())).collect()
    }
}

/// Text of the other side: None when null or not UTF-8.
///
/// # Safety
/// `from` is null or leads to a string that ends in NUL and outlives `'a`.
pub unsafe fn text<'a>(from: *const c_char) -> Option<&'a str> {
    if from.is_null() {
        return None;
    }
    // SAFETY: a string that ends in NUL (contract).
    unsafe { CStr::from_ptr(from) }.to_str().ok()
}
