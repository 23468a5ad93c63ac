//! The intervals of a substep: what acts for how long.

use glam::Vec3;
use rayon::prelude::*;

/// Lengths of time, s, in a substep of a leapfrog [Hairer et al. 2003]: velocities belong to the middle of the
/// substep in which they move what has them, so that forces act from the middle of one substep to the middle of the next.
///
/// Positions are moved for `drift`; accelerations, surface tension, viscosity and pressures (as p·dt) act for `kick`;
/// the walls' velocities, sources, swelling and the ways back to wanted volumes are those of the `next` drift, which the
/// solved velocity makes. With one length for all three, steps that follow the speed do work: every cycle adds energy.
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
    /// Velocities, m/s, at the end of the substep, where positions are, of particles whose `velocity` belongs to the middle
    /// of the next one and `gained` so much since the middle of this one: the particle's own path of constant acceleration.
    pub fn synchronised(&self, velocity: &[Vec3], gained: &[Vec3]) -> Vec<Vec3> {
        let back = (0.5 * self.next / self.kick) as f32;
        velocity.par_iter().zip(gained).with_min_len(4096).map(|(&v, &gained)| v - back * gained).collect()
    }

    /// Amid substeps that are all of one length.
    pub fn steady(dt: f64) -> Self {
        Self { drift: dt, kick: dt, next: dt }
    }
}
