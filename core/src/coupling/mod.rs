//! Couplings decide which unknowns share a pressure solve, and what the solve does to them.
//!
//! Read [`free_surface`] and [`constraint_bubbles`] first. They differ only in which air keeps its volume. All else is
//! shared: [`air`] finds the regions of air and liquid, recognises the bubbles of the substep before, and says what
//! volumes they should have; `projection` builds one [`PressureSystem`](crate::pressure::PressureSystem) from this,
//! solves it and changes the velocity. [`several`] makes one liquid of several for it.

pub mod air;
pub mod bodies;
pub mod constraint_bubbles;
mod felt;
mod fields;
pub mod free_surface;
pub mod mass;
pub mod memory;
mod optional;
mod projection;
pub mod rigid_fluid;
pub mod several;
mod shut;
pub mod viscous;

pub use felt::{AtFaces, at_faces};
pub use fields::{Chamber, Gas, LiquidFields, Parting};
pub use optional::{CELL_GRIDS, CellGrids, FACE_GRIDS, FaceGrids};
pub use projection::{AirRow, AirShare, Bubble, ConstraintReport, Error, Projection};
pub use shut::{Lids, passed, shut};

#[cfg(test)]
mod tests;
