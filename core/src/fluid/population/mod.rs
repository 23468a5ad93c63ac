//! Adds and removes particles: sources, sinks, reseeding and thinning.

pub mod air;
mod heritage;
pub mod reseeding;
pub mod sources;
pub mod thinning;
