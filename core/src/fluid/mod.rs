//! FLIP liquids: particles carry mass and velocity, the grid carries pressure.
//!
//! Read [`flip`] first: it lists the parts of a substep, one sentence each. [`transport`] moves [`particles`] and
//! transfers velocity between them and the [`faces`] of cells. [`population`] adds and removes particles, [`surface`]
//! builds the level set, and `spreading` separates particles that crowd.

pub mod faces;
pub mod flip;
pub mod liquid;
pub mod material;
pub mod params;
pub mod particles;
pub mod population;
pub mod render_surface;
mod spreading;
pub mod step;
pub mod surface;
pub mod transport;
pub mod whitewater;

pub use particles::{IndexFrame, Particle, Particles, Selection, greatest_speed};

#[cfg(test)]
mod tests;
