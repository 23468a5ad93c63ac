//! Where whitewater is born.

use super::{Kind, Liquid, Look, Parcels, Whitewater, index};
use crate::fluid::particles::{IndexFrame, random};
use crate::grid::sampling::Sampler;
use crate::grid::{Grid, Topology, leaf};
use crate::levelset::curvature;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Depth below the surface down to which a liquid's particles make whitewater, voxels.
const DEEPEST: f32 = 2.5;
/// Height above the surface from which a liquid's own particle is spray, voxels.
const LOOSE: f32 = 0.5;
/// A crest moves outwards: least cosine of the angle between velocity and normal [Ihmsen et al. 2012].
const OUTWARDS: f32 = 0.6;
/// Velocity across its parent's that a particle gets at most, as a share of the parent's speed.
const SPREAD: f32 = 0.1;
/// Particles handled by one task.
const CHUNK: usize = 4096;

/// What makes whitewater. All limits are pairs: below the first none, from the second on in full [Ihmsen et al. 2012].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Potentials {
    /// Speed of the liquid, m/s. Of its square, which is its energy, the share between the limits counts.
    pub speed: [f32; 2],
    /// Speed at which a particle runs into those around it, m/s.
    pub trapping: [f32; 2],
    /// Mean curvature of crests, per voxel.
    pub crest: [f32; 2],
    /// Particles that a particle of the liquid makes per second where it runs into others, at crests, and where it flies
    /// by itself, in full.
    pub rates: [f32; 3],
}

/// How particles are born.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Birth {
    /// What makes them.
    pub potentials: Potentials,
    /// Mean age at which they vanish, s; half of it to one and a half times.
    pub lifespan: f32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// There are never more particles than this.
    pub most: usize,
}

/// Adds the particles that liquids make in a substep of `dt` seconds. Returns the share of them that there was room for.
///
/// A particle of the liquid near the surface makes (k₁ I₁ + k₂ I₂ + k₃ I₃) Iₑ dt particles in the mean
/// [Ihmsen et al. 2012]: I₁ for air that is trapped between liquid that runs together, I₂ for crests that break, I₃ for drops in flight,
/// Iₑ for energy. They lie along its way, in a cylinder as wide as the particle, which may reach into a wall; their first drift
/// takes them out.
pub fn bear(whitewater: &mut Whitewater, liquids: &[Liquid], birth: &Birth, dt: f64) -> f64 {
    if dt <= 0.0 {
        return 1.0;
    }
    let expected: Vec<Vec<(u32, f32)>> =
        liquids.iter().map(|liquid| rates(liquid, &birth.potentials)).collect();
    let total: f64 = expected.iter().flatten().map(|&(_, rate)| f64::from(rate) * dt).sum();
    if total == 0.0 {
        return 1.0;
    }
    let room = birth.most.saturating_sub(whitewater.len()) as f64;
    let share = (room / total).min(1.0);
    if whitewater.is_empty() {
        whitewater.origin = liquids[0].particles.origin;
    }
    for (liquid, expected) in liquids.iter().zip(&expected) {
        let born = children(liquid, expected, birth, whitewater, (dt, share));
        let room = birth.most.saturating_sub(whitewater.len());
        for (position, velocity, life) in born.into_iter().take(room) {
            whitewater.position.push(position);
            whitewater.velocity.push(velocity);
            whitewater.id.push(whitewater.next_id);
            whitewater.age.push(0.0);
            whitewater.life.push(life);
            whitewater.kind.push(Kind::Spray);
            whitewater.next_id += 1;
        }
    }
    whitewater.births += 1;
    share
}

/// Share of a value between two limits.
fn ramp(value: f32, [low, high]: [f32; 2]) -> f32 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { f32::from(value >= low) }
}

/// The particles of a liquid that make whitewater, and how many each makes per second.
pub(super) fn rates(liquid: &Liquid, potentials: &Potentials) -> Vec<(u32, f32)> {
    let Potentials { speed: [slow, fast], trapping, crest, rates: [trapped, crests, loose] } = *potentials;
    let Parcels { origin, position, velocity, .. } = liquid.particles;
    let near = near_surface(liquid);
    let energy = |p: u32| ramp(Vec3::from(velocity[p as usize]).length_squared(), [slow * slow, fast * fast]);
    let quick: Vec<(u32, f32)> = near.par_iter().copied().filter(|&(p, _)| energy(p) > 0.0).collect();
    if quick.is_empty() {
        return quick;
    }
    let cells = (trapped > 0.0).then(|| Cells::of(liquid, &near));
    let crested = if crests > 0.0 { Crests::of(liquid, &quick) } else { Crests::default() };
    let frame = IndexFrame::new(origin, &liquid.transform);
    let fresh = || {
        (
            Sampler::new(&liquid.surface.topology),
            crested.curvature.as_ref().map(|c| Sampler::new(&c.topology)),
        )
    };
    let rate = |(sampler, curved): &mut (Sampler, Option<Sampler>),
                (n, &(p, depth)): (usize, &(u32, f32))| {
        let (x, v) = (Vec3::from(position[p as usize]), Vec3::from(velocity[p as usize]));
        let mut rate = if depth > LOOSE { loose } else { 0.0 };
        if let Some(cells) = &cells {
            rate += trapped * ramp(cells.running_together(sampler, &frame, x, v), trapping);
        }
        if let (Some(grid), Some(curved), true) = (&crested.curvature, curved, crested.moves_out(n)) {
            rate += crests * ramp(curved.sample(grid, index(&frame, x)) * frame.h, crest);
        }
        (rate > 0.0).then_some((p, rate * energy(p)))
    };
    quick
        .par_chunks(CHUNK)
        .enumerate()
        .map_init(fresh, |state, (c, some)| {
            let some = some.iter().enumerate().map(|(n, one)| (c * CHUNK + n, one));
            some.filter_map(|one| rate(state, one)).collect::<Vec<_>>()
        })
        .collect::<Vec<_>>()
        .concat()
}

/// Crests: where particles move out of the surface, and its curvature there.
#[derive(Default)]
struct Crests {
    /// Whether each particle moves outwards.
    outwards: Vec<bool>,
    /// Mean curvature, 1/m, on the leaves that hold such particles.
    curvature: Option<Grid<f32>>,
}

impl Crests {
    fn of(liquid: &Liquid, quick: &[(u32, f32)]) -> Self {
        let Parcels { origin, position, velocity, .. } = liquid.particles;
        let fresh = || Look::new(std::slice::from_ref(liquid), origin);
        let outwards: Vec<bool> = quick
            .par_iter()
            .with_min_len(CHUNK)
            .map_init(fresh, |look, &(p, _)| {
                let (x, v) = (Vec3::from(position[p as usize]), Vec3::from(velocity[p as usize]));
                look.at(x).is_some_and(|seen| seen.normal.dot(v) >= OUTWARDS * v.length())
            })
            .collect();
        let frame = IndexFrame::new(origin, &liquid.transform);
        let out = quick.iter().zip(&outwards).filter(|(_, out)| **out);
        let held = Topology::covering(out.map(|((p, _), _)| frame.cell(Vec3::from(position[*p as usize]))));
        if held.is_empty() {
            return Self::default();
        }
        let near = liquid.surface.on(&Arc::new(held.dilated(1)));
        let h = liquid.transform.voxel_size() as f32;
        Self { outwards, curvature: Some(curvature(&near, h)) }
    }

    fn moves_out(&self, n: usize) -> bool {
        self.outwards.get(n).is_some_and(|&out| out)
    }
}

/// The particles near the surface or outside of it, with their heights over it in voxels.
fn near_surface(liquid: &Liquid) -> Vec<(u32, f32)> {
    let Parcels { origin, position, .. } = liquid.particles;
    let fresh = || Look::new(std::slice::from_ref(liquid), origin);
    position
        .par_chunks(CHUNK)
        .enumerate()
        .map_init(fresh, |look, (c, positions)| {
            let height = |x: &[f32; 3]| look.at(Vec3::from(*x)).map_or(f32::INFINITY, |seen| seen.depth);
            let heights = positions.iter().map(height).enumerate();
            let near = heights.filter(|(_, height)| *height > -DEEPEST);
            near.map(|(n, height)| ((c * CHUNK + n) as u32, height)).collect::<Vec<_>>()
        })
        .collect::<Vec<_>>()
        .concat()
}

/// Mean place and velocity of the particles in each cell near the surface.
struct Cells {
    /// Number of particles.
    count: Grid<f32>,
    /// Their mean place, voxels from the frame's base, and mean velocity, m/s.
    mean: Vec<(Vec3, Vec3)>,
}

impl Cells {
    fn of(liquid: &Liquid, near: &[(u32, f32)]) -> Self {
        let Parcels { origin, position, velocity, .. } = liquid.particles;
        let frame = IndexFrame::new(origin, &liquid.transform);
        let topology = &liquid.surface.topology;
        let mut count = Grid::new(topology.clone(), 0.0);
        let mut mean = vec![(Vec3::ZERO, Vec3::ZERO); topology.len() * leaf::SIZE];
        let mut sampler = Sampler::new(topology);
        for &(p, _) in near {
            let (x, v) = (Vec3::from(position[p as usize]), Vec3::from(velocity[p as usize]));
            if let Some(slot) = sampler.slot_of(frame.cell(x)) {
                count.values[slot] += 1.0;
                mean[slot].0 += frame.local(x);
                mean[slot].1 += v;
            }
        }
        mean.par_iter_mut().zip(&count.values).with_min_len(CHUNK).for_each(|(mean, &count)| {
            if count > 0.0 {
                mean.0 /= count;
                mean.1 /= count;
            }
        });
        Self { count, mean }
    }

    /// Speed at which a particle and the cells around it run together, m/s: the mean over them, weighed by their particles and
    /// by a kernel that ends at two voxels. [Ihmsen et al. 2012] take |Δv| (1 − cos α), which liquid that turns as one has, too;
    /// here it is the part of Δv along their distance, where they come closer.
    fn running_together(&self, sampler: &mut Sampler, frame: &IndexFrame, x: Vec3, v: Vec3) -> f32 {
        let (cell, at) = (frame.cell(x), frame.local(x));
        let (mut sum, mut weights) = (0.0, 0.0);
        for n in 0..27 {
            let beside = IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
            let Some(slot) = sampler.slot_of(cell + beside) else { continue };
            let count = self.count.values[slot];
            if count == 0.0 {
                continue;
            }
            let (place, velocity) = self.mean[slot];
            let (apart, differs) = (at - place, v - velocity);
            let weight = count * (1.0 - 0.5 * apart.length()).max(0.0);
            sum += weight * (-apart.normalize_or_zero().dot(differs)).max(0.0);
            weights += weight;
        }
        if weights > 0.0 { sum / weights } else { 0.0 }
    }
}

/// Place, velocity and life of the particles that those of a liquid make, in their order.
fn children(
    liquid: &Liquid,
    expected: &[(u32, f32)],
    birth: &Birth,
    whitewater: &Whitewater,
    (dt, share): (f64, f64),
) -> Vec<(Vec3, Vec3, f32)> {
    let Parcels { origin, position, velocity, id } = liquid.particles;
    let shift = (origin - whitewater.origin).as_vec3();
    let (dt, share) = (dt as f32, share as f32);
    let radius = 0.25 * liquid.transform.voxel_size() as f32;
    let of = |&(p, rate): &(u32, f32)| {
        let p = p as usize;
        let (x, v) = (Vec3::from(position[p]) + shift, Vec3::from(velocity[p]));
        let [id] = id[p];
        let key = IVec3::new(id as i32, (id >> 32) as i32, whitewater.births as i32);
        let draw = move |n: u64| random::point(key, birth.seed.wrapping_mul(DRAWS).wrapping_add(n));
        let count = (rate * dt * share + draw(0).x) as usize;
        (1..=count as u64).map(move |child| {
            let (place, other) = (draw(2 * child), draw(2 * child + 1));
            let across = disc(v, place.x, place.y);
            let velocity = v + across * (SPREAD * v.length());
            (x + across * radius - v * (dt * place.z), velocity, birth.lifespan * (0.5 + other.x))
        })
    };
    expected
        .par_chunks(CHUNK)
        .map(|some| some.iter().flat_map(of).collect::<Vec<_>>())
        .collect::<Vec<_>>()
        .concat()
}

/// Random numbers of a seed before those of the next begin.
const DRAWS: u64 = 1 << 32;

/// A point of the unit disc across a direction, from two random numbers in 0..1.
fn disc(direction: Vec3, r: f32, turn: f32) -> Vec3 {
    let Some(axis) = direction.try_normalize() else { return Vec3::ZERO };
    let (side, other) = axis.any_orthonormal_pair();
    let (sin, cos) = (std::f32::consts::TAU * turn).sin_cos();
    (side * cos + other * sin) * r.sqrt()
}
