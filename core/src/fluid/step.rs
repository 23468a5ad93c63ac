//! The time intervals of a substep: which part of the solve acts for how long.

use glam::Vec3;
use rayon::prelude::*;

/// Lengths of time, s, in a substep of a leapfrog scheme [Hairer et al. 2003]. Velocities belong to the middle of the
/// substep in which they move the particles, so forces act from the middle of one substep to the middle of the next.
///
/// Positions are moved for `drift`. Accelerations, surface tension, viscosity and pressures (as p·dt) act for `kick`.
/// The walls' velocities, sources, swelling and volume corrections are those of the `next` drift, which uses the solved
/// velocity. With one length for all three, a step length that follows the speed adds energy in every cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Of the substep.
    pub drift: f64,
    /// From the middle of this substep to the middle of the next.
    pub kick: f64,
    /// Of the next substep.
    pub next: f64,
}

impl Step {
    /// Velocities, m/s, at the end of the substep, the time that positions belong to. A particle's `velocity` belongs
    /// to the middle of the next substep and has gained `gained` since the middle of this one; its path is taken as one
    /// of constant acceleration.
    pub fn synchronised(&self, velocity: &[Vec3], gained: &[Vec3]) -> Vec<Vec3> {
        let back = (0.5 * self.next / self.kick) as f32;
        velocity.par_iter().zip(gained).with_min_len(4096).map(|(&v, &gained)| v - back * gained).collect()
    }

    /// A step among substeps that all have one length.
    pub fn steady(dt: f64) -> Self {
        Self { drift: dt, kick: dt, next: dt }
    }
}
