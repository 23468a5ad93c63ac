//! OpenVDB for the host: writing, reading, meshing and ray tracing `.vdb` grids through a small C++ shim.
//!
//! Leaves are 8×8×8 voxels in OpenVDB's own order, `n = (x&7)<<6 | (y&7)<<3 | (z&7)`, so that a leaf pool goes
//! into a file by plain copies. Files are byte-identical for equal grids ([`to_bytes`]).

mod content;
mod error;
mod ffi;
mod grid;
mod outline;
mod polygons;
mod read;
mod render;
mod write;

pub use error::Error;
pub use grid::{Class, GridOut, LEAF_SIZE, MASK_WORDS, Meta, Tile, Values};
pub use outline::{Outline, outline};
pub use polygons::{BAND, Distances, Polygons, level_set, polygons};
pub use read::{Data, Element, Entry, File, Info, Leaves, LevelSetCheck, Stats, open};
pub use render::{Camera, Material, Picture, Surface, render};
pub use write::to_bytes;

/// `tell` gets the system's error when a C++ exception about it ends the program: no memory, no thread. It may end the
/// program itself. May be called before the constructors of libraries run.
pub fn on_uncaught(tell: extern "C" fn(std::ffi::c_int)) {
    // SAFETY: keeps a pointer to a function.
    unsafe { ffi::mv_on_uncaught(tell) }
}

/// OpenVDB's version, such as `10.0.1`.
pub fn version() -> String {
    // SAFETY: a static zero-terminated string.
    unsafe { std::ffi::CStr::from_ptr(ffi::mv_version()) }.to_string_lossy().into_owned()
}
