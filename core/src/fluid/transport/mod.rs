//! Moves particles along the velocity and around solids, and transfers velocity between them and the faces.

pub mod advection;
pub mod collision;
pub mod device;
mod flow;
pub mod free_flight;
pub mod transfer;
pub mod travel;
