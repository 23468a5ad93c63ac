//! Where liquid enters and leaves.

use super::particles::{Particle, Particles, Selection};
use super::seeding::{Material, Seeding};
use crate::grid::{Coord, Transform};
use glam::{DVec3, IVec3, Vec3};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a source gives its liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// Velocity of what enters, m/s.
    pub velocity: Vec3,
    /// Where the places for new particles are by now, m from where they were at the start, of a source that drives its
    /// liquid. They move with it, so every place gives its particle once: area × speed × time in all. `None`: the
    /// liquid goes its own way, and the places are others every time.
    pub travelled: Option<DVec3>,
    /// What it is made of.
    pub material: Material,
}

/// Fills a region up to the density of seeding, in empty cells of a seeding lattice, the emptiest voxels first, with
/// ids drawn from `next_id`. Returns how the particles continue (the new ones stand at the end, without a source).
///
/// No more enter than the region as a whole lacks: particles that moved are spread unevenly over voxels, and to
/// fill the voxels with too few, while others have too many, would pump.
///
/// `inside` says for a world position whether liquid enters there (in the source and not in a solid), within
/// the world box `bounds`.
pub fn emit(
    particles: &mut Particles,
    transform: &Transform,
    seeding: &Seeding,
    bounds: (DVec3, DVec3),
    inside: impl Fn(DVec3) -> bool + Sync,
    jet: &Jet,
    next_id: &mut i64,
) -> Selection {
    let corner = transform.to_world(DVec3::splat(-0.5)) + jet.travelled.unwrap_or_default();
    let moved = Transform::uniform(transform.voxel_size(), corner);
    let seed = if jet.travelled.is_some() { 0 } else { *next_id as u64 };
    let seeding = Seeding { seed: seeding.seed.wrapping_add(seed), ..*seeding };
    let sites = seeding.sites(&moved, bounds.0, bounds.1, &inside);
    let lattice = |world: DVec3| ((world - corner) / f64::from(seeding.separation)).floor().as_ivec3();
    let voxel = |world: DVec3| (moved.to_index(world) + 0.5).floor().as_ivec3();

    let mut lacking: FxHashMap<Coord, i32> = FxHashMap::default();
    for &site in &sites {
        *lacking.entry(voxel(site)).or_default() += 1;
    }
    let mut taken: FxHashSet<IVec3> = FxHashSet::default();
    let mut there = 0;
    for &x in &particles.position {
        let world = particles.origin + x.as_dvec3();
        if world.cmpge(bounds.0).all() && world.cmple(bounds.1).all() && inside(world) {
            there += 1;
            taken.insert(lattice(world));
            if let Some(lacking) = lacking.get_mut(&voxel(world)) {
                *lacking -= 1;
            }
        }
    }

    let lacks = |site: DVec3| lacking.get(&voxel(site)).copied().unwrap_or(0);
    let mut empty: Vec<(i32, DVec3)> = sites
        .iter()
        .filter(|&&site| !taken.contains(&lattice(site)))
        .map(|&site| (lacks(site), site))
        .collect();
    empty.sort_by_key(|(lacks, _)| -lacks);
    empty.truncate(sites.len().saturating_sub(there));
    let mut selection = Selection::identity(particles.len());
    for (_, site) in empty {
        selection.source.push(Selection::NONE);
        particles.push(Particle {
            position: (site - particles.origin).as_vec3(),
            velocity: jet.velocity,
            affine: [Vec3::ZERO; 3],
            id: *next_id,
            density: jet.material.density,
            viscosity: jet.material.viscosity,
        });
        *next_id += 1;
    }
    selection
}

/// Gives the particles in a region a velocity, m/s, so that a source drives what it emits.
pub fn drive(particles: &mut Particles, inside: impl Fn(DVec3) -> bool, velocity: Vec3) {
    for p in 0..particles.len() {
        let world = particles.origin + particles.position[p].as_dvec3();
        if inside(world) {
            particles.velocity[p] = velocity;
            for rows in &mut particles.affine {
                rows[p] = Vec3::ZERO;
            }
        }
    }
}

/// Removes the particles of a region.
pub fn drain(particles: &mut Particles, inside: impl Fn(DVec3) -> bool) -> Selection {
    let gone: Vec<bool> =
        particles.position.iter().map(|x| inside(particles.origin + x.as_dvec3())).collect();
    particles.retain(|p| !gone[p])
}
