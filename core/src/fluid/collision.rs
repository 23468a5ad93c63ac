//! Particles against solids.

use crate::solid::{SolidProbe, Solids};
use glam::DVec3;

/// A particle's meeting with solids on its way through a substep.
#[derive(Clone, Copy, Debug)]
pub struct Landing {
    /// Where the particle ends, world metres.
    pub position: DVec3,
    /// The solid it touched last: outward unit normal and velocity, m/s.
    pub contact: Option<(DVec3, DVec3)>,
}

/// Sweeps particles through solids; keep one per task, it remembers how far the nearest solid was.
pub struct Sweep<'a> {
    probe: SolidProbe<'a>,
    any: bool,
    /// No solid lies within the radius (m) of the centre, at the end of the substep.
    clear: (DVec3, f64),
    fastest_solid: f64,
    separation: f64,
    step: f64,
    dt: f64,
}

/// How often a particle may slide off a solid on its way, and how often it is pushed out at its end.
const SLIDES: usize = 4;
const PUSHES: usize = 8;

impl<'a> Sweep<'a> {
    /// `separation`: the distance particles keep from solids, m. `step`: the least distance between two looks
    /// at the solids, m: nothing thicker is ever crossed. `fastest_solid`: bound on the solids' speed, m/s.
    pub fn new(solids: &Solids<'a>, separation: f64, step: f64, fastest_solid: f64, dt: f64) -> Self {
        let any = !solids.colliders.is_empty() || solids.domain.distance(DVec3::ZERO).is_finite();
        Self { probe: solids.probe(), any, clear: (DVec3::ZERO, -1.0), fastest_solid, separation, step, dt }
    }

    /// Takes a particle from `from` to `to` (world metres), around the solids it meets.
    ///
    /// The path is followed in the frame of the solid it starts near, which stands where it is at the end of
    /// the substep; so a moving wall sweeps particles before it.
    pub fn land(&mut self, from: DVec3, to: DVec3) -> Landing {
        let travel = from.distance(to) + self.fastest_solid * self.dt;
        if !self.any || self.clear.1 - self.clear.0.distance(to) > travel + self.separation {
            return Landing { position: to, contact: None };
        }
        let distance = self.probe.distance(to);
        self.clear = (to, distance);
        if distance > travel + self.separation {
            return Landing { position: to, contact: None };
        }
        let carried = match self.fastest_solid > 0.0 {
            true => from + self.probe.velocity(from) * self.dt,
            false => from,
        };
        let mut landing = Landing { position: carried, contact: None };
        let mut rest = to - carried;
        let mut here = self.probe.distance(carried);
        // Both ends are farther from solids than the way between them is long: nothing stands in it.
        if here + distance - rest.length() > 2.0 * self.separation && distance >= self.separation {
            return Landing { position: to, contact: None };
        }
        for _ in 0..SLIDES {
            (rest, here) = self.march(&mut landing.position, rest, here);
            if rest == DVec3::ZERO {
                break;
            }
            let normal = self.probe.normal(landing.position);
            landing.contact = Some((normal, self.probe.velocity(landing.position)));
            rest -= normal * rest.dot(normal).min(0.0);
        }
        self.push_out(&mut landing, here);
        landing
    }

    /// Walks along `way` from `x`, which is `here` from the nearest solid, until a solid stands in it; returns what is
    /// left of the way and the distance where it ends.
    fn march(&mut self, x: &mut DVec3, way: DVec3, mut here: f64) -> (DVec3, f64) {
        let length = way.length();
        if length == 0.0 {
            return (DVec3::ZERO, here);
        }
        let direction = way / length;
        let mut gone = 0.0;
        while gone < length {
            let step = (here - self.separation).max(self.step).min(length - gone);
            let next = *x + direction * step;
            let after = self.probe.distance(next);
            if after < self.separation && after < here {
                // Along the step the distance is close to linear: stop where it falls to the separation.
                let share = ((here - self.separation) / (here - after)).clamp(0.0, 1.0);
                *x += direction * (step * share);
                return (direction * (length - gone - step * share), self.probe.distance(*x));
            }
            *x = next;
            here = after;
            gone += step;
        }
        (DVec3::ZERO, here)
    }

    /// Pushes a particle that ended `here` from the nearest solid out to the separation.
    fn push_out(&mut self, landing: &mut Landing, mut here: f64) {
        for _ in 0..PUSHES {
            if here >= self.separation {
                return;
            }
            let normal = self.probe.normal(landing.position);
            landing.contact = Some((normal, self.probe.velocity(landing.position)));
            landing.position += normal * (self.separation - here);
            here = self.probe.distance(landing.position);
        }
    }
}
