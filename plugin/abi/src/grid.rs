//! Sparse grids: leaves, constant tiles, background.

use crate::{Element, Sampling};
use std::ffi::c_void;

/// Voxels of a leaf: `n = (x&7)<<6 | (y&7)<<3 | (z&7)`, OpenVDB's order.
pub const LEAF_SIZE: usize = 512;
/// Most components of a voxel.
pub const COMPONENTS_MAX: usize = 9;

/// A cube of voxels that all hold one value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Tile {
    /// Lowest voxel.
    pub origin: [i32; 3],
    /// 8, 128 or 4096 voxels.
    pub edge: i32,
}

/// A view of a grid, or a request for one (see the header for which fields a request gives).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct Grid {
    /// `size_of` as its writer compiled it.
    pub size: u32,
    /// Element type.
    pub element: Element,
    /// Components per voxel.
    pub components: u32,
    /// Where values sit.
    pub sampling: Sampling,
    /// Equal stamp, same leaves.
    pub topology_id: u64,
    /// Equal stamp, same bytes.
    pub value_id: u64,
    /// Number of leaves.
    pub leaf_count: u64,
    /// `[leaf][3]`, multiples of 8, sorted.
    pub origins: *const i32,
    /// Number of tiles.
    pub tile_count: u64,
    /// The tiles.
    pub tiles: *const Tile,
    /// `[tile][component]`
    pub tile_values: *const f64,
    /// Outside leaves and tiles.
    pub background: [f64; COMPONENTS_MAX],
    /// Row-major, acting on row vectors.
    pub index_to_world: [f64; 16],
    /// Per component `[leaf][512]`.
    pub values: [*const c_void; COMPONENTS_MAX],
    /// The same memory, null in a view to read.
    pub writable: [*mut c_void; COMPONENTS_MAX],
}
