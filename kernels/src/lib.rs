//! Leaf kernels and the inner loops of the linear solvers, for the processor and for CUDA.
//!
//! Everything here works on plain slices in leaf order (see [`leaf`]), so that a CUDA twin can use the same arrays.
//! There is no physics here: a kernel handles stencils, sums, smoothers and paths through a field, not liquids.

pub mod checkerboard;
pub mod conjugate_gradients;
pub mod cuda;
pub mod dense;
pub mod leaf;
mod low_rank;
pub mod memory;
pub mod multigrid;
pub mod sparse;
