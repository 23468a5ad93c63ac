//! Level sets: signed distances in metres, φ < 0 inside liquid and inside solids.

pub mod fractions;
mod signed_distance;
mod tiles;

pub use signed_distance::{SdfSampler, SignedDistance};
pub use tiles::InsideTiles;
