//! Collides particles with solids.

use crate::fluid::particles::Particles;
use crate::fluid::particles::cells::Cells;
use crate::grid::{Grid, leaf};
use crate::solid::{SolidProbe, Solids};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// The result of a particle's collisions on its way through a substep.
#[derive(Clone, Copy, Debug)]
pub struct Landing {
    /// Where the particle ends, world metres.
    pub position: DVec3,
    /// The solids it touched, at most three of different normals: outward unit normal and velocity, m/s; the last one last.
    pub contacts: [Option<(DVec3, DVec3)>; 3],
}

/// Cosine of the angle between two normals from which they count as those of one wall.
const ONE_WALL: f64 = 0.99;

impl Landing {
    fn at(position: DVec3) -> Self {
        Self { position, contacts: [None; 3] }
    }

    /// Notes that it touches a solid.
    fn touch(&mut self, normal: DVec3, velocity: DVec3) {
        let known = |contact: &Option<(DVec3, DVec3)>| contact.is_some_and(|(n, _)| n.dot(normal) > ONE_WALL);
        // Of the same wall only the last touch counts, and of four walls the last three.
        let first = self.contacts.iter().position(known).unwrap_or(0);
        self.contacts[first..].rotate_left(1);
        self.contacts[2] = Some((normal, velocity));
    }

    /// Moves a particle there; solids that it touches remove the parts of its velocity that point into them.
    pub fn take(&self, origin: DVec3, position: &mut Vec3, velocity: &mut Vec3) {
        *position = (self.position - origin).as_vec3();
        for (normal, of_solid) in self.contacts.into_iter().flatten() {
            let into = (velocity.as_dvec3() - of_solid).dot(normal).min(0.0);
            *velocity -= (normal * into).as_vec3();
        }
    }
}

/// Gives particles of liquid cells (`surface` < 0) that landed on a body the velocity back that they `carried` before.
///
/// A solid takes the part of a particle's velocity that points into it. From liquid the solve takes it, as pressure, and hands the
/// body as much as the liquid loses: what is taken before is lost to both, and with many short substeps that is most of an impact.
pub fn keep_for_bodies(
    particles: &mut Particles,
    carried: &[Vec3],
    cells: &Cells,
    surface: &Grid<f32>,
    solids: &Solids,
) {
    let surface = surface.seen_on(&cells.topology);
    let Particles { velocity, position, origin, .. } = particles;
    let is_at_body = |at: DVec3| {
        let apart = solids.colliders.iter().map(|c| (c.distance(at), c.is_body()));
        let nearest = apart.reduce(|a, b| if b.0 < a.0 { b } else { a });
        nearest.is_some_and(|(distance, is_body)| is_body && distance < solids.domain.distance(at))
    };
    let leaves = cells.split_mut(velocity).into_par_iter().enumerate();
    leaves.filter(|(_, velocity)| !velocity.is_empty()).for_each(|(l, velocity)| {
        let first = cells.leaf_range(l).start;
        for n in (0..leaf::SIZE).filter(|n| surface.values[l * leaf::SIZE + n] < 0.0) {
            let start = &cells.start[l * leaf::SIZE + n..];
            for p in start[0] as usize..start[1] as usize {
                if velocity[p - first] != carried[p] && is_at_body(*origin + position[p].as_dvec3()) {
                    velocity[p - first] = carried[p];
                }
            }
        }
    });
}

/// Sweeps particles around solids. Keep one per task: it remembers how far the nearest solid was.
pub struct Sweep<'a> {
    probe: SolidProbe<'a>,
    any: bool,
    /// No collider's surface lies within the radius (m) of the centre, at the end of the substep.
    clear: (DVec3, f64),
    /// No surface at all does, walls of the domain among them.
    free: (DVec3, f64),
    fastest_solid: f64,
    separation: f64,
    step: f64,
    dt: f64,
}

/// How often a particle may hit a solid on its way, and how often it is pushed out at its end.
const SLIDES: usize = 4;
const PUSHES: usize = 8;
/// Most tests for solids on a particle's way; a longer way ends there.
const MOST_LOOKS: f64 = 100_000.0;
/// Sine of the angle up to which a step into a solid counts as grazing.
const GRAZING: f64 = 0.5;
/// Share of a step's loss of distance that the nearest wall must account for, to be the one in the way.
const ASKEW: f64 = 0.5;

impl<'a> Sweep<'a> {
    /// `separation`: the distance particles keep from solids, m. `step`: the smallest distance between two tests for
    /// solids, m; nothing thicker is ever crossed. `fastest_solid`: upper bound on the solids' speed, m/s.
    pub fn new(solids: &Solids<'a>, separation: f64, step: f64, fastest_solid: f64, dt: f64) -> Self {
        let any = !solids.colliders.is_empty() || solids.domain.distance(DVec3::ZERO).is_finite();
        let (clear, free) = ((DVec3::ZERO, -1.0), (DVec3::ZERO, -1.0));
        Self { probe: solids.probe(), any, clear, free, fastest_solid, separation, step, dt }
    }

    /// Takes a particle from `from` to `to` (world metres), around the solids it meets.
    ///
    /// The path is computed in the frame of the nearest solid at its start, with the solid where it is at the end of
    /// the substep. So a moving wall pushes particles in front of it.
    pub fn land(&mut self, from: DVec3, to: DVec3) -> Landing {
        // A coarse bound that finds no solid saves the exact distance, and its square roots.
        let way = (to - from).abs().element_sum();
        let coarse = |near: (DVec3, f64)| near.1 - (to - near.0).abs().element_sum() - way - self.separation;
        if !self.any || coarse(self.free) > self.fastest_solid * self.dt {
            return Landing::at(to);
        }
        let far_from_colliders =
            coarse(self.clear) > self.fastest_solid * self.dt || self.is_far_from_colliders(from, to);
        if far_from_colliders {
            let wall = self.probe.wall(to);
            self.free = (to, wall.min(self.clear.1 - self.clear.0.distance(to)));
            if wall > from.distance(to) + self.separation {
                return Landing::at(to);
            }
        }
        let distance = self.probe.distance(to);
        let carried = match self.fastest_solid > 0.0 && !far_from_colliders {
            true => from + self.probe.velocity(from) * self.dt,
            false => from,
        };
        let mut landing = Landing::at(carried);
        let mut rest = to - carried;
        let mut here = self.probe.distance(carried);
        // Both ends are farther from solids than the length of the way between them, so nothing stands in it.
        if here + distance - rest.length() > 2.0 * self.separation && distance >= self.separation {
            return Landing::at(to);
        }
        let mut looks = (rest.length() / self.step).ceil().min(MOST_LOOKS) as usize + SLIDES;
        while rest != DVec3::ZERO && looks > 0 {
            looks -= 1;
            (rest, here) = self.step_along(&mut landing, rest, here);
        }
        self.push_out(&mut landing, here);
        landing
    }

    /// Whether no collider comes so near to `to` during the substep that a particle from `from` could touch it.
    fn is_far_from_colliders(&mut self, from: DVec3, to: DVec3) -> bool {
        let reached = from.distance(to) + self.fastest_solid * self.dt + self.separation;
        if self.clear.1 - self.clear.0.distance(to) > reached {
            return true;
        }
        self.clear = (to, self.probe.clearance(to));
        self.clear.1 > reached
    }

    /// Walks along `rest` from the particle's position, `here` metres from the nearest solid, as far as the distance
    /// guarantees a free way. Returns the rest of the way and the distance where it ends.
    ///
    /// A wall in the way removes the part of the rest that points into it. A step that grazes a wall, as every step
    /// along a hollow wall does, is taken all the same, and the particle is then lifted off the wall.
    fn step_along(&mut self, landing: &mut Landing, rest: DVec3, here: f64) -> (DVec3, f64) {
        let length = rest.length();
        let step = rest * ((here - self.separation).max(self.step) / length).min(1.0);
        let next = landing.position + step;
        let after = self.probe.distance(next);
        if after >= self.separation || after >= here {
            landing.position = next;
            return (rest - step, after);
        }
        let grazes = here - after < GRAZING * step.length();
        // The distance is nearly linear along the step. In a head-on step the particle stops where the distance falls
        // to the separation.
        let mut share =
            if grazes { 1.0 } else { ((here - self.separation) / (here - after)).clamp(0.0, 1.0) };
        let mut normal = self.probe.normal(landing.position + step * share);
        // In a corner the wall in the way is not the nearest one, along which the particle slides, before it has come close.
        if !grazes && -step.dot(normal) < ASKEW * (here - after) {
            let ahead = self.probe.normal(next);
            let approach = -step.dot(ahead);
            if approach > 0.0 {
                share = ((after + approach - self.separation) / approach).clamp(0.0, 1.0);
                normal = ahead;
            }
        }
        landing.position += step * share;
        landing.touch(normal, self.probe.velocity(landing.position));
        if grazes {
            landing.position += normal * (self.separation - after);
        }
        let rest = rest - step * share;
        (rest - normal * rest.dot(normal).min(0.0), self.probe.distance(landing.position))
    }

    /// Pushes a particle that ended `here` from the nearest solid out to the separation. One for which a solid that goes into a closed
    /// side leaves no room stays in the solid, within the sides.
    fn push_out(&mut self, landing: &mut Landing, mut here: f64) {
        for _ in 0..PUSHES {
            if here >= self.separation {
                return;
            }
            let normal = self.probe.normal(landing.position);
            landing.touch(normal, self.probe.velocity(landing.position));
            landing.position += normal * (self.separation - here);
            here = self.probe.distance(landing.position);
        }
        if here < self.separation {
            landing.position = self.probe.within_sides(landing.position, self.separation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Transform;
    use crate::levelset::SignedDistance;
    use crate::solid::{Collider, DomainLimits, Motion, Side};
    use glam::IVec3;
    use std::sync::Arc;

    /// A ball of 0.3 m whose centre lies anywhere about a closed side, an edge or a corner: a particle in it ends outside it, or where
    /// that is beyond a side, in it; always in the box.
    #[test]
    fn what_a_solid_in_a_side_leaves_no_room_for_ends_in_the_box() {
        let own = Transform::uniform(1.0 / 16.0, DVec3::splat(-0.5));
        let ball = SignedDistance::from_fn(&own, IVec3::ZERO, IVec3::splat(15), 3.0, |p| p.length() - 0.3);
        let domain = DomainLimits::uniform(DVec3::ZERO, DVec3::ONE, Side::Closed);
        let ball = Arc::new(ball);
        for n in 0..200 {
            let share = |k: u32| f64::from(n * k % 199) / 199.0;
            let on = DVec3::new(1.0, [share(7), 1.0][n as usize % 2], [share(11), 0.0][n as usize / 2 % 2]);
            let centre = on + 0.2 * (DVec3::new(share(3), share(5), share(13)) - 0.5);
            let placed = Transform { translation: centre + own.translation, ..own };
            let colliders = [Collider::new(ball.clone(), placed, Motion::Static)];
            let solids = Solids { colliders: &colliders, domain: &domain };
            let from = (centre + 0.4 * (DVec3::new(share(17), share(19), share(23)) - 0.5))
                .clamp(DVec3::ZERO, DVec3::ONE);
            let landing =
                Sweep::new(&solids, 1e-3, 0.02, 0.0, 0.02).land(from, from + DVec3::new(0.1, -0.1, 0.05));
            assert!(
                domain.distance(landing.position) > 1e-3 - 1e-9,
                "{} from {from} by {centre}",
                landing.position
            );
        }
    }
}
