//! Tables: named typed arrays, bytes included.

use crate::Element;
use std::ffi::{c_char, c_void};

/// A view of an array, or a request for one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Array {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Element type.
    pub element: Element,
    /// Its name in the table.
    pub name: *const c_char,
    /// Components per entry.
    pub components: u32,
    /// 0
    pub reserved: u32,
    /// Number of entries.
    pub count: u64,
    /// Equal stamp, same bytes.
    pub value_id: u64,
    /// `[count][components]`
    pub values: *const c_void,
    /// The same memory, null in a view to read.
    pub writable: *mut c_void,
}

/// A view of a table, or a request for one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Table {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Number of arrays.
    pub array_count: u32,
    /// The arrays; walk them by their `size`.
    pub arrays: *const Array,
}
