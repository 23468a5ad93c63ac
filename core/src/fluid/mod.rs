//! FLIP liquids: particles carry mass and velocity, the grid carries pressure.
//!
//! [`flip`] is the page to read first: a substep in one-sentence steps, each of which has a room. [`transport`] moves
//! [`particles`] and lets them exchange velocity with the [`faces`] of cells, [`population`] says how many there are and where
//! they enter, [`surface`] where the liquid ends; where particles crowd, `spreading` parts them.

pub mod faces;
pub mod flip;
pub mod liquid;
pub mod material;
pub mod params;
pub mod particles;
pub mod population;
mod spreading;
pub mod step;
pub mod surface;
pub mod transport;
pub mod viscosity;

pub use particles::{IndexFrame, Particle, Particles, Selection, greatest_speed};

#[cfg(test)]
mod tests;
