//! Sparse leaf grids: sorted 8³ leaves, a neighbour table, and channels `[leaf][512]`.
//!
//! Index space follows OpenVDB: integer coordinates are cell centres; the LOWER x face of cell (i, j, k)
//! lies at (i − ½, j, k) and its lower node at (i − ½, j − ½, k − ½). Lengths inside the solvers are in
//! metres unless a name says `index`.

pub mod block;
mod channel;
pub mod halo;
pub mod layers;
pub mod morphology;
pub mod rows;
pub mod sampling;
mod topology;
mod transform;

pub use channel::{FaceGrid, Grid};
pub use meniscus_kernels::leaf;
pub use topology::Topology;
pub use transform::Transform;

/// A voxel coordinate in index space.
pub type Coord = glam::IVec3;
