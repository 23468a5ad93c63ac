//! Particles in motion: along the velocity, around solids, and what they exchange with the faces.

pub mod advection;
pub mod collision;
pub mod device;
mod flow;
pub mod transfer;
pub mod travel;
