//! The laws the liquid must keep, and the fixtures that state them.

mod advection;
mod air_particles;
mod bells;
mod device;
mod energy;
mod extrapolation;
mod films;
mod flip;
mod free_flight;
mod interrupt;
mod layers;
mod parting;
mod render_surface;
mod rest;
mod sensitivity;
mod sources;
mod splash;
mod spreading;
mod surface;
mod tension;
mod thinning;
mod transfer;
mod viscous;

use super::particles::cells::{self, Cells};
use super::particles::{Particle, Particles};
use crate::grid::Transform;
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// Edge length of a voxel in most tests, metres.
const H: f64 = 0.1;

fn transform() -> Transform {
    Transform::uniform(H, DVec3::ZERO)
}

/// A repeatable number in 0..1.
fn noise(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 40) as f32 / (1u64 << 24) as f32
}

fn particle(position: Vec3, velocity: Vec3, id: i64) -> Particle {
    Particle {
        position,
        velocity,
        affine: [Vec3::ZERO; 3],
        id,
        density: 1000.0,
        viscosity: 0.001,
        mass_share: 1.0,
    }
}

/// `n` particles spread at random over a box, metres, sorted, on leaves that reach four voxels past them.
fn cloud(n: usize, lo: Vec3, hi: Vec3, velocity: impl Fn(Vec3) -> Vec3) -> (Particles, Cells) {
    let mut seed = 7;
    let mut particles = Particles::new(DVec3::ZERO);
    for id in 0..n {
        let r = Vec3::new(noise(&mut seed), noise(&mut seed), noise(&mut seed));
        let x = lo + r * (hi - lo);
        particles.push(particle(x, velocity(x), id as i64));
    }
    let cells = sorted(&mut particles);
    (particles, cells)
}

fn sorted(particles: &mut Particles) -> Cells {
    let topology = Arc::new(cells::covering(particles, &transform(), 4));
    cells::sort(particles, &transform(), &topology).0
}
