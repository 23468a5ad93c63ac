//! Joints between bodies, of any topology: chains, wheels, loops.
//!
//! A joint is rows J of the velocities of two bodies. With contacts they make one system: contacts, limits and motors act on
//! bodies as their joints let them move, by M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ J M⁻¹ ([`linkage`]), so that no impulse of theirs ever
//! pulls a joint open. What velocities alone cannot give, the curvature of the way, is found by Newton's method: at the end of
//! the drift that comes, the joint fits ([`rows`]). That is the SHAKE method [Ryckaert et al. 1977] in the leapfrog: symplectic
//! [Hairer et al. 2003], and what is left of a gap does not grow. Where turns are too fast for that, bodies are put back after
//! the drift ([`hold`]). Swings across a taut joint that substeps cannot follow are damped ([`stiffness`]).

mod bounds;
mod hold;
mod joint;
mod linkage;
mod rows;
mod springs;
mod stiffness;
#[cfg(test)]
mod tests;

pub(super) use bounds::Bound;
pub(super) use hold::{hold, mend, stir};
pub(super) use joint::apart;
pub use joint::{Drive, Joint, JointState, Kind, Motor};
pub(super) use linkage::{Linkage, Response};
pub(super) use rows::{Row, dot};
