//! FLIP liquids: particles carry mass and velocity, the grid carries pressure.
//!
//! [`flip`](self) reads top down: particles are sorted into [`cells`], [`transfer`] moves velocity between them
//! and the staggered grid.

pub mod advection;
pub mod cells;
pub mod collision;
pub mod density;
pub mod extrapolation;
pub mod flip;
mod flow;
mod fraction;
mod halo;
pub mod particles;
mod random;
pub mod reseeding;
pub mod seeding;
pub mod solids;
pub mod sources;
pub mod surface;
pub mod transfer;
pub mod volume;

pub use particles::{IndexFrame, Particle, Particles, Selection};

#[cfg(test)]
mod tests;
