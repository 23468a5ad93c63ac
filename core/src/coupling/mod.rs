//! Couplings: which unknowns share a pressure solve, and what the solve does to them.
//!
//! [`free_surface`] and [`constraint_bubbles`] differ in one answer, which air keeps its volume. All else is
//! shared: [`regions`] finds the connected air and liquid, [`identity`] recognises the bubbles of the substep before
//! in it, `growth` says what brings each back to its rest volume, `fit` moves the surface to where all have what they should, `parting` says where liquid leaves a solid, `assemble` describes one
//! [`PressureSystem`](crate::pressure::PressureSystem), `project` solves it and updates the velocity.

mod assemble;
mod block;
pub mod constraint_bubbles;
mod fields;
mod first_guess;
mod fit;
mod flux;
pub mod free_surface;
mod growth;
pub mod identity;
mod open_volume;
mod parting;
mod project;
pub mod regions;
mod volumes;

pub use fields::{Density, LiquidFields};
pub use parting::Parting;
pub use project::{Bubble, Error, Projection};

#[cfg(test)]
mod tests;
