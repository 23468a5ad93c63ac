//! The devices: leaf kernels and the inner loops of the linear solvers.
//!
//! Everything here works on plain slices in leaf order (see [`leaf`]) so that a CUDA twin can take the same
//! arrays. No physics: a kernel knows stencils, sums, smoothers and paths through a field, not liquids.

pub mod checkerboard;
pub mod conjugate_gradients;
pub mod cuda;
pub mod dense;
pub mod leaf;
pub mod memory;
pub mod multigrid;
