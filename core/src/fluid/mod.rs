//! FLIP liquids: particles carry mass and velocity, the grid carries pressure.
//!
//! [`flip`] is the page to read first: a substep in one-sentence steps. Particles are [`seeding`]-ed and enter by
//! [`sources`], which may drive them at an [`inlet`], sit sorted in [`cells`], move by [`advection`] around solids and apart where they crowd, exchange velocity with the faces by
//! [`transfer`] (both also on a [`device`]), and say where the liquid's [`surface`] is. Deep below it, few of them
//! do ([`thinning`]).

pub mod advection;
mod air_flow;
pub mod air_particles;
pub mod cells;
mod closed_faces;
pub mod collision;
mod crowding;
pub mod device;
pub mod extrapolation;
pub mod flip;
mod flow;
mod four;
mod fraction;
mod halo;
mod heritage;
pub mod inlet;
pub mod liquid;
pub mod material;
mod mirror;
pub mod particles;
mod random;
pub mod reseeding;
mod restoration;
pub mod seeding;
pub mod solids;
pub mod sources;
mod spreading;
pub mod step;
pub mod surface;
pub mod swelling;
pub mod tension;
pub mod thinning;
pub mod transfer;
pub mod travel;
pub mod viscosity;
pub mod volume;

pub use particles::{IndexFrame, Particle, Particles, Selection, greatest_speed};

#[cfg(test)]
mod tests;
