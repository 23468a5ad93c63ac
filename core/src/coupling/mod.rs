//! Couplings: which unknowns share a pressure solve, and what the solve does to them.
//!
//! [`free_surface`] and [`constraint_bubbles`] are the pages to read first. They differ in one answer, which air keeps its
//! volume. All else is shared: [`air`] finds the regions of air and liquid, knows the bubbles of the substep before in them,
//! and says what volumes they should have; `projection` makes one [`PressureSystem`](crate::pressure::PressureSystem) of it,
//! solves it and changes the velocity.

pub mod air;
pub mod constraint_bubbles;
mod fields;
pub mod free_surface;
pub mod memory;
mod projection;

pub use fields::{Density, LiquidFields, Parting};
pub use projection::{Bubble, Error, Projection};

#[cfg(test)]
mod tests;
