//! The parts of a liquid, and how long a step each bears: parts in free flight are exact at any step until they meet
//! something.

use super::travel;
use crate::fluid::particles::cells::CHUNK;
use crate::grid::{Coord, Topology, leaf};
use crate::solid::{Collider, DomainLimits, Motion, Side};
use crate::union_find::DisjointSets;
use glam::{BVec3, DVec3, Vec3};
use rayon::prelude::*;

/// Share of the time until a part of the liquid may meet something that a step may last: 1/g³ with the golden ratio
/// g = 1.618. A part that flies towards a wall in steps that are promised one ahead then comes near in steps that shrink
/// by g each, and each is g times as long as what is wished for when its turn comes, as for liquid that falls from rest.
/// So hosts keep their promises (a little more than g is kept), and two steps never reach what is met, if that moves
/// steadily.
const FORESIGHT: f64 = 0.236;

/// How far, voxels, particles of one part may move against each other in a step that is longer than CFL allows. In such
/// a step particles that outrun the known velocity follow their own, which is exact while it does not change on the way.
const INTERNAL: f64 = 0.5;

/// Most parts, fastest first, that are asked what they may meet: each is held against every leaf. The rest are bound by CFL.
const MOST_PARTS: usize = 64;

/// Voxels farther from the world's origin are taken for that far, so that whole numbers hold them.
const FARTHEST_VOXEL: DVec3 = DVec3::splat((1 << 30) as f64);

/// Particles that drift: positions relative to `origin` (m) and velocities (m/s).
#[derive(Clone, Copy, Debug)]
pub struct Drifting<'a> {
    /// World position of the object's origin, m.
    pub origin: DVec3,
    /// `[particle]`
    pub position: &'a [[f32; 3]],
    /// `[particle]`
    pub velocity: &'a [[f32; 3]],
}

/// What particles may meet, and what forces do.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The sides of the box.
    pub domain: &'a DomainLimits,
    /// Greatest acceleration that forces give, the same to all particles, m/s².
    pub acceleration: f64,
    /// Places in bubbles, world metres: a bubble is known by the cells that it had, so liquid around it never outruns it.
    pub bubbles: &'a [DVec3],
}

/// A step, s, and the particle that allows no longer one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Longest {
    /// s
    pub dt: f64,
    /// Its number.
    pub particle: usize,
}

/// A box and the velocities in it: lowest and highest corner, world metres, and the least and greatest velocity along
/// each axis, m/s.
#[derive(Clone, Copy, Debug)]
struct Moving {
    low: DVec3,
    high: DVec3,
    slow: DVec3,
    fast: DVec3,
}

impl Moving {
    fn union(&self, other: &Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            slow: self.slow.min(other.slow),
            fast: self.fast.max(other.fast),
        }
    }

    /// Where a solid's distances are known, and how it moves there; `None` for one that is nowhere.
    fn of_solid(collider: &Collider) -> Option<Self> {
        let (low, high) = collider.reach()?;
        let still = Self { low, high, slow: DVec3::ZERO, fast: DVec3::ZERO };
        Some(match collider.motion() {
            Motion::Static => still,
            // A rigid velocity is linear in space, so its extremes are at corners.
            Motion::Rigid { .. } => {
                let upper = |n: i32, axis: i32| n >> axis & 1 == 1;
                let corner = |n| DVec3::select(BVec3::from_array([0, 1, 2].map(|a| upper(n, a))), high, low);
                let moving = |at: DVec3| {
                    let v = collider.velocity(at);
                    Self { slow: v, fast: v, ..still }
                };
                (0..8).map(|n| moving(corner(n))).fold(moving(low), |all, one| all.union(&one))
            }
            Motion::PerVoxel(field) => {
                let greatest = field.values.iter().map(|v| v.length()).fold(0.0, f32::max);
                let greatest = DVec3::splat(f64::from(greatest));
                Self { slow: -greatest, fast: greatest, ..still }
            }
        })
    }

    /// Half of the greatest difference of velocities in it, at most, m/s.
    fn inner_speed(&self) -> f64 {
        0.5 * (self.fast - self.slow).length()
    }

    /// The time, s, before which the two cannot touch, where one may gain so much speed against the other along each
    /// axis, m/s²: they touch where they overlap along all axes.
    fn until(&self, other: &Self, acceleration: f64) -> f64 {
        let along = |axis: usize| {
            let (ahead, behind) = (other.low[axis] - self.high[axis], self.low[axis] - other.high[axis]);
            let closing = match ahead > behind {
                true => self.fast[axis] - other.slow[axis],
                false => other.fast[axis] - self.slow[axis],
            };
            time_of_way(ahead.max(behind), closing, acceleration)
        };
        (0..3).map(along).fold(0.0, f64::max)
    }
}

/// The time, s, in which a gap of so many metres closes at a speed (m/s, negative if it opens) under an acceleration
/// (m/s²): the root of c t + ½ a t² = gap. Infinite if it never does.
fn time_of_way(gap: f64, closing: f64, acceleration: f64) -> f64 {
    if gap <= 0.0 {
        return 0.0;
    }
    let root = closing + (closing * closing + 2.0 * acceleration * gap).sqrt();
    if root > 0.0 { 2.0 * gap / root } else { f64::INFINITY }
}

/// A particle and its speed, m/s.
#[derive(Clone, Copy, Debug)]
struct Swiftest {
    speed: f32,
    particle: usize,
}

impl Swiftest {
    /// The faster one; of equals that with the smaller number.
    fn or(self, other: Self) -> Self {
        let other_first = (other.speed, self.particle) > (self.speed, other.particle);
        if other_first { other } else { self }
    }
}

/// Particles that belong together: those of a leaf, or of leaves beside each other.
#[derive(Clone, Debug)]
struct Part {
    bounds: Moving,
    swiftest: Swiftest,
    /// Their leaves.
    leaves: Vec<usize>,
}

impl Part {
    /// The time, s, before which it cannot touch a closed side; 0 where it holds a bubble.
    fn free_of_sides(&self, h: f64, around: &Surroundings) -> f64 {
        let Moving { low, high, slow, fast } = self.bounds;
        if around.bubbles.iter().any(|at| at.cmpge(low - h).all() && at.cmple(high + h).all()) {
            return 0.0;
        }
        let until = |side: usize| {
            let axis = side / 2;
            let (corner, closing) =
                if side.is_multiple_of(2) { (low, -slow[axis]) } else { (high, fast[axis]) };
            time_of_way(around.domain.side_distance(side, corner), closing, around.acceleration)
        };
        let closed = (0..6).filter(|&side| around.domain.sides[side] == Side::Closed);
        closed.map(until).fold(f64::INFINITY, f64::min)
    }
}

/// The parts of a liquid, by leaves of world space.
pub struct Parts {
    /// Edge of a voxel, m.
    h: f64,
    /// `[leaf]`
    own: Vec<Moving>,
    /// The one with the fastest particle first.
    parts: Vec<Part>,
}

impl Parts {
    /// Those of particles on voxels of `h` metres.
    pub fn of(particles: &Drifting, h: f64) -> Self {
        let per_metre = 1.0 / h;
        let chunks = particles.position.par_chunks(CHUNK).zip(particles.velocity.par_chunks(CHUNK));
        let runs = chunks.enumerate().flat_map_iter(|(c, (positions, velocities))| {
            let mut runs: Vec<(Coord, Moving, Swiftest)> = Vec::new();
            for (n, (&x, &v)) in positions.iter().zip(velocities).enumerate() {
                let (x, v) = (particles.origin + Vec3::from(x).as_dvec3(), Vec3::from(v));
                let voxel = (x * per_metre).floor().clamp(-FARTHEST_VOXEL, FARTHEST_VOXEL).as_ivec3();
                let leaf = voxel & !(leaf::DIM as i32 - 1);
                let u = v.as_dvec3();
                let bounds = Moving { low: x, high: x, slow: u, fast: u };
                let swiftest = Swiftest { speed: v.length_squared().sqrt(), particle: c * CHUNK + n };
                match runs.last_mut() {
                    Some((last, all, first)) if *last == leaf => {
                        (*all, *first) = (all.union(&bounds), first.or(swiftest));
                    }
                    _ => runs.push((leaf, bounds, swiftest)),
                }
            }
            runs
        });
        let runs: Vec<_> = runs.collect();
        let topology = Topology::new(runs.iter().map(|r| r.0).collect());
        let mut own: Vec<Option<(Moving, Swiftest)>> = vec![None; topology.len()];
        for (leaf, bounds, swiftest) in runs {
            if let Some(l) = topology.leaf_of(leaf) {
                let all = own[l].map(|(all, first)| (all.union(&bounds), first.or(swiftest)));
                own[l] = all.or(Some((bounds, swiftest)));
            }
        }
        // Every leaf of the topology has a run.
        let own: Vec<_> = own.into_iter().flatten().collect();
        let parts = by_speed(&topology, &own);
        Self { h, own: own.into_iter().map(|(bounds, _)| bounds).collect(), parts }
    }

    /// The longest step that they bear, where `most` seconds are allowed at all; `None` if they bear that. `colliders` is
    /// asked only if some part is alone.
    ///
    /// A part that may meet another, a solid or a closed side may cross `cfl` voxels in a step, as [`travel::longest_step`] has
    /// it. One that flies freely moves on a parabola, where a leapfrog has no error at any step [Hairer et al. 2003]. It
    /// sets no step by its speed, but by the time after which it may meet something first, and by the velocities of its
    /// particles against each other.
    pub fn longest_step<E>(
        &self,
        (cfl, most): (f64, f64),
        around: &Surroundings,
        colliders: impl FnOnce() -> Result<Vec<Collider>, E>,
    ) -> Result<Option<Longest>, E> {
        let (h, acceleration) = (self.h, around.acceleration);
        let mut colliders = Some(colliders);
        let mut solids = Vec::new();
        let mut longest: Option<Longest> = None;
        for (n, part) in self.parts.iter().enumerate() {
            let allowed = longest.map_or(most, |l| l.dt);
            let as_bound = travel::longest_step(f64::from(part.swiftest.speed), h, cfl, acceleration);
            if as_bound >= allowed {
                break;
            }
            // Whoever is free for less than that is bound.
            let least = as_bound / FORESIGHT;
            let mut free = if n < MOST_PARTS { part.free_of_sides(h, around) } else { 0.0 };
            if free > least
                && let Some(colliders) = colliders.take()
            {
                solids = colliders()?.iter().filter_map(Moving::of_solid).collect();
            }
            if free > least {
                let met = solids.iter().map(|solid| part.bounds.until(solid, acceleration));
                free = met.fold(free, f64::min);
            }
            if free > least {
                free = self.free_of_others(part, free.min(allowed / FORESIGHT), least);
            }
            let dt = as_bound.max((FORESIGHT * free).min(INTERNAL * h / part.bounds.inner_speed()));
            if dt < allowed {
                longest = Some(Longest { dt, particle: part.swiftest.particle });
            }
        }
        Ok(longest)
    }

    /// The time, s, before which a part cannot touch other liquid, or `free` if that is sooner. It stops at the
    /// first neighbour that leaves `least` or less: others may leave less still.
    fn free_of_others(&self, part: &Part, mut free: f64, least: f64) -> f64 {
        // A part's leaves ascend.
        let others = self.own.iter().enumerate().filter(|(l, _)| part.leaves.binary_search(l).is_err());
        for (_, other) in others {
            // Forces give both the same.
            if part.bounds.until(other, 0.0) < free {
                let nearest = |&l: &usize| self.own[l].until(other, 0.0);
                free = part.leaves.iter().map(nearest).fold(free, f64::min);
            }
            if free <= least {
                break;
            }
        }
        free
    }
}

/// The parts, the one with the fastest particle first. Liquid parts where a leaf without particles lies between.
fn by_speed(topology: &Topology, own: &[(Moving, Swiftest)]) -> Vec<Part> {
    let mut sets = DisjointSets::new(own.len());
    for (l, around) in topology.neighbours().iter().enumerate() {
        around.iter().filter(|&&n| n != leaf::ABSENT).for_each(|&n| sets.union(l, n as usize));
    }
    let mut of_set: Vec<Option<usize>> = vec![None; own.len()];
    let mut parts: Vec<Part> = Vec::new();
    for (l, &(bounds, swiftest)) in own.iter().enumerate() {
        let first = sets.find(l);
        match of_set[first] {
            None => {
                of_set[first] = Some(parts.len());
                parts.push(Part { bounds, swiftest, leaves: vec![l] });
            }
            Some(n) => {
                let part = &mut parts[n];
                part.bounds = part.bounds.union(&bounds);
                part.swiftest = part.swiftest.or(swiftest);
                part.leaves.push(l);
            }
        }
    }
    parts.sort_by(|a, b| b.swiftest.speed.total_cmp(&a.swiftest.speed));
    parts
}
