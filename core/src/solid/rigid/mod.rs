//! Rigid bodies: mass from meshes, free flight, contacts with each other and with solids, rest.
//!
//! A body's velocity belongs to the middle of the next substep, as a liquid's does: it drifts once with it, forces kick
//! it, and contacts are solved for the drift that comes (at its end, after the turn, nothing overlaps that did not).
//! parry finds the contacts; the impulses are found here, because they must fit these intervals, because what they
//! start from must be plain data of a port, and because a pressure solve needs their Jacobians.

mod body;
mod bounce;
mod climb;
mod contact;
mod detect;
mod faces;
mod hulls;
mod intervals;
mod islands;
mod joints;
mod mass;
mod shape;
mod solve;
mod spin;
mod step;
#[cfg(test)]
pub(super) mod tests;
mod ties;
mod turning;

pub use body::{Body, Key, Led, Pose, Rest, Surface, Velocity};
pub use contact::Memory;
pub use detect::{Surroundings, overlap, overlap_with_solids};
pub use hulls::{HullError, hulls};
pub use intervals::Intervals;
pub use joints::{Drive, Joint, JointState, Kind, Motor};
pub use mass::MassProperties;
pub use shape::Shape;
pub use step::{Report, Settings, fly, longest_step, meet};
pub use ties::{Tie, given};
