//! Seeds new particles on a jittered lattice.

use super::random;
use crate::fluid::particles::{IndexFrame, Particle, Particles};
use crate::grid::Transform;
use glam::swizzles::Vec3Swizzles;
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// The lattice that particles are seeded on: it passes through the nodes of the liquid's grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seeding {
    /// Distance between lattice points, m (half a voxel gives eight particles per voxel).
    pub separation: f32,
    /// How far a particle strays from the middle of its lattice cell: 0 not at all, 1 all over the cell.
    pub jitter: f32,
    /// Two seeds give two different fillings.
    pub seed: u64,
}

/// The properties of new particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Density, kg/m³.
    pub density: f32,
    /// Dynamic viscosity, Pa·s.
    pub viscosity: f32,
}

impl Seeding {
    /// Eight particles per voxel of size `h` metres.
    pub fn for_voxel(h: f32) -> Self {
        Self { separation: 0.5 * h, jitter: 1.0, seed: 0 }
    }

    /// The liquid volume one particle stands for, m³.
    pub fn particle_volume(&self) -> f64 {
        (self.separation as f64).powi(3)
    }

    /// Particles per voxel of a filled region.
    pub fn per_voxel(&self, h: f32) -> f32 {
        (h / self.separation).powi(3)
    }

    /// World positions of the lattice's particles inside a world box where `inside` holds, in lattice order.
    pub fn sites(
        &self,
        transform: &Transform,
        lo: DVec3,
        hi: DVec3,
        inside: impl Fn(DVec3) -> bool + Sync,
    ) -> Vec<DVec3> {
        let corner = transform.to_world(DVec3::splat(-0.5));
        let s = self.separation as f64;
        let first = ((lo - corner) / s).floor().as_ivec3();
        let last = ((hi - corner) / s).ceil().as_ivec3();
        (first.x..last.x)
            .into_par_iter()
            .flat_map_iter(|x| {
                let mut row = Vec::new();
                for y in first.y..last.y {
                    for z in first.z..last.z {
                        let site = IVec3::new(x, y, z);
                        let world = corner + (site.as_dvec3() + self.place(site).as_dvec3()) * s;
                        if world.cmpge(lo).all() && world.cmple(hi).all() && inside(world) {
                            row.push(world);
                        }
                    }
                }
                row
            })
            .collect()
    }

    /// Where in its lattice cell (unit cube) the particle of a site stands.
    ///
    /// The additive recurrence of Roberts' R₃ [Roberts 2018], one direction per axis. Around every site the places are
    /// spread evenly, so a cut through the lattice at any height and tilt leaves the right number of particles, with a
    /// fraction of the noise of independent random numbers.
    #[inline]
    pub fn place(&self, site: IVec3) -> Vec3 {
        /// 1/φ₃, 1/φ₃², 1/φ₃³ with φ₃ the real root of x⁴ = x + 1.
        const R3: DVec3 =
            DVec3::new(0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3);
        let site = site.as_dvec3();
        let u = DVec3::new(site.dot(R3), site.dot(R3.zxy()), site.dot(R3.yzx()));
        let u = u + random::point(IVec3::ZERO, self.seed).as_dvec3();
        0.5 + self.jitter * ((u - u.floor()).as_vec3() - 0.5)
    }

    /// Fills a world box, where `inside` holds, with particles that move with `velocity`, m/s. Ids are drawn
    /// from `next_id`. Returns how many were added.
    #[allow(clippy::too_many_arguments)]
    pub fn fill(
        &self,
        particles: &mut Particles,
        transform: &Transform,
        (lo, hi): (DVec3, DVec3),
        inside: impl Fn(DVec3) -> bool + Sync,
        velocity: impl Fn(DVec3) -> Vec3,
        material: Material,
        next_id: &mut i64,
    ) -> usize {
        let sites = self.sites(transform, lo, hi, inside);
        for &world in &sites {
            particles.push(Particle {
                position: (world - particles.origin).as_vec3(),
                velocity: velocity(world),
                affine: [Vec3::ZERO; 3],
                id: *next_id,
                density: material.density,
                viscosity: material.viscosity,
                mass_share: 1.0,
            });
            *next_id += 1;
        }
        sites.len()
    }
}

/// Which of a voxel's eight octants a position lies in: bit 0 upper x, bit 1 upper y, bit 2 upper z.
#[inline]
pub(crate) fn octant(frame: &IndexFrame, position: Vec3) -> usize {
    let x = frame.local(position);
    let upper = (x - (x + 0.5).floor()).cmpge(Vec3::ZERO);
    upper.bitmask() as usize
}
