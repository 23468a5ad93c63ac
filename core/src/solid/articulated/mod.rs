//! Articulated bodies: trees of links in generalised coordinates. Joints cannot drift apart, as there is no coordinate in
//! which they could.
//!
//! The mass matrix M(q) is found by the composite-rigid-body algorithm, the bias forces by recursive Newton–Euler
//! [Featherstone 2008], and a point's velocity is J(q) v. A step kicks velocities, then drifts with them ([`kick`]),
//! as liquids and single bodies do. Loops do not fit a tree; `solid/rigid/joints` solves those.

mod bias;
mod jacobian;
mod mass_matrix;
mod spatial;
mod spring;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod tree;

pub use bias::{Gravity, bias};
pub use jacobian::{Placed, jacobian, place};
pub use mass_matrix::mass_matrix;
pub use spring::Spring;
pub use state::State;
pub use step::{Kicked, drift, kick};
pub use tree::{Joint, Link, Tree, TreeError};
