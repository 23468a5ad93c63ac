//! Where liquid enters and leaves.

use super::particles::{Particle, Particles, Selection};
use super::seeding::{Material, Seeding};
use crate::grid::{Coord, Transform};
use glam::{DVec3, IVec3, Vec3};
use rustc_hash::{FxHashMap, FxHashSet};

/// Fills a region up to the density of seeding: every voxel of it gets the particles it lacks, in empty cells of the
/// seeding lattice, with ids drawn from `next_id`. Returns how the particles continue (the new ones stand at the
/// end, without a source).
///
/// `inside` says for a world position whether liquid enters there (in the source and not in a solid), within
/// the world box `bounds`; `velocity` is what new particles move with, m/s.
pub fn emit(
    particles: &mut Particles,
    transform: &Transform,
    seeding: &Seeding,
    bounds: (DVec3, DVec3),
    inside: impl Fn(DVec3) -> bool + Sync,
    velocity: impl Fn(DVec3) -> Vec3,
    material: Material,
    next_id: &mut i64,
) -> Selection {
    // Other places every time, or particles would pile up on the same points.
    let seeding = Seeding { seed: seeding.seed.wrapping_add(*next_id as u64), ..*seeding };
    let sites = seeding.sites(transform, bounds.0, bounds.1, &inside);
    let corner = transform.to_world(DVec3::splat(-0.5));
    let lattice = |world: DVec3| ((world - corner) / seeding.separation as f64).floor().as_ivec3();
    let voxel = |world: DVec3| (transform.to_index(world) + 0.5).floor().as_ivec3();

    let mut lacking: FxHashMap<Coord, i32> = FxHashMap::default();
    for &site in &sites {
        *lacking.entry(voxel(site)).or_default() += 1;
    }
    let mut taken: FxHashSet<IVec3> = FxHashSet::default();
    for &x in &particles.position {
        let world = particles.origin + x.as_dvec3();
        if world.cmpge(bounds.0).all() && world.cmple(bounds.1).all() && inside(world) {
            taken.insert(lattice(world));
            if let Some(lacking) = lacking.get_mut(&voxel(world)) {
                *lacking -= 1;
            }
        }
    }

    let mut selection = Selection::identity(particles.len());
    for &site in &sites {
        let Some(lacking) = lacking.get_mut(&voxel(site)).filter(|n| **n > 0) else { continue };
        if !taken.insert(lattice(site)) {
            continue;
        }
        *lacking -= 1;
        selection.source.push(Selection::NONE);
        particles.push(Particle {
            position: (site - particles.origin).as_vec3(),
            velocity: velocity(site),
            affine: [Vec3::ZERO; 3],
            id: *next_id,
            density: material.density,
            viscosity: material.viscosity,
        });
        *next_id += 1;
    }
    selection
}

/// Gives the particles in a region a velocity, m/s, so that a source drives what it emits.
pub fn drive(particles: &mut Particles, inside: impl Fn(DVec3) -> bool, velocity: impl Fn(DVec3) -> Vec3) {
    for p in 0..particles.len() {
        let world = particles.origin + particles.position[p].as_dvec3();
        if inside(world) {
            particles.velocity[p] = velocity(world);
            for rows in &mut particles.affine {
                rows[p] = Vec3::ZERO;
            }
        }
    }
}

/// Removes the particles of a region.
pub fn drain(particles: &mut Particles, inside: impl Fn(DVec3) -> bool) -> Selection {
    let stays = |&p: &u32| !inside(particles.origin + particles.position[p as usize].as_dvec3());
    let selection = Selection { source: (0..particles.len() as u32).filter(stays).collect() };
    if selection.source.len() < particles.len() {
        particles.select(&selection);
    }
    selection
}
