//! Level sets: signed distances in metres, φ < 0 inside liquid and inside solids.

pub mod fractions;
