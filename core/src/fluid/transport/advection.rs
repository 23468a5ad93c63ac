//! Moves particles along the face velocity, around solids and out of the domain.

use super::collision::Sweep;
use super::flow::Flow;
use crate::fluid::faces::inlet::Inlet;
use crate::fluid::particles::cells::CHUNK;
use crate::fluid::particles::{Particles, Selection};
use crate::grid::{FaceGrid, Transform};
use crate::interrupt::Interrupt;
use crate::solid::{Motion, Side, Solids};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Particles moved between two checks for cancellation.
const ASKING: usize = 64;

/// The velocity field that particles move through in a substep.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// Where the faces are.
    pub transform: Transform,
    /// Face velocity, m/s.
    pub velocity: &'a FaceGrid<f32>,
    /// Length of the substep, s.
    pub dt: f64,
    /// Particles with ids from here on are newer than the velocity and move with their own velocity.
    pub born_from: i64,
    /// Where sources drive the liquid.
    pub inlet: Option<&'a Inlet>,
    /// How far around the liquid its velocity is known, voxels. Particles that travel farther move with their own
    /// velocity.
    pub reach: f32,
    /// Asked on the way whether to cancel.
    pub interrupt: Interrupt<'a>,
}

impl<'a> Way<'a> {
    /// A velocity field as old as all particles, without driving sources.
    pub fn through(velocity: &'a FaceGrid<f32>, transform: Transform, dt: f64) -> Self {
        let (born_from, reach) = (i64::MAX, f32::INFINITY);
        Self { transform, velocity, dt, born_from, inlet: None, reach, interrupt: Interrupt::NEVER }
    }

    /// Whether a particle with this velocity, m/s, leaves the band in which the liquid's velocity is known. Beyond the
    /// band the field is zero, and a jet in the air would lose up to four ninths of its way to that.
    pub(in crate::fluid) fn outruns(&self, velocity: Vec3) -> bool {
        let known = f64::from(self.reach) * self.transform.voxel_size();
        velocity.length_squared() * (self.dt as f32).powi(2) > (known as f32).powi(2)
    }
}

/// How particles meet solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdvectionParams {
    /// Distance particles keep from solids, in voxels.
    pub separation: f64,
    /// Smallest distance between two tests for solids on a particle's way, in voxels. Walls thicker than this are never
    /// crossed.
    pub sweep_step: f64,
}

impl Default for AdvectionParams {
    fn default() -> Self {
        Self { separation: 0.05, sweep_step: 0.2 }
    }
}

/// Moves particles along their way and removes those beyond sides of the domain that remove liquid.
///
/// Particles follow `velocity` (m/s) by the third-order Runge-Kutta scheme of least error [Ralston 1962]: k₁ = u(x), k₂
/// = u(x + ½dt k₁), k₃ = u(x + ¾dt k₂), x ← x + dt/9 (2k₁ + 3k₂ + 4k₃). Particles that a source drives move with the
/// velocity that its `inlet` gives, also at the inlet's rim. Particles that leave the known velocity move with their
/// own. A particle that touches a solid loses the part of its velocity that points into it (see
/// [`super::collision::keep_for_bodies`]). When cancelled, the remaining particles stay where they are.
pub fn advect(particles: &mut Particles, way: &Way, solids: &Solids, params: &AdvectionParams) -> Selection {
    let &Way { ref transform, velocity, dt, born_from, inlet, interrupt, .. } = way;
    let frame = particles.frame(transform);
    let origin = particles.origin;
    let h = transform.voxel_size();
    let fastest = fastest_solid(solids, origin, &particles.position, h);
    let step = dt as f32 * frame.per_metre;
    let kills = solids.domain.sides.contains(&Side::Kill);
    let chunks = particles.position.par_chunks_mut(CHUNK).zip(particles.velocity.par_chunks_mut(CHUNK));
    let killed: Vec<Vec<u32>> = chunks
        .zip(particles.id.par_chunks(CHUNK))
        .enumerate()
        .map_init(Vec::new, |moved: &mut Vec<Vec3>, (c, ((positions, velocities), ids))| {
            let mut sweep = Sweep::new(solids, params.separation * h, params.sweep_step * h, fastest, dt);
            moved.clear();
            moved.extend(positions.iter().map(|&x| frame.local(x)));
            Flow::new(frame, velocity).follow(moved, step);
            let mut killed = Vec::new();
            for (n, (((x, v), &id), &moved)) in
                positions.iter_mut().zip(velocities).zip(ids).zip(&*moved).enumerate()
            {
                if n % ASKING == 0 && interrupt.asked() {
                    break;
                }
                let start = frame.local(*x);
                let moved = match inlet.and_then(|inlet| inlet.velocity_in(frame.cell(*x))) {
                    Some(given) => start + given * step,
                    None if id >= born_from || way.outruns(*v) => start + *v * step,
                    None => moved,
                };
                let from = origin + x.as_dvec3();
                let to = from + ((moved - start) * frame.h).as_dvec3();
                let landing = sweep.land(from, to);
                landing.take(origin, x, v);
                if kills && solids.domain.kills(landing.position) {
                    killed.push((c * CHUNK + n) as u32);
                }
            }
            killed
        })
        .collect();
    let mut killed = killed.into_iter().flatten().peekable();
    if killed.peek().is_none() {
        return Selection::identity(particles.len());
    }
    particles.retain(|p| killed.next_if_eq(&(p as u32)).is_none())
}

/// An upper bound on the speed of the solids' surfaces among the particles, m/s.
pub(crate) fn fastest_solid(solids: &Solids, origin: DVec3, positions: &[Vec3], h: f64) -> f64 {
    let still = |m: &Motion| m.is_still();
    if solids.colliders.iter().all(|c| still(c.motion())) || positions.is_empty() {
        return 0.0;
    }
    let (lo, hi) = positions
        .par_iter()
        .map(|&x| (x, x))
        .reduce(|| (Vec3::INFINITY, Vec3::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let centre = origin + (0.5 * (lo + hi)).as_dvec3();
    let radius = 0.5 * (hi - lo).as_dvec3().length() + h;
    let speed = |motion: &Motion| match motion {
        Motion::Static => 0.0,
        Motion::Rigid { linear, angular, pivot } => {
            linear.length() + angular.length() * (centre.distance(*pivot) + radius)
        }
        Motion::PerVoxel(field) => {
            f64::from(field.values.par_iter().map(|v| v.length()).reduce(|| 0.0, f32::max))
        }
    };
    solids.colliders.iter().map(|c| speed(c.motion())).fold(0.0, f64::max)
}
