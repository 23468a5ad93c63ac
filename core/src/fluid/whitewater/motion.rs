//! How whitewater moves: spray flies, foam floats, bubbles rise.

use super::{Kind, Liquid, Look, Whitewater};
use crate::fluid::transport::advection::{AdvectionParams, fastest_solid};
use crate::fluid::transport::collision::Sweep;
use crate::solid::Solids;
use glam::Vec3;
use rayon::prelude::*;

/// Particles handled by one task.
const CHUNK: usize = 4096;
/// Height above the surface from which a particle is spray, voxels of the liquid.
const SPRAY: f32 = 0.5;
/// Depth below the surface from which a particle is a bubble, voxels of the liquid.
const BUBBLE: f32 = 1.0;

/// What drags whitewater along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Share of its velocity that spray loses to the air per second, 1/s.
    pub air_drag: f32,
    /// Speed at which bubbles rise through still liquid, m/s; foam returns to the surface no faster.
    pub rise_speed: f32,
}

/// Moves the particles for a substep of `dt` seconds around solids. Those that are older than their life or that leave the domain
/// are gone. `voxel`: that of the liquid, m; particles keep the same distance from solids as its own.
pub fn drift(whitewater: &mut Whitewater, solids: &Solids, voxel: f64, dt: f64) {
    let origin = whitewater.origin;
    let AdvectionParams { separation, sweep_step } = AdvectionParams::default();
    let fastest = fastest_solid(solids, origin, &whitewater.position, voxel);
    let Whitewater { position, velocity, age, life, kind, .. } = whitewater;
    let moving = position.par_chunks_mut(CHUNK).zip(velocity.par_chunks_mut(CHUNK));
    moving.for_each_init(
        || Sweep::new(solids, separation * voxel, sweep_step * voxel, fastest, dt),
        |sweep, (positions, velocities)| {
            for (x, v) in positions.iter_mut().zip(velocities) {
                let from = origin + x.as_dvec3();
                sweep.land(from, from + v.as_dvec3() * dt).take(origin, x, v);
            }
        },
    );
    for ((age, life), kind) in age.iter_mut().zip(life).zip(kind) {
        *age += dt as f32;
        if *kind == Kind::Bubble {
            *life += dt as f32;
        }
    }
    let ended: Vec<bool> = (0..whitewater.len())
        .into_par_iter()
        .with_min_len(CHUNK)
        .map(|p| {
            let world = origin + whitewater.position[p].as_dvec3();
            whitewater.age[p] >= whitewater.life[p] || !solids.domain.contains(world)
        })
        .collect();
    whitewater.retain(|p| !ended[p]);
}

/// Says what each particle is now, and gives it its velocity for the middle of the next substep, `next` seconds long.
/// `kicks`: what forces add in `dt_kick` seconds, m/s; empty without forces.
///
/// - Spray flies and is slowed by air at rest: dv/dt = g − k v, integrated exactly.
/// - Foam moves with the liquid, and towards its surface where it has left it.
/// - A bubble has no mass but that of the liquid that moves with it, half of its volume's [Lamb 1932, §92]. So it begins to rise
///   with 2g, and friction that balances the buoyancy at the speed w makes it follow the liquid within w/(2g) seconds:
///   dv/dt = (u + w ĝ − v) 2g/w, integrated exactly.
///
/// The liquid's velocity u is taken where it will carry the particle to in half of the next substep (midpoint rule).
pub fn kick(
    whitewater: &mut Whitewater,
    liquids: &[Liquid],
    kicks: &[Vec3],
    by: &Drift,
    dt_kick: f64,
    next: f64,
) {
    let Whitewater { origin, position, velocity, kind, .. } = whitewater;
    let origin = *origin;
    let seconds = dt_kick as f32;
    let next = next as f32;
    let moving =
        position.par_chunks(CHUNK).zip(velocity.par_chunks_mut(CHUNK)).zip(kind.par_chunks_mut(CHUNK));
    moving.enumerate().for_each_init(
        || Look::new(liquids, origin),
        |look, (c, ((positions, velocities), kinds))| {
            for (n, ((&x, v), kind)) in positions.iter().zip(velocities).zip(kinds).enumerate() {
                let kick = kicks.get(c * CHUNK + n).copied().unwrap_or_default();
                let seen = look.at(x).filter(|seen| seen.depth < SPRAY);
                let Some(seen) = seen else {
                    *kind = Kind::Spray;
                    *v = slowed(*v, kick, by.air_drag, seconds);
                    continue;
                };
                let u = look.velocity(seen.liquid, x);
                let u = look.velocity(seen.liquid, x + u * (0.5 * next));
                if seen.depth < -BUBBLE {
                    *kind = Kind::Bubble;
                    *v = risen(*v, u, kick, by.rise_speed, seconds);
                } else {
                    *kind = Kind::Foam;
                    let off = seen.depth * look.voxel(seen.liquid);
                    let back =
                        if next > 0.0 { (off / next).clamp(-by.rise_speed, by.rise_speed) } else { 0.0 };
                    *v = u - seen.normal * back;
                }
            }
        },
    );
}

/// Velocity after `dt` seconds of dv/dt = kick/dt − k v.
pub(super) fn slowed(v: Vec3, kick: Vec3, k: f32, dt: f32) -> Vec3 {
    let lost = k * dt;
    if lost == 0.0 {
        return v + kick;
    }
    let kept = -(-lost).exp_m1(); // 1 − e^(−k dt)
    v * (1.0 - kept) + kick * (kept / lost)
}

/// Velocity of a bubble after `dt` seconds, in liquid of velocity `u`.
pub(super) fn risen(v: Vec3, u: Vec3, kick: Vec3, rise: f32, dt: f32) -> Vec3 {
    let gravity = if dt > 0.0 { kick.length() / dt } else { 0.0 };
    if gravity == 0.0 || rise == 0.0 {
        return u;
    }
    let goal = u - kick.normalize_or_zero() * rise;
    goal + (v - goal) * (-2.0 * gravity / rise * dt).exp()
}
