//! Geometry: typed, strided attributes on points, vertices, primitives or the whole.

use crate::{Element, Meaning, On, Primitive};
use std::ffi::{c_char, c_void};

/// A view of an attribute, or a request for one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Attribute {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// What it is on.
    pub on: On,
    /// "P", "v", "id" ...
    pub name: *const c_char,
    /// Element type.
    pub element: Element,
    /// Components per value.
    pub components: u32,
    /// How it moves with its geometry.
    pub meaning: Meaning,
    /// 0
    pub reserved: u32,
    /// Equal stamp, same bytes.
    pub value_id: u64,
    /// Number of values.
    pub count: u64,
    /// Bytes from one value to the next.
    pub stride: u64,
    /// The values.
    pub values: *const c_void,
    /// The same memory, null in a view to read.
    pub writable: *mut c_void,
}

/// A view of geometry, or a request for one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Geometry {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Points, polylines or triangles.
    pub primitive: Primitive,
    /// Counts and vertices.
    pub topology_id: u64,
    /// Number of points.
    pub point_count: u64,
    /// Number of vertices.
    pub vertex_count: u64,
    /// Number of primitives.
    pub primitive_count: u64,
    /// `[vertex]` point number.
    pub vertices: *const u32,
    /// `[primitive + 1]` first vertex, polylines only.
    pub starts: *const u32,
    /// The same memory, null in a view to read.
    pub writable_vertices: *mut u32,
    /// The same memory, null in a view to read.
    pub writable_starts: *mut u32,
    /// `P` is relative to it, metres.
    pub origin: [f64; 3],
    /// The attributes; walk them by their `size`.
    pub attributes: *const Attribute,
    /// Number of attributes.
    pub attribute_count: u32,
    /// 0
    pub reserved: u32,
}
