//! Which particles there are: where they enter and leave, where more or fewer carry the liquid.

pub mod air;
mod heritage;
pub mod reseeding;
pub mod sources;
pub mod thinning;
